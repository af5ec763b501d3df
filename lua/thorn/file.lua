-- Torch7's files: `torch.DiskFile`, `torch.PipeFile` and `torch.MemoryFile`, classes with the parent `torch.File`.
--
-- A file is in ASCII mode at first. Failed reads and writes raise errors, or, after `quiet`, set the flag of `hasError`. Methods that set
-- something return the file. `thorn.serialize` adds `readObject`, `writeObject` and their settings.

local ffi = require("ffi")
local arguments = require("thorn.arguments")
local codec = require("thorn.file.codec")
local errors = require("thorn.errors")
local library = require("thorn.library")
local namespace = require("thorn.namespace")
local stream = require("thorn.file.stream")
local types = require("thorn.types")

local C, own_storage = library.C, library.own_storage
local torch = namespace.torch
local is_storage = arguments.is_storage

local files = {}

local File = torch.newmetatable("torch.File", nil, nil, nil, nil, torch)

-- Checks

local function is_file(x) return type(x) == "table" and type(rawget(x, "long_size")) == "number" end

-- Checks a file, open or closed.
local function any(file, name, position)
    if not is_file(file) then arguments.expected("torch.File", file, position or 1, name) end
    return file
end
files.any = any

-- Checks an open file. Returns its stream.
local function open(file, name, position)
    local s = any(file, name, position).stream
    if not s then errors.argument(position or 1, name, "attempt to use a closed file") end
    return s
end

-- Returns a check of open files with this field. The check returns the stream of the file, which is argument 1 by default.
local function check_of(field, text)
    return function(file, name, position)
        local s = open(file, name, position)
        if not file[field] then errors.argument(position or 1, name, text) end
        return s
    end
end

--- Check a file for reading, or for writing: `files.readable(file, name, [position])`. Return its stream.
local readable = check_of("is_readable", "attempt to read in a write-only file")
local writable = check_of("is_writable", "attempt to write in a read-only file")
files.readable, files.writable = readable, writable

-- Sets the flag of errors. Raises the error if the file is not quiet.
local function failed(file, name, text)
    file.has_error = true
    if not file.is_quiet then errors.raise(name .. ": " .. text) end
end

-- Checks how many elements were read or written, and returns the number.
local function all_of(file, name, verb, done, count)
    if done < count then
        local past = verb == "read" and "read" or "wrote"
        failed(file, name, ("%s error: %s %.0f blocks instead of %.0f"):format(verb, past, done, count))
    end
    return done
end

-- Settings and states

for name, state in pairs({
    ascii = { "is_binary", false }, binary = { "is_binary", true },
    autoSpacing = { "is_auto_spacing", true }, noAutoSpacing = { "is_auto_spacing", false },
    quiet = { "is_quiet", true }, pedantic = { "is_quiet", false },
    clearError = { "has_error", false },
}) do
    File[name] = function(file)
        any(file, name)[state[1]] = state[2]
        return file
    end
end

for name, field in pairs({
    isQuiet = "is_quiet", isReadable = "is_readable", isWritable = "is_writable", isBinary = "is_binary",
    isAutoSpacing = "is_auto_spacing", hasError = "has_error",
}) do
    File[name] = function(file) return any(file, name)[field] end
end

--- True until the file is closed.
function File.isOpened(file) return any(file, "isOpened").stream ~= nil end

--- The bytes of a long in binary mode: 4, 8, or 0 for the size on this computer, which is 8. Longs that do not fit into 4 bytes are write
--- errors.
function File.longSize(file, size)
    any(file, "longSize")
    if size ~= 0 and size ~= 4 and size ~= 8 then errors.argument(2, "longSize", "0, 4 or 8 expected") end
    file.long_size = size == 4 and 4 or 8
    return file
end

-- Numbers and storages

-- A storage with one element for each type.
local single = setmetatable({}, {
    __index = function(t, record)
        t[record] = own_storage(C.THStorage_newWithSize(record.code, 1))
        return t[record]
    end,
})

--- Reads a number of the type with this record. Returns nil if the file has none.
function files.get(file, record)
    local handle = single[record].handle
    if codec.read(file, handle, 1) == 0 then return nil end
    return record.read(handle, 0)
end

--- Writes a number of the type with this record. Returns if it was written.
function files.put(file, record, value)
    local handle = single[record].handle
    record.write(handle, 0, value)
    return codec.write(file, handle, 1) == 1
end

local function is_number(x) return type(x) == "number" or ffi.istype("int64_t", x) or ffi.istype("uint64_t", x) end

local function is_of(record, x) return is_storage(x) and types[x.handle.dtype] == record end

-- Makes readInt() -> number, readInt(n) -> storage, readInt(storage) -> count.
local function reader(record, name)
    return function(file, x)
        readable(file, name)
        if x == nil then
            local value = files.get(file, record)
            all_of(file, name, "read", value and 1 or 0, 1)
            return value or 0
        elseif type(x) == "number" then
            local count = arguments.integer(x, 2, name)
            if count < 0 then errors.argument(2, name, "a count is not negative") end
            local s = own_storage(C.THStorage_new(record.code), name)
            all_of(file, name, "read", codec.fill(file, s, count), count)
            return s
        elseif is_of(record, x) then
            local count = tonumber(x.handle.size)
            return all_of(file, name, "read", codec.read(file, x.handle, count), count)
        end
        arguments.expected("nothing, number or " .. record.storage_name, x, 2, name)
    end
end

-- Makes writeInt(number) and writeInt(storage), which return the number of written elements.
local function writer(record, name)
    return function(file, x)
        writable(file, name)
        if is_number(x) then return all_of(file, name, "write", files.put(file, record, x) and 1 or 0, 1) end
        if not is_of(record, x) then arguments.expected("number or " .. record.storage_name, x, 2, name) end
        local count = tonumber(x.handle.size)
        return all_of(file, name, "write", codec.write(file, x.handle, count), count)
    end
end

for _, record in ipairs(types.all) do
    if record.short ~= "Bool" then
        local read, write = "read" .. record.short, "write" .. record.short
        File[read], File[write] = reader(record, read), writer(record, write)
    end
end

--- Reads an Int. True if it is 1.
function File.readBool(file) return file:readInt() == 1 end

--- Writes the Int 1 for a true value, 0 for false and nil.
function File.writeBool(file, value) return file:writeInt(value and 1 or 0) end

-- An address is a Long.
File.readPointer, File.writePointer = File.readLong, File.writeLong

-- Text

--- Reads the next line for "*l", without its end, or all remaining bytes for "*a".
function File.readString(file, format)
    local s = readable(file, "readString")
    local kind = type(format) == "string" and format:match("^%*([al])")
    if not kind then errors.argument(2, "readString", "'*a' or '*l' expected") end
    local text
    if kind == "a" then text = s:rest() else text = s:line() end
    if not text then failed(file, "readString", "read error: read 0 blocks instead of 1") end
    return text or ""
end

--- Writes the bytes of a string. Returns the number of written bytes.
function File.writeString(file, text)
    local s = writable(file, "writeString")
    if type(text) ~= "string" then arguments.expected("string", text, 2, "writeString") end
    return all_of(file, "writeString", "write", s:write(text, #text), #text)
end

-- Positions

--- The position of the next byte, from 1.
function File.position(file)
    local position = open(file, "position"):position()
    if not position then failed(file, "position", "the file has no positions") end
    return (position or 0) + 1
end

--- Moves to a position, from 1.
function File.seek(file, position)
    local s = open(file, "seek")
    position = arguments.integer(position, 2, "seek")
    if position < 1 then errors.argument(2, "seek", "position has to be greater than 0") end
    if not s:seek(position - 1) then failed(file, "seek", ("unable to seek to position %.0f"):format(position)) end
    return file
end

--- Moves to the end.
function File.seekEnd(file)
    if not open(file, "seekEnd"):seek_end() then failed(file, "seekEnd", "unable to seek at end of file") end
    return file
end

--- Passes written bytes to the system.
function File.synchronize(file)
    if not open(file, "synchronize"):flush() then failed(file, "synchronize", "write error") end
    return file
end

--- Closes the file.
function File.close(file)
    local closed, message = open(file, "close"):close()
    file.stream, file.written, file.objects = nil, nil, nil
    if not closed then failed(file, "close", tostring(message)) end
    return file
end

-- Constructors

-- Makes a file of the class with this metatable. `letters` has "r" for a file that is read and "w" for one that is written.
local function new(metatable, bytes, name, letters, is_quiet)
    return setmetatable({
        stream = bytes, name = name,
        is_readable = letters:find("r") ~= nil, is_writable = letters:find("w") ~= nil,
        is_quiet = is_quiet or false, has_error = false,
        is_binary = false, is_auto_spacing = true, is_swapped = false, long_size = 8,
        -- Fields of thorn.serialize.
        is_copying = false, is_busy = false, has_warned = false, count = 0, written = {}, objects = {},
    }, metatable)
end

local DiskFile, PipeFile, MemoryFile

local MODES = { r = true, w = true, rw = true }

local function mode_of(mode, position, name, default)
    mode = mode or default
    if not MODES[mode] or mode == "rw" and name == "PipeFile" then
        errors.argument(position, name, name == "PipeFile" and "'r' or 'w' expected" or "'r', 'w' or 'rw' expected")
    end
    return mode
end

--- Opens a file of the system. Returns the file, or nil and the reason.
function files.open_disk(name, mode)
    local handle, message = io.open(name, mode == "w" and "wb" or mode == "r" and "rb" or "r+b")
    -- A file that is missing is made, and one that exists stays.
    if not handle and mode == "rw" then
        handle, message = io.open(name, "ab")
        if handle then
            handle:close()
            handle, message = io.open(name, "r+b")
        end
    end
    if not handle then return nil, message end
    return new(DiskFile, stream.disk(handle), name, mode)
end

--- Makes a file of a CharStorage, whose first `size` bytes are its content.
function files.open_memory(storage, size, mode) return new(MemoryFile, stream.memory(storage, size), "memory", mode) end

local function construct_disk(name, mode, is_quiet)
    if type(name) ~= "string" then arguments.expected("string", name, 1, "DiskFile") end
    mode = mode_of(mode, 2, "DiskFile", "r")
    local file, message = files.open_disk(name, mode)
    if file then file.is_quiet = is_quiet or false end
    if not file and not is_quiet then errors.raise(("DiskFile: cannot open <%s> in mode %s (%s)"):format(name, mode, message)) end
    return file
end

local function construct_pipe(command, mode, is_quiet)
    if type(command) ~= "string" then arguments.expected("string", command, 1, "PipeFile") end
    mode = mode_of(mode, 2, "PipeFile", "r")
    local handle, message = io.popen(command, mode)
    if handle then return new(PipeFile, stream.disk(handle), command, mode, is_quiet) end
    if not is_quiet then errors.raise(("PipeFile: cannot open <%s> in mode %s (%s)"):format(command, mode, tostring(message))) end
end

local function construct_memory(first, second)
    if not is_storage(first) then
        local storage = torch.CharStorage(1):fill(0)
        return files.open_memory(storage, 0, mode_of(first, 1, "MemoryFile", "rw"))
    end
    if types[first.handle.dtype].short ~= "Char" then arguments.expected("torch.CharStorage", first, 1, "MemoryFile") end
    local size = tonumber(first.handle.size)
    if size == 0 or first[size] ~= 0 then errors.argument(1, "MemoryFile", "the last character of the storage has to be 0") end
    return files.open_memory(first, size - 1, mode_of(second, 2, "MemoryFile", "rw"))
end

--- Opens a file: `torch.DiskFile(name, ["r"|"w"|"rw"], [quiet])`. "r" is the default. With "rw", a missing file is made. If `quiet` is true
--- and the file cannot be opened, returns nil.
DiskFile = torch.newmetatable("torch.DiskFile", "torch.File", construct_disk, nil, nil, torch)

--- Runs a command, and reads its output or writes its input: `torch.PipeFile(command, ["r"|"w"], [quiet])`.
PipeFile = torch.newmetatable("torch.PipeFile", "torch.DiskFile", construct_pipe, nil, nil, torch)

--- Makes a file in memory: `torch.MemoryFile([mode])`, or over a CharStorage with a zero at its end: `torch.MemoryFile(storage, [mode])`.
--- "rw" is the default.
MemoryFile = torch.newmetatable("torch.MemoryFile", "torch.File", construct_memory, nil, nil, torch)

-- Methods of one class

local function set_swapped(name, swapped)
    DiskFile[name] = function(file)
        open(file, name)
        file.is_swapped = swapped
        return file
    end
end

local is_little = ffi.abi("le")
set_swapped("nativeEndianEncoding", false)
set_swapped("littleEndianEncoding", not is_little)
set_swapped("bigEndianEncoding", is_little)

--- True if the first byte of a number in memory is the lowest.
function DiskFile.isLittleEndianCPU() return is_little end

--- True if the first byte of a number in memory is the highest.
function DiskFile.isBigEndianCPU() return not is_little end

--- Turns off the buffer of the file, before anything was read or written.
function DiskFile.noBuffer(file)
    if not open(file, "noBuffer"):unbuffer() then errors.raise("noBuffer: cannot disable the buffer") end
    return file
end

--- The CharStorage of the file, not a copy: the bytes of the file and a zero.
function MemoryFile.storage(file) return open(file, "storage"):data() end

-- Names

-- Returns "[status: open -- mode: r ]".
local function status(file, separator)
    return ("[status: %s -- mode%s %s%s]"):format(file.stream and "open" or "closed", separator, file.is_readable and "r" or " ",
        file.is_writable and "w" or " ")
end

function DiskFile.__tostring__(file) return ("torch.DiskFile on <%s> %s"):format(file.name, status(file, "")) end

function PipeFile.__tostring__(file) return ("torch.PipeFile on <%s> %s"):format(file.name, status(file, ":")) end

function MemoryFile.__tostring__(file) return "torch.MemoryFile " .. status(file, ":") end

--- The metatable of all files.
files.File = File

return files
