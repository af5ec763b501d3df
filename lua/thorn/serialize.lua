-- Torch7's objects in files: `readObject` and `writeObject` of files, torch.save, torch.load, torch.serialize, torch.deserialize.
--
-- An object is a kind and its content: nil, a number, a string, a boolean, a table of keys and values, a function, or a Torch7 object: a
-- tensor, a storage, a generator or an object of a class. Tables, functions and Torch7 objects are numbered, and a second reference to one
-- is only its number, so tensors that share a storage share it again when they are read. A Torch7 object is the version and the name of its
-- class, and what the method `write` of the class writes. Without this method, it is the table of its fields.
--
-- Functions are compiled code, which could end the process. They are written, but not loaded: a function that raises an error takes their
-- place. An object of a class that the program lacks is read as a table whose metatable names the class in `__typename`.

local ffi = require("ffi")
local arguments = require("thorn.arguments")
local class = require("thorn.class")
local codec = require("thorn.file.codec")
local errors = require("thorn.errors")
local files = require("thorn.file")
local library = require("thorn.library")
local namespace = require("thorn.namespace")
local types = require("thorn.types")

local C, check = library.C, library.check
local torch, File = namespace.torch, files.File
local is_tensor, is_storage = arguments.is_tensor, arguments.is_storage

local NIL, NUMBER, STRING, TABLE, TORCH, BOOLEAN = 0, 1, 2, 3, 4, 5
-- Functions without a number, of an older version of the format, and of the present one.
local PLAIN_FUNCTION, OLD_FUNCTION, FUNCTION = 6, 7, 8

local INT, LONG, DOUBLE = types[C.TH_INT32], types[C.TH_INT64], types[C.TH_FLOAT64]

-- Errors of files have a table as value. The outermost call adds the name of the function and of the file.

local Broken = { __tostring = function(problem) return problem.broken end }

local function broken(what) error(setmetatable({ broken = what }, Broken), 0) end

-- Calls `f` for a file. Returns true and the result, or false and the error. `f` may call functions of the same file.
local function outermost(file, f, a, b)
    file.is_busy, file.path = true, {}
    local ok, result = pcall(f, file, a, b)
    file.is_busy = false
    return ok, result
end

-- Returns a function of a file for the program, which calls `f` with the same arguments. The outermost call raises the errors of files with
-- its `name`, or sets the flag of a quiet file. `check_file` checks argument `position`, the file.
local function guarded(name, f, check_file, position)
    return function(file, a, b)
        check_file(file, name, position)
        if file.is_busy then return f(file, a, b) end
        local ok, result = outermost(file, f, a, b)
        if ok then return result end
        file.has_error = true
        if getmetatable(result) ~= Broken then error(result, 0) end
        if not file.is_quiet then errors.raise(name .. ": " .. result.broken) end
    end
end

local function ends_early(file) broken(file.is_binary and "it ends too early" or "it ends too early, or a number is missing") end

local function get(file, record)
    local x = files.get(file, record)
    if not x then ends_early(file) end
    return x
end

local function get_text(file)
    local count = get(file, INT)
    if count < 0 then broken("a string has " .. count .. " bytes") end
    return codec.read_text(file, count) or ends_early(file)
end

local function put(file, record, x)
    if not files.put(file, record, x) then broken("write error") end
end

local function put_text(file, text)
    put(file, INT, #text)
    if not codec.write_text(file, text) then broken("write error") end
end

-- Settings

--- With `false`, each object is written as a new one, and a second reference is written as a copy. Without an argument, as with `false`.
function File.referenced(file, is_referenced)
    files.any(file, "referenced").is_copying = not is_referenced
    return file
end

--- False after `referenced(false)`.
function File.isReferenced(file) return not files.any(file, "isReferenced").is_copying end

-- Kinds

local KINDS = { ["nil"] = NIL, number = NUMBER, string = STRING, boolean = BOOLEAN, table = TABLE }

-- Returns the kind of an object, nil if it cannot be written. For a function, also returns its code.
local function kind_of(object)
    local lua_type = type(object)
    if lua_type == "function" then
        local ok, code = pcall(string.dump, object)
        if ok then return FUNCTION, code end
        return nil
    end
    local is_plain = lua_type ~= "cdata" and (lua_type ~= "table" or debug.getmetatable(object) == nil)
    if is_plain then return KINDS[lua_type] end
    local name = torch.typename(object)
    if not name then return KINDS[lua_type] end
    -- Classes without a factory, such as files, have no objects in files.
    if torch.factory(name) or not class.metatable(name) then return TORCH end
end

--- Returns the number of the object's kind in files, or nil if the object cannot be written.
function File.isWritableObject(_, object) return (kind_of(object)) end

-- Returns the method "read" or "write" of the class or type with this name.
local function method_of(name, which)
    local metatable = class.metatable(name)
    local method = metatable and (metatable["__" .. which] or metatable[which])
    return type(method) == "function" and method or nil
end

-- Writing

-- Returns the key of an object in the table of numbers: the address of a tensor's or storage's structure, or the object itself.
local function identity(object)
    if is_tensor(object) or is_storage(object) then return tonumber(ffi.cast("intptr_t", object.handle)) end
    return object
end

local write_object

local function write_table(file, t)
    local count = 0
    for _ in pairs(t) do count = count + 1 end
    put(file, INT, count)
    for key, value in pairs(t) do
        write_object(file, key)
        write_object(file, value, (type(key) == "string" or type(key) == "number") and tostring(key) or nil)
    end
end

-- Writes a number for an object that is written once only.
local function write_index(file)
    file.count = file.count + 1
    put(file, INT, file.count)
    return file.count
end

-- Writes the code of a function, and its upvalues: a list of tables with `name` and `value`.
local function write_function(file, f, code)
    put_text(file, code)
    put(file, INT, TABLE)
    write_index(file)
    local count = debug.getinfo(f, "u").nups
    put(file, INT, count)
    for i = 1, count do
        local name, value = debug.getupvalue(f, i)
        write_object(file, i)
        put(file, INT, TABLE)
        write_index(file)
        put(file, INT, value == nil and 1 or 2)
        write_object(file, "name")
        write_object(file, name)
        if value ~= nil then
            write_object(file, "value")
            write_object(file, value, name)
        end
    end
end

-- Returns the fields of an object that can be written.
local function fields_of(object)
    local fields = {}
    for key, value in pairs(object) do
        if kind_of(value) then
            fields[key] = value
        else
            io.stderr:write(("torch: the field <%s> of a <%s> cannot be written\n"):format(tostring(key), torch.typename(object)))
        end
    end
    return fields
end

local function write_torch(file, object)
    local name = torch.typename(object)
    local metatable = class.metatable(name)
    put_text(file, "V " .. (metatable and tonumber(metatable.__version) or 1))
    put_text(file, name)
    local write = method_of(name, "write")
    if write then
        write(object, file)
    elseif type(object) == "table" then
        write_object(file, fields_of(object), name)
    else
        broken(("<%s> is a non-serializable Torch object"):format(name))
    end
end

local WRITERS = { [TABLE] = write_table, [FUNCTION] = write_function, [TORCH] = write_torch }

-- `name` is the name of the object in messages. The list `path` of the file has the names of the objects that contain it.
function write_object(file, object, name)
    local kind, code = kind_of(object)
    name = name or "<?>"
    if not kind then
        local path = table.concat(file.path, ".")
        broken(("Unwritable object <%s> at %s"):format(type(object), path == "" and name or path .. "." .. name))
    end
    put(file, INT, kind)
    if kind == NUMBER then
        put(file, DOUBLE, object)
    elseif kind == STRING then
        put_text(file, object)
    elseif kind == BOOLEAN then
        put(file, INT, object and 1 or 0)
    elseif kind ~= NIL then
        local key = identity(object)
        local index = not file.is_copying and file.written[key]
        if index then return put(file, INT, index.number) end
        index = write_index(file)
        -- The entry keeps the object, so that its address remains its own.
        if not file.is_copying then file.written[key] = { number = index, object = object } end
        file.path[#file.path + 1] = name
        WRITERS[kind](file, object, code)
        file.path[#file.path] = nil
    end
end

local function write_elements(file, storage)
    local count = #storage
    if codec.write(file, storage.handle, count) < count then broken("write error") end
end

local write_storage = guarded("write", function(file, s)
    put(file, LONG, #s)
    write_elements(file, s)
end, files.writable, 2)

local write_tensor = guarded("write", function(file, t)
    put(file, INT, arguments.dimensions(t))
    write_elements(file, t:size())
    write_elements(file, t:stride())
    put(file, LONG, t:storageOffset())
    file:writeObject(t:storage())
end, files.writable, 2)

--- Writes the number of elements and the elements: `storage:write(file)`.
function namespace.storage_methods.write(s, file) write_storage(file, arguments.storage(s, 1, "write")) end

--- Writes the dimensions, sizes, strides, the offset from 1, and the storage: `tensor:write(file)`.
function namespace.methods.write(t, file) write_tensor(file, arguments.tensor(t, 1, "write")) end

local Generator = torch.getmetatable("torch.Generator")

--- Writes the state of the generator.
function Generator.write(generator, file) file:writeByte(torch.getRNGState(generator):storage()) end

-- Reading

-- Gives a storage `count` elements of the file.
local function read_elements(file, storage, count)
    if count < 0 then broken(("a storage has %.0f elements"):format(count)) end
    if codec.fill(file, storage, count) < count then ends_early(file) end
    return storage
end

-- Returns a LongStorage with an entry for each of the tensor's dimensions.
local function read_list(file, count)
    local list = read_elements(file, torch.LongStorage(), count)
    for d = 1, count do
        if list[d] < 0 then broken(("a tensor has a size or stride of %.0f"):format(list[d])) end
    end
    return list
end

-- Makes the tensor a view of a storage, after a check that its elements are inside the storage.
local function set(t, storage, sizes, strides, offset)
    local last, has_elements = offset, #sizes > 0
    for d = 1, #sizes do
        last = last + (sizes[d] - 1) * strides[d]
        has_elements = has_elements and sizes[d] > 0
    end
    if not has_elements then return t:set() end
    if not is_storage(storage) or storage.handle.dtype ~= t.handle.dtype then broken("a tensor has no storage of its type") end
    if offset < 0 or last >= tonumber(storage.handle.size) then broken("a tensor reaches beyond its storage") end
    local function longs(s) return ffi.cast("int64_t *", s.handle.data) end
    check(C.THTensor_setStorage(t.handle, storage.handle, offset, #sizes, longs(sizes), longs(strides)), "read")
end

local read_storage = guarded("read", function(file, s) read_elements(file, s, get(file, LONG)) end, files.readable, 2)

local read_tensor = guarded("read", function(file, t)
    local count = get(file, INT)
    if not (count >= 0 and count <= arguments.MAX_DIMENSIONS) then broken("a tensor has " .. count .. " dimensions") end
    local sizes, strides = read_list(file, count), read_list(file, count)
    local offset = get(file, LONG) - 1
    set(t, file:readObject(), sizes, strides, offset)
end, files.readable, 2)

--- Reads the number of elements and the elements, which become the content of the storage: `storage:read(file)`.
function namespace.storage_methods.read(s, file) read_storage(file, arguments.storage(s, 1, "read")) end

--- Reads what `write` has written, and makes the tensor a view of the storage in the file: `tensor:read(file)`.
function namespace.methods.read(t, file) read_tensor(file, arguments.tensor(t, 1, "read")) end

-- The bytes of the state of Torch7's generator.
local GENERATOR_SIZE = 5048

--- Reads the state of the generator.
function Generator.read(generator, file)
    torch.setRNGState(generator, torch.ByteTensor(read_elements(file, torch.ByteStorage(), GENERATOR_SIZE)))
end

-- Makes an empty object of a type or class, which the program need not have.
local function make(name)
    local factory = torch.factory(name)
    if factory then return factory() end
    if class.metatable(name) then broken("objects of class " .. name .. " are not read") end
    return setmetatable({}, { __typename = name })
end

local read_object

local function read_torch(file, index)
    local name, version = get_text(file), 0
    -- Files of the first version begin with the name of the class.
    local digits = name:match("^V (%d+)$")
    if digits then name, version = get_text(file), tonumber(digits) end
    local object = make(name)
    file.objects[index] = object
    local read = method_of(name, "read")
    if read then
        read(object, file, version)
        return object
    end
    local fields = read_object(file)
    if type(fields) ~= "table" then broken("an object of class " .. name .. " has no fields") end
    for key, value in pairs(fields) do rawset(object, key, value) end
    return object
end

local function read_table(file, index)
    local t = {}
    file.objects[index] = t
    for _ = 1, get(file, INT) do
        local key = read_object(file)
        local value = read_object(file)
        if key == nil or key ~= key then broken("a key of a table is nil or not a number") end
        t[key] = value
    end
    return t
end

-- Skips the code of a function and its upvalues. The upvalues may contain objects that the file mentions later.
local function read_function(file, index)
    local count = get(file, INT)
    if count < 0 or not codec.skip_text(file, count) then ends_early(file) end
    local function placeholder() error("functions of files are not loaded", 2) end
    if index then file.objects[index] = placeholder end
    if not file.has_warned then
        file.has_warned = true
        io.stderr:write(("torch: functions are not loaded from <%s>; calls of them are errors\n"):format(file.name))
    end
    read_object(file)
    return placeholder
end

local READERS = { [TABLE] = read_table, [TORCH] = read_torch, [OLD_FUNCTION] = read_function, [FUNCTION] = read_function }

function read_object(file)
    local kind = get(file, INT)
    if kind == NIL then return nil end
    if kind == NUMBER then return get(file, DOUBLE) end
    if kind == STRING then return get_text(file) end
    if kind == BOOLEAN then return get(file, INT) == 1 end
    if kind == PLAIN_FUNCTION then return read_function(file) end
    local read = READERS[kind]
    if not read then broken("there is no kind of object " .. kind) end
    local index = get(file, INT)
    local object = file.objects[index]
    if object ~= nil and not file.is_copying then return object end
    return read(file, index)
end

-- Files

--- Reads the next object: `file:readObject()`.
File.readObject = guarded("readObject", read_object, files.readable)

--- Writes an object, or its number if the file has the object already: `file:writeObject(object, [name])`. Messages about objects that
--- cannot be written call the object `name`.
File.writeObject = guarded("writeObject", write_object, files.writable)

-- Each mode is the method of files that chooses it, and the bytes of a long.
local MODES = { binary = { "binary", 8 }, ascii = { "ascii", 8 }, b32 = { "binary", 4 }, b64 = { "binary", 8 } }

local function mode_of(mode, position, name)
    local found = MODES[mode or "binary"]
    if mode == "apkg" then errors.argument(position, name, "the mode 'apkg' is for Android") end
    if not found then errors.argument(position, name, "'binary', 'ascii', 'b32' or 'b64' expected") end
    return found
end

local function with_mode(file, mode) return file[mode[1]](file):longSize(mode[2]) end

-- Reads one object, and closes the file.
local function load(file, mode, name, what)
    local ok, result = outermost(with_mode(file, mode), read_object)
    file:close()
    if not ok then errors.raise(("%s: %s is no file of Torch7: %s"):format(name, what, tostring(result))) end
    return result
end

-- Writes one object. Returns true, or false and the reason.
local function store(file, mode, object)
    local ok, problem = outermost(with_mode(file, mode), write_object, object)
    return ok, tostring(problem)
end

--- Writes an object to a file: `torch.save(filename, object, ['binary'|'ascii'|'b32'|'b64'], [referenced])`. `b32` and `b64` are binary
--- with longs of 4 and 8 bytes. If an error occurs, the old file stays.
function torch.save(filename, object, mode, referenced)
    if type(filename) ~= "string" then arguments.expected("string", filename, 1, "save") end
    mode = mode_of(mode, 3, "save")
    local temporary = filename .. ".part"
    local file, message = files.open_disk(temporary, "w")
    if not file then errors.raise("save: " .. message) end
    local ok, problem = store(file:referenced(referenced ~= false):quiet(), mode, object)
    if ok and file:close():hasError() then ok, problem = false, "write error" end
    if ok then ok, problem = os.rename(temporary, filename) end
    if not ok then
        if file:isOpened() then file:close() end
        os.remove(temporary)
        errors.raise("save: " .. problem)
    end
end

--- Reads an object from a file: `torch.load(filename, ['binary'|'ascii'|'b32'|'b64'], [referenced])`. In place of `referenced`, a number is
--- the bytes of a long.
function torch.load(filename, mode, referenced)
    if type(filename) ~= "string" then arguments.expected("string", filename, 1, "load") end
    mode = mode_of(mode, 2, "load")
    local file, message = files.open_disk(filename, "r")
    if not file then errors.raise("load: " .. message) end
    if type(referenced) == "number" then mode, referenced = { mode[1], referenced }, true end
    return load(file:referenced(referenced ~= false), mode, "load", filename)
end

torch.saveobj, torch.loadobj = torch.save, torch.load

-- Returns a file in memory with the object.
local function in_memory(object, mode)
    local file = torch.MemoryFile("rw")
    local ok, problem = store(file, mode_of(mode, 2, "serialize"), object)
    if not ok then errors.raise("serialize: " .. problem) end
    return file
end

-- Returns the object in a storage.
local function from_memory(storage, mode)
    return load(files.open_memory(storage, #storage, "r"), mode_of(mode, 2, "deserialize"), "deserialize", "the string")
end

--- Returns the object as a string: `torch.serialize(object, ['binary'|'ascii'|'b32'|'b64'])`.
function torch.serialize(object, mode) return in_memory(object, mode):seek(1):readString("*a") end

--- Returns the object as a CharStorage: `torch.serializeToStorage(object, ['binary'|'ascii'|'b32'|'b64'])`.
function torch.serializeToStorage(object, mode)
    local storage = in_memory(object, mode):storage()
    return storage:resize(#storage - 1)
end

--- Returns the object in a string of `torch.serialize`: `torch.deserialize(text, ['binary'|'ascii'|'b32'|'b64'])`.
function torch.deserialize(text, mode)
    if type(text) ~= "string" then arguments.expected("string", text, 1, "deserialize") end
    -- A copy, because the `read` of a class may keep the file and its storage.
    return from_memory(torch.CharStorage():string(text), mode)
end

--- Returns the object in a storage of `torch.serializeToStorage`.
function torch.deserializeFromStorage(storage, mode)
    arguments.storage(storage, 1, "deserializeFromStorage")
    if types[storage.handle.dtype].size ~= 1 then arguments.expected("torch.CharStorage", storage, 1, "deserializeFromStorage") end
    return from_memory(storage, mode)
end
