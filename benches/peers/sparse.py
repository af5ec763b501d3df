"""Sparse matrices of PyTorch and SciPy over the operands of a row, made once."""

import warnings

import scipy.sparse
import scipy.sparse.linalg
import torch

warnings.filterwarnings("ignore", message="Sparse")

made = {}


def once(kind, operands, make):
    """The result of `make` for operands. The latest result of each kind is kept, and reused for the same operands."""
    key = tuple(id(operand) for operand in operands)
    if made.get(kind, (None,))[0] != key:
        made[kind] = key, make(), operands
    return made[kind][1]


def rows_torch(starts, columns, entries, width):
    def make():
        return torch.sparse_csr_tensor(starts, columns, entries, (len(starts) - 1, width), check_invariants=False)

    return once("torch", (starts, columns, entries), make)


def rows_scipy(starts, columns, entries, width):
    return once("scipy", (starts, columns, entries), lambda: scipy.sparse.csr_array((entries, columns, starts), (len(starts) - 1, width)))


def coordinates_torch(indices, entries, size):
    return torch.sparse_coo_tensor(indices, entries, (size, size), check_invariants=False)


def coordinates_scipy(indices, entries, size):
    return scipy.sparse.coo_array((entries, (indices[0], indices[1])), (size, size))


def coalesced_scipy(indices, entries, size):
    matrix = scipy.sparse.coo_array((entries.copy(), (indices[0].copy(), indices[1].copy())), (size, size))
    matrix.sum_duplicates()
    return matrix.data


def compressed_scipy(indices, entries, size):
    matrix = coordinates_scipy(indices, entries, size).tocsr()
    matrix.sum_duplicates()
    return matrix.data


def matrix(indices, entries, size):
    """A coalesced matrix, made once."""
    return once("matrix", (indices, entries), lambda: coordinates_torch(indices, entries, size).coalesce())


def csr_of(indices, entries, size):
    return once("csr", (indices, entries), lambda: matrix(indices, entries, size).to_sparse_csr())


def scipy_of(indices, entries, size):
    """The same in SciPy, by rows."""
    return once("scipy csr", (indices, entries), lambda: scipy.sparse.coo_array((entries, (indices[0], indices[1])), (size, size)).tocsr())


def cg(starts, columns, entries, b):
    return scipy.sparse.linalg.cg(rows_scipy(starts, columns, entries, len(b)), b, rtol=1e-6)[0]


def solved(starts, columns, entries, b):
    matrix = once("csc", (starts, columns, entries), lambda: rows_scipy(starts, columns, entries, len(b)).tocsc())
    return scipy.sparse.linalg.spsolve(matrix, b)


def triangle(starts, columns, entries, b):
    return scipy.sparse.linalg.spsolve_triangular(rows_scipy(starts, columns, entries, len(b)), b)


def sampled(starts, columns, a, b):
    """The elements of a @ b^T in the pattern."""
    pattern = once("pattern", (starts, columns), lambda: rows_torch(starts, columns, torch.zeros(len(columns)), len(b)))
    return torch.sparse.sampled_addmm(pattern, a, b.t(), beta=0).values()
