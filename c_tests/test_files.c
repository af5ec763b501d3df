/* Files of tensors: archives are written, opened, read and mapped. A failed write keeps the old file, and broken files are refused. */
#define _GNU_SOURCE
#include "check.h"
#include "mapped.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
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
    CHECK_ERROR(THArchive_add(out, "\xff", steps), TH_ERR_ARGUMENT, "no UTF-8");
    /* `close` reads the elements. */
    CHECK_OK(THTensor_fill(steps, 13));
    CHECK_EQ(length_of(file("model.safetensors")), -1);
    CHECK_OK(THArchive_close(out));
    CHECK_ERROR(THArchive_close(out), TH_ERR_ARGUMENT, "closed already");
    CHECK_FAILURE(THArchive_count(out) == -1, TH_ERR_ARGUMENT, "written, not read");
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
    CHECK_ERROR(THArchive_add(in, "more", bias), TH_ERR_ARGUMENT, "read, not written");
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
    CHECK_FAILURE(THArchive_openMemory(bytes, size) == NULL, TH_ERR_FORMAT, "tensor 'a': sizes [3] of I16 do not take the 4 bytes");
    CHECK_FAILURE(THArchive_openMemory("\1\2\3\4", 4) == NULL, TH_ERR_FORMAT, "the format is unknown: the file begins with [01, 02, 03, 04]");

    make_directory();
    CHECK_FAILURE(THArchive_open(file("none")) == NULL, TH_ERR_IO, "No such file");
    CHECK_FAILURE(THArchive_open(directory) == NULL, TH_ERR_IO, "no regular file");
    CHECK(mkfifo(file("pipe"), 0600) == 0);
    CHECK_FAILURE(THArchive_open(path) == NULL, TH_ERR_IO, "no regular file");
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
    /* The temporary files of the killed processes. */
    char command[160];
    snprintf(command, sizeof command, "rm -f %s/.thorn-*", directory);
    CHECK(system(command) == 0);
    remove_directory("a.safetensors");
}

static int files_read, tensors_read;

/* Reads every tensor of a file, except tensors of a kind that thorn lacks. */
static int read_file(const char *name, const struct stat *found, int kind, struct FTW *where) {
    (void)found, (void)where;
    if (kind != FTW_F) return 0;
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
           CASE(files_of_other_programs_are_read))
