"""Operations: the loss of connectionist temporal classification."""

from torch.nn import functional as nn

from .operands import *

REDUCTIONS = ["none", "mean", "sum"]


def labels(name, values, dtype="int64"):
    shape = (len(values), len(values[0])) if values and isinstance(values[0], list) else (len(values),)
    flat = [label for row in values for label in row] if len(shape) == 2 else values
    return tensor(f"ctc.{name}", flat, dtype, shape)


# The numbers of steps and classes, the labels, the lengths of the input and of the labels, and the blank.
CASES = {
    "rows": (6, 4, [[1, 2, 2], [3, 1, 3]], [6, 5], [3, 2], 0),
    "joined": (5, 5, [0, 1, 1, 4, 2], [5, 3, 4], [3, 0, 2], 3),
    "impossible": (3, 3, [[1, 1], [1, 2]], [2, 3], [2, 2], 0),
    "long": (40, 3, [[k % 2 + 1 for k in range(17)]], [40], [17], 0),
    "empty": (4, 3, [[1, 2], [2, 1]], [0, 4], [0, 1], 0),
}


def losses(name, case, dtype):
    steps, classes, given, inputs, targets, blank = case
    batch = len(inputs)
    scores = [(k * 37 % 101) / 40 - 1.2 for k in range(steps * batch * classes)]
    logarithms = torch.log_softmax(torch.tensor(scores, dtype=torch.float64).reshape(steps, batch, classes), 2)
    x = tensor(f"ctc.{name}.{dtype}", logarithms.flatten().tolist(), dtype, (steps, batch, classes))
    index, of_input, of_target = labels(name, given), labels(f"{name}.inputs", inputs), labels(f"{name}.targets", targets, "int32")
    wide = x.value.double().requires_grad_()
    tolerance = {"float64": 1e-12, "float32": 1e-5, "float16": 1e-2, "bfloat16": 0.1}[dtype]
    near = {"ulps": 4, "more": f"unsigned abs={tolerance:g}"}
    for reduction, called in enumerate(REDUCTIONS):
        for zero in (0, 1):
            r = nn.ctc_loss(wide, index.value, of_input.value, of_target.value.long(), blank, called, bool(zero))
            options = [index, of_input, of_target, blank, reduction, zero]
            expect("ctcLoss", [R, x, *options], r.detach().to(x.value.dtype), **near)
            if not zero:
                continue
            g = tensor(f"ctc.g.{dtype}.{batch if reduction == 0 else 1}", [2, -1, 3][: batch if reduction == 0 else 1], dtype, r.shape)
            found = torch.autograd.grad(r, wide, g.value.double())[0]
            # PyTorch adds e^logProbs to the gradient of a sample with an alignment.
            each = nn.ctc_loss(wide, index.value, of_input.value, of_target.value.long(), blank, "none", False).detach()
            factor = g.value.double() / (of_target.value.clamp(min=1) * batch if reduction == 1 else torch.ones(batch))
            counts = (torch.arange(steps)[:, None] < of_input.value) & each.isfinite()
            want = torch.where(counts[..., None], found - wide.detach().exp() * factor[:, None], 0.0)
            expect("ctcLossGrad", [R, g, x, *options], want.to(x.value.dtype), **near)


def rows():
    for dtype in FLOATS:
        for name, case in CASES.items():
            if dtype in ("float32", "float64") or name == "rows":
                losses(name, case, dtype)
    x = tensor("ctc.x", [-1, -2, -0.5, -3, -1.5, -0.25], "float32", (3, 1, 2))
    whole, one, two = tensor("ctc.whole", [1] * 6, "int32", (3, 1, 2)), labels("one", [1]), labels("two", [2])
    good, few = labels("good", [[1]]), tensor("ctc.scalar", [1], "int64", ())
    three, four, narrow = labels("three", [3]), labels("four", [4]), tensor("ctc.real", [1], "float32", (1,))
    wrong = [
        ([R, x, two, three, one, 0, 1, 0], ERR_ARGUMENT),
        ([R, x, good, four, one, 0, 1, 0], ERR_ARGUMENT),
        ([R, x, good, three, two, 0, 1, 0], ERR_ARGUMENT),
        ([R, x, good, three, one, 2, 1, 0], ERR_ARGUMENT),
        ([R, x, good, three, one, 1, 1, 0], ERR_ARGUMENT),
        ([R, x, good, three, one, 0, 3, 0], ERR_ARGUMENT),
        ([R, x, few, three, one, 0, 1, 0], ERR_SHAPE),
        ([R, x, labels("pair", [1, 1]), three, one, 0, 1, 0], ERR_SHAPE),
        ([R, x, good, labels("lengths", [3, 3]), one, 0, 1, 0], ERR_SHAPE),
        ([R, PLAIN["float32"], good, three, one, 0, 1, 0], ERR_SHAPE),
        ([R, whole, good, three, one, 0, 1, 0], ERR_DTYPE),
        ([R, x, good, narrow, one, 0, 1, 0], ERR_DTYPE),
    ]
    for arguments, status in wrong:
        refuse("ctcLoss", arguments, status)
    refuse("ctcLossGrad", [R, x, x, good, three, one, 0, 1, 0], ERR_SHAPE)
