-- Lua memory that the library reads after a call has returned. The memory lives as long as a handle of the library needs it.
--
-- A deleter cannot be a Lua function, because the library may call it below compiled code of LuaJIT, where callbacks are forbidden. Instead
-- this module holds a second reference to the storage. When that is the only reference left, it frees the storage and the memory. It checks
-- this whenever another storage is added.

local ffi = require("ffi")
local library = require("thorn.library")

local C = library.C

local borrowed = {}

-- Pairs of a storage and its memory.
local lent = {}

-- The memory of each handle without a storage. An entry is removed with its handle.
local of_handles = setmetatable({}, { __mode = "k" })

--- Frees memory that no storage needs any more. Returns the number of storages that still need memory.
function borrowed.sweep()
    local kept = {}
    for _, pair in ipairs(lent) do
        if C.THStorage_refcount(pair.storage) == 1 then C.THStorage_free(pair.storage) else kept[#kept + 1] = pair end
    end
    lent = kept
    return #lent
end

--- Keeps `memory` alive as long as `handle`, a tensor, storage or archive, needs it. Memory with a deleter is not kept.
function borrowed.keep(handle, memory, deleter)
    if memory == nil or deleter ~= nil then return handle end
    local storage
    if ffi.istype(library.Tensor, handle) then storage = C.THTensor_storage(handle.handle) end
    if ffi.istype(library.Storage, handle) then storage = handle.handle end
    if storage == nil then
        of_handles[handle] = memory
    else
        borrowed.sweep()
        C.THStorage_retain(storage)
        lent[#lent + 1] = { storage = storage, memory = memory }
    end
    return handle
end

return borrowed
