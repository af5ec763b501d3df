/* Memory runs out on one rank. The test refuses each allocation of a collective in turn: on the last rank, and for a
 * checkpoint on the first rank, too. All ranks must return an error, or all must succeed, within the time limit. */
#include <mpi.h>
#include <stdlib.h>

#include "thorn.h"

/* The number of allocations until one is refused; -1 if none is. */
static int until_refused = -1;

static int refused(void) {
    if (until_refused < 0 || until_refused-- > 0) return 0;
    THSetLastError(TH_ERR_NOMEM, "test: out of memory");
    return 1;
}

/* The header calls these macros. A macro is not expanded in its own text. */
#define malloc(bytes) (refused() ? NULL : malloc(bytes))
#define calloc(count, bytes) (refused() ? NULL : calloc(count, bytes))
#define THTensor_newCloneFormat(t, format) (refused() ? NULL : THTensor_newCloneFormat(t, format))
#define THTensor_newDetach(t) (refused() ? NULL : THTensor_newDetach(t))
#define THTensor_newNarrow(t, dim, first, size) (refused() ? NULL : THTensor_newNarrow(t, dim, first, size))
#define THTensor_newPermute(t, dims, order) (refused() ? NULL : THTensor_newPermute(t, dims, order))
#define THTensor_newUnsqueeze1d(t, dim) (refused() ? NULL : THTensor_newUnsqueeze1d(t, dim))
#define THTensor_newView(t, dims, size) (refused() ? NULL : THTensor_newView(t, dims, size))
#define THTensor_newWithSizes(dtype, dims, size) (refused() ? NULL : THTensor_newWithSizes(dtype, dims, size))
#define THTensor_newWithSizesOn(dtype, device, index, dims, size)                                                      \
    (refused() ? NULL : THTensor_newWithSizesOn(dtype, device, index, dims, size))
#define THTensor_newWithTensor(t) (refused() ? NULL : THTensor_newWithTensor(t))
#define THArchive_create(path, format) (refused() ? NULL : THArchive_create(path, format))
#define THArchive_open(path) (refused() ? NULL : THArchive_open(path))
#define THArchive_newFind(archive, name) (refused() ? NULL : THArchive_newFind(archive, name))
#define THArchive_add(archive, name, t) (refused() ? TH_ERR_NOMEM : THArchive_add(archive, name, t))
#define THArchive_addMetadata(archive, key, value) (refused() ? TH_ERR_NOMEM : THArchive_addMetadata(archive, key, value))
#define THArchive_copy(t, archive, name) (refused() ? TH_ERR_NOMEM : THArchive_copy(t, archive, name))
#define THArchive_close(archive) (refused() ? TH_ERR_NOMEM : THArchive_close(archive))
#define THOptim_read(optim, archive, name) (refused() ? TH_ERR_NOMEM : THOptim_read(optim, archive, name))
#define THTensor_getRNGState(generator, state) (refused() ? TH_ERR_NOMEM : THTensor_getRNGState(generator, state))

#include "check_mpi.h"

/* Tensors of one shape in different layouts: strided tensors, a parameter, results. */
typedef struct Tensors {
    THTensor *t;       /* 4 x 6, in the same layout on all ranks */
    THTensor *own;     /* 4 x 6, in another layout on each rank */
    THTensor *uneven;  /* 4 x (2 + rank) */
    THTensor *row;     /* 5, without gaps on all ranks */
    THTensor *w;       /* a leaf that requires a gradient */
    THTensor *r;       /* a fresh result */
    THTensor *strided; /* a result of another shape */
    THSTensor *s;      /* 2 entries of 4 x 6 */
} Tensors;

static char path[64];

static THStatus run_allreduce(Tensors *x, MPI_Comm comm) { return TH_MPI_allreduce(x->r, x->t, MPI_SUM, comm); }
static THStatus run_reduce(Tensors *x, MPI_Comm comm) { return TH_MPI_reduce(x->strided, x->own, MPI_MAX, 1, comm); }
static THStatus run_bcast(Tensors *x, MPI_Comm comm) { return TH_MPI_bcast(x->t, 0, comm); }
static THStatus run_bcast_between_layouts(Tensors *x, MPI_Comm comm) { return TH_MPI_bcast(x->own, 1, comm); }
static THStatus run_bcast_of_rows(Tensors *x, MPI_Comm comm) { return TH_MPI_bcast(x->row, 0, comm); }
static THStatus run_bcast_shaped(Tensors *x, MPI_Comm comm) { return TH_MPI_bcastShaped(rank ? x->r : x->t, 0, comm); }
static THStatus run_allgather(Tensors *x, MPI_Comm comm) { return TH_MPI_allgather(x->r, x->own, 1, comm); }
static THStatus run_allgather_in_place(Tensors *x, MPI_Comm comm) { return TH_MPI_allgather(x->t, x->t, 0, comm); }
static THStatus run_uneven_allgather(Tensors *x, MPI_Comm comm) { return TH_MPI_allgather(x->r, x->uneven, 1, comm); }
static THStatus run_gather(Tensors *x, MPI_Comm comm) { return TH_MPI_gather(x->strided, x->own, 0, ranks - 1, comm); }
static THStatus run_gather_elsewhere(Tensors *x, MPI_Comm comm) { return TH_MPI_gather(x->r, x->uneven, 1, 0, comm); }
static THStatus run_scatter(Tensors *x, MPI_Comm comm) { return TH_MPI_scatter(x->r, x->t, NULL, 1, ranks - 1, comm); }

static THStatus run_scatter_elsewhere(Tensors *x, MPI_Comm comm) {
    return TH_MPI_scatter(x->t, x->t, NULL, 0, 0, comm);
}

static THStatus run_alltoall(Tensors *x, MPI_Comm comm) { return TH_MPI_alltoall(x->r, x->own, NULL, 0, 1, comm); }

static THStatus run_reduce_scatter(Tensors *x, MPI_Comm comm) {
    return TH_MPI_reduceScatter(x->strided, x->t, NULL, 1, MPI_SUM, comm);
}

static THStatus run_halo(Tensors *x, MPI_Comm comm) { return TH_MPI_haloExchange(x->t, (const int64_t[]){1}, 0, comm); }

static THStatus run_gradients(Tensors *x, MPI_Comm comm) {
    THMpiGradients *gradients = TH_MPI_newGradients(&x->w, 1, 0, 1, comm);
    return gradients ? TH_MPI_freeGradients(gradients) : THGetLastErrorCode();
}

static THStatus run_shards(Tensors *x, MPI_Comm comm) {
    THMpiShards *shards = TH_MPI_newShards(&x->w, 1, comm);
    return shards ? TH_MPI_freeShards(shards) : THGetLastErrorCode();
}

static THStatus run_allreduce_sparse(Tensors *x, MPI_Comm comm) { return TH_MPI_allreduceSparse(x->s, x->s, comm); }
static THStatus run_bcast_sparse(Tensors *x, MPI_Comm comm) { return TH_MPI_bcastSparse(x->s, 1, comm); }
static THStatus run_gather_sparse(Tensors *x, MPI_Comm comm) { return TH_MPI_gatherSparse(x->s, x->s, 0, 0, comm); }

static THStatus run_save(Tensors *x, MPI_Comm comm) { return TH_MPI_saveNpy(x->own, 0, path, comm); }
static THStatus run_load(Tensors *x, MPI_Comm comm) { return TH_MPI_load(x->r, 1, NULL, path, NULL, comm); }

static THStatus run_save_several(Tensors *x, MPI_Comm comm) {
    static const char *const names[] = {"a", "b"};
    const THTensor *const list[] = {x->t, x->uneven};
    return TH_MPI_saveSafetensors(list, names, (const int[]){TH_MPI_WHOLE, 1}, 2, path, comm);
}

/* Saves or loads a parameter, the optimizer in shares, and a generator. Only the call itself is refused memory. */
static THStatus run_checkpoint(Tensors *x, MPI_Comm comm, THStatus (*call)(const THMpiCheckpoint *, const char *, MPI_Comm)) {
    static const char *const names[] = {"w"};
    char file[80];
    const int until = until_refused;
    until_refused = -1;
    snprintf(file, sizeof file, "%s.pt", path);
    THMpiShards *shards = TH_MPI_newShards(&x->w, 1, comm);
    THOptim *optimizer = shards->owned ? THOptim_newAdam(shards->own, shards->owned, 0.1, 0.9, 0.999, 1e-8, 0, 0) : NULL;
    THTensor *gradient = THTensor_newOnes(TH_FLOAT32, SIZES(3));
    THGenerator *generator = THGenerator_new();
    CHECK_OK(THTensor_setGrad(x->w, gradient));
    CHECK_OK(TH_MPI_stepShards(shards, optimizer));
    const THMpiCheckpoint checkpoint = {&x->w, names, 1, optimizer, shards, generator};
    until_refused = until;
    const THStatus status = call(&checkpoint, file, comm);
    const int after = until_refused;
    until_refused = -1;
    THGenerator_free(generator);
    THTensor_free(gradient);
    THOptim_free(optimizer);
    CHECK_OK(TH_MPI_freeShards(shards));
    until_refused = after;
    return status;
}

static THStatus run_save_checkpoint(Tensors *x, MPI_Comm comm) { return run_checkpoint(x, comm, TH_MPI_saveCheckpoint); }
static THStatus run_load_checkpoint(Tensors *x, MPI_Comm comm) { return run_checkpoint(x, comm, TH_MPI_loadCheckpoint); }

static void init(Tensors *x) {
    x->t = zeros_laid_out(TH_FLOAT32, 4, 6, TRANSPOSED);
    x->own = zeros_laid_out(TH_FLOAT32, 4, 6, rank % 2 ? STEPPED : TRANSPOSED);
    x->uneven = THTensor_newZeros(TH_FLOAT32, SIZES(4, 2 + rank));
    x->row = THTensor_newZeros(TH_FLOAT32, SIZES(5));
    x->w = THTensor_newZeros(TH_FLOAT32, SIZES(3));
    x->r = THTensor_new();
    x->strided = zeros_laid_out(TH_FLOAT32, 3, 3, STEPPED);
    CHECK_OK(THTensor_setRequiresGrad(x->w, 1));
    THTensor *indices = THTensor_newZeros(TH_INT64, SIZES(2, 2)), *values = THTensor_newOnes(TH_BFLOAT16, SIZES(2));
    x->s = THSTensor_newWithTensorAndSize(indices, values, SIZES(4, 6));
    THTensor_free(indices);
    THTensor_free(values);
}

static void drop(Tensors *x) {
    THTensor *all[] = {x->t, x->own, x->uneven, x->row, x->w, x->r, x->strided};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) THTensor_free(all[i]);
    THSTensor_free(x->s);
}

/* Runs a collective over a communicator that has no datatypes yet, and refuses allocation number `count` on rank `poor`.
 * Returns 0 on all ranks once the collective makes fewer allocations. */
static int run_refusing(THStatus (*run)(Tensors *x, MPI_Comm comm), int poor, int count, const char *name) {
    MPI_Comm comm;
    Tensors x;
    init(&x);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, (const int[]){1}, 0, &comm);
    CHECK_OK(TH_MPI_setChecked(comm, 1));
    MPI_Barrier(comm);
    if (rank == poor) until_refused = count;
    const THStatus status = run(&x, comm);
    int was_refused = rank == poor && until_refused < 0, good[2] = {status == TH_OK, status != TH_OK};
    until_refused = -1;
    if (was_refused) CHECK(status == TH_OK || status == TH_ERR_NOMEM);
    MPI_Allreduce(MPI_IN_PLACE, good, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Bcast(&was_refused, 1, MPI_INT, poor, MPI_COMM_WORLD);
    if (!CHECK(good[0] + good[1] == 1)) printf(" (%s, allocation %d: %s)", name, count, THStatus_name(status));
    MPI_Comm_free(&comm);
    drop(&x);
    return was_refused;
}

static void ranks_fail_together(void) {
    static const struct {
        const char *name;
        THStatus (*run)(Tensors *x, MPI_Comm comm);
    } table[] = {{"allreduce", run_allreduce},
                 {"reduce", run_reduce},
                 {"bcast", run_bcast},
                 {"bcast between layouts", run_bcast_between_layouts},
                 {"bcast of rows", run_bcast_of_rows},
                 {"bcastShaped", run_bcast_shaped},
                 {"allgather", run_allgather},
                 {"allgather in place", run_allgather_in_place},
                 {"uneven allgather", run_uneven_allgather},
                 {"gather", run_gather},
                 {"gather elsewhere", run_gather_elsewhere},
                 {"scatter", run_scatter},
                 {"scatter elsewhere", run_scatter_elsewhere},
                 {"reduceScatter", run_reduce_scatter},
                 {"alltoall", run_alltoall},
                 {"halo", run_halo},
                 {"gradients", run_gradients},
                 {"shards", run_shards},
                 {"sparse allreduce", run_allreduce_sparse},
                 {"sparse bcast", run_bcast_sparse},
                 {"sparse gather", run_gather_sparse},
                 {"save", run_save},
                 {"load", run_load},
                 {"save several", run_save_several},
                 {"save a checkpoint", run_save_checkpoint},
                 {"load a checkpoint", run_load_checkpoint}};
    if (ranks < 2) return;
    if (rank == 0) snprintf(path, sizeof path, "/tmp/thorn_mpi_memory_%d", (int)getpid());
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        /* The first rank reads and writes the file of a checkpoint, with many allocations. */
        const int checkpoint = strstr(table[i].name, "checkpoint") != NULL;
        for (int poor = checkpoint ? 0 : ranks - 1; poor < ranks && (!checkpoint || ranks == 2); poor += ranks - 1) {
            int count = 0;
            while (run_refusing(table[i].run, poor, count, table[i].name)) count++;
            CHECK(count > 0);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK_EQ(remove(path), 0);
    if (rank == 0 && ranks == 2) CHECK_EQ(remove(strcat(path, ".pt")), 0);
}

CHECK_MPI_MAIN(CASE(ranks_fail_together))
