-- Tests of the package: `harness.test(name, function)` runs a function and counts its checks and failures.

local harness = { tests = 0, checks = 0, failures = 0 }

local torch = require("thorn")

--- Runs a test. An error in it is a failure.
function harness.test(name, f)
    harness.tests = harness.tests + 1
    local before = harness.checks
    local ok, message = pcall(f)
    if not ok then
        harness.failures = harness.failures + 1
        print(("%s: %s"):format(name, message))
    elseif harness.checks == before then
        harness.failures = harness.failures + 1
        print(name .. ": no checks")
    end
end

local function show(x)
    if type(x) ~= "table" then return tostring(x) end
    local parts = {}
    for i, value in ipairs(x) do parts[i] = show(value) end
    return "{" .. table.concat(parts, ", ") .. "}"
end

-- Returns a tensor or storage as a table, and any other value unchanged.
local function plain(x)
    if torch.isTensor(x) or torch.isStorage(x) then return x:totable() end
    return x
end

-- True if both values are equal: tables element by element, numbers within `tolerance`. NaN equals NaN.
local function same(a, b, tolerance)
    if type(a) == "table" and type(b) == "table" then
        if #a ~= #b then return false end
        for i = 1, #a do
            if not same(a[i], b[i], tolerance) then return false end
        end
        return true
    end
    if type(a) == "number" and type(b) == "number" then
        return a == b or a ~= a and b ~= b or math.abs(a - b) <= tolerance
    end
    return a == b
end

local function fail(text) error(text, 3) end

--- Checks that a value is the expected one. Tensors and storages are compared with tables of their elements.
function harness.equal(got, expected)
    harness.checks = harness.checks + 1
    if not same(plain(got), plain(expected), 0) then fail(("%s, expected %s"):format(show(plain(got)), show(plain(expected)))) end
end

--- As `equal`, with numbers within `tolerance` (1e-9 by default).
function harness.near(got, expected, tolerance)
    harness.checks = harness.checks + 1
    if not same(plain(got), plain(expected), tolerance or 1e-9) then
        fail(("%s, expected nearly %s"):format(show(plain(got)), show(plain(expected))))
    end
end

--- Checks that a condition holds, and returns the condition.
function harness.check(condition, message)
    harness.checks = harness.checks + 1
    if not condition then error(message or "a condition does not hold", 2) end
    return condition
end

--- Runs each function of a table as a test with its name, in the order of names.
function harness.run(tests)
    local names = {}
    for name in pairs(tests) do names[#names + 1] = name end
    table.sort(names)
    for _, name in ipairs(names) do harness.test(name, tests[name]) end
end

--- Checks that a function fails with a message that contains `text`.
function harness.fails(text, f, ...)
    harness.checks = harness.checks + 1
    local ok, message = pcall(f, ...)
    if ok then fail("no error, expected: " .. text) end
    if not tostring(message):find(text, 1, true) then fail(("error %s, expected: %s"):format(message, text)) end
end

return harness
