-- The names of Torch7. They are the names in its documentation (the pages tensor, storage, maths, random, utility, timer, tester, cmdline,
-- file, diskfile, memoryfile, pipefile and serialization), and the names in Lua of TH's functions. Each name must be there, or `ABSENT`
-- must have a reason why it is not.

local harness = require("harness")
local torch = require("thorn")

local check, equal = harness.check, harness.equal
local tests = {}

local TYPES = "Byte Char Short Int Long Float Double Half"

-- Functions and methods alike: `torch.add(r, a, b)`, `r:add(a, b)`.
local BOTH = [[
    zeros ones reshape eye range linspace logspace rand randn randperm cat diag tril triu histc bhistc multinomial
    abs acos asin atan atan2 ceil cos cosh exp floor frac log log1p neg cinv pow round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc lerp
    add csub mul div mod fmod remainder clamp cmul cdiv cpow cmod cfmod cremainder cmax cmin addcmul addcdiv
    lshift rshift bitand bitor bitxor clshift crshift cbitand cbitor cbitxor
    dot addmv addr addmm addbmm baddbmm mv mm bmm ger match conv2 xcorr2 conv3 xcorr3
    cross cumprod cumsum max min mean median mode kthvalue topk prod sort std sum var norm renorm dist numel trace
    lt le gt ge eq ne all any equal fill zero gather scatter scatterAdd squeeze nonzero
    random uniform normal cauchy logNormal exponential geometric bernoulli
    expand expandAs repeatTensor view viewAs split chunk permute totable data cdata isTensor
]]

-- The names of each place: `torch`, or a class.
local NAMES = {
    torch = {
        BOTH,
        "gesv trtrs gels symeig eig svd inverse potrf potrs potri pstrf qr geqrf orgqr ormqr btrifact btrisolve",
        "Generator seed manualSeed initialSeed getRNGState setRNGState multinomialAlias multinomialAliasSetup _gen",
        "multinomialAlias_ multinomialAliasSetup_",
        "class type typename typename2id id isTypeOf newmetatable factory getmetatable setmetatable getconstructortable metatype",
        "isequal getenv setenv version pointer setdefaulttensortype getdefaulttensortype isStorage isatty packageLuaPath include",
        "tic toc Timer setnumthreads getnumthreads getnumcores setheaptracking updateerrorhandlers updatethreadlocals pushudata test",
        "CmdLine Tester TestSuite Tensor Storage",
        "save load serialize deserialize serializeToStorage deserializeFromStorage File DiskFile MemoryFile PipeFile",
        (TYPES:gsub("%w+", "%0Tensor")),
        (TYPES:gsub("%w+", "%0Storage")),
    },
    ["torch.DoubleTensor"] = {
        BOTH,
        "nDimension dim size stride storage storageOffset nElement elementSize isContiguous isSize isSameSizeAs isSetTo",
        "new clone contiguous copy type typeAs byte char short int long float double half real",
        "resize resizeAs set narrow sub select transpose t unfold unsqueeze index indexCopy indexAdd indexFill",
        "maskedSelect maskedCopy maskedFill apply map map2 retain free read write torch",
    },
    ["torch.CharStorage"] = {
        "new size elementSize fill copy resize string totable data cdata retain free read write",
        "type byte char short int long float double half",
    },
    ["torch.Timer"] = { "reset resume stop time" },
    ["torch.CmdLine"] = { "addTime argument default error help log option parse silent string text" },
    ["torch.Tester"] = {
        "add disable run setEarlyAbort setRethrowErrors setSummaryOnly eq ne",
        "assert assertGeneralEq assertGeneralNe assertlt assertgt assertle assertge asserteq assertne assertalmosteq",
        "assertTensorEq assertTensorNe assertTableEq assertTableNe",
        "assertError assertNoError assertErrorMsg assertErrorPattern assertErrorObj",
    },
    ["torch.DiskFile"] = {
        (TYPES:gsub("%w+", "read%0 write%0")),
        "readBool writeBool readObject writeObject readString writeString ascii binary autoSpacing noAutoSpacing clearError close",
        "synchronize pedantic quiet position seek seekEnd hasError isQuiet isReadable isWritable isBinary isAutoSpacing referenced",
        "isReferenced bigEndianEncoding littleEndianEncoding nativeEndianEncoding isBigEndianCPU isLittleEndianCPU longSize noBuffer",
    },
    ["torch.MemoryFile"] = { "readObject writeObject storage longSize" },
    ["torch.PipeFile"] = { "readObject writeObject readString" },
}

local ABSENT = {
    torch = {
        multinomialAlias_ = "an undocumented step of multinomialAlias",
        multinomialAliasSetup_ = "an undocumented step of multinomialAliasSetup",
        updateerrorhandlers = "TH's error handlers for a Lua state; the library returns statuses",
        updatethreadlocals = "TH's error handlers for a Lua state; the library returns statuses",
        pushudata = "makes a userdata of luaT from an address; the objects of this package belong to the FFI",
        test = "runs Torch7's own test files",
    },
}

-- Returns the value of a name: a field of `torch`, or a method of a class or its parents. The dynamic API, which adds other methods to
-- tensors, is not asked.
local function find(place, name)
    if place == "torch" then return torch[name] end
    local class = torch.getmetatable(place)
    while class do
        local value = rawget(class, name)
        if value ~= nil then return value end
        local parent = getmetatable(class)
        class = parent and rawget(parent, "__typename") and parent
    end
end

for place, lists in pairs(NAMES) do
    local absent = ABSENT[place] or {}

    tests["names_of_" .. place] = function()
        local listed, missing, unexpected = {}, {}, {}
        for name in table.concat(lists, " "):gmatch("%S+") do
            listed[name] = true
            local is_there = find(place, name) ~= nil
            if not is_there and not absent[name] then table.insert(missing, name) end
            if is_there and absent[name] then table.insert(unexpected, name) end
        end
        equal(table.concat(missing, " "), "")
        equal(table.concat(unexpected, " "), "")
        for name in pairs(absent) do check(listed[name], name .. " has a reason, but is not in the list") end
    end
end

function tests.the_functions_of_a_type()
    equal(torch.DoubleTensor.torch.sum(torch.ones(2)), 2)
    equal(torch.IntTensor.torch.sum(torch.IntTensor({ 1, 2 })), 3)
end

harness.run(tests)
