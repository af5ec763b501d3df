"""Cases of recurrent layers and of single cells."""

import torch

from .calls import Call, Expected, MAYBE, R

GATES = {"lstm": 4, "gru": 3, "rnn": 1}
# Gates are computed from values of this size, so that they neither saturate nor amplify errors of earlier steps much.
SHARE = 0.125


def near_zero(draw, dtype, shape):
    operand = draw.operand(dtype, shape, "plain")
    # Long rows of weights amplify as much as rows of 10: with more, PyTorch's float32 results have errors of 1e-5, too.
    operand.base.mul_(SHARE / max(1, shape[-1] / 10) ** 0.5)
    return operand


def judged(results, dtype):
    """Errors of one step enter the next. They are measured in units of the largest number."""
    halves = torch.finfo(dtype).bits == 16
    return tuple(Expected(t.to(dtype), [t], t.abs().amax().clamp(min=1).expand(t.shape) if t.numel() else t, 2 if halves else 64) for t in results)


def network(draw):
    kind, dtype = draw.choice(list(GATES)), draw.floats()
    time, batch, inputs, hidden = (draw.random.randrange(1, most + 1) for most in (6, 4, 4, 5))
    if draw.chance(0.05):
        batch, hidden = 20, 33
    layers, both, batch_first, biased, relu = draw.choice([1, 1, 2, 3]), draw.chance(0.5), draw.chance(0.5), draw.chance(0.7), draw.chance(0.5)
    directions, rows = 1 + both, GATES[kind] * hidden
    shapes = []
    for side in range(layers * directions):
        shapes += [(rows, inputs if side < directions else directions * hidden), (rows, hidden)] + [(rows,)] * 2 * biased
    weights = [near_zero(draw, dtype, shape) for shape in shapes]
    x = near_zero(draw, dtype, (batch, time, inputs) if batch_first else (time, batch, inputs))
    count = 2 if kind == "lstm" else 1
    states = [near_zero(draw, dtype, (layers * directions, batch, hidden)) if draw.chance(0.6) else None for _ in range(count)]
    lengths = None
    if draw.chance(0.6):
        lengths = draw.operand(draw.choice([torch.int32, torch.int64]), (batch,), "plain")
        least, beyond = draw.choice([0, 1]), draw.chance(0.03)
        lengths.base.copy_(torch.tensor([draw.random.randrange(least, time + 1 + beyond) for _ in range(lengths.base.numel())]))

    def want():
        from oracle.recurrent import by_torch

        given = lengths and lengths.value.long()
        if lengths and (given > time).any():
            raise RuntimeError("no such length")
        if lengths and (given == 0).all():
            first = [torch.zeros(layers * directions, batch, hidden) if s is None else s.value for s in states]
            return judged([torch.zeros(*x.value.shape[:2], directions * hidden).double(), *(s.double() for s in first)], dtype)
        results = by_torch(kind, x.value, [s and s.value for s in states], [w.value for w in weights], given, layers, both, batch_first, relu)
        return judged([t.detach() for t in results], dtype)

    more = [int(relu)] if kind == "rnn" else []
    return Call(kind, [R, *[MAYBE] * count, None, x, *states, weights, len(weights), lengths, layers, int(both), int(batch_first), *more], want)


def cell(draw):
    kind, dtype, relu = draw.choice(list(GATES)), draw.floats(), draw.chance(0.5)
    batch, inputs, hidden = (draw.random.randrange(1, most + 1) for most in (4, 4, 5))
    rows = GATES[kind] * hidden
    x, h, c = (near_zero(draw, dtype, (batch, n)) for n in (inputs, hidden, hidden))
    weights = [near_zero(draw, dtype, shape) for shape in ((rows, inputs), (rows, hidden), *([(rows,), (rows,)] if draw.chance(0.7) else []))]

    def want():
        f = {"lstm": torch.lstm_cell, "gru": torch.gru_cell, "rnn": torch.rnn_relu_cell if relu else torch.rnn_tanh_cell}[kind]
        states = (h.value.double(), c.value.double()) if kind == "lstm" else h.value.double()
        results = f(x.value.double(), states, *(w.value.double() for w in weights))
        return judged(results if kind == "lstm" else [results], dtype)

    own = [MAYBE, None, x, h, c] if kind == "lstm" else [None, x, h]
    more = [int(relu)] if kind == "rnn" else []
    return Call(f"{kind}Cell", [R, *own, *weights, *[None] * (4 - len(weights)), *more], want)


def families():
    for draw_call in (network, network, cell):
        yield draw_call.__name__, draw_call
