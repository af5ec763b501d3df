-- Runs the expectations of tests/data/expectations.txt, which scripts/expectations.py computed without thorn. Each expectation calls a
-- function of the header by its name. Operands have several memory layouts. Results are fresh, of the right shape, of a wrong shape, of
-- another dtype, strided, or one of the inputs. In every combination the values must be the same, and nothing else may change.
--
--     THORN_LIB=target/release/libthorn.so luajit c_tests/table.lua [patterns of function names]
--
-- With TH_TEST_DEVICE=cuda the tensors of the calls are on a GPU. There, only functions with callbacks may be refused. table/tolerances.lua
-- has the tolerances of functions for which NVIDIA documents larger errors.
--
-- With TH_TEST_SHARE=3 every third expectation of each function is run.
--
-- With TH_SIMD=baseline or avx2 the kernels of that level run. The program exits with 77 if the machine lacks the level.
--
-- table/expectations.lua explains the file.

local folder = arg[0]:match "^(.*)/" or "."
package.path = folder .. "/table/?.lua;" .. package.path
local ffi = require "ffi"

local function environment(name) return os.getenv(name) or error(name .. " is not set", 2) end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

ffi.cdef "const char *THCdef(void);"
ffi.cdef "int memcmp(const void *a, const void *b, size_t size);"
local C = ffi.load(environment "THORN_LIB")
ffi.cdef(ffi.string(C.THCdef()))

-- If a level is requested and the machine lacks it, the test is skipped.
local level, used = os.getenv "TH_SIMD", ffi.string(C.THSimdLevel())
if level and level ~= used then
  print(("TH_SIMD=%s, but this machine uses %s: left out"):format(level, used))
  os.exit(77)
end

local elements = require "elements"
local memory = require "memory"
local on_cuda = os.getenv "TH_TEST_DEVICE" == "cuda"
local device = on_cuda and require "device"
local tolerance = on_cuda and require "tolerances"(C) or function(call) return call.ulps end
local dtypes, place, list64 = elements.dtypes, memory.place, memory.list64

local TH_ERR_DTYPE, TH_ERR_DEVICE = 3, 4

-- Comparing

local function near(got, expected, dtype, call)
  if got == expected then return call.unsigned or got ~= 0 or 1 / got == 1 / expected end
  if got ~= got then return expected ~= expected end
  if not dtype.precision or expected - expected ~= 0 or got - got ~= 0 then return false end
  return math.abs(got - expected) <= math.max(tolerance(call, dtype) * elements.ulp(dtype, expected), call.abs)
end

local checks = 0

-- Tests whether a contiguous result repeats its first `expected.period` elements. One memcmp is faster than comparing each element.
local function repeats(data, dtype, expected)
  local period, count = expected.period, expected.count
  return ffi.C.memcmp(data, data + period, (count - period) * dtype.size) == 0
end

-- Rounds the computed and the expected value to the narrower of their dtypes: a wider result has not been rounded yet, and a narrower
-- result is rounded once more.
local function meet(got, want, stored, expected)
  if stored.precision and expected.precision then
    local narrower = stored.precision < expected.precision and stored or expected
    return elements.round(narrower, got), elements.round(narrower, want), narrower
  end
  if not stored.precision then want = ffi.cast(stored.ctype, want) end
  return tonumber(got), tonumber(want), expected
end

-- Returns the first difference between the elements of a tensor and the expected elements; nil if there is none.
local function different_element(tensor, expected, dtype, call)
  local data = ffi.cast(dtype.pointer, C.THTensor_data(tensor))
  local positions = memory.positions_of(memory.sizes(tensor), memory.strides(tensor), 0, expected.count)
  local read, read_expected, source = dtype.read, expected.dtype.read, expected.data
  local period, alike = expected.period or expected.count, dtype == expected.dtype
  local unit = dtype
  local repeated = expected.period and alike and C.THTensor_isContiguous(tensor) == 1 and repeats(data, dtype, expected)
  local count = repeated and period or expected.count
  local every, last = call.every, math.ceil((count - 1) / call.every)
  for i = 0, last do
    local index = math.min(i * every, count - 1)
    local got, want = read(data, positions[index]), read_expected(source, i % period)
    if not alike then got, want, unit = meet(got, want, dtype, expected.dtype) end
    if not near(got, want, unit, call) then
      return ("element %d is %.17g, expected %.17g"):format(index, tonumber(got), tonumber(want))
    end
  end
  checks = checks + expected.count / every
end

-- Returns the first difference between a tensor and its expectation; nil if there is none.
local function difference(tensor, expected, dtype, shape, call)
  if tensor.dtype ~= dtype.code then
    return ("dtype %s, expected %s"):format((elements.by_code[tensor.dtype] or { name = "none" }).name, dtype.name)
  end
  local got, want = table.concat(memory.sizes(tensor), "x"), table.concat(shape, "x")
  if got ~= want then return ("shape [%s], expected [%s]"):format(got, want) end
  if C.THTensor_numel(tensor) ~= expected.count then return ("%d elements"):format(tonumber(C.THTensor_numel(tensor))) end
  return expected.count > 0 and different_element(tensor, expected, dtype, call) or nil
end

-- Calling

-- Callbacks must not be called from code that LuaJIT has compiled.
local function invoke(name, arguments, count) return C[name](unpack(arguments, 1, count)) end
jit.off(invoke)

-- Returns the arguments in C: `handle` gives the handle of each tensor and each result, or NULL.
local function arguments_of(call, operands, results, handle)
  local values, tensor, result = {}, 0, 0
  local function value(argument)
    if argument.kind == "tensor" then
      tensor = tensor + 1
      return handle(operands[tensor].tensor)
    elseif argument.kind == "result" then
      result = result + 1
      return results[result] and handle(results[result].tensor) or nil
    end
    return argument.value
  end
  for i, argument in ipairs(call.arguments) do
    if argument.list then
      local list = ffi.new("struct THTensor *[?]", math.max(#argument.list, 1))
      for k, entry in ipairs(argument.list) do list[k - 1] = value(entry) end
      values[i] = list
    else
      values[i] = value(argument)
    end
  end
  return values
end

local function itself(tensor) return tensor end

local function perform_with(call, operands, results, handle)
  local arguments = arguments_of(call, operands, results, handle)
  C.THClearLastError()
  local got = invoke(call.name, arguments, #call.arguments)
  return got, tonumber(C.THGetLastErrorCode())
end

-- Functions that the GPU refused.
local refused = {}

local function perform(call, operands, results)
  if not on_cuda then return perform_with(call, operands, results, itself) end
  local got, code, back = device.through(function(there) return perform_with(call, operands, results, there) end)
  if code == TH_ERR_DEVICE and ffi.string(C.THGetLastError()):match "not available on cuda:0$" then
    refused[call.name] = (refused[call.name] or 0) + 1
    return got, code, true
  end
  for _, result in pairs(results) do
    if result then result.tensor = back(result.tensor) end
  end
  return got, code
end

-- Returns what is wrong with a call that must fail with `status`; nil if nothing is.
local function fault_of_failure(call, status, code, operands, results)
  if code ~= status then return ("status %d (%s), expected %d"):format(code, ffi.string(C.THGetLastError()), status) end
  local text = ffi.string(C.THGetLastError())
  local what = text:match("^" .. call.name .. ": (.+)")
  if not what or what:match "^[%a_]+: " then return ("a message that does not name %s alone: %s"):format(call.name, text) end
  for _, list in ipairs { operands, results } do
    for _, operand in pairs(list) do
      if operand.memory and not memory.unchanged(operand) then return "changed something on error" end
    end
  end
  checks = checks + 1
end

-- Returns what is wrong with one call; nil if nothing is. `results` may contain operands, or false for NULL.
local function fault(call, operands, results)
  local got, code, was_refused = perform(call, operands, results)
  if was_refused then return end
  if call.status then return fault_of_failure(call, call.status, code, operands, results) end
  if code ~= 0 then return "failed: " .. ffi.string(C.THGetLastError()) end
  if call.returns then
    checks = checks + 1
    local expected = tonumber(call.returns.dtype.read(call.returns.data, 0))
    got = tonumber(got) or 0 / 0
    if not near(got, expected, call.returns.dtype, call) then
      return ("returned %s, expected %s"):format(tostring(got), tostring(expected))
    end
  end
  local written = {}
  for k, result in ipairs(results) do
    local expected = call.results[k]
    if result then
      local wrong = difference(result.tensor, expected, result.dtype or expected.dtype, result.shape or expected.shape, call)
      if wrong then return (#results > 1 and ("result %d: "):format(k) or "") .. wrong end
      if result.positions and not result.moves and not memory.only_elements_changed(result) then return "wrote beyond the result" end
      written[result.writes or result] = true
    end
  end
  for i, operand in ipairs(operands) do
    if not written[operand] and not memory.unchanged(operand) then return ("changed argument %d"):format(i) end
  end
end

local failed, shown, failures = 0, 0, 0

-- Runs one call and frees its tensors. `make` returns operands and results, or nil if the combination does not exist.
local function try(call, way, make)
  if failures >= 3 then return end
  local operands, results = make()
  local wrong = operands and fault(call, operands, results)
  memory.free_all()
  if wrong then
    failures = failures + 1
    print(("%s, %s: %s"):format(call.text, way, wrong))
  end
end

-- Returns the tensors of a call in one layout. With `only`, just that tensor has the layout.
local function lay(call, layout, only)
  local operands, special = {}, false
  for i, argument in ipairs(call.tensors) do
    local operand = (not only or i == only) and place(argument.block, layout)
    special = special or operand
    operands[i] = operand or place(argument.block, "contiguous")
  end
  if (special or #operands == 0) then return operands end
end

local function fresh() return { tensor = memory.keep(C.THTensor_new()) } end

-- Makers of results: functions of the expectation, which return nil if such a result does not fit.
local function given(layout)
  return function(expected) return place({ dtype = expected.dtype, shape = expected.shape, count = expected.count }, layout) end
end

local function resized(expected)
  local size = expected.count == 11 and 12 or 11
  local result = place({ dtype = expected.dtype, shape = { size }, count = size }, "contiguous")
  result.moves = true
  return result
end

-- A result of another dtype that accepts the expected values.
local function other(names)
  return function(expected)
    local dtype = dtypes[names[expected.dtype.name]]
    if not dtype then return nil end
    local result = place({ dtype = dtype, shape = expected.shape, count = expected.count }, "stepped")
    result.dtype = dtype
    return result
  end
end

local wider = other(setmetatable({ float64 = false }, { __index = function() return "float64" end }))
local narrower = other { float64 = "float32", float32 = "float16", int64 = "int32", int32 = "int16", int16 = "uint8" }

-- A result of a dtype that the expected values cannot be converted to.
local function narrow(expected)
  local dtype = dtypes[expected.dtype.precision and "int32" or "bool"]
  if dtype == expected.dtype then return nil end
  return place({ dtype = dtype, shape = expected.shape, count = expected.count }, "contiguous")
end

local result_kinds = {
  { "result given", given "contiguous" }, { "result transposed", given "transposed" }, { "result stepped", given "stepped" },
  { "result offset", given "offset" }, { "result resized", resized }, { "result wider", wider },
  { "result narrower", narrower },
}

-- Returns the results of a call. All are of one kind if the call allows that.
local function results_of(call, make)
  local results = {}
  for k, handle in ipairs(call.handles) do
    local expected = call.results[k]
    if handle.from then
      results[k] = place(handle.from, make == fresh and "contiguous" or "stepped")
    elseif not call.results[k] then
      results[k] = fresh()
    elseif handle.dtype and (make == fresh or make == wider or make == narrower) then
      results[k] = resized(expected)
    elseif k > 1 and (make == wider or make == narrower) then
      -- Indices are int64.
      results[k] = fresh()
    else
      results[k] = make(expected)
    end
    if not results[k] then return nil end
  end
  return results
end

-- On a GPU fewer combinations are tried, because the skipped ones differ only in host code that all devices share.
local tried_layouts = on_cuda and { "contiguous", "transposed" } or memory.layouts

local function try_layouts(call)
  for _, layout in ipairs(tried_layouts) do
    try(call, "operands " .. layout, function()
      local operands = lay(call, layout)
      if operands then return operands, results_of(call, fresh) end
    end)
    for i = 1, #call.tensors > 1 and layout ~= "contiguous" and #call.tensors or 0 do
      try(call, ("operand %d %s"):format(i, layout), function()
        local operands = lay(call, layout, i)
        if operands then return operands, results_of(call, fresh) end
      end)
    end
  end
end

local tried_results = on_cuda and { result_kinds[2], result_kinds[5], result_kinds[6] } or result_kinds

local function try_results(call)
  for _, kind in ipairs(tried_results) do
    local way, make = unpack(kind)
    if not (call.keeps and make == resized or call.strict and (make == wider or make == narrower)) then
      for _, layout in ipairs(on_cuda and { "contiguous" } or { "contiguous", "transposed" }) do
        try(call, way .. ", operands " .. layout, function()
          local operands = lay(call, layout)
          local results = operands and results_of(call, make)
          if results then return operands, results end
        end)
      end
    end
  end
end

local function try_narrow(call)
  local refused = setmetatable({ status = TH_ERR_DTYPE }, { __index = call })
  if call.any or #call.handles ~= 1 or call.handles[1].from or call.handles[1].dtype then return end
  if call.results[1].dtype.name == "bool" then return end
  try(refused, "result too narrow", function() return lay(call, "contiguous"), { narrow(call.results[1]) } end)
end

local function try_null(call)
  for k, handle in ipairs(call.handles) do
    if handle.optional then
      try(call, ("result %d NULL"):format(k), function()
        local results = results_of(call, fresh)
        results[k] = false
        return lay(call, "contiguous"), results
      end)
    end
  end
end

local function same_shape(a, b) return table.concat(a.shape, "x") == table.concat(b.shape, "x") end

-- The result is one of the operands, or begins one element after it in the same memory.
local function try_in_place(call)
  local expected = call.results[1]
  if #call.handles == 0 or call.handles[1].from or call.handles[1].dtype then return end
  for i, argument in ipairs(call.tensors) do
    local block = argument.block
    if block.dtype == expected.dtype and same_shape(block, expected) then
      for _, layout in ipairs { "contiguous", "transposed", "stepped" } do
        try(call, ("in place of operand %d, %s"):format(i, layout), function()
          local operands = lay(call, layout)
          if not operands then return end
          local results = results_of(call, fresh)
          results[1] = operands[i]
          return operands, results
        end)
      end
      try(call, ("behind operand %d"):format(i), function()
        local operands, results = lay(call, "contiguous"), results_of(call, fresh)
        local operand = operands[i]
        local t = operand.tensor
        local tensor = memory.keep(C.THTensor_newWithStorage(t.storage, 1, #block.shape, t.size, t.stride))
        results[1] = { tensor = tensor, writes = operand }
        return operands, results
      end)
    end
  end
end

-- Returns the values of an operand repeated to the shape of the result.
local function spread(block, shape, count)
  local out, stride = elements.block(block.dtype, shape, count), memory.row_major(block.shape, 1)
  local lead, steps = #shape - #block.shape, {}
  for d = 1, #shape do steps[d] = d > lead and block.shape[d - lead] > 1 and stride[d - lead] or 0 end
  local positions = memory.positions_of(shape, steps, 0, count)
  for i = 0, count - 1 do out.data[i] = block.data[positions[i]] end
  return out
end

-- Returns the expectation with all values repeated over a longer `shape`. 0-d operands stay 0-d, because promotion treats them differently.
local function lengthened(call, shape)
  local expected, length = call.results[1], 1
  for _, size in ipairs(shape) do length = length * size end
  local long = setmetatable({ tensors = {}, results = {} }, { __index = call })
  for i, argument in ipairs(call.tensors) do
    local block = argument.block
    if #block.shape > 0 then
      local values = spread(block, expected.shape, expected.count)
      block = elements.block(block.dtype, shape, length)
      for k = 0, length - 1 do block.data[k] = values.data[k % expected.count] end
    end
    long.tensors[i] = { kind = "tensor", block = block }
  end
  long.results[1] = { dtype = expected.dtype, shape = shape, count = length, data = expected.data, period = expected.count }
  return long
end

-- Adds a dimension in front, with stride 0 in the operands.
local function stacked(call, height)
  local expected = call.results[1]
  local high = setmetatable({ results = {} }, { __index = call })
  local shape = { height, unpack(expected.shape) }
  high.results[1] = { dtype = expected.dtype, shape = shape, count = height * expected.count, data = expected.data, period = expected.count }
  try(high, ("operands expanded to %d"):format(height), function()
    local operands = {}
    for i, argument in ipairs(call.tensors) do
      operands[i] = place(argument.block, "contiguous")
      if #argument.block.shape > 0 then
        local view = memory.keep(C.THTensor_newExpand(operands[i].tensor, #shape, list64(shape)))
        operands[i].tensor = view
      end
    end
    return operands, results_of(high, fresh)
  end)
end

local function try_lengths(call)
  local expected = call.results[1]
  if #expected.shape == 0 or expected.count == 0 or #call.handles ~= 1 or call.handles[1].from then return end
  stacked(call, 3)
  if on_cuda and (expected.count <= 8 or expected.dtype.size < 4) then return end
  stacked(call, 301)
  local wide = lengthened(call, { 17, 59 })
  try(wide, "17 x 59 elements transposed", function() return lay(wide, "transposed"), results_of(wide, fresh) end)
  local long = lengthened(call, { 1003 })
  for _, layout in ipairs { "contiguous", "stepped" } do
    try(long, "1003 elements " .. layout, function() return lay(long, layout), results_of(long, fresh) end)
  end
  for i, argument in ipairs(long.tensors) do
    if argument.block.dtype == expected.dtype and #argument.block.shape > 0 then
      try(long, ("1003 elements in place of operand %d"):format(i), function()
        local operands = lay(long, "contiguous")
        return operands, { operands[i] }
      end)
    end
  end
  -- Long enough for several threads. The shortest inputs are skipped: they exist for all pairs of dtypes, and were tested above.
  if on_cuda then return end
  if expected.count > 8 and (expected.dtype.size >= 4 or expected.dtype.name == "bool") and expected.dtype.name ~= "int32" then
    local longest = lengthened(call, { 70003 })
    try(longest, "70003 elements", function() return lay(longest, "contiguous"), results_of(longest, fresh) end)
  end
end

local function run(call)
  failures = 0
  if not pcall(function() return C[call.name] end) then
    print(call.name .. " is not in the library")
    failures = 1
  elseif call.status or #call.handles == 0 then
    try_layouts(call)
  else
    try_layouts(call)
    if not call.fresh then
      try_results(call)
      try_narrow(call)
      try_in_place(call)
    end
    try_null(call)
    if call.each then try_lengths(call) end
  end
  failed = failed + (failures > 0 and 1 or 0)
end

-- True if a function's name, with or without its prefix, matches one of the patterns, or if there are no patterns.
local function matches(name)
  for _, pattern in ipairs(arg) do
    if name:match(pattern) or name:gsub("^%w+_", ""):match(pattern) then return true end
  end
  return not arg[1]
end

local share, seen = tonumber(os.getenv "TH_TEST_SHARE") or 1, {}

-- True if the next expectation of a function is to be run.
local function wanted(name)
  if not matches(name) then return false end
  seen[name] = (seen[name] or 0) + 1
  return (seen[name] - 1) % share == 0
end

local count = 0
for _, call in ipairs(require "expectations" "tests/data/expectations.txt") do
  if wanted(call.name) then
    count = count + 1
    -- If a call ends the process, its text is already printed.
    if arg[1] then io.write(call.text, "\n") io.flush() end
    run(call)
  end
end
print(("%d expectations, %d checks, %d expectations failed"):format(count, checks, failed))
if on_cuda then
  -- Callbacks read host memory.
  local host_only = { THTensor_apply = true, THTensor_map = true, THTensor_map2 = true }
  for name, times in pairs(refused) do
    if not host_only[name] then
      print(("%s was refused on the GPU %d times"):format(name, times))
      failed = failed + 1
    end
  end
end
os.exit(failed == 0 and count > 0)
