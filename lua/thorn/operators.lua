-- The operators of tensors: a + b, a - b, a * b, a / b, -a. Each returns a new tensor, or a number for the product of two vectors.
-- `operators.of_others` has operators for operands that are neither tensors nor numbers, if a module adds them. Its function `takes` is
-- true for such operands.

local arguments = require("thorn.arguments")
local errors = require("thorn.errors")
local namespace = require("thorn.namespace")

local torch = namespace.torch
local is_tensor, tensor = arguments.is_tensor, arguments.tensor

local operators = {}

local function operand(x, position, name)
    if not is_tensor(x) and type(x) ~= "number" then arguments.expected("a number or a tensor", x, position, name) end
end

-- Returns the operators for a pair of operands that are not both tensors or numbers.
local function others(a, b)
    local of_others = operators.of_others
    return of_others and (of_others.takes(a) or of_others.takes(b)) and of_others
end

function operators.add(a, b)
    local of_others = others(a, b)
    if of_others then return of_others.add(a, b) end
    operand(a, 1, "+")
    operand(b, 2, "+")
    if type(a) == "number" then return torch.add(b, a) end
    return torch.add(a, b)
end

function operators.sub(a, b)
    local of_others = others(a, b)
    if of_others then return of_others.sub(a, b) end
    operand(a, 1, "-")
    operand(b, 2, "-")
    if type(b) == "number" then return torch.add(a, -b) end
    if type(a) == "number" then return torch.neg(b):add(a) end
    return torch.add(a, -1, b)
end

function operators.unm(a) return torch.neg(a) end

--- vector * vector is a number, matrix * vector a vector, matrix * matrix a matrix.
function operators.mul(a, b)
    local of_others = others(a, b)
    if of_others then return of_others.mul(a, b) end
    operand(a, 1, "*")
    operand(b, 2, "*")
    if type(a) == "number" then return torch.mul(b, a) end
    if type(b) == "number" then return torch.mul(a, b) end
    local m, n = a.handle.nDimension, b.handle.nDimension
    if m == 1 and n == 1 then return torch.dot(a, b) end
    if m == 2 and n == 1 then return torch.mv(a, b) end
    if m == 2 and n == 2 then return torch.mm(a, b) end
    errors.raise(("*: no product of tensors of %d and %d dimensions"):format(m, n))
end

function operators.div(a, b)
    local of_others = others(a, b)
    if of_others then return of_others.div(a, b) end
    operand(b, 2, "/")
    tensor(a, 1, "/")
    if type(b) == "number" then return torch.div(a, b) end
    return torch.cdiv(a, b)
end

return operators
