-- Functions of Torch7 that are not about tensors: threads, time, addresses, environments, files of Lua.

local ffi = require("ffi")
local arguments = require("thorn.arguments")
local errors = require("thorn.errors")
local library = require("thorn.library")
local namespace = require("thorn.namespace")
local paths = require("thorn.paths")

local C, check = library.C, library.check
local torch = namespace.torch

--- Sets the number of threads that an operation may use.
function torch.setnumthreads(count) check(C.THSetNumThreads(arguments.integer(count, 1, "setnumthreads")), "setnumthreads") end

--- The number of threads that an operation may use.
function torch.getnumthreads() return C.THGetNumThreads() end

--- The number of cores that this process may use.
function torch.getnumcores() return C.THGetNumCores() end

ffi.cdef([[
    typedef struct thorn_timespec { int64_t seconds; int64_t nanoseconds; } thorn_timespec;
    int clock_gettime(int clock, thorn_timespec *time);
]])

local MONOTONIC = ffi.os == "OSX" and 6 or 1

-- Returns the seconds of a monotonic clock.
local function now()
    local time = ffi.new("thorn_timespec")
    ffi.C.clock_gettime(MONOTONIC, time)
    return tonumber(time.seconds) + tonumber(time.nanoseconds) * 1e-9
end

--- Starts to measure time. Returns a mark for `toc`.
function torch.tic() return now() end

--- The seconds since a mark of `tic`: `torch.toc(mark)`.
function torch.toc(mark) return now() - arguments.number(mark, 1, "toc") end

local Timer = torch.class("torch.Timer", torch)

--- Makes a running timer: `torch.Timer()`. Its methods are `time`, `stop`, `resume` and `reset`.
function Timer:__init()
    self.elapsed, self.since = { real = 0, cpu = 0 }, { real = now(), cpu = os.clock() }
end

--- Returns the running time of the timer: a table of seconds, `real`, and of processor time, `user`, which includes the system's; `sys` is
--- 0.
function Timer:time()
    local r = { real = self.elapsed.real, user = self.elapsed.cpu, sys = 0 }
    if self.since then
        r.real = r.real + now() - self.since.real
        r.user = r.user + os.clock() - self.since.cpu
    end
    return r
end

--- Stops the timer.
function Timer:stop()
    local time = self:time()
    self.elapsed, self.since = { real = time.real, cpu = time.user }, nil
    return self
end

--- Resumes a stopped timer.
function Timer:resume()
    self.since = self.since or { real = now(), cpu = os.clock() }
    return self
end

--- Sets the time of the timer to 0. A running timer continues.
function Timer:reset()
    self.elapsed = { real = 0, cpu = 0 }
    self.since = self.since and { real = now(), cpu = os.clock() }
    return self
end

--- The address of the memory of a tensor, a storage, a generator, a table, a function, a thread or a string, as a number. The address of a
--- pointer of the FFI is its value.
function torch.pointer(x)
    if arguments.is_tensor(x) or arguments.is_storage(x) or ffi.istype(library.Generator, x) then x = x.handle end
    if type(x) == "cdata" then return tonumber(ffi.cast("intptr_t", ffi.cast("void *", x))) end
    if x == nil or type(x) == "number" or type(x) == "boolean" then
        errors.argument(1, "pointer", "an object expected, got " .. arguments.typename(x))
    end
    return tonumber(("%p"):format(x))
end

--- True if both values are the same table, or the same tensor, storage or other object of Torch7.
function torch.isequal(a, b)
    if arguments.is_tensor(a) and arguments.is_tensor(b) or arguments.is_storage(a) and arguments.is_storage(b) then
        return a.handle == b.handle
    end
    return rawequal(a, b) and (type(a) == "table" or torch.typename(a) ~= nil)
end

--- Returns a number that identifies the class of this name; nil if there is none.
function torch.typename2id(name)
    local metatable = torch.getmetatable(name)
    return metatable and torch.pointer(metatable)
end

--- Returns the number that identifies the class of an object; nil if the value is no object of a class.
function torch.id(x) return torch.typename(x) and torch.typename2id(torch.typename(x)) end

--- Returns the field `__version` of an object's metatable; nil if there is none.
function torch.version(x)
    local metatable = torch.getmetatable(torch.type(x)) or debug.getmetatable(x)
    return type(metatable) == "table" and rawget(metatable, "__version") or nil
end

-- The environments of objects of the FFI, which Lua does not give one.
local environments = setmetatable({}, { __mode = "k" })

local HAS_ENVIRONMENT = { ["function"] = true, userdata = true, cdata = true }

local function check_environment(x, name)
    if not HAS_ENVIRONMENT[type(x)] then arguments.expected("function or object of Torch7", x, 1, name) end
end

--- Returns the environment of a function, or the table that `setenv` has given to an object; at first the globals.
function torch.getenv(x)
    check_environment(x, "getenv")
    if type(x) == "cdata" then return environments[x] or _G end
    return debug.getfenv(x)
end

--- Sets the environment of a function, or the table of an object.
function torch.setenv(x, environment)
    check_environment(x, "setenv")
    if type(environment) ~= "table" then arguments.expected("table", environment, 2, "setenv") end
    if type(x) == "cdata" then environments[x] = environment else debug.setfenv(x, environment) end
end

local PREFIX = ffi.os == "Windows" and "_" or ""

ffi.cdef(([[
    int thorn_fileno(void *file) __asm__("%sfileno");
    int thorn_isatty(int descriptor) __asm__("%sisatty");
]]):format(PREFIX, PREFIX))

--- True if an open file of Lua is a terminal: `torch.isatty(io.stdout)`.
function torch.isatty(file)
    if io.type(file) ~= "file" then errors.argument(1, "isatty", "open file expected, got " .. (io.type(file) or torch.type(file))) end
    return ffi.C.thorn_isatty(ffi.C.thorn_fileno(file)) ~= 0
end

-- Returns the folder of a path; nil if the path has none.
local function folder_of(path) return path:match("^(.*)[/\\]") end

--- Returns the folder of the file that `require(name)` would load; nil if there is none. Without a name, the folder of all packages that
--- are installed where `torch` is.
function torch.packageLuaPath(name)
    if name == nil then
        local folder = torch.packageLuaPath("torch")
        return folder and (folder:match("^(.*)[/\\]torch$") or folder)
    end
    if type(name) ~= "string" then arguments.expected("string", name, 1, "packageLuaPath") end
    for template in package.path:gmatch("[^;]+") do
        local path = template:gsub("%?", (name:gsub("%%", "%%%%")))
        local file = io.open(path)
        if file then
            file:close()
            return folder_of(path) or "."
        end
    end
end

--- Runs a file of Lua. `torch.include(package, file)` runs a file in the folder of a package. `torch.include(file, [depth])` runs a file
--- in the folder of the calling file, or of the caller `depth` levels further up.
function torch.include(package, file)
    if type(package) ~= "string" then arguments.expected("string", package, 1, "include") end
    local path
    if type(file) == "string" then
        local folder = torch.packageLuaPath(package)
        if not folder then errors.argument(1, "include", "there is no package " .. package .. " on package.path") end
        path = folder .. "/" .. file
    else
        path = paths.thisfile(package, 3 + arguments.integer(file, 2, "include", 0))
    end
    local chunk, problem = loadfile(path)
    if not chunk then errors.raise("include: " .. problem) end
    chunk()
end

-- In Torch7, `torch.DoubleTensor.torch` has the functions of this type.
namespace.methods.torch = torch
