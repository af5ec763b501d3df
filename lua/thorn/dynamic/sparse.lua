-- Sparse tensors, `thorn.STensor`: their text, and the functions outside of the rows.
--
--     local s = thorn.STensor({ { 1, 2, 2 }, { 3, 1, 3 } }, thorn.tensor({ 3, 4, 5 }), { 2, 3 })
--     local y = s:matmul(thorn.ones(3, 2))               -- dense
--     print(s + 2 * s)

local ffi = require("ffi")
local errors = require("thorn.errors")
local library = require("thorn.library")
local handles = require("thorn.dynamic.handles")

local C, istype = library.C, ffi.istype
local Sparse = handles.types.STensor.type

-- `functions` has the functions of the group outside of the rows.
local sparse = { functions = {} }

--- The functions among which `thorn.STensor(...)` chooses.
sparse.constructors = { "THSTensor_new", "THSTensor_newWithTensor", "THSTensor_newWithTensorAndSize", "THSTensor_newFromDense" }

local function is_sparse(value) return istype(Sparse, value) end

--- Returns the transpose of a matrix. Of a vector, returns a copy.
function sparse.functions.t(s)
    if not is_sparse(s) then errors.raise("STensor.t: a sparse tensor is expected") end
    local dimensions = tonumber(C.THSTensor_nDimension(s.handle))
    if dimensions > 2 then errors.raise(("STensor.t: a tensor of %d dimensions is no matrix"):format(dimensions)) end
    if dimensions < 2 then return handles.own_sparse(C.THSTensor_newClone(s.handle), "STensor.t") end
    local r = handles.own_sparse(C.THSTensor_new(), "STensor.t")
    library.check(C.THSTensor_transpose(r.handle, s.handle, 0, 1), "STensor.t")
    return r
end

-- Returns the text of a sparse tensor: its parts, printed as tensors, and its sizes.
local function text_of(s, group)
    local parts, sizes = {}, {}
    local function add(name) parts[#parts + 1] = name .. ":\n" .. tostring(group[name](s)):gsub("\n$", "") end
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

--- Returns the metamethods. `operators` are the operators of the dynamic API.
function sparse.metamethods(thorn, operators)
    local group = thorn.STensor
    return {
        __add = operators.add, __sub = operators.sub, __mul = operators.mul, __div = operators.div, __unm = operators.unm,
        __tostring = function(s) return text_of(s, group) end,
    }
end

return sparse
