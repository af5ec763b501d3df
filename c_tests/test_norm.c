/* Products, norms, distances and variances; sums without NaN. */

#include "check.h"

static void products_multiply_in_int64_and_float64(void) {
    THTensor *m = matrix_of(TH_UINT8, 2, 1, 2, 3, 100, 200, 6), *r = THTensor_new();
    CHECK_OK(THTensor_prod(r, m, 0, 0));
    CHECK_EQ(THTensor_dtype(r), TH_INT64);
    CHECK_VALUES(r, 100, 400, 18);
    CHECK_NEAR(THTensor_prodall(m), 720000, 0);
    THTensor *floats = vector_of(TH_FLOAT32, 1e30, 1e30, 1e-30), *none = THTensor_newZeros(TH_FLOAT32, SIZES(0));
    CHECK_NEAR(THTensor_prodall(floats), 1e30, 1e24);
    CHECK_NEAR(THTensor_prodall(none), 1, 0);
    THTensor_free(none);
    THTensor_free(floats);
    THTensor_free(r);
    THTensor_free(m);
}

static void variances_divide_by_one_less_unless_biased(void) {
    THTensor *m = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 2, 6, 6, 2), *r = THTensor_new();
    CHECK_OK(THTensor_var(r, m, 1, 0, 0));
    CHECK_CLOSE(r, 1e-6, 5.0 / 3, 16.0 / 3);
    CHECK_OK(THTensor_var(r, m, 1, 1, 1));
    CHECK_SHAPE(r, 2, 1);
    CHECK_VALUES(r, 1.25, 4);
    CHECK_OK(THTensor_std(r, m, 0, 0, 0));
    CHECK_CLOSE(r, 1e-6, sqrt(0.5), sqrt(8), sqrt(4.5), sqrt(2));
    CHECK_NEAR(THTensor_varall(m, 1), 3.1875, 1e-12);
    CHECK_NEAR(THTensor_stdall(m, 1), sqrt(3.1875), 1e-12);
    THTensor *one = vector_of(TH_FLOAT64, 7), *none = THTensor_newZeros(TH_FLOAT64, SIZES(0));
    CHECK_NEAR(THTensor_varall(one, 0), NAN, 0);
    CHECK_NEAR(THTensor_varall(one, 1), 0, 0);
    CHECK_NEAR(THTensor_stdall(none, 1), NAN, 0);
    CHECK_EQ(THGetLastErrorCode(), TH_OK);
    THTensor *ints = vector_of(TH_INT32, 1, 2);
    CHECK_ERROR(THTensor_var(r, ints, 0, 0, 0), TH_ERR_DTYPE, "int32");
    THTensor_free(ints);
    THTensor_free(none);
    THTensor_free(one);
    THTensor_free(r);
    THTensor_free(m);
}

static void variances_take_any_correction(void) {
    THTensor *m = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 2, 6, 6, 2), *r = THTensor_new();
    CHECK_OK(THTensor_varCorrection(r, m, 1, 1.5, 0));
    CHECK_VALUES(r, 2, 6.4f);
    CHECK_OK(THTensor_stdDimsCorrection(r, m, SIZES(1), 1.5, 1));
    CHECK_SHAPE(r, 2, 1);
    CHECK_CLOSE(r, 1e-6, sqrt(2), sqrt(6.4));
    /* The corrections 1 and 0 are the two values of the flag. A negative correction divides by more than the count. */
    CHECK_NEAR(THTensor_varallCorrection(m, 1), THTensor_varall(m, 0), 0);
    CHECK_NEAR(THTensor_stdallCorrection(m, 0), THTensor_stdall(m, 1), 0);
    CHECK_NEAR(THTensor_varallCorrection(m, -2), 2.55, 1e-12);
    /* A divisor of 0 or less: 0 / 0 if all elements are equal. */
    THTensor *alike = vector_of(TH_FLOAT64, 3, 3), *unlike = vector_of(TH_FLOAT64, 3, 4);
    CHECK_NEAR(THTensor_varallCorrection(alike, 2), NAN, 0);
    CHECK_NEAR(THTensor_varallCorrection(unlike, 2), INFINITY, 0);
    CHECK_NEAR(THTensor_varallCorrection(unlike, 5), INFINITY, 0);
    CHECK_EQ(THGetLastErrorCode(), TH_OK);
    CHECK_FAILURE(isnan(THTensor_stdallCorrection(unlike, NAN)), TH_ERR_ARGUMENT, "NaN");
    THTensor_free(unlike);
    THTensor_free(alike);
    THTensor_free(r);
    THTensor_free(m);
}

static void variances_survive_a_large_mean(void) {
    /* 1e9 and 1e9 + 1 alternate, once also as columns: the mean of squares would lose every digit. */
    const int64_t n = 100000;
    THTensor *t = THTensor_newWithSize1d(TH_FLOAT64, n), *columns = THTensor_newView(t, SIZES(5000, 20)), *r = THTensor_new();
    double *values = THTensor_data(t);
    for (int64_t i = 0; i < n; i++) values[i] = 1e9 + i / 20 % 2;
    CHECK_NEAR(THTensor_varall(t, 1), 0.25, 1e-9);
    CHECK_OK(THTensor_var(r, columns, 0, 1, 0));
    for (int64_t i = 0; i < 20; i++) CHECK_NEAR(element_at(r, i), 0.25, 1e-9);
    THTensor_free(r);
    THTensor_free(columns);
    THTensor_free(t);
}

static void variances_do_not_lose_digits_to_the_mean(void) {
    /* At 1e8, numbers are multiples of 2^-26. The multiples 0, 1, ..., n - 1 have the variance (n^2 - 1) / 12. */
    for (int64_t n = 1000; n <= 1000000; n *= 10) {
        if (under_valgrind() && n > 10000) break;
        THTensor *t = THTensor_newWithSize1d(TH_FLOAT64, n), *column = THTensor_newView(t, SIZES(n, 1)), *r = THTensor_new();
        double *values = THTensor_data(t), exact = ((double)n * (double)n - 1) / 12 * 0x1p-52;
        for (int64_t i = 0; i < n; i++) values[i] = 1e8 + (double)(i * 7919 % n) * 0x1p-26;
        CHECK_NEAR(THTensor_varall(t, 1), exact, 1e-14 * exact);
        CHECK_OK(THTensor_var(r, column, 0, 1, 0));
        CHECK_CLOSE(r, 1e-14 * exact, exact);
        THTensor_free(r);
        THTensor_free(column);
        THTensor_free(t);
    }
}

static void norms_neither_overflow_nor_vanish_on_the_way(void) {
    const double sizes[] = {1e-300, 1e-10, 1e10, 1e300}, powers[] = {2, 3, 100, -100};
    for (int i = 0; i < 16; i++) {
        const double x = sizes[i % 4], p = powers[i / 4], exact = pow(60, 1 / p) * x;
        THTensor *t = THTensor_newFull(TH_FLOAT64, SIZES(3, 20), -x), *one = THTensor_newFull(TH_FLOAT64, SIZES(1), x);
        THTensor *r = THTensor_new();
        CHECK_NEAR(THTensor_normall(one, p), x, 0);
        CHECK_NEAR(THTensor_normall(t, p), exact, 1e-14 * exact);
        CHECK_OK(THTensor_norm(r, t, p, 0, 0));
        for (int64_t k = 0; k < 20; k++) CHECK_NEAR(element_at(r, k), pow(3, 1 / p) * x, 1e-14 * exact);
        THTensor_free(r);
        THTensor_free(one);
        THTensor_free(t);
    }
    /* A float64 can hold the square of a part of the norm, but not the square of the whole norm. */
    THTensor *line = THTensor_newFull(TH_FLOAT64, SIZES(65536), 7e151), *m = THTensor_newFull(TH_FLOAT64, SIZES(256, 64), 9.7e152);
    THTensor *r = THTensor_new();
    CHECK_NEAR(THTensor_normall(line, 2), 256 * 7e151, 1e140);
    CHECK_OK(THTensor_norm(r, m, 2, 0, 0));
    for (int64_t k = 0; k < 64; k++) CHECK_NEAR(element_at(r, k), 16 * 9.7e152, 1e140);
    THTensor_free(r);
    THTensor_free(m);
    THTensor_free(line);
}

static void norms_take_any_power(void) {
    THTensor *t = vector_of(TH_FLOAT32, 3, -4, 0), *none = THTensor_newZeros(TH_FLOAT32, SIZES(0, 2)), *r = THTensor_new();
    CHECK_NEAR(THTensor_normall(t, 0), 2, 0);
    CHECK_NEAR(THTensor_normall(t, 1), 7, 0);
    CHECK_NEAR(THTensor_normall(t, 2), 5, 0);
    CHECK_NEAR(THTensor_normall(t, 3), 4.497941445275415, 1e-9);
    CHECK_NEAR(THTensor_normall(t, 0.5), 13.928203230275509, 1e-9);
    CHECK_NEAR(THTensor_normall(t, INFINITY), 4, 0);
    CHECK_NEAR(THTensor_normall(t, -INFINITY), 0, 0);
    CHECK_NEAR(THTensor_normall(t, -1), 0, 0);
    CHECK_OK(THTensor_norm(r, none, 2, 0, 0));
    CHECK_VALUES(r, 0, 0);
    CHECK_ERROR(THTensor_norm(r, none, -2, 0, 0), TH_ERR_ARGUMENT, "[0, 2]");
    CHECK_ERROR(THTensor_norm(r, none, INFINITY, 0, 0), TH_ERR_ARGUMENT, "[0, 2]");
    THTensor *nan = vector_of(TH_FLOAT64, 3, NAN), *vast = vector_of(TH_FLOAT32, 3e30, -4e30);
    CHECK_NEAR(THTensor_normall(nan, 0), 2, 0);
    CHECK_NEAR(THTensor_normall(nan, 2), NAN, 0);
    CHECK_NEAR(THTensor_normall(nan, 3), NAN, 0);
    CHECK_NEAR(THTensor_normall(nan, INFINITY), NAN, 0);
    CHECK_NEAR(THTensor_normall(nan, -INFINITY), NAN, 0);
    CHECK_NEAR(THTensor_normall(vast, 2), 5e30, 1e24);
    CHECK_OK(THTensor_normDims(r, t, 2, SIZES(0), 1, TH_FLOAT32));
    CHECK_VALUES(r, 5);
    CHECK_ERROR(THTensor_normDims(r, nan, 2, 0, NULL, 0, TH_FLOAT32), TH_ERR_DTYPE, "float64");
    THTensor_free(vast);
    THTensor_free(nan);
    THTensor_free(r);
    THTensor_free(none);
    THTensor_free(t);
}

static void distances_are_norms_of_differences(void) {
    THTensor *a = matrix_of(TH_FLOAT32, 2, 3, 4), *b = vector_of(TH_FLOAT64, 0, 0), *ints = vector_of(TH_INT64, 1);
    CHECK_NEAR(THTensor_dist(a, b, 2), sqrt(50), 1e-12);
    CHECK_NEAR(THTensor_dist(a, a, 1), 0, 0);
    CHECK_NEAR(THTensor_dist(a, b, INFINITY), 4, 0);
    CHECK_FAILURE(isnan(THTensor_dist(ints, ints, 2)), TH_ERR_DTYPE, "int64");
    THTensor_free(ints);
    THTensor_free(b);
    THTensor_free(a);
}

static void nan_is_left_out_on_request(void) {
    THTensor *m = matrix_of(TH_FLOAT32, 3, 1, NAN, 3, 5, NAN, NAN), *ints = vector_of(TH_INT16, 1, 2), *r = THTensor_new();
    CHECK_OK(THTensor_nansum(r, m, 1, 0));
    CHECK_VALUES(r, 1, 8, 0);
    CHECK_OK(THTensor_nanmean(r, m, 1, 0));
    CHECK_VALUES(r, 1, 4, NAN);
    CHECK_OK(THTensor_nanmeanDims(r, m, SIZES(0, 1), 0));
    CHECK_VALUES(r, 3);
    CHECK_ERROR(THTensor_nanmean(r, ints, 0, 0), TH_ERR_DTYPE, "int16");
    THTensor_free(r);
    r = THTensor_new();
    CHECK_OK(THTensor_nansum(r, ints, 0, 0));
    CHECK_EQ(THTensor_itemLong(r), 3);
    THTensor_free(r);
    THTensor_free(ints);
    THTensor_free(m);
}

CHECK_MAIN(CASE(products_multiply_in_int64_and_float64), CASE(variances_divide_by_one_less_unless_biased), CASE(variances_take_any_correction),
           CASE(variances_survive_a_large_mean),
           CASE(variances_do_not_lose_digits_to_the_mean), CASE(norms_neither_overflow_nor_vanish_on_the_way), CASE(norms_take_any_power),
           CASE(distances_are_norms_of_differences), CASE(nan_is_left_out_on_request))
