-- NaNs with a payload in memory and in files: LuaJIT would take them for values of other types.

local harness = require("harness")
local ffi = require("ffi")
local torch = require("thorn")
local types = require("thorn.types")

local thorn = torch.thorn
local test, check, equal = harness.test, harness.check, harness.equal

-- Bits of NaNs by type. The first one would be nil; others would be truth values, strings and tables.
local PAYLOADS = {
    Double = {
        0xffffffffffffffffULL, 0xfffeffffffffffffULL, 0xfffe7fffffffffffULL, 0xfffe000000000010ULL, 0xfffd800000000010ULL,
        0xfffa000000000010ULL, 0xfff8000000000001ULL, 0xfff0000000000001ULL, 0xfff0000000000000ULL + 2 ^ 32, 0x7ff0000000000001ULL,
        0x7fffffffffffffffULL,
    },
    Float = { 0xffffffff, 0xfff7ffff, 0xfff40000, 0xffec0001, 0xffd00001, 0xffc00001, 0xff800001, 0x7f800001, 0x7fffffff },
    Half = { 0xffff, 0xffa1, 0xff60, 0xfe01, 0xfc01, 0x7c01, 0x7fff },
    BFloat16 = { 0xffff, 0xfff4, 0xffec, 0xffc1, 0xff81, 0x7f81, 0x7fff },
}
local WORDS = { Double = "uint64_t *", Float = "uint32_t *", Half = "uint16_t *", BFloat16 = "uint16_t *" }

-- Calls `f` with a tensor of NaNs of each type, and the numbers.
local function each(f)
    for short, payloads in pairs(PAYLOADS) do
        local t = torch[short .. "Tensor"](#payloads)
        local words = ffi.cast(WORDS[short], t:data())
        for i, payload in ipairs(payloads) do words[i - 1] = payload end
        f(t, short)
    end
end

-- Checks a value by its type first: nothing else may be done with a value that memory has forged.
local function is_nan(x, what)
    check(type(x) == "number", what)
    check(x ~= x, what)
end

-- Runs `f` in the interpreter, and often enough to be compiled.
local function both_ways(f)
    jit.off()
    local ok, message = pcall(f)
    jit.on()
    if not ok then error(message, 0) end
    for _ = 1, 100 do f() end
end

local function reads(t, short)
    local s, n = t:storage(), t:nElement()
    for i = 1, n do
        is_nan(t[i], short .. " [i]")
        is_nan(t[{ i }], short .. " [{i}]")
        is_nan(t[torch.LongStorage({ i })], short .. " [LongStorage]")
        is_nan(s[i], short .. " storage[i]")
    end
    for _, values in ipairs({ t:totable(), s:totable(), t:view(1, n):totable()[1] }) do
        for i = 1, n do is_nan(values[i], short .. " totable") end
    end
    t:apply(function(x) is_nan(x, short .. " apply") end)
    t:map(t, function(x, y) is_nan(x, short .. " map") is_nan(y, short .. " map") end)
    t:map2(t, t, function(x, y, z) is_nan(x, short .. " map2") is_nan(y, short .. " map2") is_nan(z, short .. " map2") end)
    thorn.apply(t, function(x) is_nan(x, short .. " thorn.apply") end)
    thorn.map(t, t, function(x, y) is_nan(x, short .. " thorn.map") is_nan(y, short .. " thorn.map") end)
end

test("elements are numbers", function()
    each(function(t, short) both_ways(function() reads(t, short) end) end)
end)

test("elements keep their bits where they are not numbers of Lua", function()
    each(function(t, short)
        local copy = t:clone():apply(function() end)
        equal(torch.serialize(copy), torch.serialize(t))
        equal(ffi.string(copy:data(), #PAYLOADS[short] * types.of_tensor[t:type()].size),
            ffi.string(t:data(), #PAYLOADS[short] * types.of_tensor[t:type()].size))
    end)
end)

test("finite numbers and infinities are as they were", function()
    for short in pairs(PAYLOADS) do
        local values = { 1.5, -2, 0, 1 / 0, -1 / 0, 65504 }
        if short == "BFloat16" then values[6] = 2 ^ 100 end
        local t = torch[short .. "Tensor"](values)
        both_ways(function() equal(t, values) end)
    end
    local ends = { 1.7976931348623157e308, -1.7976931348623157e308, 4.9406564584124654e-324, 2 ^ -1022 }
    equal(torch.DoubleTensor(ends), ends)
    equal(1 / torch.DoubleTensor({ -0.0 })[1], -1 / 0)
    local floats = { 3.4028234663852886e38, -3.4028234663852886e38, 2 ^ -149 }
    equal(torch.FloatTensor(floats), floats)
    equal(1 / torch.FloatTensor({ -0.0 })[1], -1 / 0)
end)

-- Functions of the library that return a number, by their arguments behind the tensor.
local RETURN = {
    sumall = {}, prodall = {}, meanall = {}, maxall = {}, minall = {}, medianall = {}, normall = { 2 }, varall = { false },
    stdall = { false },
    varallCorrection = { 1 }, stdallCorrection = { 1 }, get1d = { 1 }, getAt = { { 1 } },
}

test("returned values are numbers", function()
    each(function(t, short)
        both_ways(function()
            for name, rest in pairs(RETURN) do
                local one = t:narrow(1, 1, 1)
                is_nan(thorn[name](t, unpack(rest)), short .. " " .. name)
                if not name:match("Correction") and not name:match("^[vs][at]") then
                    is_nan(thorn[name](one, unpack(rest)), short .. " " .. name)
                end
            end
            for i = 1, t:nElement() do
                local one = t:narrow(1, i, 1)
                is_nan(thorn.item(one), short .. " item")
                is_nan(thorn.trace(one:view(1, 1)), short .. " trace")
            end
            for _, name in ipairs({ "sum", "prod", "mean", "max", "min", "norm", "std", "var" }) do
                is_nan(t[name](t), short .. " " .. name)
            end
            for _, name in ipairs({ "sum", "prod", "mean", "max", "min", "median" }) do
                is_nan((torch[name](t, 1))[1], short .. " " .. name)
            end
            is_nan(torch.norm(t, 2, 1)[1], short .. " norm")
            is_nan(torch.dist(t, t), short .. " dist")
            local sparse = thorn.STensor({ { 1, 2 } }, t:narrow(1, 1, 2), { 3 })
            is_nan(thorn.STensor.sumall(sparse), short .. " sparse sum")
            if short == "Double" or short == "Float" then is_nan(torch.dot(t, t), short .. " dot") end
        end)
    end)
end)

-- Returns `text` with `bytes` in place of `old`.
local function with_bytes(text, old, bytes)
    local first, last = text:find(old, 1, true)
    return text:sub(1, first - 1) .. bytes .. text:sub(last + 1)
end

test("numbers of a file are numbers", function()
    for _, payload in ipairs(PAYLOADS.Double) do
        local bytes = ffi.string(ffi.new("uint64_t[1]", payload), 8)
        both_ways(function()
            is_nan(torch.deserialize("\1\0\0\0" .. bytes), "a number")
            is_nan(torch.deserialize(with_bytes(torch.serialize({ 1.5 }), "\0\0\0\0\0\0\248\63", bytes))[1], "an element of a table")
            local t = torch.deserialize(torch.serialize(torch.DoubleTensor({ 1.5 })):sub(1, -9) .. bytes)
            is_nan(t[1], "an element")
            is_nan(torch.DoubleStorage(1):copy(t:storage())[1], "an element of a storage")
        end)
    end
end)

test("no number of a file is a key that is not a number", function()
    local key = with_bytes(torch.serialize({ [0.5] = 1 }), "\0\0\0\0\0\0\224\63", "\16\0\0\0\0\128\253\255")
    harness.fails("a key of a table is nil or not a number", torch.deserialize, key)
end)

test("elements that are not initialized are numbers", function()
    for _ = 1, 20 do
        local freed = torch.LongTensor(1000):fill(-1)
        freed:free()
        local t = torch.Tensor(1000)
        for i = 1, 1000 do check(type(t[i]) == "number") end
    end
end)
