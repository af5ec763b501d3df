-- Options of a program, and its log: `torch.CmdLine`.
--
--     local cmd = torch.CmdLine()
--     cmd:text("Trains a network.")
--     cmd:argument("-data", "the folder of the images")
--     cmd:option("-rate", 0.1, "the step of the optimizer")
--     cmd:option("-gpu", false, "compute on the GPU")
--     local params = cmd:parse(arg)                      -- {data = ..., rate = 0.1, gpu = false}
--     cmd:log(cmd:string("run", params, { data = true }) .. ".log", params)
--
-- An option is `-name value`. A boolean option has no value: its name on the command line inverts the default. All words that are not
-- options are arguments, in the order of their definition. Names in `params` have no leading dashes.

local errors = require("thorn.errors")
local namespace = require("thorn.namespace")

local torch = namespace.torch

local CmdLine = torch.class("torch.CmdLine", torch)

local HELP = { ["-h"] = true, ["-help"] = true, ["--help"] = true }

local function name_of(key) return (key:gsub("^%-+", "")) end

-- Each type of options: returns the value of a word, or nil if the word is no such value.
local CONVERSIONS = {
    string = function(word) return word end,
    number = tonumber,
}

local function check_type(x, expected, position, name)
    if type(x) ~= expected then errors.argument(position, name, expected .. " expected, got " .. torch.type(x)) end
    return x
end

--- `torch.CmdLine([argseparator], [keyseparator])`: the texts between options, "," by default, and between the name of an option and its
--- value, "=" by default, in the result of `string`.
function CmdLine:__init(argseparator, keyseparator)
    self.argseparator, self.keyseparator = argseparator or ",", keyseparator or "="
    -- The options by name. `helplines` has the options, the arguments and the texts in the order of the help.
    self.options, self.arguments, self.helplines = {}, {}, {}
end

--- Adds a line of text to the help.
function CmdLine:text(text)
    table.insert(self.helplines, check_type(text or "", "string", 2, "text"))
end

--- Adds an argument, which the program needs. `kind` is "string" or "number"; without a kind, any word is accepted.
function CmdLine:argument(key, help, kind)
    check_type(key, "string", 2, "argument")
    if kind and not CONVERSIONS[kind] then errors.argument(4, "argument", "string or number expected, got " .. tostring(kind)) end
    local argument = { key = key, name = name_of(key), help = help, kind = kind or "string" }
    table.insert(self.arguments, argument)
    table.insert(self.helplines, argument)
end

--- Adds an option with its default, a boolean, a number or a string.
function CmdLine:option(key, default, help, kind)
    check_type(key, "string", 2, "option")
    if default == nil then errors.argument(3, "option", key .. " needs a default") end
    kind = kind or type(default)
    if kind ~= "boolean" and not CONVERSIONS[kind] then errors.argument(3, "option", "boolean, number or string expected, got " .. kind) end
    check_type(default, kind, 3, "option")
    local option = { key = key, name = name_of(key), default = default, help = help, kind = kind }
    self.options[key] = option
    table.insert(self.helplines, option)
end

--- Returns the defaults of the options by name.
function CmdLine:default()
    local params = {}
    for _, option in pairs(self.options) do params[option.name] = option.default end
    return params
end

local function convert(self, definition, word)
    local value = CONVERSIONS[definition.kind](word)
    if value == nil then self:error(("%s: a %s expected, got %s"):format(definition.key, definition.kind, tostring(word))) end
    return value
end

--- Returns the values of options and arguments by name, from the words of a command line, by default the program's `arg`. A request for
--- help, -h, -help or --help, prints the help and ends the program with exit code 0. A wrong word prints a message and the help, and ends
--- the program with exit code 1.
function CmdLine:parse(words)
    words = check_type(words or rawget(_G, "arg") or {}, "table", 2, "parse")
    local params, count, i = self:default(), 0, 1
    while i <= #words do
        local word = words[i]
        local option = self.options[word]
        if HELP[word] then
            self:help(words)
            os.exit(0)
        elseif not option then
            count = count + 1
            local argument = self.arguments[count]
            if not argument then self:error("unknown option or argument " .. tostring(word)) end
            params[argument.name] = convert(self, argument, word)
        elseif option.kind == "boolean" then
            params[option.name] = not option.default
        else
            i = i + 1
            if words[i] == nil then self:error("option " .. word .. " needs a value") end
            params[option.name] = convert(self, option, words[i])
        end
        i = i + 1
    end
    if count < #self.arguments then self:error("missing argument " .. self.arguments[count + 1].name) end
    return params
end

--- Prints a message to the standard error output, prints the help, and ends the program with exit code 1.
function CmdLine:error(message)
    io.stderr:write(message, "\n")
    self:help()
    os.exit(1)
end

-- Returns the definition as the help shows it.
local function shown(definition) return definition.default == nil and "<" .. definition.name .. ">" or definition.key end

--- Prints the usage, the texts, and each option with its default. `words[0]` is the name of the program.
function CmdLine:help(words)
    local usage = { "Usage:" }
    if words and words[0] then table.insert(usage, tostring(words[0])) end
    table.insert(usage, "[options]")
    local width = 0
    for _, argument in ipairs(self.arguments) do table.insert(usage, shown(argument)) end
    for _, line in ipairs(self.helplines) do
        if type(line) == "table" then width = math.max(width, #shown(line)) end
    end
    io.write(table.concat(usage, " "), "\n")
    for _, line in ipairs(self.helplines) do
        if type(line) == "table" then
            local text = "  " .. shown(line) .. (" "):rep(width - #shown(line))
            if line.help then text = text .. " " .. line.help end
            if line.default ~= nil then text = ("%s [%s]"):format(text, tostring(line.default)) end
            line = text
        end
        io.write(line, "\n")
    end
end

local function as_text(value)
    if type(value) == "boolean" then return value and "t" or "f" end
    return tostring(value)
end

--- Returns a name for a run of the program: `prefix`, the arguments, and the options that differ from their defaults, for example
--- "run,rate=0.5". The names for which `ignore` has true are left out. Options for which `ignore` has false are included with any value.
function CmdLine:string(prefix, params, ignore)
    check_type(params, "table", 3, "string")
    ignore = ignore or {}
    local parts, options = {}, {}
    local function pair(name) return name .. self.keyseparator .. as_text(params[name]) end
    for _, argument in ipairs(self.arguments) do
        local name = argument.name
        if params[name] ~= nil and not ignore[name] then table.insert(parts, pair(name)) end
    end
    for _, option in pairs(self.options) do
        local name = option.name
        local is_included = params[name] ~= nil and (params[name] ~= option.default or ignore[name] == false)
        if is_included and not ignore[name] then table.insert(options, pair(name)) end
    end
    table.sort(options)
    for _, option in ipairs(options) do table.insert(parts, option) end
    table.insert(parts, 1, prefix or "")
    return table.concat(parts, self.argseparator)
end

--- Makes `print` write to the log only.
function CmdLine:silent() self.is_silent = true end

--- Puts the time before each line of the log: `cmd:addTime([name], [format])`. `os.date` formats the time; the default format is
--- "%Y-%m-%d %H:%M:%S". A name follows the time in brackets.
function CmdLine:addTime(name, format)
    self.time_format = check_type(format or "%Y-%m-%d %H:%M:%S", "string", 3, "addTime")
    self.time_suffix = name == nil and " " or ("[%s]: "):format(tostring(name))
end

-- For each function that `log` has put in the place of `print`, the function that writes to the screen.
local screens = setmetatable({}, { __mode = "k" })

local function joined(...)
    local texts = {}
    for i = 1, select("#", ...) do texts[i] = tostring((select(i, ...))) end
    return table.concat(texts, "\t")
end

--- Makes `print` write to a log, too, and prints the values of a table: `cmd:log(file, [params])`. `file` is the name of a file, which is
--- overwritten, or an open file.
function CmdLine:log(file, params)
    if params ~= nil then check_type(params, "table", 3, "log") end
    local log, problem = file, nil
    if io.type(file) ~= "file" then log, problem = io.open(check_type(file, "string", 2, "log"), "w") end
    if not log then errors.raise("log: " .. problem) end
    local print_to_screen = screens[print] or print
    function _G.print(...)
        if not self.is_silent then print_to_screen(...) end
        if self.time_format then log:write(os.date(self.time_format), self.time_suffix) end
        log:write(joined(...), "\n")
        log:flush()
    end
    screens[print] = print_to_screen
    print("[program started on " .. os.date() .. "]")
    print("[command line arguments]")
    local names = {}
    for name in pairs(params or {}) do table.insert(names, name) end
    table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
    for _, name in ipairs(names) do print(name, params[name]) end
    print("[----------------------]")
end
