#!/usr/bin/env python3
"""PyTorch's tensors as thorn's and back, without a copy: what one side writes, the other one reads.

    THORN_LIB=build/lib/libthorn.so python3 examples/python/torch_exchange.py
"""

import ctypes
import gc

import torch
from thorn import TH, Tensor, from_dlpack, tried

# A PyTorch tensor, also a view, becomes a thorn tensor.
a = torch.arange(12, dtype=torch.float32).reshape(3, 4)
t = from_dlpack(a.t()[1:3])
tried(TH.THTensor_mul(t.handle, t.handle, ctypes.c_double(10)))
print(a)
assert a[2].tolist() == [8, 90, 100, 11]
a[0, 1] = -5
print(t)
assert TH.THTensor_sumall(t.handle) == a[:, 1:3].sum().item()

# And back, with the dtype. There is no other way to pass bfloat16 to NumPy or C.
back = torch.from_dlpack(t)
assert back.data_ptr() == a[0, 1:].data_ptr() and back.shape == (2, 3) and back.stride() == (1, 4)
del t
gc.collect()
back[0, 0] = 7
assert a[0, 1] == 7

for dtype in [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.bool]:
    source = torch.ones(2, 3).to(dtype)
    there = from_dlpack(source)
    assert torch.equal(torch.from_dlpack(there), source) and torch.from_dlpack(there).dtype == dtype
    row = torch.from_dlpack(Tensor(TH.THTensor_newSelect(there.handle, 0, ctypes.c_int64(1))))
    row.zero_()
    assert not source[1].any() and source[0].all()
print("PyTorch", torch.__version__, "and thorn share their memory")
