-- Runs the examples of Torch7's documentation of tensors, in its order, and compares the output. In a session, a line that begins with ">"
-- is an input, and the lines after it are its output. If a tensor is random in the documentation, "*" sets it to the numbers that follow.
-- Blanks that align columns are ignored, and "dimension" in the last line of a tensor counts as "size".

local harness = require("harness")
local torch = require("thorn")

local here = debug.getinfo(1, "S").source:match("^@(.*)documentation_test%.lua$")

local environment = setmetatable({ torch = torch }, { __index = _G })

-- Prints a table of tensors as Torch7's interpreter does.
local function printed(value)
    if type(value) ~= "table" then return tostring(value) end
    local lines = { "{" }
    for i, t in ipairs(value) do
        local sizes = table.concat((#t):totable(), "x")
        lines[#lines + 1] = ("%d : %s - size: %s"):format(i, t:type():match("%.(.*)"), sizes)
    end
    lines[#lines + 1] = "}"
    return table.concat(lines, "\n")
end

local function normal(text)
    local lines = {}
    for line in text:gmatch("[^\n]+") do
        line = line:gsub("^%s+", ""):gsub("%s+$", ""):gsub("%s+", " "):gsub("Tensor of dimension ", "Tensor of size ")
        if line ~= "" then lines[#lines + 1] = line end
    end
    return table.concat(lines, "\n")
end

-- Returns the steps: the input, or the name of the tensor that gets numbers; the line number of the input; the output.
local function read_session(path)
    local steps, number = {}, 0
    for line in io.lines(path) do
        number = number + 1
        local typed, filled = line:match("^>(.*)"), line:match("^%* (%w+)")
        local last = steps[#steps]
        if typed and last and last.typed and not last.complete then
            last.typed = last.typed .. "\n" .. typed
        elseif typed or filled then
            last = { typed = typed, filled = filled, line = number, output = {} }
            steps[#steps + 1] = last
        elseif last then
            table.insert(last.output, line)
        end
        if typed then
            local _, message = loadstring(last.typed)
            if message and loadstring("return " .. last.typed) then message = nil end
            last.complete = not (message and message:find("<eof>", 1, true))
        end
    end
    return steps
end

local function fill(name, text)
    local values = {}
    for number in text:gsub("%b()", ""):gsub("%[.*", ""):gmatch("%-?%d+%.?%d*") do values[#values + 1] = tonumber(number) end
    local t = environment[name]
    t:copy(torch.Tensor(values))
    return t
end

local function run(step)
    local expected = table.concat(step.output, "\n")
    local value
    if step.filled then
        value = fill(step.filled, expected)
    else
        local chunk = loadstring("return " .. step.typed) or assert(loadstring(step.typed))
        value = setfenv(chunk, environment)()
    end
    -- A step without output must run without an error.
    if normal(expected) == "" then
        harness.checks = harness.checks + 1
    else
        harness.equal(normal(printed(value)), normal(expected))
    end
end

-- In this order, because they share variables.
for _, name in ipairs({ "making", "elements", "views" }) do
    local session = "documentation/" .. name .. ".session"
    for _, step in ipairs(read_session(here .. session)) do
        harness.test(session .. ":" .. step.line, function() run(step) end)
    end
end
