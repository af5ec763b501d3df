/* Collectives and messages over NCCL: include/thorn_nccl.h with the stand-in of nccl.c and a CUDA driver, usually the emulated driver of
 * tests/cuda_emu. Ranks are threads, each with its own GPU, or all belong to one thread. */

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "check.h"
#include "thorn_nccl.h"

#include <pthread.h>

enum { MOST = 4 };

static int gpus;

/* ---- ranks ---- */

typedef struct Rank {
    ncclUniqueId id;
    int rank, size;
    void (*run)(THNccl *nccl);
} Rank;

static void *be_rank(void *data) {
    const Rank *rank = data;
    THNccl *nccl = TH_NCCL_newRank(rank->id, rank->size, rank->rank, rank->rank);
    THCudaStream *stream = THCudaStream_new(rank->rank, 0);
    if (CHECK(nccl != NULL) && CHECK(stream != NULL)) {
        CHECK_OK(THCudaStream_setCurrent(stream));
        CHECK_EQ(nccl->rank, rank->rank);
        CHECK_EQ(nccl->size, rank->size);
        CHECK_EQ(nccl->device, rank->rank);
        rank->run(nccl);
        CHECK_OK(THCudaStream_synchronize(stream));
    }
    TH_NCCL_free(nccl);
    THCudaStream_free(stream);
    return NULL;
}

/* Runs a function on `size` ranks, each a thread. */
static void on_threads(int size, void (*run)(THNccl *nccl)) {
    pthread_t threads[MOST];
    Rank ranks[MOST];
    ncclUniqueId id;
    ncclGetUniqueId(&id);
    for (int r = 0; r < size; r++) {
        ranks[r] = (Rank){id, r, size, run};
        pthread_create(&threads[r], NULL, be_rank, &ranks[r]);
    }
    for (int r = 0; r < size; r++) pthread_join(threads[r], NULL);
}

/* Runs a function on one rank, on two, and on as many as there are GPUs. */
static void on_ranks(void (*run)(THNccl *nccl)) {
    if (gpus > 0) on_threads(1, run);
    if (gpus > 1) on_threads(2, run);
    if (gpus > 2) on_threads(gpus < MOST ? gpus : MOST, run);
}

/* Makes communicators for this thread. */
static void new_ranks(THNccl **nccl, ncclComm_t *comm, int size) {
    ncclCommInitAll(comm, size, NULL);
    for (int r = 0; r < size; r++) CHECK((nccl[r] = TH_NCCL_new(comm[r])) != NULL);
}

static void free_ranks(THNccl **nccl, ncclComm_t *comm, int size) {
    for (int r = 0; r < size; r++) {
        TH_NCCL_free(nccl[r]);
        ncclCommDestroy(comm[r]);
    }
}

/* ---- tensors ---- */

/* The 4 x 8 elements of a rank on the host: small integers that differ from rank to rank. */
static THTensor *elements(THDtype dtype, int rank) {
    double values[32];
    for (int i = 0; i < 32; i++) values[i] = dtype == TH_BOOL ? (i >> rank) & 1 : (i * 7 + rank * 3) % 5 + 1;
    THTensor *doubles = THTensor_newFromData(TH_FLOAT64, SIZES(4, 8), values), *t = THTensor_newTo(doubles, dtype);
    THTensor_free(doubles);
    return t;
}

/* Zeros on a GPU, 4 x 8 or of other sizes, in the given memory layout. */
static THTensor *zeros_on(int device, THDtype dtype, int64_t rows, int64_t columns, enum layout layout) {
    THTensor *t;
    if (layout == TRANSPOSED) {
        t = THTensor_newWithSizesOn(dtype, TH_CUDA, device, SIZES(columns, rows));
        CHECK_OK(THTensor_t(t, t));
    } else if (layout == STEPPED) {
        t = THTensor_newWithSizesOn(dtype, TH_CUDA, device, SIZES(rows, 2 * columns));
        CHECK_OK(THTensor_slice(t, t, 1, 1, 2 * columns, 2));
    } else {
        t = THTensor_newWithSizesOn(dtype, TH_CUDA, device, SIZES(rows, columns));
    }
    CHECK_OK(THTensor_zero(t));
    return t;
}

/* The elements of a rank on its GPU. */
static THTensor *input(const THNccl *nccl, THDtype dtype, enum layout layout) {
    THTensor *host = elements(dtype, nccl->rank), *t = zeros_on(nccl->device, dtype, 4, 8, layout);
    CHECK_OK(THTensor_copy(t, host));
    THTensor_free(host);
    return t;
}

/* Fails unless `t`, on a GPU, has the shape, the dtype and the elements of `expected`, on the host, which is freed. */
static void is(const THTensor *t, THTensor *expected) {
    THTensor *here = THTensor_newCpu(t);
    CHECK_EQ(THTensor_dtype(here), THTensor_dtype(expected));
    CHECK(THTensor_equal(here, expected) == 1);
    THTensor_free(here);
    THTensor_free(expected);
}

/* The elements of all ranks, reduced on the host. */
static THTensor *reduced_elements(THDtype dtype, ncclRedOp_t op, int ranks) {
    THTensor *sum = elements(dtype, 0);
    for (int r = 1; r < ranks; r++) {
        THTensor *t = elements(dtype, r);
        if (op == ncclSum || op == ncclAvg) CHECK_OK(THTensor_cadd(sum, sum, 1, t));
        if (op == ncclProd) CHECK_OK(THTensor_cmul(sum, sum, t));
        if (op == ncclMax) CHECK_OK(THTensor_cmax(sum, sum, t));
        if (op == ncclMin) CHECK_OK(THTensor_cmin(sum, sum, t));
        THTensor_free(t);
    }
    if (op == ncclAvg) CHECK_OK(THTensor_mul(sum, sum, 1.0 / ranks));
    return sum;
}

/* ---- cases ---- */

static void without_a_gpu_everything_says_what_is_missing(void) {
    gpus = THCuda_deviceCount();
    TH_NCCL_free(NULL);
    ncclUniqueId id;
    ncclGetUniqueId(&id);
    CHECK_FAILURE(TH_NCCL_newRank(id, 1, 0, gpus) == NULL, TH_ERR_CUDA, "no GPU");
    CHECK_FAILURE(TH_NCCL_new(NULL) == NULL, TH_ERR_ARGUMENT, "comm is NULL");
    if (gpus) CHECK_FAILURE(TH_NCCL_newRank(id, 1, 3, 0) == NULL, TH_ERR_ARGUMENT, "NCCL: invalid argument");
}

static void reduce_in_all_dtypes(THNccl *nccl) {
    static const ncclRedOp_t ops[] = {ncclSum, ncclProd, ncclMax, ncclMin};
    for (int k = 0; k < DTYPES; k++) {
        for (int o = 0; o < 4; o++) {
            THTensor *t = input(nccl, dtypes[k], ROW_MAJOR), *r = THTensor_new();
            int has = dtypes[k] == TH_BOOL ? o >= 2 : dtypes[k] != TH_INT16;
            if (has) {
                CHECK_OK(TH_NCCL_allReduce(r, t, ops[o], nccl));
                is(r, reduced_elements(dtypes[k], ops[o], nccl->size));
            } else {
                CHECK_ERROR(TH_NCCL_allReduce(r, t, ops[o], nccl), TH_ERR_DTYPE, THDtype_name(dtypes[k]));
                CHECK_EQ(THTensor_dtype(r), TH_UNDEFINED);
            }
            THTensor_free(t);
            THTensor_free(r);
        }
    }
}

static void all_reduce_takes_all_dtypes(void) { on_ranks(reduce_in_all_dtypes); }

static void reduce_in_all_layouts(THNccl *nccl) {
    for (enum layout from = ROW_MAJOR; from < LAYOUTS; from++) {
        for (enum layout to = ROW_MAJOR; to < LAYOUTS; to++) {
            THTensor *t = input(nccl, TH_FLOAT32, from), *r = zeros_on(nccl->device, TH_FLOAT32, 4, 8, to);
            THTensor *other = zeros_on(nccl->device, TH_FLOAT32, 3, 3, ROW_MAJOR), *typed = THTensor_newWithDtype(TH_FLOAT32);
            CHECK_OK(TH_NCCL_allReduce(r, t, ncclSum, nccl));
            is(r, reduced_elements(TH_FLOAT32, ncclSum, nccl->size));
            CHECK_OK(TH_NCCL_allReduce(other, t, ncclMax, nccl));
            is(other, reduced_elements(TH_FLOAT32, ncclMax, nccl->size));
            CHECK_OK(TH_NCCL_allReduce(typed, t, ncclAvg, nccl));
            is(typed, reduced_elements(TH_FLOAT32, ncclAvg, nccl->size));
            /* In place. */
            CHECK_OK(TH_NCCL_allReduce(t, t, ncclSum, nccl));
            is(t, reduced_elements(TH_FLOAT32, ncclSum, nccl->size));
            THTensor_free(t);
            THTensor_free(r);
            THTensor_free(other);
            THTensor_free(typed);
        }
    }
}

static void all_reduce_takes_all_layouts(void) { on_ranks(reduce_in_all_layouts); }

static void reduce_to_each_root(THNccl *nccl) {
    for (int root = 0; root < nccl->size; root++) {
        THTensor *t = input(nccl, TH_FLOAT64, TRANSPOSED), *r = THTensor_new();
        CHECK_OK(TH_NCCL_reduce(nccl->rank == root ? r : NULL, t, ncclSum, root, nccl));
        if (nccl->rank == root) is(r, reduced_elements(TH_FLOAT64, ncclSum, nccl->size));
        THTensor *b = input(nccl, TH_INT16, root % 2 ? STEPPED : ROW_MAJOR);
        CHECK_OK(TH_NCCL_broadcast(b, root, nccl));
        is(b, elements(TH_INT16, root));
        THTensor_free(t);
        THTensor_free(r);
        THTensor_free(b);
    }
}

static void reduce_and_broadcast_have_roots(void) { on_ranks(reduce_to_each_root); }

static void gather_along_dimensions(THNccl *nccl) {
    for (int d = -2; d < 2; d++) {
        for (enum layout layout = ROW_MAJOR; layout < LAYOUTS; layout++) {
            int64_t rows = (d & 1) ? 4 : 4 * nccl->size, columns = (d & 1) ? 8 * nccl->size : 8;
            THTensor *t = input(nccl, TH_BOOL, layout), *fresh = THTensor_new(), *parts[MOST], *joined = THTensor_new();
            THTensor *r = zeros_on(nccl->device, TH_BOOL, rows, columns, layout);
            for (int k = 0; k < nccl->size; k++) parts[k] = elements(TH_BOOL, k);
            CHECK_OK(THTensor_catArray(joined, parts, nccl->size, d));
            CHECK_OK(TH_NCCL_allGather(fresh, t, d, nccl));
            CHECK_OK(TH_NCCL_allGather(r, t, d, nccl));
            is(fresh, THTensor_newClone(joined));
            is(r, THTensor_newClone(joined));
            /* In place: the own part of the result. */
            CHECK_OK(THTensor_zero(r));
            THTensor *own = (d & 1) ? THTensor_newNarrow(r, 1, 8 * nccl->rank, 8) : THTensor_newNarrow(r, 0, 4 * nccl->rank, 4);
            CHECK_OK(THTensor_copy(own, t));
            CHECK_OK(TH_NCCL_allGather(r, own, d, nccl));
            is(r, joined);
            for (int k = 0; k < nccl->size; k++) THTensor_free(parts[k]);
            THTensor_free(own);
            THTensor_free(t);
            THTensor_free(fresh);
            THTensor_free(r);
        }
    }
}

static void all_gather_joins_along_any_dimension(void) { on_ranks(gather_along_dimensions); }

static void scatter_along_dimensions(THNccl *nccl) {
    if (nccl->size == 3) return;
    for (int d = 0; d < 2; d++) {
        for (enum layout layout = ROW_MAJOR; layout < LAYOUTS; layout++) {
            int64_t part = (d ? 8 : 4) / nccl->size;
            THTensor *t = input(nccl, TH_INT32, layout), *r = THTensor_new(), *sum = reduced_elements(TH_INT32, ncclSum, nccl->size);
            CHECK_OK(TH_NCCL_reduceScatter(r, t, ncclSum, d, nccl));
            THTensor *expected = THTensor_newNarrow(sum, d, nccl->rank * part, part);
            is(r, THTensor_newClone(expected));
            /* In place: the own part of the input. */
            THTensor *own = THTensor_newNarrow(t, d, nccl->rank * part, part);
            CHECK_OK(TH_NCCL_reduceScatter(own, t, ncclSum, d, nccl));
            is(own, expected);
            THTensor_free(own);
            THTensor_free(sum);
            THTensor_free(t);
            THTensor_free(r);
        }
    }
}

static void reduce_scatter_cuts_any_dimension(void) { on_ranks(scatter_along_dimensions); }

/* Each rank sends to the next one, and receives from the one before. */
static void pass_around(THNccl *nccl) {
    int next = (nccl->rank + 1) % nccl->size, last = (nccl->rank + nccl->size - 1) % nccl->size;
    for (enum layout layout = ROW_MAJOR; layout < LAYOUTS; layout++) {
        THTensor *t = input(nccl, TH_BFLOAT16, layout), *r = zeros_on(nccl->device, TH_BFLOAT16, 4, 8, (layout + 1) % LAYOUTS);
        CHECK_OK(TH_NCCL_groupStart(&nccl, 1));
        CHECK_OK(TH_NCCL_send(t, next, nccl));
        /* The group keeps a reference to its inputs. */
        THTensor_free(t);
        CHECK_OK(TH_NCCL_recv(r, last, nccl));
        CHECK_OK(TH_NCCL_groupEnd(&nccl, 1));
        is(r, elements(TH_BFLOAT16, last));
        THTensor_free(r);
    }
}

static void messages_go_around(void) { on_ranks(pass_around); }

static void one_thread_may_have_all_ranks(void) {
    if (gpus < 2) return;
    int size = gpus < MOST ? gpus : MOST;
    THNccl *nccl[MOST];
    ncclComm_t comm[MOST];
    THTensor *t[MOST], *sum[MOST], *all[MOST];
    new_ranks(nccl, comm, size);
    for (int r = 0; r < size; r++) {
        t[r] = input(nccl[r], TH_FLOAT32, r % LAYOUTS);
        sum[r] = THTensor_new();
        all[r] = zeros_on(r, TH_FLOAT32, 4, 8 * size, STEPPED);
    }
    CHECK_OK(TH_NCCL_groupStart(nccl, size));
    for (int r = 0; r < size; r++) CHECK_OK(TH_NCCL_allReduce(sum[r], t[r], ncclSum, nccl[r]));
    /* A nested group. */
    CHECK_OK(TH_NCCL_groupStart(nccl, size));
    for (int r = 0; r < size; r++) CHECK_OK(TH_NCCL_allGather(all[r], t[r], 1, nccl[r]));
    CHECK_OK(TH_NCCL_groupEnd(nccl, size));
    for (int r = 0; r < size; r++) CHECK_EQ(THTensor_dtype(sum[r]), TH_UNDEFINED);
    CHECK_OK(TH_NCCL_groupEnd(nccl, size));
    for (int r = 0; r < size; r++) {
        is(sum[r], reduced_elements(TH_FLOAT32, ncclSum, size));
        for (int k = 0; k < size; k++) {
            THTensor *part = THTensor_newNarrow(all[r], 1, 8 * k, 8);
            is(part, elements(TH_FLOAT32, k));
            THTensor_free(part);
        }
        THTensor_free(t[r]);
        THTensor_free(sum[r]);
        THTensor_free(all[r]);
    }
    CHECK_ERROR(TH_NCCL_groupEnd(nccl, size), TH_ERR_ARGUMENT, "without a group");
    free_ranks(nccl, comm, size);
}

/* Inputs may be freed, and their memory reused, before the stream has reached NCCL's work. */
static void free_at_once(THNccl *nccl) {
    THTensor *r = THTensor_new(), *other = THTensor_newFull(TH_FLOAT32, SIZES(64), 100);
    THCudaStream *mine = THCudaStream_newCurrent(nccl->device), *second = THCudaStream_new(nccl->device, 0);
    for (int round = 0; round < 3; round++) {
        THTensor *t = THTensor_newWithSizesOn(TH_FLOAT32, TH_CUDA, nccl->device, SIZES(64));
        CHECK_OK(THTensor_fill(t, nccl->rank + 1));
        if (round == 1) {
            /* Another stream reduces a tensor that this stream has made. */
            CHECK_OK(THCudaStream_wait(second, mine));
            CHECK_OK(THCudaStream_setCurrent(second));
        }
        CHECK_OK(TH_NCCL_allReduce(r, t, ncclSum, nccl));
        THTensor_free(t);
        CHECK_OK(THCudaStream_setCurrent(mine));
        THTensor *next = THTensor_newToDevice(other, TH_CUDA, nccl->device, TH_UNDEFINED, 0, 1);
        CHECK_OK(THTensor_mul(next, next, 2));
        if (round == 1) CHECK_OK(THCudaStream_wait(mine, second));
        CHECK_NEAR(THTensor_minall(r), nccl->size * (nccl->size + 1) / 2, 0);
        CHECK_NEAR(THTensor_maxall(r), nccl->size * (nccl->size + 1) / 2, 0);
        THTensor_free(next);
        THTensor_free(r);
        r = THTensor_new();
    }
    THTensor_free(r);
    THTensor_free(other);
    THCudaStream_free(second);
    THCudaStream_free(mine);
}

static void memory_waits_for_the_stream(void) { on_ranks(free_at_once); }

/* A parameter that requires a gradient, in each layout. */
static void share_parameters(THNccl *nccl) {
    for (enum layout layout = ROW_MAJOR; layout < LAYOUTS; layout++) {
        THTensor *w = input(nccl, TH_FLOAT32, layout), *r = THTensor_new();
        CHECK_OK(THTensor_setRequiresGrad(w, 1));
        CHECK_ERROR(TH_NCCL_broadcast(w, 0, nccl), TH_ERR_ARGUMENT, "requires a gradient");
        int64_t version = THTensor_version(w);
        CHECK_OK(THGrad_setEnabled(0));
        CHECK_OK(TH_NCCL_broadcast(w, 0, nccl));
        CHECK_OK(THGrad_setEnabled(1));
        CHECK(THTensor_version(w) > version);
        is(w, elements(TH_FLOAT32, 0));
        CHECK(THTensor_isLeaf(w) && THTensor_requiresGrad(w));
        CHECK_OK(TH_NCCL_allReduce(r, w, ncclMax, nccl));
        CHECK(!THTensor_requiresGrad(r));
        THTensor_free(w);
        THTensor_free(r);
    }
}

/* A parameter with one element. */
static void share_a_number(THNccl *nccl) {
    THTensor *w = THTensor_newWithSizesOn(TH_FLOAT32, TH_CUDA, nccl->device, 0, NULL);
    CHECK_OK(THTensor_fill(w, nccl->rank + 1));
    CHECK_OK(THTensor_setRequiresGrad(w, 1));
    CHECK_ERROR(TH_NCCL_broadcast(w, 0, nccl), TH_ERR_ARGUMENT, "requires a gradient");
    CHECK_ERROR(TH_NCCL_allReduce(w, w, ncclSum, nccl), TH_ERR_ARGUMENT, "requires a gradient");
    int64_t version = THTensor_version(w);
    CHECK_OK(THGrad_setEnabled(0));
    CHECK_OK(TH_NCCL_broadcast(w, 0, nccl));
    CHECK_NEAR(THTensor_item(w), 1, 0);
    CHECK_OK(THGrad_setEnabled(1));
    CHECK(THTensor_version(w) > version);
    THTensor_free(w);
}

static void numbers_are_shared(void) { on_ranks(share_a_number); }

static void parameters_are_shared(void) { on_ranks(share_parameters); }

static void reduce_nothing(THNccl *nccl) {
    THTensor *t = THTensor_newWithSizesOn(TH_FLOAT32, TH_CUDA, nccl->device, SIZES(0, 3)), *r = THTensor_new(), *all = THTensor_new();
    CHECK_OK(TH_NCCL_allReduce(r, t, ncclSum, nccl));
    CHECK_SHAPE(r, 0, 3);
    CHECK_OK(TH_NCCL_allGather(all, t, 1, nccl));
    CHECK_SHAPE(all, 0, 3 * nccl->size);
    THTensor *number = THTensor_newWithSizesOn(TH_FLOAT32, TH_CUDA, nccl->device, 0, NULL);
    CHECK_OK(THTensor_fill(number, 2));
    CHECK_OK(TH_NCCL_allReduce(number, number, ncclSum, nccl));
    CHECK_NEAR(THTensor_item(number), 2 * nccl->size, 0);
    THTensor_free(number);
    THTensor_free(t);
    THTensor_free(r);
    THTensor_free(all);
}

static void tensors_may_be_empty_or_numbers(void) { on_ranks(reduce_nothing); }

static void arguments_are_checked(void) {
    if (gpus == 0) return;
    THNccl *nccl;
    ncclComm_t comm;
    new_ranks(&nccl, &comm, 1);
    THTensor *host = THTensor_newOnes(TH_FLOAT32, SIZES(4)), *t = THTensor_newCuda(host, 0), *r = THTensor_new(), *none = THTensor_new();
    THTensor *ints = THTensor_newWithSizesOn(TH_INT32, TH_CUDA, 0, SIZES(4));
    CHECK_ERROR(TH_NCCL_allReduce(NULL, t, ncclSum, nccl), TH_ERR_ARGUMENT, "TH_NCCL_allReduce: r is NULL");
    CHECK_ERROR(TH_NCCL_allReduce(r, NULL, ncclSum, nccl), TH_ERR_ARGUMENT, "t is NULL");
    CHECK_ERROR(TH_NCCL_allReduce(r, t, ncclSum, NULL), TH_ERR_ARGUMENT, "nccl is NULL");
    CHECK_ERROR(TH_NCCL_allReduce(r, host, ncclSum, nccl), TH_ERR_DEVICE, "the tensor is on cpu, the communicator on cuda:0");
    CHECK_ERROR(TH_NCCL_allReduce(host, t, ncclSum, nccl), TH_ERR_DEVICE, "on cpu");
    CHECK_ERROR(TH_NCCL_allReduce(ints, t, ncclSum, nccl), TH_ERR_DTYPE, "the result is of int32, the input of float32");
    CHECK_ERROR(TH_NCCL_allReduce(r, none, ncclSum, nccl), TH_ERR_DTYPE, "no dtype");
    CHECK_ERROR(TH_NCCL_reduce(r, t, ncclSum, 1, nccl), TH_ERR_ARGUMENT, "no rank 1 among 1");
    CHECK_ERROR(TH_NCCL_reduce(NULL, t, ncclSum, 0, nccl), TH_ERR_ARGUMENT, "r is NULL");
    CHECK_ERROR(TH_NCCL_broadcast(t, -1, nccl), TH_ERR_ARGUMENT, "no rank -1");
    CHECK_ERROR(TH_NCCL_allGather(r, t, 1, nccl), TH_ERR_ARGUMENT, "no dimension 1 in a tensor of 1");
    CHECK_ERROR(TH_NCCL_reduceScatter(r, t, ncclSum, -2, nccl), TH_ERR_ARGUMENT, "no dimension -2");
    CHECK_ERROR(TH_NCCL_send(t, 1, nccl), TH_ERR_ARGUMENT, "no rank 1");
    CHECK_ERROR(TH_NCCL_recv(NULL, 0, nccl), TH_ERR_ARGUMENT, "r is NULL");
    CHECK_ERROR(TH_NCCL_groupStart(NULL, 1), TH_ERR_ARGUMENT, "nccl is NULL");
    CHECK_ERROR(TH_NCCL_check(NULL), TH_ERR_ARGUMENT, "nccl is NULL");
    if (gpus > 1) {
        THTensor *there = THTensor_newCuda(host, 1);
        CHECK_ERROR(TH_NCCL_allReduce(r, there, ncclSum, nccl), TH_ERR_DEVICE, "the tensor is on cuda:1, the communicator on cuda:0");
        THTensor_free(there);
    }
    CHECK_EQ(THTensor_dtype(none), TH_UNDEFINED);
    THTensor_free(host);
    THTensor_free(t);
    THTensor_free(r);
    THTensor_free(none);
    THTensor_free(ints);
    free_ranks(&nccl, &comm, 1);
}

static void cut_unevenly(THNccl *nccl) {
    if (nccl->size == 1) return;
    THTensor *t = THTensor_newWithSizesOn(TH_FLOAT32, TH_CUDA, nccl->device, SIZES(3 * nccl->size + 1)), *r = THTensor_new();
    CHECK_ERROR(TH_NCCL_reduceScatter(r, t, ncclSum, 0, nccl), TH_ERR_SHAPE, "ranks do not divide size");
    THTensor_free(t);
    THTensor_free(r);
}

static void ranks_must_divide_what_is_cut(void) { on_ranks(cut_unevenly); }

static void failures_of_nccl_are_errors(void) {
    if (gpus == 0) return;
    static const struct {
        ncclResult_t result;
        THStatus status;
        const char *text;
    } failures[] = {{ncclUnhandledCudaError, TH_ERR_CUDA, "TH_NCCL_allReduce: NCCL: unhandled cuda error"},
                    {ncclSystemError, TH_ERR_IO, "unhandled system error"},
                    {ncclInvalidUsage, TH_ERR_ARGUMENT, "invalid usage"}};
    THNccl *nccl;
    ncclComm_t comm;
    new_ranks(&nccl, &comm, 1);
    THTensor *t = input(nccl, TH_FLOAT32, ROW_MAJOR), *fresh = THTensor_new(), *other = zeros_on(0, TH_FLOAT32, 2, 2, ROW_MAJOR);
    for (int k = 0; k < 3; k++) {
        standin_fail(failures[k].result, 0);
        CHECK_ERROR(TH_NCCL_allReduce(fresh, t, ncclSum, nccl), failures[k].status, failures[k].text);
        standin_fail(failures[k].result, 0);
        CHECK_ERROR(TH_NCCL_allReduce(other, t, ncclSum, nccl), failures[k].status, failures[k].text);
        CHECK_EQ(THTensor_dtype(fresh), TH_UNDEFINED);
        CHECK_SHAPE(other, 2, 2);
    }
    /* In a group: of two calls the second one fails. */
    standin_fail(ncclInternalError, 1);
    CHECK_OK(TH_NCCL_groupStart(&nccl, 1));
    CHECK_OK(TH_NCCL_allReduce(fresh, t, ncclSum, nccl));
    CHECK_ERROR(TH_NCCL_allReduce(other, t, ncclSum, nccl), TH_ERR_CUDA, "internal error");
    CHECK_ERROR(TH_NCCL_groupEnd(&nccl, 1), TH_ERR_CUDA, "TH_NCCL_groupEnd: NCCL: internal error");
    CHECK_EQ(THTensor_dtype(fresh), TH_UNDEFINED);
    /* The next call succeeds. */
    CHECK_OK(TH_NCCL_allReduce(fresh, t, ncclSum, nccl));
    is(fresh, elements(TH_FLOAT32, 0));
    THTensor_free(t);
    THTensor_free(fresh);
    THTensor_free(other);
    free_ranks(&nccl, &comm, 1);
}

static void communicators_need_not_block(void) {
    if (gpus == 0) return;
    THNccl *nccl;
    ncclComm_t comm;
    new_ranks(&nccl, &comm, 1);
    standin_in_progress(3);
    THTensor *t = input(nccl, TH_FLOAT32, TRANSPOSED);
    CHECK_OK(TH_NCCL_allReduce(t, t, ncclSum, nccl));
    CHECK_OK(TH_NCCL_check(nccl));
    is(t, elements(TH_FLOAT32, 0));
    standin_in_progress(0);
    THTensor_free(t);
    free_ranks(&nccl, &comm, 1);
}

/* A single rank needs no other process to get the id. */
static void an_id_may_come_from_a_rendezvous(void) {
#ifdef TH_RENDEZVOUS
    THRendezvous where = {"127.0.0.1", 29500, 0, 1, 5};
    CHECK_FAILURE(TH_NCCL_newFromRendezvous(NULL, 0) == NULL, TH_ERR_ARGUMENT, "where is NULL");
    if (gpus == 0) return;
    THNccl *nccl = TH_NCCL_newFromRendezvous(&where, 0);
    CHECK(nccl != NULL && nccl->size == 1 && nccl->rank == 0 && nccl->owned);
    TH_NCCL_free(nccl);
    where.port = 0;
    CHECK_FAILURE(TH_NCCL_newFromRendezvous(&where, 0) == NULL, TH_ERR_ARGUMENT, "the port is 0");
#endif
}

static void lose_a_rank(THNccl *nccl) {
    THTensor *t = input(nccl, TH_FLOAT32, ROW_MAJOR);
    CHECK_OK(TH_NCCL_check(nccl));
    standin_lose(nccl->comm);
    CHECK_ERROR(TH_NCCL_check(nccl), TH_ERR_IO, "remote process exited");
    CHECK_ERROR(TH_NCCL_allReduce(t, t, ncclSum, nccl), TH_ERR_IO, "is lost");
    THTensor_free(t);
}

static void a_rank_that_is_lost_is_an_error(void) {
    if (gpus > 0) on_threads(1, lose_a_rank);
}

/* The stand-in detects mismatched arguments, which NCCL does not, so the arguments of all calls above are known to match. */
static void disagree(THNccl *nccl) {
    THTensor *t = THTensor_newWithSizesOn(TH_FLOAT32, TH_CUDA, nccl->device, SIZES(4 + nccl->rank));
    THCudaStream *stream = THCudaStream_newCurrent(nccl->device);
    CHECK_OK(TH_NCCL_allReduce(t, t, ncclSum, nccl));
    CHECK_OK(THCudaStream_synchronize(stream));
    CHECK_ERROR(TH_NCCL_check(nccl), TH_ERR_ARGUMENT, "calls of ranks do not match");
    THCudaStream_free(stream);
    THTensor_free(t);
}

static void ranks_that_disagree_are_seen(void) {
    if (gpus > 1) on_threads(2, disagree);
}

CHECK_MAIN(CASE(without_a_gpu_everything_says_what_is_missing), CASE(arguments_are_checked), CASE(all_reduce_takes_all_dtypes),
           CASE(all_reduce_takes_all_layouts), CASE(reduce_and_broadcast_have_roots), CASE(all_gather_joins_along_any_dimension),
           CASE(reduce_scatter_cuts_any_dimension), CASE(messages_go_around), CASE(one_thread_may_have_all_ranks),
           CASE(memory_waits_for_the_stream), CASE(parameters_are_shared), CASE(numbers_are_shared),
           CASE(tensors_may_be_empty_or_numbers), CASE(ranks_must_divide_what_is_cut), CASE(failures_of_nccl_are_errors),
           CASE(communicators_need_not_block), CASE(an_id_may_come_from_a_rendezvous),
           CASE(a_rank_that_is_lost_is_an_error), CASE(ranks_that_disagree_are_seen))
