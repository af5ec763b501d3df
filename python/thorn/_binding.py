"""The binding of a call: chooses the C function that fits the arguments, and assigns each argument to its parameter.

Each positional argument is assigned to the next parameter that accepts its word. Parameters with a default may be omitted, or given by
name. If several forms fit all arguments, the first one is called. The choice depends on words only, and is stored for each list of words.
"""

from . import _words as w
from ._call import call
from ._fast import OF_NUMBERS, compiled
from ._library import lib
from ._table import camel, snake


# The words that `compiled` distinguishes by the type of the value.
SIMPLE = {w.TENSOR, w.INT, w.FLOAT, w.FLAG}


class Mismatch(TypeError):
    """No form of a function accepts the arguments."""


def _accepts(argument, word, signature):
    if word in argument.of.words:
        return True
    if word == w.NONE:
        return argument.optional
    return argument.of.group == "list" and signature.dimensions is not None and word == w.INT


# Other names of parameters, from PyTorch and NumPy.
ALIASES = {
    "dimension": ("dim", "axis"), "dims": ("dim", "axis"), "keepdim": ("keepdims",), "minimum": ("min",), "maximum": ("max",),
    "size": ("shape",), "n": ("steps",),
}


def _key(argument, named):
    """Returns the name by which the options give a parameter: its own, or an alias."""
    return next((alias for alias in ALIASES.get(argument.key, ()) if alias in named), argument.key)


def _assign(signature, words, named, p, j, plan):
    """Assigns arguments from position `j` to parameters from `p` on. Returns False if they do not fit. A plan maps the name of a parameter
    to the position of its argument, to the name of an option, or to the slice of the arguments that are its list."""
    if p == len(signature.parameters):
        return j == len(words)
    argument = signature.parameters[p]
    key = _key(argument, named)
    if key in named:
        plan[argument.name] = key
        return _accepts(argument, named[key], signature) and _assign(signature, words, named, p + 1, j, plan)
    if j < len(words):
        if _accepts(argument, words[j], signature):
            plan[argument.name] = j
            if _assign(signature, words, named, p + 1, j + 1, plan):
                return True
        # A list may be given element by element if it is the last argument.
        element = w.INT if w.INTS in argument.of.words else w.TENSOR if w.TENSORS in argument.of.words else None
        is_list = argument.of.group in ("list", "handles") and set(words[j:]) == {element}
        plan[argument.name] = slice(j, None)
        if is_list and _assign(signature, words, named, p + 1, len(words), plan):
            return True
    plan.pop(argument.name, None)
    return argument.optional and _assign(signature, words, named, p + 1, j, plan)


def reads_no_tensor(signature):
    """Returns True if the function reads no tensor, so that a first argument that is a tensor can only be its result."""
    groups = {argument.of.group for argument in signature.parameters}
    return bool(signature.results) and signature.results[0].of.group == "tensor" and not groups & {"tensor", "sparse", "handles"}


def _knows(signature, named):
    known = {_key(argument, named) for argument in signature.parameters} | {argument.key for argument in signature.results}
    groups = {argument.of.group for argument in signature.results}
    if groups & {"tensor", "sparse", "out_handles"}:
        known |= {"out", "dtype"}
    if "out_handles" in groups:
        known.add("results")
    if reads_no_tensor(signature) or signature.returns == "new":
        known.add("requiresGrad")
    return named.keys() <= known


def _results_fit(signature, named):
    if named.get("out", w.NONE) not in (w.TENSOR, w.SPARSE, w.TENSORS, w.GAPS, w.EMPTY, w.NONE):
        return False
    return all(named.get(argument.key, w.NONE) in {*argument.of.words, w.NONE, w.FLAG} for argument in signature.results)


def _plan(signature, words, named):
    plan = {}
    return plan if _knows(signature, named) and _results_fit(signature, named) and _assign(signature, words, named, 0, 0, plan) else None


def _choose(forms, words, named, in_place):
    """Returns the form, its plan, the number of leading arguments that are only results, and True if the first argument is the result."""
    is_tensor = bool(words) and words[0] in (w.TENSOR, w.SPARSE)
    if in_place and (not is_tensor or "out" in named):
        return None
    if in_place:
        fills = [form for form in forms if reads_no_tensor(form)]
        others = [form for form in forms if form.results and not reads_no_tensor(form)]
        attempts = [(form, 1) for form in fills] + [(form, 0) for form in others] + [(form, 1) for form in others]
    else:
        attempts = [(form, 0) for form in forms]
        if is_tensor and "out" not in named:
            attempts += [(form, 1) for form in forms if reads_no_tensor(form)]
    for form, skipped in attempts:
        plan = _plan(form, words[skipped:], named)
        if plan is not None:
            return form, plan, skipped, in_place or skipped == 1
    return None


def usage(signature):
    """Returns the parameters of a form: "t, value=1, keepdim=False"."""
    parts = []
    for argument in signature.parameters:
        default = argument.default if argument.of.group != "flag" else bool(argument.default)
        parts.append(f"{snake(argument.name)}={default}" if argument.optional else snake(argument.name))
    return f"({', '.join(parts)})"


def _refuse(name, forms, given, options):
    found = ", ".join([*map(w.described, given), *(f"{snake(key)}={w.described(value)}" for key, value in options.items())])
    raise Mismatch(f"{name}: the arguments are {usages(forms)}, not ({found})")


def usages(forms):
    """Returns the parameters of all forms."""
    return " or ".join(usage(form) for form in forms)


def _values(plan, given, options):
    return {name: options[at] if isinstance(at, str) else list(given[at]) if isinstance(at, slice) else given[at]
            for name, at in plan.items() if not (isinstance(at, int) and given[at] is None)}


def _results(form, options):
    """Returns the results that the options name: `out` is a tensor or a list in the order of the results, and each result may be given by
    its own name."""
    out = options.get("out")
    outs = list(out) if isinstance(out, (list, tuple)) else [] if out is None else [out]
    if form.results and form.results[0].of.group == "out_handles":
        return {form.results[0].name: outs}
    if len(outs) > len(form.results):
        raise ValueError(f"{form.name} has {len(form.results)} results, and `out` {len(outs)}")
    found = {argument.name: value for argument, value in zip(form.results, outs) if value is not None}
    found.update((argument.name, options[argument.key]) for argument in form.results if options.get(argument.key) is not None)
    return found


def operation(name, forms, in_place=False):
    """Returns the function of Python with these forms. If `in_place`, as in `add_(x, y)`, it writes to its first argument."""
    chosen, simple = {}, {}

    def general(given, options):
        options = {camel(key): value for key, value in options.items()}
        words = tuple(map(w.word_of, given))
        named = {key: w.word_of(value) for key, value in options.items()}
        key = (words, *named.items())
        choice = chosen.get(key)
        if choice is None:
            choice = chosen[key] = _choose(forms, words, named, in_place) or _refuse(name, forms, given, options)
            if not options and not set(words) - SIMPLE:
                run = compiled(choice[0], choice[1], words, *choice[2:])
                if run:
                    simple[tuple(map(type, given))] = run
        form, plan, skipped, writes_first = choice
        if writes_first:
            options["out"] = given[0]
        dtype = options.get("dtype") if "dtype" not in plan.values() else None
        if dtype is None and form.name in OF_NUMBERS and w.FLOAT in (*words, *named.values()):
            dtype = w.DType(lib.THGetDefaultDtype())
        result = call(form, _values(plan, given[skipped:], options), _results(form, options), dtype and w.dtype_of(dtype),
                      options.get("results", 1))
        return result.requires_grad_() if options.get("requiresGrad") and "requiresGrad" not in plan.values() else result

    def bound(*given, **options):
        run = simple.get(tuple(map(type, given))) if not options else None
        result = run(*given) if run else None
        return general(given, options) if result is None else result

    bound.__name__ = bound.__qualname__ = name
    return bound


def exact(signature):
    """Returns the function of Python with the arguments of C: results first, then parameters, without the lengths of lists."""
    taken = [argument for argument in signature.arguments if argument.of.role and argument.of.group not in ("new_handles", "struct")]

    def bound(*given, **options):
        if len(given) > len(taken):
            raise Mismatch(f"{signature.name} has {len(taken)} arguments, not {len(given)}")
        values = {argument.name: value for argument, value in zip(taken, given)}
        values.update((camel(key), value) for key, value in options.items())
        unknown = values.keys() - {argument.name for argument in taken}
        if unknown:
            raise Mismatch(f"{signature.name} has no argument {', '.join(sorted(unknown))}")
        for argument in taken:
            word = w.word_of(values.get(argument.name))
            is_missing = argument.name not in values and not argument.optional
            if is_missing or word != w.NONE and not _accepts(argument, word, signature):
                raise Mismatch(f"{signature.name}: {argument.name} is {word}, not {' or '.join(sorted(argument.of.words))}")
        results = {argument.name: False if values.get(argument.name) is None else values[argument.name] for argument in signature.results
                   if argument in taken}
        return call(signature, {name: value for name, value in values.items() if name not in results and value is not None}, results)

    bound.__name__ = bound.__qualname__ = signature.name
    return bound
