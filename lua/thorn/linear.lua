-- Linear algebra with LAPACK's names. A call names all results first, or no result. Methods and functions of `torch` are the same.

local arguments = require("thorn.arguments")
local construct = require("thorn.construct")
local errors = require("thorn.errors")
local library = require("thorn.library")
local namespace = require("thorn.namespace")

local C, own, check = library.C, library.own, library.check
local torch, methods = namespace.torch, namespace.methods
local tensor, is_tensor = arguments.tensor, arguments.is_tensor

-- Returns the number of tensors at the beginning of the arguments.
local function leading_tensors(given)
    local count = 0
    while is_tensor(given[count + 1]) do count = count + 1 end
    return count
end

-- Reads the options from `position` on. Each may be left out, because its kind tells it. `options` has a string of letters for an option
-- that is one of these letters, by default the first. It has a number for an option that is a number, by default this one.
local function read_options(options, given, position, name)
    local chosen = {}
    for i, option in ipairs(options) do
        local x, is_number = given[position], type(option) == "number"
        local fits = is_number and type(x) == "number"
            or not is_number and type(x) == "string" and #x == 1 and option:find(x, 1, true)
        chosen[i] = fits and x or is_number and option or option:sub(1, 1)
        if fits or x == nil then position = position + 1 end
    end
    if given[position] == nil then return chosen end
    if #options == 0 then errors.argument(position, name, "an argument too many") end
    errors.argument(position, name, "one of the options expected: " .. table.concat(options, ", "))
end

-- Defines `name`. `outputs` has the type of each result, or false for the input's type, and `inputs` is the number of operands.
-- `call(results, operands, options)` makes the call.
local function define(name, outputs, inputs, options, call)
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
        check(call(results, operands, read_options(options, given, first + inputs + 1, name)), name)
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
define("gesv", { false, false }, 2, {}, function(r, t)
    local b = columns(t[1], "gesv")
    return C.THTensor_gesv(r[1].handle, r[2].handle, b.handle, t[2].handle)
end)

-- x, a = trtrs(b, a, ['U'|'L'], ['N'|'T'], ['N'|'U']): for a triangle, transposed, with ones on the diagonal
define("trtrs", { false, false }, 2, { "UL", "NT", "NU" }, function(r, t, o)
    local b = columns(t[1], "trtrs")
    local upper, transpose, unit = is(o[1], "U"), is(o[2], "T"), is(o[3], "U")
    return C.THTensor_trtrs(r[1].handle, r[2].handle, b.handle, t[2].handle, upper, transpose, unit)
end)

-- x, factors = gels(b, a): the x that minimises |b - a x|
define("gels", { false, false }, 2, {}, function(r, t)
    local b = columns(t[1], "gels")
    return C.THTensor_gels(r[1].handle, r[2].handle, b.handle, t[2].handle)
end)

-- e, v = symeig(a, ['N'|'V'], ['U'|'L']): eigenvalues, and with 'V' eigenvectors, of a symmetric matrix
define("symeig", { false, false }, 1, { "NV", "UL" }, function(r, t, o)
    local vectors = o[1] == "V" and r[2].handle or nil
    return C.THTensor_syev(r[1].handle, vectors, t[1].handle, is(o[2], "U"))
end)

-- e, v = eig(a, ['N'|'V']): real and imaginary parts of eigenvalues, and with 'V' eigenvectors
define("eig", { false, false }, 1, { "NV" }, function(r, t, o)
    local vectors = o[1] == "V" and r[2].handle or nil
    return C.THTensor_geev(r[1].handle, vectors, t[1].handle)
end)

-- u, s, v = svd(a, ['S'|'A']): a = u diag(s) v^T, with as many columns as singular values or all
define("svd", { false, false, false }, 1, { "SA" }, function(r, t, o)
    return C.THTensor_gesvd(r[1].handle, r[2].handle, r[3].handle, t[1].handle, is(o[1], "S"))
end)

-- inverse(a)
define("inverse", { false }, 1, {}, function(r, t) return C.THTensor_getri(r[1].handle, t[1].handle) end)

-- potrf(a, ['U'|'L']): the factor of a = u^T u, or of a = l l^T
define("potrf", { false }, 1, { "UL" }, function(r, t, o)
    return C.THTensor_potrf(r[1].handle, t[1].handle, is(o[1], "U"))
end)

-- potrs(b, factor, ['U'|'L']): the x with a x = b
define("potrs", { false }, 2, { "UL" }, function(r, t, o)
    local b = columns(t[1], "potrs")
    return C.THTensor_potrs(r[1].handle, b.handle, t[2].handle, is(o[1], "U"))
end)

-- potri(factor, ['U'|'L']): the inverse of a
define("potri", { false }, 1, { "UL" }, function(r, t, o)
    return C.THTensor_potri(r[1].handle, t[1].handle, is(o[1], "U"))
end)

-- factor, pivots = pstrf(a, ['U'|'L'], [tolerance])
define("pstrf", { false, C.TH_INT32 }, 1, { "UL", -1 }, function(r, t, o)
    return C.THTensor_pstrf(r[1].handle, r[2].handle, nil, t[1].handle, is(o[1], "U"), o[2])
end)

-- q, r = qr(a)
define("qr", { false, false }, 1, {}, function(r, t) return C.THTensor_qr(r[1].handle, r[2].handle, t[1].handle, 1) end)

-- a, tau = geqrf(a): the reflectors whose product is q, and r
define("geqrf", { false, false }, 1, {}, function(r, t)
    return C.THTensor_geqrf(r[1].handle, r[2].handle, t[1].handle)
end)

-- orgqr(a, tau): as many columns of q as tau has elements, in the place of the first columns of a
define("orgqr", { false }, 2, {}, function(r, t)
    local a, tau = t[1].handle, t[2].handle
    if a.nDimension ~= 2 or tau.nDimension ~= 1 or tau.size[0] >= a.size[1] then
        return C.THTensor_orgqr(r[1].handle, a, tau)
    end
    local whole = own(C.THTensor_newCloneFormat(a, C.TH_CONTIGUOUS_FORMAT), "orgqr")
    local part = own(C.THTensor_newNarrow(whole.handle, 1, 0, tau.size[0]), "orgqr")
    check(C.THTensor_orgqr(part.handle, part.handle, tau), "orgqr")
    check(C.THTensor_resizeAs(r[1].handle, a), "orgqr")
    return C.THTensor_copy(r[1].handle, whole.handle)
end)

-- ormqr(a, tau, c, ['L'|'R'], ['N'|'T']): q c or c q, with q transposed
define("ormqr", { false }, 3, { "LR", "NT" }, function(r, t, o)
    local left, transpose = is(o[1], "L"), is(o[2], "T")
    return C.THTensor_ormqr(r[1].handle, t[1].handle, t[2].handle, t[3].handle, left, transpose)
end)

-- factors, pivots, info = btrifact(a): lu factors of a batch; info is the first pivot that is 0, or 0
define("btrifact", { false, C.TH_INT32, C.TH_INT32 }, 1, {}, function(r, t)
    return C.THTensor_btrifact(r[1].handle, r[2].handle, r[3].handle, 1, t[1].handle)
end)

-- btrisolve(b, factors, pivots): the x with a x = b for each of a batch
define("btrisolve", { false }, 3, {}, function(r, t)
    return C.THTensor_btrisolve(r[1].handle, t[1].handle, t[2].handle, t[3].handle)
end)
