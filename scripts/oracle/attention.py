"""Attention and its gradients. The reference is the formula in float64, checked against PyTorch's function."""

import itertools

from torch.nn import functional

from .layers import HALVES, sheet
from .operands import *


def reference(q, k, v, mask, causal, scale, grouped):
    """The result, the logarithms of the sums of exponentials, and the weights."""
    if grouped and q.shape[-3] != k.shape[-3]:
        k, v = (t.repeat_interleave(q.shape[-3] // t.shape[-3], -3) for t in (k, v))
    scores = q @ k.mT * (scale or (q.shape[-1] or 1) ** -0.5)
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).tril().logical_not(), -INF)
    if mask is not None:
        scores = scores.masked_fill(~mask, -INF) if mask.dtype == torch.bool else scores + mask
    batch = torch.broadcast_shapes(scores.shape[:-2], v.shape[:-2])
    logs = scores.logsumexp(-1)
    weights = torch.where(scores == -INF, 0, scores - torch.where(logs == -INF, 0, logs).unsqueeze(-1)).exp() * (scores != -INF)
    return weights @ v, logs.expand(*batch, -1)


def close(a, b):
    return torch.allclose(a, b, rtol=1e-12, atol=1e-13)


# Shapes of query, key and value, the mask, causal, the scale, grouped heads.
TRUTHS, NUMBERS_ADDED = "truths", "numbers"
CASES = {
    "batch": ((2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 2), None, 0, 0, 0),
    "matrix": ((4, 5), (6, 5), (6, 2), None, 0, 0.5, 0),
    "few": ((3, 7, 4), (3, 5, 4), (3, 5, 4), None, 1, 0, 0),
    "many": ((3, 4, 4), (3, 6, 4), (3, 6, 3), None, 1, -1.25, 0),
    "heads": ((2, 6, 3, 4), (2, 2, 5, 4), (2, 2, 5, 3), None, 0, 0, 1),
    "heads_causal": ((4, 3, 4), (2, 5, 4), (2, 5, 3), None, 1, 0, 1),
    "heads_masked": ((2, 4, 3, 4), (2, 2, 5, 4), (2, 2, 5, 3), (NUMBERS_ADDED, (4, 3, 5)), 0, 0, 1),
    "one_head": ((2, 3, 3, 4), (2, 1, 5, 4), (2, 1, 5, 3), (TRUTHS, (2, 1, 3, 5)), 0, 0, 1),
    "apart": ((1, 3, 4), (2, 5, 4), (1, 5, 3), None, 0, 0, 0),
    "apart_values": ((2, 1, 3, 4), (5, 4), (3, 5, 2), None, 0, 0, 0),
    "truths": ((2, 3, 4), (2, 5, 4), (2, 5, 3), (TRUTHS, (3, 5)), 0, 0, 0),
    "columns": ((2, 3, 4), (2, 5, 4), (2, 5, 3), (NUMBERS_ADDED, (2, 1, 5)), 0, 0, 0),
    "rows": ((2, 3, 4), (2, 5, 4), (2, 5, 3), (NUMBERS_ADDED, (3, 1)), 0, 0, 0),
    "line": ((2, 3, 4), (2, 5, 4), (2, 5, 3), (NUMBERS_ADDED, (5,)), 0, 0, 0),
    "scalar": ((2, 3, 4), (2, 5, 4), (2, 5, 3), (NUMBERS_ADDED, ()), 0, 0, 0),
    "one": ((1, 1), (1, 1), (1, 1), None, 1, 0, 0),
    "blocks": ((2, 150, 5), (2, 300, 5), (2, 300, 3), None, 0, 0, 0),
    "blocks_causal": ((1, 300, 5), (1, 270, 5), (1, 270, 3), None, 1, 0, 0),
    "blocks_heads": ((4, 140, 3), (2, 280, 3), (2, 280, 2), (NUMBERS_ADDED, (1, 280)), 0, 0, 1),
    "blocks_truths": ((140, 3), (530, 3), (530, 2), (TRUTHS, (530,)), 0, 0, 0),
    "no_rows": ((2, 0, 4), (2, 5, 4), (2, 5, 3), None, 0, 0, 0),
    "no_columns": ((2, 3, 4), (2, 0, 4), (2, 0, 3), None, 0, 0, 0),
    "no_batch": ((0, 3, 4), (0, 5, 4), (0, 5, 3), None, 1, 0, 0),
    "no_sums": ((2, 3, 0), (2, 5, 0), (2, 5, 3), None, 0, 0, 0),
    "no_values": ((2, 3, 4), (2, 5, 4), (2, 5, 0), None, 0, 0, 0),
}


def masks(name, dtype, mask):
    if mask is None:
        return None
    kind, shape = mask
    if kind == NUMBERS_ADDED:
        return sheet(f"attention.{name}.mask", dtype, shape, 64, -16, 16)
    # The second row of a matrix is false.
    values = torch.tensor([(i * 7) % 3 > 0 for i in range(math.prod(shape))]).reshape(shape)
    if len(shape) > 1:
        values[..., 1, :] = False
    return Operand(f"attention.{name}.mask", values)


def attention():
    for dtype, (name, (*shapes, mask, causal, scale, grouped)) in itertools.product(FLOATS, CASES.items()):
        large = name.startswith("blocks")
        if dtype in HALVES and name not in ("batch", "heads_masked", "truths", "blocks_causal"):
            continue
        q, k, v = (sheet(f"attention.{name}.{letter}", dtype, shape, 61 + i, -24, 24) for i, (letter, shape) in enumerate(zip("qkv", shapes)))
        beside = [dtype, "float32"] if dtype in HALVES and name == "heads_masked" else [dtype]
        for of_mask in beside:
            added = masks(f"{name}.{of_mask}", of_mask, mask)
            compute = torch.float64 if dtype == "float64" else torch.float32
            inputs = [t.value.double().requires_grad_() for t in (q, k, v)]
            own = None if added is None else added.value if added.value.dtype == torch.bool else added.value.double().requires_grad_()
            y, logs = reference(*inputs, own, causal, scale, grouped)
            with torch.no_grad():
                native = functional.scaled_dot_product_attention(*inputs, own, 0.0, bool(causal), scale=scale or None, enable_gqa=bool(grouped))
            if y.numel() and not close(y, native):
                raise ValueError(f"PyTorch has another result for {name}")
            bound = f"unsigned abs={1e-13 if dtype == 'float64' else 2e-5}"
            every = 17 if large else 1
            end = [0, causal, scale, grouped]
            stored = y.detach().to(q.value.dtype)
            expect("scaledDotProductAttention", [R, MAYBE, MAYBE, NULL, q, k, v, added or NULL, *end], stored, logs.detach().to(compute), torch.tensor(0),
                   ulps=8, every=every, more=bound)
            saved = Operand(f"attention.{name}.y", stored), Operand(f"attention.{name}.logs", logs.detach().to(compute))
            g = sheet(f"attention.{name}.g", dtype, y.shape, 65, -8, 8)
            of_logs = sheet(f"attention.{name}.of_logs", dtype_name(saved[1].value), logs.shape, 66, -8, 8)
            summed = [*inputs, *([own] if own is not None and own.requires_grad else [])]
            least = 1e-11 if dtype == "float64" else 2e-2 if dtype in HALVES else 2e-4
            for arrived in (None, of_logs) if not large else (None,):
                loss = (y * g.value.double()).sum()
                if arrived is not None:
                    loss = loss + torch.where(logs == -INF, 0, logs * arrived.value.double()).sum()
                gradients = torch.autograd.grad(loss, summed, retain_graph=True, materialize_grads=True)
                if any(gradient.isnan().any() for gradient in gradients):
                    raise ValueError(f"a gradient of {name} is NaN")
                of_operands = [gradient.to(t.value.dtype) for gradient, t in zip(gradients, (q, k, v, added))]
                results = [MAYBE, MAYBE, MAYBE, MAYBE if len(summed) == 4 else NULL]
                expect("scaledDotProductAttentionGrad", [*results, g, arrived or NULL, *saved, NULL, q, k, v, added or NULL, *end], *of_operands,
                       ulps=16, every=every, more=f"unsigned abs={least}")


def refused():
    t, other = (sheet(f"attention.few.{letter}", "float32", (3, 5, 4), 70) for letter in ("t", "other"))
    name, end = "scaledDotProductAttention", [0, 0, 0, 0]
    mask, line = tensor("attention.some", [1, 0] * 10 + [1] * 5, "bool", (5, 5)), tensor("attention.short", [1, 0, 1, 1], "bool")
    narrow, single = tensor("attention.narrow", [1, 2, 3], "float32"), sheet("attention.single", "float32", (5, 4), 71)
    start = [R, NULL, NULL, NULL]
    refuse(name, [*start, PLAIN["int64"], PLAIN["int64"], PLAIN["int64"], NULL, *end])
    refuse(name, [*start, PLAIN["float64"], PLAIN["float32"], PLAIN["float32"], NULL, *end])
    refuse(name, [*start, t, t, t, sheet("attention.wide", "float64", (5, 5), 72), *end])
    refuse(name, [*start, t, t, t, tensor("attention.bytes", [1] * 5, "uint8"), *end])
    refuse(name, [*start, t, t, narrow, NULL, *end], ERR_SHAPE)
    refuse(name, [*start, t, PLAIN["float32"], t, NULL, *end], ERR_SHAPE)
    refuse(name, [*start, t, t, t, line, *end], ERR_SHAPE)
    refuse(name, [*start, single, single, single, sheet("attention.large", "float32", (2, 5, 5), 73), *end], ERR_SHAPE)
    refuse(name, [*start, sheet("attention.five", "float32", (5, 5, 4), 74), t, t, NULL, 0, 0, 0, 1], ERR_SHAPE)
    refuse(name, [*start, sheet("attention.six", "float32", (6, 5, 4), 75), t, t, NULL, *end], ERR_SHAPE)
    refuse(name, [*start, t, t, t, mask, 0, 1, 0, 0], ERR_ARGUMENT)
    for p in (-0.1, 1.5, NAN):
        refuse(name, [*start, t, t, t, NULL, p, 0, 0, 0], ERR_ARGUMENT)
    name, logs = name + "Grad", sheet("attention.few.logs", "float32", (3, 5), 76)
    refuse(name, [R, R, R, NULL, t, NULL, t, single, NULL, t, t, t, NULL, *end], ERR_SHAPE)
    refuse(name, [R, R, R, NULL, single, NULL, t, logs, NULL, t, t, t, NULL, *end], ERR_SHAPE)
    refuse(name, [R, R, R, NULL, PLAIN["float64"], NULL, t, logs, NULL, t, t, t, NULL, *end])
    refuse(name, [R, R, R, R, t, NULL, t, logs, NULL, t, t, t, mask, *end], ERR_ARGUMENT)
    refuse(name, [R, R, R, R, t, NULL, t, logs, NULL, t, t, t, NULL, *end], ERR_ARGUMENT)
    refuse(name, [R, R, R, NULL, t, NULL, t, logs, NULL, t, t, t, NULL, 0.5, 0, 0, 0], ERR_ARGUMENT)
    refuse(name, [R, R, R, NULL, t, NULL, t, logs, tensor("attention.seed", 3, "float32"), t, t, t, NULL, 0.5, 0, 0, 0])


def rows():
    attention()
    refused()
