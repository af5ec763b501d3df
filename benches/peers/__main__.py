"""Times thorn, PyTorch and NumPy; benches/README.md explains the results."""

import argparse
import gc
import os
import subprocess
import sys
import time
import warnings
from multiprocessing import Pipe
from pathlib import Path

import numpy as np
import torch

import report
from case import Case
from machine import BUSY, Others, kind, processor
from native import BENCHES, Failed, LibTorch, Thorn
from race import race, race_apart
from record import merged, next_run, read, write
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
    parser.add_argument("word", nargs="?", default="", help="only rows whose name contains it")
    return parser.parse_args()


def commit():
    done = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=BENCHES)
    return done.stdout.strip()


class Bench:
    def __init__(self, chosen):
        self.chosen = chosen
        self.load = os.getloadavg()[0]
        self.all_groups = GPU_GROUPS if chosen.gpu else GROUPS
        self.groups = [group for group in self.all_groups if not chosen.group or group in chosen.group]
        self.all_rows = [row for group in self.groups for row in rows_of(group)]
        rows = [row for row in self.all_rows if chosen.word in f"{row.op} {row.dtype} {row.shape}"]
        chosen.out.mkdir(parents=True, exist_ok=True)
        self.thorn = Thorn(chosen.library, chosen.out, rows)
        self.libtorch = LibTorch(chosen.out, [row for row in self.thorn.rows if row.cpp])
        if self.libtorch.problem:
            print(f"peers: {self.libtorch.problem}; rows in C++ go without PyTorch")
        self.entries, self.failures, self.noisy = [], 0, 0
        self.skipped = len(self.thorn.unfit)

    def run(self):
        """Times all rows. Returns the seconds that each group took."""
        print(f"{'group':9} {'op':18} {'dtype':9} {'shape':12} T {'thorn':>11} {'torch':>11} {'numpy':>11} {'limit':>11}  ×torch ×numpy")
        for row, reason in self.thorn.unfit.items():
            print(f"{row.label()} skipped: {reason}")
        spent = {}
        for group in self.groups:
            if rows := [row for row in self.thorn.rows if row.group == group]:
                start = time.perf_counter()
                self.run_apart(group, rows)
                spent[group] = time.perf_counter() - start
        return spent

    def run_apart(self, group, rows):
        """Times the rows of a group in a separate process, so that no later group sees the state of a library after this one."""
        ours, theirs = Pipe(False)
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            try:
                self.run_group(group, rows)
                theirs.send((self.entries, self.failures, self.noisy))
            finally:
                sys.stdout.flush()
                os._exit(0)
        theirs.close()
        try:
            entries, failures, noisy = ours.recv()
        except EOFError:
            print(f"{group}: the process ended before its rows did")
            entries, failures, noisy = [], 1, 0
        os.waitpid(child, 0)
        self.entries += entries
        self.failures += failures
        self.noisy += noisy

    def run_group(self, group, rows):
        self.entries, self.failures, self.noisy = [], 0, 0
        self.others = Others()
        time.sleep(0.5)
        if self.others.cores() > BUSY:
            print(f"peers: other programs use {self.others.cores():.1f} cores as group {group} starts; times will not be good")
        if self.chosen.gpu and self.thorn.c.setGpu(0):
            raise SystemExit(f"peers: {self.thorn.c.message().decode()}")
        for row in rows:
            try:
                self.measure(row)
            except Failed as problem:
                self.failures += 1
                print(f"{row.label()} WRONG: {problem}")
            except Exception as problem:
                self.failures += 1
                print(f"{row.label()} BROKEN ROW: {type(problem).__name__}: {problem}".split("\n")[0])
            sys.stdout.flush()

    def measure(self, row):
        case = Case(row, self.thorn, self.libtorch, self.chosen.gpu)
        self.thorn.c.setThreads(1)
        case.check()
        seconds = QUICK if self.chosen.quick else FULL
        self.others.start()
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
        if case.has_torch():
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

        makes = {"thorn": thorn}
        if case.has_torch():
            makes["torch"] = lambda: case.run_torch(2)
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
        load, self.others = self.others.cores(), Others()
        ratios = " ".join(f"{best[peer] / best['thorn']:7.2f}" if best[peer] else f"{'-':>7}" for peer in ("torch", "numpy"))
        print(f"{row.label()} {threads} {told} {ratios}{f'  * {load:.1f} cores were busy' if load > BUSY else ''}")
        entry = {"group": row.group, "op": row.op, "dtype": row.dtype, "shape": row.shape, "threads": threads, "load": load}
        self.entries.append({**entry, **{f"{name}_ns": value for name, value in best.items()}})

    def note(self, spent):
        thorn = f"thorn {self.thorn.c.version().decode()} {commit()}"
        peers = f"PyTorch {torch.__version__}, NumPy {np.__version__}"
        machine = torch.cuda.get_device_name(0) if self.chosen.gpu and torch.cuda.is_available() else processor()
        took = ", ".join(f"{group} {seconds / 60:.1f}" for group, seconds in spent.items())
        cores = f"{len(os.sched_getaffinity(0))} cores, load {self.load:.1f} at the start"
        return f"{time.strftime('%Y-%m-%d')}, {machine}, {cores}, {thorn}, {peers}; minutes: {took}"

    def save(self, spent):
        """The measured rows replace their previous results on this kind of processor. The results of --quick are written to the build
        directory."""
        name = "peers-cuda.tsv" if self.chosen.gpu else "peers.tsv"
        path = (self.chosen.out if self.chosen.quick else BENCHES) / name
        docs = self.chosen.out if self.chosen.quick else BENCHES.parent / "docs"
        runs, entries = ({}, []) if self.chosen.quick else read(path)
        run = next_run(runs, "cuda" if self.chosen.gpu else kind(self.thorn.c.simdLevel().decode()))
        new = [{**entry, "run": run} for entry in self.entries]
        rows = [(row.group, row.op, row.dtype, row.shape) for row in self.all_rows]
        whole = not self.chosen.word and self.chosen.threads == "both"
        write(path, {**runs, run: self.note(spent)}, merged(entries, new, self.all_groups, rows, whole))
        if self.chosen.gpu:
            (docs / "benchmarks-cuda.md").write_text(report.page(report.GPU_PAGE, *read(path)))
        elif self.chosen.quick:
            (docs / "benchmarks.md").write_text(report.page(report.PAGE, *read(path)))
        else:
            report.write_outputs()
        print(f"written: {path}, {docs / ('benchmarks-cuda.md' if self.chosen.gpu else 'benchmarks.md')}")


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
