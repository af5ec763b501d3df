-- Random numbers. The generator is Torch7's, MT19937, so a seed gives the same numbers as in Torch7. Functions accept another generator,
-- made by `torch.Generator()`, before their other arguments.

local ffi = require("ffi")
local arguments = require("thorn.arguments")
local construct = require("thorn.construct")
local errors = require("thorn.errors")
local library = require("thorn.library")
local namespace = require("thorn.namespace")
local results = require("thorn.results")

local C, own, check = library.C, library.own, library.check
local Generator = library.Generator
local torch, methods = namespace.torch, namespace.methods
local tensor, number, integer, is_tensor = arguments.tensor, arguments.number, arguments.integer, arguments.is_tensor

ffi.metatype(Generator, {
    __gc = function(generator) C.THGenerator_free(generator.handle) end,
    __index = function(_, name)
        if name == "__typename" then return "torch.Generator" end
        return require("thorn.dynamic").method(name, "Generator")
    end,
    __tostring = function() return "torch.Generator" end,
})

-- A new generator, seeded by the system.
local function new()
    local handle = C.THGenerator_newKind(C.TH_MT19937)
    if handle == nil then library.fail("Generator") end
    return Generator(handle)
end

--- Makes a generator: `torch.Generator()`.
local class = torch.newmetatable("torch.Generator", nil, new, nil, new, torch)

local default = new()

-- As in Torch7, the first pointer in the memory of the generator of all functions is its `THGenerator *`.
local Pointers = ffi.typeof("THGenerator *[1]")
torch._gen = Pointers(default.handle)
torch.metatype("torch.Generator", class, Pointers)

-- Splits `([generator,] ...)`: returns the generator, the number of arguments it took, and the others.
local function from(first, ...)
    if ffi.istype(Generator, first) then return first, 1, ... end
    if ffi.istype(Pointers, first) then return default, 1, ... end
    return default, 0, first, ...
end

--- Starts the sequence of `seed`: `torch.manualSeed([generator,] seed)`.
function torch.manualSeed(...)
    local generator, taken, seed = from(...)
    check(C.THRandom_manualSeed(generator.handle, integer(seed, taken + 1, "manualSeed")), "manualSeed")
    return generator
end

--- Seeds the generator from the system. Returns the seed: `torch.seed([generator])`.
function torch.seed(generator) return tonumber(C.THRandom_seed(from(generator).handle)) end

--- The seed that the sequence was started with: `torch.initialSeed([generator])`.
function torch.initialSeed(generator) return tonumber(C.THRandom_initialSeed(from(generator).handle)) end

--- The state of the generator as a ByteTensor: `torch.getRNGState([generator])`.
function torch.getRNGState(generator)
    local state = own(C.THTensor_newWithDtype(C.TH_UINT8), "getRNGState")
    check(C.THTensor_getRNGState(from(generator).handle, state.handle), "getRNGState")
    return state
end

--- Makes the generator continue from a state: `torch.setRNGState([generator,] state)`.
function torch.setRNGState(...)
    local generator, taken, state = from(...)
    arguments.tensor_of(C.TH_UINT8, state, taken + 1, "setRNGState")
    check(C.THTensor_setRNGState(generator.handle, state.handle), "setRNGState")
end

-- Distributions with their parameters. `t:f([generator,] ...)` fills a tensor, `torch.f([generator,] ...)` returns a number.
local function distribution(name, ...)
    local fill, draw = C["THTensor_" .. name], C["THRandom_" .. name]
    local first, second = ...
    local count = select("#", ...)
    local function parameters(position, a, b)
        a = number(a, position, name, first or nil)
        if count == 1 then return a end
        return a, number(b, position + 1, name, second or nil)
    end
    methods[name] = function(t, ...)
        local generator, taken, a, b = from(...)
        tensor(t, 1, name)
        if t.handle.nDimension > 0 then check(fill(t.handle, generator.handle, parameters(2 + taken, a, b)), name) end
        return t
    end
    torch[name] = function(...)
        if is_tensor((...)) then return methods[name](...) end
        local generator, taken, a, b = from(...)
        return results.value(name, draw, generator.handle, parameters(1 + taken, a, b))
    end
end

-- The values are the defaults of the parameters; false means none.
distribution("uniform", 0, 1)
distribution("normal", 0, 1)
distribution("cauchy", 0, 1)
distribution("logNormal", 1, 2)
distribution("exponential", 1)
distribution("geometric", false)

-- bernoulli also accepts a tensor of probabilities.
distribution("bernoulli", 0.5)
local bernoulli = methods.bernoulli

--- `t:bernoulli([generator,] [p])`: 1 with probability p, otherwise 0. p is a number, by default 0.5, or a tensor of floats with the same
--- number of elements.
function methods.bernoulli(t, ...)
    local generator, _, p = from(...)
    if not is_tensor(p) then return bernoulli(t, ...) end
    tensor(t, 1, "bernoulli")
    check(C.THTensor_bernoulliTensor(t.handle, generator.handle, p.handle), "bernoulli")
    return t
end

-- normal also accepts tensors of means and deviations.
local normal = methods.normal

--- `t:normal([generator,] [mean], [deviation])`: either may be a tensor, which determines the sizes of the result.
function methods.normal(t, ...)
    local generator, taken, mean, deviation = from(...)
    tensor(t, 1, "normal")
    if is_tensor(mean) and is_tensor(deviation) then
        tensor(mean, 2 + taken, "normal", t)
        tensor(deviation, 3 + taken, "normal", t)
        check(C.THTensor_normal_means_stddevs(t.handle, generator.handle, mean.handle, deviation.handle), "normal")
    elseif is_tensor(mean) then
        tensor(mean, 2 + taken, "normal", t)
        local spread = number(deviation, 3 + taken, "normal", 1)
        check(C.THTensor_normal_means(t.handle, generator.handle, mean.handle, spread), "normal")
    elseif is_tensor(deviation) then
        tensor(deviation, 3 + taken, "normal", t)
        local center = number(mean, 2 + taken, "normal")
        check(C.THTensor_normal_stddevs(t.handle, generator.handle, center, deviation.handle), "normal")
    else
        normal(t, ...)
    end
    return t
end

-- The bounds of `random([generator,] [first,] [last])`, both included. A single bound is the last one. Without bounds nil, for all numbers.
local function bounds(position, first, last)
    if first == nil then return nil end
    first = integer(first, position, "random")
    if last == nil then first, last = 1, first else last = integer(last, position + 1, "random") end
    if last < first then errors.argument(position, "random", "the last number is less than the first") end
    return first, last
end

--- Fills with integers: `t:random(last)` from 1 to `last`, `t:random(first, last)`, `t:random()` any integer of the type.
function methods.random(t, ...)
    local generator, taken, a, b = from(...)
    local first, last = bounds(2 + taken, a, b)
    if tensor(t, 1, "random").handle.nDimension == 0 then return t end
    if first then
        check(C.THTensor_clampedRandom(t.handle, generator.handle, first, last + 1), "random")
    else
        check(C.THTensor_random(t.handle, generator.handle), "random")
    end
    return t
end

--- Returns an integer: `torch.random(last)` from 1 to `last`, `torch.random(first, last)`, `torch.random()` from 0 to 2^32 - 1.
function torch.random(...)
    if is_tensor((...)) then return methods.random(...) end
    local generator, taken, a, b = from(...)
    local first, last = bounds(1 + taken, a, b)
    local word = tonumber(C.THRandom_random(generator.handle))
    if not first then return word end
    return word % (last - first + 1) + first
end

-- `([result,] [generator,] sizes, [type])`: uniform in [0, 1), or normal of mean 0 and deviation 1
for _, name in ipairs({ "rand", "randn" }) do
    local f = C["THTensor_" .. name]
    local function fill(r, position, ...)
        local generator, taken, first = from(...)
        local count
        if taken == 1 then
            count = arguments.sizes(position + 1, name, select(2, ...))
        else
            count = arguments.sizes(position, name, first, select(2, ...))
        end
        count = construct.positive(count)
        if count == 0 then check(C.THTensor_resize1d(r.handle, 0), name) return r end
        check(f(r.handle, generator.handle, count, arguments.list), name)
        return r
    end
    torch[name] = function(...) return fill(results.made(name, ...)) end
    methods[name] = torch[name]
end

local function randperm(r, position, ...)
    local generator, taken, n = from(...)
    n = integer(n, position + taken, "randperm")
    if n < 1 then errors.argument(position + taken, "randperm", "at least 1 expected") end
    check(C.THTensor_randperm(r.handle, generator.handle, n), "randperm")
    return results.count_from_1(r, "randperm")
end

--- `torch.randperm([result,] [generator,] n, [type])`: the numbers from 1 to n in random order.
function torch.randperm(...) return randperm(results.made("randperm", ...)) end
methods.randperm = torch.randperm

--- `torch.multinomial([result,] [generator,] p, n, [replacement])`: n positions for each row of `p`, with probabilities proportional to its
--- elements; without repetitions unless `replacement` is true.
function torch.multinomial(...)
    local generator, taken, a, b, c, d = from(...)
    local r, p, n, replacement, position = a, b, c, d, taken + 2
    if ffi.istype(Generator, b) then
        generator, p, n, replacement, position = b, c, d, select(5, ...), 3
    elseif not is_tensor(b) then
        r, p, n, replacement, position = results.new_indices("multinomial"), a, b, c, taken + 1
    end
    arguments.tensor_of(C.TH_INT64, r, 1, "multinomial")
    tensor(p, position, "multinomial")
    n = integer(n, position + 1, "multinomial")
    check(C.THTensor_multinomial(r.handle, generator.handle, p.handle, n, replacement and 1 or 0), "multinomial")
    return results.count_from_1(r, "multinomial")
end
methods.multinomial = torch.multinomial

--- `torch.multinomialAliasSetup(p)`: the tables {J, q} for `multinomialAlias`.
function torch.multinomialAliasSetup(p)
    tensor(p, 1, "multinomialAliasSetup")
    local j, q = results.new_indices("multinomialAliasSetup"), construct.like(p, "multinomialAliasSetup")
    check(C.THTensor_multinomialAliasSetup(p.handle, j.handle, q.handle), "multinomialAliasSetup")
    return { results.count_from_1(j, "multinomialAliasSetup"), q }
end
methods.multinomialAliasSetup = torch.multinomialAliasSetup

--- `torch.multinomialAlias(result, {J, q})`: fills a LongTensor with positions drawn with the tables.
function torch.multinomialAlias(r, tables)
    arguments.tensor_of(C.TH_INT64, r, 1, "multinomialAlias")
    if type(tables) ~= "table" then arguments.expected("table", tables, 2, "multinomialAlias") end
    local j = arguments.tensor_of(C.TH_INT64, tables[1], 2, "multinomialAlias")
    local q = tensor(tables[2], 2, "multinomialAlias")
    local from_0 = results.new_indices("multinomialAlias")
    check(C.THTensor_sub(from_0.handle, j.handle, 1), "multinomialAlias")
    check(C.THTensor_multinomialAliasDraw(r.handle, default.handle, from_0.handle, q.handle), "multinomialAlias")
    return results.count_from_1(r, "multinomialAlias")
end
methods.multinomialAlias = torch.multinomialAlias
