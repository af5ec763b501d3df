-- The binding of a call: chooses the C function that fits the arguments, and assigns each argument to its parameter.
--
-- Arguments are given by position, by name in a final table, or both. Each positional argument is assigned to the next parameter that
-- accepts such a value. Parameters with a default may be omitted. If several forms fit all arguments, the first one is called.

local ffi = require("ffi")
local errors = require("thorn.errors")
local library = require("thorn.library")
local dtypes = require("thorn.dynamic.dtypes")
local handles = require("thorn.dynamic.handles")
local integers = require("thorn.integers")
local signatures = require("thorn.dynamic.signatures")

local binding = {}

local function is_tensor(value) return ffi.istype(library.Tensor, value) end

-- Returns true for a last argument that is a table of named options.
local function is_options(value)
    return type(value) == "table" and getmetatable(value) == nil and type(next(value)) == "string" and #value == 0
end

-- Returns the options by the keys of parameters: `output_padding` becomes `outputPadding`. Returns nil if a name is not a text.
local function option_names(options)
    local named = {}
    for key, value in pairs(options) do
        if type(key) ~= "string" then return nil end
        named[signatures.in_capitals(key)] = value
    end
    return named
end

local function takes(argument, value, signature)
    if argument.of.takes(value) then return true end
    return argument.of.class == "list" and signature.dimensions ~= nil and integers.is_number(value)
end

-- Returns the option for a parameter, and its name. `dim` is an alias of `dimension` and of `dims`.
local function option(argument, named)
    local value = named[argument.key]
    if value == nil and (argument.key == "dimension" or argument.key == "dims") then return named.dim, "dim" end
    return value, argument.key
end

local function are_numbers(list, count)
    for i = 1, count do
        if not integers.is_number(list[i]) then return false end
    end
    return true
end

-- Assigns values from position `j` of `given` to parameters from `p` on. Returns false if they do not fit.
local function assign(signature, given, count, named, p, j, values)
    local argument = signature.parameters[p]
    if not argument then return j > count end
    local value = option(argument, named)
    if value ~= nil then
        values[p] = value
        return takes(argument, value, signature) and assign(signature, given, count, named, p + 1, j, values)
    end
    if j <= count then
        value = given[j]
        if value == nil or (value == false and argument.optional and argument.of.class ~= "flag") then
            values[p] = nil
            if argument.optional and assign(signature, given, count, named, p + 1, j + 1, values) then return true end
        elseif takes(argument, value, signature) then
            values[p] = value
            if assign(signature, given, count, named, p + 1, j + 1, values) then return true end
        end
        -- A list may be given element by element if it is the last argument.
        local class = argument.of.class
        if class == "list" or class == "handles" then
            local list = {}
            for k = j, count do list[k - j + 1] = given[k] end
            local of_class = class == "handles" or are_numbers(list, count - j + 1)
            values[p] = list
            if of_class and takes(argument, list, signature) and assign(signature, given, count, named, p + 1, count + 1, values) then
                return true
            end
        end
    end
    values[p] = nil
    return argument.optional and assign(signature, given, count, named, p + 1, j, values)
end

-- Adds the results that options name to `values`: `out` is a tensor or a list of tensors in the order of the results, and each result may
-- have its own name. Returns false if one of them is not a tensor.
local function take_results(signature, named, values)
    local at, out = #signature.parameters, named.out
    local is_list = type(out) == "table"
    local first = signature.results[1]
    if is_list and first and first.of.class ~= "out_handles" and #out > #signature.results then return false end
    if out and not is_list and not handles.is_any_tensor(out) then return false end
    for r, argument in ipairs(signature.results) do
        local value = named[argument.key]
        if value == nil and out ~= nil then
            if is_list and argument.of.class ~= "out_handles" then value = out[r] elseif is_list or r == 1 then value = out end
        end
        if value ~= nil then
            local right = argument.of.takes and argument.of.takes(value)
            if not right and not (value == false and argument.optional) then return false end
            values[at + r] = value
        end
    end
    values[at + #signature.results + 1] = named.dtype and dtypes.of(named.dtype) or nil
    return true
end

-- Returns true if the function reads no tensor, so that a first argument that is a tensor can only be its result.
local function reads_no_tensor(signature)
    local first = signature.results[1]
    if not first or first.of.class ~= "tensor" then return false end
    for _, argument in ipairs(signature.parameters) do
        local class = argument.of.class
        if class == "tensor" or class == "sparse" or class == "positions" or class == "handles" then return false end
    end
    return true
end

-- Returns true if the function has each of the options.
local function knows(signature, named)
    local known, tensors = {}, false
    for _, argument in ipairs(signature.parameters) do
        local _, key = option(argument, named)
        known[key] = true
    end
    for _, argument in ipairs(signature.results) do
        known[argument.key], known.out = true, true
        if argument.of.class == "tensor" or argument.of.class == "out_handles" then tensors = true end
    end
    for key, value in pairs(named) do
        local is_dtype = key == "dtype" and tensors and (dtypes.is(value) or type(value) == "string" and dtypes.of(value) ~= nil)
        local is_leaf = key == "requiresGrad" and type(value) == "boolean" and reads_no_tensor(signature)
        if not known[key] and not is_dtype and not is_leaf then return false end
    end
    return true
end

local function try(signature, given, count, named)
    local values = {}
    if knows(signature, named) and assign(signature, given, count, named, 1, 1, values) and take_results(signature, named, values) then
        return values
    end
end

local function with_result(named, result)
    local copy = { out = result }
    for key, value in pairs(named) do copy[key] = value end
    return copy
end

local function described(value)
    if is_tensor(value) then return "tensor" end
    for name, record in pairs(handles.types) do
        if ffi.istype(record.type, value) then return record.shown or name end
    end
    if dtypes.is(value) then return "dtype" end
    return value == nil and "nil" or type(value)
end

-- Returns the parameters of a form for messages: "(t: tensor, value: number, [keepdim: true or false])".
local function usage(signature)
    local parts = {}
    for _, argument in ipairs(signature.parameters) do
        local part = argument.name .. ": " .. argument.of.what:gsub("^an? ", "")
        parts[#parts + 1] = argument.optional and "[" .. part .. "]" or part
    end
    return "(" .. table.concat(parts, ", ") .. ")"
end

local function refuse(name, forms, given, count, named)
    local types = {}
    for j = 1, count do types[j] = described(given[j]) end
    for key, value in pairs(named) do types[#types + 1] = key .. " = " .. described(value) end
    local right = {}
    for _, signature in ipairs(forms) do right[#right + 1] = usage(signature) end
    errors.raise(("%s: it takes %s, not (%s)"):format(name, table.concat(right, " or "), table.concat(types, ", ")))
end

-- Returns the arguments by position, their number, and the options.
local function split(...)
    local count, given = select("#", ...), { ... }
    while count > 0 and given[count] == nil do count = count - 1 end
    local named = count > 0 and is_options(given[count]) and option_names(given[count])
    if not named then return given, count, {} end
    given[count] = nil
    return given, count - 1, named
end

--- Returns the first form that the arguments fit, the values for its caller, and true if the result is a leaf that requires a gradient:
--- functions that read no tensor have the option `requires_grad`. Raises an error if the arguments fit no form.
function binding.bind(name, forms, ...)
    local given, count, named = split(...)
    for _, signature in ipairs(forms) do
        local values = try(signature, given, count, named)
        if values then return signature, values, named.requiresGrad and reads_no_tensor(signature) end
    end
    if is_tensor(given[1]) and named.out == nil then
        local rest = { unpack(given, 2, count) }
        for _, signature in ipairs(forms) do
            local values = reads_no_tensor(signature) and try(signature, rest, count - 1, with_result(named, given[1]))
            if values then return signature, values end
        end
    end
    if type(named.dtype) == "string" and not dtypes.of(named.dtype) then
        errors.raise(("%s: dtype names no dtype: %q"):format(name, named.dtype))
    end
    if next(named) ~= nil then
        -- The table may be an argument itself, as the options of print are.
        local whole = { ... }
        for _, signature in ipairs(forms) do
            local values = try(signature, whole, count + 1, {})
            if values then return signature, values end
        end
    end
    refuse(name, forms, given, count, named)
end

--- As `bind`, for an operation in place: the first argument is the result, and also the first operand if the function reads tensors.
function binding.bind_in_place(name, forms, ...)
    local given, count, named = split(...)
    if not handles.is_any_tensor(given[1]) then refuse(name, forms, given, count, named) end
    local rest, written = { unpack(given, 2, count) }, with_result(named, given[1])
    for _, fills in ipairs({ true, false }) do
        for _, signature in ipairs(forms) do
            if reads_no_tensor(signature) == fills and signature.results[1] then
                local values = fills and try(signature, rest, count - 1, written) or not fills and try(signature, given, count, written)
                if values then return signature, values end
            end
        end
    end
    for _, signature in ipairs(forms) do
        local values = signature.results[1] and try(signature, rest, count - 1, written)
        if values then return signature, values end
    end
    refuse(name, forms, given, count, named)
end

return binding
