-- Trains a convolutional net on small colour pictures, writes checkpoints, and continues from them after a crash. This is cifar_like.c in
-- Lua: the programs compute the same bits, and continue from each other's checkpoints.
--
--     luajit examples/cifar_like.lua [--epochs N] [--pictures N] [--accuracy X] [--checkpoint NAME]
--
-- The program can be killed at any time, also by SIGKILL. A second call continues after the last complete epoch, and ends with the
-- same bits as a run that was never killed. THORN_LIBRARY names the library if it is not in this source tree.

local root = (arg[0]:match("^(.*)[/\\]") or ".") .. "/.."
package.path = root .. "/lua/?.lua;" .. package.path

local ffi = require("ffi")
local thorn = require("thorn.dynamic")

local SIDE, CHANNELS, SHAPES = 32, 3, 5
local CLASSES, LAYERS, WIDTH = 2 * SHAPES, 3, 32
local FEATURES = WIDTH * (SIDE / 2 ^ LAYERS) ^ 2
local BATCH, MOST_SHIFT, LEARNING_RATE, DECAY, SEED = 50, 4, 0.01, 0.1, 1

-- The distance from the centre of each shape, where 1 is the outline: disc, square, diamond, triangle, cross.
local DISTANCE = {
    "sqrt(x*x + y*y)", "max(abs(x), abs(y))", "abs(x) + abs(y)", "max(abs(x) + y/2, -y)",
    "min(max(3*abs(x), abs(y)), max(abs(x), 3*abs(y)))",
}

-- A picture. Its inputs are random numbers, and the coordinates of pixels. The shape has the complement of the background's colour.
local PICTURE = "r = 8 + 4*size; x = (column - 12 - 7*left) / r; y = (row - 12 - 7*top) / r; d = %s;"
    .. "inside = (d < 1) * (d >= %g); background + inside * (1 - 2*background) + 0.1*noise"

-- Draws pictures of a class. The second half of the classes are shapes with a hole.
local function draw(count, class)
    local picture = thorn.Fused(PICTURE:format(DISTANCE[(class - 1) % SHAPES + 1], class <= SHAPES and 0 or 0.5))
    local pixels = thorn.arange(0, SIDE, { dtype = "float32" })
    local size, left, top = thorn.rand(count, 1, 1, 1), thorn.rand(count, 1, 1, 1), thorn.rand(count, 1, 1, 1)
    local background, noise = thorn.rand(count, CHANNELS, 1, 1), thorn.randn(count, CHANNELS, SIDE, SIDE)
    local column, row = thorn.view(pixels, 1, 1, 1, SIDE), thorn.view(pixels, 1, 1, SIDE, 1)
    -- In the order in which the expression names them.
    return picture:run(size, column, left, row, top, background, noise)
end

-- Draws `count` pictures, the same number of each class: [n x 3 x 32 x 32], and their classes, [n], which count from 1.
local function new_set(count)
    local x, y, each = {}, {}, math.floor(count / CLASSES)
    for class = 1, CLASSES do
        x[class], y[class] = draw(each, class), thorn.full({ each }, class, { dtype = "int64" })
    end
    return { x = thorn.cat(x, 1), y = thorn.cat(y, 1), count = each * CLASSES }
end

-- Random numbers whose deviation is the root of `variance`.
local function random_weight(variance, ...) return thorn.normal(thorn.zeros(...), 0, math.sqrt(variance)) end

-- The tensors of a net by their names in a checkpoint, and the names in the order of the optimizer. The statistics, which batch
-- normalization uses outside of training, are at the end, because the optimizer does not change them. The variance of weights
-- preserves the magnitude of activations through a layer with relu.
local function new_net()
    local net, weights, statistics = {}, {}, {}
    local function add(list, name, tensor)
        net[name] = tensor
        list[#list + 1] = name
    end
    for i = 1, LAYERS do
        local inputs = i == 1 and CHANNELS or WIDTH
        add(weights, "kernels" .. i, random_weight(2 / (9 * inputs), WIDTH, inputs, 3, 3))
        add(weights, "scale" .. i, thorn.ones(WIDTH))
        add(weights, "shift" .. i, thorn.zeros(WIDTH))
        add(statistics, "mean" .. i, thorn.zeros(WIDTH))
        add(statistics, "variance" .. i, thorn.ones(WIDTH))
    end
    add(weights, "w", random_weight(1 / FEATURES, FEATURES, CLASSES))
    add(weights, "b", thorn.zeros(CLASSES))
    local leaves, names = {}, {}
    for i, name in ipairs(weights) do leaves[i], names[i] = net[name]:setRequiresGrad(true), name end
    for _, name in ipairs(statistics) do names[#names + 1] = name end
    return net, leaves, names
end

-- Returns the scores of the classes, [n x 10]. In training, batch normalization updates the statistics.
local function forward(net, x, training)
    for i = 1, LAYERS do
        x = thorn.conv2d(x, net["kernels" .. i], { padding = 1 })
        x = thorn.batchNorm(x, net["scale" .. i], net["shift" .. i], net["mean" .. i], net["variance" .. i],
            { training = training, mean = false, invstd = false })
        x = thorn.maxPool2d(thorn.relu(x), { 2, 2 }, { indices = false })
    end
    return thorn.addmm(net.b, thorn.view(x, -1, FEATURES), net.w)
end

-- Writes a checkpoint. The library writes the file under a temporary name and renames it when it is complete.
local function save(run, name)
    local file = thorn.Archive.create(name .. ".pt")
    for _, key in ipairs(run.names) do file:add(key, run.net[key]) end
    run.optimizer:add(file, "optimizer")
    file:add("random", thorn.getRNGState())
    file:add("epoch", thorn.full({}, run.epoch, { dtype = "int64" }))
    file:close()
end

-- Reads a checkpoint. Without a checkpoint the run is unchanged.
local function load(run, name)
    local exists = io.open(name .. ".pt")
    if not exists then return end
    exists:close()
    local file = thorn.Archive.open(name .. ".pt")
    thorn.no_grad(function()
        for _, key in ipairs(run.names) do file:copy(key, { out = run.net[key] }) end
    end)
    thorn.setRNGState(file:newFind("random"))
    run.epoch = thorn.item(file:newFind("epoch"))
    run.optimizer:read(file, "optimizer")
    print(("continue after epoch %d of %s.pt"):format(run.epoch, name))
end

-- Shifts each picture by up to MOST_SHIFT pixels in both directions, and mirrors every other one.
local function augment(x)
    local padded = thorn.pad(x, { MOST_SHIFT, MOST_SHIFT, MOST_SHIFT, MOST_SHIFT }, { mode = "reflect" })
    for i = 1, BATCH do
        local from, to = thorn.select(padded, 1, i), thorn.select(x, 1, i)
        for d = 2, 3 do from = thorn.narrow(from, d, 1 + math.floor(thorn.Random.uniform(0, 2 * MOST_SHIFT + 1)), SIDE) end
        if thorn.Random.bernoulli(0.5) then thorn.flip(from, { 3 }, { out = to }) else thorn.copy(from, { out = to }) end
    end
end

-- Returns the accuracy, without recording and with the statistics of the training.
local function evaluate(net, set)
    return thorn.no_grad(function()
        local guess = thorn.argmax(forward(net, set.x, false), 2)
        return thorn.sumall(thorn.eq(guess, set.y)) / set.count
    end)
end

ffi.cdef("int isatty(int fd);")

-- Rewrites one line of a terminal, and clears it after the last batch. Other outputs get no progress bar.
local function show_progress(epoch, batch, batches, loss)
    local length = 40
    if ffi.C.isatty(2) == 0 then return end
    local done = math.floor(length * batch / batches)
    io.stderr:write(("\repoch %2d  [%s%s]  loss %.4f"):format(epoch, ("#"):rep(done), (" "):rep(length - done), loss))
    if batch == batches then io.stderr:write("\r\027[K") end
end

-- Trains until `options.epochs` epochs are complete. Pictures that do not fill a batch are skipped.
local function train(run, options, set, held_out)
    local batches = math.floor(set.count / BATCH)
    while run.epoch < options.epochs do
        local sum, order = 0, thorn.randperm(set.count, { dtype = "int64" })
        for batch = 0, batches - 1 do
            local rows = thorn.narrow(order, 1, batch * BATCH + 1, BATCH)
            local x = thorn.indexSelect(set.x, 1, rows)
            augment(x)
            local loss = thorn.crossEntropy(forward(run.net, x, true), thorn.indexSelect(set.y, 1, rows))
            run.optimizer:zeroGrad()
            loss:backward()
            run.optimizer:setLr(thorn.Schedule.oneCycle(run.epoch * batches + batch, LEARNING_RATE, options.epochs * batches))
            run.optimizer:step()
            sum = sum + thorn.item(loss)
            show_progress(run.epoch + 1, batch + 1, batches, sum / (batch + 1))
        end
        local accuracy = evaluate(run.net, held_out)
        run.epoch = run.epoch + 1
        save(run, options.checkpoint)
        print(("epoch %2d  loss %.6f  held-out accuracy %5.2f %%"):format(run.epoch, sum / batches, 100 * accuracy))
        io.stdout:flush()
    end
end

local options = { epochs = 6, pictures = 3000, accuracy = 0.9, checkpoint = "cifar_like" }
for i = 1, #arg, 2 do
    local name = arg[i]:match("^%-%-(.*)$")
    local value = name == "checkpoint" and arg[i + 1] or tonumber(arg[i + 1])
    if not options[name] or not value then
        error("usage: cifar_like.lua [--epochs N] [--pictures N] [--accuracy X] [--checkpoint NAME]", 0)
    end
    options[name] = value
end

thorn.manual_seed(SEED)
local set, held_out = new_set(options.pictures), new_set(math.floor(options.pictures / 5))
local net, leaves, names = new_net()
local run = { net = net, names = names, epoch = 0 }
run.optimizer = thorn.Optim.newAdamw(leaves, { lr = LEARNING_RATE, weightDecay = DECAY })
load(run, options.checkpoint)
train(run, options, set, held_out)
local accuracy = evaluate(net, held_out)
print(("test accuracy %.2f %%"):format(100 * accuracy))
os.exit(accuracy >= options.accuracy and 0 or 1, true)
