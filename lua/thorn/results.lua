-- Optional results as first arguments, for all families of functions.

local arguments = require("thorn.arguments")
local construct = require("thorn.construct")
local errors = require("thorn.errors")
local library = require("thorn.library")
local recording = require("thorn.recording")
local types = require("thorn.types")

local C, own = library.C, library.own
local tensor, is_tensor = arguments.tensor, arguments.is_tensor

local results = {}

--- Reads `([result,] t, ...)`, where no tensor follows `t`. Returns the result, new if it is omitted, `t`, and the position of the next
--- argument.
function results.optional(name, a, b)
    tensor(a, 1, name)
    if is_tensor(b) then return a, tensor(b, 2, name, a), 3 end
    return construct.like(a, name), a, 2
end

--- As `optional`, but returns the following arguments instead of their position. `a`, `b` and at most four more are the arguments.
function results.split(name, a, b, c, d, e, f)
    if is_tensor(b) then return tensor(a, 1, name), tensor(b, 2, name, a), 3, c, d, e, f end
    return construct.like(tensor(a, 1, name), name), a, 2, b, c, d, e
end

--- Reads `([result,] ..., [type])` of a function that makes a tensor. Returns the result, the position of the next argument, and the
--- arguments from there on. Without a result, a new tensor has the type of this name, or the default type.
function results.made(name, first, ...)
    if is_tensor(first) then return first, 2, ... end
    local count = select("#", ...)
    local last = count > 0 and select(count, ...) or nil
    if type(last) ~= "string" then return own(C.THTensor_newWithDtype(construct.default().code), name), 1, first, ... end
    local record, rest = types.of_tensor[last], { first, ... }
    if not record then errors.argument(count + 1, name, "unknown type " .. last) end
    rest[count + 1] = nil
    return own(C.THTensor_newWithDtype(record.code), name), 1, unpack(rest, 1, count)
end

-- True if the library may save the positions for backward that the current function computes.
local may_save = false

local function note_graph(t) may_save = recording.is_used and recording.has_graph(t) end

--- Reads `([values, [indices,]] t, ...)`: returns values, indices, `t`, the position of the next argument, and the following arguments.
function results.values_and_indices(name, a, b, c, d, e, f, g)
    tensor(a, 1, name)
    note_graph(is_tensor(b) and (is_tensor(c) and c or b) or a)
    if is_tensor(b) and is_tensor(c) then
        return a, arguments.tensor_of(C.TH_INT64, b, 2, name), tensor(c, 3, name, a), 4, d, e, f, g
    end
    if is_tensor(b) then return a, results.new_indices(name), tensor(b, 2, name, a), 3, c, d, e, f end
    return construct.like(a, name), own(C.THTensor_newWithDtype(C.TH_INT64), name), a, 2, b, c, d, e
end

--- Makes an empty LongTensor.
function results.new_indices(name) return own(C.THTensor_newWithDtype(C.TH_INT64), name) end

--- Makes positions from the library, which count from 0, count from 1. If the library has saved the positions, they move to new memory.
function results.count_from_1(indices, name)
    local handle, storage = indices.handle, indices.handle.storage
    if may_save and storage ~= nil and C.THStorage_refcount(storage) > 1 then
        local counted = results.new_indices(name)
        library.check(C.THTensor_add(counted.handle, handle, 1), name)
        library.check(C.THTensor_set(handle, counted.handle), name)
    else
        library.check(C.THTensor_add(handle, handle, 1), name)
    end
    return indices
end

--- Returns a number that the library has computed. NaN may be the value or mean an error. A second call of the function distinguishes the
--- two.
function results.value(name, f, ...)
    local r = f(...)
    if r == r then return r end
    C.THClearLastError()
    r = f(...)
    if C.THGetLastErrorCode() ~= 0 then library.fail(name) end
    return r
end

return results
