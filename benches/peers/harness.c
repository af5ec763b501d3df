// The C part of the peer bench: handles on foreign memory, loops for the rows, and the limits of the machine.
//
// native.py includes this file in the rows that it generates, and compiles both with include/thorn.h for the current
// machine.
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include <thorn.h>

#include "limits.h"
#include "net.h"
#include "grad.h"
#include "sparse.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

// The result of rows that compute a number; `lastNumber` reads it.
static double number;

double lastNumber(void) { return number; }

// The GPU on which rows run; -1 means the host.
static int gpu = -1;

// Makes all rows run on a GPU, with the results of fresh handles.
int setGpu(int number) {
    gpu = number;
    return THSetDefaultDevice(TH_CUDA, number);
}

// The body of a row, a function of its tensors `t`: makes `call` `calls` times and returns the time in ns.
#define TIMED(call)                                                                                                    \
    *status = TH_OK;                                                                                                   \
    double start = now();                                                                                              \
    for (; calls > 0 && *status == TH_OK; calls--) *status = (call);                                                   \
    if (gpu >= 0 && *status == TH_OK) *status = THCuda_synchronize(gpu);                                               \
    double spent = now() - start;

// For rows: makes `r` a fresh handle before each call.
#define FRESH(call) (THTensor_free(r), r = THTensor_new(), (call))
#define MADE(handle) (THTensor_free(r), (r = (handle)) ? TH_OK : THGetLastErrorCode())
#define NUMBER(value) (number = (value), TH_OK)

// A tensor over the memory, or over a copy on the GPU with the same strides.
THTensor *wrap(THDtype dtype, int ndim, const int64_t *size, const int64_t *stride, void *data) {
    if (gpu < 0) return THTensor_newFromBlob(dtype, ndim, size, stride, data, NULL, NULL);
    int64_t span = 1;
    for (int d = 0; d < ndim; d++) span = size[d] && span ? span + (size[d] - 1) * stride[d] : 0;
    THTensor *here = THTensor_newFromBlob(dtype, 1, &span, NULL, data, NULL, NULL), *there = THTensor_newCuda(here, gpu);
    THTensor *view = there ? THTensor_newWithStorage(there->storage, 0, ndim, size, stride) : NULL;
    THTensor_free(here);
    THTensor_free(there);
    return view;
}

// Returns a tensor with the same elements on the host.
THTensor *hosted(const THTensor *t) { return THTensor_newCpu(t); }

// The time in ns of copying `bytes` within the GPU `calls` times.
double copyLimit(int64_t bytes, long calls) {
    static THTensor *from, *to;
    if (!from || THTensor_nElement(from) != bytes) {
        THTensor_free(from);
        THTensor_free(to);
        from = THTensor_newZeros(TH_UINT8, 1, &bytes);
        to = THTensor_newZeros(TH_UINT8, 1, &bytes);
        THCuda_synchronize(gpu);
    }
    double start = now();
    for (; calls > 0; calls--) THTensor_copy(to, from);
    THCuda_synchronize(gpu);
    return now() - start;
}

THTensor *fresh(void) { return THTensor_new(); }

void drop(THTensor *t) { THTensor_free(t); }

// Stores the address of the elements, dtype, number of dimensions, sizes and strides. Returns 0 if there is no room.
int describe(const THTensor *t, int64_t *to, int room) {
    int ndim = THTensor_nDimension(t);
    if (3 + 2 * ndim > room) return 0;
    to[0] = (int64_t)(intptr_t)THTensor_data(t);
    to[1] = THTensor_dtype(t);
    to[2] = ndim;
    memcpy(to + 3, THTensor_sizes(t), sizeof(int64_t) * (size_t)ndim);
    memcpy(to + 3 + ndim, THTensor_strides(t), sizeof(int64_t) * (size_t)ndim);
    return 1;
}

const char *message(void) { return THGetLastError(); }

const char *version(void) { return THVersion(); }

const char *simdLevel(void) { return THSimdLevel(); }

int setThreads(int threads) { return THSetNumThreads(threads); }

typedef int64_t Line __attribute__((vector_size(64), aligned(64), may_alias));

#if defined(__AVX512F__)
static void storePast(Line *r, Line value) { _mm512_stream_si512((void *)r, (__m512i)value); }
#elif defined(__SSE2__)
static void storePast(Line *r, Line value) {
    __m128i part[4];
    memcpy(part, &value, sizeof part);
    for (int i = 0; i < 4; i++) _mm_stream_si128((__m128i *)r + i, part[i]);
}
#else
static void storePast(Line *r, Line value) { *r = value; }
#endif

// Numbers of cache lines to read and to write, evenly mixed, in one of the ways of limits.h.
typedef struct {
    const Line *from;
    size_t reads;
    Line *to;
    size_t writes;
    int way;
} Traffic;

// Lines of the larger side between two lines of the other side.
enum { TILE = 32 };

// The prefetch distance in lines.
enum { LOOK = 32 };

static inline Line readLines(const Line *from, size_t count, int way) {
    Line a = {0}, b = {0}, c = {0}, d = {0};
    for (; count >= 4; count -= 4, from += 4) {
        for (int k = 0; way == AHEAD && k < 4; k++) __builtin_prefetch(from + LOOK + k);
        a ^= from[0], b ^= from[1], c ^= from[2], d ^= from[3];
    }
    for (; count > 0; count--, from++) a ^= *from;
    return (a ^ b) ^ (c ^ d);
}

static inline void writeLines(Line *to, size_t count, Line value, int way) {
#pragma GCC unroll 4
    for (; count > 0; count--, to++) {
        if (way == AHEAD) __builtin_prefetch(to + LOOK, 1);
        if (way == PAST)
            storePast(to, value);
        else
            *to = value;
    }
}

static inline __attribute__((always_inline)) void streamWay(const Traffic *work, int part, int parts, int way) {
    size_t reads = work->reads, writes = work->writes, tiles = (reads > writes ? reads : writes) / TILE + 1;
    size_t tile = tiles * (size_t)part / (size_t)parts, end = tiles * (size_t)(part + 1) / (size_t)parts;
    size_t read = reads * tile / tiles, written = writes * tile / tiles;
    // Must not become zeros, which some machines store past the caches at twice the usual speed.
    Line sum = {1, 2, 3, 4, 5, 6, 7, 8};
    for (; tile < end; tile++) {
        size_t next = reads * (tile + 1) / tiles;
        sum ^= readLines(work->from + read, next - read, way);
        read = next;
        next = writes * (tile + 1) / tiles;
        writeLines(work->to + written, next - written, sum, way);
        written = next;
    }
    __asm__ volatile("" : : "m"(sum) : "memory");
    if (way == PAST) __sync_synchronize();
}

static void streamPart(const Traffic *work, int part, int parts) {
    if (work->way == PLAIN) streamWay(work, part, parts, PLAIN);
    if (work->way == AHEAD) streamWay(work, part, parts, AHEAD);
    if (work->way == PAST) streamWay(work, part, parts, PAST);
}

static void streamSide(const void *with, int side) { streamPart(with, side, 2); }

// The time in ns of reading and writing that many bytes `calls` times. With two threads, limits.h's partner does half.
double streamLimit(const void *from, size_t reads, void *to, size_t writes, int way, int threads, long calls) {
    Traffic work = {from, reads / sizeof(Line), to, writes / sizeof(Line), way};
    double start = now();
    for (; calls > 0; calls--) {
        if (threads == 1)
            streamPart(&work, 0, 1);
        else
            runBoth(streamSide, &work);
    }
    return now() - start;
}

int waysToStream(void) { return WAYS; }

// The time in ns of `flops` float32 multiplications and additions in registers.
double arithmeticLimit(size_t flops, int threads, long calls) {
    Arithmetic work = {bestLoops()->fma, flops, threads};
    double start = now();
    arithmetic(&work, (int)calls);
    return now() - start;
}

void wakePartner(void) { startPartner(); }
