/*
 * The singular value decomposition of a tall matrix whose rows are distributed among processes.
 *
 *     mpicc -std=c99 -O2 -Iinclude examples/mpi/svd.c -Ltarget/release -lthorn -lm -o mpi_svd
 *     LD_LIBRARY_PATH=target/release mpirun -np 4 ./mpi_svd
 *
 * Each rank has some rows A_r of A, [m x n] with m much larger than n. No rank needs all of A:
 *
 *   - each rank computes A_r = Q_r R_r, with R_r at most [n x n];
 *   - TH_MPI_allgather stacks the R_r, and every rank computes (R_0; R_1; ...) = P R;
 *   - with R = W diag(s) V^T, [n x n], A = (Q P W) diag(s) V^T, of which rank r has the rows Q_r P_r W.
 *
 * A is made from known singular values, from 1 down to 1e-6, by reflections of its rows and columns. The computed values must agree to
 * 1e-13, U diag(s) V^T must equal A to 1e-13, and the columns of U must be orthonormal to 1e-13, over all ranks.
 */

#include "../try.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <thorn_mpi.h>

enum { ROWS = 4001, COLUMNS = 24, REFLECTIONS = 3 };

static const double TOLERANCE = 1e-13;

// a = (1 - 2 w w^T) a for a unit vector w whose rows are distributed like the rows of `a`.
static THStatus reflect(THTensor *a, const THTensor *w, MPI_Comm comm) {
    THStatus status;
    THTensor *turned = THTensor_newTranspose(a, 0, 1), *product = THTensor_new();
    TRY(THTensor_mv(product, turned, w));
    TRY(TH_MPI_allreduce(product, product, MPI_SUM, comm));
    TRY(THTensor_addr(a, 1, a, -2, w, product));
done:
    THTensor_free(turned);
    THTensor_free(product);
    return status;
}

// Rows from `first` on of a random unit vector that is the same on all ranks.
static THStatus unit_vector(THTensor *w, THGenerator *generator, int64_t length, int64_t first, int64_t count) {
    THStatus status;
    THTensor *whole = THTensor_newRandn(TH_FLOAT64, generator, 1, &length);
    TRY(THTensor_div(whole, whole, THTensor_normall(whole, 2)));
    TRY(THTensor_narrow(w, whole, 0, first, count));
done:
    THTensor_free(whole);
    return status;
}

// This rank's rows of A = H diag(s) G^T, where H and G are products of reflections.
static THStatus new_matrix(THTensor **a, const THTensor *s, int64_t first, int64_t count, MPI_Comm comm) {
    const int64_t size[] = {count, COLUMNS};
    THStatus status = TH_OK;
    THGenerator *generator = THGenerator_new();
    THTensor *w = THTensor_new(), *turned = NULL;
    *a = THTensor_newZeros(TH_FLOAT64, 2, size);
    for (int64_t i = first; i < first + count && i < COLUMNS; i++) TRY(THTensor_set2d(*a, i - first, i, THTensor_get1d(s, i)));
    TRY(THRandom_manualSeed(generator, 1));
    for (int i = 0; i < REFLECTIONS; i++) {
        TRY(unit_vector(w, generator, ROWS, first, count));
        TRY(reflect(*a, w, comm));
    }
    // The columns are reflected in the same way on all ranks, without communication.
    turned = THTensor_newTranspose(*a, 0, 1);
    for (int i = 0; i < REFLECTIONS; i++) {
        TRY(unit_vector(w, generator, COLUMNS, 0, COLUMNS));
        TRY(reflect(turned, w, MPI_COMM_SELF));
    }
done:
    THTensor_free(turned);
    THTensor_free(w);
    THGenerator_free(generator);
    return status;
}

// a = u diag(s) v^T for distributed rows: `u` gets the rank's rows; `s` and `v` are the same on all ranks.
static THStatus spread_svd(THTensor *u, THTensor *s, THTensor *v, const THTensor *a, MPI_Comm comm) {
    THStatus status;
    int64_t first = 0, count;
    THTensor *q = THTensor_new(), *r = THTensor_new(), *stack = THTensor_new(), *p = THTensor_new(), *w = THTensor_new();
    TRY(THTensor_qr(q, r, a, 1));
    TRY(TH_MPI_allgather(stack, r, 0, comm));
    // The rank's rows of the stack: a rank with fewer rows than columns has contributed fewer.
    count = THTensor_size(r, 0);
    MPI_Exscan(&count, &first, 1, MPI_INT64_T, MPI_SUM, comm);
    TRY(THTensor_qr(p, r, stack, 1));
    TRY(THTensor_svd(w, s, v, r, 1));
    TRY(THTensor_narrow(p, p, 0, first, count));
    TRY(THTensor_mm(stack, p, w));
    TRY(THTensor_mm(u, q, stack));
done:
    THTensor_free(q);
    THTensor_free(r);
    THTensor_free(stack);
    THTensor_free(p);
    THTensor_free(w);
    return status;
}

// The largest differences, over all ranks, of A from U diag(s) V^T, of U^T U from 1, and of s from the known values.
static THStatus errors_of(double *errors, const THTensor *a, const THTensor *u, const THTensor *s, const THTensor *v, const THTensor *exact,
                          MPI_Comm comm) {
    const int64_t count = 3;
    THStatus status;
    THTensor *scaled = THTensor_new(), *product = THTensor_new(), *turned = THTensor_newTranspose(v, 0, 1), *list = NULL;
    TRY(THTensor_cmul(scaled, u, s));
    TRY(THTensor_mm(product, scaled, turned));
    errors[0] = THTensor_size(a, 0) > 0 ? THTensor_dist(product, a, INFINITY) : 0;
    TRY(THTensor_transpose(turned, u, 0, 1));
    TRY(THTensor_reset(product));
    TRY(THTensor_mm(product, turned, u));
    TRY(TH_MPI_allreduce(product, product, MPI_SUM, comm));
    TRY(THTensor_eye(scaled, COLUMNS, COLUMNS));
    errors[1] = THTensor_dist(product, scaled, INFINITY);
    errors[2] = THTensor_dist(s, exact, INFINITY);
    list = THTensor_newFromBlob(TH_FLOAT64, 1, &count, NULL, errors, NULL, NULL);
    TRY(TH_MPI_allreduce(list, list, MPI_MAX, comm));
done:
    THTensor_free(scaled);
    THTensor_free(product);
    THTensor_free(turned);
    THTensor_free(list);
    return status;
}

static THStatus decompose(double *errors, MPI_Comm comm) {
    int64_t first, count;
    THStatus status;
    THTensor *a = NULL, *u = THTensor_new(), *s = THTensor_new(), *v = THTensor_new(), *exact = THTensor_newWithDtype(TH_FLOAT64);
    TRY(TH_MPI_part(&first, &count, ROWS, comm));
    TRY(THTensor_logspace(exact, 0, -6, COLUMNS));
    TRY(new_matrix(&a, exact, first, count, comm));
    TRY(spread_svd(u, s, v, a, comm));
    TRY(errors_of(errors, a, u, s, v, exact, comm));
done:
    THTensor_free(a);
    THTensor_free(u);
    THTensor_free(s);
    THTensor_free(v);
    THTensor_free(exact);
    return status;
}

int main(int argc, char **argv) {
    int rank, ranks;
    double errors[3] = {1, 1, 1};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    THStatus status = decompose(errors, MPI_COMM_WORLD);
    if (status != TH_OK) {
        fprintf(stderr, "svd: rank %d: %s\n", rank, THGetLastError());
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    if (rank == 0) {
        printf("%d x %d on %d ranks: errors of A %.1e, of U^T U %.1e, of the singular values %.1e\n", ROWS, COLUMNS, ranks, errors[0],
               errors[1], errors[2]);
    }
    MPI_Finalize();
    return errors[0] < TOLERANCE && errors[1] < TOLERANCE && errors[2] < TOLERANCE ? EXIT_SUCCESS : EXIT_FAILURE;
}
