-- Torch7's tensors for LuaJIT: `torch = require "thorn"`.
--
-- A tensor is a view (sizes, strides, offset) of a storage of numbers. Dimensions, positions and the elements of index tensors count from
-- 1, as in Torch7. Functions write to an optional first argument, the result: `dst:add(a, b)`, `torch.add(dst, a, b)`. Without a result,
-- `torch.add(a, b)` makes a tensor, and the method `a:add(b)` changes `a`.

local torch = require("thorn.namespace").torch

require("thorn.class")
require("thorn.tensor")
require("thorn.storage")
require("thorn.construct")
require("thorn.view")
require("thorn.elementwise")
require("thorn.apply")
require("thorn.indexing")
require("thorn.reduce")
require("thorn.matrix")
require("thorn.linear")
require("thorn.convolution")
require("thorn.random")
require("thorn.file")
require("thorn.serialize")
require("thorn.utility")
require("thorn.cmdline")
require("thorn.tester")
require("thorn.namespace").complete()

-- Returns the package `paths`: an installed one, otherwise this package's, which becomes a global as Torch7's does.
local function load_paths(name)
    for _, find in ipairs(package.loaders) do
        local loader = find(name)
        if type(loader) == "function" and loader ~= load_paths then return loader(name) end
    end
    _G.paths = require("thorn.paths")
    return _G.paths
end

package.preload["nn.THNN"] = function() return require("thorn.nn") end
package.preload["paths"] = package.preload["paths"] or load_paths

return torch
