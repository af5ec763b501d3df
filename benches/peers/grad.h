// Training steps with recorded gradients: forward, THTensor_backward, and the update of the weights; steps of optimizers. grad.py does the
// same in PyTorch.
#include <thorn.h>

// The leaves of a model, which are consecutive views of one tensor.
typedef struct {
    const THTensor *all;
    THTensor *leaf[WEIGHTS];
} Leaves;

// Makes the leaves from `all`, with the given sizes, and frees the previous leaves.
static THStatus takeLeaves(Leaves *leaves, const THTensor *all, int count, const int *ndim, const int64_t (*size)[4]) {
    if (leaves->all == all) return TH_OK;
    TRY(THGrad_setEnabled(0));
    int64_t first = 0;
    for (int k = 0; k < count; k++) {
        int64_t numel = 1;
        for (int d = 0; d < ndim[k]; d++) numel *= size[k][d];
        THTensor *part = THTensor_newNarrow(all, 0, first, numel);
        THTensor_free(leaves->leaf[k]);
        leaves->leaf[k] = THTensor_newView(part, ndim[k], size[k]);
        THTensor_free(part);
        TRY(THTensor_setRequiresGrad(leaves->leaf[k], 1));
        first += numel;
    }
    leaves->all = all;
    return THGrad_setEnabled(1);
}

// A step of gradient descent from the loss.
static THStatus descend(const Leaves *leaves, int count, const THTensor *loss) {
    TRY(THTensor_backward(loss, NULL));
    TRY(THGrad_setEnabled(0));
    for (int k = 0; k < count; k++) {
        THTensor *leaf = leaves->leaf[k], *grad = THTensor_newGrad(leaf);
        THStatus updated = THTensor_cadd(leaf, leaf, -RATE, grad);
        THTensor_free(grad);
        TRY(updated);
        TRY(THTensor_setGrad(leaf, NULL));
    }
    return THGrad_setEnabled(1);
}

// r = x @ weight^T + bias. `turned` is a handle for the transposed view.
static THStatus linear(THTensor *r, THTensor *turned, const THTensor *x, const THTensor *weight, const THTensor *bias) {
    TRY(THTensor_t(turned, weight));
    return THTensor_addmm(r, 1, bias, 1, x, turned);
}

// A training step of a net with two layers, 64-128-10.
static THStatus gradMlp(THTensor *all, const THTensor *x, const THTensor *target) {
    static const int ndim[] = {2, 1, 2, 1};
    static const int64_t size[][4] = {{128, 64}, {128}, {10, 128}, {10}};
    static Leaves net;
    static THTensor *hidden, *scores, *turned, *turned2, *loss;
    TRY(takeLeaves(&net, all, 4, ndim, size));
    if (!hidden) {
        hidden = THTensor_new(), scores = THTensor_new(), loss = THTensor_new();
        turned = THTensor_new(), turned2 = THTensor_new();
    }
    TRY(linear(hidden, turned, x, net.leaf[0], net.leaf[1]));
    TRY(THTensor_relu(hidden, hidden));
    TRY(linear(scores, turned2, hidden, net.leaf[2], net.leaf[3]));
    TRY(THTensor_crossEntropy(loss, scores, target, NULL, TH_REDUCTION_MEAN, -100));
    return descend(&net, 4, loss);
}

// A training step of the net in net.h.
static THStatus gradNet(THTensor *all, const THTensor *x, const THTensor *target) {
    static const int ndim[] = {4, 1, 4, 1, 2, 1};
    static const int64_t size[][4] = {{16, 1, 3, 3}, {16}, {32, 16, 3, 3}, {32}, {10, 128}, {10}};
    static Leaves net;
    static THTensor *active[2], *pooled[2], *rows, *turned, *scores, *loss;
    TRY(takeLeaves(&net, all, WEIGHTS, ndim, size));
    if (!rows) {
        for (int k = 0; k < 2; k++) active[k] = THTensor_new(), pooled[k] = THTensor_new();
        rows = THTensor_new(), turned = THTensor_new(), scores = THTensor_new(), loss = THTensor_new();
    }
    for (int k = 0; k < 2; k++) {
        TRY(THTensor_conv2dUniform(active[k], k ? pooled[0] : x, net.leaf[2 * k], net.leaf[2 * k + 1], 1, 1));
        TRY(THTensor_relu(active[k], active[k]));
        TRY(THTensor_maxPool2dUniform(pooled[k], NULL, active[k], 2, 2, 0));
    }
    TRY(THTensor_view(rows, pooled[1], 2, (int64_t[]){-1, 128}));
    TRY(linear(scores, turned, rows, net.leaf[4], net.leaf[5]));
    TRY(THTensor_crossEntropy(loss, scores, target, NULL, TH_REDUCTION_MEAN, -100));
    return descend(&net, WEIGHTS, loss);
}

// A step of Adam. The parameters are the rows of `all`, and the gradients the rows of `grads`.
static THStatus gradAdam(THTensor *all, const THTensor *grads) {
    enum { MOST_ROWS = 1000 };
    static const THTensor *known;
    static const void *data;
    static THTensor *row[MOST_ROWS];
    static THOptim *adam;
    if (known != all || data != THTensor_data(all)) {
        int count = (int)THTensor_size(all, 0);
        if (count > MOST_ROWS) return TH_ERR_ARGUMENT;
        THOptim_free(adam);
        TRY(THGrad_setEnabled(0));
        for (int k = 0; k < count; k++) {
            THTensor_free(row[k]);
            row[k] = THTensor_newSelect(all, 0, k);
            THTensor *grad = THTensor_newSelect(grads, 0, k);
            TRY(THTensor_setRequiresGrad(row[k], 1));
            TRY(THTensor_setGrad(row[k], grad));
            THTensor_free(grad);
        }
        TRY(THGrad_setEnabled(1));
        adam = THOptim_newAdam(row, count, 1e-3, 0.9, 0.999, 1e-8, 0, 0);
        known = all, data = THTensor_data(all);
    }
    return THOptim_step(adam);
}

// r = the gradient of a * 1.0001^10000, through 10,000 operations on a scalar.
static THStatus gradChain(THTensor *r, const THTensor *a) {
    THTensor *x = THTensor_newClone(a), *h = THTensor_new();
    TRY(THTensor_setRequiresGrad(x, 1));
    TRY(THTensor_mul(h, x, 1.0001));
    for (int k = 1; k < 10000; k++) TRY(THTensor_mul(h, h, 1.0001));
    TRY(THTensor_backward(h, NULL));
    THTensor *grad = THTensor_newGrad(x);
    THStatus status = THTensor_copy(r, grad);
    THTensor_free(grad);
    THTensor_free(h);
    THTensor_free(x);
    return status;
}

// r = the gradients of the weights of a recurrent layer without biases, for half the sum of the squared outputs. `layer` is 'l' for an LSTM
// and 'g' for a GRU.
static THStatus gradRecurrent(char layer, THTensor *r, const THTensor *x, THTensor *wih, THTensor *whh) {
    static THTensor *output, *reserve;
    THTensor *weights[] = {wih, whh};
    if (!output) output = THTensor_new(), reserve = THTensor_new();
    if (layer == 'l') {
        TRY(THTensor_lstm(output, NULL, NULL, reserve, x, NULL, NULL, weights, 2, NULL, 1, 0, 0));
        return THTensor_lstmGrad(NULL, NULL, NULL, r, reserve, output, NULL, NULL, x, NULL, NULL, weights, 2, NULL, 1, 0, 0);
    }
    TRY(THTensor_gru(output, NULL, reserve, x, NULL, weights, 2, NULL, 1, 0, 0));
    return THTensor_gruGrad(NULL, NULL, r, reserve, output, NULL, x, NULL, weights, 2, NULL, 1, 0, 0);
}
