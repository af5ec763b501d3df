-- Torch7's files: torch.DiskFile, torch.MemoryFile, torch.PipeFile, and storages over files. The expected bytes are worked out by hand from
-- the format: in ASCII, C's %d, %.9g and %.17g with blanks between numbers and a line end after them; in binary, the bytes of memory.

local harness = require("harness")
local ffi = require("ffi")
local torch = require("thorn")

local equal, fails, check = harness.equal, harness.fails, harness.check

local TYPES = { "Byte", "Char", "Short", "Int", "Long", "Float", "Double" }

-- Returns the bytes of a MemoryFile.
local function bytes_of(file) return file:storage():string():sub(1, -2) end

local function read_all(path)
    local file = assert(io.open(path, "rb"))
    local text = file:read("*a")
    file:close()
    return text
end

local function write_all(path, text)
    local file = assert(io.open(path, "wb"))
    file:write(text)
    file:close()
end

-- Calls `f` with the name of a file that is removed afterwards.
local function with_path(f)
    local path = os.tmpname()
    local ok, problem = pcall(f, path)
    os.remove(path)
    if not ok then error(problem, 0) end
end

-- Makes a MemoryFile of a text.
local function memory(text, mode) return torch.MemoryFile(torch.CharStorage():string(text .. "\0"), mode or "r") end

-- Makes a DiskFile of a text, whose name is removed at once.
local function disk(text, mode)
    local path = os.tmpname()
    write_all(path, text)
    local file = torch.DiskFile(path, mode or "r")
    os.remove(path)
    return file
end

-- The bytes of each test, and the calls that write them.
local WRITTEN = {
    { "3\n", function(f) f:writeInt(3) end },
    { "3\n-3\n", function(f) f:writeInt(3.99) f:writeInt(-3.99) end },
    { "1 -2 3\n", function(f) f:writeInt(torch.IntStorage({ 1, -2, 3 })) end },
    { "-5\n", function(f) f:writeShort(-5) end },
    { "9007199254740993\n", function(f) f:writeLong(9007199254740993LL) end },
    { "-9223372036854775808 7\n", function(f)
        local s = torch.LongStorage({ 0, 7 })
        s:data()[0] = -9223372036854775807LL - 1
        f:writeLong(s)
    end },
    { "0.100000001\n", function(f) f:writeFloat(0.1) end },
    { "0.10000000000000001 1e+22\n", function(f) f:writeDouble(torch.DoubleStorage({ 0.1, 1e22 })) end },
    { "inf -inf\n", function(f) f:writeDouble(torch.DoubleStorage({ 1 / 0, -1 / 0 })) end },
    { "a\0b\n", function(f) f:writeChar(torch.CharStorage():string("a\0b")) end },
    { "A\n", function(f) f:writeByte(65) end },
    { "1\n0\n0\n", function(f) f:writeBool(true) f:writeBool(false) f:writeBool(nil) end },
    { "", function(f) f:writeInt(torch.IntStorage()) f:writeChar(torch.CharStorage()) f:writeString("") end },
    { "x y1\n", function(f) f:writeString("x y") f:writeInt(1) end },
    { "12ab3", function(f)
        f:noAutoSpacing():writeInt(torch.IntStorage({ 1, 2 }))
        f:writeChar(torch.CharStorage():string("ab"))
        f:writeInt(3)
    end },
    { "\254\255\3\0\0\0", function(f) f:binary():writeShort(-2) f:writeInt(3) end },
    { "\44\0\0\0\0\0\0\0\1\0\0\0", function(f) f:binary():writeByte(300) f:writeLong(2 ^ 56) f:writeShort(0) f:writeChar(0) end },
    { "\0\0\128\63\0\0\0\0\0\0\240\63", function(f) f:binary():writeFloat(1) f:writeDouble(1) end },
    { "\1\0\2\0", function(f) f:binary():writeShort(torch.ShortStorage({ 1, 2 })) end },
    { "\1\0\0\0\255\255\255\255", function(f) f:binary():longSize(4):writeLong(torch.LongStorage({ 1, -1 })) end },
    { "\1\0\0\0\0\0\0\0", function(f) f:binary():longSize(4):longSize(0):writeLong(1) end },
    { "\1\0\0\0\0\0\0\0", function(f) f:binary():longSize(8):writeLong(1) end },
}

local tests = {}

function tests.bytes_in_memory_and_on_disk()
    with_path(function(path)
        for i, case in ipairs(WRITTEN) do
            local file = torch.MemoryFile("w")
            case[2](file)
            check(bytes_of(file) == case[1], "case " .. i .. " in memory: " .. bytes_of(file))
            file = torch.DiskFile(path, "w")
            case[2](file)
            file:close()
            check(read_all(path) == case[1], "case " .. i .. " on disk: " .. read_all(path))
        end
    end)
end

function tests.numbers_are_read()
    for _, open in ipairs({ memory, disk }) do
        local file = open("  12\t-7\n+3 0.5e1x9007199254740993\n-9223372036854775808\nnan -inf 7.5.25 A")
        equal(file:readInt(), 12)
        equal(file:readShort(), -7)
        equal(file:readLong(), 3)
        equal(file:readDouble(), 5)
        equal(file:readChar(), 120)
        equal(file:readLong(1):data()[0] == 9007199254740993LL, true)
        equal(file:readLong(1):data()[0] == -9223372036854775807LL - 1, true)
        equal(file:readDouble(2), { 0 / 0, -1 / 0 })
        equal(file:readInt(), 7)
        equal(file:readFloat(2), { 0.5, 0.25 })
        equal(file:readByte(2), { 32, 65 })
        file:close()
    end
end

function tests.three_forms_of_reading()
    for _, name in ipairs(TYPES) do
        local Storage = torch[name .. "Storage"]
        for _, mode in ipairs({ "ascii", "binary" }) do
            local file = torch.MemoryFile()
            file[mode](file)
            equal(file["write" .. name](file, 65), 1)
            equal(file["write" .. name](file, Storage({ 66, 67, 68 })), 3)
            equal(file["write" .. name](file, Storage({ 69, 70 })), 2)
            file:seek(1)
            equal(file["read" .. name](file), 65)
            local s = file["read" .. name](file, 3)
            equal(torch.type(s), "torch." .. name .. "Storage")
            equal(s, { 66, 67, 68 })
            local target = Storage(2)
            equal(file["read" .. name](file, target), 2)
            equal(target, { 69, 70 })
            fails("read error: read 0 blocks instead of 1", file["read" .. name], file)
            fails("expected, got", file["read" .. name], file, "x")
            fails("expected, got", file["read" .. name], file, torch.HalfStorage(1))
            fails("expected, got", file["write" .. name], file, nil)
            fails("a count is not negative", file["read" .. name], file, -1)
        end
    end
end

function tests.booleans()
    local file = memory("1\n0\n2\n")
    equal({ file:readBool(), file:readBool(), file:readBool() }, { true, false, false })
end

function tests.strings()
    for _, open in ipairs({ memory, disk }) do
        local file = open("first\n\nthird\nlast")
        equal(file:readString("*l"), "first")
        equal(file:readString("*line"), "")
        equal(file:readString("*a"), "third\nlast")
        fails("read 0 blocks instead of 1", file.readString, file, "*a")
        fails("read 0 blocks instead of 1", file.readString, file, "*l")
        equal(file:quiet():readString("*a"), "")
        equal(file:hasError(), true)
        equal(file:seek(14):readString("*l"), "last")
        fails("'*a' or '*l' expected", file.readString, file, "*n")
        fails("'*a' or '*l' expected", file.readString, file)
    end
    fails("string expected, got number", torch.MemoryFile().writeString, torch.MemoryFile(), 1)
end

function tests.endian()
    with_path(function(path)
        local file = torch.DiskFile(path, "w"):binary():bigEndianEncoding()
        file:writeShort(258)
        file:writeInt(torch.IntStorage({ 1, -2 }))
        file:writeDouble(1)
        file:writeByte(7)
        file:longSize(4):writeLong(3)
        file:littleEndianEncoding():writeShort(258)
        file:close()
        equal(read_all(path), "\1\2" .. "\0\0\0\1\255\255\255\254" .. "\63\240\0\0\0\0\0\0" .. "\7" .. "\0\0\0\3" .. "\2\1")
        file = torch.DiskFile(path):binary():bigEndianEncoding()
        equal(file:readShort(), 258)
        equal(file:readInt(2), { 1, -2 })
        equal(file:readDouble(), 1)
        equal(file:readByte(), 7)
        equal(file:longSize(4):readLong(), 3)
        equal(file:littleEndianEncoding():readShort(), 258)
        file:close()
        local long = torch.range(1, 40000)
        file = torch.DiskFile(path, "w"):binary():bigEndianEncoding()
        file:writeObject(long)
        file:close()
        equal(read_all(path):sub(1, 8), "\0\0\0\4\0\0\0\1")
        file = torch.DiskFile(path):binary():bigEndianEncoding()
        equal(file:readObject():equal(long), true)
        file:close()
    end)
    local file = torch.DiskFile("/dev/null")
    equal(file:isLittleEndianCPU(), ffi.abi("le"))
    equal(file:isBigEndianCPU(), not ffi.abi("le"))
    equal(file:nativeEndianEncoding() == file, true)
end

function tests.longs_of_four_bytes()
    local file = torch.MemoryFile():binary():longSize(4)
    local many = torch.range(-20000, 20000):long():storage()
    equal(file:writeLong(many), 40001)
    equal(file:position(), 4 * 40001 + 1)
    equal(file:seek(1):readLong(40001), many)
    fails("write error: wrote 1 blocks instead of 3", file.writeLong, file, torch.LongStorage({ 1, 2 ^ 31, 2 }))
    equal(file:quiet():writeLong(-2 ^ 31 - 1), 0)
    equal(file:hasError(), true)
    fails("0, 4 or 8 expected", file.longSize, file, 5)
end

function tests.settings()
    local file = torch.MemoryFile()
    local state = function() return { file:isQuiet(), file:isBinary(), file:isAutoSpacing(), file:isReferenced(), file:hasError() } end
    equal(state(), { false, false, true, true, false })
    for _, name in ipairs({ "quiet", "binary", "noAutoSpacing", "clearError", "synchronize", "seekEnd" }) do
        equal(file[name](file) == file, true)
    end
    equal(file:referenced(false) == file and file:longSize(4) == file and file:seek(1) == file, true)
    equal(state(), { true, true, false, false, false })
    equal(file:readInt(), 0)
    equal(state(), { true, true, false, false, true })
    file:pedantic():ascii():autoSpacing():referenced(true):clearError()
    equal(state(), { false, false, true, true, false })
    fails("read error", file.readInt, file)
    equal(file:hasError(), true)
end

function tests.modes()
    with_path(function(path)
        fails("attempt to read in a write-only file", function() torch.DiskFile(path, "w"):readInt() end)
        fails("attempt to write in a read-only file", function() torch.DiskFile(path, "r"):writeInt(1) end)
        fails("attempt to write in a read-only file", function() torch.DiskFile(path, "r"):writeObject(1) end)
        fails("attempt to read in a write-only file", function() torch.MemoryFile("w"):readObject() end)
        fails("'r', 'w' or 'rw' expected", torch.DiskFile, path, "a")
        fails("'r', 'w' or 'rw' expected", torch.MemoryFile, "x")
        fails("'r' or 'w' expected", torch.PipeFile, "true", "rw")
        local file = torch.DiskFile(path, "rw")
        equal({ file:isReadable(), file:isWritable() }, { true, true })
        file:writeInt(12345)
        file:seek(2)
        equal(file:readInt(), 2345)
        file:writeInt(6)
        file:seek(1)
        equal(file:readInt(), 12345)
        equal(file:readInt(), 6)
        file:close()
        file = torch.DiskFile(path, "rw")
        equal(file:position(), 1)
        file:writeString("9")
        equal(file:readInt(), 2345)
        file:close()
        equal(read_all(path), "92345\n6\n")
        os.remove(path)
        torch.DiskFile(path, "rw"):close()
        equal(read_all(path), "")
    end)
    equal(torch.DiskFile("/nonexistent/file", "r", true), nil)
    equal(torch.DiskFile("/nonexistent/file", "rw", true), nil)
    fails("cannot open </nonexistent/file> in mode w", torch.DiskFile, "/nonexistent/file", "w")
    equal(torch.DiskFile("/dev/null", "r", true):isQuiet(), true)
    fails("string expected, got no value", torch.DiskFile)
end

function tests.positions()
    for _, file in ipairs({ torch.MemoryFile(), disk("", "rw") }) do
        equal(file:position(), 1)
        file:writeString("hello")
        equal(file:position(), 6)
        equal(file:seek(2):position(), 2)
        equal(file:readString("*a"), "ello")
        equal(file:seek(1):seekEnd():position(), 6)
        fails("position has to be greater than 0", file.seek, file, 0)
        fails("number expected", file.seek, file, "x")
    end
    local file = memory("abc")
    fails("unable to seek to position 5", file.seek, file, 5)
    file:quiet():seek(5)
    equal({ file:hasError(), file:position() }, { true, 1 })
end

function tests.closed_files()
    for _, file in ipairs({ torch.MemoryFile(), torch.DiskFile("/dev/null"), torch.PipeFile("true") }) do
        equal(file:isOpened(), true)
        file:close()
        equal(file:isOpened(), false)
        for name in ("readInt writeInt readString seek seekEnd position close synchronize readObject"):gmatch("%S+") do
            fails("attempt to use a closed file", file[name], file, 1)
        end
    end
    fails("torch.File expected, got number", torch.DiskFile("/dev/null").readInt, 1)
    fails("torch.File expected, got table", torch.DiskFile("/dev/null").close, {})
end

function tests.types_and_names()
    local file = torch.DiskFile("/dev/null")
    equal({ torch.type(file), torch.typename(file) }, { "torch.DiskFile", "torch.DiskFile" })
    equal(torch.isTypeOf(file, "torch.File"), true)
    equal(tostring(file), "torch.DiskFile on </dev/null> [status: open -- mode r ]")
    file = torch.PipeFile("true", "w")
    equal(torch.isTypeOf(file, "torch.DiskFile"), true)
    equal(tostring(file), "torch.PipeFile on <true> [status: open -- mode:  w]")
    file = torch.MemoryFile()
    file:close()
    equal(tostring(file), "torch.MemoryFile [status: closed -- mode: rw]")
    equal(torch.isTypeOf(file, "torch.DiskFile"), false)
    -- A method that the program adds is a method of all files.
    torch.getmetatable("torch.File").twice = function(f) return f:position() * 2 end
    equal(torch.MemoryFile():twice(), 2)
    equal(torch.DiskFile("/dev/null"):twice(), 2)
    torch.getmetatable("torch.File").twice = nil
end

function tests.memory_files()
    local s = torch.CharStorage():string("12 13\0")
    local file = torch.MemoryFile(s)
    equal(file:storage() == s, true)
    equal(file:readInt(), 12)
    file:seekEnd():writeString(" and more")
    equal(s:string(), "12 13 and more\0")
    fails("the last character of the storage has to be 0", torch.MemoryFile, torch.CharStorage():string("12"))
    fails("the last character of the storage has to be 0", torch.MemoryFile, torch.CharStorage())
    fails("torch.CharStorage expected, got torch.ByteStorage", torch.MemoryFile, torch.ByteStorage({ 0 }))
    -- The program changes the storage of the file.
    s:resize(3)
    equal(file:seek(1):readString("*a"), "12 ")
    file:writeString("x")
    equal(bytes_of(file), "12 x")
    s:resize(0)
    fails("read error", file.readInt, file)
    file:seek(1):writeString("y")
    equal(bytes_of(file), "y")
    -- A file whose storage is written into the file.
    file = torch.MemoryFile()
    local expected = ("0123456789"):rep(10)
    file:writeString(expected)
    for _ = 1, 12 do
        file:writeChar(file:storage())
        expected = expected .. expected .. "\0\n"
    end
    equal(bytes_of(file) == expected, true)
    -- A view of memory has a fixed size.
    local fixed = torch.CharStorage(torch.CharStorage():string("ab\0"))
    file = torch.MemoryFile(fixed)
    file:writeString("c")
    check(not pcall(file.writeString, file, "long text"))
    equal(fixed:string(), "cb\0")
end

function tests.pipes()
    local file = torch.PipeFile("echo 1 2 3; echo text")
    equal(file:readInt(3), { 1, 2, 3 })
    equal(file:readString("*l"), "text")
    fails("read error", file.readInt, file)
    fails("the file has no positions", file.position, file)
    fails("unable to seek to position 1", file.seek, file, 1)
    equal(file:quiet():position(), 1)
    file:close()
    with_path(function(path)
        file = torch.PipeFile("cat > " .. path, "w"):binary()
        file:writeObject({ torch.range(1, 3), "x" })
        file:close()
        local r = torch.load(path)
        equal(r[1], { 1, 2, 3 })
        equal(r[2], "x")
        local big = torch.range(1, 300000)
        torch.save(path, big)
        file = torch.PipeFile("cat " .. path):binary()
        equal(file:readObject():equal(big), true)
        equal(file:noBuffer() == file, true)
        file:close()
    end)
end

-- A forged count must not allocate memory for it.
function tests.forged_counts()
    local function live() return tonumber(require("thorn.library").C.THMemory_liveBytes()) end
    local function storage_file(count)
        return "\4\0\0\0\1\0\0\0\3\0\0\0V 1\19\0\0\0torch.DoubleStorage" .. ffi.string(ffi.new("int64_t[1]", count), 8) .. "12345678"
    end
    collectgarbage()
    local before, path = live(), os.tmpname()
    for _, count in ipairs({ 2, 2 ^ 20, 2 ^ 40, 2 ^ 62, -1, -2 ^ 62 }) do
        local text = storage_file(count)
        write_all(path, text)
        local sources = {
            memory(text), disk(text), torch.PipeFile("cat " .. path),
        }
        for _, file in ipairs(sources) do
            fails("readObject: ", file.readObject, file:binary())
            equal(file:hasError(), true)
            equal(file:quiet():readObject(), nil)
        end
        fails("is no file of Torch7", torch.load, path)
    end
    check(live() - before < 64 * 2 ^ 20, "memory for a forged count")
    os.remove(path)
    for _, mode in ipairs({ "ascii", "binary" }) do
        for _, open in ipairs({ memory, disk }) do
            local file = open("1 2 3 4 5 6 7 8")
            file[mode](file)
            local s = file:quiet():readDouble(2 ^ 50)
            equal({ #s, file:hasError() }, { mode == "ascii" and 8 or 1, true })
        end
    end
    fails("read error: read 0 blocks instead of 4", function() torch.DiskFile("/tmp"):binary():readInt(4) end)
    equal(#torch.DiskFile("/dev/zero"):binary():readByte(3000000), 3000000)
end

function tests.objects()
    local x = torch.Tensor({ 3.14 })
    for _, mode in ipairs({ "ascii", "binary" }) do
        local file = torch.MemoryFile()
        file[mode](file)
        file:writeObject({ x, x })
        file:writeObject(x)
        file:seek(1)
        local r, again = file:readObject(), file:readObject()
        r[1][1] = 2.72
        equal({ r[2][1], again[1], x[1] }, { 2.72, 2.72, 3.14 })
        fails("it ends too early", file.readObject, file)
        equal(file:quiet():readObject(), nil)
    end
    -- An object is written once, unless the file does not refer to objects.
    local file = torch.MemoryFile():binary()
    local step = torch.ones(1)
    for i = 1, 2 do file:writeObject(step:fill(i)) end
    file:seek(1)
    equal({ file:readObject()[1], file:readObject()[1] }, { 1, 1 })
    file = torch.MemoryFile():binary():referenced(false)
    for i = 1, 2 do file:writeObject(step:fill(i)) end
    file:seek(1)
    equal({ file:readObject()[1], file:readObject()[1] }, { 1, 2 })
    -- Temporary objects whose memory is used again.
    file = torch.MemoryFile():binary()
    for i = 1, 50 do
        file:writeObject(torch.Tensor(1):fill(i))
        collectgarbage()
    end
    file:seek(1)
    for i = 1, 50 do check(file:readObject()[1] == i, "object " .. i) end
    equal(file:isWritableObject({}), 3)
    equal(file:isWritableObject(print), nil)
    -- After an error, the file writes the next object.
    fails("writeObject: Unwritable object <function> at here.a", file.writeObject, file, { a = print }, "here")
    file:seekEnd()
    local position = file:position()
    file:writeObject(5)
    equal(file:seek(position):readObject(), 5)
    file:writePointer(torch.pointer(x))
    equal(file:seek(position + 12):readPointer(), torch.pointer(x))
end

function tests.deep_tables()
    local deep = {}
    for _ = 1, 2000 do deep = { deep } end
    local r, depth = torch.deserialize(torch.serialize(deep)), 0
    while r[1] do r, depth = r[1], depth + 1 end
    equal(depth, 2000)
    local forged = {}
    for i = 1, 200000 do forged[i] = "\3\0\0\0" .. ffi.string(ffi.new("int32_t[2]", i, 1), 8) end
    fails("is no file of Torch7", torch.deserialize, table.concat(forged))
end

function tests.disks_without_space()
    if not io.open("/dev/full") then return check(true) end
    local file = torch.DiskFile("/dev/full", "w"):binary():noBuffer()
    fails("write error: wrote 0 blocks instead of 1", file.writeInt, file, 1)
    fails("write error: wrote 0 blocks instead of 3", file.writeString, file, "abc")
    fails("write error", file.writeObject, file, 1)
    equal(file:quiet():writeDouble(1), 0)
    file = torch.DiskFile("/dev/full", "w")
    file:writeInt(1)
    fails("close: ", file.close, file)
end

function tests.mapped_storages()
    with_path(function(path)
        write_all(path, "abcdefgh")
        local s = torch.CharStorage(path)
        equal(s:string(), "abcdefgh")
        s:fill(42)
        equal(read_all(path), "abcdefgh")
        s = torch.CharStorage(path, true)
        s[1] = 65
        equal(read_all(path), "Abcdefgh")
        equal(#torch.IntStorage(path), 2)
        equal(#torch.DoubleStorage(path, true, 4), 4)
        equal(#read_all(path), 32)
    end)
end

function tests.shared_memory()
    if ffi.os ~= "Linux" then return check(true) end
    local name = ("thorn_file_test_%d_%d"):format(os.time(), math.random(1e9))
    local path = "/dev/shm/" .. name
    local s = torch.DoubleStorage(name, true, 10, true)
    equal(#s, 10)
    equal({ io.open(path) ~= nil, io.open(name) == nil }, { true, true })
    local twin = torch.DoubleStorage(path, true, 10)
    s:fill(3)
    equal(twin[10], 3)
    twin[1] = 4
    equal(s[1], 4)
    equal(torch.DiskFile(path):binary():readDouble(), 4)
    s, twin = nil, nil
    collectgarbage()
    collectgarbage()
    torch.Tensor(1)
    equal(io.open(path), nil)
    -- Without `shared`, the name is a file.
    fails("", torch.DoubleStorage, name, false, 10, true)
end

function tests.constructors_of_storages()
    equal(torch.FloatStorage.new({ 1, 2 }), { 1, 2 })
    equal(#torch.FloatStorage().new(3), 3)
    equal(torch.type(torch.FloatStorage().new(3)), "torch.FloatStorage")
end

harness.run(tests)
