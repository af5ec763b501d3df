-- The functions of THNN that the Lua package `nn` of Torch7 calls. `require "nn.THNN"` returns this module.
--
-- `x.THNN.Tanh_updateOutput(x:cdata(), y:cdata())` calls a row of a family. THNN.h of torch/nn documents names and arguments.

local ffi = require("ffi")
local binding = require("thorn.nn.binding")
local types = require("thorn.types")
local torch = require("thorn.namespace").torch

local FAMILIES = {
    "activations", "criterions", "classes", "linear", "sparse", "convolution", "windows", "pooling", "resampling", "normalization",
}

local THNN = { kernels = {}, NULL = ffi.NULL }

--- The rows of all functions by name.
THNN.functions = {}

for _, family in ipairs(FAMILIES) do
    for name, row in pairs(require("thorn.nn." .. family)) do THNN.functions[name] = row end
end

--- Returns the pointer to a tensor's C structure, or nil for nil.
function THNN.optionalTensor(t) return t and t:cdata() or nil end

--- The state that THNN's functions take in C. There is none.
function THNN.getState() return nil end

--- Returns a table of the functions `THNN_<type><name>` of a C library, each with the state as its first argument. Missing names are left
--- out.
function THNN.bind(lib, names, type_name, state)
    local bound = {}
    for _, name in ipairs(names) do
        local found, f = pcall(function() return lib["THNN_" .. type_name .. name] end)
        if found and f then bound[name] = function(...) return f(state(), ...) end end
    end
    return bound
end

--- Calls the function `name` for tensors of the type `type_name`.
function THNN.runKernel(name, type_name, ...)
    local kernels = THNN.kernels[type_name] or error("no functions for the type " .. tostring(type_name), 2)
    local kernel = kernels[name] or error(("no function %s for the type %s"):format(name, type_name), 2)
    return kernel(...)
end

-- Functions are bound at their first use.
for _, name in ipairs({ "torch.FloatTensor", "torch.DoubleTensor" }) do
    THNN.kernels[name] = setmetatable({}, {
        __index = function(kernels, f)
            local row = THNN.functions[f]
            if not row then return nil end
            kernels[f] = binding.bind(f, row, types.of_tensor[name].code)
            return kernels[f]
        end,
    })
    rawset(torch.getmetatable(name), "THNN", THNN.kernels[name])
end

return THNN
