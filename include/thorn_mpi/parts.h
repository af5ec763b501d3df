/**
 * @file parts.h
 * @brief Collectives that join the ranks' tensors along a dimension, or cut one into parts. Included by thorn_mpi.h.
 *
 * Parts are in the order of the ranks and may differ in size along the dimension, down to 0; all other sizes agree. A
 * dimension may be negative and then counts from the end. A tensor that is to be cut may come with a list of the ranks'
 * sizes, whose sum is that of the dimension; with NULL for it the parts are even: as TH_MPI_part says. Errors:
 * `TH_ERR_SHAPE`, sizes that do not agree, or a list with another sum; `TH_ERR_ARGUMENT`, a dimension out of range; and
 * those of collectives.h.
 */

#ifndef THORN_MPI_PARTS_H
#define THORN_MPI_PARTS_H

#include "collectives.h"

#ifdef __cplusplus
extern "C" {
#endif

/* First entry and size of part `rank` of `total` entries: even parts, of which the first ones have one entry more. */
static inline void th_mpi_even(int64_t *first, int64_t *size, int64_t total, int ranks, int rank) {
    const int64_t each = total / ranks, rest = total % ranks;
    *first = each * rank + (rank < rest ? rank : rest);
    *size = each + (rank < rest);
}

/// Stores in `*first` and `*size` which of `total` entries are this rank's: parts of total / ranks entries, of which the
/// first total % ranks have one more.
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

/* Makes `*dim` one of the dimensions of `t`. */
static inline THStatus th_mpi_check_dim(THMpiCall *call, const THTensor *t, int *dim) {
    const int given = *dim;
    if (*dim < 0) *dim += t->nDimension;
    if (*dim >= 0 && *dim < t->nDimension) return TH_OK;
    return th_mpi_fail(TH_ERR_ARGUMENT, "%s: dimension %d out of range for %d dimensions", call->what, given, t->nDimension);
}

/* A list of `count` numbers of each rank; NULL, and an error, without memory. */
static inline int64_t *th_mpi_new_list(THMpiCall *call, int count) {
    int64_t *list = (int64_t *)calloc((size_t)call->state->size * (size_t)count, sizeof *list);
    if (!list) th_mpi_fail(TH_ERR_NOMEM, "%s: no memory for %d ranks", call->what, call->state->size);
    return list;
}

/* Makes `parts` the list of the caller, or even parts if that is NULL; fails where their sum is not `total`. */
static inline THStatus th_mpi_parts(THMpiCall *call, int64_t *parts, const int64_t *given, int64_t total) {
    int64_t first, sum = 0;
    for (int p = 0; p < call->state->size; p++) {
        if (given) parts[p] = given[p];
        else th_mpi_even(&first, &parts[p], total, call->state->size, p);
        if (parts[p] < 0 || parts[p] > total - sum) {
            return th_mpi_fail(TH_ERR_SHAPE, "%s: part %d of %lld entries is too large for %lld", call->what, p,
                               (long long)parts[p], (long long)total);
        }
        sum += parts[p];
    }
    if (sum == total) return TH_OK;
    return th_mpi_fail(TH_ERR_SHAPE, "%s: parts of %lld entries of %lld", call->what, (long long)sum, (long long)total);
}

/* The layout of `size` entries of dimension `dim` of a tensor, in which the dimension comes first if `first` is 1. */
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

/* Bytes between entries of a dimension. */
static inline int64_t th_mpi_step(const THTensor *t, int dim) { return t->stride[dim] * th_mpi_bytes(t->dtype); }

/* Makes `*type` the datatype of one entry of dimension `dim`, which follow each other as they do in `t`; it is
 * MPI_DATATYPE_NULL where the entries are empty. */
static inline THStatus th_mpi_entry_type(MPI_Datatype *type, THMpiCall *call, const THTensor *t, int dim) {
    th_mpi_layout layout;
    *type = MPI_DATATYPE_NULL;
    th_mpi_slab(&layout, t, dim, 1, 0);
    return layout.empty ? TH_OK : th_mpi_type(type, call, (THDtype)t->dtype, &layout, th_mpi_step(t, dim));
}

/* The parts of a tensor along a dimension, for MPI's functions with counts and displacements: `type` is
 * one entry of the dimension; `counts` and `places` are ints. If the dimension has too many entries for that, `type` is
 * MPI_DATATYPE_NULL. */
typedef struct th_mpi_division {
    MPI_Datatype type;
    int *counts;
    int *places;
} th_mpi_division;

/* Makes the division of `t` into `parts`. After TH_OK and after failures the caller frees `counts`. */
static inline THStatus th_mpi_divide(th_mpi_division *division, THMpiCall *call, const THTensor *t, int dim, const int64_t *parts) {
    const int ranks = call->state->size;
    division->type = MPI_DATATYPE_NULL;
    division->counts = (int *)calloc((size_t)ranks * 2, sizeof(int));
    if (!division->counts) return th_mpi_fail(TH_ERR_NOMEM, "%s: no memory for %d ranks", call->what, ranks);
    division->places = division->counts + ranks;
    if (t->size[dim] > TH_MPI_COUNT_MAX) return TH_OK;
    for (int p = 0, place = 0; p < ranks; p++) {
        division->counts[p] = (int)parts[p];
        division->places[p] = place;
        place += (int)parts[p];
    }
    return th_mpi_entry_type(&division->type, call, t, dim);
}

/* Bytes from the first element of a tensor to that of part `p`. */
static inline int64_t th_mpi_place(const THTensor *t, int dim, const int64_t *parts, int p) {
    int64_t entry = 0;
    for (int q = 0; q < p; q++) entry += parts[q];
    return entry * th_mpi_step(t, dim);
}

/* ------------------------------------------------------------------------------------------------- joining parts */

/* Stores in `sizes` the sizes of the ranks' tensors along dimension `dim`, which may differ, and fails where anything else
 * does, or where a rank comes with another status than TH_OK. */
static inline THStatus th_mpi_sizes(THMpiCall *call, THStatus status, int64_t *sizes, int64_t kind, const THTensor *t, int dim) {
    enum { STATUS, DTYPE, RANK, SIZES, SIZE, WORDS };
    const int ranks = call->state->size;
    th_mpi_facts facts;
    th_mpi_facts_of(&facts, kind, status == TH_OK ? t : NULL, dim, -1);
    if (call->state->checked) {
        facts.own[TH_MPI_LAYOUT] = status == TH_OK ? t->size[dim] : 0;
        status = th_mpi_agree(call, status, &facts);
        if (status != TH_OK) return status;
        const int64_t own = facts.own[TH_MPI_LAYOUT];
        if (facts.low[TH_MPI_LAYOUT] != facts.high[TH_MPI_LAYOUT]) {
            return th_mpi_check(MPI_Allgather(&own, 1, MPI_INT64_T, sizes, 1, MPI_INT64_T, call->comm), call->what);
        }
        for (int p = 0; p < ranks; p++) sizes[p] = own;
        return TH_OK;
    }
    const int64_t own[WORDS] = {status, facts.own[TH_MPI_DTYPE], facts.own[TH_MPI_RANK], facts.own[TH_MPI_SIZES],
                                status == TH_OK ? t->size[dim] : 0};
    int64_t *all = th_mpi_new_list(call, WORDS);
    if (!all) return TH_ERR_NOMEM;
    THStatus sent = th_mpi_check(MPI_Allgather(own, WORDS, MPI_INT64_T, all, WORDS, MPI_INT64_T, call->comm), call->what);
    for (int p = 0; p < ranks && status == TH_OK && sent == TH_OK; p++) {
        const int64_t *other = all + (size_t)p * WORDS;
        sizes[p] = other[SIZE];
        if (other[STATUS] != TH_OK) {
            const THStatus theirs = (THStatus)other[STATUS];
            status = th_mpi_fail(theirs, "%s: rank %d fails with %s", call->what, p, THStatus_name(theirs));
        } else if (other[DTYPE] != own[DTYPE]) {
            status = th_mpi_fail(TH_ERR_DTYPE, "%s: ranks have different dtypes, here %s", call->what, THDtype_name((THDtype)own[DTYPE]));
        } else if (other[RANK] != own[RANK] || other[SIZES] != own[SIZES]) {
            status = th_mpi_fail(TH_ERR_SHAPE, "%s: ranks have different shapes, here %lld dimensions", call->what, (long long)own[RANK]);
        }
    }
    free(all);
    return status != TH_OK ? status : sent;
}

/* Makes `size` the sizes of `t` with the sum of `parts` in dimension `dim`. */
static inline THStatus th_mpi_joined(THMpiCall *call, int64_t *size, const THTensor *t, int dim, const int64_t *parts) {
    memcpy(size, t->size, (size_t)t->nDimension * sizeof *size);
    size[dim] = 0;
    for (int p = 0; p < call->state->size; p++) {
        if (parts[p] > INT64_MAX - size[dim]) return th_mpi_fail(TH_ERR_SHAPE, "%s: the joined size overflows", call->what);
        size[dim] += parts[p];
    }
    return TH_OK;
}

/* Copies `t` to this rank's part of `r`. */
static inline THStatus th_mpi_place_own(THMpiCall *call, THTensor *r, const THTensor *t, int dim, const int64_t *parts) {
    int64_t entry = 0;
    for (int p = 0; p < call->state->rank; p++) entry += parts[p];
    THTensor *part = THTensor_newNarrow(r, dim, entry, parts[call->state->rank]);
    THStatus status = part ? THTensor_copy(part, t) : TH_ERR_NOMEM;
    THTensor_free(part);
    if (status != TH_OK) return th_mpi_passed_on(call->what);
    return r->deviceType == TH_CUDA ? th_mpi_wait_for_gpu(r, call) : TH_OK;
}

/* Joins parts by one broadcast for each rank. */
static inline THStatus th_mpi_join_by_bcast(THMpiCall *call, THTensor *r, int dim, const int64_t *parts) {
    th_mpi_layout layout;
    th_mpi_buffer buffer;
    char *place = (char *)th_mpi_data(r);
    THStatus status = TH_OK;
    for (int p = 0; p < call->state->size && status == TH_OK; p++) {
        th_mpi_slab(&layout, r, dim, parts[p], 0);
        status = th_mpi_count_of(&buffer, call, (THDtype)r->dtype, &layout);
        if (status == TH_OK) status = th_mpi_check(MPI_Bcast(place, buffer.count, buffer.type, p, call->comm), call->what);
        place += parts[p] * th_mpi_step(r, dim);
    }
    return status;
}

/* Hands the parts to MPI: `r` is row-major and has the joined shape, and this rank's part. Equal parts are one item each,
 * others have an item for each entry of the dimension. Open MPI chooses its way by sizes of datatypes and counts, which
 * must be the same on all ranks: so nothing is sent from elsewhere. */
static inline THStatus th_mpi_join(THMpiCall *call, THTensor *r, int dim, const int64_t *parts) {
    th_mpi_division division;
    th_mpi_buffer in;
    th_mpi_layout layout;
    int equal = 1;
    for (int p = 1; p < call->state->size; p++) equal &= parts[p] == parts[0];
    if (equal) {
        th_mpi_slab(&layout, r, dim, parts[0], 0);
        THStatus status = th_mpi_count_of(&in, call, (THDtype)r->dtype, &layout);
        if (status == TH_OK && in.type != TH_MPI_datatype((THDtype)r->dtype)) {
            status = th_mpi_type(&in.type, call, (THDtype)r->dtype, &layout, parts[0] * th_mpi_step(r, dim));
        }
        if (status != TH_OK) return status;
        int code = MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, th_mpi_data(r), in.count, in.type, call->comm);
        return th_mpi_check(code, call->what);
    }
    THStatus status = th_mpi_divide(&division, call, r, dim, parts);
    if (status == TH_OK && division.type == MPI_DATATYPE_NULL) {
        status = th_mpi_join_by_bcast(call, r, dim, parts);
    } else if (status == TH_OK) {
        int code = MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, th_mpi_data(r), division.counts, division.places,
                                  division.type, call->comm);
        status = th_mpi_check(code, call->what);
    }
    free(division.counts);
    return status;
}

static inline THStatus th_mpi_allgather(THMpiCall *call, THTensor *r, const THTensor *t, int dim) {
    int64_t size[1024];
    th_mpi_result result;
    THTensor *plain = NULL;
    memset(&result, 0, sizeof result);
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
        if (status == TH_OK) status = th_mpi_place_own(call, result.at, plain, dim, parts);
        status = th_mpi_agree_again(call, status, kind);
        if (status == TH_OK && THTensor_nElement(result.at) > 0) status = th_mpi_join(call, result.at, dim, parts);
    }
    THTensor_free(plain);
    free(parts);
    return th_mpi_written(&result, call, status);
}

/// `r` = the ranks' `t` joined along dimension `dim`, in the order of the ranks, on all ranks.
static inline THStatus TH_MPI_allgather(THTensor *r, const THTensor *t, int dim, MPI_Comm comm) {
    THMpiCall call;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_allgather");
    return result == TH_OK ? th_mpi_end(&call, th_mpi_allgather(&call, r, t, dim)) : result;
}

/* Gathers parts in `r` of the root: all at once, or one call for each rank if the dimension is too long for that. The parts
 * are read and written entry after entry of the dimension. */
static inline THStatus th_mpi_gather_parts(THMpiCall *call, THTensor *r, const THTensor *t, int dim, int root, const int64_t *parts) {
    const int ranks = call->state->size, gets = call->state->rank == root;
    int64_t total = 0;
    th_mpi_division division = {MPI_DATATYPE_NULL, NULL, NULL};
    th_mpi_layout layout;
    th_mpi_buffer out, in = {NULL, 0, MPI_BYTE};
    for (int p = 0; p < ranks; p++) total += parts[p];
    th_mpi_slab(&layout, t, dim, t->size[dim], 1);
    THStatus status = th_mpi_count_of(&out, call, (THDtype)t->dtype, &layout);
    if (status == TH_OK && gets) status = th_mpi_divide(&division, call, r, dim, parts);
    if (status == TH_OK && total <= TH_MPI_COUNT_MAX) {
        status = th_mpi_check(MPI_Gatherv(th_mpi_data(t), out.count, out.type, gets ? th_mpi_data(r) : NULL, division.counts,
                                          division.places, gets ? division.type : MPI_BYTE, root, call->comm), call->what);
    } else if (status == TH_OK) {
        if (gets) memset(division.places, 0, (size_t)ranks * sizeof(int));
        for (int p = 0; p < ranks && status == TH_OK; p++) {
            char *place = gets ? (char *)th_mpi_data(r) + th_mpi_place(r, dim, parts, p) : NULL;
            if (gets) {
                th_mpi_slab(&layout, r, dim, parts[p], 1);
                status = th_mpi_count_of(&in, call, (THDtype)r->dtype, &layout);
                for (int q = 0; q < ranks; q++) division.counts[q] = q == p ? in.count : 0;
            }
            if (status != TH_OK) break;
            status = th_mpi_check(MPI_Gatherv(th_mpi_data(t), p == call->state->rank ? out.count : 0, out.type, place,
                                              division.counts, division.places, in.type, root, call->comm), call->what);
        }
    }
    free(division.counts);
    return status;
}

static inline THStatus th_mpi_gather(THMpiCall *call, THTensor *r, const THTensor *t, int dim, int root) {
    const int gets = call->state->rank == root;
    int64_t size[1024];
    th_mpi_source source = {t, NULL};
    th_mpi_result result;
    memset(&result, 0, sizeof result);
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
        status = th_mpi_agree_again(call, status, kind);
        int64_t elements = 1;
        for (int d = 0; d < t->nDimension; d++) elements *= size[d] > 0;
        if (status == TH_OK && elements) status = th_mpi_gather_parts(call, result.at, source.t, dim, root, parts);
    }
    THTensor_free(source.own);
    free(parts);
    return th_mpi_written(&result, call, status);
}

/// `r` = the ranks' `t` joined along dimension `dim`, in the order of the ranks, on rank `root`; elsewhere `r` is not used
/// and may be NULL.
static inline THStatus TH_MPI_gather(THTensor *r, const THTensor *t, int dim, int root, MPI_Comm comm) {
    THMpiCall call;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_gather");
    return result == TH_OK ? th_mpi_end(&call, th_mpi_gather(&call, r, t, dim, root)) : result;
}

#ifdef __cplusplus
}
#endif

#endif
