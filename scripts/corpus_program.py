"""Writes the exported programs of files/corpus, and their contents as PyTorch reads them. Each version of PyTorch writes its own files.

    python scripts/corpus.py program     # with PyTorch 2.6, 2.8 and 2.15, one after the other
"""

import json
import pathlib
import zipfile

import torch
from torch._export.serde import schema
from torch._export.serde.serialize import _dict_to_dataclass
from torch._higher_order_ops.while_loop import while_loop

FILES = pathlib.Path(__file__).resolve().parent.parent / "files"
VERSION = ".".join(torch.__version__.split("+")[0].split(".")[:2])


class Net(torch.nn.Module):
    """Parameters, buffers and constants of several types, tied weights, and results in a dict."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(4)
        self.head = torch.nn.Linear(4, 4)
        self.tail = torch.nn.Linear(4, 4, bias=False)
        self.tail.weight = self.head.weight
        self.scale = torch.nn.Parameter(torch.ones(4, dtype=torch.bfloat16))
        self.register_buffer("cache", torch.zeros(2, 4))
        self.register_buffer("part", torch.arange(12.0).view(3, 4)[1:, ::2])
        self.register_buffer("steps", torch.tensor([3, 4], dtype=torch.int16), persistent=False)
        self.table = torch.arange(4).double()

    def forward(self, x, d):
        y = self.tail(self.head(self.norm(self.conv(x)).mean((2, 3)))) * self.scale + self.table
        self.cache.mul_(2)
        a, b = y.chunk(2, dim=1)
        n = y.shape[0] * 2
        return {"p": a, "q": (b + self.part.sum(), d["z"][:, :1].expand(n // 2, 3), n, None, 2.5, self.steps)}


class Flow(torch.nn.Module):
    """Branches, loops, lists, symbolic sizes and the kinds of arguments."""

    def forward(self, x, i):
        y = torch.cond(i.sum() > 0, lambda x: x.sin(), lambda x: x.cos() + 1, (x,))
        k, z = while_loop(lambda k, z: k < 3, lambda k, z: (k + 1, z * 2), (torch.tensor(0), x))
        n = i.max().item()
        torch._check(n >= 0)
        parts = torch.split(x, [1, x.shape[0] - 1])
        w = torch.cat([parts[1], y, torch.zeros(n, device="cpu")]).masked_fill(torch.tensor(True), float("-inf"))
        g = x.view(-1, 2)[:, i].to(torch.float16)
        h = torch.einsum("ij->i", g).clone(memory_format=torch.contiguous_format)
        # PyTorch 2.6 cannot write symbolic floats.
        return k, z, w, h, x.shape[0] * 3 if VERSION == "2.6" else x.shape[0] / 2, n + 1


class Train(torch.nn.Module):
    """Mutated buffers and inputs, and inputs with a fixed value."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(4)
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x, y, flag, name, none=None):
        self.count.add_(1)
        x.add_(y)
        return self.norm(x) if flag else x


def programs():
    """The programs by name."""
    dim = torch.export.Dim
    batch, half = dim("batch", min=1, max=64), dim("half", min=2, max=64)
    torch.manual_seed(1)
    args = torch.randn(2, 3, 8, 8), {"z": torch.randn(2, 4)}
    yield "net", torch.export.export(Net().eval(), args, dynamic_shapes=({0: batch}, {"z": {0: batch}}))
    args = torch.randn(6), torch.tensor([1, 0])
    yield "flow", torch.export.export(Flow(), args, dynamic_shapes=({0: 2 * half}, None))
    args = torch.randn(5, 4), 2, True, "text", None
    yield "train", torch.export.export(Train().train(), args).run_decompositions()


def named(arg):
    """An argument in the form of the tests."""
    kind, value = str(arg.type), arg.value
    name = lambda tensor: tensor.name
    maybe = lambda tensor: tensor.value.name if str(tensor.type) == "as_tensor" else None
    number = lambda number: {"name": number.value} if str(number.type) == "as_name" else plain(number.value)
    if kind == "as_none":
        return ["None"]
    if kind == "as_tensor":
        return ["Tensor", value.name]
    if kind == "as_tensors":
        return ["Tensors", list(map(name, value))]
    if kind == "as_optional_tensors":
        return ["Tensors", list(map(maybe, value))]
    if kind in ("as_int", "as_float", "as_bool"):
        return [kind[3:].title(), plain(value)]
    if kind in ("as_ints", "as_floats", "as_bools"):
        return [kind[3:].title(), list(map(plain, value))]
    if kind in ("as_sym_int", "as_sym_float", "as_sym_bool"):
        return [kind[7:].title(), number(value)]
    if kind in ("as_sym_ints", "as_sym_floats", "as_sym_bools"):
        return [kind[7:].title(), list(map(number, value))]
    if kind in ("as_string", "as_strings"):
        return ["Text" + kind[9:], value]
    if kind in ("as_scalar_type", "as_memory_format", "as_layout"):
        return [{"as_scalar_type": "Dtype", "as_memory_format": "MemoryFormat", "as_layout": "Layout"}[kind], int(value)]
    if kind == "as_device":
        return ["Device", value.type, value.index]
    if kind == "as_graph":
        return ["Graph", value.name, graph(value.graph)]
    return ["Other", kind]


def plain(number):
    """A number as JSON. Floats are texts, which keep infinities."""
    return repr(number) if isinstance(number, float) else number


def graph(graph):
    size = lambda size: size.value.expr_str if str(size.type) == "as_expr" else size.value
    meta = lambda meta: [int(meta.dtype), list(map(size, meta.sizes)), meta.requires_grad]
    node = lambda node: [node.target, [[input.name, named(input.arg)] for input in node.inputs], list(map(named, node.outputs))]
    return {"inputs": list(map(named, graph.inputs)), "outputs": list(map(named, graph.outputs)), "nodes": list(map(node, graph.nodes)),
            "tensors": {name: meta(graph.tensor_values[name]) for name in sorted(graph.tensor_values)}}


def role(spec):
    """The role of an input or output in the form of the tests."""
    kind, value = str(spec.type), spec.value
    if kind in ("user_input", "user_output", "loss_output"):
        return ["User"]
    if kind == "constant_input":
        return ["Fixed", named(value.value)]
    if kind == "buffer":
        return ["Buffer", value.buffer_name, value.persistent]
    names = {"parameter": ("Parameter", "parameter_name"), "tensor_constant": ("Constant", "tensor_constant_name"),
             "buffer_mutation": ("Mutation", "buffer_name"), "parameter_mutation": ("Mutation", "parameter_name"),
             "user_input_mutation": ("InputMutation", "user_input_name")}
    return [names[kind][0], getattr(value, names[kind][1])] if kind in names else ["Other", kind]


def tensor(tensor, storages):
    """A tensor in the form of the other tests, with the index of its storage."""
    where = storages.setdefault(tensor.untyped_storage()._cdata, len(storages))
    elements = [plain(x) for x in tensor.detach().double().flatten().tolist()] if tensor.is_floating_point() else tensor.flatten().tolist()
    return {"dtype": str(tensor.dtype)[6:], "sizes": list(tensor.shape), "strides": list(tensor.stride()), "storage": where,
            "elements": list(map(int, elements)) if not tensor.is_floating_point() else elements}


def described(path, model="model"):
    """A file as PyTorch reads it."""
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith((f"models/{model}.json", "serialized_exported_program.json")))
        program = _dict_to_dataclass(schema.ExportedProgram, json.loads(archive.read(name)))
    if model == "model":
        loaded = torch.export.load(path)
    else:
        from torch.export.pt2_archive._package import load_pt2

        loaded = load_pt2(str(path)).exported_programs[model]
    storages = {}
    tensors = {name: tensor(value, storages) for name, value in [*loaded.state_dict.items(), *loaded.constants.items()]}
    module = program.graph_module
    version = program.schema_version
    return {"tensors": tensors, "graph": graph(module.graph), "inputs": list(map(role, module.signature.input_specs)),
            "outputs": list(map(role, module.signature.output_specs)),
            "ranges": {symbol: [range.min_val, range.max_val] for symbol, range in program.range_constraints.items()},
            "metadata": {"schema_version": f"{version.major}.{version.minor}", "torch_version": program.torch_version,
                         "opset_version.aten": str(program.opset_version["aten"]),
                         "forward_arg_names": ", ".join(module.module_call_graph[0].signature.forward_arg_names)}}


def write(folder):
    expected = FILES / "tests" / "expected" / "program.json"
    rows = json.loads(expected.read_text()) if expected.exists() else {}
    for name, program in programs():
        path = folder / f"{name}_{VERSION}.pt2"
        torch.export.save(program, path)
        rows[path.name] = described(path)
    if VERSION == "2.15":
        from torch.export.pt2_archive._package import package_pt2

        path = folder / f"two_{VERSION}.pt2"
        both = {name: torch.export.export(torch.nn.Linear(2, size), (torch.ones(1, 2),)) for name, size in (("first", 1), ("second", 3))}
        package_pt2(str(path), exported_programs=both)
        for model in both:
            rows[f"{path.name}:{model}"] = described(path, model)
    lines = (f"{json.dumps(name)}: {json.dumps(rows[name])}" for name in sorted(rows))
    expected.write_text("{\n" + ",\n".join(lines) + "\n}\n")
