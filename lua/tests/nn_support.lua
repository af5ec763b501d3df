-- Inputs and calls for the tests of nn's functions.

local harness = require("harness")
local torch = require("thorn")
local THNN = require("nn.THNN")
local types = require("thorn.types")
local values = require("nn_values")

local support = {}

--- The types that nn's functions accept, with the tolerance for values of about 1.
support.types = { { name = "torch.DoubleTensor", tolerance = 1e-10 }, { name = "torch.FloatTensor", tolerance = 4e-6 } }

--- Calls `f(K, new, tolerance)` for each type: the functions, a maker of tensors, and the tolerance.
function support.each_type(f)
    for _, kind in ipairs(support.types) do
        local function new(x) return x and x:type(kind.name) or torch[types.of_tensor[kind.name].short .. "Tensor"]() end
        f(THNN.kernels[kind.name], new, kind.tolerance)
    end
end

--- A tensor of numbers from -2.1875 to 2.3125 in no order, none of which is 0.
function support.pattern(seed, ...)
    local t = torch.DoubleTensor(...)
    local flat = t:view(-1)
    for i = 1, flat:size(1) do flat[i] = ((i - 1) * 7 + seed * 5) % 19 / 4 - 9 / 4 + 1 / 16 end
    return t
end

--- A copy of a tensor whose elements are not contiguous.
function support.strided(t)
    local size = t:size():totable()
    size[#size + 1] = 2
    local r = t.new():resize(torch.LongStorage(size)):fill(-7):select(#size, 2)
    r:copy(t)
    return r
end

--- Calls a function of `K` with the pointers of tensors.
function support.call(K, name, ...)
    local list, n = { ... }, select("#", ...)
    for i = 1, n do
        if torch.isTensor(list[i]) then list[i] = list[i]:cdata() end
    end
    return K[name](unpack(list, 1, n))
end

--- Checks the elements of a tensor in row-major order. `expected` is a table, or the name of a value and its field.
function support.near(t, expected, tolerance, field)
    if field then expected = harness.check(values[expected], "no value " .. expected)[field] end
    harness.near(t:clone():view(-1), expected, tolerance)
end

--- The derivatives of `f(x)` by each element of `x`, by differences. `f` returns a number.
function support.differences(f, x)
    local r, step = {}, 1e-5
    for i = 1, x:nElement() do
        local function at(change)
            local moved = x:clone()
            local flat = moved:view(-1)
            flat[i] = flat[i] + change
            return f(moved)
        end
        r[i] = (at(step) - at(-step)) / (2 * step)
    end
    return r
end

return support
