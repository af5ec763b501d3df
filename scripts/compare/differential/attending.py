"""Cases of attention and its gradients. The reference computes in float64, by PyTorch's function."""

import torch
from torch.nn import functional

from .calls import Call, Expected, R, one_dtype


class Attention:
    """The operands of attention. Masks of float32 may accompany 16-bit floats."""

    def __init__(self, draw):
        large = draw.chance(0.1)
        l, s = (draw.choice([0, 1, 2, 3, 5, 130] if large else [1, 2, 3, 5]) for _ in range(2))
        s = 270 if large and draw.chance(0.5) else s
        e, ev = (draw.choice([1, 2, 3, 8]) for _ in range(2))
        batch = [draw.choice([1, 2, 3]) for _ in range(draw.choice([0, 0, 1, 2]))]
        heads = draw.choice([1, 2])
        self.grouped = bool(batch) and draw.chance(0.3)
        keys = [*batch[:-1], heads] if self.grouped else batch
        queries = [*batch[:-1], heads * draw.choice([1, 2, 3]) if draw.chance(0.95) else 5] if self.grouped else batch
        # Without groups, dimensions of the batch may be broadcast. Without scores, PyTorch's results have the batch of the query.
        less = lambda sizes: sizes if self.grouped or not l * s else [1 if draw.chance(0.1) else n for n in sizes]
        self.dtype = draw.floats() if draw.chance(0.98) else draw.dtype()
        make = lambda shape: draw.operand(self.dtype, tuple(shape), "small")
        self.q, self.k, self.v = make([*less(queries), l, e]), make([*less(keys), s, e]), make([*less(keys), s, ev])
        self.causal, self.mask = draw.chance(0.3), None
        if draw.chance(0.4 if not self.causal else 0.03):
            shape = tuple(n if draw.chance(0.7) else 1 for n in [*queries, l, s])[draw.choice([0, 0, max(0, len(queries))]):]
            narrow = self.dtype in (torch.float16, torch.bfloat16)
            kind = draw.choice([torch.bool, torch.float32 if narrow else self.dtype, self.dtype])
            self.mask = draw.operand(kind, shape, "small")
        self.scale = draw.choice([0, 0, 0.25, -0.5, 1.5])

    def doubles(self):
        one_dtype([self.q, self.k, self.v])
        if not self.dtype.is_floating_point or (self.causal and self.mask is not None):
            raise RuntimeError("refused")
        # PyTorch does not check the heads if there are no keys.
        if self.grouped and self.q.value.shape[-3] % self.k.value.shape[-3]:
            raise RuntimeError("heads that are no multiple")
        # PyTorch reads wrong elements for some strides, and refuses some batches that broadcast.
        q, k, v = (t.value.double().contiguous() for t in (self.q, self.k, self.v))
        return [q.expand(*torch.broadcast_shapes(*(t.shape[:-2] for t in (q, k, v))), *q.shape[-2:]) if not self.grouped else q, k, v]

    def added(self):
        if self.mask is None:
            return None
        if self.mask.dtype not in (torch.bool, self.dtype) and not (self.mask.dtype == torch.float32 and self.dtype in (torch.float16, torch.bfloat16)):
            raise RuntimeError("a mask of another dtype")
        return self.mask.value if self.mask.dtype == torch.bool else self.mask.value.double()

    def run(self, q, k, v, mask):
        # Some of PyTorch's paths multiply both operands by the root of the scale, which is NaN for a negative scale.
        q, scale = (q * self.scale, 1.0) if self.scale else (q, None)
        return functional.scaled_dot_product_attention(q, k, v, mask, 0.0, self.causal, scale=scale, enable_gqa=self.grouped)

    def end(self):
        return [0.0, int(self.causal), float(self.scale), int(self.grouped)]

    def error(self, exact, size):
        """The results are sums of products of small numbers and weights, which are exponentials of small numbers."""
        coarse = torch.finfo(self.dtype).eps
        finest = torch.finfo(torch.promote_types(self.dtype, torch.float32)).eps
        scale = torch.full_like(exact, max(1.0, size) * (64 * finest / coarse + 1))
        return Expected(exact.to(self.dtype), [exact], scale, ulps=2)


def forward(draw):
    a = Attention(draw)

    def want():
        exact = a.run(*a.doubles(), a.added())
        return a.error(exact, a.v.value.double().abs().max().item() if a.v.value.numel() else 1.0)

    # The logarithms and the seed are compared by the table of expectations.
    return Call("scaledDotProductAttention", [R, None, None, None, a.q, a.k, a.v, a.mask, *a.end()], want)


def families():
    yield "scaledDotProductAttention", forward
