/* Memory runs out while files are opened, read and written: the call returns a status, no incomplete file is left, and nothing is
 * leaked. */
#define _GNU_SOURCE
#include "check.h"
#include "refuse_each.h"

#include <dirent.h>
#include <unistd.h>

static char directory[64], path[128];

static THTensor *matrix, *transposed;

static bool saved(void) { return THTensor_save(matrix, path) == TH_OK; }

static bool written(void) {
    THArchive *out = THArchive_create(path, TH_FILE_BY_NAME);
    bool done = out && THArchive_add(out, "layer.0.weight", matrix) == TH_OK &&
                THArchive_add(out, "layer.1.weight", transposed) == TH_OK && THArchive_close(out) == TH_OK;
    THArchive_free(out);
    return done;
}

/* Reads all tensors of the file. */
static bool opened(void) {
    THArchive *in = THArchive_open(path);
    bool done = in != NULL;
    for (int64_t i = 0; done && i < THArchive_count(in); i++) {
        THTensor *t = THArchive_newTensor(in, i);
        done = t != NULL && THTensor_sumall(t) == THTensor_sumall(matrix);
        THTensor_free(t);
    }
    THArchive_free(in);
    return done;
}

static THSTensor *sparse;

static bool saved_sparse(void) { return THSTensor_save(sparse, path) == TH_OK; }

static bool opened_sparse(void) {
    THSTensor *s = THSTensor_newLoad(path);
    bool done = s != NULL && THSTensor_nnz(s) == THSTensor_nnz(sparse);
    THSTensor_free(s);
    return done;
}

static int files_in_directory(void) {
    int count = 0;
    DIR *found = opendir(directory);
    while (found && readdir(found)) count++;
    if (found) closedir(found);
    return count - 2;
}

static void files_need_memory(void) {
    static const char *const endings[] = {"safetensors", "pt", "t7", "t7a", "npz"};
    snprintf(directory, sizeof directory, "/dev/shm/thorn-test-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    matrix = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6);
    transposed = THTensor_newTranspose(matrix, 0, 1);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(path, sizeof path, "%s/a.%s", directory, endings[i]);
        refuse_each("write", written);
        refuse_each("open", opened);
        CHECK_EQ(files_in_directory(), 1);
        unlink(path);
    }
    THTensor_free(transposed);
    static const char *const single[] = {"npy", "csv"};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
        snprintf(path, sizeof path, "%s/a.%s", directory, single[i]);
        refuse_each("save", saved);
        refuse_each("open", opened);
        unlink(path);
    }
    THTensor_free(matrix);
    matrix = matrix_of(TH_UINT8, 2, 1, 2, 3, 4, 5, 6);
    static const char *const images[] = {"png", "pgm"};
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        snprintf(path, sizeof path, "%s/a.%s", directory, images[i]);
        refuse_each("save", saved);
        refuse_each("open", opened);
        unlink(path);
    }
    THTensor_free(matrix);
    matrix = matrix_of(TH_FLOAT64, 2, 0, 2, 0, 4, 0, 6);
    THSTensor *coordinates = THSTensor_newFromDense(matrix, -1), *rows = THSTensor_newCompressed(coordinates);
    static const char *const sparse_endings[] = {"mtx", "npz", "pt"};
    for (size_t i = 0; i < 2 * sizeof sparse_endings / sizeof *sparse_endings; i++) {
        sparse = i % 2 ? rows : coordinates;
        snprintf(path, sizeof path, "%s/a.%s", directory, sparse_endings[i / 2]);
        refuse_each("save", saved_sparse);
        refuse_each("open", opened_sparse);
        unlink(path);
    }
    THSTensor_free(rows);
    THSTensor_free(coordinates);
    THTensor_free(matrix);
    CHECK(rmdir(directory) == 0);
}

CHECK_MAIN(CASE(files_need_memory))
