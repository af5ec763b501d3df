"""Operations of linear algebra with a unique result. tests/linalg.rs tests results with arbitrary signs and scales of vectors."""

import itertools
import zlib

from .operands import *

PRECISE = ["float32", "float64"]
SIZES = [(1, 1), (2, 2), (5, 5), (3, 4, 4), (2, 1, 3, 3), (0, 0), (3, 0, 0), (0, 2, 2)]
OBLONG = [(4, 3), (3, 5), (2, 6, 2), (1, 4), (4, 1), (0, 3), (3, 0)]
FRO, NUC, ONE_NORM, MINUS_ONE, TWO, MINUS_TWO, INFINITE, MINUS_INFINITE = range(8)
NORMS = {FRO: "fro", NUC: "nuc", ONE_NORM: 1, MINUS_ONE: -1, TWO: 2, MINUS_TWO: -2, INFINITE: INF, MINUS_INFINITE: -INF}
made = {}


def matrices(name, dtype, shape):
    """Multiples of 1/4 from -4 to 4, determined by the name and the shape."""
    key = f"{name}.{dtype}.{'x'.join(map(str, shape))}"
    if key not in made:
        made[key] = random(f"linalg.{key}", dtype, shape, 1 + zlib.crc32(f"{name}{shape}".encode()) % 100000, 33, -16, 0.25)
    return made[key]


def computed(name, value, dtype):
    """A computed operand."""
    return Operand(f"linalg.{name}.{dtype}.{shape_name(value)}", value.to(getattr(torch, dtype)).contiguous())


def positive(dtype, shape):
    key = f"positive.{dtype}.{shape}"
    if key not in made:
        a = matrices("a", dtype, shape).value.double()
        made[key] = computed("positive", a @ a.mT + torch.eye(shape[-1]), dtype)
    return made[key]


def near(dtype, *values, condition=1.0):
    """The options for results with a relative error of some units in the norm, times a condition number."""
    most = max([1.0, *(float(v.abs().max()) for v in values if v.numel())])
    epsilon = torch.finfo(getattr(torch, dtype)).eps
    return f"unsigned abs={float(f'{40 * epsilon * condition * most:.2g}')}"


def condition(a):
    a = a.double()
    return float(torch.linalg.cond(a).max()) if a.numel() else 1.0


def expected(function, arguments, dtype, *values, of=None, more=""):
    """One call with results that were computed in float64."""
    options = near(dtype, *(v for v in values if v.is_floating_point()), condition=condition(of) if of is not None else 1.0)
    rounded = (v.to(getattr(torch, dtype)) if v.is_floating_point() else v for v in values)
    expect(function, arguments, *rounded, options=f"{options} {more}".strip())


def systems():
    for dtype, shape in itertools.product(PRECISE, SIZES):
        a, b = matrices("a", dtype, shape), matrices("b", dtype, (*shape[:-1], 2))
        x, exact = a.value.double(), b.value.double()
        solution = torch.linalg.solve(x, exact)
        factors, pivots, info = torch.linalg.lu_factor_ex(x)
        for name in ("gesv", "solve"):
            expected(name, [MAYBE, MAYBE, b, a], dtype, solution, factors, of=x)
        for upper, transpose, unit in itertools.product((0, 1), (0, 1), (0, 1)):
            if x.numel() and (torch.diagonal(x, dim1=-2, dim2=-1) == 0).any() and not unit:
                continue
            t = torch.triu(x) if upper else torch.tril(x)
            t = t - torch.diag_embed(torch.diagonal(t, dim1=-2, dim2=-1) - 1) if unit else t
            t = t.mT if transpose else t
            expected("trtrs", [MAYBE, MAYBE, b, a, upper, transpose, unit], dtype, torch.linalg.solve(t, exact), x, of=t)
        expect_factors(a, dtype)
        lu, places = computed("lu", factors, dtype), Operand(f"linalg.pivots.{dtype}.{shape_name(x)}", pivots)
        expected("btrisolve", [R, b, lu, places], dtype, solution, of=x, more="strict")
        for name in ("getri", "inverse"):
            expected(name, [R, a], dtype, torch.linalg.inv(x), of=x)
        sign, logarithm = torch.linalg.slogdet(x)
        expected("det", [R, a], dtype, torch.linalg.det(x), of=x)
        expected("slogdet", [MAYBE, MAYBE, a], dtype, sign, logarithm, of=x)
        expected("logdet", [R, a], dtype, torch.logdet(x), of=x)
        expected("matrixExp", [R, a], dtype, torch.linalg.matrix_exp(x))
        for p in NORMS:
            if x.numel():
                expected("cond", [R, a, p], dtype, torch.linalg.cond(x, NORMS[p]), of=x)
        vector = matrices("v", dtype, shape[-1:])
        if len(shape) == 2:
            expected("gesv", [MAYBE, NULL, vector, a], dtype, torch.linalg.solve(x, vector.value.double()), of=x)
    a, other = matrices("a", "float64", (5, 5)), matrices("b", "float64", (4, 2))
    zero = tensor("linalg.zero", [1, 2, 2, 4], "float64", (2, 2))
    no_pivot = tensor("linalg.pivots.bad", [1, 3], "int32")
    for name in ("gesv", "solve"):
        refuse(name, [R, R, other, a], ERR_SHAPE)
        refuse(name, [R, R, zero, zero], ERR_NUMERIC)
    for name in ("getri", "inverse"):
        refuse(name, [R, zero], ERR_NUMERIC)
        refuse(name, [R, other], ERR_SHAPE)
    refuse("btrisolve", [R, zero, zero, no_pivot], ERR_ARGUMENT)
    refuse("btrifact", [R, R, NULL, 1, zero], ERR_NUMERIC)
    refuse("btrifact", [R, R, NULL, 0, a], 8)
    refuse("matrixNorm", [R, a, 8, 0], ERR_ARGUMENT)
    for dtype in [d for d in ALL if d not in PRECISE]:
        for name, heads in (("gesv", [R, R, SMALL[dtype]]), ("getri", [R]), ("det", [R]), ("gesvd", [R, R, R]), ("matrixExp", [R])):
            refuse(name, [*heads, SMALL[dtype], *([1] if name == "gesvd" else [])])


def expect_factors(a, dtype):
    x = a.value.double()
    factors, pivots, info = torch.linalg.lu_factor_ex(x)
    expected("btrifact", [R, R, MAYBE, 1, a], dtype, factors, pivots, info, more="strict")
    expected("lu", [MAYBE, MAYBE, MAYBE, a], dtype, *torch.linalg.lu(x))


def definite():
    for dtype, shape in itertools.product(PRECISE, SIZES):
        a, b = positive(dtype, shape), matrices("b", dtype, (*shape[:-1], 2))
        x = a.value.double()
        lower = torch.linalg.cholesky(x)
        factor, transposed = computed("factor", lower, dtype), computed("upper", lower.mT, dtype)
        for upper, f in ((0, factor), (1, transposed)):
            root = lower.mT if upper else lower
            for name in ("potrf", "cholesky"):
                expected(name, [R, a, upper], dtype, root, of=x)
            l = f.value.double().mT if upper else f.value.double()
            expected("potrs", [R, b, f, upper], dtype, torch.cholesky_solve(b.value.double(), l), of=x)
            expected("potri", [R, f, upper], dtype, torch.linalg.inv(l @ l.mT), of=x)
        for name in ("syev", "symeig"):
            expected(name, [R, NULL, a, 0], dtype, torch.linalg.eigvalsh(x))
    a = tensor("linalg.graded", [4, 2, 0.5, 2, 9, 1, 0.5, 1, 1], "float64", (3, 3))
    pivoted = [1, 0, 2]
    factor = torch.linalg.cholesky(a.value[pivoted][:, pivoted])
    for upper in (0, 1):
        places, rank = torch.tensor([2, 1, 3], dtype=torch.int32), torch.tensor(3)
        expected("pstrf", [R, R, MAYBE, a, upper, -1], "float64", factor.mT if upper else factor, places, rank, more="strict")
    alike = tensor("linalg.alike", [4, 2, 2, 1], "float64", (2, 2))
    expected("pstrf", [R, R, MAYBE, alike, 0, -1], "float64", torch.tensor([[2.0, 0], [1, 0]], dtype=torch.float64),
             torch.tensor([1, 2], dtype=torch.int32), torch.tensor(1), more="strict")
    indefinite = tensor("linalg.indefinite", [1, 2, 2, 1], "float64", (2, 2))
    for name in ("potrf", "cholesky"):
        refuse(name, [R, indefinite, 0], ERR_NUMERIC)
    refuse("pstrf", [R, R, NULL, tensor("linalg.negative", [1, 0, 0, -1], "float64", (2, 2)), 0, -1], ERR_NUMERIC)


def oblong():
    for dtype, shape in itertools.product(PRECISE, [*OBLONG, (4, 4), (2, 3, 3)]):
        a, b = matrices("o", dtype, shape), matrices("b", dtype, (*shape[:-1], 2))
        x = a.value.double()
        m, n = shape[-2:]
        expect_factors(a, dtype)
        for some in (0, 1):
            q, r = torch.linalg.qr(x, "reduced" if some else "complete")
            expected("qr", [MAYBE, MAYBE, a, some], dtype, q, r, of=x)
        packed, tau = torch.geqrf(x)
        expected("geqrf", [R, R, a], dtype, packed, tau)
        reflectors, factors = computed("packed", packed, dtype), computed("tau", tau, dtype)
        if m >= n:
            expected("orgqr", [R, reflectors, factors], dtype, torch.linalg.householder_product(packed, tau))
            expected("gels", [MAYBE, NULL, b, a], dtype, torch.linalg.lstsq(x, b.value.double()).solution, of=x)
        else:
            expected("gels", [MAYBE, NULL, b, a], dtype, torch.linalg.pinv(x) @ b.value.double(), of=x)
        right = matrices("r", dtype, (*shape[:-2], 2, m))
        if x.numel() and m >= n:
            for transpose in (0, 1):
                expected("ormqr", [R, reflectors, factors, b, 1, transpose], dtype, torch.ormqr(packed, tau, b.value.double(), True, bool(transpose)))
                expected("ormqr", [R, reflectors, factors, right, 0, transpose], dtype, torch.ormqr(packed, tau, right.value.double(), False, bool(transpose)))
        values = torch.linalg.svdvals(x)
        for name in ("gesvd", "svd"):
            expected(name, [NULL, R, NULL, a, 1], dtype, values)
        rank = torch.linalg.matrix_rank(x)
        expected("matrixRank", [R, a, -1, 0], dtype, rank, more="strict")
        expected("pinverse", [R, a, 1e-5], dtype, torch.linalg.pinv(x), of=x)
        expected("lstsq", [MAYBE, MAYBE, MAYBE, b, a, -1], dtype, torch.linalg.pinv(x) @ b.value.double(), rank, values, of=x)
        for p, keepdim in itertools.product(NORMS, (0, 1)):
            try:
                norm = torch.linalg.matrix_norm(x, NORMS[p], keepdim=bool(keepdim))
            except IndexError:
                refuse("matrixNorm", [R, a, p, keepdim], ERR_ARGUMENT)
                continue
            expected("matrixNorm", [R, a, p, keepdim], dtype, norm)
        for p in (TWO, MINUS_TWO):
            if x.numel():
                expected("cond", [R, a, p], dtype, torch.linalg.cond(x, NORMS[p]), of=x)
    deficient = tensor("linalg.deficient", [1, 2, 2, 4, 3, 6], "float64", (3, 2))
    b = tensor("linalg.sides", [1, 0, 2], "float64")
    x = deficient.value
    expected("matrixRank", [R, deficient, -1, 0], "float64", torch.tensor(1), more="strict")
    expected("matrixRank", [R, deficient, 100, 0], "float64", torch.tensor(0), more="strict")
    expected("pinverse", [R, deficient, 1e-12], "float64", torch.linalg.pinv(x))
    expected("lstsq", [MAYBE, MAYBE, NULL, b, deficient, -1], "float64", torch.linalg.pinv(x) @ b.value, torch.tensor(1))
    symmetric = tensor("linalg.rank.two", [2, 0, 0, 0, -1, 0, 0, 0, 0], "float64", (3, 3))
    expected("matrixRank", [R, symmetric, -1, 1], "float64", torch.tensor(2), more="strict")
    expected("cond", [R, symmetric, ONE_NORM], "float64", torch.tensor(INF, dtype=torch.float64))
    refuse("cond", [R, deficient, FRO], ERR_SHAPE)
    refuse("orgqr", [R, matrices("o", "float64", (3, 5)), b], ERR_SHAPE)
    # A complex pair and a real eigenvalue, in the order of the block triangular matrix.
    turn = tensor("linalg.turn", [0, -2, 0, 2, 0, 0, 0, 0, 3], "float64", (3, 3))
    for name in ("geev", "eig"):
        expected(name, [R, NULL, turn], "float64", torch.tensor([[0, 2], [0, -2], [3, 0]], dtype=torch.float64))
    nan = tensor("linalg.nan", [1, NAN, 2, 3], "float64", (2, 2))
    for name, arguments in (("syev", [R, R, nan, 1]), ("geev", [R, R, nan]), ("gesvd", [R, R, R, nan, 1]), ("pinverse", [R, nan, 0])):
        refuse(name, arguments, ERR_NUMERIC)


def rows():
    for part in (systems, definite, oblong):
        part()
