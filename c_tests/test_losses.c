/* Losses by element, label smoothing, batch normalization and embeddings: values and gradients, which PyTorch computed,
 * running statistics, and errors. */
#include "check.h"

#define NEAR 1e-10

/* A leaf that requires a gradient. */
static THTensor *leaf(THTensor *t) {
    CHECK_OK(THTensor_setRequiresGrad(t, 1));
    return t;
}

#define CHECK_GRAD(t, ...)                                                                                             \
    do {                                                                                                               \
        THTensor *grad_ = THTensor_newGrad(t);                                                                         \
        if (CHECK(grad_ != NULL)) CHECK_CLOSE(grad_, NEAR, __VA_ARGS__);                                               \
        THTensor_free(grad_);                                                                                          \
        CHECK_OK(THTensor_setGrad(t, NULL));                                                                           \
    } while (0)

#define FREE(...)                                                                                                      \
    do {                                                                                                               \
        THTensor *all_[] = {__VA_ARGS__};                                                                              \
        for (size_t k_ = 0; k_ < sizeof all_ / sizeof *all_; k_++) THTensor_free(all_[k_]);                            \
    } while (0)

static THTensor *scores(void) { return leaf(matrix_of(TH_FLOAT64, 2, 0.5, -1.25, 2.0, 3.0, 0.25, -0.5)); }

static void distances_have_gradients(void) {
    THTensor *t = scores(), *r = THTensor_new();
    THTensor *target = leaf(matrix_of(TH_FLOAT64, 2, 0.25, -0.25, -1.0, 2.5, 0.25, 1.0));
    CHECK_OK(THTensor_mseLoss(r, t, target, TH_REDUCTION_MEAN));
    CHECK_CLOSE(r, NEAR, 2.09375);
    CHECK_OK(THTensor_backward(r, NULL));
    CHECK_GRAD(t, 1 / 12.0, -1 / 3.0, 1, 1 / 6.0, 0, -0.5);
    CHECK_GRAD(target, -1 / 12.0, 1 / 3.0, -1, -1 / 6.0, 0, 0.5);
    CHECK_OK(THTensor_mseLoss(r, t, target, TH_REDUCTION_SUM));
    CHECK_CLOSE(r, NEAR, 12.5625);
    CHECK_OK(THTensor_backward(r, NULL));
    CHECK_GRAD(t, 0.5, -2, 6, 1, 0, -3);
    CHECK_OK(THTensor_mseLoss(r, t, target, TH_REDUCTION_BATCH_MEAN));
    CHECK_CLOSE(r, NEAR, 6.28125);

    CHECK_OK(THTensor_l1Loss(r, t, target, TH_REDUCTION_MEAN));
    CHECK_CLOSE(r, NEAR, 6.25 / 6);
    CHECK_OK(THTensor_backward(r, NULL));
    CHECK_GRAD(t, 1 / 6.0, -1 / 6.0, 1 / 6.0, 1 / 6.0, 0, -1 / 6.0);
    CHECK_OK(THTensor_smoothL1Loss(r, t, target, TH_REDUCTION_MEAN, 0.75));
    CHECK_CLOSE(r, NEAR, 0.763888888888888889);
    CHECK_OK(THTensor_backward(r, NULL));
    CHECK_GRAD(t, 1 / 18.0, -1 / 6.0, 1 / 6.0, 1 / 9.0, 0, -1 / 6.0);
    CHECK_OK(THTensor_huberLoss(r, t, target, TH_REDUCTION_MEAN, 0.75));
    CHECK_CLOSE(r, NEAR, 0.572916666666666667);
    CHECK_OK(THTensor_backward(r, NULL));
    CHECK_GRAD(t, 1 / 24.0, -0.125, 0.125, 1 / 12.0, 0, -0.125);
    FREE(t, target, r);
}

static void operands_broadcast(void) {
    THTensor *t = leaf(vector_of(TH_FLOAT64, 1, 2, 3)), *target = matrix_of(TH_FLOAT64, 2, 0, 0, 0, 2, 2, 2);
    THTensor *r = THTensor_new();
    CHECK_OK(THTensor_mseLoss(r, t, target, TH_REDUCTION_NONE));
    CHECK_SHAPE(r, 2, 3);
    CHECK_VALUES(r, 1, 4, 9, 1, 0, 1);
    CHECK_OK(THTensor_mseLoss(r, t, target, TH_REDUCTION_MEAN));
    CHECK_CLOSE(r, NEAR, 16 / 6.0);
    CHECK_OK(THTensor_backward(r, NULL));
    CHECK_GRAD(t, 0, 4 / 6.0, 8 / 6.0);
    FREE(t, target, r);
}

static void probabilities_from_logits(void) {
    THTensor *t = scores(), *target = leaf(matrix_of(TH_FLOAT64, 2, 1.0, 0.0, 0.5, 0.0, 1.0, 0.25)), *r = THTensor_new();
    THTensor *weight = vector_of(TH_FLOAT64, 1.0, 0.5, 2.0), *positive = vector_of(TH_FLOAT64, 2.0, 1.0, 3.0);
    CHECK_OK(THTensor_bceWithLogits(r, t, target, NULL, NULL, TH_REDUCTION_NONE));
    CHECK_CLOSE(r, NEAR, 0.47407698418, 0.251929081345, 1.12692801104, 3.04858735157, 0.575939419879, 0.59907698418);
    CHECK_OK(THTensor_bceWithLogits(r, t, target, NULL, NULL, TH_REDUCTION_MEAN));
    CHECK_CLOSE(r, NEAR, 1.01275630537);
    CHECK_OK(THTensor_backward(r, NULL));
    CHECK_GRAD(t, -0.0629234447997, 0.0371166898042, 0.063466179663, 0.15876235447, -0.0729705831857, 0.021256778133);
    CHECK_GRAD(target, -1 / 12.0, 5 / 24.0, -1 / 3.0, -0.5, -1 / 24.0, 1 / 12.0);
    CHECK_OK(THTensor_bceWithLogits(r, t, target, weight, positive, TH_REDUCTION_MEAN));
    CHECK_CLOSE(r, NEAR, 1.51510309454);
    CHECK_OK(THTensor_backward(r, NULL));
    CHECK_GRAD(t, -0.125846889599, 0.0185583449021, 0.0871980519853, 0.15876235447, -0.0364852915929, -0.0612296656009);
    FREE(t, target, r, weight, positive);

    /* The loss keeps its digits even if the probability rounds to 0 or 1. */
    t = vector_of(TH_FLOAT64, -800, 800, 40, -40);
    target = vector_of(TH_FLOAT64, 1, 0, 1, 0);
    r = THTensor_new();
    CHECK_OK(THTensor_bceWithLogits(r, t, target, NULL, NULL, TH_REDUCTION_NONE));
    CHECK_CLOSE(r, 1e-30, 800, 800, exp(-40), exp(-40));
    FREE(t, target, r);
}

static void divergences(void) {
    THTensor *t = scores(), *logarithms = THTensor_new(), *r = THTensor_new();
    THTensor *target = matrix_of(TH_FLOAT64, 2, 0.5, 0.25, 0.25, 0.0, 0.75, 0.25);
    CHECK_OK(THTensor_setRequiresGrad(t, 0));
    CHECK_OK(THTensor_logSoftmax(logarithms, t, 1));
    leaf(logarithms);
    CHECK_OK(THTensor_klDiv(r, logarithms, target, 0, TH_REDUCTION_BATCH_MEAN));
    CHECK_CLOSE(r, NEAR, 1.61026062415);
    CHECK_OK(THTensor_backward(r, NULL));
    CHECK_GRAD(logarithms, -0.25, -0.125, -0.125, 0, -0.375, -0.125);
    CHECK_OK(THTensor_klDiv(r, logarithms, target, 0, TH_REDUCTION_MEAN));
    CHECK_CLOSE(r, NEAR, 0.536753541383);
    THTensor *same = THTensor_newDetach(logarithms);
    CHECK_OK(THTensor_klDiv(r, logarithms, same, 1, TH_REDUCTION_SUM));
    CHECK_CLOSE(r, NEAR, 0);
    FREE(t, logarithms, r, target, same);
}

static void targets_are_smoothed(void) {
    THTensor *t = scores(), *target = vector_of(TH_INT64, 2, 0), *r = THTensor_new(), *sharp = THTensor_new();
    THTensor *weight = vector_of(TH_FLOAT64, 1.0, 0.5, 2.0);
    CHECK_OK(THTensor_crossEntropyLabelSmoothing(r, t, target, NULL, TH_REDUCTION_MEAN, -100, 0.1));
    CHECK_CLOSE(r, NEAR, 0.344621915212);
    CHECK_OK(THTensor_backward(r, NULL));
    CHECK_GRAD(t, 0.0717434243871, -0.00130329650345, -0.0704401278836, -0.00968059267335, 0.012547475645,
               -0.00286688297163);
    CHECK_OK(THTensor_crossEntropyLabelSmoothing(r, t, target, weight, TH_REDUCTION_MEAN, -100, 0.1));
    CHECK_CLOSE(r, NEAR, 0.306882189315);
    CHECK_OK(THTensor_backward(r, NULL));
    CHECK_GRAD(t, 0.101857338569, 0.0140754174308, -0.115932755999, -0.00137610540453, 0.0142451409001, -0.0128690354956);
    CHECK_OK(THTensor_set1d(target, 1, -100));
    CHECK_OK(THTensor_crossEntropyLabelSmoothing(r, t, target, NULL, TH_REDUCTION_MEAN, -100, 0.1));
    CHECK_CLOSE(r, NEAR, 0.390955316435);
    CHECK_OK(THTensor_backward(r, NULL));
    CHECK_GRAD(t, 0.143486848774, -0.0026065930069, -0.140880255767, 0, 0, 0);
    CHECK_OK(THTensor_crossEntropyLabelSmoothing(r, t, target, weight, TH_REDUCTION_NONE, -100, 0));
    CHECK_OK(THTensor_crossEntropy(sharp, t, target, weight, TH_REDUCTION_NONE, -100));
    CHECK_EQ(THTensor_allclose(r, sharp, 1e-14, 0, 0), 1);
    FREE(t, target, r, sharp, weight);
}

static void batches_are_normalized(void) {
    THTensor *t = leaf(matrix_of(TH_FLOAT64, 4, 1.0, -2.0, 3.0, 0.5, 2.5, 1.0, -0.5, 4.0)), *r = THTensor_new();
    THTensor *weight = leaf(vector_of(TH_FLOAT64, 1.5, 0.5)), *bias = leaf(vector_of(TH_FLOAT64, 0.25, -1.0));
    THTensor *runningMean = vector_of(TH_FLOAT64, 0.5, 0.25), *runningVar = vector_of(TH_FLOAT64, 1.0, 2.0);
    THTensor *g = matrix_of(TH_FLOAT64, 4, 1.0, 0.5, -1.0, 2.0, 0.25, -0.5, 2.0, 1.0);
    THTensor *mean = THTensor_new(), *invstd = THTensor_new(), *other = THTensor_new();
    CHECK_OK(THTensor_batchNorm(r, mean, invstd, t, weight, bias, runningMean, runningVar, 1, 0.1, 1e-5));
    CHECK_CLOSE(r, NEAR, -0.297721096918, -1.6741411977, 1.89316329075, -1.08793146057, 1.34544219384, -0.970689513143,
                -1.94088438767, -0.267237828585);
    CHECK_CLOSE(mean, NEAR, 1.5, 0.875);
    CHECK_CLOSE(invstd, NEAR, 1 / sqrt(1.875 + 1e-5), 1 / sqrt(4.546875 + 1e-5));
    CHECK_CLOSE(runningMean, NEAR, 0.6, 0.3125);
    CHECK_CLOSE(runningVar, NEAR, 1.15, 2.40625);
    CHECK_EQ(THTensor_requiresGrad(runningMean), 0);
    /* A second batch moves the running statistics before backward. */
    CHECK_OK(THTensor_batchNorm(other, NULL, NULL, g, NULL, NULL, runningMean, runningVar, 1, 0.0, 1e-5));
    CHECK_OK(THTensor_backward(r, g));
    CHECK_GRAD(t, 0.0593386917248, -0.0261881351881, -0.451876623633, 0.297335238808, 0.497508850583, -0.29451499198,
               -0.104970918674, 0.0233678883598);
    CHECK_GRAD(weight, -4.19919507637, 0.410346815992);
    CHECK_GRAD(bias, 2.25, 3);
    CHECK_OK(THTensor_batchNorm(r, NULL, NULL, t, weight, bias, runningMean, runningVar, 0, 0.1, 1e-5));
    CHECK_CLOSE(r, NEAR, 0.809500452339, -1.74538469287, 3.60700271403, -0.939563403281, 2.90762714861, -0.778399145362,
                -1.28862624393, 0.18858640215);
    CHECK_OK(THTensor_backward(r, g));
    CHECK_GRAD(t, 1.39875113085, 0.161164257919, -1.39875113085, 0.644657031675, 0.349687782712, -0.161164257919,
               2.79750226169, 0.322328515837);
    CHECK_GRAD(weight, -3.47356530827, 1.65193364367);
    FREE(t, r, weight, bias, runningMean, runningVar, g, mean, invstd, other);
}

static void rows_of_a_table(void) {
    THTensor *table = leaf(matrix_of(TH_FLOAT64, 3, 1, 2, 3, 4, 5, 6)), *r = THTensor_new();
    THTensor *index = matrix_of(TH_INT64, 2, 2, 0, 2, 1), *g = THTensor_newOnes(TH_FLOAT64, SIZES(2, 2, 2));
    CHECK_OK(THTensor_embedding(r, table, index, -1));
    CHECK_SHAPE(r, 2, 2, 2);
    CHECK_VALUES(r, 5, 6, 1, 2, 5, 6, 3, 4);
    CHECK_OK(THTensor_backward(r, g));
    CHECK_GRAD(table, 1, 1, 1, 1, 2, 2);
    CHECK_OK(THTensor_embedding(r, table, index, 2));
    CHECK_OK(THTensor_backward(r, g));
    CHECK_GRAD(table, 1, 1, 1, 1, 0, 0);
    FREE(table, r, index, g);
}

static void what_is_refused(void) {
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(4, 3)), *r = THTensor_new(), *two = THTensor_newZeros(TH_FLOAT32, SIZES(2));
    THTensor *whole = THTensor_newZeros(TH_INT64, SIZES(4)), *one = THTensor_newZeros(TH_FLOAT32, SIZES(1, 3));
    THTensor *scalar = THTensor_newScalar(TH_FLOAT32, 1);
    CHECK_ERROR(THTensor_mseLoss(r, t, two, TH_REDUCTION_MEAN), TH_ERR_SHAPE, "mseLoss: ");
    CHECK_ERROR(THTensor_mseLoss(r, t, t, (THReduction)7), TH_ERR_ARGUMENT, "7 is no THReduction");
    CHECK_ERROR(THTensor_l1Loss(r, whole, whole, TH_REDUCTION_MEAN), TH_ERR_DTYPE, "l1Loss: ");
    CHECK_ERROR(THTensor_l1Loss(r, scalar, scalar, TH_REDUCTION_BATCH_MEAN), TH_ERR_SHAPE, "no batch");
    CHECK_ERROR(THTensor_smoothL1Loss(r, t, t, TH_REDUCTION_MEAN, -1), TH_ERR_ARGUMENT, "beta is -1");
    CHECK_ERROR(THTensor_huberLoss(r, t, t, TH_REDUCTION_MEAN, 0), TH_ERR_ARGUMENT, "delta is 0");
    CHECK_ERROR(THTensor_crossEntropy(r, t, whole, NULL, TH_REDUCTION_BATCH_MEAN, -100), TH_ERR_ARGUMENT, "3 is no THReduction");
    CHECK_ERROR(THTensor_crossEntropyLabelSmoothing(r, t, whole, NULL, TH_REDUCTION_MEAN, -100, 1.5), TH_ERR_ARGUMENT,
                "a label smoothing of 1.5");
    CHECK_ERROR(THTensor_batchNorm(r, NULL, NULL, two, NULL, NULL, NULL, NULL, 1, 0.1, 1e-5), TH_ERR_SHAPE,
                "channels are the second dimension");
    CHECK_ERROR(THTensor_batchNorm(r, NULL, NULL, t, two, NULL, NULL, NULL, 1, 0.1, 1e-5), TH_ERR_SHAPE,
                "weight of shape [2] for 3 channels");
    CHECK_ERROR(THTensor_batchNorm(r, NULL, NULL, t, NULL, NULL, NULL, NULL, 0, 0.1, 1e-5), TH_ERR_ARGUMENT, "in training alone");
    CHECK_ERROR(THTensor_batchNorm(r, NULL, NULL, one, NULL, NULL, NULL, NULL, 1, 0.1, 1e-5), TH_ERR_ARGUMENT, "more than one");
    CHECK_ERROR(THTensor_embedding(r, two, whole, -1), TH_ERR_SHAPE, "a table of shape [2]");
    CHECK_ERROR(THTensor_embedding(r, t, whole, 4), TH_ERR_ARGUMENT, "paddingIdx 4");
    CHECK_OK(THTensor_set1d(whole, 2, 4));
    CHECK_ERROR(THTensor_embedding(r, t, whole, -1), TH_ERR_ARGUMENT, "embedding: ");
    FREE(t, r, two, whole, one, scalar);
}

CHECK_MAIN(CASE(distances_have_gradients), CASE(operands_broadcast), CASE(probabilities_from_logits), CASE(divergences),
           CASE(targets_are_smoothed), CASE(batches_are_normalized), CASE(rows_of_a_table), CASE(what_is_refused))
