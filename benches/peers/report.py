"""The record, benches/peers.tsv, and the page docs/benchmarks.md, which is generated from it."""

import math
from pathlib import Path

COLUMNS = "group op dtype shape threads thorn_ns torch_ns numpy_ns limit_ns".split()
TIMES = COLUMNS[5:]


def key(entry):
    return tuple(entry[column] for column in COLUMNS[:5])


def read(path):
    """The notes of the groups and the entries of a record; both are empty if there is no record."""
    notes, entries = {}, []
    lines = path.read_text().splitlines() if path.exists() else []
    for line in lines:
        if line.startswith("# "):
            group, note = line[2:].split(": ", 1)
            notes[group] = note
        elif line != "\t".join(COLUMNS):
            entry = dict(zip(COLUMNS, line.split("\t")))
            entries.append({**entry, **{column: float(entry[column]) if entry[column] else None for column in TIMES}})
    return notes, entries


def write(path, notes, entries):
    lines = [f"# {group}: {note}" for group, note in notes.items()] + ["\t".join(COLUMNS)]
    for entry in entries:
        times = [f"{entry[column]:.4g}" if entry[column] else "" for column in TIMES]
        times = [f"{float(time):.0f}" if time and float(time) >= 1000 else time for time in times]
        lines.append("\t".join([*key(entry), *times]))
    path.write_text("\n".join(lines) + "\n")


def ratio(entry, peer):
    """The speed of thorn relative to a peer; None if the peer was not timed."""
    return entry[peer] and entry["thorn_ns"] and entry[peer] / entry["thorn_ns"]


def mean(ratios):
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def ratios(entries, group, threads, peer="torch_ns"):
    chosen = (entry for entry in entries if entry["group"] == group and entry["threads"] == threads)
    return [times for entry in chosen if (times := ratio(entry, peer))]


def time(ns):
    if not ns:
        return "–"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1)):
        if ns >= size or unit == "ns":
            value = ns / size
            return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def times_as_fast(value):
    if not value:
        return "–"
    text = f"{value:.0f}" if value >= 100 else f"{value:.2f}" if value < 10 else f"{value:.1f}"
    return text if value >= 1 else f"**{text}**"


def table(head, lines):
    """A Markdown table. The columns after the first of type text are numbers, aligned to the right."""
    rule = ["---" if name in ("op", "dtype", "shape", "group") else "---:" for name in head]
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, rule, *lines))


def summary(entries, groups):
    head = ["group", "threads", "rows", "× PyTorch", "× NumPy", "least × PyTorch", "slower than PyTorch", "slower than NumPy"]
    lines = []
    for group in groups:
        for threads in ("1", "2"):
            torch, numpy = (ratios(entries, group, threads, peer) for peer in ("torch_ns", "numpy_ns"))
            if torch:
                means = [times_as_fast(mean(torch)), times_as_fast(mean(numpy)), times_as_fast(min(torch))]
                slower = [str(sum(value < 1 for value in values)) if values else "–" for values in (torch, numpy)]
                lines.append([group, threads, str(len(torch)), *means, *slower])
    return table(head, lines)


def details(entries, group):
    """A table line for each row of a group: one thread, then two."""
    one = [entry for entry in entries if entry["group"] == group and entry["threads"] == "1"]
    two = {key(entry)[:4]: entry for entry in entries if entry["group"] == group and entry["threads"] == "2"}
    head = ["op", "dtype", "shape", "thorn", "PyTorch", "NumPy", "limit", "× PyTorch", "× NumPy", "of the limit"]
    if two:
        head += ["2 threads", "PyTorch", "limit", "× PyTorch"]
    lines = []
    for entry in one:
        share = entry["limit_ns"] and f"{100 * entry['limit_ns'] / entry['thorn_ns']:.0f} %"
        line = [*(entry[column] for column in ("op", "dtype", "shape")), *(time(entry[column]) for column in TIMES)]
        line += [times_as_fast(ratio(entry, "torch_ns")), times_as_fast(ratio(entry, "numpy_ns")), share or "–"]
        if two:
            other = two.get(key(entry)[:4])
            shown = [time(other[column]) for column in ("thorn_ns", "torch_ns", "limit_ns")] if other else ["–"] * 3
            line += [*shown, times_as_fast(ratio(other, "torch_ns")) if other else "–"]
        lines.append(line)
    return table(head, lines)


PAGE = """# thorn compared with PyTorch and NumPy

This page compares times of thorn with times of PyTorch and NumPy. Made by `scripts/bench.sh --peers`;
[benches/README.md](../benches/README.md) explains the measurement. A number above 1 means that thorn is faster.

![Speed against PyTorch, each row a dot, by group](benchmarks.svg)

{summary}

× PyTorch, × NumPy: the speed of thorn divided by the speed of the other library, as the geometric mean over the rows. **Bold** numbers:
thorn is slower.

## How it was measured

Each time is the best of many short samples. The operands are in the caches as far as they fit. With one thread, all libraries run in one
process and take turns sample by sample. With two threads, each library has a separate process; the processes take turns every 30 ms, and
only one runs at a time. All libraries use operands in the same memory, and with one thread also results. This memory is allocated before
the clock starts, except in rows that say *fresh*. Before a measurement, the result of thorn is compared with the result of PyTorch. With
two threads, it must also have the same bits as with one.

thorn is called from C. PyTorch and NumPy are called from Python, as most programs do. Python costs them 0.2 to 1 µs a call, which matters
in rows below 10 µs. In the group `small`, PyTorch is called from C++ in its inference mode. NumPy has one thread.

*limit*: the time that this machine takes only to read the operands and write the results, in its widest vectors, or only to do the same
number of multiplications and additions. The limit is measured in turn with the libraries.

{notes}
"""


GPU_PAGE = """# thorn beside PyTorch on a GPU

Made by `scripts/gpu.sh here`; [benches/README.md](../benches/README.md) says how. Above 1, thorn is faster.

{summary}

× PyTorch: how many times as fast thorn is, as geometric mean of the rows. In **bold**: thorn is slower.

## How it was measured

Each time is the best of many short samples: many calls, and then the wait for the GPU. Operands and results lie in the GPU's memory before the clock
starts. thorn is called from C, PyTorch from Python. Before it is timed, every result of thorn is compared with PyTorch's on the host.

*limit*: what a copy within the GPU takes that reads and writes as many bytes together.

{notes}
"""


def page(text, notes, entries, groups):
    measured = [group for group in groups if group in notes]
    described = "\n".join(f"- `{group}`: {notes[group]}" for group in measured)
    parts = [text.format(summary=summary(entries, measured), notes=described)]
    parts += [f"## {group}\n\n{details(entries, group)}\n" for group in measured]
    # Rows without a peer, which foundation.c and benches/lua time.
    parts += [(Path(__file__).parents[1] / name).read_text() for name in ("fused.md", "lua.md")]
    return "\n".join(parts)
