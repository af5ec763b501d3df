// Training steps with recorded gradients: forward, THTensor_backward, and the update of the weights; steps of optimizers. grad.py does the
// same in PyTorch.
#include <string.h>
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

enum { MOST_ROWS = 1000 };

// The rows of a matrix as parameters, whose gradients are the rows of `grads`.
typedef struct {
    const THTensor *all, *grads;
    const void *data;
    int count;
    THTensor *row[MOST_ROWS], *grad[MOST_ROWS];
} Rows;

// Makes the parameters anew if the matrix is another one. Returns 1 if so, 0 if not, and -1 for a failure.
static int takeRows(Rows *rows, const THTensor *all, const THTensor *grads) {
    if (rows->all == all && rows->grads == grads && rows->data == THTensor_data(all)) return 0;
    int count = (int)THTensor_size(all, 0);
    if (count > MOST_ROWS || THGrad_setEnabled(0)) return -1;
    for (int k = 0; k < count; k++) {
        THTensor_free(rows->row[k]);
        THTensor_free(rows->grad[k]);
        rows->row[k] = THTensor_newSelect(all, 0, k);
        rows->grad[k] = THTensor_newSelect(grads, 0, k);
        if (THTensor_setRequiresGrad(rows->row[k], 1) || THTensor_setGrad(rows->row[k], rows->grad[k])) return -1;
    }
    rows->all = all, rows->grads = grads, rows->data = THTensor_data(all), rows->count = count;
    return THGrad_setEnabled(1) ? -1 : 1;
}

static THOptim *newOptim(const char *name, THTensor **row, int count) {
    if (!strcmp(name, "Adam")) return THOptim_newAdam(row, count, 1e-3, 0.9, 0.999, 1e-8, 0, 0);
    if (!strcmp(name, "Adamw")) return THOptim_newAdamw(row, count, 1e-3, 0.9, 0.999, 1e-8, 0.01, 0);
    if (!strcmp(name, "Sgd")) return THOptim_newSgd(row, count, 1e-3, 0.9, 0, 0, 0);
    if (!strcmp(name, "Rmsprop")) return THOptim_newRmsprop(row, count, 1e-2, 0.99, 1e-8, 0, 0, 0);
    if (!strcmp(name, "Adagrad")) return THOptim_newAdagrad(row, count, 1e-2, 0, 0, 0, 1e-10);
    if (!strcmp(name, "Adadelta")) return THOptim_newAdadelta(row, count, 1, 0.9, 1e-6, 0);
    if (!strcmp(name, "Nadam")) return THOptim_newNadam(row, count, 2e-3, 0.9, 0.999, 1e-8, 0, 4e-3, 0);
    if (!strcmp(name, "Radam")) return THOptim_newRadam(row, count, 1e-3, 0.9, 0.999, 1e-8, 0, 0);
    if (!strcmp(name, "Lamb")) return THOptim_newLamb(row, count, 1e-3, 0.9, 0.999, 1e-6, 0);
    return THOptim_newAdafactor(row, count, 1e-2, -0.8, 1e-30, 1e-3, 1, 0);
}

// A step of an optimizer. The parameters are the rows of `all`, and the gradients the rows of `grads`.
static THStatus gradOptim(const char *name, THTensor *all, const THTensor *grads) {
    static Rows rows;
    static THOptim *optim;
    static char known[16];
    int made = takeRows(&rows, all, grads);
    if (made < 0) return THGetLastErrorCode();
    if (made || strcmp(known, name)) {
        THOptim_free(optim);
        optim = newOptim(name, rows.row, rows.count);
        strncpy(known, name, sizeof known - 1);
    }
    return optim ? THOptim_step(optim) : THGetLastErrorCode();
}

// Limits the norm (way 0) or the elements (1) of the gradients in the rows of `grads`, or divides the gradients by 1 (2).
static THStatus gradClip(int way, THTensor *grads) {
    static Rows rows;
    if (takeRows(&rows, grads, grads) < 0) return THGetLastErrorCode();
    if (way == 0) return THGrad_clipNorm(rows.row, rows.count, 1, 2) >= 0 ? TH_OK : THGetLastErrorCode();
    if (way == 1) return THGrad_clipValue(rows.row, rows.count, 0.05);
    return THGrad_unscale(rows.row, rows.count, 1) >= 0 ? TH_OK : THGetLastErrorCode();
}

// The rows of `averages` move towards the rows of `all`.
static THStatus gradAverage(THTensor *averages, const THTensor *all) {
    static Rows rows;
    if (takeRows(&rows, averages, all) < 0) return THGetLastErrorCode();
    return THGrad_average(rows.row, rows.count, rows.grad, rows.count, 0.999);
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

// r = the gradients of the weights of a recurrent layer without biases, for half the sum of the squared outputs. `layer` is 'l' for an LSTM,
// 'g' for a GRU and 'r' for a net with tanh.
static THStatus gradRecurrent(char layer, THTensor *r, const THTensor *x, THTensor *wih, THTensor *whh) {
    static THTensor *output, *reserve;
    THTensor *weights[] = {wih, whh};
    if (!output) output = THTensor_new(), reserve = THTensor_new();
    if (layer == 'r') {
        TRY(THTensor_rnn(output, NULL, reserve, x, NULL, weights, 2, NULL, 1, 0, 0, 0));
        return THTensor_rnnGrad(NULL, NULL, r, reserve, output, NULL, x, NULL, weights, 2, NULL, 1, 0, 0, 0);
    }
    if (layer == 'l') {
        TRY(THTensor_lstm(output, NULL, NULL, reserve, x, NULL, NULL, weights, 2, NULL, 1, 0, 0));
        return THTensor_lstmGrad(NULL, NULL, NULL, r, reserve, output, NULL, NULL, x, NULL, NULL, weights, 2, NULL, 1, 0, 0);
    }
    TRY(THTensor_gru(output, NULL, reserve, x, NULL, weights, 2, NULL, 1, 0, 0));
    return THTensor_gruGrad(NULL, NULL, r, reserve, output, NULL, x, NULL, weights, 2, NULL, 1, 0, 0);
}
