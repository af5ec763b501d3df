"""The table of functions, read from `api.json`, which the library's sources generate.

A signature has
    name          the function in C, "THTensor_sort"
    arguments     each with name, kind, type and default, in the order of C
    returns       the kind of the returned value
    results       the arguments to which the library writes
    parameters    the arguments that the program gives: neither results nor lengths of lists
"""

import json
import math
import re
from functools import cache
from types import SimpleNamespace

from ._kinds import KINDS, OPTIONAL
from ._library import HERE, lib


def _read():
    for path in (HERE / "api.json", HERE / "../../src/capi/api.json"):
        if path.exists():
            return json.loads(path.read_text(encoding="utf-8"))
    raise ImportError("thorn: the package lacks api.json")


_table = _read()
ROWS = {function["name"]: function for function in _table["functions"]}
_of_kind = {kind["kind"]: kind for kind in _table["kinds"]}

# Functions without a name in Python, by reason.
EXCLUDED = {
    # The garbage collector releases references, and Python adds none.
    *(name for name in ROWS if name.endswith(("_retain", "_free"))), "THTensor_freeCopyTo",
    # Memory of C is made by ffi.new.
    "THAlloc", "THRealloc", "THFree",
    # The package has declared all functions already, and raises errors as exceptions.
    "THCdef", "THCdefChapter", "THGetLastError", "THGetLastErrorCode", "THSetLastError", "THClearLastError",
}

# PyTorch's names of operations.
PYTORCH = {
    "concat": "cat", "concatenate": "cat", "clip": "clamp", "inv": "inverse",
    "maximum": "cmax", "minimum": "cmin", "ndim": "nDimension", "binaryCrossEntropy": "bce",
    "binaryCrossEntropyWithLogits": "bceWithLogits",
}

# Defaults that only Python has, by function and parameter.
DEFAULTS = {("THTensor_clamp", "minimum"): -math.inf, ("THTensor_clamp", "maximum"): math.inf}

_forms = {}
for _function in ROWS.values():
    if _function["name"].startswith("THTensor_") and "forms" in _function:
        _forms.setdefault(_function["forms"], []).append(_function["name"])


def camel(name):
    """Returns a name with capitals for underscores: "indexSelect" for "index_select"."""
    return re.sub(r"(?<=\w)_([a-z])", lambda found: found[1].upper(), name)


def snake(name):
    """Returns a name with underscores for capitals: "index_select" for "indexSelect"."""
    return re.sub(r"(?<=[a-z0-9A-Z])([A-Z])", lambda found: "_" + found[1].lower(), name)


def _default(text, kind):
    if not isinstance(text, str) or kind.group == "text":
        return text
    return getattr(lib, text) if text.startswith("TH_") else text


def _argument(row, function):
    kind, described = KINDS[row["kind"]], _of_kind[row["kind"]]
    default = row.get("default", described.get("default", DEFAULTS.get((function, row["name"]))))
    is_optional = default is not None or described.get("null") == "taken" or row["kind"] in OPTIONAL
    return SimpleNamespace(name=row["name"], key=camel(row["name"]), of=kind, kind=row["kind"], type=row["type"], default=default,
                           value=_default(default, kind), optional=is_optional, lists=[], like=None)


def _measure(arguments):
    """Sets `lists` of each length to the lists that it counts. A length stands before lists of numbers, and after lists of handles."""
    length = None
    for i, argument in enumerate(arguments):
        if argument.of.group == "length":
            length = argument
        elif argument.of.group == "list":
            length.lists.append(argument)
            argument.optional = argument.optional or length.kind == "len_or_whole"
        elif argument.of.group == "handle_count":
            before, last = arguments[i - 2] if i > 1 else None, arguments[i - 1]
            argument.lists = [before, last] if last.kind == "list_or_null" else [last]
            if before and before.of.group == "out_handles":
                before.like = last


@cache
def signature(name):
    """Returns the signature of a function of C; None if there is no such function, or if Python has no use for it."""
    row = ROWS.get(name)
    if not row or name in EXCLUDED:
        return None
    arguments = [_argument(argument, name) for argument in row["arguments"]]
    _measure(arguments)
    # The lists of maxPool2d have two entries.
    dimensions = re.search(r"(\d)d$", name)
    return SimpleNamespace(
        name=name, arguments=arguments, returns=row["returns"]["kind"], dimensions=int(dimensions[1]) if dimensions else None,
        results=[argument for argument in arguments if argument.of.role == "result"],
        parameters=[argument for argument in arguments if argument.of.role == "parameter"])


def _known(names):
    return [found for found in map(signature, names) if found]


def _capital(name):
    return name[:1].upper() + name[1:]


@cache
def forms_of(group, name):
    """Returns the forms of a function of a group: ("Tensor", "add") has the forms THTensor_add and THTensor_cadd. The group "" has the
    functions without a group, such as THSetNumThreads."""
    if not group:
        return _known([f"TH{_capital(name)}"])
    name = PYTORCH.get(name, name) if group == "Tensor" else name
    exact, made = f"TH{group}_{name}", f"TH{group}_new{_capital(name)}"
    if group == "Tensor" and name == "detach":
        return _known([made])
    if group == "Tensor" and name in _forms:
        return _known(_forms[name])
    if group == "STensor" and (name in _forms or exact not in ROWS):
        names = [form.replace("THTensor", "THSTensor") + dense for form in _forms.get(name, [exact]) for dense in ("", "Dense")]
        found = _known(names)
        return found or _known([made])
    return _known([exact]) or _known([made])


def names_of(group):
    """Returns the names of the functions of a group in Python."""
    found = set()
    for name, row in ROWS.items():
        of, _, rest = name.removeprefix("TH").partition("_")
        if not rest and not group and signature(name):
            found.add(snake(of[:1].lower() + of[1:]))
        elif rest and of == group and signature(name):
            plain = rest[3:4].lower() + rest[4:] if rest.startswith("new") and rest[3:4].isupper() else rest
            found.add(snake(row.get("forms") or plain) if group == "Tensor" else snake(plain))
    return found


GROUPS = {name.removeprefix("TH").partition("_")[0] for name in ROWS if "_" in name}
