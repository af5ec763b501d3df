"""Shows thorn's handles in gdb, by the types of include/thorn.h in a program compiled with -g.

    (gdb) source /usr/local/share/thorn/thorn.py
    (gdb) print t
    $1 = 0x5555555592c0: float32 [2, 3], strides [3, 1]: [[1, 1, 1], [1, 1, 1]]

A pointer is shown with its first values, `print *t` with more fields and as many values as `show print elements` allows, `print/r *t` as a
plain struct. The fields of freed or overwritten handles may have any value: impossible values are reported, and nothing is read outside of
a storage.
"""
import struct

import gdb
import gdb.printing

# code: name, bytes, format of the struct module. A bfloat16 is the upper half of a float32.
DTYPES = {
    1: ("uint8", 1, "B"),
    2: ("int8", 1, "b"),
    3: ("int16", 2, "h"),
    4: ("int32", 4, "i"),
    5: ("int64", 8, "q"),
    6: ("float16", 2, "e"),
    7: ("bfloat16", 2, None),
    8: ("float32", 4, "f"),
    9: ("float64", 8, "d"),
    10: ("bool", 1, "?"),
}
CPU, CUDA = 1, 2
SCALAR = 2  # TH_TENSOR_SCALAR
REFCOUNTED = 1  # TH_TENSOR_REFCOUNTED and TH_STORAGE_REFCOUNTED
STORAGE_FLAGS = {1: "refcounted", 2: "resizable", 4: "freemem", 8: "view"}

FEW = 12  # values shown for a pointer
MOST = 10000  # values if gdb sets no limit
DIMENSIONS = 1 << 16  # more dimensions mean damage
NESTED = 16  # with more dimensions all values are in one row


class Damage(Exception):
    """The reason why the fields of a handle are invalid."""


def read(address, size):
    try:
        return bytes(gdb.selected_inferior().read_memory(address % 2**64, size))
    except gdb.error:
        raise Damage(f"no memory at {address % 2**64:#x}") from None


def longs(pointer, count):
    return struct.unpack(f"<{count}q", read(int(pointer), 8 * count))


def unpack_float(code, raw):
    return struct.unpack("<f", b"\0\0" + raw)[0] if code is None else struct.unpack("<" + code, raw)[0]


def pack_float(code, number):
    if code is not None:
        return struct.pack("<" + code, number)
    bits = int.from_bytes(struct.pack("<f", number), "little")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).to_bytes(2, "little")


def shortest(code, raw):
    """The shortest text that identifies this float."""
    number = unpack_float(code, raw)
    for digits in range(1, 18):
        text = f"{number:.{digits}g}"
        try:
            if pack_float(code, float(text)) == raw:
                break
        except OverflowError:  # rounded beyond the largest number of a narrower type
            continue
    text = repr(float(text))
    return text[:-2] if text.endswith(".0") else text


def element(dtype, raw):
    """The text of one element."""
    name, _, code = DTYPES[dtype]
    if name == "bool":
        return "true" if raw != b"\0" else "false"
    return shortest(code, raw) if "float" in name else str(struct.unpack("<" + code, raw)[0])


def dtype_name(dtype):
    if dtype == 0:
        return "undefined dtype"
    return DTYPES[dtype][0] if dtype in DTYPES else f"unknown dtype {dtype}"


def listed(numbers):
    """A list of numbers. A long list ends with dots."""
    shown = [str(number) for number in numbers[:NESTED]]
    return "[" + ", ".join(shown + ["..."] * (len(numbers) > NESTED)) + "]"


def freed(handle, what=""):
    """A note about a reference count that no live handle has, or nothing."""
    refcount = int(handle["refcount"])
    return f", {what}freed: refcount {refcount}" if int(handle["flag"]) & REFCOUNTED and refcount <= 0 else ""


def device(handle):
    kind, index = int(handle["deviceType"]), int(handle["deviceIndex"])
    return "" if kind == CPU else f", on GPU {index}" if kind == CUDA else f", unknown device {kind}"


def flags(flag):
    names = [STORAGE_FLAGS.get(bit, hex(bit)) for bit in (1 << i for i in range(8)) if flag & bit]
    return " ".join(names) or "no flags"


def values(dtype, data, sizes, strides, first, limit):
    """The elements of a view of `data` in order, at most `limit`, with brackets for the dimensions."""
    left = limit
    width = DTYPES[dtype][1]

    def at(position):
        nonlocal left
        left -= 1
        return element(dtype, read(data + position * width, width))

    def nested(dimension, position):
        if dimension == len(sizes):
            return at(position)
        items = []
        for index in range(sizes[dimension]):
            if left <= 0:
                items.append("...")
                break
            items.append(nested(dimension + 1, position + index * strides[dimension]))
        return "[" + ", ".join(items) + "]"

    def row():
        index = [0] * len(sizes)
        while left > 0:
            yield at(first + sum(i * stride for i, stride in zip(index, strides)))
            last = len(sizes) - 1
            while last >= 0 and index[last] == sizes[last] - 1:
                index[last] = 0
                last -= 1
            if last < 0:
                return
            index[last] += 1
        yield "..."

    if 0 in sizes:
        return "[]"
    return nested(0, first) if len(sizes) <= NESTED else " ".join(row())


def storage_text(storage, limit, full):
    dtype, size = int(storage["dtype"]), int(storage["size"])
    yield f"{dtype_name(dtype)}, {size} element{'' if size == 1 else 's'}{device(storage)}{freed(storage)}"
    if full:
        yield f", refcount {int(storage['refcount'])}, {flags(int(storage['flag']) & 0xff)}, data {int(storage['data']):#x}"
        if int(storage["view"]):
            yield f", view of {int(storage['view']):#x}"
    if size < 0:
        raise Damage(f"size {size}")
    if dtype in DTYPES and int(storage["deviceType"]) == CPU:
        yield ": " + values(dtype, int(storage["data"]), [size], [1], 0, limit)


def tensor_text(tensor, limit, full):
    dtype, dimensions = int(tensor["dtype"]), int(tensor["nDimension"])
    yield dtype_name(dtype)
    if not 0 <= dimensions <= DIMENSIONS:
        raise Damage(f"nDimension {dimensions}")
    if dimensions:
        sizes = longs(tensor["size"], dimensions)
        yield f" {listed(sizes)}"
        strides = longs(tensor["stride"], dimensions)
        yield f", strides {listed(strides)}"
    elif int(tensor["flag"]) & SCALAR:
        sizes = strides = ()
        yield " []"
    else:
        sizes, strides = (0,), (1,)
        yield ", no elements"
    first, address = int(tensor["storageOffset"]), int(tensor["storage"])
    yield f"{device(tensor)}{freed(tensor)}"
    if full:
        yield f", offset {first}, refcount {int(tensor['refcount'])}, storage {address:#x}"
    if any(size < 0 for size in sizes):
        raise Damage("negative size")
    if dtype not in DTYPES or int(tensor["deviceType"]) != CPU or 0 in sizes:
        return

    if address == 0:
        raise Damage("no storage")
    storage = tensor["storage"].dereference()
    if int(storage["dtype"]) != dtype:
        raise Damage(f"the storage is {dtype_name(int(storage['dtype']))}")
    ends = [(size - 1) * stride for size, stride in zip(sizes, strides)]
    lowest, highest = first + sum(min(end, 0) for end in ends), first + sum(max(end, 0) for end in ends)
    if lowest < 0 or highest >= int(storage["size"]):
        raise Damage(f"elements {lowest} to {highest} of a storage with {int(storage['size'])}")
    yield freed(storage, "storage ")
    yield ": " + values(dtype, int(storage["data"]), sizes, strides, first, limit)


TEXTS = {"THTensor": tensor_text, "THStorage": storage_text}


def text_of(handle, text, limit, full):
    """Describes a handle up to its first invalid field."""
    parts = []
    try:
        for part in text(handle, limit, full):
            parts.append(part)
    except Damage as damage:
        parts.append(f" <damaged: {damage}>")
    except gdb.error as error:
        parts.append(f" <{error}>")
    return "".join(parts).strip()


class Struct:
    def __init__(self, handle, text):
        self.handle, self.text = handle, text

    def to_string(self):
        limit = gdb.parameter("print elements") or MOST
        return "{" + text_of(self.handle, self.text, min(limit, MOST), full=True) + "}"


class Pointer:
    def __init__(self, pointer, text):
        self.pointer, self.text = pointer, text

    def to_string(self):
        try:
            address = int(self.pointer)
        except gdb.error as error:
            return f"<{error}>"
        if address == 0:
            return "0x0"
        shown = text_of(self.pointer.dereference(), self.text, FEW, full=False)
        return f"{address:#x}: {shown}" if gdb.parameter("print address") else shown


class Printers(gdb.printing.PrettyPrinter):
    def __init__(self):
        super().__init__("thorn")

    def __call__(self, value):
        kind, printer = value.type.strip_typedefs(), Struct
        if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            value = value.referenced_value()
            kind = value.type.strip_typedefs()
        if kind.code == gdb.TYPE_CODE_PTR:
            kind, printer = kind.target().strip_typedefs(), Pointer
        text = TEXTS.get(kind.tag)
        return printer(value, text) if text else None


gdb.printing.register_pretty_printer(None, Printers(), replace=True)
