-- THNN's functions of elements, and softmax.
--
-- In expressions `t` is the input, `g` the gradient of the output, and `y` the output.

local binding = require("thorn.nn.binding")
local C = require("thorn.library").C

local th, made, fuse, like, reshape = binding.th, binding.made, binding.fuse, binding.like, binding.reshape

local rows = {}

-- Functions of the library with only the input.
local function plain(name, f)
    rows[name .. "_updateOutput"] = { "input output", function(input, output) return f(output, input) end }
end

plain("Abs", th.abs)
plain("Sigmoid", th.sigmoid)
plain("Square", th.square)
plain("Tanh", th.tanh)

-- Computes `result` from `t` by `f`. With `inplace`, changes `t`, and makes `result` a handle on it.
local function place(f, result, t, inplace, ...)
    if not inplace then return f(result, t, ...) end
    f(t, t, ...)
    th.set(result, t)
end

-- Computes the gradient of the input by `f(r, g, t, ...)`. With `inplace`, changes `gradOutput`.
local function backward(f, input, gradOutput, gradInput, inplace, ...)
    if not inplace then return f(gradInput, like(gradOutput, input, 2), input, ...) end
    f(gradOutput, gradOutput, like(input, gradOutput, 1), ...)
    th.set(gradInput, gradOutput)
end

-- Returns `f` for `backward` of an expression of `t`, `g` and numbers.
local function expression(text)
    return function(r, g, t, ...) fuse(r, text, { t = t, g = g }, ...) end
end

-- Defines a function without numbers.
local function plain_gradient(name, text)
    local f = expression(text)
    rows[name .. "_updateGradInput"] = { "input gradOutput gradInput", function(...) backward(f, ...) end }
end

plain_gradient("Abs", "where(t >= 0, g, -g)")
plain_gradient("Square", "t * g * 2")

-- Gradients from the output.

rows.Sigmoid_updateGradInput = { "input? gradOutput gradInput output", function(_, gradOutput, gradInput, output)
    th.sigmoidGrad(gradInput, like(gradOutput, output, 2), output)
end }

rows.Tanh_updateGradInput = { "input? gradOutput gradInput output", function(_, gradOutput, gradInput, output)
    th.tanhGrad(gradInput, like(gradOutput, output, 2), output)
end }

-- THNN ignores eps.
rows.Sqrt_updateOutput = { "input output eps:number", function(input, output) th.sqrt(output, input) end }

rows.Sqrt_updateGradInput = { "input gradOutput gradInput output", function(input, gradOutput, gradInput, output)
    fuse(gradInput, "where(y == 0, 0, g / y * 0.5)", { y = output, g = like(gradOutput, output, 2) })
end }

rows.ELU_updateOutput = { "input output alpha:number inplace:bool", function(input, output, alpha, inplace)
    place(th.elu, output, input, inplace, alpha)
end }

local elu_gradient = expression("where(t <= 0, g * (t + @), g)")

rows.ELU_updateGradInput = { "input gradOutput gradInput output alpha:number inplace:bool",
    function(_, gradOutput, gradInput, output, alpha, inplace)
        backward(elu_gradient, output, gradOutput, gradInput, inplace, alpha)
    end }

-- Functions with numbers.

rows.HardShrink_updateOutput = { "input output lambda:number", function(input, output, lambda) th.hardshrink(output, input, lambda) end }

local shrink_gradient = expression("where(abs(t) > @, g, 0)")

rows.HardShrink_updateGradInput = { "input gradOutput gradInput lambda:number", function(input, gradOutput, gradInput, lambda)
    backward(shrink_gradient, input, gradOutput, gradInput, false, lambda)
end }

rows.SoftShrink_updateOutput = { "input output lambda:number", function(input, output, lambda) th.softshrink(output, input, lambda) end }

rows.SoftShrink_updateGradInput = rows.HardShrink_updateGradInput

rows.HardTanh_updateOutput = { "input output min:number max:number inplace:bool", function(input, output, min, max, inplace)
    place(th.hardtanh, output, input, inplace, min, max)
end }

local hardtanh_gradient = expression("where(t < @, 0, where(t > @, 0, g))")

-- In place, the input is the output, so that a bound means a clamped element.
rows.HardTanh_updateGradInput = { "input gradOutput gradInput min:number max:number inplace:bool",
    function(input, gradOutput, gradInput, min, max, inplace)
        backward(inplace and th.hardtanhGrad or hardtanh_gradient, input, gradOutput, gradInput, inplace, min, max)
    end }

rows.LeakyReLU_updateOutput = { "input output slope:number inplace:bool", function(input, output, slope, inplace)
    place(th.leakyRelu, output, input, inplace, slope)
end }

local function leaky(input, gradOutput, gradInput, slope, inplace)
    backward(th.leakyReluGrad, input, gradOutput, gradInput, inplace, slope)
end

rows.LeakyReLU_updateGradInput = { "input gradOutput gradInput slope:number inplace:bool", leaky }

rows.Threshold_updateOutput = { "input output threshold:number value:number inplace:bool",
    function(input, output, threshold, value, inplace) place(th.threshold, output, input, inplace, threshold, value) end }

local threshold_gradient = expression("where(t > @, g, 0)")

rows.Threshold_updateGradInput = { "input gradOutput gradInput threshold:number value:number inplace:bool",
    function(input, gradOutput, gradInput, threshold, _, inplace)
        if threshold == 0 then return backward(th.reluGrad, input, gradOutput, gradInput, inplace) end
        backward(threshold_gradient, input, gradOutput, gradInput, inplace, threshold)
    end }

rows.SoftPlus_updateOutput = { "input output beta:number threshold:number", function(input, output, beta, threshold)
    th.softplus(output, input, beta, threshold)
end }

rows.SoftPlus_updateGradInput = { "input gradOutput gradInput output beta:number threshold:number",
    function(input, gradOutput, gradInput, _, beta, threshold)
        th.softplusGrad(gradInput, like(gradOutput, input, 2), input, beta, threshold)
    end }

-- The buffer is not needed: the gradient is computed from the input.
rows.LogSigmoid_updateOutput = { "input output buffer", function(input, output) th.logSigmoid(output, input) end }

local log_sigmoid_gradient = expression("sigmoid(-t) * g")

rows.LogSigmoid_updateGradInput = { "input gradOutput gradInput buffer", function(input, gradOutput, gradInput)
    backward(log_sigmoid_gradient, input, gradOutput, gradInput)
end }

rows.L1Cost_updateOutput = { "input output", function(input, output)
    local sum = made.sum(made.abs(input), C.TH_ALL_DIMS, 0)
    th.resize1d(output, 1)
    th.copy(output, sum)
end }

rows.L1Cost_updateGradInput = { "input gradOutput? gradInput", function(input, _, gradInput) th.sign(gradInput, input) end }

-- Softmax along the only dimension, the last one of a matrix, or the planes of images.

local SOFTMAX_DIMENSION = { 0, 1, 0, 1 }

local function softmax_dimension(t)
    return SOFTMAX_DIMENSION[t.nDimension] or binding.argument(1, "1 to 4 dimensions expected, got %s", binding.shape(t))
end

for name, f in pairs({ SoftMax = "softmax", LogSoftMax = "logSoftmax" }) do
    rows[name .. "_updateOutput"] = { "input output", function(input, output) th[f](output, input, softmax_dimension(input)) end }

    rows[name .. "_updateGradInput"] = { "input gradOutput gradInput output", function(_, gradOutput, gradInput, output)
        th[f .. "Grad"](gradInput, like(gradOutput, output, 2), output, softmax_dimension(output))
    end }
end

-- Gated linear unit: one half of the input times the sigmoid of the other. `dim` counts from 1.

local function half_size(input, dim)
    if dim < 1 or dim > input.nDimension then binding.raise("dimension %d out of range of %s", dim, binding.shape(input)) end
    local size = binding.size(input, dim - 1)
    if size % 2 ~= 0 then binding.raise("dimension %d of %s has an odd size", dim, binding.shape(input)) end
    return size / 2
end

rows.GatedLinear_updateOutput = { "input output dim:int", function(input, output, dim)
    half_size(input, dim)
    th.glu(output, input, dim - 1)
end }

rows.GatedLinear_updateGradInput = { "input gradOutput gradInput dim:int", function(input, gradOutput, gradInput, dim)
    local size = half_size(input, dim)
    local function half(t, i) return th.newNarrow(t, dim - 1, i * size, size) end
    local t, gate = half(input, 0), half(input, 1)
    local g = like(gradOutput, t, 2)
    th.resizeAs(gradInput, input)
    fuse(half(gradInput, 0), "sigmoid(gate) * g", { gate = gate, g = g })
    fuse(half(gradInput, 1), "s = sigmoid(gate); s * (1 - s) * g * t", { gate = gate, g = g, t = t })
end }

-- PReLU: a slope for each plane, or one for all with 0 planes.

-- Returns the dimension of the planes, after a check of their number; nil with 0 planes.
local function plane_dimension(input, planes)
    if planes == 0 then return nil end
    local dimension = SOFTMAX_DIMENSION[input.nDimension]
    if not dimension or binding.size(input, dimension) ~= planes then
        binding.argument(1, "%d planes expected, got %s", planes, binding.shape(input))
    end
    return dimension
end

-- Returns the slopes in sizes that broadcast to the input.
local function slopes(weight, input, planes)
    local dimension, sizes = plane_dimension(input, planes), {}
    for d = 1, input.nDimension do sizes[d] = d - 1 == dimension and planes or 1 end
    return reshape(weight, unpack(sizes))
end

rows.PReLU_updateOutput = { "input output weight planes:int", function(input, output, weight, planes)
    fuse(output, "where(t > 0, t, w * t)", { t = input, w = slopes(weight, input, planes) })
end }

rows.PReLU_updateGradInput = { "input gradOutput gradInput weight planes:int", function(input, gradOutput, gradInput, weight, planes)
    fuse(gradInput, "where(t > 0, g, w * g)", { t = input, g = like(gradOutput, input, 2), w = slopes(weight, input, planes) })
end }

rows.PReLU_accGradParameters = { "input gradOutput gradInput weight gradWeight buffer buffer2 planes:int scale:number",
    function(input, gradOutput, _, _, gradWeight, _, _, planes, scale)
        local dimension = plane_dimension(input, planes)
        local terms = binding.temporary(input)
        fuse(terms, "where(t > 0, 0, t * g)", { t = input, g = like(gradOutput, input, 2) })
        local rows_first = dimension and th.newTranspose(terms, 0, dimension) or terms
        local sums = made.sum(reshape(rows_first, dimension and planes or 1, -1), 1, 0)
        th.cadd(gradWeight, gradWeight, scale, like(sums, gradWeight, 5))
    end }

-- RReLU: negative elements times random slopes, one for each such element in row-major order.
rows.RReLU_updateOutput = { "input output noise lower:number upper:number train:bool inplace:bool generator:generator",
    function(input, output, noise, lower, upper, train, inplace, generator)
        if not train then return place(th.leakyRelu, output, input, inplace, (lower + upper) / 2) end
        local negative = made.leValue(input, 0)
        local draws = binding.temporary(input, C.TH_FLOAT64)
        th.resize1d(draws, C.THTensor_sumall(negative))
        if binding.elements(draws) > 0 then th.uniform(draws, generator, lower, upper) end
        th.resizeAs(noise, input)
        th.fill(noise, 1)
        th.maskedCopy(noise, negative, th.newTo(draws, noise.dtype))
        place(th.cmul, output, input, inplace, noise)
    end }

rows.RReLU_updateGradInput = { "input gradOutput gradInput noise lower:number upper:number train:bool inplace:bool",
    function(input, gradOutput, gradInput, noise, lower, upper, train, inplace)
        if not train or upper - lower <= 1e-6 then return leaky(input, gradOutput, gradInput, (lower + upper) / 2, inplace) end
        backward(th.cmul, noise, gradOutput, gradInput, inplace)
    end }

return rows
