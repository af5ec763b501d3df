/* Quantised numbers: products with quantised matrices, encoding, decoding, and matrices in files of GGUF. */

#define _GNU_SOURCE

#include "check.h"
#include "mapped.h"

#include <sys/mman.h>
#include <unistd.h>

struct type {
    THBlockType type;
    const char *name;
    int64_t numbers, bytes;
    /* The product of the numbers below, computed by ggml_vec_dot_*_generic of llama.cpp (llama-cpp-python 0.3.36); 0
     * for types that thorn does not encode. */
    double product;
};

static const struct type types[] = {
    {TH_BLOCK_Q4_0, "Q4_0", 32, 18, -38.575965881347656},
    {TH_BLOCK_Q4_1, "Q4_1", 32, 20, -47.432456970214844},
    {TH_BLOCK_Q5_0, "Q5_0", 32, 22, -31.988887786865234},
    {TH_BLOCK_Q5_1, "Q5_1", 32, 24, -36.82634735107422},
    {TH_BLOCK_Q8_0, "Q8_0", 32, 34, -35.589447021484375},
    {TH_BLOCK_Q2_K, "Q2_K", 256, 84, 0},
    {TH_BLOCK_Q3_K, "Q3_K", 256, 110, 0},
    {TH_BLOCK_Q4_K, "Q4_K", 256, 144, -46.88155746459961},
    {TH_BLOCK_Q5_K, "Q5_K", 256, 176, -38.52745819091797},
    {TH_BLOCK_Q6_K, "Q6_K", 256, 210, -35.22150421142578},
    {TH_BLOCK_IQ4_NL, "IQ4_NL", 32, 18, 0},
    {TH_BLOCK_IQ4_XS, "IQ4_XS", 256, 136, 0},
    {TH_BLOCK_TQ1_0, "TQ1_0", 256, 54, 0},
    {TH_BLOCK_TQ2_0, "TQ2_0", 256, 66, 0},
    {TH_BLOCK_MXFP4, "MXFP4", 32, 17, 0},
};

#define TYPES (int)(sizeof types / sizeof *types)

/* 512 numbers that float32 has exactly; `kind` 0 is the weights of blocks/tests/ggml.rs, 1 the activations. Activations
 * are odd multiples of 1/128, so that no code is halfway between two integers. */
static THTensor *numbers(int kind) {
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(512));
    for (int64_t i = 0; i < 512; i++) {
        double weight = (double)((i * i * 7 + i * 13) % 101 - 50) / (i < 256 ? 16 : 128);
        THTensor_set1d(t, i, kind ? (double)(2 * ((i * i * 5 + i * 29) % 1021) - 1021) / 128 : weight);
    }
    return t;
}

/* Random rows [rows x k] between -1 and 1. */
static THTensor *rows_of(int64_t rows, int64_t k) {
    THGenerator *generator = THGenerator_new();
    THRandom_manualSeed(generator, 5);
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(rows, k));
    THTensor_uniform(t, generator, -1, 1);
    THGenerator_free(generator);
    return t;
}

/* Random blocks of n rows of k numbers, whose scales are finite. */
static THTensor *blocks_of(const struct type *type, int64_t n, int64_t k) {
    THTensor *w;
    if (type->product != 0) {
        THTensor *t = rows_of(n, k);
        w = THTensor_new();
        CHECK_OK(THTensor_quantize(w, t, type->type));
        THTensor_free(t);
        return w;
    }
    w = THTensor_newZeros(TH_UINT8, SIZES(n, k / type->numbers * type->bytes));
    unsigned char *bytes = THTensor_data(w);
    unsigned word = 1;
    for (int64_t i = 0; i < THTensor_nElement(w); i++) {
        bytes[i] = (unsigned char)((word = word * 1664525u + 1013904223u) >> 24);
        int64_t at = i % type->bytes;
        /* A float16 with the upper byte 0x2c is 1/16 to 1/8. */
        int first = type->type == TH_BLOCK_Q2_K    ? 80
                    : type->type == TH_BLOCK_Q3_K  ? 108
                    : type->type == TH_BLOCK_TQ1_0 ? 52
                    : type->type == TH_BLOCK_TQ2_0 ? 64
                                                   : 0;
        if (at == first + 1 || (type->type == TH_BLOCK_Q2_K && at == 83)) bytes[i] = 0x2c;
        if (type->type == TH_BLOCK_MXFP4 && at == 0) bytes[i] = 122;
        if (type->type == TH_BLOCK_MXFP4 && at == 1) bytes[i] = 0x19;
    }
    return w;
}

static double magnitude(double x) { return x < 0 ? -x : x; }

/* Compares `r` with products in float64 of the decoded weights, within the bound that the header states. `more` is the
 * relative rounding of the dtype of `r`. */
static void check_products(THTensor *r, THTensor *a, const THTensor *w, const struct type *type, int64_t k,
                           double more) {
    THTensor *decoded = THTensor_new(), *rows = THTensor_newTo(a, TH_FLOAT64), *got = THTensor_newTo(r, TH_FLOAT64);
    CHECK_OK(THTensor_dequantize(decoded, w, type->type, k));
    THTensor *values = THTensor_newTo(decoded, TH_FLOAT64);
    const double *y = THTensor_data(values), *x = THTensor_data(rows), *z = THTensor_data(got);
    int64_t n = THTensor_size(values, 0), wrong = 0;
    for (int64_t i = 0; i < THTensor_nElement(got); i++) {
        double sum = 0, bound = 0, sizes = 0, most = 0;
        for (int64_t j = 0; j < k; j++) {
            double weight = y[i % n * k + j], number = x[i / n * k + j];
            if (j % type->numbers == 0) {
                most = 0;
                for (int64_t l = j; l < j + type->numbers; l++) most = fmax(most, magnitude(x[i / n * k + l]));
            }
            sum += weight * number;
            bound += magnitude(weight) * most / 254;
            sizes += magnitude(weight) * most;
        }
        if (magnitude(z[i] - sum) > bound + 4 * 1.2e-7 * sizes + more * magnitude(sum) + more * bound) wrong++;
    }
    CHECK_EQ(wrong, 0);
    if (wrong) printf(" %s", type->name);
    THTensor_free(values);
    THTensor_free(got);
    THTensor_free(rows);
    THTensor_free(decoded);
}

/* ggml rounds the scales of 8-bit activations to float16 for blocks of 32 numbers. */
static void products_are_those_of_ggml(void) {
    THTensor *t = numbers(0), *a = numbers(1), *w = THTensor_new(), *r = THTensor_new();
    for (int i = 0; i < TYPES; i++) {
        if (types[i].product == 0) continue;
        CHECK_OK(THTensor_quantize(w, t, types[i].type));
        CHECK_SHAPE(w, 512 / types[i].numbers * types[i].bytes);
        CHECK_OK(THTensor_mmQuantized(r, a, w, types[i].type));
        CHECK_SHAPE(r, 1);
        CHECK_NEAR(THTensor_get1d(r, 0), types[i].product, types[i].numbers == 32 ? 0.02 : 1e-4);
    }
    THTensor_free(r);
    THTensor_free(w);
    THTensor_free(a);
    THTensor_free(t);
}

static void products_are_within_the_bound(void) {
    static const int64_t counts[] = {1, 3, 4, 11};
    for (int i = 0; i < TYPES; i++) {
        const struct type *type = &types[i];
        for (int blocks = 1; blocks < 12; blocks += 5) {
            int64_t k = blocks * type->numbers, n = 7;
            THTensor *w = blocks_of(type, n, k);
            for (int j = 0; j < 4; j++) {
                THTensor *a = rows_of(counts[j], k), *r = THTensor_new();
                CHECK_OK(THTensor_mmQuantized(r, a, w, type->type));
                CHECK_SHAPE(r, counts[j], n);
                CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
                check_products(r, a, w, type, k, 0);
                THTensor_free(r);
                THTensor_free(a);
            }
            THTensor_free(w);
        }
    }
}

static void activations_have_any_layout_and_short_floats(void) {
    const struct type *type = &types[4];
    THTensor *w = blocks_of(type, 5, 64), *plain = rows_of(64, 6), *r = THTensor_new();
    static const THDtype floats[] = {TH_FLOAT32, TH_FLOAT16, TH_BFLOAT16};
    static const double eps[] = {0, 0x1p-10, 0x1p-7};
    for (int i = 0; i < 3; i++) {
        THTensor *b = THTensor_newTo(plain, floats[i]), *a = THTensor_newTranspose(b, 0, 1), *result = THTensor_new();
        CHECK_OK(THTensor_mmQuantized(result, a, w, type->type));
        CHECK_EQ(THTensor_dtype(result), floats[i]);
        THTensor *copy = THTensor_newContiguous(a);
        check_products(result, copy, w, type, 64, eps[i]);
        /* A result of float64, and weights with a stride, have the same numbers. */
        THTensor *wide = THTensor_newZeros(TH_UINT8, SIZES(5, 136)), *every = THTensor_new();
        THTensor_slice(every, wide, 1, 0, 136, 2);
        THTensor_copy(every, w);
        THTensor *doubles = THTensor_newZeros(TH_FLOAT64, SIZES(6, 5));
        CHECK_OK(THTensor_mmQuantized(doubles, copy, every, type->type));
        THTensor *expected = THTensor_newTo(result, TH_FLOAT64);
        CHECK(THTensor_equal(doubles, expected));
        THTensor_free(expected);
        THTensor_free(doubles);
        THTensor_free(every);
        THTensor_free(wide);
        THTensor_free(copy);
        THTensor_free(result);
        THTensor_free(a);
        THTensor_free(b);
    }
    /* Batches, a single row, and a vector of bytes. */
    THTensor *a = rows_of(6, 64), *batch = THTensor_newReshape(a, SIZES(3, 2, 64)), *row = THTensor_newSelect(a, 0, 2);
    THTensor *bytes = THTensor_newReshape(w, SIZES(5 * 68)), *one = THTensor_new();
    CHECK_OK(THTensor_mmQuantized(r, batch, bytes, type->type));
    CHECK_SHAPE(r, 3, 2, 5);
    CHECK_OK(THTensor_mmQuantized(one, row, bytes, type->type));
    CHECK_SHAPE(one, 5);
    for (int64_t j = 0; j < 5; j++) CHECK(THTensor_get1d(one, j) == THTensor_get3d(r, 1, 0, j));
    THTensor_free(one);
    THTensor_free(bytes);
    THTensor_free(row);
    THTensor_free(batch);
    THTensor_free(a);
    THTensor_free(r);
    THTensor_free(plain);
    THTensor_free(w);
}

static void every_number_of_threads_gives_the_same_bits(void) {
    int before = THGetNumThreads();
    for (int i = 0; i < TYPES; i++) {
        THTensor *w = blocks_of(&types[i], 301, 768), *a = rows_of(5, 768), *first = THTensor_new(),
                 *r = THTensor_new();
        for (int threads = 1; threads < 9; threads += threads == 3 ? 5 : 1) {
            THSetNumThreads(threads);
            CHECK_OK(THTensor_mmQuantized(threads == 1 ? first : r, a, w, types[i].type));
            if (threads > 1) CHECK(memcmp(THTensor_data(first), THTensor_data(r), 5 * 301 * sizeof(float)) == 0);
        }
        THTensor_free(r);
        THTensor_free(first);
        THTensor_free(a);
        THTensor_free(w);
    }
    THSetNumThreads(before);
}

/* The bytes end with a page, and the next page cannot be read. The first byte has an odd address. */
static void nothing_is_read_after_the_weights(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 16 * page;
    char *memory = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(memory != MAP_FAILED)) return;
    CHECK(mprotect(memory + size, page, PROT_NONE) == 0);
    for (int i = 0; i < TYPES; i++) {
        for (int64_t blocks = 1; blocks < 11; blocks++) {
            int64_t k = blocks * types[i].numbers, n = 3;
            THTensor *w = blocks_of(&types[i], n, k), *a = rows_of(5, k), *r = THTensor_new(),
                     *expected = THTensor_new();
            int64_t bytes = THTensor_nElement(w);
            THTensor *last = THTensor_newFromBlob(TH_UINT8, SIZES(bytes), NULL, memory + size - bytes, NULL, NULL);
            memcpy(memory + size - bytes, THTensor_data(w), (size_t)bytes);
            CHECK_OK(THTensor_mmQuantized(r, a, last, types[i].type));
            CHECK_OK(THTensor_mmQuantized(expected, a, w, types[i].type));
            CHECK(THTensor_equal(r, expected));
            CHECK_OK(THTensor_dequantize(r, last, types[i].type, k));
            THTensor_free(last);
            THTensor_free(expected);
            THTensor_free(r);
            THTensor_free(a);
            THTensor_free(w);
        }
    }
    munmap(memory, size + page);
}

static void no_rows_and_no_weights(void) {
    THTensor *none = THTensor_newZeros(TH_UINT8, SIZES(0)), *w = blocks_of(&types[4], 3, 64), *a = rows_of(2, 64);
    THTensor *empty = THTensor_newZeros(TH_FLOAT32, SIZES(0, 64)), *r = THTensor_new();
    CHECK_OK(THTensor_mmQuantized(r, a, none, TH_BLOCK_Q8_0));
    CHECK_SHAPE(r, 2, 0);
    CHECK_OK(THTensor_mmQuantized(r, empty, w, TH_BLOCK_Q8_0));
    CHECK_SHAPE(r, 0, 3);
    CHECK_OK(THTensor_dequantize(r, none, TH_BLOCK_Q8_0, 32));
    CHECK_SHAPE(r, 0, 32);
    THTensor *bytes = THTensor_new();
    CHECK_OK(THTensor_quantize(bytes, empty, TH_BLOCK_Q4_0));
    CHECK_SHAPE(bytes, 0, 36);
    THTensor_free(bytes);
    THTensor_free(r);
    THTensor_free(empty);
    THTensor_free(a);
    THTensor_free(w);
    THTensor_free(none);
}

static void wrong_arguments_change_nothing(void) {
    THTensor *w = blocks_of(&types[4], 3, 64), *a = rows_of(2, 64), *r = vector_of(TH_FLOAT32, 1, 2),
             *odd = THTensor_new();
    CHECK_ERROR(THTensor_mmQuantized(r, a, w, TH_BLOCK_NONE), TH_ERR_ARGUMENT,
                "THTensor_mmQuantized: argument 'blockType' is 0");
    CHECK_ERROR(THTensor_mmQuantized(r, a, w, 9), TH_ERR_ARGUMENT, "'blockType' is 9");
    CHECK_ERROR(THTensor_mmQuantized(r, a, w, TH_BLOCK_Q4_K), TH_ERR_SHAPE,
                "the rows of argument 'a' have 64 numbers, expected a positive multiple of 256");
    CHECK_ERROR(THTensor_mmQuantized(r, a, w, TH_BLOCK_Q4_0), TH_ERR_SHAPE,
                "argument 'w' has shape [3, 68], expected rows of 36");
    CHECK_ERROR(THTensor_mmQuantized(r, a, a, TH_BLOCK_Q8_0), TH_ERR_DTYPE, "argument 'w' is float32");
    CHECK_ERROR(THTensor_mmQuantized(r, w, w, TH_BLOCK_Q8_0), TH_ERR_DTYPE, "argument 'a' is uint8");
    THTensor_free(odd);
    odd = THTensor_newTo(a, TH_FLOAT64);
    CHECK_ERROR(THTensor_mmQuantized(r, odd, w, TH_BLOCK_Q8_0), TH_ERR_DTYPE, "argument 'a' is float64");
    THTensor_free(odd);
    odd = THTensor_newNarrow(w, 1, 0, 67);
    CHECK_ERROR(THTensor_mmQuantized(r, a, odd, TH_BLOCK_Q8_0), TH_ERR_SHAPE, "[3, 67]");
    THTensor_free(odd);
    odd = THTensor_newZeros(TH_UINT8, SIZES(67));
    CHECK_ERROR(THTensor_mmQuantized(r, a, odd, TH_BLOCK_Q8_0), TH_ERR_SHAPE, "[67]");
    CHECK_ERROR(THTensor_dequantize(r, odd, TH_BLOCK_Q8_0, 32), TH_ERR_SHAPE, "[67]");
    CHECK_ERROR(THTensor_dequantize(r, odd, TH_BLOCK_Q8_0, 0), TH_ERR_SHAPE, "rows of 0 numbers");
    CHECK_ERROR(THTensor_dequantize(r, odd, TH_BLOCK_Q8_0, -32), TH_ERR_SHAPE, "rows of -32 numbers");
    CHECK_ERROR(THTensor_dequantize(r, odd, TH_BLOCK_Q8_0, INT64_MAX - 31), TH_ERR_SHAPE, "overflows");
    THTensor_free(odd);
    odd = THTensor_newZeros(TH_FLOAT32, SIZES(4, 0));
    CHECK_ERROR(THTensor_mmQuantized(r, odd, w, TH_BLOCK_Q8_0), TH_ERR_SHAPE, "have 0 numbers");
    CHECK_ERROR(THTensor_quantize(r, odd, TH_BLOCK_Q8_0), TH_ERR_SHAPE, "have 0 numbers");
    THTensor_free(odd);
    odd = THTensor_newScalar(TH_FLOAT32, 1);
    CHECK_ERROR(THTensor_mmQuantized(r, odd, w, TH_BLOCK_Q8_0), TH_ERR_SHAPE, "argument 'a' is a scalar");
    CHECK_ERROR(THTensor_quantize(r, odd, TH_BLOCK_Q8_0), TH_ERR_SHAPE, "argument 't' is a scalar");
    CHECK_ERROR(THTensor_quantize(r, a, TH_BLOCK_IQ4_XS), TH_ERR_UNSUPPORTED, "IQ4_XS is only decoded");
    CHECK_ERROR(THTensor_quantize(r, w, TH_BLOCK_Q8_0), TH_ERR_DTYPE, "THTensor_quantize");
    CHECK_ERROR(THTensor_mmQuantized(r, a, NULL, TH_BLOCK_Q8_0), TH_ERR_ARGUMENT, "'w'");
    THTensor_setRequiresGrad(a, 1);
    CHECK_ERROR(THTensor_mmQuantized(r, a, w, TH_BLOCK_Q8_0), TH_ERR_UNSUPPORTED, "has no derivative");
    CHECK_VALUES(r, 1, 2);
    THTensor_free(odd);
    THTensor_free(r);
    THTensor_free(a);
    THTensor_free(w);
}

static void infinities_and_nan_stay_in_their_row(void) {
    for (int i = 0; i < TYPES; i++) {
        int64_t k = 2 * types[i].numbers;
        THTensor *w = blocks_of(&types[i], 2, k), *a = rows_of(6, k), *r = THTensor_new();
        THTensor_set2d(a, 1, 3, NAN);
        THTensor_set2d(a, 4, k - 1, -INFINITY);
        CHECK_OK(THTensor_mmQuantized(r, a, w, types[i].type));
        for (int64_t row = 0; row < 6; row++) {
            CHECK(isnan(THTensor_get2d(r, row, 1)) == (row == 1 || row == 4));
        }
        THTensor_free(r);
        THTensor_free(a);
        THTensor_free(w);
    }
}

static void put(FILE *file, uint64_t value, size_t size) { fwrite(&value, size, 1, file); }

/* A file of GGUF with a matrix of 256 x 512 numbers in Q8_0, and a vector of float32. The file maps the matrix. */
static void weights_of_files_are_mapped(void) {
    char path[] = "/tmp/thorn_quantized_XXXXXX";
    int descriptor = mkstemp(path);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (!CHECK(file != NULL)) return;
    const struct type *type = &types[4];
    THTensor *w = blocks_of(type, 256, 512), *a = rows_of(3, 512), *expected = THTensor_new(), *r = THTensor_new();
    fwrite("GGUF", 4, 1, file);
    put(file, 3, 4);
    put(file, 2, 8);
    put(file, 0, 8);
    for (int k = 0; k < 2; k++) {
        put(file, 1, 8);
        put(file, (uint64_t)("wb"[k]), 1);
        put(file, k ? 1 : 2, 4);
        put(file, k ? 8 : 512, 8);
        if (!k) put(file, 256, 8);
        put(file, k ? 0 : (uint64_t)type->type, 4);
        put(file, k ? (uint64_t)THTensor_nElement(w) : 0, 8);
    }
    while (ftell(file) % 32) put(file, 0, 1);
    fwrite(THTensor_data(w), 1, (size_t)THTensor_nElement(w), file);
    for (int k = 0; k < 8; k++) put(file, 0, 4);
    fclose(file);

    THArchive *archive = THArchive_open(path);
    CHECK_EQ(THArchive_count(archive), 2);
    CHECK_EQ(THArchive_blockType(archive, 0), TH_BLOCK_Q8_0);
    CHECK_EQ(THArchive_blockType(archive, 1), TH_BLOCK_NONE);
    CHECK_FAILURE(THArchive_blockType(archive, 2) == TH_BLOCK_NONE, TH_ERR_ARGUMENT, "tensor 2 of 2");
    THTensor *mapped = THArchive_newBytes(archive, 0);
    CHECK(is_mapped(path));
    CHECK_OK(THTensor_mmQuantized(r, a, mapped, THArchive_blockType(archive, 0)));
    CHECK_OK(THTensor_mmQuantized(expected, a, w, type->type));
    CHECK_SHAPE(r, 3, 256);
    CHECK(THTensor_equal(r, expected));
    check_products(r, a, mapped, type, 512, 0);
    /* Decoding is what the file's reader does. */
    THTensor *read = THArchive_newTensor(archive, 0);
    CHECK_OK(THTensor_dequantize(r, mapped, type->type, 512));
    CHECK(THTensor_equal(r, read));
    THTensor_free(read);
    THTensor_free(mapped);
    THArchive_free(archive);
    THTensor_free(r);
    THTensor_free(expected);
    THTensor_free(a);
    THTensor_free(w);
    unlink(path);
}

CHECK_MAIN(CASE(products_are_those_of_ggml), CASE(products_are_within_the_bound),
           CASE(activations_have_any_layout_and_short_floats), CASE(every_number_of_threads_gives_the_same_bits),
           CASE(nothing_is_read_after_the_weights), CASE(no_rows_and_no_weights), CASE(wrong_arguments_change_nothing),
           CASE(infinities_and_nan_stay_in_their_row), CASE(weights_of_files_are_mapped))
