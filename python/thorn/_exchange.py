"""Exchange of elements without a copy: DLPack in both directions, and NumPy through it.

A capsule is an object of Python's C interface: a pointer with a name. A consumer that takes the struct adds `used_` in front of the name. A
struct that no consumer takes must be freed. A destructor of the capsule would have to be a function of C, because a consumer may end the
capsule while it raises an exception. Therefore this module refers to each capsule until it is taken, or until nobody else refers to it.
"""

import ctypes
import sys

from ._library import NULL, failure, ffi, lib

_capi = ctypes.pythonapi


def _function(name, result, *arguments):
    return ctypes.PYFUNCTYPE(result, *arguments)((f"PyCapsule_{name}", _capi))


_new = _function("New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_is_valid = _function("IsValid", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
_pointer = _function("GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
_rename = _function("SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)

# The structs by the names of their capsules, newest first. Names live as long as the capsules.
STRUCTS = {b"dltensor_versioned": "DLManagedTensorVersioned *", b"dltensor": "DLManagedTensor *"}
USED = {name: b"used_" + name for name in STRUCTS}
# The capsules that may still be taken.
_offered = []


def _name_of(capsule):
    """Returns the name of a capsule whose struct has not been taken; None for others."""
    return next((name for name in STRUCTS if _is_valid(capsule, name)), None)


def _take(capsule, name):
    """Returns the struct of a capsule, which does not own the struct any more."""
    managed = ffi.cast(STRUCTS[name], _pointer(capsule, name))
    _rename(capsule, USED[name])
    return managed


def free_untaken():
    """Forgets the capsules that were taken, and frees the structs that nobody can take any more."""
    for _ in range(len(_offered)):
        capsule = _offered.pop(0)
        name = _name_of(capsule)
        # The references are the variable and the argument, which newer versions of Python do not count.
        if name and sys.getrefcount(capsule) <= 2:
            managed = _take(capsule, name)
            managed.deleter(managed)
        elif name:
            _offered.append(capsule)


def to_capsule(tensor, max_version):
    """Returns the elements as a capsule. The consumer keeps the elements alive."""
    free_untaken()
    versioned = max_version is not None and max_version[0] >= 1
    function = "THTensor_toDLPack" if versioned else "THTensor_toDLPackLegacy"
    managed = getattr(lib, function)(tensor.handle)
    if managed == NULL:
        raise failure(function)
    capsule = _new(int(ffi.cast("intptr_t", managed)), b"dltensor_versioned" if versioned else b"dltensor", None)
    _offered.append(capsule)
    return capsule


def shareable(array):
    """Returns an array, or a copy if strides of the array are negative or its elements are not aligned."""
    is_aligned = getattr(getattr(array, "flags", None), "aligned", True)
    return array if is_aligned and all(stride >= 0 for stride in getattr(array, "strides", ())) else array.copy()


def from_producer(array):
    """Returns a new pointer to a tensor that shares the elements of an object with `__dlpack__`."""
    if not hasattr(array, "__dlpack__"):
        raise TypeError(f"{type(array).__name__} has no elements to share; thorn.tensor copies numbers and lists")
    free_untaken()
    try:
        capsule = array.__dlpack__(max_version=(1, 0))
    except TypeError:  # a producer that does not support versions
        capsule = array.__dlpack__()
    name = _name_of(capsule)
    if name is None:
        raise BufferError("__dlpack__ returned no capsule with a tensor")
    function = "THTensor_newFromDLPack" if name == b"dltensor_versioned" else "THTensor_newFromDLPackLegacy"
    pointer = getattr(lib, function)(ffi.cast(STRUCTS[name], _pointer(capsule, name)))
    if pointer == NULL:
        raise failure(function)
    # The tensor, not the capsule, calls the deleter from now on.
    _rename(capsule, USED[name])
    return pointer
