-- Tolerances on a GPU, in units in the last place of float32 and float64 results: the maximum errors that NVIDIA documents for the
-- functions that the kernels of an operation call.
--
-- Source: CUDA C++ Programming Guide, section "Mathematical Functions", "Standard Functions": the tables of single-precision and
-- double-precision functions with their maximum ULP errors, for compute capability 5.2 and later. An error is the distance from the
-- correctly rounded result, and the expectations are correctly rounded, too. Only operations are listed whose documented error exceeds the
-- tolerance of the expectations: 4 units for pow and log(e^a + e^b), 2 for most others.

-- Documented errors of float32 and of float64.
local documented = {
  exp = { 2, 1 }, log1p = { 1, 1 },
  tan = { 4, 2 }, sinh = { 3, 2 }, erfc = { 4, 5 }, atan2 = { 3, 2 }, hypot = { 3, 2 },
  asinh = { 3, 3 }, acosh = { 4, 3 }, atanh = { 3, 2 },
}

local tolerances = {}

-- The operation returns the result of the function with the same name.
local function direct(name)
  tolerances["THTensor_" .. name] = { float32 = documented[name][1], float64 = documented[name][2] }
end

-- The operation calls the function with the same name in float64 for every dtype. A float32 result is rounded after that, and keeps the
-- host's tolerance.
local function wide(name)
  tolerances["THTensor_" .. name] = { float64 = documented[name][2] }
end

-- The errors of the functions, and of one rounded step after them, add up.
local function composed(operation, ...)
  local sum = { float32 = 1, float64 = 1 }
  for _, name in ipairs { ... } do
    sum.float32, sum.float64 = sum.float32 + documented[name][1], sum.float64 + documented[name][2]
  end
  tolerances["THTensor_" .. operation] = sum
end

for _, name in ipairs { "tan", "sinh", "erfc", "atan2", "hypot" } do direct(name) end
for _, name in ipairs { "asinh", "acosh", "atanh" } do wide(name) end
composed("sigmoid", "exp")
composed("softplus", "exp", "log1p")
composed("logSigmoid", "exp", "log1p")
composed("silu", "exp")
composed("mish", "exp")
composed("gelu", "erfc")
composed("geluTanh", "exp")

-- Returns the function that gives the tolerance of a call on a GPU: the larger of the host's tolerance and the documented one. Results of
-- 16 bits keep the host's tolerance, because the kernels compute them in float32. `library` must have all functions of the list.
return function(library)
  for name in pairs(tolerances) do assert(library[name]) end
  return function(call, dtype)
    local own = tolerances[call.name]
    return math.max(call.ulps, own and own[dtype.name] or 0)
  end
end
