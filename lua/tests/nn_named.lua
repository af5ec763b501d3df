-- Calls THNN functions with arguments by their names, as their rows name them.

local torch = require("thorn")
local THNN = require("thorn.nn")

--- Calls the function `name` for tensors of a type. `arguments` has values, and tensors in place of pointers, by names.
return function(type_name, name, arguments)
    local list, count = {}, 0
    for word in THNN.functions[name][1]:gmatch("([%w_]+)%S*") do
        count = count + 1
        local x = arguments[word]
        if torch.isTensor(x) then list[count] = x:cdata() else list[count] = x end
    end
    return THNN.kernels[type_name][name](unpack(list, 1, count))
end
