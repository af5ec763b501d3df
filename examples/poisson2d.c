/*
 * Solves Poisson's equation on a square, -(u_xx + u_yy) = f with u = 0 on the border, by conjugate gradients and by a
 * direct solver.
 *
 *     cc -std=c99 -O2 -Iinclude examples/poisson2d.c -Ltarget/release -lthorn -lm -o poisson2d
 *     LD_LIBRARY_PATH=target/release ./poisson2d 200
 *
 * On a grid of n x n points in the square, at distances h = 1 / (n + 1), derivatives become differences: the equation
 * of a point has the coefficient 4 / h^2 for the point, and -1 / h^2 for each neighbour. The matrix has n^4 elements,
 * but at most five in a row are not 0. f belongs to u = x (1 - x) sin(pi y), so that the error is known. The error is
 * proportional to h^2.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "try.h"

static const double TOLERANCE = 1e-10;
static const double PI = 3.14159265358979323846;

// The matrix of the equations, [n^2 x n^2], whose row n i + j belongs to point (i, j). NULL on error.
static THSTensor *new_laplacian(int64_t n) {
    static const int neighbours[5][2] = {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    double by_h2 = (double)(n + 1) * (double)(n + 1);
    int64_t count = 0, most = 5 * n * n;
    THTensor *indices = THTensor_newWithSizes(TH_INT64, 2, (int64_t[]){2, most});
    THTensor *values = THTensor_newWithSizes(TH_FLOAT64, 1, (int64_t[]){most});
    THSTensor *laplacian = NULL;
    THStatus status;
    int64_t *row = THTensor_data(indices);
    double *value = THTensor_data(values);
    TRY(row && value ? TH_OK : TH_ERR_NOMEM);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            for (int k = 0; k < 5; k++) {
                int64_t a = i + neighbours[k][0], b = j + neighbours[k][1];
                if (a < 0 || a >= n || b < 0 || b >= n) continue;
                row[count] = n * i + j;
                row[most + count] = n * a + b;
                value[count++] = k == 0 ? 4 * by_h2 : -by_h2;
            }
    TRY(THTensor_narrow(indices, indices, 1, 0, count));
    TRY(THTensor_narrow(values, values, 0, 0, count));
    laplacian = THSTensor_newWithTensorAndSize(indices, values, 2, (int64_t[]){n * n, n * n});
done:
    THTensor_free(indices);
    THTensor_free(values);
    return laplacian;
}

// u = x (1 - x) sin(pi y) and f at all points, row after row.
static THStatus sample(THTensor *u, THTensor *f, int64_t n) {
    THStatus status;
    THTensor *x = THTensor_newWithDtype(TH_FLOAT64), *wave = THTensor_new(), *hill = THTensor_new();
    TRY(THTensor_arange(x, 1, (double)n + 1, 1));
    TRY(THTensor_div(x, x, (double)n + 1));
    TRY(THTensor_mul(wave, x, PI));
    TRY(THTensor_sin(wave, wave));
    TRY(THTensor_rsub(hill, x, 1));
    TRY(THTensor_cmul(hill, hill, x));
    TRY(THTensor_outer(u, hill, wave));
    TRY(THTensor_resize(u, 1, (int64_t[]){n * n}, NULL));
    // f = (2 + pi^2 x (1 - x)) sin(pi y)
    TRY(THTensor_mul(hill, hill, PI * PI));
    TRY(THTensor_add(hill, hill, 2));
    TRY(THTensor_outer(f, hill, wave));
    TRY(THTensor_resize(f, 1, (int64_t[]){n * n}, NULL));
done:
    THTensor_free(x);
    THTensor_free(wave);
    THTensor_free(hill);
    return status;
}

// Prints the progress of conjugate gradients.
static THStatus show(int64_t step, double residual, void *context) {
    (void)context;
    if (step % 10 == 0) fprintf(stderr, "\rstep %lld: residual %.1e ", (long long)step, residual);
    return TH_OK;
}

static double seconds(clock_t since) { return (double)(clock() - since) / CLOCKS_PER_SEC; }

int main(int argc, char **argv) {
    int64_t n = argc > 1 ? atoi(argv[1]) : 200, steps = 0;
    double error = 0, apart = 0, h = 1 / (double)(n + 1);
    bool right = false;
    THStatus status;
    clock_t start = clock();
    THTensor *u = THTensor_new(), *f = THTensor_new(), *iterated = THTensor_new(), *direct = THTensor_new();
    THSTensor *laplacian = new_laplacian(n);
    TRY(laplacian ? TH_OK : TH_ERR_ARGUMENT);
    TRY(sample(u, f, n));

    start = clock();
    steps = THSTensor_cg(iterated, NULL, laplacian, f, NULL, TOLERANCE, 20 * n, show, NULL);
    TRY(steps < 0 ? THGetLastErrorCode() : TH_OK);
    error = THTensor_dist(iterated, u, INFINITY);
    fprintf(stderr, "\r%30s\r", "");
    printf("%lld points, conjugate gradients: %lld steps, %.3f s, error %.1e\n", (long long)(n * n), (long long)steps,
           seconds(start), error);

    start = clock();
    TRY(THSTensor_solve(direct, laplacian, f));
    apart = THTensor_dist(iterated, direct, INFINITY);
    printf("%lld points, Cholesky's factors: %.3f s, %.1e apart\n", (long long)(n * n), seconds(start), apart);
    // The error is at most h^2 / 96 times the greatest fourth derivative of u, pi^4 / 4.
    right = error < h * h * PI * PI * PI * PI / 384 + 1e-8 && apart < 1e-8;
done:
    if (!right) fprintf(stderr, "poisson2d: %s\n", THGetLastError());
    THTensor_free(u);
    THTensor_free(f);
    THTensor_free(iterated);
    THTensor_free(direct);
    THSTensor_free(laplacian);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
