"""Random calls, compared with PyTorch and SciPy, and expectations for the test that runs without them."""

import os
import warnings

import torch

from .cases import Dims, Sparse, case, wide

OUT = os.path.join(os.path.dirname(__file__), "..", "..", "tests", "data", "sparse_expectations.txt")


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


def compare(options):
    from .library import FORMS, Refused, Thorn

    thorn, failed, seen = Thorn(), 0, set()
    numbers = range(options.cases) if options.only is None else [options.only]
    held = thorn.close()
    for number in numbers:
        one = case(options.seed, number)
        seen.add(one.function)
        for form in FORMS:
            try:
                wrong = different(thorn.run(one, form), one.result, one.tolerance)
            except Refused as error:
                wrong = f"refused: {error}"
            if (now := thorn.close()) != held:
                wrong, held = wrong or f"{now - held} bytes are left behind", now
            if wrong:
                failed += 1
                if failed <= options.failures:
                    print(f"call {number}, {form}: {one.function}{tuple(one.arguments)}: {wrong}\n")
                break
    print(f"seed {options.seed}: {len(numbers)} calls of {len(seen)} functions, {failed} failed")
    return failed != 0


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


def write(options):
    lines = []
    for number in range(options.cases):
        one = case(options.seed, number)
        lines += [f"call {one.function} {one.tolerance:g}", *map(line, one.arguments), "gives", line(one.result)]
    with open(OUT, "w") as file:
        file.write("\n".join(lines) + "\n")
    return 0


def main(options):
    # PyTorch warns that it does not check the invariants that are checked here.
    warnings.simplefilter("ignore")
    return write(options) if options.write else compare(options)
