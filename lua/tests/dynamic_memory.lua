-- Memory, measured in separate processes: unreachable tensors are freed in time, and a million operations leak nothing. Needs /proc.

local harness = require("harness")
local check = harness.check

local tests = {}

-- Helpers for the programs below: the peak and the current memory of the process in MB.
local HELPERS = [[
    local function status(field)
        for line in io.lines("/proc/self/status") do
            local size = line:match("^" .. field .. ":%s*(%d+)")
            if size then return size / 1024 end
        end
    end
    local function peak() return status("VmHWM") end
    local function resident() return status("VmRSS") end
    local torch, thorn = require("thorn"), require("thorn.dynamic")
]]

-- Returns what a program prints in a new process.
local function printed(program)
    local path, interpreter = os.tmpname(), -1
    while arg[interpreter - 1] do interpreter = interpreter - 1 end
    local file = io.open(path, "w")
    file:write(program)
    file:close()
    local process = io.popen(("LUA_PATH='%s' '%s' '%s' 2>&1"):format(package.path, arg[interpreter], path))
    local text = process:read("*a")
    process:close()
    os.remove(path)
    return text
end

-- Returns the number that a program prints after the helpers.
local function number(program)
    local text = printed(HELPERS .. program)
    check(tonumber(text), text)
    return tonumber(text)
end

function tests.fresh_tensors_of_1_MB_stay_below_100_MB()
    for _, make in ipairs({ "torch.FloatTensor(262144):fill(i)", "thorn.ones(262144)", "thorn.add(x, i)", "x:clone()" }) do
        local most = number(([[
            local x = thorn.zeros(262144)
            for i = 1, 3000 do local y = %s end
            print(peak())
        ]]):format(make))
        check(most < 100, ("%s: %g MB"):format(make, most))
    end
end

-- Returns the memory that calls leave behind, in MB. The first calls load code, fill caches and reach the usual number of dead objects.
function tests.a_million_operations_leak_nothing()
    local steps = {
        ["x:add(y)"] = 1000000, ["thorn.add(x, y)"] = 1000000, ["thorn.add_(x, y)"] = 1000000,
        ["thorn.select(x, 1, 2)"] = 100000, ["thorn.sort(x)"] = 100000, ["thorn.split(x, 2)"] = 100000, ["pcall(thorn.mm, x, x)"] = 100000,
    }
    for step, count in pairs(steps) do
        local grown = number(([[
            local x, y = thorn.ones(4), thorn.ones(4)
            local function run(count)
                for _ = 1, count do %s end
                collectgarbage()
                collectgarbage()
            end
            run(%d)
            local before, handles = resident(), tonumber(thorn.Memory.liveBytes())
            run(%d)
            local bytes = tonumber(thorn.Memory.liveBytes()) - handles
            assert(bytes == 0, bytes .. " bytes are live")
            print(resident() - before)
        ]]):format(step, count, count))
        check(grown < 8, ("%s: %g MB"):format(step, grown))
    end
end

-- Graphs, hooks and Lua functions in them are freed with the results.
function tests.steps_of_training_leak_nothing()
    local grown = number([[
        local callbacks = require("thorn.dynamic.callbacks")
        local w = thorn.ones(4):setRequiresGrad(true)
        local function double(_, t) return thorn.mul(t, 2) end
        local function run(count)
            for _ = 1, count do
                local y = thorn.Grad.apply({ w }, double, double)
                y:addHook(function() end)
                local loss = thorn.sum(thorn.Grad.checkpoint({ y }, thorn.sin))
                loss:backward()
                thorn.no_grad(thorn.sub_, w, w:grad())
                w:zeroGrad()
            end
            collectgarbage()
            collectgarbage()
            assert(callbacks.sweep() == 0)
        end
        run(10000)
        local before, handles = resident(), tonumber(thorn.Memory.liveBytes())
        run(10000)
        local bytes = tonumber(thorn.Memory.liveBytes()) - handles
        assert(bytes == 0, bytes .. " bytes are live")
        print(resident() - before)
    ]])
    check(grown < 8, grown)
end

-- A finalizer of a program that is older than the package runs after the handles are freed.
function tests.finalizers_at_the_end_find_empty_tensors_and_storages()
    local text = printed([[
        local objects = {}
        local proxy = newproxy(true)
        getmetatable(proxy).__gc = function()
            for _, x in ipairs(objects) do
                x:free()
                x:free()
                x:resize(5):fill(3)
                io.write(x:type(), " ", x[5], "; ")
                x:free()
            end
        end
        local torch = require("torch")
        objects = { torch.FloatTensor(3), torch.FloatTensor(3), torch.FloatStorage(3) }
        for _, x in ipairs(objects) do x:resize(5):fill(x:type() and 1):free() end
        objects[2]:retain()
        objects[3]:retain()
    ]])
    check(text == "torch.DoubleTensor 3; torch.DoubleTensor 3; torch.DoubleStorage 3; ", text)
end

harness.run(tests)
