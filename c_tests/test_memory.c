/* Memory: the heap, counters and the soft limit, the program's allocators and foreign memory, files and shared
 * memory. */

#include "check.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static THMemoryStats stats(void) {
    THMemoryStats now = {0, 0, 0, 0, 0, 0};
    CHECK_OK(THMemory_stats(&now));
    return now;
}

/* Heap */

static void heap_blocks_grow_and_keep_their_contents(void) {
    char *block = THAlloc(5);
    memcpy(block, "torn", 5);
    block = THRealloc(block, 100000);
    CHECK_STR(block, "torn");
    CHECK(THRealloc(block, 0) == NULL);
    CHECK_EQ(THGetLastErrorCode(), TH_OK);
    THFree(NULL);
}

static void large_heap_blocks_are_aligned_for_vectors(void) {
    for (ptrdiff_t size = 5121; size < 100000; size += 7919) {
        void *block = THAlloc(size);
        CHECK_EQ((uintptr_t)block % 64, 0);
        memset(block, 1, (size_t)size);
        THFree(block);
    }
}

static void heap_requests_nobody_can_serve_are_errors(void) {
    CHECK(THAlloc(0) == NULL);
    CHECK_EQ(THGetLastErrorCode(), TH_OK);
    CHECK_FAILURE(THAlloc(-1) == NULL, TH_ERR_ARGUMENT, "-1");
    CHECK_FAILURE(THAlloc((ptrdiff_t)1 << 55) == NULL, TH_ERR_NOMEM, "36028797018963968");
    char *block = THAlloc(3);
    memcpy(block, "ok", 3);
    CHECK_FAILURE(THRealloc(block, -1) == NULL, TH_ERR_ARGUMENT, "-1");
    CHECK_FAILURE(THRealloc(block, (ptrdiff_t)1 << 55) == NULL, TH_ERR_NOMEM, "36028797018963968");
    CHECK_STR(block, "ok");
    THFree(block);
}

/* Counters and the cache */

static void live_bytes_count_what_is_in_use(void) {
    int64_t before = THMemory_liveBytes();
    THTensor *t = THTensor_newWithSize2d(TH_FLOAT32, 1000, 100);
    int64_t with_tensor = THMemory_liveBytes() - before;
    CHECK(with_tensor >= 400000 && with_tensor < 401000);

    THTensor *view = THTensor_newNarrow(t, 0, 0, 10);
    CHECK(THMemory_liveBytes() - before < with_tensor + 500);
    CHECK_EQ(stats().live_bytes, THMemory_liveBytes());
    CHECK(stats().peak_bytes >= THMemory_liveBytes());
    THTensor_free(view);
    THTensor_free(t);
    CHECK_EQ(THMemory_liveBytes(), before);
}

/* TH_CACHE_LIMIT=0 in the environment turns the cache off, for checkers of memory. */
static void freed_memory_serves_the_next_tensor(void) {
    THTensor_free(THTensor_newWithSize1d(TH_FLOAT64, 100000));
    THMemoryStats before = stats();
    for (int i = 0; i < 10; i++) THTensor_free(THTensor_newWithSize1d(TH_FLOAT64, 100000));
    THMemoryStats after = stats();
    int64_t made = after.allocations - before.allocations;
    CHECK(made >= 10);
    CHECK_EQ(after.cache_hits - before.cache_hits, before.cache_limit > 0 ? made : 0);
    CHECK_EQ(after.cached_bytes, before.cached_bytes);
    CHECK(before.cache_limit > 0 ? before.cached_bytes >= 800000 : before.cached_bytes == 0);
}

static void an_emptied_cache_holds_nothing(void) {
    THTensor *kept = THTensor_newOnes(TH_FLOAT32, SIZES(1000));
    THTensor_free(THTensor_newWithSize1d(TH_FLOAT32, 1000000));
    CHECK_OK(THAllocator_emptyCache());
    CHECK_EQ(stats().cached_bytes, 0);
    CHECK_NEAR(THTensor_sumall(kept), 1000, 0);
    THTensor_free(kept);
}

/* The soft limit */

struct host {
    int calls;
    int64_t told;
    THTensor *garbage;
};

static void collect_garbage(void *context, int64_t live) {
    struct host *host = context;
    host->calls++;
    host->told = live;
    THTensor_free(host->garbage);
    host->garbage = NULL;
}

static void a_collector_hears_that_memory_grows(void) {
    struct host host = {0, 0, THTensor_newWithSize1d(TH_UINT8, 3000000)};
    int64_t limit = THMemory_liveBytes() + 2000000;
    CHECK_OK(THMemory_setSoftLimit(limit, collect_garbage, &host));
    THTensor *small = THTensor_newWithSize1d(TH_UINT8, 1000000);
    CHECK_EQ(host.calls, 0);
    THTensor *large = THTensor_newWithSize1d(TH_UINT8, 4000000);
    CHECK_EQ(host.calls, 1);
    CHECK(host.told > limit);
    CHECK(host.garbage == NULL);
    CHECK_OK(THTensor_fill(large, 1));
    CHECK_OK(THMemory_setSoftLimit(0, NULL, NULL));
    THTensor_free(large);
    THTensor_free(small);
}

static void the_collector_hears_each_further_tenth(void) {
    struct host host = {0, 0, NULL};
    THTensor *made[40];
    CHECK_OK(THMemory_setSoftLimit(THMemory_liveBytes() + 10000000, collect_garbage, &host));
    /* Twice the limit is the limit and seven further tenths, because 1.1^7 < 2 < 1.1^8. A step of 1 MB may pass two of
     * them. */
    for (int i = 0; i < 20; i++) made[i] = THTensor_newWithSize1d(TH_UINT8, 1000000);
    CHECK(host.calls >= 4 && host.calls <= 8);
    int calls = host.calls;
    CHECK_OK(THMemory_setSoftLimit(0, NULL, NULL));
    for (int i = 20; i < 40; i++) made[i] = THTensor_newWithSize1d(TH_UINT8, 1000000);
    CHECK_EQ(host.calls, calls);
    for (int i = 0; i < 40; i++) THTensor_free(made[i]);
}

static void the_collector_runs_before_an_allocation_fails(void) {
    struct host host = {0, 0, THTensor_newWithSize1d(TH_UINT8, 100)};
    CHECK_OK(THMemory_setSoftLimit(INT64_MAX, collect_garbage, &host));
    CHECK_FAILURE(THTensor_newWithSize1d(TH_FLOAT64, (int64_t)1 << 50) == NULL, TH_ERR_NOMEM, "out of memory");
    CHECK_EQ(host.calls, 1);
    CHECK(host.garbage == NULL);
    CHECK_OK(THMemory_setSoftLimit(0, NULL, NULL));
}

static void a_host_that_cannot_be_called_asks(void) {
    CHECK_OK(THMemory_setSoftLimit(THMemory_liveBytes() + 2000000, NULL, NULL));
    THTensor *small = THTensor_newWithSize1d(TH_UINT8, 1000000);
    CHECK_EQ(THMemory_pressure(), 0);
    THTensor *large = THTensor_newWithSize1d(TH_UINT8, 4000000);
    CHECK_EQ(THMemory_pressure(), 1);
    /* Set once for each time that a hook would have been called. */
    CHECK_EQ(THMemory_pressure(), 0);
    THTensor_free(large);
    large = THTensor_newWithSize1d(TH_UINT8, 5000000);
    CHECK_EQ(THMemory_pressure(), 1);
    THTensor_free(large);
    /* The flag can also be read if there is a hook. */
    struct host host = {0, 0, NULL};
    CHECK_OK(THMemory_setSoftLimit(THMemory_liveBytes() + 2000000, collect_garbage, &host));
    large = THTensor_newWithSize1d(TH_UINT8, 4000000);
    CHECK_EQ(host.calls, 1);
    CHECK_EQ(THMemory_pressure(), 1);
    THTensor_free(large);
    CHECK_FAILURE(THTensor_newWithSize1d(TH_FLOAT64, (int64_t)1 << 50) == NULL, TH_ERR_NOMEM, "out of memory");
    CHECK_EQ(THMemory_pressure(), 1);
    CHECK_OK(THMemory_setSoftLimit(0, NULL, NULL));
    large = THTensor_newWithSize1d(TH_UINT8, 50000000);
    CHECK_EQ(THMemory_pressure(), 0);
    THTensor_free(large);
    THTensor_free(small);
}

/* Foreign memory */

struct release {
    int calls;
    void *data;
};

static void note_release(void *data, void *context) {
    struct release *release = context;
    release->calls++;
    release->data = data;
}

static void a_tensor_works_on_the_callers_memory(void) {
    double samples[] = {1, 2, 3, 4, 5, 6};
    struct release release = {0, NULL};
    THTensor *t = THTensor_newFromBlob(TH_FLOAT64, SIZES(2, 3), NULL, samples, note_release, &release);
    CHECK_OK(THTensor_mul(t, t, 10));
    CHECK_NEAR(samples[5], 60, 0);
    samples[0] = -1;
    CHECK_VALUES(t, -1, 20, 30, 40, 50, 60);

    THTensor *view = THTensor_newSelect(t, 0, 1);
    THTensor_free(t);
    CHECK_EQ(release.calls, 0);
    CHECK_VALUES(view, 40, 50, 60);
    THTensor_free(view);
    CHECK_EQ(release.calls, 1);
    CHECK(release.data == samples);
}

static void foreign_memory_may_have_strides_and_no_deleter(void) {
    float column_major[] = {1, 2, 3, 4, 5, 6};
    const int64_t strides[] = {1, 2};
    THTensor *t = THTensor_newFromBlob(TH_FLOAT32, SIZES(2, 3), strides, column_major, NULL, NULL);
    CHECK_VALUES(t, 1, 3, 5, 2, 4, 6);
    THTensor_free(t);
}

static void foreign_memory_is_not_resized(void) {
    int32_t numbers[] = {1, 2, 3};
    struct release release = {0, NULL};
    THStorage *s = THStorage_newFromBlob(TH_INT32, numbers, 3, note_release, &release);
    CHECK_ERROR(THStorage_resize(s, 4), TH_ERR_ARGUMENT, "not resizable");
    CHECK_ERROR(THStorage_resize(s, 2), TH_ERR_ARGUMENT, "not resizable");
    THTensor *t = THTensor_newWithStorage(s, 0, -1, NULL, NULL);
    CHECK_ERROR(THTensor_resize1d(t, 4), TH_ERR_ARGUMENT, "not resizable");
    CHECK_VALUES(t, 1, 2, 3);
    CHECK_OK(THTensor_resize1d(t, 2));
    CHECK_VALUES(t, 1, 2);
    THTensor_free(t);
    CHECK_EQ(release.calls, 0);
    THStorage_free(s);
    CHECK_EQ(release.calls, 1);
}

static void a_failed_call_leaves_the_memory_to_the_caller(void) {
    float x[2] = {1, 2};
    struct release release = {0, NULL};
    const int64_t backward[] = {-1};
    CHECK_FAILURE(THTensor_newFromBlob(99, SIZES(2), NULL, x, note_release, &release) == NULL, TH_ERR_ARGUMENT, "99");
    CHECK_FAILURE(THTensor_newFromBlob(TH_FLOAT32, SIZES(-2), NULL, x, note_release, &release) == NULL, TH_ERR_SHAPE,
                  "-2");
    CHECK_FAILURE(THTensor_newFromBlob(TH_FLOAT32, SIZES(2), backward, x, note_release, &release) == NULL,
                  TH_ERR_ARGUMENT, "-1");
    CHECK_FAILURE(THTensor_newFromBlob(TH_FLOAT32, SIZES(2), NULL, NULL, note_release, &release) == NULL,
                  TH_ERR_ARGUMENT, "NULL");
    CHECK_FAILURE(THStorage_newFromBlob(TH_FLOAT32, x, -1, note_release, &release) == NULL, TH_ERR_ARGUMENT, "-1");
    CHECK_EQ(release.calls, 0);
}

static void a_storage_takes_over_heap_memory(void) {
    float *ours = THAlloc(3 * sizeof *ours);
    for (int i = 0; i < 3; i++) ours[i] = (float)i;
    THStorage *s = THStorage_newWithData(TH_FLOAT32, ours, 3);
    CHECK(THStorage_data(s) == ours);
    CHECK_OK(THStorage_resize(s, 10000));
    CHECK_NEAR(THStorage_get(s, 2), 2, 0);
    THStorage_free(s);

    void *refused = malloc(8);
    CHECK_FAILURE(THStorage_newWithData(TH_FLOAT32, refused, -1) == NULL, TH_ERR_ARGUMENT, "-1");
    CHECK_FAILURE(THStorage_newWithData(TH_FLOAT32, NULL, 1) == NULL, TH_ERR_ARGUMENT, "NULL");
    free(refused);
}

/* Allocators of the program: this one counts, and refuses on request. */

struct arena {
    int blocks;
    int refuse;
    ptrdiff_t last_size;
};

static void *arena_malloc(void *context, ptrdiff_t size) {
    struct arena *arena = context;
    if (arena->refuse) return NULL;
    arena->blocks++;
    arena->last_size = size;
    return malloc((size_t)size);
}

static void *arena_realloc(void *context, void *block, ptrdiff_t size) {
    struct arena *arena = context;
    if (arena->refuse) return NULL;
    arena->last_size = size;
    return realloc(block, (size_t)size);
}

static void arena_free(void *context, void *block) {
    struct arena *arena = context;
    arena->blocks--;
    free(block);
}

static const THAllocator arena_allocator = {arena_malloc, arena_realloc, arena_free};

static void a_storage_uses_the_callers_allocator(void) {
    struct arena arena = {0, 0, 0};
    int64_t live = THMemory_liveBytes();
    THStorage *s = THStorage_newWithAllocator(TH_INT16, 1000, &arena_allocator, &arena);
    CHECK_EQ(arena.blocks, 1);
    CHECK_EQ(arena.last_size, 2000);
    CHECK(THMemory_liveBytes() - live >= 2000);
    CHECK_OK(THStorage_fill(s, 3));
    CHECK_OK(THStorage_resize(s, 5000));
    CHECK_EQ(arena.last_size, 10000);
    CHECK_NEAR(THStorage_get(s, 999), 3, 0);
    THStorage_free(s);
    CHECK_EQ(arena.blocks, 0);
}

static void an_allocator_without_realloc_moves_by_copying(void) {
    static const THAllocator moving = {arena_malloc, NULL, arena_free};
    struct arena arena = {0, 0, 0};
    THStorage *s = THStorage_newWithAllocator(TH_INT32, 2, &moving, &arena);
    CHECK_OK(THStorage_fill(s, 8));
    CHECK_OK(THStorage_resize(s, 100));
    CHECK_EQ(arena.blocks, 1);
    CHECK_NEAR(THStorage_get(s, 1), 8, 0);
    CHECK_OK(THStorage_resize(s, 1));
    CHECK_NEAR(THStorage_get(s, 0), 8, 0);
    THStorage_free(s);
    CHECK_EQ(arena.blocks, 0);
}

static void an_allocator_that_refuses_is_an_error(void) {
    struct arena arena = {0, 1, 0};
    CHECK_FAILURE(THStorage_newWithAllocator(TH_INT32, 4, &arena_allocator, &arena) == NULL, TH_ERR_NOMEM, "16 bytes");
    arena.refuse = 0;
    THStorage *s = THStorage_newWithAllocator(TH_INT32, 4, &arena_allocator, &arena);
    CHECK_OK(THStorage_fill(s, 2));
    arena.refuse = 1;
    CHECK_ERROR(THStorage_resize(s, 100), TH_ERR_NOMEM, "400 bytes");
    CHECK_EQ(THStorage_size(s), 4);
    CHECK_NEAR(THStorage_get(s, 3), 2, 0);
    THStorage_free(s);
    CHECK_EQ(arena.blocks, 0);

    static const THAllocator no_malloc = {NULL, NULL, arena_free};
    CHECK_FAILURE(THStorage_newWithAllocator(TH_INT32, 4, &no_malloc, NULL) == NULL, TH_ERR_ARGUMENT, "malloc");
    CHECK_FAILURE(THStorage_newWithAllocator(TH_INT32, 4, NULL, NULL) == NULL, TH_ERR_ARGUMENT, "NULL");
}

static void memory_is_taken_over_with_its_allocator(void) {
    struct arena arena = {0, 0, 0};
    void *data = arena_malloc(&arena, 8);
    THStorage *s = THStorage_newWithDataAndAllocator(TH_FLOAT64, data, 1, &arena_allocator, &arena);
    CHECK(THStorage_data(s) == data);
    CHECK_EQ(arena.blocks, 1);
    THStorage_free(s);
    CHECK_EQ(arena.blocks, 0);
}

static void the_default_allocator_is_the_heap(void) {
    THStorage *s = THStorage_newWithAllocator(TH_FLOAT32, 10000, &THDefaultAllocator, NULL);
    CHECK_EQ((uintptr_t)THStorage_data(s) % 64, 0);
    CHECK_OK(THStorage_fill(s, 1));
    CHECK_OK(THStorage_resize(s, 20000));
    CHECK_NEAR(THStorage_get(s, 9999), 1, 0);
    THStorage_free(s);
}

/* Files. Each case has a separate directory, in which `path` names a file of the float32 values 1, 2, 3. */

static char directory[64], path[80];

static void write_file(const void *bytes, size_t count) {
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, count, file) == count);
    if (file) fclose(file);
}

static void make_file(void) {
    const float values[] = {1, 2, 3};
    snprintf(directory, sizeof directory, "/tmp/thorn-test-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    snprintf(path, sizeof path, "%s/values", directory);
    write_file(values, sizeof values);
}

static void remove_file(void) {
    unlink(path);
    CHECK(rmdir(directory) == 0);
}

/* The float at position `i` of the file; NaN beyond the end of the file. */
static double in_file(int i) {
    float value = NAN;
    FILE *file = fopen(path, "rb");
    if (file && fseek(file, i * (long)sizeof value, SEEK_SET) == 0 && fread(&value, sizeof value, 1, file) != 1) {
        value = NAN;
    }
    if (file) fclose(file);
    return value;
}

static void a_private_mapping_reads_the_file(void) {
    make_file();
    THStorage *s = THStorage_newWithMapping(TH_FLOAT32, path, 0, 0);
    CHECK_EQ(THStorage_size(s), 3);
    CHECK_NEAR(THStorage_get(s, 2), 3, 0);
    CHECK_OK(THStorage_set(s, 2, 30));
    CHECK_NEAR(THStorage_get(s, 2), 30, 0);
    CHECK_NEAR(in_file(2), 3, 0);
    CHECK_ERROR(THStorage_resize(s, 2), TH_ERR_ARGUMENT, "not resizable");
    THStorage_free(s);
    remove_file();
}

static void a_shared_mapping_writes_and_grows_the_file(void) {
    make_file();
    THStorage *s = THStorage_newWithMapping(TH_FLOAT32, path, 5, TH_ALLOCATOR_MAPPED_SHARED);
    CHECK_EQ(THStorage_size(s), 5);
    CHECK_NEAR(THStorage_get(s, 1), 2, 0);
    CHECK_OK(THStorage_set(s, 4, 50));
    THStorage_free(s);
    CHECK_NEAR(in_file(0), 1, 0);
    CHECK_NEAR(in_file(4), 50, 0);
    remove_file();
}

static void flags_say_whether_the_file_may_or_must_exist(void) {
    make_file();
    int shared = TH_ALLOCATOR_MAPPED_SHARED;
    CHECK_FAILURE(THStorage_newWithMapping(TH_FLOAT32, path, 3, shared | TH_ALLOCATOR_MAPPED_EXCLUSIVE) == NULL,
                  TH_ERR_IO, path);
    CHECK_NEAR(in_file(2), 3, 0);
    unlink(path);
    CHECK_FAILURE(THStorage_newWithMapping(TH_FLOAT32, path, 3, shared | TH_ALLOCATOR_MAPPED_NOCREATE) == NULL,
                  TH_ERR_IO, path);
    CHECK(access(path, F_OK) != 0);
    THStorage *s = THStorage_newWithMapping(TH_FLOAT32, path, 3, shared | TH_ALLOCATOR_MAPPED_EXCLUSIVE);
    CHECK_NEAR(THStorage_get(s, 2), 0, 0);
    THStorage_free(s);
    remove_file();
}

static void files_that_cannot_be_mapped_are_errors(void) {
    make_file();
    CHECK_FAILURE(THStorage_newWithMapping(TH_FLOAT32, path, 4, 0) == NULL, TH_ERR_IO, "12 bytes");
    CHECK_FAILURE(THStorage_newWithMapping(TH_FLOAT32, "/nonexistent/file", 0, 0) == NULL, TH_ERR_IO, "/nonexistent");
    CHECK_FAILURE(THStorage_newWithMapping(TH_FLOAT32, directory, 1, 0) == NULL, TH_ERR_IO, directory);
    CHECK_FAILURE(THStorage_newWithMapping(TH_FLOAT32, "", 1, 0) == NULL, TH_ERR_IO, "\"\"");
    CHECK_FAILURE(THStorage_newWithMapping(TH_FLOAT32, NULL, 1, 0) == NULL, TH_ERR_ARGUMENT, "filename");
    CHECK_FAILURE(THStorage_newWithMapping(TH_FLOAT32, path, 1, 1 << 20) == NULL, TH_ERR_ARGUMENT, "flags");
    CHECK_FAILURE(THStorage_newWithMapping(TH_FLOAT32, path, PTRDIFF_MAX, TH_ALLOCATOR_MAPPED_SHARED) == NULL,
                  TH_ERR_NOMEM, "");
    write_file("", 0);
    CHECK_FAILURE(THStorage_newWithMapping(TH_FLOAT32, path, 0, 0) == NULL, TH_ERR_IO, "empty");
    remove_file();
}

static void a_context_tells_about_its_mapping(void) {
    make_file();
    THMapAllocatorContext *context =
        THMapAllocatorContext_new(path, TH_ALLOCATOR_MAPPED_SHARED | TH_ALLOCATOR_MAPPED_KEEPFD);
    CHECK_STR(THMapAllocatorContext_filename(context), path);
    CHECK_EQ(THMapAllocatorContext_fd(context), -1);
    THStorage *s = THStorage_newWithAllocator(TH_FLOAT32, 3, &THMapAllocator, context);
    CHECK_EQ(THMapAllocatorContext_size(context), 12);
    struct stat by_name, by_fd;
    CHECK(stat(path, &by_name) == 0 && fstat(THMapAllocatorContext_fd(context), &by_fd) == 0);
    CHECK(by_name.st_ino == by_fd.st_ino);
    THStorage_free(s);

    THMapAllocatorContext *unused = THMapAllocatorContext_new(path, 0);
    CHECK_OK(THMapAllocatorContext_free(unused));
    remove_file();
}

static void a_context_takes_over_a_descriptor(void) {
    make_file();
    int fd = open(path, O_RDWR);
    CHECK_FAILURE(THMapAllocatorContext_newWithFd(path, fd, 0) == NULL, TH_ERR_ARGUMENT, "FROMFD");
    CHECK_FAILURE(THMapAllocatorContext_newWithFd(path, -1, TH_ALLOCATOR_MAPPED_FROMFD) == NULL, TH_ERR_ARGUMENT, "-1");
    THMapAllocatorContext *context =
        THMapAllocatorContext_newWithFd(path, fd, TH_ALLOCATOR_MAPPED_FROMFD | TH_ALLOCATOR_MAPPED_SHARED);
    THStorage *s = THStorage_newWithAllocator(TH_FLOAT32, 3, &THMapAllocator, context);
    CHECK_OK(THStorage_set(s, 0, 10));
    CHECK(fcntl(fd, F_GETFD) == -1);
    THStorage_free(s);
    CHECK_NEAR(in_file(0), 10, 0);
    remove_file();
}

static void a_failed_mapping_leaves_the_context_to_the_caller(void) {
    THMapAllocatorContext *context = THMapAllocatorContext_new("/nonexistent/file", 0);
    CHECK_FAILURE(THStorage_newWithAllocator(TH_FLOAT32, 3, &THMapAllocator, context) == NULL, TH_ERR_IO,
                  "/nonexistent/file");
    CHECK_OK(THMapAllocatorContext_free(context));
}

/* Shared memory */

static const char *shared_name(void) {
    static char name[64];
    snprintf(name, sizeof name, "/thorn-test-%ld", (long)getpid());
    return name;
}

/* Returns true if the shared memory object still has its name. */
static int has_name(const char *name) {
    int fd = shm_open(name, O_RDONLY, 0);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

/* Checks that `child` returns 0. The child ends by becoming another program, because memory checkers would report the
 * memory of its parent's threads as leaks. */
static void check_in_child(int (*child)(const char *), const char *name) {
    pid_t pid = fork();
    if (pid == 0) {
        execlp(child(name) == 0 ? "true" : "false", "child", (char *)NULL);
        _exit(2);
    }
    int status = -1;
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int double_the_shared_values(const char *name) {
    THStorage *s =
        THStorage_newWithMapping(TH_FLOAT32, name, 4, TH_ALLOCATOR_MAPPED_SHAREDMEM | TH_ALLOCATOR_MAPPED_NOCREATE);
    THTensor *t = THTensor_newWithStorage(s, 0, -1, NULL, NULL);
    /* When this process ends, the mapping goes. The name stays, because the parent owns it. */
    return THTensor_mul(t, t, 2) != TH_OK;
}

static void processes_share_a_tensor(void) {
    const char *name = shared_name();
    THStorage *s =
        THStorage_newWithMapping(TH_FLOAT32, name, 4, TH_ALLOCATOR_MAPPED_SHAREDMEM | TH_ALLOCATOR_MAPPED_EXCLUSIVE);
    CHECK_OK(THStorage_fill(s, 21));
    check_in_child(double_the_shared_values, name);
    CHECK_NEAR(THStorage_get(s, 3), 42, 0);
    CHECK(has_name(name));
    THStorage_free(s);
    CHECK(!has_name(name));
}

static THStorage *counted(const char *name, int flags, THMapAllocatorContext **context) {
    *context = THMapAllocatorContext_new(name, TH_ALLOCATOR_MAPPED_SHAREDMEM | flags);
    return THStorage_newWithAllocator(TH_INT64, 2, &THRefcountedMapAllocator, *context);
}

static int join_and_leave(const char *name) {
    THMapAllocatorContext *context;
    THStorage *s = counted(name, TH_ALLOCATOR_MAPPED_NOCREATE, &context);
    int wrong = THStorage_get(s, 0) != 7 || THStorage_set(s, 1, 8) != TH_OK;
    THStorage_free(s);
    return wrong;
}

static void the_last_user_of_counted_memory_removes_it(void) {
    const char *name = shared_name();
    THMapAllocatorContext *first_context, *second_context;
    THStorage *first = counted(name, TH_ALLOCATOR_MAPPED_EXCLUSIVE, &first_context);
    CHECK_OK(THStorage_fill(first, 7));
    check_in_child(join_and_leave, name);
    CHECK_NEAR(THStorage_get(first, 1), 8, 0);

    THStorage *second = counted(name, TH_ALLOCATOR_MAPPED_NOCREATE, &second_context);
    THStorage_free(first);
    CHECK(has_name(name));
    CHECK_NEAR(THStorage_get(second, 0), 7, 0);
    THStorage_free(second);
    CHECK(!has_name(name));
}

static void users_of_counted_memory_are_counted(void) {
    THMapAllocatorContext *context;
    THStorage *s = counted(shared_name(), TH_ALLOCATOR_MAPPED_EXCLUSIVE, &context);
    void *data = THStorage_data(s);
    CHECK_OK(THRefcountedMapAllocator_incref(context, data));
    CHECK_EQ(THRefcountedMapAllocator_decref(context, data), 0);
    CHECK_EQ(THRefcountedMapAllocator_decref(context, data), 1);
    CHECK_OK(THRefcountedMapAllocator_incref(context, data));
    CHECK_ERROR(THRefcountedMapAllocator_incref(context, NULL), TH_ERR_ARGUMENT, "data");
    THStorage_free(s);
    CHECK(!has_name(shared_name()));
}

CHECK_MAIN(CASE(heap_blocks_grow_and_keep_their_contents), CASE(large_heap_blocks_are_aligned_for_vectors),
           CASE(heap_requests_nobody_can_serve_are_errors), CASE(live_bytes_count_what_is_in_use),
           CASE(freed_memory_serves_the_next_tensor), CASE(an_emptied_cache_holds_nothing),
           CASE(a_collector_hears_that_memory_grows), CASE(the_collector_hears_each_further_tenth),
           CASE(the_collector_runs_before_an_allocation_fails), CASE(a_host_that_cannot_be_called_asks),
           CASE(a_tensor_works_on_the_callers_memory),
           CASE(foreign_memory_may_have_strides_and_no_deleter), CASE(foreign_memory_is_not_resized),
           CASE(a_failed_call_leaves_the_memory_to_the_caller), CASE(a_storage_takes_over_heap_memory),
           CASE(a_storage_uses_the_callers_allocator), CASE(an_allocator_without_realloc_moves_by_copying),
           CASE(an_allocator_that_refuses_is_an_error), CASE(memory_is_taken_over_with_its_allocator),
           CASE(the_default_allocator_is_the_heap), CASE(a_private_mapping_reads_the_file),
           CASE(a_shared_mapping_writes_and_grows_the_file), CASE(flags_say_whether_the_file_may_or_must_exist),
           CASE(files_that_cannot_be_mapped_are_errors), CASE(a_context_tells_about_its_mapping),
           CASE(a_context_takes_over_a_descriptor), CASE(a_failed_mapping_leaves_the_context_to_the_caller),
           CASE(processes_share_a_tensor), CASE(the_last_user_of_counted_memory_removes_it),
           CASE(users_of_counted_memory_are_counted))
