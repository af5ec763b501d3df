-- Checks of arguments that all functions share. Each check takes the value, its position (the receiver of a method is 1) and the name of
-- the function. It raises "bad argument", or returns the value for the library.

local ffi = require("ffi")
local errors = require("thorn.errors")
local library = require("thorn.library")
local types = require("thorn.types")

local Tensor, Storage, Generator = library.Tensor, library.Storage, library.Generator
local C = library.C
local LONG = C.TH_INT64
local istype = ffi.istype
local int64, uint64 = ffi.typeof("int64_t"), ffi.typeof("uint64_t")

local arguments = {}

--- The maximum number of dimensions in the library.
arguments.MAX_DIMENSIONS = 1024
local MAX_DIMENSIONS = arguments.MAX_DIMENSIONS

--- Returns the name of the type of any value: "torch.DoubleTensor", "torch.LongStorage", otherwise Lua's name.
function arguments.typename(x)
    if istype(Tensor, x) then return types[x.handle.dtype].name end
    if istype(Storage, x) then return types[x.handle.dtype].storage_name end
    if istype(Generator, x) then return "torch.Generator" end
    local metatable = type(x) == "table" and debug.getmetatable(x)
    return metatable and rawget(metatable, "__typename") or type(x)
end
local typename = arguments.typename

-- The parentheses avoid tail calls: after a tail call of C, LuaJIT would continue to compile the caller.

function arguments.is_tensor(x) return (istype(Tensor, x)) end

function arguments.is_storage(x) return (istype(Storage, x)) end

local function expected(what, x, position, name)
    errors.argument(position, name, what .. " expected, got " .. (x == nil and "no value" or typename(x)))
end
arguments.expected = expected

--- Checks a tensor. If `like` is given, the tensor must have the same type.
function arguments.tensor(x, position, name, like)
    if not istype(Tensor, x) then expected(like and typename(like) or "torch.Tensor", x, position, name) end
    if like and x.handle.dtype ~= like.handle.dtype then expected(typename(like), x, position, name) end
    return x
end

--- Checks a tensor of the type with this code.
function arguments.tensor_of(code, x, position, name)
    if not istype(Tensor, x) or x.handle.dtype ~= code then expected(types[code].name, x, position, name) end
    return x
end

function arguments.storage(x, position, name)
    if not istype(Storage, x) then expected("torch.Storage", x, position, name) end
    return x
end

--- A number, which may be a 64-bit integer of the FFI, or `default` in place of nil.
function arguments.number(x, position, name, default)
    if type(x) == "number" then return x end
    if istype(int64, x) or istype(uint64, x) then return tonumber(x) end
    if x == nil and default ~= nil then return default end
    expected("number", x, position, name)
end
local number = arguments.number

--- Checks a number that is used as an integer: a size, a count, a position. It loses its fraction, as in Torch7. nil gives `default`.
function arguments.integer(x, position, name, default)
    x = number(x, position, name, default)
    if not (math.abs(x) <= 2 ^ 53) then
        errors.argument(position, name, ("number from -2^53 to 2^53 expected, got %.17g"):format(x))
    end
    return x < 0 and math.ceil(x) or math.floor(x)
end
local integer = arguments.integer

--- Checks a string that is one of these letters. nil gives the first letter: `letter(x, 2, name, "UL")`.
function arguments.letter(x, position, name, letters)
    if x == nil then return letters:sub(1, 1) end
    if type(x) ~= "string" or #x ~= 1 or not letters:find(x, 1, true) then
        errors.argument(position, name, "one of the letters " .. letters .. " expected")
    end
    return x
end

--- Returns the number of dimensions as Torch7 counts them: 0 for a tensor without elements.
function arguments.dimensions(t)
    local count = t.handle.nDimension
    return count > 0 and C.THTensor_nElement(t.handle) == 0 and 0 or count
end

--- Checks a dimension of the tensor, from 1. Returns the dimension counted from 0.
function arguments.dim(x, position, name, t, default)
    local dim = integer(x, position, name, default)
    if dim < 1 or dim > arguments.dimensions(t) then errors.argument(position, name, "dimension " .. dim .. " out of range") end
    return dim - 1
end

--- Checks an index from 1 to the size of dimension `dim`, which counts from 0. Returns the index counted from 0.
function arguments.entry(x, position, name, t, dim)
    local index, size = integer(x, position, name), tonumber(t.handle.size[dim])
    if index < 1 or index > size then errors.argument(position, name, "out of range") end
    return index - 1
end

-- The memory for lists of sizes. The next call overwrites it.
local list = ffi.new("int64_t[?]", MAX_DIMENSIONS)
arguments.list = list

local function too_long(position, name)
    errors.argument(position, name, "at most " .. MAX_DIMENSIONS .. " dimensions expected")
end

--- Copies a LongStorage to the list. Returns its length.
function arguments.long_storage(s, position, name)
    if not istype(Storage, s) or s.handle.dtype ~= LONG then expected("torch.LongStorage", s, position, name) end
    local count = tonumber(s.handle.size)
    if count > MAX_DIMENSIONS then too_long(position, name) end
    if count > 0 then ffi.copy(list, s.handle.data, count * 8) end
    return count
end

-- Reads the sizes after the fourth.
local function more_sizes(position, name, ...)
    local count = select("#", ...)
    if count + 4 > MAX_DIMENSIONS then too_long(position, name) end
    for i = 1, count do
        local size = select(i, ...)
        if size == nil then return i + 3 end
        list[i + 3] = integer(size, position + i + 3, name)
    end
    return count + 4
end

--- Reads sizes, given as numbers or as one LongStorage, into the list. Returns their number. `position` is the position of the first size.
--- The sizes end before the first nil. Four sizes are written out, because LuaJIT does not compile loops that end at once.
function arguments.sizes(position, name, a, b, c, d, ...)
    if istype(Storage, a) then return arguments.long_storage(a, position, name) end
    if a == nil then return 0 end
    list[0] = integer(a, position, name)
    if b == nil then return 1 end
    list[1] = integer(b, position + 1, name)
    if c == nil then return 2 end
    list[2] = integer(c, position + 2, name)
    if d == nil then return 3 end
    list[3] = integer(d, position + 3, name)
    return more_sizes(position, name, ...)
end

--- Returns the sizes of a tensor for messages: "3x4".
function arguments.shape(t)
    local sizes = {}
    for d = 0, arguments.dimensions(t) - 1 do sizes[d + 1] = tonumber(t.handle.size[d]) end
    return #sizes == 0 and "empty" or table.concat(sizes, "x")
end

return arguments
