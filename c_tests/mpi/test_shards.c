/* The optimizer's state divided among the ranks, compared bit by bit with one optimizer for all parameters, and checkpoints that another
 * number of ranks reads. */
#include "check_mpi.h"

enum { MOST = 5, KINDS = 6 };
static char path[64];

/* A model with one optimizer, or with shards. */
typedef struct Model {
    THTensor *w[MOST];
    int count;
    THMpiShards *shards;
    THOptim *optimizer;
    THGenerator *generator;
} Model;

static THOptim *new_optimizer(THTensor *const *w, int count, int kind) {
    switch (kind) {
    case 0: return THOptim_newAdam(w, count, 0.01, 0.9, 0.999, 1e-8, 0.1, 0);
    case 1: return THOptim_newAdamw(w, count, 0.01, 0.9, 0.999, 1e-8, 0.1, 1);
    case 2: return THOptim_newSgd(w, count, 0.1, 0.9, 0.5, 0, 0);
    case 3: return THOptim_newLamb(w, count, 0.01, 0.9, 0.999, 1e-6, 0.01);
    case 4: return THOptim_newRmsprop(w, count, 0.01, 0.9, 1e-8, 0, 0.5, 1);
    default: return THOptim_newRadam(w, count, 0.01, 0.9, 0.999, 1e-8, 0, 0);
    }
}

/* Without a communicator, the model has no shards. */
static void init(Model *m, int count, int kind, THDtype dtype, MPI_Comm comm) {
    static const int64_t sizes[MOST][2] = {{3, 4}, {50, 2}, {1, 7}, {0, 3}, {9, 5}};
    memset(m, 0, sizeof *m);
    m->count = count;
    for (int i = 0; i < count; i++) {
        m->w[i] = values_somehow(COMMON, dtype, 2, sizes[i], i);
        CHECK_OK(THTensor_setRequiresGrad(m->w[i], 1));
    }
    if (comm != MPI_COMM_NULL) {
        m->shards = TH_MPI_newShards(m->w, count, comm);
        if (!CHECK(m->shards != NULL)) return;
        m->optimizer = m->shards->owned ? new_optimizer(m->shards->own, m->shards->owned, kind) : NULL;
    } else {
        m->optimizer = new_optimizer(m->w, count, kind);
    }
    m->generator = THGenerator_new();
    CHECK_OK(THRandom_manualSeed(m->generator, (uint64_t)rank + 40));
}

static void drop(Model *m) {
    THOptim_free(m->optimizer);
    THGenerator_free(m->generator);
    CHECK_OK(TH_MPI_freeShards(m->shards));
    for (int i = 0; i < m->count; i++) THTensor_free(m->w[i]);
}

/* Step number `at`, with gradients that depend on the step and the parameter. Parameter 2 has none in every other step. */
static void step(Model *m, int at) {
    if (m->shards) CHECK_OK(TH_MPI_zeroShards(m->shards, 1));
    else CHECK_OK(THOptim_zeroGrad(m->optimizer, 1));
    for (int i = 0; i < m->count; i++) {
        if (i == 2 && at % 2) continue;
        THTensor *gradient = THTensor_newZeros(THTensor_dtype(m->w[i]), 2, m->w[i]->size);
        fill_as(gradient, 3 * at + i);
        CHECK_OK(THTensor_setGrad(m->w[i], gradient));
        THTensor_free(gradient);
    }
    if (m->shards) CHECK_OK(TH_MPI_stepShards(m->shards, m->optimizer));
    else CHECK_OK(THOptim_step(m->optimizer));
}

static void check_equal(const Model *a, const Model *b, int line) {
    for (int i = 0; i < a->count; i++) check_that(THTensor_equal(a->w[i], b->w[i]), __FILE__, line, "parameters have the same bits");
}

/* Models whose random shapes and layouts are drawn from the common stream are made from the same numbers. */
static void init_both(Model *a, Model *b, int count, int kind, THDtype dtype) {
    const uint64_t common = streams[COMMON];
    init(a, count, kind, dtype, MPI_COMM_WORLD);
    streams[COMMON] = common;
    init(b, count, kind, dtype, MPI_COMM_NULL);
}

static void shards_step_like_one_optimizer(void) {
    for (int kind = 0; kind < KINDS; kind++) {
        Model m, whole;
        const THDtype dtype = kind == 1 ? TH_BFLOAT16 : kind == 2 ? TH_FLOAT64 : TH_FLOAT32;
        init_both(&m, &whole, kind == 5 ? 1 : MOST, kind, dtype);
        int owned = m.shards->owned;
        MPI_Allreduce(MPI_IN_PLACE, &owned, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(owned, m.count);
        for (int at = 0; at < 4; at++) {
            step(&m, at);
            step(&whole, at);
            check_equal(&m, &whole, __LINE__);
        }
        drop(&m);
        drop(&whole);
    }
}

/* Adam in float32 has two numbers for each element. The largest parameter has 4096 elements, all 16384. */
static void the_state_is_divided(void) {
    enum { COUNT = 16, LARGEST = 4096 };
    THTensor *w[COUNT];
    int64_t all = 0;
    for (int i = 0; i < COUNT; i++) {
        const int64_t size = i == 3 ? LARGEST : 12288 / 15 + (i == 0 ? 12288 % 15 : 0);
        w[i] = THTensor_newOnes(TH_FLOAT32, SIZES(size));
        THTensor *gradient = THTensor_newOnes(TH_FLOAT32, SIZES(size));
        CHECK_OK(THTensor_setRequiresGrad(w[i], 1));
        CHECK_OK(THTensor_setGrad(w[i], gradient));
        THTensor_free(gradient);
        all += size;
    }
    THMpiShards *shards = TH_MPI_newShards(w, COUNT, MPI_COMM_WORLD);
    THOptim *optimizer = new_optimizer(shards->own, shards->owned, 0);
    const int64_t before = THMemory_liveBytes();
    CHECK_OK(TH_MPI_stepShards(shards, optimizer));
    long long used = THMemory_liveBytes() - before, most = used;
    /* Some hundred bytes for the handles of each parameter. */
    const int64_t slack = 1024 * COUNT;
    CHECK(used >= 0 && used <= 8 * all / ranks + 8 * LARGEST + slack);
    MPI_Allreduce(MPI_IN_PLACE, &used, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    CHECK(used >= 8 * all && used <= 8 * all + slack);
    if (rank == 0) printf(" (%lld of %lld bytes) ", most, (long long)(8 * all));
    THOptim_free(optimizer);
    CHECK_OK(TH_MPI_freeShards(shards));
    for (int i = 0; i < COUNT; i++) THTensor_free(w[i]);
}

static void arguments_of_shards_are_checked(void) {
    THTensor *leaf = THTensor_newOnes(TH_FLOAT32, SIZES(3)), *plain = THTensor_newOnes(TH_FLOAT32, SIZES(3));
    THTensor *other = THTensor_newOnes(TH_FLOAT32, SIZES(4));
    CHECK_OK(THTensor_setRequiresGrad(leaf, 1));
    CHECK_OK(THTensor_setRequiresGrad(other, 1));
    CHECK_FAILURE(TH_MPI_newShards(NULL, 1, MPI_COMM_WORLD) == NULL, TH_ERR_ARGUMENT, "'parameters' is NULL");
    CHECK_FAILURE(TH_MPI_newShards(&plain, 1, MPI_COMM_WORLD) == NULL, TH_ERR_ARGUMENT, "no leaf that requires a gradient");
    if (ranks > 1) {
        CHECK_FAILURE(TH_MPI_newShards(rank ? &leaf : &plain, 1, MPI_COMM_WORLD) == NULL, TH_ERR_ARGUMENT,
                      rank ? "another rank" : "no leaf");
        CHECK_FAILURE(TH_MPI_newShards(rank ? &leaf : &other, 1, MPI_COMM_WORLD) == NULL, TH_ERR_SHAPE, "different shapes");
    }
    CHECK_ERROR(TH_MPI_stepShards(NULL, NULL), TH_ERR_ARGUMENT, "'shards' is NULL");
    CHECK_ERROR(TH_MPI_zeroShards(NULL, 0), TH_ERR_ARGUMENT, "'shards' is NULL");
    CHECK_OK(TH_MPI_freeShards(NULL));
    THMpiShards *none = TH_MPI_newShards(NULL, 0, MPI_COMM_WORLD), *one = TH_MPI_newShards(&leaf, 1, MPI_COMM_WORLD);
    CHECK_OK(TH_MPI_stepShards(none, NULL));
    CHECK_ERROR(TH_MPI_stepShards(one, NULL), TH_ERR_ARGUMENT, rank ? "another rank failed" : "this rank has 1 parameters");
    CHECK_OK(TH_MPI_freeShards(none));
    CHECK_OK(TH_MPI_freeShards(one));
    THTensor_free(leaf);
    THTensor_free(plain);
    THTensor_free(other);
}

/* ---------------------------------------------------------------------------------------------------- checkpoints */

static const char *const names[MOST] = {"a", "b", "c", "d", "e"};

static THMpiCheckpoint checkpoint_of(const Model *m) {
    return (THMpiCheckpoint){m->w, names, m->count, m->optimizer, m->shards, m->generator};
}

static void choose_path(const char *extension) {
    if (rank == 0) snprintf(path, sizeof path, "/tmp/thorn_mpi_shards_%d%s", (int)getpid(), extension);
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static double next_number(THGenerator *generator) {
    THTensor *t = THTensor_newRand(TH_FLOAT64, generator, SIZES(1));
    const double number = THTensor_get1d(t, 0);
    THTensor_free(t);
    return number;
}

/* Two steps on all ranks, a checkpoint, then two more steps on one rank and on all except one, with and without shards. */
static void another_number_of_ranks_continues(void) {
    for (int sharded = 0; sharded < 2; sharded++) {
        Model m, whole, read;
        choose_path(sharded ? ".pt" : ".safetensors");
        const uint64_t common = streams[COMMON];
        init_both(&m, &whole, MOST, 0, TH_FLOAT32);
        for (int at = 0; at < 2; at++) step(&m, at), step(&whole, at);
        THMpiCheckpoint saved = checkpoint_of(sharded ? &m : &whole);
        next_number(saved.generator);
        CHECK_OK(TH_MPI_saveCheckpoint(&saved, path, MPI_COMM_WORLD));
        const double next = next_number(saved.generator);
        for (int at = 2; at < 4; at++) step(&whole, at);
        for (int most = 1; most <= ranks; most += ranks > 2 ? ranks - 2 : 1) {
            MPI_Comm some;
            MPI_Comm_split(MPI_COMM_WORLD, rank < most ? 0 : MPI_UNDEFINED, rank, &some);
            for (int again = 0; again < 2 && some != MPI_COMM_NULL; again++) {
                streams[COMMON] = common;
                init(&read, MOST, 0, TH_FLOAT32, again ? some : MPI_COMM_NULL);
                for (int i = 0; i < MOST; i++) CHECK_OK(THTensor_setGrad(read.w[i], NULL));
                THGrad_setEnabled(0);
                for (int i = 0; i < MOST; i++) CHECK_OK(THTensor_zero(read.w[i]));
                THGrad_setEnabled(1);
                THMpiCheckpoint loaded = checkpoint_of(&read);
                CHECK_OK(TH_MPI_loadCheckpoint(&loaded, path, some));
                CHECK_NEAR(next_number(read.generator), next, 0);
                for (int at = 2; at < 4; at++) step(&read, at);
                check_equal(&read, &whole, __LINE__);
                drop(&read);
            }
            if (some != MPI_COMM_NULL) MPI_Comm_free(&some);
        }
        char part[96];
        snprintf(part, sizeof part, "%s.%d.part.pt", path, rank);
        CHECK(access(part, F_OK) != 0);
        drop(&m);
        drop(&whole);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) CHECK_EQ(remove(path), 0);
    }
}

/* One rank writes, all read. The generators of the ranks without a row differ from each other. */
static void more_ranks_may_continue(void) {
    Model m, whole;
    choose_path(".pt");
    init_both(&m, &whole, MOST, 2, TH_FLOAT64);
    step(&whole, 0);
    THMpiCheckpoint saved = checkpoint_of(&whole), loaded = checkpoint_of(&m);
    if (rank == 0) CHECK_OK(TH_MPI_saveCheckpoint(&saved, path, MPI_COMM_SELF));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(TH_MPI_loadCheckpoint(&loaded, path, MPI_COMM_WORLD));
    step(&whole, 1);
    step(&m, 1);
    check_equal(&m, &whole, __LINE__);
    double number = next_number(m.generator), numbers[64];
    MPI_Allgather(&number, 1, MPI_DOUBLE, numbers, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int p = 0; p < ranks; p++) CHECK(p == rank || numbers[p] != number);
    /* The same seeds the next time. */
    CHECK_OK(TH_MPI_loadCheckpoint(&loaded, path, MPI_COMM_WORLD));
    CHECK_NEAR(next_number(m.generator), number, 0);
    /* A program without MPI reads the file. */
    if (rank == 0) {
        THArchive *file = THArchive_open(path);
        CHECK(file != NULL);
        CHECK_OK(THOptim_read(whole.optimizer, file, "optimizer"));
        THArchive_free(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK_EQ(remove(path), 0);
    drop(&m);
    drop(&whole);
}

static void checkpoints_fail_on_all_ranks(void) {
    Model m, other;
    choose_path(".pt");
    init(&m, MOST, 0, TH_FLOAT32, MPI_COMM_WORLD);
    init(&other, 2, 0, TH_FLOAT32, MPI_COMM_WORLD);
    THMpiCheckpoint c = checkpoint_of(&m), bad = c, fewer = checkpoint_of(&other);
    static const char *const reserved[MOST] = {"a", "b", "optimizer.x", "d", "e"}, *const others[MOST] = {"a", "b", "x", "d", "e"};
    const char *anywhere = rank ? "another rank" : "";
    CHECK_ERROR(TH_MPI_loadCheckpoint(&c, path, MPI_COMM_WORLD), TH_ERR_IO, rank ? "another rank failed" : path);
    CHECK_ERROR(TH_MPI_saveCheckpoint(&c, "/nowhere/at/all.pt", MPI_COMM_WORLD), TH_ERR_IO, "TH_MPI_saveCheckpoint");
    CHECK_ERROR(TH_MPI_saveCheckpoint(NULL, path, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "'checkpoint' is NULL");
    CHECK_ERROR(TH_MPI_saveCheckpoint(&c, rank ? path : NULL, MPI_COMM_WORLD), TH_ERR_ARGUMENT, rank ? anywhere : "'path' is NULL");
    bad.names = reserved;
    CHECK_ERROR(TH_MPI_saveCheckpoint(&bad, path, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "the name \"optimizer.x\" is reserved");
    bad.names = rank == 0 ? names : others;
    if (ranks > 1) CHECK_ERROR(TH_MPI_saveCheckpoint(&bad, path, MPI_COMM_WORLD), TH_ERR_SHAPE, "lists of different lengths");
    CHECK(access(path, F_OK) != 0);
    CHECK_OK(TH_MPI_saveCheckpoint(&c, path, MPI_COMM_WORLD));
    /* A failed write leaves the file. */
    bad.names = reserved;
    CHECK_ERROR(TH_MPI_saveCheckpoint(&bad, path, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "reserved");
    CHECK_OK(TH_MPI_loadCheckpoint(&c, path, MPI_COMM_WORLD));
    /* A missing entry, and an optimizer with fewer parameters. */
    bad.names = others;
    CHECK_ERROR(TH_MPI_loadCheckpoint(&bad, path, MPI_COMM_WORLD), TH_ERR_ARGUMENT, rank ? anywhere : "no tensor is named 'x'");
    step(&m, 0);
    CHECK_OK(TH_MPI_saveCheckpoint(&c, path, MPI_COMM_WORLD));
    CHECK_ERROR(TH_MPI_loadCheckpoint(&fewer, path, MPI_COMM_WORLD), TH_ERR_FORMAT, "TH_MPI_loadCheckpoint");
    /* Several groups cannot be divided. */
    if (m.optimizer) CHECK(THOptim_addGroup(m.optimizer, other.w, 1) == 1);
    CHECK_ERROR(TH_MPI_saveCheckpoint(&c, path, MPI_COMM_WORLD), TH_ERR_UNSUPPORTED, rank ? anywhere : "several groups");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK_EQ(remove(path), 0);
    drop(&m);
    drop(&other);
}

CHECK_MPI_MAIN(CASE(shards_step_like_one_optimizer), CASE(the_state_is_divided), CASE(arguments_of_shards_are_checked),
               CASE(another_number_of_ranks_continues), CASE(more_ranks_may_continue), CASE(checkpoints_fail_on_all_ranks))
