/**
 * @file shards.h
 * @brief Data-parallel training in which each rank keeps the optimizer's state of a share of the parameters (ZeRO
 * stage 1). Included by thorn_mpi.h.
 *
 *     THMpiGradients *gradients = TH_MPI_newGradients(parameters, count, 0, 1, comm);
 *     THMpiShards *shards = TH_MPI_newShards(parameters, count, comm);
 *     THOptim *optimizer = shards->owned ? THOptim_newAdam(shards->own, shards->owned, 1e-3, 0.9, 0.999, 1e-8, 0, 0) : NULL;
 *     for (...) {
 *         TH_MPI_zeroShards(shards, 1);
 *         ...                                                              // the loss of this rank's part of the batch
 *         THStatus status = TH_MPI_allreduceGradients(gradients, THTensor_backward(loss, NULL));
 *         if (status == TH_OK) status = TH_MPI_stepShards(shards, optimizer);
 *     }
 *
 * Rank `p` steps its share of the parameters, `w[i] = step(w[i], gradient[i], state[i])` for all `i` with `owner[i] ==
 * p`, and then sends these parameters to all ranks. The result has the bits of the step of one optimizer for all
 * parameters, for every optimizer that steps each parameter separately: all of thorn except L-BFGS. Adam in float32
 * has 8 bytes of state for each element of a parameter, so that `n` elements need about `8 n / ranks` bytes on each
 * rank. Shares are whole parameters. They are chosen in the order of decreasing size, each for the rank with the fewest
 * bytes, so that a share exceeds the mean by less than the largest parameter.
 */

#ifndef THORN_MPI_SHARDS_H
#define THORN_MPI_SHARDS_H

#include "gradients.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The shares of the ranks of a model's parameters. The fields are read-only.
typedef struct THMpiShards {
    MPI_Comm comm;        ///< A duplicate of the communicator, only for these parameters.
    int count;            ///< Number of parameters.
    THTensor **parameter; ///< The parameters.
    int *owner;           ///< `owner[i]`: the rank that steps parameter `i`.
    int owned;            ///< Number of this rank's parameters; 0 if there are more ranks than parameters.
    THTensor **own;       ///< This rank's parameters, in the order of `parameter`.
} THMpiShards;

/* A parameter's number and size, for sorting. */
typedef struct th_mpi_sized {
    int64_t bytes;
    int index;
} th_mpi_sized;

static inline int th_mpi_larger_first(const void *a, const void *b) {
    const th_mpi_sized *x = (const th_mpi_sized *)a, *y = (const th_mpi_sized *)b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return x->index < y->index ? -1 : 1;
}

/* Chooses the owners of all parameters. Returns a hash of sizes and dtypes. */
static inline int64_t th_mpi_choose_owners(THMpiShards *s, th_mpi_sized *sized, int64_t *load, int ranks) {
    int64_t hash = 1;
    for (int i = 0; i < s->count; i++) {
        const THTensor *t = s->parameter[i];
        sized[i].index = i;
        sized[i].bytes = (int64_t)THTensor_nElement(t) * th_mpi_bytes(t->dtype);
        hash = th_mpi_hash(th_mpi_hash(hash, t->dtype), t->nDimension);
        for (int d = 0; d < t->nDimension; d++) hash = th_mpi_hash(hash, t->size[d]);
    }
    qsort(sized, (size_t)s->count, sizeof *sized, th_mpi_larger_first);
    for (int k = 0; k < s->count; k++) {
        int least = 0;
        for (int p = 1; p < ranks; p++) {
            if (load[p] < load[least]) least = p;
        }
        /* A parameter without elements counts, so that such parameters are distributed, too. */
        load[least] += sized[k].bytes + 1;
        s->owner[sized[k].index] = least;
    }
    return hash;
}

/* Fills the shares, without communication except the comparison of arguments. */
static inline THStatus th_mpi_fill_shards(THMpiShards *s, THMpiCall *call, THTensor *const *parameters, int count) {
    THStatus status = TH_OK;
    th_mpi_facts facts;
    if (count < 0 || (count > 0 && !parameters)) {
        status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument 'parameters' is NULL, or the count negative", call->what);
        count = 0;
    }
    for (int i = 0; i < count && status == TH_OK; i++) status = th_mpi_check_parameter(call, parameters[i], i);
    const size_t room = (size_t)count + 1;
    s->parameter = (THTensor **)calloc(room, sizeof(THTensor *));
    s->own = (THTensor **)calloc(room, sizeof(THTensor *));
    s->owner = (int *)calloc(room, sizeof *s->owner);
    th_mpi_sized *sized = (th_mpi_sized *)calloc(room, sizeof *sized);
    int64_t *load = (int64_t *)calloc((size_t)call->state->size, sizeof *load);
    if (status == TH_OK && (!s->parameter || !s->own || !s->owner || !sized || !load)) {
        status = th_mpi_fail(TH_ERR_NOMEM, "%s: out of memory", call->what);
    }
    th_mpi_facts_of(&facts, th_mpi_kind(TH_MPI_SHARDS, MPI_OP_NULL, 0, 0), NULL, -1, -1);
    facts.own[TH_MPI_RANK] = count;
    if (status == TH_OK) {
        for (; s->count < count; s->count++) THTensor_retain(s->parameter[s->count] = parameters[s->count]);
        facts.own[TH_MPI_SIZES] = th_mpi_choose_owners(s, sized, load, call->state->size);
        for (int i = 0; i < count; i++) {
            if (s->owner[i] == call->state->rank) s->own[s->owned++] = parameters[i];
        }
    }
    free(sized);
    free(load);
    return th_mpi_compare(call, status, &facts);
}

/// Frees `shards`, after the optimizer; NULL is ignored. All ranks call this. After MPI_Finalize the function frees the
/// memory, and returns `TH_ERR_ARGUMENT`.
static inline THStatus TH_MPI_freeShards(THMpiShards *shards) {
    static const char what[] = "TH_MPI_freeShards";
    if (!shards) return TH_OK;
    THStatus status = th_mpi_check_runs(what);
    for (int i = 0; i < shards->count; i++) THTensor_free(shards->parameter[i]);
    if (status == TH_OK && shards->comm != MPI_COMM_NULL) {
        THMpiCall call;
        status = th_mpi_begin(&call, shards->comm, what);
        const int lost = status == TH_OK && call.state->lost;
        if (status == TH_OK) th_mpi_end(&call, TH_OK);
        if (!lost) status = th_mpi_check(MPI_Comm_free(&shards->comm), what);
    }
    free(shards->parameter);
    free(shards->own);
    free(shards->owner);
    free(shards);
    return status;
}

/// Divides `count` parameters among the ranks of a communicator. Parameters are leaves that require a gradient. All
/// ranks pass parameters of the same shapes and dtypes in the same order, which have the same elements. The result holds
/// references to the parameters. Free the result with TH_MPI_freeShards. NULL, on all ranks, on error.
TH_NODISCARD static inline THMpiShards *TH_MPI_newShards(THTensor *const *parameters, int count, MPI_Comm comm) {
    THMpiCall call, own;
    if (th_mpi_begin(&call, comm, "TH_MPI_newShards") != TH_OK) return NULL;
    THMpiShards *s = (THMpiShards *)calloc(1, sizeof *s);
    THStatus status = s ? TH_OK : th_mpi_fail(TH_ERR_NOMEM, "%s: out of memory", call.what);
    if (s) s->comm = MPI_COMM_NULL;
    if (s) status = th_mpi_fill_shards(s, &call, parameters, count);
    else status = th_mpi_agree_again(&call, status, 0);
    /* All ranks have the same status. */
    if (status == TH_OK) {
        status = th_mpi_check(MPI_Comm_dup(comm, &s->comm), call.what);
        if (status == TH_OK) status = th_mpi_begin(&own, s->comm, call.what);
        const int begun = status == TH_OK;
        if (begun) own.state->checked = call.state->checked;
        status = th_mpi_agree_again(&call, status, th_mpi_kind(TH_MPI_SHARDS, MPI_OP_NULL, 1, 0));
        if (status == TH_OK) status = th_mpi_inherit(&own, &call);
        if (begun) th_mpi_end(&own, status);
    }
    if (status != TH_OK) {
        char text[1024];
        snprintf(text, sizeof text, "%s", THGetLastError());
        TH_MPI_freeShards(s);
        THSetLastError(status, text);
        s = NULL;
    }
    th_mpi_end(&call, status);
    return s;
}

/* Sends each parameter from its owner to all ranks. */
static inline THStatus th_mpi_share_parameters(THMpiCall *call, const THMpiShards *shards) {
    THStatus status = TH_OK;
    for (int i = 0; i < shards->count && status == TH_OK; i++) {
        th_mpi_facts facts;
        THTensor *t = shards->parameter[i];
        th_mpi_facts_of(&facts, th_mpi_kind(TH_MPI_SHARDS, MPI_OP_NULL, 2, shards->owner[i]), t, -1, -1);
        status = th_mpi_bcast_elements(call, TH_OK, &facts, t, shards->owner[i]);
    }
    return status;
}

/// Steps this rank's parameters by `optimizer`, whose parameters are `shards->own`, and sends each parameter from its
/// owner to all ranks. All ranks call this. A rank without parameters passes NULL. If the step fails on a rank, all ranks
/// return an error, and nothing is sent: parameters of other ranks may have been stepped, so the ranks continue from a
/// checkpoint.
static inline THStatus TH_MPI_stepShards(const THMpiShards *shards, const THOptim *optimizer) {
    static const char what[] = "TH_MPI_stepShards";
    THMpiCall call;
    if (!shards) return th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument 'shards' is NULL", what);
    THStatus status = th_mpi_begin(&call, shards->comm, what);
    if (status != TH_OK) return status;
    if (!optimizer != (shards->owned == 0)) {
        status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: this rank has %d parameters, and argument 'optimizer' is %s", what, shards->owned,
                             optimizer ? "not NULL" : "NULL");
    }
    if (status == TH_OK && optimizer && THOptim_step(optimizer) != TH_OK) status = th_mpi_passed_on(what);
    th_mpi_facts facts;
    th_mpi_facts_of(&facts, th_mpi_kind(TH_MPI_SHARDS, MPI_OP_NULL, 3, 0), NULL, -1, -1);
    status = th_mpi_compare(&call, status, &facts);
    const int records = THGrad_isEnabled();
    if (records) THGrad_setEnabled(0);
    if (status == TH_OK) status = th_mpi_share_parameters(&call, shards);
    if (records) THGrad_setEnabled(1);
    return th_mpi_end(&call, status);
}

/// Fills the gradients of all parameters with 0, or removes the gradients if `toNull` is not 0, as THOptim_zeroGrad does.
/// Does not communicate.
static inline THStatus TH_MPI_zeroShards(const THMpiShards *shards, int toNull) {
    static const char what[] = "TH_MPI_zeroShards";
    THStatus status = TH_OK;
    if (!shards) return th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument 'shards' is NULL", what);
    for (int i = 0; i < shards->count && status == TH_OK; i++) {
        THTensor *gradient = toNull ? NULL : THTensor_newGrad(shards->parameter[i]);
        if (toNull) status = THTensor_setGrad(shards->parameter[i], NULL);
        else if (gradient) status = THTensor_zero(gradient);
        THTensor_free(gradient);
    }
    return status == TH_OK ? TH_OK : th_mpi_passed_on(what);
}

#ifdef __cplusplus
}
#endif

#endif
