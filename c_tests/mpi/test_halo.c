/* Borders of blocks on Cartesian communicators of one to three dimensions. The value of each cell of the grid tells its position. */

#include "check_mpi.h"
#include "thorn_mpi/halo.h"

enum { MOST_DIMS = 3, OUTSIDE = -1 };

/* A grid cut into blocks, and the block of this rank. */
typedef struct {
    MPI_Comm comm;
    int dims, periodic[MOST_DIMS], at[MOST_DIMS], cut[MOST_DIMS];
    int64_t width[MOST_DIMS], whole[MOST_DIMS], first[MOST_DIMS], size[MOST_DIMS];
    int extra; /* entries of one more dimension, which is not cut; 0 without that dimension */
} Grid;

/* Makes a grid. If it is `uneven`, each block has 2 cells more in a dimension than the block before. */
static void grid_init(Grid *g, int dims, const int *periodic, const int64_t *width, int extra, int uneven) {
    *g = (Grid){.dims = dims, .extra = extra};
    MPI_Dims_create(ranks, dims, g->cut);
    for (int k = 0; k < dims; k++) g->periodic[k] = periodic[k];
    MPI_Cart_create(MPI_COMM_WORLD, dims, g->cut, g->periodic, 0, &g->comm);
    MPI_Cart_coords(g->comm, rank, dims, g->at);
    for (int k = 0; k < dims; k++) {
        g->width[k] = width[k];
        for (int c = 0; c < g->cut[k]; c++) {
            int64_t size = 4 + k + (uneven ? 2 * c : 0);
            if (c == g->at[k]) {
                g->first[k] = g->whole[k];
                g->size[k] = size;
            }
            g->whole[k] += size;
        }
    }
}

static int ndim_of(const Grid *g) { return g->dims + (g->extra > 0); }

/* A block of `OUTSIDE` in the given memory layout. */
static THTensor *new_block(const Grid *g, THDtype dtype, enum layout layout) {
    int64_t size[MOST_DIMS + 1];
    int ndim = ndim_of(g);
    for (int k = 0; k < g->dims; k++) size[k] = g->size[k] + 2 * g->width[k];
    if (g->extra) size[g->dims] = g->extra;
    THTensor *t;
    if (layout == TRANSPOSED) {
        int64_t turned[MOST_DIMS + 1], order[MOST_DIMS + 1];
        for (int k = 0; k < ndim; k++) {
            turned[k] = size[ndim - 1 - k];
            order[k] = ndim - 1 - k;
        }
        t = THTensor_newWithSizes(dtype, ndim, turned);
        CHECK_OK(THTensor_permute(t, t, ndim, order));
    } else if (layout == STEPPED) {
        size[ndim - 1] *= 2;
        t = THTensor_newWithSizes(dtype, ndim, size);
        CHECK_OK(THTensor_slice(t, t, ndim - 1, 1, size[ndim - 1], 2));
    } else {
        t = THTensor_newWithSizes(dtype, ndim, size);
    }
    CHECK_OK(THTensor_fill(t, THDtype_isSigned(dtype) ? OUTSIDE : 101));
    return t;
}

/* The number of a cell of the grid, below 100 so that all dtypes hold it. */
static int number(const Grid *g, const int64_t *cell, int64_t extra) {
    int64_t n = 0;
    for (int k = 0; k < g->dims; k++) n = n * 13 + cell[k];
    return (int)((n * 7 + extra * 5) % 97);
}

/* Calls visit for each cell of the block. `cell` is the cell's position in the grid, and `outside` the number of dimensions in which it is
 * part of the border. */
typedef void Visit(const Grid *g, THTensor *t, int ndim, const int64_t *index, const int64_t *cell, int outside);
static void each_cell(const Grid *g, THTensor *t, Visit *visit) {
    int64_t index[MOST_DIMS + 1] = {0}, cell[MOST_DIMS];
    int ndim = ndim_of(g), d;
    for (;;) {
        int outside = 0;
        for (int k = 0; k < g->dims; k++) {
            int64_t inner = index[k] - g->width[k];
            outside += inner < 0 || inner >= g->size[k];
            cell[k] = g->first[k] + inner;
        }
        visit(g, t, ndim, index, cell, outside);
        for (d = ndim - 1; d >= 0 && ++index[d] == THTensor_size(t, d); d--) index[d] = 0;
        if (d < 0) return;
    }
}

static void write_cell(const Grid *g, THTensor *t, int ndim, const int64_t *index, const int64_t *cell, int outside) {
    if (outside == 0) CHECK_OK(THTensor_setAt(t, ndim, index, number(g, cell, g->extra ? index[g->dims] : 0)));
}

static int with_corners;

static void read_cell(const Grid *g, THTensor *t, int ndim, const int64_t *index, const int64_t *cell, int outside) {
    int64_t wrapped[MOST_DIMS];
    int there = outside < 2 || with_corners;
    for (int k = 0; k < g->dims; k++) {
        there &= g->periodic[k] || (cell[k] >= 0 && cell[k] < g->whole[k]);
        wrapped[k] = (cell[k] + g->whole[k]) % g->whole[k];
    }
    int expected = there ? number(g, wrapped, g->extra ? index[g->dims] : 0) : THDtype_isSigned(THTensor_dtype(t)) ? OUTSIDE : 101;
    CHECK_EQ(THTensor_getAt(t, ndim, index), expected);
}

static void exchange(const Grid *g, THDtype dtype, enum layout layout, int corners) {
    THTensor *t = new_block(g, dtype, layout);
    with_corners = corners;
    each_cell(g, t, write_cell);
    CHECK_OK(TH_MPI_haloExchange(t, g->width, corners, g->comm));
    each_cell(g, t, read_cell);
    THTensor_free(t);
}

static void borders_in_all_layouts(void) {
    for (int dims = 1; dims <= MOST_DIMS; dims++) {
        for (int variant = 0; variant < 4; variant++) {
            static const int64_t widths[4][3] = {{1, 1, 1}, {2, 1, 0}, {1, 0, 2}, {1, 2, 1}};
            const int periodic[3] = {variant & 1, variant >> 1, 1};
            Grid g;
            grid_init(&g, dims, periodic, widths[variant], variant == 2 ? 3 : 0, variant >= 2);
            for (enum layout layout = ROW_MAJOR; layout < LAYOUTS; layout++) {
                for (int corners = 0; corners < 2; corners++) exchange(&g, layout == STEPPED ? TH_FLOAT64 : TH_FLOAT32, layout, corners);
            }
            MPI_Comm_free(&g.comm);
        }
    }
}

static void borders_of_all_dtypes(void) {
    Grid g;
    grid_init(&g, 2, (const int[]){1, 0}, (const int64_t[]){1, 2}, 0, 1);
    for (int k = 0; k < DTYPES; k++) {
        if (dtypes[k] != TH_BOOL) exchange(&g, dtypes[k], k % LAYOUTS, 1);
    }
    MPI_Comm_free(&g.comm);
}

/* One preparation serves many exchanges, between which cells change. */
static void exchanges_are_repeated(void) {
    Grid g;
    grid_init(&g, 2, (const int[]){0, 1}, (const int64_t[]){1, 1}, 0, 0);
    THTensor *t = new_block(&g, TH_FLOAT32, TRANSPOSED);
    THMpiHalo *halo = TH_MPI_newHalo(t, g.width, 1, g.comm);
    CHECK(halo != NULL);
    with_corners = 1;
    each_cell(&g, t, write_cell);
    CHECK_OK(TH_MPI_haloWait(halo));
    for (int round = 0; round < 3; round++) {
        CHECK_OK(TH_MPI_haloStart(halo));
        CHECK_ERROR(TH_MPI_haloStart(halo), TH_ERR_ARGUMENT, "has begun already");
        CHECK_OK(TH_MPI_haloWait(halo));
        each_cell(&g, t, read_cell);
        if (round == 1) CHECK_OK(THTensor_mul(t, t, 1));
    }
    /* The preparation keeps the block. Freeing a preparation whose exchange has begun waits for the exchange. */
    THTensor_free(t);
    CHECK_OK(TH_MPI_haloStart(halo));
    CHECK_OK(TH_MPI_freeHalo(halo));
    MPI_Comm_free(&g.comm);
}

/* Preparations of more borders than a communicator keeps datatypes for, interleaved with others. */
static void preparations_keep_their_types(void) {
    Grid g;
    THMpiHalo *halo[40];
    THTensor *block[40];
    grid_init(&g, 2, (const int[]){1, 1}, (const int64_t[]){1, 1}, 0, 0);
    for (int i = 0; i < 40; i++) {
        g.size[0] = 4 + i;
        block[i] = new_block(&g, TH_FLOAT64, STEPPED);
        halo[i] = TH_MPI_newHalo(block[i], g.width, 0, g.comm);
    }
    for (int i = 0; i < 40; i++) {
        CHECK_OK(THTensor_fill(block[i], i + 1));
        THTensor *border = THTensor_newNarrow(block[i], 1, 0, 1);
        CHECK_OK(THTensor_zero(border));
        CHECK_OK(TH_MPI_haloStart(halo[i]));
        CHECK_OK(TH_MPI_haloWait(halo[i]));
        CHECK_OK(THTensor_narrow(border, border, 0, 1, 4 + i));
        CHECK_NEAR(THTensor_minall(border), i + 1, 0);
        CHECK_OK(TH_MPI_freeHalo(halo[i]));
        THTensor_free(border);
        THTensor_free(block[i]);
    }
    MPI_Comm_free(&g.comm);
}

/* Blocks on a GPU. Borders are copied through pinned memory if MPI cannot read the GPU's memory. */
static void tensors_on_gpus_have_borders(void) {
    Grid g;
    if (THCuda_deviceCount() == 0) return;
    grid_init(&g, 2, (const int[]){1, 0}, (const int64_t[]){1, 2}, 0, 1);
    with_corners = 1;
    for (int turned = 0; turned < 2; turned++) {
        THTensor *host = new_block(&g, TH_FLOAT32, turned ? TRANSPOSED : ROW_MAJOR);
        each_cell(&g, host, write_cell);
        THTensor *base = turned ? THTensor_newTranspose(host, 0, 1) : THTensor_newClone(host), *there = THTensor_newCuda(base, 0);
        if (turned) CHECK_OK(THTensor_transpose(there, there, 0, 1));
        THMpiHalo *halo = TH_MPI_newHalo(there, g.width, 1, g.comm);
        for (int round = 0; round < 2; round++) {
            CHECK_OK(THTensor_mul(there, there, 1));
            CHECK_OK(TH_MPI_haloStart(halo));
            CHECK_OK(TH_MPI_haloWait(halo));
            CHECK_OK(THTensor_copy(host, there));
            each_cell(&g, host, read_cell);
        }
        CHECK_OK(TH_MPI_freeHalo(halo));
        CHECK_OK(TH_MPI_haloExchange(there, g.width, 1, g.comm));
        THTensor_free(host);
        THTensor_free(base);
        THTensor_free(there);
    }
    MPI_Comm_free(&g.comm);
}

static void arguments_are_checked(void) {
    Grid g;
    const int64_t one[] = {1, 1}, minus[] = {1, -1}, wide[] = {1, 3};
    grid_init(&g, 2, (const int[]){0, 0}, one, 0, 0);
    THTensor *t = new_block(&g, TH_FLOAT32, ROW_MAJOR), *none = THTensor_new(), *row = THTensor_newZeros(TH_FLOAT32, SIZES(8));
    THTensor *twice = THTensor_newExpand(row, 2, (const int64_t[]){8, 8});
    CHECK_ERROR(TH_MPI_haloExchange(NULL, one, 0, g.comm), TH_ERR_ARGUMENT, "TH_MPI_haloExchange: argument 't' is NULL");
    CHECK_ERROR(TH_MPI_haloExchange(t, NULL, 0, g.comm), TH_ERR_ARGUMENT, "'width' is NULL");
    CHECK_ERROR(TH_MPI_haloExchange(t, one, 0, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "no Cartesian topology");
    CHECK_ERROR(TH_MPI_haloExchange(t, one, 0, MPI_COMM_NULL), TH_ERR_ARGUMENT, "MPI_COMM_NULL");
    CHECK_ERROR(TH_MPI_haloExchange(t, minus, 0, g.comm), TH_ERR_ARGUMENT, "border -1 of dimension 1");
    CHECK_ERROR(TH_MPI_haloExchange(t, wide, 0, g.comm), TH_ERR_SHAPE, "no cells for borders of 3");
    CHECK_ERROR(TH_MPI_haloExchange(row, one, 0, g.comm), TH_ERR_SHAPE, "the block has 1 dimensions, the communicator 2");
    CHECK_ERROR(TH_MPI_haloExchange(none, one, 0, g.comm), TH_ERR_DTYPE, "no dtype");
    CHECK_ERROR(TH_MPI_haloExchange(twice, one, 0, g.comm), TH_ERR_SHAPE, "elements twice");
    CHECK_ERROR(TH_MPI_haloStart(NULL), TH_ERR_ARGUMENT, "'halo' is NULL");
    CHECK_ERROR(TH_MPI_haloWait(NULL), TH_ERR_ARGUMENT, "'halo' is NULL");
    CHECK_OK(TH_MPI_freeHalo(NULL));
    /* The block has other memory now. */
    THMpiHalo *halo = TH_MPI_newHalo(t, one, 0, g.comm);
    THTensor *big = THTensor_newWithStorage(t->storage, 0, -1, NULL, NULL);
    CHECK_OK(THTensor_resize1d(big, 10000000));
    CHECK_ERROR(TH_MPI_haloStart(halo), TH_ERR_ARGUMENT, "has moved");
    CHECK_OK(TH_MPI_freeHalo(halo));
    /* A leaf can be written while nothing is recorded. */
    CHECK_OK(THTensor_setRequiresGrad(t, 1));
    CHECK_ERROR(TH_MPI_haloExchange(t, one, 0, g.comm), TH_ERR_ARGUMENT, "gradient");
    CHECK_OK(THGrad_setEnabled(0));
    CHECK_OK(TH_MPI_haloExchange(t, one, 0, g.comm));
    CHECK_OK(THGrad_setEnabled(1));
    THTensor_free(big);
    THTensor_free(t);
    THTensor_free(none);
    THTensor_free(twice);
    THTensor_free(row);
    MPI_Comm_free(&g.comm);
}

/* If one rank fails, or asks for something else, all ranks get an error. */
static void ranks_fail_together(void) {
    Grid g;
    if (ranks == 1) return;
    grid_init(&g, 1, (const int[]){1}, (const int64_t[]){1}, 0, 0);
    THTensor *t = new_block(&g, TH_FLOAT32, ROW_MAJOR), *other = new_block(&g, TH_FLOAT64, ROW_MAJOR);
    CHECK_ERROR(TH_MPI_haloExchange(rank == 1 ? NULL : t, g.width, 0, g.comm), TH_ERR_ARGUMENT, rank == 1 ? "NULL" : "another rank");
    CHECK_ERROR(TH_MPI_haloExchange(rank == 1 ? other : t, g.width, 0, g.comm), TH_ERR_DTYPE, "different dtypes");
    const int64_t width[] = {1 + (rank == 1)};
    CHECK_ERROR(TH_MPI_haloExchange(t, width, 0, g.comm), TH_ERR_SHAPE, "different");
    CHECK_FAILURE(TH_MPI_newHalo(rank == 1 ? NULL : t, g.width, 0, g.comm) == NULL, TH_ERR_ARGUMENT, rank == 1 ? "NULL" : "another rank");
    /* A leaf that is recorded can be prepared, but not written. */
    CHECK_OK(THTensor_setRequiresGrad(t, rank == 1));
    const char *text = rank == 1 ? "requires a gradient" : "another rank";
    CHECK_ERROR(TH_MPI_haloExchange(t, g.width, 0, g.comm), TH_ERR_ARGUMENT, text);
    THTensor_free(t);
    THTensor_free(other);
    MPI_Comm_free(&g.comm);
}

/* If the borders of neighbours have different sizes, nothing is written, and all ranks return an error. */
static void borders_must_fit(void) {
    Grid g;
    if (ranks == 1) return;
    for (int turn = 0; turn < 2; turn++) {
        grid_init(&g, 1, (const int[]){1}, (const int64_t[]){1}, turn ? 3 + rank : 2000 * (1 + (rank == 1)), 0);
        THTensor *t = new_block(&g, TH_FLOAT32, ROW_MAJOR);
        CHECK_OK(THTensor_fill(t, rank));
        CHECK_ERROR(TH_MPI_haloExchange(t, g.width, 0, g.comm), TH_ERR_SHAPE, "TH_MPI_haloExchange: ");
        CHECK(THTensor_minall(t) == rank && THTensor_maxall(t) == rank);
        CHECK_FAILURE(TH_MPI_newHalo(t, g.width, 0, g.comm) == NULL, TH_ERR_SHAPE, "TH_MPI_newHalo: ");
        THTensor_free(t);
        MPI_Comm_free(&g.comm);
    }
    /* In a dimension without a border nothing is exchanged, so the blocks may have different sizes. */
    grid_init(&g, 2, (const int[]){1, 1}, (const int64_t[]){1, 0}, 0, 0);
    g.size[0] += g.at[1];
    g.size[1] += g.at[1];
    THTensor *t = new_block(&g, TH_FLOAT32, ROW_MAJOR);
    CHECK_OK(TH_MPI_haloExchange(t, g.width, 1, g.comm));
    THTensor_free(t);
    MPI_Comm_free(&g.comm);
}

CHECK_MPI_MAIN(CASE(borders_in_all_layouts), CASE(borders_of_all_dtypes), CASE(exchanges_are_repeated), CASE(preparations_keep_their_types),
           CASE(tensors_on_gpus_have_borders),
           CASE(arguments_are_checked), CASE(ranks_fail_together), CASE(borders_must_fit))
