#!/usr/bin/env python3
"""Tests docs/guide: runs the programs of every page, and reports pages, links and tables that are missing or stale.

    scripts/guide.py --library build/lib/libthorn.so [PAGE ...]
    scripts/guide.py --library build/lib/libthorn.so --write        writes the tables of names and the pictures first

The blocks of a page in one language form one program, in the order of the page. A block ```text directly after a block of code is the
output of that code, and all these blocks together are the program's output. In C and C++, a block with `int main(` is a separate
program. Of the others, blocks marked `file`, as in ```c file, are placed before main, and the rest is the body of main. `#include` lines
may be in any block. A program in C or C++ must free all memory. Programs run in a folder that has the files of examples/data.
scripts/install-test.sh runs the blocks for a shell or CMake, and must name each of them. scripts/mpi.sh runs the programs of blocks
marked `mpi` or `nccl`, as in ```c mpi.

docs/guide/pictures/NAME.c prints the picture NAME.svg. If a program of a page writes a file with the name of a picture, the file must be
equal to the picture.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True

from guide import pages, pictures, programs, tables

LANGUAGES = {*programs.COMPILED, *programs.SCRIPTS, "text", "sh", "console", "cmake"}


def python_with(module):
    """This interpreter, or the system's interpreter if only that has the module."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0:
            return python
    return None


def check_numpy(library):
    """Compares functions with the NumPy functions in the same line of the table, if NumPy is installed. Returns a text with the number
    that agree."""
    python = python_with("numpy")
    if not python:
        return "NumPy not found"
    command = [python, "-B", "-m", "guide.numpy_check", str(Path(library).resolve())]
    count = programs.run(command, Path(__file__).parent, "the table of names for NumPy")
    return f"{count.strip()} functions agree with NumPy"


def check_structure(every):
    pages.check_summary(every)
    pages.check_links(every)
    pages.check_commands(every)
    pictures.check_structure(every)
    for page in every:
        for block in page.blocks:
            if block.language not in LANGUAGES:
                raise pages.Fault(f"{page.name}:{block.line - 1}: a block in no language that is tested: {block.language or 'none'}")
        long = [n for n, line in enumerate(page.text.splitlines(), 1) if len(line) > 140 and not line.startswith("|")]
        if long:
            raise pages.Fault(f"{page.name}:{long[0]}: more than 140 columns")


def check_programs(arguments, chosen):
    """Runs all programs. Returns the faults, and a count of the programs that ran."""
    with tempfile.TemporaryDirectory() as work:
        tools = programs.Tools(arguments.library, Path(work), arguments.cc, arguments.cxx, arguments.luajit, python_with("cffi, numpy"))
        programs.check_refusals(tools)
        pictures.check_refusal()
        every = [program for page in chosen for program in programs.of_page(page)]
        every += [] if arguments.pages else pictures.programs_of_pictures()
        left_out = {program.language for program in every if tools.missing(program.language)}
        for language in sorted(left_out):
            print(f"guide: programs in {language} are left out: no interpreter for them was found")
        every = [program for program in every if program.language not in left_out]

        def fault(numbered):
            try:
                programs.check(tools, numbered[1], f"program{numbered[0]}")
                pictures.compare(Path(work) / f"program{numbered[0]}", numbered[1], arguments.write)
            except pages.Fault as problem:
                return str(problem)
            except subprocess.TimeoutExpired:
                return f"{numbered[1].place}: does not end"

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return [problem for problem in pool.map(fault, enumerate(every)) if problem], len(every)


def test(arguments):
    """Runs all checks. Returns a line that says what was tested."""
    if arguments.write:
        tables.write(arguments.luajit, arguments.library)
        pictures.write(arguments.library, arguments.cc)
    every = pages.all_pages()
    if not arguments.write: # pictures that are written for the first time are not there yet
        check_structure(every)
    tables.check(arguments.luajit, arguments.library)
    numpy = check_numpy(arguments.library)
    faults, count = check_programs(arguments, [page for page in every if not arguments.pages or page.path.stem in arguments.pages])
    if arguments.write and not faults:
        check_structure(every)
    if faults or not count:
        raise pages.Fault("\n".join([*faults, f"{len(faults)} of {count} programs failed"]))
    return f"{len(every)} pages, {count} programs, {numpy}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libthorn.so")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--luajit", default=shutil.which("luajit"))
    parser.add_argument("--write", action="store_true", help="write the tables of names and the pictures anew")
    parser.add_argument("pages", nargs="*", help="names of the pages whose programs are run; all if none is named")
    try:
        print(f"guide: {test(parser.parse_args())}")
    except pages.Fault as fault:
        sys.exit(f"guide: {fault}")


if __name__ == "__main__":
    main()
