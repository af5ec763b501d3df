/**
 * @file types.h
 * @brief Errors, communicators and datatypes of tensors. Included by thorn_mpi.h.
 *
 * Names that begin with th_mpi_ are private. Other headers of thorn_mpi call these functions between th_mpi_begin and
 * th_mpi_end.
 */

#ifndef THORN_MPI_TYPES_H
#define THORN_MPI_TYPES_H

#include "../thorn.h"

#include <mpi.h>

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef TH_MPI_COUNT_MAX
/// The largest count that is passed to MPI, an int. More elements are passed as several blocks of one datatype, or by
/// several calls.
#define TH_MPI_COUNT_MAX (1 << 30)
#endif

/** @cond */
#ifdef __GNUC__
#define TH_MPI_FORMAT(text, values) __attribute__((format(printf, text, values)))
#else
#define TH_MPI_FORMAT(text, values)
#endif
/* The largest number of dimensions with more than one entry: the number of elements fits in 63 bits. */
#define TH_MPI_DIMS 64
/* The number of derived datatypes cached with a communicator. A datatype remains valid during the next TH_MPI_TYPES - 1
 * look-ups of other datatypes. */
#define TH_MPI_TYPES 64
/* The number of blocks of memory that one abandoned operation of MPI can keep. */
#define TH_MPI_KEPT 8
/* Returned after a timeout in place of an error code of MPI. The function that returns it has set the error. */
#define TH_MPI_LATE (-1)
/** @endcond */

#ifdef __cplusplus
extern "C" {
#endif

/* A derived datatype and the layout that it describes. `key` holds the dtype, the extent, then the sizes and the steps
 * of all dimensions. `used` is the clock of the last look-up. */
typedef struct th_mpi_entry {
    int64_t *key;
    int length;
    uint64_t used;
    MPI_Datatype type;
} th_mpi_entry;

/* An operation that MPI has not completed, although no caller waits for it: a send whose request was freed, or an
 * operation that timed out. MPI may still read and write the storages and the memory. */
typedef struct th_mpi_orphan {
    struct th_mpi_orphan *next;
    MPI_Request request;
    int collective;
    int storages, memories;
    THStorage *storage[TH_MPI_KEPT];
    void *memory[TH_MPI_KEPT];
} th_mpi_orphan;

/* The data of one communicator, stored as an attribute of the communicator. */
typedef struct THMpiState {
    struct THMpiState *next;
    int rank;
    int size;
    int checked;
    int rounds_each;            /* sums of 16-bit floats round after each step: TH_MPI_setReduction */
    int lost;                   /* a collective has timed out */
    char lost_in[48];           /* the function that has timed out */
    double timeout;             /* in seconds; 0 for none: TH_MPI_setTimeout */
    int64_t *scratch;           /* with a timeout: TH_MPI_SCRATCH words for small collectives */
    th_mpi_orphan full;         /* in place of an orphan for which memory ran out: it leaks all memory that it gets */
    uint64_t clock;
    uint64_t hash[TH_MPI_TYPES];
    th_mpi_entry entry[TH_MPI_TYPES];
    th_mpi_orphan *orphans;
} THMpiState;

/* One call of a public function: the function's name, the communicator, and the error handler to restore. The
 * message of a timeout describes the tensor `about`, or contains the text `sizes`; both may be NULL. `late` is the
 * operation that has timed out, or NULL. */
typedef struct THMpiCall {
    const char *what;
    MPI_Comm comm;
    THMpiState *state;
    MPI_Errhandler handler;
    const THTensor *about;
    const char *sizes;
    th_mpi_orphan *late;
} THMpiCall;

/* The data of one source file of the program, from its first call to MPI_Finalize. Two source files that use the same
 * communicator have separate states. This costs some kilobytes; neither the other file nor other ranks need the
 * state. */
typedef struct th_mpi_process {
    int ready;
    int lock;
    int comm_key;
    int self_key;
    THMpiState *states;
    MPI_Op halves[2][4];
    MPI_Op truths[3];
} th_mpi_process;

static inline th_mpi_process *th_mpi_this_file(void) {
    static th_mpi_process process;
    return &process;
}

/* Protects the lists of a source file. They change when a communicator is first used and when it is freed, and several
 * threads may do this at the same time. */
static inline void th_mpi_lock(th_mpi_process *process) {
#ifdef __GNUC__
    while (__atomic_exchange_n(&process->lock, 1, __ATOMIC_ACQUIRE)) {
    }
#else
    process->lock = 1;
#endif
}

static inline void th_mpi_unlock(th_mpi_process *process) {
#ifdef __GNUC__
    __atomic_store_n(&process->lock, 0, __ATOMIC_RELEASE);
#else
    process->lock = 0;
#endif
}

/* Returns 1 if the attribute keys exist. A thread that reads 1 also sees the keys, because the load acquires. */
static inline int th_mpi_is_ready(th_mpi_process *process) {
#ifdef __GNUC__
    return __atomic_load_n(&process->ready, __ATOMIC_ACQUIRE);
#else
    return process->ready;
#endif
}

static inline void th_mpi_set_ready(th_mpi_process *process, int ready) {
#ifdef __GNUC__
    __atomic_store_n(&process->ready, ready, __ATOMIC_RELEASE);
#else
    process->ready = ready;
#endif
}

/* ------------------------------------------------------------------------------------------------------- errors */

/* Stores the status and message of the last error, and returns the status. */
TH_MPI_FORMAT(2, 3) static inline THStatus th_mpi_fail(THStatus status, const char *format, ...) {
    char text[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return THSetLastError(status, text);
}

/* Reports the last error of a function of libthorn as an error of the function `what`: replaces the function's name in
 * front of the message. */
static inline THStatus th_mpi_passed_on(const char *what) {
    char text[1024];
    const char *message = THGetLastError(), *colon = strstr(message, ": ");
    snprintf(text, sizeof text, "%s", colon ? colon + 2 : message);
    return th_mpi_fail(THGetLastErrorCode(), "%s: %s", what, text);
}

/* The status for an error class of MPI. */
static inline THStatus th_mpi_status(int error_class) {
    static const struct {
        int error_class;
        THStatus status;
    } table[] = {{MPI_ERR_BUFFER, TH_ERR_ARGUMENT},
                 {MPI_ERR_COUNT, TH_ERR_ARGUMENT},
                 {MPI_ERR_TAG, TH_ERR_ARGUMENT},
                 {MPI_ERR_COMM, TH_ERR_ARGUMENT},
                 {MPI_ERR_RANK, TH_ERR_ARGUMENT},
                 {MPI_ERR_ROOT, TH_ERR_ARGUMENT},
                 {MPI_ERR_GROUP, TH_ERR_ARGUMENT},
                 {MPI_ERR_TOPOLOGY, TH_ERR_ARGUMENT},
                 {MPI_ERR_DIMS, TH_ERR_ARGUMENT},
                 {MPI_ERR_ARG, TH_ERR_ARGUMENT},
                 {MPI_ERR_REQUEST, TH_ERR_ARGUMENT},
                 {MPI_ERR_INFO, TH_ERR_ARGUMENT},
                 {MPI_ERR_TYPE, TH_ERR_DTYPE},
                 {MPI_ERR_OP, TH_ERR_DTYPE},
                 {MPI_ERR_TRUNCATE, TH_ERR_SHAPE},
                 {MPI_ERR_NO_MEM, TH_ERR_NOMEM},
                 {MPI_ERR_UNSUPPORTED_DATAREP, TH_ERR_UNSUPPORTED},
                 {MPI_ERR_UNSUPPORTED_OPERATION, TH_ERR_UNSUPPORTED},
                 {MPI_ERR_INTERN, TH_ERR_INTERNAL}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].error_class == error_class) return table[i].status;
    }
    return TH_ERR_IO;
}

/* Returns TH_OK for MPI_SUCCESS. Otherwise returns the status of the error, with MPI's message on one line. */
static inline THStatus th_mpi_check(int code, const char *what) {
    char text[MPI_MAX_ERROR_STRING + 1] = "an error that MPI does not know";
    int error_class = MPI_ERR_UNKNOWN, length = 0;
    if (code == MPI_SUCCESS) return TH_OK;
    if (code == TH_MPI_LATE) return TH_ERR_IO;
    MPI_Error_class(code, &error_class);
    MPI_Error_string(code, text, &length);
    for (char *c = text; *c; c++) {
        if (*c == '\n') *c = c[1] ? ' ' : '\0';
    }
    return th_mpi_fail(th_mpi_status(error_class), "%s: %s", what, text);
}

/* ------------------------------------------------------------------------------------------ state of communicators */

/* Frees an orphan and its memory. */
static inline void th_mpi_free_orphan(th_mpi_orphan *orphan) {
    for (int i = 0; i < orphan->storages; i++) THStorage_free(orphan->storage[i]);
    for (int i = 0; i < orphan->memories; i++) free(orphan->memory[i]);
    free(orphan);
}

/* Frees the orphans that MPI has completed. Returns 1 if a collective remains. */
static inline int th_mpi_end_orphans(THMpiState *state) {
    th_mpi_orphan **at = &state->orphans;
    int remains = 0;
    while (*at) {
        th_mpi_orphan *orphan = *at;
        int done = 0;
        if (MPI_Test(&orphan->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
            remains |= orphan->collective;
            at = &orphan->next;
            continue;
        }
        *at = orphan->next;
        th_mpi_free_orphan(orphan);
    }
    return remains;
}

/* Frees a state, its datatypes and its orphans. MPI keeps a datatype until pending messages have been completed. The
 * memory of an orphan that is not complete is leaked, because MPI still uses the memory. */
static inline void th_mpi_free_state(THMpiState *state) {
    for (int i = 0; i < TH_MPI_TYPES; i++) {
        if (state->entry[i].key) MPI_Type_free(&state->entry[i].type);
        free(state->entry[i].key);
    }
    /* Some operations of MPI are complete only after several tests. */
    int remains = th_mpi_end_orphans(state);
    for (int i = 0; i < 1000 && state->orphans; i++) remains = th_mpi_end_orphans(state);
    if (!remains && !state->full.collective) free(state->scratch);
    while (state->orphans) {
        th_mpi_orphan *orphan = state->orphans;
        state->orphans = orphan->next;
        if (!orphan->collective) MPI_Request_free(&orphan->request);
        free(orphan);
    }
    free(state);
}

/* MPI calls this when a communicator is freed. Frees the state, unless MPI_Finalize has already freed it. */
static inline int th_mpi_delete_comm(MPI_Comm comm, int key, void *value, void *extra) {
    th_mpi_process *process = th_mpi_this_file();
    THMpiState *state = (THMpiState *)value, **at = &process->states;
    (void)comm, (void)key, (void)extra;
    th_mpi_lock(process);
    while (*at && *at != state) at = &(*at)->next;
    if (*at) *at = state->next;
    else state = NULL;
    th_mpi_unlock(process);
    if (state) th_mpi_free_state(state);
    return MPI_SUCCESS;
}

/* MPI calls this at the beginning of MPI_Finalize, which frees MPI_COMM_SELF first. Frees all data of this source
 * file. */
static inline int th_mpi_delete_self(MPI_Comm comm, int key, void *value, void *extra) {
    th_mpi_process *process = (th_mpi_process *)value;
    (void)comm, (void)key, (void)extra;
    th_mpi_set_ready(process, 0);
    while (process->states) {
        THMpiState *state = process->states;
        process->states = state->next;
        th_mpi_free_state(state);
    }
    for (int i = 0; i < 11; i++) {
        MPI_Op *op = i < 8 ? &process->halves[i / 4][i % 4] : &process->truths[i - 8];
        if (*op != MPI_OP_NULL) MPI_Op_free(op);
    }
    MPI_Comm_free_keyval(&process->comm_key);
    MPI_Comm_free_keyval(&process->self_key);
    return MPI_SUCCESS;
}

/* Returns 1 between MPI_Init and MPI_Finalize. */
static inline int th_mpi_runs(void) {
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    return begun && !ended;
}

/* Fails before MPI_Init and after MPI_Finalize. */
static inline THStatus th_mpi_check_runs(const char *what) {
    return th_mpi_runs() ? TH_OK : th_mpi_fail(TH_ERR_ARGUMENT, "%s: MPI is not initialized, or was finalized", what);
}

/* Creates the attribute keys of this source file, and registers th_mpi_delete_self to be called by MPI_Finalize. */
static inline int th_mpi_make_keys(th_mpi_process *process) {
    int code = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, th_mpi_delete_comm, &process->comm_key, NULL);
    if (code != MPI_SUCCESS) return code;
    code = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, th_mpi_delete_self, &process->self_key, NULL);
    if (code == MPI_SUCCESS) code = MPI_Comm_set_attr(MPI_COMM_SELF, process->self_key, process);
    for (int i = 0; i < 11; i++) *(i < 8 ? &process->halves[i / 4][i % 4] : &process->truths[i - 8]) = MPI_OP_NULL;
    return code;
}

/* Creates the state of a communicator that this source file uses for the first time. */
static inline THStatus th_mpi_new_state(THMpiCall *call) {
    th_mpi_process *process = th_mpi_this_file();
    THMpiState *state = (THMpiState *)calloc(1, sizeof *state);
    if (!state) return th_mpi_fail(TH_ERR_NOMEM, "%s: no memory for a communicator", call->what);
    state->checked = 1;
    state->full.storages = state->full.memories = TH_MPI_KEPT;
    MPI_Comm_rank(call->comm, &state->rank);
    MPI_Comm_size(call->comm, &state->size);
    int code = MPI_Comm_set_attr(call->comm, process->comm_key, state);
    if (code != MPI_SUCCESS) {
        free(state);
        return th_mpi_check(code, call->what);
    }
    th_mpi_lock(process);
    state->next = process->states;
    process->states = state;
    th_mpi_unlock(process);
    call->state = state;
    return TH_OK;
}

/* Begins a call: finds the communicator's state, and makes MPI return errors until th_mpi_end. */
static inline THStatus th_mpi_begin(THMpiCall *call, MPI_Comm comm, const char *what) {
    th_mpi_process *process = th_mpi_this_file();
    void *value = NULL;
    int found = 0;
    call->what = what;
    call->comm = comm;
    call->about = NULL;
    call->sizes = NULL;
    call->late = NULL;
    if (!th_mpi_is_ready(process)) {
        int code = MPI_SUCCESS;
        if (th_mpi_check_runs(what) != TH_OK) return TH_ERR_ARGUMENT;
        th_mpi_lock(process);
        if (!process->ready) code = th_mpi_make_keys(process);
        th_mpi_set_ready(process, code == MPI_SUCCESS);
        th_mpi_unlock(process);
        if (code != MPI_SUCCESS) return th_mpi_check(code, what);
    }
    if (comm == MPI_COMM_NULL) return th_mpi_fail(TH_ERR_ARGUMENT, "%s: the communicator is MPI_COMM_NULL", what);
    MPI_Comm_get_errhandler(comm, &call->handler);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_get_attr(comm, process->comm_key, &value, &found);
    call->state = (THMpiState *)value;
    if (found && call->state->orphans) th_mpi_end_orphans(call->state);
    if (found) return TH_OK;
    THStatus status = th_mpi_new_state(call);
    if (status != TH_OK) {
        MPI_Comm_set_errhandler(comm, call->handler);
        MPI_Errhandler_free(&call->handler);
    }
    return status;
}

/* Ends a call for which th_mpi_begin returned TH_OK: restores the error handler, and returns `status`. */
static inline THStatus th_mpi_end(THMpiCall *call, THStatus status) {
    MPI_Comm_set_errhandler(call->comm, call->handler);
    MPI_Errhandler_free(&call->handler);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- datatypes */

/// Returns MPI's datatype for elements of `dtype`: MPI_FLOAT, MPI_DOUBLE, MPI_INT8_T and so on; MPI_C_BOOL for Bool.
/// MPI has no 16-bit floats: they are sent as MPI_UINT16_T, over which MPI_SUM would add integers. Returns
/// MPI_DATATYPE_NULL, and sets an error, if `dtype` is invalid.
static inline MPI_Datatype TH_MPI_datatype(THDtype dtype) {
    switch (dtype) {
    case TH_UINT8: return MPI_UINT8_T;
    case TH_INT8: return MPI_INT8_T;
    case TH_INT16: return MPI_INT16_T;
    case TH_INT32: return MPI_INT32_T;
    case TH_INT64: return MPI_INT64_T;
    case TH_FLOAT16: return MPI_UINT16_T;
    case TH_BFLOAT16: return MPI_UINT16_T;
    case TH_FLOAT32: return MPI_FLOAT;
    case TH_FLOAT64: return MPI_DOUBLE;
    case TH_BOOL: return MPI_C_BOOL;
    default: break;
    }
    th_mpi_fail(TH_ERR_DTYPE, "TH_MPI_datatype: %d is no dtype", (int)dtype);
    return MPI_DATATYPE_NULL;
}

/* The bytes of an element, as returned by THDtype_size, but without a call into libthorn. */
static inline int64_t th_mpi_bytes(int dtype) {
    static const unsigned char bytes[] = {0, 1, 1, 2, 4, 8, 2, 2, 4, 8, 1};
    return (size_t)dtype < sizeof bytes ? bytes[dtype] : 0;
}

/* A layout in normal form: dimensions of one entry are dropped, and adjacent dimensions that one step covers are
 * merged. The innermost dimension comes first; steps are in bytes. */
typedef struct th_mpi_layout {
    int64_t bytes;
    int64_t size[TH_MPI_DIMS];
    int64_t step[TH_MPI_DIMS];
    int dims;
    int empty;
} th_mpi_layout;

static inline void th_mpi_layout_of(th_mpi_layout *layout, int64_t bytes, int dims, const int64_t *size,
                                    const int64_t *stride) {
    int n = 0;
    layout->bytes = bytes;
    layout->empty = 0;
    for (int d = dims - 1; d >= 0; d--) {
        int64_t step = stride[d] * bytes;
        if (size[d] == 1) continue;
        if (size[d] == 0) layout->empty = 1;
        if (layout->empty) continue;
        if (n > 0 && step == layout->step[n - 1] * layout->size[n - 1]) {
            layout->size[n - 1] *= size[d];
        } else {
            layout->size[n] = size[d];
            layout->step[n++] = step;
        }
    }
    layout->dims = n;
}

/* Returns 1 if the elements are in row-major order without gaps. */
static inline int th_mpi_is_row(const th_mpi_layout *layout) {
    return layout->dims == 0 || (layout->dims == 1 && layout->step[0] == layout->bytes);
}

/* Stores in `*type` the datatype of `count` items of type `item`, whose starts are `step` bytes apart. The caller frees
 * the datatype. */
static inline int th_mpi_repeat(MPI_Datatype *type, int64_t count, int64_t step, MPI_Datatype item) {
    const int64_t most = TH_MPI_COUNT_MAX;
    MPI_Datatype block, part[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
    if (count <= most) return MPI_Type_create_hvector((int)count, 1, (MPI_Aint)step, item, type);
    int code = MPI_Type_create_hvector((int)most, 1, (MPI_Aint)step, item, &block);
    if (code != MPI_SUCCESS) return code;
    code = th_mpi_repeat(&part[0], count / most, step * most, block);
    if (code == MPI_SUCCESS) code = MPI_Type_create_hvector((int)(count % most), 1, (MPI_Aint)step, item, &part[1]);
    if (code == MPI_SUCCESS) {
        const int lengths[2] = {1, 1};
        const MPI_Aint places[2] = {0, (MPI_Aint)(count / most * most * step)};
        code = MPI_Type_create_struct(2, lengths, places, part, type);
    }
    MPI_Type_free(&block);
    for (int i = 0; i < 2; i++) {
        if (part[i] != MPI_DATATYPE_NULL) MPI_Type_free(&part[i]);
    }
    return code;
}

/* No explicit extent: the datatype keeps the extent that MPI computes. */
enum { TH_MPI_NO_EXTENT = -1 };

/* Stores in `*type` the committed datatype of a non-empty layout. Consecutive items start `extent` bytes apart. The
 * caller frees the datatype. */
static inline int th_mpi_new_type(MPI_Datatype *type, MPI_Datatype element, const th_mpi_layout *layout, int64_t extent) {
    MPI_Datatype next, now;
    int d = 0, code;
    if (layout->dims > 1 && layout->step[0] == layout->bytes && layout->size[0] <= TH_MPI_COUNT_MAX &&
        layout->size[1] <= TH_MPI_COUNT_MAX) {
        code = MPI_Type_create_hvector((int)layout->size[1], (int)layout->size[0], (MPI_Aint)layout->step[1], element, &now);
        d = 2;
    } else {
        code = MPI_Type_dup(element, &now);
    }
    for (; code == MPI_SUCCESS && d < layout->dims; d++) {
        code = th_mpi_repeat(&next, layout->size[d], layout->step[d], now);
        MPI_Type_free(&now);
        now = next;
    }
    if (code == MPI_SUCCESS && extent != TH_MPI_NO_EXTENT) {
        code = MPI_Type_create_resized(now, 0, (MPI_Aint)extent, &next);
        MPI_Type_free(&now);
        now = next;
    }
    if (code != MPI_SUCCESS) return code;
    *type = now;
    return MPI_Type_commit(type);
}

/* Stores in `*type` the datatype of elements `dtype` in `layout`, as th_mpi_new_type does. The datatype comes from the
 * communicator's cache; if the cache lacks it, a new datatype replaces the least recently used one. Borrowed. */
static inline THStatus th_mpi_type(MPI_Datatype *type, THMpiCall *call, THDtype dtype, const th_mpi_layout *layout,
                                   int64_t extent) {
    THMpiState *state = call->state;
    const size_t half = (size_t)layout->dims * sizeof(int64_t);
    const int length = 2 + 2 * layout->dims;
    const int64_t head[2] = {(int64_t)dtype, extent};
    uint64_t hash = (uint64_t)dtype * 31 + (uint64_t)extent + 1;
    int oldest = 0;
    for (int d = 0; d < layout->dims; d++) {
        hash = (hash ^ (uint64_t)layout->size[d]) * 0x9E3779B97F4A7C15u;
        hash = (hash ^ (hash >> 29) ^ (uint64_t)layout->step[d]) * 0xBF58476D1CE4E5B9u;
    }
    state->clock++;
    for (int i = 0; i < TH_MPI_TYPES; i++) {
        th_mpi_entry *entry = &state->entry[i];
        if (entry->used < state->entry[oldest].used) oldest = i;
        if (state->hash[i] != hash || !entry->key || entry->length != length) continue;
        if (memcmp(entry->key, head, sizeof head) == 0 && memcmp(entry->key + 2, layout->size, half) == 0 &&
            memcmp(entry->key + 2 + layout->dims, layout->step, half) == 0) {
            entry->used = state->clock;
            *type = entry->type;
            return TH_OK;
        }
    }
    int64_t *key = (int64_t *)malloc((size_t)length * sizeof *key);
    MPI_Datatype made;
    if (!key) return th_mpi_fail(TH_ERR_NOMEM, "%s: no memory for a datatype", call->what);
    int code = th_mpi_new_type(&made, TH_MPI_datatype(dtype), layout, extent);
    if (code != MPI_SUCCESS) {
        free(key);
        return th_mpi_check(code, call->what);
    }
    th_mpi_entry *entry = &state->entry[oldest];
    if (entry->key) MPI_Type_free(&entry->type);
    free(entry->key);
    memcpy(key, head, sizeof head);
    memcpy(key + 2, layout->size, half);
    memcpy(key + 2 + layout->dims, layout->step, half);
    entry->key = key;
    entry->length = length;
    entry->used = state->clock;
    entry->type = *type = made;
    state->hash[oldest] = hash;
    return TH_OK;
}

/* The layout of a tensor with a dtype. A tensor that has no dimensions and is not a scalar is empty. */
static inline void th_mpi_layout_of_tensor(th_mpi_layout *layout, const THTensor *t) {
    th_mpi_layout_of(layout, th_mpi_bytes(t->dtype), t->nDimension, t->size, t->stride);
    if (t->nDimension == 0 && !(t->flag & TH_TENSOR_SCALAR)) layout->empty = 1;
}

/* Returns the sizes of a tensor, and stores the number of dimensions in `*dims`. A tensor that has no sizes yet counts
 * as one dimension of size 0. */
static inline const int64_t *th_mpi_sizes_of(int *dims, const THTensor *t) {
    static const int64_t none[1] = {0};
    const int lacks = t->nDimension == 0 && !(t->flag & TH_TENSOR_SCALAR);
    *dims = lacks ? 1 : t->nDimension;
    return lacks ? none : t->size;
}

#ifdef __cplusplus
}
#endif

#endif
