#!/usr/bin/env python3
"""Writes tests/data/programs: small exported programs, and the values that PyTorch computes with them.

    .venv/bin/python scripts/program_models.py

NAME.pt2 is the program, and NAME.npz has arrays: `a.in0`, `a.in1`, ... are the inputs of a run, and `a.out0`, `a.out1`, ... its outputs. `b`
and further letters are later runs of the same program. Other arrays are explained at the models below. PyTorch 2.6 writes `conv26` only, and
later versions write all others, because the layout of the archives has changed between them.
"""

import pathlib
import sys

import numpy as np
import torch
from torch import nn
from torch.export import Dim

TO = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "programs"
VERSION = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
STEPS, RATE = 5, 0.05


class Conv(nn.Module):
    """Classifies images of 10 * 10 pixels into 3 classes."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
                                      nn.Conv2d(4, 6, 3, bias=False), nn.BatchNorm2d(6), nn.ReLU())
        self.last = nn.Linear(6, 3)

    def forward(self, x):
        return self.last(self.features(x).mean((2, 3)))


class Transformer(nn.Module):
    """A language model of one layer: rows of tokens of any length, and a length for each row."""

    def __init__(self, tokens=11, width=8, heads=2, longest=16):
        super().__init__()
        self.tokens, self.places = nn.Embedding(tokens, width), nn.Embedding(longest, width)
        self.norm, self.qkv, self.out = nn.LayerNorm(width, bias=False), nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width)
        self.heads = heads

    def forward(self, tokens, lengths):
        rows, length = tokens.shape
        places = torch.arange(length, device=tokens.device)
        x = self.tokens(tokens) + self.places(places)
        q, k, v = (part.view(rows, length, self.heads, -1).transpose(1, 2) for part in self.qkv(self.norm(x)).chunk(3, dim=-1))
        mask = (places[None, :] <= places[:, None]) & (places[None, None, :] < lengths[:, None, None])
        y = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None])
        x = x + nn.functional.gelu(self.out(y.transpose(1, 2).reshape(rows, length, -1)))
        return nn.functional.linear(x, self.tokens.weight)


class Control(nn.Module):
    """Branches, a loop, and sizes in relations: `x` has 2 * s elements, and `y` has s."""

    def forward(self, x, y, n):
        def double(a):
            return a * 2

        def negative(a):
            return -a.sin() - 1

        a = torch.cond(n.sum() > 0, double, negative, (x,))
        b, c = torch._higher_order_ops.while_loop(lambda i, t: i < 5, lambda i, t: (i + 2, t * t + 1), (n.sum(), y))
        return a, b, c, x.view(-1, 2).sum(1) + y


class Cache(nn.Module):
    """Attention of one query at a time. Keys and values of earlier calls are buffers of 6 places."""

    def __init__(self, width=4, longest=6):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.register_buffer("keys", torch.zeros(longest, width))
        self.register_buffer("values", torch.zeros(longest, width))
        self.register_buffer("used", torch.zeros(1, dtype=torch.int64))

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        self.keys.index_copy_(0, self.used, k)
        self.values.index_copy_(0, self.used, v)
        scores = (q @ self.keys.t()).masked_fill(torch.arange(self.keys.shape[0]) > self.used, float("-inf"))
        self.used.add_(1)
        return scores.softmax(-1) @ self.values


class Nested(nn.Module):
    """Nested arguments and results, with numbers, None, and parameters of two dtypes. One input is changed."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([1.0, -2.0, 0.5]))
        self.narrow = nn.Parameter(torch.tensor([0.5, 3.0, -1.0], dtype=torch.bfloat16))
        self.constant = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)

    def forward(self, first, more, scale=1):
        rows = first.shape[0]
        more["count"].add_(1)
        return {"sum": first * self.weight + more["shift"],
                "list": [first.to(torch.bfloat16) * self.narrow, None, rows * 2, 2.5, True],
                "scaled": (first * scale, self.constant.sum() * more["count"])}


def values_of(outputs):
    """The flat outputs as arrays; None is an empty array."""
    flat = torch.utils._pytree.tree_flatten(outputs)[0]
    return [np.zeros(0) if x is None else x.detach().float().numpy() if isinstance(x, torch.Tensor) and x.dtype == torch.bfloat16
            else np.asarray(x.detach() if isinstance(x, torch.Tensor) else x) for x in flat]


def export(name, model, arguments, sizes):
    """Exports and saves a model, without the texts about the source, which are the greater part of a file."""
    program = torch.export.export(model, arguments, dynamic_shapes=sizes)
    for module in program.graph_module.modules():
        for node in module.graph.nodes if hasattr(module, "graph") else ():
            for key in ("stack_trace", "nn_module_stack", "source_fn_stack", "torch_fn", "from_node"):
                node.meta.pop(key, None)
    torch.export.save(program, TO / f"{name}.pt2")
    print(name, (TO / f"{name}.pt2").stat().st_size, "bytes")
    return program


def run(program, runs):
    """Returns the arrays of runs by name."""
    module, arrays = program.module(), {}
    for letter, arguments in zip("abcdefgh", runs):
        flat = torch.utils._pytree.tree_flatten(arguments)[0]
        arrays.update({f"{letter}.in{k}": np.asarray(x).copy() for k, x in enumerate(flat)})
        with torch.no_grad():
            outputs = module(*arguments)
        arrays.update({f"{letter}.out{k}": x for k, x in enumerate(values_of(outputs))})
    return arrays


def randomised(model, seed):
    """Returns a model with random parameters, and statistics of batch normalization that are not 0 and 1."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.5)
        for name, buffer in model.named_buffers():
            if "running" in name:
                buffer.copy_(torch.rand_like(buffer) + 0.5)
    return model


def trained(program, x, classes):
    """Returns the losses of steps of SGD, in float64, with the gradients of the first step, and the buffers after the steps."""
    module = program.module()
    parameters = dict(module.named_parameters())
    optimizer = torch.optim.SGD(parameters.values(), lr=RATE, momentum=0.9)
    losses, arrays = [], {}
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(module(x), classes)
        loss.backward()
        if step == 0:
            arrays = {f"grad.{name}": parameter.grad.numpy().copy() for name, parameter in parameters.items()}
        optimizer.step()
        losses.append(loss.item())
    arrays.update({f"after.{name}": buffer.numpy().copy() for name, buffer in module.named_buffers()})
    return {"classes": classes.numpy(), "losses": np.array(losses), **arrays}


def conv(name, training=False):
    """`losses` are those of steps of SGD on the inputs of run a and `classes`, `grad.NAME` the gradients of the first step, and `after.NAME`
    the buffers after all steps. In training, a run changes the statistics, too."""
    model = randomised(Conv(), 1).train(training)
    x = torch.randn(5, 1, 10, 10)
    program = export(name, model, (x,), {"x": {0: Dim("batch", min=1, max=64)}})
    arrays = trained(program, x, torch.tensor([0, 2, 1, 1, 0]))
    program = torch.export.load(TO / f"{name}.pt2")
    module = program.module()
    arrays.update(run(program, [(x,), (torch.randn(1 + training, 1, 10, 10),)]))
    if training:
        module(x)
        arrays.update({f"once.{key}": buffer.numpy() for key, buffer in module.named_buffers()})
    np.savez(TO / f"{name}.npz", **arrays)


def transformer():
    model = randomised(Transformer(), 2).eval()
    batch, length = Dim("batch", max=8), Dim("length", max=16)
    runs = [(torch.randint(11, (rows, columns)), torch.tensor([columns, 1, 3][:rows])) for rows, columns in ((3, 7), (1, 16), (2, 1))]
    program = export("transformer", model, runs[0], {"tokens": {0: batch, 1: length}, "lengths": {0: batch}})
    np.savez(TO / "transformer.npz", **run(program, runs[:2]))


def control():
    torch.manual_seed(3)
    s = Dim("s", min=3, max=10)
    runs = [(torch.randn(8), torch.rand(4), torch.tensor([1, 1])), (torch.randn(6), torch.rand(3), torch.tensor([-3, 1]))]
    program = export("control", Control(), runs[0], {"x": {0: 2 * s}, "y": {0: s}, "n": None})
    np.savez(TO / "control.npz", **run(program, runs))


def cache():
    """The runs are calls of one after the other."""
    model = randomised(Cache(), 4)
    runs = [(torch.randn(1, 4),) for _ in range(4)]
    program = export("cache", model, runs[0], None)
    arrays = run(program, runs)
    np.savez(TO / "cache.npz", **arrays)


def nested():
    """The outputs of the second run have the count that the first run has left."""
    torch.manual_seed(5)

    def arguments(rows, scale):
        return torch.randn(rows, 3), {"count": torch.tensor([1.0, 2.0]), "shift": torch.randn(3)}, scale

    runs = [arguments(4, 3), arguments(2, 5)]
    sizes = {"first": {0: Dim.DYNAMIC}, "more": {"count": None, "shift": None}, "scale": Dim.DYNAMIC}
    program = export("nested", Nested(), runs[0], sizes)
    np.savez(TO / "nested.npz", **run(program, runs))


def main():
    TO.mkdir(exist_ok=True)
    torch.set_num_threads(1)
    if VERSION <= (2, 6):
        conv("conv26")
        return
    conv("conv")
    conv("training", training=True)
    transformer()
    control()
    cache()
    nested()


if __name__ == "__main__":
    sys.exit(main())
