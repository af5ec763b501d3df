/* Files of sparse tensors: Matrix Market, svmlight, SciPy's archives and PyTorch's files, together with dense tensors, and broken texts. */
#define _GNU_SOURCE
#include "sparse.h"

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

/* Removes the directory with one file: no temporary file may be left. */
static void remove_directory(const char *name) {
    if (name) CHECK(unlink(file(name)) == 0);
    CHECK(rmdir(directory) == 0);
}

static const char *written(const char *name, const char *text) {
    FILE *stream = fopen(file(name), "wb");
    CHECK(stream != NULL);
    if (stream) {
        CHECK(fputs(text, stream) >= 0);
        fclose(stream);
    }
    return path;
}

static THSTensor *read_text(const char *text) { return THSTensor_newLoad(written("a.mtx", text)); }

static void matrices_are_saved_and_loaded(void) {
    static const char *const names[] = {"a.mtx", "a.npz", "a.pt"};
    make_directory();
    THSTensor *s = example(), *rows = example_by_rows();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK_OK(THSTensor_save(s, file(names[i])));
        THSTensor *back = THSTensor_newLoad(file(names[i]));
        CHECK_SIZES(back, 3, 4);
        CHECK_EQ(THSTensor_nnz(back), 4);
        CHECK_EQ(THSTensor_isCompressed(back), 0);
        CHECK_EQ(THSTensor_isCoalesced(back), 0);
        CHECK_INDICES(back, 2, 0, 2, 2, 3, 1, 0, 3);
        CHECK_ENTRIES(back, 4, 2, 1, 1);
        THSTensor_free(back);

        /* Text has coordinates, which the reader finds to ascend. */
        CHECK_OK(THSTensor_save(rows, file(names[i])));
        back = THSTensor_newLoad(file(names[i]));
        CHECK_EQ(THSTensor_isCompressed(back), i > 0);
        CHECK_EQ(THSTensor_isCoalesced(back), 1);
        CHECK_INDICES(back, 0, 2, 2, 1, 0, 3);
        CHECK_ENTRIES(back, 2, 1, 5);
        CHECK_DENSE(back, EXAMPLE);
        THSTensor_free(back);
        unlink(file(names[i]));
    }
    CHECK_ERROR(THSTensor_save(s, file("a.safetensors")), TH_ERR_UNSUPPORTED, "safetensors files have no sparse tensors");
    CHECK_ERROR(THSTensor_save(s, file("a.odd")), TH_ERR_ARGUMENT, "names no format");
    CHECK_FAILURE(THSTensor_newLoad(file("a.mtx")) == NULL, TH_ERR_IO, "cannot open");
    THSTensor_free(rows);
    THSTensor_free(s);
    remove_directory(NULL);
}

static void texts_of_matrix_market(void) {
    make_directory();
    THSTensor *s = read_text("%%MatrixMarket matrix coordinate real symmetric\n% comment\n3 3 3\n1 1 2.5\n3 1 -1e-3\n3 1 1\n");
    CHECK_SIZES(s, 3, 3);
    CHECK_EQ(THSTensor_dtype(s), TH_FLOAT64);
    CHECK_INDICES(s, 0, 2, 0, 2, 0, 0, 0, 2, 0, 2);
    CHECK_ENTRIES(s, 2.5, -1e-3, -1e-3, 1, 1);
    THSTensor_free(s);
    s = read_text("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 7\n");
    CHECK_EQ(THSTensor_dtype(s), TH_INT64);
    CHECK_DENSE(s, 0, -7, 7, 0);
    THSTensor_free(s);
    s = read_text("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n");
    CHECK_EQ(THSTensor_dtype(s), TH_FLOAT64);
    CHECK_DENSE(s, 0, 1, 1, 0);
    CHECK_EQ(THSTensor_isCoalesced(s), 1);
    THSTensor_free(s);
    s = read_text("%%MatrixMarket matrix coordinate real general\n4 0 0\n");
    CHECK_SIZES(s, 4, 0);
    THSTensor_free(s);

    /* White space in front of the banner, and of lines. */
    s = read_text(" \n  %%MatrixMarket matrix coordinate real general\n  2 2 1\n  1 2 5\n");
    CHECK_DENSE(s, 0, 5, 0, 0);
    THSTensor_free(s);
    /* Two truths for one position are one, which readers of patterns would sum. */
    s = coordinates(POSITIONS(2, 1, 0, 1, 0, 0, 0, 0, 1), vector_of(TH_BOOL, 1, 1, 1, 0), 2, 2);
    CHECK_OK(THSTensor_save(s, file("a.mtx")));
    THSTensor_free(s);
    s = THSTensor_newLoad(path);
    CHECK_DENSE(s, 1, 0, 1, 0);
    CHECK_EQ(s->nnz, 2);
    THSTensor_free(s);

    CHECK_FAILURE(read_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n") == NULL, TH_ERR_FORMAT,
                  "line 3: the position 1, 3 is out of range for sizes 2 x 2");
    CHECK_FAILURE(read_text("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n") == NULL, TH_ERR_UNSUPPORTED,
                  "there are no complex tensors");
    CHECK_FAILURE(read_text("%%MatrixMarket matrix coordinate real general\n2 2 9223372036854775807\n1 1 1\n") == NULL, TH_ERR_FORMAT,
                  "there are 1 lines with entries, and 9223372036854775807 are expected");
    CHECK_FAILURE(read_text("%%MatrixMarket matrix array real general\n1 2\n3\n4\n") == NULL, TH_ERR_UNSUPPORTED,
                  "is not sparse: THArchive_newTensor or THTensor_newLoad reads it");
    THTensor *dense = THTensor_newLoad(path);
    CHECK_SHAPE(dense, 1, 2);
    CHECK_VALUES(dense, 3, 4);
    CHECK_OK(THTensor_save(dense, file("a.mtx")));
    THTensor *back = THTensor_newLoad(file("a.mtx"));
    CHECK(THTensor_equal(dense, back) == 1);
    THTensor_free(back);
    THTensor_free(dense);
    CHECK_OK(THSTensor_save(s = example(), file("a.mtx")));
    CHECK_FAILURE(THTensor_newLoad(file("a.mtx")) == NULL, TH_ERR_UNSUPPORTED, "is sparse: THArchive_newSparse or THSTensor_newLoad reads it");
    THSTensor_free(s);
    remove_directory("a.mtx");
}

/* A file with dense and sparse tensors: the functions for one kind refuse tensors of the other. */
static void archives_hold_both_kinds(void) {
    make_directory();
    THTensor *bias = vector_of(TH_FLOAT32, 1, 2), *r = THTensor_new();
    THTensor *place = POSITIONS(1, 2, 0), *pairs = matrix_of(TH_INT32, 2, 1, 2, 3, 4);
    THSTensor *rows = example_by_rows(), *hybrid = THSTensor_newWithTensorAndSize(place, pairs, SIZES(3, 2));
    THArchive *out = THArchive_create(file("a.pt"), TH_FILE_BY_NAME);
    CHECK_OK(THArchive_addSparse(out, "weight", rows));
    CHECK_OK(THArchive_add(out, "bias", bias));
    CHECK_OK(THArchive_addSparse(out, "hybrid", hybrid));
    CHECK_ERROR(THArchive_addSparse(out, "bias", rows), TH_ERR_ARGUMENT, "'bias' was added already");
    CHECK_OK(THArchive_close(out));
    THArchive_free(out);

    THArchive *in = THArchive_open(file("a.pt"));
    CHECK_EQ(THArchive_count(in), 3);
    static const int sparse[] = {1, 0, 1};
    for (int i = 0; i < 3; i++) CHECK_EQ(THArchive_isSparse(in, i), sparse[i]);
    CHECK_EQ(THArchive_nnz(in, 0), 3);
    CHECK_EQ(THArchive_nnz(in, 2), 2);
    CHECK_FAILURE(THArchive_nnz(in, 1) == -1, TH_ERR_ARGUMENT, "tensor 1 is not sparse");
    CHECK_FAILURE(THArchive_isSparse(in, 3) == 0, TH_ERR_ARGUMENT, "tensor 3 of 3: out of range");
    CHECK_EQ(THArchive_dtype(in, 0), TH_FLOAT64);
    CHECK_EQ(THArchive_dtype(in, 2), TH_INT32);
    CHECK_EQ(THArchive_ndim(in, 2), 2);
    CHECK_EQ(THArchive_sizes(in, 2)[0], 3);
    CHECK_FAILURE(THArchive_newTensor(in, 0) == NULL, TH_ERR_UNSUPPORTED, "tensor 'weight' is sparse: THArchive_newSparse");
    CHECK_FAILURE(THArchive_newFind(in, "hybrid") == NULL, TH_ERR_UNSUPPORTED, "tensor 'hybrid' is sparse");
    CHECK_ERROR(THArchive_read(r, in, 0), TH_ERR_UNSUPPORTED, "is sparse");
    CHECK_FAILURE(THArchive_newSparse(in, 1) == NULL, TH_ERR_UNSUPPORTED, "tensor 'bias' is not sparse: THArchive_newTensor");
    CHECK_FAILURE(THArchive_newSparse(in, -1) == NULL, TH_ERR_ARGUMENT, "tensor -1 of 3: out of range");
    CHECK_FAILURE(THArchive_addSparse(in, "x", rows) == TH_ERR_ARGUMENT, TH_ERR_ARGUMENT, "the archive was opened for reading");
    THSTensor *weight = THArchive_newSparse(in, THArchive_find(in, "weight")), *back = THArchive_newSparse(in, 2);
    THArchive_free(in);
    CHECK_EQ(THSTensor_isCompressed(weight), 1);
    CHECK_DENSE(weight, EXAMPLE);
    CHECK_SIZES(back, 3, 2);
    CHECK_EQ(THSTensor_denseDim(back), 1);
    CHECK_DENSE(back, 3, 4, 0, 0, 1, 2);
    CHECK_FAILURE(THSTensor_newLoad(file("a.pt")) == NULL, TH_ERR_ARGUMENT, "the file has 3 tensors");
    CHECK_ERROR(THSTensor_save(hybrid, file("b.mtx")), TH_ERR_UNSUPPORTED, "Matrix Market files have matrices");
    CHECK_ERROR(THSTensor_save(hybrid, file("b.npz")), TH_ERR_UNSUPPORTED, "dense dimensions");

    out = THArchive_create(file("b.npz"), TH_FILE_NPZ_DEFLATED);
    CHECK_OK(THArchive_addSparse(out, "", rows));
    CHECK_OK(THArchive_add(out, "bias", bias));
    CHECK_ERROR(THArchive_close(out), TH_ERR_UNSUPPORTED, "npz files hold one sparse tensor and nothing else");
    THArchive_free(out);
    out = THArchive_create(file("b.t7"), TH_FILE_BY_NAME);
    CHECK_ERROR(THArchive_addSparse(out, "", rows), TH_ERR_UNSUPPORTED, "Torch7 files have no sparse tensors");
    THArchive_free(out);
    THSTensor_free(back);
    THSTensor_free(weight);
    THSTensor_free(hybrid);
    THSTensor_free(rows);
    THTensor_free(pairs);
    THTensor_free(place);
    THTensor_free(r);
    THTensor_free(bias);
    remove_directory("a.pt");
}

/* PyTorch refuses rows whose columns do not ascend strictly. */
static void rows_without_order_become_coordinates(void) {
    make_directory();
    THTensor *crow = vector_of(TH_INT64, 0, 2, 4), *col = vector_of(TH_INT32, 2, 0, 1, 1), *values = vector_of(TH_FLOAT32, 1, 2, 3, 4);
    THSTensor *s = THSTensor_newCsr(crow, col, values, 2, 3);
    CHECK_OK(THSTensor_save(s, file("a.pt")));
    THSTensor *back = THSTensor_newLoad(file("a.pt"));
    CHECK_EQ(THSTensor_isCompressed(back), 0);
    CHECK_INDICES(back, 0, 0, 1, 1, 2, 0, 1, 1);
    CHECK_ENTRIES(back, 1, 2, 3, 4);
    THSTensor_free(back);
    /* If row starts and columns have two dtypes, both are written in one. */
    CHECK_OK(THTensor_set1d(col, 0, 0));
    CHECK_OK(THTensor_set1d(col, 1, 2));
    CHECK_OK(THTensor_set1d(col, 3, 2));
    CHECK_OK(THSTensor_save(s, file("a.pt")));
    back = THSTensor_newLoad(file("a.pt"));
    CHECK_EQ(THSTensor_isCompressed(back), 1);
    CHECK_EQ(THTensor_dtype(back->col), TH_INT64);
    CHECK_DENSE(back, 1, 0, 2, 0, 3, 4);
    THSTensor_free(back);
    /* The program may change the tensors of a handle. */
    CHECK_OK(THTensor_set1d(col, 0, 100));
    CHECK_ERROR(THSTensor_save(s, file("b.mtx")), TH_ERR_FORMAT, "out of range for 2 x 3");
    CHECK_OK(THSTensor_save(s, file("a.pt")));
    CHECK_FAILURE(THSTensor_newLoad(file("a.pt")) == NULL, TH_ERR_ARGUMENT, "out of range");
    THSTensor_free(s);
    THTensor_free(crow);
    THTensor_free(col);
    THTensor_free(values);
    remove_directory("a.pt");
}

/* A data set in svmlight format is an archive of labels, a sparse matrix, and possibly queries. */
static void data_sets_are_archives(void) {
    make_directory();
    THArchive *in = THArchive_open(written("a.txt", "1 qid:7 2:0.5 # first\n-0.1 qid:7\n2e3 qid:8 1:-4 3:1e-300\n"));
    CHECK_EQ(THArchive_format(in), TH_FILE_SVMLIGHT);
    CHECK_EQ(THArchive_count(in), 3);
    THTensor *labels = THArchive_newFind(in, "labels"), *queries = THArchive_newFind(in, "qid");
    CHECK_EQ(THTensor_dtype(labels), TH_FLOAT64);
    CHECK_VALUES(labels, 1, -0.1, 2000);
    CHECK_EQ(THTensor_dtype(queries), TH_INT64);
    CHECK_VALUES(queries, 7, 7, 8);
    CHECK_STR(THArchive_name(in, 1), "data");
    THSTensor *data = THArchive_newSparse(in, 1);
    CHECK_EQ(THSTensor_isCompressed(data), 1);
    CHECK_EQ(THSTensor_isCoalesced(data), 1);
    CHECK_DENSE(data, 0, 0.5, 0, 0, 0, 0, -4, 0, 1e-300);
    THArchive_free(in);
    unlink(file("a.txt"));

    THArchive *out = THArchive_create(file("a.svm"), TH_FILE_BY_NAME);
    CHECK_OK(THArchive_add(out, "labels", queries));
    CHECK_OK(THArchive_addSparse(out, "data", data));
    CHECK_OK(THArchive_close(out));
    THArchive_free(out);
    char text[64] = {0};
    FILE *stream = fopen(file("a.svm"), "rb");
    CHECK(stream != NULL && fread(text, 1, sizeof text - 1, stream) > 0);
    if (stream) fclose(stream);
    CHECK_STR(text, "7 2:0.5\n7\n8 1:-4.0 3:1e-300\n");
    CHECK_ERROR(THSTensor_save(data, file("b.svm")), TH_ERR_UNSUPPORTED, "svmlight files have the tensors 'labels', 'data'");

    /* Labels alone are a table, unless the name tells the format. */
    in = THArchive_open(written("a.svm", "1\n-1\n"));
    CHECK_EQ(THArchive_format(in), TH_FILE_SVMLIGHT);
    THSTensor_free(data);
    data = THArchive_newSparse(in, 1);
    CHECK_SIZES(data, 2, 0);
    THArchive_free(in);
    unlink(file("a.svm"));
    in = THArchive_open(written("a.txt", "1\n-1\n"));
    CHECK_EQ(THArchive_format(in), TH_FILE_CSV);
    THArchive_free(in);
    CHECK_FAILURE(THArchive_open(written("a.txt", "1 1:1\n2 3:1 3:1\n")) == NULL, TH_ERR_FORMAT, "line 2: index 3 follows index 3");
    THSTensor_free(data);
    THTensor_free(labels);
    THTensor_free(queries);
    remove_directory("a.txt");
}

/* Reads the file that a Python program wrote. */
static THSTensor *of_corpus(const char *name) {
    char full[512];
    snprintf(full, sizeof full, "%s/%s", CORPUS, name);
    return THSTensor_newLoad(full);
}

static void files_of_scipy(void) {
    THSTensor *coo = of_corpus("scipy/coo.npz");
    static const char *const same[] = {"scipy/csr.npz", "scipy/csc.npz", "scipy/long.npz", "scipy/old.npz"};
    THTensor *expected = THSTensor_newDense(coo);
    CHECK_SHAPE(expected, 5, 7);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        THSTensor *s = of_corpus(same[i]);
        CHECK(s != NULL);
        CHECK_EQ(THSTensor_isCompressed(s), strstr(same[i], "csc") == NULL);
        THTensor *dense = THSTensor_newDense(s);
        CHECK(dense != NULL && THTensor_equal(dense, expected) == 1);
        THTensor_free(dense);
        THSTensor_free(s);
    }
    THTensor_free(expected);
    THSTensor_free(coo);
    THSTensor *cube = of_corpus("scipy/cube.npz"), *packed = of_corpus("market/packed.mtx.gz"), *plain = of_corpus("market/integer.mtx");
    CHECK_SIZES(cube, 3, 3, 3);
    CHECK_EQ(THSTensor_nnz(cube), 4);
    THTensor *a = THSTensor_newDense(packed), *b = THSTensor_newDense(plain);
    CHECK(a != NULL && b != NULL && THTensor_equal(a, b) == 1);
    THTensor_free(a);
    THTensor_free(b);
    THSTensor_free(cube);
    THSTensor_free(packed);
    THSTensor_free(plain);
    CHECK_FAILURE(of_corpus("scipy/complex.npz") == NULL, TH_ERR_UNSUPPORTED, "complex numbers");
}

CHECK_MAIN(CASE(matrices_are_saved_and_loaded), CASE(texts_of_matrix_market), CASE(archives_hold_both_kinds),
           CASE(rows_without_order_become_coordinates), CASE(data_sets_are_archives), CASE(files_of_scipy))
