-- Torch7's files: torch.save, torch.load, torch.serialize, torch.deserialize, in the modes 'binary' and 'ascii'.
--
-- An object is a kind and its content: nil, a number, a string, a boolean, a table of keys and values, or a Torch7 object, here a tensor or
-- a storage. Tables and Torch7 objects are numbered, and a second reference to one is only its number, so tensors that share a storage
-- share it again when they are read. An object of a class that the program lacks is read as a table whose metatable names the class in
-- `__typename`. Functions are neither written nor read, because they would be compiled code, and a broken file could end the process.

local ffi = require("ffi")
local arguments = require("thorn.arguments")
local class = require("thorn.class")
local construct = require("thorn.construct")
local errors = require("thorn.errors")
local library = require("thorn.library")
local namespace = require("thorn.namespace")
local number = require("thorn.number")
local types = require("thorn.types")

local C, own, own_storage = library.C, library.own, library.own_storage
local torch = namespace.torch
local is_tensor, is_storage = arguments.is_tensor, arguments.is_storage

local function is_generator(x) return ffi.istype(library.Generator, x) end

local NIL, NUMBER, STRING, TABLE, TORCH, BOOLEAN = 0, 1, 2, 3, 4, 5
local FUNCTIONS = { [6] = true, [7] = true, [8] = true }

-- The number of bytes that are read or written at once.
local CHUNK = 2 ^ 20

local int_array, long_array, double_array = ffi.typeof("int32_t[1]"), ffi.typeof("int64_t[1]"), ffi.typeof("double[1]")

-- Encodings. A writer converts numbers, bytes and elements to pieces of the file, and passes them to `put`.

local function binary_writer(put)
    local writer = {}
    function writer.int(x) put(ffi.string(int_array(x), 4)) end
    function writer.long(x) put(ffi.string(long_array(x), 8)) end
    function writer.double(x) put(ffi.string(double_array(x), 8)) end
    function writer.bytes(text) put(text) end
    function writer.longs(list)
        for _, x in ipairs(list) do writer.long(x) end
    end
    function writer.elements(storage, record)
        local data, left = ffi.cast("const char *", storage.data), tonumber(storage.size) * record.size
        while left > 0 do
            local length = math.min(left, CHUNK)
            put(ffi.string(data, length))
            data, left = data + length, left - length
        end
    end
    return writer
end

-- The number of digits that identify all floats of a type. Integers need fewer.
local function digits(record)
    if record.integral then return "%.0f" end
    return record.short == "Double" and "%.17g" or "%.9g"
end

local function ascii_writer(put)
    local writer = {}
    function writer.int(x) put(("%d\n"):format(x)) end
    writer.long = writer.int
    function writer.double(x) put(("%.17g\n"):format(x)) end
    function writer.bytes(text) put(text .. "\n") end
    function writer.longs(list)
        if #list > 0 then put(table.concat(list, " ") .. "\n") end
    end
    function writer.elements(storage, record)
        local count = tonumber(storage.size)
        if count == 0 then return end
        -- Bytes and characters are written unchanged.
        if record.short == "Byte" or record.short == "Char" then return put(ffi.string(storage.data, count) .. "\n") end
        local text, format = {}, digits(record)
        for i = 0, count - 1 do
            local long = record.short == "Long"
            text[#text + 1] = long and tostring(C.THStorage_getLong(storage, i)):match("%-?%d+")
                or format:format(record.read(storage, i))
        end
        put(table.concat(text, " ") .. "\n")
    end
    return writer
end

-- A reader gets its bytes from `take(n)`, which returns n bytes. `left()` returns the number of the remaining ones.

local function broken(what) error({ broken = what }, 0) end

local function need(source, bytes)
    if not (bytes >= 0 and bytes <= source.left()) then broken("it ends too early") end
    return bytes
end

local function binary_reader(source)
    local reader = { source = source }
    local function whole(pointer, size)
        return function()
            local text = source.take(need(source, size))
            return tonumber(ffi.cast(pointer, ffi.cast("const char *", text))[0])
        end
    end
    reader.int = whole(ffi.typeof("const int32_t *"), 4)
    reader.long = whole(ffi.typeof("const int64_t *"), 8)
    function reader.double()
        local text = source.take(need(source, 8))
        return number.read_double(ffi.cast("const double *", ffi.cast("const char *", text)), 0)
    end
    function reader.bytes(count) return source.take(need(source, count)) end
    function reader.elements(count, record)
        need(source, count * record.size)
        local s = own_storage(C.THStorage_newWithSize(record.code, count))
        local done = 0
        while done < count * record.size do
            local text = source.take(math.min(count * record.size - done, CHUNK))
            ffi.copy(ffi.cast("char *", s.handle.data) + done, text, #text)
            done = done + #text
        end
        return s
    end
    return reader
end

local function ascii_reader(source)
    local reader, text, at = { source = source }, source.take(source.left()), 1
    local function number()
        local first, last = text:find("^%s*[^%s]+", at)
        local x = first and tonumber(text:sub(first, last))
        if not x then broken("a number is missing at byte " .. at - 1) end
        at = last + 1
        return x
    end
    -- Skips the end of the line after a value.
    local function line_end()
        if text:sub(at, at) == "\n" then at = at + 1 end
    end
    local function scalar()
        local x = number()
        line_end()
        return x
    end
    reader.int, reader.long, reader.double = scalar, scalar, scalar
    function reader.bytes(count)
        if not (count >= 0 and count <= #text - at + 1) then broken("it ends too early") end
        local bytes = text:sub(at, at + count - 1)
        at = at + count
        line_end()
        return bytes
    end
    local function bytes_of(s, count)
        if count > 0 then ffi.copy(s.handle.data, reader.bytes(count), count) end
    end
    function reader.elements(count, record)
        -- An element takes at least a byte.
        if not (count >= 0 and count <= #text - at + 1) then broken("it ends too early") end
        local s = own_storage(C.THStorage_newWithSize(record.code, count))
        if record.short == "Byte" or record.short == "Char" then
            bytes_of(s, count)
        else
            for i = 0, count - 1 do record.write(s.handle, i, number()) end
            if count > 0 then line_end() end
        end
        return s
    end
    return reader
end

-- Objects

-- Returns the key of an object in the table of numbers: a table itself, or the address of a tensor's or storage's structure.
local function identity(object)
    if type(object) == "table" then return object end
    return tonumber(ffi.cast("intptr_t", object.handle))
end

local write_object

local function write_string(writer, text)
    writer.int(#text)
    writer.bytes(text)
end

local function write_tensor(writer, seen, t)
    local sizes, strides = {}, {}
    for d = 1, arguments.dimensions(t) do
        sizes[d], strides[d] = tonumber(t.handle.size[d - 1]), tonumber(t.handle.stride[d - 1])
    end
    writer.int(#sizes)
    writer.longs(sizes)
    writer.longs(strides)
    writer.long(tonumber(t.handle.storageOffset) + 1)
    write_object(writer, seen, t:storage())
end

local function write_torch(writer, seen, object)
    write_string(writer, "V 1")
    write_string(writer, arguments.typename(object))
    if is_tensor(object) then return write_tensor(writer, seen, object) end
    if is_generator(object) then return writer.bytes(torch.getRNGState(object):storage():string()) end
    writer.long(tonumber(object.handle.size))
    writer.elements(object.handle, types[object.handle.dtype])
end

local function write_table(writer, seen, object)
    local count = 0
    for _ in pairs(object) do count = count + 1 end
    writer.int(count)
    for key, value in pairs(object) do
        write_object(writer, seen, key)
        write_object(writer, seen, value)
    end
end

-- Writes a numbered object: its number, and the first time also its content.
local function write_numbered(writer, seen, kind, object, write)
    writer.int(kind)
    local key = identity(object)
    if seen[key] then return writer.int(seen[key]) end
    seen.count = seen.count + 1
    seen[key] = seen.count
    writer.int(seen.count)
    write(writer, seen, object)
end

local function write_class(writer, seen, object)
    write_string(writer, "V 1")
    write_string(writer, arguments.typename(object))
    writer.int(TABLE)
    seen.count = seen.count + 1
    writer.int(seen.count)
    write_table(writer, seen, object)
end

function write_object(writer, seen, object)
    if object == nil then
        writer.int(NIL)
    elseif type(object) == "number" then
        writer.int(NUMBER)
        writer.double(object)
    elseif type(object) == "string" then
        writer.int(STRING)
        write_string(writer, object)
    elseif type(object) == "boolean" then
        writer.int(BOOLEAN)
        writer.int(object and 1 or 0)
    elseif is_tensor(object) or is_storage(object) or is_generator(object) then
        write_numbered(writer, seen, TORCH, object, write_torch)
    elseif type(object) == "table" and arguments.typename(object) ~= "table" then
        write_numbered(writer, seen, TORCH, object, write_class)
    elseif type(object) == "table" then
        write_numbered(writer, seen, TABLE, object, write_table)
    else
        error({ broken = "a " .. arguments.typename(object) .. " cannot be written" }, 0)
    end
end

local read_object

local function read_string(reader) return reader.bytes(reader.int()) end

-- Reads a list with an entry for each of the tensor's dimensions.
local function read_list(reader, count)
    local list = {}
    for d = 1, count do
        local x = reader.long()
        if not (x >= 0 and x == math.floor(x)) then broken("a tensor has a size or stride of " .. x) end
        list[d] = x
    end
    return list
end

-- Makes a tensor over a storage, after a check that its elements are inside the storage.
local function tensor_on(record, storage, sizes, strides, offset)
    local last, list = offset, torch.LongStorage(sizes)
    for d, size in ipairs(sizes) do last = last + (size - 1) * strides[d] end
    local has_elements = #sizes > 0
    for _, size in ipairs(sizes) do has_elements = has_elements and size > 0 end
    if not has_elements then return own(C.THTensor_newWithDtype(record.code)) end
    if not is_storage(storage) or types[storage.handle.dtype] ~= record then broken("a tensor has no storage of its type") end
    if offset < 0 or last >= tonumber(storage.handle.size) then broken("a tensor reaches beyond its storage") end
    return construct.new(record, storage, offset + 1, list, torch.LongStorage(strides))
end

local function read_tensor(reader, seen, index, record)
    local count = reader.int()
    if not (count >= 0 and count <= arguments.MAX_DIMENSIONS) then broken("a tensor has " .. count .. " dimensions") end
    local sizes, strides = read_list(reader, count), read_list(reader, count)
    local offset = reader.long() - 1
    seen[index] = tensor_on(record, read_object(reader, seen), sizes, strides, offset)
    return seen[index]
end

-- Fills a table with the keys and values that follow in the file.
local function read_table(reader, seen, t)
    local count = reader.int()
    for _ = 1, count do
        local key = read_object(reader, seen)
        local value = read_object(reader, seen)
        if key == nil or key ~= key then broken("a key of a table is nil or not a number") end
        t[key] = value
    end
    return t
end

-- The bytes of the state of Torch7's generator.
local GENERATOR_SIZE = 5048

local function read_generator(reader)
    local generator, state = torch.Generator(), torch.ByteStorage():string(reader.bytes(GENERATOR_SIZE))
    torch.setRNGState(generator, torch.ByteTensor(state))
    return generator
end

local function read_torch(reader, seen, index)
    local name = read_string(reader)
    -- Files of the first version begin with the class name.
    if name:match("^V %d+$") then name = read_string(reader) end
    local tensor, storage = types.of_tensor[name], types.of_storage[name]
    if tensor then return read_tensor(reader, seen, index, tensor) end
    if storage then
        local size = reader.long()
        seen[index] = reader.elements(size, storage)
        return seen[index]
    end
    if name == "torch.Generator" then
        seen[index] = read_generator(reader)
        return seen[index]
    end
    local object = setmetatable({}, class.metatable(name) or { __typename = name })
    seen[index] = object
    local fields = read_object(reader, seen)
    if type(fields) ~= "table" then broken("an object of class " .. name .. " has no fields") end
    for key, value in pairs(fields) do rawset(object, key, value) end
    return object
end

function read_object(reader, seen)
    local kind = reader.int()
    if kind == NIL then return nil end
    if kind == NUMBER then return reader.double() end
    if kind == STRING then return read_string(reader) end
    if kind == BOOLEAN then return reader.int() ~= 0 end
    if FUNCTIONS[kind] then broken("it has a function, which is not read") end
    if kind ~= TABLE and kind ~= TORCH then broken("there is no kind of object " .. kind) end
    local index = reader.int()
    if seen[index] ~= nil then return seen[index] end
    if kind == TORCH then return read_torch(reader, seen, index) end
    seen[index] = {}
    return read_table(reader, seen, seen[index])
end

-- Files and strings

local WRITERS = { binary = binary_writer, ascii = ascii_writer }
local READERS = { binary = binary_reader, ascii = ascii_reader }

local function mode_of(table_of_modes, mode, position, name)
    local make = table_of_modes[mode or "binary"]
    if not make then errors.argument(position, name, "'binary' or 'ascii' expected") end
    return make
end

-- Returns the text of an error that reading or writing has raised.
local function reason(problem) return type(problem) == "table" and problem.broken or tostring(problem) end

-- Reads one object. Returns true and the object, or false and the reason.
local function read(reader_of, source, what)
    local ok, object = pcall(function() return read_object(reader_of(source), {}) end)
    if ok then return true, object end
    return false, what .. " is no file of Torch7: " .. reason(object)
end

--- Returns the object as a string: `torch.serialize(object, ['binary'|'ascii'])`.
function torch.serialize(object, mode)
    local pieces = {}
    local writer = mode_of(WRITERS, mode, 2, "serialize")(function(piece) pieces[#pieces + 1] = piece end)
    local ok, problem = pcall(write_object, writer, { count = 0 }, object)
    if not ok then errors.raise("serialize: " .. reason(problem)) end
    return table.concat(pieces)
end

--- Returns the object in a string of `torch.serialize`: `torch.deserialize(text, ['binary'|'ascii'])`.
function torch.deserialize(text, mode)
    if type(text) ~= "string" then arguments.expected("string", text, 1, "deserialize") end
    local at = 1
    local source = {}
    function source.left() return #text - at + 1 end
    function source.take(count)
        at = at + count
        return text:sub(at - count, at - 1)
    end
    local ok, object = read(mode_of(READERS, mode, 2, "deserialize"), source, "the string")
    if not ok then errors.raise("deserialize: " .. object) end
    return object
end

--- As `serialize`, in a CharStorage.
function torch.serializeToStorage(object, mode) return torch.CharStorage():string(torch.serialize(object, mode)) end

--- Returns the object in a CharStorage of `serializeToStorage`.
function torch.deserializeFromStorage(storage, mode)
    return torch.deserialize(arguments.storage(storage, 1, "deserializeFromStorage"):string(), mode)
end

--- Writes the object to a file, which is replaced once all is written: `torch.save(filename, object, ['binary'|'ascii'])`.
function torch.save(filename, object, mode)
    if type(filename) ~= "string" then arguments.expected("string", filename, 1, "save") end
    local make = mode_of(WRITERS, mode, 3, "save")
    local temporary = filename .. ".part"
    local file, message = io.open(temporary, "wb")
    if not file then errors.raise("save: " .. message) end
    local ok, problem = pcall(write_object, make(function(piece) assert(file:write(piece)) end), { count = 0 }, object)
    local closed, close_message = file:close()
    if ok and closed then ok, problem = os.rename(temporary, filename) end
    if not (ok and closed) then
        os.remove(temporary)
        errors.raise("save: " .. reason(problem or close_message))
    end
end

--- Reads an object from a file: `torch.load(filename, ['binary'|'ascii'])`.
function torch.load(filename, mode)
    if type(filename) ~= "string" then arguments.expected("string", filename, 1, "load") end
    local reader_of = mode_of(READERS, mode, 2, "load")
    local file, message = io.open(filename, "rb")
    if not file then errors.raise("load: " .. message) end
    local size, at = file:seek("end") or 0, 0
    file:seek("set", 0)
    local source = {}
    function source.left() return size - at end
    function source.take(count)
        local text = count == 0 and "" or file:read(count)
        if not text or #text ~= count then broken("it ends too early") end
        at = at + count
        return text
    end
    local ok, object = read(reader_of, source, filename)
    file:close()
    if not ok then errors.raise("load: " .. object) end
    return object
end
