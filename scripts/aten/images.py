"""Pooling, resampling and rearranging of images."""

import torch

from .writing import S, case, f, i, p, turned

MODES = [("nearest", []), ("_nearest_exact", []), ("linear", [False]), ("linear", [True])]


def pooling():
    one, two, three = f(1, 2, 9), f(1, 1, 5, 6), f(1, 1, 4, 3, 4)
    case("max_pool1d", one, [3])
    case("max_pool1d", one, [3], [2], [1], [2], True)
    case("max_pool1d_with_indices", one, [3], [2])
    case("max_pool2d", two, [2, 2])
    case("max_pool2d", two, [2, 3], [1, 2], [1, 1])
    case("max_pool2d", two, [2], [2], [1], [1], True)
    case("max_pool2d", two[0], [3], [2])
    case("max_pool3d", three, [2, 2, 2])
    case("max_pool3d", three, [2], [1], [1], [1], True)
    case("max_pool2d_with_indices", two, [2, 2])
    case("max_pool2d_with_indices", two, [3, 2], [2, 2], [1, 1], [1, 2], True)
    case("max_pool2d_with_indices", two, [2, 2], unused=[1])
    case("max_pool3d_with_indices", three, [2, 2, 2])
    case("avg_pool1d", one, [3])
    case("avg_pool1d", one, [2], [2], [1], True, False)
    case("avg_pool2d", two, [2, 2])
    case("avg_pool2d", two, [3, 2], [2, 2], [1, 1], True)
    case("avg_pool2d", two, [3, 2], [2, 2], [1, 1], True, False)
    case("avg_pool2d", two, [2, 2], [], [0, 0], False, True, 3)
    case("avg_pool2d", two, [2], [1], [1], False, False)
    case("avg_pool3d", three, [2, 2, 2])
    case("avg_pool3d", three, [2], [2], [1], True, False)
    case("avg_pool3d", three, [2], [2], [0], False, True, 3)
    for n, x in [(1, one), (2, two), (3, three)]:
        sizes = [1, 2, 3][:n]
        case(f"adaptive_avg_pool{n}d", x, sizes)
        case(f"adaptive_max_pool{n}d", x, sizes)
        if n > 1:
            case(f"_adaptive_avg_pool{n}d", x, sizes)
    case("adaptive_avg_pool2d", two, [S(1), 4])
    pooled, at = torch.ops.aten.max_pool2d_with_indices(two, [2, 2])
    case("max_pool2d_with_indices_backward", f(*pooled.shape, seed=1), two, [2, 2], [], [0, 0], [1, 1], False, at)
    case("avg_pool2d_backward", f(1, 1, 2, 3), two, [2, 2], [], [0, 0], False, True, None)
    case("avg_pool2d_backward", f(1, 1, 3, 4), two, [2, 2], [2, 2], [1, 1], False, False, None)
    case("avg_pool2d_backward", f(1, 1, 2, 3), two, [2, 2], [], [0, 0], False, True, 3)
    case("avg_pool3d_backward", f(1, 1, 2, 1, 2), three, [2, 2, 2], [], [0, 0, 0], False, True, None)
    case("_adaptive_avg_pool2d_backward", f(1, 1, 2, 3), two)
    case("_adaptive_avg_pool3d_backward", f(1, 1, 2, 1, 2), three)
    case("max_unpool2d", pooled, at, [5, 6])
    pooled, at = torch.ops.aten.max_pool3d_with_indices(three, [2, 2, 2])
    case("max_pool3d_with_indices_backward", f(*pooled.shape), three, [2, 2, 2], [], [0, 0, 0], [1, 1, 1], False, at)
    case("max_unpool3d", pooled, at, [4, 3, 4], [2, 2, 2], [0, 0, 0])


def resampling():
    images = [f(1, 2, 5), f(1, 1, 3, 4), f(1, 1, 2, 3, 2)]
    for n, x in enumerate(images, 1):
        sizes = [7, 5, 3][:n]
        for kind, align in MODES:
            base = {"nearest": "upsample_nearest", "_nearest_exact": "_upsample_nearest_exact"}.get(kind)
            base = base + f"{n}d" if base else ["upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d"][n - 1]
            case(base + ".vec", x, sizes, *align, None)
            case(base + ".vec", x, None, *align, [2.0] * n)
            case(base + ".vec", x, None, *align, [1.3] * n)
            case(base, x, sizes, *align)
            case(base, x, [int(size * 1.3) for size in x.shape[2:]], *align, *[1.3] * n)
        if n > 1:
            case(f"upsample_nearest{n}d.vec", x, None, [2.0, 3.0, 1.0][:n])
            case(f"upsample_nearest{n}d.vec", x, None, [1.3, 1.7, 1.6][:n])
    two = images[1]
    case("upsample_bilinear2d.vec", two, None, False, [1.3, 1.7])
    case("upsample_bilinear2d.vec", two, [S(6), S(8)], False, None)
    case("upsample_bilinear2d", two, [4, 6], False, 1.5, 1.5)
    for align in [False, True]:
        case("upsample_bicubic2d.vec", two, [5, 6], align, None)
        case("upsample_bicubic2d.vec", two, None, align, [1.3, 1.3])
        case("upsample_bicubic2d", two, [5, 6], align)
        case("upsample_bicubic2d", two, [3, 5], align, 1.3, 1.3)
        for kind in ["bilinear", "bicubic"]:
            case(f"_upsample_{kind}2d_aa.vec", two, [2, 3], align, None)
            case(f"_upsample_{kind}2d_aa.vec", two, None, align, [0.7, 0.7])
            case(f"_upsample_{kind}2d_aa", two, [2, 3], align)
    grid = f(1, 2, 3, 2) / 2
    for mode in [0, 1, 2]:
        for padding in [0, 1, 2]:
            case("grid_sampler_2d", two, grid, mode, padding, padding == 1)
    case("grid_sampler", two, grid, 0, 0, True)
    case("grid_sampler_3d", images[2], f(1, 2, 1, 2, 3) / 2, 0, 0, False)
    case("grid_sampler_3d", images[2], f(1, 2, 1, 2, 3) / 2, 1, 1, True)
    case("affine_grid_generator", f(1, 2, 3), [1, 2, 2, 3], False)
    case("affine_grid_generator", f(1, 3, 4), [1, 1, 2, 2, 2], True)


def rearranging():
    case("pixel_shuffle", f(1, 4, 2, 3), 2)
    case("pixel_unshuffle", f(1, 1, 4, 6), 2)
    case("channel_shuffle", f(1, 4, 2, 2), 2)
    case("native_channel_shuffle", f(1, 4, 2, 2), 2)
    case("im2col", f(1, 2, 4, 4), [2, 2], [1, 1], [0, 0], [1, 1])
    case("im2col", f(1, 1, 4, 5), [2, 3], [1, 1], [1, 0], [2, 1])
    case("col2im", f(1, 8, 9), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1])


def cases():
    for part in [pooling, resampling, rearranging]:
        part()
