/* Schedules of learning rates, compared with PyTorch's, and errors. */
#include "check.h"
#include "optim_expected.h"

/* The learning rate of a case of scripts/optim_expectations.py. */
static double rate_of(const char *kind, const double *n, int64_t step) {
    if (strcmp(kind, "StepLR") == 0) return THSchedule_step(step, n[0], (int64_t)n[1], n[2]);
    if (strcmp(kind, "ExponentialLR") == 0) return THSchedule_exponential(step, n[0], n[1]);
    if (strcmp(kind, "LinearLR") == 0) return THSchedule_linear(step, n[0], n[1], n[2], (int64_t)n[3]);
    if (strcmp(kind, "PolynomialLR") == 0) return THSchedule_polynomial(step, n[0], (int64_t)n[1], n[2]);
    if (strcmp(kind, "CosineAnnealingLR") == 0) return THSchedule_cosine(step, n[0], (int64_t)n[1], n[2]);
    if (strcmp(kind, "OneCycleLR") == 0) return THSchedule_oneCycle(step, n[0], (int64_t)n[1], n[2], n[3], n[4]);
    return THSchedule_cosineRestarts(step, n[0], (int64_t)n[1], (int64_t)n[2], n[3]);
}

static void rates_are_those_of_pytorch(void) {
    for (size_t k = 0; k < sizeof schedule_cases / sizeof *schedule_cases; k++) {
        for (int step = 0; step < EXPECTED_RATES; step++) {
            CHECK_NEAR(rate_of(schedule_cases[k].kind, schedule_cases[k].numbers, step), schedule_cases[k].expected[step], 1e-12);
        }
    }
}

static void plateaus_are_those_of_pytorch(void) {
    for (size_t k = 0; k < sizeof plateau_cases / sizeof *plateau_cases; k++) {
        const double *n = plateau_cases[k].numbers, lr = plateau_cases[k].lr;
        for (int64_t count = 0; count <= EXPECTED_RATES; count++) {
            THTensor *metrics = THTensor_newFromData(TH_FLOAT64, 1, &count, plateau_metrics);
            double found = THSchedule_plateau(metrics, lr, n[0], (int64_t)n[1], n[2], n[3] != 0, n[4] != 0, (int64_t)n[5], n[6], n[7]);
            CHECK_NEAR(found, count ? plateau_cases[k].expected[count - 1] : lr, 1e-15);
            THTensor_free(metrics);
        }
    }
    THTensor *whole = vector_of(TH_INT64, 3, 2, 2, 2), *gap = vector_of(TH_FLOAT32, 1, NAN, NAN);
    CHECK_NEAR(THSchedule_plateau(whole, 1, 0.5, 1, 0, 0, 0, 0, 0, 0), 0.5, 0);
    CHECK_NEAR(THSchedule_plateau(gap, 1, 0.5, 1, 0, 0, 0, 0, 0, 0), 0.5, 0);
    THTensor_free(whole);
    THTensor_free(gap);
}

/* Values that follow from the formulas. */
static void ends_of_schedules(void) {
    CHECK_NEAR(THSchedule_linear(INT64_MAX, 2, 0.5, 1, 4), 2, 0);
    CHECK_NEAR(THSchedule_polynomial(9, 2, 4, 0.5), 0, 0);
    CHECK_NEAR(THSchedule_cosine(4, 2, 4, 0.5), 0.5, 0);
    CHECK_NEAR(THSchedule_cosineRestarts(INT64_MAX, 2, 1, 1, 0.5), 2, 0);
    CHECK_NEAR(THSchedule_cosineRestarts(3, 2, 1, 2, 0.5), 2, 0);
    CHECK_NEAR(THSchedule_oneCycle(0, 2, 10, 0.1, 4, 10), 2, 0);
    CHECK_NEAR(THSchedule_oneCycle(9, 2, 10, 0.5, 4, 10), 2. / 4 / 10, 1e-15);
    CHECK_NEAR(THSchedule_oneCycle(0, 2, 1, 1, 4, 10), 2, 0);
}

static void what_is_refused(void) {
    CHECK_FAILURE(isnan(THSchedule_step(-1, 1, 1, 1)), TH_ERR_ARGUMENT, "step is -1");
    CHECK_FAILURE(isnan(THSchedule_step(1, 1, 0, 1)), TH_ERR_ARGUMENT, "stepSize is 0");
    CHECK_FAILURE(isnan(THSchedule_exponential(1, NAN, 1)), TH_ERR_ARGUMENT, "lr is NaN");
    CHECK_FAILURE(isnan(THSchedule_exponential(1, 1, INFINITY)), TH_ERR_ARGUMENT, "gamma is inf");
    CHECK_FAILURE(isnan(THSchedule_linear(1, 1, 0, 1, 0)), TH_ERR_ARGUMENT, "totalIters is 0");
    CHECK_FAILURE(isnan(THSchedule_polynomial(1, 1, 1, -1)), TH_ERR_ARGUMENT, "power is -1");
    CHECK_FAILURE(isnan(THSchedule_cosine(1, 1, 0, 0)), TH_ERR_ARGUMENT, "tMax is 0");
    CHECK_FAILURE(isnan(THSchedule_cosineRestarts(1, 1, 1, 0, 0)), TH_ERR_ARGUMENT, "tMult is 0");
    CHECK_FAILURE(isnan(THSchedule_oneCycle(11, 1, 10, 0.3, 25, 1e4)), TH_ERR_ARGUMENT, "step is 11, expected at most totalSteps");
    CHECK_FAILURE(isnan(THSchedule_oneCycle(1, 1, 10, 1.5, 25, 1e4)), TH_ERR_ARGUMENT, "pctStart is 1.5");
    CHECK_FAILURE(isnan(THSchedule_oneCycle(1, 1, 10, 0.3, 0, 1e4)), TH_ERR_ARGUMENT, "divFactor is 0");
    THTensor *metrics = vector_of(TH_FLOAT32, 1, 2), *matrix = matrix_of(TH_FLOAT32, 1, 1, 2), *fresh = THTensor_new();
    CHECK_FAILURE(isnan(THSchedule_plateau(metrics, NAN, 0.5, 1, 0, 0, 0, 0, 0, 0)), TH_ERR_ARGUMENT, "lr is NaN");
    CHECK_FAILURE(isnan(THSchedule_plateau(metrics, 1, 1, 1, 0, 0, 0, 0, 0, 0)), TH_ERR_ARGUMENT, "factor is 1");
    CHECK_FAILURE(isnan(THSchedule_plateau(metrics, 1, 0.5, -1, 0, 0, 0, 0, 0, 0)), TH_ERR_ARGUMENT, "patience is -1");
    CHECK_FAILURE(isnan(THSchedule_plateau(metrics, 1, 0.5, 1, NAN, 0, 0, 0, 0, 0)), TH_ERR_ARGUMENT, "minChange is NaN");
    CHECK_FAILURE(isnan(THSchedule_plateau(metrics, 1, 0.5, 1, 0, 0, 0, -1, 0, 0)), TH_ERR_ARGUMENT, "cooldown is -1");
    CHECK_FAILURE(isnan(THSchedule_plateau(metrics, 1, 0.5, 1, 0, 0, 0, 0, -1, 0)), TH_ERR_ARGUMENT, "minLr is -1");
    CHECK_FAILURE(isnan(THSchedule_plateau(metrics, 1, 0.5, 1, 0, 0, 0, 0, 0, -1)), TH_ERR_ARGUMENT, "eps is -1");
    CHECK_FAILURE(isnan(THSchedule_plateau(matrix, 1, 0.5, 1, 0, 0, 0, 0, 0, 0)), TH_ERR_SHAPE, "has shape [1, 2], expected a vector");
    CHECK_FAILURE(isnan(THSchedule_plateau(fresh, 1, 0.5, 1, 0, 0, 0, 0, 0, 0)), TH_ERR_DTYPE, "argument 'metrics' has no dtype yet");
    THTensor_free(metrics);
    THTensor_free(matrix);
    THTensor_free(fresh);
}

CHECK_MAIN(CASE(rates_are_those_of_pytorch), CASE(plateaus_are_those_of_pytorch), CASE(ends_of_schedules), CASE(what_is_refused))
