-- Exported programs: models that PyTorch exported.
--
--     local p = thorn.Program.open("model.pt2")
--     local a, b = p(x, y)                              -- also p:run({ x, y }, { out = { r, s } })
--     for _, input in ipairs(p:inputs()) do print(input.name, input.dtype, input.sizes[1].min, input.sizes[1].max) end
--     local sgd = thorn.Optim.newSgd(p:parameters(), 0.1)

local ffi = require("ffi")
local errors = require("thorn.errors")
local library = require("thorn.library")
local origin = require("thorn.origin")
local dtypes = require("thorn.dynamic.dtypes")
local handles = require("thorn.dynamic.handles")

local C, istype = library.C, ffi.istype
local Tensor, Program = library.Tensor, handles.types.Program.type

-- The functions of the group, and the metamethods of programs.
local programs = { groups = { Program = {} }, metamethods = {} }

local group = programs.groups.Program

local UNBOUNDED = 2LL ^ 62

local function must_be_program(p, name)
    if not istype(Program, p) or p.handle == nil then errors.raise(name .. ": a program is expected") end
end

-- Returns the count of a list of a program.
local function counted(count, name)
    if count < 0 then library.fail(name) end
    return tonumber(count)
end

-- Returns the array of the handles in a list of tensors.
local function array_of(list, count, name)
    local array = ffi.new("THTensor *[?]", count)
    for i = 1, count do
        if not istype(Tensor, list[i]) then errors.raise(("%s: entry %d of the list is no tensor"):format(name, i)) end
        array[i - 1] = list[i].handle
    end
    return array
end

-- Returns the outputs. `out` may have tensors to write to; it may lack entries.
local function run(p, inputs, count, out)
    local outputs = counted(C.THProgram_outputCount(p.handle), "Program.run")
    local results = {}
    for i = 1, outputs do results[i] = out and out[i] or origin.own(C.THTensor_new(), "Program.run") end
    local to, from = array_of(results, outputs, "Program.run"), array_of(inputs, count, "Program.run")
    if C.THProgram_run(to, outputs, p.handle, from, count) ~= 0 then library.fail("Program.run") end
    -- `None` of PyTorch is nil.
    for i = 1, outputs do
        if results[i].handle.dtype == C.TH_UNDEFINED then results[i] = nil end
    end
    return unpack(results, 1, outputs)
end

local function is_list(value) return type(value) == "table" and getmetatable(value) == nil end

--- Runs a program with inputs, or with a list of inputs, and returns its outputs. An output that is `None` in PyTorch is nil. The last
--- argument may be a table with `out`, a list of tensors to write to.
function group.run(p, ...)
    must_be_program(p, "Program.run")
    local given, count = { ... }, select("#", ...)
    local options = given[count]
    local out
    if is_list(options) and options.out ~= nil then
        out, count = istype(Tensor, options.out) and { options.out } or options.out, count - 1
        if not is_list(out) then errors.raise("Program.run: out must be a list of tensors") end
    end
    if count == 1 and is_list(given[1]) then given, count = given[1], table.maxn(given[1]) end
    return run(p, given, count, out)
end

-- Returns the functions that list the inputs or the outputs.
local function lister(title)
    local prefix = "THProgram_" .. title
    local function ask(what, p, i) return C[prefix .. what](p.handle, i - 1) end
    return function(p)
        must_be_program(p, ("Program.%ss"):format(title))
        local list = {}
        for i = 1, tonumber(C[prefix .. "Count"](p.handle)) do
            local min, max, sizes = ask("MinSizes", p, i), ask("MaxSizes", p, i), {}
            for d = 1, tonumber(ask("Ndim", p, i)) do
                sizes[d] = { min = tonumber(min[d - 1]), max = max[d - 1] >= UNBOUNDED and math.huge or tonumber(max[d - 1]) }
            end
            list[i] = { name = ffi.string(ask("Name", p, i)), dtype = dtypes.with_code(ask("Dtype", p, i)), sizes = sizes }
        end
        return list
    end
end

--- The inputs in order: each has `name`, `dtype` and `sizes`, a list with `min` and `max` for each dimension. `max` is math.huge for a size
--- without bound.
group.inputs = lister("input")

--- The outputs in the same form. `dtype` is nil for an output that is `None`.
group.outputs = lister("output")

-- Returns the functions that return all tensors, and one tensor.
local function tensors(title)
    local one, all, prefix = "Program." .. title, ("Program.%ss"):format(title), "THProgram_" .. title
    local new = "THProgram_new" .. title:sub(1, 1):upper() .. title:sub(2)
    local function find(p, name)
        must_be_program(p, one)
        if type(name) ~= "string" then errors.raise(one .. ": name must be a text") end
        return origin.own(C[new](p.handle, name), one)
    end
    local function list(p)
        must_be_program(p, all)
        local found, count = {}, counted(C[prefix .. "Count"](p.handle), all)
        local function name(i) return ffi.string(C[prefix .. "Name"](p.handle, i - 1)) end
        for i = 1, count do found[i] = find(p, name(i)) end
        -- The names come last, so that functions of lists see a list.
        for i = 1, count do found[name(i)] = found[i] end
        return found
    end
    return list, find
end

--- The parameters by name, and as a list in the order of the program. A write to a parameter changes the program.
group.parameters, group.parameter = tensors("parameter")

--- The buffers by name, and as a list.
group.buffers, group.buffer = tensors("buffer")

--- The metadata of the file: a table of texts by key.
function group.metadata(p)
    must_be_program(p, "Program.metadata")
    local found = {}
    for k = 0, counted(C.THProgram_metadataCount(p.handle), "Program.metadata") - 1 do
        found[ffi.string(C.THProgram_metadataKey(p.handle, k))] = ffi.string(C.THProgram_metadataValue(p.handle, k))
    end
    return found
end

programs.metamethods.__call = group.run

return programs
