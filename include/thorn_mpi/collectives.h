/**
 * @file collectives.h
 * @brief Broadcasts and reductions, which all ranks of a communicator call. Included by thorn_mpi.h.
 *
 * The operations are predefined MPI operations or created by MPI_Op_create. MPI_SUM, MPI_PROD, MPI_MIN and MPI_MAX
 * accept numbers; MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR and MPI_BXOR accept integers and Bool. Integer
 * overflow wraps; a NaN stays NaN. A user-defined operation receives 16-bit floats as MPI_UINT16_T. MPI chooses the
 * order in which ranks are added.
 *
 * A sum or product of 16-bit floats is computed in float32 and rounded once, `r = round16(float32(t[0]) +
 * float32(t[1]) + ...)`: 256 + 1 + 1 in bfloat16 is 258. A rank without thorn takes part with elements of MPI_FLOAT.
 * TH_MPI_setReduction selects sums that transfer half of the bytes, and round after each step: 256 + 1 + 1 is 256.
 *
 * Errors: the errors of thorn_mpi.h, and on all ranks (see "Agreement" in thorn_mpi.h) `TH_ERR_SHAPE` or
 * `TH_ERR_DTYPE`, the tensors of the ranks have different shapes or dtypes; `TH_ERR_ARGUMENT`, ranks call different
 * functions or pass different operations or roots.
 */

#ifndef THORN_MPI_COLLECTIVES_H
#define THORN_MPI_COLLECTIVES_H

#include "messages.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------------------------------- agreement */

/// Sets whether collectives on `comm` first compare their arguments among the ranks. The default is 1. All ranks must
/// pass the same `checked`, in each source file of the program that calls collectives on `comm`.
static inline THStatus TH_MPI_setChecked(MPI_Comm comm, int checked) {
    THMpiCall call;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_setChecked");
    if (result != TH_OK) return result;
    call.state->checked = checked != 0;
    return th_mpi_end(&call, TH_OK);
}

/* A number for each collective. */
enum {
    TH_MPI_BCAST = 1,
    TH_MPI_BCAST_SHAPED,
    TH_MPI_REDUCE,
    TH_MPI_ALLREDUCE,
    TH_MPI_ALLGATHER,
    TH_MPI_REDUCE_SCATTER,
    TH_MPI_GATHER,
    TH_MPI_SCATTER,
    TH_MPI_ALLTOALL,
    TH_MPI_HALO,
    TH_MPI_SAVE_NPY,
    TH_MPI_SAVE_SAFETENSORS,
    TH_MPI_LOAD,
    TH_MPI_GRADIENTS,
    TH_MPI_SETTINGS,
    TH_MPI_SHARDS,
    TH_MPI_CHECKPOINT,
    TH_MPI_SPARSE
};

/* The facts that are compared before a collective. TH_MPI_KIND: the collective's number with operation, dimension and
 * root. TH_MPI_DTYPE: the dtype. TH_MPI_RANK: the number of dimensions. TH_MPI_SIZES: a hash of the sizes.
 * TH_MPI_ELEMENTS: the number of elements. TH_MPI_LAYOUT: a hash of the layout, which may differ among the ranks. */
enum { TH_MPI_KIND, TH_MPI_DTYPE, TH_MPI_RANK, TH_MPI_SIZES, TH_MPI_ELEMENTS, TH_MPI_LAYOUT, TH_MPI_FACTS };
typedef struct th_mpi_facts {
    const THTensor *t; /* the tensor, for messages; NULL if there is none */
    const char *text;  /* without a tensor: its description, or NULL */
    int64_t own[TH_MPI_FACTS];
    int64_t low[TH_MPI_FACTS];
    int64_t high[TH_MPI_FACTS];
} th_mpi_facts;

static inline int64_t th_mpi_kind(int collective, MPI_Op op, int dim, int root) {
    return collective | (int64_t)th_mpi_op_code(op) << 8 | (int64_t)(dim & 0xFFFF) << 16 | root * ((int64_t)1 << 32);
}

static inline int64_t th_mpi_hash(int64_t hash, int64_t word) {
    uint64_t x = ((uint64_t)hash ^ (uint64_t)word) * 0x9E3779B97F4A7C15u;
    return (int64_t)((x ^ x >> 31) & INT64_MAX);
}

/* Fills the facts of a collective on a tensor. The sizes of dimensions `a` and `b` are left out, because they may
 * differ. If `t` is NULL, only the kind is set. */
static inline void th_mpi_facts_of(th_mpi_facts *facts, int64_t kind, const THTensor *t, int a, int b) {
    memset(facts, 0, sizeof *facts);
    facts->own[TH_MPI_KIND] = kind;
    facts->t = t;
    if (!t) return;
    int dims;
    const int64_t *size = th_mpi_sizes_of(&dims, t);
    th_mpi_layout layout;
    th_mpi_layout_of_tensor(&layout, t);
    facts->own[TH_MPI_DTYPE] = t->dtype;
    facts->own[TH_MPI_RANK] = dims;
    facts->own[TH_MPI_ELEMENTS] = 1;
    for (int d = 0; d < dims; d++) {
        if (d == a || d == b) continue;
        facts->own[TH_MPI_SIZES] = th_mpi_hash(facts->own[TH_MPI_SIZES], size[d]);
        facts->own[TH_MPI_ELEMENTS] *= size[d];
    }
    if (layout.empty || th_mpi_is_row(&layout)) return;
    for (int d = 0; d < layout.dims; d++) {
        facts->own[TH_MPI_LAYOUT] = th_mpi_hash(th_mpi_hash(facts->own[TH_MPI_LAYOUT] + 1, layout.size[d]), layout.step[d]);
    }
}

/* A shape in a message: its facts, and its text. */
typedef struct th_mpi_shape_words {
    int64_t facts[TH_MPI_ELEMENTS - TH_MPI_RANK + 1];
    char text[128];
} th_mpi_shape_words;

/* Reports that shapes differ among the ranks. All ranks call this after they have found the difference: the message
 * names the shape of rank 0, and the first rank with another shape. */
static inline THStatus th_mpi_different_shapes(THMpiCall *call, const th_mpi_facts *facts) {
    enum { WORDS = (sizeof(th_mpi_shape_words) + 7) / 8 };
    int64_t room[2 * WORDS + 1], *words = th_mpi_words(call, room), *other = words + 2 * WORDS;
    th_mpi_shape_words own, shown[2];
    memset(&own, 0, sizeof own);
    memcpy(own.facts, facts->own + TH_MPI_RANK, sizeof own.facts);
    if (facts->t) th_mpi_shape_text(own.text, sizeof own.text, facts->t);
    else if (facts->text) snprintf(own.text, sizeof own.text, "%s", facts->text);
    for (int i = 0; i < 2; i++) memcpy(words + i * WORDS, &own, sizeof own);
    int code = th_mpi_do_bcast(call, words, WORDS, MPI_INT64_T, 0);
    *other = memcmp(own.facts, words, sizeof own.facts) != 0 ? call->state->rank : call->state->size;
    if (code == MPI_SUCCESS) code = th_mpi_do_allreduce(call, MPI_IN_PLACE, other, 1, MPI_INT64_T, MPI_MIN);
    if (code == MPI_SUCCESS && *other < call->state->size) {
        code = th_mpi_do_bcast(call, words + WORDS, WORDS, MPI_INT64_T, (int)*other);
    }
    if (code != MPI_SUCCESS) return th_mpi_check(code, call->what);
    for (int i = 0; i < 2; i++) memcpy(&shown[i], words + i * WORDS, sizeof shown[i]);
    if (!*own.text || *other >= call->state->size) {
        return th_mpi_fail(TH_ERR_SHAPE, "%s: ranks have tensors of different shapes, or lists of different lengths", call->what);
    }
    return th_mpi_fail(TH_ERR_SHAPE, "%s: ranks have tensors of different shapes: %.*s on rank 0, %.*s on rank %d", call->what,
                       (int)sizeof shown->text - 1, shown[0].text, (int)sizeof shown->text - 1, shown[1].text, (int)*other);
}

/* Compares the facts among the ranks; `status` is the status of this rank so far. Returns TH_OK only if all ranks pass
 * TH_OK and all facts except the layout agree. */
static inline THStatus th_mpi_compare(THMpiCall *call, THStatus status, th_mpi_facts *facts) {
    enum { ALL = TH_MPI_FACTS + 1 };
    int64_t room[2 * ALL], *words = th_mpi_words(call, room);
    memcpy(facts->low, facts->own, sizeof facts->own);
    memcpy(facts->high, facts->own, sizeof facts->own);
    if (call->state->size == 1) return status;
    for (int i = 0; i < ALL; i++) {
        words[i] = i == TH_MPI_FACTS ? (int64_t)status : facts->own[i];
        words[ALL + i] = -words[i];
    }
    int code = th_mpi_do_allreduce(call, MPI_IN_PLACE, words, 2 * ALL, MPI_INT64_T, MPI_MAX);
    if (code == TH_MPI_LATE) return TH_ERR_IO;
    if (status != TH_OK || code != MPI_SUCCESS) return status != TH_OK ? status : th_mpi_check(code, call->what);
    for (int i = 0; i < TH_MPI_FACTS; i++) {
        facts->low[i] = -words[ALL + i];
        facts->high[i] = words[i];
    }
    if (words[TH_MPI_FACTS] != TH_OK) {
        const THStatus other = (THStatus)words[TH_MPI_FACTS];
        return th_mpi_fail(other, "%s: another rank failed with %s; the message of that rank says why", call->what,
                           THStatus_name(other));
    }
    if (facts->low[TH_MPI_KIND] != facts->high[TH_MPI_KIND]) {
        return th_mpi_fail(TH_ERR_ARGUMENT, "%s: ranks call different collectives, operations, settings, dimensions or roots",
                           call->what);
    }
    if (facts->low[TH_MPI_DTYPE] != facts->high[TH_MPI_DTYPE]) {
        return th_mpi_fail(TH_ERR_DTYPE, "%s: ranks have different dtypes, here %s", call->what,
                           THDtype_name((THDtype)facts->own[TH_MPI_DTYPE]));
    }
    for (int i = TH_MPI_RANK; i <= TH_MPI_ELEMENTS; i++) {
        if (facts->low[i] == facts->high[i]) continue;
        return th_mpi_different_shapes(call, facts);
    }
    return TH_OK;
}

/* Like th_mpi_compare. If the comparison is off, returns `status`, and takes this rank's facts for the facts of all
 * ranks. */
static inline THStatus th_mpi_agree(THMpiCall *call, THStatus status, th_mpi_facts *facts) {
    if (facts->t) call->about = facts->t;
    if (call->state->checked) {
        call->sizes = facts->text;
        status = th_mpi_compare(call, status, facts);
        call->sizes = NULL;
        return status;
    }
    memcpy(facts->low, facts->own, sizeof facts->own);
    memcpy(facts->high, facts->own, sizeof facts->own);
    return status;
}

/* Compares only `status` among the ranks, after a step that may fail on some ranks. */
static inline THStatus th_mpi_agree_again(THMpiCall *call, THStatus status, int64_t kind) {
    th_mpi_facts facts;
    th_mpi_facts_of(&facts, kind, NULL, -1, -1);
    return th_mpi_agree(call, status, &facts);
}

/* Fails if `root` is not a rank of the communicator. */
static inline THStatus th_mpi_check_root(THMpiCall *call, int root) {
    if (root >= 0 && root < call->state->size) return TH_OK;
    return th_mpi_fail(TH_ERR_ARGUMENT, "%s: root %d is none of %d ranks", call->what, root, call->state->size);
}

/* ------------------------------------------------------------------------------------------------------ settings */

/// Sets how MPI_SUM and MPI_PROD reduce 16-bit floats on `comm`. With `roundsEach` 0, the default, `r =
/// round16(float32(t[0]) + float32(t[1]) + ...)`: the elements are converted to float32, and the result is rounded once.
/// With `roundsEach` 1, half of the bytes are transferred, and each step rounds: `r = round16(round16(t[0] + t[1]) +
/// t[2])`, in an order that MPI chooses. The setting also applies to gradients whose TH_MPI_newGradients is called
/// later. All ranks pass the same `roundsEach`, in each source file of the program that calls collectives on `comm`.
static inline THStatus TH_MPI_setReduction(MPI_Comm comm, int roundsEach) {
    THMpiCall call;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_setReduction");
    if (result != TH_OK) return result;
    call.state->rounds_each = roundsEach != 0;
    return th_mpi_end(&call, TH_OK);
}

/* Sets the timeout of a communicator's state, with the memory that timeouts need. */
static inline THStatus th_mpi_set_timeout(THMpiCall *call, double seconds) {
    THStatus status = TH_OK;
    if (!(seconds >= 0)) status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: %g seconds", call->what, seconds);
    if (status == TH_OK && seconds > 0 && !call->state->scratch) {
        call->state->scratch = (int64_t *)calloc(TH_MPI_SCRATCH, sizeof *call->state->scratch);
        if (!call->state->scratch) status = th_mpi_fail(TH_ERR_NOMEM, "%s: out of memory", call->what);
    }
    status = th_mpi_agree_again(call, status, th_mpi_kind(TH_MPI_SETTINGS, MPI_OP_NULL, seconds > 0, 0));
    if (status == TH_OK) call->state->timeout = seconds;
    return status;
}

/* Gives a new communicator the settings of the communicator that it duplicates, except the comparison of arguments. */
static inline THStatus th_mpi_inherit(THMpiCall *own, const THMpiCall *from) {
    own->state->rounds_each = from->state->rounds_each;
    return from->state->timeout > 0 ? th_mpi_set_timeout(own, from->state->timeout) : TH_OK;
}

/// Sets the number of seconds that calls on `comm` wait for other ranks; 0, the default, means that calls wait forever.
/// For the error, and the state of memory and communicator after a timeout, see timeouts.h. All ranks call this in each
/// source file of the program that calls collectives on `comm`. If one rank passes 0, all ranks must pass 0. With a
/// timeout, thorn calls MPI's nonblocking collectives, and a rank without thorn must call the same. Gradients whose TH_MPI_newGradients is
/// called later have the same timeout. Errors: `TH_ERR_ARGUMENT`, a negative number or NaN, or 0 on some ranks only.
static inline THStatus TH_MPI_setTimeout(MPI_Comm comm, double seconds) {
    THMpiCall call;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_setTimeout");
    return result == TH_OK ? th_mpi_end(&call, th_mpi_set_timeout(&call, seconds)) : result;
}

/* ---------------------------------------------------------------------------------------------------- broadcasts */

/* Broadcasts the elements of a tensor whose shape is known on all ranks. If all ranks have the same layout, the
 * elements are sent in place, otherwise as contiguous elements. All ranks must pass the same datatype to MPI, because
 * MPI may divide a broadcast into pieces of whole items. */
static inline THStatus th_mpi_bcast_elements(THMpiCall *call, THStatus status, th_mpi_facts *facts, THTensor *r, int root) {
    const int sends = call->state->rank == root;
    th_mpi_source source = {r, NULL};
    th_mpi_result result;
    th_mpi_buffer buffer = {NULL, 0, MPI_BYTE};
    memset(&result, 0, sizeof result);
    if (status == TH_OK && !sends) status = th_mpi_touch(r, call);
    /* Elements that MPI cannot access in place are copied to contiguous memory. */
    if (status == TH_OK && (r->deviceType == TH_CUDA || (!sends && th_mpi_overlaps(r)))) facts->own[TH_MPI_LAYOUT] = 1;
    if (status == TH_OK && facts->own[TH_MPI_LAYOUT] == 0) status = th_mpi_buffer_of(&buffer, call, r);
    status = th_mpi_agree(call, status, facts);
    if (status != TH_OK) return status;
    if (facts->high[TH_MPI_LAYOUT] != 0) {
        const int same = call->state->checked && facts->low[TH_MPI_LAYOUT] == facts->high[TH_MPI_LAYOUT];
        const int how = facts->own[TH_MPI_LAYOUT] == 1 || !same ? TH_MPI_ROW : TH_MPI_ANY_LAYOUT;
        status = sends ? th_mpi_read(&source, call, r, how, 0) : th_mpi_write(&result, call, r, how);
        if (status == TH_OK) status = th_mpi_buffer_of(&buffer, call, sends ? source.t : result.at);
        status = th_mpi_agree_again(call, status, facts->own[TH_MPI_KIND]);
    }
    if (status == TH_OK && facts->own[TH_MPI_ELEMENTS] > 0) {
        status = th_mpi_check(th_mpi_do_bcast(call, buffer.data, buffer.count, buffer.type, root), call->what);
    }
    th_mpi_end_source(&source, call);
    return th_mpi_written(&result, call, status);
}

/// Copies the elements of `r` on rank `root` to `r` on all ranks. All `r` have the same dtype and shape.
static inline THStatus TH_MPI_bcast(THTensor *r, int root, MPI_Comm comm) {
    THMpiCall call;
    th_mpi_facts facts;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_bcast");
    if (result != TH_OK) return result;
    result = th_mpi_check_root(&call, root);
    if (result == TH_OK) result = th_mpi_check_tensor(r, &call, "r");
    th_mpi_facts_of(&facts, th_mpi_kind(TH_MPI_BCAST, MPI_OP_NULL, 0, root), result == TH_OK ? r : NULL, -1, -1);
    return th_mpi_end(&call, th_mpi_bcast_elements(&call, result, &facts, r, root));
}

/* Broadcasts dtype and shape of the root's tensor. If the comparison is off, the other ranks do not know whether the
 * root has failed. In that case the root sends an invalid header, and all ranks fail. */
static inline THStatus th_mpi_bcast_header(THMpiCall *call, THStatus status, th_mpi_shape_header *header, const THTensor *t,
                                           int root) {
    const int sends = call->state->rank == root;
    int64_t *words = th_mpi_words(call, header->word);
    memset(header->word, 0, sizeof header->word[0] * TH_MPI_SHAPE_HEAD);
    if (sends && status == TH_OK) th_mpi_describe(header, t);
    memmove(words, header->word, sizeof *words * TH_MPI_SHAPE_HEAD);
    THStatus sent = th_mpi_check(th_mpi_do_bcast(call, words, TH_MPI_SHAPE_HEAD, MPI_INT64_T, root), call->what);
    if (sent != TH_OK || (sends && status != TH_OK)) return status != TH_OK ? status : sent;
    if (words[0] != TH_MPI_SHAPE_MARK) return th_mpi_fail(TH_ERR_ARGUMENT, "%s: the root fails", call->what);
    const size_t sizes = sizeof *words * (size_t)words[2];
    if (sends) memmove(words + TH_MPI_SHAPE_HEAD, header->word + TH_MPI_SHAPE_HEAD, sizes);
    sent = th_mpi_check(th_mpi_do_bcast(call, words + TH_MPI_SHAPE_HEAD, (int)words[2], MPI_INT64_T, root), call->what);
    if (sent == TH_OK) memmove(header->word, words, sizeof *words * TH_MPI_SHAPE_HEAD + sizes);
    return status != TH_OK ? status : sent;
}

static inline THStatus th_mpi_bcast_shaped(THMpiCall *call, THTensor *r, int root) {
    th_mpi_shape_header header;
    th_mpi_facts facts;
    th_mpi_result result;
    const int64_t kind = th_mpi_kind(TH_MPI_BCAST_SHAPED, MPI_OP_NULL, 0, root);
    const int sends = call->state->rank == root;
    THStatus status = th_mpi_check_root(call, root);
    if (status == TH_OK && !r) status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument 'r' is NULL", call->what);
    if (status == TH_OK && sends) status = th_mpi_check_tensor(r, call, "r");
    status = th_mpi_agree_again(call, status, kind);
    if (status != TH_OK && (call->state->checked || root < 0 || root >= call->state->size)) return status;
    status = th_mpi_bcast_header(call, status, &header, r, root);
    if (status != TH_OK) return status;
    memset(&result, 0, sizeof result);
    result.r = r;
    if (!sends) status = th_mpi_shape(&result, call, (THDtype)header.word[1], (int)header.word[2], header.word + 3, NULL);
    THTensor *target = th_mpi_target(&result);
    th_mpi_facts_of(&facts, kind, status == TH_OK ? target : NULL, -1, -1);
    status = th_mpi_bcast_elements(call, status, &facts, target, root);
    return th_mpi_written(&result, call, status);
}

/// Copies dtype, shape and elements of `r` on rank `root` to `r` on all ranks. A fresh handle gets the dtype and shape.
/// Any other `r` must have the dtype, and is resized.
static inline THStatus TH_MPI_bcastShaped(THTensor *r, int root, MPI_Comm comm) {
    THMpiCall call;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_bcastShaped");
    return result == TH_OK ? th_mpi_end(&call, th_mpi_bcast_shaped(&call, r, root)) : result;
}

/* ---------------------------------------------------------------------------------------------------- reductions */

/* Reduces `count` contiguous elements by MPI_Reduce to `root`, or by MPI_Allreduce if `root` is negative. Each call of
 * MPI reduces at most TH_MPI_COUNT_MAX elements. `from` is MPI_IN_PLACE if `to` holds the rank's own elements. */
static inline int th_mpi_reduce_row(THMpiCall *call, const void *from, void *to, int64_t count, THDtype dtype, MPI_Op op, int root) {
    const int64_t bytes = th_mpi_bytes((int)dtype);
    const MPI_Datatype type = TH_MPI_datatype(dtype);
    int code = MPI_SUCCESS;
    for (int64_t at = 0; at < count && code == MPI_SUCCESS; at += TH_MPI_COUNT_MAX) {
        const int piece = (int)(count - at < TH_MPI_COUNT_MAX ? count - at : TH_MPI_COUNT_MAX);
        const void *x = from == MPI_IN_PLACE ? from : (const char *)from + at * bytes;
        void *y = to ? (char *)to + at * bytes : NULL;
        code = root < 0 ? th_mpi_do_allreduce(call, x, y, piece, type, op) : th_mpi_do_reduce(call, x, y, piece, type, op, root);
    }
    return code;
}

/* Returns the dtype in which MPI reduces the elements of `t`: float32 for sums and products of 16-bit floats, unless
 * TH_MPI_setReduction has selected other sums. */
static inline THDtype th_mpi_reduced_as(const THMpiCall *call, const THTensor *t, MPI_Op op) {
    const int half = t->dtype == TH_FLOAT16 || t->dtype == TH_BFLOAT16;
    const int wide = half && !call->state->rounds_each && (op == MPI_SUM || op == MPI_PROD) && THTensor_nElement(t) > 0;
    return wide ? TH_FLOAT32 : (THDtype)t->dtype;
}

/* Stores in `*use` the operation that reduces `t`, and in `*how` the requirements for tensors: contiguous elements, in
 * host memory if `use` is an operation of operations.h, in float32 if MPI reduces float32. */
static inline THStatus th_mpi_reduction(MPI_Op *use, int *how, THMpiCall *call, const THTensor *t, MPI_Op op) {
    const THDtype dtype = th_mpi_reduced_as(call, t, op);
    THStatus status = th_mpi_op(use, call, dtype, op);
    *how = TH_MPI_ROW | (*use != op ? TH_MPI_ON_HOST : 0) | ((int)dtype != t->dtype ? TH_MPI_WIDE : 0);
    return status;
}

/* A number for a reduction: th_mpi_kind with the setting of TH_MPI_setReduction, which the ranks share. */
static inline int64_t th_mpi_reduction_kind(const THMpiCall *call, int collective, MPI_Op op, int dim, int root) {
    return th_mpi_kind(collective, op, dim, root) | (int64_t)call->state->rounds_each << 15;
}

/* Reduces to `root`, or to all ranks if `root` is negative. On other ranks than the root `r` is not used and may be
 * NULL. */
static inline THStatus th_mpi_reduce_to(THMpiCall *call, THTensor *r, const THTensor *t, MPI_Op op, int root) {
    const int gets = root < 0 || call->state->rank == root;
    th_mpi_source source = {t, NULL};
    th_mpi_result result;
    th_mpi_facts facts;
    MPI_Op use = op;
    int place = 0, how = 0;
    memset(&result, 0, sizeof result);
    THStatus status = th_mpi_check_tensor(t, call, "t");
    if (status == TH_OK && gets && !r) status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument 'r' is NULL", call->what);
    if (status == TH_OK) status = th_mpi_reduction(&use, &how, call, t, op);
    const int64_t kind = th_mpi_reduction_kind(call, root < 0 ? TH_MPI_ALLREDUCE : TH_MPI_REDUCE, op, 0, root < 0 ? 0 : root);
    th_mpi_facts_of(&facts, kind, status == TH_OK ? t : NULL, -1, -1);
    if (status == TH_OK) {
        place = gets && (r == t || THTensor_isSetTo(r, t));
        status = th_mpi_read(&source, call, t, how, gets && !place && th_mpi_share(r, t));
    }
    if (status == TH_OK && gets) {
        int dims;
        const int64_t *size = th_mpi_sizes_of(&dims, t);
        status = th_mpi_write_shaped(&result, call, r, (THDtype)t->dtype, dims, size, t, how);
    }
    status = th_mpi_agree(call, status, &facts);
    if (status == TH_OK) {
        const void *from = place && !source.own && !result.own ? MPI_IN_PLACE : th_mpi_data(source.t);
        void *to = gets ? th_mpi_data(result.at) : NULL;
        int code = th_mpi_reduce_row(call, from, to, facts.own[TH_MPI_ELEMENTS], (THDtype)source.t->dtype, use, root);
        status = th_mpi_check(code, call->what);
    }
    th_mpi_end_source(&source, call);
    return th_mpi_written(&result, call, status);
}

/// `r = t[rank 0] op t[rank 1] op ...` on rank `root`, element by element. On other ranks `r` is not used and may be
/// NULL. `r` may be `t`. All `t` have the same dtype and shape.
static inline THStatus TH_MPI_reduce(THTensor *r, const THTensor *t, MPI_Op op, int root, MPI_Comm comm) {
    THMpiCall call;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_reduce");
    if (result != TH_OK) return result;
    result = th_mpi_check_root(&call, root);
    if (result == TH_OK) result = th_mpi_reduce_to(&call, r, t, op, root);
    else result = th_mpi_agree_again(&call, result, 0);
    return th_mpi_end(&call, result);
}

/// `r = t[rank 0] op t[rank 1] op ...` on all ranks, element by element. `r` may be `t`; a contiguous tensor is then
/// reduced in place. All `t` have the same dtype and shape.
static inline THStatus TH_MPI_allreduce(THTensor *r, const THTensor *t, MPI_Op op, MPI_Comm comm) {
    THMpiCall call;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_allreduce");
    return result == TH_OK ? th_mpi_end(&call, th_mpi_reduce_to(&call, r, t, op, -1)) : result;
}

static inline THStatus th_mpi_iallreduce(THMpiCall *call, THMpiRequest *request, THTensor *r, MPI_Op op) {
    th_mpi_buffer buffer;
    MPI_Op use = op;
    int how = 0;
    THStatus status = th_mpi_check_tensor(r, call, "r");
    if (status == TH_OK) status = th_mpi_reduction(&use, &how, call, r, op);
    if (status == TH_OK) status = th_mpi_check(th_mpi_lost(call), call->what);
    if (status == TH_OK) status = th_mpi_hold(call, request, r, how, &buffer);
    THTensor *own = request->result.own;
    if (status == TH_OK && own && THTensor_copy(own, r) != TH_OK) status = th_mpi_passed_on(call->what);
    if (status == TH_OK && own && own->deviceType == TH_CUDA) status = th_mpi_wait_for_gpu(own, call);
    if (status != TH_OK) return status;
    const int64_t count = (int64_t)THTensor_nElement(r);
    request->collective = 1;
    if (count > TH_MPI_COUNT_MAX) {
        const THDtype dtype = (THDtype)request->result.at->dtype;
        status = th_mpi_check(th_mpi_reduce_row(call, MPI_IN_PLACE, buffer.data, count, dtype, use, -1), call->what);
        th_mpi_keep(call, request->result.at);
        return status;
    }
    int code = MPI_Iallreduce(MPI_IN_PLACE, buffer.data, (int)count, buffer.type, use, call->comm, &request->request);
    return th_mpi_check(code, call->what);
}

/// Begins `r = r[rank 0] op r[rank 1] op ...` on all ranks, and stores a new request in `*request`. The caller must not
/// read or write `r` until TH_MPI_wait or TH_MPI_test has ended the request. All ranks must begin their reductions in
/// the same order. The arguments are not compared. If `r` has more than TH_MPI_COUNT_MAX elements, the function returns
/// after the reduction.
static inline THStatus TH_MPI_iallreduce(THMpiRequest **request, THTensor *r, MPI_Op op, MPI_Comm comm) {
    THMpiCall call;
    if (!request) return th_mpi_fail(TH_ERR_ARGUMENT, "TH_MPI_iallreduce: argument 'request' is NULL");
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_iallreduce");
    if (result != TH_OK) return result;
    THMpiRequest *made = th_mpi_new_request(&call);
    result = made ? th_mpi_iallreduce(&call, made, r, op) : TH_ERR_NOMEM;
    if (result == TH_OK) *request = made;
    else if (made) th_mpi_drop(made);
    return th_mpi_end(&call, result);
}

#ifdef __cplusplus
}
#endif

#endif
