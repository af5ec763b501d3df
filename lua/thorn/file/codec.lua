-- The representation of elements in files: binary, where they have the bytes of memory, and ASCII, where they are numbers in decimal.
--
-- The functions accept a file with these fields:
--   stream            the bytes, see `thorn.file.stream`
--   is_binary
--   is_auto_spacing   in ASCII, a blank is between elements and a line end after the last one
--   is_swapped        in binary, the bytes of an element are in the order that is not the processor's
--   long_size         the bytes of an element of a LongStorage in binary: 4 or 8
--
-- In ASCII, elements of ByteStorages and CharStorages are written as they are, as one text.

local ffi = require("ffi")
local errors = require("thorn.errors")
local library = require("thorn.library")
local types = require("thorn.types")

local C, own_storage, check = library.C, library.own_storage, library.check
local min, max, floor = math.min, math.max, math.floor

local codec = {}

-- The size of the buffer for converted elements, and the number of bytes that are allocated without a look at the size of the file.
local BUFFER, CHUNK = 2 ^ 16, 2 ^ 20
local buffer = ffi.new("char[?]", BUFFER)
local int32, int64, bytes = ffi.typeof("int32_t *"), ffi.typeof("int64_t *"), ffi.typeof("uint8_t *")

local function width(file, record) return record.short == "Long" and file.long_size or record.size end

local function is_text(record) return record.short == "Byte" or record.short == "Char" end

-- Reverses the bytes of each element.
local function swap(data, size, count)
    data = ffi.cast(bytes, data)
    for first = 0, (count - 1) * size, size do
        for i = 0, size / 2 - 1 do
            local a, b = first + i, first + size - 1 - i
            data[a], data[b] = data[b], data[a]
        end
    end
end

-- Binary

local function widen(data, narrow, count)
    data, narrow = ffi.cast(int64, data), ffi.cast(int32, narrow)
    for i = 0, count - 1 do data[i] = narrow[i] end
end

-- Converts longs to 32 bits. Returns the number of longs before the first one that does not fit.
local function narrow(data, count)
    local longs, ints = ffi.cast(int64, data), ffi.cast(int32, buffer)
    for i = 0, count - 1 do
        ints[i] = longs[i]
        if ints[i] ~= longs[i] then return i end
    end
    return count
end

-- Reads longs of 4 bytes.
local function read_narrow(file, data, count)
    local done, step = 0, BUFFER / 4
    while done < count do
        local wanted = min(count - done, step)
        local got = floor(file.stream:read(buffer, 4 * wanted) / 4)
        if file.is_swapped then swap(buffer, 4, got) end
        widen(data + 8 * done, buffer, got)
        done = done + got
        if got < wanted then break end
    end
    return done
end

local function read_binary(file, record, data, count)
    local size = record.size
    if width(file, record) < size then return read_narrow(file, data, count) end
    local got = floor(file.stream:read(data, size * count) / size)
    if file.is_swapped then swap(data, size, got) end
    return got
end

-- Writes elements that are converted in the buffer.
local function write_converted(file, record, data, count)
    local size = width(file, record)
    local done, step = 0, BUFFER / size
    while done < count do
        local wanted, source = min(count - done, step), data + record.size * done
        local fitting = wanted
        if size < record.size then fitting = narrow(source, wanted) else ffi.copy(buffer, source, size * wanted) end
        if file.is_swapped then swap(buffer, size, fitting) end
        local put = floor(file.stream:write(buffer, size * fitting) / size)
        done = done + put
        if put < wanted then break end
    end
    return done
end

local function write_binary(file, record, data, count)
    local size = record.size
    if file.is_swapped and size > 1 or width(file, record) < size then return write_converted(file, record, data, count) end
    return floor(file.stream:write(data, size * count) / size)
end

-- ASCII

-- A number in a file is the longest text that a scanner accepts. A scanner has states; state 0 is the end. The table has the next state for
-- each state and each class of characters.

local OTHER, BLANK, SIGN, DIGIT, POINT, EXPONENT, LETTER, CLASSES = 0, 1, 2, 3, 4, 5, 6, 7

-- The class of each byte, and of -1, the end of the file, at index 0.
local class_of = ffi.new("uint8_t[257]", OTHER)

local function set_class(class, characters)
    for i = 1, #characters do class_of[characters:byte(i) + 1] = class end
end

set_class(BLANK, " \t\n\v\f\r")
set_class(LETTER, "abcdfghijklmnopqrstuvwxyzABCDFGHIJKLMNOPQRSTUVWXYZ")
set_class(EXPONENT, "eE")
set_class(SIGN, "+-")
set_class(DIGIT, "0123456789")
set_class(POINT, ".")

local function scanner(states)
    local table_of_states = ffi.new("uint8_t[?]", CLASSES * (#states + 1))
    for state, transitions in ipairs(states) do
        for class, next_state in pairs(transitions) do table_of_states[CLASSES * state + class] = next_state end
    end
    return table_of_states
end

local INTEGERS = scanner({
    { [BLANK] = 1, [SIGN] = 2, [DIGIT] = 3 },
    { [DIGIT] = 3 },
    { [DIGIT] = 3 },
})

-- Words are "nan" and "inf".
local FLOATS = scanner({
    { [BLANK] = 1, [SIGN] = 2, [DIGIT] = 3, [POINT] = 4, [LETTER] = 7, [EXPONENT] = 7 },
    { [DIGIT] = 3, [POINT] = 4, [LETTER] = 7, [EXPONENT] = 7 },
    { [DIGIT] = 3, [POINT] = 4, [EXPONENT] = 5 },
    { [DIGIT] = 4, [EXPONENT] = 5 },
    { [SIGN] = 6, [DIGIT] = 6 },
    { [DIGIT] = 6 },
    { [LETTER] = 7, [EXPONENT] = 7 },
})

local NEWLINE, MINUS, ZERO = 10, 45, 48

-- The characters of the number that is read. Longer numbers are errors.
local LIMIT = 1024
local token = ffi.new("uint8_t[?]", LIMIT)

-- Reads the characters of a number, after blanks, into `token`. Returns their number.
local function scan(stream, states)
    local state, length = 1, 0
    while length < LIMIT do
        local byte = stream:next()
        state = states[CLASSES * state + class_of[byte + 1]]
        if state == 0 then
            if byte >= 0 then stream:back(byte) end
            break
        end
        if state > 1 then
            token[length] = byte
            length = length + 1
        end
    end
    return length
end

-- Returns the next number, or nil if there is none.
local function read_number(stream, record)
    local length = scan(stream, record.integral and INTEGERS or FLOATS)
    if record.short ~= "Long" then return tonumber(ffi.string(token, length)) end
    local first = (token[0] == MINUS or token[0] == MINUS - 2) and 1 or 0
    if length <= first then return nil end
    local x = 0LL
    for i = first, length - 1 do x = 10 * x + (token[i] - ZERO) end
    return token[0] == MINUS and -x or x
end

-- Skips the line end after the last element.
local function skip_line_end(file)
    if not file.is_auto_spacing then return end
    local byte = file.stream:next()
    if byte >= 0 and byte ~= NEWLINE then file.stream:back(byte) end
end

local function read_ascii(file, record, handle, first, count)
    local got = 0
    if is_text(record) then
        got = file.stream:read(ffi.cast(bytes, handle.data) + first, count)
    else
        for i = first, first + count - 1 do
            local x = read_number(file.stream, record)
            if x == nil then break end
            record.write(handle, i, x)
            got = got + 1
        end
    end
    return got
end

-- The digits identify all floats of a type.
local function format_of(record)
    if record.integral then return "%d" end
    return record.short == "Double" and "%.17g" or "%.9g"
end

local function get_long(handle, i) return ffi.cast(int64, handle.data)[i] end

-- Puts this many numbers into one string.
local NUMBERS = 1024

local function write_numbers(file, record, handle, count)
    local format, get = format_of(record), record.short == "Long" and get_long or record.read
    local blank = file.is_auto_spacing and " " or ""
    for first = 0, count - 1, NUMBERS do
        local last, words = min(first + NUMBERS, count) - 1, {}
        for i = first, last do words[#words + 1] = format:format(get(handle, i)) end
        local text = table.concat(words, blank) .. (last < count - 1 and blank or "")
        if file.stream:write(text, #text) < #text then return first end
    end
    return count
end

local function write_ascii(file, record, handle, count)
    local put
    if is_text(record) then put = file.stream:write(handle.data, count) else put = write_numbers(file, record, handle, count) end
    if file.is_auto_spacing and put == count then file.stream:write("\n", 1) end
    return put
end

-- Both

local function record_of(handle)
    if handle.deviceType ~= C.TH_CPU then errors.raise("the elements are not in the memory of the host") end
    return types[handle.dtype]
end

local function read_part(file, handle, first, count)
    local record = record_of(handle)
    if not file.is_binary then return read_ascii(file, record, handle, first, count) end
    return read_binary(file, record, ffi.cast("char *", handle.data) + record.size * first, count)
end

local function finish(file, count)
    if not file.is_binary and count > 0 then skip_line_end(file) end
end

--- Reads the first `count` elements of a `THStorage *`. Returns the number of elements that were read.
function codec.read(file, handle, count)
    if count == 0 then return 0 end
    local got = read_part(file, handle, 0, count)
    finish(file, count)
    return got
end

--- Gives a storage `count` elements of the file, or fewer if the file ends. Returns their number. More than a megabyte is allocated only
--- for bytes that the file has. If the size of the file is unknown, the storage grows in steps.
function codec.fill(file, storage, count)
    local handle = storage.handle
    local size, got = file.is_binary and width(file, types[handle.dtype]) or 1, 0
    local capacity = floor(CHUNK / size)
    if count > capacity then capacity = max(capacity, floor(file.stream:left() / size)) end
    repeat
        local wanted = min(capacity, count)
        check(C.THStorage_resize(handle, wanted), "read")
        if wanted > got then got = got + read_part(file, handle, got, wanted - got) end
        capacity = 2 * capacity
    until got < wanted or got == count
    finish(file, count)
    if got < tonumber(handle.size) then check(C.THStorage_resize(handle, got), "read") end
    return got
end

--- Writes the first `count` elements of a `THStorage *`. Returns the number of elements that were written.
function codec.write(file, handle, count)
    if count == 0 then return 0 end
    local record = record_of(handle)
    if file.is_binary then return write_binary(file, record, ffi.cast("char *", handle.data), count) end
    return write_ascii(file, record, handle, count)
end

--- Reads a text of `count` bytes that `codec.write_text` has written. Returns nil if the file ends in the text.
function codec.read_text(file, count)
    if count == 0 then return "" end
    if count <= BUFFER then
        if file.stream:read(buffer, count) < count then return nil end
        finish(file, count)
        return ffi.string(buffer, count)
    end
    local storage = own_storage(C.THStorage_new(C.TH_INT8))
    if codec.fill(file, storage, count) < count then return nil end
    return ffi.string(storage.handle.data, count)
end

--- Skips a text of `count` bytes that `codec.write_text` has written. Returns false if the file ends in the text.
function codec.skip_text(file, count)
    local left = count
    while left > 0 do
        local got = file.stream:read(buffer, min(left, BUFFER))
        if got == 0 then return false end
        left = left - got
    end
    finish(file, count)
    return true
end

--- Writes a text as a CharStorage. Returns true if the whole text was written.
function codec.write_text(file, text)
    if #text == 0 then return true end
    if file.stream:write(text, #text) < #text then return false end
    return file.is_binary or not file.is_auto_spacing or file.stream:write("\n", 1) == 1
end

return codec
