"""Files for the rows of the group `files`, which are made when the group is timed, and the calls of PyTorch and NumPy."""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

FOLDER = None
SHAPE = 5000, 5000  # 100 MB of float32
TABLE = 50_000, 100  # 100 MB of text


def folder():
    """Makes the files, once."""
    global FOLDER
    if FOLDER:
        return FOLDER
    FOLDER = tempfile.mkdtemp(prefix="thorn-bench-")
    atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
    # Files are not overwritten, because numpy.memmap and others keep descriptors, and results may be mappings.
    values = torch.randn(SHAPE)
    torch.save(values, f"{FOLDER}/a.pt")
    np.save(f"{FOLDER}/a.npy", values.numpy())
    sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))
    import t7

    t7.write(Path(f"{FOLDER}/a.t7"), t7.Tensor(t7.Storage("Float", values.numpy().ravel()), list(SHAPE)))
    np.savez(f"{FOLDER}/a.npz", a=values.numpy())
    np.savez_compressed(f"{FOLDER}/rounded.npz", a=(values.numpy() * 10).round())
    torch.save({f"layer.{k}": values + k for k in range(10)}, f"{FOLDER}/large.pt")
    try:
        from safetensors.torch import save_file

        save_file({f"layer.{k}": values + k for k in range(10)}, f"{FOLDER}/large.safetensors")
    except ImportError:
        pass
    lines = [",".join(map(repr, row)) for row in np.random.default_rng(1).standard_normal((1000, TABLE[1])).tolist()]
    with open(f"{FOLDER}/a.csv", "w") as file:
        for _ in range(TABLE[0] // len(lines)):
            file.write("\n".join(lines) + "\n")
    return FOLDER


def first_of_checkpoint():
    return torch.load(f"{FOLDER}/large.pt", mmap=True, weights_only=True)["layer.0"]


def first_of_safetensors():
    from safetensors import safe_open

    with safe_open(f"{FOLDER}/large.safetensors", "pt") as file:
        return file.get_tensor("layer.0")


def table():
    """Reads a table with pandas' C reader, or with NumPy if pandas is missing."""
    try:
        import pandas

        return pandas.read_csv(f"{FOLDER}/a.csv", header=None, engine="c").to_numpy()
    except ImportError:
        return np.loadtxt(f"{FOLDER}/a.csv", delimiter=",")


def synced(save, path, *what):
    """Saves and waits until the data is on disk, as thorn does. Returns 0, thorn's status for success."""
    with open(path, "wb") as file:
        save(file, *what)
        file.flush()
        os.fsync(file.fileno())
    return 0
