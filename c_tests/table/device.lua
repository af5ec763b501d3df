-- Runs a call with tensors on a GPU: copies host tensors to the GPU before the call, and back after the call.

local ffi = require "ffi"
local memory = require "memory"

local C = ffi.load(os.getenv "THORN_LIB")
local keep, list64 = memory.keep, memory.list64

local device = {}

-- Returns a tensor over a whole storage.
local function whole(storage)
  local all = C.THTensor_newWithStorage1d(storage, 0, storage.size, 1)
  return keep(all)
end

-- Copies of storages by address, each with a tensor over the whole storage and a tensor over the copy.
local function mirrors()
  local found = {}
  return function(storage)
    local key = tonumber(ffi.cast("uintptr_t", storage))
    if not found[key] then
      local here = whole(storage)
      found[key] = { here = here, there = keep(C.THTensor_newCuda(here, 0)), storage = storage }
    end
    return found[key]
  end, found
end

local function over(storage, like)
  return keep(C.THTensor_newWithStorage(storage, like.storageOffset, like.nDimension, like.size, like.stride))
end

-- Calls `run` with a function that maps a host handle to a handle on the GPU, and copies everything back. Returns a function that maps each
-- host handle to its tensor after the call.
function device.through(run)
  local mirror, found = mirrors()
  local handles = {}
  local function there(tensor)
    if tensor == nil then return nil end
    local key = tonumber(ffi.cast("uintptr_t", tensor))
    if not handles[key] then
      local handle
      if tensor.storage ~= nil and tensor.storage.size > 0 then
        handle = over(mirror(tensor.storage).there.storage, tensor)
      elseif tensor.storage ~= nil then
        handle = keep(C.THTensor_newCuda(tensor, 0))
      else
        handle = keep(C.THTensor_new())
      end
      handles[key] = handle
    end
    return handles[key]
  end
  local got, code = run(there)
  local by_copy = {}
  for _, pair in pairs(found) do
    by_copy[tonumber(ffi.cast("uintptr_t", pair.there.storage))] = pair
    if pair.there.storage.size == pair.here.storage.size then
      assert(C.THTensor_copy(pair.here, pair.there) == 0, ffi.string(C.THGetLastError()))
    end
  end
  local function back(tensor)
    local handle = tensor ~= nil and handles[tonumber(ffi.cast("uintptr_t", tensor))]
    if not handle or handle.storage == nil then return tensor end
    local pair = by_copy[tonumber(ffi.cast("uintptr_t", handle.storage))]
    if pair and pair.there.storage.size == pair.here.storage.size then return over(pair.storage, handle) end
    return keep(C.THTensor_newCpu(handle))
  end
  return got, code, back
end

return device
