/* Memory runs out while operations are recorded, and while backward runs: gradients are unchanged. */
#define _GNU_SOURCE
#include "check.h"
#include "refuse.h"

static THTensor *w, *x;

/* The loss of a small net, by operations of all kinds: views, writes into a buffer, products, reductions. */
static THStatus forward(THTensor *loss) {
    THTensor *buffer = THTensor_newZeros(TH_FLOAT64, SIZES(2, 3)), *row = THTensor_new(), *h = THTensor_new();
    THTensor *turned = THTensor_new(), *r = THTensor_new();
    THStatus status = buffer && row && h && turned && r ? TH_OK : TH_ERR_NOMEM;
    for (int i = 0; i < 2 && !status; i++) {
        if (!status) status = THTensor_select(row, buffer, 0, i);
        if (!status) status = THTensor_mul(h, w, i + 1);
        if (!status) status = THTensor_copy(row, h);
        if (!status) status = THTensor_reset(h);
    }
    if (!status) status = THTensor_t(turned, buffer);
    if (!status) status = THTensor_mm(r, x, turned);
    if (!status) status = THTensor_tanh(r, r);
    if (!status) status = THTensor_sumDims(loss, r, 0, NULL, 0, TH_UNDEFINED);
    THTensor *all[] = {buffer, row, h, turned, r};
    for (int k = 0; k < 5; k++) THTensor_free(all[k]);
    return status;
}

static THTensor *expected(void) {
    THTensor *loss = THTensor_new();
    CHECK_OK(forward(loss));
    CHECK_OK(THTensor_backward(loss, NULL));
    THTensor *grad = THTensor_newGrad(w), *kept = THTensor_newClone(grad);
    CHECK_OK(THTensor_setGrad(w, NULL));
    THTensor_free(grad);
    THTensor_free(loss);
    return kept;
}

static void begin(void) {
    w = check_vector(TH_FLOAT64, (const double[]){0.1, 0.2, 0.3}, 3);
    x = check_matrix(TH_FLOAT64, 2, (const double[]){1, 2, 3, 4, 5, 6}, 6);
    CHECK_OK(THTensor_setRequiresGrad(w, 1));
}

static void end(void) {
    THTensor_free(w);
    THTensor_free(x);
}

static void a_graph_without_memory_is_an_error(void) {
    begin();
    THTensor *right = expected();
    for (int following = 0; following < 2; following++) {
        bool refused = true;
        for (int n = 0; refused; n++) {
            THTensor *loss = THTensor_new();
            refuse(n, following ? FOR_GOOD : n);
            THStatus status = forward(loss);
            refused = was_refused();
            if (!CHECK(status == TH_OK || status == TH_ERR_NOMEM)) break;
            if (status == TH_OK) {
                CHECK_OK(THTensor_backward(loss, NULL));
                THTensor *grad = THTensor_newGrad(w);
                CHECK(THTensor_equal(grad, right));
                THTensor_free(grad);
                CHECK_OK(THTensor_setGrad(w, NULL));
            }
            THTensor_free(loss);
        }
    }
    THTensor_free(right);
    end();
}

static void backward_without_memory_leaves_gradients_as_they_were(void) {
    begin();
    THTensor *right = expected(), *loss = THTensor_new(), *old = THTensor_newOnes(TH_FLOAT64, SIZES(3));
    CHECK_OK(forward(loss));
    for (int kept = 0; kept < 2; kept++) {
        bool refused = true;
        for (int n = 0; refused; n++) {
            THTensor *was = kept ? THTensor_newClone(old) : NULL;
            CHECK_OK(THTensor_setGrad(w, was));
            refuse(n, n);
            THStatus status = THGrad_backward(&loss, NULL, 1, 1, 0);
            refused = was_refused();
            if (!CHECK(status == TH_OK || status == TH_ERR_NOMEM)) break;
            THTensor *grad = THTensor_newGrad(w);
            if (status != TH_OK) CHECK(kept ? THTensor_isSetTo(grad, was) && THTensor_equal(grad, old) : grad == NULL);
            if (status == TH_OK && kept) CHECK_OK(THTensor_csub(grad, grad, 1, old));
            if (status == TH_OK) CHECK(THTensor_allclose(grad, right, 1e-12, 1e-15, 0));
            THTensor_free(grad);
            THTensor_free(was);
        }
    }
    THTensor_free(old);
    THTensor_free(loss);
    THTensor_free(right);
    end();
}

/* Backward of the same graph can be repeated until there is memory, even without retaining the graph. Its tensors are too large for the
 * cache. */
static void backward_without_memory_can_be_repeated(void) {
    THTensor *t = THTensor_newZeros(TH_FLOAT64, SIZES(1 << 16)), *e = THTensor_new(), *y = THTensor_new(), *sum = THTensor_new();
    CHECK_OK(THTensor_setRequiresGrad(t, 1));
    CHECK_OK(THTensor_exp(e, t));
    CHECK_OK(THTensor_cmul(y, e, e));
    CHECK_OK(THTensor_sin(y, y));
    CHECK_OK(THTensor_sumDims(sum, y, 0, NULL, 0, TH_UNDEFINED));
    THStatus status = TH_ERR_NOMEM;
    int failures = -1;
    for (; status == TH_ERR_NOMEM; failures++) {
        THAllocator_emptyCache();
        refuse(failures + 1, FOR_GOOD);
        status = THTensor_backward(sum, NULL);
        was_refused();
        THTensor *grad = THTensor_newGrad(t);
        CHECK((grad == NULL) == (status != TH_OK));
        THTensor_free(grad);
    }
    CHECK_EQ(status, TH_OK);
    CHECK(failures > 0);
    /* 2 exp(2 t) cos(exp(2 t)) at t = 0 */
    THTensor *grad = THTensor_newGrad(t);
    CHECK_NEAR(grad ? THTensor_minall(grad) : NAN, 2 * cos(1), 1e-12);
    CHECK_NEAR(grad ? THTensor_maxall(grad) : NAN, 2 * cos(1), 1e-12);
    THTensor_free(grad);
    THTensor_free(sum);
    THTensor_free(y);
    THTensor_free(e);
    THTensor_free(t);
}

/* sin and cos of the input. */
static THStatus both_of(const THTensor *const *inputs, int n, THTensor *const *outputs, int m, void *context) {
    (void)n, (void)m, (void)context;
    THStatus status = THTensor_sin(outputs[0], inputs[0]);
    return status ? status : THTensor_cos(outputs[1], inputs[0]);
}

static THStatus both_forward(THGradCall *call, const THTensor *const *from, int n, THTensor *const *to, int m, void *context) {
    THStatus status = both_of(from, n, to, m, context);
    if (!status) status = THGrad_save(call, to[0]);
    return status ? status : THGrad_save(call, to[1]);
}

/* g[0] cos(x) - g[1] sin(x), where both gradients are 1. */
static THStatus both_backward(THGradCall *call, const THTensor *const *from, int n, THTensor *const *to, int m, void *context) {
    (void)from, (void)n, (void)m, (void)context;
    THTensor *sine = THGrad_newSaved(call, 0), *cosine = THGrad_newSaved(call, 1);
    THStatus status = sine && cosine ? THTensor_csub(to[0], cosine, 1, sine) : TH_ERR_NOMEM;
    THTensor_free(sine);
    THTensor_free(cosine);
    return status;
}

static void functions_without_memory_leave_fresh_handles(void) {
    begin();
    for (int own = 0; own < 2; own++) {
        bool refused = true;
        for (int n = 0; refused; n++) {
            THTensor *r[] = {THTensor_new(), THTensor_new()}, *sum = THTensor_new();
            refuse(n, n);
            THStatus status = own ? THGrad_apply(r, 2, &w, 1, both_forward, both_backward, NULL, NULL)
                                  : THGrad_checkpoint(r, 2, &w, 1, both_of, NULL, NULL);
            refused = was_refused();
            if (!CHECK(status == TH_OK || status == TH_ERR_NOMEM)) break;
            for (int k = 0; status && k < 2; k++) {
                CHECK(r[k]->storage == NULL && r[k]->nDimension == 0 && THTensor_requiresGrad(r[k]) == 0);
            }
            if (!status) {
                CHECK_OK(THTensor_cadd(sum, r[0], 1, r[1]));
                CHECK_OK(THTensor_sumDims(sum, sum, 0, NULL, 0, TH_UNDEFINED));
                CHECK_OK(THTensor_backward(sum, NULL));
                THTensor *grad = THTensor_newGrad(w);
                CHECK_CLOSE(grad, 1e-12, cos(0.1) - sin(0.1), cos(0.2) - sin(0.2), cos(0.3) - sin(0.3));
                THTensor_free(grad);
                CHECK_OK(THTensor_setGrad(w, NULL));
            }
            THTensor_free(sum);
            THTensor_free(r[0]);
            THTensor_free(r[1]);
        }
    }
    end();
}

CHECK_MAIN(CASE(a_graph_without_memory_is_an_error), CASE(backward_without_memory_leaves_gradients_as_they_were),
           CASE(backward_without_memory_can_be_repeated), CASE(functions_without_memory_leave_fresh_handles))
