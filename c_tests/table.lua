-- Runs the expectations of tests/data/expectations.txt, which scripts/expectations.py computed without thorn: each calls a function of the
-- header by its name. The operands lie in memory in several ways, results are fresh, of the right shape, of a wrong one, of a wider dtype,
-- strided, or one of the inputs; whatever the way, the values are the same, and nothing else changes.
--
--     THORN_HEADER=include/thorn.h THORN_LIB=target/release/libthorn.so luajit c_tests/table.lua [pattern of function names]
--
-- The file has a line for each tensor and each expectation:
--
--     tensor NAME DTYPE SHAPE VALUE...
--     lcg NAME DTYPE SHAPE SEED MODULUS SHIFT SCALE              (element: (random % MODULUS + SHIFT) * SCALE)
--     call FUNCTION ARGUMENT... | OPTION... | RESULT | RESULT... (result: DTYPE SHAPE VALUE..., `returns DTYPE VALUE` or `error STATUS`)
--
-- Shapes are `2x3` or `scalar`. Arguments: `r` is a result, `r?` one that may be NULL, `r:int32` one that has a dtype, `r=@x` one that starts
-- as a copy of x, `@x` a tensor, `[1,2]` a list of int64, `(@x,@y)` a list of tensors, `(r,r)` of results, `"ij"` a string, `&f` a function
-- below, anything else a number.
-- Options: `each` (element by element, so that operands may be repeated), `ulps=n` and `abs=x` (tolerance), `unsigned` (zeros may
-- have any sign), `any` (a result of any dtype fits), `fresh` (results are made anew), `keeps` (a result with as many elements keeps its shape),
-- `every=n` (values are those of every n-th element, and of the last).

local ffi = require "ffi"

local function environment(name) return os.getenv(name) or error(name .. " is not set", 2) end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

local header = read(environment "THORN_HEADER")
header = header:gsub("#ifdef __cplusplus.-#endif[^\n]*", ""):gsub("/%*.-%*/", ""):gsub("//[^\n]*", ""):gsub("\n#[^\n]*", "\n")
ffi.cdef(header)
ffi.cdef "double strtod(const char *text, char **end); long long strtoll(const char *text, char **end, int base);"
local C = ffi.load(environment "THORN_LIB")

local TH_ERR_DTYPE = 3
local POISON = 0x5b

-- Element types: code, name in C, and for floats the bits of the significand and the exponent of the least normal number.
local dtypes = {}
for _, row in ipairs {
  { "uint8", 1, "uint8_t" }, { "int8", 2, "int8_t" }, { "int16", 3, "int16_t" }, { "int32", 4, "int32_t" }, { "int64", 5, "int64_t" },
  { "float16", 6, "uint16_t", 11, -14 }, { "bfloat16", 7, "uint16_t", 8, -126 },
  { "float32", 8, "float", 24, -126 }, { "float64", 9, "double", 53, -1022 }, { "bool", 10, "uint8_t" },
} do
  local name, code, ctype, precision, least = unpack(row)
  dtypes[name] = {
    name = name, code = code, size = ffi.sizeof(ctype), precision = precision, least = least,
    array = ffi.typeof(ctype .. "[?]"), pointer = ffi.typeof(ctype .. " *"),
  }
end
local dtype_of = {}
for _, dtype in pairs(dtypes) do dtype_of[dtype.code] = dtype end

-- 16-bit floats as doubles, and back: their values are in the file exactly.
for name, bits in pairs { float16 = 10, bfloat16 = 7 } do
  local dtype, values, codes = dtypes[name], ffi.new "double[65536]", {}
  local exponents = 2 ^ (15 - bits)
  local bias = exponents / 2 - 1
  for code = 0, 0x7fff do
    local exponent, fraction = math.floor(code / 2 ^ bits), code % 2 ^ bits / 2 ^ bits
    local value = exponent == 0 and fraction * 2 ^ (1 - bias) or (1 + fraction) * 2 ^ (exponent - bias)
    if exponent == exponents - 1 then value = fraction == 0 and math.huge or 0 / 0 end
    values[code], values[code + 0x8000] = value, -value
    if value == value and code ~= 0 then codes[value], codes[-value] = code, code + 0x8000 end
  end
  function dtype.decode(code) return values[code] end
  function dtype.encode(value)
    if value == 0 then return 1 / value < 0 and 0x8000 or 0 end
    return value ~= value and 0x7fff or codes[value] or error(value .. " is no " .. name)
  end
end

local function same(value) return value end
for _, dtype in pairs(dtypes) do
  dtype.decode = dtype.decode or dtype.name == "bool" and function(byte) return byte == 0 and 0 or 1 end or same
  dtype.encode = dtype.encode or same
end

local random
local function seed(state) random = state end
local function draw()
  random = random * 16807 % 2147483647
  return random
end

-- Reading the file

local function number(text) return ffi.C.strtod(text, nil) end

local function shape_of(text)
  local shape, count = {}, 1
  for size in text:gmatch "%d+" do
    shape[#shape + 1] = tonumber(size)
    count = count * tonumber(size)
  end
  return shape, count
end

-- Values of one dtype in row-major order.
local function new_block(dtype, shape, count, stored)
  return { dtype = dtype, shape = shape, count = count, data = dtype.array(stored or count) }
end

local function block_of(words, first)
  local dtype = assert(dtypes[words[first]], words[first])
  local shape, count = shape_of(words[first + 1])
  local stored = #words - first - 1
  local block = new_block(dtype, shape, count, stored)
  for i = 1, stored do
    local word = words[first + 1 + i]
    block.data[i - 1] = dtype.name == "int64" and ffi.C.strtoll(word, nil, 10) or dtype.encode(number(word))
  end
  return block, stored
end

local tensors, expectations = {}, {}

local function read_tensor(words)
  local block, stored = block_of(words, 3)
  assert(stored == block.count, words[2] .. " has too few values")
  block.name, tensors[words[2]] = words[2], block
end

local function read_lcg(words)
  local dtype = dtypes[words[3]]
  local block = new_block(dtype, shape_of(words[4]))
  local modulus, shift, scale = number(words[6]), number(words[7]), number(words[8])
  seed(number(words[5]))
  for i = 0, block.count - 1 do block.data[i] = dtype.encode((draw() % modulus + shift) * scale) end
  block.name, tensors[words[2]] = words[2], block
end

-- Functions for apply, map and map2: they store in x[0].
local functions = {
  THApplyFunction = { twice = function(x) x[0] = 2 * x[0] return 0 end },
  THMapFunction = { difference = function(x, y) x[0] = x[0] - y return 0 end },
  THMap2Function = { product_sum = function(x, y, z) x[0] = x[0] + y * z return 0 end },
}
local callbacks = {}
for kind, list in pairs(functions) do
  for name, lua in pairs(list) do callbacks[name] = ffi.cast(kind, lua) end
end

local function read_argument(word)
  local first, rest = word:sub(1, 1), word:sub(2)
  if word == "r" or word == "r?" then return { kind = "result", optional = word == "r?" } end
  if word:match "^r:" then return { kind = "result", dtype = dtypes[word:sub(3)] } end
  if word:match "^r=@" then return { kind = "result", from = assert(tensors[word:sub(4)], word) } end
  if first == "@" then return { kind = "tensor", block = assert(tensors[rest], word) } end
  if first == '"' then return { kind = "value", value = rest:sub(1, -2) } end
  if first == "&" then return { kind = "value", value = assert(callbacks[rest], word) } end
  if word == "null" then return { kind = "value" } end
  if first == "[" then
    local list = {}
    for entry in rest:gmatch "[-%d]+" do list[#list + 1] = tonumber(entry) end
    return { kind = "value", value = ffi.new("int64_t[?]", math.max(#list, 1), list) }
  end
  if first == "(" then
    local list = {}
    for entry in rest:sub(1, -2):gmatch "[^,]+" do list[#list + 1] = read_argument(entry) end
    return { kind = "list", list = list }
  end
  return { kind = "value", value = number(word) }
end

local function words_of(text)
  local words = {}
  for word in text:gmatch "%S+" do words[#words + 1] = word end
  return words
end

local function read_call(line)
  local parts = {}
  for part in (line .. "|"):gmatch "([^|]*)|" do parts[#parts + 1] = part end
  local words = words_of(parts[1])
  local call = { text = parts[1]:sub(6, -2), name = words[2], arguments = {}, results = {}, ulps = 0, abs = 0, every = 1 }
  -- Tensors and results, those in lists too, in the order of the call.
  call.tensors, call.handles = {}, {}
  for i = 3, #words do
    local argument = read_argument(words[i])
    call.arguments[i - 2] = argument
    for _, part in ipairs(argument.list or { argument }) do
      if part.kind == "tensor" then table.insert(call.tensors, part) end
      if part.kind == "result" then table.insert(call.handles, part) end
    end
  end
  for option in parts[2]:gmatch "%S+" do
    local name, value = option:match "^(%w+)=?(.*)$"
    call[name] = value == "" or number(value)
  end
  for i = 3, #parts do
    words = words_of(parts[i])
    if words[1] == "error" then
      call.status = number(words[2])
    elseif words[1] == "returns" then
      call.returns = block_of({ words[2], "scalar", words[3] }, 1)
    else
      local block, stored = block_of(words, 1)
      local all = call.every == 1 and block.count or math.ceil((block.count - 1) / call.every) + 1
      assert(stored == all, call.text .. " has too few values")
      table.insert(call.results, block)
    end
  end
  assert(call.status or #call.results == #call.handles, call.text .. ": results do not match")
  expectations[#expectations + 1] = call
end

local function read_all(path)
  for line in io.lines(path) do
    local kind = line:match "^%w+"
    if kind == "tensor" then read_tensor(words_of(line)) end
    if kind == "lcg" then read_lcg(words_of(line)) end
    if kind == "call" then read_call(line) end
  end
end

-- Memory

local function row_major(shape, scale)
  local stride = {}
  for d = #shape, 1, -1 do
    stride[d] = scale
    scale = scale * math.max(shape[d], 1)
  end
  return stride
end

-- Where each element lies, in row-major order.
local function positions_of(shape, stride, offset, count)
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

-- Whether no element changes along dimension d.
local function repeats(block, d, stride)
  local size = block.shape[d]
  if size < 2 or not block.data then return false end
  for i = 0, block.count - 1 do
    local first = i - math.floor(i / stride[d]) % size * stride[d]
    if block.data[i] ~= block.data[first] then return false end
  end
  return true
end

-- Strides and offset, or nil where a layout would be none of its own.
local layouts = {
  contiguous = function(block) return row_major(block.shape, 1), 0 end,
  transposed = function(block)
    local stride, scale = {}, 1
    for d, size in ipairs(block.shape) do
      stride[d] = scale
      scale = scale * math.max(size, 1)
    end
    return #stride > 1 and stride or nil, 0
  end,
  stepped = function(block) return row_major(block.shape, 3), 2 end,
  offset = function(block) return row_major(block.shape, 1), 5 end,
  expanded = function(block)
    if block.repeated == nil then
      local stride, found = row_major(block.shape, 1), false
      local expanded = { unpack(stride) }
      for d = 1, #stride do
        if block.count > 0 and repeats(block, d, stride) then expanded[d], found = 0, true end
      end
      block.repeated = found and expanded
    end
    return block.repeated or nil, 0
  end,
}
local layout_names = { "contiguous", "transposed", "stepped", "offset", "expanded" }

local open = {}

local function keep(tensor)
  assert(tensor ~= nil, ffi.string(C.THGetLastError()))
  open[#open + 1] = tensor
  return tensor
end

local function free_all()
  for i = #open, 1, -1 do
    C.THTensor_free(open[i])
    open[i] = nil
  end
end

local function list64(list) return ffi.new("int64_t[?]", math.max(#list, 1), list) end

-- A tensor over memory of its own, with the values of the block where it has some; room for one element more at the end.
local function place(block, layout)
  local stride, offset = layouts[layout](block)
  if not stride then return nil end
  local extent = offset + 4
  for d, size in ipairs(block.shape) do extent = extent + math.max(size - 1, 0) * stride[d] end
  local storage = C.THStorage_newWithSize(block.dtype.code, extent)
  local memory = ffi.cast(block.dtype.pointer, C.THStorage_data(storage))
  local bytes = extent * block.dtype.size
  ffi.fill(memory, bytes, POISON)
  local positions = positions_of(block.shape, stride, offset, block.count)
  if block.data then
    for i = 0, block.count - 1 do memory[positions[i]] = block.data[i] end
  end
  local tensor = keep(C.THTensor_newWithStorage(storage, offset, #block.shape, list64(block.shape), list64(stride)))
  C.THStorage_free(storage)
  return {
    tensor = tensor, memory = memory, bytes = bytes, positions = positions, block = block, offset = offset,
    before = ffi.string(memory, bytes),
  }
end

local function unchanged(operand) return ffi.string(operand.memory, operand.bytes) == operand.before end

-- Whether nothing changed but the elements of the tensor; forgets those.
local function only_elements_changed(operand)
  local old = ffi.cast(operand.block.dtype.pointer, operand.before)
  for i = 0, operand.block.count - 1 do operand.memory[operand.positions[i]] = old[operand.positions[i]] end
  return unchanged(operand)
end

-- Comparing

local function near(got, expected, dtype, call)
  if got == expected then return call.unsigned or got ~= 0 or 1 / got == 1 / expected end
  if got ~= got then return expected ~= expected end
  if not dtype.precision or expected - expected ~= 0 or got - got ~= 0 then return false end
  local _, exponent = math.frexp(expected)
  local ulp = 2 ^ (math.max(exponent - 1, dtype.least) - dtype.precision + 1)
  return math.abs(got - expected) <= math.max(call.ulps * ulp, call.abs)
end

local checks = 0

-- The first difference between a tensor and what was expected of it; nil if there is none.
local function difference(tensor, expected, dtype, shape, call)
  if tensor.dtype ~= dtype.code then return "dtype " .. (dtype_of[tensor.dtype] or { name = "none" }).name .. ", expected " .. dtype.name end
  local sizes, strides = {}, {}
  for d = 1, tensor.nDimension do sizes[d], strides[d] = tonumber(tensor.size[d - 1]), tonumber(tensor.stride[d - 1]) end
  local got_shape, want_shape = table.concat(sizes, "x"), table.concat(shape, "x")
  if got_shape ~= want_shape then return ("shape [%s], expected [%s]"):format(got_shape, want_shape) end
  if C.THTensor_numel(tensor) ~= expected.count then return "numel " .. tonumber(C.THTensor_numel(tensor)) end
  if expected.count == 0 then return nil end

  local data = ffi.cast(dtype.pointer, C.THTensor_data(tensor))
  local positions = positions_of(sizes, strides, 0, expected.count)
  local decode, decode_expected, source = dtype.decode, expected.dtype.decode, expected.data
  local period, alike = expected.period, dtype == expected.dtype
  local exact = alike and not dtype.precision
  local every, last = call.every, math.ceil((expected.count - 1) / call.every)
  for i = 0, last do
    local index = math.min(i * every, expected.count - 1)
    local got, want = data[positions[index]], source[period and i % period or i]
    if not (exact and got == want) then
      got, want = decode(got), decode_expected(want)
      if not alike then got, want = tonumber(got), tonumber(want) end
      if exact and got ~= want or not exact and not near(got, want, expected.dtype, call) then
        return ("element %d is %s, expected %s"):format(index, tostring(got), tostring(want))
      end
    end
  end
  checks = checks + last + 1
end

-- Calling

-- Callbacks must not run below compiled code.
local function invoke(name, arguments, count) return C[name](unpack(arguments, 1, count)) end
jit.off(invoke)

-- The arguments in C, with a handle for each tensor and each result; NULL where there is none.
local function arguments_of(call, operands, results)
  local values, tensor, result = {}, 0, 0
  local function value(argument)
    if argument.kind == "tensor" then
      tensor = tensor + 1
      return operands[tensor].tensor
    elseif argument.kind == "result" then
      result = result + 1
      return results[result] and results[result].tensor
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

local function perform(call, operands, results)
  C.THClearLastError()
  local got = invoke(call.name, arguments_of(call, operands, results), #call.arguments)
  return got, C.THGetLastErrorCode()
end

-- What is wrong with a call that must fail with `status`; nil if nothing.
local function fault_of_failure(status, code, operands, results)
  if code ~= status then return ("status %d (%s), expected %d"):format(code, ffi.string(C.THGetLastError()), status) end
  if #ffi.string(C.THGetLastError()) < 8 then return "a message that says nothing" end
  for _, list in ipairs { operands, results } do
    for _, operand in pairs(list) do
      if operand.memory and not unchanged(operand) then return "changed something on error" end
    end
  end
  checks = checks + 1
end

-- What is wrong with one call; nil if nothing. `results` may have operands among them, or false for NULL.
local function fault(call, operands, results)
  local got, code = perform(call, operands, results)
  if call.status then return fault_of_failure(call.status, code, operands, results) end
  if code ~= 0 then return "failed: " .. ffi.string(C.THGetLastError()) end
  if call.returns then
    checks = checks + 1
    local expected = call.returns.dtype.decode(call.returns.data[0])
    if not near(tonumber(got), tonumber(expected), call.returns.dtype, call) then
      return ("returned %s, expected %s"):format(tostring(got), tostring(expected))
    end
  end
  local written = {}
  for k, result in ipairs(results) do
    local expected = call.results[k]
    if result then
      local wrong = difference(result.tensor, expected, result.dtype or expected.dtype, result.shape or expected.shape, call)
      if wrong then return (#results > 1 and ("result %d: "):format(k) or "") .. wrong end
      if result.positions and not result.moves and not only_elements_changed(result) then return "wrote beyond the result" end
      written[result.writes or result] = true
    end
  end
  for i, operand in ipairs(operands) do
    if not written[operand] and not unchanged(operand) then return ("changed argument %d"):format(i) end
  end
end

local failed, shown, failures = 0, 0, 0

-- Runs one call and frees its tensors. `make` returns operands and results, or nil where this way does not exist.
local function try(call, way, make)
  if failures >= 3 then return end
  local operands, results = make()
  local wrong = operands and fault(call, operands, results)
  free_all()
  if wrong then
    failures = failures + 1
    print(("%s, %s: %s"):format(call.text, way, wrong))
  end
end

-- The tensors of a call laid out alike, or with only one of them so.
local function lay(call, layout, only)
  local operands, special = {}, false
  for i, argument in ipairs(call.tensors) do
    local operand = (not only or i == only) and place(argument.block, layout)
    special = special or operand
    operands[i] = operand or place(argument.block, "contiguous")
  end
  if (special or #operands == 0) then return operands end
end

local function fresh() return { tensor = keep(C.THTensor_new()) } end

-- Results: functions of what is expected; nil where one does not fit.
local function given(layout)
  return function(expected) return place({ dtype = expected.dtype, shape = expected.shape, count = expected.count }, layout) end
end

local function resized(expected)
  local size = expected.count == 11 and 12 or 11
  local result = place({ dtype = expected.dtype, shape = { size }, count = size }, "contiguous")
  result.moves = true
  return result
end

local function wide(expected)
  local dtype = dtypes[expected.dtype.name == "float64" and "float32" or "float64"]
  if dtype.name == "float32" then return nil end
  local result = place({ dtype = dtype, shape = expected.shape, count = expected.count }, "stepped")
  result.dtype = dtype
  return result
end

-- A dtype that the result does not go into.
local function narrow(expected)
  local dtype = dtypes[expected.dtype.precision and "int32" or "bool"]
  if dtype == expected.dtype then return nil end
  return place({ dtype = dtype, shape = expected.shape, count = expected.count }, "contiguous")
end

local result_kinds = {
  { "result given", given "contiguous" }, { "result transposed", given "transposed" }, { "result stepped", given "stepped" },
  { "result offset", given "offset" }, { "result resized", resized }, { "result wider", wide },
}

-- The results of a call, of one kind as far as the call lets them.
local function results_of(call, make)
  local results = {}
  for k, handle in ipairs(call.handles) do
    local expected = call.results[k]
    if handle.from then
      results[k] = place(handle.from, make == fresh and "contiguous" or "stepped")
    elseif not call.results[k] then
      results[k] = fresh()
    elseif handle.dtype and (make == fresh or make == wide) then
      results[k] = resized(expected)
    else
      results[k] = make(expected)
    end
    if not results[k] then return nil end
  end
  return results
end

local function try_layouts(call)
  for _, layout in ipairs(layout_names) do
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

local function try_results(call)
  for _, kind in ipairs(result_kinds) do
    local way, make = unpack(kind)
    if not (call.keeps and make == resized) then
      for _, layout in ipairs { "contiguous", "transposed" } do
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

-- The result is one of the operands, or lies one element behind it in the same memory.
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
        local tensor = keep(C.THTensor_newWithStorage(operand.tensor.storage, 1, #block.shape, operand.tensor.size, operand.tensor.stride))
        results[1] = { tensor = tensor, writes = operand }
        return operands, results
      end)
    end
  end
end

-- Values of an operand repeated to the shape of the result.
local function spread(block, shape, count)
  local out, stride = new_block(block.dtype, shape, count), row_major(block.shape, 1)
  local lead, steps = #shape - #block.shape, {}
  for d = 1, #shape do steps[d] = d > lead and block.shape[d - lead] > 1 and stride[d - lead] or 0 end
  local positions = positions_of(shape, steps, 0, count)
  for i = 0, count - 1 do out.data[i] = block.data[positions[i]] end
  return out
end

-- The same expectation with all values repeated along one dimension of `length`; 0-d operands stay, since promotion treats them apart.
local function lengthened(call, length)
  local expected = call.results[1]
  local long = setmetatable({ tensors = {}, results = {} }, { __index = call })
  for i, argument in ipairs(call.tensors) do
    local block = argument.block
    if #block.shape > 0 then
      local values = spread(block, expected.shape, expected.count)
      block = new_block(block.dtype, { length }, length)
      for k = 0, length - 1 do block.data[k] = values.data[k % expected.count] end
    end
    long.tensors[i] = { kind = "tensor", block = block }
  end
  long.results[1] = { dtype = expected.dtype, shape = { length }, count = length, data = expected.data, period = expected.count }
  return long
end

-- One more dimension in front, with stride 0 in the operands.
local function stacked(call)
  local expected = call.results[1]
  local high = setmetatable({ results = {} }, { __index = call })
  local shape = { 3, unpack(expected.shape) }
  high.results[1] = { dtype = expected.dtype, shape = shape, count = 3 * expected.count, data = expected.data, period = expected.count }
  try(high, "operands expanded", function()
    local operands = {}
    for i, argument in ipairs(call.tensors) do
      operands[i] = place(argument.block, "contiguous")
      if #argument.block.shape > 0 then
        local view = keep(C.THTensor_newExpand(operands[i].tensor, #shape, list64(shape)))
        operands[i].tensor = view
      end
    end
    return operands, results_of(high, fresh)
  end)
end

local function try_lengths(call)
  local expected = call.results[1]
  if #expected.shape == 0 or expected.count == 0 or #call.handles ~= 1 or call.handles[1].from then return end
  stacked(call)
  local long = lengthened(call, 1003)
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
  -- Enough for threads; the shortest inputs are those of all pairs of dtypes, which have been seen enough.
  if expected.count > 8 and (expected.dtype.size >= 4 or expected.dtype.name == "bool") and expected.dtype.name ~= "int32" then
    local longest = lengthened(call, 70003)
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

read_all "tests/data/expectations.txt"
local pattern, count = arg[1], 0
for _, call in ipairs(expectations) do
  if not pattern or call.name:match(pattern) then
    count = count + 1
    -- Should a call end the process, its name has been said.
    if pattern then io.write(call.text, "\n") io.flush() end
    run(call)
  end
end
print(("%d expectations, %d checks, %d expectations failed"):format(count, checks, failed))
os.exit(failed == 0 and count > 0)
