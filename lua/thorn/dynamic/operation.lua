-- An operation is a Lua function that chooses among the forms of one name, and calls the library.
--
-- For calls whose arguments are tensors, dense or sparse, numbers and at most one flag, and optionally `{ out = r }`, the choice is
-- compiled: the function tests the types and calls the form directly. All other calls use `thorn.dynamic.binding`, which also makes the
-- choice that is compiled.

local ffi = require("ffi")
local library = require("thorn.library")
local binding = require("thorn.dynamic.binding")
local caller = require("thorn.dynamic.caller")
local handles = require("thorn.dynamic.handles")

local operation = {}

-- The maximum number of arguments that are tested.
local MOST = 5

local Sparse = handles.types.STensor.type

local tests = {
    tensor = "istype(Tensor, %s)",
    sparse = "istype(Sparse, %s)",
    number = 'type(%s) == "number"',
    flag = 'type(%s) == "boolean"',
}

-- Calls `found` with each list of types that is compiled: the types of the required parameters of a form, and the types of its first
-- parameters in order. In place, also with the result in front.
local function each_types(forms, in_place, found)
    local seen = {}
    local function offer(types)
        local flags = 0
        for _, of in ipairs(types) do
            flags = flags + (of == "flag" and 1 or 0)
            if not tests[of] or flags > 1 then return end
        end
        local key = table.concat(types, " ")
        if not seen[key] and types[1] and #types <= MOST then
            seen[key] = true
            found(types)
        end
    end
    for _, signature in ipairs(forms) do
        local required, first = {}, {}
        local function both(types)
            offer(types)
            if in_place and signature.results[1] then offer({ signature.results[1].of.class, unpack(types) }) end
        end
        for _, argument in ipairs(signature.parameters) do
            if not argument.optional then required[#required + 1] = argument.of.class end
        end
        both(required)
        for _, argument in ipairs(signature.parameters) do
            first[#first + 1] = argument.of.class
            both(first)
        end
    end
end

-- Returns a distinct value of each type, so that `order` finds the position that the binding gave to each.
local function samples(types)
    local values = {}
    for i, of in ipairs(types) do
        values[i] = of == "tensor" and library.Tensor() or of == "sparse" and Sparse() or of == "number" and i + 0.5 or of == "flag"
    end
    return values
end

-- Returns the names of the arguments in the order of the caller. `out` is the name of the first result, if there is one.
local function order(signature, values, given, out)
    local names = {}
    for p = 1, #signature.parameters + #signature.results do
        names[p] = p == #signature.parameters + 1 and out or "nil"
        for i, sample in ipairs(given) do
            if values[p] ~= nil and rawequal(values[p], sample) then names[p] = "a" .. i end
        end
    end
    return table.concat(names, ", ")
end

-- Returns the lines of the tests, and the callers that the lines name.
local function compiled_tests(forms, in_place, bind, call_of, most)
    local lines, values = {}, {}
    local function add(conditions, first_nil, call, arguments)
        for i = first_nil, most do conditions = conditions .. (" and a%d == nil"):format(i) end
        lines[#lines + 1] = ("if %s then return %s(%s) end"):format(conditions, call, arguments)
    end
    each_types(forms, in_place, function(types)
        local given = samples(types)
        local ok, signature, found = pcall(bind, "", forms, unpack(given))
        if not ok then return end
        local conditions, behind, call = {}, #types + 1, "call" .. #lines
        for i, of in ipairs(types) do conditions[i] = tests[of]:format("a" .. i) end
        conditions = table.concat(conditions, " and ")
        values[call] = call_of(signature)
        add(conditions, behind, call, order(signature, found, given))
        local result = signature.results[1]
        local type_of_out = result and (result.of.class == "tensor" and "Tensor" or result.of.class == "sparse" and "Sparse")
        if type_of_out and not in_place and behind <= most then
            add(("%s and has_only_out(a%d, %s)"):format(conditions, behind, type_of_out), behind + 1, call,
                order(signature, found, given, ("a%d.out"):format(behind)))
        end
    end)
    return lines, values
end

-- Returns true for options that contain only `out`, a tensor of this type.
local function has_only_out(options, of)
    return type(options) == "table" and next(options) == "out" and next(options, "out") == nil and ffi.istype(of, options.out)
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

--- Returns the operation with these forms. If `in_place`, as in `add_(x, y)`, it writes to `x`. Its errors begin with `name`.
function operation.of(name, forms, in_place)
    local bind = in_place and binding.bind_in_place or binding.bind
    local call_of = caller_cache(name)
    -- A form takes its parameters, optionally a result before them, and options after them.
    local most, arguments = 2, {}
    for _, signature in ipairs(forms) do most = math.max(most, #signature.parameters + 2) end
    for i = 1, most do arguments[i] = "a" .. i end
    arguments = table.concat(arguments, ", ")
    local lines, values = compiled_tests(forms, in_place, bind, call_of, most)
    values.istype, values.Tensor, values.Sparse, values.has_only_out = ffi.istype, library.Tensor, Sparse, has_only_out
    function values.other(...)
        local signature, found, is_leaf = bind(name, forms, ...)
        local call, count = call_of(signature), #signature.parameters + #signature.results + 1
        if is_leaf then return call(unpack(found, 1, count)):setRequiresGrad(true) end
        return call(unpack(found, 1, count))
    end
    local heads = { "type" }
    for value in pairs(values) do heads[#heads + 1] = value end
    table.sort(heads)
    local source = ("local %s = %s\nreturn function(%s, ...)\n  %s\n  return other(%s, ...)\nend")
        :format(table.concat(heads, ", "), table.concat(heads, ", "), arguments, table.concat(lines, "\n  "), arguments)
    return caller.compile(source, name, values)
end

return operation
