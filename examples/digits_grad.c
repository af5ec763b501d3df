/*
 * Learns to recognise handwritten digits: a convolutional net, trained by gradient descent with automatic derivatives.
 *
 *     cc -std=c99 -O2 -Iinclude examples/digits_grad.c -Ltarget/release -lthorn -lm -o digits_grad
 *     LD_LIBRARY_PATH=target/release ./digits_grad examples/data/digits.csv
 *
 * digits.c computes the derivatives of its net by hand. Here only the forward computation is written:
 *
 *   - THTensor_setRequiresGrad marks the weights. From then on the library records each operation on the weights and
 *     on tensors computed from them.
 *   - THTensor_backward follows the records back from the loss, and stores a gradient with each weight.
 *   - An optimizer, THOptim_*, updates the weights with their gradients.
 *   - The record keeps the intermediate tensors that gradients need, so their handles may be freed at once.
 */

#include "digits.h"
#include "handles.h"
#include <math.h>

enum { BATCH = 32, EPOCHS = 15, SEED = 1 };

static const double LEARNING_RATE = 0.01, DECAY = 0.1;
static const double REQUIRED_ACCURACY = 0.985;

// n digits, for training or for the test.
typedef struct {
    THTensor *x; // [n x 1 x 8 x 8] pixels from 0 to 1, in one channel
    THTensor *y; // [n] the labels, int64
} Set;

typedef struct {
    THTensor *kernels1, *bias1; // [16 x 1 x 3 x 3] and [16]: the first convolution
    THTensor *kernels2, *bias2; // [32 x 16 x 3 x 3] and [32]: the second one
    THTensor *w, *b;            // [128 x 10] and [10]: scores of the classes
} Net;

// The digits `first` to `first + count - 1` of a file in random order.
static THStatus set_init(Set *set, const THTensor *rows, int64_t first, int64_t count) {
    static const int64_t pictures[] = {-1, 1, SIDE, SIDE};
    THStatus status;
    THTensor *part = THTensor_newNarrow(rows, 0, first, count);
    THTensor *pixels = THTensor_newNarrow(part, 1, 0, PIXELS), *labels = THTensor_newSelect(part, 1, PIXELS);
    set->y = THTensor_newTo(labels, TH_INT64);
    set->x = THTensor_new();
    TRY(THTensor_div(set->x, pixels, INK));
    TRY(THTensor_view(set->x, set->x, 4, pictures));
done:
    THTensor_free(part);
    THTensor_free(pixels);
    THTensor_free(labels);
    return status;
}

static void set_free(Set *set) {
    THTensor_free(set->x);
    THTensor_free(set->y);
}

// A weight: random numbers with the deviation that preserves the magnitude of activations through a layer with relu.
static THTensor *new_weight(THGenerator *generator, int ndim, const int64_t *size, int64_t inputs) {
    THTensor *w = THTensor_newWithSizes(TH_FLOAT32, ndim, size);
    if (THTensor_normal(w, generator, 0, sqrt(2 / (double)inputs)) == TH_OK) return w;
    THTensor_free(w);
    return NULL;
}

static THStatus net_init(Net *net, THGenerator *generator) {
    static const int64_t first[] = {16, 1, 3, 3}, second[] = {32, 16, 3, 3}, last[] = {32 * 2 * 2, CLASSES};
    THStatus status = TH_OK;
    *net = (Net){.kernels1 = new_weight(generator, 4, first, 1 * 3 * 3),
                 .bias1 = THTensor_newZeros(TH_FLOAT32, 1, &first[0]),
                 .kernels2 = new_weight(generator, 4, second, 16 * 3 * 3),
                 .bias2 = THTensor_newZeros(TH_FLOAT32, 1, &second[0]),
                 .w = new_weight(generator, 2, last, 32 * 2 * 2),
                 .b = THTensor_newZeros(TH_FLOAT32, 1, &last[1])};
    THTensor *leaves[] = {net->kernels1, net->bias1, net->kernels2, net->bias2, net->w, net->b};
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) TRY(THTensor_setRequiresGrad(leaves[i], 1));
done:
    return status;
}

// r = maxPool2x2(relu(convolution of x)). Writing in place is allowed if no gradient needs the previous values: the
// gradient of a convolution needs its inputs, and the gradient of relu needs its result.
static THStatus convolve(THTensor *r, const THTensor *x, const THTensor *kernels, const THTensor *bias) {
    THStatus status;
    THTensor *active = THTensor_new();
    TRY(THTensor_conv2dUniform(active, x, kernels, bias, 1, 1));
    TRY(THTensor_relu(active, active));
    TRY(THTensor_maxPool2dUniform(r, NULL, active, 2, 2, 0));
done:
    THTensor_free(active);
    return status;
}

// Computes the scores of the classes [n x 10] for pictures [n x 1 x 8 x 8].
static THStatus forward(THTensor *scores, const Net *net, const THTensor *x) {
    static const int64_t rows[] = {-1, 32 * 2 * 2};
    THStatus status;
    THTensor *half = THTensor_new(), *quarter = THTensor_new();
    TRY(convolve(half, x, net->kernels1, net->bias1));
    TRY(convolve(quarter, half, net->kernels2, net->bias2));
    TRY(THTensor_view(quarter, quarter, 2, rows));
    TRY(THTensor_addmm(scores, 1, net->b, 1, quarter, net->w));
done:
    THTensor_free(half);
    THTensor_free(quarter);
    return status;
}

// Trains once on the set in random order, and stores the mean loss. Digits that do not fill a batch are skipped.
// Handles are reused in the loop: writing to a result again starts a new record.
static THStatus train_epoch(double *loss, const Net *net, THOptim *optimizer, const Set *set, THGenerator *generator) {
    THStatus status;
    int64_t count = THTensor_size(set->y, 0), batches = count / BATCH;
    struct {
        THTensor *order, *rows, *x, *y, *scores, *loss;
    } h = {THTensor_new(), THTensor_new(), THTensor_new(), THTensor_new(), THTensor_new(), THTensor_new()};
    *loss = 0;
    TRY(THTensor_randperm(h.order, generator, count));
    for (int64_t batch = 0; batch < batches; batch++) {
        TRY(THTensor_narrow(h.rows, h.order, 0, batch * BATCH, BATCH));
        TRY(THTensor_indexSelect(h.x, set->x, 0, h.rows));
        TRY(THTensor_indexSelect(h.y, set->y, 0, h.rows));
        TRY(forward(h.scores, net, h.x));
        TRY(THTensor_crossEntropy(h.loss, h.scores, h.y, NULL, TH_REDUCTION_MEAN, -100));
        // Backward adds to existing gradients.
        TRY(THOptim_zeroGrad(optimizer, 1));
        TRY(THTensor_backward(h.loss, NULL));
        TRY(THOptim_step(optimizer));
        *loss += THTensor_item(h.loss) / (double)batches;
    }
done:
    free_handles(HANDLES(&h));
    return status;
}

// Computes the accuracy without recording.
static THStatus evaluate(double *accuracy, const Net *net, const Set *set) {
    THStatus status;
    THTensor *scores = THTensor_new(), *guess = THTensor_new(), *hit = THTensor_new();
    TRY(THGrad_setEnabled(0));
    TRY(forward(scores, net, set->x));
    TRY(THTensor_argmax(guess, scores, 1, 0));
    TRY(THTensor_eqTensor(hit, guess, set->y));
    *accuracy = THTensor_sumall(hit) / (double)THTensor_size(set->y, 0);
    TRY(THGrad_setEnabled(1));
done:
    THTensor_free(scores);
    THTensor_free(guess);
    THTensor_free(hit);
    return status;
}

// Trains with decreasing learning rates, and stores the accuracy on the test set.
static THStatus train_net(double *accuracy, Net *net, const Set *train, const Set *test, THGenerator *generator) {
    THStatus status = TH_OK;
    THOptim *optimizer = THOptim_newAdamw(HANDLES(net), LEARNING_RATE, 0.9, 0.999, 1e-8, DECAY, 0);
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
        double loss;
        TRY(THOptim_setLr(optimizer, LEARNING_RATE * (EPOCHS + 1 - epoch) / EPOCHS));
        TRY(train_epoch(&loss, net, optimizer, train, generator));
        TRY(evaluate(accuracy, net, test));
        printf("epoch %2d  loss %.4f  held-out accuracy %5.2f %%\n", epoch, loss, 100 * *accuracy);
    }
done:
    THOptim_free(optimizer);
    return status;
}

// Uses one digit in five for the test, and trains on the others.
static THStatus learn(double *accuracy, const THTensor *file, THGenerator *generator) {
    THStatus status;
    Set train = {0}, test = {0};
    Net net = {0};
    THTensor *order = THTensor_new(), *rows = THTensor_new();
    int64_t count = THTensor_size(file, 0), held_out = count / 5;
    TRY(THRandom_manualSeed(generator, SEED));
    TRY(THTensor_randperm(order, generator, count));
    TRY(THTensor_indexSelect(rows, file, 0, order));
    TRY(set_init(&train, rows, held_out, count - held_out));
    TRY(set_init(&test, rows, 0, held_out));
    TRY(net_init(&net, generator));
    TRY(train_net(accuracy, &net, &train, &test, generator));
done:
    set_free(&train);
    set_free(&test);
    free_handles(HANDLES(&net));
    THTensor_free(order);
    THTensor_free(rows);
    return status;
}

int main(int argc, char **argv) {
    double accuracy = 0;
    THTensor *rows = read_digits(argc > 1 ? argv[1] : DIGITS_CSV);
    if (!rows) return EXIT_FAILURE;

    THGenerator *generator = THGenerator_new();
    THStatus status = learn(&accuracy, rows, generator);
    THGenerator_free(generator);
    THTensor_free(rows);

    if (status != TH_OK) {
        fprintf(stderr, "digits_grad: %s\n", THGetLastError());
        return EXIT_FAILURE;
    }
    printf("test accuracy %.2f %%\n", 100 * accuracy);
    return accuracy >= REQUIRED_ACCURACY ? EXIT_SUCCESS : EXIT_FAILURE;
}
