-- Integers of 64 bits of the FFI, `3LL` and `3ULL`, which are accepted as numbers.

local ffi = require("ffi")

local istype = ffi.istype
local int64, uint64 = ffi.typeof("int64_t"), ffi.typeof("uint64_t")

local integers = {}

--- Returns true for an integer of the FFI.
function integers.is_boxed(value) return istype(int64, value) or istype(uint64, value) end
local is_boxed = integers.is_boxed

--- Returns true for a number or an integer of the FFI.
function integers.is_number(value) return type(value) == "number" or is_boxed(value) end

--- Returns true for an integer of the FFI from 2^63 on.
function integers.is_above_int64(value) return istype(uint64, value) and tonumber(value) >= 2 ^ 63 end

--- Returns an integer of the FFI as a number if the number holds it exactly. Returns any other value unchanged.
function integers.unboxed(value)
    if not is_boxed(value) then return value end
    local number = tonumber(value)
    if number > -2 ^ 53 and number < 2 ^ 53 then return number end
    return value
end

return integers
