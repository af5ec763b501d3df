"""The functions and enums of include/thorn.h, for tests that are generated from them."""

import os
import re
from typing import NamedTuple

HEADER = os.path.join(os.path.dirname(__file__), "..", "include", "thorn.h")


class Parameter(NamedTuple):
    type: str  # written as in C, without `struct`: "const THTensor *"
    name: str


class Function(NamedTuple):
    name: str
    result: str
    parameters: tuple


def plain(text):
    return re.sub(r"\s*\*", " *", re.sub(r"\bstruct\s+", "", re.sub(r"\s+", " ", text))).strip().replace("* *", "**")


def parameter(text):
    kind, name = re.fullmatch(r"(.*?)(\w+)", text.strip(), re.S).groups()
    return Parameter(plain(kind), name)


def functions(path=HEADER):
    """All functions by name, in the order of the header."""
    with open(path) as file:
        code = re.sub(r"//[^\n]*|/\*.*?\*/|^#[^\n]*|TH_NODISCARD |TH_IMPORTED ", "", file.read(), flags=re.S | re.M)
    found = {}
    for result, name, parameters in re.findall(r"^([a-zA-Z][\w \t\n]*?[\s*]+)(TH\w+)\(([^()]*)\);", code, re.M):
        if result.startswith("typedef"):
            continue
        parts = [] if parameters.strip() == "void" else [parameter(part) for part in parameters.split(",")]
        found[name] = Function(name, plain(result), tuple(parts))
    return found


def enums(path=HEADER):
    """The greatest value of each enum, by type."""
    with open(path) as file:
        bodies = re.findall(r"typedef enum [^{;]*\{([^}]*)\} (TH\w+);", file.read())
    return {name: max(map(int, re.findall(r" = (\d+)", body))) for body, name in bodies}
