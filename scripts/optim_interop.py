#!/usr/bin/env python3
"""Checks that training continues across thorn and PyTorch: each program loads the state of an optimizer that the other one wrote.

    .venv/bin/python scripts/optim_interop.py          # needs PyTorch; THORN_LIB names the library

For each kind of optimizer, both make the same steps. thorn then writes a file that PyTorch loads, and PyTorch a file that thorn loads. In
both cases the parameters must be the same after further steps.
"""

import ctypes
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch

from compare.library import Thorn

Closure = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(ctypes.c_double))
STEPS = 4
BETAS = {"betas": (0.8, 0.95)}
DECAY = {"weight_decay": 0.1}
# For each kind: PyTorch's class and arguments, and thorn's constructor and its arguments after the learning rate. Hyperparameters that the
# constructor lacks are set by name.
KINDS = [
    ("SGD", {}, "newSgd", [0, 0, 0, 0], {}),
    ("SGD", {"momentum": 0.9, "nesterov": True, **DECAY}, "newSgd", [0.9, 0, 0.1, 1], {}),
    ("SGD", {"momentum": 0.9, "dampening": 0.5, "maximize": True}, "newSgd", [0.9, 0.5, 0, 0], {"maximize": 1}),
    ("Adam", {**BETAS, **DECAY}, "newAdam", [0.8, 0.95, 1e-8, 0.1, 0], {}),
    ("Adam", {**BETAS, "amsgrad": True, "maximize": True}, "newAdam", [0.8, 0.95, 1e-8, 0, 1], {"maximize": 1}),
    ("AdamW", {**BETAS, **DECAY, "amsgrad": True}, "newAdamw", [0.8, 0.95, 1e-8, 0.1, 1], {}),
    ("RMSprop", {"alpha": 0.9, **DECAY}, "newRmsprop", [0.9, 1e-8, 0.1, 0, 0], {}),
    ("RMSprop", {"alpha": 0.9, "momentum": 0.5, "centered": True}, "newRmsprop", [0.9, 1e-8, 0, 0.5, 1], {}),
    ("Adagrad", {"lr_decay": 0.5, **DECAY, "initial_accumulator_value": 2}, "newAdagrad", [0.5, 0.1, 2, 1e-10], {}),
    ("Adadelta", {"rho": 0.7, **DECAY}, "newAdadelta", [0.7, 1e-6, 0.1], {}),
    ("NAdam", {**BETAS, **DECAY, "momentum_decay": 0.1}, "newNadam", [0.8, 0.95, 1e-8, 0.1, 0.1, 0], {}),
    ("NAdam", {**DECAY, "decoupled_weight_decay": True, "maximize": True}, "newNadam", [0.9, 0.999, 1e-8, 0.1, 4e-3, 1], {"maximize": 1}),
    ("RAdam", {**BETAS, **DECAY}, "newRadam", [0.8, 0.95, 1e-8, 0.1, 0], {}),
    ("RAdam", {**DECAY, "decoupled_weight_decay": True}, "newRadam", [0.9, 0.999, 1e-8, 0.1, 1], {}),
    ("Adafactor", {**DECAY, "d": 2, "beta2_decay": -0.5}, "newAdafactor", [-0.5, -1, 1e-3, 2, 0.1], {}),
    ("Adafactor", {"eps": (1e-2, 0.5), "maximize": True}, "newAdafactor", [-0.8, 1e-2, 0.5, 1, 0], {"maximize": 1}),
    ("LBFGS", {"max_iter": 3, "history_size": 2}, "newLbfgs", [3, 2, 1e-7, 1e-9, 0], {}),
    ("LBFGS", {"max_iter": 3, "line_search_fn": "strong_wolfe"}, "newLbfgs", [3, 100, 1e-7, 1e-9, 1], {}),
]
TOLERANCE = {torch.float64: 1e-9, torch.float32: 2e-4}


def loss_of(params):
    total = sum((p**4).sum() + (p**2).sum() for p in params)
    return total + (params[0].sum() - 3 * params[1].mean()) ** 2


class Here:
    """An optimizer of PyTorch. Each parameter is a group, except for L-BFGS."""

    def __init__(self, kind, lr, start):
        self.params = [torch.nn.Parameter(t.clone()) for t in start]
        groups = self.params if kind[0] == "LBFGS" else [{"params": [p], "lr": lr * (k + 1)} for k, p in enumerate(self.params)]
        self.optimizer = getattr(torch.optim, kind[0])(groups, lr=lr, **kind[1])

    def step(self):
        def closure():
            self.optimizer.zero_grad()
            loss = loss_of(self.params)
            loss.backward()
            return loss

        for _ in range(STEPS):
            self.optimizer.step(closure)

    def save(self, path):
        torch.save(self.optimizer.state_dict(), path)

    def load(self, path):
        self.optimizer.load_state_dict(torch.load(path, weights_only=True))

    def values(self):
        return [p.detach().clone() for p in self.params]


class There:
    """An optimizer of thorn with the same interface."""

    def __init__(self, thorn, kind, lr, start):
        self.thorn, self.params = thorn, [thorn.tensor(t) for t in start]
        for p in self.params:
            thorn.setRequiresGrad(p, 1)
        make = getattr(thorn, "THOptim_" + kind[2])
        first = self.params if kind[0] == "LBFGS" else self.params[:1]
        self.optim = thorn.keep(make(tuple(first), len(first), lr, *kind[3]), "THOptim")
        for name, value in kind[4].items():
            thorn.THOptim_set(self.optim, 0, name.encode(), value)
        if kind[0] != "LBFGS":
            group = thorn.THOptim_addGroup(self.optim, tuple(self.params[1:]), len(self.params) - 1)
            thorn.THOptim_set(self.optim, group, b"lr", lr * 2)

    def step(self):
        def closure(_, loss):
            params = [torch.nn.Parameter(t) for t in self.values()]
            total = loss_of(params)
            for p, handle, gradient in zip(params, self.params, torch.autograd.grad(total, params)):
                self.thorn.setGrad(handle, self.thorn.tensor(gradient))
            loss[0] = total.item()
            return 0

        called = Closure(closure)
        for _ in range(STEPS):
            self.thorn.THOptim_stepClosure(self.optim, ctypes.cast(called, ctypes.c_void_p), None)

    def save(self, path):
        self.thorn.THOptim_save(self.optim, path.encode())

    def save_checkpoint(self, path):
        """Writes the parameters and the state of the optimizer into one file."""
        archive = self.thorn.keep(self.thorn.THArchive_create(path.encode(), 0), "THArchive")
        for k, p in enumerate(self.params):
            self.thorn.THArchive_add(archive, f"w{k}".encode(), p)
        self.thorn.THOptim_add(self.optim, archive, b"optimizer")
        self.thorn.THArchive_close(archive)

    def load(self, path):
        self.thorn.THOptim_load(self.optim, path.encode())

    def values(self):
        return [self.thorn.value(p) for p in self.params]


def check_same(a, b, dtype, *what):
    for one, two in zip(a.values(), b.values()):
        torch.testing.assert_close(one, two, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype], msg=lambda text: f"{what}: {text}")


def equal(a, b):
    """Whether two nested values are equal, with the same types."""
    if type(a) is not type(b):
        return False
    if isinstance(a, torch.Tensor):
        return a.dtype == b.dtype and torch.equal(a, b)
    if isinstance(a, dict):
        return list(a) == list(b) and all(map(equal, a.values(), b.values()))
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(equal, a, b))
    return a == b


def check_layout(path, own, *what):
    """The file has the keys of PyTorch's state dict, in the same places."""
    found, wanted = torch.load(path, weights_only=True), own.optimizer.state_dict()
    if list(found) != list(wanted) or list(found["state"]) != list(wanted["state"]):
        raise SystemExit(f"{what}: {found}")
    for k, state in found["state"].items():
        # L-BFGS has a list for sums within a step there.
        if set(state) ^ set(wanted["state"][k]) - {"al"}:
            raise SystemExit(f"{what}: {list(state)}, not {list(wanted['state'][k])}")
    for group, other in zip(found["param_groups"], wanted["param_groups"], strict=True):
        for name, value in group.items():
            if name not in other or value != other[name] or type(value) is not type(other[name]) and not isinstance(value, float):
                raise SystemExit(f"{what}: {name} is {value!r}, not {other.get(name)!r}")


def check(thorn, kind, dtype, folder):
    what = kind[0], kind[1], dtype
    start = [torch.tensor([1, -2, 0.5], dtype=dtype), torch.linspace(0.25, 0.75, 12, dtype=dtype).view(2, 3, 2)]
    lr = 0.1 if kind[0] == "LBFGS" else 0.01
    here, there = Here(kind, lr, start), There(thorn, kind, lr, start)
    here.step(), there.step()
    check_same(here, there, dtype, "steps", *what)
    theirs, ours = os.path.join(folder, "theirs.pt"), os.path.join(folder, "ours.pt")
    here.save(theirs), there.save(ours)
    check_layout(ours, here, *what)
    checkpoint = os.path.join(folder, "checkpoint.pt")
    there.save_checkpoint(checkpoint)
    weights = {f"w{k}": t for k, t in enumerate(there.values())}
    if not equal(torch.load(checkpoint, weights_only=True), {**weights, "optimizer": torch.load(ours, weights_only=True)}):
        raise SystemExit(f"{what}: the checkpoint differs from the file of the optimizer")
    loaded_here, loaded_there = Here(kind, 0.5, there.values()), There(thorn, kind, 0.5, here.values())
    loaded_here.load(ours), loaded_there.load(theirs)
    here.step(), there.step(), loaded_here.step(), loaded_there.step()
    check_same(there, loaded_here, dtype, "PyTorch loads", *what)
    check_same(here, loaded_there, dtype, "thorn loads", *what)


def main():
    thorn = Thorn()
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            for dtype in TOLERANCE:
                check(thorn, kind, dtype, folder)
    if thorn.close():
        raise SystemExit("memory is left")
    print(f"{len(KINDS)} optimizers continue across thorn and PyTorch")


if __name__ == "__main__":
    main()
