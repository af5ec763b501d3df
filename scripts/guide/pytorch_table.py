"""The names of PyTorch, which libtorch has, too. pytorch_names.txt lists those that no rule gives."""

import re
from pathlib import Path

from .operations import cell, exceptions, in_code, shortened, snake
from .pages import ROOT, Fault

NAMES = Path(__file__).with_name("pytorch_names.txt")

# Modules of functions, by chapter, if not `torch`.
MODULES = {
    "Convolution": "torch.nn.functional",
    "Pooling": "torch.nn.functional",
    "Resampling of images": "torch.nn.functional",
    "Losses, normalization and gradients": "torch.nn.functional",
    "Linear algebra": "torch.linalg",
    "Looking at tensors": "Tensor",
}

def evidence():
    """The names that the table of expectations and the differential test call."""
    texts = [path.read_text() for folder in ("oracle", "compare/differential") for path in sorted((ROOT / "scripts" / folder).glob("*.py"))]
    text = "\n".join(texts)
    return set(re.findall(r"\.([a-z_0-9]+)\b", text)) | set(re.findall(r'"([a-z_0-9]+)"', text))


def listed():
    """The lines of pytorch_names.txt: operation and names, and the difference of the C++ function, if there is one."""
    lines = [line.partition("#") for line in NAMES.read_text().splitlines() if not line.startswith("#")]
    return [(line.strip(), reason.strip()) for line, _, reason in lines]


def aliases():
    """The second names in C++ of each operation that has any."""
    found = {}
    for line, _ in listed():
        name, *elsewhere = line.split()
        found[name] = [capitals(other.split("=")[0]) for other in elsewhere if "=" in other]
    return found


def capitals(name):
    """A name of PyTorch with capitals instead of underscores, and without its module: torch.bitwise_and becomes bitwiseAnd."""
    return re.sub("_([a-z0-9])", lambda letter: letter[1].upper(), name.rsplit(".")[-1].strip("_"))


def names(operations):
    """The PyTorch names of each operation that PyTorch has: by the rule if a test uses the name, or from the table."""
    text = "\n".join(re.sub(r"=\w+", "", line) for line, _ in listed())
    known, table = evidence(), exceptions(text, operations)
    found = {}
    for name, operation in operations.items():
        by_rule = [f"{MODULES.get(operation.chapter, 'torch')}.{snake(name)}"] if snake(name) in known else []
        elsewhere = table.get(name, by_rule)
        if elsewhere:
            found[name] = elsewhere
    return found


def declared(header):
    """The functions of thorn.hpp, and the methods of its classes, except those for sparse tensors."""
    header = header.split("class [[nodiscard]] SparseTensor", 1)[0]
    functions = set(re.findall(r"^inline [^=(\n]*(?<!:)\b(\w+)\(", header, re.M))
    methods = set(re.findall(r"^    [\w:&<> *]+[ &*](\w+)\(", header, re.M))
    return functions, methods


def in_cxx(name, functions, methods):
    """The function or method of thorn.hpp."""
    word = {"bitand": "bitAnd", "bitor": "bitOr", "get": "getAt"}.get(name, name)
    if word in functions:
        return [f"th::{word}"]
    return [f"t.{method}" for method in (f"{word}_", word) if method in methods][:1]


def check_aliases(found, functions, methods):
    """Fails if thorn.hpp lacks a name of PyTorch, unless the name is no name of C++, or the table has the reason."""
    reasons = {line.split()[0] for line, reason in listed() if reason}
    known = {name.strip("_").lower() for name in functions | methods}
    for name, elsewhere in found.items():
        for other in elsewhere:
            if "__" not in other and name not in reasons and capitals(other).lower() not in known:
                raise Fault(f"pytorch_names.txt: thorn.hpp has no {capitals(other)}: add `{other}=function`, or a reason after #")


def lines(operations):
    functions, methods = declared((ROOT / "include" / "thorn.hpp").read_text())
    found, second = names(operations), aliases()
    check_aliases(found, functions, methods)
    for name, elsewhere in found.items():
        operation = operations[name]
        word = in_code(in_cxx(name, functions, methods) + [f"th::{alias}" for alias in second.get(name, [])])
        yield operation.chapter, in_code(elsewhere), word, in_code(shortened(operation.functions))


def differences():
    """The table of names that mean something else in C++, or that thorn.hpp lacks."""
    functions, methods = declared((ROOT / "include" / "thorn.hpp").read_text())
    rows = [(line.split(), reason) for line, reason in listed() if reason]
    text = ["### Names with other arguments or results", "", "| PyTorch | C++ | difference |", "|---|---|---|"]
    for (name, *elsewhere), reason in rows:
        text.append(f"| {in_code(elsewhere)} | {in_code(in_cxx(name, functions, methods))} | {cell(reason)} |")
    return "\n".join(text) + "\n"
