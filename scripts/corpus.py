"""Writes files/corpus, small files by the programs that define their formats. Run once; what it writes is checked in.

    python scripts/corpus.py [FORMAT ...]     # needs what benches/peers/requirements.txt names, and safetensors
"""

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


def t7():
    import t7

    expect("t7", t7.corpus(folder("t7")))


def expect(name, tensors):
    """Writes the elements that a program read, for the tests."""
    import json

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
        writer.add_tensor("other", numpy.zeros((1, 144), "uint8"), raw_dtype=types.Q4_K)
        writer.add_tensor("last", numpy.float32([[7]]))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return expected

    expected = {"types": write(to / "types.gguf", plain, quantised), "aligned": write(to / "aligned.gguf", {}, [types.Q8_0], 64)}
    # Versions 2 and 3 differ in the number only.
    old = bytearray((to / "aligned.gguf").read_bytes())
    old[4] = 2
    (to / "version2.gguf").write_bytes(old)
    expect("gguf", expected)


def interlaced(image):
    """A PNG of seven passes, which Pillow reads and does not write."""
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
    expect("images", {"": found})


WRITERS = {"safetensors": safetensors, "t7": t7, "gguf": gguf, "images": images}

if __name__ == "__main__":
    for name in sys.argv[1:] or WRITERS:
        WRITERS[name]()
