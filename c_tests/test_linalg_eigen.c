/* Eigenvectors of matrices that are not symmetric: |A v - lambda v| in units of epsilon, the order and the norm of the
 * matrix, for vectors of norm 1. The matrices are difficult for back substitution: graded rows and columns, multiple
 * eigenvalues, defective and nearly defective matrices. */
#include "check.h"

#include <float.h>

enum { UNITS = 30 };

/* Numbers from -1 to 1, the same in every run. */
static uint64_t random_state = 1;
static double draw(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 33) / (double)(UINT64_C(1) << 30) - 1;
}

static double random_element(int64_t i, int64_t j, int64_t n) { return (void)i, (void)j, (void)n, draw(); }
static double companion(int64_t i, int64_t j, int64_t n) { return (void)n, i == 0 ? draw() : i == j + 1; }
static double cyclic(int64_t i, int64_t j, int64_t n) { return i == (j + 1) % n; }
static double jordan_zero(int64_t i, int64_t j, int64_t n) { return (void)n, j == i + 1; }
static double jordan(int64_t i, int64_t j, int64_t n) { return (void)n, j == i || j == i + 1; }
static double jordan_below(int64_t i, int64_t j, int64_t n) { return (void)n, j == i || j == i - 1; }
static double nearly_jordan(int64_t i, int64_t j, int64_t n) { return jordan(i, j, n) + 1e-14 * draw(); }
/* [0 -1; 1 0] on the diagonal: the eigenvalues i and -i, repeated. */
static double pairs(int64_t i, int64_t j, int64_t n) {
    return (void)n, i / 2 != j / 2 ? 0 : i % 2 && j % 2 == 0 ? 1 : i % 2 == 0 && j % 2 ? -1 : 0;
}
static double jordan_pairs(int64_t i, int64_t j, int64_t n) { return pairs(i, j, n) + (j == i + 2); }
static double nearly_jordan_pairs(int64_t i, int64_t j, int64_t n) { return jordan_pairs(i, j, n) + 1e-10 * draw(); }
static double triangular(int64_t i, int64_t j, int64_t n) { return (void)n, j < i ? 0 : draw(); }
/* One eigenvalue, and vectors whose elements grow by thousands from row to row. */
static double unit_triangular(int64_t i, int64_t j, int64_t n) {
    return (void)n, j < i ? 0 : j == i ? 1 : 1000 * draw();
}
static double zero(int64_t i, int64_t j, int64_t n) { return (void)i, (void)j, (void)n, 0; }
static double one(int64_t i, int64_t j, int64_t n) { return (void)i, (void)j, (void)n, 1; }
static double identity(int64_t i, int64_t j, int64_t n) { return (void)n, i == j; }
/* Pairs of eigenvalues of very different size, in blocks. */
static double blocks(int64_t i, int64_t j, int64_t n) { return i < n / 2 ? draw() : j < n / 2 ? 0 : 1e-11 * draw(); }

static const struct {
    const char *name;
    double (*element)(int64_t, int64_t, int64_t);
} kinds[] = {{"random", random_element},
             {"companion", companion},
             {"cyclic", cyclic},
             {"Jordan's, of 0,", jordan_zero},
             {"Jordan's, of 1,", jordan},
             {"Jordan's, below the diagonal,", jordan_below},
             {"nearly Jordan's", nearly_jordan},
             {"pairs", pairs},
             {"pairs and ones above", jordan_pairs},
             {"nearly pairs and ones above", nearly_jordan_pairs},
             {"triangular", triangular},
             {"unit triangular", unit_triangular},
             {"zero", zero},
             {"one", one},
             {"identity", identity},
             {"blocks", blocks}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Returns |A v - lambda v| and stores |v|, for one eigenvector or one of a pair. `a` and `v` are row-major. */
static double residual(const double *a, int64_t n, double re, double im, const double *v, double *length) {
    double off = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        double x = 0, y = 0, vx = v[i * n], vy = im != 0 ? v[i * n + 1] : 0;
        for (int64_t k = 0; k < n; k++) {
            x += a[i * n + k] * v[k * n];
            y += im != 0 ? a[i * n + k] * v[k * n + 1] : 0;
        }
        x -= re * vx - im * vy, y -= re * vy + im * vx;
        off += x * x + y * y;
        squares += vx * vx + vy * vy;
    }
    *length = sqrt(squares);
    return sqrt(off);
}

/* Returns the elements as float64, and frees the tensor. */
static double *elements(THTensor *t) {
    THTensor *wide = THTensor_newTo(t, TH_FLOAT64), *row_major = THTensor_newContiguous(wide);
    size_t bytes = (size_t)THTensor_nElement(t) * sizeof(double);
    double *copy = malloc(bytes);
    memcpy(copy, THTensor_data(row_major), bytes);
    THTensor_free(row_major);
    THTensor_free(wide);
    THTensor_free(t);
    return copy;
}

/* Checks the eigenvectors of `t`, which is freed; `what` describes it. */
static void check_eigenvectors_of(THTensor *t, const char *what) {
    THDtype dtype = THTensor_dtype(t);
    int64_t n = THTensor_size(t, 0);
    THTensor *values = THTensor_new(), *vectors = THTensor_new();
    CHECK_OK(THTensor_geev(values, vectors, t));
    double *a = elements(t), *e = elements(values), *v = elements(vectors);
    double norm = 0, worst = 0, length_off = 0, epsilon = dtype == TH_FLOAT64 ? DBL_EPSILON : FLT_EPSILON;
    for (int64_t i = 0; i < n * n; i++) norm += a[i] * a[i];
    norm = norm > 0 ? sqrt(norm) : 1;
    for (int64_t j = 0; j < n; j++) {
        double length, im = e[2 * j + 1],
                       units = residual(a, n, e[2 * j], im, v + j, &length) / (epsilon * (double)n * norm);
        worst = units <= worst ? worst : units;
        length_off = fmax(length_off, isnan(length) ? INFINITY : fabs(length - 1));
        if (im != 0) {
            CHECK(im > 0 && e[2 * j + 2] == e[2 * j] && e[2 * j + 3] == -im);
            j++;
        }
    }
    if (!(worst <= UNITS && length_off <= UNITS * epsilon)) {
        printf("\n  %s, order %d, %s: %g units, norms off by %g ", what, (int)n, THDtype_name(dtype), worst, length_off);
        CHECK(0);
    }
    free(v);
    free(e);
    free(a);
}

/* Checks the eigenvectors of a matrix whose rows are multiplied by `rows` to the power i / n, and columns by `cols`
 * likewise. */
static void check_eigenvectors(THDtype dtype, int64_t n, int kind, double rows, double cols) {
    THTensor *t = THTensor_newZeros(dtype, SIZES(n, n));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            double x =
                kinds[kind].element(i, j, n) * pow(rows, (double)i / (double)n) * pow(cols, (double)j / (double)n);
            CHECK_OK(THTensor_set2d(t, i, j, x));
        }
    }
    char what[120];
    snprintf(what, sizeof what, "%s matrix, rows graded by %g, columns by %g", kinds[kind].name, rows, cols);
    check_eigenvectors_of(t, what);
}

static const int64_t sizes[] = {1, 2, 3, 5, 8, 17, 33, 63, 64, 65, 90, 129, 200};
enum { COUNT = sizeof sizes / sizeof *sizes };

/* Residuals need n^3 products, which are slow under valgrind. */
static int64_t greatest_order(void) { return under_valgrind() ? 65 : 200; }

static void of_every_kind(void) {
    for (int i = 0; i < COUNT && sizes[i] <= greatest_order(); i++) {
        for (int kind = 0; kind < KINDS; kind++) {
            /* The last row of an odd number has no partner. Balancing magnifies its small elements, as in LAPACK. */
            if (kinds[kind].element == nearly_jordan_pairs && sizes[i] % 2) continue;
            check_eigenvectors(TH_FLOAT64, sizes[i], kind, 1, 1);
            check_eigenvectors(TH_FLOAT32, sizes[i], kind, 1, 1);
        }
    }
}

/* Rows or columns that grow by more than 1e3 are left out, because balancing magnifies their rounding errors, as in
 * LAPACK. */
static void of_graded_matrices(void) {
    static const double gradings[] = {1e-3, 1e-6, 1e-10, 1e-12, 1e-15, 1e-20, 10, 1e3};
    for (int i = 0; i < COUNT && sizes[i] <= greatest_order(); i++) {
        for (int g = 0; g < 8; g += under_valgrind() ? 3 : 1) {
            for (int type = 0; type < 2; type++) {
                THDtype dtype = type ? TH_FLOAT64 : TH_FLOAT32;
                check_eigenvectors(dtype, sizes[i], 0, gradings[g], 1);
                check_eigenvectors(dtype, sizes[i], 0, 1, gradings[g]);
                check_eigenvectors(dtype, sizes[i], 0, gradings[g], gradings[g]);
                check_eigenvectors(dtype, sizes[i], 0, gradings[g], 1 / gradings[g]);
            }
        }
    }
}

/* Q D inverse(Q), whose eigenvalues are the first `count` of `values` in turn; `pairs` of complex ones have 2 x 2 blocks in D. Q is
 * orthogonal, or only a matrix near one. */
static THTensor *repeated(THDtype dtype, int64_t n, const double *values, int count, int pairs, int orthogonal) {
    THTensor *random = THTensor_newZeros(TH_FLOAT64, SIZES(n, n)), *d = THTensor_newZeros(TH_FLOAT64, SIZES(n, n));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) CHECK_OK(THTensor_set2d(random, i, j, draw()));
        CHECK_OK(THTensor_set2d(d, i, i, values[i % count]));
        if (pairs && i % 2) {
            CHECK_OK(THTensor_set2d(d, i, i, values[(i - 1) % count]));
            CHECK_OK(THTensor_set2d(d, i - 1, i, 1));
            CHECK_OK(THTensor_set2d(d, i, i - 1, -1));
        }
    }
    THTensor *q = THTensor_new(), *r = THTensor_new(), *inverse = THTensor_new(), *t = THTensor_new();
    CHECK_OK(THTensor_qr(q, r, random, 1));
    if (!orthogonal) CHECK_OK(THTensor_cadd(q, q, 0.5 / (double)n, random));
    CHECK_OK(orthogonal ? THTensor_transpose(inverse, q, 0, 1) : THTensor_inverse(inverse, q));
    CHECK_OK(THTensor_mm(t, q, d));
    CHECK_OK(THTensor_mm(t, t, inverse));
    THTensor *rounded = THTensor_newTo(t, dtype);
    THTensor_free(t);
    THTensor_free(inverse);
    THTensor_free(r);
    THTensor_free(q);
    THTensor_free(d);
    THTensor_free(random);
    return rounded;
}

/* Eigenvalues that are equal but for rounding errors, at the orders around which the algorithm changes: 100 and 256. */
static void of_repeated_eigenvalues(void) {
    static const int64_t orders[] = {2, 3, 10, 33, 64, 65, 99, 100, 101, 113, 128, 255, 256, 257};
    static const double values[] = {1, 2, -1, 0};
    static const struct {
        const char *name;
        int first, count, pairs, orthogonal;
    } matrices[] = {{"1, 2, -1 repeated", 0, 3, 0, 1}, {"projection", 2, 2, 0, 1}, {"one value", 1, 1, 0, 1},
                    {"1, 2, -1, 0 repeated, not symmetric,", 0, 4, 0, 0}, {"pairs repeated", 0, 4, 1, 1},
                    {"pairs repeated, not normal,", 0, 4, 1, 0}};
    static const double projection[] = {0, 1};
    for (int i = 0; i < 14 && orders[i] <= (under_valgrind() ? 100 : 257); i++) {
        int tries = orders[i] < 200 ? 6 : 2;
        for (int k = 0; k < (under_valgrind() ? 2 : 6 * tries); k++) {
            const double *from = matrices[k % 6].first == 2 ? projection : values + matrices[k % 6].first;
            for (int type = 0; type < 2; type++) {
                THTensor *t = repeated(type ? TH_FLOAT64 : TH_FLOAT32, orders[i], from, matrices[k % 6].count, matrices[k % 6].pairs,
                                       matrices[k % 6].orthogonal);
                check_eigenvectors_of(t, matrices[k % 6].name);
            }
        }
    }
}

CHECK_MAIN(CASE(of_every_kind), CASE(of_graded_matrices), CASE(of_repeated_eigenvalues))
