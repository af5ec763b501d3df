"""Indexing as in NumPy: integers, slices, None, `...`, masks and tensors of positions."""

from . import _words as w
from ._call import call
from ._table import signature

POSITIONS = {w.TENSOR, w.ARRAY}


def _dims_of(key):
    """Returns the number of dimensions that an entry of an index selects from: a mask has one for each of its own."""
    if key is None:
        return 0
    is_mask = hasattr(key, "dtype") and str(key.dtype).rpartition(".")[2] in ("bool", "uint8")
    return len(key.shape) if is_mask else 1


def _expanded(t, key):
    """Returns the entries of an index, with full slices for `...`, and tensors for lists."""
    keys = list(key) if isinstance(key, tuple) else [key]
    keys = [type(t).of(entry, None if entry else w.DType.int64) if isinstance(entry, (list, tuple)) else entry for entry in keys]
    dots = [i for i, entry in enumerate(keys) if entry is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index has at most one `...`")
    if dots:
        rest = keys[:dots[0]] + keys[dots[0] + 1:]
        keys[dots[0]:dots[0] + 1] = [slice(None)] * (t.ndim - sum(map(_dims_of, rest)))
    count = sum(map(_dims_of, keys))
    if count > t.ndim:
        raise IndexError(f"the index has {count} dimensions, the tensor {t.ndim}")
    return keys


def view(t, key):
    """Returns a view of `t` by integers, slices and None, and the list of positions for its dimensions; None if the index has none."""
    positions, dim, source = [], 0, 0  # `source` is the dimension of the tensor that is indexed, `dim` of the view
    for entry in _expanded(t, key):
        word = w.word_of(entry)
        if entry is None:
            t, dim = call(signature("THTensor_newUnsqueeze1d"), {"t": t, "dimension": dim}, {}), dim + 1
            positions.append(None)
        elif isinstance(entry, slice):
            start, end, step = entry.indices(t.shape[dim])
            if step < 0:
                raise ValueError("a slice has a positive step; thorn.flip reverses a dimension")
            if entry != slice(None):
                bounds = {"start": start, "end": max(start, end), "step": step}
                t = call(signature("THTensor_newSlice"), {"t": t, "dimension": dim, **bounds}, {})
            positions.append(None)
            dim += 1
        elif word in (w.INT, w.LONG):
            if not -t.shape[dim] <= entry < t.shape[dim]:
                raise IndexError(f"index {entry} is out of range for dimension {source} of size {t.shape[dim]}")
            t = call(signature("THTensor_newSelect"), {"t": t, "dimension": dim, "sliceIndex": entry}, {})
        elif word in POSITIONS:
            positions.append(type(t).of(entry))
            dim += _dims_of(entry)
        else:
            raise TypeError(f"an index is an integer, a slice, None, `...`, a mask or positions, not {w.described(entry)}")
        source += _dims_of(entry)
    return t, positions if any(entry is not None for entry in positions) else None


def get(t, key):
    t, positions = view(t, key)
    return t if positions is None else call(signature("THTensor_newIndex"), {"t": t, "indices": positions}, {})


def put(t, key, value):
    t, positions = view(t, key)
    word = w.word_of(value)
    if positions is not None:
        value = type(t).of(value, t.dtype)
        call(signature("THTensor_indexPut"), {"t": t, "indices": positions, "values": value}, {})
    elif word in (w.INT, w.FLOAT, w.FLAG, w.LONG):
        call(signature("THTensor_fillLong" if word == w.LONG else "THTensor_fill"), {"value": value}, {"r": t})
    else:
        call(signature("THTensor_copy"), {"t": type(t).of(value)}, {"r": t})
