/* Captures and their graphs: memory, streams that join, calls that are forbidden during a capture, and optimizers. Without a GPU the cases
 * do nothing. The emulated driver of tests/cuda_emu forbids during captures the calls that CUDA forbids. */

#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>

enum { N = 4096 };

static int gpus;
static THCudaStream *main_stream, *side_stream, *default_stream;

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

/* Begins a case with two streams, the first of which becomes this thread's stream. Returns 0 without a GPU. */
static int begin(void) {
    gpus = THCuda_deviceCount();
    THClearLastError();
    if (gpus == 0) return 0;
    main_stream = THCudaStream_new(0, 0);
    side_stream = THCudaStream_new(0, 0);
    default_stream = THCudaStream_newForeign(0, NULL);
    CHECK_OK(THCudaStream_setCurrent(main_stream));
    return 1;
}

static void end(void) {
    CHECK_OK(THCudaStream_setCurrent(default_stream));
    THCudaStream_free(main_stream);
    THCudaStream_free(side_stream);
    THCudaStream_free(default_stream);
}

/* Launches a graph, and waits for it. */
static void launch(THCudaGraph *graph) {
    CHECK_OK(THCudaGraph_launch(graph));
    CHECK_OK(THCudaStream_synchronize(main_stream));
}

/* Work on the second of two GPUs makes no context on the first GPU, where a context would use memory. */
static void only_the_gpu_that_is_used_is_opened(void) {
    gpus = THCuda_deviceCount();
    THClearLastError();
    if (gpus < 2) return;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    CHECK(driver != NULL);
    int (*state)(int, unsigned *, int *);
    *(void **)&state = dlsym(driver, "cuDevicePrimaryCtxGetState");
    unsigned flags;
    int active = 1;
    THTensor *t = THTensor_newWithSizesOn(TH_FLOAT32, TH_CUDA, 1, SIZES(N)), *host = THTensor_newOnes(TH_FLOAT32, SIZES(N));
    THTensor *pinned = THTensor_newPinned(host);
    CHECK(THTensor_isPinned(pinned) && !THTensor_isPinned(host));
    CHECK_OK(THTensor_copyAsync(t, pinned));
    CHECK_OK(THCuda_synchronize(1));
    THTensor_free(pinned);
    CHECK_OK(THCuda_emptyCache(1));
    all_are(t, 1);
    CHECK_EQ(state(0, &flags, &active), 0);
    CHECK_EQ(active, 0);
    CHECK_EQ(state(1, &flags, &active), 0);
    CHECK_EQ(active, 1);
    THTensor_free(t);
    THTensor_free(host);
    dlclose(driver);
}

/* A temporary tensor that a second stream of the capture makes belongs to the graph, and its memory is not shared with the first stream. */
static void memory_of_joined_streams_belongs_to_the_graph(void) {
    if (!begin()) return;
    CHECK_OK(THCudaStream_setCurrent(side_stream));
    THTensor *warm = on_gpu(1);
    CHECK_OK(THTensor_mul(warm, warm, 2));
    CHECK_OK(THTensor_cadd(warm, warm, 1, warm));
    CHECK_OK(THCudaStream_synchronize(side_stream));
    THTensor_free(warm);
    CHECK_OK(THCudaStream_setCurrent(main_stream));
    THTensor *a = on_gpu(1), *r = on_gpu(0), *s = on_gpu(0);
    CHECK_OK(THCudaGraph_begin(0));
    CHECK_OK(THCudaStream_wait(side_stream, main_stream));
    CHECK_OK(THCudaStream_setCurrent(side_stream));
    THTensor *t = THTensor_new();
    CHECK_OK(THTensor_mul(t, a, 2));
    void *data = THTensor_data(t);
    CHECK_OK(THTensor_cadd(r, a, 1, t));
    THTensor_free(t);
    CHECK_OK(THCudaStream_setCurrent(main_stream));
    t = THTensor_new();
    CHECK_OK(THTensor_mul(t, a, 5));
    CHECK(THTensor_data(t) != data);
    CHECK_OK(THTensor_cadd(s, a, 1, t));
    THTensor_free(t);
    CHECK_OK(THCudaStream_wait(main_stream, side_stream));
    THCudaGraph *graph = THCudaGraph_newCaptured(0);
    CHECK(graph != NULL);
    launch(graph);
    all_are(r, 3);
    all_are(s, 6);
    /* Neither stream gets the memory afterwards. */
    THTensor *others[2];
    for (int k = 0; k < 2; k++) {
        CHECK_OK(THCudaStream_setCurrent(k ? main_stream : side_stream));
        others[k] = on_gpu(100);
        CHECK_OK(THCudaStream_synchronize(k ? main_stream : side_stream));
    }
    launch(graph);
    for (int k = 0; k < 2; k++) {
        all_are(others[k], 100);
        THTensor_free(others[k]);
    }
    THCudaGraph_free(graph);
    THTensor_free(a);
    THTensor_free(r);
    THTensor_free(s);
    end();
}

/* A stream is freed while it is captured. If the capture began in the stream, the capture is abandoned, and a later stream can be captured.
 * A stream that has joined the capture lives until the capture ends. */
static void streams_may_be_freed_while_they_are_captured(void) {
    if (!begin()) return;
    for (int k = 0; k < 4; k++) {
        THCudaStream *stream = THCudaStream_new(0, 0);
        CHECK_OK(THCudaStream_setCurrent(stream));
        CHECK_OK(THCudaGraph_begin(0));
        THTensor *t = on_gpu(1);
        CHECK_OK(THCudaStream_setCurrent(default_stream));
        THCudaStream_free(stream);
        THTensor_free(t);
    }
    CHECK_OK(THCuda_emptyCache(0));
    THCudaMemory memory;
    CHECK_OK(THCuda_memory(0, &memory));
    CHECK_EQ(memory.live_bytes, 0);
    CHECK_EQ(memory.cached_bytes, 0);

    CHECK_OK(THCudaStream_setCurrent(main_stream));
    THTensor *a = on_gpu(1), *r = on_gpu(0);
    CHECK_OK(THCudaGraph_begin(0));
    THCudaStream *joined = THCudaStream_new(0, 0);
    CHECK_OK(THCudaStream_wait(joined, main_stream));
    CHECK_OK(THCudaStream_setCurrent(joined));
    CHECK_OK(THTensor_add(r, a, 4));
    CHECK_OK(THCudaStream_wait(main_stream, joined));
    CHECK_OK(THCudaStream_setCurrent(main_stream));
    THCudaStream_free(joined);
    THCudaGraph *graph = THCudaGraph_newCaptured(0);
    CHECK(graph != NULL);
    launch(graph);
    all_are(r, 5);
    THCudaGraph_free(graph);
    THTensor_free(a);
    THTensor_free(r);
    end();
}

/* A tensor of another stream that a captured stream reads, and a tensor of the captured stream, are freed during the capture. The graph
 * owns their memory until the graph is freed. */
static void tensors_may_be_freed_while_their_use_is_captured(void) {
    if (!begin()) return;
    for (int owner = 0; owner < 3; owner++) {
        CHECK_OK(THCudaStream_setCurrent(owner == 0 ? default_stream : owner == 1 ? side_stream : main_stream));
        THTensor *a = on_gpu(1);
        void *data = THTensor_data(a);
        CHECK_OK(THCuda_synchronize(0));
        CHECK_OK(THCudaStream_setCurrent(main_stream));
        THTensor *r = on_gpu(0);
        CHECK_OK(THCudaGraph_begin(0));
        CHECK_OK(THTensor_mul(r, a, 2));
        CHECK_OK(THTensor_recordStream(a, main_stream));
        THTensor_free(a);
        CHECK_OK(THTensor_mul(r, r, 2));
        THCudaGraph *graph = THCudaGraph_newCaptured(0);
        CHECK(graph != NULL);
        CHECK_OK(THCudaStream_setCurrent(owner == 0 ? default_stream : owner == 1 ? side_stream : main_stream));
        THTensor *other = on_gpu(5);
        CHECK(THTensor_data(other) != data);
        CHECK_OK(THCuda_synchronize(0));
        CHECK_OK(THCudaStream_setCurrent(main_stream));
        launch(graph);
        all_are(r, 4);
        all_are(other, 5);
        THCudaGraph_free(graph);
        /* Afterwards the owner gets the memory again. */
        CHECK_OK(THCudaStream_setCurrent(owner == 0 ? default_stream : owner == 1 ? side_stream : main_stream));
        THTensor *again = on_gpu(6);
        CHECK(THTensor_data(again) == data);
        CHECK_OK(THCuda_synchronize(0));
        THTensor_free(again);
        THTensor_free(other);
        THTensor_free(r);
        CHECK_OK(THCuda_emptyCache(0));
    }
    end();
}

static void a_graph_ends_while_another_is_captured(void) {
    if (!begin()) return;
    THTensor *a = on_gpu(1);
    CHECK_OK(THTensor_add(a, a, 1));
    CHECK_OK(THCudaGraph_begin(0));
    CHECK_OK(THTensor_add(a, a, 1));
    THCudaGraph *first = THCudaGraph_newCaptured(0);
    CHECK_OK(THCudaGraph_launch(first));
    CHECK_OK(THCudaGraph_begin(0));
    /* A call that would end the capture is refused, and the capture continues. */
    CHECK_ERROR(THCudaGraph_launch(first), TH_ERR_ARGUMENT, "being captured");
    CHECK_ERROR(THCuda_synchronize(0), TH_ERR_ARGUMENT, "a stream of cuda:0 is being captured");
    CHECK_ERROR(THCuda_emptyCache(0), TH_ERR_ARGUMENT, "a stream of cuda:0 is being captured");
    THCudaGraph_free(first);
    CHECK_OK(THTensor_add(a, a, 10));
    THCudaGraph *second = THCudaGraph_newCaptured(0);
    CHECK(second != NULL);
    launch(second);
    all_are(a, 13);
    THCudaGraph_free(second);
    THTensor_free(a);
    end();
}

/* Copies of pinned memory in a capture: the block is not reused before the graph is freed. */
static void pinned_memory_in_a_graph_is_kept(void) {
    if (!begin()) return;
    THTensor *host = THTensor_newOnes(TH_FLOAT32, SIZES(N)), *pinned = THTensor_newPinned(host), *a = on_gpu(0), *b = on_gpu(0);
    CHECK_OK(THTensor_copyAsync(a, pinned));
    CHECK_OK(THTensor_add(b, a, 1));
    CHECK_OK(THCudaStream_synchronize(main_stream));
    CHECK_OK(THCudaGraph_begin(0));
    CHECK_OK(THTensor_copyAsync(a, pinned));
    CHECK_OK(THTensor_copyAsync(b, pinned));
    CHECK_OK(THTensor_cadd(b, b, 1, a));
    CHECK_OK(THTensor_copyAsync(pinned, b));
    THCudaGraph *graph = THCudaGraph_newCaptured(0);
    CHECK(graph != NULL);
    launch(graph);
    all_are(pinned, 2);
    launch(graph);
    all_are(pinned, 4);
    THTensor_free(pinned);
    CHECK_OK(THCuda_emptyCache(0));
    THTensor *other = THTensor_newPinned(host);
    CHECK_OK(THTensor_fill(other, 50));
    launch(graph);
    all_are(other, 50);
    all_are(b, 8);
    THTensor_free(other);
    THCudaGraph_free(graph);
    CHECK_OK(THCuda_emptyCache(0));
    THCudaMemory memory;
    CHECK_OK(THCuda_pinnedMemory(&memory));
    CHECK_EQ(memory.live_bytes + memory.cached_bytes, 0);
    THTensor_free(host);
    THTensor_free(a);
    THTensor_free(b);
    end();
}

/* One step of gradient descent for sum(w^2). */
static void step(THTensor *w, THOptim *optimizer) {
    THTensor *square = THTensor_new(), *loss = THTensor_new();
    CHECK_OK(THTensor_cmul(square, w, w));
    CHECK_OK(THTensor_sum(loss, square, TH_ALL_DIMS, 0));
    CHECK_OK(THOptim_zeroGrad(optimizer, 1));
    CHECK_OK(THTensor_backward(loss, NULL));
    CHECK_OK(THOptim_step(optimizer));
    THTensor_free(square);
    THTensor_free(loss);
}

/* The same optimizer makes the same steps on the host and in a graph of a GPU, also when eager steps follow. */
static void adam_counts_the_steps_of_a_graph(void) {
    if (!begin()) return;
    for (int kind = 0; kind < 4; kind++) {
        double after[2];
        for (int graph = 0; graph < 2; graph++) {
            THTensor *w = THTensor_newFull(kind == 3 ? TH_FLOAT16 : TH_FLOAT32, SIZES(4), 1);
            if (graph) {
                THTensor *there = THTensor_newCuda(w, 0);
                THTensor_free(w);
                w = there;
            }
            CHECK_OK(THTensor_setRequiresGrad(w, 1));
            THTensor *params[1] = {w};
            THOptim *optimizer = kind == 0   ? THOptim_newAdam(params, 1, 0.1, 0.9, 0.999, 1e-8, 0, 0)
                                 : kind == 1 ? THOptim_newAdam(params, 1, 0.1, 0.8, 0.99, 1e-3, 0.01, 1)
                                             : THOptim_newAdamw(params, 1, 0.1, 0.9, 0.999, 1e-8, 0.1, 0);
            CHECK_OK(THOptim_set(optimizer, 0, "masterWeights", kind == 3));
            step(w, optimizer);
            step(w, optimizer);
            if (graph) {
                CHECK_OK(THCudaGraph_begin(0));
                step(w, optimizer);
                THCudaGraph *captured = THCudaGraph_newCaptured(0);
                CHECK(captured != NULL);
                for (int k = 0; k < 6; k++) CHECK_OK(THCudaGraph_launch(captured));
                step(w, optimizer);
                CHECK_OK(THCudaGraph_launch(captured));
                CHECK_OK(THCudaStream_synchronize(main_stream));
                THCudaGraph_free(captured);
            } else {
                for (int k = 0; k < 8; k++) step(w, optimizer);
            }
            THTensor *value = THTensor_newDetach(w);
            after[graph] = THTensor_getAt(value, SIZES(0));
            THTensor_free(value);
            THOptim_free(optimizer);
            THTensor_free(w);
        }
        CHECK(after[0] < 0.5);
        /* A gradient of 16 bits may be rounded to the next number. */
        CHECK_NEAR(after[1], after[0], kind == 3 ? 2e-3 : 2e-6);
    }
    end();
}

/* A graph would start with fresh optimizer states at each launch. Optimizers without a state can be captured at once. */
static void the_first_step_is_not_captured(void) {
    if (!begin()) return;
    THTensor *w = on_gpu(1);
    CHECK_OK(THTensor_setRequiresGrad(w, 1));
    THTensor *params[1] = {w};
    THOptim *all[] = {THOptim_newAdam(params, 1, 0.1, 0.9, 0.999, 1e-8, 0, 0), THOptim_newRmsprop(params, 1, 0.1, 0.99, 1e-8, 0, 0, 0),
                      THOptim_newSgd(params, 1, 0.1, 0.9, 0, 0, 0), THOptim_newSgd(params, 1, 0.25, 0, 0, 0, 0)};
    THOptim *plain = THOptim_newSgd(params, 1, 0, 0, 0, 0, 0);
    step(w, plain);
    for (int k = 0; k < 4; k++) {
        CHECK_OK(THCudaGraph_begin(0));
        if (k < 3) {
            CHECK_ERROR(THOptim_step(all[k]), TH_ERR_ARGUMENT, "parameter 0 has made no step");
        } else {
            CHECK_OK(THOptim_step(all[k]));
        }
        THCudaGraph *graph = THCudaGraph_newCaptured(0);
        CHECK(graph != NULL);
        if (k == 3) launch(graph);
        THCudaGraph_free(graph);
        THOptim_free(all[k]);
    }
    /* Adafactor computes the length of a step on the host. */
    THOptim *adafactor = THOptim_newAdafactor(params, 1, 0, -0.8, -1, 1e-3, 1, 0);
    CHECK_OK(THOptim_step(adafactor));
    CHECK_OK(THCudaGraph_begin(0));
    CHECK_ERROR(THOptim_step(adafactor), TH_ERR_UNSUPPORTED, "Adafactor computes the size of each step on the host");
    THCudaGraph_free(THCudaGraph_newCaptured(0));
    THOptim_free(adafactor);
    THTensor *value = THTensor_newDetach(w);
    all_are(value, 0.5);
    THTensor_free(value);
    THOptim_free(plain);
    THTensor_free(w);
    end();
}

/* Memory of one large tensor is reused for several small ones. */
static void freed_memory_is_cut_and_joined(void) {
    if (!begin()) return;
    CHECK_OK(THCuda_emptyCache(0));
    THCudaMemory memory;
    CHECK_OK(THCuda_memory(0, &memory));
    int64_t before = memory.live_bytes + memory.cached_bytes;
    for (int round = 0; round < 3; round++) {
        THTensor *large = THTensor_newWithSizesOn(TH_UINT8, TH_CUDA, 0, SIZES(32 << 20)), *parts[8];
        THTensor_free(large);
        for (int k = 0; k < 8; k++) {
            parts[k] = THTensor_newWithSizesOn(TH_UINT8, TH_CUDA, 0, SIZES(4 << 20));
            CHECK(parts[k] != NULL);
        }
        for (int k = 0; k < 8; k++) THTensor_free(parts[(k * 3) % 8]);
    }
    CHECK_OK(THCuda_memory(0, &memory));
    const char *exact = getenv("TH_CUDA_EXACT");
    CHECK_EQ(memory.live_bytes + memory.cached_bytes - before, (exact && *exact == '1' ? 64 : 32) << 20);
    CHECK_OK(THCuda_emptyCache(0));
    end();
}

CHECK_MAIN(CASE(only_the_gpu_that_is_used_is_opened), CASE(memory_of_joined_streams_belongs_to_the_graph),
           CASE(streams_may_be_freed_while_they_are_captured), CASE(tensors_may_be_freed_while_their_use_is_captured),
           CASE(a_graph_ends_while_another_is_captured), CASE(pinned_memory_in_a_graph_is_kept), CASE(adam_counts_the_steps_of_a_graph),
           CASE(the_first_step_is_not_captured), CASE(freed_memory_is_cut_and_joined))
