#!/usr/bin/env python3
"""Writes tests/data/gradients.txt, the gradients that c_tests/gradient_values.lua expects of thorn.

    python3 -m venv .venv && .venv/bin/pip install torch==2.15.0 numpy==2.4.6 mpmath
    .venv/bin/python scripts/gradient_values.py

Always writes the same file. mpmath computes the derivatives with 60 digits. For functions without a derivative there, or not of single
elements, the values are PyTorch's gradients in float64. scripts/oracle/gradients.py lists where the two differ, and which one counts.
"""

import os
import sys
import warnings

sys.dont_write_bytecode = True

from oracle import writing

OUT = os.path.join(os.path.dirname(__file__), "..", "tests", "data", "gradients.txt")


def main():
    warnings.simplefilter("ignore")
    from oracle import gradients

    # Importing the operands has written all of them. Each call writes the operands that it uses.
    del writing.lines[:]
    gradients.rows()
    with open(OUT, "w") as file:
        file.write("\n".join(writing.lines) + "\n")


if __name__ == "__main__":
    main()
