-- Tensors of positions, which count from 1 in Lua and from 0 in the library.

local ffi = require("ffi")
local errors = require("thorn.errors")
local library = require("thorn.library")
local origin = require("thorn.origin")
local integers = require("thorn.integers")

local C, own, check = library.C, origin.own, library.check

local positions = {}

local function fresh() return own(C.THTensor_new()) end

--- Returns true for a tensor of truth values, which is a mask when positions are expected.
function positions.is_mask(tensor)
    local dtype = tensor.handle ~= nil and tensor.handle.dtype
    return dtype == C.TH_BOOL or dtype == C.TH_UINT8
end

-- Returns a tensor with the numbers of a list, or of lists of equal length.
local function tensor_of(list, argument, name)
    local rows = type(list[1]) == "table" and list or { list }
    local count = #rows[1]
    local values = ffi.new("int64_t[?]", #rows * count)
    for r, row in ipairs(rows) do
        if type(row) ~= "table" or #row ~= count then errors.raise(("%s: lists in %s differ in length"):format(name, argument.name)) end
        for i, position in ipairs(row) do
            position = integers.unboxed(position)
            if type(position) ~= "number" or math.floor(position) ~= position or math.abs(position) > 2 ^ 53 then
                errors.raise(("%s: %s has no whole number at place %d"):format(name, argument.name, i))
            end
            values[(r - 1) * count + i - 1] = position
        end
    end
    local is_vector = rows[1] == list
    local sizes = is_vector and ffi.new("int64_t[1]", count) or ffi.new("int64_t[2]", #rows, count)
    return own(C.THTensor_newFromData(C.TH_INT64, is_vector and 1 or 2, sizes, values))
end

--- Returns a new tensor with the positions of `tensor`, or of a list of numbers or of lists, counted from 0. Negative positions are
--- unchanged; 0 is an error.
function positions.from_one(tensor, argument, name)
    if type(tensor) == "table" then tensor = tensor_of(tensor, argument, name) end
    -- The library refuses tensors of other dtypes itself.
    if tensor.handle == nil or C.THDtype_isIntegral(tensor.handle.dtype) == 0 then return tensor end
    local mask, shifted = fresh(), fresh()
    check(C.THTensor_eqValue(mask.handle, tensor.handle, 0), name)
    if C.THTensor_logicalany(mask.handle) ~= 0 then
        errors.raise(("%s: %s has a position 0, but positions count from 1"):format(name, argument.name))
    end
    check(C.THTensor_gtValue(mask.handle, tensor.handle, 0), name)
    check(C.THTensor_csub(shifted.handle, tensor.handle, 1, mask.handle), name)
    return shifted
end

--- Returns a new tensor with the positions of `tensor` counted from 1.
function positions.one_based(tensor, name)
    local shifted = fresh()
    check(C.THTensor_add(shifted.handle, tensor.handle, 1), name)
    return shifted
end

--- Returns a result with its positions counted from 1. A result that the program gave is changed in place. A new result is replaced if its
--- storage is shared, because a graph then has saved the positions for backward.
function positions.to_one(tensor, name, is_given)
    if not tensor then return tensor end
    local storage = tensor.handle.storage
    if not is_given and storage ~= nil and C.THStorage_refcount(storage) > 1 then return positions.one_based(tensor, name) end
    check(C.THTensor_add(tensor.handle, tensor.handle, 1), name)
    return tensor
end

return positions
