"""libthorn by ctypes: calls that raise errors, and tensors that are freed together."""

import ctypes

import torch

from differential.library import CODES, DTYPES, FUNCTIONS, TensorFields, c_type, library_path


class Refused(Exception):
    """An error of thorn."""


class Thorn:
    """The library. `thorn.cmul(r, a, b)` calls THTensor_cmul, and `thorn.THGrad_setEnabled(1)` calls that function."""

    def __init__(self):
        self.library, self.entries, self.handles = ctypes.CDLL(library_path()), {}, []
        self.library.THGetLastError.restype = ctypes.c_char_p

    def entry(self, name):
        if name not in self.entries:
            function = FUNCTIONS.get("THTensor_" + name) or FUNCTIONS[name]
            entry = getattr(self.library, function.name)
            entry.restype = c_type(function.result, result=True)
            entry.argtypes = [c_type(parameter.type) for parameter in function.parameters]
            self.entries[name] = entry, function.result == "THStatus"
        return self.entries[name]

    def __getattr__(self, name):
        entry, has_status = self.entry(name)

        def call(*arguments):
            self.library.THClearLastError()
            result = entry(*map(argument_of, arguments))
            if self.library.THGetLastErrorCode():
                raise Refused(self.library.THGetLastError().decode())
            return None if has_status else result

        setattr(self, name, call)
        return call

    def keep(self, handle):
        self.handles.append(handle)
        return handle

    def fresh(self):
        return self.keep(self.new())

    def of(self, function, *arguments):
        """Calls a function with a fresh result, and returns the result."""
        r = self.fresh()
        getattr(self, function)(r, *arguments)
        return r

    def made(self, function, *arguments):
        """The handle that a function returns."""
        return self.keep(getattr(self, function)(*arguments))

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
        """The elements of a handle as a PyTorch tensor."""
        self.THGrad_setEnabled(0)
        copy = self.newContiguous(handle)
        t = TensorFields.from_address(copy)
        size, dtype, count = tuple(t.size[: t.nDimension]), DTYPES[t.dtype], self.numel(copy)
        data = bytearray(ctypes.string_at(self.data(copy), count * dtype.itemsize)) if count else bytearray()
        self.free(copy)
        self.THGrad_setEnabled(1)
        return torch.frombuffer(data, dtype=dtype).clone().reshape(size) if count else torch.empty(size, dtype=dtype)

    def close(self):
        """Frees all handles. Returns the bytes that are still live."""
        for handle in self.handles:
            self.library.THTensor_free(ctypes.c_void_p(handle))
        self.handles.clear()
        return self.THMemory_liveBytes()


def argument_of(argument):
    """Converts lists of numbers to arrays of int64. Tuples are lists of handles."""
    if isinstance(argument, list):
        return (ctypes.c_int64 * max(len(argument), 1))(*argument)
    if isinstance(argument, tuple):
        return (ctypes.c_void_p * max(len(argument), 1))(*argument)
    return argument
