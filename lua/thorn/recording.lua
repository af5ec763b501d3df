-- Functions of Lua that the library does not see, where gradients are recorded.
--
-- The package writes single elements to memory itself. The library does not see such a write, so that it could neither refuse the write
-- to a leaf, nor record it, nor notice that a saved tensor has changed. From the first use of gradients on, the library writes them.
--
-- Torch7's methods return some results as numbers, which have no history. From the first use of gradients on, these methods return tensors
-- where the history matters. Programs without gradients call Torch7's methods directly.

local ffi = require("ffi")
local errors = require("thorn.errors")
local library = require("thorn.library")
local namespace = require("thorn.namespace")

local C, istype, Tensor, own, check = library.C, ffi.istype, library.Tensor, library.own, library.check

-- A dimension without elements.
local size, stride = ffi.new("int64_t[1]", 0), ffi.new("int64_t[1]", 1)

local recording = {
    --- True from the first use of gradients in this program on.
    is_used = false,
    --- Functions that compute as tensors what Torch7's functions of the same names return as numbers. They return nil for arguments with
    --- which Torch7's function raises an error or returns a tensor.
    as_tensors = {},
}

--- Returns true if the library records an operation that reads `t`.
function recording.has_graph(t)
    return istype(Tensor, t) and C.THTensor_requiresGrad(t.handle) == 1 and C.THGrad_isEnabled() ~= 0
end
local has_graph = recording.has_graph

--- Returns a function that calls `as_tensor` if one of the first two arguments has a graph, and `as_number` otherwise, or if `as_tensor`
--- returns nil.
function recording.choose(as_tensor, as_number)
    return function(a, b, c, d)
        local r = (has_graph(a) or has_graph(b)) and as_tensor(a, b, c)
        if r then return r end
        return as_number(a, b, c, d)
    end
end

-- Replaces the function of Torch7 with this name, as a method of all types and in `torch`.
local function replace(name, as_tensor)
    local old = namespace.methods[name]
    local chosen = recording.choose(as_tensor, old)
    if rawequal(namespace.torch[name], old) then namespace.torch[name] = chosen end
    namespace.replace(name, chosen)
end

--- Prepares the package for gradients. The dynamic API calls this function before the program can make the first leaf.
function recording.start()
    if recording.is_used then return end
    recording.is_used = true
    for name, as_tensor in pairs(recording.as_tensors) do replace(name, as_tensor) end
end

--- Writes a number to the element of a tensor of floats at a position of its storage.
function recording.write(t, position, value, name)
    local element = own(C.THTensor_newAsStrided(t.handle, 0, size, stride, position), name)
    check(C.THTensor_fill(element.handle, value), name)
end

--- Fails where a function of Lua for each element may not write to a tensor; else counts the write.
function recording.begin(t, name)
    if not recording.is_used then return end
    if has_graph(t) then
        errors.raise(name .. ": the tensor requires a gradient, and a function of Lua has no derivative; "
            .. "call it in a function that thorn.no_grad calls")
    end
    local none = own(C.THTensor_newAsStrided(t.handle, 1, size, stride, t.handle.storageOffset), name)
    check(C.THTensor_zero(none.handle), name)
end

return recording
