"""Calls of functions of sparse tensors, and their results by PyTorch and SciPy."""

import random
from dataclasses import dataclass

import numpy
import scipy.sparse
import torch

from ..library import ALL, FLOATS, INTEGERS, NUMBERS

WIDE_FLOATS = [torch.float32, torch.float64]


def wide(t):
    """Converts to float64 or int64, because PyTorch lacks many sparse functions for other dtypes."""
    return t.to(torch.float64 if t.dtype.is_floating_point else torch.int64)


@dataclass
class Sparse:
    """Entries by positions: indices [sparse x nnz], values [nnz x ...]."""

    indices: torch.Tensor
    values: torch.Tensor
    size: tuple

    @property
    def sparse_dim(self):
        return self.indices.shape[0]

    def torch(self):
        return torch.sparse_coo_tensor(self.indices, wide(self.values), self.size)

    def coalesced(self):
        return self.torch().coalesce()

    def csr(self):
        t = self.coalesced()
        return scipy.sparse.csr_matrix((t.values().numpy(), tuple(t.indices().numpy())), shape=self.size)

    def dense(self):
        return self.torch().to_dense()

    def pattern(self):
        ones = torch.ones_like(self.coalesced().values())
        return torch.sparse_coo_tensor(self.coalesced().indices(), ones, self.size).coalesce()


def narrowed(t, dtype):
    """The PyTorch sparse tensor with values of a dtype."""
    t = t.coalesce()
    return Sparse(t.indices(), t.values().to(dtype), tuple(t.shape))


def from_scipy(matrix, dtype):
    matrix = matrix.tocsr()
    matrix.sort_indices()
    coo = matrix.tocoo()
    return Sparse(torch.from_numpy(numpy.stack([coo.row, coo.col]).astype("int64")), torch.from_numpy(coo.data).to(dtype), tuple(map(int, matrix.shape)))


@dataclass
class Case:
    """A call: the operands in the order of C, without the result, and the result, with the relative tolerance `tolerance`."""

    function: str
    arguments: list
    result: object
    tolerance: float = 0.0


@dataclass
class Dims:
    """A list with its length in front."""

    entries: list


class Draw(random.Random):
    """Draws operands."""

    def dtype(self, among=NUMBERS):
        return self.choice([*among, torch.float64, torch.float32]) if torch.float64 in among else self.choice(among)

    def whole(self, shape, dtype, least=-3, most=4):
        """Small integers, whose sums every dtype holds."""
        if dtype in (torch.uint8, torch.bool):
            least = 0
        count = int(numpy.prod(shape))
        return torch.tensor([self.randint(least, most) for _ in range(count)], dtype=torch.int64).reshape(shape).to(dtype)

    def size(self, rank, least=0):
        return tuple(self.choice([1, 2, 3, 3, 4, 5] + ([0] if least == 0 and self.random() < 0.08 else [])) for _ in range(rank))

    def sparse(self, dtype, size=None, sparse_dim=None, least=-3, most=4):
        rank = self.choice([1, 2, 2, 2, 3, 4]) if size is None else len(size)
        size = self.size(rank) if size is None else tuple(size)
        sparse_dim = self.choice([rank, rank, self.randint(1, rank)]) if sparse_dim is None else sparse_dim
        # PyTorch drops entries without elements. test_sparse.c tests these.
        size = size[:sparse_dim] + tuple(n or 2 for n in size[sparse_dim:])
        empty = 0 in size[:sparse_dim] or self.random() < 0.06
        nnz = 0 if empty else self.randint(1, 9)
        indices = torch.tensor([[self.randrange(n) for _ in range(nnz)] for n in size[:sparse_dim]], dtype=torch.int64).reshape(sparse_dim, nnz)
        return Sparse(indices, self.whole((nnz, *size[sparse_dim:]), dtype, least, most), size)

    def matrix(self, dtype, size=None, **how):
        return self.sparse(dtype, self.size(2) if size is None else size, 2, **how)


# The maker of a case for each function.
MAKERS = {}


def newDense(d):
    s = d.sparse(d.dtype(ALL))
    return Case("newDense", [s], s.dense().to(s.values.dtype))


def newCoalesce(d):
    s = d.sparse(d.dtype(ALL))
    return Case("newCoalesce", [s], narrowed(s.torch(), s.values.dtype))


def newFromDense(d):
    dtype, rank = d.dtype(ALL), d.randint(1, 3)
    t = d.whole(d.size(rank), dtype, -1, 1)
    sparse_dim = d.choice([-1, *range(1, rank + 1)])
    made = t.to_sparse(rank if sparse_dim < 0 else sparse_dim)
    return Case("newFromDense", [t, sparse_dim], narrowed(made, dtype))


def transpose(d):
    s = d.sparse(d.dtype(ALL))
    group = d.choice([range(s.sparse_dim), range(s.sparse_dim, len(s.size)) or range(s.sparse_dim)])
    a, b = d.choice(group), d.choice(group)
    size, made = list(s.size), s.coalesced()
    size[a], size[b] = size[b], size[a]
    if a >= s.sparse_dim:
        result = Sparse(made.indices(), made.values().transpose(a - s.sparse_dim + 1, b - s.sparse_dim + 1).to(s.values.dtype), tuple(size))
    else:
        result = narrowed(made.transpose(a, b), s.values.dtype)
    return Case("transpose", [s, a - d.choice([0, len(s.size)]), b], result)


def select(d):
    s = d.sparse(d.dtype(ALL), size=d.size(d.randint(1, 3), least=1))
    dim = d.randrange(len(s.size))
    at = d.randrange(s.size[dim])
    part = s.coalesced()
    if dim < s.sparse_dim:
        chosen = part.indices()[dim] == at
        rows = [row for k, row in enumerate(part.indices()[:, chosen]) if k != dim]
        indices = torch.stack(rows) if rows else torch.zeros(0, int(chosen.sum()), dtype=torch.int64)
        result = Sparse(indices, part.values()[chosen], s.size[:dim] + s.size[dim + 1 :])
    else:
        result = Sparse(part.indices(), part.values().select(dim - s.sparse_dim + 1, at), s.size[:dim] + s.size[dim + 1 :])
    result.values = result.values.to(s.values.dtype)
    return Case("select", [s, dim, at - d.choice([0, s.size[dim]])], result)


def narrow(d):
    s = d.sparse(d.dtype(ALL))
    dim = d.randrange(len(s.size))
    start = d.randint(0, s.size[dim])
    length = d.randint(0, s.size[dim] - start)
    return Case("narrow", [s, dim, start, length], narrowed(torch.narrow_copy(s.torch(), dim, start, length), s.values.dtype))


def cat(d):
    dtype, size = d.dtype(NUMBERS), list(d.size(d.randint(1, 3), least=1))
    sparse_dim, dim = d.randint(1, len(size)), d.randrange(len(size))
    parts = []
    for _ in range(d.randint(1, 4)):
        size[dim] = d.randint(1, 3)
        parts.append(d.sparse(dtype, size, sparse_dim))
    return Case("cat", [parts, dim], narrowed(torch.cat([part.torch() for part in parts], dim), dtype))


def pair(d, dtype):
    """Two tensors of the same sizes."""
    a = d.sparse(dtype)
    return a, d.sparse(dtype, a.size, a.sparse_dim)


def cadd(d):
    a, b = pair(d, d.dtype())
    value = d.randint(0, 3)
    return Case("cadd", [a, float(value), b], narrowed(a.torch() + value * b.torch(), a.values.dtype))


def csub(d):
    a, b = pair(d, d.dtype())
    value = d.randint(0, 3)
    return Case("csub", [a, float(value), b], narrowed(a.torch() - value * b.torch(), a.values.dtype))


def cmul(d):
    a, b = pair(d, d.dtype())
    return Case("cmul", [a, b], narrowed(a.coalesced() * b.coalesced(), a.values.dtype))


def beside(d, s, dtype):
    """A dense tensor that broadcasts to the sizes of a sparse one."""
    size = [n if d.random() < 0.7 else 1 for n in s.size]
    while size and size[0] == 1 and d.random() < 0.5:
        size.pop(0)
    return d.whole(tuple(size), dtype, 1, 4)


def entrywise(s, other, f):
    """A function of values and the dense elements at their positions."""
    t = s.coalesced()
    at = other.expand(s.size)[tuple(t.indices())]
    return Sparse(t.indices(), f(t.values(), wide(at)).to(s.values.dtype), s.size)


def cmulDense(d):
    s = d.sparse(d.dtype())
    t = beside(d, s, s.values.dtype)
    return Case("cmulDense", [s, t], entrywise(s, t, torch.mul))


def cdivDense(d):
    s = d.sparse(d.dtype(WIDE_FLOATS))
    t = beside(d, s, s.values.dtype)
    return Case("cdivDense", [s, t], entrywise(s, t, torch.div), 1e-6)


def mul(d):
    s, value = d.sparse(d.dtype()), d.randint(0, 3)
    return Case("mul", [s, float(value)], narrowed(s.torch() * value, s.values.dtype))


def div(d):
    s, value = d.sparse(d.dtype(FLOATS)), d.choice([1, 2, 4])
    return Case("div", [s, float(value)], narrowed(s.torch() / value, s.values.dtype))


def mapped(name, f, dtypes=FLOATS, least=-3, most=4, tolerance=0.0):
    def make(d):
        s = d.sparse(d.dtype(dtypes), least=least, most=most)
        t = s.coalesced()
        loose = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float32: 1e-6}.get(s.values.dtype, 1e-13)
        return Case(name, [s], Sparse(t.indices(), f(t.values()).to(s.values.dtype), s.size), tolerance and loose)

    MAKERS[name] = make


def power(d):
    s, value = d.sparse(d.dtype(WIDE_FLOATS), least=0), d.choice([1, 2, 3, 0.5])
    t = s.coalesced()
    return Case("pow", [s, float(value)], Sparse(t.indices(), (t.values() ** value).to(s.values.dtype), s.size), 1e-6)


def summed(d):
    s = d.sparse(d.dtype(NUMBERS))
    dims = d.sample(range(len(s.size)), d.randint(1, len(s.size)))
    dtype = s.values.dtype if s.values.dtype.is_floating_point else torch.int64
    made = torch.sparse.sum(s.coalesced(), dims)
    if made.layout == torch.strided:
        sparse = [n for k, n in enumerate(s.size) if k not in dims]
        made = torch.sparse_coo_tensor(torch.zeros(0, 1, dtype=torch.int64), made.reshape(1, *sparse), tuple(sparse))
        if s.values.shape[0] == 0:
            made = torch.sparse_coo_tensor(torch.zeros(0, 0, dtype=torch.int64), made.to_dense()[None][:0], tuple(sparse))
    return Case("sum", [s, Dims([k - d.choice([0, len(s.size)]) for k in dims])], narrowed(made, dtype))


def sumall(d):
    s = d.sparse(d.dtype())
    return Case("sumall", [s], float(s.dense().sum()))


def normall(d):
    s, p = d.sparse(d.dtype(WIDE_FLOATS)), d.choice([1.0, 2.0, 3.0, float("inf")])
    values = s.coalesced().values().flatten()
    return Case("normall", [s, p], float(values.norm(p)) if values.numel() else 0.0, 1e-6)


def spmm(d):
    s = d.matrix(d.dtype())
    m = d.whole((s.size[1], d.choice([1, 3, 40])), s.values.dtype)
    return Case("spmm", [s, m], (s.dense() @ wide(m)).to(s.values.dtype))


def spmv(d):
    s = d.matrix(d.dtype())
    v = d.whole((s.size[1],), s.values.dtype)
    return Case("spmv", [s, v], (s.dense() @ wide(v)).to(s.values.dtype))


def spaddmm(d):
    s = d.matrix(d.dtype(), least=-2, most=2)
    m, beta, alpha = d.whole((s.size[1], 3), s.values.dtype, -2, 2), d.randint(0, 2), d.randint(0, 2)
    t = d.whole(d.choice([(s.size[0], 3), (3,), (s.size[0], 1)]), s.values.dtype, -2, 2)
    return Case("spaddmm", [float(beta), t, float(alpha), s, m], (beta * wide(t) + alpha * (s.dense() @ wide(m))).to(s.values.dtype))


def products(d):
    s = d.matrix(d.dtype())
    m = d.whole((s.size[1], d.randint(1, 3)), s.values.dtype)
    return s, m, (s.dense() @ wide(m)).to(s.values.dtype), torch.unique(s.indices[0])


def hspmm(d):
    s, m, product, rows = products(d)
    return Case("hspmm", [s, m], Sparse(rows[None], product[rows], tuple(product.shape)))


def sspmm(d):
    s, m, product, rows = products(d)
    places = torch.stack([rows.repeat_interleave(m.shape[1]), torch.arange(m.shape[1]).repeat(len(rows))])
    return Case("sspmm", [s, m], Sparse(places, product[rows].flatten(), tuple(product.shape)))


def sspaddmm(d):
    s, m, product, rows = products(d)
    t, beta, alpha = d.matrix(s.values.dtype, product.shape), d.randint(1, 2), d.randint(1, 2)
    places = torch.stack([rows.repeat_interleave(m.shape[1]), torch.arange(m.shape[1]).repeat(len(rows))])
    scaled = torch.sparse_coo_tensor(places, alpha * (s.dense() @ wide(m))[rows].flatten(), tuple(product.shape))
    return Case("sspaddmm", [float(beta), t, float(alpha), s, m], narrowed(beta * t.torch() + scaled, s.values.dtype))


def sampledAddmm(d):
    s = d.matrix(d.dtype(WIDE_FLOATS))
    p, beta, alpha = d.choice([1, 3, 20]), d.randint(0, 2), d.randint(0, 2)
    a, b = d.whole((s.size[0], p), s.values.dtype), d.whole((p, s.size[1]), s.values.dtype)
    return Case("sampledAddmm", [float(beta), s, float(alpha), a, b], entrywise(s, alpha * (a @ b), lambda x, product: beta * x + product))


def spcadd(d):
    s, value = d.sparse(d.dtype(), least=-2, most=2), d.randint(0, 2)
    t = d.whole(s.size, s.values.dtype, -2, 2)
    return Case("spcadd", [t, float(value), s], (wide(t) + value * s.dense()).to(s.values.dtype))


def sparseMask(d):
    s = d.sparse(torch.float32)
    dtype = d.dtype(ALL)
    t, pattern = d.whole(s.size, dtype), s.coalesced()
    return Case("sparseMask", [t, s], Sparse(pattern.indices(), t[tuple(pattern.indices())], s.size))


def mm(d):
    a = d.matrix(d.dtype())
    b = d.matrix(a.values.dtype, (a.size[1], d.randint(1, 5)))
    # SciPy drops sums that happen to be 0, so the positions come from the patterns.
    where = (a.pattern().to_dense() @ b.pattern().to_dense()).nonzero().T
    product = torch.from_numpy((a.csr() @ b.csr()).toarray())
    return Case("mm", [a, b], Sparse(where, product[tuple(where)].to(a.values.dtype), (a.size[0], b.size[1])))


def softmax(d):
    s = d.matrix(d.dtype(WIDE_FLOATS))
    made = torch.sparse.softmax(s.coalesced(), 1)
    return Case("softmax", [s], narrowed(made, s.values.dtype), 1e-5)


def trtrs(d):
    n, dtype, upper, transpose, unit = d.randint(1, 5), d.dtype(WIDE_FLOATS), *(d.randrange(2) for _ in range(3))
    s, at = d.matrix(dtype, (n, n)), torch.arange(n)
    off = s.indices[0] != s.indices[1]
    diagonal = torch.tensor([d.choice([1, 2, -2]) for _ in range(n)], dtype=dtype)
    s = Sparse(torch.cat([s.indices[:, off], torch.stack([at, at])], 1), torch.cat([s.values[off], diagonal]), (n, n))
    b = d.whole(d.choice([(n,), (n, 2)]), dtype)
    triangle = scipy.sparse.triu(s.csr()) if upper else scipy.sparse.tril(s.csr())
    matrix = torch.from_numpy((triangle.T if transpose else triangle).toarray())
    x = torch.linalg.solve_triangular(matrix, wide(b).reshape(n, -1), upper=bool(upper) != bool(transpose), unitriangular=bool(unit))
    return Case("trtrs", [b, s, upper, transpose, unit], x.reshape(b.shape).to(dtype), 1e-5)


for function in (newDense, newCoalesce, newFromDense, transpose, select, narrow, cat, cadd, csub, cmul, cmulDense, cdivDense, mul, div, sumall,
                 normall, spmm, spmv, spaddmm, hspmm, sspmm, sspaddmm, sampledAddmm, spcadd, sparseMask, mm, softmax, trtrs):
    MAKERS[function.__name__] = function
MAKERS["sum"], MAKERS["pow"] = summed, power
for name in ("neg", "abs", "sign"):
    mapped(name, getattr(torch, name), [torch.int8, torch.int32, torch.int64, *FLOATS])
for name in ("floor", "ceil", "round", "trunc"):
    mapped(name, getattr(torch, name), FLOATS)
for name in ("sqrt", "log1p"):
    mapped(name, getattr(torch, name), FLOATS, 0, 4, 1e-6)
for name in ("expm1", "sin", "tan", "atan", "sinh", "tanh"):
    mapped(name, getattr(torch, name), FLOATS, -1, 2, 1e-6)
mapped("relu", torch.relu, [torch.int32, torch.int64, *FLOATS])


def case(seed, number):
    """Case number `number`. Consecutive numbers go through all functions."""
    d = Draw(seed * 1000003 + number)
    names = list(MAKERS)
    return MAKERS[names[number % len(names)]](d)
