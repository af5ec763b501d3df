-- Floats in memory as numbers of Lua.
--
-- LuaJIT stores other values than numbers as NaNs with a payload, and does not check the doubles that the FFI reads. A NaN from
-- memory could become a string or a table at an address that the memory names. Every float that this package reads from memory
-- passes through a function of this module, which returns LuaJIT's own NaN for any NaN. The functions of the library return
-- canonical NaNs themselves.

local ffi = require("ffi")
local bit = require("bit")

local copy, band = ffi.copy, bit.band

local number = {}

ffi.cdef([[
    typedef union { double value; int32_t words[2]; } thorn_double;
    typedef union { float value; int32_t word; } thorn_float;
]])

-- The float is copied before it is tested, because another process may write to a mapped file between a test and a second read.
local double, float = ffi.new("thorn_double"), ffi.new("thorn_float")
local HIGH, LOW = ffi.abi("le") and 1 or 0, ffi.abi("le") and 0 or 1
local NAN = 0 / 0

--- Returns double `i` from 0 at a pointer.
function number.read_double(pointer, i)
    copy(double, pointer + i, 8)
    local high = band(double.words[HIGH], 0x7fffffff)
    if high >= 0x7ff00000 and (high > 0x7ff00000 or double.words[LOW] ~= 0) then return NAN end
    return double.value
end

--- Returns float `i` from 0 at a pointer.
function number.read_float(pointer, i)
    copy(float, pointer + i, 4)
    if band(float.word, 0x7fffffff) > 0x7f800000 then return NAN end
    return float.value
end

-- Writes are copies, too: `apply` takes three times as long if its reads are barriers to LuaJIT's optimizer and its writes are not.

--- Stores double `i` from 0 at a pointer.
function number.write_double(pointer, i, value)
    double.value = value
    copy(pointer + i, double, 8)
end

--- Stores float `i` from 0 at a pointer.
function number.write_float(pointer, i, value)
    float.value = value
    copy(pointer + i, float, 4)
end

--- True if this LuaJIT stores numbers in integers of at most 32 bits as C on x86 does. Newer ones store the lowest bits of any number.
number.stores_as_c = ffi.new("int32_t[1]", 2 ^ 40)[0] == -2 ^ 31

--- Returns a number that any LuaJIT stores in an integer of at most 32 bits as C on x86 does. Outside of the range of the C `int`, and for
--- NaN, this is the least `int`.
function number.to_int(x) return x > -2147483649 and x < 2147483648 and x or -2147483648 end

--- Returns a number that any LuaJIT stores in a 64-bit integer as C on x86 does. Integers of the FFI stay.
function number.to_long(x)
    if type(x) == "number" and not (x >= -0x1p63 and x < 0x1p63) then return -0x1p63 end
    return x
end

return number
