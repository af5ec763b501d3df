-- The functions of the library, as THCdef declares them, for tests that call every function.

local ffi = require "ffi"

local prototypes = {}

-- Loads the library at `path` and declares its functions to the FFI. Returns the library and the text of the declarations.
function prototypes.load(path)
  ffi.cdef "const char *THCdef(void);"
  local library = ffi.load(path)
  local text = ffi.string(library.THCdef())
  ffi.cdef(text)
  return library, text
end

-- Returns all prototypes: name, type of the result, and the parameters, each with `name` and `type`; `pointer` says whether the parameter
-- is a pointer to a function or to anything else.
function prototypes.list(text)
  local callbacks, list = {}, {}
  for statement in text:gsub("/%*.-%*/", ""):gsub("%b{}", ""):gmatch "%s*([^;]+)" do
    statement = statement:gsub("%s+", " "):gsub(" $", "")
    local callback = statement:match "^typedef .*%(%*([%w_]+)%)"
    local result, name, parameters = statement:match "^([^(]-)([%w_]+)(%b())$"
    if callback then
      callbacks[callback] = true
    elseif result and not statement:match "^typedef" then
      local found = {}
      for parameter in parameters:sub(2, -2):gmatch "[^,]+" do
        local kind, called = parameter:gsub("^ ", ""):match "^(.-) ?([%w_]+)$"
        if kind ~= "" then
          found[#found + 1] = { name = called, type = kind, pointer = kind:find("*", 1, true) ~= nil or callbacks[kind] == true }
        end
      end
      list[#list + 1] = { name = name, result = result:gsub(" $", ""), parameters = found }
    else
      assert(not statement:find("(", 1, true), "this reads like a function, but was not understood: " .. statement)
    end
  end
  return list
end

return prototypes
