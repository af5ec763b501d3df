-- THNN's functions that multiply windows by weights: TemporalConvolution and SpatialConvolutionLocal. Im2Col and Col2Im make windows.

local C = require("thorn.library").C
local binding = require("thorn.nn.binding")
local images = require("thorn.nn.images")

local th, made, reshape, size = binding.th, binding.made, binding.reshape, images.size
local list = images.list

local rows = {}

-- TemporalConvolution: the input is [batch x time x channels], the weight [outputs x (kernel * channels)]. A window is `kernel` adjacent
-- frames, so that all windows are a view of the input.

local function check_frames(input, channels)
    images.check_dimensions(input, 2, 3, 1)
    if size(input, -1) ~= channels then
        binding.argument(1, "%d channels expected, got %s", channels, binding.shape(input))
    end
end

-- Returns the windows of the input: [batch x windows x (kernel * channels)].
local function windows(input, kernel, stride)
    local channels, flat = size(input, -1)
    if input.nDimension == 2 then flat = reshape(input, -1) else flat = reshape(input, size(input, 0), -1) end
    return th.newUnfold(flat, -1, kernel * channels, stride * channels)
end

rows.TemporalConvolution_updateOutput = {
    "input output weight bias? kW:int dW:int inputFrameSize:int outputFrameSize:int",
    function(input, output, weight, bias, kW, dW, inputFrameSize)
        check_frames(input, inputFrameSize)
        th.matmul(output, windows(input, kW, dW), th.newT(weight))
        if bias then th.cadd(output, output, 1, reshape(bias, size(weight, 0))) end
    end }

rows.TemporalConvolution_updateGradInput = { "input gradOutput gradInput weight kW:int dW:int",
    function(input, gradOutput, gradInput, weight, kW, dW)
        check_frames(input, size(weight, 1) / kW)
        local gradient = made.matmul(gradOutput, weight)
        images.check_sizes(gradient, windows(input, kW, dW), 2)
        local flat = made.fold(gradient, -1, dW * size(input, -1))
        -- Frames after the last window have no gradient.
        local rest = size(input, -1) * size(input, -2) - size(flat, -1)
        images.assign(gradInput, th.newViewAs(made.pad(flat, 2, list(0, rest), C.TH_PAD_CONSTANT, 0), input))
    end }

-- Returns a tensor as a matrix with the last dimension as columns.
local function matrix(t) return reshape(t, -1, size(t, -1)) end

rows.TemporalConvolution_accGradParameters = { "input gradOutput gradWeight gradBias? kW:int dW:int scale:number",
    function(input, gradOutput, gradWeight, gradBias, kW, dW, scale)
        check_frames(input, size(gradWeight, 1) / kW)
        local gradient = matrix(gradOutput)
        local change = made.matmul(th.newT(gradient), matrix(windows(input, kW, dW)))
        images.accumulate(scale, gradWeight, change, gradBias, gradBias and made.sum(gradient, 0, 0))
    end }

-- SpatialConvolutionLocal: a kernel for each place of the result. The weight is [places x outputs x (channels * kernel)], or has all sizes
-- as dimensions. Windows are [batch x (channels * kernel) x places]. The places become the batch of a product of matrices.

local LOCAL = "finput? fgradInput? " .. images.names(2, "k d pad")
    .. " inputWidth:int inputHeight:int outputWidth:int outputHeight:int"

local BATCH_LAST = list(2, 1, 0)

local function batch_last(t) return th.newPermute(t, 3, BATCH_LAST) end

-- Returns a tensor with a batch, which has a single image if there is none.
local function batched(t) return t.nDimension == 3 and th.newUnsqueeze1d(t, 0) or t end

-- Gives `r` the elements of `t`, which has a batch, in the form of `input`.
local function assign_as(r, t, input) images.assign(r, input.nDimension == 3 and th.newSelect(t, 0, 0) or t) end

-- Returns the lists `kernel`, `stride` and `padding`, and the weight as [places x outputs x (channels * kernel)].
local function local_geometry(input, weight, _, _, kW, kH, dW, dH, padW, padH, inputWidth, inputHeight, outputWidth, outputHeight)
    images.check_dimensions(input, 3, 4, 1)
    if size(input, -1) ~= inputWidth or size(input, -2) ~= inputHeight then
        binding.argument(1, "images of %dx%d expected, got %s", inputHeight, inputWidth, binding.shape(input))
    end
    local g = { kernel = list(kH, kW), stride = list(dH, dW), padding = list(padH, padW), height = outputHeight, width = outputWidth }
    g.outputs = weight.nDimension == 6 and size(weight, 2) or weight.nDimension == 3 and size(weight, 1)
    if not g.outputs then binding.raise("a weight with 3 or 6 dimensions expected, got %s", binding.shape(weight)) end
    return g, reshape(weight, outputHeight * outputWidth, g.outputs, -1)
end

local function columns(input, g)
    return made.im2col(batched(input), 2, g.kernel, g.stride, g.padding, nil)
end

-- Returns the gradient of the result as [places x outputs x batch].
local function places(gradOutput, g)
    return batch_last(reshape(batched(gradOutput), -1, g.outputs, g.height * g.width))
end

rows.SpatialConvolutionLocal_updateOutput = { "input output weight bias? " .. LOCAL,
    function(input, output, weight, bias, ...)
        local g, kernels = local_geometry(input, weight, ...)
        local products = made.bmm(kernels, batch_last(columns(input, g)))
        local r = reshape(batch_last(products), -1, g.outputs, g.height, g.width)
        if bias then th.cadd(r, r, 1, reshape(bias, g.outputs, g.height, g.width)) end
        assign_as(output, r, input)
    end }

rows.SpatialConvolutionLocal_updateGradInput = { "input gradOutput gradInput weight " .. LOCAL,
    function(input, gradOutput, gradInput, weight, ...)
        local g, kernels = local_geometry(input, weight, ...)
        local gradient = batch_last(made.bmm(images.swapped(kernels), places(gradOutput, g)))
        local sizes = list(size(input, -2), size(input, -1))
        assign_as(gradInput, made.col2im(gradient, 2, sizes, g.kernel, g.stride, g.padding, nil), input)
    end }

rows.SpatialConvolutionLocal_accGradParameters = { "input gradOutput gradWeight gradBias? " .. LOCAL .. " scale:number",
    function(input, gradOutput, gradWeight, gradBias, ...)
        local g = local_geometry(input, gradWeight, ...)
        local change = made.bmm(places(gradOutput, g), images.swapped(batch_last(columns(input, g))))
        images.accumulate(select(-1, ...), gradWeight, change, gradBias, gradBias and made.sum(batched(gradOutput), 0, 0))
    end }

-- Im2Col and Col2Im. Here `d` is the dilation and `s` the stride, and heights precede widths.

local COLUMNS = "kH:int kW:int dH:int dW:int padH:int padW:int sH:int sW:int"

local function to_columns(input, output, kH, kW, dH, dW, padH, padW, sH, sW)
    th.im2col(output, input, 2, list(kH, kW), list(sH, sW), list(padH, padW), list(dH, dW))
end

local function to_images(input, output, height, width, kH, kW, dH, dW, padH, padW, sH, sW)
    th.col2im(output, input, 2, list(height, width), list(kH, kW), list(sH, sW), list(padH, padW), list(dH, dW))
end

rows.Im2Col_updateOutput = { "input output " .. COLUMNS, to_columns }
rows.Im2Col_updateGradInput = { "gradOutput gradInput inputHeight:int inputWidth:int " .. COLUMNS, to_images }
rows.Col2Im_updateOutput = { "input output outputHeight:int outputWidth:int " .. COLUMNS, to_images }
rows.Col2Im_updateGradInput = { "gradOutput gradInput " .. COLUMNS, to_columns }

return rows
