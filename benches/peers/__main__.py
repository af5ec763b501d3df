"""Times thorn, PyTorch and NumPy; benches/README.md explains the results."""

import argparse
import gc
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import torch

from case import Case
from chart import chart
from native import BENCHES, Failed, LibTorch, Thorn
from race import race, race_apart
from report import GPU_PAGE, PAGE, page, read, write
from rows import GPU_GROUPS, GROUPS, rows_of

# Seconds per row, with one thread and with two.
FULL, QUICK = (0.6, 0.5), (0.08, 0.12)


def options():
    parser = argparse.ArgumentParser(prog="scripts/bench.sh --peers", description=__doc__)
    parser.add_argument("--library", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--group", choices={**GROUPS, **GPU_GROUPS}, action="append", help="only this group")
    parser.add_argument("--gpu", action="store_true", help="on the first GPU, beside PyTorch there")
    parser.add_argument("--quick", action="store_true", help="shorter; the record stays as it is")
    parser.add_argument("--strict", action="store_true", help="a row that the library cannot run is a failure")
    parser.add_argument("--threads", choices=("1", "2", "both"), default="both")
    parser.add_argument("word", nargs="?", default="", help="only rows whose name contains it; the record stays as it is")
    return parser.parse_args()


def commit():
    done = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=BENCHES)
    return done.stdout.strip()


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown processor"


class Bench:
    def __init__(self, chosen):
        self.chosen = chosen
        self.all_groups = GPU_GROUPS if chosen.gpu else GROUPS
        self.groups = chosen.group or list(self.all_groups)
        rows = [row for group in self.groups for row in rows_of(group) if chosen.word in f"{row.op} {row.dtype} {row.shape}"]
        chosen.out.mkdir(parents=True, exist_ok=True)
        self.thorn = Thorn(chosen.library, chosen.out, rows)
        self.libtorch = LibTorch(chosen.out, [row for row in self.thorn.rows if row.cpp])
        if self.libtorch.problem:
            print(f"peers: {self.libtorch.problem}; rows in C++ go without PyTorch")
        if chosen.gpu and self.thorn.c.setGpu(0):
            raise SystemExit(f"peers: {self.thorn.c.message().decode()}")
        self.entries, self.failures, self.noisy = [], 0, 0
        self.skipped = len(self.thorn.unfit)

    def run(self):
        """Times all rows. Returns the seconds that each group took."""
        spent = dict.fromkeys(self.groups, 0.0)
        if os.getloadavg()[0] > 0.5:
            print(f"peers: this machine is busy (load {os.getloadavg()[0]:.1f}); times will not be good")
        print(f"{'group':9} {'op':18} {'dtype':9} {'shape':12} T {'thorn':>11} {'torch':>11} {'numpy':>11} {'limit':>11}  ×torch ×numpy")
        for row, reason in self.thorn.unfit.items():
            print(f"{row.label()} skipped: {reason}")
        for row in self.thorn.rows:
            start = time.perf_counter()
            try:
                self.measure(row)
            except Failed as problem:
                self.failures += 1
                print(f"{row.label()} WRONG: {problem}")
            except Exception as problem:
                self.failures += 1
                print(f"{row.label()} BROKEN ROW: {type(problem).__name__}: {problem}".split("\n")[0])
            sys.stdout.flush()
            spent[row.group] += time.perf_counter() - start
        return spent

    def measure(self, row):
        case = Case(row, self.thorn, self.libtorch, self.chosen.gpu)
        self.thorn.c.setThreads(1)
        case.check()
        seconds = QUICK if self.chosen.quick else FULL
        if self.chosen.gpu:
            self.record(row, "1", self.race_together(case, seconds[0]))
            return
        if self.chosen.threads != "2":
            self.record(row, "1", self.race_together(case, seconds[0]))
        briefly = self.chosen.quick and self.chosen.threads == "both" and row.dtype != "f32"
        if self.chosen.threads != "1" and row.two_threads() and not briefly:
            self.record(row, "2", self.race_apart(case, seconds[1]))

    def race_together(self, case, seconds):
        runs = {"thorn": case.run_thorn(1)}
        if not case.row.cpp or not self.libtorch.problem:
            runs["torch"] = case.run_torch(1)
        if case.has_numpy():
            runs["numpy"] = case.run_numpy(1)
        if case.has_limit():
            runs["limit"] = case.run_limit(1)
        return race(runs, seconds)

    def race_apart(self, case, seconds):
        case.run_thorn(1)
        expected = case.result_bytes()

        def thorn():
            run = case.run_thorn(2)
            for name, found in case.result_bytes().items():
                if not torch.equal(found, expected[name]):
                    raise Failed(f"{name} differs between one thread and two")
            return run

        makes = {"thorn": thorn, "torch": lambda: case.run_torch(2)}
        if case.has_limit():
            makes["limit"] = lambda: case.run_limit(2)
        return race_apart(makes, seconds)

    def record(self, row, threads, times):
        if any(times[name].noisy for name in times) and threads == "2":
            print(f"{row.label()} {threads} noisy: too few samples went undisturbed")
            self.noisy += 1
            return
        best = {name: times[name].best if name in times else None for name in ("thorn", "torch", "numpy", "limit")}
        told = " ".join(f"{best[name]:11.0f}" if best[name] else f"{'-':>11}" for name in best)
        ratios = " ".join(f"{best[peer] / best['thorn']:7.2f}" if best[peer] else f"{'-':>7}" for peer in ("torch", "numpy"))
        print(f"{row.label()} {threads} {told} {ratios}")
        entry = {"group": row.group, "op": row.op, "dtype": row.dtype, "shape": row.shape, "threads": threads}
        self.entries.append({**entry, **{f"{name}_ns": value for name, value in best.items()}})

    def note(self, seconds):
        thorn = f"thorn {self.thorn.c.version().decode()} {commit()} ({self.thorn.c.simdLevel().decode()})"
        peers = f"PyTorch {torch.__version__}, NumPy {np.__version__}"
        machine = torch.cuda.get_device_name(0) if self.chosen.gpu and torch.cuda.is_available() else processor()
        return f"{time.strftime('%Y-%m-%d')}, {machine}, {thorn}, {peers}; took {seconds / 60:.1f} min"

    def save(self, spent):
        """Groups that were measured completely replace their previous results. All other results are written to the build directory."""
        passing = self.chosen.quick or self.chosen.word or self.chosen.threads != "both"
        name = "peers-cuda.tsv" if self.chosen.gpu else "peers.tsv"
        record = self.chosen.out / name if passing else BENCHES / name
        docs = self.chosen.out if passing else BENCHES.parent / "docs"
        notes, entries = ({}, []) if passing else read(record)
        measured = {entry["group"] for entry in self.entries}
        kept = [entry for entry in entries if entry["group"] not in measured]
        found = {**notes, **{group: self.note(spent[group]) for group in measured}}
        notes = {group: found[group] for group in self.all_groups if group in found}
        entries = sorted(kept + self.entries, key=lambda entry: list(self.all_groups).index(entry["group"]))
        write(record, notes, entries)
        notes, entries = read(record)
        if self.chosen.gpu:
            (docs / "benchmarks-cuda.md").write_text(page(GPU_PAGE, notes, entries, GPU_GROUPS))
            print(f"written: {record}, {docs / 'benchmarks-cuda.md'}")
            return
        (docs / "benchmarks.md").write_text(page(PAGE, notes, entries, GROUPS))
        (docs / "benchmarks.svg").write_text(chart(entries, GROUPS))
        print(f"written: {record}, {docs / 'benchmarks.md'}")


def main():
    warnings.simplefilter("ignore")
    gc.disable()
    torch.set_num_threads(1)  # OpenMP must not have threads when the process forks
    bench = Bench(options())
    spent = bench.run()
    if bench.entries:
        bench.save(spent)
    took = ", ".join(f"{group} {seconds:.0f} s" for group, seconds in spent.items())
    print(f"{len(bench.entries)} timed, {bench.noisy} noisy, {bench.skipped} skipped, {bench.failures} failed; {took}")
    return 1 if bench.failures or (bench.chosen.strict and bench.skipped) else 0


sys.exit(main())
