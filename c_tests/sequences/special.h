/* Functions whose arguments are not drawn by type: functions that take over, free, or trust memory and callbacks. */
#ifndef THORN_SEQUENCES_SPECIAL_H
#define THORN_SEQUENCES_SPECIAL_H

#include "runtime.h"

/* ---- references ---- */

static void call_THTensor_retain(void) {
    THTensor *t = pool.tensor[below(TENSORS)];
    begin("THTensor_retain");
    before();
    THTensor_retain(t);
    after();
    keep_tensor(t);
}

static void call_THTensor_free(void) {
    begin("THTensor_free");
    before();
    THTensor_free(take(pool.tensor, TENSORS));
    after();
}

static void call_THStorage_retain(void) {
    begin("THStorage_retain");
    THStorage *s = storage("storage");
    before();
    THStorage_retain(s);
    after_call(true);
    keep_storage(s);
}

static void call_THStorage_free(void) {
    begin("THStorage_free");
    before();
    THStorage_free(take(pool.storage, STORAGES));
    after();
}

static void call_THTensor_freeCopyTo(void) {
    begin("THTensor_freeCopyTo");
    THTensor *dst = tensor("dst");
    int slot = below(TENSORS);
    THTensor *t = pool.tensor[slot];
    touch(t, NULL);
    before();
    /* A second reference, so that the handle can be examined after the call has freed one. */
    THTensor_retain(t);
    int count = t ? t->refcount : 0;
    THStatus got = THTensor_freeCopyTo(t, dst);
    if (t && t->refcount != count - (got == TH_OK)) fail("%d references became %d, status %d", count, t->refcount, got);
    if (got == TH_OK) pool.tensor[slot] = NULL;
    if (got != TH_OK) THTensor_free(t);
    after_call(true);
    if (got == TH_OK) THTensor_free(t);
}

static void call_THFused_free(void) {
    begin("THFused_free");
    before();
    THFused_free(take(pool.fused, OTHERS));
    after();
}

static void call_THFused_retain(void) {
    begin("THFused_retain");
    THFused *f = fused("f");
    before();
    THFused_retain(f);
    after();
    keep_fused(f);
}

static void call_THOptim_free(void) {
    begin("THOptim_free");
    before();
    THOptim_free(take(pool.optim, OTHERS));
    after();
}

static void call_THGenerator_free(void) {
    begin("THGenerator_free");
    before();
    THGenerator_free(take(pool.generator, OTHERS));
    after();
}

static void call_THMapAllocatorContext_free(void) {
    begin("THMapAllocatorContext_free");
    before();
    THMapAllocatorContext_free(take(pool.context, OTHERS));
    after();
}

/* ---- lists of views ---- */

/* Asks for the number of views, then for all of them, or passes too little room. */
static void pieces(THStatus (*call)(THTensor **r, int *count, const THTensor *t, int64_t n, int d)) {
    const THTensor *t = tensor("tensor");
    int64_t n = whole("n");
    int d = dimension("dimension"), count = -7;
    before();
    THStatus got = call(NULL, chance(3) ? NULL : &count, t, n, d);
    after_status(got);
    if (got != TH_OK || count < 0 || count > 200) return;
    int room = chance(10) ? count - 1 : count;
    THTensor **r = exactly(room > 0 ? (size_t)room * sizeof *r : 0);
    /* NULL would ask for the number again. */
    if (!r) return;
    THClearLastError();
    got = call(r, &room, t, n, d);
    if ((got == TH_OK) != (room == count)) fail("room for %d of %d, status %d", room, count, got);
    for (int i = 0; i < count && got == TH_OK; i++) keep_tensor(r[i]);
    free(r);
    lists_count = 0;
}

static THStatus unbind(THTensor **r, int *count, const THTensor *t, int64_t n, int d) {
    (void)n;
    return THTensor_unbind(r, count, t, d);
}

static void call_THTensor_split(void) {
    begin("THTensor_split");
    pieces(THTensor_split);
}

static void call_THTensor_chunk(void) {
    begin("THTensor_chunk");
    pieces(THTensor_chunk);
}

static void call_THTensor_unbind(void) {
    begin("THTensor_unbind");
    pieces(unbind);
}

static void call_THTensor_tensorSplit(void) {
    begin("THTensor_tensorSplit");
    pieces(THTensor_tensorSplit);
}

static THStatus nonzero_tuple(THTensor **r, int *count, const THTensor *t, int64_t n, int d) {
    (void)n, (void)d;
    return THTensor_nonzeroTuple(r, count, t);
}

static void call_THTensor_nonzeroTuple(void) {
    begin("THTensor_nonzeroTuple");
    pieces(nonzero_tuple);
}

/* The list of the next three functions. Both calls of a function use the same list. */
static struct {
    int count;
    const int64_t *entries;
    int64_t kept[1000];
} drawn_list;

static void draw_list(const char *name) {
    drawn_list.count = entries("ndim");
    const int64_t *drawn = list(name, drawn_list.count);
    /* A drawn list is freed after the first call, so it is copied. */
    drawn_list.entries = drawn ? memcpy(drawn_list.kept, drawn, (size_t)drawn_list.count * sizeof *drawn) : NULL;
}

static THStatus split_sizes(THTensor **r, int *count, const THTensor *t, int64_t n, int d) {
    (void)n;
    return THTensor_splitSizes(r, count, t, drawn_list.count, drawn_list.entries, d);
}

static void call_THTensor_splitSizes(void) {
    begin("THTensor_splitSizes");
    draw_list("sizes");
    pieces(split_sizes);
}

static THStatus split_indices(THTensor **r, int *count, const THTensor *t, int64_t n, int d) {
    (void)n;
    return THTensor_tensorSplitIndices(r, count, t, drawn_list.count, drawn_list.entries, d);
}

static void call_THTensor_tensorSplitIndices(void) {
    begin("THTensor_tensorSplitIndices");
    draw_list("indices");
    pieces(split_indices);
}

static THStatus unravel_index(THTensor **r, int *count, const THTensor *t, int64_t n, int d) {
    (void)n, (void)d;
    return THTensor_unravelIndex(r, count, t, drawn_list.count, drawn_list.entries);
}

static void call_THTensor_unravelIndex(void) {
    begin("THTensor_unravelIndex");
    draw_list("shape");
    pieces(unravel_index);
}

/* ---- callbacks ---- */

/* Returns nonzero when the callback is to stop: the context counts the remaining calls. A callback may call the library. */
static int shall_stop(void *context) {
    int *left = context;
    if (left && --*left == 0) return 7;
    return 0;
}

static int twice(double *x, void *context) {
    *x *= 2;
    if (chance(5)) THTensor_sumall(pool.tensor[0]);
    return shall_stop(context);
}

static int sum_of_two(double *x, double y, void *context) {
    *x += y;
    return shall_stop(context);
}

static int sum_of_three(double *x, double y, double z, void *context) {
    *x += y * z;
    return shall_stop(context);
}

/* Elements that a callback changed before it stopped, or before an error, stay changed. Its code is not a status. */
static void after_callback(THStatus got) {
    if (got != 7 && got != THGetLastErrorCode()) fail("returned %d, but THGetLastErrorCode is %d", got, THGetLastErrorCode());
    after_call(true);
}

static void call_THTensor_apply(void) {
    begin("THTensor_apply");
    THTensor *t = tensor("t");
    int left = 1 + below(40);
    before();
    THStatus got = THTensor_apply(t, chance(4) ? NULL : twice, chance(50) ? &left : NULL);
    /* Calls of the library within the callback may have failed. */
    if (got == TH_OK) THClearLastError();
    if (got != TH_OK && got != 7 && strncmp(THGetLastError(), "THTensor_apply", 14) != 0) fail("message \"%s\"", THGetLastError());
    if (got == 7) THClearLastError();
    after_callback(got);
}

static void call_THTensor_map(void) {
    begin("THTensor_map");
    THTensor *t = tensor("t");
    const THTensor *src = tensor("src");
    int left = 1 + below(40);
    before();
    THStatus got = THTensor_map(t, src, chance(4) ? NULL : sum_of_two, chance(50) ? &left : NULL);
    if (got == 7) THClearLastError();
    after_callback(got);
}

static void call_THTensor_map2(void) {
    begin("THTensor_map2");
    THTensor *t = tensor("t");
    const THTensor *a = tensor("a"), *b = tensor("b");
    int left = 1 + below(40);
    before();
    THStatus got = THTensor_map2(t, a, b, chance(4) ? NULL : sum_of_three, chance(50) ? &left : NULL);
    if (got == 7) THClearLastError();
    after_callback(got);
}

static void count_hook(void *context, int64_t live) {
    (void)context;
    if (live < 0) fail("%lld live bytes", (long long)live);
}

static void call_THMemory_setSoftLimit(void) {
    begin("THMemory_setSoftLimit");
    int64_t bytes = whole("bytes");
    before();
    after_status(THMemory_setSoftLimit(bytes, chance(60) ? NULL : count_hook, NULL));
}

/* ---- memory of the caller ---- */

static void deleted(void *data, void *context) {
    (void)context;
    free(data);
    blobs_deleted++;
}

/* Makes a tensor over host memory, also with a device, because there is no GPU. */
static void from_blob(bool device) {
    int64_t size[3], stride[3], reach = 1;
    int ndim = below(4), kind = TH_CPU;
    begin(device ? "THTensor_newFromBlobOn" : "THTensor_newFromBlob");
    for (int d = 0; d < ndim; d++) {
        size[d] = chance(8) ? -1 : below(4);
        stride[d] = chance(8) ? -1 : below(6);
        reach += size[d] > 0 && stride[d] > 0 ? (size[d] - 1) * stride[d] : 0;
    }
    THDtype dtype = code("dtype", 10);
    bool strided = chance(60);
    /* Enough for a row-major tensor, too. */
    void *data = calloc((size_t)(reach < 64 ? 64 : reach), 8), *given = chance(3) ? NULL : data;
    const int64_t *sizes = chance(3) ? NULL : size, *strides = strided ? stride : NULL;
    if (device) kind = code("deviceType", 3);
    before();
    THTensor *t = device ? THTensor_newFromBlobOn(dtype, kind, 0, ndim, sizes, strides, given, deleted, NULL)
                         : THTensor_newFromBlob(dtype, ndim, sizes, strides, given, deleted, NULL);
    after();
    if (t) blobs_made++;
    if (!t || !given) free(data);
    keep_tensor(t);
}

static void call_THTensor_newFromBlob(void) { from_blob(false); }
static void call_THTensor_newFromBlobOn(void) { from_blob(true); }

static void call_THStorage_newFromBlob(void) {
    begin("THStorage_newFromBlob");
    THDtype dtype = code("dtype", 10);
    ptrdiff_t size = chance(10) ? -1 : below(BLOCK / 8);
    void *data = calloc(BLOCK, 1);
    before();
    THStorage *s = THStorage_newFromBlob(dtype, data, size, deleted, NULL);
    after();
    if (s)
        blobs_made++;
    else
        free(data);
    keep_storage(s);
}

static void call_THTensor_newFromData(void) {
    static const char data[4 * 4 * 4 * 4 * 8];
    int64_t size[4];
    int ndim = chance(6) ? -1 : below(5);
    begin("THTensor_newFromData");
    for (int d = 0; d < ndim; d++) size[d] = chance(6) ? -1 : below(5);
    THDtype dtype = code("dtype", 10);
    before();
    THTensor *t = THTensor_newFromData(dtype, ndim, chance(3) ? NULL : size, chance(3) ? NULL : data);
    after();
    keep_tensor(t);
}

static void call_THStorage_rawCopy(void) {
    static const char data[1 << 16];
    begin("THStorage_rawCopy");
    THStorage *s = storage("storage");
    bool fits = !s || s->size <= LENGTH(data) / 8;
    before();
    after_status(THStorage_rawCopy(s, fits ? data : NULL));
}

static void call_THAlloc(void) {
    static const ptrdiff_t wild[] = {-1, PTRDIFF_MAX, PTRDIFF_MIN, (ptrdiff_t)1 << 50};
    ptrdiff_t size = chance(20) ? wild[below(LENGTH(wild))] : chance(10) ? 0 : BLOCK;
    begin("THAlloc");
    before();
    void *block = THAlloc(size);
    after();
    if (block && size != BLOCK) fail("%td bytes were given", size);
    void **slot = &pool.block[below(OTHERS)];
    if (!block) return;
    THFree(*slot);
    *slot = memset(block, 0, BLOCK);
}

static void call_THRealloc(void) {
    static const ptrdiff_t wild[] = {-1, PTRDIFF_MAX, PTRDIFF_MIN};
    void **slot = &pool.block[below(OTHERS)];
    ptrdiff_t size = chance(30) ? wild[below(LENGTH(wild))] : chance(10) ? 0 : BLOCK;
    begin("THRealloc");
    before();
    void *block = THRealloc(*slot, size);
    after();
    if (size == 0 || block) *slot = block;
}

static void call_THFree(void) {
    begin("THFree");
    before();
    THFree(take(pool.block, OTHERS));
    after();
}

/* Passes a block that the storage takes over, unless the call fails. */
static void call_THStorage_newWithData(void) {
    int slot = below(OTHERS);
    begin("THStorage_newWithData");
    THDtype dtype = code("dtype", 10);
    ptrdiff_t size = chance(10) ? -1 : pool.block[slot] ? below(BLOCK / 8) : 0;
    before();
    THStorage *s = THStorage_newWithData(dtype, pool.block[slot], size);
    after();
    if (s) pool.block[slot] = NULL;
    keep_storage(s);
}

/* ---- allocators ---- */

/* The program's allocator. Its context counts allocated and freed blocks. */
static void *own_malloc(void *context, ptrdiff_t size) {
    void *block = malloc((size_t)size);
    if (block) ++*(int *)context;
    return block;
}

static void *own_realloc(void *context, void *block, ptrdiff_t size) {
    (void)context;
    return realloc(block, (size_t)size);
}

static void own_free(void *context, void *block) {
    if (block) --*(int *)context;
    free(block);
}

static const THAllocator own_allocator = {own_malloc, own_realloc, own_free};
static const THAllocator own_that_does_not_grow = {own_malloc, NULL, own_free};

static ptrdiff_t modest_size(void) {
    static const ptrdiff_t wild[] = {-1, PTRDIFF_MAX, PTRDIFF_MIN, (ptrdiff_t)1 << 58};
    return chance(12) ? wild[below(LENGTH(wild))] : below(BLOCK / 8);
}

static void call_THStorage_newWithAllocator(void) {
    begin("THStorage_newWithAllocator");
    THDtype dtype = code("dtype", 10);
    int slot = below(OTHERS), which = below(5);
    bool maps = which >= 3 && pool.context[slot];
    const THAllocator *allocator = maps ? (which == 3 ? &THMapAllocator : &THRefcountedMapAllocator)
                                   : which == 0 ? &THDefaultAllocator
                                   : which == 1 ? &own_allocator
                                                : &own_that_does_not_grow;
    /* A file grows to the size of the mapping: at most a page. */
    ptrdiff_t size = maps ? below(BLOCK) - 1 : modest_size();
    before();
    THStorage *s = THStorage_newWithAllocator(dtype, size, chance(3) ? NULL : allocator, maps ? (void *)pool.context[slot] : &own_blocks);
    after();
    /* On success the context belongs to the storage, otherwise to the program. */
    if (s && maps) pool.context[slot] = NULL;
    keep_storage(s);
}

static void call_THStorage_newWithDataAndAllocator(void) {
    begin("THStorage_newWithDataAndAllocator");
    THDtype dtype = code("dtype", 10);
    void *data = own_malloc(&own_blocks, BLOCK);
    ptrdiff_t size = chance(10) ? -1 : below(BLOCK / 8);
    before();
    THStorage *s = THStorage_newWithDataAndAllocator(dtype, data, size, chance(3) ? NULL : &own_allocator, &own_blocks);
    after();
    if (!s) own_free(&own_blocks, data);
    keep_storage(s);
}

/* ---- mappings ---- */

/* Removes the files of a process. */
static void forget_files(pid_t pid) {
    static const char *const patterns[] = {"/tmp/thorn-sequences-%d", "/tmp/thorn-sequences-%d-made", "/tmp/thorn-sequences-%d-pipe",
                                           "/dev/shm/thorn-sequences-%d"};
    for (int i = 0; i < LENGTH(patterns); i++) {
        char path[64];
        snprintf(path, sizeof path, patterns[i], (int)pid);
        unlink(path);
    }
}

/* Returns a name: a file of a page, a file that may be created, shared memory, a pipe, a directory, or nonsense. */
static const char *mapped_name(const char *name) {
    static char page[64], made[64], shared[64], pipe[64], longest[5000];
    static const char *const words[] = {page, page, made, shared, shared, pipe, "/tmp", "", "/no/such/file", longest, NULL};
    if (!page[0]) {
        snprintf(pipe, sizeof pipe, "/tmp/thorn-sequences-%d-pipe", (int)getpid());
        snprintf(page, sizeof page, "/tmp/thorn-sequences-%d", (int)getpid());
        snprintf(made, sizeof made, "/tmp/thorn-sequences-%d-made", (int)getpid());
        snprintf(shared, sizeof shared, "/thorn-sequences-%d", (int)getpid());
        memset(longest, 'x', sizeof longest - 1);
    }
    /* Allocator contexts may have created files with these names. */
    forget_files(getpid());
    int fd = open(page, O_CREAT | O_RDWR, 0600);
    if (fd < 0 || ftruncate(fd, 4096) != 0 || mkfifo(pipe, 0600) != 0) fail("no files in /tmp: %s", strerror(errno));
    close(fd);
    return one_of(name, words, LENGTH(words));
}

static int map_flags(void) {
    int flags = chance(5) ? below(256) : (below(8) << 4 & ~TH_ALLOCATOR_MAPPED_FROMFD) | below(16);
    trace("flags=%d ", flags);
    return flags;
}

static void call_THStorage_newWithMapping(void) {
    begin("THStorage_newWithMapping");
    const char *name = mapped_name("filename");
    THDtype dtype = code("dtype", 10);
    /* A file grows to the size of the mapping: at most a page. */
    ptrdiff_t size = chance(5) ? PTRDIFF_MIN : below(BLOCK) - 1;
    int flags = map_flags();
    before();
    THStorage *s = THStorage_newWithMapping(dtype, name, size, flags);
    after();
    keep_storage(s);
    forget_files(getpid());
}

static void call_THMapAllocatorContext_new(void) {
    begin("THMapAllocatorContext_new");
    const char *name = mapped_name("filename");
    int flags = map_flags();
    before();
    THMapAllocatorContext *c = THMapAllocatorContext_new(name, flags);
    after();
    keep_context(c);
    forget_files(getpid());
}

static void call_THMapAllocatorContext_newWithFd(void) {
    begin("THMapAllocatorContext_newWithFd");
    const char *name = mapped_name("filename");
    char page[64];
    snprintf(page, sizeof page, "/tmp/thorn-sequences-%d", (int)getpid());
    int fd = chance(10) ? -1 : open(page, O_RDWR), flags = map_flags() | (chance(90) ? TH_ALLOCATOR_MAPPED_FROMFD : 0);
    before();
    THMapAllocatorContext *c = THMapAllocatorContext_newWithFd(name, fd, flags);
    after();
    if (!c && fd >= 0) close(fd);
    keep_context(c);
    forget_files(getpid());
}

/* ---- errors ---- */

/* The caller gives the message, which does not begin with the function's name. */
static void call_THSetLastError(void) {
    char text[1200];
    memset(text, 'x', sizeof text);
    text[below(sizeof text)] = text[sizeof text - 1] = 0;
    begin("THSetLastError");
    THStatus status = (THStatus)code("status", 12);
    const char *message = chance(10) ? NULL : text;
    before();
    THStatus got = THSetLastError(status, message);
    if (got != status || THGetLastErrorCode() != status) fail("returned %d for %d", got, status);
    if (status != TH_OK && strncmp(THGetLastError(), message ? message : "", 1023) != 0) fail("message \"%s\"", THGetLastError());
    THClearLastError();
    after();
}

/* ---- printing ---- */

/* Returns a stream that accepts everything or, if the system has one, nothing. */
static FILE *some_stream(void) {
    FILE *full = chance(30) ? fopen("/dev/full", "w") : NULL;
    FILE *stream = full ? full : fopen("/dev/null", "w");
    if (!stream) fail("no /dev/null: %s", strerror(errno));
    return stream;
}

/* Only with the GNU C library, where stdout can be assigned. */
static void call_THTensor_print(void) {
    begin("THTensor_print");
    const THTensor *t = tensor("t");
    FILE *stream = some_stream(), *was = stdout;
    stdout = stream;
    before();
    THStatus got = THTensor_print(t);
    stdout = was;
    after_status(got);
    fclose(stream);
}

static void call_THTensor_fprint(void) {
    begin("THTensor_fprint");
    FILE *stream = some_stream();
    const THTensor *t = tensor("t");
    const THPrintOptions *options = print_options("options");
    before();
    after_status(THTensor_fprint(chance(4) ? NULL : stream, t, options));
    fclose(stream);
}

/* ---- numbers that ask for work or memory ---- */

/* Returns true if the greatest element, and so the number of bins, is small. As many bins as fit in memory would take minutes. */
static bool counts_few(const THTensor *t) {
    if (!t || THTensor_numel(t) <= 0) return true;
    double most = THTensor_maxall(t);
    return !(most > 1e4 && most < 1e13);
}

static void call_THTensor_bincount(void) {
    begin("THTensor_bincount");
    THTensor *r = tensor("r"), *t = tensor("t"), *weights = chance(50) ? NULL : tensor("weights");
    int64_t least = whole("minlength");
    if (!counts_few(t)) return;
    before();
    after_status(THTensor_bincount(r, t, weights, least));
}

static void call_THTensor_oneHot(void) {
    begin("THTensor_oneHot");
    THTensor *r = tensor("r"), *t = tensor("t");
    int64_t classes = whole("numClasses");
    if (!counts_few(t)) return;
    before();
    after_status(THTensor_oneHot(r, t, classes));
}

static void call_THSetNumThreads(void) {
    static const int values[] = {1, 2, 3, 0, -1, INT_MIN};
    begin("THSetNumThreads");
    before();
    after_status(THSetNumThreads(values[below(LENGTH(values))]));
}

/* Only allowed bits are passed. The library trusts the bits for references and memory: clearing them leaks, setting them frees twice. */
static char flag_bits(const char *name, char allowed) {
    char flag = (char)(below(256) & allowed);
    trace("%s=%d ", name, flag);
    return flag;
}

static void call_THTensor_setFlag(void) {
    begin("THTensor_setFlag");
    THTensor *t = tensor("tensor");
    char flag = flag_bits("flag", TH_TENSOR_REFCOUNTED | TH_TENSOR_SCALAR);
    before();
    after_status(THTensor_setFlag(t, flag));
}

static void call_THTensor_clearFlag(void) {
    begin("THTensor_clearFlag");
    THTensor *t = tensor("tensor");
    char flag = flag_bits("flag", TH_TENSOR_SCALAR);
    before();
    after_status(THTensor_clearFlag(t, flag));
}

static void call_THStorage_setFlag(void) {
    begin("THStorage_setFlag");
    THStorage *s = storage("storage");
    char flag = flag_bits("flag", TH_STORAGE_REFCOUNTED);
    before();
    after_status(THStorage_setFlag(s, flag));
}

static void call_THStorage_clearFlag(void) {
    begin("THStorage_clearFlag");
    THStorage *s = storage("storage");
    char flag = flag_bits("flag", TH_STORAGE_RESIZABLE);
    before();
    after_status(THStorage_clearFlag(s, flag));
}

#endif
