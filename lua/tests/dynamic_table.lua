-- The table of expectations, tests/data/expectations.txt: calls a random part of it through the namespace and in C, and compares the
-- results bit for bit. TH_TEST_SEED repeats a run.

local folder = debug.getinfo(1, "S").source:match("^@(.*[/\\])") or "./"
local root = folder .. "../../"
package.path = root .. "c_tests/table/?.lua;" .. package.path

local harness = require("harness")
local ffi = require("ffi")
local library = require("thorn.library")
local thorn = require("thorn.dynamic")
local dtypes = require("thorn.dynamic.dtypes")
local binding = require("thorn.dynamic.binding")
local signatures = require("thorn.dynamic.signatures")

local C, own = library.C, library.own

ffi.cdef("int memcmp(const void *a, const void *b, size_t size);")

-- The share of calls that is tested, in addition to the first two calls of each function.
local SHARE = 0.1

-- Converts a position from 0 to a position from 1. Negative ones count from the end in both.
local function from_zero(value) return value >= 0 and value + 1 or value end

local check = harness.check

local tests = {}

local function tensor_of(block)
    local shape = ffi.new("int64_t[?]", #block.shape, block.shape)
    return own(C.THTensor_newFromData(block.dtype.code, #block.shape, shape, block.data))
end

-- Converts positions from 0 to positions from 1. Negative ones are unchanged.
local function positions_of(tensor)
    local shifted, mask = own(C.THTensor_new()), own(C.THTensor_new())
    library.check(C.THTensor_geValue(mask.handle, tensor.handle, 0))
    library.check(C.THTensor_cadd(shifted.handle, tensor.handle, 1, mask.handle))
    return shifted
end

-- Converts an argument of the table for both callers: in C, and in Lua.
local converters = {}

function converters.tensor(argument, made)
    if argument.kind ~= "tensor" then return nil, nil end
    local tensor = tensor_of(argument.block)
    -- The two callers get separate tensors, because a call may change its tensor.
    local other = tensor_of(argument.block)
    made[#made + 1] = { tensor, other }
    return tensor.handle, other
end

function converters.positions(argument, made)
    local handle, other = converters.tensor(argument, made)
    if handle == nil then return nil, nil end
    made[#made][2] = nil
    local integral = C.THDtype_isIntegral(handle.dtype) ~= 0 and handle.dtype ~= C.TH_BOOL
    return handle, integral and positions_of(other) or other
end

function converters.handles(argument, made, _, kind)
    local list = argument.list or {}
    local array, tensors = ffi.new("THTensor *[?]", #list), {}
    for i, entry in ipairs(list) do
        local handle, tensor = converters.tensor(entry, made)
        array[i - 1], tensors[i] = handle, tensor or false
        local code = handle ~= nil and handle.dtype
        if kind == "optional_inputs" and (code == C.TH_INT64 or code == C.TH_INT32) then tensors[i] = positions_of(tensor) end
    end
    return array, tensors
end

function converters.list(argument, _, length, kind)
    if argument.value == nil then return nil, nil end
    local list = {}
    for i = 1, length do
        local value = tonumber(argument.value[i - 1])
        local counts_from_one = kind:match("dims$") or kind == "entries"
        list[i] = counts_from_one and from_zero(value) or value
    end
    return argument.value, list
end

function converters.number(argument, _, _, kind)
    local value = argument.value
    return value, (kind == "dim" or kind == "entry") and from_zero(value) or value
end

function converters.flag(argument) return argument.value, argument.value ~= 0 end
function converters.dtype(argument) return argument.value, dtypes.with_code(argument.value) or nil end
function converters.code(argument) return argument.value, argument.value end
function converters.text(argument) return argument.value, argument.value end
function converters.handle() return nil, nil end

-- Returns the arguments of a call in C and in Lua, and pairs of tensors; nil if the namespace cannot make the call, because a length is
-- wrong.
local function arguments_of(call, signature)
    local in_c, in_lua, made, results, count = {}, {}, {}, {}, 0
    local length
    for i, argument in ipairs(signature.arguments) do
        local given, of = call.arguments[i], argument.of
        -- The table has no sparse tensors.
        if of.class == "sparse" then return nil end
        if of.class == "length" then
            length = given.value
            if length < 0 or length > 16 then return nil end
            for _, list in ipairs(argument.lists) do list.length = length end
            in_c[i] = length
        elseif of.class == "handle_count" then
            in_c[i] = given.value
        elseif of.role == "result" then
            local start = given.from and tensor_of(given.from) or own(C.THTensor_new())
            local missing = given.kind ~= "result"
            results[#results + 1] = {
                direct = not missing and start or nil, start = given.from and tensor_of(given.from), missing = missing,
                positions = argument.positions or of.positions,
            }
            in_c[i] = not missing and start.handle or nil
        else
            local convert = converters[of.class]
            if not convert then return nil end
            if given.kind == "result" then given = { kind = "tensor", block = given.from } end
            local direct, other = convert(given, made, argument.length, argument.kind)
            if of.class == "list" and other == nil and not argument.optional then other = {} end
            if of.class == "handles" and call.arguments[i + 1].value ~= #other then return nil end
            count = count + 1
            in_c[i], in_lua[count] = direct, other
        end
    end
    return in_c, in_lua, count, made, results
end

-- Returns the bytes of a tensor, its shape and its dtype as one text.
local function image(tensor)
    if tensor.handle.dtype == C.TH_UNDEFINED then return "fresh" end
    local plain = own(C.THTensor_newContiguous(tensor.handle))
    local sizes = {}
    for d = 1, plain.handle.nDimension do sizes[d] = tostring(plain.handle.size[d - 1]) end
    local data, count = C.THTensor_data(plain.handle), C.THTensor_nElement(plain.handle)
    local bytes = data ~= nil and ffi.string(data, count * C.THTensor_elementSize(plain.handle)) or ""
    return ("%d [%s] %s"):format(plain.handle.dtype, table.concat(sizes, "x"), bytes)
end

local function options_of(results)
    local out, any = {}, false
    for r, result in ipairs(results) do
        if result.missing then out[r] = false elseif result.start then out[r] = result.start end
        any = any or out[r] ~= nil
    end
    return any and { out = out } or nil
end

local function same_number(a, b) return a == b or a ~= a and b ~= b end

-- Returns the same arguments, some of them by name.
local function partly_named(signature, in_lua, count, options)
    local given, named = {}, { out = options and options.out }
    local by_position = math.random(0, count)
    for p = 1, count do
        if p <= by_position then given[p] = in_lua[p] else named[signature.parameters[p].name] = in_lua[p] end
    end
    given[by_position + 1] = next(named) and named or nil
    return given, by_position + 1
end

-- True if the operation with this name selects this function for these arguments.
local function is_meant(signature, operation, arguments, count)
    local forms = signatures.forms(operation)
    if not forms[1] then return false end
    local ok, meant = pcall(binding.bind, operation, forms, unpack(arguments, 1, count))
    return ok and meant == signature
end

-- Makes one call in both ways, and raises an error if they differ. Returns true if the namespace can make the call.
local function compare(call)
    local signature = signatures.of(call.name)
    local in_c, in_lua, count, made, results = arguments_of(call, signature)
    if not in_c then return false end
    C.THClearLastError()
    local direct = C[call.name](unpack(in_c, 1, #signature.arguments))
    local failed = C.THGetLastErrorCode() ~= 0
    local options, name = options_of(results), call.name
    in_lua[count + 1] = options
    local arguments, given = in_lua, count + 1
    if math.random(2) == 1 then arguments, given = partly_named(signature, in_lua, count, options) end
    local operation = name:match("^THTensor_(.+)$")
    if math.random(2) == 1 and is_meant(signature, operation, arguments, given) then name = operation end
    local returned = { pcall(thorn[name], unpack(arguments, 1, given)) }
    if failed then
        check(not returned[1], call.text .. ": C fails, and Lua does not")
        return true
    end
    check(returned[1], ("%s: %s"):format(call.text, tostring(returned[2])))
    for r, result in ipairs(results) do
        local got = returned[r + 1]
        if result.direct then
            if result.positions then library.check(C.THTensor_add(result.direct.handle, result.direct.handle, 1)) end
            check(image(result.direct) == image(got), ("%s: result %d differs"):format(call.text, r))
        end
    end
    for _, pair in ipairs(made) do
        if pair[2] then check(image(pair[1]) == image(pair[2]), call.text .. ": an operand differs") end
    end
    if signature.returns == "number" or signature.returns == "accumulated" then
        check(same_number(direct, returned[2]), ("%s: %s, in C %s"):format(call.text, tostring(returned[2]), tostring(direct)))
    elseif signature.returns == "flag" then
        check((direct ~= 0) == returned[2], call.text .. ": the answer differs")
    end
    return true
end

function tests.calls_of_the_table_give_the_same_bits()
    local seed = tonumber(os.getenv("TH_TEST_SEED")) or os.time() % 100000
    math.randomseed(seed)
    local seen, compared, functions = {}, 0, 0
    for _, call in ipairs(require("expectations")(root .. "tests/data/expectations.txt")) do
        local signature = signatures.of(call.name)
        local takes_functions = call.name == "THTensor_apply" or call.name == "THTensor_map" or call.name == "THTensor_map2"
        local times = seen[call.name] or 0
        if signature and not takes_functions and (times < 2 or math.random() < SHARE) then
            local ok, made = pcall(compare, call)
            check(ok, ("TH_TEST_SEED=%d: %s"):format(seed, tostring(made)))
            if made then
                functions = functions + (times == 0 and 1 or 0)
                seen[call.name], compared = times + 1, compared + 1
            end
        end
    end
    check(compared > 1000 and functions > 300, ("only %d calls of %d functions"):format(compared, functions))
end

harness.run(tests)
