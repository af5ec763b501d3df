-- Makes the functions of `nn.THNN` from rows.
--
-- A row is `{ "input gradOutput gradInput scale:number", function }`. The text names the arguments in the order of THNN, without the state:
--   input            a tensor of the type that the function is bound for
--   target:long      a LongTensor; `count:ints` is an IntTensor
--   anything:any     a tensor of any type
--   kW:int           a whole number; `scale:number` a number; `inplace:bool` a truth value, where nil means false
--   gen:generator    a generator
-- A question mark at the end permits nil: `weights?`, `sorted:any?`. The program passes tensors as `t:cdata()`. The function of the row
-- receives `THTensor *` and numbers, and returns nothing or a status of the library.
--
-- Functions of rows call the library by two tables, which raise errors with the name of the THNN function. `th.add(r, t, 1)` calls
-- `THTensor_add`, and `made.add(t, 1)` returns a new tensor for `r`. `th.newTranspose(t, 0, 1)` also returns a new tensor. New tensors are
-- temporaries, which end with the call.

local ffi = require("ffi")
local arguments = require("thorn.arguments")
local errors = require("thorn.errors")
local library = require("thorn.library")
local types = require("thorn.types")

local C = library.C
local TensorPointer, GeneratorPointer = ffi.typeof("THTensor *"), ffi.typeof("THGenerator *")

local binding = {}

-- The THNN function that runs, and the temporaries. A finalizer of the program may interrupt one function and call another one, whose
-- temporaries follow.
local running
local temporaries, count = {}, 0

-- Frees the temporaries after the first `kept`.
local function release(kept)
    while count > kept do
        local handle = temporaries[count]
        temporaries[count] = nil
        count = count - 1
        C.THTensor_free(handle)
    end
end

--- Raises an error of the THNN function that runs.
function binding.raise(text, ...) errors.raise(running .. ": " .. text:format(...)) end

--- Raises "bad argument" for the argument with this position.
function binding.argument(position, text, ...) errors.argument(position, running, text:format(...)) end

--- Raises the library's error unless the status is 0.
function binding.check(status)
    if status ~= 0 then library.fail(running) end
end
local check = binding.check

--- Frees a new `THTensor *` at the end of the call. NULL raises the library's error. Returns the pointer.
function binding.keep(handle)
    if handle == nil then check(1) end
    count = count + 1
    temporaries[count] = handle
    return handle
end
local keep = binding.keep

--- Makes an empty temporary of the type of `t`, or of the type with the code `dtype`.
function binding.temporary(t, dtype) return keep(C.THTensor_newWithDtype(dtype or t.dtype)) end
local temporary = binding.temporary

--- Returns positions that count from 1, of any type, as a temporary LongTensor that counts from 0. With a `limit`, a position that is not
--- from 1 to the limit is an error.
function binding.from_zero(positions, limit)
    local r = temporary(positions, C.TH_INT64)
    check(C.THTensor_copy(r, positions))
    check(C.THTensor_sub(r, r, 1))
    if limit and C.THTensor_nElement(r) > 0 then
        local least, greatest = C.THTensor_minall(r) + 1, C.THTensor_maxall(r) + 1
        if not (least >= 1 and greatest <= limit) then
            binding.raise("index %d is out of range 1 to %d", least < 1 and least or greatest, limit)
        end
    end
    return r
end

local function sizes_of(...) return select("#", ...), ffi.new("int64_t[?]", select("#", ...), ...) end

--- Resizes a tensor to these sizes.
function binding.resize(t, ...)
    local n, sizes = sizes_of(...)
    check(C.THTensor_resize(t, n, sizes, nil))
end

--- Returns a temporary tensor of the elements of `t` in these sizes, of which one may be -1: a view if the strides allow it, else a copy.
function binding.reshape(t, ...) return keep(C.THTensor_newReshape(t, sizes_of(...))) end

--- Returns the size of dimension `d`, from 0; negative numbers count from the end.
function binding.size(t, d)
    local entry = d < 0 and t.nDimension + d or d
    if entry < 0 or entry >= t.nDimension then
        binding.raise("%d dimensions or more expected, got %s", d < 0 and -d or d + 1, binding.shape(t))
    end
    return tonumber(t.size[entry])
end

--- Returns the number of elements.
function binding.elements(t) return tonumber(C.THTensor_nElement(t)) end

--- Returns the sizes of a tensor for messages: "3x4".
function binding.shape(t)
    local sizes = {}
    for d = 0, t.nDimension - 1 do sizes[d + 1] = tonumber(t.size[d]) end
    return #sizes == 0 and "empty" or table.concat(sizes, "x")
end

--- Returns `t` with the sizes of `other`: `t` itself, or a temporary view or copy. The tensors must have the same number of elements;
--- `position` is the argument's.
function binding.like(t, other, position)
    if C.THTensor_isSameSizeAs(t, other) ~= 0 then return t end
    if C.THTensor_nElement(t) ~= C.THTensor_nElement(other) then
        binding.argument(position, "%s elements expected, got %s", binding.shape(other), binding.shape(t))
    end
    return keep(C.THTensor_newReshape(t, other.nDimension, other.size))
end

--- The functions of the library by their names without `THTensor_`.
binding.th = setmetatable({}, {
    __index = function(th, name)
        local f = C["THTensor_" .. name]
        local finish = name:find("^new") and keep or check
        th[name] = function(...) return finish(f(...)) end
        return th[name]
    end,
})

--- The functions of the library with a result as their first argument. The result is a temporary, which the function returns.
binding.made = setmetatable({}, {
    __index = function(made, name)
        local f = C["THTensor_" .. name]
        made[name] = function(...)
            local r = keep(C.THTensor_new())
            check(f(r, ...))
            return r
        end
        return made[name]
    end,
})

-- Fused expressions by their text, with the names of their inputs. The limit is their number.
local FUSED_LIMIT = 256
local fused, fused_count = {}, 0

local function forget_fused()
    for text, expression in pairs(fused) do
        C.THFused_free(expression.handle)
        fused[text] = nil
    end
    fused_count = 0
end

local function fused_of(text)
    if fused[text] then return fused[text] end
    if fused_count == FUSED_LIMIT then forget_fused() end
    local handle = C.THFused_new(text)
    if handle == nil then check(1) end
    local expression = { handle = handle, names = {} }
    for i = 1, tonumber(C.THFused_nInputs(handle)) do expression.names[i] = ffi.string(C.THFused_inputName(handle, i - 1)) end
    fused[text], fused_count = expression, fused_count + 1
    return expression
end

-- Writes a number for an expression, in which inf and nan would be names.
local function literal(x)
    if x ~= x then return "(0/0)" end
    if math.abs(x) == math.huge then return x > 0 and "(1/0)" or "(-1/0)" end
    return ("(%.17g)"):format(x)
end

local inputs = ffi.new("THTensor *[8]")

--- Computes `r` by an expression of elementwise functions in one pass. `operands` has the tensors that the expression names. The
--- numbers replace the characters `@` in order: `fuse(r, "t * @ + b", { t = t, b = b }, 2)`. `where` of two numbers gives float32.
function binding.fuse(r, text, operands, ...)
    if select("#", ...) > 0 then
        local numbers, i = { ... }, 0
        text = text:gsub("@", function()
            i = i + 1
            return literal(numbers[i])
        end)
    end
    local expression = fused_of(text)
    local names = expression.names
    for i = 1, #names do inputs[i - 1] = operands[names[i]] end
    check(C.THFused_run(r, expression.handle, inputs, #names))
end

--- Computes `gradInput`, the gradient of `input` from the gradient of the result of `f(input)`, by recording `f`.
function binding.gradient(f, input, gradOutput, gradInput)
    local leaf = keep(C.THTensor_newDetach(input))
    check(C.THTensor_setRequiresGrad(leaf, 1))
    check(C.THTensor_backward(f(leaf), gradOutput))
    check(C.THTensor_copy(gradInput, keep(C.THTensor_newGrad(leaf))))
end

-- Returns the name of the type that a wrong argument has.
local function described(x)
    if x == nil then return "no value" end
    if ffi.istype(TensorPointer, x) then return types[x.dtype].name .. ":cdata()" end
    return arguments.typename(x)
end

-- Converters take a value, its position and the name of the THNN function, and return the value for the row.

local function refuse(x, position, name, wanted)
    errors.argument(position, name, ("%s expected, got %s"):format(wanted, described(x)))
end

-- A converter for tensors of one type; any type without a code.
local function tensor_converter(code)
    local wanted = (code and types[code].name or "torch.Tensor") .. ":cdata()"
    return function(x, position, name)
        if not ffi.istype(TensorPointer, x) or x == nil or code and x.dtype ~= code then refuse(x, position, name, wanted) end
        return x
    end
end

local converters = {
    long = tensor_converter(C.TH_INT64),
    ints = tensor_converter(C.TH_INT32),
    any = tensor_converter(),
}

function converters.number(x, position, name)
    if type(x) == "number" then return x end
    return arguments.number(x, position, name)
end

-- Fractions are cut off, as the FFI does.
function converters.int(x, position, name)
    x = converters.number(x, position, name)
    if not (math.abs(x) <= 2 ^ 53) then refuse(x, position, name, "whole number") end
    return x < 0 and math.ceil(x) or math.floor(x)
end

function converters.bool(x, position, name)
    if type(x) == "number" then return x ~= 0 end
    if x ~= nil and type(x) ~= "boolean" then refuse(x, position, name, "boolean") end
    return x or false
end

function converters.generator(x, position, name)
    if ffi.istype(library.Generator, x) then return x.handle end
    if not ffi.istype(GeneratorPointer, x) or x == nil then refuse(x, position, name, "torch.Generator") end
    return x
end

local function optional(converter)
    return function(x, position, name)
        if x == nil then return nil end
        return converter(x, position, name)
    end
end

-- Reads the arguments of a row. Returns the list of converters for tensors of this type.
local function read(signature, own_tensor)
    local list = {}
    for word in signature:gmatch("%S+") do
        local kind, question = word:match("^[%w_]+:?(%l*)(%??)$")
        local converter = kind == "" and own_tensor or converters[kind]
        list[#list + 1] = question == "?" and optional(converter) or converter
    end
    return list
end

-- Ends a function that began with `kept` temporaries, and continues the function that it has interrupted.
local function finish(interrupted, kept, ok, status)
    if ok and status then ok, status = pcall(check, status) end
    release(kept)
    running = interrupted
    if not ok then error(status, 0) end
end

-- Calls `f`, the function of the row with this name.
local function run(name, f, ...)
    local interrupted, kept = running, count
    running = name
    finish(interrupted, kept, pcall(f, ...))
end

-- Repeats `pattern` with the numbers from 1 to `n` in place of `#`.
local function numbered(pattern, n)
    local parts = {}
    for i = 1, n do parts[i] = pattern:gsub("#", i) end
    return table.concat(parts, ", ")
end

local folder = debug.getinfo(1, "S").source:match("^(.*)binding%.lua$") or "="

--- Returns the THNN function of a row for tensors of the type with this code. Its source has a parameter for each argument, because LuaJIT
--- compiles that well.
function binding.bind(name, row, code)
    local list = read(row[1], tensor_converter(code))
    local n = #list
    local function extra(given)
        errors.raise(("%s: %d arguments expected, got %d"):format(name, n, n + given))
    end
    local source = ([[
        local name, f, run, extra, list = ...
        local CONVERTERS = unpack(list)
        return function(PARAMETERS, ...)
            if select("#", ...) > 0 then extra(select("#", ...)) end
            run(name, f, ARGUMENTS)
        end]]):gsub("%u%u+", {
        CONVERTERS = numbered("c#", n), PARAMETERS = numbered("a#", n), ARGUMENTS = numbered("c#(a#, #, name)", n),
    })
    return assert(loadstring(source, folder .. "compiled/" .. name))(name, row[2], run, extra, list)
end

return binding
