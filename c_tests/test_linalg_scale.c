/* Matrices whose elements, or the squares of them, are near the ends of the range. Decompositions scale their matrices
 * first, so that every representable result is computed. */
#include "check.h"

#include <float.h>

/* Checks that the columns are orthonormal to some units in the last place. */
static void check_orthonormal(THTensor *q, const char *what) {
    int64_t n = THTensor_size(q, 1);
    double epsilon = THTensor_dtype(q) == TH_FLOAT64 ? DBL_EPSILON : FLT_EPSILON;
    THTensor *wide = THTensor_newTo(q, TH_FLOAT64), *turned = THTensor_newTranspose(wide, 0, 1);
    THTensor *product = THTensor_new(), *one = THTensor_new(), *most = THTensor_new();
    CHECK_OK(THTensor_mm(product, turned, wide));
    CHECK_OK(THTensor_eye(one, n, n));
    CHECK_OK(THTensor_csub(product, product, 1, one));
    CHECK_OK(THTensor_norm(most, product, INFINITY, TH_ALL_DIMS, 0));
    double off = THTensor_item(most) / epsilon;
    if (!(off <= 10 * (double)THTensor_size(q, 0))) {
        check_fail(__FILE__, __LINE__, what);
        printf("%g units of rounding ", off);
    }
    THTensor_free(most);
    THTensor_free(one);
    THTensor_free(product);
    THTensor_free(turned);
    THTensor_free(wide);
}

/* Checks that Q from each function is orthogonal, and that Q R is the matrix to `tolerance`. */
static void check_qr(const THTensor *a, double tolerance) {
    THTensor *q = THTensor_new(), *r = THTensor_new(), *packed = THTensor_new(), *tau = THTensor_new();
    for (int some = 0; some < 2; some++) {
        CHECK_OK(THTensor_qr(q, r, a, some));
        check_orthonormal(q, "qr");
        CHECK_OK(THTensor_mm(q, q, r));
        for (int64_t i = 0; i < THTensor_size(a, 0); i++) {
            for (int64_t j = 0; j < THTensor_size(a, 1); j++) {
                CHECK_NEAR(THTensor_get2d(q, i, j), THTensor_get2d(a, i, j), tolerance);
            }
        }
    }
    CHECK_OK(THTensor_geqrf(packed, tau, a));
    CHECK_OK(THTensor_orgqr(q, packed, tau));
    check_orthonormal(q, "orgqr");
    THTensor_free(tau);
    THTensor_free(packed);
    THTensor_free(r);
    THTensor_free(q);
}

/* After the first reflectors of equal rows, only rounding errors are left, and the errors of these. */
static void q_is_orthogonal_where_columns_become_subnormal(void) {
    for (int type = 0; type < 2; type++) {
        THTensor *rows = THTensor_newZeros(type ? TH_FLOAT64 : TH_FLOAT32, SIZES(20, 20));
        for (int64_t i = 0; i < 20; i++) {
            for (int64_t j = 0; j < 20; j++) CHECK_OK(THTensor_set2d(rows, i, j, sin(1 + 3 * (double)j)));
        }
        check_qr(rows, type ? 1e-14 : 1e-5);
        THTensor_free(rows);
    }
    THTensor *a = matrix_of(TH_FLOAT32, 3, 1e-44, 1e-36, 3e-44, 1e-36, -2e-44, 3e-37);
    check_qr(a, 1e-42);
    THTensor_free(a);
    a = matrix_of(TH_FLOAT64, 3, 1e-320, 1, 3e-320, 1, -2e-320, 2);
    check_qr(a, 1e-14);
    THTensor_free(a);
}

/* The norm of the first column overflows, but its direction is representable. */
static void q_is_orthogonal_where_norms_overflow(void) {
    THTensor *q = THTensor_new(), *r = THTensor_new();
    for (int type = 0; type < 2; type++) {
        double c = type ? DBL_MAX : FLT_MAX;
        THTensor *a = matrix_of(type ? TH_FLOAT64 : TH_FLOAT32, 3, c, c / 2, c, -c / 2, c / 4, c);
        CHECK_OK(THTensor_qr(q, r, a, 1));
        check_orthonormal(q, "qr");
        CHECK(isinf(THTensor_get2d(r, 0, 0)));
        THTensor_free(a);
    }
    THTensor_free(r);
    THTensor_free(q);
}

/* c [2 1; 1 3] for c near the ends of the range. */
static void systems_and_determinants_have_no_scale(void) {
    static const double scales[] = {1e-38, 1e-40, 8e37, 1e-308, 1e-310, 4e307};
    for (int k = 0; k < 6; k++) {
        THDtype dtype = k < 3 ? TH_FLOAT32 : TH_FLOAT64;
        THTensor *x = THTensor_newWithDtype(dtype), *sign = THTensor_new(), *lu = THTensor_new();
        double c = scales[k], tolerance = k == 1 || k == 4 ? 1e-4 : k < 3 ? 1e-6 : 1e-14;
        THTensor *a = matrix_of(dtype, 2, 2 * c, c, c, 3 * c);
        /* Two right-hand sides: one of the matrix's magnitude, and one that would underflow if multiplied by the factor
         * of the matrix. */
        THTensor *b = matrix_of(dtype, 2, 3 * c, 5e-3, 4 * c, 1e-2);
        CHECK_OK(THTensor_gesv(x, lu, b, a));
        CHECK_NEAR(THTensor_get2d(x, 0, 0), 1, tolerance);
        CHECK_NEAR(THTensor_get2d(x, 1, 0), 1, tolerance);
        CHECK_NEAR(THTensor_get2d(lu, 1, 1) / c, 2.5, tolerance);
        CHECK_NEAR(THTensor_get2d(x, 0, 1) * c, 1e-3, tolerance);
        CHECK_NEAR(THTensor_get2d(x, 1, 1) * c, 3e-3, tolerance);
        CHECK_OK(THTensor_narrow(b, b, 1, 0, 1));
        CHECK_OK(THTensor_lstsq(x, NULL, NULL, b, a, -1));
        CHECK_CLOSE(x, tolerance, 1, 1);
        CHECK_OK(THTensor_gels(x, NULL, b, a));
        CHECK_CLOSE(x, tolerance, 1, 1);
        CHECK_OK(THTensor_slogdet(sign, x, a));
        CHECK_NEAR(THTensor_item(x), log(5) + 2 * log(c), tolerance * 100);
        CHECK_VALUES(sign, 1);
        CHECK_OK(THTensor_logdet(x, a));
        CHECK_NEAR(THTensor_item(x), log(5) + 2 * log(c), tolerance * 100);
        if (k != 1 && k != 4) {
            CHECK_OK(THTensor_pinverse(x, a, -1));
            CHECK_NEAR(THTensor_get2d(x, 0, 0) * c, .6, tolerance);
            CHECK_NEAR(THTensor_get2d(x, 0, 1) * c, -.2, tolerance);
            CHECK_OK(THTensor_inverse(x, a));
            CHECK_NEAR(THTensor_get2d(x, 1, 1) * c, .4, tolerance);
        }
        THTensor_free(b);
        THTensor_free(a);
        THTensor_free(lu);
        THTensor_free(sign);
        THTensor_free(x);
    }
}

/* Small elements are not lost next to large ones: in a diagonal matrix each element has its own solution. */
static void small_elements_beside_great_ones_count(void) {
    for (int type = 0; type < 2; type++) {
        THDtype dtype = type ? TH_FLOAT64 : TH_FLOAT32;
        double great = type ? 1e300 : 1e35, small = type ? 1e-200 : 1e-30;
        THTensor *a = matrix_of(dtype, 2, great, 0, 0, small), *b = vector_of(dtype, great, small);
        THTensor *x = THTensor_new(), *r = THTensor_new();
        CHECK_OK(THTensor_gesv(x, NULL, b, a));
        CHECK_VALUES(x, 1, 1);
        CHECK_OK(THTensor_gels(x, NULL, b, a));
        CHECK_CLOSE(x, type ? 1e-15 : 1e-6, 1, 1);
        CHECK_OK(THTensor_inverse(r, a));
        CHECK_NEAR(THTensor_get2d(r, 0, 0) * great, 1, type ? 1e-15 : 1e-6);
        CHECK_NEAR(THTensor_get2d(r, 1, 1) * small, 1, type ? 1e-15 : 1e-6);
        CHECK_OK(THTensor_qr(NULL, r, a, 1));
        CHECK_NEAR(fabs(THTensor_get2d(r, 1, 1)) / small, 1, type ? 1e-15 : 1e-6);
        THTensor_free(r);
        THTensor_free(x);
        THTensor_free(b);
        THTensor_free(a);
    }
}

/* The product of the norms is representable, though one of them is not. */
static void condition_numbers_have_no_scale(void) {
    static const THMatrixNorm norms[] = {TH_NORM_FRO, TH_NORM_NUC, TH_NORM_1,   TH_NORM_MINUS_1,
                                         TH_NORM_2,   TH_NORM_INF, TH_NORM_MINUS_2, TH_NORM_MINUS_INF};
    static const double scales[] = {1e-310, 1e308, 1e-45, 3e38};
    THTensor *r = THTensor_new(), *one = THTensor_new(), *expected = THTensor_new();
    CHECK_OK(THTensor_eye(one, 2, 2));
    for (int k = 0; k < 4; k++) {
        THTensor *a = THTensor_newTo(one, k < 2 ? TH_FLOAT64 : TH_FLOAT32);
        CHECK_OK(THTensor_mul(a, a, scales[k]));
        for (int i = 0; i < 8; i++) {
            CHECK_OK(THTensor_cond(expected, one, norms[i]));
            CHECK_OK(THTensor_cond(r, a, norms[i]));
            CHECK_NEAR(THTensor_item(r), THTensor_item(expected), 1e-6);
        }
        THTensor_free(a);
    }
    THTensor_free(expected);
    THTensor_free(one);
    THTensor_free(r);
}

/* The greatest singular value or eigenvalue of a matrix is twice its greatest element, and overflows. */
static void ratios_of_values_that_overflow(void) {
    THTensor *r = THTensor_new();
    for (int type = 0; type < 2; type++) {
        double c = type ? 1.79e308 : 3.4e38;
        THTensor *a = matrix_of(type ? TH_FLOAT64 : TH_FLOAT32, 2, c, c, c, c / 2);
        /* The condition number of [2 2; 2 1] is (3 + sqrt(17))^2 / 8. */
        double condition = (3 + sqrt(17)) * (3 + sqrt(17)) / 8;
        CHECK_OK(THTensor_cond(r, a, TH_NORM_2));
        CHECK_NEAR(THTensor_item(r), condition, 1e-5);
        CHECK_OK(THTensor_cond(r, a, TH_NORM_MINUS_2));
        CHECK_NEAR(THTensor_item(r), 1 / condition, 1e-7);
        for (int symmetric = 0; symmetric < 2; symmetric++) {
            CHECK_OK(THTensor_matrixRank(r, a, -1, symmetric));
            CHECK_EQ(THTensor_item(r), 2);
            CHECK_OK(THTensor_matrixRank(r, a, 1, symmetric));
            CHECK_EQ(THTensor_item(r), 2);
        }
        THTensor_free(a);
        /* The upper triangle of a symmetric matrix is not read. */
        a = matrix_of(type ? TH_FLOAT64 : TH_FLOAT32, 2, 1 / c, c, 0, 3 / c);
        CHECK_OK(THTensor_matrixRank(r, a, -1, 1));
        CHECK_EQ(THTensor_item(r), 2);
        THTensor_free(a);
    }
    THTensor_free(r);
}

/* A subnormal pivot, whose inverse overflows, and the greatest finite pivot. */
static void pivots_near_the_ends_of_the_range(void) {
    static const double pivots[] = {1e-40, 1e-44, 1e-30, 3e38, 1e-320, 1e-308, 1e-200, 1.7e308};
    for (int k = 0; k < 8; k++) {
        THTensor *l = THTensor_newWithDtype(k < 4 ? TH_FLOAT32 : TH_FLOAT64), *order = THTensor_new(), *rank = THTensor_new();
        for (int64_t n = 1; n <= 20; n += n < 4 ? 1 : 8) {
            for (int64_t place = 0; place < n; place++) {
                for (int upper = 0; upper < 2; upper++) {
                    THTensor *a = THTensor_newZeros(k < 4 ? TH_FLOAT32 : TH_FLOAT64, SIZES(n, n));
                    CHECK_OK(THTensor_set2d(a, place, place, pivots[k]));
                    CHECK_OK(THTensor_pstrf(l, order, rank, a, upper, -1));
                    CHECK_EQ(THTensor_item(rank), 1);
                    CHECK_EQ(THTensor_get1d(order, 0), (double)place + 1);
                    double root = THTensor_get2d(l, 0, 0), given = THTensor_get2d(a, place, place);
                    CHECK_NEAR(root / sqrt(given), 1, 1e-6);
                    THTensor_free(a);
                }
            }
        }
        double c = pivots[k] / 4;
        THTensor *a = matrix_of(k < 4 ? TH_FLOAT32 : TH_FLOAT64, 2, 2 * c, c, c, 3 * c);
        CHECK_OK(THTensor_pstrf(l, order, rank, a, 0, -1));
        CHECK_EQ(THTensor_item(rank), 2);
        CHECK_EQ(THTensor_get1d(order, 0), 2);
        CHECK_NEAR(THTensor_get2d(l, 1, 1) / sqrt(c), sqrt(5. / 3), k == 1 ? 0.1 : k == 4 ? 1e-3 : 1e-4);
        THTensor_free(a);
        THTensor_free(rank);
        THTensor_free(order);
        THTensor_free(l);
    }
}

static void a_zero_matrix_has_rank_0(void) {
    THTensor *l = THTensor_new(), *pivots = THTensor_new(), *rank = THTensor_new();
    for (int64_t n = 1; n < 40; n += n) {
        THTensor *a = THTensor_newZeros(TH_FLOAT64, SIZES(n, n));
        for (int upper = 0; upper < 2; upper++) {
            CHECK_OK(THTensor_pstrf(l, pivots, rank, a, upper, -1));
            CHECK_EQ(THTensor_item(rank), 0);
            CHECK_EQ(THTensor_equal(l, a), 1);
            for (int64_t i = 0; i < n; i++) CHECK_EQ(THTensor_get1d(pivots, i), i + 1);
        }
        THTensor_free(a);
    }
    THTensor_free(rank);
    THTensor_free(pivots);
    THTensor_free(l);
}

/* Eigenvectors have the norm 1, however small the matrix is. Complex pairs stay pairs even if their imaginary parts
 * underflow. */
static void eigenvectors_of_subnormal_matrices(void) {
    for (int64_t n = 2; n < 80; n *= 2) {
        for (int type = 0; type < 2; type++) {
            THTensor *e = THTensor_new(), *v = THTensor_new();
            double least = type ? 5e-324 : 1.4e-45;
            THTensor *a = THTensor_newZeros(type ? TH_FLOAT64 : TH_FLOAT32, SIZES(n, n));
            for (int64_t i = 0; i < n * n; i++) {
                CHECK_OK(THTensor_set2d(a, i / n, i % n, least * (double)((i * i * 7 + i * 3) % 11 - 5)));
            }
            CHECK_OK(THTensor_eig(e, v, a));
            for (int64_t j = 0; j < n; j++) {
                int pair = THTensor_get2d(e, j, 1) != 0;
                double sum = 0;
                for (int64_t i = 0; i < n; i++) {
                    double x = THTensor_get2d(v, i, j), y = pair ? THTensor_get2d(v, i, j + 1) : 0;
                    sum += x * x + y * y;
                }
                CHECK_NEAR(sqrt(sum), 1, type ? 1e-14 : 1e-6);
                j += pair;
            }
            THTensor_free(a);
            THTensor_free(v);
            THTensor_free(e);
        }
    }
}

CHECK_MAIN(CASE(q_is_orthogonal_where_columns_become_subnormal), CASE(q_is_orthogonal_where_norms_overflow),
           CASE(systems_and_determinants_have_no_scale), CASE(small_elements_beside_great_ones_count),
           CASE(condition_numbers_have_no_scale), CASE(ratios_of_values_that_overflow),
           CASE(pivots_near_the_ends_of_the_range),
           CASE(a_zero_matrix_has_rank_0), CASE(eigenvectors_of_subnormal_matrices))
