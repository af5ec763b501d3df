"""One call of one function of C.

`call(signature, values, results, dtype)` converts the values, makes the results that are missing, calls the library, and returns the
results or the returned value. `values` has the parameters by name; a missing one has its default. `results` has given results by name: a
handle is written to, False omits an optional result, and a missing one or True is new, with the dtype if there is one.
"""

from . import _callbacks
from ._handles import CLASSES
from ._library import NULL, check_code, failure, ffi, lib
from ._returned import RANKS, RETURNED


def fresh(dtype, function):
    """Returns a new tensor, without elements, optionally with a dtype."""
    return CLASSES["Tensor"].own(lib.THTensor_new() if dtype is None else lib.THTensor_newWithDtype(int(dtype)), function)


def _fresh_list(given, count, dtype, function):
    given = list(given or [])
    return given + [fresh(dtype, function) for _ in range(count - len(given))]


def _default(argument):
    if argument.kind == "dtype":
        return lib.THGetDefaultDtype()
    if argument.kind == "optional_dtype":
        return lib.TH_UNDEFINED
    if argument.of.group == "text" and argument.value is not None:
        return argument.value.encode()
    return NULL if argument.value is None or argument.of.group == "list" else argument.value


def _length(length, values, dimensions, function):
    """Returns the common length of the lists, some of which may be missing."""
    counts = {len(values[of.name]) for of in length.lists if of.name in values}
    if len(counts) > 1:
        raise ValueError(f"{function}: lists of {' and '.join(map(str, sorted(counts)))} entries should have one length")
    return counts.pop() if counts else -1 if length.kind == "len_or_whole" else dimensions or 0


def _result(argument, values, results, dtype, function, count):
    """Returns the result for an argument, as a list if the function has a list of results."""
    group, given = argument.of.group, results.get(argument.name)
    if given is False:
        return None
    if group == "struct":
        return ffi.new(argument.type)
    if group == "out_handles":
        return _fresh_list(given, len(values[argument.like.name]) if argument.like else count, dtype, function)
    if given is not None and given is not True:
        return given
    return CLASSES["STensor"].own(lib.THSTensor_new(), function) if group == "sparse" else fresh(dtype, function)


def _fields(struct):
    """Returns the fields of a struct as a dict."""
    found = {}
    for name, field in ffi.typeof(struct).item.fields:
        value = getattr(struct, name)
        if field.type.kind == "array":
            value = ffi.string(value).decode() if field.type.item.cname == "char" else bytes(value)
        found[name] = value
    return found


def _list_of_new(signature, arguments, function):
    """Calls a function that returns a list of handles twice: the first call returns their number."""
    count = ffi.new("int *")
    at = next(i for i, argument in enumerate(signature.arguments) if argument.of.group == "new_handles")
    arguments[at + 1] = count
    for room in (NULL, None):
        arguments[at] = ffi.new("THTensor *[]", count[0]) if room is None else room
        if getattr(lib, signature.name)(*arguments) != 0:
            raise failure(function)
    tensor = CLASSES["Tensor"]
    return [tensor.own(arguments[at][i], function) if arguments[at][i] != NULL else None for i in range(count[0])]


def _broadcast(values, signature):
    """One number stands for a list of equal numbers, if the name of the function has the number of dimensions."""
    for argument in signature.parameters:
        value = values.get(argument.name)
        if argument.of.group == "list" and hasattr(value, "__index__"):
            values[argument.name] = [value] * signature.dimensions


def call(signature, values, results, dtype=None, count=1):
    """Calls the function of C. `count` is the number of results of a function that does not know it."""
    function, keep, made, arguments, owner = signature.name, [], {}, [], None
    if signature.dimensions:
        values = dict(values)
        _broadcast(values, signature)
    callbacks = {of.name: values[of.name] for of in signature.parameters if of.of.group == "callback" and callable(values.get(of.name))
                 and not isinstance(values[of.name], ffi.CData)}
    lent, context = _callbacks.lend_to(signature, callbacks) if callbacks else ({}, None)
    keep.append(context)
    for argument in signature.arguments:
        group, value = argument.of.group, values.get(argument.name)
        if argument.name in lent:
            arguments.append(lent[argument.name])
        elif argument.of.role == "parameter":
            owner = value if owner is None else owner
            given = value if value is None or argument.of.give is None else argument.of.give(value, argument, keep)
            arguments.append(_default(argument) if value is None else given)
        elif argument.of.role == "result" and group != "new_handles":
            made[argument.name] = result = _result(argument, values, results, dtype, function, count)
            if group == "struct":
                arguments.append(result)
            else:
                arguments.append(NULL if result is None else argument.of.give(result, argument, keep))
        elif group in ("length", "handle_count"):
            lists = {**values, **{name: value for name, value in made.items() if isinstance(value, list)}}
            arguments.append(_length(argument, lists, signature.dimensions, function))
        else:
            arguments.append(NULL)
    if any(argument.of.group == "new_handles" for argument in signature.results):
        return _list_of_new(signature, arguments, function)
    lib.THClearLastError()
    value = getattr(lib, function)(*arguments)
    if signature.returns == "status" and value != 0:
        if context is not None:
            _callbacks.take_back(context)
        raise failure(function)
    return _outcome(signature, made, value, owner, keep, values, context)


def _outcome(signature, made, value, owner, keep, values, context):
    """Returns the results of a call that has ended, or its returned value."""
    function = signature.name
    results = [_fields(result) if isinstance(result, ffi.CData) else result for result in made.values()]
    if len(results) == 1 and isinstance(results[0], list):
        results = results[0]
    if signature.returns == "status":
        if not made:
            first = signature.parameters[0] if signature.parameters else None
            return owner if first and first.kind in ("inout", "handle", "emptied", "sparse_inout") else None
        return results[0] if len(results) == 1 else tuple(results)
    if function in RANKS:
        return RETURNED["borrowed_sizes"](value, function, owner, keep, getattr(lib, RANKS[function])(owner.handle, values["index"]))
    if function == "THCuda_deviceCount":
        return value
    if context is not None and value == -1:
        _callbacks.take_back(context)
        check_code(function)
    value = RETURNED[signature.returns](value, function, owner, keep)
    return (*results, value) if made else value
