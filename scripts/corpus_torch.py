"""The PyTorch files of files/corpus, and their contents as PyTorch reads them."""

import collections
import io
import pickle
import re
import warnings
import zipfile

import numpy as np
import torch

warnings.filterwarnings("ignore")

KEPT = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
REFUSED = ("uint64", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2")

Point = collections.namedtuple("Point", "x y")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 2, 3)
        self.norm = torch.nn.BatchNorm2d(2)
        self.head = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 4))
        self.head[2].weight = torch.nn.Parameter(self.head[0].weight.detach().t())
        self.tied = self.head[0]
        self.register_buffer("steps", torch.tensor(7))
        self.register_buffer("none", None)
        self.title = "net"


class Plain:
    """An object whose attributes are read."""

    def __init__(self):
        self.weight = torch.arange(3)
        self.rate = 0.125


class Call:
    """An object that is pickled as a call."""

    def __init__(self, function, *args):
        self.call = function, args

    def __reduce__(self):
        return self.call


def values(dtype):
    start = 0 if dtype == "bool" or dtype.startswith("uint") else -3
    return torch.arange(start, start + 6).reshape(2, 3).to(getattr(torch, dtype))


def dtypes():
    return {name: values(name) for name in (*KEPT, "uint16", "uint32", *REFUSED)}


def shapes():
    base = torch.arange(24, dtype=torch.float32)
    return {
        "base": base,
        "matrix": base.view(4, 6),
        "transposed": base.view(4, 6).t(),
        "part": base.view(4, 6)[1:3, 2:5],
        "every": base[1::5],
        "expanded": base[3].expand(2, 3),
        "channels": torch.arange(16, dtype=torch.int16).reshape(1, 2, 2, 4).to(memory_format=torch.channels_last),
        "scalar": torch.tensor(-2.5, dtype=torch.float64),
        "empty": torch.zeros(0, 3),
        "none": torch.zeros(2, 0).t(),
        "short": torch.tensor([0, 65535], dtype=torch.uint16),
        "long": torch.tensor([0, 2**32 - 1], dtype=torch.uint32)[1:],
        "floats": torch.tensor([0.1, -0.0, float("inf"), float("-inf"), float("nan")]),
        "storage": torch.arange(3, dtype=torch.int32).storage(),
        "bytes": torch.arange(3, dtype=torch.uint8).untyped_storage(),
    }


def tree():
    shared = [torch.arange(2), 1]
    inside = []
    inside.append(inside)
    return {
        "list": [torch.ones(2), [torch.zeros(1), "text"], (), []],
        "tuple": (1, 2.5, True, None, -(2**31), 2**40, 2**70, -1),
        "ordered": collections.OrderedDict([("b", torch.tensor([1])), ("a", 2)]),
        "default": collections.defaultdict(list, {"k": [torch.tensor(3)]}),
        "counter": collections.Counter("aab"),
        5: {"int": 1, -1: 2, 0.5: 3, True: 4},
        "size": torch.Size([2, 3]),
        "device": torch.device("cuda", 1),
        "cpu": torch.device("cpu"),
        "dtype": torch.bfloat16,
        "numpy": [np.float32(0.1), np.float64(1e-300), np.int16(-5), np.uint8(255), np.bool_(True), np.int64(-(2**60)), np.float16(0.5)],
        "text": "ü\n\0 \"quoted\"",
        "long": "x" * 300,
        "set": {7},
        "frozen": frozenset([8]),
        "point": Point(1, torch.tensor(2)),
        "plain": Plain(),
        "raw": b"\x00\xff",
        "shared": [shared, shared],
        "inside": inside,
    }


def parameters():
    tagged = torch.arange(4.0)
    tagged.note = "attribute"
    noted = torch.nn.Parameter(torch.ones(1, 2))
    noted.note = 1
    array = np.arange(3, dtype=np.float32)
    return {"p": torch.nn.Parameter(torch.ones(2)), "b": torch.nn.Buffer(torch.zeros(2)), "tagged": tagged, "noted": noted,
            "numpy": Call(torch._utils._rebuild_device_tensor_from_numpy, array, torch.float32, "cpu", False),
            "xla": Call(torch._utils._rebuild_xla_tensor, array + 1, torch.float32, "cpu", False),
            "device": Call(torch._utils._rebuild_device_tensor_from_cpu_tensor, torch.arange(4), torch.int64, "cpu", False),
            "pairs": Call(collections.OrderedDict, [["x", torch.ones(1)], ["y", 2]])}


def arrays():
    base = np.arange(6).reshape(2, 3)
    kinds = {name: base.astype(name) for name in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", ">i4", ">u2", ">f8", "bool")}
    return kinds | {"fortran": np.asfortranarray(base + 0.5), "scalar": np.array(3.5), "none": np.zeros((0, 2)), "wide": base.astype("u8"),
                    "texts": np.array(["a", "b"]), "objects": np.array([1, "a"], dtype=object), "many": np.arange(200, dtype="u1")}


def odd():
    return {
        "coo": torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 3)),
        "csr": torch.eye(3).to_sparse_csr(),
        "quantised": torch.quantize_per_tensor(torch.ones(2, 2), 0.5, 1, torch.qint8),
        "channels": torch.quantize_per_channel(torch.ones(2, 2), torch.ones(2), torch.zeros(2), 0, torch.quint8),
        "conj": torch.ones(2, dtype=torch.complex64).conj(),
        "neg": torch.ones(2, dtype=torch.complex64).conj().imag,
        "meta": torch.empty(2, 2, device="meta"),
        "nested": torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
        "fine": torch.arange(3),
    }


def sparse():
    """Tensors of sparse layouts together with dense ones."""
    indices, values = [[0, 2, 0, 1], [1, 0, 1, 3]], [1.0, -2.5, 3.0, 0.0]
    coo = torch.sparse_coo_tensor(indices, values, (3, 4))
    csr = coo.to_dense().to_sparse_csr()
    short = torch.sparse_csr_tensor(csr.crow_indices().int(), csr.col_indices().int(), csr.values().double(), csr.shape)
    return {
        "dense": torch.arange(3),
        "coo": coo,
        "coalesced": coo.coalesce(),
        "hybrid": torch.sparse_coo_tensor([[2, 0]], [[1, 2, 3], [4, 5, 6]], (4, 3)),
        "cube": torch.sparse_coo_tensor([[0, 1], [2, 0], [1, 1]], torch.tensor([7, 8], dtype=torch.int16), (2, 3, 2)),
        "layers": [{"weight": torch.nn.Parameter(coo.coalesce())}, torch.ones(2)],
        "csr": csr,
        "short": short,
        "csc": coo.to_dense().to_sparse_csc(),
        "none": torch.sparse_coo_tensor((0, 3)),
        "bool": torch.sparse_coo_tensor([[1, 2]], [True, True], (3,)),
        "large": torch.sparse_coo_tensor([[2**29], [2**30]], [1.5], (2**30, 2**31)),
        "transposed": torch.sparse_coo_tensor(torch.tensor([[0, 1], [2, 3], [1, 1]]).t(), torch.arange(6.0)[::2], (3, 4)),
        "blocks": torch.eye(4).to_sparse_bsr((2, 2)),
        "batch": torch.ones(2, 3, 3).to_sparse_csr(),
        "complex": torch.sparse_coo_tensor([[1]], [1j], (3,)),
    }


def checkpoint():
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    adam = torch.optim.Adam(model.parameters(), lr=1e-3)
    model(torch.ones(4, 2)).square().sum().backward()
    adam.step()
    return {"epoch": 3, "loss": 0.25, "model": model.state_dict(), "optimizer": adam.state_dict()}


def rewritten(data, compression, change):
    """Returns the archive with the data of some entries replaced."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w", compression) as to:
        for name in source.namelist():
            to.writestr(name, change(name.split("/", 1)[1], source.read(name)))
    return out.getvalue()


def big_endian(name, data):
    if name == "byteorder":
        return b"big"
    return np.frombuffer(data, ">i4").astype("<i4").tobytes() if name.startswith("data/") else data


def stream_of_views():
    """A file in the format before 0.4, in which storages may be parts of others."""
    out = io.BytesIO()
    storage = torch.arange(10, dtype=torch.float32)

    class Part:
        def __init__(self, *part):
            self.part = part

    class Pickler(pickle.Pickler):
        def persistent_id(self, value):
            if isinstance(value, Part):
                start, len = value.part
                return ("storage", torch.FloatStorage, "root", "cpu", 10, (f"part{start}", start, len))

    for value in (0x1950A86A20F9469CFC6C, 1001, {"protocol_version": 1001, "little_endian": True, "type_sizes": {"long": 4}}):
        pickle.dump(value, out, 2)
    pickler = Pickler(out, 2)
    make = torch._utils._rebuild_tensor
    pickler.dump({"a": Call(make, Part(2, 4), 1, (3,), (1,)), "b": Call(make, Part(0, 10), 0, (2, 2), (5, 1)), "c": Part(7, 3)})
    # A key per storage, and a count before its elements.
    pickle.dump(["root"], out, 2)
    out.write((10).to_bytes(8, "little") + storage.numpy().tobytes())
    return out.getvalue()


def leaves(value, path, to, inside=()):
    """Names the entries of a value as thorn does."""
    def below(key):
        return f"{path}.{key}" if path else str(key)

    if isinstance(value, (torch.storage.TypedStorage, torch.UntypedStorage)):
        value = torch.tensor(value.tolist(), dtype=value.dtype if isinstance(value, torch.storage.TypedStorage) else torch.uint8)
    if isinstance(value, torch.nn.Module):
        to["metadata"] = None
        for key, tensor in value.state_dict().items():
            leaves(tensor, below(key), to)
    elif isinstance(value, (torch.Tensor, np.ndarray)):
        tensor_leaf(value, path, to)
    elif any(value is other for other in inside):
        pass
    elif isinstance(value, dict):
        for key, item in value.items():
            leaves(item, below(text(key)), to, (*inside, value))
    elif isinstance(value, (list, tuple, set, frozenset)):
        for index, item in enumerate(value):
            leaves(item, below(index), to, (*inside, value))
    elif isinstance(value, Plain):
        leaves(value.__dict__, path, to, inside)
    elif to["metadata"] is not None and value is not None and not isinstance(value, bytes):
        to["metadata"].append([path, text(value)])


def text(value):
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    # Exponents are written without a plus and without leading zeros.
    return re.sub(r"e\+?(-?)0?", r"e\1", str(value)) if isinstance(value, float) else str(value)


def tensor_leaf(value, path, to):
    kept = (*KEPT, "uint16", "uint32")
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biuf" or value.dtype == np.uint64:
            to["refused"].append(path)
            return
        dtype, strides, offset = value.dtype.name, [stride // value.itemsize for stride in value.strides], 0
        storage = len(to["storages"])
        to["storages"][path] = storage
        sizes, items = list(value.shape), value.flatten().tolist()
    else:
        dtype = str(value.dtype).split(".")[1]
        if value.layout != torch.strided and dtype in kept and sparse_leaf(value, dtype, path, to):
            return
        if dtype not in kept or value.layout != torch.strided or value.is_neg() or value.is_meta or value.is_nested:
            to["refused"].append(path)
            return
        storage = to["storages"].setdefault(value.untyped_storage()._cdata, len(to["storages"]))
        sizes, strides, offset, items = list(value.shape), list(value.stride()), value.storage_offset(), value.flatten().tolist()
        to["alive"].append(value)
    dtype = {"uint16": "int32", "uint32": "int64"}.get(dtype, dtype)
    elements = [repr(x) if isinstance(x, float) else int(x) for x in items]
    to["tensors"].append({"name": path, "dtype": dtype, "sizes": sizes, "strides": strides, "offset": offset, "storage": storage,
                          "elements": elements})


def sparse_leaf(value, dtype, path, to):
    """Adds a sparse tensor of a layout that thorn supports: its entries with their positions, in PyTorch's order."""
    if value.layout in (torch.sparse_csr, torch.sparse_csc):
        if value.dim() != 2 or value.dense_dim():
            return False
        values, entries = value.values(), value.to_sparse_coo()._indices().t()
    elif value.layout == torch.sparse_coo:
        values, entries = value._values(), value._indices().t()
    else:
        return False
    elements = [repr(x) if isinstance(x, float) else int(x) for x in values.detach().flatten().tolist()]
    to["sparse"].append({"name": path, "dtype": dtype, "sizes": list(value.shape), "positions": entries.tolist(), "elements": elements,
                         "layout": str(value.layout), "coalesced": value.layout == torch.sparse_coo and value.is_coalesced()})
    return True


def read(data, script=False):
    """Returns the contents of a file as PyTorch reads them."""
    to = {"tensors": [], "sparse": [], "refused": [], "metadata": [], "storages": {}, "alive": []}
    if script:
        leaves(torch.jit.load(io.BytesIO(data)), "", to)
    else:
        leaves(torch.load(io.BytesIO(data), weights_only=False), "", to)
    del to["storages"], to["alive"]
    return to


def saved(value, **options):
    out = io.BytesIO()
    torch.save(value, out, **options)
    return out.getvalue()


def write(to, expect):
    torch.manual_seed(1)
    # Files of the old format contain the source of modules if PyTorch finds the source.
    torch.serialization.get_source_lines_and_file = None
    legacy = {"_use_new_zipfile_serialization": False}
    made = {"dtypes": dtypes(), "shapes": shapes(), "tree": tree(), "parameters": parameters(), "arrays": arrays(), "odd": odd(),
            "sparse": sparse(), "checkpoint": checkpoint(), "module": Net(), "one": torch.arange(6).reshape(2, 3).t()}
    files = {}
    for name, value in made.items():
        files[f"{name}.pt"] = saved(value)
        # PyTorch writes these types in the old format, but cannot read them.
        left_out = ("uint16", "uint32", *REFUSED[:1], *REFUSED[3:], "short", "long", "bytes", "nested")
        if name in ("dtypes", "shapes", "odd"):
            value = {key: part for key, part in value.items() if key not in left_out}
        files[f"{name}_legacy.pt"] = saved(value, **legacy)
    for protocol in (3, 4, 5):
        files[f"tree_{protocol}.pt"] = saved(made["tree"], pickle_protocol=protocol)
    files["arrays_5.pt"] = saved(made["arrays"], pickle_protocol=5)
    files["arrays_4_legacy.pt"] = saved(made["arrays"], pickle_protocol=4, **legacy)
    files["module_5.pt"] = saved(made["module"], pickle_protocol=5)
    numbers = saved({"a": torch.arange(6, dtype=torch.int32).reshape(2, 3), "b": torch.tensor([-1, 2**31 - 1], dtype=torch.int32)})
    files["big.pt"] = rewritten(numbers, zipfile.ZIP_STORED, big_endian)
    files["deflated.pt"] = rewritten(saved([made["shapes"], made["arrays"]]), zipfile.ZIP_DEFLATED, lambda name, data: data)
    files["views_legacy.pt"] = stream_of_views()
    # Checksums are 0 if PyTorch is set to compute none.
    torch.serialization.set_crc32_options(False)
    unsigned = [np.uint16(65535), np.uint32(2**32 - 1), np.uint64(2**64 - 1), np.array(7, ">u8")[()]]
    files["unchecked.pt"] = saved({"a": torch.arange(3.0), "unsigned": unsigned})
    torch.serialization.set_crc32_options(True)
    for name, data in files.items():
        (to / name).write_bytes(data)
    expected = {name: read(data) for name, data in files.items()}
    script = io.BytesIO()
    torch.jit.save(torch.jit.script(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())), script)
    (to / "script.pt").write_bytes(script.getvalue())
    expected["script.pt"] = read(script.getvalue(), script=True)
    expect("torch", expected)
