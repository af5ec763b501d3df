-- The functions of Torch7's page "utility", and those that read files of Lua.

local harness = require("harness")
local ffi = require("ffi")
local torch = require("thorn")

local equal, check, fails = harness.equal, harness.check, harness.fails
local tests, zoo = {}, {}

local Cat = torch.class("test.utility.Cat", zoo)
function Cat:__tostring__() return "a cat" end

-- Calls `f` with the path of a new folder, which is removed afterwards with the files of `texts` by name.
local function with_folder(texts, f)
    local folder = os.tmpname()
    os.remove(folder)
    check(os.execute("mkdir '" .. folder .. "'") == 0)
    for name, text in pairs(texts) do
        local file = assert(io.open(folder .. "/" .. name, "w"))
        file:write(text)
        file:close()
    end
    local ok, problem = pcall(f, folder)
    for name in pairs(texts) do os.remove(folder .. "/" .. name) end
    os.remove(folder)
    if not ok then error(problem, 0) end
end

function tests.isequal_compares_addresses()
    local t, table_, cat = torch.ones(2), {}, zoo.Cat()
    equal(torch.isequal(t, t), true)
    equal(torch.isequal(t, t:clone()), false)
    equal(torch.isequal(t:storage(), t:storage()), true)
    equal(torch.isequal(t:storage(), torch.DoubleStorage(2)), false)
    equal(torch.isequal(t, t:storage()), false)
    equal(torch.isequal(table_, table_), true)
    equal(torch.isequal({}, {}), false)
    equal(torch.isequal(cat, cat), true)
    equal(torch.isequal(cat, zoo.Cat()), false)
    equal(torch.isequal(torch._gen, torch._gen), true)
    equal(torch.isequal(1, 1), false)
    equal(torch.isequal("a", "a"), false)
    equal(torch.isequal(nil, nil), false)
end

function tests.version_is_a_field_of_the_class()
    equal(torch.version(zoo.Cat()), 1)
    Cat.__version = 3
    equal(torch.version(zoo.Cat()), 3)
    equal(torch.version(torch.Tensor()), 1)
    equal(torch.version(torch.LongStorage()), 1)
    equal(torch.version(torch.Timer()), 1)
    equal(torch.version({}), nil)
    equal(torch.version(5), nil)
    equal(torch.version("text"), nil)
    equal(torch.version(), nil)
end

function tests.ids_are_those_of_classes()
    equal(torch.id(torch.Tensor()), torch.typename2id("torch.DoubleTensor"))
    equal(torch.id(torch.ones(3)), torch.id(torch.Tensor()))
    check(torch.id(torch.FloatTensor()) ~= torch.id(torch.Tensor()))
    equal(torch.id(zoo.Cat()), torch.typename2id("test.utility.Cat"))
    equal(torch.typename2id("no such class"), nil)
    equal(torch.id({}), nil)
end

function tests.pointers_are_addresses()
    local t, cat = torch.ones(2), zoo.Cat()
    equal(torch.pointer(t), torch.pointer(t))
    check(torch.pointer(t) ~= torch.pointer(t:clone()))
    equal(torch.pointer(cat), torch.pointer(cat))
    check(torch.pointer(cat) ~= torch.pointer(zoo.Cat()) and torch.pointer(cat) > 0)
    check(torch.pointer(print) > 0 and torch.pointer(coroutine.create(print)) > 0 and torch.pointer("text") > 0)
    equal(torch.pointer(t:data()), tonumber(ffi.cast("intptr_t", t:data())))
    equal(torch.pointer(ffi.cast("char *", 4096)), 4096)
    fails("bad argument #1 to 'pointer' (an object expected, got number)", torch.pointer, 5)
    fails("bad argument #1 to 'pointer' (an object expected, got boolean)", torch.pointer, true)
    fails("bad argument #1 to 'pointer' (an object expected, got nil)", torch.pointer)
end

function tests.environments_of_functions_and_objects()
    local function f() return value_of_the_environment end
    equal(torch.getenv(f) == _G, true)
    torch.setenv(f, { value_of_the_environment = 5 })
    equal(f(), 5)
    equal(torch.getenv(f).value_of_the_environment, 5)
    local t, own = torch.ones(2), {}
    torch.setenv(t, own)
    check(torch.getenv(t) == own)
    check(torch.getenv(t:clone()) ~= own)
    check(type(torch.getenv(io.stdout)) == "table")
    fails("bad argument #1 to 'getenv' (function or object of Torch7 expected, got number)", torch.getenv, 5)
    fails("bad argument #1 to 'setenv'", torch.setenv, {}, {})
    fails("bad argument #2 to 'setenv' (table expected, got number)", torch.setenv, f, 5)
end

function tests.isatty_of_files()
    local file = io.tmpfile()
    equal(torch.isatty(file), false)
    file:close()
    fails("bad argument #1 to 'isatty' (open file expected, got closed file)", torch.isatty, file)
    fails("bad argument #1 to 'isatty' (open file expected, got string)", torch.isatty, "stdout")
    fails("bad argument #1 to 'isatty'", torch.isatty)
    -- /dev/ptmx is a terminal by definition; a container may lack it.
    local terminal = io.open("/dev/ptmx", "r+")
    if terminal then
        equal(torch.isatty(terminal), true)
        terminal:close()
    end
end

function tests.packages_are_found_on_the_path()
    local old = package.path
    with_folder({ ["walrus.lua"] = "" }, function(folder)
        package.path = "/nowhere/?.lua;" .. folder .. "/?.lua"
        local found, missing, without_torch = torch.packageLuaPath("walrus"), torch.packageLuaPath("no%such.?"), torch.packageLuaPath()
        package.path = old
        equal(found, folder)
        equal(missing, nil)
        equal(without_torch, nil)
    end)
    local own = torch.packageLuaPath("thorn")
    check(io.open(own .. "/thorn.lua")):close()
    equal(torch.packageLuaPath(), own)
    fails("bad argument #1 to 'packageLuaPath' (string expected, got table)", torch.packageLuaPath, {})
end

function tests.include_runs_files_beside_the_caller()
    local texts = {
        ["outer.lua"] = "included = { 'outer' } local torch = require('thorn') torch.include('inner.lua')",
        ["inner.lua"] = "table.insert(included, 'inner')",
        ["helper.lua"] = "local torch = require('thorn') return function(name) torch.include(name, 1) return true end",
        ["broken.lua"] = "return +",
    }
    local old = package.path
    with_folder(texts, function(folder)
        torch.include(folder .. "/outer.lua")
        equal(_G.included, { "outer", "inner" })
        local caller = loadstring("local include = ... local r = include('inner.lua') return r", "@" .. folder .. "/program.lua")
        check(caller(dofile(folder .. "/helper.lua")))
        equal(_G.included, { "outer", "inner", "inner" })
        package.path = folder .. "/?.lua"
        local ok = pcall(torch.include, "outer", "inner.lua")
        package.path = old
        check(ok)
        equal(#_G.included, 4)
        fails("include: " .. folder .. "/broken.lua:1:", function() torch.include(folder .. "/broken.lua") end)
        fails("include: cannot open " .. folder .. "/missing.lua", function() torch.include(folder .. "/missing.lua") end)
    end)
    _G.included = nil
    fails("bad argument #1 to 'include' (there is no package walrus on package.path)", torch.include, "walrus", "x.lua")
    fails("bad argument #1 to 'include' (string expected, got no value)", torch.include)
end

function tests.the_default_generator_has_a_name()
    torch.manualSeed(torch._gen, 7)
    local expected = torch.uniform()
    torch.manualSeed(7)
    equal(torch.uniform(torch._gen), expected)
    equal(torch.type(torch._gen), "torch.Generator")
end

function tests.timers_are_objects_of_a_class()
    local timer = torch.Timer()
    equal(torch.isTypeOf(timer, "torch.Timer"), true)
    check(timer:stop():time().real >= 0)
    local before = timer:time().real
    torch.ones(1000):sum()
    equal(timer:time().real, before)
    equal(timer:reset():time().real, 0)
    check(timer:resume() == timer and timer.new():time().user >= 0)
end

harness.run(tests)
