"""Operands of calls: tensors in PyTorch and in thorn, in the same layout."""

import ctypes

import torch

from ..library import CODES, StorageFields, longs, state


class Operand:
    """A tensor in a layout: in PyTorch at once, in thorn on request. The vector `base` is the whole memory of which it shows a part."""

    def __init__(self, base, size, stride, offset):
        self.base, self.offset = base, offset
        self.size, self.stride = tuple(size), tuple(stride)
        self.value = base.as_strided(self.size, self.stride, offset)
        self.dtype, self.shares = base.dtype, None

    def beside(self, size, stride, offset):
        """Another operand in the same memory."""
        other = Operand(self.base, size, stride, offset)
        other.shares = self
        return other

    def make(self, thorn, storage=None):
        """Returns a handle. With `storage`, a view of that storage, which must be a copy of `base`."""
        library = thorn.library
        if storage is None:
            storage = thorn.keep(library.THStorage_newWithSize(CODES[self.dtype], len(self.base)), "THStorage")
            data = StorageFields.from_address(storage).data
            if data:
                ctypes.memmove(data, self.base.data_ptr(), self.base.nbytes)
        self.storage = storage
        self.handle = thorn.keep(library.THTensor_newWithStorage(storage, self.offset, len(self.size), longs(self.size), longs(self.stride)))
        self.before = state(self.handle)
        return self.handle

    def __str__(self):
        text = f"{str(self.dtype).removeprefix('torch.')}{list(self.size)}"
        row_major = torch.empty(self.size, device="meta").stride()
        return text if self.stride == row_major and not self.offset else f"{text} strides {list(self.stride)} offset {self.offset}"


def c_argument(argument, placed):
    """Converts an argument for ctypes: lists of numbers and of operands become arrays. `placed` returns the handles."""
    if isinstance(argument, (list, tuple)):
        if any(isinstance(entry, Operand) for entry in argument):
            return (ctypes.c_void_p * len(argument))(*(placed(entry.handle) for entry in argument))
        if any(isinstance(entry, float) for entry in argument):
            raise TypeError("no list of floats in the C API")
        return longs(argument) if argument else None
    return argument
