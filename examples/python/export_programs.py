"""Trains two small models and exports them by `torch.export` for examples/program.c and the guide.

    python examples/python/export_programs.py [FOLDER]     # needs torch 2.15

`digits.pt2` is a convolutional net with batch normalization that reads handwritten digits. The number of digits in a call may be 1 to 2048.
Every third digit is held out, as in train_digits.py. `sonnets.pt2` is a transformer that continues a text character by character: a call
has one character and its position, and returns the scores of the next character. The keys and values of earlier characters are buffers
that a call changes. The characters of the transformer are those of sonnets.txt, in the order of their codes.

The seed is fixed and one thread computes, so that another run with the same PyTorch and processor exports the same weights.
"""

import re
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

from train_digits import CLASSES, DATA, read_digits, shifted, split

SEED, RATE = 1, 3e-3
DIGIT_EPOCHS, DIGIT_BATCH, MOST_DIGITS, REQUIRED_ACCURACY = 24, 32, 2048, 0.97
CONTEXT, WIDTH, HEADS, LAYERS = 96, 40, 4, 2
SONNET_STEPS, SONNET_BATCH = 3000, 24


class Digits(nn.Module):
    """Two convolutions, each with batch normalization and halved by maxima of 2 x 2 pixels, and two linear layers."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(24 * 2 * 2, 48), nn.ReLU(),
        )  # fmt: skip
        self.scores = nn.Linear(48, CLASSES)

    def forward(self, image):
        return self.scores(self.features(image / 16))


class Block(nn.Module):
    """A layer of a transformer, which keeps the keys and values of earlier positions."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.mix, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(1, HEADS, CONTEXT, WIDTH // HEADS), persistent=False)

    def attend(self, x, position):
        q, k, v = self.mix(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        if position is None:  # training: all positions at once
            return functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        earlier = torch.arange(CONTEXT)[None] <= position
        return functional.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=earlier)

    def forward(self, x, position):
        x = x + self.out(self.attend(self.norm1(x), position).transpose(1, 2).flatten(2))
        return x + self.narrow(functional.gelu(self.wide(self.norm2(x))))


class Sonnets(nn.Module):
    """A transformer of characters."""

    def __init__(self, characters):
        super().__init__()
        self.character, self.place = nn.Embedding(characters, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.scores = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, characters)

    def forward(self, character, position=None):
        """The scores of the character that follows each of `character` [batch x n]. `position` [1] is the place of a single character."""
        places = torch.arange(character.shape[1]) if position is None else position
        x = self.character(character) + self.place(places)
        for block in self.blocks:
            x = block(x, position)
        return self.scores(self.norm(x))


def train(net, steps, batch):
    """Makes steps of AdamW. `batch` returns the loss of some examples."""
    adam = torch.optim.AdamW(net.parameters(), RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(adam, RATE, total_steps=steps)
    for step in range(steps):
        loss = batch()
        adam.zero_grad()
        loss.backward()
        adam.step()
        schedule.step()
        if (step + 1) % 250 == 0:
            print(f"step {step + 1}  loss {loss.item():.4f}")


def digits():
    pixels, labels = read_digits()
    known, test = split(pixels)
    known_labels, test_labels = split(labels)
    net = Digits()

    def batch():
        rows = torch.randint(len(known), (DIGIT_BATCH,))
        return functional.cross_entropy(net(shifted(known[rows])), known_labels[rows])

    train(net, DIGIT_EPOCHS * len(known) // DIGIT_BATCH, batch)
    net.eval()
    with torch.inference_mode():
        right = net(test).argmax(1) == test_labels
    print(f"{right.sum()} of {len(right)} held-out digits are right")
    if right.double().mean().item() < REQUIRED_ACCURACY:
        raise SystemExit(f"less than {100 * REQUIRED_ACCURACY:.0f} %: not exported")
    dynamic = {"image": {0: torch.export.Dim("batch", min=1, max=MOST_DIGITS)}}
    return torch.export.export(net, (test[:4].clone(),), dynamic_shapes=dynamic)


def sonnets():
    text = (DATA / "sonnets.txt").read_text()
    codes = {character: code for code, character in enumerate(sorted(set(text)))}
    text = torch.tensor([codes[character] for character in text])
    net = Sonnets(len(codes))

    def batch():
        starts = torch.randint(len(text) - CONTEXT, (SONNET_BATCH, 1)) + torch.arange(CONTEXT + 1)
        rows = text[starts]
        return functional.cross_entropy(net(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())

    train(net, SONNET_STEPS, batch)
    net.eval()
    return torch.export.export(net, (text[None, :1].clone(), torch.tensor([0])))


def main(folder):
    torch.set_num_threads(1)
    for make in (digits, sonnets):
        torch.manual_seed(SEED)
        path = Path(folder) / f"{make.__name__}.pt2"
        program = make()
        for node in program.graph.nodes:  # the files do not depend on the folder of the repository
            if "stack_trace" in node.meta:
                node.meta["stack_trace"] = re.sub('File ".*/', 'File "', node.meta["stack_trace"])
        torch.export.save(program, path)
        print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else DATA)
