/* Tensors on GPUs: making, moving and computing, and the errors on a machine without a GPU. The emulated driver of tests/cuda_emu has two
 * GPUs. */

#include "check.h"

static void without_a_gpu_everything_says_what_is_missing(void) {
    if (THCuda_deviceCount() > 0) return;
    CHECK_FAILURE(THCuda_deviceCount() == 0, TH_ERR_CUDA, "THCuda_deviceCount: ");
    CHECK_FAILURE(THTensor_newWithSizesOn(TH_FLOAT32, TH_CUDA, 0, SIZES(3)) == NULL, TH_ERR_CUDA, "CUDA");
    CHECK_ERROR(THSetDefaultDevice(TH_CUDA, 0), TH_ERR_CUDA, "CUDA");
    CHECK_EQ(THGetDefaultDeviceType(), TH_CPU);
    CHECK_ERROR(THCuda_synchronize(0), TH_ERR_CUDA, "CUDA");
    CHECK_ERROR(THCuda_emptyCache(0), TH_ERR_CUDA, "CUDA");
    CHECK_FAILURE(THCuda_newDeviceName(0) == NULL, TH_ERR_CUDA, "CUDA");
    THTensor *t = vector_of(TH_FLOAT32, 1, 2);
    CHECK_FAILURE(THTensor_newCuda(t, 0) == NULL, TH_ERR_CUDA, "CUDA");
    CHECK_FAILURE(THTensor_newFromBlobOn(TH_FLOAT32, TH_CUDA, 0, SIZES(2), NULL, THTensor_data(t), NULL, NULL) == NULL, TH_ERR_CUDA, "CUDA");
    THTensor *here = THTensor_newCpu(t);
    CHECK(THTensor_data(here) == THTensor_data(t));
    THTensor_free(here);
    THTensor_free(t);
}

static void devices_are_named_and_counted(void) {
    CHECK_ERROR(THSetDefaultDevice(7, 0), TH_ERR_ARGUMENT, "7 is no kind of device");
    CHECK_ERROR(THSetDefaultDevice(TH_CPU, 1), TH_ERR_ARGUMENT, "no device 1");
    CHECK_ERROR(THSetDefaultDevice(TH_CUDA, -1), TH_ERR_ARGUMENT, "no device -1");
    if (THCuda_deviceCount() == 0) return;
    char *name = THCuda_newDeviceName(0);
    CHECK(name && name[0]);
    THCudaProperties properties;
    CHECK_OK(THCuda_properties(0, &properties));
    CHECK(strcmp(properties.name, name) == 0);
    CHECK(properties.major >= 7 && properties.multiprocessors > 0 && properties.warp_size == 32);
    CHECK(properties.total_bytes > 0 && strchr(properties.pci_bus_id, ':'));
    THFree(name);
    THCudaMemory memory;
    CHECK_OK(THCuda_memory(0, &memory));
    CHECK(memory.total_bytes > 0 && memory.free_bytes <= memory.total_bytes);
    CHECK_ERROR(THCuda_synchronize(THCuda_deviceCount()), TH_ERR_CUDA, "no GPU");
}

/* A tensor that is moved to the GPU and back is unchanged, for any layout. */
static void tensors_move(void) {
    if (THCuda_deviceCount() == 0) return;
    THTensor *t = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6);
    THTensor *there = THTensor_newCuda(t, 0);
    CHECK(THTensor_isCuda(there) && !THTensor_isCuda(t));
    CHECK_EQ(THTensor_deviceType(there), TH_CUDA);
    CHECK_EQ(THTensor_getDevice(there), 0);
    THTensor *same = THTensor_newCuda(there, 0), *turned = THTensor_newTranspose(there, 0, 1);
    CHECK(THTensor_data(same) == THTensor_data(there));
    THTensor *here = THTensor_newToDevice(turned, TH_CPU, 0, TH_UNDEFINED, 0, 0);
    CHECK_SHAPE(here, 3, 2);
    CHECK_VALUES(here, 1, 4, 2, 5, 3, 6);
    CHECK_NEAR(THTensor_getAt(there, SIZES(1, 0)), 4, 0);
    CHECK_OK(THTensor_setAt(there, SIZES(1, 0), 40));
    CHECK_NEAR(THTensor_getAt(turned, SIZES(0, 1)), 40, 0);
    CHECK_VALUES(t, 1, 2, 3, 4, 5, 6);
    CHECK_OK(THTensor_copy(t, there));
    CHECK_VALUES(t, 1, 2, 3, 40, 5, 6);
    char *text = THTensor_toString(there, NULL);
    CHECK(text && strstr(text, "40."));
    THFree(text);
    /* From float32 on the host to a view of an int16 matrix on the GPU. */
    THTensor *wide = THTensor_newWithSizesOn(TH_INT16, TH_CUDA, 0, SIZES(3, 4)), *part = THTensor_newNarrow(wide, 1, 1, 2);
    CHECK_OK(THTensor_zero(wide));
    CHECK_OK(THTensor_t(t, t));
    CHECK_OK(THTensor_copy(part, t));
    THTensor *back = THTensor_newCpu(wide);
    CHECK_VALUES(back, 0, 1, 40, 0, 0, 2, 5, 0, 0, 3, 6, 0);
    THTensor *all[] = {t, there, same, turned, here, wide, part, back};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
}

/* Converts the dtype with the move. If device and dtype are already right, nothing is copied. */
static void tensors_are_converted_on_their_way(void) {
    if (THCuda_deviceCount() == 0) return;
    THTensor *t = vector_of(TH_FLOAT32, 1.5, -2.5, 3), *there = THTensor_newToDevice(t, TH_CUDA, 0, TH_INT16, 0, 0);
    CHECK_EQ(THTensor_dtype(there), TH_INT16);
    THTensor *same = THTensor_newToDevice(there, TH_CUDA, 0, TH_UNDEFINED, 0, 0);
    THTensor *copy = THTensor_newToDevice(there, TH_CUDA, 0, TH_INT16, 0, 1);
    CHECK(THTensor_data(same) == THTensor_data(there) && THTensor_data(copy) != THTensor_data(there));
    THTensor *back = THTensor_newToDevice(copy, TH_CPU, 0, TH_FLOAT64, 1, 0);
    CHECK(THTensor_isPinned(back) && !THTensor_isPinned(t) && !THTensor_isPinned(copy));
    CHECK_OK(THCuda_synchronize(0));
    CHECK_EQ(THTensor_dtype(back), TH_FLOAT64);
    CHECK_VALUES(back, 1, -2, 3);
    THTensor *all[] = {t, there, same, copy, back};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
}

/* DLPack exports the address on the GPU, and imports another library's address. */
static void memory_of_gpus_is_exchanged(void) {
    if (THCuda_deviceCount() == 0) return;
    int last = THCuda_deviceCount() - 1;
    THTensor *host = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6), *there = THTensor_newCuda(host, last);
    THTensor *turned = THTensor_newTranspose(there, 0, 1);
    DLManagedTensorVersioned *given = THTensor_toDLPack(turned);
    CHECK_EQ(given->dl_tensor.device.device_type, kDLCUDA);
    CHECK_EQ(given->dl_tensor.device.device_id, last);
    CHECK(given->dl_tensor.data == THTensor_data(there));
    THTensor *taken = THTensor_newFromDLPack(given);
    CHECK(THTensor_isCuda(taken) && THTensor_getDevice(taken) == last);
    CHECK_SHAPE(taken, 3, 2);
    CHECK_OK(THTensor_mul(taken, taken, 10));
    THTensor *seen = THTensor_newFromBlobOn(TH_FLOAT32, TH_CUDA, last, SIZES(6), NULL, THTensor_data(there), NULL, NULL);
    CHECK_NEAR(THTensor_sumall(seen), 210, 0);
    THTensor *back = THTensor_newCpu(there);
    CHECK_VALUES(back, 10, 20, 30, 40, 50, 60);
    CHECK_ERROR(THTensor_resize1d(there, 100), TH_ERR_ARGUMENT, "");
    THTensor *all[] = {host, there, turned, taken, seen, back};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
}

/* An operation runs on the device of its operands, and its results are allocated there. */
static void operations_run_where_their_operands_lie(void) {
    if (THCuda_deviceCount() == 0) return;
    THTensor *here = vector_of(TH_FLOAT32, 1, -2, 3, -4), *a = THTensor_newCuda(here, 0), *r = THTensor_new();
    CHECK_OK(THTensor_abs(r, a));
    CHECK(THTensor_isCuda(r));
    CHECK_OK(THTensor_cmul(r, r, a));
    CHECK_OK(THTensor_add(r, r, 0.5));
    THTensor *back = THTensor_newCpu(r);
    CHECK_VALUES(back, 1.5, -3.5, 9.5, -15.5);
    CHECK_OK(THTensor_tanh(r, r));
    CHECK_NEAR(THTensor_getAt(r, SIZES(0)), tanh(1.5), 1e-6);
    /* A 0-d tensor may be on the host, other tensors may not. */
    THTensor *two = THTensor_newScalar(TH_FLOAT32, 2);
    CHECK_OK(THTensor_cmul(r, a, two));
    CHECK_NEAR(THTensor_getAt(r, SIZES(3)), -8, 0);
    CHECK_ERROR(THTensor_cmul(r, a, here), TH_ERR_DEVICE, "cuda:0 and cpu");
    THTensor *result = THTensor_newZeros(TH_FLOAT32, SIZES(2));
    CHECK_ERROR(THTensor_abs(result, a), TH_ERR_DEVICE, "a result on cpu and operands on cuda:0");
    CHECK_VALUES(result, 0, 0);
    THTensor *all[] = {here, a, r, back, two, result};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
}

/* PyTorch's example of two devices: an operation runs on the device of its tensors, for any default device. */
static void two_devices_work_side_by_side(void) {
    if (THCuda_deviceCount() < 2) return;
    CHECK_OK(THSetDefaultDevice(TH_CUDA, 1));
    CHECK(THGetDefaultDeviceType() == TH_CUDA && THGetDefaultDeviceIndex() == 1);
    THTensor *x = THTensor_newWithSizesOn(TH_FLOAT32, TH_CUDA, 0, SIZES(2, 3)), *y = THTensor_newWithSizes(TH_FLOAT32, SIZES(2, 3));
    CHECK(THTensor_getDevice(x) == 0 && THTensor_getDevice(y) == 1);
    CHECK_OK(THSetDefaultDevice(TH_CPU, 0));
    THTensor *host = THTensor_newFull(TH_FLOAT32, SIZES(2, 3), 3), *z = THTensor_new();
    CHECK_OK(THTensor_copy(x, host));
    CHECK_OK(THTensor_copy(y, x));
    CHECK_OK(THTensor_add(z, y, 1));
    CHECK_EQ(THTensor_getDevice(z), 1);
    CHECK_NEAR(THTensor_getAt(z, SIZES(1, 2)), 4, 0);
    THTensor *none = THTensor_new();
    CHECK_ERROR(THTensor_cmul(none, x, y), TH_ERR_DEVICE, "cuda:0 and cuda:1");
    THTensor *moved = THTensor_newCuda(y, 0);
    CHECK_OK(THTensor_cmul(x, x, moved));
    CHECK_NEAR(THTensor_getAt(x, SIZES(0, 0)), 9, 0);
    THTensor *all[] = {x, y, host, z, none, moved};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
}

/* The examples of devices in PyTorch's documentation. */
static void the_examples_of_devices_hold(void) {
    if (THCuda_deviceCount() == 0) return;
    THTensor *points = matrix_of(TH_FLOAT32, 3, 4, 1, 5, 3, 2, 1), *there = THTensor_newCuda(points, 0);
    CHECK_OK(THTensor_mul(there, there, 2));
    CHECK_OK(THTensor_add(there, there, 4));
    CHECK(THTensor_isCuda(there));
    THTensor *back = THTensor_newCpu(there);
    CHECK_VALUES(back, 12, 6, 14, 10, 8, 6);
    THTensor *same = THTensor_newCpu(points), *wide = THTensor_newTo(there, TH_FLOAT64);
    CHECK(THTensor_data(same) == THTensor_data(points));
    CHECK_EQ(THTensor_dtype(wide), TH_FLOAT64);
    CHECK_EQ(THTensor_getDevice(wide), 0);
    /* New tensors are made on the thread's default device. */
    int last = THCuda_deviceCount() - 1;
    CHECK_OK(THSetDefaultDevice(TH_CUDA, last));
    THTensor *ones = THTensor_newOnes(TH_FLOAT64, SIZES(2, 4)), *drawn = THTensor_new(), *first = THTensor_newCuda(points, 0);
    CHECK_OK(THTensor_randn(drawn, NULL, SIZES(3, 4, 5)));
    CHECK_OK(THSetDefaultDevice(TH_CPU, 0));
    CHECK_EQ(THTensor_getDevice(ones), last);
    CHECK_NEAR(THTensor_sumall(ones), 8, 0);
    CHECK_EQ(THTensor_getDevice(drawn), last);
    CHECK_EQ(THTensor_getDevice(first), 0);
    THTensor *all[] = {points, there, back, same, wide, ones, drawn, first};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
}

/* Memory of freed tensors is reused for new ones, and returned to the driver on request. */
static void memory_is_kept_and_given_back(void) {
    if (THCuda_deviceCount() == 0) return;
    THCudaMemory before, kept, after;
    CHECK_OK(THCuda_emptyCache(0));
    CHECK_OK(THCuda_memory(0, &before));
    for (int k = 0; k < 100; k++) THTensor_free(THTensor_newWithSizesOn(TH_FLOAT32, TH_CUDA, 0, SIZES(1 << 20)));
    CHECK_OK(THCuda_memory(0, &kept));
    CHECK_EQ(kept.live_bytes, before.live_bytes);
    CHECK(kept.cached_bytes >= 4 << 20 && kept.cached_bytes < 64 << 20);
    CHECK_OK(THCuda_emptyCache(0));
    CHECK_OK(THCuda_memory(0, &after));
    CHECK_EQ(after.cached_bytes, 0);
    CHECK_FAILURE(THTensor_newWithSizesOn(TH_FLOAT32, TH_CUDA, 0, SIZES(INT64_C(1) << 50)) == NULL, TH_ERR_NOMEM, "cuda:0");
}

/* Views of the matrices in a batch, by the order of their dimensions in memory. */
enum { PLAIN, TURNED, BATCH_LAST, NARROWED, ONE_MATRIX, ONE_ROW, VIEWS };
enum { MATRICES = 3 };

static THTensor *base_of_view(THDtype dtype, int view, int64_t count, int64_t rows, int64_t cols) {
    THTensor *base = THTensor_newWithSizes(dtype, SIZES(0));
    switch (view) {
    case TURNED: CHECK_OK(THTensor_randn(base, NULL, SIZES(count, cols, rows))); break;
    case BATCH_LAST: CHECK_OK(THTensor_randn(base, NULL, SIZES(rows, cols, count))); break;
    case NARROWED: CHECK_OK(THTensor_randn(base, NULL, SIZES(count, rows, cols + 3))); break;
    case ONE_MATRIX: CHECK_OK(THTensor_randn(base, NULL, SIZES(1, rows, cols))); break;
    case ONE_ROW: CHECK_OK(THTensor_randn(base, NULL, SIZES(count, 1, cols))); break;
    default: CHECK_OK(THTensor_randn(base, NULL, SIZES(count, rows, cols)));
    }
    return base;
}

static THTensor *newView(const THTensor *base, int view, int64_t count, int64_t rows, int64_t cols) {
    switch (view) {
    case TURNED: return THTensor_newTranspose(base, 1, 2);
    case BATCH_LAST: return THTensor_newPermute(base, SIZES(2, 0, 1));
    case NARROWED: return THTensor_newNarrow(base, 2, 2, cols);
    case ONE_MATRIX:
    case ONE_ROW: return THTensor_newExpand(base, SIZES(count, rows, cols));
    default: return THTensor_newNarrow(base, 0, 0, count);
    }
}

/* Computes four products of m x k and k x n matrices. The factors are views of the first two bases, on the device of the bases. The third
 * base is n x m. */
static void multiply(THTensor *results[4], THTensor *const bases[3], const int views[2], int64_t m, int64_t k, int64_t n) {
    THTensor *a = newView(bases[0], views[0], MATRICES, m, k), *b = newView(bases[1], views[1], MATRICES, k, n);
    for (int i = 0; i < 4; i++) results[i] = THTensor_new();
    CHECK_OK(THTensor_matmul(results[0], a, b));
    /* The result is transposed, and is the addend, too. */
    THTensor *start = THTensor_newClone(bases[2]);
    CHECK_OK(THTensor_transpose(results[1], start, 1, 2));
    CHECK_OK(THTensor_baddbmm(results[1], 0.5, results[1], -2, a, b));
    THTensor *first = THTensor_newSelect(results[0], 0, 0);
    CHECK_OK(THTensor_addbmm(results[2], 2, first, 0.5, a, b));
    THTensor *matrix = THTensor_newSelect(a, 0, 1), *other = THTensor_newSelect(b, 0, 2), *column = THTensor_newSelect(other, 1, n - 1);
    THTensor *addend = THTensor_newSelect(first, 1, 0);
    CHECK_OK(THTensor_addmv(results[3], -1, addend, 3, matrix, column));
    THTensor *all[] = {a, b, start, first, matrix, other, column, addend};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) THTensor_free(all[i]);
}

static void check_products(THDtype dtype, double tolerance, int64_t m, int64_t k, int64_t n) {
    for (int pair = 0; pair < VIEWS * VIEWS; pair++) {
        const int views[2] = {pair / VIEWS, pair % VIEWS};
        THTensor *here[3] = {base_of_view(dtype, views[0], MATRICES, m, k), base_of_view(dtype, views[1], MATRICES, k, n),
                             base_of_view(dtype, PLAIN, MATRICES, n, m)};
        THTensor *there[3], *expected[4], *results[4];
        for (int i = 0; i < 3; i++) there[i] = THTensor_newCuda(here[i], 0);
        multiply(expected, here, views, m, k, n);
        multiply(results, there, views, m, k, n);
        for (int i = 0; i < 4; i++) {
            THTensor *back = THTensor_newCpu(results[i]);
            CHECK(THTensor_isCuda(results[i]) && THTensor_allclose(back, expected[i], tolerance, tolerance, 0));
            THTensor_free(back);
            THTensor_free(expected[i]);
            THTensor_free(results[i]);
        }
        for (int i = 0; i < 3; i++) THTensor_free(here[i]);
        for (int i = 0; i < 3; i++) THTensor_free(there[i]);
    }
}

static void products_of_views_are_the_hosts(void) {
    if (THCuda_deviceCount() == 0) return;
    check_products(TH_FLOAT64, 1e-12, 3, 4, 5);
    check_products(TH_FLOAT64, 1e-12, 40, 33, 36);
    check_products(TH_FLOAT32, 2e-5, 40, 33, 36);
    check_products(TH_FLOAT16, 2e-2, 4, 6, 3);
    check_products(TH_BFLOAT16, 2e-1, 3, 4, 40);
}

/* The setting is for all threads. The emulated cuBLAS rounds to TF32 when it may; a GPU may compute exactly. */
static void tf32_is_used_where_it_is_allowed(void) {
    CHECK_EQ(THCuda_getAllowTF32(), 0);
    CHECK_OK(THCuda_setAllowTF32(2));
    CHECK_EQ(THCuda_getAllowTF32(), 1);
    if (THCuda_deviceCount() > 0) {
        const double fine = 1 + ldexp(1, -12);
        THTensor *host = THTensor_newFull(TH_FLOAT32, SIZES(2, 2), fine), *a = THTensor_newCuda(host, 0), *r = THTensor_new();
        CHECK_OK(THTensor_matmul(r, a, a));
        char *name = THCuda_newDeviceName(0);
        const char *own = getenv("TH_CUDA_BLAS");
        int emulated = name && strncmp(name, "Emulated", 8) == 0 && !(own && strcmp(own, "0") == 0);
        CHECK_NEAR(THTensor_getAt(r, SIZES(1, 0)), emulated ? 2 : 2 * fine * fine, emulated ? 0 : 4e-3);
        CHECK_OK(THCuda_setAllowTF32(0));
        CHECK_OK(THTensor_matmul(r, a, a));
        CHECK_NEAR(THTensor_getAt(r, SIZES(1, 0)), 2 * fine * fine, 2e-7);
        THFree(name);
        THTensor *all[] = {host, a, r};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
    }
    CHECK_OK(THCuda_setAllowTF32(0));
    CHECK_EQ(THCuda_getAllowTF32(), 0);
}

/* U of a 2 x 1 matrix is 2 x 2, and is stored in the input matrix, which grows. The other results are correct. */
static void a_result_that_grows_leaves_the_others_whole(void) {
    if (THCuda_deviceCount() == 0) return;
    THTensor *ones = THTensor_newOnes(TH_FLOAT64, SIZES(2, 1)), *a = THTensor_newCuda(ones, 0), *s = THTensor_new(), *v = THTensor_new();
    CHECK_OK(THTensor_gesvd(a, s, v, a, 0));
    CHECK_SHAPE(a, 2, 2);
    CHECK_NEAR(THTensor_getAt(s, SIZES(0)), sqrt(2), 1e-15);
    CHECK_NEAR(fabs(THTensor_getAt(v, SIZES(0, 0))), 1, 1e-15);
    CHECK_NEAR(fabs(THTensor_getAt(a, SIZES(1, 0))), sqrt(0.5), 1e-15);
    THTensor *all[] = {ones, a, s, v};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
}

/* A graph may use several devices, and backward may begin on either. Fresh gradients are allocated on the device of their operation. */
static void backward_goes_over_several_devices(void) {
    if (THCuda_deviceCount() == 0) return;
    for (int first = 0; first < 2; first++) {
        THTensor *ones = THTensor_newOnes(TH_FLOAT32, SIZES(3)), *leaf[2] = {THTensor_newClone(ones), THTensor_newCuda(ones, 0)};
        THTensor *loss[2] = {THTensor_new(), THTensor_new()}, *product = NULL;
        for (int k = 0; k < 2; k++) {
            THTensor *t = leaf[k == first], *other = k == first ? THTensor_newCuda(ones, 0) : THTensor_newClone(ones);
            product = THTensor_new();
            CHECK_OK(THTensor_setRequiresGrad(t, 1));
            CHECK_OK(THTensor_cmul(product, t, other));
            CHECK_OK(THTensor_sum(loss[k], product, TH_ALL_DIMS, 0));
            THTensor_free(product);
            THTensor_free(other);
        }
        CHECK_OK(THGrad_backward(loss, NULL, 2, 0, 0));
        for (int k = 0; k < 2; k++) {
            THTensor *gradient = THTensor_newGrad(leaf[k]);
            CHECK_EQ(THTensor_deviceType(gradient), THTensor_deviceType(leaf[k]));
            CHECK_VALUES(gradient, 1, 1, 1);
            THTensor_free(gradient);
            THTensor_free(leaf[k]);
            THTensor_free(loss[k]);
        }
        THTensor_free(ones);
    }
}

/* Results begin at each of the first 17 elements of an allocation, and their elements are larger than the inputs' elements. No vector
 * access may need a larger alignment than the address has. */
static void results_begin_anywhere(void) {
    if (THCuda_deviceCount() == 0) return;
    const THDtype dtypes[] = {TH_BFLOAT16, TH_FLOAT16, TH_UINT8, TH_INT16};
    for (int k = 0; k < 4; k++) {
        THTensor *host = THTensor_newOnes(dtypes[k], SIZES(1000)), *ones = THTensor_newCuda(host, 0);
        const THDtype wide = k < 2 ? TH_FLOAT32 : TH_INT64;
        THTensor *base = THTensor_newWithSizesOn(wide, TH_CUDA, 0, SIZES(1016));
        for (int64_t first = 0; first <= 16; first++) {
            THTensor *part = THTensor_newNarrow(base, 0, first, 1000);
            CHECK_OK(THTensor_fill(base, 7));
            CHECK_OK(THTensor_cadd(part, ones, 2, ones));
            CHECK_NEAR(THTensor_sumall(part), 3000, 0);
            CHECK_NEAR(THTensor_sumall(base), 3000 + 16 * 7, 0);
            CHECK_OK(THTensor_copy(part, ones));
            CHECK_NEAR(THTensor_sumall(base), 1000 + 16 * 7, 0);
            THTensor_free(part);
        }
        THTensor_free(host);
        THTensor_free(ones);
        THTensor_free(base);
    }
}

CHECK_MAIN(CASE(without_a_gpu_everything_says_what_is_missing), CASE(devices_are_named_and_counted), CASE(tensors_move),
           CASE(tensors_are_converted_on_their_way), CASE(memory_of_gpus_is_exchanged),
           CASE(operations_run_where_their_operands_lie), CASE(two_devices_work_side_by_side), CASE(the_examples_of_devices_hold),
           CASE(memory_is_kept_and_given_back), CASE(products_of_views_are_the_hosts), CASE(tf32_is_used_where_it_is_allowed),
           CASE(a_result_that_grows_leaves_the_others_whole), CASE(backward_goes_over_several_devices),
           CASE(results_begin_anywhere))
