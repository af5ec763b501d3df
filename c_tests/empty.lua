-- Calls every function on tensors with huge tensors that have no element: sizes up to 2^60 next to a 0, transposed in all ways, expanded,
-- or with other strides. Without elements there is no work: each call must return at once, with or without an error, and must leave no
-- memory behind.
--
--     THORN_LIB=target/release/libthorn.so luajit c_tests/empty.lua [pattern of function names]
--
-- Each function runs in a separate process with an alarm.

local folder = arg[0]:match "^(.*)/" or "."
package.path = folder .. "/header/?.lua;" .. package.path
local ffi = require "ffi"
local bit = require "bit"
local prototypes = require "prototypes"

local library = assert(os.getenv "THORN_LIB", "THORN_LIB names no library")
local C, text = prototypes.load(library)
ffi.cdef [[
int fork(void);
int waitpid(int pid, int *status, int options);
unsigned alarm(unsigned seconds);
void _exit(int status);
void *mmap(void *address, size_t size, int protection, int flags, int file, long offset);
]]

-- Seconds on this machine: the longest allowed time of a call, and the time after which a call counts as hanging.
local SLOWNESS = os.getenv "THORN_UNDER_EMULATOR" and 20 or 1
local MOST, HANGING = 0.25 * SLOWNESS, 10 * SLOWNESS
local TH_OK, TH_ERR_INTERNAL = 0, 10
local FLOAT16, FLOAT32, INT64, BOOL = 6, 8, 5, 10
local ALL_DIMS = -0x80000000
local HUGE = 2LL ^ 60

local function list64(values) return ffi.new("int64_t[?]", math.max(#values, 1), values) end

local function empty(dtype, sizes, strides)
  if strides then return C.THTensor_newWithSizesStrides(dtype, #sizes, list64(sizes), list64(strides)) end
  return C.THTensor_newEmpty(dtype, #sizes, list64(sizes), 0)
end

-- Returns all permutations of 1 to n, counted from 0.
local function orders(n)
  if n == 0 then return { {} } end
  local all = {}
  for _, rest in ipairs(orders(n - 1)) do
    for at = 1, n do
      local order = { unpack(rest) }
      table.insert(order, at, n - 1)
      all[#all + 1] = order
    end
  end
  return all
end

-- Makers of operands: a name, and a function that returns a tensor of a dtype.
local operands = {}
local function operand(name, make) operands[#operands + 1] = { name = name, make = make } end

for _, sizes in ipairs { { 0, HUGE }, { HUGE, 0 }, { HUGE, 0, 0 }, { 0, 0 }, { 0 }, { 0, 2 ^ 20, 2 ^ 40 }, { 2 ^ 20, 2 ^ 39, 0 } } do
  operand("a row-major tensor", function(dtype) return empty(dtype, sizes) end)
end
for _, order in ipairs(orders(3)) do
  operand("a permuted tensor", function(dtype)
    local t = empty(dtype, { 2 ^ 59, 0, 4 })
    assert(C.THTensor_permute(t, t, 3, list64(order)) == TH_OK)
    return t
  end)
end
for _, case in ipairs { { { 1, 0 }, { HUGE, 0 } }, { { 0, 1 }, { 0, HUGE } }, { { 1, 0, 1 }, { 2 ^ 30, 0, 2 ^ 30 } } } do
  operand("an expanded tensor", function(dtype)
    local t = empty(dtype, case[1])
    assert(C.THTensor_expand(t, t, #case[2], list64(case[2])) == TH_OK)
    return t
  end)
end
operand("a tensor of four dimensions", function(dtype) return empty(dtype, { 2 ^ 29, 0, 2 ^ 29, 2 }) end)
operand("a tensor with strides of its own", function(dtype) return empty(dtype, { 0, HUGE }, { 3, 7 }) end)

local function sizes_of(t)
  local sizes = {}
  for d = 0, C.THTensor_nDimension(t) - 1 do sizes[d + 1] = C.THTensor_size(t, d) end
  return sizes
end

-- Whether a parameter is a result: a tensor that is not const beside one that is, with a few exceptions, which are read too.
local is_read = { t = true, dst = true, runningMean = true, runningVar = true }
local is_result = { r = true, values = true, indices = true, least = true, greatest = true }
local function has_result(prototype, parameter)
  if parameter.type ~= "THTensor *" or is_read[parameter.name] then return false end
  for _, other in ipairs(prototype.parameters) do
    if other.type:find "^const THTensor %*$" then return true end
  end
  return is_result[parameter.name] or false
end

local is_dimension = {
  dimension = true, dimension1 = true, dim = true, dim1 = true, start = true, dimension2 = true, dim2 = true, ["end"] = true,
}
-- Numbers with a special meaning, by the name of the parameter.
local sizes_called = { size0 = 1, size1 = 2, size2 = 3, size3 = 4, size4 = 5, rows = 1, cols = 2, m = 2 }
local zero = { x0 = true, x1 = true, x2 = true, x3 = true, interpolation = true, flag = true, format = true }

-- Functions that are left out, because their results have elements where an operand has none.
local left_out = {
  THTensor_btrifact = "an info for each of 2^30 matrices without rows",
  THTensor_matrixNorm = "a 0 for each of 2^30 matrices without rows",
}

local callbacks = {
  THApplyFunction = ffi.cast("THApplyFunction", function() return 0 end),
  THMapFunction = ffi.cast("THMapFunction", function() return 0 end),
  THMap2Function = ffi.cast("THMap2Function", function() return 0 end),
  THProgressFunction = ffi.cast("THProgressFunction", function() return 0 end),
}

-- Returns the arguments of one call, and the references to give up afterwards. `way` says how operands, results and dimensions are chosen.
local function arguments(prototype, x, way)
  local values, made, seen, dimensions = {}, {}, 0, 0
  local function keep(t)
    made[#made + 1] = assert(t ~= nil and t, "no operand")
    return t
  end
  local sizes = sizes_of(x)
  for i, parameter in ipairs(prototype.parameters) do
    local name, kind = parameter.name, parameter.type
    local value = 1
    if kind:find "^const THTensor %*$" or kind == "THTensor *" then
      if has_result(prototype, parameter) then
        local dtype = name == "indices" and INT64 or way.dtype
        value = keep(way.result == "fresh" and C.THTensor_new() or empty(dtype, way.result == "alike" and sizes or { 3 }))
      else
        seen = seen + 1
        if (name == "condition" or name == "mask") then
          value = keep(empty(BOOL, sizes))
        elseif way.second == "without columns" or way.second == "of 3 columns" then
          -- Right-hand sides of systems with the matrix `a`, and scalars of no reflector.
          local columns = way.second == "of 3 columns" and 3 or 0
          if name == "a" then
            value = x
          elseif name ~= "tau" and columns > 0 and sizes[1] > 0 then
            value = keep(C.THTensor_newExpand(way.one, 2, list64 { sizes[1], columns }))
          else
            value = keep(empty(way.dtype, name == "tau" and { 0 } or { sizes[1], columns }))
          end
        elseif seen == 1 then
          value = x
        elseif way.second == "itself" then
          value = x
        elseif way.second == "transposed" then
          -- The second factor of a product, without a copy: it has as many rows as the first factor has columns.
          value = keep(C.THTensor_newExpand(way.one, 2, list64 { sizes[2] or 1, way.columns }))
        else
          value = keep(empty(way.dtype, sizes))
        end
      end
    elseif kind == "THTensor *const *" then
      value = ffi.new("THTensor *[2]", name == "rets" and { keep(C.THTensor_new()), keep(C.THTensor_new()) } or { x, x })
    elseif kind == "THTensor **" then
      value = nil
    elseif kind == "int *" then
      value = ffi.new("int[1]")
    elseif kind == "THStorage *" then
      value = C.THStorage_new(way.dtype)
      made[#made + 1] = value
    elseif kind == "const int64_t *" then
      value = name == "stride" and nil or name == "dims" and list64 { way.dimension } or list64(sizes)
    elseif name == "indexing" then
      value = "ij"
    elseif callbacks[kind] then
      value = callbacks[kind]
    elseif parameter.pointer then
      value = nil
    elseif kind == "THDtype" then
      value = way.dtype
    elseif name == "ndim" then
      local after = prototype.parameters[i + 1]
      value = after.name == "dims" and 1 or #sizes
    elseif name == "count" then
      value = 2
    elseif is_dimension[name] and kind == "int" then
      value = way.dimension + dimensions
      dimensions = 1
    elseif name == "n" and prototype.parameters[i + 1] and prototype.parameters[i + 1].name == "m" then
      value = sizes[1]
    elseif sizes_called[name] then
      value = sizes[sizes_called[name]] or 0
    elseif name == "value" or name == "beta" or name == "alpha" then
      value = way.dtype == INT64 and 2 or 0.5
    elseif zero[name] then
      value = 0
    end
    values[i] = value
  end
  return values, made
end

local function release(made)
  for _, it in ipairs(made) do
    if ffi.istype("THStorage *", it) then C.THStorage_free(it) else C.THTensor_free(it) end
  end
end

local function call(prototype, x, way)
  local values, made = arguments(prototype, x, way)
  if prototype.name:find "freeCopyTo" or prototype.name == "THTensor_free" then C.THTensor_retain(x) end
  local before = os.clock()
  local result = C[prototype.name](unpack(values, 1, #prototype.parameters))
  local took = os.clock() - before
  if prototype.name == "THTensor_retain" then C.THTensor_free(x) end
  if prototype.result == "THTensor *" then C.THTensor_free(result) end
  if prototype.result:find "^DLManagedTensor" and result ~= nil then result.deleter(result) end
  if prototype.result == "THStorage *" and prototype.name:find "_new" then C.THStorage_free(result) end
  release(made)
  assert(took < MOST, ("took %.2f s"):format(took))
  assert(C.THGetLastErrorCode() ~= TH_ERR_INTERNAL, ffi.string(C.THGetLastError()))
end

local said = ffi.cast("char *", ffi.C.mmap(nil, 4096, 3, 0x21, -1, 0))
local function say(what) ffi.copy(said, what) end

local function written(sizes)
  local list = {}
  for d, n in ipairs(sizes) do list[d] = tostring(n):gsub("LL", "") end
  return table.concat(list, ", ")
end

-- Calls a function in all ways. The last output is the current call if the function hangs or crashes, and is empty on success.
local function sweep(prototype)
  local one = C.THTensor_newOnes(FLOAT32, 2, list64 { 1, 1 })
  local names = {}
  for _, parameter in ipairs(prototype.parameters) do names[parameter.name] = true end
  local has_dimension = names.dimension or names.dims or names.dim or names.dim1 or names.dimension1 or names.start
  local product, matrix = names.m1 or names.mat, names.a and names.b or names.tau
  for _, it in ipairs(operands) do
    for _, dtype in ipairs { FLOAT32, INT64, BOOL, FLOAT16 } do
      local x = it.make(dtype)
      local ndim, sizes = C.THTensor_nDimension(x), sizes_of(x)
      C.THTensor_free(x)
      local dimensions = { 0 }
      if has_dimension then
        for d = 1, ndim - 1 do dimensions[#dimensions + 1] = d end
        dimensions[#dimensions + 1] = ALL_DIMS
      end
      for _, dimension in ipairs(dimensions) do
        for _, result in ipairs { "fresh", "alike", "other" } do
          local seconds = { "itself", "like", product and "transposed" }
          if matrix and ndim == 2 then
            seconds = { "itself", "like", "without columns", "of 3 columns" }
          end
          for _, second in ipairs(seconds) do
            local way = { dtype = dtype, dimension = dimension, result = result, second = second, one = one, columns = 3 }
            say(("%s %s of sizes (%s), dimension %d, %s result, second operand %s"):format(
              ffi.string(C.THDtype_name(dtype)), it.name, written(sizes), dimension, result, second))
            local live = C.THMemory_liveBytes()
            local operand = it.make(dtype)
            ffi.C.alarm(HANGING)
            call(prototype, operand, way)
            ffi.C.alarm(0)
            C.THTensor_free(operand)
            assert(C.THMemory_liveBytes() == live, "bytes left behind")
          end
        end
      end
    end
  end
  C.THTensor_free(one)
  say ""
end

local functions, failed = 0, 0
for _, prototype in ipairs(prototypes.list(text)) do
  if prototype.name:find "^THTensor_" and prototype.name:find(arg[1] or "") and not left_out[prototype.name] then
    functions = functions + 1
    io.stdout:flush()
    local child = ffi.C.fork()
    assert(child >= 0, "no process")
    if child == 0 then
      local fine, why = pcall(sweep, prototype)
      if not fine then say(ffi.string(said) .. ": " .. why:gsub("^.-:%d+: ", "")) end
      ffi.C._exit(fine and 0 or 1)
    end
    local status = ffi.new "int[1]"
    assert(ffi.C.waitpid(child, status, 0) == child)
    if status[0] ~= 0 then
      failed = failed + 1
      local signal = bit.band(status[0], 127)
      print(("%s FAILED: %s%s"):format(prototype.name, ffi.string(said), signal == 14 and ": hangs" or signal > 0 and ": signal " .. signal or ""))
    end
  end
end
print(("%d functions, %d failed"):format(functions, failed))
os.exit(failed == 0 and (functions > 250 or arg[1] ~= nil))
