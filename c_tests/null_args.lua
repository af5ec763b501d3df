-- Calls every function with NULL for every pointer: first with 0 for every number, then with 1, and float32 for dtypes.
-- Nothing may crash, and what needs a pointer must say so: its error value, a status, and a message that begins with its name.
--
--     THORN_LIB=target/release/libthorn.so luajit c_tests/null_args.lua

local folder = arg[0]:match "^(.*)/" or "."
package.path = folder .. "/header/?.lua;" .. package.path
local ffi = require "ffi"
local prototypes = require "prototypes"
local rows = require "rows"

local library = assert(os.getenv "THORN_LIB", "THORN_LIB names no library")

-- Functions that take NULL where neither a kind nor an empty list tells, and why.
local takes_null = {
  THTensor_retain = "NULL is ignored",
  THTensor_free = "NULL is ignored",
  THStorage_retain = "NULL is ignored",
  THStorage_free = "NULL is ignored",
  THGenerator_free = "NULL is ignored",
  THArchive_free = "NULL is ignored",
  THFree = "NULL is ignored, as by free",
  THRealloc = "NULL allocates, as with realloc",
}

-- Kinds of lists, which may be NULL without entries.
local lists = { sizes = true, strides = true, dims = true, entries = true, counts = true, inputs = true, optional_inputs = true, outs = true }

-- What the comments promise on error, where it is not what the type has: NaN, NULL, -1 for counts, 0 for int and size_t.
local error_values = { THMapAllocatorContext_fd = -1, THStorage_sharedFd = -1 }
local error_values_of = {
  double = "NaN", pointer = "NULL", THStatus = "status", int64_t = -1, ptrdiff_t = -1, int = 0, size_t = 0, uint64_t = 0, THDtype = 0, THDeviceType = 0,
  THGeneratorKind = 0, THFileFormat = 0,
}

-- Gives back what a call may have made.
local release = {
  ["THTensor *"] = "THTensor_free",
  ["THStorage *"] = "THStorage_free",
  ["THGenerator *"] = "THGenerator_free",
  ["THArchive *"] = "THArchive_free",
  ["void *"] = "THFree",
}

-- The values of a call, and whether one of them is a NULL that must be refused.
local function arguments(parameters, kinds, number, dtype)
  local values, pointers = {}, false
  for i, parameter in ipairs(parameters) do
    if parameter.type == "THDtype" then
      values[i] = dtype
    elseif not parameter.pointer then
      values[i] = number
    end
    local kind = kinds[parameter.name]
    local fine = kind and (rows.null[kind] == "taken" or number == 0 and lists[kind])
    pointers = pointers or parameter.pointer and not fine
  end
  return values, pointers
end

local function is(value, expected)
  if expected == "NaN" then return value ~= value end
  if expected == "NULL" then return value == nil end
  return value == expected
end

local C, text = prototypes.load(library)
rows = rows.read(folder .. "/../src/capi/rows.json")

-- What is wrong with this function when called so; nil if nothing.
local function fault(prototype, number, dtype)
  local values, pointers = arguments(prototype.parameters, rows.kinds[prototype.name], number, dtype)
  C.THClearLastError()
  local result = C[prototype.name](unpack(values, 1, #prototype.parameters))
  local status, message = tonumber(C.THGetLastErrorCode()), ffi.string(C.THGetLastError())
  local kind = prototype.result:find("*", 1, true) and "pointer" or prototype.result

  if status == 0 then
    if kind == "pointer" and release[prototype.result] and result ~= nil then C[release[prototype.result]](result) end
    if pointers and not takes_null[prototype.name] then return "took NULL without an error" end
    if message ~= "" then return "has a message without a status: " .. message end
    return nil
  end
  local refused = rows.kinds[prototype.name][message:match "argument '([%w_]+)' is NULL" or 0]
  if takes_null[prototype.name] or rows.null[refused] == "taken" then return "refused NULL: " .. message end
  if message:sub(1, #prototype.name + 2) ~= prototype.name .. ": " then return "gave a message without its name: " .. message end
  if #message < #prototype.name + 8 then return "gave a message that says nothing: " .. message end
  local expected = error_values[prototype.name] or error_values_of[kind]
  if expected == "status" then expected = status end
  if not is(result, expected) then return ("gave %s, not %s"):format(tostring(result), tostring(expected)) end
end

local list, known, faults = prototypes.list(text), {}, 0
for _, prototype in ipairs(list) do
  known[prototype.name] = true
  -- Should a call end the process, its name has been said.
  io.write(prototype.name, " ...")
  io.flush()
  local wrong = fault(prototype, 0, 0) or fault(prototype, 1, 8)
  faults = faults + (wrong and 1 or 0)
  io.write(wrong and " FAILED: " .. wrong or " ok", "\n")
end
for _, exceptions in ipairs { takes_null, error_values } do
  for name in pairs(exceptions) do
    assert(known[name], name .. " is not in the header")
  end
end
print(("%d functions, %d failed"):format(#list, faults))
os.exit(faults == 0 and #list > 0)
