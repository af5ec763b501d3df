-- THNN's functions of images: values of PyTorch, errors, and inputs that are left unchanged.

local torch = require("thorn")
local THNN = require("thorn.nn")
local harness = require("harness")
local call = require("nn_named")
local strided = require("nn_support").strided
local VALUES = require("nn_images_values")

local equal, near, fails, check = harness.equal, harness.near, harness.fails, harness.check

-- Returns a tensor with the elements (37 i + 11 seed) mod 101 - 50, divided by 32, for the positions i from 0.
local function filled(sizes, seed)
    local t = torch.Tensor(unpack(sizes))
    local flat = t:view(-1)
    for i = 1, flat:nElement() do flat[i] = (((i - 1) * 37 + seed * 11) % 101 - 50) / 32 end
    return t
end

-- Returns the arguments of a case, with tensors of a type. `layout` gives tensors their strides.
local function arguments_of(case, type_name, layout)
    local function tensor(t) return layout(t:type(type_name)) end
    local v = { scale = 0.5 }
    for name, value in pairs(case) do v[name] = value end
    v.input = tensor(filled(case.input, 1))
    v.weight, v.bias = case.weight and tensor(filled(case.weight, 2)), case.bias and tensor(filled(case.bias, 3))
    v.gradOutput = tensor(filled(case.shape, 4))
    v.indices = torch.LongTensor(case.indices or {})
    v.randomSamples = case.randomSamples and torch.Tensor(case.randomSamples):type(type_name)
    v.output, v.gradInput = torch.Tensor():type(type_name), torch.Tensor(2, 2):type(type_name)
    return v
end

local function elements(t) return t:contiguous():view(-1):totable() end

local function check_case(case, type_name, layout, tolerance)
    local name, v = case[1], arguments_of(case, type_name, layout)
    if name == "SpatialCrossMapLRN" then v.scale = torch.Tensor():type(type_name) end
    call(type_name, name .. "_updateOutput", v)
    equal(v.output:size():totable(), case.shape)
    near(elements(v.output), case.output, tolerance)
    if case.found then equal(elements(v.indices), case.found) end
    call(type_name, name .. "_updateGradInput", v)
    equal(v.gradInput:size():totable(), case.input)
    near(elements(v.gradInput), case.gradInput, tolerance)
    if not case.weight then return end
    v.gradWeight, v.gradBias = v.weight:clone():fill(1), v.bias and v.bias:clone():fill(-1)
    call(type_name, name .. "_accGradParameters", v)
    near(elements((v.gradWeight - 1) * 2), case.gradWeight, tolerance)
    if v.bias then near(elements((v.gradBias + 1) * 2), case.gradBias, tolerance) end
end

local tests = {}

for i, case in ipairs(VALUES) do
    tests[("values_%02d_%s"):format(i, case[1])] = function()
        for _, layout in ipairs({ function(t) return t end, strided }) do
            check_case(case, "torch.DoubleTensor", layout, 1e-8)
            check_case(case, "torch.FloatTensor", layout, 5e-6)
        end
    end
end

-- The values are torch.nn.functional.batch_norm(x, mean, var, w, b, train, 0.1, 1e-3).
local BATCH_NORMALIZATION = {
    { train = true,
        output = { 0.3879929385, -0.6804464979, 0.976697555, 0.3426512587, -0.9692139131, -2.037653349, 0.4417209925, 0.8082790075,
            0.5901301291, -0.4783093072, 0.9073487413, 0.273302445 },
        gradInput = { 0.3941052465, -0.6289510247, 0.1061694346, 0.01341651278, -0.9054527196, 0.988041903, 0.1842535805, -0.1842535805,
            0.587656433, -0.4353998382, -0.01341651278, -0.1061694346 },
        gradWeight = { 0.2413270541, -3.856014194 }, gradBias = { 1.6875, -3.375 },
        running_mean = { 0.4276041667, -0.2265625 }, running_var = { 1.907477214, 0.5443261719 } },
    { train = false,
        output = { 0.5319065517, -0.1833078558, 1.158939617, 0.3642387918, -0.376609047, -1.091823455, 0.4884107957, 0.9478472101,
            0.6672173856, -0.04799702194, 1.072019214, 0.2773183891 },
        gradInput = { 0.1159807147, -0.5992336928, -0.4097676129, 0.04966880156, -0.792534884, 0.4445927398, 0.1738408055, -0.6208600195,
            0.2512915486, -0.4639228589, -0.4966880156, -0.03725160117 },
        gradWeight = { -0.702097541, -5.950598365 }, gradBias = { 1.6875, -3.375 },
        running_mean = { 0.5, -0.25 }, running_var = { 2, 0.5 } },
}

local function batch_normalization(type_name, layout, tolerance)
    for _, case in ipairs(BATCH_NORMALIZATION) do
        local function tensor(...) return torch.Tensor(...):type(type_name) end
        local v = { train = case.train, momentum = 0.1, eps = 1e-3, scale = 0.5, output = tensor(), gradInput = tensor(),
            input = layout(filled({ 3, 2, 2 }, 1):type(type_name)), gradOutput = layout(filled({ 3, 2, 2 }, 4):type(type_name)),
            weight = filled({ 2 }, 2):type(type_name), bias = filled({ 2 }, 3):type(type_name),
            running_mean = tensor({ 0.5, -0.25 }), running_var = tensor({ 2, 0.5 }), save_mean = tensor(2), save_std = tensor(2),
            gradWeight = tensor({ 1, 1 }), gradBias = tensor({ -1, -1 }) }
        call(type_name, "BatchNormalization_updateOutput", v)
        near(elements(v.output), case.output, tolerance)
        near(v.running_mean, case.running_mean, tolerance)
        near(v.running_var, case.running_var, tolerance)
        call(type_name, "BatchNormalization_backward", v)
        near(elements(v.gradInput), case.gradInput, tolerance)
        near((v.gradWeight - 1) * 2, case.gradWeight, tolerance)
        near((v.gradBias + 1) * 2, case.gradBias, tolerance)
    end
end

function tests.batch_normalization()
    batch_normalization("torch.DoubleTensor", function(t) return t end, 1e-8)
    batch_normalization("torch.FloatTensor", strided, 2e-6)
end

-- Without weight and bias, and without the results that are optional.
function tests.batch_normalization_options()
    local x, y, m, s = torch.Tensor({ { 1, 10 }, { 3, 30 } }), torch.Tensor(), torch.Tensor(2), torch.Tensor(2)
    local v = { input = x, output = y, running_mean = torch.zeros(2), running_var = torch.ones(2), save_mean = m, save_std = s,
        train = true, momentum = 1, eps = 0, scale = 1, gradOutput = torch.Tensor({ { 1, 2 }, { 3, 6 } }), gradBias = torch.zeros(2) }
    call("torch.DoubleTensor", "BatchNormalization_updateOutput", v)
    equal(y, { { -1, -1 }, { 1, 1 } })
    equal(m, { 2, 20 })
    near(s, { 1, 0.1 })
    equal(v.running_mean, { 2, 20 })
    equal(v.running_var, { 2, 200 })
    call("torch.DoubleTensor", "BatchNormalization_backward", v)
    equal(v.gradBias, { 4, 8 })
end

-- The values are torch.nn.functional.grid_sample(x, grid, padding_mode="border", align_corners=True).
function tests.grid_sampler()
    local v = { input = filled({ 1, 2, 3, 3 }, 1), grid = torch.Tensor({ { { { -0.5, 0.25 }, { 0.75, -1.5 } } } }), output = torch.Tensor(),
        gradInput = torch.Tensor(), gradGrid = torch.Tensor(), gradOutput = filled({ 1, 2, 1, 2 }, 4) }
    call("torch.DoubleTensor", "SpatialGridSamplerBilinear_updateOutput", v)
    near(elements(v.output), { -0.25, 0.8046875, 0.6875, -0.625 })
    call("torch.DoubleTensor", "SpatialGridSamplerBilinear_updateGradInput", v)
    near(elements(v.gradInput), { 0, 0.2421875, 0.7265625, -0.0703125, -0.0703125, 0, -0.0234375, -0.0234375, 0, 0, 0.03125, 0.09375,
        -0.38671875, -0.38671875, 0, -0.12890625, -0.12890625, 0 })
    near(elements(v.gradGrid), { -1.409179688, -0.380859375, 0.8701171875, 0 }, 1e-8)
end

-- The norm of adjacent channels: sqrt(3^2 + 4^2) = 5. An output of 0 has no gradient.
function tests.feature_lp_pooling()
    local v = { input = torch.Tensor({ 3, 4, 0, 0 }), output = torch.Tensor(), gradInput = torch.Tensor(), power = 2, width = 2, stride = 2,
        gradOutput = torch.Tensor({ 10, 7 }) }
    call("torch.DoubleTensor", "FeatureLPPooling_updateOutput", v)
    near(v.output, { 5, 0 })
    call("torch.DoubleTensor", "FeatureLPPooling_updateGradInput", v)
    near(v.gradInput, { 6, 8, 0, 0 })
end

-- Old versions of `nn` give neither a padding nor modes.
function tests.average_pooling_without_padding()
    local x, y, g = torch.Tensor({ { { { 1, 3 } } } }), torch.Tensor(), torch.Tensor()
    torch.DoubleTensor.THNN.VolumetricAveragePooling_updateOutput(x:cdata(), y:cdata(), 1, 2, 1, 1, 2, 1)
    equal(y, { { { { 2 } } } })
    torch.DoubleTensor.THNN.VolumetricAveragePooling_updateGradInput(x:cdata(), y:cdata(), g:cdata(), 1, 2, 1, 1, 2, 1)
    equal(g, { { { { 1, 1 } } } })
end

-- Factors whose reciprocal is rounded.
function tests.nearest_of_large_factors()
    for _, factor in ipairs({ 3, 7, 49, 93 }) do
        local v = { input = torch.Tensor({ { 1, 2, 3, 4, 5 } }), output = torch.Tensor(), scale_factor = factor }
        call("torch.DoubleTensor", "TemporalUpSamplingNearest_updateOutput", v)
        equal(v.output:size():totable(), { 1, 5 * factor })
        for i = 1, 5 do equal(v.output:narrow(2, (i - 1) * factor + 1, factor):eq(i):sum(), factor) end
    end
end

local function convolution_arguments()
    local function tensor(...) return torch.zeros(...) end
    return { input = tensor(2, 3, 4, 4), output = tensor(1), weight = tensor(2, 27), bias = tensor(2), gradOutput = tensor(2, 2, 2, 2),
        gradInput = tensor(1), gradWeight = tensor(2, 27), gradBias = tensor(2), kW = 3, kH = 3, dW = 1, dH = 1, padW = 0, padH = 0,
        scale = 1, indices = torch.LongTensor(2, 3, 2, 2):fill(1) }
end

-- Each change of the arguments is an error of each function.
function tests.errors_of_convolutions()
    local changes = {
        { input = torch.zeros(2, 4, 4, 4) }, { input = torch.zeros(3, 3) }, { input = torch.Tensor() }, { input = torch.zeros(2, 3, 2, 2) },
        { kW = 2 }, { kH = 0 }, { kW = -3 }, { dW = 0 }, { dH = -1 }, { padW = -1 }, { kW = 2 ^ 40 }, { padH = 2 ^ 52 },
    }
    for _, change in ipairs(changes) do
        for _, pass in ipairs({ "updateOutput", "updateGradInput", "accGradParameters" }) do
            local v = convolution_arguments()
            for name, value in pairs(change) do v[name] = value end
            v.gradWeight:fill(1)
            fails("SpatialConvolutionMM_" .. pass, call, "torch.DoubleTensor", "SpatialConvolutionMM_" .. pass, v)
            equal(v.gradWeight:min(), 1)
            equal(v.gradWeight:max(), 1)
        end
    end
end

function tests.errors_of_weights()
    for _, weight in ipairs({ torch.Tensor(), torch.zeros(27), torch.zeros(2, 26), torch.zeros(2, 4, 3, 3), torch.FloatTensor(2, 27) }) do
        for name, other in pairs({ updateOutput = "weight", updateGradInput = "weight", accGradParameters = "gradWeight" }) do
            local v = convolution_arguments()
            v[other] = weight
            fails("SpatialConvolutionMM_" .. name, call, "torch.DoubleTensor", "SpatialConvolutionMM_" .. name, v)
        end
    end
    -- A wrong bias leaves the gradient of the weight unchanged.
    local v = convolution_arguments()
    v.input:fill(1)
    v.gradOutput:fill(1)
    v.gradBias = torch.zeros(3)
    fails("bad argument #4 to 'SpatialConvolutionMM_accGradParameters' (2 expected, got 3)", call, "torch.DoubleTensor",
        "SpatialConvolutionMM_accGradParameters", v)
    equal(v.gradWeight:sum(), 0)
end

-- With tensors that have no elements, or too few dimensions, each function raises an error that names it.
function tests.small_tensors()
    for name, row in pairs(THNN.functions) do
        if name:find("^Temporal") or name:find("^Spatial") or name:find("^Volumetric") or name:find("^Batch") or name:find("Col") then
            for _, t in ipairs({ torch.Tensor(), torch.zeros(1), torch.zeros(1, 1) }) do
                local list = {}
                for word, kind in row[1]:gmatch("([%w_]+):?(%l*)") do
                    local x = t:clone()
                    if kind == "long" then x = x:long() elseif kind == "bool" then x = true elseif kind ~= "" then x = 1 end
                    list[#list + 1] = torch.isTensor(x) and x:cdata() or x
                    list[-#list] = x
                end
                local ok, message = pcall(torch.DoubleTensor.THNN[name], unpack(list))
                check(ok or message:find(name, 1, true), message)
            end
        end
    end
end

function tests.errors_of_pooling()
    local function argument(changes)
        local v = convolution_arguments()
        v.kW, v.kH, v.ceil_mode = 2, 2, false
        for name, value in pairs(changes) do v[name] = value end
        return v
    end
    local wrong = { { kW = 0 }, { dW = 0 }, { padW = 2 }, { kH = 9 }, { input = torch.zeros(4) }, { input = torch.Tensor() } }
    for _, changes in ipairs(wrong) do
        for _, kind in ipairs({ "SpatialMaxPooling", "SpatialAveragePooling" }) do
            fails(kind .. "_updateOutput", call, "torch.DoubleTensor", kind .. "_updateOutput", argument(changes))
        end
    end
    -- Positions outside the image, or of another shape.
    for _, changes in ipairs({ { indices = torch.LongTensor(2, 3, 2, 2):fill(17) }, { indices = torch.LongTensor(2, 3, 2, 1):fill(1) } }) do
        changes.gradOutput = torch.zeros(2, 3, 2, 2)
        fails("SpatialMaxPooling_updateGradInput", call, "torch.DoubleTensor", "SpatialMaxPooling_updateGradInput", argument(changes))
    end
    for _, index in ipairs({ 0, 10 }) do
        local v = { input = torch.zeros(1, 1, 1), output = torch.Tensor(), gradInput = torch.Tensor(), gradOutput = torch.zeros(1, 3, 3),
            indices = torch.LongTensor({ { { index } } }), oW = 3, oH = 3 }
        fails("SpatialMaxUnpooling_updateOutput", call, "torch.DoubleTensor", "SpatialMaxUnpooling_updateOutput", v)
        fails("SpatialMaxUnpooling_updateGradInput", call, "torch.DoubleTensor", "SpatialMaxUnpooling_updateGradInput", v)
    end
end

function tests.errors_of_connections()
    for _, table_of in ipairs({ { { 0, 1 } }, { { 1, 3 } }, { { 3, 1 } }, { { 1, 1 }, { 1, 2 } } }) do
        local v = { input = torch.zeros(2, 3, 3), output = torch.Tensor(), weight = torch.zeros(1, 2, 2),
            connTable = torch.Tensor(table_of), nInputPlane = 2, nOutputPlane = 2, dW = 1, dH = 1 }
        fails("SpatialConvolutionMap_updateOutput", call, "torch.DoubleTensor", "SpatialConvolutionMap_updateOutput", v)
    end
end

harness.run(tests)
