"""Elements that thorn, NumPy and PyTorch share: each side reads what the other one writes, and memory lives as long as a side refers to
it."""

import gc
import unittest
import weakref

import thorn
from peers import np, torch


@unittest.skipUnless(np, "NumPy is not installed")
class Numpy(unittest.TestCase):
    def test_in_place(self):
        a = np.ones((2, 3), np.float32)
        t = thorn.from_numpy(a)
        t += thorn.arange(3)
        self.assertEqual(a.tolist(), [[1, 2, 3], [1, 2, 3]])
        a[0, 0] = 9
        self.assertEqual(t[0, 0].item(), 9)

    def test_strides_and_dtypes(self):
        for dtype in "uint8 int8 int16 int32 int64 float16 float32 float64 bool".split():
            a = np.arange(24).reshape(2, 3, 4).astype(dtype)
            for view in (a, a.T, a[:, ::2], a[0, 0, 0:0], a[1, 2, 3]):
                t = thorn.from_numpy(np.asarray(view))
                self.assertEqual((t.shape, t.dtype.name), (np.shape(view), dtype))
                self.assertEqual(t.tolist(), view.tolist())
                self.assertEqual(t.numpy().tolist(), view.tolist())
                self.assertEqual(t.numpy().dtype, a.dtype)

    def test_back(self):
        t = thorn.zeros(2, 2)
        a, b = t.numpy(), np.asarray(t)
        a[0, 1] = 5
        self.assertEqual(t.tolist(), [[0, 5], [0, 0]])
        self.assertEqual(b[0, 1], 5)
        self.assertEqual(np.array(t, dtype=np.int32).tolist(), [[0, 5], [0, 0]])
        b = np.array(t)
        b[0, 0] = 7
        self.assertEqual(t[0, 0].item(), 0)

    def test_lifetimes(self):
        a = np.ones(4)
        alive = weakref.ref(a)
        t = thorn.from_numpy(a)[1:]
        del a
        gc.collect()
        self.assertIsNotNone(alive())
        array = t.numpy()
        del t
        gc.collect()
        self.assertEqual(array.tolist(), [1, 1, 1])
        del array
        gc.collect()
        self.assertIsNone(alive())

    def test_memory_of_an_array_survives_a_resize(self):
        t = thorn.ones(4)
        array = t.numpy()
        try:
            t.resize(100000)
        except thorn.Error:
            pass
        self.assertEqual(array.tolist(), [1, 1, 1, 1])

    def test_what_is_refused(self):
        for wrong in (np.zeros(2, complex), np.zeros(3)[::-1], np.zeros(2, ">f4")):
            with self.assertRaises((thorn.Error, BufferError)):
                thorn.from_numpy(wrong)
        self.assertRaises((BufferError, RuntimeError), thorn.zeros(2, dtype="bfloat16").numpy)  # NumPy has no bfloat16
        fixed = np.ones(3)
        fixed.flags.writeable = False
        try:
            thorn.from_numpy(fixed).fill_(5)
        except BufferError:  # NumPy before version 2.1
            pass
        self.assertEqual(fixed.tolist(), [1, 1, 1])

    def test_arrays_are_operands(self):
        t = thorn.ones(2)
        self.assertEqual(thorn.add(t, np.array([1, 2], np.float32)).tolist(), [2, 3])
        t[:] = np.array([5, 6])
        self.assertEqual(t.tolist(), [5, 6])


class DLPack(unittest.TestCase):
    def test_capsules_that_nobody_takes(self):
        t = thorn.ones(3)
        storage = t.storage()
        before = storage.refcount()
        for version in (None, (1, 0)):
            for _ in range(1000):
                t.__dlpack__(max_version=version)
        thorn._exchange.free_untaken()
        self.assertEqual(storage.refcount(), before)

    def test_a_consumer_that_fails_keeps_its_exception(self):
        t = thorn.ones(3)

        def consume():
            capsule = t.__dlpack__()  # noqa: F841 ends while the exception is raised
            raise KeyError("the consumer's own")

        with self.assertRaises(KeyError):
            consume()

    def test_with_itself(self):
        t = thorn.arange(6).view(2, 3).t()

        class Producer:
            def __dlpack__(self, **options):
                return t.__dlpack__(**options)

        s = thorn.from_dlpack(Producer())
        s += 1
        self.assertEqual(t.tolist(), [[1, 4], [2, 5], [3, 6]])
        self.assertEqual(t.__dlpack_device__(), (1, 0))

    def test_wrong_producers(self):
        class Producer:
            def __dlpack__(self, **options):
                return object()

        self.assertRaises(BufferError, thorn.from_dlpack, Producer())
        self.assertRaises(TypeError, thorn.from_dlpack, 3)
        self.assertRaises(BufferError, thorn.ones(2).__dlpack__, dl_device=(2, 0))

    @unittest.skipUnless(torch, "PyTorch is not installed")
    def test_torch(self):
        a = torch.arange(6, dtype=torch.bfloat16).reshape(2, 3)
        t = thorn.from_dlpack(a)
        t.mul_(2)
        self.assertEqual((a.tolist(), t.dtype), ([[0, 2, 4], [6, 8, 10]], thorn.bfloat16))
        b = torch.from_dlpack(t)
        b[0, 0] = 7
        self.assertEqual((a[0, 0].item(), t[0, 0].item()), (7, 7))
        del a, t
        gc.collect()
        self.assertEqual(b.tolist(), [[7, 2, 4], [6, 8, 10]])
        self.assertEqual(torch.as_tensor(thorn.ones(2).numpy()).tolist() if np else [1, 1], [1, 1])


if __name__ == "__main__":
    unittest.main()
