-- torch.Tester and torch.TestSuite, after Torch7's page "tester".

local harness = require("harness")
local ffi = require("ffi")
local torch = require("thorn")

local equal, check, fails = harness.equal, harness.check, harness.fails
local tests = {}

-- Calls a function. Returns what it wrote, as a terminal shows it, and the results of `pcall`.
local function captured(f, ...)
    local out, write = {}, io.write
    io.write = function(text) out[#out + 1] = text end
    local ok, problem = pcall(f, ...)
    io.write = write
    return (table.concat(out):gsub("[^\n]*\r", "")), ok, problem
end

local function run(tester, names) return captured(tester.run, tester, names) end

local SAMPLE = [[
local torch = ...
local mytest, tester = torch.TestSuite(), torch.Tester()

function mytest.testA()
   local a, b = torch.Tensor{1, 2, 3}, torch.Tensor{1, 2, 4}

   tester:eq(a, b, "a and b should be equal")
end

function mytest.testB()
   tester:eq({2, torch.Tensor{1, 2, 2}}, {2, torch.Tensor{1, 2, 2.001}}, 0.01, "a and b should be approximately equal")
end

function mytest.testC()
   local function myfunc()
      return "hello " .. world
   end
   tester:assertNoError(myfunc, "myfunc shouldn't give an error")
end

return tester:add(mytest)
]]

local DASHES = ("-"):rep(80)

local REPORT = table.concat({
    "Running 3 tests",
    "1/3 testA ............................................................... [FAIL]",
    "2/3 testB ............................................................... [PASS]",
    "3/3 testC ............................................................... [FAIL]",
    "Completed 3 asserts in 3 tests with 2 failures and 0 errors",
    DASHES,
    "testA",
    "a and b should be equal",
    "TensorEQ(==) violation: max diff=1, tolerance=0",
    "stack traceback:",
    "\t./test.lua:7: in function <./test.lua:4>",
    "",
    DASHES,
    "testC",
    "myfunc shouldn't give an error",
    "ERROR violation: err=./test.lua:16: attempt to concatenate global 'world' (a nil value)",
    "stack traceback:",
    "\t./test.lua:18: in function <./test.lua:14>",
    "",
    DASHES,
    "",
}, "\n")

function tests.the_report_of_the_page()
    local out, ok, problem = run(loadstring(SAMPLE, "@./test.lua")(torch))
    equal(out, REPORT)
    equal(ok, false)
    check(problem:find("An error was found while running tests!", 1, true), problem)
end

function tests.disabled_tests_are_skipped()
    local tester, suite = torch.Tester(), torch.TestSuite()
    function suite.brokenTest() error("is not called") end
    local out, ok, code = run(tester:add(suite):disable("brokenTest"))
    equal(out, "Running 1 test\n"
        .. "1/1 brokenTest .......................................................... [SKIP]\n"
        .. "Completed 0 asserts in 1 test with 0 failures and 0 errors and 1 disabled\n")
    equal({ ok, code }, { true, 0 })
    fails("disable: there is no test other", function() tester:disable({ "brokenTest", "other" }) end)
end

local one, two = torch.Tensor({ 1 }), torch.Tensor({ 1, 2 })
local storage = torch.DoubleStorage({ 1, 2 })
local cyclic, other_cyclic = { 1 }, { 1 }
cyclic[2], other_cyclic[2] = cyclic, other_cyclic
local function raise(value) return function() error(value, 0) end end
local function succeed() end

-- The assertion, its arguments, and whether it holds.
local ASSERTIONS = {
    { "assert", { true }, true }, { "assert", { false }, false }, { "assert", { 5 }, true },
    { "assertlt", { 1, 2 }, true }, { "assertlt", { 1, 1 }, false }, { "assertlt", { "a", "b" }, true },
    { "assertgt", { 2, 1 }, true }, { "assertgt", { 1, 1 }, false },
    { "assertle", { 1, 1 }, true }, { "assertle", { 2, 1 }, false },
    { "assertge", { 1, 1 }, true }, { "assertge", { 1, 2 }, false },
    { "asserteq", { "a", "a" }, true }, { "asserteq", { {}, {} }, false }, { "asserteq", { one, one:clone() }, false },
    { "assertne", { 1, 2 }, true }, { "assertne", { 1, 1 }, false }, { "assertne", { one, one:clone() }, true },
    { "assertalmosteq", { 1, 1 + 1e-17 }, true }, { "assertalmosteq", { 1, 2 }, false }, { "assertalmosteq", { 1, 2, 1 }, true },
    { "assertalmosteq", { 1, 3, 1 }, false },
    { "eq", { 1, 1 }, true }, { "eq", { 1, 1.5 }, false }, { "eq", { 1, 1.5, 0.5 }, true }, { "eq", { 1, "1" }, false },
    { "eq", { "a", "a" }, true }, { "eq", { "a", "b" }, false }, { "eq", { nil, nil }, true }, { "eq", { nil, false }, false },
    { "eq", { 0 / 0, 0 / 0 }, false }, { "eq", { true, true }, true }, { "eq", { true, false }, false },
    { "eq", { one, one:clone() }, true }, { "eq", { one, 1 }, false }, { "eq", { one, one:float() }, false },
    { "eq", { two, two:view(1, 2) }, false }, { "eq", { two, storage }, false },
    { "eq", { torch.Tensor(), torch.Tensor() }, true }, { "eq", { torch.Tensor(), one }, false },
    { "eq", { torch.Tensor({ 1, 0 / 0 }), torch.Tensor({ 1, 0 / 0 }) }, false },
    { "eq", { two, two + 1e-10 }, false }, { "eq", { two, two + 1e-10, 1e-9 }, true },
    { "eq", { torch.ByteTensor({ 1, 2 }), torch.ByteTensor({ 2, 1 }), 1 }, true },
    { "eq", { torch.ByteTensor({ 1, 2 }), torch.ByteTensor({ 2, 0 }), 1 }, false },
    { "eq", { torch.IntTensor({ 2 ^ 31 - 1 }), torch.IntTensor({ -2 ^ 31 }), 10 }, false },
    { "eq", { torch.LongTensor({ 2 ^ 53 }), torch.LongTensor({ 2 ^ 53 }):add(1) }, false },
    { "eq", { torch.HalfTensor({ 1, 2 }), torch.HalfTensor({ 1, 2.5 }), 0.5 }, true },
    { "eq", { torch.BoolTensor({ 1, 0 }), torch.BoolTensor({ 1, 1 }) }, false },
    { "eq", { storage, torch.DoubleStorage({ 1, 2 }) }, true }, { "eq", { storage, torch.DoubleStorage({ 1, 2.5 }) }, false },
    { "eq", { storage, torch.DoubleStorage({ 1, 2.5 }), 0.5 }, true }, { "eq", { storage, torch.DoubleStorage({ 1 }) }, false },
    { "eq", { torch.FloatStorage({ 1 }), torch.LongStorage({ 1 }) }, false },
    { "eq", { torch.LongStorage(), torch.LongStorage() }, true },
    { "eq", { 5LL, 5LL }, true }, { "eq", { 5LL, 6LL }, false }, { "eq", { 5LL, 5 }, false },
    { "eq", { ffi.cast("char *", 5), ffi.cast("char *", 5) }, true },
    { "eq", { { 1, { a = one } }, { 1, { a = one:clone() } } }, true }, { "eq", { { 1, { a = one } }, { 1, { a = two } } }, false },
    { "eq", { { { one } }, { { { one } } } }, false }, { "eq", { { 1, 2 }, { 1 } }, false }, { "eq", { { 1 }, { 1, 2 } }, false },
    { "eq", { { false }, { false } }, true }, { "eq", { { 1, x = 2 }, { 1.1, x = 2.1 }, 0.2 }, true }, { "eq", { {}, 5 }, false },
    { "eq", { cyclic, other_cyclic }, true },
    { "ne", { one, two }, true }, { "ne", { one, one:clone() }, false }, { "ne", { 1, "1" }, true }, { "ne", { { 1 }, { 1 } }, false },
    { "assertGeneralEq", { two, two:clone() }, true }, { "assertGeneralNe", { two, two:clone() }, false },
    { "assertTensorEq", { two, two:clone() }, true }, { "assertTensorEq", { two, two:view(2, 1) }, true },
    { "assertTensorEq", { two, one }, false }, { "assertTensorEq", { two, two + 0.25, 0.25 }, true },
    { "assertTensorNe", { two, two + 0.5, 0.25 }, true }, { "assertTensorNe", { two, two:clone() }, false },
    { "assertTensorNe", { one, one:float() }, true },
    { "assertTableEq", { { 1 }, { 1 } }, true }, { "assertTableEq", { { 1 }, { 2 } }, false },
    { "assertTableNe", { { 1 }, { 2 } }, true }, { "assertTableNe", { { 1 }, { 1 } }, false },
    { "assertError", { raise("x") }, true }, { "assertError", { succeed }, false },
    { "assertNoError", { succeed }, true }, { "assertNoError", { raise("x") }, false },
    { "assertErrorMsg", { raise("x"), "x" }, true }, { "assertErrorMsg", { raise("xx"), "x" }, false },
    { "assertErrorMsg", { succeed, "x" }, false },
    { "assertErrorPattern", { raise("an axe"), "a.e$" }, true }, { "assertErrorPattern", { raise("an axe"), "^axe" }, false },
    { "assertErrorPattern", { raise({}), "table" }, true },
    { "assertErrorObj", { raise({ 5 }), function(x) return x[1] == 5 end }, true },
    { "assertErrorObj", { raise({ 5 }), function(x) return x[1] == 6 end }, false },
}

for i, case in ipairs(ASSERTIONS) do
    local name, arguments, holds = unpack(case)

    tests[("assertion %03d: %s"):format(i, name)] = function()
        local tester = torch.Tester()
        local count = math.max(table.maxn(arguments), name:find("eq$") and 2 or 1)
        arguments[count + 1] = "the message"
        equal(tester[name](tester, unpack(arguments, 1, count + 1)), holds)
        equal({ #tester.errors, tester.countasserts }, { holds and 0 or 1, 1 })
        if not holds then check(tester.errors[1]:find("^the message\n"), tester.errors[1]) end
    end
end

-- The assertion, its arguments, and the message of its failure.
local MESSAGES = {
    { "assert", { false }, "BOOL violation: condition=false" },
    { "assertlt", { 10, 9 }, "LT(<) violation: val=10, condition=9" },
    { "assertalmosteq", { 1, 2 }, "ALMOST_EQ(==) violation: val=1, condition=2, tolerance=1e-16" },
    { "eq", { 1, 2, 0.5 }, "EQ(==) violation: 1, expected 2, tolerance=0.5" },
    { "eq", { 1, "1" }, "EQ(==) violation: 1 (number), expected 1 (string)" },
    { "eq", { two, two * 2, 0.5 }, "TensorEQ(==) violation: max diff=2, tolerance=0.5" },
    { "eq", { two, two:float() }, "TensorEQ(==) violation: torch.DoubleTensor, expected torch.FloatTensor" },
    { "eq", { two, two:view(1, 2) }, "TensorEQ(==) violation: size 2, expected 1x2" },
    { "eq", { storage, torch.DoubleStorage({ 4, 2 }) }, "StorageEQ(==) violation: max diff=3, tolerance=0" },
    { "eq", { { 1, { a = { 5 } }, b = 3 }, { 1, { a = { 6 } }, b = 3 } }, "entry 2.a.1: EQ(==) violation: 5, expected 6" },
    -- The entry with the shorter path is reported.
    { "eq", { { { { 1 } }, 2 }, { { { 0 } }, 3 } }, "entry 2: EQ(==) violation: 2, expected 3" },
    { "eq", { { x = 5 }, {} }, "entry x is missing in the second table, 5 in the first" },
    { "eq", { {}, { x = 5 } }, "entry x is missing in the first table, 5 in the second" },
    { "ne", { one, one }, "NE(~=) violation: the contents are equal, tolerance=0" },
    { "assertError", { succeed }, "ERROR violation: err=nil" },
}

for i, case in ipairs(MESSAGES) do
    local name, arguments, message = unpack(case)

    tests[("message %02d: %s"):format(i, name)] = function()
        local tester = torch.Tester()
        equal(tester[name](tester, unpack(arguments)), false)
        equal(tester.errors[1]:match("^[^\n]*"), message)
    end
end

function tests.tolerance_and_message_have_either_order()
    local tester = torch.Tester()
    check(tester:eq(1, 1.5, 0.5, "message") and tester:eq(1, 1.5, "message", 0.5) and tester:eq(1, 1.5, nil, 0.5))
    equal(tester:eq(1, 2, "", 0.5), false)
    equal(tester.errors[1]:match("^[^\n]*"), "EQ(==) violation: 1, expected 2, tolerance=0.5")
end

function tests.wrong_arguments_are_errors()
    local tester = torch.Tester()
    local calls = {
        ["Unexpected arguments"] = { "assert", true, "message", "extra" },
        ["must be a string, got number"] = { "assertlt", 1, 2, 5 },
        ["an assertion accepts one tolerance and one message, got 2"] = { "eq", 1, 1, 1, 2 },
        ["an assertion accepts one tolerance and one message, got b"] = { "eq", 1, 1, "a", "b" },
        ["an assertion accepts one tolerance and one message, got table"] = { "eq", 1, 1, {} },
        ["a tolerance is not negative, got -1"] = { "eq", 1, 1, -1 },
        ["First argument should be a Tensor, got number"] = { "assertTensorEq", 1, one },
        ["Second argument should be a Tensor, got torch.DoubleStorage"] = { "assertTensorNe", one, storage },
        ["First argument should be a Table, got torch.DoubleTensor"] = { "assertTableEq", one, {} },
        ["Second argument should be a Table, got number"] = { "assertTableNe", {}, 5 },
        ["a function or a table of functions expected, got number"] = { "add", 5 },
        ["a name cannot be given"] = { "add", {}, "name" },
        ["Nested sets of tests are not possible: 1"] = { "add", { {} } },
        ["disable: a name or a table of names expected, got number"] = { "disable", 5 },
        ["run: a name or a table of names expected, got number"] = { "run", 5 },
        ["run: there is no test x"] = { "run", "x" },
    }
    for text, call in pairs(calls) do
        fails(text, function() tester[call[1]](tester, unpack(call, 2)) end)
    end
    equal(tester.countasserts, 0)
end

function tests.tests_have_different_names()
    local tester = torch.Tester():add(succeed, "a")
    fails("add: there is already a test a", function() tester:add(succeed, "a") end)
    for _, name in ipairs({ "_setUp", "_tearDown" }) do
        tester:add(succeed, name)
        fails("add: Only one function " .. name .. " is possible", function() tester:add(succeed, name) end)
    end
    equal({ tester.tests.a == succeed, tester.tests._setUp }, { true })
end

function tests.a_suite_has_functions_with_different_names()
    local suite = torch.TestSuite()
    function suite.myTest() return 5 end
    equal(suite.myTest(), 5)
    equal(suite.other, nil)
    fails("Test myTest is already defined.", function() suite.myTest = succeed end)
    fails("Test x must be a function, got table", function() suite.x = {} end)
    fails("Test x must be a function, got number", function() suite.x = 5 end)
    equal(suite.myTest(), 5)
end

-- Returns a tester with tests that pass, fail and raise an error, and the list of the names in the order of the calls.
local function three_tests()
    local tester, calls, suite = torch.Tester(), {}, torch.TestSuite()
    function suite.passes()
        table.insert(calls, "passes")
        tester:eq(1, 1)
        tester:eq(2, 2)
    end
    function suite.fails()
        table.insert(calls, "fails")
        tester:eq(1, 2)
        tester:eq(1, 1)
        tester:eq(1, 3)
    end
    function suite.crashes()
        table.insert(calls, "crashes")
        error("a Lua error")
    end
    return tester:add(suite), calls
end

function tests.run_reports_and_raises()
    local tester, calls = three_tests()
    local out, ok = run(tester)
    equal(ok, false)
    equal(calls, { "crashes", "fails", "passes" })
    equal(tester.countasserts, 5)
    check(out:find("1/3 crashes [.]+ %[ERROR%]\n2/3 fails [.]+ %[FAIL%]\n3/3 passes [.]+ %[PASS%]\n"), out)
    check(out:find("Completed 5 asserts in 3 tests with 1 failure and 1 error\n", 1, true), out)
    check(out:find("crashes\nFunction call failed\n.-tester_test.lua:%d+: a Lua error\nstack traceback:\n"), out)
    local _, count = out:gsub("EQ%(==%) violation", "")
    equal(count, 2)
end

function tests.run_selects_by_name()
    local tester, calls = three_tests()
    local out, ok, code = run(tester, "passes")
    equal({ ok, code, tester.countasserts }, { true, 0, 2 })
    check(out:find("^Running 1 test\n"), out)
    run(tester, { "^f", "pass" })
    equal(calls, { "passes", "fails", "passes" })
    -- A run does not report the failures of the run before.
    equal({ select(2, run(tester, "passes")) }, { true, 0 })
    equal(#tester.errors, 0)
end

function tests.early_abort()
    local tester, calls = three_tests()
    tester:setEarlyAbort(true)
    local out, ok = run(tester)
    equal(ok, false)
    equal(calls, { "crashes" })
    check(out:find("Stopped after the first failure; not all tests have run\nCompleted 0 asserts in 3 tests", 1, true), out)
end

function tests.errors_are_rethrown()
    local tester, calls = three_tests()
    tester:setRethrowErrors(true)
    local _, ok, problem = run(tester, "crashes")
    check(not ok and problem:find("tester_test.lua:%d+: a Lua error$"), problem)
    _, ok, problem = run(tester, "fails")
    check(not ok and problem:find("tester_test.lua:%d+: EQ%(==%) violation: 1, expected 2$"), problem)
    equal(calls, { "crashes", "fails" })
end

function tests.the_summary_has_no_messages()
    local tester = three_tests()
    tester:setSummaryOnly(true)
    local out, ok = run(tester)
    equal(ok, false)
    check(out:find("with 1 failure and 1 error\n$"), out)
end

function tests.functions_before_and_after_each_test()
    local tester, calls = three_tests()
    tester:add(function(name) table.insert(calls, "before " .. name) end, "_setUp")
    tester:add(function(name) table.insert(calls, "after " .. name) end, "_tearDown")
    run(tester, { "crashes", "passes" })
    equal(calls, { "before crashes", "crashes", "after crashes", "before passes", "passes", "after passes" })
end

function tests.an_error_before_a_test()
    local tester, calls = three_tests()
    tester:add(raise("not ready"), "_setUp")
    tester:add(function(name) table.insert(calls, "after " .. name) end, "_tearDown")
    local out, ok = run(tester, "passes")
    equal(ok, false)
    equal(calls, { "after passes" })
    check(out:find("%[ERROR%]\n") and out:find("not ready", 1, true), out)
end

-- Functions that give a warning, by a part of its text.
local WARNINGS = {
    ["should only be used for boolean"] = function(tester) return tester:assert({}) end,
    ["assertne should only be used to compare basic"] = function(tester) return tester:assertne({}, {}) end,
    [":ne compares contents"] = function(tester) return tester:assertne(one, two) end,
    ["but different dimensions"] = function(tester) return tester:assertTensorEq(two, two:view(1, 2)) end,
}

for text, f in pairs(WARNINGS) do
    tests["a_warning: " .. text] = function()
        local tester = torch.Tester()
        tester:add(function() f(tester) end, "abuse")
        local out, ok = run(tester)
        equal(ok, true)
        check(out:find("[PASS]\n" .. (" "):rep(70) .. "[+warning]\n", 1, true), out)
        check(out:find("with 0 failures and 0 errors and 1 warning\n", 1, true), out)
        check(out:find(text, 1, true), out)
    end
end

function tests.plain_tables_of_tests_give_a_warning()
    local tester = torch.Tester()
    local out, ok = run(tester:add({ f = succeed }))
    equal(ok, true)
    check(out:find("use TestSuite rather than plain lua table", 1, true) and out:find("and 1 warning\n", 1, true), out)
end

-- A host that embeds Lua has no interpreter to start.
local interpreter = arg and arg[-1]

tests.a_program_ends_with_a_code = interpreter and function()
    local folder = debug.getinfo(1, "S").source:match("^@(.*[/\\])") .. "../"
    local program = "package.path = [[%s?.lua;]] .. package.path torch = require [[thorn]] tester = torch.Tester()"
        .. " tester:add(function() tester:eq(1, %d) end) tester:run()"
    for result, is_successful in ipairs({ true, false }) do
        local code = os.execute(("%s -e '%s' >/dev/null 2>&1"):format(interpreter, program:format(folder, result)))
        equal(code == 0, is_successful)
    end
end

harness.run(tests)
