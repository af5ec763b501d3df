-- Torch7's files, and functions for other things than tensors.

local harness = require("harness")
local ffi = require("ffi")
local library = require("thorn.library")
local torch = require("thorn")
local types = require("thorn.types")

local test, equal, near, fails = harness.test, harness.equal, harness.near, harness.fails

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
        if mode == "binary" then equal(copy(exact):data()[0] == 9007199254740993LL, true) end
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
            local ok, r = pcall(torch.deserialize, text:sub(1, place - 1) .. string.char(state % 256) .. text:sub(place + 1), mode)
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
    fails("a size or stride of nan", torch.deserialize, file("nan", 1, 1), "ascii")
    fails("a size or stride of 1.5", torch.deserialize, file(2, 1.5, 1), "ascii")
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
    fails("serialize: a function cannot be written", torch.serialize, { print })
    fails("bad argument #2 to 'serialize' ('binary' or 'ascii' expected)", torch.serialize, 1, "text")
    fails("bad argument #1 to 'deserialize' (string expected, got number)", torch.deserialize, 1)
    fails("it has a function, which is not read", torch.deserialize, "\8\0\0\0")
    fails("load: /nonexistent/file", torch.load, "/nonexistent/file")
    local path = os.tmpname()
    torch.save(path, 1)
    fails("save: a function cannot be written", torch.save, path, print)
    equal(torch.load(path), 1)
    os.remove(path)
    fails("save: /nonexistent/file", torch.save, "/nonexistent/file", 1)
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
