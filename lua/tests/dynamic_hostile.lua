-- No argument ends the process: calls every function with random arguments, in a separate process. TH_TEST_SEED selects other arguments.

local harness = require("harness")
local check = harness.check

local here = debug.getinfo(1, "S").source:match("^@(.*[/\\])") or "./"

local CALLS = 10000

harness.test("calls_with_any_arguments_return_or_raise", function()
    local seed = tonumber(os.getenv("TH_TEST_SEED")) or 1
    -- Some arguments ask for gigabytes, so the process gets 4 GB of address space.
    local command = "ulimit -v 4000000; LUA_PATH='%s' '%s' '%sprograms/hostile.lua' %d %d 2>&1"
    local process = io.popen(command:format(package.path, arg[-1], here, seed, CALLS))
    local last = ""
    for line in process:lines() do last = line end
    process:close()
    local succeeded = tonumber(last:match("^(%d+) of %d+ calls succeeded$"))
    check(succeeded, ("TH_TEST_SEED=%d: the last call was %s"):format(seed, last))
    -- If nearly all calls were refused for the types of their arguments, the test would show little.
    check(succeeded > CALLS / 8, last)
end)
