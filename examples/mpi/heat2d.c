/*
 * Heat in a plate that is divided among processes. Each has a block, whose border copies the cells of the neighbours.
 *
 *     mpicc -std=c99 -O2 -Iinclude examples/mpi/heat2d.c -Ltarget/release -lthorn -lm -o heat2d
 *     LD_LIBRARY_PATH=target/release mpirun -np 4 ./heat2d
 *
 * A step is `u = u + RATE * (the four neighbours - 4 u)`. The plate is periodic from left to right. Its upper edge is hot, its lower edge
 * cold. While TH_MPI_haloStart's exchange of borders is in progress, a rank computes the cells that do not need the borders. After
 * TH_MPI_haloWait it computes the others.
 *
 * A process with the whole plate runs the same program on MPI_COMM_SELF, where it is its own neighbour. At the end each rank does this, and
 * its block must equal that part of the plate bit for bit.
 */

#include "../try.h"

#include <stdio.h>
#include <stdlib.h>
#include <thorn_mpi.h>

enum { ROWS = 96, COLUMNS = 128, STEPS = 200 };

static const double RATE = 0.2, HOT = 100, COLD = 0;

// A block of the plate, with a border of one cell on each side.
typedef struct {
    MPI_Comm comm;                 // the ranks as a grid
    int64_t row, rows;             // its rows of the plate
    int64_t column, columns;       // its columns
    THTensor *now, *next;          // temperatures, [rows + 2 x columns + 2]
    THMpiHalo *halo[2];            // exchanges for both tensors, which are swapped after each step
} Block;

// Computes cells `row` to `row + rows - 1` and so on of `next`, without borders, from `now`.
static THStatus update(const Block *b, int64_t row, int64_t rows, int64_t column, int64_t columns) {
    THStatus status = TH_OK;
    THTensor *here = NULL, *there = NULL, *sum = NULL;
    if (rows <= 0 || columns <= 0) return TH_OK;
    here = THTensor_newNarrow(b->now, 0, row + 1, rows);
    TRY(THTensor_narrow(here, here, 1, column + 1, columns));
    sum = THTensor_new();
    TRY(THTensor_mul(sum, here, -4));
    for (int side = 0; side < 4; side++) {
        static const int down[] = {-1, 1, 0, 0}, right[] = {0, 0, -1, 1};
        THTensor_free(there);
        there = THTensor_newNarrow(b->now, 0, row + 1 + down[side], rows);
        TRY(THTensor_narrow(there, there, 1, column + 1 + right[side], columns));
        TRY(THTensor_cadd(sum, sum, 1, there));
    }
    THTensor_free(there);
    there = THTensor_newNarrow(b->next, 0, row + 1, rows);
    TRY(THTensor_narrow(there, there, 1, column + 1, columns));
    TRY(THTensor_cadd(there, here, RATE, sum));
done:
    THTensor_free(here);
    THTensor_free(there);
    THTensor_free(sum);
    return status;
}

static THStatus step(Block *b, int number) {
    THStatus status;
    THMpiHalo *halo = b->halo[number % 2];
    THTensor *next = b->next;
    TRY(TH_MPI_haloStart(halo));
    TRY(update(b, 1, b->rows - 2, 1, b->columns - 2));
    TRY(TH_MPI_haloWait(halo));
    TRY(update(b, 0, 1, 0, b->columns));
    if (b->rows > 1) TRY(update(b, b->rows - 1, 1, 0, b->columns));
    TRY(update(b, 1, b->rows - 2, 0, 1));
    if (b->columns > 1) TRY(update(b, 1, b->rows - 2, b->columns - 1, 1));
    b->next = b->now;
    b->now = next;
done:
    return status;
}

// Makes the rank's block of a plate that is divided among the ranks of `comm`.
static THStatus block_init(Block *b, MPI_Comm comm) {
    static const int64_t width[] = {1, 1};
    static const int ring[] = {0, 1};
    THStatus status;
    int ranks, cut[2] = {0, 0}, periodic[2], at[2];
    MPI_Comm line = MPI_COMM_NULL;
    *b = (Block){.comm = MPI_COMM_NULL};
    MPI_Comm_size(comm, &ranks);
    MPI_Dims_create(ranks, 2, cut);
    MPI_Cart_create(comm, 2, cut, ring, 0, &b->comm);
    MPI_Cart_get(b->comm, 2, cut, periodic, at);
    for (int k = 0; k < 2; k++) {
        const int keep[] = {k == 0, k == 1};
        MPI_Cart_sub(b->comm, keep, &line);
        status = k == 0 ? TH_MPI_part(&b->row, &b->rows, ROWS, line) : TH_MPI_part(&b->column, &b->columns, COLUMNS, line);
        MPI_Comm_free(&line);
        if (status != TH_OK) return status;
    }
    const int64_t size[] = {b->rows + 2, b->columns + 2};
    THTensor **field[] = {&b->now, &b->next};
    for (int i = 0; i < 2; i++) {
        *field[i] = THTensor_newFull(TH_FLOAT32, 2, size, COLD);
        THTensor *top = at[0] == 0 ? THTensor_newNarrow(*field[i], 0, 0, 1) : NULL;
        status = top ? THTensor_fill(top, HOT) : TH_OK;
        THTensor_free(top);
        b->halo[i] = TH_MPI_newHalo(*field[i], width, 0, b->comm);
        if (!b->halo[i]) return THGetLastErrorCode();
        if (status != TH_OK) return status;
    }
    return TH_OK;
}

static void block_free(Block *b) {
    for (int i = 0; i < 2; i++) TH_MPI_freeHalo(b->halo[i]);
    THTensor_free(b->now);
    THTensor_free(b->next);
    if (b->comm != MPI_COMM_NULL) MPI_Comm_free(&b->comm);
}

// Computes the block after all steps.
static THStatus simulate(Block *b, MPI_Comm comm) {
    THStatus status = block_init(b, comm);
    for (int number = 0; number < STEPS && status == TH_OK; number++) status = step(b, number);
    return status;
}

// Stores 1 in `same` if the block equals its part of the whole plate, and stores the plate's mean temperature in `mean`.
static THStatus compare(int *same, double *mean, const Block *b, const Block *whole) {
    THStatus status;
    THTensor *mine = THTensor_newNarrow(b->now, 0, 1, b->rows), *theirs = THTensor_newNarrow(whole->now, 0, b->row + 1, b->rows);
    TRY(THTensor_narrow(mine, mine, 1, 1, b->columns));
    TRY(THTensor_narrow(theirs, theirs, 1, b->column + 1, b->columns));
    *same = THTensor_equal(mine, theirs);
    TRY(THTensor_narrow(theirs, whole->now, 0, 1, ROWS));
    TRY(THTensor_narrow(theirs, theirs, 1, 1, COLUMNS));
    *mean = THTensor_meanall(theirs);
done:
    THTensor_free(mine);
    THTensor_free(theirs);
    return status;
}

int main(int argc, char **argv) {
    int rank, ranks, same = 0, all = 0;
    double mean = 0;
    Block block, whole;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    THStatus status = simulate(&block, MPI_COMM_WORLD);
    THStatus alone = simulate(&whole, MPI_COMM_SELF);
    if (status == TH_OK) status = alone;
    if (status == TH_OK) status = compare(&same, &mean, &block, &whole);
    if (status != TH_OK) {
        fprintf(stderr, "heat2d: rank %d: %s\n", rank, THGetLastError());
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    block_free(&block);
    block_free(&whole);
    MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0 && all) printf("%d steps on %d ranks, as on one; the plate has %.4f degrees\n", STEPS, ranks, mean);
    if (rank == 0 && !all) printf("the plate differs from that of one process\n");
    MPI_Finalize();
    return all ? EXIT_SUCCESS : EXIT_FAILURE;
}
