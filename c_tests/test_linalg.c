/* Linear algebra: systems of equations, least squares, eigenvalues, singular values, and the errors for matrices
 * without them. Results are the first arguments; optional results are passed as NULL. */
#include "check.h"

/* Systems of equations */

/*  2 x +     y -     z =   8
 * -3 x -     y + 2   z = -11
 * -2 x +     y + 2   z =  -3 */
static void a_system_is_solved(void) {
    THTensor *a = matrix_of(TH_FLOAT64, 3, 2, 1, -1, -3, -1, 2, -2, 1, 2), *b = vector_of(TH_FLOAT64, 8, -11, -3);
    THTensor *x = THTensor_new(), *r = THTensor_new();
    CHECK_OK(THTensor_solve(x, NULL, b, a));
    CHECK_SHAPE(x, 3);
    CHECK_CLOSE(x, 1e-14, 2, 3, -1);
    CHECK_OK(THTensor_mv(r, a, x));
    CHECK_CLOSE(r, 1e-14, 8, -11, -3);
    THTensor_free(r);
    THTensor_free(x);
    THTensor_free(b);
    THTensor_free(a);
}

/* The last two dimensions are matrices, and the dimensions before them are batches. One matrix can be used with a batch
 * of right-hand sides. */
static void batches_are_solved_at_once(void) {
    THTensor *a = matrix_of(TH_FLOAT32, 2, 4, 0, 0, 2), *ones = THTensor_newOnes(TH_FLOAT32, SIZES(5, 2, 3)),
             *x = THTensor_new();
    CHECK_OK(THTensor_gesv(x, NULL, ones, a));
    CHECK_SHAPE(x, 5, 2, 3);
    for (int64_t i = 0; i < 5; i++) {
        CHECK(THTensor_get3d(x, i, 0, 2) == 0.25);
        CHECK(THTensor_get3d(x, i, 1, 0) == 0.5);
    }
    THTensor_free(x);
    THTensor_free(ones);
    THTensor_free(a);
}

/* The factors, which are expensive, are reused for each right-hand side. Pivots are LAPACK's: row i was exchanged with
 * row pivots[i], counted from 1. */
static void factors_are_made_once(void) {
    THTensor *a = matrix_of(TH_FLOAT64, 2, 0, 1, 2, 0), *b = vector_of(TH_FLOAT64, 3, 4);
    THTensor *lu = THTensor_new(), *pivots = THTensor_new(), *x = THTensor_new();
    CHECK_OK(THTensor_btrifact(lu, pivots, NULL, 1, a));
    CHECK_VALUES(lu, 2, 0, 0, 1);
    CHECK_VALUES(pivots, 2, 2);
    CHECK_EQ(THTensor_dtype(pivots), TH_INT32);
    CHECK_OK(THTensor_btrisolve(x, b, lu, pivots));
    CHECK_VALUES(x, 2, 3);
    THTensor_free(x);
    THTensor_free(pivots);
    THTensor_free(lu);
    THTensor_free(b);
    THTensor_free(a);
}

/* For symmetric positive definite matrices, with half the work of gesv. */
static void cholesky_factors_solve_too(void) {
    THTensor *a = matrix_of(TH_FLOAT64, 2, 4, 2, 2, 10), *b = vector_of(TH_FLOAT64, 8, 22);
    THTensor *l = THTensor_new(), *x = THTensor_new();
    CHECK_OK(THTensor_cholesky(l, a, 0));
    CHECK_VALUES(l, 2, 0, 1, 3);
    CHECK_OK(THTensor_potrs(x, b, l, 0));
    CHECK_CLOSE(x, 1e-14, 1, 2);
    CHECK_OK(THTensor_cholesky(l, a, 1));
    CHECK_VALUES(l, 2, 1, 0, 3);
    THTensor_free(x);
    THTensor_free(l);
    THTensor_free(b);
    THTensor_free(a);
}

/* Least squares */

/* The line that best fits (0, 1), (1, 3), (2, 4), (3, 4): y = 1.5 + x. */
static void a_line_is_fitted(void) {
    THTensor *a = matrix_of(TH_FLOAT64, 4, 1, 0, 1, 1, 1, 2, 1, 3), *y = vector_of(TH_FLOAT64, 1, 3, 4, 4);
    THTensor *line = THTensor_new(), *rank = THTensor_new();
    CHECK_OK(THTensor_gels(line, NULL, y, a));
    CHECK_CLOSE(line, 1e-14, 1.5, 1);
    /* The same by singular values, which also works if columns are linearly dependent. */
    CHECK_OK(THTensor_lstsq(line, rank, NULL, y, a, -1));
    CHECK_CLOSE(line, 1e-14, 1.5, 1);
    CHECK_VALUES(rank, 2);
    THTensor_free(rank);
    THTensor_free(line);
    THTensor_free(y);
    THTensor_free(a);
}

/* Squares of elements, or singular values, are beyond the range of their dtype. */
static void systems_of_great_and_small_elements(void) {
    THTensor *x = THTensor_new(), *rank = THTensor_new(), *s = THTensor_new(), *factors = THTensor_new();
    static const double scales[] = {1e308, 1e-309, 3e38, 1e-40};
    for (int i = 0; i < 4; i++) {
        THDtype dtype = i < 2 ? TH_FLOAT64 : TH_FLOAT32;
        double c = scales[i], tolerance = i == 0 ? 1e-14 : i == 2 ? 1e-6 : 1e-4;
        THTensor *a = matrix_of(dtype, 2, c, c / 4, c / 4, c), *b = vector_of(dtype, c, c);
        CHECK_OK(THTensor_gels(x, factors, b, a));
        CHECK_CLOSE(x, tolerance, .8, .8);
        /* The first element of R is the norm of the column. */
        CHECK_NEAR(fabs(THTensor_get2d(factors, 0, 0)) / c, sqrt(1.0625), i == 2 ? INFINITY : 1e-3);
        CHECK_OK(THTensor_lstsq(x, rank, s, b, a, -1));
        CHECK_CLOSE(x, tolerance, .8, .8);
        CHECK_VALUES(rank, 2);
        THTensor_free(b);
        THTensor_free(a);
    }
    THTensor_free(factors);
    THTensor_free(s);
    THTensor_free(rank);
    THTensor_free(x);
}

/* Of all solutions of x + y + 2 z = 6, the shortest. */
static void what_is_left_open_is_short(void) {
    THTensor *a = matrix_of(TH_FLOAT64, 1, 1, 1, 2), *b = vector_of(TH_FLOAT64, 6), *x = THTensor_new();
    CHECK_OK(THTensor_gels(x, NULL, b, a));
    CHECK_CLOSE(x, 1e-14, 1, 1, 2);
    THTensor_free(x);
    THTensor_free(b);
    THTensor_free(a);
}

/* Eigenvalues and singular values */

static void symmetric_matrices_have_real_eigenvalues(void) {
    THTensor *a = matrix_of(TH_FLOAT64, 2, 2, 1, 1, 2), *e = THTensor_new(), *v = THTensor_new();
    CHECK_OK(THTensor_symeig(e, v, a, 1));
    CHECK_CLOSE(e, 1e-14, 1, 3);
    /* The columns of v are the vectors (1, -1) and (1, 1), normalised to 1, with any sign. */
    CHECK_NEAR(THTensor_get2d(v, 0, 0) / THTensor_get2d(v, 1, 0), -1, 1e-14);
    CHECK_NEAR(THTensor_get2d(v, 0, 1) / THTensor_get2d(v, 1, 1), 1, 1e-14);
    CHECK_NEAR(fabs(THTensor_get2d(v, 0, 0)), sqrt(0.5), 1e-14);
    CHECK_OK(THTensor_symeig(e, NULL, a, 0));
    CHECK_CLOSE(e, 1e-14, 1, 3);
    THTensor_free(v);
    THTensor_free(e);
    THTensor_free(a);
}

/* A rotation by 90 degrees has the eigenvalues i and -i, as pairs of real and imaginary part. */
static void others_may_have_complex_ones(void) {
    THTensor *a = matrix_of(TH_FLOAT64, 2, 0, -1, 1, 0), *e = THTensor_new(), *v = THTensor_new();
    CHECK_OK(THTensor_eig(e, v, a));
    CHECK_SHAPE(e, 2, 2);
    CHECK_CLOSE(e, 1e-14, 0, 1, 0, -1);
    /* The vector of i is v[:, 0] + i v[:, 1], and the vector of -i is its conjugate: a (x + i y) = i (x + i y). */
    double x0 = THTensor_get2d(v, 0, 0), y0 = THTensor_get2d(v, 0, 1), x1 = THTensor_get2d(v, 1, 0),
           y1 = THTensor_get2d(v, 1, 1);
    CHECK_NEAR(-x1, -y0, 1e-14);
    CHECK_NEAR(-y1, x0, 1e-14);
    CHECK_NEAR(x0 * x0 + x1 * x1 + y0 * y0 + y1 * y1, 1, 1e-14);
    THTensor_free(v);
    THTensor_free(e);
    THTensor_free(a);
}

static void singular_values_say_how_far_a_matrix_stretches(void) {
    THTensor *a = matrix_of(TH_FLOAT64, 3, 3, 0, 0, 0, 0, -2);
    THTensor *u = THTensor_new(), *s = THTensor_new(), *v = THTensor_new(), *r = THTensor_new();
    CHECK_OK(THTensor_svd(u, s, v, a, 1));
    CHECK_SHAPE(u, 3, 2);
    CHECK_SHAPE(v, 2, 2);
    CHECK_CLOSE(s, 1e-14, 3, 2);
    /* a = u diag(s) v' */
    CHECK_OK(THTensor_cmul(u, u, s));
    CHECK_OK(THTensor_t(v, v));
    CHECK_OK(THTensor_mm(r, u, v));
    CHECK_CLOSE(r, 1e-14, 3, 0, 0, 0, 0, -2);
    CHECK_OK(THTensor_svd(u, NULL, NULL, a, 0));
    CHECK_SHAPE(u, 3, 3);
    CHECK_OK(THTensor_matrixNorm(r, a, TH_NORM_NUC, 0));
    CHECK_NEAR(THTensor_item(r), 5, 1e-14);
    CHECK_OK(THTensor_cond(r, a, TH_NORM_2));
    CHECK_NEAR(THTensor_item(r), 1.5, 1e-14);
    THTensor_free(r);
    THTensor_free(v);
    THTensor_free(s);
    THTensor_free(u);
    THTensor_free(a);
}

/* Determinants, inverses, functions of matrices */

static void determinants_and_inverses(void) {
    THTensor *a = matrix_of(TH_FLOAT64, 2, 1, 2, 3, 4), *r = THTensor_new(), *sign = THTensor_new();
    CHECK_OK(THTensor_det(r, a));
    CHECK_EQ(THTensor_dim(r), 0);
    CHECK_NEAR(THTensor_item(r), -2, 1e-14);
    CHECK_OK(THTensor_slogdet(sign, r, a));
    CHECK(THTensor_item(sign) == -1);
    CHECK_NEAR(THTensor_item(r), log(2), 1e-14);
    CHECK_OK(THTensor_logdet(r, a));
    CHECK(isnan(THTensor_item(r)));
    CHECK_OK(THTensor_inverse(a, a));
    CHECK_CLOSE(a, 1e-14, -2, 1, 1.5, -0.5);
    THTensor_free(sign);
    THTensor_free(r);
    THTensor_free(a);
}

/* The product of 300 factors of 1e-3 underflows; its logarithm does not. */
static void determinants_beyond_the_range_of_doubles(void) {
    THTensor *a = THTensor_new(), *sign = THTensor_new(), *logarithm = THTensor_new(), *r = THTensor_new();
    THTensor *one = THTensor_newOnes(TH_FLOAT64, SIZES(300));
    CHECK_OK(THTensor_mul(one, one, 1e-3));
    CHECK_OK(THTensor_diag(a, one, 0));
    CHECK_OK(THTensor_slogdet(sign, logarithm, a));
    CHECK(THTensor_item(sign) == 1);
    CHECK_NEAR(THTensor_item(logarithm), 300 * log(1e-3), 1e-9);
    CHECK_OK(THTensor_det(r, a));
    CHECK(THTensor_item(r) == 0);
    THTensor_free(one);
    THTensor_free(r);
    THTensor_free(logarithm);
    THTensor_free(sign);
    THTensor_free(a);
}

/* The determinant of a diagonal matrix is the product of its elements, however large or small they are, if a double can
 * hold it. */
static void determinants_of_great_and_small_elements(void) {
    static const struct {
        double elements[4], product;
    } cases[] = {
        {{1e-310, 1, 1, 1}, 1e-310},      {{2e-100, 1e-210, 1, 1}, 2e-310},    {{2e-100, 1e-210, 1e300, 1}, 2e-10},
        {{9e99, 1e300, 1e-300, 1}, 9e99}, {{2e-100, 1e-230, 1e300, 1}, 2e-30}, {{-1e-300, 1e-300, 1e300, 1e300}, -1},
        {{1e300, 1e300, 1e-300, 0}, 0},   {{1e200, 1e200, 1, 1}, INFINITY},    {{1e-200, 1e-200, 1, 1}, 0}};
    THTensor *a = THTensor_new(), *r = THTensor_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double *x = cases[i].elements, product = cases[i].product;
        /* OpenBLAS divides by subnormal pivots through their inverses, which are infinite. */
        if (THGetBlas() && x[0] != 0 && fabs(x[0]) < 2.3e-308) continue;
        THTensor *diagonal = vector_of(TH_FLOAT64, x[0], x[1], x[2], x[3]);
        CHECK_OK(THTensor_diag(a, diagonal, 0));
        CHECK_OK(THTensor_det(r, a));
        double off = isinf(product) ? 0 : fabs(product) * 1e-14 + 1e-323;
        CHECK_NEAR(THTensor_item(r), product, off);
        THTensor_free(diagonal);
    }
    /* A zero has no sign. */
    THTensor *singular = matrix_of(TH_FLOAT64, 2, 0, 1, 0, -3), *logarithm = THTensor_new();
    CHECK_OK(THTensor_slogdet(r, logarithm, singular));
    CHECK(THTensor_item(r) == 0 && !signbit(THTensor_item(r)));
    CHECK_VALUES(logarithm, -INFINITY);
    THTensor_free(logarithm);
    THTensor_free(singular);
    THTensor_free(r);
    THTensor_free(a);
}

/* exp of [a x; 0 b] has the element (exp a - exp b) / (a - b) * x in its corner. The size of x must not decide how
 * often the matrix is halved. */
static void exponentials_of_great_corners(void) {
    static const double cases[][3] = {{0, 1e300, 0}, {0, 1e10, 0}, {1, 1e6, -1}, {2, 1e12, 1}};
    THTensor *r = THTensor_new();
    for (int i = 0; i < 4; i++) {
        double a = cases[i][0], x = cases[i][1], b = cases[i][2];
        double corner = a == b ? exp(a) : (exp(a) - exp(b)) / (a - b);
        THTensor *t = matrix_of(TH_FLOAT64, 2, a, x, 0, b);
        CHECK_OK(THTensor_matrixExp(r, t));
        CHECK_NEAR(THTensor_get2d(r, 0, 0), exp(a), 1e-13 * exp(a));
        CHECK_NEAR(THTensor_get2d(r, 1, 1), exp(b), 1e-13 * exp(b));
        CHECK_NEAR(THTensor_get2d(r, 0, 1) / x, corner, 1e-13 * corner);
        CHECK(THTensor_get2d(r, 1, 0) == 0);
        THTensor_free(t);
    }
    THTensor *single = matrix_of(TH_FLOAT32, 2, 1, 1e6, 0, -1);
    CHECK_OK(THTensor_matrixExp(r, single));
    CHECK_NEAR(THTensor_get2d(r, 0, 0), exp(1), 1e-6);
    CHECK_NEAR(THTensor_get2d(r, 1, 1), exp(-1), 1e-6);
    THTensor_free(single);
    THTensor_free(r);
}

/* exp of [0 -x; x 0] is a rotation by x. */
static void exponentials_of_matrices(void) {
    THTensor *a = matrix_of(TH_FLOAT64, 2, 0, -1, 1, 0), *r = THTensor_new();
    for (double x = 0.001; x < 100; x *= 3) {
        THTensor *t = matrix_of(TH_FLOAT64, 2, 0, -x, x, 0);
        CHECK_OK(THTensor_matrixExp(r, t));
        CHECK_CLOSE(r, 1e-13, cos(x), -sin(x), sin(x), cos(x));
        THTensor_free(t);
    }
    CHECK_OK(THTensor_fill(a, NAN));
    CHECK_OK(THTensor_matrixExp(r, a));
    CHECK_VALUES(r, NAN, NAN, NAN, NAN);
    THTensor_free(r);
    THTensor_free(a);
}

/* Failures */

static void a_failure_is_named_and_changes_nothing(void) {
    THTensor *singular = matrix_of(TH_FLOAT64, 2, 1, 2, 2, 4), *b = vector_of(TH_FLOAT64, 1, 2);
    THTensor *x = vector_of(TH_FLOAT64, 7, 7, 7), *info = THTensor_new(), *r = THTensor_new();
    CHECK_ERROR(THTensor_solve(x, NULL, b, singular), TH_ERR_NUMERIC, "U(2, 2) is 0: the matrix is singular");
    CHECK_ERROR(THTensor_inverse(x, singular), TH_ERR_NUMERIC, "U(2, 2) is 0");
    CHECK_VALUES(x, 7, 7, 7);
    /* The variant that returns an info reports the failure in the info. */
    CHECK_OK(THTensor_btrifact(r, x, info, 1, singular));
    CHECK_VALUES(info, 2);
    CHECK_OK(THTensor_det(r, singular));
    CHECK(THTensor_item(r) == 0);
    CHECK_OK(THTensor_cond(r, singular, TH_NORM_1));
    CHECK(THTensor_item(r) == INFINITY);
    THTensor *indefinite = matrix_of(TH_FLOAT64, 2, 1, 2, 2, 1);
    CHECK_ERROR(THTensor_cholesky(r, indefinite, 0), TH_ERR_NUMERIC,
                "the leading minor of order 2 is not positive definite");
    THTensor *zeros = THTensor_newZeros(TH_FLOAT64, SIZES(3, 2, 2));
    CHECK_ERROR(THTensor_inverse(r, zeros), TH_ERR_NUMERIC, "matrix 0 of the batch: U(1, 1) is 0");
    THTensor_free(zeros);
    THTensor_free(indefinite);
    THTensor_free(r);
    THTensor_free(info);
    THTensor_free(x);
    THTensor_free(b);
    THTensor_free(singular);
}

static void shapes_and_dtypes_must_fit(void) {
    THTensor *a = matrix_of(TH_FLOAT64, 2, 1, 2, 3, 4, 5, 6), *i = matrix_of(TH_INT64, 2, 1, 2, 3, 4);
    THTensor *f = matrix_of(TH_FLOAT32, 3, 1, 2, 3), *r = THTensor_new();
    CHECK_ERROR(THTensor_inverse(r, a), TH_ERR_SHAPE, "expected square matrices, got shape [2, 3]");
    CHECK_ERROR(THTensor_inverse(r, i), TH_ERR_DTYPE, "not defined for int64, only for float32 and float64");
    CHECK_ERROR(THTensor_gels(r, NULL, f, a), TH_ERR_DTYPE, "one dtype, got float64 and float32");
    CHECK_ERROR(THTensor_svd(r, r, NULL, a, 1), TH_ERR_ARGUMENT, "two results need a tensor each");
    CHECK_ERROR(THTensor_matrixNorm(r, a, (THMatrixNorm)8, 0), TH_ERR_ARGUMENT, "8 is no THMatrixNorm");
    CHECK_EQ(THTensor_dtype(r), TH_UNDEFINED);
    THTensor_free(r);
    THTensor_free(f);
    THTensor_free(i);
    THTensor_free(a);
}

/* Solutions of systems with elements that are not finite are NaN. Eigenvalues and singular values fail. */
static void what_is_not_finite_ends_too(void) {
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        for (int64_t n = 1; n <= 70; n += 23) {
            THTensor *a = THTensor_newOnes(TH_FLOAT32, SIZES(n, n)), *r = THTensor_new(), *v = THTensor_new();
            CHECK_OK(THTensor_set2d(a, n / 2, n / 2, bad[k]));
            CHECK_ERROR(THTensor_symeig(r, v, a, 0), TH_ERR_NUMERIC, "infinite or not a number");
            CHECK_ERROR(THTensor_eig(r, v, a), TH_ERR_NUMERIC, "infinite or not a number");
            CHECK_ERROR(THTensor_svd(r, NULL, NULL, a, 1), TH_ERR_NUMERIC, "infinite or not a number");
            CHECK_ERROR(THTensor_pinverse(r, a, 0), TH_ERR_NUMERIC, "infinite or not a number");
            /* Without iterations the result is NaN, or the matrix counts as singular or indefinite. */
            CHECK_OK(THTensor_qr(r, v, a, 1));
            CHECK(!isfinite(THTensor_sumall(v)));
            THStatus status = THTensor_solve(r, NULL, a, a);
            CHECK(status == TH_OK ? !isfinite(THTensor_sumall(r)) : status == TH_ERR_NUMERIC);
            status = THTensor_cholesky(r, a, 0);
            CHECK(status == TH_OK ? !isfinite(THTensor_sumall(r)) : status == TH_ERR_NUMERIC);
            THTensor_free(v);
            THTensor_free(r);
            THTensor_free(a);
        }
    }
}

CHECK_MAIN(CASE(a_system_is_solved), CASE(batches_are_solved_at_once), CASE(factors_are_made_once),
           CASE(cholesky_factors_solve_too), CASE(a_line_is_fitted), CASE(what_is_left_open_is_short),
           CASE(symmetric_matrices_have_real_eigenvalues), CASE(others_may_have_complex_ones),
           CASE(singular_values_say_how_far_a_matrix_stretches), CASE(determinants_and_inverses),
           CASE(determinants_beyond_the_range_of_doubles), CASE(determinants_of_great_and_small_elements),
           CASE(exponentials_of_great_corners), CASE(systems_of_great_and_small_elements),
           CASE(exponentials_of_matrices), CASE(a_failure_is_named_and_changes_nothing),
           CASE(shapes_and_dtypes_must_fit), CASE(what_is_not_finite_ends_too))
