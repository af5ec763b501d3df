-- The API that made a tensor: Torch7's, or the dynamic one. Operators have the meaning of this API, because `a * b` is a matrix product in
-- Torch7 and elementwise in PyTorch.
--
-- The field `is_dynamic` of a tensor is true if the dynamic API made it. The results of a method, and the slices of a tensor, have the
-- origin of this tensor. The results of functions of `torch` are Torch7's, and the results of functions of `thorn` are dynamic.

local ffi = require("ffi")
local library = require("thorn.library")

local istype, Tensor = ffi.istype, library.Tensor

local origin = {}

--- Returns true for a tensor that the dynamic API made.
function origin.is_dynamic(value) return istype(Tensor, value) and value.is_dynamic end

--- Returns the tensor of the dynamic API for a new `THTensor *`. NULL raises the library's error.
function origin.own(handle, name)
    local t = library.own(handle, name)
    t.is_dynamic = true
    return t
end

-- Sets the origin of the tensors among the values, and in lists. Returns the values.
local function set(is_dynamic, ...)
    for i = 1, select("#", ...) do
        local value = select(i, ...)
        if istype(Tensor, value) then
            value.is_dynamic = is_dynamic
        elseif type(value) == "table" then
            for _, entry in ipairs(value) do set(is_dynamic, entry) end
        end
    end
    return ...
end

-- Returns a method that calls `method` and gives its results the origin of the receiver.
local function inheriting(method)
    return function(t, ...)
        if not istype(Tensor, t) then return method(t, ...) end
        return set(t.is_dynamic, method(t, ...))
    end
end

-- The methods of dynamic tensors by the methods of all tensors.
local of_dynamic = setmetatable({}, { __mode = "k" })

--- Returns the method of dynamic tensors for a method of all tensors. Returns a value that is no function.
function origin.method_of_dynamic(method)
    if type(method) ~= "function" then return method end
    local found = of_dynamic[method]
    if not found then
        found = inheriting(method)
        of_dynamic[method] = found
    end
    return found
end

--- Returns the method of all tensors for a function of the dynamic API. Returns a value that is no function.
function origin.method_of_all(f)
    if type(f) ~= "function" then return f end
    local method = inheriting(f)
    of_dynamic[method] = f
    return method
end

return origin
