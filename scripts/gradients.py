#!/usr/bin/env python3
"""Compares gradients of thorn with PyTorch's on random programs: operations, views, writes in place, and backward through all of it.

    python3 -m venv .venv && .venv/bin/pip install -r benches/peers/requirements.txt
    .venv/bin/python scripts/gradients.py [--cases N] [--seed S] [--only NUMBER] [--verbose]

Program number N of seed S is always the same: `--seed S --only N` repeats it alone. A failed program is printed without the steps that its
failure does not need. THORN_LIB names the library; the default is target/release/libthorn.so.

thorn intentionally differs from PyTorch in two ways, which programs avoid: a result written into a handle that has a history replaces its
value and its history, and the pieces of a split may be changed in place.
"""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from compare.gradients.campaign import Programs

if __name__ == "__main__":
    Programs.main(__doc__)
