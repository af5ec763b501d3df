-- Dtypes as Lua values, such as `thorn.float32`. Each dtype is one table, so that dtypes can be compared and can be keys.

local library = require("thorn.library")
local C, ffi = library.C, require("ffi")

local dtypes = {}

local Dtype = { __tostring = function(dtype) return "thorn." .. dtype.name end }
Dtype.__index = Dtype

local by_code = {}

--- Returns the dtype with a C code; nil for TH_UNDEFINED.
function dtypes.with_code(code)
    code = tonumber(code)
    if code == C.TH_UNDEFINED then return nil end
    local dtype = by_code[code]
    if not dtype then
        dtype = setmetatable({ code = code, name = ffi.string(C.THDtype_name(code)) }, Dtype)
        by_code[code] = dtype
    end
    return dtype
end

--- Returns true for a dtype.
function dtypes.is(value) return getmetatable(value) == Dtype end

--- Returns `value` if it is a dtype, or the dtype with this PyTorch or Torch7 name: "float32", "long"; nil if there is none.
function dtypes.of(value)
    if dtypes.is(value) then return value end
    return dtypes.with_code(C.THDtype_fromName(value))
end

return dtypes
