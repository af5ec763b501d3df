"""thorn from Python by ctypes, for the examples in this folder: tensors that come from NumPy and PyTorch, and go there.

Nothing has to be compiled or installed. THORN_LIB names the library if it is not in this source tree.
"""

import ctypes
import os

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def load():
    places = [os.environ.get("THORN_LIB"), f"{ROOT}/build/lib/libthorn.so", f"{ROOT}/target/release/libthorn.so"]
    return ctypes.CDLL(next((path for path in places if path and os.path.exists(path)), "libthorn.so.0"))


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned up to its deleter. Only thorn and the other library need the rest."""


class Legacy(ctypes.Structure):
    """DLManagedTensor, the struct before DLPack 1."""


Versioned._fields_ = [("version", ctypes.c_uint32 * 2), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.CFUNCTYPE(None, ctypes.POINTER(Versioned)))]
Legacy._fields_ = [("tensor", ctypes.c_char * 48), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.CFUNCTYPE(None, ctypes.POINTER(Legacy)))]
# The structs by the names of their capsules. A consumer that takes a struct adds `used_` in front of the capsule's name.
STRUCTS = {b"dltensor_versioned": Versioned, b"dltensor": Legacy}
USED = {name: b"used_" + name for name in STRUCTS}

TH = load()
TH.THGetLastError.restype = ctypes.c_char_p
for name in ["newFromBlob", "newFromDLPack", "newFromDLPackLegacy", "toDLPack", "toDLPackLegacy", "data", "newSelect"]:
    getattr(TH, f"THTensor_{name}").restype = ctypes.c_void_p
TH.THTensor_sumall.restype = ctypes.c_double
TH.THTensor_toString.restype = ctypes.c_void_p

# Capsules are objects of Python's C interface: a pointer with a name, and a destructor that is called when the last reference is gone.
DESTRUCTOR = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
capi = ctypes.pythonapi
capi.PyCapsule_New.restype = ctypes.py_object
capi.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, DESTRUCTOR]
for name, result in [("IsValid", ctypes.c_int), ("GetPointer", ctypes.c_void_p), ("SetName", ctypes.c_int)]:
    function = getattr(capi, f"PyCapsule_{name}")
    function.restype = result
    function.argtypes = [ctypes.c_void_p, ctypes.c_char_p]


@DESTRUCTOR
def end_capsule(capsule):
    """Frees a tensor that no consumer has taken."""
    for name, struct in STRUCTS.items():
        if capi.PyCapsule_IsValid(capsule, name):
            managed = ctypes.cast(capi.PyCapsule_GetPointer(capsule, name), ctypes.POINTER(struct))
            managed.contents.deleter(managed)


def given(pointer):
    """Returns the pointer that a function has returned, or raises an exception with the message."""
    if not pointer:
        raise RuntimeError(TH.THGetLastError().decode())
    return pointer


def tried(status):
    """Checks the status that a function has returned."""
    if status != 0:
        raise RuntimeError(TH.THGetLastError().decode())


class Tensor:
    """One reference to a THTensor, with the two methods by which other libraries read its elements without a copy."""

    def __init__(self, handle):
        self.handle = ctypes.c_void_p(given(handle))

    def __del__(self):
        if hasattr(self, "handle"):
            TH.THTensor_free(self.handle)

    def __repr__(self):
        text = given(TH.THTensor_toString(self.handle, None))
        try:
            return ctypes.string_at(text).decode()
        finally:
            TH.THFree(ctypes.c_void_p(text))

    def __dlpack_device__(self):
        return (1, 0)  # kDLCPU

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if stream is not None or copy or dl_device not in (None, (1, 0)):
            raise BufferError("the elements are in the memory of the host, and are shared")
        if max_version is not None and max_version[0] >= 1:
            return capi.PyCapsule_New(given(TH.THTensor_toDLPack(self.handle)), b"dltensor_versioned", end_capsule)
        return capi.PyCapsule_New(given(TH.THTensor_toDLPackLegacy(self.handle)), b"dltensor", end_capsule)


def from_dlpack(array):
    """A tensor that shares the elements of any object with `__dlpack__`: a NumPy array, a PyTorch tensor."""
    try:
        capsule = array.__dlpack__(max_version=(1, 0))
    except TypeError:  # a library that does not support versions
        capsule = array.__dlpack__()
    address = ctypes.c_void_p(id(capsule))
    versioned = capi.PyCapsule_IsValid(address, b"dltensor_versioned")
    name, take = (b"dltensor_versioned", TH.THTensor_newFromDLPack) if versioned else (b"dltensor", TH.THTensor_newFromDLPackLegacy)
    tensor = Tensor(take(ctypes.c_void_p(capi.PyCapsule_GetPointer(address, name))))
    # Thorn, not the capsule, calls the deleter from now on. The memory of the new name must stay valid.
    capi.PyCapsule_SetName(address, USED[name])
    return tensor
