"""Writes files/corpus, small files by the programs that define their formats. Run once; what it writes is checked in.

    python scripts/corpus.py [FORMAT ...]     # needs what benches/peers/requirements.txt names, and safetensors
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
    from safetensors.torch import save_file

    to = folder("safetensors")
    torch.manual_seed(1)
    every = {
        str(dtype).split(".")[1]: (torch.arange(6).reshape(2, 3) % 2).to(dtype)
        for dtype in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32,
                      torch.float64, torch.uint16, torch.uint32, torch.float8_e4m3fn)
    }
    save_file(every, to / "dtypes.safetensors", metadata={"format": "pt", "note": "a \"quoted\" note, ü"})
    save_file({"scalar": torch.tensor(2.5), "empty": torch.zeros(0, 3), "layer.0.weight": torch.randn(4, 5)}, to / "shapes.safetensors")


def expect(name, arrays):
    """Writes what is in the files of a corpus as this program reads them: names of files, and for each its tensors."""
    path = CORPUS.parent / "tests" / "expected" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    lines = (f"{json.dumps(name)}: {json.dumps(what)}" for name, what in arrays.items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def described(array):
    """An array as JSON: floats as texts, which tell -0.0 and infinities from others."""
    elements = [repr(x) if isinstance(x, float) else int(x) for x in array.flatten().tolist()]
    return {"dtype": str(array.dtype), "sizes": array.shape, "elements": elements}


def numpy_arrays():
    """Arrays by name: one of each type, shapes, and orders of bytes and of dimensions."""
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
    """Arrays by name whose elements are no numbers that tensors have."""
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
    # Version 3 is for names of fields beyond Latin-1.
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


WRITERS = {"safetensors": safetensors, "npy": npy, "npz": npz, "csv": csv}

if __name__ == "__main__":
    for name in sys.argv[1:] or WRITERS:
        WRITERS[name]()
