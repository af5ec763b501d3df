-- The signatures of the library's functions. Each is read from `thorn.api` at its first use.
--
-- A signature has
--   name          the function in C, "THTensor_sort"
--   arguments     each with `name`, `kind`, `default` and `positions`, in the order of C
--   returns       the kind of the returned value; `returns_positions` is true for a position
--   results       the arguments to which the library writes
--   parameters    the arguments that the Lua program gives: neither results nor lengths of lists
-- An argument also has `key`, its name as an option, `of`, the record of its kind in `thorn.dynamic.kinds`, and `optional`, true if it may
-- be omitted.

local recording = require("thorn.recording")
local rows = require("thorn.api")
local kinds = require("thorn.dynamic.kinds")

local signatures = {}

--- Returns a name with capitals instead of underscores: "indexSelect" for "index_select".
function signatures.in_capitals(name)
    return (name:gsub("(%w)_(%l)", function(before, after) return before .. after:upper() end))
end

-- Reads `name:kind@=default`. `@` and the default are optional.
local function argument_of(text)
    local name, kind, mark, default = text:match("^([%w_]+):([%w_]+)(@?)=?(.*)$")
    local argument = { name = name, key = signatures.in_capitals(name), kind = kind, positions = mark == "@" }
    argument.of = kinds[kind] or error("thorn.dynamic.kinds has no kind " .. kind)
    -- An operand with positions is converted for any kind.
    if argument.positions and argument.of.role == "parameter" then argument.of = kinds.index end
    local described = rows.kinds[kind]
    argument.type, argument.null = described.type, described.null
    argument.default = default ~= "" and default or described.default
    argument.optional = argument.default ~= nil or argument.null == "taken" or argument.of.optional or false
    return argument
end

-- Sets `lists` of each length to the lists that it counts. A length comes before lists of numbers, but after lists of handles.
local function measure(signature)
    local length
    for i, argument in ipairs(signature.arguments) do
        local class = argument.of.class
        if class == "length" then
            length = argument
            length.lists = {}
        elseif class == "handle_count" then
            local before, list = signature.arguments[i - 2], signature.arguments[i - 1]
            argument.lists = { list }
            if before and before.of.class == "out_handles" then before.like = list end
            -- An optional list has the length of the list before it.
            if list.kind == "list_or_null" then argument.lists = { before, list } end
        elseif class == "list" then
            length.lists[#length.lists + 1] = argument
            -- The length -1 means that there is no list.
            if length.kind == "len_or_whole" then argument.optional = true end
        end
    end
end

local function read(name, text)
    local returns, mark, rest = text:match("^([%w_]+)(@?)(.*)$")
    local signature = { name = name, returns = returns, returns_positions = mark == "@", arguments = {}, results = {}, parameters = {} }
    -- `maxPool2d` has lists of two entries.
    signature.dimensions = tonumber(name:match("(%d)d$"))
    for word in rest:gmatch("%S+") do
        local argument = argument_of(word)
        signature.arguments[#signature.arguments + 1] = argument
        local role = argument.of.role
        if role then table.insert(role == "result" and signature.results or signature.parameters, argument) end
    end
    measure(signature)
    return signature
end

local known = {}

--- Returns the signature of a function of the library; nil if there is no such row.
function signatures.of(name)
    local signature = known[name]
    if not signature then
        local text = rows.functions[name]
        if not text then return nil end
        signature = read(name, text)
        if name == "THTensor_setRequiresGrad" then recording.start() end
        known[name] = signature
    end
    return signature
end

--- Returns the signatures of the forms of an operation on tensors, or of the single function with this name; an empty list if there is
--- neither.
function signatures.forms(operation)
    local found = {}
    local names = rows.forms[operation]
    if names then
        for form in names:gmatch("%S+") do found[#found + 1] = signatures.of("THTensor_" .. form) end
    else
        found[1] = signatures.of("THTensor_" .. operation)
    end
    return found
end

--- As `forms`, for sparse tensors. Their functions are forms of the operation of the dense functions: `cmul`, and `cmulDense`, whose second
--- operand is dense, are forms of `mul`. A form that returns a number, such as `sumall`, has only its own name.
function signatures.sparse_forms(operation)
    local found = {}
    for form in (rows.forms[operation] or operation):gmatch("%S+") do
        for _, name in ipairs({ form, form .. "Dense" }) do
            local signature = signatures.of("THSTensor_" .. name)
            if signature and (name == operation or signature.results[1]) then found[#found + 1] = signature end
        end
    end
    if not found[1] then found[1] = signatures.of("THSTensor_" .. operation) end
    return found
end

return signatures
