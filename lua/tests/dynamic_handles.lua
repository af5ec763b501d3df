-- Handles other than tensors: fused expressions, archives, generators, storages, and handles of GPUs.

local harness = require("harness")
local ffi = require("ffi")
local library = require("thorn.library")
local thorn = require("thorn.dynamic")

local check = harness.check

local tests = {}

local function elements(tensor)
    local list = {}
    for i = 1, thorn.numel(tensor) do list[i] = thorn.get1d(tensor, i) end
    return table.concat(list, " ")
end

-- Calls `f` with the name of a new file with this suffix, and removes the file.
local function with_file(ending, f)
    local path = os.tmpname()
    local named = path .. ending
    local ok, message = pcall(f, named)
    os.remove(path)
    os.remove(named)
    check(ok, message)
end

function tests.fused_expressions_have_methods()
    local f = thorn.Fused("a * b + 2")
    local x, y = thorn.tensor({ 1, 2 }), thorn.tensor({ 10, 20 })
    check(f:nInputs() == 2 and f:inputName(1) == "a" and f:inputName(2) == "b")
    check(elements(f:run(x, y)) == "12 42" and elements(f:run({ x, y })) == "12 42")
    check(rawequal(f:run(x, y, { out = x }), x) or rawequal(f:run({ x, y }, { out = x }), x))
    check(not pcall(f.inputName, f, 3) and not pcall(f.inputName, f, 0))
    check(tostring(f):match("^thorn%.Fused"))
    check(f.no_such_method == nil)
end

function tests.archives_are_written_and_read()
    with_file(".safetensors", function(path)
        local w = thorn.Archive.create(path, "safetensors")
        w:add("weight", thorn.tensor({ 1, 2, 3 }))
        w:add("bias", thorn.tensor({ 4 }, "int64"))
        w:addMetadata("note", "text")
        w:close()
        local r = thorn.Archive.open(path)
        check(r:count() == 2 and r:format() == thorn.FILE_SAFETENSORS)
        local at = r:find("weight")
        check(r:name(at) == "weight" and r:dtype(at) == thorn.float32 and r:ndim(at) == 1 and r:sizes(at)[1] == 3)
        check(r:find("nothing") == nil)
        check(r:name(1) ~= r:name(2) and not pcall(r.name, r, 0) and not pcall(r.name, r, 3))
        check(elements(r:newFind("weight")) == "1 2 3" and elements(r:newTensor(r:find("bias"))) == "4")
        check(elements(r:read(at)) == "1 2 3")
        check(r:metadata("note") == "text" and r:metadata("other") == nil and r:metadataCount() == 1 and r:metadataKey(1) == "note")
    end)
    with_file(".npy", function(path)
        thorn.save(thorn.tensor({ 7, 8 }), path)
        check(elements(thorn.load(path)) == "7 8")
    end)
end

function tests.archives_are_read_from_memory()
    with_file(".npy", function(path)
        thorn.save(thorn.tensor({ 7, 8 }), path)
        local file = io.open(path, "rb")
        local bytes = file:read("*a")
        file:close()
        local archive = thorn.Archive.openMemory(bytes .. "", #bytes)
        for _ = 1, 3 do collectgarbage() end
        check(elements(archive:newTensor(1)) == "7 8")
    end)
end

-- The collector must not free memory that an archive or a tensor reads.
function tests.memory_of_lua_lives_as_long_as_it_is_read()
    local borrowed = require("thorn.dynamic.borrowed")
    local tensors, count = {}, 200
    for i = 1, count do
        local memory = ffi.new("double[1000]")
        memory[999] = i
        tensors[i] = thorn.newFromBlob("float64", { 1000 }, memory)
    end
    for _ = 1, 3 do collectgarbage() end
    for i = 1, count do check(thorn.get1d(tensors[i], 1000) == i and thorn.get1d(tensors[i], 1) == 0) end
    check(borrowed.sweep() >= count)
    local view = thorn.narrow(tensors[7], 1, 1000, 1)
    tensors = nil
    for _ = 1, 3 do collectgarbage() end
    check(borrowed.sweep() == 1 and thorn.item(view) == 7)
end

function tests.pointers_and_functions_of_c_are_taken()
    ffi.cdef("void *malloc(size_t size); void free(void *block);")
    local block = ffi.cast("float *", ffi.C.malloc(16))
    for i = 0, 3 do block[i] = i end
    check(elements(thorn.newFromBlob("float32", { 2 }, { 2 }, block, ffi.cast("THDeleter", ffi.C.free))) == "0 2")
    check(elements(thorn.newFromData("int32", { 2 }, ffi.new("int32_t[2]", 5, 6))) == "5 6")
    check(elements(thorn.newFromDLPack(thorn.toDLPack(thorn.tensor({ 8, 9 })))) == "8 9")
    local schema, array = ffi.new("ArrowSchema"), ffi.new("ArrowArray")
    thorn.toArrow(thorn.tensor({ 3, 4 }), schema, array)
    check(elements(thorn.newFromArrow(schema, array)) == "3 4")
    check(not pcall(thorn.newFromBlob, "float32", { 1 }, ffi.new("float[1]"), function() end), "a deleter of Lua")
    check(not pcall(thorn.newFromData, "float32", { 1 }, 5LL) and not pcall(thorn.newFromData, "float32", { 1 }, newproxy()))
end

function tests.tensors_are_printed_to_files()
    with_file(".txt", function(path)
        local file = io.open(path, "w")
        thorn.fprint(file, thorn.tensor({ 1, 2 }))
        file:close()
        check(io.open(path):read("*a"):find("tensor([1., 2.])", 1, true))
        check(not pcall(thorn.fprint, file, thorn.ones(1)) and not pcall(thorn.fprint, newproxy(), thorn.ones(1)))
    end)
end

function tests.tables_of_text_are_archives()
    with_file(".csv", function(path)
        local file = io.open(path, "w")
        file:write("1;2\n3;4\n")
        file:close()
        local table_ = thorn.Archive.openTable(path, ";")
        check(thorn.toString(table_:newTensor(1)):find("3", 1, true))
    end)
end

function tests.generators_repeat_their_numbers()
    local g = thorn.Generator()
    thorn.Random.manualSeed(g, 5)
    local first = elements(thorn.rand(g, { 3 }))
    g:manualSeed(5)
    check(elements(thorn.rand(g, { 3 })) == first and g:initialSeed() == 5)
    thorn.manual_seed(5)
    local own = elements(thorn.rand(3))
    check(thorn.initialSeed() == 5)
    thorn.manual_seed(5)
    check(elements(thorn.rand(3)) == own)
    local u = g:uniform(2, 3)
    check(u >= 2 and u < 3 and type(g:bernoulli()) == "boolean")
    check(thorn.Generator.newKind("mt19937"):kind() == thorn.MT19937)
end

function tests.storages_count_from_one()
    local s = thorn.Storage.newWithSize("float64", 3)
    thorn.Storage.fill(s, 1)
    thorn.Storage.set(s, 3, 7)
    check(thorn.Storage.get(s, 3) == 7 and thorn.Storage.get(s, 1) == 1 and thorn.Storage.size(s) == 3)
    check(not pcall(thorn.Storage.get, s, 0) and not pcall(thorn.Storage.get, s, 4))
    local t = thorn.newWithStorage(s, 2, { 2 })
    check(elements(t) == "1 7")
    check(elements(thorn.newWithStorage(s, 1)) == "1 1 7")
    check(thorn.Storage.dtype(thorn.storage(t)) == thorn.float64)
    thorn.Storage.set(thorn.storage(t), 2, 5)
    check(elements(t) == "5 7")
end

function tests.options_of_printing_are_a_table()
    local x = thorn.tensor({ 1.23456789 })
    check(thorn.toString(x, { precision = 2 }) == "tensor([1.23])", thorn.toString(x, { precision = 2 }))
    local options = thorn.getPrintOptions()
    check(options.precision == 4)
end

-- With a GPU, streams and events are made. Without one, every call reports that there is none.
function tests.streams_and_events_are_reached()
    if thorn.Cuda.deviceCount() == 0 then
        local ok, message = pcall(thorn.CudaStream.new, 0, 0)
        check(not ok and message:find("CudaStream.new: ", 1, true))
        check(not pcall(thorn.CudaEvent.new, 0, true) and not pcall(thorn.CudaGraph.begin, 0))
        check(not pcall(thorn.cuda, thorn.ones(1), 0) and thorn.isCuda(thorn.ones(1)) == false)
    else
        local stream, event = thorn.CudaStream.new(0, 0), thorn.CudaEvent.new(0, true)
        event:record(stream)
        event:synchronize()
        check(event:hasPassed() and stream:isIdle())
        check(thorn.isCuda(thorn.cuda(thorn.ones(1), 0)))
    end
end

function tests.archives_return_tensors_by_number_and_by_name()
    local path = os.tmpname() .. ".npz"
    local archive = thorn.Archive.create(path, "npz")
    archive:add("first", thorn.tensor({ 1, 2 }))
    archive:add("second", thorn.tensor({ { 3 } }, "float64"))
    archive:close()
    archive = thorn.Archive.open(path)
    check(#archive == 2)
    for _, key in ipairs({ 1, -2, "first" }) do harness.equal(archive:tensor(key), { 1, 2 }) end
    for _, key in ipairs({ 2, -1, "second" }) do harness.equal(archive:tensor(key), { { 3 } }) end
    local found = {}
    for name, tensor in archive:tensors() do found[#found + 1] = name .. " " .. thorn.sum(tensor):item() end
    harness.equal(found, { "first 3", "second 3" })
    check(rawequal(archive:tensor(1):mul(2):sum(), 6) and archive:tensor(1):sum() == 3)
    for key, text in pairs({
        [0] = "number 0 is out of range for 2 tensors", [3] = "number 3 is out of range", [-3] = "number -3 is out of range",
        third = 'no tensor of the archive is named "third"', [1.5] = "a tensor has a whole number or a name, not 1.5",
    }) do
        harness.fails("Archive.tensor: " .. text, archive.tensor, archive, key)
    end
    harness.fails("Archive.tensor: an archive is expected", thorn.Archive.tensor, 1, 1)
    harness.fails("Archive.tensors: an archive is expected", thorn.Archive.tensors, path)
    os.remove(path)

    path = path .. ".pt"
    archive = thorn.Archive.create(path, "pt")
    archive:add_sparse("s", thorn.tensor({ 0, 7 }):toSparse())
    archive:close()
    local s = thorn.Archive.open(path):tensor("s")
    check(s:nnz() == 1)
    harness.equal(s:toDense(), { 0, 7 })
    os.remove(path)
end

function tests.handles_of_one_type_are_not_another()
    local f, x = thorn.Fused("a"), thorn.tensor({ 1 })
    check(not pcall(f.run, x, { x }) and not pcall(thorn.add, f, 1) and not pcall(thorn.Archive.count, f))
    check(not pcall(thorn.add, 1, 2) and not pcall(thorn.Storage.size, x))
    check(not pcall(thorn.Archive.openCallbacks, function() end, function() end), "functions of Lua are no functions of C")
end

function tests.methods_of_tensors_are_the_functions()
    check(thorn.method("relu") == thorn.relu and thorn.method("no_such_name") == nil)
    check(library.Tensor ~= nil and thorn.method("uniform", "Generator") == thorn.Random.uniform)
end

harness.run(tests)
