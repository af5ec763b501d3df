/* Handles of every kind, each with gdb's expected text. c_tests/gdb/check.py stops in `tensor` and `storage` and compares. */
#include <thorn.h>

#include <stdlib.h>
#include <string.h>

/* gdb must print `text` for `handle`. If `text` is NULL, any text passes except an error of the printer. */
static void tensor(const THTensor *handle, const char *text) {
    (void)handle;
    (void)text;
}

static void storage(const THStorage *handle, const char *text) {
    (void)handle;
    (void)text;
}

/* gdb must print `text` for `*handle`. */
static void whole_tensor(const THTensor *handle, const char *text) {
    (void)handle;
    (void)text;
}

static void whole_storage(const THStorage *handle, const char *text) {
    (void)handle;
    (void)text;
}

static void every_dtype(void) {
    static const struct {
        THDtype dtype;
        const char *text;
    } cases[] = {
        {TH_UINT8, "uint8 [3], strides [1]: [200, 0, 1]"},      {TH_INT8, "int8 [3], strides [1]: [-100, 0, 1]"},
        {TH_INT16, "int16 [3], strides [1]: [-100, 0, 1]"},     {TH_INT32, "int32 [3], strides [1]: [-100, 0, 1]"},
        {TH_INT64, "int64 [3], strides [1]: [-100, 0, 1]"},     {TH_FLOAT16, "float16 [3], strides [1]: [0.1, -0, inf]"},
        {TH_BFLOAT16, "bfloat16 [3], strides [1]: [0.1, -0, inf]"}, {TH_FLOAT32, "float32 [3], strides [1]: [0.1, -0, inf]"},
        {TH_FLOAT64, "float64 [3], strides [1]: [0.1, -0, inf]"}, {TH_BOOL, "bool [3], strides [1]: [true, false, true]"},
    };
    const int64_t size[1] = {3};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const THDtype dtype = cases[i].dtype;
        THTensor *t = THTensor_newZeros(dtype, 1, size);
        const int is_float = dtype >= TH_FLOAT16 && dtype <= TH_FLOAT64;
        THTensor_set1d(t, 0, is_float ? 0.1 : dtype == TH_UINT8 ? 200 : dtype == TH_BOOL ? 1 : -100);
        THTensor_set1d(t, 1, is_float ? -0.0 : 0);
        THTensor_set1d(t, 2, is_float ? 1e308 * 10 : 1);
        tensor(t, cases[i].text);
        THTensor_free(t);
    }
    THTensor *large = THTensor_newScalarLong(TH_INT64, INT64_MIN);
    tensor(large, "int64 []: -9223372036854775808");
    THTensor_free(large);
    THTensor *third = THTensor_newScalar(TH_FLOAT64, 1.0 / 3);
    tensor(third, "float64 []: 0.3333333333333333");
    THTensor_free(third);
    THTensor *round = THTensor_newScalar(TH_FLOAT32, 100);
    tensor(round, "float32 []: 100");
    THTensor_free(round);
    THTensor *small = THTensor_newScalar(TH_BFLOAT16, 1.0078125);
    tensor(small, "bfloat16 []: 1.01");
    THTensor_free(small);
    THTensor *most = THTensor_newScalar(TH_FLOAT16, 65504);
    tensor(most, "float16 []: 65500");
    THTensor_free(most);
}

static void views(void) {
    const int64_t size[2] = {2, 3}, wide[2] = {2, 1000}, expanded[3] = {2, 2, 1};
    const float numbers[6] = {1, 2, 3, 4, 5, 6.5f};
    THTensor *t = THTensor_newFromData(TH_FLOAT32, 2, size, numbers);
    tensor(t, "float32 [2, 3], strides [3, 1]: [[1, 2, 3], [4, 5, 6.5]]");
    storage(t->storage, "float32, 6 elements: [1, 2, 3, 4, 5, 6.5]");
    whole_storage(t->storage, "float32, 6 elements, refcount 1, refcounted resizable freemem, data 0x*: [1, 2, 3, 4, 5, 6.5]");
    whole_tensor(t, "float32 [2, 3], strides [3, 1], offset 0, refcount 1, storage 0x*: [[1, 2, 3], [4, 5, 6.5]]");

    THTensor *columns = THTensor_newT(t);
    tensor(columns, "float32 [3, 2], strides [1, 3]: [[1, 4], [2, 5], [3, 6.5]]");
    THTensor *column = THTensor_newNarrow(t, 1, 1, 1);
    whole_tensor(column, "float32 [2, 1], strides [3, 1], offset 1, refcount 1, storage 0x*: [[2], [5]]");
    THTensor *repeated = THTensor_newExpand(column, 3, expanded);
    tensor(repeated, "float32 [2, 2, 1], strides [0, 3, 1]: [[[2], [5]], [[2], [5]]]");
    THTensor *none = THTensor_newNarrow(t, 0, 1, 0);
    tensor(none, "float32 [0, 3], strides [3, 1]");

    THTensor *many = THTensor_newZeros(TH_INT32, 2, wide);
    tensor(many, "int32 [2, 1000], strides [1000, 1]: [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ...], ...]");
    int64_t ones[40];
    for (int i = 0; i < 40; i++) ones[i] = i < 38 ? 1 : 2;
    THTensor *deep = THTensor_newOnes(TH_UINT8, 40, ones);
    tensor(deep, "uint8 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ...], "
                 "strides [4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, ...]: 1 1 1 1");

    THTensor *fresh = THTensor_new();
    tensor(fresh, "undefined dtype, no elements");
    tensor(NULL, "0x0");
    storage(NULL, "0x0");

    THTensor *const all[] = {columns, column, repeated, none, many, deep, fresh, t};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) THTensor_free(all[i]);
}

/* Handles with damaged fields, which no function of the library makes. */
static void damaged(void) {
    int64_t size[2] = {2, 3}, stride[2] = {3, 1}, minus[2] = {-2, 3}, far[2] = {INT64_MAX, INT64_MAX};
    float data[6] = {1, 2, 3, 4, 5, 6};
    THStorage memory = {data, 6, 1, TH_STORAGE_REFCOUNTED, TH_FLOAT32, TH_CPU, 0, NULL, NULL, NULL};
    const THTensor sound = {size, stride, 2, &memory, 0, 1, TH_TENSOR_REFCOUNTED, TH_FLOAT32, TH_CPU, 0};
    tensor(&sound, "float32 [2, 3], strides [3, 1]: [[1, 2, 3], [4, 5, 6]]");

    THTensor t = sound;
    t.refcount = 0;
    tensor(&t, "float32 [2, 3], strides [3, 1], freed: refcount 0: [[1, 2, 3], [4, 5, 6]]");
    t = sound;
    t.nDimension = -7;
    tensor(&t, "float32 <damaged: nDimension -7>");
    t.nDimension = INT32_MAX;
    tensor(&t, "float32 <damaged: nDimension 2147483647>");
    t = sound;
    t.dtype = 77;
    tensor(&t, "unknown dtype 77 [2, 3], strides [3, 1]");
    t = sound;
    t.dtype = TH_INT64;
    tensor(&t, "int64 [2, 3], strides [3, 1] <damaged: the storage is float32>");
    t = sound;
    t.size = NULL;
    tensor(&t, "float32 <damaged: no memory at 0x0>");
    t = sound;
    t.stride = (int64_t *)(intptr_t)-8;
    tensor(&t, "float32 [2, 3] <damaged: no memory at 0xfffffffffffffff8>");
    t = sound;
    t.size = minus;
    tensor(&t, "float32 [-2, 3], strides [3, 1] <damaged: negative size>");
    t.size = t.stride = far;
    tensor(&t, "float32 [9223372036854775807, 9223372036854775807], strides [9223372036854775807, 9223372036854775807] "
               "<damaged: elements 0 to 170141183460469231676347071494755450884 of a storage with 6>");
    t = sound;
    t.storageOffset = -1;
    tensor(&t, "float32 [2, 3], strides [3, 1] <damaged: elements -1 to 4 of a storage with 6>");
    t = sound;
    t.storage = NULL;
    tensor(&t, "float32 [2, 3], strides [3, 1] <damaged: no storage>");
    t.storage = (THStorage *)(intptr_t)16;
    tensor(&t, "float32 [2, 3], strides [3, 1] <Cannot access memory at address 0x*>");
    t = sound;
    t.deviceType = TH_CUDA;
    t.deviceIndex = 3;
    tensor(&t, "float32 [2, 3], strides [3, 1], on GPU 3");
    t.deviceType = 9;
    tensor(&t, "float32 [2, 3], strides [3, 1], unknown device 9");
    tensor((THTensor *)(intptr_t)16, "<Cannot access memory at address 0x*>");
    storage((THStorage *)(intptr_t)16, "<Cannot access memory at address 0x*>");

    memory.data = (void *)(intptr_t)32;
    tensor(&sound, "float32 [2, 3], strides [3, 1] <damaged: no memory at 0x20>");
    storage(&memory, "float32, 6 elements <damaged: no memory at 0x20>");
    memory.data = data;
    memory.size = -6;
    storage(&memory, "float32, -6 elements <damaged: size -6>");
    memory.size = 6;
    memory.refcount = -1;
    tensor(&sound, "float32 [2, 3], strides [3, 1], storage freed: refcount -1: [[1, 2, 3], [4, 5, 6]]");
    memory.flag = TH_STORAGE_VIEW;
    memory.view = (THStorage *)(intptr_t)64;
    whole_storage(&memory, "float32, 6 elements, refcount -1, view, data 0x*, view of 0x40: [1, 2, 3, 4, 5, 6]");

    for (int byte = 0; byte < 256; byte++) {
        memset(&t, byte, sizeof t);
        tensor(&t, NULL);
        memset(&memory, byte, sizeof memory);
        storage(&memory, NULL);
    }
    const int64_t one[1] = {1};
    THTensor *gone = THTensor_newOnes(TH_FLOAT32, 1, one);
    THStorage *memory_gone = gone->storage;
    THTensor_free(gone);
    tensor(gone, NULL);
    storage(memory_gone, NULL);
}

int main(void) {
    every_dtype();
    views();
    damaged();
    return 0;
}
