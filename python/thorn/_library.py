"""Finds the shared library, loads it, and declares its functions to cffi.

`lib` has the functions and constants of C, and `ffi` is the instance of cffi that declares them. The wheel contains the parsed declarations
as the module `_cdef`, because parsing takes 0.3 s. In the source tree, the library itself returns its declarations.
"""

import os
import sys
from pathlib import Path

# The binary interface that this package was written for.
ABI_VERSION = 0

HERE = Path(__file__).parent


def _declarations(path):
    """Returns the declarations, as the library at this path returns them, in an instance of cffi."""
    import cffi

    probe = cffi.FFI()
    probe.cdef("const char *THCdef(void);")
    declared = cffi.FFI()
    declared.cdef(probe.string(probe.dlopen(path).THCdef()).decode())
    return declared


def _path():
    """Returns the path of the library: named by the environment, next to this file, in the source tree, or found by the system's loader."""
    named = os.environ.get("THORN_LIBRARY") or os.environ.get("THORN_LIB")
    near = (HERE / "lib" / "libthorn.so.0", HERE / "../../build/lib/libthorn.so")
    return named or next((str(path) for path in near if path.exists()), "libthorn.so.0")


def _load():
    path = _path()
    try:
        from ._cdef import ffi
    except ImportError:
        ffi = _declarations(path)
    lib = ffi.dlopen(path)
    if lib.THAbiVersion() != ABI_VERSION:
        raise ImportError(f"{path} has the binary interface {lib.THAbiVersion()}; this package needs {ABI_VERSION}")
    return ffi, lib, path


try:
    ffi, lib, path = _load()
except OSError as error:
    raise ImportError(f"thorn: the library is not found; the variable THORN_LIBRARY may name it ({error})") from None

NULL = ffi.NULL


class Error(RuntimeError):
    """A failed call. `status` is the code, `TH_ERR_SHAPE` for example, `message` the library's message, and `function` the name of the
    called function."""

    def __init__(self, status, message, function):
        super().__init__(message)
        self.status, self.message, self.function = status, message, function

    def __reduce__(self):
        return Error, (self.status, self.message, self.function)

    @property
    def name(self):
        """The name of the status."""
        return ffi.string(ffi.cast("THStatus", self.status))


def failure(function):
    """Returns the exception for the library's last error. An exception that a callback raised is its cause."""
    error = Error(int(lib.THGetLastErrorCode()), ffi.string(lib.THGetLastError()).decode(errors="replace"), function)
    callbacks = sys.modules.get("thorn._callbacks")
    error.__cause__ = callbacks.take_raised() if callbacks else None
    return error


def check(status, function):
    """Raises an exception unless the status is success."""
    if status != 0:
        raise failure(function)


def check_code(function):
    """Raises an exception if the last call set an error. The caller has cleared the error before the call."""
    if lib.THGetLastErrorCode() != 0:
        raise failure(function)
