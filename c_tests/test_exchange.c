/* Exchange with other libraries: DLPack and Arrow's C data, both ways. */

#include "check.h"

/* A producer and consumer of DLPack, in place of another library. It counts the calls of its deleter. */
static struct {
    int deleted;
    int64_t shape[4], strides[4];
} other;

static void delete_tensor(DLManagedTensorVersioned *tensor) {
    other.deleted++;
    free(tensor->manager_ctx);
    free(tensor);
}

static void delete_legacy(DLManagedTensor *tensor) {
    other.deleted++;
    free(tensor);
}

/* A row-major float32 struct over the producer's memory. */
static DLTensor over(void *data, int ndim, int64_t rows, int64_t columns) {
    DLTensor tensor = {NULL, {kDLCPU, 0}, 0, {kDLFloat, 32, 1}, NULL, NULL, 0};
    other.shape[0] = rows;
    other.shape[1] = columns;
    other.strides[0] = columns;
    other.strides[1] = 1;
    tensor.data = data;
    tensor.ndim = ndim;
    tensor.shape = other.shape;
    tensor.strides = other.strides;
    return tensor;
}

/* A matrix of 1, 2, 3, ... in the producer's memory. */
static DLManagedTensorVersioned *produced(int64_t rows, int64_t columns) {
    DLManagedTensorVersioned *made = calloc(1, sizeof *made);
    float *data = malloc((size_t)(rows * columns) * sizeof *data);
    for (int64_t i = 0; i < rows * columns; i++) data[i] = (float)(i + 1);
    made->version.major = DLPACK_MAJOR_VERSION;
    made->deleter = delete_tensor;
    made->manager_ctx = data;
    made->dl_tensor = over(data, 2, rows, columns);
    other.deleted = 0;
    return made;
}

static void a_tensor_of_a_producer_is_shared_until_the_last_view_ends(void) {
    DLManagedTensorVersioned *made = produced(2, 3);
    float *data = made->dl_tensor.data;
    THTensor *t = THTensor_newFromDLPack(made);
    CHECK_SHAPE(t, 2, 3);
    CHECK_VALUES(t, 1, 2, 3, 4, 5, 6);
    CHECK_OK(THTensor_mul(t, t, 10));
    CHECK_NEAR(data[5], 60, 0);
    data[0] = 7;
    CHECK_NEAR(THTensor_get2d(t, 0, 0), 7, 0);
    THTensor *row = THTensor_newSelect(t, 0, 1);
    CHECK_ERROR(THTensor_resize2d(t, 10, 10), TH_ERR_ARGUMENT, "not resizable");
    THTensor_free(t);
    CHECK_EQ(other.deleted, 0);
    CHECK_VALUES(row, 40, 50, 60);
    THTensor_free(row);
    CHECK_EQ(other.deleted, 1);
}

static void a_consumer_shares_a_tensor_that_was_freed(void) {
    THTensor *t = THTensor_newArange(TH_FLOAT64, 0, 12, 1);
    CHECK_OK(THTensor_resize2d(t, 3, 4));
    THTensor *view = THTensor_newTranspose(t, 0, 1);
    CHECK_OK(THTensor_narrow(view, view, 0, 1, 2));
    DLManagedTensorVersioned *given = THTensor_toDLPack(view);
    THTensor_free(view);
    CHECK(given != NULL);
    CHECK_EQ(given->version.major, DLPACK_MAJOR_VERSION);
    CHECK_EQ(given->flags, 0);
    CHECK_EQ(given->dl_tensor.device.device_type, kDLCPU);
    CHECK_EQ(given->dl_tensor.ndim, 2);
    CHECK_EQ(given->dl_tensor.dtype.code, kDLFloat);
    CHECK_EQ(given->dl_tensor.dtype.bits, 64);
    CHECK_EQ(given->dl_tensor.dtype.lanes, 1);
    CHECK_EQ(given->dl_tensor.shape[0], 2);
    CHECK_EQ(given->dl_tensor.shape[1], 3);
    CHECK_EQ(given->dl_tensor.strides[0], 1);
    CHECK_EQ(given->dl_tensor.strides[1], 4);
    double *data = (double *)((char *)given->dl_tensor.data + given->dl_tensor.byte_offset);
    CHECK_NEAR(data[given->dl_tensor.strides[0]], 2, 0);
    data[0] = 100;
    CHECK_NEAR(THTensor_get2d(t, 0, 1), 100, 0);
    /* Another library has the address now. */
    CHECK_ERROR(THTensor_resize1d(t, 1000), TH_ERR_ARGUMENT, "not resizable");
    THTensor_free(t);
    CHECK_NEAR(data[0], 100, 0);
    given->deleter(given);
}

/* A tensor is exported and imported again: both tensors share the elements through both structs. */
static void every_dtype_goes_there_and_back(void) {
    static const int codes[DTYPES] = {kDLUInt,  kDLInt,    kDLInt,   kDLInt,   kDLInt,
                                      kDLFloat, kDLBfloat, kDLFloat, kDLFloat, kDLBool};
    for (int k = 0; k < DTYPES; k++) {
        THTensor *t = THTensor_newOnes(dtypes[k], SIZES(2, 3));
        DLManagedTensorVersioned *given = THTensor_toDLPack(t);
        CHECK_EQ(given->dl_tensor.dtype.code, codes[k]);
        CHECK_EQ(given->dl_tensor.dtype.bits, 8 * THDtype_size(dtypes[k]));
        THTensor *back = THTensor_newFromDLPack(given);
        CHECK_EQ(THTensor_dtype(back), dtypes[k]);
        CHECK(THTensor_data(back) == THTensor_data(t));
        CHECK(THTensor_equal(back, t));
        DLManagedTensor *old = THTensor_toDLPackLegacy(back);
        CHECK_EQ(old->dl_tensor.dtype.code, codes[k]);
        THTensor_free(back);
        back = THTensor_newFromDLPackLegacy(old);
        CHECK(THTensor_data(back) == THTensor_data(t));
        THTensor_free(t);
        THTensor_free(back);
    }
}

static void scalars_and_tensors_without_elements_have_structs_too(void) {
    THTensor *scalar = THTensor_newScalar(TH_INT32, 5), *empty = THTensor_newZeros(TH_INT8, SIZES(2, 0));
    THTensor *given[2] = {THTensor_newFromDLPack(THTensor_toDLPack(scalar)),
                          THTensor_newFromDLPack(THTensor_toDLPack(empty))};
    CHECK_EQ(THTensor_nDimension(given[0]), 0);
    CHECK_NEAR(THTensor_item(given[0]), 5, 0);
    CHECK_SHAPE(given[1], 2, 0);
    for (int k = 0; k < 2; k++) THTensor_free(given[k]);
    THTensor_free(scalar);
    THTensor_free(empty);

    /* Without elements the address is ignored. */
    DLManagedTensorVersioned *made = produced(1, 1);
    other.shape[1] = 0;
    made->dl_tensor.data = NULL;
    made->dl_tensor.byte_offset = 3;
    THTensor *t = THTensor_newFromDLPack(made);
    CHECK_SHAPE(t, 1, 0);
    THTensor_free(t);
    CHECK_EQ(other.deleted, 1);
}

static void strides_may_be_left_out_and_data_may_begin_later(void) {
    DLManagedTensorVersioned *made = produced(3, 3);
    made->dl_tensor.strides = NULL;
    made->dl_tensor.byte_offset = 3 * sizeof(float);
    other.shape[0] = 2;
    THTensor *t = THTensor_newFromDLPack(made);
    CHECK_STRIDES(t, 3, 1);
    CHECK_VALUES(t, 4, 5, 6, 7, 8, 9);
    THTensor_free(t);

    made = produced(2, 2);
    other.strides[0] = 1;
    other.strides[1] = 2;
    t = THTensor_newFromDLPack(made);
    CHECK_VALUES(t, 1, 3, 2, 4);
    THTensor_free(t);

    /* The stride of a dimension with one entry is ignored. */
    made = produced(1, 2);
    other.strides[0] = -7;
    t = THTensor_newFromDLPack(made);
    CHECK_VALUES(t, 1, 2);
    THTensor_free(t);

    float value = 3;
    DLManagedTensor *old = calloc(1, sizeof *old);
    old->dl_tensor = over(&value, 0, 0, 0);
    old->dl_tensor.shape = old->dl_tensor.strides = NULL;
    old->dl_tensor.device.device_type = kDLCUDAHost;
    old->deleter = delete_legacy;
    other.deleted = 0;
    t = THTensor_newFromDLPackLegacy(old);
    CHECK_NEAR(THTensor_item(t), 3, 0);
    THTensor_free(t);
    CHECK_EQ(other.deleted, 1);
}

static void memory_without_a_deleter_stays_the_producers(void) {
    float values[2] = {1, 2};
    DLManagedTensorVersioned made = {{1, 0}, NULL, NULL, 0, {NULL, {kDLCPU, 0}, 0, {kDLFloat, 32, 1}, NULL, NULL, 0}};
    made.dl_tensor = over(values, 1, 2, 1);
    made.dl_tensor.strides = NULL;
    THTensor *t = THTensor_newFromDLPack(&made);
    CHECK_OK(THTensor_fill(t, 4));
    THTensor_free(t);
    CHECK_NEAR(values[1], 4, 0);
}

/* A tensor may be written, by functions and through its address, so read-only memory is copied. */
static void what_must_not_be_written_is_copied(void) {
    DLManagedTensorVersioned *made = produced(2, 2);
    float *data = made->dl_tensor.data;
    made->manager_ctx = NULL;
    made->flags = DLPACK_FLAG_BITMASK_READ_ONLY;
    THTensor *t = THTensor_newFromDLPack(made);
    CHECK_EQ(other.deleted, 1);
    CHECK_OK(THTensor_fill(t, 0));
    CHECK_NEAR(data[3], 4, 0);
    CHECK_OK(THTensor_resize1d(t, 100));
    THTensor_free(t);
    free(data);
}

/* Unsigned integers of 16 and 32 bits are copied into int32 and int64: in any layout, and from legacy structs, too. */
static void unsigned_integers_are_widened(void) {
    static const uint16_t narrow[6] = {0, 1, 32767, 32768, 65534, 65535};
    static const uint32_t wide[6] = {0, 1, 2147483647u, 2147483648u, 4294967294u, 4294967295u};
    for (int k = 0; k < 2; k++) {
        DLManagedTensorVersioned *made = produced(2, 3);
        memcpy(made->dl_tensor.data, k ? (const void *)wide : narrow, k ? sizeof wide : sizeof narrow);
        made->dl_tensor.dtype = (DLDataType){kDLUInt, k ? 32 : 16, 1};
        if (k) made->flags = DLPACK_FLAG_BITMASK_READ_ONLY;
        THTensor *t = THTensor_newFromDLPack(made);
        CHECK_EQ(other.deleted, 1);
        CHECK_EQ(THTensor_dtype(t), k ? TH_INT64 : TH_INT32);
        CHECK_SHAPE(t, 2, 3);
        if (k) CHECK_VALUES(t, 0, 1, 2147483647., 2147483648., 4294967294., 4294967295.);
        else CHECK_VALUES(t, 0, 1, 32767, 32768, 65534, 65535);
        THTensor_free(t);
    }
    DLManagedTensor *old = calloc(1, sizeof *old);
    uint16_t copy[6];
    memcpy(copy, narrow, sizeof copy);
    old->dl_tensor = over(copy, 2, 3, 2);
    old->dl_tensor.dtype = (DLDataType){kDLUInt, 16, 1};
    other.strides[0] = 1;
    other.strides[1] = 3;
    old->deleter = delete_legacy;
    other.deleted = 0;
    THTensor *t = THTensor_newFromDLPackLegacy(old);
    CHECK_EQ(other.deleted, 1);
    CHECK_VALUES(t, 0, 32768, 1, 65534, 32767, 65535);
    THTensor_free(t);
}

/* Checks that a struct is refused after `change` has damaged it. The caller still owns it, and its deleter was not
 * called. */
static void refused(void (*change)(DLManagedTensorVersioned *), THStatus status, const char *text) {
    DLManagedTensorVersioned *made = produced(2, 3);
    change(made);
    CHECK_FAILURE(THTensor_newFromDLPack(made) == NULL, status, text);
    CHECK_EQ(other.deleted, 0);
    made->deleter(made);
}

static void another_version(DLManagedTensorVersioned *made) { made->version.major = 2; }
static void on_another_device(DLManagedTensorVersioned *made) { made->dl_tensor.device.device_type = 8; }
static void on_a_gpu(DLManagedTensorVersioned *made) { made->dl_tensor.device = (DLDevice){kDLCUDA, 100}; }
static void of_vectors(DLManagedTensorVersioned *made) { made->dl_tensor.dtype.lanes = 4; }
static void of_complex_numbers(DLManagedTensorVersioned *made) { made->dl_tensor.dtype.code = 5; }
static void of_uint64(DLManagedTensorVersioned *made) {
    made->dl_tensor.dtype.code = kDLUInt;
    made->dl_tensor.dtype.bits = 64;
}
static void backwards(DLManagedTensorVersioned *made) { made->dl_tensor.strides[1] = -1; }
static void of_negative_size(DLManagedTensorVersioned *made) { made->dl_tensor.shape[0] = -2; }
static void of_negative_rank(DLManagedTensorVersioned *made) { made->dl_tensor.ndim = -1; }
static void of_absurd_rank(DLManagedTensorVersioned *made) { made->dl_tensor.ndim = 2000; }
static void without_shape(DLManagedTensorVersioned *made) { made->dl_tensor.shape = NULL; }
static void without_data(DLManagedTensorVersioned *made) { made->dl_tensor.data = NULL; }
static void misaligned(DLManagedTensorVersioned *made) { made->dl_tensor.byte_offset = 2; }
static void far_away(DLManagedTensorVersioned *made) { made->dl_tensor.byte_offset = UINT64_MAX - 3; }
static void too_many(DLManagedTensorVersioned *made) {
    made->dl_tensor.shape[0] = made->dl_tensor.shape[1] = (int64_t)1 << 40;
}
static void too_far_apart(DLManagedTensorVersioned *made) { made->dl_tensor.strides[0] = INT64_MAX; }

static void what_thorn_has_no_tensor_for_is_refused(void) {
    refused(another_version, TH_ERR_UNSUPPORTED, "DLPack 2.0");
    refused(on_another_device, TH_ERR_DEVICE, "device 0 of type 8");
    refused(on_a_gpu, TH_ERR_CUDA, "no ");
    refused(of_vectors, TH_ERR_DTYPE, "code 2, 32 bits and 4 lanes");
    refused(of_complex_numbers, TH_ERR_DTYPE, "code 5, 32 bits and 1 lanes");
    refused(of_uint64, TH_ERR_DTYPE, "code 1, 64 bits and 1 lanes");
    refused(backwards, TH_ERR_UNSUPPORTED, "stride -1 of dimension 1");
    refused(of_negative_size, TH_ERR_SHAPE, "-2");
    refused(of_negative_rank, TH_ERR_SHAPE, "-1 dimensions");
    refused(of_absurd_rank, TH_ERR_SHAPE, "2000 dimensions");
    refused(without_shape, TH_ERR_ARGUMENT, "shape of 2 dimensions is NULL");
    refused(without_data, TH_ERR_ARGUMENT, "data is NULL for 6 elements");
    refused(misaligned, TH_ERR_ARGUMENT, "not aligned");
    refused(far_away, TH_ERR_SHAPE, "beyond all addresses");
    refused(too_many, TH_ERR_SHAPE, "overflow");
    refused(too_far_apart, TH_ERR_SHAPE, "beyond all addresses");
}

static void a_tensor_without_a_dtype_is_not_given(void) {
    THTensor *t = THTensor_new();
    CHECK_FAILURE(THTensor_toDLPack(t) == NULL, TH_ERR_DTYPE, "argument 't' has no dtype yet");
    CHECK_FAILURE(THTensor_toDLPackLegacy(t) == NULL, TH_ERR_DTYPE, "argument 't' has no dtype yet");
    CHECK_FAILURE(THTensor_toDLPack(NULL) == NULL, TH_ERR_ARGUMENT, "argument 't' is NULL");
    CHECK_FAILURE(THTensor_newFromDLPack(NULL) == NULL, TH_ERR_ARGUMENT, "argument 'tensor' is NULL");
    CHECK_FAILURE(THTensor_newFromDLPackLegacy(NULL) == NULL, TH_ERR_ARGUMENT, "argument 'tensor' is NULL");
    THTensor_free(t);
}

/* Arrow */

static int arrays_released, schemas_released;

static void release_schema(ArrowSchema *schema) {
    schemas_released++;
    schema->release = NULL;
}

static void release_array(ArrowArray *array) {
    arrays_released++;
    array->release = NULL;
}

static const void *buffers[2];

/* An array over the test's memory. */
static void produce(ArrowSchema *schema, ArrowArray *array, const char *format, const void *data, int64_t length) {
    memset(schema, 0, sizeof *schema);
    memset(array, 0, sizeof *array);
    buffers[0] = NULL;
    buffers[1] = data;
    schema->format = format;
    schema->release = release_schema;
    array->length = length;
    array->n_buffers = 2;
    array->buffers = buffers;
    array->release = release_array;
    arrays_released = schemas_released = 0;
}

static void a_column_is_shared_until_the_last_view_ends(void) {
    double values[5] = {1, 2, 3, 4, 5};
    ArrowSchema schema;
    ArrowArray array;
    produce(&schema, &array, "g", values, 3);
    array.offset = 1;
    THTensor *t = THTensor_newFromArrow(&schema, &array);
    CHECK_VALUES(t, 2, 3, 4);
    CHECK(THTensor_data(t) == values + 1);
    /* Both structs have moved: the schema is not needed any more, and the tensor owns the array. */
    CHECK(schema.release == NULL && array.release == NULL);
    CHECK_EQ(schemas_released, 1);
    memset(&array, 0xee, sizeof array);
    THTensor *view = THTensor_newNarrow(t, 0, 1, 2);
    THTensor_free(t);
    CHECK_EQ(arrays_released, 0);
    CHECK_VALUES(view, 3, 4);
    THTensor_free(view);
    CHECK_EQ(arrays_released, 1);
}

static void a_consumer_of_arrow_shares_a_vector(void) {
    static const char *const formats[DTYPES] = {"C", "c", "s", "i", "l", "e", NULL, "f", "g", "b"};
    for (int k = 0; k < DTYPES; k++) {
        THTensor *t = THTensor_newOnes(dtypes[k], SIZES(11));
        CHECK_OK(THTensor_set1d(t, 9, 0));
        ArrowSchema schema;
        ArrowArray array;
        if (!formats[k]) {
            schema.flags = 99;
            CHECK_ERROR(THTensor_toArrow(t, &schema, &array), TH_ERR_DTYPE, "bfloat16");
            CHECK_EQ(schema.flags, 99);
            THTensor_free(t);
            continue;
        }
        CHECK_OK(THTensor_toArrow(t, &schema, &array));
        CHECK_STR(schema.format, formats[k]);
        CHECK_EQ(array.length, 11);
        CHECK_EQ(array.null_count, 0);
        CHECK_EQ(array.n_buffers, 2);
        CHECK(array.buffers[0] == NULL);
        CHECK((array.buffers[1] == THTensor_data(t)) == (dtypes[k] != TH_BOOL));
        /* Structs may be moved bit for bit. */
        ArrowArray moved = array;
        array.release = NULL;
        THTensor *back = THTensor_newFromArrow(&schema, &moved);
        CHECK_EQ(THTensor_dtype(back), dtypes[k]);
        CHECK(THTensor_equal(back, t));
        THTensor_free(t);
        CHECK_NEAR(THTensor_get1d(back, 9), 0, 0);
        THTensor_free(back);
    }
}

static void elements_that_lie_apart_are_copied(void) {
    THTensor *m = matrix_of(TH_INT32, 2, 1, 2, 3, 4), *column = THTensor_newSelect(m, 1, 1);
    ArrowSchema schema;
    ArrowArray array;
    CHECK_OK(THTensor_toArrow(column, &schema, &array));
    const int32_t *values = array.buffers[1];
    CHECK_EQ(values[0], 2);
    CHECK_EQ(values[1], 4);
    /* Only the array owns the copy. */
    CHECK_OK(THTensor_resize1d(m, 1000));
    array.release(&array);
    schema.release(&schema);
    CHECK(array.release == NULL && schema.release == NULL);
    CHECK_ERROR(THTensor_toArrow(m, NULL, &array), TH_ERR_ARGUMENT, "argument 'schema' is NULL");
    CHECK_ERROR(THTensor_toArrow(m, &schema, NULL), TH_ERR_ARGUMENT, "argument 'array' is NULL");
    THTensor_free(column);
    CHECK_OK(THTensor_resize2d(m, 2, 2));
    CHECK_ERROR(THTensor_toArrow(m, &schema, &array), TH_ERR_SHAPE, "one dimension");
    THTensor_free(m);
}

static void truth_values_are_bits_in_arrow(void) {
    static const unsigned char bits[2] = {0xa8, 0x01}; /* 0 0 0 1 0 1 0 1, 1 0 0 ... */
    ArrowSchema schema;
    ArrowArray array;
    produce(&schema, &array, "b", bits, 7);
    array.offset = 3;
    THTensor *t = THTensor_newFromArrow(&schema, &array);
    CHECK_EQ(arrays_released, 1);
    CHECK_EQ(schemas_released, 1);
    CHECK_EQ(THTensor_dtype(t), TH_BOOL);
    CHECK_VALUES(t, 1, 0, 1, 0, 1, 1, 0);
    CHECK_OK(THTensor_toArrow(t, &schema, &array));
    CHECK_EQ(*(const unsigned char *)array.buffers[1], 0x35);
    array.release(&array);
    schema.release(&schema);
    THTensor_free(t);
}

static void unsigned_values_of_arrow_are_widened(void) {
    static const uint16_t narrow[4] = {7, 1, 32768, 65535};
    static const uint32_t wide[4] = {7, 1, 2147483648u, 4294967295u};
    ArrowSchema schema;
    ArrowArray array;
    for (int k = 0; k < 2; k++) {
        produce(&schema, &array, k ? "I" : "S", k ? (const void *)wide : narrow, 3);
        array.offset = 1;
        THTensor *t = THTensor_newFromArrow(&schema, &array);
        CHECK_EQ(arrays_released, 1);
        CHECK_EQ(schemas_released, 1);
        CHECK_EQ(THTensor_dtype(t), k ? TH_INT64 : TH_INT32);
        if (k) CHECK_VALUES(t, 1, 2147483648., 4294967295.);
        else CHECK_VALUES(t, 1, 32768, 65535);
        THTensor_free(t);
    }
    produce(&schema, &array, "S", NULL, 0);
    THTensor *t = THTensor_newFromArrow(&schema, &array);
    CHECK_SHAPE(t, 0);
    THTensor_free(t);
}

static void nulls_are_refused(void) {
    static const float values[10] = {0};
    static const unsigned char valid[2] = {0xff, 0x01}, holes[2] = {0xf0, 0x01};
    ArrowSchema schema;
    ArrowArray array;
    produce(&schema, &array, "f", values, 6);
    array.offset = 3;
    array.null_count = -1;
    buffers[0] = holes;
    CHECK_FAILURE(THTensor_newFromArrow(&schema, &array) == NULL, TH_ERR_UNSUPPORTED, "1 of 6 values are null");
    buffers[0] = valid;
    array.null_count = 2;
    CHECK_FAILURE(THTensor_newFromArrow(&schema, &array) == NULL, TH_ERR_UNSUPPORTED, "2 of 6 values are null");
    CHECK_EQ(arrays_released + schemas_released, 0);
    array.null_count = -1;
    THTensor *t = THTensor_newFromArrow(&schema, &array);
    CHECK_EQ(THTensor_nElement(t), 6);
    THTensor_free(t);
    CHECK_EQ(arrays_released, 1);
}

static void arrays_that_are_no_numbers_are_refused(void) {
    static const char *const formats[] = {"u", "L", "n", "tdD", "+s", "w:4", ""};
    static const int64_t values[4] = {0};
    ArrowSchema schema, dictionary;
    ArrowArray array;
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        produce(&schema, &array, formats[k], values, 4);
        CHECK_FAILURE(THTensor_newFromArrow(&schema, &array) == NULL, TH_ERR_DTYPE, "format \"");
    }
    produce(&schema, &array, "i", values, 4);
    schema.dictionary = &dictionary;
    CHECK_FAILURE(THTensor_newFromArrow(&schema, &array) == NULL, TH_ERR_DTYPE, "dictionary");
    produce(&schema, &array, "l", values, 4);
    array.n_children = 1;
    CHECK_FAILURE(THTensor_newFromArrow(&schema, &array) == NULL, TH_ERR_ARGUMENT, "1 children");
    produce(&schema, &array, "l", values, -4);
    CHECK_FAILURE(THTensor_newFromArrow(&schema, &array) == NULL, TH_ERR_SHAPE, "length -4");
    produce(&schema, &array, "l", values, INT64_MAX);
    array.offset = 1;
    CHECK_FAILURE(THTensor_newFromArrow(&schema, &array) == NULL, TH_ERR_SHAPE, "offset 1");
    produce(&schema, &array, "l", (const char *)values + 1, 1);
    CHECK_FAILURE(THTensor_newFromArrow(&schema, &array) == NULL, TH_ERR_ARGUMENT, "not aligned");
    produce(&schema, &array, "l", NULL, 1);
    CHECK_FAILURE(THTensor_newFromArrow(&schema, &array) == NULL, TH_ERR_ARGUMENT, "NULL for 1 values");
    CHECK_EQ(arrays_released + schemas_released, 0);
    schema.release = NULL;
    CHECK_FAILURE(THTensor_newFromArrow(&schema, &array) == NULL, TH_ERR_ARGUMENT, "schema has been released");
    produce(&schema, &array, "l", NULL, 0);
    THTensor *t = THTensor_newFromArrow(&schema, &array);
    CHECK_SHAPE(t, 0);
    THTensor_free(t);
    CHECK_FAILURE(THTensor_newFromArrow(&schema, NULL) == NULL, TH_ERR_ARGUMENT, "argument 'array' is NULL");
    CHECK_EQ(arrays_released, 1);
}

CHECK_MAIN(CASE(a_tensor_of_a_producer_is_shared_until_the_last_view_ends),
           CASE(a_consumer_shares_a_tensor_that_was_freed), CASE(every_dtype_goes_there_and_back),
           CASE(scalars_and_tensors_without_elements_have_structs_too),
           CASE(strides_may_be_left_out_and_data_may_begin_later), CASE(memory_without_a_deleter_stays_the_producers),
           CASE(what_must_not_be_written_is_copied), CASE(unsigned_integers_are_widened), CASE(what_thorn_has_no_tensor_for_is_refused),
           CASE(a_tensor_without_a_dtype_is_not_given), CASE(a_column_is_shared_until_the_last_view_ends),
           CASE(a_consumer_of_arrow_shares_a_vector), CASE(elements_that_lie_apart_are_copied),
           CASE(truth_values_are_bits_in_arrow), CASE(unsigned_values_of_arrow_are_widened), CASE(nulls_are_refused),
           CASE(arrays_that_are_no_numbers_are_refused))
