-- Writes of Lua to elements of tensors, where gradients are recorded.
--
-- The package writes single elements to memory itself. The library does not see such a write, so that it could neither refuse the write to a
-- leaf, nor record it, nor notice that a saved tensor has changed. From the first use of gradients on, the library writes them.

local ffi = require("ffi")
local errors = require("thorn.errors")
local library = require("thorn.library")

local C, own, check = library.C, library.own, library.check

-- A dimension without elements.
local size, stride = ffi.new("int64_t[1]", 0), ffi.new("int64_t[1]", 1)

local recording = {
    --- True from the first use of gradients in this program on.
    is_used = false,
}

--- Writes a number to the element of a tensor of floats at a position of its storage.
function recording.write(t, position, value, name)
    local element = own(C.THTensor_newAsStrided(t.handle, 0, size, stride, position), name)
    check(C.THTensor_fill(element.handle, value), name)
end

--- Fails where a function of Lua for each element may not write to a tensor; else counts the write.
function recording.begin(t, name)
    if not recording.is_used then return end
    if C.THGrad_isEnabled() ~= 0 and C.THTensor_requiresGrad(t.handle) ~= 0 then
        errors.raise(name .. ": the tensor requires a gradient, and a function of Lua has no derivative; "
            .. "call it in a function that thorn.no_grad calls")
    end
    local none = own(C.THTensor_newAsStrided(t.handle, 1, size, stride, t.handle.storageOffset), name)
    check(C.THTensor_zero(none.handle), name)
end

return recording
