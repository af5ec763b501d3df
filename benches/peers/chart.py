"""The chart of docs/benchmarks.md: the speed relative to PyTorch by group, with a dot for each row, on a logarithmic scale."""

import math
from html import escape

from report import mean, ratio

WIDTH, LEFT, RIGHT, TOP, BAND, BOTTOM = 860, 190, 80, 46, 54, 30

STYLE = """
    text { font: 13px system-ui, sans-serif; fill: #24292f }
    .quiet { font-size: 11px; fill: #57606a }
    .mean { font-weight: 600 }
    .grid { stroke: #d0d7de }
    .even { stroke: #57606a; stroke-dasharray: 4 3 }
    .faster { fill: #0969da; fill-opacity: .45 }
    .slower { fill: #cf222e; fill-opacity: .6 }
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


def chart(entries, groups):
    bands = [
        (group, threads, chosen)
        for group in groups
        for threads in ("1", "2")
        if (chosen := [e for e in entries if (e["group"], e["threads"]) == (group, threads) and ratio(e, "torch_ns")])
    ]
    found = [ratio(entry, "torch_ns") for _, _, chosen in bands for entry in chosen] or [1]
    low, high = min(0.5, min(found)) * 0.9, max(10, max(found)) * 1.1
    height = TOP + BAND * len(bands) + BOTTOM

    def x(value):
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(value / low) / math.log(high / low)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        "<title>Speed of thorn against PyTorch, by group</title>",
        f"<style>{STYLE}</style>",
        f'<text x="{LEFT}" y="20">times as fast as PyTorch; the line is the geometric mean</text>',
        *grid(x, low, high, height),
    ]
    for at, (group, threads, chosen) in enumerate(bands):
        parts += band(x, TOP + BAND * at, group, threads, chosen)
    return "\n".join([*parts, "</svg>"]) + "\n"


def grid(x, low, high, height):
    steps = [step * 10.0**power for power in range(-3, 5) for step in (1, 2, 5)]
    for step in steps:
        if low <= step <= high:
            kind = "even" if step == 1 else "grid"
            yield f'<line class="{kind}" x1="{x(step):.1f}" x2="{x(step):.1f}" y1="{TOP - 8}" y2="{height - BOTTOM + 4}"/>'
            yield f'<text class="quiet" text-anchor="middle" x="{x(step):.1f}" y="{height - 10}">{step:g}</text>'


def band(x, top, group, threads, chosen):
    """The dots of a group, spread over the height of its band in the order of the rows, and their mean."""
    middle = top + BAND / 2
    yield f'<text x="16" y="{middle + 1:.1f}">{escape(group)}</text>'
    plural = "" if threads == "1" else "s"
    yield f'<text class="quiet" x="16" y="{middle + 15:.1f}">{threads} thread{plural}, {len(chosen)} rows</text>'
    for at, entry in enumerate(chosen):
        value, y = ratio(entry, "torch_ns"), top + 8 + (BAND - 16) * (at * 0.618 % 1)
        kind = "faster" if value >= 1 else "slower"
        told = escape(f"{entry['op']} {entry['dtype']} {entry['shape']}: {value:.2f}")
        yield f'<circle class="{kind}" cx="{x(value):.1f}" cy="{y:.1f}" r="3.5"><title>{told}</title></circle>'
    middle_ratio = mean([ratio(entry, "torch_ns") for entry in chosen])
    yield f'<line class="tick" x1="{x(middle_ratio):.1f}" x2="{x(middle_ratio):.1f}" y1="{top + 4}" y2="{top + BAND - 4}"/>'
    yield f'<text class="mean" x="{WIDTH - RIGHT + 14}" y="{middle + 4:.1f}">× {middle_ratio:.2f}</text>'
