-- apply, map and map2, for which the library takes a C function, and `tensor`, which is outside of the rows.
--
-- apply, map and map2 are Lua loops, so that an error in the callback passes through no frame of the library.

local ffi = require("ffi")
local errors = require("thorn.errors")
local library = require("thorn.library")
local origin = require("thorn.origin")
local recording = require("thorn.recording")
local types = require("thorn.types")
local dtypes = require("thorn.dynamic.dtypes")
local integers = require("thorn.integers")

local C, istype = library.C, ffi.istype
local Tensor = library.Tensor

-- Functions on tensors by name.
local methods = {}

local special = { methods = methods }

-- Returns a function that returns the storage positions of the elements, one per call, in row-major order.
local function walker(handle)
    local ndim, sizes, strides, counter = handle.nDimension, {}, {}, {}
    for d = 1, ndim do
        sizes[d], strides[d], counter[d] = tonumber(handle.size[d - 1]), tonumber(handle.stride[d - 1]), 0
    end
    local following = tonumber(handle.storageOffset)
    return function()
        local at, d = following, ndim
        while d > 0 do
            counter[d], following = counter[d] + 1, following + strides[d]
            if counter[d] < sizes[d] then break end
            counter[d], following = 0, following - sizes[d] * strides[d]
            d = d - 1
        end
        return at
    end
end

local function on_host(tensor, name)
    if not istype(Tensor, tensor) or tensor.handle == nil then errors.raise(name .. ": a tensor is expected") end
    if tensor.handle.deviceType ~= C.TH_CPU then errors.raise(name .. ": a function of Lua reads elements of the host only") end
end

-- Returns the storage of a tensor. Raises an error if it no longer has an element `at` of the type `of`, because the callback may have
-- changed the storage.
local function storage_with(handle, at, of, name)
    local storage = handle.storage
    if storage == nil or at >= storage.size or storage.dtype ~= of.code then
        errors.raise(name .. ": the function has changed the tensor")
    end
    return storage
end

-- Returns a function that reads the elements of `tensor`, broadcast to the shape of `like`, one per call.
local function reader(tensor, like, name)
    on_host(tensor, name)
    local spread = library.own(C.THTensor_newExpandAs(tensor.handle, like.handle), name)
    local next_place, of = walker(spread.handle), types[spread.handle.dtype]
    return function()
        local at = next_place()
        return of.read(storage_with(spread.handle, at, of, name), at)
    end
end

-- Sets each element of `tensor` to `f(element, others...)`; nil leaves the element unchanged.
local function transform(name, f, tensor, ...)
    on_host(tensor, name)
    if type(f) ~= "function" then errors.raise(name .. ": a function is expected") end
    local handle, count = tensor.handle, tonumber(C.THTensor_nElement(tensor.handle))
    local readers = {}
    for i = 1, select("#", ...) do readers[i] = reader(select(i, ...), tensor, name) end
    if count == 0 then return tensor end
    recording.begin(tensor, name)
    local first, second = readers[1], readers[2]
    local next_place, of = walker(handle), types[handle.dtype]
    for _ = 1, count do
        local at = next_place()
        local value = f(of.read(storage_with(handle, at, of, name), at), first and first(), second and second())
        if type(value) == "boolean" then value = value and 1 or 0 end
        if value ~= nil and type(value) ~= "number" then errors.raise(name .. ": the function returned a " .. type(value)) end
        if value then of.write(storage_with(handle, at, of, name), at, value) end
    end
    return tensor
end

--- `t[i] = f(t[i])` for each element, in row-major order. If `f` returns nil, the element is unchanged. Returns `t`.
function methods.apply(t, f) return transform("apply", f, t) end

--- `t[i] = f(t[i], a[i])`, where `a` is broadcast to the shape of `t`.
function methods.map(t, a, f) return transform("map", f, t, a) end

--- `t[i] = f(t[i], a[i], b[i])`.
function methods.map2(t, a, b, f) return transform("map2", f, t, a, b) end

-- Returns the sizes of a nested table.
local function sizes_of(list)
    local sizes = {}
    while type(list) == "table" do
        sizes[#sizes + 1] = #list
        list = list[1]
    end
    return sizes
end

local is_number = integers.is_number

local function flatten(list, sizes, d, values)
    if d > #sizes then
        if not is_number(list) and type(list) ~= "boolean" then errors.raise("tensor: an element is a " .. type(list)) end
        values[#values + 1] = list
        return
    end
    if type(list) ~= "table" or #list ~= sizes[d] then errors.raise("tensor: the lists in a list differ in length") end
    for i = 1, #list do flatten(list[i], sizes, d + 1, values) end
end

-- Returns the numbers of a list in an array of C, the dtype of the array, and the default dtype of a tensor with these elements.
local function array_of(values)
    local boxed, truths = 0, 0
    for i, value in ipairs(values) do
        if type(value) == "boolean" then
            values[i] = value and 1 or 0
            truths = truths + 1
        elseif type(value) ~= "number" then
            if integers.is_above_int64(value) then errors.raise("tensor: an element is above 2^63 - 1: " .. tostring(value)) end
            boxed = boxed + 1
        end
    end
    local is_int64 = boxed > 0 and boxed == #values
    local array = ffi.new(is_int64 and "int64_t[?]" or "double[?]", #values)
    for i, value in ipairs(values) do array[i - 1] = value end
    if is_int64 then return array, C.TH_INT64, C.TH_INT64 end
    return array, C.TH_FLOAT64, truths > 0 and truths == #values and C.TH_BOOL or C.THGetDefaultDtype()
end

--- Returns a tensor with the elements of a nested table, or with one number. Its dtype is `dtype`; without that, Bool for truth values,
--- Int64 for integers of the FFI, and the default dtype for numbers. The last argument may be a table with `dtype` and `requires_grad`.
function special.tensor(list, dtype)
    local options = type(dtype) == "table" and not dtypes.is(dtype) and dtype or {}
    if options == dtype then dtype = options.dtype end
    local of = dtype and (dtypes.is(dtype) or type(dtype) == "string") and dtypes.of(dtype)
    if dtype and not of then errors.raise("tensor: " .. tostring(dtype) .. " is no dtype") end
    local sizes, values = sizes_of(list), {}
    flatten(list, sizes, 1, values)
    local array, stored, code = array_of(values)
    local made = library.own(C.THTensor_newFromData(stored, #sizes, ffi.new("int64_t[?]", #sizes, sizes), array), "tensor")
    local r = origin.own(C.THTensor_newTo(made.handle, of and of.code or code), "tensor")
    return (options.requires_grad or options.requiresGrad) and r:setRequiresGrad(true) or r
end

return special
