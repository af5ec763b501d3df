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
    local count, limit, is_busy, is_due = 0, MANY, false, false

    -- `free` may call functions of the program, which may add objects.
    local function sweep()
        is_busy, is_due = true, false
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
        count, limit, is_busy = kept, kept + math.max(MANY, PER_KB * collectgarbage("count")), false
    end

    local function grow()
        local larger = ffi.new("void *[?]", 2 * capacity + 1)
        ffi.copy(larger, handles, ffi.sizeof("void *") * (capacity + 1))
        handles, capacity = larger, 2 * capacity
    end

    local function add(handle)
        if count >= limit then collectgarbage() end
        if is_due and not is_busy then sweep() end
        local object, was_busy = type(handle), is_busy
        is_busy = true
        local i = count + 1
        if i > capacity then grow() end
        object.slot = i
        handles[i], objects[i], count = handle, object, i
        is_busy = was_busy
        return object
    end

    local function exchange(object, handle)
        local old = object.handle
        object.handle, handles[object.slot] = handle, handle
        free(old)
    end

    -- The cycle may end in the middle of `add`.
    after_each_cycle(function()
        if is_busy or count > FEW and not is_due then is_due = true else sweep() end
    end)

    local function end_all()
        is_busy = true
        for i = 1, count do
            if objects[i] ~= nil then objects[i].handle = nothing end
            free(handles[i])
        end
        count = 0
    end

    return { add = add, exchange = exchange, sweep = sweep, guard = at_the_end(end_all) }
end

return slots
