"""Sizes and numbers of a graph, and assertions."""

import math
import operator

import torch

from .writing import S, SB, SF, b, case, f, fails, i, line, turned, value

INTS = [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, 3)]
REALS = [(7.5, 2.0), (-7.5, 2), (7, -2.5), (0.5, 0.5)]


def of(name, function, *args, names="a b t f".split()):
    """A function of Python numbers."""
    plain = [x.value if isinstance(x, SB) else float(x) if isinstance(x, SF) else int(x) if isinstance(x, S) else x for x in args]
    line(name, [f"{key}={value(x)}" for key, x in zip(names, args)], [value(function(*plain))])


def refused(name, *args):
    line(name, [f"{key}={value(x)}" for key, x in zip("a b".split(), args)], ["fails"])


def arithmetic():
    for name in "add sub mul floordiv mod truediv eq ne lt le gt ge".split():
        function = getattr(operator, name)
        for x, y in INTS:
            of(f"_operator.{name}", function, S(x), y)
        of(f"_operator.{name}", function, 3, S(2))
        for x, y in REALS:
            of(f"_operator.{name}", function, SF(x), y)
    for name in ["floordiv", "mod", "truediv"]:
        refused(f"_operator.{name}", S(3), 0)
    refused("_operator.mul", S(2**62), 4)
    of("_operator.pow", operator.pow, S(3), 4)
    of("_operator.pow", operator.pow, S(-2), 3)
    of("_operator.pow", operator.pow, SF(2.0), 0.5)
    of("_operator.pow", operator.pow, S(2), 0)
    for name in ["neg", "pos"]:
        of(f"_operator.{name}", getattr(operator, name), S(3))
        of(f"_operator.{name}", getattr(operator, name), SF(2.5))
    for name in ["and_", "or_"]:
        for x in [False, True]:
            of(f"_operator.{name}", getattr(operator, name), SB(x), SB(True))
            of(f"_operator.{name}", getattr(operator, name), SB(x), SB(False))
    of("_operator.not_", operator.not_, SB(True))
    of("torch.sym_not", operator.not_, SB(False))
    for name, function in [("max", max), ("min", min)]:
        of(f"torch.sym_{name}", function, S(3), S(5))
        of(f"torch.sym_{name}", function, S(5), 3)
        of(f"torch.sym_{name}", function, SF(2.5), 1.5)
    of("torch.sym_float", float, S(3))
    of("torch.sym_int", int, SF(-2.7))
    of("torch.sym_ite", lambda c, x, y: x if c else y, SB(True), S(3), S(4), names=["b", "t", "f"])
    of("torch.sym_ite", lambda c, x, y: x if c else y, SB(False), S(3), S(4), names=["b", "t", "f"])
    line("torch.sym_sum", ["args=ints $3,$4,5"], ["int 12"])
    for name in ["torch._sym_sqrt", "math.sqrt"]:
        of(name, math.sqrt, S(16), names=["a"] if "sym" in name else ["x"])
    for name in ["ceil", "floor", "trunc"]:
        for x in [SF(-2.5), SF(2.5), SF(3.0), S(4)]:
            of(f"math.{name}", getattr(math, name), x, names=["x"])
    for x in [SF(2.5), SF(3.5), SF(-0.5), SF(2.4)]:
        of("builtins.round", round, x, names=["number"])


def sizes():
    t = f(2, 3, 4)
    for dim in [0, 1, -1]:
        case("sym_size.int", t, dim)
    case("sym_stride.int", t, 0)
    case("sym_stride.int", t, -1)
    case("sym_numel", t)
    case("sym_storage_offset", t)
    for t in [torch.tensor(2.5), torch.tensor([[7]]), torch.tensor(True), torch.tensor(2**60 + 1)]:
        name = ["item", "_local_scalar_dense"]
        x = t.item()
        for name in name:
            line(name, [f"self={value(t)}"], [value(x)])
    line("item", ["self=t int64 2 1 2"], ["fails"])


def assertions():
    for name, good, bad in [("_assert_scalar", SB(True), SB(False)), ("_assert_async.msg", torch.tensor(True), torch.tensor(False))]:
        line(name, [f"self={value(good)}", "assert_msg=text no"], [])
        line(name, [f"self={value(bad)}", "assert_msg=text no"], ["fails"])
    line("_assert_async", ["self=t bool - 1"], [])
    line("_assert_async", ["self=t bool - 0"], ["fails"])
    line("_assert_tensor_metadata", [f"a={value(f(2))}", "size=none", "stride=none", "dtype=dtype float32"], [])
    line("sym_constrain_range", ["size=$int 3", "min=int 2", "max=none"], [])
    line("sym_constrain_range_for_size", ["size=$int 3", "min=int 2", "max=none"], [])


def cases():
    for part in [arithmetic, sizes, assertions]:
        part()
