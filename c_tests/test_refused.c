/* Memory is refused to starting threads, to lists as long as the caller says, to plans of Fourier transforms, and to
 * the header of a mapping. No refusal ends the process, and the same call succeeds with memory. */
#define _GNU_SOURCE
#include "check.h"
#include "refuse.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 40, DIMS = 600 };

/* Threads */

static bool sums_right(const THTensor *t) { return THTensor_sumall(t) == 1 << 20; }

/* Ends a child by becoming another program, because memory checkers would report the memory of its parent's threads as
 * leaks. */
static void leave(bool right) {
    memory.refusing = false;
    execlp(right ? "true" : "false", "child", (char *)NULL);
    _exit(2);
}

/* Runs sums in a child while threads start with one allocation, or all from it on, refused. Returns the child's status:
 * 0 if the sums are right. A process starts its threads only once. */
static int status_of_child(const THTensor *t, long first, long last) {
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        refuse(first, last);
        bool right = sums_right(t) && THSetNumThreads(5) == TH_OK && sums_right(t);
        pid_t grandchild = fork();
        if (grandchild == 0) leave(THSetNumThreads(3) == TH_OK && sums_right(t));
        int status = -1;
        right = right && waitpid(grandchild, &status, 0) == grandchild && status == 0;
        memory.refusing = false;
        leave(right && THSetNumThreads(3) == TH_OK && sums_right(t));
    }
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

static void threads_that_cannot_start_are_done_without(void) {
    if (under_emulator()) return;
    THTensor *t = THTensor_newOnes(TH_FLOAT32, SIZES(1 << 20));
    CHECK_OK(THSetNumThreads(2));
    for (long n = 0; n < 12; n++) {
        CHECK_EQ(status_of_child(t, n, n), 0);
        CHECK_EQ(status_of_child(t, n, FOR_GOOD), 0);
    }
    /* Repeats the test in a process whose threads have started. */
    CHECK(sums_right(t));
    CHECK_EQ(status_of_child(t, 0, FOR_GOOD), 0);
    THTensor_free(t);
}

/* A thread of the program that uses the library for the first time, without memory. */
static void *use_without_memory(void *t) {
    const char *clean = THGetLastError();
    bool right = strcmp(clean, "") == 0 && THTensor_get1d(t, 0) == 1;
    right = right && THTensor_newClone(t) == NULL && THGetLastErrorCode() == TH_ERR_NOMEM;
    right = right && THGetLastError() != NULL && strstr(THGetLastError(), "memory") != NULL;
    return right ? NULL : "wrong";
}

static void *start_without_memory(void *t) {
    refuse(0, FOR_GOOD);
    void *wrong = use_without_memory(t);
    return was_refused() && !wrong ? NULL : "wrong";
}

static void threads_of_the_caller_may_start_without_memory(void) {
    THTensor *t = THTensor_newOnes(TH_FLOAT64, SIZES(100000));
    CHECK_OK(THSetNumThreads(1));
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        void *wrong = "not run";
        CHECK_EQ(pthread_create(&thread, NULL, start_without_memory, t), 0);
        CHECK_EQ(pthread_join(thread, &wrong), 0);
        CHECK(wrong == NULL);
    }
    THTensor_free(t);
}

/* Lists */

static THTensor *many[COUNT], *results[COUNT], *deep;
static int64_t ones[DIMS];
static char name[9000];

static THStatus expand(void) { return THTensor_expandNd(results, many, COUNT); }
static THStatus grid(void) { return THTensor_meshgrid(results, many, COUNT, "ij"); }
static THStatus list_of_handles(void) {
    static THTensor *list[2000];
    for (int i = 0; i < 2000; i++) list[i] = many[0];
    return THTensor_cartesianProd(results[0], list, 2000);
}
static THStatus reshape(void) {
    THTensor *t = THTensor_newReshape(deep, DIMS, ones);
    THTensor_free(t);
    return t ? TH_OK : THGetLastErrorCode();
}
static THStatus add(void) { return THTensor_cadd(results[0], deep, 1, deep); }
static THStatus sum(void) { return THTensor_sum(results[0], deep, 3, 1); }
static THStatus median(void) { return THTensor_median(results[0], results[1], deep, 5, 0); }
static THStatus copy(void) {
    THTensor *t = THTensor_newTranspose(deep, 1, 500);
    THStatus status = t ? THTensor_copy(results[0], t) : THGetLastErrorCode();
    THTensor_free(t);
    return status;
}
static THStatus wrong_shape(void) { return THTensor_mm(results[0], deep, deep); }
static THStatus split(void) {
    THTensor *pieces[DIMS];
    int count = DIMS;
    THStatus status = THTensor_unbind(pieces, &count, many[1], 0);
    for (int i = 0; status == TH_OK && i < count; i++) THTensor_free(pieces[i]);
    return status;
}
static THStatus mapping(void) {
    THStorage *s = THStorage_newWithMapping(TH_INT8, name, 5, TH_ALLOCATOR_MAPPED_SHARED);
    THStorage_free(s);
    return s ? TH_OK : THGetLastErrorCode();
}
static THStatus context(void) {
    THMapAllocatorContext *made = THMapAllocatorContext_new(name, TH_ALLOCATOR_MAPPED_SHARED);
    if (!made) return THGetLastErrorCode();
    bool right = strcmp(THMapAllocatorContext_filename(made), name) == 0;
    return right ? THMapAllocatorContext_free(made) : TH_ERR_INTERNAL;
}
static THStatus indexing(void) { return THTensor_meshgrid(results, many, 1, name); }

static char letters[100002];
static THStatus long_equation(void) { return THTensor_einsum(results[0], letters, many, 1); }
static THStatus long_result(void) {
    letters[0] = 'a', letters[1] = '-', letters[2] = '>';
    THStatus status = THTensor_einsum(results[0], letters, many, 1);
    letters[1] = letters[2] = 'a';
    return status;
}
static THStatus many_operands(void) {
    letters[80] = 0;
    for (int i = 1; i < 80; i += 2) letters[i] = ',';
    THStatus status = THTensor_einsum(results[0], letters, many, 40);
    memset(letters, 'a', sizeof letters - 1);
    return status;
}

/* A signal with a new length each time, for which there is no plan yet: primes, powers, products. */
static THTensor *signal_of_new_length(void) {
    static int64_t length = 60;
    return THTensor_newZeros(TH_FLOAT32, SIZES(++length, 2));
}
static THStatus transformed(THStatus (*call)(THTensor *r, const THTensor *t)) {
    THTensor *t = signal_of_new_length();
    THStatus status = t ? call(results[0], t) : THGetLastErrorCode();
    THTensor_free(t);
    return status;
}
static THStatus fft_of(THTensor *r, const THTensor *t) { return THTensor_fft(r, t, 1, 0); }
static THStatus rfft_of(THTensor *r, const THTensor *t) { return THTensor_rfft(r, t, 2, 0, 1); }
static THStatus irfft_of(THTensor *r, const THTensor *t) { return THTensor_irfft(r, t, 1, 1, 1, 0, NULL); }
static THStatus fft(void) { return transformed(fft_of); }
static THStatus rfft(void) { return transformed(rfft_of); }
static THStatus irfft(void) { return transformed(irfft_of); }

static void lists_of_any_length_may_be_refused(void) {
    static const struct {
        const char *name;
        THStatus (*call)(void);
    } calls[] = {
#define NAMED(call) {#call, call}
        NAMED(expand),   NAMED(grid),    NAMED(list_of_handles),
        NAMED(reshape),  NAMED(add),     NAMED(sum),
        NAMED(median),   NAMED(copy),    NAMED(wrong_shape),
        NAMED(split),    NAMED(mapping), NAMED(context),
        NAMED(indexing), NAMED(fft),     NAMED(rfft),
        NAMED(irfft),    NAMED(long_equation), NAMED(long_result),
        NAMED(many_operands)
#undef NAMED
    };
    memset(name, 'n', sizeof name - 1);
    memset(letters, 'a', sizeof letters - 1);
    for (int d = 0; d < DIMS; d++) ones[d] = 1;
    ones[1] = ones[500] = 2;
    deep = THTensor_newOnes(TH_FLOAT32, DIMS, ones);
    for (int i = 0; i < COUNT; i++) {
        many[i] = THTensor_newOnes(TH_FLOAT32, SIZES(i == 1 ? DIMS : 1));
    }
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        for (int i = 0; i < COUNT; i++) THTensor_free(results[i]), results[i] = THTensor_new();
        THStatus possible = calls[k].call();
        for (int for_good = 0; for_good < 2; for_good++) {
            bool refused = true;
            for (long n = 0; refused && n < 5000; n++) {
                for (int i = 0; i < 2; i++) THTensor_free(results[i]), results[i] = THTensor_new();
                refuse(n, for_good ? FOR_GOOD : n);
                THStatus status = calls[k].call();
                refused = was_refused();
                if (status == possible || (refused && status == TH_ERR_NOMEM)) continue;
                printf("\n  %s, request %ld: ", calls[k].name, n);
                CHECK_EQ(status, possible);
            }
        }
    }
    CHECK(THTensor_nDimension(deep) == DIMS && THTensor_sumall(deep) == 4);
    for (int i = 0; i < COUNT; i++) THTensor_free(many[i]), THTensor_free(results[i]), results[i] = NULL;
    THTensor_free(deep);
}

/* Mappings */

/* For any refused allocation, the context belongs to the storage if one was made, and otherwise to the caller. */
static void a_context_has_one_owner(void) {
    char path[] = "/tmp/thorn-test-XXXXXX";
    int fd = mkstemp(path), made = 0, refused = 1;
    CHECK(fd >= 0 && write(fd, "0123456789", 10) == 10);
    close(fd);
    THSetNumThreads(0); /* the first message allocates memory, which is not tested here */
    int64_t live = THMemory_liveBytes();
    for (long n = 0; refused; n++) {
        refused = 0;
        for (int for_good = 0; for_good < 2; for_good++) {
            THMapAllocatorContext *ctx = THMapAllocatorContext_new(path, TH_ALLOCATOR_MAPPED_SHARED);
            CHECK(ctx != NULL);
            refuse(n, for_good ? FOR_GOOD : n);
            THStorage *s = THStorage_newWithAllocator(TH_UINT8, 10, &THMapAllocator, ctx);
            bool was = was_refused();
            refused |= was;
            if (s) {
                CHECK_NEAR(THStorage_get(s, 9), '9', 0);
                THStorage_free(s);
                made++;
            } else {
                CHECK(was);
                CHECK_EQ(THMapAllocatorContext_size(ctx), 0);
                CHECK_OK(THMapAllocatorContext_free(ctx));
            }
            CHECK_EQ(THMemory_liveBytes(), live);
        }
    }
    CHECK(made > 0);
    unlink(path);
}

CHECK_MAIN(CASE(threads_that_cannot_start_are_done_without), CASE(threads_of_the_caller_may_start_without_memory),
           CASE(lists_of_any_length_may_be_refused), CASE(a_context_has_one_owner))
