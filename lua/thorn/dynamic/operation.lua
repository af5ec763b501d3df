-- Operations: functions of Lua that choose among the forms of an operation and call the library.
--
-- For calls whose arguments are tensors, numbers and at most one flag, the choice is compiled: the function tests their types and calls the
-- form at once. All others go through `thorn.dynamic.binding`.

local ffi = require("ffi")
local library = require("thorn.library")
local binding = require("thorn.dynamic.binding")
local caller = require("thorn.dynamic.caller")

local operation = {}

-- Arguments that are tested, at most.
local MOST = 5

local tests = {
    tensor = "istype(Tensor, %s)",
    number = 'type(%s) == "number"',
    flag = 'type(%s) == "boolean"',
}

-- Calls `found` with each list of types that a compiled test is worth: what a form requires, and its first parameters in order.
local function each_types(forms, found)
    local seen = {}
    local function offer(parameters)
        local types, flags = {}, 0
        for i, argument in ipairs(parameters) do
            types[i] = argument.of.class
            flags = flags + (types[i] == "flag" and 1 or 0)
            if not tests[types[i]] or flags > 1 or i > MOST then return end
        end
        local key = table.concat(types, " ")
        if not seen[key] and types[1] then
            seen[key] = true
            found(types)
        end
    end
    for _, signature in ipairs(forms) do
        local required, first = {}, {}
        for _, argument in ipairs(signature.parameters) do
            if not argument.optional then required[#required + 1] = argument end
        end
        offer(required)
        for _, argument in ipairs(signature.parameters) do
            first[#first + 1] = argument
            offer(first)
        end
    end
end

-- A value of each type, by which the place that an argument has gone to is found again.
local function samples(types)
    local values = {}
    for i, of in ipairs(types) do
        values[i] = of == "tensor" and library.Tensor() or of == "number" and i + 0.5 or of == "flag"
    end
    return values
end

-- The names of the arguments in the order of the caller; those left out are nil.
local function order(values, given, count)
    local names = {}
    for p = 1, count do
        names[p] = "nil"
        for i, sample in ipairs(given) do
            if values[p] ~= nil and rawequal(values[p], sample) then names[p] = "a" .. i end
        end
    end
    return table.concat(names, ", ")
end

-- The tests of an operation as source, and the callers that it names.
local function compiled_tests(forms, call_of, most)
    local lines, values = {}, {}
    each_types(forms, function(types)
        local given = samples(types)
        local ok, signature, found = pcall(binding.bind, "", forms, unpack(given))
        if not ok then return end
        local conditions = {}
        for i, of in ipairs(types) do conditions[i] = tests[of]:format("a" .. i) end
        for i = #types + 1, most do conditions[i] = ("a%d == nil"):format(i) end
        local call = "call" .. #lines
        values[call] = call_of(signature)
        lines[#lines + 1] = ("if %s then return %s(%s) end")
            :format(table.concat(conditions, " and "), call, order(found, given, #signature.parameters + #signature.results))
    end)
    return lines, values
end

local function caller_cache(name)
    local callers = {}
    return function(signature)
        local call = callers[signature]
        if not call then
            call = caller.of(signature, name)
            callers[signature] = call
        end
        return call
    end
end

local function perform(signature, values, call_of)
    return call_of(signature)(unpack(values, 1, #signature.parameters + #signature.results + 1))
end

--- The function of Lua for an operation with these forms. Its errors begin with `name`.
function operation.of(name, forms)
    local call_of = caller_cache(name)
    -- The most arguments that a form takes, and the options.
    local most, arguments = 1, {}
    for _, signature in ipairs(forms) do most = math.max(most, #signature.parameters + 1) end
    for i = 1, most do arguments[i] = "a" .. i end
    arguments = table.concat(arguments, ", ")
    local lines, values = compiled_tests(forms, call_of, most)
    values.istype, values.Tensor = ffi.istype, library.Tensor
    function values.other(...)
        local signature, found = binding.bind(name, forms, ...)
        return perform(signature, found, call_of)
    end
    local heads = { "type" }
    for value in pairs(values) do heads[#heads + 1] = value end
    table.sort(heads)
    local source = ("local %s = %s\nreturn function(%s, ...)\n  %s\n  return other(%s, ...)\nend")
        :format(table.concat(heads, ", "), table.concat(heads, ", "), arguments, table.concat(lines, "\n  "), arguments)
    return caller.compile(source, name, values)
end

--- The operation in place: `add_(x, y)` writes to `x`.
function operation.in_place(name, forms)
    local call_of = caller_cache(name)
    return function(...)
        local signature, found = binding.bind_in_place(name, forms, ...)
        return perform(signature, found, call_of)
    end
end

return operation
