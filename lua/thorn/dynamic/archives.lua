-- Archives: the tensors of a file, by number and by name.
--
--     local archive = thorn.Archive.open("model.pt")
--     local first, weight = archive:tensor(1), archive:tensor("layer.weight")
--     for name, tensor in archive:tensors() do print(name, tensor:size()) end

local ffi = require("ffi")
local errors = require("thorn.errors")
local library = require("thorn.library")
local origin = require("thorn.origin")
local handles = require("thorn.dynamic.handles")

local C, istype = library.C, ffi.istype
local Archive = handles.types.Archive.type

-- The functions of the group that are outside of the rows, and the metamethods of archives.
local archives = { functions = {}, metamethods = {} }

local function must_be_archive(archive, name)
    if not istype(Archive, archive) or archive.handle == nil then errors.raise(name .. ": an archive is expected") end
end

local function count(archive) return tonumber(C.THArchive_count(archive.handle)) end

-- Returns entry `i`, which counts from 0: a tensor, or a sparse tensor.
local function entry(archive, i, name)
    if C.THArchive_isSparse(archive.handle, i) ~= 0 then return handles.own_sparse(C.THArchive_newSparse(archive.handle, i), name) end
    return origin.own(C.THArchive_newTensor(archive.handle, i), name)
end

-- Returns the index from 0 of an entry that the program names by its number, from 1 or negative from the end, or by its name.
local function index_of(archive, key, name)
    local size = count(archive)
    if type(key) == "string" then
        local found = tonumber(C.THArchive_find(archive.handle, key))
        if found < 0 then errors.raise(("%s: no tensor of the archive is named %q"):format(name, key)) end
        return found
    end
    if type(key) ~= "number" or key % 1 ~= 0 then errors.raise(name .. ": a tensor has a whole number or a name, not " .. tostring(key)) end
    local i = key < 0 and size + key or key - 1
    if i < 0 or i >= size then errors.raise(("%s: number %d is out of range for %d tensors"):format(name, key, size)) end
    return i
end

--- Returns a tensor of the archive. `key` is its number, from 1, or its name. The tensor is sparse if the file has it so.
function archives.functions.tensor(archive, key)
    must_be_archive(archive, "Archive.tensor")
    return entry(archive, index_of(archive, key, "Archive.tensor"), "Archive.tensor")
end

--- Returns an iterator over the names and the tensors of the archive, in order. Each tensor is read when its turn comes.
function archives.functions.tensors(archive)
    must_be_archive(archive, "Archive.tensors")
    local i = -1
    return function()
        i = i + 1
        if i >= count(archive) then return nil end
        return ffi.string(C.THArchive_name(archive.handle, i)), entry(archive, i, "Archive.tensors")
    end
end

--- The number of tensors.
function archives.metamethods.__len(archive) return count(archive) end

return archives
