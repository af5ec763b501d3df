"""A call of one function, and PyTorch's result."""

import re
from dataclasses import dataclass, field
from typing import Callable

import torch

from ..library import FLOATS


class Result:
    """Marks a result among the arguments of a call. An optional result may be NULL."""

    def __init__(self, optional=False):
        self.optional = optional


R = Result()
MAYBE = Result(optional=True)


@dataclass
class Expected:
    """A result: its dtype and shape in `native`. For a float dtype, `exact` lists values computed in float64, any of which is accepted.

    `scale` is the magnitude of the numbers that cancelled: errors are measured in units of the larger of `scale` and the result.
    `free` elements are checked only by the relation of the call.
    """

    native: torch.Tensor
    exact: list = None
    scale: torch.Tensor = None
    ulps: float = 1
    index: bool = False  # positions, which are always int64
    adapts: bool = False  # computed in the result's dtype, as for numbers without operands
    free: bool = False


@dataclass
class Call:
    function: str
    arguments: list  # in the order of the C function: Operand, R, MAYBE, numbers, lists of numbers or of operands, bytes
    want: Callable  # returns one or several Expected, or raises as PyTorch does; gets `f` if `f` is set
    f: Callable = None  # PyTorch's function
    keeps: bool = False  # a result keeps its dtype, whatever is computed: no dtype is refused
    refuses: Callable = None  # returns why a result of some dtype is refused, in addition to the general rules
    counts: bool = False  # a result with the right number of elements keeps its shape
    fresh: bool = False  # results must be fresh handles
    into: list = field(default_factory=list)  # operands that the call changes, in addition to its results
    returns: str = None  # the dtype of the number that the function returns, which `want` computes
    relation: Callable = None  # returns what is wrong with all results together; a result that is NULL is None
    undecided: bool = False  # rounding decides whether the call succeeds, and its result

    def operands(self):
        for argument in self.arguments:
            for part in argument if isinstance(argument, list) else [argument]:
                if hasattr(part, "make"):
                    yield part


def numbers_of(x):
    return x if isinstance(x, torch.Tensor) else torch.tensor(float(x), dtype=torch.float64)


MISSING = re.compile(r"not implemented for|not currently supported|does not support .*(Half|BFloat16)|expected scalar type")


def native_result(f, operands):
    """PyTorch's result. If PyTorch has no kernel for 16-bit floats, the result for float32, rounded to 16 bits."""
    try:
        return f(*operands)
    except (RuntimeError, NotImplementedError) as error:
        narrow = {t.dtype for t in operands if isinstance(t, torch.Tensor)} & {torch.float16, torch.bfloat16}
        if not narrow or not MISSING.search(str(error)):
            raise
        dtype = narrow.pop() if len(narrow) == 1 else torch.float32
        wide = f(*(t.float() if isinstance(t, torch.Tensor) and t.dtype in FLOATS[:2] else t for t in operands))
        mixed = any(isinstance(t, torch.Tensor) and t.dtype in FLOATS[2:] and t.dim() for t in operands)
        convert = lambda t: t.to(dtype) if t.dtype == torch.float32 and not mixed else t
        return tuple(map(convert, wide)) if isinstance(wide, tuple) else convert(wide)


def saturated(t, dtype):
    """Converts floats to integers by truncation and saturation, and NaN to 0. PyTorch leaves values out of range undefined."""
    if not t.dtype.is_floating_point or dtype.is_floating_point or dtype == torch.bool:
        return t.to(dtype)
    ends = torch.iinfo(dtype)
    x = t.double().nan_to_num(0.0, float(ends.max), float(ends.min)).trunc()
    top = x >= float(ends.max)
    stored = torch.where(top, 0.0, x.clamp(float(ends.min), None)).to(dtype)
    return torch.where(top, torch.tensor(ends.max, dtype=dtype), stored)


def real(f, *operands, ulps=1, scale=None, precise=None, as_given=False):
    """A function whose floats are compared with PyTorch's result in float64 for operands of the common dtype.

    A number may be exact or rounded to the common dtype, because PyTorch's functions differ in that. `precise` computes in float64 for
    functions that are inaccurate in PyTorch.
    """
    native = native_result(f, operands)
    if not native.is_floating_point():
        return Expected(native)

    def wide(number):
        return [t.to(native.dtype).double() if isinstance(t, torch.Tensor) else number(t) for t in operands]

    f = precise or f
    given, rounded = wide(lambda x: x), None
    exact = [f(*given).double()]
    if not as_given and any(not isinstance(x, (torch.Tensor, int)) for x in operands):
        rounded = wide(lambda x: numbers_of(x).to(native.dtype).item() if isinstance(x, float) else x)
        exact.append(f(*rounded).double())
    return Expected(native, exact, scale(*given) if scale else None, ulps)


def exactly(f, *operands):
    """A function whose result is compared bit for bit, except for the sign of 0 and for NaN."""
    native = native_result(f, operands)
    return tuple(map(Expected, native)) if isinstance(native, tuple) else Expected(native)


def summed(dtype, exact, size, length):
    """Sums of `length` products, computed in float64. `size` are the sums of their magnitudes. 16-bit floats are summed in float32."""
    finest = torch.finfo(torch.promote_types(dtype, torch.float32)).eps
    doubled = 2 if dtype == torch.float64 else 1  # the reference is rounded, too
    return Expected(exact.to(dtype), [exact], size * ((length + 2) / 2 * doubled * finest / torch.finfo(dtype).eps))


def one_dtype(operands, truths=False):
    """The common dtype of all operands, which must be equal, and must not be Bool unless `truths` is set."""
    dtypes = {operand.dtype for operand in operands}
    if len(dtypes) > 1 or torch.bool in dtypes and not truths:
        raise RuntimeError("expected operands of one dtype other than Bool")
    return dtypes.pop()


def of_products(f, operands, length, wrapped=torch.int64):
    """`f` is computed from sums of at most `length` products. Integers wrap, and are computed as `wrapped`, which must hold the sums."""
    dtype = one_dtype(operands)
    if not dtype.is_floating_point:
        return Expected(f(*(operand.value.to(wrapped) for operand in operands)).to(torch.int64).to(dtype))
    exact = [operand.value.double() for operand in operands]
    return summed(dtype, f(*exact), f(*(x.abs() for x in exact)), length)
