-- Calls of expectations with float64 operands: the values, the results, and the gradients that thorn computes.

local ffi = require "ffi"
local elements = require "elements"
local memory = require "memory"

local C = ffi.load(os.getenv "THORN_LIB")
local float64 = elements.dtypes.float64
local place, keep = memory.place, memory.keep

local cases = {}

-- Kinds of arguments that may have float elements on which results depend.
local reads = { input = true, optional_input = true, inout = true, inputs = true, optional_inputs = true, out = true }
local dtype_kinds = { dtype = true, other_dtype = true, optional_dtype = true }

-- Replaces a value that is not finite, or too large or too small for finite differences, by a value near 1.
local function tame(value, i)
  local size = math.abs(value)
  if size <= 50 and (size >= 1e-3 or size == 0) then return value end
  return (i * 7 % 13 - 6) / 4 + 0.1
end

local copies = setmetatable({}, { __mode = "k" })

-- Returns the float64 copy of a block of floats. The same block always gives the same copy.
local function copy_of(block)
  local copy = copies[block]
  if not copy then
    copy = elements.block(float64, block.shape, block.count)
    for i = 0, block.count - 1 do copy.data[i] = tame(block.dtype.read(block.data, i), i) end
    copies[block] = copy
  end
  return copy
end

-- Returns the case of an expectation: its arguments, among which `variables` are float64 blocks, each with the kind of its argument.
-- `kinds` has the kinds of arguments by position.
function cases.of(call, kinds)
  local case = { name = call.name, text = call.text, slots = {}, variables = {}, fresh = call.fresh }
  -- A tensor that is passed as several operands is one leaf.
  local function variable(block, name)
    local copy = copy_of(block)
    for v, other in ipairs(case.variables) do
      if other.block == copy then return v end
    end
    table.insert(case.variables, { block = copy, name = name })
    return #case.variables
  end
  local function slot(argument, kind)
    if argument.kind == "tensor" then
      local block = argument.block
      if block.dtype.precision and reads[kind.kind] then return { variable = variable(block, kind.name) } end
      return { constant = block }
    elseif argument.kind == "result" then
      if argument.from and argument.from.dtype.precision then
        return { result = true, variable = variable(argument.from, kind.name) }
      end
      return { result = true, optional = argument.optional, copies = argument.from }
    elseif kind.kind == "new_handles" or kind.kind == "count_inout" then
      return { [kind.kind] = true }
    end
    local code = elements.by_code[argument.value]
    if dtype_kinds[kind.kind] and code and code.precision then return { value = float64.code } end
    return { value = argument.value }
  end
  for i, argument in ipairs(call.arguments) do
    if argument.list then
      local list = {}
      for k, entry in ipairs(argument.list) do list[k] = slot(entry, kinds[i]) end
      case.slots[i] = { list = list }
    else
      case.slots[i] = slot(argument, kinds[i])
    end
  end
  return case
end

local MOST = 64

-- Returns a handle that can be written, with the values of a leaf.
local function written(leaf, block, layout)
  local handle = place({ dtype = block.dtype, shape = block.shape, count = block.count }, layout) or
    place({ dtype = block.dtype, shape = block.shape, count = block.count }, "contiguous")
  assert(C.THTensor_copy(handle.tensor, leaf) == 0, ffi.string(C.THGetLastError()))
  return handle.tensor
end

-- Callbacks must not be called from code that LuaJIT has compiled.
local function invoke(name, arguments, count) return C[name](unpack(arguments, 1, count)) end
jit.off(invoke)

-- Calls the function. Fields of `how`: `layout`, the layout of the operands; `requires`, true if leaves require gradients; `in_place`, the
-- variable that is also the first result; `only`, the only optional result that is not NULL. Returns the leaves, the results, and the code
-- and the text of the error.
function cases.call(case, how)
  local layout, leaves, results, arguments, alive = how.layout or "contiguous", {}, {}, {}, {}
  for v, variable in ipairs(case.variables) do
    local operand = place(variable.block, layout) or place(variable.block, "contiguous")
    leaves[v] = operand.tensor
    if how.requires and not variable.frozen then assert(C.THTensor_setRequiresGrad(leaves[v], 1) == 0) end
  end
  local number, in_place, many, count = 0, nil, nil, nil
  if how.in_place then in_place = written(leaves[how.in_place], case.variables[how.in_place].block, layout) end
  local function handle(slot)
    if slot.result then
      number = number + 1
      if how.only and slot.optional and number ~= how.only then return nil end
      local tensor
      if slot.variable then
        tensor = written(leaves[slot.variable], case.variables[slot.variable].block, layout)
      elseif slot.copies then
        tensor = place(slot.copies, "contiguous").tensor
      else
        tensor = number == 1 and in_place or keep(C.THTensor_new())
      end
      results[#results + 1] = { tensor = tensor, number = number }
      return tensor
    elseif slot.variable then
      if slot.variable == how.in_place then return in_place end
      return leaves[slot.variable]
    elseif slot.constant then
      return (place(slot.constant, layout) or place(slot.constant, "contiguous")).tensor
    end
    return slot.value
  end
  for i, slot in ipairs(case.slots) do
    if slot.list then
      local list = ffi.new("struct THTensor *[?]", math.max(#slot.list, 1))
      for k, entry in ipairs(slot.list) do list[k - 1] = handle(entry) end
      arguments[i], alive[#alive + 1] = list, list
    elseif slot.new_handles then
      many = ffi.new("struct THTensor *[?]", MOST)
      arguments[i] = many
    elseif slot.count_inout then
      count = ffi.new("int[1]", MOST)
      arguments[i] = count
    else
      arguments[i] = handle(slot)
    end
  end
  -- Random numbers are the same each time.
  C.THRandom_manualSeed(nil, 1)
  C.THClearLastError()
  local got = invoke(case.name, arguments, #case.slots)
  local code = tonumber(C.THGetLastErrorCode())
  if code ~= 0 then return leaves, results, code, ffi.string(C.THGetLastError()) end
  if type(got) == "cdata" and ffi.istype("struct THTensor *", got) and got ~= nil then
    results[#results + 1] = { tensor = keep(got), number = number + 1 }
  end
  for k = 0, many and count[0] - 1 or -1 do results[#results + 1] = { tensor = keep(many[k]), number = k + 1 } end
  return leaves, results, 0
end

-- Returns the elements of a tensor of floats in row-major order.
local function values_of(tensor)
  local dtype, count = elements.by_code[tensor.dtype], tonumber(C.THTensor_numel(tensor))
  local values = ffi.new("double[?]", math.max(count, 1))
  local data = ffi.cast(dtype.pointer, C.THTensor_data(tensor))
  if C.THTensor_isContiguous(tensor) == 1 then
    for i = 0, count - 1 do values[i] = dtype.read(data, i) end
  else
    local positions = memory.positions_of(memory.sizes(tensor), memory.strides(tensor), 0, count)
    for i = 0, count - 1 do values[i] = dtype.read(data, positions[i]) end
  end
  return values, count
end

-- True for a result that has floats. Other results have no gradients.
local function has_floats(tensor)
  local dtype = elements.by_code[tensor.dtype]
  return dtype and dtype.precision and C.THTensor_numel(tensor) > 0
end

-- Returns the values of all results of floats, each with its count; nil and the error if the call fails.
function cases.values(case, how)
  C.THGrad_setEnabled(0)
  local _, results, code, text = cases.call(case, how)
  C.THGrad_setEnabled(1)
  local list = {}
  for _, result in ipairs(code == 0 and results or {}) do
    if has_floats(result.tensor) then
      local values, count = values_of(result.tensor)
      list[#list + 1] = {
        values = values, count = count, number = result.number, dtype = elements.by_code[result.tensor.dtype],
        shape = memory.sizes(result.tensor),
      }
    end
  end
  memory.free_all()
  if code ~= 0 then return nil, text end
  return list
end

-- Returns the weights of the elements of each result: 0 for elements that are not finite or are too large. The second value tells whether
-- some are 0.
function cases.weights(results, only)
  local weights, masked = {}, false
  for k, result in ipairs(results) do
    local list = ffi.new("double[?]", result.count)
    for i = 0, result.count - 1 do
      local fits = math.abs(result.values[i]) < 1e8
      list[i] = fits and ((i * 37 + k * 11) % 17 - 8) / 8 + 0.06 or 0
      masked = masked or not fits
    end
    weights[k] = (not only or only == result.number) and list or false
  end
  return weights, masked
end

-- True if all weights are 0.
function cases.is_nothing(results, weights)
  for k, result in ipairs(results) do
    for i = 0, weights[k] and result.count - 1 or -1 do
      if weights[k][i] ~= 0 then return false end
    end
  end
  return true
end

-- Returns the weighted sum of all results, and the weighted sum of their magnitudes.
function cases.loss(results, weights)
  local sum, size = 0, 0
  for k, result in ipairs(results) do
    local list, values = weights[k], result.values
    for i = 0, list and result.count - 1 or -1 do
      if list[i] ~= 0 then
        local term = list[i] * values[i]
        sum, size = sum + term, size + math.abs(term)
      end
    end
  end
  return sum, size
end

-- Returns the results that require a gradient, a tensor of weights for each, and the position of each among `results`.
local function weighed(got, how, results, weights)
  local tensors, given, places, k = {}, {}, {}, 0
  for _, result in ipairs(got) do
    if has_floats(result.tensor) then
      k = how.only and result.number or k + 1
      local at = k
      if how.only then
        for i, expected in ipairs(results) do at = expected.number == result.number and i or at end
      end
      if weights[at] and C.THTensor_requiresGrad(result.tensor) == 1 then
        local block = elements.block(float64, memory.sizes(result.tensor), results[at].count)
        ffi.copy(block.data, weights[at], results[at].count * 8)
        local weight = place(block, how.layout or "contiguous") or place(block, "contiguous")
        tensors[#tensors + 1], given[#given + 1], places[#places + 1] = result.tensor, weight.tensor, at
      end
    end
  end
  return tensors, given, places
end

-- Frees all tensors. Returns nil, the code and the text of the last error.
local function last_error()
  local code, text = tonumber(C.THGetLastErrorCode()), ffi.string(C.THGetLastError())
  memory.free_all()
  return nil, code, text
end

local function handles(list) return ffi.new("struct THTensor *[?]", math.max(#list, 1), list) end

-- Returns the gradients of the weighted sum with respect to all variables, as lists of numbers; nil, the code and the text of an error.
function cases.gradients(case, how, results, weights)
  how.requires = true
  local leaves, got, code, text = cases.call(case, how)
  how.requires = nil
  if code ~= 0 then
    memory.free_all()
    return nil, code, text
  end
  local tensors, given = weighed(got, how, results, weights)
  if #tensors > 0 and C.THGrad_backward(handles(tensors), handles(given), #tensors, 0, 0) ~= 0 then return last_error() end
  local found = {}
  for v, variable in ipairs(case.variables) do
    local gradient = C.THTensor_newGrad(leaves[v])
    if gradient ~= nil then
      keep(gradient)
      if table.concat(memory.sizes(gradient), "x") ~= table.concat(variable.block.shape, "x") then
        memory.free_all()
        return nil, -1, "a gradient of another shape than its operand"
      end
      found[v] = values_of(gradient)
    else
      found[v] = ffi.new("double[?]", math.max(variable.block.count, 1))
    end
  end
  memory.free_all()
  return found
end

-- Returns the gradients of `outputs` with respect to `inputs`, at the positions of the inputs. A missing entry means 0.
local function gradients_of(outputs, given, inputs, create)
  local r, count = ffi.new("struct THTensor *[?]", math.max(#inputs, 1)), ffi.new("int[1]", #inputs)
  local status = C.THGrad_gradients(r, count, handles(outputs), handles(given), #outputs, handles(inputs), #inputs, 0, create, 1)
  if status ~= 0 then return nil end
  local found = {}
  for k = 1, #inputs do found[k] = r[k - 1] ~= nil and keep(r[k - 1]) or nil end
  return found
end

-- Returns the gradients of the sum of `factors * gradients` with respect to all variables, and then with respect to the weights of each
-- result. `gradients` are the gradients of the weighted sum of the results; the second value is the list of them. Entries without a
-- gradient are false. On error, returns nil, the code and the text.
function cases.second_gradients(case, how, results, weights, factors)
  how.requires = true
  local leaves, got, code, text = cases.call(case, how)
  how.requires = nil
  if code ~= 0 then
    memory.free_all()
    return nil, code, text
  end
  local tensors, given, places = weighed(got, how, results, weights)
  local inputs, of = {}, {}
  for v, variable in ipairs(case.variables) do
    if not variable.frozen then inputs[#inputs + 1], of[#of + 1] = leaves[v], v end
  end
  local seconds, firsts = {}, {}
  for k = 1, #case.variables + #results do seconds[k] = false end
  for v = 1, #case.variables do firsts[v] = false end
  if #tensors > 0 then
    for _, weight in ipairs(given) do assert(C.THTensor_setRequiresGrad(weight, 1) == 0) end
    local found = gradients_of(tensors, given, inputs, 1)
    if not found then return last_error() end
    local outputs, scale = {}, {}
    for i, v in ipairs(of) do
      firsts[v] = found[i] and values_of(found[i]) or false
      if found[i] and C.THTensor_requiresGrad(found[i]) == 1 then
        local shape, count = case.variables[v].block.shape, case.variables[v].block.count
        local block = elements.block(float64, shape, count)
        ffi.copy(block.data, factors[v], count * 8)
        outputs[#outputs + 1], scale[#scale + 1] = found[i], place(block, "contiguous").tensor
      end
    end
    for i, weight in ipairs(given) do inputs[#inputs + 1], of[#of + 1] = weight, #case.variables + places[i] end
    found = #outputs > 0 and gradients_of(outputs, scale, inputs, 0) or #outputs == 0 and {}
    if not found then return last_error() end
    for i, v in ipairs(of) do seconds[v] = found[i] and values_of(found[i]) or false end
  end
  memory.free_all()
  return seconds, firsts
end

return cases
