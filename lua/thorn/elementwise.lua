-- Elementwise functions. Each family has the forms of Torch7:
--
--   dst:f(a, ...)   writes into dst       torch.f(dst, a, ...)
--   a:f(...)        changes a             torch.f(a, ...)   makes a new tensor
--
-- All tensors have the same type and number of elements as the first one, in any shape. The result has the shape of the first one. A number
-- that is combined with integers is converted to their type, as in C. Functions of one operand also accept a number: `torch.exp(1)` is a
-- number.

local ffi = require("ffi")
local arguments = require("thorn.arguments")
local construct = require("thorn.construct")
local convert = require("thorn.convert")
local errors = require("thorn.errors")
local library = require("thorn.library")
local namespace = require("thorn.namespace")
local overlap = require("thorn.overlap")
local types = require("thorn.types")

local C, own, check = library.C, library.own, library.check
local torch, methods = namespace.torch, namespace.methods
local tensor, number, is_tensor = arguments.tensor, arguments.number, arguments.is_tensor
local like = construct.like

local elementwise = {}

-- Memory for one number, as a pointer to each type of integers. The field `memory` keeps the memory alive.
local memory = ffi.new("int64_t[1]")
local cells = { memory = memory }
for _, record in ipairs(types.all) do
    if record.integral then cells[record.code] = ffi.cast(record.pointer, memory) end
end

--- Returns a number as an element of `t`. Integers are converted as C converts them: 300 is 44 in a ByteTensor.
function elementwise.element(t, value)
    local code = t.handle.dtype
    local cell = cells[code]
    if not cell then return value end
    if code == C.TH_BOOL then return value ~= 0 and 1 or 0 end
    cell[0] = types[code].range(value)
    return tonumber(cell[0])
end
local element = elementwise.element

--- Returns `src` in the shape of `t`. Both must have the same number of elements.
function elementwise.shaped(src, t, name)
    if C.THTensor_isSameSizeAs(src.handle, t.handle) ~= 0 then return src end
    if C.THTensor_nElement(src.handle) ~= C.THTensor_nElement(t.handle) then
        errors.raise(("%s: inconsistent tensor sizes %s and %s"):format(name, arguments.shape(t), arguments.shape(src)))
    end
    -- Without elements, `t` itself can be returned.
    if C.THTensor_nElement(t.handle) == 0 then return t end
    return own(C.THTensor_newReshape(src.handle, t.handle.nDimension, t.handle.size), name)
end
local shaped = elementwise.shaped

-- Memory for functions of one number.
local one = construct.new(types[C.TH_FLOAT64], 1)

-- Applies the library's function on tensors to a number.
local function of_number(name, f, x, ...)
    one[1] = x
    check(f(one.handle, one.handle, ...), name)
    return one[1]
end

-- Families. Each maker takes the name in Lua and the library's function. If a call fails, `overlap.write` tries again or raises the error.

-- r = f(t)
local function unary(name, f)
    local function apply(r, t)
        if f(r.handle, t.handle) ~= 0 then overlap.write(name, f, r, t) end
        return r
    end
    methods[name] = function(r, t)
        tensor(r, 1, name)
        if not t then return apply(r, r) end
        return apply(r, tensor(t, 2, name, r))
    end
    torch[name] = function(a, b)
        if type(a) == "number" then return of_number(name, f, a) end
        tensor(a, 1, name)
        if not b then return apply(like(a, name), a) end
        return apply(a, tensor(b, 2, name, a))
    end
end

-- r = f(t, value)
local function with_value(name, f)
    local function apply(r, t, value)
        value = element(t, value)
        if f(r.handle, t.handle, value) ~= 0 then overlap.write(name, f, r, t, value) end
        return r
    end
    methods[name] = function(r, a, b)
        tensor(r, 1, name)
        if b == nil then return apply(r, r, number(a, 2, name)) end
        return apply(r, tensor(a, 2, name, r), number(b, 3, name))
    end
    torch[name] = function(a, b, c)
        tensor(a, 1, name)
        if c == nil then return apply(like(a, name), a, number(b, 2, name)) end
        return apply(a, tensor(b, 2, name, a), number(c, 3, name))
    end
end

-- r = f(a, b)
local function with_tensor(name, f)
    local function apply(r, a, b)
        b = shaped(b, a, name)
        if f(r.handle, a.handle, b.handle) ~= 0 then overlap.write(name, f, r, a, b) end
        return r
    end
    methods[name] = function(r, a, b)
        tensor(r, 1, name)
        if not b then return apply(r, r, tensor(a, 2, name, r)) end
        return apply(r, tensor(a, 2, name, r), tensor(b, 3, name, r))
    end
    torch[name] = function(a, b, c)
        tensor(a, 1, name)
        tensor(b, 2, name, a)
        if not c then return apply(like(a, name), a, b) end
        return apply(a, b, tensor(c, 3, name, a))
    end
end

-- r = f(t, value), or r = g(t, src)
local function with_either(name, f, g)
    local function apply(r, t, x, position)
        if is_tensor(x) then
            x = shaped(tensor(x, position, name, t), t, name)
            if g(r.handle, t.handle, x.handle) ~= 0 then overlap.write(name, g, r, t, x) end
        else
            x = element(t, number(x, position, name))
            if f(r.handle, t.handle, x) ~= 0 then overlap.write(name, f, r, t, x) end
        end
        return r
    end
    methods[name] = function(r, a, b)
        tensor(r, 1, name)
        if b == nil then return apply(r, r, a, 2) end
        return apply(r, tensor(a, 2, name, r), b, 3)
    end
    torch[name] = function(a, b, c)
        tensor(a, 1, name)
        if c == nil then return apply(like(a, name), a, b, 2) end
        return apply(a, tensor(b, 2, name, a), c, 3)
    end
end

-- r = f(t, value), or r = g(t, value, src); value is 1 by default before a tensor
local function with_multiple(name, f, g)
    local function apply(r, t, x, y, position)
        if is_tensor(x) then
            x = shaped(tensor(x, position, name, t), t, name)
            if g(r.handle, t.handle, 1, x.handle) ~= 0 then overlap.write(name, g, r, t, 1, x) end
            return r
        end
        x = element(t, number(x, position, name))
        if y == nil then
            if f(r.handle, t.handle, x) ~= 0 then overlap.write(name, f, r, t, x) end
        else
            y = shaped(tensor(y, position + 1, name, t), t, name)
            if g(r.handle, t.handle, x, y.handle) ~= 0 then overlap.write(name, g, r, t, x, y) end
        end
        return r
    end
    methods[name] = function(r, a, b, c)
        tensor(r, 1, name)
        if b == nil or type(a) == "number" then return apply(r, r, a, b, 2) end
        return apply(r, tensor(a, 2, name, r), b, c, 3)
    end
    torch[name] = function(a, b, c, d)
        tensor(a, 1, name)
        if c == nil or type(b) == "number" then return apply(like(a, name), a, b, c, 2) end
        return apply(a, tensor(b, 2, name, a), c, d, 3)
    end
end

-- r = f(t, value, a, b); value is 1 by default
local function with_product(name, f)
    local function apply(r, t, value, a, b)
        a, b, value = shaped(a, t, name), shaped(b, t, name), element(t, value)
        if f(r.handle, t.handle, value, a.handle, b.handle) ~= 0 then overlap.accumulate(name, f, r, t, value, a, b) end
        return r
    end
    -- Reads `[value,] a, b` from `position` on.
    local function rest(r, t, position, x, y, z)
        if type(x) == "number" then
            return apply(r, t, x, tensor(y, position + 1, name, t), tensor(z, position + 2, name, t))
        end
        return apply(r, t, 1, tensor(x, position, name, t), tensor(y, position + 1, name, t))
    end
    -- True if there is a tensor before `[value,] a, b`.
    local function is_longer(x, y, z) return is_tensor(x) and (z ~= nil or type(y) == "number") end
    methods[name] = function(r, x, y, z, w)
        tensor(r, 1, name)
        if is_longer(x, y, z) then return rest(r, tensor(x, 2, name, r), 3, y, z, w) end
        return rest(r, r, 2, x, y, z)
    end
    torch[name] = function(a, x, y, z, w)
        tensor(a, 1, name)
        if is_longer(x, y, z) then return rest(a, tensor(x, 2, name, a), 3, y, z, w) end
        return rest(like(a, name), a, 2, x, y, z)
    end
end

-- A ByteTensor of 1 where the comparison holds, or a result of the type of `t`. Method and function are the same:
-- r = f(t, value), or r = g(a, b)
local function comparison(name, f, g)
    local function apply(r, t, x, position)
        r = r or own(C.THTensor_newWithDtype(C.TH_UINT8), name)
        if is_tensor(x) then
            x = shaped(tensor(x, position, name, t), t, name)
            if g(r.handle, t.handle, x.handle) ~= 0 then overlap.write(name, g, r, t, x) end
        else
            x = element(t, number(x, position, name))
            if f(r.handle, t.handle, x) ~= 0 then overlap.write(name, f, r, t, x) end
        end
        return r
    end
    methods[name] = function(a, b, c)
        tensor(a, 1, name)
        if c == nil then return apply(nil, a, b, 2) end
        tensor(b, 2, name)
        if a.handle.dtype ~= C.TH_UINT8 then tensor(a, 1, name, b) end
        return apply(a, b, c, 3)
    end
    torch[name] = methods[name]
end

-- The functions by family: the name in Lua, and the library's name if it differs.

local function each(family, names)
    for name in names:gmatch("%S+") do family(name, C["THTensor_" .. name]) end
end

-- The library rounds halves to even, Torch7 away from 0: trunc(t) + trunc(2 * frac(t)). The frac of infinity is 0.
local function round(r, t)
    if types[t.dtype].integral then return C.THTensor_round(r, t) end
    local half = own(C.THTensor_newWithDtype(t.dtype), "round")
    local status = C.THTensor_frac(half.handle, t)
    if status == C.TH_OK then status = C.THTensor_mul(half.handle, half.handle, 2) end
    if status == C.TH_OK then status = C.THTensor_trunc(half.handle, half.handle) end
    if status == C.TH_OK then status = C.THTensor_nanToNum(half.handle, half.handle, 0, 0, 0) end
    if status == C.TH_OK then status = C.THTensor_trunc(r, t) end
    if status == C.TH_OK then status = C.THTensor_cadd(r, r, 1, half.handle) end
    return status
end

unary("round", round)
each(unary, "neg abs sign floor ceil trunc frac cinv sqrt rsqrt exp log log1p sin cos tan asin acos atan")
each(unary, "sinh cosh tanh sigmoid lgamma")
each(with_value, "mul fmod remainder lshift rshift bitand bitor bitxor")
each(with_tensor, "cmul cpow atan2 cfmod cremainder clshift crshift cbitand cbitor cbitxor")
with_either("cmax", C.THTensor_cmaxValue, C.THTensor_cmax)
with_either("cmin", C.THTensor_cminValue, C.THTensor_cmin)
with_multiple("add", C.THTensor_add, C.THTensor_cadd)
with_multiple("csub", C.THTensor_sub, C.THTensor_csub)
each(with_product, "addcmul")
for name in ("lt le gt ge eq ne"):gmatch("%S+") do
    comparison(name, C["THTensor_" .. name .. "Value"], C["THTensor_" .. name .. "Tensor"])
end

-- Integers are divided as in C: the quotient is truncated.
local function truncating(f, mode_f)
    return function(r, a, b)
        local record = types[r.dtype]
        if record.integral then return mode_f(r, a, b, C.TH_DIV_TRUNC) end
        return f(r, a, b)
    end
end

with_value("div", truncating(C.THTensor_div, C.THTensor_divMode))
with_tensor("cdiv", truncating(C.THTensor_cdiv, C.THTensor_cdivMode))

-- For integers, the product value * a is a C `int`, or has the type itself if that is wider. The quotient is truncated.
with_product("addcdiv", function(r, t, value, a, b)
    local record = types[t.dtype]
    if not record.integral then return C.THTensor_addcdiv(r, t, value, a, b) end
    local code = record.size < 4 and C.TH_INT32 or record.code
    local quotient, divisor = own(C.THTensor_newWithDtype(code), "addcdiv"), own(C.THTensor_newWithDtype(code), "addcdiv")
    local status = C.THTensor_copy(quotient.handle, a)
    if status == 0 then status = C.THTensor_copy(divisor.handle, b) end
    if status == 0 then status = C.THTensor_mul(quotient.handle, quotient.handle, value) end
    if status == 0 then status = C.THTensor_cdivMode(quotient.handle, quotient.handle, divisor.handle, C.TH_DIV_TRUNC) end
    if status == 0 then status = C.THTensor_cadd(r, t, 1, quotient.handle) end
    return status
end)

-- The names `mod` and `cmod` are Torch7's older ones.
with_value("mod", C.THTensor_fmod)
with_tensor("cmod", C.THTensor_cfmod)

with_value("pow", C.THTensor_pow)
local pow_of, pow_into = torch.pow, methods.pow

local function number_to_tensor(r, value, t)
    value = element(t, value)
    if C.THTensor_tpow(r.handle, value, t.handle) ~= 0 then overlap.write("pow", C.THTensor_tpow, r, value, t) end
    return r
end

--- `torch.pow([dst,] t, value)` is t ^ value, which is a number if `t` is one, and `torch.pow([dst,] value, t)` is value ^ t.
function torch.pow(a, b, c)
    if type(a) == "number" and type(b) == "number" then return of_number("pow", C.THTensor_pow, a, b) end
    if type(a) == "number" then return number_to_tensor(like(tensor(b, 2, "pow"), "pow"), a, b) end
    if type(b) == "number" and c ~= nil then return number_to_tensor(tensor(a, 1, "pow"), b, tensor(c, 3, "pow", a)) end
    return pow_of(a, b, c)
end

--- `t:pow(value)`, `dst:pow(t, value)`, `dst:pow(value, t)`
function methods.pow(r, a, b)
    if type(a) == "number" and b ~= nil then return number_to_tensor(tensor(r, 1, "pow"), a, tensor(b, 3, "pow", r)) end
    return pow_into(r, a, b)
end

local atan2_of = torch.atan2

--- `torch.atan2([dst,] a, b)`, which is a number for two numbers.
function torch.atan2(a, b, c)
    if type(a) == "number" and type(b) == "number" then return (math.atan2(a, b)) end
    return atan2_of(a, b, c)
end

local function clamp(r, t, minimum, maximum, position)
    minimum, maximum = element(t, number(minimum, position, "clamp")), element(t, number(maximum, position + 1, "clamp"))
    if C.THTensor_clamp(r.handle, t.handle, minimum, maximum) ~= 0 then
        overlap.write("clamp", C.THTensor_clamp, r, t, minimum, maximum)
    end
    return r
end

--- Sets elements below `minimum` to `minimum`, and elements above `maximum` to `maximum`.
function methods.clamp(r, a, b, c)
    tensor(r, 1, "clamp")
    if is_tensor(a) then return clamp(r, tensor(a, 2, "clamp", r), b, c, 3) end
    return clamp(r, r, a, b, 2)
end

function torch.clamp(a, b, c, d)
    tensor(a, 1, "clamp")
    if is_tensor(b) then return clamp(a, tensor(b, 2, "clamp", a), c, d, 3) end
    return clamp(like(a, "clamp"), a, b, c, 2)
end

local function lerp(r, a, b, weight, position)
    weight = number(weight, position, "lerp")
    b = shaped(b, a, "lerp")
    if C.THTensor_lerp(r.handle, a.handle, b.handle, weight) ~= 0 then overlap.write("lerp", C.THTensor_lerp, r, a, b, weight) end
    return r
end

--- `a + weight * (b - a)`
function methods.lerp(r, a, b, c)
    tensor(r, 1, "lerp")
    tensor(a, 2, "lerp", r)
    if is_tensor(b) then return lerp(r, a, tensor(b, 3, "lerp", r), c, 4) end
    return lerp(r, r, a, b, 3)
end

--- `torch.lerp([dst,] a, b, weight)`, where `a` and `b` are tensors, or numbers without `dst`.
function torch.lerp(a, b, c, d)
    if type(a) == "number" then return a + number(c, 3, "lerp") * (number(b, 2, "lerp") - a) end
    tensor(a, 1, "lerp")
    tensor(b, 2, "lerp", a)
    if is_tensor(c) then return lerp(a, b, tensor(c, 3, "lerp", a), d, 4) end
    return lerp(like(a, "lerp"), a, b, c, 3)
end

-- Filling and copying.

--- Sets every element to `value`.
function methods.fill(t, value)
    tensor(t, 1, "fill")
    value = number(value, 2, "fill")
    if t.handle.nDimension > 0 then check(C.THTensor_fill(t.handle, element(t, value)), "fill") end
    return t
end

--- Sets every element to 0.
function methods.zero(t)
    tensor(t, 1, "zero")
    if t.handle.nDimension > 0 then check(C.THTensor_zero(t.handle), "zero") end
    return t
end

--- Copies the elements of a tensor with the same number of elements, in any shape and of any type, converted to this type.
function methods.copy(t, src)
    tensor(t, 1, "copy")
    src = shaped(tensor(src, 2, "copy"), t, "copy")
    if t.handle.nDimension > 0 and convert.copy(t.handle, src.handle) ~= 0 then overlap.write("copy", convert.copy, t, src) end
    return t
end

for _, name in ipairs({ "fill", "zero", "copy" }) do torch[name] = methods[name] end

return elementwise
