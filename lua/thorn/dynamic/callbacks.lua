-- Lua functions that the library calls: hooks, custom functions, closures of optimizers, and progress functions.
--
-- LuaJIT has few callbacks, so all functions of one type share one callback, which finds the function by its context. The context is a
-- storage. The library owns a reference to it as long as it may call the function, and releases the reference by `THStorage_free`, because
-- a deleter cannot be a Lua function. This module owns another reference, and drops a function when that is the only reference left.
--
-- An error in a function may not pass through the library. It is stored in `raised`, and is raised again when the library's call fails.
-- Compiled code cannot be called back, so functions that may invoke callbacks are not compiled.

local ffi = require("ffi")
local library = require("thorn.library")
local origin = require("thorn.origin")

local C, own = library.C, origin.own

local callbacks = {}

--- The functions of the library that call functions of the program.
callbacks.callers = {
    THTensor_backward = true, THGrad_backward = true, THGrad_gradients = true, THGrad_apply = true, THGrad_checkpoint = true,
    THGrad_check = true, THOptim_stepClosure = true,
}

-- Storages and functions by the address of the storage, their number, and the number at which the next sweep happens.
local lent, count, limit = {}, 0, 64

local function key_of(context) return tonumber(ffi.cast("intptr_t", context)) end

--- Drops the functions that the library cannot call any more. Returns the number of the others.
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

--- Keeps `value` for callbacks. Returns its context.
function callbacks.lend(value)
    if count >= limit then callbacks.sweep() end
    local storage = C.THStorage_newWithSize(C.TH_UINT8, 1)
    if storage == nil then library.fail() end
    C.THStorage_retain(storage)
    lent[key_of(storage)] = { storage = storage, value = value }
    count = count + 1
    return storage
end

--- Releases the library's reference to a context that the library has not taken over, or has used for the last time.
function callbacks.take_back(storage) C.THStorage_free(storage) end

--- The deleter of contexts.
callbacks.deleter = ffi.cast("THDeleter", C.THStorage_free)

-- The error of a callback, in a table.
local raised

--- Raises the error of a callback, if there is one, otherwise the library's last error.
function callbacks.fail(name)
    local failure = raised
    raised = nil
    if failure and C.THGetLastErrorCode() == C.TH_ERR_CALLBACK then error(failure[1], 0) end
    library.fail(name)
end

--- Returns if the library reports success. Otherwise raises the error.
function callbacks.check(status, name)
    if status ~= 0 then callbacks.fail(name) end
end

--- Returns the callback of this type. It calls `run(value, ...)` with the lent value and the arguments before the context.
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

--- Returns the callback and the context for a progress function in Lua.
function callbacks.progress(f) return progress(), callbacks.lend(f) end

--- Returns a new reference to a tensor that C has lent; nil for NULL.
function callbacks.share(handle, name)
    if handle == nil then return nil end
    handle = ffi.cast("THTensor *", handle)
    C.THTensor_retain(handle)
    return own(handle, name)
end

return callbacks
