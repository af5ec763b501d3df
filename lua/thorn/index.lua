-- The operator `[]` of tensors: reads and writes elements, slices and masked elements.
--
--   t[i]                 element i of a vector, otherwise slice i of the first dimension
--   t[{i, j}]            an element; with fewer numbers than dimensions, a slice
--   t[{i, {s, e}, {}}]   the slice i, the range from s to e, the whole dimension
--   t[LongStorage]       an element
--   t[ByteTensor]        the elements where the mask is 1, as a vector
--
-- Negative indices count from the end. A slice shares the memory of the tensor.

local ffi = require("ffi")
local arguments = require("thorn.arguments")
local errors = require("thorn.errors")
local integers = require("thorn.integers")
local library = require("thorn.library")
local recording = require("thorn.recording")
local types = require("thorn.types")

local C, own, check = library.C, library.own, library.check
local Tensor, Storage = library.Tensor, library.Storage
local istype = ffi.istype
local BYTE, BOOL = C.TH_UINT8, C.TH_BOOL
local tonumber, ceil, floor = tonumber, math.ceil, math.floor

local index = {}

-- Sizes and strides of the current slice.
local sizes = ffi.new("int64_t[?]", arguments.MAX_DIMENSIONS)
local strides = ffi.new("int64_t[?]", arguments.MAX_DIMENSIONS)

local function out_of_range(i, d, size)
    errors.raise(("index %s is out of range of dimension %d, which has size %d"):format(tostring(i), d + 1, size))
end

-- Returns the program's index `i`, from 1 or negative from the end, counted from 0 and without its fraction. Dimension `d` counts from 0.
local function entry(handle, i, d)
    local size = tonumber(handle.size[d])
    i = i < 0 and ceil(i) or floor(i)
    local from_0 = i < 0 and size + i or i - 1
    if not (from_0 >= 0 and from_0 < size) then out_of_range(i, d, size) end
    return from_0
end

local function no_dimensions() errors.raise("an empty tensor has no elements to index") end

-- Returns the position in the storage of element `i` of a vector.
local function vector_position(handle, i)
    return tonumber(handle.storageOffset) + entry(handle, i, 0) * tonumber(handle.stride[0])
end

-- Returns the range that `{}`, `{i}` or `{first, last}` means: its first index from 0 and its length.
local function range(handle, bounds, d)
    if bounds[1] == nil then return 0, tonumber(handle.size[d]) end
    if type(bounds[1]) ~= "number" or type(bounds[2] or 0) ~= "number" or bounds[3] ~= nil then
        errors.raise("a range of indices is {}, {index} or {first, last}")
    end
    local first = entry(handle, bounds[1], d)
    local last = bounds[2] and entry(handle, bounds[2], d) or first
    if last < first then errors.raise(("the range {%d, %d} is empty"):format(bounds[1], bounds[2])) end
    return first, last - first + 1
end

-- Returns a new handle of elements of `t` as a tensor.
local function part(t, handle)
    local r = own(handle, "[]")
    r.is_dynamic = t.is_dynamic
    return r
end

-- Reads a table of indices. Returns the position of the first selected element, and the number of remaining dimensions, whose sizes and
-- strides are in `sizes` and `strides`.
local function slice(handle, key)
    local position, left, count = tonumber(handle.storageOffset), 0, #key
    if count > handle.nDimension then
        errors.raise(("%d indices for a tensor of %d dimensions"):format(count, handle.nDimension))
    end
    for d = 0, handle.nDimension - 1 do
        local k, stride = key[d + 1], tonumber(handle.stride[d])
        if type(k) == "number" then
            position = position + entry(handle, k, d) * stride
        elseif k == nil or type(k) == "table" then
            local first, length = range(handle, k or {}, d)
            position = position + first * stride
            sizes[left], strides[left] = length, stride
            left = left + 1
        elseif integers.is_boxed(k) then
            position = position + entry(handle, tonumber(k), d) * stride
        else
            errors.raise("an index in a table is a number or a range, not a " .. arguments.typename(k))
        end
    end
    return position, left
end

local function element_key(handle, storage)
    local count = arguments.long_storage(storage, 2, "[]")
    if count ~= handle.nDimension then
        errors.raise(("%d indices for a tensor of %d dimensions"):format(count, handle.nDimension))
    end
    local position = tonumber(handle.storageOffset)
    for d = 0, count - 1 do
        position = position + entry(handle, tonumber(arguments.list[d]), d) * tonumber(handle.stride[d])
    end
    return position
end

local function view(t, position, left)
    return part(t, C.THTensor_newAsStrided(t.handle, left, sizes, strides, position))
end

local function is_mask(key) return istype(Tensor, key) and (key.handle.dtype == BYTE or key.handle.dtype == BOOL) end

-- Returns a mask in the shape of the tensor. The mask may have its elements in any shape.
local function shaped_mask(t, mask)
    local handle = t.handle
    if C.THTensor_isSameSizeAs(mask.handle, handle) ~= 0 then return mask end
    if C.THTensor_nElement(mask.handle) ~= C.THTensor_nElement(handle) then
        errors.raise(("a mask of size %s for a tensor of size %s"):format(arguments.shape(mask), arguments.shape(t)))
    end
    return own(C.THTensor_newReshape(mask.handle, handle.nDimension, handle.size), "[]")
end

-- Returns an integer of the FFI as a number. Raises an error for other values.
local function number_of(key)
    if integers.is_boxed(key) then return tonumber(key) end
    errors.raise("an index is a number, a table, a torch.LongStorage or a torch.ByteTensor, not a " .. arguments.typename(key))
end

local function slice_of_first(t, i)
    local handle = t.handle
    if handle.nDimension == 0 then no_dimensions() end
    return part(t, C.THTensor_newSelect(handle, 0, entry(handle, i, 0)))
end

--- `t[key]`
function index.get(t, key)
    local handle = t.handle
    if type(key) == "number" then
        if handle.nDimension ~= 1 then return slice_of_first(t, key) end
        return types[handle.dtype].read(handle.storage, vector_position(handle, key))
    elseif type(key) == "table" then
        if handle.nDimension == 0 then no_dimensions() end
        local position, left = slice(handle, key)
        if left == 0 then return types[handle.dtype].read(handle.storage, position) end
        return view(t, position, left)
    elseif istype(Storage, key) then
        return types[handle.dtype].read(handle.storage, element_key(handle, key))
    elseif is_mask(key) then
        local mask, r = shaped_mask(t, key), part(t, C.THTensor_newWithDtype(handle.dtype))
        check(C.THTensor_maskedSelect(r.handle, t.handle, mask.handle), "[]")
        return r
    end
    return index.get(t, number_of(key))
end

-- Sets the element at a position of the storage to `value`, a number or a tensor of one element.
local function write(t, position, value)
    local handle = t.handle
    if istype(Tensor, value) and C.THTensor_nElement(value.handle) == 1 then
        value = types[value.handle.dtype].read(value.handle.storage, tonumber(value.handle.storageOffset))
    end
    if not integers.is_number(value) then errors.raise("a number expected, got " .. arguments.typename(value)) end
    if type(value) ~= "number" and handle.dtype ~= C.TH_INT64 then value = tonumber(value) end
    local of = types[handle.dtype]
    if recording.is_used and not of.integral then return recording.write(t, position, value, "[]") end
    of.write(handle.storage, position, value)
end

-- Sets the elements of a slice to `value`: a number, or a tensor with the same number of elements.
local function assign(part, value)
    if integers.is_number(value) then
        part:fill(value)
    elseif istype(Tensor, value) then
        part:copy(value)
    else
        errors.raise("a number or a tensor expected, got " .. arguments.typename(value))
    end
end

--- `t[key] = value`
function index.set(t, key, value)
    local handle = t.handle
    if type(key) == "number" then
        if handle.nDimension ~= 1 then return assign(slice_of_first(t, key), value) end
        write(t, vector_position(handle, key), value)
    elseif type(key) == "table" then
        if handle.nDimension == 0 then no_dimensions() end
        local position, left = slice(handle, key)
        if left == 0 then return write(t, position, value) end
        assign(view(t, position, left), value)
    elseif istype(Storage, key) then
        write(t, element_key(handle, key), value)
    elseif is_mask(key) then
        if type(value) == "number" then t:maskedFill(key, value) else t:maskedCopy(key, value) end
    else
        index.set(t, number_of(key), value)
    end
end

return index
