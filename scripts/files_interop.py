"""Checks that the real programs open what thorn-files writes, with the elements that were written.

    cargo build -p thorn-files --example rewrite
    python scripts/files_interop.py [FORMAT ...]     # needs what scripts/corpus.py needs
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT / "files" / "corpus"
REWRITE = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "examples" / "rewrite"


def rewrite(source, to):
    subprocess.run([REWRITE, source, to], check=True)
    return str(to)


def same(name, found, expected):
    found, expected = numpy.asarray(found), numpy.asarray(expected)
    if found.dtype != expected.dtype or found.shape != expected.shape or found.tobytes() != expected.tobytes():
        raise SystemExit(f"{name}: {found!r} was written for {expected!r}")


def t7(scratch):
    """Torch7 in binary, read by torchfile."""
    import torchfile
    from safetensors.numpy import save_file

    types = ("uint8", "int8", "int16", "int32", "int64", "float32", "float64")
    expected = {name: numpy.arange(6).astype(name).reshape(2, 3) for name in types}
    layers = {"modules.1.weight": numpy.eye(3, dtype="float32"), "modules.2.weight": numpy.ones((0, 3), "float32")}
    save_file(expected | layers, scratch / "a.safetensors", metadata={"note": "text"})
    for source in [scratch / "a.safetensors", rewrite(rewrite(scratch / "a.safetensors", scratch / "a.t7a"), scratch / "b.t7")]:
        found = torchfile.load(rewrite(source, scratch / "c.t7"))
        for name, values in expected.items():
            same(name, found[name.encode()], values)
        same("modules.1.weight", found.modules[0].weight, layers["modules.1.weight"])
        assert found.modules[1].weight.size == 0 and found.note == b"text"
    # Two tensors of one storage, one of them transposed.
    before = torchfile.load(str(CORPUS / "t7" / "tensor.t7"))
    after = torchfile.load(rewrite(CORPUS / "t7" / "tensor.t7", scratch / "tensor.t7"))
    same("tensor", after, before)
    assert after.strides == before.strides


def images(scratch):
    """PNG and PNM, read by Pillow."""
    from PIL import Image

    for source in sorted((CORPUS / "images").iterdir()):
        before = Image.open(source)
        if "sixteen" in source.name:
            continue
        modes = {"clear.png": "LA", "palette.png": "RGB", "palette_clear.png": "RGBA", "bits.png": "L"}
        expected = numpy.asarray(before.convert(modes.get(source.name, before.mode)))
        same(source.name, Image.open(rewrite(source, scratch / "a.png")), expected)
        if expected.shape[2:] in ((), (3,)):
            same(source.name, Image.open(rewrite(source, scratch / "a.pnm")), expected)
    texts = {"Title": "a text", "Long": "many words, " * 100, "Comment": "ü, compressed"}
    assert Image.open(rewrite(CORPUS / "images" / "gray.png", scratch / "a.png")).text == texts


CHECKS = {"t7": t7, "images": images}

if __name__ == "__main__":
    for name in sys.argv[1:] or CHECKS:
        with tempfile.TemporaryDirectory() as scratch:
            CHECKS[name](pathlib.Path(scratch))
        print(f"{name}: what was written is read alike")
