"""The training step of net.h in PyTorch with autograd."""

from functools import lru_cache
from math import prod

import torch
from torch.nn import functional

SIZES = (16, 1, 3, 3), (16,), (32, 16, 3, 3), (32,), (10, 128), (10,)
COUNTS = [prod(size) for size in SIZES]
RATE = 0.05

# Operations on numbers in forward and backward: of the first convolution, without the gradient of its input, of the second one, and of the
# linear layer.
FLOPS = 2 * 50 * (2 * 16 * 9 * 8 * 8 + 3 * 32 * 16 * 9 * 4 * 4 + 3 * 128 * 10)


@lru_cache(maxsize=4)
def weights_in(parameters):
    """The weights as views of one tensor, each with its own gradient."""
    parts = parameters.split(COUNTS)
    return [part.view(size).detach().requires_grad_() for part, size in zip(parts, SIZES)]


def step(parameters, x, target):
    """Trains the weights in `parameters` by one step on the pictures `x` with the classes `target`."""
    weights = weights_in(parameters)
    weight1, bias1, weight2, bias2, weight3, bias3 = weights
    x = functional.max_pool2d(functional.relu(functional.conv2d(x, weight1, bias1, padding=1)), 2)
    x = functional.max_pool2d(functional.relu(functional.conv2d(x, weight2, bias2, padding=1)), 2)
    logp = functional.log_softmax(functional.linear(x.flatten(1), weight3, bias3), 1)
    functional.nll_loss(logp, target).backward()
    with torch.no_grad():
        for weight in weights:
            weight.sub_(weight.grad, alpha=RATE)
            weight.grad = None
