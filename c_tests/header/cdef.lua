-- LuaJIT reads the text of THCdef, and the library has every function and object that the text declares.
local folder = arg[0]:match("^(.*)/") or "."
package.path = folder .. "/?.lua;" .. package.path
local ffi = require("ffi")
local prototypes = require("prototypes")

local thorn, text = prototypes.load(os.getenv("THORN_LIB") or error("THORN_LIB is not set"))

local declared, missing = 0, {}
local function has(name) return thorn[name] end
local function look(name)
    declared = declared + 1
    if not pcall(has, name) then missing[#missing + 1] = name end
end

for _, prototype in ipairs(prototypes.list(text)) do look(prototype.name) end
for name in text:gmatch("extern [^;]-([%w_]+);") do look(name) end
assert(#missing == 0, "declared but not in the library: " .. table.concat(missing, ", "))
assert(declared > 380, "found only " .. declared .. " declarations")

-- Constants are numbers, and their names may be passed as texts.
assert(thorn.TH_FLOAT32 == 8 and thorn.TH_ALL_DIMS == -2 ^ 31 and thorn.TH_ABI_VERSION == thorn.THAbiVersion())
assert(ffi.sizeof("THStatus") == 4 and ffi.sizeof("THDtype") == 4)
assert(ffi.string(thorn.THDtype_name("TH_BFLOAT16")) == "bfloat16")
assert(ffi.string(thorn.THVersion()):find("^%d+%.%d+%.%d+$"))

-- The parts of the text, in order, are the whole text.
ffi.cdef "char *THCdefChapter(const char *title); void THFree(void *ptr);"
local function part(title)
    local found = ffi.gc(thorn.THCdefChapter(title), thorn.THFree)
    return found ~= nil and ffi.string(found)
end
local parts = { part("") }
for title in text:gmatch("/%* (.-) %*/\n") do parts[#parts + 1] = "/* " .. title .. " */\n" .. part(title) end
assert(#parts > 30 and table.concat(parts) == text)
assert(part("Matrix products"):find("THTensor_mm%(") and not part("Matrix products"):find("typedef"))
assert(part("matrix products") == false and part(" ") == false)
assert(ffi.string(thorn.THGetLastError()) == "THCdefChapter: no chapter is called ' '")

-- A failed call returns a status that can be compared with the constants.
assert(thorn.THTensor_zero(nil) == thorn.TH_ERR_ARGUMENT)
print(declared .. " functions and objects")
