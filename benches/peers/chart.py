"""The chart of docs/benchmarks.md: the speed relative to PyTorch by group and processor, a dot for each row, on a logarithmic scale."""

import math
from html import escape

from machine import KINDS
from record import kind_of, mean, ratio

WIDTH, LEFT, RIGHT, TOP, BAND, BOTTOM = 860, 210, 120, 46, 40, 30

STYLE = """
    text { font: 13px system-ui, sans-serif; fill: #24292f }
    .quiet { font-size: 11px; fill: #57606a }
    .mean { font-weight: 600 }
    .grid { stroke: #d0d7de }
    .even { stroke: #57606a; stroke-dasharray: 4 3 }
    .faster { fill: #0969da; fill-opacity: .45 }
    .slower { fill: #cf222e; fill-opacity: .6 }
    .two { fill: none; stroke: #57606a; stroke-opacity: .5 }
    .tick { stroke: #24292f; stroke-width: 2.5 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 }
      .quiet { fill: #9198a1 }
      .grid { stroke: #30363d }
      .even { stroke: #9198a1 }
      .faster { fill: #58a6ff }
      .slower { fill: #ff7b72 }
      .tick { stroke: #e6edf3 }
    }
"""


def chart(entries, groups, kinds):
    """A band for each group and kind of processor. Filled dots are rows with one thread, circles rows with two."""
    chosen = {}
    for entry in entries:
        if ratio(entry, "torch_ns"):
            chosen.setdefault((entry["group"], kind_of(entry)), []).append(entry)
    bands = [(group, kind, chosen[group, kind]) for group in groups for kind in kinds if (group, kind) in chosen]
    found = [ratio(entry, "torch_ns") for _, _, rows in bands for entry in rows] or [1]
    low, high = min(0.5, min(found)) * 0.9, max(10, max(found)) * 1.1
    height = TOP + BAND * len(bands) + BOTTOM

    def x(value):
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(value / low) / math.log(high / low)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        "<title>Speed of thorn against PyTorch, by group</title>",
        f"<style>{STYLE}</style>",
        f'<text x="{LEFT}" y="20">times as fast as PyTorch with one thread (dots) and two (circles), and geometric means</text>',
        *grid(x, low, high, height),
    ]
    for at, (group, kind, rows) in enumerate(bands):
        parts += band(x, TOP + BAND * at, group, kind, rows)
    return "\n".join([*parts, "</svg>"]) + "\n"


def grid(x, low, high, height):
    steps = [step * 10.0**power for power in range(-3, 5) for step in (1, 2, 5)]
    for step in steps:
        if low <= step <= high:
            kind = "even" if step == 1 else "grid"
            yield f'<line class="{kind}" x1="{x(step):.1f}" x2="{x(step):.1f}" y1="{TOP - 8}" y2="{height - BOTTOM + 4}"/>'
            yield f'<text class="quiet" text-anchor="middle" x="{x(step):.1f}" y="{height - 10}">{step:g}</text>'


def band(x, top, group, kind, rows):
    """The dots of a group, spread over the height of its band in the order of the rows, and their means."""
    middle = top + BAND / 2
    yield f'<text x="16" y="{middle - 1:.1f}">{escape(group)}</text>'
    yield f'<text class="quiet" x="16" y="{middle + 13:.1f}">{escape(KINDS.get(kind, kind))}</text>'
    for at, entry in enumerate(rows):
        value, y = ratio(entry, "torch_ns"), top + 6 + (BAND - 12) * (at * 0.618 % 1)
        look = "two" if entry["threads"] == "2" else "faster" if value >= 1 else "slower"
        told = escape(f"{entry['op']} {entry['dtype']} {entry['shape']}: {value:.2f}")
        yield f'<circle class="{look}" cx="{x(value):.1f}" cy="{y:.1f}" r="3"><title>{told}</title></circle>'
    means = [mean([ratio(entry, "torch_ns") for entry in rows if entry["threads"] == threads]) for threads in ("1", "2")]
    if means[0]:
        yield f'<line class="tick" x1="{x(means[0]):.1f}" x2="{x(means[0]):.1f}" y1="{top + 4}" y2="{top + BAND - 4}"/>'
    told = " · ".join(f"{value:.2f}" if value else "–" for value in means)
    yield f'<text class="mean" x="{WIDTH - RIGHT + 14}" y="{middle + 4:.1f}">× {told}</text>'
