"""Runs a pack of scripts/gpu.sh pack on a machine with an NVIDIA GPU: tests, times, the table of expectations, NVIDIA's checkers.

Nothing is built or fetched. Each step has a time limit and prints one line. Logs, times and a summary page are written to $OUT, or to out/.
On the null driver of tests/cuda_emu, which runs no kernel, all checked values are wrong: a step succeeds there if its programs run to the
end.
"""

import argparse
import json
import os
import sys
import tarfile
import time
from pathlib import Path

import machine
import table
from steps import LEAST, Steps, end_program_after

ROOT = Path(__file__).resolve().parents[2]
REPORT = 5  # seconds reserved for the page
TABLE_LIMIT = {"table-first": 150, "table-fifth": 150, "table-all": 3600}  # seconds for a pass
# Functions whose kernels share memory among the threads of a block.
SANITIZED = ["sum", "sort", "softmax", "cumsum", "mm", "unique", "layerNorm", "conv2d"]
SCALES = {machine.NULL: 0.001, machine.EMULATED: 0.001}


def options():
    parser = argparse.ArgumentParser(prog="scripts/gpu.sh run", description=__doc__)
    parser.add_argument("--minutes", type=float, default=9, help="the run ends after this time whatever happens (default: 9)")
    steps = ", ".join(STEPS)
    parser.add_argument("--only", action="append", metavar="STEP", help=f"only this step, of {steps}; may be given several times")
    parser.add_argument("--pack", type=Path, default=ROOT / ".gpu", help="the pack (default: .gpu)")
    width = max(1, min(12, len(os.sched_getaffinity(0)) - 2))
    parser.add_argument("--processes", type=int, default=width, help=f"of the table, at a time (default: {width})")
    parser.add_argument("--scale", type=float, help="of the sizes in the bench (default: 1, on emulated drivers 0.001)")
    parser.add_argument("--word", default="", help="only rows of the bench whose name contains it")
    chosen = parser.parse_args()
    if unknown := set(chosen.only or []) - set(STEPS):
        parser.error(f"--only: no step has the name {', '.join(sorted(unknown))}")
    if chosen.minutes <= 0 or chosen.processes <= 0:
        parser.error("--minutes and --processes are greater than 0")
    return chosen


def unpacked(pack):
    """The folder of the pack's kernels, which are unpacked once."""
    folder, archive = pack / "kernels", pack / "kernels.tar.xz"
    folder.mkdir(exist_ok=True)
    if archive.exists() and not any(folder.iterdir()):
        with tarfile.open(archive) as kernels:
            kernels.extractall(folder, filter="data") if hasattr(tarfile, "data_filter") else kernels.extractall(folder)
    return folder


class Run:
    def __init__(self, chosen, deadline):
        self.chosen, self.pack, self.bin = chosen, chosen.pack.resolve(), chosen.pack.resolve() / "bin"
        self.out = Path(os.environ.get("OUT") or ROOT / "out").resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        (self.out / "results.txt").unlink(missing_ok=True)
        self.facts = json.loads((self.pack / "pack.json").read_text())
        self.environment = dict(os.environ)
        self.steps = Steps(self.out, deadline, self.environment)

    def wants(self, name):
        return not self.chosen.only or name in self.chosen.only

    def program(self, name):
        return str(self.bin / name)

    def has(self, step, name):
        if not (self.bin / name).exists():
            self.steps.skip(step, f"{name} is not in the pack")
            return False
        return True

    def machine(self):
        """Prepares the environment of all steps. Returns false without a GPU."""
        say, environment = self.steps.say, self.environment
        folder, version = machine.find_nvrtc(self.facts["nvrtc"], environment)
        if folder:
            environment |= {"TH_CUDA_LIBRARIES": folder, "LD_LIBRARY_PATH": machine.joined(folder, environment)}
        facts = machine.describe(self.facts, self.bin / "gpu_bench", self.out, environment)
        facts["nvrtc"] = version
        machine.save(facts, self.out)
        name = facts["gpu"].get("name")
        say(f"GPU: {name or 'none'}; {facts['nvidia_smi'] or 'no nvidia-smi'}; driver: {facts['driver']}")
        say(f"NVRTC: {version or 'none'}, in {folder or 'the folders of the loader'}; PyTorch: {facts['torch'] or 'none'}")
        say(f"{facts['system']}, {facts['cores']} cores, Python {facts['python']}; tools: {' '.join(facts['tools']) or 'none'}")
        if not name:
            say("no GPU: nothing is run")
            return False
        self.take_kernels(name, version, facts["gpu"].get("capability"))
        self.steps.tolerant = name == machine.NULL
        if self.steps.tolerant:
            say("null driver: kernels do not run, so values are wrong; a step is ok if its programs run to their end")
        self.name, self.found = name, facts
        return True

    def take_kernels(self, name, version, capability):
        """Unpacks the pack's kernels into the library's kernel cache."""
        if name == machine.EMULATED:
            # The emulator's kernels are shared libraries in its own folder.
            self.environment |= {"TH_CUDA_CACHE": "", "TH_CUDA_GROUPS": "1"}
            return
        self.steps.cache = unpacked(self.pack)
        self.environment["TH_CUDA_CACHE"] = str(self.steps.cache)
        target = f"sm_{self.facts['capability']} and NVRTC {self.facts['nvrtc'] or 'of no version'}"
        self.steps.say(f"kernels: {self.steps.kernels()} for {target}")
        if capability != str(self.facts["capability"]) or version != self.facts["nvrtc"]:
            self.steps.say(f"  the GPU is sm_{capability} and NVRTC is {version or 'missing'}: kernels may be compiled anew, 0.1 s each")

    def test_streams(self):
        if self.has("test_streams", "test_streams"):
            self.steps.run("test_streams", 60, [self.program("test_streams")])

    def test_graphs(self):
        if self.has("test_graphs", "test_graphs"):
            self.steps.run("test_graphs", 60, [self.program("test_graphs")])

    def test_cuda(self):
        if self.has("test_cuda", "test_cuda"):
            self.steps.run("test_cuda", 90, [self.program("test_cuda")])

    def digits(self):
        if self.has("digits", "digits_cuda"):
            self.steps.run("digits", 60, [self.program("digits_cuda"), "examples/data/digits.csv"])

    def bench(self):
        if not self.has("bench", "gpu_bench"):
            return
        arguments = [str(self.chosen.scale or SCALES.get(self.name, 1)), self.chosen.word]
        self.steps.run("bench", 90, [self.program("gpu_bench"), *arguments])
        self.page()
        if not self.found["torch_gpu"]:
            self.steps.skip("bench-torch", "PyTorch finds no GPU" if self.found["torch"] else "PyTorch is not installed")
            return
        # PyTorch must find its own NVRTC, not the one for the pack.
        paths = os.environ.get("LD_LIBRARY_PATH", "")
        self.steps.run("bench-torch", 120, [sys.executable, "-B", "benches/gpu/torch_bench.py", *arguments], LD_LIBRARY_PATH=paths)
        self.page()

    def page(self):
        """Writes benchmarks-cuda.md with the times so far."""
        machine.output([sys.executable, "-B", "benches/gpu/report.py", str(self.out)], 20)

    def later(self):
        """Seconds that the steps after the table need."""
        needs = {"compute-sanitizer": 100, "ncu": 40}
        return sum(seconds for name, seconds in needs.items() if self.wants(name) and machine.tool(name))

    def table(self):
        if not self.has("table", "luajit"):
            return
        for name in table.PASSES:
            limit = min(TABLE_LIMIT[name], self.steps.left() - self.later())
            if limit < LEAST:
                self.steps.skip(name, "no time is left")
                continue
            width = self.chosen.processes
            parts = width if name == "table-first" else 3 * width
            tasks = table.tasks(name, self.bin / "luajit", self.bin / "libthorn.so.0", parts)
            self.steps.run_all(name, limit, tasks, width, partial=True)

    def sanitizer(self):
        """Runs each checker on a part of the functions, because programs are 10 to 100 times slower with it."""
        tool = machine.tool("compute-sanitizer")
        if not tool:
            self.steps.skip("sanitizer", "compute-sanitizer is not installed")
            return
        environment = {"TH_CUDA_EXACT": "1", **table.environment(self.bin / "libthorn.so.0", table.FIRST)}
        some = table.command(self.bin / "luajit", SANITIZED)
        parts = {"memcheck": [self.program("test_cuda")], "racecheck": some, "synccheck": [self.program("test_streams")]}
        for checker, command in parts.items():
            # Tests provoke errors of the driver, such as exhausted memory. By default, memcheck counts these errors as failures.
            quiet = ["--report-api-errors", "no"] if checker == "memcheck" else []
            self.steps.run(checker, 60, [tool, "--tool", checker, *quiet, "--error-exitcode", "9", *command], **environment)

    def ncu(self):
        tool = machine.tool("ncu")
        if not tool:
            self.steps.skip("ncu", "ncu is not installed")
            return
        launches = ["--set", "basic", "--launch-skip", "20", "--launch-count", "6"]
        self.steps.run("ncu", 60, [tool, *launches, self.program("gpu_bench"), "1", "softmax of rows"])


# The steps in order, with the names for --only.
STEPS = {
    "test_streams": Run.test_streams,
    "test_graphs": Run.test_graphs,
    "test_cuda": Run.test_cuda,
    "digits": Run.digits,
    "bench": Run.bench,
    "table": Run.table,
    "compute-sanitizer": Run.sanitizer,
    "ncu": Run.ncu,
}


def main():
    began = time.monotonic()
    chosen = options()
    os.chdir(ROOT)
    if not (chosen.pack / "pack.json").exists():
        print(f"gpu.sh run: {chosen.pack} is no pack; scripts/gpu.sh pack makes one", file=sys.stderr)
        return 2
    end_program_after(60 * chosen.minutes)
    run = Run(chosen, began + 60 * chosen.minutes - REPORT)
    if not run.machine():
        return 1
    for name, step in STEPS.items():
        if not run.wants(name):
            continue
        try:
            step(run)
        except Exception as problem:
            run.steps.fail(name, f"{type(problem).__name__}: {problem}")
    failed = [name for name, result in run.steps.ran.items() if result == "failed"]
    took = time.monotonic() - began
    run.steps.say(f"{took:.0f} s; {run.steps.compiled} kernels compiled anew; {', '.join(failed) or 'nothing'} failed; logs: {run.out}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
