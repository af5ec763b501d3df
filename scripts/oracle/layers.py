"""Operations: gradients of activations and of softmax, normalization, losses."""

import itertools

import mpmath
from torch.nn import functional

from .elementwise import binary, by_formula
from .operands import *

aten = torch.ops.aten
HALVES = ["float16", "bfloat16"]

def slope(f, at_infinity):
    """`g` times a derivative by mpmath, rounded once before and once after the product."""

    def at(x):
        return x if x != x else float(f(mpmath.mpf(x))) if math.isfinite(x) else at_infinity(x)

    def oracle(g, t):
        dtype = torch.promote_types(g.dtype, t.dtype)
        t = t.to(dtype).double()
        slopes = torch.tensor([at(x) for x in t.flatten().tolist()], dtype=torch.float64).reshape(t.shape)
        return (g.to(dtype).double() * slopes).to(dtype)

    return oracle


def activations():
    together = lambda f: by_formula(lambda g, t: f(*torch.broadcast_tensors(g, t)))
    binary("reluGrad", together(lambda g, t: aten.threshold_backward(g, t, 0)), FLOATS)
    for value in (0.25, 0, -1.5):
        binary("leakyReluGrad", together(lambda g, t: aten.leaky_relu_backward(g, t, value, False)), FLOATS, after=[value], pairs=False)
    for least, most in ((-1, 1), (0, 2.5)):
        # PyTorch's gradient for NaN is g in its scalar loop, and 0 in vectors.
        binary("hardtanhGrad", together(lambda g, t: torch.where((t <= least) | (t >= most), 0, g)), FLOATS, after=[least, most], pairs=False)
    for value in (1, 0.5):
        elu = together(lambda g, t: torch.where(t <= 0, value * torch.exp(t.double()) * g, g.double()))
        binary("eluGrad", elu, FLOATS, right=BENDS, after=[value], ulps=3, pairs=False)
    for beta, threshold in ((1, 20), (2, 5), (0.5, 3)):
        soft = together(lambda g, t: torch.where(beta * t > threshold, g.double(), g * torch.sigmoid(beta * t.double())))
        binary("softplusGrad", soft, FLOATS, right=BENDS, after=[beta, threshold], ulps=4, pairs=False)
    binary("sigmoidGrad", together(aten.sigmoid_backward), FLOATS, ulps=2)
    binary("tanhGrad", together(aten.tanh_backward), FLOATS, ulps=3, pairs=False)
    normal = lambda x: mpmath.erfc(-x / mpmath.sqrt(2)) / 2 + x * mpmath.exp(-x * x / 2) / mpmath.sqrt(2 * mpmath.pi)
    limits = lambda x: float(x > 0)
    # Near -0.75 the derivative is a difference: at -0.7 its terms are twenty times as large.
    binary("geluGrad", slope(normal, limits), FLOATS, right=BENDS, ulps=32, pairs=False, more="unsigned")
    root, cubic = mpmath.sqrt(8 / mpmath.pi), mpmath.mpf("0.044715")
    share = lambda x: 1 / (1 + mpmath.exp(-root * (x + cubic * x**3)))
    by_tanh = lambda x: share(x) + x * share(x) * (1 - share(x)) * root * (1 + 3 * cubic * x * x)
    logistic = lambda x: 1 / (1 + mpmath.exp(-x))
    # Near -1.28 the derivative is a difference.
    binary("siluGrad", slope(lambda x: logistic(x) * (1 + x * logistic(-x)), limits), FLOATS, right=BENDS, ulps=16, pairs=False, more="unsigned")
    hardswish = together(lambda g, t: torch.where(t <= -3, 0, torch.where(t >= 3, g, (2 * t + 3) / 6 * g)))
    binary("hardswishGrad", hardswish, FLOATS, ulps=2, pairs=False, more="unsigned")
    binary("geluTanhGrad", slope(by_tanh, limits), FLOATS, right=BENDS, ulps=16, pairs=False, more="unsigned")


def sheet(name, dtype, shape, seed, low=-32, high=32, scale=0.125):
    """Multiples of a power of two: their products and sums are exact in float32."""
    if shape == ():
        return tensor(f"layer.{name}.{dtype}", (low + seed % (high - low)) * scale, dtype)
    return random(f"layer.{name}.{dtype}", dtype, shape, seed, high - low + 1, low, scale)


def softmaxes():
    shapes = {"lines": ((5, 7), (0, 1, -1)), "cube": ((3, 4, 5), (0, 1, 2)), "long": ((3, 2500), (1,)), "tall": ((70, 5), (0,)), "wide": ((9, 300), (0,)),
              "none": ((2, 0, 3), (0, 1, 2)), "single": ((), (0, -1))}
    for dtype in FLOATS:
        for name, (shape, dims) in shapes.items():
            if dtype in HALVES and name not in ("lines", "cube"):
                continue
            g, y, low = sheet(f"{name}.g", dtype, shape, 11), sheet(f"{name}.y", dtype, shape, 12, 0, 32, 2**-7), sheet(f"{name}.low", dtype, shape, 13, -40, 0)
            # Sums of many elements cancel.
            bound = {"float64": 1e-13, "float32": 1e-4}.get(dtype, 1e-4)
            for dim in dims:
                every = 101 if name in ("long", "wide") else 1
                wide = [x.value.double() for x in (g, y, low)]
                expect("softmaxGrad", [R, g, y, dim], aten._softmax_backward_data(*wide[:2], dim, torch.float64).to(g.value.dtype), ulps=2, every=every,
                       more="unsigned abs=1e-5" if dtype != "float64" else "unsigned abs=1e-13")
                expect("logSoftmaxGrad", [R, g, low, dim], aten._log_softmax_backward_data(wide[0], wide[2], dim, torch.float64).to(g.value.dtype),
                       ulps=8, every=every, more=f"unsigned abs={bound}")
    for name in ("softmaxGrad", "logSoftmaxGrad"):
        t = PLAIN["float32"]
        refuse(name, [R, PLAIN["int32"], PLAIN["int32"], 0])
        refuse(name, [R, PLAIN["float64"], t, 0])
        refuse(name, [R, t, NONZERO["float32"], 0], ERR_SHAPE)
        refuse(name, [R, t, t, 2], ERR_ARGUMENT)
        refuse(name, [R, t, t, TH_ALL_DIMS], ERR_ARGUMENT)


def normalization():
    shapes = {"rows": ((5, 7), 1), "cube": ((3, 4, 5), 2), "all": ((4, 6), 2), "long": ((2, 2500), 1), "many": ((150, 700), 1), "one": ((4, 1), 1), "none": ((0, 3), 1),
              "flat": ((3, 0), 1)}
    for dtype, (name, (shape, last)) in itertools.product(FLOATS, shapes.items()):
        if dtype in HALVES and name not in ("rows", "cube"):
            continue
        row, every = shape[len(shape) - last:], 101 if name in ("long", "many") else 1
        x, g = sheet(f"{name}.x", dtype, shape, 21), sheet(f"{name}.g", dtype, shape, 22)
        beside = [dtype] if dtype not in HALVES else [dtype, "float32"]
        bound = f"unsigned abs={1e-12 if dtype == 'float64' else 3e-6 * max(1, len(x.value.flatten()) / 1000)}"
        for of_row, given in itertools.product(beside, (0, 1, 3)):
            weight = sheet(f"{name}.w", of_row, row, 23) if given & 1 else None
            bias = sheet(f"{name}.b", of_row, row, 24) if given & 2 else None
            double = lambda t: None if t is None else t.value.double()
            y, mean, rstd = aten.native_layer_norm(double(x), row, double(weight), double(bias), 1e-5)
            expect("layerNorm", [R, x, last, weight or NULL, bias or NULL, 1e-5], y.to(x.value.dtype), ulps=4, every=every, more=bound)
            if 0 in shape or given == 3:
                continue
            whole = [True, True, True]
            ones = torch.ones(row, dtype=torch.float64)
            parts = aten.native_layer_norm_backward(double(g), double(x), row, mean, rstd, ones if weight is None else double(weight), ones, whole)
            stored = [x.value.dtype] + [x.value.dtype if weight is None else weight.value.dtype] * 2
            expect("layerNormGrad", [MAYBE, MAYBE, MAYBE, g, x, last, weight or NULL, 1e-5], *(p.to(d) for p, d in zip(parts, stored)), ulps=8, every=every,
                   more=bound)
    for shape, last in (((0, 3), 1), ((3, 0), 1)):
        x = sheet("rows.x" if last == 2 else f"empty{shape[0]}", "float32", shape, 25)
        row = torch.zeros(shape[1])
        expect("layerNormGrad", [MAYBE, MAYBE, MAYBE, x, x, last, NULL, 1e-5], x.value, row, row)
    t = PLAIN["float32"]
    # Far from 0 the deviations equal the elements' own deviations.
    for dtype in ("float32", "float64"):
        far = tensor(f"far.{dtype}", [[4096 + i % 7 / 8 for i in range(1500)], [4096 - i % 5 / 4 for i in range(1500)]], dtype)
        y = aten.native_layer_norm(far.value.double(), [1500], None, None, 1e-5)[0]
        expect("layerNorm", [R, far, 1, NULL, NULL, 1e-5], y.to(far.value.dtype), ulps=8, more="unsigned abs=1e-6")
    # Squares of the elements overflow.
    for dtype, scales in {"float32": (2e19, 1e37), "float64": (1e155, 1e300), "bfloat16": (2e19, 1e37)}.items():
        for scale in scales:
            unit = sheet(f"great.{dtype}", dtype, (3, 700), 26).value.double()
            great = tensor(f"great.{dtype}.{scale}", (unit * scale).tolist(), dtype)
            unit, g = great.value.double() / scale, sheet(f"great.g.{dtype}", dtype, (3, 700), 27)
            y, mean, rstd = aten.native_layer_norm(unit, [700], None, None, 0)
            more = f"unsigned abs={1e-12 if dtype == 'float64' else 3e-6}"
            expect("layerNorm", [R, great, 1, NULL, NULL, 1e-5], y.to(great.value.dtype), ulps=8, every=101, more=more)
            ones = torch.ones(700, dtype=torch.float64)
            parts = aten.native_layer_norm_backward(g.value.double(), unit, [700], mean, rstd, ones, ones, [True, True, True])
            parts = [parts[0] / scale, *parts[1:]]
            less = "unsigned abs=0" if dtype == "float64" else f"unsigned abs={3e-6 / scale}"
            expect("layerNormGrad", [R, NULL, NULL, g, great, 1, NULL, 1e-5], parts[0].to(great.value.dtype), ulps=64, every=101, more=less)
    refuse("layerNorm", [R, PLAIN["int64"], 1, NULL, NULL, 1e-5])
    refuse("layerNorm", [R, t, 1, PLAIN["float64"], NULL, 1e-5])
    refuse("layerNorm", [R, PLAIN["float16"], 1, NULL, PLAIN["bfloat16"], 1e-5])
    refuse("layerNorm", [R, t, 1, t, NULL, 1e-5], ERR_SHAPE)
    refuse("layerNormGrad", [R, R, R, t, NONZERO["float32"], 1, NULL, 1e-5], ERR_SHAPE)
    refuse("layerNormGrad", [R, R, R, PLAIN["float64"], t, 1, NULL, 1e-5])
    for last in (0, 3, -1):
        refuse("layerNorm", [R, t, last, NULL, NULL, 1e-5], ERR_ARGUMENT)
        refuse("layerNormGrad", [R, R, R, t, t, last, NULL, 1e-5], ERR_ARGUMENT)


def normalized(name, form, x, g, parameters, f, every=1, more=None):
    """Expects a normalization and its gradients. `f` computes it from `x` and the parameters, which may be None."""
    wide = [None if t is None else t.value.double().requires_grad_() for t in (x, *parameters)]
    y = f(*wide)
    expect(name, [R, x, *form, *(t or NULL for t in parameters), 1e-5], y.detach().to(x.value.dtype), ulps=4, every=every, more=more)
    if len(parameters) == 2 and parameters[1] is not None:
        return
    ones = [t if t is not None else torch.ones(f.weights, dtype=torch.float64, requires_grad=True) for t in wide[1:]]
    parts = torch.autograd.grad(f(wide[0], *ones), [wide[0], *ones], g.value.double())
    weight = parameters[0]
    stored = [x.value.dtype, *([x.value.dtype if weight is None else weight.value.dtype] * len(parameters))]
    results = [p.to(d) for p, d in zip(parts, stored)]
    expect(f"{name}Grad", [MAYBE] * len(stored) + [g, x, *form, weight or NULL, 1e-5], *results, ulps=8, every=every, more=more)


class Norm:
    """A normalization of PyTorch, and the shape of its weights."""

    def __init__(self, weights, f):
        self.weights, self.f = weights, f

    def __call__(self, *operands):
        return self.f(*operands)


def root_mean_squares():
    shapes = {"rows": ((5, 7), 1), "cube": ((3, 4, 5), 2), "all": ((4, 6), 2), "long": ((2, 2500), 1), "many": ((150, 700), 1), "one": ((4, 1), 1)}
    for dtype, (name, (shape, last)) in itertools.product(FLOATS, shapes.items()):
        if dtype in HALVES and name not in ("rows", "cube"):
            continue
        row, every = shape[len(shape) - last:], 101 if name in ("long", "many") else 1
        x, g = sheet(f"{name}.x", dtype, shape, 21), sheet(f"{name}.g", dtype, shape, 22)
        # The two terms of the gradient of a row of one element cancel.
        more = f"unsigned abs={1e-12 if dtype == 'float64' else 3e-5 if name == 'one' else 3e-6 * max(1, len(x.value.flatten()) / 1000)}"
        for of_row in [None, dtype] + ["float32"] * (dtype in HALVES):
            weight = of_row and sheet(f"{name}.w", of_row, row, 23)
            normalized("rmsNorm", [last], x, g, [weight], Norm(row, lambda x, w: functional.rms_norm(x, row, w, 1e-5)), every, more)
    for shape in ((0, 3), (3, 0)):
        x, row = sheet(f"empty{shape[0]}", "float32", shape, 25), torch.zeros(shape[1])
        expect("rmsNorm", [R, x, 1, NULL, 1e-5], x.value)
        expect("rmsNormGrad", [MAYBE, MAYBE, x, x, 1, NULL, 1e-5], x.value, row)
    # Squares of the elements overflow.
    for dtype, scale in (("float32", 2e19), ("float32", 1e37), ("float64", 1e300), ("bfloat16", 1e37)):
        unit = sheet(f"great.{dtype}", dtype, (3, 700), 26).value.double()
        great = tensor(f"great.{dtype}.{scale}", (unit * scale).tolist(), dtype)
        y = functional.rms_norm(great.value.double() / scale, (700,), None, 0)
        expect("rmsNorm", [R, great, 1, NULL, 1e-5], y.to(great.value.dtype), ulps=8, every=101, more=f"unsigned abs={1e-12 if dtype == 'float64' else 3e-6}")
    t = PLAIN["float32"]
    refuse("rmsNorm", [R, PLAIN["int64"], 1, NULL, 1e-5])
    refuse("rmsNorm", [R, t, 1, PLAIN["float64"], 1e-5])
    refuse("rmsNorm", [R, t, 1, t, 1e-5], ERR_SHAPE)
    refuse("rmsNormGrad", [R, R, t, NONZERO["float32"], 1, NULL, 1e-5], ERR_SHAPE)
    refuse("rmsNormGrad", [R, R, PLAIN["float64"], t, 1, NULL, 1e-5])
    for last in (0, 3, -1):
        refuse("rmsNorm", [R, t, last, NULL, 1e-5], ERR_ARGUMENT)
        refuse("rmsNormGrad", [R, R, t, t, last, NULL, 1e-5], ERR_ARGUMENT)


def groups():
    shapes = {"images": ((2, 6, 3, 4), (1, 2, 6)), "line": ((3, 4, 5), (2,)), "flat": ((5, 6), (1, 3)), "large": ((3, 8, 40, 17), (4,)), "wide": ((300, 64), (4,)),
              "channels": ((2, 1, 600), (1,))}
    for dtype, (name, (shape, counts)) in itertools.product(FLOATS, shapes.items()):
        if dtype in HALVES and name not in ("images", "flat"):
            continue
        x, g = sheet(f"groups.{name}.x", dtype, shape, 61), sheet(f"groups.{name}.g", dtype, shape, 62)
        every = 101 if x.value.numel() > 1000 else 1
        more = f"unsigned abs={1e-12 if dtype == 'float64' else 3e-6 * max(1, x.value.numel() / 1000)}"
        for of_row, given in itertools.product([dtype] + ["float32"] * (dtype in HALVES), (0, 1, 3)):
            weight = sheet(f"groups.{name}.w", of_row, shape[1:2], 63) if given & 1 else None
            bias = sheet(f"groups.{name}.b", of_row, shape[1:2], 64) if given & 2 else None
            for count in counts:
                norm = Norm(shape[1:2], lambda x, w, b: functional.group_norm(x, count, w, b, 1e-5))
                normalized("groupNorm", [count], x, g, [weight, bias], norm, every, more)
            if len(shape) > 2:
                wide = [None if t is None else t.value.double() for t in (x, weight, bias)]
                y = functional.instance_norm(wide[0], None, None, *wide[1:], eps=1e-5)
                expect("instanceNorm", [R, x, weight or NULL, bias or NULL, 1e-5], y.to(x.value.dtype), ulps=4, every=every, more=more)
    for shape in ((0, 4, 3), (2, 4, 0)):
        x, row = sheet(f"groups.empty{shape[0]}", "float32", shape, 65), torch.zeros(4)
        expect("groupNorm", [R, x, 2, NULL, NULL, 1e-5], x.value)
        expect("groupNormGrad", [MAYBE, MAYBE, MAYBE, x, x, 2, NULL, 1e-5], x.value, row, row)
        expect("instanceNorm", [R, x, NULL, NULL, 1e-5], x.value)
    # Squares of the elements overflow.
    for dtype, scale in (("float32", 2e19), ("float64", 1e300)):
        unit, g = sheet("groups.images.x", dtype, (2, 6, 3, 4), 61).value.double() / 8, sheet("groups.images.g", dtype, (2, 6, 3, 4), 62)
        great = tensor(f"groups.great.{dtype}", (unit * scale).tolist(), dtype)
        unit = (great.value.double() / scale).requires_grad_()
        y = functional.group_norm(unit, 2, None, None, 0)
        more = f"unsigned abs={1e-12 if dtype == 'float64' else 3e-6}"
        expect("groupNorm", [R, great, 2, NULL, NULL, 1e-5], y.detach().to(great.value.dtype), ulps=8, more=more)
        slope, = torch.autograd.grad(y, unit, g.value.double())
        less = "unsigned abs=0" if dtype == "float64" else f"unsigned abs={3e-6 / scale}"
        expect("groupNormGrad", [R, NULL, NULL, g, great, 2, NULL, 1e-5], (slope / scale).to(great.value.dtype), ulps=256, more=less)
    t, image = PLAIN["float32"], sheet("groups.images.x", "float32", (2, 6, 3, 4), 61)
    refuse("groupNorm", [R, PLAIN["int64"], 1, NULL, NULL, 1e-5])
    refuse("groupNorm", [R, t, 1, PLAIN["float64"], NULL, 1e-5])
    refuse("groupNorm", [R, t, 1, NULL, t, 1e-5], ERR_SHAPE)
    refuse("groupNorm", [R, tensor("three", 3, "float32"), 1, NULL, NULL, 1e-5], ERR_SHAPE)
    refuse("groupNormGrad", [R, R, R, t, NONZERO["float32"], 1, NULL, 1e-5], ERR_SHAPE)
    for count in (0, 4, -1):
        refuse("groupNorm", [R, image, count, NULL, NULL, 1e-5], ERR_ARGUMENT)
        refuse("groupNormGrad", [R, R, R, image, image, count, NULL, 1e-5], ERR_ARGUMENT)
    refuse("instanceNorm", [R, t, NULL, NULL, 1e-5], ERR_SHAPE)
    refuse("instanceNorm", [R, image, image, NULL, 1e-5], ERR_SHAPE)


def responses():
    for dtype, (name, shape) in itertools.product(FLOATS, {"images": (2, 6, 3, 4), "line": (3, 4, 5), "channels": (2, 1, 6)}.items()):
        x = sheet(f"groups.{name}.x", dtype, shape, 61)
        more = f"unsigned abs={1e-12 if dtype == 'float64' else 3e-6}"
        for size, *numbers in ((1, 1e-4, 0.75, 1), (2, 0.5, 0.75, 2), (5, 1, 0.5, 1), (9, 0.25, 2, 1)):
            y = functional.local_response_norm(x.value.double(), size, *numbers)
            expect("localResponseNorm", [R, x, size, *numbers], y.to(x.value.dtype), ulps=8, more=more)
    for shape in ((0, 4, 3), (2, 4, 0), (2, 0, 3)):
        x = sheet(f"groups.empty{'x'.join(map(str, shape))}", "float32", shape, 65)
        expect("localResponseNorm", [R, x, 3, 1e-4, 0.75, 1], x.value)
    t = PLAIN["float32"]
    refuse("localResponseNorm", [R, PLAIN["int64"], 3, 1e-4, 0.75, 1])
    refuse("localResponseNorm", [R, tensor("row2", [1, 2], "float32"), 3, 1e-4, 0.75, 1], ERR_SHAPE)
    for size in (0, -1):
        refuse("localResponseNorm", [R, t, size, 1e-4, 0.75, 1], ERR_ARGUMENT)


REDUCTIONS = ["none", "mean", "sum"]


def losses():
    shapes = {"scores": (5,), "batch": (6, 5), "images": (2, 5, 3, 4), "many": (20000, 3), "nobody": (0, 5), "empty": (2, 5, 0)}
    for dtype, (name, shape) in itertools.product(FLOATS, shapes.items()):
        if name == "many" and dtype != "float32" or dtype in HALVES and name not in ("batch", "images"):
            continue
        t = sheet(f"{name}.t", dtype, shape, 31, -64, 16)
        places = shape[:1] * (len(shape) > 1) + shape[2:]
        count, classes = math.prod(places), shape[min(1, len(shape) - 1)]
        chosen = [(3 * i * i + i) % classes if i % 4 != 3 else -100 for i in range(count)]
        target = Operand(f"target.{name}.{dtype}", torch.tensor(chosen, dtype=torch.int32 if name == "batch" else torch.int64).reshape(places))
        nobody = Operand(f"nobody.{name}.{dtype}", torch.full(places, -100))
        for of_weight, reduction in itertools.product((None, dtype) if dtype not in HALVES else (None, dtype, "float32"), range(3)):
            weight = of_weight and tensor(f"classes{classes}.{of_weight}", [0.5 + 0.25 * i for i in range(classes)], of_weight)
            loss(dtype, t, target, weight, reduction, -100)
        loss(dtype, t, nobody, None, 1, -100)
        loss(dtype, t, nobody, None, 2, -100)
        # The ignored class may be one of the classes.
        inside = Operand(f"inside.{name}.{dtype}", torch.tensor([i % classes for i in range(count)], dtype=torch.int64).reshape(places))
        loss(dtype, t, inside, None, 1, 2)
    refusals()


def loss(dtype, t, target, weight, reduction, ignored):
    wide = t.value.double().requires_grad_()
    places = target.value.long()
    factors = None if weight is None else weight.value.double()
    how = dict(weight=factors, ignore_index=ignored, reduction=REDUCTIONS[reduction])
    every = 997 if t.value.numel() > 1000 else 1
    bound = "unsigned abs=1e-12" if dtype == "float64" else "unsigned abs=3e-6"
    for name, f in (("nllLoss", functional.nll_loss), ("crossEntropy", functional.cross_entropy)):
        r = f(wide, places, **how)
        arguments = [target, NULL if weight is None else weight, reduction, ignored]
        expect(name, [R, t, *arguments], r.detach().to(t.value.dtype), ulps=4, every=every, more=bound)
        g = sheet(f"of_loss{'x'.join(map(str, r.shape))}", dtype, tuple(r.shape), 32)
        gradient, = torch.autograd.grad(r, wide, g.value.double())
        expect(f"{name}Grad", [R, g, t, *arguments], gradient.to(t.value.dtype), ulps=4, every=every, more=bound)


def refusals():
    t, target = tensor("t23", [[1, 2, 3], [4, 5, 6]], "float32"), tensor("target2", [0, 2], "int64")
    bad, low = tensor("bad2", [0, 3], "int64"), tensor("low2", [-1, 0], "int64")
    one, weight = tensor("g", 1, "float32"), tensor("weight2", [1, 2], "float32")
    for name, first in (("nllLoss", []), ("nllLossGrad", [one]), ("crossEntropy", []), ("crossEntropyGrad", [one])):
        refuse(name, [R, *first, t, bad, NULL, 1, -100], ERR_ARGUMENT)
        refuse(name, [R, *first, t, low, NULL, 1, -100], ERR_ARGUMENT)
        refuse(name, [R, *first, t, target, NULL, 3, -100], ERR_ARGUMENT)
        refuse(name, [R, *first, t, tensor("target3", [0, 1, 2], "int64"), NULL, 1, -100], ERR_SHAPE)
        refuse(name, [R, *first, t, target, weight, 1, -100], ERR_SHAPE)
        refuse(name, [R, *first, t, PLAIN["float32"], NULL, 1, -100], ERR_SHAPE)
        refuse(name, [R, *first, t, tensor("target2.float32", [0, 1], "float32"), NULL, 1, -100])
        refuse(name, [R, *first, t, target, tensor("weight3.float64", [1, 2, 3], "float64"), 1, -100])
        refuse(name, [R, *first, tensor("three", 3, "float32"), target, NULL, 1, -100], ERR_SHAPE)
        if first:
            refuse(name, [R, weight, t, target, NULL, 1, -100], ERR_SHAPE)
            refuse(name, [R, tensor("g.int64", 1, "int64"), t, target, NULL, 1, -100])
        else:
            refuse(name, [R, tensor("t23.int64", [[1, 2, 3], [4, 5, 6]], "int64"), target, NULL, 1, -100])


def reduced(values, reduction):
    return [lambda: values, values.mean, values.sum, lambda: values.sum() / values.shape[0]][reduction]()


def distances():
    """Losses by element."""
    kinds = {
        "mseLoss": ([], lambda a, b: (a - b) ** 2),
        "l1Loss": ([], lambda a, b: (a - b).abs()),
        "smoothL1Loss": ([0.75], lambda a, b: functional.smooth_l1_loss(a, b, reduction="none", beta=0.75)),
        "huberLoss": ([1.25], lambda a, b: functional.huber_loss(a, b, reduction="none", delta=1.25)),
    }
    for dtype, reduction in itertools.product(FLOATS, range(4)):
        bound = "unsigned abs=1e-12" if dtype == "float64" else "unsigned abs=3e-6"
        for name, (shape, other) in {"flat": ((5, 7), (5, 7)), "row": ((5, 7), (7,)), "both": ((4, 1), (3,)), "none": ((3, 0), (3, 0))}.items():
            a, b = sheet(f"{name}.a", dtype, shape, 41), sheet(f"{name}.b", dtype, other, 42)
            wide = torch.broadcast_tensors(a.value.double(), b.value.double())
            for loss, (numbers, f) in kinds.items():
                expect(loss, [R, a, b, reduction, *numbers], reduced(f(*wide), reduction).to(a.value.dtype), ulps=4, more=bound)
            truth = sheet(f"{name}.truth", dtype, other, 43, 0, 9)
            weight, positive = sheet(f"{name}.weight", dtype, shape[-1:], 44, 1, 17), sheet(f"{name}.positive", dtype, shape[-1:], 45, 1, 33)
            x, y = torch.broadcast_tensors(a.value.double(), truth.value.double())
            for given in range(4):
                w, p = weight if given & 1 else None, positive if given & 2 else None
                up = y * functional.softplus(-x, threshold=1e9) * (1 if p is None else p.value.double())
                values = (up + (1 - y) * functional.softplus(x, threshold=1e9)) * (1 if w is None else w.value.double())
                expect("bceWithLogits", [R, a, truth, w or NULL, p or NULL, reduction], reduced(values, reduction).to(a.value.dtype), ulps=6, more=bound)
            low = sheet(f"{name}.low", dtype, other, 46, -40, 0)
            values = torch.special.xlogy(y, y) - y * x
            expect("klDiv", [R, a, truth, 0, reduction], reduced(values, reduction).to(a.value.dtype), ulps=6, more=bound)
            logs = torch.broadcast_tensors(x, low.value.double())[1]
            expect("klDiv", [R, a, low, 1, reduction], reduced(logs.exp() * (logs - x), reduction).to(a.value.dtype), ulps=6, more=bound)
    for dtype in FLOATS:
        # Squares beyond float16 have a mean within it, and a sum of many small losses is not rounded on the way.
        far, near = tensor(f"far2.{dtype}", [300, 0], dtype), tensor(f"near2.{dtype}", [0, 0], dtype)
        expect("mseLoss", [R, far, near, 1], torch.tensor(45000).to(far.value.dtype))
        expect("mseLoss", [R, far, near, 3], torch.tensor(45000).to(far.value.dtype))
        # A share of 0 is 0, of infinities as well; PyTorch has NaN.
        t, truth = tensor(f"ends4.{dtype}", [INF, INF, INF, -INF, -INF, -INF, NAN], dtype), tensor(f"truth4.{dtype}", [0, 0.5, 1, 0, 0.5, 1, 1], dtype)
        losses = torch.tensor([INF, INF, 0, 0, INF, INF, NAN], dtype=t.value.dtype)
        expect("bceWithLogits", [R, t, truth, NULL, NULL, 0], losses, more="unsigned")
        expect("bceWithLogits", [R, t, truth, NULL, tensor(f"two.{dtype}", 2, dtype), 0], losses, more="unsigned")
        # Positions that are ignored have no gradient, whatever their scores are.
        scores, target = tensor(f"ends23.{dtype}", [[INF, 1, INF], [1, 1, 1]], dtype), tensor("ignored2", [-100, 1], "int64")
        gradient = torch.tensor([[0, 0, 0], [1 / 3, -2 / 3, 1 / 3]], dtype=torch.float64).to(t.value.dtype)
        expect("crossEntropyGrad", [R, tensor(f"one.{dtype}", 1, dtype), scores, target, NULL, 1, -100], gradient, ulps=2)
    t, row = PLAIN["float32"], tensor("row2", [1, 2], "float32")
    for loss, numbers in (*((name, numbers) for name, (numbers, _) in kinds.items()), ("bceWithLogits", None), ("klDiv", None)):
        behind = lambda reduction: {"bceWithLogits": [NULL, NULL, reduction], "klDiv": [0, reduction]}.get(loss) or [reduction, *numbers]
        refuse(loss, [R, PLAIN["int32"], PLAIN["int32"], *behind(1)])
        refuse(loss, [R, t, row, *behind(1)], ERR_SHAPE)
        refuse(loss, [R, t, t, *behind(4)], ERR_ARGUMENT)
    refuse("smoothL1Loss", [R, t, t, 1, -0.5], ERR_ARGUMENT)
    refuse("huberLoss", [R, t, t, 1, 0], ERR_ARGUMENT)


def likelihoods():
    """Losses of probabilities, of counts and of normal distributions, and of rankings."""
    bound = {"float64": "unsigned abs=1e-12"}
    shapes = {"flat": ((5, 7), (5, 7)), "row": ((5, 7), (7,)), "both": ((4, 1), (3,)), "none": ((3, 0), (3, 0))}
    for dtype, reduction, (name, (shape, other)) in itertools.product(FLOATS, range(4), shapes.items()):
        more = bound.get(dtype, "unsigned abs=5e-6")
        near = lambda function, arguments, values, dtype=dtype: expect(
            function, [R, *arguments, reduction], reduced(values, reduction).to(getattr(torch, dtype)), ulps=8, more=more)
        a, b = sheet(f"{name}.a", dtype, shape, 41), sheet(f"{name}.b", dtype, other, 42)
        p, truth = sheet(f"{name}.p", dtype, shape, 71, 1, 7), sheet(f"{name}.share", dtype, other, 75, 0, 8)
        weight = sheet(f"{name}.weight", dtype, shape[-1:], 44, 1, 17)
        x, y = torch.broadcast_tensors(p.value.double(), truth.value.double())
        losses = functional.binary_cross_entropy(x, y, reduction="none")
        near("bce", [p, truth, NULL], losses)
        near("bce", [p, truth, weight], losses * weight.value.double())
        count, mean = sheet(f"{name}.count", dtype, other, 72, 0, 9, 0.75), sheet(f"{name}.mean", dtype, shape, 73, 1, 33)
        for logarithms, full in itertools.product((0, 1), (0, 1)):
            t = a if logarithms else mean
            x, y = torch.broadcast_tensors(t.value.double(), count.value.double())
            near("poissonNllLoss", [t, count, logarithms, full, 1e-3], functional.poisson_nll_loss(x, y, bool(logarithms), bool(full), eps=1e-3, reduction="none"))
        variance = sheet(f"{name}.variances", dtype, shape, 74, 1, 17)
        x, y, v = torch.broadcast_tensors(a.value.double(), b.value.double(), variance.value.double())
        for full in (0, 1):
            near("gaussianNllLoss", [a, b, variance, full, 0.0625], functional.gaussian_nll_loss(x, y, v.clone(), bool(full), 0.0625, "none"))
        sign = tensor(f"{name}.sign.{dtype}", [(-1) ** i for i in range(math.prod(other))], dtype, other)
        x, y, s = torch.broadcast_tensors(a.value.double(), b.value.double(), sign.value.double())
        near("marginRankingLoss", [a, b, sign, 0.3], functional.margin_ranking_loss(x, y, s, 0.3, reduction="none"))
    for dtype in FLOATS:
        # Logarithms are bounded; what is no probability gives NaN.
        p, truth = tensor(f"certain.{dtype}", [0, 0, 1, 1, -0.5, 1.5, NAN], dtype), tensor(f"certain.truth.{dtype}", [0, 1, 0, 1, 0, 1, 1], dtype)
        expect("bce", [R, p, truth, NULL, 0], torch.tensor([0, 100, 100, 0, NAN, NAN, NAN], dtype=p.value.dtype), more="unsigned")
        t, negative = tensor(f"two2.{dtype}", [1, 2], dtype), tensor(f"negative2.{dtype}", [-1, 0], dtype)
        v = torch.tensor([NAN, (math.log(0.5) + 0) / 2], dtype=torch.float64).to(t.value.dtype)
        expect("gaussianNllLoss", [R, t, t, negative, 0, 0.5, 0], v, ulps=2)
    t, row, whole = PLAIN["float32"], tensor("row2", [1, 2], "float32"), PLAIN["int32"]
    for function, operands, numbers in (("bce", 2, [NULL]), ("poissonNllLoss", 2, [1, 0, 1e-8]), ("gaussianNllLoss", 3, [0, 1e-6]), ("marginRankingLoss", 3, [0])):
        refuse(function, [R, *[whole] * operands, *numbers, 1])
        refuse(function, [R, t, row, *[t] * (operands - 2), *numbers, 1], ERR_SHAPE)
        refuse(function, [R, *[t] * operands, *numbers, 4], ERR_ARGUMENT)


def vectors():
    """The similarity and the distance of vectors."""
    for dtype, (name, shape, other) in itertools.product(FLOATS, (("flat", (5, 7), (5, 7)), ("row", (5, 7), (7,)), ("cube", (3, 4, 5), (4, 5)))):
        more = "unsigned abs=1e-12" if dtype == "float64" else "unsigned abs=5e-6"
        a, b = sheet(f"vectors.{name}.a", dtype, shape, 81), sheet(f"vectors.{name}.b", dtype, other, 82)
        c = sheet(f"vectors.{name}.c", dtype, shape, 83)
        x, y, z = torch.broadcast_tensors(*(t.value.double() for t in (a, b, c)))
        stored = lambda values, dtype=dtype: values.to(getattr(torch, dtype))
        for dim in (0, -1):
            expect("cosineSimilarity", [R, a, b, dim, 1e-8], stored(functional.cosine_similarity(x, y, dim, 1e-8)), ulps=4, more=more)
        for p, eps, keepdim in ((2, 1e-6, 0), (1, 0, 1), (3.5, 0.25, 0), (INF, 0, 0)):
            expect("pairwiseDistance", [R, a, b, p, eps, keepdim], stored(functional.pairwise_distance(x, y, p, eps, bool(keepdim))), ulps=8, more=more)
        sign = tensor(f"vectors.{name}.sign.{dtype}", [(1, -1, 0)[i % 3] for i in range(math.prod(shape[:-1]))], dtype, shape[:-1])
        cosines, signs = functional.cosine_similarity(x, y, -1), sign.value.double()
        embedded = torch.where(signs == 1, 1 - cosines, torch.where(signs == -1, (cosines - 0.125).clamp_min(0), 0))
        for reduction in range(4):
            expect("cosineEmbeddingLoss", [R, a, b, sign, 0.125, reduction], stored(reduced(embedded, reduction)), ulps=8, more=more)
            for p, swap in ((2, 0), (1, 1)):
                losses = functional.triplet_margin_loss(x, y, z, 1.3, p, 1e-6, bool(swap), reduction="none")
                expect("tripletMarginLoss", [R, a, b, c, 1.3, p, 1e-6, swap, reduction], stored(reduced(losses, reduction)), ulps=8, more=more)
        nothing = sheet(f"vectors.{name}.nothing", dtype, other, 84, 0, 0)
        expect("cosineSimilarity", [R, a, nothing, -1, 1e-8], stored(torch.zeros(shape[:-1])), more="unsigned")
    for dtype, scale in (("float32", 1e30), ("float64", 1e200)):
        # Squares of the elements overflow.
        great = tensor(f"vectors.great.{dtype}", [[3 * scale, 4 * scale], [scale, 0]], dtype)
        expect("cosineSimilarity", [R, great, tensor(f"vectors.axis.{dtype}", [1, 0], dtype), 1, 1e-8], torch.tensor([0.6, 1], dtype=great.value.dtype), ulps=4)
    t, row, one, whole = PLAIN["float32"], tensor("row2", [1, 2], "float32"), tensor("three", 3, "float32"), PLAIN["int32"]
    refuse("cosineSimilarity", [R, whole, whole, 1, 1e-8])
    refuse("cosineSimilarity", [R, t, row, 1, 1e-8], ERR_SHAPE)
    refuse("cosineSimilarity", [R, t, t, 2, 1e-8], ERR_ARGUMENT)
    refuse("pairwiseDistance", [R, whole, whole, 2, 1e-6, 0])
    refuse("pairwiseDistance", [R, t, row, 2, 1e-6, 0], ERR_SHAPE)
    refuse("pairwiseDistance", [R, one, one, 2, 1e-6, 0], ERR_SHAPE)
    refuse("cosineEmbeddingLoss", [R, t, t, row, 0, 1], ERR_SHAPE)
    refuse("cosineEmbeddingLoss", [R, whole, whole, row, 0, 1])
    refuse("tripletMarginLoss", [R, t, t, t, 0, 2, 1e-6, 0, 1], ERR_ARGUMENT)
    refuse("tripletMarginLoss", [R, t, t, t, 1, 2, 1e-6, 0, 4], ERR_ARGUMENT)
    refuse("tripletMarginLoss", [R, whole, whole, whole, 1, 2, 1e-6, 0, 1])


def smoothed():
    shapes = {"scores": (5,), "batch": (6, 5), "images": (2, 5, 3, 4)}
    for dtype, (name, shape), reduction, share in itertools.product(FLOATS, shapes.items(), range(3), (0.125, 1)):
        t = sheet(f"{name}.t", dtype, shape, 31, -64, 16)
        places = shape[:1] * (len(shape) > 1) + shape[2:]
        chosen = [(3 * i * i + i) % 5 if i % 4 != 3 else -100 for i in range(math.prod(places))]
        target = Operand(f"target.{name}.{dtype}", torch.tensor(chosen, dtype=torch.int32 if name == "batch" else torch.int64).reshape(places))
        bound = "unsigned abs=1e-12" if dtype == "float64" else "unsigned abs=5e-6"
        for of_weight in (None, dtype):
            weight = of_weight and tensor(f"classes5.{of_weight}", [0.5 + 0.25 * i for i in range(5)], of_weight)
            how = dict(weight=None if weight is None else weight.value.double(), reduction=REDUCTIONS[reduction], label_smoothing=share)
            r = functional.cross_entropy(t.value.double(), target.value.long(), **how)
            expect("crossEntropyLabelSmoothing", [R, t, target, weight or NULL, reduction, -100, share], r.to(t.value.dtype), ulps=4, more=bound)
    t, target = tensor("t23", [[1, 2, 3], [4, 5, 6]], "float32"), tensor("target2", [0, 2], "int64")
    refuse("crossEntropyLabelSmoothing", [R, t, target, NULL, 1, -100, 1.25], ERR_ARGUMENT)
    refuse("crossEntropyLabelSmoothing", [R, t, target, NULL, 3, -100, 0.1], ERR_ARGUMENT)
    refuse("crossEntropyLabelSmoothing", [R, PLAIN["int64"], target, NULL, 1, -100, 0.1])


def batches():
    """Batch normalization. c_tests/test_losses.c tests the update of running statistics."""
    shapes = {"rows": (6, 3), "images": (2, 3, 4, 5), "line": (4, 3, 7)}
    for dtype, (name, shape) in itertools.product(FLOATS, shapes.items()):
        x = sheet(f"batch.{name}", dtype, shape, 51)
        bound = f"unsigned abs={1e-12 if dtype == 'float64' else 3e-6}"
        for of_row, given in itertools.product([dtype] if dtype not in HALVES else [dtype, "float32"], (0, 1, 3)):
            weight = sheet(f"batch.w", of_row, (3,), 52) if given & 1 else None
            bias = sheet(f"batch.b", of_row, (3,), 53) if given & 2 else None
            mean, variance = sheet("batch.mean", of_row, (3,), 54), sheet("batch.variance", of_row, (3,), 55, 4, 40)
            double = lambda t: None if t is None else t.value.double()
            for training in (1, 0):
                running = [NULL, NULL] if training else [mean, variance]
                known = [None, None] if training else [mean.value.double(), variance.value.double()]
                y, m, s = aten.native_batch_norm(double(x), double(weight), double(bias), *known, bool(training), 0.1, 1e-5)
                if not training:
                    m, s = known[0], (known[1] + 1e-5).rsqrt()
                of_channels = torch.float64 if dtype == "float64" else torch.float32
                results = [y.to(x.value.dtype), m.to(of_channels), s.to(of_channels)]
                expect("batchNorm", [R, MAYBE, MAYBE, x, weight or NULL, bias or NULL, *running, training, 0.1, 1e-5], *results, ulps=4, more=bound)
    # Squares of the elements overflow.
    for dtype, scales in {"float32": (2e19, 1e37), "float64": (1e155, 1e300), "bfloat16": (2e19, 1e37)}.items():
        for scale in scales:
            unit = sheet("batch.images", dtype, shapes["images"], 51).value.double() / 8
            great = tensor(f"batch.great.{dtype}.{scale}", (unit * scale).tolist(), dtype)
            y, m, s = aten.native_batch_norm(great.value.double() / scale, None, None, None, None, True, 0.1, 0)
            of_channels = torch.float64 if dtype == "float64" else torch.float32
            results = [y.to(great.value.dtype), (m * scale).to(of_channels), (s / scale).to(of_channels)]
            expect("batchNorm", [R, MAYBE, MAYBE, great, NULL, NULL, NULL, NULL, 1, 0.1, 1e-5], *results, ulps=64, more="unsigned abs=1e-5")
    t = PLAIN["float32"]
    behind = [NULL, NULL, 1, 0.1, 1e-5]
    refuse("batchNorm", [R, NULL, NULL, PLAIN["int64"], NULL, NULL, *behind])
    refuse("batchNorm", [R, NULL, NULL, t, PLAIN["float64"], NULL, *behind])
    refuse("batchNorm", [R, NULL, NULL, t, t, NULL, *behind], ERR_SHAPE)
    refuse("batchNorm", [R, NULL, NULL, t, NULL, NULL, NULL, NULL, 0, 0.1, 1e-5], ERR_ARGUMENT)


def tables():
    for dtype in ALL:
        table = PLAIN[dtype]
        for name, places in {"vector": [0, 4, 2, 2], "matrix": [[1, 0, 3], [2, 2, 4]], "none": [], "scalar": 3}.items():
            index = Operand(f"rows.{name}", torch.tensor(places, dtype=torch.int64))
            expect("embedding", [R, table, index, 2 if name == "matrix" else -1], table.value[index.value])
    t, index = PLAIN["float32"], tensor("rows.bad", [0, 5], "int64")
    refuse("embedding", [R, t, index, -1], ERR_ARGUMENT)
    refuse("embedding", [R, t, tensor("rows.vector", [0, 4, 2, 2], "int64"), 5], ERR_ARGUMENT)
    refuse("embedding", [R, tensor("three", 3, "float32"), tensor("rows.vector", [0, 4, 2, 2], "int64"), -1], ERR_SHAPE)


def bags():
    modes = {0: "sum", 1: "mean", 2: "max"}
    cases = {"matrix": ([[1, 0, 3], [2, 2, 4]], None), "vector": ([0, 4, 2, 2, 1, 3, 0], [0, 3, 3, 4]), "padded": ([2, 2, 1, 2, 0], [0, 2]), "none": ([], [0, 0]),
             "long": ([k * k % 5 for k in range(300)], [0, 1, 7, 7, 290, 300])}
    for dtype in FLOATS:
        table = sheet("bag.table", dtype, (5, 70), 61)
        for name, (places, offsets) in cases.items():
            index = Operand(f"bag.{name}", torch.tensor(places, dtype=torch.int64))
            offsets = NULL if offsets is None else Operand(f"bag.offsets.{name}", torch.tensor(offsets, dtype=torch.int32 if name == "long" else torch.int64))
            starts = None if offsets is NULL else offsets.value.long()
            weights = sheet(f"bag.weights.{name}", dtype, tuple(index.value.shape), 62, -8, 8, 0.25)
            for padding in (-1, 2):
                def bag(mode, given=None):
                    ignored = None if padding < 0 else padding
                    return functional.embedding_bag(index.value, table.value.double(), starts, mode=mode, per_sample_weights=given, padding_idx=ignored).to(table.value.dtype)

                for mode, called in modes.items():
                    # A mean of 16-bit floats is rounded to float32 and then to 16 bits.
                    expect("embeddingBag", [R, table, index, offsets, mode, NULL, padding], bag(called), ulps=int(mode == 1))
                expect("embeddingBag", [R, table, index, offsets, 0, weights, padding], bag("sum", weights.value.double()))
        empty = Operand("bag.empty", torch.zeros((2, 0), dtype=torch.int64))
        special = tensor(f"bag.special.{dtype}", [1, NAN, 2, 5, INF, -INF], dtype, (3, 2))
        pairs = tensor("bag.pairs", [0, 1, 1, 2, 2, 2, 1, 0], "int64", (4, 2))
        # The greatest of numbers and NaN is NaN. PyTorch's result depends on the order of the rows.
        expect("embeddingBag", [R, special, pairs, NULL, 2, NULL, -1], special.value[pairs.value].amax(1))
        for mode in modes:
            expect("embeddingBag", [R, table, empty, NULL, mode, NULL, -1], torch.zeros(2, 70, dtype=table.value.dtype))
    table, index = PLAIN["float32"], tensor("bag.index", [0, 4, 2, 2], "int64")
    matrix, starts = tensor("bag.square", [0, 4, 2, 2], "int64", (2, 2)), tensor("bag.starts", [0, 2], "int64")
    weights = tensor("bag.four.float32", [1, 2, 3, 4], "float32")
    for wrong in ([1, 2], [0, 3, 2], [0, 5], [-1, 2], []):
        refuse("embeddingBag", [R, table, index, tensor(f"bag.wrong.{len(wrong)}.{sum(wrong)}", wrong, "int64"), 0, NULL, -1], ERR_ARGUMENT)
    for at in (5, -1):
        refuse("embeddingBag", [R, table, tensor(f"bag.beyond.{at}", [0, at], "int64"), starts, 0, NULL, -1], ERR_ARGUMENT)
        refuse("embeddingBag", [R, table, tensor(f"bag.beyond.{at}", [0, at], "int64"), starts, 2, NULL, 0], ERR_ARGUMENT)
    refuse("embeddingBag", [R, table, index, starts, 0, NULL, 5], ERR_ARGUMENT)
    refuse("embeddingBag", [R, table, index, starts, 3, NULL, -1], ERR_ARGUMENT)
    refuse("embeddingBag", [R, table, index, starts, 1, weights, -1], ERR_ARGUMENT)
    refuse("embeddingBag", [R, table, index, NULL, 0, NULL, -1], ERR_SHAPE)
    refuse("embeddingBag", [R, table, matrix, starts, 0, NULL, -1], ERR_SHAPE)
    refuse("embeddingBag", [R, table, matrix, NULL, 0, weights, -1], ERR_SHAPE)
    refuse("embeddingBag", [R, weights, index, starts, 0, NULL, -1], ERR_SHAPE)
    refuse("embeddingBag", [R, table, index, starts, 0, tensor("bag.four.float64", [1, 2, 3, 4], "float64"), -1])
    refuse("embeddingBag", [R, PLAIN["int64"], index, starts, 0, NULL, -1])
    refuse("embeddingBag", [R, table, weights, starts, 0, NULL, -1])
    refuse("embeddingBag", [R, table, index, weights, 0, NULL, -1])


def rows():
    activations()
    softmaxes()
    normalization()
    root_mean_squares()
    groups()
    responses()
    losses()
    distances()
    likelihoods()
    vectors()
    smoothed()
    batches()
    tables()
    bags()
