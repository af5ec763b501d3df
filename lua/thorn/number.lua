-- Floats of memory as numbers of Lua.
--
-- LuaJIT stores other values than numbers as NaNs with a payload, and does not check the doubles that the FFI reads. A NaN from memory could
-- become a string or a table at an address that the memory names. Every float that this package reads from memory passes through a function
-- of this module, which returns LuaJIT's own NaN for any NaN. The functions of the library return canonical NaNs themselves.

local ffi = require("ffi")
local bit = require("bit")

local copy, band = ffi.copy, bit.band

local number = {}

ffi.cdef([[
    typedef union { double value; int32_t words[2]; } thorn_double;
    typedef union { float value; int32_t word; } thorn_float;
]])

-- The float is copied before it is tested, so that what is tested is also what is returned: another thread or process may write the memory.
local double, float = ffi.new("thorn_double"), ffi.new("thorn_float")
local HIGH, LOW = ffi.abi("le") and 1 or 0, ffi.abi("le") and 0 or 1
local NAN = 0 / 0

--- Returns the double at an address.
function number.of_double(address)
    copy(double, address, 8)
    local high = band(double.words[HIGH], 0x7fffffff)
    if high >= 0x7ff00000 and (high > 0x7ff00000 or double.words[LOW] ~= 0) then return NAN end
    return double.value
end

--- Returns the float at an address.
function number.of_float(address)
    copy(float, address, 4)
    if band(float.word, 0x7fffffff) > 0x7f800000 then return NAN end
    return float.value
end

return number
