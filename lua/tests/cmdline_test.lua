-- torch.CmdLine, after Torch7's page "cmdline". A request for help and a wrong command line end a program. The tests replace `os.exit`.

local harness = require("harness")
local torch = require("thorn")

local equal, check, fails = harness.equal, harness.check, harness.fails
local tests = {}

-- The program of the page.
local function command()
    local cmd = torch.CmdLine()
    cmd:text("Training a simple network")
    cmd:text()
    cmd:text("Options")
    cmd:option("-seed", 123, "initial random seed")
    cmd:option("-booloption", false, "boolean option")
    cmd:option("-stroption", "mystring", "string option")
    return cmd
end

-- Calls `f` and returns what it printed, its message on the error output, and its exit code, nil if it did not end the program.
local function run(f, ...)
    local out, err, code = {}, {}, nil
    local old = { write = io.write, stderr = io.stderr, exit = os.exit, print = print }
    local function collect(...)
        for i = 1, select("#", ...) do out[#out + 1] = tostring((select(i, ...))) end
    end
    io.write = collect
    function _G.print(...)
        local texts = {}
        for i = 1, select("#", ...) do texts[i] = tostring((select(i, ...))) end
        collect(table.concat(texts, "\t"), "\n")
    end
    io.stderr = { write = function(_, ...) err[#err + 1] = table.concat({ ... }) end }
    os.exit = function(exit_code)
        code = exit_code
        error("exit", 0)
    end
    local ok, problem = pcall(f, ...)
    io.write, io.stderr, os.exit, _G.print = old.write, old.stderr, old.exit, old.print
    if not ok and code == nil then error(problem, 0) end
    return table.concat(out), table.concat(err), code
end

-- Returns the values of a command line.
local function parsed(cmd, ...) return cmd:parse({ ... }) end

local function read_and_remove(path)
    local file = assert(io.open(path))
    local text = file:read("*a")
    file:close()
    os.remove(path)
    return text
end

function tests.defaults()
    local params = parsed(command())
    equal({ params.seed, params.booloption, params.stroption }, { 123, false, "mystring" })
    equal(command():default().seed, 123)
end

function tests.options_have_the_type_of_their_default()
    local params = parsed(command(), "-stroption", "5", "-booloption", "-seed", "-4e2")
    equal({ params.seed, params.booloption, params.stroption }, { -400, true, "5" })
    local cmd = torch.CmdLine()
    cmd:option("--cpu", true)
    equal(parsed(cmd).cpu, true)
    equal(parsed(cmd, "--cpu").cpu, false)
end

function tests.arguments_are_the_words_that_are_no_options()
    local cmd = command()
    cmd:argument("-input", "the data")
    cmd:argument("count", nil, "number")
    local params = parsed(cmd, "a.t7", "-seed", "2", "7")
    equal({ params.input, params.count, params.seed }, { "a.t7", 7, 2 })
end

function tests.parse_reads_the_global_arg_by_default()
    local old = rawget(_G, "arg")
    _G.arg = { "-seed", "5" }
    local ok, params = pcall(function() return command():parse() end)
    _G.arg = old
    check(ok)
    equal(params.seed, 5)
end

local WRONG = {
    { "unknown option or argument -sede", "-sede", "5" },
    { "unknown option or argument word", "word" },
    { "option -seed needs a value", "-booloption", "-seed" },
    { "-seed: a number expected, got five", "-seed", "five" },
}

for _, case in ipairs(WRONG) do
    tests["a_wrong_command_line: " .. case[1]] = function()
        local out, err, code = run(parsed, command(), unpack(case, 2))
        equal(err, case[1] .. "\n")
        equal(code, 1)
        check(out:find("initial random seed", 1, true), out)
    end
end

function tests.missing_and_wrong_arguments()
    local cmd = torch.CmdLine()
    cmd:argument("-input")
    cmd:argument("-count", "how many", "number")
    local _, err, code = run(parsed, cmd, "a.t7")
    equal({ err, code }, { "missing argument count\n", 1 })
    _, err, code = run(parsed, cmd, "a.t7", "b")
    equal({ err, code }, { "-count: a number expected, got b\n", 1 })
end

local HELP = [[
Usage: train.lua [options] <input>
Training a simple network

Options
  -seed       initial random seed [123]
  -booloption boolean option [false]
  -stroption  string option [mystring]
  <input>     the data
]]

function tests.help_ends_the_program_with_code_0()
    local cmd = command()
    cmd:argument("-input", "the data")
    for _, word in ipairs({ "-h", "-help", "--help" }) do
        local out, err, code = run(cmd.parse, cmd, { [0] = "train.lua", "-seed", "5", word })
        equal({ out, err, code }, { HELP, "", 0 })
    end
    equal(run(cmd.help, cmd), (HELP:gsub("train.lua ", "")))
end

function tests.string_names_a_run()
    local cmd = command()
    equal(cmd:string("experiment", parsed(cmd), { dir = true }), "experiment")
    local params = parsed(cmd, "-seed", "456", "-stroption", "mycustomstring")
    params.rundir = "x"
    equal(cmd:string("experiment", params, { dir = true }), "experiment,seed=456,stroption=mycustomstring")
    equal(cmd:string("experiment", params, { seed = true }), "experiment,stroption=mycustomstring")
    equal(cmd:string("experiment", params, { booloption = false }), "experiment,booloption=f,seed=456,stroption=mycustomstring")
    equal(cmd:string("e", parsed(cmd, "-booloption")), "e,booloption=t")
end

function tests.string_begins_with_the_arguments_and_has_separators()
    local cmd = torch.CmdLine("_", "-")
    cmd:argument("-zoo")
    cmd:argument("-animal")
    cmd:option("-rate", 0.1)
    equal(cmd:string("run", parsed(cmd, "Basel", "-rate", "0.5", "cat")), "run_zoo-Basel_animal-cat_rate-0.5")
end

function tests.the_log_has_what_print_prints()
    local cmd, path, other_path = command(), os.tmpname(), os.tmpname()
    local out = run(function()
        torch.CmdLine():log(other_path)
        cmd:log(path, parsed(cmd, "-seed", "5"))
        print("a", 1, nil)
        cmd:silent()
        print("only in the log")
        cmd:addTime("zoo", "%%d")
        print("named")
        cmd:addTime(nil, "time")
        print("line")
    end)
    local lines = {}
    for line in read_and_remove(path):gmatch("[^\n]+") do lines[#lines + 1] = line end
    check(lines[1]:find("^%[program started on .+%]$"), lines[1])
    table.remove(lines, 1)
    equal(lines, {
        "[command line arguments]", "booloption\tfalse", "seed\t5", "stroption\tmystring", "[----------------------]",
        "a\t1\tnil", "only in the log", "%d[zoo]: named", "time line",
    })
    check(out:find("seed\t5\nstroption\tmystring\n[----------------------]\na\t1\tnil\n", 1, true) and not out:find("only"), out)
    check(not read_and_remove(other_path):find("seed"))
end

function tests.a_log_may_be_an_open_file()
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    run(function()
        local cmd = torch.CmdLine()
        cmd:silent()
        cmd:log(file)
        cmd:addTime()
        print("text")
    end)
    file:close()
    check(read_and_remove(path):find("\n%d%d%d%d%-%d%d%-%d%d %d%d:%d%d:%d%d text\n$"))
end

function tests.wrong_definitions()
    local cmd = torch.CmdLine()
    fails("bad argument #2 to 'option' (-x needs a default)", function() cmd:option("-x") end)
    fails("bad argument #2 to 'option' (boolean, number or string expected, got table)", function() cmd:option("-x", {}) end)
    fails("bad argument #2 to 'option' (number expected, got string)", function() cmd:option("-x", "a", "help", "number") end)
    fails("bad argument #1 to 'option' (string expected, got number)", function() cmd:option(5, 5) end)
    fails("bad argument #3 to 'argument' (string or number expected, got table)", function() cmd:argument("x", "help", "table") end)
    fails("bad argument #1 to 'text' (string expected, got number)", function() cmd:text(5) end)
    fails("bad argument #2 to 'addTime' (string expected, got number)", function() cmd:addTime("x", 5) end)
    fails("bad argument #1 to 'parse' (table expected, got string)", function() cmd:parse("-x") end)
    fails("log: /no/such/folder/log: No such file or directory", function() cmd:log("/no/such/folder/log") end)
    fails("bad argument #1 to 'log' (string expected, got table)", function() cmd:log({}) end)
end

harness.run(tests)
