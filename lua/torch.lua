-- Torch7's package for programs that say `require "torch"`: returns the package and sets the globals `torch`, `include` and `paths`.
--
-- If Torch7 itself is installed in the folder of this file, as torch/init.lua, this file loads Torch7.

local folder = debug.getinfo(1, "S").source:match("^@(.*[/\\])") or "./"
local torch7 = loadfile(folder .. "torch/init.lua")
if torch7 then return torch7(...) end

torch = require("thorn")
include = torch.include
paths = require("paths")

return torch
