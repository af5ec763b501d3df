"""Convolutions, normalizations, attention, recurrent layers, dropout and losses."""

import math

import torch

from .writing import S, b, case, f, fails, i, p, turned

F16, BF16, F32, F64 = torch.float16, torch.bfloat16, torch.float32, torch.float64


def convolutions():
    one, two, three = f(2, 4, 5), f(1, 2, 4, 5), f(1, 2, 2, 3, 3)
    w1, w2, w3 = f(6, 4, 3, seed=1), f(2, 2, 3, 2, seed=1), f(2, 2, 2, 2, 2, seed=1)
    case("conv1d", one[:1], w1[:2], f(2))
    case("conv1d", one[:1], w1[:2], None, [2], [1])
    case("conv1d", one[:1], f(4, 2, 3), None, [1], [0], [2], 2)
    case("conv1d", one[0], w1[:2], f(2))
    case("conv2d", two, w2, f(2))
    case("conv2d", two, w2, None, [2, 1], [1, 0])
    case("conv2d", f(1, 2, 3, 4), w2, None, [1, 1], [1, 1], [1, 2])
    case("conv2d", two, f(2, 1, 3, 3), f(2), [1, 1], [1, 1], [1, 1], 2)
    case("conv2d", f(2, 3, 3), w2, f(2), [2], [1])
    case("conv2d", f(0, 2, 5, 6), w2, f(2))
    case("conv3d", three, w3, f(2))
    case("conv3d", three, w3, None, [1, 2, 1], [1, 0, 0])
    for name, x, w in [("conv1d", one[:1], w1[:2]), ("conv2d", two, w2), ("conv3d", three, w3)]:
        case(name + ".padding", x, w, f(2))
        for padding in ["same", "valid"]:
            case(name + ".padding", x, w, f(2), [1] * (x.ndim - 2), padding)
    case("conv1d.padding", one[:1], f(2, 4, 4), None, [1], "same", [2])
    case("conv2d.padding", f(2, 3, 3), w2, None, [1], "same")
    case("convolution", two, w2, f(2), [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    case("convolution", one[:1], w1[:2], None, [2], [1], [1], False, [0], 1)
    case("convolution", two, f(2, 2, 3, 2), f(2), [2, 2], [1, 1], [1, 1], True, [1, 0], 1)
    case("convolution", three, w3, None, [1, 1, 1], [0, 0, 0], [1, 1, 1], False, [0, 0, 0], 1)
    case("_convolution", two, w2, f(2), [1, 1], [0, 0], [1, 1], False, [0, 0], 1, False, False, False, False)
    case("conv_transpose1d", one[:1], f(4, 2, 3), f(2))
    case("conv_transpose1d", one[:1], f(4, 1, 3), None, [2], [1], [1], 2)
    case("conv_transpose2d.input", two, f(2, 2, 3, 2), f(2))
    case("conv_transpose2d.input", two, f(2, 2, 3, 2), None, [2, 2], [1, 0], [1, 0], 1, [1, 1])
    case("conv_transpose2d.input", f(2, 2, 2), f(2, 2, 2, 2), None, [2, 2], [0, 0], [1, 1])
    case("conv_transpose2d.input", two, f(2, 2, 2, 2), None, [1], [0], [0], 2, [2])
    case("conv_transpose3d.input", three, f(2, 1, 2, 2, 2), f(1))
    case("conv_transpose3d.input", three, f(2, 1, 2, 2, 2), None, [2, 1, 2], [1, 0, 0], [1, 0, 0])
    mask = [True, True, True]
    y = f(1, 2, 2, 4)
    case("convolution_backward", y, two, w2, [2], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, mask)
    case("convolution_backward", y, two, w2, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True, True, False], unused=[2])
    transposed = torch.ops.aten.convolution(two, f(2, 2, 3, 2), None, [2, 2], [1, 1], [1, 1], True, [1, 0], 1)
    case("convolution_backward", f(*transposed.shape), two, f(2, 2, 3, 2), [2], [2, 2], [1, 1], [1, 1], True, [1, 0], 1, mask)


def normalizations():
    x, w, c = f(2, 3, 4), f(3, seed=1), f(3, seed=2)
    mean, var = f(3, seed=3), p(3)
    case("batch_norm", x, w, c, mean, var, False, 0.1, 1e-5, True)
    case("batch_norm", x, w, c, mean, var, True, 0.1, 1e-5, True)
    case("batch_norm", x, None, None, None, None, True, 0.1, 1e-5, False)
    case("batch_norm", f(4, 3), None, None, mean, var, True, 0.25, 1e-3, False)
    empty = {"unused": [1, 2]}
    case("_native_batch_norm_legit_no_training", x, w, c, mean, var, 0.1, 1e-5, **empty)
    case("native_batch_norm", x, w, c, mean, var, True, 0.1, 1e-5)
    case("native_batch_norm", x, w, c, mean, var, False, 0.1, 1e-5, **empty)
    case("_native_batch_norm_legit", x, w, c, mean, var, True, 0.1, 1e-5)
    case("_native_batch_norm_legit.no_stats", x, w, c, True, 0.1, 1e-5)
    case("_native_batch_norm_legit_functional", x, w, c, mean, var, True, 0.1, 1e-5)
    case("_batch_norm_no_update", x, w, c, mean, var, 0.1, 1e-5, unused=[1, 2, 3])
    case("_batch_norm_with_update", x, w, c, mean, var, 0.1, 1e-5, unused=[3])
    case("_batch_norm_with_update_functional", x, w, c, mean, var, 0.1, 1e-5, unused=[3])
    case("layer_norm", x, [4])
    case("layer_norm", x, [3, 4], f(3, 4), f(3, 4, seed=1), 1e-3)
    case("layer_norm", x, [4], f(4), None)
    case("layer_norm", x, [4], None, f(4))
    case("layer_norm", f(2, 4, dtype=F16), [4], f(4, dtype=F16))
    case("native_layer_norm", x, [4], f(4), f(4, seed=1), 1e-5)
    case("native_layer_norm", x, [3, 4], None, None, 1e-5)
    case("native_layer_norm", x, [4], f(4), f(4, seed=1), 1e-5, unused=[1, 2])
    case("group_norm", f(2, 4, 3), 2, f(4), f(4, seed=1))
    case("group_norm", f(2, 4, 3), 4)
    case("native_group_norm", f(2, 4, 3), f(4), f(4, seed=1), 2, 4, 3, 2, 1e-5)
    case("native_group_norm", f(2, 4, 3), None, None, 2, 4, 3, 1, 1e-5)
    case("instance_norm", f(2, 3, 4), w, c, None, None, True, 0.1, 1e-5, True)
    case("instance_norm", f(2, 3, 4), None, None, None, None, True, 0.1, 1e-5, True)
    case("instance_norm", f(2, 3, 4), w, c, mean, var, False, 0.1, 1e-5, True)
    case("rms_norm", x, [4])
    case("rms_norm", x, [4], f(4), 1e-3)
    case("rms_norm", x, [3, 4], None, 0.5)
    case("rms_norm", f(2, 4, dtype=F16), [4], f(4, dtype=F16))
    case("_fused_rms_norm", x, [4], f(4), 1e-3)
    case("_fused_rms_norm", x, [4], None, None)
    for v, dim in [(f(3, 2, 4), 0), (f(3, 2, 4), 2), (f(3, 2, 4), 1), (f(4), 0)]:
        g = f(*(size if k == dim else 1 for k, size in enumerate(v.shape)), seed=1)
        case("_weight_norm", v, g, dim)
        if dim in (0, v.ndim - 1):
            case("_weight_norm_interface", v, g, dim)
    case("_weight_norm", f(3, 4), f(1, seed=1)[0], -1)
    case("_weight_norm", f(3, 4), f(3, 1, seed=1))
    case("_weight_norm", f(3, 4, dtype=BF16), f(3, 1, seed=1, dtype=BF16), 0)
    case("_weight_norm_interface", f(3, 4, dtype=BF16), f(3, 1, seed=1, dtype=BF16), 0)
    g = f(2, 3, 4, seed=4)
    _, m, r = torch.ops.aten.native_layer_norm(x, [4], f(4), f(4, seed=1), 1e-5)
    case("native_layer_norm_backward", g, x, [4], m, r, f(4), f(4, seed=1), [True, True, True])
    case("native_layer_norm_backward", g, x, [4], m, r, None, None, [True, False, False], unused=[1, 2])
    z = f(2, 4, 3)
    _, m, r = torch.ops.aten.native_group_norm(z, f(4), f(4, seed=1), 2, 4, 3, 2, 1e-5)
    case("native_group_norm_backward", f(2, 4, 3, seed=3), z, m, r, f(4), 2, 4, 3, 2, [True, True, True])
    case("native_group_norm_backward", f(2, 4, 3, seed=3), z, m, r, None, 2, 4, 3, 2, [True, False, False], unused=[1, 2])


def attention():
    q, k, v = f(1, 2, 3, 4), f(1, 2, 5, 4, seed=1), f(1, 2, 5, 4, seed=2)
    name = "scaled_dot_product_attention"
    case(name, q, k, v)
    case(name, q, k, v, b(3, 5))
    case(name, q, k, v, f(1, 1, 3, 5))
    case(name, q, k, v, None, 0.0, True)
    case(name, q, k, v, scale=0.25)
    case(name, q, k, v, f(3, 5), scale=1.0)
    case(name, f(1, 4, 3, 4), k, v, enable_gqa=True)
    case(name, f(1, 4, 3, 4), k, v, scale=0.5, enable_gqa=True, is_causal=True)
    case(name, f(3, 4), f(5, 4, seed=1), f(5, 4, seed=2))
    case(name, f(2, 3, 4), f(2, 5, 4, seed=1), f(2, 5, 4, seed=2))
    mask = b(3, 5)
    mask[1] = False
    case(name, q, k, v, mask)
    flash = "_scaled_dot_product_flash_attention_for_cpu"
    case(flash, q, k, v)
    case(flash, q, k, v, 0.0, False, attn_mask=f(3, 5), scale=0.5)
    case(flash, q, k, v, 0.0, True, unused=[1])
    case("_scaled_dot_product_attention_math", q, k, v, unused=[1])
    case("_scaled_dot_product_attention_math", q, k, v, f(3, 5), 0.0, False, None, scale=0.5, unused=[1])


def recurrent():
    def weights(gates, layers=1, directions=1, biases=True, features=3, hidden=2):
        made, size = [], features
        for layer in range(layers):
            for _ in range(directions):
                n = len(made)
                made += [f(gates * hidden, size, seed=n), f(gates * hidden, hidden, seed=n + 1)]
                made += [f(gates * hidden, seed=n + 2), f(gates * hidden, seed=n + 3)] if biases else []
            size = hidden * directions
        return made

    x = f(3, 2, 3)
    h, c = f(1, 2, 2), f(1, 2, 2, seed=1)
    case("lstm.input", x, [h, c], weights(4), True, 1, 0.0, False, False, False)
    case("lstm.input", x.transpose(0, 1).contiguous(), [h, c], weights(4), True, 1, 0.0, False, False, True)
    case("lstm.input", x, [h, c], weights(4, biases=False), False, 1, 0.0, False, False, False)
    deep = f(4, 2, 2), f(4, 2, 2, seed=1)
    case("lstm.input", x, list(deep), weights(4, 2, 2), True, 2, 0.5, False, True, False)
    # Dropout with the probability 1 between the layers has one result.
    case("lstm.input", x, list(deep), weights(4, 2, 2), True, 2, 1.0, True, True, False)
    case("lstm.input", x, [f(2, 2, 2), f(2, 2, 2, seed=1)], weights(4, 2), True, 2, 1.0, True, False, False)
    case("gru.input", x, deep[0], weights(3, 2, 2), True, 2, 1.0, True, True, False)
    for name, gates in [("gru.input", 3), ("rnn_tanh.input", 1), ("rnn_relu.input", 1)]:
        case(name, x, h, weights(gates), True, 1, 0.0, False, False, False)
        if name != "rnn_relu.input":
            case(name, x.transpose(0, 1).contiguous(), deep[0], weights(gates, 2, 2), True, 2, 0.0, False, True, True)
        case(name, x, h, weights(gates, biases=False), False, 1, 0.0, False, False, False)
    ih, hh, c1, c2 = weights(4)
    case("lstm_cell", f(2, 3), [h[0], c[0]], ih, hh, c1, c2)
    case("lstm_cell", f(2, 3), [h[0], c[0]], ih, hh)
    for name, gates in [("gru_cell", 3), ("rnn_tanh_cell", 1), ("rnn_relu_cell", 1)]:
        ih, hh, c1, c2 = weights(gates)
        case(name, f(2, 3), h[0], ih, hh, c1, c2)
        case(name, f(2, 3), h[0], ih, hh)


def dropout():
    x = f(2, 3, 4)
    for name in ["dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout"]:
        case(name, x, 0.5, False)
        case(name, x, 0.5, True, random=True)
        case(name + "_", x, 0.5, False)
    case("dropout", x, 0.0, True)
    case("native_dropout", x, 0.5, False)
    case("native_dropout", x, 0.5, True, random=True)
    case("native_dropout", x, 0.5, None, random=True)


def losses():
    x, y = f(2, 3), f(2, 3, seed=1)
    for reduction in [0, 1, 2]:
        for name in ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "hinge_embedding_loss"]:
            extra = {"margin": 1.0} if name == "hinge_embedding_loss" else {}
            target = torch.sign(y) if "margin" in name or "hinge" in name else y
            case(name, x, target, reduction=reduction, **extra)
        case("binary_cross_entropy", p(2, 3), p(2, 3, seed=1), None, reduction)
        case("binary_cross_entropy_with_logits", x, p(2, 3), None, None, reduction)
        case("kl_div", x, p(2, 3), reduction)
        case("nll_loss", x, torch.tensor([2, 0]), None, reduction)
        case("nll_loss_nd", x, torch.tensor([2, 0]), None, reduction)
        case("nll_loss_forward", x, torch.tensor([2, 0]), p(3), reduction, -100)
        case("nll_loss2d", f(2, 3, 2, 1), i(2, 2, 1, low=0, high=3), None, reduction)
        case("nll_loss2d_forward", f(2, 3, 2, 1), i(2, 2, 1, low=0, high=3), None, reduction, 1)
        case("cross_entropy_loss", x, torch.tensor([2, 0]), None, reduction)
        case("margin_ranking_loss", x, y, torch.sign(f(2, 3, seed=2)), 0.5, reduction)
        case("cosine_embedding_loss", x, y, torch.tensor([1, -1]), 0.25, reduction)
        case("triplet_margin_loss", x, y, f(2, 3, seed=2), 1.0, 2.0, 1e-6, False, reduction)
        case("poisson_nll_loss", x, p(2, 3), True, False, 1e-8, reduction)
    case("mse_loss", x, y)
    case("smooth_l1_loss", x, y, 1, 0.5)
    case("huber_loss", x, y, 1, 0.5)
    case("binary_cross_entropy", p(2, 3), p(2, 3, seed=1), p(3))
    case("binary_cross_entropy_with_logits", x, p(2, 3), p(3), p(3, seed=2))
    case("kl_div", x, -p(2, 3), 2, log_target=True)
    case("nll_loss", x, torch.tensor([2, -100]), p(3))
    case("nll_loss_nd", f(2, 3, 2), i(2, 2, low=0, high=3), p(3), 1, 1)
    case("nll_loss_nd", f(3), torch.tensor(1))
    case("nll_loss_forward", x, torch.tensor([2, 0]), None, 1, -100, unused=[1])
    case("cross_entropy_loss", x, torch.tensor([2, 0]), p(3), 1, -100, 0.25)
    case("cross_entropy_loss", x, torch.tensor([2, 0]), None, 1, 2)
    case("cross_entropy_loss", f(2, 3, 2), i(2, 2, low=0, high=3))
    case("cross_entropy_loss", f(3), torch.tensor(1))
    probabilities = p(2, 3) / p(2, 3).sum(1, keepdim=True)
    case("cross_entropy_loss", x, probabilities)
    case("cross_entropy_loss", x, probabilities, p(3), 2, -100, 0.25)
    case("ctc_loss.Tensor", f(5, 2, 4).log_softmax(2), torch.tensor([[1, 2], [3, 1]]), torch.tensor([5, 4]), torch.tensor([2, 1]))
    w = f(5, 3)
    case("embedding_bag", w, torch.tensor([1, 4, 2, 0]), torch.tensor([0, 3]), unused=[1, 2, 3])
    for mode in [0, 1, 2]:
        for name in ["_embedding_bag", "_embedding_bag_forward_only"]:
            case(name, w, torch.tensor([1, 4, 2, 0]), torch.tensor([0, 3]), False, mode, unused=[1, 2, 3])
    case("_embedding_bag", w, torch.tensor([1, 4, 2, 0]), torch.tensor([0, 3]), False, 0, False, p(4), unused=[1, 2, 3])
    case("_embedding_bag", w, torch.tensor([1, 4, 2, 0]), torch.tensor([0, 3, 4]), False, 1, False, None, True, 2, unused=[1, 2, 3])
    case("embedding_dense_backward", f(3, 2), torch.tensor([1, 0, 1]), 4, -1, False)
    case("embedding_dense_backward", f(3, 2), torch.tensor([1, 0, 1]), 4, 1, False)
    case("embedding_bag.padding_idx", w, torch.tensor([1, 4, 2, 0]), torch.tensor([0, 3]), False, 0, False, None, False, 2, unused=[1, 2, 3])


def cases():
    for part in [convolutions, normalizations, attention, recurrent, dropout, losses]:
        part()
