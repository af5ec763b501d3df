-- The tables that the modules of the package fill: the functions of `torch`, and the methods of tensors and storages.

local namespace = {
    torch = {},
    storage_methods = {},
}

-- What Torch7 has no method for is looked up among the functions of the library, and found faster the next time.
namespace.methods = setmetatable({}, {
    __index = function(methods, name)
        if type(name) ~= "string" then return nil end
        local method = require("thorn.dynamic").method(name)
        if method then rawset(methods, name, method) end
        return method
    end,
})

return namespace
