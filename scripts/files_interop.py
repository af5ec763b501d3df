"""Checks that what thorn-files writes opens in the programs that define the formats: files of the corpus are rewritten, and compared.

    python scripts/files_interop.py [FORMAT ...]     # needs what scripts/corpus.py needs
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
    """An array as thorn reads it: without unsigned integers of 16 and 32 bits, and with the bytes of this machine."""
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


CHECKS = {"npy": npy, "npz": npz, "csv": csv}

if __name__ == "__main__":
    for name in sys.argv[1:] or CHECKS:
        with tempfile.TemporaryDirectory() as folder:
            CHECKS[name](pathlib.Path(folder))
        print(f"{name}: as {name} files are read elsewhere")
