// A training step of a small convolutional net: forward, backward with the gradient functions, and the update of the
// weights. net.py is the same net in PyTorch.
#include <thorn.h>

enum { WEIGHT1, BIAS1, WEIGHT2, BIAS2, WEIGHT3, BIAS3, WEIGHTS };

static const double RATE = 0.05;

// The sizes of the weights, which are stored consecutively in one tensor.
static const struct {
    int ndim;
    int64_t size[4], count;
} WEIGHT[WEIGHTS] = {
    {4, {16, 1, 3, 3}, 144}, {1, {16}, 16},      // the first convolution
    {4, {32, 16, 3, 3}, 4608}, {1, {32}, 32},    // the second one
    {2, {10, 128}, 1280}, {1, {10}, 10},         // the linear layer
};

// One block of the net, `pooled` = maxPool2d(relu(conv2d)), with the gradients of its results.
typedef struct {
    THTensor *active, *pooled, *places, *gradActive, *gradPooled;
} Block;

// The handles of a net, which keep their memory between steps.
typedef struct {
    THTensor *weight[WEIGHTS], *grad[WEIGHTS];
    Block first, second;
    THTensor *rows, *turned, *logp, *loss, *one, *gradLogp, *gradScores, *gradRows;
} Net;

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        THStatus status = (call);                                                                                      \
        if (status != TH_OK) return status;                                                                            \
    } while (0)

static void makeNet(Net *net) {
    THTensor **handles = (THTensor **)net;
    for (size_t k = 0; k < sizeof *net / sizeof *handles; k++) handles[k] = THTensor_new();
    THTensor_free(net->one);
    net->one = THTensor_newOnes(TH_FLOAT32, 0, NULL);
}

// Makes the net's weights views of `all`, without copies.
static THStatus takeWeights(const Net *net, const THTensor *all) {
    int64_t first = 0;
    for (int k = 0; k < WEIGHTS; first += WEIGHT[k++].count) {
        TRY(THTensor_narrow(net->weight[k], all, 0, first, WEIGHT[k].count));
        TRY(THTensor_view(net->weight[k], net->weight[k], WEIGHT[k].ndim, WEIGHT[k].size));
    }
    return TH_OK;
}

static THStatus blockForward(const Block *block, const THTensor *x, THTensor *const *weight) {
    TRY(THTensor_conv2dUniform(block->active, x, weight[0], weight[1], 1, 1));
    TRY(THTensor_relu(block->active, block->active));
    return THTensor_maxPool2dUniform(block->pooled, block->places, block->active, 2, 2, 0);
}

static THStatus blockBackward(const Block *block, const THTensor *x, THTensor *const *weight, THTensor *const *grad) {
    TRY(THTensor_maxPoolGradInput(block->gradActive, block->gradPooled, block->places, block->active, 2));
    TRY(THTensor_reluGrad(block->gradActive, block->gradActive, block->active));
    TRY(THTensor_convolutionGradWeightUniform(grad[0], block->gradActive, x, weight[0], 1, 1));
    return THTensor_convolutionGradBias(grad[1], block->gradActive, 2);
}

static THStatus forward(const Net *net, const THTensor *x, const THTensor *target) {
    TRY(blockForward(&net->first, x, net->weight + WEIGHT1));
    TRY(blockForward(&net->second, net->first.pooled, net->weight + WEIGHT2));
    TRY(THTensor_view(net->rows, net->second.pooled, 2, (int64_t[]){-1, 128}));
    TRY(THTensor_t(net->turned, net->weight[WEIGHT3]));
    TRY(THTensor_addmm(net->logp, 1, net->weight[BIAS3], 1, net->rows, net->turned));
    TRY(THTensor_logSoftmax(net->logp, net->logp, 1));
    return THTensor_nllLoss(net->loss, net->logp, target, NULL, TH_REDUCTION_MEAN, -100);
}

static THStatus backward(const Net *net, const THTensor *x, const THTensor *target) {
    const Block *first = &net->first, *second = &net->second;
    TRY(THTensor_nllLossGrad(net->gradLogp, net->one, net->logp, target, NULL, TH_REDUCTION_MEAN, -100));
    TRY(THTensor_logSoftmaxGrad(net->gradScores, net->gradLogp, net->logp, 1));
    TRY(THTensor_t(net->turned, net->gradScores));
    TRY(THTensor_mm(net->grad[WEIGHT3], net->turned, net->rows));
    TRY(THTensor_sum(net->grad[BIAS3], net->gradScores, 0, 0));
    TRY(THTensor_mm(net->gradRows, net->gradScores, net->weight[WEIGHT3]));
    TRY(THTensor_viewAs(second->gradPooled, net->gradRows, second->pooled));
    TRY(blockBackward(second, first->pooled, net->weight + WEIGHT2, net->grad + WEIGHT2));
    TRY(THTensor_convolutionGradInputUniform(first->gradPooled, second->gradActive, net->weight[WEIGHT2], first->pooled,
                                             1, 1));
    return blockBackward(first, x, net->weight + WEIGHT1, net->grad + WEIGHT1);
}

// Trains the weights in `all` by one step on the pictures `x` with the classes `target`.
static THStatus netStep(THTensor *all, const THTensor *x, const THTensor *target) {
    static Net net;
    if (!net.one) makeNet(&net);
    TRY(takeWeights(&net, all));
    TRY(forward(&net, x, target));
    TRY(backward(&net, x, target));
    for (int k = 0; k < WEIGHTS; k++) TRY(THTensor_cadd(net.weight[k], net.weight[k], -RATE, net.grad[k]));
    return TH_OK;
}
