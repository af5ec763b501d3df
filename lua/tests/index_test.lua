-- The operator [], and elements by index tensors and masks.

local harness = require("harness")
local torch = require("thorn")

local test, equal, fails = harness.test, harness.equal, harness.fails

-- {{1, 2, 3}, {4, 5, 6}}
local function matrix() return torch.range(1, 6):resize(2, 3) end

test("reading by numbers, tables and LongStorages", function()
    local t = matrix()
    equal(t[2], { 4, 5, 6 })
    equal(t[-1], { 4, 5, 6 })
    equal(t[2][-1], 6)
    equal(t[{ 1, 3 }], 3)
    equal(t[{ 1 }], { 1, 2, 3 })
    equal(t[{ {}, 2 }], { 2, 5 })
    equal(t[{ {}, { 2, 3 } }], { { 2, 3 }, { 5, 6 } })
    equal(t[{ { 2 }, { -2, -1 } }], { { 5, 6 } })
    equal(t[{ { 1, -1 }, 1 }], { 1, 4 })
    equal(t[torch.LongStorage({ 2, 1 })], 4)
    equal(t:t()[3][2], 6)
    equal(t:t()[{ 3, {} }], { 3, 6 })
    equal(t[{}], { { 1, 2, 3 }, { 4, 5, 6 } })
end)

test("indices lose their fraction", function()
    local column = torch.range(1, 12):resize(4, 3):t()[1]
    equal(column, { 1, 4, 7, 10 })
    equal(column[1.5], 1)
    equal(column[-1.5], 10)
    equal(column[{ 2.9 }], 4)
    equal(column[{ { 1.5, 2.9 } }], { 1, 4 })
    column[3.5] = 0
    equal(column, { 1, 4, 0, 10 })
    fails("index 0 is out of range", function() return column[0.5] end)
end)

test("indices that are out of range", function()
    local t = matrix()
    local function read(key) return function() return t[key] and nil end end
    fails("index 3 is out of range of dimension 1, which has size 2", read(3))
    fails("index 0 is out of range", read(0))
    fails("index -3 is out of range", read(-3))
    fails("index 4 is out of range of dimension 2, which has size 3", read({ 1, 4 }))
    fails("index nan is out of range", read(0 / 0))
    fails("3 indices for a tensor of 2 dimensions", read({ 1, 1, 1 }))
    fails("1 indices for a tensor of 2 dimensions", read(torch.LongStorage({ 1 })))
    fails("the range {2, 1} is empty", read({ { 2, 1 } }))
    fails("a range of indices is", read({ { 1, 2, 3 } }))
    fails("not a string", read({ "a" }))
    fails("not a boolean", read(true))
    fails("a mask of size 2x2 for a tensor of size 2x3", read(torch.ByteTensor(2, 2):fill(1)))
    fails("not a torch.DoubleTensor", read(torch.Tensor(2, 3)))
    fails("torch.LongStorage expected", read(torch.IntStorage({ 1, 1 })))
end)

test("writing", function()
    local t = matrix()
    t[1] = 0
    equal(t, { { 0, 0, 0 }, { 4, 5, 6 } })
    t[2] = torch.Tensor({ 7, 8, 9 })
    t[1][2] = -1
    t[{ 1, 3 }] = 2
    t[torch.LongStorage({ 1, 1 })] = 5
    equal(t, { { 5, -1, 2 }, { 7, 8, 9 } })
    t[{ {}, { 2, 3 } }] = torch.Tensor({ 1, 2, 3, 4 })
    equal(t, { { 5, 1, 2 }, { 7, 3, 4 } })
    t[torch.gt(t, 3)] = 0
    equal(t, { { 0, 1, 2 }, { 0, 3, 0 } })
    t[torch.eq(t, 0)] = torch.Tensor({ 10, 20, 30 })
    equal(t, { { 10, 1, 2 }, { 20, 3, 30 } })
    t[1][1] = torch.Tensor({ 4 })
    equal(t[1][1], 4)
    fails("a number or a tensor expected, got string", function() t[1] = "x" end)
    fails("a number expected, got string", function() t[1][1] = "x" end)
    fails("inconsistent tensor sizes", function() t[1] = torch.Tensor(2) end)
    local bytes = torch.ByteTensor({ 1, 2 })
    bytes[1] = 3.9
    equal(bytes, { 3, 2 })
end)

test("a storage that is made smaller does not end the process", function()
    local t = matrix()
    t:storage():resize(2)
    fails("its storage is smaller now", function() return t[2][2] end)
    fails("its storage is smaller now", function() t[2][2] = 1 end)
    fails("its storage is smaller now", function() t:apply(function() return 0 end) end)
end)

test("index, indexCopy, indexAdd, indexFill", function()
    local t, index = matrix(), torch.LongTensor({ 3, 1 })
    equal(t:index(2, index), { { 3, 1 }, { 6, 4 } })
    equal(torch.index(t, 2, index), { { 3, 1 }, { 6, 4 } })
    local r = torch.Tensor()
    equal(r:index(t, 1, torch.LongTensor({ 2 })) == r, true)
    equal(r, { { 4, 5, 6 } })
    equal(matrix():indexCopy(2, index, torch.Tensor({ { 7, 8 }, { 9, 10 } })), { { 8, 2, 7 }, { 10, 5, 9 } })
    equal(matrix():indexAdd(2, index, torch.Tensor({ { 7, 8 }, { 9, 10 } })), { { 9, 2, 10 }, { 14, 5, 15 } })
    equal(matrix():indexFill(1, torch.LongTensor({ 2 }), 0), { { 1, 2, 3 }, { 0, 0, 0 } })
    fails("an index is less than 1", function() t:index(1, torch.LongTensor({ 0 })) end)
    fails("index", function() t:index(1, torch.LongTensor({ 3 })) end)
    fails("bad argument #2 to 'index' (torch.LongTensor expected, got torch.DoubleTensor)", function()
        t:index(1, torch.Tensor({ 1 }))
        return nil
    end)
    fails("dimension 3 out of range", function() t:index(3, index) end)
end)

test("gather, scatter, scatterAdd", function()
    local t = matrix()
    local index = torch.LongTensor({ { 1, 3 }, { 2, 2 } })
    equal(t:gather(2, index), { { 1, 3 }, { 5, 5 } })
    local r = torch.Tensor()
    equal(r:gather(t, 2, index), { { 1, 3 }, { 5, 5 } })
    equal(torch.zeros(2, 3):scatter(2, torch.LongTensor({ { 1, 3 }, { 2, 1 } }), torch.Tensor({ { 7, 8 }, { 9, 10 } })),
        { { 7, 0, 8 }, { 10, 9, 0 } })
    equal(torch.zeros(2, 3):scatter(2, torch.LongTensor({ { 1 }, { 2 } }), 4), { { 4, 0, 0 }, { 0, 4, 0 } })
    equal(torch.ones(2, 3):scatterAdd(2, torch.LongTensor({ { 1, 1 }, { 2, 2 } }), torch.ones(2, 2)),
        { { 3, 1, 1 }, { 1, 3, 1 } })
    fails("gather", function() t:gather(2, torch.LongTensor({ { 4 }, { 1 } })) end)
    fails("an index is less than 1", function() t:scatter(2, torch.LongTensor({ { 0 }, { 1 } }), 1) end)
end)

test("maskedSelect, maskedCopy, maskedFill, nonzero", function()
    local t, mask = matrix(), torch.ByteTensor({ { 1, 0, 1 }, { 0, 0, 1 } })
    equal(t:maskedSelect(mask), { 1, 3, 6 })
    equal(torch.maskedSelect(torch.Tensor(), t, mask:view(6)), { 1, 3, 6 })
    equal(matrix():maskedCopy(mask, torch.Tensor({ 7, 8, 9, 10 })), { { 7, 2, 8 }, { 4, 5, 9 } })
    equal(matrix():maskedFill(mask, 0), { { 0, 2, 0 }, { 4, 5, 0 } })
    equal(matrix():maskedFill(mask:view(3, 2), 0), { { 0, 2, 0 }, { 4, 5, 0 } })
    equal(mask:nonzero(), { { 1, 1 }, { 1, 3 }, { 2, 3 } })
    equal(torch.nonzero(torch.zeros(3)):dim(), 0)
    equal(t:maskedSelect(torch.ByteTensor(2, 3):zero()):dim(), 0)
    fails("torch.ByteTensor expected, got torch.DoubleTensor", function() t:maskedFill(t, 0) end)
    fails("maskedCopy", function() matrix():maskedCopy(mask, torch.Tensor({ 7 })) end)
end)

test("assignments to positions that share elements", function()
    local t = torch.zeros(1, 3):expand(2, 3)
    t[{ {}, { 1, 2 } }] = torch.Tensor({ { 1, 2 }, { 3, 4 } })
    equal(t, { { 3, 4, 0 }, { 3, 4, 0 } })
    t[torch.ByteTensor({ { 1, 0, 1 }, { 0, 1, 1 } })] = torch.Tensor({ 5, 6, 7, 8 })
    equal(t, { { 5, 7, 8 }, { 5, 7, 8 } })
    t[torch.eq(t, 8)] = 1
    equal(t, { { 5, 7, 1 }, { 5, 7, 1 } })
    local few = torch.Tensor({ 1, 2 })
    fails("maskedCopy: 2 elements for a mask with 4 places", function()
        t[torch.ByteTensor({ { 1, 0, 1 }, { 0, 1, 1 } })] = few
    end)
    equal(t, { { 5, 7, 1 }, { 5, 7, 1 } })
end)
