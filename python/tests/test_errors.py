"""Failures are exceptions, and no argument ends the process."""

import gc
import pickle
import random
import resource
import tempfile
import threading
import unittest
from pathlib import Path

import thorn
from thorn import _table


def arguments_of(name):
    left_out = ("new_handles", "struct")
    return [argument for argument in _table.signature(name).arguments if argument.of.role and argument.of.group not in left_out]


def address_space():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


# Functions that wait, read the standard input, or change settings of the process.
LEFT_OUT = {"THTensor_print", "THTensor_printTo", "THGetNumCores"}


class Errors(unittest.TestCase):
    def test_error(self):
        a = thorn.ones(2, 3)
        with self.assertRaises(thorn.Error) as caught:
            thorn.mm(a, a)
        error = caught.exception
        self.assertEqual((error.status, error.name, error.function), (thorn.ERR_SHAPE, "TH_ERR_SHAPE", "THTensor_mm"))
        self.assertEqual(str(error), "THTensor_mm: shapes [2, 3] and [2, 3] do not multiply: 3 columns, 2 rows")
        self.assertIsInstance(error, RuntimeError)
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((copy.status, copy.message, copy.function), (error.status, error.message, error.function))

    def test_a_failed_call_changes_nothing(self):
        a, r = thorn.ones(2, 3), thorn.tensor([5.0])
        self.assertRaises(thorn.Error, thorn.mm, a, a, out=r)
        self.assertEqual(r.tolist(), [5])

    def test_returned_values(self):
        self.assertRaises(thorn.Error, thorn.Tensor().item)
        self.assertRaises(thorn.Error, thorn.THTensor_item, thorn.ones(2))
        self.assertNotEqual(thorn.tensor(float("nan")).item(), 0)
        self.assertRaises(thorn.Error, thorn.ones(2).size, 5)
        self.assertEqual(thorn.THTensor_getAtLong(thorn.tensor([-1]), [0]), -1)
        self.assertRaises(thorn.Error, thorn.Archive.open, "/nowhere.pt")

    def test_wrong_types(self):
        a = thorn.ones(2)
        for wrong in (lambda: thorn.add(a, "b"), lambda: thorn.add(), lambda: thorn.add(a, 1, unknown=2), lambda: thorn.sum(a, 0.5),
                      lambda: thorn.zeros(2, dtype="float99"), lambda: thorn.THTensor_add(a), lambda: a.add_(a, out=1)):
            self.assertRaises((TypeError, ValueError), wrong)
        with self.assertRaisesRegex(TypeError, r"add: the arguments are \(t, value\) or \(t, value=1, src\), not \(Tensor, str\)"):
            thorn.add(a, "b")
        self.assertRaises(AttributeError, lambda: thorn.no_such_function)
        self.assertRaises(AttributeError, lambda: a.no_such_function)

    def test_large_integers(self):
        a = thorn.zeros(2, dtype="int64")
        a.fill_(2**53 + 1)
        self.assertEqual(a.tolist(), [2**53 + 1] * 2)
        self.assertRaises(TypeError, thorn.add, a, 2**53 + 1)
        thorn.add(a, 1)
        self.assertRaises(TypeError, thorn.add, a, 2**53 + 1)
        self.assertRaises(OverflowError, thorn.zeros, 2**63)
        self.assertRaises(thorn.Error, thorn.zeros, 2**62)

    def test_null_for_every_argument(self):
        called = 0
        for name in _table.ROWS:
            if not _table.signature(name) or not arguments_of(name) or name in LEFT_OUT:
                continue
            try:
                getattr(thorn, name)(*[None] * len(arguments_of(name)))
            except (thorn.Error, TypeError, ValueError):
                pass
            called += 1
        self.assertGreater(called, 900)

    def test_random_arguments(self):
        draw = random.Random(5)
        tensors = [thorn.Tensor(), thorn.ones(3), thorn.ones(2, 3), thorn.tensor([0, 1, 2]), thorn.tensor(True), thorn.zeros(0)]
        pool = [None, 0, 1, -1, 2, 2**40, -2**40, 0.5, float("nan"), True, False, "", "ij", "float32", [], [0], [1, 2], [-1, 3, 1],
                *tensors, [thorn.ones(2)], (thorn.ones(2), None), thorn.DType.int8, b"abc", {}, lambda *arguments: None, object()]
        safe = [name for name in _table.ROWS if _table.signature(name) and name.startswith(("THTensor_", "THSTensor_", "THDtype_"))
                and name not in LEFT_OUT and not any(a.type in ("void *", "const void *", "FILE *") for a in arguments_of(name))]
        succeeded, limits = 0, resource.getrlimit(resource.RLIMIT_AS)
        # Sizes among the numbers must not use up the memory of the machine.
        resource.setrlimit(resource.RLIMIT_AS, (address_space() + (1 << 30), limits[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_AS, limits)
        for _ in range(6000):
            name = draw.choice(safe)
            given = [draw.choice([value for value in pool if thorn._words.word_of(value) in argument.of.words] or pool)
                     if draw.random() < 0.9 else draw.choice(pool) for argument in arguments_of(name)]
            try:
                getattr(thorn, name)(*given)
                succeeded += 1
            except (thorn.Error, TypeError, ValueError, OverflowError, AttributeError):
                pass
        self.assertGreater(succeeded, 300)

    def test_callbacks(self):
        x = thorn.tensor([4.0, 9.0])
        self.assertEqual(x.apply(lambda v: v ** 0.5).tolist(), [2, 3])
        self.assertEqual(x.map(thorn.tensor([1.0, 2.0]), lambda a, b: a * b).tolist(), [2, 6])

        def stop(value):
            raise KeyError("stopped")

        with self.assertRaises(thorn.Error) as caught:
            x.apply(stop)
        self.assertEqual(caught.exception.status, thorn.ERR_CALLBACK)
        self.assertIsInstance(caught.exception.__cause__, KeyError)
        self.assertEqual(x.tolist(), [2, 6])

    def test_a_file_that_functions_read(self):
        file = tempfile.TemporaryFile()
        self.addCleanup(file.close)
        with tempfile.TemporaryDirectory() as folder:
            thorn.arange(5).save(f"{folder}/saved.safetensors")
            file.write(Path(f"{folder}/saved.safetensors").read_bytes())
        archive = thorn.Archive.open_callbacks(file.read, file.seek)
        gc.collect()
        self.assertEqual(archive[archive.keys()[0]].tolist(), [0, 1, 2, 3, 4])
        self.assertRaises(KeyError, lambda: archive["no such name"])

        self.assertRaises(thorn.Error, thorn.Archive.open_callbacks, lambda size: b"x" * (size + 1), file.seek)

        def stop(offset, whence):
            raise KeyError("stopped")

        with self.assertRaises(thorn.Error) as caught:
            thorn.Archive.open_callbacks(file.read, stop)
        self.assertIsInstance(caught.exception.__cause__, KeyError)

    def test_threads(self):
        failures = []

        def run(columns):
            a = thorn.ones(2, columns)
            for _ in range(300):
                try:
                    thorn.mm(a, a)
                except thorn.Error as error:
                    if f"[2, {columns}]" not in error.message:
                        failures.append(error.message)

        threads = [threading.Thread(target=run, args=(columns,)) for columns in (3, 4, 5, 6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


if __name__ == "__main__":
    unittest.main()
