"""Operators that compute each element separately."""

import math

import torch

from .writing import S, SB, SF, b, case, f, fails, i, p, turned

F16, BF16, F32, F64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
U8, I32, I64 = torch.uint8, torch.int32, torch.int64

# Functions that accept every float, and make float32 of integers.
FLOATING = "atan asinh cos cosh erf erfc exp exp2 expm1 sigmoid sin sinh tan tanh sinc".split()
# Functions of positive numbers, of numbers between -1 and 1, and of numbers above 1.
POSITIVE = "digamma lgamma log log10 log1p log2 rsqrt sqrt".split()
UNIT = "acos asin atanh erfinv".split()
SPECIAL = "erf erfc exp2 expm1 sinc expit".split()
SPECIAL_POSITIVE = "digamma psi gammaln log1p".split()
# Functions that keep the dtype of integers.
KEEPING = "abs absolute ceil floor neg negative sign sgn square trunc fix positive relu".split()
FLOAT_ONLY = "frac gelu silu mish hardswish hardsigmoid selu log_sigmoid relu6".split()
ARCS = "arccos arcsin arctan arcsinh arctanh".split()


def unary():
    for name in FLOATING:
        case(name, f(2, 3))
        # The exact result of sinc is 0, and PyTorch returns the rounding error.
        if name != "sinc":
            case(name, i(4))
        case(name, f(3, seed=2, dtype=F64))
    for name in FLOATING + KEEPING[:-1]:
        if hasattr(torch.ops.aten, name + "_"):
            case(name + "_", f(2, 3))
    for name in POSITIVE:
        case(name, p(2, 3))
        case(name, i(3, low=1))
        case(name + "_", p(3))
    for name in UNIT:
        case(name, p(2, 3))
        case(name, torch.tensor([True, False]))
    case("acosh", p(2, 3) + 1)
    case("arccosh", p(3) + 1)
    case("acosh_", p(3) + 1)
    for name in ARCS:
        case(name, p(3))
        case(name + "_", p(3))
    for name in SPECIAL:
        case("special_" + name, f(3))
    for name in SPECIAL_POSITIVE:
        case("special_" + name, p(3))
    case("special_erfinv", p(3))
    for name in KEEPING:
        case(name, f(2, 3))
        case(name, i(4))
        case(name, turned(f(2, 3, dtype=F64)))
    case("relu_", f(2, 3))
    case("relu_", turned(f(2, 3)))
    for name in FLOAT_ONLY:
        case(name, f(2, 4) * 2)
        case(name, f(3, dtype=F64) * 2)
    for name in "hardswish silu mish hardsigmoid selu relu6".split():
        case(name + "_", f(4) * 2)
    case("frac_", f(4))
    case("gelu", f(5), approximate="tanh")
    case("gelu", f(5), approximate="none")
    case("gelu_", f(5), approximate="tanh")
    case("gelu", f(5, dtype=BF16))
    case("reciprocal", p(3))
    case("reciprocal", i(3, low=1))
    case("reciprocal_", p(3))
    case("round", torch.tensor([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.4]))
    case("round", i(3))
    case("round_", torch.tensor([-2.5, 1.5]))
    case("round.decimals", torch.tensor([-2.347, 1.255, 0.5]), decimals=2)
    case("round.decimals", torch.tensor([-2347.0, 1255.0, 50.0]), decimals=-2)
    case("special_round", torch.tensor([-2.5, 1.5]))
    case("sgn", torch.tensor([-2.0, 0.0, 3.0]))
    case("deg2rad", f(3) * 40)
    case("rad2deg", f(3))
    case("deg2rad", i(3))
    case("logit", p(4))
    case("logit", torch.tensor([0.0, 0.2, 1.0]), 0.1)
    case("special_logit", torch.tensor([0.0, 0.2, 1.0]), 0.1)
    case("polygamma", 1, p(3))
    case("special_polygamma", 2, p(3))
    case("mvlgamma", p(3) + 2, 2)
    case("special_multigammaln", p(3) + 2, 2)
    case("exp", f(3, dtype=F16))
    case("exp", f(0, 2))
    case("tanh", torch.tensor(0.75))
    case("nan_to_num", torch.tensor([math.nan, math.inf, -math.inf, 2.0]))
    case("nan_to_num", torch.tensor([math.nan, math.inf, -math.inf, 2.0]), 1.0, 5.0, -5.0)
    case("nan_to_num", torch.tensor([math.nan, math.inf, -math.inf, 2.0], dtype=F16), nan=0.5)
    case("nan_to_num", i(3))
    case("real", f(3))


def activations():
    case("leaky_relu", f(2, 3))
    case("leaky_relu", f(2, 3), 0.3)
    case("leaky_relu_", f(2, 3), 0.3)
    case("elu", f(2, 3))
    case("elu", f(2, 3), 0.5)
    case("elu", f(2, 3), 0.5, 2.0)
    case("elu", f(2, 3), 0.5, 2.0, 0.25)
    case("elu_", f(2, 3))
    case("celu", f(2, 3), 0.5)
    case("celu", f(2, 3))
    case("celu_", f(3), 2.0)
    case("softplus", f(2, 3))
    case("softplus", f(2, 3) * 4, 2.0, 3.0)
    case("hardtanh", f(2, 3))
    case("hardtanh", f(2, 3), 0.0, 1.5)
    case("hardtanh", i(5), -2, 2)
    case("hardtanh_", f(2, 3), 0.0, 6.0)
    case("hardshrink", f(2, 3))
    case("hardshrink", f(2, 3), 1.25)
    case("softshrink", f(2, 3), 1.25)
    case("softshrink", f(2, 3))
    case("threshold", f(2, 3), 0.5, 7.0)
    case("threshold_", f(2, 3), 0.5, 7)
    case("prelu", f(2, 3), torch.tensor([0.25]))
    case("prelu", f(2, 3, 2), torch.tensor([0.25, 0.5, 2.0]))
    case("_prelu_kernel", f(2, 3), torch.tensor([[0.25, 0.5, 2.0]]))
    case("glu", f(2, 4))
    case("glu", f(4, 3), 0)
    case("log_sigmoid_forward", f(4), unused=[1])


def gradients():
    g, t = f(2, 3), f(2, 3, seed=1)
    case("gelu_backward", g, t)
    case("gelu_backward", g, t, approximate="tanh")
    for name in ["silu_backward", "hardswish_backward", "sigmoid_backward", "tanh_backward"]:
        case(name, g, p(2, 3))
    case("threshold_backward", g, t, 0)
    case("leaky_relu_backward", g, t, 0.25, False)
    case("hardtanh_backward", g, t, -1.0, 1.5)
    case("elu_backward", g, 0.5, 1, 1, False, t)
    case("softplus_backward", g, t, 2.0, 3.0)


def arithmetic():
    a, c = f(2, 3), f(2, 3, seed=1)
    for name in ["add", "sub", "mul"]:
        case(f"{name}.Tensor", a, c)
        case(f"{name}.Tensor", turned(a), c[0])
        case(f"{name}.Tensor", i(2, 3), c)
        case(f"{name}.Tensor", i(3), torch.tensor(1.5))
        case(f"{name}.Tensor", i(3), i(3, seed=1, dtype=I32))
        case(f"{name}.Tensor", f(3, dtype=F16), torch.tensor(1.5))
        case(f"{name}.Tensor", f(3, dtype=F64), a[0])
        # Exporters write numbers where the schema has a tensor.
        for number in [2, 1.5, 2.0, -3, S(4), SF(0.5)]:
            case(f"{name}.Scalar", a, number)
            case(f"{name}.Scalar", i(3), number)
            case(f"{name}.Tensor", a, number)
            case(f"{name}.Tensor", i(3), number)
        case(f"{name}_.Tensor", a, c)
        case(f"{name}_.Tensor", turned(a), c[0])
        case(f"{name}_.Tensor", a, i(3))
        case(f"{name}_.Scalar", a, 2)
        case(f"{name}.Tensor", f(0, 3), f(3))
    case("mul.Tensor", b(3), b(3, seed=1))
    case("mul.Tensor", a, b(2, 3))
    case("mul.Scalar", b(3), 2)
    case("mul.Scalar", b(3), 1.5)
    case("mul.Scalar", i(3), True)
    case("mul.Scalar", b(3), True)
    case("add.Tensor", b(3), b(3, seed=1))
    case("add.Tensor", b(3), i(3))
    case("add.Scalar", b(3), 2)
    case("add.Scalar", b(3), 1.0)
    case("add.Scalar", a, True)
    case("add.Scalar", i(3), True)
    case("add.Scalar", b(3), True)
    for name in ["add.Tensor", "sub.Tensor"]:
        case(name, a, 2, alpha=3)
        case(name, i(3), 2, alpha=3)
        case(name, i(3), 2.5, alpha=3)
        case(name, i(3), 2.0)
    case("add.Tensor", a, c, alpha=2)
    case("add.Tensor", a, c, alpha=0.5)
    case("add.Tensor", i(3), i(3, seed=1), alpha=-2)
    case("add_.Tensor", a, c, alpha=0.5)
    case("sub.Tensor", a, c, alpha=0.5)
    case("sub_.Tensor", a, c, alpha=2)
    case("add.Scalar", a, 2, 3)
    case("add.Scalar", i(3), 2, 3)
    case("sub.Scalar", a, 2, 3)
    case("rsub.Scalar", a, 2, 3)
    case("rsub.Tensor", a, c)
    case("rsub.Tensor", a, c, alpha=2)
    for number in [2, 1.0, 2.5, S(3)]:
        case("rsub.Scalar", a, number)
        case("rsub.Scalar", i(3), number)
    case("div.Tensor", a, p(2, 3))
    case("div.Tensor", i(3), i(3, low=1))
    case("div.Tensor", b(3), torch.tensor([True] * 3))
    for number in [2, 4.0, 2.5, S(3)]:
        case("div.Scalar", a, number)
        case("div.Scalar", i(3), number)
        case("div.Scalar", f(3, dtype=F16), number)
        case("div.Tensor", a, number)
        case("div.Tensor", i(3), number)
    case("div_.Tensor", a, p(2, 3))
    case("div_.Scalar", a, 4)
    whole, by = torch.tensor([7, -7, 6, -6, 0]), torch.tensor([2, 2, -4, -4, 3])
    real, divisor = torch.tensor([7.5, -7.5, 6.0, -0.5]), torch.tensor([2.0, 2.0, -4.0, 0.25])
    for mode in ["floor", "trunc", None]:
        case("div.Tensor_mode", whole, by, rounding_mode=mode)
        case("div.Tensor_mode", real, divisor, rounding_mode=mode)
        case("div.Scalar_mode", whole, 2, rounding_mode=mode)
        case("div.Scalar_mode", whole, 2.0, rounding_mode=mode)
        case("div.Scalar_mode", real, -2, rounding_mode=mode)
        case("div_.Tensor_mode", real, divisor, rounding_mode=mode)
    for name in ["divide", "multiply", "subtract", "true_divide"]:
        case(f"{name}.Tensor", a, p(2, 3))
        case(f"{name}_.Tensor", a, p(2, 3))
        case(f"{name}.Scalar", a, 2.5)
        case(f"{name}.Scalar", i(3), 2)
    case("divide.Tensor_mode", whole, by, rounding_mode="floor")
    case("divide.Scalar_mode", whole, 2, rounding_mode="trunc")
    case("floor_divide", whole, by)
    case("floor_divide", real, divisor)
    case("floor_divide.Scalar", whole, 2)
    case("floor_divide.Scalar", real, -2)
    case("floor_divide.Scalar", whole, 2.0)
    case("floor_divide.Scalar", whole, S(4))
    case("floor_divide", whole, 2.0)
    case("floor_divide", whole, 2)
    case("floor_divide", real, 2)
    case("floor_divide_.Tensor", whole, by)
    for name in ["fmod", "remainder"]:
        case(f"{name}.Tensor", whole, by)
        case(f"{name}.Tensor", real, divisor)
        case(f"{name}.Tensor", whole, torch.tensor(2.5))
        for number in [3, -3, 2.5, 2.0, S(4)]:
            case(f"{name}.Scalar", whole, number)
            case(f"{name}.Scalar", real, number)
        case(f"{name}_.Scalar", real, 2)
        case(f"{name}_.Tensor", real, divisor)
    case("remainder.Scalar_Tensor", 7, by)
    case("remainder.Scalar_Tensor", 7.5, divisor)


def powers():
    case("pow.Tensor_Tensor", p(2, 3), f(2, 3))
    case("pow.Tensor_Tensor", i(4), torch.tensor([2, 3, 0, 1]))
    case("pow.Tensor_Tensor", i(4), torch.tensor(2.0))
    for number in [2, 3, 0.5, 2.0, -1, -2.0, 0, 1]:
        case("pow.Tensor_Scalar", p(3), number)
    for number in [2, 3, 2.0, 0.0, 0, 1.5]:
        case("pow.Tensor_Scalar", i(4, low=0), number)
    case("pow.Tensor_Scalar", f(3), 2)
    case("pow.Tensor_Scalar", f(3), 3.0)
    case("pow.Tensor_Scalar", p(3), SF(2.0))
    case("pow_.Scalar", p(3), 2)
    case("pow_.Tensor", p(3), f(3))
    fails("pow.Tensor_Scalar", i(4), -1)
    for number in [2, 2.5, 2.0]:
        case("pow.Scalar", number, f(3))
        case("pow.Scalar", number, i(3, low=0))
    case("float_power.Tensor_Tensor", p(3), i(3))
    case("float_power.Tensor_Scalar", i(3), 2)
    case("float_power.Scalar", 2, f(3))
    case("sqrt", i(3, low=0))


def pairs():
    a, c = f(2, 3), f(2, 3, seed=1)
    nan = torch.tensor([math.nan, 1.0, -1.0, math.nan])
    for name in ["maximum", "minimum", "max.other", "min.other", "fmax", "fmin"]:
        case(name, a, c)
        case(name, nan, torch.tensor([1.0, math.nan, 2.0, math.nan]))
        case(name, i(3), c[0])
        case(name, i(3), i(3, seed=1))
    for name in ["atan2", "arctan2", "hypot", "logaddexp", "logaddexp2", "nextafter"]:
        case(name, a, c)
    case("atan2", i(3), i(3, seed=1))
    case("atan2", i(3), a)
    case("atan2_", a, c)
    case("copysign.Tensor", a, c)
    case("copysign.Tensor", i(3), c[0])
    case("copysign.Scalar", a, -1.0)
    case("copysign.Scalar", i(3), 2)
    case("heaviside", torch.tensor([-1.5, 0.0, 2.0]), torch.tensor(0.5))
    case("xlogy.Tensor", torch.tensor([0.0, 1.5, 2.0]), torch.tensor([0.0, 2.0, 0.5]))
    case("xlogy.Tensor", i(3), p(3))
    case("xlogy.Scalar_Other", torch.tensor([0.0, 1.5]), 2.0)
    case("xlogy.Scalar_Self", 2.0, p(3))
    case("special_xlogy", f(3), p(3))
    case("ldexp.Tensor", f(3), i(3))
    case("lerp.Scalar", a, c, 0.25)
    case("lerp_.Scalar", a, c, 0.25)
    case("lerp.Tensor", a, c, p(2, 3))
    case("addcmul", a, c, f(2, 3, seed=2))
    case("addcmul", a, c, f(2, 3, seed=2), value=0.5)
    case("addcmul_", a, c, f(2, 3, seed=2), value=2)
    case("addcmul", i(3), i(3, seed=1), i(3, seed=2), value=2)
    case("addcdiv", a, c, p(2, 3))
    case("addcdiv", a, c, p(2, 3), value=0.5)
    case("addcdiv_", a, c, p(2, 3), value=0.5)


def bounds():
    a = f(2, 3)
    case("clamp", a, -1, 1)
    case("clamp", a, -0.5, 1.5)
    case("clamp", a, -0.5)
    case("clamp", a, None, 0.5)
    case("clamp", i(5), -2, 3)
    case("clamp", i(5), -2)
    case("clamp", i(5), None, 3)
    case("clamp", i(5), -1.5, 2)
    case("clamp", i(5), 2.0)
    case("clamp", i(5), None, 2.5)
    case("clamp", a, S(-1), S(1))
    case("clamp", i(5), S(-1), None)
    case("clamp_", a, 0.0, 1.0)
    case("clip", a, 0.0, 1.0)
    case("clip_", a, 0.0, 1.0)
    case("clamp.Tensor", a, f(3), f(3) + 1)
    case("clamp.Tensor", a, f(3))
    case("clamp.Tensor", a, None, f(3))
    case("clip.Tensor", a, f(3), f(3) + 1)
    for name in ["clamp_min", "clamp_max"]:
        case(name, a, 0.5)
        case(name, i(5), 1)
        case(name, i(5), 1.5)
        case(name, i(5), 1.0)
        case(name, i(5), S(1))
        case(name + "_", a, 0)
        case(name + ".Tensor", a, f(3, seed=1))
    case("clamp", torch.tensor([math.nan, 3.0]), 0.0, 1.0)


def comparisons():
    a, c = f(2, 3), f(2, 3, seed=1)
    c[0] = a[0]
    names = {"eq": None, "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
    for name, alias in names.items():
        case(f"{name}.Tensor", a, c)
        case(f"{name}.Tensor", i(3), c[0])
        case(f"{name}.Tensor", b(3), b(3, seed=1))
        for number in [0, 1.5, 1.0, S(1)]:
            case(f"{name}.Scalar", a, number)
            case(f"{name}.Scalar", i(5), number)
        case(f"{name}.Scalar", b(3), True)
        case(f"{name}.Scalar", b(3), 1)
        case(f"{name}.Scalar", i(5), 0.5)
        case(f"{name}.Scalar", i(5, low=-2, high=2), True)
        case(f"{name}.Scalar", torch.tensor([0.1, 0.2]), 0.1)
        case(f"{name}_.Tensor", a, c)
        case(f"{name}_.Scalar", a, 0)
        if alias:
            case(f"{alias}.Tensor", a, c)
            case(f"{alias}.Scalar", a, 0)
    odd = torch.tensor([math.nan, math.inf, -math.inf, -1.0, 0.0, -0.0])
    for name in ["isnan", "isinf", "isfinite", "signbit", "isneginf", "isposinf"]:
        case(name, odd)
        case(name, i(3))
    for name in ["logical_and", "logical_or", "logical_xor"]:
        case(name, b(4), b(4, seed=1))
        case(name, i(4, low=0, high=2), f(4))
        case(name + "_", b(4), b(4, seed=1))
    case("logical_not", b(4))
    case("logical_not", i(4, low=0, high=2))
    case("logical_not", f(4))
    case("logical_not_", b(4))


def bits():
    for name in ["and", "or", "xor"]:
        for full in [f"bitwise_{name}", f"__{name}__"]:
            case(f"{full}.Tensor", i(4), i(4, seed=1))
            case(f"{full}.Tensor", b(4), b(4, seed=1))
            case(f"{full}.Tensor", i(4), i(4, seed=1, dtype=I32))
            case(f"{full}.Tensor", b(4), i(4))
            case(f"{full}.Scalar", i(4), 3)
            case(f"{full}.Scalar", b(4), True)
        case(f"bitwise_{name}_.Tensor", b(4), b(4, seed=1))
        case(f"bitwise_{name}_.Scalar", i(4), 3)
        case(f"bitwise_{name}.Scalar_Tensor", 3, i(4))
        case(f"__i{name}__.Tensor", b(4), b(4, seed=1))
    case("bitwise_not", i(4))
    case("bitwise_not", b(4))
    case("bitwise_not", torch.tensor([0, 5, 255], dtype=U8))
    for side in ["left", "right"]:
        case(f"bitwise_{side}_shift.Tensor", i(4), i(4, low=0, high=3))
        case(f"bitwise_{side}_shift.Tensor_Scalar", i(4), 2)
        case(f"bitwise_{side}_shift.Scalar_Tensor", 12, i(4, low=0, high=3))
        case(f"__{side[0]}shift__.Scalar", i(4), 2)
        case(f"__{side[0]}shift__.Tensor", i(4), i(4, low=0, high=3))


def choices():
    a, c, mask = f(2, 3), f(2, 3, seed=1), b(2, 3, seed=2)
    case("where.self", mask, a, c)
    case("where.self", mask[0], a, c[:, :1].contiguous())
    case("where.self", mask, i(2, 3), c)
    case("where.self", mask, a, torch.tensor(0.5))
    case("where.self", mask, f(2, 3, dtype=F16), torch.tensor(0.5))
    case("where.self", mask.to(U8), a, c)
    case("where.ScalarOther", mask, a, 1.5)
    case("where.ScalarOther", mask, i(2, 3), 2)
    case("where.ScalarOther", mask, i(2, 3), 1.5)
    case("where.ScalarOther", mask, i(2, 3), 1.0)
    case("where.ScalarOther", mask, a, -math.inf)
    case("where.ScalarSelf", mask, 1.5, a)
    case("where.ScalarSelf", mask, 2, i(2, 3))
    case("where.ScalarSelf", mask, 2.0, i(2, 3))
    case("where.Scalar", mask, 2.5, 1.5)
    case("where.Scalar", mask, 2, 1)
    case("where.Scalar", mask, True, False)
    case("where.Scalar", mask, 2.0, 1)
    case("where", mask)
    case("masked_fill.Scalar", a, mask, 7.5)
    case("masked_fill.Scalar", a, mask[0], -math.inf)
    case("masked_fill.Scalar", i(2, 3), mask, 7)
    case("masked_fill.Scalar", b(2, 3), mask, True)
    case("masked_fill.Scalar", a, mask, S(3))
    case("masked_fill.Scalar", i(2, 3), mask, 2.0)
    case("masked_fill.Scalar", a[0], mask, 1)
    case("masked_fill.Tensor", a, mask, torch.tensor(2.5))
    case("masked_fill_.Scalar", a, mask, 7)
    case("masked_fill_.Scalar", turned(a), mask[0], 7.5)
    case("masked_fill_.Scalar", b(2, 3), mask, False)
    case("masked_fill_.Tensor", a, mask, torch.tensor(2.5))


def cases():
    for part in [unary, activations, gradients, arithmetic, powers, pairs, bounds, comparisons, bits, choices]:
        part()
