-- Recognises handwritten digits in LuaJIT, through the FFI without the package: each test digit gets the class with the nearest mean
-- picture.
--
--     luajit examples/digits.lua [digits.csv]
--
-- THORN_LIB names the library if it is not in this source tree.

local ffi = require("ffi")

local PIXELS, CLASSES, REQUIRED_ACCURACY = 64, 10, 0.88
local root = (arg[0]:match("^(.*)[/\\]") or ".") .. "/.."

local function read_all(path)
    local file = assert(io.open(path, "rb"))
    local text = file:read("*a")
    file:close()
    return text
end

local function load_library()
    local named = os.getenv("THORN_LIB")
    if named then return ffi.load(named) end
    local name = ({ OSX = "libthorn.dylib", Windows = "thorn.dll" })[ffi.os] or "libthorn.so"
    for _, folder in ipairs({ "/target/release/", "/build/lib/", "/target/debug/" }) do
        local file = io.open(root .. folder .. name, "rb")
        if file then
            file:close()
            return ffi.load(root .. folder .. name)
        end
    end
    return ffi.load("thorn")
end

-- The library has its own declarations, including constants.
ffi.cdef("const char *THCdef(void);")
local TH = load_library()
ffi.cdef(ffi.string(TH.THCdef()))

-- For functions that return a status: raises an error on failure.
local function try(status)
    if status ~= TH.TH_OK then error(ffi.string(TH.THGetLastError()), 2) end
end

-- For functions that return a new reference: the collector frees the tensor.
local function own(tensor)
    if tensor == nil then error(ffi.string(TH.THGetLastError()), 2) end
    return ffi.gc(tensor, TH.THTensor_free)
end

local function fresh() return own(TH.THTensor_new()) end

local pointer_to = {
    [TH.TH_FLOAT32] = ffi.typeof("float *"),
    [TH.TH_INT64] = ffi.typeof("int64_t *"),
}

-- The elements of a tensor, read from the struct. The first one is element `storageOffset` of the storage, and entry i of dimension d is i
-- * stride[d] elements later. Valid as long as the tensor exists.
local function elements(t) return ffi.cast(pointer_to[t.dtype], t.storage.data) + t.storageOffset end

-- A float tensor [n x 65]: 64 pixels and the label of each line.
local function read_digits(path)
    local values, count = {}, 0
    for line in io.lines(path) do
        count = count + 1
        for value in line:gmatch("[^,\r]+") do values[#values + 1] = tonumber(value) end
        if #values ~= count * (PIXELS + 1) then error(path .. ", line " .. count .. ": not 64 pixels and a label") end
    end
    local rows = own(TH.THTensor_newWithSize2d(TH.TH_FLOAT32, count, PIXELS + 1))
    local data, size, stride = elements(rows), rows.size, rows.stride
    for i = 0, tonumber(size[0]) - 1 do
        for j = 0, PIXELS do data[i * stride[0] + j * stride[1]] = values[i * (PIXELS + 1) + j + 1] end
    end
    return rows
end

-- [n x 10]: 1 in the column of the label, else 0.
local function one_hot(labels)
    local digits = ffi.new("float[?]", CLASSES, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
    local classes = own(TH.THTensor_newFromData(TH.TH_FLOAT32, 1, ffi.new("int64_t[1]", CLASSES), digits))
    local column = own(TH.THTensor_newUnsqueeze1d(labels, 1))
    local r = own(TH.THTensor_newWithSize2d(TH.TH_FLOAT32, labels.size[0], CLASSES))
    try(TH.THTensor_eqTensor(r, column, classes))
    return r
end

-- Every third row from `first`: a view whose stride in dimension 0 is three times as large.
local function every_third(t, first) return own(TH.THTensor_newSlice(t, 0, first, t.size[0], 3)) end

-- [10 x 64]: the mean picture of each class, from two thirds of the rows. one_hot^T @ pixels is the sum of the pictures.
local function class_means(pixels, hot)
    local sums = own(TH.THTensor_newZeros(TH.TH_FLOAT32, 2, ffi.new("int64_t[2]", CLASSES, PIXELS)))
    local counts = own(TH.THTensor_newZeros(TH.TH_FLOAT32, 1, ffi.new("int64_t[1]", CLASSES)))
    local count = fresh()
    for first = 0, 1 do
        local x, y = every_third(pixels, first), every_third(hot, first)
        try(TH.THTensor_addmm(sums, 1, sums, 1, own(TH.THTensor_newT(y)), x))
        try(TH.THTensor_sum(count, y, 0, 0))
        try(TH.THTensor_cadd(counts, counts, 1, count))
    end
    try(TH.THTensor_cdiv(sums, sums, own(TH.THTensor_newUnsqueeze1d(counts, 1))))
    return sums
end

-- [n]: the class with the smallest |x - m|^2, which is the class with the largest x.m - |m|^2 / 2.
local function nearest(x, means)
    local norms, scores, class = fresh(), fresh(), fresh()
    try(TH.THTensor_cmul(norms, means, means))
    try(TH.THTensor_sum(norms, norms, 1, 0))
    try(TH.THTensor_addmm(scores, -0.5, norms, 1, x, own(TH.THTensor_newT(means))))
    try(TH.THTensor_max(nil, class, scores, 1, 0))
    return class
end

-- Prints how many of each digit were recognised. Returns the overall share.
local function report(guesses, labels)
    local right, of = {}, {}
    for digit = 0, CLASSES - 1 do right[digit], of[digit] = 0, 0 end
    local guess, label = elements(guesses), elements(labels)
    for i = 0, tonumber(labels.size[0]) - 1 do
        local is = label[i * labels.stride[0]]
        of[is] = of[is] + 1
        if guess[i * guesses.stride[0]] == is then right[is] = right[is] + 1 end
    end
    local all_right, all = 0, 0
    print("digit  right   of  accuracy")
    for digit = 0, CLASSES - 1 do
        print(("%5d  %5d  %3d  %6.1f %%"):format(digit, right[digit], of[digit], 100 * right[digit] / of[digit]))
        all_right, all = all_right + right[digit], all + of[digit]
    end
    print(("  all  %5d  %3d  %6.1f %%"):format(all_right, all, 100 * all_right / all))
    return all_right / all
end

local rows = read_digits(arg[1] or root .. "/examples/data/digits.csv")
local pixels = own(TH.THTensor_newNarrow(rows, 1, 0, PIXELS))
local labels = own(TH.THTensor_newSelect(rows, 1, PIXELS))
local means = class_means(pixels, one_hot(labels))
local accuracy = report(nearest(every_third(pixels, 2), means), every_third(labels, 2))
-- `true` closes the Lua state, so the collector frees all handles.
os.exit(accuracy >= REQUIRED_ACCURACY and 0 or 1, true)
