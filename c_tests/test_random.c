/* Random numbers that fill tensors. test_distribution.c tests the distributions. */

#include "check.h"

/* Distributions: a mean of n draws misses the expected value by more than five standard errors once in two million
 * times; with fixed seeds the outcome is always the same. */

struct moments {
    double mean, variance, least, greatest, beyond_one;
};

static struct moments moments_of(const THTensor *t) {
    struct moments m = {0, 0, INFINITY, -INFINITY, 0};
    int64_t n = THTensor_nElement(t);
    for (int64_t i = 0; i < n; i++) {
        double x = THTensor_get1d(t, i);
        m.mean += x / (double)n;
        m.variance += x * x / (double)n;
        m.beyond_one += (fabs(x) > 1) / (double)n;
        if (x < m.least) m.least = x;
        if (!(x <= m.greatest)) m.greatest = x;
    }
    m.variance -= m.mean * m.mean;
    return m;
}

static void uniform_numbers_are_spread_evenly(void) {
    const int64_t n = shrunk(200000) + 300;
    CHECK_OK(THRandom_manualSeed(NULL, 1));
    for (THDtype dtype = TH_FLOAT16; dtype <= TH_FLOAT64; dtype++) {
        THTensor *t = THTensor_newWithSize1d(dtype, n);
        CHECK_OK(THTensor_uniform(t, NULL, -1, 3));
        struct moments m = moments_of(t);
        CHECK(m.least >= -1 && m.greatest < 3);
        CHECK(m.least < -0.9 && m.greatest > 2.9);
        /* The variance of uniform numbers in a range of 4 is 4^2 / 12, and its error 4^4 / 180. 16-bit floats below 3
         * are `grid` apart. */
        double grid = dtype == TH_BFLOAT16 ? 0x1p-6 : dtype == TH_FLOAT16 ? 0x1p-9 : 0;
        CHECK_NEAR(m.mean, 1, 5 * sqrt(16.0 / 12 / (double)n) + grid);
        CHECK_NEAR(m.variance, 16.0 / 12, 5 * sqrt(256.0 / 180 / (double)n) + grid);
        THTensor_free(t);
    }
}

static void normal_numbers_are_bell_shaped(void) {
    const int64_t n = shrunk(200000) + 300;
    CHECK_OK(THRandom_manualSeed(NULL, 2));
    for (THDtype dtype = TH_FLOAT16; dtype <= TH_FLOAT64; dtype++) {
        THTensor *t = THTensor_newWithSize1d(dtype, n), *scaled = THTensor_newWithSize1d(dtype, n);
        CHECK_OK(THTensor_normal(t, NULL, 0, 1));
        struct moments m = moments_of(t);
        /* 31.7 % are more than one standard deviation from the mean; at that distance bfloat16 numbers are 2^-7
         * apart. */
        double bias = dtype == TH_BFLOAT16 ? 0x1p-7 : dtype == TH_FLOAT16 ? 0x1p-10 : 0;
        CHECK_NEAR(m.mean, 0, 5 * sqrt(1 / (double)n));
        CHECK_NEAR(m.variance, 1, 5 * sqrt(2 / (double)n) + bias);
        CHECK_NEAR(m.beyond_one, 0.31731, 5 * sqrt(0.317 * 0.683 / (double)n) + bias);
        CHECK(m.greatest > 2.5 && m.greatest < 10 && m.least < -2.5 && m.least > -10);
        CHECK_OK(THTensor_normal(scaled, NULL, 10, 0.5));
        m = moments_of(scaled);
        CHECK_NEAR(m.mean, 10, 5 * sqrt(0.25 / (double)n) + bias);
        CHECK_NEAR(m.variance, 0.25, 5 * sqrt(2 * 0.0625 / (double)n) + bias);
        THTensor_free(scaled);
        THTensor_free(t);
    }
}

static void neighbours_are_independent(void) {
    const int64_t n = shrunk(200000) + 300;
    CHECK_OK(THRandom_manualSeed(NULL, 3));
    THTensor *t = THTensor_newWithSize1d(TH_FLOAT64, n), *product = THTensor_new();
    CHECK_OK(THTensor_normal(t, NULL, 0, 1));
    for (int64_t lag = 1; lag <= 64; lag *= 2) {
        THTensor *early = THTensor_newNarrow(t, 0, 0, n - lag), *late = THTensor_newNarrow(t, 0, lag, n - lag);
        CHECK_OK(THTensor_cmul(product, early, late));
        CHECK_NEAR(THTensor_meanall(product), 0, 5 * sqrt(1 / (double)(n - lag)));
        THTensor_free(late);
        THTensor_free(early);
    }
    THTensor_free(product);
    THTensor_free(t);
}

/* The same numbers */

static THStatus exponential(THTensor *r, THGenerator *generator, double a, double b) {
    return THTensor_exponential(r, generator, b - a);
}

static THStatus bernoulli(THTensor *r, THGenerator *generator, double a, double b) {
    return THTensor_bernoulli(r, generator, 1 / (b - a));
}

static THStatus poisson(THTensor *r, THGenerator *generator, double a, double b) {
    return THTensor_poisson(r, generator, b - a);
}

static THStatus integers(THTensor *r, THGenerator *generator, double a, double b) {
    return THTensor_clampedRandom(r, generator, (int64_t)a, (int64_t)b);
}

static void numbers_do_not_depend_on_the_number_of_threads(void) {
    const int64_t n = shrunk(50000) + 7;
    const int threads_before = THGetNumThreads();
    static THStatus (*const fills[])(THTensor *, THGenerator *, double, double) = {
        THTensor_uniform, THTensor_normal, THTensor_cauchy, THTensor_logNormal, exponential, bernoulli, poisson, integers};
    for (int k = 0; k < 32; k++) {
        THDtype dtype = TH_FLOAT16 + k / 8;
        THTensor *alone = THTensor_newWithSize1d(dtype, n), *together = THTensor_newWithSize1d(dtype, n);
        CHECK_OK(THSetNumThreads(1));
        CHECK_OK(THRandom_manualSeed(NULL, 9));
        CHECK_OK(fills[k % 8](alone, NULL, -2, 3));
        CHECK_OK(THSetNumThreads(5));
        CHECK_OK(THRandom_manualSeed(NULL, 9));
        CHECK_OK(fills[k % 8](together, NULL, -2, 3));
        CHECK(memcmp(THTensor_data(alone), THTensor_data(together), (size_t)n * THDtype_size(dtype)) == 0);
        THTensor_free(together);
        THTensor_free(alone);
    }
    CHECK_OK(THSetNumThreads(threads_before));
}

static void numbers_do_not_depend_on_strides(void) {
    for (THDtype dtype = TH_FLOAT16; dtype <= TH_FLOAT64; dtype++) {
        THTensor *plain = zeros_laid_out(dtype, 9, 11, ROW_MAJOR), *equal = THTensor_new();
        CHECK_OK(THRandom_manualSeed(NULL, 11));
        CHECK_OK(THTensor_normal(plain, NULL, 0, 1));
        for (enum layout layout = TRANSPOSED; layout < LAYOUTS; layout++) {
            THTensor *t = zeros_laid_out(dtype, 9, 11, layout);
            CHECK_OK(THRandom_manualSeed(NULL, 11));
            CHECK_OK(THTensor_normal(t, NULL, 0, 1));
            CHECK_OK(THTensor_eqTensor(equal, t, plain));
            CHECK_NEAR(THTensor_sumall(equal), 99, 0);
            THTensor_free(t);
        }
        THTensor_free(equal);
        THTensor_free(plain);
    }
}

/* Arguments */

static void degenerate_distributions_are_constant(void) {
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(100)), *none = THTensor_newZeros(TH_FLOAT32, SIZES(0));
    CHECK_OK(THTensor_uniform(t, NULL, 2.5, 2.5));
    CHECK_NEAR(THTensor_minall(t), 2.5, 0);
    CHECK_NEAR(THTensor_maxall(t), 2.5, 0);
    CHECK_OK(THTensor_normal(t, NULL, -3, 0));
    CHECK_NEAR(THTensor_minall(t), -3, 0);
    CHECK_NEAR(THTensor_maxall(t), -3, 0);
    CHECK_OK(THTensor_uniform(none, NULL, 0, 1));
    THTensor_free(none);
    THTensor_free(t);
}

static void wide_ranges_stay_in_bounds(void) {
    THTensor *singles = THTensor_newWithSize1d(TH_FLOAT32, 1000), *doubles = THTensor_newWithSize1d(TH_FLOAT64, 1000);
    CHECK_OK(THTensor_uniform(singles, NULL, -3e38, 3e38));
    CHECK(THTensor_minall(singles) >= -3e38f && THTensor_maxall(singles) <= 3e38f);
    CHECK(THTensor_minall(singles) < -1e38 && THTensor_maxall(singles) > 1e38);
    CHECK_OK(THTensor_uniform(doubles, NULL, -8e307, 8e307));
    CHECK(THTensor_minall(doubles) >= -8e307 && THTensor_maxall(doubles) < 8e307);
    /* Every number of this range is one of its ends, and the upper end is excluded. */
    CHECK_OK(THTensor_uniform(singles, NULL, 16777216, 16777218));
    CHECK_NEAR(THTensor_maxall(singles), 16777216, 0);
    THTensor_free(doubles);
    THTensor_free(singles);
}

static void new_tensors_have_the_numbers_of_fills(void) {
    static const THDtype floats[] = {TH_FLOAT16, TH_BFLOAT16, TH_FLOAT32, TH_FLOAT64};
    THGenerator *g = THGenerator_new();
    for (int k = 0; k < 8; k++) {
        const THDtype dtype = floats[k / 2];
        CHECK_OK(THRandom_manualSeed(g, 7));
        THTensor *made = k % 2 ? THTensor_newRandn(dtype, g, SIZES(30, 40)) : THTensor_newRand(dtype, g, SIZES(30, 40));
        THTensor *filled = THTensor_newWithSize2d(dtype, 30, 40);
        CHECK_OK(THRandom_manualSeed(g, 7));
        CHECK_OK(k % 2 ? THTensor_normal(filled, g, 0, 1) : THTensor_uniform(filled, g, 0, 1));
        CHECK_EQ(THTensor_dtype(made), dtype);
        CHECK(THTensor_equal(made, filled));
        CHECK(k % 2 || (THTensor_minall(made) >= 0 && THTensor_maxall(made) < 1));
        THTensor_free(filled);
        THTensor_free(made);
    }
    THGenerator_free(g);
    THTensor *own = THTensor_newRand(TH_FLOAT32, NULL, 0, NULL);
    CHECK_EQ(THTensor_nElement(own), 1);
    THTensor_free(own);
    CHECK_FAILURE(THTensor_newRand(TH_INT64, NULL, SIZES(2)) == NULL, TH_ERR_DTYPE, "int64");
    CHECK_FAILURE(THTensor_newRandn(TH_FLOAT32, NULL, SIZES(-2)) == NULL, TH_ERR_SHAPE, "-2");
}

static void what_is_no_distribution_is_an_error(void) {
    THTensor *t = THTensor_newOnes(TH_FLOAT32, SIZES(2)), *ints = vector_of(TH_INT64, 1, 2), *fresh = THTensor_new();
    THTensor *expanded = THTensor_newExpand(t, SIZES(3, 2));
    CHECK_ERROR(THTensor_uniform(t, NULL, 1, 0), TH_ERR_ARGUMENT, "expected bounds in order, got 1 and 0");
    CHECK_ERROR(THTensor_uniform(t, NULL, -1.7e308, 1.7e308), TH_ERR_ARGUMENT, "expected bounds with a finite distance, got -1.7e308 and 1.7e308");
    CHECK_ERROR(THTensor_uniform(t, NULL, NAN, 1), TH_ERR_ARGUMENT, "THTensor_uniform: expected finite bounds");
    CHECK_ERROR(THTensor_uniform(t, NULL, 0, INFINITY), TH_ERR_ARGUMENT, "THTensor_uniform");
    CHECK_ERROR(THTensor_normal(t, NULL, 0, -1), TH_ERR_ARGUMENT, "-1");
    CHECK_ERROR(THTensor_normal(t, NULL, NAN, 1), TH_ERR_ARGUMENT, "THTensor_normal");
    CHECK_ERROR(THTensor_uniform(ints, NULL, 0, 1), TH_ERR_DTYPE, "int64");
    CHECK_ERROR(THTensor_normal(fresh, NULL, 0, 1), TH_ERR_DTYPE, "no dtype yet");
    CHECK_ERROR(THTensor_normal(expanded, NULL, 0, 1), TH_ERR_SHAPE, "share one element");
    CHECK_VALUES(t, 1, 1);
    THTensor_free(expanded);
    THTensor_free(fresh);
    THTensor_free(ints);
    THTensor_free(t);
}

CHECK_MAIN(CASE(uniform_numbers_are_spread_evenly), CASE(normal_numbers_are_bell_shaped),
           CASE(neighbours_are_independent), CASE(numbers_do_not_depend_on_the_number_of_threads),
           CASE(numbers_do_not_depend_on_strides), CASE(degenerate_distributions_are_constant),
           CASE(wide_ranges_stay_in_bounds), CASE(new_tensors_have_the_numbers_of_fills),
           CASE(what_is_no_distribution_is_an_error))
