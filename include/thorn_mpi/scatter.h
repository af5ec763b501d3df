/**
 * @file scatter.h
 * @brief Collectives that cut tensors along a dimension into a part for each rank. Included by thorn_mpi.h.
 *
 * For parts, dimensions and errors see parts.h; for operations see collectives.h.
 */

#ifndef THORN_MPI_SCATTER_H
#define THORN_MPI_SCATTER_H

#include "parts.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------- reduceScatter */

/* Returns a view of `t` with dimension `dim` moved to the front. New reference; NULL on error. */
static inline THTensor *th_mpi_new_dim_first(const THTensor *t, int dim) {
    int64_t dims[1024];
    int n = 0;
    dims[n++] = dim;
    for (int d = 0; d < t->nDimension; d++) {
        if (d != dim) dims[n++] = d;
    }
    return THTensor_newPermute(t, n, dims);
}

/* Reduces contiguous elements, of which part `p` has `parts[p] * inner`. `counts` has room for one int for each
 * rank. */
static inline int th_mpi_reduce_parts(THMpiCall *call, const void *from, void *to, const int64_t *parts, int64_t inner, THDtype dtype,
                                      MPI_Op op, int *counts) {
    const int ranks = call->state->size;
    int64_t total = 0;
    int code = MPI_SUCCESS;
    for (int p = 0; p < ranks; p++) total += parts[p];
    if (total <= TH_MPI_COUNT_MAX / (inner > 0 ? inner : 1)) {
        for (int p = 0; p < ranks; p++) counts[p] = (int)(parts[p] * inner);
        return th_mpi_do_reduce_scatter(call, from, to, counts, TH_MPI_datatype(dtype), op);
    }
    for (int p = 0; p < ranks && code == MPI_SUCCESS; p++) {
        void *mine = p == call->state->rank ? to : NULL;
        code = th_mpi_reduce_row(call, from, mine, parts[p] * inner, dtype, op, p);
        from = (const char *)from + parts[p] * inner * th_mpi_bytes((int)dtype);
    }
    return code;
}

/* The state of a reduceScatter before the ranks agree; all steps that can fail on one rank come first. `shaped` is the
 * result in the caller's order of dimensions. `source` and `result` are views with the divided dimension first. */
typedef struct th_mpi_reduce_scatter_call {
    int64_t *parts;
    int *counts;
    MPI_Op use;
    THTensor *from;
    THTensor *to;
    th_mpi_source source;
    th_mpi_result shaped;
    th_mpi_result result;
} th_mpi_reduce_scatter_call;

static inline THStatus th_mpi_prepare_reduce_scatter(THMpiCall *call, th_mpi_reduce_scatter_call *c, THTensor *r, const THTensor *t,
                                                     const int64_t *parts, int dim, MPI_Op op) {
    int64_t size[1024];
    c->counts = (int *)malloc((size_t)call->state->size * sizeof *c->counts);
    if (!c->counts) return th_mpi_fail(TH_ERR_NOMEM, "%s: no memory for %d ranks", call->what, call->state->size);
    THStatus status = th_mpi_parts(call, c->parts, parts, t->size[dim]);
    int how = 0;
    if (status == TH_OK) status = th_mpi_reduction(&c->use, &how, call, t, op);
    if (status != TH_OK) return status;
    c->from = th_mpi_new_dim_first(t, dim);
    if (!c->from) return th_mpi_passed_on(call->what);
    status = th_mpi_read(&c->source, call, c->from, how, th_mpi_share(r, t));
    memcpy(size, t->size, (size_t)t->nDimension * sizeof *size);
    size[dim] = c->parts[call->state->rank];
    c->shaped.r = r;
    if (status == TH_OK) status = th_mpi_touch(r, call);
    if (status == TH_OK) status = th_mpi_shape(&c->shaped, call, (THDtype)t->dtype, t->nDimension, size, t);
    if (status != TH_OK) return status;
    c->to = th_mpi_new_dim_first(th_mpi_target(&c->shaped), dim);
    return c->to ? th_mpi_write(&c->result, call, c->to, how) : th_mpi_passed_on(call->what);
}

static inline THStatus th_mpi_reduce_scatter(THMpiCall *call, THTensor *r, const THTensor *t, const int64_t *parts, int dim, MPI_Op op) {
    th_mpi_reduce_scatter_call c;
    th_mpi_facts facts;
    memset(&c, 0, sizeof c);
    c.parts = th_mpi_new_list(call, 1);
    THStatus status = c.parts ? th_mpi_check_tensor(t, call, "t") : TH_ERR_NOMEM;
    if (status == TH_OK && !r) status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument 'r' is NULL", call->what);
    if (status == TH_OK) status = th_mpi_check_dim(call, t, &dim);
    th_mpi_facts_of(&facts, th_mpi_reduction_kind(call, TH_MPI_REDUCE_SCATTER, op, dim, 0), status == TH_OK ? t : NULL, -1, -1);
    if (status == TH_OK) status = th_mpi_prepare_reduce_scatter(call, &c, r, t, parts, dim, op);
    for (int p = 0; c.parts && p < call->state->size; p++) {
        facts.own[TH_MPI_SIZES] = th_mpi_hash(facts.own[TH_MPI_SIZES], c.parts[p]);
    }
    status = th_mpi_agree(call, status, &facts);
    if (status == TH_OK && facts.own[TH_MPI_ELEMENTS] > 0) {
        /* `t` itself may be the result, and may already have the shape of the result. */
        const int64_t inner = facts.own[TH_MPI_ELEMENTS] / c.from->size[0];
        int code = th_mpi_reduce_parts(call, th_mpi_data(c.source.t), th_mpi_data(c.result.at), c.parts, inner,
                                       (THDtype)c.source.t->dtype, c.use, c.counts);
        status = th_mpi_check(code, call->what);
    }
    status = th_mpi_written(&c.result, call, status);
    status = th_mpi_written(&c.shaped, call, status);
    th_mpi_end_source(&c.source, call);
    THTensor_free(c.from);
    THTensor_free(c.to);
    free(c.parts);
    th_mpi_free_memory(call, c.counts);
    return status;
}

/// `r` = this rank's part, along dimension `dim`, of `t[rank 0] op t[rank 1] op ...`. All `t` have the same dtype and
/// shape. `parts` has the sizes of the ranks' parts; NULL means even parts.
static inline THStatus TH_MPI_reduceScatter(THTensor *r, const THTensor *t, const int64_t *parts, int dim, MPI_Op op, MPI_Comm comm) {
    THMpiCall call;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_reduceScatter");
    return result == TH_OK ? th_mpi_end(&call, th_mpi_reduce_scatter(&call, r, t, parts, dim, op)) : result;
}

/* ------------------------------------------------------------------------------------------------------- scatter */

/* Scatters the parts of the root's `t` by MPI. `t` is NULL on other ranks. */
static inline THStatus th_mpi_scatter_parts(const th_mpi_rooted *c, THMpiCall *call, THTensor *r, const THTensor *t,
                                            int root) {
    const th_mpi_side *own = &c->own, *whole = &c->whole;
    void *to = th_mpi_data(r), *from = t ? th_mpi_data(t) : NULL;
    int code = c->is_long ? th_mpi_do_alltoallw(call, from, whole->counts, whole->places, whole->types, to, own->counts, own->places,
                                                own->types)
                          : th_mpi_do_scatterv(call, from, c->division.counts, c->division.places, c->division.type, to, c->part.count,
                                               c->part.type, root);
    return th_mpi_check(code, call->what);
}

static inline THStatus th_mpi_scatter(THMpiCall *call, THTensor *r, const THTensor *t, const int64_t *given, int dim, int root) {
    const int sends = call->state->rank == root;
    const int64_t kind = th_mpi_kind(TH_MPI_SCATTER, MPI_OP_NULL, dim, root);
    th_mpi_shape_header header;
    th_mpi_source source = {t, NULL};
    th_mpi_result result;
    th_mpi_rooted c;
    int64_t room = 0, *mine = th_mpi_words(call, &room);
    memset(&result, 0, sizeof result);
    memset(&c, 0, sizeof c);
    THStatus status = th_mpi_check_root(call, root);
    const int no_root = status != TH_OK;
    int64_t *parts = th_mpi_new_list(call, 1);
    if (status == TH_OK && !parts) status = TH_ERR_NOMEM;
    if (status == TH_OK && !r) status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument 'r' is NULL", call->what);
    if (status == TH_OK && sends) status = th_mpi_check_tensor(t, call, "t");
    if (status == TH_OK && sends) status = th_mpi_check_dim(call, t, &dim);
    if (status == TH_OK && sends) status = th_mpi_parts(call, parts, given, t->size[dim]);
    status = th_mpi_agree_again(call, status, kind);
    if (status == TH_OK || !(call->state->checked || no_root)) {
        status = th_mpi_bcast_header(call, status, &header, t, root);
        if (status == TH_OK) {
            status = th_mpi_check(th_mpi_do_scatter(call, parts, 1, MPI_INT64_T, mine, 1, MPI_INT64_T, root), call->what);
            room = *mine;
        }
    }
    if (status == TH_OK) {
        const int dims = (int)header.word[2], named = dim;
        int64_t *size = header.word + TH_MPI_SHAPE_HEAD, total = 0;
        int is_empty = 0;
        for (int d = 0; d < dims; d++) is_empty |= size[d] == 0;
        if (dim < 0) dim += dims;
        if (dim < 0 || dim >= dims) {
            status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: dimension %d out of range for %d dimensions", call->what, named,
                                 dims);
        } else {
            total = size[dim];
            size[dim] = room;
        }
        if (status == TH_OK && sends) status = th_mpi_read(&source, call, t, TH_MPI_ANY_LAYOUT, th_mpi_share(r, t));
        if (status == TH_OK) {
            status = th_mpi_write_shaped(&result, call, r, (THDtype)header.word[1], dims, size, sends ? t : NULL, TH_MPI_ANY_LAYOUT);
        }
        if (status == TH_OK) {
            status = th_mpi_prepare_rooted(&c, call, sends ? source.t : NULL, result.at, dim, root, parts, total);
        }
        status = th_mpi_agree_again(call, status, kind);
        if (status == TH_OK && !is_empty) {
            status = th_mpi_scatter_parts(&c, call, result.at, sends ? source.t : NULL, root);
        }
    }
    th_mpi_free_rooted(&c, call);
    th_mpi_end_source(&source, call);
    th_mpi_free_memory(call, parts);
    return th_mpi_written(&result, call, status);
}

/// `r` = this rank's part, along dimension `dim`, of `t` on rank `root`. `parts` has the sizes of the ranks' parts and
/// is used only on the root; NULL means even parts. On other ranks `t` is not used and may be NULL. All ranks must pass
/// the same `dim`: the same dimension as a positive and a negative number is an error.
static inline THStatus TH_MPI_scatter(THTensor *r, const THTensor *t, const int64_t *parts, int dim, int root, MPI_Comm comm) {
    THMpiCall call;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_scatter");
    return result == TH_OK ? th_mpi_end(&call, th_mpi_scatter(&call, r, t, parts, dim, root)) : result;
}

/* ------------------------------------------------------------------------------------------------------ alltoall */

/* Computes the shape of the result. For each rank, `theirs` has the number of entries of dimension `split` that come
 * from this rank, and the rank's size in dimension `join`. */
static inline THStatus th_mpi_alltoall_shape(THMpiCall *call, int64_t *size, const THTensor *t, int split, int join,
                                             const int64_t *theirs) {
    const int ranks = call->state->size;
    memcpy(size, t->size, (size_t)t->nDimension * sizeof *size);
    if (split != join) {
        size[split] = theirs[0];
        for (int p = 1; p < ranks; p++) {
            if (theirs[2 * p] == size[split]) continue;
            return th_mpi_fail(TH_ERR_SHAPE, "%s: %lld entries of dimension %d come from rank 0, and %lld from rank %d", call->what,
                               (long long)theirs[0], split, (long long)theirs[2 * p], p);
        }
    }
    size[join] = 0;
    for (int p = 0; p < ranks; p++) {
        const int64_t more = theirs[2 * p + (split != join)];
        if (more > INT64_MAX - size[join]) return th_mpi_fail(TH_ERR_SHAPE, "%s: the joined size overflows", call->what);
        size[join] += more;
    }
    return TH_OK;
}

static inline THStatus th_mpi_alltoall(THMpiCall *call, THTensor *r, const THTensor *t, const int64_t *given, int split, int join) {
    const int ranks = call->state->size;
    int64_t size[1024];
    th_mpi_source source = {t, NULL};
    th_mpi_result result;
    th_mpi_side out, in;
    th_mpi_facts facts;
    memset(&result, 0, sizeof result);
    memset(&out, 0, sizeof out);
    memset(&in, 0, sizeof in);
    int64_t *lists = th_mpi_new_list(call, 5), *mine = lists, *theirs = lists + 2 * (size_t)ranks;
    THStatus status = lists ? th_mpi_check_tensor(t, call, "t") : TH_ERR_NOMEM;
    if (status == TH_OK && !r) status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument 'r' is NULL", call->what);
    if (status == TH_OK) status = th_mpi_check_dim(call, t, &split);
    if (status == TH_OK) status = th_mpi_check_dim(call, t, &join);
    if (status == TH_OK) status = th_mpi_parts(call, lists + 4 * (size_t)ranks, given, t->size[split]);
    th_mpi_facts_of(&facts, th_mpi_kind(TH_MPI_ALLTOALL, MPI_OP_NULL, split, join), status == TH_OK ? t : NULL, split, join);
    status = th_mpi_agree(call, status, &facts);
    if (status == TH_OK) {
        for (int p = 0; p < ranks; p++) {
            mine[2 * p] = lists[4 * (size_t)ranks + (size_t)p];
            mine[2 * p + 1] = t->size[join];
        }
        status = th_mpi_check(th_mpi_do_alltoall(call, mine, 2, MPI_INT64_T, theirs, 2, MPI_INT64_T), call->what);
        if (status == TH_OK) status = th_mpi_alltoall_shape(call, size, t, split, join, theirs);
        if (status == TH_OK) status = th_mpi_read(&source, call, t, TH_MPI_ANY_LAYOUT, th_mpi_share(r, t));
        if (status == TH_OK) {
            status = th_mpi_write_shaped(&result, call, r, (THDtype)t->dtype, t->nDimension, size, t, TH_MPI_ANY_LAYOUT);
        }
        if (status == TH_OK) status = th_mpi_new_side(&out, call, (THDtype)source.t->dtype);
        if (status == TH_OK) status = th_mpi_new_side(&in, call, (THDtype)source.t->dtype);
        if (status == TH_OK) status = th_mpi_add_peers(&out, call, source.t, split, mine, 2);
        if (status == TH_OK) status = th_mpi_add_peers(&in, call, result.at, join, theirs + (split != join), 2);
        status = th_mpi_agree_again(call, status, facts.own[TH_MPI_KIND]);
        if (status == TH_OK) {
            status = th_mpi_check(th_mpi_do_alltoallw(call, th_mpi_data(source.t), out.counts, out.places, out.types,
                                                      th_mpi_data(result.at), in.counts, in.places, in.types), call->what);
        }
    }
    th_mpi_free_side(&out, call);
    th_mpi_free_side(&in, call);
    th_mpi_end_source(&source, call);
    th_mpi_free_memory(call, lists);
    return th_mpi_written(&result, call, status);
}

/// Each rank divides its `t` along dimension `split` and sends part `p` to rank `p`. `r` = the received parts, joined
/// along dimension `join` in the order of the ranks. `parts` has the sizes of the parts of `t`; NULL means even parts.
/// If `split` and `join` differ, all ranks must send the same number of entries of `split` to one rank. With `split` 1
/// and `join` 0, a matrix whose rows are distributed becomes a matrix whose columns are distributed.
static inline THStatus TH_MPI_alltoall(THTensor *r, const THTensor *t, const int64_t *parts, int split, int join, MPI_Comm comm) {
    THMpiCall call;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_alltoall");
    return result == TH_OK ? th_mpi_end(&call, th_mpi_alltoall(&call, r, t, parts, split, join)) : result;
}

#ifdef __cplusplus
}
#endif

#endif
