"""Operands: values of a dtype and shape, in memory that all libraries share."""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil, prod
from typing import Callable

import numpy as np
import torch

DTYPES = {
    "u8": torch.uint8,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "bool": torch.bool,
}


def sizes(shape):
    """The sizes that a row writes as "1e6" or "1000x1000"."""
    return tuple(int(float(size)) for size in shape.split("x"))


def memory(dtype, shape):
    """An uninitialised tensor aligned to a cache line. NumPy requests huge pages for large ones."""
    size = prod(shape) * dtype.itemsize
    raw = np.empty(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return torch.from_numpy(raw[start : start + size]).view(dtype).view(shape)


def copied(tensor):
    """A row-major copy in other memory."""
    return memory(tensor.dtype, tensor.shape).copy_(tensor)


def any_values(dtype, random, count):
    if dtype == torch.bool:
        return random.random(count) < 0.5
    if dtype.is_floating_point:
        return random.standard_normal(count, np.float32)
    return random.integers(1, 100, count)


def between(dtype, random, count, low, high):
    if dtype.is_floating_point:
        return random.random(count, np.float64) * (high - low) + low
    return random.integers(ceil(low), ceil(high), count)


def ascending(dtype, random, count):
    """Sorted numbers from 0 to 1."""
    return np.sort(random.random(count, np.float64))


def permuted(dtype, random, count):
    """The numbers from 0 to `count` - 1 in random order."""
    return random.permutation(count)


def numbered_from_one(dtype, random, count):
    return np.arange(1, count + 1)


def starts(dtype, random, count, entries):
    """The row starts of a matrix with `entries` entries, and the number of entries."""
    drawn = np.sort(random.integers(0, entries + 1, count))
    drawn[0], drawn[-1] = 0, entries
    return drawn


def band_starts(dtype, random, count):
    """The row starts of a square matrix with three diagonals, and the number of entries."""
    drawn = 3 * np.arange(count) - 1
    drawn[0], drawn[-1] = 0, 3 * (count - 1) - 2
    return drawn


def band_columns(dtype, random, count, rows):
    return (np.repeat(np.arange(rows), 3) + np.tile([-1, 0, 1], rows))[1:-1]


def band_values(dtype, random, count, rows):
    """The values of a symmetric positive definite matrix."""
    return np.tile([-1, 4, -1], rows)[1:-1]


def lower_starts(dtype, random, count):
    """The row starts of a square matrix with two diagonals, and the number of entries."""
    return np.maximum(2 * np.arange(count) - 1, 0)


def lower_columns(dtype, random, count, rows):
    return (np.repeat(np.arange(rows), 2) + np.tile([-1, 0], rows))[1:]


def lower_values(dtype, random, count, rows):
    return np.tile([-1, 4], rows)[1:]


def in_windows(dtype, random, count, width):
    """A position in each 2 x 2 window, in planes with as many windows in a row as in a column."""
    window = np.arange(count) % (width * width)
    first = window // width * 4 * width + window % width * 2
    return first + random.integers(0, 2, count) * 2 * width + random.integers(0, 2, count)


@dataclass(frozen=True)
class Operand:
    """How to make an operand. None means as in the row."""

    draw: Callable = any_values
    limits: tuple = ()
    dtype: str | None = None
    shape: str | None = None
    view: Callable = None
    like: str | None = None  # the name of an operand with the same values

    def of(self, dtype):
        return replace(self, dtype=dtype)

    def named(self, name):
        """The same values as another operand, in other memory."""
        return replace(self, like=name)

    def shaped(self, shape):
        return replace(self, shape=shape)

    def transposed(self):
        return replace(self, view=torch.t)

    def every_second(self):
        """Every second entry of the last dimension, which has twice the size in memory."""
        return replace(self, view=every_second)

    def first_half(self):
        """The first half of the last dimension, which has twice the size in memory."""
        return replace(self, view=first_half)

    def rarely(self):
        """A tenth of the elements; the others are 0."""
        return replace(self, view=rarely)

    def whole(self):
        """Floats that are whole numbers."""
        return replace(self, view=torch.floor)

    def scalar(self):
        """A tensor without dimensions."""
        return replace(self, shape="1", view=first)

    def positive_definite(self):
        """Symmetric matrices with eigenvalues of at least 1."""
        return replace(self, view=positive_definite)

    def make(self, name, dtype, shape):
        doubled = self.view in (every_second, first_half)
        made = values(self.draw, self.limits, self.like or name, self.dtype or dtype, self.shape or shape, doubled)
        made = copied(made) if self.like else made
        return self.view(made) if self.view else made


def every_second(tensor):
    return tensor[..., ::2]


def first_half(tensor):
    return tensor[..., : tensor.shape[-1] // 2]


def rarely(tensor):
    return tensor * (torch.arange(tensor.numel()).view(tensor.shape) % 10 == 3)


def first(tensor):
    return tensor[0]


def positive_definite(tensor):
    return tensor @ tensor.mT / tensor.shape[-1] + torch.eye(tensor.shape[-1], dtype=tensor.dtype)


# Drawing large operands takes longer than using them, and neighbouring rows use the same ones.
@lru_cache(maxsize=6)
def values(draw, limits, name, dtype, shape, doubled):
    random = np.random.default_rng(ord(name[0]))
    shape = sizes(shape)
    if doubled:
        shape = (*shape[:-1], 2 * shape[-1])
    drawn = draw(DTYPES[dtype], random, prod(shape), *limits)
    return memory(DTYPES[dtype], shape).copy_(torch.from_numpy(drawn).view(shape))


ANY = Operand()
POSITIVE = Operand(between, (0.1, 10))
SMALL = Operand(between, (-0.1, 0.1))
UNIT = Operand(between, (0, 1))
NEAR_ONE = Operand(between, (0.9999, 1.0001))
NEXT_TO_ONE = Operand(between, (1 - 8e-8, 1 + 8e-8))  # float32's 1 and its neighbours, so that no rounding errors add up
OPEN = Operand(between, (-0.999, 0.999))
BYTES = Operand(between, (0, 256))
BELOW_100 = Operand(between, (0, 100))
THOUSAND = Operand(between, (0, 1000))
MILLION = Operand(between, (0, 1_000_000))
ASCENDING = Operand(ascending)
PERMUTED = Operand(permuted)
PIVOTS = Operand(numbered_from_one, dtype="i32", shape="256")  # of a matrix whose rows were not exchanged
MASK = ANY.of("bool")
TRUE = Operand(between, (1, 2), "bool")
FALSE = Operand(between, (0, 1), "bool")
CLASSES = Operand(between, (0, 10), "i64", "50")
WINDOWS = Operand(in_windows, (4,), "i64", "50x16x4x4")
