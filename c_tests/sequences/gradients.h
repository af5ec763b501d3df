/* Gradients: hooks and other callbacks, which call the library and sometimes refuse. */
#ifndef THORN_SEQUENCES_GRADIENTS_H
#define THORN_SEQUENCES_GRADIENTS_H

#include "runtime.h"

/* The number of hooks, and contexts of functions, that a sequence has passed to the library and that the library has
 * not freed yet. */
static int grad_contexts;

static void end_grad_context(void *data, void *context) {
    if (data != context || context != &grad_contexts) fail("a deleter got %p and %p", data, context);
    grad_contexts--;
}

/* Makes some float tensors of the pool leaves that require gradients. */
static void some_leaves(void) {
    THGrad_setEnabled(1);
    for (int i = 0; i < TENSORS; i++)
        if (chance(40)) THTensor_setRequiresGrad(pool.tensor[i], 1);
    THClearLastError();
}

/* Recording is on most of the time. */
static void call_THGrad_setEnabled(void) {
    begin("THGrad_setEnabled");
    int enabled = chance(80);
    before();
    after_status(THGrad_setEnabled(enabled));
}

static void call_THGrad_setInference(void) {
    begin("THGrad_setInference");
    int on = chance(10);
    before();
    after_status(THGrad_setInference(on));
}

/* The sum of a tensor, or the tensor itself. */
static THTensor *some_loss(void) {
    THTensor *t = tensor("t"), *sum = THTensor_new();
    if (chance(70) && THTensor_sumDims(sum, t, 0, NULL, 0, TH_UNDEFINED) == TH_OK) return sum;
    THTensor_free(sum);
    THTensor_retain(t);
    return t;
}

static void call_THTensor_backward(void) {
    begin("THTensor_backward");
    THTensor *loss = some_loss(), *gradient = chance(80) ? NULL : tensor("gradient");
    before();
    THStatus got = THTensor_backward(loss, gradient);
    if (got != 7 && got != THGetLastErrorCode()) fail("returned %d, but THGetLastErrorCode is %d", got, THGetLastErrorCode());
    after_call(true);
    THTensor_free(loss);
}

static void call_THGrad_backward(void) {
    begin("THGrad_backward");
    THTensor *losses[] = {some_loss(), some_loss()};
    int count = below(3), retain = below(2), create = chance(30);
    before();
    THStatus got = THGrad_backward(losses, NULL, count, retain, create);
    if (got != 7 && got != THGetLastErrorCode()) fail("returned %d, but THGetLastErrorCode is %d", got, THGetLastErrorCode());
    after_call(true);
    THTensor_free(losses[0]);
    THTensor_free(losses[1]);
}

/* A hook. Sometimes it replaces the gradient, sometimes by a tensor that does not fit, and sometimes it stops
 * backward. */
static THStatus a_hook(const THTensor *gradient, THTensor **replacement, void *context) {
    (void)context;
    if (chance(10)) return 7;
    if (chance(30)) *replacement = THTensor_newClone(gradient);
    if (!*replacement && chance(5)) *replacement = THTensor_newScalar(TH_INT64, 1);
    if (chance(5)) THTensor_backward(pool.tensor[0], NULL);
    THClearLastError();
    return TH_OK;
}

static void call_THTensor_addHook(void) {
    begin("THTensor_addHook");
    THTensor *t = tensor("t");
    bool counted = chance(50);
    before();
    grad_contexts += counted;
    int64_t got = THTensor_addHook(t, chance(5) ? NULL : a_hook, &grad_contexts, counted ? end_grad_context : NULL);
    /* The library frees the context of a refused hook only if it took the context over. */
    if (got < 0) grad_contexts -= counted;
    after();
}

static THStatus a_rule(THGradCall *call, const THTensor *const *from, int n, THTensor *const *to, int m, void *context) {
    (void)context;
    if (chance(10)) return 7;
    for (int i = 0; i < n && from[i]; i++) THGrad_save(call, (THTensor *)from[i]);
    for (int i = 0; i < m; i++) {
        const THTensor *t = n > 0 ? from[below(n)] : NULL;
        if (t && to[i] && chance(90)) THTensor_mul(to[i], t, 2);
    }
    THTensor *saved = THGrad_newSaved(call, whole("index"));
    THTensor_free(saved);
    THGrad_needsGradient(call, whole("index"));
    THClearLastError();
    return TH_OK;
}

static THStatus a_function(const THTensor *const *inputs, int n, THTensor *const *outputs, int m, void *context) {
    return a_rule(NULL, inputs, n, outputs, m, context);
}

static void after_grad_function(THStatus got) {
    if (got != 7 && got != THGetLastErrorCode()) fail("returned %d, but THGetLastErrorCode is %d", got, THGetLastErrorCode());
    after_call(true);
}

static void call_THGrad_apply(void) {
    begin("THGrad_apply");
    int m = entries("outputCount"), n = entries("inputCount");
    THTensor **outputs = handles("outputs", m), **inputs = handles("inputs", n);
    THGradRule forward = chance(5) ? NULL : a_rule, backward = chance(5) ? NULL : a_rule;
    before();
    after_grad_function(THGrad_apply(outputs, m, inputs, n, forward, backward, NULL, NULL));
}

static void call_THGrad_checkpoint(void) {
    begin("THGrad_checkpoint");
    int m = entries("outputCount"), n = entries("inputCount");
    THTensor **outputs = handles("outputs", m), **inputs = handles("inputs", n);
    before();
    after_grad_function(THGrad_checkpoint(outputs, m, inputs, n, chance(5) ? NULL : a_function, NULL, NULL));
}

static void call_THGrad_check(void) {
    begin("THGrad_check");
    int n = entries("inputCount");
    THTensor **inputs = handles("inputs", n);
    before();
    after_grad_function(THGrad_check(inputs, n, below(3), chance(5) ? NULL : a_function, NULL, 1e-6, 1e-5, 1e-3));
}

/* Only the library makes a THGradCall, so this function is not drawn. */
static void call_THGrad_save(void) {
    begin("THGrad_save");
    THTensor *t = tensor("t");
    before();
    after_status(THGrad_save(NULL, t));
}

static void call_THGrad_newSaved(void) {
    begin("THGrad_newSaved");
    before();
    if (THGrad_newSaved(NULL, 0)) fail("a tensor without a call");
    after();
}

static void call_THGrad_needsGradient(void) {
    begin("THGrad_needsGradient");
    before();
    if (THGrad_needsGradient(NULL, 0)) fail("1 without a call");
    after();
}

/* Gradients are also added in place to the gradients of leaves that are not arguments. */
static void call_THGrad_gradients(void) {
    begin("THGrad_gradients");
    int m = entries("outputCount"), n = entries("inputCount"), count = n;
    THTensor **outputs = handles("outputs", m), **gradients = chance(60) ? NULL : handles("gradients", m);
    THTensor **inputs = handles("inputs", n), *r[1000] = {0};
    if (n > 1000) count = 1000;
    int retain = below(2), create = chance(20), unused = below(2);
    before();
    THStatus got = THGrad_gradients(chance(10) ? NULL : r, &count, outputs, gradients, m, inputs, n, retain, create, unused);
    after_grad_function(got);
    for (int i = 0; got == TH_OK && i < count && i < 1000; i++) keep_tensor(r[i]);
}

#endif
