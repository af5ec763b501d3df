/* Shared parts of random sequences of calls: random arguments, pools of handles, and checks of what must hold after
 * every call. */
#ifndef THORN_SEQUENCES_RUNTIME_H
#define THORN_SEQUENCES_RUNTIME_H

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "thorn.h"

#define LENGTH(array) ((int)(sizeof(array) / sizeof *(array)))

/* ---- failures ---- */

static const char *current_function = "(none)";
static int current_call;
/* The number of calls of each function, and the number of successful calls. All child processes add to both. */
static long (*counts)[2];
static long current_sequence;
static bool tracing;

static void say_where(void) {
    char text[200];
    int n = snprintf(text, sizeof text, "in sequence %ld, %s\n", current_sequence, current_function);
    if (write(STDERR_FILENO, text, (size_t)n) < 0) _exit(3);
}

static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("FAILED: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    say_where();
    va_end(arguments);
    _exit(1);
}

static void on_signal(int number) {
    static const char hang[] = "FAILED: a call takes longer than 10 s\n", crash[] = "FAILED: a crash\n";
    const char *text = number == SIGALRM ? hang : crash;
    if (write(STDERR_FILENO, text, strlen(text)) < 0) _exit(3);
    say_where();
    signal(number, SIG_DFL);
    raise(number);
}

/* From AddressSanitizer, if it is linked. */
extern void __asan_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void watch(void) {
    static const int signals[] = {SIGALRM, SIGABRT, SIGFPE, SIGBUS, SIGILL};
    for (int i = 0; i < LENGTH(signals); i++) signal(signals[i], on_signal);
    if (__asan_set_death_callback)
        __asan_set_death_callback(say_where);
    else
        signal(SIGSEGV, on_signal);
}

static void trace(const char *format, ...) {
    va_list arguments;
    if (!tracing) return;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}

/* ---- random numbers ---- */

static uint64_t random_state;

/* splitmix64 */
static uint64_t bits(void) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int below(int n) { return (int)(bits() % (uint64_t)n); }

static bool chance(int percent) { return below(100) < percent; }

/* ---- pools ---- */

enum { TENSORS = 24, STORAGES = 8, SPARSE = 12, OTHERS = 4, MOST_ELEMENTS = 2048, BLOCK = 512, MOST_DIGITS = 20 };

/* Each slot that is not NULL owns one reference. */
static struct {
    THTensor *tensor[TENSORS];
    THStorage *storage[STORAGES];
    THSTensor *sparse[SPARSE];
    THGenerator *generator[OTHERS];
    THMapAllocatorContext *context[OTHERS];
    THArchive *archive[OTHERS];
    THFused *fused[OTHERS];
    THOptim *optim[OTHERS];
    THProgram *program[OTHERS];
    void *block[OTHERS]; /* BLOCK bytes each */
} pool;

static int blobs_made, blobs_deleted;

/* The number of blocks that the program's allocator has returned and not yet freed. */
static int own_blocks;

/* Handles removed from a slot are freed before the next call, because they may be arguments of this call. */
enum { MOST_GONE = 1024 };
static THTensor *gone_tensors[MOST_GONE];
static THStorage *gone_storages[MOST_GONE];
static THSTensor *gone_sparse[MOST_GONE];
static int gone_tensors_count, gone_storages_count, gone_sparse_count;

/* The sparse tensor that was drawn last. Dense arguments are drawn to fit it. */
static const THSTensor *last_sparse;

static void give_up_the_gone(void) {
    while (gone_tensors_count) THTensor_free(gone_tensors[--gone_tensors_count]);
    while (gone_storages_count) THStorage_free(gone_storages[--gone_storages_count]);
    while (gone_sparse_count) THSTensor_free(gone_sparse[--gone_sparse_count]);
}

static void put_tensor(THTensor **slot, THTensor *t) {
    if (*slot && gone_tensors_count < MOST_GONE) gone_tensors[gone_tensors_count++] = *slot;
    *slot = t;
}

static void put_storage(THStorage **slot, THStorage *s) {
    if (*slot && gone_storages_count < MOST_GONE) gone_storages[gone_storages_count++] = *slot;
    *slot = s;
}

static void keep_tensor(THTensor *t) {
    if (t) put_tensor(&pool.tensor[below(TENSORS)], t);
}

static void keep_storage(THStorage *s) {
    if (s) put_storage(&pool.storage[below(STORAGES)], s);
}

static void keep_generator(THGenerator *g) {
    if (!g) return;
    THGenerator **slot = &pool.generator[below(OTHERS)];
    THGenerator_free(*slot);
    *slot = g;
}

static void keep_context(THMapAllocatorContext *c) {
    if (!c) return;
    THMapAllocatorContext **slot = &pool.context[below(OTHERS)];
    if (*slot) THMapAllocatorContext_free(*slot);
    *slot = c;
}

static void keep_archive(THArchive *a) {
    if (!a) return;
    THArchive **slot = &pool.archive[below(OTHERS)];
    THArchive_free(*slot);
    *slot = a;
}

static void keep_fused(THFused *f) {
    if (!f) return;
    THFused **slot = &pool.fused[below(OTHERS)];
    THFused_free(*slot);
    *slot = f;
}

static void keep_optim(THOptim *o) {
    if (!o) return;
    THOptim **slot = &pool.optim[below(OTHERS)];
    THOptim_free(*slot);
    *slot = o;
}

/* Takes a handle with its reference out of the pool; NULL if the slot is empty. */
static void *take(void *slots, int n) {
    void **slot = (void **)slots + below(n);
    void *taken = *slot;
    *slot = NULL;
    return taken;
}

/* ---- a failed call changes nothing ---- */

enum { MOST_TOUCHED = 16 };

struct look {
    const THTensor *tensor; /* one of these three is set */
    THStorage *storage;
    const THSTensor *sparse;
    uint64_t sum;
};

static struct look touched[MOST_TOUCHED];
static int touched_count;

static uint64_t mix(uint64_t sum, const void *data, size_t n) {
    const unsigned char *bytes = data;
    for (size_t i = 0; i < n; i++) sum = (sum ^ bytes[i]) * 0x100000001b3u;
    return sum;
}

static uint64_t sum_of_storage(const THStorage *s) {
    uint64_t sum = mix(17, s, sizeof *s);
    size_t size = s->dtype ? (size_t)s->size * THDtype_size(s->dtype) : 0;
    return s->data ? mix(sum, s->data, size < 1 << 16 ? size : 1 << 16) : sum;
}

static uint64_t sum_of_tensor(const THTensor *t) {
    uint64_t sum = mix(19, t, sizeof *t);
    sum = mix(sum, t->size, (size_t)t->nDimension * sizeof *t->size);
    sum = mix(sum, t->stride, (size_t)t->nDimension * sizeof *t->stride);
    return t->storage ? sum ^ sum_of_storage(t->storage) : sum;
}

/* Returns the number of sizes; 0 if the fields are inconsistent. */
static int sparse_rank(const THSTensor *s) {
    int ndim = THSTensor_nDimension(s);
    return ndim < 0 ? 0 : ndim;
}

static uint64_t sum_of_sparse(const THSTensor *s) {
    const THTensor *parts[] = {s->indices, s->values, s->crow, s->col};
    uint64_t sum = mix(23, s, sizeof *s);
    sum = mix(sum, s->size, (size_t)sparse_rank(s) * sizeof *s->size);
    for (int i = 0; i < LENGTH(parts); i++) sum = parts[i] ? sum * 31 + sum_of_tensor(parts[i]) : sum;
    return sum;
}

static uint64_t sum_of(const struct look *look) {
    if (look->sparse) return sum_of_sparse(look->sparse);
    return look->tensor ? sum_of_tensor(look->tensor) : sum_of_storage(look->storage);
}

static void touch(const THTensor *t, THStorage *s) {
    if ((t || s) && touched_count < MOST_TOUCHED) {
        struct look *look = &touched[touched_count++];
        look->tensor = t;
        look->storage = s;
        look->sparse = NULL;
    }
}

/* ---- arguments ---- */

static THTensor *tensor(const char *name) {
    THTensor *t = chance(4) ? NULL : pool.tensor[below(TENSORS)];
    if (chance(10)) {
        t = THTensor_new();
        keep_tensor(t);
    }
    trace("%s=tensor %p", name, (void *)t);
    if (t) {
        trace("(dtype %d, [", t->dtype);
        for (int d = 0; d < t->nDimension; d++) trace("%lld/%lld ", (long long)t->size[d], (long long)t->stride[d]);
        trace("] +%lld of %lld) ", (long long)t->storageOffset, t->storage ? (long long)t->storage->size : -1);
    }
    touch(t, NULL);
    return t;
}

/* Returns a storage of the pool, or the storage of a tensor, to which the sequence holds no reference. */
static THStorage *storage(const char *name) {
    const THTensor *t = pool.tensor[below(TENSORS)];
    THStorage *s = chance(4) ? NULL : chance(50) && t ? t->storage : pool.storage[below(STORAGES)];
    trace("%s=storage %p(%lld of dtype %d) ", name, (void *)s, s ? (long long)s->size : -1, s ? s->dtype : -1);
    touch(NULL, s);
    return s;
}

static THGenerator *generator(const char *name) {
    trace("%s=generator ", name);
    return pool.generator[below(OTHERS)];
}

static THMapAllocatorContext *context(const char *name) {
    trace("%s=context ", name);
    return pool.context[below(OTHERS)];
}

static THArchive *archive(const char *name) {
    trace("%s=archive ", name);
    return pool.archive[below(OTHERS)];
}

static THFused *fused(const char *name) {
    trace("%s=fused ", name);
    return pool.fused[below(OTHERS)];
}

static THOptim *optim(const char *name) {
    trace("%s=optim ", name);
    return pool.optim[below(OTHERS)];
}

/* Most sequences have no program, because opening one takes longer than all calls of a sequence. */
static THProgram *program(const char *name) {
    THProgram *p = NULL;
    for (int k = 0; k < OTHERS && !p && !chance(4); k++) p = pool.program[(below(OTHERS) + k) % OTHERS];
    trace("%s=program %p ", name, (void *)p);
    return p;
}

/* Huge sizes exceed the memory of any machine, because filling a size that fits would take minutes. */
static int64_t whole(const char *name) {
    static const int64_t huge[] = {(int64_t)1 << 40, (int64_t)1 << 53,   ((int64_t)1 << 59) + 1, (int64_t)1 << 60,
                                   (int64_t)1 << 62, INT64_MAX,          INT64_MAX - 1,          INT64_MIN,
                                   INT64_MIN + 1,    -((int64_t)1 << 40)};
    static const int64_t medium[] = {17, 31, 64, 100, 128};
    int64_t x = chance(8)    ? huge[below(LENGTH(huge))]
                : chance(4)  ? medium[below(LENGTH(medium))]
                : chance(12) ? -1 - below(4)
                             : below(6);
    trace("%s=%lld ", name, (long long)x);
    return x;
}

static int dimension(const char *name) {
    static const int wild[] = {TH_ALL_DIMS, INT_MAX, INT_MIN + 1, 64, -64, 5, -6};
    int d = chance(12) ? wild[below(LENGTH(wild))] : below(8) - 4;
    trace("%s=%d ", name, d);
    return d;
}

static int truth(const char *name) {
    static const int values[] = {0, 1, 0, 1, -1, INT_MAX};
    int x = values[below(LENGTH(values))];
    trace("%s=%d ", name, x);
    return x;
}

/* Returns a code of a small enumeration, or an invalid code. */
static int code(const char *name, int most) {
    int x = chance(6) ? (chance(50) ? -1 : INT_MAX) : below(most + 2);
    trace("%s=%d ", name, x);
    return x;
}

static double number(const char *name) {
    static const double values[] = {0,
                                    1,
                                    -1,
                                    2,
                                    0.5,
                                    -0.0,
                                    3,
                                    -2.5,
                                    100,
                                    INFINITY,
                                    -INFINITY,
                                    NAN,
                                    1e300,
                                    -1e300,
                                    1e-320,
                                    0.1,
                                    9007199254740993.0,
                                    -9223372036854775808.0,
                                    18446744073709551616.0};
    double x = values[below(LENGTH(values))];
    trace("%s=%g ", name, x);
    return x;
}

/* Returns NULL for the defaults, or options in which sometimes one value is invalid. */
static const THPrintOptions *print_options(const char *name) {
    static THPrintOptions options;
    THPrintOptions_init(&options);
    trace("%s=options ", name);
    if (chance(40)) return NULL;
    if (chance(50)) options.layout = TH_PRINT_TORCH7;
    if (chance(30)) options.precision = chance(20) ? 1000 : (int32_t)whole("precision");
    if (chance(30)) options.threshold = whole("threshold");
    if (chance(30)) options.edgeItems = whole("edgeItems");
    if (chance(30)) options.lineWidth = whole("lineWidth");
    if (chance(30)) options.sciMode = code("sciMode", 0);
    if (chance(4)) options.layout = code("layout", 1);
    return &options;
}

/* Returns an end or a step of a sequence: few numbers, or more than memory holds. */
static double bound(const char *name) {
    static const double values[] = {0, 1, -1, 2.5, 10, -7, 100, 0.25, INFINITY, NAN, 1e300, -1e300, 1e-300, 4e18};
    double x = values[below(LENGTH(values))];
    trace("%s=%g ", name, x);
    return x;
}

enum { MOST_LISTS = 8 };
static void *lists[MOST_LISTS];
static int lists_count;

/* Returns a block of exactly this size, which is freed after the call; NULL if there is no block. */
static void *exactly(size_t size) {
    void *list = size ? malloc(size) : NULL;
    lists[lists_count++] = list;
    return list;
}

/* Returns the number of entries of a list. For an invalid number there is no list, and only NULL can be passed. */
static int entries(const char *name) {
    static const int wild[] = {-1, -2, INT_MAX, INT_MIN, 64, 65, 70, 600};
    int n = chance(6) ? wild[below(LENGTH(wild))] : below(5);
    trace("%s=%d ", name, n);
    return n;
}

static int64_t *list(const char *name, int n) {
    if (n > 1000 || chance(3)) n = 0;
    trace("%s=[", name);
    int64_t *entries = exactly(n > 0 ? (size_t)n * sizeof *entries : 0);
    for (int i = 0; i < n; i++) entries[i] = n > 10 ? below(2) : whole("");
    trace("] ");
    return entries;
}

static THTensor **handles(const char *name, int n) {
    if (n > 1000 || chance(3)) n = 0;
    trace("%s={", name);
    THTensor **entries = exactly(n > 0 ? (size_t)n * sizeof *entries : 0);
    for (int i = 0; i < n; i++) entries[i] = n > 10 && chance(95) ? pool.tensor[i % TENSORS] : tensor("");
    trace("} ");
    return entries;
}

/* ---- arguments that fit each other ---- */

/* The dtype of all tensors of a call, if the arguments are to fit each other. */
static THDtype fitting_dtype;

/* Chooses the dtype, and returns true if the arguments of a call are to fit each other. */
static bool fitting(void) {
    fitting_dtype = chance(60) ? (chance(50) ? TH_FLOAT32 : TH_FLOAT64) : (THDtype)(1 + below(9));
    return chance(60);
}

/* Returns small numbers of these sizes. `kind` asks for a dominant diagonal, or int64 positions or ones. */
static THTensor *fitting_tensor(const char *name, char kind, int rank, const int64_t *size) {
    bool whole = kind == '@' || kind == '#';
    bool turned = rank >= 2 && chance(20);
    int64_t turned_size[5];
    for (int d = 0; d < rank; d++) turned_size[d] = size[d];
    if (turned) {
        turned_size[0] = size[1];
        turned_size[1] = size[0];
    }
    THTensor *t = THTensor_newZeros(whole ? TH_INT64 : fitting_dtype, rank, turned_size);
    if (!t) fail("no memory: %s", THGetLastError());
    for (ptrdiff_t i = 0; t->storage && i < t->storage->size; i++) {
        bool diagonal = kind == '+' && rank == 2 && i / size[1] == i % size[1];
        THStorage_set(t->storage, i, kind == '@' ? below(4) : kind == '#' ? 1 : diagonal ? 9 : below(3));
    }
    if (turned) {
        THTensor *view = THTensor_newTranspose(t, 0, 1);
        if (!view) fail("no memory: %s", THGetLastError());
        THTensor_free(t);
        t = view;
    }
    keep_tensor(t);
    trace("%s=fitting tensor %p(dtype %d, [", name, (void *)t, t->dtype);
    for (int d = 0; d < rank; d++) trace("%lld ", (long long)size[d]);
    trace("]) ");
    touch(t, NULL);
    return t;
}

static int64_t *these(const char *name, int n, const int64_t *numbers) {
    trace("%s=[", name);
    int64_t *list = exactly((size_t)n * sizeof *list);
    for (int i = 0; i < n; i++) trace("%lld ", (long long)(list[i] = numbers[i]));
    trace("] ");
    return list;
}

/* Returns numbers from `least` to `most`. */
static int64_t *few(const char *name, int n, int least, int most) {
    int64_t numbers[4];
    for (int i = 0; i < n; i++) numbers[i] = least + below(most - least + 1);
    return these(name, n, numbers);
}

static THTensor **fitting_tensors(const char *name, int n, THTensor *const *tensors) {
    trace("%s={%d} ", name, n);
    THTensor **list = exactly((size_t)n * sizeof *list);
    for (int i = 0; i < n; i++) list[i] = tensors[i];
    return list;
}

static const char *one_of(const char *name, const char *const *words, int n) {
    const char *word = words[below(n)];
    trace("%s=%s ", name, word ? word : "NULL");
    return word;
}

/* ---- calls ---- */

/* Frees handles that have become too large. A view may have many more elements than its storage. */
static void tidy(void) {
    for (int i = 0; i < TENSORS; i++) {
        THTensor *t = pool.tensor[i];
        if (t && (t->storage || t->nDimension) && THTensor_numel(t) > MOST_ELEMENTS) {
            put_tensor(&pool.tensor[i], NULL);
        }
    }
    for (int i = 0; i < STORAGES; i++) {
        THStorage *s = pool.storage[i];
        if (s && s->size > 64 * MOST_ELEMENTS) {
            put_storage(&pool.storage[i], NULL);
        }
    }
}

static void begin(const char *function) {
    tidy();
    give_up_the_gone();
    last_sparse = pool.sparse[below(SPARSE)];
    current_function = function;
    touched_count = 0;
    lists_count = 0;
    trace("%s( ", function);
}

static void before(void) {
    trace(")\n");
    for (int i = 0; i < touched_count; i++) touched[i].sum = sum_of(&touched[i]);
    THClearLastError();
    alarm(10);
}

static void after_call(bool may_have_changed) {
    alarm(0);
    THStatus status = THGetLastErrorCode();
    const char *message = THGetLastError();
    size_t length = strlen(current_function);
    trace("    -> %d %s\n", status, message);
    counts[current_call][0]++;
    if (status == TH_OK) counts[current_call][1]++;
    if (status != TH_OK) {
        if (strncmp(message, current_function, length) != 0 || strncmp(message + length, ": ", 2) != 0 ||
            strlen(message) < length + 6)
            fail("status %d, message \"%s\"", status, message);
        if (status == TH_ERR_INTERNAL) fail("%s", message);
        size_t digits = 0;
        for (const char *c = message; *c != 0 && digits <= MOST_DIGITS; c++) digits = isdigit((unsigned char)*c) ? digits + 1 : 0;
        if (digits > MOST_DIGITS) fail("a number of more than %d digits in \"%s\"", MOST_DIGITS, message);
        for (int i = 0; i < touched_count && !may_have_changed; i++)
            if (touched[i].sum != sum_of(&touched[i]))
                fail("argument %d changed although the call failed: %s", i, message);
    } else if (message[0] != '\0') {
        fail("no status, but the message \"%s\"", message);
    }
    for (int i = 0; i < lists_count; i++) free(lists[i]);
    lists_count = 0;
}

static void after(void) { after_call(false); }

static void after_status(THStatus got) {
    if (got != THGetLastErrorCode()) fail("returned %d, but THGetLastErrorCode is %d", got, THGetLastErrorCode());
    after();
}

static void read_text(const char *text) {
    if (text && strlen(text) > 1000000) fail("a text without end");
}

static void free_text(char *text) {
    if (text && strlen(text) > 100000000) fail("a text without end");
    THFree(text);
}

/* ---- handles ---- */

/* A tensor of small numbers in some layout. */
static THTensor *some_tensor(void) {
    int64_t size[4];
    int rank = below(4);
    for (int d = 0; d < rank; d++) size[d] = chance(8) ? 0 : 1 + below(5);
    THTensor *t = THTensor_newZeros(1 + below(10), rank, size);
    if (!t) fail("no memory: %s", THGetLastError());
    THStorage *s = t->storage;
    for (ptrdiff_t i = 0; s && i < s->size; i++) THStorage_set(s, i, chance(3) ? 100 : below(9) - (chance(30) ? 4 : 0));
    THTensor *view = rank >= 2 && chance(40) ? THTensor_newTranspose(t, 0, 1)
                     : rank && chance(30)    ? THTensor_newNarrow(t, 0, 0, size[0] / 2)
                                             : NULL;
    if (!view) return t;
    THTensor_free(t);
    return view;
}

/* Returns an optimizer of one float tensor of the pool, if there is one. */
static THOptim *some_optim(int k) {
    THTensor **params = &pool.tensor[below(TENSORS)];
    switch (k % 4) {
    case 0: return THOptim_newSgd(params, 1, 0.1, 0.9, 0, 0.1, 1);
    case 1: return THOptim_newAdam(params, 1, 0.1, 0.9, 0.99, 1e-8, 0.1, 1);
    case 2: return THOptim_newRmsprop(params, 1, 0.1, 0.9, 1e-8, 0.1, 0.9, 1);
    default: return THOptim_newLbfgs(params, 1, 0.1, 2, 3, 1e-7, 1e-9, 1);
    }
}

#endif
