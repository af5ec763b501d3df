/* Scans: running sums, products and extremes; softmax and its variants; renorm. */

#include "check.h"

/* Running sums and products */

static void a_running_sum_goes_along_either_dimension(void) {
    THTensor *m = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6), *r = THTensor_new();
    CHECK_OK(THTensor_cumsum(r, m, 0));
    CHECK_SHAPE(r, 2, 3);
    CHECK_VALUES(r, 1, 2, 3, 5, 7, 9);
    CHECK_OK(THTensor_cumsum(r, m, -1));
    CHECK_VALUES(r, 1, 3, 6, 4, 9, 15);
    CHECK_OK(THTensor_cumprod(r, m, 1));
    CHECK_VALUES(r, 1, 2, 6, 4, 20, 120);
    CHECK_OK(THTensor_cumsum(m, m, 0));
    CHECK_VALUES(m, 1, 2, 3, 5, 7, 9);
    THTensor_free(r);
    THTensor_free(m);
}

static void integers_and_bool_run_in_int64(void) {
    for (int k = 0; k < DTYPES; k++) {
        THTensor *t = THTensor_newFull(dtypes[k], SIZES(3), 100), *r = THTensor_new();
        int one = dtypes[k] == TH_BOOL;
        CHECK_OK(THTensor_cumsum(r, t, 0));
        CHECK_EQ(THTensor_dtype(r), is_float(dtypes[k]) ? dtypes[k] : TH_INT64);
        CHECK_VALUES(r, one ? 1 : 100, one ? 2 : 200, one ? 3 : 300);
        THTensor_free(r);
        THTensor_free(t);
    }
    THTensor *bytes = THTensor_newFull(TH_UINT8, SIZES(3), 0), *t = vector_of(TH_INT32, 200, 100, 3);
    CHECK_OK(THTensor_cumsum(bytes, t, 0));
    CHECK_VALUES(bytes, 200, 44, 47);
    CHECK_ERROR(THTensor_softmax(bytes, t, 0), TH_ERR_DTYPE, "int32");
    CHECK_VALUES(bytes, 200, 44, 47);
    THTensor_free(t);
    THTensor_free(bytes);
}

static void a_running_sum_has_the_dtype_asked_for(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1.75, 100.5, 100, -2.25), *r = THTensor_new();
    CHECK_OK(THTensor_cumsumDtype(r, t, 0, TH_INT8));
    CHECK_EQ(THTensor_dtype(r), TH_INT8);
    CHECK_VALUES(r, 1, 101, -55, -57);
    THTensor_free(r);
    /* A result of another dtype gets the fresh result converted, in any memory. */
    THTensor *narrow = THTensor_newTo(t, TH_INT8), *wide = THTensor_newZeros(TH_INT64, SIZES(4));
    CHECK_OK(THTensor_cumsumDtype(wide, narrow, 0, TH_INT8));
    CHECK_VALUES(wide, 1, 101, -55, -57);
    CHECK_OK(THTensor_cumsumDtype(wide, narrow, 0, TH_UNDEFINED));
    CHECK_VALUES(wide, 1, 101, 201, 199);
    r = THTensor_new();
    CHECK_OK(THTensor_cumprodDtype(r, narrow, -1, TH_FLOAT64));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT64);
    CHECK_VALUES(r, 1, 100, 10000, -20000);
    CHECK_OK(THTensor_softmaxDtype(r, wide, 0, TH_FLOAT32));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT64);
    CHECK_NEAR(THTensor_sumall(r), 1, 1e-6);
    CHECK_ERROR(THTensor_softmaxDtype(r, t, 0, TH_INT32), TH_ERR_DTYPE, "int32");
    CHECK_ERROR(THTensor_logSoftmaxDtype(r, wide, 0, TH_UNDEFINED), TH_ERR_DTYPE, "int64");
    CHECK_ERROR(THTensor_cumsumDtype(r, t, 0, 99), TH_ERR_ARGUMENT, "99");
    CHECK_ERROR(THTensor_cumsumDtype(wide, narrow, 0, TH_FLOAT32), TH_ERR_DTYPE, "cannot be stored in a tensor of int64");
    THTensor_free(r);
    THTensor_free(wide);
    THTensor_free(narrow);
    THTensor_free(t);
}

static void sums_are_not_lost_to_overflow_or_rounding(void) {
    THTensor *t = vector_of(TH_FLOAT32, 3e38, 3e38, -3e38, -3e38, -3e38, 3e38), *r = THTensor_new();
    CHECK_OK(THTensor_cumsum(r, t, 0));
    CHECK_VALUES(r, 3e38f, INFINITY, 3e38f, 0, -3e38f, 0);
    THTensor *u = vector_of(TH_FLOAT64, 0x1p1000, 0x1p-1000, 0x1p-1000, 0x1p1000, 3);
    THTensor *p = THTensor_new();
    CHECK_OK(THTensor_cumprod(p, u, 0));
    CHECK_VALUES(p, 0x1p1000, 1, 0x1p-1000, 1, 3);
    THTensor *ones = THTensor_newFull(TH_FLOAT32, SIZES(3000), 0.1f), *last = THTensor_newSelect(ones, 0, 2999);
    CHECK_OK(THTensor_cumsum(ones, ones, 0));
    CHECK_NEAR(THTensor_item(last), 3000 * (double)0.1f, 2e-5);
    THTensor_free(last);
    THTensor_free(ones);
    THTensor_free(p);
    THTensor_free(u);
    THTensor_free(r);
    THTensor_free(t);
}

/* Running extremes */

static void the_last_of_equals_and_nan_count(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1, 3, 3, 2, NAN, 5, NAN), *values = THTensor_new(), *indices = THTensor_new();
    CHECK_OK(THTensor_cummax(values, indices, t, 0));
    CHECK_VALUES(values, 1, 3, 3, 3, NAN, NAN, NAN);
    CHECK_EQ(THTensor_dtype(indices), TH_INT64);
    CHECK_VALUES(indices, 0, 1, 2, 2, 4, 4, 6);
    THTensor *m = matrix_of(TH_INT16, 3, 2, 5, 1, 6, 1, 4);
    CHECK_OK(THTensor_cummin(NULL, indices, m, 0));
    CHECK_VALUES(indices, 0, 0, 1, 0, 2, 2);
    CHECK_ERROR(THTensor_cummin(indices, indices, m, 0), TH_ERR_ARGUMENT, "a tensor each");
    CHECK_ERROR(THTensor_cummin(m, values, m, 0), TH_ERR_DTYPE, "indices are int64");
    CHECK_ERROR(THTensor_cummin(m, indices, m, TH_ALL_DIMS), TH_ERR_ARGUMENT, "one dimension");
    THTensor_free(m);
    THTensor_free(values);
    THTensor_free(indices);
    THTensor_free(t);
}

/* Softmax */

static void a_softmax_sums_to_one(void) {
    THTensor *t = vector_of(TH_FLOAT64, 1000, 1001, 1002), *r = THTensor_new();
    CHECK_OK(THTensor_softmax(r, t, 0));
    CHECK_CLOSE(r, 1e-15, 0.09003057317038046, 0.24472847105479767, 0.6652409557748219);
    CHECK_OK(THTensor_logSoftmax(r, t, 0));
    CHECK_CLOSE(r, 1e-13, -2.4076059644443806, -1.4076059644443806, -0.4076059644443806);
    CHECK_OK(THTensor_logsumexp(r, t, 0, 0));
    CHECK_EQ(THTensor_nDimension(r), 0);
    CHECK_NEAR(THTensor_item(r), 1002.4076059644443806, 1e-12);
    CHECK_OK(THTensor_logcumsumexp(r, t, 0));
    CHECK_CLOSE(r, 1e-12, 1000, 1001.3132616875182, 1002.4076059644444);
    THTensor_free(r);
    THTensor_free(t);
}

static void infinities_stay_what_they_are(void) {
    THTensor *low = vector_of(TH_FLOAT32, -INFINITY, -INFINITY), *high = vector_of(TH_FLOAT32, INFINITY, 1), *r = THTensor_new();
    CHECK_OK(THTensor_softmax(r, low, 0));
    CHECK_VALUES(r, NAN, NAN);
    CHECK_OK(THTensor_logsumexp(r, low, 0, 1));
    CHECK_VALUES(r, -INFINITY);
    CHECK_OK(THTensor_logsumexp(r, high, 0, 1));
    CHECK_VALUES(r, INFINITY);
    CHECK_OK(THTensor_logcumsumexp(r, low, 0));
    CHECK_VALUES(r, -INFINITY, -INFINITY);
    CHECK_OK(THTensor_logcumsumexp(r, high, 0));
    CHECK_VALUES(r, INFINITY, INFINITY);
    THTensor *mixed = vector_of(TH_FLOAT32, -INFINITY, -500, NAN, 1);
    CHECK_OK(THTensor_logcumsumexp(r, mixed, 0));
    CHECK_VALUES(r, -INFINITY, -500, NAN, NAN);
    THTensor *none = THTensor_newFull(TH_FLOAT32, SIZES(0, 2), 0);
    CHECK_OK(THTensor_logsumexp(r, none, 0, 0));
    CHECK_VALUES(r, -INFINITY, -INFINITY);
    CHECK_OK(THTensor_softmax(r, none, 0));
    CHECK_SHAPE(r, 0, 2);
    THTensor_free(none);
    THTensor_free(mixed);
    THTensor_free(r);
    THTensor_free(high);
    THTensor_free(low);
}

static void every_dimension_gives_the_same(void) {
    THTensor *t = THTensor_newFull(TH_FLOAT32, SIZES(5, 70, 33), 0), *a = THTensor_new(), *b = THTensor_new();
    CHECK_OK(THTensor_normal(t, NULL, 0, 3));
    for (int d = 0; d < 3; d++) {
        THTensor *turned = THTensor_newTranspose(t, d, 2), *copy = THTensor_newContiguous(turned);
        CHECK_OK(THTensor_softmax(a, turned, 2));
        CHECK_OK(THTensor_softmax(b, copy, 2));
        CHECK_OK(THTensor_csub(a, a, 1, b));
        CHECK_NEAR(THTensor_maxall(a), 0, 1e-6);
        CHECK_NEAR(THTensor_minall(a), 0, 1e-6);
        CHECK_OK(THTensor_sum(a, b, 2, 0));
        CHECK_NEAR(THTensor_maxall(a), 1, 1e-6);
        CHECK_OK(THTensor_cumsum(a, turned, 2));
        CHECK_OK(THTensor_cumsum(b, copy, 2));
        CHECK_OK(THTensor_csub(a, a, 1, b));
        CHECK_NEAR(THTensor_maxall(a), 0, 1e-4);
        CHECK_NEAR(THTensor_minall(a), 0, 1e-4);
        THTensor_free(copy);
        THTensor_free(turned);
    }
    THTensor_free(a);
    THTensor_free(b);
    THTensor_free(t);
}

static void exponentials_are_summed_over_several_dimensions(void) {
    THTensor *m = matrix_of(TH_INT32, 2, 0, 0, 0, 0, 0, 0), *r = THTensor_new();
    int64_t both[] = {0, 1}, twice[] = {0, -2};
    CHECK_OK(THTensor_logsumexpDims(r, m, 2, both, 1));
    CHECK_SHAPE(r, 1, 1);
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
    CHECK_CLOSE(r, 1e-6, 1.791759469228055);
    CHECK_OK(THTensor_logsumexpDims(r, m, 0, NULL, 0));
    CHECK_NEAR(THTensor_item(r), 1.791759469228055, 1e-6);
    CHECK_ERROR(THTensor_logsumexpDims(r, m, 2, twice, 0), TH_ERR_ARGUMENT, "twice");
    CHECK_ERROR(THTensor_logsumexp(r, m, 2, 0), TH_ERR_ARGUMENT, "dimension 2");
    THTensor_free(r);
    THTensor_free(m);
}

/* Renorm */

static void long_slices_shrink_to_the_norm(void) {
    THTensor *m = matrix_of(TH_FLOAT64, 2, 3, 4, 0.3, 0.4), *r = THTensor_new();
    CHECK_OK(THTensor_renorm(r, m, 2, 0, 1));
    CHECK_CLOSE(r, 1e-6, 0.6, 0.8, 0.3, 0.4);
    CHECK_OK(THTensor_renorm(r, m, INFINITY, 1, 2));
    CHECK_CLOSE(r, 1e-6, 2, 2, 0.2, 0.2);
    CHECK_ERROR(THTensor_renorm(r, m, 0, 0, 1), TH_ERR_ARGUMENT, "positive");
    CHECK_ERROR(THTensor_renorm(r, m, 2, 0, -1), TH_ERR_ARGUMENT, "negative");
    THTensor *v = vector_of(TH_FLOAT64, 1, 2);
    CHECK_ERROR(THTensor_renorm(r, v, 2, 0, 1), TH_ERR_SHAPE, "2 dimensions");
    CHECK_CLOSE(r, 1e-6, 2, 2, 0.2, 0.2);
    THTensor_free(v);
    THTensor_free(r);
    THTensor_free(m);
}

/* A result that was ready before the call equals a fresh result bit for bit. */
static void ready_results_are_as_fresh_ones(void) {
    THTensor *t = THTensor_newZeros(TH_FLOAT64, SIZES(4, 3, 18));
    for (int64_t k = 0; k < 216; k++) CHECK_OK(THTensor_set3d(t, k / 54, k / 18 % 3, k % 18, sin((double)k)));
    for (int dim = 0; dim < 3; dim++) {
        THTensor *ready = THTensor_newZeros(TH_FLOAT64, SIZES(4, 3, 18));
        THTensor *fresh = THTensor_new(), *other = THTensor_new();
        CHECK_OK(THTensor_cumsum(ready, t, dim));
        CHECK_OK(THTensor_cumsum(fresh, t, dim));
        CHECK_EQ(THTensor_equal(ready, fresh), 1);
        CHECK_OK(THTensor_softmax(ready, t, dim));
        CHECK_OK(THTensor_softmax(other, t, dim));
        CHECK_EQ(THTensor_equal(ready, other), 1);
        THTensor_free(other);
        THTensor_free(fresh);
        THTensor_free(ready);
    }
    THTensor_free(t);
}

CHECK_MAIN(CASE(a_running_sum_goes_along_either_dimension), CASE(integers_and_bool_run_in_int64),
           CASE(a_running_sum_has_the_dtype_asked_for), CASE(sums_are_not_lost_to_overflow_or_rounding),
           CASE(the_last_of_equals_and_nan_count),
           CASE(a_softmax_sums_to_one), CASE(ready_results_are_as_fresh_ones),
           CASE(infinities_stay_what_they_are), CASE(every_dimension_gives_the_same),
           CASE(exponentials_are_summed_over_several_dimensions), CASE(long_slices_shrink_to_the_norm))
