"""The rows: calls of thorn, PyTorch and NumPy for the same work.

A row is `over(op, dtypes, shapes, thorn, torch, numpy)`: one for each dtype and shape. `thorn` is C, the others are Python (in `small`,
`torch` is C++). `a` and `b` are operands of the row's dtype and shape unless a keyword changes that, `r` is the result, `n` the number
of elements, `shape` the sizes (in C also `ndim`). The names in `out=` have memory before the clock starts. `FRESH(call)` and
`MADE(handle)` make a new result each time. None: the library has no such function.
"""

import re
from dataclasses import dataclass, field
from math import prod

from operands import ANY, Operand, sizes

TWO_FROM = 100_000  # elements; smaller operands use one thread


@dataclass(eq=False)
class Row:
    group: str
    op: str
    dtype: str
    shape: str
    thorn: str
    torch: str
    numpy: str | None
    operands: dict = field(default_factory=dict)
    result: Operand | None = None  # for `r`, if no `out=` names a result
    checked: tuple = ()  # the results to compare, if not all: libraries may choose different indices among equal elements
    tolerance: float | None = None  # for results with many roundings: relative for floats, absolute for integers
    flops: int | None = None  # the limit is arithmetic instead of memory
    cpp: bool = False  # `torch` is C++
    one_thread: bool = False  # two threads would show nothing new

    def count(self):
        return prod(sizes(self.shape))

    def names(self):
        """The names of the tensors in the C code, in the order of its handles."""
        code = self.thorn + (" r" if self.makes() else "")
        return [name for name in "riabcm" if re.search(rf"\b{name}\b", code)]

    def makes(self):
        return self.thorn.startswith(("FRESH", "MADE"))

    def number(self):
        return self.thorn.startswith("NUMBER")

    def two_threads(self):
        return self.count() >= TWO_FROM and not self.cpp and not self.one_thread

    def label(self):
        return f"{self.group:9} {self.op:18} {self.dtype:9} {self.shape:12}"


def over(op, dtypes, shapes, thorn, torch, numpy=None, **given):
    """A row for each dtype and shape. Operands that the code names and no keyword describes are `ANY`."""
    details = {key: given.pop(key) for key in list(given) if key in Row.__dataclass_fields__}
    code = f"{thorn} {torch} {numpy}"
    named = {name: ANY for name in ("a", "b", "c") if re.search(rf"\b{name}\b", code)}
    operands = {**named, **given}
    rows = (("", op, dtype, shape, thorn, torch, numpy) for dtype in dtypes.split() for shape in shapes.split())
    return [Row(*row, operands, **details) for row in rows]


ALL_SIZES = "1e3 1e5 1e6 1e7"
MATRIX = "1000x1000"
NARROW = "250000x4 62500x16 10000x100"
CUBE = "100x100x100"

# A reduction over everything and over each dimension: the text for the dimension in C and in Python.
ALL = ("all", "TH_ALL_DIMS", "None")
MATRIX_DIMS = [(MATRIX, *dim) for dim in (ALL, ("dim 0", "0", "0"), ("dim 1", "1", "1"))]
CUBE_DIMS = [(CUBE, f"dim {d}", str(d), str(d)) for d in range(3)]


def along(op, dtypes, dims, thorn, torch, numpy=None, **given):
    """Rows over these dimensions, which replace DIM in the code."""
    rows = []
    for shape, label, c, python in dims:
        code = thorn.replace("DIM", c), torch.replace("DIM", python), numpy and numpy.replace("DIM", python)
        rows += over(f"{op} {label}", dtypes, shape, *code, **given)
    return rows
