/* Errors: MPI's text and a status, for any error handler of the communicator, also before MPI_Init and after MPI_Finalize. */
#include "check_mpi.h"

static int handled;
static void count_errors(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    handled++;
}

static void a_wrong_rank_or_tag_is_an_error(void) {
    /* MPI_COMM_WORLD has the default error handler, which ends the program. */
    THTensor *t = vector_of(TH_FLOAT32, 1, 2);
    THMpiRequest *request = NULL;
    CHECK_ERROR(TH_MPI_send(t, ranks, 0, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "TH_MPI_send: ");
    CHECK(strlen(THGetLastError()) > 20 && !strchr(THGetLastError(), '\n'));
    CHECK_ERROR(TH_MPI_recv(t, -77, 0, MPI_COMM_WORLD, NULL), TH_ERR_ARGUMENT, "TH_MPI_recv: ");
    CHECK_ERROR(TH_MPI_isend(&request, t, ranks + 5, 0, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "TH_MPI_isend: ");
    CHECK(request == NULL);
    CHECK_ERROR(TH_MPI_irecv(&request, t, -99, 0, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "TH_MPI_irecv: ");
    CHECK_ERROR(TH_MPI_send(t, 0, -5, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "TH_MPI_send: ");
    CHECK_ERROR(TH_MPI_sendShaped(t, ranks, 0, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "TH_MPI_sendShaped: ");
    CHECK_ERROR(TH_MPI_sendrecv(t, 0, 0, t, ranks, 0, MPI_COMM_WORLD, NULL), TH_ERR_ARGUMENT, "TH_MPI_sendrecv: ");
    THTensor_free(t);
}

static void arguments_that_are_missing_are_errors(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1, 2), *fresh = THTensor_new();
    THMpiRequest *request = NULL;
    int64_t first;
    CHECK_ERROR(TH_MPI_send(NULL, 0, 0, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "argument 't' is NULL");
    CHECK_ERROR(TH_MPI_send(fresh, 0, 0, MPI_COMM_WORLD), TH_ERR_DTYPE, "argument 't' has no dtype");
    CHECK_ERROR(TH_MPI_recv(NULL, 0, 0, MPI_COMM_WORLD, NULL), TH_ERR_ARGUMENT, "argument 'r' is NULL");
    CHECK_ERROR(TH_MPI_recv(fresh, 0, 0, MPI_COMM_WORLD, NULL), TH_ERR_DTYPE, "argument 'r' has no dtype");
    CHECK_ERROR(TH_MPI_recvShaped(NULL, 0, 0, MPI_COMM_WORLD, NULL), TH_ERR_ARGUMENT, "argument 'r' is NULL");
    CHECK_ERROR(TH_MPI_sendShaped(NULL, 0, 0, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "argument 't' is NULL");
    CHECK_ERROR(TH_MPI_sendrecv(NULL, 0, 0, t, 0, 0, MPI_COMM_WORLD, NULL), TH_ERR_ARGUMENT, "argument 'r' is NULL");
    CHECK_ERROR(TH_MPI_isend(&request, NULL, 0, 0, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "argument 't' is NULL");
    CHECK_ERROR(TH_MPI_irecv(&request, NULL, 0, 0, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "argument 'r' is NULL");
    CHECK_ERROR(TH_MPI_irecv(NULL, t, 0, 0, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "argument 'request' is NULL");
    CHECK_ERROR(TH_MPI_wait(NULL, NULL), TH_ERR_ARGUMENT, "argument 'request' is NULL");
    CHECK_ERROR(TH_MPI_waitall(-1, NULL), TH_ERR_ARGUMENT, "a count of -1");
    CHECK_ERROR(TH_MPI_test(NULL, &request, NULL), TH_ERR_ARGUMENT, "an argument is NULL");
    CHECK_ERROR(TH_MPI_part(&first, NULL, 5, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "an argument is NULL");
    CHECK_ERROR(TH_MPI_send(t, 0, 0, MPI_COMM_NULL), TH_ERR_ARGUMENT, "the communicator is MPI_COMM_NULL");
    CHECK_ERROR(TH_MPI_allreduce(t, t, MPI_SUM, MPI_COMM_NULL), TH_ERR_ARGUMENT, "the communicator is MPI_COMM_NULL");
    CHECK_OK(TH_MPI_waitall(0, NULL));
    THTensor_free(t);
    THTensor_free(fresh);
}

static void the_communicators_handler_stays(void) {
    MPI_Comm comm;
    MPI_Errhandler counting, now;
    THTensor *t = vector_of(TH_FLOAT32, 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(count_errors, &counting);
    MPI_Comm_set_errhandler(comm, counting);
    CHECK_ERROR(TH_MPI_send(t, ranks, 0, comm), TH_ERR_ARGUMENT, "TH_MPI_send: ");
    CHECK_EQ(handled, 0);
    MPI_Comm_get_errhandler(comm, &now);
    CHECK(now == counting);
    MPI_Errhandler_free(&now);
    MPI_Send(NULL, 0, MPI_BYTE, ranks, 0, comm);
    CHECK_EQ(handled, 1);
    MPI_Errhandler_free(&counting);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &now);
    CHECK(now == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&now);
    MPI_Comm_free(&comm);
    THTensor_free(t);
}

static void communicators_come_and_go(void) {
    THTensor *t = matrix_of(TH_FLOAT64, 2, 1, 2, 3, 4), *view = THTensor_newSelect(t, 1, 0);
    for (int i = 0; i < 30; i++) {
        MPI_Comm comm, half;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_split(comm, rank % 2, 0, &half);
        int members;
        MPI_Comm_size(half, &members);
        CHECK_OK(TH_MPI_bcast(view, 0, comm));
        CHECK_OK(THTensor_fill(view, 1));
        CHECK_OK(TH_MPI_allreduce(view, view, MPI_SUM, half));
        CHECK_VALUES(view, members, members);
        MPI_Comm_free(&comm);
        MPI_Comm_free(&half);
    }
    THTensor_free(t);
    THTensor_free(view);
}

/* Another file of this program that includes the header: second.c. */
THStatus second_allreduce(THTensor *t, MPI_Comm comm);

static void files_of_a_program_share_a_communicator(void) {
    THTensor *t = vector_of(TH_FLOAT16, 1, 2), *r = THTensor_new();
    CHECK_OK(second_allreduce(t, MPI_COMM_WORLD));
    CHECK_OK(TH_MPI_allreduce(r, t, MPI_SUM, MPI_COMM_WORLD));
    CHECK_VALUES(r, ranks * ranks, 2 * ranks * ranks);
    THTensor_free(t);
    THTensor_free(r);
}

static const struct check_case cases[] = {
    CASE(a_wrong_rank_or_tag_is_an_error), CASE(arguments_that_are_missing_are_errors), CASE(the_communicators_handler_stays),
    CASE(communicators_come_and_go), CASE(files_of_a_program_share_a_communicator),
};

int main(int argc, char **argv) {
    THTensor *t = vector_of(TH_FLOAT32, 1);
    CHECK_ERROR(TH_MPI_send(t, 0, 0, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "MPI is not initialized, or was finalized");
    CHECK_EQ(TH_MPI_isCudaAware(), 0);
    MPI_Init(&argc, &argv);
    int failed = check_mpi_run(cases, sizeof cases / sizeof *cases, argc, argv);
    /* Gradients that are used after MPI_Finalize. Open MPI leaks their communicator then, which valgrind would report. */
    THMpiGradients *gradients = NULL;
    THTensor *loss = THTensor_new();
    CHECK_OK(THTensor_setRequiresGrad(t, 1));
    CHECK_OK(THTensor_sum(loss, t, TH_ALL_DIMS, 0));
    if (!under_valgrind()) CHECK((gradients = TH_MPI_newGradients(&t, 1, 0, 1, MPI_COMM_WORLD)) != NULL);
    MPI_Finalize();
    CHECK_ERROR(TH_MPI_send(t, 0, 0, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "MPI is not initialized, or was finalized");
    CHECK_OK(THTensor_backward(loss, NULL));
    if (gradients) {
        CHECK_ERROR(TH_MPI_allreduceGradients(gradients, TH_OK), TH_ERR_ARGUMENT, "was finalized");
        CHECK_ERROR(TH_MPI_freeGradients(gradients), TH_ERR_ARGUMENT, "was finalized");
    }
    THTensor_free(loss);
    THTensor_free(t);
    CHECK_EQ(THMemory_liveBytes(), 0);
    return failed || check_failures;
}
