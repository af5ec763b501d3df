-- The kinds of arguments and of returned values, from src/capi/api.json.

local api = {}

-- Returns the value of a JSON text of objects, lists, strings and numbers.
local function decoded(text)
  local strings = {}
  local code = text:gsub('\\.', function(pair) return ("\1%02x"):format(pair:byte(2)) end):gsub('"(.-)"', function(string)
    strings[#strings + 1] = string:gsub("\1(%x%x)", function(byte) return string.char(tonumber(byte, 16)) end)
    return ("s[%d]"):format(#strings)
  end)
  code = code:gsub("s(%[%d+%]):", "<s%1>="):gsub("%[([^%d])", "{%1"):gsub("([^%d])%]", "%1}")
  code = code:gsub("<", "["):gsub(">", "]")
  return assert(loadstring("local s = ... return " .. code))(strings)
end

-- Returns a table with these fields. `null[kind]` tells what NULL means for an argument of this kind: "refused", "taken", or "empty" for
-- lists that may be NULL if they are empty. `kinds[function][argument]` is the kind of the argument. `errors[function]` is the function's
-- return value on failure, written as in C; nil for a status. `defaults[kind]` is the constant that an argument of this kind is by default.
-- `functions` lists all functions as the file has them.
function api.read(path)
  local file = assert(io.open(path))
  local data = decoded(file:read "*a")
  file:close()
  local found, errors = { null = {}, defaults = {}, kinds = {}, errors = {}, functions = data.functions }, {}
  for _, kind in ipairs(data.kinds) do
    found.null[kind.kind], found.defaults[kind.kind] = kind.null, kind.default
  end
  for _, kind in ipairs(data.returned) do errors[kind.kind] = kind.error end
  for _, f in ipairs(data.functions) do
    local kinds = {}
    for _, argument in ipairs(f.arguments) do kinds[argument.name] = argument.kind end
    found.kinds[f.name] = kinds
    found.errors[f.name] = errors[f.returns.kind]
  end
  return found
end

return api
