"""Returned values of C as values of Python, by kind.

A conversion takes the value, the name of the function in C, the first argument, and what the new handle must keep alive. A value that may
also be valid means a failure only if the library has set an error. The caller clears the error before the call.
"""

from . import _words
from ._handles import CLASSES
from ._library import NULL, check_code, failure, ffi, lib

RETURNED = {}


def _define(kinds):
    def store(convert):
        for kind in kinds.split():
            RETURNED[kind] = convert
        return convert
    return store


@_define("number accumulated")
def _number(value, function, owner, kept):
    if value != value:
        check_code(function)
    return value


@_define("descriptor count size stride integer length offset")
def _whole(value, function, owner, kept):
    if value == -1:
        check_code(function)
    return value


@_define("int bytes seed device_type generator_kind file_format block_type")
def _small(value, function, owner, kept):
    if value == 0:
        check_code(function)
    return value


@_define("flag")
def _flag(value, function, owner, kept):
    return _small(value, function, owner, kept) != 0


@_define("dtype")
def _dtype(value, function, owner, kept):
    return _words.DType(_small(value, function, owner, kept))


@_define("borrowed_text")
def _borrowed_text(value, function, owner, kept):
    if value == NULL:
        return check_code(function)
    return ffi.string(value).decode(errors="replace")


@_define("new_text")
def _new_text(value, function, owner, kept):
    text = _borrowed_text(value, function, owner, kept)
    lib.THFree(value)
    return text


@_define("new_or_null")
def _new_or_none(value, function, owner, kept):
    return check_code(function) if value == NULL else CLASSES["Tensor"].own(value, function)


@_define("borrowed_storage")
def _storage(value, function, owner, kept):
    return check_code(function) if value == NULL else CLASSES["Storage"].share(value)


@_define("memory")
def _memory(value, function, owner, kept):
    return check_code(function) if value == NULL else value


@_define("dlpack dlpack_legacy")
def _struct(value, function, owner, kept):
    if value == NULL:
        raise failure(function)
    return value


@_define("borrowed_sizes")
def _sizes(value, function, owner, kept, ndim=None):
    if value == NULL:
        check_code(function)
    ndim = owner.handle.nDimension if ndim is None else ndim
    return tuple(value[d] for d in range(ndim)) if value != NULL else ()


@_define("nothing")
def _nothing(value, function, owner, kept):
    return None


def _wrapper(name):
    # An archive reads the memory, or calls the functions, from which it was opened.
    return lambda value, function, owner, kept: CLASSES[name].own(value, function, kept if name == "Archive" else None)


for _kind, _name in {
    "new": "Tensor", "new_storage": "Storage", "new_sparse": "STensor", "new_generator": "Generator", "new_fused": "Fused",
    "new_optim": "Optim", "new_program": "Program", "new_archive": "Archive", "new_cuda_stream": "CudaStream",
    "new_cuda_event": "CudaEvent", "new_cuda_graph": "CudaGraph", "new_map_context": "MapAllocatorContext",
}.items():
    RETURNED[_kind] = _wrapper(_name)

# The functions that return the number of the sizes of an entry of an archive or program, by the functions that return the sizes.
RANKS = {
    "THArchive_sizes": "THArchive_ndim",
    "THProgram_inputMinSizes": "THProgram_inputNdim", "THProgram_inputMaxSizes": "THProgram_inputNdim",
    "THProgram_outputMinSizes": "THProgram_outputNdim", "THProgram_outputMaxSizes": "THProgram_outputNdim",
}
