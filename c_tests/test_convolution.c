/* Convolution of images and weights, its transpose and gradients, and Torch7's convolutions of planes. */

#include "check.h"
#include <time.h>

/* Returns the same elements in another shape. */
static THTensor *shaped(THTensor *t, int ndim, const int64_t *size) {
    CHECK_OK(THTensor_resize(t, ndim, size, NULL));
    return t;
}

/* Returns small integers, so that sums are exact in every order. */
static THTensor *counted(THDtype dtype, int ndim, const int64_t *size, int64_t step) {
    THTensor *doubles = THTensor_newZeros(TH_FLOAT64, ndim, size);
    double *x = THTensor_data(doubles);
    for (int64_t i = 0; i < THTensor_nElement(doubles); i++) x[i] = (double)(i * step % 7 - 3);
    THTensor *t = THTensor_newTo(doubles, dtype);
    THTensor_free(doubles);
    return t;
}

/* Returns the inner product of two tensors. */
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
    /* Without a batch: two channels, and three outputs, which are the first channel, the second one, and their difference. */
    THTensor *line = matrix_of(TH_FLOAT64, 2, 1, 2, 3, 10, 20, 30), *bias = vector_of(TH_FLOAT64, 0, 100, 0);
    THTensor *weight = shaped(vector_of(TH_FLOAT64, 1, 0, 0, 1, 1, -1), SIZES(3, 2, 1)), *r = THTensor_new();
    CHECK_OK(THTensor_conv1d(r, line, weight, bias, 0, NULL, NULL, NULL, 1));
    CHECK_SHAPE(r, 3, 3);
    CHECK_VALUES(r, 1, 2, 3, 110, 120, 130, -9, -18, -27);

    /* In groups, each of two channels has separate kernels. */
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
    /* A convolution with stride 2 maps five and six elements to two: outputPadding chooses between them. */
    CHECK_OK(THTensor_convTranspose1d(r, line, kernel, NULL, 1, (int64_t[]){2}, NULL, (int64_t[]){1}, 1, NULL));
    CHECK_VALUES(r, 1, 2, 13, 20, 30, 0);
    CHECK_OK(THTensor_convTranspose1d(r, line, kernel, NULL, 1, (int64_t[]){2}, (int64_t[]){1}, NULL, 1, NULL));
    CHECK_VALUES(r, 2, 13, 20);
    THTensor_free(kernel);
    THTensor_free(r);
    THTensor_free(line);
}

/* A convolution is linear in its input and in its weight, so its gradients have the same sums of products. */
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
    /* The product of the weights, as a matrix, and the columns of an image is their convolution. */
    THTensor *rows = THTensor_newView(weight, SIZES(4, 18)), *second = THTensor_newSelect(columns, 0, 1);
    CHECK_OK(THTensor_mm(product, rows, second));
    CHECK_OK(THTensor_conv2d(r, image, weight, NULL, 0, NULL, NULL, NULL, 1));
    CHECK_OK(THTensor_select(r, r, 0, 1));
    shaped(product, SIZES(4, 4, 4));
    CHECK(THTensor_equal(product, r) == 1);

    /* Adding up columns of ones counts the windows over each element. */
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
    /* Channels last, as in other libraries; stored in half precision; written to the image itself. */
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
    CHECK_ERROR(THTensor_conv2d(r, image, weight, NULL, 1, (int64_t[]){0}, NULL, NULL, 1), TH_ERR_ARGUMENT, "stride 0 in dimension 0: at least 1 is needed");
    CHECK_ERROR(THTensor_conv2d(r, image, weight, NULL, 1, (int64_t[]){INT64_MAX}, NULL, NULL, 1), TH_ERR_ARGUMENT,
                "stride 9223372036854775807 in dimension 0 is too large");
    CHECK_ERROR(THTensor_conv2d(r, image, weight, NULL, 1, NULL, (int64_t[]){INT64_MAX}, NULL, 1), TH_ERR_ARGUMENT,
                "padding 9223372036854775807 in dimension 0 is too large");
    CHECK_ERROR(THTensor_col2im(r, r, 1, (int64_t[]){5}, (int64_t[]){2}, NULL, NULL, NULL), TH_ERR_SHAPE, "shape [2]");
    THTensor *columns = THTensor_newZeros(TH_FLOAT32, SIZES(2, 3));
    CHECK_ERROR(THTensor_col2im(r, columns, 1, (int64_t[]){5}, (int64_t[]){2}, NULL, NULL, NULL), TH_ERR_SHAPE,
                "columns of shape [2, 3] for 4 windows of 2 elements");
    CHECK_ERROR(THTensor_col2im(r, columns, 4, (int64_t[]){5, 5, 5, 5}, (int64_t[]){2, 2, 2, 2}, NULL, NULL, NULL),
                TH_ERR_ARGUMENT, "images have 1 to 3 dimensions, not 4");
    THTensor_free(columns);
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
    /* If the result has the right shape, its elements before the call are multiplied by beta. */
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

/* A convolution of volumes. A plane is a volume with one slice. */
struct form {
    int64_t image[3], kernel[3], step[3];
    char vf, xc;
    int reverse;
};

/* The size of a result in one dimension. */
static int64_t made(const struct form *f, int d) {
    if (f->vf == 'F') return (f->image[d] - 1) * f->step[d] + f->kernel[d];
    if (f->reverse) return f->image[d] - (f->kernel[d] - 1) * f->step[d];
    return (f->image[d] - f->kernel[d]) / f->step[d] + 1;
}

static int64_t product(const int64_t *size) { return size[0] * size[1] * size[2]; }

/* r += alpha * (t * k), each product at its place as the header says. */
static void add_defined(double *r, double alpha, const double *t, const double *k, const struct form *f) {
    int full = f->vf == 'F', turned = !f->reverse && (f->xc == 'C') != full;
    const int64_t size[3] = {made(f, 0), made(f, 1), made(f, 2)}, *base = full ? f->image : size;
    for (int64_t p = 0; p < product(base); p++) {
        for (int64_t q = 0; q < product(f->kernel); q++) {
            const int64_t y[3] = {p / (base[1] * base[2]), p / base[2] % base[1], p % base[2]};
            const int64_t i[3] = {q / (f->kernel[1] * f->kernel[2]), q / f->kernel[2] % f->kernel[1], q % f->kernel[2]};
            int64_t at_r = 0, at_t = 0, at_k = 0;
            for (int d = 0; d < 3; d++) {
                int64_t far = f->reverse ? y[d] + f->step[d] * i[d] : y[d] * f->step[d] + i[d];
                at_r = at_r * size[d] + (full ? far : y[d]);
                at_t = at_t * f->image[d] + (full ? y[d] : far);
                at_k = at_k * f->kernel[d] + (turned ? f->kernel[d] - 1 - i[d] : i[d]);
            }
            r[at_r] += alpha * t[at_t] * k[at_k];
        }
    }
}

/* A function on planes: the numbers of batches, outputs and planes. `of_t`, `of_k` and `of_r` are 1 for each of these dimensions that the
 * image, the kernel and the result have. */
struct pairing {
    const char *name;
    int64_t batch, outputs, planes;
    int64_t of_t[3], of_k[3], of_r[3];
    int most_dims, reverse;
};

static const struct pairing pairings[] = {
    {"mul", 1, 1, 1, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 3, 0},
    {"cmul", 1, 1, 3, {0, 0, 1}, {0, 0, 1}, {0, 0, 1}, 3, 0},
    {"ger", 1, 2, 3, {0, 0, 1}, {0, 1, 0}, {0, 1, 1}, 3, 0},
    {"Revger", 1, 2, 3, {0, 0, 1}, {0, 1, 0}, {0, 1, 1}, 3, 1},
    {"Revgerm", 2, 2, 3, {1, 0, 1}, {1, 1, 0}, {0, 1, 1}, 2, 1},
    {"mv", 1, 2, 3, {0, 0, 1}, {0, 1, 1}, {0, 1, 0}, 3, 0},
    {"mm", 2, 2, 3, {1, 0, 1}, {0, 1, 1}, {1, 1, 0}, 2, 0},
};

static THStatus convolve(const char *name, int ndim, THTensor *r, double beta, double alpha, const THTensor *t,
                         const THTensor *k, const int64_t *s, const char *vf, const char *xc) {
#define NAMED(NAME)                                                                                                    \
    if (strcmp(name, #NAME) == 0)                                                                                      \
    return ndim == 2 ? THTensor_conv2D##NAME(r, beta, alpha, t, k, s[1], s[2], vf, xc)                                 \
                     : THTensor_conv3D##NAME(r, beta, alpha, t, k, s[0], s[1], s[2], vf, xc)
    NAMED(mul);
    NAMED(cmul);
    NAMED(ger);
    NAMED(mv);
#undef NAMED
    if (strcmp(name, "mm") == 0) return THTensor_conv2Dmm(r, beta, alpha, t, k, s[1], s[2], vf, xc);
    if (strcmp(name, "Revgerm") == 0) return THTensor_conv2DRevgerm(r, beta, alpha, t, k, s[1], s[2]);
    return ndim == 2 ? THTensor_conv2DRevger(r, beta, alpha, t, k, s[1], s[2])
                     : THTensor_conv3DRevger(r, beta, alpha, t, k, s[0], s[1], s[2]);
}

/* Returns small numbers: images of `ndim` dimensions behind the dimensions for batch, outputs and planes that the tensor has. */
static THTensor *images_of(const struct pairing *p, const int64_t *has, const int64_t *image, int ndim, int64_t step) {
    const int64_t count[3] = {p->batch, p->outputs, p->planes};
    int64_t shape[6];
    int n = 0;
    for (int d = 0; d < 3; d++) {
        if (has[d]) shape[n++] = count[d];
    }
    for (int d = 3 - ndim; d < 3; d++) shape[n++] = image[d];
    return counted(TH_FLOAT64, n, shape, step);
}

/* The index of an image in such a tensor. */
static int64_t number(const struct pairing *p, const int64_t *has, int64_t b, int64_t o, int64_t plane) {
    int64_t at = has[0] ? b : 0;
    if (has[1]) at = at * p->outputs + o;
    return has[2] ? at * p->planes + plane : at;
}

static void check_pairing(const struct pairing *p, int ndim, const struct form *f) {
    const int64_t size[3] = {made(f, 0), made(f, 1), made(f, 2)};
    THTensor *t = images_of(p, p->of_t, f->image, ndim, 3), *k = images_of(p, p->of_k, f->kernel, ndim, 5);
    THTensor *sum = images_of(p, p->of_r, size, ndim, 0), *r = THTensor_new();
    const double *x = THTensor_data(t), *w = THTensor_data(k);
    double *y = THTensor_data(sum);
    CHECK_OK(THTensor_zero(sum));
    for (int64_t b = 0; b < p->batch; b++) {
        for (int64_t at = 0; at < p->outputs * p->planes; at++) {
            int64_t o = at / p->planes, plane = at % p->planes;
            add_defined(y + number(p, p->of_r, b, o, plane) * product(size), -2,
                        x + number(p, p->of_t, b, o, plane) * product(f->image),
                        w + number(p, p->of_k, b, o, plane) * product(f->kernel), f);
        }
    }
    const char vf[] = {f->vf, 0}, xc[] = {f->xc, 0};
    CHECK_OK(convolve(p->name, ndim, r, 3, -2, t, k, f->step, vf, xc));
    if (!CHECK(THTensor_equal(r, sum) == 1)) printf(" (%s of %d dimensions, \"%s\", \"%s\")", p->name, ndim, vf, xc);
    /* The previous elements are added. */
    CHECK_OK(THTensor_fill(r, 5));
    CHECK_OK(THTensor_add(sum, sum, 15));
    CHECK_OK(convolve(p->name, ndim, r, 3, -2, t, k, f->step, vf, xc));
    CHECK(THTensor_equal(r, sum) == 1);
    THTensor_free(r);
    THTensor_free(sum);
    THTensor_free(k);
    THTensor_free(t);
}

static void many_planes_go_with_many_kernels(void) {
    const struct form of_planes = {{1, 7, 8}, {1, 3, 2}, {1, 2, 3}, 'V', 'X', 0},
                      of_volumes = {{5, 6, 4}, {2, 3, 2}, {2, 1, 3}, 'V', 'X', 0};
    for (size_t n = 0; n < sizeof pairings / sizeof *pairings; n++) {
        for (int ndim = 2; ndim <= pairings[n].most_dims; ndim++) {
            for (int mode = 0; mode < (pairings[n].reverse ? 1 : 4); mode++) {
                struct form f = ndim == 2 ? of_planes : of_volumes;
                f.reverse = pairings[n].reverse;
                f.vf = mode & 1 ? 'F' : 'V';
                f.xc = mode & 2 ? 'C' : 'X';
                check_pairing(&pairings[n], ndim, &f);
            }
        }
    }
}

/* The sizes of a convolution. A transposed convolution maps them in the other direction. */
struct shape {
    int64_t batch, groups, inputs, outputs, image[3], kernel[3], stride[3], padding[3], dilation[3];
};

/* Each shape uses another algorithm: wide and narrow strips of channels, small images of a batch together, strides whose positions are
 * computed one after the other, few channels, more padding than image, sums in several steps. */
static const struct shape shapes[] = {
    {2, 1, 3, 40, {1, 9, 20}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},
    {17, 1, 16, 33, {1, 4, 4}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},
    {1, 2, 5, 17, {1, 30, 33}, {1, 4, 4}, {1, 2, 2}, {0, 1, 1}, {1, 1, 1}},
    {3, 1, 4, 4, {3, 5, 6}, {2, 3, 2}, {2, 1, 3}, {1, 1, 0}, {1, 2, 1}},
    {2, 3, 1, 1, {1, 12, 70}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},
    {2, 2, 2, 3, {1, 11, 19}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}, {1, 2, 1}},
    {1, 1, 3, 2, {1, 8, 40}, {1, 1, 3}, {1, 1, 3}, {0, 0, 2}, {1, 1, 2}},
    {1, 1, 2, 9, {1, 1, 2}, {1, 1, 2}, {1, 1, 3}, {0, 0, 4}, {1, 1, 7}},
    {1, 1, 40, 8, {1, 6, 6}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},
    {1, 1, 2, 200, {1, 5, 5}, {1, 3, 3}, {1, 1, 1}, {0, 0, 2}, {1, 1, 1}},
    {2, 1, 5, 6, {4, 4, 260}, {1, 1, 1}, {1, 2, 1}, {0, 0, 0}, {1, 1, 1}},
};

static int64_t windows(const struct shape *s, int d) {
    return (s->image[d] + 2 * s->padding[d] - (s->kernel[d] - 1) * s->dilation[d] - 1) / s->stride[d] + 1;
}

/* The operands x and w, the gradient g of the result, and the sums: y, gx and gw. Each tap adds one product to each sum. */
struct sums {
    const double *x, *w, *g;
    double *y, *gx, *gw;
};

static void add_tap(const struct sums *to, int64_t x, int64_t y, int64_t w) {
    to->y[y] += to->x[x] * to->w[w];
    to->gx[x] += to->g[y] * to->w[w];
    to->gw[w] += to->g[y] * to->x[x];
}

static void add_all(const struct shape *s, const struct sums *to) {
    const int64_t out[3] = {windows(s, 0), windows(s, 1), windows(s, 2)};
    int64_t pixels = product(s->image), places = product(out), taps = product(s->kernel);
    for (int64_t place = 0; place < s->batch * places * taps; place++) {
        int64_t n = place / taps / places, o = place / taps % places, t = place % taps, at = 0;
        const int64_t i[3] = {o / (out[1] * out[2]), o / out[2] % out[1], o % out[2]};
        const int64_t k[3] = {t / (s->kernel[1] * s->kernel[2]), t / s->kernel[2] % s->kernel[1], t % s->kernel[2]};
        for (int d = 0; d < 3 && at >= 0; d++) {
            int64_t x = i[d] * s->stride[d] + k[d] * s->dilation[d] - s->padding[d];
            at = x < 0 || x >= s->image[d] ? -1 : at * s->image[d] + x;
        }
        if (at < 0) continue;
        for (int64_t r = 0; r < s->groups * s->outputs; r++) {
            for (int64_t c = 0; c < s->inputs; c++) {
                int64_t channel = r / s->outputs * s->inputs + c;
                add_tap(to, (n * s->groups * s->inputs + channel) * pixels + at, (n * s->groups * s->outputs + r) * places + o,
                        (r * s->inputs + c) * taps + t);
            }
        }
    }
}

static void check_shape(const struct shape *s, THDtype dtype) {
    const int64_t out[3] = {windows(s, 0), windows(s, 1), windows(s, 2)};
    THTensor *x = counted(TH_FLOAT64, SIZES(s->batch, s->groups * s->inputs, s->image[0], s->image[1], s->image[2]), 3);
    THTensor *w = counted(TH_FLOAT64, SIZES(s->groups * s->outputs, s->inputs, s->kernel[0], s->kernel[1], s->kernel[2]), 5);
    THTensor *g = counted(TH_FLOAT64, SIZES(s->batch, s->groups * s->outputs, out[0], out[1], out[2]), 2);
    THTensor *y = THTensor_newZerosLike(g), *gx = THTensor_newZerosLike(x), *gw = THTensor_newZerosLike(w), *r = THTensor_new();
    const struct sums sums = {THTensor_data(x), THTensor_data(w), THTensor_data(g),
                              THTensor_data(y), THTensor_data(gx), THTensor_data(gw)};
    add_all(s, &sums);
    THTensor **all[] = {&x, &w, &g, &y, &gx, &gw};
    for (int k = 0; k < 6; k++) {
        THTensor *doubles = *all[k];
        *all[k] = THTensor_newTo(doubles, dtype);
        THTensor_free(doubles);
    }
    int64_t more[3];
    for (int d = 0; d < 3; d++) {
        more[d] = s->image[d] + 2 * s->padding[d] - (out[d] - 1) * s->stride[d] - (s->kernel[d] - 1) * s->dilation[d] - 1;
    }
    CHECK_OK(THTensor_convolution(r, x, w, NULL, 3, s->stride, s->padding, s->dilation, 0, NULL, s->groups));
    CHECK(THTensor_equal(r, y) == 1);
    CHECK_OK(THTensor_convolutionGradInput(r, g, w, x, 3, s->stride, s->padding, s->dilation, 0, NULL, s->groups));
    CHECK(THTensor_equal(r, gx) == 1);
    CHECK_OK(THTensor_convolutionGradWeight(r, g, x, w, 3, s->stride, s->padding, s->dilation, 0, NULL, s->groups));
    CHECK(THTensor_equal(r, gw) == 1);
    /* A transposed convolution spreads the gradient; a bias is the same for a whole channel. */
    THTensor *bias = counted(dtype, SIZES(s->groups * s->inputs), 4);
    CHECK_OK(THTensor_convolution(r, g, w, bias, 3, s->stride, s->padding, s->dilation, 1, more, s->groups));
    THTensor *wide = THTensor_newView(bias, SIZES(s->groups * s->inputs, 1, 1, 1));
    CHECK_OK(THTensor_cadd(gx, gx, 1, wide));
    CHECK(THTensor_equal(r, gx) == 1);
    THTensor_free(wide);
    THTensor_free(bias);
    THTensor_free(r);
    for (int k = 0; k < 6; k++) THTensor_free(*all[k]);
}

static void every_way_gives_the_sums_of_the_definition(void) {
    const THDtype dtypes[] = {TH_FLOAT32, TH_FLOAT64, TH_INT32};
    for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++) {
        for (int k = 0; k < 3; k++) check_shape(&shapes[n], dtypes[k]);
    }
}

static THTensor *random_of(THDtype dtype, int ndim, const int64_t *size) {
    THTensor *t = THTensor_newWithSizes(dtype, ndim, size);
    CHECK_OK(THTensor_uniform(t, NULL, -1, 1));
    return t;
}

/* A result of another dtype gets the fresh result converted, which is rounded to 16 bits first. */
static void wide_results_of_16_bit_floats_are_rounded_first(void) {
    THTensor *x = random_of(TH_FLOAT32, 4, (int64_t[]){2, 3, 6, 6}), *w = random_of(TH_FLOAT32, 4, (int64_t[]){4, 3, 3, 3});
    for (THDtype dtype = TH_FLOAT16; dtype <= TH_BFLOAT16; dtype++) {
        THTensor *image = THTensor_newTo(x, dtype), *weight = THTensor_newTo(w, dtype), *fresh = THTensor_new();
        THTensor *wide = THTensor_newWithDtype(TH_FLOAT32);
        for (int way = 0; way < 4; way++) {
            THTensor *const results[] = {fresh, wide};
            for (int k = 0; k < 2; k++) {
                THTensor *r = results[k];
                switch (way) {
                case 0: CHECK_OK(THTensor_conv2dUniform(r, image, weight, NULL, 1, 1)); break;
                case 1: CHECK_OK(THTensor_avgPool2dUniform(r, image, 3, 1, 1)); break;
                case 2: CHECK_OK(THTensor_rfft(r, image, 2, 1, 1)); break;
                default: CHECK_OK(THTensor_layerNorm(r, image, 1, NULL, NULL, 1e-5)); break;
                }
            }
            THTensor *converted = THTensor_newTo(fresh, TH_FLOAT32);
            CHECK(THTensor_equal(wide, converted) == 1);
            THTensor_free(converted);
        }
        THTensor_free(wide);
        THTensor_free(fresh);
        THTensor_free(weight);
        THTensor_free(image);
    }
    THTensor_free(w);
    THTensor_free(x);
}

static void a_map_says_which_planes_go_where(void) {
    const struct form f = {{1, 4, 5}, {1, 2, 2}, {1, 2, 1}, 'V', 'C', 0};
    const struct form of_volumes = {{3, 4, 3}, {2, 2, 2}, {1, 2, 1}, 'F', 'X', 0};
    THTensor *map = matrix_of(TH_INT64, 3, 2, 1, 1, 1, 3, 1), *few = THTensor_newTo(map, TH_INT32);
    for (int ndim = 2; ndim <= 3; ndim++) {
        const struct form *form = ndim == 2 ? &f : &of_volumes;
        /* Three planes, three kernels, three results. */
        const struct pairing three = {"map", 1, 1, 3, {0, 0, 1}, {0, 0, 1}, {0, 0, 1}, 3, 0};
        const int64_t size[3] = {made(form, 0), made(form, 1), made(form, 2)}, *s = form->step;
        THTensor *t = images_of(&three, three.of_t, form->image, ndim, 3), *r = THTensor_new();
        THTensor *k = images_of(&three, three.of_t, form->kernel, ndim, 5);
        THTensor *sum = images_of(&three, three.of_t, size, ndim, 0);
        CHECK_OK(THTensor_zero(sum));
        for (int n = 0; n < 3; n++) {
            int64_t from = (int64_t)THTensor_get2d(map, n, 0) - 1, to = (int64_t)THTensor_get2d(map, n, 1) - 1;
            add_defined((double *)THTensor_data(sum) + to * product(size), -2,
                        (double *)THTensor_data(t) + from * product(form->image),
                        (double *)THTensor_data(k) + n * product(form->kernel), form);
        }
        if (ndim == 2) CHECK_OK(THTensor_conv2Dmap(r, 0, -2, t, k, map, s[1], s[2], "V", "C"));
        if (ndim == 3) CHECK_OK(THTensor_conv3Dmap(r, 0, -2, t, k, few, s[0], s[1], s[2], "F", "X"));
        CHECK(THTensor_equal(r, sum) == 1);
        if (ndim == 2) {
            CHECK_OK(THTensor_set2d(map, 0, 0, 4));
            CHECK_ERROR(THTensor_conv2Dmap(r, 0, 1, t, k, map, 1, 1, "V", "X"), TH_ERR_ARGUMENT, "row 0 of the map");
            CHECK_OK(THTensor_set2d(map, 0, 0, 2));
        }
        THTensor_free(sum);
        THTensor_free(k);
        THTensor_free(r);
        THTensor_free(t);
    }
    THTensor_free(few);
    THTensor_free(map);
}

static void the_factor_is_that_of_the_sum(void) {
    /* The product of the kernel and alpha would be infinite. */
    THTensor *t = matrix_of(TH_FLOAT32, 1, 1e-10), *k = matrix_of(TH_FLOAT32, 1, 1e10), *r = THTensor_new();
    CHECK_OK(THTensor_conv2Dmul(r, 0, 1e30, t, k, 1, 1, "V", "X"));
    CHECK_NEAR(THTensor_get2d(r, 0, 0), 1e30, 1e24);
    CHECK_OK(THTensor_conv2Dmul(r, 0, 1e30, t, k, 1, 1, "F", "C"));
    CHECK_NEAR(THTensor_get2d(r, 0, 0), 1e30, 1e24);
    THTensor *map = matrix_of(TH_INT64, 1, 1, 1);
    CHECK_OK(THTensor_resize(t, SIZES(1, 1, 1), NULL));
    CHECK_OK(THTensor_resize(k, SIZES(1, 1, 1), NULL));
    CHECK_OK(THTensor_conv2Dmap(r, 0, 1e30, t, k, map, 1, 1, "V", "X"));
    CHECK_NEAR(THTensor_get3d(r, 0, 0, 0), 1e30, 1e24);
    THTensor *whole = THTensor_newZeros(TH_INT32, SIZES(1, 1));
    CHECK_ERROR(THTensor_conv2Dmul(r, 0, 0.5, whole, whole, 1, 1, "V", "X"), TH_ERR_DTYPE, "the factor 0.5");
    THTensor_free(whole);
    THTensor_free(map);
    THTensor_free(r);
    THTensor_free(k);
    THTensor_free(t);
}

/* The forms with one number for all dimensions equal the forms with lists, bit for bit. */
static void uniform_forms_are_those_with_lists(void) {
    const int64_t sizes[] = {2, 3, 5, 6, 7}, kernel[] = {4, 3, 3, 2, 3}, turned[] = {3, 4, 3, 2, 3}, stride[] = {2}, padding[] = {1};
    THTensor *bias = vector_of(TH_FLOAT32, 1, 2, 3, 4), *r = THTensor_new(), *wanted = THTensor_new();
    typedef THStatus Long(THTensor *, const THTensor *, const THTensor *, const THTensor *, int, const int64_t *, const int64_t *,
                          const int64_t *, int64_t);
    typedef THStatus Turned(THTensor *, const THTensor *, const THTensor *, const THTensor *, int, const int64_t *,
                            const int64_t *, const int64_t *, int64_t, const int64_t *);
    typedef THStatus Short(THTensor *, const THTensor *, const THTensor *, const THTensor *, int64_t, int64_t);
    Long *const lists[] = {THTensor_conv1d, THTensor_conv2d, THTensor_conv3d};
    Turned *const turned_lists[] = {THTensor_convTranspose1d, THTensor_convTranspose2d, THTensor_convTranspose3d};
    Short *const numbers[] = {THTensor_conv1dUniform, THTensor_conv2dUniform, THTensor_conv3dUniform};
    Short *const turned_numbers[] = {THTensor_convTranspose1dUniform, THTensor_convTranspose2dUniform, THTensor_convTranspose3dUniform};
    for (int d = 1; d <= 3; d++) {
        THTensor *x = random_of(TH_FLOAT32, d + 2, sizes), *w = random_of(TH_FLOAT32, d + 2, kernel);
        THTensor *back = random_of(TH_FLOAT32, d + 2, turned), *gradient = THTensor_new();
        CHECK_OK(lists[d - 1](wanted, x, w, bias, 1, stride, padding, NULL, 1));
        CHECK_OK(numbers[d - 1](r, x, w, bias, 2, 1));
        CHECK(THTensor_equal(r, wanted));
        CHECK_OK(THTensor_convolutionGradInput(gradient, wanted, w, x, 1, stride, padding, NULL, 0, NULL, 1));
        CHECK_OK(THTensor_convolutionGradInputUniform(r, wanted, w, x, 2, 1));
        CHECK(THTensor_equal(r, gradient));
        CHECK_OK(THTensor_convolutionGradWeight(gradient, wanted, x, w, 1, stride, padding, NULL, 0, NULL, 1));
        CHECK_OK(THTensor_convolutionGradWeightUniform(r, wanted, x, w, 2, 1));
        CHECK(THTensor_equal(r, gradient));
        CHECK_OK(turned_lists[d - 1](wanted, x, back, bias, 1, stride, padding, NULL, 1, NULL));
        CHECK_OK(turned_numbers[d - 1](r, x, back, bias, 2, 1));
        CHECK(THTensor_equal(r, wanted));
        CHECK_ERROR(numbers[d - 1](r, x, w, NULL, 0, 1), TH_ERR_ARGUMENT, "stride 0 in dimension 0: at least 1 is needed");
        THTensor_free(gradient);
        THTensor_free(back);
        THTensor_free(w);
        THTensor_free(x);
    }
    THTensor_free(wanted);
    THTensor_free(r);
    THTensor_free(bias);
}

/* Work grows with the taps, not with what lies between them. What is computed by the square of the dilation takes minutes
 * here. */
static void wide_dilations_cost_no_more_than_their_taps(void) {
    static const THDtype some[] = {TH_INT32, TH_FLOAT32, TH_FLOAT64};
    const int64_t d = shrunk(100000);
    for (int k = 0; k < 3; k++) {
        THTensor *x = THTensor_newOnes(some[k], SIZES(6, 5, 6)), *w = THTensor_newOnes(some[k], SIZES(6, 8, 2, 1));
        THTensor *r = THTensor_new(), *of_x = THTensor_new(), *of_w = THTensor_new();
        const int64_t stride[] = {1, 2}, more[] = {0, 0}, none[] = {0, 0}, wide[] = {d, 2};
        clock_t start = clock();
        CHECK_OK(THTensor_convTranspose2d(r, x, w, NULL, 2, stride, none, more, 1, wide));
        CHECK_SHAPE(r, 8, d + 5, 11);
        /* Each of 180 elements is spread to 8 channels by 2 taps; one element of a channel gets 6 of them. */
        CHECK_NEAR(THTensor_sumall(r), 180 * 8 * 2, 0);
        CHECK_NEAR(THTensor_maxall(r), 6, 0);
        CHECK_NEAR(THTensor_get3d(r, 7, d + 4, 10), 6, 0);
        /* The same window over that result: its gradients. */
        CHECK_OK(THTensor_convolution(of_x, r, w, NULL, 2, stride, none, wide, 0, none, 1));
        CHECK_SHAPE(of_x, 6, 5, 6);
        CHECK_NEAR(THTensor_minall(of_x), 6 * 8 * 2, 0);
        CHECK_NEAR(THTensor_maxall(of_x), 6 * 8 * 2, 0);
        THTensor *images = THTensor_newUnsqueeze1d(r, 0), *grads = THTensor_newUnsqueeze1d(x, 0);
        CHECK_OK(THTensor_convolutionGradWeight(of_w, grads, images, w, 2, stride, none, wide, 0, none, 1));
        CHECK_NEAR(THTensor_minall(of_w), 6 * 30, 0);
        CHECK_NEAR(THTensor_maxall(of_w), 6 * 30, 0);
        CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 20);
        THTensor_free(grads);
        THTensor_free(images);
        THTensor_free(of_w);
        THTensor_free(of_x);
        THTensor_free(r);
        THTensor_free(w);
        THTensor_free(x);
    }
}

CHECK_MAIN(CASE(wide_dilations_cost_no_more_than_their_taps), CASE(uniform_forms_are_those_with_lists), CASE(a_window_slides_over_an_image), CASE(channels_are_summed_and_a_bias_is_added),
           CASE(the_dimensions_of_the_weight_choose), CASE(a_transposed_convolution_spreads_each_element),
           CASE(gradients_are_the_transposed), CASE(images_are_unrolled_to_columns),
           CASE(layouts_and_results_do_not_matter), CASE(results_do_not_depend_on_the_number_of_threads),
           CASE(what_does_not_fit_is_refused_and_nothing_changes), CASE(planes_are_convolved_or_correlated),
           CASE(many_planes_go_with_many_kernels), CASE(a_map_says_which_planes_go_where), CASE(wide_results_of_16_bit_floats_are_rounded_first),
           CASE(every_way_gives_the_sums_of_the_definition), CASE(the_factor_is_that_of_the_sum))
