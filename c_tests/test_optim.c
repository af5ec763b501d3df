/* Optimizers: steps of each, compared with PyTorch's, closures, groups, learning rates, and errors. */
#include "optim.h"
#include "optim_expected.h"

#define NEAR 1e-9

/* Checks the parameters after three steps. */
static void check_steps(struct problem *p, double a, double b, double c, double d) {
    double loss;
    if (!CHECK(p->optim != NULL)) return;
    for (int k = 0; k < 3; k++) {
        CHECK_OK(closure(p, &loss));
        CHECK_OK(THOptim_step(p->optim));
    }
    CHECK_CLOSE(p->params[0], NEAR, a, b, c);
    CHECK_CLOSE(p->params[1], NEAR, d);
    CHECK_EQ(THTensor_isLeaf(p->params[0]), 1);
    end(p);
}

static void steps_are_those_of_pytorch(void) {
    struct problem p = made();
    p.optim = THOptim_newSgd(p.params, 2, 0.01, 0, 0, 0, 0);
    check_steps(&p, 1.0277925, -1.8831045, 0.542643, 0.07546);
    p = made();
    p.optim = THOptim_newSgd(p.params, 2, 0.01, 0.9, 0, 0.1, 1);
    check_steps(&p, 1.03606658355, -1.70333763247, 0.579499214211, -0.12991323709);
    p = made();
    p.optim = THOptim_newSgd(p.params, 2, 0.01, 0.9, 0.5, 0, 0);
    check_steps(&p, 1.049348125, -1.826496125, 0.57004075, -0.023765);
    p = made();
    p.optim = THOptim_newAdam(p.params, 2, 0.1, 0.9, 0.999, 1e-8, 0.1, 0);
    check_steps(&p, 1.17711144837, -1.70866789678, 0.735868404266, -0.0211669374478);
    p = made();
    p.optim = THOptim_newAdamw(p.params, 2, 0.1, 0.9, 0.999, 1e-8, 0.1, 1);
    check_steps(&p, 1.1576271087, -1.65354682379, 0.720824266213, -0.0242316610152);
    p = made();
    p.optim = THOptim_newRmsprop(p.params, 2, 0.01, 0.99, 1e-8, 0, 0.9, 1);
    check_steps(&p, 1.22654024407, -1.58994408553, 0.792082505556, -0.100773244368);
    p = made();
    p.optim = THOptim_newRmsprop(p.params, 2, 0.01, 0.99, 1e-8, 0.1, 0, 0);
    check_steps(&p, 1.07953902073, -1.79682358711, 0.637932151903, 0.0751850297219);
}

/* The optimizer of a case of scripts/optim_expectations.py. */
static THOptim *optim_of(const char *kind, THTensor **params, const double *n) {
    if (strcmp(kind, "SGD") == 0) return THOptim_newSgd(params, 2, n[0], n[1], n[2], n[3], n[4] != 0);
    if (strcmp(kind, "Adam") == 0) return THOptim_newAdam(params, 2, n[0], n[1], n[2], n[3], n[4], n[5] != 0);
    if (strcmp(kind, "AdamW") == 0) return THOptim_newAdamw(params, 2, n[0], n[1], n[2], n[3], n[4], n[5] != 0);
    if (strcmp(kind, "RMSprop") == 0) return THOptim_newRmsprop(params, 2, n[0], n[1], n[2], n[3], n[4], n[5] != 0);
    if (strcmp(kind, "Adagrad") == 0) return THOptim_newAdagrad(params, 2, n[0], n[1], n[2], n[3], n[4]);
    if (strcmp(kind, "Adadelta") == 0) return THOptim_newAdadelta(params, 2, n[0], n[1], n[2], n[3]);
    if (strcmp(kind, "NAdam") == 0) return THOptim_newNadam(params, 2, n[0], n[1], n[2], n[3], n[4], n[5], n[6] != 0);
    if (strcmp(kind, "Lamb") == 0) return THOptim_newLamb(params, 2, n[0], n[1], n[2], n[3], n[4]);
    if (strcmp(kind, "Adafactor") == 0) return THOptim_newAdafactor(params, 2, n[0], n[1], n[2], n[3], n[4], n[5]);
    return THOptim_newRadam(params, 2, n[0], n[1], n[2], n[3], n[4], n[5] != 0);
}

static void more_steps_are_those_of_pytorch(void) {
    for (size_t k = 0; k < sizeof optim_cases / sizeof *optim_cases; k++) {
        struct problem p = made();
        const double *expected = optim_cases[k].expected;
        p.optim = optim_of(optim_cases[k].kind, p.params, optim_cases[k].numbers);
        CHECK_OK(THOptim_set(p.optim, 0, "maximize", optim_cases[k].maximize));
        for (int step = 0; step < EXPECTED_STEPS; step++) CHECK_OK(THOptim_stepClosure(p.optim, closure, &p));
        for (int i = 0; i < 3; i++) CHECK_NEAR(THTensor_get1d(p.params[0], i), expected[i], NEAR * fmax(1, fabs(expected[i])));
        CHECK_NEAR(THTensor_get2d(p.params[1], 0, 0), expected[3], NEAR * fmax(1, fabs(expected[3])));
        end(&p);
    }
}

static void adafactor_folds_rows_and_columns(void) {
    for (int turned = 0; turned < 2; turned++) {
        THTensor *p = matrix_of(TH_FLOAT64, 2, 1, -2, 0.5, 0.25, 3, -1), *g = THTensor_new();
        if (turned) {
            /* The same matrix with other strides. */
            THTensor *t = THTensor_newTranspose(p, 0, 1), *dense = THTensor_newContiguous(t);
            THTensor_free(p);
            p = THTensor_newTranspose(dense, 0, 1);
            THTensor_free(t);
            THTensor_free(dense);
        }
        CHECK_OK(THTensor_setRequiresGrad(p, 1));
        THOptim *o = THOptim_newAdafactor(&p, 1, 0.1, -0.8, -1, 1e-3, 1, 0);
        CHECK_NEAR(THOptim_get(o, 0, "eps1"), -1, 0);
        CHECK_OK(THGrad_setEnabled(0));
        for (int step = 0; step < EXPECTED_STEPS; step++) {
            CHECK_OK(THTensor_cmul(g, p, p));
            CHECK_OK(THTensor_add(g, g, -1));
            CHECK_OK(THTensor_setGrad(p, g));
            CHECK_OK(THOptim_step(o));
        }
        CHECK_OK(THGrad_setEnabled(1));
        for (int k = 0; k < 6; k++) {
            CHECK_NEAR(adafactor_start[k], ((double[]){1, -2, 0.5, 0.25, 3, -1})[k], 0);
            CHECK_NEAR(THTensor_get2d(p, k / 3, k % 3), adafactor_expected[k], NEAR);
        }
        THOptim_free(o);
        THTensor_free(p);
        THTensor_free(g);
    }
}

/* Steps of zeros, scalars and tensors without elements change nothing. */
static void lengths_of_zero(void) {
    THTensor *params[] = {vector_of(TH_FLOAT32, 0, 0), THTensor_newFull(TH_FLOAT32, 0, NULL, 3),
                          THTensor_newZeros(TH_FLOAT32, 2, (int64_t[]){0, 3}), THTensor_newZeros(TH_FLOAT32, 1, (int64_t[]){0})};
    enum { COUNT = sizeof params / sizeof *params };
    for (int kind = 0; kind < 2; kind++) {
        for (int k = 0; k < COUNT; k++) {
            THTensor *g = THTensor_newClone(params[k]);
            CHECK_OK(THTensor_zero(g));
            CHECK_OK(THTensor_setRequiresGrad(params[k], 1));
            CHECK_OK(THTensor_setGrad(params[k], g));
            THTensor_free(g);
        }
        THOptim *o = kind ? THOptim_newLamb(params, COUNT, 0.1, 0.9, 0.999, 1e-6, 0)
                          : THOptim_newAdafactor(params, COUNT, 0.1, -0.8, -1, 1e-3, 1, 0);
        for (int step = 0; step < 2; step++) CHECK_OK(THOptim_step(o));
        CHECK_VALUES(params[0], 0, 0);
        CHECK_NEAR(THTensor_item(params[1]), 3, 0);
        THOptim_free(o);
    }
    for (int k = 0; k < COUNT; k++) THTensor_free(params[k]);
}

static void lbfgs_calls_a_closure(void) {
    for (int search = 0; search < 2; search++) {
        struct problem p = made();
        p.quartic = 1;
        p.optim = THOptim_newLbfgs(p.params, 2, 0.5, 4, 100, 1e-7, 1e-9, search);
        CHECK_ERROR(THOptim_step(p.optim), TH_ERR_ARGUMENT, "THOptim_stepClosure");
        for (int k = 0; k < 2; k++) CHECK_OK(THOptim_stepClosure(p.optim, closure, &p));
        CHECK_EQ(p.calls, search ? 10 : 8);
        CHECK_CLOSE(p.params[0], 1e-8, 0.268259130112, -0.423400508628, 0.187844567665);
        CHECK_CLOSE(p.params[1], 1e-8, 0.0196704527486);
        end(&p);
    }
}

/* Returns a loss that is NaN from the second call on, or from the first. */
static THStatus not_a_number(void *context, double *loss) {
    struct problem *p = context;
    int first = p->calls == 0;
    THStatus status = closure(context, loss);
    if (!first || p->quartic) *loss = NAN;
    return status;
}

static void lbfgs_ends_where_the_loss_is_not_a_number(void) {
    for (int k = 0; k < 4; k++) {
        struct problem p = made();
        p.quartic = k % 2;
        p.optim = THOptim_newLbfgs(p.params, 2, 0.5, INT64_MAX, 10, 0, 0, k / 2);
        CHECK_OK(THOptim_stepClosure(p.optim, not_a_number, &p));
        CHECK(p.calls <= 60);
        end(&p);
    }
}

static THStatus failing(void *context, double *loss) {
    (void)context;
    *loss = 0;
    return 77;
}

/* While its closure runs, an optimizer is busy, but zeroGrad works. */
static THStatus meddling(void *context, double *loss) {
    struct problem *p = context;
    CHECK_ERROR(THOptim_step(p->optim), TH_ERR_ARGUMENT, "in the middle of a step");
    CHECK_ERROR(THOptim_stepClosure(p->optim, meddling, p), TH_ERR_ARGUMENT, "in the middle of a step");
    return closure(context, loss);
}

static void closures_may_fail(void) {
    struct problem p = made();
    p.optim = THOptim_newLbfgs(p.params, 2, 1, 1, 10, 1e-7, 1e-9, 0);
    CHECK_EQ(THOptim_stepClosure(p.optim, failing, NULL), 77);
    CHECK_STR(THGetLastError(), "THOptim_stepClosure: the closure returned 77");
    CHECK_VALUES(p.params[0], 1, -2, 0.5);
    CHECK_OK(THOptim_stepClosure(p.optim, meddling, &p));
    end(&p);
    p = made();
    p.optim = THOptim_newSgd(p.params, 2, 0.01, 0, 0, 0, 0);
    CHECK_EQ(THOptim_stepClosure(p.optim, failing, NULL), 77);
    for (int k = 0; k < 3; k++) CHECK_OK(THOptim_stepClosure(p.optim, closure, &p));
    CHECK_CLOSE(p.params[0], NEAR, 1.0277925, -1.8831045, 0.542643);
    end(&p);
}

static void what_has_no_gradient_stays(void) {
    struct problem p = made();
    THTensor *g = vector_of(TH_FLOAT64, 1, 2, 3);
    p.optim = THOptim_newSgd(p.params, 2, 0.5, 0, 0, 0, 0);
    CHECK_OK(THTensor_setGrad(p.params[0], g));
    int64_t version = THTensor_version(p.params[0]);
    CHECK_OK(THOptim_step(p.optim));
    CHECK_VALUES(p.params[0], 0.5, -3, -1);
    CHECK_VALUES(p.params[1], 0.25);
    CHECK_EQ(THTensor_version(p.params[0]), version + 1);
    CHECK_NEAR(THOptim_getLr(p.optim), 0.5, 0);
    CHECK_OK(THOptim_setLr(p.optim, 0.25));
    CHECK_OK(THOptim_step(p.optim));
    CHECK_VALUES(p.params[0], 0.25, -3.5, -1.75);
    CHECK_OK(THOptim_zeroGrad(p.optim, 0));
    CHECK_VALUES(g, 0, 0, 0);
    CHECK_OK(THOptim_zeroGrad(p.optim, 1));
    CHECK(THTensor_newGrad(p.params[0]) == NULL);
    THTensor_free(g);
    end(&p);
    /* The parameters may be views of one tensor. */
    THTensor *all = vector_of(TH_FLOAT32, 1, 2, 3, 4), *half[2], *ones = vector_of(TH_FLOAT32, 1, 1);
    for (int k = 0; k < 2; k++) {
        half[k] = THTensor_newSlice(all, 0, k, 4, 2);
        CHECK_OK(THTensor_setRequiresGrad(half[k], 1));
        CHECK_OK(THTensor_setGrad(half[k], ones));
    }
    THOptim *optim = THOptim_newAdam(half, 2, 0.5, 0.9, 0.999, 1e-8, 0, 0);
    CHECK_OK(THOptim_step(optim));
    CHECK_CLOSE(all, 1e-6, 0.5, 1.5, 2.5, 3.5);
    THOptim_free(optim);
    for (int k = 0; k < 2; k++) THTensor_free(half[k]);
    THTensor_free(all);
    THTensor_free(ones);
}

/* The elements of a group move by the hyperparameters of the group. */
static void groups_have_hyperparameters(void) {
    struct problem p = made();
    THTensor *g[2] = {vector_of(TH_FLOAT64, 1, 2, 3), matrix_of(TH_FLOAT64, 1, 4)}, *whole = vector_of(TH_INT64, 1);
    p.optim = THOptim_newSgd(p.params, 1, 0.5, 0, 0, 0, 0);
    CHECK_EQ(THOptim_groupCount(p.optim), 1);
    CHECK_OK(THOptim_set(p.optim, 0, "weightDecay", 2));
    CHECK_EQ(THOptim_addGroup(p.optim, p.params + 1, 1), 1);
    CHECK_EQ(THOptim_groupCount(p.optim), 2);
    CHECK_NEAR(THOptim_get(p.optim, 1, "lr"), 0.5, 0);
    CHECK_NEAR(THOptim_get(p.optim, 1, "weightDecay"), 2, 0);
    CHECK_OK(THOptim_set(p.optim, 1, "weightDecay", 0));
    CHECK_OK(THOptim_set(p.optim, 1, "lr", 0.25));
    for (int k = 0; k < 2; k++) CHECK_OK(THTensor_setGrad(p.params[k], g[k]));
    CHECK_OK(THOptim_step(p.optim));
    CHECK_VALUES(p.params[0], 1 - 0.5 * 3, -2 - 0.5 * -2, 0.5 - 0.5 * 4);
    CHECK_VALUES(p.params[1], 0.25 - 0.25 * 4);
    CHECK_OK(THOptim_set(p.optim, 1, "maximize", 1));
    CHECK_OK(THOptim_set(p.optim, 0, "lr", 0));
    CHECK_OK(THOptim_step(p.optim));
    CHECK_VALUES(p.params[0], 1 - 0.5 * 3, -2 - 0.5 * -2, 0.5 - 0.5 * 4);
    CHECK_VALUES(p.params[1], 0.25);
    CHECK_OK(THOptim_zeroGrad(p.optim, 1));
    CHECK(THTensor_newGrad(p.params[1]) == NULL);
    CHECK_OK(THOptim_setLr(p.optim, 0.125));
    CHECK_NEAR(THOptim_get(p.optim, 1, "lr"), 0.125, 0);
    /* An invalid value changes nothing. */
    CHECK_ERROR(THOptim_set(p.optim, 1, "lr", -1), TH_ERR_ARGUMENT, "lr is -1");
    CHECK_ERROR(THOptim_set(p.optim, 1, "nesterov", 1), TH_ERR_ARGUMENT, "nesterov takes a momentum");
    CHECK_ERROR(THOptim_set(p.optim, 1, "nesterov", 0.5), TH_ERR_ARGUMENT, "nesterov is 0.5, expected 0 or 1");
    CHECK_ERROR(THOptim_set(p.optim, 1, "dampening", NAN), TH_ERR_ARGUMENT, "dampening is NaN");
    CHECK_ERROR(THOptim_set(p.optim, 1, "beta1", 0), TH_ERR_ARGUMENT, "Sgd has no hyperparameter 'beta1'");
    CHECK_ERROR(THOptim_set(p.optim, 2, "lr", 0), TH_ERR_ARGUMENT, "group 2 of 2");
    CHECK_FAILURE(isnan(THOptim_get(p.optim, -1, "lr")), TH_ERR_ARGUMENT, "group -1 of 2");
    CHECK_NEAR(THOptim_get(p.optim, 1, "lr"), 0.125, 0);
    CHECK_NEAR(THOptim_get(p.optim, 1, "nesterov"), 0, 0);
    CHECK_FAILURE(THOptim_addGroup(p.optim, p.params, 1) == -1, TH_ERR_ARGUMENT, "entry 0 of 'params' is a parameter of another");
    CHECK_FAILURE(THOptim_addGroup(p.optim, &whole, 1) == -1, TH_ERR_DTYPE, "only floats");
    CHECK_FAILURE(THOptim_addGroup(p.optim, NULL, 0) == -1, TH_ERR_ARGUMENT, "there are no parameters");
    CHECK_EQ(THOptim_groupCount(p.optim), 2);
    end(&p);
    for (int k = 0; k < 2; k++) THTensor_free(g[k]);
    p = made();
    p.optim = THOptim_newLbfgs(p.params, 1, 1, 6, 5, 1e-7, 1e-9, 1);
    CHECK_NEAR(THOptim_get(p.optim, 0, "maxEval"), 7, 0);
    CHECK_NEAR(THOptim_get(p.optim, 0, "strongWolfe"), 1, 0);
    CHECK_OK(THOptim_set(p.optim, 0, "historySize", 9));
    CHECK_NEAR(THOptim_get(p.optim, 0, "historySize"), 9, 0);
    CHECK_ERROR(THOptim_set(p.optim, 0, "maxIter", 1.5), TH_ERR_ARGUMENT, "maxIter is 1.5, expected a whole number");
    CHECK_ERROR(THOptim_set(p.optim, 0, "maxEval", 0), TH_ERR_ARGUMENT, "maxEval is 0");
    CHECK_ERROR(THOptim_set(p.optim, 0, "maximize", 1), TH_ERR_ARGUMENT, "Lbfgs has no hyperparameter");
    CHECK_FAILURE(THOptim_addGroup(p.optim, p.params + 1, 1) == -1, TH_ERR_ARGUMENT, "one group");
    THTensor_free(whole);
    end(&p);
}

static void what_is_refused(void) {
    struct problem p = made();
    THTensor *twice[2] = {p.params[0], p.params[0]}, *result = THTensor_new(), *whole = vector_of(TH_INT64, 1);
    CHECK_OK(THTensor_mul(result, p.params[0], 2));
    CHECK_FAILURE(THOptim_newSgd(p.params, 0, 0.1, 0, 0, 0, 0) == NULL, TH_ERR_ARGUMENT, "there are no parameters");
    CHECK_FAILURE(THOptim_newSgd(twice, 2, 0.1, 0, 0, 0, 0) == NULL, TH_ERR_ARGUMENT, "entry 1 of 'params' is there twice");
    CHECK_FAILURE(THOptim_newSgd(&result, 1, 0.1, 0, 0, 0, 0) == NULL, TH_ERR_ARGUMENT, "entry 0 of 'params' is the result");
    CHECK_FAILURE(THOptim_newSgd(&whole, 1, 0.1, 0, 0, 0, 0) == NULL, TH_ERR_DTYPE, "only floats");
    CHECK_FAILURE(THOptim_newSgd(p.params, 2, -0.1, 0, 0, 0, 0) == NULL, TH_ERR_ARGUMENT, "lr is -0.1");
    CHECK_FAILURE(THOptim_newSgd(p.params, 2, 0.1, 0.9, 0.1, 0, 1) == NULL, TH_ERR_ARGUMENT, "nesterov");
    CHECK_FAILURE(THOptim_newAdam(p.params, 2, 0.1, 0.9, 1, 1e-8, 0, 0) == NULL, TH_ERR_ARGUMENT, "beta2 is 1");
    CHECK_FAILURE(THOptim_newAdamw(p.params, 2, 0.1, 0.9, 0.9, 1e-8, -1, 0) == NULL, TH_ERR_ARGUMENT, "weightDecay is -1");
    CHECK_FAILURE(THOptim_newRmsprop(p.params, 2, 0.1, NAN, 1e-8, 0, 0, 0) == NULL, TH_ERR_ARGUMENT, "alpha is NaN");
    CHECK_FAILURE(THOptim_newLbfgs(p.params, 2, 1, 0, 5, 1e-7, 1e-9, 0) == NULL, TH_ERR_ARGUMENT, "maxIter is 0");
    CHECK_FAILURE(THOptim_newAdagrad(p.params, 2, 0.1, -1, 0, 0, 0) == NULL, TH_ERR_ARGUMENT, "lrDecay is -1");
    CHECK_FAILURE(THOptim_newAdagrad(p.params, 2, 0.1, 0, 0, -2, 0) == NULL, TH_ERR_ARGUMENT, "initialAccumulatorValue is -2");
    CHECK_FAILURE(THOptim_newAdadelta(p.params, 2, 0.1, 1.5, 0, 0) == NULL, TH_ERR_ARGUMENT, "rho is 1.5");
    CHECK_FAILURE(THOptim_newNadam(p.params, 2, 0.1, 0.9, 0.9, 0, 0, NAN, 0) == NULL, TH_ERR_ARGUMENT, "momentumDecay is NaN");
    CHECK_FAILURE(THOptim_newRadam(p.params, 2, 0.1, 0.9, 1, 0, 0, 0) == NULL, TH_ERR_ARGUMENT, "beta2 is 1");
    CHECK_FAILURE(THOptim_newLamb(p.params, 2, 0.1, 0.9, 0.9, -1, 0) == NULL, TH_ERR_ARGUMENT, "eps is -1");
    CHECK_FAILURE(THOptim_newAdafactor(p.params, 2, 0.1, 0.5, -1, 0, 1, 0) == NULL, TH_ERR_ARGUMENT, "beta2Decay is 0.5");
    CHECK_FAILURE(THOptim_newAdafactor(p.params, 2, 0.1, -1, NAN, 0, 1, 0) == NULL, TH_ERR_ARGUMENT, "eps1 is NaN");
    CHECK_FAILURE(THOptim_newAdafactor(p.params, 2, 0.1, -1, -1, -1, 1, 0) == NULL, TH_ERR_ARGUMENT, "eps2 is -1");
    CHECK_FAILURE(THOptim_newAdafactor(p.params, 2, 0.1, -1, -1, 0, 0.5, 0) == NULL, TH_ERR_ARGUMENT, "d is 0.5");
    CHECK_FAILURE(THOptim_newAdafactor(p.params, 2, 0.1, -1, -1, 0, 1, NAN) == NULL, TH_ERR_ARGUMENT, "weightDecay is NaN");
    p.optim = THOptim_newSgd(p.params, 2, 0.1, 0, 0, 0, 0);
    CHECK_ERROR(THOptim_setLr(p.optim, NAN), TH_ERR_ARGUMENT, "lr is NaN");
    CHECK_ERROR(THOptim_stepClosure(p.optim, NULL, NULL), TH_ERR_ARGUMENT, "argument 'closure' is NULL");
    CHECK_ERROR(THOptim_step(NULL), TH_ERR_ARGUMENT, "argument 'o' is NULL");
    THOptim_free(NULL);
    THTensor_free(result);
    THTensor_free(whole);
    end(&p);
}

CHECK_MAIN(CASE(steps_are_those_of_pytorch), CASE(more_steps_are_those_of_pytorch),
           CASE(adafactor_folds_rows_and_columns), CASE(lengths_of_zero), CASE(lbfgs_calls_a_closure),
           CASE(lbfgs_ends_where_the_loss_is_not_a_number), CASE(closures_may_fail),
           CASE(what_has_no_gradient_stays), CASE(groups_have_hyperparameters), CASE(what_is_refused))
