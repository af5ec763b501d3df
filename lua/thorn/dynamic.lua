-- The dynamic API: every function of the library, with PyTorch's meaning, made from the rows.
--
--     local thorn = require("thorn.dynamic")             -- or torch.thorn
--     local x = thorn.tensor({{1, 2}, {3, 4}})
--     local y = thorn.add(x, 2)                          -- a new tensor
--     thorn.add(x, y, { out = y })                       -- written to y; thorn.add_(x, y) writes to x
--     local values, places = thorn.sort(x, 1, { descending = true })
--     local total = thorn.sum(x, { dim = { 1, 2 }, keepdim = true })
--     local archive = thorn.Archive.open("model.pt")
--     print(#archive, archive:name(1), archive:tensor(1))
--
-- Names. A function `THTensor_x` is `thorn.x`. `THTensor_newX` is `thorn.newX` and, if there is no `THTensor_x`, `thorn.x`. `THSetX` is
-- `thorn.setX`. `THArchive_x` is `thorn.Archive.x`, and a method of archives. PyTorch's spelling `index_select` and the C name work, too.
-- Forms of one operation have one name: `thorn.add(a, b)` and `thorn.add(a, 2)`.
--
-- Arguments are in the order of C, without results and lengths. Arguments with a default may be omitted, or be given by name in a table
-- after the others. Results are new tensors and are returned, in order. In that table, `out` names one tensor or a list of tensors to write
-- to. The name of a result does the same for one result, and false omits an optional one. `dtype` in the table is the dtype of new results.
-- An operation that reads no tensor takes its result as the first argument: `thorn.uniform(x, 0, 1)`.
--
-- Dimensions, positions and the elements of tensors of positions count from 1, and negative ones count from the end. GPUs count from 0. A
-- list is a table. As the last argument, a list may be given number by number. A failure raises an error with the library's message at the
-- caller's line.

-- This module sets the metatables of tensors, storages and generators.
require("thorn")
local library = require("thorn.library")
local torch_operators = require("thorn.operators")
local rows = require("thorn.api")
local archives = require("thorn.dynamic.archives")
local attention = require("thorn.dynamic.attention")
local dtypes = require("thorn.dynamic.dtypes")
local excluded = require("thorn.dynamic.excluded")
local gradients = require("thorn.dynamic.gradients")
local handles = require("thorn.dynamic.handles")
local numbers = require("thorn.dynamic.numbers")
local operation = require("thorn.dynamic.operation")
local operators = require("thorn.dynamic.operators")
local programs = require("thorn.dynamic.programs")
local pytorch = require("thorn.dynamic.pytorch")
local signatures = require("thorn.dynamic.signatures")
local sparse = require("thorn.dynamic.sparse")
local special = require("thorn.dynamic.special")

local C = library.C

local function capital(name) return name:sub(1, 1):upper() .. name:sub(2) end

-- Returns the forms of a function by its name in C: one at most.
local function exactly(c_name)
    if excluded[c_name] then return {} end
    return { signatures.of(c_name) }
end

-- Functions whose names are PyTorch's. `detach` makes a new handle.
local renamed = {
    detach = "THTensor_newDetach", detach_ = "THTensor_detach", toSparse = "THSTensor_newFromDense", sparseMask = "THSTensor_sparseMask",
}

-- Returns the forms of a function on tensors.
local function forms_of_tensors(name)
    name = pytorch.names[name] or name
    if renamed[name] then return exactly(renamed[name]) end
    if excluded["THTensor_" .. name] then return {} end
    local forms = signatures.forms(name)
    -- The products of matrices accept a sparse matrix first.
    if name == "mm" or name == "matmul" then
        for _, form in ipairs({ "mm", "spmm" }) do forms[#forms + 1] = signatures.of("THSTensor_" .. form) end
    end
    return forms[1] and forms or exactly("THTensor_new" .. capital(name))
end

-- Returns the forms of a function that is not on tensors.
local function other_forms(name)
    if name:match("^TH") then return exactly(name) end
    local forms = exactly("TH" .. capital(name))
    return forms[1] and forms or exactly("THRandom_" .. name)
end

-- Returns the operation with the forms that `find` returns for a name, or for the name in capitals. A name that ends with an underscore
-- gives the operation in place.
local function function_of(name, shown, find)
    for _, spelled in ipairs({ name, signatures.in_capitals(name) }) do
        local forms = find(spelled)
        if forms[1] then return operation.of(shown, forms) end
    end
    local stem = name:match("^(.*[^_])_$")
    for _, spelled in ipairs(stem and { stem, signatures.in_capitals(stem) } or {}) do
        local forms = find(spelled)
        if forms[1] and forms[1].results[1] then return operation.of(shown, forms, true) end
    end
end

-- Returns a function on tensors that is outside of the rows, or that differs in Lua from C.
local function special_method(name)
    local spelled = signatures.in_capitals(name)
    return special.methods[spelled] or gradients.methods[spelled]
end

-- Such functions of groups.
local groups_of_lua = {
    Archive = archives.functions, Grad = gradients.groups.Grad, Optim = gradients.groups.Optim, Program = programs.groups.Program,
    STensor = sparse.functions,
}

-- Returns such a function for a group.
local function special_function(group, name)
    local functions = groups_of_lua[group]
    return functions and functions[signatures.in_capitals(name)]
end

-- Returns a table whose fields are computed at the first access.
local function lazily(find, meta)
    meta = meta or {}
    meta.__index = function(self, name)
        if type(name) ~= "string" then return nil end
        local value = find(name)
        rawset(self, name, value)
        return value
    end
    return setmetatable({}, meta)
end

-- The functions on tensors in the rows.
local function row_function(name) return function_of(name, name, forms_of_tensors) end

-- The functions on tensors.
local of_tensors = lazily(function(name) return special_method(name) or row_function(name) end)

-- Functions on sparse tensors whose names are PyTorch's, with their forms.
local renamed_of_sparse = {
    toDense = { "newDense" }, dim = { "nDimension" }, mv = { "spmv" }, mm = { "mm", "spmm" }, matmul = { "mm", "spmm" },
}

-- Returns the forms of a function on sparse tensors.
local function forms_of_sparse(name)
    if excluded["THSTensor_" .. name] then return {} end
    if renamed_of_sparse[name] then
        local forms = {}
        for i, of in ipairs(renamed_of_sparse[name]) do forms[i] = signatures.of("THSTensor_" .. of) end
        return forms
    end
    local forms = signatures.sparse_forms(name)
    return forms[1] and forms or exactly("THSTensor_new" .. capital(name))
end

-- Returns the forms among which a call of the group chooses.
local function constructors_of(group)
    local forms = {}
    for _, name in ipairs(group == "STensor" and sparse.constructors or { "TH" .. group .. "_new" }) do
        forms[#forms + 1] = exactly(name)[1]
    end
    return forms
end

-- Returns the functions `THArchive_...` for the name `Archive`. Calling the table makes a new handle.
local function namespace_of(group)
    if group == "Tensor" then return of_tensors end
    local function forms_of(spelled)
        local forms = exactly("TH" .. group .. "_" .. spelled)
        return forms[1] and forms or exactly("TH" .. group .. "_new" .. capital(spelled))
    end
    local function find(name)
        local found = special_function(group, name)
        return found or function_of(name, group .. "." .. name, group == "STensor" and forms_of_sparse or forms_of)
    end
    local forms, make = constructors_of(group), nil
    local function call(_, ...)
        make = make or operation.of(group, forms)
        return make(...)
    end
    return lazily(find, { __call = forms[1] and call or nil })
end

local groups
local function group_of(name)
    if not groups then
        groups = {}
        for c_name in pairs(rows.functions) do
            local group = c_name:match("^TH(%u%w*)_")
            if group then groups[group] = true end
        end
    end
    return groups[name] and namespace_of(name) or nil
end

-- Returns the C constant whose name is `TH_` and this name.
local function constant(name)
    local ok, value = pcall(function() return C["TH_" .. name] end)
    return ok and tonumber(value) or nil
end

-- `version` is the name of two functions. The arguments select one.
local function version() return operation.of("version", { signatures.of("THVersion"), signatures.of("THTensor_version") }) end

local thorn
thorn = lazily(function(name)
    if name == "version" then return version() end
    if name:match("^%u") and not name:match("^TH%u") then return group_of(name) or constant(name) end
    -- A C function by its full name. `apply` and similar functions are always the Lua ones.
    local group, inner = name:match("^TH(%u%w*)_(.+)$")
    local found = group == "Tensor" and special_method(inner) or group and special_function(group, inner)
    found = found or gradients.functions[signatures.in_capitals(name)]
    return found or of_tensors[name] or function_of(name, name, other_forms) or dtypes.of(name)
end)

special.methods.multiHeadAttention = attention.of(thorn)
local plain = lazily(row_function)
for _, functions in ipairs({ numbers.functions(plain), pytorch.functions(thorn, plain) }) do
    for name, f in pairs(functions) do special.methods[name] = f end
end
numbers.define(thorn)

--- Returns a tensor with the elements of a table.
rawset(thorn, "tensor", special.tensor)

-- Returns the method for a type of handles: a function of its group. Generators also have the functions of THRandom.
local function handle_method(group, name)
    local found = thorn[group][name]
    if not found and group == "Generator" then found = thorn.Random[name] end
    return found
end

torch_operators.of_others = operators.of(thorn)

handles.equip(handle_method, {
    Archive = archives.metamethods, Program = programs.metamethods, STensor = sparse.metamethods(thorn, torch_operators.of_others),
})

--- Returns the method `name` of tensors, or of the type `group`, such as "Generator"; nil if there is none.
rawset(thorn, "method", function(name, group) return handle_method(group or "Tensor", name) end)

return thorn
