"""Trains a small convolutional network on the digits of examples/data and saves it for examples/checkpoint.c.

    python examples/python/train_digits.py [digits.pt]     # needs torch

Every third digit is held out. The file is a dict: the entries of the network's state_dict, and two numbers, the mean and the deviation of
the training pixels. The seed is fixed and one thread computes, so that another run with the same PyTorch and processor writes the same
file.
"""

import sys
from pathlib import Path

import torch
from torch.nn import functional

DATA = Path(__file__).resolve().parent.parent / "data"
SIDE, CLASSES = 8, 10
SEED, EPOCHS, BATCH, RATE = 1, 40, 32, 3e-3
REQUIRED_ACCURACY = 0.97


class Net(torch.nn.Module):
    """Two convolutions, each halved by maxima of 2 x 2 pixels, and two linear layers."""

    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = torch.nn.Conv2d(16, 32, 3, padding=1)
        self.hidden = torch.nn.Linear(32 * 2 * 2, 64)
        self.scores = torch.nn.Linear(64, CLASSES)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.conv1(x)), 2)
        x = functional.max_pool2d(functional.relu(self.conv2(x)), 2)
        return self.scores(functional.relu(self.hidden(x.flatten(1))))


def read_digits():
    """The pixels of all digits, [n x 1 x 8 x 8] from 0 to 16, and their labels, [n]."""
    lines = (DATA / "digits.csv").read_text().split()
    rows = torch.tensor([[float(value) for value in line.split(",")] for line in lines])
    return rows[:, :-1].reshape(-1, 1, SIDE, SIDE), rows[:, -1].long()


def split(t):
    """The rows for training, and every third row, for the test."""
    held_out = torch.arange(len(t)) % 3 == 2
    return t[~held_out], t[held_out]


def shifted(x):
    """The pictures, each shifted by at most one pixel in either direction."""
    wide = functional.pad(x, (1, 1, 1, 1), value=x.min().item())
    moves = torch.randint(3, (len(x), 2)).tolist()
    return torch.stack([picture[:, down : down + SIDE, right : right + SIDE] for picture, (down, right) in zip(wide, moves)])


def train(net, x, y):
    adam = torch.optim.Adam(net.parameters(), RATE)
    batches = len(x) // BATCH
    schedule = torch.optim.lr_scheduler.OneCycleLR(adam, RATE, total_steps=EPOCHS * batches)
    for epoch in range(EPOCHS):
        total = 0.0
        for rows in torch.randperm(len(x))[: batches * BATCH].view(batches, BATCH):
            loss = functional.cross_entropy(net(shifted(x[rows])), y[rows])
            adam.zero_grad()
            loss.backward()
            adam.step()
            schedule.step()
            total += loss.item()
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}  loss {total / batches:.4f}")


def main(path):
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    pixels, labels = read_digits()
    known, test = split(pixels)
    known_labels, test_labels = split(labels)
    mean, std = known.mean().item(), known.std().item()
    net = Net()
    train(net, (known - mean) / std, known_labels)
    with torch.inference_mode():
        right = net((test - mean) / std).argmax(1) == test_labels
    accuracy = right.double().mean().item()
    print(f"{right.sum()} of {len(right)} held-out digits are right, {100 * accuracy:.2f} %")
    if accuracy < REQUIRED_ACCURACY:
        raise SystemExit(f"less than {100 * REQUIRED_ACCURACY:.0f} %: not saved")
    torch.save({**net.state_dict(), "mean": mean, "std": std}, path)
    print(f"{path}: {Path(path).stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else DATA / "digits.pt")
