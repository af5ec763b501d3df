-- Functions of `nn.THNN`: the binding, activations, Linear and LookupTable.

local harness = require("harness")
local torch = require("thorn")
local THNN = require("nn.THNN")
local support = require("nn_support")

local equal, fails, check = harness.equal, harness.fails, harness.check
local pattern, strided, call, near, each_type = support.pattern, support.strided, support.call, support.near, support.each_type

local tests = {}

-- The first list has the arguments of updateOutput after the output. The second list has the arguments of updateGradInput after the
-- gradient of the input. The text "output" means the output tensor. The text "inplace" means true if the test runs in place, else false.
local ACTIVATIONS = {
    Abs = { {}, {} },
    ELU = { { 0.75, "inplace" }, { "output", 0.75, "inplace" } },
    HardShrink = { { 0.5 }, { 0.5 } },
    HardTanh = { { -0.75, 1.25, "inplace" }, { -0.75, 1.25, "inplace" } },
    LeakyReLU = { { 0.25, "inplace" }, { 0.25, "inplace" } },
    LogSigmoid = { { "buffer" }, { "buffer" } },
    Sigmoid = { {}, { "output" } },
    SoftPlus = { { 2, 3 }, { "output", 2, 3 } },
    SoftShrink = { { 0.5 }, { 0.5 } },
    Sqrt = { { 0 }, { "output" } },
    Square = { {}, {} },
    Tanh = { {}, { "output" } },
    Threshold = { { 0.5, -3, "inplace" }, { 0.5, -3, "inplace" } },
    Threshold_at_0 = { { 0, 0, "inplace" }, { 0, 0, "inplace" } },
}

-- Returns the arguments for real.
local function filled(list, output, inplace)
    local r = {}
    for i, word in ipairs(list) do
        if word == "output" then r[i] = output
        elseif word == "buffer" then r[i] = output.new()
        elseif word == "inplace" then r[i] = inplace or false
        else r[i] = word end
    end
    return unpack(r)
end

local function has_inplace(list) return list[#list] == "inplace" end

-- Runs both functions. Returns the output and the gradient of the input.
local function run(K, name, x, g, inplace)
    local forward, backward = unpack(ACTIVATIONS[name])
    local output, gradInput = x.new(), x.new()
    local f = name:gsub("_at_0", "")
    call(K, f .. "_updateOutput", x, output, filled(forward, output, inplace))
    call(K, f .. "_updateGradInput", x, g, gradInput, filled(backward, output, inplace))
    return output, gradInput
end

local function input_of(name, ...)
    local x = pattern(1, ...)
    return name == "Sqrt" and x:abs() or x
end

for name, lists in pairs(ACTIVATIONS) do
    tests[name] = function()
        each_type(function(K, new, tolerance)
            local x, g = new(input_of(name, 3, 4)), new(pattern(2, 3, 4))
            for _, layout in ipairs({ "plain", "strided", "vector" }) do
                local a, b = x, g
                if layout == "strided" then a, b = strided(x), strided(g) end
                if layout == "vector" then a, b = x:view(12), g:view(12) end
                local output, gradInput = run(K, name, a, b)
                near(output, name, tolerance, "output")
                near(gradInput, name, tolerance, "gradInput")
                check(output:isSameSizeAs(a) and gradInput:isSameSizeAs(a))
            end
            near(x, input_of(name, 3, 4):view(-1):totable(), 0)
        end)
    end

    tests[name .. "_empty"] = function()
        each_type(function(K, new)
            local output, gradInput = run(K, name, new(), new())
            equal({ output:nElement(), gradInput:nElement() }, { 0, 0 })
        end)
    end

    tests[name .. "_differences"] = function()
        local K = THNN.kernels["torch.DoubleTensor"]
        local x, g = input_of(name, 2, 3), pattern(5, 2, 3)
        local _, gradInput = run(K, name, x, g)
        near(gradInput, support.differences(function(moved) return torch.dot((run(K, name, moved, g)), g) end, x), 1e-8)
    end

    if has_inplace(lists[1]) then
        tests[name .. "_in_place"] = function()
            each_type(function(K, new, tolerance)
                for _, layout in ipairs({ torch.DoubleTensor.clone, strided }) do
                    local x, g = layout(new(pattern(1, 3, 4))), layout(new(pattern(2, 3, 4)))
                    local output, gradInput = run(K, name, x, g, true)
                    near(output, name, tolerance, "output")
                    near(gradInput, name, tolerance, "gradInput")
                    check(output:isSetTo(x) and gradInput:isSetTo(g))
                end
            end)
        end
    end
end

-- At the borders, THNN's derivatives are these.
function tests.derivatives_at_borders()
    each_type(function(K, new)
        local zero, one = new(torch.DoubleTensor({ 0 })), new(torch.DoubleTensor({ 1 }))
        local gradInput = zero.new()
        call(K, "Abs_updateGradInput", zero, one, gradInput)
        equal(gradInput, { 1 })
        call(K, "Sqrt_updateGradInput", zero, one, gradInput, zero)
        equal(gradInput, { 0 })
        call(K, "HardTanh_updateGradInput", one, one, gradInput, -1, 1, false)
        equal(gradInput, { 1 })
        call(K, "HardTanh_updateGradInput", one, one:clone(), gradInput, -1, 1, true)
        equal(gradInput, { 0 })
        call(K, "HardTanh_updateGradInput", one, one, gradInput, -math.huge, math.huge, false)
        equal(gradInput, { 1 })
        call(K, "L1Cost_updateGradInput", zero, nil, gradInput)
        equal(gradInput, { 0 })
    end)
end

-- The gradient may have other sizes with as many elements.
function tests.sizes_of_the_gradient()
    each_type(function(K, new, tolerance)
        local x, gradInput = new(pattern(1, 3, 4)), new()
        call(K, "Tanh_updateGradInput", x, new(pattern(2, 12)), gradInput, torch.tanh(x))
        near(gradInput, "Tanh", tolerance, "gradInput")
        call(K, "Square_updateGradInput", x, strided(new(pattern(2, 4, 3))), gradInput)
        near(gradInput, "Square", tolerance, "gradInput")
        equal(gradInput:size():totable(), { 3, 4 })
        fails("Square_updateGradInput", call, K, "Square_updateGradInput", x, new(pattern(2, 11)), gradInput)
        near(gradInput, "Square", tolerance, "gradInput")
    end)
end

function tests.softmax()
    each_type(function(K, new, tolerance)
        for _, layout in ipairs({ torch.DoubleTensor.clone, strided }) do
            for dims, size in ipairs({ { 5 }, { 3, 4 }, { 3, 2, 2 }, { 2, 3, 2, 2 } }) do
                for _, name in ipairs({ "SoftMax", "LogSoftMax" }) do
                    local x, g = layout(new(pattern(1, unpack(size)))), layout(new(pattern(2, unpack(size))))
                    local output, gradInput = new(), new()
                    call(K, name .. "_updateOutput", x, output)
                    near(output, name .. dims, tolerance, "output")
                    call(K, name .. "_updateGradInput", x, g, gradInput, output)
                    near(gradInput, name .. dims, tolerance, "gradInput")
                    equal(gradInput:size():totable(), size)
                end
            end
        end
        fails("SoftMax_updateOutput", call, K, "SoftMax_updateOutput", new(pattern(1, 1, 1, 1, 2, 2)), new())
    end)
end

function tests.gated_linear_unit()
    each_type(function(K, new, tolerance)
        for dim, size in ipairs({ { 4, 3 }, { 3, 4 } }) do
            local half = { size[1] / (dim == 1 and 2 or 1), size[2] / (dim == 2 and 2 or 1) }
            local x, g = strided(new(pattern(1, unpack(size)))), new(pattern(2, unpack(half)))
            local output, gradInput = new(), new()
            call(K, "GatedLinear_updateOutput", x, output, dim)
            near(output, "GatedLinear" .. dim, tolerance, "output")
            call(K, "GatedLinear_updateGradInput", x, g, gradInput, dim)
            near(gradInput, "GatedLinear" .. dim, tolerance, "gradInput")
        end
        fails("odd size", call, K, "GatedLinear_updateOutput", new(pattern(1, 4, 3)), new(), 2)
        fails("dimension 3 out of range", call, K, "GatedLinear_updateOutput", new(pattern(1, 4, 3)), new(), 3)
    end)
end

function tests.l1_cost()
    each_type(function(K, new)
        local x, output, gradInput = new(torch.DoubleTensor({ { 1, -2 }, { 0.5, -4 } })), new(), new()
        call(K, "L1Cost_updateOutput", x, output)
        equal(output, { 7.5 })
        call(K, "L1Cost_updateGradInput", x, x, gradInput)
        equal(gradInput, { { 1, -1 }, { 1, -1 } })
    end)
end

function tests.prelu()
    each_type(function(K, new, tolerance)
        local cases = { [0] = { 0, { 3, 4 } }, { 4, { 4 } }, { 4, { 3, 4 } }, { 2, { 2, 3, 4 } }, { 3, { 2, 3, 2, 2 } } }
        for i = 0, #cases do
            local planes, size = unpack(cases[i])
            for _, layout in ipairs({ torch.DoubleTensor.clone, strided }) do
                local x, g = layout(new(pattern(1, unpack(size)))), layout(new(pattern(2, unpack(size))))
                local weight, output, gradInput = new(pattern(3, math.max(planes, 1))), new(), new()
                local gradWeight = new(torch.zeros(math.max(planes, 1)))
                call(K, "PReLU_updateOutput", x, output, weight, planes)
                near(output, "PReLU" .. i, tolerance, "output")
                call(K, "PReLU_updateGradInput", x, g, gradInput, weight, planes)
                near(gradInput, "PReLU" .. i, tolerance, "gradInput")
                for _ = 1, 2 do
                    call(K, "PReLU_accGradParameters", x, g, gradInput, weight, gradWeight, new(), new(), planes, 0.5)
                end
                near(gradWeight, "PReLU" .. i, 4 * tolerance, "gradWeight")
            end
        end
        fails("3 planes expected", call, K, "PReLU_updateOutput", new(pattern(1, 3, 4)), new(), new(pattern(3, 3)), 3)
    end)
end

function tests.rrelu_in_training()
    each_type(function(K, new, tolerance)
        for _, inplace in ipairs({ false, true }) do
            local x = pattern(1, 3, 4)
            local t, output, noise, gradInput = new(x):clone(), new(), new(), new()
            local generator = torch.Generator()
            torch.manualSeed(generator, 5)
            call(K, "RReLU_updateOutput", t, output, noise, 0.125, 0.375, true, inplace, generator)
            -- Each negative element takes one number.
            torch.manualSeed(generator, 5)
            local slopes, flat = {}, x:view(-1)
            for i = 1, 12 do slopes[i] = flat[i] <= 0 and torch.uniform(generator, 0.125, 0.375) or 1 end
            near(noise, slopes, tolerance)
            near(output, torch.cmul(flat, torch.DoubleTensor(slopes)):totable(), tolerance)
            check(output:isSetTo(t) == inplace)
            local g = pattern(2, 3, 4)
            call(K, "RReLU_updateGradInput", t, new(g):clone(), gradInput, noise, 0.125, 0.375, true, inplace)
            near(gradInput, torch.cmul(g:view(-1), torch.DoubleTensor(slopes)):totable(), tolerance)
        end
    end)
end

function tests.rrelu_in_evaluation()
    each_type(function(K, new, tolerance)
        for _, inplace in ipairs({ false, true }) do
            local x, output, noise, gradInput = new(pattern(1, 3, 4)):clone(), new(), new(), new()
            call(K, "RReLU_updateOutput", x, output, noise, 0.125, 0.375, false, inplace, torch.Generator())
            near(output, "LeakyReLU", tolerance, "output")
            call(K, "RReLU_updateGradInput", x, new(pattern(2, 3, 4)):clone(), gradInput, noise, 0.125, 0.375, false, inplace)
            near(gradInput, "LeakyReLU", tolerance, "gradInput")
        end
    end)
end

function tests.linear()
    each_type(function(K, new, tolerance)
        for dims, size in ipairs({ { 4 }, { 3, 4 } }) do
            local name = "Linear" .. dims
            for _, layout in ipairs({ torch.DoubleTensor.clone, strided }) do
                local x, weight, bias = layout(new(pattern(1, unpack(size)))), layout(new(pattern(3, 2, 4))), new(pattern(4, 2))
                local output, gradInput, g = new(), new(), layout(new(dims == 1 and pattern(2, 2) or pattern(2, 3, 2)))
                call(K, "Linear_updateOutput", x, output, weight, bias, new())
                near(output, name, tolerance, "output")
                call(K, "Linear_updateOutput", x, output, weight, nil, new())
                near(output, name, tolerance, "unbiased")
                call(K, "Linear_updateGradInput", x, g, gradInput, weight)
                near(gradInput, name, 4 * tolerance, "gradInput")
                local gradWeight, gradBias = new(torch.zeros(2, 4)), new(torch.zeros(2))
                for _ = 1, 2 do
                    call(K, "Linear_accGradParameters", x, g, gradInput, weight, bias, gradWeight, gradBias, new(), 0.5)
                end
                near(gradWeight, name, 4 * tolerance, "gradWeight")
                near(gradBias, name, 4 * tolerance, "gradBias")
            end
        end
        local function run(x) call(K, "Linear_updateOutput", new(x), new(), new(pattern(3, 2, 4)), nil, new()) end
        fails("vector or matrix expected", run, pattern(1, 1, 3, 4))
        fails("Linear_updateOutput", run, pattern(1, 3, 5))
    end)
end

function tests.lookup_table()
    each_type(function(K, new, tolerance)
        local input = torch.LongTensor({ 2, 4, 2, 1, 5, 2 })
        for _, shape in ipairs({ input, input:view(2, 3) }) do
            for name, options in pairs({ Lookup = { false, 0 }, Lookup_freq = { true, 0 }, Lookup_padding = { false, 4 } }) do
                local gradWeight, count = new(torch.zeros(5, 3)), torch.IntTensor()
                for _ = 1, 2 do
                    call(K, "LookupTable_accGradParameters", shape, strided(new(pattern(2, 6, 3))), gradWeight, count, nil, nil,
                        options[1], options[2], 0.5)
                end
                near(gradWeight, name, tolerance, "gradWeight")
            end
        end
        local gradWeight = new(torch.zeros(5, 3))
        local function accumulate(index, rows)
            call(K, "LookupTable_accGradParameters", torch.LongTensor(index), new(pattern(2, rows, 3)), gradWeight, torch.IntTensor(), nil,
                nil, false, 0, 1)
        end
        fails("index 0 is out of range 1 to 5", accumulate, { 1, 0 }, 2)
        fails("index 6 is out of range 1 to 5", accumulate, { 6, 1 }, 2)
        fails("2 vectors of size 3 expected", accumulate, { 1, 2 }, 3)
        equal(gradWeight:abs():sum(), 0)
    end)
end

function tests.lookup_table_renorm()
    each_type(function(K, new, tolerance)
        for norm = 1, 3 do
            local weight = new(pattern(3, 5, 3)):clone()
            call(K, "LookupTable_renorm", torch.LongTensor({ 2, 4, 2 }), weight, 1.5, norm)
            near(weight, "Lookup_renorm" .. norm, tolerance, "weight")
        end
        local weight = new(pattern(3, 5, 3)):clone()
        fails("out of range", call, K, "LookupTable_renorm", torch.LongTensor({ 0 }), weight, 1.5, 2)
        fails("positive number", call, K, "LookupTable_renorm", torch.LongTensor({ 1 }), weight, 1.5, 0)
    end)
end

function tests.wrong_arguments()
    local K = THNN.kernels["torch.DoubleTensor"]
    local x, y = torch.DoubleTensor({ 1, 2 }), torch.DoubleTensor()
    fails("bad argument #2 to 'Tanh_updateOutput'", function() K.Tanh_updateOutput(x:cdata()) end)
    fails("torch.DoubleTensor:cdata() expected, got torch.FloatTensor", function() K.Tanh_updateOutput(x:float():cdata(), y:cdata()) end)
    fails("expected, got torch.DoubleTensor", function() K.Tanh_updateOutput(x, y:cdata()) end)
    fails("expected, got string", function() K.Tanh_updateOutput("x", y:cdata()) end)
    fails("2 arguments expected, got 3", function() K.Tanh_updateOutput(x:cdata(), y:cdata(), 1) end)
    fails("number expected, got string", function() K.Sqrt_updateOutput(x:cdata(), y:cdata(), "x") end)
    fails("whole number expected", function() K.GatedLinear_updateOutput(x:cdata(), y:cdata(), 0 / 0) end)
    fails("boolean expected", function() K.ELU_updateOutput(x:cdata(), y:cdata(), 1, "x") end)
    fails("torch.Generator expected", function()
        K.RReLU_updateOutput(x:cdata(), y:cdata(), y:cdata(), 0, 1, true, false, 1)
    end)
    fails("torch.LongTensor:cdata() expected, got torch.DoubleTensor", function() K.LookupTable_renorm(x:cdata(), y:cdata(), 1, 2) end)
    fails("nn_test.lua", function() K.Tanh_updateOutput(x:cdata()) end)
    fails("nn_test.lua", function() K.SoftMax_updateOutput(torch.DoubleTensor(1, 1, 1, 1, 1):cdata(), y:cdata()) end)
    equal(y:nElement(), 0)
end

function tests.module()
    check(require("nn.THNN") == require("thorn.nn"))
    local x, y = torch.FloatTensor({ 4, 9 }), torch.FloatTensor()
    x.THNN.Sqrt_updateOutput(x:cdata(), y:cdata(), 0)
    equal(y, { 2, 3 })
    check(torch.getmetatable("torch.DoubleTensor").THNN == THNN.kernels["torch.DoubleTensor"])
    equal(THNN.optionalTensor(nil), nil)
    check(THNN.optionalTensor(x) == x:cdata())
    THNN.runKernel("Square_updateOutput", "torch.FloatTensor", x:cdata(), y:cdata())
    equal(y, { 16, 81 })
    fails("no function Foo", THNN.runKernel, "Foo", "torch.FloatTensor")
    fails("no functions for the type torch.IntTensor", THNN.runKernel, "Foo", "torch.IntTensor")
    equal(x.THNN.Foo, nil)
    local bound = THNN.bind({ THNN_DoubleHalve = function(_, a) return a / 2 end }, { "Halve", "Other" }, "Double", THNN.getState)
    equal({ bound.Halve(3), bound.Other == nil }, { 1.5, true })
end

-- Temporaries and fused expressions do not accumulate, also after errors.
function tests.memory()
    local K, C = THNN.kernels["torch.DoubleTensor"], require("thorn.library").C
    local x, y, scores = torch.rand(1000), torch.DoubleTensor(), torch.rand(10, 100)
    local classes = torch.LongTensor(10):fill(3)
    local function work(i)
        call(K, "HardShrink_updateGradInput", x, x, y, i / 1000)
        call(K, "MultiMarginCriterion_updateGradInput", scores, classes, y, true, 1, nil, 1)
        check(not pcall(call, K, "MultiMarginCriterion_updateGradInput", scores, classes:clone():fill(101), y, true, 1, nil, 1))
    end
    for i = 1, 10 do work(i) end
    collectgarbage()
    collectgarbage()
    local before = tonumber(C.THMemory_liveBytes())
    for i = 1, 600 do work(i) end
    collectgarbage()
    collectgarbage()
    check(tonumber(C.THMemory_liveBytes()) - before < 1e5)
end

-- A hook of the program calls THNN while another function runs, as a finalizer may.
function tests.reentry()
    local K = THNN.kernels["torch.DoubleTensor"]
    local a, b, gate = torch.ones(2, 3), torch.Tensor(), 1 / (1 + math.exp(-1))
    local x, weight, output, buffer = torch.ones(2, 8, 8), torch.ones(1, 2, 3, 3), torch.Tensor(), torch.Tensor()
    local calls = 0
    jit.off()
    debug.sethook(function()
        calls = calls + 1
        pcall(call, K, "GatedLinear_updateOutput", a, b, 3)
        call(K, "GatedLinear_updateGradInput", a, torch.ones(1, 3), b, 1)
    end, "", 7)
    local ok, problem = pcall(function()
        for _ = 1, 10 do call(K, "SpatialDepthWiseConvolution_updateOutput", x, output, weight, nil, buffer, buffer, 3, 3, 1, 1, 0, 0) end
    end)
    debug.sethook()
    jit.on()
    check(ok, problem)
    check(calls > 100)
    equal({ output:min(), output:max() }, { 9, 9 })
    near(b, { gate, gate, gate, gate * (1 - gate), gate * (1 - gate), gate * (1 - gate) })
end

harness.run(tests)
