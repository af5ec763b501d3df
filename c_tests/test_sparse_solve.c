/*
 * Systems of equations with sparse matrices by example: the direct solution, conjugate gradients with a progress callback, gradients of
 * both, and errors.
 */
#include "sparse.h"
#include <math.h>
#include <stdlib.h>

/*
 * A chain of n springs between two walls, which is symmetric positive definite:
 *
 *  2 -1
 * -1  2 -1
 *    -1  2 ...
 */
static THSTensor *springs(THDtype dtype, int64_t n) {
    int64_t count = 0, *at = malloc((size_t)(6 * n) * sizeof *at);
    double *value = malloc((size_t)(3 * n) * sizeof *value);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < n; j++) {
            at[count] = i, at[3 * n + count] = j;
            value[count++] = i == j ? 2 : -1;
        }
    THTensor *all = THTensor_newFromData(TH_INT64, SIZES(2, 3 * n), at), *indices = THTensor_newNarrow(all, 1, 0, count);
    THTensor *doubles = check_vector(TH_FLOAT64, value, (int)count), *values = THTensor_newTo(doubles, dtype);
    free(at);
    free(value);
    THTensor_free(all);
    THTensor_free(doubles);
    return coordinates(indices, values, n, n);
}

/* A matrix with both signs, zeros on its diagonal, and two duplicate entries. */
static THSTensor *crossed(void) {
    /* 0 2 0
     * 1 0 3
     * 4 0 0 */
    return coordinates(POSITIONS(2, 2, 0, 1, 1, 2, 0, 1, 0, 2, 0), vector_of(TH_FLOAT64, 3, 2, 1, 3, 1), 3, 3);
}

static void systems_have_vectors_or_matrices_on_the_right(void) {
    THSTensor *s = crossed(), *definite = springs(TH_FLOAT64, 3);
    THTensor *x = THTensor_new(), *b = vector_of(TH_FLOAT64, 2, 7, 8);
    CHECK_OK(THSTensor_solve(x, s, b));
    CHECK_CLOSE(x, 1e-15, 2, 1, 5.0 / 3);
    CHECK_SHAPE(x, 3);
    /* A result may be the right-hand side. */
    CHECK_OK(THSTensor_solve(b, s, b));
    CHECK_CLOSE(b, 1e-15, 2, 1, 5.0 / 3);
    /* Symmetric positive definite matrices are decomposed by Cholesky. */
    THTensor *matrix = matrix_of(TH_FLOAT64, 3, 1, 0, 0, 4, 0, 0);
    CHECK_OK(THSTensor_solve(x, definite, matrix));
    CHECK_SHAPE(x, 3, 2);
    CHECK_CLOSE(x, 1e-15, 0.75, 2, 0.5, 4, 0.25, 2);
    /* A system without right-hand sides, and one without equations. */
    THTensor *none = THTensor_newZeros(TH_FLOAT64, SIZES(3, 0)), *nothing = THTensor_newZeros(TH_FLOAT64, SIZES(0));
    THSTensor *empty = springs(TH_FLOAT64, 0);
    CHECK_OK(THSTensor_solve(x, s, none));
    CHECK_SHAPE(x, 3, 0);
    CHECK_OK(THSTensor_solve(x, empty, nothing));
    CHECK_SHAPE(x, 0);
    THSTensor_free(s);
    THSTensor_free(definite);
    THSTensor_free(empty);
    THTensor_free(x);
    THTensor_free(b);
    THTensor_free(matrix);
    THTensor_free(none);
    THTensor_free(nothing);
}

/* The greatest difference between s x, or s' x, and b. */
static double residual(const THSTensor *s, const THTensor *x, const THTensor *b, bool transposed) {
    THSTensor *turned = THSTensor_new();
    THTensor *product = THTensor_new();
    if (transposed) CHECK_OK(THSTensor_transpose(turned, s, 0, 1));
    CHECK_OK(THSTensor_spmm(product, transposed ? turned : s, x));
    double apart = THTensor_dist(product, b, INFINITY);
    THSTensor_free(turned);
    THTensor_free(product);
    return apart;
}

/* A diagonal matrix of these values, whose reference it takes over. */
static THSTensor *diagonal_of(THTensor *values) {
    THTensor *numbers = THTensor_newArange(TH_INT64, 0, (double)THTensor_numel(values), 1), *indices = THTensor_new();
    THTensor *pair[2] = {numbers, numbers};
    CHECK_OK(THTensor_stack(indices, pair, 2, 0));
    THSTensor *s = coordinates(indices, values, THTensor_numel(numbers), THTensor_numel(numbers));
    THTensor_free(numbers);
    return s;
}

/* A matrix with `most` entries in a row at random positions, and a random diagonal. */
static THSTensor *random_matrix(THGenerator *generator, int64_t n, int64_t most, bool symmetric) {
    THTensor *places = THTensor_newRandint(TH_INT64, generator, 0, n, SIZES(2, most * n));
    THTensor *values = THTensor_newRandn(TH_FLOAT64, generator, SIZES(most * n));
    THSTensor *on = diagonal_of(THTensor_newRandn(TH_FLOAT64, generator, SIZES(n)));
    THSTensor *beside = coordinates(places, values, n, n), *turned = THSTensor_new();
    if (symmetric) {
        CHECK_OK(THSTensor_transpose(turned, beside, 0, 1));
        CHECK_OK(THSTensor_cadd(beside, beside, 1, turned));
    }
    CHECK_OK(THSTensor_cadd(beside, beside, 1, on));
    THSTensor_free(on);
    THSTensor_free(turned);
    return beside;
}

/* Random sizes and patterns, so that factors have blocks of every width. */
static void random_systems_are_solved(void) {
    THGenerator *generator = THGenerator_new();
    CHECK_OK(THRandom_manualSeed(generator, 5));
    THTensor *x = THTensor_new();
    for (int64_t n = 1; n < (under_valgrind() ? 40 : 400); n = n * 3 / 2 + 1) {
        for (int64_t most = 0; most < 6; most++) {
            THSTensor *s = random_matrix(generator, n, most, most % 2 == 1), *rows = THSTensor_newCompressed(s);
            THTensor *b = THTensor_newRandn(TH_FLOAT64, generator, SIZES(n, 1 + most * 7));
            CHECK_OK(THSTensor_solve(x, s, b));
            CHECK(residual(s, x, b, false) < 1e-6);
            THTensor *crow = THSTensor_newCrow(rows), *col = THSTensor_newCol(rows), *values = THSTensor_newValues(rows);
            CHECK_OK(THTensor_csrSolve(x, crow, col, values, b, 1));
            CHECK(residual(s, x, b, true) < 1e-6);
            THTensor_free(crow);
            THTensor_free(col);
            THTensor_free(values);
            THTensor_free(b);
            THSTensor_free(s);
            THSTensor_free(rows);
        }
    }
    THTensor_free(x);
    THGenerator_free(generator);
}

/* Definite matrices with dense factors, which are computed in blocks, too. */
static void definite_systems_whose_factors_fill_up_are_solved(void) {
    enum { ORDER = 300, SIDES = 3 };
    THGenerator *generator = THGenerator_new();
    CHECK_OK(THRandom_manualSeed(generator, 6));
    THSTensor *s = random_matrix(generator, ORDER, 3, true), *diagonal = diagonal_of(THTensor_newOnes(TH_FLOAT64, SIZES(ORDER)));
    /* The matrix is diagonally dominant. */
    CHECK_OK(THSTensor_cadd(s, s, 40, diagonal));
    THTensor *b = THTensor_newRandn(TH_FLOAT64, generator, SIZES(ORDER, SIDES)), *x = THTensor_new(), *y = THTensor_new();
    CHECK_OK(THSTensor_solve(x, s, b));
    CHECK(residual(s, x, b, false) < 1e-12);
    THTensor *column = THTensor_newSelect(b, 1, 1), *of_x = THTensor_newSelect(x, 1, 1);
    CHECK(THSTensor_cg(y, NULL, s, column, NULL, 1e-13, 500, NULL, NULL) > 0);
    CHECK(THTensor_dist(y, of_x, INFINITY) < 1e-11);
    THSTensor_free(s);
    THSTensor_free(diagonal);
    THTensor_free(b);
    THTensor_free(x);
    THTensor_free(y);
    THTensor_free(column);
    THTensor_free(of_x);
    THGenerator_free(generator);
}

/* A solution does not depend on the scale of the matrix, however far its elements are from 1. */
static void elements_may_be_near_the_ends_of_the_range(void) {
    THTensor *crow = vector_of(TH_INT64, 0, 2, 4), *col = vector_of(TH_INT64, 0, 1, 0, 1), *x = THTensor_new();
    THTensor *values = vector_of(TH_FLOAT64, 1e307, 1e308, 1e308, 1e307), *b = vector_of(TH_FLOAT64, 1.1e308, 1.1e308);
    CHECK_OK(THTensor_csrSolve(x, crow, col, values, b, 0));
    CHECK_CLOSE(x, 1e-15, 1, 1);
    CHECK_OK(THTensor_mul(values, values, 1e-300));
    CHECK_OK(THTensor_mul(values, values, 1e-310));
    CHECK_OK(THTensor_mul(b, b, 1e-300));
    CHECK_OK(THTensor_mul(b, b, 1e-310));
    CHECK_OK(THTensor_csrSolve(x, crow, col, values, b, 0));
    CHECK_NEAR(THTensor_get1d(x, 0), 1, 1e-6);
    THTensor_free(crow);
    THTensor_free(col);
    THTensor_free(values);
    THTensor_free(b);
    THTensor_free(x);
}

static void what_is_no_system_is_refused(void) {
    THSTensor *s = crossed(), *oblong = example(), *single = springs(TH_FLOAT32, 3);
    THTensor *x = vector_of(TH_FLOAT64, 1, 2), *b = vector_of(TH_FLOAT64, 2, 7, 8), *two = vector_of(TH_FLOAT64, 1, 2);
    CHECK_ERROR(THSTensor_solve(x, oblong, b), TH_ERR_SHAPE, "expected a square matrix");
    CHECK_ERROR(THSTensor_solve(x, s, two), TH_ERR_SHAPE, "shape [2] for 3 rows");
    CHECK_ERROR(THSTensor_solve(x, single, b), TH_ERR_DTYPE, "operands of one dtype");
    /* A singular matrix, and a matrix with a column without entries. */
    THTensor *crow = vector_of(TH_INT64, 0, 2, 4), *col = vector_of(TH_INT64, 0, 1, 0, 1), *values = vector_of(TH_FLOAT64, 1, 2, 2, 4);
    CHECK_ERROR(THTensor_csrSolve(x, crow, col, values, two, 0), TH_ERR_NUMERIC, "the matrix is singular: column 1");
    CHECK_OK(THTensor_fill(col, 1));
    CHECK_ERROR(THTensor_csrSolve(x, crow, col, values, two, 0), TH_ERR_NUMERIC, "the matrix is singular: column");
    CHECK_OK(THTensor_set1d(col, 0, 0));
    CHECK_OK(THTensor_set1d(values, 0, NAN));
    CHECK_ERROR(THTensor_csrSolve(x, crow, col, values, two, 0), TH_ERR_NUMERIC, "infinite or not a number");
    CHECK_OK(THTensor_set1d(col, 0, 2));
    CHECK_ERROR(THTensor_csrSolve(x, crow, col, values, two, 0), TH_ERR_ARGUMENT, "column 2 is out of range");
    CHECK_OK(THTensor_set1d(crow, 1, 5));
    CHECK_ERROR(THTensor_csrSolve(x, crow, col, values, two, 0), TH_ERR_ARGUMENT, "rows start at 0, ascend");
    CHECK_ERROR(THTensor_csrSolve(x, values, col, values, two, 0), TH_ERR_DTYPE, "'crow' is int64 or int32");
    CHECK_ERROR(THTensor_csrSolve(x, crow, col, two, two, 0), TH_ERR_SHAPE, "values of shape");
    CHECK_VALUES(x, 1, 2);
    THSTensor_free(s);
    THSTensor_free(oblong);
    THSTensor_free(single);
    THTensor_free(x);
    THTensor_free(b);
    THTensor_free(two);
    THTensor_free(crow);
    THTensor_free(col);
    THTensor_free(values);
}

/* Laplace's matrix of a ring of n points, whose rows sum to 0, each multiplied by `scale` to the power i / n, columns likewise. */
static THSTensor *ring(int64_t n, double scale, bool closed) {
    int64_t *at = malloc((size_t)(6 * n) * sizeof *at), count = 0;
    double *value = malloc((size_t)(3 * n) * sizeof *value);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = -1; k < 2; k++) {
            int64_t j = (i + k + n) % n;
            if (!closed && j != i + k) continue;
            at[count] = i, at[3 * n + count] = j;
            value[count++] = (k ? -1 : 2) * pow(scale, (double)i / (double)n) * pow(scale, (double)j / (double)n);
        }
    }
    THTensor *all = THTensor_newFromData(TH_INT64, SIZES(2, 3 * n), at), *indices = THTensor_newNarrow(all, 1, 0, count);
    THSTensor *s = coordinates(indices, check_vector(TH_FLOAT64, value, (int)count), n, n);
    THTensor_free(all);
    free(at);
    free(value);
    return s;
}

/* Rounding errors may leave a singular matrix positive definite; the condition number tells, and does not depend on units. */
static void singular_matrices_are_found(void) {
    for (int64_t n = 3; n < 3000; n = n * 3 + 1) {
        for (int k = 0; k < 3; k++) {
            double scale = pow(1e8, k);
            THSTensor *singular = ring(n, scale, true), *regular = ring(n, scale, false), *skewed = THSTensor_new();
            THTensor *b = THTensor_newOnes(TH_FLOAT64, SIZES(n)), *x = THTensor_new();
            THSTensor *one = coordinates(POSITIONS(2, 0, 1), vector_of(TH_FLOAT64, 1e-3), n, n);
            CHECK_ERROR(THSTensor_solve(x, singular, b), TH_ERR_NUMERIC, "the matrix is singular");
            CHECK_OK(THSTensor_solve(x, regular, b));
            /* By LU, since the matrix is not symmetric. */
            CHECK_OK(THSTensor_cadd(skewed, regular, 1, one));
            CHECK_OK(THSTensor_solve(x, skewed, b));
            THSTensor_free(one);
            THSTensor_free(skewed);
            THSTensor_free(regular);
            THSTensor_free(singular);
            THTensor_free(b);
            THTensor_free(x);
        }
    }
    /* Rows and columns in units that differ by 1e200 make no matrix singular; nor does a condition number of 1e12. */
    THTensor *diagonal = vector_of(TH_FLOAT64, 1e-100, 1, 1e100), *b = vector_of(TH_FLOAT64, 1e-100, 2, 3e100), *x = THTensor_new();
    THSTensor *s = diagonal_of(diagonal), *near = coordinates(POSITIONS(2, 0, 0, 1, 1, 0, 1, 0, 1), vector_of(TH_FLOAT64, 1, 1, 1, 1 + 1e-12), 2, 2);
    CHECK_OK(THSTensor_solve(x, s, b));
    CHECK_CLOSE(x, 1e-15, 1, 2, 3);
    THTensor *two = vector_of(TH_FLOAT64, 1, 2);
    CHECK_OK(THSTensor_solve(x, near, two));
    THSTensor_free(s);
    THSTensor_free(near);
    THTensor_free(two);
    THTensor_free(b);
    THTensor_free(x);
}

/* The progress of an iteration: the last step and residual, and the step at which the callback stops. */
typedef struct {
    int64_t step, last;
    double residual;
} Progress;

static THStatus note(int64_t step, double residual, void *context) {
    Progress *progress = context;
    CHECK_EQ(step, progress->step + 1);
    progress->step = step;
    progress->residual = residual;
    return step == progress->last ? 77 : TH_OK;
}

static void conjugate_gradients_come_close(void) {
    for (int wide = 0; wide < 2; wide++) {
        THDtype dtype = wide ? TH_FLOAT64 : TH_FLOAT32;
        double tol = wide ? 1e-12 : 1e-5;
        THSTensor *s = springs(dtype, 50);
        THTensor *b = THTensor_newOnes(dtype, SIZES(50)), *x = THTensor_new(), *rest = THTensor_new(), *direct = THTensor_new();
        Progress progress = {0};
        CHECK_OK(THSTensor_solve(direct, s, b));
        int64_t steps = THSTensor_cg(x, rest, s, b, NULL, tol, 200, note, &progress);
        CHECK(steps > 0 && steps <= 60);
        CHECK_EQ(progress.step, steps);
        CHECK(progress.residual <= tol);
        CHECK(THTensor_item(rest) <= 10 * tol);
        CHECK_EQ(THTensor_dtype(x), dtype);
        CHECK(THTensor_dist(x, direct, INFINITY) < tol * 1e5);
        /* No step is needed from the solution, or for a right-hand side of zeros. */
        CHECK_EQ(THSTensor_cg(x, rest, s, b, direct, 10 * tol, 200, NULL, NULL), 0);
        CHECK_OK(THTensor_zero(b));
        CHECK_EQ(THSTensor_cg(x, rest, s, b, NULL, tol, 200, NULL, NULL), 0);
        CHECK_EQ(THTensor_sumall(x), 0);
        CHECK_EQ(THTensor_item(rest), 0);
        THSTensor_free(s);
        THTensor_free(b);
        THTensor_free(x);
        THTensor_free(rest);
        THTensor_free(direct);
    }
}

/* The squares of these right-hand sides underflow or overflow in float32. */
static void conjugate_gradients_know_any_magnitude(void) {
    const double magnitudes[] = {1e-40, 1e-23, 1e20, 1e35};
    THSTensor *s = springs(TH_FLOAT32, 20);
    THTensor *ones = THTensor_newOnes(TH_FLOAT32, SIZES(20)), *expected = THTensor_new(), *b = THTensor_new(), *x = THTensor_new(),
             *ratio = THTensor_new();
    CHECK(THSTensor_cg(expected, NULL, s, ones, NULL, 1e-5, 100, NULL, NULL) > 0);
    for (int i = 0; i < 4; i++) {
        CHECK_OK(THTensor_mul(b, ones, magnitudes[i]));
        CHECK(THSTensor_cg(x, NULL, s, b, NULL, 1e-5, 100, NULL, NULL) > 0);
        CHECK_OK(THTensor_div(ratio, x, magnitudes[i]));
        CHECK(THTensor_dist(ratio, expected, INFINITY) < 0.01);
        CHECK(THSTensor_cg(x, NULL, s, b, x, 1e-4, 100, NULL, NULL) >= 0);
    }
    THTensor_free(ratio);
    THTensor_free(x);
    THTensor_free(b);
    THTensor_free(expected);
    THTensor_free(ones);
    THSTensor_free(s);
}

static void steps_that_are_too_few_fail_unless_the_residual_is_asked_for(void) {
    THSTensor *s = springs(TH_FLOAT64, 50);
    THTensor *b = THTensor_newOnes(TH_FLOAT64, SIZES(50)), *x = vector_of(TH_FLOAT64, 4, 5), *rest = THTensor_new();
    CHECK_FAILURE(THSTensor_cg(x, NULL, s, b, NULL, 1e-12, 3, NULL, NULL) == -1, TH_ERR_NUMERIC, "3 steps left a residual of");
    CHECK_VALUES(x, 4, 5);
    CHECK_EQ(THSTensor_cg(x, rest, s, b, NULL, 1e-12, 3, NULL, NULL), 3);
    CHECK(THTensor_item(rest) > 0.1);
    /* The iteration continues where it ended. */
    CHECK(THSTensor_cg(x, NULL, s, b, x, 1e-12, 100, NULL, NULL) > 0);
    CHECK(residual(s, x, b, false) < 1e-10);
    THSTensor_free(s);
    THTensor_free(b);
    THTensor_free(x);
    THTensor_free(rest);
}

/* |b - s x| / |b| in float64, as nobody but the test computes it. */
static double residual_of(const THSTensor *s, THTensor *x, THTensor *b) {
    THTensor *dense = THSTensor_newDense(s), *wide = THTensor_newTo(dense, TH_FLOAT64), *wide_x = THTensor_newTo(x, TH_FLOAT64);
    THTensor *rest = THTensor_new(), *wide_b = THTensor_newTo(b, TH_FLOAT64);
    CHECK_OK(THTensor_mv(rest, wide, wide_x));
    CHECK_OK(THTensor_csub(rest, wide_b, 1, rest));
    double size = THTensor_normall(rest, 2) / THTensor_normall(wide_b, 2);
    THTensor_free(wide_b);
    THTensor_free(rest);
    THTensor_free(wide_x);
    THTensor_free(wide);
    THTensor_free(dense);
    return size;
}

/* A number of steps is returned only where `b - s x` is as small as was asked for; else a failure, or the residual, says so. */
static void success_is_true(void) {
    static const double tolerances[] = {1e-2, 1e-3, 1e-4, 1e-6, 1e-9, 1e-12, 0};
    THTensor *x, *rest = THTensor_new();
    for (int k = 0; k < 4 * 7; k++) {
        x = THTensor_new();
        THSTensor *s, *single = k % 2 ? NULL : THSTensor_new();
        double tol = tolerances[k / 4];
        int64_t n = k % 4 < 2 ? 200 : 40;
        s = ring(n, k % 4 < 2 ? 1e3 : 1, false);
        THTensor *b = THTensor_newOnes(TH_FLOAT64, SIZES(n));
        if (single) {
            THTensor *indices = THSTensor_newIndices(s), *values = THSTensor_newValues(s), *narrow = THTensor_newTo(values, TH_FLOAT32);
            THSTensor_free(s);
            s = THSTensor_newWithTensorAndSize(indices, narrow, SIZES(n, n));
            THTensor *wide = b;
            b = THTensor_newTo(wide, TH_FLOAT32);
            THTensor_free(wide);
            THTensor_free(indices);
            THTensor_free(values);
            THTensor_free(narrow);
            THSTensor_free(single);
        }
        int64_t steps = THSTensor_cg(x, NULL, s, b, NULL, tol, 20000, NULL, NULL);
        if (steps >= 0) CHECK(residual_of(s, x, b) <= tol * (1 + 1e-9));
        else CHECK(strstr(THGetLastError(), "left a residual of") != NULL);
        int64_t again = THSTensor_cg(x, rest, s, b, NULL, tol, 20000, NULL, NULL);
        CHECK(again >= 0 && (steps < 0 || again == steps));
        double size = residual_of(s, x, b);
        CHECK_NEAR(THTensor_item(rest), size, 1e-6 * size + 1e-10);
        CHECK(steps >= 0 || THTensor_item(rest) > tol);
        THTensor_free(x);
        THTensor_free(b);
        THSTensor_free(s);
    }
    x = THTensor_new();
    /* float64 on a well conditioned matrix comes near the ends of the precision. */
    THSTensor *s = springs(TH_FLOAT64, 25);
    THTensor *b = THTensor_newOnes(TH_FLOAT64, SIZES(25)), *start = THTensor_newOnes(TH_FLOAT64, SIZES(25));
    CHECK(THSTensor_cg(x, rest, s, b, NULL, 0, 3000, NULL, NULL) > 0);
    CHECK(THTensor_item(rest) < 1e-13);
    /* The solution of no right-hand side is 0, from any start. */
    CHECK_OK(THTensor_zero(b));
    CHECK_EQ(THSTensor_cg(x, rest, s, b, start, 0, 3000, NULL, NULL), 0);
    CHECK_EQ(THTensor_sumall(x), 0);
    CHECK_EQ(THTensor_item(rest), 0);
    THTensor_free(start);
    THTensor_free(b);
    THSTensor_free(s);
    /* A singular matrix: the right-hand side is none of its products, or one. */
    for (int float64 = 0; float64 < 2; float64++) {
        THTensor_free(x);
        x = THTensor_new();
        THSTensor *wide = ring(30, 1, true);
        THTensor *indices = THSTensor_newIndices(wide), *values = THSTensor_newValues(wide);
        THTensor *cast = THTensor_newTo(values, float64 ? TH_FLOAT64 : TH_FLOAT32);
        s = THSTensor_newWithTensorAndSize(indices, cast, SIZES(30, 30));
        b = THTensor_newOnes(float64 ? TH_FLOAT64 : TH_FLOAT32, SIZES(30));
        CHECK_FAILURE(THSTensor_cg(x, NULL, s, b, NULL, 1e-4, 999, NULL, NULL) == -1, TH_ERR_NUMERIC, "singular to the precision of float");
        CHECK_OK(THTensor_set1d(b, 3, 5));
        CHECK_FAILURE(THSTensor_cg(x, NULL, s, b, NULL, 1e-4, 999, NULL, NULL) == -1, TH_ERR_NUMERIC, "");
        CHECK_OK(THTensor_zero(b));
        CHECK_OK(THTensor_set1d(b, 0, 1));
        CHECK_OK(THTensor_set1d(b, 9, -1));
        CHECK(THSTensor_cg(x, NULL, s, b, NULL, 1e-4, 999, NULL, NULL) > 0);
        CHECK(residual_of(s, x, b) <= 1e-4);
        THTensor_free(b);
        THTensor_free(cast);
        THTensor_free(values);
        THTensor_free(indices);
        THSTensor_free(s);
        THSTensor_free(wide);
    }
    THTensor_free(x);
    THTensor_free(rest);
}

/* A diagonal of 0 is found whether or not there are columns to divide by it. */
static void triangles_without_columns_are_looked_at(void) {
    THTensor *crow = vector_of(TH_INT64, 0, 1, 2), *col = vector_of(TH_INT64, 0, 1), *values = vector_of(TH_FLOAT32, 1, 0);
    THTensor *none = THTensor_newZeros(TH_FLOAT32, SIZES(2, 0)), *x = THTensor_new();
    for (int k = 0; k < 4; k++) {
        CHECK_ERROR(THTensor_csrTrtrs(x, crow, col, values, none, k % 2, k / 2, 0), TH_ERR_NUMERIC, "row 1 has 0 on the diagonal");
        CHECK_OK(THTensor_csrTrtrs(x, crow, col, values, none, k % 2, k / 2, 1));
        CHECK_SHAPE(x, 2, 0);
    }
    THTensor_free(x);
    THTensor_free(none);
    THTensor_free(values);
    THTensor_free(col);
    THTensor_free(crow);
}

static void a_program_may_end_the_iteration(void) {
    THSTensor *s = springs(TH_FLOAT64, 50);
    THTensor *b = THTensor_newOnes(TH_FLOAT64, SIZES(50)), *x = vector_of(TH_FLOAT64, 4, 5);
    Progress progress = {.last = 2};
    CHECK_EQ(THSTensor_cg(x, NULL, s, b, NULL, 1e-12, 100, note, &progress), -1);
    CHECK_EQ(THGetLastErrorCode(), 77);
    CHECK_EQ(progress.step, 2);
    CHECK_VALUES(x, 4, 5);
    THSTensor_free(s);
    THTensor_free(b);
    THTensor_free(x);
}

static void matrices_that_are_not_definite_are_found(void) {
    THSTensor *s = springs(TH_FLOAT64, 3), *negative = THSTensor_new();
    THTensor *b = vector_of(TH_FLOAT64, 1, 2, 3), *x = THTensor_new(), *rest = THTensor_new(), *start = vector_of(TH_FLOAT64, 1, 2);
    CHECK_OK(THSTensor_mul(negative, s, -1));
    CHECK_FAILURE(THSTensor_cg(x, rest, negative, b, NULL, 1e-9, 9, NULL, NULL) == -1, TH_ERR_NUMERIC, "an element of its diagonal");
    /* 1 2
     * 2 1 */
    THTensor *crow = vector_of(TH_INT64, 0, 2, 4), *col = vector_of(TH_INT64, 0, 1, 0, 1), *values = vector_of(TH_FLOAT64, 1, 2, 2, 1);
    THTensor *right = vector_of(TH_FLOAT64, 1, -1);
    CHECK_FAILURE(THTensor_csrCg(x, rest, crow, col, values, right, NULL, 1e-9, 9, NULL, NULL) == -1, TH_ERR_NUMERIC, "curvature");
    CHECK_FAILURE(THSTensor_cg(x, rest, s, b, start, 1e-9, 9, NULL, NULL) == -1, TH_ERR_SHAPE, "a start of shape [2]");
    CHECK_FAILURE(THSTensor_cg(x, rest, s, start, NULL, 1e-9, 9, NULL, NULL) == -1, TH_ERR_SHAPE, "shape [2] for 3 rows");
    CHECK_FAILURE(THSTensor_cg(x, rest, s, b, NULL, -1, 9, NULL, NULL) == -1, TH_ERR_ARGUMENT, "a tolerance of -1");
    CHECK_FAILURE(THSTensor_cg(x, rest, s, b, NULL, 1e-9, -9, NULL, NULL) == -1, TH_ERR_ARGUMENT, "-9 steps");
    CHECK_OK(THTensor_set1d(b, 1, NAN));
    CHECK_FAILURE(THSTensor_cg(x, rest, s, b, NULL, 1e-9, 9, NULL, NULL) == -1, TH_ERR_NUMERIC, "not a number");
    CHECK_EQ(THTensor_dtype(x), TH_UNDEFINED);
    THSTensor_free(s);
    THSTensor_free(negative);
    THTensor_free(b);
    THTensor_free(x);
    THTensor_free(rest);
    THTensor_free(start);
    THTensor_free(crow);
    THTensor_free(col);
    THTensor_free(values);
    THTensor_free(right);
}

/* A function for THGrad_check: the weighted sum of squares of x, where A x = b. The inputs are the entries of A, and b. */
typedef struct {
    const THTensor *crow, *col;
    bool by_steps, transposed;
} Pattern;

static THStatus solved(const THTensor *const *inputs, int inputCount, THTensor *const *outputs, int outputCount, void *context) {
    const Pattern *a = context;
    CHECK(inputCount == 2 && outputCount == 1);
    if (!a->by_steps) return THTensor_csrSolve(outputs[0], a->crow, a->col, inputs[0], inputs[1], a->transposed);
    return THTensor_csrCg(outputs[0], NULL, a->crow, a->col, inputs[0], inputs[1], NULL, 1e-14, 50, NULL, NULL) < 0
               ? THGetLastErrorCode()
               : TH_OK;
}

/* With `y` the gradient of `b`, the gradient of the entries is -y x' at their positions. */
static void solutions_have_gradients(void) {
    THTensor *crow = vector_of(TH_INT32, 0, 2, 5, 7), *col = vector_of(TH_INT32, 0, 1, 0, 1, 2, 1, 2);
    THTensor *values = vector_of(TH_FLOAT64, 4, -1, -1, 5, 2, 2, 6), *b = vector_of(TH_FLOAT64, 1, -2, 3);
    THTensor *inputs[2] = {values, b};
    CHECK_OK(THTensor_setRequiresGrad(values, 1));
    CHECK_OK(THTensor_setRequiresGrad(b, 1));
    for (int k = 0; k < 3; k++) {
        Pattern pattern = {.crow = crow, .col = col, .by_steps = k == 2, .transposed = k == 1};
        CHECK_OK(THGrad_check(inputs, 2, 1, solved, &pattern, 1e-6, 1e-6, 1e-5));
    }
    THTensor_free(crow);
    THTensor_free(col);
    THTensor_free(values);
    THTensor_free(b);
}

CHECK_MAIN(CASE(systems_have_vectors_or_matrices_on_the_right), CASE(random_systems_are_solved),
           CASE(definite_systems_whose_factors_fill_up_are_solved),
           CASE(elements_may_be_near_the_ends_of_the_range), CASE(what_is_no_system_is_refused), CASE(conjugate_gradients_come_close),
           CASE(conjugate_gradients_know_any_magnitude),
           CASE(steps_that_are_too_few_fail_unless_the_residual_is_asked_for), CASE(a_program_may_end_the_iteration),
           CASE(matrices_that_are_not_definite_are_found), CASE(singular_matrices_are_found), CASE(success_is_true),
           CASE(triangles_without_columns_are_looked_at), CASE(solutions_have_gradients))
