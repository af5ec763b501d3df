/* Reductions: sum, mean, max and min over all elements or over one dimension. */

#include "check.h"

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
        /* 30000 has 11 significant bits, too many for bfloat16: its neighbours there are 29952 and 30080. */
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
    /* In float32 2^24 + 1 is 2^24 again, however often. */
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
    /* What was not asked for is what a fresh result has, converted. */
    CHECK_OK(THTensor_sum(r, t, 0, 1));
    CHECK_VALUES(r, 16777216);
    THTensor *ints = THTensor_newZeros(TH_INT64, SIZES(1));
    CHECK_ERROR(THTensor_sum(ints, t, 0, 1), TH_ERR_DTYPE, "cannot be stored in a tensor of int64");
    THTensor_free(ints);
    THTensor_free(r);
    THTensor_free(t);
}

static void what_is_asked_for_in_float64_is_computed_in_it(void) {
    /* 1e8 + 1 is 1e8 in float32: the places are of one lane of any vector. */
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

/* Greatest and least */

static void extremes_come_with_where_they_first_occur(void) {
    THTensor *m = matrix_of(TH_INT32, 2, 3, 9, 9, 5, 1, 1), *values = THTensor_new(), *indices = THTensor_new();
    CHECK_OK(THTensor_max(values, indices, m, 1, 0));
    CHECK_EQ(THTensor_dtype(values), TH_INT32);
    CHECK_EQ(THTensor_dtype(indices), TH_INT64);
    CHECK_VALUES(values, 9, 5);
    CHECK_VALUES(indices, 1, 0);
    CHECK_OK(THTensor_min(values, indices, m, 0, 1));
    CHECK_SHAPE(values, 1, 3);
    CHECK_SHAPE(indices, 1, 3);
    CHECK_VALUES(values, 3, 1, 1);
    CHECK_VALUES(indices, 0, 1, 1);
    THTensor_free(indices);
    THTensor_free(values);
    THTensor_free(m);
}

static void over_all_elements_the_index_is_row_major(void) {
    THTensor *m = matrix_of(TH_FLOAT32, 3, 4, 2, 8, 8, 1, 7), *turned = THTensor_newT(m);
    THTensor *value = THTensor_new(), *index = THTensor_new();
    CHECK_OK(THTensor_max(value, index, m, TH_ALL_DIMS, 0));
    CHECK_NEAR(THTensor_item(value), 8, 0);
    CHECK_EQ(THTensor_itemLong(index), 2);
    /* Turned, the rows are 4 8 1 and 2 8 7. */
    CHECK_OK(THTensor_max(value, index, turned, TH_ALL_DIMS, 1));
    CHECK_SHAPE(index, 1, 1);
    CHECK_EQ(THTensor_itemLong(index), 1);
    CHECK_OK(THTensor_min(NULL, index, turned, TH_ALL_DIMS, 0));
    CHECK_EQ(THTensor_itemLong(index), 2);
    CHECK_OK(THTensor_min(value, NULL, turned, TH_ALL_DIMS, 0));
    CHECK_NEAR(THTensor_item(value), 1, 0);
    THTensor_free(index);
    THTensor_free(value);
    THTensor_free(turned);
    THTensor_free(m);
}

static void nan_beats_everything(void) {
    THTensor *m = matrix_of(TH_FLOAT64, 3, 1, NAN, 3, NAN, INFINITY, -INFINITY, -0.5, -2, -1);
    THTensor *values = THTensor_new(), *indices = THTensor_new();
    CHECK_OK(THTensor_max(values, indices, m, 1, 0));
    CHECK_VALUES(values, NAN, NAN, -0.5);
    CHECK_VALUES(indices, 1, 0, 0);
    CHECK_OK(THTensor_min(values, indices, m, 1, 0));
    CHECK_VALUES(values, NAN, NAN, -2);
    CHECK_VALUES(indices, 1, 0, 1);
    CHECK_OK(THTensor_max(NULL, indices, m, TH_ALL_DIMS, 0));
    CHECK_EQ(THTensor_itemLong(indices), 1);
    CHECK_NEAR(THTensor_maxall(m), NAN, 0);
    CHECK_NEAR(THTensor_minall(m), NAN, 0);
    CHECK_EQ(THGetLastErrorCode(), TH_OK);
    THTensor_free(indices);
    THTensor_free(values);
    THTensor_free(m);
}

static void large_integers_are_told_apart(void) {
    const int64_t close[] = {INT64_MAX - 1, INT64_MAX, INT64_MIN + 1, INT64_MIN};
    THTensor *t = THTensor_newFromData(TH_INT64, SIZES(4), close), *value = THTensor_new(), *index = THTensor_new();
    CHECK_OK(THTensor_max(value, index, t, 0, 0));
    CHECK_EQ(THTensor_itemLong(value), INT64_MAX);
    CHECK_EQ(THTensor_itemLong(index), 1);
    CHECK_OK(THTensor_min(value, index, t, 0, 0));
    CHECK_EQ(THTensor_itemLong(value), INT64_MIN);
    CHECK_EQ(THTensor_itemLong(index), 3);
    THTensor_free(index);
    THTensor_free(value);
    THTensor_free(t);
}

static void there_is_no_greatest_of_nothing(void) {
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(0, 3)), *values = THTensor_new(), *indices = THTensor_new();
    CHECK_ERROR(THTensor_max(values, indices, t, 0, 0), TH_ERR_ARGUMENT, "[0, 3]");
    CHECK_ERROR(THTensor_min(values, NULL, t, TH_ALL_DIMS, 0), TH_ERR_ARGUMENT, "[0, 3]");
    CHECK_FAILURE(isnan(THTensor_maxall(t)), TH_ERR_ARGUMENT, "THTensor_maxall");
    CHECK_OK(THTensor_max(values, indices, t, 1, 0));
    CHECK_SHAPE(values, 0);
    CHECK_SHAPE(indices, 0);
    /* Not even where nobody would ask for one: as in PyTorch. */
    THTensor *none = THTensor_newZeros(TH_FLOAT32, SIZES(3, 0, 0));
    CHECK_ERROR(THTensor_max(values, indices, none, 1, 0), TH_ERR_ARGUMENT, "[3, 0, 0]");
    CHECK_ERROR(THTensor_argmin(indices, none, 2, 1), TH_ERR_ARGUMENT, "[3, 0, 0]");
    CHECK_ERROR(THTensor_amaxDims(values, none, SIZES(0, 2), 0), TH_ERR_ARGUMENT, "[3, 0, 0]");
    CHECK_ERROR(THTensor_aminmax(values, NULL, none, 1, 0), TH_ERR_ARGUMENT, "[3, 0, 0]");
    CHECK_ERROR(THTensor_norm(values, none, INFINITY, 1, 0), TH_ERR_ARGUMENT, "[3, 0, 0]");
    CHECK_OK(THTensor_norm(values, none, 2, 1, 0));
    CHECK_SHAPE(values, 3, 0);
    CHECK_OK(THTensor_amax(values, none, 0, 0));
    CHECK_SHAPE(values, 0, 0);
    THTensor_free(none);
    THTensor_free(indices);
    THTensor_free(values);
    THTensor_free(t);
}

static void indices_are_int64_and_apart_from_values(void) {
    THTensor *t = vector_of(TH_INT64, 5, 7), *floats = vector_of(TH_FLOAT32, 1), *r = THTensor_new();
    CHECK_ERROR(THTensor_max(r, floats, t, 0, 0), TH_ERR_DTYPE, "indices are int64");
    CHECK_ERROR(THTensor_min(NULL, floats, t, 0, 0), TH_ERR_DTYPE, "indices are int64");
    CHECK_ERROR(THTensor_max(r, r, t, 0, 0), TH_ERR_ARGUMENT, "THTensor_max");
    CHECK_EQ(THTensor_dtype(r), TH_UNDEFINED);
    THTensor_free(r);
    THTensor_free(floats);
    THTensor_free(t);
}

/* Every dtype, layout and size against plain loops */

/* A tensor of 6 planes of whole numbers from 0 to 12, seen in one of four ways. */
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
    /* bfloat16 has 8 significant bits and float16 11, too few for these sums: half of the last may be lost. All others are exact. */
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
            if (under_valgrind() && i % 4 != i / 4) continue;
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

/* Products, norms and spreads */

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

static void variances_survive_a_large_mean(void) {
    /* 1e9 and 1e9 + 1 by turns, and once as columns: the mean of squares would lose every digit. */
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
    /* Beside 1e8 numbers are multiples of 2^-26; 0, 1, ..., n - 1 of them have the variance (n^2 - 1) / 12. */
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
    /* The square of a part is a float64 here, but not that of the whole. */
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

/* Truth, and extremes alone */

static void all_and_any_ask_for_what_is_not_zero(void) {
    THTensor *m = matrix_of(TH_UINT8, 2, 0, 2, 3, 0, 0, 6), *r = THTensor_new();
    CHECK_OK(THTensor_all(r, m, 0, 0));
    CHECK_EQ(THTensor_dtype(r), TH_UINT8);
    CHECK_VALUES(r, 0, 0, 1);
    CHECK_OK(THTensor_any(r, m, 0, 1));
    CHECK_VALUES(r, 0, 1, 1);
    CHECK_EQ(THTensor_logicalall(m), 0);
    CHECK_EQ(THTensor_logicalany(m), 1);
    THTensor_free(r);
    r = THTensor_new();
    THTensor *nan = vector_of(TH_FLOAT64, NAN, -0.0), *none = THTensor_newZeros(TH_FLOAT64, SIZES(0, 2));
    CHECK_OK(THTensor_anyDims(r, nan, 0, NULL, 0));
    CHECK_EQ(THTensor_dtype(r), TH_BOOL);
    CHECK_VALUES(r, 1);
    CHECK_EQ(THTensor_logicalall(nan), 0);
    CHECK_OK(THTensor_all(r, none, 0, 0));
    CHECK_VALUES(r, 1, 1);
    CHECK_OK(THTensor_any(r, none, 0, 0));
    CHECK_VALUES(r, 0, 0);
    THTensor_free(none);
    THTensor_free(nan);
    THTensor_free(r);
    THTensor_free(m);
}

static void a_late_exception_is_found(void) {
    const int64_t n = 100003;
    THTensor *t = THTensor_newOnes(TH_BOOL, SIZES(n));
    CHECK_EQ(THTensor_logicalall(t), 1);
    CHECK_OK(THTensor_set1d(t, n - 1, 0));
    CHECK_EQ(THTensor_logicalall(t), 0);
    CHECK_OK(THTensor_zero(t));
    CHECK_EQ(THTensor_logicalany(t), 0);
    CHECK_OK(THTensor_set1d(t, 77777, 1));
    CHECK_EQ(THTensor_logicalany(t), 1);
    CHECK_NEAR(THTensor_sumall(t), 1, 0);
    THTensor_free(t);
}

static void extremes_come_alone_or_in_pairs(void) {
    THTensor *m = matrix_of(TH_FLOAT32, 2, 3, 9, NAN, 5, -1, 1), *r = THTensor_new(), *least = THTensor_new();
    CHECK_OK(THTensor_amax(r, m, 0, 0));
    CHECK_VALUES(r, 5, 9, NAN);
    CHECK_OK(THTensor_amin(r, m, 1, 1));
    CHECK_SHAPE(r, 2, 1);
    CHECK_VALUES(r, NAN, -1);
    CHECK_OK(THTensor_aminmax(least, r, m, 0, 0));
    CHECK_VALUES(least, 3, -1, NAN);
    CHECK_VALUES(r, 5, 9, NAN);
    CHECK_OK(THTensor_amaxDims(r, m, SIZES(-1, 0), 1));
    CHECK_SHAPE(r, 1, 1);
    CHECK_VALUES(r, NAN);
    THTensor *where = THTensor_new(), *none = THTensor_newZeros(TH_FLOAT32, SIZES(0));
    CHECK_OK(THTensor_argmax(where, m, TH_ALL_DIMS, 0));
    CHECK_EQ(THTensor_itemLong(where), 2);
    CHECK_OK(THTensor_argmin(where, m, 0, 0));
    CHECK_VALUES(where, 0, 1, 0);
    CHECK_ERROR(THTensor_argmin(where, none, 0, 0), TH_ERR_ARGUMENT, "[0]");
    CHECK_ERROR(THTensor_amax(r, none, TH_ALL_DIMS, 0), TH_ERR_ARGUMENT, "[0]");
    CHECK_ERROR(THTensor_aminmax(r, r, m, 0, 0), TH_ERR_ARGUMENT, "tensor each");
    THTensor_free(none);
    THTensor_free(where);
    THTensor_free(least);
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

/* Every reduction on one thread and on several, over shapes that are cut in different ways. */
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

CHECK_MAIN(CASE(a_sum_over_a_dimension_removes_it), CASE(keepdim_leaves_it_with_size_one),
           CASE(all_dimensions_at_once_leave_a_scalar), CASE(integers_and_bool_sum_to_int64),
           CASE(floats_are_summed_in_float64_and_rounded_once), CASE(a_sum_in_float64_keeps_what_float32_cannot),
           CASE(what_is_asked_for_in_float64_is_computed_in_it),
           CASE(a_result_in_a_dtype_asked_for_is_the_same_wherever_it_is_stored),
           CASE(the_sum_of_nothing_is_zero_and_its_mean_is_nan), CASE(infinities_and_nan_pass_through_sums),
           CASE(a_scalar_has_dimension_0_and_minus_1), CASE(extremes_come_with_where_they_first_occur),
           CASE(over_all_elements_the_index_is_row_major), CASE(nan_beats_everything),
           CASE(large_integers_are_told_apart), CASE(there_is_no_greatest_of_nothing),
           CASE(indices_are_int64_and_apart_from_values), CASE(reductions_agree_with_loops_on_all_dtypes_and_layouts),
           CASE(large_reductions_do_not_depend_on_the_number_of_threads), CASE(a_reduction_may_replace_its_input),
           CASE(a_result_inside_the_input_is_as_if_elsewhere), CASE(results_keep_their_strides),
           CASE(products_multiply_in_int64_and_float64),
           CASE(variances_divide_by_one_less_unless_biased),
           CASE(variances_survive_a_large_mean),
           CASE(variances_do_not_lose_digits_to_the_mean),
           CASE(norms_neither_overflow_nor_vanish_on_the_way),
           CASE(norms_take_any_power),
           CASE(distances_are_norms_of_differences),
           CASE(nan_is_left_out_on_request),
           CASE(all_and_any_ask_for_what_is_not_zero),
           CASE(a_late_exception_is_found),
           CASE(extremes_come_alone_or_in_pairs),
           CASE(several_dimensions_fold_at_once),
           CASE(a_result_dtype_decides_how_to_add),
           CASE(long_sums_lose_next_to_nothing),
           CASE(results_stay_as_they_were_where_one_cannot_be),
           CASE(no_reduction_depends_on_the_number_of_threads))
