"""A call of one function, and what PyTorch says of it."""

import re
from dataclasses import dataclass, field
from typing import Callable

import torch

from .library import FLOATS


class Result:
    """Stands for a result among the arguments of a call; an optional one may be NULL."""

    def __init__(self, optional=False):
        self.optional = optional


R = Result()
MAYBE = Result(optional=True)


@dataclass
class Expected:
    """A result: its dtype and shape in `native`; where that is a float, `exact` are values computed in float64, any of which will do.

    `scale` says how large the numbers were that cancelled out on the way: errors count in units of the greater of it and the result.
    `free` elements are looked at by the relation of the call alone.
    """

    native: torch.Tensor
    exact: list = None
    scale: torch.Tensor = None
    ulps: float = 1
    index: bool = False  # places, which only int64 takes
    adapts: bool = False  # computed in the dtype that the result has, as numbers are that come from none
    free: bool = False


@dataclass
class Call:
    function: str
    arguments: list  # in C's order: Operand, R, MAYBE, numbers, lists of numbers or of operands, bytes
    want: Callable  # gives one Expected, or several, or raises as PyTorch does; of `f` where that is given
    f: Callable = None  # PyTorch's function
    keeps: bool = False  # a result that has a dtype keeps it, whatever is computed: no dtype is refused
    refuses: Callable = None  # says why a result of some dtype is refused, beside what always holds
    counts: bool = False  # a result that has as many elements already keeps its shape
    fresh: bool = False  # results are fresh handles only
    into: list = field(default_factory=list)  # operands changed by the call, beside its results
    returns: str = None  # the function returns a number and `want` gives it
    relation: Callable = None  # says what is wrong with all results together, as they are, None where one is NULL
    undecided: bool = False  # rounding decides whether the call succeeds, and what it gives

    def operands(self):
        for argument in self.arguments:
            for part in argument if isinstance(argument, list) else [argument]:
                if hasattr(part, "make"):
                    yield part


def numbers_of(x):
    return x if isinstance(x, torch.Tensor) else torch.tensor(float(x), dtype=torch.float64)


MISSING = re.compile(r"not implemented for|not currently supported|does not support .*(Half|BFloat16)|expected scalar type")


def native_result(f, operands):
    """What PyTorch gives. Where it has no kernel for 16-bit floats, what it gives for float32, stored as those."""
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
    """Floats become integers by truncation and saturation, NaN 0; PyTorch leaves open what is out of range."""
    if not t.dtype.is_floating_point or dtype.is_floating_point or dtype == torch.bool:
        return t.to(dtype)
    ends = torch.iinfo(dtype)
    x = t.double().nan_to_num(0.0, float(ends.max), float(ends.min)).trunc()
    top = x >= float(ends.max)
    stored = torch.where(top, 0.0, x.clamp(float(ends.min), None)).to(dtype)
    return torch.where(top, torch.tensor(ends.max, dtype=dtype), stored)


def real(f, *operands, ulps=1, scale=None, precise=None, as_given=False):
    """A function whose floats are compared with what PyTorch computes in float64 from operands of the common dtype.

    A number counts as it is, or as the common dtype has it: PyTorch takes the one here and the other there. `precise` computes in float64
    where PyTorch's function is not accurate itself.
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
    """A function whose result is compared bit by bit, but for the sign of 0 and NaN."""
    native = native_result(f, operands)
    return tuple(map(Expected, native)) if isinstance(native, tuple) else Expected(native)


def summed(dtype, exact, size, length):
    """Sums of `length` products, computed in float64; `size` are the same sums of magnitudes. 16-bit floats are summed in float32."""
    finest = torch.finfo(torch.promote_types(dtype, torch.float32)).eps
    doubled = 2 if dtype == torch.float64 else 1  # the reference is rounded itself
    return Expected(exact.to(dtype), [exact], size * ((length + 2) / 2 * doubled * finest / torch.finfo(dtype).eps))


def one_dtype(operands, truths=False):
    """The dtype that all operands have, which is not Bool, unless `truths` are taken."""
    dtypes = {operand.dtype for operand in operands}
    if len(dtypes) > 1 or torch.bool in dtypes and not truths:
        raise RuntimeError("expected operands of one dtype other than Bool")
    return dtypes.pop()


def of_products(f, operands, length, wrapped=torch.int64):
    """`f` is made of sums of products, `length` at most in each: integers wrap, and are computed as `wrapped`, which must hold them."""
    dtype = one_dtype(operands)
    if not dtype.is_floating_point:
        return Expected(f(*(operand.value.to(wrapped) for operand in operands)).to(torch.int64).to(dtype))
    exact = [operand.value.double() for operand in operands]
    return summed(dtype, f(*exact), f(*(x.abs() for x in exact)), length)
