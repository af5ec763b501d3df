"""Writes files/corpus: small files, written by the programs that define the formats. The files are checked in, so this is run once.

    python scripts/corpus.py [FORMAT ...]     # needs the packages of benches/peers/requirements.txt, safetensors and scikit-learn
"""

import json
import pathlib
import sys

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "files" / "corpus"


def folder(name):
    path = CORPUS / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def safetensors():
    import torch
    from safetensors.torch import load_file, save_file

    to = folder("safetensors")
    torch.manual_seed(1)
    every = {
        str(dtype).split(".")[1]: (torch.arange(6).reshape(2, 3) % 2).to(dtype)
        for dtype in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
                      torch.float32, torch.float64, torch.uint16, torch.uint32, torch.float8_e4m3fn)
    }
    save_file(every, to / "dtypes.safetensors", metadata={"format": "pt", "note": "a \"quoted\" note, ü"})
    save_file({"scalar": torch.tensor(2.5), "empty": torch.zeros(0, 3), "layer.0.weight": torch.randn(4, 5)}, to / "shapes.safetensors")

    def read(tensor):
        return described(tensor) | {"dtype": str(tensor.dtype).split(".")[1]}

    expect("safetensors", {path.name: {name: read(tensor) for name, tensor in load_file(path).items()} for path in sorted(to.iterdir())})


def t7():
    import t7

    expect_bytes("t7", t7.corpus(folder("t7")))


def expect_bytes(name, tensors):
    """Writes the bytes of the elements that a program read."""
    import numpy

    def entry(array):
        array = numpy.ascontiguousarray(array)
        return {"dtype": array.dtype.name, "sizes": list(array.shape), "hex": array.tobytes().hex()}

    path = CORPUS.parent / "tests" / "expected" / f"{name}.json"
    found = {file: {key: entry(array) for key, array in arrays.items()} for file, arrays in tensors.items()}
    path.write_text(json.dumps(found, indent=1) + "\n")


def gguf():
    import gguf
    import numpy

    to = folder("gguf")
    random = numpy.random.default_rng(1)
    types = gguf.GGMLQuantizationType
    plain = {kind: (numpy.arange(6).reshape(2, 3) - 2).astype(kind)
             for kind in ("float32", "float16", "float64", "int8", "int16", "int32", "int64")}
    quantised = (types.Q4_0, types.Q4_1, types.Q5_0, types.Q5_1, types.Q8_0, types.BF16)

    def write(path, plain, quantised, alignment=None):
        writer = gguf.GGUFWriter(path, "none")
        if alignment:
            writer.add_custom_alignment(alignment)
        for kind in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "uint64", "int64", "float64"):
            integer = not kind.startswith("f")
            value = -3 if kind.startswith("i") else numpy.iinfo(kind).max if integer else 0.1
            writer.add_key_value(kind, value, gguf.GGUFValueType[kind.upper()])
        writer.add_bool("yes", True)
        writer.add_string("text", "two\nlines, ü")
        writer.add_array("few", [1, 2, 3])
        writer.add_array("words", ["the", "\"end\""])
        writer.add_array("tokens", [str(k) for k in range(100)])
        writer.add_array("scores", [0.5] * 70)
        for name, array in plain.items():
            writer.add_tensor(name, array)
        expected = dict(plain)
        for kind in quantised:
            blocks = gguf.quants.quantize(random.normal(size=(3, 64)).astype("float32"), kind)
            writer.add_tensor(kind.name, blocks, raw_dtype=kind)
            if kind == types.BF16:
                expected[kind.name] = blocks.view("int16")
            else:
                expected[kind.name] = gguf.quants.dequantize(blocks, kind)
        writer.add_tensor("other", numpy.arange(50, dtype="uint8").reshape(1, 50), raw_dtype=types.IQ1_S)
        writer.add_tensor("last", numpy.float32([[7]]))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return expected

    def blocks(path):
        """Blocks of random bytes, whose scales are finite."""
        writer = gguf.GGUFWriter(path, "none")
        scales = {types.Q2_K: (80, 82), types.Q3_K: (108,), types.Q4_K: (0, 2), types.Q5_K: (0, 2), types.Q6_K: (208,), types.IQ4_NL: (0,),
                  types.IQ4_XS: (0,), types.TQ1_0: (52,), types.TQ2_0: (64,), types.MXFP4: ()}
        expected = {}
        for kind, places in scales.items():
            numbers, size = gguf.GGML_QUANT_SIZES[kind]
            # Two rows of one block; of short blocks, one row of four.
            bytes = random.integers(0, 256, (1, 4 * size) if numbers == 32 else (2, size), "uint8")
            for block in bytes.reshape(-1, size):
                for place in places:
                    block[place:place + 2] = numpy.frombuffer(numpy.float16(random.normal()).tobytes(), "uint8")
            if kind == types.MXFP4:
                # Exponents of subnormal floats, of 1, and the greatest.
                bytes.reshape(-1, size)[:, 0] = 0, 1, 127, 255
            writer.add_tensor(kind.name, bytes, raw_dtype=kind)
            expected[kind.name] = gguf.quants.dequantize(bytes, kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return expected

    expected = {"types": write(to / "types.gguf", plain, quantised), "aligned": write(to / "aligned.gguf", {}, [types.Q8_0], 64)}
    # Versions 2 and 3 differ only in the version number.
    old = bytearray((to / "aligned.gguf").read_bytes())
    old[4] = 2
    (to / "version2.gguf").write_bytes(old)
    expected["blocks"] = blocks(to / "blocks.gguf")
    expect_bytes("gguf", expected)


def interlaced(image):
    """An interlaced PNG of seven passes, which Pillow can read but not write."""
    import struct
    import zlib

    import numpy

    array = numpy.asarray(image)
    passes = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
    parts = [array[row::height, column::width] for row, column, height, width in passes]
    rows = b"".join(b"\0" + row.tobytes() for part in parts if part.size for row in part)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", image.width, image.height, 8, 2, 0, 0, 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def images():
    import numpy
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    to = folder("images")
    random = numpy.random.default_rng(1)
    rgb = Image.fromarray(random.integers(0, 256, (5, 7, 3), "uint8"))
    gray = rgb.convert("L")
    palette = rgb.quantize(6)
    texts = PngInfo()
    texts.add_text("Title", "a text")
    texts.add_text("Long", "many words, " * 100, zip=True)
    texts.add_itxt("Comment", "ü, compressed", zip=True)
    gray.save(to / "gray.png", pnginfo=texts)
    gray.save(to / "clear.png", transparency=int(numpy.asarray(gray)[0, 0]))
    gray.convert("LA").save(to / "gray_alpha.png")
    rgb.save(to / "rgb.png")
    rgba = rgb.convert("RGBA")
    rgba.putalpha(gray)
    rgba.save(to / "rgba.png")
    palette.save(to / "palette.png")
    palette.save(to / "palette_clear.png", transparency=2)
    gray.convert("1").save(to / "bits.png")
    sixteen = Image.fromarray(random.integers(0, 65536, (4, 3), "uint16"))
    sixteen.save(to / "sixteen.png")
    (to / "interlaced.png").write_bytes(interlaced(rgb))
    gray.save(to / "gray.pgm")
    rgb.save(to / "rgb.ppm")
    sixteen.save(to / "sixteen.pgm")
    for source, kind in (("gray.pgm", 2), ("rgb.ppm", 3)):
        values = numpy.asarray(Image.open(to / source))
        text = f"P{kind} # a comment\n{values.shape[1]}\n{values.shape[0]} 255\n" + "\n".join(str(k) for k in values.ravel()) + "\n"
        (to / source.replace(".", "_text.")).write_text(text)
    modes = {"clear.png": "LA", "palette.png": "RGB", "palette_clear.png": "RGBA", "bits.png": "L"}
    found = {}
    for path in sorted(to.iterdir()):
        image = Image.open(path)
        array = numpy.asarray(image.convert(modes.get(path.name, image.mode)))
        found[path.name] = array.astype("int32") if image.mode.startswith("I") else array
    expect_bytes("images", {"": found})


def expect(name, arrays):
    """Writes the contents of a corpus as this program reads them: the names of the files, and the tensors of each."""
    path = CORPUS.parent / "tests" / "expected" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    lines = (f"{json.dumps(name)}: {json.dumps(what)}" for name, what in arrays.items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def described(array):
    """An array as JSON. Floats are texts, which keep -0.0 and infinities."""
    elements = [repr(x) if isinstance(x, float) else int(x) for x in array.flatten().tolist()]
    return {"dtype": str(array.dtype), "sizes": array.shape, "elements": elements}


def numpy_arrays():
    """Arrays by name: one of each type, shape, and order of bytes and dimensions."""
    import numpy as np

    random = np.random.default_rng(1)
    arrays = {name: np.arange(6).reshape(2, 3).astype(name) for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")}
    arrays["bool"] = np.array([True, False, True])
    for name in ("float16", "float32", "float64"):
        arrays[name] = np.array([0.1, -0.0, np.inf, -np.inf, np.nan, 65504], dtype=name)
    arrays["uint_ends"] = np.array([0, 2**32 - 1], dtype=np.uint32)
    arrays["short_ends"] = np.array([0, 2**16 - 1], dtype=">u2")
    for name in ("i2", "i4", "i8", "u4", "f2", "f4", "f8"):
        arrays["big_" + name] = (random.standard_normal((2, 3)) * 100).astype(">" + name)
    arrays["scalar"] = np.array(2.5)
    arrays["empty"] = np.zeros((0, 3), dtype=np.float32)
    arrays["one"] = np.array([7, 8, 9])
    arrays["cube"] = random.standard_normal((2, 3, 4)).astype(np.float32)
    arrays["fortran"] = np.asfortranarray(random.standard_normal((3, 4)))
    arrays["fortran_cube"] = np.asfortranarray(random.standard_normal((2, 3, 4)).astype(">f4"))
    return arrays


def refused_arrays():
    """Arrays by name whose elements have a type that tensors lack."""
    import numpy as np

    return {"complex": np.array([1 + 2j]), "uint64": np.array([2**64 - 1], dtype=np.uint64), "text": np.array(["a", "bc"]),
            "bytes": np.array([b"ab"]), "object": np.array([None, {}], dtype=object), "time": np.array(["2020-01-01"], dtype="M8[D]"),
            "fields": np.array([(1, 2.0)], dtype=[("a, (", "<i4"), ("b", [("c", "<f8", (2,))])])}


def npy():
    import numpy as np

    to = folder("npy")
    arrays = numpy_arrays() | refused_arrays()
    for name, array in arrays.items():
        np.save(to / f"{name}.npy", array)
    for version in ((1, 0), (2, 0), (3, 0)):
        with open(to / f"version{version[0]}.npy", "wb") as file:
            np.lib.format.write_array(file, np.arange(4), version=version)
    # Version 3 allows names of fields beyond Latin-1.
    np.save(to / "names.npy", np.array([(1,)], dtype=[("名", "<i4")]))
    headers = {"python2": "{'descr': '<i8', 'fortran_order': False, 'shape': (2L, 1L), }",
               "spaces": "{ 'shape' :( 2 , ) ,\n'fortran_order' : False,\t\"descr\": '<i8'  }   "}
    for name, header in headers.items():
        data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + np.arange(2).tobytes()
        (to / f"{name}.npy").write_bytes(data)
    files = {path.name: np.load(path) for path in sorted(to.iterdir()) if path.stem not in refused_arrays() and path.stem != "names"}
    expect("npy", {name: described(array) for name, array in files.items()})


def npz():
    import zipfile

    import numpy as np

    to = folder("npz")
    arrays = numpy_arrays()
    few = {name: arrays[name] for name in ("fortran", "big_f4", "uint16", "bool", "scalar", "empty")}
    np.savez(to / "stored.npz", **few, **refused_arrays())
    np.savez_compressed(to / "deflated.npz", **few, **refused_arrays(), zeros=np.zeros((4, 25)))
    np.savez(to / "names.npz", np.arange(2), **{"layer.0/weight": np.arange(3), "ü": np.arange(1)})
    np.savez(to / "none.npz")
    with zipfile.ZipFile(to / "mixed.npz", "w") as archive:
        for name, how in (("a", zipfile.ZIP_STORED), ("b", zipfile.ZIP_BZIP2), ("c", zipfile.ZIP_DEFLATED)):
            archive.write(CORPUS / "npy" / "one.npy", f"{name}.npy", how)
        archive.writestr("notes.txt", "no array")
        archive.writestr("folder/", "")
    files = {}
    for path in sorted(to.iterdir()):
        with np.load(path) as archive:
            names = [name for name in archive.files if name not in refused_arrays() and not name.endswith((".txt", "/"))]
            files[path.name] = {name: described(archive[name]) for name in names}
    expect("npz", files)


def torch():
    import corpus_torch

    corpus_torch.write(folder("torch"), expect)


def program():
    import corpus_program

    corpus_program.write(folder("program"))


def csv():
    import numpy as np
    import pandas as pd

    to = folder("csv")
    random = np.random.default_rng(1)
    table = random.standard_normal((8, 3)) * [1, 1e-9, 1e12]
    np.savetxt(to / "savetxt.csv", table)
    np.savetxt(to / "savetxt_header.csv", table, delimiter=",", header="a, b, c")
    np.savetxt(to / "savetxt_short.csv", table, delimiter="; ", fmt="%.4g")
    frame = pd.DataFrame(table, columns=["x", "a, b", "say \"c\""])
    frame["whole"] = np.arange(8)
    frame.loc[3, "x"] = None
    frame.loc[5, "x"] = np.inf
    frame.to_csv(to / "pandas.csv", index=False)
    frame.to_csv(to / "pandas_index.csv")
    frame.to_csv(to / "pandas.tsv", index=False, sep="\t", na_rep="NA", lineterminator="\r\n", encoding="utf-8-sig", quoting=1)
    frame.to_csv(to / "pandas_decimal.csv", index=False, sep=";", decimal=",", na_rep="NULL")
    frame.to_csv(to / "pandas_bare.csv", index=False, header=False)
    how = {"savetxt.csv": {"sep": r"\s+", "header": None}, "savetxt_header.csv": {"comment": "#", "header": None},
           "savetxt_short.csv": {"sep": ";", "header": None}, "pandas.tsv": {"sep": "\t", "encoding": "utf-8-sig"},
           "pandas_decimal.csv": {"sep": ";", "decimal": ","}, "pandas_bare.csv": {"header": None}}
    files = {}
    for path in sorted(to.iterdir()):
        options = how.get(path.name, {})
        frame = pd.read_csv(path, float_precision="round_trip", **options)
        names = [] if "header" in options else ["" if name.startswith("Unnamed") else name for name in frame.columns]
        files[path.name] = described(frame.to_numpy(dtype=np.float64)) | {"columns": names}
    expect("csv", files)


def entries(matrix):
    """A sparse matrix as JSON: the number of its entries, duplicates included, and all elements."""
    return described(matrix.toarray()) | {"nnz": matrix.nnz, "dtype": str(matrix.dtype)}


def market():
    """Matrices as text: SciPy's, its older writer's, and hand-written ones."""
    import gzip

    import numpy as np
    import scipy.io
    import scipy.sparse as sp
    from scipy.io import _mmio as older

    to = folder("market")
    random = np.random.default_rng(1)
    rows, columns = random.integers(0, 5, 12), random.integers(0, 7, 12)
    general = sp.coo_array((random.standard_normal(12).round(3) * 2.0 ** random.integers(-40, 40, 12), (rows, columns)), shape=(5, 7))
    square = sp.coo_array(np.triu(random.integers(-4, 5, (4, 4))))
    symmetric, skew = (square + square.T).tocoo(), (square - square.T).tocoo()
    dense = random.standard_normal((3, 4)).round(3)
    both = dense[:, :3] + dense[:, :3].T
    made = {"general": (general, {}), "integer": ((general * 1e3).astype("int64"), {"comment": " one\n two"}),
            "pattern": (general, {"field": "pattern"}), "none": (sp.coo_array((0, 3)), {}),
            "symmetric": (symmetric.astype("float64"), {"symmetry": "symmetric"}),
            "symmetric_pattern": (symmetric, {"symmetry": "symmetric", "field": "pattern"}),
            "skew": (skew, {"symmetry": "skew-symmetric"}), "dense": (dense, {}), "dense_integer": (symmetric.toarray(), {"symmetry": "general"}),
            "dense_symmetric": (both, {"symmetry": "symmetric"}), "dense_skew": (skew.toarray(), {"symmetry": "skew-symmetric"})}
    for name, (matrix, options) in made.items():
        scipy.io.mmwrite(to / f"{name}.mtx", matrix, **options)
    older.mmwrite(str(to / "older.mtx"), general)
    (to / "packed.mtx.gz").write_bytes(gzip.compress((to / "integer.mtx").read_bytes(), mtime=0))
    (to / "by_hand.mtx").write_text("%%MatrixMarket MATRIX Coordinate REAL general\r\n% a comment\r\n\r\n\t3  2 4 \r\n"
                                    " 1 1 1\r\n\r\n3\t2\t-2.5E-3  \r\n1 1 0.5\r\n2 1 inf", newline="")
    files = {}
    for path in sorted(to.iterdir()):
        matrix = scipy.io.mmread(path)
        files[path.name] = described(matrix) if isinstance(matrix, np.ndarray) else entries(matrix)
    expect("market", files)


def scipy():
    """Sparse matrices in archives, in all of SciPy's formats."""
    import numpy as np
    import scipy.sparse as sp

    to = folder("scipy")
    random = np.random.default_rng(1)
    matrix = sp.coo_array((random.standard_normal(9), (random.integers(0, 5, 9), random.integers(0, 7, 9))), shape=(5, 7))
    cube = sp.coo_array((np.arange(4.0), tuple(random.integers(0, 3, (3, 4)))), shape=(3, 3, 3))
    long = matrix.tocsr()
    long.indices, long.indptr = long.indices.astype("int64"), long.indptr.astype("int64")
    made = {"coo": (matrix, True), "csr": (sp.csr_matrix(matrix), False), "csr_packed": (matrix.tocsr().astype("float32"), True),
            "csc": (matrix.tocsc(), True), "long": (long, False), "cube": (cube, False), "none": (sp.csr_array((3, 0)), True),
            "bool": (matrix.tocsr().astype(bool), False), "vector": (sp.coo_array([0.0, 5, 0, 7]), False)}
    for name, (what, compressed) in made.items():
        sp.save_npz(to / f"{name}.npz", what, compressed=compressed)
    # Before SciPy 1.0 the format was a str of Python 3.
    with np.load(to / "csr.npz") as archive:
        parts = dict(archive)
    np.savez(to / "old.npz", **(parts | {"format": np.array("csr")}))
    files = {path.name: entries(sp.load_npz(path)) for path in sorted(to.iterdir())}
    # Formats that are not sparse tensors in thorn: thorn reads their arrays.
    others = {"bsr": sp.bsr_array(np.ones((2, 4)), blocksize=(2, 2)), "dia": sp.dia_array(np.eye(3)), "complex": matrix.astype("complex64").tocsr(),
              "short": sp.csr_array(np.ones(3))}
    for name, what in others.items():
        sp.save_npz(to / f"{name}.npz", what)
    expect("scipy", files)


def svmlight():
    """Data sets as text: scikit-learn's, and hand-written ones."""
    import numpy as np
    import scipy.sparse as sp
    from sklearn.datasets import dump_svmlight_file, load_svmlight_file

    to = folder("svmlight")
    random = np.random.default_rng(1)
    data = random.standard_normal((8, 12)) * 2.0 ** random.integers(-40, 40, (8, 12))
    data[random.random(data.shape) < 0.6] = 0
    # Two rows without entries, and the greatest index.
    data[[3, 7]], data[0, 11] = 0, 0.1
    labels = random.standard_normal(8)
    queries = np.array([1, 1, 1, 2, 2, -5, 2**62, 2**62])
    dump_svmlight_file(sp.csr_array(data), labels, str(to / "plain.svm"), zero_based=False)
    dump_svmlight_file(data * 3, labels, str(to / "dense.libsvm"), zero_based=False)
    dump_svmlight_file(sp.csr_array(data), labels > 0, str(to / "queries.svmlight"), zero_based=False, query_id=queries, comment="with queries")
    whole = sp.csr_array((data * 4 % 9).astype("int64"))
    dump_svmlight_file(whole, np.arange(8) - 3, str(to / "integers.svm"), zero_based=False)
    wide = sp.csr_array(([0.5] * 150 + [0.25], [*range(150), 499], [0, 150, 151]), shape=(2, 500))
    wide.indices, wide.indptr = wide.indices.astype("int32"), wide.indptr.astype("int32")
    dump_svmlight_file(wide, np.array([1, -1]), str(to / "wide.svm"), zero_based=False)
    (to / "by_hand.svm").write_text("# a comment\r\n\r\n+1 1:.5\t3:-2.5E-3  # row 1:2\r\n -1\t\r\n#\r\n1e2 2:0 40:1e-320\r\n"
                                    "nan 2:inf 3:-0.0 \n-inf 1:123456789012345678901234567890", newline="")
    files = {}
    for path in sorted(to.iterdir()):
        matrix, y, qid = load_svmlight_file(str(path), zero_based=False, query_id=True)
        files[path.name] = {"labels": described(y), "data": entries(matrix)} | ({"qid": described(qid)} if len(qid) else {})
    expect("svmlight", files)


WRITERS = {"t7": t7, "gguf": gguf, "images": images, "torch": torch, "safetensors": safetensors, "npy": npy, "npz": npz, "csv": csv,
           "market": market, "scipy": scipy, "svmlight": svmlight, "program": program}

if __name__ == "__main__":
    for name in sys.argv[1:] or WRITERS:
        WRITERS[name]()
