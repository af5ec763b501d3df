// Times of calls with more threads than cores, compared with as many threads as cores.
//
//     cc -O2 -Iinclude benches/threads.c -Ltarget/release -lthorn -o threads
//     LD_LIBRARY_PATH=target/release ./threads [cores]
//
// A row has the time of a call with one thread, with `cores` threads (2 without the argument), and the times with two,
// four and eight times as many threads, divided by the time with `cores` threads. Each time is the least of several
// rounds. The rounds of all numbers of threads alternate.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

enum { ROUNDS = 9, COUNTS = 5 };

static THTensor *numbers(int ndim, const int64_t *size) {
    THTensor *t = THTensor_new();
    check(THTensor_rand(t, NULL, ndim, size));
    return t;
}

static THTensor *a, *b, *r, *positions, *image, *weights, *conv, *sorted, *order, *row, *sums, *factors, *product;

static void add(void) { check(THTensor_cadd(r, a, 1, b)); }
static void exponential(void) { check(THTensor_exp(r, a)); }
static void transpose(void) {
    THTensor *turned = THTensor_newTranspose(a, 0, 1);
    check(THTensor_copy(r, turned));
    THTensor_free(turned);
}
static void sum_rows(void) { check(THTensor_sum(row, a, 1, 0)); }
static void sum_columns(void) { check(THTensor_sum(sums, a, 0, 0)); }
static void softmax(void) { check(THTensor_softmax(r, a, 1)); }
static void gather(void) { check(THTensor_gather(r, a, 1, positions)); }
static void scatter(void) { check(THTensor_scatterAdd(r, 1, positions, a)); }
static void sort(void) { check(THTensor_sort(sorted, order, a, 1, 0, 0)); }
static void multiply(void) { check(THTensor_mm(product, factors, factors)); }
static void convolve(void) {
    check(THTensor_conv2d(conv, image, weights, NULL, 2, NULL, (int64_t[]){1, 1}, NULL, 1));
}

static const struct {
    const char *name;
    void (*call)(void);
    int calls;
} rows[] = {
    {"add, 1000 x 1000", add, 20},
    {"exp, 1000 x 1000", exponential, 10},
    {"transpose, 1000 x 1000", transpose, 10},
    {"sum of rows", sum_rows, 20},
    {"sum of columns", sum_columns, 20},
    {"softmax", softmax, 5},
    {"gather", gather, 10},
    {"scatterAdd", scatter, 5},
    {"sort of rows", sort, 2},
    {"mm, 512 x 512", multiply, 2},
    {"conv2d, 8 x 16 x 56 x 56, 3 x 3", convolve, 2},
};

int main(int argc, char **argv) {
    const int cores = argc > 1 ? atoi(argv[1]) : 2;
    if (cores < 1 || cores > 1024) {
        fprintf(stderr, "usage: threads [cores]\n");
        return 2;
    }
    const int64_t square[] = {1000, 1000}, half[] = {512, 512};
    const int64_t of_image[] = {8, 16, 56, 56}, of_weights[] = {32, 16, 3, 3};
    a = numbers(2, square);
    b = numbers(2, square);
    r = numbers(2, square);
    factors = numbers(2, half);
    image = numbers(4, of_image);
    weights = numbers(4, of_weights);
    THTensor **fresh[] = {&conv, &sorted, &order, &row, &sums, &product};
    for (size_t k = 0; k < sizeof fresh / sizeof *fresh; k++) *fresh[k] = THTensor_new();
    positions = THTensor_newZeros(TH_INT64, 2, square);
    int64_t *places = THTensor_data(positions);
    for (int64_t i = 0; i < 1000000; i++) places[i] = i * 7919 % 1000;

    const int threads[COUNTS] = {1, cores, 2 * cores, 4 * cores, 8 * cores};
    printf("%-34s %10s %10s %8s %8s %8s\n", "call", "1, us", "cores, us", "2 times", "4 times", "8 times");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        double best[COUNTS] = {1e9, 1e9, 1e9, 1e9, 1e9};
        for (int round = 0; round < ROUNDS; round++) {
            for (int n = 0; n < COUNTS; n++) {
                check(THSetNumThreads(threads[n]));
                rows[k].call();
                double start = now();
                for (int i = 0; i < rows[k].calls; i++) rows[k].call();
                double time = (now() - start) / rows[k].calls;
                if (time < best[n]) best[n] = time;
            }
        }
        printf("%-34s %10.1f %10.1f %8.2f %8.2f %8.2f\n", rows[k].name, best[0] * 1e6, best[1] * 1e6, best[2] / best[1],
               best[3] / best[1], best[4] / best[1]);
    }
    THTensor *all[] = {a, b, r, positions, image, weights, conv, sorted, order, row, sums, factors, product};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
    return 0;
}
