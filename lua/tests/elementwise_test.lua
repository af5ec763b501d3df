-- Elementwise functions in all forms, operators, apply and map.

local harness = require("harness")
local torch = require("thorn")

local test, equal, near, fails = harness.test, harness.equal, harness.near, harness.fails

-- Functions of one number, and their implementations in Lua.
local function round(x) return x < 0 and -math.floor(0.5 - x) or math.floor(x + 0.5) end

local unary = {
    neg = function(x) return -x end,
    abs = math.abs,
    sign = function(x) return x > 0 and 1 or x < 0 and -1 or 0 end,
    floor = math.floor,
    ceil = math.ceil,
    round = round,
    trunc = function(x) return x < 0 and math.ceil(x) or math.floor(x) end,
    frac = function(x) return x - (x < 0 and math.ceil(x) or math.floor(x)) end,
    cinv = function(x) return 1 / x end,
    sqrt = math.sqrt,
    rsqrt = function(x) return 1 / math.sqrt(x) end,
    exp = math.exp,
    log = math.log,
    log1p = function(x) return math.log(1 + x) end,
    sin = math.sin,
    cos = math.cos,
    tan = math.tan,
    asin = math.asin,
    acos = math.acos,
    atan = math.atan,
    sinh = math.sinh,
    cosh = math.cosh,
    tanh = math.tanh,
    sigmoid = function(x) return 1 / (1 + math.exp(-x)) end,
}

local SAMPLES = { -2.5, -0.75, -0.25, 0.25, 0.5, 0.9, 1.6, 3 }

local function expected(f, values)
    local r = {}
    for i, x in ipairs(values) do r[i] = f(x) end
    return r
end

for name, f in pairs(unary) do
    test(name, function()
        local t, want = torch.Tensor(SAMPLES), expected(f, SAMPLES)
        near(torch[name](t), want, 1e-12)
        equal(t, SAMPLES)
        local r = torch.Tensor()
        equal(torch[name](r, t) == r, true)
        near(r, want, 1e-12)
        local s = torch.Tensor(3)
        equal(s[name](s, t) == s, true)
        near(s, want, 1e-12)
        equal(t[name](t) == t, true)
        near(t, want, 1e-12)
        near(torch[name](torch.Tensor(SAMPLES):view(2, 4):t()), torch.Tensor(want):view(2, 4):t(), 1e-12)
        equal(torch[name](torch.Tensor()):dim(), 0)
        local float = torch.FloatTensor(SAMPLES)
        equal(torch[name](float):type(), "torch.FloatTensor")
        near(float[name](float), want, 1e-4)
        fails("bad argument #2 to '" .. name .. "' (torch.FloatTensor expected, got torch.DoubleTensor)", torch[name], float, t)
        near(torch[name](SAMPLES[5]), want[5], 1e-12)
        fails("torch.Tensor expected, got string", torch[name], "1")
    end)
end

test("round takes halves away from 0", function()
    local almost = 0.49999999999999994
    equal(torch.round(torch.Tensor({ 0.5, 1.5, 2.5, -0.5, -2.5, almost, -almost, 1 / 0, -1 / 0, 2 ^ 53 - 1 })),
        { 1, 2, 3, -1, -3, 0, 0, 1 / 0, -1 / 0, 2 ^ 53 - 1 })
    equal(torch.round(torch.IntTensor({ 3, -4 })), { 3, -4 })
    equal(torch.round(torch.Tensor({ 0 / 0 })), { 0 / 0 })
end)

test("lgamma", function()
    near(torch.lgamma(torch.Tensor({ 1, 5, 0.5 })), { 0, math.log(24), 0.5 * math.log(math.pi) }, 1e-12)
    near(torch.Tensor({ 4 }):lgamma(), { math.log(6) }, 1e-12)
end)

-- Functions of a tensor and a number, on {5, -7, 8} and 3
local with_value = {
    mul = { 15, -21, 24 },
    div = { 5 / 3, -7 / 3, 8 / 3 },
    fmod = { 2, -1, 2 },
    remainder = { 2, 2, 2 },
    pow = { 125, -343, 512 },
    cmax = { 5, 3, 8 },
    cmin = { 3, -7, 3 },
    add = { 8, -4, 11 },
    csub = { 2, -10, 5 },
}

for name, want in pairs(with_value) do
    test(name .. " with a number", function()
        local t = torch.Tensor({ 5, -7, 8 })
        near(torch[name](t, 3), want)
        equal(t, { 5, -7, 8 })
        local r = torch.Tensor()
        near(torch[name](r, t, 3), want)
        local s = torch.Tensor(1)
        near(s[name](s, t, 3), want)
        equal(t[name](t, 3) == t, true)
        near(t, want)
        fails("bad argument #2 to '" .. name .. "' (number expected, got string)", torch[name], t, "3")
    end)
end

-- Functions of two tensors, on {5, -7, 8} and {2, 3, -3}
local with_tensor = {
    cmul = { 10, -21, -24 },
    cdiv = { 2.5, -7 / 3, -8 / 3 },
    cpow = { 25, -343, 1 / 512 },
    atan2 = { math.atan2(5, 2), math.atan2(-7, 3), math.atan2(8, -3) },
    cfmod = { 1, -1, 2 },
    cremainder = { 1, 2, -1 },
    cmax = { 5, 3, 8 },
    cmin = { 2, -7, -3 },
    add = { 7, -4, 5 },
    csub = { 3, -10, 11 },
}

for name, want in pairs(with_tensor) do
    test(name .. " with a tensor", function()
        local a, b = torch.Tensor({ 5, -7, 8 }), torch.Tensor({ 2, 3, -3 })
        near(torch[name](a, b), want)
        local r = torch.Tensor()
        near(torch[name](r, a, b), want)
        local s = torch.Tensor(2)
        near(s[name](s, a, b), want)
        -- The same number of elements in another shape.
        local column = torch[name](a:view(3, 1), b)
        equal(column:size(), { 3, 1 })
        near(column:view(3), want)
        fails("inconsistent tensor sizes 3 and 2", torch[name], a, torch.Tensor(2))
        fails("torch.DoubleTensor expected, got torch.FloatTensor", torch[name], a, b:float())
        equal(a[name](a, b) == a, true)
        near(a, want)
    end)
end

test("add and csub with a multiple", function()
    local a, b = torch.Tensor({ 1, 2 }), torch.Tensor({ 10, 20 })
    equal(torch.add(a, 2, b), { 21, 42 })
    equal(torch.add(torch.Tensor(), a, 2, b), { 21, 42 })
    equal(a:clone():add(2, b), { 21, 42 })
    equal(torch.Tensor():add(a, 2, b), { 21, 42 })
    equal(torch.csub(a, 2, b), { -19, -38 })
    equal(a:clone():csub(0.5, b), { -4, -8 })
end)

test("addcmul and addcdiv", function()
    local t, a, b = torch.Tensor({ 1, 2 }), torch.Tensor({ 6, 8 }), torch.Tensor({ 2, 4 })
    equal(torch.addcmul(t, a, b), { 13, 34 })
    equal(torch.addcmul(t, 2, a, b), { 25, 66 })
    equal(torch.addcmul(torch.Tensor(), t, 2, a, b), { 25, 66 })
    equal(torch.Tensor():addcmul(t, 2, a, b), { 25, 66 })
    equal(torch.Tensor():addcmul(t, a, b), { 13, 34 })
    equal(t:clone():addcmul(2, a, b), { 25, 66 })
    equal(t:clone():addcmul(a, b), { 13, 34 })
    equal(torch.addcdiv(t, 2, a, b), { 7, 6 })
    equal(t:clone():addcdiv(a, b), { 4, 4 })
    fails("torch.DoubleTensor expected, got no value", torch.addcmul, t, a)
    fails("inconsistent tensor sizes", torch.addcmul, t, a, torch.Tensor(3))
end)

test("addcdiv of integers", function()
    local int, byte = torch.IntTensor, torch.ByteTensor
    equal(torch.addcdiv(int({ 1, 2 }), int({ 7, -7 }), int({ 2, 2 })), { 4, -1 })
    -- 1 + 21 / 2 and 2 - 21 / 2, truncated
    equal(torch.addcdiv(int({ 1, 2 }), 3, int({ 7, -7 }), int({ 2, 2 })), { 11, -8 })
    -- The product 3 * 200 is not a byte, the sum 301 is 45.
    equal(byte({ 1 }):addcdiv(3, byte({ 200 }), byte({ 2 })), { 45 })
    fails("addcdiv", torch.addcdiv, int({ 1 }), int({ 1 }), int({ 0 }))
end)

test("pow with the number first", function()
    equal(torch.pow(2, torch.Tensor({ 1, 3 })), { 2, 8 })
    equal(torch.pow(torch.Tensor(), 2, torch.Tensor({ 1, 3 })), { 2, 8 })
    equal(torch.Tensor():pow(2, torch.Tensor({ 1, 3 })), { 2, 8 })
end)

test("functions of numbers", function()
    equal(torch.pow(2, 10), 1024)
    near(torch.atan2(1, -1), 3 * math.pi / 4)
    near(torch.lerp(2, 4, 0.25), 2.5)
    fails("bad argument #3 to 'lerp' (number expected, got no value)", torch.lerp, 2, 4)
    equal(torch.abs(-2), 2)
    equal(torch.round(-2.5), -3)
end)

test("clamp and lerp", function()
    local t = torch.Tensor({ -2, 0.5, 2 })
    equal(torch.clamp(t, -1, 1), { -1, 0.5, 1 })
    equal(torch.clamp(torch.Tensor(), t, -1, 1), { -1, 0.5, 1 })
    equal(torch.Tensor():clamp(t, -1, 1), { -1, 0.5, 1 })
    equal(t:clone():clamp(0, 1), { 0, 0.5, 1 })
    local a, b = torch.Tensor({ 0, 10 }), torch.Tensor({ 4, 20 })
    equal(torch.lerp(a, b, 0.25), { 1, 12.5 })
    equal(torch.lerp(torch.Tensor(), a, b, 0.25), { 1, 12.5 })
    equal(torch.Tensor():lerp(a, b, 0.25), { 1, 12.5 })
    equal(a:lerp(b, 0.5), { 2, 15 })
    fails("bad argument #3 to 'clamp' (number expected, got no value)", torch.clamp, t, 1)
end)

test("comparisons", function()
    local t, u = torch.Tensor({ 1, 2, 3 }), torch.Tensor({ 3, 2, 1 })
    local want = {
        lt = { { 1, 0, 0 }, { 1, 0, 0 } }, le = { { 1, 1, 0 }, { 1, 1, 0 } }, gt = { { 0, 0, 1 }, { 0, 0, 1 } },
        ge = { { 0, 1, 1 }, { 0, 1, 1 } }, eq = { { 0, 1, 0 }, { 0, 1, 0 } }, ne = { { 1, 0, 1 }, { 1, 0, 1 } },
    }
    for name, values in pairs(want) do
        local r = t[name](t, 2)
        equal(r:type(), "torch.ByteTensor")
        equal(r, values[1])
        equal(torch[name](t, u), values[2])
        equal(torch[name](torch.Tensor(), t, 2):type(), "torch.DoubleTensor")
        equal(torch[name](torch.Tensor(), t, 2), values[1])
        equal(torch[name](torch.ByteTensor(), t, u), values[2])
        fails("torch.DoubleTensor expected, got torch.IntTensor", torch[name], t, torch.IntTensor(3))
        fails("torch.DoubleTensor expected, got torch.IntTensor", torch[name], torch.IntTensor(), t, 2)
    end
end)

test("integers", function()
    local t = torch.IntTensor({ 7, -7 })
    equal(torch.div(t, 2), { 3, -3 })
    equal(torch.cdiv(t, torch.IntTensor({ 2, 2 })), { 3, -3 })
    equal(torch.mul(t, 1.9), { 7, -7 })
    equal(torch.add(t, -0.5), { 7, -7 })
    equal(torch.fmod(t, 4), { 3, -3 })
    equal(torch.remainder(t, 4), { 3, 1 })
    equal(torch.ByteTensor({ 250 }):add(10), { 4 })
    equal(torch.IntTensor(2):fill(2.9), { 2, 2 })
    -- Numbers become elements as in C.
    equal(torch.ByteTensor(2):fill(300), { 44, 44 })
    equal(torch.ByteTensor({ 7 }):add(-1.9), { 6 })
    equal(torch.ByteTensor({ 10, 50 }):cmax(300), { 44, 50 })
    equal(torch.ByteTensor({ 44, 2 }):eq(300), { 1, 0 })
    equal(torch.ByteTensor({ 1, 2 }):lt(2.5), { 1, 0 })
    equal(torch.CharTensor({ 100 }):mul(2), { -56 })
    equal(torch.mod(t, 4), { 3, -3 })
    equal(torch.cmod(t, torch.IntTensor({ 4, 4 })), { 3, -3 })
    fails("div", torch.div, t, 0)
    fails("sqrt", torch.sqrt, t)
end)

test("bits", function()
    local t, u = torch.IntTensor({ 12, 5 }), torch.IntTensor({ 10, 1 })
    equal(torch.bitand(t, 10), { 8, 0 })
    equal(torch.bitor(t, 3), { 15, 7 })
    equal(torch.bitxor(t, 4), { 8, 1 })
    equal(torch.lshift(t, 2), { 48, 20 })
    equal(torch.rshift(t, 1), { 6, 2 })
    equal(torch.cbitand(t, u), { 8, 1 })
    equal(torch.cbitor(t, u), { 14, 5 })
    equal(torch.cbitxor(t, u), { 6, 4 })
    equal(torch.clshift(t, torch.IntTensor({ 1, 2 })), { 24, 20 })
    equal(t:clone():crshift(torch.IntTensor({ 1, 2 })), { 6, 1 })
    fails("bitand", torch.bitand, torch.Tensor(1), 1)
end)

test("fill, zero, copy", function()
    local t = torch.Tensor(2, 2)
    equal(t:fill(3), { { 3, 3 }, { 3, 3 } })
    equal(t:zero(), { { 0, 0 }, { 0, 0 } })
    equal(t:copy(torch.range(1, 4)), { { 1, 2 }, { 3, 4 } })
    equal(t:t():copy(torch.range(1, 4)), { { 1, 2 }, { 3, 4 } })
    equal(t, { { 1, 3 }, { 2, 4 } })
    equal(torch.IntTensor(4):copy(torch.Tensor({ 1.9, -1.9, 0, 2 })), { 1, -1, 0, 2 })
    equal(torch.Tensor():fill(1):dim(), 0)
    equal(torch.fill(t, 1)[1][1], 1)
    fails("copy: inconsistent tensor sizes 2x2 and 3", t.copy, t, torch.Tensor(3))
    fails("bad argument #2 to 'fill' (number expected, got no value)", torch.fill, t)
end)

-- The numbers, and what C and NumPy convert them to on x86. The int that holds no such number is -2147483648.
test("conversions to integers", function()
    local numbers = { -1, 256.7, 300, -129.9, 65536.5, 2 ^ 31 - 1, 2 ^ 31, -2 ^ 31 - 1, 1e30, 0 / 0, 1 / 0, -1 / 0 }
    local least, least_long = -2 ^ 31, -2 ^ 63
    local want = {
        Byte = { 255, 0, 44, 127, 0, 255, 0, 0, 0, 0, 0, 0 },
        Char = { -1, 0, 44, 127, 0, -1, 0, 0, 0, 0, 0, 0 },
        Short = { -1, 256, 300, -129, 0, -1, 0, 0, 0, 0, 0, 0 },
        Int = { -1, 256, 300, -129, 65536, 2 ^ 31 - 1, least, least, least, least, least, least },
        Long = {
            -1, 256, 300, -129, 65536, 2 ^ 31 - 1, 2 ^ 31, -2 ^ 31 - 1, least_long, least_long, least_long, least_long,
        },
    }
    for short, values in pairs(want) do
        local name, t = short:lower(), torch.Tensor(numbers)
        equal(t[name](t), values)
        equal(t:type("torch." .. short .. "Tensor"), values)
        equal(torch[short .. "Tensor"](numbers), values)
        -- One number at a time, so that each way of conversion is taken.
        for i, x in ipairs(numbers) do
            equal(torch[short .. "Tensor"](1):copy(torch.Tensor({ x })), { values[i] })
            equal(torch[short .. "Tensor"](1):fill(x), { values[i] })
        end
        local columns = torch[short .. "Tensor"](2, 6):t()
        equal(columns:copy(t:view(6, 2)), torch[short .. "Tensor"](values):view(6, 2))
    end
    equal(torch.FloatTensor({ -1, 300, 1 / 0 }):byte(), { 255, 44, 0 })
    equal(torch.HalfTensor({ -1, 300, 1 / 0 }):byte(), { 255, 44, 0 })
    equal(torch.LongTensor({ -1, 300, 2 ^ 40 + 5 }):byte(), { 255, 44, 5 })
    equal(torch.Tensor({ 1.9, -0.9 }):byte(), { 1, 0 })
    equal(torch.Tensor():byte():dim(), 0)
end)

-- The two rows share the memory of one row, so that the function is applied twice to each element.
test("results whose positions share elements", function()
    local src = torch.Tensor({ { 1, 2, 3 }, { 4, 5, 6 } })
    local function twice(name, ...)
        local t = torch.Tensor({ { 1, 2, 3 } })
        local e = t:expand(2, 3)
        equal(e[name](e, ...) == e, true)
        equal(e[1], e[2])
        return t[1]
    end
    equal(twice("add", 1), { 3, 4, 5 })
    equal(twice("add", src), { 6, 9, 12 })
    equal(twice("add", 2, src), { 11, 16, 21 })
    equal(twice("add", src, 1), { 5, 6, 7 })
    equal(twice("csub", src), { -4, -5, -6 })
    equal(twice("mul", 2), { 4, 8, 12 })
    equal(twice("div", 2), { 0.25, 0.5, 0.75 })
    equal(twice("cmul", src), { 4, 20, 54 })
    equal(twice("neg"), { 1, 2, 3 })
    equal(twice("neg", src), { -4, -5, -6 })
    equal(twice("pow", 2), { 1, 16, 81 })
    equal(twice("pow", 2, src), { 16, 32, 64 })
    equal(twice("clamp", 2, 2.5), { 2, 2, 2.5 })
    equal(twice("cmax", src), { 4, 5, 6 })
    equal(twice("lerp", src, 0.5), { 2.5, 3.5, 4.5 })
    equal(twice("round"), { 1, 2, 3 })
    equal(twice("lt", src, 5), { 1, 0, 0 })
    equal(twice("copy", src), { 4, 5, 6 })
    equal(twice("copy", src:float()), { 4, 5, 6 })
    equal(twice("fill", 7), { 7, 7, 7 })
    equal(twice("zero"), { 0, 0, 0 })
    equal(twice("addcmul", src, src), { 18, 31, 48 })
    equal(twice("addcdiv", src, src), { 3, 4, 5 })
    -- The sum begins with the last row of the copied tensor.
    equal(twice("addcmul", src, 1, src, src), { 21, 34, 51 })
end)

test("dimensions and windows that share elements", function()
    local t = torch.zeros(1, 2, 1)
    t:expand(3, 2, 4):add(1)
    equal(t:view(2), { 12, 12 })
    t = torch.zeros(1)
    t:expand(1000):add(1)
    equal(t, { 1000 })
    t = torch.Tensor({ 1, 2, 3 })
    t:unfold(1, 2, 1):add(10)
    equal(t, { 11, 22, 13 })
    t:unfold(1, 2, 1):copy(torch.Tensor({ { 1, 2 }, { 3, 4 } }))
    equal(t, { 1, 3, 4 })
    t = torch.IntTensor({ { 8, 8 } })
    fails("cdiv: integers divided by zero", function() t:expand(2, 2):cdiv(torch.IntTensor({ { 2, 2 }, { 2, 0 } })) end)
    equal(t, { { 8, 8 } })
    fails("inconsistent tensor sizes", function() t:expand(2, 2):add(torch.IntTensor(3)) end)
    equal(t:expand(2, 2):add(torch.IntTensor({ { 1, 2, 3 } }), 1), { { 2, 3, 4 } })
end)

test("operators", function()
    local a, b = torch.Tensor({ 1, 2 }), torch.Tensor({ 3, 4 })
    local m = torch.Tensor({ { 1, 2 }, { 3, 4 } })
    equal(a + b, { 4, 6 })
    equal(a + 1, { 2, 3 })
    equal(1 + a, { 2, 3 })
    equal(a - b, { -2, -2 })
    equal(a - 1, { 0, 1 })
    equal(1 - a, { 0, -1 })
    equal(-a, { -1, -2 })
    equal(a * 2, { 2, 4 })
    equal(2 * a, { 2, 4 })
    equal(a * b, 11)
    equal(m * a, { 5, 11 })
    equal(m * m, { { 7, 10 }, { 15, 22 } })
    equal(a / 2, { 0.5, 1 })
    equal(b / a, { 3, 2 })
    equal(torch.Tensor({ 5, -5, 5.5 }) % 3, { 2, 1, 2.5 })
    equal(torch.IntTensor({ 5, -5 }) % torch.IntTensor({ -3, 3 }), { -1, 1 })
    fails("torch.Tensor expected, got number", function() return 3 % a end)
    equal(#m, { 2, 2 })
    equal(a, { 1, 2 })
    fails("no product of tensors of 1 and 2 dimensions", function() return a * m end)
    fails("a number or a tensor expected, got string", function() return a + "1" end)
    fails("torch.Tensor expected, got number", function() return 1 / a end)
end)

test("apply, map, map2", function()
    local t = torch.range(1, 4):resize(2, 2)
    equal(t:apply(function(x) return x * 2 end) == t, true)
    equal(t, { { 2, 4 }, { 6, 8 } })
    local seen = {}
    t:t():apply(function(x) seen[#seen + 1] = x end)
    equal(seen, { 2, 6, 4, 8 })
    equal(t, { { 2, 4 }, { 6, 8 } })
    equal(t:map(torch.range(1, 4), function(x, y) return x - y end), { { 1, 2 }, { 3, 4 } })
    equal(t:t():map(torch.range(1, 4), function(_, y) return y end), { { 1, 2 }, { 3, 4 } })
    equal(t, { { 1, 3 }, { 2, 4 } })
    equal(t:map2(torch.range(1, 4):resize(2, 2):t(), torch.ones(4), function(x, y, z) return x * 100 + y * 10 + z end),
        { { 111, 331 }, { 221, 441 } })
    for _, kind in ipairs({ "Long", "Half", "Byte", "BFloat16", "Bool" }) do
        equal(torch[kind .. "Tensor"]({ 1, 0 }):apply(function(x) return 1 - x end), { 0, 1 })
    end
    fails("stop", function() t:apply(function(x) if x == 331 then error("stop") end return 0 end) end)
    equal(t, { { 0, 331 }, { 221, 441 } })
    fails("the function returned a string", t.apply, t, function() return "x" end)
    fails("function expected, got no value", function() t:apply() end)
    fails("inconsistent tensor sizes 2x2 and 3", t.map, t, torch.Tensor(3), math.max)
    fails("torch.DoubleTensor expected, got torch.IntTensor", t.map2, t, t, torch.IntTensor(4), math.max)
end)

-- Long enough for compiled loops: each type, each way through memory, and several callbacks.
test("apply and map of many elements", function()
    local N = 600
    local function adder(k) return function(x) return x + k end end
    for _, kind in ipairs({ "Byte", "Char", "Short", "Int", "Long", "Float", "Double", "Half" }) do
        local T = torch[kind .. "Tensor"]
        local t = T(N):zero()
        for k = 1, 6 do t:apply(adder(k)) end
        equal(t, T(N):fill(21))
        local columns, count = T(3, N / 3):zero():t(), 0
        columns:apply(function() count = count + 1 return count % 100 end)
        equal(columns[{ 1, 2 }] + columns[{ 101, 1 }], 3)
        equal(columns:map(columns, function(x, y) return x + y end)[{ 2, 3 }], 12)
        equal(t:map2(columns, T(1):fill(2):expand(N), function(x, y, z) return x + y * z end)[4], 37)
        local sum = 0
        t:apply(function(x) sum = sum + x end)
        equal(sum, t:double():sum())
        -- A running sum: each element is read after the one before was written.
        t:fill(1)
        t:narrow(1, 2, 99):map(t:narrow(1, 1, 99), function(x, y) return x + y end)
        equal(t[100], 100)
        -- All positions are one element.
        local one = T(1):zero()
        one:expand(100):apply(function(x) return x + 1 end)
        equal(one, { 100 })
        local other = T(100):fill(1)
        other:map(other:narrow(1, 1, 1):expand(100), function(_, y) return y + 1 end)
        equal(other[1], 2)
        equal(other[100], 3)
    end
end)

test("callbacks that take the memory away", function()
    for _, kind in ipairs({ "Int", "Float", "Double", "Half" }) do
        for _, n in ipairs({ 10, 500 }) do
            local t, count, act
            local function callback(x)
                count = count + 1
                if count == n / 2 then act() end
                return x + 1
            end
            local function apply()
                count = 0
                t:apply(callback)
            end
            t = torch[kind .. "Tensor"](n):zero()
            act = function() t:storage():resize(2) end
            fails("its storage is smaller now", apply)
            t = torch[kind .. "Tensor"](2, n / 2):zero():t()
            fails("its storage is smaller now", apply)
            t = torch[kind .. "Tensor"](n):zero()
            act = function() t:free() end
            fails("its storage is smaller now", apply)
            local other = torch[kind .. "Tensor"](n):zero()
            t = torch[kind .. "Tensor"](n):zero()
            act = function() other:storage():resize(1) end
            count = 0
            fails("its storage is smaller now", t.map, t, other, callback)
            t = torch[kind .. "Tensor"](n):zero()
            act = function() t:resize(100 * n) end
            apply()
            equal(t:narrow(1, 1, n), torch[kind .. "Tensor"](n):fill(1))
        end
    end
end)
