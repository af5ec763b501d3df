-- Writes to a tensor of which several positions share one element: `x:expand(2, 3):add(1)`.
--
-- The library refuses such a result. In Torch7 the positions are written one after another in row-major order: each one reads what those
-- before have written, and the last one that writes an element wins. Here the tensor is taken apart along the dimensions in which positions
-- share elements, and the function is called for each part.

local ffi = require("ffi")
local arguments = require("thorn.arguments")
local library = require("thorn.library")

local C, own = library.C, library.own
local is_tensor = arguments.is_tensor
local abs = math.abs

local overlap = {}

-- True if the last call failed because positions of its result share elements.
local function is_refused() return ffi.string(C.THGetLastError()):find("share one element", 1, true) ~= nil end

-- True if no positions share an element, apart from those along dimensions of stride 0.
local function is_simple(handle)
    local dimensions = {}
    for d = 0, handle.nDimension - 1 do
        local size, stride = tonumber(handle.size[d]), abs(tonumber(handle.stride[d]))
        if size > 1 and stride > 0 then dimensions[#dimensions + 1] = { stride = stride, size = size } end
    end
    table.sort(dimensions, function(a, b) return a.stride < b.stride end)
    local reach = 0
    for _, dimension in ipairs(dimensions) do
        if dimension.stride <= reach then return false end
        reach = reach + dimension.stride * (dimension.size - 1)
    end
    return true
end

-- Returns the dimension from 0 along which a tensor is taken apart, or nil if its positions are different elements.
local function next_dimension(handle)
    local any_stride = not is_simple(handle)
    for d = 0, handle.nDimension - 1 do
        if handle.size[d] > 1 and (any_stride or handle.stride[d] == 0) then return d end
    end
end

-- Returns the results of `f(x, d, i)` for each operand `x` that is a tensor. Numbers stay.
local function for_tensors(f, d, i, ...)
    local operands, count = { ... }, select("#", ...)
    for k = 1, count do
        if is_tensor(operands[k]) then operands[k] = f(operands[k], d, i) end
    end
    return unpack(operands, 1, count)
end

local function entry(t, d, i) return own(C.THTensor_newNarrow(t.handle, d, i, 1)) end

local function handle_of(t) return t.handle end

-- Calls `f(r, ...)` for the parts of `r`. The operands are numbers, and tensors in the shape of `r`. Returns the status of the library.
local function for_parts(f, r, ...)
    local d = next_dimension(r.handle)
    if not d then
        -- No tail call, which would drop the tensors before `f` returns.
        local status = f(r.handle, for_tensors(handle_of, nil, nil, ...))
        return status
    end
    for i = 0, tonumber(r.handle.size[d]) - 1 do
        local status = for_parts(f, for_tensors(entry, d, i, r, ...))
        if status ~= 0 then return status end
    end
    return 0
end

-- A view of the elements of `r`, where dimensions of stride 0 have one entry.
local function elements(r)
    for d = 0, r.handle.nDimension - 1 do
        if r.handle.stride[d] == 0 then r = entry(r, d, 0) end
    end
    return r
end

-- After a call of `f(r, t, ...)` that failed: calls it for the parts of `r` if their overlap was the reason, else raises the library's
-- error. If a part fails, `r` is as before. If `accumulates`, `r` becomes a copy of `t` first.
local function write(accumulates, name, f, r, t, ...)
    if not is_refused() then library.fail(name) end
    local before, status = elements(r), 0
    local saved = own(C.THTensor_newClone(before.handle), name)
    if accumulates and t ~= r then t, status = r, for_parts(C.THTensor_copy, r, t) end
    if status == 0 then status = for_parts(f, r, t, ...) end
    if status == 0 then return end
    for_parts(C.THTensor_copy, before, saved)
    library.fail(name)
end

--- After a call of `f(r, ...)` that failed: makes the writes one after another if positions of `r` share elements, else raises the error of
--- the call. The operands are numbers, and tensors in the shape of `r`.
function overlap.write(name, f, r, ...) write(false, name, f, r, ...) end

--- As `write`, for a function `f(r, t, ...)` that adds to `t`. As in Torch7, `r` becomes a copy of `t`, and then each position adds to `r`.
function overlap.accumulate(name, f, r, t, ...) write(true, name, f, r, t, ...) end

return overlap
