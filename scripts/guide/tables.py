"""The tables of names in the pages, between two marks."""

import re

from . import numpy_table, operations, pytorch_table, sparse_table, torch7_table
from .pages import SOURCE, Fault

MARKS = re.compile(r"(<!-- names, written by scripts/guide.py --write -->\n).*?(\n<!-- end of names -->)", re.S)


def written(text, table):
    if len(MARKS.findall(text)) != 1:
        raise Fault("a page has no place for its table of names")
    return MARKS.sub(lambda marks: f"{marks[1]}\n{table}{marks[2]}", text)


def pages(luajit, library):
    """The pages with tables, and their text with up-to-date tables. Torch7's table needs LuaJIT and the library."""
    found = operations.all_operations()
    tables = {
        "libtorch.md": (["PyTorch", "C++", "C"], pytorch_table.lines(found)),
        "numpy.md": (["NumPy", "C", "what it computes"], numpy_table.lines(found)),
        "sparse.md": (["PyTorch", "SciPy", "C", "what it computes"], sparse_table.lines()),
    }
    if luajit and library:
        names = torch7_table.all_names(luajit, library)
        tables["torch7.md"] = ["Torch7", "C", "what it computes"], torch7_table.lines(found, names)
    more = {"libtorch.md": "\n" + pytorch_table.differences()}
    for name, (heads, lines) in tables.items():
        path = SOURCE / name
        yield path, written(path.read_text(), operations.table(heads, lines) + more.get(name, ""))


def check(luajit, library):
    stale = [path.name for path, text in pages(luajit, library) if path.read_text() != text]
    if stale:
        raise Fault(f"the table of names in {stale[0]} is stale: run scripts/guide.py --write --library libthorn.so")


def write(luajit, library):
    for path, text in pages(luajit, library):
        path.write_text(text)
