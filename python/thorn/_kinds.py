"""The kinds of arguments in Python: the accepted values, and their conversion to C.

A kind has
    words     the words of the accepted values; None is accepted if the argument is optional
    role      "result", "parameter", or None for lengths, which follow from lists
    give      give(value, argument, keep) returns the value in C; `keep` is a list of what must live until the call returns
    group     the word for similar kinds: "tensor", "number", "list"
`KINDS` maps the names of the table to kinds.
"""

import os
from collections import namedtuple

from . import _words as w
from ._handles import CLASSES
from ._library import NULL, ffi, lib

KINDS = {}


Kind = namedtuple("Kind", "words role give group")


def handle(value, argument, keep):
    return value.handle


def operand(value, argument, keep):
    """Arrays of other libraries are shared for the time of the call."""
    if w.word_of(value) == w.ARRAY:
        value = CLASSES["Tensor"].of(value)
        keep.append(value)
    return value.handle


def positions(value, argument, keep):
    if w.word_of(value) in (w.INTS, w.EMPTY):
        array = ffi.new("int64_t[]", list(value))
        made = CLASSES["Tensor"].own(lib.THTensor_newFromData(lib.TH_INT64, 1, [len(value)], array), argument.name)
        keep.append(made)
        return made.handle
    return operand(value, argument, keep)


def itself(value, argument, keep):
    return value


def whole(value, argument, keep):
    return value.__index__()


def number(value, argument, keep):
    return float(value)


def flag(value, argument, keep):
    return 1 if value else 0


def text_of(value):
    encoded = value if isinstance(value, bytes) else os.fspath(value).encode("utf-8", "surrogateescape")
    if b"\0" in encoded:
        raise ValueError(f"a text has a zero byte: {value!r}")
    return encoded


def text(value, argument, keep):
    keep.append(ffi.new("char[]", text_of(value)))
    return keep[-1]


def code(value, argument, keep):
    """Returns the value of a constant, which is a number or a name. The prefix that the constants of a kind share may be omitted:
    "floor" means TH_DIV_FLOOR."""
    if not isinstance(value, str):
        return value.__index__()
    wanted, prefix = value.upper().removeprefix("TH_").replace("-", "MINUS_"), argument.default or "TH_"
    while "_" in prefix:
        prefix = prefix.rpartition("_")[0]
        constant = getattr(lib, f"{prefix}_{wanted}", None)
        if constant is not None:
            return constant
    raise ValueError(f"{argument.name} has no value {value!r}")


def dtype(value, argument, keep):
    return int(w.dtype_of(value))


def numbers(value, argument, keep):
    keep.append(ffi.new("int64_t[]", [entry.__index__() for entry in value]))
    return keep[-1]


def handles(value, argument, keep):
    element = argument.type.replace("const *", "").replace("const ", "")
    keep.append(ffi.new(element + "[]", [t.handle if t is not None else NULL for t in value]))
    return keep[-1]


def memory(value, argument, keep):
    if not isinstance(value, ffi.CData):
        value = ffi.from_buffer(value)
    keep.append(value)
    return ffi.cast("void *", value) if ffi.typeof(value).kind == "array" else value


def options(value, argument, keep):
    """Options of printing are a dict. Options that the dict lacks keep their defaults."""
    if isinstance(value, ffi.CData):
        return value
    struct = ffi.new("THPrintOptions *")
    lib.THPrintOptions_init(struct)
    for name, given in value.items():
        setattr(struct, name, given)
    keep.append(struct)
    return struct


def define(group, role, words, give, names):
    for name in names.split():
        KINDS[name] = Kind(frozenset(words), role, give, group)


NUMBERS, WHOLE = {w.INT, w.FLOAT, w.FLAG}, {w.INT, w.LONG}
define("tensor", "result", {w.TENSOR}, handle, "out optional_out view_out truth totals optional_totals pivots_out optional_info")
define("tensor", "result", {w.TENSOR}, handle, "indices optional_indices")
define("tensor", "parameter", {w.TENSOR, w.ARRAY}, operand, "input optional_input mask pivots")
define("tensor", "parameter", {w.TENSOR}, handle, "inout handle emptied shared optional_state")
define("tensor", "parameter", {w.TENSOR, w.ARRAY, w.INTS, w.EMPTY}, positions, "index optional_index")
define("sparse", "result", {w.SPARSE}, handle, "sparse_out")
define("number", "parameter", NUMBERS, number, "number factor parameter double")
define("number", "parameter", WHOLE, whole, "entry offset dim size stride count integer length seed int status")
define("flag", "parameter", {w.FLAG}, flag, "flag")
define("code", "parameter", {w.INT, w.TEXT}, code,
       "code flags block_type div_mode distance_mode pad_mode matrix_norm bag_mode reduce reduction interpolation resampling memory_format "
       "device_type generator_kind fan file_format")
define("dtype", "parameter", {w.DTYPE, w.TEXT}, dtype, "dtype other_dtype optional_dtype")
define("length", None, (), None, "len len_or_whole")
define("handle_count", None, (), None, "handle_count")
define("count_inout", None, (), None, "count_inout")
define("list", "parameter", {w.INTS, w.EMPTY}, numbers,
       "sizes optional_sizes strides optional_strides counts optional_counts dims optional_dims entries")
define("handles", "parameter", {w.TENSORS, w.EMPTY}, handles, "inputs")
define("handles", "parameter", {w.TENSORS, w.GAPS, w.EMPTY}, handles, "optional_inputs list_or_null")
define("handles", "parameter", {w.SPARSES, w.EMPTY}, handles, "sparse_inputs")
define("out_handles", "result", {w.TENSORS, w.EMPTY}, handles, "outs")
define("new_handles", "result", (), None, "new_handles")
define("text", "parameter", {w.TEXT, w.BUFFER}, text, "text optional_text")
define("memory", "parameter", {w.CDATA}, memory, "memory memory_or_null required_memory context deleter allocator grad_call "
       "dlpack dlpack_legacy arrow_schema arrow_array")
define("memory", "parameter", {w.CDATA, w.BUFFER}, memory, "memory_input")
define("callback", "parameter", {w.CALLABLE, w.CDATA}, None, "hook apply_function map_function map2_function read_function seek_function "
       "cuda_callback grad_hook grad_rule grad_function optim_closure progress")
define("memory", "parameter", {w.FILE, w.CDATA}, itself, "stream")
define("memory", "parameter", {w.OPTIONS, w.CDATA}, options, "print_options")
define("struct", "result", (), None, "cuda_memory_out cuda_properties_out stats_out print_options_out")
for name, of in {
    "STensor": "sparse sparse_inout sparse_or_null", "Storage": "storage storage_out storage_input",
    "Generator": "generator required_generator", "Fused": "fused fused_or_null", "Optim": "optim optim_or_null",
    "Program": "program program_or_null", "Archive": "archive archive_or_null", "CudaStream": "cuda_stream cuda_stream_or_null",
    "CudaEvent": "cuda_event cuda_event_or_null", "CudaGraph": "cuda_graph cuda_graph_or_null", "MapAllocatorContext": "map_context",
}.items():
    define("sparse" if name == "STensor" else "handle", "parameter", {name}, handle, of)

# Without a dtype, a new tensor has the default dtype, and an operation chooses its own.
OPTIONAL = {"dtype", "optional_dtype", "list_or_null", "context", "deleter"}
