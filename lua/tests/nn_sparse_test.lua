-- SparseLinear and IndexLinear of `nn.THNN`.

local harness = require("harness")
local torch = require("thorn")
local support = require("nn_support")

local equal, fails = harness.equal, harness.fails
local pattern, strided, call, near, each_type = support.pattern, support.strided, support.call, support.near, support.each_type

local tests = {}

-- The same input as lines of row, column and value, and as rows of lines of column and value. Values of 0 do not count.
local LINES = torch.DoubleTensor({ { 1, 2, 1.5 }, { 1, 4, -2 }, { 3, 1, 0.5 }, { 3, 2, 3 }, { 2, 3, 0 } })
local ROWS = torch.DoubleTensor({ { { 2, 1.5 }, { 4, -2 } }, { { 0, 0 }, { 9, 0 } }, { { 1, 0.5 }, { 2, 3 } } })

for prefix, input in pairs({ SparseLinear_ = LINES, SparseLinear_legacy = ROWS }) do
    local function name(letters)
        return prefix .. (prefix == "SparseLinear_" and letters or letters:gsub("^%l", string.upper))
    end

    tests[prefix .. "values"] = function()
        each_type(function(K, new, tolerance)
            for _, layout in ipairs({ torch.DoubleTensor.clone, strided }) do
                local x, weight, bias, g = new(input), layout(new(pattern(3, 2, 4))), new(pattern(4, 2)), layout(new(pattern(2, 3, 2)))
                local output = new(torch.ones(3, 2))
                call(K, name("updateOutput"), layout(x), output, weight, bias)
                near(output, "SparseLinear", 8 * tolerance, "output")
                local gradWeight, gradBias = layout(new(torch.zeros(2, 4))), new(torch.zeros(2))
                for _ = 1, 2 do call(K, name("accGradParameters"), x, g, gradWeight, gradBias, weight, bias, 0, 0.5) end
                near(gradWeight, "SparseLinear", 8 * tolerance, "gradWeight")
                near(gradBias, "SparseLinear", 8 * tolerance, "gradBias")
                -- The update changes the columns of the weight that the input names: 1, 2 and 4.
                local updated, updatedBias = weight:clone(), bias:clone()
                call(K, name("updateParameters"), updated, updatedBias, gradWeight, gradBias, x, 0.5)
                near(updated, torch.add(weight, -0.5, gradWeight):view(-1):totable(), tolerance)
                near(updatedBias, torch.add(bias, -0.5, gradBias):totable(), tolerance)
                gradWeight:fill(1)
                call(K, name("zeroGradParameters"), gradWeight, gradBias, x)
                equal({ gradWeight:totable(), gradBias:totable() }, { { { 0, 0, 1, 0 }, { 0, 0, 1, 0 } }, { 0, 0 } })
                call(K, name("accGradParameters"), x, g, gradWeight, gradBias, weight, bias, 0.25, 0)
                harness.near(gradWeight[1][3], 1 + 0.25 * weight[1][3], tolerance)
            end
        end)
    end

    tests[prefix .. "errors"] = function()
        each_type(function(K, new)
            local weight, bias, output = new(pattern(3, 2, 4)), new(pattern(4, 2)), new(torch.ones(3, 2))
            local function run(changed) call(K, name("updateOutput"), new(changed), output, weight, bias) end
            for _, column in ipairs({ 0, 5 }) do
                local wrong = input:clone()
                if prefix == "SparseLinear_" then wrong[2][2] = column else wrong[1][2][1] = column end
                fails(("index %d is out of range 1 to 4"):format(column), run, wrong)
            end
            fails("column and value expected", run, pattern(1, 3, 4))
            if prefix == "SparseLinear_" then
                for _, row in ipairs({ 0, 4 }) do
                    local wrong = input:clone()
                    wrong[1][1] = row
                    fails("SparseLinear_updateOutput", run, wrong)
                end
            end
            equal(output, { { 1, 1 }, { 1, 1 }, { 1, 1 } })
        end)
    end
end

-- The keys, values and sizes of three rows. In THNN keys plus the offset count from 0.
local KEYS, SIZES = torch.LongTensor({ 2, 4, 1, 2, 3, 1 }), torch.LongTensor({ 2, 1, 3 })
local VALUES = torch.DoubleTensor({ 1.5, -2, 0.5, 3, -1, 0.25 })

function tests.IndexLinear()
    each_type(function(K, new, tolerance)
        for _, offset in ipairs({ -1, 9 }) do
            local keys, sums = torch.add(KEYS, -1 - offset), torch.cumsum(SIZES)
            local weight, bias, g, values = new(pattern(3, 4, 2)):clone(), new(pattern(4, 2)):clone(), new(pattern(2, 3, 2)), new(VALUES)
            local output, gradWeight, gradBias = new(), new(), new(torch.zeros(2))
            call(K, "IndexLinear_updateOutput", keys, offset, values, SIZES, sums, output, weight, bias, new(), 1)
            near(output, "IndexLinear", 8 * tolerance, "output")
            call(K, "IndexLinear_accGradParameters", keys, offset, values, SIZES, sums, g, gradWeight, gradBias, weight, bias, new(), 0, 1)
            near(gradBias, "IndexLinear", 8 * tolerance, "gradBias")
            -- The gradient has a row for each entry. The sum of the rows of a key is the gradient of its weights.
            near(new(torch.zeros(4, 2)):indexAdd(1, KEYS, gradWeight), "IndexLinear", 8 * tolerance, "gradWeight")
            local updated, updatedBias = weight:clone(), bias:clone()
            call(K, "IndexLinear_updateParameters", gradWeight, gradBias, updated, updatedBias, keys, sums, offset, 0, 0.1)
            near(updated, "IndexLinear", 8 * tolerance, "updated")
            near(updatedBias, "IndexLinear", 8 * tolerance, "updatedBias")
            call(K, "IndexLinear_accUpdateGradParameters", keys, offset, values, SIZES, sums, g, weight, bias, 0, 0.1)
            near(weight, "IndexLinear", 8 * tolerance, "updated")
            near(bias, "IndexLinear", 8 * tolerance, "updatedBias")
        end
    end)
end

-- A row is [magnitude, inverse, rate, bias of the key, weights].
local function normalized_weight(new)
    local weight = torch.zeros(4, 6)
    weight:narrow(2, 5, 2):copy(pattern(3, 4, 2))
    weight:select(2, 4):fill(0.5)
    return new(weight):clone()
end

function tests.IndexLinear_normalized()
    each_type(function(K, new, tolerance)
        local sums, bias, output, normalized = torch.cumsum(SIZES), new(pattern(4, 2)), new(), new()
        local weight = normalized_weight(new)
        -- The first call in training finds the greatest magnitudes, which the second one uses.
        for train = 1, 0, -1 do
            call(K, "IndexLinear_updateOutput", KEYS, -1, new(VALUES), SIZES, sums, output, weight, bias, normalized, train)
        end
        near(output, "IndexLinear_normalized", 8 * tolerance, "output")
        near(normalized, "IndexLinear_normalized", tolerance, "values")
        near(weight:narrow(2, 1, 4), { 0.5, 2, 1, 0.5, 3, 1 / 3, 1, 0.5, 1, 1, 1, 0.5, 2, 0.5, 1, 0.5 }, tolerance)
        -- In evaluation a greater value counts as 1 or -1, and magnitudes stay.
        call(K, "IndexLinear_updateOutput", torch.LongTensor({ 1 }), -1, new(torch.DoubleTensor({ -5 })), torch.LongTensor({ 1 }),
            torch.LongTensor({ 1 }), output, weight, bias, normalized, 0)
        equal(normalized, { -0.5 })
        equal(weight[1][1], 0.5)
    end)
end

-- One entry with the gradient g: the bias of the key changes by the sum of g * w, the weights by g * value.
function tests.IndexLinear_normalized_update()
    each_type(function(K, new, tolerance)
        local key, size, g = torch.LongTensor({ 2 }), torch.LongTensor({ 1 }), new(torch.DoubleTensor({ { 2, -1 } }))
        local bias, gradBias, gradWeight = new(torch.zeros(2)), new(torch.zeros(2)), new()
        local function weight() return new(torch.DoubleTensor({ { 1, 1, 1, 0, 7, 7 }, { 4, 0.25, 1, 0.5, 3, 8 } })):clone() end
        local value = new(torch.DoubleTensor({ 0.5 }))
        call(K, "IndexLinear_accGradParameters", key, -1, value, size, size, g, gradWeight, gradBias, weight(), bias, new(), 0, 1)
        equal({ gradWeight:totable(), gradBias:totable() }, { { { 2, -1, 1, -0.5 } }, { 2, -1 } })
        local updated = weight()
        call(K, "IndexLinear_updateParameters", gradWeight, gradBias, updated, bias, key, size, -1, 0.25, 0.5)
        -- 0.5 - (2 * 3 - 1 * 8) * 0.5, 3 - 3 * 0.25 - 1 * 0.5, 8 - 8 * 0.25 + 0.5 * 0.5
        near(updated, { 1, 1, 1, 0, 7, 7, 4, 0.25, 1, 1.5, 1.75, 6.25 }, tolerance)
        near(bias, { -1, 0.5 }, tolerance)
        updated = weight()
        call(K, "IndexLinear_accUpdateGradParameters", key, -1, value, size, size, g, updated, bias, 0.25, 0.5)
        near(updated, { 1, 1, 1, 0, 7, 7, 4, 0.25, 1, 1.5, 1.75, 6.25 }, tolerance)
        near(bias, { -2, 1 }, tolerance)
    end)
end

function tests.IndexLinear_errors()
    each_type(function(K, new)
        local weight, bias, output = new(pattern(3, 4, 2)), new(pattern(4, 2)), new()
        local function run(keys, values, sizes, w)
            call(K, "IndexLinear_updateOutput", torch.LongTensor(keys), -1, new(torch.DoubleTensor(values)), torch.LongTensor(sizes),
                torch.LongTensor(sizes), output, w or weight, bias, new(), 1)
        end
        fails("index 5 is out of range 1 to 4", run, { 1, 5 }, { 1, 1 }, { 2 })
        fails("index 0 is out of range 1 to 4", run, { 1, 0 }, { 1, 1 }, { 2 })
        fails("sizes with the sum 3", run, { 1, 2 }, { 1, 1 }, { 1, 2 })
        fails("IndexLinear_updateOutput", run, { 1, 2 }, { 1, 1, 1 }, { 2 })
        fails("a weight of size 4x3 does not fit 2 outputs", run, { 1 }, { 1 }, { 1 }, new(pattern(3, 4, 3)))
        fails("a weight of size 4x1 does not fit 2 outputs", run, { 1 }, { 1 }, { 1 }, new(pattern(3, 4, 1)))
        local key = torch.LongTensor({ 1, 2 })
        fails("gradients of size 2x2 expected, got 3x1", call, K, "IndexLinear_updateParameters", new(pattern(1, 3, 1)), bias,
            weight:clone(), bias:clone(), key, key, -1, 0.5, 1)
        local lost = normalized_weight(new)
        lost:storage():resize(3)
        fails("has lost its elements", run, { 4 }, { 1 }, { 1 }, lost)
        fails("contiguous", run, { 1 }, { 1 }, { 1 }, strided(normalized_weight(new)))
        equal(output:nElement(), 0)
    end)
end

harness.run(tests)
