-- Callbacks for each element: apply, map, map2. Elements are visited in row-major order. If the callback raises an error, the elements
-- before stay changed.
--
-- The loops are in Lua and access memory directly, so LuaJIT compiles them together with the callback. One compiled loop is fast for one
-- callback only. So each place of the program where a callback is defined has a copy of the loop, made from a text.

local ffi = require("ffi")
local bit = require("bit")
local arguments = require("thorn.arguments")
local errors = require("thorn.errors")
local library = require("thorn.library")
local namespace = require("thorn.namespace")
local number = require("thorn.number")
local recording = require("thorn.recording")
local types = require("thorn.types")

local C = library.C
local torch, methods = namespace.torch, namespace.methods
local tensor = arguments.tensor
local tonumber, type = tonumber, type

-- The bits of a float, which are copied before they are tested: see `thorn.number`.
ffi.cdef([[
    typedef union { double value; int64_t bits; } thorn_double_bits;
    typedef union { float value; int32_t bits; } thorn_float_bits;
]])

-- Raises the error for a result that is no number.
local function refuse(result, name)
    errors.raise(name .. ": the function returned a " .. arguments.typename(result) .. ", not a number")
end

-- The text of a loop begins with the names of the values in `COMMON`, and of the functions and the pointer of a type.
local NAMES = [[
local CPU, band, cast, tonumber, type, refuse, NAN, EXPONENT, MANTISSA, double, float, int64s, int32s, read, write, pointer, range = ...
]]
local COMMON = {
    tonumber(C.TH_CPU), bit.band, ffi.cast, tonumber, type, refuse, 0 / 0, 0x7ff0000000000000LL, 0x000fffffffffffffLL,
    ffi.new("thorn_double_bits"), ffi.new("thorn_float_bits"), ffi.typeof("int64_t *"), ffi.typeof("int32_t *"),
}

-- Sets `s` to the storage of tensor `T`. Each access checks it, because the callback may have freed it or made it smaller. `read` raises
-- the error.
local CHECK = [[
        s = T.handle.storage
        if s == nil or I >= tonumber(s.size) or s.deviceType ~= CPU then read(s, I) end
]]

-- Statements that set `X` to element `I` of the storage `s`. A float is read after the test that it is no NaN.
local READS = {
    [C.TH_FLOAT64] = [[
        local X_bits, X = cast(int64s, s.data)[I], NAN
        double.bits = X_bits
        if band(X_bits, EXPONENT) ~= EXPONENT or band(X_bits, MANTISSA) == 0 then X = double.value end
]],
    [C.TH_FLOAT32] = [[
        float.bits = cast(int32s, s.data)[I]
        local X = NAN
        if band(float.bits, 0x7fffffff) <= 0x7f800000 then X = float.value end
]],
    integral = "        local X = tonumber(cast(pointer, s.data)[I])\n",
    any = "        local X = read(s, I)\n",
}

-- Statements that store `result` in element `i` of the storage `s`.
local WRITES = {
    direct = "            cast(pointer, s.data)[i] = result",
    integral = "            cast(pointer, s.data)[i] = range(result)",
    any = "            write(s, i, result)",
}

-- Returns the statements to read and to write elements. LuaJIT takes for granted that pointers of different types do not lead to the same
-- memory. So the bits of floats are read only where no element is read again after a write (`repeats`).
local function access(record, repeats)
    if READS[record.code] and not repeats then return READS[record.code], WRITES.direct end
    if record.integral and record.code ~= C.TH_BOOL then
        return READS.integral, number.stores_as_c and record.code ~= C.TH_INT64 and WRITES.direct or WRITES.integral
    end
    return READS.any, WRITES.any
end

-- The names of an operand: the tensor, the position in its storage, the first position, the step to the next one, the element.
local OPERANDS = {
    { T = "t", I = "i", FIRST = "i0", STEP = "di", X = "x" },
    { T = "a", I = "j", FIRST = "j0", STEP = "dj", X = "y" },
    { T = "b", I = "k", FIRST = "k0", STEP = "dk", X = "z" },
}

local function named(text, operand) return (text:gsub("%f[%w]%u+%f[%W]", operand)) end

-- Returns the text of a function that calls `f` for a run of `length` elements of each of `count` tensors.
local function text_of(count, read, write)
    local parameters, reads, elements = {}, {}, {}
    for n = 1, count do
        parameters[n] = named("T, FIRST, STEP", OPERANDS[n])
        reads[n] = named("        local I = FIRST + n * STEP\n" .. CHECK .. read, OPERANDS[n])
        elements[n] = OPERANDS[n].X
    end
    return ([[
return function(f, name, length, %s)
    local s
    for n = 0, length - 1 do
%s        local result = f(%s)
        if type(result) == "number" then
%s%s
        elseif result ~= nil then
            refuse(result, name)
        end
    end
end]]):format(table.concat(parameters, ", "), table.concat(reads), table.concat(elements, ", "), named(CHECK, OPERANDS[1]), write)
end

local CHUNK_NAME = debug.getinfo(1, "S").source

-- Makes a copy of the loop over `count` tensors of a type.
local function new_loop(record, count, repeats)
    local values = { unpack(COMMON) }
    for _, value in ipairs({ record.read, record.write, record.pointer, record.range }) do values[#values + 1] = value end
    return assert(loadstring(NAMES .. text_of(count, access(record, repeats)), CHUNK_NAME))(unpack(values))
end

-- The loops by source and line of the callback's definition. If there are too many, all are dropped.
local MOST_PLACES = 200
local places, place_count = {}, 0

-- Returns the place of a function, a table for its loops.
local function place_of(f)
    local info = debug.getinfo(f, "S")
    local source, line = info.source, info.linedefined
    if info.what == "C" then line = f end
    local lines = places[source]
    local place = lines and lines[line]
    if place then return place end
    if place_count >= MOST_PLACES then places, place_count = {}, 0 end
    place, place_count = {}, place_count + 1
    places[source] = places[source] or {}
    places[source][line] = place
    return place
end

-- The loops for tensors with so few elements that the search for a place would take longer than the loop.
local FEW = 64
local common = {}

-- LuaJIT compiles a loop for one function. From the fourth function of one definition on, it compiles for the definition.
local MOST_COPIES = 5
local weak = { __mode = "v" }

-- Returns the loop for a callback.
local function loop_for(f, total, record, count, repeats)
    local key = 8 * record.code + 2 * count + (repeats and 1 or 0)
    if total < FEW then
        common[key] = common[key] or new_loop(record, count, repeats)
        return common[key]
    end
    local place = place_of(f)
    local entry = place[key]
    if not entry then
        entry = { copies = 0, last = setmetatable({}, weak) }
        place[key] = entry
    end
    if entry.last.f ~= f and entry.copies < MOST_COPIES then
        entry.loop, entry.last.f, entry.copies = new_loop(record, count, repeats), f, entry.copies + 1
    end
    return entry.loop
end

local function greatest_divisor(a, b)
    while b ~= 0 do a, b = b, a % b end
    return a
end

-- Returns the layout of the elements. A run has `length` elements, and its elements are `step` positions apart. `sizes` and `strides` begin
-- with the last dimension. Dimensions of size 1 are left out, and dimensions that form one run are joined.
local function layout_of(t)
    local handle = t.handle
    local layout = { first = tonumber(handle.storageOffset), length = tonumber(C.THTensor_nElement(handle)), step = 1 }
    if C.THTensor_isContiguous(handle) ~= 0 then return layout end
    local sizes, strides, last = {}, {}, 0
    for d = handle.nDimension - 1, 0, -1 do
        local size, stride = tonumber(handle.size[d]), tonumber(handle.stride[d])
        if last > 0 and stride == sizes[last] * strides[last] then
            sizes[last] = sizes[last] * size
        elseif size > 1 then
            last = last + 1
            sizes[last], strides[last] = size, stride
        end
    end
    layout.sizes, layout.strides, layout.length, layout.step = sizes, strides, sizes[1], strides[1]
    return layout
end

-- Returns the position in the storage of element `n`, counted from 0.
local function locate(layout, n)
    if not layout.sizes then return layout.first + n end
    local position = layout.first
    for d, size in ipairs(layout.sizes) do
        local entry = n % size
        position = position + entry * layout.strides[d]
        n = (n - entry) / size
    end
    return position
end

local function is_contiguous(t) return not t or C.THTensor_isContiguous(t.handle) ~= 0 end

local function offset(t) return t and tonumber(t.handle.storageOffset) end

-- Calls `f` for the elements of `t`, `a` and `b`; the last two may be nil.
local function visit(name, f, t, a, b)
    recording.begin(t, name)
    local total, record, count = tonumber(C.THTensor_nElement(t.handle)), types[t.handle.dtype], b and 3 or a and 2 or 1
    if total == 0 then return t end
    if is_contiguous(t) and is_contiguous(a) and is_contiguous(b) then
        local loop = loop_for(f, total, record, count, false)
        loop(f, name, total, t, offset(t), 1, a, offset(a), 1, b, offset(b), 1)
        return t
    end
    local of_t, of_a, of_b = layout_of(t), layout_of(a or t), layout_of(b or t)
    local length = greatest_divisor(of_t.length, greatest_divisor(of_a.length, of_b.length))
    local loop = loop_for(f, total, record, count, of_t.step == 0 or of_a.step == 0 or of_b.step == 0)
    for n = 0, total - 1, length do
        loop(f, name, length, t, locate(of_t, n), of_t.step, a, a and locate(of_a, n), of_a.step, b, b and locate(of_b, n), of_b.step)
    end
    return t
end

local function func(f, position, name)
    if type(f) ~= "function" then arguments.expected("function", f, position, name) end
end

local function same_count(t, other, name)
    if C.THTensor_nElement(t.handle) ~= C.THTensor_nElement(other.handle) then
        errors.raise(("%s: inconsistent tensor sizes %s and %s"):format(name, arguments.shape(t), arguments.shape(other)))
    end
end

--- Calls `f(element)` for each element. If it returns a number, the number replaces the element.
function methods.apply(t, f)
    tensor(t, 1, "apply")
    func(f, 2, "apply")
    return visit("apply", f, t)
end

--- Calls `f(element, element of a)` for each element. `a` has the same number of elements, in any shape. If `f` returns a number, the
--- number replaces the element.
function methods.map(t, a, f)
    tensor(t, 1, "map")
    tensor(a, 2, "map", t)
    func(f, 3, "map")
    same_count(t, a, "map")
    return visit("map", f, t, a)
end

--- As `map`, with `f(element, element of a, element of b)`.
function methods.map2(t, a, b, f)
    tensor(t, 1, "map2")
    tensor(a, 2, "map2", t)
    tensor(b, 3, "map2", t)
    func(f, 4, "map2")
    same_count(t, a, "map2")
    same_count(t, b, "map2")
    return visit("map2", f, t, a, b)
end

for _, name in ipairs({ "apply", "map", "map2" }) do torch[name] = methods[name] end
