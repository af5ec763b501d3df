#!/usr/bin/env python3
"""Writes tests/data/print_expectations.jsonl: random tensors and the texts that PyTorch prints of them, for tests/print.rs.

    python3 -m venv .venv && .venv/bin/pip install torch==2.15.0
    .venv/bin/python scripts/print_expectations.py [--cases N] [--seed S] [--out FILE]

Always writes the same file for the same N and S. A line is an object: `dtype`, `shape`, `values` (the bytes of the elements in hexadecimal,
row-major; a tensor that has more elements than they make repeats them), `options` (those that are not the defaults, by the names of
THPrintOptions), `text`.
"""

import argparse
import json
import math
import os
import random
import struct

import torch

OUT = os.path.join(os.path.dirname(__file__), "..", "tests", "data", "print_expectations.jsonl")

INTEGERS = {"uint8": "B", "int8": "b", "int16": "h", "int32": "i", "int64": "q"}
FLOATS = {"float16": "H", "bfloat16": "H", "float32": "f", "float64": "d"}
OPTIONS = {"precision": "precision", "threshold": "threshold", "edgeItems": "edgeitems", "lineWidth": "linewidth", "sciMode": "sci_mode"}

# A tensor with more elements repeats these.
MOST_VALUES = 48
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan]


def shape(dice):
    """Scalars, tensors without elements, small tensors of up to five dimensions, and tensors that are summarised."""
    kind = dice.random()
    if kind < 0.08:
        return []
    if kind < 0.15:
        sizes = [dice.choice([0, 1, 2, 3]) for _ in range(dice.randint(1, 4))]
        sizes[dice.randrange(len(sizes))] = 0
        return sizes
    if kind < 0.25:
        return dice.choice([[1001], [5000, 1], [1, 3000], [40, 40], [7, 200], [3, 400], [12, 11, 10], [2, 600, 2],
                            [9, 1, 8, 20], [7, 2, 3, 5, 8]])
    sizes = []
    for _ in range(dice.randint(1, 5)):
        most = max(1, 40 // math.prod(sizes))
        sizes.append(dice.randint(1, min(most, 24 if not sizes else 7)))
    dice.shuffle(sizes)
    return sizes


def options(dice):
    """Half of all cases have the defaults."""
    if dice.random() < 0.5:
        return {}
    choices = {
        "precision": [0, 1, 2, 3, 6, 8, 10], "threshold": [0, 1, 5, 20], "edgeItems": [0, 1, 2, 5],
        "lineWidth": [0, 1, 20, 40, 60, 100, 120, 1000], "sciMode": [0, 1],
    }
    return {name: dice.choice(values) for name, values in choices.items() if dice.random() < 0.4}


def integer(dice, dtype, family):
    width = 8 * struct.calcsize(INTEGERS[dtype])
    signed = dtype != "uint8"
    least, most = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, 255)
    if family == "edges":
        return dice.choice([least, most, 0, 1, least + 1])
    if family == "any":
        return dice.randint(least, most)
    return dice.randint(max(least, -20), 20)


def number(dice, family):
    """An element as a float64."""
    if family == "special":
        return dice.choice(SPECIAL)
    if dice.random() < 0.04:
        return dice.choice(SPECIAL)
    if family == "whole":
        return float(dice.randint(-30, 30))
    if family == "large":
        return float(dice.randint(-(10**dice.randint(1, 9)), 10**9))
    if family == "unit":
        return dice.uniform(-3, 3)
    if family == "wide":
        return dice.choice([-1, 1]) * 10 ** dice.uniform(-6, 6)
    if family == "huge":
        return dice.choice([-1, 1]) * 10 ** dice.uniform(-300, 300)
    if family == "ties":
        # Half of a digit, exactly.
        return dice.randint(-4000, 4000) / 2 ** dice.randint(0, 8)
    if family == "borders":
        return dice.choice([1e-4, 9.9999e-5, 1e8, 1.00001e8, 999.99996, 1000.0, 1.0, 0.001, 99999999.0, 0.5])
    raise AssertionError(family)


def values(dice, dtype, count):
    """The bytes of `count` elements."""
    if dtype == "bool":
        return bytes(dice.randint(0, 1) for _ in range(count))
    if dtype in INTEGERS:
        family = dice.choice(["small", "small", "any", "edges"])
        return struct.pack(f"<{count}{INTEGERS[dtype]}", *(integer(dice, dtype, family) for _ in range(count)))
    family = dice.choice(["whole", "large", "unit", "unit", "unit", "wide", "huge", "special", "ties", "borders", "any"])
    if family == "any":
        return dice.randbytes(count * struct.calcsize(FLOATS[dtype]))
    numbers = torch.tensor([number(dice, family) for _ in range(count)], dtype=torch.float64).to(getattr(torch, dtype))
    return bytes(numbers.view(torch.uint8).tolist()) if count else b""


def printed(dtype, sizes, data, chosen):
    count = math.prod(sizes)
    flat = torch.tensor([], dtype=getattr(torch, dtype))
    if count:
        flat = torch.frombuffer(bytearray(data), dtype=getattr(torch, dtype))
        flat = flat.repeat(-(-count // len(flat)))[:count]
    settings = {OPTIONS[name]: value for name, value in chosen.items()}
    if "sci_mode" in settings:
        settings["sci_mode"] = bool(settings["sci_mode"])
    with torch._tensor_str.printoptions(**settings):
        return str(flat.reshape(sizes))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--cases", type=int, default=900)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--out", default=OUT)
    given = arguments.parse_args()
    dice = random.Random(given.seed)
    dtypes = [*INTEGERS, *FLOATS, "bool", "float32", "float32", "float64"]
    with open(given.out, "w") as file:
        for _ in range(given.cases):
            dtype, sizes, chosen = dice.choice(dtypes), shape(dice), options(dice)
            data = values(dice, dtype, min(math.prod(sizes), MOST_VALUES))
            case = {"dtype": dtype, "shape": sizes, "values": data.hex(), "options": chosen, "text": printed(dtype, sizes, data, chosen)}
            file.write(json.dumps(case) + "\n")


if __name__ == "__main__":
    main()
