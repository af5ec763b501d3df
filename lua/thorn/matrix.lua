-- Tensors made from numbers, joined tensors, and matrix products.

local ffi = require("ffi")
local arguments = require("thorn.arguments")
local construct = require("thorn.construct")
local errors = require("thorn.errors")
local library = require("thorn.library")
local namespace = require("thorn.namespace")
local results = require("thorn.results")

local C, own, check = library.C, library.own, library.check
local torch, methods = namespace.torch, namespace.methods
local tensor, number, integer, is_tensor = arguments.tensor, arguments.number, arguments.integer, arguments.is_tensor
local like, list = construct.like, arguments.list

-- Defines a function as a method and as a function of `torch`.
local function define(name, f)
    methods[name], torch[name] = f, f
end

-- Makers: `([result,] ..., [type])`. The name of a type is given instead of a result.

local function maker(name, f)
    define(name, function(...) return f(results.made(name, ...)) end)
end

for _, name in ipairs({ "zeros", "ones" }) do
    local f = C["THTensor_" .. name]
    maker(name, function(r, position, ...)
        local count = construct.positive(arguments.sizes(position, name, ...))
        check(count == 0 and C.THTensor_resize1d(r.handle, 0) or f(r.handle, count, list), name)
        return r
    end)
end

--- `torch.eye([result,] n, [m])`: ones on the diagonal of n rows and m columns, or n columns if m is not positive.
maker("eye", function(r, position, n, m)
    n, m = integer(n, position, "eye"), integer(m, position + 1, "eye", 0)
    check(C.THTensor_eye(r.handle, n, m > 0 and m or n), "eye")
    return r
end)

--- `torch.range([result,] first, last, [step])`: the numbers from `first` to `last`, both included.
maker("range", function(r, position, first, last, step)
    first, last = number(first, position, "range"), number(last, position + 1, "range")
    check(C.THTensor_range(r.handle, first, last, number(step, position + 2, "range", 1)), "range")
    return r
end)

--- `torch.arange([result,] first, last, [step])`: the numbers from `first` to before `last`.
maker("arange", function(r, position, first, last, step)
    first, last = number(first, position, "arange"), number(last, position + 1, "arange")
    check(C.THTensor_arange(r.handle, first, last, number(step, position + 2, "arange", 1)), "arange")
    return r
end)

-- `torch.linspace([result,] first, last, [n])`: n evenly spaced numbers; for logspace, their powers of 10.
for _, name in ipairs({ "linspace", "logspace" }) do
    local f = C["THTensor_" .. name]
    maker(name, function(r, position, first, last, n)
        first, last = number(first, position, name), number(last, position + 1, name)
        n = integer(n, position + 2, name, 100)
        if n == 1 and first ~= last then errors.argument(position + 2, name, "one number between two different ends") end
        check(f(r.handle, first, last, n), name)
        return r
    end)
end

-- Parts and arrangements: `([result,] t, ...)`

-- `([result,] t)`: zeros or ones in the shape of `t`
for _, name in ipairs({ "zerosLike", "onesLike" }) do
    local f = C["THTensor_" .. name]
    define(name, function(a, b)
        local r, t = results.optional(name, a, b)
        check(f(r.handle, t.handle), name)
        return r
    end)
end

-- `([result,] t, [k])` for the diagonal k
for _, name in ipairs({ "diag", "tril", "triu" }) do
    local f = C["THTensor_" .. name]
    define(name, function(a, b, c)
        local r, t, position, k = results.split(name, a, b, c)
        check(f(r.handle, t.handle, integer(k, position, name, 0)), name)
        return r
    end)
end

-- Returns the tensors of a table that have elements, and their largest number of dimensions.
local function with_elements(tensors, position, r)
    local found, most = {}, 0
    for _, t in ipairs(tensors) do
        local count = arguments.dimensions(tensor(t, position, "cat", r))
        if count > 0 then found[#found + 1] = t end
        most = math.max(most, count)
    end
    return found, most
end

-- Returns a tensor with further dimensions of size 1 at the end, so that there are `count`.
local function with_dimensions(t, count)
    local handle = t.handle
    if handle.nDimension == count then return t end
    for d = 0, count - 1 do list[d] = d < handle.nDimension and handle.size[d] or 1 end
    return own(C.THTensor_newReshape(handle, count, list), "cat")
end

-- Joins `tensors`, the argument at this position, along `dim`. Dimensions that a tensor lacks count as 1.
local function cat(r, tensors, position, dim, dim_position)
    if #tensors == 0 then errors.argument(position, "cat", "at least one tensor expected") end
    local parts, most = with_elements(tensors, position, r)
    dim = integer(dim, dim_position, "cat", math.max(most, 1))
    if dim < 1 or dim > arguments.MAX_DIMENSIONS then errors.argument(dim_position, "cat", "dimension " .. dim .. " out of range") end
    if most == 0 then return r:resize(0) end
    local array = ffi.new("THTensor *[?]", #parts)
    for i, t in ipairs(parts) do
        parts[i] = with_dimensions(t, math.max(most, dim))
        array[i - 1] = parts[i].handle
    end
    check(C.THTensor_catArray(r.handle, array, #parts, dim - 1), "cat")
    return r
end

--- `torch.cat([result,] a, b, [dim])`, `torch.cat([result,] {a, b, c}, [dim])`: joins tensors along `dim`, by default the last
--- dimension of the tensor with the most. Tensors without elements are left out.
define("cat", function(a, b, c, d)
    if type(a) == "table" then
        tensor(a[1], 1, "cat")
        return cat(like(a[1], "cat"), a, 1, b, 2)
    end
    tensor(a, 1, "cat")
    if type(b) == "table" then return cat(a, b, 2, c, 3) end
    tensor(b, 2, "cat")
    if is_tensor(c) then return cat(a, { b, c }, 2, d, 4) end
    return cat(like(a, "cat"), { a, b }, 1, c, 3)
end)

--- `torch.cross([result,] a, b, [dim])`: cross products of the vectors along `dim`, by default the first dimension of size 3.
define("cross", function(a, b, c, d)
    local r, x, y, dim, position = like(tensor(a, 1, "cross"), "cross"), a, tensor(b, 2, "cross", a), c, 3
    if is_tensor(c) then r, x, y, dim, position = a, b, tensor(c, 3, "cross", a), d, 4 end
    if dim == nil then
        for i = arguments.dimensions(x), 1, -1 do
            if x.handle.size[i - 1] == 3 then dim = i end
        end
        if dim == nil then errors.argument(position, "cross", "no dimension of size 3") end
    end
    local along = arguments.dim(dim, position, "cross", x)
    check(C.THTensor_cross(r.handle, x.handle, y.handle, along), "cross")
    return r
end)

-- Products r = f(a, b): `dst:f(a, b)`, `torch.f([result,] a, b)`, and `a:f(b)`, which makes a new tensor.
local function product(name, f, a_dimensions, b_dimensions)
    local function operand(t, position, like_t, dimensions)
        if arguments.dimensions(tensor(t, position, name, like_t)) ~= dimensions then
            errors.argument(position, name, ("a tensor of %d dimensions expected"):format(dimensions))
        end
        return t
    end
    define(name, function(a, b, c)
        local r, x, y, position = a, b, c, 2
        if not c then r, x, y, position = like(tensor(a, 1, name), name), a, b, 1 end
        operand(x, position, tensor(r, 1, name), a_dimensions)
        operand(y, position + 1, r, b_dimensions)
        check(f(r.handle, x.handle, y.handle), name)
        return r
    end)
end

product("mv", C.THTensor_mv, 2, 1)
product("mm", C.THTensor_mm, 2, 2)
product("bmm", C.THTensor_bmm, 3, 3)
product("ger", C.THTensor_ger, 1, 1)

-- r = beta * t + alpha * product(a, b). The numbers are 1 by default:
--   dst:f([beta,] [t,] [alpha,] a, b), where `t` is dst by default
--   torch.f([dst,] [beta,] t, [alpha,] a, b)
local function with_product(name, f)
    -- Reads the arguments from the last to the first. `receiver` is the receiver of a method, which counts as argument 1.
    local function read(receiver, given)
        local count, before = #given, receiver and 1 or 0
        local a, b = given[count - 1], given[count]
        local at, alpha, t, t_position, beta, r = count - 2, 1, receiver, 1, 1, receiver
        if type(given[at]) == "number" then alpha, at = given[at], at - 1 end
        if is_tensor(given[at]) then t, t_position, at = given[at], at + before, at - 1 end
        if not t then arguments.expected("torch.Tensor", given[at], math.max(at, 1), name) end
        if type(given[at]) == "number" then beta, at = given[at], at - 1 end
        if not r and is_tensor(given[at]) then r, at = given[at], at - 1 end
        if at > 0 then errors.argument(at + before, name, "an argument too many") end
        r = r or like(t, name)
        tensor(t, t_position, name, r)
        tensor(a, count - 1 + before, name, r)
        tensor(b, count + before, name, r)
        check(f(r.handle, beta, t.handle, alpha, a.handle, b.handle), name)
        return r
    end
    methods[name] = function(r, ...) return read(tensor(r, 1, name), { ... }) end
    torch[name] = function(...) return read(nil, { ... }) end
end

for name in ("addmv addmm addr addbmm baddbmm"):gmatch("%S+") do with_product(name, C["THTensor_" .. name]) end

--- `torch.match([result,] a, b, [gain])`: `gain` times the squared distances between the rows of two matrices.
define("match", function(a, b, c, d)
    local r, x, y, gain, position = like(tensor(a, 1, "match"), "match"), a, tensor(b, 2, "match", a), c, 3
    if is_tensor(c) then r, x, y, gain, position = a, b, tensor(c, 3, "match", a), d, 4 end
    gain = number(gain, position, "match", 1)
    check(C.THTensor_cdist(r.handle, x.handle, y.handle, 2), "match")
    return r:cmul(r):mul(gain)
end)
