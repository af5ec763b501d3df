#!/usr/bin/env python3
"""Writes tests/data/expectations.txt, the results that c_tests/table.lua expects, as PyTorch, NumPy and mpmath compute them.

    python3 -m venv .venv && .venv/bin/pip install torch==2.15.0 numpy==2.4.6 mpmath
    .venv/bin/python scripts/expectations.py

Always writes the same file. An operation is one line in scripts/oracle: its function in C, PyTorch's name (or a function that
computes it), and the dtypes that it accepts; it must refuse the others. c_tests/table/expectations.lua explains the lines of the file,
and c_tests/table.lua lays out operands and results.
"""

import os
import sys
import warnings

sys.dont_write_bytecode = True

from oracle import attention, compressed, convolution, creation, ctc, elementwise, indexing, layers, linalg, products, recurrent, reductions, resample, sampling, sorting
from oracle.writing import lines

OUT = os.path.join(os.path.dirname(__file__), "..", "tests", "data", "expectations.txt")


def main():
    # Warnings about empty sums and variances of one element: their results are expected, too.
    warnings.simplefilter("ignore")
    elementwise.rows()
    reductions.rows()
    creation.rows()
    indexing.rows()
    sorting.rows()
    products.rows()
    convolution.rows()
    resample.rows()
    sampling.rows()
    ctc.rows()
    linalg.rows()
    layers.rows()
    recurrent.rows()
    attention.rows()
    compressed.rows()
    with open(OUT, "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
