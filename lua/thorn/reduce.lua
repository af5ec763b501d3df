-- Reductions, scans, sorting and searching. Functions and methods are the same, a result may be the first argument, and the reduced
-- dimension stays with size 1:
--
--   torch.sum(t)                   a number
--   torch.sum([result,] t, dim)    a tensor
--   torch.max([values, indices,] t, dim)    a tensor and a LongTensor of positions from 1

local arguments = require("thorn.arguments")
local elementwise = require("thorn.elementwise")
local errors = require("thorn.errors")
local library = require("thorn.library")
local namespace = require("thorn.namespace")
local results = require("thorn.results")
local types = require("thorn.types")

local C, own, check = library.C, library.own, library.check
local torch, methods = namespace.torch, namespace.methods
local tensor, number, integer, dim_of = arguments.tensor, arguments.number, arguments.integer, arguments.dim
local value = results.value

-- Defines a function as a method and as a function of `torch`.
local function define(name, f)
    methods[name], torch[name] = f, f
end

-- Returns the dimension from 0. Without a dimension, `default`, or the last one.
local function along(dim, position, name, t, default)
    return dim_of(dim, position, name, t, default or math.max(1, arguments.dimensions(t)))
end

-- all(t) returns a number, f(r, t, dim, keepdim). A tensor without elements has a sum and a product, but no mean.
local function reduction(name)
    local all, f = C["THTensor_" .. name .. "all"], C["THTensor_" .. name]
    define(name, function(a, b, c)
        tensor(a, 1, name)
        if b == nil then
            if name == "mean" and arguments.dimensions(a) == 0 then errors.argument(1, name, "an empty tensor has no mean") end
            return value(name, all, a.handle)
        end
        local r, t, position, dim = results.split(name, a, b, c)
        check(f(r.handle, t.handle, dim_of(dim, position, name, t), 1), name)
        return r
    end)
end

-- all(t, biased) returns a number, f(r, t, dim, biased, keepdim). If biased, the divisor is n, otherwise n - 1.
local function deviation(name)
    local all, f = C["THTensor_" .. name .. "all"], C["THTensor_" .. name]
    define(name, function(a, b, c, d)
        tensor(a, 1, name)
        if b == nil or type(b) == "boolean" then return value(name, all, a.handle, b and 1 or 0) end
        local r, t, position, dim, biased = results.split(name, a, b, c, d)
        check(f(r.handle, t.handle, dim_of(dim, position, name, t), biased and 1 or 0, 1), name)
        return r
    end)
end

-- all(t) returns a number, f(values, indices, t, dim, keepdim)
local function extreme(name)
    local all, f = C["THTensor_" .. name .. "all"], C["THTensor_" .. name]
    define(name, function(a, b, c, d)
        tensor(a, 1, name)
        if b == nil then return value(name, all, a.handle) end
        local values, indices, t, position, dim = results.values_and_indices(name, a, b, c, d)
        check(f(values.handle, indices.handle, t.handle, dim_of(dim, position, name, t), 1), name)
        return values, results.count_from_1(indices, name)
    end)
end

-- f(values, indices, t, dim, keepdim), by default over the last dimension
local function selection(name)
    local f = C["THTensor_" .. name]
    define(name, function(a, b, c, d)
        local values, indices, t, position, dim = results.values_and_indices(name, a, b, c, d)
        check(f(values.handle, indices.handle, t.handle, along(dim, position, name, t), 1), name)
        return values, results.count_from_1(indices, name)
    end)
end

-- f(r, t, dim), by default along the first dimension
local function scan(name)
    local f = C["THTensor_" .. name]
    define(name, function(a, b, c)
        local r, t, position, dim = results.split(name, a, b, c)
        check(f(r.handle, t.handle, along(dim, position, name, t, 1)), name)
        return r
    end)
end

local function each(family, names)
    for name in names:gmatch("%S+") do family(name) end
end

each(reduction, "sum prod mean")
each(deviation, "std var")
each(extreme, "max min")
each(selection, "median mode")
each(scan, "cumsum cumprod")

--- `torch.norm(t, [p])` returns a number; `torch.norm([result,] t, p, dim)` reduces a dimension. p is 2 by default.
define("norm", function(a, b, c, d)
    tensor(a, 1, "norm")
    if not arguments.is_tensor(b) and c == nil then
        return value("norm", C.THTensor_normall, a.handle, number(b, 2, "norm", 2))
    end
    local r, t, position, p, dim = results.split("norm", a, b, c, d)
    p = number(p, position, "norm")
    check(C.THTensor_norm(r.handle, t.handle, p, dim_of(dim, position + 1, "norm", t), 1), "norm")
    return r
end)

--- `torch.sort([values, indices,] t, [dim], [descending])`, by default along the last dimension.
define("sort", function(a, b, c, d, e)
    local values, indices, t, position, dim, descending = results.values_and_indices("sort", a, b, c, d, e)
    if type(dim) == "boolean" then dim, descending = nil, dim end
    local d0 = along(dim, position, "sort", t)
    check(C.THTensor_sort(values.handle, indices.handle, t.handle, d0, descending and 1 or 0, 1), "sort")
    return values, results.count_from_1(indices, "sort")
end)

--- `torch.topk([values, indices,] t, k, [dim], [largest], [sorted])`: the k smallest, or the largest, elements, by default along the last
--- dimension.
define("topk", function(a, b, c, d, e, f, g)
    local values, indices, t, position, k, dim, largest, sorted = results.values_and_indices("topk", a, b, c, d, e, f, g)
    if type(k) == "boolean" then
        k, largest, sorted = nil, k, dim
        dim = nil
    elseif type(dim) == "boolean" then
        dim, largest, sorted = nil, dim, largest
    end
    k = integer(k, position, "topk", 1)
    local d0 = along(dim, position + 1, "topk", t)
    if k < 1 or k > tonumber(t.handle.size[d0]) then errors.argument(position, "topk", "k is out of range") end
    local direction, order = largest and 1 or 0, sorted and 1 or 0
    check(C.THTensor_topk(values.handle, indices.handle, t.handle, k, d0, direction, order), "topk")
    return values, results.count_from_1(indices, "topk")
end)

--- `torch.kthvalue([values, indices,] t, k, [dim])`: the k-th smallest element, by default along the last dimension.
define("kthvalue", function(a, b, c, d, e)
    local values, indices, t, position, k, dim = results.values_and_indices("kthvalue", a, b, c, d, e)
    k = integer(k, position, "kthvalue")
    local d0 = along(dim, position + 1, "kthvalue", t)
    check(C.THTensor_kthvalue(values.handle, indices.handle, t.handle, k, d0, 1), "kthvalue")
    return values, results.count_from_1(indices, "kthvalue")
end)

--- The p-norm of `a - b`; p is 2 by default.
define("dist", function(a, b, p)
    tensor(a, 1, "dist")
    b = elementwise.shaped(tensor(b, 2, "dist", a), a, "dist")
    p = number(p, 3, "dist", 2)
    return value("dist", C.THTensor_dist, a.handle, b.handle, p)
end)

-- A vector of the elements.
local function flat(t, name)
    if t.handle.nDimension == 1 then return t end
    arguments.list[0] = -1
    return own(C.THTensor_newReshape(t.handle, 1, arguments.list), name)
end

-- A tensor of each type for results that become numbers.
local scalars = {}

local function scalar(code, name)
    scalars[code] = scalars[code] or own(C.THTensor_newWithDtype(code), name)
    return scalars[code]
end

--- The sum of the products of elements, in any shapes with the same number of elements. For integers it wraps only where int64 wraps.
define("dot", function(a, b)
    tensor(a, 1, "dot")
    b = flat(elementwise.shaped(tensor(b, 2, "dot", a), a, "dot"), "dot")
    if C.THTensor_nElement(a.handle) == 0 then return 0 end
    a = flat(a, "dot")
    if types[a.handle.dtype].integral then a, b = a:long(), b:long() end
    local r = scalar(a.handle.dtype, "dot")
    check(C.THTensor_dot(r.handle, a.handle, b.handle), "dot")
    return (C.THTensor_item(r.handle))
end)

--- The sum of the diagonal of a matrix.
define("trace", function(t) return value("trace", C.THTensor_trace, tensor(t, 1, "trace").handle) end)

--- True if both tensors have the same sizes and elements.
define("equal", function(a, b)
    tensor(a, 1, "equal")
    return C.THTensor_equal(a.handle, tensor(b, 2, "equal", a).handle) ~= 0
end)

-- `all` is true if every element of a ByteTensor is not 0, and `any` if one element is not 0.
for _, name in ipairs({ "all", "any" }) do
    local f = C["THTensor_logical" .. name]
    define(name, function(t) return f(arguments.tensor_of(C.TH_UINT8, t, 1, name).handle) ~= 0 end)
end

local function renorm(r, t, position, p, dim, maxnorm)
    p, maxnorm = number(p, position, "renorm"), number(maxnorm, position + 2, "renorm")
    check(C.THTensor_renorm(r.handle, t.handle, p, dim_of(dim, position + 1, "renorm", t), maxnorm), "renorm")
    return r
end

--- `torch.renorm([result,] t, p, dim, maxnorm)`: slices along `dim` whose p-norm is above `maxnorm` are scaled down to it.
function torch.renorm(a, b, c, d, e)
    local r, t, position, p, dim, maxnorm = results.split("renorm", a, b, c, d, e)
    return renorm(r, t, position, p, dim, maxnorm)
end

--- `t:renorm(p, dim, maxnorm)` in place, `result:renorm(t, p, dim, maxnorm)`
function methods.renorm(r, a, b, c, d)
    tensor(r, 1, "renorm")
    if arguments.is_tensor(a) then return renorm(r, tensor(a, 2, "renorm", r), 3, b, c, d) end
    return renorm(r, r, 2, a, b, c)
end

-- `([result,] t, [bins], [min], [max])`
for _, name in ipairs({ "histc", "bhistc" }) do
    local f = C["THTensor_" .. name]
    define(name, function(a, b, c, d, e)
        local r, t, position, bins, least, greatest = results.split(name, a, b, c, d, e)
        bins = integer(bins, position, name, 100)
        least, greatest = number(least, position + 1, name, 0), number(greatest, position + 2, name, 0)
        check(f(r.handle, t.handle, bins, least, greatest), name)
        return r
    end)
end
