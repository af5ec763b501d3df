-- THNN's linear layers of sparse inputs: SparseLinear and IndexLinear.

local ffi = require("ffi")
local binding = require("thorn.nn.binding")
local C = require("thorn.library").C

local th, made, reshape, size = binding.th, binding.made, binding.reshape, binding.size
local from_zero, shape = binding.from_zero, binding.shape

local rows = {}

-- The number of each row from 0, as often as `sizes` tells.
local function row_numbers(sizes)
    return made.repeatInterleave(th.newArange(C.TH_INT64, 0, binding.elements(sizes), 1), sizes, 0)
end

-- Returns `values` as a column times the rows `index` of `t`.
local function scaled_rows(t, index, values) return made.cmul(made.indexSelect(t, 0, index), reshape(values, -1, 1)) end

-- SparseLinear. Readers return the rows from 0, the columns from 0 and the values of the entries that are not 0.

local function entries(lines, columns)
    local kept = reshape(made.nonzero(reshape(th.newSelect(lines, 1, 2), -1)), -1)
    lines = made.indexSelect(lines, 0, kept)
    return from_zero(th.newSelect(lines, 1, 0)), from_zero(th.newSelect(lines, 1, 1), columns), th.newSelect(lines, 1, 2)
end

-- Each line of the matrix is a row, a column and a value.
local function read_lines(input, position, columns)
    if input.nDimension ~= 2 or size(input, 1) ~= 3 then
        binding.argument(position, "lines of row, column and value expected, got %s", shape(input))
    end
    return entries(input, columns)
end

-- Each line of each row is a column and a value.
local function read_rows(input, position, columns)
    if input.nDimension ~= 3 or size(input, 2) ~= 2 then
        binding.argument(position, "rows of lines of column and value expected, got %s", shape(input))
    end
    local batch, lines = size(input, 0), size(input, 1)
    local numbers = th.newTo(made.add(th.newArange(C.TH_INT64, 0, batch, 1), 1), input.dtype)
    local first = th.newExpand(reshape(numbers, batch, 1, 1), 3, ffi.new("int64_t[3]", batch, lines, 1))
    return entries(reshape(made.cat(first, input, 2), -1, 3), columns)
end

-- Defines the functions of one layout of the input. `batch_of(input, output)` is the number of rows of the output.
local function define(prefix, read, batch_of)
    local function name(letters) return "SparseLinear_" .. (prefix and prefix .. letters:gsub("^%l", string.upper) or letters) end

    rows[name("updateOutput")] = { "input output weight bias", function(input, output, weight, bias)
        local row, column, values = read(input, 1, size(weight, 1))
        local r = made.zeros(2, ffi.new("int64_t[2]", batch_of(input, output), size(weight, 0)))
        r = th.newTo(r, output.dtype)
        th.indexAdd(r, 0, row, scaled_rows(th.newTranspose(weight, 0, 1), column, values))
        th.cadd(output, r, 1, bias)
    end }

    rows[name("accGradParameters")] = { "input gradOutput gradWeight gradBias weight bias weightDecay:number scale:number",
        function(input, gradOutput, gradWeight, gradBias, weight, _, weightDecay, scale)
            local row, column, values = read(input, 1, size(weight, 1))
            local terms = scaled_rows(gradOutput, row, values)
            th.indexAddScale(gradWeight, 1, column, scale, th.newTranspose(terms, 0, 1))
            th.cadd(gradBias, gradBias, scale, made.sum(gradOutput, 0, 0))
            if weightDecay ~= 0 then th.cadd(gradWeight, gradWeight, weightDecay, weight) end
        end }

    rows[name("zeroGradParameters")] = { "gradWeight gradBias lastInput", function(gradWeight, gradBias, lastInput)
        local _, column = read(lastInput, 3, size(gradWeight, 1))
        th.zero(gradBias)
        th.indexFill(gradWeight, 1, column, 0)
    end }

    rows[name("updateParameters")] = { "weight bias gradWeight gradBias lastInput learningRate:number",
        function(weight, bias, gradWeight, gradBias, lastInput, learningRate)
            local _, column = read(lastInput, 5, size(weight, 1))
            th.cadd(bias, bias, -learningRate, gradBias)
            -- A column that occurs several times gets the same elements each time.
            local updated = made.indexSelect(weight, 1, column)
            th.cadd(updated, updated, -learningRate, made.indexSelect(gradWeight, 1, column))
            th.indexCopy(weight, 1, column, updated)
        end }
end

define(nil, read_lines, function(_, output) return size(output, 0) end)
define("legacy", read_rows, function(input) return size(input, 0) end)

-- IndexLinear: entries of all rows, one after the other, with their keys and values. A row of the weight has the weights of a key. If the
-- row has more elements than the output, the first ones are [the greatest magnitude of the key's values, its inverse, the scale of
-- the rate, the bias of the key], and values are divided by the magnitude.

-- Positions in a row of the weight, and their number.
local MAGNITUDE, INVERSE, RATE, KEY_BIAS, EXTRA = 0, 1, 2, 3, 4

-- Returns the number of elements before the weights in a row: 0 or EXTRA.
local function extra_columns(weight, bias)
    local extra = weight.nDimension == 2 and size(weight, 1) - binding.elements(bias)
    if extra ~= 0 and extra ~= EXTRA then
        binding.raise("a weight of size %s does not fit %d outputs", shape(weight), binding.elements(bias))
    end
    return extra
end

-- Returns the row of each entry from 0, after a check of the numbers of keys, values and entries.
local function entry_rows(keys, values, sizes)
    local row = row_numbers(reshape(sizes, -1))
    if keys.nDimension ~= 1 or C.THTensor_isSameSizeAs(row, keys) == 0 or C.THTensor_isSameSizeAs(keys, values) == 0 then
        binding.raise("%s keys, %s values, and sizes with the sum %d", shape(keys), shape(values), size(row, 0))
    end
    return row
end

-- Returns the keys from 0.
local function keys_from_zero(keys, offset, weight) return from_zero(made.add(keys, offset + 1), size(weight, 0)) end

-- The elements of a contiguous tensor as an array. The storage may have become smaller than the tensor.
local function array(t, position)
    if C.THTensor_isContiguous(t) == 0 then binding.argument(position, "contiguous tensor expected") end
    local count = binding.elements(t)
    if count > 0 and (t.storage == nil or t.storageOffset + count > t.storage.size) then
        binding.argument(position, "the tensor has lost its elements: its storage is smaller now")
    end
    return ffi.cast(t.dtype == C.TH_FLOAT64 and "double *" or t.dtype == C.TH_FLOAT32 and "float *" or "int64_t *", C.THTensor_data(t))
end

-- Divides the values by the magnitudes of their keys and adds the bias of the key. With `train`, a greater value becomes the magnitude.
local function normalize(normalized, index, values, weight, train)
    th.resizeAs(normalized, values)
    local key, value, result = array(index), array(th.newContiguous(values), 3), array(normalized, 9)
    local w, stride = array(weight, 7), size(weight, 1)
    for i = 0, binding.elements(index) - 1 do
        local row, x = w + key[i] * stride, value[i]
        local magnitude = math.abs(x)
        if train then
            if magnitude > row[MAGNITUDE] then row[MAGNITUDE], row[INVERSE] = magnitude, 1 / magnitude end
            row[RATE] = 1
        end
        if magnitude > row[MAGNITUDE] then x = x > 0 and 1 or -1 else x = x * row[INVERSE] end
        result[i] = x + row[KEY_BIAS]
    end
end

rows.IndexLinear_updateOutput = {
    "keys:long keysOffset:int values sizes:long cumSumSizes:long output weight bias normalizedValues train:bool",
    function(keys, keysOffset, values, sizes, _, output, weight, bias, normalized, train)
        local index, extra = keys_from_zero(keys, keysOffset, weight), extra_columns(weight, bias)
        local row = entry_rows(keys, values, sizes)
        if extra > 0 then
            normalize(normalized, index, values, weight, train)
            values, weight = normalized, th.newNarrow(weight, 1, extra, size(weight, 1) - extra)
        end
        binding.resize(output, binding.elements(sizes), size(weight, 1))
        th.copy(output, bias)
        th.indexAdd(output, 0, row, scaled_rows(weight, index, values))
    end }

-- Computes the gradient of the rows of the weight for each entry, after the gradient of the bias of the key if there is one. Adds to the
-- gradient of the bias.
local function gradients(gradWeight, gradBias, keys, values, sizes, gradOutput, weight, bias, scale)
    local extra, row = extra_columns(weight, bias), entry_rows(keys, values, sizes)
    local g = made.mul(reshape(gradOutput, binding.elements(sizes), binding.elements(bias)), scale)
    local terms = scaled_rows(g, row, values)
    if extra > 0 then terms = made.cat(made.indexSelect(g, 0, row), terms, 1) end
    th.resizeAs(gradWeight, terms)
    th.copy(gradWeight, terms)
    th.cadd(gradBias, gradBias, 1, made.sum(g, 0, 0))
end

rows.IndexLinear_accGradParameters = {
    "keys:long keysOffset:int values sizes:long cumSumSizes:long gradOutput gradWeight gradBias weight bias valuesBuffer "
        .. "weightDecay:number scale:number",
    function(keys, _, values, sizes, _, gradOutput, gradWeight, gradBias, weight, bias, _, _, scale)
        gradients(gradWeight, gradBias, keys, values, sizes, gradOutput, weight, bias, scale)
    end }

-- Changes the weights of each key by its gradients, one entry after the other.
local function update(gradWeight, gradBias, weight, bias, index, weightDecay, rate)
    local extra, outputs = extra_columns(weight, bias), binding.elements(bias)
    local width = extra > 0 and 2 * outputs or outputs
    if binding.elements(gradWeight) ~= binding.elements(index) * width then
        binding.raise("gradients of size %dx%d expected, got %s", binding.elements(index), width, shape(gradWeight))
    end
    th.cadd(bias, bias, -rate, gradBias)
    if extra == 0 and weightDecay == 0 then
        return th.indexAddScale(weight, 0, index, -rate, reshape(gradWeight, -1, outputs))
    end
    local key, g, w = array(index), array(th.newContiguous(gradWeight)), array(weight, 3)
    local stride = size(weight, 1)
    for i = 0, binding.elements(index) - 1 do
        local row, own = w + key[i] * stride, g + i * width
        local step, decay = rate, weightDecay
        if extra > 0 then
            step, decay = rate * row[RATE], weightDecay * row[RATE]
            for k = 0, outputs - 1 do row[KEY_BIAS] = row[KEY_BIAS] - own[k] * row[extra + k] * step end
            own = own + outputs
        end
        row = row + extra
        for k = 0, outputs - 1 do row[k] = row[k] - row[k] * decay - own[k] * step end
    end
end

rows.IndexLinear_updateParameters = {
    "gradWeight gradBias weight bias runningKeys:long cumSumSizes:long keysOffset:int weightDecay:number learningRate:number",
    function(gradWeight, gradBias, weight, bias, keys, _, keysOffset, weightDecay, learningRate)
        update(gradWeight, gradBias, weight, bias, keys_from_zero(keys, keysOffset, weight), weightDecay, learningRate)
    end }

rows.IndexLinear_accUpdateGradParameters = {
    "keys:long keysOffset:int values sizes:long cumSumSizes:long gradOutput weight bias weightDecay:number scale:number",
    function(keys, keysOffset, values, sizes, _, gradOutput, weight, bias, weightDecay, scale)
        local index = keys_from_zero(keys, keysOffset, weight)
        local gradWeight, gradBias = binding.temporary(weight), made.zerosLike(bias)
        gradients(gradWeight, gradBias, keys, values, sizes, gradOutput, weight, bias, scale)
        update(gradWeight, gradBias, weight, bias, index, weightDecay, 1)
    end }

return rows
