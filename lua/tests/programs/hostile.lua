-- Calls every function of the namespace with random arguments from the objects of a program: `luajit hostile.lua SEED CALLS`. Each call
-- returns, or raises an error whose message names this file. Prints the calls, so that the last line names a call that ended the process.

local ffi = require("ffi")
local library = require("thorn.library")
local thorn = require("thorn.dynamic")
local rows = require("thorn.api")
local excluded = require("thorn.dynamic.excluded")
local signatures = require("thorn.dynamic.signatures")

local seed, calls = tonumber(arg[1]), tonumber(arg[2])
math.randomseed(seed)

-- Calls that change the process, or write files.
local left_out = {
    THTensor_save = true, THSTensor_save = true, THArchive_create = true, THStorage_newWithMapping = true,
    THMapAllocatorContext_new = true, THSetBlas = true, THSetNumThreads = true, THSetDefaultDtype = true, THSetPrintOptions = true,
    THTensor_print = true, THSTensor_print = true, THMemory_setSoftLimit = true, THGrad_setEnabled = true, THGrad_setInference = true,
}

local function draw(list) return list[math.random(#list)] end

local numbers = { -3, -2, -1, 0, 1, 2, 3, 4, 5, 0.5, -1.5, 0 / 0, 1 / 0, -1 / 0, 2 ^ 53, -2 ^ 63, 2 ^ 62, 2 ^ 45, 1e308, 5LL, -7LL, 3ULL }
local texts = {
    "", "sum", "float32", "int64", "ij,jk->ik", "->", "V", "F", "a*b", "a+", "mean", "\0", ("x"):rep(300), "ij", "/no/such/file.npy",
}

local function tensor()
    local shape = draw({ {}, { 0 }, { 1 }, { 3 }, { 2, 3 }, { 3, 3 }, { 2, 0, 3 }, { 2, 3, 4 }, { 1, 2, 5, 5 }, { 2, 1, 3, 3, 3 } })
    local dtype = draw({ "float32", "float64", "int64", "int32", "uint8", "bool", "float16", "bfloat16", "int8" })
    local t = thorn.zeros(shape, { dtype = dtype })
    if math.random(2) == 1 then pcall(thorn.random, t) end
    if math.random(3) == 1 and #shape > 1 then t = thorn.transpose(t, 1, 2) end
    return t
end

local function sparse()
    local s = thorn.STensor.fromDense(thorn.rand(draw({ { 3, 3 }, { 2, 3 }, { 3 }, { 0, 2 }, { 2, 2, 2 } })))
    local kind = math.random(6)
    if kind == 1 then return thorn.STensor() end
    if kind == 2 then return thorn.STensor({ { 2, 1, 2, 2 }, { 1, 3, 1, 3 } }, thorn.ones(4), { 2, 3 }) end
    if kind == 3 then return thorn.STensor.csr({ 1, 3, 3, 4 }, { 2, 1, 3 }, thorn.rand(3), 3, 3) end
    if kind == 4 and s:nDimension() == 2 then return s:compressed() end
    return s
end

local function any()
    local kind = math.random(16)
    if kind <= 5 then return tensor() end
    if kind <= 8 then return draw(numbers) end
    if kind == 9 then return draw(texts) end
    if kind == 10 then return draw({ true, false }) end
    if kind == 11 then return draw({ {}, { 1 }, { 2, 3 }, { 0 }, { -1 }, { 1, 1, 1 }, { 2 ^ 40, 2 ^ 40 }, { 0.5 }, { "a" }, { {} } }) end
    if kind == 12 then
        return draw({ thorn.Generator(), thorn.Fused("a*b+1"), thorn.Storage.newWithSize("float32", 3), thorn.newSizeOf(tensor()) })
    end
    if kind == 13 then return library.own(library.C.THTensor_new()) end
    if kind >= 15 then return math.random(5) == 1 and { sparse(), sparse() } or sparse() end
    return draw({ thorn.float32, thorn.int64, thorn.bool, function() end, { tensor(), tensor() }, { tensor(), false } })
end

-- Returns a value that mostly suits the argument.
local function fitting(argument)
    for _ = 1, 60 do
        local value = any()
        if argument.of.takes(value) then return value end
    end
    return any()
end

local names = {}
for name in pairs(rows.functions) do
    local signature = not excluded[name] and not left_out[name] and signatures.of(name)
    -- A pointer does not tell the size of its memory.
    local takes_memory = not signature
    for _, argument in ipairs(signature and signature.parameters or {}) do takes_memory = takes_memory or argument.of.class == "memory" end
    if not takes_memory then names[#names + 1] = name end
end
table.sort(names)

local succeeded = 0

for i = 1, calls do
    local name = draw(names)
    local signature, arguments, count = signatures.of(name), {}, 0
    for _, argument in ipairs(signature.parameters) do
        count = count + 1
        if not argument.optional or math.random(2) == 1 then arguments[count] = math.random(10) == 1 and any() or fitting(argument) end
    end
    if math.random(8) == 1 then
        count = count + 1
        arguments[count] = draw({
            { out = tensor() }, { out = sparse() }, { dtype = "int8" }, { keepdim = true }, { out = any() }, { dim = any() }, {}, { nothing = 1 },
        })
    end
    print(i, name)
    io.stdout:flush()
    local short = name:match("^THTensor_(.+)$")
    local called = short and draw({ name, short, short .. "_" }) or name
    local f = thorn[called] or thorn[name]
    -- Not a tail call, so that the error names the line of the calling function.
    local ok, message = pcall(function()
        local result = f(unpack(arguments, 1, count))
        return result
    end)
    succeeded = succeeded + (ok and 1 or 0)
    if not ok then
        local where = type(message) == "string" and message:match("^[^:]*hostile%.lua:%d+: (.+)$")
        if not where or not where:find(": ", 1, true) then
            print("the error of " .. called .. " is not at this file's line: " .. tostring(message))
            os.exit(1)
        end
    end
end
print(("%d of %d calls succeeded"):format(succeeded, calls))
