"""Writes files of Torch7 after its documentation (doc/serialization.md and doc/file.md of github.com/torch/torch7).

Torch7 itself can hardly be built any more. The Python package torchfile, an independent reader, reads the binary files with longs of eight
bytes.
"""

import pathlib
import struct
import tempfile

import numpy

TYPES = {"Byte": "uint8", "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64", "Float": "float32", "Double": "float64",
         "Half": "float16"}


class Storage:
    def __init__(self, kind, values, prefix="torch."):
        self.name = prefix + ("" if (prefix, kind) == ("torch.Cuda", "Float") else kind)
        self.values = numpy.asarray(values, TYPES[kind])


class Tensor:
    """A view of a storage; `first` counts from zero."""

    def __init__(self, storage, sizes, strides=None, first=0):
        self.storage, self.sizes, self.first = storage, sizes, first
        self.strides = strides or [int(numpy.prod(sizes[k + 1:])) for k in range(len(sizes))]

    def array(self):
        values = self.storage.values
        return numpy.lib.stride_tricks.as_strided(values[self.first:], self.sizes, [stride * values.itemsize for stride in self.strides])


class Object:
    def __init__(self, name, value, old=False):
        self.name, self.value, self.old = name, value, old


class Function:
    def __init__(self, code, upvalues, kind=8):
        self.code, self.upvalues, self.kind = code, upvalues, kind


class File:
    def __init__(self, ascii=False, long=8):
        self.ascii, self.long, self.out, self.objects = ascii, long, bytearray(), {}

    def numbers(self, kind, values):
        if self.ascii:
            text = {"f": "%.9g", "d": "%.17g", "e": "%.9g"}.get(kind, "%d")
            if len(values):
                self.out += " ".join(text % value for value in values).encode() + b"\n"
        else:
            self.out += struct.pack(f"<{len(values)}{kind}", *values)

    def int(self, *values):
        self.numbers("i", values)

    def longs(self, values):
        self.numbers("q" if self.long == 8 else "i", [int(value) for value in values])

    def raw(self, data):
        self.out += data + (b"\n" if self.ascii and data else b"")

    def string(self, data):
        data = data.encode() if isinstance(data, str) else data
        self.int(len(data))
        self.raw(data)

    def known(self, value):
        """Writes the index of a value, and returns whether it was written before."""
        known = id(value) in self.objects
        index, _ = self.objects.setdefault(id(value), (len(self.objects) + 1, value))
        self.int(index)
        return known

    def value(self, value):
        if value is None:
            self.int(0)
        elif isinstance(value, bool):
            self.int(5)
            self.int(int(value))
        elif isinstance(value, (int, float)):
            self.int(1)
            self.numbers("d", [value])
        elif isinstance(value, (str, bytes)):
            self.int(2)
            self.string(value)
        elif isinstance(value, (dict, list)):
            self.int(3)
            if not self.known(value):
                entries = value.items() if isinstance(value, dict) else enumerate(value, 1)
                self.int(len(value))
                for key, entry in entries:
                    self.value(key.value if isinstance(key, Key) else key)
                    self.value(entry)
        elif isinstance(value, Function):
            self.int(value.kind)
            if value.kind == 6 or not self.known(value):
                self.string(value.code)
                self.value(value.upvalues)
        else:
            self.int(4)
            if not self.known(value):
                self.object(value)

    def object(self, value):
        name = value.storage.name.replace("Storage", "") if isinstance(value, Tensor) else value.name
        name += "Tensor" if isinstance(value, Tensor) else "Storage" if isinstance(value, Storage) else ""
        if not getattr(value, "old", False):
            self.string("V 1")
        self.string(name)
        if isinstance(value, Tensor):
            self.int(len(value.sizes))
            self.longs(value.sizes)
            self.longs(value.strides)
            self.longs([value.first + 1])
            self.value(value.storage)
        elif isinstance(value, Storage):
            self.longs([len(value.values)])
            if value.values.itemsize == 1:
                self.raw(value.values.tobytes())
            elif value.values.dtype == "int64":
                self.longs(value.values)
            else:
                kind = {"int16": "h", "int32": "i", "float16": "e", "float32": "f", "float64": "d"}[value.values.dtype.name]
                self.numbers(kind, value.values)
        elif name == "tds.Vec":
            self.int(len(value.value))
            self.value(None)
            for entry in value.value:
                self.value(entry)
        else:
            self.value(value.value)


class Key:
    """A table that is a key of another table."""

    def __init__(self, value):
        self.value = value


def write(path, value, **form):
    file = File(**form)
    file.value(value)
    path.write_bytes(file.out)


def dtypes():
    every = {kind: Tensor(Storage(kind, numpy.arange(6) * 7 - (0 if kind == "Byte" else 20)), [2, 3]) for kind in TYPES}
    floats = [0.1, -0.0, 1e-40, 3.5e38, float("inf"), -float("inf"), float("nan"), 1 / 3, 1e300, 5e-324]
    with numpy.errstate(over="ignore"):
        return every | {kind.lower(): Tensor(Storage(kind, floats), [len(floats)]) for kind in ("Half", "Float", "Double")}


def model(oldest=True):
    """A module as nn saves it, and the other kinds of Lua values."""
    weights = Storage("Float", numpy.arange(20) / 4)
    weight, bias = Tensor(weights, [3, 4]), Tensor(weights, [3], first=12)
    linear = Object("nn.Linear", {"weight": weight, "bias": bias, "train": True, "_type": "torch.FloatTensor"})
    gpu = Storage("Float", [1.5, -2, 3], prefix="torch.Cuda")
    table = {"modules": [linear, Object("nn.Reshape", {"size": Storage("Long", [3, 4]), "batch": False}), linear]}
    table |= {
        "tied": weight,
        "transposed": Tensor(weights, [4, 3], [1, 4]),
        "expanded": Tensor(weights, [2, 3], [0, 1], 12),
        "scalar": 0.25,
        "count": 3,
        "none": None,
        "raw": b"\xff\x00bytes",
        "text": "line 1\nline 2, ü",
        "empty": Tensor(None, []),
        "gpu": Tensor(gpu, [3]),
        "forward": Function(b"\x1bLJ code", [{"name": "self", "value": table}]),
        "legacy": Function(b"\x1bLua", [], kind=7),
        "oldest": Function(b"\x1bLua", [1.0], kind=6),
        "old": Object("nn.Old", {"gain": 2.0}, old=True),
        "words": Object("tds.Vec", ["the", "end"]),
        "nested": {"1": {"a.b": True, "": 1}},
        Key({"id": 7}): "by table",
    }
    if not oldest:
        del table["oldest"]
    table["empty"].storage = Storage("Double", [])
    table["me"] = table
    return Object("nn.Sequential", table)


def corpus(to):
    """Writes the files, and returns torchfile's reading of each."""
    import torchfile

    for ending, form in {"": {}, "_ascii": {"ascii": True}, "_windows": {"long": 4}}.items():
        write(to / f"dtypes{ending}.t7", dtypes(), **form)
        write(to / f"model{ending}.t7", model(), **form)
    storage = Storage("Double", numpy.arange(30))
    write(to / "tensor.t7", Tensor(storage, [5, 4], [1, 7], 2))
    write(to / "tensor_ascii.t7", Tensor(storage, [5, 4], [1, 7], 2), ascii=True)
    # The files that torchfile reads. It refuses files with half, and it expects an index for functions of type 6, which Torch7 does not
    # write.
    others = {name: tensor for name, tensor in dtypes().items() if name not in ("Half", "half")}
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "others.t7"
        write(path, others)
        read = {name.decode(): values for name, values in torchfile.load(str(path)).items()}
        write(path, model(oldest=False))
        net = torchfile.load(str(path))
    read |= {name: dtypes()[name].array() for name in ("Half", "half")}
    expected = {"dtypes": read}
    linear = net.modules[0]
    tensors = {"modules.1.weight": linear.weight, "modules.1.bias": linear.bias, "modules.2.size": net.modules[1].size, "tied": net.tied,
               "transposed": net.transposed, "expanded": net.expanded, "empty": net.empty, "gpu": net.gpu}
    expected["tensor"] = {"": torchfile.load(str(to / "tensor.t7"))}
    return expected | {"model": tensors}
