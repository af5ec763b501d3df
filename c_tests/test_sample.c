/* Tensors of random numbers: rand and its variants, permutations, draws of categories, dropout, initial weights. */

#include "check.h"

static const THGeneratorKind kinds[] = {TH_PHILOX, TH_MT19937};

static THGenerator *seeded(THGeneratorKind kind, uint64_t seed) {
    THGenerator *generator = THGenerator_newKind(kind);
    CHECK_OK(THRandom_manualSeed(generator, seed));
    return generator;
}

static void check_same(const THTensor *a, const THTensor *b) {
    CHECK_EQ(THTensor_dtype(a), THTensor_dtype(b));
    CHECK(THTensor_equal(a, b));
}

/* Every function that makes a tensor gives the numbers of the corresponding fill. */
static void makers_are_fills(void) {
    for (int k = 0; k < 2; k++) {
        THGenerator *g = seeded(kinds[k], 1);
        THTensor *t = THTensor_newWithSize2d(TH_FLOAT32, 3, 5), *ints = THTensor_newWithSize2d(TH_INT64, 3, 5);
        THTensor *fresh[6], *made[6];
        for (int i = 0; i < 6; i++) fresh[i] = THTensor_new();
#define SEEDED(call) (THRandom_manualSeed(g, 2), (call))
        CHECK_OK(SEEDED(THTensor_uniform(t, g, 0, 1)));
        CHECK_OK(SEEDED(THTensor_rand(fresh[0], g, SIZES(3, 5))));
        CHECK_OK(SEEDED(THTensor_randLike(fresh[1], g, t)));
        made[0] = SEEDED(THTensor_newRand(TH_FLOAT32, g, SIZES(3, 5)));
        made[1] = SEEDED(THTensor_newRandLike(t, g));
        for (int i = 0; i < 2; i++) check_same(fresh[i], t), check_same(made[i], t);
        CHECK_OK(SEEDED(THTensor_normal(t, g, 0, 1)));
        CHECK_OK(SEEDED(THTensor_randn(fresh[2], g, SIZES(3, 5))));
        CHECK_OK(SEEDED(THTensor_randnLike(fresh[3], g, t)));
        made[2] = SEEDED(THTensor_newRandn(TH_FLOAT32, g, SIZES(3, 5)));
        made[3] = SEEDED(THTensor_newRandnLike(t, g));
        for (int i = 2; i < 4; i++) check_same(fresh[i], t), check_same(made[i], t);
        CHECK_OK(SEEDED(THTensor_clampedRandom(ints, g, -2, 9)));
        CHECK_OK(SEEDED(THTensor_randint(fresh[4], g, -2, 9, SIZES(3, 5))));
        CHECK_OK(SEEDED(THTensor_randintLike(fresh[5], g, ints, -2, 9)));
        made[4] = SEEDED(THTensor_newRandint(TH_INT64, g, -2, 9, SIZES(3, 5)));
        made[5] = SEEDED(THTensor_newRandintLike(ints, g, -2, 9));
        for (int i = 4; i < 6; i++) check_same(fresh[i], ints), check_same(made[i], ints);
        /* A result keeps its dtype, and gets the sizes. */
        THTensor *bytes = THTensor_newZeros(TH_UINT8, SIZES(2)), *halves = THTensor_newZeros(TH_FLOAT16, SIZES(2));
        CHECK_OK(THTensor_randint(bytes, g, 250, 256, SIZES(4)));
        CHECK_OK(THTensor_randn(halves, g, SIZES(4, 0)));
        CHECK_SHAPE(bytes, 4);
        CHECK_SHAPE(halves, 4, 0);
        CHECK_EQ(THTensor_dtype(halves), TH_FLOAT16);
        CHECK(THTensor_minall(bytes) >= 250);
        CHECK_OK(THTensor_rand(fresh[0], g, 0, NULL));
        CHECK_EQ(THTensor_nDimension(fresh[0]), 0);
        CHECK(THTensor_item(fresh[0]) >= 0 && THTensor_item(fresh[0]) <= 1);
        CHECK_ERROR(THTensor_rand(bytes, g, SIZES(3)), TH_ERR_DTYPE, "uint8");
        CHECK_ERROR(THTensor_randn(halves, g, SIZES(-3)), TH_ERR_SHAPE, "-3");
        CHECK_ERROR(THTensor_randint(bytes, g, 0, 300, SIZES(3)), TH_ERR_ARGUMENT, "299 is out of the range of uint8");
        CHECK_ERROR(THTensor_randint(bytes, g, 4, 4, SIZES(3)), TH_ERR_ARGUMENT, "4 to 4");
        CHECK_FAILURE(THTensor_newRand(TH_INT32, g, SIZES(3)) == NULL, TH_ERR_DTYPE, "int32");
        CHECK_FAILURE(THTensor_newRandint(TH_INT32, g, 1, 0, SIZES(3)) == NULL, TH_ERR_ARGUMENT, "1 to 0");
        CHECK_SHAPE(bytes, 4);
        THTensor_free(halves);
        THTensor_free(bytes);
        for (int i = 0; i < 6; i++) THTensor_free(fresh[i]), THTensor_free(made[i]);
        THTensor_free(ints);
        THTensor_free(t);
        THGenerator_free(g);
    }
}

/* Permutations */

static void permutations_have_every_number_once(void) {
    for (int k = 0; k < 2; k++) {
        THGenerator *g = seeded(kinds[k], 3);
        for (int d = 0; d < DTYPES; d++) {
            int64_t n = dtypes[d] == TH_BOOL ? 2 : 100;
            THTensor *t = THTensor_newRandperm(dtypes[d], g, n);
            int seen[100] = {0};
            for (int64_t i = 0; i < n; i++) seen[(int)THTensor_get1d(t, i)]++;
            for (int64_t i = 0; i < n; i++) CHECK_EQ(seen[i], 1);
            THTensor_free(t);
        }
        THTensor *r = THTensor_new(), *apart = zeros_laid_out(TH_INT32, 1, 6, STEPPED);
        CHECK_OK(THTensor_select(apart, apart, 0, 0));
        CHECK_OK(THTensor_randperm(apart, g, 6));
        CHECK_NEAR(THTensor_sumall(apart), 15, 0);
        CHECK_OK(THTensor_randperm(r, g, 0));
        CHECK_SHAPE(r, 0);
        CHECK_EQ(THTensor_dtype(r), TH_INT64);
        CHECK_ERROR(THTensor_randperm(r, g, -1), TH_ERR_ARGUMENT, "-1");
        CHECK_FAILURE(THTensor_newRandperm(TH_UINT8, g, 257) == NULL, TH_ERR_ARGUMENT,
                      "uint8 does not hold all integers below 257");
        CHECK_FAILURE(THTensor_newRandperm(TH_FLOAT16, g, 3000) == NULL, TH_ERR_ARGUMENT, "float16");
        THTensor_free(apart);
        THTensor_free(r);
        THGenerator_free(g);
    }
}

/* Each of the 24 orders of four elements is equally likely: Pearson's statistic has mean 23 and deviation 6.8. */
static void permutations_are_equally_likely(void) {
    const int64_t n = shrunk(12000);
    for (int k = 0; k < 2; k++) {
        THGenerator *g = seeded(kinds[k], 4);
        THTensor *t = THTensor_newWithSize1d(TH_INT64, 4);
        double counts[256] = {0}, sum = 0;
        int orders = 0;
        for (int64_t i = 0; i < n; i++) {
            CHECK_OK(THTensor_randperm(t, g, 4));
            const int64_t *x = THTensor_data(t);
            counts[x[0] | x[1] << 2 | x[2] << 4 | x[3] << 6]++;
        }
        for (int c = 0; c < 256; c++) {
            sum += counts[c] > 0 ? pow(counts[c] - (double)n / 24, 2) / ((double)n / 24) : 0;
            orders += counts[c] > 0;
        }
        if (!under_valgrind()) CHECK(orders == 24 && sum < 23 + 5 * 6.8);
        THTensor_free(t);
        THGenerator_free(g);
    }
}

/* Categories */

static void check_shares(const THTensor *drawn, int64_t n, const double *shares, int categories) {
    double counts[8] = {0};
    for (int64_t i = 0; i < n; i++) counts[(int)element_at(drawn, i) & 7]++;
    for (int c = 0; c < categories; c++) {
        CHECK_NEAR(counts[c] / (double)n, shares[c], 4.5 * sqrt(shares[c] * (1 - shares[c]) / (double)n));
    }
}

static void categories_come_by_their_probabilities(void) {
    const int64_t n = shrunk(20000) + 500;
    static const double first[] = {0.1, 0, 0.5, 0.4}, second[] = {0.25, 0.25, 0.25, 0.25};
    for (int k = 0; k < 2; k++) {
        THGenerator *g = seeded(kinds[k], 5);
        THTensor *p = matrix_of(TH_FLOAT32, 2, 1, 0, 5, 4, 0.25, 0.25, 0.25, 0.25), *r = THTensor_new(),
                 *row = THTensor_new();
        CHECK_OK(THTensor_multinomial(r, g, p, n, 1));
        CHECK_SHAPE(r, 2, n);
        CHECK_EQ(THTensor_dtype(r), TH_INT64);
        for (int i = 0; i < 2; i++) {
            CHECK_OK(THTensor_select(row, r, 0, i));
            check_shares(row, n, i == 0 ? first : second, 4);
        }
        /* The same with alias tables. */
        THTensor *vector = THTensor_newSelect(p, 0, 0), *J = THTensor_new(), *q = THTensor_new();
        CHECK_OK(THTensor_multinomialAliasSetup(vector, J, q));
        CHECK_EQ(THTensor_dtype(J), TH_INT64);
        CHECK_EQ(THTensor_dtype(q), TH_FLOAT32);
        THTensor *drawn = THTensor_newWithSize1d(TH_INT16, n);
        CHECK_OK(THTensor_multinomialAliasDraw(drawn, g, J, q));
        check_shares(drawn, n, first, 4);
        THTensor_free(drawn);
        THTensor_free(q);
        THTensor_free(J);
        THTensor_free(vector);
        THTensor_free(row);
        THTensor_free(r);
        THTensor_free(p);
        THGenerator_free(g);
    }
}

/* Of weights 1, 2 and 3, the pair (i, j) is drawn in this order with probability w_i / 6 * w_j / (6 - w_i). */
static void nothing_is_drawn_twice_without_replacement(void) {
    const int64_t n = shrunk(20000) + 500;
    static const double shares[8] = {[1] = 1.0 / 6 * 2 / 5, [2] = 1.0 / 6 * 3 / 5, [3] = 2.0 / 6 * 1 / 4,
                                     [5] = 2.0 / 6 * 3 / 4, [6] = 3.0 / 6 * 1 / 3, [7] = 3.0 / 6 * 2 / 3};
    for (int k = 0; k < 2; k++) {
        THGenerator *g = seeded(kinds[k], 6);
        THTensor *weights = vector_of(TH_FLOAT64, 1, 2, 3), *p = THTensor_newExpand(weights, SIZES(n, 3)),
                 *r = THTensor_new();
        CHECK_OK(THTensor_multinomial(r, g, p, 2, 0));
        CHECK_SHAPE(r, n, 2);
        THTensor *pairs = THTensor_newWithSize1d(TH_INT64, n);
        for (int64_t i = 0; i < n; i++) {
            int64_t a = (int64_t)THTensor_get2d(r, i, 0), b = (int64_t)THTensor_get2d(r, i, 1);
            CHECK(a != b);
            THTensor_set1d(pairs, i, (double)(a == 2 ? 6 + b : a * 3 + b));
        }
        check_shares(pairs, n, shares, 8);
        /* All categories with a probability are drawn, in some order, and no others. */
        THTensor *some = vector_of(TH_FLOAT32, 0, 3, 0, 1e-30, 2);
        for (int i = 0; i < 20; i++) {
            CHECK_OK(THTensor_multinomial(r, g, some, 3, 0));
            int seen = 0;
            for (int j = 0; j < 3; j++) seen |= 1 << (int)THTensor_get1d(r, j);
            CHECK_EQ(seen, 1 << 1 | 1 << 3 | 1 << 4);
        }
        THTensor_free(some);
        THTensor_free(pairs);
        THTensor_free(r);
        THTensor_free(p);
        THTensor_free(weights);
        THGenerator_free(g);
    }
}

static void what_cannot_be_drawn_is_an_error(void) {
    for (int k = 0; k < 2; k++) {
        THGenerator *g = seeded(kinds[k], 7), *same = seeded(kinds[k], 7);
        THTensor *r = THTensor_newOnes(TH_INT64, SIZES(2)), *J = THTensor_new(), *q = THTensor_new();
        THTensor *negative = vector_of(TH_FLOAT32, 1, -1), *nan = vector_of(TH_FLOAT32, NAN, 1),
                 *inf = vector_of(TH_FLOAT32, 1, INFINITY);
        THTensor *zeros = matrix_of(TH_FLOAT32, 2, 1, 1, 0, 0), *good = vector_of(TH_FLOAT32, 1, 0, 2),
                 *cube = THTensor_newOnes(TH_FLOAT32, SIZES(2, 2, 2));
        THTensor *ints = vector_of(TH_INT64, 1, 2), *none = THTensor_newZeros(TH_FLOAT32, SIZES(0));
        CHECK_ERROR(THTensor_multinomial(r, g, negative, 1, 1), TH_ERR_ARGUMENT, "got -1");
        CHECK_ERROR(THTensor_multinomial(r, g, nan, 1, 1), TH_ERR_ARGUMENT, "NaN");
        CHECK_ERROR(THTensor_multinomial(r, g, inf, 1, 1), TH_ERR_ARGUMENT, "inf");
        CHECK_ERROR(THTensor_multinomial(r, g, zeros, 1, 1), TH_ERR_ARGUMENT, "row 1 sum to 0");
        CHECK_ERROR(THTensor_multinomial(r, g, none, 1, 1), TH_ERR_ARGUMENT, "sum to 0");
        CHECK_ERROR(THTensor_multinomial(r, g, good, 3, 0), TH_ERR_ARGUMENT,
                    "3 samples without replacement, but row 0 has 2");
        CHECK_ERROR(THTensor_multinomial(r, g, good, -1, 1), TH_ERR_ARGUMENT, "-1");
        CHECK_ERROR(THTensor_multinomial(r, g, cube, 1, 1), TH_ERR_SHAPE, "1 or 2 dimensions");
        CHECK_ERROR(THTensor_multinomial(r, g, ints, 1, 1), TH_ERR_DTYPE, "int64");
        CHECK_ERROR(THTensor_multinomialAliasSetup(negative, J, q), TH_ERR_ARGUMENT, "got -1");
        CHECK_ERROR(THTensor_multinomialAliasSetup(zeros, J, q), TH_ERR_SHAPE, "vector");
        CHECK_ERROR(THTensor_multinomialAliasSetup(none, J, q), TH_ERR_SHAPE, "not empty");
        CHECK_OK(THTensor_multinomialAliasSetup(good, J, q));
        CHECK_ERROR(THTensor_multinomialAliasDraw(r, g, ints, q), TH_ERR_SHAPE, "3 integers");
        CHECK_OK(THTensor_set1d(J, 1, 3));
        CHECK_ERROR(THTensor_multinomialAliasDraw(r, g, J, q), TH_ERR_ARGUMENT, "category 3 is none of 3");
        CHECK_VALUES(r, 1, 1);
        CHECK_OK(THTensor_multinomial(r, g, good, 0, 1));
        CHECK_SHAPE(r, 0);
        CHECK_NEAR(THRandom_uniform(g, 0, 1), THRandom_uniform(same, 0, 1), 0);
        THTensor_free(none);
        THTensor_free(ints);
        THTensor_free(cube);
        THTensor_free(good);
        THTensor_free(zeros);
        THTensor_free(inf);
        THTensor_free(nan);
        THTensor_free(negative);
        THTensor_free(q);
        THTensor_free(J);
        THTensor_free(r);
        THGenerator_free(same);
        THGenerator_free(g);
    }
}

/* Neural networks */

static void dropout_leaves_the_mean(void) {
    const int64_t n = shrunk(20000) + 500;
    for (int k = 0; k < 2; k++) {
        THGenerator *g = seeded(kinds[k], 8);
        THTensor *t = THTensor_newFull(TH_FLOAT32, SIZES(n), 3), *r = THTensor_new(), *mask = THTensor_new();
        CHECK_OK(THTensor_dropout(r, mask, g, t, 0.25));
        CHECK_EQ(THTensor_dtype(mask), TH_BOOL);
        CHECK_NEAR(THTensor_meanall(r), 3, 5 * 3 * sqrt(0.25 / 0.75 / (double)n));
        for (int64_t i = 0; i < n; i++) CHECK_NEAR(THTensor_get1d(r, i), THTensor_get1d(mask, i) ? 4 : 0, 0);
        /* In place, and without a mask. */
        CHECK_OK(THTensor_dropout(t, NULL, g, t, 0));
        CHECK_NEAR(THTensor_minall(t), 3, 0);
        CHECK_OK(THTensor_dropout(t, NULL, g, t, 1));
        if (k == 0) CHECK_NEAR(THTensor_maxall(t), 0, 0);
        CHECK_ERROR(THTensor_dropout(t, NULL, g, t, -0.1), TH_ERR_ARGUMENT, "got -0.1");
        CHECK_ERROR(THTensor_dropout(r, NULL, g, mask, 0.5), TH_ERR_DTYPE, "bool");
        THTensor_free(mask);
        THTensor_free(r);
        THTensor_free(t);
        THGenerator_free(g);
    }
}

/* The elements of a channel are dropped together, and the mask has an element for each channel. */
static void features_are_dropped_together(void) {
    THGenerator *g = seeded(TH_PHILOX, 10);
    const int64_t channels = 40;
    THTensor *t = THTensor_newOnes(TH_FLOAT32, SIZES(3, channels, 2, 3)), *r = THTensor_new(), *mask = THTensor_new();
    THTensor *vector = THTensor_newOnes(TH_FLOAT32, SIZES(5)), *expected = THTensor_new();
    CHECK_OK(THTensor_featureDropout(r, mask, g, t, 0.5));
    CHECK_EQ(THTensor_dtype(mask), TH_BOOL);
    CHECK(THTensor_nDimension(mask) == 4 && THTensor_size(mask, 1) == channels && THTensor_nElement(mask) == 3 * channels);
    /* A number of kept channels that is 5 deviations away from the mean does not occur. */
    CHECK_NEAR(THTensor_sumall(mask), 1.5 * (double)channels, 5 * sqrt(0.25 * 3 * (double)channels));
    CHECK_OK(THTensor_cmul(expected, t, mask));
    CHECK_OK(THTensor_mul(expected, expected, 2));
    check_same(r, expected);
    CHECK_ERROR(THTensor_featureDropout(r, mask, g, vector, 0.5), TH_ERR_SHAPE, "[5]");
    CHECK_ERROR(THTensor_featureAlphaDropout(r, mask, g, vector, 0.5), TH_ERR_SHAPE, "[5]");
    CHECK_ERROR(THTensor_featureDropout(r, mask, g, t, 2), TH_ERR_ARGUMENT, "got 2");
    THTensor_free(expected);
    THTensor_free(vector);
    THTensor_free(mask);
    THTensor_free(r);
    THTensor_free(t);
    THGenerator_free(g);
}

/* The results are the two values of PyTorch's formula: a * t + b for kept elements, and a * s + b for others. */
static void alpha_dropout_leaves_mean_and_variance(void) {
    THGenerator *g = seeded(TH_PHILOX, 11);
    const int64_t n = shrunk(20000) + 500;
    THTensor *t = THTensor_newRandn(TH_FLOAT64, g, SIZES(n, 2, 1)), *r = THTensor_new(), *mask = THTensor_new();
    const double p = 0.25, s = -1.7580993408473766, a = 1 / sqrt((s * s * p + 1) * (1 - p)), b = -a * s * p;
    for (int channels = 0; channels < 2; channels++) {
        CHECK_OK((channels ? THTensor_featureAlphaDropout : THTensor_alphaDropout)(r, mask, g, t, p));
        for (int64_t i = 0; i < n; i++) {
            const double x = THTensor_get3d(mask, i, 1, 0) ? THTensor_get3d(t, i, 1, 0) : s;
            CHECK_NEAR(THTensor_get3d(r, i, 1, 0), a * x + b, 1e-12);
        }
        CHECK_NEAR(THTensor_meanall(r), 0, 5 / sqrt(2 * (double)n));
        CHECK_NEAR(THTensor_stdall(r, 0), 1, 0.1);
        CHECK_NEAR(THTensor_sumall(mask) / (2 * (double)n), 0.75, 5 * sqrt(0.25 * 0.75 / (2 * (double)n)));
    }
    CHECK_OK(THTensor_alphaDropout(r, NULL, g, t, 0));
    check_same(r, t);
    CHECK_OK(THTensor_alphaDropout(t, NULL, g, t, 1));
    CHECK(THTensor_maxall(t) == 0 && THTensor_minall(t) == 0);
    CHECK_ERROR(THTensor_alphaDropout(r, NULL, g, mask, 0.5), TH_ERR_DTYPE, "bool");
    CHECK_ERROR(THTensor_alphaDropout(r, NULL, g, t, -0.5), TH_ERR_ARGUMENT, "got -0.5");
    /* 16-bit floats are rounded once. */
    THTensor *half = THTensor_newFull(TH_FLOAT16, SIZES(9), 1);
    CHECK_OK(THTensor_alphaDropout(half, NULL, g, half, p));
    for (int64_t i = 0; i < 9; i++) {
        const double x = THTensor_get1d(half, i), kept = a + b, other = a * s + b;
        CHECK_NEAR(x, fabs(x - kept) < fabs(x - other) ? kept : other, 0x1p-11);
    }
    THTensor_free(half);
    THTensor_free(mask);
    THTensor_free(r);
    THTensor_free(t);
    THGenerator_free(g);
}

/* The deviation of the weights of a layer with 40 inputs, 60 outputs and a window of 9. */
static void weights_are_spread_by_the_size_of_the_layer(void) {
    for (int k = 0; k < 2; k++) {
        THGenerator *g = seeded(kinds[k], 9);
        THTensor *w = THTensor_newZeros(TH_FLOAT32, SIZES(60, 40, 3, 3));
        const double n = 60 * 40 * 9;
#define CHECK_SPREAD(call, uniform, deviation)                                                                         \
    CHECK_OK(call);                                                                                                    \
    CHECK_NEAR(THTensor_stdall(w, 0), deviation, (deviation) * 5 * sqrt(0.5 / n));                                     \
    CHECK_NEAR(THTensor_meanall(w), 0, (deviation) * 5 / sqrt(n));                                                     \
    CHECK((THTensor_maxall(w) <= sqrt(3) * (deviation)) == (uniform))
        CHECK_SPREAD(THTensor_xavierUniform(w, g, 1), 1, sqrt(2.0 / (360 + 540)));
        CHECK_SPREAD(THTensor_xavierNormal(w, g, 2), 0, 2 * sqrt(2.0 / (360 + 540)));
        CHECK_SPREAD(THTensor_kaimingUniform(w, g, 0, TH_FAN_IN), 1, sqrt(2.0 / 360));
        CHECK_SPREAD(THTensor_kaimingNormal(w, g, 0.5, TH_FAN_OUT), 0, sqrt(2.0 / 1.25 / 540));
        THTensor *vector = THTensor_newZeros(TH_FLOAT32, SIZES(3)), *none = THTensor_newZeros(TH_FLOAT32, SIZES(3, 0));
        CHECK_ERROR(THTensor_xavierUniform(vector, g, 1), TH_ERR_SHAPE, "2 dimensions at least");
        CHECK_ERROR(THTensor_xavierNormal(w, g, -1), TH_ERR_ARGUMENT, "a gain >= 0, got -1");
        CHECK_ERROR(THTensor_kaimingUniform(w, g, NAN, TH_FAN_IN), TH_ERR_ARGUMENT, "NaN");
        CHECK_ERROR(THTensor_kaimingNormal(w, g, 0, 2), TH_ERR_ARGUMENT, "2 is neither");
        CHECK_OK(THTensor_kaimingNormal(none, g, 0, TH_FAN_IN));
        THTensor_free(none);
        THTensor_free(vector);
        THTensor_free(w);
        THGenerator_free(g);
    }
}

/* Two results must be two tensors, and a dtype that cannot hold the largest category is refused. */
static void results_hold_what_they_should(void) {
    THGenerator *g = seeded(TH_PHILOX, 1);
    THTensor *p = THTensor_newOnes(TH_FLOAT32, 1, (int64_t[]){300}), *r = THTensor_new();
    CHECK_ERROR(THTensor_dropout(r, r, g, p, 0.5), TH_ERR_ARGUMENT, "two results");
    CHECK_ERROR(THTensor_multinomialAliasSetup(p, r, r), TH_ERR_ARGUMENT, "two results");
    THTensor_free(r);
    r = THTensor_newWithDtype(TH_UINT8);
    CHECK_ERROR(THTensor_multinomial(r, g, p, 10, true), TH_ERR_DTYPE, "300 categories");
    THTensor_free(r);
    THTensor_free(p);

    /* A category with the probability 0 is never drawn, however small the others are. */
    for (int k = 0; k < 2; k++) {
        THGenerator *any = seeded(kinds[k], 1);
        p = THTensor_newFromData(TH_FLOAT64, 1, (int64_t[]){3}, (double[]){5e-324, 0, 5e-324});
        r = THTensor_new();
        CHECK_OK(THTensor_multinomial(r, any, p, 1000, true));
        CHECK_OK(THTensor_eqValue(r, r, 1));
        CHECK_EQ(THTensor_sumall(r), 0);
        THTensor_free(r);
        THTensor_free(p);
        THGenerator_free(any);
    }
    THGenerator_free(g);
}

/* Few draws of many categories use another algorithm than many draws. */
static void few_samples_follow_the_probabilities(void) {
    enum { CATEGORIES = 900, DRAWS = 100, CALLS = 400 };
    THGenerator *g = THGenerator_new();
    CHECK_OK(THRandom_manualSeed(g, 5));
    THTensor *p = THTensor_newZeros(TH_FLOAT64, SIZES(CATEGORIES)), *r = THTensor_new();
    double counts[3] = {0, 0, 0}, halves = 0;
    for (int scale = 0; scale < 2; scale++) {
        for (int k = 0; k < CATEGORIES; k++) ((double *)THTensor_data(p))[k] = k % 3 * (scale ? 5e-324 : 1);
        for (int call = 0; call < CALLS; call++) {
            CHECK_OK(THTensor_multinomial(r, g, p, DRAWS, 1));
            CHECK_SHAPE(r, DRAWS);
            for (int i = 0; i < DRAWS; i++) {
                int64_t k = ((int64_t *)THTensor_data(r))[i];
                if (!CHECK(k >= 0 && k < CATEGORIES)) break;
                counts[k % 3]++;
                halves += k < CATEGORIES / 2;
            }
        }
        double all = (double)CALLS * DRAWS;
        CHECK_EQ(counts[0], 0);
        CHECK_NEAR(counts[1] / all, 1.0 / 3, 0.01);
        CHECK_NEAR(halves / all, 0.5, 0.01);
        counts[1] = counts[2] = halves = 0;
    }
    THTensor_free(r);
    THTensor_free(p);
    THGenerator_free(g);
}

CHECK_MAIN(CASE(few_samples_follow_the_probabilities), CASE(makers_are_fills), CASE(permutations_have_every_number_once), CASE(permutations_are_equally_likely),
           CASE(categories_come_by_their_probabilities), CASE(nothing_is_drawn_twice_without_replacement),
           CASE(what_cannot_be_drawn_is_an_error), CASE(results_hold_what_they_should), CASE(dropout_leaves_the_mean),
           CASE(features_are_dropped_together), CASE(alpha_dropout_leaves_mean_and_variance),
           CASE(weights_are_spread_by_the_size_of_the_layer))
