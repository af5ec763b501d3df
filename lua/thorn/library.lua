-- Finds the shared library, loads it and declares it to the FFI, with Lua types for its handles.
--
-- The library has its own declarations (`THCdef`), which this package does not repeat. A tensor in Lua is a struct that holds the `THTensor
-- *` in its field `handle`. It is not that pointer itself, because LuaJIT resolves `pointer[1]` and `pointer.size` before it looks at a
-- metatable, and Torch7 gives both another meaning. The field `retained` counts the references that the method `retain` has added. The
-- field `slot` belongs to `thorn.slots`, which frees the handles. The field `is_dynamic` belongs to `thorn.origin`.

local ffi = require("ffi")
local errors = require("thorn.errors")
local slots = require("thorn.slots")

-- The binary interface that this package was written for.
local ABI_VERSION = 0

local library = {}

local function exists(path)
    local file = io.open(path, "rb")
    if file then file:close() end
    return file ~= nil
end

-- In the folder of this file, next to the package, in the build trees of this repository, in the prefix of an installation, and in a rock.
local function candidates()
    local here = debug.getinfo(1, "S").source:match("^@(.*[/\\])") or "./"
    local name = ({ OSX = "libthorn.dylib", Windows = "thorn.dll" })[ffi.os] or "libthorn.so"
    local found = {}
    local folders = {
        "", "../", "../../build/lib/", "../../target/release/", "../../target/debug/", "../../../../lib/", "../../../../lib64/",
        "../../../../lib/lua/5.1/thorn/",
    }
    for _, folder in ipairs(folders) do
        for _, file in ipairs({ name, name .. "." .. ABI_VERSION }) do
            if exists(here .. folder .. file) then found[#found + 1] = here .. folder .. file end
        end
    end
    return found
end

-- The environment has precedence, then a file near this one, then the system's loader.
local function load()
    local named = os.getenv("THORN_LIBRARY") or os.getenv("THORN_LIB")
    if named then return ffi.load(named) end
    local path = candidates()[1]
    if path then return ffi.load(path) end
    local ok, loaded = pcall(ffi.load, "thorn")
    if ok then return loaded end
    local versioned
    ok, versioned = pcall(ffi.load, "libthorn.so." .. ABI_VERSION)
    if ok then return versioned end
    error("thorn: the library is not found; THORN_LIBRARY may name it (" .. loaded .. ")", 0)
end

local function declare(C)
    -- A program may already have declared the library to the FFI.
    if not pcall(ffi.typeof, "THTensor") then ffi.cdef(ffi.string(C.THCdef())) end
    ffi.cdef([[
        typedef struct thorn_tensor { THTensor *handle; int32_t retained, slot; bool is_dynamic; } thorn_tensor;
        typedef struct thorn_storage { THStorage *handle; int32_t retained, slot; } thorn_storage;
        typedef struct thorn_generator { THGenerator *handle; } thorn_generator;
    ]])
end

ffi.cdef("const char *THCdef(void); int THAbiVersion(void);")
local C = load()
if C.THAbiVersion() ~= ABI_VERSION then
    error(("thorn: the library has binary interface %d, this package is for %d"):format(C.THAbiVersion(), ABI_VERSION), 0)
end
declare(C)

--- The functions and constants of the library: `library.C.THTensor_new()`.
library.C = C

--- The types of tensors, storages and generators in Lua. Their field `handle` is the pointer that `C` takes.
library.Tensor = ffi.typeof("thorn_tensor")
library.Storage = ffi.typeof("thorn_storage")
library.Generator = ffi.typeof("thorn_generator")

-- The library's messages count from 0, a Lua program from 1. Negative numbers count from the end in both.
local function count_from_one(message)
    for _, word in ipairs({ "dimension ", "index ", "position ", "entry ", "element ", "input ", "result ", "row ", "target " }) do
        message = message:gsub("%f[%w](" .. word .. ")(%d+)%f[^%d]", function(before, number) return before .. number + 1 end)
    end
    message = message:gsub("at position (%[[%d, ]*%])", function(place)
        return "at position " .. place:gsub("%d+", function(number) return number + 1 end)
    end)
    -- Columns of a text already count from 1.
    for _, rest in ipairs({ " is out of range", " of entry" }) do
        message = message:gsub("column (%d+)" .. rest, function(column) return ("column %d%s"):format(column + 1, rest) end)
    end
    message = message:gsub("between THGrad_setEnabled%(0%) and THGrad_setEnabled%(1%)", "in a function that thorn.no_grad calls")
    return (message:gsub("start (%d+) %+ length", function(start) return ("start %d with length"):format(start + 1) end))
end

-- Raises the library's last error with the function's name in Lua.
local function fail(name)
    local message = count_from_one(ffi.string(C.THGetLastError()))
    if name then message = name .. ": " .. message:gsub("^[%w_]+: ", "") end
    errors.raise(message)
end

--- Raises the library's last error with the function's name in Lua.
library.fail = fail

--- Returns if the library reports success. Otherwise raises its error.
function library.check(status, name)
    if status ~= 0 then fail(name) end
end

-- At the end of the Lua state, each object receives one of these empty handles. Finalizers of the FFI, which free them, run last.
local no_tensor, no_storage = C.THTensor_newWithDtype(C.TH_FLOAT64), C.THStorage_new(C.TH_FLOAT64)
local tensors = slots.new(library.Tensor, C.THTensor_free, ffi.gc(no_tensor, C.THTensor_free))
local storages = slots.new(library.Storage, C.THStorage_free, ffi.gc(no_storage, C.THStorage_free))

--- Give a tensor, or a storage, another handle, and release the handle that it had.
library.exchange, library.exchange_storage = tensors.exchange, storages.exchange

-- Keeps both from the collector, which ends them.
library.slots = { tensors, storages }

-- The collector is asked to run when there are more live bytes.
local SOFT_LIMIT = 48 * 2 ^ 20

--- Turns on or off that the library reports when much memory is in use. It is on at first.
function library.track(enabled) library.check(C.THMemory_setSoftLimit(enabled and SOFT_LIMIT or 0, nil, nil)) end

library.track(true)

-- Runs the collector, and sets the limit to one and a half times the memory that is still in use. So the collector runs less often if a
-- program keeps more memory.
local function relieve()
    collectgarbage()
    tensors.sweep()
    storages.sweep()
    local live = tonumber(C.THMemory_liveBytes())
    C.THMemory_setSoftLimit(math.max(SOFT_LIMIT, 1.5 * live), nil, nil)
end

--- Runs the collector if much memory is in use.
function library.relieve()
    if C.THMemory_pressure() ~= 0 then relieve() end
end

-- The two functions below avoid tail calls of C. After a tail call LuaJIT would continue to compile the caller, and would give up this
-- function if it cannot.

local add_tensor, add_storage = tensors.add, storages.add

--- Makes the Lua tensor for a new `THTensor *`, whose reference the collector frees. NULL raises the library's error.
function library.own(handle, name)
    if handle == nil then fail(name) end
    if C.THMemory_pressure() ~= 0 then relieve() end
    local t = add_tensor(handle)
    return t
end

--- As `own`, for a new `THStorage *`.
function library.own_storage(handle, name)
    if handle == nil then fail(name) end
    if C.THMemory_pressure() ~= 0 then relieve() end
    local s = add_storage(handle)
    return s
end

return library
