/* Files of tensors: archives are written, opened, read and mapped. A failed write keeps the old file, and broken files are refused. */
#define _GNU_SOURCE
#include "check.h"
#include "mapped.h"

#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char directory[64], path[128];

/* Returns the path of a file in the test's own directory. */
static const char *file(const char *name) {
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void make_directory(void) {
    snprintf(directory, sizeof directory, "/tmp/thorn-test-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
}

/* Removes the directory, which must contain only the named file: no temporary file may be left. */
static void remove_directory(const char *name) {
    if (name) CHECK(unlink(file(name)) == 0);
    CHECK(rmdir(directory) == 0);
}

static long length_of(const char *name) {
    struct stat found;
    return stat(name, &found) == 0 ? (long)found.st_size : -1;
}

static void write_bytes(const char *name, const void *bytes, size_t size) {
    FILE *stream = fopen(name, "wb");
    CHECK(stream != NULL);
    if (!stream) return;
    CHECK(fwrite(bytes, 1, size, stream) == size);
    fclose(stream);
}

/* One tensor, one file. The suffix of the name selects the format for writing, and the content selects it for reading. */
static void tensors_are_saved_and_loaded(void) {
    static const char *const names[] = {"a.safetensors", "a.pt", "a.t7", "a.npy", "a.csv", "a.tsv"};
    make_directory();
    THTensor *t = matrix_of(TH_FLOAT64, 2, 1, 2.5, -3, 0.125, 1e300, 6);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK_OK(THTensor_save(t, file(names[i])));
        THTensor *back = THTensor_newLoad(file(names[i]));
        CHECK(back != NULL && THTensor_equal(t, back) == 1);
        THTensor_free(back);
        unlink(file(names[i]));
    }
    THTensor_free(t);
    remove_directory(NULL);
}

/* Strides and shared storages are kept if the format supports them. */
static void views_share_what_they_shared(void) {
    static const char *const names[] = {"a.pt", "a.t7"};
    make_directory();
    THTensor *t = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6);
    THTensor *turned = THTensor_newTranspose(t, 0, 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        THArchive *out = THArchive_create(file(names[i]), TH_FILE_BY_NAME);
        CHECK_OK(THArchive_add(out, "weight", t));
        CHECK_OK(THArchive_add(out, "turned", turned));
        CHECK_OK(THArchive_close(out));
        THArchive_free(out);

        THArchive *in = THArchive_open(file(names[i]));
        THTensor *weight = THArchive_newFind(in, "weight"), *view = THArchive_newFind(in, "turned");
        THArchive_free(in);
        CHECK_STRIDES(view, 1, 3);
        CHECK_OK(THTensor_fill(weight, 7));
        CHECK_VALUES(view, 7, 7, 7, 7, 7, 7);
        THTensor_free(weight);
        THTensor_free(view);
        unlink(file(names[i]));
    }
    THTensor_free(turned);
    THTensor_free(t);
    remove_directory(NULL);
}

/* An archive can be examined without reading elements. */
static void archives_tell_what_is_in_them(void) {
    make_directory();
    THTensor *bias = vector_of(TH_FLOAT32, 1, 2, 3), *steps = THTensor_newScalar(TH_INT64, 12), *r = THTensor_newWithDtype(TH_FLOAT64);
    THArchive *out = THArchive_create(file("model.safetensors"), TH_FILE_SAFETENSORS);
    CHECK_EQ(THArchive_format(out), TH_FILE_SAFETENSORS);
    CHECK_OK(THArchive_add(out, "layer.0.bias", bias));
    CHECK_OK(THArchive_add(out, "steps", steps));
    CHECK_OK(THArchive_addMetadata(out, "author", "J\xc3\xb8rgen"));
    CHECK_ERROR(THArchive_add(out, "steps", steps), TH_ERR_ARGUMENT, "'steps' was added already");
    CHECK_ERROR(THArchive_addMetadata(out, "author", ""), TH_ERR_ARGUMENT, "'author' was added already");
    CHECK_ERROR(THArchive_add(out, "\xff", steps), TH_ERR_ARGUMENT, "not UTF-8");
    /* `close` reads the elements. */
    CHECK_OK(THTensor_fill(steps, 13));
    CHECK_EQ(length_of(file("model.safetensors")), -1);
    CHECK_OK(THArchive_close(out));
    CHECK_ERROR(THArchive_close(out), TH_ERR_ARGUMENT, "closed already");
    CHECK_FAILURE(THArchive_count(out) == -1, TH_ERR_ARGUMENT, "created for writing");
    THArchive_free(out);

    THArchive *in = THArchive_open(file("model.safetensors"));
    CHECK_EQ(THArchive_format(in), TH_FILE_SAFETENSORS);
    CHECK_EQ(THArchive_count(in), 2);
    int64_t at = THArchive_find(in, "layer.0.bias");
    CHECK_STR(THArchive_name(in, at), "layer.0.bias");
    CHECK_EQ(THArchive_dtype(in, at), TH_FLOAT32);
    CHECK_EQ(THArchive_ndim(in, at), 1);
    CHECK_EQ(THArchive_sizes(in, at)[0], 3);
    CHECK_EQ(THArchive_ndim(in, THArchive_find(in, "steps")), 0);
    CHECK_EQ(THArchive_find(in, "layer"), -1);
    CHECK_EQ(THArchive_metadataCount(in), 1);
    CHECK_STR(THArchive_metadataKey(in, 0), "author");
    CHECK_STR(THArchive_metadataValue(in, 0), "J\xc3\xb8rgen");
    CHECK_STR(THArchive_metadata(in, "author"), "J\xc3\xb8rgen");
    CHECK(THArchive_metadata(in, "reader") == NULL);

    CHECK_OK(THArchive_read(r, in, at));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT64);
    CHECK_VALUES(r, 1, 2, 3);
    THTensor *loaded = THArchive_newFind(in, "steps");
    CHECK_VALUES(loaded, 13);

    CHECK_FAILURE(THArchive_name(in, 2) == NULL, TH_ERR_ARGUMENT, "tensor 2 of 2: out of range");
    CHECK_FAILURE(THArchive_sizes(in, -1) == NULL, TH_ERR_ARGUMENT, "out of range");
    CHECK_FAILURE(THArchive_metadataKey(in, 1) == NULL, TH_ERR_ARGUMENT, "key 1 of 1: out of range");
    CHECK_FAILURE(THArchive_newFind(in, "none") == NULL, TH_ERR_ARGUMENT, "no tensor is named 'none'");
    CHECK_ERROR(THArchive_add(in, "more", bias), TH_ERR_ARGUMENT, "opened for reading");
    CHECK_FAILURE(THTensor_newLoad(path) == NULL, TH_ERR_ARGUMENT, "has 2 tensors");
    THTensor_free(loaded);
    THArchive_free(in);
    THArchive_free(NULL);
    THTensor_free(bias);
    THTensor_free(steps);
    THTensor_free(r);
    remove_directory("model.safetensors");
}

/* Many elements are mapped: they are not read before they are used, writes stay private, and the archive may be freed first. */
static void large_tensors_are_mapped(void) {
    static const char *const names[] = {"a.safetensors", "a.npy", "a.pt", "a.t7"};
    int64_t size[] = {1 << 16};
    make_directory();
    THTensor *t = THTensor_newOnes(TH_FLOAT32, 1, size);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK_OK(THTensor_save(t, file(names[i])));
        THArchive *in = THArchive_open(path);
        THTensor *mapped = THArchive_newTensor(in, 0), *again = THArchive_newTensor(in, 0);
        THArchive_free(in);
        /* Torch7's binary files align nothing. */
        if (strcmp(names[i], "a.t7")) CHECK(is_mapped(path));
        CHECK_OK(THTensor_fill(mapped, 2));
        CHECK(THTensor_sumall(mapped) == 2 << 16 && THTensor_sumall(again) == 1 << 16);
        THTensor_free(mapped);
        THTensor_free(again);
        CHECK(!is_mapped(path));
        THTensor *read = THTensor_newLoad(path);
        CHECK(!is_mapped(path) && THTensor_sumall(read) == 1 << 16);
        THTensor_free(read);
        unlink(path);
    }
    THTensor_free(t);
    remove_directory(NULL);
}

struct place {
    const char *bytes;
    int64_t size, at, most; /* at most `most` bytes are read at a time; if it is negative, reading fails */
};

static ptrdiff_t read_place(void *ctx, void *buffer, ptrdiff_t size) {
    struct place *p = ctx;
    if (p->most < 0) return -5;
    if (size > p->most) size = p->most;
    if (size > p->size - p->at) size = p->size - p->at;
    memcpy(buffer, p->bytes + p->at, size);
    p->at += size;
    return size;
}

static int64_t seek_place(void *ctx, int64_t offset, int whence) {
    struct place *p = ctx;
    return p->at = offset + (whence == SEEK_END ? p->size : 0);
}

/* {"a": [1, 2]} of int16 */
static const char small[] = "\x40\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"I16\",\"shape\":[2],\"data_offsets\":[0,4]}}          \1\0\2\0";

static void files_lie_in_memory_or_behind_functions(void) {
    size_t size = sizeof small - 1;
    THArchive *in = THArchive_openMemory(small, size);
    THTensor *t = THArchive_newTensor(in, 0);
    THArchive_free(in);
    CHECK_EQ(THTensor_dtype(t), TH_INT16);
    CHECK_VALUES(t, 1, 2);
    THTensor_free(t);

    struct place p = {small, size, 0, 7};
    in = THArchive_openCallbacks(read_place, seek_place, &p);
    t = THArchive_newFind(in, "a");
    CHECK_VALUES(t, 1, 2);
    THTensor_free(t);
    p.most = -1;
    CHECK_FAILURE(THArchive_newTensor(in, 0) == NULL, TH_ERR_IO, "'read' returned -5 for 4 bytes at byte 72");
    p.most = 0;
    CHECK_FAILURE(THArchive_newTensor(in, 0) == NULL, TH_ERR_IO, "'read' returned 0");
    THArchive_free(in);
    CHECK_FAILURE(THArchive_openCallbacks(NULL, seek_place, &p) == NULL, TH_ERR_ARGUMENT, "'read' is NULL");
    CHECK_FAILURE(THArchive_openMemory(NULL, 1) == NULL, TH_ERR_ARGUMENT, "NULL");
    CHECK_FAILURE(THArchive_openMemory(small, -1) == NULL, TH_ERR_ARGUMENT, "negative");
}

static void broken_files_are_refused(void) {
    char bytes[sizeof small];
    size_t size = sizeof small - 1;
    for (size_t cut = 0; cut < size; cut++) {
        memcpy(bytes, small, size);
        CHECK_FAILURE(THArchive_openMemory(bytes, cut) == NULL, TH_ERR_FORMAT, "");
    }
    memcpy(bytes, small, size);
    bytes[strlen("xxxxxxxx{'a':{'dtype':'I16','shape':[")] = '3';
    CHECK_FAILURE(THArchive_openMemory(bytes, size) == NULL, TH_ERR_FORMAT, "tensor 'a': sizes [3] of I16 do not match the 4 bytes");
    CHECK_FAILURE(THArchive_openMemory("\1\2\3\4", 4) == NULL, TH_ERR_FORMAT, "the format is unknown: the file begins with [01, 02, 03, 04]");

    make_directory();
    CHECK_FAILURE(THArchive_open(file("none")) == NULL, TH_ERR_IO, "No such file");
    CHECK_FAILURE(THArchive_open(directory) == NULL, TH_ERR_IO, "not a regular file");
    CHECK(mkfifo(file("pipe"), 0600) == 0);
    CHECK_FAILURE(THArchive_open(path) == NULL, TH_ERR_IO, "not a regular file");
    unlink(path);
    write_bytes(file("a.safetensors"), small, size);
    THArchive *in = THArchive_open(path);
    CHECK(truncate(path, 72) == 0);
    CHECK_FAILURE(THArchive_newTensor(in, 0) == NULL, TH_ERR_IO, "became shorter");
    THArchive_free(in);
    remove_directory("a.safetensors");
}

static void formats_are_named(void) {
    make_directory();
    THTensor *t = vector_of(TH_FLOAT32, 1);
    CHECK_ERROR(THTensor_save(t, file("a.xyz")), TH_ERR_ARGUMENT,
                "names no format; the endings of formats that are written are .pt, .pth, .npy, .npz, .safetensors, .t7");
    CHECK_ERROR(THTensor_save(t, directory), TH_ERR_ARGUMENT, "names no format");
    CHECK_FAILURE(THArchive_create(file("a"), 77) == NULL, TH_ERR_ARGUMENT, "77 is no format");
    CHECK_FAILURE(THArchive_create(file("a"), TH_FILE_GGUF) == NULL, TH_ERR_UNSUPPORTED, "only read");
    CHECK_ERROR(THTensor_save(t, "/no/such/folder/a.npy"), TH_ERR_IO, "/no/such/folder/a.npy");
    THTensor_free(t);
    THTensor *fresh = THTensor_new();
    CHECK_ERROR(THTensor_save(fresh, file("a.npy")), TH_ERR_DTYPE, "");
    THTensor_free(fresh);

    THArchive *out = THArchive_create(file("a.npz"), TH_FILE_BY_NAME);
    CHECK_ERROR(THArchive_addMetadata(out, "key", "value"), TH_ERR_UNSUPPORTED, "npz files have no metadata");
    THArchive_free(out);
    out = THArchive_create(file("a.csv"), TH_FILE_BY_NAME);
    CHECK_ERROR(THArchive_setPrecision(out, 18), TH_ERR_ARGUMENT, "18 digits: expected 0 to 17");
    CHECK_OK(THArchive_setPrecision(out, 3));
    THTensor *row = matrix_of(TH_FLOAT64, 1, 3.14159, 2.71828);
    CHECK_OK(THArchive_add(out, "", row));
    CHECK_OK(THArchive_close(out));
    THArchive_free(out);
    THTensor_free(row);
    THTensor *back = THTensor_newLoad(file("a.csv"));
    CHECK_VALUES(back, 3.14, 2.72);
    THTensor_free(back);

    write_bytes(path, "1:2\n3:4\n", 8);
    THArchive *in = THArchive_openTable(path, ':');
    back = THArchive_newTensor(in, 0);
    CHECK_SHAPE(back, 2, 2);
    CHECK_VALUES(back, 1, 2, 3, 4);
    THTensor_free(back);
    THArchive_free(in);
    CHECK_FAILURE(THArchive_openTable(path, 300) == NULL, TH_ERR_ARGUMENT, "300 is no character");
    CHECK_FAILURE(THArchive_openTable(path, 'e') == NULL, TH_ERR_UNSUPPORTED, "does not separate");
    remove_directory("a.csv");
}

/* The name refers to the old file until the new file is complete. */
static void a_failure_leaves_the_old_file(void) {
    int64_t size[] = {1 << 16};
    make_directory();
    THTensor *old = vector_of(TH_FLOAT32, 1, 2, 3), *large = THTensor_newZeros(TH_FLOAT32, 1, size);
    CHECK_OK(THTensor_save(old, file("a.npy")));
    CHECK(chmod(path, 0640) == 0);

    /* SIGXFSZ, which ends a process that writes beyond its limit, is blocked. */
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 100000;
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK_ERROR(THTensor_save(large, path), TH_ERR_IO, "File too large");
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK_ERROR(THTensor_save(large, "/dev/full"), TH_ERR_ARGUMENT, "names no format");
    THArchive *out = THArchive_create("/dev/full", TH_FILE_NPY);
    CHECK_OK(THArchive_add(out, "", large));
    CHECK_ERROR(THArchive_close(out), TH_ERR_IO, "No space left");
    THArchive_free(out);
    THTensor *t = THTensor_newLoad(path);
    CHECK_VALUES(t, 1, 2, 3);
    THTensor_free(t);

    /* A new file has the mode of the old one, and a symbolic link stays a link. */
    char target[128], name[160];
    struct stat found;
    strcpy(target, path);
    snprintf(name, sizeof name, "%s/link.npy", directory);
    CHECK(symlink("a.npy", name) == 0);
    CHECK_OK(THTensor_save(large, name));
    CHECK(lstat(name, &found) == 0 && S_ISLNK(found.st_mode));
    CHECK(stat(target, &found) == 0 && (found.st_mode & 0777) == 0640 && found.st_size > 200000);
    unlink(name);
    THTensor_free(old);
    THTensor_free(large);
    remove_directory("a.npy");
}

/* Processes that write the file are killed at any time. A reader always finds the old tensor or the new one. */
static void a_killed_process_leaves_a_whole_file(void) {
    if (under_emulator()) return;
    int64_t size[] = {1 << 15};
    int rounds = getenv("THORN_UNDER_VALGRIND") ? 5 : 200;
    make_directory();
    file("a.safetensors");
    THTensor *t = THTensor_newFull(TH_FLOAT32, 1, size, 0);
    CHECK_OK(THTensor_save(t, path));
    for (int round = 0; round < rounds; round++) {
        pid_t child = fork();
        if (child == 0) {
            for (int value = 0;; value++) {
                if (THTensor_fill(t, value % 100) != TH_OK || THTensor_save(t, path) != TH_OK) _exit(1);
            }
        }
        usleep(1000 + round * 37 % 5000);
        kill(child, SIGKILL);
        int status;
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
        THTensor *found = THTensor_newLoad(path);
        CHECK(found != NULL && THTensor_minall(found) == THTensor_maxall(found));
        THTensor_free(found);
    }
    THTensor_free(t);
    /* Files that the killed processes had begun have no name, but for a moment. Some file systems have no such files. */
    char command[240];
    int nameless = open(directory, O_TMPFILE | O_RDWR, 0600);
    snprintf(command, sizeof command, "test $(ls -A %s | grep -c '^.thorn-') -le %d", directory, nameless < 0 ? rounds : 1 + rounds / 20);
    CHECK(system(command) == 0);
    if (nameless >= 0) close(nameless);
    snprintf(command, sizeof command, "rm -f %s/.thorn-*", directory);
    CHECK(system(command) == 0);
    remove_directory("a.safetensors");
}

/* What is read is copied: no mapping shows that the file was cut meanwhile. */
static void a_file_that_is_cut_short_is_an_error(void) {
    int64_t size[] = {1 << 18};
    make_directory();
    THTensor *t = THTensor_newOnes(TH_FLOAT32, 1, size), *r = vector_of(TH_FLOAT32, 5);
    CHECK_OK(THTensor_save(t, file("a.pt")));
    THArchive *in = THArchive_open(path);
    CHECK_OK(THArchive_read(t, in, 0));
    CHECK(truncate(path, 1000) == 0);
    CHECK_ERROR(THArchive_read(r, in, 0), TH_ERR_IO, "the file became shorter while it was read");
    CHECK_VALUES(r, 5);
    THArchive_free(in);
    THTensor_free(t);
    THTensor_free(r);
    remove_directory("a.pt");
}

static void files_are_opened_without_mappings(void) {
    int64_t size[] = {1 << 16};
    make_directory();
    THTensor *t = THTensor_newOnes(TH_FLOAT32, 1, size);
    CHECK_OK(THTensor_save(t, file("a.npy")));
    for (int flags = 0; flags <= TH_OPEN_COPY; flags++) {
        THArchive *in = THArchive_openWith(path, flags);
        THTensor *r = THArchive_newTensor(in, 0), *bytes = THArchive_newBytes(in, 0);
        CHECK(is_mapped(path) == (flags != TH_OPEN_COPY));
        CHECK(THTensor_equal(t, r) == 1);
        CHECK(THTensor_dtype(bytes) == TH_UINT8 && THTensor_nElement(bytes) == 4 << 16 && THTensor_get1d(bytes, 3) == 0x3f);
        THTensor_free(r);
        THTensor_free(bytes);
        THArchive_free(in);
    }
    CHECK_FAILURE(THArchive_openWith(path, 2) == NULL, TH_ERR_ARGUMENT, "flags 0x2: expected 0 or TH_OPEN_COPY");
    THTensor_free(t);
    remove_directory("a.npy");
}

/* {"a": [[0.5, 1, 2]] of float8}. */
static const char eights[] = "\x40\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"F8_E4M3\",\"shape\":[1,3],\"data_offsets\":[0,3]}}    \x30\x38\x40";

static void elements_of_other_types_have_bytes(void) {
    THArchive *in = THArchive_openMemory(eights, sizeof eights - 1);
    CHECK_FAILURE(THArchive_newTensor(in, 0) == NULL, TH_ERR_UNSUPPORTED, "THArchive_newBytes returns their bytes");
    THTensor *t = THArchive_newBytes(in, 0);
    CHECK_EQ(THTensor_dtype(t), TH_UINT8);
    CHECK_SHAPE(t, 3);
    CHECK_VALUES(t, 0x30, 0x38, 0x40);
    THTensor_free(t);
    CHECK_FAILURE(THArchive_newBytes(in, 1) == NULL, TH_ERR_ARGUMENT, "tensor 1 of 1");
    THArchive_free(in);

    in = THArchive_openMemory(small, sizeof small - 1);
    t = THArchive_newBytes(in, 0);
    CHECK_VALUES(t, 1, 0, 2, 0);
    THTensor_free(t);
    THArchive_free(in);

    /* Blocks that are not decoded, and blocks that are: 3 x 64 numbers of Q8_0. */
    in = THArchive_open(CORPUS "/gguf/types.gguf");
    t = THArchive_newBytes(in, THArchive_find(in, "other"));
    CHECK(THTensor_nElement(t) == 50 && THTensor_get1d(t, 49) == 49);
    THTensor_free(t);
    t = THArchive_newBytes(in, THArchive_find(in, "Q8_0"));
    CHECK(THTensor_nElement(t) == 6 * 34);
    THTensor_free(t);
    THArchive_free(in);

    /* Bytes come in row-major order, also of a transposed view, and not of texts. */
    make_directory();
    THTensor *base = matrix_of(TH_INT16, 2, 1, 2, 3, 4), *view = THTensor_newTranspose(base, 0, 1);
    THTensor_save(view, file("a.pt"));
    in = THArchive_open(path);
    t = THArchive_newBytes(in, 0);
    CHECK_SHAPE(t, 8);
    CHECK_VALUES(t, 1, 0, 3, 0, 2, 0, 4, 0);
    THTensor_free(t);
    THArchive_free(in);
    unlink(path);
    THTensor_save(view, file("a.csv"));
    in = THArchive_open(path);
    CHECK_FAILURE(THArchive_newBytes(in, 0) == NULL, TH_ERR_UNSUPPORTED, "THArchive_newTensor reads them as float64");
    THArchive_free(in);
    THTensor_free(base);
    THTensor_free(view);
    remove_directory("a.csv");
}

static int blocked_in_read;

static ptrdiff_t read_with_signals(void *ctx, void *buffer, ptrdiff_t size) {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    const int signals[] = {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGPIPE};
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++) blocked_in_read += sigismember(&mask, signals[k]);
    return read_place(ctx, buffer, size);
}

/* Waits for a child that a signal ends, and not for longer than 20 seconds. */
static int ends_by(pid_t child, int signal) {
    int status = 0;
    for (int k = 0; k < 2000; k++) {
        if (waitpid(child, &status, WNOHANG) == child) return WIFSIGNALED(status) && WTERMSIG(status) == signal;
        usleep(10000);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return 0;
}

static void signals_end_reads_and_writes(void) {
    struct place p = {small, sizeof small - 1, 0, 7};
    blocked_in_read = 0;
    THArchive *in = THArchive_openCallbacks(read_with_signals, seek_place, &p);
    THTensor *t = THArchive_newTensor(in, 0);
    CHECK_VALUES(t, 1, 2);
    CHECK_EQ(blocked_in_read, 0);
    THTensor_free(t);
    THArchive_free(in);

    /* A write that waits, since nobody reads the pipe. */
    int64_t size[] = {1 << 20};
    make_directory();
    CHECK(mkfifo(file("a.npy"), 0600) == 0);
    int end = open(path, O_RDONLY | O_NONBLOCK);
    THTensor *large = THTensor_newZeros(TH_FLOAT32, 1, size);
    pid_t child = fork();
    if (child == 0) {
        THTensor_save(large, path);
        _exit(1);
    }
    usleep(200000);
    kill(child, SIGTERM);
    CHECK(ends_by(child, SIGTERM));
    close(end);
    THTensor_free(large);
    remove_directory("a.npy");
}

/* What may not be written is not replaced, and a link that leads nowhere yet stays a link. */
static void names_and_permissions_are_respected(void) {
    make_directory();
    THTensor *old = vector_of(TH_FLOAT32, 1, 2), *new = vector_of(TH_FLOAT32, 3, 4);
    CHECK_OK(THTensor_save(old, file("a.npy")));
    CHECK(chmod(directory, 0777) == 0 && chmod(path, 0444) == 0);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0) _exit(2);
        int refused = THTensor_save(new, path) == TH_ERR_IO && strstr(THGetLastError(), "Permission denied");
        THTensor_free(old);
        THTensor_free(new);
        _exit(refused ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    THTensor *t = THTensor_newLoad(path);
    CHECK_VALUES(t, 1, 2);
    THTensor_free(t);
    CHECK(unlink(path) == 0);

    char target[128];
    struct stat found;
    strcpy(target, path);
    CHECK(symlink("a.npy", file("b.npy")) == 0 && symlink("b.npy", file("c.npy")) == 0);
    CHECK_OK(THTensor_save(new, path));
    CHECK(lstat(path, &found) == 0 && S_ISLNK(found.st_mode) && lstat(file("b.npy"), &found) == 0 && S_ISLNK(found.st_mode));
    CHECK(lstat(target, &found) == 0 && S_ISREG(found.st_mode));
    unlink(path);
    unlink(file("c.npy"));
    CHECK(symlink("d.npy", file("d.npy")) == 0);
    CHECK_ERROR(THTensor_save(new, path), TH_ERR_IO, "cannot follow its links");
    unlink(path);
    THTensor_free(old);
    THTensor_free(new);
    remove_directory("a.npy");
}

static void long_names_are_read(void) {
    static const int lengths[] = {470, 478, 479, 500, 1000, 60000};
    static char name[60001];
    THTensor *t = vector_of(TH_FLOAT32, 1, 2);
    make_directory();
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        memset(name, 'x', lengths[k]);
        name[lengths[k]] = 0;
        THArchive *out = THArchive_create(file("a.npz"), TH_FILE_NPZ);
        CHECK_OK(THArchive_add(out, name, t));
        CHECK_OK(THArchive_close(out));
        THArchive_free(out);
        THArchive *in = THArchive_open(path);
        CHECK(in != NULL && THArchive_format(in) == TH_FILE_NPZ && THArchive_find(in, name) == 0);
        THArchive_free(in);
    }
    THTensor_free(t);
    remove_directory("a.npz");
}

/* The time grows with the number of names, and not with its square. */
static void archives_have_many_names(void) {
    static const THFileFormat formats[] = {TH_FILE_SAFETENSORS, TH_FILE_PT, TH_FILE_NPZ};
    make_directory();
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        /* A pickle of more small tensors takes more memory than a reader grants to a file of its size. */
        int count = getenv("THORN_UNDER_VALGRIND") ? 500 : formats[k] == TH_FILE_PT ? 20000 : 60000;
        THArchive *out = THArchive_create(file("many"), formats[k]);
        time_t start = time(NULL);
        for (int i = 0; i < count; i++) {
            char name[32];
            snprintf(name, sizeof name, "layer.%d.weight", i);
            THTensor *t = THTensor_newFull(TH_FLOAT32, 0, NULL, i);
            if (THArchive_add(out, name, t) != TH_OK) CHECK(0);
            THTensor_free(t);
        }
        CHECK_ERROR(THArchive_add(out, "layer.7.weight", NULL), TH_ERR_ARGUMENT, "NULL");
        CHECK_OK(THArchive_close(out));
        CHECK(time(NULL) - start < 8);
        THArchive_free(out);
        THArchive *in = THArchive_open(path);
        CHECK_EQ(THArchive_count(in), count);
        THArchive_free(in);
        unlink(path);
    }
    remove_directory(NULL);
}

static int files_read, tensors_read;

/* Reads every tensor of a file, except tensors of a kind that thorn lacks. */
static int read_file(const char *name, const struct stat *found, int kind, struct FTW *where) {
    (void)found, (void)where;
    if (kind != FTW_F) return 0;
    if (strstr(name, "program/two_")) {
        CHECK_FAILURE(THArchive_open(name) == NULL, TH_ERR_UNSUPPORTED, "several programs: 'first' 'second'");
        return 0;
    }
    THArchive *in = THArchive_open(name);
    if (!in) printf("\n  %s: %s ", name, THGetLastError());
    CHECK(in != NULL);
    for (int64_t i = 0; in && i < THArchive_count(in); i++) {
        THClearLastError();
        THTensor *t = THArchive_newTensor(in, i);
        CHECK(t ? THTensor_dim(t) == THArchive_ndim(in, i) : THGetLastErrorCode() == TH_ERR_UNSUPPORTED);
        THTensor *r = THTensor_new();
        if (t) CHECK_OK(THArchive_read(r, in, i));
        CHECK(!t || THTensor_isSameSizeAs(r, t));
        tensors_read += t != NULL;
        THTensor_free(r);
        THTensor_free(t);
    }
    THArchive_free(in);
    files_read++;
    return 0;
}

static void files_of_other_programs_are_read(void) {
    CHECK(nftw(CORPUS, read_file, 8, FTW_PHYS) == 0);
    CHECK(files_read >= 100 && tensors_read >= 300);
}

CHECK_MAIN(CASE(tensors_are_saved_and_loaded), CASE(views_share_what_they_shared), CASE(archives_tell_what_is_in_them),
           CASE(large_tensors_are_mapped), CASE(files_lie_in_memory_or_behind_functions), CASE(broken_files_are_refused),
           CASE(formats_are_named), CASE(a_failure_leaves_the_old_file), CASE(a_killed_process_leaves_a_whole_file),
           CASE(a_file_that_is_cut_short_is_an_error), CASE(files_are_opened_without_mappings), CASE(elements_of_other_types_have_bytes),
           CASE(signals_end_reads_and_writes), CASE(names_and_permissions_are_respected), CASE(long_names_are_read),
           CASE(archives_have_many_names), CASE(files_of_other_programs_are_read))
