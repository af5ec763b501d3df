/* Matrix products: mm, mv, addmm and addmv on all dtypes, shapes and layouts; batches, chains and einsum. */

#include "check.h"

static void a_matrix_times_a_matrix(void) {
    THTensor *a = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6), *b = matrix_of(TH_FLOAT32, 3, 1, 0, 0, 1, 1, 1);
    THTensor *r = THTensor_new();
    CHECK_OK(THTensor_mm(r, a, b));
    CHECK_SHAPE(r, 2, 2);
    CHECK_VALUES(r, 4, 5, 10, 11);
    THTensor_free(r);
    THTensor_free(b);
    THTensor_free(a);
}

static void a_matrix_times_a_vector(void) {
    THTensor *a = matrix_of(TH_FLOAT64, 2, 1, 2, 3, 4, 5, 6), *v = vector_of(TH_FLOAT64, 1, 10, 100),
             *r = THTensor_new();
    CHECK_OK(THTensor_mv(r, a, v));
    CHECK_SHAPE(r, 2);
    CHECK_VALUES(r, 321, 654);
    THTensor_free(r);
    THTensor_free(v);
    THTensor_free(a);
}

static void products_are_scaled_and_added(void) {
    THTensor *a = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4), *t = matrix_of(TH_FLOAT32, 2, 10, 20, 30, 40);
    THTensor *v = vector_of(TH_FLOAT32, 1, 1), *r = THTensor_new();
    CHECK_OK(THTensor_addmm(r, 0.5, t, 2, a, a));
    CHECK_VALUES(r, 19, 30, 45, 64);
    CHECK_OK(THTensor_addmv(r, 2, v, -1, a, v));
    CHECK_VALUES(r, -1, -5);
    CHECK_OK(THTensor_addmm(t, 1, t, 1, a, a));
    CHECK_VALUES(t, 17, 30, 45, 62);
    THTensor_free(r);
    THTensor_free(v);
    THTensor_free(t);
    THTensor_free(a);
}

static void the_addend_broadcasts(void) {
    THTensor *a = matrix_of(TH_INT32, 2, 1, 2, 3, 4), *row = vector_of(TH_INT32, 10, 20);
    THTensor *column = matrix_of(TH_INT32, 2, 100, 200), *one = THTensor_newScalar(TH_INT32, 1), *r = THTensor_new();
    CHECK_OK(THTensor_addmm(r, 1, row, 1, a, a));
    CHECK_VALUES(r, 17, 30, 25, 42);
    CHECK_OK(THTensor_addmm(r, 1, column, 1, a, a));
    CHECK_VALUES(r, 107, 110, 215, 222);
    CHECK_OK(THTensor_addmv(r, 3, one, 1, a, row));
    CHECK_VALUES(r, 53, 113);
    CHECK_ERROR(THTensor_addmm(row, 1, column, 1, a, row), TH_ERR_SHAPE, "THTensor_addmm");
    THTensor_free(r);
    THTensor_free(one);
    THTensor_free(column);
    THTensor_free(row);
    THTensor_free(a);
}

static void with_beta_zero_the_addend_is_not_looked_at(void) {
    THTensor *a = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4), *nan = THTensor_newFull(TH_FLOAT32, SIZES(2, 2), NAN);
    THTensor *v = vector_of(TH_FLOAT32, NAN, INFINITY), *ones = THTensor_newOnes(TH_FLOAT32, SIZES(2));
    CHECK_OK(THTensor_addmm(nan, 0, nan, 1, a, a));
    CHECK_VALUES(nan, 7, 10, 15, 22);
    CHECK_OK(THTensor_addmv(v, 0, v, 1, a, ones));
    CHECK_VALUES(v, 3, 7);
    THTensor_free(ones);
    THTensor_free(v);
    THTensor_free(nan);
    THTensor_free(a);
}

static void nan_and_infinity_reach_the_results_they_touch(void) {
    THTensor *a = matrix_of(TH_FLOAT32, 2, 1, NAN, 2, 3), *b = matrix_of(TH_FLOAT32, 2, INFINITY, 1, 0, 1);
    THTensor *r = THTensor_new();
    CHECK_OK(THTensor_mm(r, a, b));
    CHECK_VALUES(r, NAN, NAN, INFINITY, 5);
    CHECK_OK(THTensor_mm(r, b, b));
    CHECK_VALUES(r, INFINITY, INFINITY, NAN, 1);
    THTensor_free(r);
    THTensor_free(b);
    THTensor_free(a);
}

/* Every dtype, shape and layout, compared with plain loops. Sums of integers are exact in all dtypes except bytes. */

static double entry(int64_t i, int64_t j, int seed) { return (double)((i * 5 + j * 3 + seed) % 4); }

static THTensor *entries(THDtype dtype, int64_t rows, int64_t columns, enum layout layout, int seed) {
    THTensor *t = zeros_laid_out(dtype, rows, columns, layout);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) THTensor_set2d(t, i, j, entry(i, j, seed));
    }
    return t;
}

/* Returns a sum as a result of `dtype` holds it: bytes wrap. */
static double held(THDtype dtype, double x) {
    return dtype == TH_UINT8 ? (uint8_t)(int64_t)x : dtype == TH_INT8 ? (int8_t)(int64_t)x : x;
}

/* 2 * t + 3 * a @ b in all layouts of one shape. `seed` chooses the combination. */
static void check_product(THDtype dtype, int64_t n, int64_t k, int64_t p, int seed) {
    THTensor *a = entries(dtype, n, k, seed % LAYOUTS, 1), *b = entries(dtype, k, p, seed / 3 % LAYOUTS, 2);
    THTensor *t = entries(dtype, n, p, seed / 2 % LAYOUTS, 3), *r = zeros_laid_out(dtype, n, p, seed / 5 % LAYOUTS);
    THTensor *fresh = THTensor_new();
    CHECK_OK(THTensor_mm(fresh, a, b));
    CHECK_OK(THTensor_addmm(r, 2, t, 3, a, b));
    int wrong = THTensor_dtype(fresh) != dtype;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < p; j++) {
            double sum = 0;
            for (int64_t l = 0; l < k; l++) sum += entry(i, l, 1) * entry(l, j, 2);
            wrong += THTensor_get2d(fresh, i, j) != held(dtype, sum);
            wrong += THTensor_get2d(r, i, j) != held(dtype, 2 * entry(i, j, 3) + 3 * sum);
        }
    }
    if (!CHECK_EQ(wrong, 0)) printf(" (%s, %d x %d x %d)", THDtype_name(dtype), (int)n, (int)k, (int)p);
    THTensor_free(fresh);
    THTensor_free(r);
    THTensor_free(t);
    THTensor_free(b);
    THTensor_free(a);
}

static void products_agree_with_loops_on_all_dtypes_shapes_and_layouts(void) {
    static const int64_t shapes[][3] = {{1, 1, 1},   {2, 3, 4},   {7, 5, 3},  {17, 33, 9}, {1, 40, 1},
                                        {40, 1, 40}, {1, 12, 65}, {65, 9, 1}, {8, 8, 8},   {31, 16, 33},
                                        {4, 4, 4},   {3, 16, 16}, {16, 5, 4}};
    for (int dtype = 0; dtype < DTYPES - 1; dtype++) {
        for (int i = 0; i < 13; i++) {
            for (int seed = 0; seed < (under_valgrind() ? 1 : 9); seed++) {
                /* Three times 33 products of up to 9 need more than the 8 bits of bfloat16. */
                int64_t inner = dtypes[dtype] == TH_BFLOAT16 && shapes[i][1] > 8 ? 8 : shapes[i][1];
                check_product(dtypes[dtype], shapes[i][0], inner, shapes[i][2], seed + i);
            }
        }
    }
}

static void vectors_agree_with_matrices_of_one_column(void) {
    static const int64_t shapes[][2] = {{1, 1}, {5, 3}, {64, 17}, {3, 200}, {33, 64}};
    for (int k = 0; k < (DTYPES - 1) * LAYOUTS; k++) {
        for (int i = 0; i < 5; i++) {
            THDtype dtype = dtypes[k / LAYOUTS];
            int64_t n = shapes[i][0], m = shapes[i][1];
            THTensor *a = entries(dtype, n, m, k % LAYOUTS, 1), *b = entries(dtype, m, 1, (k + 1) % LAYOUTS, 2);
            THTensor *v = THTensor_newSelect(b, 1, 0), *product = THTensor_new(), *r = THTensor_new();
            CHECK_OK(THTensor_mm(product, a, b));
            CHECK_OK(THTensor_mv(r, a, v));
            CHECK_OK(THTensor_squeeze1d(product, product, 1));
            CHECK_OK(THTensor_eqTensor(r, r, product));
            CHECK_NEAR(THTensor_sumall(r), n, 0);
            THTensor_free(r);
            THTensor_free(product);
            THTensor_free(v);
            THTensor_free(b);
            THTensor_free(a);
        }
    }
}

static void large_products_are_right_on_any_number_of_threads(void) {
    const int64_t n = under_valgrind() ? 20 : 300;
    const int threads_before = THGetNumThreads();
    for (int threads = 1; threads <= 5; threads += 2) {
        CHECK_OK(THSetNumThreads(threads));
        check_product(TH_FLOAT32, n, n + 1, n - 1, 0);
        check_product(TH_FLOAT64, n - 1, n, n + 3, 1);
        check_product(TH_INT32, n, n / 2, n, 2);
    }
    CHECK_OK(THSetNumThreads(threads_before));
}

static void large_products_do_not_depend_on_the_number_of_threads(void) {
    const int64_t n = under_valgrind() ? 20 : 257;
    const int threads_before = THGetNumThreads();
    THTensor *a = THTensor_newWithSize2d(TH_FLOAT32, n, n), *alone = THTensor_new(), *together = THTensor_new();
    for (int64_t i = 0; i < n * n; i++) ((float *)THTensor_data(a))[i] = (float)(i % 1009) / 1009 - 0.5f;
    CHECK_OK(THSetNumThreads(1));
    CHECK_OK(THTensor_mm(alone, a, a));
    CHECK_OK(THSetNumThreads(5));
    CHECK_OK(THTensor_mm(together, a, a));
    CHECK_OK(THSetNumThreads(threads_before));
    CHECK(memcmp(THTensor_data(alone), THTensor_data(together), (size_t)(n * n) * sizeof(float)) == 0);
    THTensor_free(together);
    THTensor_free(alone);
    THTensor_free(a);
}

/* Wrapping and rounding */

static void integers_wrap(void) {
    THTensor *a = matrix_of(TH_INT8, 1, 100, 100), *b = matrix_of(TH_INT8, 2, 100, 1), *r = THTensor_new();
    CHECK_OK(THTensor_mm(r, a, b));
    /* 10100 is 39 * 256 + 116. */
    CHECK_VALUES(r, 116);
    THTensor_free(b);
    THTensor_free(a);
    THTensor *most = THTensor_newWithSize2d(TH_INT64, 1, 1), *product = THTensor_new();
    *(int64_t *)THTensor_data(most) = INT64_MAX;
    CHECK_OK(THTensor_mm(product, most, most));
    CHECK_EQ(THTensor_itemLong(product), 1);
    CHECK_OK(THTensor_addmm(product, 1, most, 2, most, most));
    CHECK_EQ(THTensor_itemLong(product), INT64_MIN + 1);
    THTensor_free(product);
    THTensor_free(most);
    THTensor_free(r);
}

static void half_floats_accumulate_in_float32(void) {
    for (THDtype dtype = TH_FLOAT16; dtype <= TH_BFLOAT16; dtype++) {
        /* A sum of ones in 11 or 8 bits would end at 2048 or 256. */
        THTensor *row = THTensor_newOnes(dtype, SIZES(1, 4096)), *column = THTensor_newOnes(dtype, SIZES(4096, 1));
        THTensor *r = THTensor_new();
        CHECK_OK(THTensor_mm(r, row, column));
        CHECK_EQ(THTensor_dtype(r), dtype);
        CHECK_VALUES(r, 4096);
        THTensor_free(r);
        THTensor_free(column);
        THTensor_free(row);
    }
}

/* Integers from -4 to 4 by position. */
static THTensor *small_wholes(THDtype dtype, int64_t m, int64_t n, enum layout layout, int start) {
    THTensor *t = zeros_laid_out(dtype, m, n, layout);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) CHECK_OK(THTensor_set2d(t, i, j, (double)((i * 7 + j * 5 + start) % 9 - 4)));
    }
    return t;
}

/* The sums are exact in float32, and are rounded once. */
static void half_floats_multiply_in_every_layout(void) {
    static const int64_t shapes[][3] = {{2, 2, 1},   {4, 4, 4},    {8, 8, 8},    {5, 33, 7},    {33, 3, 64},
                                        {17, 49, 3}, {40, 96, 65}, {57, 17, 30}, {64, 64, 600}, {130, 140, 513}};
    for (int k = 0; k < 10 * LAYOUTS * LAYOUTS; k++) {
        const int64_t *shape = shapes[k / LAYOUTS / LAYOUTS];
        if (under_valgrind() && shape[2] > 500 && k % 5) continue;
        THDtype dtype = k % 2 ? TH_FLOAT16 : TH_BFLOAT16;
        THTensor *a = small_wholes(dtype, shape[0], shape[2], (enum layout)(k % LAYOUTS), 1);
        THTensor *b = small_wholes(dtype, shape[2], shape[1], (enum layout)(k / LAYOUTS % LAYOUTS), 2);
        THTensor *r = THTensor_new(), *wa = THTensor_newTo(a, TH_INT64), *wb = THTensor_newTo(b, TH_INT64);
        THTensor *exact = THTensor_new();
        CHECK_OK(THTensor_mm(r, a, b));
        CHECK_OK(THTensor_mm(exact, wa, wb));
        THTensor *rounded = THTensor_newTo(exact, dtype);
        CHECK(THTensor_equal(r, rounded));
        /* Added to the previous result, and in a batch whose products share the left factor. */
        CHECK_OK(THTensor_addmm(r, 1, r, -1, a, b));
        THTensor *difference = THTensor_newTo(rounded, TH_FLOAT32);
        CHECK_OK(THTensor_csub(difference, difference, 1, exact));
        THTensor *expected = THTensor_newTo(difference, dtype);
        CHECK(THTensor_equal(r, expected));
        THTensor *pair = THTensor_newExpand(b, SIZES(2, shape[2], shape[1])), *both = THTensor_new();
        CHECK_OK(THTensor_matmul(both, a, pair));
        for (int i = 0; i < 2; i++) {
            THTensor *one = THTensor_newSelect(both, 0, i);
            CHECK(THTensor_equal(one, rounded));
            THTensor_free(one);
        }
        THTensor *all[] = {a, b, r, wa, wb, exact, rounded, difference, expected, pair, both};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) THTensor_free(all[i]);
    }
}

static void a_float64_result_takes_a_float32_product(void) {
    THTensor *a = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4), *r = THTensor_newZeros(TH_FLOAT64, SIZES(7));
    CHECK_OK(THTensor_mm(r, a, a));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT64);
    CHECK_VALUES(r, 7, 10, 15, 22);
    THTensor *ints = THTensor_newZeros(TH_INT32, SIZES(2, 2));
    CHECK_ERROR(THTensor_mm(ints, a, a), TH_ERR_DTYPE, "float32 cannot be stored in a tensor of int32");
    THTensor_free(ints);
    THTensor_free(r);
    THTensor_free(a);
}

/* Shapes */

static void products_over_nothing_are_zero(void) {
    THTensor *wide = THTensor_newZeros(TH_FLOAT32, SIZES(2, 0)), *tall = THTensor_newZeros(TH_FLOAT32, SIZES(0, 3));
    THTensor *t = THTensor_newOnes(TH_FLOAT32, SIZES(2, 3)), *r = THTensor_new(),
             *v = THTensor_newZeros(TH_FLOAT32, SIZES(0));
    CHECK_OK(THTensor_mm(r, wide, tall));
    CHECK_VALUES(r, 0, 0, 0, 0, 0, 0);
    CHECK_OK(THTensor_addmm(r, 5, t, 1, wide, tall));
    CHECK_VALUES(r, 5, 5, 5, 5, 5, 5);
    CHECK_OK(THTensor_mv(r, wide, v));
    CHECK_VALUES(r, 0, 0);
    CHECK_OK(THTensor_t(t, t));
    CHECK_OK(THTensor_mm(r, tall, t));
    CHECK_SHAPE(r, 0, 2);
    THTensor_free(v);
    THTensor_free(r);
    THTensor_free(t);
    THTensor_free(tall);
    THTensor_free(wide);
}

static void shapes_and_dtypes_must_match(void) {
    THTensor *a = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6), *v = vector_of(TH_FLOAT32, 1, 2), *r = THTensor_new();
    THTensor *doubles = matrix_of(TH_FLOAT64, 3, 1, 2, 3), *bools = THTensor_newOnes(TH_BOOL, SIZES(2, 2));
    THTensor *ints = matrix_of(TH_INT32, 1, 1);
    CHECK_ERROR(THTensor_mm(r, a, a), TH_ERR_SHAPE, "3 columns, 2 rows");
    CHECK_ERROR(THTensor_mm(r, a, v), TH_ERR_SHAPE, "[2]");
    CHECK_ERROR(THTensor_mv(r, a, v), TH_ERR_SHAPE, "[2, 3] and [2]");
    CHECK_ERROR(THTensor_mv(r, v, v), TH_ERR_SHAPE, "[2]");
    CHECK_ERROR(THTensor_mm(r, a, doubles), TH_ERR_DTYPE, "float32 and float64");
    CHECK_ERROR(THTensor_mm(r, bools, bools), TH_ERR_DTYPE, "bool");
    CHECK_ERROR(THTensor_addmm(r, 0.5, ints, 1, ints, ints), TH_ERR_DTYPE, "0.5");
    CHECK_ERROR(THTensor_addmm(r, 1, ints, 0.5, ints, ints), TH_ERR_DTYPE, "0.5");
    CHECK_EQ(THTensor_dtype(r), TH_UNDEFINED);
    THTensor_free(ints);
    THTensor_free(bools);
    THTensor_free(doubles);
    THTensor_free(r);
    THTensor_free(v);
    THTensor_free(a);
}

/* Overlap */

static void a_product_may_replace_its_factors(void) {
    THTensor *a = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4), *b = matrix_of(TH_FLOAT32, 2, 0, 1, 1, 0);
    CHECK_OK(THTensor_mm(a, a, b));
    CHECK_VALUES(a, 2, 1, 4, 3);
    CHECK_OK(THTensor_mm(a, b, a));
    CHECK_VALUES(a, 4, 3, 2, 1);
    CHECK_OK(THTensor_mm(a, a, a));
    CHECK_VALUES(a, 22, 15, 10, 7);
    CHECK_OK(THTensor_addmm(a, 1, a, 1, a, b));
    CHECK_VALUES(a, 37, 37, 17, 17);
    THTensor *turned = THTensor_newT(a);
    CHECK_OK(THTensor_mm(turned, a, b));
    CHECK_VALUES(a, 37, 17, 37, 17);
    THTensor_free(turned);
    THTensor_free(b);
    THTensor_free(a);
}

static void a_product_may_overlap_its_addend_and_vector(void) {
    THTensor *m = matrix_of(TH_INT64, 2, 1, 2, 3, 4), *row = THTensor_newSelect(m, 0, 0), *turned = THTensor_newT(m);
    CHECK_OK(THTensor_mv(row, m, row));
    CHECK_VALUES(m, 5, 11, 3, 4);
    CHECK_OK(THTensor_addmv(row, 1, row, 1, m, row));
    /* 5 11 + (5*5 + 11*11, 3*5 + 4*11) */
    CHECK_VALUES(m, 151, 70, 3, 4);
    THTensor *one = matrix_of(TH_INT64, 2, 1, 0, 0, 1);
    CHECK_OK(THTensor_addmm(m, 1, turned, 1, one, one));
    CHECK_VALUES(m, 152, 3, 70, 5);
    THTensor_free(one);
    THTensor_free(turned);
    THTensor_free(row);
    THTensor_free(m);
}

static void a_result_of_another_shape_is_resized(void) {
    THTensor *a = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6), *b = THTensor_newT(a);
    THTensor *kept = THTensor_newWithTensor(a);
    CHECK_OK(THTensor_mm(a, a, b));
    CHECK_SHAPE(a, 2, 2);
    CHECK_VALUES(a, 14, 32, 32, 77);
    CHECK_VALUES(kept, 1, 2, 3, 4, 5, 6);
    THTensor_free(kept);
    THTensor_free(b);
    THTensor_free(a);
}

/* A batch has one product for each of its positions. A matrix without a batch is used at every position. */
static void batches_multiply_place_by_place(void) {
    THTensor *a = THTensor_new(), *b = THTensor_new(), *r = THTensor_new();
    THTensor *t = THTensor_newFull(TH_INT64, SIZES(2, 2, 2), 10), *one = THTensor_newOnes(TH_INT64, SIZES(2));
    CHECK_OK(THTensor_arange(a, 0, 12, 1));
    CHECK_OK(THTensor_resize3d(a, 2, 2, 3));
    CHECK_OK(THTensor_arange(b, 0, 12, 1));
    CHECK_OK(THTensor_resize3d(b, 2, 3, 2));
    CHECK_OK(THTensor_bmm(r, a, b));
    CHECK_SHAPE(r, 2, 2, 2);
    CHECK_VALUES(r, 10, 13, 28, 40, 172, 193, 244, 274);
    CHECK_OK(THTensor_addbmm(r, 1, one, 1, a, b));
    CHECK_SHAPE(r, 2, 2);
    CHECK_VALUES(r, 183, 207, 273, 315);
    THTensor *first = THTensor_newSelect(b, 0, 0);
    CHECK_OK(THTensor_matmul(r, a, first));
    CHECK_VALUES(r, 10, 13, 28, 40, 46, 67, 64, 94);
    CHECK_OK(THTensor_baddbmm(t, 1, t, -1, a, b));
    CHECK_VALUES(t, 0, -3, -18, -30, -162, -183, -234, -264);
    CHECK_ERROR(THTensor_bmm(r, a, first), TH_ERR_SHAPE, "3 and 3 dimensions");
    CHECK_ERROR(THTensor_matmul(r, a, a), TH_ERR_SHAPE, "3 columns, 2 rows");
    THTensor_free(first);
    THTensor_free(one);
    THTensor_free(t);
    THTensor_free(r);
    THTensor_free(b);
    THTensor_free(a);
}

/* Each dimension has a letter. Letters that the result lacks are summed over. */
static void einsum_sums_what_the_result_lacks(void) {
    THTensor *a = matrix_of(TH_FLOAT64, 2, 1, 2, 3, 4), *b = matrix_of(TH_FLOAT64, 2, 5, 6, 7, 8), *r = THTensor_new();
    THTensor *const pair[] = {a, b}, *const three[] = {a, b, a};
    CHECK_OK(THTensor_einsum(r, "ij,jk->ik", pair, 2)); /* a product */
    CHECK_VALUES(r, 19, 22, 43, 50);
    CHECK_OK(THTensor_einsum(r, "ij,ij->", pair, 2)); /* a dot product of all elements */
    CHECK_VALUES(r, 70);
    CHECK_OK(THTensor_einsum(r, "ii", pair, 1)); /* a trace */
    CHECK_VALUES(r, 5);
    CHECK_OK(THTensor_einsum(r, "ij->ji", pair, 1)); /* the transpose */
    CHECK_VALUES(r, 1, 3, 2, 4);
    CHECK_OK(THTensor_einsum(r, "ij,jk,kl->il", three, 3)); /* a chain */
    CHECK_VALUES(r, 85, 126, 193, 286);
    CHECK_OK(THTensor_einsum(a, "...i,...i->...", pair, 2)); /* an operand may be the result */
    CHECK_VALUES(a, 17, 53);
    CHECK_ERROR(THTensor_einsum(r, "ij,jk->il", three + 1, 2), TH_ERR_SHAPE, "operand 1 has 1 dimensions");
    CHECK_ERROR(THTensor_einsum(r, "ij->ik", &pair[1], 1), TH_ERR_ARGUMENT, "'k' of the result is of no operand");
    CHECK_ERROR(THTensor_einsum(r, "ij", pair, 2), TH_ERR_ARGUMENT, "1 operands, given are 2");
    THTensor_free(r);
    THTensor_free(b);
    THTensor_free(a);
}

/* Between the products of several factors, 16-bit floats are not rounded: 320 * 320 exceeds float16. */
static void products_of_sixteen_bits_are_rounded_once(void) {
    static const THDtype dtypes[] = {TH_FLOAT16, TH_BFLOAT16};
    for (int d = 0; d < 2; d++) {
        THTensor *large = vector_of(dtypes[d], 320, 320), *small = vector_of(dtypes[d], 0x1p-8, 0x1p-8);
        THTensor *r = THTensor_new();
        CHECK_OK(THTensor_einsum(r, "i,i,i->i", (THTensor *const[]){large, large, small}, 3));
        CHECK_EQ(THTensor_dtype(r), dtypes[d]);
        CHECK_VALUES(r, 400, 400);
        /* Sums over one operand are computed before the product. */
        THTensor *many = THTensor_newZeros(dtypes[d], SIZES(256, 2));
        CHECK_OK(THTensor_fill(many, 320));
        CHECK_OK(THTensor_einsum(r, "ij,j->j", (THTensor *const[]){many, small}, 2));
        CHECK_VALUES(r, 320, 320);
        /* So is the sum over a dimension that broadcasts against one row. */
        THTensor *top = THTensor_newNarrow(many, 0, 0, 1);
        CHECK_OK(THTensor_fill(top, 0x1p-8));
        THTensor *tall = THTensor_newExpand(large, SIZES(256, 2));
        CHECK_OK(THTensor_einsum(r, "ij,ij->j", (THTensor *const[]){tall, top}, 2));
        CHECK_VALUES(r, 320, 320);
        THTensor_free(tall);
        THTensor_free(top);
        THTensor *row = THTensor_newReshape(large, SIZES(1, 2)), *column = THTensor_newReshape(large, SIZES(2, 1));
        THTensor *end = matrix_of(dtypes[d], 1, 0x1p-8);
        CHECK_OK(THTensor_chainMatmul(r, (THTensor *const[]){row, column, end}, 3));
        CHECK_VALUES(r, 800);
        THTensor *power = matrix_of(dtypes[d], 3, 0, 320, 0, 0, 0, 320, 0x1p-8, 0, 0);
        CHECK_OK(THTensor_matrixPower(r, power, 3));
        CHECK_VALUES(r, 400, 0, 0, 0, 400, 0, 0, 0, 400);
        THTensor_free(power);
        THTensor_free(end);
        THTensor_free(column);
        THTensor_free(row);
        THTensor_free(many);
        THTensor_free(r);
        THTensor_free(small);
        THTensor_free(large);
    }
}

/* Products of Bool are refused, also if nothing is summed or multiplied. */
static void no_product_takes_bool(void) {
    THTensor *t = THTensor_newOnes(TH_BOOL, SIZES(2, 2)), *one = THTensor_newOnes(TH_BOOL, 0, NULL), *r = THTensor_new();
    THTensor *const list[] = {t, t, t};
    static const char *const equations[] = {"ij->ji", "ii", "ij,ij->ij", "ij,jk", "ij,jk,kl"};
    static const int counts[] = {1, 1, 2, 2, 3};
    for (int k = 0; k < 5; k++) {
        CHECK_ERROR(THTensor_einsum(r, equations[k], list, counts[k]), TH_ERR_DTYPE, "not defined for bool");
    }
    CHECK_ERROR(THTensor_inner(r, t, t), TH_ERR_DTYPE, "not defined for bool");
    CHECK_ERROR(THTensor_inner(r, t, one), TH_ERR_DTYPE, "not defined for bool");
    for (int64_t n = 0; n < 4; n++) CHECK_ERROR(THTensor_matrixPower(r, t, n), TH_ERR_DTYPE, "not defined for bool");
    for (int n = 1; n < 4; n++) CHECK_ERROR(THTensor_chainMatmul(r, list, n), TH_ERR_DTYPE, "not defined for bool");
    /* A Bool scalar can be multiplied with a tensor of another dtype. */
    THTensor *x = vector_of(TH_FLOAT32, 3, 4);
    CHECK_OK(THTensor_inner(r, one, x));
    CHECK_VALUES(r, 3, 4);
    THTensor_free(x);
    THTensor_free(r);
    THTensor_free(one);
    THTensor_free(t);
}

/* A result that exceeds memory is refused before its 2^28 products are computed. */
static void a_result_of_einsum_has_memory_first(void) {
    THTensor *one = THTensor_newOnes(TH_FLOAT32, SIZES(1)), *wide = THTensor_newExpand(one, SIZES(1 << 14)), *r = THTensor_new();
    THTensor *const list[] = {wide, wide, wide, wide};
    THMemoryStats before, after;
    CHECK_OK(THMemory_stats(&before));
    CHECK_ERROR(THTensor_einsum(r, "a,b,c,d->abcd", list, 4), TH_ERR_NOMEM, "memory");
    CHECK_OK(THMemory_stats(&after));
    CHECK(after.peak_bytes - before.peak_bytes < 1 << 20);
    THTensor_free(r);
    THTensor_free(wide);
    THTensor_free(one);
}

/* [100 x 2] @ [2 x 100] @ [100 x 1]: evaluated from the right, 400 multiplications; from the left, 30,000. */
static void contractions_sum_over_pairs_of_dimensions(void) {
    THTensor *a = matrix_of(TH_INT64, 2, 1, 2, 3, 4, 5, 6), *b = vector_of(TH_INT64, 10, 20), *r = THTensor_new();
    CHECK_OK(THTensor_tensordot(r, a, b, 1, (int64_t[]){0}, (int64_t[]){-1}));
    CHECK_SHAPE(r, 3);
    CHECK_VALUES(r, 90, 120, 150);
    /* Size 1 broadcasts, but not in `inner`, as in PyTorch. */
    THTensor *one = vector_of(TH_INT64, 10);
    CHECK_OK(THTensor_tensordot(r, a, one, 1, (int64_t[]){0}, (int64_t[]){0}));
    CHECK_VALUES(r, 50, 70, 90);
    CHECK_ERROR(THTensor_inner(r, a, one), TH_ERR_SHAPE, "the last dimensions of shapes [2, 3] and [1]");
    CHECK_ERROR(THTensor_tensordot(r, a, b, 1, (int64_t[]){1}, (int64_t[]){0}), TH_ERR_SHAPE,
                "[2, 3] and dimension 0 of shape [2]");
    CHECK_VALUES(r, 50, 70, 90);
    THTensor_free(one);
    THTensor_free(r);
    THTensor_free(b);
    THTensor_free(a);
}

static void chains_multiply_in_the_best_order(void) {
    THTensor *a = THTensor_newOnes(TH_INT64, SIZES(100, 2)), *b = THTensor_newOnes(TH_INT64, SIZES(2, 100));
    THTensor *c = THTensor_newOnes(TH_INT64, SIZES(100, 1)), *r = THTensor_new(), *sum = THTensor_new();
    CHECK_OK(THTensor_chainMatmul(r, (THTensor *const[]){a, b, c}, 3));
    CHECK_SHAPE(r, 100, 1);
    CHECK_EQ(THTensor_sumall(r), 100 * 200);
    CHECK_OK(THTensor_mm(sum, b, a));
    CHECK_OK(THTensor_matrixPower(sum, sum, 3)); /* of a matrix with elements 100: each power multiplies by 2 and by 100 */
    CHECK_VALUES(sum, 4e6, 4e6, 4e6, 4e6);
    THTensor_free(sum);
    THTensor_free(r);
    THTensor_free(c);
    THTensor_free(b);
    THTensor_free(a);
}

/* Large batches, as one product or many, equal the single products bit for bit, on one thread and on all threads. */
static void batches_are_their_products_on_any_number_of_threads(void) {
    int threads = THGetNumThreads();
    for (int size = 3; size <= 130; size += size < 40 ? 37 : 90) {
        THTensor *a = THTensor_new(), *b = THTensor_new(), *r = THTensor_new(), *one = THTensor_new();
        CHECK_OK(THTensor_rand(a, NULL, SIZES(40, size, size)));
        CHECK_OK(THTensor_rand(b, NULL, SIZES(40, size, size)));
        CHECK_OK(THSetNumThreads(4));
        CHECK_OK(THTensor_bmm(r, a, b));
        CHECK_OK(THSetNumThreads(1));
        for (int i = 0; i < 40; i++) {
            THTensor *of_a = THTensor_newSelect(a, 0, i), *of_b = THTensor_newSelect(b, 0, i);
            THTensor *of_r = THTensor_newSelect(r, 0, i);
            CHECK_OK(THTensor_mm(one, of_a, of_b));
            CHECK(THTensor_equal(one, of_r));
            THTensor_free(of_r);
            THTensor_free(of_b);
            THTensor_free(of_a);
        }
        THTensor_free(one);
        THTensor_free(r);
        THTensor_free(b);
        THTensor_free(a);
    }
    CHECK_OK(THSetNumThreads(threads));
}

static void distances_of_rows_are_norms_of_differences(void) {
    THTensor *a = matrix_of(TH_FLOAT32, 2, 0, 0, 3, 4), *b = matrix_of(TH_FLOAT32, 2, 3, 4, 0, 0), *r = THTensor_new();
    CHECK_OK(THTensor_cdist(r, a, b, 2));
    CHECK_VALUES(r, 5, 0, 0, 5);
    CHECK_OK(THTensor_cdist(r, a, b, 1));
    CHECK_VALUES(r, 7, 0, 0, 7);
    CHECK_OK(THTensor_cdist(r, a, b, INFINITY));
    CHECK_VALUES(r, 4, 0, 0, 4);
    CHECK_ERROR(THTensor_cdist(r, a, b, -1), TH_ERR_ARGUMENT, "p >= 0");
    THTensor_free(r);
    THTensor_free(b);
    THTensor_free(a);
}

/* Rows near 1000 at distances of about 1: squares of the elements have no digits left for the distance in float32. */
static void distances_far_from_zero_are_exact_enough(void) {
    static const THDistanceMode modes[] = {TH_DISTANCE_AUTO, TH_DISTANCE_PRODUCT, TH_DISTANCE_DIFFERENCES};
    for (int k = 0; k < 2 * 3; k++) {
        const int64_t n = 64;
        THTensor *a = THTensor_newWithSize2d(k % 2 ? TH_FLOAT64 : TH_FLOAT32, n, 3), *r = THTensor_new();
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < 3; j++) {
                double step = (double)(i / 2 * (j + 7) % 5) / 4;
                THTensor_set2d(a, i, j, 1000 + step + (double)i / 64);
            }
        }
        CHECK_OK(THTensor_cdistMode(r, a, a, 2, modes[k / 2]));
        double most = 0;
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n; j++) {
                double square = 0;
                for (int64_t d = 0; d < 3; d++) {
                    double off = THTensor_get2d(a, i, d) - THTensor_get2d(a, j, d);
                    square += off * off;
                }
                double got = THTensor_get2d(r, i, j);
                most = fmax(most, fabs(got * got - square));
            }
        }
        CHECK(most <= (k % 2 ? 1e-14 : 8e-6));
        THTensor *pairs = THTensor_new();
        CHECK_OK(THTensor_pdist(pairs, a, 2));
        CHECK_SHAPE(pairs, n * (n - 1) / 2);
        CHECK_NEAR(THTensor_get1d(pairs, n - 1), THTensor_get2d(r, 1, 2), 2e-4);
        THTensor_free(pairs);
        THTensor_free(r);
        THTensor_free(a);
    }
}

CHECK_MAIN(CASE(distances_far_from_zero_are_exact_enough), CASE(a_matrix_times_a_matrix), CASE(a_matrix_times_a_vector), CASE(products_are_scaled_and_added),
           CASE(the_addend_broadcasts), CASE(with_beta_zero_the_addend_is_not_looked_at),
           CASE(nan_and_infinity_reach_the_results_they_touch),
           CASE(products_agree_with_loops_on_all_dtypes_shapes_and_layouts),
           CASE(vectors_agree_with_matrices_of_one_column), CASE(large_products_are_right_on_any_number_of_threads),
           CASE(large_products_do_not_depend_on_the_number_of_threads), CASE(integers_wrap),
           CASE(half_floats_accumulate_in_float32), CASE(half_floats_multiply_in_every_layout),
           CASE(a_float64_result_takes_a_float32_product), CASE(products_over_nothing_are_zero),
           CASE(shapes_and_dtypes_must_match), CASE(a_product_may_replace_its_factors),
           CASE(a_product_may_overlap_its_addend_and_vector), CASE(a_result_of_another_shape_is_resized),
           CASE(batches_multiply_place_by_place), CASE(einsum_sums_what_the_result_lacks),
           CASE(products_of_sixteen_bits_are_rounded_once), CASE(no_product_takes_bool),
           CASE(a_result_of_einsum_has_memory_first),
           CASE(contractions_sum_over_pairs_of_dimensions), CASE(chains_multiply_in_the_best_order),
           CASE(batches_are_their_products_on_any_number_of_threads), CASE(distances_of_rows_are_norms_of_differences))
