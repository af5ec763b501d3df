"""The intended differences from PyTorch, and the reasons."""

import functools
import re
from dataclasses import dataclass
from typing import Callable

import torch

from ..library import INTEGERS
from .operand import Operand


@dataclass
class Deviation:
    """Calls of the functions that match `functions` for which `when(call, error)` holds. `error` is PyTorch's error.

    `f` maps PyTorch's function to a function that computes the expected result. With `refuses` an error is expected. With neither, any
    result or error is accepted.
    """

    functions: str
    when: Callable
    reason: str
    f: Callable = None
    refuses: bool = False

    @property
    def either(self):
        return self.f is None and not self.refuses


def dtypes(call):
    return [operand.dtype for operand in call.operands()]


def mixed(call, error):
    return error is not None and len(set(dtypes(call))) > 1


def common(call):
    """The common dtype of the operands and numbers of a call."""
    parts = [a.value if isinstance(a, Operand) else a for a in call.arguments if isinstance(a, (Operand, int, float))]
    result = parts[0]
    for part in parts[1:]:
        result = torch.empty(0, dtype=torch.result_type(result, part))
    return result.dtype


def fractional_factor(call, error):
    factors = [x for x in call.arguments if isinstance(x, float)]
    return not any(d.is_floating_point for d in dtypes(call)) and any(x != int(x) for x in factors)


def lacks_kernel(call, error):
    return error is not None and "not implemented for" in str(error)


def promoted(f, least=None):
    """Applies `f` to operands in their common dtype, at least a float if `least` is set."""

    def g(*operands, **options):
        tensors = [t for t in operands if isinstance(t, torch.Tensor)]
        common = torch.result_type(*operands[:2]) if len(operands) > 1 else tensors[0].dtype
        if len(tensors) > 2:
            # Tensors with dimensions first, because result_type accepts only two arguments.
            of = lambda some: functools.reduce(torch.promote_types, [t.dtype for t in some], torch.bool)
            large, small = [t for t in tensors if t.dim()], [t for t in tensors if not t.dim()]
            common = torch.result_type(torch.empty(1, dtype=of(large)), torch.empty((), dtype=of(small))) if large else of(small)
        common = least if least and not common.is_floating_point else common
        return f(*(t.to(common) if isinstance(t, torch.Tensor) else t for t in operands), **options)

    return g


def in_float(f):
    return promoted(f, torch.float32)


def shifted(by):
    """Shifts of floats are products with powers of two."""

    def f(a, b):
        dtype = torch.result_type(a, b)
        b = b if isinstance(b, torch.Tensor) else torch.tensor(b, dtype=torch.float64)
        return torch.ldexp(a.to(dtype).double(), by * b.to(dtype).double()).to(dtype)

    return lambda _: f


def beyond(call, error):
    """True if a number is compared with integers of a dtype that cannot hold the number."""
    t, x = call.arguments[1:]
    return t.dtype in INTEGERS and isinstance(x, int) and not torch.iinfo(t.dtype).min <= x <= torch.iinfo(t.dtype).max


def along_elements(call, error):
    """True if a tensor is empty and its quantiles would be taken over lines with elements: there are no such lines."""
    size, dim = list(call.operands())[0].size, call.arguments[3]
    return "must be non-empty" in str(error) and -len(size) <= dim < len(size) and size[dim] > 0


TABLE = [
    Deviation("(lt|le|gt|ge|eq|ne)Value", beyond, "a whole number that integers are compared with does not wrap (header)",
              lambda f: lambda t, x: f(t.long(), x)),
    Deviation("c?[lr]shift", lambda call, error: common(call) == torch.bool, "no shifts of Bool (header)", refuses=True),
    Deviation("mm|mv|addmm|addmv", lambda call, error: torch.bool in dtypes(call), "no products of Bool (header); PyTorch takes empty ones",
              refuses=True),
    Deviation("inner|einsum|matrixPower|chainMatmul", lambda call, error: torch.bool in dtypes(call) and len(set(dtypes(call))) == 1,
              "no products of Bool (header); PyTorch takes it where nothing is multiplied and added", refuses=True),
    Deviation("avgPool3d|avgPoolGradInput", lambda call, error: "smaller than kernel size" in str(error),
              "volumes have the windows that planes have; PyTorch looks at their sizes without padding"),
    Deviation("maxPool[123]d", lambda call, error: "half of kernel size" in str(error) and "effective" not in str(error),
              "padding is half of a window, dilated or not, as in PyTorch where no indices are asked for"),
    Deviation("conv.*|im2col|col2im", lambda call, error: "zero batch or zero channel" in str(error), "an image without elements is padding alone"),
    Deviation("conv(Transpose[123]d|olution.*)", lambda call, error: any(0 in operand.size for operand in call.operands()),
              "PyTorch does not look at the output padding of no images"),
    Deviation("adaptiveAvgPool.*", lambda call, error: any(0 in operand.size[1:] for operand in call.operands()),
              "images without elements have no means (header); PyTorch's are NaN where there is one", refuses=True),
    Deviation("cond", lambda call, error: 0 in list(call.operands())[0].size[-2:],
              "matrices without elements have no condition where no least or greatest of anything stands for it, as in NumPy; PyTorch's is 0"),
    Deviation("addmv", lambda call, error: 0 in list(call.operands())[0].size + list(call.operands())[1].size,
              "PyTorch does not broadcast the vector to no rows"),
    Deviation("clampTensor", lacks_kernel, "bounds of Bool are as for cmax and cmin"),
    Deviation("logSoftmax|softmax|logcumsumexp", lambda call, error: not dtypes(call)[0].is_floating_point,
              "floats only (header); PyTorch takes empty integers", refuses=True),
    Deviation("medianall", lambda call, error: 0 in list(call.operands())[0].size and not dtypes(call)[0].is_floating_point,
              "no number stands for the median of no integers (header); PyTorch's is undefined", refuses=True),
    Deviation("clamp|cmaxValue|cminValue|hardtanh", lambda call, error: "outside the representable range" in str(error),
              "bounds saturate in integers"),
    Deviation("kthvalue|median|nanmedian", lambda call, error: dtypes(call) == [torch.bool], "numbers only (header)", refuses=True),
    Deviation("trace", lacks_kernel, "Bool counts as 0 and 1, as in sums"),
    Deviation("dist", lambda call, error: "with a bool tensor" in str(error), "Bool beside another dtype promotes"),
    Deviation("unique(Consecutive)?", lambda call, error: "zero sized dimensions is more than one" in str(error),
              "no slices stand once, whatever their size"),
    Deviation("(nan)?quantile(Tensor)?", along_elements, "no lines have no quantiles"),
    Deviation("renorm", lambda call, error: "does not have an identity" in str(error), "slices without elements have nothing to scale"),
    Deviation("bincount", lambda call, error: 0 in list(call.operands())[0].size, "PyTorch forgets the dtype of no weights"),
    Deviation("addcdiv", lambda call, error: "Integer division" in str(error), "elementwise functions promote", promoted),
    Deviation("c?lshift", lacks_kernel, "floats are shifted, as Torch7 did: products with powers of two", shifted(1)),
    Deviation("c?rshift", lacks_kernel, "floats are shifted, as Torch7 did: products with powers of two", shifted(-1)),
    Deviation("hypot", lacks_kernel, "integers give the default dtype, as for atan2", in_float),
    Deviation("logaddexp", lacks_kernel, "integers give the default dtype, as for atan2", in_float),
    Deviation("isclose|allclose|heaviside", mixed, "elementwise functions promote", promoted),
    Deviation("addmm|addmv|addbmm|baddbmm|addr|addcmul", fractional_factor, "a factor of integers must be whole, as for cadd: PyTorch cuts it off", refuses=True),
    Deviation("r?sub|cr?sub", lambda call, error: "with a bool tensor" in str(error) and common(call) != torch.bool,
              "Bool beside another dtype promotes: only bool - bool has no meaning"),
    Deviation("lerp(Tensor)?", mixed, "elementwise functions promote", promoted),
]


def of(call, error):
    for deviation in TABLE:
        if re.fullmatch(deviation.functions, call.function) and deviation.when(call, error):
            return deviation
