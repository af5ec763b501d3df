-- Multi-head attention by A. Vaswani et al. (2017), composed of functions of the library.

local attention = {}

--- Returns the method multiHeadAttention of tensors. `thorn` is the namespace of the functions that it calls.
--
--     thorn.multiHeadAttention(query, key, value, weights, heads, { mask = m, causal = true })
--
-- computes `heads` attentions of projections of `query` [batch, L, width] to projections of `key` and `value` [batch, S, width], and a
-- projection of the results, side by side: [batch, L, width]. `weights` has the tensors `inWeight` [3 * width, width] and `inBias`
-- [3 * width] for query, key and value, in this order, and `outWeight` [width, width] and `outBias` [width] for the results. They are
-- the weights of `torch.nn.MultiheadAttention(width, heads, batch_first=True)`. Biases are optional. scaledDotProductAttention explains
-- `mask` and `causal`.
function attention.of(thorn)
    local function linear(x, weight, bias)
        local y = thorn.matmul(x, weight:t())
        return bias and thorn.add(y, bias) or y
    end
    return function(query, key, value, weights, heads, options)
        options = options or {}
        local function project(x, part)
            local width = x:size(3)
            local first = part * width + 1
            local bias = weights.inBias and thorn.narrow(weights.inBias, 1, first, width)
            local y = linear(x, thorn.narrow(weights.inWeight, 1, first, width), bias)
            return thorn.transpose(thorn.reshape(y, { x:size(1), x:size(2), heads, -1 }), 2, 3)
        end
        local queries, keys, values = project(query, 0), project(key, 1), project(value, 2)
        local named = { mask = options.mask, causal = options.causal, logSumExp = false }
        local attended = thorn.transpose(thorn.scaledDotProductAttention(queries, keys, values, named), 2, 3)
        return linear(thorn.reshape(attended, { query:size(1), query:size(2), -1 }), weights.outWeight, weights.outBias)
    end
end

return attention
