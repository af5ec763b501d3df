#!/usr/bin/env python3
"""Writes c_tests/random_expected.h: the numbers that a generator of kind TH_MT19937 must give.

    .venv/bin/python scripts/random_expectations.py

The words are NumPy's, whose MT19937 is seeded like TH's. TH's formulas (Torch7's documentation) are computed with Python's floats, which
are C's doubles. PyTorch computes its own numbers.
"""

import math
import os

import numpy as np
import torch

HEADER = os.path.join(os.path.dirname(__file__), "..", "c_tests", "random_expected.h")
SEED = 123


class TH:
    """The numbers, in order."""

    def __init__(self, seed):
        state = np.random.RandomState(seed)
        self.words = iter(state.randint(0, 2**32, size=5000, dtype=np.uint32).tolist())
        self.pair = None

    def word(self):
        return next(self.words)

    def unit(self):
        return self.word() / 2**32

    def normal(self, mean=0.0, stdv=1.0):
        if self.pair:
            angle, radius = self.pair
            self.pair = None
            return radius * math.sin(2 * math.pi * angle) * stdv + mean
        angle, second = self.unit(), self.unit()
        radius = math.sqrt(-2 * math.log(1 - second))
        self.pair = angle, radius
        return radius * math.cos(2 * math.pi * angle) * stdv + mean

    def multinomial(self, weights, n, replacement):
        total = sum(weights)
        sums = [sum(weights[: k + 1]) / total for k in range(len(weights))]
        drawn = []
        for _ in range(n):
            u, sums[-1] = self.unit(), 1.0
            k = next(k for k, s in enumerate(sums) if s >= u)
            drawn.append(k)
            if not replacement:
                share = sums[k] - (sums[k - 1] if k else 0.0)
                sums = [(s - share if i >= k else s) / (1.0 - share) for i, s in enumerate(sums)]
        return drawn


def listed(type_, name, values, comment):
    text = ", ".join(str(int(x)) if x == int(x) else float(x).hex() for x in values)
    lines, line = [], "   "
    for entry in text.split(", "):
        if len(line) + len(entry) > 115:
            lines.append(line)
            line = "   "
        line += f" {entry},"
    return f"/* {comment} */\nstatic const {type_} {name}[] = {{\n" + "\n".join([*lines, line]) + "\n};\n"


def ours():
    th = lambda: TH(SEED)
    n = 9
    g = th()
    yield listed("double", "th_uniform", [g.unit() * (3.0 - -2.0) + -2.0 for _ in range(n)], "uniform from -2 to 3")
    g = th()
    yield listed("double", "th_normal", [g.normal(1.5, 2.0) for _ in range(n)], "normal of mean 1.5 and deviation 2: an odd number of them")
    yield listed("double", "th_normal_next", [g.normal(), g.unit(), g.normal()],
                 "and what follows: the other half of a pair, a uniform number, a new pair")
    g = th()
    yield listed("double", "th_exponential", [-1.0 / 0.7 * math.log(1 - g.unit()) for _ in range(n)], "exponential of rate 0.7")
    g = th()
    yield listed("double", "th_cauchy", [0.5 + 2.0 * math.tan(math.pi * (g.unit() - 0.5)) for _ in range(n)],
                 "Cauchy of median 0.5 and sigma 2")
    g = th()
    yield listed("double", "th_log_normal", [math.exp(g.normal(0.3, 0.6)) for _ in range(n)], "logNormal of mean 0.3 and deviation 0.6")
    g = th()
    yield listed("double", "th_geometric", [int(math.log(1 - g.unit()) / math.log(0.8)) + 1 for _ in range(n)], "geometric of p 0.8")
    g = th()
    yield listed("double", "th_bernoulli", [int(g.unit() <= 0.4) for _ in range(n)], "bernoulli of p 0.4")
    for dtype, modulus in [("uint8", 256), ("int8", 128), ("int16", 32768), ("int32", 2**31), ("int64", 2**32),
                           ("float32", 2**24 + 1), ("float64", 2**32)]:
        g = th()
        yield listed("double", f"th_random_{dtype}", [g.word() % modulus for _ in range(n)], f"random, of {dtype}")
    g = th()
    yield listed("double", "th_clamped", [g.word() % 105 - 5 for _ in range(n)], "clampedRandom from -5 to 99")
    g = th()
    order = list(range(n))
    for i in range(n - 1):
        j = i + g.word() % (n - i)
        order[i], order[j] = order[j], order[i]
    yield listed("double", "th_randperm", order, "randperm of 9")
    weights = [0.1, 0.0, 0.4, 0.2, 0.3, 0.05]
    yield listed("double", "th_multinomial", th().multinomial(weights, n, True), f"multinomial of {weights} with replacement")
    yield listed("double", "th_multinomial_once", th().multinomial(weights, 5, False), "and without")


def torch_s():
    def drawn(make):
        torch.manual_seed(SEED)
        return make().tolist()

    for dtype in ["uint8", "int8", "int16", "int32", "float32"]:
        yield listed("double", f"torch_random_{dtype}", drawn(lambda: torch.empty(9, dtype=getattr(torch, dtype)).random_()),
                     f"PyTorch's random_, of {dtype}")
    yield listed("double", "torch_clamped", drawn(lambda: torch.randint(-5, 100, (9,))), "PyTorch's randint(-5, 100)")
    yield listed("double", "torch_randperm", drawn(lambda: torch.randperm(9)), "PyTorch's randperm(9)")
    yield listed("double", "torch_rand", drawn(lambda: torch.rand(4, dtype=torch.float64)), "PyTorch's rand, which is not TH's")
    yield listed("double", "torch_randn", drawn(lambda: torch.randn(4, dtype=torch.float64)), "PyTorch's randn, which is not TH's")
    torch.manual_seed(SEED)
    torch.empty(700, dtype=torch.int32).random_()
    yield listed("unsigned char", "torch_state", torch.get_rng_state()[:5048].tolist(),
                 "The state of PyTorch's generator after 700 words, as far as it is TH's")
    yield listed("double", "torch_after_state", torch.empty(9, dtype=torch.int32).random_().tolist(),
                 "and what random_ of int32 gives then")


if __name__ == "__main__":
    with open(HEADER, "w") as file:
        file.write("/* Written by scripts/random_expectations.py: what a generator of kind TH_MT19937 gives with seed 123. */\n\n")
        file.write("\n".join([*ours(), *torch_s()]))
