-- Torch7's files, and functions for other things than tensors.

local harness = require("harness")
local ffi = require("ffi")
local library = require("thorn.library")
local torch = require("thorn")
local types = require("thorn.types")

local test, equal, near, fails = harness.test, harness.equal, harness.near, harness.fails

-- Runs `f`. Returns the lines that it wrote to the standard error output.
local function warnings(f)
    local lines, stderr = {}, io.stderr
    io.stderr = { write = function(_, line) lines[#lines + 1] = line end }
    local ok, problem = pcall(f)
    io.stderr = stderr
    if not ok then error(problem, 0) end
    return lines
end

for _, mode in ipairs({ "binary", "ascii" }) do
    local function copy(object) return torch.deserialize(torch.serialize(object, mode), mode) end

    test("values in " .. mode, function()
        equal(copy(nil), nil)
        equal(copy(1.5), 1.5)
        equal(copy(0.1), 0.1)
        equal(copy(1 / 0), 1 / 0)
        equal(copy(0 / 0), 0 / 0)
        equal(copy("a\0b\n"), "a\0b\n")
        equal(copy(""), "")
        equal(copy(true), true)
        equal(copy(false), false)
        local t = copy({ 1, "x", { 2 }, key = false })
        equal(t, { 1, "x", { 2 } })
        equal(t.key, false)
    end)

    test("what is mentioned twice in " .. mode, function()
        local x = torch.range(1, 6):resize(2, 3)
        local object = { x, x:t(), x, x:storage() }
        object.self = object
        local r = copy(object)
        equal(r.self == r, true)
        equal(r[1] == r[3], true)
        equal(r[1]:storage() == r[2]:storage(), true)
        equal(r[4] == r[1]:storage(), true)
        equal(r[2], x:t())
        r[1]:fill(0)
        equal(r[2]:sum(), 0)
    end)

    test("tensors and storages of every type in " .. mode, function()
        for _, record in ipairs(types.all) do
            local t = torch.Tensor({ { 1, 0 }, { 0, 1 } }):type(record.name)
            local r = copy(t)
            equal(r:type(), record.name)
            equal(r, t)
            equal(copy(t:narrow(1, 2, 1)), { { 0, 1 } })
            equal(copy(t:storage()), { 1, 0, 0, 1 })
            equal(copy(t.new()):dim(), 0)
        end
        local exact = torch.LongTensor(1)
        exact:data()[0] = 9007199254740993LL
        equal(copy(exact):data()[0] == 9007199254740993LL, true)
        equal(copy(torch.FloatTensor({ 0.1 })), torch.FloatTensor({ 0.1 }))
        equal(copy(torch.Tensor({ -1e300, 1e-300 })), { -1e300, 1e-300 })
    end)

    test("generators in " .. mode, function()
        local generator = torch.Generator()
        torch.manualSeed(generator, 5)
        local twin = copy(generator)
        equal(torch.random(twin), torch.random(generator))
    end)

    test("classes that are not known in " .. mode, function()
        local r = copy(setmetatable({ size = 3 }, { __typename = "nn.Linear" }))
        equal(torch.type(r), "nn.Linear")
        equal(r.size, 3)
    end)

    test("files in " .. mode .. " are those of the library", function()
        local path = os.tmpname()
        local x = torch.range(1, 6):resize(2, 3)
        torch.save(path, x:t(), mode)
        equal(torch.load(path, mode), x:t())
        os.rename(path, path .. ".t7")
        path = path .. ".t7"
        local handle = library.C.THTensor_newLoad(path)
        equal(library.own(handle, "newLoad"), x:t())
        equal(tonumber(library.C.THTensor_save(x.handle, path)), 0)
        equal(torch.load(path, "binary"), x)
        os.remove(path)
    end)

    test("broken files in " .. mode, function()
        local text = torch.serialize({ torch.range(1, 3), "text", { x = true } }, mode)
        for length = 0, #text - 2 do
            harness.checks = harness.checks + 1
            local ok = pcall(torch.deserialize, text:sub(1, length), mode)
            if ok then error("read of " .. length .. " bytes") end
        end
        -- Each byte is changed in turn: reading gives an error or an object.
        local state = 1
        for place = 1, #text do
            state = (state * 16807) % 2147483647
            local changed = text:sub(1, place - 1) .. string.char(state % 256) .. text:sub(place + 1)
            local ok, r
            warnings(function() ok, r = pcall(torch.deserialize, changed, mode) end)
            harness.checks = harness.checks + 1
            if not ok and not r:find("deserialize: the string is no file of Torch7", 1, true) then error(r) end
        end
    end)
end

test("the bytes of a file", function()
    equal(torch.serialize(2), "\1\0\0\0" .. ffi.string(ffi.new("double[1]", 2), 8))
    equal(torch.serialize("ab", "ascii"), "2\n2\nab\n")
    equal(torch.serialize({ [1] = true }, "ascii"), "3\n1\n1\n1\n1\n5\n1\n")
    equal(torch.serialize(torch.LongStorage({ 7, 8 }), "ascii"), "4\n1\n3\nV 1\n17\ntorch.LongStorage\n2\n7 8\n")
    equal(torch.serialize(torch.IntTensor({ { 5, 6 } }), "ascii"),
        "4\n1\n3\nV 1\n15\ntorch.IntTensor\n2\n1 2\n2 1\n1\n4\n2\n3\nV 1\n16\ntorch.IntStorage\n2\n5 6\n")
end)

test("numbers that a tensor cannot have", function()
    local function file(size, stride, offset)
        return ("4\n1\n3\nV 1\n18\ntorch.DoubleTensor\n1\n%s\n%s\n%s\n4\n2\n3\nV 1\n19\ntorch.DoubleStorage\n2\n3 4\n")
            :format(size, stride, offset)
    end
    equal(torch.deserialize(file(2, 1, 1), "ascii"), { 3, 4 })
    fails("a number is missing", torch.deserialize, file("nan", 1, 1), "ascii")
    fails("a number is missing", torch.deserialize, file(2, 1.5, 1), "ascii")
    fails("a size or stride of -1", torch.deserialize, file(2, -1, 1), "ascii")
    fails("a tensor reaches beyond its storage", torch.deserialize, file(2, 2, 1), "ascii")
    fails("a tensor reaches beyond its storage", torch.deserialize, file(2, 1, 0), "ascii")
    fails("it ends too early", torch.deserialize, "4\n1\n3\nV 1\n19\ntorch.DoubleStorage\n9007199254740000\n", "ascii")
end)

test("storages of bytes", function()
    local storage = torch.serializeToStorage({ 6, { 42 } })
    equal(storage:type(), "torch.CharStorage")
    equal(torch.deserializeFromStorage(storage), { 6, { 42 } })
end)

test("what cannot be written or read", function()
    fails("serialize: Unwritable object <function> at <?>.1", torch.serialize, { print })
    fails("Unwritable object <cdata> at <?>.a.2", torch.serialize, { a = { 1, 1LL } })
    fails("bad argument #2 to 'load' (the mode 'apkg' is for Android)", torch.load, "x", "apkg")
    fails("bad argument #2 to 'serialize' ('binary', 'ascii', 'b32' or 'b64' expected)", torch.serialize, 1, "text")
    fails("bad argument #1 to 'deserialize' (string expected, got number)", torch.deserialize, 1)
    fails("there is no kind of object 9", torch.deserialize, "\9\0\0\0")
    fails("load: /nonexistent/file", torch.load, "/nonexistent/file")
    local path = os.tmpname()
    torch.save(path, 1)
    fails("save: Unwritable object <function> at <?>", torch.save, path, print)
    equal(torch.load(path), 1)
    os.remove(path)
    fails("save: /nonexistent/file", torch.save, "/nonexistent/file", 1)
end)

local function int(x) return ffi.string(ffi.new("int32_t[1]", x), 4) end

test("functions are written with their code and upvalues", function()
    local outer, missing = 7, nil
    local function f() return outer, missing end
    local code = string.dump(f)
    equal(torch.serialize(f),
        int(8) .. int(1) .. int(#code) .. code
        .. int(3) .. int(2) .. int(2)
        .. torch.serialize(1) .. int(3) .. int(3) .. int(2)
        .. torch.serialize("name") .. torch.serialize("outer") .. torch.serialize("value") .. torch.serialize(7)
        .. torch.serialize(2) .. int(3) .. int(4) .. int(1) .. torch.serialize("name") .. torch.serialize("missing"))
    local inner = { math.floor }
    fails("Unwritable object <function> at <?>.callback.inner.1", torch.serialize, { callback = function() return inner end })
end)

test("functions are skipped", function()
    local shared = torch.range(1, 3)
    local function f() return shared end
    for _, mode in ipairs({ "binary", "ascii" }) do
        local r
        local text = torch.serialize({ f, f, shared, "end" }, mode)
        local lines = warnings(function() r = torch.deserialize(text, mode) end)
        equal(#lines, 1)
        equal(lines[1]:find("functions are not loaded from <memory>", 1, true) ~= nil, true)
        equal(type(r[1]), "function")
        equal(r[1] == r[2], true)
        fails("functions of files are not loaded", r[1])
        equal(r[3], { 1, 2, 3 })
        equal(r[4], "end")
    end
    -- The kinds of older files: 6 has no number, 7 has upvalues without names.
    warnings(function()
        equal(type(torch.deserialize(int(6) .. int(5) .. "print" .. int(3) .. int(1) .. int(0))), "function")
        local r = torch.deserialize(int(3) .. int(1) .. int(2)
            .. torch.serialize(1) .. int(7) .. int(2) .. int(5) .. "print" .. int(3) .. int(3) .. int(1) .. torch.serialize(1)
            .. torch.serialize(true) .. torch.serialize(2) .. int(7) .. int(2))
        equal(r[1] == r[2] and type(r[1]) == "function", true)
    end)
    fails("it ends too early", torch.deserialize, int(8) .. int(1) .. int(2 ^ 31 - 1) .. "print")
    fails("it ends too early", torch.deserialize, int(8) .. int(1) .. int(-1) .. "print")
end)

test("methods read and write of classes", function()
    local Pair = torch.class("SerializePair")
    function Pair:__init(a, b) self.a, self.b, self.cache = a, b, "cache" end
    function Pair:write(file)
        file:writeInt(self.a)
        file:writeObject(self.b)
    end
    function Pair:read(file, version)
        self.version, self.a, self.b = version, file:readInt(), file:readObject()
    end
    for _, mode in ipairs({ "binary", "ascii" }) do
        local shared = torch.ones(2)
        local pair = SerializePair(5, shared)
        local r = torch.deserialize(torch.serialize({ pair, shared, pair }, mode), mode)
        equal(torch.type(r[1]), "SerializePair")
        equal(r[1] == r[3], true)
        equal(r[1].b == r[2], true)
        equal({ r[1].a, r[1].version }, { 5, 1 })
        equal(r[1].cache, nil)
    end
    equal(torch.serialize(SerializePair(5, true)), int(4) .. int(1) .. int(3) .. "V 1" .. int(13) .. "SerializePair" .. int(5)
        .. torch.serialize(true))
    rawset(torch.getmetatable("SerializePair"), "__version", 3)
    equal(torch.deserialize(torch.serialize(SerializePair(5, true))).version, 3)
    function Pair:read() error("from the class") end
    fails("from the class", torch.deserialize, torch.serialize(SerializePair(5, true)))
end)

test("fields of classes", function()
    torch.class("SerializeFields")
    local object = SerializeFields()
    object.x, object.address = torch.ones(2), 1LL
    local r
    local lines = warnings(function() r = torch.deserialize(torch.serialize(object)) end)
    equal(#lines, 1)
    equal(lines[1]:find("the field <address> of a <SerializeFields> cannot be written", 1, true) ~= nil, true)
    equal(torch.type(r), "SerializeFields")
    equal(r.x, { 1, 1 })
    equal(r.address, nil)
    fails("an object of class SerializeFields has no fields", torch.deserialize,
        int(4) .. int(1) .. int(3) .. "V 1" .. int(15) .. "SerializeFields" .. torch.serialize(1))
    -- Before versions, an object began with the name.
    equal(torch.deserialize(int(4) .. int(1) .. int(15) .. "SerializeFields" .. int(3) .. int(2) .. int(0)).x, nil)
    -- A forged file object.
    fails("objects of class torch.DiskFile are not read", torch.deserialize,
        int(4) .. int(1) .. int(3) .. "V 1" .. int(14) .. "torch.DiskFile" .. int(3) .. int(2) .. int(0))
    fails("Unwritable object <table> at <?>", torch.serialize, torch.MemoryFile())
end)

test("methods read and write of types", function()
    local methods = torch.getmetatable("torch.ShortTensor")
    local read, write = methods.read, methods.write
    function methods.write(t, file) file:writeInt(t[1]) end
    function methods.read(t, file) t:resize(1):fill(file:readInt()) end
    local text = torch.serialize({ torch.ShortTensor({ 7, 8 }) })
    local r = torch.deserialize(text)
    methods.read, methods.write = read, write
    equal(r[1], { 7 })
    equal(text:find("torch.ShortStorage", 1, true), nil)
    equal(torch.deserialize(torch.serialize(torch.ShortTensor({ 7, 8 }))), { 7, 8 })
    local file = torch.MemoryFile()
    torch.range(1, 4):narrow(1, 2, 2):write(file)
    torch.IntStorage({ 5, 6 }):write(file)
    equal(file:seek(1):readString("*l"), "1")
    local t, s = torch.Tensor(9), torch.IntStorage(9)
    t:read(file:seek(1))
    s:read(file)
    equal(t, { 2, 3 })
    equal(t:storage(), { 1, 2, 3, 4 })
    equal(s, { 5, 6 })
end)

test("longs of 4 and 8 bytes", function()
    local x = torch.FloatTensor({ 2 })
    local name, storage = int(4) .. int(1) .. int(3) .. "V 1" .. int(17) .. "torch.FloatTensor",
        int(4) .. int(2) .. int(3) .. "V 1" .. int(18) .. "torch.FloatStorage"
    local two, zero = "\0\0\0\64", int(0)
    local b32 = name .. int(1) .. int(1) .. int(1) .. int(1) .. storage .. int(1) .. two
    local b64 = name .. int(1) .. int(1) .. zero .. int(1) .. zero .. int(1) .. zero .. storage .. int(1) .. zero .. two
    equal(torch.serialize(x, "b32"), b32)
    equal(torch.serialize(x, "b64"), b64)
    equal(torch.serialize(x), b64)
    equal(torch.deserialize(b32, "b32"), { 2 })
    equal(torch.deserialize(b64, "b64"), { 2 })
    fails("is no file of Torch7", torch.deserialize, b32, "b64")
    local path = os.tmpname()
    torch.save(path, torch.LongStorage({ -3, 2 ^ 31 - 1 }), "b32")
    equal(torch.load(path, "b32"), { -3, 2 ^ 31 - 1 })
    equal(torch.load(path, "binary", 4), { -3, 2 ^ 31 - 1 })
    fails("write error", torch.save, path, torch.LongStorage({ 2 ^ 31 }), "b32")
    os.remove(path)
    -- Forged sizes, whose product and whose reach do not fit into 64 bits.
    local huge = "\255\255\255\255\255\255\255\127"
    for _, stride in ipairs({ huge, zero .. zero }) do
        fails("is no file of Torch7", torch.deserialize,
            name .. int(2) .. huge .. huge .. stride .. stride .. int(1) .. zero .. storage .. int(1) .. zero .. two)
    end
end)

test("references", function()
    local x = torch.ones(1)
    local path = os.tmpname()
    torch.save(path, { x, x }, "binary", false)
    local r = torch.load(path)
    equal(r[1] ~= r[2], true)
    equal({ r[1][1], r[2][1] }, { 1, 1 })
    torch.save(path, { x, x })
    r = torch.load(path)
    equal(r[1] == r[2], true)
    r = torch.loadobj(path)
    equal(r[1] == r[2], true)
    os.remove(path)
end)

test("threads", function()
    local count = torch.getnumthreads()
    torch.setnumthreads(1)
    equal(torch.getnumthreads(), 1)
    torch.setnumthreads(count)
    equal(torch.getnumcores() >= 1, true)
    fails("setnumthreads", torch.setnumthreads, 0)
end)

test("time", function()
    local mark, timer = torch.tic(), torch.Timer()
    local before = os.clock()
    while os.clock() - before < 0.02 do end
    equal(torch.toc(mark) >= 0.015, true)
    local time = timer:stop():time()
    equal(time.real >= 0.015 and time.user >= 0.015, true)
    near(timer:time().real, time.real, 0)
    equal(timer:resume():time().real >= time.real, true)
    equal(timer:reset():time().real < 0.01, true)
    equal(torch.type(timer), "torch.Timer")
end)
