-- Errors of the package, with Torch7's wording. They are raised at the line of the program that called the package.
--
-- The caller is the innermost function on the stack that is neither in this package nor in C.

local errors = {}

-- Modules may be found by several spellings of a folder: lua/tests/../thorn is lua/thorn.
local function shortest(source)
    local count
    repeat source, count = source:gsub("[^/]+/%.%./", "", 1) until count == 0
    return source
end

-- The sources of the package are this file, its neighbours, and the file with the name of their folder. A module that was compiled without
-- its source knows only itself.
local own_source = shortest(debug.getinfo(1, "S").source)
local folder = own_source:match("^(.*)errors%.lua$")
local package_file = folder and folder:gsub("[/\\]$", "") .. ".lua"

local function is_inside(source)
    source = shortest(source)
    if source == "=[C]" or source == own_source then return true end
    return folder ~= nil and (source == package_file or source:sub(1, #folder) == folder)
end

-- Returns the level of the package's caller, as `error` counts levels in the function that calls this one, and true if the caller wrote
-- `receiver:method(...)`.
local function blame()
    local level = 2
    while true do
        local info = debug.getinfo(level, "S")
        if not info then return 1, false end
        if not is_inside(info.source) then return level - 1, debug.getinfo(level - 1, "n").namewhat == "method" end
        level = level + 1
    end
end

--- Raises `message` at the package's caller.
function errors.raise(message)
    error(message, (blame()))
end

--- Raises "bad argument #position to 'name' (text)". Positions count from 1, and the receiver of a method has number 1. If the caller wrote
--- a method call, the message does not count the receiver, as in Lua.
function errors.argument(position, name, text)
    local level, is_method = blame()
    if is_method then
        if position == 1 then error(("calling '%s' on bad self (%s)"):format(name, text), level) end
        position = position - 1
    end
    error(("bad argument #%d to '%s' (%s)"):format(position, name, text), level)
end

return errors
