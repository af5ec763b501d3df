"""The record, benches/peers.tsv, and what is generated from it: the page docs/benchmarks.md, its chart, and lines of README.md.

    python3 -B benches/peers/report.py           # writes the page, the chart and the lines anew
    python3 -B benches/peers/report.py --check   # fails if they differ from the record
"""

import re
import sys
import textwrap
from pathlib import Path

import chart
from machine import BUSY, KINDS
from record import key, kind_of, mean, ratio, ratios, read

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "benches" / "peers.tsv"


def time(ns):
    if not ns:
        return "–"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1)):
        if ns >= size or unit == "ns":
            value = ns / size
            return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def plain(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def times_as_fast(value):
    if not value:
        return "–"
    return plain(value) if value >= 1 else f"**{plain(value)}**"


def table(head, lines):
    """A Markdown table. The columns of text are aligned to the left, numbers to the right."""
    rule = ["---" if name in ("op", "dtype", "shape", "group", "processor") else "---:" for name in head]
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, rule, *lines))


def kinds_in(entries):
    present = {kind_of(entry) for entry in entries}
    return [kind for kind in KINDS if kind in present] + sorted(present - set(KINDS))


def name_of(kind):
    return KINDS.get(kind, kind)


def of_kind(entries, kind):
    return [entry for entry in entries if kind_of(entry) == kind]


def slower(values):
    return f"{sum(value < 1 for value in values)}" if values else "–"


def overview(entries, groups):
    """For each group and kind the mean, and in brackets how many of the rows are slower than PyTorch's."""
    kinds = kinds_in(entries)
    lines = []
    for group in groups:
        for threads in ("1", "2"):
            found = [ratios(of_kind(entries, kind), group, threads) for kind in kinds]
            if any(found):
                cells = [f"{times_as_fast(mean(values))} ({slower(values)} of {len(values)})" if values else "–" for values in found]
                lines.append([group, threads, *cells])
    return table(["group", "threads", *map(name_of, kinds)], lines)


def summary(entries, group):
    head = ["processor", "threads", "rows", "× PyTorch", "least", "slower than PyTorch", "× NumPy", "slower than NumPy"]
    lines = []
    for kind in kinds_in(entries):
        for threads in ("1", "2"):
            torch, numpy = (ratios(of_kind(entries, kind), group, threads, peer) for peer in ("torch_ns", "numpy_ns"))
            rows = sum(entry["group"] == group and entry["threads"] == threads for entry in of_kind(entries, kind))
            if torch or numpy:
                shown = [times_as_fast(mean(torch)), times_as_fast(min(torch, default=None)), slower(torch)]
                lines.append([name_of(kind), threads, str(rows), *shown, times_as_fast(mean(numpy)), slower(numpy)])
    return table(head, lines)


def marked(*entries):
    return " \\*" if any(entry and (entry["load"] or 0) > BUSY for entry in entries) else ""


def details(entries, group):
    """A table line for each row of a group, with three columns for each kind of processor."""
    entries = [entry for entry in entries if entry["group"] == group]
    kinds = kinds_in(entries)
    by_key = {(*key(entry), kind_of(entry)): entry for entry in entries}
    lines = []
    for row in dict.fromkeys(key(entry)[:4] for entry in entries):
        line = list(row[1:])
        for kind in kinds:
            one, two = (by_key.get((*row, threads, kind)) for threads in ("1", "2"))
            both = [times_as_fast(ratio(entry, "torch_ns")) for entry in (one, two) if entry and entry["torch_ns"]]
            taken = (time(one["thorn_ns"]) if one else "–") + marked(one, two)
            line += [taken, " · ".join(both) or "–", times_as_fast(one and ratio(one, "numpy_ns"))]
        lines.append(line)
    return table(["op", "dtype", "shape", *(name for kind in kinds for name in (name_of(kind), "× PyTorch", "× NumPy"))], lines)


PAGE = """# thorn compared with PyTorch and NumPy

This page compares times of thorn with times of PyTorch and NumPy. Made by `scripts/bench.sh --peers`;
[benches/README.md](../benches/README.md) explains the measurement. A number above 1 means that thorn is faster.

![Speed against PyTorch, each row a dot, by group and processor](benchmarks.svg)

{overview}

The speed of thorn divided by the speed of PyTorch, as the geometric mean over the rows of a group, for each kind of processor. In brackets:
the number of rows in which thorn is slower. **Bold** numbers: thorn is slower. Processors of one kind have the same instruction sets, but
differ in caches, clock and memory.

## How it was measured

Each time is the best of many short samples. The operands are in the caches as far as they fit. With one thread, all libraries run in one
process and take turns sample by sample. With two threads, each library has a separate process; the processes take turns every 30 ms, and
only one runs at a time. All libraries use operands in the same memory, and with one thread also results. This memory is allocated before
the clock starts, except in rows that say *fresh* or *new*. Before a measurement, the result of thorn is compared with the result of
PyTorch. With two threads, it must also have the same bits as with one. Each group runs in a separate process, so that no group sees the
state of another one.

thorn is called from C. PyTorch and NumPy are called from Python, as most programs do. Python costs them 0.2 to 1 µs a call, which matters
in rows below 10 µs. In the group `small`, PyTorch is called from C++ in its inference mode. NumPy has one thread.

In the tables of rows, a column with the name of a processor has the time of thorn with one thread. *× PyTorch* has the ratio with one
thread and, after the dot, with two threads. \\*: other programs used more than {busy} cores meanwhile. `benches/peers.tsv` has all times,
also of PyTorch, NumPy, and the limit of the machine.

{runs}
"""


GPU_PAGE = """# thorn beside PyTorch on a GPU

Made by `scripts/gpu.sh here`; [benches/README.md](../benches/README.md) says how. Above 1, thorn is faster.

{overview}

The speed of thorn divided by the speed of PyTorch, as the geometric mean over the rows of a group. In brackets: the number of rows in which
thorn is slower. **Bold** numbers: thorn is slower.

## How it was measured

Each time is the best of many short samples: many calls, and then the wait for the GPU. Operands and results are in the GPU's memory before
the clock starts. thorn is called from C, PyTorch from Python. Before it is timed, every result of thorn is compared with PyTorch's on the
host.

{runs}
"""


def groups_of(entries):
    """The groups in the order of the record."""
    return list(dict.fromkeys(entry["group"] for entry in entries))


def page(text, runs, entries):
    described = "\n".join(f"- `{name}`: {note}" for name, note in runs.items())
    parts = [text.format(overview=overview(entries, groups_of(entries)), runs=described, busy=BUSY)]
    parts += [f"## {group}\n\n{summary(entries, group)}\n\n{details(entries, group)}\n" for group in groups_of(entries)]
    # Rows without a peer, which foundation.c and benches/lua time.
    parts += [(ROOT / "benches" / name).read_text() for name in ("fused.md", "lua.md")]
    return "\n".join(parts)


BLOCK = re.compile(r"(?<=  <!-- speed: from benches/peers\.tsv -->\n).*?(?=  <!-- speed: end -->)", re.S)


def listed(parts):
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def lines_of_readme(entries):
    """The sentences about speed in README.md."""
    means, adds = [], []
    for kind in kinds_in(entries):
        chosen = of_kind(entries, kind)
        values = [ratio(entry, "torch_ns") for entry in chosen if entry["threads"] == "1" and ratio(entry, "torch_ns")]
        if values:
            means.append(f"{plain(mean(values))} times with {name_of(kind)} ({len(values)} calls, {slower(values)} of them slower)")
        adds += [entry["thorn_ns"] for entry in chosen if (entry["group"], entry["op"]) == ("small", "add")]
    text = f"With one thread, thorn is faster than PyTorch by these factors, as geometric means: {listed(means)}."
    if adds:
        low, high = f"{min(adds):.0f}", f"{max(adds):.0f}"
        text += f" Adding two tensors of 4 floats takes {low if low == high else f'{low} to {high}'} ns."
    return textwrap.indent(textwrap.fill(text, 138), "  ") + "\n"


def outputs():
    """The generated files and what they should contain."""
    runs, entries = read(RECORD)
    readme = ROOT / "README.md"
    return {
        ROOT / "docs" / "benchmarks.md": page(PAGE, runs, entries),
        ROOT / "docs" / "benchmarks.svg": chart.chart(entries, groups_of(entries), kinds_in(entries)),
        readme: BLOCK.sub(lambda _: lines_of_readme(entries), readme.read_text()),
    }


def write_outputs():
    for path, text in outputs().items():
        path.write_text(text)


def main():
    if "--check" not in sys.argv:
        write_outputs()
        return 0
    stale = [path for path, text in outputs().items() if path.read_text() != text]
    for path in stale:
        print(f"{path.relative_to(ROOT)} differs from benches/peers.tsv: python3 -B benches/peers/report.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
