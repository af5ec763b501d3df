// The header in C++11: it compiles without a warning, and works.
#include "thorn_mpi.h"

#include <cstdio>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int64_t size[] = {2, 3};
    THTensor *t = THTensor_newOnes(TH_BFLOAT16, 2, size), *r = THTensor_new(), *all = THTensor_new();
    THStatus status = TH_MPI_allreduce(r, t, MPI_SUM, MPI_COMM_WORLD);
    if (status == TH_OK) status = TH_MPI_allgather(all, r, 1, MPI_COMM_WORLD);
    if (status == TH_OK) status = TH_MPI_bcast(t, 0, MPI_COMM_WORLD);
    if (status != TH_OK) std::fprintf(stderr, "%s\n", THGetLastError());
    const bool good = status == TH_OK && THTensor_sumall(all) == 6 * ranks * ranks;
    THTensor_free(t);
    THTensor_free(r);
    THTensor_free(all);
    MPI_Finalize();
    return good ? 0 : 1;
}
