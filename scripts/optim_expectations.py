#!/usr/bin/env python3
"""Writes c_tests/optim_expected.h: parameters after steps of PyTorch's optimizers, learning rates of PyTorch's schedulers, and scales of
PyTorch's GradScaler. PyTorch has no LAMB, and `lamb` follows algorithm 2 of the paper (arxiv.org/abs/1904.00962).

    .venv/bin/python scripts/optim_expectations.py

The problem is that of c_tests/optim.h: `|a|^2 / 2 + (3 b - sum of a)^2`. The numbers of a case are the arguments of thorn's constructor.
"""

import pathlib
import textwrap

import numpy as np
import torch

TO = pathlib.Path(__file__).resolve().parent.parent / "c_tests" / "optim_expected.h"
STEPS = 7
OTHER = {"betas": (0.8, 0.95), "eps": 1e-3, "weight_decay": 0.1}
DECOUPLED = {"decoupled_weight_decay": True}
# The kind, the numbers of thorn's constructor, the value of `maximize`, and the arguments of PyTorch's.
CASES = [
    ("Adagrad", [0.1, 0, 0, 0, 1e-10], 0, {}),
    ("Adagrad", [0.1, 0.5, 0.1, 2, 1e-3], 0, {"lr_decay": 0.5, "weight_decay": 0.1, "initial_accumulator_value": 2, "eps": 1e-3}),
    ("Adagrad", [0.1, 0, 0, 0, 1e-10], 1, {}),
    ("Adadelta", [1, 0.9, 1e-6, 0], 0, {}),
    ("Adadelta", [2, 0.7, 1e-3, 0.1], 0, {"rho": 0.7, "eps": 1e-3, "weight_decay": 0.1}),
    ("Adadelta", [1, 0.9, 1e-6, 0], 1, {}),
    ("NAdam", [0.1, 0.9, 0.999, 1e-8, 0, 4e-3, 0], 0, {}),
    ("NAdam", [0.1, 0.8, 0.95, 1e-3, 0.1, 0.1, 0], 0, {**OTHER, "momentum_decay": 0.1}),
    ("NAdam", [0.1, 0.9, 0.999, 1e-8, 0.1, 4e-3, 1], 1, {"weight_decay": 0.1, **DECOUPLED}),
    ("RAdam", [0.1, 0.9, 0.999, 1e-8, 0, 0], 0, {}),
    ("RAdam", [0.1, 0.8, 0.95, 1e-3, 0.1, 0], 0, OTHER),
    ("RAdam", [0.1, 0.9, 0.999, 1e-8, 0.1, 1], 1, {"weight_decay": 0.1, **DECOUPLED}),
    ("Lamb", [0.1, 0.9, 0.999, 1e-6, 0], 0, {}),
    ("Lamb", [0.1, 0.8, 0.95, 1e-3, 0.1], 0, {}),
    ("Lamb", [0.1, 0.9, 0.999, 1e-6, 0.01], 1, {}),
    ("Adafactor", [0.1, -0.8, -1, 1e-3, 1, 0], 0, {}),
    ("Adafactor", [0.3, -0.5, 1e-2, 0.5, 2, 0.1], 0, {"beta2_decay": -0.5, "eps": (1e-2, 0.5), "d": 2, "weight_decay": 0.1}),
    ("Adafactor", [0.1, -0.8, -1, 1e-3, 1, 0], 1, {}),
    ("SGD", [0.01, 0.9, 0, 0.1, 1], 1, {"momentum": 0.9, "weight_decay": 0.1, "nesterov": True}),
    ("Adam", [0.1, 0.9, 0.999, 1e-8, 0.1, 1], 1, {"weight_decay": 0.1, "amsgrad": True}),
    ("AdamW", [0.1, 0.9, 0.999, 1e-8, 0.1, 0], 1, {"weight_decay": 0.1}),
    ("RMSprop", [0.01, 0.99, 1e-8, 0.1, 0.9, 1], 1, {"weight_decay": 0.1, "momentum": 0.9, "centered": True}),
]
RATES = 24
# PyTorch's scheduler, the learning rate, the numbers of thorn's function after the step, and the arguments of PyTorch's scheduler.
SCHEDULES = [
    ("StepLR", 0.1, [0.1, 5, 0.3], {"step_size": 5, "gamma": 0.3}),
    ("ExponentialLR", 0.1, [0.1, 0.9], {"gamma": 0.9}),
    ("LinearLR", 0.1, [0.1, 0.25, 1, 8], {"start_factor": 0.25, "total_iters": 8}),
    ("PolynomialLR", 0.1, [0.1, 10, 2], {"total_iters": 10, "power": 2}),
    ("CosineAnnealingLR", 0.1, [0.1, 10, 0.01], {"T_max": 10, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", 0.1, [0.1, 3, 2, 0.01], {"T_0": 3, "T_mult": 2, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", 0.1, [0.1, 7, 1, 0], {"T_0": 7}),
    ("OneCycleLR", 0.1, [0.1, 24, 0.3, 25, 1e4], {"max_lr": 0.1, "total_steps": 24}),
    ("OneCycleLR", 0.1, [0.1, 30, 0.5, 5, 10],
     {"max_lr": 0.1, "total_steps": 30, "pct_start": 0.5, "div_factor": 5, "final_div_factor": 10}),
]
METRICS = [5, 4, 4.1, 3.9995, 4, 4, 2, 2, 1.9999, 3, 3, 3, 3, 1, 1, 0.5, 0.6, 0.6, 0.6, 0.6, 0.7, -1, -1, -1]
# The learning rate, the numbers of thorn's function after the learning rate, and the arguments of PyTorch's ReduceLROnPlateau.
PLATEAUS = [
    (0.1, [0.5, 2, 1e-4, 0, 0, 0, 0, 1e-8], {"factor": 0.5, "patience": 2}),
    (0.1, [0.1, 0, 0.1, 0, 0, 2, 1e-3, 1e-8], {"factor": 0.1, "patience": 0, "threshold": 0.1, "cooldown": 2, "min_lr": 1e-3}),
    (0.1, [0.5, 1, 0.5, 1, 0, 0, 0, 0.01],
     {"factor": 0.5, "patience": 1, "threshold": 0.5, "threshold_mode": "abs", "eps": 0.01}),
    (0.1, [0.5, 3, 1e-4, 0, 1, 1, 0, 1e-8], {"factor": 0.5, "patience": 3, "mode": "max", "cooldown": 1}),
    (0.1, [0.5, 5, 0.5, 1, 1, 0, 0, 1e-8], {"factor": 0.5, "patience": 5, "mode": "max", "threshold": 0.5, "threshold_mode": "abs"}),
]
# The numbers of gradients with infinities or NaNs in successive steps, and the first scale, the growth factor, the backoff factor and the
# growth interval.
BAD = [0, 0, 0, 0, 1, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0]
SCALERS = [(65536, 2, 0.5, 3), (1000, 1.1, 0.3, 1), (1.5e38, 2, 0.5, 2), (1e-44, 4, 0.25, 100)]
MATRIX = [[1, -2, 0.5], [0.25, 3, -1]]


def rates(kind, lr, arguments):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=lr)
    scheduler = getattr(torch.optim.lr_scheduler, kind)(optimizer, **arguments)
    found = []
    for _ in range(RATES):
        found.append(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()
    return found


def plateau(lr, arguments):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=lr)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **arguments)
    found = []
    for metric in METRICS:
        scheduler.step(metric)
        found.append(optimizer.param_groups[0]["lr"])
    return found


def scales(first, growth, backoff, interval):
    """The scales and the numbers of steps after each step."""
    scale, steps, found = torch.tensor([first], dtype=torch.float32), torch.tensor([0], dtype=torch.int32), []
    for bad in BAD:
        torch._amp_update_scale_(scale, steps, torch.tensor([float(bad)], dtype=torch.float32), growth, backoff, interval)
        found += [scale.item(), steps.item()]
    return found


def lamb(lr, beta1, beta2, eps, decay, maximize):
    params = [np.array([1, -2, 0.5]), np.array([0.25])]
    means, squares = ([np.zeros_like(p) for p in params] for _ in range(2))
    for n in range(1, STEPS + 1):
        rest = 3 * params[1][0] - params[0].sum()
        for k, g in enumerate([params[0] - 2 * rest, np.array([6 * rest])]):
            g = -g if maximize else g
            means[k] = beta1 * means[k] + (1 - beta1) * g
            squares[k] = beta2 * squares[k] + (1 - beta2) * g**2
            ratio = means[k] / (1 - beta1**n) / (np.sqrt(squares[k] / (1 - beta2**n)) + eps)
            step = ratio + decay * params[k]
            params[k] = params[k] - lr * np.linalg.norm(params[k]) / np.linalg.norm(step) * step
    return [*params[0].tolist(), *params[1].tolist()]


def adafactor_of_matrix():
    """A matrix after steps with the gradient p^2 - 1."""
    p = torch.tensor(MATRIX, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adafactor([p], lr=0.1)
    for _ in range(STEPS):
        p.grad = p.detach() ** 2 - 1
        optimizer.step()
    return p.flatten().tolist()


def after_steps(kind, numbers, maximize, arguments):
    if kind == "Lamb":
        return lamb(*numbers, maximize)
    lr = numbers[0]
    torch.set_default_dtype(torch.float64)
    a, b = (torch.tensor(values, requires_grad=True) for values in ([1, -2, 0.5], [0.25]))
    optimizer = getattr(torch.optim, kind)([a, b], lr=lr, maximize=bool(maximize), **arguments)
    for _ in range(STEPS):
        optimizer.zero_grad()
        (a.square().sum() / 2 + (3 * b - a.sum()).square().sum()).backward()
        optimizer.step()
    return [*a.tolist(), *b.tolist()]


def numbers(values):
    return "{" + ", ".join(f"{value!r}" for value in values) + "}"


def main():
    lines = ["/* Written by scripts/optim_expectations.py: results of PyTorch's optimizers and schedulers. */", "",
             f"enum {{ EXPECTED_STEPS = {STEPS} }};", "",
             "static const struct {", "    const char *kind;", "    double numbers[7];", "    int maximize;", "    double expected[4];",
             "} optim_cases[] = {"]
    for kind, given, maximize, arguments in CASES:
        expected = numbers(after_steps(kind, given, maximize, arguments))
        lines.append(f'    {{"{kind}", {numbers(given)}, {maximize},\n     {expected}}},')
    lines += ["};", "", f"enum {{ EXPECTED_RATES = {RATES} }};", "",
              "static const struct {", "    const char *kind;", "    double numbers[5];",
              "    double expected[EXPECTED_RATES];", "} schedule_cases[] = {"]
    for kind, lr, given, arguments in SCHEDULES:
        expected = textwrap.fill(numbers(rates(kind, lr, arguments)), 118, initial_indent="     ", subsequent_indent="      ")
        lines.append(f'    {{"{kind}", {numbers(given)},\n{expected}}},')
    lines += ["};", "", "static const double plateau_metrics[EXPECTED_RATES] =", f"    {numbers(METRICS)};", "",
              "static const struct {", "    double lr, numbers[8];", "    double expected[EXPECTED_RATES];", "} plateau_cases[] = {"]
    for lr, given, arguments in PLATEAUS:
        expected = textwrap.fill(numbers(plateau(lr, arguments)), 118, initial_indent="     ", subsequent_indent="      ")
        lines.append(f"    {{{lr!r}, {numbers(given)},\n{expected}}},")
    lines += ["};", "", f"enum {{ EXPECTED_SCALES = {len(BAD)} }};", "",
              f"static const int bad_gradients[EXPECTED_SCALES] = {numbers(BAD)};", "",
              "/* The scale and the number of steps after each step. */",
              "static const struct {", "    double scale, growth, backoff;", "    int interval;",
              "    double expected[EXPECTED_SCALES][2];", "} scaler_cases[] = {"]
    for given in SCALERS:
        found = scales(*given)
        pairs = "{" + ", ".join(numbers(pair) for pair in zip(found[::2], found[1::2])) + "}"
        expected = textwrap.fill(pairs, 118, initial_indent="     ", subsequent_indent="      ")
        lines.append(f"    {{{', '.join(map(repr, given))},\n{expected}}},")
    lines += ["};", "", "/* Adafactor on a matrix p with the gradient p^2 - 1. */",
              f"static const double adafactor_start[6] = {numbers(sum(MATRIX, []))};",
              "static const double adafactor_expected[6] =", f"    {numbers(adafactor_of_matrix())};"]
    TO.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
