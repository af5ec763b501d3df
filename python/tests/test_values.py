"""Values, compared with NumPy, with PyTorch and with numbers from arithmetic."""

import operator
import unittest

import thorn
from peers import np, torch


class Values(unittest.TestCase):
    def test_lists(self):
        self.assertEqual(thorn.tensor([[1, 2], [3, 4]]).tolist(), [[1, 2], [3, 4]])
        self.assertEqual(thorn.tensor([[1, 2], [3, 4]]).dtype, thorn.int64)
        self.assertEqual(thorn.tensor([1.5, 2]).dtype, thorn.float32)
        self.assertEqual(thorn.tensor([True, False]).tolist(), [True, False])
        self.assertEqual(thorn.tensor(2**62 + 1).item(), 2**62 + 1)
        self.assertEqual(thorn.tensor([]).shape, (0,))
        self.assertEqual(thorn.tensor([[], []]).shape, (2, 0))
        for dtype in ("float16", "bfloat16", "float64", "uint8", "int8", "int16", "int32", "bool"):
            self.assertEqual(thorn.tensor([1, 0, 1], dtype=dtype).tolist(), [1, 0, 1], dtype)
        with self.assertRaises(ValueError):
            thorn.tensor([[1, 2], [3]])
        with self.assertRaises(TypeError):
            thorn.tensor(["a"])

    def test_makers(self):
        self.assertEqual(thorn.zeros(2, 3).tolist(), [[0, 0, 0], [0, 0, 0]])
        self.assertEqual(thorn.full([2], 7, dtype=thorn.int32).tolist(), [7, 7])
        self.assertEqual(thorn.arange(2, 5, dtype="int64").tolist(), [2, 3, 4])
        self.assertEqual(thorn.eye(2, 2).tolist(), [[1, 0], [0, 1]])
        self.assertEqual(thorn.ones_like(thorn.zeros(2)).tolist(), [1, 1])

    def test_results(self):
        x = thorn.tensor([3.0, 1.0, 2.0])
        values, places = thorn.sort(x, descending=True)
        self.assertEqual((values.tolist(), places.tolist()), ([3, 2, 1], [0, 2, 1]))
        self.assertEqual(thorn.sort(x, indices=False)[1], None)
        out = thorn.Tensor()
        self.assertIs(thorn.add(x, 1, out=out), out)
        self.assertEqual(out.tolist(), [4, 2, 3])
        self.assertIs(x.add_(1), x)
        self.assertIs(x.uniform_(0, 1), x)
        self.assertEqual(thorn.add(thorn.tensor([1, 2]), 1, dtype="float64").dtype, thorn.float64)
        self.assertEqual([part.tolist() for part in thorn.split(thorn.arange(5), 2)], [[0, 1], [2, 3], [4]])
        self.assertEqual(thorn.cat([thorn.ones(1), thorn.zeros(2)]).tolist(), [1, 0, 0])
        self.assertEqual(thorn.cat(thorn.ones(1), thorn.zeros(2), dim=0).tolist(), [1, 0, 0])
        self.assertEqual(thorn.meshgrid([thorn.arange(2), thorn.arange(3)])[1].tolist(), [[0, 1, 2], [0, 1, 2]])

    def test_names(self):
        x, index = thorn.tensor([[1, 2], [3, 4]]), thorn.tensor([1])
        for select in (thorn.index_select, thorn.indexSelect):
            self.assertEqual(select(x, 0, index).tolist(), [[3, 4]])
        self.assertEqual(x.index_select(1, [0]).tolist(), [[1], [3]])
        r = thorn.Tensor()
        self.assertIs(thorn.THTensor_cadd(r, x, 2, x), r)
        self.assertEqual(r.tolist(), [[3, 6], [9, 12]])
        self.assertEqual(thorn.div(x, 2, mode="floor").tolist(), thorn.THTensor_divMode(thorn.Tensor(), x, 2, thorn.DIV_FLOOR).tolist())

    def test_handles(self):
        g, h = thorn.Generator(), thorn.Generator()
        g.manual_seed(7), h.manual_seed(7)
        a, b = (thorn.zeros(4).uniform_(0, 1, generator=generator) for generator in (g, h))
        self.assertEqual(a.tolist(), b.tolist())
        thorn.manual_seed(7)
        self.assertEqual(thorn.zeros(4).uniform_(0, 1).tolist(), a.tolist())
        self.assertEqual(thorn.Fused("a * b + 1").run([thorn.tensor([2.0]), thorn.tensor([3.0])]).tolist(), [7])
        s = thorn.STensor.from_dense(thorn.tensor([[0.0, 2], [3, 0]]), 2)
        self.assertEqual(s.dense().tolist(), [[0, 2], [3, 0]])

    def test_indexing(self):
        x = thorn.arange(24, dtype="int64").view(2, 3, 4)
        plain = [[[i * 12 + j * 4 + k for k in range(4)] for j in range(3)] for i in range(2)]
        self.assertEqual(x[1, 2, 3].item(), 23)
        self.assertEqual(x[-1].tolist(), plain[-1])
        self.assertEqual(x[..., 0].tolist(), [[row[0] for row in matrix] for matrix in plain])
        self.assertEqual(x[0, 1:, ::2].tolist(), [row[::2] for row in plain[0][1:]])
        self.assertEqual(x[:, None].shape, (2, 1, 3, 4))
        self.assertEqual(x[x > 21].tolist(), [22, 23])
        self.assertEqual([row.tolist() for row in x[0]], plain[0])
        x[0] = 0
        x[1, :, 0] = thorn.tensor([-1, -2, -3])
        x[x > 20] = 5
        self.assertEqual(x.tolist(), [[[0] * 4] * 3, [[-1, 13, 14, 15], [-2, 17, 18, 19], [-3, 5, 5, 5]]])
        for wrong in (lambda: x[2], lambda: x[0, 0, 0, 0], lambda: x[..., ...], lambda: x[0, 0, 4]):
            self.assertRaises(IndexError, wrong)
        self.assertRaises(ValueError, lambda: x[::-1])
        self.assertRaises(TypeError, lambda: x["a"])

    @unittest.skipUnless(np, "NumPy is not installed")
    def test_operators_are_numpys(self):
        a, b = np.array([[7.0, -3.0], [2.0, 5.5]]), np.array([2.0, 4.0])
        i, j = np.array([12, 7]), np.array([5, 2])
        t = thorn.tensor
        for name in "add sub mul truediv floordiv mod pow lt le gt ge eq ne".split():
            f = getattr(operator, name)
            for left, right in ((a, b), (a, 3.0), (3.0, a)):
                got = f(*(t(side) if isinstance(side, np.ndarray) else side for side in (left, right)))
                with np.errstate(invalid="ignore"):
                    want = f(left, right)
                np.testing.assert_allclose(got.numpy(), want, rtol=1e-14, err_msg=name)
        for name in ("and_", "or_", "xor", "lshift", "rshift"):
            f = getattr(operator, name)
            self.assertEqual(f(t(i), t(j)).tolist(), f(i, j).tolist(), name)
        self.assertEqual((~t(i)).tolist(), (~i).tolist())
        np.testing.assert_allclose((t(a) @ t(a)).numpy(), a @ a)
        np.testing.assert_allclose((a - t(a)).numpy(), np.zeros((2, 2)))
        np.testing.assert_allclose((a @ t(a)).numpy(), a @ a)
        np.testing.assert_allclose((a / t(a)).numpy(), np.ones((2, 2)))
        self.assertEqual((3.5 // t(np.array([2], np.float32))).dtype, thorn.float32)
        np.testing.assert_allclose((t(a) + b).numpy(), a + b)
        x = t(a)
        x += 1
        x *= t(b)
        np.testing.assert_allclose(x.numpy(), (a + 1) * b)
        with self.assertRaises(TypeError):
            x + "a"

    @unittest.skipUnless(torch, "PyTorch is not installed")
    def test_functions_are_torchs(self):
        generator = torch.Generator().manual_seed(1)
        a, w = torch.randn(2, 3, 8, 8, generator=generator), torch.randn(4, 3, 3, 3, generator=generator)
        x, k = thorn.from_dlpack(a), thorn.from_dlpack(w)
        functional = torch.nn.functional
        pairs = [
            (thorn.conv2d(x, k, None, stride=2, padding=1), functional.conv2d(a, w, None, stride=2, padding=1)),
            (thorn.max_pool2d(x, 2)[0], functional.max_pool2d(a, 2)),
            (thorn.softmax(x, 1), torch.softmax(a, 1)),
            (thorn.sum(x, dim=[0, 2], keepdim=True), torch.sum(a, dim=[0, 2], keepdim=True)),
            (thorn.std(x, 1), torch.std(a, 1)),
            (thorn.einsum("bchw,oc->bohw", [x, k[:, :, 0, 0]]), torch.einsum("bchw,oc->bohw", a, w[:, :, 0, 0])),
            (x.permute(0, 2, 3, 1), a.permute(0, 2, 3, 1)),
            (thorn.inverse(x[0, 0]), torch.inverse(a[0, 0])),
            (thorn.where(x > 0, x, 0.5), torch.where(a > 0, a, 0.5)),
        ]
        for i, (got, want) in enumerate(pairs):
            self.assertEqual(got.shape, tuple(want.shape), i)
            torch.testing.assert_close(torch.from_dlpack(got), want, rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
