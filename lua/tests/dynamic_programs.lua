-- Exported programs: the files of tests/data/programs, with the values that PyTorch computed.

local harness = require("harness")
local library = require("thorn.library")
local thorn = require("thorn.dynamic")

local check = harness.check

local folder = debug.getinfo(1, "S").source:match("^@(.*)[/\\]") or "."
local programs = folder .. "/../../tests/data/programs/"

local tests = {}

-- Returns the program of a file, and a function that returns an array of the file by its name.
local function model(name)
    local archive = thorn.Archive.open(programs .. name .. ".npz")
    return thorn.Program.open(programs .. name .. ".pt2"), function(key) return archive:newFind(key) end
end

local function is_near(got, expected)
    return got:dtype() == expected:dtype() and thorn.allclose(got, expected, { rtol = 1e-5, atol = 1e-5 })
end

local function fails(text, f, ...)
    local ok, message = pcall(f, ...)
    check(not ok and tostring(message):find(text, 1, true), message or "no error")
end

function tests.programs_are_called()
    local p, value = model("conv")
    local x, expected = value("a.in0"), value("a.out0")
    check(is_near(p(x), expected) and is_near(p:run(x), expected) and is_near(p:run({ x }), expected))
    check(is_near(p({ value("b.in0") }), value("b.out0")))
    local r = thorn.newWithDtype("float64")
    check(rawequal(p(x, { out = r }), r) and r:dtype() == thorn.float64)
    check(rawequal(p:run({ x }, { out = { r } }), r))
    check(tostring(p):match("^thorn%.Program"))
    fails("Program.run: 2 inputs: expected 1", p, x, x)
    fails("Program.run: 0 inputs", p)
    fails("Program.run: input 'x' has dtype float64", p, thorn.to(x, "float64"))
    fails("Program.run: entry 1 of the list is no tensor", p, 5)
    fails("Program.run: a program is expected", p.run, x)
    fails("Program.open: ", thorn.Program.open, programs .. "none.pt2")
    fails("Program.open: ", thorn.Program.open, programs .. "conv.npz")
end

function tests.outputs_are_several_values()
    local p, value = model("nested")
    local a, b, c, d, e, f, g, h = p(value("a.in0"), value("a.in1"), value("a.in2"), value("a.in3"))
    check(is_near(a, value("a.out0")) and b:dtype() == thorn.bfloat16 and c == nil)
    check(thorn.item(d) == 8 and thorn.item(e) == 2.5 and thorn.item(f) == 1)
    check(is_near(g, value("a.out6")) and is_near(h, value("a.out7")))
    check(select("#", p({ value("b.in0"), value("b.in1"), value("b.in2"), value("b.in3") })) == 8)
end

function tests.inputs_and_outputs_are_described()
    local p = model("conv")
    local inputs, outputs = p:inputs(), p:outputs()
    check(#inputs == 1 and inputs[1].name == "x" and inputs[1].dtype == thorn.float32 and #inputs[1].sizes == 4)
    check(inputs[1].sizes[1].min == 1 and inputs[1].sizes[1].max == 64 and inputs[1].sizes[4].min == 10 and inputs[1].sizes[4].max == 10)
    check(#outputs == 1 and outputs[1].sizes[2].max == 3)
    check(p:inputName(1) == "x" and p:inputMinSizes(1)[3] == 10 and p:inputMaxSizes(1)[1] == 64 and p:outputCount() == 1)
    check(p:metadata().torch_version:match("^2%."))
    fails("Program.inputName: ", p.inputName, p, 2)
    local nested = model("nested")
    check(nested:inputs()[1].sizes[1].max == math.huge and nested:outputs()[3].dtype == nil and #nested:inputs()[4].sizes == 0)
end

function tests.parameters_are_trained()
    local p, value = model("conv")
    local parameters, x, classes, losses = p:parameters(), value("a.in0"), value("classes"), value("losses")
    check(#parameters == p:parameterCount() and rawequal(parameters[9], parameters["last.bias"]))
    check(p:parameterName(9) == "last.bias" and #p:buffers() == 6 and p:buffer("features.1.running_mean"):numel() == 4)
    for _, parameter in ipairs(parameters) do parameter:setRequiresGrad(true) end
    local sgd = thorn.Optim.newSgd(parameters, 0.05, 0.9)
    -- Classes count from 1 in Lua.
    classes = thorn.add(classes, 1)
    for step = 1, losses:numel() do
        sgd:zeroGrad()
        local loss = thorn.crossEntropy(p(x), classes)
        check(math.abs(thorn.item(loss) - thorn.get1d(losses, step)) < 1e-4)
        loss:backward()
        sgd:step()
    end
    fails("Program.parameter: the program has no parameter 'none'", p.parameter, p, "none")
    fails("Program.buffer: name must be a text", p.buffer, p)
end

function tests.programs_are_opened_from_memory_and_converted()
    local file = io.open(programs .. "conv.pt2", "rb")
    local bytes = file:read("*a")
    file:close()
    local p, value = thorn.Program.openMemory(bytes, #bytes), select(2, model("conv"))
    check(is_near(p(value("a.in0")), value("a.out0")))
    p:to("cpu", 0, "float64")
    check(is_near(p(thorn.to(value("a.in0"), "float64")), thorn.to(value("a.out0"), "float64")))
end

function tests.the_collector_frees_programs()
    local C = library.C
    for _ = 1, 3 do collectgarbage() end
    local before = C.THMemory_liveBytes()
    for _ = 1, 20 do
        local p, value = model("cache")
        p(value("a.in0"))
        p:parameters()
    end
    for _ = 1, 4 do collectgarbage() end
    check(C.THMemory_liveBytes() == before)
end

harness.run(tests)
