"""The transformer of examples/gpt.c in PyTorch with autograd. Prints letters per second, to compare with the example's.

    build/examples/gpt build/gpt.weights && python benches/peers/gpt.py [THREADS]
"""

import math
import sys
import time
from pathlib import Path

import torch
from torch.nn import functional

LETTERS, CONTEXT, WIDTH, HEADS, BLOCKS, INNER = 128, 64, 64, 4, 2, 256
BATCH, STEPS, WRITTEN, CHOICES, RATE = 16, 250, 400, 5, 4e-3


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.qkv, self.out = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.up, self.down = torch.nn.Linear(WIDTH, INNER), torch.nn.Linear(INNER, WIDTH)

    def forward(self, x, mask, cache, start):
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        if cache is not None:
            for part, kept in ((k, cache[0]), (v, cache[1])):
                kept[:, :, start : start + length] = part
            k, v = (kept[:, :, : start + length] for kept in cache)
        scores = q @ k.transpose(2, 3) / math.sqrt(WIDTH / HEADS) + mask[start : start + length, : start + length]
        x = x + self.out((scores.softmax(3) @ v).permute(0, 2, 1, 3).reshape(x.shape))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.letter, self.place = torch.nn.Embedding(LETTERS, WIDTH), torch.nn.Embedding(CONTEXT, WIDTH)
        self.blocks, self.norm = torch.nn.ModuleList(Block() for _ in range(BLOCKS)), torch.nn.LayerNorm(WIDTH)
        self.head = torch.nn.Linear(WIDTH, LETTERS, bias=False)
        self.mask = torch.full((CONTEXT, CONTEXT), -math.inf).triu(1)

    def forward(self, letters, caches=(None,) * BLOCKS, start=0):
        x = self.letter(letters) + self.place.weight[start : start + letters.shape[1]]
        for block, cache in zip(self.blocks, caches):
            x = block(x, self.mask, cache, start)
        return self.head(self.norm(x))


def train(model, text):
    adam = torch.optim.Adam(model.parameters(), RATE, (0.9, 0.99))
    begin = time.perf_counter()
    for step in range(STEPS):
        places = torch.randint(len(text) - CONTEXT, (BATCH, 1)) + torch.arange(CONTEXT)
        loss = functional.cross_entropy(model(text[places]).view(-1, LETTERS), text[places + 1].view(-1))
        adam.zero_grad()
        loss.backward()
        adam.step()
    print(f"loss {loss.item():.3f}, {STEPS * BATCH * CONTEXT / (time.perf_counter() - begin):.0f} letters a second in training")


@torch.inference_mode()
def write(model):
    caches = [[torch.zeros(1, HEADS, CONTEXT, WIDTH // HEADS) for _ in range(2)] for _ in range(BLOCKS)]
    letters, start, more = [ord(c) for c in "/// `r = "], 0, 9
    begin = time.perf_counter()
    for _ in range(WRITTEN):
        scores = model(torch.tensor([letters[-more:]]), caches, start)[0, -1]
        best, place = scores.topk(CHOICES)
        letters.append(place[(best / 0.8).softmax(0).multinomial(1)].item())
        start, more = start + more, 1
        if start == CONTEXT:
            start, more = 0, CONTEXT // 2 + 1
    print(f"{WRITTEN / (time.perf_counter() - begin):.0f} letters a second in writing")


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
    torch.manual_seed(7)
    header = Path(__file__).parents[2] / "include" / "thorn.h"
    text = torch.tensor([min(c, LETTERS - 1) for c in header.read_bytes()])
    model = Model()
    train(model, text)
    write(model)
