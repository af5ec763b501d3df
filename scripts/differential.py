#!/usr/bin/env python3
"""Compares thorn with PyTorch on random calls: operations, dtypes, layouts of operands, kinds of results.

    python3 -m venv .venv && .venv/bin/pip install -r benches/peers/requirements.txt
    .venv/bin/python scripts/differential.py [--cases N] [--seed S] [--only NUMBER] [--function WORD] [--device cuda] [--verbose]

Case number N of seed S is always the same: `--seed S --only N` repeats it alone. THORN_LIB names the library; the default is
target/release/libthorn.so. With `--device cuda` the tensors of each call are copied to the first GPU before the call, and back after it.
differential/deviations.py lists the intended differences.
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from differential import campaign

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0, help="the number of the first case")
    parser.add_argument("--only", type=int, help="the number of the only case")
    parser.add_argument("--function", default="", help="only operations whose name, with that of their module, contains it")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"], help="where thorn computes")
    parser.add_argument("--failures", type=int, default=50, help="failures to show")
    parser.add_argument("--verbose", action="store_true", help="says each case before it runs")
    sys.exit(campaign.main(parser.parse_args()))
