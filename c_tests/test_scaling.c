/* Gradients before a step: clipping, scaling, and 16-bit parameters; averages of parameters. */
#include "optim.h"
#include "optim_expected.h"

#define NEAR 1e-9

static void gradients_are_clipped(void) {
    struct problem p = made();
    THTensor *g[2] = {vector_of(TH_FLOAT64, 3, 0, -4), matrix_of(TH_FLOAT64, 1, 12)};
    CHECK_NEAR(THGrad_clipNorm(p.params, 2, 1, 2), 0, 0);
    for (int k = 0; k < 2; k++) CHECK_OK(THTensor_setGrad(p.params[k], g[k]));
    CHECK_NEAR(THGrad_clipNorm(p.params, 2, 20, 2), 13, NEAR);
    CHECK_VALUES(g[0], 3, 0, -4);
    CHECK_NEAR(THGrad_clipNorm(p.params, 2, 6.5, 2), 13, NEAR);
    CHECK_CLOSE(g[0], NEAR, 1.49999988462, 0, -1.99999984615);
    CHECK_CLOSE(g[1], NEAR, 5.99999953846);
    CHECK_NEAR(THGrad_clipNorm(p.params, 2, 3, 1), 9.49999926923, NEAR);
    CHECK_CLOSE(g[0], NEAR, 0.473684160665, 0, -0.631578880886);
    CHECK_NEAR(THGrad_clipNorm(p.params, 2, 9, INFINITY), 1.89473664266, NEAR);
    CHECK_OK(THGrad_clipValue(p.params, 2, 0.5));
    CHECK_CLOSE(g[0], NEAR, 0.473684160665, 0, -0.5);
    CHECK_VALUES(g[1], 0.5);
    CHECK_FAILURE(isnan(THGrad_clipNorm(p.params, 2, -1, 2)), TH_ERR_ARGUMENT, "maxNorm is -1");
    CHECK_ERROR(THGrad_clipValue(p.params, 2, -1), TH_ERR_ARGUMENT, "value is -1");
    THTensor_free(g[0]);
    THTensor_free(g[1]);
    end(&p);
}

static void gradients_are_unscaled(void) {
    struct problem p = made();
    THTensor *g[2] = {vector_of(TH_FLOAT64, 3, 0, -4), matrix_of(TH_FLOAT64, 1, 12)}, *half = vector_of(TH_FLOAT16, 1, 2);
    CHECK_EQ(THGrad_unscale(p.params, 2, 4), 0);
    for (int k = 0; k < 2; k++) CHECK_OK(THTensor_setGrad(p.params[k], g[k]));
    int64_t version = THTensor_version(g[0]);
    CHECK_EQ(THGrad_unscale(p.params, 2, 4), 0);
    CHECK_EQ(THTensor_version(g[0]), version + 1);
    CHECK_VALUES(g[0], 0.75, 0, -1);
    CHECK_VALUES(g[1], 3);
    CHECK_OK(THTensor_set1d(g[0], 1, -INFINITY));
    CHECK_EQ(THGrad_unscale(p.params, 2, 0.5), 1);
    CHECK_VALUES(g[0], 1.5, -INFINITY, -2);
    CHECK_OK(THTensor_set2d(g[1], 0, 0, NAN));
    CHECK_EQ(THGrad_unscale(p.params, 2, 1), 2);
    CHECK_FAILURE(THGrad_unscale(p.params, 2, 0) == -1, TH_ERR_ARGUMENT, "scale is 0");
    CHECK_FAILURE(THGrad_unscale(p.params, 2, NAN) == -1, TH_ERR_ARGUMENT, "scale is NaN");
    CHECK_FAILURE(THGrad_unscale(p.params, 2, INFINITY) == -1, TH_ERR_ARGUMENT, "scale is inf");
    CHECK_VALUES(g[0], 1.5, -INFINITY, -2);
    CHECK_OK(THTensor_setRequiresGrad(half, 1));
    THTensor *small = vector_of(TH_FLOAT16, 65504, 1);
    CHECK_OK(THTensor_setGrad(half, small));
    CHECK_EQ(THGrad_unscale(&half, 1, 65536), 0);
    CHECK_CLOSE(small, 1e-7, 65504. / 65536, 1. / 65536);
    CHECK_EQ(THGrad_unscale(&half, 1, 1e-6), 1);
    for (int k = 0; k < 2; k++) THTensor_free(g[k]);
    THTensor_free(half);
    THTensor_free(small);
    end(&p);
}

/* The numbers of a scaler. */
static void check_scaler(THTensor *state, double scale, double steps) {
    CHECK_NEAR(THTensor_get1d(state, 0), scale, 0);
    CHECK_NEAR(THTensor_get1d(state, 1), steps, 0);
}

static void scales_are_those_of_pytorch(void) {
    for (size_t k = 0; k < sizeof scaler_cases / sizeof *scaler_cases; k++) {
        THTensor *state = THTensor_new(), *wide = vector_of(TH_FLOAT64, 0, 0);
        CHECK_OK(THGrad_scalerInit(state, scaler_cases[k].scale));
        CHECK_OK(THGrad_scalerInit(wide, scaler_cases[k].scale));
        CHECK_EQ(THTensor_dtype(state), TH_FLOAT32);
        check_scaler(wide, (float)scaler_cases[k].scale, 0);
        THTensor *states[] = {state, wide};
        for (int step = 0; step < EXPECTED_SCALES; step++) {
            const double *expected = scaler_cases[k].expected[step];
            int ended = step && scaler_cases[k].expected[step - 1][0] == 0;
            for (int i = 0; i < 2; i++) {
                double growth = scaler_cases[k].growth, backoff = scaler_cases[k].backoff;
                int interval = scaler_cases[k].interval, bad = bad_gradients[step];
                if (ended) {
                    CHECK_ERROR(THGrad_scalerUpdate(states[i], bad, growth, backoff, interval), TH_ERR_ARGUMENT, "scale is 0");
                } else {
                    CHECK_OK(THGrad_scalerUpdate(states[i], bad, growth, backoff, interval));
                    check_scaler(states[i], expected[0], expected[1]);
                }
            }
        }
        THTensor_free(state);
        THTensor_free(wide);
    }
}

static void scalers_make_steps(void) {
    struct problem p = made();
    THTensor *state = THTensor_new(), *g[2] = {vector_of(TH_FLOAT64, 4, 0, -4), matrix_of(TH_FLOAT64, 1, 12)};
    p.optim = THOptim_newSgd(p.params, 2, 0.5, 0, 0, 0, 0);
    CHECK_OK(THGrad_scalerInit(state, 4));
    for (int k = 0; k < 2; k++) CHECK_OK(THTensor_setGrad(p.params[k], g[k]));
    CHECK_EQ(THGrad_scalerStep(state, p.optim, 2, 0.5, 1), 0);
    CHECK_VALUES(p.params[0], 0.5, -2, 1);
    CHECK_VALUES(p.params[1], -1.25);
    check_scaler(state, 8, 0);
    CHECK_OK(THTensor_set1d(g[0], 1, INFINITY));
    CHECK_EQ(THGrad_scalerStep(state, p.optim, 2, 0.25, 1), 1);
    CHECK_VALUES(p.params[0], 0.5, -2, 1);
    CHECK_VALUES(p.params[1], -1.25);
    check_scaler(state, 2, 0);
    /* Errors change nothing. */
    CHECK_OK(THTensor_fill(g[0], 2));
    THTensor *half = vector_of(TH_BFLOAT16, 2, 0), *three = vector_of(TH_FLOAT32, 1, 0, 0), *bad = vector_of(TH_FLOAT32, NAN, 0);
    CHECK_ERROR(THGrad_scalerInit(state, 0), TH_ERR_ARGUMENT, "scale is 0");
    CHECK_ERROR(THGrad_scalerInit(state, INFINITY), TH_ERR_ARGUMENT, "scale is inf");
    CHECK_ERROR(THGrad_scalerInit(half, 2), TH_ERR_DTYPE, "has dtype bfloat16, expected float32 or float64");
    CHECK_ERROR(THGrad_scalerUpdate(half, 0, 2, 0.5, 1), TH_ERR_DTYPE, "has dtype bfloat16");
    CHECK_ERROR(THGrad_scalerUpdate(three, 0, 2, 0.5, 1), TH_ERR_SHAPE, "has shape [3], expected [2]");
    CHECK_ERROR(THGrad_scalerUpdate(bad, 0, 2, 0.5, 1), TH_ERR_ARGUMENT, "scale is NaN");
    CHECK_ERROR(THGrad_scalerUpdate(state, -1, 2, 0.5, 1), TH_ERR_ARGUMENT, "bad is -1");
    CHECK_ERROR(THGrad_scalerUpdate(state, 0, 1, 0.5, 1), TH_ERR_ARGUMENT, "growthFactor is 1");
    CHECK_ERROR(THGrad_scalerUpdate(state, 0, NAN, 0.5, 1), TH_ERR_ARGUMENT, "growthFactor is NaN");
    CHECK_ERROR(THGrad_scalerUpdate(state, 0, 2, 1, 1), TH_ERR_ARGUMENT, "backoffFactor is 1");
    CHECK_ERROR(THGrad_scalerUpdate(state, 0, 2, 0.5, 0), TH_ERR_ARGUMENT, "growthInterval is 0");
    CHECK_FAILURE(THGrad_scalerStep(state, p.optim, 2, 0, 1) == -1, TH_ERR_ARGUMENT, "backoffFactor is 0");
    CHECK_FAILURE(THGrad_scalerStep(bad, p.optim, 2, 0.5, 1) == -1, TH_ERR_ARGUMENT, "scale is NaN");
    CHECK_FAILURE(THGrad_scalerStep(state, NULL, 2, 0.5, 1) == -1, TH_ERR_ARGUMENT, "argument 'o' is NULL");
    THOptim_free(p.optim);
    p.optim = THOptim_newLbfgs(p.params, 2, 1, 6, 5, 1e-7, 1e-9, 1);
    CHECK_FAILURE(THGrad_scalerStep(state, p.optim, 2, 0.5, 1) == -1, TH_ERR_ARGUMENT, "L-BFGS");
    CHECK_VALUES(g[0], 2, 2, 2);
    check_scaler(state, 2, 0);
    THTensor *all[] = {state, g[0], g[1], half, three, bad};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
    end(&p);
}

/* Small changes of a 16-bit parameter add up in the float32 copy. */
static void small_steps_add_up(void) {
    for (int master = 0; master < 2; master++) {
        THTensor *p = vector_of(TH_BFLOAT16, 1, -1), *g = vector_of(TH_BFLOAT16, 1, -1);
        CHECK_OK(THTensor_setRequiresGrad(p, 1));
        CHECK_OK(THTensor_setGrad(p, g));
        THOptim *o = THOptim_newSgd(&p, 1, 1. / 1024, 0, 0, 0, 0);
        CHECK_OK(THOptim_set(o, 0, "masterWeights", master));
        for (int k = 0; k < 16; k++) CHECK_OK(THOptim_step(o));
        /* 1 - 1/1024 rounds to 1 in bfloat16. */
        if (master) {
            CHECK_VALUES(p, 1 - 16. / 1024, -1 + 16. / 1024);
        } else {
            CHECK_VALUES(p, 1, -1);
        }
        THOptim_free(o);
        THTensor_free(p);
        THTensor_free(g);
    }
}

/* The optimizer of a number, for one parameter. */
static THOptim *optim_of(int kind, THTensor **p) {
    switch (kind) {
    case 0: return THOptim_newSgd(p, 1, 0.01, 0.9, 0, 0.1, 1);
    case 1: return THOptim_newAdam(p, 1, 0.01, 0.9, 0.99, 1e-8, 0.1, 1);
    case 2: return THOptim_newAdamw(p, 1, 0.01, 0.9, 0.99, 1e-8, 0.1, 0);
    case 3: return THOptim_newRmsprop(p, 1, 0.01, 0.9, 1e-8, 0.1, 0.9, 1);
    case 4: return THOptim_newAdagrad(p, 1, 0.01, 0.1, 0.1, 0.1, 1e-8);
    case 5: return THOptim_newAdadelta(p, 1, 0.1, 0.9, 1e-3, 0.1);
    case 6: return THOptim_newNadam(p, 1, 0.01, 0.9, 0.99, 1e-8, 0.1, 0.1, 0);
    case 7: return THOptim_newRadam(p, 1, 0.01, 0.9, 0.99, 1e-8, 0.1, 1);
    case 8: return THOptim_newLamb(p, 1, 0.01, 0.9, 0.99, 1e-6, 0.1);
    default: return THOptim_newAdafactor(p, 1, 0.01, -0.8, -1, 1e-3, 1, 0.1);
    }
}

/* A 16-bit parameter is the rounded float32 parameter of an optimizer with the same gradients. Without the copy, the state has 16 bits. */
static void master_weights_are_float32(void) {
    for (int kind = 0; kind < 10; kind++) {
        for (int half = 0; half < 2; half++) {
            THDtype dtype = half ? TH_FLOAT16 : TH_BFLOAT16;
            THTensor *p = matrix_of(dtype, 2, 1, -2, 0.5, 0.25), *whole = matrix_of(TH_FLOAT32, 2, 1, -2, 0.5, 0.25);
            THTensor *g = matrix_of(dtype, 2, 0.5, 0.25, -1, 3), *wide = matrix_of(TH_FLOAT32, 2, 0.5, 0.25, -1, 3);
            CHECK_OK(THTensor_setRequiresGrad(p, 1));
            CHECK_OK(THTensor_setRequiresGrad(whole, 1));
            THOptim *one = optim_of(kind, &p), *two = optim_of(kind, &whole);
            CHECK_OK(THOptim_set(one, 0, "masterWeights", 1));
            CHECK_OK(THOptim_set(two, 0, "masterWeights", 1));
            CHECK_OK(THOptim_set(one, 0, "maximize", half));
            CHECK_OK(THOptim_set(two, 0, "maximize", half));
            CHECK_OK(THTensor_setGrad(p, g));
            CHECK_OK(THTensor_setGrad(whole, wide));
            for (int step = 0; step < 5; step++) {
                CHECK_OK(THOptim_step(one));
                CHECK_OK(THOptim_step(two));
                for (int k = 0; k < 4; k++) {
                    THTensor *rounded = vector_of(dtype, THTensor_get2d(whole, k / 2, k % 2));
                    CHECK_NEAR(THTensor_get2d(p, k / 2, k % 2), THTensor_get1d(rounded, 0), 0);
                    THTensor_free(rounded);
                }
            }
            /* The flag may change between steps. */
            for (int flag = 0; flag < 2; flag++) {
                CHECK_OK(THOptim_set(one, 0, "masterWeights", flag));
                CHECK_OK(THOptim_step(one));
                for (int k = 0; k < 4; k++) CHECK(isfinite(THTensor_get2d(p, k / 2, k % 2)));
            }
            THOptim_free(one);
            THOptim_free(two);
            THTensor *all[] = {p, whole, g, wide};
            for (int k = 0; k < 4; k++) THTensor_free(all[k]);
        }
    }
}

static void averages_follow_parameters(void) {
    struct problem p = made();
    THTensor *averages[2] = {THTensor_new(), matrix_of(TH_FLOAT32, 1, 1)}, *half = vector_of(TH_FLOAT16, 1, 2, 4);
    int64_t version = THTensor_version(averages[1]);
    CHECK_OK(THGrad_average(averages, 2, p.params, 2, 0.75));
    CHECK_VALUES(averages[0], 1, -2, 0.5);
    CHECK_EQ(THTensor_dtype(averages[0]), TH_FLOAT64);
    CHECK_EQ(THTensor_requiresGrad(averages[0]), 0);
    CHECK_VALUES(averages[1], 0.75 * 1 + 0.25 * 0.25);
    CHECK_EQ(THTensor_version(averages[1]), version + 1);
    CHECK_OK(THGrad_average(averages, 1, &half, 1, 0.5));
    CHECK_VALUES(averages[0], 1, 0, 2.25);
    CHECK_OK(THGrad_average(averages, 1, &half, 1, 1));
    CHECK_VALUES(averages[0], 1, 0, 2.25);
    CHECK_OK(THGrad_average(averages, 1, &half, 1, 0));
    CHECK_VALUES(averages[0], 1, 2, 4);
    /* An average that is the parameter itself stays. */
    CHECK_OK(THGrad_average(p.params, 2, p.params, 2, 0.5));
    CHECK_VALUES(p.params[0], 1, -2, 0.5);
    CHECK_OK(THGrad_average(NULL, 0, NULL, 0, 0.5));
    /* The first entry stays if the second one does not fit. */
    THTensor *whole = vector_of(TH_INT64, 1, 2), *wrong[2] = {averages[0], whole};
    CHECK_ERROR(THGrad_average(wrong, 2, p.params, 2, 0.5), TH_ERR_ARGUMENT, "has dtype int64");
    wrong[1] = half;
    CHECK_ERROR(THGrad_average(wrong, 2, p.params, 2, 0.5), TH_ERR_ARGUMENT, "has another shape or device than entry 1 of 'params'");
    THTensor *not_floats[2] = {half, whole}, *one = vector_of(TH_FLOAT32, 1), *spread = THTensor_newExpand(one, 1, (int64_t[]){3});
    wrong[1] = averages[1];
    CHECK_ERROR(THGrad_average(wrong, 2, not_floats, 2, 0.5), TH_ERR_DTYPE, "entry 1 of 'params' has dtype int64");
    wrong[1] = spread;
    THTensor *twice[2] = {half, half};
    CHECK_ERROR(THGrad_average(wrong, 2, twice, 2, 0.5), TH_ERR_ARGUMENT, "several positions for one element");
    CHECK_ERROR(THGrad_average(averages, 2, p.params, 1, 0.5), TH_ERR_ARGUMENT, "there are 2 averages and 1 parameters");
    CHECK_ERROR(THGrad_average(averages, 2, p.params, 2, 1.5), TH_ERR_ARGUMENT, "decay is 1.5");
    CHECK_ERROR(THGrad_average(averages, 2, p.params, 2, NAN), TH_ERR_ARGUMENT, "decay is NaN");
    CHECK_VALUES(averages[0], 1, 2, 4);
    THTensor *all[] = {averages[0], averages[1], half, whole, one, spread};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
    end(&p);
}

CHECK_MAIN(CASE(gradients_are_clipped), CASE(gradients_are_unscaled), CASE(scales_are_those_of_pytorch), CASE(scalers_make_steps),
           CASE(small_steps_add_up), CASE(master_weights_are_float32), CASE(averages_follow_parameters))
