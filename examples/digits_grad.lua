-- Learns to recognise handwritten digits in LuaJIT: a convolutional net, trained by gradient descent with automatic derivatives.
--
--     luajit examples/digits_grad.lua [digits.csv]
--
-- THORN_LIBRARY names the library if it is not in this source tree. digits_grad.c is the same program in C.

local root = (arg[0]:match("^(.*)[/\\]") or ".") .. "/.."
package.path = root .. "/lua/?.lua;" .. package.path

local thorn = require("thorn.dynamic")

local SIDE, CLASSES, INK = 8, 10, 16
local SEED, BATCH, EPOCHS, LEARNING_RATE, DECAY, REQUIRED_ACCURACY = 1, 32, 15, 0.01, 0.1, 0.985

local function count(t) return t:size(1) end

-- Pictures, [n x 1 x 8 x 8], and their classes, [n]. Classes are positions of scores, so they count from 1.
local function set_of(rows)
    local pixels, label = thorn.narrow(rows, 2, 1, SIDE * SIDE), thorn.select(rows, 2, SIDE * SIDE + 1)
    return { x = thorn.view(thorn.div(pixels, INK), -1, 1, SIDE, SIDE), y = thorn.add(thorn.to(label, "int64"), 1) }
end

-- Returns the digits of a file in random order: one in five for the test, the others for training.
local function read_digits(path)
    local rows = thorn.to(thorn.load(path), "float32")
    rows = thorn.indexSelect(rows, 1, thorn.randperm(count(rows), { dtype = "int64" }))
    local held_out = math.floor(count(rows) / 5)
    return set_of(thorn.narrow(rows, 1, held_out + 1, count(rows) - held_out)), set_of(thorn.narrow(rows, 1, 1, held_out))
end

-- Marks a weight: operations on the weight, and on tensors computed from it, are recorded from now on.
local function leaf(t) return t:setRequiresGrad(true) end

-- Random numbers with the deviation that preserves the magnitude of activations through a layer with relu.
local function weight(inputs, ...) return leaf(thorn.mul(thorn.randn(...), math.sqrt(2 / inputs))) end

local function new_net()
    return {
        kernels1 = weight(1 * 9, 16, 1, 3, 3), bias1 = leaf(thorn.zeros(16)),
        kernels2 = weight(16 * 9, 32, 16, 3, 3), bias2 = leaf(thorn.zeros(32)),
        w = weight(32 * 4, 32 * 4, CLASSES), b = leaf(thorn.zeros(CLASSES)),
    }
end

-- Returns maxPool2x2(relu(convolution of x)).
local function convolve(x, kernels, bias)
    local active = thorn.relu(thorn.conv2d(x, kernels, bias, { padding = 1 }))
    return thorn.maxPool2d(active, { 2, 2 }, { indices = false })
end

-- Returns scores of the classes, [n x 10].
local function forward(net, x)
    x = convolve(x, net.kernels1, net.bias1)
    x = convolve(x, net.kernels2, net.bias2)
    return thorn.addmm(net.b, thorn.view(x, -1, 32 * 4), net.w)
end

-- Trains once on the set in random order, and returns the mean loss. Digits that do not fill a batch are skipped.
local function train_epoch(net, optimizer, set)
    local order, total, batches = thorn.randperm(count(set.y), { dtype = "int64" }), 0, math.floor(count(set.y) / BATCH)
    for batch = 0, batches - 1 do
        local rows = thorn.narrow(order, 1, batch * BATCH + 1, BATCH)
        local scores = forward(net, thorn.indexSelect(set.x, 1, rows))
        local loss = thorn.crossEntropy(scores, thorn.indexSelect(set.y, 1, rows))
        -- Backward adds to existing gradients.
        optimizer:zeroGrad()
        loss:backward()
        optimizer:step()
        total = total + thorn.item(loss)
    end
    return total / batches
end

-- Returns the accuracy on the set, without recording.
local function accuracy_on(net, set)
    return thorn.no_grad(function()
        local guess = thorn.argmax(forward(net, set.x), 2)
        return thorn.sumall(thorn.eq(guess, set.y)) / count(set.y)
    end)
end

thorn.manual_seed(SEED)
local train, test = read_digits(arg[1] or root .. "/examples/data/digits.csv")
local net = new_net()
local leaves = { net.kernels1, net.bias1, net.kernels2, net.bias2, net.w, net.b }
local optimizer = thorn.Optim.newAdamw(leaves, { lr = LEARNING_RATE, weightDecay = DECAY })
local accuracy
for epoch = 1, EPOCHS do
    -- The learning rate decreases.
    optimizer:setLr(LEARNING_RATE * (EPOCHS + 1 - epoch) / EPOCHS)
    local loss = train_epoch(net, optimizer, train)
    accuracy = accuracy_on(net, test)
    print(("epoch %2d  loss %.4f  held-out accuracy %5.2f %%"):format(epoch, loss, 100 * accuracy))
end
os.exit(accuracy >= REQUIRED_ACCURACY and 0 or 1, true)
