-- What programs of Torch7 do with one tensor after another: results that are reused, have gaps, or are operands too, and loops that read
-- and write elements through views. The values are known from mathematics.

local harness = require("harness")
local torch = require("thorn")

local equal, near, check, fails = harness.equal, harness.near, harness.check, harness.fails
local tests = {}

-- A symmetric matrix. Its eigenvalues are 2 - sqrt(2), 2 and 2 + sqrt(2), and its determinant is 4.
local function tridiagonal() return torch.Tensor({ { 2, -1, 0 }, { -1, 2, -1 }, { 0, -1, 2 } }) end

local INVERSE = { { 0.75, 0.5, 0.25 }, { 0.5, 1, 0.5 }, { 0.25, 0.5, 0.75 } }
local EIGENVALUES = { 2 - math.sqrt(2), 2, 2 + math.sqrt(2) }

-- Returns a view of sizes (..., n) with gaps between its elements. The gaps hold 7.
local function with_gaps(...)
    local sizes = { ... }
    sizes[#sizes + 1] = 2
    local t = torch.Tensor(unpack(sizes)):fill(7)
    return t:select(#sizes, 1), t:select(#sizes, 2)
end

function tests.the_results_of_a_decomposition_are_reused()
    local a = tridiagonal()
    local e, v, i = torch.zeros(3), torch.zeros(3, 3), torch.zeros(3, 3)
    local u, s, w = torch.zeros(3, 3), torch.zeros(3), torch.zeros(3, 3)
    local q, r = torch.zeros(3, 3), torch.zeros(3, 3)
    for _ = 1, 3 do
        torch.symeig(e, v, a, "V")
        near(e, EIGENVALUES)
        near(v * torch.diag(e) * v:t(), a)
        torch.svd(u, s, w, a)
        near(s, { EIGENVALUES[3], EIGENVALUES[2], EIGENVALUES[1] })
        near(u * torch.diag(s) * w:t(), a)
        torch.qr(q, r, a)
        near(q * r, a)
        near(torch.inverse(i, a), INVERSE)
    end
    equal(a, tridiagonal())
end

function tests.the_general_eigenvalues_are_reused()
    local a = torch.Tensor({ { 1, 2 }, { 0, 3 } })
    local e, v = torch.zeros(2, 2), torch.zeros(2, 2)
    for _ = 1, 3 do
        torch.eig(e, v, a, "V")
        near(e, { { 1, 0 }, { 3, 0 } })
        near(a * v, v * torch.diag(e:select(2, 1)))
    end
end

function tests.results_may_have_gaps()
    local a = tridiagonal()
    local e, e_gaps = with_gaps(3)
    local v, v_gaps = with_gaps(3, 3)
    check(not e:isContiguous() and not v:isContiguous())
    torch.symeig(e, v, a, "V")
    near(e, EIGENVALUES)
    near(v * torch.diag(e) * v:t(), a)
    near(torch.inverse(v, a), INVERSE)
    equal(e_gaps, { 7, 7, 7 })
    equal(v_gaps, { { 7, 7, 7 }, { 7, 7, 7 }, { 7, 7, 7 } })
end

function tests.results_may_be_the_operands()
    local a, b = tridiagonal(), torch.Tensor({ 1, 0, 0 }):view(3, 1)
    local x, lu = torch.gesv(b, a, b, a)
    check(x == b and lu == a)
    near(b, { { 0.75 }, { 0.5 }, { 0.25 } })
    a, b = tridiagonal(), torch.Tensor({ 1, 0, 0 }):view(3, 1)
    torch.gels(b, a, b, a)
    near(b, { { 0.75 }, { 0.5 }, { 0.25 } })
end

function tests.products_along_each_dimension()
    local t = torch.linspace(0.5, 1.75, 60):view(3, 4, 5)
    for dim = 1, 3 do
        local expected = t:narrow(dim, 1, 1):clone()
        for i = 2, t:size(dim) do expected:cmul(t:narrow(dim, i, 1)) end
        near(torch.cdiv(t:prod(dim), expected), torch.ones(expected:size()), 1e-15)
    end
end

-- The position of the largest element, found by reads through views.
local function largest(t)
    local best, place = -math.huge, nil
    for i = 1, t:size(1) do
        for j = 1, t:size(2) do
            local value = t:select(1, i):select(1, j)
            if value > best then best, place = value, { i, j } end
        end
    end
    return best, place
end

function tests.select_on_a_vector_is_a_number()
    local t = torch.Tensor({ { 3, 1, 4 }, { 1, 5, 9 }, { 2, 6, 5 } })
    local best, place = largest(t)
    equal({ best, place }, { 9, { 2, 3 } })
    best, place = largest(t:t())
    equal({ best, place }, { 9, { 3, 2 } })
    equal(t:narrow(1, 2, 2):select(2, 2):select(1, 2), 6)
    fails("select", function() return torch.Tensor(3):select(1, 4) end)
end

function tests.lerp_of_numbers()
    equal(torch.lerp(2, 10, 0.25), 4)
    equal(torch.lerp(2, 10, -1), -6)
    equal(torch.lerp(torch.Tensor({ 2, 4 }), torch.Tensor({ 10, 0 }), 0.25), { 4, 3 })
end

function tests.methods_of_one_type_replace_its_own_only()
    local half = torch.HalfTensor
    local kept = { abs = half.abs, max = half.max, fill = half.fill }
    function half:abs() return "abs of half" end
    function half:max() return "max of half" end
    function half:fill(value) return "filled with " .. value end
    local x = torch.Tensor({ -2, 1 })
    local values = { x:abs():max(), x:float():abs():max(), x:long():abs():max(), x:half():abs(), x:half():max() }
    local filled = x:half():fill(3)
    for name, method in pairs(kept) do half[name] = method end
    equal(values, { 2, 2, 2, "abs of half", "max of half" })
    equal(filled, "filled with 3")
    equal({ x:half():abs():max(), x:fill(3):sum() }, { 2, 6 })
end

function tests.a_generator_continues_the_stream_of_another()
    torch.manualSeed(1)
    torch.uniform()
    local generator = torch.Generator()
    torch.setRNGState(generator, torch.getRNGState())
    local expected = torch.rand(50)
    torch.rand(1000)
    equal(torch.rand(generator, 50), expected)
end

harness.run(tests)
