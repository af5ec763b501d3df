#!/usr/bin/env python3
"""Writes tests/data/aten.txt: operators of ATen with operands and PyTorch's results. src/program/tests.rs runs them.

    python3 -m venv .venv && .venv/bin/pip install torch==2.15.0 numpy==2.4.6
    .venv/bin/python scripts/aten_expectations.py

Always writes the same file, except for the last digits of some functions. scripts/aten has the operands by subject. src/program/tests.rs
explains the lines.
"""

import os
import sys
import warnings

sys.dont_write_bytecode = True

from aten import images, indexing, layers, pointwise, reductions, symbols, views
from aten.writing import lines

OUT = os.path.join(os.path.dirname(__file__), "..", "tests", "data", "aten.txt")


def main():
    warnings.simplefilter("ignore")
    for part in [pointwise, views, indexing, reductions, layers, images, symbols]:
        part.cases()
    with open(OUT, "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
