-- THNN's losses whose target is classes, which count from 1.

local binding = require("thorn.nn.binding")
local C = require("thorn.library").C

local th, made, fuse, reshape, size = binding.th, binding.made, binding.fuse, binding.reshape, binding.size
local from_zero, shape = binding.from_zero, binding.shape

local rows = {}

-- Stores a number in a vector of one element.
local function store(t, value)
    th.resize1d(t, 1)
    th.fill(t, value)
end

-- Negative log-likelihood. Positions whose class is `ignored` do not count.

-- Defines the criterion. `prepare(input, target)` returns both with a dimension for the batch.
local function likelihood(name, prepare)
    rows[name .. "_updateOutput"] = { "input target:long output sizeAverage:bool weights? total_weight ignored:int?",
        function(input, target, output, sizeAverage, weights, total_weight, ignored)
            local x, classes = prepare(input, from_zero(target))
            local function sum(t)
                return C.THTensor_item(made.nllLoss(t, classes, weights, C.TH_REDUCTION_SUM, (ignored or -100) - 1))
            end
            local loss = sum(x)
            -- Each -1 counts the weight of its position.
            local total = sum(th.newExpandAs(th.newScalar(x.dtype, -1), x))
            store(output, sizeAverage and total ~= 0 and loss / total or loss)
            store(total_weight, total)
        end }

    rows[name .. "_updateGradInput"] = { "input target:long gradInput sizeAverage:bool weights? total_weight ignored:int?",
        function(input, target, gradInput, sizeAverage, weights, total_weight, ignored)
            local x, classes = prepare(input, from_zero(target))
            if binding.elements(total_weight) ~= 1 then binding.argument(6, "one number expected, got %s", shape(total_weight)) end
            local total = C.THTensor_get1d(total_weight, 0)
            th.resizeAs(gradInput, input)
            if not (total > 0) then return th.zero(gradInput) end
            local g = th.newScalar(input.dtype, sizeAverage and 1 / total or 1)
            local gradient = made.nllLossGrad(g, x, classes, weights, C.TH_REDUCTION_SUM, (ignored or -100) - 1)
            th.copy(gradInput, binding.like(gradient, input, 1))
        end }
end

likelihood("ClassNLLCriterion", function(input, classes)
    if input.nDimension ~= 1 and input.nDimension ~= 2 then
        binding.argument(1, "vector or matrix expected, got %s", shape(input))
    end
    if classes.nDimension > 1 then binding.argument(2, "vector expected, got %s", shape(classes)) end
    if input.nDimension == 2 then return input, classes end
    return reshape(input, 1, -1), reshape(classes, 1)
end)

likelihood("SpatialClassNLLCriterion", function(input, classes)
    if input.nDimension ~= 4 then binding.argument(1, "4 dimensions expected, got %s", shape(input)) end
    if classes.nDimension ~= 3 then binding.argument(2, "3 dimensions expected, got %s", shape(classes)) end
    return input, classes
end)

-- Returns a vector as a matrix of one row, and a matrix unchanged.
local function matrix(t)
    if t.nDimension ~= 1 and t.nDimension ~= 2 or binding.elements(t) == 0 then
        binding.argument(1, "vector or matrix expected, got %s", shape(t))
    end
    return t.nDimension == 2 and t or reshape(t, 1, -1)
end

-- The factor of the derivative of each term.
local function factor(x, sizeAverage) return 1 / size(x, 1) / (sizeAverage and size(x, 0) or 1) end

-- Multi-class margin: max(margin - x[class] + x[i], 0)^p of each other class i, times the weight of the class.

-- Returns the input as a matrix, the classes as a column, the terms before the power, and the weights as a column.
local function margins(input, target, p, weights, margin)
    local x = matrix(input)
    if p ~= 1 and p ~= 2 then binding.raise("p should be 1 or 2, got %d", p) end
    if binding.elements(target) ~= size(x, 0) then
        binding.argument(2, "%d classes expected, got %s", size(x, 0), shape(target))
    end
    if weights and binding.elements(weights) ~= size(x, 1) then
        binding.raise("%d weights expected, got %s", size(x, 1), shape(weights))
    end
    local classes = reshape(from_zero(target, size(x, 1)), -1)
    local column = reshape(classes, -1, 1)
    local z = binding.temporary(x)
    fuse(z, "max(@ - own + x, 0)", { own = made.gather(x, 1, column), x = x }, margin or 1)
    th.scatterFill(z, 1, column, 0)
    return x, column, z, weights and reshape(made.indexSelect(reshape(weights, -1), 0, classes), -1, 1)
end

rows.MultiMarginCriterion_updateOutput = { "input target:long output sizeAverage:bool p:int weights? margin:number?",
    function(input, target, output, sizeAverage, p, weights, margin)
        local x, _, z, w = margins(input, target, p, weights, margin)
        if p == 2 then th.cmul(z, z, z) end
        if w then th.cmul(z, z, w) end
        store(output, C.THTensor_sumall(z) * factor(x, sizeAverage))
    end }

rows.MultiMarginCriterion_updateGradInput = { "input target:long gradInput sizeAverage:bool p:int weights? margin:number?",
    function(input, target, gradInput, sizeAverage, p, weights, margin)
        local x, column, z, w = margins(input, target, p, weights, margin)
        fuse(z, p == 1 and "sign(z) * @" or "z * 2 * @", { z = z }, factor(x, sizeAverage))
        if w then th.cmul(z, z, w) end
        th.scatterAdd(z, 1, column, made.neg(made.sum(z, 1, 1)))
        th.resizeAs(gradInput, input)
        th.copy(gradInput, binding.like(z, input, 1))
    end }

-- Multi-label margin: max(1 - x[label] + x[i], 0) of each label and each class i that is no label. A row of the target has labels up to the
-- first 0.

-- Returns the input as a matrix, the labels from 0, 1 for each label and 0 after the first 0, and the greatest number of labels.
local function labels_of(input, target)
    local x = matrix(input)
    if C.THTensor_isSameSizeAs(target, input) == 0 then
        binding.argument(2, "labels of size %s expected, got %s", shape(input), shape(target))
    end
    local labels = reshape(target, size(x, 0), -1)
    local counts = th.newTo(made.cumprod(th.newTo(made.neValue(labels, 0), C.TH_INT64), 1), C.TH_INT64)
    local columns = C.THTensor_maxall(made.sum(counts, 1, 0))
    -- A place without a label has the class 0, with the count 0.
    local classes = from_zero(made.cmul(labels, counts))
    th.cmul(classes, classes, counts)
    if C.THTensor_minall(classes) < 0 or C.THTensor_maxall(classes) >= size(x, 1) then
        binding.argument(2, "labels from 1 to %d expected", size(x, 1))
    end
    return x, classes, th.newTo(counts, x.dtype), columns
end

-- Returns the terms of the labels in a column, and the column of their classes.
local function label_terms(x, classes, counts, is_label, column)
    local labels, terms = th.newNarrow(classes, 1, column, 1), binding.temporary(x)
    fuse(terms, "max(1 - own + x, 0) * (1 - label) * count", {
        own = made.gather(x, 1, labels), x = x, label = is_label, count = th.newNarrow(counts, 1, column, 1),
    })
    return terms, labels
end

rows.MultiLabelMarginCriterion_updateOutput = { "input target:long output isTarget sizeAverage:bool",
    function(input, target, output, isTarget, sizeAverage)
        local x, classes, counts, columns = labels_of(input, target)
        local is_label, sum = made.zerosLike(x), 0
        th.scatterAdd(is_label, 1, classes, counts)
        th.clamp(is_label, is_label, 0, 1)
        for column = 0, columns - 1 do sum = sum + C.THTensor_sumall((label_terms(x, classes, counts, is_label, column))) end
        th.resizeAs(isTarget, input)
        th.copy(isTarget, binding.like(is_label, input, 1))
        store(output, sum * factor(x, sizeAverage))
    end }

rows.MultiLabelMarginCriterion_updateGradInput = { "input target:long gradInput isTarget sizeAverage:bool",
    function(input, target, gradInput, isTarget, sizeAverage)
        local x, classes, counts, columns = labels_of(input, target)
        local is_label, gradient = reshape(binding.like(isTarget, input, 4), size(x, 0), -1), made.zerosLike(x)
        for column = 0, columns - 1 do
            local terms, labels = label_terms(x, classes, counts, is_label, column)
            fuse(terms, "sign(z) * @", { z = terms }, factor(x, sizeAverage))
            th.cadd(gradient, gradient, 1, terms)
            th.scatterAdd(gradient, 1, labels, made.neg(made.sum(terms, 1, 1)))
        end
        th.resizeAs(gradInput, input)
        th.copy(gradInput, binding.like(gradient, input, 1))
    end }

return rows
