-- Tensors in separate memory with several layouts. A write outside of the tensor's elements is detected.

local ffi = require "ffi"

local C = ffi.load(os.getenv "THORN_LIB")
local POISON = 0x5b

local memory = { layouts = { "contiguous", "transposed", "stepped", "offset", "expanded" } }

function memory.row_major(shape, scale)
  local stride = {}
  for d = #shape, 1, -1 do
    stride[d] = scale
    scale = scale * math.max(shape[d], 1)
  end
  return stride
end

-- Returns the position of each element, in row-major order.
function memory.positions_of(shape, stride, offset, count)
  local positions, index = ffi.new("int32_t[?]", math.max(count, 1)), {}
  for d = 1, #shape do index[d] = 0 end
  local at = offset
  for i = 0, count - 1 do
    positions[i] = at
    for d = #shape, 1, -1 do
      index[d] = index[d] + 1
      at = at + stride[d]
      if index[d] < shape[d] then break end
      at = at - stride[d] * shape[d]
      index[d] = 0
    end
  end
  return positions
end

-- Returns true if no element changes along dimension d.
local function repeats(block, d, stride)
  local size = block.shape[d]
  if size < 2 or not block.data then return false end
  for i = 0, block.count - 1 do
    local first = i - math.floor(i / stride[d]) % size * stride[d]
    if block.data[i] ~= block.data[first] then return false end
  end
  return true
end

-- Strides and offset, or nil if the layout would equal another one.
local layouts = {
  contiguous = function(block) return memory.row_major(block.shape, 1), 0 end,
  transposed = function(block)
    local stride, scale = {}, 1
    for d, size in ipairs(block.shape) do
      stride[d] = scale
      scale = scale * math.max(size, 1)
    end
    return #stride > 1 and stride or nil, 0
  end,
  stepped = function(block) return memory.row_major(block.shape, 3), 2 end,
  offset = function(block) return memory.row_major(block.shape, 1), 5 end,
  expanded = function(block)
    if block.repeated == nil then
      local stride, found = memory.row_major(block.shape, 1), false
      local expanded = { unpack(stride) }
      for d = 1, #stride do
        if block.count > 0 and repeats(block, d, stride) then expanded[d], found = 0, true end
      end
      block.repeated = found and expanded
    end
    return block.repeated or nil, 0
  end,
}
local open = {}

function memory.keep(tensor)
  assert(tensor ~= nil, ffi.string(C.THGetLastError()))
  open[#open + 1] = tensor
  return tensor
end

function memory.free_all()
  for i = #open, 1, -1 do
    C.THTensor_free(open[i])
    open[i] = nil
  end
end

function memory.list64(list) return ffi.new("int64_t[?]", math.max(#list, 1), list) end

-- Returns a tensor over separate memory, with the values of the block if there are any. There is room for one more element at the end.
function memory.place(block, layout)
  local stride, offset = layouts[layout](block)
  if not stride then return nil end
  local extent = offset + 4
  for d, size in ipairs(block.shape) do extent = extent + math.max(size - 1, 0) * stride[d] end
  local storage = C.THStorage_newWithSize(block.dtype.code, extent)
  local data = ffi.cast(block.dtype.pointer, C.THStorage_data(storage))
  local bytes = extent * block.dtype.size
  ffi.fill(data, bytes, POISON)
  local positions = memory.positions_of(block.shape, stride, offset, block.count)
  if block.data then
    for i = 0, block.count - 1 do data[positions[i]] = block.data[i] end
  end
  local tensor = memory.keep(C.THTensor_newWithStorage(storage, offset, #block.shape, memory.list64(block.shape), memory.list64(stride)))
  C.THStorage_free(storage)
  return {
    tensor = tensor, memory = data, bytes = bytes, positions = positions, block = block, offset = offset,
    before = ffi.string(data, bytes),
  }
end

function memory.unchanged(operand) return ffi.string(operand.memory, operand.bytes) == operand.before end

-- Returns true if nothing outside of the tensor's elements has changed. Restores the elements.
function memory.only_elements_changed(operand)
  local old = ffi.cast(operand.block.dtype.pointer, operand.before)
  for i = 0, operand.block.count - 1 do operand.memory[operand.positions[i]] = old[operand.positions[i]] end
  return memory.unchanged(operand)
end

local function dims(tensor, entries)
  local list = {}
  for d = 1, tensor.nDimension do list[d] = tonumber(entries[d - 1]) end
  return list
end

function memory.sizes(tensor) return dims(tensor, tensor.size) end

function memory.strides(tensor) return dims(tensor, tensor.stride) end

return memory
