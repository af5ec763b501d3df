/**
 * @file parts.h
 * @brief Collectives that join the ranks' tensors along a dimension, or cut one into parts. Included by thorn_mpi.h.
 *
 * The parts are in the order of the ranks. Their sizes along the dimension may differ and may be 0; all other sizes are
 * the same on all ranks. A negative dimension counts from the end. A function that divides a tensor accepts a list of
 * the sizes of the ranks' parts, whose sum is the size of the dimension. If the list is NULL, the parts are even, as
 * TH_MPI_part computes them. Errors: `TH_ERR_SHAPE`, sizes that do not agree, or a list with another sum;
 * `TH_ERR_ARGUMENT`, a dimension out of range; and the errors of collectives.h.
 */

#ifndef THORN_MPI_PARTS_H
#define THORN_MPI_PARTS_H

#include "collectives.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Stores the first entry and the size of part `rank` of `total` entries. The parts are even: the first total % ranks
 * parts have one more entry. */
static inline void th_mpi_even(int64_t *first, int64_t *size, int64_t total, int ranks, int rank) {
    const int64_t each = total / ranks, rest = total % ranks;
    *first = each * rank + (rank < rest ? rank : rest);
    *size = each + (rank < rest);
}

/// Stores the first entry and the number of entries of this rank's part of `total` entries. Each part has total / ranks
/// entries; the first total % ranks parts have one more.
static inline THStatus TH_MPI_part(int64_t *first, int64_t *size, int64_t total, MPI_Comm comm) {
    THMpiCall call;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_part");
    if (result != TH_OK) return result;
    if (!first || !size || total < 0) {
        result = th_mpi_fail(TH_ERR_ARGUMENT, "%s: an argument is NULL, or a total of %lld", call.what, (long long)total);
    } else {
        th_mpi_even(first, size, total, call.state->size, call.state->rank);
    }
    return th_mpi_end(&call, result);
}

/* Converts a negative `*dim`, and fails if `*dim` is not a dimension of `t`. */
static inline THStatus th_mpi_check_dim(THMpiCall *call, const THTensor *t, int *dim) {
    const int given = *dim;
    if (*dim < 0) *dim += t->nDimension;
    if (*dim >= 0 && *dim < t->nDimension) return TH_OK;
    return th_mpi_fail(TH_ERR_ARGUMENT, "%s: dimension %d out of range for %d dimensions", call->what, given, t->nDimension);
}

/* Returns a list of `count` numbers for each rank, all 0; NULL, and an error, if memory runs out. */
static inline int64_t *th_mpi_new_list(THMpiCall *call, int count) {
    int64_t *list = (int64_t *)calloc((size_t)call->state->size * (size_t)count, sizeof *list);
    if (!list) th_mpi_fail(TH_ERR_NOMEM, "%s: no memory for %d ranks", call->what, call->state->size);
    return list;
}

/* Stores in `parts` the sizes of all parts: the caller's list `given`, or even parts if `given` is NULL. Fails if the
 * sum is not `total`. */
static inline THStatus th_mpi_parts(THMpiCall *call, int64_t *parts, const int64_t *given, int64_t total) {
    int64_t first, sum = 0;
    for (int p = 0; p < call->state->size; p++) {
        if (given) parts[p] = given[p];
        else th_mpi_even(&first, &parts[p], total, call->state->size, p);
        if (parts[p] < 0) {
            return th_mpi_fail(TH_ERR_SHAPE, "%s: parts[%d] is %lld: a part has 0 entries or more", call->what, p, (long long)parts[p]);
        }
        if (parts[p] > total - sum) {
            return th_mpi_fail(TH_ERR_SHAPE, "%s: parts[%d] is %lld, too large: %lld of the %lld entries of the dimension are left", call->what,
                               p, (long long)parts[p], (long long)(total - sum), (long long)total);
        }
        sum += parts[p];
    }
    if (sum == total) return TH_OK;
    return th_mpi_fail(TH_ERR_SHAPE, "%s: the parts sum to %lld, and the dimension has %lld entries", call->what, (long long)sum,
                       (long long)total);
}

/* Returns the number of entries before part `p`. */
static inline int64_t th_mpi_before(const int64_t *parts, int p) {
    int64_t entries = 0;
    while (p > 0) entries += parts[--p];
    return entries;
}

/* Stores the layout of `size` entries of dimension `dim` of a tensor. If `first` is 1, the dimension is the outermost
 * one. */
static inline void th_mpi_slab(th_mpi_layout *layout, const THTensor *t, int dim, int64_t size, int first) {
    int64_t sizes[1024], strides[1024];
    int n = 0;
    if (first) sizes[n] = size, strides[n++] = t->stride[dim];
    for (int d = 0; d < t->nDimension; d++) {
        if (first && d == dim) continue;
        sizes[n] = d == dim ? size : t->size[d];
        strides[n++] = t->stride[d];
    }
    th_mpi_layout_of(layout, th_mpi_bytes(t->dtype), n, sizes, strides);
}

/* The bytes between consecutive entries of a dimension. */
static inline int64_t th_mpi_step(const THTensor *t, int dim) { return t->stride[dim] * th_mpi_bytes(t->dtype); }

/* Stores in `*type` the datatype of one entry of dimension `dim`, with the step of this dimension in `t` as its extent.
 * Stores MPI_DATATYPE_NULL if the entries are empty. */
static inline THStatus th_mpi_entry_type(MPI_Datatype *type, THMpiCall *call, const THTensor *t, int dim) {
    th_mpi_layout layout;
    *type = MPI_DATATYPE_NULL;
    th_mpi_slab(&layout, t, dim, 1, 0);
    return layout.empty ? TH_OK : th_mpi_type(type, call, (THDtype)t->dtype, &layout, th_mpi_step(t, dim));
}

/* The parts of a tensor along a dimension, as arguments of MPI functions with counts and displacements. `type` is the
 * datatype of one entry of the dimension. */
typedef struct th_mpi_division {
    MPI_Datatype type;
    int *counts;
    int *places;
} th_mpi_division;

/* Fills the division of `t`, whose dimension has at most TH_MPI_COUNT_MAX entries. The caller frees `counts`, even
 * after a failure. */
static inline THStatus th_mpi_divide(th_mpi_division *division, THMpiCall *call, const THTensor *t, int dim,
                                     const int64_t *parts) {
    const int ranks = call->state->size;
    division->counts = (int *)calloc((size_t)ranks * 2, sizeof(int));
    if (!division->counts) return th_mpi_fail(TH_ERR_NOMEM, "%s: no memory for %d ranks", call->what, ranks);
    division->places = division->counts + ranks;
    for (int p = 0, place = 0; p < ranks; p++) {
        division->counts[p] = (int)parts[p];
        division->places[p] = place;
        place += (int)parts[p];
    }
    return th_mpi_entry_type(&division->type, call, t, dim);
}

/* One side of an exchange: count, displacement and datatype for each rank. `owned[p]` is 1 if `types[p]` must be freed.
 * `last` and `last_type` are the layout and the datatype of the last rank that was added. */
typedef struct th_mpi_side {
    int *counts;
    int *places;
    int *owned;
    MPI_Datatype *types;
    th_mpi_layout last;
    MPI_Datatype last_type;
} th_mpi_side;

/* Creates a side on which nothing is sent or received. The caller calls th_mpi_free_side, even after a failure. */
static inline THStatus th_mpi_new_side(th_mpi_side *side, THMpiCall *call, THDtype dtype) {
    const size_t ranks = (size_t)call->state->size;
    side->counts = (int *)calloc(3 * ranks, sizeof *side->counts);
    side->types = (MPI_Datatype *)calloc(ranks, sizeof *side->types);
    side->last.dims = -1;
    if (!side->counts || !side->types) {
        return th_mpi_fail(TH_ERR_NOMEM, "%s: no memory for %d ranks", call->what, call->state->size);
    }
    side->places = side->counts + ranks;
    side->owned = side->places + ranks;
    for (size_t p = 0; p < ranks; p++) side->types[p] = TH_MPI_datatype(dtype);
    return TH_OK;
}

static inline void th_mpi_free_side(th_mpi_side *side, const THMpiCall *call) {
    for (int p = 0; side->counts && side->types && p < call->state->size; p++) {
        if (side->owned[p]) MPI_Type_free(&side->types[p]);
    }
    th_mpi_free_memory(call, side->counts);
    th_mpi_free_memory(call, side->types);
}

/* Adds the elements for rank `p`: `layout`, at `place` bytes after the tensor's first element. If the layout equals the
 * layout of the previous rank, both share one datatype. A `place` beyond INT_MAX becomes part of the datatype. */
static inline THStatus th_mpi_add_peer(th_mpi_side *side, THMpiCall *call, int p, const th_mpi_layout *layout,
                                       int64_t place) {
    const MPI_Datatype element = side->types[p];
    const size_t bytes = layout->empty ? 0 : (size_t)layout->dims * sizeof(int64_t);
    const int near = place <= INT_MAX;
    int code = MPI_SUCCESS;
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

/* Adds `size[every * p]` entries of dimension `dim` of `t` for each rank `p`. */
static inline THStatus th_mpi_add_peers(th_mpi_side *side, THMpiCall *call, const THTensor *t, int dim,
                                        const int64_t *size, int every) {
    th_mpi_layout layout;
    int64_t entry = 0;
    THStatus status = TH_OK;
    for (int p = 0; p < call->state->size && status == TH_OK; p++) {
        th_mpi_slab(&layout, t, dim, size[every * p], 0);
        status = th_mpi_add_peer(side, call, p, &layout, entry * th_mpi_step(t, dim));
        entry += size[every * p];
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------- joining parts */

/* Stores in `sizes` the sizes of the ranks' tensors along dimension `dim`, which may differ. Fails if dtype or other
 * sizes differ among the ranks, or if a rank passes another `status` than TH_OK. */
static inline THStatus th_mpi_sizes(THMpiCall *call, THStatus status, int64_t *sizes, int64_t kind, const THTensor *t, int dim) {
    enum { STATUS, DTYPE, RANK, SIZES, SIZE, WORDS };
    const int ranks = call->state->size;
    th_mpi_facts facts;
    th_mpi_facts_of(&facts, kind, status == TH_OK ? t : NULL, dim, -1);
    if (call->state->checked) {
        facts.own[TH_MPI_LAYOUT] = status == TH_OK ? t->size[dim] : 0;
        status = th_mpi_agree(call, status, &facts);
        if (status != TH_OK) return status;
        int64_t size, *own = th_mpi_words(call, &size);
        *own = facts.own[TH_MPI_LAYOUT];
        if (facts.low[TH_MPI_LAYOUT] != facts.high[TH_MPI_LAYOUT]) {
            return th_mpi_check(th_mpi_do_allgather(call, own, 1, MPI_INT64_T, sizes, 1, MPI_INT64_T), call->what);
        }
        for (int p = 0; p < ranks; p++) sizes[p] = *own;
        return TH_OK;
    }
    const int64_t own[WORDS] = {status, facts.own[TH_MPI_DTYPE], facts.own[TH_MPI_RANK], facts.own[TH_MPI_SIZES],
                                status == TH_OK ? t->size[dim] : 0};
    int64_t room[WORDS], *words = th_mpi_words(call, room), *all = th_mpi_new_list(call, WORDS);
    if (!all) return TH_ERR_NOMEM;
    memcpy(words, own, sizeof own);
    THStatus sent = th_mpi_check(th_mpi_do_allgather(call, words, WORDS, MPI_INT64_T, all, WORDS, MPI_INT64_T), call->what);
    int differ = 0;
    for (int p = 0; p < ranks && status == TH_OK && sent == TH_OK; p++) {
        const int64_t *other = all + (size_t)p * WORDS;
        sizes[p] = other[SIZE];
        if (other[STATUS] != TH_OK) {
            const THStatus theirs = (THStatus)other[STATUS];
            status = th_mpi_fail(theirs, "%s: rank %d failed with %s; the message of that rank says why", call->what, p,
                                 THStatus_name(theirs));
        } else if (other[DTYPE] != own[DTYPE]) {
            status = th_mpi_fail(TH_ERR_DTYPE, "%s: ranks have different dtypes, here %s", call->what, THDtype_name((THDtype)own[DTYPE]));
        } else if (other[RANK] != own[RANK] || other[SIZES] != own[SIZES]) {
            differ = 1;
        }
    }
    th_mpi_free_memory(call, all);
    if (status == TH_OK && sent == TH_OK && differ) return th_mpi_different_shapes(call, &facts);
    return status != TH_OK ? status : sent;
}

/* Stores in `size` the sizes of `t`, with the sum of `parts` as the size of dimension `dim`. */
static inline THStatus th_mpi_joined(THMpiCall *call, int64_t *size, const THTensor *t, int dim, const int64_t *parts) {
    memcpy(size, t->size, (size_t)t->nDimension * sizeof *size);
    size[dim] = 0;
    for (int p = 0; p < call->state->size; p++) {
        if (parts[p] > INT64_MAX - size[dim]) return th_mpi_fail(TH_ERR_SHAPE, "%s: the joined size overflows", call->what);
        size[dim] += parts[p];
    }
    return TH_OK;
}

/* The arguments for MPI to join parts. Equal parts are one item each (`part`). Unequal parts are counted in entries of
 * the dimension (`division`). If the dimension is too long for int counts, the parts are broadcast one after the other
 * (`side`). */
typedef struct th_mpi_joining {
    int equal;
    th_mpi_buffer part;
    th_mpi_division division;
    th_mpi_side side;
} th_mpi_joining;

/* Prepares to join parts in `r`, which is row-major and has the joined shape. The caller calls th_mpi_free_joining,
 * even after a failure. */
static inline THStatus th_mpi_prepare_join(th_mpi_joining *c, THMpiCall *call, const THTensor *r, int dim,
                                           const int64_t *parts) {
    const THDtype dtype = (THDtype)r->dtype;
    th_mpi_layout layout;
    c->equal = 1;
    for (int p = 1; p < call->state->size; p++) c->equal &= parts[p] == parts[0];
    if (c->equal) {
        th_mpi_slab(&layout, r, dim, parts[0], 0);
        THStatus status = th_mpi_count_of(&c->part, call, dtype, &layout);
        if (status != TH_OK || c->part.type == TH_MPI_datatype(dtype)) return status;
        return th_mpi_type(&c->part.type, call, dtype, &layout, parts[0] * th_mpi_step(r, dim));
    }
    if (r->size[dim] <= TH_MPI_COUNT_MAX) return th_mpi_divide(&c->division, call, r, dim, parts);
    THStatus status = th_mpi_new_side(&c->side, call, dtype);
    return status == TH_OK ? th_mpi_add_peers(&c->side, call, r, dim, parts, 1) : status;
}

static inline void th_mpi_free_joining(th_mpi_joining *c, const THMpiCall *call) {
    th_mpi_free_memory(call, c->division.counts);
    th_mpi_free_side(&c->side, call);
}

/* Joins the parts by MPI. `r` already contains this rank's part: all calls are in place, because Open MPI selects its
 * algorithm by the sizes of datatypes and counts, which must be the same on all ranks. */
static inline THStatus th_mpi_join(const th_mpi_joining *c, THMpiCall *call, THTensor *r) {
    char *data = (char *)th_mpi_data(r);
    int code = MPI_SUCCESS;
    if (c->equal) {
        code = th_mpi_do_allgather(call, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, c->part.count, c->part.type);
    } else if (c->division.counts) {
        code = th_mpi_do_allgatherv(call, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, c->division.counts, c->division.places,
                                    c->division.type);
    } else {
        for (int p = 0; p < call->state->size && code == MPI_SUCCESS; p++) {
            code = th_mpi_do_bcast(call, data + c->side.places[p], c->side.counts[p], c->side.types[p], p);
        }
    }
    return th_mpi_check(code, call->what);
}

static inline THStatus th_mpi_allgather(THMpiCall *call, THTensor *r, const THTensor *t, int dim) {
    int64_t size[1024];
    th_mpi_result result;
    th_mpi_joining joining;
    THTensor *plain = NULL, *own = NULL;
    memset(&result, 0, sizeof result);
    memset(&joining, 0, sizeof joining);
    int64_t *parts = th_mpi_new_list(call, 1);
    THStatus status = parts ? th_mpi_check_tensor(t, call, "t") : TH_ERR_NOMEM;
    if (status == TH_OK && !r) status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument 'r' is NULL", call->what);
    if (status == TH_OK) status = th_mpi_check_dim(call, t, &dim);
    const int64_t kind = th_mpi_kind(TH_MPI_ALLGATHER, MPI_OP_NULL, dim, 0);
    status = th_mpi_sizes(call, status, parts, kind, t, dim);
    if (status == TH_OK) {
        status = th_mpi_joined(call, size, t, dim, parts);
        if (status == TH_OK) {
            plain = th_mpi_share(r, t) ? th_mpi_new_copy(t, 0) : THTensor_newDetach((THTensor *)(uintptr_t)t);
            if (!plain) status = th_mpi_passed_on(call->what);
        }
        if (status == TH_OK) {
            status = th_mpi_write_shaped(&result, call, r, (THDtype)t->dtype, t->nDimension, size, plain, TH_MPI_ROW);
        }
        if (status == TH_OK) status = th_mpi_prepare_join(&joining, call, result.at, dim, parts);
        if (status == TH_OK) {
            const int mine = call->state->rank;
            own = THTensor_newNarrow(result.at, dim, th_mpi_before(parts, mine), parts[mine]);
            if (!own) status = th_mpi_passed_on(call->what);
        }
        status = th_mpi_agree_again(call, status, kind);
        if (status == TH_OK && THTensor_nElement(result.at) > 0) {
            /* If the copy fails because the GPU is lost, this rank still takes part in the call for which the other
             * ranks wait. */
            THStatus copied = THTensor_copy(own, plain) == TH_OK ? TH_OK : th_mpi_passed_on(call->what);
            if (copied == TH_OK && own->deviceType == TH_CUDA) copied = th_mpi_wait_for_gpu(own, call);
            status = th_mpi_join(&joining, call, result.at);
            if (copied != TH_OK) status = copied;
        }
    }
    th_mpi_free_joining(&joining, call);
    THTensor_free(own);
    THTensor_free(plain);
    th_mpi_free_memory(call, parts);
    return th_mpi_written(&result, call, status);
}

/// On all ranks, `r` = the tensors `t` of all ranks, joined along dimension `dim` in the order of the ranks.
static inline THStatus TH_MPI_allgather(THTensor *r, const THTensor *t, int dim, MPI_Comm comm) {
    THMpiCall call;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_allgather");
    return result == TH_OK ? th_mpi_end(&call, th_mpi_allgather(&call, r, t, dim)) : result;
}

/* The arguments of a call between the root, which has all parts, and the other ranks. MPI_Gatherv and MPI_Scatterv
 * transfer the parts entry by entry along the dimension. If the dimension is too long for int counts (`is_long`),
 * MPI_Alltoallw transfers the parts, and each rank exchanges elements only with the root. */
typedef struct th_mpi_rooted {
    int is_long;
    th_mpi_division division;
    th_mpi_buffer part;
    th_mpi_side whole;
    th_mpi_side own;
} th_mpi_rooted;

/* Prepares a call. `whole` is the root's tensor with `total` entries along the dimension, and NULL on other ranks.
 * `part` is this rank's part. The caller calls th_mpi_free_rooted, even after a failure. */
static inline THStatus th_mpi_prepare_rooted(th_mpi_rooted *c, THMpiCall *call, const THTensor *whole,
                                             const THTensor *part, int dim, int root, const int64_t *parts,
                                             int64_t total) {
    const THDtype dtype = (THDtype)part->dtype;
    th_mpi_layout layout;
    THStatus status;
    c->is_long = total > TH_MPI_COUNT_MAX;
    th_mpi_slab(&layout, part, dim, part->size[dim], !c->is_long);
    if (!c->is_long) {
        c->division.type = MPI_BYTE;
        status = th_mpi_count_of(&c->part, call, dtype, &layout);
        return status == TH_OK && whole ? th_mpi_divide(&c->division, call, whole, dim, parts) : status;
    }
    status = th_mpi_new_side(&c->whole, call, dtype);
    if (status == TH_OK) status = th_mpi_new_side(&c->own, call, dtype);
    if (status == TH_OK) status = th_mpi_add_peer(&c->own, call, root, &layout, 0);
    if (status == TH_OK && whole) status = th_mpi_add_peers(&c->whole, call, whole, dim, parts, 1);
    return status;
}

static inline void th_mpi_free_rooted(th_mpi_rooted *c, const THMpiCall *call) {
    th_mpi_free_memory(call, c->division.counts);
    th_mpi_free_side(&c->whole, call);
    th_mpi_free_side(&c->own, call);
}

/* Gathers the tensors `t` of all ranks in the root's `r`. `r` is NULL on other ranks. */
static inline THStatus th_mpi_gather_parts(const th_mpi_rooted *c, THMpiCall *call, THTensor *r, const THTensor *t,
                                           int root) {
    const th_mpi_side *own = &c->own, *whole = &c->whole;
    void *to = r ? th_mpi_data(r) : NULL, *from = th_mpi_data(t);
    int code = c->is_long ? th_mpi_do_alltoallw(call, from, own->counts, own->places, own->types, to, whole->counts, whole->places,
                                                whole->types)
                          : th_mpi_do_gatherv(call, from, c->part.count, c->part.type, to, c->division.counts, c->division.places,
                                              c->division.type, root);
    return th_mpi_check(code, call->what);
}

static inline THStatus th_mpi_gather(THMpiCall *call, THTensor *r, const THTensor *t, int dim, int root) {
    const int gets = call->state->rank == root;
    int64_t size[1024];
    th_mpi_source source = {t, NULL};
    th_mpi_result result;
    th_mpi_rooted c;
    memset(&result, 0, sizeof result);
    memset(&c, 0, sizeof c);
    int64_t *parts = th_mpi_new_list(call, 1);
    THStatus status = parts ? th_mpi_check_root(call, root) : TH_ERR_NOMEM;
    if (status == TH_OK) status = th_mpi_check_tensor(t, call, "t");
    if (status == TH_OK && gets && !r) status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument 'r' is NULL", call->what);
    if (status == TH_OK) status = th_mpi_check_dim(call, t, &dim);
    const int64_t kind = th_mpi_kind(TH_MPI_GATHER, MPI_OP_NULL, dim, root);
    status = th_mpi_sizes(call, status, parts, kind, t, dim);
    if (status == TH_OK) {
        status = th_mpi_joined(call, size, t, dim, parts);
        if (status == TH_OK) status = th_mpi_read(&source, call, t, TH_MPI_ANY_LAYOUT, gets && th_mpi_share(r, t));
        if (status == TH_OK && gets) {
            status = th_mpi_write_shaped(&result, call, r, (THDtype)t->dtype, t->nDimension, size, t, TH_MPI_ANY_LAYOUT);
        }
        if (status == TH_OK) {
            status = th_mpi_prepare_rooted(&c, call, gets ? result.at : NULL, source.t, dim, root, parts, size[dim]);
        }
        status = th_mpi_agree_again(call, status, kind);
        int is_empty = 0;
        for (int d = 0; d < source.t->nDimension; d++) is_empty |= size[d] == 0;
        if (status == TH_OK && !is_empty) status = th_mpi_gather_parts(&c, call, result.at, source.t, root);
    }
    th_mpi_free_rooted(&c, call);
    th_mpi_end_source(&source, call);
    th_mpi_free_memory(call, parts);
    return th_mpi_written(&result, call, status);
}

/// On rank `root`, `r` = the tensors `t` of all ranks, joined along dimension `dim` in the order of the ranks. On other
/// ranks `r` is not used and may be NULL.
static inline THStatus TH_MPI_gather(THTensor *r, const THTensor *t, int dim, int root, MPI_Comm comm) {
    THMpiCall call;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_gather");
    return result == TH_OK ? th_mpi_end(&call, th_mpi_gather(&call, r, t, dim, root)) : result;
}

#ifdef __cplusplus
}
#endif

#endif
