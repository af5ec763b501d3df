/* Large operands on 1, 2, 4, 8 and 16 threads, on any machine: every result has the same bits. */
#include "check.h"

enum { ROWS = 300, COLS = 400, N = ROWS * COLS, BATCH = 40, ORDER = 32, LONG = 5000 };

/* The operands of all calls. `positions` has positions in a row of `a`, `row` positions of rows. */
static THTensor *a, *b, *positive, *transposed, *x, *y, *pairs, *vector, *wide, *apart, *positions, *row, *mask;
static THTensor *image, *weight, *output, *batch;

/* 24 random bits, so that each order of additions rounds differently. */
static void fill(THTensor *t, double from, double to) {
    float *values = THTensor_data(t);
    uint32_t state = 12345;
    for (int64_t i = 0; i < THTensor_nElement(t); i++) {
        state = state * 1664525u + 1013904223u;
        values[i] = (float)(from + (to - from) * (state >> 8) / (1 << 24));
    }
}

static THTensor *floats(double from, double to, int ndim, const int64_t *sizes) {
    THTensor *t = THTensor_newWithSizes(TH_FLOAT32, ndim, sizes);
    fill(t, from, to);
    return t;
}

static THTensor *numbers(int64_t count, int64_t factor, int ndim, const int64_t *sizes) {
    THTensor *t = THTensor_newWithSizes(TH_INT64, ndim, sizes);
    int64_t *values = THTensor_data(t);
    for (int64_t i = 0; i < THTensor_nElement(t); i++) values[i] = i * factor % count;
    return t;
}

static void make_operands(void) {
    a = floats(-2, 2, 2, (int64_t[]){ROWS, COLS});
    b = floats(-1, 2, 2, (int64_t[]){ROWS, COLS});
    transposed = THTensor_newTranspose(b, 0, 1);
    positive = floats(1, 3, 2, (int64_t[]){ROWS, COLS});
    x = floats(-1, 1, 1, (int64_t[]){N});
    y = floats(0, 1, 1, (int64_t[]){N});
    pairs = THTensor_newView(x, 2, (int64_t[]){N / 2, 2});
    vector = floats(-1, 1, 1, (int64_t[]){COLS});
    wide = THTensor_newWithSize2d(TH_FLOAT32, LONG, 17);
    apart = THTensor_newWithSize2d(TH_FLOAT32, LONG, 2);
    fill(wide, -1, 1);
    fill(apart, -1, 1);
    CHECK_OK(THTensor_transpose(wide, wide, 0, 1));
    CHECK_OK(THTensor_select(apart, apart, 1, 0));
    positions = numbers(COLS, 7919, 2, (int64_t[]){ROWS, COLS});
    row = numbers(ROWS, 31, 1, (int64_t[]){ROWS});
    image = floats(-1, 1, 4, (int64_t[]){4, 8, 28, 28});
    weight = floats(-1, 1, 4, (int64_t[]){16, 8, 3, 3});
    output = floats(-1, 1, 4, (int64_t[]){4, 16, 28, 28});
    batch = floats(-1, 1, 3, (int64_t[]){BATCH, ORDER, ORDER});
    mask = THTensor_new();
    CHECK_OK(THTensor_gtValue(mask, a, 0));
    /* Symmetric and positive definite: the products with the transposes, plus a multiple of the identity. */
    THTensor *product = THTensor_new(), *identity = THTensor_new(), *turned = THTensor_newTranspose(batch, 1, 2);
    CHECK_OK(THTensor_bmm(product, batch, turned));
    CHECK_OK(THTensor_eye(identity, ORDER, ORDER));
    CHECK_OK(THTensor_cadd(batch, product, 4, identity));
    THTensor_free(product);
    THTensor_free(identity);
    THTensor_free(turned);
}

static void free_operands(void) {
    THTensor *all[] = {a,     b,         transposed, positive, x,     y,      pairs,  vector, wide,
                       apart, positions, row,        mask,     image, weight, output, batch};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) THTensor_free(all[i]);
}

static const int64_t one[] = {1, 1}, two[] = {2, 2};
#define WINDOW 2, NULL, one, NULL, 0, NULL, 1

/* The calls, each with a result `r`, and some with a second result `s`. `FROM(t)` begins with a copy of `t`. */
#define FROM(t) THTensor_add(r, t, 0)
#define CALLS(CALL)                                                                                                    \
    CALL(THTensor_cadd(r, a, 0.7, b))                                                                                  \
    CALL(THTensor_addcmul(r, a, 0.3, b, positive))                                                                     \
    CALL(THTensor_gelu(r, a))                                                                                          \
    CALL(THTensor_exp(r, a))                                                                                           \
    CALL(THTensor_sum(r, a, TH_ALL_DIMS, 0))                                                                           \
    CALL(THTensor_sum(r, a, 0, 0))                                                                                     \
    CALL(THTensor_nansum(r, a, 1, 0))                                                                                  \
    CALL(THTensor_var(r, a, TH_ALL_DIMS, 0, 0))                                                                        \
    CALL(THTensor_norm(r, a, 3, 0, 0))                                                                                 \
    CALL(THTensor_max(r, s, a, 1, 0))                                                                                  \
    CALL(THTensor_argmax(r, x, 0, 0))                                                                                  \
    CALL(THTensor_cumsum(r, x, 0))                                                                                     \
    CALL(THTensor_cumsum(r, a, 0))                                                                                     \
    CALL(THTensor_cummax(r, s, a, 0))                                                                                  \
    CALL(THTensor_softmax(r, a, 0))                                                                                    \
    CALL(THTensor_logSoftmax(r, a, 1))                                                                                 \
    CALL(THTensor_softmaxGrad(r, a, b, 0))                                                                             \
    CALL(THTensor_layerNorm(r, a, 1, NULL, NULL, 1e-5))                                                                \
    CALL(THTensor_layerNormGrad(r, s, NULL, a, b, 1, NULL, 1e-5))                                                      \
    CALL(THTensor_sort(r, s, x, 0, 1, 1))                                                                              \
    CALL(THTensor_msort(r, x))                                                                                         \
    CALL(THTensor_topk(r, s, x, 50, 0, 1, 1))                                                                          \
    CALL(THTensor_median(r, NULL, x, TH_ALL_DIMS, 0))                                                                  \
    CALL(THTensor_histc(r, x, 50, -1, 1))                                                                              \
    CALL(THTensor_unique(r, s, NULL, positions, TH_ALL_DIMS))                                                          \
    CALL(THTensor_isin(r, positions, row, 0, 0))                                                                       \
    CALL(THTensor_maskedSelect(r, a, mask))                                                                            \
    CALL(THTensor_nonzero(r, mask))                                                                                    \
    CALL(THTensor_indexSelect(r, a, 0, row))                                                                           \
    CALL(THTensor_gather(r, a, 1, positions))                                                                          \
    CALL((FROM(a), THTensor_indexAdd(r, 0, row, b)))                                                                   \
    CALL((FROM(a), THTensor_scatterAdd(r, 1, positions, b)))                                                           \
    CALL((FROM(a), THTensor_scatter(r, 1, positions, b)))                                                              \
    CALL((FROM(a), THTensor_indexCopy(r, 0, row, b)))                                                                  \
    CALL(THTensor_flip(r, a, 1, one))                                                                                  \
    CALL(THTensor_diff(r, a, 1, 0))                                                                                    \
    CALL(THTensor_dot(r, x, y))                                                                                        \
    CALL(THTensor_mv(r, a, vector))                                                                                    \
    CALL(THTensor_mv(r, wide, apart))                                                                                  \
    CALL(THTensor_mm(r, a, transposed))                                                                                \
    CALL(THTensor_bmm(r, batch, batch))                                                                                \
    CALL(THTensor_btrifact(r, s, NULL, 1, batch))                                                                      \
    CALL(THTensor_cholesky(r, batch, 0))                                                                               \
    CALL(THTensor_qr(r, s, batch, 1))                                                                                  \
    CALL(THTensor_syev(r, s, batch, 0))                                                                                \
    CALL(THTensor_fft(r, pairs, 1, 1))                                                                                 \
    CALL(THTensor_convolution(r, image, weight, NULL, WINDOW))                                                         \
    CALL(THTensor_convolutionGradInput(r, output, weight, image, WINDOW))                                              \
    CALL(THTensor_convolutionGradWeight(r, output, image, weight, WINDOW))                                             \
    CALL(THTensor_maxPool2d(r, s, image, 1, two, NULL, NULL, NULL, 0))                                                 \
    CALL(THTensor_interpolate(r, image, 2, (int64_t[]){41, 41}, TH_RESAMPLE_CUBIC, 0, 0))                              \
    CALL(THTensor_cdist(r, a, b, 2))                                                                                   \
    CALL(THTensor_crossEntropy(r, a, row, NULL, TH_REDUCTION_MEAN, -100))                                              \
    CALL((FROM(a), THRandom_manualSeed(NULL, 1), THTensor_normal(r, NULL, 0, 1)))                                      \
    CALL((THRandom_manualSeed(NULL, 1), THTensor_dropout(r, s, NULL, a, 0.3)))

/* Makes call number `wanted`. Returns its text, or NULL if there are fewer calls. */
static const char *make_call(int wanted, THTensor *r, THTensor *s) {
    int number = 0;
#define CALL(call)                                                                                                     \
    if (number++ == wanted) {                                                                                          \
        CHECK_OK(call);                                                                                                \
        return #call;                                                                                                  \
    }
    CALLS(CALL)
#undef CALL
    return NULL;
}

static int same_bits(const THTensor *p, const THTensor *q) {
    size_t bytes = (size_t)THTensor_nElement(p) * THTensor_elementSize(p);
    if (THTensor_dtype(p) != THTensor_dtype(q) || THTensor_nElement(p) != THTensor_nElement(q)) return 0;
    return bytes == 0 || memcmp(THTensor_data(p), THTensor_data(q), bytes) == 0;
}

static void no_result_depends_on_the_number_of_threads(void) {
    static const int counts[] = {1, 2, 4, 8, 16};
    const int threads_before = THGetNumThreads();
    const char *call = "";
    make_operands();
    for (int number = 0; call; number++) {
        THTensor *r[5], *s[5];
        for (int k = 0; k < 5; k++) {
            CHECK_OK(THSetNumThreads(counts[k]));
            r[k] = THTensor_new();
            s[k] = THTensor_new();
            call = make_call(number, r[k], s[k]);
            if (call && !(same_bits(r[0], r[k]) && same_bits(s[0], s[k]))) {
                fprintf(stderr, "%s: %d threads\n", call, counts[k]);
                CHECK(0);
            }
        }
        for (int k = 0; k < 5; k++) {
            THTensor_free(r[k]);
            THTensor_free(s[k]);
        }
    }
    free_operands();
    CHECK_OK(THSetNumThreads(threads_before));
}

CHECK_MAIN(CASE(no_result_depends_on_the_number_of_threads))
