// The GPU bench of thorn: times the rows of rows.py on the first GPU. torch_bench.py does the same for PyTorch.
//
//     gpu_bench --facts               the GPU, one property a line
//     gpu_bench [SCALE [WORD]]        one line a row; with WORD, the rows whose name contains it
//
// A line has the name, µs of a call, µs until a call has returned on the host, bytes and operations of a call,
// separated by tabs. The line of a failed row has "failed" and the message instead. A time is the best of 5 rounds. A
// round is 10 calls between two events of the GPU. Three calls before the rounds are not timed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <thorn.h>

#include "net.h"
#include "grad.h"

enum { WARM = 3, ROUNDS = 5, CALLS = 10, ADDS = 20, GPU = 0 };

typedef struct {
    const char *name;
    THStatus (*call)(void);
    THTensor *(*result)(void);
    double (*bytes)(void), (*flops)(void);
} Row;

// The results of the current row.
static THTensor *r, *i;

static THCudaStream *stream;
static THCudaEvent *start, *end;
static THFused *tanh_of_sum;
static THCudaGraph *graph;

static int64_t scaled(double size, int64_t least, double scale) {
    int64_t value = (int64_t)(size * scale) / 16 * 16;
    return value > least ? value : least;
}

// Normal random numbers. For bool, whether the numbers are positive; for int64, numbers below `limit`, or 0 if `limit`
// is 1.
static THTensor *operand(THDtype dtype, int64_t limit, int ndim, const int64_t *size) {
    THTensor *t = THTensor_newWithDtype(dtype);
    THStatus status;
    if (dtype == TH_INT64) {
        status = THTensor_randint(t, NULL, 0, limit, ndim, size);
    } else {
        THTensor *numbers = THTensor_newRandn(TH_FLOAT32, NULL, ndim, size);
        status = dtype == TH_BOOL ? THTensor_gtValue(t, numbers, 0) : THTensor_copy(t, numbers);
        THTensor_free(numbers);
    }
    if (status == TH_OK) return t;
    THTensor_free(t);
    return NULL;
}

// Functions of rows with several calls.

static THStatus fused(THTensor *to, THTensor *x, THTensor *y) {
    THTensor *inputs[] = {x, y};
    return THFused_run(to, tanh_of_sum, inputs, 2);
}

static THStatus with_tf32(THTensor *to, const THTensor *x, const THTensor *y) {
    THCuda_setAllowTF32(1);
    THStatus status = THTensor_mm(to, x, y);
    THCuda_setAllowTF32(0);
    return status;
}

static THStatus convolution(THTensor *to, const THTensor *x, const THTensor *weight) {
    return THTensor_conv2dUniform(to, x, weight, NULL, 1, 1);
}

static THStatus cross_entropy(THTensor *to, const THTensor *x, const THTensor *target) {
    return THTensor_crossEntropy(to, x, target, NULL, TH_REDUCTION_MEAN, -100);
}

static THStatus adds(THTensor *to, const THTensor *x, const THTensor *y) {
    TRY(THTensor_cadd(to, x, 1, y));
    for (int k = 1; k < ADDS; k++) TRY(THTensor_cadd(to, to, 1, y));
    return TH_OK;
}

// Records `adds` in a separate stream, because the default stream cannot be recorded. The result must have memory
// before the call.
static THStatus record(THTensor *to, const THTensor *x, const THTensor *y) {
    TRY(adds(to, x, y));
    TRY(THCuda_synchronize(GPU));
    THCudaStream *recorder = THCudaStream_new(GPU, 0);
    THStatus status = THCudaStream_setCurrent(recorder);
    if (status == TH_OK) status = THCudaGraph_begin(GPU);
    if (status == TH_OK) {
        status = adds(to, x, y);
        graph = THCudaGraph_newCaptured(GPU);
        if (status == TH_OK && !graph) status = THGetLastErrorCode();
    }
    THCudaStream_setCurrent(stream);
    THCudaStream_free(recorder);
    return status;
}

static THStatus replay(THTensor *to, const THTensor *x, const THTensor *y) {
    if (!graph) TRY(record(to, x, y));
    return THCudaGraph_launch(graph);
}

#include "rows.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static double least(double a, double b) { return a < b ? a : b; }

// Stores the best times of a call in µs: by events of the GPU, and until calls have returned.
static THStatus time_row(const Row *row, double *gpu, double *host) {
    for (int k = 0; k < WARM; k++) TRY(row->call());
    TRY(THCuda_synchronize(GPU));
    *gpu = *host = 1e30;
    for (int round = 0; round < ROUNDS; round++) {
        TRY(THCudaEvent_record(start, stream));
        double began = now();
        for (int k = 0; k < CALLS; k++) TRY(row->call());
        *host = least(*host, (now() - began) / CALLS);
        TRY(THCudaEvent_record(end, stream));
        TRY(THCudaEvent_synchronize(end));
        *gpu = least(*gpu, 1e3 * THCudaEvent_elapsed(start, end) / CALLS);
    }
    return TH_OK;
}

// Returns 1 if the row could not run.
static int print_row(const Row *row) {
    double gpu, host;
    r = row->result();
    i = THTensor_newWithDtype(TH_INT64);
    int failed = !r || !i || time_row(row, &gpu, &host) != TH_OK;
    if (failed)
        printf("%s\tfailed\t%s\n", row->name, THGetLastError());
    else
        printf("%s\t%.3f\t%.3f\t%.0f\t%.0f\n", row->name, gpu, host, row->bytes(), row->flops());
    fflush(stdout);
    THClearLastError();
    THTensor_free(r);
    THTensor_free(i);
    return failed;
}

static int print_facts(void) {
    THCudaProperties p;
    if (THCuda_properties(GPU, &p) != TH_OK) return 1;
    printf("name\t%s\ncapability\t%d\nmultiprocessors\t%d\n", p.name, 10 * p.major + p.minor, p.multiprocessors);
    printf("memory\t%lld\nclock_khz\t%d\n", (long long)p.total_bytes, p.clock_khz);
    printf("memory_clock_khz\t%d\nmemory_bus_bits\t%d\n", p.memory_clock_khz, p.memory_bus_bits);
    printf("thorn\t%s\n", THVersion());
    return 0;
}

static int time_rows(double scale, const char *word) {
    int failed = 0;
    take_sizes(scale);
    if (THSetDefaultDevice(TH_CUDA, GPU) != TH_OK) return 1;
    stream = THCudaStream_newCurrent(GPU);
    start = THCudaEvent_new(GPU, 1);
    end = THCudaEvent_new(GPU, 1);
    tanh_of_sum = THFused_new("tanh(a*b + a)");
    if (!stream || !start || !end || !tanh_of_sum || !make_operands()) return 1;
    for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; k++) {
        if (strstr(ROWS[k].name, word)) failed += print_row(&ROWS[k]);
    }
    return failed > 0;
}

int main(int argc, char **argv) {
    THClearLastError();
    int facts = argc > 1 && strcmp(argv[1], "--facts") == 0;
    int failed = facts ? print_facts() : time_rows(argc > 1 ? atof(argv[1]) : 1, argc > 2 ? argv[2] : "");
    if (failed && *THGetLastError()) fprintf(stderr, "gpu_bench: %s\n", THGetLastError());
    return failed;
}
