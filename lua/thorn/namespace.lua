-- The tables that the modules of the package fill: the functions of `torch`, and the methods of tensors and storages.

local namespace = {
    -- `torch.thorn` is the dynamic API, which is loaded at its first use.
    torch = setmetatable({}, {
        __index = function(torch, name)
            if name ~= "thorn" then return nil end
            local thorn = require("thorn.dynamic")
            rawset(torch, "thorn", thorn)
            return thorn
        end,
    }),
    storage_methods = {},
    -- The constructor of each tensor type by its code: `t.new`.
    constructors = {},
}

-- A method that Torch7 lacks is looked up in the dynamic API, and stored for the next call.
namespace.methods = setmetatable({}, {
    __index = function(methods, name)
        if type(name) ~= "string" then return nil end
        local method = require("thorn.dynamic").method(name)
        if method then rawset(methods, name, method) end
        return method
    end,
})

return namespace
