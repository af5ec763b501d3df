/* The binary interface: offsets, sizes and codes that compiled programs rely on and that never change. */

#include "check.h"

/* C99 has no static assertion: an array of negative length stops the compiler. */
#define ALWAYS(name, condition) typedef char always_##name[(condition) ? 1 : -1]
#define PLACED(type, field, where, bytes)                                                                              \
    ALWAYS(type##_##field, offsetof(type, field) == (where) && sizeof(((type *)0)->field) == (bytes))

PLACED(THTensor, size, 0, 8);
PLACED(THTensor, stride, 8, 8);
PLACED(THTensor, nDimension, 16, 4);
PLACED(THTensor, storage, 24, 8);
PLACED(THTensor, storageOffset, 32, 8);
PLACED(THTensor, refcount, 40, 4);
PLACED(THTensor, flag, 44, 1);
ALWAYS(THTensor_bytes, sizeof(THTensor) == 48);

PLACED(THStorage, data, 0, 8);
PLACED(THStorage, size, 8, 8);
PLACED(THStorage, refcount, 16, 4);
PLACED(THStorage, flag, 20, 1);
PLACED(THStorage, allocator, 24, 8);
PLACED(THStorage, allocatorContext, 32, 8);
PLACED(THStorage, view, 40, 8);
ALWAYS(THStorage_bytes, sizeof(THStorage) == 48);

PLACED(THAllocator, malloc, 0, 8);
PLACED(THAllocator, realloc, 8, 8);
PLACED(THAllocator, free, 16, 8);
ALWAYS(THAllocator_bytes, sizeof(THAllocator) == 24);

/* The layouts that the specifications of DLPack and of Arrow's C data interface define. */
PLACED(DLTensor, data, 0, 8);
PLACED(DLTensor, device, 8, 8);
PLACED(DLTensor, ndim, 16, 4);
PLACED(DLTensor, dtype, 20, 4);
PLACED(DLTensor, shape, 24, 8);
PLACED(DLTensor, strides, 32, 8);
PLACED(DLTensor, byte_offset, 40, 8);
PLACED(DLManagedTensor, dl_tensor, 0, 48);
PLACED(DLManagedTensor, manager_ctx, 48, 8);
PLACED(DLManagedTensor, deleter, 56, 8);
PLACED(DLManagedTensorVersioned, version, 0, 8);
PLACED(DLManagedTensorVersioned, manager_ctx, 8, 8);
PLACED(DLManagedTensorVersioned, deleter, 16, 8);
PLACED(DLManagedTensorVersioned, flags, 24, 8);
PLACED(DLManagedTensorVersioned, dl_tensor, 32, 48);
PLACED(ArrowSchema, format, 0, 8);
PLACED(ArrowSchema, flags, 24, 8);
PLACED(ArrowSchema, children, 40, 8);
PLACED(ArrowSchema, release, 56, 8);
PLACED(ArrowSchema, private_data, 64, 8);
PLACED(ArrowArray, length, 0, 8);
PLACED(ArrowArray, buffers, 40, 8);
PLACED(ArrowArray, release, 64, 8);
PLACED(ArrowArray, private_data, 72, 8);

ALWAYS(codes_are_int32, sizeof(THStatus) == 4 && sizeof(THDtype) == 4 && sizeof(THMemoryFormat) == 4);
ALWAYS(dtypes, TH_UNDEFINED == 0 && TH_UINT8 == 1 && TH_INT8 == 2 && TH_INT16 == 3 && TH_INT32 == 4 && TH_INT64 == 5 &&
                   TH_FLOAT16 == 6 && TH_BFLOAT16 == 7 && TH_FLOAT32 == 8 && TH_FLOAT64 == 9 && TH_BOOL == 10);
ALWAYS(statuses, TH_OK == 0 && TH_ERR_ARGUMENT == 1 && TH_ERR_SHAPE == 2 && TH_ERR_DTYPE == 3 && TH_ERR_DEVICE == 4 &&
                     TH_ERR_NOMEM == 5 && TH_ERR_IO == 6 && TH_ERR_FORMAT == 7 && TH_ERR_UNSUPPORTED == 8 &&
                     TH_ERR_CALLBACK == 9 && TH_ERR_INTERNAL == 10 && TH_ERR_NUMERIC == 11);
ALWAYS(storage_flags,
       TH_STORAGE_REFCOUNTED == 1 && TH_STORAGE_RESIZABLE == 2 && TH_STORAGE_FREEMEM == 4 && TH_STORAGE_VIEW == 8);
ALWAYS(tensor_flags, TH_TENSOR_REFCOUNTED == 1 && TH_TENSOR_SCALAR == 2);
ALWAYS(mapping_flags, TH_ALLOCATOR_MAPPED_SHARED == 1 && TH_ALLOCATOR_MAPPED_SHAREDMEM == 2 &&
                          TH_ALLOCATOR_MAPPED_EXCLUSIVE == 4 && TH_ALLOCATOR_MAPPED_NOCREATE == 8 &&
                          TH_ALLOCATOR_MAPPED_KEEPFD == 16 && TH_ALLOCATOR_MAPPED_FROMFD == 32 &&
                          TH_ALLOCATOR_MAPPED_UNLINK == 64);
ALWAYS(devices_are_dlpacks, TH_CPU == 1 && TH_CUDA == 2);
ALWAYS(formats,
       TH_CONTIGUOUS_FORMAT == 0 && TH_PRESERVE_FORMAT == 1 && TH_CHANNELS_LAST == 2 && TH_CHANNELS_LAST_3D == 3);
ALWAYS(all_dims, TH_ALL_DIMS == INT32_MIN);

/* The tensor of Torch7's headers. `long` has 64 bits on every platform with these offsets. */
struct torch7_tensor {
    int64_t *size;
    int64_t *stride;
    int nDimension;
    void *storage;
    ptrdiff_t storageOffset;
    int refcount;
    char flag;
};

static void a_program_compiled_for_torch7_reads_a_tensor(void) {
    THTensor *matrix = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6);
    THTensor *column = THTensor_newSelect(matrix, 1, 2);
    struct torch7_tensor seen;
    memcpy(&seen, column, sizeof seen);
    CHECK_EQ(seen.nDimension, 1);
    CHECK_EQ(seen.size[0], 2);
    CHECK_EQ(seen.stride[0], 3);
    CHECK_EQ(seen.storageOffset, 2);
    CHECK_EQ(seen.refcount, 1);
    CHECK_EQ(seen.flag & TH_TENSOR_REFCOUNTED, TH_TENSOR_REFCOUNTED);
    CHECK(seen.storage == matrix->storage);
    THTensor_free(column);
    THTensor_free(matrix);
}

static void fields_say_what_functions_say(void) {
    THTensor *t = matrix_of(TH_INT16, 2, 1, 2, 3, 4, 5, 6);
    CHECK(t->size == THTensor_sizes(t) && t->stride == THTensor_strides(t));
    CHECK_EQ(t->nDimension, THTensor_nDimension(t));
    CHECK_EQ(t->storageOffset, THTensor_storageOffset(t));
    CHECK_EQ(t->refcount, THTensor_refcount(t));
    CHECK_EQ(t->dtype, THTensor_dtype(t));
    CHECK_EQ(t->deviceType, THTensor_deviceType(t));

    THStorage *s = THTensor_storage(t);
    CHECK(t->storage == s);
    CHECK(s->data == THStorage_data(s));
    CHECK_EQ(s->size, THStorage_size(s));
    CHECK_EQ(s->refcount, THStorage_refcount(s));
    CHECK_EQ(s->dtype, THStorage_dtype(s));
    CHECK_EQ(s->flag, TH_STORAGE_REFCOUNTED | TH_STORAGE_RESIZABLE | TH_STORAGE_FREEMEM);
    THTensor_free(t);
}

static void a_flag_tells_scalars_from_tensors_without_elements(void) {
    THTensor *scalar = THTensor_newScalar(TH_FLOAT32, 7);
    THTensor *fresh = THTensor_new();
    CHECK_EQ(scalar->nDimension, 0);
    CHECK_EQ(fresh->nDimension, 0);
    CHECK_EQ(scalar->flag & TH_TENSOR_SCALAR, TH_TENSOR_SCALAR);
    CHECK_EQ(fresh->flag & TH_TENSOR_SCALAR, 0);
    THTensor_free(fresh);
    THTensor_free(scalar);
}

static void the_library_is_the_one_of_the_header(void) {
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", TH_VERSION_MAJOR, TH_VERSION_MINOR, TH_VERSION_PATCH);
    CHECK_STR(THVersion(), version);
    CHECK_EQ(THAbiVersion(), TH_ABI_VERSION);
}

static void dtypes_have_names_and_sizes(void) {
    static const struct {
        THDtype dtype;
        const char *name, *of_tensors;
        size_t size;
    } rows[DTYPES] = {
        {TH_UINT8, "uint8", "byte", 1},           {TH_INT8, "int8", "char", 1},       {TH_INT16, "int16", "short", 2},
        {TH_INT32, "int32", "int", 4},            {TH_INT64, "int64", "long", 8},     {TH_FLOAT16, "float16", "half", 2},
        {TH_BFLOAT16, "bfloat16", "bfloat16", 2}, {TH_FLOAT32, "float32", "float", 4}, {TH_FLOAT64, "float64", "double", 8},
        {TH_BOOL, "bool", "bool", 1},
    };
    for (int i = 0; i < DTYPES; i++) {
        CHECK_STR(THDtype_name(rows[i].dtype), rows[i].name);
        CHECK_EQ(THDtype_fromName(rows[i].name), rows[i].dtype);
        CHECK_EQ(THDtype_fromName(rows[i].of_tensors), rows[i].dtype);
        CHECK_EQ(THDtype_isFloat(rows[i].dtype), is_float(rows[i].dtype));
        CHECK_EQ(THDtype_isIntegral(rows[i].dtype), !is_float(rows[i].dtype) && rows[i].dtype != TH_BOOL);
        CHECK_EQ(THDtype_isSigned(rows[i].dtype), rows[i].dtype != TH_UINT8 && rows[i].dtype != TH_BOOL);
        CHECK_EQ(THDtype_size(rows[i].dtype), rows[i].size);
    }
    CHECK_FAILURE(THDtype_name(TH_UNDEFINED) == NULL, TH_ERR_ARGUMENT, "THDtype_name: TH_UNDEFINED is no dtype");
    CHECK_FAILURE(THDtype_fromName("float3") == TH_UNDEFINED, TH_ERR_ARGUMENT, "no dtype is called 'float3'");
    CHECK_FAILURE(THDtype_fromName("Float") == TH_UNDEFINED, TH_ERR_ARGUMENT, "Float");
    CHECK_FAILURE(THDtype_fromName(NULL) == TH_UNDEFINED, TH_ERR_ARGUMENT, "NULL");
    CHECK_FAILURE(THDtype_isFloat(11) == 0, TH_ERR_ARGUMENT, "11 is no dtype");
    CHECK_FAILURE(THDtype_size(11) == 0, TH_ERR_ARGUMENT, "THDtype_size: 11 is no dtype");
}

CHECK_MAIN(CASE(a_program_compiled_for_torch7_reads_a_tensor), CASE(fields_say_what_functions_say),
           CASE(a_flag_tells_scalars_from_tensors_without_elements), CASE(the_library_is_the_one_of_the_header),
           CASE(dtypes_have_names_and_sizes))
