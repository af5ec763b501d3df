-- The dynamic API as a namespace: names, arguments, results, positions from 1, errors.

local harness = require("harness")
local ffi = require("ffi")
local library = require("thorn.library")
local thorn = require("thorn.dynamic")
local rows = require("thorn.api")
local excluded = require("thorn.dynamic.excluded")

local C = library.C

local check = harness.check

local tests = {}

-- The elements of a tensor in row-major order.
local function elements(tensor)
    local list = {}
    local plain = library.own(C.THTensor_newTo(tensor.handle, C.TH_FLOAT64))
    plain = library.own(C.THTensor_newContiguous(plain.handle))
    local data = ffi.cast("double *", C.THTensor_data(plain.handle))
    for i = 1, tonumber(C.THTensor_nElement(plain.handle)) do list[i] = data[i - 1] end
    return list
end

local function shape(tensor) return table.concat(thorn.sizes(tensor), "x") end

-- Checks the elements and the shape of a tensor.
local function expect(tensor, sizes, ...)
    local got = table.concat(elements(tensor), " ")
    local want = table.concat({ ... }, " ")
    check(shape(tensor) == sizes and got == want, ("[%s] %s, expected [%s] %s"):format(shape(tensor), got, sizes, want))
end

-- Checks that the call raises an error whose message contains the text.
local function refuses(message, f, ...)
    local ok, text = pcall(f, ...)
    check(not ok, "no error where there should be: " .. message)
    check(tostring(text):find(message, 1, true), ("the error is %q, expected %q"):format(tostring(text), message))
end

function tests.every_function_has_a_name_or_a_reason()
    local count = 0
    for name, signature in pairs(rows.functions) do
        if excluded[name] then
            check(thorn[name] == nil, name .. " has a name though it is excluded")
        else
            check(signature, name .. " is no row, and not excluded")
            local short = name:match("^THTensor_(.+)$")
            check(type(thorn[name]) == "function", name)
            if short then check(type(thorn[short]) == "function", short) end
            local group, inner = name:match("^TH(%u%w*)_(.+)$")
            if group then check(type(thorn[group][inner]) == "function", name) end
            count = count + 1
        end
    end
    check(count > 700, count)
    for name in pairs(excluded) do check(rows.functions[name] ~= nil, name .. " is excluded, but is no function") end
end

function tests.names_have_several_spellings()
    local x = thorn.tensor({ { 1, 2 }, { 3, 4 } })
    check(thorn.indexSelect and thorn.index_select and thorn.THTensor_indexSelect)
    expect(thorn.index_select(x, 2, { 2 }), "2x1", 2, 4)
    expect(thorn.reshape(x, { 4 }), "4", 1, 2, 3, 4)
    expect(thorn.Tensor.add(x, 1), "2x2", 2, 3, 4, 5)
    check(thorn.no_such_function == nil and thorn.NoSuchGroup == nil and thorn[1] == nil)
    check(rawequal(require("thorn").thorn, thorn))
    check(thorn.ALL_DIMS == -2 ^ 31 and thorn.DIV_FLOOR == C.TH_DIV_FLOOR)
end

function tests.numbers_and_tensors_choose_the_form()
    local x = thorn.tensor({ 1, 2, 3 })
    expect(thorn.add(x, 2), "3", 3, 4, 5)
    expect(thorn.add(x, x), "3", 2, 4, 6)
    expect(thorn.add(x, 10, x), "3", 11, 22, 33)
    expect(thorn.pow(x, 2), "3", 1, 4, 9)
    expect(thorn.pow(2, x), "3", 2, 4, 8)
    expect(thorn.where(thorn.gt(x, 1), x, -1), "3", -1, 2, 3)
    expect(thorn.max(x), "", 3)
    local values, places = thorn.max(x, 1)
    expect(values, "", 3)
    expect(places, "", 3)
    expect(thorn.max(x, thorn.tensor({ 2, 2, 2 })), "3", 2, 2, 3)
    expect(thorn.sum(x), "", 6)
    check(thorn.sumall(x) == 6)
end

function tests.results_broadcast_and_promote_as_in_pytorch()
    local column, row = thorn.tensor({ { 1 }, { 2 } }, "int32"), thorn.tensor({ 0.5, 1.5 })
    local r = thorn.add(column, row)
    expect(r, "2x2", 1.5, 2.5, 2.5, 3.5)
    check(thorn.dtype(r) == thorn.float32)
    check(thorn.dtype(thorn.add(column, 1.5)) == thorn.float32 and thorn.dtype(thorn.add(column, 1)) == thorn.int32)
    check(thorn.dtype(thorn.div(column, 2)) == thorn.float32 and thorn.dtype(thorn.gt(column, 1)) == thorn.bool)
end

function tests.dimensions_and_positions_count_from_one()
    local x = thorn.tensor({ { 3, 1, 2 }, { 6, 5, 4 } })
    expect(thorn.sum(x, 1), "3", 9, 6, 6)
    expect(thorn.sum(x, 2), "2", 6, 15)
    expect(thorn.sum(x, -1), "2", 6, 15)
    expect(thorn.select(x, 2, 1), "2", 3, 6)
    expect(thorn.select(x, 2, -1), "2", 2, 4)
    expect(thorn.narrow(x, 2, 2, 2), "2x2", 1, 2, 5, 4)
    expect(thorn.slice(x, 2, 1, 4, 2), "2x2", 3, 2, 6, 4)
    expect(thorn.unsqueeze(thorn.ones(2), 2), "2x1", 1, 1)
    expect(thorn.permute(x, { 2, 1 }), "3x2", 3, 6, 1, 5, 2, 4)
    local sorted, places = thorn.sort(x, 2)
    expect(sorted, "2x3", 1, 2, 3, 4, 5, 6)
    expect(places, "2x3", 2, 3, 1, 3, 2, 1)
    expect(thorn.gather(x, 2, places), "2x3", 1, 2, 3, 4, 5, 6)
    expect(thorn.argmax(x, 2), "2", 1, 1)
    expect(thorn.nonzero(thorn.tensor({ 0, 7, 0, 8 })), "2x1", 2, 4)
    expect(thorn.take(x, { 1, 6 }), "2", 3, 4)
    expect(thorn.unravelIndex(thorn.tensor({ 4 }, "long"), { 2, 3 })[1], "1", 2)
    expect(thorn.index(x, { false, thorn.tensor({ 3, 1 }, "long") }), "2x2", 2, 3, 4, 6)
    expect(thorn.index(x, { thorn.tensor({ true, false }) }), "1x3", 3, 1, 2)
    expect(thorn.oneHot({ 2, 1 }, 3), "2x3", 0, 1, 0, 1, 0, 0)
    check(thorn.size(x, 2) == 3 and thorn.get2d(x, 2, 3) == 4 and thorn.get(x, { 1, 1 }) == 3)
    check(thorn.storageOffset(thorn.select(x, 1, 2)) == 4)
    local p = elements(thorn.randperm(5))
    table.sort(p)
    check(table.concat(p, " ") == "1 2 3 4 5")
end

function tests.positions_that_are_given_stay_as_they_are()
    local places = thorn.tensor({ 1, 2 }, "long")
    thorn.indexSelect(thorn.tensor({ 5, 6 }), 1, places)
    expect(places, "2", 1, 2)
end

function tests.results_may_be_given()
    local x, r, places = thorn.tensor({ 2, 1 }), thorn.tensor({ 0, 0 }), thorn.tensor({ 0, 0 }, "long")
    check(rawequal(thorn.add(x, 1, { out = r }), r))
    expect(r, "2", 3, 2)
    local a, b = thorn.sort(x, { out = { r, places } })
    check(rawequal(a, r) and rawequal(b, places))
    expect(places, "2", 2, 1)
    local values, none = thorn.sort(x, { indices = false })
    expect(values, "2", 1, 2)
    check(none == nil)
    local only = thorn.sort(x, { values = r, indices = false })
    check(rawequal(only, r))
    local double = thorn.add(x, 1, { dtype = "double" })
    check(thorn.dtype(double) == thorn.float64)
    check(thorn.dtype(thorn.zeros(2, { dtype = thorn.int64 })) == thorn.int64)
end

function tests.operations_in_place_end_with_an_underscore()
    local x = thorn.tensor({ 4, 9 })
    check(rawequal(thorn.sqrt_(x), x))
    expect(x, "2", 2, 3)
    thorn.add_(x, 1)
    expect(x, "2", 3, 4)
    thorn.copy_(x, thorn.tensor({ 7, 8 }))
    expect(x, "2", 7, 8)
    thorn.fill_(x, 5)
    expect(x, "2", 5, 5)
    thorn.zero_(x)
    expect(x, "2", 0, 0)
    thorn.uniform_(x, 2, 3)
    for _, value in ipairs(elements(x)) do check(value >= 2 and value < 3) end
    -- An operation that reads no tensor takes its result as the first argument.
    thorn.fill(x, 6)
    expect(x, "2", 6, 6)
    local t = thorn.zeros(3)
    check(rawequal(thorn.indexFill(t, 1, { 2 }, 9), t))
    expect(t, "3", 0, 9, 0)
end

function tests.arguments_have_defaults_and_names()
    local x = thorn.tensor({ { 1, 2 }, { 3, 4 } })
    expect(thorn.arange(3), "3", 0, 1, 2)
    expect(thorn.arange(1, 3), "2", 1, 2)
    expect(thorn.arange(1, 6, 2), "3", 1, 3, 5)
    expect(thorn.sum(x, { dim = { 1, 2 }, keepdim = true }), "1x1", 10)
    expect(thorn.sum(x, { dim = 1 }), "2", 4, 6)
    expect(thorn.sum(x, 1, true), "1x2", 4, 6)
    expect(thorn.sort(x, { descending = true }), "2x2", 2, 1, 4, 3)
    expect(thorn.addmm(x, x, x), "2x2", 8, 12, 18, 26)
    expect(thorn.addmm(x, x, x, { beta = 0 }), "2x2", 7, 10, 15, 22)
    expect(thorn.cat({ x, x }), "4x2", 1, 2, 3, 4, 1, 2, 3, 4)
    expect(thorn.cat(x, x, 2), "2x4", 1, 2, 1, 2, 3, 4, 3, 4)
    expect(thorn.div(x, 2, { mode = "floor" }), "2x2", 0, 1, 1, 2)
    expect(thorn.div(x, x, "trunc"), "2x2", 1, 1, 1, 1)
    expect(thorn.newZeros({ 2 }), "2", 0, 0)
    expect(thorn.newFull("int8", { 2 }, 7), "2", 7, 7)
    expect(thorn.randint(1, { 2 }), "2", 0, 0)
end

function tests.lists_are_tables_or_stand_last()
    local x = thorn.ones(2, 3)
    check(shape(x) == "2x3" and shape(thorn.zeros({ 2, 3 })) == "2x3" and shape(thorn.zeros({})) == "")
    check(shape(thorn.view(x, 3, 2)) == "3x2" and shape(thorn.expand(thorn.ones(1), 4)) == "4")
    local lists = thorn.split(thorn.arange(5), 2)
    check(#lists == 3)
    expect(lists[3], "1", 4)
    check(#thorn.unbind(x, 2) == 3)
    local grids = thorn.meshgrid(thorn.arange(2), thorn.arange(3))
    check(#grids == 2)
    expect(grids[1], "2x3", 0, 0, 0, 1, 1, 1)
    expect(thorn.max_pool2d(thorn.reshape(thorn.arange(16, { dtype = "float" }), 1, 4, 4), 2), "1x2x2", 5, 7, 13, 15)
    local storage = thorn.newSizeOf(x)
    check(shape(thorn.zeros(storage)) == "2x3")
end

function tests.values_become_values_of_lua()
    local x = thorn.tensor({ 1.5, 0 / 0 })
    check(thorn.numel(x) == 2 and thorn.isContiguous(x) == true and thorn.equal(x, x) == false)
    check(thorn.get1d(x, 2) ~= thorn.get1d(x, 2), "NaN is an element, and no failure")
    check(type(thorn.version()) == "string" and thorn.Dtype.name("half") == "float16" and thorn.getBlas() == nil)
    check(thorn.itemLong(thorn.newScalarLong("int64", 2 ^ 53)) == 2LL ^ 53)
    check(thorn.itemLong(thorn.newScalarLong("int64", -1)) == -1)
    check(thorn.data(x)[0] == 1.5 and thorn.toString(thorn.tensor({ 1 })) == "tensor([1.])")
    check(thorn.storageOffset(x) == 1 and thorn.getDefaultDtype() == thorn.float32)
    check(thorn.Memory.stats().live_bytes > 0)
    check(tostring(thorn.int8) == "thorn.int8" and thorn.double == thorn.float64 and thorn.Dtype.promote("uint8", "int8") == thorn.int16)
end

function tests.integers_of_the_ffi_are_numbers()
    local x = thorn.tensor({ { 1, 2, 3 }, { 4, 5, 6 } })
    check(shape(thorn.zeros(2LL, 3ULL)) == "2x3" and shape(thorn.zeros({ 2LL, 3 })) == "2x3")
    expect(thorn.sum(x, 1LL), "3", 5, 7, 9)
    expect(thorn.index_select(x, 2, { 3LL, 1 }), "2x2", 3, 1, 6, 4)
    expect(thorn.add(x, 1LL), "2x3", 2, 3, 4, 5, 6, 7)
    local long = thorn.tensor({ 2LL ^ 53 + 1, -1LL })
    check(thorn.dtype(long) == thorn.int64 and thorn.itemLong(thorn.select(long, 1, 1)) == 2LL ^ 53 + 1)
    check(thorn.dtype(thorn.tensor({ 1LL, 2 })) == thorn.float32 and thorn.tensor(7LL):item() == 7)
    refuses("sum: dimension is out of range: 9223372036854775808ULL", thorn.sum, x, 2ULL ^ 63)
    refuses("zeros: size is out of range: 18446744073709551615ULL", thorn.zeros, -1ULL)
    refuses("sum: dimension is out of range: 4611686018427387904LL", thorn.sum, x, 2LL ^ 62)
    refuses("tensor: an element is above 2^63 - 1", thorn.tensor, { 2ULL ^ 63 })
    refuses("zeros: it takes (size: list of numbers), not (number, string)", thorn.zeros, 2, "3")
end

function tests.names_of_pytorch_work()
    local x, y = thorn.tensor({ { 1, -2 }, { 3, 4 } }), thorn.tensor({ { 0, 5 }, { 3, 1 } })
    expect(thorn.maximum(x, y), "2x2", 1, 5, 3, 4)
    expect(thorn.minimum(x, y), "2x2", 0, -2, 3, 1)
    expect(thorn.concat({ x, y }, 2), "2x4", 1, -2, 0, 5, 3, 4, 3, 1)
    expect(thorn.linear(x, thorn.tensor({ { 1, 10 } }), thorn.tensor({ 0.5 })), "2x1", -18.5, 43.5)
    expect(thorn.linear(x, thorn.tensor({ { 1, 10 } })), "2x1", -19, 43)
    expect(thorn.eye(2), "2x2", 1, 0, 0, 1)
    expect(thorn.eye(1, 2), "1x2", 1, 0)
    expect(x:repeat_(1, 2), "2x4", 1, -2, 1, -2, 3, 4, 3, 4)
    expect(x, "2x2", 1, -2, 3, 4)
    check(thorn.dtype(thorn.eye(2, { dtype = "float64" })) == thorn.float64)
    check(x:ndim() == 2 and x:device() == "cpu" and thorn.is_tensor(x) and not thorn.is_tensor({}) and thorn.equal(x:to("cpu"), x))
    harness.equal({ x:shape(), x:tolist(), thorn.sum(x):tolist() }, { { 2, 2 }, { { 1, -2 }, { 3, 4 } }, 6 })
    check(thorn.dtype(x:to("float16")) == thorn.float16 and thorn.dtype(x:to(thorn.int8)) == thorn.int8)
    refuses("to: ", x.to, x, "gpu")
    -- log(1 + e^0) = log 2, and -log 0.25 = 2 log 2.
    local zero = thorn.zeros(1)
    check(math.abs(thorn.binary_cross_entropy_with_logits(zero, zero):item() - math.log(2)) < 1e-6)
    check(math.abs(thorn.binary_cross_entropy(thorn.tensor({ 0.25 }), thorn.ones(1)):item() - 2 * math.log(2)) < 1e-6)
end

function tests.new_tensors_are_leaves()
    for _, t in ipairs({
        thorn.ones(2, { requires_grad = true }), thorn.randn({ 2 }, { requires_grad = true, dtype = "float64" }),
        thorn.tensor({ 1, 2 }, { requires_grad = true }), thorn.zeros(2):requires_grad_(), thorn.eye(2, { requires_grad = true }),
    }) do
        check(t:requiresGrad() and t:isLeaf())
        check(not t:requires_grad_(false):requiresGrad())
    end
    check(not thorn.ones(2, { requires_grad = false }):requiresGrad() and not thorn.tensor({ 1 }, { requires_grad = false }):requiresGrad())
    refuses("requiresGrad = boolean", thorn.add, thorn.ones(2), 1, { requires_grad = true })
    refuses("device = string", thorn.zeros, 2, 3, { device = "cuda" })
end

function tests.errors_name_the_function_as_it_was_called()
    local x = thorn.ones(2, 3)
    refuses("sum: dimension 5 out of range", thorn.sum, x, 5)
    refuses("sum: dimension is 0, but counts from 1", thorn.sum, x, 0)
    refuses("index_select: index has a position 0", thorn.index_select, x, 1, { 0 })
    refuses("index_select: index 9 at position 2 is out of range", thorn.index_select, x, 2, { 1, 9 })
    refuses("select: index 7 out of range for size 3 of dimension 2", thorn.select, x, 2, 7)
    refuses("add: it takes (t: tensor, value: number) or", thorn.add, x, "two")
    refuses("out = number", thorn.add, x, 1, { out = 5 })
    refuses("out = table", thorn.add, x, 1, { out = { x, x } })
    refuses("out = table", thorn.add, x, 1, { out = { 5 } })
    refuses("keepdims = boolean", thorn.sum, x, { keepdims = true })
    refuses("zeros: dtype names no dtype: \"flaot32\"", thorn.zeros, 2, { dtype = "flaot32" })
    local scores = thorn.randn(2, 3)
    refuses("cross_entropy: target 4 at position 1 is none of 3 classes", thorn.cross_entropy, scores, thorn.tensor({ 4, 1 }, "int64"))
    refuses("zeros: size must be a whole number", thorn.zeros, 2.5)
    refuses("narrow: size is out of range", thorn.narrow, x, 1, 1, 2 ^ 63)
    refuses("Archive.open: ", thorn.Archive.open, "/no/such/file")
    refuses("Fused: ", thorn.Fused, "a+")
    refuses("div: mode has no value \"nonsense\"", thorn.div, x, x, "nonsense")
    refuses("THTensor_mm: ", thorn.THTensor_mm, x, x)
    refuses("einsum: equation has a zero byte", thorn.einsum, "ij\0", { x })
    refuses("add: ", thorn.add)
    refuses("add_: ", thorn.add_, 1, 2)
    refuses("lists of 1 and 2 numbers should be of one length", thorn.roll, x, { 1 }, { 1, 2 })
end

-- Each call is on a separate line, and the error must name the line.
function tests.errors_are_raised_at_the_callers_line()
    local x = thorn.ones(2)
    local source = debug.getinfo(1, "S").short_src
    local calls = {
        function() return debug.getinfo(1, "l").currentline, thorn.mm(x, x) end,
        function() return debug.getinfo(1, "l").currentline, thorn.sum(x, 7) end,
        function() return debug.getinfo(1, "l").currentline, thorn.add(x, {}) end,
        function() return debug.getinfo(1, "l").currentline, thorn.Archive.open("/no/such/file") end,
        function() return debug.getinfo(1, "l").currentline, thorn.add_(x, "") end,
        function() return debug.getinfo(1, "l").currentline, thorn.tensor({ {}, 1 }) end,
    }
    for _, call in ipairs(calls) do
        local ok, text = pcall(call)
        local line = debug.getinfo(call, "S").linedefined
        local place = ("%s:%d: "):format(source, line)
        check(not ok and text:sub(1, #place) == place, tostring(text))
    end
end

function tests.a_failed_call_changes_nothing()
    local x, r = thorn.ones(2, 3), thorn.tensor({ 1, 2 })
    refuses("mm", thorn.mm, x, x, { out = r })
    expect(r, "2", 1, 2)
end

function tests.functions_of_lua_are_called_for_each_element()
    local x, y = thorn.tensor({ { 1, 2 }, { 3, 4 } }), thorn.tensor({ 10, 20 })
    expect(thorn.apply(thorn.t(x), function(value) return value > 2 and 0 or nil end), "2x2", 1, 0, 2, 0)
    expect(x, "2x2", 1, 2, 0, 0)
    expect(thorn.map(x, y, function(a, b) return a + b end), "2x2", 11, 22, 10, 20)
    expect(thorn.map2(x, y, x, function(a, b, c) return a + b + c end), "2x2", 32, 64, 30, 60)
    local marker = {}
    local ok, raised = pcall(thorn.apply, x, function() error(marker) end)
    check(not ok and raised == marker)
    local half = thorn.tensor({ 1, 2 }, "half")
    expect(thorn.apply(half, function(value) return 2 * value end), "2", 2, 4)
    refuses("map: ", thorn.map, x, thorn.ones(3), function() end)
    refuses("apply: the function returned a string", thorn.apply, x, function() return "a" end)
    refuses("apply: a function is expected", thorn.apply, x)
    expect(thorn.apply(thorn.zeros(0), error), "0")
    expect(thorn.apply(thorn.tensor(3), function(value) return value + 1 end), "", 4)
    local shrunk = thorn.zeros(1000)
    refuses("apply: the function has changed the tensor", thorn.apply, shrunk, function()
        thorn.Storage.resize(thorn.storage(shrunk), 0)
        return 1
    end)
    -- Elements are visited in row-major order. An element with several positions is visited several times.
    local seen = {}
    thorn.apply(thorn.expand(thorn.tensor({ 1 }), 3), function(value)
        seen[#seen + 1] = value
        return value * 2
    end)
    check(table.concat(seen, " ") == "1 2 4")
end

-- The first program of docs/lua_dynamic.md.
function tests.the_program_of_the_documentation_runs()
    local root = (debug.getinfo(1, "S").source:match("^@(.*[/\\])") or "./") .. "../../"
    local file = io.open(root .. "docs/lua_dynamic.md")
    local program = file:read("*a"):match("```lua\n(.-)```")
    file:close()
    local printed = {}
    local environment = setmetatable({
        print = function(...) printed[#printed + 1] = table.concat({ tostring((...)), select("#", ...) }, " ") end,
    }, { __index = _G })
    program = program:gsub('"examples/', function() return ("%q"):format(root .. "examples/"):sub(1, -2) end)
    local chunk = assert(loadstring(program .. "\nreturn values, places, mean, column, image, y"))
    local values, places, mean, column, image, y = setfenv(chunk, environment)()
    expect(values, "2x2", 4, 2, 5, 3)
    expect(places, "2x2", 1, 2, 2, 1)
    expect(mean, "1x1", 3.5)
    expect(column, "2x1", 2, 5)
    expect(y, "2x2", 8, 4, 6, 10)
    check(shape(image) == "1x4x4x4" and #printed == 10 and printed[1]:find("tensor(", 1, true))
end

function tests.tensors_are_made_of_tables()
    expect(thorn.tensor({ { 1, 2 }, { 3, 4 } }), "2x2", 1, 2, 3, 4)
    expect(thorn.tensor(5), "", 5)
    expect(thorn.tensor({}), "0")
    check(thorn.dtype(thorn.tensor({ true, false })) == thorn.bool)
    check(thorn.dtype(thorn.tensor({ 1 }, "long")) == thorn.int64)
    check(thorn.dtype(thorn.tensor({ 1 }, { dtype = thorn.int8 })) == thorn.int8)
    refuses("tensor: the lists in a list differ in length", thorn.tensor, { { 1, 2 }, { 3 } })
    refuses("tensor: an element is a string", thorn.tensor, { "a" })
end

-- Without the name of a triangle, every function reads the lower triangle, so that functions accept the factors of each other.
function tests.triangles_are_lower_ones_by_default()
    local function doubles(list) return thorn.tensor(list, "float64") end
    local whole, a, b = doubles({ { 4, 2 }, { 2, 3 } }), doubles({ { 4, 0 / 0 }, { 2, 3 } }), doubles({ { 2 }, { 1 } })
    for _, name in ipairs({ "cholesky", "potrf" }) do
        local l = thorn[name](a)
        harness.near(thorn.mm(l, thorn.transpose(l, 1, 2)), whole, 1e-14)
        harness.near(thorn.potrs(b, l), { { 0.5 }, { 0 } }, 1e-14)
        harness.near(thorn.potri(l), { { 0.375, -0.25 }, { -0.25, 0.5 } }, 1e-14)
        harness.near(thorn.mm(l, (thorn.trtrs(b, l))), b, 1e-14)
        harness.near(thorn.mm(l, thorn.STensor.trtrs(b, thorn.STensor.fromDense(l))), b, 1e-14)
    end
    local factor = thorn.pstrf(a)
    harness.near(thorn.mm(factor, thorn.transpose(factor, 1, 2)), whole, 1e-14)
    harness.near((thorn.symeig(a)), { (7 - math.sqrt(17)) / 2, (7 + math.sqrt(17)) / 2 }, 1e-14)
    harness.near((thorn.syev(a)), { (7 - math.sqrt(17)) / 2, (7 + math.sqrt(17)) / 2 }, 1e-14)
end

harness.run(tests)
