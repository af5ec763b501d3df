/* Loops over doubles that bench.lua runs in Lua, too. */
#include <stddef.h>

double loop_sum(const double *x, ptrdiff_t n) {
    double sum = 0;
    for (ptrdiff_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sum;
}

void loop_scale(double *x, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) x[i] = 0.5 * x[i] + 1;
}

void loop_recur(double *x, ptrdiff_t n) {
    for (ptrdiff_t i = 1; i < n; i++) x[i] = 0.25 * x[i - 1] + 0.75 * x[i];
}
