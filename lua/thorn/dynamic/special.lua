-- Functions that do in Lua what the row does by a function of C, and `tensor`, which is no row.
--
-- apply, map and map2 are loops of Lua: an error in the program's function passes through no frame of the library.

local ffi = require("ffi")
local errors = require("thorn.errors")
local library = require("thorn.library")
local types = require("thorn.types")
local dtypes = require("thorn.dynamic.dtypes")

local C, istype = library.C, ffi.istype
local Tensor = library.Tensor

-- Functions on tensors by their name.
local methods = {}

local special = { methods = methods }

-- Calls `visit` with the number of each element in the storage, in row-major order.
local function each(handle, visit)
    local ndim, sizes, strides = handle.nDimension, {}, {}
    local total = tonumber(C.THTensor_nElement(handle))
    for d = 1, ndim do sizes[d], strides[d] = tonumber(handle.size[d - 1]), tonumber(handle.stride[d - 1]) end
    local counter, at = {}, tonumber(handle.storageOffset)
    for d = 1, ndim do counter[d] = 0 end
    for _ = 1, total do
        visit(at)
        local d = ndim
        while d > 0 do
            counter[d], at = counter[d] + 1, at + strides[d]
            if counter[d] < sizes[d] then break end
            counter[d], at = 0, at - sizes[d] * strides[d]
            d = d - 1
        end
    end
end

local function on_host(tensor, name)
    if not istype(Tensor, tensor) or tensor.handle == nil then errors.raise(name .. ": a tensor is expected") end
    if tensor.handle.deviceType ~= C.TH_CPU then errors.raise(name .. ": a function of Lua reads elements of the host only") end
end

-- A function that reads the elements of `tensor`, spread to the shape of `like`, one after another.
local function reader(tensor, like, name)
    on_host(tensor, name)
    local spread = library.own(C.THTensor_newExpandAs(tensor.handle, like.handle), name)
    local places = {}
    each(spread.handle, function(at) places[#places + 1] = at end)
    local read, i = types[spread.handle.dtype].read, 0
    return function()
        i = i + 1
        return read(spread.handle.storage, places[i])
    end
end

-- Sets each element of `tensor` to `f(element, others...)`; nil leaves it.
local function transform(name, f, tensor, ...)
    on_host(tensor, name)
    if type(f) ~= "function" then errors.raise(name .. ": a function is expected") end
    local readers = {}
    for i = 1, select("#", ...) do readers[i] = reader(select(i, ...), tensor, name) end
    local first, second = readers[1], readers[2]
    local handle = tensor.handle
    local of = types[handle.dtype]
    if C.THTensor_nElement(handle) == 0 then return tensor end
    each(handle, function(at)
        local value = f(of.read(handle.storage, at), first and first(), second and second())
        if value == true or value == false then value = value and 1 or 0 end
        if value ~= nil and type(value) ~= "number" then errors.raise(name .. ": the function returned a " .. type(value)) end
        if value then of.write(handle.storage, at, value) end
    end)
    return tensor
end

--- `t[i] = f(t[i])` for each element, in row-major order; an element for which `f` returns nil stays. Returns `t`.
function methods.apply(t, f) return transform("apply", f, t) end

--- `t[i] = f(t[i], a[i])`, where `a` is broadcast to the shape of `t`.
function methods.map(t, a, f) return transform("map", f, t, a) end

--- `t[i] = f(t[i], a[i], b[i])`.
function methods.map2(t, a, b, f) return transform("map2", f, t, a, b) end

-- The sizes of a nested table.
local function sizes_of(list)
    local sizes = {}
    while type(list) == "table" do
        sizes[#sizes + 1] = #list
        list = list[1]
    end
    return sizes
end

local function flatten(list, sizes, d, values)
    if d > #sizes then
        if type(list) ~= "number" and type(list) ~= "boolean" then errors.raise("tensor: an element is a " .. type(list)) end
        values[#values + 1] = list
        return
    end
    if type(list) ~= "table" or #list ~= sizes[d] then errors.raise("tensor: the lists in a list differ in length") end
    for i = 1, #list do flatten(list[i], sizes, d + 1, values) end
end

--- A tensor with the elements of a nested table, or of one number. Its dtype is `dtype`, else Bool for truth values, else the default
--- dtype.
function special.tensor(list, dtype)
    if type(dtype) == "table" and not dtypes.is(dtype) then dtype = dtype.dtype end
    local of = dtype and (dtypes.is(dtype) or type(dtype) == "string") and dtypes.of(dtype)
    if dtype and not of then errors.raise("tensor: " .. tostring(dtype) .. " is no dtype") end
    local sizes, values = sizes_of(list), {}
    flatten(list, sizes, 1, values)
    local numbers, truths = ffi.new("double[?]", #values), 0
    for i, value in ipairs(values) do
        if type(value) == "boolean" then
            value = value and 1 or 0
            truths = truths + 1
        end
        numbers[i - 1] = value
    end
    local made = library.own(C.THTensor_newFromData(C.TH_FLOAT64, #sizes, ffi.new("int64_t[?]", #sizes, sizes), numbers), "tensor")
    local code = of and of.code or truths > 0 and truths == #values and C.TH_BOOL or C.THGetDefaultDtype()
    return library.own(C.THTensor_newTo(made.handle, code), "tensor")
end

return special
