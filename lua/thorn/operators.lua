-- Torch7's operators of tensors: a + b, a - b, a * b, a / b, a % b, -a. Each returns a new tensor, or a number for the product of two
-- vectors. `operators.of_others` has operators for operands of other modules, if a module adds them. Its function `takes` is true for such
-- operands. The dynamic API adds operators for its tensors, which multiply element by element.

local arguments = require("thorn.arguments")
local errors = require("thorn.errors")
local integers = require("thorn.integers")
local namespace = require("thorn.namespace")

local torch = namespace.torch
local is_tensor, tensor = arguments.is_tensor, arguments.tensor

local operators = {}

-- Returns a tensor or a number. Integers of the FFI become numbers.
local function operand(x, position, name)
    if is_tensor(x) or type(x) == "number" then return x end
    if integers.is_boxed(x) then return tonumber(x) end
    arguments.expected("a number or a tensor", x, position, name)
end

-- Returns the operators for a pair of operands that are not both tensors or numbers.
local function others(a, b)
    local of_others = operators.of_others
    return of_others and (of_others.takes(a) or of_others.takes(b)) and of_others
end

function operators.add(a, b)
    local of_others = others(a, b)
    if of_others then return of_others.add(a, b) end
    a = operand(a, 1, "+")
    b = operand(b, 2, "+")
    if type(a) == "number" then return torch.add(b, a) end
    return torch.add(a, b)
end

function operators.sub(a, b)
    local of_others = others(a, b)
    if of_others then return of_others.sub(a, b) end
    a = operand(a, 1, "-")
    b = operand(b, 2, "-")
    if type(b) == "number" then return torch.add(a, -b) end
    if type(a) == "number" then return torch.neg(b):add(a) end
    return torch.add(a, -1, b)
end

function operators.unm(a)
    local of_others = others(a, a)
    if of_others then return of_others.unm(a) end
    return torch.neg(a)
end

--- Torch7 has no powers as operators.
function operators.pow(a, b)
    local of_others = others(a, b)
    if of_others then return of_others.pow(a, b) end
    errors.raise("^: tensors of torch have no operator for powers; torch.pow and torch.cpow compute them")
end

--- vector * vector is a number, matrix * vector a vector, matrix * matrix a matrix.
function operators.mul(a, b)
    local of_others = others(a, b)
    if of_others then return of_others.mul(a, b) end
    a = operand(a, 1, "*")
    b = operand(b, 2, "*")
    if type(a) == "number" then return torch.mul(b, a) end
    if type(b) == "number" then return torch.mul(a, b) end
    local m, n = a.handle.nDimension, b.handle.nDimension
    if m == 1 and n == 1 then return torch.dot(a, b) end
    if m == 2 and n == 1 then return torch.mv(a, b) end
    if m == 2 and n == 2 then return torch.mm(a, b) end
    errors.raise(("*: no product of tensors of %d and %d dimensions"):format(m, n))
end

-- Returns the operator that divides a tensor by a number or, element by element, by a tensor.
local function division(name, method, by_number, by_tensor)
    return function(a, b)
        local of_others = others(a, b)
        if of_others then return of_others[method](a, b) end
        b = operand(b, 2, name)
        tensor(a, 1, name)
        if type(b) == "number" then return torch[by_number](a, b) end
        return torch[by_tensor](a, b)
    end
end

operators.div = division("/", "div", "div", "cdiv")

--- The remainder has the sign of the divisor, as `%` of Lua.
operators.mod = division("%", "mod", "remainder", "cremainder")

return operators
