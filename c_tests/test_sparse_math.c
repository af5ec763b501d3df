/* Sparse tensors by example: arithmetic, functions, sums and products. Results are the first arguments, and may be
 * operands. */
#include "sparse.h"

static void sparse_tensors_are_added_and_multiplied(void) {
    THSTensor *a = example(), *b = coordinates(POSITIONS(2, 0, 1, 1, 3), vector_of(TH_FLOAT64, 10, 20), 3, 4),
              *r = THSTensor_new();
    CHECK_OK(THSTensor_cadd(r, a, 2, b));
    CHECK_DENSE(r, 0, 22, 0, 0, 0, 0, 0, 40, 1, 0, 0, 5);
    CHECK_EQ(THSTensor_isCoalesced(r), 1);
    CHECK_EQ(THSTensor_nnz(r), 4);
    CHECK_OK(THSTensor_csub(r, a, 1, a));
    CHECK_EQ(THSTensor_nnz(r), 3);
    CHECK_ENTRIES(r, 0, 0, 0);
    CHECK_OK(THSTensor_cmul(r, a, b));
    CHECK_INDICES(r, 0, 1);
    CHECK_ENTRIES(r, 20);
    CHECK_OK(THSTensor_cmul(r, a, a));
    CHECK_ENTRIES(r, 4, 1, 25);
    CHECK_OK(THSTensor_cadd(b, a, 1, b));
    CHECK_DENSE(b, 0, 12, 0, 0, 0, 0, 0, 20, 1, 0, 0, 5);
    THSTensor *other = THSTensor_newWithSize(TH_FLOAT64, SIZES(4, 3), 2);
    CHECK_ERROR(THSTensor_cadd(r, a, 1, other), TH_ERR_SHAPE,
                "sizes [3, 4] with 2 sparse dimensions, and [4, 3] with 2");
    CHECK_ERROR(THSTensor_cmul(r, a, other), TH_ERR_SHAPE, "sizes [3, 4]");
    CHECK_ENTRIES(r, 4, 1, 25);
    THSTensor_free(other);
    THSTensor_free(r);
    THSTensor_free(b);
    THSTensor_free(a);
}

static void dense_tensors_are_added_and_multiplied(void) {
    THSTensor *s = example(), *r = THSTensor_new();
    THTensor *t = THTensor_newOnes(TH_FLOAT64, SIZES(3, 4)), *row = matrix_of(TH_FLOAT64, 1, 1, 10, 0, 100),
             *sum = THTensor_new();
    CHECK_OK(THSTensor_spcadd(sum, t, 2, s));
    CHECK_VALUES(sum, 1, 5, 1, 1, 1, 1, 1, 1, 3, 1, 1, 11);
    CHECK_OK(THSTensor_spcadd(t, t, 1, s));
    CHECK_VALUES(t, 1, 3, 1, 1, 1, 1, 1, 1, 2, 1, 1, 6);
    CHECK_ERROR(THSTensor_spcadd(sum, row, 1, s), TH_ERR_SHAPE, "shape [1, 4] and sizes [3, 4]");
    CHECK_OK(THSTensor_cmulDense(r, s, row));
    CHECK_DENSE(r, 0, 20, 0, 0, 0, 0, 0, 0, 1, 0, 0, 500);
    /* Only elements with an entry are divided. */
    CHECK_OK(THSTensor_cdivDense(r, s, row));
    CHECK_DENSE(r, 0, 0.2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0.05);
    CHECK_OK(THSTensor_cmulDense(r, s, sum));
    CHECK_OK(THTensor_resize2d(sum, 4, 3));
    CHECK_ERROR(THSTensor_cmulDense(r, s, sum), TH_ERR_SHAPE, "shape [4, 3] does not broadcast to sizes [3, 4]");
    THTensor_free(sum);
    THTensor_free(row);
    THTensor_free(t);
    THSTensor_free(r);
    THSTensor_free(s);
}

/* Functions that are not linear are applied to the sum of duplicate entries. */
static void functions_keep_zero(void) {
    typedef THStatus Function(THSTensor * r, const THSTensor *s);
    static const struct {
        Function *function;
        double of_sum;
    } functions[] = {
        {THSTensor_neg, 2.25},
        {THSTensor_abs, 2.25},
        {THSTensor_sign, -1},
        {THSTensor_sin, -0.7780731968879212},
        {THSTensor_tan, 1.2386276162240966},
        {THSTensor_atan, -1.1525719972156676},
        {THSTensor_sinh, -4.691168305898331},
        {THSTensor_tanh, -0.9780261147388136},
        {THSTensor_expm1, -0.894600775438136},
        {THSTensor_relu, 0},
        {THSTensor_floor, -3},
        {THSTensor_ceil, -2},
        {THSTensor_round, -2},
        {THSTensor_trunc, -2},
    };
    THTensor *indices = POSITIONS(1, 1, 1), *values = vector_of(TH_FLOAT64, -3.25, 1);
    THSTensor *s = THSTensor_newWithTensor(indices, values), *r = THSTensor_new();
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        CHECK_OK(functions[k].function(r, s));
        THTensor *dense = THSTensor_newDense(r);
        CHECK_CLOSE(dense, 1e-14, 0, functions[k].of_sum);
        THTensor_free(dense);
    }
    CHECK_OK(THTensor_set1d(values, 0, -0.75));
    static const struct {
        Function *function;
        double of_quarter;
    } more[] = {
        {THSTensor_sqrt, 0.5},
        {THSTensor_log1p, 0.22314355131420976},
        {THSTensor_asin, 0.25268025514207865},
    };
    for (size_t k = 0; k < sizeof more / sizeof *more; k++) {
        CHECK_OK(more[k].function(r, s));
        THTensor *dense = THSTensor_newDense(r);
        CHECK_CLOSE(dense, 1e-14, 0, more[k].of_quarter);
        THTensor_free(dense);
    }
    THSTensor_free(r);
    THSTensor_free(s);
    THTensor_free(values);
    THTensor_free(indices);
}

static void numbers_multiply(void) {
    THSTensor *s = example(), *rows = example_by_rows(), *r = THSTensor_new();
    CHECK_OK(THSTensor_mul(r, s, 3));
    CHECK_ENTRIES(r, 12, 6, 3, 3);
    CHECK_OK(THSTensor_div(r, rows, 2));
    CHECK_ENTRIES(r, 1, 0.5, 2.5);
    /* Compressed rows stay compressed. */
    CHECK_EQ(THSTensor_isCompressed(r), 1);
    CHECK_OK(THSTensor_pow(r, s, 2));
    CHECK_ENTRIES(r, 4, 1, 25);
    CHECK_ERROR(THSTensor_pow(r, s, 0), TH_ERR_ARGUMENT, "0 to the power 0 is not 0");
    CHECK_ERROR(THSTensor_pow(r, s, NAN), TH_ERR_ARGUMENT, "power NaN");
    CHECK_OK(THSTensor_mul(s, s, -1));
    CHECK_NEAR(THSTensor_sumall(s), -8, 0);
    THSTensor_free(r);
    THSTensor_free(rows);
    THSTensor_free(s);
}

static void elements_are_taken_by_a_mask(void) {
    THSTensor *mask = example(), *r = THSTensor_new();
    THTensor *t = THTensor_newArange(TH_INT32, 0, 12, 1);
    CHECK_OK(THTensor_resize2d(t, 3, 4));
    CHECK_OK(THSTensor_sparseMask(r, t, mask));
    CHECK_EQ(THSTensor_dtype(r), TH_INT32);
    CHECK_INDICES(r, 0, 2, 2, 1, 0, 3);
    CHECK_ENTRIES(r, 1, 8, 11);
    CHECK_OK(THTensor_resize2d(t, 4, 3));
    CHECK_ERROR(THSTensor_sparseMask(r, t, mask), TH_ERR_SHAPE, "shape [4, 3] for a mask of sizes [3, 4]");
    THTensor_free(t);
    THSTensor_free(r);
    THSTensor_free(mask);
}

/* ---- sums and products ---- */

static void elements_are_summed(void) {
    THSTensor *s = example(), *r = THSTensor_new();
    CHECK_NEAR(THSTensor_sumall(s), 8, 0);
    CHECK_NEAR(THSTensor_normall(s, 2), sqrt(30), 1e-15);
    CHECK_NEAR(THSTensor_normall(s, 1), 8, 0);
    CHECK_NEAR(THSTensor_normall(s, INFINITY), 5, 0);
    /* Elements without an entry are 0, the smallest magnitude. */
    CHECK_NEAR(THSTensor_normall(s, -INFINITY), 0, 0);
    CHECK_OK(THSTensor_sum(r, s, SIZES(0)));
    CHECK_SIZES(r, 4);
    CHECK_DENSE(r, 1, 2, 0, 5);
    CHECK_OK(THSTensor_sum(r, s, SIZES(-1)));
    CHECK_DENSE(r, 2, 0, 6);
    CHECK_OK(THSTensor_sum(r, s, SIZES(0, 1)));
    CHECK_EQ(THSTensor_nDimension(r), 0);
    CHECK_DENSE(r, 8);
    CHECK_ERROR(THSTensor_sum(r, s, SIZES(1, -1)), TH_ERR_ARGUMENT, "dimension 1 is named twice");
    CHECK_ERROR(THSTensor_sum(r, s, SIZES(2)), TH_ERR_ARGUMENT, "dimension 2 out of range");
    THSTensor_free(s);
    THSTensor_free(r);
    r = THSTensor_new();
    /* Integers are summed as int64. */
    s = coordinates(POSITIONS(2, 0, 0, 0, 1), vector_of(TH_UINT8, 200, 100), 1, 2);
    CHECK_OK(THSTensor_sum(r, s, SIZES(1)));
    CHECK_EQ(THSTensor_dtype(r), TH_INT64);
    CHECK_ENTRIES(r, 300);
    THSTensor_free(s);
    /* Two true duplicates are one true value, coalesced or not. */
    s = coordinates(POSITIONS(2, 0, 0, 0, 0, 0, 1), vector_of(TH_BOOL, 1, 1, 1), 1, 2);
    CHECK_NEAR(THSTensor_sumall(s), 2, 0);
    CHECK_OK(THSTensor_sum(r, s, SIZES(1)));
    CHECK_ENTRIES(r, 2);
    THSTensor_free(r);
    THSTensor_free(s);
}

/* Sums of many float32, of equal numbers: one after the other they would stop at 2^24 times a number. */
static void long_sums_are_accurate(void) {
    enum { ROWS = 3, COLUMNS = 3000000 };
    int64_t columns = under_valgrind() ? 3000 : COLUMNS;
    THTensor *t = THTensor_newFull(TH_FLOAT32, SIZES(ROWS, columns), 0.1);
    double one = THTensor_get2d(t, 0, 0);
    THSTensor *s = THSTensor_newFromDense(t, 2), *r = THSTensor_new();
    CHECK_OK(THSTensor_sum(r, s, SIZES(0, 1)));
    CHECK_EQ(THSTensor_nDimension(r), 0);
    THTensor *sums = THSTensor_newValues(r);
    CHECK_NEAR(THTensor_get1d(sums, 0), one * ROWS * (double)columns, 0.05);
    THTensor_free(sums);
    CHECK_OK(THSTensor_sum(r, s, SIZES(1)));
    sums = THSTensor_newValues(r);
    for (int i = 0; i < ROWS; i++) CHECK_NEAR(THTensor_get1d(sums, i), one * (double)columns, 0.02);
    THTensor_free(sums);
    /* As many values for one position. */
    THTensor *places = THTensor_newZeros(TH_INT64, SIZES(1, columns)), *values = THTensor_newFull(TH_FLOAT32, SIZES(columns), 0.1);
    THSTensor *twice = THSTensor_newWithTensor(places, values);
    CHECK_OK(THSTensor_coalesce(r, twice));
    sums = THSTensor_newValues(r);
    CHECK_NEAR(THTensor_get1d(sums, 0), one * (double)columns, 0.02);
    THTensor_free(sums);
    THSTensor *none = THSTensor_newWithSize(TH_FLOAT32, SIZES(2, 2), 2);
    CHECK_OK(THSTensor_sum(r, none, SIZES(0, 1)));
    CHECK_DENSE(r, 0);
    THSTensor_free(none);
    THSTensor_free(twice);
    THTensor_free(places);
    THTensor_free(values);
    THTensor_free(t);
    THSTensor_free(r);
    THSTensor_free(s);
}

/* A sum has the dtype and the roundings of a sum of dense tensors, whatever the factor. */
static void sums_are_those_of_dense_tensors(void) {
    static const THDtype dtypes[] = {TH_BOOL, TH_UINT8, TH_INT8, TH_INT32, TH_INT64, TH_FLOAT16, TH_BFLOAT16, TH_FLOAT32, TH_FLOAT64};
    static const double factors[] = {1, -1, 2, 0, -3, 0.5, 1000, 0.1};
    THTensor *x = vector_of(TH_FLOAT64, 3, 0, 100, 0), *y = vector_of(TH_FLOAT64, 5, 7, 0, 0);
    for (int i = 0; i < 9 * 9 * 8; i++) {
        double factor = factors[i / 81];
        THTensor *a = THTensor_newTo(x, dtypes[i % 9]), *b = THTensor_newTo(y, dtypes[i / 9 % 9]), *dense = THTensor_new();
        THSTensor *s = THSTensor_newFromDense(a, 1), *u = THSTensor_newFromDense(b, 1), *r = THSTensor_new();
        for (int minus = 0; minus < 2; minus++) {
            THStatus status = minus ? THTensor_csub(dense, a, factor, b) : THTensor_cadd(dense, a, factor, b);
            CHECK_EQ(minus ? THSTensor_csub(r, s, factor, u) : THSTensor_cadd(r, s, factor, u), status);
            if (status != TH_OK) continue;
            CHECK_EQ(THSTensor_dtype(r), THTensor_dtype(dense));
            THTensor *filled = THSTensor_newDense(r);
            if (!CHECK(THTensor_equal(filled, dense) == 1)) {
                printf("\n  %s + %g * %s ", THDtype_name(dtypes[i % 9]), factor, THDtype_name(dtypes[i / 9 % 9]));
            }
            THTensor_free(filled);
        }
        THSTensor_free(r);
        THSTensor_free(u);
        THSTensor_free(s);
        THTensor_free(dense);
        THTensor_free(b);
        THTensor_free(a);
    }
    THTensor_free(x);
    THTensor_free(y);
    /* 100 * 1000 is beyond float16, and the sum is not. */
    THSTensor *s = coordinates(POSITIONS(2, 0, 0), vector_of(TH_FLOAT16, -60000), 1, 1), *r = THSTensor_new();
    THSTensor *u = coordinates(POSITIONS(2, 0, 0), vector_of(TH_FLOAT16, 100), 1, 1);
    CHECK_OK(THSTensor_cadd(r, s, 1000, u));
    CHECK_ENTRIES(r, 40000);
    THSTensor_free(r);
    THSTensor_free(u);
    THSTensor_free(s);
}

/* As dense ones, results that were written to keep their dtype, or are refused. */
static void results_keep_their_dtype(void) {
    THSTensor *r = THSTensor_newWithSize(TH_FLOAT64, SIZES(2, 2), 2), *whole = THSTensor_newWithSize(TH_INT32, SIZES(2, 2), 2);
    THTensor *ones = THTensor_newOnes(TH_FLOAT32, SIZES(2, 2));
    THSTensor *s = THSTensor_newFromDense(ones, 2);
    CHECK_OK(THSTensor_cadd(r, s, 1, s));
    CHECK_EQ(THSTensor_dtype(r), TH_FLOAT64);
    CHECK_ENTRIES(r, 2, 2, 2, 2);
    CHECK_ERROR(THSTensor_cadd(whole, s, 1, s), TH_ERR_DTYPE, "a result of float32 cannot be stored in a sparse tensor of int32");
    CHECK_ERROR(THSTensor_copy(whole, s), TH_ERR_DTYPE, "a result of float32");
    CHECK_EQ(THSTensor_dtype(whole), TH_INT32);
    CHECK_EQ(whole->nnz, 0);
    CHECK_OK(THSTensor_sum(r, s, SIZES(0)));
    CHECK_EQ(THSTensor_dtype(r), TH_FLOAT64);
    CHECK_OK(THSTensor_transpose(r, s, 0, 1));
    CHECK_EQ(THSTensor_dtype(r), TH_FLOAT64);
    THTensor_free(ones);
    THSTensor_free(whole);
    THSTensor_free(s);
    THSTensor_free(r);
}

static void matrices_are_multiplied(void) {
    THSTensor *s = example(), *rows = example_by_rows(), *h = THSTensor_new();
    THTensor *m = matrix_of(TH_FLOAT64, 4, 1, 2, 3, 4, 5, 6, 7, 8), *vec = vector_of(TH_FLOAT64, 1, 10, 100, 1000),
             *r = THTensor_new();
    CHECK_OK(THSTensor_spmm(r, s, m));
    CHECK_VALUES(r, 6, 8, 0, 0, 36, 42);
    CHECK_OK(THSTensor_spmm(r, rows, m));
    CHECK_VALUES(r, 6, 8, 0, 0, 36, 42);
    CHECK_OK(THSTensor_spmv(r, s, vec));
    CHECK_VALUES(r, 20, 0, 5001);
    CHECK_OK(THSTensor_hspmm(h, s, m));
    CHECK_EQ(THSTensor_sparseDim(h), 1);
    CHECK_INDICES(h, 0, 2);
    CHECK_ENTRIES(h, 6, 8, 36, 42);
    CHECK_OK(THSTensor_sspmm(h, s, m));
    CHECK_EQ(THSTensor_sparseDim(h), 2);
    CHECK_DENSE(h, 6, 8, 0, 0, 36, 42);

    THTensor *t = matrix_of(TH_FLOAT64, 1, 1, 100);
    CHECK_OK(THSTensor_spaddmm(r, 2, t, 10, s, m));
    CHECK_VALUES(r, 62, 280, 2, 200, 362, 620);
    /* With beta 0 the elements of t are not read. */
    CHECK_OK(THTensor_fill(t, NAN));
    CHECK_OK(THSTensor_spaddmm(r, 0, t, 1, s, m));
    CHECK_VALUES(r, 6, 8, 0, 0, 36, 42);
    CHECK_OK(THSTensor_sspaddmm(h, 2, h, 1, s, m));
    CHECK_DENSE(h, 18, 24, 0, 0, 108, 126);

    CHECK_ERROR(THSTensor_spmm(r, s, r), TH_ERR_SHAPE, "sizes [3, 4] and shape [3, 2] do not multiply");
    CHECK_ERROR(THSTensor_spmv(r, s, m), TH_ERR_SHAPE, "expected a vector, got 2 dimensions");
    CHECK_ERROR(THSTensor_hspmm(h, s, vec), TH_ERR_SHAPE, "expected a matrix, got a vector");
    THTensor *whole = THTensor_newTo(m, TH_INT64);
    CHECK_ERROR(THSTensor_spmm(r, s, whole), TH_ERR_DTYPE, "expected operands of one dtype, got float64 and int64");
    CHECK_VALUES(r, 6, 8, 0, 0, 36, 42);
    /* The result may be an operand. */
    CHECK_OK(THSTensor_spmm(m, s, m));
    CHECK_VALUES(m, 6, 8, 0, 0, 36, 42);
    THTensor_free(whole);
    THTensor_free(t);
    THTensor_free(vec);
    THTensor_free(m);
    THTensor_free(r);
    THSTensor_free(h);
    THSTensor_free(rows);
    THSTensor_free(s);
}

/* The product of two dense matrices is computed only at the entries of a sparse matrix. */
static void a_product_is_sampled(void) {
    THSTensor *s = example(), *r = THSTensor_new();
    THTensor *a = matrix_of(TH_FLOAT64, 3, 1, 2, 3, 4, 5, 6), *b = matrix_of(TH_FLOAT64, 2, 1, 2, 3, 4, 5, 6, 7, 8);
    CHECK_OK(THSTensor_sampledAddmm(r, 1, s, 10, a, b));
    CHECK_EQ(THSTensor_isCompressed(r), 1);
    CHECK_DENSE(r, 0, 142, 0, 0, 0, 0, 0, 0, 351, 0, 0, 685);
    CHECK_ERROR(THSTensor_sampledAddmm(r, 1, s, 1, b, a), TH_ERR_SHAPE,
                "sizes [3, 4] for the product of [2, 4] and [3, 2]");
    /* Two duplicate entries count as their sum, 3, also in compressed rows. */
    THTensor *crow = vector_of(TH_INT64, 0, 2), *col = vector_of(TH_INT64, 0, 0), *values = vector_of(TH_FLOAT64, 1, 2),
             *one = matrix_of(TH_FLOAT64, 1, 1);
    THSTensor *twice = THSTensor_newCsr(crow, col, values, 1, 1);
    CHECK_OK(THSTensor_sampledAddmm(r, 1, twice, 1, one, one));
    CHECK_DENSE(r, 4);
    THSTensor_free(twice);
    THTensor_free(one);
    THTensor_free(values);
    THTensor_free(col);
    THTensor_free(crow);
    THTensor_free(b);
    THTensor_free(a);
    THSTensor_free(r);
    THSTensor_free(s);
}

/* A program may write to the positions that it shares: a function finds positions outside of the sizes, and changes
 * nothing. */
static void changed_positions_are_found(void) {
    THTensor *indices = POSITIONS(2, 0, 1, 0, 1), *values = vector_of(TH_FLOAT32, 5, 6);
    THSTensor *s = THSTensor_newWithTensor(indices, values), *r = THSTensor_new();
    THTensor *ones = THTensor_newOnes(TH_FLOAT32, SIZES(2, 2)), *m = vector_of(TH_FLOAT32, 7);
    for (int64_t wrong = -1; wrong <= 2; wrong += 3)
        for (int64_t d = 0; d < 2; d++) {
            const char *message = wrong < 0 ? "is negative" : "index 2 is out of range for size 2 of dimension";
            CHECK_OK(THTensor_set2d(indices, d, 1, (double)wrong));
            CHECK_FAILURE(THSTensor_newDense(s) == NULL, TH_ERR_ARGUMENT, message);
            CHECK_FAILURE(THSTensor_newCoalesce(s) == NULL, TH_ERR_ARGUMENT, d ? message : "");
            CHECK_ERROR(THSTensor_cmulDense(r, s, ones), TH_ERR_ARGUMENT, message);
            CHECK_ERROR(THSTensor_cmul(r, s, s), TH_ERR_ARGUMENT, "");
            CHECK_ERROR(THSTensor_spmm(m, s, ones), TH_ERR_ARGUMENT, "");
            CHECK_OK(THTensor_set2d(indices, d, 1, 1));
        }
    CHECK_EQ(THSTensor_nDimension(r), 0);
    CHECK_VALUES(m, 7);
    CHECK_DENSE(s, 5, 0, 0, 6);
    THTensor_free(m);
    THTensor_free(ones);
    THSTensor_free(r);
    THSTensor_free(s);
    THTensor_free(values);
    THTensor_free(indices);
}

/* Products of the three vectors, without a handle and without a copy. */
static void rows_multiply_without_a_handle(void) {
    THTensor *crow = vector_of(TH_INT32, 0, 1, 1, 3), *col = vector_of(TH_INT32, 1, 0, 3),
             *values = vector_of(TH_FLOAT64, 2, 1, 5);
    THTensor *m = matrix_of(TH_FLOAT64, 4, 1, 2, 3, 4, 5, 6, 7, 8), *n = vector_of(TH_FLOAT64, 1, 10, 100),
             *r = THTensor_new();
    CHECK_OK(THTensor_csrMatmul(r, crow, col, values, m));
    CHECK_VALUES(r, 6, 8, 0, 0, 36, 42);
    /* Without values each entry is 1: the rows of m are summed by lists of row numbers. */
    CHECK_OK(THTensor_csrMatmul(r, crow, col, NULL, m));
    CHECK_VALUES(r, 3, 4, 0, 0, 8, 10);
    CHECK_OK(THTensor_csrMatmulTransposed(r, crow, col, values, n, 4));
    CHECK_VALUES(r, 100, 2, 0, 500);
    /* The elements of the product n k' at the entries. */
    THTensor *k = vector_of(TH_FLOAT64, 1, 2, 3, 4);
    CHECK_OK(THTensor_csrSampled(r, crow, col, n, k));
    CHECK_VALUES(r, 2, 100, 400);
    THTensor_free(k);
    CHECK_ERROR(THTensor_csrMatmulTransposed(r, crow, col, values, n, 3), TH_ERR_ARGUMENT,
                "column 3 of entry 2 is out of range for 3 columns");
    CHECK_ERROR(THTensor_csrMatmulTransposed(r, crow, col, values, n, 0), TH_ERR_ARGUMENT,
                "out of range for 0 columns");
    CHECK_OK(THTensor_set1d(col, 0, -7));
    CHECK_ERROR(THTensor_csrMatmul(r, crow, col, values, m), TH_ERR_ARGUMENT, "column -7 of entry 0");
    CHECK_ERROR(THTensor_csrSampled(r, crow, col, n, m), TH_ERR_SHAPE, "rows of 1 and of 2 elements");
    CHECK_OK(THTensor_set1d(col, 0, 1));
    CHECK_OK(THTensor_set1d(crow, 1, 3));
    CHECK_ERROR(THTensor_csrMatmul(r, crow, col, values, m), TH_ERR_ARGUMENT, "row 1 starts at 3 and ends at 1");
    THTensor_free(r);
    THTensor_free(n);
    THTensor_free(m);
    THTensor_free(values);
    THTensor_free(col);
    THTensor_free(crow);
}

CHECK_MAIN(CASE(long_sums_are_accurate), CASE(sums_are_those_of_dense_tensors), CASE(results_keep_their_dtype),
           CASE(sparse_tensors_are_added_and_multiplied), CASE(dense_tensors_are_added_and_multiplied),
           CASE(functions_keep_zero), CASE(numbers_multiply), CASE(elements_are_taken_by_a_mask),
           CASE(elements_are_summed), CASE(matrices_are_multiplied), CASE(a_product_is_sampled),
           CASE(changed_positions_are_found), CASE(rows_multiply_without_a_handle))
