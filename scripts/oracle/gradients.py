"""Gradients: calls of functions, each with the gradients of its operands for a gradient of the result whose elements are 1."""

import mpmath

from .elementwise import SELU_ALPHA, SELU_SCALE
from .operands import *
from .writing import argument_text, lines, named, result_text

mpmath.mp.prec = 200
EPSILON = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23, "float64": 2**-52}
PI, ROOT_PI = mpmath.pi, mpmath.sqrt(mpmath.pi)
log, exp, sqrt = mpmath.log, mpmath.exp, mpmath.sqrt


def expect(function, arguments, *gradients, ulps=4, least=0, given=None):
    """One call. `least` is the absolute tolerance. It is at least the smallest normal number, because smaller gradients may become 0.
    `given` is the gradient of the result, if its elements are not 1."""
    least = max(least, *(ENDS[dtype_name(g)][1] for g in gradients), 0)
    operands = [x for x in [*arguments, given] if isinstance(x, Operand)]
    lines.extend(x.line for x in operands if x.line not in lines)
    options = "gradients" + (" given" if given else "") + f" ulps={ulps} abs={least:.17g}"
    words = [*arguments, *([given] if given else [])]
    parts = [f"call {function} " + " ".join(map(argument_text, words)), options, *(result_text(g, 1) for g in gradients)]
    lines.append(" | ".join(parts))


def by_torch(f, *operands, given=None):
    """The gradients that PyTorch computes in float64, in the dtypes of the operands."""
    leaves = [t.double().clone().requires_grad_() for t in operands]
    r = f(*leaves)
    r.backward(torch.ones_like(r) if given is None else given.double())
    return [torch.zeros_like(t) if leaf.grad is None else leaf.grad.to(t.dtype) for leaf, t in zip(leaves, operands)]


def number(y):
    """Converts an mpmath number to float64. A complex number becomes NaN."""
    y = mpmath.mpmathify(y)
    if y.imag != 0:
        return NAN
    try:
        return float(y.real)
    except OverflowError:
        return math.copysign(INF, y.real)


def exactly(derivatives, f, *operands, zeros=False):
    """Derivatives by mpmath, rounded once. At infinities, NaN, poles, and at 0 without `zeros`, PyTorch's derivatives."""
    dtype = operands[0].dtype
    gradients = by_torch(f, *operands)
    for derivative, gradient in zip(derivatives, gradients):
        flat = gradient.view(-1)
        for k, point in enumerate(zip(*(t.flatten().double().tolist() for t in operands))):
            if all((x != 0 or zeros) and math.isfinite(x) for x in point):
                try:
                    flat[k] = torch.tensor(number(derivative(*map(mpmath.mpf, point))), dtype=torch.float64).to(dtype)
                except (ArithmeticError, ValueError):
                    pass
    return gradients


def gelu_tanh(x):
    return x / (1 + exp(-2 * sqrt(2 / PI) * (x + mpmath.mpf("0.044715") * x**3)))


def sinc_slope(x):
    return mpmath.cospi(x) / x - mpmath.sinpi(x) / (PI * x**2) if abs(x) > 1e-15 else -(PI**2) * x / 3


def logistic(x):
    return 1 / (1 + exp(-x)) if x > -1e6 else mpmath.mpf(0)


def normal(x):
    return exp(-x * x / 2) / sqrt(2 * PI) if abs(x) < 1e6 else mpmath.mpf(0)


def wide_exp(x):
    return exp(x) if abs(x) < 1e6 else (mpmath.inf if x > 0 else mpmath.mpf(0))


def mish_slope(x):
    if abs(x) > 1e6:
        return mpmath.mpf(x > 0)
    y = mpmath.tanh(mpmath.log1p(exp(x)))
    return y + x * logistic(x) * (1 - y**2)


def sech_squared(x):
    return mpmath.sech(x) ** 2 if abs(x) < 1e6 else mpmath.mpf(0)


def digamma(x):
    """Uses reflection for negative numbers, because mpmath's recurrence takes as many steps as the number's magnitude."""
    if x > 0:
        return mpmath.digamma(x) if x < 1e6 else log(x) - 1 / (2 * x) - 1 / (12 * x**2)
    if x == mpmath.floor(x):
        raise ValueError("a pole")
    return digamma(1 - x) - PI * mpmath.cospi(x) / mpmath.sinpi(x)


def trigamma(x):
    if x > 0:
        return mpmath.polygamma(1, x) if x < 1e6 else 1 / x + 1 / (2 * x**2) + 1 / (6 * x**3)
    if x == mpmath.floor(x):
        raise ValueError("a pole")
    return (PI / mpmath.sinpi(x)) ** 2 - trigamma(1 - x)


# The function, its derivative, and the absolute tolerance in units of the dtype's epsilon. The tolerance is not 0 if the derivative is a
# difference of 1 and the result, because the result is rounded.
UNARY = [
    ("rsqrt", lambda x: -1 / (2 * x * sqrt(x)), 0), ("sqrt", lambda x: 1 / (2 * sqrt(x)), 0), ("cinv", lambda x: -1 / x**2, 0),
    ("exp", wide_exp, 0), ("exp2", lambda x: log(2) * wide_exp(x * log(2)), 0), ("expm1", wide_exp, 2),
    ("log", lambda x: 1 / x, 0), ("log1p", lambda x: 1 / (1 + x), 0), ("log2", lambda x: 1 / (x * log(2)), 0),
    ("log10", lambda x: 1 / (x * log(10)), 0),
    ("sin", mpmath.cos, 0), ("cos", lambda x: -mpmath.sin(x), 0), ("tan", lambda x: mpmath.sec(x) ** 2, 0),
    ("asin", lambda x: 1 / sqrt(1 - x**2), 0), ("acos", lambda x: -1 / sqrt(1 - x**2), 0), ("atan", lambda x: 1 / (1 + x**2), 0),
    ("sinh", lambda x: (wide_exp(x) + wide_exp(-x)) / 2, 0), ("cosh", lambda x: (wide_exp(x) - wide_exp(-x)) / 2, 0),
    ("tanh", sech_squared, 2), ("sigmoid", lambda x: logistic(x) * logistic(-x), 2),
    ("asinh", lambda x: 1 / sqrt(1 + x**2), 0), ("acosh", lambda x: 1 / sqrt((x - 1) * (x + 1)) if x >= 1 else mpmath.nan, 0),
    ("atanh", lambda x: 1 / (1 - x**2), 0), ("sinc", sinc_slope, 2),
    ("erf", lambda x: 2 / ROOT_PI * wide_exp(-x * x), 0), ("erfc", lambda x: -2 / ROOT_PI * wide_exp(-x * x), 0),
    ("erfinv", lambda x: ROOT_PI / 2 * exp(mpmath.erfinv(x) ** 2), 0),
    ("lgamma", digamma, 0), ("digamma", trigamma, 0),
    ("gelu", lambda x: mpmath.erfc(-x / sqrt(2)) / 2 + x * normal(x) if abs(x) < 1e6 else mpmath.mpf(x > 0), 2),
    ("geluTanh", lambda x: mpmath.diff(gelu_tanh, x) if abs(x) < 1e3 else mpmath.mpf(x > 0), 2),
    ("silu", lambda x: logistic(x) * (1 + x * logistic(-x)), 2), ("mish", mish_slope, 2),
    ("hardswish", lambda x: mpmath.mpf(x > -3) * ((2 * x + 3) / 6 if x < 3 else 1), 2),
    ("hardsigmoid", lambda x: mpmath.mpf(abs(x) < 3) / 6, 0), ("softsign", lambda x: 1 / (1 + abs(x)) ** 2, 0),
    ("selu", lambda x: SELU_SCALE * (1 if x > 0 else SELU_ALPHA * wide_exp(x)), 0), ("logSigmoid", lambda x: logistic(-x), 0),
    ("square", lambda x: 2 * x, 0),
    ("abs", lambda x: mpmath.sign(x), 0), ("neg", lambda x: mpmath.mpf(-1), 0), ("frac", lambda x: mpmath.mpf(1), 0),
    ("relu", lambda x: mpmath.mpf(x > 0), 0),
]
TORCH_NAMES = {"cinv": torch.reciprocal, "gelu": torch.nn.functional.gelu, "relu": torch.relu,
               "geluTanh": lambda t: torch.nn.functional.gelu(t, approximate="tanh"), "logSigmoid": torch.nn.functional.logsigmoid,
               **{name: getattr(torch.nn.functional, name) for name in ("silu", "mish", "hardswish", "hardsigmoid", "softsign", "selu")}}

# Arguments near which a closed form loses digits, or a square is out of range.
SMALL_AND_LARGE = [1e-30, 1e-25, 1e-12, 1e-8, 1e-5, 3e-5, 1e-4, 1e-3, 0.01, 0.03, 0.3, 0.31, 0.32, 0.99, 0.9999, 1.0001, 1.01, 3e2, 1e4]
LARGE = [1e10, 1e18, 1e20, 1e30]


def points(dtype):
    """Small and large numbers of both signs that the dtype holds."""
    least, greatest = ENDS[dtype][2], ENDS[dtype][0]
    found = [s * x for x in SMALL_AND_LARGE + LARGE for s in (1, -1) if least <= x <= greatest]
    return tensor(f"points.{dtype}", found, dtype)


def corrected(name, t, gradient):
    """Replaces PyTorch's gradient by the limit of the derivative where PyTorch is wrong."""
    x, gradient = t.double(), gradient.clone()
    if name == "hardsigmoid":
        # PyTorch's slope is a float32 in float64. A NaN passes the gradient, as at hardtanh.
        gradient[(x == 0) | x.isnan()] = 1 / 6
    if name in ("asinh", "atan", "softsign"):
        gradient[x.isinf()] = 0
    if name == "acosh":
        gradient[x == INF] = 0
        gradient[x < 1] = NAN
    if name == "digamma":
        # At its poles PyTorch's trigamma is a large number. All large negative numbers are poles.
        gradient[(x == x.floor()) & (x <= 0)] = INF
    if name in ("gelu", "geluTanh", "silu", "mish"):
        gradient[x == INF], gradient[x == -INF] = 1, 0
    return gradient


def unary():
    for name, derivative, errors in UNARY:
        f = TORCH_NAMES.get(name) or getattr(torch, name)
        for dtype in FLOATS:
            for t in (EDGES[dtype], PLAIN[dtype], points(dtype)):
                gradient = corrected(name, t.value, exactly([derivative], f, t.value)[0])
                ulps = ULPS.get(name, 4)
                if name in ("erf", "erfc"):
                    # The square in the exponent is rounded.
                    ulps += math.ceil(t.value.double()[(gradient != 0) & gradient.isfinite()].square().max().item())
                expect(name, [R, t], gradient, ulps=ulps, least=errors * EPSILON[dtype])


# Functions whose derivative multiplies the rounding error of the result, or that have larger tolerances themselves.
ULPS = {"erf": 8, "erfc": 8, "erfinv": 48, "lgamma": 8, "digamma": 8, "tan": 8, "exp2": 6}


def pairs(dtype):
    """All pairs of some edge values."""
    greatest, normal, least = ENDS[dtype]
    some = [0, -0.0, 1, -1, INF, -INF, NAN, 2.5, -3, 1e-3, -0.3, 300, greatest, normal, least, -least]
    n = len(some)
    left = tensor(f"left_of_pair.{dtype}", [x for x in some for _ in some], dtype, (n, n))
    return left, tensor(f"right_of_pair.{dtype}", some * n, dtype, (n, n))


def quotient(a, b, rounded):
    return -rounded(a / b)


def power_slope(a, b):
    return b * mpmath.power(a, b - 1)


def power_slope_by_exponent(a, b):
    return mpmath.power(a, b) * log(a)


BINARY = [
    ("cmul", torch.mul, (lambda a, b: b, lambda a, b: a)),
    ("cdiv", torch.div, (lambda a, b: 1 / b, lambda a, b: -a / b / b)),
    ("cmax", torch.maximum, None), ("cmin", torch.minimum, None),
    ("atan2", torch.atan2, (lambda a, b: b / (a * a + b * b), lambda a, b: -a / (a * a + b * b))),
    ("hypot", torch.hypot, (lambda a, b: a / sqrt(a * a + b * b), lambda a, b: b / sqrt(a * a + b * b))),
    ("logaddexp", torch.logaddexp, (lambda a, b: logistic(a - b), lambda a, b: logistic(b - a))),
    ("xlogy", torch.xlogy, (lambda a, b: log(b) if b > 0 else mpmath.nan, lambda a, b: a / b)),
    ("cfmod", torch.fmod, (lambda a, b: mpmath.mpf(1), lambda a, b: -(mpmath.floor(abs(a / b)) * mpmath.sign(a / b)))),
    ("cremainder", torch.remainder, (lambda a, b: mpmath.mpf(1), lambda a, b: -mpmath.floor(a / b))),
    ("cpow", torch.pow, (power_slope, power_slope_by_exponent)),
]


def corrected_pair(name, a, b, gradients):
    """As `corrected`, for two operands."""
    a, b = a.double(), b.double()
    of_a, of_b = (g.clone() for g in gradients)
    if name in ("hypot", "atan2"):
        # The vector of length 0 has the subgradient 0.
        zero = (a == 0) & (b == 0)
        of_a[zero], of_b[zero] = 0, 0
    if name == "logaddexp":
        # The share of one operand in the sum, as a limit. For two equal infinities it is one half.
        nan = a.isnan() | b.isnan()
        share = torch.sigmoid(torch.where(a == b, 0.0, a - b))
        infinite = (a.isinf() | b.isinf()) & ~nan
        of_a[infinite], of_b[infinite] = share[infinite].to(of_a.dtype), (1 - share)[infinite].to(of_a.dtype)
        of_a[nan], of_b[nan] = NAN, NAN
    return of_a, of_b


def defined(name, a, b, dtype):
    """True where a derivative is defined. Elsewhere the operands are replaced by values near 1."""
    a, b = a.double(), b.double()
    odd = torch.zeros_like(a, dtype=torch.bool)
    if name in ("cfmod", "cremainder"):
        odd = a.isinf() | (b == 0) | a.isnan() | b.isnan()
    if name in ("hypot", "atan2"):
        odd = a.isinf() | b.isinf()
    if name == "hypot":
        odd |= torch.hypot(a, b) > ENDS[dtype][0]
        # A result that is subnormal in float32 or float64 has lost its digits.
        odd |= (torch.hypot(a, b) < ENDS[dtype][1]) & (dtype in ("float32", "float64", "bfloat16"))
    if name == "cpow":
        # Powers of subnormal numbers overflow on the way.
        odd = (a < ENDS[dtype][1]) | a.isinf() | b.isinf() | a.isnan() | b.isnan()
    return ~odd


def units(name, a, b, gradients):
    """Units in the last place: an exponent is rounded, and the power has the same error."""
    seen = gradients[0].isfinite() & (gradients[0] != 0) & a.isfinite() & b.isfinite()
    if name == "logaddexp":
        return 4 + math.ceil((a - b).abs()[(gradients[1] != 0) & seen].max().item())
    return 8 + 2 * math.ceil(a.log().abs()[seen].max().item()) if name == "cpow" else 4


def binary():
    for name, f, derivatives in BINARY:
        for dtype in FLOATS:
            for a, b in ((EDGES[dtype], RIGHT[dtype]), (PLAIN[dtype], RIGHT[dtype]), pairs(dtype)):
                good = defined(name, a.value, b.value, dtype)
                if not good.all():
                    a = tensor(f"{name}.{a.name}", torch.where(good, a.value, 2).double().tolist(), dtype)
                    b = tensor(f"{name}.{b.name}", torch.where(good, b.value, 3).double().tolist(), dtype)
                if derivatives:
                    gradients = exactly(derivatives, f, a.value, b.value, zeros=name in ("hypot", "atan2"))
                else:
                    gradients = by_torch(f, a.value, b.value)
                gradients = corrected_pair(name, a.value, b.value, gradients)
                expect(name, [R, a, b], *gradients, ulps=units(name, a.value.double(), b.value.double(), gradients))
    masked()


def masked():
    """A gradient of 0 stays 0 where the derivative is NaN, and at exponents of 0."""
    for dtype in FLOATS:
        least = ENDS[dtype][2]
        a, b = tensor(f"factors.{dtype}", [1, 2, 0, 3], dtype), tensor(f"logarithms.{dtype}", [-1, 3, 0, 2], dtype)
        given = tensor(f"given.{dtype}", [0, 1, 1, 0], dtype)
        by = given.value
        quotients = by * torch.where(b.value == 0, NAN, a.value / b.value)
        logarithms = torch.where(by == 0, 0, torch.log(b.value.double())).to(by.dtype)
        logarithms[2] = 0
        expect("xlogy", [R, a, b], logarithms, quotients, given=given)
        bases, exponents = tensor(f"bases.{dtype}", [0, least, -least, 2], dtype), tensor(f"none.{dtype}", [0] * 4, dtype)
        zeros = torch.zeros_like(bases.value)
        expect("cpow", [R, bases, exponents], zeros, by_torch(torch.pow, bases.value, exponents.value)[1])


def with_numbers():
    for dtype in FLOATS:
        for t in (EDGES[dtype], PLAIN[dtype]):
            rows = [("rdiv", [x], lambda v, x=x: x / v) for x in (1, -3)]
            rows += [("pow", [x], lambda v, x=x: torch.pow(v, x)) for x in (0, 1, 2, 3, -1)]
            for low, high in ((-0.7, 0.7), (-0.1, 0.3), (-2, 5)):
                rows.append(("hardtanh", [low, high], lambda v, a=low, b=high: torch.nn.functional.hardtanh(v, a, b)))
            rows += [("leakyRelu", [0.25], lambda v: torch.nn.functional.leaky_relu(v, 0.25))]
            rows += [("softshrink", [0.5], lambda v: torch.nn.functional.softshrink(v, 0.5))]
            rows += [("hardshrink", [0.5], lambda v: torch.nn.functional.hardshrink(v, 0.5))]
            rows += [("threshold", [0.5, -2], lambda v: torch.nn.functional.threshold(v, 0.5, -2))]
            rows += [("cmaxValue", [0.5], lambda v: torch.clamp(v, min=0.5)), ("cminValue", [0.5], lambda v: torch.clamp(v, max=0.5))]
            rows += [("clamp", [-1.5, 2.5], lambda v: torch.clamp(v, -1.5, 2.5))]
            for name, numbers, f in rows:
                gradient = by_torch(f, t.value)[0]
                if name == "hardtanh":
                    # PyTorch's scalar code passes the gradient at a NaN; its vector code does not.
                    gradient[t.value.isnan()] = 1
                expect(name, [R, t, *map(float, numbers)], gradient)
        inside = tensor(f"beyond_bounds.{dtype}", [5, -5, 0.05, 0.1, -0.1, 0.3], dtype)
        for low, high in ((-0.7, 0.7), (-0.2, 0.7)):
            expect("hardtanh", [R, inside, low, high], *by_torch(lambda v: torch.nn.functional.hardtanh(v, low, high), inside.value))
        # At a = 0 and b = 0 the derivative of a log(b) is defined as 0.
        expect("xlogyValue", [R, tensor(f"nothing.{dtype}", [0], dtype), 0.0], torch.zeros(1, dtype=getattr(torch, dtype)))


ROWS_OF = {d: tensor(f"rows.{d}", [round(((i * 7) % 23 - 11) / 4 + 0.03 * i, 3) for i in range(24)], d, (4, 6)) for d in FLOATS}


def reductions():
    """Lines of values near 1, of large values whose logarithms of sums are rounded, and of small values."""
    for dtype in FLOATS:
        wide = ROWS_OF[dtype]
        shift = 500 if dtype == "float16" else 250
        large = tensor(f"large_rows.{dtype}", [shift + x for x in wide.value.flatten().tolist()], dtype, (4, 6))
        scale = {"float16": 1e-5, "bfloat16": 1e-30, "float32": 1e-30, "float64": 1e-200}[dtype]
        small = tensor(f"small_rows.{dtype}", [x * scale for x in wide.value.flatten().double().tolist()], dtype, (4, 6))
        zeros = tensor(f"zero_rows.{dtype}", [0] * 6, dtype, (2, 3))
        least = tensor(f"least_rows.{dtype}", [-INF] * 6, dtype, (2, 3))
        for t in (wide, large):
            scans_and_sums(t, dtype)
        for t in (wide, small):
            norms(t, dtype)
        expect("norm", [R, zeros, 2.0, 1, 0], torch.zeros_like(zeros.value))
        expect("logsumexp", [R, least, 1, 0], torch.zeros_like(least.value))


def near(function, arguments, f, t, dtype, ulps=8):
    """PyTorch's gradients, with a tolerance of some units of the largest one."""
    gradients = by_torch(f, *t)
    greatest = max((g.double()[g.isfinite()].abs().max().item() if g.isfinite().any() else 0) for g in gradients)
    expect(function, arguments, *gradients, ulps=ulps, least=ulps * EPSILON[dtype] * greatest)


def scans_and_sums(t, dtype):
    extreme = {"amax": torch.amax, "amin": torch.amin}
    for dim in (0, 1):
        # The reference is shifted, because its result is rounded, too.
        shifted = lambda f: lambda v: f(v - v.detach().max())
        near("logsumexp", [R, t, dim, 0], shifted(lambda v: torch.logsumexp(v, dim)), (t.value,), dtype)
        near("logcumsumexp", [R, t, dim], shifted(lambda v: torch.logcumsumexp(v, dim)), (t.value,), dtype, ulps=256)
        for name in ("sum", "mean", "amax", "amin", "prod"):
            if name != "prod" or dtype != "float16" or t.value.abs().max() < 100:
                f = extreme.get(name) or getattr(torch, name)
                near(name, [R, t, dim, 0], lambda v: f(v, dim), (t.value,), dtype)
        near("cumsum", [R, t, dim], lambda v: torch.cumsum(v, dim), (t.value,), dtype)
        for name in ("var", "std"):
            # The mean is rounded.
            ulps = 16 + math.ceil(t.value.abs().max().item())
            near(name, [R, t, dim, 0, 0], lambda v: getattr(torch, name)(v, dim), (t.value,), dtype, ulps=ulps)


def norms(t, dtype):
    # The gradient of a norm does not depend on the scale. Powers of small numbers underflow in PyTorch.
    scale = t.value.double().abs().max().item()
    for p in (1.0, 2.0, 3.0, INF):
        near("norm", [R, t, p, 1, 0], lambda v: torch.linalg.vector_norm(v / scale, p, 1) * scale, (t.value,), dtype, ulps=16)
    if dtype != "float64" or scale > 1:
        near("std", [R, t, 1, 0, 0], lambda v: torch.std(v, 1), (t.value,), dtype, ulps=16)


def matrices():
    """Functions of matrices. The test runs each with result handles of every float dtype."""
    for dtype in ("float32", "float64"):
        left, right = ROWS_OF[dtype], tensor(f"columns.{dtype}", [((i * 5) % 17 - 8) / 8 for i in range(30)], dtype, (6, 5))
        square = tensor(f"square.{dtype}", [4, 1, 0.5, 1, 3, 0.25, 0.5, 0.25, 2], dtype, (3, 3))
        vector = tensor(f"vector.{dtype}", [1, -2, 0.5, 3, 1.5, -1], dtype)
        points = tensor(f"places.{dtype}", [((i * 3) % 7) - 2.25 for i in range(12)], dtype, (2, 6))
        near("mm", [R, left, right], torch.mm, (left.value, right.value), dtype)
        near("matmul", [R, left, right], torch.matmul, (left.value, right.value), dtype)
        near("mv", [R, left, vector], torch.mv, (left.value, vector.value), dtype)
        near("outer", [R, vector, vector], lambda v, w: torch.outer(v, w), (vector.value, vector.value.clone()), dtype)
        for p in (1.0, 2.0, 3.0, INF):
            near("cdist", [R, left, points, p], lambda a, b: torch.cdist(a, b, p), (left.value, points.value), dtype, ulps=16)
            near("pdist", [R, points, p], lambda t: torch.pdist(t, p), (points.value,), dtype, ulps=16)
        for mode in (1, 2):
            near("cdistMode", [R, left, points, 2.0, mode], lambda a, b: torch.cdist(a, b, 2.0), (left.value, points.value), dtype, ulps=32)
        near("inverse", [R, square], torch.inverse, (square.value,), dtype, ulps=32)
        near("det", [R, square], torch.det, (square.value,), dtype, ulps=32)
        near("logdet", [R, square], torch.logdet, (square.value,), dtype, ulps=32)
        near("matrixExp", [R, square], torch.matrix_exp, (square.value,), dtype, ulps=64)
        # The pseudoinverse of a regular matrix is its inverse.
        near("pinverse", [R, square, 1e-6], torch.inverse, (square.value,), dtype, ulps=64)


def activations():
    """Activations with numbers of their own, at edges too."""
    functional = torch.nn.functional
    for dtype in FLOATS:
        for t in (EDGES[dtype], PLAIN[dtype]):
            finite = tensor(f"finite.{t.name}", [2 if math.isnan(x) else x for x in t.value.flatten().double().tolist()], dtype, (5, 7))
            expect("elu", [R, finite, 0.5], *by_torch(lambda v: functional.elu(v, 0.5), finite.value), ulps=8, least=4 * EPSILON[dtype])
            expect("celu", [R, finite, 0.5], *by_torch(lambda v: functional.celu(v, 0.5), finite.value), ulps=8, least=4 * EPSILON[dtype])
            gradient = by_torch(lambda v: functional.softplus(v, 2, 20), finite.value)[0]
            expect("softplus", [R, finite, 2.0, 20.0], gradient, ulps=8, least=4 * EPSILON[dtype])


def gates():
    """prelu, whose weights have gradients, and glu."""
    functional = torch.nn.functional
    for dtype in FLOATS:
        cube = tensor(f"cube.{dtype}", PLAIN[dtype].value.flatten()[:30].double().tolist(), dtype, (2, 3, 5))
        for weights in ([0.25], [0.25, -1.5, 0]):
            weight = tensor(f"slopes{len(weights)}.{dtype}", weights, dtype)
            near("prelu", [R, cube, weight], functional.prelu, (cube.value, weight.value), dtype)
        near("glu", [R, ROWS_OF[dtype], 1], lambda v: functional.glu(v, 1), (ROWS_OF[dtype].value,), dtype)


# Scores of 5 positions in 4 classes, the class of each, and a weight for each class.
SCORES = {d: tensor(f"scores.{d}", [round(((i * 11) % 17 - 8) / 3, 3) for i in range(20)], d, (5, 4)) for d in FLOATS}
CLASSES = tensor("classes", [3, 0, 2, 1, 2], "int64")
WEIGHTS = {d: tensor(f"weights.{d}", [0.5, 2, 1, 1.5], d) for d in FLOATS}
REDUCTIONS = [(0, "none"), (1, "mean"), (2, "sum")]


def losses():
    functional = torch.nn.functional
    element_losses = [("mseLoss", [], functional.mse_loss), ("l1Loss", [], functional.l1_loss),
                      ("smoothL1Loss", [0.5], lambda a, b, reduction: functional.smooth_l1_loss(a, b, beta=0.5, reduction=reduction)),
                      ("huberLoss", [2.0], lambda a, b, reduction: functional.huber_loss(a, b, delta=2.0, reduction=reduction))]
    for dtype in FLOATS:
        scores, targets = SCORES[dtype], tensor(f"targets.{dtype}", [round(((i * 7) % 13) / 6 - 1, 3) for i in range(20)], dtype, (5, 4))
        shares = tensor(f"shares.{dtype}", [((i * 5) % 9) / 8 for i in range(20)], dtype, (5, 4))
        for code, reduction in REDUCTIONS:
            for name, more, f in element_losses:
                near(name, [R, scores, targets, code, *more], lambda a, b: f(a, b, reduction=reduction), (scores.value, targets.value), dtype)
            f = functional.binary_cross_entropy_with_logits
            near("bceWithLogits", [R, scores, shares, NULL, NULL, code], lambda a, b: f(a, b, reduction=reduction),
                 (scores.value, shares.value), dtype)
        signs = tensor(f"signs.{dtype}", [(-1) ** (i // 3) for i in range(20)], dtype, (5, 4))
        variances = tensor(f"variances.{dtype}", [((i * 3) % 7 + 1) / 4 for i in range(20)], dtype, (5, 4))
        chances = tensor(f"chances.{dtype}", [((i * 5) % 7 + 1) / 8 for i in range(20)], dtype, (5, 4))
        # PyTorch's gradient of the approximation of a factorial is NaN for a count of 0.
        counts = tensor(f"counts.{dtype}", [(i * 5) % 4 + 0.5 for i in range(20)], dtype, (5, 4))
        pair = tensor("pair_signs", [1, -1, 1, -1, -1], "int64")
        others = tensor(f"others.{dtype}", scores.value.flatten().roll(7).tolist(), dtype, (5, 4))
        for code, reduction in REDUCTIONS:
            how = dict(reduction=reduction)
            near("bce", [R, chances, shares, NULL, code], lambda a, b: functional.binary_cross_entropy(a, b, **how), (chances.value, shares.value), dtype)
            near("poissonNllLoss", [R, scores, counts, 1, 1, 1e-8, code], lambda a, b: functional.poisson_nll_loss(a, b, True, True, **how),
                 (scores.value, counts.value), dtype)
            near("gaussianNllLoss", [R, scores, targets, variances, 0, 0.5, code], lambda a, b, v: functional.gaussian_nll_loss(a, b, v, False, 0.5, **how),
                 (scores.value, targets.value, variances.value), dtype)
            near("marginRankingLoss", [R, scores, targets, signs, 0.25, code], lambda a, b, y: functional.margin_ranking_loss(a, b, y, 0.25, **how),
                 (scores.value, targets.value, signs.value), dtype)
            near("tripletMarginLoss", [R, scores, targets, others, 1.5, 2, 1e-6, 1, code],
                 lambda a, b, c: functional.triplet_margin_loss(a, b, c, 1.5, 2, 1e-6, True, **how), (scores.value, targets.value, others.value), dtype, ulps=16)
        near("cosineSimilarity", [R, scores, targets, 1, 1e-8], lambda a, b: functional.cosine_similarity(a, b, 1, 1e-8), (scores.value, targets.value), dtype, ulps=16)
        near("pairwiseDistance", [R, scores, targets, 2, 1e-6, 0], lambda a, b: functional.pairwise_distance(a, b), (scores.value, targets.value), dtype, ulps=16)
        # PyTorch's own function adds 1e-12 to the squares of the norms.
        embedded = lambda a, b: torch.where(pair.value == 1, 1 - functional.cosine_similarity(a, b), functional.cosine_similarity(a, b).clamp_min(0)).mean()
        near("cosineEmbeddingLoss", [R, scores, targets, pair, 0, 1], embedded, (scores.value, targets.value), dtype, ulps=16)
        if dtype in ("float32", "float64"):
            # The corners: vectors of zeros, and the distance 0.
            zero = tensor(f"zeros34.{dtype}", [0] * 8, dtype, (2, 4))
            some = tensor(f"some34.{dtype}", [3, 0, 4, 0, 0, 0, 0, 0], dtype, (2, 4))
            near("cosineSimilarity", [R, zero, some, 1, 0.5], lambda a, b: functional.cosine_similarity(a, b, 1, 0.5), (zero.value, some.value), dtype)
            near("pairwiseDistance", [R, some, some, 2, 0, 0], lambda a, b: functional.pairwise_distance(a, b, 2, 0), (some.value, some.value), dtype)
        for code, reduction in REDUCTIONS[1:]:
            for name, f in (("nllLoss", functional.nll_loss), ("crossEntropy", functional.cross_entropy)):
                near(name, [R, scores, CLASSES, NULL, code, -100], lambda a: f(a, CLASSES.value, reduction=reduction), (scores.value,), dtype)
        # Each loss of single elements at pairs of edges whose difference the dtype holds.
        left, right = pairs(dtype)
        good = (left.value.double() - right.value.double()).abs() <= ENDS[dtype][0] / 4
        left = tensor(f"loss.{left.name}", torch.where(good, left.value, 1).double().tolist(), dtype, left.value.shape)
        right = tensor(f"loss.{right.name}", torch.where(good, right.value, 2).double().tolist(), dtype, right.value.shape)
        for name, more, f in element_losses[1:]:
            expect(name, [R, left, right, 2, *more], *by_torch(lambda a, b: f(a, b, reduction="sum"), left.value, right.value))


def normalizations():
    functional = torch.nn.functional
    for dtype in ("float32", "float64"):
        wide, scores = ROWS_OF[dtype], SCORES[dtype]
        scale = tensor(f"scale.{dtype}", [1, -0.5, 2, 0.25, 1.5, -1], dtype)
        shift = tensor(f"shift.{dtype}", [0, 1, -1, 0.5, 2, 0.125], dtype)
        by = tensor(f"by.{dtype}", [round(((i * 5) % 11 - 5) / 4, 3) for i in range(24)], dtype, (4, 6))
        share = tensor(f"by_share.{dtype}", by.value.flatten()[:20].tolist(), dtype, (5, 4))
        for dim in (0, 1):
            for name, f in (("softmax", torch.softmax), ("logSoftmax", torch.log_softmax)):
                weighted(name, [R, scores, dim], lambda v: f(v, dim), (scores,), share, dtype)
        weighted("layerNorm", [R, wide, 1, scale, shift, 1e-5], lambda v, w, b: functional.layer_norm(v, (6,), w, b, 1e-5),
                 (wide, scale, shift), by, dtype)
        weighted("rmsNorm", [R, wide, 1, scale, 1e-5], lambda v, w: functional.rms_norm(v, (6,), w, 1e-5), (wide, scale), by, dtype)
        weighted("groupNorm", [R, wide, 3, scale, shift, 1e-5], lambda v, w, b: functional.group_norm(v, 3, w, b, 1e-5),
                 (wide, scale, shift), by, dtype)
        image = tensor(f"channels.{dtype}", [round(((i * 11) % 23 - 11) / 8, 3) for i in range(2 * 4 * 3)], dtype, (2, 4, 3))
        by_image, few, offset = (tensor(f"{name}.{dtype}", x, dtype, shape) for name, x, shape in (
            ("by_channels", by.value.flatten().tolist(), (2, 4, 3)), ("scale4", [1, -0.5, 2, 0.25], (4,)), ("shift4", [0, 1, -1, 0.5], (4,))))
        weighted("groupNorm", [R, image, 2, few, offset, 1e-5], lambda v, w, b: functional.group_norm(v, 2, w, b, 1e-5),
                 (image, few, offset), by_image, dtype)
        weighted("instanceNorm", [R, image, few, offset, 1e-5], lambda v, w, b: functional.instance_norm(v, None, None, w, b, eps=1e-5),
                 (image, few, offset), by_image, dtype)
        weighted("localResponseNorm", [R, image, 3, 0.5, 0.75, 1], lambda v: functional.local_response_norm(v, 3, 0.5, 0.75, 1),
                 (image,), by_image, dtype)
        weighted("batchNorm", [R, R, R, wide, scale, shift, NULL, NULL, 1, 0.1, 1e-5],
                 lambda v, w, b: functional.batch_norm(v, None, None, w, b, True, 0.1, 1e-5), (wide, scale, shift), by, dtype)


def weighted(function, arguments, f, operands, given, dtype, ulps=64):
    """The gradients for a gradient of the result that is not 1 everywhere: that of a normalization would be 0."""
    gradients = by_torch(f, *(x.value for x in operands), given=given.value)
    greatest = max(g.abs().max().item() for g in gradients)
    expect(function, arguments, *gradients, ulps=ulps, least=ulps * EPSILON[dtype] * greatest, given=given)


def images():
    functional = torch.nn.functional
    for dtype in ("float32", "float64"):
        image = tensor(f"image.{dtype}", [round(((i * 13) % 29 - 14) / 8, 3) for i in range(2 * 4 * 5 * 6)], dtype, (2, 4, 5, 6))
        kernel = tensor(f"kernel.{dtype}", [round(((i * 7) % 19 - 9) / 8, 3) for i in range(6 * 2 * 3 * 2)], dtype, (6, 2, 3, 2))
        bias = tensor(f"bias.{dtype}", [0.5, -1, 0, 2, 0.25, -0.75], dtype)
        operands = (image.value, kernel.value, bias.value)
        near("conv2d", [R, image, kernel, bias, 2, [2, 1], [1, 0], [1, 2], 2],
             lambda x, w, b: functional.conv2d(x, w, b, (2, 1), (1, 0), (1, 2), 2), operands, dtype, ulps=16)
        back = tensor(f"kernel_back.{dtype}", kernel.value.flatten()[:48].tolist(), dtype, (4, 2, 3, 2))
        few = tensor(f"bias_back.{dtype}", [0.5, -1, 0, 2], dtype)
        near("convTranspose2d", [R, image, back, few, 2, [2, 1], [1, 0], [1, 0], 2, [1, 2]],
             lambda x, w, b: functional.conv_transpose2d(x, w, b, (2, 1), (1, 0), (1, 0), 2, (1, 2)),
             (image.value, back.value, few.value), dtype, ulps=16)
        near("maxPool2d", [R, R, image, 2, [3, 2], [2, 2], [1, 0], [1, 1], 0],
             lambda x: functional.max_pool2d(x, (3, 2), (2, 2), (1, 0)), (image.value,), dtype)
        near("avgPool2d", [R, image, 2, [3, 2], [2, 2], [1, 0], 0, 1, 0],
             lambda x: functional.avg_pool2d(x, (3, 2), (2, 2), (1, 0)), (image.value,), dtype)


def positions():
    """Positions that repeat."""
    lists = tensor("places_of_rows", [2, 0, 2, 1, 2], "int64")
    bags = tensor("bag.offsets.none", [0, 0], "int64")
    for dtype in FLOATS:
        wide = ROWS_OF[dtype]
        near("indexSelect", [R, wide, 0, lists], lambda v: v[lists.value], (wide.value,), dtype)
        for mode, called in enumerate(("sum", "mean")):
            summed = lambda v: torch.nn.functional.embedding_bag(lists.value, v, bags.value, mode=called)
            near("embeddingBag", [R, wide, lists, bags, mode, NULL, -1], summed, (wide.value,), dtype)
        near("embedding", [R, wide, lists, -1], lambda v: v[lists.value], (wide.value,), dtype)
        near("take", [R, wide, lists], lambda v: torch.take(v, lists.value), (wide.value,), dtype)
        near("kthvalue", [R, R, wide, 2, 1, 0], lambda v: torch.kthvalue(v, 2, 1)[0], (wide.value,), dtype)
        near("median", [R, R, wide, 1, 0], lambda v: torch.median(v, 1)[0], (wide.value,), dtype)


def systems():
    """Systems of equations and decompositions."""
    for dtype in ("float32", "float64"):
        square = tensor(f"square.{dtype}", [4, 1, 0.5, 1, 3, 0.25, 0.5, 0.25, 2], dtype, (3, 3))
        odd = tensor(f"odd_square.{dtype}", [1, 2, 0.5, -1, 3, 0.25, 0.75, -0.5, 2], dtype, (3, 3))
        right = tensor(f"right_sides.{dtype}", [1, -2, 0.5, 3, 1.5, -1], dtype, (3, 2))
        tall = tensor(f"tall.{dtype}", [1, 2, 0.5, -1, 3, 0.25, 0.75, -0.5, 2, 1.5, 1, -2], dtype, (4, 3))
        near("solve", [R, R, right, odd], lambda b, a: torch.linalg.solve(a, b), (right.value, odd.value), dtype, ulps=64)
        near("cholesky", [R, square, 0], lambda a: torch.linalg.cholesky(a), (square.value,), dtype, ulps=64)
        near("trtrs", [R, NULL, right, square, 0, 0, 0],
             lambda b, a: torch.linalg.solve_triangular(a, b, upper=False), (right.value, square.value), dtype, ulps=64)
        near("addmm", [R, 0.5, tall, 2.0, tall, odd], lambda t, a, b: torch.addmm(t, a, b, beta=0.5, alpha=2.0),
             (tall.value, tall.value.clone(), odd.value), dtype, ulps=16)
        near("kron", [R, right, odd], torch.kron, (right.value, odd.value), dtype, ulps=16)


def rows():
    for part in (unary, binary, with_numbers, reductions, matrices, activations, gates, losses, normalizations, images, positions, systems):
        part()
