-- Elements by index tensors and masks. An index is a LongTensor of positions from 1. A mask is a ByteTensor with the same number of
-- elements as the tensor, in any shape.

local arguments = require("thorn.arguments")
local elementwise = require("thorn.elementwise")
local errors = require("thorn.errors")
local library = require("thorn.library")
local namespace = require("thorn.namespace")
local overlap = require("thorn.overlap")
local results = require("thorn.results")

local C, own, check = library.C, library.own, library.check
local torch, methods = namespace.torch, namespace.methods
local tensor, number, dim_of, is_tensor = arguments.tensor, arguments.number, arguments.dim, arguments.is_tensor
local element, shaped = elementwise.element, elementwise.shaped

-- Returns the positions of an index tensor counted from 0, as in the library.
local function from_0(index, position, name)
    arguments.tensor_of(C.TH_INT64, index, position, name)
    local r = results.new_indices(name)
    -- The library would count negative positions from the end.
    if C.THTensor_nElement(index.handle) > 0 and C.THTensor_minall(index.handle) < 1 then
        errors.argument(position, name, "an index is less than 1")
    end
    check(C.THTensor_sub(r.handle, index.handle, 1), name)
    return r
end

local function mask_of(mask, position, name, t)
    tensor(mask, position, name)
    if mask.handle.dtype ~= C.TH_UINT8 and mask.handle.dtype ~= C.TH_BOOL then
        arguments.expected("torch.ByteTensor", mask, position, name)
    end
    return shaped(mask, t, name)
end

-- Selections: `([result,] t, dim, index)`
local function selection(name, f)
    methods[name] = function(a, b, c, d)
        local r, t, position, dim, index = results.split(name, a, b, c, d)
        local along = dim_of(dim, position, name, t)
        local positions = from_0(index, position + 1, name)
        check(f(r.handle, t.handle, along, positions.handle), name)
        return r
    end
    torch[name] = methods[name]
end

--- `torch.index([result,] t, dim, index)`: the entries of dimension `dim` at the positions in the index, in this order.
selection("index", C.THTensor_indexSelect)

--- `torch.gather([result,] t, dim, index)`: for dim 1, `result[i][j] = t[index[i][j]][j]`.
selection("gather", C.THTensor_gather)

-- Changes: `t:f(dim, index, src)`, with a tensor or a number `src`
local function change(name, with_tensor, with_number)
    methods[name] = function(t, dim, index, x)
        tensor(t, 1, name)
        local along = dim_of(dim, 2, name, t)
        local positions = from_0(index, 3, name)
        if with_tensor and (is_tensor(x) or not with_number) then
            check(with_tensor(t.handle, along, positions.handle, tensor(x, 4, name, t).handle), name)
        else
            check(with_number(t.handle, along, positions.handle, element(t, number(x, 4, name))), name)
        end
        return t
    end
    torch[name] = methods[name]
end

change("indexCopy", C.THTensor_indexCopy, nil)
change("indexAdd", C.THTensor_indexAdd, nil)
change("indexFill", nil, C.THTensor_indexFill)
change("scatter", C.THTensor_scatter, C.THTensor_scatterFill)
change("scatterAdd", C.THTensor_scatterAdd, nil)

--- `([result,] t, mask)`: the elements where the mask is 1, as a vector.
function methods.maskedSelect(a, b, c)
    tensor(a, 1, "maskedSelect")
    local r, t, mask, position = a, b, c, 3
    if not c then r, t, mask, position = own(C.THTensor_newWithDtype(a.handle.dtype), "maskedSelect"), a, b, 2 end
    mask = mask_of(mask, position, "maskedSelect", tensor(t, position - 1, "maskedSelect", a))
    check(C.THTensor_maskedSelect(r.handle, t.handle, mask.handle), "maskedSelect")
    return r
end

-- Copies the elements of `src` at which the mask is 1 to `r`. Both tensors have one shape.
local function replace(r, mask, src)
    local chosen = own(C.THTensor_newWithDtype(r.dtype), "maskedCopy")
    local status = C.THTensor_maskedSelect(chosen.handle, src, mask)
    return status ~= 0 and status or C.THTensor_maskedCopy(r, mask, chosen.handle)
end

--- Sets the elements where the mask is 1 to the first elements of `src`, in row-major order.
function methods.maskedCopy(t, mask, src)
    tensor(t, 1, "maskedCopy")
    mask = mask_of(mask, 2, "maskedCopy", t)
    tensor(src, 3, "maskedCopy", t)
    if C.THTensor_maskedCopy(t.handle, mask.handle, src.handle) ~= 0 then
        local filled = t:clone()
        check(C.THTensor_maskedCopy(filled.handle, mask.handle, src.handle), "maskedCopy")
        overlap.write("maskedCopy", replace, t, mask, filled)
    end
    return t
end

--- Sets the elements where the mask is 1 to `value`.
function methods.maskedFill(t, mask, value)
    tensor(t, 1, "maskedFill")
    mask, value = mask_of(mask, 2, "maskedFill", t), element(t, number(value, 3, "maskedFill"))
    if C.THTensor_maskedFill(t.handle, mask.handle, value) ~= 0 then
        overlap.write("maskedFill", C.THTensor_maskedFill, t, mask, value)
    end
    return t
end

--- `([result,] t)`: the indices of the elements that are not 0, each as a row of a LongTensor.
function methods.nonzero(a, b)
    tensor(a, 1, "nonzero")
    local r, t = a, b
    if b then
        arguments.tensor_of(C.TH_INT64, a, 1, "nonzero")
        tensor(b, 2, "nonzero")
    else
        r, t = results.new_indices("nonzero"), a
    end
    check(C.THTensor_nonzero(r.handle, t.handle), "nonzero")
    return results.count_from_1(r, "nonzero")
end

for _, name in ipairs({ "maskedSelect", "maskedCopy", "maskedFill", "nonzero" }) do torch[name] = methods[name] end
