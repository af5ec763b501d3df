/* A BLAS of the machine in place of thorn's own products and decompositions. BLAS32 and BLAS64 are the paths of a
 * small library, c_tests/blas/counting.c, with integers of 32 and 64 bits. BLAS is the path of a real one, if there
 * is any. */
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

/* The address of a call counter in the library in use. */
static int *count(const char *name) {
    void *library = dlopen(THGetBlas(), RTLD_NOW);
    int *at = library ? (int *)dlsym(library, name) : NULL;
    if (!at) {
        fprintf(stderr, "no %s in %s\n", name, THGetBlas());
        exit(1);
    }
    dlclose(library);
    return at;
}

/* The matrix of i + 2 j - 3 for row i and column j, stored by rows, by columns, or with a gap after each element. */
enum stored { ROWS, COLUMNS, GAPS };
static THTensor *matrix(THDtype dtype, int64_t m, int64_t n, enum stored stored) {
    int64_t sizes[] = {m, n}, turned[] = {n, m}, wide[] = {m, 2 * n};
    THTensor *t = NULL;
    if (stored == ROWS) {
        t = THTensor_newZeros(dtype, 2, sizes);
    } else {
        THTensor *all = THTensor_newZeros(dtype, 2, stored == COLUMNS ? turned : wide);
        t = stored == COLUMNS ? THTensor_newTranspose(all, 0, 1) : THTensor_newSlice(all, 1, 0, 2 * n, 2);
        THTensor_free(all);
    }
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) CHECK_OK(THTensor_set2d(t, i, j, (double)(i + 2 * j - 3)));
    }
    return t;
}

static void products_are_computed_by_it(const char *path) {
    CHECK_OK(THSetBlas(path));
    CHECK_STR(THGetBlas(), path);
    const THDtype dtypes[] = {TH_FLOAT32, TH_FLOAT64};
    for (int d = 0; d < 2; d++) {
        /* C, A and B by rows and by columns: all forms that gemm has. */
        for (int form = 0; form < 8; form++) {
            THTensor *a = matrix(dtypes[d], 3, 4, form & 1 ? COLUMNS : ROWS);
            THTensor *b = matrix(dtypes[d], 4, 2, form & 2 ? COLUMNS : ROWS);
            THTensor *r = matrix(dtypes[d], 3, 2, form & 4 ? COLUMNS : ROWS);
            CHECK_OK(THTensor_fill(r, NAN));
            int before = *count("gemm_calls");
            CHECK_OK(THTensor_mm(r, a, b));
            CHECK_EQ(*count("gemm_calls"), before + 1);
            CHECK_VALUES(r, 10, 10, 4, 12, -2, 14);
            CHECK_OK(THTensor_addmm(r, 2, r, -1, a, b));
            CHECK_VALUES(r, 10, 10, 4, 12, -2, 14);
            THTensor *row = THTensor_newSelect(a, 0, 1), *y = THTensor_newSelect(r, 1, 0);
            before = *count("gemv_calls");
            CHECK_OK(THTensor_fill(y, NAN));
            CHECK_OK(THTensor_mv(y, a, row));
            CHECK_EQ(*count("gemv_calls"), before + 1);
            CHECK_VALUES(y, 20, 24, 28);
            THTensor_free(row);
            THTensor_free(y);
            THTensor_free(a);
            THTensor_free(b);
            THTensor_free(r);
        }
    }
    CHECK_OK(THSetBlas(NULL));
    CHECK(THGetBlas() == NULL);
}

static void integers_may_have_32_bits(void) { products_are_computed_by_it(BLAS32); }
static void integers_may_have_64_bits(void) { products_are_computed_by_it(BLAS64); }

static void what_it_cannot_take_is_left_to_thorn(void) {
    CHECK_OK(THSetBlas(BLAS32));
    int before = *count("gemm_calls");
    THTensor *a = matrix(TH_FLOAT32, 3, 4, GAPS), *b = matrix(TH_FLOAT32, 4, 2, ROWS), *r = THTensor_new();
    CHECK_OK(THTensor_mm(r, a, b));
    CHECK_VALUES(r, 10, 10, 4, 12, -2, 14);
    THTensor *ia = THTensor_newTo(a, TH_INT32), *ib = THTensor_newTo(b, TH_INT32), *ir = THTensor_new();
    CHECK_OK(THTensor_mm(ir, ia, ib));
    CHECK_VALUES(ir, 10, 10, 4, 12, -2, 14);
    CHECK_EQ(*count("gemm_calls"), before);
    THTensor_free(a);
    THTensor_free(b);
    THTensor_free(r);
    THTensor_free(ia);
    THTensor_free(ib);
    THTensor_free(ir);
    CHECK_OK(THSetBlas(NULL));
}

static void decompositions_are_computed_by_it_if_it_has_them(void) {
    CHECK_OK(THSetBlas(BLAS64));
    int before = *count("potrf_calls");
    THTensor *a = matrix_of(TH_FLOAT64, 2, 4, 2, 2, 10), *r = THTensor_new(), *x = THTensor_new();
    CHECK_OK(THTensor_potrf(r, a, 0));
    CHECK_EQ(*count("potrf_calls"), before + 1);
    CHECK_VALUES(r, 2, 0, 1, 3);
    /* The small library has no LU. */
    CHECK_OK(THTensor_inverse(x, a));
    CHECK_NEAR(THTensor_get2d(x, 0, 0), 10. / 36, 1e-15);
    CHECK_OK(THTensor_set2d(a, 1, 1, 1));
    CHECK_ERROR(THTensor_potrf(r, a, 0), TH_ERR_NUMERIC, "2");
    CHECK_VALUES(r, 2, 0, 1, 3);
    THTensor_free(a);
    THTensor_free(r);
    THTensor_free(x);
    CHECK_OK(THSetBlas(NULL));
}

static void a_library_that_is_none_is_refused(void) {
    CHECK_OK(THSetBlas(BLAS32));
    CHECK_ERROR(THSetBlas("/there/is/no/such/file.so"), TH_ERR_IO, "/there/is/no/such/file.so");
    CHECK_ERROR(THSetBlas("/"), TH_ERR_IO, "THSetBlas: ");
    CHECK_ERROR(THSetBlas("libm.so.6"), TH_ERR_FORMAT, "libm.so.6");
    char *path = malloc(100001);
    memset(path, 'x', 100000);
    path[100000] = 0;
    CHECK_ERROR(THSetBlas(path), TH_ERR_IO, "100000 bytes");
    free(path);
    /* Opening a FIFO would make the loader wait for a writer. */
    char fifo[] = "/tmp/thorn-test-XXXXXX";
    CHECK(mkdtemp(fifo) != NULL);
    char inside[64];
    snprintf(inside, sizeof inside, "%s/fifo.so", fifo);
    CHECK_EQ(mkfifo(inside, 0600), 0);
    alarm(60);
    CHECK_ERROR(THSetBlas(inside), TH_ERR_IO, "is not a regular file");
    alarm(0);
    unlink(inside);
    rmdir(fifo);
    CHECK_ERROR(THSetBlas("/dev/null"), TH_ERR_IO, "is not a regular file");
    CHECK_STR(THGetBlas(), BLAS32);
    for (int i = 0; i < 1000; i++) {
        CHECK_OK(THSetBlas(BLAS64));
        CHECK_OK(THSetBlas(BLAS32));
    }
    CHECK_OK(THSetBlas(NULL));
}

#ifndef BLAS
#define BLAS BLAS32
#endif

static int changing = 1;

static void *change(void *unused) {
    while (__atomic_load_n(&changing, __ATOMIC_RELAXED)) {
        CHECK_OK(THSetBlas(BLAS));
        CHECK_OK(THSetBlas(NULL));
    }
    return unused;
}

/* A call may begin with one library and end with another. */
static void it_may_be_changed_while_others_compute(void) {
    enum { N = 40 };
    pthread_t other;
    CHECK_EQ(pthread_create(&other, NULL, change, NULL), 0);
    THTensor *a = THTensor_newZeros(TH_FLOAT64, SIZES(N, N)), *identity = THTensor_newWithDtype(TH_FLOAT64),
             *off = THTensor_new();
    CHECK_OK(THTensor_fill(a, 1));
    THTensor *diagonal = THTensor_newDiagonal(a, 0, 0, 1);
    CHECK_OK(THTensor_fill(diagonal, N + 1));
    CHECK_OK(THTensor_eye(identity, N, N));
    THTensor *r[4];
    for (int i = 0; i < 4; i++) r[i] = THTensor_new();
    for (int round = 0; round < (under_valgrind() ? 3 : 100); round++) {
        CHECK_OK(THTensor_inverse(r[0], a));
        CHECK_OK(THTensor_mm(r[1], a, r[0]));
        CHECK_OK(THTensor_gesvd(r[0], r[2], r[3], a, 1));
        CHECK_NEAR(THTensor_get1d(r[2], 0), 2 * N, 1e-10);
        CHECK_OK(THTensor_syev(r[2], NULL, a, 1));
        CHECK_NEAR(THTensor_get1d(r[2], 0), N, 1e-10);
        CHECK_OK(THTensor_qr(r[0], r[3], a, 1));
        CHECK_OK(THTensor_mm(r[2], r[0], r[3]));
        CHECK_OK(THTensor_csub(r[2], r[2], 1, a));
        CHECK_OK(THTensor_norm(off, r[2], INFINITY, TH_ALL_DIMS, 0));
        CHECK_NEAR(THTensor_item(off), 0, 1e-12);
        CHECK_OK(THTensor_lstsq(r[0], NULL, NULL, identity, a, -1));
        CHECK_OK(THTensor_mm(r[1], a, r[0]));
        CHECK_OK(THTensor_csub(r[1], r[1], 1, identity));
        CHECK_OK(THTensor_norm(off, r[1], INFINITY, TH_ALL_DIMS, 0));
        CHECK_NEAR(THTensor_item(off), 0, 1e-13);
    }
    __atomic_store_n(&changing, 0, __ATOMIC_RELAXED);
    CHECK_EQ(pthread_join(other, NULL), 0);
    for (int i = 0; i < 4; i++) THTensor_free(r[i]);
    THTensor_free(a);
    THTensor_free(identity);
    THTensor_free(off);
    THTensor_free(diagonal);
    CHECK_OK(THSetBlas(NULL));
}

CHECK_MAIN(CASE(integers_may_have_32_bits), CASE(integers_may_have_64_bits), CASE(what_it_cannot_take_is_left_to_thorn),
           CASE(decompositions_are_computed_by_it_if_it_has_them), CASE(a_library_that_is_none_is_refused),
           CASE(it_may_be_changed_while_others_compute))
