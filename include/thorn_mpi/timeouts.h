/**
 * @file timeouts.h
 * @brief Waiting for other ranks with a deadline. Included by thorn_mpi.h.
 *
 *     TH_MPI_setTimeout(comm, 30);                             // on all ranks
 *     THStatus status = TH_MPI_allreduce(t, t, MPI_SUM, comm); // TH_ERR_IO after 30 s without the other ranks
 *
 * With a timeout, a call begins a nonblocking operation of MPI and tests the operation until the deadline. The first
 * 200 µs are spent on tests alone. Then the thread sleeps between tests: an eighth of the time that it has waited, and
 * at most 1 ms. A call therefore lasts at most an eighth, and at most 1 ms for each round of messages, longer than
 * without a timeout. Each wait has the whole timeout: a call that waits twice, such as a collective that first compares
 * its arguments, fails after at most twice the time. Functions on files have the timeout only where they agree on
 * arguments, because MPI reads and writes files in blocking calls.
 *
 * A timeout is the status `TH_ERR_IO`. The message names the function, the rank, the seconds, the awaited rank, and the
 * dtype and sizes of the tensor:
 *
 *     TH_MPI_recv: rank 0 has waited 0.5 s for rank 1 with tag 7; its tensor is float32 [2, 3]
 *
 * After a timeout, MPI may still complete the operation, so all memory that MPI uses is kept until then:
 *
 * - Receives: nothing was received, and the call may be repeated. If the sender stopped in the middle of a message, the
 *   message is lost, and the elements of the result are undefined.
 * - Sends: the message may still arrive. Until then the caller does not change the elements of the tensor.
 * - TH_MPI_wait, TH_MPI_waitall and TH_MPI_haloWait: the request or halo is unchanged, and the caller may wait again.
 * - TH_MPI_freeRequest: the request is freed.
 * - Collectives and gradients: the communicator is lost for collectives, and all further ones fail at once. The elements
 *   of the result are undefined, and may still change as long as the communicator exists.
 *
 * On a lost communicator, messages still work. Ranks that still answer can make a communicator without the lost ranks
 * by MPI_Comm_create_group. MPI_Finalize and MPI_Comm_free may wait for a lost rank forever, so a program that does not
 * continue calls MPI_Abort.
 */

#ifndef THORN_MPI_TIMEOUTS_H
#define THORN_MPI_TIMEOUTS_H

#include "types.h"

#ifndef _WIN32
#include <sys/select.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The number of words in the scratch memory of a communicator with a timeout: enough for dtype and shape of a tensor. */
enum { TH_MPI_SCRATCH = 1024 + 64 };
/* In place of a rank: the operation waits for all ranks. */
enum { TH_MPI_ALL_RANKS = -1000 };

/* Writes the dtype and sizes of a tensor, as in `float32 [2, 3]`. Many sizes are cut off. */
static inline void th_mpi_shape_text(char *text, size_t room, const THTensor *t) {
    int dims, at;
    const int64_t *size = th_mpi_sizes_of(&dims, t);
    at = snprintf(text, room, "%s [", THDtype_name((THDtype)t->dtype));
    for (int d = 0; d < dims && at >= 0 && (size_t)at < room; d++) {
        if ((size_t)at + 32 > room) {
            snprintf(text + at, room - (size_t)at, "...]");
            return;
        }
        at += snprintf(text + at, room - (size_t)at, "%s%lld", d ? ", " : "", (long long)size[d]);
    }
    if (at >= 0 && (size_t)at < room) snprintf(text + at, room - (size_t)at, "]");
}

/* ---------------------------------------------------------------------------------------------------- waiting */

/* Sleeps between two tests of an operation, after `waited` seconds. */
static inline void th_mpi_pause(double waited) {
    if (waited < 200e-6) return;
#ifdef _WIN32
    (void)waited;
#else
    struct timeval time = {0, 0};
    time.tv_usec = waited > 8e-3 ? 1000 : (int)(waited * (1e6 / 8));
    select(0, NULL, NULL, NULL, &time);
#endif
}

/* Sets the error of a timeout. `peer` is the awaited rank. Returns TH_MPI_LATE. */
static inline int th_mpi_late(const THMpiCall *call, int peer, int tag) {
    char sizes[256] = "", other[64] = "the other ranks";
    if (call->about) th_mpi_shape_text(sizes, sizeof sizes, call->about);
    else if (call->sizes) snprintf(sizes, sizeof sizes, "%s", call->sizes);
    if (peer == MPI_ANY_SOURCE) snprintf(other, sizeof other, "any rank");
    else if (peer != TH_MPI_ALL_RANKS) snprintf(other, sizeof other, "rank %d", peer);
    if (peer != TH_MPI_ALL_RANKS && tag != MPI_ANY_TAG) {
        const size_t length = strlen(other);
        snprintf(other + length, sizeof other - length, " with tag %d", tag);
    }
    th_mpi_fail(TH_ERR_IO, "%s: rank %d has waited %g s for %s%s%s", call->what, call->state->rank, call->state->timeout, other,
                *sizes ? "; its tensor is " : "", sizes);
    return TH_MPI_LATE;
}

/* Waits until MPI has completed an operation, which MPI_Wait then ends at once. Returns MPI_SUCCESS without waiting if
 * the communicator has no timeout. Sets the error, and returns TH_MPI_LATE, after the timeout. */
static inline int th_mpi_await(const THMpiCall *call, MPI_Request request, int peer, int tag) {
    if (call->state->timeout <= 0) return MPI_SUCCESS;
    const double begun = MPI_Wtime();
    for (;;) {
        int done = 0, code = MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS || done) return code;
        const double waited = MPI_Wtime() - begun;
        if (waited >= call->state->timeout) return th_mpi_late(call, peer, tag);
        th_mpi_pause(waited);
    }
}

/* Gives an operation that has timed out to the communicator. The memory of the call is added by th_mpi_keep. The memory
 * is leaked if memory runs out, or if two operations of one call time out. */
static inline void th_mpi_abandon(THMpiCall *call, MPI_Request request, int collective) {
    THMpiState *state = call->state;
    th_mpi_orphan *orphan = call->late ? NULL : (th_mpi_orphan *)calloc(1, sizeof *orphan);
    call->late = orphan ? orphan : &state->full;
    call->late->collective |= collective;
    if (orphan) {
        orphan->request = request;
        orphan->next = state->orphans;
        state->orphans = orphan;
    }
    if (!collective) return;
    state->lost = 1;
    snprintf(state->lost_in, sizeof state->lost_in, "%s", call->what);
}

/* Waits for an operation, and ends it. After a timeout the operation belongs to the communicator. */
static inline int th_mpi_complete(THMpiCall *call, MPI_Request *request, int peer, int tag, MPI_Status *came) {
    int code = th_mpi_await(call, *request, peer, tag);
    if (code == TH_MPI_LATE) {
        th_mpi_abandon(call, *request, peer == TH_MPI_ALL_RANKS);
        return code;
    }
    return code == MPI_SUCCESS ? MPI_Wait(request, came) : code;
}

/* Keeps a storage until the call's abandoned operation is complete. Does nothing if none was abandoned. */
static inline void th_mpi_keep_storage(const THMpiCall *call, THStorage *storage) {
    if (!call->late || !storage) return;
    THStorage_retain(storage);
    if (call->late->storages < TH_MPI_KEPT) call->late->storage[call->late->storages++] = storage;
}

/* Keeps the storage of a tensor, or of NULL, as th_mpi_keep_storage does. */
static inline void th_mpi_keep(const THMpiCall *call, const THTensor *t) { th_mpi_keep_storage(call, t ? t->storage : NULL); }

/* Frees memory of malloc, or keeps it until the call's abandoned operation is complete. */
static inline void th_mpi_free_memory(const THMpiCall *call, void *memory) {
    if (!call->late) free(memory);
    else if (memory && call->late->memories < TH_MPI_KEPT) call->late->memory[call->late->memories++] = memory;
}

/* Returns memory for a small collective: `own`, or memory that outlives the call if the communicator has a timeout. */
static inline int64_t *th_mpi_words(const THMpiCall *call, int64_t *own) { return call->state->timeout > 0 ? call->state->scratch : own; }

/* -------------------------------------------------------------------------------------------------- collectives */

/* Fails on a communicator on which a collective has timed out. */
static inline int th_mpi_lost(const THMpiCall *call) {
    if (!call->state->lost) return MPI_SUCCESS;
    if (!call->late) {
        th_mpi_fail(TH_ERR_IO, "%s: the communicator is lost, because %s on rank %d has timed out", call->what, call->state->lost_in,
                    call->state->rank);
    }
    return TH_MPI_LATE;
}

/** @cond */
/* Defines the function th_mpi_do_`name`, which calls the blocking function of MPI, or, with a timeout, the nonblocking
 * one. */
#define TH_MPI_COLLECTIVE(name, blocking, nonblocking, parameters, ...)                                                \
    static inline int th_mpi_do_##name parameters {                                                                    \
        MPI_Request request;                                                                                           \
        int code = th_mpi_lost(call);                                                                                  \
        if (code != MPI_SUCCESS) return code;                                                                          \
        if (call->state->timeout <= 0) return blocking(__VA_ARGS__, call->comm);                                       \
        code = nonblocking(__VA_ARGS__, call->comm, &request);                                                         \
        return code != MPI_SUCCESS ? code : th_mpi_complete(call, &request, TH_MPI_ALL_RANKS, 0, MPI_STATUS_IGNORE);    \
    }

TH_MPI_COLLECTIVE(bcast, MPI_Bcast, MPI_Ibcast, (THMpiCall * call, void *data, int count, MPI_Datatype type, int root), data, count,
                  type, root)
TH_MPI_COLLECTIVE(reduce, MPI_Reduce, MPI_Ireduce,
                  (THMpiCall * call, const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root), from, to, count, type,
                  op, root)
TH_MPI_COLLECTIVE(allreduce, MPI_Allreduce, MPI_Iallreduce,
                  (THMpiCall * call, const void *from, void *to, int count, MPI_Datatype type, MPI_Op op), from, to, count, type, op)
TH_MPI_COLLECTIVE(reduce_scatter, MPI_Reduce_scatter, MPI_Ireduce_scatter,
                  (THMpiCall * call, const void *from, void *to, const int *counts, MPI_Datatype type, MPI_Op op), from, to, counts, type,
                  op)
TH_MPI_COLLECTIVE(allgather, MPI_Allgather, MPI_Iallgather,
                  (THMpiCall * call, const void *from, int sent, MPI_Datatype out, void *to, int count, MPI_Datatype in), from, sent, out,
                  to, count, in)
TH_MPI_COLLECTIVE(allgatherv, MPI_Allgatherv, MPI_Iallgatherv,
                  (THMpiCall * call, const void *from, int sent, MPI_Datatype out, void *to, const int *counts, const int *places,
                   MPI_Datatype in),
                  from, sent, out, to, counts, places, in)
TH_MPI_COLLECTIVE(gatherv, MPI_Gatherv, MPI_Igatherv,
                  (THMpiCall * call, const void *from, int sent, MPI_Datatype out, void *to, const int *counts, const int *places,
                   MPI_Datatype in, int root),
                  from, sent, out, to, counts, places, in, root)
TH_MPI_COLLECTIVE(scatter, MPI_Scatter, MPI_Iscatter,
                  (THMpiCall * call, const void *from, int sent, MPI_Datatype out, void *to, int count, MPI_Datatype in, int root), from,
                  sent, out, to, count, in, root)
TH_MPI_COLLECTIVE(scatterv, MPI_Scatterv, MPI_Iscatterv,
                  (THMpiCall * call, const void *from, const int *counts, const int *places, MPI_Datatype out, void *to, int count,
                   MPI_Datatype in, int root),
                  from, counts, places, out, to, count, in, root)
TH_MPI_COLLECTIVE(alltoall, MPI_Alltoall, MPI_Ialltoall,
                  (THMpiCall * call, const void *from, int sent, MPI_Datatype out, void *to, int count, MPI_Datatype in), from, sent, out,
                  to, count, in)
TH_MPI_COLLECTIVE(alltoallw, MPI_Alltoallw, MPI_Ialltoallw,
                  (THMpiCall * call, const void *from, const int *sent, const int *outs, const MPI_Datatype *out, void *to,
                   const int *counts, const int *places, const MPI_Datatype *in),
                  from, sent, outs, out, to, counts, places, in)
TH_MPI_COLLECTIVE(neighbor_allgather, MPI_Neighbor_allgather, MPI_Ineighbor_allgather,
                  (THMpiCall * call, const void *from, int sent, MPI_Datatype out, void *to, int count, MPI_Datatype in), from, sent, out,
                  to, count, in)

/** @endcond */

#ifdef __cplusplus
}
#endif

#endif
