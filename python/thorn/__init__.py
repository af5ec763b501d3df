"""thorn: Torch's tensors from the C library libthorn, with NumPy and DLPack.

    import numpy as np, thorn
    a = np.ones((2, 3), np.float32)
    t = thorn.from_numpy(a)          # shares the elements
    t += thorn.arange(3)             # in place: a has changed
    y = thorn.matmul(t, t.T)         # a new tensor
    thorn.mul(y, 2, out=y)           # written to y; as y.mul_(2)

Names. `THTensor_indexSelect` is `thorn.index_select` and a method of tensors. `THSetNumThreads` is `thorn.set_num_threads`.
`THArchive_open` is `thorn.Archive.open`. Forms of one operation have one name: `thorn.add(a, b)` and `thorn.add(a, 2)` call THTensor_cadd
and THTensor_add. The functions are also available by their names in C, with the arguments of C: `thorn.THTensor_cadd(r, a, 1, b)`.

Arguments are in the order of C, without results and lengths. Arguments with a default may be omitted or given by name. Results are new
tensors; `out` names a tensor to write to. `dtype` is the dtype of new results. A failed call raises `thorn.Error` and changes nothing.
"""

import contextlib

from . import _words
from ._extras import as_tensor, asarray, e, eye, inf, is_tensor, nan, newaxis, pi, save
from ._groups import make as _make
from ._library import Error, check as _check, ffi, lib, path as library_path
from ._namespace import find as _find, find_exact as _find_exact
from ._table import names_of as _names_of
from ._tensor import Tensor, tensor

__version__ = ffi.string(lib.THVersion()).decode()

DType = _words.DType
globals().update({name: member for name, member in DType.__members__.items() if name != "undefined"})
globals().update(_make())


def from_numpy(array):
    """Returns a tensor that shares the elements of an array. Elements of a read-only array are copied."""
    return Tensor.from_dlpack(array)


from_dlpack = Tensor.from_dlpack


@contextlib.contextmanager
def no_grad():
    """Runs a block, or a function, without recording."""
    before = lib.THGrad_isEnabled()
    _check(lib.THGrad_setEnabled(0), "THGrad_setEnabled")
    try:
        yield
    finally:
        _check(lib.THGrad_setEnabled(before), "THGrad_setEnabled")


def __getattr__(name):
    """Finds a function, a constant of C without its prefix, or another name of a dtype, and stores it in the module."""
    if name.startswith("__"):
        raise AttributeError(name)
    found = _find_exact(name) if name.startswith("TH") else _find("Tensor", name) or _find("", name) or _find("Random", name)
    if found is None and name.isupper():
        found = getattr(lib, name if name.startswith("TH_") else f"TH_{name}", None)
    if found is None and lib.THDtype_fromName(name.encode()):
        found = _words.dtype_of(name)
    if found is None:
        raise AttributeError(f"thorn has no function {name!r}")
    globals()[name] = found
    return found


def __dir__():
    public = {name for name in globals() if not name.startswith("_")} - {"contextlib"}
    return sorted(public | _names_of("Tensor") | _names_of("") | _names_of("Random"))
