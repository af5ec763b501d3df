"""Functions for the most frequent calls: the arguments are tensors, numbers and flags, and the results are new tensors or the first
argument. The source of such a function is generated and compiled; it does what `_call.call` does, without the general case.
"""

from . import _words as w
from ._call import _default
from ._handles import CLASSES
from ._library import NULL, failure, ffi, lib

# Doubles hold all integers up to this one.
MOST = 2**53
# The functions that choose the dtype of the result by their numbers. The numbers are doubles in C, where 1.0 is an integer. In Python, a
# result of floats has the default dtype.
OF_NUMBERS = {"THTensor_arange", "THTensor_whereValues"}
# The groups of arguments whose conversion is an expression, for a word of the value.
EXPRESSIONS = {
    ("tensor", w.TENSOR): "{}.handle", ("number", w.INT): "{}", ("number", w.FLOAT): "{}", ("number", w.FLAG): "{}", ("flag", w.FLAG): "{}",
}


def _expression(argument, at, words):
    """Returns the expression for the argument at a position; None if the general case must convert it."""
    return EXPRESSIONS.get((argument.of.group, words[at] if isinstance(at, int) else None))


def compiled(signature, plan, words, skipped, writes_first):
    """Returns a function for calls with these words, without options; None if the call is not simple. The function returns None, and does
    nothing, for an integer that a double cannot hold. `plan` maps parameters to positions
    among the arguments after the first `skipped` ones."""
    returns_new, results = signature.returns == "new", [argument for argument in signature.arguments if argument.of.role == "result"]
    if not returns_new and not (signature.returns == "status" and results) or any(result.of.group != "tensor" for result in results):
        return None
    if signature.name in OF_NUMBERS and w.FLOAT in words:
        return None
    names = [f"a{i}" for i in range(len(words))]
    values = {"c": getattr(lib, signature.name), "failure": failure, "gc": ffi.gc, "new": CLASSES["Tensor"].__new__, "Tensor":
              CLASSES["Tensor"], "fresh": lib.THTensor_new, "free": lib.THTensor_free, "NULL": NULL, "name": signature.name}
    lines, arguments, made = [], [], []
    for i, argument in enumerate(signature.arguments):
        if argument.of.role == "result":
            if writes_first and not made:
                made.append("a0")
            else:
                made.append(f"r{len(made)}")
                lines.append(f"{made[-1]} = new(Tensor); {made[-1]}.handle = gc(fresh(), free); {made[-1]}.kept = None")
            arguments.append(f"{made[-1]}.handle")
        elif argument.name in plan:
            at = plan[argument.name]
            at = at + skipped if isinstance(at, int) else at
            expression = _expression(argument, at, words)
            if expression is None:
                return None
            arguments.append(expression.format(names[at]))
        elif argument.of.role == "parameter" and argument.of.group != "callback":
            # The default dtype is read at each call.
            if argument.kind in ("dtype", "optional_dtype"):
                return None
            values[f"d{i}"] = _default(argument)
            arguments.append(f"d{i}")
        else:
            return None
    lines.append(f"value = c({', '.join(arguments)})")
    if returns_new:
        lines += ["if value == NULL: raise failure(name)", "r0 = new(Tensor); r0.handle = gc(value, free); r0.kept = None", "return r0"]
    else:
        lines += ["if value: raise failure(name)", f"return {', '.join(made)}"]
    limits = [f"-{MOST} <= {name} <= {MOST}" for name, word in zip(names, words) if word == w.INT]
    if limits:
        lines.insert(0, f"if not ({' and '.join(limits)}): return None")
    exec(f"def run({', '.join(names)}):\n    " + "\n    ".join(lines), values)
    return values["run"]
