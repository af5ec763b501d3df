-- Helpers of THNN functions of images with 1, 2 or 3 dimensions: argument names, lists of numbers, views, checks and sums of gradients.

local ffi = require("ffi")
local binding = require("thorn.nn.binding")
local C = require("thorn.library").C

local th = binding.th
local new_list = ffi.typeof("int64_t[?]")

local images = {}

--- Prefixes of the names of functions for 1, 2 and 3 dimensions.
images.PREFIXES = { "Temporal", "Spatial", "Volumetric" }

-- The dimensions in the order of THNN's arguments. In memory, the height precedes the width.
local LETTERS = { "W", "W H", "T W H" }

--- Names the arguments of groups, each with a number for each dimension: `names(2, "k pad")` is "kW:int kH:int padW:int padH:int".
function images.names(dims, groups)
    return (groups:gsub("%S+", function(group) return (LETTERS[dims]:gsub("%u", group .. "%0:int")) end))
end

--- Names the arguments of groups that may be nil.
function images.optional_names(dims, groups) return (images.names(dims, groups):gsub(":int", "%0?")) end

-- Returns the numbers of a group, 0 in place of nil, as a list in the order of the dimensions in memory.
local function in_memory_order(dims, a, b, c)
    if dims == 1 then return new_list(1, a or 0) end
    if dims == 2 then return new_list(2, b or 0, a or 0) end
    return new_list(3, a or 0, c or 0, b or 0)
end

--- Returns the first `count` groups of numbers as lists in the order of the dimensions in memory.
function images.lists(dims, count, ...)
    if count == 0 then return end
    local a, b, c = ...
    return in_memory_order(dims, a, b, c), images.lists(dims, count - 1, select(dims + 1, ...))
end

--- Returns the numbers as a list.
function images.list(...) return new_list(select("#", ...), ...) end

--- Returns a list with `number` for each dimension.
function images.uniform(dims, number) return new_list(dims, number) end

--- Returns the size of dimension `d`, from 0; negative numbers count from the end.
function images.size(t, d)
    if d >= t.nDimension or d < -t.nDimension then binding.raise("%s has too few dimensions", binding.shape(t)) end
    return binding.size(t, d)
end

--- Returns a temporary view of `t` with the last two dimensions swapped: channels and time.
function images.swapped(t) return th.newTranspose(t, -1, -2) end

--- Gives `r` the sizes and the elements of `t`.
function images.assign(r, t)
    th.resizeAs(r, t)
    th.copy(r, t)
end

--- Raises an error unless the argument `t` with this position has the sizes of `other`.
function images.check_sizes(t, other, position)
    if C.THTensor_isSameSizeAs(t, other) == 0 then
        binding.argument(position, "%s expected, got %s", binding.shape(other), binding.shape(t))
    end
end

--- Raises an error unless the argument `t` with this position has `lowest` to `highest` dimensions.
function images.check_dimensions(t, lowest, highest, position)
    if t.nDimension < lowest or t.nDimension > highest then
        binding.argument(position, "%d to %d dimensions expected, got %s", lowest, highest, binding.shape(t))
    end
end

--- Computes `gradInput`, the gradient of `f(input)`, from the gradient of this result, by recording `f`.
function images.gradient(f, input, gradOutput, gradInput)
    th.resizeAs(gradInput, input)
    binding.gradient(f, input, gradOutput, gradInput)
end

local function check_elements(gradient, change, position)
    if binding.elements(gradient) ~= binding.elements(change) then
        binding.argument(position, "%s expected, got %s", binding.shape(change), binding.shape(gradient))
    end
end

--- Adds `scale` times the changes to the gradients, arguments 3 and 4. The last two may be nil.
function images.accumulate(scale, gradWeight, change, gradBias, bias_change)
    check_elements(gradWeight, change, 3)
    if gradBias then check_elements(gradBias, bias_change, 4) end
    th.cadd(gradWeight, gradWeight, scale, binding.like(change, gradWeight))
    if gradBias then th.cadd(gradBias, gradBias, scale, binding.like(bias_change, gradBias)) end
end

return images
