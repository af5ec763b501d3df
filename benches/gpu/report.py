"""Writes benchmarks-cuda.md from a run of scripts/gpu.sh run.

Usage: report.py FOLDER

The folder has machine.json, bench.log and optionally bench-torch.log, as bench.c and torch_bench.py print them.
"""

import json
import math
import sys
import time
from pathlib import Path

# Dense operations per clock of a multiprocessor, by compute capability, from NVIDIA's white papers of the H100 (9.0) and the A100 (8.0).
PEAK = {"90": {"f32": 256, "tf32": 2048, "bf16": 4096}, "80": {"f32": 128, "tf32": 1024, "bf16": 2048}}

PAGE = """# thorn compared with PyTorch on a GPU

Made by `scripts/gpu.sh run` on {date}; [the guide](guide/src/gpu_check.md) says how. Above 1, thorn is faster.

- GPU: {name}, {multiprocessors} multiprocessors, {memory:.0f} GiB; {smi}
- driver: {driver}; NVRTC {nvrtc}; thorn {thorn} ({commit}); PyTorch {torch}
- bandwidth of the memory: {bandwidth:.0f} GB/s, from the clock and the width of its bus that the driver reports

{table}

*thorn*, *PyTorch*: time of a call on the GPU, the best of 5 rounds of 10 calls between two events. *host*: time until a call of thorn has
returned. *share*: bytes that a call must read and write, or its multiplications and additions, compared with the bandwidth or the peak of
the GPU at its greatest clock. TF32 is off except in its row. thorn is called from C, PyTorch from Python.
"""


def lines_of(path):
    return [line.split("\t") for line in path.read_text().splitlines() if "\t" in line] if path.exists() else []


def number(text):
    try:
        value = float(text)
        return value if math.isfinite(value) and value > 0 else None
    except ValueError:
        return None


def microseconds(value):
    return f"{value:.4g} µs" if value and value < 1e4 else f"{value / 1e3:.4g} ms" if value else "–"


class Limits:
    """The bandwidth in bytes, and the peak in operations, per µs."""

    def __init__(self, gpu):
        value = {name: number(text) or 0.0 for name, text in gpu.items()}
        # Two transfers per clock.
        self.bandwidth = 2e-3 * value.get("memory_clock_khz", 0) * value.get("memory_bus_bits", 0) / 8
        self.clocks = 1e-3 * value.get("clock_khz", 0) * value.get("multiprocessors", 0)
        self.peak = PEAK.get(gpu.get("capability"), {})

    def share(self, unit, us, moved, operations):
        """The larger of the shares of bandwidth and peak; empty if neither is known."""
        shares = []
        if moved and self.bandwidth:
            shares.append((moved / us / self.bandwidth, f"{moved / us / 1e3:.0f} GB/s"))
        if operations and self.clocks and unit in self.peak:
            shares.append((operations / us / (self.clocks * self.peak[unit]), f"{operations / us / 1e6:.1f} TFLOP/s"))
        if not shares:
            return "–"
        share, rate = max(shares)
        return f"{100 * share:.0f} % ({rate})"


def row_of(line, torch, units, limits):
    """A line of the table from a line of thorn and the line of PyTorch for the same row."""
    name, *values = line
    other = number(torch[1]) if torch else None
    if values[0] == "failed":
        return [name, "failed", "–", microseconds(other), "–", "–"]
    us, host, moved, operations = map(number, values)
    if not us:
        return [name, "–", microseconds(host), microseconds(other), "–", "–"]
    ratio = f"{other / us:.2f}" if other else "–"
    return [name, microseconds(us), microseconds(host), microseconds(other), ratio, limits.share(units.get(name), us, moved, operations)]


def main():
    folder = Path(sys.argv[1])
    sys.path.insert(0, str(Path(__file__).parent))
    from rows import ROWS

    facts = json.loads((folder / "machine.json").read_text())
    gpu, limits = facts["gpu"], Limits(facts["gpu"])
    torch = {line[0]: line for line in lines_of(folder / "bench-torch.log")}
    units = {row.name: row.unit for row in ROWS}
    names = {row.name for row in ROWS}
    rows = [row_of(line, torch.get(line[0]), units, limits) for line in lines_of(folder / "bench.log") if line[0] in names]
    head = ["row", "thorn", "host", "PyTorch", "× PyTorch", "share"]
    table = ["| " + " | ".join(cells) + " |" for cells in (head, ["---", *["---:"] * 5], *rows)]
    described = {
        "date": time.strftime("%Y-%m-%d"),
        "name": gpu.get("name", "unknown"),
        "multiprocessors": gpu.get("multiprocessors", "?"),
        "memory": (number(gpu.get("memory", "")) or 0) / 2**30,
        "smi": facts["nvidia_smi"] or "no nvidia-smi",
        "driver": facts["driver"],
        "nvrtc": facts["nvrtc"] or "none",
        "thorn": gpu.get("thorn", "?"),
        "commit": facts["pack"]["commit"] or "no commit",
        "torch": facts["torch"] or "not installed",
        "bandwidth": limits.bandwidth / 1e3,
    }
    (folder / "benchmarks-cuda.md").write_text(PAGE.format(table="\n".join(table), **described))


if __name__ == "__main__":
    main()
