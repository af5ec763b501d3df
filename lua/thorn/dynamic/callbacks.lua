-- Functions of Lua that the library calls: hooks, functions with a gradient of their own, closures of optimizers, and those that are told
-- of progress.
--
-- LuaJIT has few callbacks, so that all functions of one type share one, which finds the function by its context. The context is a
-- storage: the library has a reference to it as long as it may call the function, and gives that up by `THStorage_free`, since a deleter
-- cannot be a function of Lua. This module has another reference, and gives up the functions whose storages nobody else has.
--
-- An error in a function may not pass through the library. It waits in `raised`, and is raised again where the call of the library fails.
-- Compiled code cannot be called back: what calls such functions is left to the interpreter.

local ffi = require("ffi")
local library = require("thorn.library")

local C, own = library.C, library.own

local callbacks = {}

--- The functions of the library that call functions of the program.
callbacks.callers = {
    THTensor_backward = true, THGrad_backward = true, THGrad_gradients = true, THGrad_apply = true, THGrad_checkpoint = true,
    THGrad_check = true, THOptim_stepClosure = true,
}

-- Storages and functions by the address of the storage, their number, and the number from which on they are looked through.
local lent, count, limit = {}, 0, 64

local function key_of(context) return tonumber(ffi.cast("intptr_t", context)) end

--- Gives up the functions that the library cannot call any more; returns how many are left.
function callbacks.sweep()
    count = 0
    for key, entry in pairs(lent) do
        if C.THStorage_refcount(entry.storage) == 1 then
            C.THStorage_free(entry.storage)
            lent[key] = nil
        else
            count = count + 1
        end
    end
    limit = math.max(64, 2 * count)
    return count
end

--- Keeps `value` for callbacks; returns the context that stands for it.
function callbacks.lend(value)
    if count >= limit then callbacks.sweep() end
    local storage = C.THStorage_newWithSize(C.TH_UINT8, 1)
    if storage == nil then library.fail() end
    C.THStorage_retain(storage)
    lent[key_of(storage)] = { storage = storage, value = value }
    count = count + 1
    return storage
end

--- Gives up the library's reference to a context that the library has not taken, or has been called with for the last time.
function callbacks.take_back(storage) C.THStorage_free(storage) end

--- The deleter of contexts.
callbacks.deleter = ffi.cast("THDeleter", C.THStorage_free)

-- The error of a function that was called back, in a table.
local raised

--- Raises the error of a function that was called back, if there is one, else the last one of the library.
function callbacks.fail(name)
    local failure = raised
    raised = nil
    if failure and C.THGetLastErrorCode() == C.TH_ERR_CALLBACK then error(failure[1], 0) end
    library.fail(name)
end

--- Returns if the library reports success, else raises the error.
function callbacks.check(status, name)
    if status ~= 0 then callbacks.fail(name) end
end

--- Returns the callback of this type: it calls `run(value, ...)` with what was lent and the arguments before the context.
function callbacks.of(type_name, run)
    local callback
    local function called(context, ...)
        local entry = lent[key_of(context)]
        if not entry then return C.TH_OK end
        local ok, failure = pcall(run, entry.value, ...)
        if ok then return C.TH_OK end
        raised = { failure }
        return C.TH_ERR_CALLBACK
    end
    local heads = {
        THGradHook = function(gradient, replacement, context) return called(context, gradient, replacement) end,
        THGradRule = function(call, from, from_count, to, to_count, context)
            return called(context, call, from, from_count, to, to_count)
        end,
        THGradFunction = function(inputs, input_count, outputs, output_count, context)
            return called(context, inputs, input_count, outputs, output_count)
        end,
        THOptimClosure = function(context, loss) return called(context, loss) end,
        THProgressFunction = function(iteration, residual, context) return called(context, tonumber(iteration), residual) end,
    }
    return function()
        callback = callback or ffi.cast(type_name, heads[type_name])
        return callback
    end
end

local progress = callbacks.of("THProgressFunction", function(f, iteration, residual) f(iteration, residual) end)

--- Returns the callback and the context for a function of Lua that is told of progress.
function callbacks.progress(f) return progress(), callbacks.lend(f) end

--- A reference of Lua to a borrowed tensor of C; nil for NULL.
function callbacks.share(handle, name)
    if handle == nil then return nil end
    handle = ffi.cast("THTensor *", handle)
    C.THTensor_retain(handle)
    return own(handle, name)
end

return callbacks
