-- The kinds of arguments in Lua: the accepted values, and their conversion to C.
--
-- A kind has
--   class      the word for the C type: "tensor", "list", "number", ...
--   role       "result" or "parameter"; nil for lengths, which follow from lists
--   what       the words for a valid value in error messages
--   optional   true if it may be omitted although C has no NULL for it
--   takes(value)                       true for a value of this kind
--   give(value, argument, function)    the value in C, and for lists also the length; raises an error that names both
-- Dimensions, entries and offsets count from 1 in Lua and from 0 in C; negative ones count from the end in both.

local ffi = require("ffi")
local errors = require("thorn.errors")
local library = require("thorn.library")
local dtypes = require("thorn.dynamic.dtypes")
local handles = require("thorn.dynamic.handles")
local integers = require("thorn.integers")
local positions = require("thorn.dynamic.positions")

local C, istype, floor = library.C, ffi.istype, math.floor
local is_number = integers.is_number
local Tensor, Sparse = library.Tensor, handles.types.STensor.type

local kinds = {}

local function wrong(argument, name, text) errors.raise(("%s: %s %s"):format(name, argument.name, text)) end

local function out_of_range(value, argument, name) wrong(argument, name, "is out of range: " .. tostring(value)) end

-- Returns an integer of at most 32 or 64 bits. Raises an error for other values.
local function whole(value, argument, name)
    value = integers.unboxed(value)
    if type(value) ~= "number" then
        local is_above = integers.is_above_int64(value) and argument.type ~= "uint64_t"
        if is_above or argument.type == "int" then out_of_range(value, argument, name) end
        return value
    end
    if floor(value) ~= value then wrong(argument, name, ("must be a whole number, got %s"):format(value)) end
    local limit = argument.type == "int" and 2 ^ 31 or 2 ^ 63
    if value >= limit or value < -limit then out_of_range(value, argument, name) end
    return value
end

local function from_one(value, argument, name)
    value = whole(value, argument, name)
    if value == 0 then wrong(argument, name, "is 0, but counts from 1; -1 is the last") end
    return value > 0 and value - 1 or value
end

local function offset(value, argument, name)
    value = whole(value, argument, name)
    if value < 1 then wrong(argument, name, ("is %s, but counts from 1"):format(tonumber(value))) end
    return value - 1
end

local function text(value, argument, name)
    if value:find("\0", 1, true) then wrong(argument, name, "has a zero byte") end
    return value
end

-- Returns the value of a constant, which is given as a number or by its name. The prefix that the constants of a kind share may be omitted:
-- "floor" means "DIV_FLOOR".
local function code(value, argument, name)
    if type(value) == "number" then return whole(value, argument, name) end
    local prefix = argument.default or "TH_"
    local wanted = value:upper():gsub("^TH_", ""):gsub("^-", "MINUS_")
    while prefix ~= "" do
        prefix = prefix:match("^(.*_)[^_]*$") or ""
        local ok, constant = pcall(ffi.new, argument.type == "int" and "int" or argument.type, prefix .. wanted)
        if ok and prefix ~= "" then return tonumber(constant) end
        prefix = prefix:gsub("_$", "")
    end
    if argument.kind == "code" and #value == 1 then return value:byte() end
    wrong(argument, name, ("has no value %q"):format(value))
end

local function dtype(value, argument, name)
    local found = dtypes.of(value)
    if not found then wrong(argument, name, ("names no dtype: %q"):format(value)) end
    return found.code
end

-- Returns true for a table without named fields.
local function is_table(value) return type(value) == "table" and getmetatable(value) == nil and type(next(value)) ~= "string" end

local function is_list(value) return is_table(value) or handles.is_long_storage(value) end

-- Returns the `give` function for lists of numbers and int64 storages. One number applies to all dimensions of a function whose name tells
-- their number.
local function list_of(convert)
    return function(value, argument, name, dimensions)
        if is_number(value) then
            local element = convert(value, argument, name)
            return ffi.new("int64_t[?]", dimensions, element), dimensions
        end
        if type(value) ~= "table" then value = handles.table_of(value) end
        local count = #value
        local array = ffi.new("int64_t[?]", count)
        for i = 1, count do
            if not is_number(value[i]) then wrong(argument, name, ("has no number at place %d"):format(i)) end
            array[i - 1] = convert(value[i], argument, name)
        end
        return array, count
    end
end

-- Returns the `takes` function for lists of handles of a type.
local function is_list_of(type_of_handles)
    return function(value)
        if not is_table(value) then return false end
        for i = 1, table.maxn(value) do
            if not istype(type_of_handles, value[i]) then return false end
        end
        return true
    end
end

-- Returns true for a list of tensors, some of which may be false or nil.
local function is_list_with_gaps(value)
    if not is_table(value) then return false end
    for i = 1, table.maxn(value) do
        if value[i] and not istype(Tensor, value[i]) then return false end
    end
    return true
end

-- Returns the `give` function for lists of handles: it returns the array of their pointers, its length, and the handles, which must live as
-- long as the array.
local function handles_in(array_type)
    return function(value)
        local count = table.maxn(value)
        local array = ffi.new(array_type, count)
        for i = 1, count do array[i - 1] = value[i] and value[i].handle or nil end
        return array, count, value
    end
end

local is_tensors, tensors = is_list_of(Tensor), handles_in("THTensor *[?]")

-- As above for tensors of positions, which count from 1 in Lua. Bool and Byte tensors are masks.
local function indices(value, argument, name)
    local shifted = {}
    for i = 1, table.maxn(value) do
        local tensor = value[i]
        shifted[i] = tensor and (positions.is_mask(tensor) and tensor or positions.from_one(tensor, argument, name)) or false
    end
    return tensors(shifted)
end

local function is_positions(value) return istype(Tensor, value) or is_table(value) end

local function is_pointer(value) return type(value) == "cdata" and not integers.is_boxed(value) and not handles.is_handle(value) end

local function is_memory(value) return is_pointer(value) or type(value) == "string" end

-- Returns options of printing as a struct. Fields that the table lacks keep their defaults.
local function options(value)
    if type(value) ~= "table" then return value end
    local struct = ffi.new("THPrintOptions")
    library.check(C.THPrintOptions_init(struct))
    for field, given in pairs(value) do struct[field] = given end
    return struct
end

local function itself(value) return value end

local function handle(value) return value.handle end

local function define(class, role, what, takes, give, names)
    for name in names:gmatch("%S+") do kinds[name] = { class = class, role = role, what = what, takes = takes, give = give } end
end

local function is_tensor(value) return istype(Tensor, value) end

define("tensor", "result", "a tensor", is_tensor, handle, "out optional_out view_out truth totals optional_totals pivots_out optional_info")
define("tensor", "result", "a tensor", is_tensor, handle, "indices optional_indices")
define("tensor", "parameter", "a tensor", is_tensor, handle, "input optional_input mask pivots inout handle emptied shared optional_state")
define("sparse", "result", "a sparse tensor", function(value) return istype(Sparse, value) end, handle, "sparse_out")
define("positions", "parameter", "a tensor of positions, or a list", is_positions, positions.from_one, "index optional_index")
define("number", "parameter", "a number", is_number, itself, "number factor parameter double")
define("number", "parameter", "a position", is_number, from_one, "entry")
define("number", "parameter", "a position", is_number, offset, "offset")
define("number", "parameter", "a dimension", is_number, from_one, "dim")
define("number", "parameter", "a whole number", is_number, whole, "size stride count integer length seed int status")
define("flag", "parameter", "true or false", function(value) return type(value) == "boolean" end,
    function(value) return value and 1 or 0 end, "flag")
define("code", "parameter", "a constant, or its name", function(value) return type(value) == "number" or type(value) == "string" end, code,
    "code flags block_type div_mode distance_mode pad_mode matrix_norm bag_mode reduce reduction interpolation resampling memory_format device_type generator_kind fan file_format")
define("dtype", "parameter", "a dtype", function(value) return dtypes.is(value) or type(value) == "string" end, dtype,
    "dtype other_dtype optional_dtype")
define("length", nil, nil, nil, nil, "len len_or_whole")
define("handle_count", nil, nil, nil, nil, "handle_count")
define("count_inout", nil, nil, nil, nil, "count_inout")
define("list", "parameter", "a list of numbers", is_list, list_of(whole),
    "sizes optional_sizes strides optional_strides counts optional_counts")
define("list", "parameter", "a list of dimensions", is_list, list_of(from_one), "dims optional_dims")
define("list", "parameter", "a list of positions", is_list, list_of(from_one), "entries")
define("handles", "parameter", "a list of tensors", is_tensors, tensors, "inputs")
define("handles", "parameter", "a list of tensors", is_list_with_gaps, indices, "optional_inputs")
define("handles", "parameter", "a list of tensors", is_list_with_gaps, tensors, "list_or_null")
define("handles", "parameter", "a list of sparse tensors", is_list_of(Sparse), handles_in("THSTensor *[?]"), "sparse_inputs")
define("out_handles", "result", "a list of tensors", is_tensors, tensors, "outs")
define("new_handles", "result", nil, nil, nil, "new_handles")
define("text", "parameter", "a text", function(value) return type(value) == "string" end, text, "text optional_text")
define("memory", "parameter", "a pointer", is_pointer, itself, "memory memory_or_null required_memory context")
define("memory", "parameter", "a pointer, or a text", is_memory, itself, "memory_input")
define("memory", "parameter", "a function of C", is_pointer, itself,
    "deleter hook apply_function map_function map2_function read_function seek_function cuda_callback "
    .. "grad_hook grad_rule grad_function optim_closure")
define("progress", "parameter", "a function", function(value) return type(value) == "function" or is_pointer(value) end, itself, "progress")
define("memory", "parameter", "a call of C", function(value) return istype("THGradCall *", value) end, itself, "grad_call")
define("memory", "parameter", "a struct of C", is_pointer, itself, "allocator dlpack dlpack_legacy arrow_schema arrow_array")
define("memory", "parameter", "an open file", function(value) return io.type(value) == "file" or is_pointer(value) end, itself, "stream")
define("memory", "parameter", "a table of options", function(value) return type(value) == "table" or is_pointer(value) end, options,
    "print_options")
define("struct", "result", nil, nil, nil, "cuda_memory_out cuda_properties_out stats_out print_options_out")
for name, record in pairs(handles.types) do
    for _, kind in ipairs(record.kinds) do
        define(record.class or "handle", "parameter", "a " .. (record.shown or name), function(value) return istype(record.type, value) end,
            handle, kind)
    end
end

-- Without a dtype, a new tensor has the default dtype, and an operation chooses its own.
kinds.dtype.optional, kinds.optional_dtype.optional, kinds.list_or_null.optional = true, true, true
-- Results of the kind `indices` hold positions.
kinds.indices.positions, kinds.optional_indices.positions = true, true

return kinds
