"""Exchange of elements without a copy: DLPack in both directions, and NumPy through it.

A capsule is an object of Python's C interface: a pointer with a name, and a destructor. A consumer that takes the struct adds `used_` in
front of the name. A struct that no consumer has taken must be freed after its capsule.

A destructor may run while a consumer raises an exception. A function of Python can then do everything except call a function: a call that
returns while an exception is set fails, and the exception is lost. Therefore the destructor reads the fields of the capsule from memory and
stores the struct, which is freed before the next exchange.
"""

import ctypes

from ._library import NULL, failure, ffi, lib

_capi = ctypes.pythonapi
_DESTRUCTOR = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, _DESTRUCTOR)(("PyCapsule_New", _capi))
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", _capi))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", _capi))
_rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", _capi))

# The structs by the names of their capsules, newest first. Names live as long as the capsules.
STRUCTS = {b"dltensor_versioned": "DLManagedTensorVersioned *", b"dltensor": "DLManagedTensor *"}
USED = {name: b"used_" + name for name in STRUCTS}
_buffers = {name: ctypes.create_string_buffer(name) for name in STRUCTS}
_types_by_address = {ctypes.addressof(_buffers[name]): c_type for name, c_type in STRUCTS.items()}

# The words of memory from address WORD on. After the object's header, a capsule has the pointer and the name.
WORD = ctypes.sizeof(ctypes.c_size_t)
HEADER = object.__basicsize__ // WORD
_memory = ctypes.cast(WORD, ctypes.POINTER(ctypes.c_size_t))
# The structs that nobody has taken: address and type.
_untaken = {}


@_DESTRUCTOR
def _store_untaken(capsule):
    at = capsule // WORD - 1 + HEADER
    if _memory[at + 1] in _types_by_address:
        _untaken[_memory[at]] = _types_by_address[_memory[at + 1]]


def free_untaken():
    """Frees the structs whose capsules have ended although nobody has taken them."""
    while _untaken:
        address, c_type = _untaken.popitem()
        managed = ffi.cast(c_type, address)
        managed.deleter(managed)


def to_capsule(tensor, max_version):
    """Returns the elements as a capsule. The capsule, and then the consumer, keep the elements alive."""
    free_untaken()
    versioned = max_version is not None and max_version[0] >= 1
    function = "THTensor_toDLPack" if versioned else "THTensor_toDLPackLegacy"
    managed = getattr(lib, function)(tensor.handle)
    if managed == NULL:
        raise failure(function)
    name = ctypes.addressof(_buffers[b"dltensor_versioned" if versioned else b"dltensor"])
    return _new(int(ffi.cast("intptr_t", managed)), name, _store_untaken)


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
