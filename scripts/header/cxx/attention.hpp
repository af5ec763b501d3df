
// ==================================================================================================================
//     Multi-head attention
// ==================================================================================================================

/// Multi-head attention by A. Vaswani et al. (2017): `heads` attentions of projections of `query` [batch, L, width] to
/// projections of `key` and `value` [batch, S, width], and a projection of the results, side by side. Returns
/// [batch, L, width].
///
/// The weights are those of `torch.nn.MultiheadAttention(width, heads, batch_first=True)`. `inWeight` [3 * width,
/// width] and `inBias` [3 * width] project query, key and value, in this order. `outWeight` [width, width] and
/// `outBias` [width] project the results. An undefined bias is zero. scaledDotProductAttention explains `mask` and
/// `causal`.
inline Tensor multiHeadAttention(const Tensor &query, const Tensor &key, const Tensor &value, const Tensor &inWeight,
    const Tensor &inBias, const Tensor &outWeight, const Tensor &outBias, int64_t heads, const Tensor &mask = {},
    bool causal = false) {
    const auto linear = [](const Tensor &x, const Tensor &weight, const Tensor &bias) {
        const Tensor y = x.matmul(weight.t());
        return bias.defined() ? y + bias : y;
    };
    const auto project = [&](const Tensor &x, int part) {
        const int64_t width = x.size(2), first = part * width;
        const Tensor bias = inBias.defined() ? inBias.narrow(0, first, width) : Tensor();
        const Tensor y = linear(x, inWeight.narrow(0, first, width), bias);
        return y.reshape({x.size(0), x.size(1), heads, -1}).transpose(1, 2);
    };
    const Tensor queries = project(query, 0), keys = project(key, 1), values = project(value, 2);
    const Tensor attended = queries.scaledDotProductAttention(keys, values, mask, 0, causal).r.transpose(1, 2);
    return linear(attended.reshape({query.size(0), query.size(1), -1}), outWeight, outBias);
}
