"""Writes the lines of the file of expectations: tensors, calls, and their results."""

import functools
import math
from typing import Callable, NamedTuple

import numpy
import torch

TH_ALL_DIMS = -(2**31)
ERR_ARGUMENT, ERR_SHAPE, ERR_DTYPE, ERR_NUMERIC = 1, 2, 3, 11
INF, NAN = math.inf, math.nan

INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
NUMBERS = INTEGERS + FLOATS
ALL = NUMBERS + ["bool"]
WHOLE = INTEGERS + ["bool"]
# One of each kind.
SOME = ["uint8", "int32", "int64", "bfloat16", "float32", "float64", "bool"]

lines = []
# The last line of each name. Another operand may replace it later.
named = {}
# If this is a list, operations are noted in it and nothing is computed or written: scripts/compare/differential has other operands for them.
noted = None


class Row(NamedTuple):
    """An operation: the kind of its call (the name of the Python function that wrote it), and the function that computes it."""

    kind: str
    function: str
    oracle: Callable
    dtypes: list
    options: dict


def note(kind, function, oracle, dtypes, **options):
    """Notes an operation, if operations are only noted."""
    if noted is not None:
        noted.append(Row(kind, function, oracle, dtypes, options))
    return noted is not None


def dtype_name(t):
    return str(t.dtype).removeprefix("torch.")


def shape_name(t):
    return "x".join(map(str, t.shape)) or "scalar"


def text_of_float(x, dtype):
    """The shortest text for `x` in `dtype`."""
    return shortest(x, dtype) if math.isfinite(x) and x != 0 else str(x).removesuffix(".0")


@functools.cache
def shortest(x, dtype):
    if dtype == torch.float64:
        text = repr(x)
    elif dtype == torch.float32:
        text = str(numpy.float32(x))
    else:
        near = (f"{x:.{digits}g}" for digits in range(1, 10))
        text = next(text for text in near if torch.tensor(float(text), dtype=torch.float64).to(dtype).item() == x)
    return text.removesuffix(".0").replace("e+", "e")


def values_text(t):
    if t.is_floating_point():
        return " ".join(text_of_float(x, t.dtype) for x in t.flatten().double().tolist())
    return " ".join(str(int(x)) for x in t.flatten().tolist())


class Operand:
    """A tensor with a name in the file."""

    def __init__(self, name, value, line=None):
        self.name, self.value = name, value
        self.line = line or f"tensor {name} {dtype_name(value)} {shape_name(value)} {values_text(value)}".rstrip()
        named[name] = self.line
        lines.append(self.line)


def tensor(name, values, dtype, shape=None):
    value = torch.tensor(values, dtype=torch.float64 if dtype in FLOATS else torch.int64).to(getattr(torch, dtype))
    return Operand(name, value if shape is None else value.reshape(shape))


def random(name, dtype, shape, seed, modulus, shift, scale):
    """Multiples of `scale` from `shift` to `shift + modulus - 1`, by a generator that the test in Lua has, too."""
    state, values = seed, []
    for _ in range(math.prod(shape)):
        state = state * 16807 % 2147483647
        values.append((state % modulus + shift) * scale)
    line = f"lcg {name} {dtype} {'x'.join(map(str, shape))} {seed} {modulus} {shift} {text_of_float(float(scale), torch.float64)}"
    value = torch.tensor(values, dtype=torch.float64).to(getattr(torch, dtype)).reshape(shape)
    return Operand(name, value, line)


class Given:
    """A result that has a dtype already."""

    def __init__(self, dtype):
        self.text = f"r:{dtype}"


class Start:
    """A result that starts as a copy of an operand."""

    def __init__(self, operand):
        self.text = f"r=@{operand.name}"


class Raw:
    """An argument in the syntax of the file."""

    def __init__(self, text):
        self.text = text


R, MAYBE, NULL, ROWS = Raw("r"), Raw("r?"), Raw("null"), Raw('"ij"')


def argument_text(x):
    if isinstance(x, Operand):
        if named[x.name] != x.line:
            raise ValueError(f"{x.name} is the name of another operand by now")
        return "@" + x.name
    if isinstance(x, (Raw, Given, Start)):
        return x.text
    if isinstance(x, list):
        return "[" + ",".join(map(str, x)) + "]"
    if isinstance(x, tuple):
        return "(" + ",".join(map(argument_text, x)) + ")"
    return text_of_float(float(x), torch.float64) if isinstance(x, float) else str(int(x))


def result_text(t, every):
    flat = t.flatten()
    if every > 1:
        flat = flat[sorted({*range(0, flat.numel(), every), flat.numel() - 1})]
    return f"{dtype_name(t)} {shape_name(t)} {values_text(flat)}".rstrip()


def expect(function, arguments, *results, options="", more="", ulps=0, every=1):
    """Writes one call and its results: tensors, ("returns", dtype, number) or ("error", status)."""
    if noted is not None:
        return
    options = f"{options} {more}".strip()
    options = f"{options} ulps={ulps}" if ulps else options
    options = f"{options} every={every}" if every > 1 else options
    parts = [f"call {function} " + " ".join(map(argument_text, arguments)), options.strip()]
    for result in results:
        if isinstance(result, torch.Tensor):
            parts.append(result_text(result, every))
        elif result[0] == "error":
            parts.append(f"error {result[1]}")
        else:
            value = torch.tensor(result[2], dtype=getattr(torch, result[1]))
            parts.append(f"returns {result[1]} {values_text(value)}")
    lines.append(" | ".join(parts))


def refuse(function, arguments, status=ERR_DTYPE):
    expect(function, arguments, ("error", status))


def scalar(x):
    """A number as thorn reads it: whole numbers are integers."""
    return int(x) if math.isfinite(x) and float(x).is_integer() else float(x)
