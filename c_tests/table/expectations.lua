-- Reads the file of expectations: named tensors, and calls with their expected results.
--
-- The file has a line for each tensor and each call:
--
--     tensor NAME DTYPE SHAPE VALUE...
--     lcg NAME DTYPE SHAPE SEED MODULUS SHIFT SCALE
--     call FUNCTION ARGUMENT... | OPTION... | RESULT | RESULT...
--
-- A shape is `2x3` or `scalar`. The elements of `lcg` are (random % MODULUS + SHIFT) * SCALE. A function is named without `THTensor_`.
--
-- Arguments: `r` is a result, `r?` a result that may be NULL, `r:int32` a result that has a dtype, `r=@x` a result that starts as a copy of
-- x, `@x` a tensor, `[1,2]` a list of int64, `(@x,@y)` a list of tensors, `(r,r)` a list of results, `"ij"` a string, `&f` one of the
-- functions below, anything else a number.
--
-- Options: `each` (element by element, so that operands may be repeated), `ulps=n` and `abs=x` (tolerance), `unsigned` (zeros may have any
-- sign), `any` (the result may have any dtype), `strict` (no result of another dtype is tried), `fresh` (all results are fresh handles),
-- `keeps` (a result with the right number of elements keeps its shape), `every=n` (the values are every n-th element, and the last one),
-- `gradients` (the results are the gradients of the operands, for a gradient of the function's result whose elements are 1), `given` (that
-- gradient is the last argument).
--
-- Results: `DTYPE SHAPE VALUE...`, `returns DTYPE VALUE`, or `error STATUS`.

local ffi = require "ffi"
local elements = require "elements"

local dtypes = elements.dtypes

-- The C library that LuaJIT is linked with on Windows has no strtoll, and its strtod does not know nan and inf.
local C = ffi.os == "Windows" and ffi.load "ucrtbase" or ffi.C
ffi.cdef "double strtod(const char *text, char **end); long long strtoll(const char *text, char **end, int base);"

local random
local function seed(state) random = state end
local function draw()
  random = random * 16807 % 2147483647
  return random
end

local function number(text) return C.strtod(text, nil) end

local function shape_of(text)
  local shape, count = {}, 1
  for size in text:gmatch "%d+" do
    shape[#shape + 1] = tonumber(size)
    count = count * tonumber(size)
  end
  return shape, count
end

local function block_of(words, first)
  local dtype = assert(dtypes[words[first]], words[first])
  local shape, count = shape_of(words[first + 1])
  local stored = #words - first - 1
  local block = elements.block(dtype, shape, count, stored)
  for i = 1, stored do
    local word = words[first + 1 + i]
    block.data[i - 1] = dtype.name == "int64" and C.strtoll(word, nil, 10) or dtype.encode(number(word))
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
  local block = elements.block(dtype, shape_of(words[4]))
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
  local call = { text = parts[1]:sub(6, -2), name = "THTensor_" .. words[2], arguments = {}, results = {}, ulps = 0, abs = 0, every = 1 }
  -- Tensors and results, including those in lists, in the order of the call.
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
  assert(call.status or call.gradients or #call.results == #call.handles, call.text .. ": results do not match")
  expectations[#expectations + 1] = call
end

return function(path)
  for line in io.lines(path) do
    local kind = line:match "^%w+"
    if kind == "tensor" then read_tensor(words_of(line)) end
    if kind == "lcg" then read_lcg(words_of(line)) end
    if kind == "call" then read_call(line) end
  end
  return expectations
end
