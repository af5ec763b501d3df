// Products with quantised matrices: the speed at which weights are read, compared with a plain read of the same memory.
//
//     cc -O2 -march=native -Iinclude benches/quantized.c -Ltarget/release -lthorn -lpthread -o quantized
//     LD_LIBRARY_PATH=target/release ./quantized [threads]
//
// A matrix has 4096 columns and 64 MB, more than the caches. Each row of the table takes turns between the product with
// one row of activations, a plain read on as many threads, and the product with 32 rows. `of read` is the speed of the
// first product divided by the speed of the read. `GMAC/s` counts the multiplications of the product with 32 rows.

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

enum { COLUMNS = 4096, BYTES = 64 << 20, ROUNDS = 15, PROMPT = 32, MOST_THREADS = 64 };

static const struct {
    THBlockType type;
    const char *name;
    int numbers, bytes;
} types[] = {
    {TH_BLOCK_Q4_0, "Q4_0", 32, 18},    {TH_BLOCK_Q4_1, "Q4_1", 32, 20},     {TH_BLOCK_Q5_0, "Q5_0", 32, 22},
    {TH_BLOCK_Q5_1, "Q5_1", 32, 24},    {TH_BLOCK_Q8_0, "Q8_0", 32, 34},     {TH_BLOCK_Q2_K, "Q2_K", 256, 84},
    {TH_BLOCK_Q3_K, "Q3_K", 256, 110},  {TH_BLOCK_Q4_K, "Q4_K", 256, 144},   {TH_BLOCK_Q5_K, "Q5_K", 256, 176},
    {TH_BLOCK_Q6_K, "Q6_K", 256, 210},  {TH_BLOCK_IQ4_NL, "IQ4_NL", 32, 18}, {TH_BLOCK_IQ4_XS, "IQ4_XS", 256, 136},
    {TH_BLOCK_TQ1_0, "TQ1_0", 256, 54}, {TH_BLOCK_TQ2_0, "TQ2_0", 256, 66},  {TH_BLOCK_MXFP4, "MXFP4", 32, 17},
};

static double timed(THTensor *r, const THTensor *a, const THTensor *w, THBlockType type) {
    double start = now();
    check(THTensor_mmQuantized(r, a, w, type));
    return now() - start;
}

struct part {
    const uint64_t *words;
    size_t count;
};

// Eight sums, so that the compiler can use vectors and additions do not wait for each other.
static void *read_part(void *argument) {
    static volatile uint64_t sink;
    const struct part *part = argument;
    uint64_t sums[8] = {0};
    for (size_t i = 0; i + 8 <= part->count; i += 8) {
        for (int k = 0; k < 8; k++) sums[k] += part->words[i + (size_t)k];
    }
    for (int k = 0; k < 8; k++) sink += sums[k];
    return NULL;
}

// The time of a plain read on `threads` threads.
static double read_all(const uint64_t *words, size_t count, int threads) {
    pthread_t others[MOST_THREADS];
    struct part parts[MOST_THREADS];
    double start = now();
    for (int t = 0; t < threads; t++) {
        size_t from = count * (size_t)t / (size_t)threads, to = count * (size_t)(t + 1) / (size_t)threads;
        parts[t] = (struct part){words + from, to - from};
        if (t > 0 && pthread_create(&others[t], NULL, read_part, &parts[t]) != 0) exit(1);
    }
    read_part(&parts[0]);
    for (int t = 1; t < threads; t++) pthread_join(others[t], NULL);
    return now() - start;
}

static double least(double a, double b) { return a < b ? a : b; }

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    if (threads < 1 || threads > MOST_THREADS) {
        fprintf(stderr, "usage: quantized [1 to %d threads]\n", MOST_THREADS);
        return 2;
    }
    check(THSetNumThreads(threads));
    THTensor *one = THTensor_new(), *rows = THTensor_new(), *r = THTensor_new();
    int64_t sizes[] = {PROMPT, COLUMNS};
    check(THTensor_rand(rows, NULL, 2, sizes));
    check(THTensor_select(one, rows, 0, 0));
    printf("%-7s %10s %10s %8s %8s\n", "type", "us", "GB/s", "of read", "GMAC/s");
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        int64_t row = COLUMNS / types[k].numbers * types[k].bytes, n = BYTES / row, size[] = {n, row};
        THTensor *w = THTensor_newFull(TH_UINT8, 2, size, 0x21);
        const uint64_t *words = THTensor_data(w);
        double token = 1e9, reading = 1e9, prompt = 1e9;
        for (int round = 0; round < ROUNDS; round++) {
            token = least(token, timed(r, one, w, types[k].type));
            reading = least(reading, read_all(words, (size_t)(n * row) / 8, threads));
            if (round < 3) prompt = least(prompt, timed(r, rows, w, types[k].type));
        }
        double bytes = (double)(n * row), products = (double)PROMPT * COLUMNS * (double)n;
        printf("%-7s %10.0f %10.2f %8.2f %8.1f\n", types[k].name, token * 1e6, bytes / token * 1e-9, reading / token,
               products / prompt * 1e-9);
        THTensor_free(w);
    }
    THTensor_free(r);
    THTensor_free(rows);
    THTensor_free(one);
    return 0;
}
