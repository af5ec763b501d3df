-- A caller is a Lua function that calls one function of the library. Its source is generated from the signature and compiled.
--
-- A caller takes the parameters in order, then the results in order, then a dtype. nil for a parameter means its default. For a result, nil
-- means a new tensor, with the dtype if there is one; a tensor is written to; false omits the result. The caller returns the results, or
-- the returned value. The arguments are already checked; a caller converts them.

local ffi = require("ffi")
local errors = require("thorn.errors")
local library = require("thorn.library")
local origin = require("thorn.origin")
local borrowed = require("thorn.dynamic.borrowed")
local callbacks = require("thorn.dynamic.callbacks")
local handles = require("thorn.dynamic.handles")
local positions = require("thorn.dynamic.positions")
local returned = require("thorn.dynamic.returned")

local C = library.C

local caller = {}

-- The functions that generated sources may name.
local tools = {
    C = C, new = ffi.new, to_one = positions.to_one, one_based = positions.one_based, fail = library.fail, own = origin.own,
    lend = borrowed.keep, progress = callbacks.progress, take_back = callbacks.take_back,
}

-- Returns a new result, optionally with a dtype.
function tools.fresh(dtype, name)
    if dtype then return origin.own(C.THTensor_newWithDtype(dtype.code), name) end
    return origin.own(C.THTensor_new(), name)
end
local fresh = tools.fresh

-- Returns a new sparse result.
function tools.fresh_sparse(name) return handles.own_sparse(C.THSTensor_new(), name) end

-- Returns as many results as there are operands, and the array of their pointers. Missing results are new.
function tools.fresh_list(given, count, dtype, name)
    local list, array = given or {}, ffi.new("THTensor *[?]", count)
    for i = 1, count do
        list[i] = list[i] or fresh(dtype, name)
        array[i - 1] = list[i].handle
    end
    return list, array
end

-- Returns the tensors of an array of new references; nil for NULL.
function tools.own_list(array, count, is_positions, name)
    local list = {}
    for i = 1, count do
        if array[i - 1] ~= nil then list[i] = origin.own(array[i - 1], name) end
    end
    for i = 1, is_positions and count or 0 do list[i] = positions.to_one(list[i], name) end
    return list
end

-- Returns the common length of lists, some of which may be missing, or `missing` if all are.
function tools.length(name, missing, ...)
    local count
    for i = 1, select("#", ...) do
        local length = select(i, ...)
        if length and count and length ~= count then
            errors.raise(("%s: lists of %d and %d numbers should be of one length"):format(name, count, length))
        end
        count = count or length or nil
    end
    return count or missing
end

-- Does nothing. A call keeps its argument alive until then.
function tools.keep() end

local function value_of(default, argument)
    if default == nil then return "nil" end
    if argument.of.class == "text" then return ("%q"):format(default) end
    if argument.of.class == "list" then return "nil" end
    return tonumber(default) and tostring(default) or tostring(tonumber(C[default]))
end

-- Returns the name of the parameter with a progress function, which may be a Lua function; nil if there is none.
local function progress_of(signature)
    for p, argument in ipairs(signature.parameters) do
        if argument.kind == "progress" then return "v" .. p, "lent" .. p end
    end
end

-- Returns the line that converts parameter `p`, if necessary, and the C expression of its value.
local function conversion(argument, p)
    local class, v, c = argument.of.class, "v" .. p, "c" .. p
    if class == "tensor" or class == "sparse" or class == "handle" then
        return nil, argument.optional and ("(%s and %s.handle or nil)"):format(v, v) or v .. ".handle"
    elseif class == "positions" then
        return ("if %s then %s = give%d(%s, a%d, name) end"):format(v, v, p, v, p), ("(%s and %s.handle or nil)"):format(v, v)
    elseif class == "progress" then
        return ("local %s, lent%d = %s if type(%s) == 'function' then %s, lent%d = progress(%s) end"):format(c, p, v, v, c, p, v), c
    elseif class == "list" or class == "handles" then
        return ("local %s, n%d, k%d if %s ~= nil then %s, n%d, k%d = give%d(%s, a%d, name, dimensions) end")
            :format(c, p, p, v, c, p, p, p, v, p), c
    elseif class == "number" and argument.of.what == "a number" and argument.default == nil then
        return nil, v
    end
    local default = value_of(argument.default, argument)
    if argument.kind == "dtype" then default = "C.THGetDefaultDtype()" end
    if argument.kind == "optional_dtype" then default = "C.TH_UNDEFINED" end
    return ("local %s = %s if %s ~= nil then %s = give%d(%s, a%d, name) end"):format(c, default, v, c, p, v, p), c
end

local function append(list, ...) list[#list + 1] = string.format(...) end

-- Adds the line that makes result `r`. Returns the expressions of its value in C and in Lua.
local function result(lines, argument, r, counts)
    local class = argument.of.class
    if class == "tensor" then
        append(lines, "local o%d = r%d if o%d == nil then o%d = fresh(dtype, name) end", r, r, r, r)
        return argument.optional and ("(o%d and o%d.handle or nil)"):format(r, r) or ("o%d.handle"):format(r), ("(o%d or nil)"):format(r)
    elseif class == "sparse" then
        append(lines, "local o%d = r%d if o%d == nil then o%d = fresh_sparse(name) end", r, r, r, r)
        return ("o%d.handle"):format(r), "o" .. r
    elseif class == "struct" then
        append(lines, "local o%d = new(%q)", r, (argument.type:gsub("%s*%*$", "")))
        return "o" .. r, "o" .. r
    elseif class == "out_handles" then
        append(lines, "local o%d, h%d = fresh_list(r%d, %s, dtype, name)", r, r, r, counts[argument.like])
        return "h" .. r, "o" .. r
    end
    return "room", nil
end

-- Adds the two calls of a function that returns a list of handles: the first call returns their number.
local function listing(lines, signature, arguments)
    local call = ("C.%s(%s)"):format(signature.name, table.concat(arguments, ", "))
    append(lines, "local room, count = nil, new('int[1]')")
    append(lines, "if %s ~= 0 then fail(name) end", call)
    append(lines, "room = new('THTensor *[?]', count[0])")
    append(lines, "if %s ~= 0 then fail(name) end", call)
    append(lines, "return own_list(room, count[0], %s, name)", tostring(signature.results[1].positions))
end

-- Returns the name of the parameter with memory that the returned handle continues to read, and the name of its deleter; nil if there is
-- none.
local function lent_by(signature)
    local memory, deleter = nil, "nil"
    for p, argument in ipairs(signature.parameters) do
        local is_read = argument.kind == "memory_input" and signature.returns == "new_archive"
        if argument.kind == "memory" or is_read then memory = "v" .. p end
        if argument.kind == "deleter" then deleter = "v" .. p end
    end
    return memory, deleter
end

-- Functions that return the sizes of an entry of a handle, and the functions that return the number of these sizes.
local ranks = {
    THArchive_sizes = "THArchive_ndim",
    THProgram_inputMinSizes = "THProgram_inputNdim", THProgram_inputMaxSizes = "THProgram_inputNdim",
    THProgram_outputMinSizes = "THProgram_outputNdim", THProgram_outputMaxSizes = "THProgram_outputNdim",
}

local function renumbering(lines, signature)
    for r, argument in ipairs(signature.results) do
        if argument.positions or argument.of.positions then append(lines, "o%d = to_one(o%d, name, r%d ~= nil)", r, r, r) end
    end
end

local function returning(lines, signature, arguments, values)
    local call = ("C.%s(%s)"):format(signature.name, table.concat(arguments, ", "))
    local _, context = progress_of(signature)
    if context and signature.returns == "status" then
        append(lines, "local status = %s if %s then take_back(%s) end", call, context, context)
        call = "status"
    end
    if signature.returns == "status" then
        append(lines, "if %s ~= 0 then fail(name) end", call)
        renumbering(lines, signature)
        if #values == 0 then
            -- A function without results returns the tensor that it has changed.
            local first = signature.parameters[1]
            if first and (first.kind == "inout" or first.kind == "handle" or first.kind == "emptied" or first.kind == "sparse_inout") then values[1] = "v1" end
        end
        append(lines, "return %s", table.concat(values, ", "))
    elseif signature.returns == "nothing" then
        append(lines, "%s", call)
    else
        append(lines, "C.THClearLastError()")
        append(lines, "local value = %s", call)
        if values[1] then
            -- The returned value is returned after the results.
            if context then append(lines, "if %s then take_back(%s) end if value == -1 then fail(name) end", context, context) end
            append(lines, "value = convert(value, name)")
            renumbering(lines, signature)
            append(lines, "return %s, value", table.concat(values, ", "))
            return
        end
        if signature.returns == "new" and signature.returns_positions then
            append(lines, "return one_based(own(value, name), name)")
        elseif ranks[signature.name] then
            append(lines, "return convert(value, name, v1, tonumber(C.%s(v1.handle, c2)))", ranks[signature.name])
        elseif lent_by(signature) then
            append(lines, "return lend(convert(value, name, v1), %s, %s)", lent_by(signature))
        else
            append(lines, "return convert(value, name, v1)")
        end
    end
end

local function source_of(signature)
    local lines, expressions, counts, parameters, values, held = {}, {}, {}, {}, {}, {}
    for p, argument in ipairs(signature.parameters) do
        parameters[p] = "v" .. p
        local line, expression = conversion(argument, p)
        if line then append(lines, "%s", line) end
        expressions[argument], counts[argument] = expression, "n" .. p
        if argument.of.class == "handles" then held[#held + 1] = "k" .. p end
        local _, context = progress_of(signature)
        if context and argument.kind == "context" then expressions[argument] = ("(%s or %s)"):format(context, expression) end
    end
    for _, argument in ipairs(signature.arguments) do
        if argument.lists then
            local lengths = {}
            for i, list in ipairs(argument.lists) do lengths[i] = counts[list] end
            local missing = argument.kind == "len_or_whole" and -1 or signature.dimensions or 0
            expressions[argument] = ("length(name, %d, %s)"):format(missing, table.concat(lengths, ", "))
        elseif argument.of.class == "count_inout" then
            expressions[argument] = "count"
        end
    end
    for r, argument in ipairs(signature.results) do
        parameters[#parameters + 1] = "r" .. r
        local expression, value = result(lines, argument, r, counts)
        expressions[argument], values[#values + 1] = expression, value
    end
    local arguments = {}
    for i, argument in ipairs(signature.arguments) do arguments[i] = expressions[argument] end
    if signature.results[1] and signature.results[1].of.class == "new_handles" then
        listing(lines, signature, arguments)
    else
        returning(lines, signature, arguments, values)
    end
    -- Keeps the tensors in the array alive until the call has returned.
    if held[1] then
        local last = table.remove(lines)
        append(lines, "keep(%s)", table.concat(held, ", "))
        append(lines, "%s", last)
    end
    parameters[#parameters + 1] = "dtype"
    return ("return function(%s)\n  %s\nend"):format(table.concat(parameters, ", "), table.concat(lines, "\n  "))
end

local folder = debug.getinfo(1, "S").source:match("^(.*[/\\])") or ""

--- Compiles `source`, in which the keys of `values` are names. Errors treat the code as a part of this package when they look for the
--- caller.
function caller.compile(source, title, values)
    local chunk = assert(loadstring(source, folder .. "compiled/" .. title))
    return setfenv(chunk, setmetatable(values, { __index = _G }))()
end

--- Returns the caller of a function of the library. Its errors begin with `name`.
function caller.of(signature, name)
    local values, heads = { name = name, convert = returned[signature.returns], dimensions = signature.dimensions }, {}
    if signature.returns_positions then values.convert = returned.position end
    -- Without a driver the number of GPUs is 0.
    if signature.name == "THCuda_deviceCount" then values.convert = returned.plain_int end
    for p, argument in ipairs(signature.parameters) do
        values["a" .. p], values["give" .. p] = argument, argument.of.give
    end
    for tool, value in pairs(tools) do values[tool] = value end
    local calls_back = callbacks.callers[signature.name] or progress_of(signature) ~= nil
    if calls_back then values.fail = callbacks.fail end
    for value in pairs(values) do heads[#heads + 1] = value end
    table.sort(heads)
    local source = ("local %s = %s\n%s"):format(table.concat(heads, ", "), table.concat(heads, ", "), source_of(signature))
    local call = caller.compile(source, name, values)
    if calls_back then jit.off(call) end
    return call
end

return caller
