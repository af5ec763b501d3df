-- Constructors of tensors, for `torch.DoubleTensor` and the others; `torch.Tensor` is the default type.
--
--   torch.Tensor()                                           empty
--   torch.Tensor(tensor)                                     another view of the same elements
--   torch.Tensor(size1, size2, ...)                          not initialized
--   torch.Tensor(LongStorage, [strides])                     sizes, and strides in memory
--   torch.Tensor(storage, [offset, sizes, [strides]])        a view of a storage, sizes and strides as LongStorages
--   torch.Tensor(storage, offset, size1, stride1, ...)       the same, sizes and strides as numbers
--   torch.Tensor({{1, 2}, {3, 4}})                           the numbers of a table
--
-- A negative stride means the stride of contiguous memory. `torch.LongTensor(LongStorage)` is a view of the storage.

local ffi = require("ffi")
local arguments = require("thorn.arguments")
local errors = require("thorn.errors")
local library = require("thorn.library")
local namespace = require("thorn.namespace")
local types = require("thorn.types")

local C, own, check = library.C, library.own, library.check
local torch, methods = namespace.torch, namespace.methods
local integer, list = arguments.integer, arguments.list

local construct = {}

local MAX_DIMENSIONS = arguments.MAX_DIMENSIONS
local strides = ffi.new("int64_t[?]", MAX_DIMENSIONS)

-- Sizes end at the first size that is not positive, as in Torch7: a size of 0 makes a tensor empty.
local function positive(count)
    if count > 0 and list[0] <= 0 then return 0 end
    if count > 1 and list[1] <= 0 then return 1 end
    if count > 2 and list[2] <= 0 then return 2 end
    if count > 3 and list[3] <= 0 then return 3 end
    for d = 4, count - 1 do
        if list[d] <= 0 then return d end
    end
    return count
end
construct.positive = positive

-- Replaces negative strides by the strides of contiguous memory.
local function fill_strides(count)
    local step = 1
    for d = count - 1, 0, -1 do
        if strides[d] < 0 then strides[d] = step end
        step = step * list[d]
    end
end

-- Reads sizes and strides that begin at argument `first`: two LongStorages, or alternating numbers. Returns the number of dimensions.
local function geometry(name, first, sizes, ...)
    if not arguments.is_storage(sizes) then
        local count = math.ceil((1 + select("#", ...)) / 2)
        if count > MAX_DIMENSIONS then errors.argument(first, name, "too many dimensions") end
        local rest = { sizes, ... }
        for d = 0, count - 1 do
            list[d] = integer(rest[2 * d + 1], first + 2 * d, name)
            strides[d] = integer(rest[2 * d + 2], first + 2 * d + 1, name, -1)
        end
        count = positive(count)
        fill_strides(count)
        return count
    end
    local stride_storage, count = ..., 0
    if stride_storage ~= nil then
        count = arguments.long_storage(stride_storage, first + 1, name)
        ffi.copy(strides, list, 8 * count)
        if count ~= #sizes then errors.argument(first + 1, name, "as many strides as sizes expected") end
    end
    count = arguments.long_storage(sizes, first, name)
    if stride_storage == nil then ffi.fill(strides, 8 * count, 255) end
    count = positive(count)
    fill_strides(count)
    return count
end

-- Makes `t` a view of a storage, as the arguments tell.
local function set_storage(t, name, storage, offset, ...)
    if storage.handle.dtype ~= t.handle.dtype then
        arguments.expected(types[t.handle.dtype].storage_name, storage, 2, name)
    end
    if offset == nil then
        list[0], strides[0] = storage.handle.size, 1
        check(C.THTensor_setStorage(t.handle, storage.handle, 0, positive(1), list, strides), name)
        return t
    end
    local first = integer(offset, 3, name) - 1
    if first < 0 then errors.argument(3, name, "an offset is at least 1") end
    local count
    if ... == nil then
        list[0], strides[0] = storage.handle.size - first, 1
        count = positive(1)
    else
        count = geometry(name, 4, ...)
    end
    check(C.THTensor_setStorage(t.handle, storage.handle, first, count, list, strides), name)
    return t
end

--- Makes the tensor a view of the elements of another tensor, or of a storage with the constructor's arguments. Without arguments the
--- tensor becomes empty and gives up its storage.
function methods.set(t, source, ...)
    arguments.tensor(t, 1, "set")
    if arguments.is_storage(source) then return set_storage(t, "set", source, ...) end
    if source == nil then
        check(C.THTensor_set(t.handle, construct.like(t, "set").handle), "set")
        return t
    end
    check(C.THTensor_set(t.handle, arguments.tensor(source, 2, "set", t).handle), "set")
    return t
end

local function with_sizes(record, name, first, ...)
    local count
    if arguments.is_storage(first) and ... ~= nil then
        count = geometry(name, 1, first, ...)
        return own(C.THTensor_newWithSizesStrides(record.code, count, list, strides), name)
    end
    count = positive(arguments.sizes(1, name, first, ...))
    if count == 0 then return own(C.THTensor_newWithDtype(record.code), name) end
    return own(C.THTensor_newWithSizes(record.code, count, list), name)
end

-- Writes the numbers of a nested table from position `i` of the storage on. Returns the position after the last number. The table is
-- dimension `d` of `count`.
local function write_table(record, storage, values, d, count, i)
    if type(values) ~= "table" or #values ~= tonumber(list[d]) then
        errors.raise("bad argument #1 to '" .. record.name .. "' (the tables of one dimension have different sizes)")
    end
    for k = 1, #values do
        if d < count - 1 then
            i = write_table(record, storage, values[k], d + 1, count, i)
        else
            if type(values[k]) ~= "number" then arguments.expected("a table of numbers", values[k], 1, record.name) end
            record.write(storage, i, values[k])
            i = i + 1
        end
    end
    return i
end

local function from_table(record, values)
    local count, level = 0, values
    while type(level) == "table" do
        if count == MAX_DIMENSIONS then errors.argument(1, record.name, "too many dimensions") end
        list[count] = #level
        count, level = count + 1, level[1]
    end
    if positive(count) < count then return own(C.THTensor_newWithDtype(record.code), record.name) end
    local t = own(C.THTensor_newWithSizes(record.code, count, list), record.name)
    write_table(record, t.handle.storage, values, 0, count, 0)
    return t
end

-- Makes the tensor for the arguments of a constructor.
local function new(record, first, ...)
    local name = record.name
    if first == nil then return own(C.THTensor_newWithDtype(record.code), name) end
    if type(first) == "table" then return from_table(record, first) end
    if arguments.is_tensor(first) then
        if types[first.handle.dtype] ~= record then arguments.expected(name, first, 1, name) end
        return own(C.THTensor_newWithTensor(first.handle), name)
    end
    local is_view = arguments.is_storage(first)
        and (types[first.handle.dtype] == record or types[first.handle.dtype].code ~= C.TH_INT64)
    if is_view then return set_storage(own(C.THTensor_newWithDtype(record.code), name), name, first, ...) end
    return with_sizes(record, name, first, ...)
end

for _, record in ipairs(types.all) do
    local function make(...) return new(record, ...) end
    local function factory() return new(record) end
    namespace.of_tensors[record.code] = torch.newmetatable(record.name, nil, make, nil, factory, torch)
end

-- `torch.Tensor` and `torch.Storage` are the constructors of the default type.

local default

--- Makes the type of this name the type of `torch.Tensor`, and of functions without a tensor argument.
function torch.setdefaulttensortype(name)
    local record = types.of_tensor[name]
    if not record then errors.argument(1, "setdefaulttensortype", "unknown type " .. tostring(name)) end
    default = record
    torch.Tensor, torch.Storage = torch[record.short .. "Tensor"], torch[record.short .. "Storage"]
end

torch.setdefaulttensortype("torch.DoubleTensor")

--- Returns the name of the type that `torch.Tensor` makes: "torch.DoubleTensor" at first.
function torch.getdefaulttensortype() return default.name end

--- Returns the record of the default type.
function construct.default() return default end

--- Makes a tensor of the type with this record, from the arguments of a constructor.
construct.new = new

--- Returns the record of a tensor's type.
function construct.record(t) return types[t.handle.dtype] end

--- Makes an empty tensor of the type of `t`, for a result.
function construct.like(t, name) return own(C.THTensor_newWithDtype(t.handle.dtype), name) end

return construct
