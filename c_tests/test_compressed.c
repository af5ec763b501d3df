/*
 * Matrices of compressed rows by example: softmax of rows, systems with a triangular matrix, and products of two
 * matrices, as functions of three vectors and as functions of handles.
 */
#include "sparse.h"
#include <math.h>

/* A matrix of compressed rows as three vectors. */
typedef struct {
    THTensor *crow, *col, *values;
} Rows;

static void free_rows(Rows a) {
    THTensor_free(a.crow);
    THTensor_free(a.col);
    THTensor_free(a.values);
}

/*
 * 2 0 0 1
 * 0 4 0 0    The entries of the last row are in no order, and the 8 is 5 + 3.
 * 1 2 1 0
 * 0 6 0 8
 */
static Rows square(void) {
    return (Rows){vector_of(TH_INT32, 0, 2, 3, 6, 9), vector_of(TH_INT32, 0, 3, 1, 0, 1, 2, 3, 1, 3),
                  vector_of(TH_FLOAT64, 2, 1, 4, 1, 2, 1, 5, 6, 3)};
}

static THSTensor *handle_of(Rows a, int64_t rows, int64_t columns) {
    THSTensor *s = THSTensor_newCsr(a.crow, a.col, a.values, rows, columns);
    CHECK(s != NULL);
    return s;
}

/* Attention weights: each row sums to 1 over its entries, however large they are. A row without entries stays empty. */
static void rows_have_a_softmax(void) {
    THTensor *crow = vector_of(TH_INT64, 0, 2, 2, 3, 6), *col = vector_of(TH_INT64, 0, 1, 1, 0, 1, 2),
             *r = THTensor_new();
    THTensor *values = vector_of(TH_FLOAT64, 1000, 1000 + log(3), -7, log(1), log(2), log(5));
    CHECK_OK(THTensor_csrSoftmax(r, crow, values));
    CHECK_CLOSE(r, 1e-13, 0.25, 0.75, 1, 0.125, 0.25, 0.625);
    /* The gradient of y with respect to x is y (g - sum of g y): 0 where all elements of g are one number. */
    THTensor *g = vector_of(TH_FLOAT64, 3, 3, 9, 0, 4, 0), *of_values = THTensor_new();
    CHECK_OK(THTensor_csrSoftmaxGrad(of_values, crow, g, r));
    CHECK_CLOSE(of_values, 1e-13, 0, 0, 0, -0.125, 0.75, -0.625);
    THSTensor *s = THSTensor_newCsr(crow, col, values, 4, 3), *w = THSTensor_new();
    CHECK_OK(THSTensor_softmax(w, s));
    CHECK_EQ(THSTensor_nnz(w), 6);
    THTensor *dense = THSTensor_newDense(w);
    CHECK_CLOSE(dense, 1e-13, 0.25, 0.75, 0, 0, 0, 0, 0, 1, 0, 0.125, 0.25, 0.625);
    /* Duplicate entries are summed first. */
    CHECK_OK(THTensor_set1d(col, 1, 0));
    CHECK_OK(THSTensor_softmax(s, s));
    THTensor *one = THSTensor_newValues(s);
    CHECK_CLOSE(one, 1e-13, 1, 1, 0.125, 0.25, 0.625);
    CHECK_OK(THTensor_set1d(crow, 1, 5));
    CHECK_ERROR(THTensor_csrSoftmax(r, crow, values), TH_ERR_ARGUMENT, "row 1 starts at 5 and ends at 2");
    CHECK_OK(THTensor_fill(col, 1));
    CHECK_ERROR(THTensor_csrSoftmax(r, crow, col), TH_ERR_DTYPE, "only for floats");
    CHECK_ERROR(THTensor_csrSoftmaxGrad(of_values, crow, g, one), TH_ERR_SHAPE, "a gradient of shape [6]");
    CHECK_CLOSE(r, 1e-13, 0.25, 0.75, 1, 0.125, 0.25, 0.625);
    THTensor_free(one);
    THTensor_free(dense);
    THSTensor_free(w);
    THSTensor_free(s);
    THTensor_free(of_values);
    THTensor_free(g);
    THTensor_free(r);
    THTensor_free(values);
    THTensor_free(col);
    THTensor_free(crow);
}

/* The other triangle is not read, as with trtrs, so that one matrix may hold both factors of an LU. */
static void triangles_are_solved(void) {
    Rows a = square();
    THTensor *b = vector_of(TH_FLOAT64, 2, 8, 9, 28), *x = THTensor_new();
    CHECK_OK(THTensor_csrTrtrs(x, a.crow, a.col, a.values, b, 0, 0, 0));
    CHECK_VALUES(x, 1, 2, 4, 2);
    CHECK_OK(THTensor_csrTrtrs(x, a.crow, a.col, a.values, b, 1, 0, 0));
    CHECK_VALUES(x, -0.75, 2, 9, 3.5);
    CHECK_OK(THTensor_csrTrtrs(x, a.crow, a.col, a.values, b, 0, 1, 0));
    CHECK_VALUES(x, -3.5, -7.75, 9, 3.5);
    CHECK_OK(THTensor_csrTrtrs(x, a.crow, a.col, a.values, b, 0, 0, 1));
    CHECK_VALUES(x, 2, 8, -9, -20);
    THSTensor *s = handle_of(a, 4, 4);
    THTensor *sides = matrix_of(TH_FLOAT64, 4, 2, 4, 8, 0, 9, 3, 28, 8);
    CHECK_OK(THSTensor_trtrs(sides, sides, s, 0, 0, 0));
    CHECK_VALUES(sides, 1, 2, 2, 0, 4, 1, 2, 1);
    /* An element of the diagonal may be missing, or may cancel to 0. */
    CHECK_OK(THTensor_set1d(a.values, 8, -5));
    CHECK_ERROR(THSTensor_trtrs(x, b, s, 0, 0, 0), TH_ERR_NUMERIC, "row 3 has 0 on the diagonal");
    CHECK_OK(THTensor_set1d(a.col, 2, 2));
    CHECK_ERROR(THTensor_csrTrtrs(x, a.crow, a.col, a.values, b, 0, 0, 0), TH_ERR_NUMERIC, "row 1 has 0");
    CHECK_OK(THSTensor_trtrs(x, b, s, 0, 0, 1));
    CHECK_OK(THTensor_set1d(a.col, 2, 4));
    CHECK_ERROR(THTensor_csrTrtrs(x, a.crow, a.col, a.values, b, 0, 0, 0), TH_ERR_ARGUMENT,
                "column 4 of entry 2 is out of range for 4 columns");
    CHECK_ERROR(THTensor_csrTrtrs(x, a.crow, a.col, a.values, a.values, 0, 0, 0), TH_ERR_SHAPE, "expected 4 rows");
    CHECK_ERROR(THSTensor_trtrs(x, b, NULL, 0, 0, 0), TH_ERR_ARGUMENT, "NULL");
    THTensor_free(sides);
    THSTensor_free(s);
    THTensor_free(x);
    THTensor_free(b);
    free_rows(a);
}

/*
 * 1 0 2        0  3 0
 * 0 0 0   and  1  0 0
 * 4 5 0        0 -1 6
 */
static void two_matrices_multiply(void) {
    Rows a = {vector_of(TH_INT32, 0, 2, 2, 4), vector_of(TH_INT32, 2, 0, 1, 0), vector_of(TH_FLOAT64, 2, 1, 5, 4)};
    Rows b = {vector_of(TH_INT32, 0, 1, 2, 4), vector_of(TH_INT32, 1, 0, 2, 1), vector_of(TH_FLOAT64, 3, 1, 6, -1)};
    Rows r = {THTensor_new(), THTensor_new(), THTensor_new()};
    CHECK_OK(THTensor_csrMatmulCsr(r.values, r.crow, r.col, a.crow, a.col, a.values, b.crow, b.col, b.values, 3));
    CHECK_VALUES(r.crow, 0, 2, 2, 4);
    CHECK_VALUES(r.col, 1, 2, 0, 1);
    CHECK_VALUES(r.values, 1, 12, 5, 12);
    CHECK_EQ(r.col->dtype, TH_INT32);
    THSTensor *s = handle_of(a, 3, 3), *t = handle_of(b, 3, 3), *u = THSTensor_new();
    CHECK_OK(THSTensor_mm(u, s, t));
    CHECK_DENSE(u, 0, 1, 12, 0, 0, 0, 5, 12, 0);
    CHECK_EQ(THSTensor_isCoalesced(u), 1);
    /* An element that cancels still has an entry, because the pattern does not depend on values. */
    CHECK_OK(THTensor_set1d(b.values, 3, -1.5));
    CHECK_OK(THSTensor_mm(u, s, t));
    CHECK_EQ(THSTensor_nnz(u), 4);
    CHECK_DENSE(u, 0, 0, 12, 0, 0, 0, 5, 12, 0);
    CHECK_OK(THTensor_set1d(b.values, 3, -1));
    /* Elements of a b, of a' b and of a b' at the entries of a. */
    THTensor *at = THTensor_new();
#define SAMPLED(transpose_a, transpose_b)                                                                              \
    THTensor_csrSampledCsr(at, a.crow, a.col, a.crow, a.col, a.values, b.crow, b.col, b.values, 3, transpose_a,        \
                           transpose_b)
    CHECK_OK(SAMPLED(0, 0));
    CHECK_VALUES(at, 12, 0, 12, 5);
    CHECK_OK(SAMPLED(1, 0));
    CHECK_VALUES(at, 24, 0, 6, 0);
    CHECK_OK(SAMPLED(0, 1));
    CHECK_VALUES(at, 12, 0, 4, 15);
    CHECK_ERROR(SAMPLED(1, 1), TH_ERR_UNSUPPORTED, "the transpose of the product of b and a");
    /* Two matrices with very many columns, few of which have an entry. */
    THTensor *far = vector_of(TH_INT64, 1e15, 0, 2e15, 1e15);
    CHECK_ERROR(
        THTensor_csrMatmulCsr(r.values, r.crow, r.col, a.crow, a.col, a.values, b.crow, far, b.values, INT64_MAX),
        TH_ERR_DTYPE, "positions up to 9223372036854775806 cannot be stored in a tensor of int32");
    CHECK_VALUES(r.col, 1, 2, 0, 1);
    CHECK_OK(THTensor_reset(r.col));
    CHECK_OK(THTensor_reset(r.crow));
    CHECK_OK(THTensor_csrMatmulCsr(r.values, r.crow, r.col, a.crow, a.col, a.values, b.crow, far, b.values, INT64_MAX));
    CHECK_VALUES(r.col, 1e15, 2e15, 0, 1e15);
    CHECK_ERROR(THTensor_csrMatmulCsr(r.values, r.crow, r.col, a.crow, a.col, a.values, b.crow, far, b.values, 100),
                TH_ERR_ARGUMENT, "out of range for 100 columns");
    CHECK_VALUES(r.col, 1e15, 2e15, 0, 1e15);
    CHECK_ERROR(THTensor_csrMatmulCsr(r.values, r.col, r.col, a.crow, a.col, a.values, b.crow, b.col, b.values, 3),
                TH_ERR_ARGUMENT, "two results need a tensor each");
    CHECK_ERROR(THTensor_csrMatmulCsr(r.values, r.crow, r.col, a.crow, a.col, a.values, b.crow, b.col, b.col, 3),
                TH_ERR_DTYPE, "expected operands of one dtype, got float64 and int32");
    THSTensor *narrow = THSTensor_newWithSize(TH_FLOAT64, SIZES(2, 3), 2);
    CHECK_ERROR(THSTensor_mm(u, s, narrow), TH_ERR_SHAPE, "sizes [3, 3] and [2, 3] do not multiply");
    CHECK_EQ(THSTensor_nnz(u), 4);
    THSTensor_free(narrow);
    THTensor_free(far);
    THTensor_free(at);
    THSTensor_free(u);
    THSTensor_free(t);
    THSTensor_free(s);
    free_rows(r);
    free_rows(b);
    free_rows(a);
}

/* Counts paths of two steps in a ring of n places, in which each place leads to the next one and to the one after that.
 * The counts do not depend on the number of threads. */
static void paths_are_counted(void) {
    enum { N = 50000 };
    THTensor *crow = THTensor_newArange(TH_INT64, 0, 2 * N + 1, 2), *place = THTensor_newArange(TH_INT64, 0, N, 1);
    THTensor *next = THTensor_new(), *after = THTensor_new(), *col = THTensor_new(),
             *ones = THTensor_newOnes(TH_INT64, SIZES(2 * N));
    CHECK_OK(THTensor_add(next, place, 1));
    CHECK_OK(THTensor_remainder(next, next, N));
    CHECK_OK(THTensor_add(after, place, 2));
    CHECK_OK(THTensor_remainder(after, after, N));
    CHECK_OK(THTensor_stack(col, (THTensor *[]){after, next}, 2, 1));
    THTensor *flat = THTensor_newReshape(col, SIZES(2 * N));
    THSTensor *step = THSTensor_newCsr(crow, flat, ones, N, N), *paths = THSTensor_new();
    int threads = THGetNumThreads();
    for (int count = 1; count <= 4; count++) {
        CHECK_OK(THSetNumThreads(count));
        CHECK_OK(THSTensor_mm(paths, step, step));
        /* From each place one path ends two places on, two end three on, and one ends four on. */
        CHECK_EQ(THSTensor_nnz(paths), 3 * N);
        THTensor *of_first = THTensor_newNarrow(paths->values, 0, 0, 6), *to = THTensor_newNarrow(paths->col, 0, 0, 6);
        CHECK_VALUES(of_first, 1, 2, 1, 1, 2, 1);
        CHECK_VALUES(to, 2, 3, 4, 3, 4, 5);
        THTensor_free(to);
        THTensor_free(of_first);
        CHECK_EQ(THSTensor_sumall(paths), 4 * N);
    }
    CHECK_OK(THSetNumThreads(threads));
    THSTensor_free(paths);
    THSTensor_free(step);
    THTensor_free(flat);
    THTensor_free(ones);
    THTensor_free(col);
    THTensor_free(after);
    THTensor_free(next);
    THTensor_free(place);
    THTensor_free(crow);
}

/* Entries in any order, two of them duplicates, are sorted by rows; csrMatmul sums the values of duplicates. */
static void coordinates_are_compressed(void) {
    THTensor *rows = vector_of(TH_INT64, 2, 0, 2, 2), *columns = vector_of(TH_INT64, 3, 1, 0, 3),
             *values = vector_of(TH_FLOAT32, 4, 2, 1, 8), *crow = THTensor_new(), *col = THTensor_new(),
             *starts = THTensor_new(), *order = THTensor_new(), *sums = THTensor_new();
    CHECK_OK(THTensor_csrCompress(crow, col, starts, order, rows, columns, 3));
    CHECK_VALUES(crow, 0, 1, 1, 3);
    CHECK_VALUES(col, 1, 0, 3);
    CHECK_VALUES(starts, 0, 1, 2, 4);
    CHECK_VALUES(order, 1, 2, 0, 3);
    CHECK_OK(THTensor_csrMatmul(sums, starts, order, NULL, values));
    CHECK_VALUES(sums, 2, 1, 12);
    CHECK_ERROR(THTensor_csrCompress(crow, col, starts, order, rows, columns, 2), TH_ERR_ARGUMENT,
                "row 2 of entry 0 is out of range for 2 rows");
    CHECK_OK(THTensor_set1d(columns, 1, -1));
    CHECK_ERROR(THTensor_csrCompress(crow, col, starts, order, rows, columns, 3), TH_ERR_ARGUMENT, "column -1 of entry 1");
    CHECK_VALUES(crow, 0, 1, 1, 3);
    THTensor *all[] = {rows, columns, values, crow, col, starts, order, sums};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
}

CHECK_MAIN(CASE(coordinates_are_compressed), CASE(rows_have_a_softmax), CASE(triangles_are_solved), CASE(two_matrices_multiply), CASE(paths_are_counted))
