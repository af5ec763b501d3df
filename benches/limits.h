// Limits of this machine: loops that do one kind of work in the widest vectors, for one thread or two.
//
// The two-thread forms give half of the work to a partner that spins for it, so that starting and ending cost next to
// nothing.
#ifndef LIMITS_H
#define LIMITS_H

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

// Loops process whole blocks of floats, from memory that is aligned to blocks.
#define BLOCK 64

// The number of sums that an FMA loop keeps in registers: enough to hide the latency of two units, and few enough for
// sixteen registers.
#define CHAINS 12

// Computes r = a + b, or r = a, for the elements `from` to `to`.
typedef void StreamLoop(float *r, const float *a, const float *b, size_t from, size_t to);

// The ways to access memory. The fastest one depends on the machine and on the size.
enum { PLAIN, AHEAD, PAST, WAYS };
static const char *const wayNames[WAYS] = {"a loop", "a prefetching loop", "a loop past caches"};

// Does `flops` multiplications and additions in registers.
typedef void FmaLoop(size_t flops);

typedef struct {
    const char *name;
    StreamLoop *add[WAYS], *copy[WAYS];
    FmaLoop *fma;
} Loops;

// The loops for one instruction set: `isa` is its attribute, `lanes` the floats in its vectors, `past(r, v)` its store
// past the caches.
#define LOOPS(name, isa, lanes, past, fence)                                                                           \
    typedef float name##Vec __attribute__((vector_size(4 * lanes), aligned(4), may_alias));                            \
    STREAMS(name##Add, isa, lanes, name##Vec, AT(name##Vec, a) + AT(name##Vec, b), past, fence)                        \
    STREAMS(name##Copy, isa, lanes, name##Vec, AT(name##Vec, a), past, fence)                                          \
    isa static void name##Fma(size_t flops) {                                                                          \
        name##Vec sum[CHAINS], factor = {0}, term = {0};                                                               \
        factor += 0.5f;                                                                                                \
        term += 1.0f;                                                                                                  \
        /* Hidden from the compiler, which would remove a chain that stays at 2 = 2 * 0.5 + 1. */                      \
        __asm__ volatile("" : "+m"(factor), "+m"(term));                                                               \
        for (int c = 0; c < CHAINS; c++) sum[c] = term * (float)c;                                                     \
        for (size_t done = 0; done < flops; done += 2 * lanes * CHAINS) {                                              \
            _Pragma("GCC unroll 16") for (int c = 0; c < CHAINS; c++) sum[c] = sum[c] * factor + term;                 \
        }                                                                                                              \
        for (int c = 0; c < CHAINS; c++) __asm__ volatile("" : : "m"(sum[c]));                                         \
    }                                                                                                                  \
    static const Loops name##Loops = {#name, WAYS_OF(name##Add), WAYS_OF(name##Copy), name##Fma};

// `r = value` in every way.
#define STREAMS(name, isa, lanes, Vec, value, past, fence)                                                             \
    STREAM(name##Plain, isa, lanes, AT(Vec, r) = value, (void)0)                                                       \
    STREAM(name##Ahead, isa, lanes, FETCH(a) FETCH(b) FETCH(r) AT(Vec, r) = value, (void)0)                            \
    STREAM(name##Past, isa, lanes, past(&r[i], value), fence)

#define STREAM(name, isa, lanes, step, end)                                                                            \
    isa static void name(float *r, const float *a, const float *b, size_t from, size_t to) {                           \
        for (size_t block = from; block < to; block += BLOCK) {                                                        \
            _Pragma("GCC unroll 16") for (size_t i = block; i < block + BLOCK; i += lanes) { step; }                   \
        }                                                                                                              \
        end;                                                                                                           \
        (void)b;                                                                                                       \
    }

#define WAYS_OF(name)                                                                                                  \
    { name##Plain, name##Ahead, name##Past }
#define AT(Vec, p) (*(Vec *)&p[i])

// Prefetches two KiB ahead, once per iteration. Prefetches beyond the end are useless but allowed.
#define FETCH(p) __builtin_prefetch(&p[i] + 512, 0, 3);

#if defined(__x86_64__)
#include <immintrin.h>

LOOPS(avx512, __attribute__((target("avx512f"))), 16, _mm512_stream_ps, _mm_sfence())
LOOPS(avx2, __attribute__((target("avx2,fma"))), 8, _mm256_stream_ps, _mm_sfence())
LOOPS(sse, , 4, _mm_stream_ps, _mm_sfence())

static const Loops *bestLoops(void) {
    if (__builtin_cpu_supports("avx512f")) return &avx512Loops;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &avx2Loops;
    return &sseLoops;
}

static inline void relax(void) { _mm_pause(); }
#else
// Without non-temporal stores, the third way equals the first.
#define PLAIN_STORE(r, v) (*(portableVec *)(r) = (v))

LOOPS(portable, , 4, PLAIN_STORE, (void)0)

static const Loops *bestLoops(void) { return &portableLoops; }

static inline void relax(void) {}
#endif

// Does half of some work: `side` is 0 for the caller, 1 for the partner.
typedef void Half(const void *with, int side);

static struct {
    pthread_t thread;
    Half *half;
    const void *with;
    enum { IDLE, CALLED, DISMISSED } state;
} partner;

static int partnerState(void) { return __atomic_load_n(&partner.state, __ATOMIC_ACQUIRE); }

static void *partnerLife(void *unused) {
    for (int state; (state = partnerState()) != DISMISSED;) {
        if (state == CALLED) {
            partner.half(partner.with, 1);
            __atomic_store_n(&partner.state, IDLE, __ATOMIC_RELEASE);
        }
        relax();
    }
    return unused;
}

// Runs both halves at once. To be called between `startPartner` and `endPartner`.
static void runBoth(Half *half, const void *with) {
    partner.half = half;
    partner.with = with;
    __atomic_store_n(&partner.state, CALLED, __ATOMIC_RELEASE);
    half(with, 0);
    while (partnerState() == CALLED) relax();
}

static void startPartner(void) {
    partner.state = IDLE;
    if (pthread_create(&partner.thread, NULL, partnerLife, NULL) != 0) abort();
}

static void endPartner(void) {
    __atomic_store_n(&partner.state, DISMISSED, __ATOMIC_RELEASE);
    pthread_join(partner.thread, NULL);
}

// A loop over memory, for one thread or two.
typedef struct {
    StreamLoop *loop;
    float *r;
    const float *a, *b;
    size_t count;
    int threads;
} Stream;

static void streamHalf(const void *with, int side) {
    const Stream *s = with;
    size_t middle = s->count / 2 / BLOCK * BLOCK;
    s->loop(s->r, s->a, s->b, side ? middle : 0, side ? s->count : middle);
}

static void stream(const void *with, int calls) {
    const Stream *s = with;
    for (; calls > 0; calls--) {
        if (s->threads == 1)
            s->loop(s->r, s->a, s->b, 0, s->count);
        else
            runBoth(streamHalf, s);
    }
}

// Arithmetic alone, for one thread or two.
typedef struct {
    FmaLoop *loop;
    size_t flops;
    int threads;
} Arithmetic;

static void arithmeticHalf(const void *with, int side) {
    const Arithmetic *work = with;
    (void)side;
    work->loop(work->flops / 2);
}

static void arithmetic(const void *with, int calls) {
    const Arithmetic *work = with;
    for (; calls > 0; calls--) {
        if (work->threads == 1)
            work->loop(work->flops);
        else
            runBoth(arithmeticHalf, work);
    }
}

#endif
