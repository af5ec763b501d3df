-- Compares gradients with the values of tests/data/gradients.txt, which scripts/gradient_values.py computed with mpmath and PyTorch,
-- without thorn. The finite differences of gradients.lua cannot test gradients at infinities, at the ends of the range, and in 16 bits.
--
--     THORN_LIB=target/release/libthorn.so luajit c_tests/gradient_values.lua [patterns of function names]
--
-- Each call is made with a fresh result, and with results of the other dtypes of floats: a derivative must not read a rounded result.

local folder = arg[0]:match "^(.*)/" or "."
package.path = folder .. "/table/?.lua;" .. package.path
local ffi = require "ffi"

ffi.cdef "const char *THCdef(void);"
local C = ffi.load(assert(os.getenv "THORN_LIB", "THORN_LIB names no library"))
ffi.cdef(ffi.string(C.THCdef()))
C.THGrad_setEnabled(1)

local elements = require "elements"
local memory = require "memory"
local place, keep = memory.place, memory.keep

local function succeed(status) assert(status == 0, ffi.string(C.THGetLastError())) end

-- Callbacks must not be called from code that LuaJIT has compiled.
local function invoke(name, arguments, count) return C[name](unpack(arguments, 1, count)) end
jit.off(invoke)

local function near(got, expected, dtype, call)
  if got == expected then return true end
  if got ~= got then return expected ~= expected end
  if expected - expected ~= 0 or got - got ~= 0 then return false end
  return math.abs(got - expected) <= math.max(call.ulps * elements.ulp(dtype, expected), call.abs)
end

local checks = 0

-- Returns the first difference between the gradient of a leaf and the expected one; nil if there is none.
local function difference(leaf, expected, call)
  local dtype = expected.dtype
  local gradient = C.THTensor_newGrad(leaf)
  if gradient == nil then return "no gradient" end
  keep(gradient)
  if gradient.dtype ~= dtype.code or tonumber(C.THTensor_numel(gradient)) ~= expected.count then return "another shape or dtype" end
  local positions = memory.positions_of(memory.sizes(gradient), memory.strides(gradient), 0, expected.count)
  local data = ffi.cast(dtype.pointer, C.THTensor_data(gradient))
  for i = 0, expected.count - 1 do
    local got, want = tonumber(dtype.read(data, positions[i])), tonumber(dtype.read(expected.data, i))
    if not near(got, want, dtype, call) then return ("element %d is %.9g, expected %.9g"):format(i, got, want) end
  end
  checks = checks + expected.count
end

-- Calls the function with a result of `dtype`, or a fresh result if that is nil, and runs backward. Returns what is wrong; nil if nothing
-- is.
local function fault(call, dtype)
  local leaves, arguments, result = {}, {}, nil
  local count = #call.arguments - (call.given and 1 or 0)
  for i = 1, count do
    local argument = call.arguments[i]
    if argument.kind == "tensor" then
      local tensor = place(argument.block, "contiguous").tensor
      arguments[i] = tensor
      if argument.block.dtype.name:match "float" then
        succeed(C.THTensor_setRequiresGrad(tensor, 1))
        leaves[#leaves + 1] = tensor
      end
    elseif argument.kind == "result" then
      -- The first result has the gradient; others may be indices.
      arguments[i] = keep(dtype and not result and C.THTensor_newWithDtype(dtype.code) or C.THTensor_new())
      result = result or arguments[i]
    else
      arguments[i] = argument.value
    end
  end
  if invoke(call.name, arguments, count) ~= 0 then return ffi.string(C.THGetLastError()) end
  if dtype and result.dtype ~= dtype.code then return "the result has another dtype" end
  local given = call.given and C.THTensor_newTo(place(call.arguments[count + 1].block, "contiguous").tensor, result.dtype)
  given = keep(given or C.THTensor_newOnesLike(result))
  local roots, gradients = ffi.new("struct THTensor *[1]", { result }), ffi.new("struct THTensor *[1]", { given })
  if C.THGrad_backward(roots, gradients, 1, 0, 0) ~= 0 then return ffi.string(C.THGetLastError()) end
  for k, leaf in ipairs(leaves) do
    local wrong = difference(leaf, call.results[k], call)
    if wrong then return ("gradient %d: %s"):format(k, wrong) end
  end
end

local failed, count = 0, 0

local function run(call)
  local dtypes, shown = { false }, 0
  for _, name in ipairs { "float16", "bfloat16", "float32", "float64" } do
    if name ~= call.results[1].dtype.name then dtypes[#dtypes + 1] = elements.dtypes[name] end
  end
  for _, dtype in ipairs(dtypes) do
    local wrong = fault(call, dtype or nil)
    memory.free_all()
    if wrong and shown < 2 then print(("%s, result %s: %s"):format(call.text, dtype and dtype.name or "fresh", wrong)) end
    if wrong then shown = shown + 1 end
  end
  failed = failed + (shown > 0 and 1 or 0)
end

-- True if a function matches one of the patterns, or there are none.
local function matches(name)
  for _, pattern in ipairs(arg) do
    if name:match(pattern) then return true end
  end
  return not arg[1]
end

for _, call in ipairs(require "expectations" "tests/data/gradients.txt") do
  if matches(call.name) then
    count = count + 1
    run(call)
  end
end
print(("%d calls, %d checks, %d calls failed"):format(count, checks, failed))
os.exit(failed == 0 and count > 0)
