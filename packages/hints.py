"""Type hints of the Python package, from the table of functions: the text of `__init__.pyi`.

Each function has one declaration, with the parameters of all its forms.
"""

import json
import keyword
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = json.loads((ROOT / "src/capi/api.json").read_text())

HEAD = '''"""Written by packages/hints.py from the table of functions."""
import builtins
from contextlib import AbstractContextManager
from enum import IntEnum
from os import PathLike
from typing import Any, Callable, Iterator, Optional, Sequence, Union

class Error(RuntimeError):
    status: int
    message: str
    function: str
    @property
    def name(self) -> str: ...

class DType(IntEnum):
{members}

{dtypes}
TensorLike = Union["Tensor", Any]
DTypeLike = Union[DType, str, Any]
__version__: str
library_path: str
ffi: Any
lib: Any
def tensor(data: Any, dtype: Optional[DTypeLike] = ..., requires_grad: bool = ...) -> Tensor: ...
def from_numpy(array: Any) -> Tensor: ...
def from_dlpack(array: Any) -> Tensor: ...
def as_tensor(data: Any, dtype: Optional[DTypeLike] = ...) -> Tensor: ...
def asarray(data: Any, dtype: Optional[DTypeLike] = ...) -> Tensor: ...
def is_tensor(value: Any) -> bool: ...
e: float
inf: float
nan: float
newaxis: None
pi: float
def no_grad() -> AbstractContextManager[None]: ...
def __getattr__(name: str) -> Any: ...
'''
TENSOR = '''
class Tensor:
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    ndim: int
    itemsize: int
    nbytes: int
    dtype: DType
    device: str
    T: Tensor
    grad: Optional[Tensor]
    requires_grad: bool
    def __init__(self) -> None: ...
    def requires_grad_(self, flag: bool = ...) -> Tensor: ...
    def item(self) -> Union[int, float, bool]: ...
    def tolist(self) -> Any: ...
    def to(self, *targets: Union[DTypeLike, str], device: Optional[str] = ..., dtype: Optional[DTypeLike] = ...) -> Tensor: ...
    def astype(self, dtype: DTypeLike) -> Tensor: ...
    def bool(self) -> Tensor: ...
    def short(self) -> Tensor: ...
    def int(self) -> Tensor: ...
    def long(self) -> Tensor: ...
    def half(self) -> Tensor: ...
    def bfloat16(self) -> Tensor: ...
    def float(self) -> Tensor: ...
    def double(self) -> Tensor: ...
    def size(self, dim: Optional[int] = ...) -> Any: ...
    def stride(self, dim: Optional[int] = ...) -> Any: ...
    def numpy(self) -> Any: ...
    def __getitem__(self, key: Any) -> Tensor: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __array__(self, dtype: Any = ..., copy: Optional[bool] = ...) -> Any: ...
    def __dlpack__(self, *, stream: Any = ..., max_version: Any = ..., dl_device: Any = ..., copy: Any = ...) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __getattr__(self, name: str) -> Any: ...
'''
OPERATORS = ("add sub mul truediv floordiv mod pow matmul and or xor lshift rshift radd rsub rmul rtruediv rpow iadd isub imul itruediv "
             "ipow lt le gt ge eq ne").split()


def snake(name):
    return re.sub(r"(?<=[a-z0-9A-Z])([A-Z])", lambda found: "_" + found[1].lower(), name)


def hint(argument):
    """Returns the type of a parameter in Python, by its type in C and its kind; None for lengths and results."""
    kind, c_type = argument.get("kind", ""), argument["type"]
    if kind in ("len", "len_or_whole", "handle_count", "count_inout", "new_handles", "outs"):
        return None
    text = "Union[str, PathLike[str]]"
    plain = {"flag": "bool", "text": text, "optional_text": text, "index": "Union[TensorLike, Sequence[int]]"}
    if kind in plain:
        return plain[kind]
    if kind.endswith("_function") or kind in ("hook", "grad_hook", "grad_rule", "optim_closure", "progress"):
        return "Callable[..., Any]"
    if kind in ("dtype", "other_dtype", "optional_dtype"):
        return "DTypeLike"
    if "int64_t *" in c_type:
        return "Union[int, Sequence[int]]"
    if "*const *" in c_type:
        return "Sequence[Any]"
    if c_type == "const THTensor *":
        return "TensorLike"
    if c_type == "THTensor *":
        return "Tensor"
    if c_type.startswith("double"):
        return "float"
    if re.match(r"(u?int64_t|ptrdiff_t|size_t)$", c_type) or c_type == "int" and kind not in ("code",):
        return "int"
    return "Union[int, str]" if re.match(r"TH\w+$|int$", c_type) else "Any"


RESULTS = {
    "out", "optional_out", "view_out", "truth", "indices", "optional_indices", "totals", "optional_totals", "pivots_out", "optional_info",
}


def returned(function):
    kind, c_type = function["returns"].get("kind", ""), function["returns"]["type"]
    results = [argument for argument in function["arguments"] if argument.get("kind") in RESULTS]
    if any(argument.get("kind") == "new_handles" for argument in function["arguments"]):
        return "list[Tensor]"
    if kind == "status":
        changes = any(argument.get("kind") in ("inout", "handle", "emptied") for argument in function["arguments"])
        return "tuple[Tensor, ...]" if len(results) > 1 else "Tensor" if results or changes else "None"
    simple = {
        "new": "Tensor", "new_or_null": "Optional[Tensor]", "flag": "bool", "dtype": "DType", "new_text": "str", "borrowed_text": "str",
    }
    if kind in simple:
        return simple[kind]
    return "float" if c_type == "double" else "int" if "*" not in c_type and c_type != "void" else "Any"


def declaration(name, forms, is_method):
    """Returns the declaration of a function. Positional arguments have no types, because a form may leave out a parameter with a default
    that stands before others; by name, every parameter has its type."""
    hints = {}
    for form in forms:
        for argument in form["arguments"]:
            if argument.get("kind") not in RESULTS and hint(argument):
                parameter = snake(argument["name"])
                hints.setdefault("dim" if parameter in ("dimension", "dims") else parameter, set()).add(hint(argument))
    parts = ["self"] if is_method else []
    parts.append("*arguments: Any")
    for parameter, types in list(hints.items())[1 if is_method else 0:]:
        of = types.pop() if len(types) == 1 else f"Union[{', '.join(sorted(types))}]"
        if not keyword.iskeyword(parameter) and parameter != "self":
            parts.append(f"{parameter}: Optional[{of}] = ...")
    returns = {returned(form) for form in forms}
    of = returns.pop() if len(returns) == 1 else "Any"
    doc = " ".join(form["doc"] for form in forms).replace("\\", "\\\\")
    return f'def {name}({", ".join([*parts, "**named: Any"])}) -> {of}:\n{{indent}}    """{doc} """'


def groups():
    """Returns the functions on tensors by name, with their forms."""
    found = {}
    for function in TABLE["functions"]:
        group, _, name = function["name"].partition("_")
        if group == "THTensor" and not name.startswith(("retain", "free")):
            plain = name[3].lower() + name[4:] if re.match(r"new[A-Z]", name) else name
            found.setdefault(snake(function.get("forms") or plain), []).append(function)
    return {name: forms for name, forms in found.items() if not keyword.iskeyword(name)}


def stub():
    """Returns the text of the stub."""
    declared = (ROOT / "src/capi/declarations.h").read_text()
    enum = re.search(r"typedef enum THDtype \{(.*?)\}", declared)[1]
    members = [(name.lower(), code) for name, code in re.findall(r"TH_(\w+) = (\d+)", enum)]
    lines = [HEAD.format(members="\n".join(f"    {name} = {code}" for name, code in members),
                         dtypes="\n".join(f"{name}: DType" for name, _ in members if name != "undefined")), TENSOR.rstrip()]
    for name in OPERATORS:
        ignored = "  # type: ignore" if name in ("eq", "ne") else ""
        lines.append(f"    def __{name}__(self, other: Any) -> Tensor: ...{ignored}")
    for name, forms in groups().items():
        first = next((argument for argument in forms[0]["arguments"] if argument.get("kind") not in RESULTS), None)
        if first and "THTensor *" in first["type"] and not re.search(rf"\b{name}\b", TENSOR):
            lines.append("    " + declaration(name, forms, True).replace("{indent}", "    "))
    lines.append("")
    lines += [declaration(name, forms, False).replace("{indent}", "") for name, forms in groups().items()]
    return builtin("\n".join(lines)) + "\n"


def builtin(text):
    """Names the types of Python with their module, because `thorn.bool` and others are dtypes and functions."""
    plain = r"(-> |: |\[|, )(bool|int|float|str)(?=[],):]| =|$)"
    return "\n".join(line if '"""' in line else re.sub(plain, r"\1builtins.\2", line) for line in text.split("\n"))


if __name__ == "__main__":
    print(stub(), end="")
