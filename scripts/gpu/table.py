"""The table of expectations in parts: each part is a process that runs c_tests/table.lua for some functions."""

from collections import Counter
from pathlib import Path

EXPECTATIONS = Path("tests/data/expectations.txt")
FIRST = 1_000_000  # with this share each function runs its first expectation alone
# Shares of the passes: each function once, then a fifth of all expectations, then all.
PASSES = {"table-first": FIRST, "table-fifth": 5, "table-all": 1}


def functions():
    """The functions of the table, with how many expectations each has."""
    with open(EXPECTATIONS) as file:
        return Counter(line.split(" ", 2)[1] for line in file if line.startswith("call "))


def parts(count):
    """The functions in `count` lists with about as many expectations each."""
    lists = [[0, []] for _ in range(count)]
    for name, number in functions().most_common():
        shortest = min(lists, key=lambda entry: entry[0])
        shortest[0] += number
        shortest[1].append(name)
    return [names for _, names in lists if names]


def command(luajit, names):
    """The command that runs the expectations of some functions. Names of functions have no magic characters of Lua's patterns."""
    return [str(luajit), "c_tests/table.lua", *(f"^{name}$" for name in names)]


def environment(library, share):
    return {"THORN_LIB": str(library), "TH_TEST_DEVICE": "cuda", "TH_TEST_SHARE": str(share)}


def tasks(name, luajit, library, count):
    """The processes of a pass, as Steps.run_all takes them."""
    shared = environment(library, PASSES[name])
    return [(f"{name}-{k}", command(luajit, names), shared) for k, names in enumerate(parts(count))]
