-- Memory of Lua that the library reads later: it is kept alive as long as a handle of the library needs it.
--
-- A deleter in Lua cannot tell when that ends, since a storage may go in compiled code, below which no function of Lua may run. So a
-- reference to the storage is kept beside the memory, and both go once nobody else holds the storage; this is looked at whenever memory is
-- lent again.

local ffi = require("ffi")
local library = require("thorn.library")

local C = library.C

local borrowed = {}

-- Pairs of a storage and its memory.
local lent = {}

-- Memory of handles that are not storages; an entry goes with its handle.
local of_handles = setmetatable({}, { __mode = "k" })

--- Gives up memory that no storage needs any more, and returns how many storages still do.
function borrowed.sweep()
    local kept = {}
    for _, pair in ipairs(lent) do
        if C.THStorage_refcount(pair.storage) == 1 then C.THStorage_free(pair.storage) else kept[#kept + 1] = pair end
    end
    lent = kept
    return #lent
end

--- Keeps `memory` as long as `handle`, a tensor, storage or archive, needs it. With a deleter the memory is the program's own affair.
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
