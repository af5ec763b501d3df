/* When memory runs out while operations are recorded, and while backward runs: gradients stay as they were. */
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

CHECK_MAIN(CASE(a_graph_without_memory_is_an_error), CASE(backward_without_memory_leaves_gradients_as_they_were))
