/*
 * Learns to read handwritten digits: a two-layer classifier, trained by mini-batch gradient descent with derivatives
 * written out by hand.
 *
 *     cc -std=c99 -O2 -Iinclude examples/digits.c -Ltarget/release -lthorn -lm -o digits
 *     LD_LIBRARY_PATH=target/release ./digits examples/data/digits.csv
 *
 * Three conventions are used throughout:
 *
 *   - The result is the first argument: THTensor_cmul(r, a, b) is r = a * b, and r may be a or b. A handle from
 *     THTensor_new() gets dtype and shape from the first result; later results of that shape reuse the memory. So
 *     handles are made once and kept, and the training loop makes no tensors.
 *   - The caller owns the result of a `new` function, and frees it with THTensor_free. Views (narrow, select, t) are
 *     ordinary handles: they keep their memory alive, and all views of the memory see each write.
 *   - Functions return a THStatus, and THGetLastError() returns the message. A `new` function returns NULL on
 *     failure. Functions refuse NULL, so it is enough to check statuses.
 */

#include "digits.h"
#include <math.h>

enum { HIDDEN = 48, BATCH = 32, EPOCHS = 20, SEED = 1, SHOWN = 4 };

static const double LEARNING_RATE = 0.1;
static const double REQUIRED_ACCURACY = 0.95;

// n digits, for training or for the test.
typedef struct {
    int64_t count;
    THTensor *pixels, *labels; // [n x 64] and [n]: views of the rows of the file
    THTensor *x;               // [n x 64] the pixels, standardised
    THTensor *y;               // [n x 10] one-hot: 1 in the column of the label, else 0
} Set;

// Computes input @ w + b.
typedef struct {
    THTensor *w, *b;   // [inputs x outputs] and [outputs]
    THTensor *dw, *db; // derivatives of the loss with respect to w and b
    THTensor *wt, *xt; // transposed views: of w, and of the latest input
} Layer;

typedef struct {
    Layer lower, upper;
} Net;

// The results of the net for n digits at once.
typedef struct {
    THTensor *x, *y;                     // views of the digits' rows of a Set
    THTensor *hidden, *dhidden, *square; // [n x HIDDEN] tanh(lower layer), derivatives, scratch
    THTensor *logp, *dscores, *picked;   // [n x 10] log(softmax(upper layer)), derivatives, scratch
    THTensor *total;                     // 0-d scratch: the sum of `picked`
    THTensor *guess, *hit;               // [n] the most probable class, and whether it is the label
} Pass;

// Shuffles the rows. The random numbers for a seed are the same on every machine.
static THStatus shuffle(THTensor *r, const THTensor *rows, THGenerator *generator) {
    THStatus status;
    THTensor *order = THTensor_new();
    TRY(THTensor_randperm(order, generator, THTensor_size(rows, 0)));
    TRY(THTensor_indexSelect(r, rows, 0, order));
done:
    THTensor_free(order);
    return status;
}

static THStatus one_hot(THTensor *r, const THTensor *labels) {
    static const float digits[CLASSES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const int64_t size[] = {CLASSES};
    THStatus status;
    THTensor *classes = THTensor_newFromData(TH_FLOAT32, 1, size, digits);
    THTensor *column = THTensor_newUnsqueeze1d(labels, 1);
    // [n x 1] and [10] broadcast to [n x 10].
    TRY(THTensor_eqTensor(r, column, classes));
done:
    THTensor_free(classes);
    THTensor_free(column);
    return status;
}

static THStatus set_init(Set *set, const THTensor *rows, int64_t first, int64_t count) {
    THTensor *part = THTensor_newNarrow(rows, 0, first, count);
    set->count = count;
    set->pixels = THTensor_newNarrow(part, 1, 0, PIXELS);
    set->labels = THTensor_newSelect(part, 1, PIXELS);
    set->x = THTensor_new();
    // Comparisons give Bool, unless the result already has a dtype.
    set->y = THTensor_newWithSize2d(TH_FLOAT32, count, CLASSES);
    THTensor_free(part);
    return one_hot(set->y, set->labels);
}

static void set_free(Set *set) {
    THTensor_free(set->pixels);
    THTensor_free(set->labels);
    THTensor_free(set->x);
    THTensor_free(set->y);
}

// Scales each pixel to mean 0 and deviation 1 over the training set. The test set is scaled by the same numbers.
static THStatus standardise(const Set *train, const Set *test) {
    THStatus status;
    THTensor *mean = THTensor_new(), *std = THTensor_new(), *constant = THTensor_new();
    TRY(THTensor_mean(mean, train->pixels, 0, 0));
    TRY(THTensor_csub(train->x, train->pixels, 1, mean));
    TRY(THTensor_csub(test->x, test->pixels, 1, mean));
    TRY(THTensor_std(std, train->pixels, 0, 1, 0));
    // A corner pixel that is always 0 has deviation 0, so it is divided by 1.
    TRY(THTensor_eqValue(constant, std, 0));
    TRY(THTensor_cadd(std, std, 1, constant));
    TRY(THTensor_cdiv(train->x, train->x, std));
    TRY(THTensor_cdiv(test->x, test->x, std));
done:
    THTensor_free(mean);
    THTensor_free(std);
    THTensor_free(constant);
    return status;
}

static THStatus layer_init(Layer *layer, int64_t inputs, int64_t outputs, THGenerator *generator) {
    THStatus status;
    *layer = (Layer){.w = THTensor_newWithSize2d(TH_FLOAT32, inputs, outputs),
                     .b = THTensor_newZeros(TH_FLOAT32, 1, &outputs),
                     .dw = THTensor_new(),
                     .db = THTensor_new(),
                     .wt = THTensor_new(),
                     .xt = THTensor_new()};
    // The view shows every later update of w.
    TRY(THTensor_t(layer->wt, layer->w));
    TRY(THTensor_normal(layer->w, generator, 0, 1 / sqrt((double)inputs)));
done:
    return status;
}

static void layer_free(Layer *layer) {
    THTensor_free(layer->w);
    THTensor_free(layer->b);
    THTensor_free(layer->dw);
    THTensor_free(layer->db);
    THTensor_free(layer->wt);
    THTensor_free(layer->xt);
}

// r = x @ w + b
static THStatus layer_forward(THTensor *r, const Layer *layer, const THTensor *x) {
    return THTensor_addmm(r, 1, layer->b, 1, x, layer->w);
}

// Computes the derivatives with respect to w, x^T @ dr, and to b, the sum of dr over the digits.
static THStatus layer_backward(const Layer *layer, const THTensor *x, const THTensor *dr) {
    THStatus status;
    TRY(THTensor_t(layer->xt, x));
    TRY(THTensor_mm(layer->dw, layer->xt, dr));
    TRY(THTensor_sum(layer->db, dr, 0, 0));
done:
    return status;
}

static THStatus layer_update(const Layer *layer) {
    THStatus status;
    TRY(THTensor_cadd(layer->w, layer->w, -LEARNING_RATE, layer->dw));
    TRY(THTensor_cadd(layer->b, layer->b, -LEARNING_RATE, layer->db));
done:
    return status;
}

static void pass_init(Pass *pass) {
    *pass = (Pass){.x = THTensor_new(),
                   .y = THTensor_new(),
                   .hidden = THTensor_new(),
                   .dhidden = THTensor_new(),
                   .square = THTensor_new(),
                   .logp = THTensor_new(),
                   .dscores = THTensor_new(),
                   .picked = THTensor_new(),
                   .total = THTensor_new(),
                   .guess = THTensor_new(),
                   .hit = THTensor_new()};
}

static void pass_free(Pass *pass) {
    THTensor_free(pass->x);
    THTensor_free(pass->y);
    THTensor_free(pass->hidden);
    THTensor_free(pass->dhidden);
    THTensor_free(pass->square);
    THTensor_free(pass->logp);
    THTensor_free(pass->dscores);
    THTensor_free(pass->picked);
    THTensor_free(pass->total);
    THTensor_free(pass->guess);
    THTensor_free(pass->hit);
}

// Selects `count` digits of the set from `first` on, by two views without copies.
static THStatus pass_take(const Pass *pass, const Set *set, int64_t first, int64_t count) {
    THStatus status;
    TRY(THTensor_narrow(pass->x, set->x, 0, first, count));
    TRY(THTensor_narrow(pass->y, set->y, 0, first, count));
done:
    return status;
}

static THStatus forward(const Pass *pass, const Net *net) {
    THStatus status;
    TRY(layer_forward(pass->hidden, &net->lower, pass->x));
    TRY(THTensor_tanh(pass->hidden, pass->hidden));
    TRY(layer_forward(pass->logp, &net->upper, pass->hidden));
    TRY(THTensor_logSoftmax(pass->logp, pass->logp, 1));
done:
    return status;
}

// Cross entropy: the mean over the digits of -log(probability of the label).
static THStatus cross_entropy(double *loss, const Pass *pass) {
    THStatus status;
    TRY(THTensor_cmul(pass->picked, pass->logp, pass->y));
    TRY(THTensor_sum(pass->total, pass->picked, TH_ALL_DIMS, 0));
    *loss = -THTensor_item(pass->total) / (double)pass->y->size[0];
done:
    return status;
}

static THStatus backward(const Pass *pass, const Net *net) {
    THStatus status;
    // The derivative of softmax and cross entropy together is (p - y) / n.
    TRY(THTensor_exp(pass->dscores, pass->logp));
    TRY(THTensor_csub(pass->dscores, pass->dscores, 1, pass->y));
    TRY(THTensor_div(pass->dscores, pass->dscores, (double)pass->y->size[0]));
    TRY(layer_backward(&net->upper, pass->hidden, pass->dscores));
    // Backward through the upper layer, then through tanh, whose derivative is 1 - tanh^2.
    TRY(THTensor_mm(pass->dhidden, pass->dscores, net->upper.wt));
    TRY(THTensor_cmul(pass->square, pass->hidden, pass->hidden));
    TRY(THTensor_cmul(pass->square, pass->square, pass->dhidden));
    TRY(THTensor_csub(pass->dhidden, pass->dhidden, 1, pass->square));
    TRY(layer_backward(&net->lower, pass->x, pass->dhidden));
done:
    return status;
}

// Trains once on the set, and stores the mean loss. Rows that do not fill a batch are skipped.
static THStatus train_epoch(double *loss, const Pass *pass, const Net *net, const Set *set) {
    THStatus status = TH_OK;
    int64_t batches = set->count / BATCH;
    *loss = 0;
    for (int64_t batch = 0; batch < batches; batch++) {
        double of_batch;
        TRY(pass_take(pass, set, batch * BATCH, BATCH));
        TRY(forward(pass, net));
        TRY(cross_entropy(&of_batch, pass));
        TRY(backward(pass, net));
        TRY(layer_update(&net->lower));
        TRY(layer_update(&net->upper));
        *loss += of_batch / (double)batches;
    }
done:
    return status;
}

static THStatus evaluate(double *accuracy, const Pass *pass, const Net *net, const Set *set) {
    THStatus status;
    TRY(pass_take(pass, set, 0, set->count));
    TRY(forward(pass, net));
    TRY(THTensor_max(NULL, pass->guess, pass->logp, 1, 0));
    TRY(THTensor_eqTensor(pass->hit, pass->guess, set->labels));
    *accuracy = THTensor_sumall(pass->hit) / (double)set->count;
done:
    return status;
}

// Prints the first few digits of a set side by side, and the net's guesses.
static void show(const Set *set, const Pass *pass) {
    THTensor *pixels = THTensor_newCpu(set->pixels);
    for (int y = 0; y < SIDE; y++) {
        for (int64_t digit = 0; digit < SHOWN; digit++) {
            // The fields of handles are open: elements are found by data and stride.
            draw_line((const float *)THTensor_data(pixels) + digit * pixels->stride[0], y);
            printf("%s", digit < SHOWN - 1 ? "  " : "\n");
        }
    }
    for (int64_t digit = 0; digit < SHOWN; digit++) {
        double guess = THTensor_get1d(pass->guess, digit), label = THTensor_get1d(set->labels, digit);
        printf("predicted %.0f, is %.0f%s", guess, label, digit < SHOWN - 1 ? " " : "\n");
    }
    THTensor_free(pixels);
}

static THStatus train_net(double *accuracy, const Net *net, const Set *train, const Set *test) {
    THStatus status;
    // One for batches, one for the whole test set: handles keep their memory as long as shapes stay the same.
    Pass batch, whole;
    pass_init(&batch);
    pass_init(&whole);
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
        double loss;
        TRY(train_epoch(&loss, &batch, net, train));
        TRY(evaluate(accuracy, &whole, net, test));
        printf("epoch %2d  loss %.4f  held-out accuracy %5.2f %%\n", epoch, loss, 100 * *accuracy);
    }
    show(test, &whole);
    printf("biases of the upper layer:\n");
    TRY(THTensor_print(net->upper.b));
done:
    pass_free(&batch);
    pass_free(&whole);
    return status;
}

// Uses two thirds of the rows for training and one third for the test, and stores the share of the test set that the net recognises.
static THStatus learn(double *accuracy, const THTensor *file, THGenerator *generator) {
    THStatus status;
    Set train = {0}, test = {0};
    Net net = {0};
    // The numbers of a file are on the host. All other tensors are made on the thread's default device, as digits_cuda.c shows.
    THTensor *there = THTensor_newToDevice(file, THGetDefaultDeviceType(), THGetDefaultDeviceIndex(), TH_UNDEFINED, 0, 0);
    THTensor *rows = THTensor_new();
    int64_t count = THTensor_size(file, 0), held_out = count / 3;
    TRY(THRandom_manualSeed(generator, SEED));
    TRY(shuffle(rows, there, generator));
    TRY(set_init(&train, rows, 0, count - held_out));
    TRY(set_init(&test, rows, count - held_out, held_out));
    TRY(standardise(&train, &test));
    TRY(layer_init(&net.lower, PIXELS, HIDDEN, generator));
    TRY(layer_init(&net.upper, HIDDEN, CLASSES, generator));
    TRY(train_net(accuracy, &net, &train, &test));
done:
    set_free(&train);
    set_free(&test);
    layer_free(&net.lower);
    layer_free(&net.upper);
    THTensor_free(there);
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
        fprintf(stderr, "digits: %s\n", THGetLastError());
        return EXIT_FAILURE;
    }
    printf("test accuracy %.2f %%\n", 100 * accuracy);
    return accuracy >= REQUIRED_ACCURACY ? EXIT_SUCCESS : EXIT_FAILURE;
}
