-- Every THNN function of images against numerical derivatives, in DoubleTensors: the gradients of input, weight and bias.

local torch = require("thorn")
local harness = require("harness")
local named = require("nn_named")

local near, check = harness.near, harness.check

-- A case has the arguments of the functions by their names, with sizes in place of tensors. Arguments that are results or buffers are left
-- out.
local CASES = {
    { "SpatialConvolutionMM", input = { 2, 3, 6, 5 }, weight = { 4, 18 }, bias = { 4 },
        kW = 3, kH = 2, dW = 2, dH = 1, padW = 1, padH = 0 },
    { "SpatialConvolutionMM", input = { 3, 4, 4 }, weight = { 2, 3, 2, 2 }, kW = 2, kH = 2, dW = 1, dH = 2, padW = 0, padH = 1 },
    { "SpatialDilatedConvolution", input = { 2, 2, 7, 6 }, weight = { 3, 2, 2, 3 }, bias = { 3 },
        kW = 3, kH = 2, dW = 1, dH = 2, padW = 2, padH = 1, dilationW = 2, dilationH = 3 },
    { "SpatialFullConvolution", input = { 2, 3, 3, 2 }, weight = { 3, 2, 2, 3 }, bias = { 2 },
        kW = 3, kH = 2, dW = 2, dH = 3, padW = 1, padH = 0, adjW = 1, adjH = 2 },
    { "SpatialFullDilatedConvolution", input = { 3, 3, 2 }, weight = { 3, 2, 2, 3 }, bias = { 2 },
        kW = 3, kH = 2, dW = 2, dH = 1, padW = 1, padH = 1, dilationW = 2, dilationH = 2, adjW = 1, adjH = 0 },
    { "VolumetricConvolution", input = { 2, 2, 3, 4, 3 }, weight = { 3, 2, 2, 3, 2 }, bias = { 3 },
        dT = 1, dW = 2, dH = 1, padT = 0, padW = 1, padH = 1 },
    { "VolumetricConvolutionMM", input = { 2, 3, 4, 3 }, weight = { 2, 2 * 2 * 3 * 1 }, bias = { 2 },
        kT = 2, kW = 1, kH = 3, dT = 1, dW = 1, dH = 1, padT = 1, padW = 0, padH = 0 },
    { "VolumetricDilatedConvolution", input = { 1, 2, 4, 5, 4 }, weight = { 2, 2, 2, 2, 2 }, bias = { 2 },
        kT = 2, kW = 2, kH = 2, dT = 1, dW = 1, dH = 2, padT = 0, padW = 1, padH = 0, dilationT = 2, dilationW = 1, dilationH = 3 },
    { "VolumetricFullConvolution", input = { 2, 2, 2, 2, 3 }, weight = { 2, 3, 2, 1, 2 }, bias = { 3 },
        dT = 2, dW = 1, dH = 2, padT = 1, padW = 0, padH = 0, adjT = 1, adjW = 0, adjH = 1 },
    { "VolumetricFullDilatedConvolution", input = { 2, 2, 2, 2 }, weight = { 2, 2, 2, 2, 1 },
        dT = 1, dW = 2, dH = 1, padT = 0, padW = 0, padH = 1, dilationT = 2, dilationW = 1, dilationH = 2, adjT = 0, adjW = 1, adjH = 0 },
    { "SpatialDepthWiseConvolution", input = { 2, 3, 5, 4 }, weight = { 2, 3 * 2 * 3 }, bias = { 2, 3 },
        kW = 3, kH = 2, dW = 1, dH = 2, padW = 1, padH = 0 },
    { "TemporalRowConvolution", input = { 2, 7, 3 }, weight = { 3, 1, 3 }, bias = { 3 }, kW = 3, dW = 2, padW = 1, featFirst = false },
    { "TemporalRowConvolution", input = { 3, 7 }, weight = { 3, 1, 2 }, kW = 2, dW = 1, padW = 0, featFirst = true },
    { "SpatialConvolutionMap", input = { 2, 3, 4, 5 }, weight = { 4, 2, 3 }, bias = { 2 },
        connTable = { { 1, 1 }, { 3, 2 }, { 2, 2 }, { 3, 2 } }, nInputPlane = 3, nOutputPlane = 2, dW = 2, dH = 1 },
    { "SpatialFullConvolutionMap", input = { 3, 2, 3 }, weight = { 3, 2, 3 }, bias = { 2 },
        connTable = { { 1, 2 }, { 3, 2 }, { 2, 1 } }, nInputPlane = 3, nOutputPlane = 2, dW = 2, dH = 3 },
    { "TemporalConvolution", input = { 2, 8, 3 }, weight = { 2, 9 }, bias = { 2 },
        kW = 3, dW = 2, inputFrameSize = 3, outputFrameSize = 2 },
    { "TemporalConvolution", input = { 7, 2 }, weight = { 3, 2 }, kW = 1, dW = 3, inputFrameSize = 2, outputFrameSize = 3 },
    { "SpatialConvolutionLocal", input = { 2, 2, 4, 5 }, weight = { 3, 3, 3, 2, 2, 3 }, bias = { 3, 3, 3 },
        kW = 3, kH = 2, dW = 2, dH = 2, padW = 1, padH = 1, inputWidth = 5, inputHeight = 4, outputWidth = 3, outputHeight = 3 },
    { "SpatialConvolutionLocal", input = { 1, 3, 3 }, weight = { 4, 2, 4 }, bias = { 2, 2, 2 },
        kW = 2, kH = 2, dW = 1, dH = 1, padW = 0, padH = 0, inputWidth = 3, inputHeight = 3, outputWidth = 2, outputHeight = 2 },
    { "SpatialMaxPooling", input = { 2, 3, 6, 7 }, kW = 3, kH = 2, dW = 2, dH = 2, padW = 1, padH = 1, ceil_mode = true },
    { "SpatialDilatedMaxPooling", input = { 2, 7, 6 }, kW = 2, kH = 3, dW = 2, dH = 1, padW = 0, padH = 1, dilationW = 3, dilationH = 2 },
    { "VolumetricMaxPooling", input = { 2, 4, 5, 4 }, kT = 2, kW = 2, kH = 3, dT = 1, dW = 2, dH = 2, padT = 1, padW = 0, padH = 1 },
    { "VolumetricDilatedMaxPooling", input = { 1, 2, 5, 5, 4 }, kT = 2, kW = 2, kH = 2, dT = 2, dW = 1, dH = 1,
        padT = 0, padW = 0, padH = 1, dilationT = 2, dilationW = 3, dilationH = 2, ceil_mode = true },
    { "SpatialAveragePooling", input = { 2, 3, 5, 6 }, kW = 3, kH = 2, dW = 2, dH = 2, padW = 1, padH = 1, ceil_mode = true,
        count_include_pad = true },
    { "SpatialAveragePooling", input = { 3, 5, 6 }, kW = 3, kH = 2, dW = 2, dH = 2, padW = 1, padH = 1 },
    { "VolumetricAveragePooling", input = { 1, 2, 4, 4, 5 }, kT = 2, kW = 3, kH = 2, dT = 2, dW = 2, dH = 1, padT = 0, padW = 1, padH = 0 },
    { "SpatialAdaptiveMaxPooling", input = { 2, 2, 5, 7 }, osizeW = 3, osizeH = 2 },
    { "VolumetricAdaptiveMaxPooling", input = { 2, 4, 5, 3 }, osizeT = 2, osizeW = 2, osizeH = 3 },
    { "SpatialAdaptiveAveragePooling", input = { 2, 2, 5, 7 }, osizeW = 3, osizeH = 2 },
    { "VolumetricAdaptiveAveragePooling", input = { 2, 4, 5, 3 }, osizeT = 2, osizeW = 2, osizeH = 3 },
    { "SpatialMaxUnpooling", input = { 1, 2, 2, 2 }, indices = { { { { 1, 4 }, { 12, 9 } }, { { 2, 3 }, { 8, 10 } } } }, oW = 4, oH = 3 },
    { "VolumetricMaxUnpooling", input = { 1, 1, 2, 2 }, indices = { { { { 1, 4 }, { 12, 9 } } } }, oT = 1, oW = 4, oH = 3,
        dT = 1, dW = 1, dH = 1, padT = 0, padW = 0, padH = 0 },
    { "SpatialFractionalMaxPooling", input = { 2, 2, 8, 7 }, outputW = 3, outputH = 4, poolSizeW = 2, poolSizeH = 3,
        randomSamples = { { { 0.1, 0.9 }, { 0.5, 0.3 } }, { { 0.7, 0.2 }, { 0.6, 0.4 } } } },
    { "VolumetricFractionalMaxPooling", input = { 2, 6, 5, 7 }, outputT = 3, outputW = 4, outputH = 2, poolSizeT = 2, poolSizeW = 2,
        poolSizeH = 1, randomSamples = { { 0.1, 0.9, 0.3 }, { 0.5, 0.3, 0.8 } } },
    { "TemporalMaxPooling", input = { 2, 8, 3 }, kW = 3, dW = 2 },
    { "TemporalMaxPooling", input = { 8, 3 }, kW = 2, dW = 3 },
    { "TemporalSubSampling", input = { 2, 8, 3 }, weight = { 3 }, bias = { 3 }, kW = 3, dW = 2, inputFrameSize = 3 },
    { "SpatialSubSampling", input = { 2, 3, 5, 6 }, weight = { 3 }, bias = { 3 }, kW = 3, kH = 2, dW = 2, dH = 1 },
    { "FeatureLPPooling", input = { 2, 6, 2, 3 }, power = 2, width = 3, stride = 2, batchMode = true },
    { "FeatureLPPooling", input = { 6, 2 }, power = 4, width = 2, stride = 1, batchMode = false },
    { "TemporalReplicationPadding", input = { 2, 2, 5 }, left = 2, right = 1 },
    { "TemporalReflectionPadding", input = { 2, 5 }, left = 3, right = 1 },
    { "SpatialReplicationPadding", input = { 2, 2, 3, 4 }, left = 2, right = 1, top = 3, bottom = -1 },
    { "SpatialReflectionPadding", input = { 2, 3, 4 }, left = 2, right = 1, top = 2, bottom = 1 },
    { "VolumetricReplicationPadding", input = { 1, 2, 2, 3, 2 }, left = 2, right = 1, top = 1, bottom = 0, front = 1, back = 2 },
    { "TemporalUpSamplingNearest", input = { 2, 2, 3 }, scale_factor = 3 },
    { "SpatialUpSamplingNearest", input = { 2, 2, 3, 2 }, scale_factor = 2 },
    { "VolumetricUpSamplingNearest", input = { 2, 2, 3, 2 }, scale_factor = 2 },
    { "TemporalUpSamplingLinear", input = { 2, 2, 3 }, outputWidth = 7 },
    { "SpatialUpSamplingBilinear", input = { 2, 2, 3, 4 }, outputHeight = 5, outputWidth = 9 },
    { "VolumetricUpSamplingTrilinear", input = { 1, 2, 2, 3, 2 }, outputDepth = 3, outputHeight = 5, outputWidth = 3 },
    { "SpatialCrossMapLRN", input = { 2, 5, 2, 3 }, size = 3, alpha = 0.5, beta = 0.75, k = 1.5 },
    { "SpatialCrossMapLRN", input = { 5, 2, 3 }, size = 4, alpha = 0.5, beta = 0.75, k = 1.5 },
    { "Im2Col", input = { 2, 2, 4, 5 }, kH = 2, kW = 3, dH = 1, dW = 2, padH = 1, padW = 0, sH = 2, sW = 1 },
    { "Col2Im", input = { 2, 12, 3 }, outputHeight = 4, outputWidth = 5,
        kH = 2, kW = 3, dH = 1, dW = 2, padH = 1, padW = 0, sH = 2, sW = 1 },
}

local INTEGER = { indices = true }
local SIZED = { input = true, weight = true, bias = true }

-- Returns the arguments of a case with tensors in place of sizes.
local function arguments_of(case)
    local v = { indices = torch.LongTensor() }
    for name, value in pairs(case) do
        if SIZED[name] then
            v[name] = torch.randn(unpack(value))
        elseif type(value) == "table" then
            v[name] = INTEGER[name] and torch.LongTensor(value) or torch.DoubleTensor(value)
        else
            v[name] = value
        end
    end
    for _, name in ipairs({ "output", "gradInput", "buffer", "finput", "fgradInput" }) do v[name] = torch.Tensor() end
    v.scale = case.weight and 0.5 or torch.Tensor()
    return v
end

local function call(name, v) named("torch.DoubleTensor", name, v) end

-- Returns the derivatives of `f()` by the elements of `t`.
local function derivatives(f, t)
    local r, flat, step = t:clone(), t:view(-1), 1e-5
    local elements = r:view(-1)
    for i = 1, flat:nElement() do
        local x = flat[i]
        flat[i] = x + step
        local above = f()
        flat[i] = x - step
        elements[i] = (above - f()) / (2 * step)
        flat[i] = x
    end
    return r
end

local tests = {}

for i, case in ipairs(CASES) do
    local name = case[1]
    tests[("gradients_%02d_%s"):format(i, name)] = function()
        torch.manualSeed(i)
        local v = arguments_of(case)
        call(name .. "_updateOutput", v)
        v.gradOutput = torch.randn(v.output:size())
        local function loss()
            call(name .. "_updateOutput", v)
            return v.output:dot(v.gradOutput)
        end
        v.gradInput = torch.randn(3)
        if v.input:dim() > 2 and name:find("[Ll]inear$") then
            v.nbatch, v.nchannels = v.input:size(1), v.input:size(2)
            v.inputWidth, v.inputHeight, v.inputDepth = v.input:size(v.input:dim()), v.input:size(v.input:dim() - 1), v.input:size(3)
        elseif name == "Im2Col" then
            v.inputHeight, v.inputWidth = v.input:size(3), v.input:size(4)
        end
        call(name .. "_updateGradInput", v)
        check(v.gradInput:isSameSizeAs(v.input))
        near(v.gradInput, derivatives(loss, v.input), 1e-7)
        if not v.weight then return end
        v.gradWeight, v.gradBias = torch.randn(v.weight:size()), v.bias and torch.randn(v.bias:size())
        local weight_before, bias_before = v.gradWeight:clone(), v.bias and v.gradBias:clone()
        call(name .. "_accGradParameters", v)
        near((v.gradWeight - weight_before) * 2, derivatives(loss, v.weight), 1e-7)
        if v.bias then near((v.gradBias - bias_before) * 2, derivatives(loss, v.bias), 1e-7) end
    end
end

harness.run(tests)
