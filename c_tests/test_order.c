/* Order statistics and histograms: kthvalue, median, mode, quantiles, histc, bincount. */

#include "check.h"

/* Elements of a rank */

static void the_kth_smallest_comes_with_where_it_first_occurs(void) {
    THTensor *m = matrix_of(TH_FLOAT32, 2, 5, 1, 3, 1, 4, 9, 2, 6, 2, 8);
    THTensor *values = THTensor_new(), *indices = THTensor_new();
    CHECK_OK(THTensor_kthvalue(values, indices, m, 1, 1, 0));
    CHECK_SHAPE(values, 2);
    CHECK_VALUES(values, 1, 2);
    CHECK_EQ(THTensor_dtype(indices), TH_INT64);
    CHECK_VALUES(indices, 1, 1);
    CHECK_OK(THTensor_kthvalue(values, indices, m, 2, 0, 1));
    CHECK_SHAPE(values, 1, 5);
    CHECK_VALUES(values, 9, 2, 6, 2, 8);
    CHECK_VALUES(indices, 1, 1, 1, 1, 1);
    CHECK_OK(THTensor_kthvalue(values, indices, m, 10, TH_ALL_DIMS, 0));
    CHECK_EQ(THTensor_nDimension(values), 0);
    CHECK_NEAR(THTensor_item(values), 9, 0);
    CHECK_EQ(THTensor_itemLong(indices), 5);
    THTensor_free(indices);
    THTensor_free(values);
    THTensor_free(m);
}

static void a_median_is_the_smaller_of_two_middle_elements(void) {
    THTensor *v = vector_of(TH_INT64, 7, 1, 5, 3), *values = THTensor_new(), *indices = THTensor_new();
    CHECK_OK(THTensor_median(values, indices, v, 0, 0));
    CHECK_EQ(THTensor_itemLong(values), 3);
    CHECK_EQ(THTensor_itemLong(indices), 3);
    CHECK_NEAR(THTensor_medianall(v), 3, 0);
    CHECK_OK(THTensor_median(NULL, indices, v, -1, 1));
    CHECK_SHAPE(indices, 1);
    CHECK_OK(THTensor_median(NULL, NULL, v, -1, 1));
    THTensor *scalar = THTensor_newScalar(TH_INT64, -4);
    CHECK_OK(THTensor_median(values, indices, scalar, 0, 1));
    CHECK_EQ(THTensor_nDimension(values), 0);
    CHECK_NEAR(THTensor_item(values), -4, 0);
    THTensor_free(scalar);
    THTensor_free(indices);
    THTensor_free(values);
    THTensor_free(v);
}

static void a_nan_is_the_median_unless_left_out(void) {
    THTensor *v = vector_of(TH_FLOAT64, 3, 1, NAN, 2, NAN), *values = THTensor_new(), *indices = THTensor_new();
    CHECK_OK(THTensor_median(values, indices, v, 0, 0));
    CHECK_NEAR(THTensor_item(values), NAN, 0);
    CHECK_EQ(THTensor_itemLong(indices), 2);
    CHECK_NEAR(THTensor_medianall(v), NAN, 0);
    CHECK_OK(THTensor_nanmedian(values, indices, v, 0, 0));
    CHECK_NEAR(THTensor_item(values), 2, 0);
    CHECK_EQ(THTensor_itemLong(indices), 3);
    CHECK_OK(THTensor_kthvalue(values, indices, v, 3, 0, 0));
    CHECK_NEAR(THTensor_item(values), 3, 0);
    CHECK_OK(THTensor_kthvalue(values, indices, v, 4, 0, 0));
    CHECK_NEAR(THTensor_item(values), NAN, 0);
    CHECK_OK(THTensor_fill(v, NAN));
    CHECK_OK(THTensor_nanmedian(values, indices, v, 0, 0));
    CHECK_NEAR(THTensor_item(values), NAN, 0);
    CHECK_EQ(THTensor_itemLong(indices), 0);
    THTensor_free(indices);
    THTensor_free(values);
    THTensor_free(v);
}

static void the_mode_is_the_smallest_of_the_most_frequent(void) {
    THTensor *m = matrix_of(TH_FLOAT32, 2, 1, 2, 2, 1, 3, 5, 5, 5, 1, 1);
    THTensor *values = THTensor_new(), *indices = THTensor_new();
    CHECK_OK(THTensor_mode(values, indices, m, 1, 0));
    CHECK_VALUES(values, 1, 5);
    CHECK_VALUES(indices, 3, 2);
    CHECK_OK(THTensor_mode(values, indices, m, TH_ALL_DIMS, 1));
    CHECK_SHAPE(values, 1, 1);
    CHECK_VALUES(values, 1);
    CHECK_VALUES(indices, 9);
    THTensor *truths = vector_of(TH_BOOL, 1, 0, 1, 1, 0), *most = THTensor_new();
    CHECK_OK(THTensor_mode(most, indices, truths, 0, 0));
    CHECK_EQ(THTensor_dtype(most), TH_BOOL);
    CHECK_NEAR(THTensor_item(most), 1, 0);
    CHECK_EQ(THTensor_itemLong(indices), 3);
    THTensor_free(most);
    THTensor_free(truths);
    THTensor_free(indices);
    THTensor_free(values);
    THTensor_free(m);
}

static void there_is_no_rank_among_nothing(void) {
    THTensor *none = THTensor_newZeros(TH_FLOAT32, SIZES(2, 0)), *values = THTensor_newZeros(TH_FLOAT32, SIZES(3));
    CHECK_ERROR(THTensor_median(values, NULL, none, 1, 0), TH_ERR_ARGUMENT, "no elements to choose from");
    CHECK_ERROR(THTensor_mode(values, NULL, none, 1, 0), TH_ERR_ARGUMENT, "no elements to choose from");
    CHECK_ERROR(THTensor_quantile(values, none, 0.5, TH_ALL_DIMS, 0, TH_INTERPOLATION_LINEAR), TH_ERR_ARGUMENT, "no elements");
    CHECK_NEAR(THTensor_medianall(none), NAN, 0);
    CHECK_SHAPE(values, 3);
    CHECK_OK(THTensor_median(values, NULL, none, 0, 0));
    CHECK_SHAPE(values, 0);
    THTensor_free(values);
    THTensor_free(none);
}

static void wrong_arguments_change_nothing(void) {
    THTensor *v = vector_of(TH_FLOAT32, 3, 1, 2), *truths = THTensor_newZeros(TH_BOOL, SIZES(3));
    THTensor *values = THTensor_newZeros(TH_FLOAT32, SIZES(7)), *whole = THTensor_newZeros(TH_INT32, SIZES(1));
    CHECK_ERROR(THTensor_kthvalue(values, NULL, v, 0, 0, 0), TH_ERR_ARGUMENT, "k = 0 is out of range for 3 elements");
    CHECK_ERROR(THTensor_kthvalue(values, NULL, v, 4, 0, 0), TH_ERR_ARGUMENT, "k = 4");
    CHECK_ERROR(THTensor_median(values, NULL, v, 1, 0), TH_ERR_ARGUMENT, "dimension 1");
    CHECK_ERROR(THTensor_median(values, NULL, truths, 0, 0), TH_ERR_DTYPE, "bool");
    CHECK_ERROR(THTensor_median(values, whole, v, 0, 0), TH_ERR_DTYPE, "indices are int64");
    CHECK_ERROR(THTensor_median(whole, NULL, v, 0, 0), TH_ERR_DTYPE, "cannot be stored");
    CHECK_ERROR(THTensor_mode(values, whole, v, 0, 0), TH_ERR_DTYPE, "indices are int64");
    CHECK_ERROR(THTensor_median(values, values, v, 0, 0), TH_ERR_DTYPE, "indices are int64");
    CHECK_ERROR(THTensor_quantile(values, v, 1.5, 0, 0, TH_INTERPOLATION_LINEAR), TH_ERR_ARGUMENT, "q = 1.5");
    CHECK_ERROR(THTensor_quantile(values, v, NAN, 0, 0, TH_INTERPOLATION_LINEAR), TH_ERR_ARGUMENT, "q = NaN");
    CHECK_ERROR(THTensor_quantile(values, v, 0.5, 0, 0, 5), TH_ERR_ARGUMENT, "5 is no interpolation");
    CHECK_ERROR(THTensor_quantile(values, whole, 0.5, 0, 0, TH_INTERPOLATION_LINEAR), TH_ERR_DTYPE, "int32");
    CHECK_ERROR(THTensor_quantileTensor(values, v, whole, 0, 0, TH_INTERPOLATION_LINEAR), TH_ERR_ARGUMENT, "int32");
    CHECK_ERROR(THTensor_histc(values, v, 0, 0, 1), TH_ERR_ARGUMENT, "0 bins");
    CHECK_ERROR(THTensor_histc(values, v, INT64_MAX, 0, 1), TH_ERR_ARGUMENT, "bins");
    CHECK_ERROR(THTensor_histc(values, v, 3, 1, 0), TH_ERR_ARGUMENT, "greater");
    CHECK_ERROR(THTensor_histc(values, v, 3, 0, INFINITY), TH_ERR_ARGUMENT, "not finite");
    CHECK_ERROR(THTensor_histc(values, v, 3, NAN, NAN), TH_ERR_ARGUMENT, "not finite");
    CHECK_ERROR(THTensor_histc(values, whole, 3, 0, 1), TH_ERR_DTYPE, "int32");
    CHECK_ERROR(THTensor_histc(whole, v, 3, 0, 1), TH_ERR_DTYPE, "cannot be stored");
    CHECK_SHAPE(values, 7);
    CHECK_VALUES(values, 0, 0, 0, 0, 0, 0, 0);
    THTensor_free(whole);
    THTensor_free(values);
    THTensor_free(truths);
    THTensor_free(v);
}

/* Dtypes, layouts, sizes */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void check_against_sorting(const THTensor *t, int64_t k, const THTensor *values, const THTensor *indices) {
    int64_t rows = THTensor_size(t, 0), columns = THTensor_size(t, 1);
    double *row = malloc(columns * sizeof *row);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) row[j] = THTensor_get2d(t, i, j);
        qsort(row, columns, sizeof *row, compare);
        int64_t first = 0;
        while (THTensor_get2d(t, i, first) != row[k - 1]) first++;
        CHECK_NEAR(THTensor_get1d(values, i), row[k - 1], 0);
        CHECK_EQ(THTensor_get1d(indices, i), first);
    }
    free(row);
}

static void ranks_agree_with_sorting_on_all_dtypes_and_layouts(void) {
    static const int64_t widths[] = {1, 6, 64, 65, 700};
    for (int k = 0; k < DTYPES; k++) {
        if (dtypes[k] == TH_BOOL) continue;
        for (int layout = 0; layout < LAYOUTS; layout++) {
            for (int w = 0; w < 5; w++) {
                int64_t columns = widths[w], rank = columns / 3 + 1;
                THTensor *t = zeros_laid_out(dtypes[k], 3, columns, layout);
                THTensor *values = THTensor_new(), *indices = THTensor_new();
                for (int64_t i = 0; i < 3 * columns; i++) {
                    CHECK_OK(THTensor_set2d(t, i / columns, i % columns, (double)(i * 7919 % 103)));
                }
                CHECK_OK(THTensor_kthvalue(values, indices, t, rank, 1, 0));
                CHECK_EQ(THTensor_dtype(values), dtypes[k]);
                check_against_sorting(t, rank, values, indices);
                CHECK_OK(THTensor_median(values, indices, t, 1, 0));
                check_against_sorting(t, (columns + 1) / 2, values, indices);
                THTensor_free(indices);
                THTensor_free(values);
                THTensor_free(t);
            }
        }
    }
}

static void long_lines_do_not_depend_on_the_number_of_threads(void) {
    int threads = THGetNumThreads();
    int64_t n = under_valgrind() ? 70000 : 300000;
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(n)), *values = THTensor_new(), *indices = THTensor_new();
    float *x = THTensor_data(t);
    for (int64_t i = 0; i < n; i++) x[i] = (float)(i * 48271 % n) - 1000;
    for (int count = 1; count <= 4; count *= 2) {
        CHECK_OK(THSetNumThreads(count));
        CHECK_OK(THTensor_kthvalue(values, indices, t, n / 5 + 1, 0, 0));
        CHECK_NEAR(THTensor_item(values), n / 5 - 1000, 0);
        CHECK_EQ(THTensor_itemLong(indices) * 48271 % n, n / 5);
        CHECK_OK(THTensor_quantile(values, t, 0.5, TH_ALL_DIMS, 0, TH_INTERPOLATION_LINEAR));
        CHECK_NEAR(THTensor_item(values), (n - 1) * 0.5 - 1000, 0);
        CHECK_OK(THTensor_histc(values, t, 5, -1000, n - 1000));
        CHECK_VALUES(values, n / 5, n / 5, n / 5, n / 5, n / 5);
    }
    THSetNumThreads(threads);
    THTensor_free(indices);
    THTensor_free(values);
    THTensor_free(t);
}

static void a_result_may_replace_its_input(void) {
    THTensor *m = matrix_of(TH_FLOAT64, 2, 3, 1, 2, 9, 7, 8), *row = THTensor_newSelect(m, 0, 1);
    CHECK_OK(THTensor_median(row, NULL, m, 0, 0));
    CHECK_VALUES(m, 3, 1, 2, 3, 1, 2);
    THTensor_free(row);
    CHECK_OK(THTensor_median(m, NULL, m, 1, 0));
    CHECK_SHAPE(m, 2);
    CHECK_VALUES(m, 2, 2);
    CHECK_OK(THTensor_histc(m, m, 4, 0, 4));
    CHECK_VALUES(m, 0, 0, 2, 0);
    THTensor_free(m);
}

/* Quantiles */

static void quantiles_lie_between_neighbours_as_told(void) {
    static const double expected[][4] = {
        {3.25, 3.75, 6.5, 9}, {3, 3, 4, 9}, {4, 4, 9, 9}, {3.5, 3.5, 6.5, 9}, {3, 4, 9, 9}};
    THTensor *v = vector_of(TH_FLOAT32, 4, 3, 9), *q = vector_of(TH_FLOAT32, 0.125, 0.375, 0.75, 1),
             *r = THTensor_new();
    for (int how = TH_INTERPOLATION_LINEAR; how <= TH_INTERPOLATION_NEAREST; how++) {
        CHECK_OK(THTensor_quantileTensor(r, v, q, 0, 0, how));
        for (int i = 0; i < 4; i++) {
            CHECK_NEAR(THTensor_get1d(r, i), expected[how][i], 0);
            CHECK_OK(THTensor_quantile(r, v, THTensor_get1d(q, i), 0, 0, how));
            CHECK_NEAR(THTensor_item(r), expected[how][i], 0);
            CHECK_OK(THTensor_quantileTensor(r, v, q, 0, 0, how));
        }
    }
    THTensor_free(r);
    THTensor_free(q);
    THTensor_free(v);
}

static void quantiles_of_several_come_first(void) {
    THTensor *m = matrix_of(TH_FLOAT64, 2, 1, NAN, 2, 4, 3, 9), *q = vector_of(TH_FLOAT32, 0, 0.5, 1),
             *r = THTensor_new();
    CHECK_OK(THTensor_quantileTensor(r, m, q, 1, 0, TH_INTERPOLATION_LINEAR));
    CHECK_SHAPE(r, 3, 2);
    CHECK_VALUES(r, NAN, 3, NAN, 4, NAN, 9);
    CHECK_OK(THTensor_nanquantileTensor(r, m, q, 1, 1, TH_INTERPOLATION_LINEAR));
    CHECK_SHAPE(r, 3, 2, 1);
    CHECK_VALUES(r, 1, 3, 1.5, 4, 2, 9);
    CHECK_OK(THTensor_nanquantileTensor(r, m, q, TH_ALL_DIMS, 0, TH_INTERPOLATION_LINEAR));
    CHECK_VALUES(r, 1, 3, 9);
    CHECK_OK(THTensor_nanquantile(r, m, 0.5, 0, 0, TH_INTERPOLATION_LOWER));
    CHECK_VALUES(r, 1, 3, 2);
    CHECK_OK(THTensor_narrow(q, q, 0, 0, 0));
    CHECK_OK(THTensor_quantileTensor(r, m, q, 1, 0, TH_INTERPOLATION_LINEAR));
    CHECK_SHAPE(r, 0, 2);
    THTensor_free(r);
    THTensor_free(q);
    THTensor_free(m);
}

/* Histograms */

static void bins_hold_their_lower_edge_and_the_last_both(void) {
    THTensor *v = vector_of(TH_FLOAT32, 0, 0.49, 0.5, 1, 1.5, 2, -0.1, 2.1, NAN), *r = THTensor_new();
    CHECK_OK(THTensor_histc(r, v, 4, 0, 2));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
    CHECK_VALUES(r, 2, 1, 1, 2);
    CHECK_ERROR(THTensor_histc(r, v, 4, 0, 0), TH_ERR_ARGUMENT, "not finite");
    THTensor *same = THTensor_newFull(TH_FLOAT16, SIZES(2, 3), 2), *counts = THTensor_new();
    CHECK_OK(THTensor_histc(counts, same, 3, 7, 7));
    CHECK_EQ(THTensor_dtype(counts), TH_FLOAT16);
    CHECK_VALUES(counts, 0, 6, 0);
    THTensor_free(counts);
    THTensor_free(same);
    THTensor_free(r);
    THTensor_free(v);
}

static void each_row_may_have_its_histogram(void) {
    for (int layout = 0; layout < LAYOUTS; layout++) {
        THTensor *m = zeros_laid_out(TH_FLOAT64, 2, 4, layout), *r = THTensor_new();
        for (int j = 0; j < 4; j++) CHECK_OK(THTensor_set2d(m, 1, j, j));
        CHECK_OK(THTensor_bhistc(r, m, 3, 0, 0));
        CHECK_SHAPE(r, 2, 3);
        CHECK_VALUES(r, 4, 0, 0, 1, 1, 2);
        CHECK_OK(THTensor_bhistc(r, m, 2, 1, 2));
        CHECK_VALUES(r, 0, 0, 1, 1);
        THTensor_free(r);
        THTensor_free(m);
    }
    THTensor *scalar = THTensor_newScalar(TH_FLOAT32, 1), *r = THTensor_new();
    CHECK_ERROR(THTensor_bhistc(r, scalar, 3, 0, 1), TH_ERR_SHAPE, "0-d");
    THTensor_free(r);
    THTensor_free(scalar);
}

static void integers_are_counted(void) {
    for (int k = 0; k < DTYPES; k++) {
        THTensor *v = vector_of(dtypes[k], 1, 0, 3, 1, 1), *r = THTensor_new();
        if (is_float(dtypes[k]) || dtypes[k] == TH_BOOL) {
            CHECK_ERROR(THTensor_bincount(r, v, NULL, 0), TH_ERR_DTYPE, "not defined");
        } else {
            CHECK_OK(THTensor_bincount(r, v, NULL, 0));
            CHECK_EQ(THTensor_dtype(r), TH_INT64);
            CHECK_VALUES(r, 1, 3, 0, 1);
            CHECK_OK(THTensor_bincount(r, v, NULL, 6));
            CHECK_VALUES(r, 1, 3, 0, 1, 0, 0);
        }
        THTensor_free(r);
        THTensor_free(v);
    }
    THTensor *v = vector_of(TH_INT32, 2, -1), *m = matrix_of(TH_INT32, 2, 1, 2), *r = THTensor_new();
    CHECK_ERROR(THTensor_bincount(r, v, NULL, 0), TH_ERR_ARGUMENT, "element -1 is negative");
    CHECK_ERROR(THTensor_bincount(r, m, NULL, 0), TH_ERR_SHAPE, "expected a vector");
    CHECK_ERROR(THTensor_bincount(r, v, NULL, -1), TH_ERR_ARGUMENT, "minlength -1");
    THTensor *vast = THTensor_newFull(TH_INT64, SIZES(1), 9223372036854775807.0),
             *none = THTensor_newZeros(TH_INT64, SIZES(0));
    CHECK(THTensor_bincount(r, vast, NULL, 0) != TH_OK);
    CHECK_OK(THTensor_bincount(r, none, NULL, 2));
    CHECK_VALUES(r, 0, 0);
    THTensor_free(none);
    THTensor_free(vast);
    THTensor_free(r);
    THTensor_free(m);
    THTensor_free(v);
}

static void weights_are_summed_instead(void) {
    THTensor *v = vector_of(TH_UINT8, 1, 2, 2), *w = vector_of(TH_FLOAT32, 1, 2, 3.5), *r = THTensor_new();
    CHECK_OK(THTensor_bincount(r, v, w, 0));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
    CHECK_VALUES(r, 0, 1, 5.5);
    THTensor *whole = vector_of(TH_INT64, 1, 2, 3), *sums = THTensor_new(), *few = vector_of(TH_FLOAT64, 1, 2);
    CHECK_OK(THTensor_bincount(sums, v, whole, 4));
    CHECK_EQ(THTensor_dtype(sums), TH_FLOAT64);
    CHECK_VALUES(sums, 0, 1, 5, 0);
    CHECK_ERROR(THTensor_bincount(sums, v, few, 0), TH_ERR_SHAPE, "weights");
    THTensor_free(few);
    THTensor_free(sums);
    THTensor_free(whole);
    THTensor_free(r);
    THTensor_free(w);
    THTensor_free(v);
}

static void many_integers_are_counted_whatever_their_range(void) {
    int64_t n = 20000;
    for (int64_t range = 10; range <= 1000000; range *= 100) {
        THTensor *t = THTensor_newZeros(TH_INT64, SIZES(n)), *r = THTensor_new();
        int64_t *x = THTensor_data(t);
        for (int64_t i = 0; i < n; i++) x[i] = i % range;
        x[n - 1] = range - 1;
        CHECK_OK(THTensor_bincount(r, t, NULL, 0));
        CHECK_SHAPE(r, range);
        CHECK_NEAR(THTensor_sumall(r), n, 0);
        CHECK_NEAR(THTensor_get1d(r, 0), (n + range - 1) / range, 0);
        THTensor_free(r);
        THTensor_free(t);
    }
}

CHECK_MAIN(CASE(the_kth_smallest_comes_with_where_it_first_occurs),
           CASE(a_median_is_the_smaller_of_two_middle_elements), CASE(a_nan_is_the_median_unless_left_out),
           CASE(the_mode_is_the_smallest_of_the_most_frequent), CASE(there_is_no_rank_among_nothing),
           CASE(wrong_arguments_change_nothing), CASE(ranks_agree_with_sorting_on_all_dtypes_and_layouts),
           CASE(long_lines_do_not_depend_on_the_number_of_threads), CASE(a_result_may_replace_its_input),
           CASE(quantiles_lie_between_neighbours_as_told), CASE(quantiles_of_several_come_first),
           CASE(bins_hold_their_lower_edge_and_the_last_both), CASE(each_row_may_have_its_histogram),
           CASE(integers_are_counted), CASE(weights_are_summed_instead),
           CASE(many_integers_are_counted_whatever_their_range))
