/* Singular values that are known by construction, in clusters or spread over many orders of magnitude, for matrices of all shapes. A stable
 * decomposition has errors of a few epsilon times the greatest singular value. The errors grow no faster than the square root of the order,
 * because rounding errors add up at random. */
#include "check.h"

#include <float.h>

/* Returns numbers from -1 to 1, the same in every run. */
static uint64_t random_state = 1;
static double draw(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 33) / (double)(UINT64_C(1) << 30) - 1;
}

static double epsilon(THDtype dtype) { return dtype == TH_FLOAT64 ? DBL_EPSILON : FLT_EPSILON; }

static double frobenius(const THTensor *t) {
    THTensor *r = THTensor_new();
    CHECK_OK(THTensor_matrixNorm(r, t, TH_NORM_FRO, 0));
    double norm = THTensor_item(r);
    THTensor_free(r);
    return norm;
}

/* Returns m x k in float64 with orthonormal columns. */
static THTensor *orthonormal(int64_t m, int64_t k) {
    THTensor *t = THTensor_newZeros(TH_FLOAT64, SIZES(m, k)), *q = THTensor_new(), *r = THTensor_new();
    for (int64_t i = 0; i < m * k; i++) CHECK_OK(THTensor_set2d(t, i / k, i % k, draw()));
    CHECK_OK(THTensor_qr(q, r, t, 1));
    THTensor_free(r);
    THTensor_free(t);
    return q;
}

/* Returns the m x n matrix with the singular values `s`, which are in float64. */
static THTensor *with_values(THDtype dtype, int64_t m, int64_t n, const THTensor *s) {
    int64_t k = m < n ? m : n;
    THTensor *u = orthonormal(m, k), *v = orthonormal(n, k), *product = THTensor_new();
    CHECK_OK(THTensor_cmul(u, u, s));
    CHECK_OK(THTensor_t(v, v));
    CHECK_OK(THTensor_mm(product, u, v));
    THTensor *t = THTensor_newTo(product, dtype);
    THTensor_free(product);
    THTensor_free(v);
    THTensor_free(u);
    return t;
}

static void report(const char *what, const char *of, const THTensor *t, double off, double bound) {
    check_fail(__FILE__, __LINE__, what);
    printf("of %s, %lld x %lld in %s: %g where %g is allowed ", of, (long long)THTensor_size(t, 0),
           (long long)THTensor_size(t, 1), THDtype_name(THTensor_dtype(t)), off, bound);
}

/* Checks that values descend and are not negative, and that they equal `expected` to (8 + 2 sqrt(k)) epsilon times the greatest value. */
static void check_singular_values(const THTensor *s, const THTensor *expected, const char *of, const THTensor *t) {
    int64_t k = THTensor_size(s, 0);
    double most = THTensor_get1d(expected, 0), worst = 0;
    for (int64_t i = 0; i < k; i++) {
        double value = THTensor_get1d(s, i), next = i + 1 < k ? THTensor_get1d(s, i + 1) : 0;
        if (!(value >= next) || isinf(value)) report("values that do not descend ", of, t, next, value);
        double off = fabs(value - THTensor_get1d(expected, i));
        if (!(off <= worst)) worst = off;
    }
    double bound = 8 + 2 * sqrt((double)k), off = worst / (most > 0 ? most : 1) / epsilon(THTensor_dtype(t));
    if (!(off <= bound)) report("values ", of, t, off, bound);
}

/* Checks that the columns of `q` are orthonormal to 4 sqrt(order) epsilon each. */
static void check_columns(const THTensor *q, const char *of, const THTensor *t) {
    int64_t columns = THTensor_size(q, 1);
    THTensor *turned = THTensor_newTranspose(q, 0, 1), *product = THTensor_new(), *eye = THTensor_new();
    CHECK_OK(THTensor_eye(eye, columns, columns));
    THTensor *one = THTensor_newTo(eye, TH_FLOAT64);
    CHECK_OK(THTensor_mm(product, turned, q));
    CHECK_OK(THTensor_csub(product, product, 1, one));
    double off = frobenius(product) / epsilon(THTensor_dtype(t));
    double bound = 4 * sqrt((double)THTensor_size(q, 0)) * sqrt((double)columns);
    if (!(off <= bound)) report("vectors ", of, t, off, bound);
    THTensor_free(one);
    THTensor_free(eye);
    THTensor_free(product);
    THTensor_free(turned);
}

/* Checks the decomposition of `t`, whose singular values are `expected` unless that is NULL, and that values with and without vectors are
 * the same. */
static void check_svd(THTensor *t, const THTensor *expected, int some, const char *of) {
    int64_t m = THTensor_size(t, 0), n = THTensor_size(t, 1), k = m < n ? m : n;
    THTensor *u = THTensor_new(), *s = THTensor_new(), *v = THTensor_new(), *alone = THTensor_new();
    CHECK_OK(THTensor_svd(u, s, v, t, some));
    CHECK_OK(THTensor_svd(NULL, alone, NULL, t, some));
    check_singular_values(s, expected ? expected : alone, of, t);
    check_singular_values(alone, expected ? expected : s, of, t);

    THTensor *wide = THTensor_newTo(t, TH_FLOAT64), *left = THTensor_newTo(u, TH_FLOAT64), *values = THTensor_newTo(s, TH_FLOAT64);
    THTensor *right = THTensor_newTo(v, TH_FLOAT64), *product = THTensor_new();
    check_columns(left, of, t);
    check_columns(right, of, t);
    CHECK_OK(THTensor_narrow(left, left, 1, 0, k));
    CHECK_OK(THTensor_narrow(right, right, 1, 0, k));
    CHECK_OK(THTensor_cmul(left, left, values));
    CHECK_OK(THTensor_t(right, right));
    CHECK_OK(THTensor_mm(product, left, right));
    CHECK_OK(THTensor_csub(product, product, 1, wide));
    double size = frobenius(wide), off = frobenius(product) / epsilon(THTensor_dtype(t)) / (size > 0 ? size : 1);
    double bound = 4 * sqrt((double)(m > n ? m : n));
    if (!(off <= bound)) report("product ", of, t, off, bound);
    THTensor_free(product);
    THTensor_free(right);
    THTensor_free(values);
    THTensor_free(left);
    THTensor_free(wide);
    THTensor_free(alone);
    THTensor_free(v);
    THTensor_free(s);
    THTensor_free(u);
}

enum spectrum { CLUSTERED, SPREAD, DEFICIENT, ONE_GREAT, EQUAL, SPECTRA };
static const char *const spectra[SPECTRA] = {"clustered values", "spread values", "values of which a third are 0",
                                             "one great value", "equal values"};

/* Returns k values from 10^power down to 1 or 0. */
static THTensor *values_like(enum spectrum spectrum, int64_t k, double power) {
    THTensor *s = THTensor_newZeros(TH_FLOAT64, SIZES(k));
    for (int64_t i = 0; i < k; i++) {
        double at = k > 1 ? (double)i / (double)(k - 1) : 0;
        double exponent = spectrum == CLUSTERED ? (3 * i < k ? power : 2 * i < k ? power / 2 : 0) : power * (1 - at);
        double value = pow(10, exponent);
        if (spectrum == DEFICIENT && 3 * i >= 2 * k) value = 0;
        if (spectrum == ONE_GREAT && i > 0) value = 1;
        if (spectrum == EQUAL) value = 1;
        CHECK_OK(THTensor_set1d(s, i, value));
    }
    return s;
}

static void check_shape(int64_t m, int64_t n) {
    for (int type = 0; type < 2; type++) {
        THDtype dtype = type ? TH_FLOAT64 : TH_FLOAT32;
        for (int spectrum = 0; spectrum < SPECTRA; spectrum++) {
            for (int some = 0; some < 2; some++) {
                THTensor *s = values_like((enum spectrum)spectrum, m < n ? m : n, (type ? 8 : 4) + 4 * some);
                THTensor *t = with_values(dtype, m, n, s);
                check_svd(t, s, some, spectra[spectrum]);
                THTensor_free(t);
                THTensor_free(s);
            }
        }
    }
}

/* From a ratio of 11 to 6 on, R or its transpose is decomposed. */
static void tall_and_wide(void) {
    static const int64_t shapes[][2] = {{12, 1}, {40, 3},  {29, 16},  {30, 16}, {109, 60}, {110, 60},  {111, 60},
                                        {100, 30}, {500, 140}, {1000, 60}, {600, 280}, {1500, 20}};
    for (int k = 0; k < (under_valgrind() ? 4 : 12); k++) {
        check_shape(shapes[k][0], shapes[k][1]);
        check_shape(shapes[k][1], shapes[k][0]);
    }
}

/* Orders around those from which a matrix is divided, and nearly square matrices. */
static void nearly_square(void) {
    static const int64_t shapes[][2] = {{1, 1},   {2, 2},     {3, 3},     {15, 15},   {16, 16},   {17, 17},   {31, 33},
                                        {33, 31}, {127, 127}, {128, 128}, {129, 129}, {150, 190}, {257, 257}, {300, 260}};
    for (int k = 0; k < (under_valgrind() ? 8 : 14); k++) check_shape(shapes[k][0], shapes[k][1]);
}

/* Clusters of values whose ratio exceeds the precision. */
static void clusters_beyond_the_precision(void) {
    static const int64_t shapes[][2] = {{40, 40}, {260, 300}, {300, 300}, {257, 257}};
    for (int k = 0; k < (under_valgrind() ? 1 : 4); k++) {
        for (int type = 0; type < 2; type++) {
            for (int round = 0; round < (type ? 1 : 4); round++) {
                int64_t m = shapes[k][0], n = shapes[k][1];
                THTensor *s = values_like(CLUSTERED, m < n ? m : n, type ? 24 : 12);
                THTensor *t = with_values(type ? TH_FLOAT64 : TH_FLOAT32, m, n, s);
                check_svd(t, s, 1, "clusters beyond the precision");
                THTensor_free(t);
                THTensor_free(s);
            }
        }
    }
}

/* Every second column is 0, for several magnitudes. */
static void columns_of_zeros(void) {
    static const double units[] = {1, 1e-8, 1e8, 1e-30, 1e30};
    static const int64_t orders[] = {20, 64, 150, 257};
    for (int k = 0; k < (under_valgrind() ? 1 : 4) * 5; k++) {
        for (int type = 0; type < 2; type++) {
            int64_t n = orders[k / 5];
            THTensor *t = THTensor_newZeros(type ? TH_FLOAT64 : TH_FLOAT32, SIZES(n, n));
            for (int64_t i = 0; i < n * n; i++) {
                if (i % n % 2) CHECK_OK(THTensor_set2d(t, i / n, i % n, draw() * units[k % 5]));
            }
            check_svd(t, NULL, 1, "columns of zeros");
            CHECK_OK(THTensor_t(t, t));
            check_svd(t, NULL, 0, "rows of zeros");
            THTensor_free(t);
        }
    }
}

/* Wilkinson's matrices of order 21 along the diagonal, in which each value belongs to a pair that agrees to many digits. From the first to
 * the last matrix the elements grow by `grade`. */
static THTensor *wilkinson(THDtype dtype, int64_t n, double grade) {
    THTensor *t = THTensor_newZeros(dtype, SIZES(n, n));
    for (int64_t i = 0; i < n - n % 21; i++) {
        double unit = pow(grade, (double)(i - i % 21) / (double)n);
        CHECK_OK(THTensor_set2d(t, i, i, unit * fabs((double)(i % 21) - 10)));
        if (i + 1 == n) break;
        double beside = i % 21 == 20 ? 1e-10 : unit;
        CHECK_OK(THTensor_set2d(t, i, i + 1, beside));
        CHECK_OK(THTensor_set2d(t, i + 1, i, beside));
    }
    return t;
}

static void blocks_of_wilkinson(void) {
    static const int64_t orders[] = {65, 257, 300, 350, 400, 500};
    static const double grades[] = {1, 1e9, 1e12, 1e20};
    for (int k = 0; k < (under_valgrind() ? 1 : 6) * 4; k++) {
        for (int type = 0; type < 2; type++) {
            THTensor *t = wilkinson(type ? TH_FLOAT64 : TH_FLOAT32, orders[k / 4], grades[k % 4]);
            check_svd(t, NULL, 1, "Wilkinson's blocks");
            THTensor_free(t);
        }
    }
}

/* Rows that are subnormal in relation to the first element, so that their norms have no finite inverse. */
static void subnormal_rows(void) {
    for (int type = 0; type < 2; type++) {
        for (int64_t n = 3; n <= 48; n *= 2) {
            THTensor *t = THTensor_newZeros(type ? TH_FLOAT64 : TH_FLOAT32, SIZES(n, n));
            for (int64_t i = 0; i < n * n; i++) CHECK_OK(THTensor_set2d(t, i / n, i % n, draw() * (type ? 1e-310 : 1e-40)));
            CHECK_OK(THTensor_set2d(t, 0, 0, 1));
            for (int64_t i = 1; i < n; i++) CHECK_OK(THTensor_set2d(t, 0, i, 0));
            check_svd(t, NULL, 1, "subnormal rows");
            THTensor_free(t);
        }
    }
}

/* The pseudoinverse and least squares of a tall matrix use its small singular values. */
static void tall_systems_are_solved(void) {
    int64_t m = under_valgrind() ? 60 : 500, n = under_valgrind() ? 20 : 140;
    for (int type = 0; type < 2; type++) {
        THDtype dtype = type ? TH_FLOAT64 : TH_FLOAT32;
        THTensor *s = values_like(CLUSTERED, n, 4), *a = with_values(dtype, m, n, s);
        THTensor *b = THTensor_new(), *x = THTensor_newOnes(dtype, SIZES(n, 1)), *r = THTensor_new(), *rank = THTensor_new();
        CHECK_OK(THTensor_mm(b, a, x));
        /* The error is the condition number, 1e4, times epsilon, the root of the order, and a small factor. */
        double tolerance = 4 * 1e4 * sqrt((double)m) * epsilon(dtype);
        CHECK_OK(THTensor_lstsq(r, rank, NULL, b, a, -1));
        CHECK_EQ(THTensor_item(rank), (double)n);
        CHECK_OK(THTensor_csub(r, r, 1, x));
        CHECK(frobenius(r) <= tolerance * sqrt((double)n));
        CHECK_OK(THTensor_pinverse(r, a, -1));
        CHECK_OK(THTensor_mm(r, r, b));
        CHECK_OK(THTensor_csub(r, r, 1, x));
        CHECK(frobenius(r) <= tolerance * sqrt((double)n));
        CHECK_OK(THTensor_matrixRank(rank, a, -1, 0));
        CHECK_EQ(THTensor_item(rank), (double)n);
        CHECK_OK(THTensor_cond(r, a, TH_NORM_2));
        CHECK_NEAR(THTensor_item(r) / 1e4, 1, 1e4 * 20 * epsilon(dtype));
        THTensor_free(rank);
        THTensor_free(r);
        THTensor_free(x);
        THTensor_free(b);
        THTensor_free(a);
        THTensor_free(s);
    }
}

CHECK_MAIN(CASE(tall_and_wide), CASE(nearly_square), CASE(clusters_beyond_the_precision), CASE(columns_of_zeros),
           CASE(blocks_of_wilkinson), CASE(subnormal_rows), CASE(tall_systems_are_solved))
