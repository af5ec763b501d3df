"""Names, arguments and protocols that users of NumPy and PyTorch expect. Expected values are from arithmetic, NumPy and PyTorch."""

import copy
import os
import pickle
import tempfile
import unittest
from pathlib import Path

import thorn
from peers import np


class Names(unittest.TestCase):
    def test_options(self):
        x = thorn.tensor([[1.0, 2.0], [3.0, 5.0]])
        self.assertEqual(x.mean(axis=1, keepdims=True).tolist(), [[1.5], [4]])
        self.assertEqual(x.sum(axis=(0, 1)).item(), 11)
        self.assertEqual(thorn.cat([x, x], axis=1).shape, (2, 4))
        self.assertEqual(thorn.linspace(0, 1, steps=3).tolist(), [0, 0.5, 1])
        self.assertEqual(thorn.zeros(shape=(2, 1)).shape, (2, 1))
        self.assertEqual((x.clamp(min=2).tolist(), x.clip(max=2).tolist()), ([[2, 2], [3, 5]], [[1, 2], [2, 2]]))
        self.assertEqual(thorn.tensor([2**62 + 1]).clamp(min=0).item(), 2**62 + 1)
        with self.assertRaises(TypeError):
            x.mean(dim=1, axis=1)

    def test_dimension_of_max(self):
        x = thorn.tensor([[1.0, 5.0], [3.0, 2.0]])
        self.assertEqual((x.max(1).tolist(), thorn.min(x, 0).tolist()), ([5, 3], [1, 2]))
        self.assertEqual(x.max(2.5).tolist(), [[2.5, 5], [3, 2.5]])
        values, indices = x.max(1, indices=True)
        self.assertEqual((values.tolist(), indices.tolist()), ([5, 3], [1, 0]))
        self.assertEqual(x.max_(3).tolist(), [[3, 5], [3, 3]])

    def test_dtypes_of_numbers(self):
        mask = thorn.tensor([True, False])
        for made, dtype in (
            (thorn.arange(3.0), thorn.float32), (thorn.arange(3), thorn.int64), (thorn.arange(start=0.0, end=2), thorn.float32),
            (thorn.arange(3.0, dtype="int32"), thorn.int32), (thorn.where(mask, 1.0, 0.0), thorn.float32),
            (thorn.where(mask, 1, 0), thorn.int64), (thorn.zeros(1, dtype=float), thorn.float64), (thorn.zeros(1, dtype=int), thorn.int64),
            (thorn.zeros(1, dtype=bool), thorn.bool), (thorn.zeros(1).to(int), thorn.int64),
            (thorn.zeros(1, dtype=thorn.half), thorn.float16),
        ):
            self.assertEqual(made.dtype, dtype)
        x = thorn.arange(2.0)
        x[0] = 0.5
        self.assertEqual(x.tolist(), [0.5, 1])

    def test_conversions(self):
        x = thorn.tensor([1.5, 0.0])
        self.assertEqual((x.long().tolist(), x.int().dtype, x.bool().tolist()), ([1, 0], thorn.int32, [True, False]))
        self.assertEqual((x.double().dtype, x.half().float().tolist()), (thorn.float64, [1.5, 0]))
        self.assertEqual((x.astype("int16").dtype, x.nbytes, x.itemsize), (thorn.int16, 8, 4))
        self.assertEqual(x.to("cpu", thorn.float64).dtype, thorn.float64)
        self.assertEqual(x.to(device="cpu", dtype="int8").tolist(), [1, 0])
        t = thorn.zeros(2, 3)
        self.assertEqual((t.size(), t.size(-1), t.stride(), t.stride(0)), ((2, 3), 3, (3, 1), 3))

    def test_makers(self):
        self.assertEqual(thorn.eye(2).tolist(), [[1, 0], [0, 1]])
        self.assertEqual(thorn.eye(1, 2, dtype="int64").tolist(), [[1, 0]])
        self.assertEqual(thorn.tensor(range(3)).tolist(), [0, 1, 2])
        row = thorn.tensor([1.0, 2.0])
        self.assertEqual(thorn.tensor([row, row * 2]).tolist(), [[1, 2], [2, 4]])
        self.assertIs(thorn.as_tensor(row), row)
        self.assertEqual(thorn.asarray([1, 2], dtype="float64").dtype, thorn.float64)
        self.assertEqual((thorn.is_tensor(row), thorn.is_tensor([1])), (True, False))
        self.assertEqual((row > -thorn.inf).tolist(), [True, True])

    def test_completion(self):
        self.assertLess({"matmul", "topk", "shape", "backward"}, set(dir(thorn.ones(1))))
        self.assertLess({"matmul", "topk"}, set(dir(thorn.Tensor)))
        self.assertEqual(thorn.Tensor.square(thorn.tensor([3])).tolist(), [9])
        self.assertLess({"step", "zero_grad", "set_lr"}, set(dir(thorn.Optim.sgd([thorn.ones(1, requires_grad=True)]))))
        self.assertLess({"eye", "as_tensor", "manual_seed", "float32"}, set(dir(thorn)))

    def test_messages(self):
        for call, text in (
            (lambda: thorn.exp([1.0, 2.0]), "list of float"), (lambda: thorn.exp({1}), "set"), (lambda: thorn.tensor([1j]), "complex"),
            (lambda: thorn.Tensor([1, 2]), "thorn.tensor"), (lambda: thorn.from_numpy([1, 2]), "list has no elements to share"),
            (lambda: thorn.ones(2, 3)[0, 5], "dimension 1 of size 3"), (lambda: thorn.ones(2, 3)[0, 0, 0], "has 3 dimensions"),
            (lambda: thorn.ones(2, 3)[0, :, :], "has 3 dimensions"),
        ):
            with self.assertRaisesRegex((TypeError, IndexError), text):
                call()


class Protocols(unittest.TestCase):
    def test_format(self):
        self.assertEqual(f"{thorn.tensor(1.25):.1f} {thorn.tensor(7):03d}", "1.2 007")
        self.assertEqual(f"{thorn.ones(2)}", "tensor([1., 1.])")
        self.assertEqual(repr(thorn.ones(1, dtype="int32")), "tensor([1], dtype=thorn.int32)")

    def test_contains(self):
        x = thorn.tensor([1.0, 2.0])
        self.assertEqual([value in x for value in (2, 3, "a", None)], [True, False, False, False])

    def test_lists_as_operands(self):
        x = thorn.tensor([2, 3])
        self.assertEqual((x * [4, 5]).tolist(), [8, 15])
        self.assertEqual((thorn.tensor(2) * [4, 5]).tolist(), [8, 10])
        self.assertEqual(((x - (1, 1)).tolist(), ([3, 5] - x).tolist()), ([1, 2], [1, 2]))
        self.assertEqual((x == [2, 0]).tolist(), [True, False])
        with self.assertRaises(TypeError):
            x + ["a"]

    def test_lists_as_indices(self):
        x = thorn.tensor([[1, 2], [3, 4]])
        self.assertEqual((x[[True, False]].tolist(), x[[]].shape, x[[[1, 0]]].tolist()), ([[1, 2]], (0, 2), [[[3, 4], [1, 2]]]))
        x[[False, True]] = 0
        self.assertEqual(x.tolist(), [[1, 2], [0, 0]])

    def test_pickle(self):
        for dtype in thorn.DType:
            if dtype.name != "undefined":
                x = thorn.tensor([[1, 0], [1, 1]], dtype=dtype).T
                y = pickle.loads(pickle.dumps(x))
                self.assertEqual((y.dtype, y.tolist()), (dtype, x.tolist()))
        self.assertEqual(pickle.loads(pickle.dumps(thorn.zeros(0, 3))).shape, (0, 3))
        self.assertEqual(pickle.loads(pickle.dumps(thorn.tensor(5))).item(), 5)
        self.assertEqual(pickle.loads(pickle.dumps(thorn.Tensor())).dtype.name, "undefined")
        self.assertTrue(pickle.loads(pickle.dumps(thorn.ones(1, requires_grad=True))).requires_grad)

    def test_copy_of_a_leaf(self):
        w = thorn.ones(2, requires_grad=True)
        v = copy.deepcopy(w)
        (v * 3).sum().backward()
        self.assertEqual((v.is_leaf(), v.grad.tolist(), w.grad), (True, [3, 3], None))

    def test_files_of_many_tensors(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.safetensors")
            thorn.save({"w": thorn.ones(2), "b": thorn.tensor([3])}, path)
            found = {name: tensor.tolist() for name, tensor in thorn.Archive.open(path).items()}
            self.assertEqual(found, {"w": [1, 1], "b": [3]})

    def test_program(self):
        program = thorn.Program.open(Path(__file__).parents[2] / "examples/data/digits.pt2")
        image = thorn.zeros(*program.input_min_sizes(0))
        self.assertEqual(program(image).tolist(), program.run([image]).tolist())
        self.assertIn("run", dir(program))


@unittest.skipUnless(np, "NumPy is not installed")
class Numpy(unittest.TestCase):
    def test_negative_strides(self):
        a = np.arange(4.0)[::-1]
        self.assertEqual(thorn.tensor(a).tolist(), [3, 2, 1, 0])
        self.assertEqual((thorn.ones(4) + a).tolist(), [4, 3, 2, 1])
        self.assertEqual((a - thorn.ones(4)).tolist(), [2, 1, 0, -1])
        self.assertRaises(thorn.Error, thorn.from_numpy, a)

    def test_unaligned_elements(self):
        a = np.frombuffer(bytearray(17), np.uint8)[1:].view(np.float64)
        self.assertEqual((thorn.tensor(a).tolist(), (thorn.ones(2) + a).tolist()), ([0, 0], [1, 1]))

    def test_elements(self):
        self.assertEqual(thorn.tensor([np.bool_(True), np.bool_(False)]).tolist(), [True, False])
        self.assertEqual(thorn.tensor([np.arange(2), np.arange(2)]).tolist(), [[0, 1], [0, 1]])
        self.assertEqual(thorn.where(thorn.tensor([True]), np.float32(1), np.float32(0)).dtype, thorn.float32)

    def test_functions_of_numpy(self):
        x = thorn.tensor([[1.0, 2.0], [3.0, 6.0]])
        self.assertEqual((np.sum(x).item(), np.mean(x, axis=0).tolist(), np.max(x, axis=1).tolist()), (12, [2, 4], [2, 6]))


if __name__ == "__main__":
    unittest.main()
