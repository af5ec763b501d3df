/* Recurrent layers: gradients compared with finite differences, states that are replaced in place, padding, and errors. The table has the
 * values of the layers, as PyTorch computed them. */
#include "check.h"

#define TIME 4
#define BATCH 3
#define INPUTS 2
#define HIDDEN 3
#define MOST_WEIGHTS 16

enum kind { LSTM, GRU, RNN };

static const int64_t gates[] = {4, 3, 1};

/* The operands of two layers in two directions: the input, the initial states and the weights. */
struct network {
    enum kind kind;
    THTensor *x, *h0, *c0, *weights[MOST_WEIGHTS], *lengths;
};

/* Numbers between -0.5 and 0.5, which depend on `seed`. */
static THTensor *numbers(int ndim, const int64_t *sizes, int seed) {
    THTensor *t = THTensor_newZeros(TH_FLOAT64, ndim, sizes);
    double *data = (double *)THTensor_data(t);
    for (int64_t i = 0; i < THTensor_numel(t); i++) data[i] = sin(1.7 * (double)i + seed) / 2;
    return t;
}

static struct network network_of(enum kind kind) {
    struct network n = {.kind = kind};
    int64_t rows = gates[kind] * HIDDEN;
    n.x = numbers(SIZES(TIME, BATCH, INPUTS), 1);
    n.h0 = numbers(SIZES(4, BATCH, HIDDEN), 2);
    n.c0 = numbers(SIZES(4, BATCH, HIDDEN), 3);
    n.lengths = vector_of(TH_INT64, 2, 4, 3);
    for (int side = 0; side < 4; side++) {
        n.weights[4 * side] = numbers(SIZES(rows, side < 2 ? INPUTS : 2 * HIDDEN), 4 + side);
        n.weights[4 * side + 1] = numbers(SIZES(rows, HIDDEN), 8 + side);
        n.weights[4 * side + 2] = numbers(SIZES(rows), 12 + side);
        n.weights[4 * side + 3] = numbers(SIZES(rows), 16 + side);
    }
    return n;
}

static void network_free(struct network *n) {
    THTensor *all[] = {n->x, n->h0, n->c0, n->lengths};
    for (int k = 0; k < 4; k++) THTensor_free(all[k]);
    for (int k = 0; k < MOST_WEIGHTS; k++) THTensor_free(n->weights[k]);
}

static THStatus forward(struct network *n, THTensor *output, THTensor *hn, THTensor *cn, THTensor *reserve) {
    switch (n->kind) {
    case LSTM:
        return THTensor_lstm(output, hn, cn, reserve, n->x, n->h0, n->c0, n->weights, MOST_WEIGHTS, n->lengths, 2, 1, 0);
    case GRU: return THTensor_gru(output, hn, reserve, n->x, n->h0, n->weights, MOST_WEIGHTS, n->lengths, 2, 1, 0);
    default: return THTensor_rnn(output, hn, reserve, n->x, n->h0, n->weights, MOST_WEIGHTS, n->lengths, 2, 1, 0, 0);
    }
}

/* The gradients `r` of the input, the states, the memories and the weights, from gradients `g` of the results. */
static THStatus backward(struct network *n, THTensor *r[4], THTensor *g[3], THTensor *reserve) {
    switch (n->kind) {
    case LSTM:
        return THTensor_lstmGrad(r[0], r[1], r[2], r[3], reserve, g[0], g[1], g[2], n->x, n->h0, n->c0, n->weights,
                                 MOST_WEIGHTS, n->lengths, 2, 1, 0);
    case GRU:
        return THTensor_gruGrad(r[0], r[1], r[3], reserve, g[0], g[1], n->x, n->h0, n->weights, MOST_WEIGHTS,
                                n->lengths, 2, 1, 0);
    default:
        return THTensor_rnnGrad(r[0], r[1], r[3], reserve, g[0], g[1], n->x, n->h0, n->weights, MOST_WEIGHTS,
                                n->lengths, 2, 1, 0, 0);
    }
}

/* The sum of the results, weighted by `g`. */
static double loss(struct network *n, THTensor *g[3]) {
    THTensor *results[3] = {THTensor_new(), THTensor_new(), THTensor_new()}, *product = THTensor_new();
    double sum = 0;
    CHECK_OK(forward(n, results[0], results[1], results[2], NULL));
    for (int k = 0; k < (n->kind == LSTM ? 3 : 2); k++) {
        CHECK_OK(THTensor_cmul(product, results[k], g[k]));
        sum += THTensor_sumall(product);
    }
    for (int k = 0; k < 3; k++) THTensor_free(results[k]);
    THTensor_free(product);
    return sum;
}

/* Moves each element of `t`, and compares the change of the loss with the gradient, `count` numbers from `gradient` on. */
static void compare(struct network *n, THTensor *g[3], THTensor *t, const double *gradient) {
    const double step = 1e-5;
    double *data = (double *)THTensor_data(t);
    for (int64_t i = 0; i < THTensor_numel(t); i++) {
        double before = data[i], up, down;
        data[i] = before + step;
        up = loss(n, g);
        data[i] = before - step;
        down = loss(n, g);
        data[i] = before;
        CHECK_NEAR(gradient[i], (up - down) / (2 * step), 1e-8);
    }
}

static void gradients_are_slopes(void) {
    for (int kind = LSTM; kind <= RNN; kind++) {
        struct network n = network_of((enum kind)kind);
        THTensor *g[3] = {numbers(SIZES(TIME, BATCH, 2 * HIDDEN), 31), numbers(SIZES(4, BATCH, HIDDEN), 32),
                          numbers(SIZES(4, BATCH, HIDDEN), 33)};
        THTensor *r[4], *output = THTensor_new(), *reserve = THTensor_new();
        for (int k = 0; k < 4; k++) r[k] = THTensor_new();
        CHECK_OK(forward(&n, output, NULL, NULL, reserve));
        CHECK_OK(backward(&n, r, g, reserve));
        compare(&n, g, n.x, (double *)THTensor_data(r[0]));
        compare(&n, g, n.h0, (double *)THTensor_data(r[1]));
        if (kind == LSTM) compare(&n, g, n.c0, (double *)THTensor_data(r[2]));
        const double *of_weights = (double *)THTensor_data(r[3]);
        for (int k = 0; k < MOST_WEIGHTS; k++) {
            compare(&n, g, n.weights[k], of_weights);
            of_weights += THTensor_numel(n.weights[k]);
        }
        CHECK_EQ(of_weights - (double *)THTensor_data(r[3]), THTensor_numel(r[3]));
        for (int k = 0; k < 4; k++) THTensor_free(r[k]);
        for (int k = 0; k < 3; k++) THTensor_free(g[k]);
        THTensor_free(output);
        THTensor_free(reserve);
        network_free(&n);
    }
}

/* Steps behind the end of a sequence may hold anything. */
static void padding_is_not_read(void) {
    struct network n = network_of(LSTM);
    THTensor *g[3] = {numbers(SIZES(TIME, BATCH, 2 * HIDDEN), 31), NULL, NULL}, *r[4], *output = THTensor_new();
    THTensor *reserve = THTensor_new(), *end = THTensor_newSelect(n.x, 0, TIME - 1), *first = THTensor_newSelect(end, 0, 0);
    for (int k = 0; k < 4; k++) r[k] = THTensor_new();
    CHECK_OK(THTensor_fill(first, NAN));
    CHECK_OK(forward(&n, output, NULL, NULL, reserve));
    CHECK_EQ(THTensor_get3d(output, TIME - 1, 0, 0) == 0, 1);
    CHECK_EQ(THTensor_get3d(output, TIME - 1, 1, 0) != 0, 1);
    CHECK_OK(backward(&n, r, g, reserve));
    for (int k = 0; k < 4; k++) CHECK(isfinite(THTensor_sumall(r[k])));
    CHECK_EQ(THTensor_get3d(r[0], TIME - 1, 0, 0) == 0, 1);
    for (int k = 0; k < 4; k++) THTensor_free(r[k]);
    THTensor *all[] = {g[0], output, reserve, end, first};
    for (int k = 0; k < 5; k++) THTensor_free(all[k]);
    network_free(&n);
}

/* A program that reads a long sequence in parts passes the same handles as initial and final states. */
static void states_are_replaced_in_place(void) {
    THTensor *wih = numbers(SIZES(12, INPUTS), 1), *whh = numbers(SIZES(12, HIDDEN), 2), *x = numbers(SIZES(TIME, 1, INPUTS), 3);
    THTensor *h = numbers(SIZES(1, 1, HIDDEN), 4), *c = numbers(SIZES(1, 1, HIDDEN), 5), *weights[] = {wih, whh};
    THTensor *h_cell = THTensor_newSelect(h, 0, 0), *c_cell = THTensor_newSelect(c, 0, 0), *output = THTensor_new();
    THTensor *own_h = THTensor_newClone(h_cell), *own_c = THTensor_newClone(c_cell);
    CHECK_OK(THTensor_lstm(output, h, c, NULL, x, h, c, weights, 2, NULL, 1, 0, 0));
    for (int t = 0; t < TIME; t++) {
        THTensor *now = THTensor_newSelect(x, 0, t), *of_step = THTensor_newSelect(output, 0, t);
        CHECK_OK(THTensor_lstmCell(own_h, own_c, NULL, now, own_h, own_c, wih, whh, NULL, NULL));
        CHECK_EQ(THTensor_allclose(own_h, of_step, 1e-14, 1e-14, 0), 1);
        THTensor_free(now);
        THTensor_free(of_step);
    }
    CHECK_EQ(THTensor_allclose(own_h, h_cell, 1e-14, 1e-14, 0), 1);
    CHECK_EQ(THTensor_allclose(own_c, c_cell, 1e-14, 1e-14, 0), 1);
    THTensor *all[] = {wih, whh, x, h, c, h_cell, c_cell, output, own_h, own_c};
    for (int k = 0; k < 10; k++) THTensor_free(all[k]);
}

static void what_is_refused(void) {
    struct network n = network_of(GRU);
    THTensor *r[4] = {THTensor_new(), THTensor_new(), NULL, THTensor_new()}, *g[3] = {NULL, NULL, NULL}, *output = THTensor_new();
    THTensor *reserve = THTensor_new(), *short_one = THTensor_newZeros(TH_FLOAT64, SIZES(7));
    CHECK_OK(forward(&n, output, NULL, NULL, reserve));
    CHECK_ERROR(backward(&n, r, g, short_one), TH_ERR_SHAPE, "a reserve of shape [7]");
    g[0] = short_one;
    CHECK_ERROR(backward(&n, r, g, reserve), TH_ERR_SHAPE, "gOutput has shape [7]");
    g[0] = NULL;
    CHECK_OK(backward(&n, r, g, reserve));
    CHECK_EQ(THTensor_sumall(r[3]), 0);
    /* The reserve itself has no gradient. */
    CHECK_OK(THTensor_setRequiresGrad(n.x, 1));
    CHECK_OK(forward(&n, output, NULL, NULL, reserve));
    CHECK_OK(THTensor_sum(output, reserve, TH_ALL_DIMS, 0));
    CHECK_ERROR(THTensor_backward(output, NULL), TH_ERR_UNSUPPORTED, "the reserve has no gradient");
    THTensor *all[] = {r[0], r[1], r[3], output, reserve, short_one};
    for (int k = 0; k < 6; k++) THTensor_free(all[k]);
    network_free(&n);
}

CHECK_MAIN(CASE(gradients_are_slopes), CASE(padding_is_not_read), CASE(states_are_replaced_in_place), CASE(what_is_refused))
