-- The convolutions of THNN in terms of the library's convolution. Buffers, such as `finput` and `columns`, are not used.

local ffi = require("ffi")
local binding = require("thorn.nn.binding")
local images = require("thorn.nn.images")

local th, made, reshape, size = binding.th, binding.made, binding.reshape, images.size
local swapped, assign = images.swapped, images.assign

local rows = {}

-- A geometry is a table with the number `dims` of dimensions of an image, `transposed`, 0 or 1, the number `groups` of groups of channels,
-- and the lists `stride`, `padding`, `dilation` and `adjustment`, of which the last two may be nil.

local function forward(g, output, input, weight, bias)
    th.convolution(output, input, weight, bias, g.dims, g.stride, g.padding, g.dilation, g.transposed, g.adjustment, g.groups)
end

local function input_gradient(g, gradInput, gradOutput, weight, input)
    th.convolutionGradInput(gradInput, gradOutput, weight, input, g.dims, g.stride, g.padding, g.dilation, g.transposed, g.adjustment,
        g.groups)
end

local function weight_gradient(g, gradOutput, input, weight)
    return made.convolutionGradWeight(gradOutput, input, weight, g.dims, g.stride, g.padding, g.dilation, g.transposed, g.adjustment,
        g.groups)
end

-- Returns nil if there is no bias.
local function bias_gradient(g, gradOutput, gradBias)
    return gradBias and made.convolutionGradBias(gradOutput, g.dims)
end

-- Returns names for a number of buffers.
local function buffers(count) return ("buffer? "):rep(count) end

-- Returns a weight for the library: THNN also takes a matrix with a row for each output.
local function unrolled(weight, g)
    if not g.kernel then return weight end
    if g.dims == 2 then return reshape(weight, size(weight, 0), -1, g.kernel[0], g.kernel[1]) end
    return reshape(weight, size(weight, 0), -1, g.kernel[0], g.kernel[1], g.kernel[2])
end

-- The groups of numbers after the buffers, by their names in THNN. The adjustment is added to the sizes of the result.
local FIELDS = { k = "kernel", d = "stride", pad = "padding", dilation = "dilation", adj = "adjustment" }

-- Makes the three functions of a convolution. `counts` are their numbers of buffers.
local function convolution(name, dims, transposed, counts, groups)
    local fields = {}
    for group in groups:gmatch("%a+") do fields[#fields + 1] = FIELDS[group] end
    local numbers = images.names(dims, groups)

    local function geometry(...)
        local g = { dims = dims, transposed = transposed, groups = 1 }
        local lists = { images.lists(dims, #fields, ...) }
        for i, field in ipairs(fields) do g[field] = lists[i] end
        return g
    end

    rows[name .. "_updateOutput"] = { "input output weight bias? " .. buffers(counts[1]) .. numbers,
        function(input, output, weight, bias, ...)
            local g = geometry(select(counts[1] + 1, ...))
            forward(g, output, input, unrolled(weight, g), bias)
        end }
    rows[name .. "_updateGradInput"] = { "input gradOutput gradInput weight " .. buffers(counts[2]) .. numbers,
        function(input, gradOutput, gradInput, weight, ...)
            local g = geometry(select(counts[2] + 1, ...))
            input_gradient(g, gradInput, gradOutput, unrolled(weight, g), input)
        end }
    rows[name .. "_accGradParameters"] = { "input gradOutput gradWeight gradBias? " .. buffers(counts[3]) .. numbers .. " scale:number",
        function(input, gradOutput, gradWeight, gradBias, ...)
            local g = geometry(select(counts[3] + 1, ...))
            local change = weight_gradient(g, gradOutput, input, unrolled(gradWeight, g))
            images.accumulate(select(-1, ...), gradWeight, change, gradBias, bias_gradient(g, gradOutput, gradBias))
        end }
end

for name, c in pairs({
    SpatialConvolutionMM = { 2, 0, { 2, 2, 2 }, "k d pad" },
    SpatialDilatedConvolution = { 2, 0, { 2, 1, 2 }, "k d pad dilation" },
    SpatialFullConvolution = { 2, 1, { 2, 1, 2 }, "k d pad adj" },
    SpatialFullDilatedConvolution = { 2, 1, { 2, 1, 2 }, "k d pad dilation adj" },
    VolumetricConvolution = { 3, 0, { 2, 1, 2 }, "d pad" },
    VolumetricConvolutionMM = { 3, 0, { 1, 2, 1 }, "k d pad" },
    VolumetricDilatedConvolution = { 3, 0, { 2, 1, 2 }, "k d pad dilation" },
    VolumetricFullConvolution = { 3, 1, { 2, 2, 2 }, "d pad adj" },
    VolumetricFullDilatedConvolution = { 3, 1, { 2, 2, 2 }, "d pad dilation adj" },
}) do
    convolution(name, unpack(c))
end

-- SpatialDepthWiseConvolution: `multiplier` results from each channel, next to each other. The weight is [multiplier x channels x kernel],
-- the bias [multiplier x channels]; the library has a group for each channel.

local DEPTH_WISE = buffers(2) .. images.names(2, "k d pad")

-- Returns the geometry, and the weight as the library has it.
local function depth_wise(weight, _, _, ...)
    local kernel, stride, padding = images.lists(2, 3, ...)
    local by_multiplier = reshape(weight, size(weight, 0), -1, 1, kernel[0], kernel[1])
    local g = { dims = 2, transposed = 0, groups = size(by_multiplier, 1), stride = stride, padding = padding }
    return g, reshape(th.newTranspose(by_multiplier, 0, 1), -1, 1, kernel[0], kernel[1])
end

-- Swaps the order of channels and multipliers in the first dimension. `count` is the number of those that come first.
local function reordered(t, count)
    return reshape(th.newTranspose(reshape(t, count, -1, binding.elements(t) / size(t, 0)), 0, 1), -1)
end

rows.SpatialDepthWiseConvolution_updateOutput = { "input output weight bias? " .. DEPTH_WISE,
    function(input, output, weight, bias, ...)
        local g, grouped = depth_wise(weight, ...)
        forward(g, output, input, grouped, bias and reordered(reshape(bias, -1), size(weight, 0)))
    end }

rows.SpatialDepthWiseConvolution_updateGradInput = { "input gradOutput gradInput weight " .. DEPTH_WISE,
    function(input, gradOutput, gradInput, weight, ...)
        local g, grouped = depth_wise(weight, ...)
        input_gradient(g, gradInput, gradOutput, grouped, input)
    end }

rows.SpatialDepthWiseConvolution_accGradParameters = { "input gradOutput gradWeight gradBias? " .. DEPTH_WISE .. " scale:number",
    function(input, gradOutput, gradWeight, gradBias, ...)
        local g, grouped = depth_wise(gradWeight, ...)
        local change, bias_change = weight_gradient(g, gradOutput, input, grouped), bias_gradient(g, gradOutput, gradBias)
        images.accumulate(select(-1, ...), gradWeight, reordered(change, g.groups), gradBias,
            bias_change and reordered(bias_change, g.groups))
    end }

-- TemporalRowConvolution has a kernel for each channel. The weight is [channels x 1 x kernel]. Without `featFirst`, channels are
-- the last dimension.

local ROW = buffers(2) .. "kW:int dW:int padW:int featFirst:bool"

local function row_geometry(weight, stride, padding)
    return { dims = 1, transposed = 0, groups = size(weight, 0), stride = images.list(stride), padding = images.list(padding) }
end

local function channels_first(t, featFirst) return featFirst and t or swapped(t) end

rows.TemporalRowConvolution_updateOutput = { "input output weight bias? " .. ROW,
    function(input, output, weight, bias, _, _, _, dW, padW, featFirst)
        local r = binding.temporary(input)
        forward(row_geometry(weight, dW, padW), r, channels_first(input, featFirst), weight, bias)
        assign(output, channels_first(r, featFirst))
    end }

rows.TemporalRowConvolution_updateGradInput = { "input gradOutput gradInput weight " .. ROW,
    function(input, gradOutput, gradInput, weight, _, _, _, dW, padW, featFirst)
        local r = binding.temporary(input)
        input_gradient(row_geometry(weight, dW, padW), r, channels_first(gradOutput, featFirst), weight, channels_first(input, featFirst))
        assign(gradInput, channels_first(r, featFirst))
    end }

rows.TemporalRowConvolution_accGradParameters = { "input gradOutput gradWeight gradBias? " .. ROW .. " scale:number",
    function(input, gradOutput, gradWeight, gradBias, _, _, _, dW, padW, featFirst, scale)
        local g, gradient = row_geometry(gradWeight, dW, padW), channels_first(gradOutput, featFirst)
        local change = weight_gradient(g, gradient, channels_first(input, featFirst), gradWeight)
        images.accumulate(scale, gradWeight, change, gradBias, bias_gradient(g, gradient, gradBias))
    end }

-- SpatialConvolutionMap and SpatialFullConvolutionMap: a kernel for each row of a table of connections from an input plane to an output
-- plane, both counted from 1. The library gets a weight with a kernel for each pair of planes, zero for pairs without a connection.

local MAP = "connTable nInputPlane:int nOutputPlane:int dW:int dH:int"

local THTensors = ffi.typeof("THTensor *[2]")

local function map(name, transposed)
    -- Returns the geometry, and the rows and columns of the kernels in the library's weight as a list of two LongTensors.
    local function connected(connections, weight, inputs, outputs, dW, dH)
        if weight.nDimension ~= 3 or connections.nDimension ~= 2 or size(connections, 1) ~= 2
            or size(connections, 0) ~= size(weight, 0) then
            binding.raise("connections of %s do not fit a weight of %s", binding.shape(connections), binding.shape(weight))
        end
        local from = binding.from_zero(th.newSelect(connections, 1, 0), inputs)
        local to = binding.from_zero(th.newSelect(connections, 1, 1), outputs)
        local g = { dims = 2, transposed = transposed, groups = 1, stride = images.list(dH, dW) }
        return g, transposed == 1 and THTensors(from, to) or THTensors(to, from)
    end

    local function full_weight(weight, places, inputs, outputs)
        local first, second = outputs, inputs
        if transposed == 1 then first, second = inputs, outputs end
        local r = th.newZeros(weight.dtype, 4, images.list(first, second, size(weight, 1), size(weight, 2)))
        th.indexPut(r, places, 2, weight, 1)
        return r
    end

    rows[name .. "_updateOutput"] = { "input output weight bias? " .. MAP,
        function(input, output, weight, bias, connections, inputs, outputs, dW, dH)
            local g, places = connected(connections, weight, inputs, outputs, dW, dH)
            forward(g, output, input, full_weight(weight, places, inputs, outputs), bias)
        end }
    rows[name .. "_updateGradInput"] = { "input gradOutput gradInput weight bias? " .. MAP,
        function(input, gradOutput, gradInput, weight, _, connections, inputs, outputs, dW, dH)
            local g, places = connected(connections, weight, inputs, outputs, dW, dH)
            input_gradient(g, gradInput, gradOutput, full_weight(weight, places, inputs, outputs), input)
        end }
    rows[name .. "_accGradParameters"] = { "input gradOutput gradWeight gradBias? " .. MAP .. " scale:number",
        function(input, gradOutput, gradWeight, gradBias, connections, inputs, outputs, dW, dH, scale)
            local g, places = connected(connections, gradWeight, inputs, outputs, dW, dH)
            local change = weight_gradient(g, gradOutput, input, full_weight(gradWeight, places, inputs, outputs))
            images.accumulate(scale, gradWeight, th.newIndex(change, places, 2), gradBias, bias_gradient(g, gradOutput, gradBias))
        end }
end

map("SpatialConvolutionMap", 0)
map("SpatialFullConvolutionMap", 1)

return rows
