"""Calls of thorn by ctypes, with sparse operands in several forms."""

import ctypes
import json
import os

import torch

from differential.library import CODES, DTYPES, FUNCTIONS, TensorFields, c_type, library_path

from .cases import Dims, Sparse

ROWS = os.path.join(os.path.dirname(__file__), "..", "..", "src", "capi", "api.json")
FORMS = ("as drawn", "coalesced", "by rows", "stepped")


class Refused(Exception):
    """An error of thorn."""


class Thorn:
    """The library: `thorn.call("THSTensor_nnz", s)`. Handles are freed together."""

    def __init__(self):
        self.library, self.handles = ctypes.CDLL(library_path()), []
        self.library.THGetLastError.restype = ctypes.c_char_p
        with open(ROWS) as file:
            self.rows = {row["name"]: row for row in json.load(file)["functions"]}

    def call(self, name, *arguments):
        function = FUNCTIONS[name]
        entry = getattr(self.library, name)
        entry.restype = c_type(function.result, result=True)
        entry.argtypes = [c_type(parameter.type) for parameter in function.parameters]
        self.library.THClearLastError()
        result = entry(*arguments)
        if self.library.THGetLastErrorCode():
            raise Refused(self.library.THGetLastError().decode())
        return self.keep(function.result, result)

    def keep(self, kind, result):
        if kind in ("THTensor *", "THSTensor *"):
            self.handles.append((kind[:-2], result))
        return result

    def close(self):
        """Frees all handles. Returns the bytes that are still live."""
        for kind, handle in self.handles:
            getattr(self.library, kind + "_free")(ctypes.c_void_p(handle))
        self.handles.clear()
        self.library.THMemory_liveBytes.restype = ctypes.c_int64
        return self.library.THMemory_liveBytes()

    def tensor(self, value, stepped=False):
        value = value.contiguous()
        if not stepped or value.dim() == 0:
            return self.call("THTensor_newFromData", CODES[value.dtype], value.dim(), longs(value.shape), value.data_ptr())
        twice = self.tensor(torch.stack([value, torch.ones_like(value)], 1).reshape(2 * value.shape[0], *value.shape[1:]))
        return self.call("THTensor_newSlice", twice, 0, 0, 2 * value.shape[0], 2)

    def sparse(self, s, form):
        """A handle in a form. If the form needs a matrix and the operand is not one, the handle is as drawn."""
        indices = s.indices.to(torch.int32) if form == "stepped" else s.indices
        made = self.call("THSTensor_newWithTensorAndSize", self.tensor(indices), self.tensor(s.values, form == "stepped"), len(s.size), longs(s.size))
        if form == "coalesced":
            return self.call("THSTensor_newCoalesce", made)
        matrix = len(s.size) == 2 == s.sparse_dim
        return self.call("THSTensor_newCompressed", made) if form == "by rows" and matrix else made

    def value(self, handle):
        """The elements of a handle as a PyTorch tensor."""
        copy = self.call("THTensor_newContiguous", handle)
        t = TensorFields.from_address(copy)
        size, dtype = tuple(t.size[: t.nDimension]), DTYPES[t.dtype]
        count = self.call("THTensor_numel", copy)
        if not count:
            return torch.empty(size, dtype=dtype)
        data = bytearray(ctypes.string_at(self.call("THTensor_data", copy), count * dtype.itemsize))
        return torch.frombuffer(data, dtype=dtype).clone().reshape(size)

    def entries(self, handle):
        """The handle's entries, coalesced."""
        made = self.call("THSTensor_newCoalesce", handle)
        size = tuple(self.call("THSTensor_size", made, d) for d in range(self.call("THSTensor_nDimension", made)))
        return Sparse(self.value(self.call("THSTensor_newIndices", made)), self.value(self.call("THSTensor_newValues", made)), size)

    def run(self, case, form):
        """The result of a call."""
        row = self.rows["THSTensor_" + case.function]
        kind, words, kept = row["arguments"][0]["kind"], [], []
        if kind in ("sparse_out", "out"):
            words.append(self.call("THSTensor_new" if kind == "sparse_out" else "THTensor_new"))
        for argument in case.arguments:
            if isinstance(argument, Sparse):
                words.append(self.sparse(argument, form))
            elif isinstance(argument, torch.Tensor):
                words.append(self.tensor(argument, form == "stepped"))
            elif isinstance(argument, Dims):
                words += [len(argument.entries), longs(argument.entries)]
            elif isinstance(argument, list):
                handles = (ctypes.c_void_p * len(argument))(*(self.sparse(part, form) for part in argument))
                words += [handles, len(argument)]
            else:
                words.append(argument)
        got = self.call(row["name"], *words)
        if kind == "sparse_out" or row["returns"]["kind"] == "new_sparse":
            return self.entries(words[0] if kind == "sparse_out" else got)
        return self.value(words[0] if kind == "out" else got) if kind == "out" or row["returns"]["kind"] == "new" else got


def longs(entries):
    return (ctypes.c_int64 * max(len(entries), 1))(*entries)
