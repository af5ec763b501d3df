"""Memory: a reference is released once, and a long program does not grow."""

import gc
import importlib.util
import os
import subprocess
import sys
import unittest
from pathlib import Path

import thorn

PACKAGES = str(Path(thorn.__file__).parents[1])


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Lifetimes(unittest.TestCase):
    def growth_of(self, run, count):
        """Returns the bytes by which the process grows from one half of the repetitions to the next."""
        for _ in range(count // 4):
            run()
        gc.collect()
        before = resident()
        for _ in range(count):
            run()
        gc.collect()
        return resident() - before

    def test_a_million_tensors(self):
        self.assertLess(self.growth_of(lambda: thorn.Tensor(), 1_000_000), 2 << 20)

    def test_calls(self):
        x = thorn.ones(8)
        runs = [lambda: x + x, lambda: x[2:], lambda: thorn.sort(x), lambda: thorn.split(x, 3), lambda: x.tolist(), lambda: repr(x),
                lambda: x.__dlpack__(), lambda: thorn.from_dlpack(x.view(2, 4)), lambda: thorn.cat([x, x]), lambda: thorn.Generator(),
                lambda: x.apply(lambda v: v), lambda: x.storage(), lambda: thorn.tensor([1.0, 2.0])]
        for i, run in enumerate(runs):
            self.assertLess(self.growth_of(run, 4_000), 1 << 20, i)

    def test_errors(self):
        a = thorn.ones(2, 3)

        def fail():
            try:
                thorn.mm(a, a)
            except thorn.Error:
                pass

        self.assertLess(self.growth_of(fail, 5_000), 1 << 20)

    def test_graphs(self):
        x = thorn.ones(4, requires_grad=True)

        def backward():
            (x * x).sum().backward()
            x.grad = None

        self.assertLess(self.growth_of(backward, 5_000), 1 << 20)

    def test_live_bytes(self):
        before = thorn.Memory.live_bytes()
        x = thorn.ones(1000, 1000)
        views = [x[i] for i in range(100)]
        self.assertGreaterEqual(thorn.Memory.live_bytes() - before, 4_000_000)
        del x
        self.assertGreaterEqual(thorn.Memory.live_bytes() - before, 4_000_000)
        del views
        gc.collect()
        self.assertLess(thorn.Memory.live_bytes() - before, 100_000)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
    def test_hook_at_the_end_of_the_process(self):
        """Python clears the modules before it releases what a cycle through the library keeps alive."""
        program = """if True:
            import numpy, thorn
            class Array(numpy.ndarray): pass
            x = thorn.zeros(1, requires_grad=True)
            x.add_hook(lambda g, x=x: g)
            a = numpy.ones(1).view(Array)
            a.tensor = thorn.from_numpy(a)"""
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": PACKAGES})
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))

    def test_archive_in_memory_keeps_its_bytes(self):
        path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"thorn-{os.getpid()}.safetensors")
        try:
            thorn.ones(3).save(path)
            with open(path, "rb") as file:
                data = bytearray(file.read())
            archive = thorn.Archive.open_memory(data, len(data))
            del data
            gc.collect()
            self.assertEqual(archive[0].tolist(), [1, 1, 1])
            self.assertEqual(len(archive.keys()), 1)
        finally:
            os.unlink(path)


if __name__ == "__main__":
    unittest.main()
