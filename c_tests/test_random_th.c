/* Generators of kind TH_MT19937: the numbers of Torch's TH, some of which PyTorch has, too. */

#include "check.h"

#include "random_expected.h"

static THGenerator *seeded(void) {
    THGenerator *generator = THGenerator_newKind(TH_MT19937);
    CHECK_OK(THRandom_manualSeed(generator, 123));
    return generator;
}

/* The elements equal the expected numbers, up to a relative error if functions of the C library computed them. */
static void check_numbers(const THTensor *t, const double *expected, int64_t n, double last_bits) {
    if (!CHECK(THTensor_nElement(t) == n)) return;
    for (int64_t i = 0; i < n; i++) CHECK_NEAR(element_at(t, i), expected[i], fabs(expected[i]) * last_bits);
}

#define CHECK_NUMBERS(t, expected, last_bits)                                                                          \
    check_numbers(t, expected, (int64_t)(sizeof(expected) / sizeof *(expected)), last_bits)

static THStatus draw(int which, THTensor *t, THGenerator *generator) {
    switch (which) {
    case 0: return THTensor_uniform(t, generator, -2, 3);
    case 1: return THTensor_normal(t, generator, 1.5, 2);
    case 2: return THTensor_exponential(t, generator, 0.7);
    case 3: return THTensor_cauchy(t, generator, 0.5, 2);
    case 4: return THTensor_logNormal(t, generator, 0.3, 0.6);
    case 5: return THTensor_geometric(t, generator, 0.8);
    default: return THTensor_bernoulli(t, generator, 0.4);
    }
}

static const double *const th_numbers[] = {th_uniform,    th_normal,    th_exponential, th_cauchy,
                                           th_log_normal, th_geometric, th_bernoulli};

static void numbers_are_those_of_TH(void) {
    for (int which = 0; which < 7; which++) {
        THGenerator *generator = seeded();
        THTensor *doubles = THTensor_newWithSize1d(TH_FLOAT64, 9), *floats = THTensor_newWithSize1d(TH_FLOAT32, 9);
        CHECK_OK(draw(which, doubles, generator));
        check_numbers(doubles, th_numbers[which], 9, which == 0 || which >= 5 ? 0 : 0x1p-50);
        /* A float32 number is the float64 number rounded. */
        CHECK_OK(THRandom_manualSeed(generator, 123));
        CHECK_OK(draw(which, floats, generator));
        check_numbers(floats, th_numbers[which], 9, 0x1p-24);
        THTensor_free(floats);
        THTensor_free(doubles);
        THGenerator_free(generator);
    }
}

static void single_numbers_are_those_of_TH_too(void) {
    for (int which = 0; which < 7; which++) {
        THGenerator *generator = seeded();
        for (int i = 0; i < 9; i++) {
            double x = which == 0   ? THRandom_uniform(generator, -2, 3)
                       : which == 1 ? THRandom_normal(generator, 1.5, 2)
                       : which == 2 ? THRandom_exponential(generator, 0.7)
                       : which == 3 ? THRandom_cauchy(generator, 0.5, 2)
                       : which == 4 ? THRandom_logNormal(generator, 0.3, 0.6)
                       : which == 5 ? THRandom_geometric(generator, 0.8)
                                    : THRandom_bernoulli(generator, 0.4);
            CHECK_NEAR(x, th_numbers[which][i], fabs(th_numbers[which][i]) * 0x1p-50);
        }
        THGenerator_free(generator);
    }
    THGenerator *generator = seeded();
    for (int i = 0; i < 9; i++) CHECK_EQ(THRandom_random(generator), th_random_int64[i]);
    THGenerator_free(generator);
}

/* Normal numbers are made in pairs. The second one is kept for the next call that needs one, whatever is drawn in
 * between. */
static void half_a_pair_waits(void) {
    THGenerator *generator = seeded();
    THTensor *t = THTensor_newWithSize1d(TH_FLOAT64, 9);
    CHECK_OK(THTensor_normal(t, generator, 1.5, 2));
    CHECK_NEAR(THRandom_normal(generator, 0, 1), th_normal_next[0], 0x1p-50);
    CHECK_NEAR(THRandom_uniform(generator, 0, 1), th_normal_next[1], 0);
    CHECK_NEAR(THRandom_normal(generator, 0, 1), th_normal_next[2], 0x1p-50);
    THTensor_free(t);
    THGenerator_free(generator);
}

/* The order is row-major for all strides. */
static void strides_do_not_matter(void) {
    for (enum layout layout = ROW_MAJOR; layout < LAYOUTS; layout++) {
        THGenerator *generator = seeded();
        THTensor *t = zeros_laid_out(TH_FLOAT64, 3, 3, layout);
        CHECK_OK(THTensor_uniform(t, generator, -2, 3));
        CHECK_NUMBERS(t, th_uniform, 0);
        THTensor_free(t);
        THGenerator_free(generator);
    }
}

static void random_integers_are_those_of_TH(void) {
    static const struct {
        THDtype dtype;
        const double *th, *torch;
    } cases[] = {
        {TH_UINT8, th_random_uint8, torch_random_uint8},       {TH_INT8, th_random_int8, torch_random_int8},
        {TH_INT16, th_random_int16, torch_random_int16},       {TH_INT32, th_random_int32, torch_random_int32},
        {TH_FLOAT32, th_random_float32, torch_random_float32}, {TH_INT64, th_random_int64, NULL},
        {TH_FLOAT64, th_random_float64, NULL},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        THGenerator *generator = seeded();
        THTensor *t = THTensor_newWithSize1d(cases[k].dtype, 9);
        CHECK_OK(THTensor_random(t, generator));
        check_numbers(t, cases[k].th, 9, 0);
        /* PyTorch draws two words for 64 bits. */
        if (cases[k].torch) check_numbers(t, cases[k].torch, 9, 0);
        THTensor_free(t);
        THGenerator_free(generator);
    }
    THGenerator *generator = seeded();
    for (THDtype dtype = TH_INT8; dtype <= TH_FLOAT64; dtype++) {
        THTensor *t = THTensor_newWithSize1d(dtype, 9);
        CHECK_OK(THRandom_manualSeed(generator, 123));
        CHECK_OK(THTensor_clampedRandom(t, generator, -5, 100));
        CHECK_NUMBERS(t, th_clamped, 0);
        CHECK_NUMBERS(t, torch_clamped, 0);
        THTensor_free(t);
    }
    THGenerator_free(generator);
}

static void samples_are_those_of_TH(void) {
    THGenerator *generator = seeded();
    THTensor *t = THTensor_new(), *p = vector_of(TH_FLOAT64, 0.1, 0, 0.4, 0.2, 0.3, 0.05);
    CHECK_OK(THTensor_randperm(t, generator, 9));
    CHECK_NUMBERS(t, th_randperm, 0);
    CHECK_NUMBERS(t, torch_randperm, 0);
    CHECK_OK(THRandom_manualSeed(generator, 123));
    CHECK_OK(THTensor_multinomial(t, generator, p, 9, 1));
    CHECK_NUMBERS(t, th_multinomial, 0);
    CHECK_OK(THRandom_manualSeed(generator, 123));
    CHECK_OK(THTensor_multinomial(t, generator, p, 5, 0));
    CHECK_NUMBERS(t, th_multinomial_once, 0);
    THTensor_free(p);
    THTensor_free(t);
    THGenerator_free(generator);
}

/* PyTorch computes other numbers from the same words: uniform uses 53 bits for a float64, and randn orders its pairs
 * differently. */
static void uniform_and_normal_are_not_those_of_PyTorch(void) {
    THGenerator *generator = seeded();
    double first = THRandom_uniform(generator, 0, 1);
    CHECK(first != torch_rand[0] && first != torch_rand[1]);
    CHECK_OK(THRandom_manualSeed(generator, 123));
    CHECK(fabs(THRandom_normal(generator, 0, 1) - torch_randn[0]) > 1e-6);
    THGenerator_free(generator);
}

/* A state has the bytes of TH's struct, which is also the beginning of PyTorch's state. */
static void states_are_those_of_TH(void) {
    THGenerator *generator = THGenerator_newKind(TH_MT19937);
    THTensor *torch = THTensor_newFromData(TH_UINT8, SIZES(sizeof torch_state), torch_state), *state = THTensor_new();
    CHECK_OK(THTensor_setRNGState(generator, torch));
    CHECK_EQ(THRandom_initialSeed(generator), 123);
    THTensor *t = THTensor_newWithSize1d(TH_INT32, 9);
    CHECK_OK(THTensor_random(t, generator));
    CHECK_NUMBERS(t, torch_after_state, 0);

    CHECK_OK(THRandom_manualSeed(generator, 123));
    THTensor *many = THTensor_newWithSize1d(TH_INT32, 700);
    CHECK_OK(THTensor_random(many, generator));
    CHECK_OK(THTensor_getRNGState(generator, state));
    CHECK_SHAPE(state, sizeof torch_state);
    CHECK(memcmp(THTensor_data(state), torch_state, sizeof torch_state) == 0);
    THTensor_free(many);
    THTensor_free(t);
    THTensor_free(state);
    THTensor_free(torch);
    THGenerator_free(generator);
}

CHECK_MAIN(CASE(numbers_are_those_of_TH), CASE(single_numbers_are_those_of_TH_too), CASE(half_a_pair_waits),
           CASE(strides_do_not_matter), CASE(random_integers_are_those_of_TH), CASE(samples_are_those_of_TH),
           CASE(uniform_and_normal_are_not_those_of_PyTorch), CASE(states_are_those_of_TH))
