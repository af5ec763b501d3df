"""Operands that many expectations share."""

from .writing import *

LIMITS = {"uint8": (0, 255), **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)}}
# Largest finite number, smallest normal number, smallest positive number.
ENDS = {
    "float16": (65504, 2**-14, 2**-24),
    "bfloat16": (3.3895313892515355e38, 2**-126, 2**-133),
    "float32": (3.4028234663852886e38, 2**-126, 2**-149),
    "float64": (1.7976931348623157e308, 2**-1022, 2**-1074),
}


def integer_edges(dtype):
    low, high = LIMITS[dtype]
    others = [low, low + 1, -100, -9, -8, -7, -5, -3, -2, -1] if low else [128, 129, 150, 199, 200, 201, 248, 250, 251, 253]
    middle = {"int32": [2**24 + 1, 2**30], "int64": [2**53 + 1, 2**31]}.get(dtype, [11, 12])
    small = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16, 31, 32, 63, 64, 100]
    return others + small + [high, high - 1, high // 2, high // 3, high // 7] + middle


def edges(dtype):
    """35 edge values."""
    if dtype == "bool":
        return [i % 3 == 0 or i % 5 == 1 for i in range(35)]
    if dtype in INTEGERS:
        return integer_edges(dtype)
    greatest, normal, least = ENDS[dtype]
    signed = [1, 0.5, 1.5, 2.5, 3.75, 0.1, 0.999, 1e-3, 7.3, 20.25, 100.5, greatest, normal, least]
    return [0, -0.0, INF, -INF, NAN, *signed, *(-x for x in signed), 88, -9.5]


def plain(dtype):
    """35 numbers near 1, of both signs."""
    if dtype == "bool":
        return [i % 2 for i in range(35)]
    if dtype in INTEGERS:
        return [(i * 5) % 35 - (0 if dtype == "uint8" else 17) for i in range(35)]
    return [round((-1) ** i * 1.31 ** (i - 20), 4) for i in range(35)]


def multiples(dtype):
    """Numbers next to multiples of the divisors, up to the largest."""
    low, high = LIMITS[dtype]
    divisors = DIVISORS[dtype].value.flatten().tolist()
    return [max(low, min(high, (high // 2 ** (i % 5) // abs(x)) * x + i % 3 - 1)) for i, x in enumerate(divisors)]


EDGES = {d: tensor(f"edges.{d}", edges(d), d, (5, 7)) for d in ALL}
PLAIN = {d: tensor(f"plain.{d}", plain(d), d, (5, 7)) for d in ALL}

# Divisors and exponents, which pair each operand with every kind of edge value.
RIGHT = {d: tensor(f"right.{d}", list(EDGES[d].value.flatten().roll(11).tolist()), d, (5, 7)) for d in ALL}
DIVISORS = {d: tensor(f"divisors.{d}", [x or 1 for x in EDGES[d].value.flatten().flip(0).tolist()], d, (5, 7)) for d in INTEGERS}
DIVISORS.update({d: RIGHT[d] for d in FLOATS})
MULTIPLES = {d: tensor(f"multiples.{d}", multiples(d), d, (5, 7)) for d in INTEGERS}
MINUS_ONES = {d: tensor(f"minus.{d}", [-1] * 35, d, (5, 7)) for d in INTEGERS[1:]}
SHIFTS = {d: tensor(f"shifts.{d}", [i * 2 if i % 4 == 0 else i % 11 - (d != "uint8") for i in range(35)], d, (5, 7)) for d in NUMBERS}
EXPONENTS = {d: tensor(f"exponents.{d}", [i % 6 for i in range(35)], d, (5, 7)) for d in INTEGERS}
COLUMN = {d: tensor(f"column.{d}", [0, -0.0, 1, -1, INF, -INF, NAN, 2.5, -3], d, (9, 1)) for d in FLOATS}
ROW = {d: tensor(f"row.{d}", [0, -0.0, 1, -1, INF, -INF, NAN, 0.5, -2], d, (9,)) for d in FLOATS}
# For all pairs of dtypes.
SMALL = {d: tensor(f"small.{d}", [1, 2, 3, 4, 5, 0], d, (2, 3)) for d in ALL}
SMALL_ROW = {d: tensor(f"small_row.{d}", [3, 1, 2], d, (3,)) for d in ALL}
NONZERO = {d: tensor(f"nonzero.{d}", [1, 2, 3, 4, 5, 6], d, (2, 3)) for d in ALL}
ONE = {d: tensor(f"one.{d}", 3, d) for d in ALL}
EMPTY = {d: tensor(f"empty.{d}", [], d, (0,)) for d in ALL}
EMPTY3 = {d: tensor(f"empty3.{d}", [], d, (2, 0, 3)) for d in ALL}
ALIKE = {d: tensor(f"alike.{d}", [2, 2, 2, 1, 1, 1], d, (2, 3)) for d in ALL}

# Inputs of activations at which no gradient is subnormal.
BENDS = [0, -0.0, INF, -INF, NAN, *(s * x for x in (1, 0.5, 1.5, 2.5, 3.75, 0.1, 0.999, 1e-3, 7.3, 0.25, 6, 3, 2, 12.5, 0.7) for s in (1, -1))]
BENDS = {d: tensor(f"bends.{d}", BENDS, d, (5, 7)) for d in FLOATS}
