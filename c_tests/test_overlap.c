/* Results that overlap their inputs, in part or completely: the result is as if the inputs had been copied first.
 *
 * Each call writes to several positions in the memory of its input: the same elements, elements before or after
 * them, the transposed elements. The result must equal the result in separate memory, and no other element may
 * change. */
#include "check.h"

enum { ROWS = 9, COLUMNS = 13, FIRST = 40, ALL = 240 };

/* A call that reads `t` and writes to `r`. A call with two results writes its indices to `indices`. */
typedef THStatus Call(THTensor *r, THTensor *indices, THTensor *t);

static THStatus expOf(THTensor *r, THTensor *i, THTensor *t) { return (void)i, THTensor_exp(r, t); }
static THStatus plus(THTensor *r, THTensor *i, THTensor *t) { return (void)i, THTensor_cadd(r, t, 2, t); }
static THStatus copy(THTensor *r, THTensor *i, THTensor *t) { return (void)i, THTensor_copy(r, t); }
static THStatus sum(THTensor *r, THTensor *i, THTensor *t) { return (void)i, THTensor_sum(r, t, 0, 0); }
static THStatus mean(THTensor *r, THTensor *i, THTensor *t) { return (void)i, THTensor_mean(r, t, 1, 1); }
static THStatus deviation(THTensor *r, THTensor *i, THTensor *t) { return (void)i, THTensor_std(r, t, 1, 0, 0); }
static THStatus norm(THTensor *r, THTensor *i, THTensor *t) { return (void)i, THTensor_norm(r, t, 2, 0, 1); }
static THStatus max(THTensor *r, THTensor *i, THTensor *t) { return THTensor_max(r, i, t, 1, 0); }
static THStatus median(THTensor *r, THTensor *i, THTensor *t) { return THTensor_median(r, i, t, 0, 0); }
static THStatus third(THTensor *r, THTensor *i, THTensor *t) { return THTensor_kthvalue(r, i, t, 3, 1, 1); }
static THStatus mode(THTensor *r, THTensor *i, THTensor *t) { return THTensor_mode(r, i, t, 1, 0); }
static THStatus cumsum(THTensor *r, THTensor *i, THTensor *t) { return (void)i, THTensor_cumsum(r, t, 1); }
static THStatus cumprod(THTensor *r, THTensor *i, THTensor *t) { return (void)i, THTensor_cumprod(r, t, 0); }
static THStatus cummin(THTensor *r, THTensor *i, THTensor *t) { return THTensor_cummin(r, i, t, 0); }
static THStatus cummax(THTensor *r, THTensor *i, THTensor *t) { return THTensor_cummax(r, i, t, 1); }
static THStatus softmax(THTensor *r, THTensor *i, THTensor *t) { return (void)i, THTensor_softmax(r, t, 1); }
static THStatus logSoftmax(THTensor *r, THTensor *i, THTensor *t) { return (void)i, THTensor_logSoftmax(r, t, 0); }
static THStatus softmaxGrad(THTensor *r, THTensor *i, THTensor *t) { return (void)i, THTensor_softmaxGrad(r, t, t, 1); }
static THStatus logSoftmaxGrad(THTensor *r, THTensor *i, THTensor *t) {
    return (void)i, THTensor_logSoftmaxGrad(r, t, t, 0);
}
static THStatus layerNorm(THTensor *r, THTensor *i, THTensor *t) {
    THTensor *weight = THTensor_newSelect(t, 0, 2);
    THStatus status = THTensor_layerNorm(r, t, 1, weight, weight, 1e-5);
    THTensor_free(weight);
    return (void)i, status;
}
static THStatus layerNormGrad(THTensor *r, THTensor *i, THTensor *t) {
    THTensor *weight = THTensor_newSelect(t, 0, 2);
    THStatus status = THTensor_layerNormGrad(r, NULL, NULL, t, t, 1, weight, 1e-5);
    THTensor_free(weight);
    return (void)i, status;
}
static THStatus logsumexp(THTensor *r, THTensor *i, THTensor *t) { return (void)i, THTensor_logsumexp(r, t, 1, 0); }
static THStatus running(THTensor *r, THTensor *i, THTensor *t) { return (void)i, THTensor_logcumsumexp(r, t, 0); }
static THStatus renorm(THTensor *r, THTensor *i, THTensor *t) { return (void)i, THTensor_renorm(r, t, 2, 0, 5); }
static THStatus quantile(THTensor *r, THTensor *i, THTensor *t) {
    return (void)i, THTensor_quantile(r, t, 0.7, 1, 0, TH_INTERPOLATION_LINEAR);
}
static THStatus histc(THTensor *r, THTensor *i, THTensor *t) { return (void)i, THTensor_histc(r, t, 20, 0, 0); }
static THStatus sort(THTensor *r, THTensor *i, THTensor *t) { return THTensor_sort(r, i, t, 1, 0, 1); }
static THStatus columns(THTensor *r, THTensor *i, THTensor *t) { return THTensor_sort(r, i, t, 0, 1, 1); }
static THStatus topk(THTensor *r, THTensor *i, THTensor *t) { return THTensor_topk(r, i, t, 4, 1, 1, 1); }
static THStatus unique(THTensor *r, THTensor *i, THTensor *t) { return THTensor_unique(r, i, NULL, t, TH_ALL_DIMS); }
static THStatus slices(THTensor *r, THTensor *i, THTensor *t) { return THTensor_unique(r, i, NULL, t, 0); }
static THStatus tril(THTensor *r, THTensor *i, THTensor *t) { return (void)i, THTensor_tril(r, t, 1); }
static THStatus product(THTensor *r, THTensor *i, THTensor *t) {
    THTensor *turned = THTensor_newT(t);
    THStatus status = THTensor_mm(r, t, turned);
    THTensor_free(turned);
    return (void)i, status;
}

static const struct {
    const char *name;
    Call *call;
} calls[] = {
#define NAMED(call)                                                                                                    \
    { #call, call }
    NAMED(expOf),          NAMED(plus),      NAMED(copy),          NAMED(sum),       NAMED(mean),    NAMED(deviation),
    NAMED(norm),           NAMED(max),       NAMED(median),        NAMED(third),     NAMED(mode),    NAMED(cumsum),
    NAMED(cumprod),        NAMED(cummin),    NAMED(cummax),        NAMED(softmax),   NAMED(histc),   NAMED(tril),
    NAMED(quantile),       NAMED(product),   NAMED(logSoftmax),    NAMED(logsumexp), NAMED(running), NAMED(renorm),
    NAMED(sort),           NAMED(columns),   NAMED(topk),          NAMED(unique),    NAMED(slices),  NAMED(softmaxGrad),
    NAMED(logSoftmaxGrad), NAMED(layerNorm), NAMED(layerNormGrad),
#undef NAMED
};

/* Memory whose elements all differ. */
static THTensor *ground(THDtype dtype) {
    THTensor *t = THTensor_newWithSize1d(dtype, ALL);
    for (int64_t k = 0; k < ALL; k++) CHECK_OK(THTensor_set1d(t, k, (double)(k * 89 % 241) / 64 - 1));
    return t;
}

/* A matrix, or a view of the shape of `like`, in the memory of `base`, optionally transposed. */
static THTensor *on(const THTensor *base, int64_t first, const THTensor *like, int turned) {
    THTensor *t =
        THTensor_newWithStorage(THTensor_storage(base), first, THTensor_nDimension(like), THTensor_sizes(like), NULL);
    if (!turned || THTensor_nDimension(like) != 2) return t;
    int64_t sizes[] = {THTensor_size(like, 1), THTensor_size(like, 0)};
    THTensor_free(t);
    t = THTensor_newWithStorage(THTensor_storage(base), first, 2, sizes, NULL);
    CHECK_OK(THTensor_transpose(t, t, 0, 1));
    return t;
}

/* Makes one call. The result begins `shift` elements after the input; either may be transposed. */
static void overlap(size_t n, THDtype dtype, int64_t shift, int input_turned, int result_turned) {
    THTensor *shape = THTensor_newWithSize2d(dtype, ROWS, COLUMNS);
    THTensor *base = ground(dtype), *apart = ground(dtype), *t = on(base, FIRST, shape, input_turned);
    THTensor *input = on(apart, FIRST, shape, input_turned), *expected = THTensor_new();
    THTensor *i = THTensor_newZeros(TH_INT64, SIZES(1)), *j = THTensor_newZeros(TH_INT64, SIZES(1));
    CHECK_OK(calls[n].call(expected, i, input));
    THTensor *r = on(base, FIRST + shift, expected, result_turned);
    THTensor *place = on(apart, FIRST + shift, expected, result_turned);
    CHECK_OK(calls[n].call(r, j, t));
    CHECK_OK(THTensor_copy(place, expected));
    if (!CHECK(THTensor_equal(base, apart) == 1) || !CHECK(THTensor_equal(i, j) == 1)) {
        printf("  %s, result %+d, input %s, result %s\n", calls[n].name, (int)shift,
               input_turned ? "transposed" : "straight", result_turned ? "transposed" : "straight");
    }
    THTensor *all[] = {shape, base, apart, t, input, expected, i, j, r, place};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
}

static void results_may_lie_on_their_inputs(void) {
    static const int64_t shifts[] = {-COLUMNS, -1, 0, 1, 5, COLUMNS, 3 * COLUMNS};
    for (size_t n = 0; n < sizeof calls / sizeof *calls; n++) {
        for (size_t s = 0; s < sizeof shifts / sizeof *shifts; s++) {
            for (int way = 0; way < 4; way++) {
                overlap(n, TH_FLOAT32, shifts[s], way & 1, way >> 1);
                overlap(n, TH_FLOAT64, shifts[s], way & 1, way >> 1);
                overlap(n, TH_FLOAT16, shifts[s], way & 1, way >> 1);
            }
        }
    }
}

/* The first results are stored before the last ones are computed. */
static void many_sums_lie_on_what_is_summed(void) {
    THTensor *t = THTensor_newWithSize2d(TH_FLOAT32, 2000, 3), *expected = THTensor_new();
    for (int64_t i = 0; i < 6000; i++) CHECK_OK(THTensor_set2d(t, i / 3, i % 3, (double)(i * 7 % 50)));
    CHECK_OK(THTensor_sum(expected, t, 1, 0));
    THTensor *r = THTensor_newWithStorage(THTensor_storage(t), 1, SIZES(2000), NULL);
    CHECK_OK(THTensor_sum(r, t, 1, 0));
    CHECK_EQ(THTensor_equal(r, expected), 1);
    THTensor_free(r);
    THTensor_free(expected);
    THTensor_free(t);
}

/* If two results share memory, the second one is right. */
static void two_results_may_lie_on_each_other(void) {
    THTensor *t = matrix_of(TH_INT64, 3, 5, 9, 2, 7, 1, 8), *memory = THTensor_newZeros(TH_INT64, SIZES(7));
    THTensor *low = THTensor_newNarrow(memory, 0, 0, 3), *high = THTensor_newNarrow(memory, 0, 1, 3);
    CHECK_OK(THTensor_aminmax(low, high, t, 1, 0));
    CHECK_VALUES(high, 9, 7, 8);
    THTensor *values = THTensor_newWithStorage(THTensor_storage(memory), 0, SIZES(3, 2), NULL);
    THTensor *indices = THTensor_newWithStorage(THTensor_storage(memory), 1, SIZES(3, 2), NULL);
    for (int dim = 0; dim < 2; dim++) {
        CHECK_OK(THTensor_cummax(values, indices, t, dim));
        if (dim == 0) CHECK_VALUES(indices, 0, 0, 0, 0, 0, 0);
        if (dim == 1) CHECK_VALUES(indices, 0, 1, 0, 1, 0, 1);
    }
    THTensor *all[] = {t, memory, low, high, values, indices};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
}

/* A tensor over this test's memory, optionally transposed. */
static THTensor *borrow(THDtype dtype, void *data, int64_t n, int turned) {
    int64_t size[] = {n, 2}, strides[] = {turned ? 1 : 2, turned ? n : 1};
    return THTensor_newFromBlob(dtype, 2, size, strides, data, NULL, NULL);
}

/* Two storages over the same memory do not know each other. */
static void borrowed_memory_may_be_the_same(void) {
    static const int32_t values[] = {1, -2, 3, 4, -5, 6};
    for (int way = 0; way < 2; way++) {
        union {
            int32_t whole[6];
            float real[6];
        } memory;
        memcpy(memory.whole, values, sizeof values);
        THTensor *t = borrow(TH_INT32, memory.whole, 3, way), *r = borrow(TH_FLOAT32, memory.real, 3, way);
        CHECK_OK(THTensor_copy(r, t));
        for (int k = 0; k < 6; k++) CHECK_NEAR(memory.real[k], values[k], 0);
        THTensor_free(r);
        THTensor_free(t);
    }
    for (int64_t n = 2; n <= 2000; n *= 10) {
        float *memory = calloc((size_t)n * 2, sizeof *memory);
        if (!CHECK(memory != NULL)) return;
        unsigned char *mask = (unsigned char *)memory;
        for (int64_t k = 0; k < 2 * n; k++) mask[k] = k % 3 == 0;
        THTensor *where = borrow(TH_BOOL, memory, n, 0), *r = borrow(TH_FLOAT32, memory, n, 0);
        THTensor *yes = THTensor_newFull(TH_FLOAT32, SIZES(n, 2), 1);
        THTensor *no = THTensor_newFull(TH_FLOAT32, SIZES(n, 2), 0);
        CHECK_OK(THTensor_where(r, where, yes, no));
        int64_t wrong = 0;
        for (int64_t k = 0; k < 2 * n; k++) wrong += memory[k] != (k % 3 == 0);
        CHECK_EQ(wrong, 0);
        THTensor *all[] = {where, r, yes, no};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
        free(memory);
    }
}

/* A result that changes its shape must not change the memory of an input on the same storage. */
static void a_result_that_is_resized_does_not_spoil_its_input(void) {
    enum { LONG = 3000, SHORT = 2000 };
    float memory[LONG + 4];
    for (int k = 0; k < LONG + 4; k++) memory[k] = (float)k;
    THTensor *r = THTensor_newFromBlob(TH_FLOAT32, SIZES(LONG), NULL, memory + 4, NULL, NULL);
    THTensor *t = THTensor_newFromBlob(TH_FLOAT32, SIZES(SHORT), NULL, memory, NULL, NULL);
    CHECK_OK(THTensor_neg(r, t));
    CHECK_SHAPE(r, SHORT);
    int wrong = 0;
    for (int k = 0; k < SHORT; k++) wrong += THTensor_get1d(r, k) != -k;
    CHECK_EQ(wrong, 0);
    THTensor_free(t);
    THTensor_free(r);
}

/* The result has the shape that the inputs give together, not its previous shape. */
static void results_take_the_shape_of_their_inputs(void) {
    THTensor *r = THTensor_newZeros(TH_FLOAT32, SIZES(3, 4)), *row = vector_of(TH_FLOAT32, 1, 2, 3, 4);
    THTensor *flat = THTensor_newUnsqueeze1d(row, 0), *t = THTensor_newZeros(TH_FLOAT32, SIZES(3, 4));
    CHECK_OK(THTensor_cadd(r, flat, 1, row));
    CHECK_SHAPE(r, 1, 4);
    CHECK_VALUES(r, 2, 4, 6, 8);
    CHECK_OK(THTensor_resizeAs(r, t));
    CHECK_OK(THTensor_logsumexp(r, t, 0, 0));
    CHECK_SHAPE(r, 4);
    CHECK_CLOSE(r, 1e-6, log(3), log(3), log(3), log(3));
    THTensor *all[] = {r, row, flat, t};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
}

/* Strides 3 and 2: elements 0, 2, 4, 3, 5 and 7 of the storage, each once. */
static void interleaved_results_are_written(void) {
    THStorage *storage = THStorage_newWithSize(TH_FLOAT32, 8);
    CHECK_OK(THStorage_fill(storage, 9));
    THTensor *t = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6), *square = matrix_of(TH_FLOAT32, 2, 1, 1, 0, 1);
    THTensor *r = THTensor_newWithStorage2d(storage, 0, 2, 3, 3, 2);
    CHECK_OK(THTensor_mul(r, t, 10));
    CHECK_VALUES(r, 10, 20, 30, 40, 50, 60);
    CHECK_OK(THTensor_add(r, r, 1));
    CHECK_VALUES(r, 11, 21, 31, 41, 51, 61);
    CHECK_OK(THTensor_cumsum(r, t, 1));
    CHECK_VALUES(r, 1, 3, 6, 4, 9, 15);
    CHECK_OK(THTensor_mm(r, square, t));
    CHECK_VALUES(r, 5, 7, 9, 4, 5, 6);
    CHECK_OK(THTensor_triu(r, t, 1));
    CHECK_VALUES(r, 0, 2, 3, 0, 0, 6);
    CHECK_OK(THTensor_arange(r, 0, 6, 1));
    CHECK_VALUES(r, 0, 1, 2, 3, 4, 5);
    CHECK_OK(THTensor_copy(r, t));
    const double expected[] = {1, 9, 2, 4, 3, 5, 9, 6};
    for (int i = 0; i < 8; i++) CHECK_NEAR(THStorage_get(storage, i), expected[i], 0);
    THTensor *shared = THTensor_newWithStorage2d(storage, 0, 2, 1, 3, 1);
    CHECK_ERROR(THTensor_copy(shared, t), TH_ERR_SHAPE, "share one element");
    THTensor_free(shared);
    THTensor_free(t);
    THTensor_free(square);
    THTensor_free(r);
    THStorage_free(storage);
}

CHECK_MAIN(CASE(results_may_lie_on_their_inputs), CASE(many_sums_lie_on_what_is_summed),
           CASE(two_results_may_lie_on_each_other), CASE(borrowed_memory_may_be_the_same),
           CASE(a_result_that_is_resized_does_not_spoil_its_input), CASE(results_take_the_shape_of_their_inputs), CASE(interleaved_results_are_written))
