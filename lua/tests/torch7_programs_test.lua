-- Programs in the way of Torch7's `nn` and `optim`: networks with their parameters in one vector, and solvers that update it.
--
-- The tests train small networks, and check gradients by differences.

local harness = require("harness")
local torch = require("thorn")
local net = require("torch7_layers")

local equal, near, check, fails = harness.equal, harness.near, harness.check, harness.fails
local tests = {}

-- Trains a network on all samples at each step. Returns the last loss, and the part of the samples with the right answer.
local function train(network, x, labels, steps, rate)
    local weights, grads = network:lists()
    local w, g = net.flatten(weights), net.flatten(grads)
    local loss, state, value = net.convert(net.Loss(), w:type()), {}, nil
    for _ = 1, steps do
        g:zero()
        local y = network:forward(x)
        value = loss:forward(y, labels)
        network:backward(x, loss:backward(y, labels))
        net.adam(w, g, rate, state)
    end
    local _, best = network:forward(x):max(2)
    return value, best:squeeze():eq(labels):sum() / labels:size(1)
end

-- Images of 8 by 8 pixels with a horizontal, vertical or diagonal bar in noise.
local function bars(count)
    local x, labels = torch.randn(count, 1, 8, 8):mul(0.1), torch.LongTensor(count)
    for i = 1, count do
        local class, at = (i - 1) % 3 + 1, torch.random(8)
        labels[i] = class
        for p = 1, 8 do
            local row = class == 2 and p or class == 3 and (p + at - 1) % 8 + 1 or at
            x[{ i, 1, row, class == 2 and at or p }] = 1
        end
    end
    return x, labels
end

-- Returns the greatest difference of a network's gradients to those by differences: of the weights and of the input.
local function error_of_gradients(network, x)
    local weights, grads = network:lists()
    local g = network:forward(x):clone():uniform(-1, 1)
    for _, t in ipairs(grads) do t:zero() end
    network:forward(x)
    local gradInput = network:backward(x, g)
    if gradInput then
        gradInput = gradInput:clone()
        weights[#weights + 1], grads[#grads + 1] = x, gradInput
    end
    local worst = 0
    for k, w in ipairs(weights) do
        local flat, grad = w:view(-1), grads[k]:view(-1)
        for i = 1, flat:size(1) do
            local old = flat[i]
            flat[i] = old + 1e-6
            local up = network:forward(x):clone():cmul(g):sum()
            flat[i] = old - 1e-6
            local down = network:forward(x):clone():cmul(g):sum()
            flat[i] = old
            worst = math.max(worst, math.abs((up - down) / 2e-6 - grad[i]))
        end
    end
    return worst
end

local function lenet()
    return net.Chain(net.Conv(1, 6, 3, 1), net.Tanh(), net.Pool("SpatialMaxPooling", 2, 2, 2, 2, 0, 0, false), net.Conv(6, 8, 3, 0),
        net.ReLU(), net.Flat(), net.Dense(32, 3), net.LogSoftMax())
end

local function residual()
    return net.Chain(net.Conv(1, 4, 3, 1), net.Skip(net.Norm(4), net.ReLU(), net.Conv(4, 4, 3, 1)),
        net.Skip(net.Norm(4), net.ReLU(), net.Conv(4, 4, 3, 1)), net.Pool("SpatialMaxPooling", 2, 2, 2, 2, 0, 0, false), net.Flat(),
        net.Dense(64, 3), net.LogSoftMax())
end

local function text()
    return net.Chain(net.Lookup(9, 4), net.Frames(4, 5, 2), net.Tanh(), net.Pool("TemporalMaxPooling", 5, 5), net.Flat(), net.Dense(5, 2),
        net.LogSoftMax())
end

-- Tests

function tests.gradients_of_networks()
    torch.manualSeed(1)
    near(error_of_gradients(net.Chain(net.Dense(3, 4), net.Tanh(), net.Dense(4, 2), net.Sigmoid()), torch.randn(5, 3)), 0, 1e-6)
    near(error_of_gradients(lenet(), torch.randn(2, 1, 8, 8)), 0, 1e-6)
    near(error_of_gradients(residual(), torch.randn(3, 1, 8, 8)), 0, 1e-6)
    near(error_of_gradients(text(), torch.LongTensor(3, 6):random(9)), 0, 1e-6)
end

function tests.xor_is_learnt_by_gradient_descent()
    torch.manualSeed(2)
    local network = net.Chain(net.Dense(2, 4), net.Tanh(), net.Dense(4, 1), net.Sigmoid())
    local x, target = torch.Tensor({ { 0, 0 }, { 0, 1 }, { 1, 0 }, { 1, 1 } }), torch.Tensor({ 0, 1, 1, 0 }):view(4, 1)
    local loss, gradient = torch.Tensor(1), torch.Tensor()
    local weights, grads = network:lists()
    for _ = 1, 2000 do
        for _, t in ipairs(grads) do t:zero() end
        local y = network:forward(x)
        y.THNN.BCECriterion_updateOutput(y:cdata(), target:cdata(), loss:cdata(), true, nil)
        y.THNN.BCECriterion_updateGradInput(y:cdata(), target:cdata(), gradient:cdata(), true, nil)
        network:backward(x, gradient)
        for i, w in ipairs(weights) do w:add(-0.5, grads[i]) end
    end
    check(loss[1] < 0.05, "the loss is " .. loss[1])
    equal(network:forward(x):gt(0.5):double():view(-1), { 0, 1, 1, 0 })
end

function tests.convolutional_and_residual_networks_train_in_both_types()
    for _, make in ipairs({ lenet, residual }) do
        for _, name in ipairs({ "torch.DoubleTensor", "torch.FloatTensor" }) do
            torch.manualSeed(3)
            local network = net.convert(make(), name)
            local x, labels = bars(60)
            local loss, right = train(network, x:type(name), labels, 60, 0.02)
            check(loss < 0.2 and right > 0.95, ("a loss of %g, and %g right"):format(loss, right))
            equal(network:forward(x:type(name)):type(), name)
        end
    end
end

function tests.text_model_trains()
    torch.manualSeed(4)
    local network, x, labels = text(), torch.LongTensor(80, 6):random(9), torch.LongTensor(80)
    for i = 1, 80 do labels[i] = x[i]:eq(7):sum() > 0 and 2 or 1 end
    local loss, right = train(network, x, labels, 150, 0.03)
    check(loss < 0.1 and right == 1, ("a loss of %g, and %g right"):format(loss, right))
end

-- A cell keeps the first bit of a sequence. Each step has its own activations, and all steps share the layers' weights.
function tests.lstm_trains_through_time()
    torch.manualSeed(5)
    local size, steps, count = 6, 5, 32
    local gates, out = net.Dense(1 + size, 4 * size), net.Chain(net.Dense(size, 2), net.LogSoftMax())
    local bits = torch.Tensor(count, steps):bernoulli(0.5)
    local labels, loss, state = bits:select(2, 1):long() + 1, net.Loss(), {}
    local all, all_grads = gates:lists()
    local more, more_grads = out:lists()
    for i, t in ipairs(more) do all[#all + 1], all_grads[#all_grads + 1] = t, more_grads[i] end
    local w, g = net.flatten(all), net.flatten(all_grads)
    local value
    for _ = 1, 120 do
        g:zero()
        local h, c, tape = torch.zeros(count, size), torch.zeros(count, size), {}
        for t = 1, steps do
            local step = { x = torch.cat(bits:narrow(2, t, 1), h, 2), c = c }
            step.sigmoid, step.tanh, step.squash = net.Sigmoid(), net.Tanh(), net.Tanh()
            local z = gates:forward(step.x):clone()
            step.s, step.z = step.sigmoid:forward(z:narrow(2, 1, 3 * size):contiguous()), z
            step.new = step.tanh:forward(z:narrow(2, 3 * size + 1, size):contiguous())
            c = torch.cmul(step.s:narrow(2, 1, size), step.new):addcmul(step.s:narrow(2, size + 1, size), c)
            step.after = step.squash:forward(c)
            step.c_out, h = c, torch.cmul(step.s:narrow(2, 2 * size + 1, size), step.after)
            tape[t] = step
        end
        local y = out:forward(h)
        value = loss:forward(y, labels)
        local dh, dc = out:backward(h, loss:backward(y, labels)):clone(), torch.zeros(count, size)
        for t = steps, 1, -1 do
            local step = tape[t]
            local input, forget, output = unpack(step.s:chunk(3, 2))
            dc:add(step.squash:gradient(step.c_out, torch.cmul(dh, output)))
            local ds = torch.cat({ torch.cmul(dc, step.new), torch.cmul(dc, step.c), torch.cmul(dh, step.after) }, 2)
            local dz = torch.cat(step.sigmoid:gradient(step.z:narrow(2, 1, 3 * size):contiguous(), ds),
                step.tanh:gradient(step.z:narrow(2, 3 * size + 1, size):contiguous(), torch.cmul(dc, input)), 2)
            gates.ones:resize(count):fill(1)
            dh = gates:backward(step.x, dz):narrow(2, 2, size):clone()
            dc:cmul(forget)
        end
        net.adam(w, g, 0.03, state)
    end
    check(value < 0.05, "the loss is " .. value)
end

function tests.calls_of_objects()
    local layer = net.Tanh()
    local y, g = layer(torch.Tensor({ 0, 1 }), torch.ones(2))
    near(y, { 0, math.tanh(1) })
    near(g, { 1, 1 - math.tanh(1) ^ 2 })
    equal(select("#", net.Flat()(torch.ones(2, 2))), 2)
end

function tests.flat_parameters_are_views_of_one_storage()
    local a, b = net.Dense(2, 3), net.Dense(2, 3)
    b.weights[1]:set(a.weights[1])
    local before = a.weights[1]:clone()
    local list = net.Chain(a, b):lists()
    list[#list + 1] = torch.range(1, 12):view(3, 4):narrow(2, 2, 2)
    local flat = net.flatten(list)
    equal(flat:nElement(), 6 + 3 + 3 + 12)
    equal(a.weights[1], before:totable())
    equal(list[5], { { 2, 3 }, { 6, 7 }, { 10, 11 } })
    flat:fill(7)
    equal(b.weights[1], { { 7, 7 }, { 7, 7 }, { 7, 7 } })
    for _, t in ipairs(list) do equal(torch.pointer(t:storage()), torch.pointer(flat:storage())) end
end

function tests.conversion_keeps_shared_storages()
    local layer = net.Dense(2, 2)
    layer.again, layer.row = layer.weights[1], layer.weights[1][2]
    net.convert(layer, "torch.FloatTensor")
    layer.weights[1]:fill(5)
    equal(layer.again, { { 5, 5 }, { 5, 5 } })
    equal(layer.row, { 5, 5 })
    equal(torch.type(layer.row:storage()), "torch.FloatStorage")
end

function tests.clones_leave_out_what_write_leaves_out()
    local layer = net.Dense(2, 2)
    local copy = net.clone(layer)
    equal(torch.typename(copy), "net.Dense")
    equal(copy.weights[1], layer.weights[1]:totable())
    copy.weights[1]:fill(3)
    check(layer.weights[1][1][1] ~= 3)

    function net.Layer:write(file) file:writeObject({ weights = self.weights, name = "short" }) end
    function net.Layer:read(file)
        for k, v in pairs(file:readObject()) do self[k] = v end
    end
    copy = net.clone(layer)
    net.Layer.write, net.Layer.read = nil, nil
    equal(copy.name, "short")
    equal(copy.grads, nil)
    equal(#net.clone(layer).grads, 2)
end

function tests.networks_are_saved_and_loaded()
    torch.manualSeed(6)
    local network, x = residual(), torch.randn(2, 1, 8, 8)
    network:each(function(layer) layer.fixed = true end)
    local expected = network:forward(x):clone()
    for _, mode in ipairs({ "binary", "ascii", "b32", "b64" }) do
        local name = os.tmpname()
        torch.save(name, network, mode)
        local loaded = torch.load(name, mode)
        os.remove(name)
        near(loaded:forward(x):view(-1), expected:view(-1):totable(), 1e-12)
        equal(loaded.layers[2].layers[1].loaded, 3)
    end
end

function tests.cleared_buffers_need_no_space_in_files()
    local network = net.Chain(net.Dense(4, 4))
    local size = #torch.serialize(network)
    network:forward(torch.randn(1000, 4))
    network.inputs = nil
    check(#torch.serialize(network) > 30000)
    network:each(function(layer)
        layer.output:set()
        layer.ones:set()
        check(layer.output:storage() == nil, "an empty tensor has a storage")
    end)
    equal(#torch.serialize(network), size)
end

function tests.errors_name_the_function_of_the_layer()
    fails("SpatialConvolutionMM_updateOutput", function() net.Conv(2, 3, 3, 0):forward(torch.randn(1, 3, 6, 6)) end)
    fails("target 4", function() net.Loss():forward(torch.randn(2, 3), torch.LongTensor({ 1, 4 })) end)
    fails("torch.FloatTensor", function() net.Tanh():forward(torch.randn(2):float()) end)
end

-- Solvers

-- f(x) = 100 (x2 - x1^2)^2 + (1 - x1)^2 with the minimum 0 at (1, 1).
local function rosenbrock(x)
    local a, b = x[2] - x[1] ^ 2, 1 - x[1]
    return 100 * a ^ 2 + b ^ 2, torch.Tensor({ -400 * a * x[1] - 2 * b, 200 * a })
end

function tests.adam_finds_the_minimum()
    local x, state = torch.zeros(2), {}
    for _ = 1, 8000 do
        local _, g = rosenbrock(x)
        net.adam(x, g, 0.005, state)
    end
    near(x, { 1, 1 }, 1e-3)
end

-- The recursion of L-BFGS with buffers that are rows of one matrix.
function tests.quasi_newton_finds_the_minimum()
    local x, rows = torch.zeros(2), torch.Tensor(40, 2):split(1)
    for i, row in ipairs(rows) do rows[i] = row:squeeze(1) end
    local f, g = rosenbrock(x)
    local steps, changes, scale = {}, {}, 1
    local d, al = g:clone():mul(-1), torch.zeros(20)
    for _ = 1, 60 do
        local t, old, before = 1, g:clone(), x:clone()
        repeat
            x:add(before, t, d)
            f, g = rosenbrock(x)
            t = t / 2
        until f <= rosenbrock(before) + 1e-4 * t * old:dot(d) or t < 1e-12
        local s, y = rows[#rows], rows[#rows - 1]
        if #steps == 5 then s, y = table.remove(steps, 1), table.remove(changes, 1) else rows[#rows], rows[#rows - 1] = nil, nil end
        s:add(x, -1, before)
        y:add(g, -1, old)
        if y * s < 1e-12 then break end
        steps[#steps + 1], changes[#changes + 1] = s, y
        scale = y:dot(s) / y:dot(y)
        d:mul(g, -1)
        for i = #steps, 1, -1 do
            al[i] = steps[i]:dot(d) / changes[i]:dot(steps[i])
            d:add(-al[i], changes[i])
        end
        d:mul(scale)
        for i = 1, #steps do d:add(al[i] - changes[i]:dot(d) / changes[i]:dot(steps[i]), steps[i]) end
    end
    near(x, { 1, 1 }, 1e-6)
end

-- The minimum of x^3 - 3 x at 1, by the cubic through values and slopes at 0 and 2.
function tests.a_line_search_solves_for_a_cubic()
    local A, b = torch.zeros(4, 4), torch.Tensor(4, 1)
    for i, x in ipairs({ 0, 2 }) do
        local row, slope = torch.zeros(4), torch.zeros(4)
        for p = 0, 3 do
            row[4 - p] = x ^ p
            if p > 0 then slope[4 - p] = p * x ^ (p - 1) end
        end
        A[i], A[i + 2] = row, slope
        b[i], b[i + 2] = x ^ 3 - 3 * x, 3 * x ^ 2 - 3
    end
    local c = torch.gels(b, A)[{ { 1, 4 } }]:squeeze()
    near(c, { 1, 0, -3, 0 }, 1e-12)
    c[torch.le(torch.abs(c), 1e-12)] = 0
    local companion = torch.diag(torch.ones(1), -1)
    companion[1] = -torch.Tensor({ 2 * c[2], c[3] }) / (3 * c[1])
    local roots = torch.eig(companion, "N")
    equal(roots:size():totable(), { 2, 2 })
    near(torch.sort(roots[{ {}, 1 }]), { -1, 1 }, 1e-12)
    equal(roots[{ {}, 2 }], { 0, 0 })
end

function tests.masks_choose_the_steps_of_signs()
    local x, psign = torch.Tensor({ 3, -2, 0 }), torch.ByteTensor(3)
    local sign = torch.sign(x.new(), x)
    sign.gt(psign, sign, 0)
    sign[psign] = 1.5
    sign.lt(psign, sign, 0)
    sign[psign] = 0.5
    x[psign] = 0
    equal(sign, { 1.5, 0.5, 0 })
    equal(x, { 3, 0, 0 })
    equal(psign:type(), "torch.ByteTensor")
end

function tests.a_matrix_of_confusion_counts_answers()
    local counts, best, index = torch.LongTensor(3, 3):zero(), torch.FloatTensor(), torch.LongTensor()
    local answers = torch.FloatTensor():resize(4, 3):copy(torch.Tensor({ { 5, 1, 1 }, { 0, 2, 1 }, { 0, 1, 2 }, { 9, 8, 7 } }))
    best:max(index, answers, 2)
    for i, label in ipairs({ 1, 2, 2, 1 }) do
        local answer = index:select(2, 1)[i]
        counts[label][answer] = counts[label][answer] + 1
    end
    equal(counts, { { 2, 0, 0 }, { 0, 1, 1 }, { 0, 0, 0 } })
    equal(best:view(-1), { 5, 2, 2, 9 })
    equal(counts:select(1, 2):sum(), 2)
    equal(torch.diag(counts:double()):sum() / counts:sum(), 0.75)
end

harness.run(tests)
