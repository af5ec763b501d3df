-- Gradients through the namespace: leaves, backward, hooks, custom functions, checkpoints, optimizers.

local harness = require("harness")
local library = require("thorn.library")
local torch = require("thorn")
local thorn = require("thorn.dynamic")
local callbacks = require("thorn.dynamic.callbacks")

local C, check, fails = library.C, harness.check, harness.fails

local tests = {}

local function leaf(list) return thorn.tensor(list, "float64"):setRequiresGrad(true) end

local function doubles(list) return thorn.tensor(list, "float64") end

-- Checks the elements.
local function expect(tensor, ...)
    check(tensor, "there is no tensor")
    local got = {}
    for i = 1, thorn.numel(tensor) do got[i] = thorn.get1d(thorn.flatten(tensor:detach()), i) end
    harness.near(got, { ... }, 1e-9)
end

function tests.backward_adds_to_gradients()
    local a, b = leaf({ 1, 2, 3 }), leaf({ 4, 5, 6 })
    check(a:grad() == nil and a:requiresGrad() and a:isLeaf())
    local product = thorn.mul(a, b)
    check(product:requiresGrad() and not product:isLeaf())
    thorn.sum(product):backward()
    expect(a:grad(), 4, 5, 6)
    expect(thorn.grad(b), 1, 2, 3)
    thorn.mul(a, a):backward(doubles({ 1, 10, 100 }))
    expect(a:grad(), 6, 45, 606)
    check(rawequal(a:zeroGrad(), a))
    expect(a:grad(), 0, 0, 0)
    a:setGrad()
    check(a:grad() == nil)
    check(a:detach():requiresGrad() == false and a:requiresGrad() and a:version() == thorn.version(a))
    check(rawequal(product:detach_(), product) and not product:requiresGrad() and thorn.THTensor_detach(product))
    fails("backward: argument 't' has 3 elements, and no gradient is given", function() thorn.mul(a, b):backward() end)
    fails("is a leaf that requires a gradient", function() thorn.add_(a, 1) end)
    fails("is a leaf that requires a gradient", function() a:add(1) end)
end

-- sin(start), sin(start + 0.7) and so on, in this shape.
local function wave(start, ...)
    local count = 1
    for _, size in ipairs({ ... }) do count = count * size end
    local list = {}
    for k = 1, count do list[k] = math.sin(start + 0.7 * (k - 1)) end
    return thorn.reshape(doubles(list), { ... })
end

-- torch.nn.MultiheadAttention(4, 2, batch_first=True) computed the expected values.
function tests.heads_attend()
    local weights = { inWeight = wave(1, 12, 4), inBias = wave(2, 12), outWeight = wave(3, 4, 4), outBias = wave(4, 4) }
    local query, source = wave(5, 2, 3, 4), wave(6, 2, 2, 4)
    local mask = thorn.ne(thorn.tensor({ { 1, 1 }, { 1, 0 }, { 0, 1 } }), 0)
    expect(thorn.multiHeadAttention(query, source, source, weights, 2, { mask = mask }),
        -1.45224272818, -0.62739655139, -0.779330224793, -0.54231644183, -1.98395154613, -0.337607114436, -0.793713570013, -0.805001260385,
        -0.850394041536, -1.56592080681, 0.38741813, -1.80246491806, -1.22563657048, -1.37242292693, 0.398024608357, -2.01595011967,
        -1.2255225789, -1.37257658384, 0.398200174722, -2.01612730786, -1.65217110644, -0.508609384109, -0.80324969212, -0.616028696126)
    expect(query:multiHeadAttention(query, query, weights, 2, { causal = true }),
        -0.85335346371, -1.85563815266, 0.936333863656, -2.547148907, -0.870746476815, -1.82925175975, 0.904003178985, -2.51260991313,
        -1.76659249546, -0.340869551083, -1.0049247393, -0.403723059141, -2.4072264864, 0.376152185614, -1.71547854648, 0.218254546916,
        0.0906311687817, -1.96796901426, 0.204030525857, -1.05483291536, -2.22924698877, -0.594572893061, -0.0641803325597, -1.92280051094)
    local without = { inWeight = weights.inWeight:clone():setRequiresGrad(true), outWeight = weights.outWeight }
    local zeros = { inWeight = without.inWeight, inBias = thorn.zeros(12), outWeight = without.outWeight, outBias = thorn.zeros(4) }
    local r = thorn.multiHeadAttention(query, source, source, without, 2)
    check(thorn.equal(r, thorn.multiHeadAttention(query, source, source, zeros, 2)))
    thorn.sum(r):backward()
    check(without.inWeight:grad() and thorn.item(thorn.sum(thorn.abs(without.inWeight:grad()))) > 0)
    fails("reshape", function() thorn.multiHeadAttention(query, source, source, weights, 3) end)
end

-- Methods of Torch7's package are recorded, too.
function tests.methods_that_write_in_place_are_recorded()
    local w = leaf({ 1, 2 })
    local r = w:clone():mul(3)
    r:narrow(1, 1, 1):mul(10)
    r:add(1):add(w)
    check(r:sum():item() == 41)
    thorn.sum(r):backward()
    expect(w:grad(), 31, 4)
    local u = leaf({ 2 })
    local sum = u * 3 + u
    sum:backward()
    expect(u:grad(), 4)
end

-- The gradient of each method at x = [[1, 2], [3, 5]], by its formula.
function tests.methods_that_return_numbers_return_tensors_of_a_graph()
    local x, y = leaf({ { 1, 2 }, { 3, 5 } }), doubles({ { 1, 0 }, { 0, 1 } })
    local deviations, norm, distance = { -1.75, -0.75, 0.25, 2.25 }, math.sqrt(39), math.sqrt(29)
    local std = math.sqrt(8.75 / 3)
    local function scaled(factor) return factor * deviations[1], factor * deviations[2], factor * deviations[3], factor * deviations[4] end
    local cases = {
        { x:sum(), 11, 1, 1, 1, 1 }, { torch.sum(x), 11, 1, 1, 1, 1 }, { x:mean(), 2.75, 0.25, 0.25, 0.25, 0.25 },
        { x:prod(), 30, 30, 15, 10, 6 }, { x:max(), 5, 0, 0, 0, 1 }, { x:min(), 1, 1, 0, 0, 0 },
        { x:var(), 8.75 / 3, scaled(2 / 3) }, { x:var(true), 8.75 / 4, scaled(1 / 2) }, { x:std(), std, scaled(1 / (3 * std)) },
        { x:norm(), norm, 1 / norm, 2 / norm, 3 / norm, 5 / norm }, { x:norm(1), 11, 1, 1, 1, 1 },
        { x:trace(), 6, 1, 0, 0, 1 }, { thorn.trace(x), 6, 1, 0, 0, 1 }, { x:dot(x), 39, 2, 4, 6, 10 }, { y:dot(x), 6, 1, 0, 0, 1 },
        { x:dist(y), distance, 0, 2 / distance, 3 / distance, 4 / distance }, { thorn.dist(y, x, 1), 9, 0, 1, 1, 1 },
    }
    for i, case in ipairs(cases) do
        check(torch.isTensor(case[1]), "case " .. i)
        harness.near(case[1]:item(), case[2])
        case[1]:backward()
        expect(x:grad(), unpack(case, 3))
        x:setGrad()
    end
    local v = leaf({ 1, 2, 4 })
    thorn.mul(v:select(1, 2), v:select(1, 3)):backward()
    expect(v:grad(), 0, 4, 2)

    -- Outside of a graph and without recording, the results are numbers. Other forms and errors are Torch7's.
    check(y:sum() == 2 and x:detach():trace() == 6 and thorn.trace(y) == 2 and thorn.dist(y, y) == 0)
    thorn.no_grad(function() check(x:sum() == 11 and torch.max(x) == 5 and v:select(1, 3) == 4) end)
    harness.equal(x:sum(1), { { 4, 7 } })
    fails("dimension 3 out of range", function() x:sum(3) end)
    fails("number expected, got string", function() x:norm("a") end)
    fails("inconsistent tensor sizes", function() x:dot(v) end)
    fails("dimension 1 out of range", function() torch.DoubleTensor():setRequiresGrad(true):select(1, 1) end)
end

-- The positions count from 1, although backward needs them as the library has computed them.
function tests.functions_that_return_positions_have_gradients()
    for _, case in ipairs({
        { "max", 2, 0, 1, 1, 0 }, { "min", 2, 1, 0, 0, 1 }, { "sort", 2, 1, 1, 1, 1 }, { "median", 2, 1, 0, 0, 1 },
        { "mode", 2, 1, 0, 0, 1 }, { "cummax", 2, 1, 1, 2, 0 },
    }) do
        local x = leaf({ { 1, 2 }, { 5, 3 } })
        local values, places = thorn[case[1]](x, case[2])
        check(thorn.min(places):item() == 1 and thorn.max(places):item() <= 2)
        thorn.sum(values):backward()
        expect(x:grad(), unpack(case, 3))
    end
    local x, r, places = leaf({ { 1, 2 }, { 5, 3 } }), doubles({ 0 }), thorn.tensor({ 0 }, "int64")
    harness.equal({ thorn.max(doubles({ { 1, 2 }, { 5, 3 } }), 2, { values = r, indices = places }) }, { r, places })
    harness.equal(places, { 2, 1 })
    thorn.sum((thorn.topk(x, 1, 2))):backward()
    expect(x:grad(), 0, 1, 1, 0)
    x:setGrad()

    -- Torch7's methods, also with results that are given.
    thorn.sum((x:max(2)) * doubles({ { 1 }, { 10 } })):backward()
    expect(x:grad(), 0, 1, 10, 0)
    x:setGrad()
    r, places = torch.DoubleTensor(), torch.LongTensor()
    torch.sort(r, places, x, 2, true)
    harness.equal(places, { { 2, 1 }, { 1, 2 } })
    thorn.sum(thorn.mul(r, doubles({ { 1, 2 }, { 3, 4 } }))):backward()
    expect(x:grad(), 2, 1, 3, 4)
end

-- Elements that Lua writes are known to gradients, as those that the library writes.
function tests.written_elements_are_recorded()
    local w = leaf({ 1, 2 })
    local refused = "is a view of a leaf that requires a gradient, and would be changed in place; "
        .. "write to it in a function that thorn.no_grad calls"
    fails(refused, function() w[1] = 5 end)
    fails(refused, function() w[{ 2 }] = 5 end)
    fails("the storage has elements of a tensor that requires a gradient", function() w:storage()[1] = 5 end)
    local function five() return 5 end
    for name, given in pairs({ apply = { five }, map = { w, five }, map2 = { w, w, five } }) do
        fails(name .. ": the tensor requires a gradient", function() w[name](w, unpack(given)) end)
        fails(name .. ": the tensor requires a gradient", function() thorn[name](w, unpack(given)) end)
    end
    expect(w, 1, 2)
    thorn.no_grad(function()
        w[1] = 3
        w:apply(function(x) return 2 * x end)
    end)
    expect(w, 6, 4)

    -- An element of a result has no gradient any more.
    local r = thorn.mul(w, 3)
    r[1] = 7
    thorn.sum(r):backward()
    expect(r, 7, 12)
    expect(w:grad(), 0, 3)

    -- Backward notices that an operand has changed.
    for _, change in ipairs({
        function(x) x[1] = 0 end, function(x) x[{ 2 }] = 0 end, function(x) x:storage()[1] = 0 end,
        function(x) x:apply(function() return 0 end) end, function(x) thorn.map(x, x, function() return 0 end) end,
    }) do
        local x = doubles({ 1, 2 })
        local product = thorn.sum(thorn.mul(w, x))
        change(x)
        fails("changed", function() product:backward() end)
    end
    local whole = thorn.tensor({ 1, 2 }, "int64")
    whole[1] = 5
    check(whole[1] == 5)
end

function tests.several_tensors_are_roots()
    local x = leaf({ 1, 2 })
    local y, z = thorn.mul(x, 2), thorn.sum(thorn.mul(x, x))
    thorn.Grad.backward({ y, z }, { doubles({ 1, 1 }), false })
    expect(x:grad(), 4, 6)
    local loss = thorn.sum(thorn.mul(x, x))
    thorn.Grad.backward({ loss }, { retain_graph = true })
    thorn.Grad.backward(loss)
    expect(x:grad(), 8, 14)
    fails("a second time", thorn.Grad.backward, { loss })
    fails("lists of 1 and 2", thorn.Grad.backward, { loss }, { y, y })
end

function tests.gradients_have_gradients()
    local x, unused = leaf({ 2, 3 }), leaf({ 1 })
    local cube = thorn.sum(thorn.pow(x, 3))
    local first = thorn.Grad.gradients({ cube }, { x }, { createGraph = true })
    expect(first[1], 12, 27)
    expect(thorn.Grad.gradients({ thorn.sum(first[1]) }, { x }, { retainGraph = true })[1], 12, 18)
    check(x:grad() == nil)
    fails("has no part in the outputs", thorn.Grad.gradients, { cube }, { unused, x }, { retainGraph = true })
    local some = thorn.Grad.gradients({ cube }, { unused, x }, { retainGraph = true, allowUnused = true })
    check(some[1] == nil)
    expect(some[2], 12, 27)
    expect(thorn.Grad.gradients({ thorn.mul(x, 2) }, { doubles({ 1, 10 }) }, { x })[1], 2, 20)
end

function tests.blocks_are_not_recorded()
    local w = leaf({ 1, 2 })
    local r, n = thorn.no_grad(function(k)
        check(not thorn.Grad.isEnabled())
        thorn.sub_(w, 0.5)
        check(thorn.noGrad(function() return 7 end) == 7 and not thorn.Grad.isEnabled())
        return thorn.mul(w, k), k
    end, 2)
    check(n == 2 and not r:requiresGrad() and w:requiresGrad() and thorn.Grad.isEnabled())
    expect(w, 0.5, 1.5)
    local marker = {}
    local ok, raised = pcall(thorn.no_grad, error, marker)
    check(not ok and raised == marker and thorn.Grad.isEnabled())
    thorn.inference(function()
        thorn.inference(function() end)
        thorn.Grad.setEnabled(true)
        check(not thorn.Grad.isEnabled() and not thorn.mul(w, 2):requiresGrad())
        thorn.no_grad(function() end)
    end)
    check(thorn.Grad.isEnabled())
    check(not pcall(thorn.inference, error) and thorn.Grad.isEnabled())
    fails("no_grad: a function is expected", thorn.no_grad, 1)
end

function tests.hooks_look_on_and_replace()
    local x, seen = leaf({ 1, 2 }), {}
    local doubled = x:addHook(function(gradient) return thorn.mul(gradient, 2) end)
    thorn.add_hook(x, function(gradient) seen[#seen + 1] = thorn.sumall(gradient) end)
    local y = thorn.mul(x, 3)
    check(y:addHook(function() return nil end) > doubled)
    thorn.sum(y):backward()
    expect(x:grad(), 6, 6)
    harness.equal(seen, { 12 })
    x:removeHook(doubled)
    fails("there is no hook", x.removeHook, x, doubled)
    thorn.sum(thorn.mul(x, 3)):backward()
    expect(x:grad(), 9, 9)
    fails("addHook: ", thorn.addHook, thorn.ones(1), function() end)
    fails("addHook: a function is expected", thorn.addHook, x, 1)
    fails("addHook: a tensor is expected", thorn.addHook, 1, print)
end

-- A hook may remove itself, and a hook that would be called later.
function tests.hooks_remove_hooks()
    local x, calls = leaf({ 1 }), 0
    local first, second
    first = x:addHook(function()
        x:removeHook(first)
        x:removeHook(second)
        calls = calls + 1
    end)
    second = x:addHook(function() end)
    for _ = 1, 3 do thorn.mul(x, 2):backward() end
    check(calls == 1)
    expect(x:grad(), 6)
end

function tests.errors_of_hooks_come_out_of_backward()
    local marker = {}
    local x = leaf({ 1, 2 })
    x:addHook(function() error(marker) end)
    for _, backward in ipairs({
        function(y) y:backward() end,
        function(y) thorn.Grad.backward({ y }) end,
        function(y) thorn.Grad.gradients({ thorn.mul(y, 2) }, { y }) y:backward() end,
    }) do
        local ok, raised = pcall(backward, thorn.sum(thorn.mul(x, 2)))
        check(not ok and raised == marker)
    end
    check(x:grad() == nil)
    -- The first error is not raised again for another failure.
    fails("backward: ", thorn.backward, thorn.ones(2))
    x = leaf({ 1, 2 })
    x:addHook(function(gradient) return thorn.sum(gradient, 7) end)
    fails("sum: dimension 7", function() thorn.sum(x):backward() end)
    x = leaf({ 1, 2 })
    x:addHook(function() return "text" end)
    fails("addHook: the function returned a string", function() thorn.sum(x):backward() end)
    x = leaf({ 1, 2 })
    x:addHook(function(gradient) return thorn.sum(gradient) end)
    fails("of another shape or dtype", function() thorn.sum(thorn.mul(x, 2)):backward() end)
end

-- exp, whose gradient is the result times the gradient of the result.
local function own_exp(x, factor)
    return thorn.Grad.apply({ x }, function(call, input)
        local r = thorn.exp(input)
        call:save(r)
        return r
    end, function(call, gradient) return thorn.mul(thorn.mul(gradient, call:saved(1)), factor or 1) end)
end

function tests.functions_have_gradients_of_their_own()
    local x = leaf({ 0, 0.5 })
    local y = own_exp(x)
    check(thorn.equal(y, thorn.exp(x)) and y:requiresGrad())
    local first = thorn.Grad.gradients({ thorn.sum(y) }, { x }, { createGraph = true })[1]
    check(thorn.equal(first, y))
    check(thorn.equal(thorn.Grad.gradients({ thorn.sum(first) }, { x })[1], y))
    check(thorn.Grad.check({ x }, own_exp))
    fails("Grad.check: the gradient of element 1 of result 1 with respect to element 1 of input 1 is 1.01", thorn.Grad.check, x,
        function(input) return own_exp(input, 1.01) end)
    check(not thorn.no_grad(own_exp, x):requiresGrad())
end

function tests.functions_have_several_inputs_and_results()
    local a, b, c = leaf({ 1, 2 }), leaf({ 3, 4 }), doubles({ 5, 6 })
    local calls = 0
    local product, same = thorn.Grad.apply({ a, b, c }, function(call, x, y, z)
        check(call:needsGradient(1) and call:needs_gradient(2) and not call:needsGradient(3))
        call:save(x, y)
        return thorn.mul(thorn.mul(x, y), z), x
    end, function(call, of_product, of_same)
        calls = calls + 1
        check(of_same == nil and call:needsGradient(1) and not call:needsGradient(3))
        local x, y = call:saved()
        return thorn.mul(thorn.mul(of_product, y), c), thorn.mul(thorn.mul(of_product, x), c)
    end)
    check(thorn.equal(same, a) and same:requiresGrad() and a:isLeaf())
    thorn.sum(product):backward()
    expect(a:grad(), 15, 24)
    expect(b:grad(), 5, 12)
    check(calls == 1)
end

function tests.errors_of_functions_come_out()
    local x, marker = leaf({ 1, 2 }), {}
    local function twice(_, t) return thorn.mul(t, 2) end
    local function raising() error(marker) end
    local ok, raised = pcall(thorn.Grad.apply, { x }, raising, twice)
    check(not ok and raised == marker and thorn.Grad.isEnabled())
    ok, raised = pcall(function() thorn.sum(thorn.Grad.apply(x, twice, raising)):backward() end)
    check(not ok and raised == marker)
    fails("Grad.apply: the function returned a number", thorn.Grad.apply, x, function() return 1 end, twice)
    fails("Grad.apply: a function is expected", thorn.Grad.apply, x, twice)
    fails("Grad.apply: a list of tensors is expected", thorn.Grad.apply, { 1 }, twice, twice)
    local y = thorn.Grad.apply(x, twice, function(_, gradient) return gradient, gradient end)
    fails("Grad.apply: the function returned 2 values, where 1 have a place", function() thorn.sum(y):backward() end)
    local kept
    y = thorn.Grad.apply(x, function(call, t) call:save(t) return t end, function(call, gradient) kept = call return gradient end)
    thorn.sum(y):backward()
    fails("saved: the call is over", kept.saved, kept, 1)
    fails("save: only the function itself saves tensors", kept.save, kept, x)
end

function tests.a_checkpoint_computes_again()
    local x, w, calls = leaf({ 0.5, 1 }), leaf({ 2, 3 }), 0
    local function f(input)
        calls = calls + 1
        return thorn.exp(thorn.sin(thorn.mul(input, w)))
    end
    thorn.sum(f(x)):backward()
    local of_x, of_w = x:grad(), w:grad()
    x:setGrad()
    w:setGrad()
    local y = thorn.Grad.checkpoint({ x }, f)
    check(calls == 2)
    thorn.sum(y):backward()
    check(calls == 3 and thorn.equal(x:grad(), of_x) and thorn.equal(w:grad(), of_w))
    local two, three = thorn.Grad.checkpoint({ x }, function(t) return thorn.mul(t, 2), thorn.mul(t, 3) end, { results = 2 })
    thorn.Grad.backward({ thorn.sum(two), thorn.sum(three) })
    check(thorn.equal(x:grad(), thorn.add(of_x, 5)))
    fails("the function returned 2 values", thorn.Grad.checkpoint, { x, w }, function(a, b) return a, b end)
    local marker = {}
    local ok, raised = pcall(thorn.Grad.checkpoint, x, function() error(marker) end)
    check(not ok and raised == marker)
    check(thorn.Grad.check({ x, w }, function(a, b) return thorn.sin(a), thorn.mul(a, b) end))
end

-- Loops that LuaJIT compiles may call backward, and may free tensors that have hooks.
function tests.compiled_loops_may_be_called_back()
    local x, calls = leaf({ 1, 2 }), 0
    x:addHook(function() calls = calls + 1 end)
    for _ = 1, 300 do
        local y = thorn.mul(x, 2)
        y:addHook(function() calls = calls + 1 end)
        thorn.sum(own_exp(y)):backward()
        thorn.sum(thorn.Grad.checkpoint({ y }, thorn.sin)):backward(nil)
    end
    check(calls == 1200, calls)
end

function tests.functions_that_cannot_be_called_are_given_up()
    local seen = setmetatable({}, { __mode = "k" })
    local function add(x)
        local f = function() return nil end
        seen[f] = true
        thorn.mul(x, 2):addHook(f)
    end
    local x = leaf({ 1 })
    for _ = 1, 1000 do add(x) end
    for _ = 1, 3 do collectgarbage() end
    callbacks.sweep()
    for _ = 1, 3 do collectgarbage() end
    check(next(seen) == nil)
end

function tests.a_model_is_trained()
    local generator = thorn.Generator()
    generator:manualSeed(1)
    local x, truth = thorn.randn(generator, { 64, 3 }, { dtype = "float64" }), doubles({ 1, -2, 0.5 })
    local y, w = thorn.mv(x, truth), leaf({ 0, 0, 0 })
    for _ = 1, 200 do
        local miss = thorn.sub(thorn.mv(x, w), y)
        thorn.mean(thorn.mul(miss, miss)):backward()
        thorn.no_grad(thorn.sub_, w, thorn.mul(w:grad(), 0.1))
        w:zeroGrad()
    end
    check(thorn.maxall(thorn.abs(thorn.sub(w:detach(), truth))) < 1e-6)
end

function tests.optimizers_move_parameters()
    local w = leaf({ 5, -5 })
    local function loss() return thorn.sum(thorn.pow(thorn.sub(w, 1), 2)) end
    local sgd = thorn.Optim.newSgd({ w }, 0.25)
    loss():backward()
    sgd:step()
    expect(w, 3, -2)
    sgd:zeroGrad()
    check(w:grad() == nil and sgd:getLr() == 0.25)
    sgd:set_lr(0.5)
    loss():backward()
    expect(w:grad(), 4, -6)
    check(thorn.Grad.clipNorm({ w }, 1, 2) > 7)
    local adam = thorn.Optim.new_adam({ w }, { lr = 0.5 })
    for _ = 1, 200 do
        adam:zeroGrad()
        loss():backward()
        adam:step()
    end
    check(loss():item() < 1e-3)
    fails("Optim.newSgd: ", thorn.Optim.newSgd, { thorn.mul(w, 2) }, 1)
end

function tests.groups_of_parameters_are_counted_from_1()
    local a, b = leaf({ 1 }), leaf({ 2 })
    local sgd = thorn.Optim.newSgd({ a }, 0.5)
    check(sgd:addGroup({ b }) == 2 and sgd:groupCount() == 2)
    sgd:set(2, "lr", thorn.Schedule.step(3, 1, { step_size = 3, gamma = 0.25 }))
    check(sgd:get(1, "lr") == 0.5 and sgd:get(2, "lr") == 0.25)
    thorn.sum(thorn.add(a, b)):backward()
    sgd:step()
    expect(a, 0.5)
    expect(b, 1.75)
    fails("Optim.get: ", sgd.get, sgd, 3, "lr")
end

function tests.scalers_make_steps_and_averages_follow()
    local a, mean = leaf({ 1, 2 }), thorn.tensor({ 1, 3 })
    local sgd, state = thorn.Optim.newSgd({ a }, 0.5), thorn.Grad.scalerInit(4)
    sgd:set(1, "masterWeights", 1)
    a:setGrad(thorn.mul(a:detach(), 4))
    check(thorn.Grad.scalerStep(state, sgd, 2, 0.5, 1) == 0)
    expect(a, 0.5, 1)
    expect(state, 8, 0)
    thorn.Grad.scalerUpdate(state, 1)
    expect(state, 4, 0)
    thorn.Grad.average({ mean }, { a }, 0.5)
    expect(mean, 0.75, 2)
    fails("Grad.average: ", thorn.Grad.average, { mean, mean }, { a }, 0.5)
    check(thorn.Schedule.plateau(thorn.tensor({ 1, 1, 1 }), 1, { factor = 0.5, patience = 1 }) == 0.5)
    a:setGrad(thorn.mul(a:detach(), 2))
    local lamb, adafactor = thorn.Optim.newLamb({ a }, { lr = 0.1 }), thorn.Optim.newAdafactor({ a })
    check(adafactor:get(1, "eps1") == -1 and adafactor:get(1, "beta2Decay") == -0.8)
    lamb:step()
    adafactor:step()
end

function tests.steps_of_optimizers_call_functions()
    local w, calls, marker = leaf({ 5, -5 }), 0, {}
    local o = thorn.Optim.newLbfgs({ w }, { strong_wolfe = true })
    o:stepClosure(function()
        calls = calls + 1
        o:zeroGrad()
        local loss = thorn.sum(thorn.pow(thorn.sub(w, 1), 4))
        loss:backward()
        return loss
    end)
    check(calls > 5 and thorn.maxall(thorn.abs(thorn.sub(w:detach(), 1))) < 0.1)
    local ok, raised = pcall(o.stepClosure, o, function() error(marker) end)
    check(not ok and raised == marker)
    fails("Optim.stepClosure: the function returned a nil", o.step_closure, o, function() end)
    fails("Optim.stepClosure: an optimizer is expected", o.stepClosure, w, function() end)
end

harness.run(tests)
