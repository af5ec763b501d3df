-- THNN's losses whose target has a number for each element of the input.
--
-- A loss and its derivative are expressions, in which `x` is the input, `y` the target, `w` a weight, and `@` the next number.

local binding = require("thorn.nn.binding")
local C = require("thorn.library").C

local th, made, fuse, like = binding.th, binding.made, binding.fuse, binding.like

local rows = {}

-- Stores a scalar in a vector of one number.
local function store(output, value)
    th.resize1d(output, 1)
    th.copy(output, value)
end

-- Stores the sum or the mean of terms.
local function store_terms(output, sizeAverage, text, operands, ...)
    local terms = binding.temporary(operands.x)
    fuse(terms, text, operands, ...)
    store(output, made[sizeAverage and "mean" or "sum"](terms, C.TH_ALL_DIMS, 0))
end

-- The factor of the derivative of each term.
local function factor(input, sizeAverage) return sizeAverage and 1 / binding.elements(input) or 1 end

-- Losses that the library has, and expressions of the others.
local LIBRARY = {
    AbsCriterion = made.l1Loss,
    MSECriterion = made.mseLoss,
    SmoothL1Criterion = function(x, y, reduction) return made.smoothL1Loss(x, y, reduction, 1) end,
}
local TERMS = {
    DistKLDivCriterion = "where(y > 0, y * (log(y) - x), 0)",
    SoftMarginCriterion = "-logSigmoid(x * y)",
}

-- The number is the factor.
local DERIVATIVES = {
    AbsCriterion = "d = x - y; where(d == 0, 1, sign(d)) * @",
    DistKLDivCriterion = "where(y > 0, y * -@, 0)",
    MSECriterion = "(x - y) * 2 * @",
    SmoothL1Criterion = "clamp(x - y, -1, 1) * @",
    SoftMarginCriterion = "sigmoid(-(x * y)) * y * -@",
}

for name, derivative in pairs(DERIVATIVES) do
    rows[name .. "_updateOutput"] = { "input target output sizeAverage:bool", function(input, target, output, sizeAverage)
        local y, f = like(target, input, 2), LIBRARY[name]
        if not f then return store_terms(output, sizeAverage, TERMS[name], { x = input, y = y }) end
        store(output, f(input, y, sizeAverage and C.TH_REDUCTION_MEAN or C.TH_REDUCTION_SUM))
    end }

    rows[name .. "_updateGradInput"] = { "input target gradInput sizeAverage:bool", function(input, target, gradInput, sizeAverage)
        fuse(gradInput, derivative, { x = input, y = like(target, input, 2) }, factor(input, sizeAverage))
    end }
end

rows.MarginCriterion_updateOutput = { "input target output sizeAverage:bool margin:number",
    function(input, target, output, sizeAverage, margin)
        store_terms(output, sizeAverage, "max(@ - x * y, 0)", { x = input, y = like(target, input, 2) }, margin)
    end }

rows.MarginCriterion_updateGradInput = { "input target gradInput sizeAverage:bool margin:number",
    function(input, target, gradInput, sizeAverage, margin)
        local operands = { x = input, y = like(target, input, 2) }
        fuse(gradInput, "where(x * y < @, y * -@, 0)", operands, margin, factor(input, sizeAverage))
    end }

-- THNN adds 1e-12 to both probabilities.

local function cross_entropy_operands(input, target, weights)
    return { x = input, y = like(target, input, 2), w = weights and like(weights, input, 5) or th.newScalar(input.dtype, 1) }
end

rows.BCECriterion_updateOutput = { "input target output sizeAverage:bool weights?",
    function(input, target, output, sizeAverage, weights)
        local text = "-(log(x + 1e-12) * y + log(1 - x + 1e-12) * (1 - y)) * w"
        store_terms(output, sizeAverage, text, cross_entropy_operands(input, target, weights))
    end }

rows.BCECriterion_updateGradInput = { "input target gradInput sizeAverage:bool weights?",
    function(input, target, gradInput, sizeAverage, weights)
        local text = "(x - y) / ((1 - x + 1e-12) * (x + 1e-12)) * w * @"
        fuse(gradInput, text, cross_entropy_operands(input, target, weights), factor(input, sizeAverage))
    end }

return rows
