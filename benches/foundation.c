// Times basic operations of thorn through its C interface, compared with the limits of the machine at the same moment.
//
// Usage: foundation [--quick] [WORD]; with a word, only the rows whose names contain it. The README in this folder
// explains the table.
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include <thorn.h>

#include "race.h"

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

static const char *word = "";
static int missed, noisy, wrong;
static const Loops *loops;

typedef struct {
    enum { NO_GOAL, AT_MOST_NS, AT_LEAST_RATIO } kind;
    double value;
} Goal;

static const Goal noGoal = {NO_GOAL, 0};
static Goal atMost(double ns) { return (Goal){AT_MOST_NS, ns}; }
static Goal atLeast(double ratio) { return (Goal){AT_LEAST_RATIO, ratio}; }

static const char *duration(double ns) {
    static char texts[4][16];
    static int next;
    char *text = texts[next++ % COUNT(texts)];
    const char *unit = ns < 1e3 ? "ns" : ns < 1e6 ? "us" : "ms";
    snprintf(text, sizeof texts[0], "%.2f %s", ns < 1e3 ? ns : ns < 1e6 ? ns / 1e3 : ns / 1e6, unit);
    return isinf(ns) ? "-" : text;
}

static bool wanted(const char *what) { return strstr(what, word) != NULL; }

typedef enum { UNJUDGED, REACHED, AT_LIMIT, MISSED, NOISY } Verdict;

static void printVerdict(const char *goal, Verdict verdict) {
    static const char *const words[] = {"", "ok", "at limit", "MISS", "noisy"};
    printf("   %-8s %s\n", goal, words[verdict]);
    fflush(stdout);
    missed += verdict == MISSED;
    noisy += verdict == NOISY;
}

static void printGoal(Goal goal, double time, double limit, double ratio, bool reliable) {
    char text[24] = "";
    bool reached = true, atLimit = false;
    if (goal.kind == AT_MOST_NS) {
        snprintf(text, sizeof text, "<= %g ns", goal.value);
        reached = time <= goal.value;
        // If the machine itself takes longer than the goal, the machine's time is the goal.
        atLimit = limit > goal.value && time <= limit / 0.9;
    } else if (goal.kind == AT_LEAST_RATIO) {
        snprintf(text, sizeof text, ">= %.2f", goal.value);
        reached = ratio >= goal.value;
    }
    Verdict verdict = goal.kind == NO_GOAL ? UNJUDGED : reached ? REACHED : atLimit ? AT_LIMIT : MISSED;
    printVerdict(text, reliable ? verdict : NOISY);
}

// Races thorn, `runners[0]`, against the others and shows its time next to the best of theirs. A row that is not
// `correct` has no time.
static void row(const char *what, bool correct, Goal goal, Runner *runners, int count) {
    if (!wanted(what)) return;
    printf("%-36s %2d", what, runners->threads);
    if (!correct) {
        printf(" %10s\n", "WRONG");
        wrong++;
        return;
    }
    int threads = runners[0].threads > runners[1].threads ? runners[0].threads : runners[1].threads;
    race(runners, count, threads);
    Runner *best = &runners[1];
    bool reliable = runners[0].kept >= MIN_KEPT;
    for (int i = 1; i < count; i++) {
        if (runners[i].pace < best->pace) best = &runners[i];
        reliable &= runners[i].kept >= MIN_KEPT && isfinite(runners[i].pace);
    }
    printf(" %10s %10s   %-20s %10s", duration(runners->best), duration(runners->median), best->name,
           duration(best->best));
    printf(reliable ? " %6.2f" : "      -", best->pace);
    printGoal(goal, runners->best, best->best, best->pace, reliable);
}

// A row that counts events which should not happen.
static void countRow(const char *what, long count) {
    printf("%-36s    %10ld %51s", what, count, "");
    printVerdict("== 0", count == 0 ? REACHED : MISSED);
}

typedef struct {
    THTensor *r, *a, *b;
} Operands;

static float *data(const THTensor *t) { return THTensor_data(t); }

static THTensor *newTensor(int ndim, int64_t size) {
    int64_t sizes[2] = {size, size};
    THTensor *t = THTensor_newWithSizes(TH_FLOAT32, ndim, sizes);
    check(t ? TH_OK : THGetLastErrorCode());
    return t;
}

// Operands whose elements differ up to some number. Sums and differences of the elements are exact.
static Operands newOperands(int ndim, int64_t size) {
    Operands o = {newTensor(ndim, size), newTensor(ndim, size), newTensor(ndim, size)};
    for (ptrdiff_t i = 0; i < THTensor_nElement(o.a); i++) {
        data(o.a)[i] = (float)(i % 1000003);
        data(o.b)[i] = (float)(i % 127) / 8;
    }
    return o;
}

static void freeOperands(Operands o) {
    THTensor_free(o.r);
    THTensor_free(o.a);
    THTensor_free(o.b);
}

// Fills the result with values that no operation computes, before the checked call.
static void spoil(THTensor *r) { memset(data(r), 0xff, sizeof(float) * (size_t)THTensor_nElement(r)); }

static void newAndFree(const void *unused, int calls) {
    const int64_t size[2] = {2, 2};
    for (; calls > 0; calls--) THTensor_free(THTensor_newWithSizes(TH_FLOAT32, 2, size));
    (void)unused;
}

static bool newIsRight(void) {
    THTensor *t = newTensor(2, 2);
    for (int i = 0; i < 4; i++) data(t)[i] = (float)i;
    bool right = t->nDimension == 2 && t->size[0] == 2 && t->size[1] == 2 && THTensor_get2d(t, 1, 0) == 2;
    THTensor_free(t);
    return right;
}

// The cost of a program that allocates its handles, its storages and its numbers by malloc: `blocks` blocks.
static void mallocAndFree(const void *blocks, int calls) {
    for (; calls > 0; calls--) {
        void *block[3];
        for (int i = 0; i < *(const int *)blocks; i++) {
            block[i] = malloc(i == 0 ? sizeof(THTensor) + 4 * sizeof(int64_t) : sizeof(THStorage));
            __asm__ volatile("" : : "r"(block[i]) : "memory");
        }
        for (int i = 0; i < *(const int *)blocks; i++) free(block[i]);
    }
}

static void narrowAndFree(const void *with, int calls) {
    const Operands *o = with;
    for (; calls > 0; calls--) THTensor_free(THTensor_newNarrow(o->a, 0, 1, 2));
}

static bool narrowIsRight(const Operands *o) {
    THTensor *t = THTensor_newNarrow(o->a, 0, 1, 2);
    bool right = t && t->size[0] == 2 && t->storage == o->a->storage && data(t) == data(o->a) + 1;
    THTensor_free(t);
    return right;
}

static void retainAndFree(const void *with, int calls) {
    const Operands *o = with;
    for (; calls > 0; calls--) {
        THTensor_retain(o->a);
        THTensor_free(o->a);
    }
}

static bool retainIsRight(const Operands *o) {
    THTensor_retain(o->a);
    bool right = THTensor_refcount(o->a) == 2;
    THTensor_free(o->a);
    return right && THTensor_refcount(o->a) == 1;
}

static void atomicPair(const void *unused, int calls) {
    static int32_t count;
    for (; calls > 0; calls--) {
        __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
        __atomic_fetch_sub(&count, 1, __ATOMIC_ACQ_REL);
    }
    (void)unused;
}

static void cadd(const void *with, int calls) {
    const Operands *o = with;
    for (; calls > 0; calls--) check(THTensor_cadd(o->r, o->a, 1, o->b));
}

static bool caddIsRight(const Operands *o, int threads) {
    check(THSetNumThreads(threads));
    spoil(o->r);
    cadd(o, 1);
    bool right = true;
    for (ptrdiff_t i = 0; i < THTensor_nElement(o->r); i++) right &= data(o->r)[i] == data(o->a)[i] + data(o->b)[i];
    return right;
}

// The least work for adding two vectors: check that both are vectors of one size, then add.
static __attribute__((noinline)) bool addVectors(THTensor *r, const THTensor *a, const THTensor *b) {
    const THTensor *all[3] = {r, a, b};
    for (int i = 0; i < 3; i++) {
        const THTensor *t = all[i];
        if (t->dtype != TH_FLOAT32 || t->nDimension != 1 || t->size[0] != r->size[0] || t->stride[0] != 1) return false;
    }
    float *to = (float *)r->storage->data + r->storageOffset;
    const float *x = (const float *)a->storage->data + a->storageOffset;
    const float *y = (const float *)b->storage->data + b->storageOffset;
    for (int64_t i = 0; i < r->size[0]; i++) to[i] = x[i] + y[i];
    return true;
}

static void addInC(const void *with, int calls) {
    const Operands *o = with;
    for (; calls > 0; calls--) check(addVectors(o->r, o->a, o->b) ? TH_OK : TH_ERR_ARGUMENT);
}

// A call of each kind; `viewGoal` is the most ns for a view.
static void oneCall(const char *when, double viewGoal) {
    static const int one = 1, three = 3;
    char what[4][64];
    static const char *const names[] = {"new 2 x 2 + free", "narrow + free", "retain + free", "cadd, 4 floats"};
    for (int i = 0; i < 4; i++) snprintf(what[i], sizeof what[i], "%s%s", names[i], when);
    Operands o = newOperands(1, 4);
    Runner create[] = {thorn(newAndFree, NULL, 1), limit("malloc, free: 3", mallocAndFree, &three, 1)};
    Runner narrow[] = {thorn(narrowAndFree, &o, 1), limit("malloc, free: 1", mallocAndFree, &one, 1)};
    Runner retain[] = {thorn(retainAndFree, &o, 1), limit("2 atomic adds", atomicPair, NULL, 1)};
    Runner add[] = {thorn(cadd, &o, 1), limit("a checked loop", addInC, &o, 1)};
    row(what[0], newIsRight(), atMost(25), create, 2);
    row(what[1], narrowIsRight(&o), atMost(viewGoal), narrow, 2);
    row(what[2], retainIsRight(&o), atMost(4), retain, 2);
    row(what[3], caddIsRight(&o, 1), atMost(25), add, 2);
    freeOperands(o);
}

// The same calls, with tensors that have no part in gradients, in a program that has used gradients. A view may cost 15 ns more.
static void oneCallBesideGradients(void) {
    THTensor *leaf = newTensor(1, 4), *sum = THTensor_new();
    check(THTensor_setRequiresGrad(leaf, 1));
    check(THTensor_sum(sum, leaf, TH_ALL_DIMS, 0));
    check(THTensor_backward(sum, NULL));
    THTensor_free(sum);
    THTensor_free(leaf);
    oneCall(", after gradients", 40);
}

// Races thorn against simple loops over the same memory.
static void streamRow(const char *what, bool correct, Goal goal, Work *work, const Operands *o, StreamLoop *const *ways,
                      int threads) {
    Stream streams[WAYS];
    Runner runners[1 + WAYS] = {thorn(work, o, threads)};
    for (int w = 0; w < WAYS; w++) {
        streams[w] = (Stream){ways[w], data(o->r), data(o->a), data(o->b), (size_t)THTensor_nElement(o->r), threads};
        runners[1 + w] = limit(wayNames[w], stream, &streams[w], threads);
    }
    row(what, correct, goal, runners, COUNT(runners));
}

static void addition(const char *what, int64_t count, int threads) {
    Operands o = newOperands(1, count);
    streamRow(what, caddIsRight(&o, threads), atLeast(0.9), cadd, &o, loops->add, threads);
    freeOperands(o);
}

static void copy(const void *with, int calls) {
    const Operands *o = with;
    for (; calls > 0; calls--) check(THTensor_copy(o->r, o->a));
}

// Copies `o->a`, the transposed view of `o->b`, and compares.
static bool transposeIsRight(const Operands *o, int threads) {
    check(THSetNumThreads(threads));
    spoil(o->r);
    copy(o, 1);
    bool right = true;
    int64_t n = o->r->size[0];
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) right &= data(o->r)[i * n + j] == data(o->b)[j * n + i];
    }
    return right;
}

static void transposed(int threads) {
    Operands o = newOperands(2, 2048);
    memcpy(data(o.b), data(o.a), sizeof(float) * 2048 * 2048);
    check(THTensor_t(o.a, o.b));
    streamRow("copy, 2048 x 2048 transposed", transposeIsRight(&o, threads), atLeast(0.7), copy, &o, loops->copy,
              threads);
    freeOperands(o);
}

// A field, and the views that a step of the heat equation reads: each inner position, and its neighbours to the
// left and right, above and below.
typedef struct {
    int64_t side;
    THTensor *field, *next, *inner, *views[5], *sum, *scaled;
    THFused *step;
} Heat;

static const float HEAT = 0.1f;

static THTensor *newPart(THTensor *t, int64_t row, int64_t column) {
    int64_t inside = t->size[0] - 2;
    THTensor *rows = THTensor_newNarrow(t, 0, row, inside), *part = THTensor_newNarrow(rows, 1, column, inside);
    THTensor_free(rows);
    return part;
}

static Heat newHeat(int64_t side) {
    Heat h = {.side = side, .field = newTensor(2, side), .next = newTensor(2, side)};
    for (int64_t i = 0; i < side * side; i++) data(h.field)[i] = (float)(i % 1009) / 8;
    static const int at[5][2] = {{1, 1}, {1, 0}, {1, 2}, {0, 1}, {2, 1}};
    for (int k = 0; k < 5; k++) h.views[k] = newPart(h.field, at[k][0], at[k][1]);
    h.inner = newPart(h.next, 1, 1);
    h.step = THFused_new("u + 0.1*(l + r + t + b - 4*u)");
    h.sum = THTensor_new();
    h.scaled = THTensor_new();
    return h;
}

static void freeHeat(Heat h) {
    THFused_free(h.step);
    for (int k = 0; k < 5; k++) THTensor_free(h.views[k]);
    THTensor *others[] = {h.field, h.next, h.inner, h.sum, h.scaled};
    for (int k = 0; k < COUNT(others); k++) THTensor_free(others[k]);
}

static void heatFused(const void *with, int calls) {
    const Heat *h = with;
    for (; calls > 0; calls--) check(THFused_run(h->inner, h->step, h->views, 5));
}

static void heatUnfused(const void *with, int calls) {
    const Heat *h = with;
    for (; calls > 0; calls--) {
        check(THTensor_cadd(h->sum, h->views[1], 1, h->views[2]));
        check(THTensor_cadd(h->sum, h->sum, 1, h->views[3]));
        check(THTensor_cadd(h->sum, h->sum, 1, h->views[4]));
        check(THTensor_mul(h->scaled, h->views[0], 4));
        check(THTensor_csub(h->sum, h->sum, 1, h->scaled));
        check(THTensor_mul(h->sum, h->sum, 0.1));
        check(THTensor_cadd(h->inner, h->views[0], 1, h->sum));
    }
}

__attribute__((target_clones("avx512f", "avx2", "default"))) static void heatLoop(float *restrict r, const float *restrict u,
                                                                                  int64_t side) {
    for (int64_t i = side; i < side * (side - 1); i += side) {
        for (int64_t p = i + 1; p < i + side - 1; p++)
            r[p] = u[p] + HEAT * (u[p - 1] + u[p + 1] + u[p - side] + u[p + side] - 4 * u[p]);
    }
}

static void heatInC(const void *with, int calls) {
    const Heat *h = with;
    for (; calls > 0; calls--) heatLoop(data(h->next), data(h->field), h->side);
}

static bool heatIsRight(const Heat *h) {
    check(THSetNumThreads(1));
    THTensor *expected = newTensor(2, h->side);
    heatLoop(data(expected), data(h->field), h->side);
    THTensor *inner = newPart(expected, 1, 1);
    spoil(h->next);
    heatFused(h, 1);
    bool right = THTensor_allclose(h->inner, inner, 1e-5, 1e-5, 0) == 1;
    THTensor_free(inner);
    THTensor_free(expected);
    return right;
}

static void heat(const char *beside, const char *unfused, int64_t side) {
    Heat h = newHeat(side);
    Runner loop[] = {thorn(heatFused, &h, 1), limit("a loop in C", heatInC, &h, 1)};
    Runner calls[] = {thorn(heatFused, &h, 1), thorn(heatUnfused, &h, 1)};
    calls[1].name = "7 calls";
    bool right = heatIsRight(&h);
    row(beside, right, atLeast(1 / 1.3), loop, COUNT(loop));
    row(unfused, right, atLeast(2.5), calls, COUNT(calls));
    freeHeat(h);
}

typedef struct {
    Operands o;
    THFused *f;
} Product;

static void tanhFused(const void *with, int calls) {
    const Product *p = with;
    for (; calls > 0; calls--) check(THFused_run(p->o.r, p->f, (THTensor *[]){p->o.a, p->o.b, p->o.a}, 3));
}

static void tanhUnfused(const void *with, int calls) {
    const Product *p = with;
    for (; calls > 0; calls--) {
        check(THTensor_cmul(p->o.r, p->o.a, p->o.b));
        check(THTensor_cadd(p->o.r, p->o.r, 1, p->o.a));
        check(THTensor_tanh(p->o.r, p->o.r));
    }
}

static void fusedTanh(const char *what, int64_t count) {
    Product p = {newOperands(1, count), THFused_new("tanh(a*b + c)")};
    check(THTensor_mul(p.o.a, p.o.a, 1e-6));
    Runner calls[] = {thorn(tanhFused, &p, 1), thorn(tanhUnfused, &p, 1)};
    calls[1].name = "3 calls";
    tanhFused(&p, 1);
    THTensor *expected = THTensor_newClone(p.o.r);
    tanhUnfused(&p, 1);
    row(what, THTensor_equal(expected, p.o.r) == 1, noGoal, calls, COUNT(calls));
    THTensor_free(expected);
    THFused_free(p.f);
    freeOperands(p.o);
}

// Finds the size from which two threads help.
static void speedUp(const char *what, int64_t count) {
    Operands o = newOperands(1, count);
    Runner runners[] = {thorn(cadd, &o, 2), thorn(cadd, &o, 1)};
    runners[1].name = "1 thread";
    row(what, caddIsRight(&o, 2), noGoal, runners, COUNT(runners));
    freeOperands(o);
}

enum { FRESH_BYTES = 16 << 20, PAGE_BYTES = 4096 };

static THTensor *newFilled(void) {
    const int64_t size = FRESH_BYTES / sizeof(float);
    THTensor *t = THTensor_newFull(TH_FLOAT32, 1, &size, 3);
    check(t ? TH_OK : THGetLastErrorCode());
    return t;
}

static void fillFresh(const void *unused, int calls) {
    for (; calls > 0; calls--) THTensor_free(newFilled());
    (void)unused;
}

static bool fillIsRight(void) {
    THTensor *t = newFilled();
    bool right = THTensor_nElement(t) == FRESH_BYTES / sizeof(float);
    for (ptrdiff_t i = 0; i < THTensor_nElement(t); i++) right &= data(t)[i] == 3;
    THTensor_free(t);
    return right;
}

// The cost of fresh memory from malloc: one byte is written to each page.
static void touchFresh(const void *unused, int calls) {
    for (; calls > 0; calls--) {
        volatile char *block = malloc(FRESH_BYTES);
        if (!block) abort();
        for (size_t i = 0; i < FRESH_BYTES; i += PAGE_BYTES) block[i] = 1;
        free((void *)block);
    }
    (void)unused;
}

static void fresh(void) {
    Runner runners[] = {thorn(fillFresh, NULL, 1), limit("malloc, touch, free", touchFresh, NULL, 1)};
    row("new filled, 16 MiB + free", fillIsRight(), atLeast(5), runners, COUNT(runners));
    if (runners->kept > 0) countRow("  page faults meanwhile", runners->faults);
}

typedef struct {
    int64_t live, cached;
    long resident;
} Held;

static Held held(void) {
    THMemoryStats stats;
    check(THMemory_stats(&stats));
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return (Held){stats.live_bytes, stats.cached_bytes, pages * sysconf(_SC_PAGESIZE)};
}

static void createViewFree(int cycles) {
    for (int i = 0; i < cycles; i++) {
        THTensor *t = newTensor(2, 2 + i % 50), *narrow = THTensor_newNarrow(t, 0, 1, 1);
        THTensor *transposed = THTensor_newT(narrow), *row = THTensor_newSelect(transposed, 1, 0);
        check(row ? TH_OK : THGetLastErrorCode());
        THTensor_free(t);
        THTensor_free(transposed);
        THTensor_free(row);
        THTensor_free(narrow);
    }
}

static void growth(void) {
    if (!wanted("bytes grown in 1e6 cycles")) return;
    held();
    createViewFree(10000);
    Held before = held();
    createViewFree(1000000);
    Held after = held();
    countRow("bytes grown in 1e6 cycles: live", (long)(after.live - before.live));
    countRow("bytes grown in 1e6 cycles: cached", (long)(after.cached - before.cached));
    countRow("bytes grown in 1e6 cycles: resident", after.resident - before.resident);
}

static void mm(const void *with, int calls) {
    const Operands *o = with;
    for (; calls > 0; calls--) check(THTensor_mm(o->r, o->a, o->b));
}

// Integers of 12 and 2 bits: their products and the sums of the products are exact in float32, but not in any shorter
// format.
static Operands newFactors(int64_t n) {
    Operands o = newOperands(2, n);
    uint32_t state = 1;
    for (int64_t i = 0; i < n * n; i++) {
        state = state * 1664525 + 1013904223;
        data(o.a)[i] = (float)(state >> 20) - 2048;
        data(o.b)[i] = (float)(state >> 10 & 3) - 1;
    }
    return o;
}

static void naiveProduct(double *r, const float *a, const float *b, int64_t n) {
    memset(r, 0, sizeof *r * (size_t)(n * n));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < n; k++) {
            for (int64_t j = 0; j < n; j++) r[i * n + j] += (double)a[i * n + k] * b[k * n + j];
        }
    }
}

static bool mmIsRight(const Operands *o, const double *expected, int threads) {
    check(THSetNumThreads(threads));
    spoil(o->r);
    mm(o, 1);
    bool right = true;
    for (ptrdiff_t i = 0; i < THTensor_nElement(o->r); i++) right &= (double)data(o->r)[i] == expected[i];
    return right;
}

static void product(const char *what, int64_t n, Goal goal, int maxThreads) {
    Operands o = newFactors(n);
    double *expected = malloc(sizeof *expected * (size_t)(n * n));
    if (!expected) abort();
    naiveProduct(expected, data(o.a), data(o.b), n);
    // The clock falls by a sixth during a product, and rises again if only FMA runs for some milliseconds.
    const int64_t slice = 256;
    int slices = n > slice ? (int)((n * n * n) / (slice * slice * slice)) : 1;
    for (int threads = 1; threads <= maxThreads; threads++) {
        Arithmetic peak = {loops->fma, (size_t)(2 * n * n * n / slices), threads};
        Runner runners[] = {thorn(mm, &o, threads), limit("FMA alone", arithmetic, &peak, threads)};
        runners[1].slices = slices;
        row(what, mmIsRight(&o, expected, threads), goal, runners, COUNT(runners));
    }
    free(expected);
    freeOperands(o);
}

static void printMachine(void) {
    printf("thorn %s, kernels for %s; this program: compiler %s, loops for %s\n", THVersion(), THSimdLevel(),
           __VERSION__, loops->name);
    printf("%s, %d cores", lineOf("/proc/cpuinfo", "model name"), THGetNumCores());
    printf(", L2 %ld KiB, L3 %ld MiB", sysconf(_SC_LEVEL2_CACHE_SIZE) >> 10, sysconf(_SC_LEVEL3_CACHE_SIZE) >> 20);
    printf(", huge pages %s\n\n", lineOf("/sys/kernel/mm/transparent_hugepage/enabled", ""));
    printf("%-36s %2s %10s %10s   %-20s %10s %6s   %-8s\n", "what", "T", "best", "median", "against", "best", "ratio",
           "goal");
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            secondsPerRow = 0.4;
        else
            word = argv[i];
    }
    // Otherwise malloc would learn to keep blocks of 16 MiB, and their pages.
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    loops = bestLoops();
    int maxThreads = findCores();
    printMachine();

    growth();
    oneCall("", 25);
    for (int threads = 1; threads <= maxThreads; threads++) {
        addition("cadd, 1e6 floats", 1000000, threads);
        addition("cadd, 1e7 floats", 10000000, threads);
        transposed(threads);
    }
    if (maxThreads == 2) {
        speedUp("cadd, 16 k floats", 16 << 10);
        speedUp("cadd, 32 k floats", 32 << 10);
        speedUp("cadd, 64 k floats", 64 << 10);
        speedUp("cadd, 256 k floats", 256 << 10);
    }
    heat("fused heat, 512 x 512", "fused heat, 512, beside calls", 512);
    heat("fused heat, 1024 x 1024", "fused heat, 1024, beside calls", 1024);
    heat("fused heat, 2048 x 2048", "fused heat, 2048, beside calls", 2048);
    fusedTanh("fused tanh(a*b + c), 1e5 floats", 100000);
    fusedTanh("fused tanh(a*b + c), 4e6 floats", 4000000);
    fresh();
    product("mm, 64 x 64", 64, noGoal, maxThreads);
    product("mm, 256 x 256", 256, atLeast(0.9), maxThreads);
    product("mm, 1024 x 1024", 1024, atLeast(0.9), maxThreads);
    oneCallBesideGradients();

    printf("\n%d goals missed, %d rows too noisy to tell, %d results wrong\n", missed, noisy, wrong);
    return wrong ? 1 : 0;
}
