"""The rows: calls of thorn, PyTorch and NumPy for the same work.

A row is `over(op, dtypes, shapes, thorn, torch, numpy)`: one for each dtype and shape. `thorn` is C, the others are Python (in `small`,
`torch` is C++). `a` and `b` are operands of the row's dtype and shape unless a keyword changes that, `r` is the result, `n` the number
of elements, `shape` the sizes (in C also `ndim`). The names in `out=` have memory before the clock starts. `FRESH(call)` and
`MADE(handle)` make a new result each time. None: the library has no such function.
"""

import re
from dataclasses import dataclass, field
from math import prod

import files as on_disk
import grad
import net
from operands import ANY, ASCENDING, BYTES, CLASSES, FALSE, MASK, MILLION, NEAR_ONE, NEXT_TO_ONE, OPEN, POSITIVE, SMALL, THOUSAND, TRUE, UNIT, WINDOWS, Operand, between, sizes, starts

TWO_FROM = 100_000  # elements; smaller operands use one thread


@dataclass(eq=False)
class Row:
    group: str
    op: str
    dtype: str
    shape: str
    thorn: str
    torch: str
    numpy: str | None
    operands: dict = field(default_factory=dict)
    result: Operand | None = None  # for `r`, if no `out=` names a result
    checked: tuple = ()  # the results to compare, if not all: libraries may choose different indices among equal elements
    tolerance: float | None = None  # for results with many roundings: relative for floats, absolute for integers
    flops: int | None = None  # the limit is arithmetic instead of memory
    cpp: bool = False  # `torch` is C++
    one_thread: bool = False  # two threads would show nothing new

    def count(self):
        return prod(sizes(self.shape))

    def names(self):
        """The names of the tensors in the C code, in the order of its handles."""
        code = self.thorn + (" r" if self.makes() else "")
        return [name for name in "riabcm" if re.search(rf"\b{name}\b", code)]

    def makes(self):
        return self.thorn.startswith(("FRESH", "MADE"))

    def number(self):
        return self.thorn.startswith("NUMBER")

    def two_threads(self):
        return self.count() >= TWO_FROM and not self.cpp and not self.one_thread

    def label(self):
        return f"{self.group:9} {self.op:18} {self.dtype:9} {self.shape:12}"


def over(op, dtypes, shapes, thorn, torch, numpy=None, **given):
    """A row for each dtype and shape. Operands that the code names and no keyword describes are `ANY`."""
    details = {key: given.pop(key) for key in list(given) if key in Row.__dataclass_fields__}
    code = f"{thorn} {torch} {numpy}"
    named = {name: ANY for name in ("a", "b", "c") if re.search(rf"\b{name}\b", code)}
    operands = {**named, **given}
    rows = (("", op, dtype, shape, thorn, torch, numpy) for dtype in dtypes.split() for shape in shapes.split())
    return [Row(*row, operands, **details) for row in rows]


ALL_SIZES = "1e3 1e5 1e6 1e7"
MATRIX = "1000x1000"
NARROW = "250000x4 62500x16 10000x100"
CUBE = "100x100x100"


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


# A reduction over everything and over each dimension: the text for the dimension in C and in Python.
ALL = ("all", "TH_ALL_DIMS", "None")
MATRIX_DIMS = [(MATRIX, *dim) for dim in (ALL, ("dim 0", "0", "0"), ("dim 1", "1", "1"))]
CUBE_DIMS = [(CUBE, f"dim {d}", str(d), str(d)) for d in range(3)]


def along(op, dtypes, dims, thorn, torch, numpy=None, **given):
    """Rows over these dimensions, which replace DIM in the code."""
    rows = []
    for shape, label, c, python in dims:
        code = thorn.replace("DIM", c), torch.replace("DIM", python), numpy and numpy.replace("DIM", python)
        rows += over(f"{op} {label}", dtypes, shape, *code, **given)
    return rows


def reductions():
    sum_ = "THTensor_sum(r, a, DIM, 0)", "torch.sum(a, DIM, out=r)", "np.sum(a, axis=DIM, out=r)"
    mean = "THTensor_mean(r, a, DIM, 0)", "torch.mean(a, DIM, out=r)", "np.mean(a, axis=DIM, out=r)"
    amax = "THTensor_max(r, NULL, a, DIM, 0)", "torch.amax(a, DIM, out=r)", "np.max(a, axis=DIM, out=r)"
    amin = "THTensor_min(r, NULL, a, DIM, 0)", "torch.amin(a, DIM, out=r)", "np.min(a, axis=DIM, out=r)"
    max_ = "THTensor_max(r, i, a, DIM, 0)", "torch.max(a, DIM, out=(r, i))"
    argmax = "THTensor_argmax(r, a, DIM, 0)", "torch.argmax(a, DIM, out=r)", "np.argmax(a, axis=DIM, out=r)"
    var = "THTensor_var(r, a, DIM, 0, 0)", "torch.var(a, DIM, correction=1, out=r)", "np.var(a, axis=DIM, ddof=1, out=r)"
    std = "THTensor_std(r, a, DIM, 0, 0)", "torch.std(a, DIM, correction=1, out=r)", "np.std(a, axis=DIM, ddof=1, out=r)"
    norm = "THTensor_norm(r, a, 2, DIM, 0)", "torch.linalg.vector_norm(a, 2, DIM, out=r)"
    norm_numpy = "np.linalg.norm(a.ravel() if DIM is None else a, axis=DIM)"
    prod_ = "THTensor_prod(r, a, DIM, 0)", "torch.prod(a, DIM, out=r)", "np.prod(a, axis=DIM, out=r)"
    near_one = {"a": NEAR_ONE, "tolerance": 1e-3}
    all_ = "THTensor_all(r, a, DIM, 0)", "torch.all(a, DIM, out=r)", "np.all(a, axis=DIM, out=r)"
    any_ = "THTensor_any(r, a, DIM, 0)", "torch.any(a, DIM, out=r)", "np.any(a, axis=DIM, out=r)"
    whole, both, every = MATRIX_DIMS[:1], MATRIX_DIMS[1:], MATRIX_DIMS + CUBE_DIMS
    return [
        *along("sum", "f32", every, *sum_, a=UNIT, tolerance=1e-4),
        *along("sum", "f64 i64", MATRIX_DIMS, *sum_, a=BYTES),
        *along("sum", "u8 bool", whole, *sum_[:2], "np.sum(a, axis=DIM, dtype=np.int64, out=r)"),
        *along("sum", "f16 bf16", whole, *sum_, a=UNIT.shaped(MATRIX), tolerance=2e-2),
        *along("mean", "f32", every, *mean, a=UNIT, tolerance=1e-4),
        *along("nansum", "f32", MATRIX_DIMS, "THTensor_nansum(r, a, DIM, 0)", "torch.nansum(a, DIM, out=r)", "np.nansum(a, axis=DIM, out=r)", a=UNIT, tolerance=1e-4),
        *along("amax", "f32", every, *amax),
        *along("amax", "f64 i64", whole, *amax),
        *along("amin", "f32", whole, *amin),
        *along("max and index", "f32", both + CUBE_DIMS, *max_),
        *along("argmax", "f32", every, *argmax),
        *along("var", "f32", every, *var, tolerance=1e-4),
        *along("var", "f64", MATRIX_DIMS, *var),
        *along("std", "f32", MATRIX_DIMS, *std, tolerance=1e-4),
        *along("norm", "f32", every, *norm, norm_numpy, tolerance=1e-4),
        *over("prod all", "f32", MATRIX, prod_[0].replace("DIM", "TH_ALL_DIMS"), "torch.prod(a)", "np.prod(a, out=r)", a=NEXT_TO_ONE, tolerance=1e-3),
        *along("prod", "f32", both, *prod_, **near_one),
        *along("all", "bool", MATRIX_DIMS, *all_, a=TRUE),
        *along("any", "bool", MATRIX_DIMS, *any_, a=FALSE),
        *over("sum all", "f32", "1e3", "THTensor_sum(r, a, TH_ALL_DIMS, 0)", "torch.sum(a, 0, out=r)", "np.sum(a, out=r)", a=UNIT),
    ]


def scans():
    dims = MATRIX_DIMS[1:]
    cumsum = "THTensor_cumsum(r, a, DIM)", "torch.cumsum(a, DIM, out=r)", "np.cumsum(a, axis=DIM, out=r)"
    cumprod = "THTensor_cumprod(r, a, DIM)", "torch.cumprod(a, DIM, out=r)", "np.cumprod(a, axis=DIM, out=r)"
    log_softmax = "THTensor_logSoftmax(r, a, DIM)", "torch.log_softmax(a, DIM, out=r)"
    logsumexp = "THTensor_logsumexp(r, a, DIM, 0)", "torch.logsumexp(a, DIM, out=r)"
    return [
        *along("cumsum", "f32", dims + CUBE_DIMS, *cumsum, a=UNIT, tolerance=1e-4),
        *along("cumsum", "f64 i64", dims, *cumsum, a=BYTES),
        *along("cumprod", "f32", dims, *cumprod, a=NEAR_ONE, tolerance=1e-3),
        *along("cummax", "f32", dims, "THTensor_cummax(r, i, a, DIM)", "torch.cummax(a, DIM, out=(r, i))", checked=("r",)),
        *along("softmax", "f32", dims + CUBE_DIMS, "THTensor_softmax(r, a, DIM)", "torch.softmax(a, DIM, out=r)"),
        *along("log softmax", "f32", dims, *log_softmax),
        *along("logsumexp", "f32", dims, *logsumexp),
    ]


def layers():
    """Backward functions of activations, softmax, normalization and losses, and the forward functions that only they need."""
    aten, dims = "torch.ops.aten", MATRIX_DIMS[1:]

    def back(op, thorn, torch, dtypes="f32", **given):
        return over(f"{op} grad", dtypes, "1e6", thorn, f"{aten}.{torch}", result=ANY, **given)

    softmax = "THTensor_softmaxGrad(r, a, b, DIM)", f"{aten}._softmax_backward_data.out(a, b, DIM, a.dtype, grad_input=r)"
    log_softmax = "THTensor_logSoftmaxGrad(r, a, b, DIM)", "torch._log_softmax_backward_data(a, b, DIM, a.dtype, out=r)"
    norm = "FRESH(THTensor_layerNorm(r, a, 1, b, c, 1e-5))", "torch.layer_norm(a, b.shape, b, c, 1e-5)"
    norm_back = (
        "FRESH(THTensor_layerNormGrad(r, NULL, NULL, a, b, 1, NULL, 1e-5))",
        f"{aten}.native_layer_norm_backward(a, b, b.shape[1:], c, c, None, None, (True, False, False))[0]",
    )
    rms = "FRESH(THTensor_rmsNorm(r, a, 1, b, 1e-5))", "torch.rms_norm(a, b.shape, b, 1e-5)"
    groups = "FRESH(THTensor_groupNorm(r, a, 8, b, c, 1e-5))", "torch.group_norm(a, 8, b, c, 1e-5)"
    target = THOUSAND.of("i64").shaped("1000")
    heads = {"a": UNIT, "b": UNIT.shaped("8x1024x64"), "c": UNIT.shaped("8x1024x64"), "flops": 4 * 8 * 1024 * 1024 * 64}

    def attention(causal):
        thorn = f"FRESH(THTensor_scaledDotProductAttention(r, NULL, NULL, NULL, a, b, c, NULL, 0, {causal}, 0, 0))"
        return thorn, f"torch.nn.functional.scaled_dot_product_attention(a, b, c, is_causal={bool(causal)})"

    def number(low, high, shape):
        return Operand(between, (low, high), "i64", shape)

    labels = {"b": number(1, 40, "16x20"), "c": number(100, 101, "16"), "m": number(20, 21, "16")}
    return [
        *over("attention", "f32 bf16", "8x1024x64", *attention(0), **heads, tolerance=2e-2),
        *over("attention causal", "f32", "8x1024x64", *attention(1), **heads, tolerance=1e-4),
        *back("relu", "THTensor_reluGrad(r, a, b)", "threshold_backward.grad_input(a, b, 0, grad_input=r)", "f32 f64"),
        *back("leaky relu", "THTensor_leakyReluGrad(r, a, b, 0.01)", "leaky_relu_backward.grad_input(a, b, 0.01, False, grad_input=r)"),
        *back("hardtanh", "THTensor_hardtanhGrad(r, a, b, -1, 1)", "hardtanh_backward.grad_input(a, b, -1, 1, grad_input=r)"),
        *back("elu", "THTensor_eluGrad(r, a, b, 1)", "elu_backward.grad_input(a, 1, 1, 1, False, b, grad_input=r)", "f32 f64"),
        *back("softplus", "THTensor_softplusGrad(r, a, b, 1, 20)", "softplus_backward.grad_input(a, b, 1, 20, grad_input=r)"),
        *back("sigmoid", "THTensor_sigmoidGrad(r, a, b)", "sigmoid_backward.grad_input(a, b, grad_input=r)"),
        *back("tanh", "THTensor_tanhGrad(r, a, b)", "tanh_backward.grad_input(a, b, grad_input=r)"),
        *back("gelu", "THTensor_geluGrad(r, a, b)", "gelu_backward.grad_input(a, b, grad_input=r)", "f32 f64 bf16"),
        *back("silu", "THTensor_siluGrad(r, a, b)", "silu_backward.grad_input(a, b, grad_input=r)", "f32 f64 bf16"),
        *back("hardswish", "THTensor_hardswishGrad(r, a, b)", "hardswish_backward.out(a, b, out=r)"),
        *back("gelu tanh", "THTensor_geluTanhGrad(r, a, b)", "gelu_backward.grad_input(a, b, approximate='tanh', grad_input=r)"),
        *along("softmax grad", "f32", dims, *softmax, a=POSITIVE, b=NEAR_ONE, result=ANY),
        *along("log softmax grad", "f32", dims, *log_softmax, a=POSITIVE),
        *over("layer norm", "f32 bf16", "1000x1000", *norm, b=ANY.shaped("1000"), c=ANY.shaped("1000")),
        *over("layer norm grad", "f32", "1000x1000", *norm_back, c=POSITIVE.shaped("1000x1"), checked=("none",)),
        *over("rms norm", "f32 bf16", "4096x1024", *rms, b=ANY.shaped("1024")),
        *over("group norm", "f32", "8x64x56x56", *groups, b=ANY.shaped("64"), c=ANY.shaped("64")),
        *over("nll loss", "f32", "1000x1000", "THTensor_nllLoss(r, a, b, NULL, 1, -100)", "nn.nll_loss(a, b, None, 1, -100, out=r)", b=target),
        *over("cross entropy", "f32", "1000x1000", "FRESH(THTensor_crossEntropy(r, a, b, NULL, 1, -100))", "nn.cross_entropy_loss(a, b, None, 1, -100)", b=target),
        *over("huber loss", "f32", "1000x1000", "FRESH(THTensor_huberLoss(r, a, b, TH_REDUCTION_MEAN, 1))", "torch.nn.functional.huber_loss(a, b)", a=POSITIVE, b=UNIT),
        *over("kl divergence", "f32", "1000x1000", "FRESH(THTensor_klDiv(r, a, b, 0, TH_REDUCTION_SUM))", "torch.nn.functional.kl_div(a, b, reduction='sum')", a=POSITIVE, b=UNIT, tolerance=1e-4),
        *over("bce with logits", "f32", "1000x1000", "FRESH(THTensor_bceWithLogits(r, a, b, NULL, NULL, TH_REDUCTION_MEAN))", "torch.nn.functional.binary_cross_entropy_with_logits(a, b)", a=POSITIVE, b=UNIT, tolerance=1e-4),
        *over("ctc loss", "f32", "100x16x40", "FRESH(THTensor_ctcLoss(r, a, b, c, m, 0, TH_REDUCTION_SUM, 0))", "torch.nn.functional.ctc_loss(a, b, c, m, 0, 'sum')", a=UNIT, **labels, tolerance=1e-4),
        *over("embedding bag", "f32", "10000x64", "FRESH(THTensor_embeddingBag(r, a, b, NULL, TH_BAG_SUM, NULL, -1))", "torch.nn.functional.embedding_bag(b, a, mode='sum')", b=THOUSAND.of("i64").shaped("4096x16"), tolerance=1e-4),
    ]


def more_layers():
    """Activations, normalizations, cells, losses, and reductions that skip NaN. Each call makes a new result."""
    nn, mean, rows = "torch.nn.functional", "TH_REDUCTION_MEAN", "1000x1000"

    def one(name, thorn, torch, shape=rows, **given):
        return over(name, "f32", shape, f"FRESH(THTensor_{thorn})", torch, **{"tolerance": 1e-3, **given})

    def without_nan(name, thorn, call, torch, numpy=None, **given):
        return along(name, "f32", MATRIX_DIMS[1:], f"FRESH(THTensor_{thorn}(r, a, {call}))", torch, numpy, a=POSITIVE, **{"tolerance": 1e-3, **given})

    matrix = {"a": POSITIVE, "b": UNIT}
    weights = {"b": SMALL.shaped("256x256"), "c": SMALL.shaped("256x256")}
    cell = "torch.rnn_tanh_cell(a, a, b, c, None, None)"
    four, three = ({"b": SMALL.shaped(f"{gates * 256}x256"), "c": SMALL.shaped(f"{gates * 256}x256")} for gates in (4, 3))
    return [
        *one("hardsigmoid", "hardsigmoid(r, a)", f"{nn}.hardsigmoid(a)"),
        *one("selu", "selu(r, a)", "torch.selu(a)"),
        *one("celu", "celu(r, a, 1.5)", "torch.celu(a, 1.5)"),
        *one("softsign", "softsign(r, a)", f"{nn}.softsign(a)"),
        *one("log sigmoid", "logSigmoid(r, a)", f"{nn}.logsigmoid(a)"),
        *one("softshrink", "softshrink(r, a, 0.5)", f"{nn}.softshrink(a, 0.5)"),
        *one("hardshrink", "hardshrink(r, a, 0.5)", f"{nn}.hardshrink(a, 0.5)"),
        *one("glu", "glu(r, a, 1)", f"{nn}.glu(a, 1)"),
        *one("instance norm", "instanceNorm(r, a, NULL, NULL, 1e-5)", f"{nn}.instance_norm(a)", "8x64x56x56"),
        *one("response norm", "localResponseNorm(r, a, 5, 1e-4, 0.75, 1)", f"{nn}.local_response_norm(a, 5)", "8x64x56x56"),
        *one("pixel unshuffle", "pixelUnshuffle(r, a, 2)", "torch.pixel_unshuffle(a, 2)", "8x64x56x56"),
        *one("rnn cell", "rnnCell(r, NULL, a, a, b, c, NULL, NULL, 0)", cell, "32x256", **weights),
        *one("lstm cell", "lstmCell(r, NULL, NULL, a, a, a, b, c, NULL, NULL)", "torch.lstm_cell(a, (a, a), b, c, None, None)[0]", "32x256", **four),
        *one("gru cell", "gruCell(r, NULL, a, a, b, c, NULL, NULL)", "torch.gru_cell(a, a, b, c, None, None)", "32x256", **three),
        *one("bce", f"bce(r, a, b, NULL, {mean})", f"{nn}.binary_cross_entropy(a, b)", a=UNIT, b=UNIT),
        *one("poisson loss", f"poissonNllLoss(r, a, b, 1, 0, 1e-8, {mean})", f"{nn}.poisson_nll_loss(a, b)", **matrix),
        *one("gaussian loss", f"gaussianNllLoss(r, a, b, c, 0, 1e-6, {mean})", f"{nn}.gaussian_nll_loss(a, b, c)", c=POSITIVE, **matrix),
        *one("ranking loss", f"marginRankingLoss(r, a, b, c, 0.5, {mean})", f"{nn}.margin_ranking_loss(a, b, c, 0.5)", c=POSITIVE, **matrix),
        *one("triplet loss", f"tripletMarginLoss(r, a, b, c, 1, 2, 1e-6, 0, {mean})", f"{nn}.triplet_margin_loss(a, b, c)", c=ANY, **matrix),
        *one("cosine similarity", "cosineSimilarity(r, a, b, 1, 1e-8)", "torch.cosine_similarity(a, b, 1)", **matrix),
        *one("pairwise distance", "pairwiseDistance(r, a, b, 2, 1e-6, 0)", "torch.pairwise_distance(a, b)", **matrix),
        *one("pdist", "pdist(r, a, 2)", "torch.pdist(a)", "500x64"),
        *without_nan("nanmax", "nanmax", "DIM, 0", "torch.amax(a, DIM)", "np.nanmax(a, axis=DIM)"),
        *without_nan("nanvar", "nanvar", "DIM, 0, 0", "torch.var(a, DIM, correction=0)", "np.nanvar(a, axis=DIM)"),
        *without_nan("nanprod", "nanprod", "DIM, 0", "torch.prod(a, DIM)", "np.nanprod(a, axis=DIM)", checked=("none",)),
        *without_nan("nancumsum", "nancumsum", "DIM", "torch.cumsum(a, DIM)", "np.nancumsum(a, axis=DIM)"),
        *without_nan("nanargmax", "nanargmax", "DIM, 0", "torch.argmax(a, DIM)", "np.nanargmax(a, axis=DIM)", checked=("none",)),
        *over("tril indices", "i64", "1000", "FRESH(THTensor_trilIndices(r, 1000, 1000, 0))", "torch.tril_indices(1000, 1000)"),
    ]


def orders():
    kth = "THTensor_kthvalue(r, i, a, n / 2, 0, 0)", "torch.kthvalue(a, n // 2, out=(r, i))", "np.partition(a, n // 2 - 1)"
    median = "THTensor_median(r, NULL, a, TH_ALL_DIMS, 0)", "torch.median(a)", "np.median(a)"
    medians = "THTensor_median(r, i, a, DIM, 0)", "torch.median(a, DIM, out=(r, i))", "np.median(a, axis=DIM)"
    mode = "THTensor_mode(r, i, a, DIM, 0)", "torch.mode(a, DIM, out=(r, i))"
    histogram = "THTensor_histc(r, a, 100, -4, 4)", "torch.histc(a, 100, -4, 4, out=r)", "np.histogram(a, 100, (-4, 4))"
    quantile = "THTensor_quantile(r, a, 0.3, TH_ALL_DIMS, 0, 0)", "torch.quantile(a, 0.3)", "np.quantile(a, 0.3)"
    return [
        *over("median all", "f32 f64 i64", "1e6", *median),
        *along("median", "f32", MATRIX_DIMS[1:], *medians, checked=("r",)),
        *over("kthvalue", "f32 i64", "1e6", *kth, checked=("r",)),
        *along("mode", "i64", MATRIX_DIMS[2:], *mode, a=BYTES, checked=("r",)),
        *over("histc", "f32", "1e6", *histogram),
        *over("bincount", "i64", "1e6", "THTensor_bincount(r, a, NULL, 0)", "torch.bincount(a)", "np.bincount(a)", a=THOUSAND),
        *over("quantile", "f32", "1e6", *quantile),
    ]


def sorting():
    sort = "THTensor_sort(r, i, a, DIM, 0, 1)", "torch.sort(a, dim=DIM, stable=True, out=(r, i))", "np.argsort(a, axis=DIM, kind='stable')"
    values = "THTensor_msort(r, a)", "torch.msort(a)", "np.sort(a)"
    top = "THTensor_topk(r, i, a, 100, 0, 1, 1)", "torch.topk(a, 100, out=(r, i))", "np.partition(a, n - 100)"
    tops = "THTensor_topk(r, i, a, 10, 1, 1, 1)", "torch.topk(a, 10, 1, out=(r, i))"
    unique = "FRESH(THTensor_unique(r, NULL, NULL, a, TH_ALL_DIMS))", "torch.unique(a)", "np.unique(a)"
    search = "THTensor_searchsorted(r, b, a, 0, NULL)", "torch.searchsorted(b, a, out=r)", "np.searchsorted(b, a)"
    isin = "THTensor_isin(r, a, b, 0, 0)", "torch.isin(a, b)", "np.isin(a, b)"
    line = tuple(part.replace("DIM", "0") for part in sort)
    return [
        *over("sort", "f32 f64 i64 bf16", "1e6", *line),
        *over("sort", "i64", "1e6", *line, a=MILLION),
        *over("sort", "f32", "1e3 1e5", *line),
        *along("sort", "f32", MATRIX_DIMS[1:], *sort),
        *over("msort", "f32", "1e6", *values),
        *over("topk 100", "f32 i64", "1e6", *top, checked=("r",)),
        *over("topk 10 rows", "f32", MATRIX, *tops, checked=("r",)),
        *over("unique", "i64", "1e6", *unique, a=MILLION),
        *over("unique 1000", "i64", "1e6", *unique, a=THOUSAND),
        *over("searchsorted", "f32", "1e6", *search, b=ASCENDING.shaped("1e4"), a=UNIT),
        *over("isin", "i64", "1e6", *isin, a=MILLION, b=MILLION.shaped("1e3")),
    ]


def creation():
    return [
        *over("arange", "f32 i64", "1e6", "THTensor_arange(r, 0, n, 1)", "torch.arange(0, n, 1, out=r)", "np.arange(n, dtype=r.dtype)", result=ANY),
        *over("linspace", "f32", "1e6", "THTensor_linspace(r, 0, 1, n)", "torch.linspace(0, 1, n, out=r)", "np.linspace(0, 1, n)"),
        *over("eye", "f32", MATRIX, "THTensor_eye(r, 1000, 1000)", "torch.eye(1000, 1000, out=r)", "np.eye(1000, dtype=np.float32)"),
        *over("tril", "f32", MATRIX, "THTensor_tril(r, a, 0)", "torch.tril(a, 0, out=r)", "np.tril(a)"),
        *over("triu", "f32", MATRIX, "THTensor_triu(r, a, 0)", "torch.triu(a, 0, out=r)", "np.triu(a)"),
        *over("zeros", "f32", "1e6", "THTensor_zeros(r, ndim, shape)", "torch.zeros(shape, out=r)", "r.fill(0)"),
        *over("ones", "f32", "1e6", "THTensor_ones(r, ndim, shape)", "torch.ones(shape, out=r)", "r.fill(1)"),
        *over("full", "f32", "1e6", "THTensor_full(r, ndim, shape, 3)", "torch.full(shape, 3.0, out=r)", "r.fill(3)"),
        *over("add, fresh", "f32", "1e5 1e6 1e7", "FRESH(THTensor_cadd(r, a, 1, b))", "torch.add(a, b)", "np.add(a, b)"),
        *over("clone, fresh", "f32", "1e5 1e6 1e7", "MADE(THTensor_newClone(a))", "a.clone()", "a.copy()"),
        # np.zeros leaves the work to the first access of each page.
        *over("zeros, fresh", "f32", "1e5 1e6 1e7", "MADE(THTensor_newZeros(TH_FLOAT32, ndim, shape))", "torch.zeros(shape)"),
        *over(
            "ones, fresh", "f32", "1e5 1e6 1e7", "MADE(THTensor_newOnes(TH_FLOAT32, ndim, shape))", "torch.ones(shape)", "np.ones(shape, np.float32)"
        ),
    ]


def random():
    def drawn(op, dtypes, call, torch, numpy=None, **given):
        """Random numbers, which differ between the libraries. With a seed, thorn's are the same in each call."""
        shape = given.pop("shape", "1e6")
        return over(op, dtypes, shape, f"(THRandom_manualSeed(NULL, 1), {call})", torch, numpy, checked=("nothing",), **given)

    filled = {"result": ANY}
    generator = "np.random.default_rng(1)."
    return [
        *drawn("rand", "f32 f64", "THTensor_uniform(r, NULL, 0, 1)", "r.uniform_()", generator + "random(dtype=r.dtype, out=r)", **filled),
        *drawn("randn", "f32 f64", "THTensor_normal(r, NULL, 0, 1)", "r.normal_()", generator + "standard_normal(dtype=r.dtype, out=r)", **filled),
        *drawn("exponential", "f32", "THTensor_exponential(r, NULL, 1)", "r.exponential_()", generator + "standard_exponential(dtype=r.dtype, out=r)", **filled),
        *drawn("cauchy", "f32", "THTensor_cauchy(r, NULL, 0, 1)", "r.cauchy_()", **filled),
        *drawn("logNormal", "f32", "THTensor_logNormal(r, NULL, 0, 1)", "r.log_normal_(0, 1)", **filled),
        *drawn("geometric", "i64", "THTensor_geometric(r, NULL, 0.5)", "r.geometric_(0.5)", **filled),
        *drawn("bernoulli", "bool f32", "THTensor_bernoulli(r, NULL, 0.3)", "r.bernoulli_(0.3)", **filled),
        *drawn("randint", "i64 i32", "THTensor_clampedRandom(r, NULL, 0, 100)", "r.random_(0, 100)", generator + "integers(0, 100, n)", **filled),
        *drawn("randperm", "i64", "THTensor_randperm(r, NULL, n)", "torch.randperm(n, out=r)", generator + "permutation(n)", **filled),
        *drawn("poisson", "f32", "THTensor_poissonTensor(r, NULL, a)", "torch.poisson(a)", a=POSITIVE),
        *drawn("dropout", "f32", "THTensor_dropout(r, NULL, NULL, a, 0.3)", "torch.nn.functional.dropout(a, 0.3)"),
        *drawn("alpha dropout", "f32", "THTensor_alphaDropout(r, NULL, NULL, a, 0.3)", "torch.nn.functional.alpha_dropout(a, 0.3, True)"),
        *drawn("multinomial", "f32", "THTensor_multinomial(r, NULL, a, 10000, 1)", "torch.multinomial(a, 10000, True)", shape="1e3", a=POSITIVE),
        *drawn("multinomial once", "f32", "THTensor_multinomial(r, NULL, a, 1000, 0)", "torch.multinomial(a, 1000)", shape="1e5", a=POSITIVE),
    ]


def small():
    def four(op, thorn, torch, numpy, **given):
        return over(op, "f32", "4", thorn, torch, numpy, cpp=True, **given)

    def square(op, thorn, torch, numpy, **given):
        return over(op, "f32", "4x4", thorn, torch, numpy, cpp=True, **given)

    return [
        *four("add", "THTensor_cadd(r, a, 1, b)", "at::add_out(r, a, b)", "np.add(a, b, out=r)"),
        *four("add, fresh", "FRESH(THTensor_cadd(r, a, 1, b))", "at::add(a, b)", "np.add(a, b)"),
        *four("add value", "THTensor_add(r, a, 3)", "at::add_out(r, a, at::scalar_tensor(3))", "np.add(a, 3, out=r)"),
        *four("mul", "THTensor_cmul(r, a, b)", "at::mul_out(r, a, b)", "np.multiply(a, b, out=r)"),
        *four("exp", "THTensor_exp(r, a)", "at::exp_out(r, a)", "np.exp(a, out=r)"),
        *four("lt", "THTensor_ltTensor(r, a, b)", "at::lt_out(r, a, b)", "np.less(a, b, out=r)"),
        *four("sum", "THTensor_sum(r, a, TH_ALL_DIMS, 0)", "at::sum_out(r, a, at::IntArrayRef(), false)", "np.sum(a, out=r)"),
        *four("sum as number", "NUMBER(THTensor_sumall(a))", "at::sum(a).item<float>()", "np.sum(a)", tolerance=1e-6),
        *four("copy", "THTensor_copy(r, a)", "r.copy_(a)", "np.copyto(r, a)", result=ANY),
        *four("fill", "THTensor_fill(r, 3)", "r.fill_(3)", "r.fill(3)", result=ANY),
        *four("clone", "MADE(THTensor_newClone(a))", "a.clone()", "a.copy()"),
        *four("empty, fresh", "MADE(THTensor_newWithSizes(TH_FLOAT32, ndim, shape))", "at::empty({4})", "np.empty(4, np.float32)", checked=("none",)),
        *four("zeros, fresh", "MADE(THTensor_newZeros(TH_FLOAT32, ndim, shape))", "at::zeros({4})", "np.zeros(4, np.float32)"),
        *four("narrow", "MADE(THTensor_newNarrow(a, 0, 1, 2))", "a.narrow(0, 1, 2)", "a[1:3]"),
        *four("select", "MADE(THTensor_newSelect(a, 0, 1))", "a.select(0, 1)", "a[1]"),
        *four("view", "MADE(THTensor_newView(a, 2, (int64_t[]){2, 2}))", "a.view({2, 2})", "a.reshape(2, 2)"),
        *four("copy i32", "THTensor_copy(r, a)", "r.copy_(a)", "np.copyto(r, a)", a=ANY.of("i32"), result=ANY),
        *square("add row", "THTensor_cadd(r, a, 1, b)", "at::add_out(r, a, b)", "np.add(a, b, out=r)", b=ANY.shaped("4")),
        *square("add transposed", "THTensor_cadd(r, a, 1, b)", "at::add_out(r, a, b)", "np.add(a, b, out=r)", a=ANY.transposed()),
        *square("add i32", "THTensor_cadd(r, a, 1, b)", "at::add_out(r, a, b)", "np.add(a, b, dtype=np.float32, out=r)", b=ANY.of("i32")),
        *square("copy transposed", "THTensor_copy(r, a)", "r.copy_(a)", "np.copyto(r, a)", a=ANY.transposed(), result=ANY),
        *square("sum dim 0", "THTensor_sum(r, a, 0, 0)", "at::sum_out(r, a, {0}, false)", "np.sum(a, 0, out=r)"),
        *square("max dim 1", "THTensor_amax(r, a, 1, 0)", "at::amax_out(r, a, {1}, false)", "np.max(a, 1, out=r)"),
        *square("cumsum dim 0", "THTensor_cumsum(r, a, 0)", "at::cumsum_out(r, a, 0)", "np.cumsum(a, 0, out=r)"),
        *square("mm", "THTensor_mm(r, a, b)", "at::mm_out(r, a, b)", "np.matmul(a, b, out=r)", tolerance=1e-5),
    ]


def moving():
    """Elements by index, joined and rearranged. In some rows `b` is an index tensor."""
    rows = THOUSAND.of("i64").shaped("1000")
    each = THOUSAND.of("i64")
    select = "THTensor_indexSelect(r, a, {0}, b)", "torch.index_select(a, {0}, b, out=r)", "np.take(a, b, {0}, out=r)"
    gather = "THTensor_gather(r, a, {0}, b)", "torch.gather(a, {0}, b, out=r)"
    return [
        *over("masked select", "f32 f64 u8", "1e6", "FRESH(THTensor_maskedSelect(r, a, m))", "torch.masked_select(a, m)", "a[m]", m=MASK),
        *over("nonzero", "bool f32", "1e6", "FRESH(THTensor_nonzero(r, a))", "torch.nonzero(a)", None, a=MASK),
        *over("take", "f32 f64", "1e6", "THTensor_take(r, a, b)", "torch.take(a, b, out=r)", "np.take(a, b, out=r)", b=MILLION.of("i64")),
        *over("select rows", "f32 f64", "1000x1000", *(code.format(0) for code in select), b=rows),
        *over("select columns", "f32 f64", "1000x1000", *(code.format(1) for code in select), b=rows),
        *over("gather dim 0", "f32", "1000x1000", *(code.format(0) for code in gather), b=each),
        *over("gather dim 1", "f32", "1000x1000", *(code.format(1) for code in gather), b=each),
        *over("cat dim 0", "f32", "1000x1000", "FRESH(THTensor_cat(r, a, b, 0))", "torch.cat([a, b], 0)", "np.concatenate([a, b], 0)"),
        *over("cat dim 1", "f32", "1000x1000", "FRESH(THTensor_cat(r, a, b, 1))", "torch.cat([a, b], 1)", "np.concatenate([a, b], 1)"),
        *over(
            "stack last dim", "f32", "1000x1000",
            "FRESH(THTensor_stack(r, (THTensor *const[]){a, b}, 2, -1))", "torch.stack([a, b], -1)", "np.stack([a, b], -1)",
        ),
        *over("scatter add", "f32", "1000x1000", "THTensor_scatterAdd(r, 1, b, a)", "r.scatter_add_(1, b, a)", r=ANY, b=each, checked=("nothing",)),
        *over("index add", "f32", "1000x1000", "THTensor_indexAdd(r, 0, b, a)", "r.index_add_(0, b, a)", r=ANY, b=rows, checked=("nothing",)),
        *over("flip dim 1", "f32", "1000x1000", "FRESH(THTensor_flip(r, a, 1, (int64_t[]){1}))", "torch.flip(a, [1])", "np.flip(a, 1).copy()"),
        *over("repeat", "f32", "1000x1000", "FRESH(THTensor_repeat(r, a, 2, (int64_t[]){2, 2}))", "a.repeat(2, 2)", "np.tile(a, (2, 2))"),
        *over("diff", "f32", "1000x1000", "FRESH(THTensor_diff(r, a, 1, 1))", "torch.diff(a, 1, 1)", "np.diff(a, 1, 1)"),
    ]


def products():
    """Matrix products: squares in four forms, other shapes, vectors, and batches."""
    mm = "THTensor_mm(r, a, b)", "torch.mm(a, b, out=r)", "np.matmul(a, b, out=r)"

    # Positive, so that the sums are not smaller than their terms.
    positive = {"a": UNIT, "b": UNIT}

    def square(n, dtypes):
        return over("mm", dtypes, f"{n}x{n}", *mm, flops=2 * n**3, tolerance=2e-2 if "16" in dtypes else 1e-4, **positive)

    def transposed(name, **given):
        return [row for n in (64, 512) for row in over(f"mm {name}", "f32 f64", f"{n}x{n}", *mm, flops=2 * n**3, tolerance=1e-4, **{**positive, **given})]

    def batch(count, n):
        call = "THTensor_bmm(r, a, b)", "torch.bmm(a, b, out=r)", "np.matmul(a, b, out=r)"
        return over("bmm", "f32 f64", f"{count}x{n}x{n}", *call, flops=2 * count * n**3, tolerance=1e-4, **positive)

    t = UNIT.transposed()
    tall = "THTensor_mm(r, a, b)", "torch.mm(a, b)", "np.matmul(a, b)"
    return [
        *(row for n in (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048) for row in square(n, "f32 f64")),
        *transposed("NT", b=t),
        *transposed("TN", a=t),
        *transposed("TT", a=t, b=t),
        *(row for n in (256, 1024) for row in square(n, "f16 bf16")),
        *square(256, "i32 i64"),
        *over("mm tall", "f64 f32", "10000x64", *(f"FRESH({tall[0]})", *tall[1:]), flops=2 * 10000 * 64 * 64, tolerance=1e-4, a=UNIT, b=UNIT.shaped("64x64")),
        *over("mv", "f32 f64", "1000x1000", "THTensor_mv(r, a, b)", "torch.mv(a, b, out=r)", "np.matmul(a, b, out=r)", a=UNIT, b=UNIT.shaped("1000"), tolerance=1e-3),
        *over("dot", "f32 f64", "1e6", "FRESH(THTensor_dot(r, a, b))", "torch.dot(a, b)", "np.dot(a, b)", tolerance=1e-3, **positive),
        *over("outer", "f32 f64", "1000", "FRESH(THTensor_outer(r, a, b))", "torch.outer(a, b)", "np.outer(a, b)"),
        *batch(64, 64),
        *batch(1000, 8),
        *over("matmul linear", "f32", "32x100x256", "FRESH(THTensor_matmul(r, a, b))", "torch.matmul(a, b)", "np.matmul(a, b)", a=UNIT, b=UNIT.shaped("256x256"),
              flops=2 * 3200 * 256 * 256, tolerance=1e-3),
        *over("cdist", "f32", "500x64", "FRESH(THTensor_cdist(r, a, b, 2))", "torch.cdist(a, b)", None, tolerance=1e-2),
        *over("cdist p 1", "f32", "500x64", "FRESH(THTensor_cdist(r, a, b, 1))", "torch.cdist(a, b, 1)", None, tolerance=1e-3),
    ]


def windows():
    """Images; `b` are weights."""
    one, two = "(int64_t[]){1}", "(int64_t[]){2}"

    def conv(op, dtypes, shape, weight, thorn, torch, places, **given):
        """`places` is the number of elements of one channel of the result."""
        flops = 2 * places * sizes(shape)[0] * prod(sizes(weight))
        return over(op, dtypes, shape, f"FRESH({thorn})", torch, a=UNIT, b=UNIT.shaped(weight), tolerance=1e-4, flops=flops, **given)

    images, channels = "8x64x56x56", "64x64x3x3"
    plain = f"THTensor_conv2d(r, a, b, NULL, 1, NULL, {one}, NULL, 1)", "torch.conv2d(a, b, None, 1, 1)"
    to_input = f"THTensor_convolutionGradInput(r, a, b, a, 1, NULL, {one}, NULL, 0, NULL, 1)", "torch.nn.grad.conv2d_input(a.shape, b, a, 1, 1)"
    to_weight = f"THTensor_convolutionGradWeight(r, a, a, b, 1, NULL, {one}, NULL, 0, NULL, 1)", "torch.nn.grad.conv2d_weight(a, b.shape, a, 1, 1)"
    first = f"THTensor_conv2d(r, a, b, NULL, 1, {two}, (int64_t[]){{3}}, NULL, 1)", "torch.conv2d(a, b, None, 2, 3)"
    wider = f"THTensor_convTranspose2d(r, a, b, NULL, 1, {two}, {one}, NULL, 1, NULL)", "torch.conv_transpose2d(a, b, None, 2, 1)"
    narrow = "THTensor_conv2d(r, a, b, NULL, 0, NULL, NULL, NULL, 1)", "torch.conv2d(a, b)"
    apart = f"THTensor_conv2d(r, a, b, NULL, 1, NULL, {one}, NULL, 64)", "torch.conv2d(a, b, None, 1, 1, 1, 64)"
    line = f"THTensor_conv1d(r, a, b, NULL, 1, NULL, {one}, NULL, 1)", "torch.conv1d(a, b, None, 1, 1)"
    pool = "FRESH(THTensor_maxPool2d(r, NULL, a, 1, {}, {}, {}, NULL, 0))"
    return [
        *conv("conv2d 3x3", "f32 f64", images, channels, *plain, 56 * 56),
        *conv("conv2d 3x3 to input", "f32", images, channels, *to_input, 56 * 56),
        *conv("conv2d 3x3 to weight", "f32", images, channels, *to_weight, 56 * 56),
        *conv("conv2d 7x7 by 2", "f32", "4x3x224x224", "64x3x7x7", *first, 112 * 112),
        *conv("conv2d 1x1", "f32", "8x256x28x28", "64x256x1x1", *narrow, 28 * 28),
        *conv("conv2d deep", "f32", "1x512x7x7", "512x512x3x3", *plain, 7 * 7),
        *conv("conv2d depthwise", "f32", images, "64x1x3x3", *apart, 56 * 56),
        *conv("transposed 4x4 by 2", "f32", "4x64x28x28", "64x64x4x4", *wider, 28 * 28),
        *conv("conv1d 3", "f32", "16x64x1000", "64x64x3", *line, 1000),
        *over("max pool 2x2", "f32 f64", images, pool.format(two, "NULL", "NULL"), "torch.max_pool2d(a, 2)"),
        *over("max pool 3x3 by 2", "f32", images, pool.format("(int64_t[]){3}", two, one), "torch.max_pool2d(a, 3, 2, 1)"),
        *over("avg pool 2x2", "f32", images, f"FRESH(THTensor_avgPool2d(r, a, 1, {two}, NULL, NULL, 0, 1, 0))", "nn.avg_pool2d(a, 2)"),
        *over("avg pool to 1x1", "f32", images, f"FRESH(THTensor_adaptiveAvgPool2d(r, a, 1, {one}))", "nn.adaptive_avg_pool2d(a, 1)", tolerance=1e-4),
        *interpolated(),
        *small_net(conv, plain, pool.replace("NULL, a", "i, a").format(two, "NULL", "NULL")),
    ]


def interpolated():
    """A picture with three channels, with twice as many pixels in both dimensions, with half as many, and sampled at random places."""
    size = "(int64_t[]){%d, %d}"
    resize = "FRESH(THTensor_interpolate(r, a, 2, %s, %s, 0, %d))"
    torch = 'torch.nn.functional.interpolate(a, size=(%d, %d), mode="%s", antialias=%s)'
    modes = {"bilinear": "TH_RESAMPLE_LINEAR", "bicubic": "TH_RESAMPLE_CUBIC"}
    made = []
    for name, mode in modes.items():
        for to in (1024, 256):
            smooth = to < 512
            call, peer = resize % (size % (to, to), mode, smooth), torch % (to, to, name, smooth)
            made += over(f"{name} 512 to {to}", "f32", "1x3x512x512", call, peer, tolerance=1e-3)
            # PyTorch rounds the bytes between the dimensions, and limits them to 0 and 255.
            made += over(f"{name} 512 to {to}", "u8", "1x3x512x512", call, peer, tolerance=48)
    places = {"a": POSITIVE, "b": UNIT.shaped("1x512x512x2"), "tolerance": 1e-3}
    for name, mode, number in (("", "LINEAR", 0), (" nearest", "NEAREST", 1), (" cubic", "CUBIC", 2)):
        sample = f"FRESH(THTensor_gridSample(r, a, b, TH_RESAMPLE_{mode}, TH_PAD_CONSTANT, 0))", f"torch.grid_sampler(a, b, {number}, 0, False)"
        # PyTorch rounds places to float32, which changes the nearest pixel and cancelling sums of a few.
        made += over(f"grid sample{name}", "f32", "1x3x512x512", *sample, **places | {"tolerance": 1e-2}, checked=("none",) if number else ())
    back = "FRESH(THTensor_gridSampleGrad(%s, c, a, b, TH_RESAMPLE_LINEAR, TH_PAD_CONSTANT, 0))"
    torch_back = "torch.ops.aten.grid_sampler_2d_backward(c, a, b, 0, 0, False, [%s])[%d]"
    return [
        *made,
        *over("grid sample to image", "f32", "1x3x512x512", back % "r, NULL", torch_back % ("True, False", 0), c=POSITIVE, **places),
        *over("grid sample to grid", "f32", "1x3x512x512", back % "NULL, r", torch_back % ("False, True", 1), c=UNIT, checked=("none",), **places),
        *over("affine grid", "f32", "8x2x3", "FRESH(THTensor_affineGrid(r, a, 2, (int64_t[]){256, 256}, 0))", "torch.nn.functional.affine_grid(a, (8, 1, 256, 256), False)", tolerance=1e-3),
        *over("channel shuffle", "f32", "8x64x56x56", "FRESH(THTensor_channelShuffle(r, a, 4))", "torch.nn.functional.channel_shuffle(a, 4)"),
        *over("pixel shuffle", "f32", "8x64x56x56", "FRESH(THTensor_pixelShuffle(r, a, 2))", "torch.pixel_shuffle(a, 2)"),
    ]


def small_net(conv, plain, pool):
    """The operations of a net with two convolutions on pictures of 8 x 8, forward and the gradients of the second one, and a training
    step."""
    one, rest = "(int64_t[]){1}", "1, NULL, (int64_t[]){1}, NULL, 0, NULL, 1"
    grad, unit = "50x32x4x4", {"a": UNIT, "b": UNIT.shaped("32x16x3x3")}
    unpool = "torch.ops.aten.max_pool2d_with_indices_backward(c, a, 2, 2, 0, 1, False, i)"
    gradients = {"c": UNIT.shaped(grad), "tolerance": 1e-4, "flops": 2 * 16 * 50 * 32 * 16 * 9}
    return [
        *conv("net conv 1", "f32", "50x1x8x8", "16x1x3x3", *plain, 8 * 8),
        *conv("net conv 2", "f32", "50x16x4x4", "32x16x3x3", *plain, 4 * 4),
        *over("net to input", "f32", "50x16x4x4", f"FRESH(THTensor_convolutionGradInput(r, c, b, a, {rest}))", "torch.nn.grad.conv2d_input(a.shape, b, c, 1, 1)", **unit, **gradients),
        *over("net to weight", "f32", "50x16x4x4", f"FRESH(THTensor_convolutionGradWeight(r, c, a, b, {rest}))", "torch.nn.grad.conv2d_weight(a, b.shape, c, 1, 1)", **unit, **gradients),
        *over("net pool", "f32", "50x16x8x8", pool, "torch.nn.functional.max_pool2d(a, 2, return_indices=True)[0]"),
        *over("net pool to input", "f32", "50x16x8x8", "FRESH(THTensor_maxPoolGradInput(r, c, i, a, 2))", unpool, c=UNIT.shaped("50x16x4x4"), i=WINDOWS),
        *over("net training step", "f32", "50x1x8x8", "netStep(r, a, b)", "net.step(r, a, b)", r=SMALL.shaped(f"{sum(net.COUNTS)}"), b=CLASSES, flops=net.FLOPS),
    ]


def gradients():
    """Whole training steps, steps of Adam with 1000 parameters, and a graph of 10,000 operations on a scalar."""
    def step(op, shape, thorn, torch, weights):
        batch = CLASSES.shaped(shape.split("x")[0])
        return over(op, "f32", shape, f"{thorn}(r, a, b)", f"{torch}(r, a, b)", r=SMALL.shaped(f"{weights}"), b=batch, one_thread=True, tolerance=1e-3)

    return [
        *step("mlp step", "1x64", "gradMlp", "grad.mlp", grad.MLP_COUNT),
        *step("mlp step", "32x64", "gradMlp", "grad.mlp", grad.MLP_COUNT),
        *step("conv net step", "64x1x8x8", "gradNet", "net.step", sum(net.COUNTS)),
        *over("adam step", "f32", "1000x1000", "gradAdam(r, a)", "grad.adam(r, a)", r=SMALL, one_thread=True),
        *over("adam step, fused", "f32", "1000x1000", "gradAdam(r, a)", "grad.adam(r, a, True)", r=SMALL, one_thread=True),
        *over("chain of scalars", "f64", "1", "gradChain(r, a)", "grad.chain(r, a)", a=NEAR_ONE, r=NEAR_ONE, one_thread=True),
    ]


def sparse_products():
    """Matrices of a million rows with random positions: multiplied by a vector and by 32 columns, and made from coordinates."""
    rows, entries = 1_000_000, 10_000_000
    pattern = {"c": Operand(starts, (entries,), "i32", f"{rows + 1}"), "m": MILLION.of("i32").shaped(f"{entries}"), "b": ANY.shaped(f"{entries}")}
    product = "THTensor_csrMatmul(r, c, m, b, a)", f"sparse.rows_torch(c, m, b, {rows}) @ a", f"sparse.rows_scipy(c, m, b, {rows}) @ a"
    places = {"i": MILLION.of("i64").shaped(f"2x{entries}"), "tolerance": 1e-4}
    form = "MADE(sparseForm(i, a, {}, THSTensor_new{}))"
    return [
        *over("csr x vector", "f32 f64", f"{rows}", *product, tolerance=1e-4, **pattern),
        *over("csr x 32 columns", "f32 f64", f"{rows}x32", *product, tolerance=1e-4, **pattern),
        *over("coalesce", "f32", f"{entries}", form.format(rows, "Coalesce"), f"sparse.coordinates_torch(i, a, {rows}).coalesce().values()", f"sparse.coalesced_scipy(i, a, {rows})", **places),
        *over("coo to csr", "f32", f"{entries}", form.format(rows, "Compressed"), f"sparse.coordinates_torch(i, a, {rows}).to_sparse_csr().values()", f"sparse.compressed_scipy(i, a, {rows})", **places),
    ]


def fourier():
    complex_ = "torch.view_as_real(torch.fft.{}(torch.view_as_complex(a){}))"
    return [
        *over("fft", "f32 f64", "1048576x2 4096x256x2", "FRESH(THTensor_fft(r, a, 1, 1))", complex_.format("fft", ", norm='ortho'"), tolerance=1e-3),
        *over("fft of two", "f32", "1024x1024x2", "FRESH(THTensor_fft(r, a, 2, 1))", complex_.format("fft2", ", norm='ortho'"), tolerance=1e-3),
        *over("rfft", "f32", "1048576", "FRESH(THTensor_rfft(r, a, 1, 1, 1))", "torch.view_as_real(torch.fft.rfft(a, norm='ortho'))", tolerance=1e-3),
    ]


def linear_algebra():
    """Decompositions and solvers. Factors whose signs are arbitrary are not compared."""
    sizes = "f64 f32", "32x32 256x256 1024x1024 1000x8x8 1000x32x32"
    given = {"tolerance": 0.05}
    return [
        *over("lu", *sizes, "THTensor_btrifact(r, i, NULL, 1, a)", "torch.linalg.lu_factor(a, out=(r, i))", checked=("i",), **given),
        *over("solve", *sizes, "THTensor_gesv(r, NULL, a, b)", "torch.linalg.solve(b, a, out=r)", "np.linalg.solve(b, a)", b=ANY.positive_definite(), **given),
        *over("inverse", *sizes, "THTensor_getri(r, a)", "torch.linalg.inv(a, out=r)", "np.linalg.inv(a)", a=ANY.positive_definite(), **given),
        *over("det", *sizes, "THTensor_slogdet(r, i, a)", "torch.linalg.slogdet(a, out=(r, i))", "np.linalg.slogdet(a)", a=ANY.positive_definite(), **given),
        *over("cholesky", *sizes, "THTensor_potrf(r, a, 0)", "torch.linalg.cholesky(a, out=r)", "np.linalg.cholesky(a)", a=ANY.positive_definite(), **given),
        *over("qr", *sizes, "THTensor_qr(r, i, a, 1)", "torch.linalg.qr(a, out=(r, i))", "np.linalg.qr(a)", checked=("none",)),
        *over("lstsq", *sizes, "THTensor_gels(r, NULL, b, a)", "torch.linalg.lstsq(a, b, driver='gels').solution", a=ANY.positive_definite(), **given),
        *over("symeig", *sizes, "THTensor_syev(r, i, a, 0)", "torch.linalg.eigh(a, out=(r, i))", "np.linalg.eigh(a)", a=ANY.positive_definite(), checked=("r",), **given),
        *over("svd", *sizes, "THTensor_gesvd(r, i, m, a, 1)", "torch.linalg.svd(a, full_matrices=False, out=(r, i, m))", "np.linalg.svd(a)", a=ANY.positive_definite(), checked=("i",), **given),
        *over("eigenvalues", *sizes, "THTensor_geev(r, NULL, a)", "torch.view_as_real(torch.linalg.eigvals(a))", "np.linalg.eigvals(a)", checked=("none",)),
    ]


def files():
    at = on_disk.folder()
    shape, table = "x".join(map(str, on_disk.SHAPE)), "x".join(map(str, on_disk.TABLE))

    def load(op, name, torch, numpy, dtype="f32", shape=shape, one_thread=True):
        return over(op, dtype, shape, f'MADE(THTensor_newLoad("{at}/{name}"))', torch, numpy, one_thread=one_thread)

    def first(op, name, torch):
        open_it = f'THArchive *archive = THArchive_open("{at}/{name}"); THTensor *first = THArchive_newTensor(archive, 0)'
        return over(op, "f32", shape, f"MADE(({{ {open_it}; THArchive_free(archive); first; }}))", torch, one_thread=True)

    def save(op, ending, torch, numpy=None):
        return over(op, "f32", shape, f'NUMBER(THTensor_save(a, "{at}/saved.{ending}"))', torch, numpy, one_thread=True)

    return [
        *first("first of 1 GB .pt", "large.pt", "files.first_of_checkpoint()"),
        *first("first of 1 GB .safetensors", "large.safetensors", "files.first_of_safetensors()"),
        *load("load .pt", "a.pt", f'torch.load("{at}/a.pt")', None),
        *load("load .t7", "a.t7", f'torch.load("{at}/a.pt")', None),
        *load("load .npy", "a.npy", f'torch.from_numpy(np.load("{at}/a.npy"))', f'np.load("{at}/a.npy")'),
        *load("load .npz", "a.npz", f'torch.from_numpy(np.load("{at}/a.npz")["a"])', f'np.load("{at}/a.npz")["a"]'),
        *load("load deflated .npz", "rounded.npz", f'torch.from_numpy(np.load("{at}/rounded.npz")["a"])', f'np.load("{at}/rounded.npz")["a"]'),
        *load("load .csv", "a.csv", "torch.from_numpy(files.table())", f'np.loadtxt("{at}/a.csv", delimiter=",")', "f64", table, one_thread=False),
        *save("save .pt", "pt", f'files.synced(lambda file: torch.save(a, file), "{at}/torch.pt")'),
        *save("save .npy", "npy", f'files.synced(np.save, "{at}/torch.npy", a.numpy())', f'files.synced(np.save, "{at}/numpy.npy", a)'),
    ]


def large():
    """Sizes that use a whole GPU."""
    n = "1e8"
    unary = [(name, f"THTensor_{name}(r, a)", f"torch.{name}(a, out=r)") for name in ("exp", "tanh", "sqrt")]
    return [
        *over("add", "f32 f16 bf16", n, "THTensor_cadd(r, a, 1, b)", "torch.add(a, b, out=r)"),
        *over("copy", "f32 u8", n, "THTensor_copy(r, a)", "r.copy_(a)", result=ANY),
        *over("fill", "f32", n, "THTensor_fill(r, 3)", "r.fill_(3)", result=ANY),
        *over("f32 to f16", "f32", n, "THTensor_copy(r, a)", "r.copy_(a)", result=ANY.of("f16")),
        *(row for name, thorn, torch in unary for row in over(name, "f32", n, thorn, torch, a=POSITIVE)),
        *over("sum", "f32", n, "THTensor_sum(r, a, 0, 0)", "torch.sum(a, 0, out=r)", tolerance=1e-3),
        *over("sum of rows", "f32", "10000x10000", "THTensor_sum(r, a, 1, 0)", "torch.sum(a, 1, out=r)", tolerance=1e-3),
        *over("sum of columns", "f32", "10000x10000", "THTensor_sum(r, a, 0, 0)", "torch.sum(a, 0, out=r)", tolerance=1e-3),
        *over("softmax", "f32", "100000x1000", "THTensor_softmax(r, a, 1)", "torch.softmax(a, 1, out=r)"),
        *over("cumsum", "f32", n, "THTensor_cumsum(r, a, 0)", "torch.cumsum(a, 0, out=r)", tolerance=1e-2, a=UNIT),
        *over("transpose", "f32", "10000x10000", "THTensor_copy(r, a)", "r.copy_(a)", a=ANY.transposed(), result=ANY),
        *over("sort", "f32", "1e7", "THTensor_sort(r, i, a, 0, 0, 1)", "torch.sort(a, dim=0, stable=True, out=(r, i))"),
        *over("topk", "f32", "1e7", "THTensor_topk(r, i, a, 100, 0, 1, 1)", "torch.topk(a, 100, 0, out=(r, i))", checked=("r",)),
        *over("mm", "f32 f16 bf16", "4096x4096", "THTensor_mm(r, a, b)", "torch.mm(a, b, out=r)", flops=2 * 4096**3, tolerance=1e-2),
    ]


def recurrent():
    """Layers of 256 units over 100 steps of one sequence and of 32, forward, and the gradients of their weights."""

    def layer(op, letter, gates, call):
        weights = {"b": SMALL.shaped(f"{gates * 256}x256"), "c": SMALL.shaped(f"{gates * 256}x256"), "tolerance": 0.1}
        shapes, count = "100x1x256 100x32x256", 2 * gates * 256 * 256
        back = f"gradRecurrent('{letter}', r, a, b, c)", f"grad.recurrent(grad.{op}, r, a, b, c)"
        return [
            *over(op, "f32", shapes, f"FRESH({call})", f"grad.{op}(a, (b, c))", **weights),
            *over(f"{op} grad", "f32", shapes, *back, result=ANY.shaped(str(count)), **weights),
        ]

    weights = "(THTensor *[]){b, c}"
    return [
        *layer("lstm", "l", 4, f"THTensor_lstm(r, NULL, NULL, NULL, a, NULL, NULL, {weights}, 2, NULL, 1, 0, 0)"),
        *layer("gru", "g", 3, f"THTensor_gru(r, NULL, NULL, a, NULL, {weights}, 2, NULL, 1, 0, 0)"),
    ]


GROUPS = {
    "pointwise": [arithmetic, functions, of_two, comparisons, conversions],
    "reduce": [reductions, scans, orders],
    "layers": [layers, more_layers],
    "sort": [sorting],
    "create": [creation],
    "move": [moving],
    "product": [products],
    "conv": [windows, fourier],
    "grad": [gradients, recurrent],
    "sparse": [sparse_products],
    "linalg": [linear_algebra],
    "random": [random],
    "small": [small],
    "files": [files],
}


# For a GPU.
GPU_GROUPS = {"large": [large], **{name: sections for name, sections in GROUPS.items() if name not in ("small", "files", "grad", "sparse")}}


def rows_of(group):
    rows = [row for section in {**GROUPS, **GPU_GROUPS}[group] for row in section()]
    for row in rows:
        row.group = group
    return rows
