"""libthorn by ctypes: makes tensors in a layout, and reads them after a call."""

import ctypes
import os
import sys
from typing import NamedTuple

import torch

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import prototypes

CODES = {
    torch.uint8: 1, torch.int8: 2, torch.int16: 3, torch.int32: 4, torch.int64: 5,
    torch.float16: 6, torch.bfloat16: 7, torch.float32: 8, torch.float64: 9, torch.bool: 10,
}
DTYPES = {code: dtype for dtype, code in CODES.items()}
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
ALL = INTEGERS + FLOATS + [torch.bool]
TH_ALL_DIMS = -(2**31)
TH_TENSOR_SCALAR = 2


class TensorFields(ctypes.Structure):
    """THTensor."""

    _fields_ = [
        ("size", ctypes.POINTER(ctypes.c_int64)), ("stride", ctypes.POINTER(ctypes.c_int64)), ("nDimension", ctypes.c_int),
        ("storage", ctypes.c_void_p), ("storageOffset", ctypes.c_ssize_t), ("refcount", ctypes.c_int32), ("flag", ctypes.c_byte),
        ("dtype", ctypes.c_uint8), ("deviceType", ctypes.c_int8), ("deviceIndex", ctypes.c_int8),
    ]


class StorageFields(ctypes.Structure):
    """The first fields of THStorage."""

    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_ssize_t), ("refcount", ctypes.c_int32)]


C_TYPES = {
    "int": ctypes.c_int, "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64, "double": ctypes.c_double, "char": ctypes.c_char,
    "ptrdiff_t": ctypes.c_ssize_t, "size_t": ctypes.c_size_t, "void": None,
    **dict.fromkeys(["THStatus", "THDtype", "THMemoryFormat", "THDivMode", "THDistanceMode", "THInterpolation", "THDeviceType", "THGeneratorKind", "THFan"], ctypes.c_int32),
}
FUNCTIONS = prototypes.functions()


def c_type(text, result=False):
    if text == "const char *" and result:
        return ctypes.c_char_p
    return C_TYPES[text] if text in C_TYPES else ctypes.c_void_p


def load(path):
    library = ctypes.CDLL(path)
    for function in FUNCTIONS.values():
        entry = getattr(library, function.name)
        entry.restype = c_type(function.result, result=True)
        entry.argtypes = [c_type(parameter.type) for parameter in function.parameters]
    return library


class State(NamedTuple):
    """The fields of a handle. Two handles with equal fields may have different memory."""

    dtype: int
    size: tuple
    stride: tuple
    offset: int
    flag: int
    storage: int
    data: int
    storage_size: int


def state(handle):
    t = TensorFields.from_address(handle)
    storage = StorageFields.from_address(t.storage) if t.storage else StorageFields(0, 0, 0)
    size, stride = tuple(t.size[: t.nDimension]), tuple(t.stride[: t.nDimension])
    return State(t.dtype, size, stride, t.storageOffset, t.flag, t.storage or 0, storage.data or 0, storage.size)


def contents(now):
    """A copy of the storage behind a state, as a vector."""
    dtype = DTYPES[now.dtype]
    if not now.storage_size:
        return torch.empty(0, dtype=dtype)
    data = bytearray(ctypes.string_at(now.data, now.storage_size * dtype.itemsize))
    return torch.frombuffer(data, dtype=dtype)


def view(now, memory):
    """The tensor of a state in (a copy of) its storage; None if it has no elements yet."""
    if not now.size and not now.flag & TH_TENSOR_SCALAR:
        return None
    return memory.as_strided(now.size, now.stride, now.offset)


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

    def make(self, session, storage=None):
        """Returns a handle. With `storage`, a view of that storage, which must be a copy of `base`."""
        library = session.library
        if storage is None:
            storage = session.keep_storage(library.THStorage_newWithSize(CODES[self.dtype], len(self.base)))
            data = StorageFields.from_address(storage).data
            if data:
                ctypes.memmove(data, self.base.data_ptr(), self.base.nbytes)
        n = len(self.size)
        lists = (ctypes.c_int64 * n)(*self.size), (ctypes.c_int64 * n)(*self.stride)
        self.storage = storage
        self.handle = session.keep(library.THTensor_newWithStorage(storage, self.offset, n, *lists))
        self.before = state(self.handle)
        return self.handle

    def __str__(self):
        text = f"{str(self.dtype).removeprefix('torch.')}{list(self.size)}"
        row_major = torch.empty(self.size, device="meta").stride()
        return text if self.stride == row_major and not self.offset else f"{text} strides {list(self.stride)} offset {self.offset}"


class Session:
    """Handles of one case, freed together after it. With `device`, calls get tensors on a GPU."""

    def __init__(self, library, device=False):
        self.library, self.device, self.tensors, self.storages = library, device, [], []

    def keep(self, handle):
        if not handle:
            raise AssertionError("the case could not be made: " + self.message())
        self.tensors.append(handle)
        return handle

    def keep_storage(self, handle):
        if not handle:
            raise AssertionError("the case could not be made: " + self.message())
        self.storages.append(handle)
        return handle

    def message(self):
        return self.library.THGetLastError().decode()

    def close(self):
        for handle in self.tensors:
            self.library.THTensor_free(handle)
        for handle in self.storages:
            self.library.THStorage_free(handle)


def c_argument(argument, placed):
    """Converts an argument for ctypes: lists of numbers and of operands become arrays. `placed` returns the handles."""
    if isinstance(argument, (list, tuple)):
        if any(isinstance(entry, Operand) for entry in argument):
            return (ctypes.c_void_p * len(argument))(*(placed(entry.handle) for entry in argument))
        if any(isinstance(entry, float) for entry in argument):
            raise TypeError("no list of floats in the C API")
        return (ctypes.c_int64 * len(argument))(*argument) if argument else None
    return argument


def library_path():
    """The path in THORN_LIB, or cargo's build output."""
    root = os.path.join(os.path.dirname(__file__), "..", "..")
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(root, "target"))
    return os.environ.get("THORN_LIB") or os.path.join(target, "release", "libthorn.so")
