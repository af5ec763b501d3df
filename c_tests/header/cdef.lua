-- LuaJIT reads the header without its preprocessor lines, and the library has every function and object declared there.
local ffi = require("ffi")

local function environment(name) return os.getenv(name) or error(name .. " is not set", 2) end

local file = assert(io.open(environment("THORN_HEADER")))
local header = file:read("*a")
file:close()

-- Only C++ may read what stands between `#ifdef __cplusplus` and its end.
header = header:gsub("#ifdef __cplusplus.-#endif[^\n]*", ""):gsub("/%*.-%*/", ""):gsub("//[^\n]*", ""):gsub("\n#[^\n]*", "\n")
-- <stdio.h> has it for C.
ffi.cdef("typedef struct FILE FILE;")
ffi.cdef(header)
local thorn = ffi.load(environment("THORN_LIB"))

local function has(name) return thorn[name] end

local declared, missing = 0, {}
local function look(name)
    declared = declared + 1
    if not pcall(has, name) then missing[#missing + 1] = name end
end

for statement in header:gsub("%b{}", ""):gmatch("[^;]+") do
    if not statement:find("typedef") then
        local name = statement:match("([%w_]+)%s*%(") or statement:match("extern[^;]-([%w_]+)%s*$")
        if name and name:find("^TH") then look(name) end
    end
end

assert(#missing == 0, "declared but not in the library: " .. table.concat(missing, ", "))
assert(declared > 100, "found only " .. declared .. " declarations")
assert(ffi.string(thorn.THVersion()):find("^%d+%.%d+%.%d+$"))
print(declared .. " functions and objects")
