-- Second derivatives: compares the gradient of a weighted sum of gradients with differences of the gradients.

local ffi = require "ffi"
local cases = require "cases"

local seconds = { smooth = 0, skipped = 0 }

-- Calls with operands of more elements are left out.
local MOST = 1000
local STEPS = { 1e-4, 1e-6 }

-- Returns a fixed number between -1 and 1 for element i of list k.
local function factor(k, i) return ((i * 29 + k * 17) % 23 - 11) / 12 + 0.03 end

local function finite(x) return x - x == 0 end

-- Returns the sum of `factors * gradients`, and the sum of the magnitudes; NaN if there are no gradients.
local function sum_of(case, gradients, factors)
  local sum, size = gradients and 0 or 0 / 0, 0
  for v, variable in ipairs(gradients and case.variables or {}) do
    for i = 0, variable.block.count - 1 do
      if factors[v][i] ~= 0 then
        local term = factors[v][i] * gradients[v][i]
        sum, size = sum + term, size + math.abs(term)
      end
    end
  end
  return sum, size
end

-- Returns the sum of `factors * gradients` after moving all variables by `step` along their directions.
local function moved(case, directions, step, results, weights, factors)
  local before = {}
  for v, variable in ipairs(case.variables) do
    local data, count = variable.block.data, variable.block.count
    before[v] = ffi.new("double[?]", math.max(count, 1))
    ffi.copy(before[v], data, count * 8)
    for i = 0, count - 1 do data[i] = data[i] + step * directions[v][i] end
  end
  -- The results may have another shape at the moved values.
  local got, gradients = cases.values(case, {}), nil
  local same = got and #got == #results
  for k = 1, same and #results or 0 do same = same and got[k].count == results[k].count end
  if same then gradients = cases.gradients(case, {}, results, weights) end
  for v, variable in ipairs(case.variables) do ffi.copy(variable.block.data, before[v], variable.block.count * 8) end
  return (sum_of(case, gradients, factors))
end

-- Compares the slope of the sum along the directions. Returns "same", "rough" if the gradients are not smooth, or the difference.
local function along(case, directions, slope, scale, results, weights, factors, at, size)
  local first, last
  for _, step in ipairs(STEPS) do
    local right = moved(case, directions, step, results, weights, factors)
    local left = moved(case, directions, -step, results, weights, factors)
    local central, noise = (right - left) / (2 * step), 1e-13 * size / step
    if math.abs(central - slope) <= 1e-5 * math.max(scale, math.abs(central), 1e-3) + noise then return "same" end
    local forward, backward = (right - at) / step, (at - left) / step
    local allowed = 1e-3 * math.max(math.abs(forward), math.abs(backward), 1e-3) + 4 * noise
    if step < 1e-5 and not (math.abs(forward - backward) <= allowed and allowed < math.huge) then return "rough" end
    first, last = first or central, central
  end
  -- A gradient that jumps has different slopes for different steps.
  local allowed = 1e-2 * math.max(math.abs(first), 1e-3) + 1e-13 * size / STEPS[#STEPS]
  return math.abs(first - last) > allowed and "rough" or first
end

-- Returns fixed factors for the gradients: 0 where a variable has no gradient or an element is not finite. The second value is true if all
-- are finite.
local function factors_of(case, gradients)
  local factors, all = {}, true
  for v, variable in ipairs(case.variables) do
    local list, count = ffi.new("double[?]", math.max(variable.block.count, 1)), variable.block.count
    for i = 0, variable.frozen and -1 or count - 1 do
      list[i] = finite(gradients[v][i]) and factor(v, i) or 0
      all = all and finite(gradients[v][i])
    end
    factors[v] = list
  end
  return factors, all
end

-- Returns the direction in which the variables move: another number for each element, but one number for elements that mirror each other.
local function directions_of(case, factors)
  local directions = {}
  for v, variable in ipairs(case.variables) do
    local list, count = ffi.new("double[?]", math.max(variable.block.count, 1)), variable.block.count
    for i = 0, count - 1 do list[i] = factors[v][i] ~= 0 and factor(v + 5, i * 3 + 1) or 0 end
    for i = 0, variable.mirror and count - 1 or -1 do list[variable.mirror(variable.block, i)] = list[i] end
    directions[v] = list
  end
  return directions
end

-- Sets the directions to 0 at elements whose second gradient is not finite.
local function stop(lists, directions, counts)
  for v, list in ipairs(lists) do
    for i = 0, list and directions[v] and counts[v] - 1 or -1 do
      if not finite(list[i]) then directions[v][i] = 0 end
    end
  end
end

-- Returns the slope of the sum along the directions, and the sum of magnitudes, by the second gradients.
local function slope_of(lists, directions, counts)
  local slope, scale = 0, 0
  for v, list in ipairs(lists) do
    for i = 0, list and directions[v] and counts[v] - 1 or -1 do
      if directions[v][i] ~= 0 then
        local term = directions[v][i] * list[i]
        slope, scale = slope + term, scale + math.abs(term)
      end
    end
  end
  return slope, scale
end

-- The gradients are linear in the weights of the results: the slope along other weights is the sum with these weights.
local function weights_fault(case, found, results, weights)
  local others, counts, lists = {}, {}, {}
  for k, result in ipairs(results) do
    local list = weights[k] and ffi.new("double[?]", math.max(result.count, 1)) or false
    for i = 0, list and result.count - 1 or -1 do list[i] = weights[k][i] ~= 0 and factor(k + 9, i) or 0 end
    others[k], counts[k], lists[k] = list, result.count, found.second[#case.variables + k]
  end
  if not found.all_finite then stop(lists, others, counts) end
  local slope, scale = slope_of(lists, others, counts)
  local sum, size = sum_of(case, cases.gradients(case, {}, results, others), found.factors)
  if math.abs(slope - sum) <= 1e-9 * math.max(scale, size, 1e-3) then
    seconds.smooth = seconds.smooth + 1
  else
    return ("second gradient along weights of results is %.10g, and must be %.10g"):format(slope, sum)
  end
end

-- Returns true for a call with few enough elements.
function seconds.fits(case)
  local count = 0
  for _, variable in ipairs(case.variables) do count = count + variable.block.count end
  return count <= MOST
end

-- Returns the first difference between gradients with a history and without one; nil if there is none.
local function history_fault(case, gradients, first, size)
  for v, variable in ipairs(case.variables) do
    for i = 0, variable.frozen and -1 or variable.block.count - 1 do
      local a, b = gradients[v][i], first[v] and first[v][i] or 0
      if finite(a) and not (math.abs(a - b) <= 1e-9 * math.max(math.abs(a), 1e-3) + 1e-12 * size) then
        return ("gradient of %s with a history is %.10g at element %d, without one %.10g"):format(variable.name, b, i, a)
      end
    end
  end
end

-- Compares the slope of the gradients as variables move. Returns the fault, and true if the gradients are not smooth.
local function values_fault(case, found, gradients, results, weights)
  local directions, lists, counts = directions_of(case, found.factors), {}, {}
  for v, variable in ipairs(case.variables) do lists[v], counts[v] = found.second[v], variable.block.count end
  -- An infinite gradient has no slope.
  if not found.all_finite then stop(lists, directions, counts) end
  local slope, scale = slope_of(lists, directions, counts)
  local got = along(case, directions, slope, scale, results, weights, found.factors, sum_of(case, gradients, found.factors))
  if got == "same" then
    seconds.smooth = seconds.smooth + 1
  elseif got == "rough" then
    seconds.skipped = seconds.skipped + 1
  else
    return ("slope of gradients is %.10g, differences give %.10g"):format(slope, got)
  end
  return nil, got == "rough"
end

-- Returns the second gradients of a call, for `seconds.fault` and `seconds.different`; nil, the code and the text of an error.
function seconds.of(case, gradients, results, weights)
  local factors, all_finite = factors_of(case, gradients)
  local second, first, text = cases.second_gradients(case, {}, results, weights, factors)
  if not second then return nil, first, text end
  return { second = second, first = first, factors = factors, all_finite = all_finite }
end

-- Returns what is wrong with the second gradients; nil if nothing is. The second value is true if the gradients are not smooth.
function seconds.fault(case, found, gradients, results, weights)
  local _, size = sum_of(case, gradients, found.factors)
  local wrong = history_fault(case, gradients, found.first, size)
  if wrong then return wrong end
  local rough
  wrong, rough = values_fault(case, found, gradients, results, weights)
  return wrong or weights_fault(case, found, results, weights), rough
end

-- Returns the first difference between the second gradients of two ways, nil if there is none, or the text of an error.
function seconds.different(case, how, found, results, weights)
  local others, _, text = cases.second_gradients(case, how, results, weights, found.factors)
  if not others then return text end
  for k, list in ipairs(found.second) do
    local variable = case.variables[k]
    local count, greatest = variable and variable.block.count or results[k - #case.variables].count, 1e-3
    local function at(of, i) return of and of[i] or 0 end
    for i = 0, count - 1 do
      if finite(at(list, i)) then greatest = math.max(greatest, math.abs(at(list, i))) end
    end
    for i = 0, count - 1 do
      local a, b = at(list, i), at(others[k], i)
      if not (a == b or a ~= a and b ~= b or math.abs(a - b) <= 1e-9 * greatest) then
        local what = variable and variable.name or "weights"
        return ("second gradient of %s at element %d is %.10g, with operands contiguous %.10g"):format(what, i, b, a)
      end
    end
  end
end

return seconds
