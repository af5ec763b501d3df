-- BatchNormalization, which normalizes each channel, and SpatialCrossMapLRN, which divides by the norm of adjacent channels.

local binding = require("thorn.nn.binding")
local images = require("thorn.nn.images")
local C = require("thorn.library").C

local th, made, fuse, size = binding.th, binding.made, binding.fuse, images.size

local rows = {}

-- BatchNormalization: channels are dimension 1. In training, `save_mean` and `save_std` receive the mean and the reciprocal of the standard
-- deviation of each channel.

local STATISTICS = " running_mean running_var save_mean save_std train:bool "

rows.BatchNormalization_updateOutput = { "input output weight? bias?" .. STATISTICS .. "momentum:number eps:number",
    function(input, output, weight, bias, running_mean, running_var, save_mean, save_std, train, momentum, eps)
        if not train then save_mean, save_std = nil, nil end
        th.batchNorm(output, save_mean, save_std, input, weight, bias, running_mean, running_var, train and 1 or 0, momentum, eps)
    end }

-- Returns numbers for the channels in a shape that broadcasts to the input.
local function broadcast(t, input)
    local sizes = {}
    for d = 1, input.nDimension do sizes[d] = d == 2 and size(input, 1) or 1 end
    return binding.reshape(t, unpack(sizes))
end

-- Returns the sum over each channel.
local function channel_sums(t)
    local dims = {}
    for d = 0, t.nDimension - 1 do
        if d ~= 1 then dims[#dims + 1] = d end
    end
    return made.sumDims(t, #dims, images.list(unpack(dims)), 0, C.TH_UNDEFINED)
end

-- With x the normalized input, the gradient is (g - mean of g - x * mean of g * x) * weight / deviation. The means are left out if the
-- statistics do not depend on the input.
rows.BatchNormalization_backward = {
    "input gradOutput gradInput? gradWeight? gradBias? weight?" .. STATISTICS .. "scale:number eps:number",
    function(input, gradOutput, gradInput, gradWeight, gradBias, weight, running_mean, running_var, mean, inverse, train, scale, eps)
        if input.nDimension < 2 then binding.argument(1, "2 dimensions or more expected, got %s", binding.shape(input)) end
        images.check_sizes(gradOutput, input, 2)
        if not train then mean, inverse = running_mean, made.rsqrt(made.add(running_var, eps)) end
        local m, s = broadcast(mean, input), broadcast(inverse, input)
        local products = th.new()
        fuse(products, "(x - m) * s * g", { x = input, m = m, s = s, g = gradOutput })
        local product_sums, sums = channel_sums(products), channel_sums(gradOutput)
        if gradInput then
            local factor = weight and made.cmul(s, broadcast(weight, input)) or s
            th.resizeAs(gradInput, input)
            if train then
                local n = binding.elements(input) / size(input, 1)
                fuse(gradInput, "(g - a - (x - m) * s * b) * f", { g = gradOutput, x = input, m = m, s = s, f = factor,
                    a = broadcast(made.div(sums, n), input), b = broadcast(made.div(product_sums, n), input) })
            else
                th.cmul(gradInput, gradOutput, factor)
            end
        end
        if gradWeight then th.cadd(gradWeight, gradWeight, scale, binding.like(product_sums, gradWeight, 4)) end
        if gradBias then th.cadd(gradBias, gradBias, scale, binding.like(sums, gradBias, 5)) end
    end }

-- SpatialCrossMapLRN: output = input / scale^beta, with scale = k + alpha / size * the sum of squares of `size` adjacent channels.

local LRN = " size:int alpha:number beta:number k:number"

-- Returns the sum over each element and its neighbours in `size` channels. `before` channels precede the element.
local function neighbour_sums(t, count, before)
    local pads = images.list(0, 0, 0, 0, before, count - 1 - before)
    return made.sum(th.newUnfold(made.pad(t, 6, pads, C.TH_PAD_CONSTANT, 0), -3, count, 1), -1, 0)
end

local function channels_before(count) return math.floor((count - 1) / 2) end

local function check_lrn(input, count)
    images.check_dimensions(input, 3, 4, 1)
    if count < 1 then binding.raise("a size from 1 expected, got %d", count) end
end

rows.SpatialCrossMapLRN_updateOutput = { "input output scale" .. LRN,
    function(input, output, scale, count, alpha, beta, k)
        check_lrn(input, count)
        local sums = neighbour_sums(made.cmul(input, input), count, channels_before(count))
        images.assign(scale, made.add(made.mul(sums, alpha / count), k))
        th.cmul(output, input, made.pow(scale, -beta))
    end }

rows.SpatialCrossMapLRN_updateGradInput = { "input gradOutput gradInput scale output" .. LRN,
    function(input, gradOutput, gradInput, scale, output, count, alpha, beta)
        check_lrn(input, count)
        for position, t in ipairs({ gradOutput, scale, output }) do images.check_sizes(t, input, ({ 2, 4, 5 })[position]) end
        local ratios = made.cdiv(made.cmul(gradOutput, output), scale)
        local sums = neighbour_sums(ratios, count, count - 1 - channels_before(count))
        local direct = made.cmul(gradOutput, made.pow(scale, -beta))
        images.assign(gradInput, made.addcmul(direct, -2 * alpha * beta / count, input, sums))
    end }

return rows
