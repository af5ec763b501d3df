/* Functions of files: all of them write and read a few names in memory. */
#ifndef THORN_SEQUENCES_FILES_H
#define THORN_SEQUENCES_FILES_H

#include "runtime.h"

static const char *const ENDINGS[] = {"pt", "t7", "t7a", "npy", "npz", "safetensors", "csv", "tsv", "ppm", "png", "mtx", "xyz"};

/* Returns the name of a file that may exist, or rarely a name that no file can have. */
static const char *file_name(const char *name) {
    static char path[96];
    static const char *const words[] = {NULL, "", "/no/such/folder/a.pt", "/dev/shm", "/no/a\xff.pt"};
    if (chance(8)) return one_of(name, words, LENGTH(words));
    snprintf(path, sizeof path, "/dev/shm/thorn-sequences-%d.%s", (int)getpid(), ENDINGS[below(LENGTH(ENDINGS))]);
    trace("%s=%s ", name, path);
    return path;
}

static void forget_archives(void) {
    char path[96];
    for (int i = 0; i < LENGTH(ENDINGS); i++) {
        snprintf(path, sizeof path, "/dev/shm/thorn-sequences-%d.%s", (int)getpid(), ENDINGS[i]);
        unlink(path);
    }
}

/* Returns an archive to be written, or a written archive that is read. */
static THArchive *some_archive(void) {
    const char *path = file_name("path");
    THArchive *a = path ? THArchive_create(path, TH_FILE_BY_NAME) : NULL;
    if (!a || chance(40)) return a;
    for (int i = below(3); i >= 0; i--) (void)THArchive_add(a, i ? i == 1 ? "float32" : "long" : "", pool.tensor[i]);
    THStatus closed = THArchive_close(a);
    THArchive_free(a);
    return closed == TH_OK ? THArchive_open(path) : NULL;
}

/* Returns the bytes of such a file, limited to the size of the buffer, sometimes with one byte changed. */
static const char *file_bytes(ptrdiff_t *size) {
    static char buffer[1 << 16];
    const char *name = file_name("file");
    FILE *stream = name ? fopen(name, "rb") : NULL;
    *size = stream ? (ptrdiff_t)fread(buffer, 1, sizeof buffer, stream) : 0;
    if (stream) fclose(stream);
    if (*size && chance(50)) buffer[below((int)*size)] = (char)bits();
    return buffer;
}

static void call_THArchive_open(void) {
    begin("THArchive_open");
    const char *path = file_name("path");
    before();
    THArchive *got = THArchive_open(path);
    after();
    keep_archive(got);
}

static void call_THArchive_openWith(void) {
    begin("THArchive_openWith");
    const char *path = file_name("path");
    int flags = code("flags", TH_OPEN_COPY);
    before();
    THArchive *got = THArchive_openWith(path, flags);
    after();
    keep_archive(got);
}

static void call_THArchive_openTable(void) {
    begin("THArchive_openTable");
    const char *path = file_name("path");
    int separator = chance(50) ? ',' : below(300) - 10;
    before();
    THArchive *got = THArchive_openTable(path, separator);
    after();
    keep_archive(got);
}

static void call_THArchive_openMemory(void) {
    begin("THArchive_openMemory");
    ptrdiff_t size;
    const char *data = file_bytes(&size);
    before();
    /* The buffer will be reused, so the archive is closed here. */
    THArchive *got = THArchive_openMemory(chance(5) ? NULL : data, chance(5) ? PTRDIFF_MIN : size);
    after();
    if (got) keep_tensor(THArchive_newTensor(got, below(3)));
    THArchive_free(got);
}

struct bytes {
    const char *data;
    ptrdiff_t size, at;
};

static ptrdiff_t read_bytes(void *context, void *buffer, ptrdiff_t size) {
    struct bytes *b = context;
    if (chance(3)) return below(3) - 1;
    if (size > b->size - b->at) size = b->size - b->at;
    memcpy(buffer, b->data + b->at, (size_t)size);
    b->at += size;
    return size;
}

static int64_t seek_bytes(void *context, int64_t offset, int whence) {
    struct bytes *b = context;
    b->at = (ptrdiff_t)offset + (whence == SEEK_END ? b->size : 0);
    return chance(3) ? -1 : b->at;
}

static void call_THArchive_openCallbacks(void) {
    begin("THArchive_openCallbacks");
    struct bytes b = {NULL, 0, 0};
    b.data = file_bytes(&b.size);
    before();
    THArchive *got = THArchive_openCallbacks(chance(5) ? NULL : read_bytes, chance(5) ? NULL : seek_bytes, &b);
    after();
    if (got) keep_tensor(THArchive_newTensor(got, below(3)));
    THArchive_free(got);
}

static void call_THArchive_create(void) {
    begin("THArchive_create");
    const char *path = file_name("path");
    THFileFormat format = chance(70) ? TH_FILE_BY_NAME : code("format", 13);
    before();
    THArchive *got = THArchive_create(path, format);
    after();
    keep_archive(got);
}

static void call_THArchive_free(void) {
    begin("THArchive_free");
    before();
    THArchive_free(take(pool.archive, OTHERS));
    after();
}

static void call_THTensor_newLoad(void) {
    begin("THTensor_newLoad");
    const char *path = file_name("path");
    before();
    THTensor *got = THTensor_newLoad(path);
    after();
    keep_tensor(got);
}

static void call_THTensor_save(void) {
    begin("THTensor_save");
    const THTensor *t = tensor("t");
    const char *path = file_name("path");
    before();
    THStatus got = THTensor_save(t, path);
    after_status(got);
}

#endif
