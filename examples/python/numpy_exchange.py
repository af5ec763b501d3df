#!/usr/bin/env python3
"""NumPy's arrays as thorn's tensors and back, without a copy: what one side writes, the other one reads.

    THORN_LIB=build/lib/libthorn.so python3 examples/python/numpy_exchange.py
"""

import ctypes
import gc
import itertools

import numpy as np
from thorn import TH, Tensor, from_dlpack, tried

FLOAT32 = 8  # TH_FLOAT32
kept = {}  # the arrays whose memory thorn uses, by a number for each
numbers = itertools.count(1)  # a number is not used again: an older array may still be kept


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
def let_go(data, context):
    """The library calls this when it no longer needs an array."""
    del kept[context]


def from_pointer(array):
    """A tensor over the memory of a float32 array, by its address. The array is kept until the last view of the tensor is freed."""
    number = next(numbers)
    kept[number] = array
    size = (ctypes.c_int64 * array.ndim)(*array.shape)
    stride = (ctypes.c_int64 * array.ndim)(*(step // array.itemsize for step in array.strides))
    data = ctypes.c_void_p(array.ctypes.data)
    return Tensor(TH.THTensor_newFromBlob(FLOAT32, array.ndim, size, stride, data, let_go, ctypes.c_void_p(number)))


# Exchange by address.
a = np.arange(6, dtype=np.float32).reshape(2, 3)
t = from_pointer(a.T)
tried(TH.THTensor_add(t.handle, t.handle, ctypes.c_double(100)))
print(a)
a[0, 1] = -1
print(t)
assert a[1, 2] == 105 and TH.THTensor_sumall(t.handle) == a.sum()
del t
gc.collect()
assert not kept

# Arrays may go in any order.
tensors = [from_pointer(np.full(2, value, np.float32)) for value in (1, 2)]
del tensors[0]
tensors.append(from_pointer(np.full(2, 3, np.float32)))
gc.collect()
assert len(kept) == 2 and [TH.THTensor_sumall(t.handle) for t in tensors] == [4, 6]
del tensors
gc.collect()
assert not kept

# Exchange by DLPack, which includes the dtype.
b = np.array([[1, 2], [3, 4]], dtype=np.int64)
t = from_dlpack(b)
tried(TH.THTensor_cmul(t.handle, t.handle, t.handle))
print(b)
assert b.tolist() == [[1, 4], [9, 16]]
del b
gc.collect()
assert TH.THTensor_sumall(t.handle) == 30, "thorn keeps the array alive"

# And back: the array is a view of the tensor's memory.
c = np.from_dlpack(t)
assert c.ctypes.data == TH.THTensor_data(t.handle) and c.dtype == np.int64
tried(TH.THTensor_add(t.handle, t.handle, ctypes.c_double(1)))
assert c.tolist() == [[2, 5], [10, 17]]
if c.flags.writeable:  # before version 2.1 NumPy's arrays are read-only
    c[1, 1] = 1000
    assert TH.THTensor_sumall(t.handle) == 1017
print(t)
row = np.from_dlpack(Tensor(TH.THTensor_newSelect(t.handle, 1, ctypes.c_int64(0))))
del t, c
gc.collect()
assert row.tolist() == [2, 10], "NumPy keeps the tensor's memory alive"

# A read-only array is copied. Before version 2.1 NumPy does not export read-only arrays.
if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
    fixed = np.ones(3)
    fixed.flags.writeable = False
    t = from_dlpack(fixed)
    tried(TH.THTensor_fill(t.handle, ctypes.c_double(5)))
    assert fixed.tolist() == [1, 1, 1]

# An array of a dtype that thorn lacks is refused and stays in its capsule, as does any array that no consumer takes.
try:
    from_dlpack(np.zeros(2, dtype=np.complex64))
    raise AssertionError("complex numbers were taken")
except RuntimeError as error:
    print(error)
from_dlpack(np.ones(2)).__dlpack__(max_version=(1, 0))
from_dlpack(np.ones(2)).__dlpack__()
print("NumPy", np.__version__, "and thorn share their memory")
