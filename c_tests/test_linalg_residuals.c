/* Residuals of decompositions, in the units of LAPACK's tests: the difference divided by epsilon, the order and the
 * norm of the matrix. LAPACK accepts up to 30 units. The products of this test are computed in float64 and add a little
 * error. */
#include "check.h"

#include <float.h>

enum { UNITS = 30 };

/* The kinds of matrices. */
enum kind {
    RANDOM,
    ILL_CONDITIONED,
    RANK_DEFICIENT,
    GRADED,
    HUGE_ELEMENTS,
    TINY_ELEMENTS,
    ZERO,
    KINDS,
    /* For orders that are decomposed in other ways: columns that grow, elements that differ by a factor, products of
     * growing columns with themselves, other units, and symmetric matrices with repeated eigenvalues. */
    COLUMNS_BY_1E6 = KINDS,
    COLUMNS_BY_1E12,
    SCATTERED_BY_1E6,
    SCATTERED_BY_1E12,
    GRAM,
    SMALL_UNITS,
    LARGE_UNITS,
    REPEATED,
    PROJECTION,
    ALL_KINDS
};
static const char *const kinds[ALL_KINDS] = {"random", "ill-conditioned", "rank-deficient", "graded", "huge", "tiny",
                                             "zero", "by columns graded by 1e6", "by columns graded by 1e12",
                                             "scattered by 1e6", "scattered by 1e12", "Gram's", "times 1e-8",
                                             "times 1e8", "repeated eigenvalues'", "projection"};

/* Numbers from -1 to 1, the same in every run. */
static uint64_t random_state = 1;
static double draw(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 33) / (double)(UINT64_C(1) << 30) - 1;
}

/* Returns a matrix, or `count` matrices if that is not 0, in the given layout. */
static THTensor *matrices(THDtype dtype, int64_t count, int64_t m, int64_t n, enum kind kind, enum layout layout) {
    int64_t all = (count ? count : 1) * m;
    THTensor *t = zeros_laid_out(dtype, all, n, layout);
    double small = dtype == TH_FLOAT64 ? 1e-12 : 1e-5, huge = dtype == TH_FLOAT64 ? 1e200 : 1e30;
    for (int64_t i = 0; i < all; i++) {
        int64_t row = m ? i % m : 0;
        double factor = kind == ILL_CONDITIONED && row == m - 1 ? small
                        : kind == GRADED                        ? pow(small, (double)row / (double)m)
                        : kind == HUGE_ELEMENTS                 ? huge
                        : kind == TINY_ELEMENTS                 ? 1 / huge
                        : kind == ZERO                          ? 0
                                                                : 1;
        for (int64_t j = 0; j < n; j++) {
            double power = kind == SMALL_UNITS                                      ? -8
                           : kind == LARGE_UNITS                                    ? 8
                           : kind == COLUMNS_BY_1E6 || kind == GRAM      ? 6 * (double)j / (double)n
                           : kind == COLUMNS_BY_1E12                                ? 12 * (double)j / (double)n
                           : kind == SCATTERED_BY_1E6                               ? 3 * draw()
                           : kind == SCATTERED_BY_1E12                              ? 6 * draw()
                                                                                               : 0;
            /* Every row is the sum of the first row and a multiple of the second row. */
            double x = kind != RANK_DEFICIENT || row < 2
                           ? draw()
                           : THTensor_get2d(t, i - row, j) + (double)row * THTensor_get2d(t, i - row + 1, j);
            CHECK_OK(THTensor_set2d(t, i, j, x * factor * pow(10, power)));
        }
    }
    if (count) {
        THTensor *batch = THTensor_newReshape(t, SIZES(count, m, n));
        THTensor_free(t);
        return batch;
    }
    return t;
}

/* Returns the tensor as float64 divided by `scale`, so that the checks neither overflow nor underflow. Frees the
 * tensor. */
static THTensor *exact(THTensor *t, double scale) {
    THTensor *wide = THTensor_newTo(t, TH_FLOAT64);
    THTensor_free(t);
    CHECK_OK(THTensor_div(wide, wide, scale));
    return wide;
}

static double greatest(const THTensor *t) {
    double most = 0;
    THTensor *r = THTensor_new();
    if (THTensor_nElement(t)) {
        CHECK_OK(THTensor_norm(r, t, INFINITY, TH_ALL_DIMS, 0));
        most = THTensor_item(r);
    }
    THTensor_free(r);
    return most;
}

static double epsilon(THDtype dtype) { return dtype == TH_FLOAT64 ? DBL_EPSILON : FLT_EPSILON; }

/* Checks `|a b - c| <= UNITS * epsilon * n * |c|` in the Frobenius norm. */
static void check_product(const THTensor *a, const THTensor *b, const THTensor *c, THDtype dtype, int64_t n,
                          const char *what, enum kind kind) {
    THTensor *r = THTensor_new(), *norm = THTensor_new();
    CHECK_OK(THTensor_mm(r, a, b));
    CHECK_OK(THTensor_csub(r, r, 1, c));
    CHECK_OK(THTensor_matrixNorm(norm, r, TH_NORM_FRO, 0));
    double off = THTensor_item(norm);
    CHECK_OK(THTensor_matrixNorm(norm, c, TH_NORM_FRO, 0));
    double unit = epsilon(dtype) * (double)(n > 1 ? n : 1) * THTensor_item(norm);
    if (!(off <= UNITS * unit)) {
        printf("\n  %s of a %s matrix of order %d, %s: %g units ", what, kinds[kind], (int)n, THDtype_name(dtype),
               off / unit);
        CHECK(0);
    }
    THTensor_free(norm);
    THTensor_free(r);
}

/* Checks that columns are orthonormal. */
static void check_orthonormal(const THTensor *q, THDtype dtype, const char *what, enum kind kind) {
    THTensor *t = THTensor_newTranspose(q, 0, 1), *one = THTensor_new();
    CHECK_OK(THTensor_eye(one, THTensor_size(q, 1), THTensor_size(q, 1)));

    THTensor *wide = exact(one, 1);
    check_product(t, q, wide, dtype, THTensor_size(q, 0), what, kind);
    THTensor_free(wide);
    THTensor_free(t);
}

/* Checks all decompositions of the matrix `t`. */
static void decompose(const THTensor *t, THDtype dtype, enum kind kind) {
    int64_t m = THTensor_size(t, 0), n = THTensor_size(t, 1), order = m > n ? m : n;
    double scale = greatest(t) > 0 ? greatest(t) : 1;
    THTensor *wide = exact(THTensor_newClone(t), scale);
    for (int some = 0; some < 2; some++) {
        THTensor *q = THTensor_new(), *r = THTensor_new();
        CHECK_OK(THTensor_qr(q, r, t, some));
        q = exact(q, 1), r = exact(r, scale);
        check_product(q, r, wide, dtype, order, "QR", kind);
        check_orthonormal(q, dtype, "Q of the QR", kind);
        THTensor_free(r);
        THTensor_free(q);

        THTensor *u = THTensor_new(), *s = THTensor_new(), *v = THTensor_new();
        CHECK_OK(THTensor_gesvd(u, s, v, t, some));
        u = exact(u, 1), s = exact(s, scale), v = exact(v, 1);
        check_orthonormal(u, dtype, "U of the SVD", kind);
        check_orthonormal(v, dtype, "V of the SVD", kind);
        CHECK_OK(THTensor_narrow(u, u, 1, 0, m < n ? m : n));
        CHECK_OK(THTensor_narrow(v, v, 1, 0, m < n ? m : n));
        CHECK_OK(THTensor_cmul(u, u, s));
        CHECK_OK(THTensor_t(v, v));
        check_product(u, v, wide, dtype, order, "SVD", kind);
        THTensor_free(v);
        THTensor_free(s);
        THTensor_free(u);
    }
    THTensor *p = THTensor_new(), *l = THTensor_new(), *u = THTensor_new(), *pl = THTensor_new();
    CHECK_OK(THTensor_lu(p, l, u, t));
    p = exact(p, 1), l = exact(l, 1), u = exact(u, scale);
    CHECK_OK(THTensor_mm(pl, p, l));
    check_product(pl, u, wide, dtype, order, "LU", kind);
    THTensor_free(pl);
    THTensor_free(u);
    THTensor_free(l);
    THTensor_free(p);
    THTensor_free(wide);
}

/* a v = v diag(e), and each column of v has the norm 1; pairs in two columns: [re im; -im re] on the diagonal. */
static void check_eigenvectors(const THTensor *t, THDtype dtype, enum kind kind) {
    int64_t n = THTensor_size(t, 0);
    double scale = greatest(t) > 0 ? greatest(t) : 1;
    THTensor *wide = exact(THTensor_newClone(t), scale);
    THTensor *e = THTensor_new(), *v = THTensor_new(), *d = THTensor_newZeros(TH_FLOAT64, SIZES(n, n));
    CHECK_OK(THTensor_geev(e, v, t));
    v = exact(v, 1), e = exact(e, scale);
    for (int64_t i = 0; i < n; i++) {
        double im = THTensor_get2d(e, i, 1);
        CHECK_OK(THTensor_set2d(d, i, i, THTensor_get2d(e, i, 0)));
        if (im > 0) CHECK_OK(THTensor_set2d(d, i, i + 1, im));
        if (im < 0) CHECK_OK(THTensor_set2d(d, i, i - 1, im));
    }
    for (int64_t i = 0; i < n; i++) {
        THTensor *norms = THTensor_newNarrow(v, 1, i, THTensor_get2d(e, i, 1) > 0 ? 2 : 1);
        double length = THTensor_normall(norms, 2);
        if (!(fabs(length - 1) <= UNITS * epsilon(dtype))) {
            printf("\n  eigenvector %d of a %s matrix of order %d, %s, has the norm %g ", (int)i, kinds[kind], (int)n,
                   THDtype_name(dtype), length);
            CHECK(0);
        }
        if (THTensor_get2d(e, i, 1) > 0) i++;
        THTensor_free(norms);
    }
    THTensor *vd = THTensor_new();
    CHECK_OK(THTensor_mm(vd, v, d));
    check_product(wide, v, vd, dtype, n, "eigenvectors of any matrix", kind);
    THTensor_free(vd);
    THTensor_free(d);
    THTensor_free(v);
    THTensor_free(e);
    THTensor_free(wide);
}

/* Checks the decompositions of square matrices: eigenvalues, and systems of equations. */
static void decompose_square(const THTensor *t, THDtype dtype, enum kind kind) {
    int64_t n = THTensor_size(t, 0);
    double scale = greatest(t) > 0 ? greatest(t) : 1;
    THTensor *symmetric = THTensor_newClone(t), *turned = THTensor_newTranspose(t, 0, 1);
    /* Halved before the addition, so that the greatest elements do not overflow. */
    CHECK_OK(THTensor_mul(symmetric, symmetric, 0.5));
    CHECK_OK(THTensor_cadd(symmetric, symmetric, 0.5, turned));
    THTensor *wide = exact(THTensor_newClone(symmetric), scale);
    for (int upper = 0; upper < 2; upper++) {
        THTensor *e = THTensor_new(), *v = THTensor_new(), *half = THTensor_new(), *scaled = THTensor_new();
        /* The other triangle is not read. */
        CHECK_OK((upper ? THTensor_triu : THTensor_tril)(half, symmetric, 0));
        CHECK_OK(THTensor_syev(e, v, half, upper));
        v = exact(v, 1), e = exact(e, scale);
        check_orthonormal(v, dtype, "eigenvectors", kind);
        /* The same values without vectors. */
        THTensor *alone = THTensor_new();
        CHECK_OK(THTensor_syev(alone, NULL, half, upper));
        alone = exact(alone, scale);
        CHECK_OK(THTensor_csub(alone, alone, 1, e));
        CHECK(greatest(alone) <= UNITS * epsilon(dtype) * (double)n * greatest(e));
        THTensor_free(alone);
        CHECK_OK(THTensor_cmul(scaled, v, e));
        CHECK_OK(THTensor_t(v, v));
        check_product(scaled, v, wide, dtype, n, "eigenvalues", kind);
        THTensor_free(scaled);
        THTensor_free(half);
        THTensor_free(v);
        THTensor_free(e);
    }
    THTensor_free(wide);
    THTensor_free(turned);
    THTensor_free(symmetric);
    if (kind == REPEATED || kind == PROJECTION) check_eigenvectors(t, dtype, kind);
    if (kind != RANDOM && kind != HUGE_ELEMENTS && kind != TINY_ELEMENTS) return;
    check_eigenvectors(t, dtype, kind);

    /* a x = b: the error is measured relative to |a| |x|. */
    THTensor *b = matrices(dtype, 0, n, 3, RANDOM, ROW_MAJOR), *x = THTensor_new(), *r = THTensor_new();
    CHECK_OK(THTensor_gesv(x, NULL, b, t));
    wide = exact(THTensor_newClone(t), scale);
    x = exact(x, 1 / scale), b = exact(b, 1);
    CHECK_OK(THTensor_mm(r, wide, x));
    CHECK_OK(THTensor_csub(r, r, 1, b));
    double off = greatest(r), unit = epsilon(dtype) * (double)n * (double)n * greatest(x);
    CHECK(off <= UNITS * unit);
    THTensor_free(r);
    THTensor_free(x);
    THTensor_free(b);
    THTensor_free(wide);
}

static void every_kind_of_matrix(void) {
    static const int64_t sizes[] = {1, 2, 3, 7, 8, 9, 17, 33, 64, 90};
    for (int type = 0; type < 2; type++) {
        THDtype dtype = type ? TH_FLOAT64 : TH_FLOAT32;
        for (int kind = 0; kind < KINDS; kind++) {
            for (int i = 0; i < (under_valgrind() ? 8 : 10); i++) {
                THTensor *t = matrices(dtype, 0, sizes[i], sizes[i], (enum kind)kind, (enum layout)(i % LAYOUTS));
                decompose(t, dtype, (enum kind)kind);
                decompose_square(t, dtype, (enum kind)kind);
                THTensor_free(t);
                t = matrices(dtype, 0, sizes[i], sizes[(i * 3 + 1) % 10], (enum kind)kind, (enum layout)(i % LAYOUTS));
                decompose(t, dtype, (enum kind)kind);
                THTensor_free(t);
            }
        }
    }
}

/* Q D Q' for the Q of the square matrix `t`, which is freed: D has 1, 2, -1 in turn, or 1 and 0 for a projection. */
static THTensor *with_repeated_eigenvalues(THTensor *t, enum kind kind) {
    static const double values[] = {1, 2, -1}, projection[] = {1, 0, 1};
    int64_t n = THTensor_size(t, 0);
    THTensor *q = THTensor_new(), *r = THTensor_new(), *d = THTensor_newZeros(TH_FLOAT64, SIZES(n)), *product = THTensor_new();
    for (int64_t i = 0; i < n; i++) CHECK_OK(THTensor_set1d(d, i, (kind == REPEATED ? values : projection)[i % 3]));
    THTensor *wide = exact(THTensor_newClone(t), 1);
    CHECK_OK(THTensor_qr(q, r, wide, 1));
    THTensor *turned = THTensor_newTranspose(q, 0, 1);
    CHECK_OK(THTensor_cmul(r, q, d));
    CHECK_OK(THTensor_mm(product, r, turned));
    THTensor *rounded = THTensor_newTo(product, THTensor_dtype(t));
    THTensor_free(turned);
    THTensor_free(wide);
    THTensor_free(product);
    THTensor_free(d);
    THTensor_free(r);
    THTensor_free(q);
    THTensor_free(t);
    return rounded;
}

/* Repeated eigenvalues and singular values, at the orders at which an algorithm changes and between them. */
static void repeated_eigenvalues_of_every_order(void) {
    static const int64_t orders[] = {2, 3, 4, 8, 9, 16, 17, 32, 33, 64, 65, 99, 100, 113, 128, 129, 255, 256, 257};
    for (int i = 0; i < 19 && orders[i] <= (under_valgrind() ? 33 : 257); i++) {
        for (int k = 0; k < 4; k++) {
            enum kind kind = k % 2 ? PROJECTION : REPEATED;
            THTensor *t = matrices(k / 2 ? TH_FLOAT64 : TH_FLOAT32, 0, orders[i], orders[i], RANDOM, ROW_MAJOR);
            t = with_repeated_eigenvalues(t, kind);
            decompose_square(t, THTensor_dtype(t), kind);
            decompose(t, THTensor_dtype(t), kind);
            CHECK_OK(THTensor_narrow(t, t, k % 2, 0, orders[i] / 2));
            decompose(t, THTensor_dtype(t), kind);
            THTensor_free(t);
        }
    }
}

/* Larger orders use other algorithms: halves are decomposed separately and joined. */
static void orders_that_are_decomposed_in_other_ways(void) {
    static const int64_t sizes[] = {65, 129, 257, 400};
    for (int type = 0; type < 2; type++) {
        THDtype dtype = type ? TH_FLOAT64 : TH_FLOAT32;
        for (int kind = 0; kind < REPEATED; kind += under_valgrind() ? 3 : 1) {
            for (int i = 0; i < (under_valgrind() ? 1 : 4); i++) {
                int64_t n = sizes[i], other = sizes[(i + kind) % 4] / 2;
                THTensor *t = matrices(dtype, 0, n, n, (enum kind)kind, ROW_MAJOR);
                if (kind == GRAM) {
                    THTensor *turned = THTensor_newTranspose(t, 0, 1), *product = THTensor_new();
                    CHECK_OK(THTensor_mm(product, turned, t));
                    THTensor_free(turned);
                    THTensor_free(t);
                    t = product;
                }
                decompose_square(t, dtype, (enum kind)kind);
                decompose(t, dtype, (enum kind)kind);
                CHECK_OK(THTensor_narrow(t, t, i % 2, 0, other < n ? other : n));
                decompose(t, dtype, (enum kind)kind);
                THTensor_free(t);
            }
        }
    }
}

/* Each matrix of a batch is decomposed as if it were alone, bit for bit, with any number of threads. */
static void batches_and_threads_change_nothing(void) {
    int threads = THGetNumThreads();
    for (int64_t n = 4; n <= 64; n *= 4) {
        THTensor *t = matrices(TH_FLOAT64, 40, n, n, RANDOM, ROW_MAJOR), *some = THTensor_new(), *all = THTensor_new();
        THTensor *s = THTensor_new(), *e = THTensor_new(), *one = THTensor_new(), *s_one = THTensor_new(),
                 *e_one = THTensor_new();
        for (int count = 1; count <= 3; count++) {
            CHECK_OK(THSetNumThreads(count));
            CHECK_OK(THTensor_inverse(all, t));
            CHECK_OK(THTensor_svd(NULL, s, NULL, t, 1));
            CHECK_OK(THTensor_eig(e, NULL, t));
            for (int64_t i = 0; i < 40; i += 13) {
                CHECK_OK(THTensor_select(some, t, 0, i));
                CHECK_OK(THTensor_inverse(one, some));
                CHECK_OK(THTensor_svd(NULL, s_one, NULL, some, 1));
                CHECK_OK(THTensor_eig(e_one, NULL, some));
                CHECK_OK(THTensor_select(some, all, 0, i));
                CHECK_EQ(THTensor_equal(one, some), 1);
                CHECK_OK(THTensor_select(some, s, 0, i));
                CHECK_EQ(THTensor_equal(s_one, some), 1);
                CHECK_OK(THTensor_select(some, e, 0, i));
                CHECK_EQ(THTensor_equal(e_one, some), 1);
            }
        }
        THTensor_free(e_one);
        THTensor_free(s_one);
        THTensor_free(one);
        THTensor_free(e);
        THTensor_free(s);
        THTensor_free(all);
        THTensor_free(some);
        THTensor_free(t);
    }
    CHECK_OK(THSetNumThreads(threads));
}

/* Least squares: the residual is orthogonal to the columns. For wide matrices it is 0. */
/* Checks that the residual of X from gels or lstsq is orthogonal to all columns. */
static void check_least_squares(const THTensor *a, const THTensor *b, THDtype dtype, enum kind kind, int by_qr) {
    int64_t m = THTensor_size(a, 0), n = THTensor_size(a, 1);
    THTensor *x = THTensor_new(), *r = THTensor_new(), *left = THTensor_new();
    CHECK_OK(by_qr ? THTensor_gels(x, NULL, b, a) : THTensor_lstsq(x, NULL, NULL, b, a, -1));
    /* Both sides are divided by this scale, so X is not scaled. */
    double scale = greatest(a);
    THTensor *wide = exact(THTensor_newClone(a), scale), *sides = exact(THTensor_newClone(b), scale);
    x = exact(x, 1);
    CHECK_OK(THTensor_mm(r, wide, x));
    CHECK_OK(THTensor_csub(r, r, 1, sides));
    CHECK_OK(THTensor_t(wide, wide));
    CHECK_OK(THTensor_mm(left, wide, r));
    double unit = epsilon(dtype) * (double)(m + n) * (double)m * (greatest(x) * (double)n + greatest(sides));
    double off = greatest(left);
    if (!(off <= UNITS * unit)) {
        check_fail(__FILE__, __LINE__, by_qr ? "gels" : "lstsq");
        printf("%lld x %lld, %s: %g units", (long long)m, (long long)n, kinds[kind], off / unit);
    }
    THTensor_free(sides);
    THTensor_free(wide);
    THTensor_free(left);
    THTensor_free(r);
    THTensor_free(x);
}

static void least_squares_leave_what_is_orthogonal(void) {
    static const int64_t shapes[][2] = {{5, 3}, {40, 7}, {90, 33}, {3, 5}, {7, 40}, {33, 90}, {1, 1}};
    static const enum kind scales[] = {RANDOM, HUGE_ELEMENTS, TINY_ELEMENTS};
    for (int k = 0; k < 7 * 3; k++) {
        for (int type = 0; type < 2; type++) {
            THDtype dtype = type ? TH_FLOAT64 : TH_FLOAT32;
            int64_t m = shapes[k % 7][0], n = shapes[k % 7][1];
            THTensor *a = matrices(dtype, 0, m, n, scales[k / 7], TRANSPOSED);
            THTensor *b = matrices(dtype, 0, m, 2, scales[k / 7], STEPPED);
            check_least_squares(a, b, dtype, scales[k / 7], 0);
            check_least_squares(a, b, dtype, scales[k / 7], 1);
            THTensor_free(b);
            THTensor_free(a);
        }
    }
}

CHECK_MAIN(CASE(every_kind_of_matrix), CASE(orders_that_are_decomposed_in_other_ways), CASE(repeated_eigenvalues_of_every_order),
           CASE(batches_and_threads_change_nothing), CASE(least_squares_leave_what_is_orthogonal))
