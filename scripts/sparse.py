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

import argparse
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from sparse import campaign

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of the only call")
    parser.add_argument("--failures", type=int, default=20, help="failures to show")
    parser.add_argument("--write", action="store_true", help="writes the expectations of the test")
    sys.exit(campaign.main(parser.parse_args()))
