/**
 * @file thorn_nccl.h
 * @brief thorn's tensors over NCCL: collectives and messages between GPUs.
 *
 *     THNccl *nccl = TH_NCCL_newRank(id, ranks, rank, device);           // id: ncclGetUniqueId on one rank, sent to all,
 *                                                                        // or TH_NCCL_newFromRendezvous
 *     if (TH_NCCL_allReduce(grad, grad, ncclAvg, nccl) != TH_OK)         // in place, on the thread's stream
 *         fprintf(stderr, "%s\n", THGetLastError());
 *     TH_NCCL_free(nccl);
 *
 * A header-only interface for C99 and C++11. Programs that include the header need nccl.h of NCCL 2.14 or later, and
 * are linked with NCCL and the CUDA runtime. libthorn itself depends on neither.
 *
 * **Communicators.** A `THNccl` holds an `ncclComm_t` and its properties. Each rank has one GPU, which holds all
 * tensors of a call. Only one thread at a time may use a communicator. A thread that has several ranks calls them in a
 * group.
 *
 * **Streams.** A call enqueues NCCL's work in `THCudaStream_newCurrent`, the calling thread's stream on the
 * communicator's GPU, and returns. Later work of this stream finds the result. Tensors may be freed after the call:
 * their memory is reused only after the stream has finished its work (`THTensor_recordStream`).
 *
 * **Results.** The conventions of thorn.h apply. The result is the first argument. A fresh handle gets dtype, shape and
 * memory. Any other result must have the dtype of the input, and is resized if its shape differs. If the result shares
 * memory with the input, the input is copied first where necessary. Contiguous tensors are passed in place; others are
 * copied to a row-major temporary. If a call fails before NCCL has begun, the result is unchanged. Gradients do not
 * pass through a call. A leaf that requires a gradient can be written only after THGrad_setEnabled(0).
 *
 * **Groups.** Calls between TH_NCCL_groupStart and TH_NCCL_groupEnd are collected and begin together. Their tensors are
 * kept alive until TH_NCCL_groupEnd, which also defines the results and fills fresh handles. NCCL's own ncclGroupStart
 * around these functions does neither.
 *
 * **Ranks that disagree.** NCCL does not compare sizes and dtypes among ranks. If the calls do not match, or one rank
 * refuses a call, the others wait forever, as in any program that uses NCCL. TH_NCCL_check reports ranks that have
 * died.
 *
 * **Errors.** `TH_ERR_ARGUMENT`, an invalid rank or dimension, or NCCL reports an invalid argument or usage;
 * `TH_ERR_SHAPE`, the size of a dimension is not a multiple of the number of ranks; `TH_ERR_DTYPE`, NCCL lacks the
 * reduction for the dtype, or the result has another dtype; `TH_ERR_DEVICE`, a tensor is not on the communicator's GPU;
 * `TH_ERR_IO`, the system or another rank failed; `TH_ERR_CUDA`, CUDA or NCCL failed. The message contains NCCL's text.
 */

#ifndef THORN_NCCL_H
#define THORN_NCCL_H

#include "thorn.h"
#include "thorn_rendezvous.h"
#include <nccl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if NCCL_VERSION_CODE < 21400
#error "thorn_nccl.h needs NCCL 2.14 or later"
#endif

/// The steps that remain after NCCL has begun: a result to fill from a temporary, and references to release.
typedef struct th_nccl_call {
    const char *name;
    THCudaStream *stream; ///< the stream of NCCL's work
    THTensor *from;       ///< row-major elements that NCCL reads, or NULL
    THTensor *to;         ///< row-major elements that NCCL writes, or NULL
    THTensor *shown;      ///< a view of `to` in the result's order of elements; NULL if `to` has this order
    THTensor *r;          ///< the result to fill from `to`; NULL if `to` is the result's memory
    int ndim;             ///< dimensions of the result
    int64_t *size;        ///< sizes of the result, then those of `shown`
} th_nccl_call;

/// A rank of an NCCL communicator. The fields are read-only.
typedef struct THNccl {
    ncclComm_t comm;     ///< the communicator of NCCL
    int rank;            ///< number of the rank
    int size;            ///< number of ranks
    int device;          ///< number of the rank's GPU
    int owned;           ///< 1 if TH_NCCL_free ends the communicator
    int groups;          ///< depth of open groups
    int count;           ///< number of calls in the group
    int capacity;        ///< capacity of `call`
    th_nccl_call *call;  ///< calls of the group
} THNccl;

/* ------------------------------------------------------------------------------------------------ errors, dtypes */

/// Sets the last error, with a formatted message, and returns `status`.
#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
static inline THStatus th_nccl_fail(THStatus status, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return THSetLastError(status, text);
}

/// Waits until a non-blocking communicator has finished the operation, and converts NCCL's result to a status.
static inline THStatus th_nccl_done(const char *name, ncclComm_t comm, ncclResult_t result) {
    THStatus status = TH_ERR_CUDA;
    while (result == ncclInProgress && comm) {
        ncclResult_t asked = ncclCommGetAsyncError(comm, &result);
        if (asked != ncclSuccess) result = asked;
    }
    if (result == ncclSuccess) return TH_OK;
    if (result == ncclInvalidArgument || result == ncclInvalidUsage) status = TH_ERR_ARGUMENT;
    if (result == ncclSystemError || result == ncclRemoteError) status = TH_ERR_IO;
    const char *more = ncclGetLastError(comm);
    return th_nccl_fail(status, "%s: NCCL: %s%s%s", name, ncclGetErrorString(result), more && *more ? ": " : "", more ? more : "");
}

static inline THStatus th_nccl_null(const char *name, const char *what) {
    return th_nccl_fail(TH_ERR_ARGUMENT, "%s: %s is NULL", name, what);
}

/// Stores the type in which NCCL reduces tensors of a dtype by `op`. Bool supports ncclMax (logical or) and ncclMin
/// (logical and). int16 has no reduction.
static inline THStatus TH_NCCL_dtype(ncclDataType_t *type, THDtype dtype, ncclRedOp_t op) {
    switch (dtype) {
    case TH_UINT8: return *type = ncclUint8, TH_OK;
    case TH_INT8: return *type = ncclInt8, TH_OK;
    case TH_INT32: return *type = ncclInt32, TH_OK;
    case TH_INT64: return *type = ncclInt64, TH_OK;
    case TH_FLOAT16: return *type = ncclFloat16, TH_OK;
    case TH_BFLOAT16: return *type = (ncclDataType_t)9 /* ncclBfloat16, which some headers hide */, TH_OK;
    case TH_FLOAT32: return *type = ncclFloat32, TH_OK;
    case TH_FLOAT64: return *type = ncclFloat64, TH_OK;
    case TH_BOOL:
        if (op == ncclMax || op == ncclMin) return *type = ncclUint8, TH_OK;
        break;
    default: break;
    }
    const char *known = dtype == TH_UNDEFINED ? "a tensor without a dtype" : THDtype_name(dtype);
    return th_nccl_fail(TH_ERR_DTYPE, "TH_NCCL_dtype: NCCL has no such reduction for %s", known ? known : "a dtype that there is not");
}

/* --------------------------------------------------------------------------------------- communicators and groups */

/// Returns a handle on a rank's communicator, which the caller keeps until the handle is freed. Free the handle with
/// TH_NCCL_free; NULL on error.
TH_NODISCARD static inline THNccl *TH_NCCL_new(ncclComm_t comm) {
    static const char name[] = "TH_NCCL_new";
    if (!comm) return th_nccl_null(name, "comm"), (THNccl *)NULL;
    THNccl *nccl = (THNccl *)calloc(1, sizeof *nccl);
    if (!nccl) return th_nccl_fail(TH_ERR_NOMEM, "%s: out of memory", name), (THNccl *)NULL;
    nccl->comm = comm;
    if (th_nccl_done(name, comm, ncclInProgress) != TH_OK || th_nccl_done(name, comm, ncclCommUserRank(comm, &nccl->rank)) != TH_OK ||
        th_nccl_done(name, comm, ncclCommCount(comm, &nccl->size)) != TH_OK ||
        th_nccl_done(name, comm, ncclCommCuDevice(comm, &nccl->device)) != TH_OK) {
        free(nccl);
        return NULL;
    }
    return nccl;
}

/// Frees a handle or NULL. A communicator of TH_NCCL_newRank is destroyed after its work, or aborted if it has failed.
static inline void TH_NCCL_free(THNccl *nccl) {
    if (!nccl) return;
    if (nccl->owned) {
        ncclResult_t state = ncclSuccess, asked = ncclCommGetAsyncError(nccl->comm, &state);
        if (asked == ncclSuccess && (state == ncclSuccess || state == ncclInProgress)) ncclCommDestroy(nccl->comm);
        else ncclCommAbort(nccl->comm);
    }
    free(nccl->call);
    free(nccl);
}

/// Returns rank `rank` of a new communicator of `size` ranks, on GPU `device`. All ranks call this with the same `id`,
/// each in a separate process or thread, and wait for each other. Free the handle with TH_NCCL_free; NULL on error.
TH_NODISCARD static inline THNccl *TH_NCCL_newRank(ncclUniqueId id, int size, int rank, int device) {
    static const char name[] = "TH_NCCL_newRank";
    int before = 0;
    ncclComm_t comm = NULL;
    THNccl *nccl = NULL;
    cudaError_t chosen = cudaGetDevice(&before);
    if (chosen == cudaSuccess) chosen = cudaSetDevice(device);
    if (chosen != cudaSuccess) return th_nccl_fail(TH_ERR_CUDA, "%s: no GPU %d: %s", name, device, cudaGetErrorString(chosen)), nccl;
    THStatus status = th_nccl_done(name, NULL, ncclCommInitRank(&comm, size, id, rank));
    cudaSetDevice(before);
    if (status == TH_OK) nccl = TH_NCCL_new(comm);
    if (nccl) nccl->owned = 1;
    else if (comm) ncclCommAbort(comm);
    return nccl;
}

#ifdef TH_RENDEZVOUS
/// Returns rank `where->rank` of a new communicator of `where->size` ranks, on GPU `device`. Rank 0 creates the id, which
/// TH_rendezvousBytes copies to the other ranks. All ranks call this. The timeout applies to the exchange of the id, not
/// to the start of NCCL that follows. Free the handle with TH_NCCL_free; NULL on error.
TH_NODISCARD static inline THNccl *TH_NCCL_newFromRendezvous(const THRendezvous *where, int device) {
    static const char name[] = "TH_NCCL_newFromRendezvous";
    ncclUniqueId id;
    if (!where) return th_nccl_null(name, "where"), (THNccl *)NULL;
    memset(&id, 0, sizeof id);
    if (where->rank == 0 && th_nccl_done(name, NULL, ncclGetUniqueId(&id)) != TH_OK) return NULL;
    return TH_rendezvousBytes(&id, sizeof id, where) == TH_OK ? TH_NCCL_newRank(id, where->size, where->rank, device) : NULL;
}
#endif

/// Returns TH_OK unless work of the communicator has failed: a rank, a GPU or the network. Does not wait.
static inline THStatus TH_NCCL_check(const THNccl *nccl) {
    ncclResult_t state = ncclSuccess;
    if (!nccl) return th_nccl_null("TH_NCCL_check", "nccl");
    ncclResult_t asked = ncclCommGetAsyncError(nccl->comm, &state);
    if (asked == ncclSuccess && state == ncclInProgress) return TH_OK;
    return th_nccl_done("TH_NCCL_check", nccl->comm, asked != ncclSuccess ? asked : state);
}

static inline void th_nccl_drop(th_nccl_call *call) {
    THTensor_free(call->shown);
    THTensor_free(call->from);
    THTensor_free(call->to);
    THTensor_free(call->r);
    THCudaStream_free(call->stream);
    free(call->size);
}

/// Fills a result from the temporary that NCCL has written, in the thread's stream.
static inline THStatus th_nccl_fill(th_nccl_call *call, int device) {
    THTensor *r = call->r, *rows = NULL;
    THStatus status = TH_OK;
    if (!r) return TH_OK;
    THCudaStream *now = THCudaStream_newCurrent(device);
    if (!now) return THGetLastErrorCode();
    if (THCudaStream_pointer(now) != THCudaStream_pointer(call->stream)) {
        status = THCudaStream_wait(now, call->stream);
        if (status == TH_OK) status = THTensor_recordStream(call->to, now);
    }
    THCudaStream_free(now);
    if (status == TH_OK && !r->storage) {
        if (call->shown) rows = THTensor_newContiguous(call->shown);
        else THTensor_retain(rows = call->to);
        THTensor *whole = rows ? THTensor_newView(rows, call->ndim, call->size) : NULL;
        status = whole ? THTensor_set(r, whole) : THGetLastErrorCode();
        THTensor_free(whole);
    } else if (status == TH_OK) {
        if (!THTensor_isSize(r, call->ndim, call->size)) status = THTensor_resize(r, call->ndim, call->size, NULL);
        if (status == TH_OK) {
            /* A detached handle: copying to the result itself would be recorded if the result is a leaf. */
            THTensor *plain = THTensor_newDetach(r);
            if (!plain) return THGetLastErrorCode();
            if (call->shown) rows = THTensor_newView(plain, call->ndim + 1, call->size + call->ndim);
            else THTensor_retain(rows = plain);
            status = rows ? THTensor_copy(rows, call->shown ? call->shown : call->to) : THGetLastErrorCode();
            THTensor_free(plain);
        }
    }
    THTensor_free(rows);
    return status;
}

/// Begins a group of calls on `count` communicators of this thread. Groups may be nested.
static inline THStatus TH_NCCL_groupStart(THNccl *const *nccl, int count) {
    if (!nccl && count > 0) return th_nccl_null("TH_NCCL_groupStart", "nccl");
    for (int i = 0; i < count; i++) {
        if (!nccl[i]) return th_nccl_null("TH_NCCL_groupStart", "a communicator");
    }
    THStatus status = th_nccl_done("TH_NCCL_groupStart", NULL, ncclGroupStart());
    if (status != TH_OK) return status;
    for (int i = 0; i < count; i++) nccl[i]->groups++;
    return TH_OK;
}

/// Ends the group that TH_NCCL_groupStart began with these communicators: NCCL begins the calls, and results become
/// defined. If NCCL fails now or has failed in an earlier call of the group, results are undefined.
static inline THStatus TH_NCCL_groupEnd(THNccl *const *nccl, int count) {
    static const char name[] = "TH_NCCL_groupEnd";
    if (!nccl && count > 0) return th_nccl_null(name, "nccl");
    for (int i = 0; i < count; i++) {
        if (!nccl[i] || nccl[i]->groups < 1) return THSetLastError(TH_ERR_ARGUMENT, "TH_NCCL_groupEnd: a communicator without a group");
    }
    ncclResult_t result = ncclGroupEnd();
    THStatus status = result == ncclInProgress ? TH_OK : th_nccl_done(name, NULL, result);
    for (int i = 0; i < count; i++) {
        if (status == TH_OK && result == ncclInProgress) status = th_nccl_done(name, nccl[i]->comm, result);
    }
    for (int i = 0; i < count; i++) {
        if (--nccl[i]->groups > 0) continue;
        for (int k = 0; k < nccl[i]->count; k++) {
            if (status == TH_OK) status = th_nccl_fill(&nccl[i]->call[k], nccl[i]->device);
            th_nccl_drop(&nccl[i]->call[k]);
        }
        nccl[i]->count = 0;
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- calls */

/// Returns a handle on the elements of `t` without autograd.
static inline THTensor *th_nccl_plain(const THTensor *t) {
    if (!t->storage) return THTensor_newWithSizesOn((THDtype)t->dtype, (THDeviceType)t->deviceType, t->deviceIndex, t->nDimension, t->size);
    return THTensor_newDetach((THTensor *)t);
}

static inline THStatus th_nccl_on_device(const char *name, const THNccl *nccl, const THTensor *t) {
    int there = t->deviceIndex, here = nccl->device;
    if (t->deviceType != TH_CUDA) return th_nccl_fail(TH_ERR_DEVICE, "%s: the tensor is on cpu, the communicator on cuda:%d", name, here);
    if (there == here) return TH_OK;
    return th_nccl_fail(TH_ERR_DEVICE, "%s: the tensor is on cuda:%d, the communicator on cuda:%d", name, there, here);
}

/// Begins a call: gets the stream, reserves room in the group, and stores a detached handle on `t`. `t` may be NULL.
static inline THStatus th_nccl_begin(th_nccl_call *call, const char *name, THNccl *nccl, const THTensor *t) {
    const th_nccl_call begun = {name, NULL, NULL, NULL, NULL, NULL, 0, NULL};
    *call = begun;
    if (!nccl) return th_nccl_null(name, "nccl");
    if (t && t->dtype == TH_UNDEFINED) return th_nccl_fail(TH_ERR_DTYPE, "%s: the tensor has no dtype", name);
    if (t && th_nccl_on_device(name, nccl, t) != TH_OK) return TH_ERR_DEVICE;
    if (nccl->count == nccl->capacity) {
        int capacity = 2 * nccl->capacity + 4;
        void *grown = realloc(nccl->call, (size_t)capacity * sizeof *nccl->call);
        if (!grown) return th_nccl_fail(TH_ERR_NOMEM, "%s: out of memory", name);
        nccl->call = (th_nccl_call *)grown;
        nccl->capacity = capacity;
    }
    call->stream = THCudaStream_newCurrent(nccl->device);
    if (!call->stream) return THGetLastErrorCode();
    if (!t) return TH_OK;
    call->from = th_nccl_plain(t);
    return call->from ? TH_OK : THGetLastErrorCode();
}

/// Makes the input row-major, and keeps its memory until the stream has finished.
static inline THStatus th_nccl_source(th_nccl_call *call) {
    THTensor *rows = THTensor_newContiguous(call->from);
    if (!rows) return THGetLastErrorCode();
    THTensor_free(call->from);
    call->from = rows;
    return rows->storage ? THTensor_recordStream(rows, call->stream) : TH_OK;
}

/// Stores the sizes of the result. With `split` >= 0 the result has `blocks` blocks along dimension `split`; the sizes
/// with this dimension divided into blocks are stored after the others.
static inline THStatus th_nccl_sizes(th_nccl_call *call, int ndim, const int64_t *size, int split, int64_t blocks) {
    call->ndim = ndim;
    call->size = (int64_t *)malloc((size_t)(2 * ndim + 2) * sizeof *size);
    if (!call->size) return th_nccl_fail(TH_ERR_NOMEM, "%s: out of memory", call->name);
    for (int d = 0, k = ndim; d < ndim; d++) {
        call->size[d] = size[d];
        if (d == split) {
            call->size[k++] = blocks;
            call->size[d] *= blocks;
        }
        call->size[k++] = size[d];
    }
    return TH_OK;
}

/// Fails if `r` may not be written. Otherwise reports a write to autograd, so that backward detects a changed saved
/// tensor.
static inline THStatus th_nccl_touch(const char *name, THTensor *r) {
    if (!r->storage) return TH_OK;
    if (THGrad_isEnabled() && THTensor_requiresGrad(r)) {
        return th_nccl_fail(TH_ERR_ARGUMENT, "%s: the result requires a gradient, and recording is on", name);
    }
    THTensor *none = r->nDimension > 0 ? THTensor_newDetach(r) : THTensor_newUnsqueeze1d(r, 0);
    THStatus status = none ? THTensor_narrow(none, none, 0, 0, 0) : THGetLastErrorCode();
    if (status == TH_OK) status = THTensor_zero(none);
    THTensor_free(none);
    return status;
}

/// Stores in `to` the memory that NCCL writes: the memory of `r` if `r` is contiguous and has the right shape,
/// otherwise a temporary. With `blocks` > 1 and `split` > 0 the blocks are the first dimension of the temporary.
static inline THStatus th_nccl_target(th_nccl_call *call, const THNccl *nccl, THTensor *r, THDtype dtype, int split, int64_t blocks) {
    if (r->dtype != TH_UNDEFINED && r->dtype != dtype) {
        const char *own = THDtype_name((THDtype)r->dtype);
        return th_nccl_fail(TH_ERR_DTYPE, "%s: the result is of %s, the input of %s", call->name, own, THDtype_name(dtype));
    }
    if (r->storage && th_nccl_on_device(call->name, nccl, r) != TH_OK) return TH_ERR_DEVICE;
    if (th_nccl_touch(call->name, r) != TH_OK) return THGetLastErrorCode();
    int in_order = split <= 0 || blocks == 1;
    if (in_order && r->storage && THTensor_isSize(r, call->ndim, call->size) && THTensor_isContiguous(r)) {
        call->to = th_nccl_plain(r);
        if (!call->to) return THGetLastErrorCode();
        return THTensor_recordStream(call->to, call->stream);
    }
    THTensor_retain(call->r = r);
    if (in_order) {
        call->to = THTensor_newWithSizesOn(dtype, TH_CUDA, nccl->device, call->ndim, call->size);
        return call->to ? TH_OK : THGetLastErrorCode();
    }
    /* The sizes with the blocks as first dimension, and the permutation that moves the blocks to `split`. */
    int64_t *front = (int64_t *)malloc((size_t)(2 * call->ndim + 2) * sizeof *front), *order = front + call->ndim + 1;
    if (!front) return th_nccl_fail(TH_ERR_NOMEM, "%s: out of memory", call->name);
    front[0] = blocks;
    for (int d = 0; d < call->ndim; d++) front[d + 1] = d == split ? call->size[d] / blocks : call->size[d];
    for (int d = 0; d <= call->ndim; d++) order[d] = d < split ? d + 1 : d == split ? 0 : d;
    call->to = THTensor_newWithSizesOn(dtype, TH_CUDA, nccl->device, call->ndim + 1, front);
    if (call->to) call->shown = THTensor_newPermute(call->to, call->ndim + 1, order);
    free(front);
    return call->shown ? TH_OK : THGetLastErrorCode();
}

/// Copies the input if it overlaps the output, unless the input begins `offset` bytes after the output.
static inline THStatus th_nccl_separate(th_nccl_call *call, size_t offset) {
    if (!call->from || !call->to) return TH_OK;
    size_t item = THTensor_elementSize(call->from);
    char *from = (char *)THTensor_data(call->from), *to = (char *)THTensor_data(call->to);
    char *from_end = from + (size_t)THTensor_nElement(call->from) * item, *to_end = to + (size_t)THTensor_nElement(call->to) * item;
    if (from == to_end || from_end <= to || to_end <= from || from == to + offset) return TH_OK;
    THTensor *copy = THTensor_newClone(call->from);
    if (!copy) return THGetLastErrorCode();
    THTensor_free(call->from);
    call->from = copy;
    return TH_OK;
}

/// Prepares a call that overwrites the elements of `r`.
static inline THStatus th_nccl_into(th_nccl_call *call, const THNccl *nccl, THTensor *r) {
    THStatus status = th_nccl_sizes(call, r->nDimension, r->size, -1, 1);
    return status == TH_OK ? th_nccl_target(call, nccl, r, (THDtype)r->dtype, -1, 1) : status;
}

/// Prepares a call that reads `from` and stores a result of sizes `size`. With `split` >= 0 these are the sizes of one
/// rank's block, and the result joins the blocks of all ranks along dimension `split`.
static inline THStatus th_nccl_prepare(th_nccl_call *call, const THNccl *nccl, THTensor *r, int ndim, const int64_t *size, int split) {
    int64_t blocks = split < 0 ? 1 : nccl->size;
    THDtype dtype = (THDtype)call->from->dtype;
    THStatus status = th_nccl_source(call);
    if (status == TH_OK) status = th_nccl_sizes(call, ndim, size, split, blocks);
    if (status == TH_OK) status = th_nccl_target(call, nccl, r, dtype, split, blocks);
    return status;
}

/// Ends a call that NCCL has accepted or that has failed: at once, or with its group.
static inline THStatus th_nccl_end(th_nccl_call *call, THNccl *nccl, THStatus status) {
    if (status == TH_OK && nccl->groups > 0) {
        nccl->call[nccl->count++] = *call;
        return TH_OK;
    }
    if (status == TH_OK) status = th_nccl_fill(call, nccl->device);
    th_nccl_drop(call);
    return status;
}

/// Returns the status of a call. In a group NCCL reports the result when the group ends.
static inline THStatus th_nccl_asked(const th_nccl_call *call, const THNccl *nccl, ncclResult_t result) {
    if (nccl->groups > 0 && result == ncclInProgress) return TH_OK;
    return th_nccl_done(call->name, nccl->comm, result);
}

/* The arguments of NCCL's functions. */
static inline cudaStream_t th_nccl_stream(const th_nccl_call *call) { return (cudaStream_t)THCudaStream_pointer(call->stream); }
static inline const void *th_nccl_from(const th_nccl_call *call) { return THTensor_data(call->from); }
static inline void *th_nccl_to(const th_nccl_call *call) { return call->to ? THTensor_data(call->to) : NULL; }
static inline size_t th_nccl_elements(const THTensor *t) { return (size_t)THTensor_nElement(t); }
static inline size_t th_nccl_bytes(const THTensor *t) { return th_nccl_elements(t) * THTensor_elementSize(t); }

static inline THStatus th_nccl_rank(const char *name, const THNccl *nccl, int rank) {
    if (!nccl) return th_nccl_null(name, "nccl");
    if (rank >= 0 && rank < nccl->size) return TH_OK;
    return th_nccl_fail(TH_ERR_ARGUMENT, "%s: no rank %d among %d", name, rank, nccl->size);
}

/// Stores the dimension `dimension`, which may count from the end.
static inline THStatus th_nccl_dimension(int *d, const char *name, const THTensor *t, int dimension) {
    *d = dimension < 0 ? dimension + t->nDimension : dimension;
    if (*d >= 0 && *d < t->nDimension) return TH_OK;
    return th_nccl_fail(TH_ERR_ARGUMENT, "%s: no dimension %d in a tensor of %d", name, dimension, t->nDimension);
}

/// `r = t of rank 0 op t of rank 1 op ...` on every rank. `r` may be `t`.
static inline THStatus TH_NCCL_allReduce(THTensor *r, const THTensor *t, ncclRedOp_t op, THNccl *nccl) {
    static const char name[] = "TH_NCCL_allReduce";
    th_nccl_call call;
    ncclDataType_t type = ncclUint8;
    if (!r || !t) return th_nccl_null(name, r ? "t" : "r");
    THStatus status = th_nccl_begin(&call, name, nccl, t);
    if (status == TH_OK) status = TH_NCCL_dtype(&type, (THDtype)t->dtype, op);
    if (status == TH_OK) status = th_nccl_prepare(&call, nccl, r, t->nDimension, t->size, -1);
    if (status == TH_OK) status = th_nccl_separate(&call, 0);
    if (status == TH_OK) {
        status = th_nccl_asked(&call, nccl, ncclAllReduce(th_nccl_from(&call), th_nccl_to(&call), th_nccl_elements(call.to), type, op,
                                                          nccl->comm, th_nccl_stream(&call)));
    }
    return th_nccl_end(&call, nccl, status);
}

/// `r = t of rank 0 op t of rank 1 op ...` on rank `root`. On other ranks `r` is not used and may be NULL.
static inline THStatus TH_NCCL_reduce(THTensor *r, const THTensor *t, ncclRedOp_t op, int root, THNccl *nccl) {
    static const char name[] = "TH_NCCL_reduce";
    th_nccl_call call;
    ncclDataType_t type = ncclUint8;
    if (th_nccl_rank(name, nccl, root) != TH_OK) return TH_ERR_ARGUMENT;
    int is_root = nccl->rank == root;
    if (!t || (is_root && !r)) return th_nccl_null(name, t ? "r" : "t");
    THStatus status = th_nccl_begin(&call, name, nccl, t);
    if (status == TH_OK) status = TH_NCCL_dtype(&type, (THDtype)t->dtype, op);
    if (status == TH_OK) status = is_root ? th_nccl_prepare(&call, nccl, r, t->nDimension, t->size, -1) : th_nccl_source(&call);
    if (status == TH_OK) status = th_nccl_separate(&call, 0);
    if (status == TH_OK) {
        status = th_nccl_asked(&call, nccl, ncclReduce(th_nccl_from(&call), th_nccl_to(&call), th_nccl_elements(call.from), type, op, root,
                                                       nccl->comm, th_nccl_stream(&call)));
    }
    return th_nccl_end(&call, nccl, status);
}

/// `t = t of rank root`. All ranks have the same shape and dtype.
static inline THStatus TH_NCCL_broadcast(THTensor *t, int root, THNccl *nccl) {
    static const char name[] = "TH_NCCL_broadcast";
    th_nccl_call call;
    if (th_nccl_rank(name, nccl, root) != TH_OK) return TH_ERR_ARGUMENT;
    if (!t) return th_nccl_null(name, "t");
    int is_root = nccl->rank == root;
    THStatus status = th_nccl_begin(&call, name, nccl, t);
    if (status == TH_OK) status = th_nccl_touch(name, t);
    if (status == TH_OK) status = is_root ? th_nccl_source(&call) : th_nccl_into(&call, nccl, t);
    if (status == TH_OK) {
        THTensor *place = is_root ? call.from : call.to;
        void *data = THTensor_data(place);
        status = th_nccl_asked(&call, nccl, ncclBroadcast(data, data, th_nccl_bytes(place), ncclUint8, root, nccl->comm,
                                                          th_nccl_stream(&call)));
    }
    return th_nccl_end(&call, nccl, status);
}

/// `r` = the tensors `t` of all ranks, joined along a dimension in the order of the ranks. All `t` have the same shape.
static inline THStatus TH_NCCL_allGather(THTensor *r, const THTensor *t, int dimension, THNccl *nccl) {
    static const char name[] = "TH_NCCL_allGather";
    th_nccl_call call;
    int d = 0;
    if (!r || !t) return th_nccl_null(name, r ? "t" : "r");
    THStatus status = th_nccl_begin(&call, name, nccl, t);
    if (status == TH_OK) status = th_nccl_dimension(&d, name, t, dimension);
    if (status == TH_OK) status = th_nccl_prepare(&call, nccl, r, t->nDimension, t->size, d);
    if (status == TH_OK) status = th_nccl_separate(&call, (size_t)nccl->rank * th_nccl_bytes(call.from));
    if (status == TH_OK) {
        status = th_nccl_asked(&call, nccl, ncclAllGather(th_nccl_from(&call), th_nccl_to(&call), th_nccl_bytes(call.from), ncclUint8,
                                                          nccl->comm, th_nccl_stream(&call)));
    }
    return th_nccl_end(&call, nccl, status);
}

/// Moves the blocks of the input to the front: dimension `d` has one block for each rank. Stores the sizes of a block
/// in `size`, which has room for one number more than there are dimensions.
static inline THStatus th_nccl_blocks(th_nccl_call *call, const THNccl *nccl, int d, int64_t *size) {
    THTensor *t = call->from;
    int ndim = t->nDimension;
    long whole = (long)t->size[d];
    if (whole % nccl->size) {
        return th_nccl_fail(TH_ERR_SHAPE, "%s: %d ranks do not divide size %ld of dimension %d", call->name, nccl->size, whole, d);
    }
    for (int k = 0; k < ndim; k++) size[k] = k == d ? t->size[k] / nccl->size : t->size[k];
    if (d == 0 || nccl->size == 1) return TH_OK;
    int64_t *split = (int64_t *)malloc((size_t)(2 * ndim + 2) * sizeof *split), *order = split + ndim + 1;
    if (!split) return th_nccl_fail(TH_ERR_NOMEM, "%s: out of memory", call->name);
    for (int k = 0; k <= ndim; k++) split[k] = k == d ? nccl->size : size[k < d ? k : k - 1];
    for (int k = 0; k <= ndim; k++) order[k] = k == 0 ? d : k <= d ? k - 1 : k;
    THTensor *parts = THTensor_newView(t, ndim + 1, split);
    THTensor *front = parts ? THTensor_newPermute(parts, ndim + 1, order) : NULL;
    THTensor_free(parts);
    free(split);
    if (!front) return THGetLastErrorCode();
    THTensor_free(call->from);
    call->from = front;
    return TH_OK;
}

/// `r` = this rank's block of `t of rank 0 op t of rank 1 op ...`, divided along a dimension into one block for each
/// rank. `TH_ERR_SHAPE` if the size of the dimension is not a multiple of the number of ranks.
static inline THStatus TH_NCCL_reduceScatter(THTensor *r, const THTensor *t, ncclRedOp_t op, int dimension, THNccl *nccl) {
    static const char name[] = "TH_NCCL_reduceScatter";
    th_nccl_call call;
    ncclDataType_t type = ncclUint8;
    int d = 0;
    int64_t *block = NULL;
    if (!r || !t) return th_nccl_null(name, r ? "t" : "r");
    THStatus status = th_nccl_begin(&call, name, nccl, t);
    if (status == TH_OK) status = TH_NCCL_dtype(&type, (THDtype)t->dtype, op);
    if (status == TH_OK) status = th_nccl_dimension(&d, name, t, dimension);
    if (status == TH_OK) block = (int64_t *)malloc((size_t)(t->nDimension + 1) * sizeof *block);
    if (status == TH_OK && !block) status = th_nccl_fail(TH_ERR_NOMEM, "%s: out of memory", name);
    if (status == TH_OK) status = th_nccl_blocks(&call, nccl, d, block);
    if (status == TH_OK) status = th_nccl_prepare(&call, nccl, r, t->nDimension, block, -1);
    if (status == TH_OK) {
        /* A result that is the rank's own block of the input is in place for NCCL. Otherwise an overlapping input is
         * copied. */
        char *own = (char *)THTensor_data(call.from) + (size_t)nccl->rank * th_nccl_bytes(call.to);
        if (own != (char *)THTensor_data(call.to)) status = th_nccl_separate(&call, 0);
    }
    if (status == TH_OK) {
        status = th_nccl_asked(&call, nccl, ncclReduceScatter(th_nccl_from(&call), th_nccl_to(&call), th_nccl_elements(call.to), type, op,
                                                              nccl->comm, th_nccl_stream(&call)));
    }
    free(block);
    return th_nccl_end(&call, nccl, status);
}

/// Sends the elements of `t` to rank `peer`, which calls TH_NCCL_recv. Two ranks that send to each other must use a
/// group.
static inline THStatus TH_NCCL_send(const THTensor *t, int peer, THNccl *nccl) {
    static const char name[] = "TH_NCCL_send";
    th_nccl_call call;
    if (th_nccl_rank(name, nccl, peer) != TH_OK) return TH_ERR_ARGUMENT;
    if (!t) return th_nccl_null(name, "t");
    THStatus status = th_nccl_begin(&call, name, nccl, t);
    if (status == TH_OK) status = th_nccl_source(&call);
    if (status == TH_OK) {
        status = th_nccl_asked(&call, nccl, ncclSend(th_nccl_from(&call), th_nccl_bytes(call.from), ncclUint8, peer, nccl->comm,
                                                     th_nccl_stream(&call)));
    }
    return th_nccl_end(&call, nccl, status);
}

/// `r` = the elements that rank `peer` sends by TH_NCCL_send. `r` has the shape and the dtype of the sent tensor.
static inline THStatus TH_NCCL_recv(THTensor *r, int peer, THNccl *nccl) {
    static const char name[] = "TH_NCCL_recv";
    th_nccl_call call;
    if (th_nccl_rank(name, nccl, peer) != TH_OK) return TH_ERR_ARGUMENT;
    if (!r) return th_nccl_null(name, "r");
    THStatus status = th_nccl_begin(&call, name, nccl, r);
    if (status == TH_OK) status = th_nccl_into(&call, nccl, r);
    if (status == TH_OK) {
        status = th_nccl_asked(&call, nccl, ncclRecv(th_nccl_to(&call), th_nccl_bytes(call.to), ncclUint8, peer, nccl->comm,
                                                     th_nccl_stream(&call)));
    }
    return th_nccl_end(&call, nccl, status);
}

#endif /* THORN_NCCL_H */
