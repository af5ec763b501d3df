"""The words for the types of arguments. A kind of argument lists the words of the values that it accepts.

The word is the only fact about an argument by which a call chooses among the forms of a function, so that the choice is made once for each
list of words.
"""

import os
from enum import IntEnum

from ._library import ffi, lib

FLAG, INT, LONG, FLOAT, TEXT, NONE, DTYPE = "bool", "int", "large int", "float", "str", "None", "dtype"
BUFFER, CDATA, CALLABLE, FILE, OPTIONS, ARRAY = "buffer", "cdata", "function", "file", "dict", "array"
INTS, TENSORS, GAPS, SPARSES = "list of int", "list of Tensor", "list of Tensor or None", "list of STensor"
EMPTY, OTHER, TENSOR, SPARSE = "empty list", "other", "Tensor", "STensor"

DType = IntEnum("DType", {name.removeprefix("TH_").lower(): code for code, name in ffi.typeof("THDtype").elements.items()})
DType.__doc__ = "A dtype: `thorn.float32`, or DType.float32."
DType.__repr__ = DType.__str__ = lambda self: f"thorn.{self.name}"


# The dtypes of Python's types, as in NumPy and PyTorch.
OF_TYPES = {bool: DType.bool, int: DType.int64, float: DType.float64}


def dtype_of(value):
    """Returns the dtype that a value names: a DType, a code, a text, a type of Python, or a dtype of NumPy or PyTorch."""
    if isinstance(value, type) and value in OF_TYPES:
        return OF_TYPES[value]
    if isinstance(value, int):
        return DType(value)
    text = value if isinstance(value, str) else getattr(value, "name", None) or getattr(value, "__name__", None) or str(value)
    code = lib.THDtype_fromName(text.rpartition(".")[2].encode())
    if code == 0:
        raise TypeError(f"no dtype is named {text!r}")
    return DType(code)


# The words by type. The module of each type of handles adds its own.
BY_TYPE = {
    bool: FLAG, float: FLOAT, str: TEXT, type(None): NONE, DType: DTYPE, bytes: BUFFER, bytearray: BUFFER, memoryview: BUFFER,
    dict: OPTIONS, ffi.CData: CDATA,
}


def _of_int(value):
    """Integers that a double cannot hold are a separate word, so that no element is rounded silently."""
    try:
        return INT if int(float(value)) == value else LONG
    except OverflowError:
        return LONG


def _of_list(values):
    if len(values) == 0:
        return EMPTY
    words = {word_of(value) for value in values}
    if words <= {INT, LONG}:
        return INTS
    if words == {TENSOR}:
        return TENSORS
    if words <= {TENSOR, NONE}:
        return GAPS
    return SPARSES if words == {SPARSE} else OTHER


def _of_protocol(value):
    """Returns the word of an object by its methods: arrays and numbers of other libraries, paths, files and functions."""
    if isinstance(value, os.PathLike):
        return TEXT
    if isinstance(value, type):
        return DTYPE if value.__module__ != "builtins" or value in OF_TYPES else OTHER
    if hasattr(value, "__dlpack__") and getattr(value, "shape", None) is not None:
        return ARRAY
    if hasattr(value, "__index__"):
        return _of_int(value.__index__())
    if type(value).__name__ in ("bool", "bool_"):  # a truth value of NumPy
        return FLAG
    if hasattr(value, "__float__"):
        return FLOAT
    if callable(value):
        return CALLABLE
    if hasattr(value, "fileno"):
        return FILE
    # The dtypes of NumPy and PyTorch.
    return DTYPE if "dtype" in type(value).__name__.lower() else OTHER


def word_of(value):
    """Returns the word for the type of a value."""
    for of in type(value).__mro__:
        word = BY_TYPE.get(of)
        if word:
            return word
        if of is int:
            return _of_int(value)
        if of is list or of is tuple:
            return _of_list(value)
    return _of_protocol(value)


def described(value):
    """Returns the word of a value for a message. A value without a word is named by its type, and a list by the types of its entries."""
    word = word_of(value)
    if word == OTHER and isinstance(value, (list, tuple)):
        return f"list of {' and '.join(sorted(set(map(described, value))))}"
    return type(value).__name__ if word == OTHER else word
