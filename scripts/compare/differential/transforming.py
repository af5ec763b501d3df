"""Cases of Fourier transforms."""

import math

import torch

from ..library import FLOATS
from .calls import Call, Expected, R

SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12]
LONG = [17, 31, 64, 97, 100, 128, 211, 360, 1000, 1009, 2048]


def complex_of(t):
    t = t.double()
    return torch.complex(t[..., 0].contiguous(), t[..., 1].contiguous())


def pairs(z):
    return torch.view_as_real(z.resolve_conj())


def known(shape, dims, is_complex):
    """True if a tensor has a signal with this many dimensions, none of them empty."""
    rank = len(shape) - is_complex
    if is_complex and (not shape or shape[-1] != 2):
        raise RuntimeError("complex numbers are pairs")
    if not 1 <= dims <= rank or 0 in shape[rank - dims : rank]:
        raise RuntimeError("no such signal")
    return [*range(rank - dims, rank)]


def transformed(dtype, exact, x, axes, factor, count):
    """The tolerance is relative to the root of the sum of squares of a signal and to its maximum, and grows with the logarithm of its
    size."""
    if not dtype.is_floating_point:
        raise RuntimeError("floats only")
    size = x.abs().square().sum(axes, keepdim=True).sqrt().amax() * factor + exact.abs().amax() if x.numel() else torch.zeros(())
    finest = torch.finfo(torch.promote_types(dtype, torch.float32)).eps / torch.finfo(dtype).eps
    return Expected(exact.to(dtype), [exact], size.double() * (finest * 4 * (2 + math.log2(count))))


def shape_of(draw, dims):
    rank = max(dims, 0) + draw.choice([0, 0, 1, 1, 2])
    shape = [draw.choice(SIZES) for _ in range(rank)]
    if shape and draw.chance(0.15):
        shape = [min(n, 3) for n in shape[:-1]] + [draw.choice(LONG)]
    if shape and draw.chance(0.03):
        shape[draw.random.randrange(rank)] = 0
    return shape


def whole(draw):
    """fft and ifft."""
    dims, normalized, inverse = draw.choice([1, 1, 2, 2, 3]) if draw.chance(0.98) else draw.choice([0, -1, 4]), draw.choice([0, 1]), draw.chance(0.5)
    shape = [*shape_of(draw, dims), 2 if draw.chance(0.98) else 3]
    t = draw.operand(draw.floats() if draw.chance(0.97) else draw.dtype(), shape, "plain")
    name = "ifft" if inverse else "fft"
    if draw.chance(0.3):
        dims, normalized, name = 2, 0, name + "2"

    def want():
        axes = known(shape, dims, True)
        count = math.prod(shape[d] for d in axes)
        x = complex_of(t.value)
        f = torch.fft.ifftn if inverse else torch.fft.fftn
        factor = count**-0.5 if normalized else 1 / count if inverse else 1
        return transformed(t.dtype, pairs(f(x, dim=axes, norm="ortho" if normalized else "backward")), x, axes, factor, count)

    return Call(name, [R, t, *([] if name.endswith("2") else [dims, normalized])], want)


def from_real(draw):
    dims, normalized, onesided = draw.choice([1, 1, 2, 2, 3]) if draw.chance(0.98) else draw.choice([0, -1, 4]), draw.choice([0, 1]), draw.choice([0, 1])
    shape = shape_of(draw, dims)
    t = draw.operand(draw.floats() if draw.chance(0.97) else draw.dtype(), shape, "plain")

    def want():
        axes = known(shape, dims, False)
        count = math.prod(shape[d] for d in axes)
        x = t.value.double()
        f = torch.fft.rfftn if onesided else torch.fft.fftn
        return transformed(t.dtype, pairs(f(x, dim=axes, norm="ortho" if normalized else "backward")), x, axes, count**-0.5 if normalized else 1, count)

    return Call("rfft", [R, t, dims, normalized, onesided], want)


def to_real(draw):
    """irfft, of any half spectrum, also of one that no real signal has."""
    dims, normalized, onesided = draw.choice([1, 1, 2, 2, 3]), draw.choice([0, 1]), draw.choice([0, 1])
    shape = shape_of(draw, dims)
    axes = [*range(len(shape) - dims, len(shape))]
    sizes = [shape[d] for d in axes]
    if onesided:
        sizes[-1] = 2 * (sizes[-1] - 1) + draw.choice([0, 1])
    given = sizes if draw.chance(0.7) else None
    if given is None and onesided:
        sizes[-1] = 2 * (shape[-1] - 1)
    if given and draw.chance(0.03):
        given = [n + 1 for n in given]
    t = draw.operand(draw.floats() if draw.chance(0.97) else draw.dtype(), [*shape, 2], "plain")

    def want():
        known([*shape, 2], dims, True)
        if given not in (None, sizes) and [n // 2 + 1 if onesided and d == dims - 1 else n for d, n in enumerate(given)] != [shape[d] for d in axes]:
            raise RuntimeError("not the sizes of the signal")
        made = given or sizes
        if min(made) < 1:
            raise RuntimeError("no such signal")
        count, x = math.prod(made), complex_of(t.value)
        norm = "ortho" if normalized else "backward"
        exact = torch.fft.irfftn(x, made, axes, norm) if onesided else torch.fft.ifftn(x, dim=axes, norm=norm).real
        return transformed(t.dtype, exact, x, axes, 2 * (count**-0.5 if normalized else 1 / count), count)

    return Call("irfft", [R, t, dims, normalized, onesided, dims if given else 0, given], want)


def families():
    for draw_call in (whole, whole, from_real, to_real):
        yield draw_call.__name__, draw_call
