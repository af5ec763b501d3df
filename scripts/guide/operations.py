"""The operations of the library, from src/capi/api.json, for the guide's tables of names."""

import json
import re
from dataclasses import dataclass, field

from .pages import ROOT, Fault

PREFIX = "THTensor_"


@dataclass
class Operation:
    """An operation: functions that compute the same with other kinds of arguments. Lua and C++ have one name for them."""

    name: str
    chapter: str
    doc: str
    functions: list = field(default_factory=list)  # names in C
    names: set = field(default_factory=set)  # the names of its functions without prefix, and second names


def plain(row):
    """The name without `new`, which marks the form that returns a new handle."""
    return row[3].lower() + row[4:] if re.match("new[A-Z]", row) else row


def snake(name):
    """A name with underscores instead of capitals: indexSelect becomes index_select."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda capital: "_" + capital[1], name).lower()


def names_of_forms(rows):
    """The operation of each function. If a function has the name of an operation but is not a form of it, its operation is named after
    its first form."""
    short = {row["name"].removeprefix(PREFIX): row.get("forms") for row in rows}
    taken = {name for name, form in short.items() if not form}
    first = {}
    for name, form in short.items():
        if form:
            first.setdefault(form, name)
    return {name: plain(first[form] if form in taken else form or name) for name, form in short.items()}


def by_name():
    """All entries by the names of their functions."""
    return {row["name"]: row for row in json.loads((ROOT / "src" / "capi" / "api.json").read_text())["functions"]}


def chapters():
    """The titles of the header's chapters in order."""
    return list(dict.fromkeys(re.findall(r"@defgroup \w+ (.*)", (ROOT / "include" / "thorn.h").read_text())))


def all_operations():
    """The operations of tensors by name, in the order of the header. Second names belong to the operation that they name."""
    order = chapters()
    rows = sorted((row for name, row in by_name().items() if name.startswith(PREFIX)), key=lambda row: order.index(row["chapter"]))
    forms = names_of_forms(rows)
    found = {}
    for row in rows:
        short, alias = row["name"].removeprefix(PREFIX), row.get("alias")
        name = forms[alias or short]
        operation = found.setdefault(name, Operation(name, row["chapter"], ""))
        operation.doc = operation.doc or ("" if alias else row["doc"])
        operation.functions.append(row["name"])
        operation.names |= {short, plain(short), name}
    return found


def exceptions(text, operations):
    """A table of names that no rule gives: each line has an operation and its name elsewhere, or `-` if there is none."""
    table = {}
    for line in text.strip().splitlines():
        name, _, elsewhere = line.strip().partition(" ")
        if name not in operations:
            raise Fault(f"a table of names has {name}, which is no operation")
        table[name] = [] if elsewhere.strip() == "-" else elsewhere.split()
    return table


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def shortened(functions):
    """The functions, in which the forms whose names end in 1d to 5d count as one."""
    short = []
    for function in functions:
        base = function[:-2] if re.search("[1-5]d$", function) else None
        if base and all(f"{base}{n}d" in functions for n in range(1, 6)):
            function = f"{base}1d ... 5d"
        if function not in short:
            short.append(function)
    return short


def in_code(names):
    return ", ".join(f"`{name}`" for name in names)


def table(heads, lines):
    """Tables by chapter. Each of `lines` has a chapter and the cells of a row."""
    text, current = [], None
    for chapter, *cells in lines:
        if chapter != current:
            text += ["", f"### {chapter}", "", "| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
            current = chapter
        text.append("| " + " | ".join(map(cell, cells)) + " |")
    return "\n".join(text).strip("\n") + "\n"
