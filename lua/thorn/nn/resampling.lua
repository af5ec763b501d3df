-- Padding, upsampling and sampling of images.

local C = require("thorn.library").C
local binding = require("thorn.nn.binding")
local images = require("thorn.nn.images")

local th, made, size = binding.th, binding.made, images.size
local PREFIXES = images.PREFIXES

local rows = {}

-- Padding. A negative number removes entries.

-- The names of the arguments: before and after the width, the height and the depth, as in the library.
local SIDES = { "left:int right:int", "left:int right:int top:int bottom:int",
    "left:int right:int top:int bottom:int front:int back:int" }

local function padding(kind, dims, mode)
    local name = PREFIXES[dims] .. kind

    rows[name .. "_updateOutput"] = { "input output " .. SIDES[dims],
        function(input, output, ...)
            images.check_dimensions(input, dims + 1, dims + 2, 1)
            th.pad(output, input, 2 * dims, images.list(...), mode, 0)
        end }

    rows[name .. "_updateGradInput"] = { "input gradOutput gradInput " .. SIDES[dims],
        function(input, gradOutput, gradInput, ...)
            images.check_dimensions(input, dims + 1, dims + 2, 1)
            local pads = images.list(...)
            images.gradient(function(t) return made.pad(t, 2 * dims, pads, mode, 0) end, input, gradOutput, gradInput)
        end }
end

for dims = 1, 3 do padding("ReplicationPadding", dims, C.TH_PAD_REPLICATE) end
padding("ReflectionPadding", 1, C.TH_PAD_REFLECT)
padding("ReflectionPadding", 2, C.TH_PAD_REFLECT)

-- Upsampling by repetition. Each entry becomes a window, so that the gradient is the sums of windows.

local WINDOW_SUMS = { made.avgPool1d, made.avgPool2d, made.avgPool3d }

local function check_factor(factor, position)
    if factor < 1 then binding.argument(position, "a factor from 1 expected, got %d", factor) end
end

local function nearest(dims)
    local name = PREFIXES[dims] .. "UpSamplingNearest"

    rows[name .. "_updateOutput"] = { "input output scale_factor:int",
        function(input, output, factor)
            images.check_dimensions(input, dims + 1, dims + 2, 1)
            check_factor(factor, 3)
            local sizes = images.uniform(dims, factor)
            for d = 0, dims - 1 do sizes[d] = size(input, d - dims) * factor end
            th.interpolate(output, input, dims, sizes, C.TH_RESAMPLE_NEAREST, 0, 0)
        end }
    rows[name .. "_updateGradInput"] = { "input gradOutput gradInput scale_factor:int",
        function(input, gradOutput, gradInput, factor)
            check_factor(factor, 4)
            local window = images.uniform(dims, factor)
            local sums = WINDOW_SUMS[dims](gradOutput, dims, window, window, nil, 0, 0, 1)
            images.check_sizes(sums, input, 2)
            images.assign(gradInput, sums)
        end }
end

-- Upsampling by linear interpolation. The corners of the input and of the output have the same elements.

local SIZES = { "Width:int", "Height:int Width:int", "Depth:int Height:int Width:int" }

-- Prefixes the names of sizes: `sizes_of(1, "output")` is "outputWidth:int".
local function sizes_of(dims, prefix) return (SIZES[dims]:gsub("%u", prefix .. "%0")) end

local function linear(kind, dims)
    local name = PREFIXES[dims] .. kind

    rows[name .. "_updateOutput"] = { "input output " .. sizes_of(dims, "output"),
        function(input, output, ...) th.interpolate(output, input, dims, images.list(...), C.TH_RESAMPLE_LINEAR, 1, 0) end }
    rows[name .. "_updateGradInput"] = {
        "gradOutput gradInput nbatch:int nchannels:int " .. sizes_of(dims, "input") .. " " .. sizes_of(dims, "output"),
        function(gradOutput, gradInput, batch, channels, ...)
            for d = 1, dims do
                if size(gradOutput, d - 1 - dims) ~= (select(dims + d, ...)) then
                    binding.argument(1, "images of other sizes expected, got %s", binding.shape(gradOutput))
                end
            end
            local sizes = { batch, channels, ... }
            binding.resize(gradInput, unpack(sizes, 1, 2 + dims))
            th.interpolateGrad(gradInput, gradOutput, gradInput, dims, 0, C.TH_RESAMPLE_LINEAR, 1, 0)
        end }
end

for dims = 1, 3 do nearest(dims) end
linear("UpSamplingLinear", 1)
linear("UpSamplingBilinear", 2)
linear("UpSamplingTrilinear", 3)

-- SpatialGridSamplerBilinear: the places -1 and 1 are the centres of the first and the last pixel, which continue outside the image.

rows.SpatialGridSamplerBilinear_updateOutput = { "input grid output", function(input, grid, output)
    th.gridSample(output, input, grid, C.TH_RESAMPLE_LINEAR, C.TH_PAD_REPLICATE, 1)
end }

rows.SpatialGridSamplerBilinear_updateGradInput = { "input gradInput grid gradGrid gradOutput",
    function(input, gradInput, grid, gradGrid, gradOutput)
        th.gridSampleGrad(gradInput, gradGrid, gradOutput, input, grid, C.TH_RESAMPLE_LINEAR, C.TH_PAD_REPLICATE, 1)
    end }

return rows
