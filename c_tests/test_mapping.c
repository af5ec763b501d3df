/* Mappings that must be refused: a path that is not a file, more bytes than there are, and mappings that fail half
 * way. */
#define _GNU_SOURCE
#include "check.h"
#include "mapped.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* musl has one function for both sizes of off_t. */
#ifdef __GLIBC__
#define FALLOCATE fallocate64
#else
#define FALLOCATE fallocate
#endif
#define TEXT(name) #name
#define NAME(name) TEXT(name)

/* The behaviour of the FALLOCATE at the end of this file, which replaces the C library's. */
static struct {
    int64_t most;    /* the longest requested range */
    int fail_from;   /* the first request that fails; a signal interrupts the request before, which is done in part */
    int requests;
    int64_t relied;  /* the length of the file when a request failed: another process may have mapped that much */
} space;

static char directory[64], path[80];

static void make_directory(void) {
    snprintf(directory, sizeof directory, "/tmp/thorn-test-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    snprintf(path, sizeof path, "%s/values", directory);
    memset(&space, 0, sizeof space);
    space.fail_from = 1000;
}

static void remove_directory(void) {
    unlink(path);
    CHECK(rmdir(directory) == 0);
}

static off_t length_of(const char *name) {
    struct stat found;
    return stat(name, &found) == 0 ? found.st_size : -1;
}

static const char *shared_name(void) {
    static char name[64];
    snprintf(name, sizeof name, "/thorn-mapping-%ld", (long)getpid());
    return name;
}

static int has_name(const char *name) {
    int fd = shm_open(name, O_RDONLY, 0);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

/* Makes a storage over an open descriptor, which it takes over. Returns NULL on error. */
static THStorage *over(int fd, ptrdiff_t size) {
    THMapAllocatorContext *context =
        THMapAllocatorContext_newWithFd(NULL, fd, TH_ALLOCATOR_MAPPED_FROMFD | TH_ALLOCATOR_MAPPED_SHARED);
    THStorage *s = THStorage_newWithAllocator(TH_FLOAT64, size, &THMapAllocator, context);
    if (!s) THMapAllocatorContext_free(context);
    return s;
}

static void only_files_are_mapped(void) {
    static const int flags[] = {0, TH_ALLOCATOR_MAPPED_SHARED,
                                TH_ALLOCATOR_MAPPED_SHARED | TH_ALLOCATOR_MAPPED_NOCREATE};
    make_directory();
    CHECK_EQ(mkfifo(path, 0600), 0);
    alarm(20);
    for (int k = 0; k < 3; k++) {
        for (ptrdiff_t size = 0; size < 9; size += 8) {
            CHECK_FAILURE(THStorage_newWithMapping(TH_INT8, path, size, flags[k]) == NULL, TH_ERR_IO, "regular file");
            CHECK_FAILURE(THStorage_newWithMapping(TH_INT8, "/dev/zero", size, flags[k]) == NULL, TH_ERR_IO,
                          "regular file");
            CHECK_FAILURE(THStorage_newWithMapping(TH_INT8, directory, size, flags[k]) == NULL, TH_ERR_IO, directory);
        }
    }
    alarm(0);
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    close(ends[0]);
    CHECK_FAILURE(over(ends[1], 1) == NULL, TH_ERR_IO, "regular file");
    remove_directory();
}

static void shared_memory_of_absurd_size_takes_no_memory(void) {
    /* More than the address space, more than a machine's memory, and the latter in addition to existing bytes. */
    static const int powers[] = {60, 57, 46, 44};
    make_directory();
    for (int k = 0; k < 4; k++) {
        ptrdiff_t size = (ptrdiff_t)1 << (powers[k] - 3);
        int fd = memfd_create("thorn", MFD_CLOEXEC), same = dup(fd);
        CHECK(k < 3 || ftruncate(fd, 100) == 0);
        CHECK_FAILURE(over(fd, size) == NULL, TH_ERR_IO, "map");
        struct stat found;
        CHECK_EQ(fstat(same, &found), 0);
        CHECK_EQ(found.st_size, k < 3 ? 0 : 100);
        close(same);
        CHECK_FAILURE(THStorage_newWithMapping(TH_FLOAT64, shared_name(), size, TH_ALLOCATOR_MAPPED_SHAREDMEM) == NULL,
                      TH_ERR_IO, "map");
        CHECK(!has_name(shared_name()));
    }
    CHECK(space.most < 1 << 20);
    remove_directory();
}

static void shared_memory_grows_to_what_is_asked_for(void) {
    make_directory();
    int fd = memfd_create("thorn", MFD_CLOEXEC), same = dup(fd);
    THStorage *s = over(fd, 1 << 18);
    CHECK_EQ(THStorage_size(s), 1 << 18);
    CHECK_OK(THStorage_set(s, (1 << 18) - 1, 7));
    double last = 0;
    CHECK_EQ(pread(same, &last, sizeof last, (1 << 21) - 8), 8);
    CHECK_NEAR(last, 7, 0);
    CHECK_EQ(lseek(same, 0, SEEK_END), 1 << 21);
    THStorage_free(s);
    close(same);
    remove_directory();
}

static void a_file_that_cannot_grow_is_not_cut_either(void) {
    for (int fail_from = 0; fail_from < 3; fail_from++) {
        make_directory();
        FILE *file = fopen(path, "wb");
        CHECK(file && fwrite("abc", 1, 3, file) == 3 && fclose(file) == 0);
        space.fail_from = fail_from;
        THStorage *s = THStorage_newWithMapping(TH_UINT8, path, 1 << 22, TH_ALLOCATOR_MAPPED_SHARED);
        if (s) {
            CHECK_EQ(length_of(path), 1 << 22);
        } else {
            CHECK(strstr(THGetLastError(), "grow") != NULL);
            CHECK(length_of(path) >= space.relied);
            CHECK(fail_from > 0 || length_of(path) == 3);
        }
        THStorage_free(s);
        remove_directory();
    }
}

static void a_file_made_in_vain_is_removed(void) {
    make_directory();
    space.fail_from = 0;
    CHECK_FAILURE(THStorage_newWithMapping(TH_UINT8, path, 1 << 20, TH_ALLOCATOR_MAPPED_SHARED) == NULL, TH_ERR_IO,
                  "grow");
    CHECK_EQ(length_of(path), -1);
    CHECK_FAILURE(THStorage_newWithMapping(TH_UINT8, path, 0, TH_ALLOCATOR_MAPPED_SHARED) == NULL, TH_ERR_IO, "empty");
    CHECK_EQ(length_of(path), -1);
    remove_directory();
}

static void a_mapping_survives_resizing_to_nothing(void) {
    make_directory();
    for (int shared_memory = 0; shared_memory < 2; shared_memory++) {
        const char *name = shared_memory ? shared_name() : path;
        THMapAllocatorContext *context = THMapAllocatorContext_new(
            name, shared_memory ? TH_ALLOCATOR_MAPPED_SHAREDMEM : TH_ALLOCATOR_MAPPED_SHARED);
        THStorage *s = THStorage_newWithAllocator(TH_INT32, 100, &THMapAllocator, context);
        CHECK_OK(THStorage_fill(s, 3));
        CHECK(is_mapped(name));
        CHECK_ERROR(THStorage_resize(s, 0), TH_ERR_UNSUPPORTED, "realloc");
        CHECK_EQ(THStorage_size(s), 100);
        CHECK_NEAR(THStorage_get(s, 99), 3, 0);
        THStorage_free(s);
        CHECK(!is_mapped(name));
    }
    CHECK(!has_name(shared_name()));
    remove_directory();
}

/* An allocator whose realloc refuses blocks of no bytes: it returns NULL, and the block stays. */
static int blocks;

static void *count_malloc(void *context, ptrdiff_t size) {
    (void)context;
    blocks++;
    return malloc((size_t)size);
}

static void *refuse_nothing(void *context, void *block, ptrdiff_t size) {
    (void)context;
    return size > 0 ? realloc(block, (size_t)size) : NULL;
}

static void count_free(void *context, void *block) {
    (void)context;
    if (block) blocks--;
    free(block);
}

static void blocks_of_the_caller_survive_resizing_to_nothing(void) {
    static const THAllocator both[] = {{count_malloc, refuse_nothing, count_free}, {count_malloc, NULL, count_free}};
    for (int k = 0; k < 2; k++) {
        THStorage *s = THStorage_newWithAllocator(TH_INT32, 100, &both[k], NULL);
        CHECK_OK(THStorage_resize(s, 0));
        CHECK_EQ(THStorage_size(s), 0);
        CHECK_EQ(blocks, 1);
        CHECK_OK(THStorage_resize(s, 5));
        CHECK_OK(THStorage_fill(s, 2));
        CHECK_OK(THStorage_resize(s, 0));
        THStorage_free(s);
        CHECK_EQ(blocks, 0);
    }
}

int FALLOCATE(int fd, int mode, int64_t start, int64_t length) {
    static int (*theirs)(int, int, int64_t, int64_t);
    if (!theirs) *(void **)&theirs = dlsym(RTLD_NEXT, NAME(FALLOCATE));
    if (length > space.most) space.most = length;
    int request = space.requests++;
    struct stat found;
    /* As the system does if the range is the whole memory, but without using the memory. */
    if (request < space.fail_from && length < 1 << 24) {
        if (request + 2 != space.fail_from) return theirs(fd, mode, start, length);
        errno = EINTR;
        return -1;
    }
    if (fstat(fd, &found) == 0) space.relied = found.st_size;
    errno = ENOSPC;
    return -1;
}

static void a_link_to_a_file_that_is_not_there_makes_it(void) {
    make_directory();
    char link[sizeof path + 8];
    snprintf(link, sizeof link, "%s.link", path);
    CHECK_EQ(symlink(path, link), 0);
    CHECK_FAILURE(THStorage_newWithMapping(TH_UINT8, link, 10, TH_ALLOCATOR_MAPPED_SHARED | TH_ALLOCATOR_MAPPED_NOCREATE) == NULL,
                  TH_ERR_IO, "cannot open: No such file or directory");
    CHECK(strstr(THGetLastError(), "(os error") == NULL);
    THStorage *s = THStorage_newWithMapping(TH_UINT8, link, 10, TH_ALLOCATOR_MAPPED_SHARED);
    CHECK(s != NULL);
    CHECK_EQ(length_of(path), 10);
    THStorage_free(s);
    unlink(path);
    unlink(link);
    remove_directory();
}

CHECK_MAIN(CASE(only_files_are_mapped), CASE(shared_memory_of_absurd_size_takes_no_memory),
           CASE(shared_memory_grows_to_what_is_asked_for), CASE(a_file_that_cannot_grow_is_not_cut_either),
           CASE(a_file_made_in_vain_is_removed), CASE(a_mapping_survives_resizing_to_nothing),
           CASE(blocks_of_the_caller_survive_resizing_to_nothing), CASE(a_link_to_a_file_that_is_not_there_makes_it))
