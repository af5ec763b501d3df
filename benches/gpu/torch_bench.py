"""Times the rows of rows.py in PyTorch, in the same way and format as bench.c.

Usage: torch_bench.py [SCALE [WORD]]

Without a GPU each row runs once on the host, to test the expressions, and the times are left out.
"""

import re
import sys
import time
from pathlib import Path

import torch
from torch import nn as torch_nn

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "peers")]
import grad
import net
from rows import OPERANDS, ROWS, VIEWS, scaled, shape

WARM, ROUNDS, CALLS, ADDS = 3, 5, 10, 20
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "bool": torch.bool, "i64": torch.int64, "zeros": torch.int64}
ON_GPU = torch.cuda.is_available()
DEVICE = "cuda" if ON_GPU else "cpu"


def operand(dtype, sizes):
    if dtype == "zeros":
        return torch.zeros(sizes, dtype=torch.int64, device=DEVICE)
    if dtype == "i64":
        return torch.randint(0, sizes[0], sizes, device=DEVICE)
    numbers = torch.randn(sizes, device=DEVICE)
    return numbers > 0 if dtype == "bool" else numbers.to(DTYPES[dtype])


def fused(x, y):
    """PyTorch without a compiler has no fused expression, so this makes three calls."""
    return torch.tanh(x * y + x)


def with_tf32(x, y, to):
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.mm(x, y, out=to)
    torch.backends.cuda.matmul.allow_tf32 = False


def adds(to, x, y):
    torch.add(x, y, out=to)
    for _ in range(ADDS - 1):
        torch.add(to, y, out=to)


GRAPHS = []


def replay(to, x, y):
    """Launches the graph of `adds`, which the first call records."""
    if not ON_GPU:
        return adds(to, x, y)
    if not GRAPHS:
        adds(to, x, y)
        torch.cuda.synchronize()
        GRAPHS.append(torch.cuda.CUDAGraph())
        with torch.cuda.graph(GRAPHS[0]):
            adds(to, x, y)
    GRAPHS[0].replay()


def namespace(scale):
    """The names that the rows use."""
    sizes = scaled(scale)
    functions = {"fused": fused, "with_tf32": with_tf32, "adds": adds, "replay": replay}
    names = {"torch": torch, "nn": torch_nn.functional, "grad": grad, "net": net, **functions, **sizes}
    for name, (dtype, text) in OPERANDS.items():
        names[name] = operand(dtype, [sizes.get(size) or int(size) for size in shape(text)])
    for name, (_, view) in VIEWS.items():
        names[name] = eval(view, names)
    return names


def call_of(row, names):
    """Returns a function that makes one call of the row, with fresh results."""
    dtype, *sizes = row.result.split()
    # PyTorch resizes an empty `out`.
    names["r"] = torch.empty(0, dtype=DTYPES[dtype], device=DEVICE)
    if sizes:
        names["r"] = operand(dtype, [names.get(size) or int(size) for size in sizes])
    names["i"] = torch.empty(0, dtype=torch.int64, device=DEVICE)
    used = [name for name in names if re.search(rf"\b{name}\b", row.torch)]
    scope = {}
    exec(f"def call({', '.join(f'{name}={name}' for name in used)}): {row.torch}", names, scope)
    return scope["call"]


def time_row(call):
    """The best times of a call in µs: by events of the GPU, and until calls have returned."""
    for _ in range(WARM):
        call()
    torch.cuda.synchronize()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    best = host = float("inf")
    for _ in range(ROUNDS):
        start.record()
        began = time.perf_counter()
        for _ in range(CALLS):
            call()
        host = min(host, (time.perf_counter() - began) / CALLS)
        end.record()
        end.synchronize()
        best = min(best, start.elapsed_time(end) / CALLS)
    return 1e3 * best, 1e6 * host


def run(row, names):
    """Prints the line of a row. Returns whether the row ran."""
    try:
        call = call_of(row, names)
        if ON_GPU:
            times = "\t".join(f"{value:.3f}" for value in time_row(call))
        else:
            call()
            times = "\t"
        print(f"{row.name}\t{times}", flush=True)
        return True
    except Exception as problem:
        print(f"{row.name}\tfailed\t{str(problem).splitlines()[0]}", flush=True)
        return False


def main():
    scale, word = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0, sys.argv[2] if len(sys.argv) > 2 else ""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    names = namespace(scale)
    return 0 if all([run(row, names) for row in ROWS if word in row.name]) else 1


sys.exit(main())
