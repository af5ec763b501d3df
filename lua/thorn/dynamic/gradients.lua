-- Gradients with Lua functions: hooks, custom functions, checkpoints, and functions that run without recording.

local ffi = require("ffi")
local errors = require("thorn.errors")
local library = require("thorn.library")
local origin = require("thorn.origin")
local callbacks = require("thorn.dynamic.callbacks")
local handles = require("thorn.dynamic.handles")
local signatures = require("thorn.dynamic.signatures")

local C, istype, own, check = library.C, ffi.istype, origin.own, library.check
local Tensor = library.Tensor

-- Functions on tensors, functions of groups, and functions of the namespace, by name.
local gradients = { methods = {}, groups = { Grad = {}, Optim = {} }, functions = {} }

local grad = gradients.groups.Grad

local function is_function(f, name)
    if type(f) ~= "function" then errors.raise(name .. ": a function is expected") end
end

-- Returns a list of tensors, which may be given as a single tensor, and the array of their pointers.
local function list_of(inputs, name)
    if istype(Tensor, inputs) then inputs = { inputs } end
    if type(inputs) ~= "table" then errors.raise(name .. ": a list of tensors is expected") end
    local array = ffi.new("THTensor *[?]", #inputs)
    for i, tensor in ipairs(inputs) do
        if not istype(Tensor, tensor) then errors.raise(name .. ": a list of tensors is expected") end
        array[i - 1] = tensor.handle
    end
    return inputs, array
end

-- Returns new tensors, and the array of their pointers.
local function fresh_list(count, name)
    local list, array = {}, ffi.new("THTensor *[?]", count)
    for i = 1, count do
        list[i] = own(C.THTensor_new(), name)
        array[i - 1] = list[i].handle
    end
    return list, array
end

-- Returns the tensors of a borrowed array; nil for NULL.
local function shared(array, count, name)
    local list = {}
    for i = 1, count do list[i] = callbacks.share(array[i - 1], name) end
    return list
end

local function named(options, key, default)
    for name, value in pairs(options or {}) do
        if signatures.in_capitals(name) == key then return value end
    end
    return default
end

-- Makes each handle of `to` show a tensor that the function returned, with its history. nil and false leave a handle unchanged.
local function hand_over(to, count, name, ...)
    if select("#", ...) > count then
        errors.raise(("%s: the function returned %d values, where %d have a place"):format(name, select("#", ...), count))
    end
    for i = 1, count do
        local value = select(i, ...)
        if value and not istype(Tensor, value) then errors.raise(("%s: the function returned a %s"):format(name, type(value))) end
        if value and to[i - 1] ~= nil then check(C.THTensor_set(to[i - 1], value.handle), name) end
    end
end

-- Restores recording, and returns the function's results, or raises its error.
local function finish(restore, value, ok, ...)
    restore(value)
    if not ok then error((...), 0) end
    return ...
end

--- Returns the results of `f(...)`, which runs without recording.
function gradients.functions.noGrad(f, ...)
    is_function(f, "no_grad")
    if C.THGrad_isEnabled() == 0 then return f(...) end
    check(C.THGrad_setEnabled(0), "no_grad")
    return finish(C.THGrad_setEnabled, 1, pcall(f, ...))
end
local no_grad = gradients.functions.noGrad

-- The depth of nested calls of `inference`.
local depth = 0

local function leave()
    depth = depth - 1
    if depth == 0 then C.THGrad_setInference(0) end
end

--- Returns the results of `f(...)`, which runs without recording and cannot switch recording on.
function gradients.functions.inference(f, ...)
    is_function(f, "inference")
    check(C.THGrad_setInference(1), "inference")
    depth = depth + 1
    return finish(leave, nil, pcall(f, ...))
end

local hook = callbacks.of("THGradHook", function(f, gradient, replacement)
    local value = f(callbacks.share(gradient, "addHook"))
    if value == nil or value == false then return end
    if not istype(Tensor, value) then errors.raise("addHook: the function returned a " .. type(value)) end
    C.THTensor_retain(value.handle)
    replacement[0] = value.handle
end)

--- Makes backward call `f(gradient)` whenever it has computed the gradient of `t`. A tensor that `f` returns replaces the gradient. Returns
--- the number for `removeHook`. A function that refers to `t` keeps `t` alive until the hook is removed.
function gradients.methods.addHook(t, f)
    if not istype(Tensor, t) then errors.raise("addHook: a tensor is expected") end
    is_function(f, "addHook")
    local context = callbacks.lend(f)
    local id = C.THTensor_addHook(t.handle, hook(), context, callbacks.deleter)
    if id == -1 then
        callbacks.take_back(context)
        library.fail("addHook")
    end
    return tonumber(id)
end

-- The call of a custom function. `call` is the library's call while the library runs; before that, `list` holds the saved tensors.
local Call = {}
Call.__index = Call

--- Saves tensors for the gradient: inputs, results, or intermediate tensors.
function Call:save(...)
    for i = 1, select("#", ...) do
        local tensor = select(i, ...)
        if not istype(Tensor, tensor) then errors.raise("save: a tensor is expected") end
        if not self.list then errors.raise("save: only the function itself saves tensors") end
        self.list[#self.list + 1] = tensor
    end
end

--- Returns saved tensor `i`, or all saved tensors if there is no number.
function Call:saved(i)
    if i == nil then
        local all = {}
        for k = 1, self.count do all[k] = self:saved(k) end
        return unpack(all, 1, self.count)
    end
    if self.list then return self.list[i] end
    if not self.call then errors.raise("saved: the call is over") end
    return own(C.THGrad_newSaved(self.call, i - 1), "saved")
end

--- Returns true if the gradient of input `i` is needed.
function Call:needsGradient(i) return self.needs[i] or false end

Call.needs_gradient = Call.needsGradient

-- Makes the handles `to` show the elements of the results, and passes the saved tensors to the library.
local forward_rule = callbacks.of("THGradRule", function(own_function, call, _, _, to, to_count)
    for i = 1, to_count do check(C.THTensor_set(to[i - 1], own_function.computed[i].handle), "Grad.apply") end
    for _, tensor in ipairs(own_function.saved) do
        local handle = tensor.handle
        for i = 1, to_count do
            if own_function.computed[i].handle == handle then handle = ffi.cast("THTensor *", to[i - 1]) end
        end
        check(C.THGrad_save(call, handle), "save")
    end
end)

local backward_rule = callbacks.of("THGradRule", function(own_function, call, from, from_count, to, to_count)
    local handed = setmetatable({ call = call, needs = own_function.needs, count = own_function.count }, Call)
    local given = shared(from, from_count, "Grad.apply")
    local function run(...)
        handed.call = nil
        hand_over(to, to_count, "Grad.apply", ...)
    end
    run(own_function.backward(handed, unpack(given, 1, from_count)))
end)

-- Returns a fresh handle for each tensor that the function has computed, and the array of their pointers. The function may return the
-- program's tensors, whose histories must stay.
local function results_of(computed, count, name)
    local results, array = {}, ffi.new("THTensor *[?]", count)
    for i = 1, count do
        if not istype(Tensor, computed[i]) then errors.raise(("%s: the function returned a %s"):format(name, type(computed[i]))) end
        results[i] = own(C.THTensor_new(), name)
        array[i - 1] = results[i].handle
    end
    return results, array
end

--- A custom function with its gradient: returns the results of `forward(call, input, ...)`, which runs without recording. `backward(call,
--- gradient, ...)` returns the gradients of the inputs from the gradients of the results. In both, nil means 0.
function grad.apply(inputs, forward, backward)
    local list, array = list_of(inputs, "Grad.apply")
    is_function(forward, "Grad.apply")
    is_function(backward, "Grad.apply")
    local call, recording = setmetatable({ list = {}, needs = {} }, Call), C.THGrad_isEnabled() ~= 0
    for i, tensor in ipairs(list) do call.needs[i] = recording and C.THTensor_requiresGrad(tensor.handle) == 1 end
    local computed, results, to
    no_grad(function()
        local function pack(...) return { ... }, select("#", ...) end
        local count
        computed, count = pack(forward(call, unpack(list)))
        call.count = #call.list
        results, to = results_of(computed, count, "Grad.apply")
    end)
    local own_function = { backward = backward, needs = call.needs, count = call.count, saved = call.list, computed = computed }
    local context = callbacks.lend(own_function)
    local status = C.THGrad_apply(to, #results, array, #list, forward_rule(), backward_rule(), context, callbacks.deleter)
    own_function.saved, own_function.computed, call.list = nil, nil, nil
    if status ~= 0 then callbacks.take_back(context) end
    callbacks.check(status, "Grad.apply")
    return unpack(results)
end

local plain_function = callbacks.of("THGradFunction", function(f, inputs, input_count, outputs, output_count)
    local given = shared(inputs, input_count, "function")
    hand_over(outputs, output_count, "function", f(unpack(given, 1, input_count)))
end)

--- Returns the results of `f(input, ...)`: one tensor, or the number in the option `results`. Backward keeps only the inputs, and calls `f`
--- again, which must compute the same results.
function grad.checkpoint(inputs, f, options)
    local list, array = list_of(inputs, "Grad.checkpoint")
    is_function(f, "Grad.checkpoint")
    local results, to = fresh_list(named(options, "results", 1), "Grad.checkpoint")
    local context = callbacks.lend(f)
    local status = C.THGrad_checkpoint(to, #results, array, #list, plain_function(), context, callbacks.deleter)
    if status ~= 0 then callbacks.take_back(context) end
    callbacks.check(status, "Grad.checkpoint")
    return unpack(results)
end

--- Compares the gradients of `f(input, ...)` with finite differences, and raises an error if they differ. Options are `eps`, `atol` and
--- `rtol`. Returns true.
function grad.check(inputs, f, options)
    local list, array = list_of(inputs, "Grad.check")
    is_function(f, "Grad.check")
    local count = select("#", no_grad(f, unpack(list)))
    local context = callbacks.lend(f)
    local status = C.THGrad_check(array, #list, count, plain_function(), context, named(options, "eps", 1e-6),
        named(options, "atol", 1e-5), named(options, "rtol", 1e-3))
    callbacks.take_back(context)
    callbacks.check(status, "Grad.check")
    return true
end

local closure = callbacks.of("THOptimClosure", function(f, loss)
    local value = f()
    if istype(Tensor, value) then value = C.THTensor_item(value.handle) end
    if type(value) ~= "number" then errors.raise("Optim.stepClosure: the function returned a " .. type(value)) end
    loss[0] = value
end)

--- Makes a step of an optimizer that may call `f()` several times. `f` computes the loss and the gradients of the parameters, and returns
--- the loss.
function gradients.groups.Optim.stepClosure(o, f)
    if not istype(handles.types.Optim.type, o) then errors.raise("Optim.stepClosure: an optimizer is expected") end
    is_function(f, "Optim.stepClosure")
    local context = callbacks.lend(f)
    local status = C.THOptim_stepClosure(o.handle, closure(), context)
    callbacks.take_back(context)
    callbacks.check(status, "Optim.stepClosure")
end

-- Compiled code cannot be called back.
for _, f in ipairs({ grad.apply, grad.checkpoint, grad.check, gradients.groups.Optim.stepClosure }) do jit.off(f) end

return gradients
