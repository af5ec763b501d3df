"""Layers of nets, their gradients, and losses."""

from math import prod

import grad
import net
from operands import ANY, CLASSES, NEAR_ONE, POSITIVE, SMALL, THOUSAND, UNIT, Operand, between

from .row import MATRIX_DIMS, along, over


def layers():
    """Backward functions of activations, softmax, normalization and losses, and the forward functions that only they need."""
    aten, dims = "torch.ops.aten", MATRIX_DIMS[1:]

    def back(op, thorn, torch, dtypes="f32", **given):
        return over(f"{op} grad", dtypes, "1e6", thorn, f"{aten}.{torch}", result=ANY, **given)

    softmax = "THTensor_softmaxGrad(r, a, b, DIM)", f"{aten}._softmax_backward_data.out(a, b, DIM, a.dtype, grad_input=r)"
    log_softmax = "THTensor_logSoftmaxGrad(r, a, b, DIM)", "torch._log_softmax_backward_data(a, b, DIM, a.dtype, out=r)"
    norm = "FRESH(THTensor_layerNorm(r, a, 1, b, c, 1e-5))", "torch.layer_norm(a, b.shape, b, c, 1e-5)"
    norm_back = (
        "FRESH(THTensor_layerNormGrad(r, NULL, NULL, a, b, 1, NULL, 1e-5))",
        f"{aten}.native_layer_norm_backward(a, b, b.shape[1:], c, c, None, None, (True, False, False))[0]",
    )
    rms = "FRESH(THTensor_rmsNorm(r, a, 1, b, 1e-5))", "torch.rms_norm(a, b.shape, b, 1e-5)"
    groups = "FRESH(THTensor_groupNorm(r, a, 8, b, c, 1e-5))", "torch.group_norm(a, 8, b, c, 1e-5)"
    target = THOUSAND.of("i64").shaped("1000")
    heads = {"a": UNIT, "b": UNIT.shaped("8x1024x64"), "c": UNIT.shaped("8x1024x64"), "flops": 4 * 8 * 1024 * 1024 * 64}

    def attention(causal):
        thorn = f"FRESH(THTensor_scaledDotProductAttention(r, NULL, NULL, NULL, a, b, c, NULL, 0, {causal}, 0, 0))"
        return thorn, f"torch.nn.functional.scaled_dot_product_attention(a, b, c, is_causal={bool(causal)})"

    def number(low, high, shape):
        return Operand(between, (low, high), "i64", shape)

    labels = {"b": number(1, 40, "16x20"), "c": number(100, 101, "16"), "m": number(20, 21, "16")}
    return [
        *over("attention", "f32 bf16", "8x1024x64", *attention(0), **heads, tolerance=2e-2),
        *over("attention causal", "f32", "8x1024x64", *attention(1), **heads, tolerance=1e-4),
        *back("relu", "THTensor_reluGrad(r, a, b)", "threshold_backward.grad_input(a, b, 0, grad_input=r)", "f32 f64"),
        *back("leaky relu", "THTensor_leakyReluGrad(r, a, b, 0.01)", "leaky_relu_backward.grad_input(a, b, 0.01, False, grad_input=r)"),
        *back("hardtanh", "THTensor_hardtanhGrad(r, a, b, -1, 1)", "hardtanh_backward.grad_input(a, b, -1, 1, grad_input=r)"),
        *back("elu", "THTensor_eluGrad(r, a, b, 1)", "elu_backward.grad_input(a, 1, 1, 1, False, b, grad_input=r)", "f32 f64"),
        *back("softplus", "THTensor_softplusGrad(r, a, b, 1, 20)", "softplus_backward.grad_input(a, b, 1, 20, grad_input=r)"),
        *back("sigmoid", "THTensor_sigmoidGrad(r, a, b)", "sigmoid_backward.grad_input(a, b, grad_input=r)"),
        *back("tanh", "THTensor_tanhGrad(r, a, b)", "tanh_backward.grad_input(a, b, grad_input=r)"),
        *back("gelu", "THTensor_geluGrad(r, a, b)", "gelu_backward.grad_input(a, b, grad_input=r)", "f32 f64 bf16"),
        *back("silu", "THTensor_siluGrad(r, a, b)", "silu_backward.grad_input(a, b, grad_input=r)", "f32 f64 bf16"),
        *over("hardswish grad", "f32", "1e6", "FRESH(THTensor_hardswishGrad(r, a, b))", f"{aten}.hardswish_backward(a, b)"),
        *back("gelu tanh", "THTensor_geluTanhGrad(r, a, b)", "gelu_backward.grad_input(a, b, approximate='tanh', grad_input=r)"),
        *along("softmax grad", "f32", dims, *softmax, a=POSITIVE, b=NEAR_ONE, result=ANY),
        *along("log softmax grad", "f32", dims, *log_softmax, a=POSITIVE),
        *over("layer norm", "f32 bf16", "1000x1000", *norm, b=ANY.shaped("1000"), c=ANY.shaped("1000")),
        *over("layer norm grad", "f32", "1000x1000", *norm_back, c=POSITIVE.shaped("1000x1"), checked=("none",)),
        *over("rms norm", "f32 bf16", "4096x1024", *rms, b=ANY.shaped("1024")),
        *over("group norm", "f32", "8x64x56x56", *groups, b=ANY.shaped("64"), c=ANY.shaped("64")),
        *over("nll loss", "f32", "1000x1000", "THTensor_nllLoss(r, a, b, NULL, 1, -100)", "nn.nll_loss(a, b, None, 1, -100, out=r)", b=target),
        *over("cross entropy", "f32", "1000x1000", "FRESH(THTensor_crossEntropy(r, a, b, NULL, 1, -100))", "nn.cross_entropy_loss(a, b, None, 1, -100)", b=target),
        *over("huber loss", "f32", "1000x1000", "FRESH(THTensor_huberLoss(r, a, b, TH_REDUCTION_MEAN, 1))", "torch.nn.functional.huber_loss(a, b)", a=POSITIVE, b=UNIT),
        *over("kl divergence", "f32", "1000x1000", "FRESH(THTensor_klDiv(r, a, b, 0, TH_REDUCTION_SUM))", "torch.nn.functional.kl_div(a, b, reduction='sum')", a=POSITIVE, b=UNIT, tolerance=1e-4),
        *over("bce with logits", "f32", "1000x1000", "FRESH(THTensor_bceWithLogits(r, a, b, NULL, NULL, TH_REDUCTION_MEAN))", "torch.nn.functional.binary_cross_entropy_with_logits(a, b)", a=POSITIVE, b=UNIT, tolerance=1e-4),
        *over("ctc loss", "f32", "100x16x40", "FRESH(THTensor_ctcLoss(r, a, b, c, m, 0, TH_REDUCTION_SUM, 0))", "torch.nn.functional.ctc_loss(a, b, c, m, 0, 'sum')", a=UNIT, **labels, tolerance=1e-4),
        *over("embedding bag", "f32", "10000x64", "FRESH(THTensor_embeddingBag(r, a, b, NULL, TH_BAG_SUM, NULL, -1))", "torch.nn.functional.embedding_bag(b, a, mode='sum')", b=THOUSAND.of("i64").shaped("4096x16"), tolerance=1e-4),
    ]


def more_layers():
    """Activations, normalizations, cells, losses, and reductions that skip NaN. Each call makes a new result."""
    nn, mean, rows = "torch.nn.functional", "TH_REDUCTION_MEAN", "1000x1000"

    def one(name, thorn, torch, shape=rows, **given):
        return over(name, "f32", shape, f"FRESH(THTensor_{thorn})", torch, **{"tolerance": 1e-3, **given})

    def without_nan(name, thorn, call, torch, numpy=None, **given):
        return along(name, "f32", MATRIX_DIMS[1:], f"FRESH(THTensor_{thorn}(r, a, {call}))", torch, numpy, a=POSITIVE, **{"tolerance": 1e-3, **given})

    matrix = {"a": POSITIVE, "b": UNIT}
    weights = {"b": SMALL.shaped("256x256"), "c": SMALL.shaped("256x256")}
    cell = "torch.rnn_tanh_cell(a, a, b, c, None, None)"
    four, three = ({"b": SMALL.shaped(f"{gates * 256}x256"), "c": SMALL.shaped(f"{gates * 256}x256")} for gates in (4, 3))
    return [
        *one("hardsigmoid", "hardsigmoid(r, a)", f"{nn}.hardsigmoid(a)"),
        *one("selu", "selu(r, a)", "torch.selu(a)"),
        *one("celu", "celu(r, a, 1.5)", "torch.celu(a, 1.5)"),
        *one("softsign", "softsign(r, a)", f"{nn}.softsign(a)"),
        *one("log sigmoid", "logSigmoid(r, a)", f"{nn}.logsigmoid(a)"),
        *one("softshrink", "softshrink(r, a, 0.5)", f"{nn}.softshrink(a, 0.5)"),
        *one("hardshrink", "hardshrink(r, a, 0.5)", f"{nn}.hardshrink(a, 0.5)"),
        *one("glu", "glu(r, a, 1)", f"{nn}.glu(a, 1)"),
        *one("instance norm", "instanceNorm(r, a, NULL, NULL, 1e-5)", f"{nn}.instance_norm(a)", "8x64x56x56"),
        *one("response norm", "localResponseNorm(r, a, 5, 1e-4, 0.75, 1)", f"{nn}.local_response_norm(a, 5)", "8x64x56x56"),
        *one("pixel unshuffle", "pixelUnshuffle(r, a, 2)", "torch.pixel_unshuffle(a, 2)", "8x64x56x56"),
        *one("rnn cell", "rnnCell(r, NULL, a, a, b, c, NULL, NULL, 0)", cell, "32x256", **weights),
        *one("lstm cell", "lstmCell(r, NULL, NULL, a, a, a, b, c, NULL, NULL)", "torch.lstm_cell(a, (a, a), b, c, None, None)[0]", "32x256", **four),
        *one("gru cell", "gruCell(r, NULL, a, a, b, c, NULL, NULL)", "torch.gru_cell(a, a, b, c, None, None)", "32x256", **three),
        *one("bce", f"bce(r, a, b, NULL, {mean})", f"{nn}.binary_cross_entropy(a, b)", a=UNIT, b=UNIT),
        *one("poisson loss", f"poissonNllLoss(r, a, b, 1, 0, 1e-8, {mean})", f"{nn}.poisson_nll_loss(a, b)", **matrix),
        *one("gaussian loss", f"gaussianNllLoss(r, a, b, c, 0, 1e-6, {mean})", f"{nn}.gaussian_nll_loss(a, b, c)", c=POSITIVE, **matrix),
        *one("ranking loss", f"marginRankingLoss(r, a, b, c, 0.5, {mean})", f"{nn}.margin_ranking_loss(a, b, c, 0.5)", c=POSITIVE, **matrix),
        *one("triplet loss", f"tripletMarginLoss(r, a, b, c, 1, 2, 1e-6, 0, {mean})", f"{nn}.triplet_margin_loss(a, b, c)", c=ANY, **matrix),
        *one("cosine similarity", "cosineSimilarity(r, a, b, 1, 1e-8)", "torch.cosine_similarity(a, b, 1)", **matrix),
        *one("pairwise distance", "pairwiseDistance(r, a, b, 2, 1e-6, 0)", "torch.pairwise_distance(a, b)", **matrix),
        *one("pdist", "pdist(r, a, 2)", "torch.pdist(a)", "500x64"),
        *without_nan("nanmax", "nanmax", "DIM, 0", "torch.amax(a, DIM)", "np.nanmax(a, axis=DIM)"),
        *without_nan("nanvar", "nanvar", "DIM, 0, 0", "torch.var(a, DIM, correction=0)", "np.nanvar(a, axis=DIM)"),
        *without_nan("nanprod", "nanprod", "DIM, 0", "torch.prod(a, DIM)", "np.nanprod(a, axis=DIM)", checked=("none",)),
        *without_nan("nancumsum", "nancumsum", "DIM", "torch.cumsum(a, DIM)", "np.nancumsum(a, axis=DIM)"),
        *without_nan("nanargmax", "nanargmax", "DIM, 0", "torch.argmax(a, DIM)", "np.nanargmax(a, axis=DIM)", checked=("none",)),
        *over("tril indices", "i64", "1000", "FRESH(THTensor_trilIndices(r, 1000, 1000, 0))", "torch.tril_indices(1000, 1000)"),
    ]


def recurrent():
    """Layers of 256 units over 100 steps of one sequence and of 32, forward, and the gradients of their weights."""

    def layer(op, letter, gates, call):
        weights = {"b": SMALL.shaped(f"{gates * 256}x256"), "c": SMALL.shaped(f"{gates * 256}x256"), "tolerance": 0.1}
        shapes, count = "100x1x256 100x32x256", 2 * gates * 256 * 256
        back = f"gradRecurrent('{letter}', r, a, b, c)", f"grad.recurrent(grad.{op}, r, a, b, c)"
        return [
            *over(op, "f32", shapes, f"FRESH({call})", f"grad.{op}(a, (b, c))", **weights),
            *over(f"{op} grad", "f32", shapes, *back, result=ANY.shaped(str(count)), **weights),
        ]

    weights = "(THTensor *[]){b, c}"
    return [
        *layer("lstm", "l", 4, f"THTensor_lstm(r, NULL, NULL, NULL, a, NULL, NULL, {weights}, 2, NULL, 1, 0, 0)"),
        *layer("gru", "g", 3, f"THTensor_gru(r, NULL, NULL, a, NULL, {weights}, 2, NULL, 1, 0, 0)"),
    ]


def gradients():
    """Whole training steps, steps of Adam with 1000 parameters, and a graph of 10,000 operations on a scalar."""
    def step(op, shape, thorn, torch, weights):
        batch = CLASSES.shaped(shape.split("x")[0])
        return over(op, "f32", shape, f"{thorn}(r, a, b)", f"{torch}(r, a, b)", r=SMALL.shaped(f"{weights}"), b=batch, one_thread=True, tolerance=1e-3)

    return [
        *step("mlp step", "1x64", "gradMlp", "grad.mlp", grad.MLP_COUNT),
        *step("mlp step", "32x64", "gradMlp", "grad.mlp", grad.MLP_COUNT),
        *step("conv net step", "64x1x8x8", "gradNet", "net.step", sum(net.COUNTS)),
        *over("adam step", "f32", "1000x1000", 'gradOptim("Adam", r, a)', 'grad.step("Adam", r, a)', r=SMALL, one_thread=True),
        *over("adam step, fused", "f32", "1000x1000", 'gradOptim("Adam", r, a)', 'grad.step("Adam", r, a, True)', r=SMALL, one_thread=True),
        *over("chain of scalars", "f64", "1", "gradChain(r, a)", "grad.chain(r, a)", a=NEAR_ONE, r=NEAR_ONE, one_thread=True),
    ]


def more_gradients():
    """Losses, normalizations and lookups, and gradients of layers."""
    nn, aten, mean, rows = "torch.nn.functional", "torch.ops.aten", "TH_REDUCTION_MEAN", "1000x1000"
    target = {"b": THOUSAND.of("i64").shaped("1000")}
    images, heads = "8x64x56x56", "8x1024x64"

    def one(name, thorn, torch, shape=rows, **given):
        return over(name, "f32", shape, f"FRESH(THTensor_{thorn})", torch, **{"tolerance": 1e-3, **given})

    norm = {"b": UNIT.shaped("64"), "c": UNIT.shaped("64")}
    back = {"checked": ("none",)}
    attention = {"b": UNIT.shaped(heads), "c": UNIT.shaped(heads), "i": UNIT.shaped("8x1024"), "m": UNIT.shaped(heads), "flops": 10 * 8 * 1024 * 1024 * 64, **back}
    flash = f"{aten}._scaled_dot_product_flash_attention_for_cpu_backward(m[None], a[None], b[None], c[None], m[None], i[None], 0.0, False)[0]"
    layer = {"b": SMALL.shaped("256x256"), "c": SMALL.shaped("256x256"), "tolerance": 0.1}
    weights, states = "(THTensor *[]){b, c}, 2, NULL, 1, 0, 0, 0", "a.new_zeros(1, a.shape[1], 256)"
    return [
        *one("mse loss", f"mseLoss(r, a, b, {mean})", f"{nn}.mse_loss(a, b)"),
        *one("l1 loss", f"l1Loss(r, a, b, {mean})", f"{nn}.l1_loss(a, b)"),
        *one("smooth l1 loss", f"smoothL1Loss(r, a, b, {mean}, 1)", f"{nn}.smooth_l1_loss(a, b)"),
        *one("cosine loss", f"cosineEmbeddingLoss(r, a, b, c, 0.2, {mean})", f"{nn}.cosine_embedding_loss(a, b, c, 0.2)", c=Operand(between, (1, 2), "i64", "1000")),
        *one("smoothed cross entropy", f"crossEntropyLabelSmoothing(r, a, b, NULL, {mean}, -100, 0.1)", f"{nn}.cross_entropy(a, b, label_smoothing=0.1)", **target),
        *one("cross entropy grad", f"crossEntropyGrad(r, c, a, b, NULL, {mean}, -100)", "grad.of(lambda a: torch.nn.functional.cross_entropy(a, b), a, c)", c=UNIT.scalar(), **target),
        *one("batch norm", "batchNorm(r, NULL, NULL, a, b, c, NULL, NULL, 1, 0.1, 1e-5)", f"{nn}.batch_norm(a, None, None, b, c, True)", images, **norm),
        *one("batch norm, inference", "batchNorm(r, NULL, NULL, a, b, c, m, i, 0, 0.1, 1e-5)", f"{nn}.batch_norm(a, m, i, b, c)", images, m=norm["b"], i=norm["c"], **norm),
        *one("group norm grad", "groupNormGrad(r, NULL, NULL, a, a, 8, b, 1e-5)", f"{aten}.native_group_norm_backward(a, a, c, c, b, 8, 64, 3136, 8, (True, False, False))[0]", images, b=norm["b"], c=UNIT.shaped("8x8"), **back),
        *one("rms norm grad", "rmsNormGrad(r, NULL, a, b, 1, NULL, 1e-5)", "grad.of(lambda b: torch.rms_norm(b, (1000,), None, 1e-5), b, a)"),
        *one("embedding", "embedding(r, a, b, -1)", f"{nn}.embedding(b, a)", "10000x64", b=THOUSAND.of("i64").shaped("100000")),
        *one("attention grad", "scaledDotProductAttentionGrad(r, NULL, NULL, NULL, m, NULL, m, i, NULL, a, b, c, NULL, 0, 0, 0, 0)", flash, heads, **attention),
        # PyTorch adds the gradient of log_softmax.
        *one("ctc loss grad", "ctcLossGrad(r, i, a, b, c, m, 0, TH_REDUCTION_SUM, 0)", "grad.of(lambda a: torch.nn.functional.ctc_loss(a, b, c, m, 0, 'sum'), a, i)", "100x16x40", a=UNIT, b=Operand(between, (1, 40), "i64", "16x20"), c=Operand(between, (100, 101), "i64", "16"), m=Operand(between, (20, 21), "i64", "16"), i=UNIT.scalar(), checked=("none",)),
        *over("rnn", "f32", "100x1x256 100x32x256", f"FRESH(THTensor_rnn(r, NULL, NULL, a, NULL, {weights}))", f"torch.rnn_tanh(a, {states}, (b, c), False, 1, 0.0, False, False, False)[0]", **layer),
        *over("rnn grad", "f32", "100x1x256 100x32x256", "gradRecurrent('r', r, a, b, c)", "grad.recurrent(grad.rnn, r, a, b, c)", result=ANY.shaped(str(2 * 256 * 256)), **layer),
    ]


def optimizers():
    """Steps of optimizers whose parameters are the 1000 rows of a matrix, and gradients that are limited and averaged."""
    names = "Sgd Adamw Rmsprop Adagrad Adadelta Nadam Radam Adafactor"
    given = {"r": SMALL, "one_thread": True, "checked": ("none",)}
    return [
        *(row for name in names.split() for row in over(f"{name.lower()} step", "f32", "1000x1000", f'gradOptim("{name}", r, a)', f'grad.step("{name}", r, a)', **given)),
        *over("lamb step", "f32", "1000x1000", 'gradOptim("Lamb", r, a)', None, r=SMALL, one_thread=True),
        *over("clip norm", "f32", "1000x1000", "gradClip(0, r)", "grad.clip(torch.nn.utils.clip_grad_norm_, r, 1.0)", **given),
        *over("clip value", "f32", "1000x1000", "gradClip(1, r)", "grad.clip(torch.nn.utils.clip_grad_value_, r, 0.05)", **given),
        *over("unscale", "f32", "1000x1000", "gradClip(2, r)", "grad.unscale(r)", **given),
        *over("average of weights", "f32", "1000x1000", "gradAverage(r, a)", "grad.average(r, a)", **given),
    ]
