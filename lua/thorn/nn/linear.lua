-- THNN's linear layer and table of vectors.

local binding = require("thorn.nn.binding")
local C = require("thorn.library").C

local th, made, fuse, reshape, size = binding.th, binding.made, binding.fuse, binding.reshape, binding.size
local from_zero, shape = binding.from_zero, binding.shape

local rows = {}

-- Linear: a vector, or a matrix with a vector in each row. The buffer is not needed.

local function check_input(t)
    if t.nDimension ~= 1 and t.nDimension ~= 2 then binding.argument(1, "vector or matrix expected, got %s", shape(t)) end
end

rows.Linear_updateOutput = { "input output weight bias? buffer?", function(input, output, weight, bias)
    check_input(input)
    if input.nDimension == 1 then
        if bias then th.addmv(output, 1, bias, 1, weight, input) else th.mv(output, weight, input) end
    else
        local transposed = th.newTranspose(weight, 0, 1)
        if bias then th.addmm(output, 1, bias, 1, input, transposed) else th.mm(output, input, transposed) end
    end
end }

rows.Linear_updateGradInput = { "input gradOutput gradInput weight", function(input, gradOutput, gradInput, weight)
    check_input(input)
    if input.nDimension == 1 then
        th.mv(gradInput, th.newTranspose(weight, 0, 1), gradOutput)
    else
        th.mm(gradInput, gradOutput, weight)
    end
end }

rows.Linear_accGradParameters = { "input gradOutput gradInput? weight bias? gradWeight gradBias? buffer? scale:number",
    function(input, gradOutput, _, _, _, gradWeight, gradBias, _, scale)
        check_input(input)
        if input.nDimension == 1 then
            th.addr(gradWeight, 1, gradWeight, scale, gradOutput, input)
            if gradBias then th.cadd(gradBias, gradBias, scale, gradOutput) end
        else
            th.addmm(gradWeight, 1, gradWeight, scale, th.newTranspose(gradOutput, 0, 1), input)
            if gradBias then th.cadd(gradBias, gradBias, scale, made.sum(gradOutput, 0, 0)) end
        end
    end }

-- LookupTable: the forward function is `index` of a tensor. Buffers for sorting are for GPUs.

rows.LookupTable_accGradParameters = {
    "input:long gradOutput gradWeight count:ints sorted:any? indices:any? scaleGradByFreq:bool paddingValue:int scale:number",
    function(input, gradOutput, gradWeight, count, _, _, scaleGradByFreq, paddingValue, scale)
        local vocabulary, width = size(gradWeight, 0), size(gradWeight, 1)
        local index = reshape(from_zero(input, vocabulary), -1)
        if binding.elements(gradOutput) ~= size(index, 0) * width then
            binding.argument(2, "%d vectors of size %d expected, got %s", size(index, 0), width, shape(gradOutput))
        end
        local g = reshape(gradOutput, size(index, 0), width)
        if scaleGradByFreq then
            th.resize1d(count, vocabulary)
            th.zero(count)
            th.indexAdd(count, 0, index, th.newTo(made.onesLike(index), C.TH_INT32))
            g = made.cdiv(g, reshape(th.newTo(made.indexSelect(count, 0, index), g.dtype), -1, 1))
        end
        -- Vectors of padding do not count.
        local counted = reshape(made.nonzero(made.neValue(index, paddingValue - 1)), -1)
        if size(counted, 0) < size(index, 0) then
            index, g = made.indexSelect(index, 0, counted), made.indexSelect(g, 0, counted)
        end
        th.indexAddScale(gradWeight, 0, index, scale, g)
    end }

rows.LookupTable_renorm = { "index:long weight maxNorm:number normType:number", function(positions, weight, maxNorm, normType)
    if positions.nDimension ~= 1 then binding.argument(1, "vector expected, got %s", shape(positions)) end
    if not (normType > 0) then binding.argument(4, "positive number expected, got %g", normType) end
    local index = from_zero(positions, size(weight, 0))
    local vectors = made.indexSelect(weight, 0, index)
    local norms = made.norm(vectors, normType, 1, 1)
    fuse(vectors, "where(n > @, v * @ / (n + 1e-7), v)", { n = norms, v = vectors }, maxNorm, maxNorm)
    th.indexCopy(weight, 0, index, vectors)
end }

return rows
