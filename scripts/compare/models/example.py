"""Examples of models, and the preparation of their weights."""

import math
from typing import NamedTuple

import torch
from torch import nn


class Example(NamedTuple):
    """A model and its inputs.

    `inputs` is a tuple of arguments or a dict of keyword arguments. `others` are inputs of other shapes, the most general first. A dimension
    that differs from `inputs` is exported as a dynamic one.
    """

    module: nn.Module
    inputs: tuple | dict
    others: list


MODELS = {}


def model(make):
    """Adds a function that returns an Example."""
    MODELS[make.__name__] = make
    return make


def fan_in(parameter):
    return max(math.prod(parameter.shape[1:]), 1)


def randomise(module, inputs=None):
    """Replaces constant parameters and buffers by random ones, so that an error in one of them shows in the output.

    With inputs, the statistics of batch norm are the ones of these inputs, with noise. Activations then stay near 1 in deep models.
    """
    for parameter in module.parameters():
        if parameter.is_floating_point():
            if parameter.dim() < 2 or parameter.numel() < 2 or parameter.std() < 1e-5:
                parameter.data += 0.1 * torch.randn_like(parameter)
    norms = [m for m in module.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm) and m.running_var is not None]
    if norms and inputs is not None:
        momenta = [m.momentum for m in norms]
        module.eval()
        for m in norms:
            # Weights below 1 keep differences between the inputs from growing over many layers.
            m.weight.data *= 0.7
            m.momentum = 1
            m.train()
        with torch.no_grad():
            call(module, inputs)
        for m, momentum in zip(norms, momenta):
            m.momentum = momentum
    noise = 0.5 / max(len(norms), 10) ** 0.5
    for m in norms:
        m.running_mean += noise * m.running_var.sqrt() * torch.randn_like(m.running_mean)
        m.running_var *= 1 + noise * (2 * torch.rand_like(m.running_var) - 1)
    return module


def widen(module):
    """Gives matrices and kernels a variance of 1 / fan-in. The models of transformers start with smaller weights, which hide errors."""
    for parameter in module.parameters():
        if parameter.dim() >= 2 and parameter.is_floating_point():
            nn.init.normal_(parameter, std=fan_in(parameter) ** -0.5)
    return module


def call(module, inputs):
    return module(**inputs) if isinstance(inputs, dict) else module(*inputs)
