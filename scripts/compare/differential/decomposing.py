"""Cases of linear algebra. Unique results are compared, for all others the residual is. Errors are measured in eps * order * norm, as in
LAPACK's tests.

If a matrix is so nearly singular that rounding decides, a call may succeed or fail.
"""

import math

import torch

from ..library import FLOATS
from .calls import Call, Expected, MAYBE, R, one_dtype

SIZES = [1, 2, 3, 4, 5]
NORMS = ["fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf]
# Values are compared up to these condition numbers.
CONDITION = {torch.float32: 1e3, torch.float64: 1e6}
FACTOR = 30


def size(draw):
    return draw.choice(SIZES) if draw.chance(0.9) else draw.choice([0, 17, 40])


def front(draw):
    return tuple(draw.choice([1, 2, 3]) if draw.chance(0.95) else 0 for _ in range(draw.choice([0, 0, 0, 1, 1, 2])))


def dtype_of(draw):
    return draw.choice(FLOATS[2:]) if draw.chance(0.97) else draw.dtype()


def matrix(draw, rows, cols, dtype=None):
    shape = (*front(draw), rows, cols) if draw.chance(0.98) else draw.shape()
    return draw.operand(dtype or dtype_of(draw), shape, "plain")


def square(draw, dtype=None):
    n = size(draw)
    return matrix(draw, n, n if draw.chance(0.98) else n + 1, dtype)


def definite(draw, dtype=None):
    """An operand whose matrices are symmetric and positive definite, in row-major layout, with or without a batch."""
    t = square(draw, dtype)
    if t.dtype in CONDITION and t.value.dim() > 1 and t.size[-1] == t.size[-2] and 0 not in t.stride and len(t.base) >= t.value.numel():
        x = t.value.double()
        made = x @ x.mT + torch.eye(t.size[-1])
        if len(set(places(t))) == t.value.numel():
            t.value.copy_(made)
    return t


def places(t):
    return torch.arange(len(t.base)).as_strided(t.size, t.stride, t.offset).flatten().tolist()


def checked(*operands, square=False):
    """The dtype of operands, which must be matrices."""
    dtype = one_dtype(operands)
    if dtype not in CONDITION:
        raise RuntimeError("float32 and float64 only")
    shape = operands[0].size
    if len(shape) < 2 or square and shape[-1] != shape[-2]:
        raise RuntimeError("expected (square) matrices")
    return dtype


def condition(t):
    """The largest condition number."""
    if t.dtype not in CONDITION or len(t.size) < 2 or not t.value.numel():
        return 1.0
    return torch.linalg.cond(t.value.double()).amax().item()


def ill(*matrices):
    return any(not condition(t) <= CONDITION.get(t.dtype, 1e3) for t in matrices)


def free(shape, dtype):
    return Expected(torch.zeros(tuple(shape), dtype=dtype), free=True)


def unique(exact, dtype, scale, order):
    """Unique values, compared to `order` * eps of `scale`."""
    return Expected(exact.to(dtype), [exact], torch.as_tensor(scale, dtype=torch.float64) * (FACTOR * max(order, 1)))


def most(t):
    return t.abs().amax().item() if t is not None and t.numel() else 0.0


def far(what, got, want, scale, eps):
    """Returns how two tensors differ, if they do."""
    if got.shape != want.shape:
        return f"{what}: shapes {list(got.shape)} and {list(want.shape)}"
    n, error = max([1, *got.shape[-2:]]), most(got - want)
    return None if error <= FACTOR * n * eps * scale else f"{what}: differs by {error:.3g}, allowed {FACTOR * n * eps * scale:.3g}"


def orthonormal(q, eps):
    return far("orthonormal columns", q.mT @ q, torch.eye(q.shape[-1], dtype=torch.float64).expand(*q.shape[:-2], -1, -1), 1.0, eps)


def right_side(draw, a):
    """A right-hand side for `a`: matrices, a vector or a batch of vectors, mostly with a fitting batch."""
    shape, k = list(a.size), draw.choice([1, 1, 2, 3, 5])
    n = shape[-2] if len(shape) > 1 else 1
    n += draw.chance(0.02)
    kind = draw.choice(["own", "own", "vector", "vectors", "within"])
    of_b = {"own": (*shape[:-2], n, k), "vector": (n,), "vectors": tuple(shape[:-2]) + (n,), "within": (*draw.within(shape[:-2]), n, k)}[kind]
    return draw.operand(a.dtype if draw.chance(0.98) else draw.dtype(), of_b, "plain")


def as_matrices(a, b):
    """`b` as matrices, and whether it held vectors."""
    vectors = len(b.size) == 1 or tuple(b.size) == tuple(a.size[:-1])
    x = b.value.double()
    return (x.unsqueeze(-1) if vectors else x), vectors


def solved(a, b, rows):
    """The shape of a solution."""
    x, vectors = as_matrices(a, b)
    if x.dim() < 2 or x.shape[-2] != a.size[-2]:
        raise RuntimeError("the right-hand side has other rows")
    batch = torch.broadcast_shapes(x.shape[:-2], a.size[:-2])
    return [*batch, rows] if vectors else [*batch, rows, x.shape[-1]]


def residual(f, a, b):
    """The relation for a solution `x` of `f(a) x = b`."""

    def relation(eps, x):
        if x is None:
            return None
        y, vectors = as_matrices(a, b)
        x = x.unsqueeze(-1) if vectors else x
        m = f(a.value.double())
        return far("a x = b", m @ x, y.expand(*x.shape[:-2], *y.shape[-2:]), most(m) * most(x) + most(y), eps)

    return relation


def solve(draw):
    a = square(draw)
    b = right_side(draw, a)

    want = lambda: free(solved(a, b, a.size[-1]), checked(a, b, square=True))
    return Call(draw.choice(["gesv", "solve"]), [MAYBE, None, b, a], want, relation=residual(lambda m: m, a, b), undecided=ill(a))


def triangular(draw):
    a = square(draw)
    b, upper, transpose, unit = right_side(draw, a), draw.choice([0, 1]), draw.choice([0, 1]), draw.choice([0, 1])

    def f(m):
        m = m.triu() if upper else m.tril()
        if unit:
            m = m - torch.diag_embed(m.diagonal(dim1=-2, dim2=-1)) + torch.eye(m.shape[-1], dtype=m.dtype)
        return m.mT if transpose else m

    want = lambda: free(solved(a, b, a.size[-1]), checked(a, b, square=True))
    steep = False
    if a.dtype in CONDITION and len(a.size) > 1 and a.size[-1] == a.size[-2] and a.value.numel():
        steep = not torch.linalg.cond(f(a.value.double())).amax() <= CONDITION[a.dtype]
    return Call("trtrs", [MAYBE, None, b, a, upper, transpose, unit], want, relation=residual(f, a, b), undecided=steep)


def least_squares(draw):
    a = matrix(draw, size(draw), size(draw))
    b, name = right_side(draw, a), draw.choice(["gels", "lstsq"])

    def shapes():
        dtype = checked(a, b)
        x = free(solved(a, b, a.size[-1]), dtype)
        batch = torch.broadcast_shapes(a.size[:-2], as_matrices(a, b)[0].shape[:-2])
        return x if name == "gels" else (x, Expected(torch.zeros(batch, dtype=torch.int64), free=True), free([*batch, min(a.size[-2:])], dtype))

    def relation(eps, x, rank=None, s=None):
        m, (y, vectors) = a.value.double(), as_matrices(a, b)
        if s is not None:
            wrong = far("singular values", s, torch.linalg.svdvals(m).expand(s.shape), most(m) * max(m.shape[-2:]), eps)
            if wrong:
                return wrong
        if x is None:
            return None
        x = x.unsqueeze(-1) if vectors else x
        exact = torch.linalg.pinv(m) @ y
        exact = exact.expand(x.shape) if exact.numel() else torch.zeros_like(x)
        return far("least squares", x, exact, (condition(a) ** 2) * (most(exact) + most(y) / max(most(m), 1e-3)), eps)

    if name == "gels":
        return Call("gels", [MAYBE, None, b, a], shapes, relation=relation, undecided=ill(a))
    return Call("lstsq", [MAYBE, MAYBE, MAYBE, b, a, -1], shapes, relation=relation, undecided=ill(a))


def permuted(pivots, n):
    """The permutation that results from LAPACK's exchanges of rows."""
    order = torch.arange(n).expand(*pivots.shape[:-1], n).clone()
    for at in torch.cartesian_prod(*(torch.arange(k) for k in pivots.shape[:-1])).reshape(-1, max(pivots.dim() - 1, 0)).tolist() if pivots.dim() > 1 else [[]]:
        line, exchanges = order[tuple(at)], pivots[tuple(at)]
        for i, j in enumerate(exchanges.long().tolist()):
            line[[i, j - 1]] = line[[j - 1, i]]
    return order


def unpacked(lu):
    k = min(lu.shape[-2:])
    lower = lu[..., :k].tril(-1) + torch.eye(lu.shape[-2], k, dtype=lu.dtype)
    return lower @ lu[..., :k, :].triu()


def lu(draw):
    a = matrix(draw, size(draw), size(draw))
    k = lambda: min(a.size[-2:])
    if draw.chance(0.5):
        def packed():
            dtype = checked(a)
            return (free(a.size, dtype), Expected(torch.zeros((*a.size[:-2], k()), dtype=torch.int32), free=True),
                    Expected(torch.zeros(a.size[:-2], dtype=torch.int32), free=True))

        def relation(eps, ra, pivots, info=None):
            if not ra.numel():
                return None
            order = permuted(pivots, a.size[-2])
            rows = a.value.double().gather(-2, order.unsqueeze(-1).expand(a.size))
            return far("p a = l u", unpacked(ra), rows, most(a.value.double()), eps)

        return Call("btrifact", [R, R, MAYBE, 1, a], packed, relation=relation, undecided=ill(a))

    def apart():
        dtype, (m, n) = checked(a), a.size[-2:]
        return free([*a.size[:-2], m, m], dtype), free([*a.size[:-2], m, k()], dtype), free([*a.size[:-2], k(), n], dtype)

    def relation(eps, p, l, u):
        if p is None or l is None or u is None:
            return None
        return far("a = p l u", p @ l @ u, a.value.double(), most(a.value.double()), eps)

    return Call("lu", [MAYBE, MAYBE, MAYBE, a], apart, relation=relation)


def inverse(draw):
    a, name = square(draw), draw.choice(["getri", "inverse"])

    def relation(eps, x):
        m = a.value.double()
        return far("a x = 1", m @ x, torch.eye(m.shape[-1], dtype=m.dtype).expand(m.shape), most(m) * most(x), eps)

    return Call(name, [R, a], lambda: free(a.size, checked(a, square=True)), relation=relation, undecided=ill(a))


def determinant(draw):
    a, name = square(draw), draw.choice(["det", "slogdet", "logdet"])
    m = a.value

    def want():
        dtype, x = checked(a, square=True), m.double()
        exact, n = torch.linalg.det(x), a.size[-1]
        if name == "det":
            return unique(exact, dtype, x.square().sum(-1).sqrt().prod(-1), n)
        sign, log = torch.linalg.slogdet(x)
        if name == "logdet":
            return unique(torch.where(sign < 0, math.nan, log), dtype, condition(a) + most(log), n)
        return Expected(sign.to(dtype)), unique(log, dtype, condition(a) + most(log), n)

    heads = [MAYBE, MAYBE] if name == "slogdet" else [R]
    return Call(name, [*heads, a], want, undecided=name != "det" and ill(a))


def cholesky(draw):
    a, upper = definite(draw), draw.choice([0, 1])
    name = draw.choice(["potrf", "cholesky", "potrs", "potri", "pstrf"])

    def symmetric(m):
        """The symmetric matrix that a triangle represents."""
        half = m.triu() if upper else m.tril()
        return half + half.mT - torch.diag_embed(m.diagonal(dim1=-2, dim2=-1))

    def product(factor):
        factor = factor.triu() if upper else factor.tril()
        return factor.mT @ factor if upper else factor @ factor.mT

    if name in ("potrs", "potri"):
        def steep():
            return a.dtype not in CONDITION or len(a.size) < 2 or a.size[-1] != a.size[-2] or not torch.linalg.cond(product(a.value.double())).nan_to_num(1e99).amax() <= CONDITION[a.dtype]

        undecided = bool(a.value.numel()) and steep() and a.dtype in CONDITION
        if name == "potri":
            def relation(eps, x):
                m = product(a.value.double())
                return far("l l^T x = 1", m @ x, torch.eye(m.shape[-1], dtype=m.dtype).expand(m.shape), most(m) * most(x) * 4, eps)

            return Call(name, [R, a, upper], lambda: free(a.size, checked(a, square=True)), relation=relation, undecided=undecided)
        b = right_side(draw, a)
        return Call(name, [R, b, a, upper], lambda: free(solved(a, b, a.size[-1]), checked(a, b, square=True)),
                    relation=residual(product, a, b), undecided=undecided)

    def bad():
        """True if a matrix is nearly singular, or not positive definite."""
        if a.dtype not in CONDITION or len(a.size) < 2 or a.size[-1] != a.size[-2] or not a.value.numel():
            return False
        values = torch.linalg.eigvalsh(symmetric(a.value.double()))
        return bool((values.amin(-1) < values.abs().amax(-1) / CONDITION[a.dtype]).any())

    if name == "pstrf":
        def shapes():
            dtype = checked(a, square=True)
            return free(a.size, dtype), Expected(torch.zeros(a.size[:-1], dtype=torch.int32), free=True), Expected(torch.full(a.size[:-2], a.size[-1], dtype=torch.int64))

        def relation(eps, factor, pivots, rank):
            if not factor.numel():
                return None
            m, order = symmetric(a.value.double()), pivots.long() - 1
            m = m.gather(-2, order.unsqueeze(-1).expand(m.shape)).gather(-1, order.unsqueeze(-2).expand(m.shape))
            return far("p^T a p = l l^T", product(factor), m, most(m), eps)

        return Call(name, [R, R, MAYBE, a, upper, -1], shapes, relation=relation, undecided=bad())

    def relation(eps, factor):
        other = factor.tril(-1) if upper else factor.triu(1)
        if other.any():
            return "the other triangle is not 0"
        m = symmetric(a.value.double())
        return far("a = l l^T", product(factor), m, most(m), eps)

    return Call(name, [R, a, upper], lambda: free(a.size, checked(a, square=True)), relation=relation, undecided=bad())


def qr(draw):
    a, name = matrix(draw, size(draw), size(draw)), draw.choice(["qr", "qr", "geqrf", "orgqr", "ormqr"])
    k = lambda: min(a.size[-2:])
    if name == "qr":
        some = draw.choice([0, 1])

        def shapes():
            dtype, (m, n) = checked(a), a.size[-2:]
            inner = k() if some else m
            return free([*a.size[:-2], m, inner], dtype), free([*a.size[:-2], inner, n], dtype)

        def relation(eps, q, r):
            if q is None or r is None:
                return None
            if r.tril(-1).any():
                return "r is not triangular"
            return orthonormal(q, eps) or far("a = q r", q @ r, a.value.double(), most(a.value.double()), eps)

        return Call(name, [MAYBE, MAYBE, a, some], shapes, relation=relation)
    if name == "geqrf":
        def shapes():
            dtype = checked(a)
            return free(a.size, dtype), free([*a.size[:-2], k()], dtype)

        def relation(eps, ra, tau):
            if not ra.numel():
                return None
            m = a.value.double()
            q = torch.linalg.householder_product(ra[..., : k()], tau)
            return far("a = q r", q @ ra[..., : k(), :].triu(), m, most(m), eps)

        return Call(name, [R, R, a], shapes, relation=relation)
    # Reflectors from any matrix: unless geqrf made them, they need not be orthogonal.
    packed = a
    if a.dtype in CONDITION and len(a.size) > 1 and a.value.numel():
        ra, tau = torch.geqrf(a.value.double())
        from .sorting import flat

        packed, tau = flat(ra.to(a.dtype)), flat(tau.to(a.dtype))
    else:
        tau = draw.operand(a.dtype, (*a.size[:-2], min(a.size[-2:])) if len(a.size) > 1 else (1,), "plain")
    if name == "orgqr":
        def want():
            dtype = checked(packed, tau)
            if packed.size[-2] < packed.size[-1]:
                raise RuntimeError("more columns than rows")
            return unique(torch.linalg.householder_product(packed.value.double(), tau.value.double()), dtype, 1.0, packed.size[-2])

        return Call(name, [R, packed, tau], want)
    left, transpose = draw.choice([0, 1]), draw.choice([0, 1])
    m = packed.size[-2] if len(packed.size) > 1 else 1
    shape = (m, draw.choice(SIZES)) if left else (draw.choice(SIZES), m)
    c = draw.operand(packed.dtype, (*packed.size[:-2], *shape), "plain")

    def want():
        dtype, x = checked(packed, tau, c), c.value.double()
        n = tau.size[-1]
        q = torch.linalg.householder_product(torch.nn.functional.pad(packed.value.double()[..., :n], (0, m - n)), tau.value.double()) if m else torch.zeros(*packed.size[:-2], 0, 0).double()
        q = q.mT if transpose else q
        return unique(q @ x if left else x @ q, dtype, most(x), m)

    return Call(name, [R, packed, tau, c, left, transpose], want)


def symmetric_eigen(draw):
    a, upper, name = square(draw), draw.choice([0, 1]), draw.choice(["syev", "symeig"])

    def m():
        x = a.value.double()
        half = x.triu() if upper else x.tril()
        return half + half.mT - torch.diag_embed(x.diagonal(dim1=-2, dim2=-1))

    def want():
        dtype = checked(a, square=True)
        return unique(torch.linalg.eigvalsh(m()), dtype, most(m()), a.size[-1]), free(a.size, dtype)

    def relation(eps, e, v):
        if v is None:
            return None
        return orthonormal(v, eps) or far("a v = v e", m() @ v, v * e.unsqueeze(-2), most(m()), eps)

    return Call(name, [R, MAYBE, a, upper], want, relation=relation)


def eigen(draw):
    a, name = square(draw), draw.choice(["geev", "eig"])

    def want():
        dtype = checked(a, square=True)
        return free([*a.size[:-1], 2], dtype), free(a.size, dtype)

    def relation(eps, e, v):
        m, z = a.value.double(), torch.complex(e[..., 0], e[..., 1])
        if not m.numel():
            return None
        wrong = far("trace", z.real.sum(-1), m.diagonal(dim1=-2, dim2=-1).sum(-1), most(m) * m.shape[-1], eps)
        if wrong or v is None:
            return wrong
        vectors = v.to(torch.complex128)
        for at in (e[..., 1] > 0).nonzero().tolist():
            front, i = tuple(at[:-1]), at[-1]
            pair = torch.complex(v[(*front, slice(None), i)], v[(*front, slice(None), i + 1)])
            vectors[(*front, slice(None), i)], vectors[(*front, slice(None), i + 1)] = pair, pair.conj()
        norms = vectors.abs().square().sum(-2)
        return far("norms of vectors", norms, torch.ones_like(norms), 1.0, eps) or far("a v = v e", m.to(z.dtype) @ vectors, vectors * z.unsqueeze(-2), most(m), eps)

    return Call(name, [R, MAYBE, a], want, relation=relation)


def singular_values(draw):
    a, some, name = matrix(draw, size(draw), size(draw)), draw.choice([0, 1]), draw.choice(["gesvd", "svd"])

    def want():
        dtype, (m, n) = checked(a), a.size[-2:]
        k = min(m, n)
        s = torch.linalg.svdvals(a.value.double()) if a.value.numel() else torch.zeros(*a.size[:-2], k).double()
        return (free([*a.size[:-2], m, k if some else m], dtype), unique(s, dtype, most(a.value.double()), max(m, n)), free([*a.size[:-2], n, k if some else n], dtype))

    def relation(eps, u, s, v):
        for q in (u, v):
            if q is not None and orthonormal(q, eps):
                return orthonormal(q, eps)
        if u is None or s is None or v is None:
            return None
        k, m = s.shape[-1], a.value.double()
        return far("a = u s v^T", (u[..., :k] * s.unsqueeze(-2)) @ v[..., :k].mT, m, most(m), eps)

    return Call(name, [MAYBE, MAYBE, MAYBE, a, some], want, relation=relation)


def by_singular_values(draw):
    a, name = matrix(draw, size(draw), size(draw)), draw.choice(["pinverse", "matrixRank", "cond", "matrixNorm"])
    n = lambda: max(a.size[-2:])
    if name == "matrixRank":
        def ranks():
            dtype, x = checked(a), a.value.double()
            return Expected(torch.linalg.matrix_rank(x, rtol=n() * torch.finfo(dtype).eps) if x.numel() else torch.zeros(a.size[:-2], dtype=torch.int64))

        return Call(name, [R, a, -1, 0], ranks, undecided=ill(a))
    if name == "pinverse":
        def want():
            dtype, x = checked(a), a.value.double()
            exact = torch.linalg.pinv(x)
            return unique(exact, dtype, condition(a) * most(exact), n())

        return Call(name, [R, a, 1e-9], want, undecided=ill(a))
    p = draw.choice(range(8))
    if name == "matrixNorm":
        keep = draw.choice([0, 1])

        def norm():
            dtype, x = checked(a), a.value.double()
            return unique(torch.linalg.matrix_norm(x, NORMS[p], keepdim=bool(keep)), dtype, most(x), n())

        return Call(name, [R, a, p, keep], norm)

    def number():
        dtype, x = checked(a, square=abs(NORMS[p]) != 2 if p > 1 else True), a.value.double()
        exact = torch.linalg.cond(x, NORMS[p])
        return unique(exact, dtype, condition(a) ** 2, n())

    return Call("cond", [R, a, p], number, undecided=ill(a))


def exponential(draw):
    n = size(draw)
    a = draw.operand(dtype_of(draw), (*front(draw), n, n if draw.chance(0.98) else n + 1), "small")
    if a.dtype in CONDITION:
        a.base.mul_(draw.choice([0.01, 0.1, 0.25]))

    def want():
        dtype, x = checked(a, square=True), a.value.double().clone(memory_format=torch.contiguous_format)
        return unique(torch.linalg.matrix_exp(x), dtype, torch.linalg.matrix_exp(x.abs()).amax((-1, -2), keepdim=True) if x.numel() else 0, a.size[-1])

    return Call("matrixExp", [R, a], want)


def negative_power(draw):
    a, n = square(draw), draw.choice([-1, -2])

    def want():
        dtype = checked(a, square=True)
        exact = torch.linalg.matrix_power(a.value.double(), n)
        return unique(exact, dtype, condition(a) ** 2 * most(exact), a.size[-1])

    return Call("matrixPower", [R, a, n], want, undecided=ill(a))


def families():
    for draw_call in (solve, solve, triangular, least_squares, lu, inverse, determinant, cholesky, cholesky, qr, qr, symmetric_eigen, eigen,
                      singular_values, by_singular_values, exponential, negative_power):
        yield draw_call.__name__, draw_call
