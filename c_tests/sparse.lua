-- Runs the expectations of tests/data/sparse_expectations.txt, which scripts/sparse.py computed with PyTorch and SciPy. Each calls a
-- function of sparse tensors, with the sparse operands in several forms: as in the file, coalesced, compressed by rows, and with int32
-- positions and values that are not contiguous. In every form, the entries of the result are the same.
--
--     THORN_LIB=target/release/libthorn.so luajit c_tests/sparse.lua [pattern of function names]
--
-- A call of the file is `call NAME TOLERANCE`, then the operands in the order of the C function, then `gives`, then the result, each on a
-- line:
--
--     sparse DTYPE SPARSE_DIMENSIONS SIZES NNZ POSITIONS... VALUES...
--     dense DTYPE SIZES VALUES...
--     number X
--     dims D...
--     list COUNT, in front of the sparse operands of a list

local folder = arg[0]:match "^(.*)/" or "."
package.path = folder .. "/header/?.lua;" .. package.path
local ffi = require "ffi"
local C = require "prototypes".load(assert(os.getenv "THORN_LIB", "THORN_LIB names no library"))
local api = require "api".read(folder .. "/../src/capi/api.json")

local FORMS = { "as it stands", "coalesced", "by rows", "stepped" }
local DTYPES = { uint8 = 1, int8 = 2, int16 = 3, int32 = 4, int64 = 5, float16 = 6, bfloat16 = 7, float32 = 8, float64 = 9, bool = 10 }
local INT32, INT64, FLOAT64 = 4, 5, 9

local function ask(value, name)
  if value == nil then error(name .. ": " .. ffi.string(C.THGetLastError()), 0) end
  return value
end

-- Handles that are freed when they are collected.
local function tensor(t, name) return ffi.gc(ask(t, name), C.THTensor_free) end
local function sparse(s, name) return ffi.gc(ask(s, name), C.THSTensor_free) end

local function list64(values) return ffi.new("int64_t[?]", math.max(#values, 1), values) end

-- Returns a tensor of these values. If `stepped`, it is every second row of a tensor with twice as many rows.
local function dense(dtype, size, values, stepped)
  local t = tensor(C.THTensor_newFromData(FLOAT64, #size, list64(size), ffi.new("double[?]", math.max(#values, 1), values)), "newFromData")
  t = tensor(C.THTensor_newTo(t, dtype), "newTo")
  if not stepped or #size == 0 then return t end
  local twice = tensor(C.THTensor_new(), "new")
  assert(C.THTensor_repeatInterleaveValue(twice, t, 2, 0) == 0)
  return tensor(C.THTensor_newSlice(twice, 0, 0, 2 * size[1], 2), "newSlice")
end

local function numbers(words, first, count)
  local values = {}
  for i = 1, count do values[i] = tonumber(words[first + i - 1]) end
  return values
end

local function product(sizes, first)
  local count = 1
  for d = first, #sizes do count = count * sizes[d] end
  return count
end

local function sizes_of(word)
  local sizes = {}
  for size in word:gmatch "%d+" do sizes[#sizes + 1] = tonumber(size) end
  return sizes
end

-- Reads an operand or a result from a line.
local function read(line, next_line)
  local words = {}
  for word in line:gmatch "%S+" do words[#words + 1] = word end
  local kind = words[1]
  if kind == "number" then return { kind = kind, value = tonumber(words[2]) } end
  if kind == "dims" then return { kind = kind, values = numbers(words, 2, #words - 1) } end
  if kind == "dense" then
    local size = sizes_of(words[3])
    return { kind = kind, dtype = DTYPES[words[2]], size = size, values = numbers(words, 4, product(size, 1)) }
  end
  if kind == "list" then
    local parts = {}
    for i = 1, tonumber(words[2]) do parts[i] = read(next_line()) end
    return { kind = kind, parts = parts }
  end
  assert(kind == "sparse", line)
  local dims, size, nnz = tonumber(words[3]), sizes_of(words[4]), tonumber(words[5])
  local count = nnz * product(size, dims + 1)
  local entries = { nnz }
  for d = dims + 1, #size do entries[#entries + 1] = size[d] end
  return {
    kind = kind, dtype = DTYPES[words[2]], dims = dims, size = size, nnz = nnz, entries = entries,
    positions = numbers(words, 6, dims * nnz), values = numbers(words, 6 + dims * nnz, count),
  }
end

-- Makes the handle of a sparse operand in a form.
local function made(operand, form)
  local stepped = form == "stepped"
  local indices = dense(stepped and INT32 or INT64, { operand.dims, operand.nnz }, operand.positions)
  local values = dense(operand.dtype, operand.entries, operand.values, stepped)
  local s = sparse(C.THSTensor_newWithTensorAndSize(indices, values, #operand.size, list64(operand.size)), "newWithTensorAndSize")
  if form == "coalesced" then return sparse(C.THSTensor_newCoalesce(s), "newCoalesce") end
  if form == "by rows" and #operand.size == 2 and operand.dims == 2 then return sparse(C.THSTensor_newCompressed(s), "newCompressed") end
  return s
end

-- Returns the difference between the elements of a tensor and the expected elements; nil if there is none.
local function different(t, dtype, size, values, tolerance)
  if C.THTensor_dtype(t) ~= dtype then return ("dtype %d, expected %d"):format(C.THTensor_dtype(t), dtype) end
  local same = C.THTensor_nDimension(t) == #size
  for d = 1, #size do same = same and C.THTensor_size(t, d - 1) == size[d] end
  if not same then return "another shape" end
  local copy = tensor(C.THTensor_newTo(t, FLOAT64), "newTo")
  copy = tensor(C.THTensor_newContiguous(copy), "newContiguous")
  local data = ffi.cast("const double *", C.THTensor_data(copy))
  for i, expected in ipairs(values) do
    local got = data[i - 1]
    if not (got == expected or math.abs(got - expected) <= tolerance * (1 + math.abs(expected))) then
      return ("element %d is %.17g, expected %.17g"):format(i - 1, got, expected)
    end
  end
end

local function different_entries(s, expected, tolerance)
  s = sparse(C.THSTensor_newCoalesce(s), "newCoalesce")
  if C.THSTensor_nDimension(s) ~= #expected.size then return "another number of dimensions" end
  for d = 1, #expected.size do
    if C.THSTensor_size(s, d - 1) ~= expected.size[d] then return "another size of dimension " .. d - 1 end
  end
  local indices, values = tensor(C.THSTensor_newIndices(s), "newIndices"), tensor(C.THSTensor_newValues(s), "newValues")
  local wrong = different(indices, INT64, { expected.dims, expected.nnz }, expected.positions, 0)
  if wrong then return "positions: " .. wrong end
  return different(values, expected.dtype, expected.entries, expected.values, tolerance)
end

-- Calls a function and compares the result.
local function run(case, form)
  local name = "THSTensor_" .. case.name
  local first, words, handles = case.row.arguments[1].kind, {}, {}
  local function add(word)
    words[#words + 1] = word
    handles[#handles + 1] = word
  end
  if first == "sparse_out" then add(sparse(C.THSTensor_new(), "new")) end
  if first == "out" then add(tensor(C.THTensor_new(), "new")) end
  for _, operand in ipairs(case.operands) do
    if operand.kind == "number" then
      add(operand.value)
    elseif operand.kind == "dims" then
      add(#operand.values)
      add(list64(operand.values))
    elseif operand.kind == "dense" then
      add(dense(operand.dtype, operand.size, operand.values, form == "stepped"))
    elseif operand.kind == "sparse" then
      add(made(operand, form))
    else
      local list = ffi.new("THSTensor *[?]", #operand.parts)
      for i, part in ipairs(operand.parts) do
        handles[#handles + 1] = made(part, form)
        list[i - 1] = handles[#handles]
      end
      add(list)
      add(#operand.parts)
    end
  end
  C.THClearLastError()
  local got = C[name](unpack(words))
  if C.THGetLastErrorCode() ~= 0 then return ffi.string(C.THGetLastError()) end
  local expected = case.result
  if expected.kind == "number" then
    local off = math.abs(got - expected.value)
    return not (got == expected.value or off <= case.tolerance * (1 + math.abs(expected.value))) and ("%g, expected %g"):format(got, expected.value)
  end
  if expected.kind == "sparse" then
    local s = first == "sparse_out" and words[1] or sparse(got, name)
    return different_entries(s, expected, case.tolerance)
  end
  return different(first == "out" and words[1] or tensor(got, name), expected.dtype, expected.size, expected.values, case.tolerance)
end

local row_of = {}
for _, row in ipairs(api.functions) do row_of[row.name] = row end

local next_line = io.lines(folder .. "/../tests/data/sparse_expectations.txt")
local pattern, count, failed = arg[1] or "", 0, 0
for line in next_line do
  local name, tolerance = line:match "^call (%w+) (%S+)$"
  local case = { name = assert(name, line), tolerance = tonumber(tolerance), row = row_of["THSTensor_" .. name], operands = {} }
  local operand = next_line()
  while operand ~= "gives" do
    case.operands[#case.operands + 1] = read(operand, next_line)
    operand = next_line()
  end
  case.result = read(next_line(), next_line)
  if name:match(pattern) then
    count = count + 1
    for _, form in ipairs(FORMS) do
      local done, wrong = pcall(run, case, form)
      if not done or wrong then
        failed = failed + 1
        print(("call %d, %s, %s: %s"):format(count, name, form, tostring(wrong)))
        break
      end
    end
  end
end
collectgarbage()
collectgarbage()
print(("%d calls, %d failed"):format(count, failed))
os.exit(failed == 0 and count > 0)
