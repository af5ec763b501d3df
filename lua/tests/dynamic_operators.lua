-- Operators of tensors that the dynamic API made, and the origin of tensors, which selects Torch7's operators or these.

local ffi = require("ffi")
local harness = require("harness")
local torch = require("thorn")
local thorn = require("thorn.dynamic")

local check, equal, near, fails = harness.check, harness.equal, harness.near, harness.fails

local tests = {}

local function all_equal(got, expected)
    check(#got == #expected)
    for i, value in ipairs(expected) do equal(got[i], value) end
end

local function a() return thorn.tensor({ 1, 2, 4 }) end
local function m() return thorn.tensor({ { 1, 2, 3 }, { 4, 5, 6 } }) end

function tests.operators_are_elementwise_with_broadcasting()
    equal(a() * thorn.tensor({ 4, 5, 6 }), { 4, 10, 24 })
    equal(m() * a(), { { 1, 4, 12 }, { 4, 10, 24 } })
    equal(m() + a(), { { 2, 4, 7 }, { 5, 7, 10 } })
    equal(a() - m(), { { 0, 0, 1 }, { -3, -3, -2 } })
    equal(m() / a(), { { 1, 1, 0.75 }, { 4, 2.5, 1.5 } })
    equal(-a(), { -1, -2, -4 })
    equal(a() % 3, { 1, 2, 1 })
    equal(m() % a(), { { 0, 0, 3 }, { 0, 1, 2 } })
    equal(a() ^ 2, { 1, 4, 16 })
    equal(2 ^ a(), { 2, 4, 16 })
    equal(a() ^ a(), { 1, 4, 256 })
    all_equal({ 2 * a(), a() * 2, a() * 2LL, 2 - a(), a() - 2, 2 + a(), 2 / a(), a() / 2 },
        { { 2, 4, 8 }, { 2, 4, 8 }, { 2, 4, 8 }, { 1, 0, -2 }, { -1, 0, 2 }, { 3, 4, 6 }, { 2, 1, 0.5 }, { 0.5, 1, 2 } })
    local whole = thorn.tensor({ 1, 3 }, "int32")
    equal(whole / thorn.tensor({ 2, 4 }, "int32"), { 0.5, 0.75 })
    check((whole * 0.5):dtype() == thorn.float32 and (whole * thorn.tensor({ 1, 2 }, "float64")):dtype() == thorn.float64)
    for _, wrong in ipairs({ "x", {}, true, print }) do
        fails("*: expected", function() return a() * wrong end)
        fails("-: expected", function() return wrong - a() end)
    end
    fails("%: expected", function() return 2 % a() end)
    fails("do not broadcast", function() return a() + thorn.ones(2) end)
end

-- Slices and results of methods have the origin of their tensor. In Torch7, `*` would be a matrix product or an error here.
function tests.parts_and_results_of_methods_keep_the_origin()
    local x, square = m(), thorn.tensor({ { 1, 2 }, { 3, 4 } })
    equal(x[1] * x[2], { 4, 10, 18 })
    equal(x[{ {}, 1 }] * x[{ {}, 2 }], { 2, 20 })
    equal(x[{ { 1 }, {} }] * x, { { 1, 4, 9 }, { 4, 10, 18 } })
    equal(x[x:gt(4)] * 2, { 10, 12 })
    equal(x[x:gt(4)] * x[x:gt(4)], { 25, 36 })
    for _, y in ipairs({
        square:t(), square:clone(), square:double(), square:view(2, 2), square:narrow(1, 1, 2), square:split(2, 1)[1], square + 0,
        square:clone():mul(1), square:detach(), (square:max(1)):expand(2, 2), square:new(2, 2):fill(2), thorn.load and square:contiguous(),
    }) do
        equal(y * y, (thorn.mul(y, y)))
    end
    local w = thorn.tensor({ { 1, 2 }, { 3, 4 } }, { requires_grad = true })
    thorn.sum(w * w):backward()
    equal(w:grad() * w:grad(), { { 4, 16 }, { 36, 64 } })
    -- The tensors that functions of Lua get are of this API, too.
    w:setGrad()
    w:addHook(function(gradient) return gradient * gradient end)
    local function forward(call, t)
        call:save(t)
        return t * t
    end
    thorn.sum((thorn.Grad.apply({ w }, forward, function(call, gradient) return 2 * gradient * call:saved(1) end))):backward()
    equal(w:grad(), { { 4, 16 }, { 36, 64 } })
end

function tests.operators_of_torch_are_unchanged()
    local x, y = torch.Tensor({ { 1, 2 }, { 3, 4 } }), torch.Tensor({ 1, 2 })
    all_equal({ x * x, x * y, y * y, x:t() * x }, { { { 7, 10 }, { 15, 22 } }, { 5, 11 }, 5, { { 10, 14 }, { 14, 20 } } })
    -- The methods that only the dynamic API has give tensors of torch.
    equal(x:relu() * x, { { 7, 10 }, { 15, 22 } })
    equal((x:softmax(1)):add(1) * torch.zeros(2), { 0, 0 })
    -- Functions of torch make tensors of torch, and functions of thorn tensors of thorn.
    equal(torch.DoubleTensor(thorn.mul(x, 1)) * x, { { 7, 10 }, { 15, 22 } })
    equal(torch.mul(thorn.mul(x, 1), 1) * x, { { 7, 10 }, { 15, 22 } })
    equal(thorn.detach(y) * thorn.detach(y), { 1, 4 })
    fails("^: tensors of torch have no operator", function() return x ^ 2 end)
    fails("(a number or a tensor expected, got string)", function() return x * "a" end)
end

-- `data` of a LongTensor has such integers.
function tests.integers_of_the_ffi_are_numbers_for_torch()
    local x, long = torch.Tensor({ { 1, 2 }, { 3, 4 } }), torch.LongTensor({ 2, 0 })
    local two = long:data()[0]
    all_equal({ x + two, x - two, two - x, two * x, x / two, x % two },
        { { { 3, 4 }, { 5, 6 } }, { { -1, 0 }, { 1, 2 } }, { { 1, 0 }, { -1, -2 } }, { { 2, 4 }, { 6, 8 } },
            { { 0.5, 1 }, { 1.5, 2 } }, { { 1, 0 }, { 1, 0 } } })
    all_equal({ x[two], x[{ two, 1LL }], x[{ two, {} }], x[1ULL][-1LL] }, { { 3, 4 }, 3, { 3, 4 }, 2 })
    x[two] = 7LL
    x[{ 1LL, two }] = 9ULL
    equal(x, { { 1, 9 }, { 7, 7 } })
    long[two] = 2LL ^ 53 + 1
    check(long:data()[1] == 2LL ^ 53 + 1)
    fails("index 3 is out of range", function() return x[3LL] end)
    fails("an index is a number", function() return x[ffi.new("int[1]")] end)
    fails("got cdata", function() return x + ffi.new("int[1]") end)
end

-- Both meanings of + are the same for equal sizes and types. In other cases, no meaning is chosen silently.
function tests.operands_of_both_origins_are_refused_where_meanings_differ()
    local x, y = torch.FloatTensor({ 1, 2 }), thorn.tensor({ 3, 4 })
    all_equal({ x + y, y - x, x / y, y % x }, { { 4, 6 }, { 2, 2 }, { thorn.tensor({ 1 / 3 })[1], 0.5 }, { 0, 0 } })
    equal((x + y) * y, { 12, 24 })
    fails("*: torch made one operand and thorn the other, and a * b is a matrix product in torch", function() return x * y end)
    fails("write thorn.matmul(a, b) or thorn.mul(a, b)", function() return y * x end)
    fails("write thorn.add(a, b)", function() return torch.FloatTensor({ { 1, 2 } }) + thorn.tensor({ { 1 }, { 2 } }) end)
    fails("write thorn.sub(a, b)", function() return torch.DoubleTensor({ 1, 2 }) - y end)
    fails("write thorn.div(a, b)", function() return torch.IntTensor({ 1, 2 }) / thorn.tensor({ 1, 2 }, "int32") end)
    fails("matrix product", function() return x * y:toSparse() end)
end

-- The meaning does not depend on whether gradients are recorded.
function tests.a_loss_is_written_with_operators()
    local x = thorn.tensor({ { 1, 2 }, { 3, 4 } }, { requires_grad = true })
    local w = thorn.tensor({ { 2, 3 }, { 4, 5 } })
    local function loss() return thorn.sum((x + 1) * w) end
    local l = loss()
    l:backward()
    equal(x:grad(), w)
    check(l:item() == thorn.no_grad(loss):item() and l:item() == 2 * 2 + 3 * 3 + 4 * 4 + 5 * 5)
    x:setGrad();
    (x * w):sum():backward()
    equal(x:grad(), w)
    x:setGrad();
    (x / 2 - x ^ 2):mean():backward()
    near(x:grad(), { { -0.375, -0.875 }, { -1.375, -1.875 } })
end

-- Gradient descent finds the line 2 x - 1 from three of its points.
function tests.a_model_is_trained()
    local x, y = thorn.tensor({ { 0 }, { 1 }, { 2 } }), thorn.tensor({ { -1 }, { 1 }, { 3 } })
    local weight, bias = thorn.zeros(1, 1, { requires_grad = true }), thorn.zeros(1, { requires_grad = true })
    local optimizer = thorn.Optim.adam({ weight, bias }, { lr = 0.1 })
    local loss
    for _ = 1, 400 do
        optimizer:zero_grad()
        loss = ((thorn.linear(x, weight, bias) - y) ^ 2):mean()
        loss:backward()
        optimizer:step()
    end
    check(loss:item() < 1e-4)
    near({ weight:item(), bias:item() }, { 2, -1 }, 0.02)
end

harness.run(tests)
