/* Exchange with other libraries and processes: structs of a producer, valid and hostile, and descriptors of shared memory. */
#ifndef THORN_SEQUENCES_EXCHANGE_H
#define THORN_SEQUENCES_EXCHANGE_H

#include "runtime.h"
#include "special.h"

/* ---- DLPack ---- */

/* Sizes and strides, and memory that holds the elements of any dtype. */
struct produced {
    int64_t shape[3], strides[3];
    void *data;
};

static DLTensor produce_tensor(struct produced *from) {
    DLTensor tensor = {NULL, {kDLCPU, 0}, 0, {kDLFloat, 32, 1}, NULL, NULL, 0};
    tensor.ndim = chance(4) ? -1 - below(3) : below(4);
    for (int d = 0; d < 3; d++) {
        from->shape[d] = chance(4) ? whole("size") : below(4);
        from->strides[d] = chance(6) ? -1 : below(6);
    }
    from->data = calloc(64, 8);
    tensor.data = chance(3) ? NULL : from->data;
    tensor.dtype.code = (uint8_t)below(7);
    tensor.dtype.bits = (uint8_t)(8 << below(4));
    tensor.dtype.lanes = chance(4) ? (uint16_t)below(3) : 1;
    tensor.device.device_type = chance(4) ? kDLCUDA : chance(10) ? kDLCUDAHost : kDLCPU;
    tensor.shape = chance(2) ? NULL : from->shape;
    tensor.strides = chance(30) ? NULL : from->strides;
    tensor.byte_offset = chance(90) ? 8 * (uint64_t)below(3) : chance(50) ? 3 : UINT64_MAX - 7;
    return tensor;
}

/* Returns true if a copy would read only memory that exists. Structs with huge sizes are used only where the library must refuse them. */
static bool is_sound(const DLTensor *tensor) {
    for (int d = 0; d < tensor->ndim && tensor->shape; d++)
        if (tensor->shape[d] > 3) return false;
    return true;
}

static void end_produced(void *context) {
    struct produced *from = context;
    free(from->data);
    free(from);
    blobs_deleted++;
}

static void end_managed(DLManagedTensorVersioned *managed) {
    end_produced(managed->manager_ctx);
    free(managed);
}

static void end_legacy(DLManagedTensor *managed) {
    end_produced(managed->manager_ctx);
    free(managed);
}

static void call_THTensor_newFromDLPack(void) {
    begin("THTensor_newFromDLPack");
    struct produced *from = calloc(1, sizeof *from);
    DLManagedTensorVersioned *managed = calloc(1, sizeof *managed);
    managed->version.major = chance(3) ? 2 : 1;
    managed->manager_ctx = from;
    managed->deleter = end_managed;
    managed->dl_tensor = produce_tensor(from);
    managed->flags = chance(20) && is_sound(&managed->dl_tensor) ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
    if (!is_sound(&managed->dl_tensor)) managed->dl_tensor.data = NULL;
    before();
    THTensor *t = THTensor_newFromDLPack(chance(2) ? NULL : managed);
    after();
    blobs_made++;
    if (!t) end_managed(managed);
    keep_tensor(t);
}

static void call_THTensor_newFromDLPackLegacy(void) {
    begin("THTensor_newFromDLPackLegacy");
    struct produced *from = calloc(1, sizeof *from);
    DLManagedTensor *managed = calloc(1, sizeof *managed);
    managed->manager_ctx = from;
    managed->deleter = end_legacy;
    managed->dl_tensor = produce_tensor(from);
    if (!is_sound(&managed->dl_tensor)) managed->dl_tensor.data = NULL;
    before();
    THTensor *t = THTensor_newFromDLPackLegacy(chance(2) ? NULL : managed);
    after();
    blobs_made++;
    if (!t) end_legacy(managed);
    keep_tensor(t);
}

/* An exported tensor is imported again, or its deleter is called at once. */
static void call_THTensor_toDLPack(void) {
    begin("THTensor_toDLPack");
    const THTensor *t = tensor("t");
    before();
    DLManagedTensorVersioned *given = THTensor_toDLPack(t);
    after();
    if (!given) return;
    THTensor *back = chance(70) ? THTensor_newFromDLPack(given) : NULL;
    if (!back) given->deleter(given);
    keep_tensor(back);
}

static void call_THTensor_toDLPackLegacy(void) {
    begin("THTensor_toDLPackLegacy");
    const THTensor *t = tensor("t");
    before();
    DLManagedTensor *given = THTensor_toDLPackLegacy(t);
    after();
    if (!given) return;
    THTensor *back = chance(70) ? THTensor_newFromDLPackLegacy(given) : NULL;
    if (!back) given->deleter(given);
    keep_tensor(back);
}

/* ---- Arrow ---- */

static void call_THTensor_toArrow(void) {
    begin("THTensor_toArrow");
    const THTensor *t = tensor("t");
    ArrowSchema schema;
    ArrowArray array;
    before();
    THStatus got = THTensor_toArrow(t, chance(3) ? NULL : &schema, chance(3) ? NULL : &array);
    after_status(got);
    if (got != TH_OK) return;
    THTensor *back = chance(70) ? THTensor_newFromArrow(&schema, &array) : NULL;
    if (back && (schema.release || array.release)) fail("both structs should have moved");
    keep_tensor(back);
    if (back) return;
    array.release(&array);
    schema.release(&schema);
}

static void end_schema(ArrowSchema *schema) { schema->release = NULL; }

static void end_array(ArrowArray *array) {
    array->release = NULL;
    end_produced(array->private_data);
}

static void call_THTensor_newFromArrow(void) {
    static const char *const formats[] = {"c", "C", "s", "i", "l", "e", "f", "g", "b", "u", "S", "+s", "", NULL};
    static const unsigned char valid[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    begin("THTensor_newFromArrow");
    struct produced *from = calloc(1, sizeof *from);
    from->data = calloc(64, 8);
    const void *buffers[2] = {chance(20) ? (const void *)valid : NULL, chance(3) ? NULL : from->data};
    ArrowSchema schema;
    ArrowArray array;
    memset(&schema, 0, sizeof schema);
    memset(&array, 0, sizeof array);
    schema.format = one_of("format", formats, LENGTH(formats));
    schema.release = chance(2) ? NULL : end_schema;
    schema.dictionary = chance(2) ? &schema : NULL;
    array.length = chance(4) ? -1 : below(30);
    array.offset = chance(4) ? -1 : below(30);
    array.null_count = chance(8) ? whole("null_count") : 0;
    array.n_buffers = chance(3) ? below(4) : 2;
    array.n_children = chance(3) ? 1 : 0;
    array.buffers = chance(2) ? NULL : buffers;
    array.release = chance(2) ? NULL : end_array;
    array.private_data = from;
    before();
    THTensor *t = THTensor_newFromArrow(chance(2) ? NULL : &schema, chance(2) ? NULL : &array);
    after();
    blobs_made++;
    if (!t) end_produced(from);
    keep_tensor(t);
}

/* ---- shared memory ---- */

/* Returns the descriptor of a shared page, of a pipe, or an invalid descriptor. */
static int some_descriptor(void) {
    int ends[2];
    if (chance(10)) return -1;
    if (chance(10) && pipe(ends) == 0) {
        close(ends[1]);
        return ends[0];
    }
    char name[64];
    snprintf(name, sizeof name, "/thorn-sequences-%d-fd", (int)getpid());
    int fd = shm_open(name, O_CREAT | O_RDWR, 0600);
    shm_unlink(name);
    if (fd >= 0 && !chance(10) && ftruncate(fd, 4096) != 0) fail("no memory: %s", strerror(errno));
    return fd;
}

static void call_THStorage_newSharedFd(void) {
    begin("THStorage_newSharedFd");
    int fd = some_descriptor();
    THDtype dtype = code("dtype", 10);
    ptrdiff_t size = (ptrdiff_t)whole("size");
    before();
    THStorage *s = THStorage_newSharedFd(dtype, fd, size);
    after();
    if (fd >= 0) close(fd);
    keep_storage(s);
}

static void call_THStorage_newShared(void) {
    begin("THStorage_newShared");
    /* The name of a tensor's memory, if the memory can be shared. */
    THTensor *of = chance(70) ? pool.tensor[below(TENSORS)] : NULL;
    char *name = of && of->storage && THTensor_shareMemory(of) == TH_OK ? THStorage_sharedName(of->storage) : NULL;
    const char *given = name ? name : mapped_name("name");
    THDtype dtype = code("dtype", 10);
    ptrdiff_t size = (ptrdiff_t)whole("size");
    before();
    THStorage *s = THStorage_newShared(dtype, given, size);
    after();
    THFree(name);
    keep_storage(s);
    forget_files(getpid());
}

#endif
