#!/usr/bin/env python3
"""Compares the binary interface of include/thorn.h with the interface of the last release, tests/data/abi.txt. docs/abi.md has the rules.

    scripts/abi.py            lists the differences; fails if something was removed or changed and TH_ABI_VERSION was not raised
    scripts/abi.py --write    writes tests/data/abi.txt, a step of each release

The C compiler, `cc` or $CC, computes sizes, offsets and constants. c_tests/abi_changes.py tests the script.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import prototypes

ROOT = Path(__file__).resolve().parents[1]
HEADER = ROOT / "include" / "thorn.h"
SYMBOLS = ROOT / "c_tests" / "symbols.txt"
RELEASED = ROOT / "tests" / "data" / "abi.txt"

ABI = "constant TH_ABI_VERSION"
# Numbers that differ between releases with the same interface.
VERSIONS = {ABI, *(f"constant TH_VERSION_{part}" for part in ("MAJOR", "MINOR", "PATCH"))}

POINTER_TO_FUNCTION = r"([\w\s*]+?)\(\*(\w+)\)\(([^()]*)\)"
PROGRAM = """#include "{header}"
#include <stddef.h>
#include <stdio.h>
int main(void) {{
{lines}
    return 0;
}}
"""


def signature(result, parameters):
    """The type of a function without the names of its parameters."""
    return f"{prototypes.plain(result)} ({', '.join(parameters) or 'void'})"


def types_of(parameters):
    """The types in a list of parameters."""
    return [] if parameters.strip() == "void" else [prototypes.parameter(part).type for part in parameters.split(",")]


def field(declaration):
    """The name and the type of a field."""
    if function := re.fullmatch(POINTER_TO_FUNCTION, declaration):
        result, name, parameters = function.groups()
        return name, "pointer to " + signature(result, types_of(parameters))
    kind, name, length = re.fullmatch(r"(.*?)(\w+)(\[\d+\])?", declaration).groups()
    return name, prototypes.plain(kind) + (length or "")


def functions(header, code):
    """The functions, the variables and the types of functions of the caller."""
    found = {}
    for name, function in prototypes.functions(header).items():
        found[f"function {name}"] = signature(function.result, [parameter.type for parameter in function.parameters])
    for kind, name in re.findall(r"^extern ([^;(]*?)(\w+);", code, re.M):
        found[f"variable {name}"] = prototypes.plain(kind)
    for result, name, parameters in re.findall(rf"\btypedef {POINTER_TO_FUNCTION};", code):
        found[f"callback {name}"] = signature(result, types_of(parameters))
    return found


def numbers(code):
    """The constants, sizes and offsets: an expression of C for each, and the text around its value."""
    found = {}
    constants = re.findall(r"^#define (TH_\w+) -?\d+$", code, re.M)
    for body, name in re.findall(r"\benum\b[^{};]*\{([^}]*)\}\s*(\w*);", code):
        constants += re.findall(r"(\w+)\s*=", body)
        if name:
            found[f"enum {name}"] = f"sizeof({name})", "{} bytes"
    for body, name in re.findall(r"\btypedef struct \w+ \{([^}]*)\} (\w+);", code):
        found[f"struct {name}"] = f"sizeof({name})", "{} bytes"
        for declaration in filter(None, (" ".join(part.split()) for part in body.split(";"))):
            member, kind = field(declaration)
            found[f"field {name}.{member}"] = f"offsetof({name}, {member})", kind + " at {}"
    return found | {f"constant {name}": (name, "{}") for name in constants}


def computed(header, expressions):
    """The values of expressions of C, as the compiler sees them."""
    lines = "\n".join(f'    printf("%lld\\n", (long long)({text}));' for text in expressions)
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "values.c"), Path(folder, "values")
        source.write_text(PROGRAM.format(header=header, lines=lines))
        subprocess.run([os.environ.get("CC", "cc"), "-o", program, source], check=True)
        return subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout.split()


def interface(header=HEADER, symbols=SYMBOLS):
    """Everything that compiled programs rely on: "function NAME", "field STRUCT.NAME" and so on, each with its description."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/|TH_IMPORTED ", "", Path(header).read_text(), flags=re.S)
    exported = set(Path(symbols).read_text().split())
    found = {
        key: text
        for key, text in functions(header, code).items()
        if key.startswith("callback ") or key.split()[1] in exported
    }
    described = numbers(code)
    values = computed(header, [expression for expression, _ in described.values()])
    for (key, (_, text)), value in zip(described.items(), values, strict=True):
        found[key] = text.format(value)
    return found


def written(entries):
    """The text of tests/data/abi.txt."""
    return "".join(f"{key}: {entries[key]}\n" for key in sorted(entries))


def read(text):
    """The entries of such a text."""
    return dict(line.split(": ", 1) for line in text.splitlines())


def extends_struct(key, released):
    """Whether the key is a field of a struct of the release. Programs of the release neither reserve nor set such a field."""
    kind, name = key.split()
    return kind == "field" and f"struct {name.split('.')[0]}" in released


def differences(released, present):
    """The lines of two lists: the compatible differences, and the incompatible ones."""
    fine, broken = [], []
    for key in sorted((released.keys() | present.keys()) - VERSIONS):
        if key not in present:
            broken.append(f"removed {key}: {released[key]}")
        elif key not in released:
            (broken if extends_struct(key, released) else fine).append(f"added {key}: {present[key]}")
        elif released[key] != present[key]:
            broken.append(f"changed {key}: {released[key]} -> {present[key]}")
    return fine, broken


def check(released, present):
    """Prints the differences. Returns False if programs of the release would break although the number of the interface is the same."""
    fine, broken = differences(released, present)
    old, new = int(released[ABI]), int(present[ABI])
    for line in fine + broken:
        print(line)
    print(f"{len(present)} entries: {len(fine)} added, {len(broken)} incompatible; TH_ABI_VERSION was {old} and is {new}")
    if new < old or new == old and broken:
        print("Programs of the last release would break: docs/abi.md has the rules.", file=sys.stderr)
        return False
    return True


def main(arguments):
    if arguments == ["--write"]:
        RELEASED.write_text(written(interface()))
    elif arguments:
        sys.exit(__doc__)
    elif not check(read(RELEASED.read_text()), interface()):
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
