"""The training steps of grad.h in PyTorch."""

from functools import lru_cache
from math import prod

import torch
from torch.nn import functional

import net

MLP = (128, 64), (128,), (10, 128), (10,)
MLP_COUNT = sum(prod(size) for size in MLP)
CHAIN = 10_000


@lru_cache(maxsize=8)
def leaves_in(parameters, sizes):
    """The weights as views of one tensor, each with its own gradient."""
    parts = parameters.split([prod(size) for size in sizes])
    return [part.view(size).detach().requires_grad_() for part, size in zip(parts, sizes)]


def descend(loss, leaves):
    loss.backward()
    with torch.no_grad():
        for leaf in leaves:
            leaf.sub_(leaf.grad, alpha=net.RATE)
            leaf.grad = None


def mlp(parameters, x, target):
    """A step of training of a net of two layers."""
    weight1, bias1, weight2, bias2 = leaves = leaves_in(parameters, MLP)
    hidden = functional.relu(functional.linear(x, weight1, bias1))
    descend(functional.cross_entropy(functional.linear(hidden, weight2, bias2), target), leaves)


NAMES = {"Sgd": "SGD", "Adamw": "AdamW", "Rmsprop": "RMSprop", "Nadam": "NAdam", "Radam": "RAdam"}


def rows_of(parameters, gradients):
    rows = [row.detach().requires_grad_() for row in parameters]
    for row, gradient in zip(rows, gradients):
        row.grad = gradient
    return rows


@lru_cache(maxsize=4)
def optimizer(name, parameters, gradients, fused):
    more = {"momentum": 0.9} if name == "Sgd" else {}
    return getattr(torch.optim, NAMES.get(name, name))(rows_of(parameters, gradients), **more, **({"fused": True} if fused else {}))


def step(name, parameters, gradients, fused=None):
    """A step of an optimizer, whose parameters are rows."""
    optimizer(name, parameters, gradients, fused).step()


@lru_cache(maxsize=4)
def kept_rows(parameters, gradients):
    return rows_of(parameters, gradients)


def clip(function, gradients, limit):
    function(kept_rows(gradients, gradients), limit)


def unscale(gradients):
    rows = [row.grad for row in kept_rows(gradients, gradients)]
    torch._amp_foreach_non_finite_check_and_unscale_(rows, torch.zeros(1), torch.ones(1))


def average(averages, parameters):
    rows = kept_rows(averages, parameters)
    with torch.no_grad():
        torch._foreach_lerp_(rows, [row.grad for row in rows], 0.001)


def of(function, t, g):
    """The gradient of `t` for the gradient `g` of the function's result, and the function itself."""
    leaf = t.detach().requires_grad_()
    return torch.autograd.grad(function(leaf), leaf, g)[0]


def chain(r, a):
    """The gradient of a * 1.0001^10000, through 10,000 operations on a scalar."""
    x = a.clone().requires_grad_()
    h = x * 1.0001
    for _ in range(CHAIN - 1):
        h = h * 1.0001
    h.backward()
    r.copy_(x.grad)


def recurrent(layer, r, x, wih, whh):
    """The gradients of the weights of a recurrent layer without biases, for half the sum of the squared outputs."""
    weights = [w.detach().requires_grad_() for w in (wih, whh)]
    output = layer(x, weights, True)
    output.backward(output.detach())
    r.copy_(torch.cat([w.grad.flatten() for w in weights]))


def lstm(x, weights, training=False):
    states = x.new_zeros(1, x.shape[1], weights[1].shape[1])
    return torch.lstm(x, (states, states), weights, False, 1, 0.0, training, False, False)[0]


def gru(x, weights, training=False):
    states = x.new_zeros(1, x.shape[1], weights[1].shape[1])
    return torch.gru(x, states, weights, False, 1, 0.0, training, False, False)[0]


def rnn(x, weights, training=False):
    states = x.new_zeros(1, x.shape[1], weights[1].shape[1])
    return torch.rnn_tanh(x, states, weights, False, 1, 0.0, training, False, False)[0]
