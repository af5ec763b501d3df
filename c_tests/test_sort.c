/* Sorting and searching: the order of elements, equal elements, NaN and zeros. */
#include "check.h"
#include "state.h"

/* sort, argsort, msort */

static void elements_come_in_order_with_where_they_stood(void) {
    THTensor *v = vector_of(TH_FLOAT32, 3, 1, 2, 1), *values = THTensor_new(), *indices = THTensor_new();
    CHECK_OK(THTensor_sort(values, indices, v, 0, 0, 1));
    CHECK_VALUES(values, 1, 1, 2, 3);
    CHECK_VALUES(indices, 1, 3, 2, 0);
    CHECK_EQ(THTensor_dtype(indices), TH_INT64);
    CHECK_OK(THTensor_sort(values, indices, v, -1, 1, 1));
    CHECK_VALUES(values, 3, 2, 1, 1);
    CHECK_VALUES(indices, 0, 2, 1, 3);
    CHECK_OK(THTensor_sort(NULL, indices, v, 0, 0, 1));
    CHECK_OK(THTensor_argsort(indices, v, 0, 1, 1));
    CHECK_VALUES(indices, 0, 2, 1, 3);
    CHECK_OK(THTensor_sort(v, NULL, v, 0, 0, 0));
    CHECK_VALUES(v, 1, 1, 2, 3);
    THTensor_free(indices);
    THTensor_free(values);
    THTensor_free(v);
}

static void each_line_is_sorted_by_itself(void) {
    THTensor *m = matrix_of(TH_INT32, 2, 3, 1, 2, 0, 9, 0), *values = THTensor_new(), *indices = THTensor_new();
    CHECK_OK(THTensor_sort(values, indices, m, 1, 0, 1));
    CHECK_VALUES(values, 1, 2, 3, 0, 0, 9);
    CHECK_VALUES(indices, 1, 2, 0, 0, 2, 1);
    CHECK_OK(THTensor_msort(values, m));
    CHECK_VALUES(values, 0, 1, 0, 3, 9, 2);
    THTensor_free(indices);
    THTensor_free(values);
    THTensor_free(m);
}

static void nan_is_greater_than_everything_and_zeros_are_equal(void) {
    THTensor *v = vector_of(TH_FLOAT64, NAN, 0.0, INFINITY, -0.0, NAN, -1), *values = THTensor_new(),
             *indices = THTensor_new();
    CHECK_OK(THTensor_sort(values, indices, v, 0, 0, 1));
    CHECK_VALUES(values, -1, 0, 0, INFINITY, NAN, NAN);
    CHECK_VALUES(indices, 5, 1, 3, 2, 0, 4);
    CHECK(!signbit(THTensor_get1d(values, 1)) && signbit(THTensor_get1d(values, 2)));
    CHECK_OK(THTensor_sort(values, indices, v, 0, 1, 1));
    CHECK_VALUES(indices, 0, 4, 2, 1, 3, 5);
    CHECK(!signbit(THTensor_get1d(values, 3)) && signbit(THTensor_get1d(values, 4)));
    THTensor_free(indices);
    THTensor_free(values);
    THTensor_free(v);
}

static int in_order(const THTensor *values, const THTensor *indices, const THTensor *t, int64_t line) {
    int64_t n = THTensor_size(t, 1);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = (int64_t)THTensor_get2d(indices, line, i);
        double x = THTensor_get2d(values, line, i);
        if (x != THTensor_get2d(t, line, at)) return 0;
        if (i == 0) continue;
        double before = THTensor_get2d(values, line, i - 1);
        if (before > x || (before == x && THTensor_get2d(indices, line, i - 1) >= at)) return 0;
    }
    return 1;
}

static void every_dtype_layout_and_length_is_sorted(void) {
    static const int64_t widths[] = {1, 5, 255, 256, 700};
    for (int k = 0; k < DTYPES; k++) {
        for (int layout = 0; layout < LAYOUTS; layout++) {
            for (int w = 0; w < 5; w++) {
                THTensor *t = zeros_laid_out(dtypes[k], 3, widths[w], layout);
                THTensor *values = THTensor_new(), *indices = THTensor_new();
                for (int64_t i = 0; i < 3 * widths[w]; i++) {
                    CHECK_OK(THTensor_set2d(t, i / widths[w], i % widths[w], (double)(i * 7919 % 103)));
                }
                CHECK_OK(THTensor_sort(values, indices, t, 1, 0, 1));
                CHECK_EQ(THTensor_dtype(values), dtypes[k]);
                for (int line = 0; line < 3; line++) CHECK(in_order(values, indices, t, line));
                THTensor_free(indices);
                THTensor_free(values);
                THTensor_free(t);
            }
        }
    }
}

static void long_lines_do_not_depend_on_the_number_of_threads(void) {
    int threads = THGetNumThreads();
    int64_t n = under_valgrind() ? 70000 : 300007;
    THTensor *t = THTensor_newZeros(TH_FLOAT64, SIZES(n)), *one = THTensor_new(), *sorted = THTensor_new();
    THTensor *indices = THTensor_new(), *of_one = THTensor_new();
    double *x = THTensor_data(t);
    for (int64_t i = 0; i < n; i++) x[i] = (double)(i * 48271 % 65537) / 3 - 9000;
    for (int count = 1; count <= 4; count *= 2) {
        CHECK_OK(THSetNumThreads(count));
        CHECK_OK(THTensor_sort(count == 1 ? one : sorted, count == 1 ? of_one : indices, t, 0, 1, 1));
        if (count == 1) continue;
        CHECK(THTensor_equal(one, sorted) == 1);
        CHECK(THTensor_equal(of_one, indices) == 1);
    }
    double *y = THTensor_data(one);
    int64_t *at = THTensor_data(of_one);
    int fine = 1;
    for (int64_t i = 1; i < n; i++) fine &= y[i - 1] > y[i] || (y[i - 1] == y[i] && at[i - 1] < at[i]);
    for (int64_t i = 0; i < n; i++) fine &= y[i] == x[at[i]];
    CHECK(fine);
    THSetNumThreads(threads);
    THTensor_free(of_one);
    THTensor_free(indices);
    THTensor_free(sorted);
    THTensor_free(one);
    THTensor_free(t);
}

/* topk */

static void the_greatest_or_the_least_are_taken(void) {
    THTensor *v = vector_of(TH_INT64, 5, 1, 5, 3, 5, 0), *values = THTensor_new(), *indices = THTensor_new();
    CHECK_OK(THTensor_topk(values, indices, v, 3, 0, 1, 1));
    CHECK_VALUES(values, 5, 5, 5);
    CHECK_VALUES(indices, 0, 2, 4);
    CHECK_OK(THTensor_topk(values, indices, v, 2, 0, 1, 1));
    CHECK_VALUES(indices, 0, 2);
    CHECK_OK(THTensor_topk(values, indices, v, 3, 0, 0, 1));
    CHECK_VALUES(values, 0, 1, 3);
    CHECK_VALUES(indices, 5, 1, 3);
    /* In the order of the input: */
    CHECK_OK(THTensor_topk(values, indices, v, 3, 0, 0, 0));
    CHECK_VALUES(values, 1, 3, 0);
    CHECK_VALUES(indices, 1, 3, 5);
    CHECK_OK(THTensor_topk(values, NULL, v, 0, 0, 1, 1));
    CHECK_SHAPE(values, 0);
    CHECK_ERROR(THTensor_topk(values, indices, v, 7, 0, 1, 1), TH_ERR_ARGUMENT, "k = 7 is out of range for 6 elements");
    CHECK_ERROR(THTensor_topk(values, indices, v, -1, 0, 1, 1), TH_ERR_ARGUMENT, "k = -1");
    THTensor_free(indices);
    THTensor_free(values);
    THTensor_free(v);
}

static void each_line_gives_its_own(void) {
    for (int layout = 0; layout < LAYOUTS; layout++) {
        THTensor *m = zeros_laid_out(TH_FLOAT32, 3, 4, layout), *values = THTensor_new(), *indices = THTensor_new();
        for (int i = 0; i < 12; i++) CHECK_OK(THTensor_set2d(m, i / 4, i % 4, i * 5 % 12));
        CHECK_OK(THTensor_topk(values, indices, m, 2, 1, 1, 1));
        CHECK_SHAPE(values, 3, 2);
        CHECK_VALUES(values, 10, 5, 11, 8, 9, 7);
        CHECK_VALUES(indices, 2, 1, 3, 0, 1, 3);
        CHECK_OK(THTensor_topk(values, indices, m, 1, 0, 0, 1));
        CHECK_VALUES(values, 0, 1, 2, 3);
        THTensor_free(indices);
        THTensor_free(values);
        THTensor_free(m);
    }
}

/* lexsort */

static void the_last_key_decides_first(void) {
    THTensor *first_names = vector_of(TH_INT32, 2, 1, 1, 2), *names = vector_of(TH_FLOAT32, 7, 7, 5, 5), *r = THTensor_new();
    CHECK_OK(THTensor_lexsort(r, (THTensor *[]){first_names, names}, 2, 0));
    CHECK_VALUES(r, 2, 3, 1, 0);
    CHECK_OK(THTensor_lexsort(r, (THTensor *[]){names}, 1, 0));
    CHECK_VALUES(r, 2, 3, 0, 1);
    CHECK_ERROR(THTensor_lexsort(r, NULL, 0, 0), TH_ERR_ARGUMENT, "at least one key");
    CHECK_ERROR(THTensor_lexsort(r, NULL, 1, 0), TH_ERR_ARGUMENT, "'keys' is NULL");
    CHECK_ERROR(THTensor_lexsort(names, (THTensor *[]){names}, 1, 0), TH_ERR_DTYPE, "indices are int64");
    THTensor_free(r);
    THTensor_free(names);
    THTensor_free(first_names);
}

/* unique, uniqueConsecutive */

static void each_element_stands_once(void) {
    THTensor *m = matrix_of(TH_INT16, 2, 3, 1, 3, 2, 1, 3), *values = THTensor_new(), *inverse = THTensor_new(),
             *counts = THTensor_new();
    CHECK_OK(THTensor_unique(values, inverse, counts, m, TH_ALL_DIMS));
    CHECK_EQ(THTensor_dtype(values), TH_INT16);
    CHECK_VALUES(values, 1, 2, 3);
    CHECK_SHAPE(inverse, 2, 3);
    CHECK_VALUES(inverse, 2, 0, 2, 1, 0, 2);
    CHECK_VALUES(counts, 2, 1, 3);
    CHECK_OK(THTensor_unique(NULL, NULL, counts, m, TH_ALL_DIMS));
    CHECK_VALUES(counts, 2, 1, 3);
    CHECK_OK(THTensor_uniqueConsecutive(values, inverse, counts, m, TH_ALL_DIMS));
    CHECK_VALUES(values, 3, 1, 3, 2, 1, 3);
    CHECK_ERROR(THTensor_unique(values, counts, counts, m, TH_ALL_DIMS), TH_ERR_ARGUMENT, "a tensor each");
    CHECK_ERROR(THTensor_unique(NULL, NULL, values, m, TH_ALL_DIMS), TH_ERR_DTYPE, "indices are int64");
    /* A result may be the input. */
    CHECK_OK(THTensor_unique(m, NULL, NULL, m, TH_ALL_DIMS));
    CHECK_VALUES(m, 1, 2, 3);
    THTensor_free(counts);
    THTensor_free(inverse);
    THTensor_free(values);
    THTensor_free(m);
}

static void no_nan_equals_another(void) {
    THTensor *v = vector_of(TH_FLOAT32, NAN, -0.0, NAN, 0), *values = THTensor_new(), *counts = THTensor_new();
    CHECK_OK(THTensor_unique(values, NULL, counts, v, TH_ALL_DIMS));
    CHECK_VALUES(values, 0, NAN, NAN);
    CHECK_VALUES(counts, 2, 1, 1);
    CHECK(signbit(THTensor_get1d(values, 0)));
    THTensor_free(counts);
    THTensor_free(values);
    THTensor_free(v);
}

static void slices_along_a_dimension_stand_once(void) {
    THTensor *m = matrix_of(TH_FLOAT32, 4, 2, 0, 1, 5, 2, 0, 1, 2), *values = THTensor_new(), *inverse = THTensor_new(),
             *counts = THTensor_new();
    CHECK_OK(THTensor_unique(values, inverse, counts, m, 0));
    CHECK_SHAPE(values, 3, 2);
    CHECK_VALUES(values, 1, 2, 1, 5, 2, 0);
    CHECK_VALUES(inverse, 2, 1, 2, 0);
    CHECK_VALUES(counts, 1, 1, 2);
    CHECK_OK(THTensor_t(m, m));
    CHECK_OK(THTensor_uniqueConsecutive(values, inverse, counts, m, 1));
    CHECK_SHAPE(values, 2, 4);
    CHECK_VALUES(counts, 1, 1, 1, 1);
    CHECK_OK(THTensor_unique(values, NULL, NULL, m, 1));
    CHECK_VALUES(values, 1, 1, 2, 2, 5, 0);
    THTensor_free(counts);
    THTensor_free(inverse);
    THTensor_free(values);
    THTensor_free(m);
}

/* searchsorted, bucketize, isin */

static void places_keep_a_sequence_sorted(void) {
    THTensor *sequence = vector_of(TH_FLOAT32, 1, 3, 3, 5), *v = vector_of(TH_FLOAT32, 0, 1, 3, 4, 9, NAN), *r = THTensor_new();
    CHECK_OK(THTensor_searchsorted(r, sequence, v, 0, NULL));
    CHECK_VALUES(r, 0, 0, 1, 3, 4, 4);
    CHECK_OK(THTensor_searchsorted(r, sequence, v, 1, NULL));
    CHECK_VALUES(r, 0, 1, 3, 3, 4, 4);
    CHECK_OK(THTensor_bucketize(r, v, sequence, 0));
    CHECK_VALUES(r, 0, 0, 1, 3, 4, 4);
    THTensor *mixed = vector_of(TH_FLOAT32, 5, 1, 3, 3), *order = THTensor_new();
    CHECK_OK(THTensor_argsort(order, mixed, 0, 0, 1));
    CHECK_OK(THTensor_searchsorted(r, mixed, v, 0, order));
    CHECK_VALUES(r, 0, 0, 1, 3, 4, 4);
    CHECK_OK(THTensor_set1d(order, 0, 4));
    CHECK_ERROR(THTensor_searchsorted(r, mixed, v, 0, order), TH_ERR_ARGUMENT, "place 4 of the sorter is out of range");
    THTensor_free(order);
    THTensor_free(mixed);
    THTensor_free(r);
    THTensor_free(v);
    THTensor_free(sequence);
}

static void rows_may_have_sequences_of_their_own(void) {
    THTensor *sequences = matrix_of(TH_INT32, 2, 1, 3, 5, 2, 4, 6), *m = matrix_of(TH_INT32, 2, 3, 6, 3, 6), *r = THTensor_new();
    CHECK_OK(THTensor_searchsorted(r, sequences, m, 0, NULL));
    CHECK_VALUES(r, 1, 3, 1, 2);
    THTensor *v = vector_of(TH_INT32, 1);
    CHECK_ERROR(THTensor_searchsorted(r, sequences, v, 0, NULL), TH_ERR_SHAPE, "does not go with sequences");
    CHECK_ERROR(THTensor_bucketize(r, v, sequences, 0), TH_ERR_SHAPE, "vector of boundaries");
    THTensor_free(v);
    THTensor_free(r);
    THTensor_free(m);
    THTensor_free(sequences);
}

static void elements_are_looked_for_among_others(void) {
    THTensor *m = matrix_of(TH_INT32, 2, 1, 2, 3, 4), *tests = vector_of(TH_FLOAT64, 4, 2.5, 1), *r = THTensor_new();
    CHECK_OK(THTensor_isin(r, m, tests, 0, 0));
    CHECK_EQ(THTensor_dtype(r), TH_BOOL);
    CHECK_SHAPE(r, 2, 2);
    CHECK_VALUES(r, 1, 0, 0, 1);
    CHECK_OK(THTensor_isin(r, m, tests, 1, 1));
    CHECK_VALUES(r, 0, 1, 1, 0);
    THTensor_free(r);
    THTensor_free(tests);
    THTensor_free(m);
}

CHECK_MAIN(CASE(elements_come_in_order_with_where_they_stood), CASE(each_line_is_sorted_by_itself),
           CASE(nan_is_greater_than_everything_and_zeros_are_equal), CASE(every_dtype_layout_and_length_is_sorted),
           CASE(long_lines_do_not_depend_on_the_number_of_threads), CASE(the_greatest_or_the_least_are_taken),
           CASE(each_line_gives_its_own), CASE(the_last_key_decides_first), CASE(each_element_stands_once),
           CASE(no_nan_equals_another), CASE(slices_along_a_dimension_stand_once), CASE(places_keep_a_sequence_sorted),
           CASE(rows_may_have_sequences_of_their_own), CASE(elements_are_looked_for_among_others))
