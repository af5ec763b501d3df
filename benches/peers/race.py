"""Times libraries in turn, in many short rounds, so that all see the machine in the same state."""

import os
import resource
import signal
import statistics
from dataclasses import dataclass
from multiprocessing import Pipe
from pathlib import Path
from random import Random
from time import perf_counter

ENOUGH = 50e3  # ns; the shortest sample
SOON_COLD = 5e6  # ns; after a call this long, the caches hold nothing of the previous call
WARM = 3  # calls until a large cache holds the operands again: after one call, a Zen 5 still took half as long again
FEWEST = 5  # samples
SLICE = 0.03  # seconds; the longest turn of a process
PAUSE = 0.001  # seconds of computing before a process's turn is timed, to wake its threads


@dataclass
class Times:
    best: float
    median: float
    noisy: bool = False  # nearly every sample with two threads was disturbed


class Runner:
    """A participant. `run(calls)` returns the time of the calls in ns."""

    def __init__(self, run):
        self.run, self.calls, self.samples = run, 1, []
        while (spent := run(self.calls)) < ENOUGH:
            self.calls *= max(2, min(64, int(ENOUGH / max(spent, 1))))
        self.cost = spent / self.calls

    def sample(self):
        self.warm_up()
        self.samples.append(self.run(self.calls) / self.calls)

    def warm_up(self):
        """Brings the operands back into the caches, which the other participants have filled."""
        if self.cost < SOON_COLD:
            self.run(WARM)

    def sample_undisturbed(self):
        """A sample that counts only if the system preempted no thread, because threads would wait for each other."""
        before = switches()
        time = self.run(self.calls) / self.calls
        if switches() == before:
            self.samples.append(time)


def switches():
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def times_of(samples):
    if not samples:
        return Times(float("nan"), float("nan"), True)
    return Times(min(samples), statistics.median(samples), len(samples) < FEWEST)


def race(runs, seconds):
    """The times of each of `runs` (name: run) in one process, in another order each time, so that none always follows the same one."""
    runners = {name: Runner(run) for name, run in runs.items()}
    order, random = list(runners.values()), Random(0)
    start, rounds = perf_counter(), 0
    while rounds < FEWEST or perf_counter() - start < seconds:
        random.shuffle(order)
        for runner in order:
            runner.sample()
        rounds += 1
    return {name: times_of(runner.samples) for name, runner in runners.items()}


class Child:
    """A library in a separate process, which is stopped, with all threads, while others are timed."""

    def __init__(self, make):
        self.pipe, theirs = Pipe()
        self.pid = os.fork()
        if self.pid == 0:
            serve(theirs, make)
        theirs.close()
        self.samples = []

    def receive(self):
        try:
            problem, samples = self.pipe.recv()
        except EOFError:
            problem, samples = RuntimeError("the process of a library ended"), []
        os.kill(self.pid, signal.SIGSTOP)
        if problem:
            raise problem
        self.samples += samples

    def turn(self, seconds):
        os.kill(self.pid, signal.SIGCONT)
        self.pipe.send(seconds)
        self.receive()

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def two_cores():
    """Two cores that this process may use. The hardware threads of a core count as one. Fewer if there are no two."""
    found = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        found.setdefault(siblings.read_text() if siblings.exists() else cpu, cpu)
    return list(found.values())[:2]


def place_threads(cores):
    """Pins this thread to the first core and all others to the second, because some systems kept both on one core for seconds."""
    if len(cores) < 2:
        return
    for thread in map(int, os.listdir("/proc/self/task")):
        os.sched_setaffinity(thread, {cores[0] if thread == os.getpid() else cores[1]})


def serve(pipe, make):
    """The loop of a child process: makes its runner, then takes samples for the requested times."""
    try:
        cores = two_cores()
        run = make()
        run(1)
        place_threads(cores)
        runner = Runner(run)
        pipe.send((None, []))
        while True:
            seconds = pipe.recv()
            start = perf_counter()
            while perf_counter() - start < PAUSE:
                runner.run(1)
            runner.samples.clear()
            start = perf_counter()
            while perf_counter() - start < seconds:
                runner.sample_undisturbed()
            pipe.send((None, list(runner.samples)))
    except EOFError:
        pass
    except BaseException as problem:
        pipe.send((problem, []))
    finally:
        os._exit(0)


def race_apart(makes, seconds):
    """The times of each of `makes` (name: function that makes a run), each in a separate process."""
    children = {}
    try:
        for name, make in makes.items():
            children[name] = Child(make)
            children[name].receive()
        start, rounds = perf_counter(), 0
        while rounds < 2 or perf_counter() - start < seconds:
            for child in children.values():
                child.turn(min(SLICE, seconds / 6))
            rounds += 1
    finally:
        for child in children.values():
            child.end()
    return {name: times_of(child.samples) for name, child in children.items()}
