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

    t7.corpus(folder("t7"))


WRITERS = {"safetensors": safetensors, "t7": t7}

if __name__ == "__main__":
    for name in sys.argv[1:] or WRITERS:
        WRITERS[name]()
