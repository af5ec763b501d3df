"""Gradients through the same functions: backward, hooks, custom functions and optimizers."""

import gc
import math
import unittest
import weakref

import thorn


class Gradients(unittest.TestCase):
    def test_backward(self):
        x = thorn.tensor([1.0, 2.0], requires_grad=True)
        ((x * x).sum() + (3 * x).sum()).backward()
        self.assertEqual(x.grad.tolist(), [5, 7])
        x.grad = None
        self.assertIsNone(x.grad)
        self.assertTrue(thorn.zeros(2, requires_grad=True).requires_grad)
        self.assertRaises(thorn.Error, thorn.ones(2).backward)

    def test_no_grad(self):
        x = thorn.ones(2, requires_grad=True)
        with thorn.no_grad():
            y = x * 2
        self.assertEqual((y.requires_grad, (x * 2).requires_grad), (False, True))
        self.assertEqual(x.detach().requires_grad, False)

    def test_gradients_of_several_inputs(self):
        x, y = thorn.tensor([2.0], requires_grad=True), thorn.tensor([5.0], requires_grad=True)
        a, b = thorn.Grad.gradients([(x * x * y).sum()], None, [x, y])
        self.assertEqual((a.item(), b.item()), (20, 4))

    def test_hook(self):
        x, seen = thorn.tensor([1.0, 2.0], requires_grad=True), []
        y = x * 2

        def double(gradient):
            seen.append(gradient.tolist())
            return gradient * 2

        number = y.add_hook(double)
        y.sum().backward(), y.remove_hook(number)
        self.assertEqual((seen, x.grad.tolist()), ([[1, 1]], [4, 4]))
        alive = weakref.ref(double)
        del double, y
        gc.collect()
        self.assertIsNone(alive())

    def test_exception_in_a_hook(self):
        x = thorn.ones(2, requires_grad=True)
        y = x * 2

        def stop(gradient):
            raise KeyError("stopped")

        y.add_hook(stop)
        with self.assertRaises(thorn.Error) as caught:
            y.sum().backward()
        self.assertIsInstance(caught.exception.__cause__, KeyError)

    def test_custom_function(self):
        x = thorn.tensor([0.5, 1.0], requires_grad=True)

        def forward(call, t):
            y = t.exp()
            thorn.Grad.save(call, y)
            return y

        def backward(call, gradient):
            return gradient * thorn.Grad.saved(call, 0)

        y = thorn.Grad.apply([x], forward, backward)
        y.sum().backward()
        for value, gradient in zip([0.5, 1.0], x.grad.tolist()):
            self.assertAlmostEqual(gradient, math.exp(value), 5)

    def test_checkpoint(self):
        x, calls = thorn.tensor([3.0], requires_grad=True), []

        def square(t):
            calls.append(1)
            return t * t

        y = thorn.Grad.checkpoint([x], square)
        y.sum().backward()
        self.assertEqual((x.grad.item(), len(calls)), (6, 2))

    def test_check(self):
        x = thorn.tensor([0.5, 2.0], dtype="float64", requires_grad=True)
        thorn.Grad.check([x], 1, lambda t: t.log())

    def test_optimizers(self):
        x = thorn.tensor([4.0], requires_grad=True)
        optimizer = thorn.Optim.sgd([x], lr=0.25)
        for _ in range(20):
            optimizer.zero_grad(True)
            (x * x).sum().backward()
            optimizer.step()
        self.assertAlmostEqual(x.item(), 4 * 0.5 ** 20, 6)

        def loss():
            optimizer.zero_grad(True)
            value = ((x - 3) * (x - 3)).sum()
            value.backward()
            return value

        optimizer = thorn.Optim.lbfgs([x], lr=1.0)
        optimizer.step_closure(loss)
        self.assertAlmostEqual(x.item(), 3, 4)


if __name__ == "__main__":
    unittest.main()
