/* Random generators: kinds, seeds, copies, states. */

#include "check.h"

#include <pthread.h>

static void a_seed_makes_numbers_repeat(void) {
    THGenerator *generator = THGenerator_new();
    THTensor *first = THTensor_newWithSize1d(TH_FLOAT32, 1000), *second = THTensor_newWithSize1d(TH_FLOAT32, 1000);
    CHECK_OK(THRandom_manualSeed(generator, 42));
    CHECK_EQ(THRandom_initialSeed(generator), 42);
    CHECK_OK(THTensor_uniform(first, generator, 0, 1));
    CHECK_OK(THTensor_uniform(second, generator, 0, 1));
    THTensor *equal = THTensor_new();
    CHECK_OK(THTensor_eqTensor(equal, first, second));
    CHECK(THTensor_sumall(equal) < 10);

    CHECK_OK(THRandom_manualSeed(generator, 42));
    CHECK_OK(THTensor_uniform(second, generator, 0, 1));
    CHECK(memcmp(THTensor_data(first), THTensor_data(second), 1000 * sizeof(float)) == 0);
    CHECK_OK(THRandom_manualSeed(generator, 43));
    CHECK_OK(THTensor_uniform(second, generator, 0, 1));
    CHECK_OK(THTensor_eqTensor(equal, first, second));
    CHECK(THTensor_sumall(equal) < 10);
    THTensor_free(equal);
    THTensor_free(second);
    THTensor_free(first);
    THGenerator_free(generator);
}

/* Draws a number, which identifies the state of a generator. */
static double drawn(THGenerator *generator) {
    THTensor *t = THTensor_newWithSizes(TH_FLOAT64, 0, NULL);
    CHECK_OK(THTensor_normal(t, generator, 0, 1));
    double x = THTensor_item(t);
    THTensor_free(t);
    return x;
}

static void the_system_seeds_what_nobody_seeded(void) {
    THGenerator *a = THGenerator_new(), *b = THGenerator_new();
    CHECK(THRandom_initialSeed(a) != THRandom_initialSeed(b));
    CHECK(drawn(a) != drawn(b));
    uint64_t seed = THRandom_seed(a);
    CHECK(THRandom_initialSeed(a) == seed);
    CHECK(THRandom_seed(b) != seed);
    CHECK_OK(THRandom_manualSeed(b, seed));
    CHECK_NEAR(drawn(a), drawn(b), 0);
    CHECK_OK(THRandom_manualSeed(a, UINT64_MAX));
    CHECK(THRandom_initialSeed(a) == UINT64_MAX);
    THGenerator_free(b);
    THGenerator_free(a);
    THGenerator_free(NULL);
}

static void a_copy_continues_as_the_original(void) {
    THGenerator *a = THGenerator_new(), *b = THGenerator_new();
    CHECK_OK(THRandom_manualSeed(a, 7));
    double before = drawn(a);
    CHECK_OK(THGenerator_copy(b, a));
    double after = drawn(a);
    CHECK(after != before);
    CHECK_NEAR(drawn(b), after, 0);
    CHECK_NEAR(drawn(b), drawn(a), 0);
    CHECK_ERROR(THGenerator_copy(NULL, a), TH_ERR_ARGUMENT, "'to'");
    CHECK_ERROR(THGenerator_copy(a, NULL), TH_ERR_ARGUMENT, "'from'");
    CHECK_OK(THGenerator_copy(a, a));
    CHECK_NEAR(drawn(b), drawn(a), 0);
    THGenerator_free(b);
    THGenerator_free(a);
}

static void *draw_on_a_thread(void *arg) {
    double *numbers = arg;
    numbers[0] = drawn(NULL);
    THRandom_manualSeed(NULL, 5);
    numbers[1] = drawn(NULL);
    return NULL;
}

static void each_thread_has_a_generator_of_its_own(void) {
    CHECK_OK(THRandom_manualSeed(NULL, 5));
    double numbers[2] = {0, 0}, here = drawn(NULL);
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, draw_on_a_thread, numbers), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK(numbers[0] != here);
    CHECK_NEAR(numbers[1], here, 0);
    CHECK_EQ(THRandom_initialSeed(NULL), 5);
    CHECK(drawn(NULL) != here);
}

/* Kinds */

static const THGeneratorKind kinds[] = {TH_PHILOX, TH_MT19937};

static THGenerator *seeded(THGeneratorKind kind, uint64_t seed) {
    THGenerator *generator = THGenerator_newKind(kind);
    CHECK_OK(THRandom_manualSeed(generator, seed));
    return generator;
}

static void a_generator_is_of_one_kind(void) {
    THGenerator *usual = THGenerator_new(), *twister = THGenerator_newKind(TH_MT19937);
    CHECK_EQ(THGenerator_kind(usual), TH_PHILOX);
    CHECK_EQ(THGenerator_kind(NULL), TH_PHILOX);
    CHECK_EQ(THGenerator_kind(twister), TH_MT19937);
    CHECK(THRandom_initialSeed(twister) != THRandom_initialSeed(usual));
    CHECK_OK(THRandom_manualSeed(twister, 5489));
    CHECK_EQ(THRandom_random(twister), 3499211612);
    CHECK_EQ(THRandom_random(twister), 581869302);
    CHECK_EQ(THRandom_random(twister), 3890346734);
    CHECK_FAILURE(THGenerator_newKind(0) == NULL, TH_ERR_ARGUMENT, "0 is no kind");
    CHECK_FAILURE(THGenerator_newKind(3) == NULL, TH_ERR_ARGUMENT, "THGenerator_newKind");
    /* A copy has the kind of its source, too. */
    CHECK_OK(THGenerator_copy(usual, twister));
    CHECK_EQ(THGenerator_kind(usual), TH_MT19937);
    CHECK_EQ(THRandom_random(usual), THRandom_random(twister));
    THGenerator *other = THGenerator_new();
    CHECK_OK(THGenerator_copy(twister, other));
    CHECK_EQ(THGenerator_kind(twister), TH_PHILOX);
    CHECK_NEAR(drawn(twister), drawn(other), 0);
    THGenerator_free(other);
    THGenerator_free(twister);
    THGenerator_free(usual);
}

static void a_state_brings_back_what_followed(void) {
    for (int k = 0; k < 2; k++) {
        THGenerator *generator = seeded(kinds[k], 99), *other = THGenerator_newKind(kinds[k]);
        THTensor *state = THTensor_new();
        /* An odd number of normal values, so that half a pair is left. */
        drawn(generator);
        CHECK_OK(THTensor_getRNGState(generator, state));
        CHECK_EQ(THTensor_dtype(state), TH_UINT8);
        CHECK_SHAPE(state, k == 0 ? 24 : 5048);
        double next = drawn(generator), after = drawn(generator);
        CHECK_OK(THTensor_setRNGState(generator, state));
        CHECK_NEAR(drawn(generator), next, 0);
        CHECK_OK(THTensor_setRNGState(other, state));
        CHECK_EQ(THRandom_initialSeed(other), 99);
        CHECK_NEAR(drawn(other), next, 0);
        CHECK_NEAR(drawn(other), after, 0);
        THTensor_free(state);
        THGenerator_free(other);
        THGenerator_free(generator);
    }
    /* The thread's default generator has a state like any other. */
    THTensor *state = THTensor_new();
    CHECK_OK(THTensor_getRNGState(NULL, state));
    double next = drawn(NULL);
    CHECK_OK(THTensor_setRNGState(NULL, state));
    CHECK_NEAR(drawn(NULL), next, 0);
    THTensor_free(state);
}

static void what_is_no_state_changes_nothing(void) {
    THTensor *states[2] = {THTensor_new(), THTensor_new()};
    for (int k = 0; k < 2; k++) {
        THGenerator *generator = seeded(kinds[k], 1);
        CHECK_OK(THTensor_getRNGState(generator, states[k]));
        THGenerator_free(generator);
    }
    for (int k = 0; k < 2; k++) {
        THGenerator *generator = seeded(kinds[k], 7), *same = seeded(kinds[k], 7);
        THTensor *mine = states[k], *floats = THTensor_newTo(mine, TH_FLOAT32), *zeros = THTensor_newZerosLike(mine);
        THTensor *part = THTensor_newNarrow(mine, 0, 0, 23), *matrix = THTensor_newUnsqueeze1d(mine, 0);
        CHECK_ERROR(THTensor_setRNGState(generator, states[1 - k]), TH_ERR_ARGUMENT,
                    k == 0 ? "24 bytes, got 5048" : "5048 bytes, got 24");
        CHECK_ERROR(THTensor_setRNGState(generator, part), TH_ERR_ARGUMENT, "got 23");
        CHECK_ERROR(THTensor_setRNGState(generator, zeros), TH_ERR_ARGUMENT, k == 0 ? "Philox" : "MT19937");
        CHECK_ERROR(THTensor_setRNGState(generator, floats), TH_ERR_DTYPE, "float32");
        CHECK_ERROR(THTensor_setRNGState(generator, matrix), TH_ERR_SHAPE, "vector");
        CHECK_ERROR(THTensor_getRNGState(generator, floats), TH_ERR_DTYPE, "float32");
        CHECK_NEAR(drawn(generator), drawn(same), 0);
        /* A state whose bytes are not contiguous works, too. */
        THTensor *apart = THTensor_newZeros(TH_UINT8, SIZES(THTensor_nElement(mine), 2));
        CHECK_OK(THTensor_select(apart, apart, 1, 0));
        CHECK_OK(THTensor_copy(apart, mine));
        CHECK_OK(THTensor_setRNGState(generator, apart));
        CHECK_EQ(THRandom_initialSeed(generator), 1);
        THTensor_free(apart);
        THTensor_free(matrix);
        THTensor_free(part);
        THTensor_free(zeros);
        THTensor_free(floats);
        THGenerator_free(same);
        THGenerator_free(generator);
    }
    THTensor_free(states[1]);
    THTensor_free(states[0]);
}

/* Drawing a single number gives the element of a filled 0-d tensor. */
static void single_numbers_are_those_of_tensors(void) {
    for (int k = 0; k < 2; k++) {
        THGenerator *generator = seeded(kinds[k], 3), *same = seeded(kinds[k], 3);
        CHECK_NEAR(THRandom_normal(generator, 0, 1), drawn(same), 0);
        THTensor *t = THTensor_newWithSizes(TH_FLOAT64, 0, NULL);
        CHECK_OK(THTensor_cauchy(t, same, 1, 2));
        CHECK_NEAR(THRandom_cauchy(generator, 1, 2), THTensor_item(t), 0);
        CHECK_OK(THTensor_geometric(t, same, 0.9));
        CHECK_NEAR(THRandom_geometric(generator, 0.9), THTensor_item(t), 0);
        CHECK_FAILURE(isnan(THRandom_normal(generator, 0, -1)), TH_ERR_ARGUMENT, "-1");
        CHECK_FAILURE(isnan(THRandom_uniform(generator, 2, 1)), TH_ERR_ARGUMENT, "2 and 1");
        CHECK_FAILURE(isnan(THRandom_exponential(generator, 0)), TH_ERR_ARGUMENT, "got 0");
        CHECK_FAILURE(isnan(THRandom_geometric(generator, 1)), TH_ERR_ARGUMENT, "got 1");
        CHECK_FAILURE(THRandom_bernoulli(generator, 2) == 0, TH_ERR_ARGUMENT, "got 2");
        CHECK_NEAR(drawn(generator), drawn(same), 0);
        int64_t word = THRandom_random(generator);
        CHECK(word >= 0 && word < (int64_t)1 << 32);
        THTensor_free(t);
        THGenerator_free(same);
        THGenerator_free(generator);
    }
}

static THStatus drawn_in_hook;

static void draw(void *generator, int64_t live) {
    (void)live;
    THTensor *t = THTensor_newWithSize1d(TH_FLOAT32, 1);
    drawn_in_hook = THTensor_uniform(t, generator, 0, 1);
    THTensor_free(t);
}

/* A hook that is called while a fill allocates memory may not draw from the same generator: it gets an error and does
 * not wait. */
static void a_generator_in_use_is_refused(void) {
    THGenerator *generator = THGenerator_new();
    THTensor *t = THTensor_new();
    CHECK_OK(THMemory_setSoftLimit(1, draw, generator));
    CHECK_OK(THTensor_rand(t, generator, 1, (int64_t[]){100000}));
    CHECK_OK(THMemory_setSoftLimit(0, NULL, NULL));
    CHECK_EQ(drawn_in_hook, TH_ERR_INTERNAL);
    CHECK_OK(THTensor_uniform(t, generator, 0, 1));
    THTensor_free(t);
    THGenerator_free(generator);
}

CHECK_MAIN(CASE(a_seed_makes_numbers_repeat), CASE(the_system_seeds_what_nobody_seeded),
           CASE(a_copy_continues_as_the_original), CASE(each_thread_has_a_generator_of_its_own),
           CASE(a_generator_is_of_one_kind), CASE(a_state_brings_back_what_followed),
           CASE(what_is_no_state_changes_nothing), CASE(single_numbers_are_those_of_tensors),
           CASE(a_generator_in_use_is_refused))
