-- Functions under PyTorch's names and with PyTorch's arguments that are not rows, composed of functions of the library.

local ffi = require("ffi")
local errors = require("thorn.errors")
local library = require("thorn.library")
local dtypes = require("thorn.dynamic.dtypes")

local C, istype, Tensor = library.C, ffi.istype, library.Tensor

local pytorch = {}

--- PyTorch's names of operations of the library.
pytorch.names = {
    binaryCrossEntropy = "bce", binaryCrossEntropyWithLogits = "bceWithLogits", concat = "cat", maximum = "cmax", minimum = "cmin",
    ndim = "nDimension", shape = "sizes", repeat_ = "repeat",
}

local function must_be_tensor(value, name)
    if not istype(Tensor, value) then errors.raise(name .. ": a tensor is expected") end
end

--- Returns true for a tensor.
local function is_tensor(value) return istype(Tensor, value) end

--- Returns the elements as nested tables, or the element of a tensor without dimensions as a number.
local function tolist(t)
    must_be_tensor(t, "tolist")
    if t.handle.nDimension == 0 and C.THTensor_nElement(t.handle) == 1 then return t:item() end
    return t:totable()
end

--- Returns the name of the device: "cpu" or "cuda:0".
local function device(t)
    must_be_tensor(t, "device")
    return t.handle.deviceType == C.TH_CPU and "cpu" or "cuda:" .. t.handle.deviceIndex
end

--- Sets that a leaf requires a gradient, or that it does not if `flag` is false. Returns the leaf.
local function requires_grad_(t, flag)
    must_be_tensor(t, "requires_grad_")
    return t:setRequiresGrad(flag ~= false)
end

--- Returns the functions by name. `thorn` is the namespace, and `plain` has the functions of the rows.
function pytorch.functions(thorn, plain)
    local found = { isTensor = is_tensor, tolist = tolist, device = device, requiresGrad_ = requires_grad_ }

    --- Returns the identity matrix of `n` rows and, if given, `m` columns.
    function found.eye(n, m, options)
        if type(n) == "number" and (m == nil or type(m) == "table" and m.m == nil) then m, options = n, m end
        return plain.eye(n, m, options)
    end

    --- Returns `x weight^T + bias`. The bias is optional.
    function found.linear(x, weight, bias)
        must_be_tensor(weight, "linear")
        local y = thorn.matmul(x, thorn.t(weight))
        return bias and thorn.add(y, bias) or y
    end

    --- Returns the tensor with another dtype, or on another device: "cpu", "cuda", "cuda:1".
    function found.to(t, target, ...)
        local number = type(target) == "string" and not dtypes.of(target) and target:match("^cuda:?(%d*)$")
        if number then return thorn.cuda(t, tonumber(number) or 0) end
        if target == "cpu" then return thorn.cpu(t) end
        return plain.to(t, target, ...)
    end

    return found
end

return pytorch
