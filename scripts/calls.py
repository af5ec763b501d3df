#!/usr/bin/env python3
"""Counts the instructions of calls on small tensors and compares them with benches/calls/limits.txt.

    scripts/bench.sh --calls                 # builds the library and the program, and runs this script
    scripts/calls.py PROGRAM                 # fails if a call needs over 10 % more instructions than its limit
    scripts/calls.py PROGRAM --write         # makes the counts the limits

PROGRAM is benches/calls/calls.c, compiled. valgrind's tool callgrind counts the instructions. The library uses its kernels for AVX2, on
one thread, so that processors do not differ. The script ends with status 77 if valgrind or the processor lacks what it needs.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

LIMITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "benches", "calls", "limits.txt")
CALLS = 500
TOLERANCE = 0.1
SKIPPED = 77


def has_avx2():
    with open("/proc/cpuinfo") as file:
        return re.search(r"^flags.*\bavx2\b", file.read(), re.MULTILINE) is not None


def read_limits():
    """The limits by the name of the call, in the order of the file."""
    with open(LIMITS) as file:
        lines = [line.rsplit(None, 1) for line in file if line.strip() and not line.startswith("#")]
    return {name: int(limit) for name, limit in lines}


def write_limits(counts):
    with open(LIMITS) as file:
        head = [line for line in file if line.startswith("#")]
    width = max(map(len, counts)) + 2
    with open(LIMITS, "w") as file:
        file.writelines(head)
        file.writelines(f"{name:{width}}{count:5}\n" for name, count in counts.items())


def count(program):
    """The instructions of each call, in the order in which the program makes them."""
    environment = dict(os.environ, TH_SIMD="avx2", TH_NUM_THREADS="1")
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "counted")
        command = ["valgrind", "--tool=callgrind", "--quiet", f"--callgrind-out-file={out}", program, str(CALLS)]
        subprocess.run(command, env=environment, check=True)
        counts = {}
        for number in range(1, len(os.listdir(folder))):
            with open(f"{out}.{number}") as file:
                text = file.read()
            name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
            if name:
                counts[name[1]] = round(int(re.search(r"^summary: (\d+)$", text, re.MULTILINE)[1]) / CALLS)
        return counts


def compare(counts, limits):
    """Prints each count next to its limit. Returns the names of the calls that exceed their limits."""
    exceeding = []
    print(f"{'call':24}{'instructions':>12}{'limit':>8}")
    for name, found in counts.items():
        exceeds = found > limits[name] * (1 + TOLERANCE)
        exceeding += [name] if exceeds else []
        print(f"{name:24}{found:12}{limits[name]:8}{'  EXCEEDED' if exceeds else ''}")
    return exceeding


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--write", action="store_true", help="make the counts the limits")
    options = parser.parse_args()
    for lacks, what in (shutil.which("valgrind") is None, "valgrind is not installed"), (not has_avx2(), "the processor has no AVX2"):
        if lacks:
            print(f"calls.py: left out, because {what}")
            return SKIPPED
    counts = count(options.program)
    if options.write:
        write_limits(counts)
        return 0
    limits = read_limits()
    if set(limits) != set(counts):
        print(f"calls.py: without a limit: {sorted(set(counts) - set(limits))}; without a count: {sorted(set(limits) - set(counts))}")
        return 1
    exceeding = compare(counts, limits)
    if exceeding:
        print(f"calls.py: {len(exceeding)} calls exceed their limits: docs/internals/calls.md says how to find the reason")
    return 1 if exceeding else 0


if __name__ == "__main__":
    sys.exit(main())
