-- Calls every function with arguments whose shapes fit each other by src/capi/api.json, in float64, and with defaults for all other
-- arguments: each call must succeed. src/api/notes.rs documents the grammar of the notes.
--
--     THORN_LIB=target/release/libthorn.so luajit c_tests/notes.lua

local folder = arg[0]:match "^(.*)/" or "."
package.path = folder .. "/header/?.lua;" .. package.path
local ffi = require "ffi"
local api = require "api".read(folder .. "/../src/capi/api.json")
local C = require "prototypes".load(assert(os.getenv "THORN_LIB", "THORN_LIB names no library"))

local INT64, FLOAT64, CALLS = 5, 9, 20

-- The handles that the calls of a function have made. They are freed after the last call.
local made = {}
local function kept(value)
  made[#made + 1] = value
  return value
end

local function handle(t) return kept(ffi.gc(assert(t ~= nil and t, ffi.string(C.THGetLastError())), C.THTensor_free)) end

-- Returns the numbers in a list of expressions separated by commas.
local function numbers(text, letters)
  return { setfenv(assert(loadstring("return " .. (text == "()" and "" or text))), letters)() }
end

local function list(values) return kept(ffi.new("int64_t[?]", math.max(#values, 1), values)) end

local function tensor(text, letters)
  local mark, sizes = text:match "^([+@#]?)(.*)"
  sizes = numbers(sizes, letters)
  local whole = mark == "@" or mark == "#"
  local t = handle(C.THTensor_newZeros(whole and INT64 or FLOAT64, #sizes, list(sizes)))
  for i = 0, tonumber(C.THTensor_numel(t)) - 1 do
    local diagonal = mark == "+" and math.floor(i / sizes[2]) == i % sizes[2]
    C.THStorage_set(t.storage, i, mark == "@" and math.random(0, 3) or mark == "#" and 1 or diagonal and 9 or math.random())
  end
  return t
end

local function number(text, letters)
  local least, most = text:match "(.*)%.%.(.*)"
  if least then return math.random(tonumber(least), tonumber(most)) end
  return text:match "^TH_" and C[text] or numbers(text, letters)[1]
end

-- Returns the value that a note gives for an argument.
local function noted(argument, sign, text, letters, ndim)
  if sign == " " and argument.kind == "inputs" then
    local tensors = {}
    for sizes in (text .. " & "):gmatch "(.-) & " do tensors[#tensors + 1] = tensor(sizes, letters) end
    return kept(ffi.new("THTensor *[?]", #tensors, tensors))
  end
  if sign == " " then return tensor(text, letters) end
  if argument.kind == "text" then return text end
  if text:match "^%[" then return list(numbers(text:sub(2, -2), letters)) end
  if not argument.type:match "%*" then return number(text, letters) end
  local entries = {}
  for d = 1, ndim do entries[d] = number(text, letters) end
  return list(entries)
end

-- Returns the value of an argument without a note: its default, NULL, a fresh result, or a small number.
local function free(argument)
  local default = argument.default or api.defaults[argument.kind]
  if argument.type == "THTensor *" then return handle(C.THTensor_new()) end
  if argument.type:match "%*" then return nil end
  if type(default) == "string" then return C[default] end
  return default or argument.kind == "flag" and 0 or 1
end

local function call(row)
  local letters, notes, values = {}, {}, {}
  for letter in ("abcdefghijklmnopqrstuvwxyz"):gmatch "." do letters[letter] = letter >= "x" and math.random(4, 7) or math.random(3) end
  for name, sign, text in (row.shapes .. "; "):gmatch "(%w[%w_]*)([ =])(.-); " do notes[name] = { sign, text } end
  local ndim = notes.ndim and tonumber(notes.ndim[2])
  for i, argument in ipairs(row.arguments) do
    local note = notes[argument.name]
    if note and note[2] == "NULL" then
      values[i] = nil
    elseif note then
      values[i] = noted(argument, note[1], note[2], letters, ndim)
    else
      values[i] = free(argument)
    end
  end
  if C[row.name](unpack(values, 1, #row.arguments)) ~= 0 then return ffi.string(C.THGetLastError()) end
end

local count, failed = 0, 0
for _, f in ipairs(api.functions) do
  local wrong
  for _ = 1, f.shapes and CALLS or 0 do
    wrong = wrong or call(f)
    made = {}
  end
  count = count + (f.shapes and 1 or 0)
  if wrong then
    failed = failed + 1
    print("FAILED: " .. wrong)
  end
end
print(("%d functions with shapes, %d failed"):format(count, failed))
os.exit(failed == 0 and count > 100)
