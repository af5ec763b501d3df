"""Names of PyTorch and NumPy that are no functions of the library, or that take other arguments."""

import math

from ._handles import CLASSES
from ._namespace import find
from ._tensor import Tensor

inf, nan, pi, e, newaxis = math.inf, math.nan, math.pi, math.e, None


def eye(n, m=None, **options):
    """Returns the matrix with `n` rows, `m` columns, and ones where both indices are equal. Without `m`, the matrix is square."""
    return find("Tensor", "eye")(n, n if m is None else m, **options)


def as_tensor(data, dtype=None):
    """Returns a tensor unchanged, a tensor that shares the elements of an array, or a copy of numbers and lists. Another dtype needs a
    copy."""
    made = Tensor.of(data, dtype)
    return made if dtype is None else made.astype(dtype)


asarray = as_tensor


def is_tensor(value):
    """Returns True for a tensor."""
    return isinstance(value, Tensor)


def save(value, path):
    """Writes a tensor, or a dict of tensors by name, to a file. The ending of the path names the format. `thorn.load` reads a file with one
    tensor, and `thorn.Archive.open` any file."""
    if not isinstance(value, dict):
        return find("Tensor", "save")(value, path)
    archive = CLASSES["Archive"].create(path)
    for name, tensor in value.items():
        archive.add(name, tensor)
    archive.close()
