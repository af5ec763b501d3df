/* Messages: all layouts and dtypes arrive; shapes arrive or are compared; requests keep what they need. */
#include "check_mpi.h"

/* The rank to the right, and the one to the left. */
static int right(void) { return (rank + 1) % ranks; }
static int left(void) { return (rank + ranks - 1) % ranks; }

static void elements_arrive_whatever_the_layouts(void) {
    for (int64_t round = 0; round < rounds_of(200); round++) {
        int64_t size[8];
        int ndim = any_shape(COMMON, 0, size);
        THDtype dtype = any_dtype(COMMON);
        THTensor *t = values_somehow(OWN, dtype, ndim, size, rank);
        THTensor *r = zeros_somehow(OWN, dtype, ndim, size);
        static MPI_Status status;
        /* Even ranks send first. A single rank receives from itself by sendrecv. */
        if (ranks == 1) {
            CHECK_OK(TH_MPI_sendrecv(r, 0, 5, t, 0, 5, MPI_COMM_WORLD, &status));
        } else if (rank % 2 == 0) {
            CHECK_OK(TH_MPI_send(t, right(), 5, MPI_COMM_WORLD));
            CHECK_OK(TH_MPI_recv(r, left(), 5, MPI_COMM_WORLD, &status));
        } else {
            CHECK_OK(TH_MPI_recv(r, left(), 5, MPI_COMM_WORLD, &status));
            CHECK_OK(TH_MPI_send(t, right(), 5, MPI_COMM_WORLD));
        }
        CHECK_EQ(status.MPI_SOURCE, left());
        CHECK_EQ(status.MPI_TAG, 5);
        CHECK_IS_OF(r, left());
        CHECK_IS_OF(t, rank);
        THTensor_free(t);
        THTensor_free(r);
    }
}

static void an_expanded_tensor_is_sent_as_what_it_shows(void) {
    THTensor *row = THTensor_newArange(TH_INT16, 0, 3, 1);
    THTensor *t = THTensor_newExpand(row, SIZES(2, 3)), *r = THTensor_newZeros(TH_INT16, SIZES(3, 2));
    CHECK_OK(TH_MPI_sendrecv(r, left(), 0, t, right(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_VALUES(r, 0, 1, 2, 0, 1, 2);
    /* As a result, an element would be written twice. */
    CHECK_ERROR(TH_MPI_recv(t, left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), TH_ERR_SHAPE,
                "TH_MPI_recv: the result has a dimension of stride 0");
    THTensor_free(row);
    THTensor_free(t);
    THTensor_free(r);
}

static void steps_that_interleave_are_received(void) {
    /* Sizes 2 x 3, strides 3 and 2: no two elements share memory, but neither dimension contains the other. */
    THStorage *storage = THStorage_newWithSize(TH_INT32, 8);
    CHECK_OK(THStorage_fill(storage, 0));
    const int64_t size[] = {2, 3}, stride[] = {3, 2};
    THTensor *r = THTensor_newWithStorage(storage, 0, 2, size, stride), *t = THTensor_newArange(TH_INT32, 1, 7, 1);
    CHECK_OK(TH_MPI_sendrecv(r, left(), 0, t, right(), 0, MPI_COMM_WORLD, NULL));
    CHECK_VALUES(r, 1, 2, 3, 4, 5, 6);
    THTensor_free(r);
    THTensor_free(t);
    THStorage_free(storage);
}

static void a_ring_passes_tensors_on_in_place(void) {
    THTensor *t = matrix_of(TH_FLOAT32, 2, rank, rank + 0.5, 3, 4), *fresh = THTensor_new();
    CHECK_OK(TH_MPI_sendrecv(fresh, left(), 1, t, right(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_SHAPE(fresh, 2, 2);
    CHECK_VALUES(fresh, left(), left() + 0.5, 3, 4);
    for (int i = 0; i < ranks; i++) {
        CHECK_OK(TH_MPI_sendrecv(t, left(), 2, t, right(), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_NEAR(THTensor_get2d(t, 0, 0), (rank + ranks - 1 - i) % ranks, 0);
    }
    THTensor *none = THTensor_newWithDtype(TH_INT16), *empty = THTensor_new();
    CHECK_OK(TH_MPI_sendrecv(empty, left(), 3, none, right(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_SHAPE(empty, 0);
    THTensor_free(none);
    THTensor_free(empty);
    THTensor *other = THTensor_newT(t);
    CHECK_OK(TH_MPI_sendrecv(t, left(), 2, other, right(), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_VALUES(t, left(), 3, left() + 0.5, 4);
    THTensor_free(other);
    THTensor_free(t);
    THTensor_free(fresh);
}

static void shapes_travel(void) {
    for (int64_t round = 0; round < rounds_of(200); round++) {
        int64_t size[8];
        int ndim = any_shape(COMMON, 0, size), receiver = (int)pick(COMMON, ranks);
        THDtype dtype = any_dtype(COMMON);
        int how = (int)pick(COMMON, 3);
        for (int sender = 0; sender < ranks; sender++) {
            if (sender == receiver) continue;
            if (rank == sender) {
                THTensor *t = values_somehow(OWN, dtype, ndim, size, sender);
                CHECK_OK(TH_MPI_sendShaped(t, receiver, (int)round, MPI_COMM_WORLD));
                THTensor_free(t);
            }
            if (rank == receiver) {
                /* A fresh result, one with a dtype, or one of another shape. */
                THTensor *r = how == 0 ? THTensor_new() : how == 1 ? THTensor_newWithDtype(dtype) : THTensor_newZeros(dtype, SIZES(5, 1));
                static MPI_Status status;
                CHECK_OK(TH_MPI_recvShaped(r, MPI_ANY_SOURCE, (int)round, MPI_COMM_WORLD, &status));
                CHECK(THTensor_isSize(r, ndim, size));
                CHECK_EQ(THTensor_dtype(r), dtype);
                CHECK_EQ(status.MPI_TAG, round);
                CHECK_IS_OF(r, status.MPI_SOURCE);
                THTensor_free(r);
            }
        }
    }
}

static void another_dtype_is_refused_and_the_line_stays_in_order(void) {
    if (ranks < 2 || rank > 1) return;
    if (rank == 0) {
        THTensor *t = THTensor_newFull(TH_FLOAT64, SIZES(100, 1000), 7), *u = vector_of(TH_INT8, 4, 5);
        CHECK_OK(TH_MPI_sendShaped(t, 1, 0, MPI_COMM_WORLD));
        CHECK_OK(TH_MPI_sendShaped(u, 1, 0, MPI_COMM_WORLD));
        THTensor_free(t);
        THTensor_free(u);
    } else {
        THTensor *r = vector_of(TH_INT8, 1, 2, 3);
        CHECK_ERROR(TH_MPI_recvShaped(r, 0, 0, MPI_COMM_WORLD, NULL), TH_ERR_DTYPE, "the result holds int8, and float64 comes");
        CHECK_VALUES(r, 1, 2, 3);
        CHECK_OK(TH_MPI_recvShaped(r, 0, 0, MPI_COMM_WORLD, NULL));
        CHECK_VALUES(r, 4, 5);
        THTensor_free(r);
    }
}

static void a_message_of_another_size_is_an_error(void) {
    if (ranks < 2 || rank > 1) return;
    if (rank == 0) {
        THTensor *t = vector_of(TH_FLOAT32, 1, 2, 3, 4);
        for (int i = 0; i < 3; i++) CHECK_OK(TH_MPI_send(t, 1, i, MPI_COMM_WORLD));
        THTensor_free(t);
    } else {
        THTensor *shorter = vector_of(TH_FLOAT32, 0, 0, 0), *longer = THTensor_newZeros(TH_FLOAT32, SIZES(2, 3)), *r = THTensor_new();
        CHECK_ERROR(TH_MPI_recv(shorter, 0, 0, MPI_COMM_WORLD, NULL), TH_ERR_SHAPE,
                    "TH_MPI_recv: the message has 4 elements, and the tensor 3");
        CHECK_VALUES(shorter, 0, 0, 0);
        CHECK_ERROR(TH_MPI_recv(longer, 0, 1, MPI_COMM_WORLD, NULL), TH_ERR_SHAPE, "the message has 4 elements, and the tensor 6");
        CHECK_ERROR(TH_MPI_recvShaped(r, 0, 2, MPI_COMM_WORLD, NULL), TH_ERR_SHAPE, "no dtype and shape");
        CHECK_EQ(THTensor_dtype(r), TH_UNDEFINED);
        THTensor_free(shorter);
        THTensor_free(longer);
        THTensor_free(r);
    }
}

static void a_long_message_does_not_reach_beyond_the_tensor(void) {
    if (ranks < 2 || rank > 1) return;
    THTensor *all = THTensor_newFull(TH_UINT8, SIZES(3000000), rank), *some = THTensor_newNarrow(all, 0, 1000, 10);
    if (rank == 0) {
        CHECK_OK(TH_MPI_send(all, 1, 0, MPI_COMM_WORLD));
    } else {
        CHECK_ERROR(TH_MPI_recv(some, 0, 0, MPI_COMM_WORLD, NULL), TH_ERR_SHAPE, "the message has 3000000 elements, and the tensor 10");
        CHECK_NEAR(THTensor_minall(all), 1, 0);
    }
    THTensor_free(all);
    THTensor_free(some);
}

static void requests_hold_what_they_need(void) {
    enum { EACH = 6 };
    THMpiRequest *requests[2 * EACH];
    THTensor *r[EACH];
    for (int i = 0; i < EACH; i++) {
        r[i] = zeros_somehow(OWN, TH_FLOAT64, SIZES(40, 50));
        CHECK_OK(TH_MPI_irecv(&requests[i], r[i], left(), i, MPI_COMM_WORLD));
    }
    for (int i = 0; i < EACH; i++) {
        THTensor *t = values_somehow(OWN, TH_FLOAT64, SIZES(40, 50), rank * EACH + i);
        CHECK_OK(TH_MPI_isend(&requests[EACH + i], t, right(), i, MPI_COMM_WORLD));
        THTensor_free(t);
    }
    CHECK_OK(TH_MPI_waitall(2 * EACH, requests));
    for (int i = 0; i < EACH; i++) {
        CHECK_IS_OF(r[i], left() * EACH + i);
        THTensor_free(r[i]);
        CHECK(requests[i] == NULL && requests[EACH + i] == NULL);
    }
    CHECK_OK(TH_MPI_wait(&requests[0], NULL));
}

static void requests_are_tested_and_freed(void) {
    THTensor *t = vector_of(TH_BFLOAT16, rank, 2), *r = vector_of(TH_BFLOAT16, 9, 9);
    THMpiRequest *send, *receive, *none;
    int done = 1;
    CHECK_OK(TH_MPI_irecv(&none, r, left(), 77, MPI_COMM_WORLD));
    CHECK_OK(TH_MPI_test(&done, &none, NULL));
    CHECK_EQ(done, 0);
    CHECK_OK(TH_MPI_freeRequest(none));
    CHECK_OK(TH_MPI_irecv(&receive, r, left(), 1, MPI_COMM_WORLD));
    CHECK_OK(TH_MPI_isend(&send, t, right(), 1, MPI_COMM_WORLD));
    CHECK_OK(TH_MPI_freeRequest(send));
    THTensor_free(t);
    static MPI_Status status;
    for (done = 0; !done;) CHECK_OK(TH_MPI_test(&done, &receive, &status));
    CHECK_EQ(status.MPI_SOURCE, left());
    CHECK(receive == NULL);
    CHECK_VALUES(r, left(), 2);
    CHECK_OK(TH_MPI_freeRequest(NULL));
    CHECK_ERROR(TH_MPI_isend(NULL, r, 0, 0, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "argument 'request' is NULL");
    THTensor_free(r);
    /* The memory of a freed send is released when MPI has finished the send, which the next call detects. */
    MPI_Barrier(MPI_COMM_WORLD);
    THTensor *empty = THTensor_newZeros(TH_UINT8, SIZES(0));
    CHECK_OK(TH_MPI_isend(&send, empty, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    CHECK_OK(TH_MPI_wait(&send, NULL));
    THTensor_free(empty);
}

static void a_request_tells_that_a_message_is_short(void) {
    if (ranks < 2 || rank > 1) return;
    THTensor *t = vector_of(TH_INT64, 1, 2), *r = vector_of(TH_INT64, 0, 0, 0);
    THMpiRequest *request;
    if (rank == 0) {
        CHECK_OK(TH_MPI_send(t, 1, 0, MPI_COMM_WORLD));
    } else {
        CHECK_OK(TH_MPI_irecv(&request, r, 0, 0, MPI_COMM_WORLD));
        CHECK_ERROR(TH_MPI_waitall(1, &request), TH_ERR_SHAPE, "TH_MPI_wait: the message has 2 elements, and the tensor 3");
    }
    THTensor_free(t);
    THTensor_free(r);
}

static void nothing_comes_from_no_process(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1, 2);
    THMpiRequest *request;
    static MPI_Status status;
    CHECK_OK(TH_MPI_send(t, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    CHECK_OK(TH_MPI_recv(t, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status));
    CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_OK(TH_MPI_irecv(&request, t, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    CHECK_OK(TH_MPI_wait(&request, &status));
    CHECK_OK(TH_MPI_recvShaped(t, MPI_PROC_NULL, 0, MPI_COMM_WORLD, NULL));
    CHECK_OK(TH_MPI_sendrecv(t, MPI_PROC_NULL, 0, t, MPI_PROC_NULL, 0, MPI_COMM_WORLD, NULL));
    CHECK_VALUES(t, 1, 2);
    THTensor_free(t);
}

static void plain_mpi_takes_part(void) {
    float values[6] = {0, 1, 2, 3, 4, 5};
    THTensor *t = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6), *view = THTensor_newT(t), *r = THTensor_newZeros(TH_FLOAT32, SIZES(3, 2));
    THMpiRequest *request;
    CHECK_OK(TH_MPI_isend(&request, view, right(), 0, MPI_COMM_WORLD));
    MPI_Recv(values, 6, MPI_FLOAT, left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_OK(TH_MPI_wait(&request, NULL));
    CHECK(values[0] == 1 && values[1] == 4 && values[2] == 2 && values[5] == 6);
    CHECK_OK(TH_MPI_irecv(&request, r, left(), 0, MPI_COMM_WORLD));
    MPI_Send(values, 6, MPI_FLOAT, right(), 0, MPI_COMM_WORLD);
    CHECK_OK(TH_MPI_wait(&request, NULL));
    CHECK_VALUES(r, 1, 4, 2, 5, 3, 6);
    THTensor_free(t);
    THTensor_free(view);
    THTensor_free(r);
}

static void what_a_gradient_needs_is_not_changed_unseen(void) {
    THTensor *leaf = vector_of(TH_FLOAT32, 1, 2), *t = vector_of(TH_FLOAT32, 3, 4), *x = vector_of(TH_FLOAT32, 5, 6), *y = THTensor_new();
    CHECK_OK(THTensor_setRequiresGrad(leaf, 1));
    CHECK_ERROR(TH_MPI_recv(leaf, left(), 0, MPI_COMM_WORLD, NULL), TH_ERR_ARGUMENT, "THGrad_setEnabled(0)");
    CHECK_OK(THTensor_cmul(y, leaf, x));
    /* x is saved for the gradient of leaf. */
    CHECK_OK(TH_MPI_sendrecv(x, left(), 0, t, right(), 0, MPI_COMM_WORLD, NULL));
    THTensor *ones = vector_of(TH_FLOAT32, 1, 1);
    CHECK_ERROR(THTensor_backward(y, ones), TH_ERR_ARGUMENT, "changed in place");
    CHECK_OK(THGrad_setEnabled(0));
    CHECK_OK(TH_MPI_sendrecv(leaf, left(), 0, t, right(), 0, MPI_COMM_WORLD, NULL));
    CHECK_OK(THGrad_setEnabled(1));
    CHECK_VALUES(leaf, 3, 4);
    THTensor_free(leaf);
    THTensor_free(t);
    THTensor_free(x);
    THTensor_free(y);
    THTensor_free(ones);
}

static void tensors_on_gpus_travel(void) {
    if (!there_is_a_gpu()) return;
    THTensor *host = values_somehow(OWN, TH_FLOAT32, SIZES(3, 4), rank), *t = THTensor_newCuda(host, 0);
    THTensor *zeros = THTensor_newZeros(TH_FLOAT32, SIZES(4, 3)), *r = THTensor_newCuda(zeros, 0), *fresh = THTensor_new();
    THMpiRequest *requests[2];
    CHECK_OK(TH_MPI_sendrecv(fresh, left(), 0, t, right(), 0, MPI_COMM_WORLD, NULL));
    CHECK(THTensor_isCuda(fresh));
    CHECK_IS_OF(fresh, left());
    CHECK_OK(THTensor_t(r, r));
    CHECK_OK(TH_MPI_irecv(&requests[0], r, left(), 1, MPI_COMM_WORLD));
    CHECK_OK(TH_MPI_isend(&requests[1], t, right(), 1, MPI_COMM_WORLD));
    CHECK_OK(TH_MPI_waitall(2, requests));
    CHECK_IS_OF(r, left());
    THTensor_free(host);
    THTensor_free(t);
    THTensor_free(zeros);
    THTensor_free(r);
    THTensor_free(fresh);
}

CHECK_MPI_MAIN(CASE(elements_arrive_whatever_the_layouts), CASE(an_expanded_tensor_is_sent_as_what_it_shows),
               CASE(steps_that_interleave_are_received), CASE(a_ring_passes_tensors_on_in_place), CASE(shapes_travel),
               CASE(another_dtype_is_refused_and_the_line_stays_in_order), CASE(a_message_of_another_size_is_an_error),
               CASE(a_long_message_does_not_reach_beyond_the_tensor), CASE(requests_hold_what_they_need),
               CASE(requests_are_tested_and_freed), CASE(a_request_tells_that_a_message_is_short),
               CASE(nothing_comes_from_no_process), CASE(plain_mpi_takes_part), CASE(what_a_gradient_needs_is_not_changed_unseen),
               CASE(tensors_on_gpus_travel))
