-- Linear algebra with LAPACK's names. Either all results are given first, or none. Functions and methods are the same.

local arguments = require("thorn.arguments")
local construct = require("thorn.construct")
local library = require("thorn.library")
local namespace = require("thorn.namespace")

local C, own, check = library.C, library.own, library.check
local torch, methods = namespace.torch, namespace.methods
local tensor, letter, is_tensor = arguments.tensor, arguments.letter, arguments.is_tensor

-- Returns the number of tensors at the beginning of the arguments.
local function leading_tensors(given)
    local count = 0
    while is_tensor(given[count + 1]) do count = count + 1 end
    return count
end

-- Defines `name`. `outputs` has the type of each result, or false for the input's type, and `inputs` is the number of operands.
-- `call(results, operands, option)` makes the call; `option(i, letters, default)` reads option `i`.
local function define(name, outputs, inputs, call)
    local function f(...)
        local given = { ... }
        local count = leading_tensors(given)
        local first = count >= #outputs + inputs and #outputs or 0
        local operands, results = {}, {}
        for i = 1, inputs do operands[i] = tensor(given[first + i], first + i, name) end
        for i, code in ipairs(outputs) do
            if first == 0 then
                results[i] = code and own(C.THTensor_newWithDtype(code), name) or construct.like(operands[1], name)
            elseif code then
                results[i] = arguments.tensor_of(code, given[i], i, name)
            else
                results[i] = tensor(given[i], i, name, operands[1])
            end
        end
        local function option(i, letters, default)
            local position = first + inputs + i
            return letter(given[position], position, name, letters, default)
        end
        check(call(results, operands, option, given, first + inputs), name)
        return unpack(results)
    end
    methods[name], torch[name] = f, f
end

-- Returns a vector of right-hand sides as a matrix with one column.
local function columns(b, name)
    if b.handle.nDimension ~= 1 then return b end
    arguments.list[0], arguments.list[1] = -1, 1
    return own(C.THTensor_newReshape(b.handle, 2, arguments.list), name)
end

local function is(letter_given, yes) return letter_given == yes and 1 or 0 end

-- x, factors = gesv(b, a): the x with a x = b
define("gesv", { false, false }, 2, function(r, t)
    local b = columns(t[1], "gesv")
    return C.THTensor_gesv(r[1].handle, r[2].handle, b.handle, t[2].handle)
end)

-- x, a = trtrs(b, a, ['U'|'L'], ['N'|'T'], ['N'|'U']): for a triangle, transposed, with ones on the diagonal
define("trtrs", { false, false }, 2, function(r, t, option)
    local b = columns(t[1], "trtrs")
    local upper, transpose, unit = is(option(1, "UL", "U"), "U"), is(option(2, "NT", "N"), "T"), is(option(3, "NU", "N"), "U")
    return C.THTensor_trtrs(r[1].handle, r[2].handle, b.handle, t[2].handle, upper, transpose, unit)
end)

-- x, factors = gels(b, a): the x that minimises |b - a x|
define("gels", { false, false }, 2, function(r, t)
    local b = columns(t[1], "gels")
    return C.THTensor_gels(r[1].handle, r[2].handle, b.handle, t[2].handle)
end)

-- e, v = symeig(a, ['N'|'V'], ['U'|'L']): eigenvalues, and with 'V' eigenvectors, of a symmetric matrix
define("symeig", { false, false }, 1, function(r, t, option)
    local vectors = option(1, "NV", "N") == "V" and r[2].handle or nil
    return C.THTensor_syev(r[1].handle, vectors, t[1].handle, is(option(2, "UL", "U"), "U"))
end)

-- e, v = eig(a, ['N'|'V']): real and imaginary parts of eigenvalues, and with 'V' eigenvectors
define("eig", { false, false }, 1, function(r, t, option)
    local vectors = option(1, "NV", "N") == "V" and r[2].handle or nil
    return C.THTensor_geev(r[1].handle, vectors, t[1].handle)
end)

-- u, s, v = svd(a, ['S'|'A']): a = u diag(s) v^T, with as many columns as singular values or all
define("svd", { false, false, false }, 1, function(r, t, option)
    return C.THTensor_gesvd(r[1].handle, r[2].handle, r[3].handle, t[1].handle, is(option(1, "SA", "S"), "S"))
end)

-- inverse(a)
define("inverse", { false }, 1, function(r, t) return C.THTensor_getri(r[1].handle, t[1].handle) end)

-- potrf(a, ['U'|'L']): the factor of a = u^T u, or of a = l l^T
define("potrf", { false }, 1, function(r, t, option)
    return C.THTensor_potrf(r[1].handle, t[1].handle, is(option(1, "UL", "U"), "U"))
end)

-- potrs(b, factor, ['U'|'L']): the x with a x = b
define("potrs", { false }, 2, function(r, t, option)
    local b = columns(t[1], "potrs")
    return C.THTensor_potrs(r[1].handle, b.handle, t[2].handle, is(option(1, "UL", "U"), "U"))
end)

-- potri(factor, ['U'|'L']): the inverse of a
define("potri", { false }, 1, function(r, t, option)
    return C.THTensor_potri(r[1].handle, t[1].handle, is(option(1, "UL", "U"), "U"))
end)

-- factor, pivots = pstrf(a, ['U'|'L'], [tolerance])
define("pstrf", { false, C.TH_INT32 }, 1, function(r, t, option, given, last)
    local tolerance = arguments.number(given[last + 2], last + 2, "pstrf", -1)
    return C.THTensor_pstrf(r[1].handle, r[2].handle, nil, t[1].handle, is(option(1, "UL", "U"), "U"), tolerance)
end)

-- q, r = qr(a)
define("qr", { false, false }, 1, function(r, t) return C.THTensor_qr(r[1].handle, r[2].handle, t[1].handle, 1) end)

-- a, tau = geqrf(a): the reflectors whose product is q, and r
define("geqrf", { false, false }, 1, function(r, t)
    return C.THTensor_geqrf(r[1].handle, r[2].handle, t[1].handle)
end)

-- orgqr(a, tau): q
define("orgqr", { false }, 2, function(r, t) return C.THTensor_orgqr(r[1].handle, t[1].handle, t[2].handle) end)

-- ormqr(a, tau, c, ['L'|'R'], ['N'|'T']): q c or c q, with q transposed
define("ormqr", { false }, 3, function(r, t, option)
    local left, transpose = is(option(1, "LR", "L"), "L"), is(option(2, "NT", "N"), "T")
    return C.THTensor_ormqr(r[1].handle, t[1].handle, t[2].handle, t[3].handle, left, transpose)
end)

-- factors, pivots, info = btrifact(a): lu factors of a batch; info is the first pivot that is 0, or 0
define("btrifact", { false, C.TH_INT32, C.TH_INT32 }, 1, function(r, t)
    return C.THTensor_btrifact(r[1].handle, r[2].handle, r[3].handle, 1, t[1].handle)
end)

-- btrisolve(b, factors, pivots): the x with a x = b for each of a batch
define("btrisolve", { false }, 3, function(r, t)
    return C.THTensor_btrisolve(r[1].handle, t[1].handle, t[2].handle, t[3].handle)
end)
