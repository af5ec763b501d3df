"""Operations: compressed rows, compared with dense matrices that have the same elements."""

from .operands import *
from .products import WIDE, whole

# Rows with one entry, without entries, with unordered duplicates, and with all entries.
CROW = [0, 1, 1, 5, 8]
COL = [2, 4, 0, 0, 3, 4, 1, 2]
# The pattern of a product [4 x 3], and the second factor [5 x 3].
AT = ([0, 3, 4, 4, 6], [2, 0, 0, 1, 1, 2])
SECOND = ([0, 2, 2, 3, 5, 6], [2, 0, 1, 0, 0, 2])
# A square matrix with a diagonal, and entries on both sides of the diagonal.
SQUARE = ([0, 3, 5, 6, 10, 11], [4, 0, 2, 1, 0, 2, 3, 0, 3, 1, 4])


def positions(name, values, dtype="int64"):
    return tensor(f"compressed.places.{name}.{dtype}", values, dtype, (len(values),))


def pattern(name, starts, columns, dtype="int64"):
    return positions(f"{name}.crow", starts, dtype), positions(f"{name}.col", columns, dtype)


def rows_of(crow):
    counts = crow.value.long().diff()
    return torch.repeat_interleave(torch.arange(len(counts)), counts)


def dense(crow, col, values, columns):
    """Sums the duplicate entries for each position."""
    made = torch.zeros(crow.value.numel() - 1, columns, dtype=values.dtype)
    return made.index_put_((rows_of(crow), col.value.long()), values, accumulate=True)


def products():
    for dtype, places in [(d, "int64") for d in NUMBERS] + [("float32", "int32"), ("int64", "int32")]:
        narrowed = lambda t: t.to(getattr(torch, dtype))
        make = lambda name, *shape: whole(f"compressed.{name}", dtype, shape, sum(map(ord, name)))
        crow, col = pattern("a", CROW, COL, places)
        entries = make("entries", len(COL))
        a = dense(crow, col, entries.value.to(WIDE[dtype]), 5)
        ones = dense(crow, col, torch.ones(len(COL), dtype=WIDE[dtype]), 5)
        m, v, n, w = make("m", 5, 3), make("v", 5), make("n", 4, 3), make("w", 4)
        for x in (m, v):
            expect("csrMatmul", [R, crow, col, entries, x], narrowed(a @ x.value.to(WIDE[dtype])), options="any")
            expect("csrMatmul", [R, crow, col, NULL, x], narrowed(ones @ x.value.to(WIDE[dtype])), options="any")
        for x in (n, w):
            expect("csrMatmulTransposed", [R, crow, col, entries, x, 5], narrowed(a.T @ x.value.to(WIDE[dtype])), options="any")
            expect("csrMatmulTransposed", [R, crow, col, NULL, x, 5], narrowed(ones.T @ x.value.to(WIDE[dtype])), options="any")
        for x, y in ((n, m), (w, v)):
            product = torch.outer(x.value, y.value) if x is w else x.value.to(WIDE[dtype]) @ y.value.to(WIDE[dtype]).T
            expect("csrSampled", [R, crow, col, x, y], narrowed(product[rows_of(crow), col.value.long()]), options="any")
        other_crow, other_col = pattern("b", *SECOND, places)
        others = make("others", len(SECOND[1]))
        b = dense(other_crow, other_col, others.value.to(WIDE[dtype]), 3)
        left, right = (crow, col, entries), (other_crow, other_col, others)
        where = dense(crow, col, torch.ones(len(COL)), 5) @ dense(other_crow, other_col, torch.ones(len(SECOND[1])), 3) > 0
        starts = torch.cat([torch.zeros(1, dtype=torch.int64), where.sum(1).cumsum(0)])
        made = [t.to(getattr(torch, places)) for t in (starts, where.nonzero()[:, 1])]
        expect("csrMatmulCsr", [R, R, R, *left, *right, 3], narrowed((a @ b)[where]), *made, options="strict unsigned")
        at = pattern("at", *AT, places)
        chosen = lambda product: narrowed(product[rows_of(at[0]), at[1].value.long()])
        expect("csrSampledCsr", [R, *at, *left, *right, 3, 0, 0], chosen(a @ b), options="any")
        tall = (*pattern("tall", [0, 2, 3, 6], [3, 1, 0, 2, 3, 3], places), make("tall", 6))
        thin = (*pattern("thin", [0, 1, 1, 3], [1, 2, 0], places), make("thin", 3))
        transposed = dense(*tall[:2], tall[2].value.to(WIDE[dtype]), 4).T @ dense(*thin[:2], thin[2].value.to(WIDE[dtype]), 3)
        expect("csrSampledCsr", [R, *at, *tall, *thin, 3, 1, 0], chosen(transposed), options="any")
        wide = (*pattern("wide", [0, 3, 4, 4], [4, 0, 2, 1], places), make("wide", 4))
        expect("csrSampledCsr", [R, *at, *left, *wide, 5, 0, 1], chosen(a @ dense(*wide[:2], wide[2].value.to(WIDE[dtype]), 5).T), options="any")
        refuse("csrSampledCsr", [R, *at, *tall, *wide, 5, 1, 1], 8)


def refused():
    """Operands that do not fit, row starts that do not ascend, columns out of range."""
    crow, col = pattern("a", CROW, COL)
    entries, m, n = (whole(f"compressed.{name}", "float32", shape, len(name)) for name, shape in (("few", (8,)), ("m", (5, 3)), ("n", (4, 3))))
    beyond, negative = positions("beyond", [2, 4, 0, 5, 3, 4, 1, 2]), positions("negative", [2, 4, 0, 1, 3, 4, -1, 2])
    falling, behind = positions("falling", [0, 5, 1, 5, 8]), positions("behind", [0, 1, 1, 5, 9])
    for wrong_crow, wrong_col in ((crow, beyond), (crow, negative), (falling, col), (behind, col)):
        refuse("csrMatmul", [R, wrong_crow, wrong_col, entries, m], ERR_ARGUMENT)
        refuse("csrMatmulTransposed", [R, wrong_crow, wrong_col, entries, n, 5], ERR_ARGUMENT)
        refuse("csrSampled", [R, wrong_crow, wrong_col, n, m], ERR_ARGUMENT)
        refuse("csrMatmulCsr", [R, R, R, wrong_crow, wrong_col, entries, *pattern("b", *SECOND), entries_of(6), 3], ERR_ARGUMENT)
        refuse("csrMatmulCsr", [R, R, R, *pattern("at", *AT), entries_of(6), wrong_crow, wrong_col, entries, 5], ERR_ARGUMENT)
    refuse("csrMatmul", [R, crow, col, PLAIN["float32"], m], ERR_SHAPE)
    refuse("csrMatmul", [R, crow, m, entries, m], ERR_DTYPE)
    refuse("csrMatmul", [R, crow, col, entries, whole("compressed.m", "float64", (5, 3), 1)], ERR_DTYPE)
    refuse("csrMatmulTransposed", [R, crow, col, entries, n, -1], ERR_ARGUMENT)
    refuse("csrSampled", [R, crow, col, m, m], ERR_SHAPE)
    refuse("csrSoftmax", [R, behind, entries], ERR_ARGUMENT)
    refuse("csrSoftmax", [R, falling, entries], ERR_ARGUMENT)


def entries_of(count):
    return whole(f"compressed.ones{count}", "float32", (count,), count)


def softmax():
    for dtype in FLOATS:
        torch_dtype = getattr(torch, dtype)
        ulps = dict(ulps=16) if dtype in ("float32", "float64") else dict(ulps=1)
        crow = positions("a.crow", CROW, "int32" if dtype == "float32" else "int64")
        x = random(f"compressed.line.{dtype}", dtype, (8,), 5, 33, -16, 0.25)
        exact = [x.value.double()[i:j].softmax(0) for i, j in zip(CROW, CROW[1:])]
        expect("csrSoftmax", [R, crow, x], torch.cat(exact).to(torch_dtype), options="any", **ulps)
        g, y = random(f"compressed.g.{dtype}", dtype, (8,), 6, 9, -4, 0.25), random(f"compressed.y.{dtype}", dtype, (8,), 7, 9, -4, 0.25)
        rows = [(g.value.double()[i:j], y.value.double()[i:j]) for i, j in zip(CROW, CROW[1:])]
        expect("csrSoftmaxGrad", [R, crow, g, y], torch.cat([y * (g - (g * y).sum()) for g, y in rows]).to(torch_dtype), options="any", **ulps)
        nothing = positions("nothing", [0, 0, 0])
        expect("csrSoftmax", [R, nothing, EMPTY[dtype]], EMPTY[dtype].value, options="any")
        far = tensor(f"compressed.far.{dtype}", [30000, 29999, -30000, INF, 1, NAN, 2, -INF], dtype)
        exact = [far.value.double()[i:j].softmax(0) for i, j in ((0, 3), (3, 5), (5, 7), (7, 8))]
        expect("csrSoftmax", [R, positions("far", [0, 3, 5, 7, 8]), far], torch.cat(exact).to(torch_dtype), options="any", **ulps)
    for dtype in WHOLE:
        refuse("csrSoftmax", [R, positions("few", [0, 2, 6]), tensor(f"compressed.few.{dtype}", [1, 0, 1, 1, 0, 1], dtype)])


def systems():
    for dtype in FLOATS:
        torch_dtype = getattr(torch, dtype)
        crow, col = pattern("square", *SQUARE, "int32" if dtype == "float64" else "int64")
        entries = tensor(f"compressed.square.{dtype}", [1, 2, 1, 4, -1, 2, 3, 1, 1, -2, 2], dtype)
        a = dense(crow, col, entries.value.double(), 5)
        for b in (random(f"compressed.sides.{dtype}", dtype, (5, 3), 8, 17, -8, 1), random(f"compressed.side.{dtype}", dtype, (5,), 9, 17, -8, 1)):
            sides = b.value.double().reshape(5, -1)
            for upper in (0, 1):
                for transpose in (0, 1):
                    for unit in (0, 1):
                        triangle = a.triu() if upper else a.tril()
                        triangle, up = (triangle.T, not upper) if transpose else (triangle, bool(upper))
                        x = torch.linalg.solve_triangular(triangle, sides, upper=up, unitriangular=bool(unit)).reshape(b.value.shape)
                        expect("csrTrtrs", [R, crow, col, entries, b, upper, transpose, unit], x.to(torch_dtype), options="any", ulps=4)
            if dtype in ("float32", "float64"):
                for transpose in (0, 1):
                    x = torch.linalg.solve(a.T if transpose else a, sides).reshape(b.value.shape)
                    expect("csrSolve", [R, crow, col, entries, b, transpose], x.to(torch_dtype), options="any", ulps=32)
            else:
                refuse("csrSolve", [R, crow, col, entries, b, 0])
    b, ones = tensor("compressed.two.float32", [1, 2], "float32"), tensor("compressed.pair.float32", [1, 3], "float32")
    missing, zero = pattern("missing", [0, 1, 2], [0, 0]), pattern("diagonal", [0, 1, 2], [0, 1])
    refuse("csrTrtrs", [R, *missing, ones, b, 0, 0, 0], ERR_NUMERIC)
    expect("csrTrtrs", [R, *missing, ones, b, 0, 0, 1], torch.tensor([1, -1], dtype=torch.float32), options="any")
    refuse("csrTrtrs", [R, *zero, tensor("compressed.zero.float32", [1, 0], "float32"), b, 0, 0, 0], ERR_NUMERIC)
    refuse("csrSolve", [R, *zero, tensor("compressed.zero.float32", [1, 0], "float32"), b, 0], ERR_NUMERIC)
    refuse("csrSolve", [R, *pattern("outside", [0, 1, 2], [0, 2]), ones, b, 0], ERR_ARGUMENT)
    refuse("csrSolve", [R, *zero, ones, SMALL_ROW["float32"], 0], ERR_SHAPE)
    refuse("csrTrtrs", [R, *pattern("outside", [0, 1, 2], [0, 2]), ones, b, 0, 0, 0], ERR_ARGUMENT)
    refuse("csrTrtrs", [R, *zero, ones, SMALL_ROW["float32"], 0, 0, 0], ERR_SHAPE)
    for dtype in INTEGERS:
        pair = tensor(f"compressed.pair.{dtype}", [1, 3], dtype)
        refuse("csrTrtrs", [R, *zero, pair, pair, 0, 0, 0])
        refuse("csrSolve", [R, *zero, pair, pair, 0])


def rows():
    products()
    refused()
    softmax()
    systems()
