/* Files that all ranks read or write together have the content that thorn writes and reads alone, for all layouts, dtypes, dimensions and
 * parts. Blocks are moved in pieces of 256 bytes, so that many blocks have several pieces. */
#define _GNU_SOURCE
#define TH_MPI_FILE_BYTES 256
#include "check_mpi.h"
#include "thorn_mpi/files.h"

#include <sys/stat.h>

static char folder[64];

/* The path of a file in the folder of this run. */
static const char *path_of(const char *name) {
    static char path[2][160];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static int exists(const char *path) {
    struct stat found;
    return stat(path, &found) == 0;
}

static void ranks_have_a_folder(void) {
    if (rank == 0) {
        strcpy(folder, "/tmp/thorn_mpi_XXXXXX");
        CHECK(mkdtemp(folder) != NULL);
    }
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void the_folder_is_removed(void) {
    char command[128];
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (rank == 0) CHECK_EQ(system(command), 0);
}

/* Random parts of `total` entries, the same on all ranks. */
static void any_parts(int64_t total, int64_t *parts) {
    for (int p = 0; p < ranks; p++) {
        parts[p] = p == ranks - 1 ? total : pick(COMMON, total + 1);
        total -= parts[p];
    }
}

/* This rank's part of `whole`, in a random layout. */
static THTensor *block_of(const THTensor *whole, int dim, const int64_t *parts) {
    int64_t first = 0;
    for (int p = 0; p < rank; p++) first += parts[p];
    THTensor *part = THTensor_newNarrow(whole, dim, first, parts[rank]);
    THTensor *t = zeros_somehow(OWN, THTensor_dtype(whole), part->nDimension, part->size);
    CHECK_OK(THTensor_copy(t, part));
    THTensor_free(part);
    return t;
}

static void check_equal(const THTensor *a, const THTensor *b) {
    CHECK(THTensor_isSameSizeAs(a, b) && THTensor_dtype(a) == THTensor_dtype(b));
    CHECK(THTensor_equal(a, b) == 1);
}

/* Fails unless each rank loads its part of the tensor from the file. */
static void check_parts(const THTensor *whole, int dim, const int64_t *parts, const char *path, const char *name) {
    THTensor *expected = block_of(whole, dim, parts), *fresh = THTensor_new();
    THTensor *r = zeros_somehow(OWN, THTensor_dtype(whole), expected->nDimension, expected->size);
    CHECK_OK(TH_MPI_load(fresh, dim, parts, path, name, MPI_COMM_WORLD));
    check_equal(fresh, expected);
    CHECK_OK(TH_MPI_load(r, dim, parts, path, name, MPI_COMM_WORLD));
    check_equal(r, expected);
    THTensor_free(expected);
    THTensor_free(fresh);
    THTensor_free(r);
}

static void npy_files_hold_the_blocks_of_all_ranks(void) {
    int64_t parts[16], size[8];
    for (int64_t round = 0; round < shrunk(16) + 3; round++) {
        int ndim = any_shape(COMMON, 1, size), dim = (int)pick(COMMON, ndim);
        THDtype dtype = any_dtype(COMMON);
        if (dtype == TH_BFLOAT16) continue;
        size[dim] = pick(COMMON, 9);
        THTensor *whole = values_somehow(COMMON, dtype, ndim, size, 3);
        any_parts(size[dim], parts);
        THTensor *t = block_of(whole, dim, parts);
        const char *path = path_of("a.npy");
        CHECK_OK(TH_MPI_saveNpy(t, pick(COMMON, 2) ? dim : dim - ndim, path, MPI_COMM_WORLD));
        THTensor *all = THTensor_newLoad(path);
        check_equal(all, whole);
        any_parts(size[dim], parts);
        check_parts(whole, dim, parts, path, NULL);
        int other = (int)pick(COMMON, ndim);
        any_parts(size[other], parts);
        check_parts(whole, other, parts, path, pick(COMMON, 2) ? "" : NULL);
        MPI_Barrier(MPI_COMM_WORLD);
        THTensor_free(all);
        THTensor_free(t);
        THTensor_free(whole);
    }
    CHECK(!exists(path_of("a.npy.part")));
}

static const char *const names[] = {"weight", "a \"quoted\"\\name\n", "gr\xC3\xBC\xC3\x9F" "e", "", "bytes"};

static void safetensors_files_hold_several(void) {
    enum { COUNT = 5 };
    static const THDtype kinds[COUNT] = {TH_BFLOAT16, TH_FLOAT64, TH_INT32, TH_BOOL, TH_UINT8};
    int64_t size[8], parts[COUNT][16], even[16], first;
    THTensor *whole[COUNT], *t[COUNT];
    int dims[COUNT];
    for (int i = 0; i < COUNT; i++) {
        int ndim = any_shape(COMMON, i == 1 ? 0 : 1, size);
        if (i == 1) ndim = 0;
        dims[i] = i == 1 || i == 3 ? TH_MPI_WHOLE : (int)pick(COMMON, ndim);
        if (dims[i] != TH_MPI_WHOLE) size[dims[i]] = 3 + pick(COMMON, 9);
        whole[i] = values_somehow(COMMON, kinds[i], ndim, size, i);
        if (dims[i] != TH_MPI_WHOLE) any_parts(size[dims[i]], parts[i]);
        t[i] = dims[i] == TH_MPI_WHOLE ? THTensor_newClone(whole[i]) : block_of(whole[i], dims[i], parts[i]);
    }
    const char *path = path_of("a.safetensors");
    CHECK_OK(TH_MPI_saveSafetensors((const THTensor *const *)t, names, dims, COUNT, path, MPI_COMM_WORLD));
    THArchive *archive = THArchive_open(path);
    CHECK_EQ(THArchive_count(archive), COUNT);
    for (int i = 0; i < COUNT; i++) {
        THTensor *all = THArchive_newFind(archive, names[i]), *own = THTensor_new();
        check_equal(all, whole[i]);
        CHECK_OK(TH_MPI_load(own, TH_MPI_WHOLE, NULL, path, names[i], MPI_COMM_WORLD));
        check_equal(own, whole[i]);
        if (dims[i] != TH_MPI_WHOLE) {
            for (int p = 0; p < ranks; p++) th_mpi_even(&first, &even[p], THTensor_size(whole[i], dims[i]), ranks, p);
            check_parts(whole[i], dims[i], even, path, names[i]);
        }
        THTensor_free(all);
        THTensor_free(own);
        THTensor_free(whole[i]);
        THTensor_free(t[i]);
    }
    THArchive_free(archive);
    THTensor *r = THTensor_new();
    CHECK_ERROR(TH_MPI_load(r, 0, NULL, path, "missing", MPI_COMM_WORLD), TH_ERR_ARGUMENT, "has no tensor 'missing'");
    CHECK_ERROR(TH_MPI_load(r, 0, NULL, path, NULL, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "has 5 tensors; say which");
    THTensor_free(r);
    CHECK_OK(TH_MPI_saveSafetensors(NULL, NULL, NULL, 0, path, MPI_COMM_WORLD));
    archive = THArchive_open(path);
    CHECK_EQ(THArchive_count(archive), 0);
    THArchive_free(archive);
}

/* Names that JSON may write with escapes, together with metadata and blanks. */
static void safetensors_files_of_others_are_read(void) {
    static const char header[] = "{ \"__metadata__\" : {\"data_offsets\":\"[9,9]\", \"x\":\"}]\\\"{\"},\n"
                                 "\"\\u0061\\/\\ud83d\\ude00\\u00fc\\t\":\t{\"shape\":[3,2], "
                                 "\"data_offsets\" : [ 8 , 32 ],\"dtype\":\"F32\"},"
                                 "\"b\":{\"dtype\":\"U16\",\"shape\":[4],\"data_offsets\":[0,8]}}   ";
    static const float numbers[] = {1, 2, 3, 4, 5, 6};
    const char *path = path_of("other.safetensors");
    if (rank == 0) {
        FILE *file = fopen(path, "wb");
        uint64_t length = sizeof header - 1;
        fwrite(&length, 1, 8, file);
        fwrite(header, 1, sizeof header - 1, file);
        fwrite("12345678", 1, 8, file);
        fwrite(numbers, 4, 6, file);
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    THTensor *r = THTensor_new();
    CHECK_OK(TH_MPI_load(r, TH_MPI_WHOLE, NULL, path, "a/\xF0\x9F\x98\x80\xC3\xBC\t", MPI_COMM_WORLD));
    CHECK_SHAPE(r, 3, 2);
    CHECK_VALUES(r, 1, 2, 3, 4, 5, 6);
    CHECK_ERROR(TH_MPI_load(r, TH_MPI_WHOLE, NULL, path, "b", MPI_COMM_WORLD), TH_ERR_UNSUPPORTED, "thorn converts");
    THTensor_free(r);
}

/* Writes a .npy file of version 1 on the first rank. */
static void write_npy(const char *path, const char *dict, const void *data, size_t bytes) {
    if (rank == 0) {
        FILE *file = fopen(path, "wb");
        fwrite("\x93NUMPY\x01", 1, 8, file);
        uint16_t length = (uint16_t)strlen(dict);
        fwrite(&length, 1, 2, file);
        fwrite(dict, 1, length, file);
        fwrite(data, 1, bytes, file);
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void npy_files_in_other_orders(void) {
    double numbers[60];
    int64_t parts[16];
    for (int i = 0; i < 60; i++) numbers[i] = i;
    const char *path = path_of("fortran.npy");
    write_npy(path, "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 4, 5)}\n", numbers, sizeof numbers);
    THTensor *whole = THTensor_newLoad(path);
    CHECK_NEAR(THTensor_getAt(whole, SIZES(1, 2, 3)), 1 + 2 * 3 + 3 * 12, 0);
    for (int dim = 0; dim < 3; dim++) {
        any_parts(3 + dim, parts);
        check_parts(whole, dim, parts, path, NULL);
    }
    THTensor_free(whole);
    THTensor *r = THTensor_new();
    path = path_of("big.npy");
    write_npy(path, "{\"shape\": (6,), 'fortran_order': False, 'descr': '>f8'}\n", numbers, 48);
    CHECK_ERROR(TH_MPI_load(r, 0, NULL, path, NULL, MPI_COMM_WORLD), TH_ERR_UNSUPPORTED, "byte order");
    write_npy(path, "{'shape': (6,), 'fortran_order': False, 'descr': '<u2'}\n", numbers, 12);
    CHECK_ERROR(TH_MPI_load(r, 0, NULL, path, NULL, MPI_COMM_WORLD), TH_ERR_UNSUPPORTED, "type than here");
    write_npy(path, "{'shape': (6,), 'fortran_order': False, 'descr': '<f8'}\n", numbers, 40);
    CHECK_ERROR(TH_MPI_load(r, 0, NULL, path, NULL, MPI_COMM_WORLD), TH_ERR_FORMAT, "TH_MPI_load: ");
    write_npy(path, "{'shape': (), 'fortran_order': False, 'descr': '<f8'}\n", &numbers[7], 8);
    CHECK_OK(TH_MPI_load(r, TH_MPI_WHOLE, NULL, path, NULL, MPI_COMM_WORLD));
    CHECK_EQ(THTensor_nDimension(r), 0);
    CHECK_NEAR(THTensor_item(r), 7, 0);
    CHECK_ERROR(TH_MPI_load(r, 0, NULL, path, NULL, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "dimension 0 out of range for 0");
    CHECK_NEAR(THTensor_item(r), 7, 0);
    THTensor_free(r);
}

static void tensors_on_gpus_are_saved_and_loaded(void) {
    if (THCuda_deviceCount() == 0) return;
    THTensor *whole = values_somehow(COMMON, TH_FLOAT32, SIZES(3 * ranks, 5), 0), *part = THTensor_newNarrow(whole, 0, 3 * rank, 3);
    THTensor *there = THTensor_newCuda(part, 0);
    const char *path = path_of("gpu.npy");
    CHECK_OK(TH_MPI_saveNpy(there, 0, path, MPI_COMM_WORLD));
    THTensor *all = THTensor_newLoad(path), *back = THTensor_newCuda(part, 0);
    check_equal(all, whole);
    CHECK_OK(THTensor_zero(back));
    CHECK_OK(TH_MPI_load(back, 0, NULL, path, NULL, MPI_COMM_WORLD));
    CHECK(THTensor_isCuda(back));
    THTensor *here = THTensor_newCpu(back);
    check_equal(here, part);
    THTensor_free(whole);
    THTensor_free(part);
    THTensor_free(there);
    THTensor_free(all);
    THTensor_free(back);
    THTensor_free(here);
}

static void errors_are_the_same_on_all_ranks(void) {
    THTensor *t = THTensor_newOnes(TH_FLOAT32, SIZES(2, 3)), *odd = THTensor_newOnes(TH_FLOAT32, SIZES(2, 3 + rank));
    THTensor *none = THTensor_new(), *half = THTensor_newOnes(TH_BFLOAT16, SIZES(2));
    const char *path = path_of("kept.npy"), *nowhere = path_of("no/such/folder.npy");
    const THTensor *list[] = {t, none};
    static const char *const two[] = {"a", "b"}, *const twice[] = {"a", "a"}, *const meta[] = {"__metadata__"}, *const broken[] = {"\xFF"};
    CHECK_OK(TH_MPI_saveNpy(t, 0, path, MPI_COMM_WORLD));
    CHECK_ERROR(TH_MPI_saveNpy(NULL, 0, path, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "argument 't' is NULL");
    CHECK_ERROR(TH_MPI_saveNpy(t, 0, NULL, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "argument 'path' is NULL");
    CHECK_ERROR(TH_MPI_saveNpy(t, 2, path, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "dimension 2 out of range");
    CHECK_ERROR(TH_MPI_saveNpy(none, 0, path, MPI_COMM_WORLD), TH_ERR_DTYPE, "no dtype");
    CHECK_ERROR(TH_MPI_saveNpy(half, 0, path, MPI_COMM_WORLD), TH_ERR_UNSUPPORTED, "NumPy has no bfloat16");
    CHECK_ERROR(TH_MPI_saveNpy(t, 0, nowhere, MPI_COMM_WORLD), TH_ERR_IO, "TH_MPI_saveNpy: ");
    CHECK_ERROR(TH_MPI_load(none, 0, NULL, nowhere, NULL, MPI_COMM_WORLD), TH_ERR_IO, "no/such/folder.npy");
    CHECK_ERROR(TH_MPI_load(none, 0, NULL, NULL, NULL, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "argument 'path' is NULL");
    CHECK_ERROR(TH_MPI_load(NULL, 0, NULL, path, NULL, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "argument 'r' is NULL");
    CHECK_ERROR(TH_MPI_load(half, 0, NULL, path, NULL, MPI_COMM_WORLD), TH_ERR_DTYPE, "bfloat16");
    const int64_t wrong[16] = {1};
    CHECK_ERROR(TH_MPI_load(none, 1, wrong, path, NULL, MPI_COMM_WORLD), TH_ERR_SHAPE, "the parts sum to 1, and the dimension has 3 entries");
    CHECK_ERROR(TH_MPI_saveSafetensors(list, two, NULL, 2, path, MPI_COMM_WORLD), TH_ERR_DTYPE, "no dtype");
    CHECK_ERROR(TH_MPI_saveSafetensors(list, twice, NULL, 2, path, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "'a' comes twice");
    CHECK_ERROR(TH_MPI_saveSafetensors(list, meta, NULL, 1, path, MPI_COMM_WORLD), TH_ERR_FORMAT, rank ? "another rank" : "TH_MPI_save");
    CHECK_ERROR(TH_MPI_saveSafetensors(list, broken, NULL, 1, path, MPI_COMM_WORLD), TH_ERR_FORMAT, "");
    CHECK_ERROR(TH_MPI_saveSafetensors(list, NULL, NULL, 1, path, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "is NULL");
    if (ranks > 1) {
        CHECK_ERROR(TH_MPI_saveNpy(odd, 0, path, MPI_COMM_WORLD), TH_ERR_SHAPE, "different shapes");
        CHECK_ERROR(TH_MPI_saveNpy(odd, TH_MPI_WHOLE, path, MPI_COMM_WORLD), TH_ERR_SHAPE, "different");
        CHECK_ERROR(TH_MPI_saveNpy(rank == 1 ? NULL : t, 0, path, MPI_COMM_WORLD), TH_ERR_ARGUMENT, rank == 1 ? "NULL" : "another rank");
        THTensor *r = rank == 1 ? half : none;
        CHECK_ERROR(TH_MPI_load(r, 0, NULL, path, NULL, MPI_COMM_WORLD), TH_ERR_DTYPE, rank == 1 ? "bfloat16" : "another");
        CHECK_EQ(THTensor_dtype(none), TH_UNDEFINED);
    }
    /* The old file is still there, and no other file next to it. */
    THTensor *kept = THTensor_newLoad(path);
    CHECK_SHAPE(kept, 2 * ranks, 3);
    CHECK(!exists(path_of("kept.npy.part")));
    MPI_Barrier(MPI_COMM_WORLD);
    THTensor_free(kept);
    THTensor_free(t);
    THTensor_free(odd);
    THTensor_free(none);
    THTensor_free(half);
}

/* If the ranks ask for different things, all of them return an error, with comparisons switched on or off. */
static void ranks_that_disagree_get_an_error(void) {
    if (ranks < 2) return;
    const int odd = rank == 1;
    const char *path = path_of("odd.safetensors");
    THTensor *t = vector_of(TH_FLOAT32, 1, 2), *r = THTensor_new();
    const THTensor *list[] = {t, t};
    static const char *const here[] = {"a", "b"}, *const there[] = {"b", "a"}, *const joined[] = {"ab", ""};
    const MPI_Comm comm = MPI_COMM_WORLD;
    const char *text = "ranks call different", *names = "different names";
    for (int checked = 0; checked < 2; checked++) {
        CHECK_OK(TH_MPI_setChecked(comm, checked));
        CHECK_ERROR(TH_MPI_saveNpy(t, odd ? TH_MPI_WHOLE : 0, path, comm), TH_ERR_ARGUMENT, text);
        CHECK_ERROR(odd ? TH_MPI_load(r, 0, NULL, path, NULL, comm) : TH_MPI_saveNpy(t, 0, path, comm), TH_ERR_ARGUMENT,
                    text);
        CHECK_ERROR(TH_MPI_saveSafetensors(list, odd ? there : here, NULL, 2, path, comm), TH_ERR_ARGUMENT, names);
        CHECK_ERROR(TH_MPI_saveSafetensors(list, odd ? joined : here, NULL, 2, path, comm), TH_ERR_ARGUMENT, names);
        CHECK_ERROR(TH_MPI_saveSafetensors(list, here, NULL, 1 + odd, path, comm), TH_ERR_ARGUMENT, names);
    }
    CHECK_ERROR(odd ? TH_MPI_allreduce(r, t, MPI_SUM, comm) : TH_MPI_saveNpy(t, 0, path, comm), TH_ERR_ARGUMENT, text);
    CHECK(!exists(path) && !exists(path_of("odd.safetensors.part")));
    THTensor_free(t);
    THTensor_free(r);
}

/* One rank cannot open the file, because it is in another folder. */
static void a_rank_that_cannot_open_the_file_is_an_error_on_all(void) {
    if (ranks < 2) return;
    char before[256];
    THTensor *t = vector_of(TH_FLOAT32, 1, 2), *r = THTensor_new();
    CHECK(getcwd(before, sizeof before) != NULL);
    CHECK_EQ(chdir(rank == 1 ? "/" : folder), 0);
    CHECK_ERROR(TH_MPI_saveNpy(t, 0, "here.npy", MPI_COMM_WORLD), TH_ERR_IO, "TH_MPI_saveNpy: ");
    CHECK(!exists("here.npy") && !exists("here.npy.part"));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK_OK(THTensor_save(t, "here.npy"));
    CHECK_ERROR(TH_MPI_load(r, TH_MPI_WHOLE, NULL, "here.npy", NULL, MPI_COMM_WORLD), TH_ERR_IO, "TH_MPI_load: ");
    CHECK_EQ(THTensor_dtype(r), TH_UNDEFINED);
    CHECK_EQ(chdir(before), 0);
    THTensor_free(t);
    THTensor_free(r);
}

static void a_tensor_without_sizes_is_saved_as_an_empty_one(void) {
    THTensor *t = THTensor_newWithDtype(TH_INT32), *r = THTensor_new();
    const char *path = path_of("none.npy");
    CHECK_OK(TH_MPI_saveNpy(t, TH_MPI_WHOLE, path, MPI_COMM_WORLD));
    CHECK_OK(TH_MPI_load(r, 0, NULL, path, NULL, MPI_COMM_WORLD));
    CHECK_SHAPE(r, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    THTensor_free(t);
    THTensor_free(r);
}

/* A name with a zero character is different from the part before that character. */
static void names_are_compared_to_their_end(void) {
    static const char json[] = "\"a\\u0000x\":", twin[] = "a\0x";
    const char *at = json;
    CHECK_EQ(th_mpi_is_string(&at, twin), 0);
    CHECK(*at == ':');
}

CHECK_MPI_MAIN(CASE(ranks_have_a_folder), CASE(npy_files_hold_the_blocks_of_all_ranks), CASE(safetensors_files_hold_several),
               CASE(safetensors_files_of_others_are_read), CASE(npy_files_in_other_orders), CASE(tensors_on_gpus_are_saved_and_loaded),
               CASE(errors_are_the_same_on_all_ranks), CASE(ranks_that_disagree_get_an_error),
               CASE(a_rank_that_cannot_open_the_file_is_an_error_on_all),
               CASE(a_tensor_without_sizes_is_saved_as_an_empty_one),
               CASE(names_are_compared_to_their_end), CASE(the_folder_is_removed))
