// The clock and the check of a status, for the separate programs of this folder.
#ifndef THORN_BENCH_H
#define THORN_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <thorn.h>

// The time in seconds.
static inline double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Ends the program if a call failed.
static inline void check(THStatus status) {
    if (status == TH_OK) return;
    fprintf(stderr, "%s\n", THGetLastError());
    exit(1);
}

#endif
