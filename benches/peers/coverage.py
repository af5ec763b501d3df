"""Fails if a function of include/thorn.h has neither a row nor a reason in without_row.txt. Needs neither PyTorch nor NumPy."""

import re
import sys
from collections import Counter
from pathlib import Path
from unittest.mock import MagicMock

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "scripts")]
# Rows are texts. Making them needs names of PyTorch and NumPy, but no function.
sys.modules.update({name: MagicMock() for name in ("numpy", "torch", "torch.nn", "files")})

import prototypes  # noqa: E402
import rows  # noqa: E402


def all_rows():
    return [row for group in {**rows.GROUPS, **rows.GPU_GROUPS} for row in rows.rows_of(group)]


def repeated():
    """The names that two rows of a group share. The record would keep only one of them."""
    counts = Counter((row.group, row.op, row.dtype, row.shape) for row in all_rows() if row.group != "files")
    return [" ".join(name) for name, count in counts.items() if count > 1]


def called():
    """The functions that rows call, directly or in a helper of a header."""
    texts = [row.thorn for row in all_rows()]
    texts += [file.read_text() for file in HERE.glob("*.h")]
    # Helpers receive the ends of some names.
    names = set(re.findall(r"\bTH[A-Za-z]\w*", "\n".join(texts)))
    return names | {f"THSTensor_new{end}" for end in ("Coalesce", "Compressed")}


def reasons():
    """The patterns of without_row.txt with their reasons: a line of patterns, and before it the reason."""
    found, reason = {}, None
    for line in (HERE / "without_row.txt").read_text().splitlines():
        if line.startswith("# "):
            reason = line[2:]
        for pattern in [] if line.startswith("#") else line.split():
            found[pattern] = reason
    return found


def main():
    functions, measured, without = list(prototypes.functions()), called(), reasons()
    problems, used = [f"{name}: more than one row has this name" for name in repeated()], set()
    for name in functions:
        fitting = [pattern for pattern in without if re.fullmatch(pattern, name)]
        used.update(fitting)
        if name not in measured and not fitting:
            problems.append(f"{name}: no row calls the function, and without_row.txt has no reason")
        if name in measured and name in without:
            problems.append(f"{name}: a row calls the function, so without_row.txt must not name it")
    problems += [f"{pattern}: no function has this name" for pattern in without if pattern not in used]
    print("\n".join(problems or [f"{len(functions)} functions: {len(measured & set(functions))} in rows, the others have a reason"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
