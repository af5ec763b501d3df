-- Classes, metatables by name, and methods of one type. The values follow luaT, Torch7's library of classes.

local harness = require("harness")
local torch = require("thorn")

local equal, check, fails = harness.equal, harness.check, harness.fails
local tests, zoo = {}, {}

local Animal = torch.class("test.Animal", zoo)
local Dog, parent = torch.class("test.Dog", "test.Animal", zoo)
local Puppy = torch.class("test.Puppy", "test.Dog", zoo)

function Animal:__init(name) self.name = name end
function Animal:sound() return "?" end
function Animal:both() return self:sound() .. self.name end
function Dog:__init(name) parent.__init(self, name .. "!") end
function Dog:sound() return "wuff " end

function tests.ancestors_of_any_distance_have_methods()
    local last = "test.Animal"
    for level = 1, 9 do
        torch.class("test.Level" .. level, last, zoo)
        last = "test.Level" .. level
        equal(zoo["Level" .. level]("a"):both(), "?a")
        equal(zoo["Level" .. level]("a").missing, nil)
    end
end

function tests.objects_inherit_methods()
    local dog = zoo.Dog("Rex")
    equal(dog:both(), "wuff Rex!")
    equal(zoo.Puppy("Max"):both(), "wuff Max!")
    equal(zoo.Dog.new("Rex").name, "Rex!")
    equal(dog.new("Max").name, "Max!")
    function Animal:late() return "late" end
    equal(zoo.Puppy("Max"):late(), "late")
    check(rawequal(parent, Animal) and getmetatable(dog) == Dog and getmetatable(zoo.Dog) == Dog and getmetatable(Dog) == Animal)
    equal(dog.missing, nil)
end

function tests.constructors_read_and_write_methods()
    function zoo.Puppy:tail() return "wags" end
    equal(Puppy.tail(), "wags")
    equal(zoo.Puppy.sound(), "wuff ")
    equal(zoo.Puppy("x"):tail(), "wags")
    equal(rawget(zoo.Puppy, "tail"), nil)
end

function tests.types_have_names()
    local dog = zoo.Dog("Rex")
    equal(torch.type(dog), "test.Dog")
    equal(torch.typename(dog), "test.Dog")
    equal(torch.type(zoo.Dog), "table")
    equal(torch.typename(zoo.Dog), nil)
    equal(getmetatable(zoo.Dog).__typename, "test.Dog")
    equal(zoo.Dog.__typename, "test.Dog")
    equal(zoo.Dog.__version, 1)
    equal(tostring(dog), "test.Dog")
end

function tests.isTypeOf_follows_parents()
    local puppy = zoo.Puppy("x")
    for _, spec in ipairs({ "test.Puppy", "test.Dog", "test.Animal", "test.*", zoo.Dog, Animal }) do check(torch.isTypeOf(puppy, spec)) end
    equal(torch.isTypeOf(zoo.Animal("x"), "test.Dog"), false)
    equal(torch.isTypeOf(puppy, "test.Do"), false)
    equal(torch.isTypeOf(zoo.Puppy, "test.Animal"), true)
    equal(torch.isTypeOf(zoo.Dog, "test.Puppy"), false)
    equal(torch.isTypeOf({}, "table"), false)
    equal(torch.isTypeOf("x", "string"), false)
end

function tests.operators_are_methods()
    local V = torch.class("test.V", zoo)
    function V:__init(x) self.x = x end
    local function value(a) return type(a) == "number" and a or a.x end
    local calls = {
        __add__ = function(a, b) return value(a) + value(b) end,
        __sub__ = function(a, b) return value(a) - value(b) end,
        __mul__ = function(a, b) return value(a) * value(b) end,
        __div__ = function(a, b) return value(a) / value(b) end,
        __mod__ = function(a, b) return value(a) % value(b) end,
        __pow__ = function(a, b) return value(a) ^ value(b) end,
        __concat__ = function(a, b) return (type(a) == "string" and a or a.x) .. (type(b) == "string" and b or b.x) end,
        __eq__ = function(a, b) return a.x == b.x end,
        __lt__ = function(a, b) return a.x < b.x end,
        __le__ = function(a, b) return a.x <= b.x end,
        __unm__ = function(a) return -a.x end,
        __len__ = function(a) return a.x end,
        __call__ = function(a, b, c) return a.x, b, c end,
        __tostring__ = function(a) return "<" .. a.x .. ">" end,
    }
    for name, f in pairs(calls) do V[name] = f end
    -- A class has the operators of its parent.
    torch.class("test.W", "test.V", zoo)
    for _, make in ipairs({ zoo.V, zoo.W }) do
        local a, b = make(7), make(2)
        equal({ a + b, a - b, a * b, a / b, a % b, a ^ b, a .. b }, { 9, 5, 14, 3.5, 1, 49, "72" })
        equal({ a + 1, 1 + a, 10 - b, a .. "x", "x" .. a }, { 8, 8, 8, "7x", "x7" })
        equal({ a == b, a == make(7), a < b, a <= b, a > b, a >= b }, { false, true, false, false, true, true })
        equal({ -a, tostring(a), { a(5, 6) } }, { -7, "<7>", { 7, 5, 6 } })
        equal(Dog.__len(a), 7)
    end
end

function tests.missing_operators_are_errors()
    local a, b = zoo.Dog("a"), zoo.Dog("b")
    fails("both test.Dog and test.Dog have no addition operator", function() return a + b end)
    fails("both test.Dog and number have no power operator", function() return a ^ 2 end)
    fails("both string and test.Dog have no concatenation operator", function() return "x" .. a end)
    fails("test.Dog has no call operator", function() return a() end)
    fails("test.Dog has no negation operator", function() return -a end)
    equal({ a == b, a == a }, { false, true })
end

function tests.index_and_newindex_are_methods()
    local C = torch.class("test.C", zoo)
    function C:__index__(key)
        if key == "magic" then return 42, true end
        if key == "nothing" then return nil, true end
        return false
    end
    function C:__newindex__(key, value)
        if key ~= "doubled" then return false end
        rawset(self, "half", value / 2)
        return true
    end
    function C:method() return "method" end
    local object = zoo.C()
    equal({ object.magic, object.method(), object.missing == nil, object.nothing == nil }, { 42, "method", true, true })
    object.doubled, object.plain = 8, 3
    equal({ object.half, object.plain, rawget(object, "doubled") == nil }, { 4, 3, true })
end

function tests.metatables_have_names()
    check(torch.getmetatable("test.Dog") == Dog and torch.getconstructortable("test.Dog") == zoo.Dog)
    equal(torch.getmetatable("test.Cat"), nil)
    equal(torch.getconstructortable("test.Cat"), nil)
    equal(torch.factory("test.Cat"), nil)
    local dog = torch.factory("test.Dog")()
    equal({ dog:sound(), dog.name == nil }, { "wuff ", true })
    equal(torch.setmetatable({ name = "x" }, "test.Dog"):both(), "wuff x")
    fails("there is no class test.Cat", torch.setmetatable, {}, "test.Cat")
    fails("table expected, got number", torch.setmetatable, 1, "test.Dog")
    local metatable = torch.newmetatable("test.Made", "test.Animal", function(x) return x + 1 end, nil, nil, zoo)
    equal({ zoo.Made(4), metatable.new(5), metatable.__typename, metatable.sound() }, { 5, 6, "test.Made", "?" })
    torch.metatype("test.Table", { __index = { one = 1 } })
    equal(torch.setmetatable({}, "test.Table").one, 1)
    equal(torch.typename(torch.setmetatable({}, "test.Table")), "test.Table")
end

function tests.places_of_constructors()
    test_zoo = { inner = {} }
    torch.class("test_zoo.inner.Cat")
    check(test_zoo.inner.Cat())
    torch.class("test_global_class")
    check(test_global_class())
    test_zoo, test_global_class = nil, nil
    torch.class("torch.test_class")
    equal(torch.type(torch.test_class()), "torch.test_class")
    torch.test_class = nil
end

function tests.wrong_classes()
    fails("test.Dog has already a factory", torch.class, "test.Dog", zoo)
    fails("test.Dog has already a parent", torch.class, "test.Dog", "test.Animal", zoo)
    fails("there is no class test.Cat", torch.class, "test.Kitten", "test.Cat", zoo)
    equal(torch.getmetatable("test.Kitten"), nil)
    fails("there is no global table for nowhere.Dog", torch.class, "nowhere.Dog")
    fails("bad argument #1 to 'class' (string expected, got no value)", torch.class)
    fails("the name of a class expected", torch.class, "test.", zoo)
end

-- Methods of tensors belong to a type.

function tests.methods_belong_to_a_type()
    function torch.FloatTensor:kind() return "float" end
    function torch.DoubleTensor:kind() return "double" end
    function torch.HalfTensor:mean() return "half" end
    equal({ torch.FloatTensor(1):kind(), torch.DoubleTensor(1):kind(), torch.IntTensor(1).kind == nil }, { "float", "double", true })
    equal({ torch.HalfTensor(1):mean(), torch.DoubleTensor({ 1, 2 }):mean() }, { "half", 1.5 })
    torch.HalfTensor.mean = torch.FloatTensor.mean
    equal(torch.HalfTensor({ 1, 2 }):mean(), 1.5)
    torch.FloatTensor.kind, torch.DoubleTensor.kind = nil, nil
    equal(torch.FloatTensor(1).kind, nil)
    function torch.LongStorage:kind() return "long" end
    equal({ torch.LongStorage(1):kind(), torch.IntStorage(1).kind == nil }, { "long", true })
    torch.LongStorage.kind = nil
end

function tests.the_metatable_of_a_type_has_its_methods()
    local metatable = torch.getmetatable("torch.DoubleTensor")
    rawset(metatable, "twice", function(self) return self * 2 end)
    equal(torch.ones(3):twice():sum(), 6)
    equal(torch.FloatTensor(3).twice, nil)
    metatable.twice = nil
    local listed = {}
    for name in pairs(metatable) do listed[name] = true end
    for name in ("add narrow apply new __typename __index __add__ __tostring__ cdata"):gmatch("%S+") do check(listed[name], name) end
    check(getmetatable(torch.DoubleTensor) == metatable and torch.getconstructortable("torch.DoubleTensor") == torch.DoubleTensor)
    equal(torch.getmetatable("torch.LongTensor").new({ 4 }), { 4 })
    equal(torch.getmetatable("torch.LongTensor").nElement(torch.LongTensor(3)), 3)
    equal(torch.factory("torch.IntTensor")():type(), "torch.IntTensor")
    equal(torch.FloatStorage.new(2):size(), 2)
end

function tests.operators_of_tensors_can_be_replaced()
    local add = torch.DoubleTensor.__add__
    torch.DoubleTensor.__add__ = function() return "sum" end
    local sums = { torch.ones(2) + 1, 1 + torch.ones(2) }
    torch.DoubleTensor.__add__ = add
    equal(sums, { "sum", "sum" })
    equal(torch.FloatTensor({ 1 }) + 1, { 2 })
    local shown = torch.DoubleTensor.__tostring__
    torch.DoubleTensor.__tostring__ = function(t) return "tensor of " .. t:nElement() end
    local text = tostring(torch.ones(2))
    torch.DoubleTensor.__tostring__ = shown
    equal(text, "tensor of 2")
end

function tests.the_default_type_is_the_constructor()
    check(torch.Tensor == torch.DoubleTensor and torch.Storage == torch.DoubleStorage)
    torch.setdefaulttensortype("torch.FloatTensor")
    local tensor, storage = torch.Tensor, torch.Storage
    torch.setdefaulttensortype("torch.DoubleTensor")
    check(tensor == torch.FloatTensor and storage == torch.FloatStorage)
end

function tests.require_torch_gives_the_package()
    local before = rawget(_G, "torch")
    local package = require("torch")
    local global = rawget(_G, "torch")
    _G.torch = before
    check(package == torch and global == torch)
end

harness.run(tests)
