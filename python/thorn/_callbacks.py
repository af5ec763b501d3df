"""Functions of Python that the library calls: hooks, custom gradients, closures, and functions of elements.

All functions of one type of C share one callback of cffi. The callback finds the function by its context, an object that `ffi.new_handle`
has made. An exception must not pass through the library: the callback stores it and returns TH_ERR_CALLBACK, and the exception becomes the
cause of the error that the call raises.
"""

import threading

from ._handles import CLASSES
from ._library import NULL, check, ffi, lib

_raised = threading.local()
# The contexts that the library has stored, by address. cffi's handles are valid as long as a variable refers to them.
_live = {}


def take_raised():
    """Returns the exception of the last callback on this thread, once."""
    error, _raised.error = getattr(_raised, "error", None), None
    return error


def _address(context):
    return int(ffi.cast("intptr_t", context))


def take_back(context):
    """Ends the life of a context that the library has stored."""
    _live.pop(_address(context), None)


@ffi.callback("THDeleter")
def deleter(data, context):
    # Python sets the variables of modules to None when the process ends.
    if _live is not None:
        take_back(context)


def _tensors(array, count):
    return [CLASSES["Tensor"].share(array[i]) for i in range(count)]


def _hand_over(targets, count, values):
    """Makes each of the library's handles show a tensor that the function returned, with its history. None leaves the handle unchanged."""
    values = (values,) if values is None or isinstance(values, CLASSES["Tensor"]) else tuple(values)
    if len(values) > count:
        raise ValueError(f"the function returned {len(values)} tensors instead of {count}")
    for i, value in enumerate(values):
        if value is not None and targets[i] != NULL:
            check(lib.THTensor_set(targets[i], value.handle), "THTensor_set")


def _store(place, value):
    if value is not None:
        place[0] = value


def _replace(function, gradient, replacement):
    value = function(CLASSES["Tensor"].share(gradient))
    if value is not None:
        lib.THTensor_retain(value.handle)
        replacement[0] = value.handle


def _rule(function, call, sources, source_count, targets, target_count):
    _hand_over(targets, target_count, function(call, *_tensors(sources, source_count)))


def _read(function, buffer, size):
    read = function(size)
    if len(read) > size:
        raise ValueError(f"the function read {len(read)} bytes instead of at most {size}")
    ffi.memmove(buffer, read, len(read))
    return len(read)


# The position of the context among the arguments of a callback, and the action of the callback, by the type in C.
RUNS = {
    "THApplyFunction": (1, lambda f, x: _store(x, f(x[0]))),
    "THMapFunction": (2, lambda f, x, y: _store(x, f(x[0], y))),
    "THMap2Function": (3, lambda f, x, y, z: _store(x, f(x[0], y, z))),
    "THGradHook": (2, _replace),
    "THGradRule": (5, _rule),
    "THGradFunction": (4, lambda f, sources, m, targets, n: _hand_over(targets, n, f(*_tensors(sources, m)))),
    "THOptimClosure": (0, lambda f, loss: _store(loss, float(f()))),
    "THProgressFunction": (2, lambda f, iteration, residual: f(iteration, residual) and None),
    "THMemoryHook": (0, lambda f, live: f(live)),
    "THReadFunction": (0, _read),
    "THSeekFunction": (0, lambda f, offset, whence: f(offset, whence)),
    "THCudaCallback": (0, lambda f: f()),
}
_failures = {"THReadFunction": -1, "THSeekFunction": -1}
# The callbacks that exist, by the type in C and the name of the argument: `forward` and `backward` have one type.
_made = {}


def _callback(c_type, name):
    """Returns the callback for an argument, which calls the function of this name in the context."""
    at, run = RUNS[c_type]
    returns_value = c_type in _failures
    is_void = ffi.typeof(c_type).result.kind == "void"

    def called(*arguments):
        value = run(ffi.from_handle(arguments[at])[name], *arguments[:at], *arguments[at + 1:])
        return None if is_void else value if returns_value else 0

    def failed(kind, error, trace):
        _raised.error = error

    options = {} if is_void else {"error": _failures.get(c_type, lib.TH_ERR_CALLBACK)}
    return ffi.callback(c_type, called, onerror=failed, **options)


def lend_to(signature, given):
    """Returns the values in C for the callbacks of a call, with context and deleter, by the names of the arguments, and the context.
    `given` has the functions by the names of the arguments. A context without a deleter is valid as long as the caller refers to it."""
    context, values = ffi.new_handle(given), {}
    for argument in signature.arguments:
        if argument.name in given:
            key = argument.type, argument.name
            if key not in _made:
                _made[key] = _callback(*key)
            values[argument.name] = _made[key]
        elif argument.kind == "context":
            values[argument.name] = context
        if argument.kind == "deleter":
            values[argument.name] = deleter
        # The library may call the function after this call.
        if argument.kind in ("deleter", "hook", "cuda_callback"):
            _live[_address(context)] = context
    return values, context
