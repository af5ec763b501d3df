-- Copies between types. Floats become integers as in C on x86, and so in Torch7, where the library saturates.
--
-- The fraction is dropped. Then bytes, chars and shorts have the lowest bits of a C `int`: in a ByteTensor 300 is 44, and -1 is 255.
-- A number that the `int` cannot hold, an infinity and a NaN become the least `int`, which is 0 in these types and -2147483648 in an
-- IntTensor. In a LongTensor they become the least 64-bit integer.

local library = require("thorn.library")
local types = require("thorn.types")

local C, own = library.C, library.own

local convert = {}

-- True if the integers of a type hold all floats from `least` to `greatest`.
local function holds(code, least, greatest)
    if code == C.TH_UINT8 then return least > -1 and greatest < 256 end
    local half = 2 ^ (8 * types[code].size - 1)
    return least > -half - 1 and greatest < half
end

-- Copies one element after the other. LuaJIT converts numbers as C does.
local function copy_elements(r, src, to, from)
    local floats = own(C.THTensor_newContiguous(src))
    local integers = own(C.THTensor_newWithSizes(to.code, src.nDimension, src.size))
    local first = tonumber(floats.handle.storageOffset)
    -- The loop names the tensors, not their storages, because compiled code keeps only what it names.
    for i = 0, tonumber(C.THTensor_nElement(src)) - 1 do
        to.write(integers.handle.storage, i, from.read(floats.handle.storage, first + i))
    end
    return C.THTensor_copy(r, integers.handle)
end

-- True for the types that the library converts otherwise.
local function differs(to, from) return to and to.integral and to.code ~= C.TH_BOOL and from and not from.integral end

--- Copies the elements of a `THTensor *` to another one. Returns the library's status.
function convert.copy(r, src)
    local to, from = types[r.dtype], types[src.dtype]
    if not differs(to, from) or C.THTensor_nElement(src) == 0 then return C.THTensor_copy(r, src) end
    local least, greatest = C.THTensor_minall(src), C.THTensor_maxall(src)
    if holds(to.code, least, greatest) then return C.THTensor_copy(r, src) end
    if to.size >= 4 or not holds(C.TH_INT32, least, greatest) then return copy_elements(r, src, to, from) end
    local whole = own(C.THTensor_newTo(src, C.TH_INT32))
    return C.THTensor_copy(r, whole.handle)
end

--- As `copy`, for a `THStorage *`.
function convert.copy_storage(r, src)
    if r.size ~= src.size or not differs(types[r.dtype], types[src.dtype]) then return C.THStorage_copy(r, src) end
    local to, from = own(C.THTensor_newWithStorage1d(r, 0, r.size, 1)), own(C.THTensor_newWithStorage1d(src, 0, src.size, 1))
    return convert.copy(to.handle, from.handle)
end

return convert
