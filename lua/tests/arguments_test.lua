-- Errors: the line where they are raised, how arguments are counted, and that no argument ends the process.

local harness = require("harness")
local namespace = require("thorn.namespace")
local torch = require("thorn")

local test, equal, fails = harness.test, harness.equal, harness.fails

test("errors are raised at the line of the caller", function()
    local line = debug.getinfo(1, "l").currentline
    local t = torch.Tensor(2, 3)
    local _, message = pcall(function()
        t:narrow(1, 2, 30)
    end)
    equal(message:match(":(%d+): (.*)"), tostring(line + 3))
    equal(message:match(": (bad.*)"), "bad argument #3 to 'narrow' (out of range)")
    _, message = pcall(function()
        torch.narrow(t, 1, 2, 30)
    end)
    equal(message:match(":(%d+): (.*)"), tostring(line + 8))
    equal(message:match(": (bad.*)"), "bad argument #4 to 'narrow' (out of range)")
    _, message = pcall(function()
        t[1][7] = 1
    end)
    equal(message:match(":(%d+): (.*)"), tostring(line + 13))
    _, message = pcall(function()
        return (t + torch.Tensor(4))
    end)
    equal(message:match(":(%d+): (.*)"), tostring(line + 17))
    _, message = pcall(function()
        t:mm(torch.Tensor(4, 4), torch.Tensor(3, 3))
    end)
    equal(message:match("^.*arguments_test%.lua:(%d+): mm: "), tostring(line + 21))
end)

test("errors after a protected call", function()
    fails("torch.Tensor expected, got no value", torch.abs)
    fails("torch.Tensor expected, got number", namespace.methods.add, 1, 2)
    fails("torch.Tensor expected, got table", torch.sum, {})
end)

test("an operation that fails leaves its result alone", function()
    local r = torch.Tensor({ 1, 2 })
    fails("inconsistent", torch.add, r, torch.Tensor(3), torch.Tensor(4))
    fails("mm", torch.mm, r, torch.Tensor(2, 3), torch.Tensor(2, 3))
    equal(r, { 1, 2 })
end)

-- Random calls of every function and method. Files, process settings, and functions that change reference counts are left out.
local LEFT_OUT = {
    save = true, load = true, saveobj = true, loadobj = true, DiskFile = true, PipeFile = true, -- files and commands
    setnumthreads = true, setdefaulttensortype = true, seed = true, manualSeed = true, retain = true, setheaptracking = true,
    class = true, newmetatable = true, metatype = true, setmetatable = true, CmdLine = true, include = true, setenv = true,
    Storage = true, -- and all storages, which take addresses
}

local state = 42
local function random(n)
    state = (state * 16807) % 2147483647
    return state % n + 1
end

local makers = {
    function() return nil end,
    function() return true end,
    function() return ({ 0, 1, 2, 3, -1, 0.5, 1e15, -1e18, 1e300, 0 / 0, 1 / 0, 7 })[random(12)] end,
    function() return ({ 1, 2, 3 })[random(3)] end,
    function() return ({ "", "x", "U", "V", "torch.IntTensor" })[random(5)] end,
    function() return { 1, 2, 3 } end,
    function() return { { 1, 2 }, { 1 } } end,
    function() return {} end,
    function() return tostring end,
    function() return function(x) return x end end,
    function() return torch.Tensor() end,
    function() return torch.Tensor(3):fill(0.5) end,
    function() return torch.Tensor(3, 3):fill(0.5) end,
    function() return torch.eye(3):t() end,
    function() return torch.Tensor(2, 3, 4):fill(1) end,
    function() return torch.Tensor(1, 3):fill(1):expand(3, 3) end,
    function() return torch.IntTensor({ 1, 2, 3 }) end,
    function() return torch.ByteTensor({ 1, 0, 1 }) end,
    function() return torch.LongTensor({ 1, 2, 3 }) end,
    function() return torch.LongTensor({ { 1, 9, -3 } }) end,
    function() return torch.HalfTensor({ 1, 2, 3 }) end,
    function() return torch.LongStorage({ 3, 3 }) end,
    function() return torch.FloatStorage({ 3, 3 }) end,
    function() return torch.Generator() end,
    function() return { torch.Tensor(3):fill(1), torch.Tensor(3):fill(2) } end,
}

local function arguments()
    local r = {}
    local count = random(6) - 1
    for i = 1, count do r[i] = makers[random(#makers)]() end
    return r, count
end

-- Every call either succeeds or raises an error with a message.
local function call(name, f)
    for _ = 1, 60 do
        local given, count = arguments()
        local ok, message = pcall(f, unpack(given, 1, count))
        harness.checks = harness.checks + 1
        if not ok and (type(message) ~= "string" or #message < 5) then error(name .. ": " .. tostring(message)) end
    end
end

-- Returns the names in order, so that every run makes the same calls.
local function sorted(functions)
    local names = {}
    for name, f in pairs(functions) do
        local callable = type(f) == "function" or type(f) == "table"
        if type(name) == "string" and callable and not LEFT_OUT[name] and not name:find("Storage$") then
            names[#names + 1] = name
        end
    end
    table.sort(names)
    return names
end

local own_methods = {}
for name, f in pairs(namespace.methods) do own_methods[name] = f end

test("no argument of a function ends the process", function()
    for _, name in ipairs(sorted(torch)) do call(name, torch[name]) end
end)

test("no argument of a method ends the process", function()
    for _, name in ipairs(sorted(own_methods)) do call(name, own_methods[name]) end
end)

test("no argument of a storage's method ends the process", function()
    for _, name in ipairs(sorted(namespace.storage_methods)) do call(name, namespace.storage_methods[name]) end
end)

test("no argument of a storage's constructor ends the process", function()
    call("FloatStorage", function(first, second, third)
        -- After a size, a second argument is an address, and a string is a file name.
        if type(first) == "number" or type(first) == "string" then return torch.FloatStorage(3) end
        local view = torch.FloatStorage(first, second, third)
        local t = torch.FloatTensor(view)
        if torch.isStorage(first) then first:fill(2) end
        return t:add(1):sum()
    end)
end)

test("no index ends the process", function()
    call("[]", function(t, key, value)
        if not torch.isTensor(t) then error("no tensor") end
        local _ = t[key]
        t[key] = value
    end)
end)
