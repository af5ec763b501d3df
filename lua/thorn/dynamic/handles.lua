-- Handles other than tensors: sparse tensors, storages, generators, fused expressions, archives, programs, and handles of GPUs.
--
-- Each is a struct with the pointer in its field `handle`, as for tensors. The collector frees its reference.

local ffi = require("ffi")
local library = require("thorn.library")

local C, istype = library.C, ffi.istype

local handles = {}

--- The types of handles by name: `type` in Lua, the `kinds` of arguments that accept such handles, `is_new` for types of this file, `class`
--- for a separate class of arguments, and `shown`, the word in messages if it is not the name.
handles.types = {
    Tensor = { type = library.Tensor, kinds = {} },
    STensor = { kinds = { "sparse", "sparse_inout", "sparse_or_null" }, class = "sparse", shown = "sparse tensor" },
    Storage = { type = library.Storage, kinds = { "storage", "storage_out", "storage_input" } },
    Generator = { type = library.Generator, kinds = { "generator", "required_generator" } },
    Fused = { kinds = { "fused", "fused_or_null" } },
    Optim = { kinds = { "optim", "optim_or_null" } },
    Program = { kinds = { "program", "program_or_null" } },
    Archive = { kinds = { "archive", "archive_or_null" } },
    CudaStream = { kinds = { "cuda_stream", "cuda_stream_or_null" } },
    CudaEvent = { kinds = { "cuda_event", "cuda_event_or_null" } },
    CudaGraph = { kinds = { "cuda_graph", "cuda_graph_or_null" } },
    MapAllocatorContext = { kinds = { "map_context" } },
}

for name, record in pairs(handles.types) do
    if not record.type then
        local c_name = "thorn_" .. name
        ffi.cdef(("typedef struct %s { TH%s *handle; } %s;"):format(c_name, name, c_name))
        record.type, record.is_new = ffi.typeof(c_name), true
    end
end

--- Returns true for a handle of any type.
function handles.is_handle(value)
    for _, record in pairs(handles.types) do
        if istype(record.type, value) then return true end
    end
    return false
end

--- Sets the metatables of the types of this file. `method(name, key)` finds a method of a type. `more` has other metamethods by type.
function handles.equip(method, more)
    for name, record in pairs(handles.types) do
        if record.is_new then
            local free = "TH" .. name .. "_free"
            local metatable = {
                __index = function(_, key) return method(name, key) end,
                __gc = function(value) C[free](value.handle) end,
                __tostring = function(value) return ("thorn.%s: %s"):format(name, tostring(value.handle):match("0x%x+")) end,
            }
            for key, metamethod in pairs(more[name] or {}) do metatable[key] = metamethod end
            ffi.metatype(record.type, metatable)
        end
    end
end

--- Returns a handle of the type `name` around a pointer of C.
function handles.wrap(name, pointer)
    return handles.types[name].type(pointer)
end

--- Returns a sparse tensor for a new `THSTensor *`, whose reference the collector frees. NULL raises the library's error.
function handles.own_sparse(pointer, name)
    if pointer == nil then library.fail(name) end
    library.relieve()
    return handles.types.STensor.type(pointer)
end

--- Returns true for a tensor, dense or sparse.
function handles.is_any_tensor(value) return istype(library.Tensor, value) or istype(handles.types.STensor.type, value) end

--- Returns true for a storage of int64, which Torch7 uses for lists of sizes.
function handles.is_long_storage(value)
    return istype(library.Storage, value) and value.handle ~= nil and value.handle.dtype == C.TH_INT64
end

--- Returns the elements of an int64 storage.
function handles.table_of(storage)
    local elements, data = {}, ffi.cast("int64_t *", storage.handle.data)
    for i = 1, tonumber(storage.handle.size) do elements[i] = tonumber(data[i - 1]) end
    return elements
end

return handles
