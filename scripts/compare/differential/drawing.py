"""Draws dtypes, shapes, values and layouts. The seed and the number determine the whole case."""

import math
import random

import torch

from ..library import ALL, FLOATS, INTEGERS
from .operand import Operand


LARGE = [(1000,), (70, 33), (300, 7), (3, 1025), (4096,), (129, 65), (2, 3, 500), (17, 4, 31), (20000,), (5, 2, 9, 11), (64, 64), (700, 16)]
EDGES = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 0.5, 1e-3, 88.0, 1e30, -1e30, 1e-40, 65504.0, 3.4e38, 2.0**-149]
NUMBERS = [0, 1, -1, 2, 3, -2, 7, 0.5, -1.5, 2.5, 0.25]
EXACT = [x / 4 for x in range(-32, 33)]


class Draw:
    """The random source of one case."""

    def __init__(self, seed, number):
        self.random = random.Random(f"{seed}:{number}")
        self.choice, self.chance = self.random.choice, lambda p: self.random.random() < p

    def dtype(self, among=ALL):
        return self.choice(among)

    def shape(self, rank=None, large=True):
        """Rank 0 to 4, sizes 0 to 3, rarely 0, rarely a large size."""
        if rank is None and large and self.chance(0.03):
            return self.choice(LARGE)
        rank = self.choice([0, 1, 1, 2, 2, 2, 3, 3, 4]) if rank is None else rank
        sizes = [0, 1, 2, 3] if self.chance(0.15) else [1, 2, 3, 2, 3]
        return tuple(self.choice(sizes) for _ in range(rank))

    def within(self, shape):
        """A shape that mostly broadcasts to `shape`."""
        if self.chance(0.03):
            return self.shape(large=False)
        shape = tuple(1 if self.chance(0.2) else n for n in shape)
        return shape[self.random.randrange(len(shape) + 1) :] if self.chance(0.25) else shape

    def beside(self, shape):
        """Another shape, often nearly the same: one size changed, or one dimension more or less."""
        if self.chance(0.3):
            return self.shape(large=False)
        sizes, at = list(shape), self.random.randrange(len(shape) + 1)
        if self.chance(0.3):
            sizes.insert(at, self.choice([1, 1, 2, 3]))
        elif sizes and self.chance(0.3):
            del sizes[at % len(sizes)]
        elif sizes:
            sizes[at % len(sizes)] = self.choice([0, 1, 2, 3])
        return tuple(sizes)

    def dim(self, rank):
        """A dimension, counted from either end, or rarely an invalid one."""
        if self.chance(0.03):
            return self.choice([rank, -rank - 1, 5, -6])
        return self.random.randrange(-max(rank, 1), max(rank, 1))

    def number(self, more=()):
        return self.choice([*NUMBERS, *more])

    def numbers(self, n, dtype, values):
        """`n` values in a vector. `values` is plain, small (multiples of a power of two), positive, or any."""
        if dtype == torch.bool:
            return torch.tensor([self.random.random() < 0.5 for _ in range(n)], dtype=torch.bool)
        if values == "any" and self.chance(0.6):
            values = "plain"
        if n > 200:
            few = self.numbers(101, dtype, values)
            return few[torch.randint(101, (n,), generator=torch.Generator().manual_seed(self.random.randrange(2**31)))]
        if dtype in INTEGERS:
            ends = torch.iinfo(dtype)
            pool = {"any": [*range(max(ends.min, -9), 12), ends.min, ends.max, ends.max - 1, ends.max // 3, 100, 64, 31]}.get(
                values, range(1, 10) if values == "positive" else range(max(ends.min, -9), 12))
            return torch.tensor(self.random.choices(pool, k=n), dtype=dtype)
        if values == "any":
            xs = [self.choice(EDGES) if self.chance(0.4) else self.random.gauss(0, 3) for _ in range(n)]
        elif values == "small":
            xs = self.random.choices(EXACT, k=n)
        elif values == "positive":
            xs = [math.exp(self.random.gauss(0, 1)) for _ in range(n)]
        else:
            xs = [self.random.gauss(0, 3) for _ in range(n)]
        return torch.tensor(xs, dtype=torch.float64).to(dtype)

    def layout(self, shape, written):
        """Strides and an offset for a shape, and the number of elements that they span. A written tensor has one position for each
        element."""
        rank = len(shape)
        order, steps, gaps, offset, still = list(range(rank)), [1] * rank, [0] * rank, 0, set()
        kind = self.choice(["plain", "plain", "plain", "permuted", "narrowed", "stepped", "expanded", "last", "mixed", "windows"])
        if kind == "last" and rank >= 3:
            order = [0, *range(2, rank), 1]
        if kind in ("permuted", "mixed"):
            self.random.shuffle(order)
        if kind in ("narrowed", "mixed"):
            gaps, offset = [self.choice([0, 0, 1, 2]) for _ in shape], self.choice([0, 1, 2, 5])
        if kind in ("stepped", "mixed"):
            steps = [self.choice([1, 2]) for _ in shape]
        if kind in ("expanded", "mixed") and not written:
            still = {d for d in range(rank) if self.chance(0.4)}
        strides, span = [0] * rank, 1
        for d in reversed(order):
            strides[d] = span * steps[d]
            if d in still:
                strides[d] = 0
            else:
                span *= max(shape[d], 1) * steps[d] + gaps[d]
        if kind == "windows" and not written and rank >= 2:
            strides[self.random.randrange(rank)] = 1
        reach = sum((n - 1) * s for n, s in zip(shape, strides)) + 1 if math.prod(shape) else 0
        length = offset + reach + self.choice([0, 0, 1, 3]) if kind != "plain" else reach
        return strides, offset, max(length, offset)

    def operand(self, dtype, shape, values="any", written=False):
        strides, offset, length = self.layout(shape, written)
        return Operand(self.numbers(length, dtype, values), shape, strides, offset)

    def floats(self):
        return self.dtype(FLOATS)
