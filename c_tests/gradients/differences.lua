-- Compares the gradient of a variable with central differences.

local ffi = require "ffi"
local cases = require "cases"

local differences = { smooth = 0, skipped = 0 }

local STEPS = { 1e-5, 1e-3, 1e-7 }
local FEW, SAMPLES, DIRECTIONS = 8, 6, 3

local state = 1
local function draw()
  state = state * 16807 % 2147483647
  return state / 2147483647 * 2 - 1
end

-- Returns the loss after moving the variable by `step` along a direction; NaN if the call fails there.
local function moved(case, how, variable, direction, step, weights)
  local data, count = variable.block.data, variable.block.count
  local before = ffi.new("double[?]", count)
  ffi.copy(before, data, count * 8)
  for i = 0, count - 1 do data[i] = data[i] + step * direction[i] end
  local results = cases.values(case, how)
  ffi.copy(data, before, count * 8)
  if not results or #results ~= #weights then return 0 / 0 end
  for k, result in ipairs(results) do
    if result.count ~= weights.counts[k] then return 0 / 0 end
  end
  return cases.loss(results, weights)
end

-- Compares the slope along a direction with the slope that the gradient predicts. Returns "same", "rough" if the function is not smooth, or
-- both slopes.
local function along(case, how, variable, direction, gradient, weights, at, size)
  local slope, scale = 0, 0
  for i = 0, variable.block.count - 1 do
    if direction[i] ~= 0 then
      local term = direction[i] * gradient[i]
      slope, scale = slope + term, scale + math.abs(term)
    end
  end
  local first, last
  for _, step in ipairs(STEPS) do
    local right, left = moved(case, how, variable, direction, step, weights), moved(case, how, variable, direction, -step, weights)
    local central, noise = (right - left) / (2 * step), 1e-14 * size / step
    if math.abs(central - slope) <= 1e-5 * math.max(scale, math.abs(central), 1e-3) + noise then return "same" end
    -- A smooth function has the same slope on both sides, for all steps.
    local forward, backward = (right - at) / step, (at - left) / step
    local allowed = (step < 1e-6 and 1e-5 or 1e-3) * math.max(math.abs(forward), math.abs(backward), 1e-3) + 4 * noise
    if step < 1e-4 and not (math.abs(forward - backward) <= allowed and allowed < math.huge) then return "rough" end
    first, last = first or central, central
  end
  if math.abs(first - last) > 1e-2 * math.max(math.abs(first), 1e-3) + 1e-14 * size / STEPS[#STEPS] then return "rough" end
  return { slope, first }
end

-- Returns the fault of the gradient of a variable, or nil. The second value is true if the function was not smooth everywhere.
function differences.fault(case, how, v, gradient, results, weights, masked)
  local variable = case.variables[v]
  local count, at, size = variable.block.count, cases.loss(results, weights)
  local usable = ffi.new("bool[?]", math.max(count, 1), true)
  for i = 0, count - 1 do usable[i] = not (masked and gradient[i] - gradient[i] ~= 0) end
  local function check(direction, what)
    local got = along(case, how, variable, direction, gradient, weights, at, size)
    if got == "same" then
      differences.smooth = differences.smooth + 1
    elseif got == "rough" then
      differences.skipped = differences.skipped + 1
    else
      return ("gradient of %s along %s is %.10g, differences give %.10g"):format(variable.name, what, got[1], got[2])
    end
    return nil, got == "rough"
  end
  local function one(i)
    local direction = ffi.new("double[?]", count)
    direction[i] = usable[i] and 1 or 0
    local mirror = variable.mirror and variable.mirror(variable.block, i)
    if mirror then direction[mirror] = direction[i] end
    return check(direction, "element " .. i)
  end
  local rough = false
  if count <= FEW then
    for i = 0, count - 1 do
      local wrong, was_rough = one(i)
      if wrong then return wrong end
      rough = rough or was_rough
    end
    return nil, rough
  end
  for k = 1, DIRECTIONS do
    local direction = ffi.new("double[?]", count)
    for i = 0, count - 1 do direction[i] = usable[i] and draw() or 0 end
    for i = 0, variable.mirror and count - 1 or -1 do direction[variable.mirror(variable.block, i)] = direction[i] end
    local wrong, was_rough = check(direction, "direction " .. k)
    if wrong then return wrong end
    rough = rough or was_rough
    if was_rough then break end
  end
  -- Single elements may still be far from the points where the function is not smooth.
  for k = 1, rough and SAMPLES or 0 do
    local wrong = one(math.floor((draw() + 1) / 2 * (count - 1) + 0.5))
    if wrong then return wrong end
  end
  return nil, rough
end

return differences
