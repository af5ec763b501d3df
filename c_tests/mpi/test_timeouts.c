/* Calls whose other ranks are late: they fail after the timeout, name what they have waited for, and keep the memory that MPI uses. */
#include "check_mpi.h"

#include <time.h>

#define SECONDS 0.5
enum { LARGE = 1 << 20 }; /* elements of a message that MPI does not buffer */

/* A communicator of all ranks with the timeout SECONDS. */
static MPI_Comm new_comm(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK_OK(TH_MPI_setTimeout(comm, SECONDS));
    return comm;
}

/* The call fails after the timeout, not much later, and the message contains `text`. */
#define CHECK_LATE(call, text)                                                                                         \
    do {                                                                                                               \
        const double begun = MPI_Wtime();                                                                              \
        CHECK_ERROR(call, TH_ERR_IO, text);                                                                            \
        const double waited = MPI_Wtime() - begun;                                                                     \
        if (!CHECK(waited >= SECONDS && waited < SECONDS + 20)) printf("waited %g s\n", waited);                       \
    } while (0)

/* The call succeeds, perhaps after some timeouts, because ranks that share a core are slow. */
#define CHECK_SUCCEEDS(call)                                                                                           \
    do {                                                                                                               \
        THStatus last = (call);                                                                                        \
        for (int i = 0; i < 40 && last == TH_ERR_IO; i++) last = (call);                                               \
        CHECK_OK(last);                                                                                                \
    } while (0)

/* The other rank of a pair of the ranks 0 and 1. */
static int other(void) { return ranks > 1 ? 1 - rank : 0; }

static void a_receive_may_be_repeated(void) {
    MPI_Comm comm = new_comm();
    THTensor *r = THTensor_newZeros(TH_FLOAT32, SIZES(2, 3)), *fresh = THTensor_new(), *t = THTensor_newOnes(TH_FLOAT32, SIZES(2, 3));
    MPI_Status came;
    char text[128];
    if (rank == 0) {
        snprintf(text, sizeof text, "TH_MPI_recv: rank 0 has waited 0.5 s for rank %d with tag 7; its tensor is float32 [2, 3]", other());
        const clock_t before = clock();
        CHECK_LATE(TH_MPI_recv(r, other(), 7, comm, MPI_STATUS_IGNORE), text);
        /* The rank sleeps most of the time. */
        if (!under_valgrind()) CHECK((double)(clock() - before) / CLOCKS_PER_SEC < 0.7 * SECONDS);
        CHECK_LATE(TH_MPI_recvShaped(fresh, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE),
                   "TH_MPI_recvShaped: rank 0 has waited 0.5 s for any rank");
        CHECK_EQ(THTensor_dtype(fresh), TH_UNDEFINED);
        CHECK_NEAR(THTensor_sumall(r), 0, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    THMpiRequest *request[2] = {NULL, NULL};
    if (rank == other() || rank == 1) {
        CHECK_OK(TH_MPI_isend(&request[0], t, 0, 7, comm));
        if (ranks > 1) CHECK_OK(TH_MPI_sendShaped(t, 0, 8, comm));
    }
    if (rank == 0) {
        CHECK_SUCCEEDS(TH_MPI_recv(r, other(), 7, comm, &came));
        CHECK_EQ(came.MPI_SOURCE, other());
        if (ranks > 1) CHECK_SUCCEEDS(TH_MPI_recvShaped(fresh, 1, 8, comm, MPI_STATUS_IGNORE));
        CHECK_NEAR(THTensor_sumall(r), 6, 0);
    }
    CHECK_SUCCEEDS(TH_MPI_wait(&request[0], MPI_STATUS_IGNORE));
    THTensor_free(r);
    THTensor_free(fresh);
    THTensor_free(t);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
}

/* The caller frees the tensor after the timeout, and its elements arrive later. */
static void a_send_that_is_late_keeps_its_elements(void) {
    if (ranks < 2) return;
    MPI_Comm comm = new_comm();
    THTensor *t = THTensor_newFull(TH_FLOAT32, SIZES(LARGE), rank + 3);
    if (rank == 0) CHECK_LATE(TH_MPI_send(t, 1, 0, comm), "rank 0 has waited 0.5 s for rank 1 with tag 0; its tensor is float32");
    if (rank == 0) CHECK_LATE(TH_MPI_sendrecv(t, 1, 5, t, 1, 1, comm, MPI_STATUS_IGNORE), "TH_MPI_sendrecv: rank 0 has waited");
    THTensor_free(t);
    MPI_Barrier(MPI_COMM_WORLD);
    THTensor *r = THTensor_newZeros(TH_FLOAT32, SIZES(LARGE));
    for (int tag = 0; tag < 2 && rank == 1; tag++) {
        CHECK_SUCCEEDS(TH_MPI_recv(r, 0, tag, comm, MPI_STATUS_IGNORE));
        CHECK_NEAR(THTensor_minall(r), 3, 0);
        CHECK_NEAR(THTensor_maxall(r), 3, 0);
    }
    THTensor_free(r);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
}

static void a_request_may_be_waited_for_again(void) {
    if (ranks < 2) return;
    MPI_Comm comm = new_comm();
    THTensor *r = THTensor_newZeros(TH_INT64, SIZES(4)), *t = THTensor_newFull(TH_INT64, SIZES(4), 9);
    THTensor *large = THTensor_newFull(TH_FLOAT32, SIZES(LARGE), 2);
    THMpiRequest *request[2] = {NULL, NULL};
    if (rank == 0) {
        CHECK_OK(TH_MPI_irecv(&request[0], r, 1, 3, comm));
        CHECK_OK(TH_MPI_isend(&request[1], large, 1, 4, comm));
        CHECK_LATE(TH_MPI_wait(&request[0], MPI_STATUS_IGNORE),
                   "TH_MPI_wait: rank 0 has waited 0.5 s for rank 1 with tag 3; its tensor is int64 [4]");
        CHECK_LATE(TH_MPI_wait(&request[1], MPI_STATUS_IGNORE), "for rank 1 with tag 4; its tensor is float32 [1048576]");
        CHECK(request[0] != NULL && request[1] != NULL);
        CHECK_LATE(TH_MPI_waitall(2, request), "with tag 3");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        CHECK_OK(TH_MPI_send(t, 0, 3, comm));
        CHECK_SUCCEEDS(TH_MPI_recv(large, 0, 4, comm, MPI_STATUS_IGNORE));
    }
    CHECK_SUCCEEDS(TH_MPI_waitall(2, request));
    if (rank == 0) CHECK_VALUES(r, 9, 9, 9, 9);
    THTensor_free(r);
    THTensor_free(t);
    THTensor_free(large);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
}

/* Any call frees the memory of operations that are complete, after which MPICH frees a communicator. */
static void end_late(MPI_Comm comm) {
    for (int i = 0; i < 200; i++) CHECK_OK(TH_MPI_setChecked(comm, 1));
}

/* Completes the collective that all ranks except rank 0 have begun and given up: an allreduce of 3 floats. */
static void complete(MPI_Comm comm) {
    MPI_Request request;
    float sum[3] = {0, 0, 0};
    if (rank == 0) {
        MPI_Iallreduce(MPI_IN_PLACE, sum, 3, MPI_FLOAT, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK_NEAR(sum[0], ranks - 1, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    end_late(comm);
}

/* Rank 0 calls an allreduce, the others do so when rank 0 has given up. They agree on the arguments, which rank 0 has sent, and then wait
 * for the elements of rank 0. */
static void a_communicator_is_lost_for_collectives(void) {
    if (ranks < 2) return;
    MPI_Comm comm = new_comm();
    THTensor *t = vector_of(TH_FLOAT32, rank ? 1 : 0, 2, 3), *r = THTensor_new(), *matrix = THTensor_newOnes(TH_BFLOAT16, SIZES(4, 4));
    THMpiRequest *request = NULL;
    char text[128];
    for (int turn = 0; turn < 2; turn++) {
        if ((rank == 0) == (turn == 0)) {
            snprintf(text, sizeof text, "TH_MPI_allreduce: rank %d has waited 0.5 s for the other ranks; its tensor is float32 [3]", rank);
            CHECK_LATE(TH_MPI_allreduce(turn ? t : r, t, MPI_SUM, comm), text);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_EQ(THTensor_dtype(r), TH_UNDEFINED);
    const double begun = MPI_Wtime();
    static const char lost[] = "the communicator is lost, because TH_MPI_allreduce on rank";
    CHECK_ERROR(TH_MPI_allreduce(r, t, MPI_SUM, comm), TH_ERR_IO, lost);
    CHECK_ERROR(TH_MPI_reduce(r, matrix, MPI_SUM, 0, comm), TH_ERR_IO, lost);
    CHECK_ERROR(TH_MPI_bcast(matrix, 0, comm), TH_ERR_IO, lost);
    CHECK_ERROR(TH_MPI_bcastShaped(r, ranks - 1, comm), TH_ERR_IO, lost);
    CHECK_ERROR(TH_MPI_allgather(r, matrix, 0, comm), TH_ERR_IO, lost);
    CHECK_ERROR(TH_MPI_gather(r, matrix, 0, 0, comm), TH_ERR_IO, lost);
    CHECK_ERROR(TH_MPI_scatter(r, matrix, NULL, 0, 0, comm), TH_ERR_IO, lost);
    CHECK_ERROR(TH_MPI_reduceScatter(r, matrix, NULL, 0, MPI_SUM, comm), TH_ERR_IO, lost);
    CHECK_ERROR(TH_MPI_alltoall(r, matrix, NULL, 0, 1, comm), TH_ERR_IO, lost);
    CHECK_ERROR(TH_MPI_iallreduce(&request, t, MPI_SUM, comm), TH_ERR_IO, lost);
    CHECK_ERROR(TH_MPI_setTimeout(comm, 5), TH_ERR_IO, lost);
    CHECK_FAILURE(TH_MPI_newGradients(NULL, 0, 0, 1, comm) == NULL, TH_ERR_IO, lost);
    CHECK(MPI_Wtime() - begun < 20 && request == NULL);
    /* Messages still work. */
    THTensor *from = THTensor_newZeros(TH_FLOAT32, SIZES(1)), *own = vector_of(TH_FLOAT32, rank);
    if (rank < 2) {
        THMpiRequest *both[2];
        CHECK_OK(TH_MPI_irecv(&both[0], from, other(), 0, comm));
        CHECK_OK(TH_MPI_isend(&both[1], own, other(), 0, comm));
        CHECK_SUCCEEDS(TH_MPI_waitall(2, both));
        CHECK_VALUES(from, other());
    }
    THTensor *all[] = {t, r, matrix, from, own};
    for (int i = 0; i < 5; i++) THTensor_free(all[i]);
    complete(comm);
    MPI_Comm_free(&comm);
}

static void iallreduce_may_be_late(void) {
    if (ranks < 2) return;
    MPI_Comm comm = new_comm();
    THTensor *t = vector_of(TH_FLOAT32, 1, 1, 1);
    THMpiRequest *request = NULL;
    if (rank > 0) {
        CHECK_OK(TH_MPI_iallreduce(&request, t, MPI_SUM, comm));
        CHECK_LATE(TH_MPI_wait(&request, MPI_STATUS_IGNORE), "for the other ranks; its tensor is float32 [3]");
        CHECK_LATE(TH_MPI_freeRequest(request), "TH_MPI_freeRequest: rank");
        CHECK_ERROR(TH_MPI_allreduce(t, t, MPI_SUM, comm), TH_ERR_IO, "is lost, because TH_MPI_freeRequest");
    }
    THTensor_free(t);
    MPI_Barrier(MPI_COMM_WORLD);
    complete(comm);
    MPI_Comm_free(&comm);
}

/* The gradients of the ranks except rank 0 are late. */
static void gradients_may_be_late(void) {
    if (ranks < 2) return;
    MPI_Comm comm = new_comm();
    THTensor *w = THTensor_newOnes(TH_BFLOAT16, SIZES(3)), *loss = THTensor_new();
    CHECK_OK(THTensor_setRequiresGrad(w, 1));
    THMpiGradients *g = TH_MPI_newGradients(&w, 1, 0, 1, comm);
    MPI_Comm own = g ? g->comm : MPI_COMM_NULL;
    CHECK_OK(THTensor_sum(loss, w, TH_ALL_DIMS, 0));
    CHECK(g != NULL);
    if (rank > 0) {
        CHECK_LATE(TH_MPI_allreduceGradients(g, THTensor_backward(loss, NULL)),
                   "TH_MPI_allreduceGradients: rank");
        CHECK_ERROR(TH_MPI_allreduceGradients(g, TH_OK), TH_ERR_IO, "the communicator is lost");
        THTensor *gradient = THTensor_newGrad(w);
        CHECK_VALUES(gradient, 1, 1, 1);
        THTensor_free(gradient);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        /* What rank 0 would have sent: its bucket in float32, and its flags. */
        MPI_Request request[2];
        float sum[3] = {0, 0, 0};
        MPI_Iallreduce(MPI_IN_PLACE, sum, 3, MPI_FLOAT, MPI_SUM, own, &request[0]);
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        CHECK_NEAR(sum[0], (ranks - 1.0) / ranks, 1e-6);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    end_late(own);
    CHECK_OK(TH_MPI_freeGradients(g));
    if (rank > 0) MPI_Comm_free(&own);
    THTensor_free(w);
    THTensor_free(loss);
    MPI_Comm_free(&comm);
}

/* Rank 0 leaves a sparse collective after its first part. The other ranks do not describe the tensor of that part, which is freed. */
static void messages_describe_no_tensor_that_is_freed(void) {
    if (ranks < 2) return;
    for (int gathers = 0; gathers < 2; gathers++) {
        MPI_Comm comm = new_comm();
        THSTensor *s = THSTensor_newWithSize(TH_FLOAT32, SIZES(4, 5), 2), *r = THSTensor_new();
        if (rank > 0) {
            CHECK_LATE(gathers ? TH_MPI_gatherSparse(r, s, 0, 0, comm) : TH_MPI_bcastSparse(r, 0, comm), "for the other ranks");
            CHECK(strstr(THGetLastError(), "its tensor") == NULL);
        } else {
            THMpiCall call;
            THTensor *t = THTensor_newOnes(TH_INT64, SIZES(3));
            CHECK_OK(th_mpi_begin(&call, comm, "test"));
            if (gathers) CHECK_OK(th_mpi_agree_sparse(&call, TH_OK, s, th_mpi_kind(TH_MPI_SPARSE, MPI_OP_NULL, 2, 0), 0));
            else CHECK_OK(th_mpi_agree_again(&call, TH_OK, th_mpi_kind(TH_MPI_SPARSE, MPI_OP_NULL, 0, 0)));
            if (!gathers) CHECK_OK(th_mpi_bcast_shaped(&call, t, 0));
            th_mpi_end(&call, TH_OK);
            THTensor_free(t);
        }
        THSTensor_free(s);
        THSTensor_free(r);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            /* The collective for which the other ranks have waited: their sizes, or the comparison of arguments. */
            MPI_Request request;
            int64_t words[2 * (TH_MPI_FACTS + 1)] = {4}, sizes[64];
            if (gathers) MPI_Iallgather(words, 1, MPI_INT64_T, sizes, 1, MPI_INT64_T, comm, &request);
            else MPI_Iallreduce(MPI_IN_PLACE, words, 2 * (TH_MPI_FACTS + 1), MPI_INT64_T, MPI_MAX, comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        end_late(comm);
        MPI_Comm_free(&comm);
    }
}

static void timeouts_are_checked(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK_ERROR(TH_MPI_setTimeout(comm, -1), TH_ERR_ARGUMENT, "-1 seconds");
    CHECK_ERROR(TH_MPI_setTimeout(comm, NAN), TH_ERR_ARGUMENT, "nan seconds");
    CHECK_ERROR(TH_MPI_setTimeout(MPI_COMM_NULL, 1), TH_ERR_ARGUMENT, "MPI_COMM_NULL");
    if (ranks > 1) CHECK_ERROR(TH_MPI_setTimeout(comm, rank == 0), TH_ERR_ARGUMENT, "settings");
    /* The numbers may differ, and the timeout may be removed. */
    CHECK_OK(TH_MPI_setTimeout(comm, 40 + rank));
    THTensor *t = vector_of(TH_FLOAT32, 1);
    CHECK_OK(TH_MPI_allreduce(t, t, MPI_SUM, comm));
    CHECK_OK(TH_MPI_setTimeout(comm, 0));
    CHECK_OK(TH_MPI_allreduce(t, t, MPI_SUM, comm));
    CHECK_VALUES(t, ranks * ranks);
    THTensor_free(t);
    MPI_Comm_free(&comm);
}

CHECK_MPI_MAIN(CASE(a_receive_may_be_repeated), CASE(a_send_that_is_late_keeps_its_elements), CASE(a_request_may_be_waited_for_again),
               CASE(a_communicator_is_lost_for_collectives), CASE(iallreduce_may_be_late), CASE(gradients_may_be_late),
               CASE(messages_describe_no_tensor_that_is_freed), CASE(timeouts_are_checked))
