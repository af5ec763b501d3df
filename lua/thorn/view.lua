-- Views of a tensor's elements, and tensors made from its parts: narrow, select, expand, view, split and others.
--
-- Functions that take a result first in Torch7 do so here: `torch.view(result, t, sizes)`, and as a method `result:view(t, sizes)`.

local arguments = require("thorn.arguments")
local construct = require("thorn.construct")
local errors = require("thorn.errors")
local library = require("thorn.library")
local namespace = require("thorn.namespace")
local results = require("thorn.results")

local C, own, check = library.C, library.own, library.check
local torch, methods = namespace.torch, namespace.methods
local tensor, integer, dim_of, list = arguments.tensor, arguments.integer, arguments.dim, arguments.list

--- Narrows dimension `dim` to `size` entries from `first` on.
function methods.narrow(t, dim, first, size)
    tensor(t, 1, "narrow")
    local d = dim_of(dim, 2, "narrow", t)
    local start = arguments.entry(first, 3, "narrow", t, d)
    local length = integer(size, 4, "narrow")
    if length < 1 or start + length > tonumber(t.handle.size[d]) then errors.argument(4, "narrow", "out of range") end
    return own(C.THTensor_newNarrow(t.handle, d, start, length), "narrow")
end

--- The slice at `index` of dimension `dim`, which is removed. Of a vector, the number at `index`.
function methods.select(t, dim, index)
    tensor(t, 1, "select")
    if t.handle.nDimension == 1 then
        integer(dim, 2, "select")
        return t[arguments.entry(index, 3, "select", t, 0) + 1]
    end
    local d = dim_of(dim, 2, "select", t)
    return own(C.THTensor_newSelect(t.handle, d, arguments.entry(index, 3, "select", t, d)), "select")
end

-- Returns an index of `sub`, which may count from the end, as the library counts.
local function sub_entry(index, position, t, d)
    local i, size = integer(index, position, "sub"), tonumber(t.handle.size[d])
    local from_0 = i < 0 and size + i or i - 1
    if from_0 < 0 or from_0 >= size then errors.argument(position, "sub", "out of range") end
    return from_0
end

--- The elements from index `first1` to `last1` of dimension 1, and so on for further dimensions. Negative indices count from the end. An
--- omitted last index means the end.
function methods.sub(t, ...)
    tensor(t, 1, "sub")
    local bounds, count = { ... }, select("#", ...)
    if count == 0 then arguments.expected("number", nil, 2, "sub") end
    if math.ceil(count / 2) > t.handle.nDimension then errors.argument(2, "sub", "more ranges than dimensions") end
    local r = own(C.THTensor_newWithTensor(t.handle), "sub")
    for d = 0, math.ceil(count / 2) - 1 do
        local first = sub_entry(bounds[2 * d + 1], 2 * d + 2, t, d)
        local last = sub_entry(bounds[2 * d + 2] or -1, 2 * d + 3, t, d)
        if last < first then errors.argument(2 * d + 3, "sub", "the last index is before the first") end
        check(C.THTensor_narrow(r.handle, r.handle, d, first, last - first + 1), "sub")
    end
    return r
end

--- Swaps the dimensions `dim1` and `dim2`.
function methods.transpose(t, dim1, dim2)
    tensor(t, 1, "transpose")
    local a, b = dim_of(dim1, 2, "transpose", t), dim_of(dim2, 3, "transpose", t)
    return own(C.THTensor_newTranspose(t.handle, a, b), "transpose")
end

--- The transpose of a matrix.
function methods.t(t)
    if tensor(t, 1, "t").handle.nDimension ~= 2 then errors.argument(1, "t", "a tensor of two dimensions expected") end
    return own(C.THTensor_newTranspose(t.handle, 0, 1), "t")
end

--- Permutes the dimensions, all of which are named: `t:permute(2, 3, 1)`.
function methods.permute(t, ...)
    tensor(t, 1, "permute")
    local count = select("#", ...)
    if count ~= t.handle.nDimension then errors.argument(2, "permute", "every dimension expected once") end
    local seen = {}
    for i = 1, count do
        local d = dim_of((select(i, ...)), i + 1, "permute", t)
        if seen[d] then errors.argument(i + 1, "permute", "every dimension expected once") end
        list[i - 1], seen[d] = d, true
    end
    return own(C.THTensor_newPermute(t.handle, count, list), "permute")
end

--- The slices of `size` entries along `dim`, `step` entries apart. Their elements are in a new last dimension.
function methods.unfold(t, dim, size, step)
    tensor(t, 1, "unfold")
    local d = dim_of(dim, 2, "unfold", t)
    local length, distance = integer(size, 3, "unfold"), integer(step, 4, "unfold")
    if length < 1 or length > tonumber(t.handle.size[d]) then errors.argument(3, "unfold", "out of range") end
    if distance < 1 then errors.argument(4, "unfold", "a step is at least 1") end
    return own(C.THTensor_newUnfold(t.handle, d, length, distance), "unfold")
end

-- Removes the dimensions of size 1, or dimension `d` if its size is 1. At least one dimension stays.
local function squeeze(r, t, d)
    if d then
        if t.handle.nDimension > 1 then return check(C.THTensor_squeeze1d(r.handle, t.handle, d), "squeeze") end
        return check(C.THTensor_set(r.handle, t.handle), "squeeze")
    end
    if t.handle.nDimension > 0 and C.THTensor_nElement(t.handle) == 1 then
        list[0] = 1
        return check(C.THTensor_view(r.handle, t.handle, 1, list), "squeeze")
    end
    check(C.THTensor_squeeze(r.handle, t.handle), "squeeze")
end

--- `([result,] t, [dim])`: `t` without the dimensions of size 1, or without dimension `dim` if its size is 1. A number if the tensor has
--- one element and no dimension is left.
function methods.squeeze(a, b, c)
    local r, t, position, dim = results.split("squeeze", a, b, c)
    local along = dim and dim_of(dim, position, "squeeze", t)
    local is_number = (not along or t.handle.nDimension == 1) and C.THTensor_nElement(t.handle) == 1
    squeeze(r, t, along)
    return is_number and r[1] or r
end

--- `([result,] t, dim)`: adds a new dimension of size 1 at `dim`, which is at most one more than the number of dimensions.
function methods.unsqueeze(a, b, c)
    local r, t, position, dim = results.split("unsqueeze", a, b, c)
    local d = integer(dim, position, "unsqueeze")
    if d < 1 or d > arguments.dimensions(t) + 1 then
        errors.argument(position, "unsqueeze", "dimension " .. d .. " out of range")
    end
    if arguments.dimensions(t) == 0 then errors.argument(position - 1, "unsqueeze", "the tensor is empty") end
    check(C.THTensor_unsqueeze1d(r.handle, t.handle, d - 1), "unsqueeze")
    return r
end

-- Makes a function `f([result,] t, sizes...)` of `apply(result, t, count)`, which finds the sizes in the list.
local function sized(name, apply)
    local function with(r, t, position, ...)
        apply(r, t, arguments.sizes(position, name, ...), position)
        return r
    end
    methods[name] = function(a, b, ...)
        local r, t, position = results.optional(name, a, b)
        if position == 3 then return with(r, t, 3, ...) end
        return with(r, t, 2, b, ...)
    end
end

sized("expand", function(r, t, count, position)
    local n = t.handle.nDimension
    if count ~= n then errors.argument(position, "expand", ("%d sizes expected, got %d"):format(n, count)) end
    for d = 0, count - 1 do
        local size = t.handle.size[d]
        if list[d] ~= size and size ~= 1 then
            errors.argument(position + d, "expand", "only a dimension of size 1 can be expanded")
        end
        if list[d] < 1 then errors.argument(position + d, "expand", "a size is at least 1") end
    end
    check(C.THTensor_expand(r.handle, t.handle, count, list), "expand")
end)

sized("view", function(r, t, count, position)
    if count == 0 then arguments.expected("number", nil, position, "view") end
    check(C.THTensor_view(r.handle, t.handle, count, list), "view")
end)

sized("repeatTensor", function(r, t, count, position)
    if count < t.handle.nDimension then
        errors.argument(position, "repeatTensor", "a number of repetitions for every dimension expected")
    end
    check(C.THTensor_repeatTensor(r.handle, t.handle, count, list), "repeatTensor")
end)

sized("reshape", function(r, t, count, position)
    if count == 0 then arguments.expected("number", nil, position, "reshape") end
    local shaped = own(C.THTensor_newReshape(t.handle, count, list), "reshape")
    check(C.THTensor_resizeAs(r.handle, shaped.handle), "reshape")
    check(C.THTensor_copy(r.handle, shaped.handle), "reshape")
end)

-- Makes a function `f([result,] t, template)` that uses the sizes of the template.
local function templated(name, sized_name)
    methods[name] = function(a, b, c)
        local template, position = c == nil and b or c, c == nil and 2 or 3
        local sizes = #tensor(template, position, name)
        if c == nil then return methods[sized_name](a, sizes) end
        return methods[sized_name](a, b, sizes)
    end
end

templated("expandAs", "expand")
templated("viewAs", "view")

--- Sets the sizes of the tensor, contiguous in memory. Elements are undefined if the sizes differ.
function methods.resize(t, sizes, strides, ...)
    tensor(t, 1, "resize")
    if arguments.is_storage(sizes) and arguments.is_storage(strides) then
        local geometry = construct.new(construct.record(t), sizes, strides)
        local wanted = geometry.handle
        check(C.THTensor_resize(t.handle, wanted.nDimension, wanted.size, wanted.stride), "resize")
        return t
    end
    local count = arguments.sizes(2, "resize", sizes, strides, ...)
    count = construct.positive(count)
    check(count == 0 and C.THTensor_resize1d(t.handle, 0) or C.THTensor_resize(t.handle, count, list, nil), "resize")
    return t
end

--- Sets the sizes of the tensor to the sizes of another tensor.
function methods.resizeAs(t, other)
    tensor(t, 1, "resizeAs")
    check(C.THTensor_resizeAs(t.handle, tensor(other, 2, "resizeAs").handle), "resizeAs")
    return t
end

-- Fills a table, new or cleared, with the slices of `size` entries along dimension `d`.
local function split(result, t, size, d)
    for i = #result, 1, -1 do result[i] = nil end
    local total = tonumber(t.handle.size[d])
    for first = 0, total - 1, size do
        local length = math.min(size, total - first)
        result[#result + 1] = own(C.THTensor_newNarrow(t.handle, d, first, length), "split")
    end
    return result
end

-- Makes a function `f([result,] t, n, [dim])` whose result is a table of tensors. `size_of(n, total)` is the size of the tensors.
local function splitting(name, size_of)
    methods[name] = function(a, b, c, d)
        local result, t, n, dim, position = {}, a, b, c, 1
        if type(a) == "table" then result, t, n, dim, position = a, b, c, d, 2 end
        tensor(t, position, name)
        local along = dim_of(dim, position + 2, name, t, 1)
        if integer(n, position + 1, name) < 1 then errors.argument(position + 1, name, "at least 1 expected") end
        return split(result, t, size_of(n, tonumber(t.handle.size[along])), along)
    end
end

splitting("split", math.floor)
splitting("chunk", function(n, total) return math.ceil(total / n) end)

for _, name in ipairs({
    "narrow", "select", "sub", "transpose", "t", "permute", "unfold", "squeeze", "unsqueeze", "expand", "expandAs", "view", "viewAs",
    "repeatTensor", "reshape", "resize", "resizeAs", "split", "chunk", "clone", "contiguous", "set", "isSetTo", "isSize",
    "isSameSizeAs", "isContiguous", "nElement", "numel", "nDimension", "dim", "size", "stride", "storage",
    "storageOffset", "elementSize", "typeAs", "data", "cdata",
}) do
    torch[name] = torch[name] or methods[name]
end
