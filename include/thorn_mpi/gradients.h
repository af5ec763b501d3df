/**
 * @file gradients.h
 * @brief Data-parallel training: gradients averaged over ranks while backward runs. Included by thorn_mpi.h.
 *
 *     THMpiGradients *gradients = TH_MPI_newGradients(parameters, count, 0, 1, comm);
 *     for (...) {
 *         THOptim_zeroGrad(optimizer, 1);
 *         ...                                                              // the loss of this rank's part of the batch
 *         THStatus status = THTensor_backward(loss, NULL);
 *         status = TH_MPI_allreduceGradients(gradients, status);           // the mean of all ranks' gradients
 *         if (status == TH_OK) status = THOptim_step(optimizer);
 *     }
 *     TH_MPI_freeGradients(gradients);
 *
 * Each rank has a copy of a model, and computes the loss for its part of the data. Gradients are copied into buckets,
 * the last parameters first, because backward reaches them first. A bucket is reduced by MPI_Iallreduce as soon as
 * backward has computed all gradients of the bucket and the reductions of all previous buckets have begun. Meanwhile
 * backward computes further gradients. If parameters do not take part in the loss, buckets remain incomplete and are
 * reduced after backward. Ranks may use different parameters: a missing gradient on one rank counts as 0, and a
 * parameter that lacks a gradient on all ranks gets none. A parameter that is used several times counts once, with its
 * total gradient.
 *
 * 16-bit gradients are copied to float32 buckets, so that their mean or sum is rounded once: `r =
 * round16(float32(g[0]) / ranks + float32(g[1]) / ranks + ...)`. If TH_MPI_setReduction(comm, 1) was called before
 * TH_MPI_newGradients, the buckets have the dtype of the gradients, half of the memory, and each step rounds.
 *
 * With TH_MPI_setTimeout on the communicator, a timeout of TH_MPI_allreduceGradients is final: all later calls with the
 * object fail at once, and the parameters' gradients are unchanged.
 *
 * To start from the same parameters, the ranks call TH_MPI_bcast for each parameter, between THGrad_setEnabled(0) and
 * THGrad_setEnabled(1). The parameters remain equal if all ranks apply the same steps to the same gradients.
 */

#ifndef THORN_MPI_GRADIENTS_H
#define THORN_MPI_GRADIENTS_H

#include "collectives.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Contiguous gradients of one dtype and device, which are reduced together. */
typedef struct th_mpi_bucket {
    int64_t elements;
    int like;               /* a parameter of the bucket's dtype and device */
    int count;              /* parameters in the bucket */
    int filled;             /* parameters whose gradient is in the bucket */
    int begun, done;        /* the reduction has begun; the reduction has ended */
    THTensor *flat;         /* the gradients */
    THTensor *host;         /* a copy of the gradients in pinned memory, or NULL */
    THCudaEvent *copied;    /* on a GPU: `host` is copied, or, without `host`, the bucket is full */
    MPI_Op op;
    MPI_Request request;
} th_mpi_bucket;

struct THMpiGradients;

/* A parameter, and the place of its gradient in a bucket. */
typedef struct th_mpi_parameter {
    struct THMpiGradients *owner;
    THTensor *t;
    THTensor *slot;         /* a view of the bucket in the parameter's shape */
    int64_t hook;
    int bucket;
    int seen;               /* the gradient is in the bucket */
} th_mpi_parameter;

/// Parameters of a model whose gradients are averaged over the ranks of a communicator.
typedef struct THMpiGradients {
    MPI_Comm comm;              ///< A duplicate of the communicator, only for these reductions.
    THMpiState *state;          ///< The state of `comm`.
    int size;                   ///< Number of ranks.
    int average;                ///< 1 for the mean of the ranks' gradients, 0 for their sum.
    int held;                   ///< 1 while backward runs without reductions.
    int count;                  ///< Number of parameters.
    int buckets;                ///< Number of buckets.
    int next;                   ///< The first bucket whose reduction has not begun.
    th_mpi_parameter *parameter; ///< The parameters.
    th_mpi_bucket *bucket;      ///< The buckets.
    unsigned char *used;        ///< `used[i]`: a rank has a gradient of parameter i. `used[count]`: a rank has failed.
    THStatus status;            ///< The first failure since the last TH_MPI_allreduceGradients.
    char text[512];             ///< The message of that failure.
} THMpiGradients;

/** @cond */
#define TH_MPI_BUCKET_BYTES (25 << 20)
/** @endcond */

/* ---------------------------------------------------------------------------------------------------- reductions */

/* Fills the call of a reduction. */
static inline void th_mpi_call_of(THMpiCall *call, const THMpiGradients *g) {
    memset(call, 0, sizeof *call);
    call->what = "TH_MPI_allreduceGradients";
    call->comm = g->comm;
    call->state = g->state;
}

/* Stores the first failure. */
static inline THStatus th_mpi_note(THMpiGradients *g, THStatus status) {
    if (status == TH_OK || g->status != TH_OK) return status;
    g->status = status;
    snprintf(g->text, sizeof g->text, "%s", THGetLastError());
    return status;
}

/* Begins the reduction of a full bucket. With `wait` 0, returns without beginning if the GPU has not filled the bucket
 * yet. */
static inline THStatus th_mpi_begin_bucket(THMpiGradients *g, th_mpi_bucket *b, int wait) {
    static const char what[] = "TH_MPI_allreduceGradients";
    THStatus status = TH_OK;
    if (b->copied) {
        if (!wait && !THCudaEvent_hasPassed(b->copied)) return TH_OK;
        status = THCudaEvent_synchronize(b->copied);
        if (status != TH_OK) status = th_mpi_passed_on(what);
    }
    void *data = th_mpi_data(b->host ? b->host : b->flat);
    const THDtype dtype = (THDtype)b->flat->dtype;
    int code = MPI_SUCCESS;
    b->begun = 1;
    if (b->elements > TH_MPI_COUNT_MAX) {
        THMpiCall call;
        th_mpi_call_of(&call, g);
        code = th_mpi_reduce_row(&call, MPI_IN_PLACE, data, b->elements, dtype, b->op, -1);
        th_mpi_keep(&call, b->host ? b->host : b->flat);
        b->done = 1;
    } else {
        code = MPI_Iallreduce(MPI_IN_PLACE, data, (int)b->elements, TH_MPI_datatype(dtype), b->op, g->comm, &b->request);
        b->done = code != MPI_SUCCESS;
    }
    return status == TH_OK ? th_mpi_check(code, what) : status;
}

/* Begins the reductions of full buckets in order, and lets MPI progress the oldest reduction. */
static inline THStatus th_mpi_advance(THMpiGradients *g) {
    THStatus status = TH_OK;
    for (; g->next < g->buckets && status == TH_OK; g->next++) {
        th_mpi_bucket *b = &g->bucket[g->next];
        if (b->filled < b->count) break;
        status = th_mpi_begin_bucket(g, b, 0);
        if (!b->begun) break;
    }
    for (int i = 0; i < g->next; i++) {
        th_mpi_bucket *b = &g->bucket[i];
        if (b->done) continue;
        int code = MPI_Test(&b->request, &b->done, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS) b->done = 1;
        if (status == TH_OK) status = th_mpi_check(code, "TH_MPI_allreduceGradients");
        break;
    }
    return status;
}

/* Stores `scale * gradient` in a view of a bucket, in the dtype of the bucket. */
static inline THStatus th_mpi_scale(THTensor *slot, const THTensor *gradient, double scale) {
    if (slot->dtype == gradient->dtype) return THTensor_mul(slot, gradient, scale);
    THStatus status = THTensor_copy(slot, gradient);
    return status == TH_OK && scale != 1 ? THTensor_mul(slot, slot, scale) : status;
}

/* Adds a gradient and the parameter's previous gradient, and stores the sum in the bucket. Either may be missing. */
static inline THStatus th_mpi_put(THMpiGradients *g, th_mpi_parameter *p, const THTensor *gradient) {
    th_mpi_bucket *b = &g->bucket[p->bucket];
    const double scale = g->average ? 1.0 / g->size : 1.0;
    THTensor *before = THTensor_newGrad(p->t);
    THStatus status = TH_OK;
    p->seen = 1;
    b->filled++;
    if (before || gradient) status = th_mpi_scale(p->slot, gradient ? gradient : before, scale);
    else status = THTensor_zero(p->slot);
    if (status == TH_OK && before && gradient) status = THTensor_cadd(p->slot, p->slot, scale, before);
    THTensor_free(before);
    if (status == TH_OK && b->filled == b->count && b->host) status = THTensor_copyAsync(b->host, b->flat);
    if (status == TH_OK && b->filled == b->count && b->copied) {
        THCudaStream *stream = THCudaStream_newCurrent(b->flat->deviceIndex);
        status = stream ? THCudaEvent_record(b->copied, stream) : THGetLastErrorCode();
        THCudaStream_free(stream);
    }
    return status == TH_OK ? TH_OK : th_mpi_passed_on("TH_MPI_allreduceGradients");
}

/* Backward calls this with the gradient of a parameter. */
static inline THStatus th_mpi_gradient_came(const THTensor *gradient, THTensor **replacement, void *context) {
    th_mpi_parameter *p = (th_mpi_parameter *)context;
    THMpiGradients *g = p->owner;
    (void)replacement;
    if (g->held || g->status != TH_OK || !th_mpi_runs() || g->state->lost) return TH_OK;
    if (p->seen) {
        return th_mpi_note(g, th_mpi_fail(TH_ERR_ARGUMENT, "TH_MPI_allreduceGradients: it must be called after each backward, or "
                                          "TH_MPI_holdGradients before"));
    }
    const int records = THGrad_isEnabled();
    if (records) THGrad_setEnabled(0);
    th_mpi_note(g, th_mpi_put(g, p, gradient));
    if (g->status == TH_OK) th_mpi_note(g, th_mpi_advance(g));
    if (records) THGrad_setEnabled(1);
    g->used[p - g->parameter] = 1;
    /* backward itself has succeeded: TH_MPI_allreduceGradients reports the failure on all ranks. */
    return TH_OK;
}

/* ----------------------------------------------------------------------------------------------------- preparing */

/* Fails unless a tensor is a leaf that requires a gradient. */
static inline THStatus th_mpi_check_parameter(THMpiCall *call, const THTensor *t, int i) {
    if (!t) return th_mpi_fail(TH_ERR_ARGUMENT, "%s: parameter %d is NULL", call->what, i);
    if (!THTensor_isLeaf(t) || !THTensor_requiresGrad(t)) {
        return th_mpi_fail(TH_ERR_ARGUMENT, "%s: parameter %d is no leaf that requires a gradient", call->what, i);
    }
    return TH_OK;
}

/* Returns the last bucket with the dtype and device of a parameter; -1 if no such bucket exists. */
static inline int th_mpi_last_bucket(const THMpiGradients *g, const THTensor *t) {
    int k = g->buckets - 1;
    for (; k >= 0; k--) {
        const THTensor *like = g->parameter[g->bucket[k].like].t;
        if (like->dtype == t->dtype && like->deviceType == t->deviceType && like->deviceIndex == t->deviceIndex) break;
    }
    return k;
}

/* Returns the dtype of the bucket of a parameter. */
static inline THDtype th_mpi_bucket_dtype(const THMpiGradients *g, const THTensor *t) {
    const int half = t->dtype == TH_FLOAT16 || t->dtype == TH_BFLOAT16;
    return half && !g->state->rounds_each ? TH_FLOAT32 : (THDtype)t->dtype;
}

/* Assigns a bucket to each parameter, from the last parameter to the first. Returns a hash of the assignment. */
static inline int64_t th_mpi_choose_buckets(THMpiGradients *g, int64_t bytes) {
    int64_t hash = 1 + g->state->rounds_each;
    for (int i = g->count - 1; i >= 0; i--) {
        const THTensor *t = g->parameter[i].t;
        const int64_t elements = (int64_t)THTensor_nElement(t), item = th_mpi_bytes((int)th_mpi_bucket_dtype(g, t));
        int k = th_mpi_last_bucket(g, t);
        if (k < 0 || (g->bucket[k].elements + elements) * item > bytes) {
            k = g->buckets++;
            g->bucket[k].like = i;
        }
        g->parameter[i].bucket = k;
        g->bucket[k].elements += elements;
        g->bucket[k].count++;
        hash = th_mpi_hash(th_mpi_hash(th_mpi_hash(hash, k), t->dtype), t->nDimension);
        for (int d = 0; d < t->nDimension; d++) hash = th_mpi_hash(hash, t->size[d]);
    }
    return hash;
}

/* Allocates the memory of a bucket. */
static inline THStatus th_mpi_make_bucket(THMpiCall *call, th_mpi_bucket *b, const THTensor *like, THDtype dtype) {
    b->flat = THTensor_newWithSizesOn(dtype, (THDeviceType)like->deviceType, like->deviceIndex, 1, &b->elements);
    if (!b->flat) return th_mpi_passed_on(call->what);
    THStatus status = th_mpi_op(&b->op, call, dtype, MPI_SUM);
    if (status != TH_OK || like->deviceType != TH_CUDA) return status;
    b->copied = THCudaEvent_new(like->deviceIndex, 0);
    if (b->op != MPI_SUM || !TH_MPI_isCudaAware()) b->host = th_mpi_new_on_host(b->flat, dtype);
    const int lacks = !b->copied || (!b->host && (b->op != MPI_SUM || !TH_MPI_isCudaAware()));
    return lacks ? th_mpi_passed_on(call->what) : TH_OK;
}

/* Creates the buckets, the parameters' views of the buckets, and the hooks. */
static inline THStatus th_mpi_make_buckets(THMpiGradients *g, THMpiCall *call) {
    THStatus status = TH_OK;
    int64_t *at = (int64_t *)calloc((size_t)g->buckets + 1, sizeof *at);
    if (!at) return th_mpi_fail(TH_ERR_NOMEM, "%s: out of memory", call->what);
    for (int k = 0; k < g->buckets && status == TH_OK; k++) {
        const THTensor *like = g->parameter[g->bucket[k].like].t;
        status = th_mpi_make_bucket(call, &g->bucket[k], like, th_mpi_bucket_dtype(g, like));
    }
    for (int i = g->count - 1; i >= 0 && status == TH_OK; i--) {
        th_mpi_parameter *p = &g->parameter[i];
        const int64_t elements = (int64_t)THTensor_nElement(p->t);
        THTensor *part = THTensor_newNarrow(g->bucket[p->bucket].flat, 0, at[p->bucket], elements);
        at[p->bucket] += elements;
        p->slot = part ? THTensor_newView(part, p->t->nDimension, p->t->size) : NULL;
        THTensor_free(part);
        if (p->slot) p->hook = THTensor_addHook(p->t, th_mpi_gradient_came, p, NULL);
        if (!p->slot || p->hook < 0) status = th_mpi_passed_on(call->what);
    }
    free(at);
    return status;
}

/* Gives the reductions that have not ended to the communicator, after one of them has timed out. */
static inline void th_mpi_abandon_buckets(THMpiGradients *g) {
    for (int k = 0; k < g->buckets; k++) {
        th_mpi_bucket *b = &g->bucket[k];
        THMpiCall call;
        if (!b->begun || b->done) continue;
        th_mpi_call_of(&call, g);
        th_mpi_abandon(&call, b->request, 1);
        th_mpi_keep(&call, b->host ? b->host : b->flat);
        b->done = 1;
    }
}

/// Frees `gradients`; NULL is ignored. All ranks call this, but not during backward. After MPI_Finalize the function
/// frees the memory, and returns `TH_ERR_ARGUMENT`. After a timeout the communicator is not freed.
static inline THStatus TH_MPI_freeGradients(THMpiGradients *gradients) {
    static const char what[] = "TH_MPI_freeGradients";
    THMpiGradients *g = gradients;
    if (!g) return TH_OK;
    THStatus status = th_mpi_check_runs(what);
    for (int i = 0; g->parameter && i < g->count; i++) {
        th_mpi_parameter *p = &g->parameter[i];
        if (p->hook >= 0) THTensor_removeHook(p->t, p->hook);
        THTensor_free(p->slot);
        THTensor_free(p->t);
    }
    for (int k = 0; g->bucket && k < g->buckets; k++) {
        th_mpi_bucket *b = &g->bucket[k];
        if (status == TH_OK && b->begun && !b->done) {
            THMpiCall call;
            th_mpi_call_of(&call, g);
            call.what = what;
            if (th_mpi_await(&call, b->request, TH_MPI_ALL_RANKS, 0) == TH_MPI_LATE) th_mpi_abandon_buckets(g);
            else MPI_Wait(&b->request, MPI_STATUS_IGNORE);
        }
        THTensor_free(b->flat);
        THTensor_free(b->host);
        THCudaEvent_free(b->copied);
    }
    const int lost = g->state && status == TH_OK && g->state->lost;
    if (status == TH_OK && g->comm != MPI_COMM_NULL && !lost) status = th_mpi_check(MPI_Comm_free(&g->comm), what);
    free(g->parameter);
    free(g->bucket);
    if (!lost) free(g->used);
    free(g);
    return status;
}

/* Creates everything except the communicator. */
static inline THStatus th_mpi_fill_gradients(THMpiGradients *g, THMpiCall *call, THTensor *const *parameters, int count, int64_t bytes) {
    THStatus status = TH_OK;
    if (count < 0 || (count > 0 && !parameters)) {
        status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument 'parameters' is NULL, or the count negative", call->what);
        count = 0;
    }
    for (int i = 0; i < count && status == TH_OK; i++) status = th_mpi_check_parameter(call, parameters[i], i);
    g->parameter = (th_mpi_parameter *)calloc((size_t)count + 1, sizeof *g->parameter);
    g->bucket = (th_mpi_bucket *)calloc((size_t)count + 1, sizeof *g->bucket);
    g->used = (unsigned char *)calloc((size_t)count + 1, 1);
    if (status == TH_OK && (!g->parameter || !g->bucket || !g->used)) status = th_mpi_fail(TH_ERR_NOMEM, "%s: out of memory", call->what);
    for (int i = 0; i < count && status == TH_OK; i++) {
        THTensor_retain(parameters[i]);
        g->parameter[i].owner = g;
        g->parameter[i].t = parameters[i];
        g->parameter[i].hook = -1;
        g->count = i + 1;
    }
    th_mpi_facts facts;
    th_mpi_facts_of(&facts, th_mpi_kind(TH_MPI_GRADIENTS, MPI_SUM, g->average, 0), NULL, -1, -1);
    facts.own[TH_MPI_RANK] = count;
    if (status == TH_OK) facts.own[TH_MPI_SIZES] = th_mpi_choose_buckets(g, bytes > 0 ? bytes : TH_MPI_BUCKET_BYTES);
    status = th_mpi_agree(call, status, &facts);
    if (status == TH_OK) status = th_mpi_agree_again(call, th_mpi_make_buckets(g, call), facts.own[TH_MPI_KIND]);
    return status;
}

/// Prepares averaging the gradients of `count` parameters over the ranks of a communicator; with `average` 0 the
/// gradients are summed. Parameters are leaves that require a gradient. A bucket has at most `bucketBytes` bytes, 25
/// MiB for 0, or a single parameter. All ranks pass parameters of the same shapes and dtypes in the same order. The
/// function adds a hook to each parameter: add hooks that change gradients before this call. The result holds
/// references to the parameters. Free the result with TH_MPI_freeGradients. NULL, on all ranks, on error.
TH_NODISCARD static inline THMpiGradients *TH_MPI_newGradients(THTensor *const *parameters, int count, int64_t bucketBytes, int average,
                                                               MPI_Comm comm) {
    THMpiCall call, own;
    if (th_mpi_begin(&call, comm, "TH_MPI_newGradients") != TH_OK) return NULL;
    THMpiGradients *g = (THMpiGradients *)calloc(1, sizeof *g);
    THStatus status = g ? TH_OK : th_mpi_fail(TH_ERR_NOMEM, "%s: out of memory", call.what);
    const int64_t kind = th_mpi_kind(TH_MPI_GRADIENTS, MPI_SUM, 0, 1);
    status = th_mpi_agree_again(&call, status, kind);
    if (g) g->comm = MPI_COMM_NULL;
    if (status == TH_OK) status = th_mpi_check(MPI_Comm_dup(comm, &g->comm), call.what);
    if (status == TH_OK) status = th_mpi_check(MPI_Comm_set_errhandler(g->comm, MPI_ERRORS_RETURN), call.what);
    if (status == TH_OK) status = th_mpi_begin(&own, g->comm, call.what);
    const int begun = status == TH_OK;
    if (begun) g->state = own.state;
    status = th_mpi_agree_again(&call, status, kind);
    if (status == TH_OK) status = th_mpi_inherit(&own, &call);
    if (status == TH_OK) {
        g->size = call.state->size;
        g->average = average != 0;
        status = th_mpi_fill_gradients(g, &own, parameters, count, bucketBytes);
    }
    if (begun) th_mpi_end(&own, status);
    char text[1024];
    snprintf(text, sizeof text, "%s", THGetLastError());
    if (status != TH_OK) {
        TH_MPI_freeGradients(g);
        THSetLastError(status, text);
        g = NULL;
    }
    th_mpi_end(&call, status);
    return g;
}

/* ------------------------------------------------------------------------------------------------------- a step */

/// With `hold` 1, backward accumulates gradients without sending them, until a call with `hold` 0. For a step whose
/// gradient comes from several calls of backward, hold all calls except the last. All ranks do the same.
static inline THStatus TH_MPI_holdGradients(THMpiGradients *gradients, int hold) {
    if (!gradients) return th_mpi_fail(TH_ERR_ARGUMENT, "TH_MPI_holdGradients: argument 'gradients' is NULL");
    gradients->held = hold != 0;
    return TH_OK;
}

/* Fills and begins the remaining buckets, and waits for all buckets. */
static inline void th_mpi_end_buckets(THMpiGradients *g) {
    THMpiCall call;
    th_mpi_call_of(&call, g);
    for (int i = 0; i < g->count; i++) {
        th_mpi_parameter *p = &g->parameter[i];
        if (p->seen) continue;
        THTensor *before = THTensor_newGrad(p->t);
        g->used[i] = before != NULL;
        THTensor_free(before);
        th_mpi_note(g, th_mpi_put(g, p, NULL));
    }
    for (; g->next < g->buckets; g->next++) th_mpi_note(g, th_mpi_begin_bucket(g, &g->bucket[g->next], 1));
    for (int k = 0; k < g->buckets; k++) {
        th_mpi_bucket *b = &g->bucket[k];
        if (!b->done) {
            call.about = b->flat;
            int code = th_mpi_await(&call, b->request, TH_MPI_ALL_RANKS, 0);
            if (code == TH_MPI_LATE) th_mpi_abandon_buckets(g);
            else code = MPI_Wait(&b->request, MPI_STATUS_IGNORE);
            th_mpi_note(g, th_mpi_check(code, call.what));
        }
        b->done = b->begun = b->filled = 0;
    }
    g->next = 0;
}

/* Copies the gradients from the buckets to the parameters. */
static inline THStatus th_mpi_store_gradients(THMpiGradients *g) {
    THStatus status = TH_OK;
    for (int k = 0; k < g->buckets && status == TH_OK; k++) {
        if (g->bucket[k].host) status = THTensor_copyAsync(g->bucket[k].flat, g->bucket[k].host);
    }
    for (int i = 0; i < g->count && status == TH_OK; i++) {
        th_mpi_parameter *p = &g->parameter[i];
        if (!g->used[i]) continue;
        THTensor *gradient = THTensor_newGrad(p->t);
        if (gradient) {
            status = THTensor_copy(gradient, p->slot);
        } else {
            const THDtype dtype = (THDtype)p->t->dtype;
            gradient = p->slot->dtype == (int)dtype ? THTensor_newClone(p->slot) : THTensor_newTo(p->slot, dtype);
            status = gradient ? THTensor_setGrad(p->t, gradient) : THGetLastErrorCode();
        }
        THTensor_free(gradient);
    }
    return status == TH_OK ? TH_OK : th_mpi_passed_on("TH_MPI_allreduceGradients");
}

/// Replaces each parameter's gradient by the mean, or the sum, over the ranks. Gradients from before backward are
/// included. The mean leaves such gradients unchanged if they are equal on all ranks; before a sum, clear the
/// gradients. All ranks call this after each backward that is not held, with the status that backward returned. If the
/// status is not TH_OK on one rank, all ranks return an error, and each rank keeps its own gradients. On a GPU the
/// gradients are available to later work of the thread's stream.
static inline THStatus TH_MPI_allreduceGradients(THMpiGradients *gradients, THStatus backward) {
    static const char what[] = "TH_MPI_allreduceGradients";
    THMpiGradients *g = gradients;
    char text[1024];
    snprintf(text, sizeof text, "%s", THGetLastError());
    if (!g) return th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument 'gradients' is NULL", what);
    THStatus runs = th_mpi_check_runs(what);
    if (runs != TH_OK) return runs;
    THMpiCall call;
    th_mpi_call_of(&call, g);
    if (g->state->lost) return th_mpi_check(th_mpi_lost(&call), what);
    const int records = THGrad_isEnabled();
    if (records) THGrad_setEnabled(0);
    th_mpi_end_buckets(g);
    THStatus status = backward != TH_OK ? backward : g->status;
    if (backward == TH_OK) snprintf(text, sizeof text, "%s", g->text);
    g->used[g->count] = status != TH_OK;
    THStatus shared = th_mpi_check(th_mpi_do_allreduce(&call, MPI_IN_PLACE, g->used, g->count + 1, MPI_UNSIGNED_CHAR, MPI_MAX), what);
    if (status != TH_OK) THSetLastError(status, text);
    else if (shared != TH_OK) status = shared;
    else if (g->used[g->count]) status = th_mpi_fail(TH_ERR_CALLBACK, "%s: backward has failed on another rank", what);
    else status = th_mpi_store_gradients(g);
    for (int i = 0; i < g->count; i++) g->parameter[i].seen = 0;
    if (!g->state->lost) memset(g->used, 0, (size_t)g->count + 1);
    g->status = TH_OK;
    if (records) THGrad_setEnabled(1);
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
