/* Gradients, normalization, resampling and losses: results are the same for any number of threads, messages say what is
 * wrong, and results may be inputs. */
#include "check.h"

enum { ROWS = 600, COLUMNS = 700 };

static void compute(THTensor *r[7], const THTensor *g, const THTensor *t, const THTensor *target) {
    THTensor *one = THTensor_newFull(TH_FLOAT32, 0, NULL, 3);
    CHECK_OK(THTensor_layerNormGrad(r[0], r[1], r[2], g, t, 1, NULL, 1e-5));
    CHECK_OK(THTensor_softmaxGrad(r[3], g, t, 0));
    CHECK_OK(THTensor_crossEntropy(r[4], t, target, NULL, TH_REDUCTION_MEAN, -100));
    CHECK_OK(THTensor_crossEntropyGrad(r[5], one, t, target, NULL, TH_REDUCTION_SUM, -100));
    CHECK_OK(THTensor_interpolate(r[6], t, 1, (int64_t[]){900}, TH_RESAMPLE_CUBIC, 0, 0));
    THTensor_free(one);
}

static void results_do_not_depend_on_the_number_of_threads(void) {
    THTensor *g = THTensor_newWithSize2d(TH_FLOAT32, ROWS, COLUMNS), *t = THTensor_newClone(g);
    THTensor *target = THTensor_newWithSize1d(TH_INT64, ROWS), *alone[7], *shared[7];
    CHECK_OK(THTensor_normal(g, NULL, 0, 1));
    CHECK_OK(THTensor_normal(t, NULL, 3, 2));
    CHECK_OK(THTensor_random(target, NULL));
    CHECK_OK(THTensor_remainder(target, target, COLUMNS));
    for (int k = 0; k < 7; k++) {
        alone[k] = THTensor_new();
        shared[k] = THTensor_new();
    }
    CHECK_OK(THSetNumThreads(1));
    compute(alone, g, t, target);
    CHECK_OK(THSetNumThreads(3));
    compute(shared, g, t, target);
    for (int k = 0; k < 7; k++) {
        CHECK(THTensor_equal(alone[k], shared[k]) == 1);
        THTensor_free(alone[k]);
        THTensor_free(shared[k]);
    }
    THTensor_free(g);
    THTensor_free(t);
    THTensor_free(target);
}

/* Pixels of a row of `n` elements, doubled by linear interpolation: weights 1/4 and 3/4 of neighbours. */
static double doubled(const uint8_t *row, int n, int i) {
    int near = i / 2, far = i % 2 ? near + 1 : near - 1;
    far = far < 0 ? 0 : far >= n ? n - 1 : far;
    return 0.75 * row[near] + 0.25 * row[far];
}

/* Rows are summed in groups; the last group is smaller. */
static void each_row_of_an_image_is_resampled(void) {
    enum { HEIGHT = 19, WIDTH = 37 };
    THTensor *t = THTensor_newWithSize3d(TH_UINT8, 1, HEIGHT, WIDTH), *r = THTensor_new();
    CHECK_OK(THTensor_random(t, NULL));
    CHECK_OK(THTensor_remainder(t, t, 200));
    const uint8_t *from = THTensor_data(t);
    CHECK_OK(THTensor_interpolate(r, t, 2, (int64_t[]){HEIGHT, 2 * WIDTH}, TH_RESAMPLE_LINEAR, 0, 0));
    const uint8_t *to = THTensor_data(r);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < 2 * WIDTH; x++) CHECK_NEAR(to[y * 2 * WIDTH + x], doubled(from + y * WIDTH, WIDTH, x), 0.5);
    CHECK_OK(THTensor_interpolate(r, t, 2, (int64_t[]){HEIGHT, 1}, TH_RESAMPLE_AREA, 0, 0));
    to = THTensor_data(r);
    for (int y = 0; y < HEIGHT; y++) {
        double sum = 0;
        for (int x = 0; x < WIDTH; x++) sum += from[y * WIDTH + x];
        CHECK_NEAR(to[y], sum / WIDTH, 0.5001);
    }
    THTensor_free(t);
    THTensor_free(r);
}

/* Element `i` of a row: zeros at the beginnings of quarters and noise around 1000 elsewhere, noise, a constant, or noise
 * around 1e6. */
static double element(int kind, int i, int n) {
    double noise = (i * 7919 % 101) / 50.0 - 1;
    switch (kind) {
    case 0: return i % (n / 4) < 256 ? 0 : 1000 + noise;
    case 1: return 1000 + noise;
    case 2: return 0.1;
    default: return 1e6 + 4 * (int)(8 * noise);
    }
}

/* A sample of a long row may be far from the mean. The expected results are computed in float64. */
static void long_rows_are_normalized(void) {
    enum { N = 4099 };
    static float x[N];
    for (int kind = 0; kind < 4; kind++) {
        double mean = 0, variance = 0, along = 0;
        for (int i = 0; i < N; i++) mean += (x[i] = (float)element(kind, i, N));
        mean /= N;
        for (int i = 0; i < N; i++) variance += (x[i] - mean) * (x[i] - mean) / N;
        double scale = 1 / sqrt(variance + 1e-5);
        /* The gradient of the results is i % 3. */
        THTensor *t = THTensor_newWithSize2d(TH_FLOAT32, 1, N), *r = THTensor_new();
        THTensor *g = THTensor_newWithSize2d(TH_FLOAT32, 1, N), *ofRow = THTensor_new(), *ofWeight = THTensor_new();
        memcpy(THTensor_data(t), x, sizeof x);
        float *gradient = THTensor_data(g);
        for (int i = 0; i < N; i++) along += (gradient[i] = (float)(i % 3)) * (x[i] - mean) * scale / N;
        CHECK_OK(THTensor_layerNorm(r, t, 1, NULL, NULL, 1e-5));
        CHECK_OK(THTensor_layerNormGrad(ofRow, ofWeight, NULL, g, t, 1, NULL, 1e-5));
        const float *to = THTensor_data(r), *of = THTensor_data(ofRow), *weight = THTensor_data(ofWeight);
        double total = 0;
        for (int i = 0; i < N; i++) total += gradient[i];
        for (int i = 0; i < N; i++) {
            double expected = (x[i] - mean) * scale;
            CHECK_NEAR(to[i], expected, 2e-5);
            CHECK_NEAR(weight[i], gradient[i] * expected, 4e-5);
            CHECK_NEAR(of[i], scale * (gradient[i] - total / N - expected * along), 4e-5 * (1 + scale));
        }
        THTensor *all[] = {t, r, g, ofRow, ofWeight};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
    }
}

static void messages_name_what_is_wrong(void) {
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(4, 3)), *r = THTensor_new(),
             *three = THTensor_newZeros(TH_FLOAT32, SIZES(3));
    THTensor *target = THTensor_newZeros(TH_INT64, SIZES(4)), *two = THTensor_newZeros(TH_FLOAT32, SIZES(2));
    CHECK_OK(THTensor_set1d(target, 2, 7));
    CHECK_ERROR(THTensor_nllLoss(r, t, target, NULL, TH_REDUCTION_MEAN, -100), TH_ERR_ARGUMENT,
                "target 7 at position 2 is none of 3 classes");
    THTensor *one = THTensor_newScalar(TH_FLOAT32, 1);
    CHECK_ERROR(THTensor_crossEntropyGrad(r, one, t, target, NULL, TH_REDUCTION_SUM, -100), TH_ERR_ARGUMENT, "target 7");
    THTensor_free(one);
    CHECK_OK(THTensor_nllLoss(r, t, target, NULL, TH_REDUCTION_MEAN, 7));
    CHECK_ERROR(THTensor_nllLoss(r, t, target, NULL, 3, -100), TH_ERR_ARGUMENT, "3 is no THReduction");
    CHECK_ERROR(THTensor_nllLoss(r, t, target, two, TH_REDUCTION_SUM, 7), TH_ERR_SHAPE,
                "weight of shape [2] for 3 classes");
    CHECK_ERROR(THTensor_nllLoss(r, t, t, NULL, TH_REDUCTION_SUM, 7), TH_ERR_SHAPE, "targets of shape [4, 3]");
    CHECK_ERROR(THTensor_nllLossGrad(r, two, t, target, NULL, TH_REDUCTION_NONE, 7), TH_ERR_SHAPE,
                "a gradient of shape [2] for a loss of shape [4]");
    CHECK_ERROR(THTensor_layerNorm(r, t, 3, NULL, NULL, 1e-5), TH_ERR_ARGUMENT, "normalizedNdim 3");
    CHECK_ERROR(THTensor_layerNorm(r, t, 1, two, NULL, 1e-5), TH_ERR_SHAPE, "weight of shape [2], expected [3]");
    CHECK_ERROR(THTensor_layerNorm(r, t, 1, NULL, two, 1e-5), TH_ERR_SHAPE, "bias of shape [2]");
    CHECK_ERROR(THTensor_layerNormGrad(r, three, three, t, t, 1, NULL, 1e-5), TH_ERR_ARGUMENT, "two results");
    CHECK_ERROR(THTensor_layerNormGrad(r, r, NULL, t, t, 1, NULL, 1e-5), TH_ERR_ARGUMENT, "two results");
    CHECK_ERROR(THTensor_softmaxGrad(r, two, t, 0), TH_ERR_SHAPE, "a gradient of shape [2]");
    THTensor *all[] = {t, r, three, target, two};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
}

/* All three results are written to the memory of their inputs. */
static void gradients_may_take_the_place_of_what_they_are_of(void) {
    THTensor *t = THTensor_newWithSize2d(TH_FLOAT32, 40, 30), *g = THTensor_newClone(t), *weight, *bias;
    CHECK_OK(THTensor_normal(t, NULL, 0, 1));
    CHECK_OK(THTensor_normal(g, NULL, 0, 1));
    weight = THTensor_newNarrow(t, 0, 5, 1);
    CHECK_OK(THTensor_select(weight, weight, 0, 0));
    bias = THTensor_newSelect(g, 0, 7);
    THTensor *expected[3] = {THTensor_new(), THTensor_new(), THTensor_new()}, *kept = THTensor_newClone(t);
    CHECK_OK(THTensor_layerNormGrad(expected[0], expected[1], expected[2], g, t, 1, weight, 1e-5));
    /* gradWeight is a row of t, and gradBias is a row of g. */
    CHECK_OK(THTensor_layerNormGrad(NULL, weight, bias, g, t, 1, weight, 1e-5));
    CHECK(THTensor_equal(weight, expected[1]) == 1);
    CHECK(THTensor_equal(bias, expected[2]) == 1);
    CHECK_OK(THTensor_copy(t, kept));
    CHECK_OK(THTensor_layerNorm(expected[0], t, 1, weight, weight, 1e-5));
    CHECK_OK(THTensor_layerNorm(t, t, 1, weight, weight, 1e-5));
    CHECK(THTensor_equal(t, expected[0]) == 1);
    THTensor *all[] = {t, g, weight, bias, expected[0], expected[1], expected[2], kept};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
}

static void tensors_without_elements_are_no_work(void) {
    int64_t huge = (int64_t)1 << 60;
    THTensor *rows = THTensor_newZeros(TH_FLOAT32, SIZES(huge, 0)),
             *wide = THTensor_newZeros(TH_FLOAT32, SIZES(0, huge));
    THTensor *r = THTensor_new(), *narrow = THTensor_newZeros(TH_FLOAT32, SIZES(0, 3)), *ofWeight = THTensor_new();
    for (int dim = 0; dim < 2; dim++) {
        CHECK_OK(THTensor_softmaxGrad(r, rows, rows, dim));
        CHECK_OK(THTensor_logSoftmaxGrad(r, wide, wide, dim));
        CHECK_SHAPE(r, 0, huge);
    }
    for (int last = 1; last < 3; last++) {
        CHECK_OK(THTensor_layerNorm(r, rows, last, NULL, NULL, 1e-5));
        CHECK_OK(THTensor_layerNorm(r, wide, last, NULL, NULL, 1e-5));
        CHECK_OK(THTensor_layerNormGrad(r, NULL, NULL, wide, wide, last, NULL, 1e-5));
    }
    CHECK_OK(THTensor_layerNormGrad(NULL, ofWeight, NULL, narrow, narrow, 1, NULL, 1e-5));
    CHECK_VALUES(ofWeight, 0, 0, 0);
    THTensor *all[] = {rows, wide, r, narrow, ofWeight};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
}

CHECK_MAIN(CASE(results_do_not_depend_on_the_number_of_threads), CASE(messages_name_what_is_wrong),
           CASE(each_row_of_an_image_is_resampled), CASE(long_rows_are_normalized),
           CASE(gradients_may_take_the_place_of_what_they_are_of), CASE(tensors_without_elements_are_no_work))
