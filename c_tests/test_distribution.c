/* Every distribution, for both kinds of generators. Real numbers are tested by Kolmogorov and Smirnov's test, integers
 * by Pearson's. Invalid parameters are refused. By chance a limit is exceeded once in ten thousand times, and with
 * fixed seeds always or never. */

#include "check.h"

static const THGeneratorKind kinds[] = {TH_PHILOX, TH_MT19937};

static THGenerator *seeded(THGeneratorKind kind, uint64_t seed) {
    THGenerator *generator = THGenerator_newKind(kind);
    CHECK_OK(THRandom_manualSeed(generator, seed));
    return generator;
}

/* Real numbers */

static double normal_below(double x) { return 0.5 * erfc(-x / sqrt(2)); }

/* The tested distributions: a function that draws, and the cumulative distribution function. */

static THStatus draw_uniform(THTensor *r, THGenerator *g) { return THTensor_uniform(r, g, -1, 3); }
static double below_uniform(double x) { return (x + 1) / 4; }

static THStatus draw_normal(THTensor *r, THGenerator *g) { return THTensor_normal(r, g, 2, 3); }
static double below_normal(double x) { return normal_below((x - 2) / 3); }

static THStatus draw_exponential(THTensor *r, THGenerator *g) { return THTensor_exponential(r, g, 0.5); }
static double below_exponential(double x) { return -expm1(-0.5 * x); }

static THStatus draw_cauchy(THTensor *r, THGenerator *g) { return THTensor_cauchy(r, g, 1, 2); }
static double below_cauchy(double x) { return 0.5 + atan((x - 1) / 2) / M_PI; }

static THStatus draw_log_normal(THTensor *r, THGenerator *g) { return THTensor_logNormal(r, g, 0.5, 0.25); }
static double below_log_normal(double x) { return normal_below((log(x) - 0.5) / 0.25); }

/* The gamma distribution of shape 3 is the sum of three exponentials: x is exceeded if fewer than three events of a
 * Poisson process have occurred before. */
static THStatus draw_gamma_3(THTensor *r, THGenerator *g) { return THTensor_gamma(r, g, 3, 2); }
static double below_gamma_3(double x) { return 1 - exp(-x / 2) * (1 + x / 2 + x * x / 8); }

/* The gamma distribution of shape 1/2 is half the square of a normal number. */
static THStatus draw_gamma_half(THTensor *r, THGenerator *g) { return THTensor_gamma(r, g, 0.5, 1); }
static double below_gamma_half(double x) { return erf(sqrt(x)); }

static THStatus draw_beta(THTensor *r, THGenerator *g) { return THTensor_beta(r, g, 2, 3); }
static double below_beta(double x) { return x * x * (6 - 8 * x + 3 * x * x); }

/* The arcsine distribution. */
static THStatus draw_beta_halves(THTensor *r, THGenerator *g) { return THTensor_beta(r, g, 0.5, 0.5); }
static double below_beta_halves(double x) { return 2 / M_PI * asin(sqrt(x)); }

static THStatus draw_beta_small(THTensor *r, THGenerator *g) { return THTensor_beta(r, g, 0.1, 1); }
static double below_beta_small(double x) { return pow(x, 0.1); }

static double truncated_below(double x, double from, double to) {
    return (normal_below(x) - normal_below(from)) / (normal_below(to) - normal_below(from));
}

static THStatus draw_truncated_wide(THTensor *r, THGenerator *g) { return THTensor_truncNormal(r, g, 1, 2, -3, 5); }
static double below_truncated_wide(double x) { return truncated_below((x - 1) / 2, -2, 2); }
static THStatus draw_truncated_narrow(THTensor *r, THGenerator *g) { return THTensor_truncNormal(r, g, 0, 1, -0.5, 1); }
static double below_truncated_narrow(double x) { return truncated_below(x, -0.5, 1); }
static THStatus draw_truncated_tail(THTensor *r, THGenerator *g) {
    return THTensor_truncNormal(r, g, 0, 1, -INFINITY, -4);
}
static double below_truncated_tail(double x) { return erfc(-x / sqrt(2)) / erfc(4 / sqrt(2)); }
static THStatus draw_truncated_slice(THTensor *r, THGenerator *g) { return THTensor_truncNormal(r, g, 0, 1, 2, 2.3); }
static double below_truncated_slice(double x) { return truncated_below(x, 2, 2.3); }

static const struct {
    const char *name;
    THStatus (*draw)(THTensor *r, THGenerator *g);
    double (*below)(double x);
    double least, greatest;
} reals[] = {
    {"uniform", draw_uniform, below_uniform, -1, 3},
    {"normal", draw_normal, below_normal, -INFINITY, INFINITY},
    {"exponential", draw_exponential, below_exponential, 0, INFINITY},
    {"cauchy", draw_cauchy, below_cauchy, -INFINITY, INFINITY},
    {"logNormal", draw_log_normal, below_log_normal, 0, INFINITY},
    {"gamma of shape 3", draw_gamma_3, below_gamma_3, 0, INFINITY},
    {"gamma of shape 1/2", draw_gamma_half, below_gamma_half, 0, INFINITY},
    {"beta", draw_beta, below_beta, 0, 1},
    {"beta of halves", draw_beta_halves, below_beta_halves, 0, 1},
    {"beta of a small number", draw_beta_small, below_beta_small, 0, 1},
    {"normal within two deviations", draw_truncated_wide, below_truncated_wide, -3, 5},
    {"normal in a narrow interval", draw_truncated_narrow, below_truncated_narrow, -0.5, 1},
    {"normal below four deviations", draw_truncated_tail, below_truncated_tail, -INFINITY, -4},
    {"normal in a slice of the tail", draw_truncated_slice, below_truncated_slice, 2, 2.3},
};

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The largest distance between the empirical and the expected cumulative distribution, times the root of n. It exceeds
 * 2.23 once in ten thousand times. */
static double kolmogorov_smirnov(double *x, int64_t n, double (*below)(double)) {
    double distance = 0;
    qsort(x, (size_t)n, sizeof *x, ascending);
    for (int64_t i = 0; i < n; i++) {
        double share = below(x[i]);
        distance = fmax(distance, fmax(share - (double)i / (double)n, (double)(i + 1) / (double)n - share));
    }
    return distance * sqrt((double)n);
}

static void real_numbers_have_their_distributions(void) {
    const int64_t n = shrunk(20000) + 100;
    for (size_t d = 0; d < sizeof reals / sizeof *reals; d++) {
        for (int k = 0; k < 4; k++) {
            THGenerator *generator = seeded(kinds[k % 2], 10 + d);
            THTensor *t = THTensor_newWithSize1d(k < 2 ? TH_FLOAT64 : TH_FLOAT32, n);
            CHECK_OK(reals[d].draw(t, generator));
            CHECK(THTensor_minall(t) >= reals[d].least && THTensor_maxall(t) <= reals[d].greatest);
            THTensor *doubles = THTensor_newTo(t, TH_FLOAT64);
            double distance = kolmogorov_smirnov(THTensor_data(doubles), n, reals[d].below);
            if (!CHECK(distance < 2.23)) printf("\n  %s: %g, generator %d", reals[d].name, distance, k);
            THTensor_free(doubles);
            THTensor_free(t);
            THGenerator_free(generator);
        }
    }
}

/* 16-bit floats are float32 numbers, rounded. */
static void half_floats_are_the_numbers_rounded(void) {
    for (size_t d = 1; d < sizeof reals / sizeof *reals; d++) {
        for (int k = 0; k < 4; k++) {
            THDtype dtype = k < 2 ? TH_FLOAT16 : TH_BFLOAT16;
            THGenerator *generator = seeded(kinds[k % 2], d), *same = seeded(kinds[k % 2], d);
            THTensor *halves = THTensor_newWithSize1d(dtype, 100), *floats = THTensor_newWithSize1d(TH_FLOAT32, 100);
            CHECK_OK(reals[d].draw(halves, generator));
            CHECK_OK(reals[d].draw(floats, same));
            for (int i = 0; i < 100; i++) {
                double x = element_at(floats, i), y = element_at(halves, i);
                CHECK(isinf(y) || fabs(x - y) <= fabs(x) * (dtype == TH_FLOAT16 ? 0x1p-11 : 0x1p-8) + 0x1p-24);
            }
            THTensor_free(floats);
            THTensor_free(halves);
            THGenerator_free(same);
            THGenerator_free(generator);
        }
    }
}

static void check_between(THTensor *t, double low, double high) {
    CHECK(THTensor_minall(t) > low && THTensor_maxall(t) < high);
}

/* The ends of an open interval are never drawn. With these seeds a word of all ones, or of zeros, is among the first. */
static void open_intervals_lack_their_ends(void) {
    static const THDtype floats[] = {TH_FLOAT32, TH_FLOAT16, TH_BFLOAT16, TH_FLOAT64};
    static const uint64_t ones[2][4] = {{4696, 13045, 22905, 25665}, {8138, 10694, 28571, 31957}};
    for (int k = 0; k < 2 * 4 * 4; k++) {
        THGenerator *g = seeded(kinds[k % 2], ones[k % 2][k / 8]);
        THTensor *t = THTensor_newWithSize1d(floats[k / 2 % 4], 6400), *small = vector_of(TH_FLOAT64, 1e-3);
        THTensor *shapes = THTensor_newExpand(small, SIZES(100));
        CHECK_OK(THTensor_exponential(t, g, 1));
        check_between(t, 0, INFINITY);
        CHECK_OK(THRandom_manualSeed(g, ones[k % 2][k / 8]));
        CHECK_OK(THTensor_uniform(t, g, 0, 1));
        CHECK(THTensor_maxall(t) < 1);
        CHECK_OK(THTensor_uniform(t, g, 1e4, 1e4 + 1e-10));
        CHECK(k / 2 % 4 != 3 || THTensor_maxall(t) < 1e4 + 1e-10);
        CHECK_OK(THTensor_exponential(t, g, 1e300));
        check_between(t, 0, 1e-7);
        CHECK_OK(THTensor_logNormal(t, g, -800, 1));
        check_between(t, 0, 1e-7);
        CHECK_OK(THTensor_gamma(t, g, 1e-3, 1));
        check_between(t, 0, INFINITY);
        CHECK_OK(THTensor_beta(t, g, 1e-3, 1e-3));
        check_between(t, 0, 1);
        CHECK_OK(THTensor_resize1d(t, 100));
        CHECK_OK(THTensor_gammaTensor(t, g, shapes, shapes));
        CHECK_OK(THTensor_betaTensor(t, g, shapes, shapes));
        CHECK(THTensor_dtype(t) != TH_FLOAT64 || THTensor_minall(t) > 0);
        CHECK(THTensor_dtype(t) != TH_FLOAT64 || THTensor_maxall(t) < 1);
        THTensor_free(shapes);
        THTensor_free(small);
        THTensor_free(t);
        THGenerator_free(g);
    }
}

/* Integers */

static THStatus draw_bernoulli(THTensor *r, THGenerator *g) { return THTensor_bernoulli(r, g, 0.3); }
static double share_bernoulli(int k) { return k == 0 ? 0.7 : k == 1 ? 0.3 : 0; }

static THStatus draw_geometric(THTensor *r, THGenerator *g) { return THTensor_geometric(r, g, 0.8); }
static double share_geometric(int k) { return k < 1 ? 0 : pow(0.8, k - 1) * 0.2; }

static double poisson_share(double rate, int k) { return exp(k * log(rate) - rate - lgamma(k + 1)); }
static THStatus draw_poisson(THTensor *r, THGenerator *g) { return THTensor_poisson(r, g, 3.5); }
static double share_poisson(int k) { return poisson_share(3.5, k); }
static THStatus draw_poisson_large(THTensor *r, THGenerator *g) { return THTensor_poisson(r, g, 40); }
static double share_poisson_large(int k) { return poisson_share(40, k); }

static double binomial_share(int n, double p, int k) {
    return k > n ? 0 : exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p));
}
static THStatus draw_binomial(THTensor *r, THGenerator *g) { return THTensor_binomial(r, g, 20, 0.2); }
static double share_binomial(int k) { return binomial_share(20, 0.2, k); }
static THStatus draw_binomial_large(THTensor *r, THGenerator *g) { return THTensor_binomial(r, g, 90, 0.6); }
static double share_binomial_large(int k) { return binomial_share(90, 0.6, k); }

static THStatus draw_clamped(THTensor *r, THGenerator *g) { return THTensor_clampedRandom(r, g, 3, 103); }
static double share_clamped(int k) { return k >= 3 && k < 103 ? 0.01 : 0; }
static THStatus draw_capped(THTensor *r, THGenerator *g) { return THTensor_cappedRandom(r, g, 7); }
static double share_capped(int k) { return k < 7 ? 1.0 / 7 : 0; }

#define MOST 128

static const struct {
    const char *name;
    THStatus (*draw)(THTensor *r, THGenerator *g);
    double (*share)(int k);
} wholes[] = {
    {"bernoulli", draw_bernoulli, share_bernoulli},
    {"geometric", draw_geometric, share_geometric},
    {"poisson", draw_poisson, share_poisson},
    {"poisson of a large rate", draw_poisson_large, share_poisson_large},
    {"binomial", draw_binomial, share_binomial},
    {"binomial of many trials", draw_binomial_large, share_binomial_large},
    {"clampedRandom", draw_clamped, share_clamped},
    {"cappedRandom", draw_capped, share_capped},
};

/* Pearson's statistic of counts and expected numbers, in standard deviations above its mean. Values that are expected
 * fewer than ten times are counted together. */
static double pearson(const int64_t *counts, double (*share)(int), int64_t n) {
    double sum = 0, together = 0, rare = 0;
    int groups = 0;
    for (int k = 0; k < MOST; k++) {
        together += share(k) * (double)n;
        rare += (double)counts[k];
        if (share(k) == 0 && counts[k] > 0) return INFINITY;
        if (together < 10) continue;
        sum += (rare - together) * (rare - together) / together;
        groups++;
        together = rare = 0;
    }
    return (sum - (groups - 1)) / sqrt(2.0 * groups);
}

static void whole_numbers_have_their_distributions(void) {
    const int64_t n = shrunk(40000) + 1000;
    for (size_t d = 0; d < sizeof wholes / sizeof *wholes; d++) {
        for (int k = 0; k < 2 * 4; k++) {
            static const THDtype some[] = {TH_INT64, TH_FLOAT32, TH_UINT8, TH_INT16};
            THGenerator *generator = seeded(kinds[k % 2], 30 + d);
            THTensor *t = THTensor_newWithSize1d(some[k / 2], n);
            int64_t counts[MOST] = {0};
            CHECK_OK(wholes[d].draw(t, generator));
            CHECK(THTensor_minall(t) >= 0 && THTensor_maxall(t) < MOST);
            for (int64_t i = 0; i < n; i++) counts[(int)THTensor_get1d(t, i) & (MOST - 1)]++;
            double excess = pearson(counts, wholes[d].share, n);
            if (!CHECK(excess < 5)) printf("\n  %s: %g, case %d", wholes[d].name, excess, k);
            THTensor_free(t);
            THGenerator_free(generator);
        }
    }
}

/* The mean and the spread of distributions whose numbers have up to 16 digits, of which only the last ones differ. */
static void great_numbers_have_their_spread(void) {
    static const double rates[] = {1e5, 1e10, 1e15, 1e18}, trials[] = {1e6, 1e12, 0x1p53};
    const int64_t n = shrunk(20000) + 5000;
    THTensor *t = THTensor_newWithDtype(TH_FLOAT64);
    CHECK_OK(THTensor_resize1d(t, n));
    for (int k = 0; k < 4 + 2 * 3; k++) {
        THGenerator *generator = seeded(kinds[k % 2], 70 + k);
        double p = k % 2 ? 0.5 : 0.03, count = trials[k % 3];
        double mean = k < 4 ? rates[k] : count * p, spread = sqrt(k < 4 ? mean : mean * (1 - p));
        CHECK_OK(k < 4 ? THTensor_poisson(t, generator, mean) : THTensor_binomial(t, generator, count, p));
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < n; i++) {
            double off = (THTensor_get1d(t, i) - mean) / spread;
            sum += off;
            squares += off * off;
        }
        CHECK_NEAR(sum / sqrt((double)n), 0, 5);
        CHECK_NEAR((squares - (double)n) / sqrt(2.0 * (double)n), 0, 5);
        THGenerator_free(generator);
    }
    THTensor_free(t);
}

static void random_reaches_to_the_greatest_of_the_dtype(void) {
    static const double most[DTYPES] = {255, 127, 32767, 0x1p31 - 1, 0x1p63, 0x1p11, 0x1p8, 0x1p24, 0x1p53, 1};
    for (int k = 0; k < DTYPES; k++) {
        THGenerator *generator = seeded(TH_PHILOX, 4);
        THTensor *t = THTensor_newWithSize1d(dtypes[k], 3000);
        CHECK_OK(THTensor_random(t, generator));
        THTensor *integers = THTensor_newTo(t, TH_FLOAT64);
        CHECK(THTensor_minall(integers) >= 0 && THTensor_maxall(integers) <= most[k]);
        CHECK(THTensor_maxall(integers) > 0.98 * most[k] && THTensor_minall(integers) < 0.02 * most[k]);
        CHECK_NEAR(THTensor_meanall(integers) / most[k], 0.5, 5 * sqrt(0.25 / 3000));
        THTensor_free(integers);
        THTensor_free(t);
        THGenerator_free(generator);
    }
}

/* Ranges from the shortest to the longest. */
static void ranges_keep_to_their_ends(void) {
    static const int64_t ends[][2] = {
        {5, 6}, {-3, 4}, {0, 1 << 24}, {-1, 1 << 24}, {-7, (int64_t)1 << 33}, {INT64_MIN, INT64_MAX}};
    for (int k = 0; k < 2; k++) {
        for (size_t r = 0; r < sizeof ends / sizeof *ends; r++) {
            THGenerator *generator = seeded(kinds[k], 6);
            THTensor *t = THTensor_newWithSize1d(TH_INT64, 2000);
            CHECK_OK(THTensor_clampedRandom(t, generator, ends[r][0], ends[r][1]));
            const int64_t *x = THTensor_data(t);
            double width = (double)ends[r][1] - (double)ends[r][0], mean = 0;
            for (int i = 0; i < 2000; i++) {
                CHECK(x[i] >= ends[r][0] && x[i] < ends[r][1]);
                mean += ((double)x[i] - (double)ends[r][0]) / width / 2000;
            }
            if (width > 1) CHECK_NEAR(mean, 0.5 - 0.5 / width, 5 * sqrt(1.0 / 12 / 2000));
            THTensor_free(t);
            THGenerator_free(generator);
        }
    }
}

/* Parameters in tensors */

static void each_element_has_its_own_parameters(void) {
    const int64_t n = shrunk(20000) + 1000;
    for (int k = 0; k < 2; k++) {
        THGenerator *generator = seeded(kinds[k], 50);
        THTensor *column = matrix_of(TH_FLOAT64, 3, 0.5, 2, 20), *wide = THTensor_newExpand(column, SIZES(3, n));
        THTensor *half = vector_of(TH_FLOAT32, 0.5), *share = matrix_of(TH_FLOAT64, 3, 0, 0.25, 1);
        THTensor *shares = THTensor_newExpand(share, SIZES(3, n)), *r = THTensor_new(), *means = THTensor_new();
#define CHECK_MEANS(call, tolerance, ...)                                                                              \
    CHECK_OK(call);                                                                                                    \
    CHECK_SHAPE(r, 3, n);                                                                                              \
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT64);                                                                           \
    CHECK_OK(THTensor_mean(means, r, 1, 0));                                                                           \
    CHECK_CLOSE(means, 5 * (tolerance) / sqrt((double)n), __VA_ARGS__)
        CHECK_MEANS(THTensor_normal_means(r, generator, wide, 3), 3, 0.5, 2, 20);
        CHECK_MEANS(THTensor_normal_stddevs(r, generator, 7, wide), 20, 7, 7, 7);
        CHECK_MEANS(THTensor_normal_means_stddevs(r, generator, wide, half), 0.5, 0.5, 2, 20);
        CHECK_MEANS(THTensor_gammaTensor(r, generator, wide, half), 2.3, 0.25, 1, 10);
        CHECK_MEANS(THTensor_betaTensor(r, generator, wide, half), 0.4, 0.5, 0.8, 20 / 20.5);
        CHECK_MEANS(THTensor_poissonTensor(r, generator, wide), 4.5, 0.5, 2, 20);
        CHECK_MEANS(THTensor_bernoulliTensor(r, generator, shares), 0.5, 0, 0.25, 1);
        THTensor *trials = vector_of(TH_FLOAT64, 40);
        CHECK_MEANS(THTensor_binomialTensor(r, generator, trials, shares), 2.8, 0, 10, 40);
        THTensor_free(trials);
        THTensor_free(means);
        THTensor_free(r);
        THTensor_free(shares);
        THTensor_free(share);
        THTensor_free(half);
        THTensor_free(wide);
        THTensor_free(column);
        THGenerator_free(generator);
    }
}

/* The result may be the tensor of parameters, and may have an integer dtype if the numbers are integers. */
static void results_are_as_of_all_operations(void) {
    THTensor *p = vector_of(TH_FLOAT64, 0, 1, 1, 0), *integers = vector_of(TH_INT64, 7, 7), *fresh = THTensor_new();
    CHECK_OK(THTensor_bernoulliTensor(integers, NULL, p));
    CHECK_VALUES(integers, 0, 1, 1, 0);
    CHECK_OK(THTensor_bernoulliTensor(p, NULL, p));
    CHECK_VALUES(p, 0, 1, 1, 0);
    CHECK_OK(THTensor_normal_stddevs(p, NULL, 5, p));
    CHECK(THTensor_get1d(p, 0) == 5 && THTensor_get1d(p, 3) == 5 && THTensor_get1d(p, 1) != 5);
    THTensor *halves = THTensor_newZeros(TH_FLOAT16, SIZES(2, 2)), *scalar = THTensor_newScalar(TH_FLOAT32, 0);
    CHECK_OK(THTensor_poissonTensor(fresh, NULL, halves));
    CHECK_EQ(THTensor_dtype(fresh), TH_FLOAT16);
    CHECK_SHAPE(fresh, 2, 2);
    CHECK_OK(THTensor_normal_means(scalar, NULL, scalar, 0));
    CHECK_VALUES(scalar, 0);
    THTensor *none = THTensor_newZeros(TH_FLOAT32, SIZES(0, 3));
    CHECK_OK(THTensor_gammaTensor(fresh, NULL, none, none));
    CHECK_SHAPE(fresh, 0, 3);
    CHECK_OK(THTensor_exponential(none, NULL, 1));
    CHECK_OK(THTensor_poisson(none, NULL, 1));
    THTensor_free(none);
    THTensor_free(scalar);
    THTensor_free(halves);
    THTensor_free(fresh);
    THTensor_free(integers);
    THTensor_free(p);
}

/* Invalid parameters */

static void wrong_parameters_change_nothing(void) {
    for (int k = 0; k < 2; k++) {
        THGenerator *g = seeded(kinds[k], 70), *same = seeded(kinds[k], 70);
        THTensor *t = THTensor_newOnes(TH_FLOAT32, SIZES(2)), *bytes = THTensor_newOnes(TH_UINT8, SIZES(2));
        THTensor *bad = vector_of(TH_FLOAT64, 0.5, -0.25), *nan = vector_of(TH_FLOAT64, 0.5, NAN),
                 *above = vector_of(TH_FLOAT64, 0.5, 1.5);
        THTensor *expanded = THTensor_newExpand(t, SIZES(3, 2));
        CHECK_ERROR(THTensor_exponential(t, g, 0), TH_ERR_ARGUMENT, "a rate > 0, got 0");
        CHECK_ERROR(THTensor_exponential(t, g, NAN), TH_ERR_ARGUMENT, "NaN");
        CHECK_ERROR(THTensor_cauchy(t, g, 0, -1), TH_ERR_ARGUMENT, "-1");
        CHECK_ERROR(THTensor_cauchy(t, g, INFINITY, 1), TH_ERR_ARGUMENT, "median");
        CHECK_ERROR(THTensor_logNormal(t, g, 0, -2), TH_ERR_ARGUMENT, "-2");
        CHECK_ERROR(THTensor_geometric(t, g, 0), TH_ERR_ARGUMENT, "both excluded, got 0");
        CHECK_ERROR(THTensor_geometric(t, g, 1), TH_ERR_ARGUMENT, "got 1");
        CHECK_ERROR(THTensor_bernoulli(t, g, 1.25), TH_ERR_ARGUMENT, "between 0 and 1, got 1.25");
        CHECK_ERROR(THTensor_bernoulli(t, g, NAN), TH_ERR_ARGUMENT, "NaN");
        CHECK_ERROR(THTensor_gamma(t, g, 0, 1), TH_ERR_ARGUMENT, "a shape > 0, got 0");
        CHECK_ERROR(THTensor_gamma(t, g, 1, INFINITY), TH_ERR_ARGUMENT, "a scale > 0, got inf");
        CHECK_ERROR(THTensor_beta(t, g, 1, -1), TH_ERR_ARGUMENT, "got -1");
        CHECK_ERROR(THTensor_poisson(t, g, -1), TH_ERR_ARGUMENT, "a rate >= 0, got -1");
        CHECK_ERROR(THTensor_binomial(t, g, 2.5, 0.5), TH_ERR_ARGUMENT, "got 2.5");
        CHECK_ERROR(THTensor_binomial(t, g, 2, -0.5), TH_ERR_ARGUMENT, "got -0.5");
        CHECK_ERROR(THTensor_truncNormal(t, g, 0, 0, -1, 1), TH_ERR_ARGUMENT, "deviation > 0, got 0 and 0");
        CHECK_ERROR(THTensor_truncNormal(t, g, 0, 1, 2, 2), TH_ERR_ARGUMENT, "2 and 2");
        CHECK_ERROR(THTensor_cappedRandom(t, g, 0), TH_ERR_ARGUMENT, "0 to 0");
        CHECK_ERROR(THTensor_clampedRandom(t, g, 3, 2), TH_ERR_ARGUMENT, "3 to 2");
        CHECK_ERROR(THTensor_clampedRandom(bytes, g, 0, 257), TH_ERR_ARGUMENT, "256 is out of the range of uint8");
        CHECK_ERROR(THTensor_normal_stddevs(t, g, 0, bad), TH_ERR_ARGUMENT, "got -0.25");
        CHECK_ERROR(THTensor_normal_means_stddevs(t, g, t, nan), TH_ERR_ARGUMENT, "NaN");
        CHECK_ERROR(THTensor_normal_means(t, g, t, -1), TH_ERR_ARGUMENT, "-1");
        CHECK_ERROR(THTensor_bernoulliTensor(t, g, above), TH_ERR_ARGUMENT, "got 1.5");
        CHECK_ERROR(THTensor_poissonTensor(t, g, bad), TH_ERR_ARGUMENT, "got -0.25");
        CHECK_ERROR(THTensor_gammaTensor(t, g, above, bad), TH_ERR_ARGUMENT, "a scale > 0");
        CHECK_ERROR(THTensor_binomialTensor(t, g, above, above), TH_ERR_ARGUMENT, "trials");
        CHECK_ERROR(THTensor_betaTensor(t, g, nan, above), TH_ERR_ARGUMENT, "a shape > 0");
        /* Integer tensors can hold neither real numbers nor probabilities. */
        CHECK_ERROR(THTensor_exponential(bytes, g, 1), TH_ERR_DTYPE, "uint8");
        CHECK_ERROR(THTensor_gamma(bytes, g, 1, 1), TH_ERR_DTYPE, "uint8");
        CHECK_ERROR(THTensor_normal_means(bytes, g, t, 1), TH_ERR_DTYPE, "uint8");
        CHECK_ERROR(THTensor_bernoulliTensor(t, g, bytes), TH_ERR_DTYPE, "uint8");
        CHECK_ERROR(THTensor_poisson(expanded, g, 1), TH_ERR_SHAPE, "share one element");
        CHECK_ERROR(THTensor_random(expanded, g), TH_ERR_SHAPE, "share one element");
        CHECK_ERROR(THTensor_bernoulli(expanded, g, 0.5), TH_ERR_SHAPE, "share one element");
        CHECK_VALUES(t, 1, 1);
        CHECK_VALUES(bytes, 1, 1);
        CHECK_NEAR(THRandom_uniform(g, 0, 1), THRandom_uniform(same, 0, 1), 0);
        THTensor_free(expanded);
        THTensor_free(above);
        THTensor_free(nan);
        THTensor_free(bad);
        THTensor_free(bytes);
        THTensor_free(t);
        THGenerator_free(same);
        THGenerator_free(g);
    }
}

/* Parameters with one possible result, or nearly so. */
static void extreme_parameters_end(void) {
    for (int k = 0; k < 2; k++) {
        THGenerator *g = seeded(kinds[k], 80);
        THTensor *t = THTensor_newOnes(TH_FLOAT64, SIZES(50));
        CHECK_OK(THTensor_poisson(t, g, 0));
        CHECK_NEAR(THTensor_maxall(t), 0, 0);
        CHECK_OK(THTensor_poisson(t, g, 1e300));
        CHECK_NEAR(THTensor_meanall(t) / 1e300, 1, 1e-9);
        CHECK_OK(THTensor_binomial(t, g, 0, 0.5));
        CHECK_NEAR(THTensor_maxall(t), 0, 0);
        CHECK_OK(THTensor_binomial(t, g, 12, 1));
        CHECK_NEAR(THTensor_minall(t), 12, 0);
        CHECK_OK(THTensor_binomial(t, g, 0x1p53, 0.5));
        CHECK_NEAR(THTensor_meanall(t) / 0x1p52, 1, 1e-6);
        CHECK_OK(THTensor_binomial(t, g, 0x1p53, 0x1p-53));
        CHECK(THTensor_meanall(t) < 3);
        CHECK_OK(THTensor_gamma(t, g, 1e-200, 1));
        CHECK(THTensor_minall(t) >= 0 && THTensor_maxall(t) < 1);
        CHECK_OK(THTensor_gamma(t, g, 1e200, 1));
        CHECK_NEAR(THTensor_meanall(t) / 1e200, 1, 1e-9);
        CHECK_OK(THTensor_beta(t, g, 1e-200, 1e-200));
        CHECK(THTensor_minall(t) >= 0 && THTensor_maxall(t) <= 1);
        CHECK_OK(THTensor_truncNormal(t, g, 0, 1, 1e200, INFINITY));
        CHECK_NEAR(THTensor_minall(t), 1e200, 0);
        CHECK_OK(THTensor_geometric(t, g, 1 - 0x1p-53));
        CHECK(THTensor_minall(t) >= 1);
        CHECK_OK(THTensor_geometric(t, g, 1e-300));
        CHECK_NEAR(THTensor_maxall(t), 1, 0);
        if (k == 0) {
            CHECK_OK(THTensor_bernoulli(t, g, 0));
            CHECK_NEAR(THTensor_maxall(t), 0, 0);
            CHECK_OK(THTensor_bernoulli(t, g, 1));
            CHECK_NEAR(THTensor_minall(t), 1, 0);
        }
        THTensor_free(t);
        THGenerator_free(g);
    }
}

/* Bounds that the dtype cannot hold are refused: rounding or wrapping would exceed them. */
static void bounds_are_in_the_range_of_the_dtype(void) {
    THTensor *half = THTensor_newWithSize1d(TH_FLOAT16, 10), *byte = THTensor_newWithSize1d(TH_UINT8, 10);
    THTensor *truth = THTensor_newWithSize1d(TH_BOOL, 10), *single = THTensor_newWithSize1d(TH_FLOAT32, 10);
    CHECK_OK(THTensor_cappedRandom(half, NULL, 2049));
    CHECK_ERROR(THTensor_cappedRandom(half, NULL, 4096), TH_ERR_ARGUMENT, "4095 is out of the range of float16");
    CHECK_OK(THTensor_clampedRandom(byte, NULL, 0, 256));
    CHECK_ERROR(THTensor_clampedRandom(byte, NULL, -5, 5), TH_ERR_ARGUMENT, "-5 is out of the range of uint8");
    CHECK_ERROR(THTensor_cappedRandom(truth, NULL, 3), TH_ERR_ARGUMENT, "2 is out of the range of bool");
    CHECK_ERROR(THTensor_uniform(single, NULL, 0, 1e39), TH_ERR_ARGUMENT, "is out of the range of float32");
    CHECK_ERROR(THTensor_uniform(half, NULL, 0, 1e6), TH_ERR_ARGUMENT, "1000000 is out of the range of float16");
    /* The bound near the mean is the likely one, even if the other bound overflows. */
    THTensor_free(single);
    single = THTensor_newWithSize1d(TH_FLOAT64, 10);
    CHECK_OK(THTensor_truncNormal(single, NULL, 0, 1e-10, 1e308, 1.5e308));
    CHECK(THTensor_get1d(single, 3) == 1e308);
    THTensor_free(half);
    THTensor_free(byte);
    THTensor_free(truth);
    THTensor_free(single);
}

CHECK_MAIN(CASE(real_numbers_have_their_distributions), CASE(half_floats_are_the_numbers_rounded),
           CASE(open_intervals_lack_their_ends),
           CASE(whole_numbers_have_their_distributions), CASE(great_numbers_have_their_spread),
           CASE(random_reaches_to_the_greatest_of_the_dtype), CASE(ranges_keep_to_their_ends),
           CASE(bounds_are_in_the_range_of_the_dtype), CASE(each_element_has_its_own_parameters),
           CASE(results_are_as_of_all_operations), CASE(wrong_parameters_change_nothing), CASE(extreme_parameters_end))
