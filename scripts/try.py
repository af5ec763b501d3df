"""Builds the library and tests some functions. Prints a line for each: ok or failed, seconds, and the tests.

    scripts/try.sh NAME...

A NAME is a function of the C API, with or without the prefix, or a program of c_tests, such as test_view. For a function, these tests run if
they know it: the table of expectations, gradients by finite differences, values of gradients, calls with sparse tensors, the C tests that
tests/data/tested_by_name.txt names, and, where PyTorch is installed, random calls compared with PyTorch.

The library is compiled in the profile `try`: without optimisation, with checks of overflow and assertions. The first build compiles the
dependencies, too.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import prototypes

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "c_tests"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()
OUT = TARGET / "try"
LIBRARY = OUT / "libthorn.so"
CASES = 300
SKIPPED = 77
EXPECTATIONS = ("tests/data/expectations.txt", "c_tests/gradients/calls.txt", "tests/data/gradients.txt", "tests/data/sparse_expectations.txt")
SECONDS = 300


def read(path):
    return (ROOT / path).read_text()


def called(path):
    """The functions that the calls of a file name."""
    return set(re.findall(r"^call (\w+)", read(path), re.M))


def tests_by_function():
    """The tests that tests/data/tested_by_name.txt names, by function."""
    found, test = defaultdict(list), None
    for line in read("tests/data/tested_by_name.txt").splitlines():
        if line.startswith("  "):
            for function in line.split():
                found[function].append(test)
        else:
            test = line.partition(":")[0]
    return found


def program(test):
    """The command that compiles and runs a C test. test_blas and the tests in folders need CMake."""
    path = Path(test)
    if path.parent.name != "c_tests" or not path.stem.startswith("test_") or path.stem == "test_blas":
        return None
    compiler = ["c++", "-std=gnu++17"] if path.suffix == ".cpp" else ["cc", "-std=gnu99"]
    options = ["-UNDEBUG", "-Ic_tests", "-Iinclude", f'-DCORPUS="{ROOT}/files/corpus"', f"-Wl,-rpath,{OUT}"]
    compiled = [*compiler, *options, test, "-o", str(OUT / path.stem), str(LIBRARY), "-lm", "-lpthread", "-ldl"]
    return [compiled, [str(OUT / path.stem)]]


def steps_of(function, torch):
    """The tests of a function of C: (name of the test, commands)."""
    prefix, _, short = function.rpartition("_")
    dense, sparse = prefix == "THTensor", prefix == "THSTensor"
    tables = {file: called(file) for file in EXPECTATIONS}

    def lua(script, name):
        return [["luajit", f"c_tests/{script}.lua", f"^{name}$"]]

    if dense and short in tables["tests/data/expectations.txt"]:
        yield "table", lua("table", short)
    if dense and short in tables["tests/data/expectations.txt"] | tables["c_tests/gradients/calls.txt"]:
        yield "gradients", lua("gradients", function)
    if dense and short in tables["tests/data/gradients.txt"]:
        yield "gradient values", lua("gradient_values", function)
    if sparse and short in tables["tests/data/sparse_expectations.txt"]:
        yield "sparse table", lua("sparse", short)
    if dense and torch:
        yield "PyTorch", [[torch, "scripts/differential.py", "--cases", str(CASES), "--call", short]]
    for test in tests_by_function()[function]:
        if program(test):
            yield Path(test).stem, program(test)


def plan(names, torch):
    """The tests of each name. Ends the program if a name is unknown."""
    functions = prototypes.functions()
    short_names = defaultdict(list)
    for function in functions:
        short_names[function.partition("_")[2]].append(function)
    programs = {path.stem: f"c_tests/{path.name}" for path in sorted(TESTS.glob("test_*.c*"))}
    planned, unknown = [], []
    for name in names:
        meant = [name] if name in functions else short_names.get(name, [])
        planned += [(function, list(steps_of(function, torch))) for function in meant]
        if name in programs and program(programs[name]):
            planned.append((name, [(name, program(programs[name]))]))
        elif not meant:
            near = difflib.get_close_matches(name, [*short_names, *functions, *programs], 5)
            unknown.append(f"try: {name} is no function of include/thorn.h and no program of c_tests" + (f"; near it: {', '.join(near)}" if near else ""))
    if unknown:
        sys.exit("\n".join(unknown))
    return planned


def build():
    started = time.time()
    print("building the library ...", flush=True)
    cargo = ["cargo", "rustc", "--quiet", "--profile", "try", "--locked", "--lib", "--crate-type", "cdylib", "--target-dir", TARGET]
    if subprocess.run(cargo, cwd=ROOT).returncode:
        sys.exit(1)
    soname = OUT / "libthorn.so.0"
    soname.unlink(missing_ok=True)
    soname.symlink_to(LIBRARY.name)
    print(f"{'the library':28} ok      {time.time() - started:5.1f} s", flush=True)


def run(step):
    """Runs the commands of a test. Returns its name, its state and its output: "" is success, and None that the test had nothing to do."""
    name, commands = step
    environment = {**os.environ, "THORN_LIB": str(LIBRARY)}
    for command in commands:
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return name, f"{' '.join(command)}: no end after {SECONDS} s\n"
        nothing = done.returncode == SKIPPED or re.search(r"^0 calls, .* 0 failed$", done.stdout, re.M)
        if nothing:
            return name, None
        if done.returncode:
            return name, f"{' '.join(command)}: status {done.returncode}\n{done.stdout}"
    return name, ""


def report(function, steps, pool):
    """Runs the tests of a function and prints its line. Returns whether all succeeded."""
    started = time.time()
    results = list(pool.map(run, steps))
    ran = [name for name, output in results if output is not None]
    faults = [output for _, output in results if output]
    state = "failed" if faults else "ok" if ran else "none"
    told = ", ".join(name + (" FAILED" if output else "") for name, output in results if output is not None)
    print(f"{function:28} {state:7} {time.time() - started:5.1f} s  {told or 'only scripts/test.sh tests it'}", flush=True)
    for fault in faults:
        print(fault)
    return not faults and bool(ran)


def main():
    parser = argparse.ArgumentParser(prog="scripts/try.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", metavar="NAME")
    names = parser.parse_args().names
    plan(names, None)
    torch = subprocess.run([ROOT / "scripts" / "torch_python.sh"], stdout=subprocess.PIPE, text=True).stdout.strip()
    planned = plan(names, torch)
    build()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        good = [report(function, steps, pool) for function, steps in planned]
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
