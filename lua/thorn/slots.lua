-- Frees the handles of objects that the collector has freed.
--
-- A finalizer of the FFI costs more than a microsecond an object. So the objects here have no finalizers. Each object has a slot: an entry
-- of a table with weak values for the object, and an entry of an array for its handle. After each cycle of the collector, the handles are
-- freed whose objects have disappeared from the table, and the other objects move to the first slots.

local ffi = require("ffi")

local slots = {}

-- If more slots are in use, the next new object frees the handles, because LuaJIT compiles nothing in the collector's finalizers. If the
-- program makes no new object before the next cycle ends, the finalizer frees them.
local FEW = 1024

-- The collector sees only the few bytes of an object, not the memory behind its handle. So it runs after this many new objects at the
-- latest, or after four new objects for each KB of the Lua state.
local MANY, PER_KB = 16384, 4

-- Calls `f` after each cycle of the collector.
local function after_each_cycle(f)
    local proxy = newproxy(true)
    getmetatable(proxy).__gc = function(old)
        newproxy(old)
        f()
    end
end

-- Calls `f` when the Lua state ends. The caller keeps the result.
local function at_the_end(f)
    local proxy = newproxy(true)
    getmetatable(proxy).__gc = f
    return proxy
end

--- Returns a table of functions for objects of a type: a struct whose first fields are `handle`, `retained` and `slot`. `add(handle)` makes
--- an object, `exchange(object, handle)` gives it another handle, and `sweep()` frees the handles of collected objects. `free` releases a
--- handle. Objects have the handle `nothing` after the end of the Lua state.
function slots.new(type, free, nothing)
    local objects, capacity = setmetatable({}, { __mode = "v" }), FEW
    local handles = ffi.new("void *[?]", capacity + 1)
    local count, limit, is_sweeping, is_adding, is_due = 0, MANY, false, false, false

    -- `free` may call functions of the program, which may add objects.
    local function sweep()
        is_sweeping, is_due = true, false
        local kept, i = 0, 0
        while i < count do
            i = i + 1
            local object, handle = objects[i], handles[i]
            if object == nil then
                free(handle)
            else
                kept = kept + 1
                if kept < i then
                    objects[kept], handles[kept], objects[i], object.slot = object, handle, nil, kept
                end
            end
        end
        count, limit, is_sweeping = kept, kept + math.max(MANY, PER_KB * collectgarbage("count")), false
    end

    -- The new array may end a cycle, whose finalizers may add objects and grow the array.
    local function grow()
        local size = 2 * capacity
        local larger = ffi.new("void *[?]", size + 1)
        if size <= capacity then return end
        ffi.copy(larger, handles, ffi.sizeof("void *") * (capacity + 1))
        handles, capacity = larger, size
    end

    -- A store in the table raises an error if memory is exhausted. Then the next sweep frees the handle.
    local function add(handle)
        if count >= limit then
            collectgarbage()
            is_due = true
        end
        if is_due and not is_sweeping then sweep() end
        local object = type(handle)
        while count >= capacity do grow() end
        is_adding = true
        local i = count + 1
        handles[i], object.slot, count = handle, i, i
        objects[i] = object
        is_adding = false
        return object
    end

    local function exchange(object, handle)
        local old = object.handle
        if old == nothing then
            object.handle = handle
            return
        end
        object.handle, handles[object.slot] = handle, handle
        free(old)
    end

    -- With a debug hook, the cycle may end in the middle of `add`.
    after_each_cycle(function()
        if is_sweeping or is_adding or count > FEW and not is_due then is_due = true else sweep() end
    end)

    local function end_all()
        is_sweeping = true
        for i = 1, count do
            local object = objects[i]
            if object ~= nil then object.handle, object.retained = nothing, 0 end
            free(handles[i])
        end
        count = 0
    end

    return { add = add, exchange = exchange, sweep = sweep, guard = at_the_end(end_all) }
end

return slots
