/* The last rank ends without MPI_Finalize while the others wait for it. mpirun must end them, or MPI must return an error. The test fails
 * if the program still runs after the script's time limit. */
#include "check_mpi.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    THTensor *t = vector_of(TH_FLOAT32, 1, 2);
    CHECK_OK(TH_MPI_allreduce(t, t, MPI_SUM, MPI_COMM_WORLD));
    if (rank == ranks - 1) _exit(3);
    THStatus status = argc > 1 ? TH_MPI_recv(t, ranks - 1, 0, MPI_COMM_WORLD, NULL) : TH_MPI_allreduce(t, t, MPI_SUM, MPI_COMM_WORLD);
    fprintf(stderr, "%s\n", THGetLastError());
    return status == TH_OK ? 0 : 4;
}
