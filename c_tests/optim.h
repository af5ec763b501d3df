/* A problem for optimizers: parameters, a loss, and its gradients. */
#ifndef OPTIM_H
#define OPTIM_H

#include "check.h"

/* Two parameters with the loss `|a|^2 / 2 + (3 b - sum of a)^2`, plus the sum of a^4 if `quartic`. */
struct problem {
    THTensor *params[2];
    THOptim *optim;
    int quartic, calls;
};

static struct problem made(void) {
    struct problem p = {{vector_of(TH_FLOAT64, 1, -2, 0.5), matrix_of(TH_FLOAT64, 1, 0.25)}, NULL, 0, 0};
    for (int k = 0; k < 2; k++) CHECK_OK(THTensor_setRequiresGrad(p.params[k], 1));
    return p;
}

static void end(struct problem *p) {
    THOptim_free(p->optim);
    for (int k = 0; k < 2; k++) THTensor_free(p->params[k]);
}

/* Computes the loss and the gradients at the current parameters. */
static inline THStatus closure(void *context, double *loss) {
    struct problem *p = context;
    THTensor *total = THTensor_new(), *square = THTensor_new(), *fourth = THTensor_new(), *sum = THTensor_new(),
             *rest = THTensor_new(), *part = THTensor_new();
    p->calls++;
    CHECK_OK(THOptim_zeroGrad(p->optim, p->calls % 2));
    CHECK_OK(THTensor_cmul(square, p->params[0], p->params[0]));
    CHECK_OK(THTensor_sumDims(total, square, 0, NULL, 0, TH_UNDEFINED));
    CHECK_OK(THTensor_mul(total, total, 0.5));
    if (p->quartic) {
        CHECK_OK(THTensor_cmul(fourth, square, square));
        CHECK_OK(THTensor_sumDims(part, fourth, 0, NULL, 0, TH_UNDEFINED));
        CHECK_OK(THTensor_cadd(total, total, 1, part));
    }
    CHECK_OK(THTensor_sumDims(sum, p->params[0], 0, NULL, 0, TH_UNDEFINED));
    CHECK_OK(THTensor_mul(rest, p->params[1], 3));
    CHECK_OK(THTensor_mseLoss(part, rest, sum, TH_REDUCTION_SUM));
    CHECK_OK(THTensor_cadd(total, total, 1, part));
    CHECK_OK(THTensor_backward(total, NULL));
    *loss = THTensor_item(total);
    THTensor *all[] = {total, square, fourth, sum, rest, part};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
    return TH_OK;
}

#endif
