/* Errors: the message of a failed call, which changes nothing, and no input may end the program. */

#include "check.h"

#include <pthread.h>

/* Messages and codes */

static void a_failure_has_a_status_and_a_message(void) {
    THTensor *m = THTensor_newZeros(TH_FLOAT32, SIZES(2, 6)), *view = THTensor_new();
    CHECK_EQ(THTensor_narrow(view, m, 1, 3, 5), TH_ERR_ARGUMENT);
    CHECK_EQ(THGetLastErrorCode(), TH_ERR_ARGUMENT);
    CHECK_STR(THGetLastError(), "THTensor_narrow: start 3 + length 5 exceeds size 6 of dimension 1");
    CHECK(THTensor_newNarrow(m, 1, 3, 5) == NULL);
    CHECK_EQ(THGetLastErrorCode(), TH_ERR_ARGUMENT);
    THTensor_free(view);
    THTensor_free(m);
}

static void a_program_reports_failures_of_its_own(void) {
    char line[2000];
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = 0;
    CHECK_EQ(THSetLastError(TH_ERR_IO, "connection to rank 3 lost"), TH_ERR_IO);
    CHECK_EQ(THGetLastErrorCode(), TH_ERR_IO);
    CHECK_STR(THGetLastError(), "connection to rank 3 lost");
    CHECK_EQ(THSetLastError(77, NULL), 77);
    CHECK_STR(THGetLastError(), "");
    THSetLastError(TH_ERR_IO, line);
    CHECK_EQ(strlen(THGetLastError()), 1023);
    CHECK_EQ(THSetLastError(TH_OK, "nothing"), TH_OK);
    CHECK_EQ(THGetLastErrorCode(), TH_OK);
    CHECK_STR(THGetLastError(), "");
}

static void success_leaves_the_last_error_alone_until_it_is_cleared(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1, 2);
    CHECK_STR(THGetLastError(), "");
    CHECK_ERROR(THTensor_set1d(t, 2, 0), TH_ERR_ARGUMENT, "index 2");
    CHECK_OK(THTensor_set1d(t, 1, 0));
    CHECK_EQ(THGetLastErrorCode(), TH_ERR_ARGUMENT);
    CHECK(strstr(THGetLastError(), "THTensor_set1d"));
    THClearLastError();
    CHECK_EQ(THGetLastErrorCode(), TH_OK);
    CHECK_STR(THGetLastError(), "");
    THTensor_free(t);
}

static void each_kind_of_failure_has_its_code(void) {
    THTensor *m = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6), *v = vector_of(TH_INT32, 1, 2), *r = THTensor_new();
    CHECK_ERROR(THTensor_sum(r, m, 2, 0), TH_ERR_ARGUMENT, "THTensor_sum: dimension 2 out of range");
    CHECK_ERROR(THTensor_mm(r, m, m), TH_ERR_SHAPE, "shapes [2, 3] and [2, 3] do not multiply");
    CHECK_ERROR(THTensor_cadd(v, v, 0.5, v), TH_ERR_DTYPE, "THTensor_cadd: the factor 0.5 of int32 tensors must be an integer");
    CHECK_ERROR(THTensor_csub(v, v, 0.5, v), TH_ERR_DTYPE, "THTensor_csub: the factor 0.5 of int32 tensors must be an integer");
    CHECK_ERROR(THTensor_sqrt(v, v), TH_ERR_DTYPE, "a result of float32 cannot be stored in a tensor of int32");
    CHECK_FAILURE(THTensor_getDevice(m) == -1, TH_ERR_DEVICE, "THTensor_getDevice");
    CHECK_FAILURE(THTensor_newWithSize1d(TH_FLOAT64, INT64_C(1) << 50) == NULL, TH_ERR_NOMEM, "9007199254740992 bytes");
    CHECK_FAILURE(THStorage_newWithMapping(TH_INT8, "/nonexistent", 0, 0) == NULL, TH_ERR_IO, "/nonexistent");
    CHECK_EQ(THTensor_dtype(r), TH_UNDEFINED);
    THTensor_free(r);
    THTensor_free(v);
    THTensor_free(m);
}

static void a_status_has_a_name(void) {
    CHECK_STR(THStatus_name(TH_OK), "TH_OK");
    CHECK_STR(THStatus_name(TH_ERR_SHAPE), "TH_ERR_SHAPE");
    CHECK_STR(THStatus_name(TH_ERR_INTERNAL), "TH_ERR_INTERNAL");
    /* A callback may return the program's own codes through apply. */
    CHECK_STR(THStatus_name((THStatus)4711), "unknown status");
    CHECK_STR(THStatus_name((THStatus)-1), "unknown status");
}

/* Compilers may evaluate arguments in any order: printf("%g %s", THTensor_item(t), THGetLastError()). */
static void the_message_stays_at_one_address(void) {
    const char *message = THGetLastError();
    CHECK_STR(message, "");
    for (int length = 1; length <= 4096; length *= 2) {
        char name[4097] = "";
        memset(name, 'n', (size_t)length);
        CHECK(THStorage_newWithMapping(TH_INT8, name, 0, 0) == NULL);
        CHECK(THGetLastError() == message);
        CHECK(strncmp(message, "THStorage_newWithMapping: map \"n", 32) == 0);
    }
    THClearLastError();
    CHECK(THGetLastError() == message);
    CHECK_STR(message, "");
}

static void long_messages_are_cut(void) {
    /* Characters of two bytes, of which the last one is incomplete. */
    char name[3001] = "";
    for (int i = 0; i < 3000; i += 2) memcpy(name + i, "\xc3\xa9", 2);
    CHECK_FAILURE(THStorage_newWithMapping(TH_INT8, name, 0, 0) == NULL, TH_ERR_IO, "...");
    const char *message = THGetLastError();
    size_t length = strlen(message);
    CHECK(length >= 1000 && length < 1024);
    CHECK_STR(message + length - 3, "...");
    CHECK((unsigned char)message[length - 4] == 0xa9);
}

static void *fail_on_a_thread(void *arg) {
    (void)arg;
    int clean = THGetLastErrorCode() == TH_OK && strcmp(THGetLastError(), "") == 0;
    THSetNumThreads(0);
    return clean && THGetLastErrorCode() == TH_ERR_ARGUMENT && strstr(THGetLastError(), "THSetNumThreads") ? NULL
                                                                                                           : "bad";
}

static void each_thread_has_its_own_last_error(void) {
    CHECK_FAILURE(THDtype_size(99) == 0, TH_ERR_ARGUMENT, "99");
    pthread_t thread;
    void *wrong = "not run";
    CHECK_EQ(pthread_create(&thread, NULL, fail_on_a_thread, NULL), 0);
    CHECK_EQ(pthread_join(thread, &wrong), 0);
    CHECK(wrong == NULL);
    CHECK(strstr(THGetLastError(), "THDtype_size"));
}

static void null_handles_are_named(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1);
    CHECK_ERROR(THTensor_cadd(NULL, t, 1, t), TH_ERR_ARGUMENT, "THTensor_cadd: argument 'r' is NULL");
    CHECK_ERROR(THTensor_cadd(t, t, 1, NULL), TH_ERR_ARGUMENT, "THTensor_cadd: argument 'src' is NULL");
    CHECK_FAILURE(THTensor_newClone(NULL) == NULL, TH_ERR_ARGUMENT, "THTensor_newClone: argument 't' is NULL");
    CHECK_FAILURE(THTensor_newWithSizes(TH_INT8, 2, NULL) == NULL, TH_ERR_ARGUMENT, "'size' is NULL");
    CHECK_FAILURE(isnan(THTensor_item(NULL)), TH_ERR_ARGUMENT, "NULL");
    CHECK_FAILURE(THTensor_nElement(NULL) == -1, TH_ERR_ARGUMENT, "NULL");
    CHECK_FAILURE(THTensor_refcount(NULL) == 0, TH_ERR_ARGUMENT, "NULL");
    CHECK_VALUES(t, 1);
    THTensor_free(t);
}

/* A failed call changes nothing that can be observed of a tensor. */

struct snapshot {
    int ndim, refcount, flag, dtype, storage_refcount;
    int64_t size[4], stride[4];
    const THStorage *storage;
    ptrdiff_t offset, storage_size;
    unsigned char bytes[256];
};

static struct snapshot snapshot_of(const THTensor *t) {
    struct snapshot seen;
    memset(&seen, 0, sizeof seen);
    seen.ndim = t->nDimension;
    seen.refcount = t->refcount;
    seen.flag = t->flag;
    seen.dtype = t->dtype;
    seen.storage = t->storage;
    seen.offset = t->storageOffset;
    memcpy(seen.size, t->size, (size_t)t->nDimension * sizeof *seen.size);
    memcpy(seen.stride, t->stride, (size_t)t->nDimension * sizeof *seen.stride);
    if (!t->storage) return seen;
    seen.storage_size = t->storage->size;
    seen.storage_refcount = t->storage->refcount;
    memcpy(seen.bytes, t->storage->data, (size_t)t->storage->size * THStorage_elementSize(t->storage));
    return seen;
}

#define CAST 7

static void remember(THTensor *const *tensors, struct snapshot *before) {
    for (int i = 0; i < CAST; i++) before[i] = snapshot_of(tensors[i]);
    THClearLastError();
}

static void check_unchanged(THTensor *const *tensors, const struct snapshot *before, THStatus status, int line,
                            const char *call) {
    int right = status != TH_OK && status == THGetLastErrorCode() && strncmp(THGetLastError(), "THTensor_", 9) == 0;
    for (int i = 0; i < CAST; i++) {
        struct snapshot after = snapshot_of(tensors[i]);
        right &= memcmp(&after, &before[i], sizeof after) == 0;
    }
    check_that(right, __FILE__, line, call);
}

/* The call fails and changes none of the tensors in `cast`. */
#define FAILS_UNCHANGED(call) (remember(cast, before), check_unchanged(cast, before, call, __LINE__, #call))

static void a_failed_call_has_changed_nothing(void) {
    THTensor *m = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6), *v = vector_of(TH_FLOAT32, 7, 8);
    THTensor *ints = vector_of(TH_INT32, 1, 2), *bools = vector_of(TH_BOOL, 1, 0);
    THTensor *row = THTensor_newSelect(m, 0, 1), *fresh = THTensor_new();
    int64_t memory[] = {7};
    THTensor *foreign = THTensor_newFromBlob(TH_INT64, SIZES(1), NULL, memory, NULL, NULL);
    THTensor *const cast[CAST] = {m, v, ints, bools, row, fresh, foreign};
    struct snapshot before[CAST];
    const int64_t bad_sizes[] = {2, -2}, twice[] = {0, 0};
    THTensor *results[] = {fresh, v}, *sources[] = {m, v};

    FAILS_UNCHANGED(THTensor_cadd(v, m, 1, v));
    FAILS_UNCHANGED(THTensor_cmul(ints, m, m));
    FAILS_UNCHANGED(THTensor_csub(fresh, bools, 1, bools));
    FAILS_UNCHANGED(THTensor_add(ints, ints, 0.5));
    FAILS_UNCHANGED(THTensor_neg(bools, bools));
    FAILS_UNCHANGED(THTensor_exp(ints, m));
    FAILS_UNCHANGED(THTensor_ltTensor(fresh, m, v));
    FAILS_UNCHANGED(THTensor_copy(m, v));
    FAILS_UNCHANGED(THTensor_freeCopyTo(v, m));

    FAILS_UNCHANGED(THTensor_mm(fresh, m, v));
    FAILS_UNCHANGED(THTensor_addmm(m, 1, v, 1, m, m));
    FAILS_UNCHANGED(THTensor_mv(v, m, v));
    FAILS_UNCHANGED(THTensor_addmv(fresh, 1, m, 1, m, v));
    FAILS_UNCHANGED(THTensor_sum(ints, m, 0, 0));
    FAILS_UNCHANGED(THTensor_mean(fresh, ints, 0, 0));
    FAILS_UNCHANGED(THTensor_max(m, fresh, m, 5, 0));
    FAILS_UNCHANGED(THTensor_max(fresh, v, m, 0, 0));
    FAILS_UNCHANGED(THTensor_max(fresh, foreign, m, 0, 0));
    FAILS_UNCHANGED(THTensor_cmul(foreign, ints, ints));
    FAILS_UNCHANGED(THTensor_uniform(ints, NULL, 0, 1));
    FAILS_UNCHANGED(THTensor_normal(m, NULL, 0, -1));

    FAILS_UNCHANGED(THTensor_narrow(row, m, 0, 1, 2));
    FAILS_UNCHANGED(THTensor_select(v, m, 1, 3));
    FAILS_UNCHANGED(THTensor_transpose(m, m, 0, 2));
    FAILS_UNCHANGED(THTensor_permute(fresh, m, 2, twice));
    FAILS_UNCHANGED(THTensor_view(m, m, 2, bad_sizes));
    FAILS_UNCHANGED(THTensor_expand(v, v, 2, bad_sizes));
    FAILS_UNCHANGED(THTensor_expandNd(results, sources, 2));
    FAILS_UNCHANGED(THTensor_unfold(m, m, 1, 4, 1));

    FAILS_UNCHANGED(THTensor_set2d(m, 2, 0, 9));
    FAILS_UNCHANGED(THTensor_resize(m, 2, bad_sizes, NULL));
    FAILS_UNCHANGED(THTensor_resize2d(v, INT64_MAX, INT64_MAX));
    FAILS_UNCHANGED(THTensor_resize1d(v, INT64_C(1) << 50));
    FAILS_UNCHANGED(THTensor_setStorage1d(m, THTensor_storage(v), -1, 1, 1));
    FAILS_UNCHANGED(THTensor_setStorage1d(m, THTensor_storage(v), 0, 1, -1));
    FAILS_UNCHANGED(THTensor_setStorage1d(m, THTensor_storage(v), 0, INT64_C(1) << 50, 1));
    for (int i = 0; i < CAST; i++) THTensor_free(cast[i]);
}

/* Huge sizes */

static void dimensions_out_of_range_are_errors(void) {
    static const int64_t ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    static const int counts[] = {-1, INT32_MIN, 5000, INT32_MAX};
    THTensor *t = vector_of(TH_FLOAT32, 1);
    THStorage *s = THTensor_storage(t);
    for (int i = 0; i < 4; i++) {
        int ndim = counts[i];
        CHECK_FAILURE(THTensor_newWithSizes(TH_FLOAT32, ndim, ones) == NULL, TH_ERR_ARGUMENT, "'size'");
        CHECK_FAILURE(THTensor_newOnes(TH_FLOAT32, ndim, ones) == NULL, TH_ERR_ARGUMENT, "'size'");
        CHECK_FAILURE(THTensor_newFromData(TH_FLOAT32, ndim, ones, ones) == NULL, TH_ERR_ARGUMENT, "'size'");
        CHECK_FAILURE(THTensor_newExpand(t, ndim, ones) == NULL, TH_ERR_ARGUMENT, "'size'");
        CHECK_FAILURE(THTensor_newPermute(t, ndim, ones) == NULL, TH_ERR_ARGUMENT, "'dims'");
        CHECK_ERROR(THTensor_resize(t, ndim, ones, NULL), TH_ERR_ARGUMENT, "'size'");
        CHECK_ERROR(THTensor_setStorage(t, s, 0, ndim, ones, ones), TH_ERR_ARGUMENT, "'size'");
        CHECK_FAILURE(isnan(THTensor_getAt(t, ndim, ones)), TH_ERR_ARGUMENT, "'index'");
        CHECK_FAILURE(THTensor_isSize(t, ndim, ones) == 0, TH_ERR_ARGUMENT, "'size'");
    }
    CHECK_VALUES(t, 1);
    THTensor_free(t);
}

static void sizes_no_memory_holds_are_errors(void) {
    CHECK_FAILURE(THTensor_newWithSize1d(TH_FLOAT32, -1) == NULL, TH_ERR_SHAPE, "size -1 of dimension 0");
    CHECK_FAILURE(THTensor_newZeros(TH_FLOAT32, SIZES(3, INT64_MIN)) == NULL, TH_ERR_SHAPE, "dimension 1");
    CHECK_FAILURE(THTensor_newZeros(TH_INT8, SIZES(INT64_MAX, INT64_MAX)) == NULL, TH_ERR_SHAPE, "overflows");
    CHECK_FAILURE(THTensor_newZeros(TH_INT8, SIZES(INT64_MAX, 2, 0)) == NULL, TH_ERR_SHAPE, "overflows");
    CHECK_FAILURE(THTensor_newZeros(TH_FLOAT64, SIZES(INT64_MAX)) == NULL, TH_ERR_NOMEM, "9223372036854775807");
    CHECK_FAILURE(THTensor_newZeros(TH_FLOAT64, SIZES(1 << 25, 1 << 25)) == NULL, TH_ERR_NOMEM, "out of memory");
    const int64_t sizes[] = {2, 3}, huge[] = {INT64_MAX, 1}, backward[] = {3, -1};
    CHECK_FAILURE(THTensor_newWithSizesStrides(TH_INT8, 2, sizes, huge) == NULL, TH_ERR_SHAPE, "overflows");
    CHECK_FAILURE(THTensor_newWithSizesStrides(TH_INT8, 2, sizes, backward) == NULL, TH_ERR_ARGUMENT, "-1");
}

/* An expanded scalar may have any number of elements until a result needs memory for them. */
static void results_no_memory_holds_are_errors(void) {
    THTensor *one = THTensor_newScalar(TH_FLOAT64, 1), *r = THTensor_new(), *v = vector_of(TH_FLOAT64, 1, 2);
    THTensor *vast = THTensor_newExpand(one, SIZES(1 << 25, 1 << 25));
    CHECK_FAILURE(THTensor_newClone(vast) == NULL, TH_ERR_NOMEM, "out of memory");
    CHECK_FAILURE(THTensor_newContiguous(vast) == NULL, TH_ERR_NOMEM, "out of memory");
    CHECK_FAILURE(THTensor_newTo(vast, TH_FLOAT32) == NULL, TH_ERR_NOMEM, "out of memory");
    CHECK_FAILURE(THTensor_newZerosLike(vast) == NULL, TH_ERR_NOMEM, "out of memory");
    CHECK_ERROR(THTensor_cadd(r, vast, 1, vast), TH_ERR_NOMEM, "out of memory");
    CHECK_ERROR(THTensor_copy(r, vast), TH_ERR_NOMEM, "out of memory");
    CHECK_ERROR(THTensor_exp(v, vast), TH_ERR_NOMEM, "out of memory");
    CHECK_ERROR(THTensor_ltValue(v, vast, 3), TH_ERR_NOMEM, "out of memory");

    THTensor *column = THTensor_newExpand(one, SIZES(1 << 25, 1)), *row = THTensor_newExpand(one, SIZES(1, 1 << 25));
    CHECK_ERROR(THTensor_mm(r, column, row), TH_ERR_NOMEM, "out of memory");
    CHECK_ERROR(THTensor_mm(v, column, row), TH_ERR_NOMEM, "out of memory");
    CHECK_EQ(THTensor_dtype(r), TH_UNDEFINED);
    CHECK_VALUES(v, 1, 2);
    CHECK_OK(THTensor_fill(vast, 5));
    CHECK_NEAR(THTensor_item(one), 5, 0);
    THTensor_free(row);
    THTensor_free(column);
    THTensor_free(vast);
    THTensor_free(v);
    THTensor_free(r);
    THTensor_free(one);
}

static void lists_longer_than_their_room_are_errors(void) {
    THTensor *one = THTensor_newScalar(TH_FLOAT32, 1), *list[2] = {NULL, NULL};
    THTensor *billions = THTensor_newExpand(one, SIZES(2000000000)),
             *trillions = THTensor_newExpand(one, SIZES(1LL << 40));
    int count = 2;
    CHECK_ERROR(THTensor_unbind(list, &count, billions, 0), TH_ERR_ARGUMENT, "2000000000 are needed");
    CHECK_ERROR(THTensor_split(list, &count, billions, 1, 0), TH_ERR_ARGUMENT, "2000000000 are needed");
    CHECK_ERROR(THTensor_chunk(list, &count, billions, INT64_MAX, 0), TH_ERR_ARGUMENT, "2000000000 are needed");
    CHECK_ERROR(THTensor_unbind(list, &count, trillions, 0), TH_ERR_ARGUMENT, "1099511627776");
    CHECK_ERROR(THTensor_unbind(NULL, &count, trillions, 0), TH_ERR_ARGUMENT, "1099511627776");
    CHECK(count == 2 && list[0] == NULL && list[1] == NULL);
    count = -1;
    CHECK_ERROR(THTensor_chunk(list, &count, billions, 2, 0), TH_ERR_ARGUMENT, "2 are needed");
    CHECK_ERROR(THTensor_split(list, NULL, billions, 1, 0), TH_ERR_ARGUMENT, "'count' is NULL");
    CHECK_OK(THTensor_unbind(NULL, &count, billions, 0));
    CHECK_EQ(count, 2000000000);
    THTensor_free(trillions);
    THTensor_free(billions);
    THTensor_free(one);
}

static void codes_of_no_dtype_are_errors(void) {
    static const THDtype codes[] = {TH_UNDEFINED, -1, 11, 256 + TH_FLOAT32, INT32_MAX, INT32_MIN};
    THTensor *t = vector_of(TH_FLOAT32, 1);
    for (int i = 0; i < 6; i++) {
        CHECK_FAILURE(THTensor_newZeros(codes[i], SIZES(1)) == NULL, TH_ERR_ARGUMENT, "is no dtype");
        CHECK_FAILURE(THTensor_newScalar(codes[i], 1) == NULL, TH_ERR_ARGUMENT, "is no dtype");
        CHECK_FAILURE(THTensor_newTo(t, codes[i]) == NULL, TH_ERR_ARGUMENT, "is no dtype");
        CHECK_FAILURE(THTensor_newViewDtype(t, codes[i]) == NULL, TH_ERR_ARGUMENT, "is no dtype");
        CHECK_FAILURE(THDtype_promote(TH_INT8, codes[i]) == TH_UNDEFINED, TH_ERR_ARGUMENT, "is no dtype");
        CHECK_FAILURE(THDtype_canCast(codes[i], TH_INT8) == 0, TH_ERR_ARGUMENT, "is no dtype");
        CHECK_ERROR(THSetDefaultDtype(codes[i]), TH_ERR_ARGUMENT, "is no dtype");
    }
    THTensor_free(t);
}

/* Damaged handles: the program wrote invalid values into their open fields. Functions that read elements refuse the handles. */

#define REFUSED(call) CHECK((call) != TH_OK && *THGetLastError())

static void check_readers_refuse(THTensor *bad) {
    THTensor *good = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4), *r = THTensor_new();
    REFUSED(THTensor_cadd(r, bad, 1, good));
    REFUSED(THTensor_cadd(r, good, 2, bad));
    REFUSED(THTensor_cmul(bad, bad, bad));
    REFUSED(THTensor_add(bad, bad, 1));
    REFUSED(THTensor_exp(r, bad));
    REFUSED(THTensor_exp(bad, bad));
    REFUSED(THTensor_eqValue(r, bad, 1));
    REFUSED(THTensor_copy(r, bad));
    REFUSED(THTensor_copy(bad, good));
    REFUSED(THTensor_fill(bad, 1));
    REFUSED(THTensor_sum(r, bad, 0, 0));
    REFUSED(THTensor_mean(r, bad, -1, 1));
    REFUSED(THTensor_max(r, NULL, bad, TH_ALL_DIMS, 0));
    REFUSED(THTensor_mm(r, bad, good));
    REFUSED(THTensor_mm(r, good, bad));
    REFUSED(THTensor_addmm(r, 1, bad, 1, good, good));
    REFUSED(THTensor_uniform(bad, NULL, 0, 1));
    REFUSED(THTensor_set2d(bad, 0, 0, 1));
    CHECK(isnan(THTensor_get2d(bad, 0, 0)));
    CHECK(THTensor_newClone(bad) == NULL);
    CHECK_EQ(THTensor_dtype(r), TH_UNDEFINED);
    CHECK_VALUES(good, 1, 2, 3, 4);
    THTensor_free(r);
    THTensor_free(good);
}

/* A view of a damaged tensor may be made, but elements are read only inside the storage. `unreachable` is true if no element is inside. */
static void check_view(THTensor *view, int unreachable) {
    double sum = THTensor_sumall(view);
    if (unreachable) CHECK(isnan(sum));
    THTensor_free(view);
}

/* Calls with a result of the right shape use a fast path, which must make the same checks. */
static void check_ready_results_stay(THTensor *bad) {
    THTensor *matrix = THTensor_newZeros(TH_FLOAT32, SIZES(2, 2)), *row = THTensor_newZeros(TH_FLOAT32, SIZES(2));
    CHECK(THTensor_neg(matrix, bad) != TH_OK);
    CHECK(THTensor_cadd(matrix, matrix, 1, bad) != TH_OK);
    CHECK(THTensor_copy(matrix, bad) != TH_OK);
    CHECK(THTensor_sum(row, bad, 0, 0) != TH_OK);
    CHECK(THTensor_amax(row, bad, 1, 0) != TH_OK);
    CHECK(THTensor_cumsum(matrix, bad, 0) != TH_OK);
    CHECK(THTensor_softmax(matrix, bad, 1) != TH_OK);
    CHECK_VALUES(matrix, 0, 0, 0, 0);
    CHECK_VALUES(row, 0, 0);
    THTensor_free(row);
    THTensor_free(matrix);
}

static void check_damaged(THTensor *bad, int unreachable) {
    const int64_t four[] = {4}, order[] = {1, 0}, expanded[] = {3, 2, 2};
    check_readers_refuse(bad);
    check_ready_results_stay(bad);
    check_view(THTensor_newNarrow(bad, 0, 0, 1), unreachable);
    check_view(THTensor_newSelect(bad, 1, 1), unreachable);
    check_view(THTensor_newSlice(bad, 0, 0, 2, 1), unreachable);
    check_view(THTensor_newTranspose(bad, 0, 1), unreachable);
    check_view(THTensor_newPermute(bad, 2, order), unreachable);
    check_view(THTensor_newUnfold(bad, 0, 2, 1), unreachable);
    check_view(THTensor_newUnsqueeze1d(bad, 0), unreachable);
    check_view(THTensor_newView(bad, 1, four), unreachable);
    check_view(THTensor_newExpand(bad, 3, expanded), unreachable);
    check_view(THTensor_newReshape(bad, 1, four), unreachable);
    check_view(THTensor_newFlatten(bad, 0, 1), unreachable);
}

static void damaged_sizes_and_strides_are_refused(void) {
    static const int64_t garbage[] = {-1, INT64_MIN, INT64_MAX, INT64_C(1) << 40, 3};
    for (int i = 0; i < 10; i++) {
        THTensor *t = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4);
        int64_t *field = i % 2 ? t->stride : t->size;
        int64_t whole = field[0];
        field[0] = garbage[i / 2];
        check_damaged(t, 0);
        field[0] = whole;
        CHECK_VALUES(t, 1, 2, 3, 4);
        THTensor_free(t);
    }
}

static void missing_sizes_and_strides_are_refused(void) {
    for (int way = 1; way < 4; way++) {
        THTensor *t = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4), *matrix = THTensor_newZeros(TH_FLOAT32, SIZES(2, 2));
        int64_t *size = t->size, *stride = t->stride;
        if (way & 1) t->size = NULL;
        if (way & 2) t->stride = NULL;
        check_ready_results_stay(t);
        CHECK_ERROR(THTensor_mm(matrix, t, t), TH_ERR_SHAPE, "damaged");
        CHECK_FAILURE(THTensor_newTo(t, TH_FLOAT64) == NULL, TH_ERR_SHAPE, "damaged");
        (t->size = size), (t->stride = stride);
        CHECK_VALUES(t, 1, 2, 3, 4);
        THTensor_free(matrix);
        THTensor_free(t);
    }
}

static void damaged_offsets_are_refused(void) {
    static const ptrdiff_t garbage[] = {-1, PTRDIFF_MIN, PTRDIFF_MAX, (ptrdiff_t)1 << 40, 4};
    for (int i = 0; i < 5; i++) {
        THTensor *t = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4);
        t->storageOffset = garbage[i];
        check_damaged(t, 1);
        t->storageOffset = 0;
        CHECK_VALUES(t, 1, 2, 3, 4);
        THTensor_free(t);
    }
}

static void a_storage_that_shrank_is_refused(void) {
    THTensor *t = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4);
    CHECK_OK(THStorage_resize(THTensor_storage(t), 0));
    check_damaged(t, 1);
    CHECK_OK(THStorage_resize(THTensor_storage(t), 4));
    CHECK_OK(THTensor_fill(t, 2));
    CHECK_NEAR(THTensor_sumall(t), 8, 0);
    THTensor_free(t);
}

/* A program that swaps storages changes the dtype of the tensors on them. */
static void a_storage_of_another_dtype_is_no_way_out_of_bounds(void) {
    THTensor *t = vector_of(TH_FLOAT64, 1, 2, 3, 4), *r = THTensor_new();
    THStorage *bytes = THStorage_newWithSize4(TH_UINT8, 1, 2, 3, 4);
    CHECK_OK(THStorage_swap(THTensor_storage(t), bytes));
    CHECK_ERROR(THTensor_cadd(r, t, 1, t), TH_ERR_SHAPE, "4 bytes");
    CHECK_FAILURE(isnan(THTensor_sumall(t)), TH_ERR_SHAPE, "4 bytes");
    CHECK_ERROR(THTensor_fill(t, 1), TH_ERR_SHAPE, "4 bytes");
    THStorage_free(bytes);
    THTensor_free(r);
    THTensor_free(t);
}

/* Returns true if the last call was refused for the device of a tensor: the GPU does not exist, or another tensor is elsewhere. */
static int refused_for_its_device(void) {
    THStatus status = THGetLastErrorCode();
    return status == TH_ERR_CUDA || (status == TH_ERR_DEVICE && strstr(THGetLastError(), "cuda:127"));
}

#define CHECK_REFUSED(failed) (THClearLastError(), CHECK((failed) && refused_for_its_device()))

/* A handle on a GPU that does not exist is refused by each function that reads elements. */
static void tensors_of_another_device_are_refused(void) {
    THTensor *t = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4), *here = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4), *r = THTensor_new();
    t->deviceType = TH_CUDA;
    t->deviceIndex = 127;
    CHECK_REFUSED(THTensor_cadd(r, t, 1, t) != TH_OK);
    CHECK_REFUSED(THTensor_cmul(r, here, t) != TH_OK);
    CHECK_REFUSED(THTensor_cmul(t, here, here) != TH_OK);
    CHECK_REFUSED(THTensor_sum(r, t, 0, 0) != TH_OK);
    CHECK_REFUSED(THTensor_cumsum(r, t, 0) != TH_OK);
    CHECK_REFUSED(THTensor_softmax(r, t, 0) != TH_OK);
    CHECK_REFUSED(THTensor_median(r, NULL, t, 0, 0) != TH_OK);
    CHECK_REFUSED(THTensor_histc(r, t, 4, 0, 0) != TH_OK);
    CHECK_REFUSED(THTensor_mm(r, here, t) != TH_OK);
    CHECK_REFUSED(THTensor_tril(r, t, 0) != TH_OK);
    CHECK_REFUSED(THTensor_copy(here, t) != TH_OK);
    CHECK_REFUSED(THTensor_copy(t, here) != TH_OK);
    CHECK_REFUSED(THTensor_fill(t, 0) != TH_OK);
    CHECK_REFUSED(THTensor_uniform(t, NULL, 0, 1) != TH_OK);
    CHECK_REFUSED(THTensor_set2d(t, 0, 0, 5) != TH_OK);
    CHECK_REFUSED(isnan(THTensor_get2d(t, 0, 0)));
    CHECK_REFUSED(isnan(THTensor_sumall(t)));
    CHECK_REFUSED(THTensor_newClone(t) == NULL);
    t->deviceType = TH_CPU;
    t->deviceIndex = 0;
    CHECK_VALUES(t, 1, 2, 3, 4);
    CHECK_VALUES(here, 1, 2, 3, 4);
    THTensor_free(r);
    THTensor_free(here);
    THTensor_free(t);
}

CHECK_MAIN(CASE(a_failure_has_a_status_and_a_message), CASE(a_program_reports_failures_of_its_own),
           CASE(success_leaves_the_last_error_alone_until_it_is_cleared),
           CASE(each_kind_of_failure_has_its_code), CASE(a_status_has_a_name), CASE(the_message_stays_at_one_address),
           CASE(long_messages_are_cut),
           CASE(each_thread_has_its_own_last_error), CASE(null_handles_are_named),
           CASE(a_failed_call_has_changed_nothing),
           CASE(dimensions_out_of_range_are_errors), CASE(sizes_no_memory_holds_are_errors),
           CASE(results_no_memory_holds_are_errors), CASE(lists_longer_than_their_room_are_errors),
           CASE(codes_of_no_dtype_are_errors), CASE(damaged_sizes_and_strides_are_refused),
           CASE(missing_sizes_and_strides_are_refused),
           CASE(damaged_offsets_are_refused), CASE(a_storage_that_shrank_is_refused),
           CASE(a_storage_of_another_dtype_is_no_way_out_of_bounds), CASE(tensors_of_another_device_are_refused))
