-- Layers in the way of Torch7's `nn`: classes that call the same functions of THNN with the same arguments, and share a flat vector.

local torch = require("thorn")
local THNN = require("nn.THNN")

local optional = THNN.optionalTensor
local net = {}

local Layer = torch.class("net.Layer", net)

function Layer:__init()
    self.output, self.gradInput = torch.Tensor(), torch.Tensor()
    self.weights, self.grads = {}, {}
end

-- Adds a tensor of random weights, and one for its gradient.
function Layer:weight(...)
    local w = torch.Tensor(...)
    w:uniform(-1, 1):mul(1 / math.sqrt(w:nElement() / w:size(1)))
    self.weights[#self.weights + 1], self.grads[#self.grads + 1] = w, w:clone():zero()
end

function Layer:__call__(x, g)
    local y = self:forward(x)
    return y, g and self:backward(x, g)
end

function Layer:each(f) f(self) end

-- Returns all weights and gradients as two lists.
function Layer:lists()
    local weights, grads = {}, {}
    self:each(function(layer)
        for i, w in ipairs(layer.weights) do
            weights[#weights + 1], grads[#grads + 1] = w, layer.grads[i]
        end
    end)
    return weights, grads
end

function Layer:accumulate() end

function Layer:backward(x, g)
    local r = self:gradient(x, g)
    self:accumulate(x, g)
    return r
end

local Act = torch.class("net.Act", "net.Layer", net)

-- The lists have the last arguments of updateOutput and of updateGradInput. The text "output" means the output tensor.
function Act:__init(name, forward, backward)
    Layer.__init(self)
    self.name, self.last, self.last_back = name, forward or {}, backward or {}
end

function Act:forward(x)
    x.THNN[self.name .. "_updateOutput"](x:cdata(), self.output:cdata(), unpack(self.last))
    return self.output
end

function Act:gradient(x, g)
    local last = {}
    for i, v in ipairs(self.last_back) do last[i] = v == "output" and self.output:cdata() or v end
    x.THNN[self.name .. "_updateGradInput"](x:cdata(), g:cdata(), self.gradInput:cdata(), unpack(last))
    return self.gradInput
end

for _, name in ipairs({ "Tanh", "Sigmoid", "LogSoftMax" }) do
    net[name] = function() return net.Act(name, {}, { "output" }) end
end

function net.ReLU() return net.Act("Threshold", { 0, 0, false }, { 0, 0, false }) end

local Dense = torch.class("net.Dense", "net.Layer", net)

function Dense:__init(inputs, outputs)
    Layer.__init(self)
    self:weight(outputs, inputs)
    self:weight(outputs)
    self.ones = torch.Tensor()
end

function Dense:forward(x)
    local w, b = unpack(self.weights)
    self.ones:resize(x:size(1)):fill(1)
    self.output:resize(x:size(1), w:size(1))
    self.output:addmm(0, self.output, 1, x, w:t()):addr(1, self.ones, b)
    return self.output
end

function Dense:gradient(x, g)
    self.gradInput:resizeAs(x)
    return self.gradInput:addmm(0, 1, g, self.weights[1])
end

function Dense:accumulate(x, g)
    self.grads[1]:addmm(1, g:t(), x)
    self.grads[2]:addmv(1, g:t(), self.ones)
end

-- A layer whose three functions of THNN take weight and bias. `buffers` counts tensors for scratch, and `geometry` holds the numbers.
local Windows = torch.class("net.Windows", "net.Layer", net)

function Windows:__init(name, buffers, geometry, sizes, frame)
    Layer.__init(self)
    self.name, self.geometry, self.frame, self.buffers = name, geometry, frame or {}, {}
    self:weight(unpack(sizes))
    self:weight(sizes[1])
    for i = 1, buffers do self.buffers[i] = torch.Tensor() end
end

-- Calls a function with tensors, buffers, the geometry and further numbers.
function Windows:run(f, x, list, ...)
    for _, buffer in ipairs(self.buffers) do list[#list + 1] = buffer end
    for i, t in ipairs(list) do list[i] = t:cdata() end
    for _, n in ipairs(self.geometry) do list[#list + 1] = n end
    for _, n in ipairs({ ... }) do list[#list + 1] = n end
    x.THNN[self.name .. f](unpack(list))
end

function Windows:forward(x)
    self:run("_updateOutput", x, { x, self.output, self.weights[1], self.weights[2] }, unpack(self.frame))
    return self.output
end

function Windows:gradient(x, g)
    self:run("_updateGradInput", x, { x, g, self.gradInput, self.weights[1] })
    return self.gradInput
end

function Windows:accumulate(x, g) self:run("_accGradParameters", x, { x, g, self.grads[1], self.grads[2] }, 1) end

--- A convolution of images with kernels of `k` by `k`.
function net.Conv(planes, outputs, k, pad)
    return net.Windows("SpatialConvolutionMM", 2, { k, k, 1, 1, pad, pad }, { outputs, planes * k * k })
end

--- A convolution of sequences with kernels of `k` frames.
function net.Frames(inputs, outputs, k)
    return net.Windows("TemporalConvolution", 0, { k, 1 }, { outputs, inputs * k }, { inputs, outputs })
end

local Pool = torch.class("net.Pool", "net.Layer", net)

function Pool:__init(name, ...)
    Layer.__init(self)
    self.name, self.geometry, self.indices = name, { ... }, torch.LongTensor()
end

function Pool:forward(x)
    x.THNN[self.name .. "_updateOutput"](x:cdata(), self.output:cdata(), self.indices:cdata(), unpack(self.geometry))
    return self.output
end

function Pool:gradient(x, g)
    local f = x.THNN[self.name .. "_updateGradInput"]
    f(x:cdata(), g:cdata(), self.gradInput:cdata(), self.indices:cdata(), unpack(self.geometry))
    return self.gradInput
end

local Norm = torch.class("net.Norm", "net.Layer", net)

Norm.__version = 3

function Norm:__init(planes)
    Layer.__init(self)
    self:weight(planes)
    self:weight(planes)
    self.mean, self.var = torch.zeros(planes), torch.ones(planes)
    self.save_mean, self.save_std = torch.zeros(planes), torch.zeros(planes)
end

-- Returns the pointers of the tensors that both functions take.
function Norm:statistics() return self.mean:cdata(), self.var:cdata(), self.save_mean:cdata(), self.save_std:cdata() end

function Norm:read(file, version)
    for k, v in pairs(file:readObject()) do self[k] = v end
    self.loaded = version
end

function Norm:forward(x)
    local mean, var, save_mean, save_std = self:statistics()
    x.THNN.BatchNormalization_updateOutput(x:cdata(), self.output:cdata(), self.weights[1]:cdata(), self.weights[2]:cdata(), mean, var,
        save_mean, save_std, not self.fixed, 0.1, 1e-5)
    return self.output
end

function Norm:backward(x, g)
    self.gradInput:resizeAs(x)
    local mean, var, save_mean, save_std = self:statistics()
    x.THNN.BatchNormalization_backward(x:cdata(), g:cdata(), optional(self.gradInput), optional(self.grads[1]), optional(self.grads[2]),
        optional(self.weights[1]), mean, var, save_mean, save_std, not self.fixed, 1, 1e-5)
    return self.gradInput
end

local Lookup = torch.class("net.Lookup", "net.Layer", net)

function Lookup:__init(words, size)
    Layer.__init(self)
    self:weight(words, size)
    self.count = torch.IntTensor()
end

function Lookup:forward(x)
    self.output:index(self.weights[1], 1, x:view(-1))
    return self.output:view(x:size(1), x:size(2), -1)
end

function Lookup:backward(x, g)
    local grad, none = self.grads[1], optional(nil)
    grad.THNN.LookupTable_accGradParameters(x:cdata(), g:cdata(), grad:cdata(), self.count:cdata(), none, none, false, 0, 1)
end

local Flat = torch.class("net.Flat", "net.Layer", net)

function Flat:forward(x) return self.output:view(x, x:size(1), -1) end
function Flat:gradient(x, g) return self.gradInput:viewAs(g, x) end

local Chain = torch.class("net.Chain", "net.Layer", net)

function Chain:__init(...)
    Layer.__init(self)
    self.layers = { ... }
end

function Chain:each(f)
    for _, layer in ipairs(self.layers) do layer:each(f) end
end

function Chain:forward(x)
    self.inputs = {}
    for i, layer in ipairs(self.layers) do
        self.inputs[i] = x
        x = layer:forward(x)
    end
    return x
end

function Chain:backward(_, g)
    for i = #self.layers, 1, -1 do g = self.layers[i]:backward(self.inputs[i], g) end
    return g
end

-- Adds its input to the output of a chain.
local Skip = torch.class("net.Skip", "net.Chain", net)

function Skip:forward(x)
    local y = Chain.forward(self, x)
    return self.output:resizeAs(x):add(x, 1, y)
end

function Skip:backward(x, g)
    local inner = Chain.backward(self, x, g)
    return self.gradInput:resizeAs(g):copy(g):add(inner)
end

--- The loss of log probabilities, for labels from 1 on.
local Loss = torch.class("net.Loss", net)

function Loss:__init() self.output, self.total, self.gradInput = torch.Tensor(1), torch.Tensor(1), torch.Tensor() end

function Loss:forward(x, labels)
    x.THNN.ClassNLLCriterion_updateOutput(x:cdata(), labels:cdata(), self.output:cdata(), true, optional(nil), self.total:cdata())
    return self.output[1]
end

function Loss:backward(x, labels)
    self.gradInput:resizeAs(x):zero()
    x.THNN.ClassNLLCriterion_updateGradInput(x:cdata(), labels:cdata(), self.gradInput:cdata(), true, optional(nil), self.total:cdata())
    return self.gradInput
end

--- Moves tensors into one new vector, and returns the vector. Tensors of one storage stay views of one another.
function net.flatten(list)
    local offsets, total = {}, 0
    for _, t in ipairs(list) do
        local key = torch.pointer(t:storage())
        if not offsets[key] then
            offsets[key] = total
            total = total + t:storage():size()
        end
    end
    local flat = list[1].new(total)
    for _, t in ipairs(list) do
        local storage, offset, size, stride = t:storage(), t:storageOffset(), t:size(), t:stride()
        local start = offsets[torch.pointer(storage)]
        flat[{ { start + 1, start + storage:size() } }]:copy(list[1].new():set(storage))
        offsets[t] = { flat:storage(), start + offset, size, stride }
    end
    for _, t in ipairs(list) do t:set(unpack(offsets[t])) end
    return flat
end

--- Converts the tensors of real numbers in a table. Tensors of one storage share one storage again.
function net.convert(object, type_name, seen)
    seen = seen or {}
    local storage_type = type_name:gsub("Tensor", "Storage")
    for key, value in pairs(object) do
        if torch.isTensor(value) and (value:type():find("Double") or value:type():find("Float")) then
            local storage, r = value:storage(), torch.getmetatable(type_name).new()
            if storage then
                local id = torch.pointer(storage)
                seen[id] = seen[id] or torch.getmetatable(storage_type).new():resize(storage:size()):copy(storage)
                r:set(seen[id], value:storageOffset(), value:size(), value:stride())
            end
            object[key] = r
        elseif type(value) == "table" then
            net.convert(value, type_name, seen)
        end
    end
    return object
end

--- Copies a layer through a file in memory.
function net.clone(layer)
    local file = torch.MemoryFile("rw"):binary()
    file:writeObject(layer)
    file:seek(1)
    local copy = file:readObject()
    file:close()
    return copy
end

--- Adam's update of `x` by the gradient `g`.
function net.adam(x, g, rate, state)
    state.t = (state.t or 0) + 1
    state.m = state.m or x.new(g:size()):zero()
    state.v = state.v or x.new(g:size()):zero()
    state.denominator = state.denominator or x.new(g:size())
    state.m:mul(0.9):add(0.1, g)
    state.v:mul(0.999):addcmul(0.001, g, g)
    state.denominator:copy(state.v):sqrt():add(1e-8)
    x:addcdiv(-rate * math.sqrt(1 - 0.999 ^ state.t) / (1 - 0.9 ^ state.t), state.m, state.denominator)
end

return net
