-- Functions of Torch7 that are not about tensors: threads, time, addresses.

local ffi = require("ffi")
local arguments = require("thorn.arguments")
local errors = require("thorn.errors")
local library = require("thorn.library")
local namespace = require("thorn.namespace")

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

local Timer = { __typename = "torch.Timer" }
Timer.__index = Timer

--- Makes a running timer. Its methods are `time`, `stop`, `resume` and `reset`.
function torch.Timer()
    return setmetatable({ elapsed = { real = 0, cpu = 0 }, since = { real = now(), cpu = os.clock() } }, Timer)
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

--- The address of a tensor's, a storage's or a table's memory, as a number.
function torch.pointer(x)
    if arguments.is_tensor(x) or arguments.is_storage(x) then return tonumber(ffi.cast("intptr_t", x.handle)) end
    local address = tostring(x):match("0x(%x+)$")
    if not address then errors.argument(1, "pointer", "an object expected, got " .. arguments.typename(x)) end
    return tonumber(address, 16)
end
