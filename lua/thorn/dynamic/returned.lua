-- Returned C values as Lua values, by kind.
--
-- `returned[kind]` takes the value, the name of the function for errors, and the first argument. A value that may also be valid means a
-- failure only if the library has set an error code. The caller clears the last error before the call.

local ffi = require("ffi")
local library = require("thorn.library")
local origin = require("thorn.origin")
local types = require("thorn.types")
local dtypes = require("thorn.dynamic.dtypes")
local handles = require("thorn.dynamic.handles")

local C = library.C

local returned = {}

local function check_code(name)
    if C.THGetLastErrorCode() ~= 0 then library.fail(name) end
end

-- Returns a number if it holds the integer exactly, otherwise the 64-bit integer.
local function exact(value)
    local number = tonumber(value)
    if number > -2 ^ 53 and number < 2 ^ 53 then return number end
    return value
end

local function define(convert, kinds)
    for kind in kinds:gmatch("%S+") do returned[kind] = convert end
end

define(function(value, name)
    if value ~= value then check_code(name) end
    return value
end, "number accumulated")
define(function(value, name)
    if value == -1 then check_code(name) end
    return exact(value)
end, "descriptor count size stride integer length")
define(function(value, name)
    if value == -1 then check_code(name) end
    return tonumber(value) + 1
end, "offset")
define(function(value, name)
    if value == 0 then check_code(name) end
    return exact(value)
end, "int bytes seed device_type generator_kind file_format block_type")
-- A number that may be 0 although the library sets an error with it.
returned.plain_int = exact
define(function(value, name)
    if value == 0 then check_code(name) end
    return value ~= 0
end, "flag")
define(function(value, name)
    if value == 0 then check_code(name) end
    return dtypes.with_code(value)
end, "dtype")
define(function(value, name)
    if value ~= nil then return ffi.string(value) end
    check_code(name)
end, "borrowed_text")
define(function(value, name)
    if value == nil then return check_code(name) end
    local text = ffi.string(value)
    C.THFree(value)
    return text
end, "new_text")
define(origin.own, "new")
define(function(value, name)
    if value == nil then return check_code(name) end
    return origin.own(value, name)
end, "new_or_null")
define(handles.own_sparse, "new_sparse")
define(function(value, name) return library.own_storage(value, name) end, "new_storage")
define(function(value, name)
    if value == nil then return check_code(name) end
    C.THStorage_retain(value)
    return library.own_storage(value, name)
end, "borrowed_storage")
define(function() end, "nothing")

-- Returns a pointer to the type of the elements, if C has the type.
local function typed(value, name, owner)
    if value == nil then return check_code(name) end
    local is_typed = owner and (ffi.istype(library.Tensor, owner) or ffi.istype(library.Storage, owner))
    local of = is_typed and types[owner.handle.dtype]
    return of and ffi.cast(of.pointer, value) or value
end
define(typed, "memory")

-- Returns sizes or strides as a list. Without `ndim`, the owner is a tensor, whose number of dimensions is used.
function returned.borrowed_sizes(value, name, owner, ndim)
    if value == nil and ndim == nil then ndim = owner.handle ~= nil and owner.handle.nDimension or 0 end
    local list = {}
    if value == nil then check_code(name) end
    for d = 1, ndim or owner.handle.nDimension do list[d] = tonumber(value[d - 1]) end
    return list
end

local function pointer(value, name)
    if value == nil then library.fail(name) end
    return value
end
define(pointer, "dlpack dlpack_legacy")

for kind, name in pairs({
    new_generator = "Generator", new_fused = "Fused", new_archive = "Archive", new_optim = "Optim", new_program = "Program",
    new_cuda_stream = "CudaStream", new_cuda_event = "CudaEvent", new_cuda_graph = "CudaGraph", new_map_context = "MapAllocatorContext",
}) do
    returned[kind] = function(value, function_name) return handles.wrap(name, pointer(value, function_name)) end
end

--- Returns a position counted from 1; nil for -1 without an error.
function returned.position(value, name)
    if value == -1 then return check_code(name) end
    return tonumber(value) + 1
end

return returned
