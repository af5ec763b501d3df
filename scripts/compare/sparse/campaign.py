"""Random calls, compared with PyTorch and SciPy, and expectations for the test that runs without them."""

import os

import torch

from ..campaign import Campaign
from ..library import ROOT, Refused
from .cases import Dims, Sparse, case, wide
from .operands import FORMS, run

OUT = os.path.join(ROOT, "tests", "data", "sparse_expectations.txt")


def different(got, expected, tolerance):
    """The difference of two results as text; None if they are equal."""
    if isinstance(expected, Sparse):
        if got.size != expected.size:
            return f"sizes {got.size}, expected {expected.size}"
        if got.indices.tolist() != expected.indices.tolist():
            return f"positions {got.indices.tolist()}, expected {expected.indices.tolist()}"
        return different(got.values, expected.values, tolerance)
    if isinstance(expected, float):
        return different(torch.tensor(got, dtype=torch.float64), torch.tensor(expected, dtype=torch.float64), tolerance)
    if (got.dtype, got.shape) != (expected.dtype, expected.shape):
        return f"{got.dtype} {tuple(got.shape)}, expected {expected.dtype} {tuple(expected.shape)}"
    if not torch.allclose(wide(got).double(), wide(expected).double(), rtol=tolerance, atol=tolerance, equal_nan=True):
        return f"{got.tolist()}, expected {expected.tolist()}"
    return None


def words(t):
    return " ".join(str(int(x)) if float(x).is_integer() else repr(x) for x in t.flatten().double().tolist())


def line(x):
    """An operand or a result in the syntax of the file."""
    if isinstance(x, Sparse):
        dtype, shape = str(x.values.dtype).removeprefix("torch."), ",".join(map(str, x.size)) or "-"
        return f"sparse {dtype} {x.sparse_dim} {shape} {x.values.shape[0]} {words(x.indices)} {words(x.values)}".replace("  ", " ").rstrip()
    if isinstance(x, torch.Tensor):
        return f"dense {str(x.dtype).removeprefix('torch.')} {','.join(map(str, x.shape)) or '-'} {words(x)}".rstrip()
    if isinstance(x, Dims):
        return "dims " + " ".join(map(str, x.entries))
    if isinstance(x, list):
        return "\n".join([f"list {len(x)}", *map(line, x)])
    return f"number {int(x) if float(x).is_integer() else x}"


class SparseCalls(Campaign):
    """Calls with sparse operands in each form."""

    noun = "call"

    @classmethod
    def add_options(cls, parser):
        parser.add_argument("--write", action="store_true", help="writes the expectations of the test")

    def begin(self, thorn):
        super().begin(thorn)
        self.held = thorn.close()

    def fault(self, number):
        one = case(self.options.seed, number)
        told = f"{one.function}{tuple(one.arguments)}"
        self.say(number, told)
        for form in FORMS:
            try:
                wrong = different(run(self.thorn, one, form), one.result, one.tolerance)
            except Refused as error:
                wrong = f"refused: {error}"
            if (now := self.thorn.close()) != self.held:
                wrong, self.held = wrong or f"{now - self.held} bytes are left behind", now
            if wrong:
                return f"{form}: {told}: {wrong}"
        return None

    def run(self):
        return self.write() if self.options.write else super().run()

    def write(self):
        lines = []
        for number in range(self.options.cases):
            one = case(self.options.seed, number)
            lines += [f"call {one.function} {one.tolerance:g}", *map(line, one.arguments), "gives", line(one.result)]
        with open(OUT, "w") as file:
            file.write("\n".join(lines) + "\n")
        return 0
