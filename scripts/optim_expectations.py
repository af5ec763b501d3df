#!/usr/bin/env python3
"""Writes c_tests/optim_expected.h: parameters after steps of PyTorch's optimizers, and learning rates of PyTorch's schedulers.

    .venv/bin/python scripts/optim_expectations.py

The problem is that of c_tests/optim.h: `|a|^2 / 2 + (3 b - sum of a)^2`. The numbers of a case are the arguments of thorn's constructor.
"""

import pathlib
import textwrap

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


def rates(kind, lr, arguments):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=lr)
    scheduler = getattr(torch.optim.lr_scheduler, kind)(optimizer, **arguments)
    found = []
    for _ in range(RATES):
        found.append(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()
    return found


def after_steps(kind, lr, maximize, arguments):
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
        expected = numbers(after_steps(kind, given[0], maximize, arguments))
        lines.append(f'    {{"{kind}", {numbers(given)}, {maximize},\n     {expected}}},')
    lines += ["};", "", f"enum {{ EXPECTED_RATES = {RATES} }};", "",
              "static const struct {", "    const char *kind;", "    double numbers[5];",
              "    double expected[EXPECTED_RATES];", "} schedule_cases[] = {"]
    for kind, lr, given, arguments in SCHEDULES:
        expected = textwrap.fill(numbers(rates(kind, lr, arguments)), 118, initial_indent="     ", subsequent_indent="      ")
        lines.append(f'    {{"{kind}", {numbers(given)},\n{expected}}},')
    TO.write_text("\n".join(lines) + "\n};\n")


if __name__ == "__main__":
    main()
