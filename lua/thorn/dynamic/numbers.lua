-- Results that Torch7 returns as numbers, computed as tensors without dimensions. They have a history, so that a loss that a method
-- computes has a backward: `(x * w):sum():backward()`. `recording` calls these functions for tensors with a graph.

local ffi = require("ffi")
local library = require("thorn.library")
local recording = require("thorn.recording")

local C, istype, Tensor = library.C, ffi.istype, library.Tensor

local numbers = {}

-- Returns true if Torch7 combines both tensors: they have the same type and number of elements.
local function fit(a, b)
    return istype(Tensor, a) and istype(Tensor, b) and a.handle.dtype == b.handle.dtype
        and C.THTensor_nElement(a.handle) == C.THTensor_nElement(b.handle)
end

local function has_dimensions(t, count) return istype(Tensor, t) and t.handle.nDimension == count end

local function is_number_or_nil(value) return value == nil or type(value) == "number" end

--- Sets `recording.as_tensors` to functions that are composed of functions of `thorn`.
function numbers.define(thorn)
    local found = recording.as_tensors

    for _, name in ipairs({ "sum", "mean", "prod", "max", "min" }) do
        found[name] = function(t, dim) return dim == nil and thorn[name](t) or nil end
    end

    for _, name in ipairs({ "std", "var" }) do
        found[name] = function(t, biased)
            return (biased == nil or type(biased) == "boolean") and thorn[name](t, { biased = biased or false }) or nil
        end
    end

    function found.norm(t, p, dim) return dim == nil and is_number_or_nil(p) and thorn.norm(t, { value = p or 2 }) or nil end

    function found.dot(a, b) return fit(a, b) and thorn.dot(thorn.flatten(a), thorn.flatten(b)) or nil end

    function found.dist(a, b, p)
        return fit(a, b) and is_number_or_nil(p) and thorn.norm(thorn.sub(thorn.flatten(a), thorn.flatten(b)), { value = p or 2 }) or nil
    end

    function found.trace(t) return has_dimensions(t, 2) and thorn.sum(thorn.diag(t)) or nil end

    function found.select(t, dim, i)
        return dim == 1 and type(i) == "number" and has_dimensions(t, 1) and thorn.select(t, 1, i) or nil
    end
end

--- Returns the functions `trace` and `dist` of `thorn`. `plain` has the library's functions, which return numbers.
function numbers.functions(plain)
    local found = {}
    for _, name in ipairs({ "trace", "dist" }) do
        found[name] = recording.choose(
            function(...) return recording.as_tensors[name](...) end,
            function(...) return plain[name](...) end)
    end
    return found
end

return numbers
