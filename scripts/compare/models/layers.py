"""Models of layers of PyTorch, and of operators that other models lack."""

import math

import torch
from torch import nn
from torch.nn import functional

from .example import MODELS, Example, model, randomise
from .images import image
from .language import VOCABULARY, mask, tokens


@model
def mlp():
    module = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4), nn.Softmax(-1))
    return Example(randomise(module).eval(), (torch.randn(2, 8),), [(torch.randn(5, 8),)])


def recurrent(entry, cell, **options):
    """Adds a recurrent network with an embedding, whose outputs include the last states."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(VOCABULARY, 12)
            self.net = cell(12, 16, batch_first=True, **options)
            self.head = nn.Linear(16 * (2 if options.get("bidirectional") else 1), 5)

        def forward(self, x):
            hidden, last = self.net(self.embedding(x))
            return functional.log_softmax(self.head(hidden), -1), last

    def make():
        return Example(randomise(Net()).eval(), (tokens(2, 7),), [(tokens(3, 5),), (tokens(3, 7),)])

    MODELS[entry] = make


recurrent("lstm", nn.LSTM, num_layers=2)
recurrent("lstm_bidirectional", nn.LSTM, num_layers=2, bidirectional=True)
recurrent("gru", nn.GRU, num_layers=2)
recurrent("gru_bidirectional", nn.GRU, bidirectional=True)
recurrent("rnn", nn.RNN, nonlinearity="relu")


@model
def lstm_state():
    """An LSTM whose states are inputs. The layout is (length, batch, features)."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.LSTM(8, 12, 2, proj_size=6)

        def forward(self, x, h, c):
            return self.net(x, (h, c))

    inputs = lambda length, batch: (torch.randn(length, batch, 8), torch.randn(2, batch, 6), torch.randn(2, batch, 12))
    return Example(Net().eval(), inputs(6, 2), [inputs(4, 3), inputs(6, 3)])


@model
def lstm_cells():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.cells = nn.ModuleList([nn.LSTMCell(8, 12), nn.GRUCell(12, 12), nn.RNNCell(12, 12)])

        def forward(self, x):
            h = c = u = v = x.new_zeros(x.shape[0], 12)
            for step in x.unbind(1):
                h, c = self.cells[0](step, (h, c))
                u = self.cells[1](h, u)
                v = self.cells[2](u, v)
            return h, c, u, v

    return Example(Net().eval(), (torch.randn(2, 4, 8),), [(torch.randn(3, 4, 8),)])


def doubled(inputs, outputs):
    layers = []
    for channels in (inputs, outputs):
        layers += [nn.Conv2d(channels, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers)


@model
def unet():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.down = nn.ModuleList([doubled(3, 8), doubled(8, 16), doubled(16, 32)])
            self.up = nn.ConvTranspose2d(32, 16, 2, 2)
            self.middle = doubled(32, 16)
            self.resize = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
            self.last = nn.Sequential(doubled(24, 8), nn.Conv2d(8, 2, 1))

        def forward(self, x):
            a = self.down[0](x)
            b = self.down[1](functional.max_pool2d(a, 2))
            c = self.down[2](functional.max_pool2d(b, 2))
            b = self.middle(torch.cat([self.up(c), b], 1))
            return torch.sigmoid(self.last(torch.cat([self.resize(b), a], 1)))

    return image(Net(), 32, free=True)


@model
def diffusion_unet():
    """A U-Net for diffusion: group norm, an embedding of the time step, attention, nearest upsampling."""

    class Block(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.norms = nn.ModuleList([nn.GroupNorm(4, inputs), nn.GroupNorm(4, outputs)])
            self.convolutions = nn.ModuleList([nn.Conv2d(inputs, outputs, 3, padding=1), nn.Conv2d(outputs, outputs, 3, padding=1)])
            self.time = nn.Linear(32, outputs)
            self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

        def forward(self, x, t):
            h = self.convolutions[0](functional.silu(self.norms[0](x))) + self.time(functional.silu(t))[:, :, None, None]
            return self.skip(x) + self.convolutions[1](functional.silu(self.norms[1](h)))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.time = nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 32))
            self.first = nn.Conv2d(3, 8, 3, padding=1)
            self.down = nn.ModuleList([Block(8, 8), Block(8, 16)])
            self.shrink = nn.Conv2d(8, 8, 3, 2, 1)
            self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
            self.up = nn.ModuleList([Block(24, 8)])
            self.last = nn.Sequential(nn.GroupNorm(4, 8), nn.SiLU(), nn.Conv2d(8, 3, 3, padding=1))

        def forward(self, x, t):
            rates = torch.exp(-math.log(10000) * torch.arange(8, device=x.device) / 8)
            angles = t[:, None].float() * rates[None]
            t = self.time(torch.cat([angles.sin(), angles.cos()], -1))
            a = self.down[0](self.first(x), t)
            b = self.down[1](self.shrink(a), t)
            flat = b.flatten(2).transpose(1, 2)
            flat = flat + self.attention(flat, flat, flat, need_weights=False)[0]
            b = flat.transpose(1, 2).reshape(b.shape)
            b = functional.interpolate(b, scale_factor=2.0, mode="nearest")
            return self.last(self.up[0](torch.cat([a, b], 1), t))

    inputs = lambda batch, size: (torch.randn(batch, 3, size, size + 8), torch.randint(0, 1000, (batch,)))
    return Example(randomise(Net()).eval(), inputs(2, 16), [inputs(3, 24), inputs(3, 16)])


@model
def dcgan():
    layers = []
    for inputs, outputs in [(16, 24), (24, 16), (16, 8)]:
        layers += [nn.ConvTranspose2d(inputs, outputs, 4, 2, 1, bias=False), nn.BatchNorm2d(outputs), nn.LeakyReLU(0.2, True)]
    module = nn.Sequential(*layers, nn.ConvTranspose2d(8, 3, 3, 2, 1, 1), nn.Tanh())
    randomise(module, (torch.randn(4, 16, 2, 2),))
    return Example(module.eval(), (torch.randn(2, 16, 2, 2),), [(torch.randn(3, 16, 3, 4),), (torch.randn(3, 16, 2, 2),)])


@model
def super_resolution():
    module = nn.Sequential(nn.Conv2d(1, 16, 5, padding=2), nn.PReLU(16), nn.ReflectionPad2d(1), nn.Conv2d(16, 9, 3), nn.PixelShuffle(3), nn.InstanceNorm2d(1, affine=True), nn.Hardtanh())
    return image(module, 32, channels=1, free=True)


@model
def temporal_convolution():
    module = nn.Sequential(
        nn.ConstantPad1d((4, 0), 0), nn.Conv1d(4, 8, 3, dilation=2), nn.BatchNorm1d(8), nn.ELU(), nn.Conv1d(8, 8, 5, groups=4, padding="same"),
        nn.MaxPool1d(2), nn.Softplus(), nn.AdaptiveAvgPool1d(3), nn.Flatten(), nn.Linear(24, 3),
    )
    randomise(module, (torch.randn(4, 4, 24),))
    return Example(module.eval(), (torch.randn(2, 4, 24),), [(torch.randn(3, 4, 30),), (torch.randn(3, 4, 24),)])


@model
def volume():
    module = nn.Sequential(nn.Conv3d(1, 4, 3, padding=1), nn.BatchNorm3d(4), nn.ReLU(), nn.MaxPool3d(2), nn.Conv3d(4, 8, 3, stride=2), nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(8, 3))
    randomise(module, (torch.randn(4, 1, 8, 8, 8),))
    return Example(module.eval(), (torch.randn(2, 1, 8, 8, 8),), [(torch.randn(3, 1, 8, 8, 8),)])


def encoder(entry, **options):
    """Adds PyTorch's own transformer encoder with a mask of padding."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, **options)
            self.net = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

        def forward(self, x, padding):
            return self.net(x, src_key_padding_mask=padding)

    def make():
        inputs = lambda batch, length: (torch.randn(batch, length, 16), mask(batch, length) == 0)
        return Example(randomise(Net()).eval(), inputs(2, 6), [inputs(3, 5), inputs(3, 6)])

    MODELS[entry] = make


encoder("transformer_encoder")
encoder("transformer_encoder_first_norm", norm_first=True, activation="gelu")


@model
def transformer():
    """PyTorch's own transformer with a causal mask."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Transformer(16, 2, 1, 1, 32, batch_first=True)

        def forward(self, source, target):
            causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
            return self.net(source, target, tgt_mask=causal, tgt_is_causal=True)

    inputs = lambda batch, a, b: (torch.randn(batch, a, 16), torch.randn(batch, b, 16))
    return Example(randomise(Net()).eval(), inputs(2, 6, 4), [inputs(3, 5, 7), inputs(3, 6, 4)])


@model
def attention_weights():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.MultiheadAttention(16, 4, kdim=12, vdim=10, bias=True, add_bias_kv=True)

        def forward(self, q, k, v):
            return self.net(q, k, v)

    inputs = lambda n, m, batch: (torch.randn(n, batch, 16), torch.randn(m, batch, 12), torch.randn(m, batch, 10))
    return Example(randomise(Net()).eval(), inputs(5, 7, 2), [inputs(4, 6, 3), inputs(5, 7, 3)])


@model
def recommender():
    """Bags of embeddings and dense features, as in DLRM."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.bags = nn.ModuleList([nn.EmbeddingBag(50, 8, mode=mode) for mode in ("sum", "mean")])
            self.dense = nn.Sequential(nn.Linear(5, 8), nn.ReLU())
            self.head = nn.Linear(8 + 3, 1)

        def forward(self, dense, a, b):
            x = self.dense(dense)
            parts = torch.stack([x, self.bags[0](a), self.bags[1](b)], 1)
            pairs = torch.bmm(parts, parts.transpose(1, 2))
            i, j = torch.tril_indices(3, 3, -1)
            return torch.sigmoid(self.head(torch.cat([x, pairs[:, i, j]], 1)))

    inputs = lambda batch: (torch.randn(batch, 5), torch.randint(0, 50, (batch, 4)), torch.randint(0, 50, (batch, 3)))
    return Example(Net().eval(), inputs(2), [inputs(5)])


@model
def graph_convolution():
    """Sums over the edges of a graph."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(6, 8), nn.Linear(8, 4)])

        def forward(self, x, edges):
            source, target = edges
            degree = torch.zeros(x.shape[0]).scatter_add_(0, target, torch.ones(edges.shape[1])).clamp(min=1)
            for layer in self.layers:
                h = layer(x)
                x = torch.relu(h + torch.zeros_like(h).index_add(0, target, h[source]) / degree[:, None])
            return x, x.amax(0), torch.zeros_like(x).scatter_reduce(0, target[:, None].expand(-1, 4), x[source], "amax")

    inputs = lambda nodes, edges: (torch.randn(nodes, 6), torch.randint(0, nodes, (2, edges)))
    return Example(Net().eval(), inputs(7, 20), [inputs(9, 31)])


@model
def branches():
    """torch.cond on a value."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(6, 4), nn.Linear(6, 4)

        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda x: torch.relu(self.a(x)), lambda x: torch.tanh(self.b(x)) * 2, (x,))

    return Example(Net().eval(), (torch.randn(2, 6) + 1,), [(torch.randn(3, 6) - 1,)])


@model
def branches_of_size():
    """torch.cond on a size."""

    class Net(nn.Module):
        def forward(self, x):
            return torch.cond(x.shape[0] > 4, lambda x: x.cumsum(0), lambda x: x.sin(), (x,))

    return Example(Net().eval(), (torch.randn(3, 6),), [(torch.randn(6, 6),)])


@model
def loop():
    """torch.while_loop."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(4, 4)

        def forward(self, count, x):
            from torch._higher_order_ops.while_loop import while_loop

            return while_loop(lambda k, x: k > 0, lambda k, x: (k - 1, torch.tanh(self.net(x)) + x), (count, x))

    return Example(Net().eval(), (torch.tensor(3), torch.randn(2, 4)), [(torch.tensor(5), torch.randn(3, 4))])


@model
def scanned():
    """torch's scan over the first dimension."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(4, 4)

        def forward(self, start, xs):
            from torch._higher_order_ops.scan import scan

            def step(carry, x):
                carry = torch.tanh(self.net(carry) + x)
                return carry, carry * 2

            return scan(step, start, xs)

    return Example(Net().eval(), (torch.randn(2, 4), torch.randn(5, 2, 4)), [(torch.randn(2, 4), torch.randn(7, 2, 4))])


@model
def batch_norm_training():
    """Batch norm in training. The running statistics are buffers that each run changes, and outputs."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.convolution, self.norm = nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6)
            self.cumulative = nn.BatchNorm1d(6, momentum=0.3)

        def forward(self, x):
            y = self.cumulative(torch.relu(self.norm(self.convolution(x))).mean((2, 3)))
            return y, self.norm.running_mean + 0, self.norm.running_var * 2, self.norm.num_batches_tracked + 0

    return Example(randomise(Net()).train(), (torch.randn(4, 3, 8, 8),), [(torch.randn(5, 3, 9, 7),), (torch.randn(5, 3, 8, 8),)])


@model
def counter():
    """Buffers that each run changes, one of them by part of its elements."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.tensor(3))
            self.register_buffer("ring", torch.randn(4, 3))
            self.register_buffer("scratch", torch.ones(3), persistent=False)

        def forward(self, x):
            self.count += 1
            self.ring[1:] = self.ring[:-1].clone()
            self.ring[0] = x.mean(0)
            self.scratch.mul_(2)
            return self.ring.sum(0) * self.scratch, self.count * 2

    return Example(Net().eval(), (torch.randn(2, 3),), [(torch.randn(5, 3),)])


@model
def changed_input():
    """An input that the program writes."""

    class Net(nn.Module):
        def forward(self, x, y):
            x.mul_(2)
            x[:, 0] += y
            return x + 1, x.view(-1)[:2]

    return Example(Net().eval(), (torch.randn(3, 4), torch.randn(3)), [(torch.randn(5, 4), torch.randn(5))])


@model
def same_outputs():
    """An output that is an input, outputs that are the same tensor, a weight and a constant, and an output that is a number."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net, self.constant = nn.Linear(3, 3), torch.arange(4)

        def forward(self, x, unused):
            y = self.net(x)
            return {"y": y, "again": y, "x": x, "weight": self.net.weight, "constant": self.constant, "lifted": torch.tensor([1.5, 2.5]) * y.mean()}

    return Example(Net().eval(), (torch.randn(2, 3), torch.randn(4)), [(torch.randn(5, 3), torch.randn(4))])


@model
def chosen():
    """Results whose sizes depend on values."""

    class Net(nn.Module):
        def forward(self, x, scores):
            kept = scores > 0
            rows = kept.nonzero().squeeze(1)
            best, order = scores.topk(2)
            return x[kept], rows, x[order], best, torch.sort(scores, descending=True).values, torch.unique(scores.round())

    return Example(Net().eval(), (torch.randn(9, 3), torch.randn(9)), [(torch.randn(12, 3), torch.randn(12))])


@model
def items():
    """A number that is read out of a tensor, and used as a size."""

    class Net(nn.Module):
        def forward(self, x, n):
            count = n.item()
            torch._check(count >= 1)
            torch._check(count <= x.shape[0])
            return x.narrow(0, 0, count).sum(0), torch.full((count,), 2.5), torch.arange(count)

    return Example(Net().eval(), (torch.randn(9, 3), torch.tensor(4)), [(torch.randn(7, 3), torch.tensor(5))])


@model
def spectrum():
    """A spectrogram by a Fourier transform."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", torch.hann_window(16))
            self.filters = nn.Linear(9, 5, bias=False)

        def forward(self, x):
            spectrum = torch.stft(x, 16, 8, window=self.window, return_complex=True)
            power = spectrum.abs() ** 2
            return self.filters(power.transpose(1, 2)).abs().clamp(min=1e-5).log10()

    return Example(Net().eval(), (torch.randn(2, 96),), [(torch.randn(3, 128),), (torch.randn(3, 96),)])


@model
def fourier_layer():
    """A layer of a Fourier neural operator."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(4, 4, 5, dtype=torch.complex64) / 4)
            self.skip = nn.Conv1d(4, 4, 1)

        def forward(self, x):
            y = torch.fft.rfft(x)
            y = torch.einsum("bim,iom->bom", y[..., :5], self.weight)
            return functional.gelu(torch.fft.irfft(y, n=x.shape[-1]) + self.skip(x))

    return Example(Net().eval(), (torch.randn(2, 4, 16),), [(torch.randn(3, 4, 16),)])


@model
def grid():
    """A spatial transformer."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(3, 6)

        def forward(self, x):
            theta = self.net(x.mean((2, 3))).view(-1, 2, 3)
            return functional.grid_sample(x, functional.affine_grid(theta, x.shape, align_corners=False), align_corners=False)

    return image(Net(), 16)


@model
def losses():
    """Losses as a part of the program."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(6, 5)

        def forward(self, x, target):
            y = self.net(x)
            hot = functional.one_hot(target, 5).float()
            return (
                functional.cross_entropy(y, target, label_smoothing=0.1), functional.mse_loss(y, hot), functional.smooth_l1_loss(y, hot),
                functional.binary_cross_entropy_with_logits(y, hot), functional.kl_div(y.log_softmax(1), hot.softmax(1), reduction="batchmean"),
                functional.cosine_similarity(y, hot), functional.huber_loss(y, hot), (y.argmax(1) == target).float().mean(),
            )

    inputs = lambda batch: (torch.randn(batch, 6), torch.randint(0, 5, (batch,)))
    return Example(Net().eval(), inputs(3), [inputs(6)])


@model
def indexing():
    """Ways to index, to slice and to write slices."""

    class Net(nn.Module):
        def forward(self, x, i):
            y = x.clone()
            y[:, ::2] = 0
            y[i, 1] = 5
            y[y > 1] = -1
            parts = x.chunk(2, 1)
            return (
                y, x[i], x[:, i[0]], x[..., None, -1], x.gather(0, i[:, None].expand(-1, 4)), torch.where(x > 0, x, x.exp()), parts[1] - parts[0],
                x.flip(0).roll(1, 1), x.unfold(1, 2, 1), torch.take_along_dim(x, i[None, :2], 1), x.masked_fill(x < 0, 9), x.diagonal(), x.tril(),
                torch.nn.functional.pad(x, (1, 2), value=3), x.repeat(2, 1), x.repeat_interleave(2, 0), torch.stack([x, x], -1), x.split([1, 3], 1)[1],
            )

    return Example(Net().eval(), (torch.randn(5, 4), torch.tensor([2, 0, 3, 1])), [(torch.randn(6, 4), torch.tensor([3, 1, 2, 0]))])


@model
def arithmetic():
    """Types that mix, integers, and sizes in arithmetic."""

    class Net(nn.Module):
        def forward(self, x, n):
            size = x.shape[0] * 3 // 2 + x.shape[1] ** 2 - 1
            positions = torch.arange(size) % 5
            return (
                x / x.shape[0], n // 2, n % 3, n / 2, x.double() * n[:1], n.float().rsqrt(), positions, x.to(torch.int32), n.bool() & (n > 3),
                torch.linspace(0, 1, 5) * size, x.std(0), x.var(1, unbiased=False), x.logsumexp(0), x.norm(dim=1), x.cumsum(0), x.prod(1), x.min(1),
                x.argmax(), torch.outer(x[0], x[1]), x.erf(), x.lerp(x + 1, 0.3), x.clamp(-0.5, 0.5), x.round(), x.sign(), torch.atan2(x, x + 1), x.pow(3), 2**x,
                x.half().float(), n.to(torch.uint8), ~n, n << 1, n.eq(2).any(), x.isnan().all(), torch.addmm(x[0, :3], x, x.new_ones(x.shape[1], 3)), x.softmax(0),
            )

    return Example(Net().eval(), (torch.randn(4, 4), torch.tensor([1, 2, 3, 7])), [(torch.randn(6, 4), torch.tensor([1, 2, 3, 7]))])


@model
def linear_algebra():
    class Net(nn.Module):
        def forward(self, a, b):
            spd = a @ a.mT + 4 * torch.eye(4)
            return torch.linalg.solve(spd, b), torch.linalg.cholesky(spd), torch.linalg.inv(spd), torch.linalg.det(spd), torch.einsum("bij,bkj->bik", a, b.mT), torch.cdist(a, b.mT)

    return Example(Net().eval(), (torch.randn(2, 4, 4), torch.randn(2, 4, 3)), [(torch.randn(3, 4, 4), torch.randn(3, 4, 3))])
