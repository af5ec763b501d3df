-- Uses the installed package: `luajit uses.lua FOLDER`, with the folder in which `require` should find it. Prints LuaJIT's version.

local folder = ...

local torch = require("torch")
local thorn = require("thorn.dynamic")

for name, found in pairs({ thorn = require("thorn.errors").raise, ["thorn.dynamic"] = thorn.method }) do
    local source = debug.getinfo(found, "S").source
    assert(source:sub(1, #folder + 1) == "@" .. folder, name .. " is from " .. source)
end

assert(_G.torch == torch and torch == require("thorn"))

local x = torch.Tensor({ { 1, 2 }, { 3, 4 } })
assert(x:sum() == 10 and tostring(x):find("[torch.DoubleTensor of size 2x2]", 1, true))
assert(thorn.sumall(thorn.add(x, 1)) == 14)
local values, places = thorn.sort(x, 2, { descending = true })
assert(thorn.get2d(values, 2, 1) == 4 and thorn.get2d(places, 2, 1) == 2)
local ok, message = pcall(thorn.mm, x, thorn.ones(3, 3))
assert(not ok and message:find("mm: ", 1, true))

print(jit.version)
