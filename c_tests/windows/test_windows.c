/* What differs on Windows: names of files in UTF-8, mapped files, shared memory by names, and threads of the system. */
#include "../check.h"

#include <process.h>
#include <windows.h>

/* A name with letters that the code pages of Windows do not have in common. */
static const char name[] = "thorn \xc3\xa9\xd0\xb6\xe6\xbc\xa2.npy";
static const wchar_t wide_name[] = L"thorn \u00e9\u0436\u6f22.npy";

static int64_t length_of(const wchar_t *file) {
    WIN32_FILE_ATTRIBUTE_DATA found;
    if (!GetFileAttributesExW(file, GetFileExInfoStandard, &found)) return -1;
    return (int64_t)found.nFileSizeHigh << 32 | found.nFileSizeLow;
}

static void names_of_files_are_utf8(void) {
    THTensor *t = vector_of(TH_FLOAT64, 1, 2, 3);
    CHECK_OK(THTensor_save(t, name));
    CHECK(length_of(wide_name) > 24);
    THTensor *again = THTensor_newLoad(name);
    CHECK_VALUES(again, 1, 2, 3);
    CHECK_ERROR(THTensor_save(t, "\xff\xfe.npy"), TH_ERR_ARGUMENT, "");
    CHECK_FAILURE(THTensor_newLoad("\xff\xfe.npy") == NULL, TH_ERR_IO, "UTF-8");
    CHECK_FAILURE(THTensor_newLoad("missing.npy") == NULL, TH_ERR_IO, "missing.npy");
    CHECK(DeleteFileW(wide_name));
    THTensor_free(again);
    THTensor_free(t);
}

/* 100000 doubles are mapped and not read. */
static void a_file_is_replaced(void) {
    THTensor *t = THTensor_newArange(TH_FLOAT64, 0, 100000, 1);
    CHECK_OK(THTensor_save(t, name));
    THTensor *mapped = THTensor_newLoad(name);
    CHECK_NEAR(THTensor_get1d(mapped, 99999), 99999, 0);
    CHECK_OK(THTensor_set1d(mapped, 0, -1));
    THTensor_free(mapped);
    THTensor *other = vector_of(TH_FLOAT64, 7);
    CHECK_OK(THTensor_save(other, name));
    THTensor *again = THTensor_newLoad(name);
    CHECK_VALUES(again, 7);
    /* An open handle without sharing, as another program may have, prevents the replacement. */
    HANDLE used = CreateFileW(wide_name, GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL);
    CHECK(used != INVALID_HANDLE_VALUE);
    CHECK_ERROR(THTensor_save(t, name), TH_ERR_IO, "cannot write");
    CloseHandle(used);
    CHECK(DeleteFileW(wide_name));
    THTensor_free(again);
    THTensor_free(other);
    THTensor_free(t);
}

static void mapped_files_grow_and_are_written(void) {
    THStorage *s = THStorage_newWithMapping(TH_INT32, name, 1000, TH_ALLOCATOR_MAPPED_SHARED);
    CHECK(s != NULL);
    CHECK_EQ(length_of(wide_name), 4000);
    ((int32_t *)s->data)[999] = 42;
    THStorage_free(s);
    THStorage *private = THStorage_newWithMapping(TH_INT32, name, -1, 0);
    CHECK(private != NULL);
    CHECK_EQ(private->size, 1000);
    CHECK_EQ(((int32_t *)private->data)[999], 42);
    ((int32_t *)private->data)[999] = 43;
    THStorage_free(private);
    s = THStorage_newWithMapping(TH_INT32, name, 1500, TH_ALLOCATOR_MAPPED_SHARED | TH_ALLOCATOR_MAPPED_NOCREATE);
    CHECK(s != NULL);
    CHECK_EQ(((int32_t *)s->data)[999], 42);
    CHECK_EQ(((int32_t *)s->data)[1499], 0);
    THStorage_free(s);
    CHECK_EQ(length_of(wide_name), 6000);
    CHECK_FAILURE(THStorage_newWithMapping(TH_INT32, name, 2000, 0) == NULL, TH_ERR_IO, "6000 bytes, 8000 are needed");
    int exclusive = TH_ALLOCATOR_MAPPED_SHARED | TH_ALLOCATOR_MAPPED_EXCLUSIVE;
    CHECK_FAILURE(THStorage_newWithMapping(TH_INT32, name, 1, exclusive) == NULL, TH_ERR_IO, "cannot open");
    CHECK(DeleteFileW(wide_name));
    int existing = TH_ALLOCATOR_MAPPED_SHARED | TH_ALLOCATOR_MAPPED_NOCREATE;
    CHECK_FAILURE(THStorage_newWithMapping(TH_INT32, name, 1, existing) == NULL, TH_ERR_IO, "cannot open");
    s = THStorage_newWithMapping(TH_INT32, name, 10, TH_ALLOCATOR_MAPPED_SHARED | TH_ALLOCATOR_MAPPED_UNLINK);
    CHECK(s != NULL);
    THStorage_free(s);
    CHECK_EQ(length_of(wide_name), -1);
}

static THStorage *counted(const char *of, ptrdiff_t size, int flags) {
    THMapAllocatorContext *context = THMapAllocatorContext_new(of, TH_ALLOCATOR_MAPPED_SHAREDMEM | flags);
    THStorage *s = THStorage_newWithAllocator(TH_FLOAT32, size, &THRefcountedMapAllocator, context);
    if (!s) THMapAllocatorContext_free(context);
    return s;
}

static void the_last_user_ends_shared_memory(void) {
    char of[64];
    snprintf(of, sizeof of, "/thorn-windows-%d", _getpid());
    THStorage *first = counted(of, 100, TH_ALLOCATOR_MAPPED_EXCLUSIVE);
    CHECK(first != NULL);
    CHECK_FAILURE(counted(of, 100, TH_ALLOCATOR_MAPPED_EXCLUSIVE) == NULL, TH_ERR_IO, "cannot open");
    THStorage *second = counted(of, 100, TH_ALLOCATOR_MAPPED_NOCREATE);
    CHECK(second != NULL);
    ((float *)first->data)[99] = 5;
    CHECK_NEAR(((float *)second->data)[99], 5, 0);
    CHECK_FAILURE(counted(of, 1 << 20, TH_ALLOCATOR_MAPPED_NOCREATE) == NULL, TH_ERR_IO, "cannot map");
    THStorage_free(first);
    CHECK_NEAR(((float *)second->data)[99], 5, 0);
    THStorage_free(second);
    CHECK_FAILURE(counted(of, 100, TH_ALLOCATOR_MAPPED_NOCREATE) == NULL, TH_ERR_IO, "cannot open");
}

/* The other process of the next case: writes to the memory that THORN_SHARED names. */
static void another_process_writes(void) {
    const char *of = getenv("THORN_SHARED");
    if (!of) return;
    THStorage *s = THStorage_newShared(TH_FLOAT64, of, 2);
    CHECK(s != NULL);
    if (!s) return;
    double *data = s->data;
    data[1] = data[0] + 1;
    THStorage_free(s);
}

static void processes_share_memory_by_a_name(void) {
    if (getenv("THORN_SHARED")) return;
    THTensor *t = vector_of(TH_FLOAT64, 3, 0);
    CHECK_OK(THTensor_shareMemory(t));
    CHECK(THTensor_isShared(t));
    char *of = THStorage_sharedName(THTensor_storage(t));
    CHECK(of != NULL);
    char entry[128], program[MAX_PATH];
    snprintf(entry, sizeof entry, "THORN_SHARED=%s", of);
    _putenv(entry);
    GetModuleFileNameA(NULL, program, sizeof program);
    CHECK_EQ(_spawnl(_P_WAIT, program, program, "another_process_writes", NULL), 0);
    _putenv("THORN_SHARED=");
    CHECK_VALUES(t, 3, 4);
    THFree(of);
    CHECK_EQ(THStorage_sharedFd(THTensor_storage(t)), -1);
    CHECK_FAILURE(THStorage_newSharedFd(TH_FLOAT64, 1, 1) == NULL, TH_ERR_IO, "not by descriptors");
    CHECK_FAILURE(THMapAllocatorContext_newWithFd(NULL, 1, TH_ALLOCATOR_MAPPED_FROMFD) == NULL, TH_ERR_ARGUMENT, "descriptor");
    THTensor_free(t);
}

static DWORD WINAPI adds(void *argument) {
    int *right = argument;
    for (int round = 0; round < 20; round++) {
        THTensor *t = THTensor_newOnes(TH_FLOAT32, SIZES(300, 1000));
        THTensor *sum = THTensor_new();
        *right += THTensor_cadd(t, t, 2, t) == TH_OK && THTensor_sumall(t) == 900000;
        THTensor_free(sum);
        THTensor_free(t);
    }
    /* An error belongs to the thread, and its text ends with the thread. */
    *right += THTensor_size(NULL, 0) == -1 && THGetLastError()[0] != 0;
    return 0;
}

static void threads_of_the_system_compute_and_end(void) {
    HANDLE threads[8];
    int right[8] = {0};
    THSetNumThreads(3);
    for (int i = 0; i < 8; i++) threads[i] = CreateThread(NULL, 0, adds, &right[i], 0, NULL);
    for (int i = 0; i < 8; i++) {
        WaitForSingleObject(threads[i], INFINITE);
        CloseHandle(threads[i]);
        CHECK_EQ(right[i], 21);
    }
    THSetNumThreads(THGetNumCores());
}

static void memory_of_the_allocators_is_writable(void) {
    for (ptrdiff_t size = 1; size < 1 << 27; size *= 3) {
        char *block = THAlloc(size);
        CHECK(block != NULL);
        if (!block) continue;
        block[0] = block[size - 1] = 1;
        block = THRealloc(block, size * 2);
        CHECK(block != NULL && block[0] == 1);
        THFree(block);
    }
    CHECK_FAILURE(THTensor_newZeros(TH_FLOAT64, SIZES(INT64_C(1) << 50)) == NULL, TH_ERR_NOMEM, "");
}

CHECK_MAIN(CASE(names_of_files_are_utf8), CASE(a_file_is_replaced), CASE(mapped_files_grow_and_are_written),
           CASE(the_last_user_ends_shared_memory), CASE(another_process_writes), CASE(processes_share_memory_by_a_name),
           CASE(threads_of_the_system_compute_and_end), CASE(memory_of_the_allocators_is_writable))
