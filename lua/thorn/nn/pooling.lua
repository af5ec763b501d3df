-- The poolings of THNN. Positions of maxima count from 1, except in TemporalMaxPooling, where they count from 0.

local C = require("thorn.library").C
local binding = require("thorn.nn.binding")
local images = require("thorn.nn.images")

local th, made, reshape, from_zero, size = binding.th, binding.made, binding.reshape, binding.from_zero, images.size
local names, lists, list, swapped, assign = images.names, images.lists, images.list, images.swapped, images.assign
local PREFIXES = images.PREFIXES

local rows = {}

local MAX = { th.maxPool1d, th.maxPool2d, th.maxPool3d }
local AVERAGE = { th.avgPool1d, th.avgPool2d, th.avgPool3d }
local ADAPTIVE_MAX = { th.adaptiveMaxPool1d, th.adaptiveMaxPool2d, th.adaptiveMaxPool3d }
local ADAPTIVE_AVERAGE = { th.adaptiveAvgPool1d, th.adaptiveAvgPool2d, th.adaptiveAvgPool3d }

local function flag(x) return x and 1 or 0 end

-- Makes positions count from 1.
local function count_from_1(indices) th.add(indices, indices, 1) end

-- Max pooling with `count` groups of numbers: kernel, stride, padding and dilation.
local function max_pooling(kind, dims, groups, count)
    local name, arguments = PREFIXES[dims] .. kind, "indices:long " .. names(dims, groups) .. " ceil_mode:bool"

    rows[name .. "_updateOutput"] = { "input output " .. arguments,
        function(input, output, indices, ...)
            local kernel, stride, padding, dilation = lists(dims, count, ...)
            MAX[dims](output, indices, input, dims, kernel, stride, padding, dilation, flag(select(-1, ...)))
            count_from_1(indices)
        end }
    rows[name .. "_updateGradInput"] = { "input gradOutput gradInput " .. arguments,
        function(input, gradOutput, gradInput, indices)
            th.maxPoolGradInput(gradInput, gradOutput, from_zero(indices), input, dims)
        end }
end

-- Old versions of `nn` end the arguments before the padding.
local function average_pooling(dims)
    local name = PREFIXES[dims] .. "AveragePooling"
    local arguments = names(dims, "k d") .. " " .. images.optional_names(dims, "pad") .. " ceil_mode:bool count_include_pad:bool"

    rows[name .. "_updateOutput"] = { "input output " .. arguments,
        function(input, output, ...)
            local kernel, stride, padding = lists(dims, 3, ...)
            local ceil_mode, with_padding = select(-2, ...)
            AVERAGE[dims](output, input, dims, kernel, stride, padding, flag(ceil_mode), flag(with_padding), 0)
        end }
    rows[name .. "_updateGradInput"] = { "input gradOutput gradInput " .. arguments,
        function(input, gradOutput, gradInput, ...)
            local kernel, stride, padding = lists(dims, 3, ...)
            local ceil_mode, with_padding = select(-2, ...)
            th.avgPoolGradInput(gradInput, gradOutput, input, dims, kernel, stride, padding, flag(ceil_mode), flag(with_padding), 0)
        end }
end

local function adaptive_pooling(dims)
    local max, average = PREFIXES[dims] .. "AdaptiveMaxPooling", PREFIXES[dims] .. "AdaptiveAveragePooling"

    rows[max .. "_updateOutput"] = { "input output indices:long " .. names(dims, "osize"),
        function(input, output, indices, ...)
            ADAPTIVE_MAX[dims](output, indices, input, dims, (lists(dims, 1, ...)))
            count_from_1(indices)
        end }
    rows[max .. "_updateGradInput"] = { "input gradOutput gradInput indices:long",
        function(input, gradOutput, gradInput, indices)
            th.maxPoolGradInput(gradInput, gradOutput, from_zero(indices), input, dims)
        end }
    rows[average .. "_updateOutput"] = { "input output " .. names(dims, "osize"),
        function(input, output, ...) ADAPTIVE_AVERAGE[dims](output, input, dims, (lists(dims, 1, ...))) end }
    rows[average .. "_updateGradInput"] = { "input gradOutput gradInput",
        function(input, gradOutput, gradInput) th.adaptiveAvgPoolGradInput(gradInput, gradOutput, input, dims) end }
end

-- Returns images with their elements in one dimension.
local function flattened(t, dims)
    local sizes = {}
    for d = 1, t.nDimension - dims do sizes[d] = size(t, d - 1) end
    sizes[#sizes + 1] = -1
    return reshape(t, unpack(sizes))
end

local function max_unpooling(dims, numbers)
    local name, arguments = PREFIXES[dims] .. "MaxUnpooling", "indices:long " .. numbers

    rows[name .. "_updateOutput"] = { "input output " .. arguments,
        function(input, output, indices, ...) th.maxUnpool(output, input, from_zero(indices), dims, (lists(dims, 1, ...))) end }
    rows[name .. "_updateGradInput"] = { "input gradOutput gradInput " .. arguments,
        function(input, gradOutput, gradInput, indices, ...)
            images.check_sizes(indices, input, 4)
            local sizes, places = lists(dims, 1, ...), 1
            for d = 0, dims - 1 do
                places = places * sizes[d]
                if size(gradOutput, d - dims) ~= sizes[d] then
                    binding.argument(2, "images of other sizes expected, got %s", binding.shape(gradOutput))
                end
            end
            local positions = flattened(from_zero(indices, tonumber(places)), dims)
            assign(gradInput, th.newViewAs(made.gather(flattened(gradOutput, dims), -1, positions), input))
        end }
end

-- The index of each dimension's sample among the samples of a channel.
local SAMPLES = { [2] = { 1, 0 }, [3] = { 0, 2, 1 } }

-- Fractional max pooling: windows of one size at irregular distances, which a sample from 0 to 1 for each channel and dimension determines.
-- The windows side by side are images that a pooling without overlaps can read.
local function fractional_max_pooling(dims)
    local name, numbers = PREFIXES[dims] .. "FractionalMaxPooling", names(dims, "output poolSize")

    -- Returns the entries of a dimension in the windows: [channels x (windows * kernel)], int64.
    local function covered(samples, entries, windows, kernel)
        local step = windows > 1 and (entries - kernel) / (windows - 1) or 0
        local sample = reshape(samples, -1, 1)
        local first = made.cadd(th.newArange(samples.dtype, 0, windows, 1), 1, sample)
        th.floor(first, made.mul(first, step))
        th.csub(first, first, 1, made.floor(made.mul(sample, step)))
        th.fill(th.newSelect(first, 1, windows - 1), entries - kernel)
        local whole = th.newUnsqueeze1d(th.newTo(first, C.TH_INT64), 2)
        return reshape(made.cadd(whole, 1, th.newArange(C.TH_INT64, 0, kernel, 1)), size(first, 0), windows * kernel)
    end

    -- Returns the positions in the images of all elements in the windows: [channels x (windows * kernel) x ...], int64.
    local function positions(input, samples, windows, kernel)
        local r
        for d = 0, dims - 1 do
            local entries, count, reach = size(input, d - dims), tonumber(windows[d]), tonumber(kernel[d])
            if count < 1 or reach < 1 or count + reach - 1 > entries then
                binding.raise("%d windows of %d entries do not fit %s", count, reach, binding.shape(input))
            end
            local places = covered(th.newSelect(samples, 1, SAMPLES[dims][d + 1]), entries, count, reach)
            for _ = 1, d do places = th.newUnsqueeze1d(places, 1) end
            r = r and made.cadd(places, entries, th.newUnsqueeze1d(r, -1)) or places
        end
        return r
    end

    rows[name .. "_updateOutput"] = { "input output " .. numbers .. " indices:long randomSamples",
        function(input, output, ...)
            images.check_dimensions(input, dims + 1, dims + 2, 1)
            local windows, kernel = lists(dims, 2, ...)
            local indices, samples = select(-2, ...)
            local places = positions(input, reshape(samples, -1, dims), windows, kernel)
            local channels = size(places, 0)
            local elements = made.gather(reshape(input, channels, -1), 1, reshape(places, channels, -1))
            local maxima, found = th.new(), th.new()
            MAX[dims](maxima, found, binding.like(elements, places), dims, kernel, nil, nil, nil, 0)
            local sizes = {}
            for d = 1, input.nDimension - dims do sizes[d] = size(input, d - 1) end
            for d = 0, dims - 1 do sizes[#sizes + 1] = tonumber(windows[d]) end
            assign(output, reshape(maxima, unpack(sizes)))
            found = made.gather(reshape(places, channels, -1), 1, reshape(found, channels, -1))
            assign(indices, reshape(found, unpack(sizes)))
            count_from_1(indices)
        end }
    rows[name .. "_updateGradInput"] = { "input gradOutput gradInput " .. numbers .. " indices:long",
        function(input, gradOutput, gradInput, ...)
            th.maxPoolGradInput(gradInput, gradOutput, from_zero((select(-1, ...))), input, dims)
        end }
end

for dims = 2, 3 do
    max_pooling("MaxPooling", dims, "k d pad", 3)
    max_pooling("DilatedMaxPooling", dims, "k d pad dilation", 4)
    average_pooling(dims)
    adaptive_pooling(dims)
    fractional_max_pooling(dims)
end
max_unpooling(2, names(2, "o"))
max_unpooling(3, names(3, "o d pad"))

-- TemporalMaxPooling: the input is [batch x time x channels]. Positions count from the start of a window.

-- Returns the first frame of each window as a column.
local function window_starts(windows, stride)
    return th.newUnsqueeze1d(th.newArange(C.TH_INT64, 0, windows * stride, stride), 1)
end

rows.TemporalMaxPooling_updateOutput = { "input output indices:long kW:int dW:int",
    function(input, output, indices, kW, dW)
        images.check_dimensions(input, 2, 3, 1)
        local maxima, found = th.new(), th.new()
        th.maxPool1d(maxima, found, swapped(input), 1, list(kW), list(dW), nil, nil, 0)
        assign(output, swapped(maxima))
        assign(indices, swapped(found))
        th.csub(indices, indices, 1, window_starts(size(indices, -2), dW))
    end }

rows.TemporalMaxPooling_updateGradInput = { "input gradOutput gradInput indices:long kW:int dW:int",
    function(input, gradOutput, gradInput, indices, _, dW)
        images.check_dimensions(indices, 2, 3, 4)
        local frames = made.cadd(indices, 1, window_starts(size(indices, -2), dW))
        assign(gradInput, swapped(made.maxPoolGradInput(swapped(gradOutput), swapped(frames), swapped(input), 1)))
    end }

-- SubSampling: the sum of each window, times a weight and plus a bias for each channel. In one dimension, channels come last.

local function sub_sampling(dims)
    local name, numbers = PREFIXES[dims] .. "SubSampling", names(dims, "k d")
    local ordered = dims == 1 and swapped or function(t) return t end
    local frame_size = dims == 1 and " inputFrameSize:int" or ""

    -- Returns a number for each channel in a shape that broadcasts.
    local function per_channel(t, input)
        images.check_dimensions(input, dims + 1, dims + 2, 1)
        local channels = size(ordered(input), -1 - dims)
        if binding.elements(t) ~= channels then
            binding.argument(1, "%d channels expected, got %s", binding.elements(t), binding.shape(input))
        end
        return dims == 1 and reshape(t, channels, 1) or reshape(t, channels, 1, 1)
    end

    local function sums(input, kernel, stride)
        return made["avgPool" .. dims .. "d"](ordered(input), dims, kernel, stride, nil, 0, 0, 1)
    end

    rows[name .. "_updateOutput"] = { "input output weight bias " .. numbers .. frame_size,
        function(input, output, weight, bias, ...)
            local r = sums(input, lists(dims, 2, ...))
            th.cmul(r, r, per_channel(weight, input))
            th.cadd(r, r, 1, per_channel(bias, input))
            assign(output, ordered(r))
        end }
    rows[name .. "_updateGradInput"] = { "input gradOutput gradInput weight " .. numbers,
        function(input, gradOutput, gradInput, weight, ...)
            local kernel, stride = lists(dims, 2, ...)
            local gradient = ordered(gradOutput)
            gradient = made.cmul(gradient, th.newExpandAs(per_channel(weight, input), gradient))
            assign(gradInput, ordered(made.avgPoolGradInput(gradient, ordered(input), dims, kernel, stride, nil, 0, 0, 1)))
        end }
    rows[name .. "_accGradParameters"] = { "input gradOutput gradWeight gradBias " .. numbers .. " scale:number",
        function(input, gradOutput, gradWeight, gradBias, ...)
            local r, gradient = sums(input, lists(dims, 2, ...)), ordered(gradOutput)
            images.check_sizes(gradient, r, 2)
            th.cmul(r, r, gradient)
            images.accumulate(select(-1, ...), gradWeight, made.convolutionGradBias(r, dims), gradBias,
                made.convolutionGradBias(gradient, dims))
        end }
end

sub_sampling(1)
sub_sampling(2)

-- FeatureLPPooling: the norm `power` of each window of `width` channels.

local LP = " power:number width:int stride:int batchMode:bool"

local function channel_dimension(input, batch, position)
    if batch then images.check_dimensions(input, 2, 4, position) else images.check_dimensions(input, 1, 3, position) end
    return batch and 1 or 0
end

rows.FeatureLPPooling_updateOutput = { "input output" .. LP,
    function(input, output, power, width, stride, batch)
        local channels = channel_dimension(input, batch, 1)
        local windows = th.newUnfold(made.pow(input, power), channels, width, stride)
        th.pow(output, made.sum(windows, -1, 0), 1 / power)
    end }

-- The derivative of an output by an element of its window is (element / output)^(power - 1), and 0 where the output is 0.
rows.FeatureLPPooling_updateGradInput = { "gradOutput input output gradInput" .. LP,
    function(gradOutput, input, output, gradInput, power, width, stride, batch)
        local channels = channel_dimension(input, batch, 2)
        images.check_sizes(gradOutput, output, 1)
        local windows = th.newUnfold(input, channels, width, stride)
        local ratio = made.cdiv(windows, th.newUnsqueeze1d(output, -1))
        th.pow(ratio, ratio, power - 1)
        th.cmul(ratio, ratio, th.newUnsqueeze1d(gradOutput, -1))
        th.maskedFill(ratio, th.newExpandAs(th.newUnsqueeze1d(made.eqValue(output, 0), -1), ratio), 0)
        local covered = made.fold(ratio, channels, stride)
        local r = th.newZerosLike(input)
        th.copy(th.newNarrow(r, channels, 0, size(covered, channels)), covered)
        assign(gradInput, r)
    end }

return rows
