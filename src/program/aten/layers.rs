//! Convolutions, normalizations, attention, recurrent layers, dropout and losses.

use crate::api::function::Function;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::expr::{self, In, Value, names};
use crate::layout::Dims;
use crate::program::aten::gradients::{convolution_backward, group_norm_backward, layer_norm_backward};
use crate::program::aten::losses::{
    cross_entropy, embedding_backward, embedding_bag, hinge_embedding_loss, nll_loss_forward, soft_margin_loss,
};
use crate::program::call::Call;
use crate::program::frame::Item;
use crate::program::table::aten;

aten! {
    "conv1d" "input weight bias=None stride=1 padding=0 dilation=1 groups=1" => conv1d "input weight bias stride padding dilation groups";
    "conv2d" "input weight bias=None stride=1,1 padding=0,0 dilation=1,1 groups=1"
        => conv2d "input weight bias stride padding dilation groups";
    "conv3d" "input weight bias=None stride=1,1,1 padding=0,0,0 dilation=1,1,1 groups=1"
        => conv3d "input weight bias stride padding dilation groups";
    "conv1d.padding" "input weight bias=None stride=1 padding=valid dilation=1 groups=1" => { padded_convolution };
    "conv2d.padding" "input weight bias=None stride=1,1 padding=valid dilation=1,1 groups=1" => { padded_convolution };
    "conv3d.padding" "input weight bias=None stride=1,1,1 padding=valid dilation=1,1,1 groups=1" => { padded_convolution };
    "convolution" "input weight bias stride padding dilation transposed output_padding groups"
        => convolution "input weight bias stride padding dilation transposed output_padding groups";
    "_convolution" "input weight bias stride padding dilation transposed output_padding groups benchmark deterministic \
        cudnn_enabled allow_tf32=True"
        => convolution "input weight bias stride padding dilation transposed output_padding groups";
    "convolution_backward" "grad_output input weight bias_sizes stride padding dilation transposed output_padding groups output_mask"
        => { convolution_backward };
    "conv_transpose1d" "input weight bias=None stride=1 padding=0 output_padding=0 groups=1 dilation=1"
        => convTranspose1d "input weight bias stride padding output_padding groups dilation";
    "conv_transpose2d.input" "input weight bias=None stride=1,1 padding=0,0 output_padding=0,0 groups=1 dilation=1,1"
        => convTranspose2d "input weight bias stride padding output_padding groups dilation";
    "conv_transpose3d.input" "input weight bias=None stride=1,1,1 padding=0,0,0 output_padding=0,0,0 groups=1 dilation=1,1,1"
        => convTranspose3d "input weight bias stride padding output_padding groups dilation";

    "batch_norm" "input weight bias running_mean running_var training momentum eps cudnn_enabled=False"
        => batchNorm "input weight bias running_mean running_var training momentum eps";
    "_native_batch_norm_legit_no_training" "input weight bias running_mean running_var momentum eps"
        => batchNorm "input weight bias running_mean running_var 0 momentum eps";
    "native_batch_norm" "input weight bias running_mean running_var training momentum eps"
        => batchNorm "input weight bias running_mean running_var training momentum eps";
    "_native_batch_norm_legit" "input weight bias running_mean running_var training momentum eps"
        => batchNorm "input weight bias running_mean running_var training momentum eps";
    "_native_batch_norm_legit.no_stats" "input weight bias training momentum eps"
        => batchNorm "input weight bias - - training momentum eps";
    "_native_batch_norm_legit_functional" "input weight bias running_mean running_var training momentum eps" => { functional_batch_norm };
    "_batch_norm_no_update" "input weight bias running_mean running_var momentum eps" => { batch_norm_in_evaluation };
    "_batch_norm_with_update" "input weight bias running_mean running_var momentum eps" => { batch_norm_in_training };
    "_batch_norm_with_update_functional" "input weight bias running_mean running_var momentum eps" => { functional_batch_norm_in_training };
    "layer_norm" "input normalized_shape weight=None bias=None eps=0.00001 cudnn_enable=True"
        => layerNorm "input #normalized_shape weight bias eps";
    "native_layer_norm" "input normalized_shape weight bias eps" => { native_layer_norm };
    "native_layer_norm_backward" "grad_out input normalized_shape mean rstd weight bias output_mask" => { layer_norm_backward };
    "group_norm" "input num_groups weight=None bias=None eps=0.00001 cudnn_enabled=True" => groupNorm "input num_groups weight bias eps";
    "native_group_norm" "input weight bias N C HxW group eps" => { native_group_norm };
    "native_group_norm_backward" "grad_out input mean rstd weight N C HxW group output_mask" => { group_norm_backward };
    "instance_norm" "input weight bias running_mean==None running_var==None use_input_stats==True momentum eps cudnn_enabled"
        => instanceNorm "input weight bias eps";
    "instance_norm" "input weight bias running_mean running_var use_input_stats==False momentum eps cudnn_enabled"
        => batchNorm "input weight bias running_mean running_var 0 momentum eps";
    "rms_norm" "input normalized_shape weight=None eps" => rmsNorm "input #normalized_shape weight eps";
    "rms_norm" "input normalized_shape weight=None eps=None" => { rms_norm };
    "_fused_rms_norm" "input normalized_shape weight eps" => { rms_norm };
    "_weight_norm" "v g dim=0" => { weight_norm };
    "_weight_norm_interface" "v g dim=0" => { weight_norm };

    "scaled_dot_product_attention" "query key value attn_mask=None dropout_p=0 is_causal=False scale==None enable_gqa=False"
        => { attention };
    "scaled_dot_product_attention" "query key value attn_mask=None dropout_p=0 is_causal=False scale=None enable_gqa=False"
        => { attention };
    "_scaled_dot_product_flash_attention_for_cpu" "query key value dropout_p=0 is_causal=False attn_mask=None scale=None"
        => { flash_attention };
    "_scaled_dot_product_attention_math" "query key value attn_mask=None dropout_p=0 is_causal=False dropout_mask==None scale=None \
        enable_gqa=False"
        => { plain_attention };

    "lstm.input" "input hx params has_biases num_layers dropout train bidirectional batch_first" => { lstm };
    "gru.input" "input hx params has_biases num_layers dropout train bidirectional batch_first" => { gru };
    "rnn_tanh.input" "input hx params has_biases num_layers dropout train bidirectional batch_first" => { rnn_tanh };
    "rnn_relu.input" "input hx params has_biases num_layers dropout train bidirectional batch_first" => { rnn_relu };
    "lstm_cell" "input hx w_ih w_hh b_ih=None b_hh=None" => { lstm_cell };
    "gru_cell" "input hx w_ih w_hh b_ih=None b_hh=None" => gruCell "input hx w_ih w_hh b_ih b_hh";
    "rnn_tanh_cell" "input hx w_ih w_hh b_ih=None b_hh=None" => rnnCell "input hx w_ih w_hh b_ih b_hh 0";
    "rnn_relu_cell" "input hx w_ih w_hh b_ih=None b_hh=None" => rnnCell "input hx w_ih w_hh b_ih b_hh 1";

    "dropout" "input p train==False" => same;
    "dropout" "input p train" => dropout "input p";
    "feature_dropout" "input p train==False" => same;
    "feature_dropout" "input p train" => featureDropout "input p";
    "alpha_dropout" "input p train==False" => same;
    "alpha_dropout" "input p train" => alphaDropout "input p";
    "feature_alpha_dropout" "input p train==False" => same;
    "feature_alpha_dropout" "input p train" => featureAlphaDropout "input p";
    "native_dropout" "input p train" => { native_dropout };

    "mse_loss" "self target reduction=1" => mseLoss "self target reduction";
    "l1_loss" "self target reduction=1" => l1Loss "self target reduction";
    "smooth_l1_loss" "self target reduction=1 beta=1" => smoothL1Loss "self target reduction beta";
    "huber_loss" "self target reduction=1 delta=1" => huberLoss "self target reduction delta";
    "binary_cross_entropy" "self target weight=None reduction=1" => bce "self target weight reduction";
    "binary_cross_entropy_with_logits" "self target weight=None pos_weight=None reduction=1"
        => bceWithLogits "self target weight pos_weight reduction";
    "kl_div" "self target reduction=1 log_target=False" => klDiv "self target log_target reduction";
    "nll_loss" "self target weight=None reduction=1 ignore_index=-100" => nllLoss "self target weight reduction ignore_index";
    "nll_loss_forward" "self target weight reduction ignore_index" => { nll_loss_forward };
    "cross_entropy_loss" "self target weight=None reduction=1 ignore_index=-100 label_smoothing=0" => { cross_entropy };
    "soft_margin_loss" "self target reduction=1" => { soft_margin_loss };
    "hinge_embedding_loss" "self target margin=1 reduction=1" => { hinge_embedding_loss };
    "margin_ranking_loss" "input1 input2 target margin=0 reduction=1" => marginRankingLoss "input1 input2 target margin reduction";
    "cosine_embedding_loss" "input1 input2 target margin=0 reduction=1" => cosineEmbeddingLoss "input1 input2 target margin reduction";
    "triplet_margin_loss" "anchor positive negative margin=1 p=2 eps=0.000001 swap=False reduction=1"
        => tripletMarginLoss "anchor positive negative margin p eps swap reduction";
    "poisson_nll_loss" "input target log_input full eps reduction" => poissonNllLoss "input target log_input full eps reduction";
    "ctc_loss.Tensor" "log_probs targets input_lengths target_lengths blank=0 reduction=1 zero_infinity=False"
        => ctcLoss "log_probs targets input_lengths target_lengths blank reduction zero_infinity";
    "embedding_bag" "weight indices offsets scale_grad_by_freq=False mode=0 sparse=False per_sample_weights=None include_last_offset=False"
        => { embedding_bag };
    "embedding_bag.padding_idx" "weight indices offsets scale_grad_by_freq mode sparse per_sample_weights include_last_offset padding_idx"
        => { embedding_bag };
    "_embedding_bag" "weight indices offsets scale_grad_by_freq=False mode=0 sparse=False per_sample_weights=None \
        include_last_offset=False padding_idx=-1"
        => { embedding_bag };
    "_embedding_bag_forward_only" "weight indices offsets scale_grad_by_freq=False mode=0 sparse=False per_sample_weights=None \
        include_last_offset=False padding_idx=-1"
        => { embedding_bag };
    "embedding_dense_backward" "grad_output indices num_weights padding_idx scale_grad_by_freq==False" => { embedding_backward };
    "cosine_similarity" "x1 x2 dim=1 eps=0.00000001" => cosineSimilarity "x1 x2 dim eps";
}

/// A convolution with padding by name: `valid` for none, `same` for results of the size of `input`.
fn padded_convolution(c: &Call<'_>) -> Result<Item> {
    let (input, weight, bias) = (c.value(0)?, c.value(1)?, c.optional(2)?);
    let dims = weight.ndim().saturating_sub(2);
    let spread = |list: Dims| -> Dims { if list.len() == 1 { Dims::filled(list[0], dims) } else { list } };
    let (stride, dilation, groups) = (spread(c.ints(3)?), spread(c.ints(5)?), c.int(6)?);
    let mut padding: Dims = Dims::filled(0, dims);
    let mut x = input;
    match c.text(4)? {
        "valid" => {}
        "same" => {
            let kernel = weight.shape();
            let total: Dims = (0..dims).map(|d| dilation.get(d).copied().unwrap_or(1) * (kernel[d + 2] - 1)).collect();
            if total.iter().all(|total| total % 2 == 0) {
                padding = total.iter().map(|total| total / 2).collect();
            } else {
                // The second side has one more element. Pads begin with the last dimension.
                let pads: Dims = total.iter().rev().flat_map(|&total| [total / 2, total - total / 2]).collect();
                x = c.scope.call(&names::pad::FUNCTION, &[input.into(), (&pads).into(), 0.into(), 0.0.into()]);
            }
        }
        other => bail!(Unsupported, "the padding {other}"),
    }
    let output: Dims = Dims::filled(0, dims);
    let arguments = [
        x.into(),
        weight.into(),
        bias.into(),
        (&stride).into(),
        (&padding).into(),
        (&dilation).into(),
        false.into(),
        (&output).into(),
        groups.into(),
    ];
    c.done(c.scope.call(&names::convolution::FUNCTION, &arguments))
}

/// The results of a batch normalization with the running statistics `mean` and `var`, and the numbers from argument `k` on.
fn batch_norm<'s>(c: &'s Call<'_>, mean: Value<'s>, var: Value<'s>, training: bool, k: usize) -> Result<[Value<'s>; 3]> {
    let (x, weight, bias, momentum, eps) = (c.value(0)?, c.optional(1)?, c.optional(2)?, c.number(k)?, c.number(k + 1)?);
    let arguments = [x.into(), weight.into(), bias.into(), mean.into(), var.into(), training.into(), momentum.into(), eps.into()];
    Ok(c.scope.call_for_all(&names::batchNorm::FUNCTION, 0b111, &arguments))
}

/// Batch normalization with new statistics as results, instead of a change of the operands.
fn functional_batch_norm(c: &Call<'_>) -> Result<Item> {
    let (mean, var) = (expr::clone(c.value(3)?), expr::clone(c.value(4)?));
    let [r, saved_mean, saved_invstd] = batch_norm(c, mean, var, c.flag(5)?, 6)?;
    c.done_all(&[r, saved_mean, saved_invstd, mean, var])
}

/// The fourth result of the next three functions is memory for a derivative, which thorn does not need.
fn functional_batch_norm_in_training(c: &Call<'_>) -> Result<Item> {
    let (mean, var) = (expr::clone(c.value(3)?), expr::clone(c.value(4)?));
    let [r, saved_mean, saved_invstd] = batch_norm(c, mean, var, true, 5)?;
    c.done_all(&[r, saved_mean, saved_invstd, c.scope.nothing(), mean, var])
}

fn batch_norm_in_training(c: &Call<'_>) -> Result<Item> {
    let [r, saved_mean, saved_invstd] = batch_norm(c, c.value(3)?, c.value(4)?, true, 5)?;
    c.done_all(&[r, saved_mean, saved_invstd, c.scope.nothing()])
}

fn batch_norm_in_evaluation(c: &Call<'_>) -> Result<Item> {
    let [r, saved_mean, saved_invstd] = batch_norm(c, c.value(3)?, c.value(4)?, false, 5)?;
    c.done_all(&[r, saved_mean, saved_invstd, c.scope.nothing()])
}

/// The sizes of `t` with 1 for the last `count` dimensions.
fn kept(t: Value<'_>, count: usize) -> Dims {
    let mut shape = t.shape();
    let ndim = shape.len();
    shape[ndim.saturating_sub(count)..].iter_mut().for_each(|size| *size = 1);
    shape
}

/// layerNorm, and the mean and the reciprocal standard deviation of each row if the graph uses them.
fn native_layer_norm(c: &Call<'_>) -> Result<Item> {
    let (x, weight, bias, eps) = (c.value(0)?, c.optional(2)?, c.optional(3)?, c.number(4)?);
    let count = c.list(1)?.len();
    let r = c.scope.call(&names::layerNorm::FUNCTION, &[x.into(), (count as i32).into(), weight.into(), bias.into(), eps.into()]);
    if c.results == 1 {
        return c.done(r);
    }
    let shape = kept(x, count);
    let dims: Dims = (1..=count as i64).map(|d| -d).collect();
    let (mean, invstd) = moments(c, expr::wide(x), &dims, eps);
    c.done_all(&[r, expr::reshape(mean, &shape), expr::reshape(invstd, &shape)])
}

/// The mean over `dims`, and `1 / sqrt(variance + eps)`.
fn moments<'s>(c: &'s Call<'_>, x: Value<'s>, dims: &Dims, eps: f64) -> (Value<'s>, Value<'s>) {
    let arguments = [x.into(), dims.into(), 0.0.into(), true.into()];
    let variance = c.scope.call(&names::varDimsCorrection::FUNCTION, &arguments);
    (expr::mean_dims(x, dims, true), expr::rsqrt(variance + eps))
}

fn native_group_norm(c: &Call<'_>) -> Result<Item> {
    let (x, weight, bias) = (c.value(0)?, c.optional(1)?, c.optional(2)?);
    let (batch, groups, eps) = (c.int(3)?, c.int(6)?, c.number(7)?);
    let r = c.scope.call(&names::groupNorm::FUNCTION, &[x.into(), groups.into(), weight.into(), bias.into(), eps.into()]);
    if c.results == 1 {
        return c.done(r);
    }
    let rows = expr::reshape(expr::wide(x), &[batch, groups, -1]);
    let (mean, invstd) = moments(c, rows, &[2].as_slice().into(), eps);
    c.done_all(&[r, expr::reshape(mean, &[batch, groups]), expr::reshape(invstd, &[batch, groups])])
}

/// rmsNorm with PyTorch's default of `eps`: the distance of 1 to the next number of the dtype.
fn rms_norm(c: &Call<'_>) -> Result<Item> {
    let (x, count, weight) = (c.value(0)?, c.list(1)?.len(), c.optional(2)?);
    let eps = match c.optional_number(3)? {
        Some(eps) => eps,
        None => match x.dtype() {
            Dtype::Float64 => f64::EPSILON,
            Dtype::Float16 => 9.765625e-4,
            Dtype::Bfloat16 => 7.8125e-3,
            _ => f64::from(f32::EPSILON),
        },
    };
    let r = c.scope.call(&names::rmsNorm::FUNCTION, &[x.into(), (count as i32).into(), weight.into(), eps.into()]);
    if c.results == 1 {
        return c.done(r);
    }
    let dims: Dims = (1..=count as i64).map(|d| -d).collect();
    let wide = expr::wide(x);
    c.done_all(&[r, expr::rsqrt(expr::mean_dims(wide * wide, &dims, true) + eps)])
}

/// `v * g / norm`, and the norm of `v` over all dimensions except `dim`. With `dim` = -1 the norm is over all dimensions.
fn weight_norm(c: &Call<'_>) -> Result<Item> {
    let (v, g, dim) = (c.value(0)?, c.value(1)?, c.int(2)?);
    let ndim = v.ndim() as i64;
    if !(-1..ndim).contains(&dim) {
        bail!(Argument, "dimension {dim} of a tensor with {ndim} dimensions")
    }
    let dims: Dims = (0..ndim).filter(|&k| k != dim).collect();
    let wide = expr::wide(v);
    let squares = wide * wide;
    let norm = expr::power(if dims.is_empty() { squares } else { expr::sum_dims(squares, &dims, true) }, 0.5);
    let r = expr::to_dtype(wide * (g / norm), v.dtype());
    if c.results == 1 { c.done(r) } else { c.done_all(&[r, norm]) }
}

fn attention(c: &Call<'_>) -> Result<Item> {
    let scale = c.optional_number(6)?;
    attend(c, c.optional(3)?, c.number(4)?, c.flag(5)?, scale, c.flag(7)?, 1)
}

fn flash_attention(c: &Call<'_>) -> Result<Item> {
    attend(c, c.optional(5)?, c.number(3)?, c.flag(4)?, c.optional_number(6)?, false, c.results)
}

fn attend<'s>(
    c: &'s Call<'_>,
    mask: Option<Value<'s>>,
    p: f64,
    causal: bool,
    scale: Option<f64>,
    gqa: bool,
    results: usize,
) -> Result<Item> {
    let (query, key, value) = (c.value(0)?, c.value(1)?, c.value(2)?);
    let arguments =
        [In::Null, query.into(), key.into(), value.into(), mask.into(), p.into(), causal.into(), scale.unwrap_or(0.0).into(), gqa.into()];
    if results == 1 {
        let [r] = c.scope.call_for_all(&names::scaledDotProductAttention::FUNCTION, 0b1, &arguments);
        return c.done(r);
    }
    let [r, sums] = c.scope.call_for_all(&names::scaledDotProductAttention::FUNCTION, 0b11, &arguments);
    c.done_all(&[r, sums])
}

/// The outputs and the last states of recurrent layers. In training, dropout follows each layer except the last.
fn recurrent<'s>(c: &'s Call<'_>, function: &'static Function, states: &[Value<'s>], relu: Option<bool>) -> Result<Item> {
    let (x, weights, layers) = (c.value(0)?, c.all_values(2)?, c.dim(4)?);
    let (p, bidirectional, batch_first) = (c.number(5)?, c.flag(7)?, c.flag(8)?);
    let run = |x: Value<'s>, states: &[Value<'s>], weights: &[Value<'s>], layers: i32| {
        let mut arguments = vec![In::from(x)];
        arguments.extend(states.iter().map(|&state| In::from(state)));
        arguments.extend([In::Tensors(weights), In::Null, layers.into(), bidirectional.into(), batch_first.into()]);
        arguments.extend(relu.map(In::from));
        c.scope.call_for_all::<3>(function, 0b111, &arguments)
    };
    let count = 1 + states.len();
    if p == 0.0 || !c.flag(6)? || layers < 2 {
        return c.done_all(&run(x, states, &weights, layers)[..count]);
    }
    let each = weights.len() / layers as usize;
    if each == 0 || each * layers as usize != weights.len() {
        bail!(Argument, "{} weights for {layers} layers", weights.len())
    }
    let directions = 1 + i64::from(bidirectional);
    let mut made = [x; 3];
    for (layer, weights) in (0..).zip(weights.chunks(each)) {
        let input = if layer == 0 { x } else { c.scope.call(&names::dropout::FUNCTION, &[In::Null, made[0].into(), p.into()]) };
        let first: Vec<Value<'s>> = states.iter().map(|&state| expr::narrow(state, 0, layer * directions, directions)).collect();
        let next = run(input, &first, weights, 1);
        for k in 1..count {
            made[k] = if layer == 0 { next[k] } else { expr::join(made[k], next[k], 0) };
        }
        made[0] = next[0];
    }
    c.done_all(&made[..count])
}

fn lstm(c: &Call<'_>) -> Result<Item> {
    let states = c.all_values(1)?;
    if states.len() != 2 {
        bail!(Argument, "{} initial states, expected two", states.len())
    }
    recurrent(c, &names::lstm::FUNCTION, &states, None)
}

fn gru(c: &Call<'_>) -> Result<Item> {
    recurrent(c, &names::gru::FUNCTION, &[c.value(1)?], None)
}

fn rnn(c: &Call<'_>, relu: bool) -> Result<Item> {
    recurrent(c, &names::rnn::FUNCTION, &[c.value(1)?], Some(relu))
}

fn rnn_tanh(c: &Call<'_>) -> Result<Item> {
    rnn(c, false)
}

fn rnn_relu(c: &Call<'_>) -> Result<Item> {
    rnn(c, true)
}

fn lstm_cell(c: &Call<'_>) -> Result<Item> {
    let states = c.all_values(1)?;
    let [h, state] = states[..] else { bail!(Argument, "{} states, expected two", states.len()) };
    let arguments =
        [c.value(0)?.into(), h.into(), state.into(), c.value(2)?.into(), c.value(3)?.into(), c.optional(4)?.into(), c.optional(5)?.into()];
    c.done_all(&c.scope.call_for_all::<2>(&names::lstmCell::FUNCTION, 0b11, &arguments))
}

fn native_dropout(c: &Call<'_>) -> Result<Item> {
    let (x, p) = (c.value(0)?, c.number(1)?);
    if let Item::Bool(false) = c.arguments[2] {
        return c.done_all(&[x, expr::eq(x, x)]);
    }
    let [r, mask] = c.scope.call_for_all(&names::dropout::FUNCTION, 0b11, &[In::Null, x.into(), p.into()]);
    c.done_all(&[r, expr::ne_value(mask, 0.0)])
}

fn plain_attention(c: &Call<'_>) -> Result<Item> {
    // This operator adds truth values as numbers.
    let dtype = c.value(0)?.dtype();
    let mask = c.optional(3)?.map(|mask| expr::to_dtype(mask, dtype));
    let r = attend(c, mask, c.number(4)?, c.flag(5)?, c.optional_number(7)?, c.flag(8)?, 1)?;
    Ok(Item::List(vec![r, Item::None]))
}
