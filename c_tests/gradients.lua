-- Compares gradients with finite differences. Each call of tests/data/expectations.txt that has floats among its operands is made with
-- float64 operands and recorded, and backward runs from a weighted sum of its results.
--
--     THORN_LIB=target/release/libthorn.so luajit c_tests/gradients.lua [patterns of function names]
--
-- For calls of few elements backward is recorded, too: the gradients of a weighted sum of the gradients are compared with differences of
-- the gradients, and with the gradients for other weights.
--
-- Operands in other memory layouts, and results that are one of the operands, must give the same gradients. gradients/calls.txt has calls
-- of functions for which there are no expectations. gradients/lists.lua lists the functions without a derivative.
--
-- With TH_TEST_SHARE=3 every third call of each function is run.

local folder = arg[0]:match "^(.*)/" or "."
package.path = ("%s/gradients/?.lua;%s/table/?.lua;%s/header/?.lua;"):format(folder, folder, folder) .. package.path
local ffi = require "ffi"

ffi.cdef "const char *THCdef(void);"
local C = ffi.load(assert(os.getenv "THORN_LIB", "THORN_LIB names no library"))
ffi.cdef(ffi.string(C.THCdef()))
-- Declarations for a library whose THCdef is older than its functions.
for name, declaration in pairs {
  THTensor_setRequiresGrad = "THStatus THTensor_setRequiresGrad(THTensor *t, int requires);",
  THTensor_requiresGrad = "int THTensor_requiresGrad(const THTensor *t);",
  THTensor_newGrad = "THTensor *THTensor_newGrad(const THTensor *t);",
  THGrad_backward = "THStatus THGrad_backward(THTensor *const *tensors, THTensor *const *gradients, int count, int retain, int create);",
  THGrad_gradients = "THStatus THGrad_gradients(THTensor **r, int *count, THTensor *const *outputs, THTensor *const *gradients, " ..
    "int outputCount, THTensor *const *inputs, int inputCount, int retain, int create, int allowUnused);",
  THGrad_setEnabled = "THStatus THGrad_setEnabled(int enabled);",
} do
  if not pcall(function() return C[name] end) then ffi.cdef(declaration) end
end
C.THGrad_setEnabled(1)

local cases = require "cases"
local differences = require "differences"
local lists = require "lists"
local memory = require "memory"
local seconds = require "seconds"
local api = require("api").read(folder .. "/../src/capi/api.json")

local TH_ERR_UNSUPPORTED = C.TH_ERR_UNSUPPORTED

-- The kinds of the arguments of each function by position, and the functions by name.
local arguments_of, function_of = {}, {}
for _, row in ipairs(api.functions) do arguments_of[row.name], function_of[row.name] = row.arguments, row end

-- Faults; functions without a derivative; functions whose gradients were compared; functions that returned only integers or truth values;
-- functions that refuse some gradients; functions that refuse second derivatives.
local failed, without, compared, integral, partly, once, twice = 0, {}, {}, {}, {}, {}, {}
local shown = {}

local function report(case, way, wrong)
  failed = failed + 1
  shown[case.name] = (shown[case.name] or 0) + 1
  if shown[case.name] <= 3 then print(("%s, %s: %s"):format(case.text, way, wrong)) end
end

-- Notes a call that was refused because it has no derivative. The second value is true if another input may have a derivative.
local function refused(case, code, text)
  if code ~= TH_ERR_UNSUPPORTED then return false end
  local name = case.name:gsub("^THTensor_", "")
  if text:match "^THGrad_backward: the gradient of " then
    partly[name] = true
    return true
  end
  if text:match "has no derivative, and" then
    without[name] = true
    return true
  end
  local input = text:match "has no derivative with respect to '([%w_]+)'"
  if not input then return false end
  without[name .. " " .. input] = true
  local frozen = false
  for _, variable in ipairs(case.variables) do
    if variable.name == input and not variable.frozen then variable.frozen, frozen = true, true end
  end
  return true, frozen
end

-- Returns the first difference between the gradients of two ways; nil if there is none.
local function different(case, gradients, others)
  for v, variable in ipairs(case.variables) do
    local a, b, greatest = gradients[v], others[v], 0
    for i = 0, variable.block.count - 1 do
      if a[i] == a[i] and math.abs(a[i]) < math.huge then greatest = math.max(greatest, math.abs(a[i])) end
    end
    for i = 0, variable.block.count - 1 do
      local same = a[i] == b[i] or a[i] ~= a[i] and b[i] ~= b[i] or math.abs(a[i] - b[i]) <= 1e-9 * math.max(greatest, 1e-3)
      if not same and not variable.frozen then
        return ("gradient of %s at element %d is %.10g, with operands contiguous %.10g"):format(variable.name, i, b[i], a[i])
      end
    end
  end
end

local function same_shape(a, b) return table.concat(a, "x") == table.concat(b, "x") end

-- Returns true for a call that matches one of the patterns of a list.
local function is_among(text, list)
  for pattern in pairs(list) do
    if text:match(pattern) then return true end
  end
end

-- Tries other layouts, and results that are operands.
local function try_ways(case, results, weights, gradients, found)
  for _, layout in ipairs { "transposed", "stepped" } do
    -- The call may need a view that this layout does not allow.
    if cases.values(case, { layout = layout }) then
      local others, _, text = cases.gradients(case, { layout = layout }, results, weights)
      local wrong = others and different(case, gradients, others) or text
      if others and found and not wrong then wrong = seconds.different(case, { layout = layout }, found, results, weights) end
      if wrong then report(case, "operands " .. layout, wrong) end
    end
  end
  local first = case.slots[1]
  if case.fresh or not (first and first.result) or first.variable or #results == 0 or results[1].number ~= 1 then return end
  for v, variable in ipairs(case.variables) do
    if results[1].dtype == variable.block.dtype and same_shape(results[1].shape, variable.block.shape) then
      for _, layout in ipairs { "contiguous", "stepped" } do
        local how = { layout = layout, in_place = v }
        local others, _, text = cases.gradients(case, how, results, weights)
        local wrong = others and different(case, gradients, others) or text
        if others and found and not wrong then wrong = seconds.different(case, how, found, results, weights) end
        if wrong and wrong:match "was changed in place" then wrong = nil end
        if wrong then report(case, ("in place of %s, %s"):format(variable.name, layout), wrong) end
      end
    end
  end
end

-- Compares the second gradients of a smooth function. Returns them, nil if there are none, and true where the gradients were not smooth.
local function try_seconds(case, gradients, results, weights, way)
  if not seconds.fits(case) or is_among(case.text, lists.apart_twice) then return nil, false end
  local name = case.name:gsub("^THTensor_", "")
  local found, code, text = seconds.of(case, gradients, results, weights)
  if not found and code == TH_ERR_UNSUPPORTED then
    once[name] = true
    return nil, false
  end
  local wrong, rough = text, false
  if found then wrong, rough = seconds.fault(case, found, gradients, results, weights) end
  if wrong then report(case, way .. ", twice", wrong) else twice[name] = true end
  return not wrong and found or nil, rough
end

-- Compares the gradients of one result, or of all results. Returns true if the function was not smooth.
local function try(case, results, only)
  local weights, masked = cases.weights(results, only)
  if cases.is_nothing(results, weights) then return false end
  weights.counts = {}
  for k, result in ipairs(results) do weights.counts[k] = result.count end
  local gradients, code, text, way = nil, nil, nil, only and ("result %d"):format(only) or "all results"
  repeat
    gradients, code, text = cases.gradients(case, {}, results, weights)
    local is_refused, again = false, false
    if not gradients then is_refused, again = refused(case, code, text) end
    if is_refused and not again then return false end
  until not again
  if not gradients then
    report(case, way, text)
    return false
  end
  compared[case.name] = true
  local rough = false
  for v, variable in ipairs(case.variables) do
    if not variable.frozen and variable.block.count > 0 then
      local wrong, was_rough = differences.fault(case, {}, v, gradients[v], results, weights, masked)
      if wrong then report(case, way, wrong) end
      rough = rough or was_rough
    end
  end
  local found
  if not rough then found, rough = try_seconds(case, gradients, results, weights, way) end
  if not only then try_ways(case, results, weights, gradients, found) end
  if only then
    local others, _, text = cases.gradients(case, { only = only }, results, weights)
    local wrong = others and different(case, gradients, others) or text
    if wrong then report(case, ("all but result %d NULL"):format(only), wrong) end
  end
  return rough
end

-- Moves the values of all variables a little, so that no two of them are equal. Returns a function that restores the values.
local function shake(case)
  local before = {}
  for v, variable in ipairs(case.variables) do
    local data, count = variable.block.data, variable.block.count
    before[v] = ffi.new("double[?]", math.max(count, 1))
    ffi.copy(before[v], data, count * 8)
    -- A probability must stay a probability.
    for i = 0, variable.name ~= "q" and count - 1 or -1 do data[i] = data[i] + 0.05 * math.sin(12.9898 * i + v) + 0.013 end
    for i = 0, variable.mirror and count - 1 or -1 do data[variable.mirror(variable.block, i)] = data[i] end
  end
  return function()
    for v, variable in ipairs(case.variables) do ffi.copy(variable.block.data, before[v], variable.block.count * 8) end
  end
end

local function try_results(case)
  local results = cases.values(case, {})
  if results and #results == 0 then integral[case.name] = true end
  if not results or #results == 0 then return false end
  -- Random functions have no finite differences.
  local again = cases.values(case, {})
  for k, result in ipairs(results) do
    if result.dtype.name ~= "float64" then return false end
    for i = 0, result.count - 1 do
      if again[k].values[i] ~= result.values[i] and result.values[i] == result.values[i] then return false end
    end
  end
  local rough = try(case, results, nil)
  for k = 1, #results > 1 and #results or 0 do rough = try(case, results, results[k].number) or rough end
  return rough
end

-- Calls with more elements take too long, and have the same derivatives as calls with fewer.
local MOST_ELEMENTS = 10000

local function run(call)
  local case = cases.of(call, arguments_of[call.name])
  if #case.variables == 0 then integral[call.name] = true end
  if #case.variables == 0 or is_among(call.text, lists.apart) then return false end
  local elements = 0
  for _, variable in ipairs(case.variables) do elements = elements + variable.block.count end
  if elements > MOST_ELEMENTS then return false end
  local name = call.name:gsub("^THTensor_", "")
  local symmetric = lists.symmetric[name]
  for _, variable in ipairs(case.variables) do variable.mirror = symmetric == variable.name and lists.mirror or nil end
  if lists.ties[name] or try_results(case) then
    local back = shake(case)
    try_results(case)
    back()
  end
  return true
end

-- True if a function matches one of the patterns, or there are none.
local function matches(name)
  for _, pattern in ipairs(arg) do
    if name:match(pattern) then return true end
  end
  return not arg[1]
end

local share, seen, known = tonumber(os.getenv "TH_TEST_SHARE") or 1, {}, {}

-- True if the next expectation of a function is to be run. Of expectations that differ only in the dtype of floats, one is run.
local function wanted(call)
  if call.status or not matches(call.name) or not function_of[call.name] then return false end
  local text = call.text:gsub("%.b?float%d+", ".float")
  if known[text] then return false end
  known[text] = true
  seen[call.name] = (seen[call.name] or 0) + 1
  return (seen[call.name] - 1) % share == 0
end

local read = require "expectations"
read "tests/data/expectations.txt"
local count = 0
for _, call in ipairs(read(folder .. "/gradients/calls.txt")) do
  if wanted(call) then
    if os.getenv "TH_TEST_VERBOSE" then io.write(call.text, "\n") io.flush() end
    count = count + (run(call) and 1 or 0)
  end
end

local takes = { input = true, optional_input = true, inout = true, inputs = true, optional_inputs = true }
local gives = { out = true, optional_out = true, view_out = true, inout = true, outs = true, new_handles = true }

-- True if a function has float inputs and float results.
local function is_differentiable(row)
  local takes_floats, gives_floats = false, row.returns.kind == "new"
  for _, argument in ipairs(row.arguments) do
    takes_floats, gives_floats = takes_floats or takes[argument.kind], gives_floats or gives[argument.kind]
  end
  return row.name:match "^THTensor_" and takes_floats and gives_floats
end

-- Compares the functions that were found with a list. If `complete` is true, all entries of the list must have been found.
local function compare(what, found, list, complete)
  local names = {}
  for name in pairs(found) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    if not list[name] then
      failed = failed + 1
      print(("%s %s, and is not in the list"):format(name, what))
    end
  end
  for name in pairs(complete and list or {}) do
    if not found[name] then
      failed = failed + 1
      print(("%s is in the list of those of which each %s"):format(name, what))
    end
  end
end

local all = share == 1 and not arg[1]
compare("refuses a second derivative, or does so in some case", once, lists.once, all)
compare("has no derivative", without, lists.without, all)
compare("refuses the gradient of some result or of some case", partly, lists.partly, all)
if all then
  local unseen = {}
  for _, row in ipairs(api.functions) do
    local name = row.name:gsub("^THTensor_", "")
    if is_differentiable(row) and not compared[row.name] and not integral[row.name] and not without[name] then unseen[name] = true end
  end
  compare("is not exercised by any call", unseen, lists.unexercised, true)
  local only_once = {}
  for name in pairs(compared) do
    name = name:gsub("^THTensor_", "")
    if not twice[name] then only_once[name] = true end
  end
  compare("has no second derivative that was compared", only_once, lists.once, false)
end
print(("%d calls, %d slopes and %d second slopes agree, %d and %d where it is not smooth, %d failed"):format(
  count, differences.smooth, seconds.smooth, differences.skipped, seconds.skipped, failed))
os.exit(failed == 0 and count > 0)
