"""Tests the programs of the guide that need more than the library. Programs marked `mpi` run with two ranks, and must print the page's
output. Programs marked `nccl` are compiled with the stand-in header of c_tests/nccl.

    PYTHONPATH=scripts python3 -m guide.mpi --library build/lib/libthorn.so --cc mpicc --run mpirun
"""

import argparse
import sys
import tempfile
from pathlib import Path

from . import pages, programs


def test(arguments):
    """Runs all checks. Returns a line that says what was tested."""
    with tempfile.TemporaryDirectory() as work:
        launch = (arguments.run, "-np", "2")
        tools = programs.Tools(arguments.library, Path(work), arguments.cc, None, None, None, launch)
        counts = {}
        for mark in programs.MARKS:
            every = [program for page in pages.all_pages() for program in programs.of_page(page, mark)]
            counts[mark] = len(every)
            for number, program in enumerate(every):
                if mark == "mpi":
                    programs.check(tools, program, f"{mark}{number}")
                    continue
                source = Path(work) / f"{mark}{number}.c"
                source.write_text(program.text)
                flags = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", f"-I{tools.include}"]
                programs.run([arguments.cc, *flags, f"-I{pages.ROOT}/c_tests/nccl", str(source)], work, program.place)
    if not counts["mpi"]:
        raise pages.Fault("the guide has no program for MPI")
    return ", ".join(f"{count} programs for {mark}" for mark, count in counts.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libthorn.so")
    parser.add_argument("--cc", required=True)
    parser.add_argument("--run", required=True)
    try:
        print(f"guide: {test(parser.parse_args())}")
    except pages.Fault as fault:
        sys.exit(f"guide: {fault}")


if __name__ == "__main__":
    main()
