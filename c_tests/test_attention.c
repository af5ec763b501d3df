/* Attention: threads, dropout, layouts and results that are operands. The table of expectations has the values. */
#include "check.h"
#include <math.h>

enum { HEADS = 4, ROWS = 200, COLUMNS = 330, WIDTH = 6 };

/* The operands, results and gradients of a call. */
struct call {
    THTensor *q, *k, *v, *mask, *g;
    THTensor *r, *logs, *seed, *of[4];
    double p;
    int causal;
};

static THTensor *drawn(THGenerator *g, const int64_t *sizes) {
    THTensor *t = THTensor_newZeros(TH_FLOAT32, 3, sizes);
    CHECK_OK(THTensor_normal(t, g, 0, 1));
    return t;
}

static struct call made(double p, int causal) {
    THGenerator *g = THGenerator_new();
    CHECK_OK(THRandom_manualSeed(g, 5));
    struct call c = {.p = p, .causal = causal};
    c.q = drawn(g, (int64_t[]){HEADS, ROWS, WIDTH});
    c.k = drawn(g, (int64_t[]){2, COLUMNS, WIDTH});
    c.v = drawn(g, (int64_t[]){2, COLUMNS, WIDTH});
    c.g = drawn(g, (int64_t[]){HEADS, ROWS, WIDTH});
    c.mask = causal ? NULL : drawn(g, (int64_t[]){1, ROWS, COLUMNS});
    c.r = THTensor_new();
    c.logs = THTensor_new();
    c.seed = THTensor_new();
    for (int k = 0; k < 4; k++) c.of[k] = THTensor_new();
    THGenerator_free(g);
    return c;
}

static void run(struct call *c, uint64_t seed) {
    THGenerator *g = THGenerator_new();
    CHECK_OK(THRandom_manualSeed(g, seed));
    CHECK_OK(THTensor_scaledDotProductAttention(c->r, c->logs, c->seed, g, c->q, c->k, c->v, c->mask, c->p, c->causal, 0, 1));
    CHECK_OK(THTensor_scaledDotProductAttentionGrad(c->of[0], c->of[1], c->of[2], c->mask ? c->of[3] : NULL, c->g, NULL,
                                                    c->r, c->logs, c->seed, c->q, c->k, c->v, c->mask, c->p, c->causal, 0,
                                                    1));
    THGenerator_free(g);
}

static void freed(struct call c) {
    THTensor *all[] = {c.q, c.k, c.v, c.g, c.r, c.logs, c.seed, c.of[0], c.of[1], c.of[2], c.of[3]};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
    if (c.mask) THTensor_free(c.mask);
}

static void results_do_not_depend_on_the_number_of_threads(void) {
    const int threads = THGetNumThreads();
    for (int causal = 0; causal < 2; causal++) {
        struct call alone = made(0.2, causal), shared = made(0.2, causal);
        CHECK_OK(THSetNumThreads(1));
        run(&alone, 7);
        CHECK_OK(THSetNumThreads(3));
        run(&shared, 7);
        CHECK(THTensor_equal(alone.r, shared.r) == 1);
        CHECK(THTensor_equal(alone.logs, shared.logs) == 1);
        for (int k = 0; k < (causal ? 3 : 4); k++) CHECK(THTensor_equal(alone.of[k], shared.of[k]) == 1);
        freed(alone);
        freed(shared);
    }
    CHECK_OK(THSetNumThreads(threads));
}

/* With the identity as `value` and as the gradient of the result, the result is the matrix of the weights, and the gradient of `value` its
 * transpose. */
static void the_gradient_has_the_dropped_weights(void) {
    enum { N = 300 };
    for (int kind = TH_PHILOX; kind <= TH_MT19937; kind++) {
        THGenerator *g = THGenerator_newKind(kind), *same = THGenerator_newKind(kind);
        CHECK_OK(THRandom_manualSeed(g, 3));
        CHECK_OK(THGenerator_copy(same, g));
        THTensor *q = THTensor_newZeros(TH_FLOAT64, SIZES(N, 1)), *eye = THTensor_new(), *r = THTensor_new();
        THTensor *logs = THTensor_new(), *seed = THTensor_new(), *of = THTensor_new(), *again = THTensor_new();
        CHECK_OK(THTensor_eye(eye, N, N));
        THTensor *wide = THTensor_newTo(eye, TH_FLOAT64), *one = THTensor_newZeros(TH_FLOAT64, SIZES(1, 1));
        THTensor *shared = THTensor_newExpand(one, SIZES(N, N));
        CHECK_ERROR(THTensor_scaledDotProductAttention(shared, NULL, NULL, g, q, q, wide, NULL, 0.25, 0, 0, 0), TH_ERR_SHAPE,
                    "share one element");
        CHECK_OK(THTensor_scaledDotProductAttention(r, logs, seed, g, q, q, wide, NULL, 0.25, 0, 0, 0));
        /* The failed call has drawn nothing. */
        CHECK_OK(THTensor_scaledDotProductAttention(again, NULL, NULL, same, q, q, wide, NULL, 0.25, 0, 0, 0));
        CHECK(THTensor_equal(r, again) == 1);
        /* Each weight is 0 or 1 / (0.75 * N), and the mean is 1 / N. */
        int64_t zeros = 0;
        const double *weights = THTensor_data(r);
        for (int64_t i = 0; i < N * N; i++) {
            zeros += weights[i] == 0;
            if (weights[i] != 0) CHECK_NEAR(weights[i], 1 / (0.75 * N), 1e-12);
        }
        CHECK_NEAR((double)zeros / (N * N), 0.25, 5 * sqrt(0.25 * 0.75) / N);
        CHECK_OK(THTensor_scaledDotProductAttentionGrad(NULL, NULL, of, NULL, wide, NULL, r, logs, seed, q, q, wide, NULL, 0.25,
                                                        0, 0, 0));
        THTensor *turned = THTensor_newTranspose(of, 0, 1);
        CHECK(THTensor_allclose(turned, r, 1e-12, 0, 0) == 1);
        /* The next call drops other weights. */
        CHECK_OK(THTensor_scaledDotProductAttention(again, NULL, NULL, g, q, q, wide, NULL, 0.25, 0, 0, 0));
        CHECK(THTensor_equal(r, again) == 0);
        CHECK_OK(THTensor_scaledDotProductAttention(again, NULL, NULL, g, q, q, wide, NULL, 1, 0, 0, 0));
        CHECK_NEAR(THTensor_maxall(again), 0, 0);
        THTensor *all[] = {q, eye, wide, one, shared, r, logs, seed, of, again, turned};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
        THGenerator_free(g);
        THGenerator_free(same);
    }
}

static void heads_may_be_transposed_and_results_may_be_operands(void) {
    struct call c = made(0, 1), turned = made(0, 1);
    run(&c, 1);
    THTensor **operands[] = {&turned.q, &turned.k, &turned.v, &turned.g};
    for (int k = 0; k < 4; k++) {
        THTensor *view = THTensor_newTranspose(*operands[k], 0, 1), *copy = THTensor_newContiguous(view);
        THTensor_free(view);
        THTensor_free(*operands[k]);
        *operands[k] = THTensor_newTranspose(copy, 0, 1);
        THTensor_free(copy);
    }
    run(&turned, 1);
    CHECK(THTensor_equal(c.r, turned.r) == 1);
    for (int k = 0; k < 3; k++) CHECK(THTensor_equal(c.of[k], turned.of[k]) == 1);
    /* The gradient of each operand takes the place of the operand. */
    CHECK_OK(THTensor_scaledDotProductAttentionGrad(turned.q, turned.k, turned.v, NULL, c.g, NULL, c.r, c.logs, NULL, turned.q,
                                                    turned.k, turned.v, NULL, 0, 1, 0, 1));
    CHECK(THTensor_equal(turned.q, c.of[0]) == 1);
    CHECK(THTensor_equal(turned.k, c.of[1]) == 1);
    CHECK(THTensor_equal(turned.v, c.of[2]) == 1);
    CHECK_OK(THTensor_scaledDotProductAttention(c.q, NULL, NULL, NULL, c.q, c.k, c.v, NULL, 0, 1, 0, 1));
    CHECK(THTensor_equal(c.q, c.r) == 1);
    freed(c);
    freed(turned);
}

static void messages_name_what_is_wrong(void) {
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(5, 3, 4)), *r = THTensor_new(), *mask = THTensor_newOnes(TH_BOOL, SIZES(2));
    THTensor *six = THTensor_newZeros(TH_FLOAT32, SIZES(6, 3, 4)), *seed = THTensor_newZeros(TH_FLOAT32, 0, NULL);
    CHECK_ERROR(THTensor_scaledDotProductAttention(r, NULL, NULL, NULL, t, t, t, mask, 0, 0, 0, 0), TH_ERR_SHAPE,
                "mask of shape [2] does not broadcast to [5, 3, 3]");
    CHECK_ERROR(THTensor_scaledDotProductAttention(r, NULL, NULL, NULL, t, t, t, mask, 0, 1, 0, 0), TH_ERR_SHAPE, "mask");
    CHECK_ERROR(THTensor_scaledDotProductAttention(r, NULL, NULL, NULL, six, t, t, NULL, 0, 0, 0, 1), TH_ERR_SHAPE,
                "6 heads of query for 5 heads of key and value");
    CHECK_ERROR(THTensor_scaledDotProductAttention(r, NULL, NULL, NULL, t, t, t, NULL, 2, 0, 0, 0), TH_ERR_ARGUMENT, "got 2");
    CHECK_ERROR(THTensor_scaledDotProductAttention(r, NULL, seed, NULL, t, t, t, NULL, 0, 0, 0, 0), TH_ERR_DTYPE,
                "a seed is int64");
    CHECK_ERROR(THTensor_scaledDotProductAttention(r, r, NULL, NULL, t, t, t, NULL, 0, 0, 0, 0), TH_ERR_ARGUMENT, "two results");
    CHECK_EQ(THTensor_dtype(r), TH_UNDEFINED);
    THTensor *all[] = {t, r, mask, six, seed};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
}

CHECK_MAIN(CASE(results_do_not_depend_on_the_number_of_threads), CASE(the_gradient_has_the_dropped_weights),
           CASE(heads_may_be_transposed_and_results_may_be_operands), CASE(messages_name_what_is_wrong))
