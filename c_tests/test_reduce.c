/* Reductions: sums and means over all elements, one dimension or several, and the common properties of reductions. */

#include "check.h"

#include <float.h>

/* Sums and means */

static void a_sum_over_a_dimension_removes_it(void) {
    THTensor *m = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6), *r = THTensor_new();
    CHECK_OK(THTensor_sum(r, m, 0, 0));
    CHECK_SHAPE(r, 3);
    CHECK_VALUES(r, 5, 7, 9);
    CHECK_OK(THTensor_sum(r, m, -1, 0));
    CHECK_SHAPE(r, 2);
    CHECK_VALUES(r, 6, 15);
    CHECK_OK(THTensor_mean(r, m, 1, 0));
    CHECK_VALUES(r, 2, 5);
    THTensor_free(r);
    THTensor_free(m);
}

static void keepdim_leaves_it_with_size_one(void) {
    THTensor *m = matrix_of(TH_FLOAT64, 2, 1, 2, 3, 4, 5, 6), *r = THTensor_new();
    CHECK_OK(THTensor_sum(r, m, 1, 1));
    CHECK_SHAPE(r, 2, 1);
    CHECK_OK(THTensor_csub(r, m, 1, r));
    CHECK_VALUES(r, -5, -4, -3, -11, -10, -9);
    CHECK_OK(THTensor_mean(r, m, 0, 1));
    CHECK_SHAPE(r, 1, 3);
    CHECK_VALUES(r, 2.5, 3.5, 4.5);
    THTensor_free(r);
    THTensor_free(m);
}

static void all_dimensions_at_once_leave_a_scalar(void) {
    THTensor *m = matrix_of(TH_INT16, 2, 1, 2, 3, 4, 5, 6), *r = THTensor_new();
    CHECK_OK(THTensor_sum(r, m, TH_ALL_DIMS, 0));
    CHECK_EQ(THTensor_nDimension(r), 0);
    CHECK_EQ(THTensor_itemLong(r), 21);
    CHECK_OK(THTensor_sum(r, m, TH_ALL_DIMS, 1));
    CHECK_SHAPE(r, 1, 1);
    CHECK_NEAR(THTensor_sumall(m), 21, 0);
    CHECK_NEAR(THTensor_maxall(m), 6, 0);
    CHECK_NEAR(THTensor_minall(m), 1, 0);
    CHECK_FAILURE(isnan(THTensor_meanall(m)), TH_ERR_DTYPE, "int16");
    THTensor_free(r);
    THTensor_free(m);
}

static void integers_and_bool_sum_to_int64(void) {
    for (int k = 0; k < DTYPES; k++) {
        THTensor *t = THTensor_newFull(dtypes[k], SIZES(300), 100), *r = THTensor_new();
        CHECK_OK(THTensor_sum(r, t, 0, 0));
        CHECK_EQ(THTensor_dtype(r), is_float(dtypes[k]) ? dtypes[k] : TH_INT64);
        /* 30000 needs 11 significant bits, too many for bfloat16, whose nearest numbers are 29952 and 30080. */
        CHECK_NEAR(THTensor_item(r), dtypes[k] == TH_BOOL ? 300 : dtypes[k] == TH_BFLOAT16 ? 29952 : 30000, 0);
        THTensor_free(r);
        THTensor_free(t);
    }
    THTensor *most = THTensor_newFull(TH_INT64, SIZES(2), 0x1p62), *sum = THTensor_new();
    CHECK_OK(THTensor_sum(sum, most, 0, 0));
    CHECK_EQ(THTensor_itemLong(sum), INT64_MIN);
    THTensor_free(sum);
    THTensor_free(most);
}

static void floats_are_summed_in_float64_and_rounded_once(void) {
    /* In float32, 2^24 + 1 is rounded to 2^24 each time. */
    THTensor *t = THTensor_newOnes(TH_FLOAT32, SIZES(1001)), *r = THTensor_new();
    CHECK_OK(THTensor_set1d(t, 0, 16777216));
    CHECK_OK(THTensor_sum(r, t, 0, 0));
    CHECK_VALUES(r, 16778216);
    THTensor *half = THTensor_newOnes(TH_FLOAT16, SIZES(4096)), *m = THTensor_new();
    CHECK_NEAR(THTensor_sumall(half), 4096, 0);
    THTensor *vast = THTensor_newFull(TH_FLOAT32, SIZES(500), 3e38);
    CHECK_NEAR(THTensor_meanall(vast), 3e38f, 0);
    THTensor_free(vast);
    CHECK_OK(THTensor_fill(half, 60000));
    CHECK_OK(THTensor_mean(m, half, 0, 0));
    CHECK_EQ(THTensor_dtype(m), TH_FLOAT16);
    CHECK_VALUES(m, 60000);
    THTensor_free(m);
    THTensor_free(half);
    THTensor_free(r);
    THTensor_free(t);
}

static void a_sum_in_float64_keeps_what_float32_cannot(void) {
    THTensor *t = vector_of(TH_FLOAT32, 16777216, 1), *r = THTensor_newZeros(TH_FLOAT64, SIZES(1));
    CHECK_OK(THTensor_sumDims(r, t, 1, (int64_t[]){0}, 1, TH_FLOAT64));
    CHECK_VALUES(r, 16777217);
    /* Without a requested dtype, the result is the fresh result, converted. */
    CHECK_OK(THTensor_sum(r, t, 0, 1));
    CHECK_VALUES(r, 16777216);
    THTensor *ints = THTensor_newZeros(TH_INT64, SIZES(1));
    CHECK_ERROR(THTensor_sum(ints, t, 0, 1), TH_ERR_DTYPE, "cannot be stored in a tensor of int64");
    THTensor_free(ints);
    THTensor_free(r);
    THTensor_free(t);
}

static void what_is_asked_for_in_float64_is_computed_in_it(void) {
    /* In float32, 1e8 + 1 is 1e8. The nonzero elements are in one lane for every vector width. */
    const THDtype floats[] = {TH_BFLOAT16, TH_FLOAT32};
    for (int k = 0; k < 2; k++) {
        const double big = k ? 1e8 : 0x1p30, root = sqrt(1 + 2 * big * big);
        THTensor *t = THTensor_newZeros(floats[k], SIZES(100)), *r = THTensor_new();
        CHECK_OK(THTensor_set1d(t, 0, big));
        CHECK_OK(THTensor_set1d(t, 1, -big));
        CHECK_OK(THTensor_set1d(t, 16, 1));
        CHECK_NEAR(THTensor_sumall(t), 1, 0);
        CHECK_NEAR(THTensor_meanall(t), 0.01, 1e-17);
        CHECK_NEAR(THTensor_normall(t, 1), 2 * big + 1, 0);
        CHECK_NEAR(THTensor_normall(t, 2), root, 1e-15 * root);
        CHECK_OK(THTensor_sumDims(r, t, 0, NULL, 0, TH_FLOAT64));
        CHECK_VALUES(r, 1);
        CHECK_OK(THTensor_meanDims(r, t, 0, NULL, 0, TH_FLOAT64));
        CHECK_CLOSE(r, 1e-17, 0.01);
        CHECK_OK(THTensor_normDims(r, t, 1, 0, NULL, 0, TH_FLOAT64));
        CHECK_VALUES(r, 2 * big + 1);
        THTensor *matrix = THTensor_newZeros(floats[k], SIZES(100, 100)), *diagonal = THTensor_newDiagonal(matrix, 0, 0, 1);
        CHECK_OK(THTensor_copy(diagonal, t));
        CHECK_NEAR(THTensor_trace(matrix), 1, 0);
        THTensor_free(diagonal);
        THTensor_free(matrix);
        THTensor_free(r);
        THTensor_free(t);
    }
    THTensor *a = vector_of(TH_FLOAT32, 16777216, 3), *b = vector_of(TH_FLOAT32, 0.5, 3);
    CHECK_NEAR(THTensor_dist(a, b, 1), 16777215.5, 0);
    THTensor_free(b);
    THTensor_free(a);
}

static void a_result_in_a_dtype_asked_for_is_the_same_wherever_it_is_stored(void) {
    static const THDtype asked[] = {TH_UINT8, TH_INT8, TH_BOOL, TH_INT16, TH_FLOAT16, TH_FLOAT32};
    THTensor *t = matrix_of(TH_INT32, 2, 200, 100, 3, 70000, -1, 77);
    for (int k = 0; k < 6; k++) {
        for (int product = 0; product < 2; product++) {
            THStatus (*f)(THTensor *, const THTensor *, int, const int64_t *, int, THDtype) = product ? THTensor_prodDims : THTensor_sumDims;
            for (int over = 0; over < 3; over++) {
                const int64_t dim = over;
                THTensor *fresh = THTensor_new();
                CHECK_OK(f(fresh, t, over < 2, &dim, 0, asked[k]));
                CHECK_EQ(THTensor_dtype(fresh), asked[k]);
                for (int into = 0; into < DTYPES; into++) {
                    if (is_float(asked[k]) ? dtypes[into] != TH_FLOAT64 : !is_float(dtypes[into]) && dtypes[into] != TH_INT64) continue;
                    THTensor *same = THTensor_newTo(fresh, dtypes[into]), *r = THTensor_newZerosLike(same);
                    CHECK_OK(f(r, t, over < 2, &dim, 0, asked[k]));
                    CHECK(THTensor_equal(r, same));
                    THTensor_free(r);
                    THTensor_free(same);
                }
                THTensor_free(fresh);
            }
        }
    }
    THTensor_free(t);
}

static void the_sum_of_nothing_is_zero_and_its_mean_is_nan(void) {
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(2, 0, 3)), *r = THTensor_new();
    CHECK_OK(THTensor_sum(r, t, 1, 0));
    CHECK_SHAPE(r, 2, 3);
    CHECK_VALUES(r, 0, 0, 0, 0, 0, 0);
    CHECK_OK(THTensor_sum(r, t, 0, 0));
    CHECK_SHAPE(r, 0, 3);
    CHECK_OK(THTensor_mean(r, t, 1, 1));
    CHECK_SHAPE(r, 2, 1, 3);
    CHECK_VALUES(r, NAN, NAN, NAN, NAN, NAN, NAN);
    CHECK_NEAR(THTensor_sumall(t), 0, 0);
    CHECK_NEAR(THTensor_meanall(t), NAN, 0);
    CHECK_EQ(THGetLastErrorCode(), TH_OK);
    THTensor_free(r);
    THTensor_free(t);
}

static void infinities_and_nan_pass_through_sums(void) {
    THTensor *t = matrix_of(TH_FLOAT32, 3, 1, INFINITY, INFINITY, -INFINITY, 1, NAN), *r = THTensor_new();
    CHECK_OK(THTensor_sum(r, t, 1, 0));
    CHECK_VALUES(r, INFINITY, NAN, NAN);
    THTensor_free(r);
    THTensor_free(t);
}

static void a_scalar_has_dimension_0_and_minus_1(void) {
    THTensor *t = THTensor_newScalar(TH_FLOAT32, 7), *r = THTensor_new(), *at = THTensor_new();
    for (int dimension = -1; dimension <= 0; dimension++) {
        CHECK_OK(THTensor_sum(r, t, dimension, 0));
        CHECK_EQ(THTensor_nDimension(r), 0);
        CHECK_VALUES(r, 7);
        CHECK_OK(THTensor_max(r, at, t, dimension, 1));
        CHECK_EQ(THTensor_nDimension(r), 0);
        CHECK_VALUES(at, 0);
    }
    CHECK_ERROR(THTensor_sum(r, t, 1, 0), TH_ERR_ARGUMENT, "dimension 1");
    CHECK_ERROR(THTensor_mean(r, t, -2, 0), TH_ERR_ARGUMENT, "dimension -2");
    THTensor_free(at);
    THTensor_free(r);
    THTensor_free(t);
}

/* Every dtype, layout and size against plain loops */

/* A tensor of 6 planes of integers from 0 to 12, in one of four layouts. */
static THTensor *planes(THDtype dtype, int64_t rows, int64_t columns, int way) {
    THTensor *t = THTensor_newZeros(dtype, SIZES(6, rows, columns));
    THTensor *flat = THTensor_newFlatten(t, 0, -1);
    for (int64_t i = 0; i < 6 * rows * columns; i++) THTensor_set1d(flat, i, (double)((i * 31 + i / 7) % 13));
    THTensor_free(flat);
    if (way == 1) CHECK_OK(THTensor_transpose(t, t, 0, 2));
    if (way == 2) CHECK_OK(THTensor_slice(t, t, 2, 1, INT64_MAX, 3));
    if (way == 3) CHECK_OK(THTensor_expand(t, t, 4, (const int64_t[]){2, -1, -1, -1}));
    return t;
}

/* Reduces the line of `t` along `dimension` that begins at `index`. */
static void reduce_line(const THTensor *t, int64_t *index, int dimension, double *sum, double *most, int64_t *where) {
    *sum = 0;
    *most = -1;
    for (index[dimension] = 0; index[dimension] < THTensor_size(t, dimension); index[dimension]++) {
        double x = THTensor_getAt(t, THTensor_nDimension(t), index);
        *sum += x;
        if (x > *most) *most = x, *where = index[dimension];
    }
    index[dimension] = 0;
}

static void check_against_loops(const THTensor *t, int dimension) {
    THTensor *sum = THTensor_new(), *most = THTensor_new(), *where = THTensor_new();
    CHECK_OK(THTensor_sum(sum, t, dimension, 1));
    CHECK_OK(THTensor_max(most, where, t, dimension, 1));
    int ndim = THTensor_nDimension(t), wrong = 0;
    /* bfloat16 has 8 significant bits and float16 11, too few for these sums: half a unit of the last bit may be lost. All other sums are
     * exact. */
    double loss = THTensor_dtype(t) == TH_BFLOAT16 ? 0x1p-8 : THTensor_dtype(t) == TH_FLOAT16 ? 0x1p-11 : 0;
    for (int64_t i = 0; i < THTensor_nElement(sum); i++) {
        int64_t index[4], at = i, expected_where = -1;
        double expected_sum, expected_most;
        for (int d = ndim - 1; d >= 0; d--) index[d] = at % THTensor_size(sum, d), at /= THTensor_size(sum, d);
        reduce_line(t, index, dimension, &expected_sum, &expected_most, &expected_where);
        wrong += !check_is_near(element_at(sum, i), expected_sum, expected_sum * loss);
        wrong += element_at(most, i) != expected_most || element_at(where, i) != (double)expected_where;
    }
    CHECK_EQ(wrong, 0);
    THTensor_free(where);
    THTensor_free(most);
    THTensor_free(sum);
}

static void reductions_agree_with_loops_on_all_dtypes_and_layouts(void) {
    static const int64_t sizes[][2] = {{1, 9}, {5, 40}, {33, 4}, {400, 10}};
    for (int k = 0; k < DTYPES; k++) {
        for (int i = 0; i < 16; i++) {
            if (under_valgrind() && (i % 4 != i / 4 || (i + k) % 2)) continue;
            THTensor *t = planes(dtypes[k], sizes[i % 4][0], sizes[i % 4][1], i / 4);
            for (int d = 0; d < THTensor_nDimension(t); d++) check_against_loops(t, d);
            THTensor_free(t);
        }
    }
}

static void large_reductions_do_not_depend_on_the_number_of_threads(void) {
    const int64_t rows = shrunk(1000) + 2, columns = 1003;
    const int threads_before = THGetNumThreads();
    THTensor *t = THTensor_newWithSize2d(TH_FLOAT32, rows, columns);
    float *values = THTensor_data(t);
    for (int64_t i = 0; i < rows * columns; i++) values[i] = (float)(i % 1009) / 1009 - 0.3f;
    for (int dimension = -2; dimension < 1; dimension++) {
        THTensor *alone = THTensor_new(), *together = THTensor_new();
        int over = dimension == 0 ? TH_ALL_DIMS : dimension;
        CHECK_OK(THSetNumThreads(1));
        CHECK_OK(THTensor_sum(alone, t, over, 0));
        CHECK_OK(THSetNumThreads(5));
        CHECK_OK(THTensor_sum(together, t, over, 0));
        size_t bytes = (size_t)THTensor_nElement(alone) * sizeof(float);
        CHECK(memcmp(THTensor_data(alone), THTensor_data(together), bytes) == 0);
        THTensor_free(together);
        THTensor_free(alone);
    }
    CHECK_OK(THSetNumThreads(threads_before));
    THTensor_free(t);
}

/* Results */

static void a_reduction_may_replace_its_input(void) {
    THTensor *m = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6), *same = THTensor_newWithTensor(m);
    CHECK_OK(THTensor_sum(m, m, 0, 0));
    CHECK_VALUES(m, 5, 7, 9);
    CHECK_VALUES(same, 1, 2, 3, 4, 5, 6);
    CHECK_OK(THTensor_max(m, NULL, m, 0, 1));
    CHECK_VALUES(m, 9);
    THTensor_free(same);
    THTensor_free(m);
}

static void a_result_inside_the_input_is_as_if_elsewhere(void) {
    THTensor *m = matrix_of(TH_INT64, 2, 1, 2, 3, 4), *row = THTensor_newSelect(m, 0, 0);
    THTensor *column = THTensor_newSelect(m, 1, 1);
    CHECK_OK(THTensor_sum(row, m, 0, 0));
    CHECK_VALUES(m, 4, 6, 3, 4);
    CHECK_OK(THTensor_max(column, NULL, m, 1, 0));
    CHECK_VALUES(m, 4, 6, 3, 4);
    CHECK_OK(THTensor_max(NULL, column, m, 1, 0));
    CHECK_VALUES(m, 4, 1, 3, 1);
    THTensor_free(column);
    THTensor_free(row);
    THTensor_free(m);
}

static void results_keep_their_strides(void) {
    THTensor *m = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6), *r = THTensor_newZeros(TH_FLOAT32, SIZES(6));
    THTensor *every_other = THTensor_newSlice(r, 0, 1, 6, 2);
    CHECK_OK(THTensor_sum(every_other, m, 0, 0));
    CHECK_VALUES(r, 0, 5, 0, 7, 0, 9);
    THTensor_free(every_other);
    THTensor_free(r);
    THTensor_free(m);
}

/* Several dimensions, and the dtype of the result */

static void several_dimensions_fold_at_once(void) {
    THTensor *t = THTensor_newZeros(TH_INT32, SIZES(2, 3, 4)), *flat = THTensor_newFlatten(t, 0, -1), *r = THTensor_new();
    for (int64_t i = 0; i < 24; i++) CHECK_OK(THTensor_set1d(flat, i, (double)i));
    CHECK_OK(THTensor_sumDims(r, t, SIZES(2, 0), 0, TH_UNDEFINED));
    CHECK_VALUES(r, 60, 92, 124);
    CHECK_OK(THTensor_sumDims(r, t, SIZES(0, -1), 1, TH_UNDEFINED));
    CHECK_SHAPE(r, 1, 3, 1);
    CHECK_OK(THTensor_sumDims(r, t, 0, NULL, 0, TH_UNDEFINED));
    CHECK_EQ(THTensor_itemLong(r), 276);
    CHECK_ERROR(THTensor_sumDims(r, t, SIZES(0, -3), 0, TH_UNDEFINED), TH_ERR_ARGUMENT, "twice");
    CHECK_ERROR(THTensor_sumDims(r, t, SIZES(3), 0, TH_UNDEFINED), TH_ERR_ARGUMENT, "dimension 3");
    CHECK_ERROR(THTensor_sumDims(r, t, SIZES(INT64_MAX), 0, TH_UNDEFINED), TH_ERR_ARGUMENT, "out of range");
    CHECK_ERROR(THTensor_sumDims(r, t, 1, NULL, 0, TH_UNDEFINED), TH_ERR_ARGUMENT, "dims");
    CHECK_ERROR(THTensor_sumDims(r, t, SIZES(1), 0, 99), TH_ERR_ARGUMENT, "99");
    THTensor_free(r);
    THTensor_free(flat);
    THTensor_free(t);
}

static void a_result_dtype_decides_how_to_add(void) {
    THTensor *floats = vector_of(TH_FLOAT32, 1.7, 2.7), *ints = vector_of(TH_UINT8, 200, 255), *r = THTensor_new();
    CHECK_OK(THTensor_sumDims(r, floats, 0, NULL, 0, TH_INT32));
    CHECK_EQ(THTensor_dtype(r), TH_INT32);
    CHECK_VALUES(r, 3);
    THTensor_free(r);
    r = THTensor_new();
    CHECK_OK(THTensor_meanDims(r, ints, 0, NULL, 0, TH_FLOAT64));
    CHECK_VALUES(r, 227.5);
    CHECK_ERROR(THTensor_meanDims(r, floats, 0, NULL, 0, TH_INT32), TH_ERR_DTYPE, "mean");
    CHECK_ERROR(THTensor_meanDims(r, ints, 0, NULL, 0, TH_UNDEFINED), TH_ERR_DTYPE, "uint8");
    THTensor_free(r);
    r = THTensor_new();
    CHECK_OK(THTensor_prodDims(r, ints, 0, NULL, 0, TH_BOOL));
    CHECK_EQ(THTensor_dtype(r), TH_BOOL);
    CHECK_VALUES(r, 1);
    THTensor_free(r);
    THTensor_free(ints);
    THTensor_free(floats);
}

static void long_sums_lose_next_to_nothing(void) {
    const int64_t n = shrunk(10000000) + 1;
    THTensor *t = THTensor_newFull(TH_FLOAT32, SIZES(n), 0.1);
    CHECK_NEAR(THTensor_sumall(t), (double)0.1f * (double)n, 1e-9 * (double)n);
    THTensor_free(t);
}

static void results_stay_as_they_were_where_one_cannot_be(void) {
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(2, 3)), *values = vector_of(TH_FLOAT32, 1, 2, 3, 4, 5);
    THTensor *indices = THTensor_newZeros(TH_INT64, SIZES(1));
    THTensor *spread = THTensor_newExpand(indices, SIZES(3));
    CHECK_ERROR(THTensor_max(values, spread, t, 0, 0), TH_ERR_SHAPE, "share one element");
    CHECK_SHAPE(values, 5);
    CHECK_VALUES(values, 1, 2, 3, 4, 5);
    THTensor_free(spread);
    THTensor_free(indices);
    THTensor_free(values);
    THTensor_free(t);
}

/* Every reduction, on one thread and on several, over shapes that are divided in different ways. */
static void no_reduction_depends_on_the_number_of_threads(void) {
    static const int64_t shapes[][3] = {{3, 70000, 1}, {70000, 3, 1}, {300, 20, 40}, {1, 1, 300000}, {9000, 1, 40}, {30000, 1, 9}};
    const int threads_before = THGetNumThreads();
    for (int s = 0; s < 6 && !under_valgrind(); s++) {
        THTensor *t = THTensor_newWithSize3d(TH_FLOAT32, shapes[s][0], shapes[s][1], shapes[s][2]);
        float *values = THTensor_data(t);
        for (int64_t i = 0; i < THTensor_nElement(t); i++) values[i] = (float)(i * 7919 % 10007) / 10007 - 0.3f;
        for (int d = -1; d < 3; d++) {
            THTensor *r[2][6];
            for (int k = 0; k < 2; k++) {
                CHECK_OK(THSetNumThreads(k ? 5 : 1));
                for (int i = 0; i < 6; i++) r[k][i] = THTensor_new();
                int over = d < 0 ? TH_ALL_DIMS : d;
                CHECK_OK(THTensor_sum(r[k][0], t, over, 0));
                CHECK_OK(THTensor_var(r[k][1], t, over, 0, 0));
                CHECK_OK(THTensor_norm(r[k][2], t, 3, over, 0));
                CHECK_OK(THTensor_max(r[k][3], r[k][4], t, over, 0));
                CHECK_OK(THTensor_prod(r[k][5], t, over, 0));
            }
            for (int i = 0; i < 6; i++) {
                size_t bytes = (size_t)THTensor_nElement(r[0][i]) * (i == 4 ? 8 : 4);
                CHECK(memcmp(THTensor_data(r[0][i]), THTensor_data(r[1][i]), bytes) == 0);
            }
            for (int i = 0; i < 12; i++) THTensor_free(r[i / 6][i % 6]);
        }
        THTensor_free(t);
    }
    CHECK_OK(THSetNumThreads(threads_before));
}

/* The variance of a column of `n` numbers by rows, by columns, and as a number. */
static void check_variance(int n, const double *x, double correction, double expected, double tolerance) {
    enum { COPIES = 9 };
    THTensor *t = THTensor_newZeros(TH_FLOAT64, SIZES(n, COPIES)), *rows = THTensor_newZeros(TH_FLOAT64, SIZES(COPIES, n));
    THTensor *r = THTensor_new();
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < COPIES; j++) ((double *)THTensor_data(t))[i * COPIES + j] = x[i];
        for (int j = 0; j < COPIES; j++) ((double *)THTensor_data(rows))[j * n + i] = x[i];
    }
    for (int k = 0; k < 2; k++) {
        CHECK_OK(THTensor_varCorrection(r, k ? rows : t, k, correction, 0));
        for (int j = 0; j < COPIES; j++) CHECK_NEAR(THTensor_get1d(r, j), expected, tolerance);
        CHECK_OK(THTensor_stdCorrection(r, k ? rows : t, k, correction, 0));
        CHECK_NEAR(THTensor_get1d(r, 0), sqrt(expected), tolerance);
    }
    CHECK_OK(THTensor_select(rows, rows, 0, 0));
    CHECK_NEAR(THTensor_varallCorrection(rows, correction), expected, tolerance);
    THTensor_free(r);
    THTensor_free(rows);
    THTensor_free(t);
}

static void a_variance_that_overflows_is_infinite(void) {
    check_variance(3, (double[]){1e200, -1e200, 3e200}, 1, INFINITY, 0);
    check_variance(2, (double[]){1.7e308, -1.7e308}, 1, INFINITY, 0);
    check_variance(4, (double[]){1e308, 1e308, 1e308, -1e308}, 0, INFINITY, 0);
    check_variance(3, (double[]){0, 1e308, 1.7e308}, 1, INFINITY, 0);
    check_variance(3, (double[]){1, INFINITY, 2}, 1, NAN, 0);
    check_variance(3, (double[]){NAN, 1.7e308, -1.7e308}, 1, NAN, 0);
    enum { MANY = 10000 };
    double *many = malloc(MANY * sizeof *many);
    for (int i = 0; i < MANY; i++) many[i] = i % 2 ? 1.7e308 : -1.7e308;
    check_variance(MANY, many, 1, INFINITY, 0);
    many[MANY - 1] = INFINITY;
    check_variance(MANY, many, 1, NAN, 0);
    free(many);
}

static void the_variance_of_nothing_is_nan_whatever_the_correction(void) {
    for (int correction = -2; correction < 3; correction++) check_variance(0, NULL, correction, NAN, 0);
    check_variance(2, (double[]){1, 3}, -2, 0.5, 0);
    check_variance(2, (double[]){1, 3}, 3, INFINITY, 0);
}

/* Measuring deviations from the first element would lose three digits to cancellation. */
static void an_outlier_in_front_costs_a_variance_nothing(void) {
    enum { N = 2000 };
    double x[N];
    for (int i = 0; i < N; i++) x[i] = i % 7;
    x[0] = 1e7;
    long double sum = 0, squares = 0;
    for (int i = 0; i < N; i++) sum += x[i];
    for (int i = 0; i < N; i++) squares += (x[i] - sum / N) * (x[i] - sum / N);
    double expected = (double)(squares / (N - 1));
    check_variance(N, x, 1, expected, expected * 16 * DBL_EPSILON);
}

CHECK_MAIN(CASE(a_variance_that_overflows_is_infinite), CASE(the_variance_of_nothing_is_nan_whatever_the_correction),
           CASE(an_outlier_in_front_costs_a_variance_nothing), CASE(a_sum_over_a_dimension_removes_it), CASE(keepdim_leaves_it_with_size_one), CASE(all_dimensions_at_once_leave_a_scalar),
           CASE(integers_and_bool_sum_to_int64), CASE(floats_are_summed_in_float64_and_rounded_once),
           CASE(a_sum_in_float64_keeps_what_float32_cannot), CASE(what_is_asked_for_in_float64_is_computed_in_it),
           CASE(a_result_in_a_dtype_asked_for_is_the_same_wherever_it_is_stored), CASE(the_sum_of_nothing_is_zero_and_its_mean_is_nan),
           CASE(infinities_and_nan_pass_through_sums), CASE(a_scalar_has_dimension_0_and_minus_1),
           CASE(reductions_agree_with_loops_on_all_dtypes_and_layouts), CASE(large_reductions_do_not_depend_on_the_number_of_threads),
           CASE(a_reduction_may_replace_its_input), CASE(a_result_inside_the_input_is_as_if_elsewhere), CASE(results_keep_their_strides),
           CASE(several_dimensions_fold_at_once), CASE(a_result_dtype_decides_how_to_add), CASE(long_sums_lose_next_to_nothing),
           CASE(results_stay_as_they_were_where_one_cannot_be), CASE(no_reduction_depends_on_the_number_of_threads))
