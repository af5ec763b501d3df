-- Streams of bytes: files of the system, and memory. Both kinds have the same methods. Positions count from 0.
--
--   read(pointer, count)    copies at most `count` bytes to `pointer`; returns the number of copied bytes
--   write(source, count)    writes `count` bytes of a pointer or a string; returns the number of written bytes
--   next()                  returns the next byte, or -1 at the end
--   back(byte)              makes the byte of the last `next` the next byte again
--   line(), rest()          return the next line without its end, and all remaining bytes; nil at the end
--   left()                  the number of remaining bytes, or 0 if it is unknown
--   position()              the position, or nil if it is unknown
--   seek(position), seek_end()    return false on failure
--   flush(), unbuffer(), close()

local ffi = require("ffi")
local library = require("thorn.library")
local namespace = require("thorn.namespace")

local C, check = library.C, library.check
local methods = namespace.storage_methods
local min, max = math.min, math.max

local stream = {}

-- The functions have separate names, because the program may declare C's names with other types.
ffi.cdef([[
    size_t thorn_fread(void *, size_t, size_t, void *) __asm__("fread");
    size_t thorn_fwrite(const void *, size_t, size_t, void *) __asm__("fwrite");
    int thorn_getc(void *) __asm__("getc");
    int thorn_ungetc(int, void *) __asm__("ungetc");
    void *thorn_memmove(void *, const void *, size_t) __asm__("memmove");
]])
local libc = ffi.C

local Disk = {}
Disk.__index = Disk

--- Makes a stream of a file that `io.open` or `io.popen` has opened.
function stream.disk(handle) return setmetatable({ handle = handle, file = ffi.cast("void *", handle) }, Disk) end

-- C demands a change of position between a read and a write.
local function turn(self, writes)
    if self.writes == writes then return end
    self.handle:seek("cur", 0)
    self.writes = writes
end

function Disk:read(pointer, count)
    turn(self, false)
    return (tonumber(libc.thorn_fread(pointer, 1, count, self.file)))
end

function Disk:write(source, count)
    turn(self, true)
    return (tonumber(libc.thorn_fwrite(source, 1, count, self.file)))
end

function Disk:next()
    turn(self, false)
    return (libc.thorn_getc(self.file))
end

function Disk:back(byte) libc.thorn_ungetc(byte, self.file) end

function Disk:line()
    turn(self, false)
    return self.handle:read("*l")
end

function Disk:rest()
    turn(self, false)
    local text = self.handle:read("*a")
    return text ~= "" and text or nil
end

function Disk:left()
    local position = self:position()
    local last = position and self.handle:seek("end")
    if last then self.handle:seek("set", position) end
    return last and max(last - position, 0) or 0
end

function Disk:position() return (self.handle:seek()) end

function Disk:seek(position) return self.handle:seek("set", position) ~= nil end

function Disk:seek_end() return self.handle:seek("end") ~= nil end

function Disk:flush() return self.handle:flush() end

function Disk:unbuffer() return self.handle:setvbuf("no") end

function Disk:close() return self.handle:close() end

local Memory = {}
Memory.__index = Memory

--- Makes a stream of the first `size` bytes of a CharStorage. Writes make the storage larger, and set the byte after the last one to 0.
function stream.memory(storage, size) return setmetatable({ storage = storage, size = size, at = 0 }, Memory) end

local function bytes(self) return ffi.cast("char *", self.storage.handle.data) end

-- The program may have made the storage smaller.
local function settle(self)
    self.size = min(self.size, tonumber(self.storage.handle.size))
    self.at = min(self.at, self.size)
end

-- Makes room for `count` bytes and a zero. Returns the source of the bytes. The storage moves, and a source inside it is copied.
local function reserve(self, source, count)
    settle(self)
    if type(source) ~= "string" then
        local first, address = bytes(self), ffi.cast("char *", source)
        if address >= first and address < first + self.storage.handle.size then source = ffi.string(source, count) end
    end
    local size, capacity = self.at + count + 1, tonumber(self.storage.handle.size)
    if size > capacity then check(C.THStorage_resize(self.storage.handle, max(size, math.floor(1.5 * capacity))), "write") end
    return source
end

function Memory:read(pointer, count)
    settle(self)
    count = min(count, self.size - self.at)
    if count > 0 then ffi.copy(pointer, bytes(self) + self.at, count) end
    self.at = self.at + count
    return count
end

function Memory:write(source, count)
    if self.at + count >= tonumber(self.storage.handle.size) then source = reserve(self, source, count) end
    local data, last = bytes(self), self.at + count
    libc.thorn_memmove(data + self.at, source, count)
    self.at = last
    if last > self.size then
        self.size = last
        data[last] = 0
    end
    return count
end

function Memory:next()
    local at = self.at
    if at >= self.size or at >= tonumber(self.storage.handle.size) then return -1 end
    self.at = at + 1
    return ffi.cast("uint8_t *", self.storage.handle.data)[at]
end

function Memory:back() self.at = self.at - 1 end

function Memory:line()
    settle(self)
    if self.at == self.size then return nil end
    local first, last = bytes(self), self.at
    while last < self.size and first[last] ~= 10 do last = last + 1 end
    local text = ffi.string(first + self.at, last - self.at)
    self.at = min(last + 1, self.size)
    return text
end

function Memory:rest()
    settle(self)
    if self.at == self.size then return nil end
    local text = ffi.string(bytes(self) + self.at, self.size - self.at)
    self.at = self.size
    return text
end

function Memory:left()
    settle(self)
    return self.size - self.at
end

function Memory:position() return self.at end

function Memory:seek(position)
    settle(self)
    if position > self.size then return false end
    self.at = position
    return true
end

function Memory:seek_end()
    settle(self)
    self.at = self.size
    return true
end

function Memory:flush() return true end

Memory.unbuffer = Memory.flush

function Memory:close()
    self.storage = nil
    return true
end

--- Returns the storage of a memory stream, with the size of the data and a zero at the end.
function Memory:data()
    settle(self)
    if tonumber(self.storage.handle.size) ~= self.size + 1 then methods.resize(self.storage, self.size + 1) end
    bytes(self)[self.size] = 0
    return self.storage
end

return stream
