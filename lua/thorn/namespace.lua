-- The tables that the modules of the package fill: the functions of `torch`, and the methods of tensors and storages.
--
-- A module adds a method to `methods`, or to `storage_methods`, for all types. Each type has its own table of methods. A program may change
-- it, and the other types stay unchanged.

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
    methods = {},
    storage_methods = {},
    --- The tables of methods by the code of the type. A tensor that has no elements yet may have no type: its code is 0.
    of_tensors = { [0] = {} },
    of_storages = {},
}

-- Looks up a method that Torch7 lacks in the dynamic API, and stores it for the next call.
local from_dynamic = {
    __index = function(methods, name)
        if type(name) ~= "string" or name:match("^__") then return nil end
        local method = require("thorn.origin").method_of_all(require("thorn.dynamic").method(name))
        if method then rawset(methods, name, method) end
        return method
    end,
}

-- Copies the methods to the table of each type. From then on, methods for all types are defined by `define`.
function namespace.complete()
    for _, table_of_type in pairs(namespace.of_tensors) do
        for name, method in pairs(namespace.methods) do table_of_type[name] = method end
        setmetatable(table_of_type, from_dynamic)
    end
    for _, table_of_type in pairs(namespace.of_storages) do
        for name, method in pairs(namespace.storage_methods) do table_of_type[name] = method end
    end
end

--- Replaces a method of all types of tensors. A type keeps a method that the program has replaced.
function namespace.replace(name, method)
    local old = namespace.methods[name]
    namespace.methods[name] = method
    for _, table_of_type in pairs(namespace.of_tensors) do
        if rawget(table_of_type, name) == old then table_of_type[name] = method end
    end
end

return namespace
