-- Measures the package for LuaJIT, and prints a table of times and goals. benches/lua/bench.sh runs it.
--
--     luajit benches/lua/bench.lua LOOPS    LOOPS is the library that was compiled from loop.c

local ffi = require("ffi")

ffi.cdef([[
    typedef struct { long s, ns; } bench_time;
    int clock_gettime(int clock, bench_time *time);
    double loop_sum(const double *x, ptrdiff_t n);
    void loop_scale(double *x, ptrdiff_t n);
    void loop_recur(double *x, ptrdiff_t n);
]])

local MONOTONIC = 1
local time = ffi.new("bench_time")

local function now()
    ffi.C.clock_gettime(MONOTONIC, time)
    return tonumber(time.s) + 1e-9 * tonumber(time.ns)
end

-- Returns the number that a program prints in a new LuaJIT process.
local function fresh(program)
    local command = ("LUA_PATH='%s' '%s' -e '%s'"):format(package.path, arg[-1], program)
    local process = assert(io.popen(command))
    local printed = process:read("*a")
    process:close()
    local number = assert(tonumber(printed), "the program printed: " .. printed)
    return number
end

-- Returns the smallest result of `times` calls of `measure`.
local function least(times, measure)
    local best = math.huge
    for _ = 1, times do best = math.min(best, measure()) end
    return best
end

local missed = 0

local function report(what, value, unit, goal)
    local verdict = "–"
    if goal then
        verdict = (value <= goal and "at most %g%s" or "MISS: more than %g%s"):format(goal, unit)
        missed = missed + (value <= goal and 0 or 1)
    end
    print(("| %s | " .. (value < 1000 and "%.3g" or "%.0f") .. "%s | %s |"):format(what, value, unit, verdict))
end

local TIMED = [[
    local ffi = require "ffi"
    ffi.cdef "typedef struct { long s, ns; } bench_time; int clock_gettime(int clock, bench_time *time);"
    local a, b = ffi.new "bench_time", ffi.new "bench_time"
    ffi.C.clock_gettime(1, a)
    require "%s"
    ffi.C.clock_gettime(1, b)
    print(1e3 * tonumber(b.s - a.s) + 1e-6 * tonumber(b.ns - a.ns))]]

print("| what | measured | goal |")
print("| --- | ---: | --- |")
report("`require \"thorn\"`", least(9, function() return fresh(TIMED:format("thorn")) end), " ms", 30)
report("`require \"torch\"`", least(9, function() return fresh(TIMED:format("torch")) end), " ms", 15)
report("`require \"thorn.dynamic\"`", least(9, function() return fresh(TIMED:format("thorn.dynamic")) end), " ms")

local torch = require("thorn")
local thorn = require("thorn.dynamic")

-- Returns the time of one call in ns, with 4 elements.
local function calls(f)
    local count = 200000
    return least(9, function()
        local start = now()
        for _ = 1, count do f() end
        return 1e9 * (now() - start) / count
    end)
end

local x, y = torch.FloatTensor(4):fill(1), torch.FloatTensor(4):fill(2)
report("`x:add(y)`, 4 elements", calls(function() x:add(y) end), " ns", 300)
report("`x + y`, 4 elements, a new tensor", calls(function() return x + y end), " ns")
report("`x:narrow(1, 1, 2)`", calls(function() return x:narrow(1, 1, 2) end), " ns")
report("`thorn.add(x, y)`, 4 elements, a new tensor", calls(function() return thorn.add(x, y) end), " ns")
report("`thorn.add_(x, y)`, 4 elements", calls(function() thorn.add_(x, y) end), " ns")
report("`thorn.add(x, y, { out = x })`, 4 elements", calls(function() return thorn.add(x, y, { out = x }) end), " ns")

-- Loops over the memory of a tensor, in Lua and in C.

local C = ffi.load(assert(arg[1], "the library of loop.c"))
local SIZE, REPEATS = 2000, 100

local loops = {
    { "sum of squares", C.loop_sum, "local sum = 0 for i = 0, size - 1 do sum = sum + data[i] * data[i] end return sum" },
    { "`x = 0.5 * x + 1`", C.loop_scale, "for i = 0, size - 1 do data[i] = 0.5 * data[i] + 1 end" },
    { "`x[i] = 0.25 * x[i - 1] + 0.75 * x[i]`", C.loop_recur,
        "for i = 1, size - 1 do data[i] = 0.25 * data[i - 1] + 0.75 * data[i] end" },
}

local function timed(f, data)
    local start = now()
    for _ = 1, REPEATS do f(data, SIZE) end
    return now() - start
end

for _, loop in ipairs(loops) do
    local what, in_c, source = unpack(loop)
    local t = torch.DoubleTensor(SIZE):fill(1)
    local data = t:data()
    local lua_time, c_time = math.huge, math.huge
    -- LuaJIT compiles the loop each time to another address, and the times of so short a loop vary with the address.
    for _ = 1, 20 do
        local in_lua = assert(loadstring("local data, size = ... " .. source))
        for _ = 1, 10 do
            lua_time = math.min(lua_time, timed(in_lua, data))
            c_time = math.min(c_time, timed(in_c, data))
        end
    end
    report("ratio to C at -O2: " .. what .. " over `t:data()`", lua_time / c_time, "", 1.5)
end

local PEAK = [[
    local torch = require "thorn"
    for _ = 1, 3000 do torch.FloatTensor(262144):fill(1) end
    for line in io.lines "/proc/self/status" do
        local peak = line:match "VmHWM:%s*(%d+)"
        if peak then print(peak / 1024) end
    end]]
report("3,000 fresh tensors of 1 MB: most memory", fresh(PEAK), " MB", 100)

os.exit(missed == 0)
