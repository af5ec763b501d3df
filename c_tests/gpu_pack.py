"""Tests scripts/gpu.sh without a GPU: steps that hang, deadlines, and a small pack that runs on the null driver of tests/cuda_emu.

    THORN_GPU_LIBRARY=build/lib/libthorn.so CARGO_TARGET_DIR=target python3 c_tests/gpu_pack.py

Run scripts/cuda_emu.sh first, which builds the emulated libraries.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts" / "gpu"))
import table
from steps import KILLED, POLITE, Steps

ROW = "multiply by a number"


def alive(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    # An ended process stays as a zombie until its parent waits for it.
    return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


class StepsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.out = Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def steps(self, seconds):
        return Steps(self.out, time.monotonic() + seconds, dict(os.environ))

    def test_a_step_that_hangs_is_ended_with_its_children(self):
        steps, began = self.steps(60), time.monotonic()
        # The shell and its child ignore SIGTERM.
        script = f'trap "" TERM; echo begun; sleep 600 & echo $! >{self.out}/child; wait; sleep 600'
        self.assertFalse(steps.run("hangs", 1, ["sh", "-c", script]))
        self.assertLess(time.monotonic() - began, 2 + POLITE + KILLED)
        self.assertEqual((self.out / "hangs.log").read_text(), "begun\n")
        child, until = int((self.out / "child").read_text()), time.monotonic() + 5
        while alive(child) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertFalse(alive(child))
        self.assertTrue(steps.run("next", 5, ["true"]))
        self.assertEqual(steps.ran, {"hangs": "failed", "next": "ok"})

    def test_the_deadline_ends_a_step_and_skips_the_others(self):
        steps, began = self.steps(3), time.monotonic()
        self.assertFalse(steps.run("long", 600, ["sleep", "600"]))
        self.assertFalse(steps.run("late", 600, ["touch", f"{self.out}/touched"]))
        self.assertLess(time.monotonic() - began, 4 + POLITE + KILLED)
        self.assertEqual(steps.ran, {"long": "failed", "late": "skipped"})
        self.assertFalse((self.out / "touched").exists())

    def test_a_program_ends_where_a_call_does_not_return(self):
        program = "import steps, time; steps.end_program_after(1); time.sleep(60)"
        command = [sys.executable, "-B", "-c", program]
        done = subprocess.run(command, cwd=ROOT / "scripts" / "gpu", capture_output=True, text=True, timeout=30)
        self.assertEqual((done.returncode, done.stdout), (3, "gpu.sh run: ended after 1 s, which was the limit\n"))

    def test_a_failed_step_shows_what_failed(self):
        steps = self.steps(60)
        self.assertFalse(steps.run("fails", 5, ["sh", "-c", "echo fine; echo a.c:3: 1, not 2; exit 1"]))
        self.assertFalse(steps.run("missing", 5, ["/no/program"]))
        self.assertFalse(steps.run("killed", 5, ["sh", "-c", "kill -SEGV $$"]))
        lines = (self.out / "results.txt").read_text()
        self.assertIn("status 1\n    a.c:3: 1, not 2\n", lines)
        self.assertIn("signal 11", lines)
        self.assertEqual(set(steps.ran.values()), {"failed"})

    def test_parts_that_run_out_of_time_have_not_failed(self):
        steps = self.steps(60)
        tasks = [("quick", ["true"], {}), ("slow", ["sleep", "600"], {}), ("waiting", ["true"], {})]
        self.assertFalse(steps.run_all("parts", 1, [tasks[1], tasks[0]], 1, partial=True))
        self.assertEqual(steps.ran["parts"], "ok")
        self.assertIn("0 of 2 parts, 2 parts without time to finish", (self.out / "results.txt").read_text())
        self.assertTrue(steps.run_all("all", 5, [tasks[0], tasks[2]], 2))

    def test_parts_of_the_table_have_each_function_once(self):
        os.chdir(ROOT)
        functions = table.functions()
        for count in (1, 7):
            parts = table.parts(count)
            self.assertEqual(len(parts), count)
            self.assertEqual(sorted(name for names in parts for name in names), sorted(functions))


class PackTest(unittest.TestCase):
    def test_a_pack_runs_without_compiling_twice(self):
        with tempfile.TemporaryDirectory() as folder:
            pack, out = Path(folder) / "pack", Path(folder) / "out"
            environment = {**os.environ, "THORN_GPU_PACK": str(pack), "THORN_GPU_KERNELS": "0"}
            subprocess.run(["bash", ROOT / "scripts" / "gpu.sh", "pack"], check=True, env=environment, timeout=120)
            target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
            environment |= {"LD_LIBRARY_PATH": str(target / "cuda_emu" / "lib"), "THORN_EMU_NULL": "1", "OUT": str(out)}
            environment.pop("TH_CUDA_CACHE", None)
            compiled = self.run_pack(pack, out, environment)
            self.assertRegex(compiled, r"ok +bench .* kernels compiled anew")
            self.assertIn("null driver", compiled)
            # As on another machine: kernels are unpacked from the archive.
            with tarfile.open(pack / "kernels.tar.xz", "w:xz") as archive:
                archive.add(pack / "kernels", ".")
            for file in (pack / "kernels").iterdir():
                file.unlink()
            self.assertIn("; 0 kernels compiled anew; nothing failed", self.run_pack(pack, out, environment))

    def run_pack(self, pack, out, environment):
        options = ["--pack", pack, "--minutes", "1", "--only", "bench", "--word", ROW]
        command = ["bash", ROOT / "scripts" / "gpu.sh", "run", *options]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=70)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual((out / "results.txt").read_text(), done.stdout)
        row = next(line for line in (out / "bench.log").read_text().splitlines() if line.startswith(ROW))
        # At scale 0.001 a call reads and writes 100,000 floats of 4 bytes.
        self.assertEqual(row.split("\t")[3], "800000")
        self.assertIn(f"| {ROW} |", (out / "benchmarks-cuda.md").read_text())
        return done.stdout


if __name__ == "__main__":
    unittest.main()
