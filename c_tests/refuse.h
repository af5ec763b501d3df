/* Refuses memory: the functions at the end of this file replace the C library's. */

#ifndef THORN_REFUSE_H
#define THORN_REFUSE_H

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

/* The number of an allocation that is never reached. */
enum { FOR_GOOD = 1 << 30 };

/* While `refusing`, allocations are counted on all threads, and those from `first` to `last` are refused. */
static struct {
    volatile bool refusing;
    long requests, first, last;
} memory;

/* Refuses the allocations with the numbers `first` to `last`, both included, counted from 0. */
static void refuse(long first, long last) {
    memory.requests = 0;
    memory.first = first;
    memory.last = last;
    memory.refusing = true;
}

/* Stops refusing. Returns true if an allocation was refused. */
static bool was_refused(void) {
    memory.refusing = false;
    return memory.requests > memory.first;
}

static bool refuses(void) {
    if (!memory.refusing) return false;
    long request = memory.requests++;
    if (request < memory.first || request > memory.last) return false;
    errno = ENOMEM;
    return true;
}

/* The C library's function with this name. */
#define THEIRS(type, name, ...)                                                                                        \
    static type (*theirs)(__VA_ARGS__);                                                                                \
    if (!theirs) *(void **)&theirs = dlsym(RTLD_NEXT, #name)

void *malloc(size_t size) {
    THEIRS(void *, malloc, size_t);
    return refuses() ? NULL : theirs(size);
}

void *calloc(size_t count, size_t size) {
    THEIRS(void *, calloc, size_t, size_t);
    return refuses() ? NULL : theirs(count, size);
}

void *realloc(void *block, size_t size) {
    THEIRS(void *, realloc, void *, size_t);
    return refuses() ? NULL : theirs(block, size);
}

int posix_memalign(void **block, size_t align, size_t size) {
    THEIRS(int, posix_memalign, void **, size_t, size_t);
    return refuses() ? ENOMEM : theirs(block, align, size);
}

void *aligned_alloc(size_t align, size_t size) {
    THEIRS(void *, aligned_alloc, size_t, size_t);
    return refuses() ? NULL : theirs(align, size);
}

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    THEIRS(void *, mmap, void *, size_t, int, int, int, off_t);
    return refuses() ? MAP_FAILED : theirs(address, size, protection, flags, file, offset);
}

/* Turns the cache off. Cached blocks would be used instead of new allocations. */
__attribute__((constructor)) static void keep_nothing(void) { setenv("TH_CACHE_LIMIT", "0", 1); }

#endif
