"""Checks that files written by thorn-files open in the programs that define the formats: files of the corpus are rewritten and compared.

    python scripts/files_interop.py [FORMAT ...]     # needs the packages that scripts/corpus.py needs
"""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT / "files" / "corpus"
BUILD = ["cargo", "build", "--quiet", "--package", "thorn-files", "--example", "rewrite", "--message-format", "json"]


def rewriter():
    """The path of the example that rewrites files."""
    import json

    for line in subprocess.run(BUILD, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout.splitlines():
        message = json.loads(line)
        if message.get("target", {}).get("name") == "rewrite" and message.get("executable"):
            return message["executable"]
    raise SystemExit("the example rewrite was not built")


REWRITE = rewriter()


def rewrite(source, to, *more):
    subprocess.run([REWRITE, str(source), str(to), *map(str, more)], check=True, stderr=subprocess.PIPE)
    return to


def check(same, *what):
    if not same:
        raise SystemExit(f"not the same: {what}")


def widened(array):
    """An array as thorn reads it: unsigned integers of 16 and 32 bits become wider ones, and bytes have this machine's order."""
    return array.astype({"u2": "i4", "u4": "i8"}.get(array.dtype.str[1:], array.dtype.newbyteorder("=")))


def same(a, b):
    import numpy as np

    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def npy(to):
    import numpy as np

    for source in sorted((CORPUS / "npy").iterdir()):
        if source.stem in ("complex", "uint64", "text", "bytes", "object", "time", "fields", "names"):
            continue
        array = np.load(rewrite(source, to / "a.npy"), allow_pickle=False)
        check(same(array, widened(np.load(source))), source.name, array)


def npz(to):
    import numpy as np

    for name in ("stored.npz", "deflated.npz", "names.npz", "none.npz"):
        for code in (6, 7):
            read = np.load(rewrite(CORPUS / "npz" / name, to / "a.npz", code), allow_pickle=False)
            wanted = np.load(CORPUS / "npz" / name)
            refused = ("complex", "uint64", "text", "bytes", "object", "time", "fields")
            check(read.files == [key for key in wanted.files if key not in refused], name, read.files)
            check(read.zip.testzip() is None, name)
            for key in read.files:
                check(same(read[key], widened(wanted[key])), name, code, key, read[key])


def same_tensors(a, b):
    layout = a.dtype == b.dtype and a.shape == b.shape and a.stride() == b.stride() and a.storage_offset() == b.storage_offset()
    return layout and repr(a.tolist()) == repr(b.tolist())


def same_state(a, b, at):
    """Compares tensors by name, and checks which of them share a storage."""
    check(list(a) == list(b), at, list(a), list(b))
    keys = [{}, {}]
    for name in a:
        if isinstance(a[name], str):
            check(a[name] == b[name], at, name)
            continue
        check(same_tensors(a[name], b[name]), at, name, a[name], b[name])
        shared = [known.setdefault(x[name].untyped_storage()._cdata, name) for known, x in zip(keys, (a, b))]
        check(shared[0] == shared[1], at, name, shared)


def random_state(seed):
    """Tensors by name: of all types, transposed, cut, expanded, empty, and with shared storages."""
    import random

    import torch

    draw = random.Random(seed)
    torch.manual_seed(seed)
    kinds = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
    state, bases = {}, []
    for index in range(draw.randrange(1, 12)):
        if not bases or draw.random() < 0.6:
            sizes = [draw.choice((0, 1, 2, 3, 5)) for _ in range(draw.randrange(5))]
            bases.append((torch.randn(sizes) * 50).to(getattr(torch, draw.choice(kinds))))
        tensor = draw.choice(bases)
        for _ in range(draw.randrange(3)):
            if tensor.dim() and draw.random() < 0.5:
                dim = draw.randrange(tensor.dim())
                start = draw.randrange(tensor.shape[dim] + 1)
                tensor = tensor.narrow(dim, start, draw.randrange(tensor.shape[dim] - start + 1))
            elif tensor.dim() > 1:
                tensor = tensor.transpose(*draw.sample(range(tensor.dim()), 2))
            else:
                tensor = tensor.expand(2, *tensor.shape)
        state[f"layer.{index}.{draw.choice(('weight', 'bias', 'ü'))}"] = tensor
    return state


def random_tree(draw, tensors, depth):
    """Nested dicts, lists and tuples with tensors, numbers and texts."""
    import collections

    kind = draw.randrange(8) if depth else 3 + draw.randrange(5)
    if kind < 3:
        items = [random_tree(draw, tensors, depth - 1) for _ in range(draw.randrange(5))]
        keys = [draw.choice((index, f"key{index}", index + 0.5)) for index in range(len(items))]
        return (items, tuple(items), draw.choice((dict, collections.OrderedDict))(zip(keys, items)))[kind]
    if kind < 6:
        return draw.choice(tensors)
    return draw.choice((True, None, draw.randrange(-(2**40), 2**70), draw.random(), -1e30, "text ü", ""))


def same_as_expected(path, wanted, name):
    """Compares a rewritten file with PyTorch's reading of the original: tensors, and metadata as texts."""
    import corpus_torch
    import torch

    read = torch.load(path, weights_only=True)
    tensors = {key: value for key, value in read.items() if not isinstance(value, str)}
    for wanted_sparse in wanted["sparse"]:
        found = tensors.pop(wanted_sparse["name"])
        check(str(found.layout) == wanted_sparse["layout"] and list(found.shape) == wanted_sparse["sizes"], name, found)
        again = {"sparse": [], "refused": []}
        corpus_torch.tensor_leaf(found, wanted_sparse["name"], again)
        check(again["sparse"] == [wanted_sparse], name, again)
    check(list(tensors) == [tensor["name"] for tensor in wanted["tensors"]], name, list(tensors))
    for tensor in wanted["tensors"]:
        found = tensors[tensor["name"]]
        elements = [repr(x) if isinstance(x, float) else int(x) for x in found.flatten().tolist()]
        check((elements, list(found.shape)) == (tensor["elements"], tensor["sizes"]), name, tensor["name"])
        if name != "views_legacy.pt":
            check((list(found.stride()), found.storage_offset()) == (tensor["strides"], tensor["offset"]), name, tensor["name"])
    if wanted["metadata"] is not None:
        check([[k, v] for k, v in read.items() if isinstance(v, str)] == wanted["metadata"], name, read)


def pt(to):
    import json
    import random

    import corpus_torch
    import torch

    for seed in range(200):
        state = random_state(seed)
        source = to / "a.pt"
        options = {"_use_new_zipfile_serialization": seed % 2 == 0, "pickle_protocol": (2, 3, 4, 5)[seed // 2 % 4]}
        torch.save(state, source, **options)
        # Read and written twice: PyTorch's file, and thorn's.
        for path in (rewrite(source, to / "b.pt"), rewrite(to / "b.pt", to / "c.pth")):
            same_state(torch.load(path, weights_only=True), state, seed)
            same_state(torch.load(path, weights_only=True, mmap=True), state, seed)
        draw = random.Random(seed)
        tree = {"root": [random_tree(draw, list(state.values()), 4) for _ in range(3)]}
        torch.save(tree, source, **options)
        same_as_expected(rewrite(source, to / "b.pt"), corpus_torch.read(source.read_bytes()), seed)
    one = torch.load(rewrite(CORPUS / "torch" / "one.pt", to / "one.pt"), weights_only=True)
    check(same_tensors(one, torch.load(CORPUS / "torch" / "one.pt")), "one.pt", one)
    expected = json.loads((ROOT / "files" / "tests" / "expected" / "torch.json").read_text())
    for name, wanted in expected.items():
        if name not in ("one.pt", "one_legacy.pt"):
            same_as_expected(rewrite(CORPUS / "torch" / name, to / "a.pt"), wanted, name)


def same_bytes(name, found, expected):
    import numpy

    found, expected = numpy.asarray(found), numpy.asarray(expected)
    check(found.dtype == expected.dtype and found.shape == expected.shape and found.tobytes() == expected.tobytes(), name, found, expected)


def t7(to):
    """Binary Torch7 files, read by torchfile."""
    import numpy
    import torchfile
    from safetensors.numpy import save_file

    types = ("uint8", "int8", "int16", "int32", "int64", "float32", "float64")
    expected = {name: numpy.arange(6).astype(name).reshape(2, 3) for name in types}
    layers = {"modules.1.weight": numpy.eye(3, dtype="float32"), "modules.2.weight": numpy.ones((0, 3), "float32")}
    save_file(expected | layers, to / "a.safetensors", metadata={"note": "text"})
    for source in [to / "a.safetensors", rewrite(rewrite(to / "a.safetensors", to / "a.t7a"), to / "b.t7")]:
        found = torchfile.load(str(rewrite(source, to / "c.t7")))
        for name, values in expected.items():
            same_bytes(name, found[name.encode()], values)
        same_bytes("modules.1.weight", found.modules[0].weight, layers["modules.1.weight"])
        assert found.modules[1].weight.size == 0 and found.note == b"text"
    # Two tensors of one storage, one of them transposed.
    before = torchfile.load(str(CORPUS / "t7" / "tensor.t7"))
    after = torchfile.load(str(rewrite(CORPUS / "t7" / "tensor.t7", to / "tensor.t7")))
    same_bytes("tensor", after, before)
    assert after.strides == before.strides


def images(to):
    """PNG and PNM, read by Pillow."""
    import numpy
    from PIL import Image

    for source in sorted((CORPUS / "images").iterdir()):
        before = Image.open(source)
        if "sixteen" in source.name:
            continue
        modes = {"clear.png": "LA", "palette.png": "RGB", "palette_clear.png": "RGBA", "bits.png": "L"}
        expected = numpy.asarray(before.convert(modes.get(source.name, before.mode)))
        same_bytes(source.name, Image.open(rewrite(source, to / "a.png")), expected)
        if expected.shape[2:] in ((), (3,)):
            same_bytes(source.name, Image.open(rewrite(source, to / "a.pnm")), expected)
    texts = {"Title": "a text", "Long": "many words, " * 100, "Comment": "ü, compressed"}
    assert Image.open(rewrite(CORPUS / "images" / "gray.png", to / "a.png")).text == texts


def csv(to):
    import numpy as np
    import pandas as pd

    for source in sorted((CORPUS / "csv").iterdir()):
        for separator, name in ((",", "a.csv"), ("\t", "a.tsv")):
            array = np.load(rewrite(source, to / "a.npy"))
            text = rewrite(source, to / name)
            names = "pandas" in source.name and "bare" not in source.name
            frame = pd.read_csv(text, sep=separator, float_precision="round_trip", header=0 if names else None)
            check(same(frame.to_numpy(dtype=np.float64), array), source.name, name)
            if names:
                check("say \"c\"" in frame.columns and "a, b" in frame.columns, list(frame.columns))
            else:
                check(same(np.loadtxt(text, delimiter=separator), array), source.name, name)
            digits = pd.read_csv(rewrite(source, text, 10 if separator == "," else 11, 4), sep=separator, header=0 if names else None)
            finite = np.isfinite(array)
            check(np.allclose(digits.to_numpy(dtype=np.float64)[finite], array[finite], rtol=1e-3, atol=0), source.name)


def big(to):
    """Archives of more than 4 GB, in a sparse file, and of more than 65535 entries, which the other tests leave out."""
    import os
    import zipfile

    import torch

    for name, variable in (("storages_of_more_than_4_gb", "FILES_BIG"), ("archives_with_65536_entries", "FILES_ZIP64")):
        command = ["cargo", "test", "--quiet", "--package", "thorn-files", name]
        subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, variable: str(to / variable)}, stdout=subprocess.PIPE)
    read = torch.load(to / "FILES_BIG", weights_only=True, mmap=True)
    check(read["big"].shape == (2**32 + 7,) and read["big"][-2:].tolist() == [0, 7] and read["small"].item() == 0.5, read)
    archive = zipfile.ZipFile(to / "FILES_ZIP64")
    check(len(archive.infolist()) == 65536 and archive.read("65535") == b"\xff", archive)


def market(to):
    """Matrix Market, read by SciPy; also SciPy's archives of the same matrices."""
    import numpy as np
    import scipy.io
    import scipy.sparse as sp

    def dense(matrix):
        return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()

    for source in sorted((CORPUS / "market").iterdir()):
        wanted = scipy.io.mmread(source)
        if isinstance(wanted, np.ndarray):
            continue
        found = scipy.io.mmread(rewrite(source, to / "a.mtx"))
        check(found.nnz == wanted.nnz and same(dense(found), dense(wanted)), source.name, found)
        for code in (6, 7):
            found = sp.load_npz(rewrite(source, to / "a.npz", code))
            check(found.format == "coo" and found.nnz == wanted.nnz and same(dense(found), dense(wanted)), source.name, found)
    for array in (np.arange(12).reshape(3, 4) - 5, np.linspace(0, 1, 6, dtype="float32").reshape(2, 3)):
        np.save(to / "a.npy", array)
        found = scipy.io.mmread(rewrite(to / "a.npy", to / "a.mtx"))
        check(np.array_equal(found.astype(array.dtype), array), found)


def svmlight(to):
    """Data sets, read by scikit-learn."""
    import numpy as np
    from sklearn.datasets import load_svmlight_file

    def load(path):
        return load_svmlight_file(str(path), zero_based=False, query_id=True)

    for source in sorted((CORPUS / "svmlight").iterdir()):
        (data, labels, queries), (found, found_labels, found_queries) = load(source), load(rewrite(source, to / "a.svm"))
        check(found.nnz == data.nnz and same(found.toarray(), data.toarray()), source.name, found)
        check(same(found_labels, labels) and np.array_equal(found_queries, queries), source.name, found_labels, found_queries)


def scipy(to):
    """SciPy's archives, read by SciPy in the same format."""
    import numpy as np
    import scipy.io
    import scipy.sparse as sp

    for source in sorted((CORPUS / "scipy").iterdir()):
        if source.stem in ("bsr", "dia", "complex", "short"):
            continue
        wanted = sp.load_npz(source)
        for code in (6, 7):
            found = sp.load_npz(rewrite(source, to / "a.npz", code))
            check(found.format == wanted.format and found.nnz == wanted.nnz, source.name, found)
            check(same(found.toarray(), wanted.toarray()), source.name, found)
        if wanted.ndim == 2:
            found = scipy.io.mmread(rewrite(source, to / "a.mtx"))
            wide = wanted.toarray().astype("float64")
            check(np.array_equal(found.toarray().astype(wanted.dtype), wide.astype(wanted.dtype)), source.name, found)


def safetensors(to):
    import torch
    from safetensors import safe_open

    for source in sorted((CORPUS / "safetensors").iterdir()):
        with safe_open(source, "pt") as wanted, safe_open(rewrite(source, to / "a.safetensors"), "pt") as read:
            check(read.metadata() == wanted.metadata(), source.name, read.metadata())
            check(set(read.keys()) == {name for name in wanted.keys() if "float8" not in name}, source.name, list(read.keys()))
            for name in read.keys():
                widened = {torch.uint16: torch.int32, torch.uint32: torch.int64}
                tensor = wanted.get_tensor(name)
                tensor = tensor.to(widened.get(tensor.dtype, tensor.dtype))
                check(same_tensors(read.get_tensor(name), tensor), source.name, name, read.get_tensor(name))


CHECKS = {"t7": t7, "images": images, "pt": pt, "npy": npy, "npz": npz, "csv": csv, "market": market, "scipy": scipy, "svmlight": svmlight,
          "safetensors": safetensors, "big": big}

if __name__ == "__main__":
    for name in sys.argv[1:] or CHECKS:
        with tempfile.TemporaryDirectory() as folder:
            CHECKS[name](pathlib.Path(folder))
        print(f"{name}: as {name} files are read elsewhere")
