/* Pooling: the maxima or the means of windows of images. */

#include "check.h"

static THTensor *image_of(int64_t height, int64_t width) {
    THTensor *t = THTensor_newArange(TH_FLOAT32, 1, (double)(height * width + 1), 1);
    CHECK_OK(THTensor_resize(t, SIZES(1, height, width), NULL));
    return t;
}

static void the_greatest_of_each_window_is_taken_with_its_place(void) {
    THTensor *image = image_of(4, 4), *r = THTensor_new(), *indices = THTensor_new();
    CHECK_OK(THTensor_maxPool2d(r, indices, image, SIZES(2), NULL, NULL, NULL, 0));
    CHECK_SHAPE(r, 1, 2, 2);
    CHECK_VALUES(r, 6, 8, 14, 16);
    CHECK_VALUES(indices, 5, 7, 13, 15);
    CHECK_EQ(THTensor_dtype(indices), TH_INT64);
    CHECK_OK(THTensor_maxPool2d(r, NULL, image, 1, (int64_t[]){3}, (int64_t[]){2}, (int64_t[]){1}, NULL, 0));
    CHECK_VALUES(r, 6, 8, 14, 16);

    /* Unpooling stores the elements at their previous positions. */
    THTensor *back = THTensor_new();
    CHECK_OK(THTensor_maxPool2d(r, indices, image, SIZES(2), NULL, NULL, NULL, 0));
    CHECK_OK(THTensor_maxUnpool(back, r, indices, SIZES(4, 4)));
    CHECK_VALUES(back, 0, 0, 0, 0, 0, 6, 0, 8, 0, 0, 0, 0, 0, 14, 0, 16);
    CHECK_ERROR(THTensor_maxUnpool(back, r, indices, SIZES(2, 4)), TH_ERR_ARGUMENT,
                "index 13 is out of range for planes of 8 elements");
    THTensor_free(back);
    THTensor_free(indices);
    THTensor_free(r);
    THTensor_free(image);
}

static void nan_is_greatest_and_the_first_of_equals_counts(void) {
    THTensor *line = matrix_of(TH_FLOAT64, 1, 2, 2, 1, NAN, 5, 0), *r = THTensor_new(), *indices = THTensor_new();
    CHECK_OK(THTensor_maxPool1d(r, indices, line, SIZES(2), NULL, NULL, NULL, 0));
    CHECK_VALUES(r, 2, NAN, 5);
    CHECK_VALUES(indices, 0, 3, 4);
    THTensor_free(indices);
    THTensor_free(r);
    THTensor_free(line);
}

static void windows_beyond_the_end_count_if_asked_to(void) {
    THTensor *line = matrix_of(TH_INT32, 1, 1, 2, 3, 4, 5), *r = THTensor_new();
    CHECK_OK(THTensor_maxPool1d(r, NULL, line, SIZES(2), NULL, NULL, NULL, 0));
    CHECK_VALUES(r, 2, 4);
    CHECK_OK(THTensor_maxPool1d(r, NULL, line, SIZES(2), NULL, NULL, NULL, 1));
    CHECK_VALUES(r, 2, 4, 5);
    CHECK_ERROR(THTensor_maxPool1d(r, NULL, line, 1, (int64_t[]){2}, NULL, (int64_t[]){2}, NULL, 0), TH_ERR_ARGUMENT,
                "padding 2 is more than half");
    CHECK_ERROR(THTensor_maxPool1d(r, NULL, line, SIZES(6), NULL, NULL, NULL, 0), TH_ERR_SHAPE, "kernel of 6 elements");
    THTensor_free(r);
    THTensor_free(line);
}

static void a_window_may_have_no_element(void) {
    /* The window's elements are before and after the only element of the image. */
    THTensor *line = matrix_of(TH_FLOAT32, 2, 7, 8), *r = THTensor_new(), *indices = THTensor_new();
    const int64_t kernel[] = {2}, stride[] = {1}, padding[] = {1}, dilation[] = {2};
    CHECK_OK(THTensor_maxPool1d(r, indices, line, 1, kernel, stride, padding, dilation, 0));
    CHECK_VALUES(r, -INFINITY, -INFINITY);
    CHECK_VALUES(indices, -1, -1);
    CHECK_OK(THTensor_maxPool1d(r, NULL, line, 1, kernel, stride, padding, dilation, 0));
    CHECK_VALUES(r, -INFINITY, -INFINITY);
    /* The index -1 receives no gradient. Other indices outside of the image are refused, and unpooling refuses -1,
     * too. */
    THTensor *given = matrix_of(TH_FLOAT32, 2, 10, 20), *grad = THTensor_new();
    CHECK_OK(THTensor_maxPoolGradInput(grad, given, indices, line, 1));
    CHECK_SHAPE(grad, 2, 1);
    CHECK_VALUES(grad, 0, 0);
    CHECK_OK(THTensor_set2d(indices, 0, 0, 0));
    CHECK_OK(THTensor_maxPoolGradInput(grad, given, indices, line, 1));
    CHECK_VALUES(grad, 10, 0);
    CHECK_ERROR(THTensor_maxUnpool(grad, given, indices, SIZES(1)), TH_ERR_ARGUMENT, "index -1 is out of range");
    CHECK_OK(THTensor_set2d(indices, 0, 0, -2));
    CHECK_ERROR(THTensor_maxPoolGradInput(grad, given, indices, line, 1), TH_ERR_ARGUMENT, "index -2 is out of range");
    CHECK_VALUES(grad, 10, 0);
    THTensor_free(grad);
    THTensor_free(given);
    THTensor_free(indices);
    THTensor_free(r);
    THTensor_free(line);
}

static void a_window_beyond_the_end_gets_its_gradient(void) {
    /* Windows of 1 and 2, of 3 and 4, and of 5 alone. */
    THTensor *line = matrix_of(TH_FLOAT64, 1, 1, 2, 3, 4, 5), *given = matrix_of(TH_FLOAT64, 1, 10, 20, 30);
    THTensor *r = THTensor_new(), *indices = THTensor_new(), *grad = THTensor_new();
    CHECK_OK(THTensor_maxPool1d(r, indices, line, SIZES(2), NULL, NULL, NULL, 1));
    CHECK_VALUES(indices, 1, 3, 4);
    CHECK_OK(THTensor_maxPoolGradInput(grad, given, indices, line, 1));
    CHECK_VALUES(grad, 0, 10, 0, 20, 30);
    CHECK_OK(THTensor_avgPool1d(r, line, SIZES(2), NULL, NULL, 1, 1, 0));
    CHECK_VALUES(r, 1.5, 3.5, 5);
    CHECK_OK(THTensor_avgPoolGradInput(grad, given, line, SIZES(2), NULL, NULL, 1, 1, 0));
    CHECK_VALUES(grad, 5, 5, 10, 10, 30);
    CHECK_OK(THTensor_avgPoolGradInput(grad, given, line, SIZES(2), NULL, NULL, 1, 0, 4));
    CHECK_VALUES(grad, 2.5, 2.5, 5, 5, 7.5);
    THTensor_free(grad);
    THTensor_free(indices);
    THTensor_free(r);
    THTensor_free(given);
    THTensor_free(line);
}

static void one_line_takes_the_memory_of_one(void) {
    enum { N = 1 << 18 };
    int threads = THGetNumThreads();
    THTensor *plane = THTensor_newOnes(TH_FLOAT64, SIZES(1, 2, N)), *r = THTensor_new();
    CHECK_OK(THSetNumThreads(32));
    CHECK_OK(THMemory_setSoftLimit(THMemory_liveBytes() + 3 * N * (int64_t)sizeof(double), NULL, NULL));
    CHECK_OK(THTensor_maxPool2d(r, NULL, plane, SIZES(2), NULL, NULL, NULL, 0));
    CHECK_EQ(THMemory_pressure(), 0);
    CHECK_OK(THMemory_setSoftLimit(0, NULL, NULL));
    THSetNumThreads(threads);
    THTensor_free(r);
    THTensor_free(plane);
}

static void means_are_of_what_counts(void) {
    THTensor *line = matrix_of(TH_FLOAT32, 1, 3, 6, 9, 12), *r = THTensor_new();
    const int64_t kernel[] = {3}, stride[] = {2}, padding[] = {1};
    CHECK_OK(THTensor_avgPool1d(r, line, 1, kernel, stride, padding, 0, 1, 0));
    CHECK_VALUES(r, 3, 9);
    CHECK_OK(THTensor_avgPool1d(r, line, 1, kernel, stride, padding, 0, 0, 0));
    CHECK_VALUES(r, 4.5, 9);
    CHECK_OK(THTensor_avgPool1d(r, line, 1, kernel, stride, padding, 0, 0, 9));
    CHECK_VALUES(r, 1, 3);
    THTensor *whole = THTensor_newTo(line, TH_INT64);
    CHECK_ERROR(THTensor_avgPool1d(r, whole, 1, kernel, stride, padding, 0, 0, 0), TH_ERR_DTYPE,
                "not defined for int64, only for floats");
    THTensor_free(whole);
    THTensor_free(r);
    THTensor_free(line);
}

static void adaptive_windows_give_the_size_asked_for(void) {
    THTensor *image = image_of(3, 5), *r = THTensor_new(), *indices = THTensor_new();
    CHECK_OK(THTensor_adaptiveAvgPool2d(r, image, SIZES(1)));
    CHECK_VALUES(r, 8);
    /* Windows overlap if they cannot be equal: columns 0 to 2 and 2 to 4. */
    CHECK_OK(THTensor_adaptiveMaxPool2d(r, indices, image, SIZES(-1, 2)));
    CHECK_SHAPE(r, 1, 3, 2);
    CHECK_VALUES(r, 3, 5, 8, 10, 13, 15);
    CHECK_VALUES(indices, 2, 4, 7, 9, 12, 14);
    THTensor_free(indices);
    THTensor_free(r);
    THTensor_free(image);
}

static void gradients_go_where_the_elements_came_from(void) {
    THTensor *line = matrix_of(TH_FLOAT32, 1, 1, 5, 2, 4), *r = THTensor_new(), *indices = THTensor_new(),
             *grad = THTensor_new();
    CHECK_OK(THTensor_maxPool1d(r, indices, line, 1, (int64_t[]){2}, (int64_t[]){1}, NULL, NULL, 0));
    CHECK_VALUES(r, 5, 5, 4);
    THTensor *given = matrix_of(TH_FLOAT32, 1, 10, 20, 30);
    CHECK_OK(THTensor_maxPoolGradInput(grad, given, indices, line, 1));
    CHECK_VALUES(grad, 0, 30, 0, 30);
    CHECK_OK(THTensor_avgPoolGradInput(grad, given, line, 1, (int64_t[]){2}, (int64_t[]){1}, NULL, 0, 1, 0));
    CHECK_VALUES(grad, 5, 15, 25, 15);
    CHECK_OK(THTensor_narrow(given, given, 1, 0, 2));
    CHECK_OK(THTensor_adaptiveAvgPoolGradInput(grad, given, line, 1));
    CHECK_VALUES(grad, 5, 5, 10, 10);
    THTensor_free(given);
    THTensor_free(grad);
    THTensor_free(indices);
    THTensor_free(r);
    THTensor_free(line);
}

/* The forms with one number for all dimensions equal the forms with lists, bit for bit. */
static void uniform_forms_are_those_with_lists(void) {
    const int64_t sizes[] = {2, 3, 5, 6, 7}, kernels[] = {3, 3, 3}, stride[] = {2, 2, 2}, padding[] = {1, 1, 1};
    THTensor *r = THTensor_new(), *wanted = THTensor_new(), *places = THTensor_new(), *indices = THTensor_new();
    typedef THStatus Max(THTensor *, THTensor *, const THTensor *, int, const int64_t *, const int64_t *, const int64_t *,
                         const int64_t *, int);
    typedef THStatus Avg(THTensor *, const THTensor *, int, const int64_t *, const int64_t *, const int64_t *, int, int, int64_t);
    Max *const max[] = {THTensor_maxPool1d, THTensor_maxPool2d, THTensor_maxPool3d};
    Avg *const avg[] = {THTensor_avgPool1d, THTensor_avgPool2d, THTensor_avgPool3d};
    THStatus (*const max_of[])(THTensor *, THTensor *, const THTensor *, int64_t, int64_t, int64_t) = {
        THTensor_maxPool1dUniform, THTensor_maxPool2dUniform, THTensor_maxPool3dUniform};
    THStatus (*const avg_of[])(THTensor *, const THTensor *, int64_t, int64_t, int64_t) = {
        THTensor_avgPool1dUniform, THTensor_avgPool2dUniform, THTensor_avgPool3dUniform};
    for (int d = 1; d <= 3; d++) {
        THTensor *x = THTensor_newWithSizes(TH_FLOAT32, d + 2, sizes), *gradient = THTensor_new();
        CHECK_OK(THTensor_uniform(x, NULL, -1, 1));
        CHECK_OK(max[d - 1](wanted, places, x, 1, kernels, stride, padding, NULL, 0));
        CHECK_OK(max_of[d - 1](r, indices, x, 3, 2, 1));
        CHECK(THTensor_equal(r, wanted) && THTensor_equal(indices, places));
        CHECK_OK(max_of[d - 1](r, NULL, x, 3, 2, 1));
        CHECK(THTensor_equal(r, wanted));
        CHECK_OK(avg[d - 1](wanted, x, 1, kernels, stride, padding, 0, 1, 0));
        CHECK_OK(avg_of[d - 1](r, x, 3, 2, 1));
        CHECK(THTensor_equal(r, wanted));
        CHECK_OK(THTensor_avgPoolGradInput(gradient, wanted, x, d, kernels, stride, padding, 0, 1, 0));
        CHECK_OK(THTensor_avgPoolGradInputUniform(r, wanted, x, d, 3, 2, 1));
        CHECK(THTensor_equal(r, gradient));
        CHECK_ERROR(avg_of[d - 1](r, x, 3, 2, 2), TH_ERR_ARGUMENT, "padding 2 is more than half of a window of 3 elements");
        THTensor_free(gradient);
        THTensor_free(x);
    }
    CHECK_ERROR(THTensor_avgPoolGradInputUniform(r, wanted, wanted, 4, 3, 2, 1), TH_ERR_ARGUMENT, "images have 1 to 3 dimensions, not 4");
    THTensor_free(indices);
    THTensor_free(places);
    THTensor_free(wanted);
    THTensor_free(r);
}

CHECK_MAIN(CASE(uniform_forms_are_those_with_lists), CASE(the_greatest_of_each_window_is_taken_with_its_place),
           CASE(nan_is_greatest_and_the_first_of_equals_counts), CASE(windows_beyond_the_end_count_if_asked_to),
           CASE(a_window_may_have_no_element), CASE(a_window_beyond_the_end_gets_its_gradient),
           CASE(one_line_takes_the_memory_of_one), CASE(means_are_of_what_counts),
           CASE(adaptive_windows_give_the_size_asked_for), CASE(gradients_go_where_the_elements_came_from))
