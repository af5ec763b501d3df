#!/usr/bin/env python3
"""Compares thorn with PyTorch on random calls: operations, dtypes, layouts of operands, kinds of results.

    python3 -m venv .venv && .venv/bin/pip install -r benches/peers/requirements.txt
    .venv/bin/python scripts/differential.py [--cases N] [--seed S] [--only NUMBER] [--call FUNCTION] [--device cuda] [--verbose]

Case number N of seed S is always the same: `--seed S --only N` repeats it alone. THORN_LIB names the library; the default is
target/release/libthorn.so. With `--device cuda` the tensors of each call are copied to the first GPU before the call, and back after it.
compare/differential/deviations.py lists the intended differences.
"""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from compare.differential.campaign import Calls

if __name__ == "__main__":
    Calls.main(__doc__)
