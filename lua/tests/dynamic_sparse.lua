-- Sparse tensors: `thorn.STensor`, its methods, operators and text.

local harness = require("harness")
local thorn = require("thorn.dynamic")
local library = require("thorn.library")

local check, equal, fails = harness.check, harness.equal, harness.fails

local tests = {}

-- [[0 0 3] [4 0 5]], by coordinates.
local function matrix()
    return thorn.STensor({ { 1, 2, 2 }, { 3, 1, 3 } }, thorn.tensor({ 3, 4, 5 }, "float64"), { 2, 3 })
end

local function doubles(list) return thorn.tensor(list, "float64") end

local MATRIX = { { 0, 0, 3 }, { 4, 0, 5 } }

function tests.coordinates_and_values_make_one()
    local s = matrix()
    check(s:nDimension() == 2 and s:size(1) == 2 and s:size(2) == 3 and s:size(-1) == 3 and s:nnz() == 3)
    check(s:sparseDim() == 2 and s:denseDim() == 0 and s:dtype() == thorn.float64)
    check(s:isCoalesced() == false and s:is_compressed() == false)
    equal(s:toDense(), MATRIX)
    equal(s:indices(), { { 1, 2, 2 }, { 3, 1, 3 } })
    equal(s:values(), { 3, 4, 5 })
    equal(thorn.STensor({ { 2, 1 } }, doubles({ { 1, 2 }, { 3, 4 } })):to_dense(), { { 3, 4 }, { 1, 2 } })
    local empty = thorn.STensor.newWithSize("float64", { 2, 2, 3 }, 2)
    check(empty:nnz() == 0 and empty:denseDim() == 1 and thorn.STensor.withSize({ 2 }, 1):dtype() == thorn.float32)
    equal(thorn.STensor(doubles(MATRIX)):nnz(), 3)
end

function tests.positions_count_from_one()
    local positions = thorn.tensor({ { 1, 2, 2 }, { 3, 1, 3 } }, "int64")
    local s = thorn.STensor(positions, doubles({ 3, 4, 5 }))
    equal(s:toDense(), MATRIX)
    equal(positions, { { 1, 2, 2 }, { 3, 1, 3 } })
    -- The method returns a copy, so the tensor's own positions are unchanged.
    s:indices()
    s:indices():zero()
    equal(s:indices(), { { 1, 2, 2 }, { 3, 1, 3 } })
    fails("position 0", thorn.STensor, { { 0, 1 } }, doubles({ 1, 2 }))
    fails("is negative", thorn.STensor, { { -1, 1 } }, doubles({ 1, 2 }))
    fails("index 4 is out of range for size 3 of dimension 2", thorn.STensor, { { 1 }, { 4 } }, doubles({ 1 }), { 2, 3 })
    fails("differ in length", thorn.STensor, { { 1 }, { 4, 5 } }, doubles({ 1 }))
    fails("has no whole number", thorn.STensor, { { 1.5 } }, doubles({ 1 }))
    equal(s:select(1, 2):toDense(), { 4, 0, 5 })
    equal(s:select(2, -1):toDense(), { 3, 5 })
    equal(s:narrow(2, 2, 2):toDense(), { { 0, 3 }, { 0, 5 } })
    equal(s:transpose(1, 2):toDense(), { { 0, 4 }, { 0, 0 }, { 3, 5 } })
    equal(s:sum(1):toDense(), { 4, 0, 8 })
end

function tests.rows_are_compressed()
    local s = thorn.STensor.newCsr({ 1, 2, 4 }, { 3, 1, 3 }, doubles({ 3, 4, 5 }), 2, 3)
    check(s:isCompressed())
    equal(s:toDense(), MATRIX)
    equal(s:crow(), { 1, 2, 4 })
    equal(s:col(), { 3, 1, 3 })
    equal(s:indices(), { { 1, 2, 2 }, { 3, 1, 3 } })
    local other = matrix():compressed()
    equal(other:crow(), { 1, 2, 4 })
    equal(thorn.csrMatmul(other:crow(), other:col(), other:values(), doubles({ 1, 2, 3 })), { 9, 19 })
    check(not other:coordinates():isCompressed())
    fails("STensor.crow: ", matrix().crow, matrix())
    fails("column 4 is out of range for 3 columns", thorn.STensor.csr, { 1, 2 }, { 4 }, doubles({ 1 }), 1, 3)
end

function tests.results_are_new_or_given()
    local s, r = matrix(), thorn.STensor()
    local twice = s:mul(2)
    equal(twice:toDense(), { { 0, 0, 6 }, { 8, 0, 10 } })
    check(rawequal(s:mul(3, { out = r }), r) and r:sumall() == 36)
    check(rawequal(thorn.STensor.mul(s, 2, { out = s }), s) and s:sumall() == 24)
    check(rawequal(s:div_(2), s) and s:sumall() == 12)
    check(rawequal(s:neg_():abs_(), s) and s:sumall() == 12)
    local dense = thorn.zeros(1)
    check(rawequal(s:spmv(doubles({ 1, 2, 3 }), { out = dense }), dense))
    equal(dense, { 9, 19 })
    check(rawequal(r:copy_(s), r) or rawequal(thorn.STensor.copy(s, { out = r }), r))
    equal(r:toDense(), MATRIX)
    check(rawequal(r:resize({ 4, 3 }, 2), r) and r:size(1) == 4 and r:nnz() == 3)
    check(rawequal(r:zero(), r) and r:nnz() == 0)
    fails("STensor.mul: it takes", s.mul, s, "x")
    fails("(sparse tensor, boolean)", s.mul, s, true)
    fails("STensor.spmm: ", s.spmm, s, doubles({ { 1, 2 } }))
    check(not pcall(s.mul, s, 2, { out = dense }) and not pcall(s.spmv, s, doubles({ 1, 2, 3 }), { out = s }))
    check(not pcall(thorn.add, s, 1) and not pcall(thorn.STensor.nnz, dense) and not pcall(thorn.STensor.nnz, nil))
end

function tests.forms_have_the_name_of_the_operation()
    local s, t = matrix(), doubles({ { 1, 2, 3 }, { 4, 5, 6 } })
    equal(s:add(s):toDense(), { { 0, 0, 6 }, { 8, 0, 10 } })
    equal(s:add(10, s):toDense(), { { 0, 0, 33 }, { 44, 0, 55 } })
    equal(s:sub(s, { value = 2 }):toDense(), { { 0, 0, -3 }, { -4, 0, -5 } })
    equal(s:mul(s):toDense(), { { 0, 0, 9 }, { 16, 0, 25 } })
    equal(s:mul(t):toDense(), { { 0, 0, 9 }, { 16, 0, 30 } })
    equal(s:div(t):toDense(), { { 0, 0, 1 }, { 1, 0, 5 / 6 } })
    equal(s:cmulDense(t):toDense(), { { 0, 0, 9 }, { 16, 0, 30 } })
    equal(thorn.THSTensor_cmul(s, s):toDense(), { { 0, 0, 9 }, { 16, 0, 25 } })
    equal(thorn.STensor.cat({ s, s }, 1):size(1), 4)
    equal(thorn.STensor.cat({ s, s }, { dim = 2 }):size(2), 6)
    equal(t:toSparse():nnz(), 6)
    equal(t:to_sparse(1):nnz(), 2)
    equal(t:sparseMask(s):toDense(), { { 0, 0, 3 }, { 4, 0, 6 } })
    check(s.no_such_method == nil and thorn.STensor.retain == nil and thorn.STensor.free == nil)
end

function tests.operators_are_elementwise()
    local s, t, m = matrix(), doubles({ { 1, 2, 3 }, { 4, 5, 6 } }), doubles({ { 1, 2 }, { 3, 4 }, { 5, 6 } })
    equal((s + s):toDense(), { { 0, 0, 6 }, { 8, 0, 10 } })
    equal((s - s * 2):toDense(), { { 0, 0, -3 }, { -4, 0, -5 } })
    equal((2 * -s):toDense(), { { 0, 0, -6 }, { -8, 0, -10 } })
    equal((s / 2):toDense(), { { 0, 0, 1.5 }, { 2, 0, 2.5 } })
    equal((s / t):toDense(), { { 0, 0, 1 }, { 1, 0, 5 / 6 } })
    equal(s + t, { { 1, 2, 6 }, { 8, 5, 11 } })
    equal(t + s, { { 1, 2, 6 }, { 8, 5, 11 } })
    equal(t - s, { { 1, 2, 0 }, { 0, 5, 1 } })
    equal(s - t, { { -1, -2, 0 }, { 0, -5, -1 } })
    equal((s * s):toDense(), { { 0, 0, 9 }, { 16, 0, 25 } })
    equal((s * t):toDense(), { { 0, 0, 9 }, { 16, 0, 30 } })
    equal((t * s):toDense(), { { 0, 0, 9 }, { 16, 0, 30 } })
    for _, pair in ipairs({ { s, "x" }, { s, 1 }, { 1, s }, { s, thorn.Generator() } }) do
        check(not pcall(function() return pair[1] + pair[2] end) and not pcall(function() return pair[1] - pair[2] end))
    end
    check(not pcall(function() return 1 / s end) and not pcall(function() return t / s end) and not pcall(function() return s * m end))
    check(not pcall(function() return s ^ 2 end) and not pcall(function() return t % s end))
    -- Operators of dense tensors are unchanged.
    equal(t + t, { { 2, 4, 6 }, { 8, 10, 12 } })
    check(not pcall(function() return t + "x" end))
end

function tests.products_of_matrices_have_pytorchs_names()
    local s, m = matrix(), doubles({ { 1, 2 }, { 3, 4 }, { 5, 6 } })
    for _, product in ipairs({ s:matmul(m), s:mm(m), thorn.matmul(s, m), thorn.mm(s, m) }) do equal(product, { { 15, 18 }, { 29, 38 } }) end
    for _, product in ipairs({ s:matmul(s:t()), s:mm(s:t()), thorn.matmul(s, s:t()) }) do
        equal(product:toDense(), { { 9, 15 }, { 15, 41 } })
    end
    for _, product in ipairs({ s:mv(doubles({ 1, 2, 3 })), s:matmul(doubles({ 1, 2, 3 })) }) do equal(product, { 9, 19 }) end
    check(s:dim() == 2 and not pcall(thorn.matmul, m, s))
end

function tests.matrices_are_transposed()
    local s = matrix()
    equal(s:t():toDense(), { { 0, 4 }, { 0, 0 }, { 3, 5 } })
    equal(s:compressed():t():toDense(), { { 0, 4 }, { 0, 0 }, { 3, 5 } })
    equal(s:t():t():toDense(), MATRIX)
    local v = thorn.STensor({ { 2 } }, doubles({ 7 }), { 3 })
    equal(v:t():toDense(), { 0, 7, 0 })
    fails("STensor.t: a tensor of 3 dimensions is no matrix", function() thorn.STensor(thorn.ones(2, 3, 4)):t() end)
    fails("STensor.t: a sparse tensor is expected", thorn.STensor.t, doubles({ 1 }))
    local values = doubles({ 3, 4, 5 }):setRequiresGrad(true)
    thorn.sum(thorn.STensor({ { 1, 2, 2 }, { 3, 1, 3 } }, values, { 2, 3 }):t():matmul(doubles({ { 1 }, { 10 } }))):backward()
    equal(values:grad(), { 1, 10, 10 })
end

function tests.gradients_are_those_of_the_values()
    local values, m = doubles({ 3, 4, 5 }), doubles({ { 1, 2 }, { 3, 4 }, { 5, 6 } })
    values:setRequiresGrad(true)
    m:setRequiresGrad(true)
    local s = thorn.STensor({ { 1, 2, 2 }, { 3, 1, 3 } }, values, { 2, 3 })
    thorn.sum(s:mul(2):spmm(m)):backward()
    equal(values:grad(), { 22, 6, 22 })
    equal(m:grad(), { { 8, 8 }, { 0, 0 }, { 16, 16 } })
end

function tests.systems_are_solved()
    local s, b = doubles({ { 4, 1, 0 }, { 1, 3, 1 }, { 0, 1, 2 } }):toSparse(), doubles({ 6, 10, 8 })
    harness.near(s:solve(b), { 1, 2, 3 })
    local x, residual, steps = s:cg(b, { tol = 1e-12 })
    harness.near(x, { 1, 2, 3 })
    check(residual:item() <= 1e-12 and steps >= 1 and steps <= 4)
    local told = {}
    local y = s:cg(b, { tol = 1e-12, progress = function(iteration, rest) told[iteration] = rest end })
    harness.near(y, { 1, 2, 3 })
    check(#told == steps and told[steps] <= 1e-12)
    fails("enough", s.cg, s, b, { tol = 1e-12, progress = function() error("enough") end })
    fails("STensor.cg: ", s.cg, s, b, { tol = 1e-12, max_iter = 1, residual = false })
    local _, rest = s:cg(b, { tol = 1e-12, max_iter = 1 })
    check(rest:item() > 1e-12)
    equal(s:mm(s):toDense(), { { 17, 7, 1 }, { 7, 11, 5 }, { 1, 5, 5 } })
    harness.near(thorn.ones({ 2, 2 }, { dtype = "float64" }):toSparse():softmax():toDense(), { { 0.5, 0.5 }, { 0.5, 0.5 } })
end

function tests.files_hold_them()
    local path, s = os.tmpname(), matrix():coalesce()
    local named = path .. ".mtx"
    s:save(named)
    equal(thorn.STensor.load(named):toDense(), MATRIX)
    os.remove(named)
    os.remove(path)
end

function tests.texts_have_the_parts()
    local text = tostring(matrix())
    check(text:find("indices:\n 1  2  2\n 3  1  3\n", 1, true) and text:find("values:\n 3\n 4\n 5\n", 1, true), text)
    check(text:find("[torch.DoubleTensor of size 3]\n[thorn.STensor of size 2x3]", 1, true), text)
    text = tostring(matrix():compressed())
    check(text:find("crow:\n 1\n 2\n 4\n", 1, true) and text:find("col:\n 3\n 1\n 3\n", 1, true), text)
    check(tostring(thorn.STensor()) == "[thorn.STensor without elements]")
    check(matrix():toString():find("layout=torch.sparse_coo", 1, true))
end

function tests.the_collector_gives_up_handles()
    collectgarbage()
    collectgarbage()
    local live = tonumber(library.C.THMemory_liveBytes())
    for _ = 1, 50 do
        local s = thorn.ones({ 100, 100 }):toSparse()
        s = s + s * 2
        check(s:nnz() == 10000)
    end
    local kept = matrix()
    local values = kept:values()
    kept = nil
    collectgarbage()
    collectgarbage()
    equal(values, { 3, 4, 5 })
    check(tonumber(library.C.THMemory_liveBytes()) - live < 100000)
end

harness.run(tests)
