-- Tests of a program: `torch.Tester` and `torch.TestSuite`.
--
--     local tests, tester = torch.TestSuite(), torch.Tester()
--     function tests.sum() tester:eq(torch.ones(3):sum(), 3, "the sum of ones") end
--     tester:add(tests)
--     tester:run()                                       -- an error if a test fails
--
-- An assertion returns true or false and records a failure; the test continues. Assertions accept a message, and comparisons of contents
-- a tolerance, too, in either order. Fields of a tester that programs read: `tests` (functions by name), `errors`, `warnings` (texts) and
-- `countasserts`.

local difference = require("thorn.tester.difference")
local errors = require("thorn.errors")
local namespace = require("thorn.namespace")

local torch = namespace.torch

local Tester = torch.class("torch.Tester", torch)

local COLUMNS = 80
local OWN_SOURCE = debug.getinfo(1, "S").source

function Tester:__init()
    self.tests, self.disabledTests, self.errors, self.warnings, self.countasserts = {}, {}, {}, {}, 0
    self._currentTestName = ""
    -- The names of tests with a failed assertion, with a Lua error, and with a warning.
    self._failed, self._crashed, self._warned = {}, {}, {}
    -- True if assertTensorEq accepts tensors of different sizes with the same number of elements.
    self._assertTensorEqIgnoresDims = true
end

--- With true, `run` ends after the first test that fails.
function Tester:setEarlyAbort(is_early) self.earlyAbort = is_early end

--- With true, failures and errors of tests are errors of `run`, raised at once.
function Tester:setRethrowErrors(rethrow) self.rethrow = rethrow end

--- With true, `run` does not print the messages of failures.
function Tester:setSummaryOnly(is_summary) self.summaryOnly = is_summary end

-- Returns the lines of the program, up to ten, from the innermost function to the test.
local function where()
    local lines, level = { "stack traceback:" }, 2
    while #lines <= 10 do
        local info = debug.getinfo(level, "Sl")
        if not info or #lines > 1 and info.source == OWN_SOURCE then break end
        if info.what ~= "C" and info.source ~= OWN_SOURCE then
            table.insert(lines, ("\t%s:%d: in function <%s:%d>"):format(info.short_src, info.currentline, info.short_src, info.linedefined))
        end
        level = level + 1
    end
    return table.concat(lines, "\n") .. "\n"
end

local function section(self, message)
    local name = self._currentTestName
    return (name == "" and "" or name .. "\n") .. message .. "\n" .. where()
end

function Tester:_success()
    self.countasserts = self.countasserts + 1
    return true
end

function Tester:_failure(message)
    if self.rethrow then errors.raise(message) end
    self.countasserts = self.countasserts + 1
    self._failed[self._currentTestName] = true
    table.insert(self.errors, section(self, message))
    return false
end

function Tester:_warning(message)
    self._warned[self._currentTestName] = true
    table.insert(self.warnings, section(self, message))
end

-- Records an assertion. If it has failed, `text` follows the message of the program.
local function conclude(self, is_true, message, text)
    if is_true then return self:_success() end
    return self:_failure(message .. text)
end

-- Returns the message that an assertion got, with a line end.
local function message_of(message, ...)
    if ... ~= nil then errors.raise("Unexpected arguments after the message of an assertion") end
    if message == nil or message == "" then return "" end
    if type(message) ~= "string" then errors.raise("the message of an assertion must be a string, got " .. torch.type(message)) end
    return message .. "\n"
end

-- Returns the tolerance and the message, which an assertion accepts in either order.
local function tolerance_and_message(default, ...)
    local found = {}
    for i = 1, select("#", ...) do
        local x = select(i, ...)
        local kind = type(x)
        if x ~= nil and (kind ~= "string" and kind ~= "number" or found[kind] ~= nil) then
            errors.raise("an assertion accepts one tolerance and one message, got " .. tostring(x))
        end
        found[kind] = x
    end
    if found.number and not (found.number >= 0) then errors.raise("a tolerance is not negative, got " .. found.number) end
    return found.number or default, message_of(found.string)
end

--- Checks that the condition is true.
function Tester:assert(condition, ...)
    local message = message_of(...)
    if type(condition) ~= "boolean" then
        self:_warning(":assert should only be used for boolean values; compare with nil to check that there is a value")
    end
    return conclude(self, condition, message, "BOOL violation: condition=" .. tostring(condition))
end

local COMPARISONS = {
    assertlt = { "LT(<)", function(a, b) return a < b end },
    assertgt = { "GT(>)", function(a, b) return a > b end },
    assertle = { "LE(<=)", function(a, b) return a <= b end },
    assertge = { "GE(>=)", function(a, b) return a >= b end },
    asserteq = { "EQ(==)", function(a, b) return a == b end },
    assertne = { "NE(~=)", function(a, b) return a ~= b end },
}

for name, comparison in pairs(COMPARISONS) do
    local sign, holds = unpack(comparison)
    --- Checks a comparison of Lua: `tester:assertlt(a, b, [message])`.
    Tester[name] = function(self, a, b, ...)
        local message = message_of(...)
        return conclude(self, holds(a, b), message, ("%s violation: val=%s, condition=%s"):format(sign, tostring(a), tostring(b)))
    end
end

local not_equal = Tester.assertne

--- Checks `a ~= b` of Lua. Two tables, tensors or storages with the same contents pass.
function Tester:assertne(a, b, ...)
    if torch.typename(a) or type(a) == "table" and type(b) == "table" then
        self:_warning(":assertne should only be used to compare basic values; :ne compares contents")
    end
    return not_equal(self, a, b, ...)
end

--- Checks that two numbers differ by at most the tolerance, by default 1e-16.
function Tester:assertalmosteq(a, b, ...)
    local tolerance, message = tolerance_and_message(1e-16, ...)
    local text = ("ALMOST_EQ(==) violation: val=%s, condition=%s, tolerance=%s"):format(tostring(a), tostring(b), tostring(tolerance))
    return conclude(self, math.abs(a - b) <= tolerance, message, text)
end

-- Checks that `compare` finds no difference, or that it finds one.
local function conclude_contents(self, compare, is_equal, a, b, ...)
    local tolerance, message = tolerance_and_message(0, ...)
    local text = compare(a, b, tolerance, self._assertTensorEqIgnoresDims)
    if is_equal then return conclude(self, text == nil, message, text) end
    return conclude(self, text ~= nil, message, "NE(~=) violation: the contents are equal, tolerance=" .. tolerance)
end

--- Checks that the contents are equal: numbers, elements of tensors and storages, and entries of tables within the tolerance, by default 0.
function Tester:eq(got, expected, ...) return conclude_contents(self, difference.of, true, got, expected, ...) end

--- Checks that the contents differ.
function Tester:ne(got, unexpected, ...) return conclude_contents(self, difference.of, false, got, unexpected, ...) end

Tester.assertGeneralEq, Tester.assertGeneralNe = Tester.eq, Tester.ne

local function check_operands(a, b, is_kind, kind)
    if not is_kind(a) then errors.raise(("First argument should be a %s, got %s"):format(kind, torch.type(a))) end
    if not is_kind(b) then errors.raise(("Second argument should be a %s, got %s"):format(kind, torch.type(b))) end
end

--- Checks that two tensors have the same type, number of elements and elements. Different sizes give a warning.
function Tester:assertTensorEq(a, b, ...)
    check_operands(a, b, torch.isTensor, "Tensor")
    if self._assertTensorEqIgnoresDims and a:nElement() == b:nElement() and not a:isSameSizeAs(b) then
        self:_warning("assertTensorEq: tensors with the same elements but different dimensions are equal; :eq compares the sizes, too")
    end
    return conclude_contents(self, difference.of_tensors, true, a, b, ...)
end

--- Checks that two tensors differ in type, number of elements or an element.
function Tester:assertTensorNe(a, b, ...)
    check_operands(a, b, torch.isTensor, "Tensor")
    return conclude_contents(self, difference.of_tensors, false, a, b, ...)
end

local function is_table(x) return type(x) == "table" end

--- Checks that two tables have the same contents.
function Tester:assertTableEq(a, b, ...)
    check_operands(a, b, is_table, "Table")
    return self:eq(a, b, ...)
end

--- Checks that two tables have different contents.
function Tester:assertTableNe(a, b, ...)
    check_operands(a, b, is_table, "Table")
    return self:ne(a, b, ...)
end

--- Checks that `f()` raises an error for which `is_expected(error)` is true.
function Tester:assertErrorObj(f, is_expected, ...)
    local message = message_of(...)
    local ok, problem = pcall(f)
    return conclude(self, not ok and is_expected(problem), message, "ERROR violation: err=" .. tostring(problem))
end

--- Checks that `f()` raises an error.
function Tester:assertError(f, ...)
    return self:assertErrorObj(f, function() return true end, ...)
end

--- Checks that `f()` raises this error message.
function Tester:assertErrorMsg(f, expected, ...)
    return self:assertErrorObj(f, function(problem) return problem == expected end, ...)
end

--- Checks that `f()` raises an error message in which the pattern is found.
function Tester:assertErrorPattern(f, pattern, ...)
    return self:assertErrorObj(f, function(problem) return tostring(problem):find(pattern) ~= nil end, ...)
end

--- Checks that `f()` raises no error.
function Tester:assertNoError(f, ...)
    local message = message_of(...)
    local ok, problem = pcall(f)
    return conclude(self, ok, message, "ERROR violation: err=" .. tostring(problem))
end

local SPECIAL = { _setUp = true, _tearDown = true }

--- Adds a test: `tester:add(f, name)`, or the tests of a TestSuite or table: `tester:add(suite)`. The functions with the names `_setUp` and
--- `_tearDown` are called before and after each test with its name.
function Tester:add(f, name)
    if type(f) == "table" then
        if name ~= nil then errors.raise("add: the tests of a table have the names of its keys, so a name cannot be given") end
        local suite = f
        if f.__isTestSuite then
            suite = f.__tests
        else
            self:_warning("add: please use TestSuite rather than plain lua tables, because it finds tests with the same name")
        end
        for key, test in pairs(suite) do
            if type(test) == "table" then errors.raise("add: Nested sets of tests are not possible: " .. tostring(key)) end
            self:add(test, key)
        end
        return self
    end
    if type(f) ~= "function" then errors.raise("add: a function or a table of functions expected, got " .. torch.type(f)) end
    name = name == nil and "unknown" or tostring(name)
    if SPECIAL[name] then
        if self[name] then errors.raise(("add: Only one function %s is possible"):format(name)) end
        self[name] = f
    else
        if self.tests[name] then errors.raise(("add: there is already a test %s"):format(name)) end
        self.tests[name] = f
    end
    return self
end

--- Makes `run` skip a test, or a list of tests.
function Tester:disable(names)
    if type(names) == "string" then names = { names } end
    if type(names) ~= "table" then errors.raise("disable: a name or a table of names expected, got " .. torch.type(names)) end
    for _, name in ipairs(names) do
        if not self.tests[name] then errors.raise("disable: there is no test " .. tostring(name)) end
        self.disabledTests[name] = true
    end
    return self
end

-- Returns the names of all tests, or of those that match one of the patterns, in alphabetical order.
local function selected(self, patterns)
    if type(patterns) == "string" then patterns = { patterns } end
    if type(patterns or {}) ~= "table" then errors.raise("run: a name or a table of names expected, got " .. torch.type(patterns)) end
    local is_selected, names = {}, {}
    for _, pattern in ipairs(patterns or { "" }) do
        local is_found = patterns == nil
        for name in pairs(self.tests) do
            if name:match(pattern) then is_selected[name], is_found = true, true end
        end
        if not is_found then errors.raise("run: there is no test " .. pattern) end
    end
    for name in pairs(is_selected) do names[#names + 1] = name end
    table.sort(names)
    return names
end

local function with_traceback(problem) return debug.traceback(tostring(problem), 2) end

-- Calls a function of the program with the name of the test. Returns true if it raises no error.
local function call(self, f, name)
    if self.rethrow then
        f(name)
        return true
    end
    local ok, problem = xpcall(f, with_traceback, name)
    if not ok then
        self._crashed[name] = true
        table.insert(self.errors, ("%s\nFunction call failed\n%s\n"):format(name, problem))
    end
    return ok
end

-- Runs one test.
local function run_test(self, name)
    self._currentTestName = name
    if not self._setUp or call(self, self._setUp, name) then call(self, function() self.tests[name]() end, name) end
    if self._tearDown then call(self, self._tearDown, name) end
    self._currentTestName = ""
    collectgarbage()
end

local function status(self, name)
    if self.disabledTests[name] then return "SKIP" end
    if self._crashed[name] then return "ERROR" end
    return self._failed[name] and "FAIL" or "PASS"
end

local function counted(count, noun) return ("%d %s%s"):format(count, noun, count == 1 and "" or "s") end

-- Runs the tests and prints a line for each.
local function run_tests(self, names)
    io.write("Running " .. counted(#names, "test") .. "\n")
    for i, name in ipairs(names) do
        local label = ("%" .. #tostring(#names) .. "d/%d %s "):format(i, #names, name)
        local line = label .. ("."):rep(COLUMNS - #label - 7) .. " "
        io.write(line .. "[WAIT]")
        io.flush()
        if not self.disabledTests[name] then run_test(self, name) end
        local result = status(self, name)
        io.write(("\r%s[%s]\n"):format(line, result))
        if result == "PASS" and self._warned[name] then io.write((" "):rep(COLUMNS - 10) .. "[+warning]\n") end
        io.flush()
        if self.earlyAbort and i < #names and (result == "FAIL" or result == "ERROR") then
            io.write("Stopped after the first failure; not all tests have run\n")
            break
        end
    end
end

local function report(self, names)
    local counts = { failed = 0, crashed = 0, warned = self._warned[""] and 1 or 0, disabled = 0 }
    for _, name in ipairs(names) do
        local marks = { failed = self._failed, crashed = self._crashed, warned = self._warned, disabled = self.disabledTests }
        for mark, has in pairs(marks) do
            if has[name] then counts[mark] = counts[mark] + 1 end
        end
    end
    local parts = { counted(counts.failed, "failure"), counted(counts.crashed, "error") }
    if counts.warned > 0 then table.insert(parts, counted(counts.warned, "warning")) end
    if counts.disabled > 0 then table.insert(parts, counts.disabled .. " disabled") end
    local total = ("Completed %s in %s with "):format(counted(self.countasserts, "assert"), counted(#names, "test"))
    io.write(total .. table.concat(parts, " and ") .. "\n")
    if self.summaryOnly then return end
    local rule = ("-"):rep(COLUMNS) .. "\n"
    if #self.errors + #self.warnings > 0 then io.write(rule) end
    for _, sections in ipairs({ self.errors, self.warnings }) do
        for _, text in ipairs(sections) do
            io.write(text .. "\n")
            io.write(rule)
        end
    end
end

--- Runs all tests, or those whose names match: `tester:run([name or names])`. Prints the progress and a report. Raises an error if a test
--- fails, so that the exit code of the program is not 0; otherwise returns 0.
function Tester:run(patterns)
    local names = selected(self, patterns)
    self.errors, self.countasserts, self._failed, self._crashed = {}, 0, {}, {}
    run_tests(self, names)
    report(self, names)
    if next(self._failed) or next(self._crashed) then errors.raise("An error was found while running tests!") end
    return 0
end

--- Returns a table of tests that raises an error if a test is defined twice, or if a value is not a function.
function torch.TestSuite()
    local tests = {}
    return setmetatable({ __tests = tests, __isTestSuite = true }, {
        __index = tests,
        __newindex = function(_, name, test)
            if tests[name] ~= nil then errors.raise(("Test %s is already defined."):format(tostring(name))) end
            if type(test) ~= "function" then
                errors.raise(("Test %s must be a function, got %s"):format(tostring(name), torch.type(test)))
            end
            tests[name] = test
        end,
    })
end
