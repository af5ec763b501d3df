-- The operators of tensors that the dynamic API made, dense and sparse. They are PyTorch's: elementwise, with broadcasting and promotion.
--
-- A tensor of Torch7 and a tensor of this API may be the operands of +, -, / and % where both meanings agree: with equal sizes and equal
-- dtypes of floats. Their product is an error, because it is a matrix product in Torch7.

local ffi = require("ffi")
local errors = require("thorn.errors")
local library = require("thorn.library")
local origin = require("thorn.origin")
local handles = require("thorn.dynamic.handles")
local integers = require("thorn.integers")

local C, istype = library.C, ffi.istype
local Tensor, Sparse = library.Tensor, handles.types.STensor.type
local is_number = integers.is_number

local operators = {}

local function is_sparse(value) return istype(Sparse, value) end

local function is_tensor(value) return istype(Tensor, value) end

local function wrong(operator) errors.raise(operator .. ": expected numbers, tensors and sparse tensors that the operator is for") end

-- The operators by name, and the functions of thorn that have their meaning.
local functions = { ["+"] = "add", ["-"] = "sub", ["*"] = "mul", ["/"] = "div", ["%"] = "remainder" }

-- Raises an error for operands from both APIs if the meanings of the operator differ.
local function must_agree(a, b, operator)
    if not (is_tensor(a) or is_sparse(a)) or not (is_tensor(b) or is_sparse(b)) then return end
    local is_of_torch = is_tensor(a) and not a.is_dynamic or is_tensor(b) and not b.is_dynamic
    if not is_of_torch then return end
    local is_same = operator ~= "*" and (is_sparse(a) or is_sparse(b)
        or a.handle.dtype == b.handle.dtype and C.THDtype_isFloat(a.handle.dtype) ~= 0 and C.THTensor_isSameSizeAs(a.handle, b.handle) ~= 0)
    if is_same then return end
    local meaning = operator == "*" and "a matrix product in torch, and elementwise in thorn; write thorn.matmul(a, b) or"
        or "another function in torch for operands of different sizes or types; write"
    errors.raise(("%s: torch made one operand and thorn the other, and a %s b is %s thorn.%s(a, b)")
        :format(operator, operator, meaning, functions[operator]))
end

-- The operators with sparse operands. `group` is `thorn.STensor`, and `dense` has the functions on tensors. The sum with a dense operand is
-- dense.
local function of_sparse(group, dense)
    local found = {}

    found["+"] = function(a, b)
        if is_sparse(a) and is_sparse(b) then return group.cadd(a, b) end
        if is_tensor(a) then return group.spcadd(a, b) end
        if is_tensor(b) then return group.spcadd(b, a) end
    end

    found["-"] = function(a, b)
        if is_sparse(a) and is_sparse(b) then return group.csub(a, b) end
        if is_tensor(a) then return group.spcadd(a, -1, b) end
        if is_tensor(b) then return group.spcadd(dense.neg(b), a) end
    end

    found["*"] = function(a, b)
        if not is_sparse(a) then a, b = b, a end
        if is_number(b) or is_tensor(b) or is_sparse(b) then return group.mul(a, b) end
    end

    found["/"] = function(a, b)
        if is_sparse(a) and (is_number(b) or is_tensor(b)) then return group.div(a, b) end
    end

    return found
end

-- The operators of dense tensors.
local function of_tensors(thorn)
    local found = {
        ["+"] = function(a, b) return is_tensor(a) and thorn.add(a, b) or thorn.add(b, a) end,
        ["-"] = function(a, b) return is_tensor(a) and thorn.sub(a, b) or thorn.rsub(b, a) end,
        ["*"] = function(a, b) return is_tensor(a) and thorn.mul(a, b) or thorn.mul(b, a) end,
        ["/"] = function(a, b) return is_tensor(a) and thorn.div(a, b) or thorn.rdiv(b, a) end,
        ["%"] = function(a, b) return is_tensor(a) and thorn.remainder(a, b) or nil end,
        ["^"] = function(a, b) return thorn.pow(a, b) end,
    }
    return found
end

--- Returns the operators, by the names of metamethods, for operands of which one is a tensor of this API: `takes` is true for it.
function operators.of(thorn)
    local dense, sparse = of_tensors(thorn), of_sparse(thorn.STensor, thorn)
    local found = {}
    for name, operator in pairs({ add = "+", sub = "-", mul = "*", div = "/", mod = "%", pow = "^" }) do
        found[name] = function(a, b)
            local is_any_sparse = is_sparse(a) or is_sparse(b)
            local f = (is_any_sparse and sparse or dense)[operator]
            local fits = is_any_sparse or (is_tensor(a) or is_number(a)) and (is_tensor(b) or is_number(b))
            must_agree(a, b, operator)
            return f and fits and f(a, b) or wrong(operator)
        end
    end

    function found.takes(value) return is_sparse(value) or origin.is_dynamic(value) end

    function found.unm(t) return is_sparse(t) and thorn.STensor.neg(t) or thorn.neg(t) end

    return found
end

return operators
