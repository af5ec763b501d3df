"""Steps of a run: programs with a time limit, one printed line for each, and a deadline for all."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections import deque
from pathlib import Path

# Seconds between SIGTERM and SIGKILL, and seconds that a killed program may still take. A program inside the driver may not end at once.
POLITE, KILLED = 1.0, 3.0
LEAST = 2.0  # no step starts with fewer seconds left
SHOWN = 8  # lines of a failed step
TELLING = re.compile(r"FAILED|failed|[Ee]rror|expected|\.[ch]:\d+:|, not |ERROR SUMMARY: [1-9]")


def end(processes):
    """Ends processes with all their children."""
    for number, patience in ((signal.SIGTERM, POLITE), (signal.SIGKILL, KILLED)):
        # The children of a process that has ended may still run, so every group gets both signals.
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
        until = time.monotonic() + patience
        while any(process.poll() is None for process in processes) and time.monotonic() < until:
            time.sleep(0.02)


def end_program_after(seconds):
    """Ends this program with status 3 after some seconds, even if a system call never returns."""

    def leave():
        print(f"gpu.sh run: ended after {seconds:.0f} s, which was the limit", flush=True)
        os._exit(3)

    timer = threading.Timer(seconds, leave)
    timer.daemon = True
    timer.start()


def telling_lines(log):
    """The first lines of a log that report a failure, or the last lines."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    found = [line for line in lines if TELLING.search(line)]
    return [line[:200] for line in (found[:SHOWN] or lines[-SHOWN:])]


class Steps:
    """Runs steps until `deadline`, a time of time.monotonic(). `ran` maps the names of steps to "ok", "failed" or "skipped"."""

    def __init__(self, out, deadline, environment, cache=None, tolerant=False):
        self.out, self.deadline, self.environment, self.cache = out, deadline, environment, cache
        self.tolerant = tolerant  # programs may end with status 1, because their checks cannot succeed
        self.ran, self.compiled = {}, 0
        # The standard output of a program is block-buffered if it is a file.
        self.line_wise = [shutil.which("stdbuf"), "-oL"] if shutil.which("stdbuf") else []

    def left(self):
        return self.deadline - time.monotonic()

    def say(self, text):
        """Prints a line, and keeps it in results.txt."""
        with open(self.out / "results.txt", "a") as file:
            file.write(text + "\n")
        # A closed pipe must not end the run.
        with contextlib.suppress(OSError):
            print(text, flush=True)

    def kernels(self):
        return len(os.listdir(self.cache)) if self.cache and self.cache.is_dir() else 0

    def skip(self, name, reason):
        self.ran[name] = "skipped"
        self.say(f"skipped  {name:14} {reason}")

    def fail(self, name, reason):
        self.ran[name] = "failed"
        self.say(f"failed   {name:14} {reason}")

    def start(self, command, log, **more):
        file = open(log, "wb")
        environment = {**self.environment, **more}
        try:
            streams = {"stdin": subprocess.DEVNULL, "stdout": file, "stderr": subprocess.STDOUT}
            return subprocess.Popen([*self.line_wise, *command], env=environment, start_new_session=True, **streams)
        finally:
            file.close()

    def passed(self, status):
        return status == 0 or (self.tolerant and status == 1)

    def run(self, name, limit, command, **more):
        """Runs a program for at most `limit` seconds. Returns whether it succeeded. The output is written to NAME.log."""
        return self.run_all(name, limit, [(name, command, more)], 1)

    def run_all(self, name, limit, tasks, width, partial=False):
        """Runs programs (name of the log, command, environment), `width` at a time, as one step of at most `limit` seconds.

        With `partial`, a program that runs out of time fails only if its log reports a failure.
        """
        if self.left() < LEAST:
            self.skip(name, "no time is left")
            return False
        before, began = self.kernels(), time.monotonic()
        until = min(began + limit, self.deadline)
        waiting, running, wrong, done = deque(tasks), {}, [], 0
        while (waiting or running) and time.monotonic() < until:
            while waiting and len(running) < width:
                log, command, more = waiting.popleft()
                try:
                    running[log] = self.start(command, self.out / f"{log}.log", **more)
                except OSError as problem:
                    (self.out / f"{log}.log").write_text(f"{problem}\n")
                    wrong.append((log, "not started"))
            for log in [log for log, process in running.items() if process.poll() is not None]:
                status = running.pop(log).returncode
                done += 1
                if not self.passed(status):
                    wrong.append((log, f"status {status}" if status > 0 else f"signal {-status}"))
            time.sleep(0.02)
        late = len(waiting)
        end(running.values())
        for log in running:
            if partial and (self.tolerant or not TELLING.search((self.out / f"{log}.log").read_text(errors="replace"))):
                late += 1
            else:
                wrong.append((log, f"ended after {time.monotonic() - began:.0f} s"))
        self.report(name, time.monotonic() - began, len(tasks), done, late, wrong, self.kernels() - before)
        return not wrong and not late

    def report(self, name, seconds, count, done, late, wrong, compiled):
        self.compiled += compiled
        self.ran[name] = "failed" if wrong else "ok"
        parts = [f"{self.ran[name]:8} {name:14} {seconds:6.1f} s"]
        if count > 1:
            parts.append(f"{done} of {count} parts")
        if late:
            parts.append(f"{late} parts without time to finish")
        if compiled:
            parts.append(f"{compiled} kernels compiled anew")
        if count == 1 and wrong:
            parts.append(wrong[0][1])
        self.say(", ".join(parts))
        for log, reason in wrong[:SHOWN]:
            if count > 1:
                self.say(f"    {log}: {reason}")
            for line in telling_lines(Path(self.out / f"{log}.log"))[: SHOWN if count == 1 else 3]:
                self.say(f"    {line}")
