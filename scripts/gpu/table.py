"""The table of expectations in parts: each part is a process that runs c_tests/table.lua for some functions."""

from collections import Counter
from pathlib import Path

EXPECTATIONS = Path("tests/data/expectations.txt")
FIRST = 1_000_000  # with this share each function runs only its first expectation
# Shares of the passes: each function once, then a fifth of all expectations, then all.
PASSES = {"table-first": FIRST, "table-fifth": 5, "table-all": 1}


def functions():
    """The functions of the table, each with its number of expectations."""
    with open(EXPECTATIONS) as file:
        return Counter(line.split(" ", 2)[1] for line in file if line.startswith("call "))


def parts(count):
    """Divides the functions into `count` lists with about equal numbers of expectations."""
    lists = [[0, []] for _ in range(count)]
    for name, number in functions().most_common():
        shortest = min(lists, key=lambda entry: entry[0])
        shortest[0] += number
        shortest[1].append(name)
    return [names for _, names in lists if names]


def command(luajit, names):
    """The command that runs the expectations of some functions. Function names contain no magic characters of Lua patterns."""
    return [str(luajit), "c_tests/table.lua", *(f"^{name}$" for name in names)]


def environment(library, share):
    return {"THORN_LIB": str(library), "TH_TEST_DEVICE": "cuda", "TH_TEST_SHARE": str(share)}


def tasks(name, luajit, library, count):
    """The processes of a pass, as arguments for Steps.run_all."""
    shared = environment(library, PASSES[name])
    return [(f"{name}-{k}", command(luajit, names), shared) for k, names in enumerate(parts(count))]
