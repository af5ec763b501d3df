"""Arithmetic, functions, comparisons, selections and conversions."""

import re

from operands import ANY, BYTES, MASK, OPEN, POSITIVE, UNIT, Operand, between

from .row import ALL_SIZES, MATRIX, NARROW, over


def arithmetic():
    add = "THTensor_cadd(r, a, 1, b)", "torch.add(a, b, out=r)", "np.add(a, b, out=r)"
    mul = "THTensor_cmul(r, a, b)", "torch.mul(a, b, out=r)", "np.multiply(a, b, out=r)"
    div = "THTensor_cdiv(r, a, b)", "torch.div(a, b, out=r)", "np.divide(a, b, out=r)"
    add_value = "THTensor_add(r, a, 3)", "torch.add(a, 3, out=r)", "np.add(a, 3, out=r)"
    copy = "THTensor_copy(r, a)", "r.copy_(a)", "np.copyto(r, a)"
    add_to = "THTensor_cadd(r, r, 1, b)", "r.add_(b)", "np.add(r, b, out=r)"
    fill = "THTensor_fill(r, 3)", "r.fill_(3)", "r.fill(3)"
    return [
        *over("add", "f32 f64 i64 i32", ALL_SIZES, *add),
        *over("add", "f16 bf16 u8 i16", "1e6", *add),
        *over("sub", "f32", "1e6", "THTensor_csub(r, a, 1, b)", "torch.sub(a, b, out=r)", "np.subtract(a, b, out=r)"),
        *over("mul", "f32", ALL_SIZES, *mul),
        *over("mul", "f64 i64 i32 bf16", "1e6", *mul),
        *over("div", "f32", ALL_SIZES, *div, b=POSITIVE),
        *over("div", "f64 i64", "1e6", *div, b=POSITIVE),
        *over("add value", "f32", ALL_SIZES, *add_value),
        *over("add value", "f64 i64", "1e6", *add_value),
        *over("copy", "f32", ALL_SIZES, *copy, result=ANY),
        *over("copy", "f64 u8", "1e6", *copy, result=ANY),
        *over("fill", "f32", ALL_SIZES, *fill, result=ANY),
        *over("fill", "f64 u8", "1e6", *fill, result=ANY),
        *over("add in place", "f32", ALL_SIZES, *add_to, r=ANY),
        *over("add in place", "f64 i32", "1e6", *add_to, r=ANY),
        *over("add value in place", "f32", "1e6", "THTensor_add(r, r, 3)", "r.add_(3)", "np.add(r, 3, out=r)", r=ANY),
        *over("neg in place", "f32", ALL_SIZES, "THTensor_neg(r, r)", "r.neg_()", "np.negative(r, out=r)", r=ANY),
        *(row for n in (16, 1000) for row in over("add row in place", "f32", f"{1_000_000 // n}x{n}", *add_to, r=ANY, b=ANY.shaped(f"{n}"))),
        *over("add transposed", "f32 f64", MATRIX, *add, a=ANY.transposed()),
        *over("copy transposed", "f32 f64", "2048x2048", *copy, a=ANY.transposed(), result=ANY),
        *over("add row", "f32", MATRIX, *add, b=ANY.shaped("1000")),
        *over("add column", "f32", MATRIX, *add, b=ANY.shaped("1000x1")),
        *over("add strided", "f32", MATRIX, *add, a=ANY.every_second()),
        *over("add i32", "f32", "1e6", *add, b=ANY.of("i32")),
        *(row for n in (4, 16, 100) for row in over("add row", "f32", f"{1_000_000 // n}x{n}", *add, b=ANY.shaped(f"{n}"))),
        *(row for n in (4, 16, 100) for row in over("add column", "f32", f"{1_000_000 // n}x{n}", *add, b=ANY.shaped(f"{1_000_000 // n}x1"))),
        *over("add narrowed", "f32", NARROW, *add, a=ANY.first_half()),
        *over("copy narrowed", "f32", NARROW, *copy, a=ANY.first_half(), result=ANY),
    ]


def functions():
    # name in TH, operand, PyTorch, NumPy
    unary = [
        ("abs", ANY, "torch.abs(a, out=r)", "np.abs(a, out=r)"),
        ("neg", ANY, "torch.neg(a, out=r)", "np.negative(a, out=r)"),
        ("sign", ANY, "torch.sign(a, out=r)", "np.sign(a, out=r)"),
        ("floor", ANY, "torch.floor(a, out=r)", "np.floor(a, out=r)"),
        ("ceil", ANY, "torch.ceil(a, out=r)", "np.ceil(a, out=r)"),
        ("round", ANY, "torch.round(a, out=r)", "np.rint(a, out=r)"),
        ("trunc", ANY, "torch.trunc(a, out=r)", "np.trunc(a, out=r)"),
        ("frac", ANY, "torch.frac(a, out=r)", None),
        ("cinv", POSITIVE, "torch.reciprocal(a, out=r)", "np.reciprocal(a, out=r)"),
        ("sqrt", POSITIVE, "torch.sqrt(a, out=r)", "np.sqrt(a, out=r)"),
        ("rsqrt", POSITIVE, "torch.rsqrt(a, out=r)", None),
        ("exp", ANY, "torch.exp(a, out=r)", "np.exp(a, out=r)"),
        ("exp2", ANY, "torch.exp2(a, out=r)", "np.exp2(a, out=r)"),
        ("expm1", ANY, "torch.expm1(a, out=r)", "np.expm1(a, out=r)"),
        ("log", POSITIVE, "torch.log(a, out=r)", "np.log(a, out=r)"),
        ("log2", POSITIVE, "torch.log2(a, out=r)", "np.log2(a, out=r)"),
        ("log10", POSITIVE, "torch.log10(a, out=r)", "np.log10(a, out=r)"),
        ("log1p", POSITIVE, "torch.log1p(a, out=r)", "np.log1p(a, out=r)"),
        ("sin", ANY, "torch.sin(a, out=r)", "np.sin(a, out=r)"),
        ("cos", ANY, "torch.cos(a, out=r)", "np.cos(a, out=r)"),
        ("tan", ANY, "torch.tan(a, out=r)", "np.tan(a, out=r)"),
        ("asin", OPEN, "torch.asin(a, out=r)", "np.arcsin(a, out=r)"),
        ("acos", OPEN, "torch.acos(a, out=r)", "np.arccos(a, out=r)"),
        ("atan", ANY, "torch.atan(a, out=r)", "np.arctan(a, out=r)"),
        ("sinh", ANY, "torch.sinh(a, out=r)", "np.sinh(a, out=r)"),
        ("cosh", ANY, "torch.cosh(a, out=r)", "np.cosh(a, out=r)"),
        ("tanh", ANY, "torch.tanh(a, out=r)", "np.tanh(a, out=r)"),
        ("sigmoid", ANY, "torch.sigmoid(a, out=r)", None),
        ("erf", ANY, "torch.erf(a, out=r)", None),
        ("erfc", ANY, "torch.erfc(a, out=r)", None),
        ("erfinv", OPEN, "torch.erfinv(a, out=r)", None),
        ("lgamma", POSITIVE, "torch.lgamma(a, out=r)", None),
        ("digamma", POSITIVE, "torch.digamma(a, out=r)", None),
        ("relu", ANY, "torch.clamp_min(a, 0, out=r)", "np.maximum(a, 0, out=r)"),
        ("gelu", ANY, "nn.gelu(a, out=r)", None),
        ("silu", ANY, "nn.silu(a, out=r)", None),
        ("mish", ANY, "nn.mish(a, out=r)", None),
        ("hardswish", ANY, "nn.hardswish(a, out=r)", None),
    ]
    return [
        *(row for op, a, torch, numpy in unary for row in over(op, "f32 f64", "1e6", f"THTensor_{op}(r, a)", torch, numpy, a=a)),
        *over("exp", "f16 bf16", "1e6", "THTensor_exp(r, a)", "torch.exp(a, out=r)", "np.exp(a, out=r)"),
        *over("abs", "i64 i32", "1e6", "THTensor_abs(r, a)", "torch.abs(a, out=r)", "np.abs(a, out=r)"),
        *over("exp", "f32", "1e3 1e5 1e7", "THTensor_exp(r, a)", "torch.exp(a, out=r)", "np.exp(a, out=r)"),
        *over("softplus", "f32 f64", "1e6", "THTensor_softplus(r, a, 1, 20)", "nn.softplus(a, 1, 20, out=r)"),
        *over("leaky relu", "f32", "1e6", "THTensor_leakyRelu(r, a, 0.01)", "nn.leaky_relu(a, 0.01, out=r)"),
        *over("elu", "f32 f64", "1e6", "THTensor_elu(r, a, 1)", "nn.elu(a, 1, out=r)"),
        *over("prelu", "f32", "1000x1000", "FRESH(THTensor_prelu(r, a, b))", "torch.prelu(a, b)", b=ANY.shaped("1000")),
    ]


def of_two():
    mod = "THTensor_cremainder(r, a, b)", "torch.remainder(a, b, out=r)", "np.remainder(a, b, out=r)"
    floor = "THTensor_cdivMode(r, a, b, TH_DIV_FLOOR)", "torch.floor_divide(a, b, out=r)", "np.floor_divide(a, b, out=r)"
    return [
        *over("pow", "f32 f64", "1e6", "THTensor_cpow(r, a, b)", "torch.pow(a, b, out=r)", "np.power(a, b, out=r)", a=POSITIVE),
        *over("pow 3", "f32 f64", "1e6", "THTensor_pow(r, a, 3)", "torch.pow(a, 3, out=r)", "np.power(a, 3, out=r)"),
        *over("pow 2.5", "f32", "1e6", "THTensor_pow(r, a, 2.5)", "torch.pow(a, 2.5, out=r)", "np.power(a, 2.5, out=r)", a=POSITIVE),
        *over("atan2", "f32 f64", "1e6", "THTensor_atan2(r, a, b)", "torch.atan2(a, b, out=r)", "np.arctan2(a, b, out=r)"),
        *over("hypot", "f32 f64", "1e6", "THTensor_hypot(r, a, b)", "torch.hypot(a, b, out=r)", "np.hypot(a, b, out=r)"),
        *over("fmod", "f32 f64 i64", "1e6", "THTensor_cfmod(r, a, b)", "torch.fmod(a, b, out=r)", "np.fmod(a, b, out=r)", b=POSITIVE),
        *over("fmod value", "f32", "1e6", "THTensor_fmod(r, a, 3)", "torch.fmod(a, 3, out=r)", "np.fmod(a, 3, out=r)"),
        *over("remainder", "f32 f64 i64", "1e6", *mod, b=POSITIVE),
        *over("remainder value", "f32", "1e6", "THTensor_remainder(r, a, 3)", "torch.remainder(a, 3, out=r)", "np.remainder(a, 3, out=r)"),
        *over("floor divide", "f32 f64 i64", "1e6", *floor, b=POSITIVE),
        *over("max of two", "f32 f64 i64", "1e6", "THTensor_cmax(r, a, b)", "torch.maximum(a, b, out=r)", "np.maximum(a, b, out=r)"),
        *over("min of two", "f32", "1e6", "THTensor_cmin(r, a, b)", "torch.minimum(a, b, out=r)", "np.minimum(a, b, out=r)"),
        *over("bit and", "i64 i32 u8", "1e6", "THTensor_cbitand(r, a, b)", "torch.bitwise_and(a, b, out=r)", "np.bitwise_and(a, b, out=r)"),
        *over("lerp", "f32 f64", "1e6", "THTensor_lerp(r, a, b, 0.3)", "torch.lerp(a, b, 0.3, out=r)"),
        *over("addcmul", "f32 f64", "1e6", "THTensor_addcmul(r, a, 2, b, c)", "torch.addcmul(a, b, c, value=2, out=r)"),
        *over("addcdiv", "f32", "1e6", "THTensor_addcdiv(r, a, 2, b, c)", "torch.addcdiv(a, b, c, value=2, out=r)", c=POSITIVE),
        *over("clamp", "f32 f64 i64", "1e6", "THTensor_clamp(r, a, -1, 1)", "torch.clamp(a, -1, 1, out=r)", "np.clip(a, -1, 1, out=r)"),
    ]


def comparisons():
    less = "THTensor_ltTensor(r, a, b)", "torch.lt(a, b, out=r)", "np.less(a, b, out=r)"
    fill = "THTensor_maskedFill(r, m, 0)", "r.masked_fill_(m, 0)", "np.copyto(r, 0, where=m)"
    return [
        *over("lt", "f32 f64 i64 i32 u8 bf16", "1e6", *less),
        *over("lt", "f32", "1e3 1e5 1e7", *less),
        *over("eq", "f32 i64 bool", "1e6", "THTensor_eqTensor(r, a, b)", "torch.eq(a, b, out=r)", "np.equal(a, b, out=r)"),
        *over("lt value", "f32 i64", "1e6", "THTensor_ltValue(r, a, 1)", "torch.lt(a, 1, out=r)", "np.less(a, 1, out=r)"),
        *over("where", "f32 f64 u8", "1e6", "THTensor_where(r, m, a, b)", "torch.where(m, a, b, out=r)", "np.where(m, a, b)", m=MASK),
        *over("masked fill", "f32 f64", "1e6", *fill, r=ANY, m=MASK),
    ]


def conversions():
    pairs = {
        "f32": "f64 f16 bf16 i64 i32 u8 bool",
        "f64": "f32 i64 i32",
        "f16": "f32",
        "bf16": "f32",
        "i64": "f32 f64 i32",
        "i32": "f32 i64",
        "u8": "f32 i64",
        "bool": "f32 i64",
    }
    code = "THTensor_copy(r, a)", "r.copy_(a)", "np.copyto(r, a, casting='unsafe')"
    return [
        row
        for source, targets in pairs.items()
        for target in targets.split()
        for row in over(f"copy to {target}", source, "1e6", *code, a=MASK if source == "bool" else BYTES, result=ANY.of(target))
    ]


def with_numbers():
    """Functions of a tensor and a number, of two tensors, and of bits. The names are those of TH, PyTorch and NumPy."""
    f = "f32"
    rows = [
        ("square", f, "square(r, a)", "square(a)", "square(a)", ANY),
        ("asinh", f, "asinh(r, a)", "asinh(a)", "arcsinh(a)", ANY),
        ("acosh", f, "acosh(r, a)", "acosh(a)", "arccosh(a)", Operand(between, (1, 10))),
        ("atanh", f, "atanh(r, a)", "atanh(a)", "arctanh(a)", OPEN),
        ("sinc", f, "sinc(r, a)", "sinc(a)", "sinc(a)", ANY),
        ("polygamma 2", f, "polygamma(r, 2, a)", "polygamma(2, a)", None, POSITIVE),
        ("mvlgamma 3", f, "mvlgamma(r, a, 3)", "special.multigammaln(a, 3)", None, Operand(between, (2, 10))),
        ("nan to num", f, "nanToNum(r, a, 0, 1, -1)", "nan_to_num(a, 0, 1, -1)", "nan_to_num(a, nan=0, posinf=1, neginf=-1)", ANY),
        ("xlogy value", f, "xlogyValue(r, a, 3)", "xlogy(a, 3)", None, ANY),
        ("sub value", f, "sub(r, a, 3)", "sub(a, 3)", "subtract(a, 3)", ANY),
        ("mul value", f, "mul(r, a, 3)", "mul(a, 3)", "multiply(a, 3)", ANY),
        ("div value", f + " f64", "div(r, a, 3)", "div(a, 3)", "divide(a, 3)", ANY),
        ("number to the power", f, "tpow(r, 2.5, a)", "pow(2.5, a)", "power(2.5, a)", ANY),
        ("number minus", f, "rsub(r, a, 3)", "rsub(a, 3) fresh", "subtract(3, a)", ANY),
        ("number divided by", f, "rdiv(r, a, 3)", "reciprocal(a).mul(3) fresh", "divide(3, a)", POSITIVE),
        ("floor divide value", f + " i64", "divMode(r, a, 3, TH_DIV_FLOOR)", "floor_divide(a, 3)", "floor_divide(a, 3)", ANY),
        ("max of value", f, "cmaxValue(r, a, 0.5)", "clamp_min(a, 0.5)", "maximum(a, 0.5)", ANY),
        ("min of value", f, "cminValue(r, a, 0.5)", "clamp_max(a, 0.5)", "minimum(a, 0.5)", ANY),
        ("bit not", "i64", "bitwiseNot(r, a)", "bitwise_not(a)", "bitwise_not(a)", ANY),
        ("bit and value", "i64", "bitand(r, a, 5)", "bitwise_and(a, 5)", "bitwise_and(a, 5)", ANY),
        ("bit or value", "i64", "bitor(r, a, 5)", "bitwise_or(a, 5)", "bitwise_or(a, 5)", ANY),
        ("bit xor value", "i64", "bitxor(r, a, 5)", "bitwise_xor(a, 5)", "bitwise_xor(a, 5)", ANY),
        ("shift left value", "i64", "lshift(r, a, 3)", "bitwise_left_shift(a, 3)", "left_shift(a, 3)", ANY),
        ("shift right value", "i64", "rshift(r, a, 3)", "bitwise_right_shift(a, 3)", "right_shift(a, 3)", ANY),
        ("le value", f, "leValue(r, a, 1)", "le(a, 1)", "less_equal(a, 1)", ANY),
        ("gt value", f, "gtValue(r, a, 1)", "gt(a, 1)", "greater(a, 1)", ANY),
        ("ge value", f, "geValue(r, a, 1)", "ge(a, 1)", "greater_equal(a, 1)", ANY),
        ("eq value", f, "eqValue(r, a, 1)", "eq(a, 1)", "equal(a, 1)", ANY),
        ("ne value", f, "neValue(r, a, 1)", "ne(a, 1)", "not_equal(a, 1)", ANY),
        ("isnan", f, "isnan(r, a)", "isnan(a) fresh", "isnan(a)", ANY),
        ("isinf", f, "isinf(r, a)", "isinf(a) fresh", "isinf(a)", ANY),
        ("isfinite", f, "isfinite(r, a)", "isfinite(a) fresh", "isfinite(a)", ANY),
        ("signbit", f, "signbit(r, a)", "signbit(a)", "signbit(a)", ANY),
        ("logical not", "bool f32", "logicalNot(r, a)", "logical_not(a)", "logical_not(a)", ANY),
        ("logaddexp", f, "logaddexp(r, a, b)", "logaddexp(a, b)", "logaddexp(a, b)", ANY),
        ("xlogy", f, "xlogy(r, a, b)", "xlogy(a, b)", None, POSITIVE),
        ("copysign", f, "copysign(r, a, b)", "copysign(a, b)", "copysign(a, b)", ANY),
        ("nextafter", f, "nextafter(r, a, b)", "nextafter(a, b)", "nextafter(a, b)", ANY),
        ("heaviside", f, "heaviside(r, a, b)", "heaviside(a, b)", "heaviside(a, b)", ANY),
        ("bit or", "i64", "cbitor(r, a, b)", "bitwise_or(a, b)", "bitwise_or(a, b)", ANY),
        ("bit xor", "i64", "cbitxor(r, a, b)", "bitwise_xor(a, b)", "bitwise_xor(a, b)", ANY),
        ("shift left", "i64", "clshift(r, a, b)", "bitwise_left_shift(a, b)", "left_shift(a, b)", Operand(between, (0, 8))),
        ("shift right", "i64", "crshift(r, a, b)", "bitwise_right_shift(a, b)", "right_shift(a, b)", Operand(between, (0, 8))),
        ("le", f, "leTensor(r, a, b)", "le(a, b)", "less_equal(a, b)", ANY),
        ("gt", f, "gtTensor(r, a, b)", "gt(a, b)", "greater(a, b)", ANY),
        ("ge", f, "geTensor(r, a, b)", "ge(a, b)", "greater_equal(a, b)", ANY),
        ("ne", f, "neTensor(r, a, b)", "ne(a, b)", "not_equal(a, b)", ANY),
        ("logical and", "bool f32", "logicalAnd(r, a, b)", "logical_and(a, b)", "logical_and(a, b)", ANY),
        ("logical or", "bool", "logicalOr(r, a, b)", "logical_or(a, b)", "logical_or(a, b)", ANY),
        ("logical xor", "bool", "logicalXor(r, a, b)", "logical_xor(a, b)", "logical_xor(a, b)", ANY),
    ]
    made = []
    for op, dtypes, thorn, torch, numpy, operand in rows:
        given = {name: operand for name in "ab" if re.search(rf"[ (]{name}[,)]", thorn)}
        # Some functions of PyTorch and NumPy have no `out`, or it is slower.
        fresh = torch.endswith(" fresh")
        thorn = f"FRESH(THTensor_{thorn})" if fresh else f"THTensor_{thorn}"
        torch = f"torch.{torch.removesuffix(' fresh')}" if fresh else f"torch.{torch[:-1]}, out=r)"
        numpy = numpy and (f"np.{numpy}" if fresh or numpy.startswith(("nan_to_num", "sinc")) else f"np.{numpy[:-1]}, out=r)")
        made += over(op, dtypes, "1e6", thorn, torch, numpy, **given)
    return made


def choices():
    """Selections, comparisons of whole tensors, and functions that PyTorch has only with fresh results."""
    whole = {"b": ANY.named("a")}
    return [
        *over("gelu tanh", "f32", "1e6", "THTensor_geluTanh(r, a)", "nn.gelu(a, approximate='tanh', out=r)"),
        *over("threshold", "f32", "1e6", "THTensor_threshold(r, a, 0.5, 2)", "torch.threshold(a, 0.5, 2, out=r)"),
        *over("hardtanh", "f32", "1e6", "THTensor_hardtanh(r, a, -1, 1)", "nn.hardtanh(a, -1, 1, out=r)"),
        *over("lerp tensor", "f32", "1e6", "THTensor_lerpTensor(r, a, b, c)", "torch.lerp(a, b, c, out=r)", c=UNIT),
        *over("number times minus", "f32", "1e6", "FRESH(THTensor_crsub(r, a, 2, b))", "torch.rsub(a, b, alpha=2)"),
        *over("clamp tensor", "f32", "1e6", "THTensor_clampTensor(r, a, b, c)", "torch.clamp(a, b, c, out=r)", "np.clip(a, b, c, out=r)", b=UNIT, c=POSITIVE),
        *over("where value", "f32", "1e6", "FRESH(THTensor_whereValue(r, m, a, 3))", "torch.where(m, a, 3)", "np.where(m, a, np.float32(3))", m=MASK),
        *over("where value, tensor", "f32", "1e6", "FRESH(THTensor_whereValueTensor(r, m, 3, b))", "torch.where(m, 3, b)", "np.where(m, np.float32(3), b)", m=MASK),
        *over("where values", "f32", "1e6", "FRESH(THTensor_whereValues(r, m, 3.5, 4))", "torch.where(m, 3.5, 4.0)", "np.where(m, np.float32(3.5), np.float32(4))", m=MASK),
        *over("isclose", "f32", "1e6", "FRESH(THTensor_isclose(r, a, b, 1e-5, 1e-8, 0))", "torch.isclose(a, b)", "np.isclose(a, b)"),
        *over("allclose", "f32", "1e6", "NUMBER(THTensor_allclose(a, b, 1e-5, 1e-8, 0))", "torch.allclose(a, b)", "np.allclose(a, b)", **whole),
        *over("equal", "f32 i64", "1e6", "NUMBER(THTensor_equal(a, b))", "torch.equal(a, b)", "np.array_equal(a, b)", **whole),
        *over("zero", "f32", "1e6", "THTensor_zero(r)", "r.zero_()", "r.fill(0)", result=ANY),
        *over("fill with integer", "i64", "1e6", "THTensor_fillLong(r, 3)", "r.fill_(3)", "r.fill(3)", result=ANY),
        *over("pow square root", "f32", "1e6", "THTensor_pow(r, a, 0.5)", "torch.pow(a, 0.5, out=r)", "np.power(a, 0.5, out=r)", a=POSITIVE),
    ]
