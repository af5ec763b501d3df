-- The functions of the header, read from its text: for tests that call every one of them.

local prototypes = {}

-- The header as a C compiler hears it: no comments, nothing for C++, no preprocessor. FILE is what <stdio.h> declares.
function prototypes.declarations(path)
  local file = assert(io.open(path))
  local text = file:read("*a"):gsub("/%*.-%*/", " ")
  file:close()
  local lines, cplusplus = { "typedef struct FILE FILE;" }, false
  for line in text:gmatch "[^\n]+" do
    line = line:gsub("//.*", "")
    if line:match "^#ifdef __cplusplus" then cplusplus = true end
    if not cplusplus and not line:match "^#" then lines[#lines + 1] = line end
    if line:match "^#endif" then cplusplus = false end
  end
  return table.concat(lines, "\n")
end

-- All prototypes: name, type of the result, and the parameters, each with `name` and `type`; `pointer` says whether it is one, to a
-- function or to anything else.
function prototypes.list(text)
  local callbacks, list = {}, {}
  for statement in text:gsub("%b{}", ""):gmatch "%s*([^;]+)" do
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
