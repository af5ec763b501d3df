"""libthorn by ctypes: calls, handles that are freed together, and the fields and elements of a handle."""

import ctypes
import os
import sys
from typing import NamedTuple

import torch

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import prototypes

CODES = {
    torch.uint8: 1, torch.int8: 2, torch.int16: 3, torch.int32: 4, torch.int64: 5,
    torch.float16: 6, torch.bfloat16: 7, torch.float32: 8, torch.float64: 9, torch.bool: 10,
}
DTYPES = {code: dtype for dtype, code in CODES.items()}
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
NUMBERS = INTEGERS + FLOATS
ALL = NUMBERS + [torch.bool]
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
    **dict.fromkeys(["THStatus", "THDtype", "THMemoryFormat", "THDivMode", "THDistanceMode", "THBlockType", "THBagMode", "THInterpolation", "THResampling", "THDeviceType", "THGeneratorKind", "THFan"], ctypes.c_int32),
}
FUNCTIONS = prototypes.functions()


def c_type(text, result=False):
    if text == "const char *" and result:
        return ctypes.c_char_p
    return C_TYPES[text] if text in C_TYPES else ctypes.c_void_p


def library_path():
    """The path in THORN_LIB, or cargo's build output."""
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    return os.environ.get("THORN_LIB") or os.path.join(target, "release", "libthorn.so")


def load(path):
    """Loads the library. THORN_EMULATED_DRIVER names an emulated driver of NVIDIA for it."""
    if driver := os.environ.get("THORN_EMULATED_DRIVER"):
        # PyTorch counts the GPUs once. Its engine for gradients crashes on an emulated one, so it counts before the driver is loaded.
        if torch.version.cuda:
            torch._C._cuda_getDeviceCount()
        ctypes.CDLL(driver, ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(path)
    for function in FUNCTIONS.values():
        entry = getattr(library, function.name)
        entry.restype = c_type(function.result, result=True)
        entry.argtypes = [c_type(parameter.type) for parameter in function.parameters]
    return library


def longs(entries):
    """An array of int64."""
    return (ctypes.c_int64 * max(len(entries), 1))(*entries)


def argument_of(argument):
    """Converts lists of numbers to arrays of int64. Tuples are lists of handles."""
    if isinstance(argument, list):
        return longs(argument)
    if isinstance(argument, tuple):
        return (ctypes.c_void_p * max(len(argument), 1))(*argument)
    return argument


class Refused(Exception):
    """An error of thorn."""


class Thorn:
    """The library. `thorn.cmul(r, a, b)` calls THTensor_cmul, and `thorn.THGrad_setEnabled(1)` calls that function. An error is Refused.

    `thorn.library` has the same functions without conversions and exceptions. `close` frees all handles that `keep` was called for.
    """

    def __init__(self):
        self.library, self.handles = load(library_path()), []

    def __getattr__(self, name):
        function = function_named(name)
        if function is None:
            raise AttributeError(f"no function {name}")
        entry = getattr(self.library, function.name)

        def call(*arguments):
            self.library.THClearLastError()
            result = entry(*map(argument_of, arguments))
            if self.library.THGetLastErrorCode():
                raise Refused(self.message())
            return None if function.result == "THStatus" else result

        setattr(self, name, call)
        return call

    def message(self):
        return self.library.THGetLastError().decode()

    def keep(self, handle, kind="THTensor"):
        if not handle:
            raise AssertionError("a handle could not be made: " + self.message())
        self.handles.append((kind, handle))
        return handle

    def close(self):
        """Frees all handles. Returns the bytes that are still live."""
        while self.handles:
            kind, handle = self.handles.pop()
            getattr(self.library, kind + "_free")(handle)
        return self.library.THMemory_liveBytes()

    def fresh(self):
        return self.keep(self.new())

    def of(self, function, *arguments):
        """Calls a function with a fresh result, and returns the result."""
        r = self.fresh()
        getattr(self, function)(r, *arguments)
        return r

    def made(self, function, *arguments):
        """The handle that a function returns."""
        return self.keep(getattr(self, function)(*arguments), function_named(function).result.removesuffix(" *"))

    def pieces(self, function, *arguments):
        """The handles of a function that returns several."""
        room, count = (ctypes.c_void_p * 32)(), ctypes.c_int(32)
        getattr(self, function)(room, ctypes.byref(count), *arguments)
        return [self.keep(handle) for handle in room[: count.value]]

    def tensor(self, value):
        """A handle with the elements of a PyTorch tensor, row-major."""
        value = value.detach().contiguous()
        return self.made("newFromData", CODES[value.dtype], value.dim(), list(value.shape), value.data_ptr())

    def value(self, handle):
        """The elements of a handle as a PyTorch tensor, row-major."""
        now = state(handle)
        return view(now, contents(now)).clone(memory_format=torch.contiguous_format)


def function_named(name):
    """The function of this name, with or without `THTensor_`; None if there is none."""
    return FUNCTIONS.get("THTensor_" + name) or FUNCTIONS.get(name)


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
