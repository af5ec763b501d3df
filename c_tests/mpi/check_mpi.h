/*
 * check.h for programs of several ranks: all ranks run each case, and a case passes if it passes on all of them.
 *
 *     static void the_sum_of_ones_is_the_number_of_ranks(void) {
 *         THTensor *t = vector_of(TH_INT32, 1, 1);
 *         CHECK_OK(TH_MPI_allreduce(t, t, MPI_SUM, MPI_COMM_WORLD));
 *         CHECK_VALUES(t, ranks, ranks);
 *         THTensor_free(t);
 *     }
 *
 *     CHECK_MPI_MAIN(CASE(the_sum_of_ones_is_the_number_of_ranks))
 *
 * `rank` is the number of the process, `ranks` the number of processes. There are two streams of random numbers: COMMON is the same on all
 * ranks, and determines shapes and dtypes; OWN differs from rank to rank, and determines layouts.
 */

#ifndef THORN_CHECK_MPI_H
#define THORN_CHECK_MPI_H

#include "../check.h"
#include "thorn_mpi.h"

#include <unistd.h>

static int rank, ranks;

enum stream { COMMON, OWN };
static uint64_t streams[2];

/* A number from 0 to `below` - 1. */
static inline int64_t pick(enum stream stream, int64_t below) {
    streams[stream] = streams[stream] * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((streams[stream] >> 33) % (uint64_t)below);
}

/* The number of rounds of a loop: `many`, or fewer where ranks share a core and wait for each other. */
static inline int64_t rounds_of(int64_t many) { return under_valgrind() ? many / 50 + 2 : ranks > 2 ? many / 12 + 2 : many; }

/* True if there is a GPU, which THORN_MPI_GPU in the environment declares. */
static inline int there_is_a_gpu(void) {
    int there = THCuda_deviceCount() > 0;
    if (getenv("THORN_MPI_GPU")) CHECK(there);
    return there;
}

static inline THDtype any_dtype(enum stream stream) { return dtypes[pick(stream, DTYPES)]; }

/* The value of element `at` in the tensor of rank `from`: a small integer, 0 or 1 for Bool. */
static inline double value_of(THDtype dtype, int from, int64_t at) {
    int64_t value = (at * 7 + from * 5 + at / 11) % 13;
    return (double)(dtype == TH_BOOL ? value & 1 : value);
}

/* Writes value_of to all elements. */
static inline void fill_as(THTensor *t, int from) {
    int64_t count = THTensor_nElement(t);
    double *values = malloc((size_t)count * sizeof *values + 1);
    for (int64_t i = 0; i < count; i++) values[i] = value_of(THTensor_dtype(t), from, i);
    THTensor *doubles = THTensor_newFromData(TH_FLOAT64, t->nDimension, t->size, values);
    THTensor *same = THTensor_newTo(doubles, THTensor_dtype(t));
    CHECK_OK(THTensor_copy(t, same));
    THTensor_free(same);
    THTensor_free(doubles);
    free(values);
}

/* Zeros of a shape in a random layout drawn from `stream`: permuted dimensions, steps with gaps, an offset. */
static inline THTensor *zeros_somehow(enum stream stream, THDtype dtype, int ndim, const int64_t *size) {
    int64_t order[8], wide[8] = {0}, back[8];
    for (int d = 0; d < ndim; d++) order[d] = d;
    if (pick(stream, 2)) {
        for (int d = ndim - 1; d > 0; d--) {
            int64_t other = pick(stream, d + 1), swap = order[d];
            order[d] = order[other];
            order[other] = swap;
        }
    }
    int step = 1 + (int)pick(stream, 2), gap = (int)pick(stream, 2);
    for (int d = 0; d < ndim; d++) {
        wide[d] = size[order[d]] * (d == ndim - 1 ? step : 1) + gap;
        back[order[d]] = d;
    }
    THTensor *t = THTensor_newZeros(dtype, ndim, wide);
    for (int d = 0; d < ndim; d++) {
        int64_t length = size[order[d]] * (d == ndim - 1 ? step : 1);
        CHECK_OK(THTensor_narrow(t, t, d, gap, length));
        if (d == ndim - 1 && step > 1 && length > 0) CHECK_OK(THTensor_slice(t, t, d, 0, length, step));
    }
    if (ndim > 0) CHECK_OK(THTensor_permute(t, t, ndim, back));
    return t;
}

/* A tensor of a shape with the values of rank `from`. */
static inline THTensor *values_somehow(enum stream stream, THDtype dtype, int ndim, const int64_t *size, int from) {
    THTensor *t = zeros_somehow(stream, dtype, ndim, size);
    fill_as(t, from);
    return t;
}

/* Chooses a shape of up to four dimensions of up to four entries, rarely 0. */
static inline int any_shape(enum stream stream, int least, int64_t *size) {
    int ndim = least + (int)pick(stream, 5 - least);
    for (int d = 0; d < ndim; d++) size[d] = pick(stream, 12) == 0 ? 0 : 1 + pick(stream, 4);
    return ndim;
}

/* All elements of `t` have the values of rank `from`. */
#define CHECK_IS_OF(t, from) check_is_of(t, from, __FILE__, __LINE__)
static inline int check_is_of(const THTensor *t, int from, const char *file, int line) {
    for (int64_t i = 0; i < THTensor_nElement(t); i++) {
        double expected = value_of(THTensor_dtype(t), from, i);
        if (check_is_near(element_at(t, i), expected, 0)) continue;
        check_fail(file, line, "values");
        printf("element %d of %s is %g, not %g", (int)i, THDtype_name(THTensor_dtype(t)), element_at(t, i), expected);
        return 0;
    }
    return 1;
}

/* As check_run, with the timeout of MPI_COMM_WORLD from THORN_MPI_TIMEOUT in the environment. A rank with failures prints its number; rank 0 prints the outcome of each case. */
static inline int check_mpi_run(const struct check_case *cases, size_t count, int argc, char **argv) {
    int failed = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    THSetNumThreads(1);
    const char *timeout = getenv("THORN_MPI_TIMEOUT");
    if (timeout) CHECK_OK(TH_MPI_setTimeout(MPI_COMM_WORLD, atof(timeout)));
    for (size_t i = 0; i < count; i++) {
        if (!check_wanted(cases[i].name, argc, argv)) continue;
        if (rank == 0) printf("%s ...", cases[i].name);
        fflush(stdout);
        int before = check_failures;
        int64_t live = THMemory_liveBytes();
        THClearLastError();
        streams[COMMON] = 100 * (uint64_t)ranks + i;
        streams[OWN] = 1000 * (uint64_t)(rank + 1) + i;
        cases[i].run();
        check_eq(THMemory_liveBytes() - live, 0, __FILE__, __LINE__, "bytes left behind");
        int bad = check_failures != before, any = 0;
        if (bad) printf("\n  on rank %d of %d", rank, ranks);
        fflush(stdout);
        MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (rank == 0) printf(any ? "\n%s FAILED\n" : " ok\n", cases[i].name);
        failed += any;
    }
    return failed > 0;
}

#define CHECK_MPI_MAIN(...)                                                                                            \
    int main(int argc, char **argv) {                                                                                  \
        static const struct check_case cases[] = {__VA_ARGS__};                                                        \
        MPI_Init(&argc, &argv);                                                                                        \
        int failed = check_mpi_run(cases, sizeof cases / sizeof *cases, argc, argv);                                   \
        MPI_Finalize();                                                                                                \
        return failed;                                                                                                 \
    }

#endif
