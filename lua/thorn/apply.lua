-- Callbacks for each element: apply, map, map2. Elements are visited in row-major order.
--
-- The loops are in Lua and read memory directly, so LuaJIT compiles them together with the callback. If the callback raises an error, the
-- elements before stay changed.

local arguments = require("thorn.arguments")
local errors = require("thorn.errors")
local library = require("thorn.library")
local namespace = require("thorn.namespace")
local recording = require("thorn.recording")
local types = require("thorn.types")

local C = library.C
local torch, methods = namespace.torch, namespace.methods
local tensor = arguments.tensor
local tonumber = tonumber

-- Returns the position in the storage of element `i`, counted from 0 in row-major order.
local function locate(handle, i)
    local position = tonumber(handle.storageOffset)
    for d = handle.nDimension - 1, 0, -1 do
        local size = tonumber(handle.size[d])
        local k = i % size
        position = position + k * tonumber(handle.stride[d])
        i = (i - k) / size
    end
    return position
end

-- The elements of a contiguous tensor are consecutive, so `locate` is not needed.
local function position_of(t, is_contiguous, i)
    if is_contiguous then return tonumber(t.handle.storageOffset) + i end
    return locate(t.handle, i)
end

local function contiguous(t) return C.THTensor_isContiguous(t.handle) ~= 0 end

local function func(f, position, name)
    if type(f) ~= "function" then arguments.expected("function", f, position, name) end
end

local function same_count(t, other, name)
    local a, b = tonumber(C.THTensor_nElement(t.handle)), tonumber(C.THTensor_nElement(other.handle))
    if a ~= b then
        errors.raise(("%s: inconsistent tensor sizes %s and %s"):format(name, arguments.shape(t), arguments.shape(other)))
    end
    return a
end

-- Stores the callback's result in an element, unless the result is nil.
local function store(record, t, position, result, name)
    if type(result) == "number" then return record.write(t.handle.storage, position, result) end
    if result ~= nil then errors.raise(name .. ": the function returned a " .. arguments.typename(result) .. ", not a number") end
end

--- Calls `f(element)` for each element. If it returns a number, the number replaces the element.
function methods.apply(t, f)
    tensor(t, 1, "apply")
    func(f, 2, "apply")
    recording.begin(t, "apply")
    local record, is_contiguous = types[t.handle.dtype], contiguous(t)
    for i = 0, tonumber(C.THTensor_nElement(t.handle)) - 1 do
        local position = position_of(t, is_contiguous, i)
        store(record, t, position, f(record.read(t.handle.storage, position)), "apply")
    end
    return t
end

--- Calls `f(element, element of a)` for each element. `a` has the same number of elements, in any shape. If `f` returns a number, the
--- number replaces the element.
function methods.map(t, a, f)
    tensor(t, 1, "map")
    tensor(a, 2, "map", t)
    func(f, 3, "map")
    recording.begin(t, "map")
    local record, is_contiguous, a_contiguous = types[t.handle.dtype], contiguous(t), contiguous(a)
    for i = 0, same_count(t, a, "map") - 1 do
        local position = position_of(t, is_contiguous, i)
        local x = record.read(t.handle.storage, position)
        local y = record.read(a.handle.storage, position_of(a, a_contiguous, i))
        store(record, t, position, f(x, y), "map")
    end
    return t
end

--- As `map`, with `f(element, element of a, element of b)`.
function methods.map2(t, a, b, f)
    tensor(t, 1, "map2")
    tensor(a, 2, "map2", t)
    tensor(b, 3, "map2", t)
    func(f, 4, "map2")
    recording.begin(t, "map2")
    local record = types[t.handle.dtype]
    local is_contiguous, a_contiguous, b_contiguous = contiguous(t), contiguous(a), contiguous(b)
    same_count(t, a, "map2")
    for i = 0, same_count(t, b, "map2") - 1 do
        local position = position_of(t, is_contiguous, i)
        local x = record.read(t.handle.storage, position)
        local y = record.read(a.handle.storage, position_of(a, a_contiguous, i))
        local z = record.read(b.handle.storage, position_of(b, b_contiguous, i))
        store(record, t, position, f(x, y, z), "map2")
    end
    return t
end

for _, name in ipairs({ "apply", "map", "map2" }) do torch[name] = methods[name] end
