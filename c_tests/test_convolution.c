/* Convolution: windows of images times weights, and what goes the other way; Torch7's convolutions of planes. */

#include "check.h"

/* The same elements in another shape. */
static THTensor *shaped(THTensor *t, int ndim, const int64_t *size) {
    CHECK_OK(THTensor_resize(t, ndim, size, NULL));
    return t;
}

/* Small whole numbers, so that sums are exact in every order. */
static THTensor *counted(THDtype dtype, int ndim, const int64_t *size, int64_t step) {
    THTensor *doubles = THTensor_newZeros(TH_FLOAT64, ndim, size);
    double *x = THTensor_data(doubles);
    for (int64_t i = 0; i < THTensor_nElement(doubles); i++) x[i] = (double)(i * step % 7 - 3);
    THTensor *t = THTensor_newTo(doubles, dtype);
    THTensor_free(doubles);
    return t;
}

/* The sum of the products of their elements. */
static double inner(const THTensor *a, const THTensor *b) {
    THTensor *r = THTensor_new();
    CHECK_OK(THTensor_cmul(r, a, b));
    double sum = THTensor_sumall(r);
    THTensor_free(r);
    return sum;
}

static void a_window_slides_over_an_image(void) {
    /* A batch of one image with one channel, and one kernel. */
    THTensor *image = shaped(THTensor_newArange(TH_FLOAT32, 1, 13, 1), SIZES(1, 1, 3, 4)), *r = THTensor_new();
    THTensor *kernel = shaped(vector_of(TH_FLOAT32, 1, 0, 0, -1), SIZES(1, 1, 2, 2));
    CHECK_OK(THTensor_conv2d(r, image, kernel, NULL, 0, NULL, NULL, NULL, 1));
    CHECK_SHAPE(r, 1, 1, 2, 3);
    CHECK_VALUES(r, -5, -5, -5, -5, -5, -5);

    /* Strides, paddings and dilations have an entry for each dimension of the image, or one for all. */
    CHECK_OK(THTensor_conv2d(r, image, kernel, NULL, SIZES(2, 1), NULL, NULL, 1));
    CHECK_SHAPE(r, 1, 1, 1, 3);
    CHECK_OK(THTensor_conv2d(r, image, kernel, NULL, 1, (int64_t[]){3}, (int64_t[]){1}, NULL, 1));
    CHECK_SHAPE(r, 1, 1, 2, 2);
    CHECK_VALUES(r, -1, -4, 0, 11);
    CHECK_OK(THTensor_conv2d(r, image, kernel, NULL, 1, NULL, NULL, (int64_t[]){2}, 1));
    CHECK_VALUES(r, 1 - 11, 2 - 12);
    THTensor_free(r);
    THTensor_free(kernel);
    THTensor_free(image);
}

static void channels_are_summed_and_a_bias_is_added(void) {
    /* Two channels; three outputs: the first channel, the second one, and their difference. Without a batch. */
    THTensor *line = matrix_of(TH_FLOAT64, 2, 1, 2, 3, 10, 20, 30), *bias = vector_of(TH_FLOAT64, 0, 100, 0);
    THTensor *weight = shaped(vector_of(TH_FLOAT64, 1, 0, 0, 1, 1, -1), SIZES(3, 2, 1)), *r = THTensor_new();
    CHECK_OK(THTensor_conv1d(r, line, weight, bias, 0, NULL, NULL, NULL, 1));
    CHECK_SHAPE(r, 3, 3);
    CHECK_VALUES(r, 1, 2, 3, 110, 120, 130, -9, -18, -27);

    /* In groups, each of two channels has kernels of its own. */
    THTensor *each = shaped(vector_of(TH_FLOAT64, 1, 1, 1, -1), SIZES(2, 1, 2));
    CHECK_OK(THTensor_conv1d(r, line, each, NULL, 0, NULL, NULL, NULL, 2));
    CHECK_VALUES(r, 3, 5, -10, -10);
    THTensor_free(each);
    THTensor_free(r);
    THTensor_free(weight);
    THTensor_free(bias);
    THTensor_free(line);
}

static void the_dimensions_of_the_weight_choose(void) {
    THTensor *image = counted(TH_INT32, SIZES(2, 3, 5, 4), 3), *weight = counted(TH_INT32, SIZES(2, 3, 2, 2), 5);
    THTensor *a = THTensor_new(), *b = THTensor_new();
    CHECK_OK(THTensor_conv2d(a, image, weight, NULL, 0, NULL, NULL, NULL, 1));
    CHECK_OK(THTensor_convolution(b, image, weight, NULL, 0, NULL, NULL, NULL, 0, NULL, 1));
    CHECK(THTensor_equal(a, b) == 1);
    CHECK_EQ(THTensor_dtype(a), TH_INT32);
    /* A plane is a volume with one slice. */
    THTensor *volume = THTensor_newView(image, SIZES(2, 3, 1, 5, 4)),
             *flat = THTensor_newView(weight, SIZES(2, 3, 1, 2, 2));
    CHECK_OK(THTensor_conv3d(b, volume, flat, NULL, 0, NULL, NULL, NULL, 1));
    CHECK_OK(THTensor_squeeze1d(b, b, 2));
    CHECK(THTensor_equal(a, b) == 1);
    CHECK_ERROR(THTensor_conv1d(b, image, weight, NULL, 0, NULL, NULL, NULL, 1), TH_ERR_SHAPE,
                "a weight of 3 dimensions");
    THTensor_free(flat);
    THTensor_free(volume);
    THTensor_free(b);
    THTensor_free(a);
    THTensor_free(weight);
    THTensor_free(image);
}

static void a_transposed_convolution_spreads_each_element(void) {
    THTensor *line = shaped(vector_of(TH_FLOAT32, 1, 10), SIZES(1, 1, 2)), *r = THTensor_new();
    THTensor *kernel = shaped(vector_of(TH_FLOAT32, 1, 2, 3), SIZES(1, 1, 3));
    CHECK_OK(THTensor_convTranspose1d(r, line, kernel, NULL, 0, NULL, NULL, NULL, 1, NULL));
    CHECK_VALUES(r, 1, 12, 23, 30);
    CHECK_OK(THTensor_convTranspose1d(r, line, kernel, NULL, SIZES(2), NULL, NULL, 1, NULL));
    CHECK_VALUES(r, 1, 2, 13, 20, 30);
    /* A convolution with stride 2 makes two elements of five or of six: outputPadding says of how many. */
    CHECK_OK(THTensor_convTranspose1d(r, line, kernel, NULL, 1, (int64_t[]){2}, NULL, (int64_t[]){1}, 1, NULL));
    CHECK_VALUES(r, 1, 2, 13, 20, 30, 0);
    CHECK_OK(THTensor_convTranspose1d(r, line, kernel, NULL, 1, (int64_t[]){2}, (int64_t[]){1}, NULL, 1, NULL));
    CHECK_VALUES(r, 2, 13, 20);
    THTensor_free(kernel);
    THTensor_free(r);
    THTensor_free(line);
}

/* A convolution is linear in its input and in its weight: the gradients are what belongs to the same sums of products.
 */
static void gradients_are_the_transposed(void) {
    for (int transposed = 0; transposed < 2; transposed++) {
        int64_t channels = transposed ? 6 : 4;
        THTensor *x = counted(TH_FLOAT32, SIZES(2, channels, 7, 6), 3), *w = counted(TH_FLOAT32, SIZES(6, 2, 3, 2), 5);
        THTensor *y = THTensor_new(), *of_x = THTensor_new(), *of_w = THTensor_new(), *of_bias = THTensor_new();
        const int64_t stride[] = {2, 1}, padding[] = {1, 1}, dilation[] = {1, 2}, more[] = {1, 0};
        CHECK_OK(THTensor_convolution(y, x, w, NULL, 2, stride, padding, dilation, transposed, more, 2));
        THTensor *grad = counted(TH_FLOAT32, THTensor_nDimension(y), THTensor_sizes(y), 2);
        CHECK_OK(THTensor_convolutionGradInput(of_x, grad, w, x, 2, stride, padding, dilation, transposed, more, 2));
        CHECK_OK(THTensor_convolutionGradWeight(of_w, grad, x, w, 2, stride, padding, dilation, transposed, more, 2));
        CHECK_NEAR(inner(grad, y), inner(of_x, x), 0);
        CHECK_NEAR(inner(grad, y), inner(of_w, w), 0);
        CHECK_OK(THTensor_convolutionGradBias(of_bias, grad, 2));
        CHECK_SHAPE(of_bias, transposed ? 4 : 6);
        CHECK_NEAR(THTensor_sumall(of_bias), THTensor_sumall(grad), 0);
        CHECK_ERROR(THTensor_convolutionGradInput(of_x, x, w, x, 2, stride, padding, dilation, transposed, more, 2),
                    TH_ERR_SHAPE, "a gradient of shape");
        THTensor_free(grad);
        THTensor_free(of_bias);
        THTensor_free(of_w);
        THTensor_free(of_x);
        THTensor_free(y);
        THTensor_free(w);
        THTensor_free(x);
    }
}

static void images_are_unrolled_to_columns(void) {
    THTensor *image = counted(TH_FLOAT64, SIZES(2, 3, 5, 6), 3), *weight = counted(TH_FLOAT64, SIZES(4, 3, 2, 3), 5);
    THTensor *columns = THTensor_new(), *r = THTensor_new(), *product = THTensor_new();
    CHECK_OK(THTensor_im2col(columns, image, 2, (int64_t[]){2, 3}, NULL, NULL, NULL));
    CHECK_SHAPE(columns, 2, 18, 16);
    /* The weights as a matrix times the columns of an image are its convolution. */
    THTensor *rows = THTensor_newView(weight, SIZES(4, 18)), *second = THTensor_newSelect(columns, 0, 1);
    CHECK_OK(THTensor_mm(product, rows, second));
    CHECK_OK(THTensor_conv2d(r, image, weight, NULL, 0, NULL, NULL, NULL, 1));
    CHECK_OK(THTensor_select(r, r, 0, 1));
    shaped(product, SIZES(4, 4, 4));
    CHECK(THTensor_equal(product, r) == 1);

    /* Columns of ones, added up, count the windows over each element. */
    THTensor *ones = THTensor_newOnes(TH_INT64, SIZES(2, 3));
    CHECK_OK(THTensor_col2im(r, ones, 1, (int64_t[]){4}, (int64_t[]){2}, NULL, NULL, NULL));
    CHECK_SHAPE(r, 1, 4);
    CHECK_VALUES(r, 1, 2, 2, 1);
    THTensor_free(ones);
    THTensor_free(second);
    THTensor_free(rows);
    THTensor_free(product);
    THTensor_free(r);
    THTensor_free(columns);
    THTensor_free(weight);
    THTensor_free(image);
}

static void layouts_and_results_do_not_matter(void) {
    THTensor *image = counted(TH_FLOAT32, SIZES(2, 4, 6, 5), 3), *weight = counted(TH_FLOAT32, SIZES(4, 4, 3, 3), 5);
    THTensor *expected = THTensor_new(), *r = THTensor_new();
    const int64_t one[] = {1};
    CHECK_OK(THTensor_conv2d(expected, image, weight, NULL, 1, one, one, one, 1));
    /* Channels last, as other libraries have them; stored in half precision; written to the image itself. */
    THTensor *last = THTensor_newContiguousFormat(image, TH_CHANNELS_LAST);
    CHECK_EQ(THTensor_stride(last, 1), 1);
    CHECK_OK(THTensor_conv2d(r, last, weight, NULL, 1, one, one, one, 1));
    CHECK(THTensor_equal(r, expected) == 1);
    THTensor *half = THTensor_newTo(image, TH_FLOAT16), *half_weight = THTensor_newTo(weight, TH_FLOAT16);
    CHECK_OK(THTensor_conv2d(r, half, half_weight, NULL, 1, one, one, one, 1));
    CHECK(THTensor_equal(r, expected) == 1);
    CHECK_OK(THTensor_conv2d(image, image, weight, NULL, 1, one, one, one, 1));
    CHECK(THTensor_equal(image, expected) == 1);
    THTensor_free(half_weight);
    THTensor_free(half);
    THTensor_free(last);
    THTensor_free(r);
    THTensor_free(expected);
    THTensor_free(weight);
    THTensor_free(image);
}

static void results_do_not_depend_on_the_number_of_threads(void) {
    int threads = THGetNumThreads();
    int64_t size = under_valgrind() ? 12 : 40;
    THTensor *x = THTensor_newArange(TH_FLOAT32, 0, (double)(2 * 20 * size * size), 1),
             *w = THTensor_newArange(TH_FLOAT32, 0, 70 * 20 * 9, 1);
    CHECK_OK(THTensor_sin(x, x));
    CHECK_OK(THTensor_cos(w, w));
    shaped(x, SIZES(2, 20, size, size));
    shaped(w, SIZES(70, 20, 3, 3));
    THTensor *first[3] = {NULL}, *r[3];
    for (int count = 1; count <= 4; count++) {
        CHECK_OK(THSetNumThreads(count));
        for (int k = 0; k < 3; k++) r[k] = THTensor_new();
        CHECK_OK(THTensor_conv2d(r[0], x, w, NULL, 0, NULL, NULL, NULL, 1));
        CHECK_OK(THTensor_convolutionGradInput(r[1], r[0], w, x, 0, NULL, NULL, NULL, 0, NULL, 1));
        CHECK_OK(THTensor_convolutionGradWeight(r[2], r[0], x, w, 0, NULL, NULL, NULL, 0, NULL, 1));
        for (int k = 0; k < 3; k++) {
            if (count == 1) first[k] = r[k];
            CHECK(THTensor_equal(first[k], r[k]) == 1);
            if (count > 1) THTensor_free(r[k]);
        }
    }
    THSetNumThreads(threads);
    for (int k = 0; k < 3; k++) THTensor_free(first[k]);
    THTensor_free(w);
    THTensor_free(x);
}

static void what_does_not_fit_is_refused_and_nothing_changes(void) {
    THTensor *image = counted(TH_FLOAT32, SIZES(1, 2, 4, 4), 3), *weight = counted(TH_FLOAT32, SIZES(3, 2, 3, 3), 5);
    THTensor *r = vector_of(TH_FLOAT32, 7, 7), *whole = THTensor_newTo(weight, TH_INT32);
    CHECK_ERROR(THTensor_conv2d(r, image, whole, NULL, 0, NULL, NULL, NULL, 1), TH_ERR_DTYPE,
                "one dtype, got float32 and int32");
    CHECK_ERROR(THTensor_conv2d(r, image, weight, NULL, 0, NULL, NULL, NULL, 3), TH_ERR_SHAPE, "need 2 each");
    CHECK_ERROR(THTensor_conv2d(r, image, weight, NULL, 1, NULL, NULL, (int64_t[]){2}, 1), TH_ERR_SHAPE,
                "kernel of 5 elements");
    CHECK_ERROR(THTensor_conv2d(r, image, weight, NULL, 1, (int64_t[]){0}, NULL, NULL, 1), TH_ERR_ARGUMENT, "stride 0");
    CHECK_ERROR(THTensor_conv2d(r, image, weight, NULL, 1, NULL, (int64_t[]){INT64_MAX}, NULL, 1), TH_ERR_ARGUMENT,
                "padding");
    CHECK_ERROR(THTensor_conv2d(r, image, weight, NULL, 1, NULL, (int64_t[]){1 << 20}, NULL, 1), TH_ERR_NOMEM, "");
    CHECK_ERROR(THTensor_conv2d(whole, image, weight, NULL, 0, NULL, NULL, NULL, 1), TH_ERR_DTYPE, "cannot be stored");
    CHECK_ERROR(THTensor_convTranspose2d(r, weight, image, NULL, 1, NULL, NULL, (int64_t[]){1}, 1, NULL), TH_ERR_SHAPE,
                "channels");
    CHECK_VALUES(r, 7, 7);
    THTensor_free(whole);
    THTensor_free(r);
    THTensor_free(weight);
    THTensor_free(image);
}

/* Torch7 */

static void planes_are_convolved_or_correlated(void) {
    THTensor *plane = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6), *kernel = matrix_of(TH_FLOAT32, 1, 1, 10),
             *r = THTensor_new();
    /* beta, alpha, plane, kernel, strides, valid or full, cross-correlation or convolution. */
    CHECK_OK(THTensor_conv2Dmul(r, 0, 1, plane, kernel, 1, 1, "V", "X"));
    CHECK_SHAPE(r, 2, 2);
    CHECK_VALUES(r, 21, 32, 54, 65);
    CHECK_OK(THTensor_conv2Dmul(r, 0, 1, plane, kernel, 1, 1, "V", "C"));
    CHECK_VALUES(r, 12, 23, 45, 56);
    /* What was there counts beta times, where it has the right shape. */
    CHECK_OK(THTensor_conv2Dmul(r, 1, -1, plane, kernel, 1, 1, "V", "C"));
    CHECK_VALUES(r, 0, 0, 0, 0);
    CHECK_OK(THTensor_conv2Dmul(r, 1, 1, plane, kernel, 1, 1, "F", "C"));
    CHECK_SHAPE(r, 2, 4);
    CHECK_VALUES(r, 1, 12, 23, 30, 4, 45, 56, 60);
    CHECK_OK(THTensor_conv2Dmul(r, 0, 1, plane, kernel, 1, 1, "Full", "Xcorr"));
    CHECK_VALUES(r, 10, 21, 32, 3, 40, 54, 65, 6);
    CHECK_ERROR(THTensor_conv2Dmul(r, 0, 1, plane, kernel, 1, 1, "v", "C"), TH_ERR_ARGUMENT, "not \"v\"");
    CHECK_ERROR(THTensor_conv2Dmul(r, 0, 1, kernel, plane, 1, 1, "V", "C"), TH_ERR_SHAPE, "kernel");
    THTensor_free(r);
    THTensor_free(kernel);
    THTensor_free(plane);
}

static void many_planes_go_with_many_kernels(void) {
    THTensor *images = counted(TH_FLOAT64, SIZES(2, 3, 5, 6), 3), *kernels = counted(TH_FLOAT64, SIZES(4, 3, 2, 2), 5);
    THTensor *expected = THTensor_new(), *r = THTensor_new(), *sum = THTensor_new();
    CHECK_OK(THTensor_conv2d(expected, images, kernels, NULL, 0, NULL, NULL, NULL, 1));
    CHECK_OK(THTensor_conv2Dmm(r, 0, 1, images, kernels, 1, 1, "V", "X"));
    CHECK(THTensor_equal(r, expected) == 1);
    THTensor *image = THTensor_newSelect(images, 0, 1), *result = THTensor_newSelect(expected, 0, 1);
    CHECK_OK(THTensor_conv2Dmv(r, 0, 1, image, kernels, 1, 1, "V", "X"));
    CHECK(THTensor_equal(r, result) == 1);
    /* The outer product of planes and kernels has a result for each pair. */
    THTensor *few = THTensor_newSelect(kernels, 0, 2), *one = THTensor_newSelect(few, 0, 0),
             *plane = THTensor_newSelect(image, 0, 1);
    CHECK_OK(THTensor_conv2Dger(r, 0, 1, image, few, 1, 1, "V", "X"));
    CHECK_SHAPE(r, 3, 3, 4, 5);
    CHECK_OK(THTensor_conv2Dmul(sum, 0, 1, plane, one, 1, 1, "V", "X"));
    CHECK_OK(THTensor_select(r, r, 0, 0));
    CHECK_OK(THTensor_select(r, r, 0, 1));
    CHECK(THTensor_equal(r, sum) == 1);
    /* By a map from planes to planes, which are counted from 1. */
    THTensor *map = matrix_of(TH_INT64, 3, 2, 1, 1, 1, 3, 1);
    CHECK_OK(THTensor_conv2Dmap(sum, 0, 1, image, few, map, 1, 1, "V", "X"));
    CHECK_SHAPE(sum, 3, 4, 5);
    CHECK_OK(THTensor_set2d(map, 0, 0, 4));
    CHECK_ERROR(THTensor_conv2Dmap(sum, 0, 1, image, few, map, 1, 1, "V", "X"), TH_ERR_ARGUMENT, "row 0 of the map");
    THTensor_free(map);
    THTensor_free(plane);
    THTensor_free(one);
    THTensor_free(few);
    THTensor_free(result);
    THTensor_free(image);
    THTensor_free(sum);
    THTensor_free(r);
    THTensor_free(expected);
    THTensor_free(kernels);
    THTensor_free(images);
}

CHECK_MAIN(CASE(a_window_slides_over_an_image), CASE(channels_are_summed_and_a_bias_is_added),
           CASE(the_dimensions_of_the_weight_choose), CASE(a_transposed_convolution_spreads_each_element),
           CASE(gradients_are_the_transposed), CASE(images_are_unrolled_to_columns),
           CASE(layouts_and_results_do_not_matter), CASE(results_do_not_depend_on_the_number_of_threads),
           CASE(what_does_not_fit_is_refused_and_nothing_changes), CASE(planes_are_convolved_or_correlated),
           CASE(many_planes_go_with_many_kernels))
