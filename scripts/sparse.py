#!/usr/bin/env python3
"""Compares sparse tensors of thorn with PyTorch's and SciPy's on random calls, or writes such calls for a test without them.

    python3 -m venv .venv && .venv/bin/pip install -r benches/peers/requirements.txt
    .venv/bin/python scripts/sparse.py [--cases N] [--seed S] [--only NUMBER]
    .venv/bin/python scripts/sparse.py --write [--cases N]

Call number N of seed S is always the same: `--seed S --only N` repeats it alone. THORN_LIB names the library; the default is
target/release/libthorn.so. Each call is made with its sparse operands as drawn, coalesced, compressed by rows, and with values that are not
contiguous.

--write writes tests/data/sparse_expectations.txt, which c_tests/sparse.lua runs.
"""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from compare.sparse.campaign import SparseCalls

if __name__ == "__main__":
    SparseCalls.main(__doc__)
