/*
 * A test harness in one header: write functions, check things in them, list them at the end.
 *
 *     static void a_vector_has_one_dimension(void) {
 *         THTensor *t = vector_of(TH_FLOAT32, 1, 2, 3);
 *         CHECK_SHAPE(t, 3);
 *         CHECK_VALUES(t, 1, 2, 3);
 *         CHECK_ERROR(THTensor_set1d(t, 3, 0), TH_ERR_ARGUMENT, "out of range");
 *         THTensor_free(t);
 *     }
 *
 *     CHECK_MAIN(CASE(a_vector_has_one_dimension))
 *
 * A failed check prints a message, and the case continues. Each case must free its tensors: it must end with as many
 * live bytes as it began with. The program prints one line per case and exits with 1 if any failed. Arguments of the
 * program name the cases to run. THORN_TEST_BLAS in the environment is passed to THSetBlas first.
 */

#ifndef THORN_CHECK_H
#define THORN_CHECK_H

#include "thorn.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The condition holds. */
#define CHECK(condition) check_that((condition) ? 1 : 0, __FILE__, __LINE__, #condition)

/* Two integers are equal. */
#define CHECK_EQ(got, expected) check_eq((int64_t)(got), (int64_t)(expected), __FILE__, __LINE__, #got)

/* Two doubles differ by at most `tolerance`. Two NaNs are equal. */
#define CHECK_NEAR(got, expected, tolerance) check_near(got, expected, tolerance, __FILE__, __LINE__, #got)

/* Two C strings are equal. */
#define CHECK_STR(got, expected) check_str(got, expected, __FILE__, __LINE__, #got)

/* A call that returns a THStatus succeeds. */
#define CHECK_OK(call) check_ok(call, __FILE__, __LINE__, #call)

/* A call that returns a THStatus fails with `status`, and the message contains `text`. */
#define CHECK_ERROR(call, status, text) CHECK_FAILURE((call) == (status), status, text)

/* A call that returns no status fails: the condition on its return value holds, the status is `status`, and the message
 * contains `text`:
 * CHECK_FAILURE(THTensor_size(t, 9) == -1, TH_ERR_ARGUMENT, "dimension 9") */
#define CHECK_FAILURE(condition, status, text)                                                                         \
    (THClearLastError(), check_failure((condition) ? 1 : 0, status, text, __FILE__, __LINE__, #condition))

/* The sizes of a tensor with at least one dimension. */
#define CHECK_SHAPE(t, ...) check_dims(THTensor_sizes, t, CHECK_COUNTED(int64_t, __VA_ARGS__), __FILE__, __LINE__, #t)

/* The strides of a tensor with at least one dimension. */
#define CHECK_STRIDES(t, ...)                                                                                          \
    check_dims(THTensor_strides, t, CHECK_COUNTED(int64_t, __VA_ARGS__), __FILE__, __LINE__, #t)

/* All elements of a tensor, in row-major order, exactly. */
#define CHECK_VALUES(t, ...) check_values(t, CHECK_COUNTED(double, __VA_ARGS__), 0, __FILE__, __LINE__, #t)

/* All elements of a tensor, in row-major order, each within `tolerance`. */
#define CHECK_CLOSE(t, tolerance, ...)                                                                                 \
    check_values(t, CHECK_COUNTED(double, __VA_ARGS__), tolerance, __FILE__, __LINE__, #t)

/* A new 1-d tensor of the given elements. */
#define vector_of(dtype, ...) check_vector(dtype, CHECK_COUNTED(double, __VA_ARGS__))

/* A new 2-d tensor of the given elements, row after row. */
#define matrix_of(dtype, rows, ...) check_matrix(dtype, rows, CHECK_COUNTED(double, __VA_ARGS__))

/* A list of sizes or dimensions and its length, as two arguments: THTensor_newZeros(TH_INT32, SIZES(2, 3)). */
#define SIZES(...)                                                                                                     \
    CHECK_COUNT(int64_t, __VA_ARGS__), (const int64_t[]) { __VA_ARGS__ }

#define CHECK_COUNT(type, ...) (int)(sizeof((type[]){__VA_ARGS__}) / sizeof(type))
#define CHECK_COUNTED(type, ...) (const type[]){__VA_ARGS__}, CHECK_COUNT(type, __VA_ARGS__)

/* The ten dtypes: `for (int k = 0; k < DTYPES; k++) use(dtypes[k]);` */
#define DTYPES 10
static const THDtype dtypes[DTYPES] = {TH_UINT8,   TH_INT8,     TH_INT16,   TH_INT32,   TH_INT64,
                                       TH_FLOAT16, TH_BFLOAT16, TH_FLOAT32, TH_FLOAT64, TH_BOOL};

static inline int is_float(THDtype dtype) { return dtype >= TH_FLOAT16 && dtype <= TH_FLOAT64; }

enum layout { ROW_MAJOR, TRANSPOSED, STEPPED, LAYOUTS };

/* A matrix of zeros with this memory layout. A stepped matrix has gaps, and an offset. */
static inline THTensor *zeros_laid_out(THDtype dtype, int64_t rows, int64_t columns, enum layout layout) {
    THTensor *t;
    switch (layout) {
    case TRANSPOSED:
        t = THTensor_newZeros(dtype, SIZES(columns, rows));
        THTensor_t(t, t);
        return t;
    case STEPPED:
        t = THTensor_newZeros(dtype, SIZES(rows, 2 * columns));
        THTensor_slice(t, t, 1, 1, 2 * columns, 2);
        return t;
    default:
        return THTensor_newZeros(dtype, SIZES(rows, columns));
    }
}

struct check_case {
    const char *name;
    void (*run)(void);
};

#define CASE(function) {#function, function}
#define CHECK_MAIN(...)                                                                                                \
    int main(int argc, char **argv) {                                                                                  \
        static const struct check_case cases[] = {__VA_ARGS__};                                                        \
        return check_run(cases, sizeof cases / sizeof *cases, argc, argv);                                             \
    }

/* The number of failed checks so far. */
static int check_failures;

static inline int check_fail(const char *file, int line, const char *what) {
    check_failures++;
    printf("\n  %s:%d: %s: ", file, line, what);
    return 0;
}

static inline int check_that(int holds, const char *file, int line, const char *what) {
    if (!holds) {
        check_fail(file, line, what);
        printf("does not hold (last error: \"%s\")", THGetLastError());
    }
    return holds;
}

static inline int check_eq(int64_t got, int64_t expected, const char *file, int line, const char *what) {
    if (got == expected) return 1;
    check_fail(file, line, what);
    printf("%" PRId64 ", not %" PRId64 " (last error: \"%s\")", got, expected, THGetLastError());
    return 0;
}

static inline int check_is_near(double got, double expected, double tolerance) {
    if (isnan(got) || isnan(expected)) return isnan(got) && isnan(expected);
    return got == expected || fabs(got - expected) <= tolerance;
}

static inline int check_near(double got, double expected, double tolerance, const char *file, int line,
                             const char *what) {
    if (check_is_near(got, expected, tolerance)) return 1;
    check_fail(file, line, what);
    printf("%.17g, not %.17g", got, expected);
    return 0;
}

static inline int check_str(const char *got, const char *expected, const char *file, int line, const char *what) {
    if (got && strcmp(got, expected) == 0) return 1;
    check_fail(file, line, what);
    printf("\"%s\", not \"%s\"", got ? got : "NULL", expected);
    return 0;
}

static inline int check_ok(THStatus status, const char *file, int line, const char *what) {
    if (status == TH_OK) return 1;
    check_fail(file, line, what);
    printf("status %d: %s", (int)status, THGetLastError());
    return 0;
}

static inline int check_failure(int holds, THStatus status, const char *text, const char *file, int line,
                                const char *what) {
    if (holds && THGetLastErrorCode() == status && strstr(THGetLastError(), text)) return 1;
    check_fail(file, line, what);
    printf("%s, then status %d: \"%s\"; expected status %d: \"...%s...\"", holds ? "holds" : "does not hold",
           (int)THGetLastErrorCode(), THGetLastError(), (int)status, text);
    return 0;
}

static inline int check_dims(const int64_t *(*dims)(const THTensor *), const THTensor *t, const int64_t *expected,
                             int ndim, const char *file, int line, const char *what) {
    if (THTensor_nDimension(t) == ndim && memcmp(dims(t), expected, ndim * sizeof *expected) == 0) return 1;
    check_fail(file, line, what);
    printf("has dimensions (");
    for (int d = 0; d < THTensor_nDimension(t); d++) printf(" %" PRId64, dims(t)[d]);
    printf(" ), not (");
    for (int d = 0; d < ndim; d++) printf(" %" PRId64, expected[d]);
    printf(" )");
    return 0;
}

/* The element at row-major position `at`, for any strides. NaN, and a failed check, if there is no such element. */
static inline double element_at(const THTensor *t, int64_t at) {
    int64_t index[8] = {0};
    int ndim = THTensor_nDimension(t);
    if (ndim > 8) return NAN;
    for (int d = ndim - 1; d >= 0; d--) {
        int64_t size = THTensor_size(t, d);
        index[d] = size > 0 ? at % size : 0;
        at = size > 0 ? at / size : 0;
    }
    return THTensor_getAt(t, ndim, index);
}

static inline int check_values(const THTensor *t, const double *expected, int64_t count, double tolerance,
                               const char *file, int line, const char *what) {
    if (!check_eq(THTensor_nElement(t), count, file, line, what)) return 0;
    for (int64_t i = 0; i < count; i++) {
        if (check_is_near(element_at(t, i), expected[i], tolerance)) continue;
        check_fail(file, line, what);
        printf("element %" PRId64 " is %.17g, not %.17g", i, element_at(t, i), expected[i]);
        return 0;
    }
    return 1;
}

static inline THTensor *check_matrix(THDtype dtype, int64_t rows, const double *values, int64_t count) {
    const int64_t shape[] = {rows, count / rows};
    THTensor *doubles = THTensor_newFromData(TH_FLOAT64, 2, shape, values);
    THTensor *t = THTensor_newTo(doubles, dtype);
    THTensor_free(doubles);
    return t;
}

static inline THTensor *check_vector(THDtype dtype, const double *values, int64_t count) {
    THTensor *t = check_matrix(dtype, 1, values, count);
    THTensor_select(t, t, 0, 0);
    return t;
}

/* Returns true under valgrind, where an instruction takes about fifty times as long. */
static inline int under_valgrind(void) { return getenv("THORN_UNDER_VALGRIND") != NULL; }

/* The program of another processor runs in an emulator. qemu-user ends children of processes with several threads. */
static inline int under_emulator(void) { return getenv("THORN_UNDER_EMULATOR") != NULL; }

/* The number of rounds of a loop: `rounds`, or fewer under valgrind. */
static inline int64_t shrunk(int64_t rounds) { return under_valgrind() ? rounds / 1000 + 1 : rounds; }

static inline int check_wanted(const char *name, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], name) == 0) return 1;
    }
    return argc < 2;
}

static inline int check_run(const struct check_case *cases, size_t count, int argc, char **argv) {
    int failed = 0;
    const char *blas = getenv("THORN_TEST_BLAS");
    if (blas && THSetBlas(blas) != TH_OK) {
        fprintf(stderr, "%s\n", THGetLastError());
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        if (!check_wanted(cases[i].name, argc, argv)) continue;
        printf("%s ...", cases[i].name);
        /* If the case ends the program, its name is already printed. */
        fflush(stdout);
        int before = check_failures;
        int64_t live = THMemory_liveBytes();
        THClearLastError();
        cases[i].run();
        check_eq(THMemory_liveBytes() - live, 0, __FILE__, __LINE__, "bytes left behind");
        int good = check_failures == before;
        printf(good ? " ok\n" : "\n%s FAILED\n", cases[i].name);
        failed += !good;
    }
    return failed > 0;
}

#endif
