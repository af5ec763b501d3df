"""Checks that PyTorch opens the network saved by examples/checkpoint.c, and computes the same scores as the program.

    build/examples/checkpoint --save copy.pt --scores scores.npy
    python examples/python/check_digits.py copy.pt scores.npy     # needs torch
"""

import sys

import numpy as np
import torch

sys.dont_write_bytecode = True

from train_digits import DATA, Net, read_digits, split


def check(same, what):
    if not same:
        raise SystemExit(f"check_digits: {what}")


def main(copy, scores):
    saved = torch.load(copy, weights_only=True)
    mean, std = float(saved.pop("mean")), float(saved.pop("std"))
    net = Net()
    net.load_state_dict(saved, strict=True)

    trained = torch.load(DATA / "digits.pt", weights_only=True)
    check((mean, std) == (trained.pop("mean"), trained.pop("std")), "mean or deviation differ from those of digits.pt")
    check(all(torch.equal(saved[name], t) for name, t in trained.items()), "weights differ from those of digits.pt")

    pixels, labels = (held_out for _, held_out in map(split, read_digits()))
    with torch.inference_mode():
        expected = net((pixels - mean) / std)
    computed = torch.from_numpy(np.load(scores))
    difference = (computed - expected).abs().max().item()
    check(computed.shape == expected.shape and difference < 1e-3, f"scores differ by {difference}")
    check(torch.equal(computed.argmax(1), expected.argmax(1)), "classes differ")
    right = (expected.argmax(1) == labels).sum()
    print(f"PyTorch agrees: {right} of {len(labels)} digits are right, scores differ by {difference:.1e} at most")


if __name__ == "__main__":
    main(*sys.argv[1:])
