/**
 * @file scatter.h
 * @brief Collectives that cut tensors along a dimension into a part for each rank. Included by thorn_mpi.h.
 *
 * Parts, dimensions and errors are those of parts.h, operations those of collectives.h.
 */

#ifndef THORN_MPI_SCATTER_H
#define THORN_MPI_SCATTER_H

#include "parts.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------- reduceScatter */

/* The view of `t` in which dimension `dim` comes first. Returns a new reference; NULL on error. */
static inline THTensor *th_mpi_new_dim_first(const THTensor *t, int dim) {
    int64_t dims[1024];
    int n = 0;
    dims[n++] = dim;
    for (int d = 0; d < t->nDimension; d++) {
        if (d != dim) dims[n++] = d;
    }
    return THTensor_newPermute(t, n, dims);
}

/* Reduces rows of elements, of which part `p` has `parts[p] * inner`; `counts` has room for an int of each rank. */
static inline int th_mpi_reduce_parts(THMpiCall *call, const void *from, void *to, const int64_t *parts, int64_t inner, THDtype dtype,
                                      MPI_Op op, int *counts) {
    const int ranks = call->state->size;
    int64_t total = 0;
    int code = MPI_SUCCESS;
    for (int p = 0; p < ranks; p++) total += parts[p];
    if (total <= TH_MPI_COUNT_MAX / (inner > 0 ? inner : 1)) {
        for (int p = 0; p < ranks; p++) counts[p] = (int)(parts[p] * inner);
        return MPI_Reduce_scatter(from, to, counts, TH_MPI_datatype(dtype), op, call->comm);
    }
    for (int p = 0; p < ranks && code == MPI_SUCCESS; p++) {
        void *mine = p == call->state->rank ? to : NULL;
        code = th_mpi_reduce_row(from, mine, parts[p] * inner, dtype, op, p, call->comm);
        from = (const char *)from + parts[p] * inner * th_mpi_bytes((int)dtype);
    }
    return code;
}

/* The steps of a reduceScatter before ranks agree: all that can fail on one of them. `shaped` is the result as the caller
 * has it, `result` the view of it in which the dimension comes first, and so is `source`. */
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
    if (status == TH_OK) status = th_mpi_op(&c->use, call, (THDtype)t->dtype, op);
    if (status != TH_OK) return status;
    const int how = th_mpi_reduces_on_host(c->use, op);
    c->from = th_mpi_new_dim_first(t, dim);
    if (!c->from) return th_mpi_passed_on(call->what);
    status = th_mpi_read(&c->source, call, c->from, how, th_mpi_share(r, t));
    memcpy(size, t->size, (size_t)t->nDimension * sizeof *size);
    size[dim] = c->parts[call->state->rank];
    c->shaped.r = r;
    if (status == TH_OK) status = th_mpi_touch(r, call);
    if (status == TH_OK) status = th_mpi_shape(&c->shaped, call, (THDtype)t->dtype, t->nDimension, size, t);
    if (status != TH_OK) return status;
    c->to = th_mpi_new_dim_first(r, dim);
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
    th_mpi_facts_of(&facts, th_mpi_kind(TH_MPI_REDUCE_SCATTER, op, dim, 0), status == TH_OK ? t : NULL, -1, -1);
    if (status == TH_OK) status = th_mpi_prepare_reduce_scatter(call, &c, r, t, parts, dim, op);
    for (int p = 0; c.parts && p < call->state->size; p++) {
        facts.own[TH_MPI_SIZES] = th_mpi_hash(facts.own[TH_MPI_SIZES], c.parts[p]);
    }
    status = th_mpi_agree(call, status, &facts);
    if (status == TH_OK && facts.own[TH_MPI_ELEMENTS] > 0) {
        const int64_t inner = facts.own[TH_MPI_ELEMENTS] / t->size[dim];
        int code = th_mpi_reduce_parts(call, th_mpi_data(c.source.t), th_mpi_data(c.result.at), c.parts, inner, (THDtype)t->dtype,
                                       c.use, c.counts);
        status = th_mpi_check(code, call->what);
    }
    status = th_mpi_written(&c.result, call, status);
    status = th_mpi_written(&c.shaped, call, status);
    THTensor_free(c.source.own);
    THTensor_free(c.from);
    THTensor_free(c.to);
    free(c.parts);
    free(c.counts);
    return status;
}

/// `r` = this rank's part along dimension `dim` of `t[rank 0] op t[rank 1] op ...`, where all `t` have one dtype and shape.
/// `parts` has the ranks' sizes, or is NULL for even ones.
static inline THStatus TH_MPI_reduceScatter(THTensor *r, const THTensor *t, const int64_t *parts, int dim, MPI_Op op, MPI_Comm comm) {
    THMpiCall call;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_reduceScatter");
    return result == TH_OK ? th_mpi_end(&call, th_mpi_reduce_scatter(&call, r, t, parts, dim, op)) : result;
}

/* ------------------------------------------------------------------------------------------------------- scatter */

/* Hands the parts of the root's `t` to MPI: all at once, or one call for each rank if the dimension is too long for that. */
static inline THStatus th_mpi_scatter_parts(THMpiCall *call, THTensor *r, const THTensor *t, int dim, int root, const int64_t *parts,
                                            int64_t total) {
    const int ranks = call->state->size, sends = call->state->rank == root;
    th_mpi_division division = {MPI_DATATYPE_NULL, NULL, NULL};
    th_mpi_layout layout;
    th_mpi_buffer in, out = {NULL, 0, MPI_BYTE};
    th_mpi_slab(&layout, r, dim, r->size[dim], 1);
    THStatus status = th_mpi_count_of(&in, call, (THDtype)r->dtype, &layout);
    if (status == TH_OK && sends) status = th_mpi_divide(&division, call, t, dim, parts);
    if (status == TH_OK && total <= TH_MPI_COUNT_MAX) {
        status = th_mpi_check(MPI_Scatterv(sends ? th_mpi_data(t) : NULL, division.counts, division.places,
                                           sends ? division.type : MPI_BYTE, th_mpi_data(r), in.count, in.type, root, call->comm),
                              call->what);
    } else if (status == TH_OK) {
        if (sends) memset(division.places, 0, (size_t)ranks * sizeof(int));
        for (int p = 0; p < ranks && status == TH_OK; p++) {
            const char *place = sends ? (const char *)th_mpi_data(t) + th_mpi_place(t, dim, parts, p) : NULL;
            if (sends) {
                th_mpi_slab(&layout, t, dim, parts[p], 1);
                status = th_mpi_count_of(&out, call, (THDtype)t->dtype, &layout);
                for (int q = 0; q < ranks; q++) division.counts[q] = q == p ? out.count : 0;
            }
            if (status != TH_OK) break;
            status = th_mpi_check(MPI_Scatterv(place, division.counts, division.places, out.type, th_mpi_data(r),
                                               p == call->state->rank ? in.count : 0, in.type, root, call->comm), call->what);
        }
    }
    free(division.counts);
    return status;
}

static inline THStatus th_mpi_scatter(THMpiCall *call, THTensor *r, const THTensor *t, const int64_t *given, int dim, int root) {
    const int sends = call->state->rank == root;
    const int64_t kind = th_mpi_kind(TH_MPI_SCATTER, MPI_OP_NULL, dim, root);
    th_mpi_shape_header header;
    th_mpi_source source = {t, NULL};
    th_mpi_result result;
    int64_t mine = 0;
    memset(&result, 0, sizeof result);
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
            status = th_mpi_check(MPI_Scatter(parts, 1, MPI_INT64_T, &mine, 1, MPI_INT64_T, root, call->comm), call->what);
        }
    }
    if (status == TH_OK) {
        const int dims = (int)header.word[2];
        int64_t *size = header.word + TH_MPI_SHAPE_HEAD, total = 0, elements = 1;
        if (dim < 0) dim += dims;
        for (int d = 0; d < dims; d++) elements *= size[d] > 0;
        total = size[dim];
        size[dim] = mine;
        if (sends) status = th_mpi_read(&source, call, t, TH_MPI_ANY_LAYOUT, th_mpi_share(r, t));
        if (status == TH_OK) {
            status = th_mpi_write_shaped(&result, call, r, (THDtype)header.word[1], dims, size, sends ? t : NULL, TH_MPI_ANY_LAYOUT);
        }
        status = th_mpi_agree_again(call, status, kind);
        if (status == TH_OK && elements) status = th_mpi_scatter_parts(call, result.at, source.t, dim, root, parts, total);
    }
    THTensor_free(source.own);
    free(parts);
    return th_mpi_written(&result, call, status);
}

/// `r` = this rank's part along dimension `dim` of `t` on rank `root`. `parts`, which counts on the root alone, has the
/// ranks' sizes, or is NULL for even ones. Elsewhere `t` is not used and may be NULL. All ranks name the dimension in one
/// way, negative or not.
static inline THStatus TH_MPI_scatter(THTensor *r, const THTensor *t, const int64_t *parts, int dim, int root, MPI_Comm comm) {
    THMpiCall call;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_scatter");
    return result == TH_OK ? th_mpi_end(&call, th_mpi_scatter(&call, r, t, parts, dim, root)) : result;
}

/* ------------------------------------------------------------------------------------------------------ alltoall */

/* One side of an exchange in which each pair of ranks has counts, places and a datatype of its own. */
typedef struct th_mpi_side {
    int *counts;
    int *places;
    int *owned;
    MPI_Datatype *types;
    th_mpi_layout last;
    MPI_Datatype last_type;
} th_mpi_side;

static inline THStatus th_mpi_new_side(th_mpi_side *side, THMpiCall *call) {
    const size_t ranks = (size_t)call->state->size;
    side->counts = (int *)calloc(3 * ranks, sizeof *side->counts);
    side->types = (MPI_Datatype *)calloc(ranks, sizeof *side->types);
    side->last.dims = -1;
    if (!side->counts || !side->types) return th_mpi_fail(TH_ERR_NOMEM, "%s: no memory for %d ranks", call->what, call->state->size);
    side->places = side->counts + ranks;
    side->owned = side->places + ranks;
    return TH_OK;
}

static inline void th_mpi_free_side(th_mpi_side *side, int ranks) {
    for (int p = 0; side->counts && side->types && p < ranks; p++) {
        if (side->owned[p]) MPI_Type_free(&side->types[p]);
    }
    free(side->counts);
    free(side->types);
}

/* Adds the elements that rank `p` sends or gets: `layout`, `place` bytes behind the tensor's first element. A layout like
 * the one before takes its datatype; a place that is no int becomes part of the datatype. */
static inline THStatus th_mpi_add_peer(th_mpi_side *side, THMpiCall *call, int p, THDtype dtype, const th_mpi_layout *layout,
                                       int64_t place) {
    const MPI_Datatype element = TH_MPI_datatype(dtype);
    const size_t bytes = layout->empty ? 0 : (size_t)layout->dims * sizeof(int64_t);
    const int near = place <= INT_MAX;
    int code = MPI_SUCCESS;
    side->types[p] = element;
    if (layout->empty) return TH_OK;
    side->counts[p] = 1;
    side->places[p] = near ? (int)place : 0;
    if (near && th_mpi_is_row(layout) && (layout->dims == 0 || layout->size[0] <= TH_MPI_COUNT_MAX)) {
        side->counts[p] = layout->dims == 0 ? 1 : (int)layout->size[0];
        side->last.dims = -1;
        return TH_OK;
    }
    if (near && side->last.dims == layout->dims && memcmp(side->last.size, layout->size, bytes) == 0 &&
        memcmp(side->last.step, layout->step, bytes) == 0) {
        side->types[p] = side->last_type;
        return TH_OK;
    }
    MPI_Datatype made;
    code = th_mpi_new_type(&made, element, layout, TH_MPI_NO_EXTENT);
    if (code == MPI_SUCCESS && !near) {
        const int one = 1;
        const MPI_Aint at = (MPI_Aint)place;
        MPI_Datatype moved;
        code = MPI_Type_create_hindexed(1, &one, &at, made, &moved);
        MPI_Type_free(&made);
        made = moved;
        if (code == MPI_SUCCESS) code = MPI_Type_commit(&made);
    }
    if (code != MPI_SUCCESS) return th_mpi_check(code, call->what);
    side->types[p] = side->last_type = made;
    side->owned[p] = 1;
    side->last.dims = near ? layout->dims : -1;
    memcpy(side->last.size, layout->size, bytes);
    memcpy(side->last.step, layout->step, bytes);
    return TH_OK;
}

/* Adds all ranks: `size[2 * p]` entries of dimension `dim` of `t` for rank `p`. */
static inline THStatus th_mpi_add_peers(th_mpi_side *side, THMpiCall *call, const THTensor *t, int dim, const int64_t *size) {
    th_mpi_layout layout;
    int64_t entry = 0;
    THStatus status = TH_OK;
    for (int p = 0; p < call->state->size && status == TH_OK; p++) {
        th_mpi_slab(&layout, t, dim, size[2 * p], 0);
        status = th_mpi_add_peer(side, call, p, (THDtype)t->dtype, &layout, entry * th_mpi_step(t, dim));
        entry += size[2 * p];
    }
    return status;
}

/* The shape of the result: `theirs` has, of each rank, how many entries of its dimension `split` come here, and its size in
 * dimension `join`. */
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
        status = th_mpi_check(MPI_Alltoall(mine, 2, MPI_INT64_T, theirs, 2, MPI_INT64_T, call->comm), call->what);
        if (status == TH_OK) status = th_mpi_alltoall_shape(call, size, t, split, join, theirs);
        if (status == TH_OK) status = th_mpi_read(&source, call, t, TH_MPI_ANY_LAYOUT, th_mpi_share(r, t));
        if (status == TH_OK) {
            status = th_mpi_write_shaped(&result, call, r, (THDtype)t->dtype, t->nDimension, size, t, TH_MPI_ANY_LAYOUT);
        }
        if (status == TH_OK) status = th_mpi_new_side(&out, call);
        if (status == TH_OK) status = th_mpi_new_side(&in, call);
        if (status == TH_OK) status = th_mpi_add_peers(&out, call, source.t, split, mine);
        if (status == TH_OK) status = th_mpi_add_peers(&in, call, result.at, join, theirs + (split != join));
        status = th_mpi_agree_again(call, status, facts.own[TH_MPI_KIND]);
        if (status == TH_OK) {
            status = th_mpi_check(MPI_Alltoallw(th_mpi_data(source.t), out.counts, out.places, out.types, th_mpi_data(result.at),
                                                in.counts, in.places, in.types, call->comm), call->what);
        }
    }
    th_mpi_free_side(&out, ranks);
    th_mpi_free_side(&in, ranks);
    THTensor_free(source.own);
    free(lists);
    return th_mpi_written(&result, call, status);
}

/// Each rank cuts its `t` along dimension `split` and sends part `p` to rank `p`; `r` = the parts that come, joined along
/// dimension `join` in the order of the ranks. `parts` has the sizes of the parts of `t`, or is NULL for even ones. With
/// different dimensions, each rank sends as much of `split` to one rank as all others do, and a matrix cut into rows
/// becomes one cut into columns (`split` 1, `join` 0).
static inline THStatus TH_MPI_alltoall(THTensor *r, const THTensor *t, const int64_t *parts, int split, int join, MPI_Comm comm) {
    THMpiCall call;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_alltoall");
    return result == TH_OK ? th_mpi_end(&call, th_mpi_alltoall(&call, r, t, parts, split, join)) : result;
}

#ifdef __cplusplus
}
#endif

#endif
