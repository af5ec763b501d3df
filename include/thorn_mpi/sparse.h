/**
 * @file sparse.h
 * @brief Sparse tensors over MPI. Included by thorn_mpi.h.
 *
 *     TH_MPI_allreduceSparse(r, s, MPI_COMM_WORLD);            // r = the sum of the ranks' s
 *
 * Positions and values are sent as dense tensors, so the number of entries may differ among the ranks. A matrix that is
 * compressed by rows is sent with coordinates, and all results have coordinates. A fresh result gets sizes and dtype;
 * any other result must have the dtype, and gets new components. Gradients do not pass through these functions. The
 * functions always compare their arguments among the ranks. Errors: `TH_ERR_SHAPE`, sizes or numbers of sparse dimensions
 * differ among the ranks, and the message names both; `TH_ERR_DTYPE`, dtypes differ, or a result of another dtype; and
 * the errors of thorn_mpi.h.
 */

#ifndef THORN_MPI_SPARSE_H
#define THORN_MPI_SPARSE_H

#include "messages.h"
#include "parts.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The dense tensors that describe a sparse tensor. `head`, int64: the number of sparse dimensions, whether the tensor is
 * coalesced, and the sizes. */
typedef struct th_mpi_sparse {
    THTensor *part[3]; /* head, indices, values */
    int checked;       /* the setting of the communicator, to be restored */
} th_mpi_sparse;

enum { TH_MPI_HEAD, TH_MPI_INDICES, TH_MPI_VALUES, TH_MPI_SPARSE_PARTS, TH_MPI_SPARSE_HEAD = 2 };

/* Begins a call on sparse tensors, whose arguments are always compared. The parts are fresh handles. */
static inline THStatus th_mpi_begin_sparse(th_mpi_sparse *parts, THMpiCall *call, MPI_Comm comm, const char *what) {
    memset(parts, 0, sizeof *parts);
    THStatus status = th_mpi_begin(call, comm, what);
    if (status != TH_OK) return status;
    parts->checked = call->state->checked;
    call->state->checked = 1;
    return TH_OK;
}

static inline void th_mpi_free_parts(th_mpi_sparse *parts) {
    for (int i = 0; i < TH_MPI_SPARSE_PARTS; i++) THTensor_free(parts->part[i]);
    memset(parts->part, 0, sizeof parts->part);
}

static inline THStatus th_mpi_end_sparse(th_mpi_sparse *parts, THMpiCall *call, THStatus status) {
    th_mpi_free_parts(parts);
    call->state->checked = parts->checked;
    return th_mpi_end(call, status);
}

/* Creates fresh handles for parts to be received. */
static inline THStatus th_mpi_new_parts(th_mpi_sparse *parts, const THMpiCall *call) {
    for (int i = 0; i < TH_MPI_SPARSE_PARTS; i++) {
        if (!(parts->part[i] = THTensor_new())) return th_mpi_passed_on(call->what);
    }
    return TH_OK;
}

/* Fails if a sparse tensor is NULL or fresh. */
static inline THStatus th_mpi_check_sparse(const THMpiCall *call, const THSTensor *s) {
    if (!s) return th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument 's' is NULL", call->what);
    if (!s->values) return th_mpi_fail(TH_ERR_DTYPE, "%s: argument 's' has no dtype yet", call->what);
    return TH_OK;
}

/* Fails if a result is NULL or has another dtype. */
static inline THStatus th_mpi_check_sparse_result(const THMpiCall *call, const THSTensor *r, int dtype) {
    if (!r) return th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument 'r' is NULL", call->what);
    if (!r->values || r->values->dtype == dtype) return TH_OK;
    return th_mpi_fail(TH_ERR_DTYPE, "%s: the result holds %s, and %s comes", call->what, THDtype_name((THDtype)r->values->dtype),
                       THDtype_name((THDtype)dtype));
}

/* Fills the parts of a sparse tensor, which are new references. */
static inline THStatus th_mpi_parts_of(th_mpi_sparse *parts, const THMpiCall *call, const THSTensor *s) {
    const int dims = s->nDimensionI + s->nDimensionV;
    const int64_t length = TH_MPI_SPARSE_HEAD + dims;
    THTensor *values = THSTensor_newValues(s), *head = THTensor_newWithSizesOn(TH_INT64, TH_CPU, 0, 1, &length);
    parts->part[TH_MPI_HEAD] = head;
    parts->part[TH_MPI_INDICES] = THSTensor_newIndices(s);
    parts->part[TH_MPI_VALUES] = values ? THTensor_newDetach(values) : NULL;
    THTensor_free(values);
    if (!head || !parts->part[TH_MPI_INDICES] || !parts->part[TH_MPI_VALUES]) return th_mpi_passed_on(call->what);
    int64_t *words = (int64_t *)th_mpi_data(head);
    words[0] = s->nDimensionI;
    words[1] = THSTensor_isCoalesced(s);
    memcpy(words + TH_MPI_SPARSE_HEAD, s->size, (size_t)dims * sizeof *words);
    return TH_OK;
}

/* Makes `r` a sparse tensor with the given components and sizes. With `coalesces` 1, entries of one position are summed. */
static inline THStatus th_mpi_make_sparse(THSTensor *r, const THMpiCall *call, THTensor *indices, THTensor *values, int dims,
                                          const int64_t *size, int coalesces) {
    THStatus status = th_mpi_check_sparse_result(call, r, values->dtype);
    if (status != TH_OK) return status;
    THSTensor *made = THSTensor_newWithTensorAndSize(indices, values, dims, size);
    status = !made ? THGetLastErrorCode() : coalesces ? THSTensor_coalesce(r, made) : THSTensor_copy(r, made);
    THSTensor_free(made);
    return status == TH_OK ? TH_OK : th_mpi_passed_on(call->what);
}

/* Makes `r` from received parts. */
static inline THStatus th_mpi_from_parts(THSTensor *r, const THMpiCall *call, const th_mpi_sparse *parts) {
    const THTensor *head = parts->part[TH_MPI_HEAD];
    if (head->dtype != TH_INT64 || head->nDimension != 1 || head->size[0] < TH_MPI_SPARSE_HEAD || !THTensor_isContiguous(head)) {
        return th_mpi_fail(TH_ERR_SHAPE, "%s: the message is no sparse tensor", call->what);
    }
    const int64_t *words = (const int64_t *)th_mpi_data(head);
    return th_mpi_make_sparse(r, call, parts->part[TH_MPI_INDICES], parts->part[TH_MPI_VALUES], (int)head->size[0] - TH_MPI_SPARSE_HEAD,
                              words + TH_MPI_SPARSE_HEAD, words[1] != 0);
}

/* ------------------------------------------------------------------------------------------------------- messages */

/// Sends the sparse tensor `s` to rank `dest`, which receives with TH_MPI_recvSparse: three pairs of messages with one
/// tag.
static inline THStatus TH_MPI_sendSparse(const THSTensor *s, int dest, int tag, MPI_Comm comm) {
    THMpiCall call;
    th_mpi_sparse parts;
    th_mpi_shape_header header;
    THStatus status = th_mpi_begin_sparse(&parts, &call, comm, "TH_MPI_sendSparse");
    if (status != TH_OK) return status;
    status = th_mpi_check_sparse(&call, s);
    if (status == TH_OK) status = th_mpi_parts_of(&parts, &call, s);
    for (int i = 0; i < TH_MPI_SPARSE_PARTS && status == TH_OK; i++) {
        th_mpi_describe(&header, parts.part[i]);
        status = th_mpi_send(&call, &header, parts.part[i], dest, tag);
    }
    return th_mpi_end_sparse(&parts, &call, status);
}

/// Receives a sparse tensor from TH_MPI_sendSparse. `status` as for TH_MPI_recv. With MPI_PROC_NULL nothing is received,
/// and `r` is unchanged. Errors: `TH_ERR_SHAPE`, the message is no sparse tensor.
static inline THStatus TH_MPI_recvSparse(THSTensor *r, int source, int tag, MPI_Comm comm, MPI_Status *status) {
    THMpiCall call;
    th_mpi_sparse parts;
    MPI_Status came;
    THStatus result = th_mpi_begin_sparse(&parts, &call, comm, "TH_MPI_recvSparse");
    if (result != TH_OK) return result;
    result = r ? th_mpi_new_parts(&parts, &call) : th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument 'r' is NULL", call.what);
    for (int i = 0; i < TH_MPI_SPARSE_PARTS && result == TH_OK; i++) {
        result = th_mpi_recv_shaped(&call, parts.part[i], source, tag, &came);
        if (result == TH_OK) source = came.MPI_SOURCE, tag = came.MPI_TAG;
    }
    if (result == TH_OK && source != MPI_PROC_NULL) result = th_mpi_from_parts(r, &call, &parts);
    if (result == TH_OK) th_mpi_tell(status, &came);
    return th_mpi_end_sparse(&parts, &call, result);
}

/* ---------------------------------------------------------------------------------------------------- collectives */

/// Copies sizes, dtype and entries of `r` on rank `root` to `r` on all ranks.
static inline THStatus TH_MPI_bcastSparse(THSTensor *r, int root, MPI_Comm comm) {
    THMpiCall call;
    th_mpi_sparse parts;
    THStatus status = th_mpi_begin_sparse(&parts, &call, comm, "TH_MPI_bcastSparse");
    if (status != TH_OK) return status;
    const int sends = call.state->rank == root;
    const int64_t kind = th_mpi_kind(TH_MPI_SPARSE, MPI_OP_NULL, 0, root);
    status = th_mpi_check_root(&call, root);
    if (status == TH_OK && !r) status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument 'r' is NULL", call.what);
    if (status == TH_OK && sends) status = th_mpi_check_sparse(&call, r);
    if (status == TH_OK) status = sends ? th_mpi_parts_of(&parts, &call, r) : th_mpi_new_parts(&parts, &call);
    status = th_mpi_agree_again(&call, status, kind);
    for (int i = 0; i < TH_MPI_SPARSE_PARTS && status == TH_OK; i++) status = th_mpi_bcast_shaped(&call, parts.part[i], root);
    if (status == TH_OK && !sends) status = th_mpi_from_parts(r, &call, &parts);
    return th_mpi_end_sparse(&parts, &call, th_mpi_agree_again(&call, status, kind));
}

/* Compares the arguments of a collective: dtype, sizes except dimension `dim`, and the number of sparse dimensions. */
static inline THStatus th_mpi_agree_sparse(THMpiCall *call, THStatus status, const THSTensor *s, int64_t kind, int dim) {
    th_mpi_facts facts;
    char text[128];
    th_mpi_facts_of(&facts, kind, NULL, -1, -1);
    if (status == TH_OK) {
        const int dims = s->nDimensionI + s->nDimensionV;
        int at = snprintf(text, sizeof text, "%s with %d sparse of the sizes [", THDtype_name((THDtype)s->values->dtype), s->nDimensionI);
        facts.own[TH_MPI_DTYPE] = s->values->dtype;
        facts.own[TH_MPI_RANK] = (int64_t)dims << 16 | s->nDimensionI;
        for (int d = 0; d < dims; d++) {
            if (d != dim) facts.own[TH_MPI_SIZES] = th_mpi_hash(facts.own[TH_MPI_SIZES], s->size[d]);
            if (at < 96) at += snprintf(text + at, sizeof text - (size_t)at, "%s%lld", d ? ", " : "", (long long)s->size[d]);
        }
        snprintf(text + at, sizeof text - (size_t)at, "]");
        facts.text = text;
    }
    return th_mpi_agree(call, status, &facts);
}

/* Adds the ranks' entries. The sums are computed in float32 if the values are 16-bit floats. */
static inline THStatus th_mpi_allreduce_sparse(THMpiCall *call, THSTensor *r, const THSTensor *s, th_mpi_sparse *parts) {
    th_mpi_sparse all;
    THSTensor *sum = NULL;
    memset(&all, 0, sizeof all);
    const int64_t kind = th_mpi_kind(TH_MPI_SPARSE, MPI_SUM, 1, 0);
    THStatus status = th_mpi_check_sparse(call, s);
    if (status == TH_OK) status = th_mpi_check_sparse_result(call, r, s->values->dtype);
    THSTensor *own = status == TH_OK ? THSTensor_newCoalesce(s) : NULL;
    if (status == TH_OK) status = own ? th_mpi_parts_of(parts, call, own) : th_mpi_passed_on(call->what);
    if (status == TH_OK) status = th_mpi_new_parts(&all, call);
    const THDtype dtype = status == TH_OK ? (THDtype)s->values->dtype : TH_UNDEFINED;
    if (dtype == TH_FLOAT16 || dtype == TH_BFLOAT16) {
        THTensor *wide = THTensor_newTo(parts->part[TH_MPI_VALUES], TH_FLOAT32);
        if (!wide) status = th_mpi_passed_on(call->what);
        THTensor_free(parts->part[TH_MPI_VALUES]);
        parts->part[TH_MPI_VALUES] = wide;
    }
    status = th_mpi_agree_sparse(call, status, s, kind, -1);
    if (status == TH_OK) status = th_mpi_allgather(call, all.part[TH_MPI_INDICES], parts->part[TH_MPI_INDICES], 1);
    if (status == TH_OK) status = th_mpi_allgather(call, all.part[TH_MPI_VALUES], parts->part[TH_MPI_VALUES], 0);
    if (status == TH_OK) {
        const int dims = s->nDimensionI + s->nDimensionV;
        sum = THSTensor_new();
        status = sum ? th_mpi_make_sparse(sum, call, all.part[TH_MPI_INDICES], all.part[TH_MPI_VALUES], dims, s->size, 1)
                     : th_mpi_passed_on(call->what);
        THTensor *values = status == TH_OK ? THTensor_newTo(sum->values, dtype) : NULL;
        if (values) status = th_mpi_make_sparse(r, call, sum->indices, values, dims, s->size, 1);
        else if (status == TH_OK) status = th_mpi_passed_on(call->what);
        THTensor_free(values);
    }
    THSTensor_free(sum);
    THSTensor_free(own);
    th_mpi_free_parts(&all);
    return th_mpi_agree_again(call, status, kind);
}

/// `r = s[rank 0] + s[rank 1] + ...` on all ranks, coalesced: `r` has the union of the ranks' positions, and an entry is
/// the sum of the values at its position, added in the order of the ranks. So all ranks have the same bits. Entries whose
/// sum is 0 stay. 16-bit floats are added in float32 and rounded once. `r` may be `s`. All `s` have the same sizes,
/// dtype and number of sparse dimensions. Each rank receives the entries of all ranks.
static inline THStatus TH_MPI_allreduceSparse(THSTensor *r, const THSTensor *s, MPI_Comm comm) {
    THMpiCall call;
    th_mpi_sparse parts;
    THStatus status = th_mpi_begin_sparse(&parts, &call, comm, "TH_MPI_allreduceSparse");
    return status == TH_OK ? th_mpi_end_sparse(&parts, &call, th_mpi_allreduce_sparse(&call, r, s, &parts)) : status;
}

/* Adds `first` to row `dim` of the positions, in a copy. */
static inline THStatus th_mpi_move_positions(th_mpi_sparse *parts, const THMpiCall *call, int dim, int64_t first) {
    THTensor *moved = THTensor_newClone(parts->part[TH_MPI_INDICES]), *row = moved ? THTensor_newSelect(moved, 0, dim) : NULL;
    THStatus status = row ? THTensor_add(row, row, (double)first) : THGetLastErrorCode();
    THTensor_free(row);
    THTensor_free(parts->part[TH_MPI_INDICES]);
    parts->part[TH_MPI_INDICES] = moved;
    return status == TH_OK ? TH_OK : th_mpi_passed_on(call->what);
}

static inline THStatus th_mpi_gather_sparse(THMpiCall *call, THSTensor *r, const THSTensor *s, int dim, int root, th_mpi_sparse *parts) {
    const int gets = call->state->rank == root;
    th_mpi_sparse all;
    memset(&all, 0, sizeof all);
    int64_t *sizes = th_mpi_new_list(call, 1), room, *own = th_mpi_words(call, &room);
    THStatus status = sizes ? th_mpi_check_root(call, root) : TH_ERR_NOMEM;
    if (status == TH_OK) status = th_mpi_check_sparse(call, s);
    if (status == TH_OK && gets) status = th_mpi_check_sparse_result(call, r, s->values->dtype);
    if (status == TH_OK && dim < 0) dim += s->nDimensionI + s->nDimensionV;
    if (status == TH_OK && (dim < 0 || dim >= s->nDimensionI)) {
        status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: dimension %d is none of %d sparse dimensions", call->what, dim, s->nDimensionI);
    }
    if (status == TH_OK) status = th_mpi_parts_of(parts, call, s);
    if (status == TH_OK) status = th_mpi_new_parts(&all, call);
    const int64_t kind = th_mpi_kind(TH_MPI_SPARSE, MPI_OP_NULL, dim + 2, root);
    status = th_mpi_agree_sparse(call, status, s, kind, dim);
    if (status == TH_OK) {
        int64_t first = 0, whole = 0;
        *own = s->size[dim];
        status = th_mpi_check(th_mpi_do_allgather(call, own, 1, MPI_INT64_T, sizes, 1, MPI_INT64_T), call->what);
        for (int p = 0; p < call->state->size && status == TH_OK; p++) {
            if (p == call->state->rank) first = whole;
            if (sizes[p] > INT64_MAX - whole) status = th_mpi_fail(TH_ERR_SHAPE, "%s: the joined size overflows", call->what);
            else whole += sizes[p];
        }
        if (status == TH_OK && first > ((int64_t)1 << 53)) {
            status = th_mpi_fail(TH_ERR_SHAPE, "%s: the joined size exceeds 2^53", call->what);
        }
        if (status == TH_OK) status = th_mpi_move_positions(parts, call, dim, first);
        status = th_mpi_agree_again(call, status, kind);
        if (status == TH_OK) status = th_mpi_gather(call, all.part[TH_MPI_INDICES], parts->part[TH_MPI_INDICES], 1, root);
        if (status == TH_OK) status = th_mpi_gather(call, all.part[TH_MPI_VALUES], parts->part[TH_MPI_VALUES], 0, root);
        if (status == TH_OK && gets) {
            const int dims = s->nDimensionI + s->nDimensionV;
            int64_t *size = (int64_t *)th_mpi_data(parts->part[TH_MPI_HEAD]) + TH_MPI_SPARSE_HEAD;
            size[dim] = whole;
            status = th_mpi_make_sparse(r, call, all.part[TH_MPI_INDICES], all.part[TH_MPI_VALUES], dims, size, 0);
        }
        status = th_mpi_agree_again(call, status, kind);
    }
    th_mpi_free_memory(call, sizes);
    th_mpi_free_parts(&all);
    return status;
}

/// On rank `root`, `r` = the sparse tensors `s` of all ranks, joined along the sparse dimension `dim` in the order of the
/// ranks: an entry of rank `p` moves by the sum of the sizes of the ranks before `p`. On other ranks `r` is not used and
/// may be NULL. The sizes along `dim` may differ. The entries keep their order, and are not coalesced.
static inline THStatus TH_MPI_gatherSparse(THSTensor *r, const THSTensor *s, int dim, int root, MPI_Comm comm) {
    THMpiCall call;
    th_mpi_sparse parts;
    THStatus status = th_mpi_begin_sparse(&parts, &call, comm, "TH_MPI_gatherSparse");
    return status == TH_OK ? th_mpi_end_sparse(&parts, &call, th_mpi_gather_sparse(&call, r, s, dim, root, &parts)) : status;
}

#ifdef __cplusplus
}
#endif

#endif
