/* Streams, events, graphs, and pinned memory. Without a GPU, calls return errors. The emulated driver of tests/cuda_emu has two GPUs, and
 * if THORN_EMU_ASYNC is 1, it defers work until a caller waits. */

#include "check.h"

enum { N = 4096 };

static int gpus;

static THTensor *filled(double value) { return THTensor_newFull(TH_FLOAT32, SIZES(N), value); }

/* A tensor on GPU 0 whose elements are `value`. */
static THTensor *on_gpu(double value) {
    THTensor *t = THTensor_newWithSizesOn(TH_FLOAT32, TH_CUDA, 0, SIZES(N));
    CHECK_OK(THTensor_fill(t, value));
    return t;
}

/* Fails unless all elements of a tensor, read by this thread's stream, are `value`. */
static void all_are(THTensor *t, double value) {
    THTensor *here = THTensor_newCpu(t);
    CHECK_NEAR(THTensor_minall(here), value, 0);
    CHECK_NEAR(THTensor_maxall(here), value, 0);
    THTensor_free(here);
}

static void default_stream(void) {
    THCudaStream *none = THCudaStream_newForeign(0, NULL);
    CHECK_OK(THCudaStream_setCurrent(none));
    THCudaStream_free(none);
}

static void without_a_gpu_everything_says_what_is_missing(void) {
    gpus = THCuda_deviceCount();
    THCudaStream_free(NULL);
    THCudaEvent_free(NULL);
    THCudaGraph_free(NULL);
    if (gpus) return;
    THTensor *t = filled(1);
    CHECK_FAILURE(THCudaStream_new(0, 0) == NULL, TH_ERR_CUDA, "THCudaStream_new: ");
    CHECK_FAILURE(THCudaStream_newForeign(0, NULL) == NULL, TH_ERR_CUDA, "CUDA");
    CHECK_FAILURE(THCudaStream_newCurrent(0) == NULL, TH_ERR_CUDA, "CUDA");
    CHECK_FAILURE(THCudaEvent_new(0, 1) == NULL, TH_ERR_CUDA, "CUDA");
    CHECK_ERROR(THCudaGraph_begin(0), TH_ERR_CUDA, "CUDA");
    CHECK_FAILURE(THCudaGraph_newCaptured(0) == NULL, TH_ERR_CUDA, "CUDA");
    CHECK_FAILURE(THTensor_newPinned(t) == NULL, TH_ERR_CUDA, "CUDA");
    CHECK_FAILURE(THStorage_newPinned(TH_FLOAT32, 4) == NULL, TH_ERR_CUDA, "CUDA");
    CHECK_FAILURE(!THCuda_canAccessPeer(0, 1), TH_ERR_CUDA, "CUDA");
    CHECK_ERROR(THCuda_setPeerAccess(0, 1, 1), TH_ERR_CUDA, "CUDA");
    THCudaProperties properties;
    CHECK_ERROR(THCuda_properties(0, &properties), TH_ERR_CUDA, "CUDA");
    CHECK_EQ(THTensor_isPinned(t), 0);
    /* On the host an asynchronous copy is an ordinary copy. */
    THTensor *copy = THTensor_new();
    CHECK_OK(THTensor_copyAsync(copy, t));
    all_are(copy, 1);
    THTensor_free(copy);
    THTensor_free(t);
}

static void arguments_are_checked(void) {
    CHECK_ERROR(THCudaStream_setCurrent(NULL), TH_ERR_ARGUMENT, "stream");
    CHECK_ERROR(THCudaEvent_record(NULL, NULL), TH_ERR_ARGUMENT, "event");
    CHECK_FAILURE(THCudaStream_new(-1, 0) == NULL, TH_ERR_ARGUMENT, "device -1");
    if (gpus == 0) return;
    CHECK_FAILURE(THCudaStream_new(gpus, 0) == NULL, TH_ERR_CUDA, "no GPU");
    THCudaStream *stream = THCudaStream_newForeign(0, NULL);
    CHECK_ERROR(THCudaStream_addCallback(stream, NULL, NULL), TH_ERR_ARGUMENT, "function");
    THTensor *host = filled(1);
    CHECK_ERROR(THTensor_recordStream(host, stream), TH_ERR_DEVICE, "the tensor is on cpu");
    if (gpus > 1) {
        THCudaEvent *event = THCudaEvent_new(1, 0);
        CHECK_ERROR(THCudaEvent_record(event, stream), TH_ERR_DEVICE, "cuda:1 and cuda:0");
        THCudaEvent_free(event);
    }
    THTensor_free(host);
    THCudaStream_free(stream);
}

static void operations_go_to_the_threads_stream(void) {
    if (gpus == 0) return;
    THCudaStream *stream = THCudaStream_new(0, 0);
    CHECK(THCudaStream_pointer(stream) != NULL);
    CHECK_EQ(THCudaStream_device(stream), 0);
    CHECK_OK(THCudaStream_setCurrent(stream));
    THCudaStream *current = THCudaStream_newCurrent(0);
    CHECK(THCudaStream_pointer(current) == THCudaStream_pointer(stream));
    THCudaStream_free(current);
    THTensor *t = on_gpu(3);
    CHECK_OK(THTensor_mul(t, t, 2));
    CHECK_OK(THCudaStream_synchronize(stream));
    CHECK(THCudaStream_isIdle(stream));
    all_are(t, 6);
    /* The thread keeps its stream alive, and memory of a freed stream stays valid. */
    THCudaStream_retain(stream);
    THCudaStream_free(stream);
    THCudaStream_free(stream);
    CHECK_OK(THTensor_add(t, t, 1));
    default_stream();
    all_are(t, 7);
    THTensor_free(t);
}

static void a_stream_waits_for_another(void) {
    if (gpus == 0) return;
    THCudaStream *first = THCudaStream_new(0, 0), *second = THCudaStream_new(0, -1);
    THCudaEvent *event = THCudaEvent_new(0, 0);
    CHECK_OK(THCudaStream_setCurrent(first));
    THTensor *a = on_gpu(1), *r = THTensor_new();
    CHECK_OK(THTensor_add(a, a, 4));
    CHECK_OK(THCudaEvent_record(event, first));
    CHECK_OK(THCudaStream_setCurrent(second));
    CHECK_OK(THCudaStream_waitEvent(second, event));
    CHECK_OK(THTensor_mul(r, a, 2));
    all_are(r, 10);
    CHECK_OK(THCudaStream_wait(first, second));
    CHECK_OK(THCudaStream_setCurrent(first));
    CHECK_OK(THTensor_add(r, r, 1));
    all_are(r, 11);
    CHECK_OK(THCudaEvent_synchronize(event));
    CHECK(THCudaEvent_hasPassed(event));
    default_stream();
    THTensor_free(a);
    THTensor_free(r);
    THCudaEvent_free(event);
    THCudaStream_free(first);
    THCudaStream_free(second);
}

static void events_measure_time(void) {
    if (gpus == 0) return;
    THCudaStream *stream = THCudaStream_newCurrent(0);
    THCudaEvent *start = THCudaEvent_new(0, 1), *end = THCudaEvent_new(0, 1), *mute = THCudaEvent_new(0, 0);
    CHECK_FAILURE(isnan(THCudaEvent_elapsed(start, end)), TH_ERR_ARGUMENT, "not recorded");
    CHECK_OK(THCudaEvent_record(start, stream));
    THTensor *t = on_gpu(1);
    CHECK_OK(THTensor_exp(t, t));
    CHECK_OK(THCudaEvent_record(end, stream));
    CHECK_OK(THCudaEvent_record(mute, stream));
    CHECK_OK(THCudaEvent_synchronize(end));
    double milliseconds = THCudaEvent_elapsed(start, end);
    CHECK(milliseconds >= 0 && milliseconds < 60000);
    CHECK_OK(THCudaEvent_synchronize(mute));
    CHECK_FAILURE(isnan(THCudaEvent_elapsed(start, mute)), TH_ERR_ARGUMENT, "measures no time");
    THCudaEvent_retain(start);
    THCudaEvent_free(start);
    THCudaEvent_free(start);
    THCudaEvent_free(end);
    THCudaEvent_free(mute);
    THTensor_free(t);
    THCudaStream_free(stream);
}

static void count(void *context) { ++*(int *)context; }

static void functions_are_called_between_the_work(void) {
    if (gpus == 0) return;
    THCudaStream *stream = THCudaStream_newCurrent(0);
    int calls = 0;
    THTensor *t = on_gpu(1);
    CHECK_OK(THCudaStream_addCallback(stream, count, &calls));
    CHECK_OK(THCudaStream_addCallback(stream, count, &calls));
    CHECK_OK(THCudaStream_synchronize(stream));
    CHECK_EQ(calls, 2);
    THTensor_free(t);
    THCudaStream_free(stream);
}

static void pinned_memory_is_counted(void) {
    THCudaMemory before, during, after;
    if (gpus == 0) {
        CHECK_ERROR(THCuda_pinnedMemory(&before), TH_ERR_CUDA, "THCuda_pinnedMemory");
        return;
    }
    CHECK_OK(THCuda_emptyCache(0));
    CHECK_OK(THCuda_pinnedMemory(&before));
    CHECK_EQ(before.cached_bytes, 0);
    CHECK(before.free_bytes > 0 && before.free_bytes <= before.total_bytes);
    THStorage *storage = THStorage_newPinned(TH_UINT8, 1 << 20);
    CHECK_OK(THCuda_pinnedMemory(&during));
    CHECK_EQ(during.live_bytes - before.live_bytes, 1 << 20);
    THStorage_free(storage);
    CHECK_OK(THCuda_pinnedMemory(&after));
    CHECK_EQ(after.live_bytes, before.live_bytes);
    CHECK_EQ(after.cached_bytes, 1 << 20);
    CHECK(after.peak_bytes >= during.live_bytes);
}

static void pinned_memory_is_copied_from_while_the_host_goes_on(void) {
    if (gpus == 0) return;
    THTensor *host = filled(2), *pinned = THTensor_newPinned(host), *there = THTensor_newWithSizesOn(TH_FLOAT32, TH_CUDA, 0, SIZES(N));
    CHECK(THTensor_isPinned(pinned) && !THTensor_isPinned(host));
    CHECK_EQ(THTensor_deviceType(pinned), TH_CPU);
    CHECK_OK(THTensor_copyAsync(there, pinned));
    CHECK_OK(THTensor_add(there, there, 3));
    CHECK_OK(THTensor_copyAsync(pinned, there));
    CHECK_OK(THCuda_synchronize(0));
    all_are(pinned, 5);
    /* From memory that is not pinned, the copy is made at once. */
    CHECK_OK(THTensor_copyAsync(there, host));
    CHECK_OK(THTensor_fill(host, 0));
    all_are(there, 2);
    /* Pinned memory that is freed before its copies are done is reused only after them. */
    THTensor *sum = on_gpu(0);
    for (int k = 1; k <= 20; k++) {
        CHECK_OK(THTensor_fill(host, k));
        THTensor *from = THTensor_newPinned(host), *moved = THTensor_newToDevice(from, TH_CUDA, 0, TH_UNDEFINED, 1, 0);
        THTensor_free(from);
        CHECK_OK(THTensor_cadd(sum, sum, 1, moved));
        THTensor_free(moved);
    }
    all_are(sum, 210);
    THStorage *storage = THStorage_newPinned(TH_INT32, 100);
    CHECK_EQ(THStorage_size(storage), 100);
    CHECK_OK(THStorage_resize(storage, 10000));
    THStorage_free(storage);
    CHECK_OK(THCuda_emptyCache(0));
    THTensor *all[] = {host, pinned, there, sum};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
}

static void memory_waits_for_the_streams_that_reach_it(void) {
    if (gpus == 0) return;
    THCudaStream *first = THCudaStream_new(0, 0), *second = THCudaStream_new(0, 0);
    CHECK_OK(THCudaStream_setCurrent(first));
    THTensor *t = on_gpu(1), *r = THTensor_new();
    CHECK_OK(THCudaStream_wait(second, first));
    CHECK_OK(THCudaStream_setCurrent(second));
    CHECK_OK(THTensor_add(r, t, 1));
    CHECK_OK(THTensor_recordStream(t, second));
    void *data = THTensor_data(t);
    THTensor_free(t);
    CHECK_OK(THCudaStream_setCurrent(first));
    THTensor *other = on_gpu(100);
    CHECK(THTensor_data(other) == data);
    CHECK_OK(THCudaStream_synchronize(first));
    CHECK_OK(THCudaStream_setCurrent(second));
    all_are(r, 2);
    default_stream();
    THTensor_free(other);
    THTensor_free(r);
    THCudaStream_free(first);
    THCudaStream_free(second);
}

static void work_is_captured_and_done_again(void) {
    if (gpus == 0) return;
    CHECK_ERROR(THCudaGraph_begin(0), TH_ERR_ARGUMENT, "the default stream of cuda:0");
    CHECK_FAILURE(THCudaGraph_newCaptured(0) == NULL, TH_ERR_ARGUMENT, "no capture");
    THCudaStream *stream = THCudaStream_new(0, 0);
    CHECK_OK(THCudaStream_setCurrent(stream));
    THTensor *a = on_gpu(1), *b = on_gpu(2), *r = on_gpu(0), *product = THTensor_new();
    CHECK_OK(THTensor_cmul(product, a, b));
    CHECK_OK(THTensor_cadd(r, r, 1, product));
    CHECK_OK(THTensor_reset(product));
    CHECK_OK(THTensor_zero(r));
    CHECK_OK(THCudaGraph_begin(0));
    CHECK_OK(THTensor_cmul(product, a, b));
    CHECK_OK(THTensor_cadd(r, r, 1, product));
    CHECK_OK(THTensor_reset(product));
    THCudaGraph *graph = THCudaGraph_newCaptured(0);
    CHECK(graph != NULL);
    all_are(r, 0);
    CHECK_OK(THCudaGraph_launch(graph));
    CHECK_OK(THTensor_fill(a, 10));
    /* Memory that the graph writes to is not reused. */
    THTensor *other = on_gpu(7);
    THCudaGraph_retain(graph);
    THCudaGraph_free(graph);
    CHECK_OK(THCudaGraph_launch(graph));
    CHECK_OK(THCudaGraph_launch(graph));
    all_are(other, 7);
    all_are(r, 42);
    /* A call that must wait for the GPU ends the capture. */
    CHECK_OK(THCudaGraph_begin(0));
    CHECK_ERROR(THCudaGraph_begin(0), TH_ERR_ARGUMENT, "captured already");
    CHECK_FAILURE(isnan(THTensor_sumall(a)), TH_ERR_CUDA, "");
    CHECK_FAILURE(THCudaGraph_newCaptured(0) == NULL, TH_ERR_CUDA, "capture");
    CHECK_OK(THTensor_add(r, r, 1));
    all_are(r, 43);
    THCudaGraph_free(graph);
    default_stream();
    THTensor *all[] = {a, b, r, product, other};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
    THCudaStream_free(stream);
}

static void gpus_wait_for_each_other(void) {
    if (gpus < 2) return;
    THCudaStream *here = THCudaStream_new(0, 0), *there = THCudaStream_new(1, 0);
    CHECK_OK(THCudaStream_setCurrent(here));
    CHECK_OK(THCudaStream_setCurrent(there));
    THTensor *a = on_gpu(1);
    CHECK_OK(THTensor_add(a, a, 1));
    THTensor *b = THTensor_newCuda(a, 1);
    /* The copy is made before later writes to its source. */
    CHECK_OK(THTensor_fill(a, 50));
    CHECK_OK(THTensor_mul(b, b, 3));
    CHECK_OK(THCudaStream_wait(here, there));
    all_are(b, 6);
    int can = THCuda_canAccessPeer(0, 1);
    if (can) {
        CHECK_OK(THCuda_setPeerAccess(0, 1, 1));
        CHECK_OK(THCuda_setPeerAccess(0, 1, 1));
        CHECK_OK(THTensor_copy(a, b));
        CHECK_OK(THCuda_setPeerAccess(0, 1, 0));
        CHECK_OK(THCuda_setPeerAccess(0, 1, 0));
        all_are(a, 6);
    }
    default_stream();
    THCudaStream *last = THCudaStream_newForeign(1, NULL);
    CHECK_OK(THCudaStream_setCurrent(last));
    THCudaStream_free(last);
    THTensor_free(a);
    THTensor_free(b);
    THCudaStream_free(here);
    THCudaStream_free(there);
}

CHECK_MAIN(CASE(without_a_gpu_everything_says_what_is_missing), CASE(arguments_are_checked), CASE(operations_go_to_the_threads_stream),
           CASE(a_stream_waits_for_another), CASE(events_measure_time), CASE(functions_are_called_between_the_work),
           CASE(pinned_memory_is_counted), CASE(pinned_memory_is_copied_from_while_the_host_goes_on), CASE(memory_waits_for_the_streams_that_reach_it),
           CASE(work_is_captured_and_done_again), CASE(gpus_wait_for_each_other))
