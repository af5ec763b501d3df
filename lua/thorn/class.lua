-- Classes as in Torch7: `torch.class`, metatables by name, and type names.
--
--     local Dog, parent = torch.class("Dog", "Animal")
--     function Dog:__init(name) parent.__init(self, name) end
--     local rex = Dog("Rex")              -- the constructor is the global Dog, or the field of a table: "zoo.Dog"
--
-- An object is a table whose metatable is the metatable of its class. The metatable of the class has the methods, and its own metatable is
-- the metatable of the parent. The types of tensors and storages have metatables of this kind, too, although their objects are cdata.
-- Methods with the names __index__, __newindex__, __call__, __tostring__, __len__, __eq__, __add__ and so on are the operators of a class.

local ffi = require("ffi")
local arguments = require("thorn.arguments")
local errors = require("thorn.errors")
local namespace = require("thorn.namespace")

local torch = namespace.torch

local class = {}

-- The metatables by name, and the names of C types by their numbers in the FFI.
local metatables, names_of_ctypes = {}, {}

--- Returns the metatable of this name; nil if there is none.
function class.metatable(name) return metatables[name] end

--- Returns the name of the type of any value: "torch.DoubleTensor", the name of a class, or Lua's name.
function torch.type(x)
    local name = arguments.typename(x)
    return name == "cdata" and names_of_ctypes[tonumber(ffi.typeof(x))] or name
end

--- Returns the name of the type of a Torch7 object or an object of a class; nil for other values.
function torch.typename(x)
    local name = torch.type(x)
    return name ~= type(x) and name or nil
end

-- Returns the field of a metatable or its nearest ancestor.
local function lookup_in_loop(metatable, key)
    while type(metatable) == "table" do
        local value = rawget(metatable, key)
        if value ~= nil then return value end
        metatable = getmetatable(metatable)
    end
end

-- Returns a function that looks at one metatable, and then calls `continue` for the parent.
local function step(continue)
    return function(metatable, key)
        if type(metatable) ~= "table" then return nil end
        local value = rawget(metatable, key)
        if value ~= nil then return value end
        return continue(getmetatable(metatable), key)
    end
end

-- The first ancestors are not in a loop, because LuaJIT does not compile the program's loops around a loop that ends at once.
local lookup = step(step(step(step(lookup_in_loop))))

-- A method __index__ returns a value and true, or false.
local function index(self, key)
    local metatable = getmetatable(self)
    local method = lookup(metatable, "__index__")
    if method then
        local value, is_found = method(self, key)
        if is_found then return value end
    end
    return lookup(metatable, key)
end

-- A method __newindex__ returns true if it has stored the value.
local function newindex(self, key, value)
    local method = lookup(getmetatable(self), "__newindex__")
    if not (method and method(self, key, value)) then rawset(self, key, value) end
end

-- The operators of two operands, with their names in messages.
local BINARY = {
    add = "addition", sub = "subtraction", mul = "multiplication", div = "division", mod = "modulo", pow = "power",
    concat = "concatenation", lt = "less-than", le = "less-equal",
}

-- The operators of one operand. A missing one is an error, or has a result.
local UNARY = { call = "call", unm = "negation", len = "length" }

local function method_of(x, name) return type(x) ~= "string" and lookup(getmetatable(x), name) end

local operators = {
    __index = index,
    __newindex = newindex,
    __tostring = function(x)
        local method = method_of(x, "__tostring__")
        if not method then return torch.typename(x) end
        return type(method) == "function" and method(x) or method
    end,
    __eq = function(a, b)
        local method = method_of(a, "__eq__") or method_of(b, "__eq__")
        if not method then return rawequal(a, b) end
        return method(a, b)
    end,
}

for name, text in pairs(BINARY) do
    operators["__" .. name] = function(a, b)
        local method = method_of(a, "__" .. name .. "__") or method_of(b, "__" .. name .. "__")
        if not method then errors.raise(("both %s and %s have no %s operator"):format(torch.type(a), torch.type(b), text)) end
        return method(a, b)
    end
end

for name, text in pairs(UNARY) do
    operators["__" .. name] = function(x, ...)
        local method = method_of(x, "__" .. name .. "__")
        if not method then errors.raise(("%s has no %s operator"):format(torch.type(x), text)) end
        return method(x, ...)
    end
end

local function check_string(x, position, name)
    if type(x) ~= "string" then errors.argument(position, name, "string expected, got " .. (x == nil and "no value" or torch.type(x))) end
end

-- Returns the table for the constructor of this name: the global `zoo` for "zoo.Dog". The package is the table `torch` in any case.
local function module_of(name)
    local t = _G
    for part in name:gmatch("([^.]+)%.") do
        local is_package = t == _G and part == "torch" and rawget(_G, "torch") == nil
        t = is_package and torch or rawget(t, part)
        if type(t) ~= "table" then errors.argument(1, "class", "there is no global table for " .. name) end
    end
    return t
end

-- Makes the table that is called to make objects. It reads and writes the methods of the class.
local function constructor_table(metatable)
    return setmetatable({}, {
        __index = metatable,
        __newindex = function(_, key, value) rawset(metatable, key, value) end,
        __call = function(self, ...)
            local new = rawget(debug.getmetatable(self), "__new")
            if not new then errors.raise(("class %s has no constructor"):format(metatable.__typename)) end
            return new(...)
        end,
        __metatable = metatable,
    })
end

-- Stores a function that a class may get only once.
local function once(t, key, value, what, name)
    if value == nil then return end
    if rawget(t, key) ~= nil then errors.argument(1, "class", ("%s has already a %s"):format(name, what)) end
    rawset(t, key, value)
end

--- Returns the metatable of this name, which is made if there is none, with the given functions. The constructor table is stored in
--- `module`, or in the global table that the name has: `torch.newmetatable(name, [parent], [constructor], [destructor], [factory],
--- [module])`. The destructor is stored, but tables of LuaJIT have no destructors.
function torch.newmetatable(name, parent, constructor, destructor, factory, module)
    check_string(name, 1, "newmetatable")
    if not name:match("[^.]$") then errors.argument(1, "class", "the name of a class expected") end
    module = module or module_of(name)
    local metatable, parent_metatable = metatables[name], metatables[parent]
    if parent ~= nil and not parent_metatable then errors.argument(2, "class", "there is no class " .. tostring(parent)) end
    if parent and metatable and getmetatable(metatable) then errors.argument(2, "class", ("%s has already a parent"):format(name)) end
    if not metatable then
        metatable = { __typename = name, __version = 1 }
        for operator, f in pairs(operators) do metatable[operator] = f end
        metatable.__metatable, metatable.__constructor = metatable, constructor_table(metatable)
    end
    once(metatable, "__factory", factory, "factory", name)
    once(metatable, "__gc", destructor, "destructor", name)
    once(debug.getmetatable(metatable.__constructor), "__new", constructor, "constructor", name)
    metatable.new = constructor or metatable.new
    if parent then setmetatable(metatable, parent_metatable) end
    metatables[name] = metatable
    rawset(module, name:match("[^.]+$"), metatable.__constructor)
    return metatable
end

--- Makes a class: `torch.class(name, [parent], [module])`. Returns its metatable, to which methods are added, and the metatable of the
--- parent. The constructor becomes a field of the table `module`, or of the global table in the name.
function torch.class(name, parent, module)
    if type(parent) == "table" then parent, module = nil, parent end
    check_string(name, 1, "class")
    if parent ~= nil then check_string(parent, 2, "class") end
    local function factory() return setmetatable({}, metatables[name]) end
    local function constructor(...)
        local object = factory()
        if object.__init then object:__init(...) end
        return object
    end
    return torch.newmetatable(name, parent, constructor, nil, factory, module), metatables[parent]
end

--- Registers a metatable under a name, and for objects of a C type: `torch.metatype(name, metatable, [ctype])`.
function torch.metatype(name, metatable, ctype)
    check_string(name, 1, "metatype")
    if type(metatable) ~= "table" then errors.argument(2, "metatype", "table expected, got " .. torch.type(metatable)) end
    metatables[name] = metatable
    if rawget(metatable, "__typename") == nil then rawset(metatable, "__typename", name) end
    if ctype ~= nil then names_of_ctypes[tonumber(ffi.typeof(ctype))] = name end
end

--- Returns a function that makes objects of the class without calling `__init`; nil if there is no class of this name.
function torch.factory(name)
    check_string(name, 1, "factory")
    return metatables[name] and rawget(metatables[name], "__factory")
end

--- Returns the metatable of a class, or of a type of tensors or storages: the table of its methods. nil if there is none of this name.
function torch.getmetatable(name)
    check_string(name, 1, "getmetatable")
    return metatables[name]
end

--- Returns the table that is called to make objects of a class; nil if there is no class of this name.
function torch.getconstructortable(name)
    check_string(name, 1, "getconstructortable")
    return metatables[name] and rawget(metatables[name], "__constructor")
end

--- Makes a table an object of the class: `torch.setmetatable(t, name)`. Returns the table.
function torch.setmetatable(t, name)
    if type(t) ~= "table" then errors.argument(1, "setmetatable", "table expected, got " .. torch.type(t)) end
    check_string(name, 2, "setmetatable")
    if not metatables[name] then errors.argument(2, "setmetatable", "there is no class " .. name) end
    debug.setmetatable(t, metatables[name])
    return t
end

-- True if the name equals `spec` or matches the pattern `spec`.
local function fits(name, spec)
    local match = name:match(spec)
    return match ~= nil and (match ~= spec or match == name)
end

--- True if `x` is of the type or class, or of a class derived from it. `x` may also be the constructor of a class. `spec` is the name, a
--- pattern for it ("torch.*Tensor"), or the constructor.
function torch.isTypeOf(x, spec)
    if type(spec) == "table" then spec = spec.__typename end
    if type(spec) ~= "string" then return false end
    local metatable = type(x) == "table" and getmetatable(x) or metatables[torch.typename(x)]
    while type(metatable) == "table" do
        local name = rawget(metatable, "__typename")
        if name and fits(name, spec) then return true end
        metatable = getmetatable(metatable)
    end
    return false
end

return class
