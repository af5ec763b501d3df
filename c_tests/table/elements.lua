-- Element types in memory: their codes, how to read and write them, how floats are rounded.

local ffi = require "ffi"

local dtypes = {}
for _, row in ipairs {
  -- Code, name in C, and for floats the bits of the significand and the exponent of the smallest normal number.
  { "uint8", 1, "uint8_t" }, { "int8", 2, "int8_t" }, { "int16", 3, "int16_t" }, { "int32", 4, "int32_t" }, { "int64", 5, "int64_t" },
  { "float16", 6, "uint16_t", 11, -14 }, { "bfloat16", 7, "uint16_t", 8, -126 },
  { "float32", 8, "float", 24, -126 }, { "float64", 9, "double", 53, -1022 }, { "bool", 10, "uint8_t" },
} do
  local name, code, ctype, precision, least = unpack(row)
  dtypes[name] = {
    name = name, code = code, size = ffi.sizeof(ctype), precision = precision, least = least,
    ctype = ffi.typeof(ctype), array = ffi.typeof(ctype .. "[?]"), pointer = ffi.typeof(ctype .. " *"),
  }
end

local elements = { dtypes = dtypes, by_code = {} }
for _, dtype in pairs(dtypes) do elements.by_code[dtype.code] = dtype end

-- Returns the distance between neighbouring numbers of a dtype near a value.
function elements.ulp(dtype, value)
  local _, exponent = math.frexp(value)
  return 2 ^ (math.max(exponent - 1, dtype.least) - dtype.precision + 1)
end

-- Rounds to the nearest number of a narrower float, ties to even.
function elements.round(dtype, value)
  if value == 0 or value - value ~= 0 then return value end
  local ulp = elements.ulp(dtype, value)
  local steps = math.floor(value / ulp + 0.5)
  if steps - value / ulp == 0.5 and steps % 2 == 1 then steps = steps - 1 end
  local rounded = steps * ulp
  if dtype.greatest and math.abs(rounded) > dtype.greatest then return value < 0 and -math.huge or math.huge end
  return rounded == 0 and value * 0 or rounded
end

-- Conversions between 16-bit floats and doubles.
for name, bits in pairs { float16 = 10, bfloat16 = 7 } do
  local dtype, values, codes = dtypes[name], {}, {}
  local exponents = 2 ^ (15 - bits)
  local bias = exponents / 2 - 1
  for code = 0, 0x7fff do
    local exponent, fraction = math.floor(code / 2 ^ bits), code % 2 ^ bits / 2 ^ bits
    local value = exponent == 0 and fraction * 2 ^ (1 - bias) or (1 + fraction) * 2 ^ (exponent - bias)
    if exponent == exponents - 1 then value = fraction == 0 and math.huge or 0 / 0 end
    values[code], values[code + 0x8000] = value, -value
    if value == value and code ~= 0 then codes[value], codes[-value] = code, code + 0x8000 end
  end
  dtype.greatest = values[(exponents - 1) * 2 ^ bits - 1]
  function dtype.read(data, i) return values[data[i]] end
  function dtype.encode(value)
    if value == 0 then return 1 / value < 0 and 0x8000 or 0 end
    return value ~= value and 0x7fff or codes[elements.round(dtype, value)]
  end
end
dtypes.float32.greatest = (2 - 2 ^ -23) * 2 ^ 127

-- LuaJIT reads some NaNs as values of other types, so NaNs are detected by their bits.
local words = ffi.typeof "uint32_t *"
function dtypes.float32.read(data, i)
  local bits = bit.band(ffi.cast(words, data)[i], 0x7fffffff)
  if bits > 0x7f800000 then return 0 / 0 end
  return data[i]
end
function dtypes.float64.read(data, i)
  local pair = ffi.cast(words, data) + 2 * i
  local high = bit.band(pair[1], 0x7fffffff)
  if high > 0x7ff00000 or high == 0x7ff00000 and pair[0] ~= 0 then return 0 / 0 end
  return data[i]
end
function dtypes.bool.read(data, i) return data[i] == 0 and 0 or 1 end

local function read(data, i) return data[i] end
local function same(value) return value end
for _, dtype in pairs(dtypes) do
  dtype.read = dtype.read or read
  dtype.encode = dtype.encode or same
end

-- Values of one dtype in row-major order. `stored` is the number of stored values, if not all are stored.
function elements.block(dtype, shape, count, stored)
  return { dtype = dtype, shape = shape, count = count, data = dtype.array(stored or count) }
end

return elements
