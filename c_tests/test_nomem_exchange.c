/* Memory runs out while tensors are passed to other libraries and processes: nothing is leaked, nothing has changed. */
#define _GNU_SOURCE
#include "check.h"
#include "refuse_each.h"

#include <unistd.h>

/* Exporting the first tensor of a storage changes how the storage is freed, so each step uses a separate storage. */
static THTensor *new_row(void) { return THTensor_newOnes(TH_FLOAT32, SIZES(100)); }

static bool exported(void) {
    THTensor *row = new_row();
    DLManagedTensorVersioned *managed = row ? THTensor_toDLPack(row) : NULL;
    if (managed) managed->deleter(managed);
    THTensor_free(row);
    return managed != NULL;
}

static int deleted;

static void count_deleted(DLManagedTensor *tensor) {
    (void)tensor;
    deleted++;
}

static bool imported(void) {
    static float elements[4] = {1, 2, 3, 4};
    static int64_t size[1] = {4};
    DLManagedTensor managed;
    memset(&managed, 0, sizeof managed);
    managed.dl_tensor.data = elements;
    managed.dl_tensor.device.device_type = kDLCPU;
    managed.dl_tensor.ndim = 1;
    managed.dl_tensor.dtype.code = kDLFloat;
    managed.dl_tensor.dtype.bits = 32;
    managed.dl_tensor.dtype.lanes = 1;
    managed.dl_tensor.shape = size;
    managed.deleter = count_deleted;
    deleted = 0;
    THTensor *t = THTensor_newFromDLPackLegacy(&managed);
    /* The caller owns the struct until the call succeeds. */
    CHECK_EQ(deleted, 0);
    THTensor_free(t);
    CHECK_EQ(deleted, t != NULL);
    return t != NULL;
}

static bool through_arrow(void) {
    struct ArrowSchema schema;
    struct ArrowArray array;
    THTensor *row = new_row(), *t = NULL;
    if (row && THTensor_toArrow(row, &schema, &array) == TH_OK) {
        t = THTensor_newFromArrow(&schema, &array);
        /* The caller owns both structs until the call succeeds. */
        if (!t) {
            schema.release(&schema);
            array.release(&array);
        }
    }
    THTensor_free(row);
    THTensor_free(t);
    return t != NULL;
}

static bool shared(void) {
    THTensor *t = new_row();
    bool done = t && THTensor_shareMemory(t) == TH_OK;
    CHECK(!t || THTensor_isShared(t) == done);
    THTensor_free(t);
    return done;
}

static void exchange_needs_memory(void) {
    int next = dup(0);
    close(next);
    refuse_each("toDLPack", exported);
    refuse_each("newFromDLPack", imported);
    refuse_each("toArrow", through_arrow);
    refuse_each("shareMemory", shared);
    int after = dup(0);
    close(after);
    CHECK_EQ(after, next);
}

CHECK_MAIN(CASE(exchange_needs_memory))
