"""Simulates how long the thread pool takes to start and to join its threads, on machines with 2 to 128 cores.

    python3 benches/pool_model.py [--virtual]

The table is in docs/internals/threads.md. The model follows src/cpu/pool.rs: threads take a seat by a compare-and-swap of one word, each
thread wakes two others, and each gives up its seat by a subtraction. Only atomic operations, system calls and wake-ups take time.
"""

import argparse
import heapq
from itertools import count

# Nanoseconds. `line`: a cache line moves to a core of the same socket, or of the other one. The values are assumed, within the 50 to 100
# and 150 to 300 that are usual for Xeons and EPYCs; "Core to Core Latency Data on Large Systems" (Chips and Cheese, 2023) has tables of
# measurements, and benches/pool.rs prints twice the first value of a machine as "a word there and back". `call`: a system call that wakes
# a thread. `wake`: from the call until the thread runs on an idle core. Both are larger in a virtual machine, where the host wakes the core:
# on a busy AMD EPYC with two virtual cores, the least of 900 calls took 3.6 us, the least wake-up 10.7 us, and a word there and back 270 ns.
SERVER = {"line": (70, 200), "call": 1500, "wake": 5000}
VIRTUAL = {"line": (140, 300), "call": 4000, "wake": 12000}

HIT = 5  # ns; an atomic operation on a line that the core already has
HANDS = 16  # Shares::MOST
CORES_OF_SOCKET = 32  # machines with more cores have two sockets


class Simulation:
    """Events in the order of time. An event is a function of the time."""

    def __init__(self, cores, times):
        self.times, self.queue, self.order = times, [], count()
        self.socket = [core >= cores / 2 if cores > CORES_OF_SOCKET else False for core in range(cores)]

    def at(self, time, event):
        heapq.heappush(self.queue, (time, next(self.order), event))

    def run(self):
        while self.queue:
            time, _, event = heapq.heappop(self.queue)
            event(time)

    def move(self, one, other):
        return self.times["line"][self.socket[one] != self.socket[other]]


class Line:
    """A cache line, which one core at a time may change. Requests are served one after the other."""

    def __init__(self, simulation, owner=0):
        self.simulation, self.owner, self.free = simulation, owner, 0.0

    def change(self, core, time):
        """The time at which the core has changed the line."""
        cost = HIT if core == self.owner else self.simulation.move(core, self.owner)
        self.free, self.owner = max(time, self.free) + cost, core
        return self.free


def children(thread, cores, tree):
    """The threads that a thread wakes: two in a tree, all or none in a chain."""
    if tree:
        return [child for child in (2 * thread + 1, 2 * thread + 2) if child < cores]
    return range(1, cores) if thread == 0 else []


def start(cores, times, tree, awake):
    """The time until the last thread begins its first part, and until the caller does."""
    simulation = Simulation(cores, times)
    seats, begun = Line(simulation), [0.0] * cores

    def call_children(thread, time):
        for child in children(thread, cores, tree):
            time += simulation.move(thread, child)  # the state of the worker
            if not awake:
                simulation.at(time + times["wake"], lambda now, child=child: arrive(child, now))
                time += times["call"]
        begun[thread] = time

    def arrive(thread, time):
        """The thread reads the word of seats and changes it, then reads the job, which the caller wrote."""
        time = seats.change(thread, time)
        simulation.at(time + simulation.move(thread, 0), lambda now: call_children(thread, now))

    call_children(0, 0.0)
    if awake:
        for thread in range(1, cores):
            simulation.at(simulation.move(thread, 0), lambda now, thread=thread: arrive(thread, now))
    simulation.run()
    return max(begun), begun[0]


def join(cores, times, group=None):
    """The time from the end of the last parts, which all threads reach at once, until the caller goes on. With `group`, that many threads
    share a word, and only the last thread of a group changes the caller's word."""
    simulation = Simulation(cores, times)
    seats, last = Line(simulation), [0.0]
    words = [Line(simulation, first) for first in range(0, cores, group)] if group else []
    left = [min(group, cores - first) for first in range(0, cores, group)] if group else []
    hands = [Line(simulation, hand % cores) for hand in range(min(cores, HANDS))]

    def look(thread, hand, time):
        """No part is left in this hand. Reads of a line do not exclude each other."""
        if hand < len(hands):
            owner = (thread + hand) % len(hands)
            cost = HIT if owner == thread else simulation.move(thread, owner)
            simulation.at(time + cost, lambda now: look(thread, hand + 1, now))
        elif group:
            at = thread // group
            left[at] -= 1
            time = words[at].change(thread, time)
            if left[at] == 0:
                simulation.at(time, lambda now: leave(thread, now))
        elif thread:
            leave(thread, time)

    def leave(thread, time):
        """The caller polls the word, so it takes the line after each change."""
        seats.change(thread, time)
        last[0] = seats.free = seats.free + simulation.move(0, thread)

    for thread in range(cores):
        look(thread, 0, 0.0)
    simulation.run()
    return last[0]


def best_threads(work, times):
    """The number of threads, all awake, for which a call is shortest, and that time. `work` in ns of one thread."""

    def total(threads):
        return work / threads + (start(threads, times, True, True)[0] + join(threads, times) if threads > 1 else 0)

    return min(((total(threads), threads) for threads in range(1, 129)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--virtual", action="store_true", help="with the times of a virtual machine")
    times = VIRTUAL if parser.parse_args().virtual else SERVER
    print("| cores | tree, asleep | chain, asleep | caller, tree | caller, chain | awake | join | join by groups |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for cores in (2, 4, 8, 16, 32, 64, 128):
        tree, chain = (start(cores, times, way, False) for way in (True, False))
        columns = tree[0], chain[0], tree[1], chain[1], start(cores, times, True, True)[0], join(cores, times), join(cores, times, 8)
        print(f"| {cores} | " + " | ".join(f"{column / 1000:.1f}" for column in columns) + " |")
    print()
    print("| work of one thread | best number of threads | time | work of each |")
    print("| ---: | ---: | ---: | ---: |")
    for work in (20, 50, 100, 200, 500, 1000, 5000):
        time, threads = best_threads(work * 1000, times)
        print(f"| {work} | {threads} | {time / 1000:.1f} | {work / threads:.1f} |")


if __name__ == "__main__":
    main()
