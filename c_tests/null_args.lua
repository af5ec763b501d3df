-- Calls every function with NULL for every pointer: first with 0 for every number, then with 1, and float32 for dtypes. No call may crash.
-- A function that needs a pointer must fail with its error value, a status, and a message that begins with its name.
--
--     THORN_LIB=target/release/libthorn.so luajit c_tests/null_args.lua

local folder = arg[0]:match "^(.*)/" or "."
package.path = folder .. "/header/?.lua;" .. package.path
local ffi = require "ffi"
local prototypes = require "prototypes"
local api = require "api"

local library = assert(os.getenv "THORN_LIB", "THORN_LIB names no library")

local C, text = prototypes.load(library)
api = api.read(folder .. "/../src/capi/api.json")

-- Functions outside of api.json, which ignore NULL.
local takes_null = { THTensor_retain = true, THTensor_free = true, THStorage_retain = true, THStorage_free = true,
  THSTensor_retain = true, THSTensor_free = true }

-- THSetLastError sets the error that is passed to it, and the message may be NULL; see test_error.c.
local left_out = { THSetLastError = true }

-- Frees the handles that a call may have made.
local release = {
  ["THTensor *"] = "THTensor_free",
  ["THStorage *"] = "THStorage_free",
  ["THGenerator *"] = "THGenerator_free",
  ["THArchive *"] = "THArchive_free",
  ["THFused *"] = "THFused_free",
  ["THOptim *"] = "THOptim_free",
  ["THProgram *"] = "THProgram_free",
  ["THSTensor *"] = "THSTensor_free",
  ["void *"] = "THFree",
}

-- Returns the arguments of a call, and whether one of them is a NULL that must be refused.
local function arguments(parameters, kinds, number, dtype)
  local values, pointers = {}, false
  for i, parameter in ipairs(parameters) do
    if parameter.type == "THDtype" then
      values[i] = dtype
    elseif not parameter.pointer then
      values[i] = number
    end
    local null = api.null[kinds[parameter.name]]
    pointers = pointers or parameter.pointer and null ~= "taken" and not (number == 0 and null == "empty")
  end
  return values, pointers
end

-- Compares a value with its text in C.
local function is(value, expected)
  if expected == "NAN" then return value ~= value end
  if expected == "NULL" then return value == nil end
  return value == (tonumber(expected) or C[expected])
end

-- Calls the function so, and returns what is wrong; nil if nothing is.
local function fault(prototype, number, dtype)
  local values, pointers = arguments(prototype.parameters, api.kinds[prototype.name], number, dtype)
  C.THClearLastError()
  local result = C[prototype.name](unpack(values, 1, #prototype.parameters))
  local status, message = tonumber(C.THGetLastErrorCode()), ffi.string(C.THGetLastError())

  if status == 0 then
    if release[prototype.result] and result ~= nil then C[release[prototype.result]](result) end
    if pointers and not takes_null[prototype.name] then return "took NULL without an error" end
    if message ~= "" then return "has a message without a status: " .. message end
    return nil
  end
  local refused = api.kinds[prototype.name][message:match "argument '([%w_]+)' is NULL" or 0]
  if takes_null[prototype.name] or api.null[refused] == "taken" then return "refused NULL: " .. message end
  if message:sub(1, #prototype.name + 2) ~= prototype.name .. ": " then return "gave a message without its name: " .. message end
  if #message < #prototype.name + 8 then return "gave a message that says nothing: " .. message end
  local expected = api.errors[prototype.name] or status
  if not is(result, expected) then return ("gave %s, not %s"):format(tostring(result), tostring(expected)) end
end

local list, known, faults = prototypes.list(text), {}, 0
for _, prototype in ipairs(list) do
  known[prototype.name] = true
  -- If a call ends the process, its name is already printed.
  io.write(prototype.name, " ...")
  io.flush()
  local wrong = not left_out[prototype.name] and (fault(prototype, 0, 0) or fault(prototype, 1, 8))
  faults = faults + (wrong and 1 or 0)
  io.write(wrong and " FAILED: " .. wrong or " ok", "\n")
end
for name in pairs(takes_null) do
  assert(known[name], name .. " is not in the header")
end
print(("%d functions, %d failed"):format(#list, faults))
os.exit(faults == 0 and #list > 0)
