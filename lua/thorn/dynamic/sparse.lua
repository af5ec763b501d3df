-- Sparse tensors, `thorn.STensor`: their operators, their text, and the functions outside of the rows.
--
--     local s = thorn.STensor({ { 1, 2, 2 }, { 3, 1, 3 } }, thorn.tensor({ 3, 4, 5 }), { 2, 3 })
--     local y = s * thorn.ones(3, 2)                     -- a matrix product, dense, as for tensors
--     print(s + 2 * s)

local ffi = require("ffi")
local errors = require("thorn.errors")
local library = require("thorn.library")
local operators = require("thorn.operators")
local handles = require("thorn.dynamic.handles")

local C, istype = library.C, ffi.istype
local Tensor, Sparse = library.Tensor, handles.types.STensor.type

local sparse = {}

--- The functions among which `thorn.STensor(...)` chooses.
sparse.constructors = { "THSTensor_new", "THSTensor_newWithTensor", "THSTensor_newWithTensorAndSize", "THSTensor_newFromDense" }

local function is_sparse(value) return istype(Sparse, value) end

local function is_tensor(value) return istype(Tensor, value) end

-- Returns the operators. They call the functions of `group`, `thorn.STensor`, and of `dense`, the functions on tensors.
local function operators_of(group, dense)
    local function wrong(operator)
        errors.raise(operator .. ": expected sparse tensors, tensors and numbers that the operator is for")
    end
    local found = { takes = is_sparse }

    -- The result is dense if an operand is.
    function found.add(a, b)
        if is_sparse(a) and is_sparse(b) then return group.cadd(a, b) end
        if is_tensor(a) and is_sparse(b) then return group.spcadd(a, b) end
        if is_sparse(a) and is_tensor(b) then return group.spcadd(b, a) end
        wrong("+")
    end

    function found.sub(a, b)
        if is_sparse(a) and is_sparse(b) then return group.csub(a, b) end
        if is_tensor(a) and is_sparse(b) then return group.spcadd(a, -1, b) end
        if is_sparse(a) and is_tensor(b) then return group.spcadd(dense.neg(b), a) end
        wrong("-")
    end

    -- A matrix product, as for tensors. The product of two sparse matrices is sparse.
    function found.mul(a, b)
        if type(a) == "number" then a, b = b, a end
        if type(b) == "number" then return group.mul(a, b) end
        if is_sparse(a) and is_sparse(b) then return group.mm(a, b) end
        if is_sparse(a) and is_tensor(b) then return group.spmm(a, b) end
        if is_tensor(a) and is_sparse(b) then
            local columns = group.transpose(b, 1, 2)
            if a.handle ~= nil and a.handle.nDimension == 2 then
                return dense.transpose(group.spmm(columns, dense.transpose(a, 1, 2)), 1, 2)
            end
            return group.spmm(columns, a)
        end
        wrong("*")
    end

    function found.div(a, b)
        if is_sparse(a) and type(b) == "number" then return group.div(a, b) end
        if is_sparse(a) and is_tensor(b) then return group.cdivDense(a, b) end
        wrong("/")
    end

    return found
end

-- Returns the text of a sparse tensor: its parts, printed as tensors, and its sizes.
local function text_of(s, group)
    local parts, sizes = {}, {}
    local function add(name) parts[#parts + 1] = name .. ":\n" .. tostring(group[name](s)) end
    if s.handle == nil or s.handle.values == nil then return "[thorn.STensor without elements]" end
    for d = 1, s.handle.nDimensionI + s.handle.nDimensionV do sizes[d] = tostring(tonumber(s.handle.size[d - 1])) end
    if s.handle.indices ~= nil then
        add("indices")
    else
        add("crow")
        add("col")
    end
    add("values")
    parts[#parts + 1] = ("[thorn.STensor of size %s]"):format(table.concat(sizes, "x"))
    return table.concat(parts, "\n")
end

--- Returns the metamethods, and makes the operators of tensors accept sparse tensors.
function sparse.metamethods(thorn)
    local group = thorn.STensor
    local of_others = operators_of(group, thorn)
    operators.of_others = of_others
    return {
        __add = of_others.add, __sub = of_others.sub, __mul = of_others.mul, __div = of_others.div,
        __unm = function(s) return group.neg(s) end,
        __tostring = function(s) return text_of(s, group) end,
    }
end

return sparse
