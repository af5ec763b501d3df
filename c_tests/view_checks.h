/* The checks that the tests of views and of shapes share. */

#ifndef VIEW_CHECKS_H
#define VIEW_CHECKS_H

#include "check.h"

/* A row-major float32 tensor of these sizes with the elements 0, 1, 2 ... */
static THTensor *counted(int ndim, const int64_t *size) {
    THTensor *t = THTensor_newWithSizes(TH_FLOAT32, ndim, size);
    float *data = THTensor_data(t);
    for (ptrdiff_t i = 0; i < THTensor_nElement(t); i++) data[i] = (float)i;
    return t;
}

/* The view that `call` makes of `src` in `r` equals `view`: for a fresh handle `r`, for a handle that had elements, and
 * in place, where `src` is `r`: CHECK_FORMS(column, t, THTensor_select(r, src, 1, 2)) */
#define CHECK_FORMS(view, source, call)                                                                                \
    do {                                                                                                               \
        THTensor *src = (source), *r = THTensor_new();                                                                 \
        CHECK_OK(call);                                                                                                \
        CHECK(THTensor_isSetTo(r, view));                                                                              \
        CHECK_EQ(THTensor_dtype(r), THTensor_dtype(view));                                                             \
        THTensor_free(r);                                                                                              \
        r = matrix_of(TH_INT64, 2, 1, 2, 3, 4);                                                                        \
        CHECK_OK(call);                                                                                                \
        CHECK(THTensor_isSetTo(r, view));                                                                              \
        CHECK_EQ(THTensor_dtype(r), THTensor_dtype(view));                                                             \
        CHECK_OK(THTensor_set(r, source));                                                                             \
        src = r;                                                                                                       \
        CHECK_OK(call);                                                                                                \
        CHECK(THTensor_isSetTo(r, view));                                                                              \
        THTensor_free(r);                                                                                              \
    } while (0)

/* Both forms of a view operation refuse, and the handle for the result is unchanged. */
#define CHECK_REFUSED(into, make, source, status, text, ...)                                                           \
    do {                                                                                                               \
        THTensor *r = vector_of(TH_INT16, 1, 2);                                                                       \
        CHECK_FAILURE(make(source, __VA_ARGS__) == NULL, status, text);                                                \
        CHECK_ERROR(into(r, source, __VA_ARGS__), status, text);                                                       \
        CHECK_VALUES(r, 1, 2);                                                                                         \
        CHECK_EQ(THTensor_dtype(r), TH_INT16);                                                                         \
        THTensor_free(r);                                                                                              \
    } while (0)

#define CHECK_OFFSET(t, offset) CHECK_EQ(THTensor_storageOffset(t), offset)
#define CHECK_SHARED(t, src) CHECK(THTensor_storage(t) == THTensor_storage(src))

#endif
