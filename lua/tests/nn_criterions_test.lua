-- Criterions of `nn.THNN`.

local harness = require("harness")
local torch = require("thorn")
local THNN = require("nn.THNN")
local support = require("nn_support")

local equal, fails, check = harness.equal, harness.fails, harness.check
local pattern, strided, call, near, each_type = support.pattern, support.strided, support.call, support.near, support.each_type

local tests = {}

local signs = torch.sign(pattern(2, 3, 4))

-- The target of each criterion of elements, and the argument after sizeAverage.
local CRITERIONS = {
    AbsCriterion = { pattern(2, 3, 4) },
    DistKLDivCriterion = { torch.abs(pattern(2, 3, 4)) / 10 },
    MarginCriterion = { signs, 0.5 },
    MSECriterion = { pattern(2, 3, 4) },
    SmoothL1Criterion = { pattern(2, 3, 4) },
    SoftMarginCriterion = { signs },
}

-- Calls the function without trailing nils.
local function call_with(K, name, x, y, result, sizeAverage, extra)
    if extra == nil then return call(K, name, x, y, result, sizeAverage) end
    return call(K, name, x, y, result, sizeAverage, extra)
end

for name, case in pairs(CRITERIONS) do
    local target, extra = unpack(case)

    tests[name] = function()
        each_type(function(K, new, tolerance)
            local x, y = new(pattern(1, 3, 4)), new(target)
            -- The target may have other sizes.
            for _, pair in ipairs({ { x, y }, { strided(x), strided(y) }, { x:view(12), y:view(12) }, { x, y:view(12, 1) } }) do
                for _, reduction in ipairs({ "mean", "sum" }) do
                    local output, gradInput = new(), new()
                    call_with(K, name .. "_updateOutput", pair[1], pair[2], output, reduction == "mean", extra)
                    near(output, name .. "_" .. reduction, 12 * tolerance, "output")
                    call_with(K, name .. "_updateGradInput", pair[1], pair[2], gradInput, reduction == "mean", extra)
                    near(gradInput, name .. "_" .. reduction, tolerance, "gradInput")
                    check(gradInput:isSameSizeAs(pair[1]))
                end
            end
            fails("3x4 elements expected, got 11", call_with, K, name .. "_updateOutput", x, new(pattern(2, 11)), new(), true, extra)
        end)
    end

    tests[name .. "_differences"] = function()
        local K, gradInput, x = THNN.kernels["torch.DoubleTensor"], torch.DoubleTensor(), pattern(1, 3, 4)
        for _, sizeAverage in ipairs({ true, false }) do
            call_with(K, name .. "_updateGradInput", x, target, gradInput, sizeAverage, extra)
            near(gradInput, support.differences(function(moved)
                local output = torch.DoubleTensor()
                call_with(K, name .. "_updateOutput", moved, target, output, sizeAverage, extra)
                return output[1]
            end, x), 1e-8)
        end
    end

    tests[name .. "_empty"] = function()
        each_type(function(K, new)
            local output, gradInput = new(), new()
            call_with(K, name .. "_updateOutput", new(), new(), output, false, extra)
            equal(output, { 0 })
            call_with(K, name .. "_updateGradInput", new(), new(), gradInput, false, extra)
            equal(gradInput:nElement(), 0)
        end)
    end
end

-- The derivatives where the terms have a corner, and targets of 0.
function tests.borders()
    each_type(function(K, new)
        local one, gradInput, output = new(torch.DoubleTensor({ 1 })), new(), new()
        call(K, "AbsCriterion_updateGradInput", one, one, gradInput, false)
        equal(gradInput, { 1 })
        call(K, "MarginCriterion_updateGradInput", one, one, gradInput, false, 1)
        equal(gradInput, { 0 })
        local zero = one:clone():zero()
        call(K, "DistKLDivCriterion_updateOutput", one, zero, output, false)
        call(K, "DistKLDivCriterion_updateGradInput", one, zero, gradInput, false)
        equal({ output[1], gradInput[1] }, { 0, 0 })
        call(K, "SoftMarginCriterion_updateOutput", one * -1000, one, output, false)
        equal(output, { 1000 })
    end)
end

function tests.BCECriterion()
    each_type(function(K, new, tolerance)
        local x, y = torch.DoubleTensor(3, 4), torch.DoubleTensor(3, 4)
        for i = 1, 12 do x:view(-1)[i], y:view(-1)[i] = i / 16, (i - 1) % 3 / 2 end
        x, y = strided(new(x)), new(y)
        for name, weights in pairs({ BCECriterion = false, BCECriterion_weights = new(torch.abs(pattern(2, 3, 4))) }) do
            for _, reduction in ipairs({ "mean", "sum" }) do
                local output, gradInput = new(), new()
                call(K, "BCECriterion_updateOutput", x, y, output, reduction == "mean", weights or nil)
                near(output, name .. "_" .. reduction, 20 * tolerance, "output")
                call(K, "BCECriterion_updateGradInput", x, y, gradInput, reduction == "mean", weights or nil)
                near(gradInput, name .. "_" .. reduction, 20 * tolerance, "gradInput")
            end
        end
        -- Probabilities of 0 and 1 give finite losses: log(1e-12) = -27.631...
        local output = new()
        call(K, "BCECriterion_updateOutput", new(torch.DoubleTensor({ 0, 1 })), new(torch.DoubleTensor({ 1, 0 })), output, true, nil)
        near(output, { -math.log(1e-12) }, 1e-3)
    end)
end

-- Runs both functions of a likelihood criterion on log-probabilities.
local function likelihood(K, new, tolerance, criterion, name, x, target, weights, ignored, totals)
    for _, reduction in ipairs({ "mean", "sum" }) do
        local output, gradInput, total = new(), new(), new(torch.zeros(1))
        call(K, criterion .. "_updateOutput", x, target, output, reduction == "mean", weights, total, ignored)
        near(output, name .. "_" .. reduction, 10 * tolerance, "output")
        near(total, { totals }, tolerance)
        call(K, criterion .. "_updateGradInput", x, target, gradInput, reduction == "mean", weights, total, ignored)
        near(gradInput, name .. "_" .. reduction, tolerance, "gradInput")
        check(gradInput:isSameSizeAs(x))
    end
end

-- log-softmax in the second dimension, by its definition
local function log_softmax(x)
    local e = torch.exp(x)
    return torch.log(torch.cdiv(e, torch.sum(e, 2):expandAs(e)))
end

function tests.ClassNLLCriterion()
    each_type(function(K, new, tolerance)
        local x, target = new(log_softmax(pattern(1, 3, 4))), torch.LongTensor({ 2, 4, 1 })
        local weights = new(torch.DoubleTensor({ 0.5, 1, 2, 0.25 }))
        local function run(...) likelihood(K, new, tolerance, "ClassNLLCriterion", ...) end
        run("ClassNLL", x, target, nil, nil, 3)
        run("ClassNLL", strided(x), strided(target), nil, nil, 3)
        run("ClassNLL_weights", x, target, weights, nil, 1.75)
        run("ClassNLL_ignored", x, target, weights, 4, 1.5)
        run("ClassNLL_vector", x[1], torch.LongTensor({ 3 }), weights, nil, 2)
    end)
end

-- Without a position that counts, the loss and its gradient are 0.
function tests.ClassNLLCriterion_all_ignored()
    each_type(function(K, new)
        local output, gradInput, total = new(), new(), new(torch.ones(1))
        local x, target = new(pattern(1, 2, 3)), torch.LongTensor({ 2, 2 })
        call(K, "ClassNLLCriterion_updateOutput", x, target, output, true, nil, total, 2)
        call(K, "ClassNLLCriterion_updateGradInput", x, target, gradInput, true, nil, total, 2)
        equal({ output[1], total[1], gradInput:size():totable(), gradInput:abs():sum() }, { 0, 0, { 2, 3 }, 0 })
    end)
end

function tests.ClassNLLCriterion_errors()
    each_type(function(K, new)
        local output, total = new(torch.ones(1)), new(torch.ones(1))
        local function run(x, target, weights)
            call(K, "ClassNLLCriterion_updateOutput", new(x), torch.LongTensor(target), output, true, weights and new(weights), total)
        end
        fails("ClassNLLCriterion_updateOutput", run, pattern(1, 2, 3), { 0, 1 })
        fails("ClassNLLCriterion_updateOutput", run, pattern(1, 2, 3), { 4, 1 })
        fails("ClassNLLCriterion_updateOutput", run, pattern(1, 2, 3), { 1 })
        fails("ClassNLLCriterion_updateOutput", run, pattern(1, 2, 3), { 1, 2 }, pattern(1, 2))
        fails("vector expected, got 1x2", run, pattern(1, 2, 3), { { 1, 2 } })
        fails("vector or matrix expected, got 1x2x3", run, pattern(1, 1, 2, 3), { 1, 2 })
        equal({ output[1], total[1] }, { 1, 1 })
        fails("one number expected, got empty", call, K, "ClassNLLCriterion_updateGradInput", new(pattern(1, 2, 3)),
            torch.LongTensor({ 1, 2 }), new(), true, nil, new())
    end)
end

function tests.SpatialClassNLLCriterion()
    each_type(function(K, new, tolerance)
        local x, target = new(log_softmax(pattern(1, 2, 3, 2, 2))), torch.LongTensor(2, 2, 2)
        for i = 1, 8 do target:view(-1)[i] = (i - 1) * 2 % 3 + 1 end
        local weights = new(torch.DoubleTensor({ 0.5, 2, 1 }))
        local function run(...) likelihood(K, new, tolerance, "SpatialClassNLLCriterion", ...) end
        run("SpatialClassNLL", x, target, nil, nil, 8)
        run("SpatialClassNLL", strided(x), target, nil, nil, 8)
        run("SpatialClassNLL_weights", x, target, weights, nil, 8.5)
        fails("4 dimensions expected", run, "SpatialClassNLL", x[1], target, nil, nil, 8)
        fails("3 dimensions expected", run, "SpatialClassNLL", x, target[1], nil, nil, 8)
    end)
end

function tests.MultiMarginCriterion()
    each_type(function(K, new, tolerance)
        local function run(name, x, target, p, weights, margin)
            for _, reduction in ipairs({ "mean", "sum" }) do
                local output, gradInput = new(), new()
                call(K, "MultiMarginCriterion_updateOutput", x, target, output, reduction == "mean", p, weights, margin)
                near(output, name .. "_" .. reduction, 20 * tolerance, "output")
                call(K, "MultiMarginCriterion_updateGradInput", x, target, gradInput, reduction == "mean", p, weights, margin)
                near(gradInput, name .. "_" .. reduction, 4 * tolerance, "gradInput")
                check(gradInput:isSameSizeAs(x))
            end
        end
        local x, target, weights = new(pattern(1, 3, 4)), torch.LongTensor({ 2, 4, 1 }), new(torch.DoubleTensor({ 0.5, 1, 2, 0.25 }))
        for p = 1, 2 do
            run("MultiMargin" .. p, strided(x), target, p, nil, 1.5)
            run("MultiMargin" .. p .. "_weights", x, target, p, weights, 0.75)
        end
        run("MultiMargin_vector", x[1], torch.LongTensor({ 3 }), 1, nil, 1)
        fails("p should be 1 or 2, got 3", run, "", x, target, 3, nil, 1)
        fails("index 5 is out of range 1 to 4", run, "", x, torch.LongTensor({ 1, 5, 2 }), 1, nil, 1)
        fails("3 classes expected, got 2", run, "", x, torch.LongTensor({ 1, 2 }), 1, nil, 1)
        fails("4 weights expected, got 3", run, "", x, target, 1, new(pattern(1, 3)), 1)
    end)
end

function tests.MultiLabelMarginCriterion()
    each_type(function(K, new, tolerance)
        local x = new(pattern(1, 3, 4))
        local target = torch.LongTensor({ { 2, 4, 0, 1 }, { 0, 3, 1, 2 }, { 1, 2, 3, 4 } })
        for name, case in pairs({
            MultiLabelMargin = { strided(x), target, { 0, 1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1 } },
            MultiLabelMargin_vector = { x[1], target[1], { 0, 1, 0, 1 } },
        }) do
            for _, reduction in ipairs({ "mean", "sum" }) do
                local output, gradInput, isTarget = new(), new(), new()
                call(K, "MultiLabelMarginCriterion_updateOutput", case[1], case[2], output, isTarget, reduction == "mean")
                near(output, name .. "_" .. reduction, 20 * tolerance, "output")
                near(isTarget, case[3], 0)
                call(K, "MultiLabelMarginCriterion_updateGradInput", case[1], case[2], gradInput, isTarget, reduction == "mean")
                near(gradInput, name .. "_" .. reduction, 4 * tolerance, "gradInput")
                check(gradInput:isSameSizeAs(case[1]) and isTarget:isSameSizeAs(case[1]))
            end
        end
        for _, label in ipairs({ 5, -1 }) do
            local wrong = target:clone()
            wrong[2][1] = label
            fails("labels from 1 to 4 expected", call, K, "MultiLabelMarginCriterion_updateOutput", x, wrong, new(), new(), true)
        end
        fails("labels of size 3x4 expected, got 4", call, K, "MultiLabelMarginCriterion_updateOutput", x, target[1], new(), new(), true)
        -- A label that occurs twice counts twice, and no label gives no loss.
        local y, output, gradInput, isTarget = new(torch.DoubleTensor({ 0.25, 0 })), new(), new(), new()
        call(K, "MultiLabelMarginCriterion_updateOutput", y, torch.LongTensor({ 1, 1 }), output, isTarget, true)
        call(K, "MultiLabelMarginCriterion_updateGradInput", y, torch.LongTensor({ 1, 1 }), gradInput, isTarget, true)
        equal({ output[1], isTarget:totable(), gradInput:totable() }, { 0.75, { 1, 0 }, { -1, 1 } })
        call(K, "MultiLabelMarginCriterion_updateOutput", y, torch.LongTensor({ 0, 1 }), output, isTarget, true)
        call(K, "MultiLabelMarginCriterion_updateGradInput", y, torch.LongTensor({ 0, 1 }), gradInput, isTarget, true)
        equal({ output[1], isTarget:totable(), gradInput:totable() }, { 0, { 0, 0 }, { 0, 0 } })
    end)
end

harness.run(tests)
