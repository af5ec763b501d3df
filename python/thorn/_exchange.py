"""Exchange of elements without a copy: DLPack in both directions, and NumPy through it.

A capsule is an object of Python's C interface: a pointer with a name, and a destructor. A consumer that takes the struct adds `used_` in
front of the name. The destructor frees a struct that no consumer has taken.
"""

import ctypes

from ._library import NULL, failure, ffi, lib

_capi = ctypes.pythonapi
_DESTRUCTOR = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _DESTRUCTOR)(("PyCapsule_New", _capi))
# The destructor receives the address of a capsule that must not get another reference; other functions receive the object.
_is_valid_at = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _capi))
_pointer_at = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _capi))
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", _capi))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", _capi))
_rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", _capi))

# The structs by the names of their capsules, newest first.
STRUCTS = {b"dltensor_versioned": "DLManagedTensorVersioned *", b"dltensor": "DLManagedTensor *"}
# The names must live as long as the capsules.
USED = {name: b"used_" + name for name in STRUCTS}


@_DESTRUCTOR
def _free_untaken(capsule):
    for name, c_type in STRUCTS.items():
        if _is_valid_at(capsule, name):
            managed = ffi.cast(c_type, _pointer_at(capsule, name))
            managed.deleter(managed)


def to_capsule(tensor, max_version):
    """Returns the elements as a capsule. The capsule, and then the consumer, keep the elements alive."""
    versioned = max_version is not None and max_version[0] >= 1
    function = "THTensor_toDLPack" if versioned else "THTensor_toDLPackLegacy"
    managed = getattr(lib, function)(tensor.handle)
    if managed == NULL:
        raise failure(function)
    return _new(int(ffi.cast("intptr_t", managed)), b"dltensor_versioned" if versioned else b"dltensor", _free_untaken)


def from_producer(array):
    """Returns a new pointer to a tensor that shares the elements of an object with `__dlpack__`."""
    try:
        capsule = array.__dlpack__(max_version=(1, 0))
    except TypeError:  # a producer that does not support versions
        capsule = array.__dlpack__()
    name = next((name for name in STRUCTS if _is_valid(capsule, name)), None)
    if name is None:
        raise BufferError("__dlpack__ returned no capsule with a tensor")
    take = lib.THTensor_newFromDLPack if name == b"dltensor_versioned" else lib.THTensor_newFromDLPackLegacy
    pointer = take(ffi.cast(STRUCTS[name], _pointer(capsule, name)))
    if pointer == NULL:
        raise failure("THTensor_newFromDLPack")
    # The tensor, not the capsule, calls the deleter from now on.
    _rename(capsule, USED[name])
    return pointer
