-- A tour of Torch7's tensors, in the order of its documentation: making and printing them, views that share memory, elements by index,
-- shapes, elementwise functions, raw memory. Every step prints its result.
--
--     luajit examples/torch7_tour.lua
--
-- THORN_LIBRARY names the library if it is not in this source tree.

local root = (arg[0]:match("^(.*)[/\\]") or ".") .. "/.."
package.path = root .. "/lua/?.lua;" .. package.path

local torch = require("thorn")

local function chapter(title) print("\n-- " .. title .. "\n") end

-- Prints a line of the tour and its result.
local function show(text, ...)
    print("> " .. text)
    for i = 1, select("#", ...) do print((select(i, ...))) end
end

local function counted(...)
    local i = 0
    return torch.Tensor(...):apply(function()
        i = i + 1
        return i
    end)
end

chapter("A tensor is a matrix of any number of dimensions")

local z = torch.Tensor(4, 5, 6, 2)
show("torch.Tensor(4, 5, 6, 2):nDimension()", z:nDimension())
show("torch.Tensor(torch.LongStorage({4, 5, 6, 2, 7, 3})):size()", torch.Tensor(torch.LongStorage({ 4, 5, 6, 2, 7, 3 })):size())

chapter("It views a storage: an offset, sizes and strides")

local x = torch.Tensor(4, 5)
local s = x:storage()
for i = 1, s:size() do s[i] = i end
show("x -- after s[i] = i in its storage", x)
show("x:stride()", x:stride())
show("x[3][4], x:storage()[x:storageOffset() + 2 * x:stride(1) + 3 * x:stride(2)]", x[3][4],
    s[x:storageOffset() + 2 * x:stride(1) + 3 * x:stride(2)])

chapter("Types")

show("torch.Tensor(3):fill(3.14):int()", torch.Tensor(3):fill(3.14):int())
show("torch.Tensor():type()", torch.Tensor():type())
show("torch.isTensor(torch.randn(3, 4)[1][2])", torch.isTensor(torch.randn(3, 4)[1][2]))

chapter("Constructors share memory where they can")

local y = torch.Tensor(x):narrow(1, 1, 2)
y:zero()
show("x -- after torch.Tensor(x):narrow(1, 1, 2):zero()", x)
local row = torch.Tensor(torch.LongStorage({ 4 }), torch.LongStorage({ 0 })):zero()
row[1] = 1
show("row -- a stride of 0: all elements are one", row)
show("torch.Tensor({{1, 2, 3, 4}, {5, 6, 7, 8}})", torch.Tensor({ { 1, 2, 3, 4 }, { 5, 6, 7, 8 } }))

chapter("Parts of a tensor: narrow, sub, select, []")

x = torch.Tensor(5, 6):zero()
x:narrow(1, 2, 3):fill(1)
x:sub(2, 4, 3, 4):fill(2)
x:select(2, 6):fill(5)
show("x -- after narrow(1, 2, 3):fill(1), sub(2, 4, 3, 4):fill(2), select(2, 6):fill(5)", x)
x[{ 1, 3 }] = 7
x[{ 2, { 2, 4 } }] = 8
x[{ {}, 1 }] = torch.range(1, 5)
x[torch.eq(x, 5)] = -1
show("x -- after x[{1, 3}] = 7, x[{2, {2, 4}}] = 8, x[{{}, 1}] = torch.range(1, 5), x[torch.eq(x, 5)] = -1", x)

chapter("Elements by index tensors and masks")

x = counted(3, 4)
show("x:index(2, torch.LongTensor({4, 1}))", x:index(2, torch.LongTensor({ 4, 1 })))
show("x:gather(1, torch.LongTensor({{1, 2, 3, 1}}))", x:gather(1, torch.LongTensor({ { 1, 2, 3, 1 } })))
show("torch.range(1, 5):indexAdd(1, torch.LongTensor({1, 1, 3, 3}), torch.range(1, 4))",
    torch.range(1, 5):indexAdd(1, torch.LongTensor({ 1, 1, 3, 3 }), torch.range(1, 4)))
show("x:maskedSelect(torch.gt(x, 9))", x:maskedSelect(torch.gt(x, 9)))
show("torch.gt(x, 9):nonzero()", torch.gt(x, 9):nonzero())

chapter("Shapes: expand, repeatTensor, squeeze, view, transpose, unfold")

local column = torch.Tensor({ { 1 }, { 2 } })
show("column:expand(2, 3)", column:expand(2, 3))
show("torch.range(1, 2):repeatTensor(2, 2)", torch.range(1, 2):repeatTensor(2, 2))
show("torch.Tensor(2, 1, 2, 1):squeeze():size()", torch.Tensor(2, 1, 2, 1):squeeze():size())
show("torch.range(1, 6):view(2, -1):t()", torch.range(1, 6):view(2, -1):t())
show("torch.range(1, 7):unfold(1, 2, 2)", torch.range(1, 7):unfold(1, 2, 2))

chapter("A function for each element")

local sum = 0
z = counted(3, 3):apply(math.sin)
z:apply(function(element) sum = sum + element end)
show("z -- after z:apply(math.sin)", z)
show("sum of an apply, z:sum()", ("%.10f"):format(sum), ("%.10f"):format(z:sum()))
show("counted(3, 3):map(torch.range(1, 9), function(a, b) return a * b end)",
    counted(3, 3):map(torch.range(1, 9), function(a, b) return a * b end))

chapter("Tables of tensors")

for i, part in ipairs(counted(3, 4, 5):chunk(2, 2)) do show(("part %d of x:chunk(2, 2)"):format(i), part:size()) end

chapter("Mathematics: results first, or in place, or new")

local a, b = torch.Tensor({ { 4, 1 }, { 1, 3 } }), torch.Tensor({ 1, 2 })
local r = torch.Tensor()
r:add(a, 10, a)
show("r:add(a, 10, a)", r)
show("a * b, torch.dot(b, b)", a * b, torch.dot(b, b))
show("torch.gesv(b, a), a:inverse() * b", (torch.gesv(b, a)), a:inverse() * b)
show("torch.symeig(a)", (torch.symeig(a)))
torch.manualSeed(123)
show("torch.rand(3) -- after torch.manualSeed(123)", torch.rand(3))

chapter("Memory as an array of C")

local t = torch.Tensor(3, 2)
local data = torch.data(t)
for i = 0, t:nElement() - 1 do data[i] = i * i end
show("t -- after data[i] = i * i", t)

chapter("Files of Torch7")

local path = os.tmpname()
torch.save(path, { weights = a, name = "a" })
local loaded = torch.load(path)
os.remove(path)
show("torch.load(path).weights", loaded.weights)
