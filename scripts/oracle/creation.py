"""Operations: tensors made from numbers, diagonals, triangles and grids."""

import numpy

from .operands import *
from .reductions import SHEET


def made(function, arguments, result, dtypes=ALL, **how):
    """A tensor made from numbers: fresh, and in a result of each dtype."""
    options = how.pop("options", "any keeps")
    expect(function, [R, *arguments], result, options=options, **how)
    for dtype in dtypes:
        expect(function, [Given(dtype), *arguments], result.to(getattr(torch, dtype)), options=options, **how)


def creation():
    for size in ([], [0], [3], [2, 0, 3], [2, 3]):
        made("zeros", [len(size), size or NULL], torch.zeros(size), options="any")
        made("ones", [len(size), size or NULL], torch.ones(size), options="any")
    made("full", [2, [2, 3], 7], torch.full((2, 3), 7.0), options="any")
    made("full", [1, [3], 2.5], torch.full((3,), 2.5), options="any")
    refuse("zeros", [R, 1, [-1]], ERR_SHAPE)
    refuse("ones", [R, 2, [2**40, 2**40]], ERR_SHAPE)
    for dtype in ALL:
        for t in (SHEET[dtype], ONE[dtype], EMPTY3[dtype]):
            expect("zerosLike", [R, t], torch.zeros_like(t.value), options="any")
            expect("onesLike", [R, t], torch.ones_like(t.value), options="any")
            expect("fullLike", [R, t, 1], torch.full_like(t.value, 1), options="any")
    for start, end, step in ((0, 7, 1), (3, -8, -2), (5, 5, 1), (-100, 100, 7), (0, 1003, 1)):
        sparse = {"every": 17} if end > 1000 else {}
        wide = ["float32", "float64", "int32", "int64"]
        made("arange", [start, end, step], torch.arange(start, end, step), NUMBERS if end == 7 else wide, **sparse)
        made("range", [start, end, step], torch.arange(start, end + (1 if step > 0 else -1), step).float(), wide, **sparse)
    for start, end, step in ((0, 1, 0.25), (0.5, -3, -0.75), (0, 1, 0.1)):
        numbers = torch.arange(start, end, step, dtype=torch.float64).float()
        made("arange", [start, end, step], numbers, ["float64"] if step == 0.25 else [], ulps=1)
    for bad in ((0, 1, 0), (0, 1, -1), (1, 0, 1), (0, INF, 1), (NAN, 1, 1)):
        refuse("arange", [R, *bad], ERR_ARGUMENT)
        refuse("range", [R, *bad], ERR_ARGUMENT)
    for start, end, n in ((0, 1, 5), (-3, 7, 11), (2, 2, 4), (5, 1, 1), (0, 1, 0), (-1, 1, 1003)):
        for name, f, bound in (("linspace", numpy.linspace, 2), ("logspace", numpy.logspace, 4)):
            values = torch.from_numpy(f(start, end, n))
            every = 17 if n > 100 else 1
            expect(name, [R, start, end, n], values.float(), options="keeps abs=1e-7", ulps=bound, every=every)
            for dtype in FLOATS:
                stored = values.to(getattr(torch, dtype))
                expect(name, [Given(dtype), start, end, n], stored, options="keeps abs=1e-7", ulps=bound, every=every)
    expect("logspaceBase", [R, 0, 8, 2, 9], 2.0 ** torch.arange(9), options="keeps", ulps=2)
    refuse("linspace", [R, 0, 1, -1], ERR_ARGUMENT)
    for n, m in ((3, 3), (2, 4), (4, 2), (0, 3)):
        made("eye", [n, m], torch.eye(n, m), options="any")


def matrices():
    for dtype in ALL:
        t, matrix = SHEET[dtype], EDGES[dtype]
        vector = tensor(f"vector.{dtype}", [1, 0, 1, 1], dtype)
        for k in (0, 1, -2, 9):
            for name in ("tril", "triu"):
                f = getattr(torch, name)
                expect(name, [R, t if k else matrix, k], f((t if k else matrix).value, k))
            expect("diag", [R, vector, k], torch.diag(vector.value, k))
            if k < 7:
                expect("diag", [R, matrix, k], torch.diag(matrix.value, k))
                expect("diagonal", [R, matrix, k, 0, 1], torch.diagonal(matrix.value, k), options="fresh")
        expect("diagEmbed", [R, SMALL[dtype], 1, 0, -1], torch.diag_embed(SMALL[dtype].value, 1, 0, -1))
        expect("diagEmbed", [R, vector, -2, 0, 1], torch.diag_embed(vector.value, -2))
        total = torch.trace(SMALL[dtype].value.double()).item()
        expect("trace", [SMALL[dtype]], ("returns", "float64", total))
        expect("cartesianProd", [R, (vector, vector), 2], torch.cartesian_prod(vector.value, vector.value))
        for indexing in ("ij", "xy"):
            grids = torch.meshgrid(vector.value, SMALL_ROW[dtype].value, indexing=indexing)
            expect("meshgrid", [(R, R), (vector, SMALL_ROW[dtype]), 2, Raw(f'"{indexing}"')], *grids, options="fresh")
        if dtype in INTEGERS:
            expect("oneHot", [R, SMALL[dtype], -1], torch.nn.functional.one_hot(SMALL[dtype].value.long()), options="any")
            expect("oneHot", [R, SMALL[dtype], 8], torch.nn.functional.one_hot(SMALL[dtype].value.long(), 8), options="any")
            refuse("oneHot", [R, SMALL[dtype], 3], ERR_ARGUMENT)
        elif dtype in FLOATS:
            refuse("oneHot", [R, SMALL[dtype], -1])
        if dtype != "bool":
            for n, increasing in ((-1, 0), (3, 1)):
                columns = torch.vander(SMALL_ROW[dtype].value, None if n < 0 else n, bool(increasing)).to(SMALL_ROW[dtype].value.dtype)
                expect("vander", [R, SMALL_ROW[dtype], n, increasing], columns if dtype in FLOATS else columns.long())
    for rows, cols, offset in ((3, 4, 0), (4, 3, -1), (2, 5, 2), (0, 3, 0)):
        made("trilIndices", [rows, cols, offset], torch.tril_indices(rows, cols, offset), ["int32"], options="any")
        made("triuIndices", [rows, cols, offset], torch.triu_indices(rows, cols, offset), ["int32"], options="any")


def rows():
    for part in (creation, matrices):
        part()
