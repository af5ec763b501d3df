-- Storages: one-dimensional memory that tensors view. Positions count from 1.
--
--   torch.DoubleStorage()                          empty
--   torch.DoubleStorage(n)                         n elements, not initialized
--   torch.DoubleStorage({1, 2, 3})                 the numbers of a table
--   torch.DoubleStorage(storage, [offset, [n]])    a view of another storage's elements
--   torch.DoubleStorage(n, address)                n elements of memory that the program owns
--   torch.DoubleStorage(filename, [shared, [n, [shared_memory]]])   a mapped file
--
-- With `shared`, changes reach the file. With `shared` and `shared_memory`, the storage is a POSIX shared memory object of this name, which
-- is removed with the storage. Other processes, and other storages of the program, map the file /dev/shm/NAME.

local ffi = require("ffi")
local arguments = require("thorn.arguments")
local convert = require("thorn.convert")
local errors = require("thorn.errors")
local library = require("thorn.library")
local namespace = require("thorn.namespace")
local recording = require("thorn.recording")
local types = require("thorn.types")
local tensors = require("thorn.tensor")

local C, own_storage, check = library.C, library.own_storage, library.check
local Storage = library.Storage
local torch, methods, of_storages = namespace.torch, namespace.storage_methods, namespace.of_storages
local storage, integer, number = arguments.storage, arguments.integer, arguments.number

-- Returns the program's position `i`, from 1, counted from 0.
local function position(s, i)
    if type(i) ~= "number" then arguments.expected("number", i, 2, "[]") end
    local from_0 = i - 1
    if not (from_0 >= 0 and from_0 < tonumber(s.handle.size)) then
        errors.raise(("index %s is out of range of a storage of size %d"):format(tostring(i), tonumber(s.handle.size)))
    end
    return from_0
end

ffi.metatype(Storage, {
    __index = function(s, key)
        if type(key) == "string" then return of_storages[s.handle.dtype][key] end
        return types[s.handle.dtype].read(s.handle, position(s, key))
    end,
    __newindex = function(s, key, value)
        local of, at = types[s.handle.dtype], position(s, key)
        value = number(value, 3, "[]")
        if recording.is_used and not of.integral then return check(C.THStorage_set(s.handle, at, value), "[]") end
        of.write(s.handle, at, value)
    end,
    __len = function(s) return (tonumber(s.handle.size)) end,
    __eq = function(a, b)
        return arguments.is_storage(a) and arguments.is_storage(b) and a.handle == b.handle
    end,
    __tostring = function(s) return tensors.taken(C.THStorage_toString(s.handle, tensors.layout), "tostring") .. "\n" end,
})

--- The number of elements.
function methods.size(s) return (tonumber(storage(s, 1, "size").handle.size)) end

--- The number of bytes of an element.
function methods.elementSize(s) return types[storage(s, 1, "elementSize").handle.dtype].size end

--- Sets every element to `value`.
function methods.fill(s, value)
    storage(s, 1, "fill")
    check(C.THStorage_fill(s.handle, number(value, 2, "fill")), "fill")
    return s
end

--- Copies the elements of a storage of the same size, converted to this type.
function methods.copy(s, source)
    storage(s, 1, "copy")
    check(convert.copy_storage(s.handle, storage(source, 2, "copy").handle), "copy")
    return s
end

--- Changes the number of elements. The first elements stay; new ones are not initialized.
function methods.resize(s, size)
    storage(s, 1, "resize")
    check(C.THStorage_resize(s.handle, integer(size, 2, "resize")), "resize")
    return s
end

--- Without a name, returns the name of the type: "torch.DoubleStorage". With a name, returns the storage itself if it has this type,
--- otherwise a converted copy.
function methods.type(s, name)
    local from = types[storage(s, 1, "type").handle.dtype]
    if name == nil then return from.storage_name end
    local to = types.of_storage[name]
    if not to then errors.argument(2, "type", "unknown type " .. tostring(name)) end
    if to == from then return s end
    return own_storage(C.THStorage_newWithSize(to.code, s.handle.size), "type"):copy(s)
end

for _, record in ipairs(types.all) do
    methods[record.short:lower()] = function(s) return methods.type(s, record.storage_name) end
end

--- The elements as a Lua table.
function methods.totable(s)
    storage(s, 1, "totable")
    local r = {}
    for i = 1, tonumber(s.handle.size) do r[i] = s[i] end
    return r
end

local tensor_to_table = namespace.methods.totable

--- The elements of a tensor or a storage as a Lua table.
function torch.totable(x)
    if arguments.is_storage(x) then return methods.totable(x) end
    return tensor_to_table(x)
end

--- Returns the bytes of a CharStorage or ByteStorage as a Lua string. With a string, sets the storage to its bytes and size.
function methods.string(s, text)
    if types[storage(s, 1, "string").handle.dtype].size ~= 1 then
        errors.argument(1, "string", "a CharStorage or ByteStorage expected")
    end
    if text == nil then return ffi.string(s.handle.data, s.handle.size) end
    if type(text) ~= "string" then arguments.expected("string", text, 2, "string") end
    methods.resize(s, #text)
    if #text > 0 then ffi.copy(s.handle.data, text, #text) end
    return s
end

--- A pointer to the first element. The pointer keeps the storage alive, and is valid until the storage is resized. With `asnumber`, the
--- address as an `intptr_t`.
function methods.data(s, asnumber)
    storage(s, 1, "data")
    if asnumber then return ffi.cast("intptr_t", s.handle.data) end
    local pointer = ffi.cast(types[s.handle.dtype].pointer, s.handle.data)
    tensors.owners[pointer] = s
    return pointer
end

--- The pointer to the C structure of the storage, or its address as an `intptr_t`.
function methods.cdata(s, asnumber) return tensors.cdata(storage(s, 1, "cdata"), asnumber) end

--- Adds a reference, which only `free` releases, not the collector.
function methods.retain(s)
    C.THStorage_retain(storage(s, 1, "retain").handle)
    s.retained = s.retained + 1
end

--- Releases a reference that `retain` has added. Without such a reference, frees the elements of the storage, which is then empty.
function methods.free(s)
    storage(s, 1, "free")
    if s.retained > 0 then
        s.retained = s.retained - 1
        C.THStorage_free(s.handle)
    else
        local empty = C.THStorage_new(s.handle.dtype)
        if empty == nil then library.fail("free") end
        library.exchange_storage(s, empty)
    end
end

local function from_table(record, values)
    local s = own_storage(C.THStorage_newWithSize(record.code, #values), record.storage_name)
    for i = 1, #values do s[i] = number(values[i], 1, record.storage_name) end
    return s
end

-- Makes a view of the elements of `source` from `offset` on. The view keeps a reference to `source`, whose memory can no longer be resized.
local function from_storage(record, source, offset, size)
    local name = record.storage_name
    if types[source.handle.dtype] ~= record then arguments.expected(name, source, 1, name) end
    local first = integer(offset, 2, name, 1) - 1
    local available = tonumber(source.handle.size) - first
    if first < 0 or available < 0 then errors.argument(2, name, "out of range") end
    size = integer(size, 3, name, available)
    if size < 0 or size > available then errors.argument(3, name, "out of range") end
    local data = ffi.cast("char *", source.handle.data) + first * record.size
    local view = own_storage(C.THStorage_newFromBlob(record.code, data, size, nil, nil), name)
    check(C.THStorage_clearFlag(source.handle, C.TH_STORAGE_RESIZABLE), name)
    check(C.THStorage_setFlag(view.handle, C.TH_STORAGE_VIEW), name)
    C.THStorage_retain(source.handle)
    view.handle.view = source.handle
    return view
end

local function from_file(record, filename, shared, size, shared_memory)
    local shared_flag = shared_memory and C.TH_ALLOCATOR_MAPPED_SHAREDMEM or C.TH_ALLOCATOR_MAPPED_SHARED
    local flags = shared and shared_flag or 0
    size = integer(size, 3, record.storage_name, 0)
    return own_storage(C.THStorage_newWithMapping(record.code, filename, size, flags), record.storage_name)
end

local function from_address(record, size, address)
    if type(address) ~= "number" and type(address) ~= "cdata" then
        arguments.expected("an address", address, 2, record.storage_name)
    end
    local memory = ffi.cast("void *", type(address) == "number" and ffi.cast("intptr_t", address) or address)
    return own_storage(C.THStorage_newFromBlob(record.code, memory, size, nil, nil), record.storage_name)
end

local function construct(record, first, second, third, fourth)
    if first == nil then return own_storage(C.THStorage_new(record.code), record.storage_name) end
    if type(first) == "table" then return from_table(record, first) end
    if type(first) == "string" then return from_file(record, first, second, third, fourth) end
    if arguments.is_storage(first) then return from_storage(record, first, second, third) end
    local size = integer(first, 1, record.storage_name)
    if size < 0 then errors.argument(1, record.storage_name, "a size is not negative") end
    if second ~= nil then return from_address(record, size, second) end
    return own_storage(C.THStorage_newWithSize(record.code, size), record.storage_name)
end

for _, record in ipairs(types.all) do
    local function make(...) return construct(record, ...) end
    local function factory() return construct(record) end
    of_storages[record.code] = torch.newmetatable(record.storage_name, nil, make, nil, factory, torch)
end
