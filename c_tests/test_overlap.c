/* Results that lie on their inputs, in part or altogether: as if the inputs had been copied first.
 *
 * Each call below writes into every kind of place on the memory of its input: the same elements, some elements further
 * on or back, the transposed. It must give what it gives into a tensor apart, and touch nothing else. */
#include "check.h"

enum { ROWS = 9, COLUMNS = 13, FIRST = 40, ALL = 240 };

/* A call that reads `t` and writes to `r`; two results have their indices in `indices`. */
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
static THStatus logsumexp(THTensor *r, THTensor *i, THTensor *t) { return (void)i, THTensor_logsumexp(r, t, 1, 0); }
static THStatus running(THTensor *r, THTensor *i, THTensor *t) { return (void)i, THTensor_logcumsumexp(r, t, 0); }
static THStatus renorm(THTensor *r, THTensor *i, THTensor *t) { return (void)i, THTensor_renorm(r, t, 2, 0, 5); }
static THStatus quantile(THTensor *r, THTensor *i, THTensor *t) {
    return (void)i, THTensor_quantile(r, t, 0.7, 1, 0, TH_LINEAR);
}
static THStatus histc(THTensor *r, THTensor *i, THTensor *t) { return (void)i, THTensor_histc(r, t, 20, 0, 0); }
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
    NAMED(expOf),    NAMED(plus),    NAMED(copy),       NAMED(sum),       NAMED(mean),    NAMED(deviation),
    NAMED(norm),     NAMED(max),     NAMED(median),     NAMED(third),     NAMED(mode),    NAMED(cumsum),
    NAMED(cumprod),  NAMED(cummin),  NAMED(cummax),     NAMED(softmax),   NAMED(histc),   NAMED(tril),
    NAMED(quantile), NAMED(product), NAMED(logSoftmax), NAMED(logsumexp), NAMED(running), NAMED(renorm),
#undef NAMED
};

/* Memory with different numbers everywhere. */
static THTensor *ground(THDtype dtype) {
    THTensor *t = THTensor_newWithSize1d(dtype, ALL);
    for (int64_t k = 0; k < ALL; k++) CHECK_OK(THTensor_set1d(t, k, (double)(k * 89 % 241) / 64 - 1));
    return t;
}

/* A matrix, or a view of the shape of `like`, on the memory of `base`; transposed where it says so. */
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

/* One call, its input transposed or not, its result `shift` elements away from the input, transposed or not. */
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

CHECK_MAIN(CASE(results_may_lie_on_their_inputs))
