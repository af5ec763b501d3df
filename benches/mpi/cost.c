/* Costs of thorn_mpi.h, compared with MPI alone, for the ranks of the run.
 *
 *     mpicc -O2 -Iinclude benches/mpi/cost.c -Lbuild/lib -lthorn -o cost && mpirun -np 2 ./cost
 *
 * Both ways are timed in turn. The times are medians: of rank 0 for messages, and of the slowest rank for collectives. The ratios in
 * brackets are medians of the ratios of neighbouring times, which other work of the machine disturbs less. */

#include "thorn_mpi.h"

enum { BURST = 64, SMALL = 8, MOST_TIMES = 2001 };

static int rank, ranks;

static int by_time(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, int count) {
    qsort(times, (size_t)count, sizeof *times, by_time);
    return times[count / 2];
}

/* The median of `a[i] / b[i]`. */
static double ratio(const double *a, const double *b, int count) {
    static double ratios[MOST_TIMES];
    for (int i = 0; i < count; i++) ratios[i] = a[i] / b[i];
    return median(ratios, count);
}

/* The time in which a burst of sends returns, divided by its length. The receiver uses plain MPI, and answers the burst. */
static double burst(THTensor *t, float *values, int by_thorn) {
    double start = MPI_Wtime();
    for (int i = 0; i < BURST; i++) {
        if (rank == 0 && by_thorn) TH_MPI_send(t, 1, 0, MPI_COMM_WORLD);
        else if (rank == 0) MPI_Send(values, SMALL, MPI_FLOAT, 1, 0, MPI_COMM_WORLD);
        else MPI_Recv(values, SMALL, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    double taken = (MPI_Wtime() - start) / BURST;
    if (rank == 0) MPI_Recv(values, 1, MPI_FLOAT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else MPI_Send(values, 1, MPI_FLOAT, 0, 1, MPI_COMM_WORLD);
    return taken;
}

/* Half of the time in which a message travels to rank 1 and back. */
static double there_and_back(THTensor *t, int64_t count, int by_thorn) {
    float *values = (float *)THTensor_data(t);
    double start = MPI_Wtime();
    for (int turn = 0; turn < 2; turn++) {
        if (rank == turn && by_thorn) TH_MPI_send(t, 1 - rank, 0, MPI_COMM_WORLD);
        else if (rank == turn) MPI_Send(values, (int)count, MPI_FLOAT, 1 - rank, 0, MPI_COMM_WORLD);
        else if (by_thorn) TH_MPI_recv(t, turn, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else MPI_Recv(values, (int)count, MPI_FLOAT, turn, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return (MPI_Wtime() - start) / 2;
}

static void messages(void) {
    static double times[2][MOST_TIMES];
    THTensor *small = THTensor_newZeros(TH_FLOAT32, 1, (const int64_t[]){SMALL});
    if (ranks < 2) return;
    if (rank < 2) {
        for (int i = 0; i < 2 * MOST_TIMES; i++) times[i % 2][i / 2] = burst(small, (float *)THTensor_data(small), i % 2);
        double bare = median(times[0], MOST_TIMES), thorn = median(times[1], MOST_TIMES);
        if (rank == 0) {
            printf("send of %d floats: %.0f ns bare, %.0f ns by thorn, %+.0f ns\n", SMALL, 1e9 * bare, 1e9 * thorn,
                   1e9 * (thorn - bare));
        }
        const int64_t counts[] = {2, 1 << 10, 1 << 18, 1 << 24};
        for (int k = 0; k < 4; k++) {
            const int turns = k < 2 ? MOST_TIMES : k == 2 ? 201 : 21;
            THTensor *t = THTensor_newZeros(TH_FLOAT32, 1, &counts[k]);
            for (int i = 0; i < 2 * turns; i++) times[i % 2][i / 2] = there_and_back(t, counts[k], i % 2);
            bare = median(times[0], turns), thorn = median(times[1], turns);
            if (rank == 0) {
                printf("message of %lld bytes: %.2f us bare, %.2f us by thorn, %.2f GB/s\n", 4LL * counts[k], 1e6 * bare, 1e6 * thorn,
                       4e-9 * (double)counts[k] / thorn);
            }
            THTensor_free(t);
        }
    }
    THTensor_free(small);
    MPI_Barrier(MPI_COMM_WORLD);
}

enum way { ALLREDUCE, BCAST, ALLGATHER, WAYS };
static const char *const names[WAYS] = {"allreduce", "bcast", "allgather"};

/* One collective; `r` has room for the parts of all ranks. */
static double collective(enum way way, THTensor *t, THTensor *r, int by_thorn) {
    float *values = (float *)THTensor_data(t);
    const int count = (int)THTensor_nElement(t);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime(), taken, slowest;
    if (by_thorn) {
        if (way == ALLREDUCE) TH_MPI_allreduce(t, t, MPI_SUM, MPI_COMM_WORLD);
        else if (way == BCAST) TH_MPI_bcast(t, 0, MPI_COMM_WORLD);
        else TH_MPI_allgather(r, t, 0, MPI_COMM_WORLD);
    } else {
        if (way == ALLREDUCE) MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        else if (way == BCAST) MPI_Bcast(values, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
        else MPI_Allgather(values, count, MPI_FLOAT, THTensor_data(r), count, MPI_FLOAT, MPI_COMM_WORLD);
    }
    taken = MPI_Wtime() - start;
    MPI_Allreduce(&taken, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static void collectives(void) {
    static double times[3][MOST_TIMES];
    const int64_t counts[] = {2, 1 << 14, 1 << 24};
    for (int way = 0; way < WAYS; way++) {
        for (int k = 0; k < 3; k++) {
            const int64_t part = way == ALLGATHER ? (counts[k] + ranks - 1) / ranks : counts[k], all = part * ranks;
            const int turns = ranks > 2 ? (k == 2 ? 9 : 51) : k == 2 ? 31 : 301;
            THTensor *t = THTensor_newZeros(TH_FLOAT32, 1, &part), *r = THTensor_newZeros(TH_FLOAT32, 1, way == ALLGATHER ? &all : &part);
            /* With MPI alone, with thorn, and with thorn without comparing arguments first. */
            for (int i = 0; i < 3 * turns; i++) {
                TH_MPI_setChecked(MPI_COMM_WORLD, i % 3 == 1);
                times[i % 3][i / 3] = collective((enum way)way, t, r, i % 3 > 0);
            }
            const double checked = ratio(times[1], times[0], turns), unchecked = ratio(times[2], times[0], turns);
            if (rank == 0) {
                printf("%s of %lld bytes: %.2f us bare, %.2f us by thorn (%.3f), %.2f us unchecked (%.3f)\n", names[way], 4LL * counts[k],
                       1e6 * median(times[0], turns), 1e6 * median(times[1], turns), checked, 1e6 * median(times[2], turns), unchecked);
            }
            THTensor_free(t);
            THTensor_free(r);
        }
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    THSetNumThreads(1);
    messages();
    collectives();
    MPI_Finalize();
    return 0;
}
