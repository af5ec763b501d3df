-- Classes of the program: `torch.class` and type names.
--
--     local Dog, parent = torch.class("Dog", "Animal")
--     function Dog:__init(name) parent.__init(self, name) end
--     local rex = Dog("Rex")        -- the constructor is also the global Dog, or the field of a global table: "zoo.Dog"
--
-- An object is a table whose metatable is the metatable of its class. A class inherits the methods of its parent. `torch.load` gives
-- objects from a file the metatable of their class, if the program has the class.

local arguments = require("thorn.arguments")
local errors = require("thorn.errors")
local library = require("thorn.library")
local namespace = require("thorn.namespace")
local types = require("thorn.types")

local torch = namespace.torch

local class = {}

-- The metatables of classes by name.
local metatables = {}

--- Returns the metatable for objects of the class; nil if there is no class of this name.
function class.metatable(name) return metatables[name] end

-- Returns the table for the constructor of this name, and its key there: the global `zoo` for "zoo.Dog".
local function place(name, module)
    if module then return module, name:match("[^.]+$") end
    local t = _G
    for part in name:gmatch("([^.]+)%.") do
        t = t[part]
        if type(t) ~= "table" then errors.argument(1, "class", "there is no global table for " .. name) end
    end
    return t, name:match("[^.]+$")
end

local function describe(object)
    local method = object.__tostring__
    return method and method(object) or torch.typename(object)
end

--- Makes a class: `torch.class(name, [parent], [module])`. Returns the constructor, to which methods are added, and the metatable of the
--- parent. The constructor becomes a field of `module`, or of the global table in the name.
function torch.class(name, parent, module)
    if type(name) ~= "string" or not name:match("[^.]$") then arguments.expected("the name of a class", name, 1, "class") end
    if metatables[name] then errors.argument(1, "class", "there is a class " .. name) end
    local parent_metatable = metatables[parent]
    if parent ~= nil and not parent_metatable then errors.argument(2, "class", "there is no class " .. tostring(parent)) end
    local t, key = place(name, module)
    local metatable = setmetatable({ __typename = name, __tostring = describe }, { __index = parent_metatable })
    metatable.__index = metatable
    metatables[name] = metatable
    t[key] = setmetatable({}, {
        __index = metatable,
        __newindex = metatable,
        __call = function(_, ...)
            local object = setmetatable({}, metatable)
            if metatable.__init then metatable.__init(object, ...) end
            return object
        end,
    })
    return t[key], parent_metatable
end

--- Returns a function that makes objects of the class without calling `__init`: `torch.factory(name)`.
function torch.factory(name)
    local metatable = metatables[name]
    if not metatable then errors.argument(1, "factory", "there is no class " .. tostring(name)) end
    return function() return setmetatable({}, metatable) end
end

--- Returns the metatable of a class of the program, or the table of the methods of a tensor or storage type.
function torch.getmetatable(name)
    local short = type(name) == "string" and name:match("^torch%.(%w+)$")
    if short and (types.of_tensor[name] or types.of_storage[name]) then return torch[short] end
    return metatables[name]
end

--- Returns the name of the type of any value: "torch.DoubleTensor", the name of a class, or Lua's name.
function torch.type(x) return arguments.typename(x) end

--- Returns the name of the type of a Torch7 object or an object of a class; nil for other values.
function torch.typename(x)
    local name = arguments.typename(x)
    return name ~= type(x) and name or nil
end

-- True if the name equals `spec` or matches the pattern `spec`.
local function fits(name, spec)
    local match = name:match(spec)
    return match ~= nil and (match ~= spec or match == name)
end

--- True if `x` is of the type or class, or of a class derived from it. `spec` is the name, a pattern for it ("torch.*Tensor"), or the
--- constructor.
function torch.isTypeOf(x, spec)
    if type(spec) == "table" then spec = spec.__typename end
    local name = torch.typename(x)
    if type(spec) ~= "string" or not name then return false end
    if fits(name, spec) then return true end
    local metatable = type(x) == "table" and getmetatable(x) or nil
    while metatable do
        local up = getmetatable(metatable)
        metatable = up and up.__index
        if type(metatable) == "table" and fits(metatable.__typename, spec) then return true end
    end
    return false
end

--- Turns on or off that the collector runs when much memory is in use. It is on at first. `torch.setheaptracking(enabled)`.
function torch.setheaptracking(enabled) library.track(enabled and true or false) end

return class
