-- The element types of Torch7's tensors, each with its names, its code in the library and its access to memory.
--
-- `types[code]`, `types.of_tensor["torch.DoubleTensor"]` and `types.of_storage["torch.DoubleStorage"]` are one record:
--   name, storage_name   "torch.DoubleTensor", "torch.DoubleStorage"
--   code                 the library's dtype
--   pointer              the C type of a pointer to an element
--   integral             true if elements are whole numbers
--   short                "Double"
--   size                 bytes of an element
--   read(storage, i)     element `i`, from 0, of a `THStorage *`, as a number
--   write(storage, i, value)
--   range(value)         the number that a type of integers stores for a value, which may be out of its range

local ffi = require("ffi")
local errors = require("thorn.errors")
local C = require("thorn.library").C
local number = require("thorn.number")
local tonumber, to_int, to_long = tonumber, number.to_int, number.to_long

local types = { of_tensor = {}, of_storage = {} }

-- Returns the memory of a storage as an array. Checks the size, because the program may have made the storage smaller than its tensors, and
-- refuses a GPU's memory, which this process cannot read.
local function memory(pointer, storage, i)
    if storage == nil or i >= tonumber(storage.size) then
        errors.raise("the tensor has lost its elements: its storage is smaller now")
    end
    if storage.deviceType ~= C.TH_CPU then errors.raise("the elements are not in the memory of the host") end
    return ffi.cast(pointer, storage.data)
end

-- Whole numbers of at most 32 bits.
local function plain(pointer)
    local function read(storage, i) return memory(pointer, storage, i)[i] end
    local function write(storage, i, value) memory(pointer, storage, i)[i] = to_int(value) end
    return read, write
end

-- 64-bit integers, which LuaJIT boxes.
local function long(pointer)
    local function read(storage, i) return (tonumber(memory(pointer, storage, i)[i])) end
    local function write(storage, i, value) memory(pointer, storage, i)[i] = to_long(value) end
    return read, write
end

-- Floats, which functions of `thorn.number` read and write.
local function float(read_at, write_at)
    return function(pointer)
        local function read(storage, i) return (read_at(memory(pointer, storage, i), i)) end
        local function write(storage, i, value) write_at(memory(pointer, storage, i), i, value) end
        return read, write
    end
end

-- Any byte except 0 is true.
local function truth(pointer)
    local function read(storage, i) return memory(pointer, storage, i)[i] ~= 0 and 1 or 0 end
    local function write(storage, i, value) memory(pointer, storage, i)[i] = value ~= 0 and 1 or 0 end
    return read, write
end

-- 16-bit floats, for which C has no type. The library converts them.
local function half(pointer)
    local function read(storage, i)
        memory(pointer, storage, i)
        return (C.THStorage_get(storage, i))
    end
    local function write(storage, i, value)
        memory(pointer, storage, i)
        C.THStorage_set(storage, i, value)
    end
    return read, write
end

local function define(name, code, ctype, access, integral)
    local pointer = ffi.typeof(ctype .. " *")
    local read, write = access(pointer)
    local record = {
        name = "torch." .. name .. "Tensor", storage_name = "torch." .. name .. "Storage", short = name,
        code = code, pointer = pointer, integral = integral, size = ffi.sizeof(ctype), read = read, write = write,
        range = code == C.TH_INT64 and to_long or to_int,
    }
    types[code], types.of_tensor[record.name], types.of_storage[record.storage_name] = record, record, record
    types.all[#types.all + 1] = record
end

--- All records, in the order of the table of Torch7's documentation.
types.all = {}

define("Byte", C.TH_UINT8, "uint8_t", plain, true)
define("Char", C.TH_INT8, "int8_t", plain, true)
define("Short", C.TH_INT16, "int16_t", plain, true)
define("Int", C.TH_INT32, "int32_t", plain, true)
define("Long", C.TH_INT64, "int64_t", long, true)
define("Float", C.TH_FLOAT32, "float", float(number.read_float, number.write_float), false)
define("Double", C.TH_FLOAT64, "double", float(number.read_double, number.write_double), false)
define("Half", C.TH_FLOAT16, "uint16_t", half, false)
define("BFloat16", C.TH_BFLOAT16, "uint16_t", half, false)
define("Bool", C.TH_BOOL, "uint8_t", truth, true)

return types
