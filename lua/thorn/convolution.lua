-- Convolutions of planes and volumes: `torch.conv2([result,] t, kernel, ['V'|'F'])`, xcorr2, conv3, xcorr3. 'V', valid, is the default; 'F'
-- is full. xcorr uses the kernel unchanged, conv reverses it.

local arguments = require("thorn.arguments")
local construct = require("thorn.construct")
local errors = require("thorn.errors")
local library = require("thorn.library")
local namespace = require("thorn.namespace")

local C, check = library.C, library.check
local torch, methods = namespace.torch, namespace.methods
local tensor, is_tensor, dimensions = arguments.tensor, arguments.is_tensor, arguments.dimensions

-- The library's functions by the dimensions of input and kernel: one plane; several planes with as many kernels; sums over planes with a
-- kernel for each pair of planes.
local functions = {
    [2] = { ["2x2"] = C.THTensor_conv2Dmul, ["3x3"] = C.THTensor_conv2Dcmul, ["3x4"] = C.THTensor_conv2Dmv },
    [3] = { ["3x3"] = C.THTensor_conv3Dmul, ["4x4"] = C.THTensor_conv3Dcmul, ["4x5"] = C.THTensor_conv3Dmv },
}

local function define(name, dims, kind)
    local function f(a, b, c, d)
        local r, t, k, mode, position = a, b, c, d, 4
        if not is_tensor(c) then
            r, t, k, mode, position = construct.like(tensor(a, 1, name), name), a, b, c, 3
        end
        tensor(t, position - 2, name, r)
        tensor(k, position - 1, name, r)
        local shapes = dimensions(t) .. "x" .. dimensions(k)
        local convolve = functions[dims][shapes]
        if not convolve then
            errors.raise(("%s: no convolution of %d dimensions with %d"):format(name, dimensions(t), dimensions(k)))
        end
        mode = arguments.letter(mode, position, name, "VF")
        if dims == 2 then
            check(convolve(r.handle, 0, 1, t.handle, k.handle, 1, 1, mode, kind), name)
        else
            check(convolve(r.handle, 0, 1, t.handle, k.handle, 1, 1, 1, mode, kind), name)
        end
        return r
    end
    methods[name], torch[name] = f, f
end

define("conv2", 2, "C")
define("xcorr2", 2, "X")
define("conv3", 3, "C")
define("xcorr3", 3, "X")
