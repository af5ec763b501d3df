/* Exchange of the columns at the borders of 4096 x 4096 blocks of float32: thorn_mpi.h, compared with a program that packs by hand.
 *
 *     mpicc -O2 -Iinclude benches/mpi/halo.c -Ltarget/release -lthorn -o halo && mpirun -np 2 ./halo
 *
 * Blocks form a periodic row, and each has borders of 1, 2, 4 and 16 columns at its left and right. Both ways are timed in turn, 301
 * times. The numbers are medians of rank 0 in microseconds, and "by hand / thorn" is above 1 if thorn is faster. */

#include "thorn_mpi.h"

enum { N = 4096, ROUNDS = 301 };

static int by_time(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times) {
    qsort(times, ROUNDS, sizeof *times, by_time);
    return 1e6 * times[ROUNDS / 2];
}

typedef struct {
    float *cells, *sent, *came;
    int width, line; /* of the border, and of a row with both borders */
    int left, right;
} Block;

static void pack(float *to, const Block *b, int column) {
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < b->width; k++) to[i * b->width + k] = b->cells[(size_t)i * b->line + column + k];
    }
}

static void unpack(const Block *b, const float *from, int column) {
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < b->width; k++) b->cells[(size_t)i * b->line + column + k] = from[i * b->width + k];
    }
}

static void exchange_by_hand(const Block *b) {
    MPI_Request request[4];
    int count = N * b->width;
    MPI_Irecv(b->came, count, MPI_FLOAT, b->left, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(b->came + count, count, MPI_FLOAT, b->right, 2, MPI_COMM_WORLD, &request[1]);
    pack(b->sent, b, N);
    MPI_Isend(b->sent, count, MPI_FLOAT, b->right, 1, MPI_COMM_WORLD, &request[2]);
    pack(b->sent + count, b, b->width);
    MPI_Isend(b->sent + count, count, MPI_FLOAT, b->left, 2, MPI_COMM_WORLD, &request[3]);
    for (int i = 0; i < 4; i++) MPI_Wait(&request[i], MPI_STATUS_IGNORE);
    unpack(b, b->came, 0);
    unpack(b, b->came + count, N + b->width);
}

static int compare(int width, MPI_Comm row, int rank, int ranks) {
    const int64_t size[] = {N, N + 2 * width}, widths[] = {0, width};
    static double hand[ROUNDS], thorn[ROUNDS];
    THTensor *t = THTensor_newZeros(TH_FLOAT32, 2, size);
    THMpiHalo *halo = TH_MPI_newHalo(t, widths, 0, row);
    Block b = {(float *)THTensor_data(t), (float *)malloc(2 * sizeof(float) * N * width), (float *)malloc(2 * sizeof(float) * N * width),
               width, N + 2 * width, (rank + ranks - 1) % ranks, (rank + 1) % ranks};
    THStatus status = halo && b.sent && b.came ? TH_OK : TH_ERR_NOMEM;
    for (int i = 0; i < ROUNDS && status == TH_OK; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        exchange_by_hand(&b);
        hand[i] = MPI_Wtime() - start;
        MPI_Barrier(MPI_COMM_WORLD);
        start = MPI_Wtime();
        status = TH_MPI_haloStart(halo);
        if (status == TH_OK) status = TH_MPI_haloWait(halo);
        thorn[i] = MPI_Wtime() - start;
    }
    if (status == TH_OK && rank == 0) {
        double a = median(hand), c = median(thorn);
        printf("%2d columns: by hand %7.1f us, thorn %7.1f us, by hand / thorn %.2f\n", width, a, c, a / c);
    }
    if (status != TH_OK) fprintf(stderr, "halo: %s\n", THGetLastError());
    free(b.sent);
    free(b.came);
    TH_MPI_freeHalo(halo);
    THTensor_free(t);
    return status == TH_OK;
}

int main(int argc, char **argv) {
    int rank, ranks, good = 1;
    MPI_Comm row;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Cart_create(MPI_COMM_WORLD, 2, (const int[]){1, ranks}, (const int[]){1, 1}, 0, &row);
    for (int width = 1; width <= 16 && good; width *= width > 2 ? 4 : 2) good = compare(width, row, rank, ranks);
    MPI_Comm_free(&row);
    MPI_Finalize();
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
