-- Nothing is leaked: after many calls of a kind and a collection, as many bytes are live as before.

local harness = require("harness")
local library = require("thorn.library")
local torch = require("thorn")

local test, equal = harness.test, harness.equal

local function live()
    collectgarbage()
    collectgarbage()
    return tonumber(library.C.THMemory_liveBytes())
end

local x, y = torch.range(1, 6):resize(2, 3), torch.ones(2, 3)
local square, vector, index = torch.Tensor({ { 4, 1 }, { 1, 3 } }), torch.Tensor({ 1, 2 }), torch.LongTensor({ 2, 1 })
local r, values, places = torch.Tensor(), torch.Tensor(), torch.LongTensor()

local steps = {
    constructors = function()
        torch.Tensor(2, 3)
        torch.Tensor({ { 1, 2 }, { 3, 4 } })
        torch.Tensor(torch.LongStorage({ 2, 3 }), torch.LongStorage({ 3, 1 }))
        torch.Tensor(x:storage(), 1, 2, 3)
        torch.DoubleStorage(x:storage(), 2, 3)
    end,
    elements = function()
        x[1] = x[2]
        x[{ {}, 2 }] = x[{ {}, { 1, 1 } }]
        return x[torch.gt(x, 2)], x[2][3], #x
    end,
    views = function()
        x:narrow(1, 1, 1):select(1, 1)
        return x:view(3, 2):t(), x:unfold(2, 2, 1), y:narrow(2, 1, 1):expand(2, 4), x:split(1)
    end,
    arithmetic = function()
        r:add(x, 2, y)
        return (x + y) * 2 - 1, torch.cmul(x, y:view(6)), torch.lt(x, y)
    end,
    reductions = function()
        torch.max(values, places, x, 2)
        return x:sum(), x:sum(1), torch.sort(x, 1), x:dot(y), torch.median(x)
    end,
    indices = function() return x:index(1, index), x:gather(1, torch.LongTensor({ { 1, 2, 1 } })), torch.nonzero(x) end,
    products = function() return square * square, torch.gesv(vector, square), torch.svd(square), torch.cat(x, y) end,
    random = function() return torch.rand(3), torch.randperm(4), torch.Generator(), torch.getRNGState() end,
    files = function() return torch.deserialize(torch.serialize({ x, x:storage(), "text" })) end,
    pointers = function() return x:data(), torch.cdata(y), x:storage():data() end,
    references = function()
        local t = torch.Tensor(100)
        t:retain()
        t:free()
        t:free()
    end,
    failures = function()
        pcall(torch.add, x, torch.Tensor(4))
        pcall(torch.mm, x, x)
        pcall(x.narrow, x, 1, 2, 9)
        pcall(x.apply, x, error)
        pcall(torch.deserialize, torch.serialize(x):sub(1, -9))
        pcall(function() return x[{ 7, 7 }] end)
    end,
}

test("heap tracking", function()
    torch.setheaptracking(false)
    local untracked = library.C.THMemory_pressure()
    equal(torch._heaptracking, false)
    torch.setheaptracking(true)
    equal(torch._heaptracking, true)
    equal(tonumber(untracked), 0)
    local most = 0
    for _ = 1, 300 do
        torch.ByteTensor(2 ^ 20)
        most = math.max(most, tonumber(library.C.THMemory_liveBytes()))
    end
    equal(most < 80 * 2 ^ 20, true)
end)

-- Calls `f` under memory pressure: each new tensor runs the collector and frees unreachable tensors.
local function under_pressure(f)
    library.C.THMemory_setSoftLimit(1, nil, nil)
    f()
    library.track(true)
end

test("tensors live until a function of several calls ends", function()
    for _ = 1, 100 do
        local rounded, copied, masked = torch.Tensor(1, 3):fill(2.5), torch.IntTensor(1, 3), torch.zeros(1, 3)
        local sums, fours, twos = torch.IntTensor(1, 3):fill(6), torch.IntTensor(40, 3):fill(4), torch.IntTensor(40, 3):fill(2)
        local mask, sevens, large = torch.ByteTensor(40, 3):fill(1), torch.Tensor(40, 3):fill(7), torch.Tensor(40, 3):fill(2 ^ 40)
        under_pressure(function() rounded:expand(10, 3):round() end)
        under_pressure(function() sums:expand(40, 3):addcdiv(1, fours, twos) end)
        under_pressure(function() masked:expand(40, 3):maskedCopy(mask, sevens) end)
        under_pressure(function() copied:expand(40, 3):copy(large) end)
        equal(rounded, { { 3, 3, 3 } })
        equal(sums, { { 86, 86, 86 } })
        equal(masked, { { 7, 7, 7 } })
        equal(copied, { { -2 ^ 31, -2 ^ 31, -2 ^ 31 } })
    end
end)

for name, step in pairs(steps) do
    test("memory of " .. name, function()
        local function run()
            for _ = 1, 2000 do step() end
        end
        run()
        local before = live()
        run()
        equal(live(), before)
    end)
end
