"""Operands, and the lines of the file."""

import numpy
import torch

lines = []

DTYPES = {
    torch.uint8: "uint8", torch.int8: "int8", torch.int16: "int16", torch.int32: "int32", torch.int64: "int64", torch.bool: "bool",
    torch.float16: "float16", torch.bfloat16: "bfloat16", torch.float32: "float32", torch.float64: "float64",
}
FORMATS = {torch.contiguous_format: 0, torch.preserve_format: 1, torch.channels_last: 2, torch.channels_last_3d: 3}


class S(int):
    """An integer that is an input of the graph."""


class SF(float):
    """A float that is an input of the graph."""


class SB:
    """A truth value that is an input of the graph."""

    def __init__(self, value):
        self.value = value


def f(*sizes, seed=0, dtype=torch.float32):
    """Numbers from -2.75 to 2.75, which are exact in 16 bits. The first 23 are different."""
    count = int(numpy.prod(sizes)) if sizes else 1
    return torch.tensor([((i * 16 + 5 * seed + 7) % 23 - 11) / 4 for i in range(count)], dtype=torch.float64).reshape(sizes).to(dtype)


def i(*sizes, seed=0, dtype=torch.int64, low=-6, high=7):
    """Integers from `low` to below `high`."""
    count = int(numpy.prod(sizes)) if sizes else 1
    return torch.tensor([(k * 7 + 5 * seed + 3) % (high - low) + low for k in range(count)]).reshape(sizes).to(dtype)


def b(*sizes, seed=0):
    return f(*sizes, seed=seed) > 0.2


def p(*sizes, seed=0, dtype=torch.float32):
    """Numbers between 0 and 1, which are exact in 16 bits."""
    count = int(numpy.prod(sizes)) if sizes else 1
    return torch.tensor([((i * 7 + 5 * seed + 3) % 15 + 1) / 16 for i in range(count)]).reshape(sizes).to(dtype)


def turned(t):
    """The same elements, with the last two dimensions transposed in memory."""
    return t.transpose(-1, -2).contiguous().transpose(-1, -2)


def number(x, dtype, exact):
    if dtype.is_floating_point:
        x = float(x)
        for digits in (6, 12, 17) if dtype == torch.float64 else (6, 9) if exact else (6,):
            text = f"{x:.{digits}g}"
            if torch.tensor(float(text), dtype=dtype).to(torch.float64).item() == x or x != x:
                return text
            if dtype == torch.float64 and abs(float(text) - x) < 1e-12 * abs(x):
                return text
        return text
    return str(int(x))


def tensor(t, kind=None, exact=True):
    if kind is None:
        kind = "t" if t.is_contiguous() else "T"
    if kind == "T":
        assert t.transpose(-1, -2).is_contiguous(), t.stride()
    sizes = "x".join(map(str, t.shape)) or "-"
    if kind == "random":
        return f"random {DTYPES[t.dtype]} {sizes}"
    elements = " ".join(number(x, t.dtype, exact) for x in t.detach().reshape(-1).tolist())
    return f"{kind} {DTYPES[t.dtype]} {sizes} {elements}".rstrip()


def plain(x):
    """The value that PyTorch receives."""
    if isinstance(x, SB):
        return x.value
    if isinstance(x, SF):
        return float(x)
    if isinstance(x, bool):
        return x
    if isinstance(x, int):
        return int(x)
    if isinstance(x, torch.Tensor):
        return x.clone(memory_format=torch.preserve_format)
    if isinstance(x, (list, tuple)):
        return [plain(entry) for entry in x]
    return x


# The first type of a value gives its text. A subclass stands before its base.
TEXTS = [
    (type(None), lambda x: "none"),
    (torch.Tensor, tensor),
    (S, lambda x: f"$int {int(x)}"),
    (SF, lambda x: f"$float {float(x)!r}"),
    (SB, lambda x: f"$bool {int(x.value)}"),
    (bool, lambda x: f"bool {int(x)}"),
    (int, lambda x: f"int {x}"),
    (float, lambda x: f"float {x!r}"),
    (str, lambda x: f"text {x}"),
    (torch.dtype, lambda x: f"dtype {DTYPES[x]}"),
    (torch.memory_format, lambda x: f"memory {FORMATS[x]}"),
]


def value(x):
    for kind, text in TEXTS:
        if isinstance(x, kind):
            return text(x)
    assert isinstance(x, (list, tuple)), x
    if any(entry is None or isinstance(entry, torch.Tensor) for entry in x):
        return "[" + " & ".join(map(value, x)) + "]"
    if any(isinstance(entry, float) for entry in x):
        return "floats " + ",".join(repr(float(entry)) for entry in x)
    return "ints " + ",".join(f"${int(entry)}" if isinstance(entry, S) else str(int(entry)) for entry in x)


def made(x, random=False):
    """The text of a result."""
    if isinstance(x, torch.Tensor):
        return tensor(x, "random" if random else "t", False)
    if isinstance(x, (list, tuple)):
        return "[" + " & ".join(made(entry, random) for entry in x) + "]"
    return value(x)


def line(name, arguments, results, changes=()):
    text = " | ".join([name, "; ".join(arguments), "; ".join(results), "; ".join(changes)]).rstrip(" |")
    lines.append(text + " |" if not results else text)


def operator(name):
    base, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), overload or "default")


def named(op, args, kwargs):
    names = [argument.name for argument in op._schema.arguments]
    return dict(zip(names, args)) | kwargs


def case(name, *args, random=False, unused=(), **kwargs):
    """An operator with operands. The result is PyTorch's."""
    op = operator(name)
    given = named(op, args, kwargs)
    values = {key: plain(x) for key, x in given.items()}
    results = op(**values)
    if not isinstance(results, tuple):
        results = () if results is None else (results,)
    texts = ["unused" if k in unused else made(x, random) for k, x in enumerate(results)]
    changes = []
    for key, x in given.items():
        # A change of the sizes alone is not compared.
        if not isinstance(x, torch.Tensor) or x.shape != values[key].shape:
            continue
        if not torch.equal(x.double().nan_to_num(77), values[key].double().nan_to_num(77)):
            changes.append(f"{key}={tensor(values[key], 'random' if random else 't', False)}")
    line(name, [f"{key}={value(x)}" for key, x in given.items()], texts, changes)


def fails(name, *args, **kwargs):
    """An operator that is refused."""
    given = named(operator(name), args, kwargs)
    line(name, [f"{key}={value(x)}" for key, x in given.items()], ["fails"])
