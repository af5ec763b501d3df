/*
 * Trains a convolutional net on small colour pictures, writes checkpoints, and continues from them after a crash.
 *
 *     cc -std=c99 -O2 -Iinclude examples/cifar_like.c -Ltarget/release -lthorn -lm -o cifar_like
 *     LD_LIBRARY_PATH=target/release ./cifar_like [--epochs N] [--pictures N] [--accuracy X] [--checkpoint NAME]
 *
 * The pictures have the size and the number of classes of CIFAR-10, and the program draws them itself: a shape of a
 * random colour at a random place, with noise. A linear model is right for a quarter of new pictures, and this net for
 * 99 % after 16 seconds on one core. AdamW trains the net with a one-cycle learning rate, on batches in random order,
 * whose pictures are shifted and mirrored at random.
 *
 * After each epoch the program writes a checkpoint. It can be killed at any time, also by SIGKILL. A second call
 * continues after the last complete epoch, and ends with the same bits as a run that was never killed. cifar_like.cpp
 * and cifar_like.lua are the same program in C++ and Lua, and continue from the same files.
 */

#define _POSIX_C_SOURCE 200809L
#include "handles.h"
#include "try.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 32, CHANNELS = 3, SHAPES = 5, CLASSES = 2 * SHAPES, SEED = 1 };
enum { LAYERS = 3, WIDTH = 32, FEATURES = WIDTH * (SIDE >> LAYERS) * (SIDE >> LAYERS) };
enum { BATCH = 50, MOST_SHIFT = 4, PATH = 4096 };

static const double LEARNING_RATE = 0.01, DECAY = 0.1, MOMENTUM = 0.1, EPS = 1e-5;

typedef struct {
    int64_t epochs, pictures;
    double accuracy;        // on the held-out pictures, which the program requires
    const char *checkpoint; // the name of its files without their endings
} Options;

typedef struct {
    THTensor *x; // [n x 3 x 32 x 32] red, green and blue, from 0 to 1 without the noise
    THTensor *y; // [n] the classes, int64
} Set;

// A convolution and a batch normalization.
typedef struct {
    THTensor *kernels;       // [32 x inputs x 3 x 3]
    THTensor *scale, *shift; // [32] each
} Layer;

// The means and variances of the batches, which batch normalization uses outside of training.
typedef struct {
    THTensor *mean, *variance; // [32] each
} Statistics;

typedef struct {
    Layer layer[LAYERS];
    THTensor *w, *b; // [512 x 10] and [10]: scores of the classes
    Statistics statistics[LAYERS];
} Net;

enum { WEIGHTS = offsetof(Net, statistics) / sizeof(THTensor *), TENSORS = sizeof(Net) / sizeof(THTensor *) };

// The names in a checkpoint.
static const char *const NAMES[TENSORS] = {
    "kernels1", "scale1", "shift1", "kernels2",  "scale2", "shift2",    "kernels3", "scale3",    "shift3",
    "w",        "b",      "mean1",  "variance1", "mean2",  "variance2", "mean3",    "variance3",
};

// All that changes during training: the contents of a checkpoint.
typedef struct {
    Net net;
    THOptim *optimizer;
    THGenerator *generator;
    int64_t epoch; // the number of complete epochs
} Run;

// The distance from the centre of each shape, where 1 is the outline: disc, square, diamond, triangle, cross.
static const char *const DISTANCE[SHAPES] = {
    "sqrt(x*x + y*y)",
    "max(abs(x), abs(y))",
    "abs(x) + abs(y)",
    "max(abs(x) + y/2, -y)",
    "min(max(3*abs(x), abs(y)), max(abs(x), 3*abs(y)))",
};

// A picture. Its inputs are random numbers, and the coordinates of pixels. The shape has the complement of the
// background's colour.
static const char PICTURE[] = "r = 8 + 4*size; x = (column - 12 - 7*left) / r; y = (row - 12 - 7*top) / r; d = %s;"
                              "inside = (d < 1) * (d >= %g); background + inside * (1 - 2*background) + 0.1*noise";

// Draws pictures of a class. The second half of the classes are shapes with a hole.
static THStatus draw(THTensor *pictures, int label, THGenerator *generator) {
    const int64_t count = THTensor_size(pictures, 0), one[] = {count, 1, 1, 1}, colour[] = {count, CHANNELS, 1, 1};
    THStatus status;
    char expression[512];
    snprintf(expression, sizeof expression, PICTURE, DISTANCE[label % SHAPES], label < SHAPES ? 0.0 : 0.5);
    THFused *picture = THFused_new(expression);
    THTensor *pixels = THTensor_newArange(TH_FLOAT32, 0, SIDE, 1);
    // In the order in which the expression names them.
    struct {
        THTensor *size, *column, *left, *row, *top, *background, *noise;
    } h;
    h.size = THTensor_newRand(TH_FLOAT32, generator, 4, one);
    h.left = THTensor_newRand(TH_FLOAT32, generator, 4, one);
    h.top = THTensor_newRand(TH_FLOAT32, generator, 4, one);
    h.background = THTensor_newRand(TH_FLOAT32, generator, 4, colour);
    h.noise = THTensor_newRandnLike(pictures, generator);
    h.column = THTensor_newView(pixels, 4, (int64_t[]){1, 1, 1, SIDE});
    h.row = THTensor_newView(pixels, 4, (int64_t[]){1, 1, SIDE, 1});
    TRY(picture ? TH_OK : THGetLastErrorCode());
    TRY(THFused_run(pictures, picture, HANDLES(&h)));
done:
    THFused_free(picture);
    THTensor_free(pixels);
    free_handles(HANDLES(&h));
    return status;
}

// Draws `count` pictures, the same number of each class.
static THStatus set_init(Set *set, int64_t count, THGenerator *generator) {
    const int64_t each = count / CLASSES, size[] = {each * CLASSES, CHANNELS, SIDE, SIDE};
    THStatus status = TH_OK;
    THTensor *pictures = THTensor_new(), *labels = THTensor_new();
    *set = (Set){THTensor_newWithSizes(TH_FLOAT32, 4, size), THTensor_newWithSizes(TH_INT64, 1, size)};
    for (int label = 0; label < CLASSES; label++) {
        TRY(THTensor_narrow(pictures, set->x, 0, label * each, each));
        TRY(THTensor_narrow(labels, set->y, 0, label * each, each));
        TRY(draw(pictures, label, generator));
        TRY(THTensor_fill(labels, label));
    }
done:
    THTensor_free(pictures);
    THTensor_free(labels);
    return status;
}

static void set_free(Set *set) {
    THTensor_free(set->x);
    THTensor_free(set->y);
}

// The deviation preserves the magnitude of activations through a layer with relu.
static THStatus layer_init(const Layer *layer, const Statistics *statistics, int64_t inputs, THGenerator *generator) {
    static const int64_t width = WIDTH;
    THStatus status;
    TRY(THTensor_resize4d(layer->kernels, WIDTH, inputs, 3, 3));
    TRY(THTensor_normal(layer->kernels, generator, 0, sqrt(2 / (9.0 * (double)inputs))));
    TRY(THTensor_full(layer->scale, 1, &width, 1));
    TRY(THTensor_full(layer->shift, 1, &width, 0));
    TRY(THTensor_full(statistics->mean, 1, &width, 0));
    TRY(THTensor_full(statistics->variance, 1, &width, 1));
done:
    return status;
}

static THStatus run_init(Run *run) {
    static const int64_t classes = CLASSES;
    THStatus status;
    Net *net = &run->net;
    make_handles(HANDLES(net));
    for (int i = 0; i < LAYERS; i++)
        TRY(layer_init(&net->layer[i], &net->statistics[i], i ? WIDTH : CHANNELS, run->generator));
    TRY(THTensor_resize2d(net->w, FEATURES, CLASSES));
    TRY(THTensor_normal(net->w, run->generator, 0, sqrt(1.0 / FEATURES)));
    TRY(THTensor_full(net->b, 1, &classes, 0));
    for (int i = 0; i < WEIGHTS; i++) TRY(THTensor_setRequiresGrad(((THTensor **)net)[i], 1));
    run->optimizer = THOptim_newAdamw((THTensor **)net, WEIGHTS, LEARNING_RATE, 0.9, 0.999, 1e-8, DECAY, 0);
    TRY(run->optimizer ? TH_OK : THGetLastErrorCode());
done:
    return status;
}

static void run_free(Run *run) {
    free_handles(HANDLES(&run->net));
    THOptim_free(run->optimizer);
}

// Writes a checkpoint. The library writes the file under a temporary name and renames it when it is complete.
static THStatus save(const Run *run, const char *name) {
    THStatus status;
    char path[PATH];
    THTensor *random = THTensor_new(), *epoch = THTensor_newFull(TH_INT64, 0, NULL, (double)run->epoch);
    snprintf(path, PATH, "%s.pt", name);
    THArchive *file = THArchive_create(path, TH_FILE_BY_NAME);
    TRY(file ? TH_OK : THGetLastErrorCode());
    for (int i = 0; i < TENSORS; i++) TRY(THArchive_add(file, NAMES[i], ((THTensor *const *)&run->net)[i]));
    TRY(THOptim_add(run->optimizer, file, "optimizer"));
    TRY(THTensor_getRNGState(run->generator, random));
    TRY(THArchive_add(file, "random", random));
    TRY(THArchive_add(file, "epoch", epoch));
    TRY(THArchive_close(file));
done:
    THArchive_free(file);
    THTensor_free(random);
    THTensor_free(epoch);
    return status;
}

// Reads a checkpoint. Without a checkpoint the run is unchanged.
static THStatus load(Run *run, const char *name) {
    THStatus status;
    char path[PATH];
    THTensor *random = NULL, *epoch = NULL;
    snprintf(path, PATH, "%s.pt", name);
    if (access(path, F_OK) != 0) return TH_OK;
    THArchive *file = THArchive_open(path);
    TRY(file ? TH_OK : THGetLastErrorCode());
    TRY(THGrad_setEnabled(0));
    for (int i = 0; i < TENSORS; i++) TRY(THArchive_copy(((THTensor **)&run->net)[i], file, NAMES[i]));
    TRY(THGrad_setEnabled(1));
    TRY(THOptim_read(run->optimizer, file, "optimizer"));
    random = THArchive_newFind(file, "random");
    epoch = THArchive_newFind(file, "epoch");
    TRY(random && epoch ? TH_OK : THGetLastErrorCode());
    TRY(THTensor_setRNGState(run->generator, random));
    run->epoch = (int64_t)THTensor_item(epoch);
    printf("continue after epoch %lld of %s\n", (long long)run->epoch, path);
done:
    THArchive_free(file);
    THTensor_free(random);
    THTensor_free(epoch);
    return status;
}

// r = maxPool2x2(relu(batchNorm(convolution of x))). In training, batch normalization updates the statistics.
static THStatus layer_forward(THTensor *r, const THTensor *x, const Layer *layer, const Statistics *s, int training) {
    THStatus status;
    THTensor *sums = THTensor_new(), *active = THTensor_new();
    TRY(THTensor_conv2dUniform(sums, x, layer->kernels, NULL, 1, 1));
    TRY(THTensor_batchNorm(active, NULL, NULL, sums, layer->scale, layer->shift, s->mean, s->variance, training,
                           MOMENTUM, EPS));
    TRY(THTensor_relu(active, active));
    TRY(THTensor_maxPool2dUniform(r, NULL, active, 2, 2, 0));
done:
    THTensor_free(sums);
    THTensor_free(active);
    return status;
}

// Computes the scores of the classes [n x 10] for pictures [n x 3 x 32 x 32].
static THStatus forward(THTensor *scores, const Net *net, const THTensor *x, int training) {
    static const int64_t rows[] = {-1, FEATURES};
    THStatus status;
    THTensor *h[LAYERS];
    make_handles(h, LAYERS);
    for (int i = 0; i < LAYERS; i++)
        TRY(layer_forward(h[i], i ? h[i - 1] : x, &net->layer[i], &net->statistics[i], training));
    TRY(THTensor_view(h[LAYERS - 1], h[LAYERS - 1], 2, rows));
    TRY(THTensor_addmm(scores, 1, net->b, 1, h[LAYERS - 1], net->w));
done:
    free_handles(h, LAYERS);
    return status;
}

// Shifts each picture by up to MOST_SHIFT pixels in both directions, and mirrors every other one.
static THStatus augment(THTensor *x, THGenerator *generator) {
    static const int64_t pads[] = {MOST_SHIFT, MOST_SHIFT, MOST_SHIFT, MOST_SHIFT}, width = 2;
    THStatus status;
    THTensor *padded = THTensor_new(), *from = THTensor_new(), *to = THTensor_new();
    TRY(THTensor_pad(padded, x, 4, pads, TH_PAD_REFLECT, 0));
    for (int64_t i = 0; i < THTensor_size(x, 0); i++) {
        TRY(THTensor_select(to, x, 0, i));
        TRY(THTensor_select(from, padded, 0, i));
        for (int d = 1; d <= 2; d++)
            TRY(THTensor_narrow(from, from, d, (int64_t)THRandom_uniform(generator, 0, 2 * MOST_SHIFT + 1), SIDE));
        if (THRandom_bernoulli(generator, 0.5))
            TRY(THTensor_flip(to, from, 1, &width));
        else
            TRY(THTensor_copy(to, from));
    }
done:
    THTensor_free(padded);
    THTensor_free(from);
    THTensor_free(to);
    return status;
}

// Computes the accuracy, without recording and with the statistics of the training.
static THStatus evaluate(double *accuracy, const Net *net, const Set *set) {
    THStatus status;
    THTensor *scores = THTensor_new(), *guess = THTensor_new(), *hit = THTensor_new();
    TRY(THGrad_setEnabled(0));
    TRY(forward(scores, net, set->x, 0));
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

// Rewrites one line of a terminal, and clears it after the last batch. Other outputs get no progress bar.
static void show_progress(int64_t epoch, int64_t batch, int64_t batches, double loss) {
    static const char marks[] = "########################################";
    const int length = sizeof marks - 1, done = (int)(length * batch / batches);
    if (!isatty(STDERR_FILENO)) return;
    fprintf(stderr, "\repoch %2lld  [%.*s%*s]  loss %.4f", (long long)epoch, done, marks, length - done, "", loss);
    if (batch == batches) fprintf(stderr, "\r\033[K");
}

// Trains until `options->epochs` epochs are complete. Pictures that do not fill a batch are skipped.
static THStatus train(Run *run, const Options *options, const Set *set, const Set *held_out) {
    THStatus status = TH_OK;
    const int64_t count = THTensor_size(set->y, 0), batches = count / BATCH, steps = options->epochs * batches;
    struct {
        THTensor *order, *rows, *x, *y, *scores, *loss;
    } h = {THTensor_new(), THTensor_new(), THTensor_new(), THTensor_new(), THTensor_new(), THTensor_new()};
    while (run->epoch < options->epochs) {
        double sum = 0, accuracy;
        TRY(THTensor_randperm(h.order, run->generator, count));
        for (int64_t batch = 0; batch < batches; batch++) {
            TRY(THTensor_narrow(h.rows, h.order, 0, batch * BATCH, BATCH));
            TRY(THTensor_indexSelect(h.x, set->x, 0, h.rows));
            TRY(THTensor_indexSelect(h.y, set->y, 0, h.rows));
            TRY(augment(h.x, run->generator));
            TRY(forward(h.scores, &run->net, h.x, 1));
            TRY(THTensor_crossEntropy(h.loss, h.scores, h.y, NULL, TH_REDUCTION_MEAN, -100));
            TRY(THOptim_zeroGrad(run->optimizer, 1));
            TRY(THTensor_backward(h.loss, NULL));
            const int64_t step = run->epoch * batches + batch;
            TRY(THOptim_setLr(run->optimizer, THSchedule_oneCycle(step, LEARNING_RATE, steps, 0.3, 25, 1e4)));
            TRY(THOptim_step(run->optimizer));
            sum += THTensor_item(h.loss);
            show_progress(run->epoch + 1, batch + 1, batches, sum / (double)(batch + 1));
        }
        TRY(evaluate(&accuracy, &run->net, held_out));
        run->epoch++;
        TRY(save(run, options->checkpoint));
        printf("epoch %2lld  loss %.6f  held-out accuracy %5.2f %%\n", (long long)run->epoch, sum / (double)batches,
               100 * accuracy);
        fflush(stdout);
    }
done:
    free_handles(HANDLES(&h));
    return status;
}

// Trains a net, or continues, and stores the accuracy of the net on pictures that are not used for training.
static THStatus learn(double *accuracy, const Options *options, THGenerator *generator) {
    THStatus status;
    Set set = {0}, held_out = {0};
    Run run = {.generator = generator};
    TRY(THRandom_manualSeed(generator, SEED));
    TRY(set_init(&set, options->pictures, generator));
    TRY(set_init(&held_out, options->pictures / 5, generator));
    TRY(run_init(&run));
    TRY(load(&run, options->checkpoint));
    TRY(train(&run, options, &set, &held_out));
    TRY(evaluate(accuracy, &run.net, &held_out));
done:
    set_free(&set);
    set_free(&held_out);
    run_free(&run);
    return status;
}

// Returns false if an argument is unknown or has no valid value.
static bool parse(Options *options, int argc, char **argv) {
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--epochs"))
            options->epochs = atoll(value);
        else if (!strcmp(argv[i], "--pictures"))
            options->pictures = atoll(value);
        else if (!strcmp(argv[i], "--accuracy"))
            options->accuracy = atof(value);
        else if (!strcmp(argv[i], "--checkpoint"))
            options->checkpoint = value;
        else
            return false;
    }
    return options->epochs > 0 && options->pictures >= BATCH && *options->checkpoint &&
           strlen(options->checkpoint) < PATH - 32;
}

int main(int argc, char **argv) {
    Options options = {.epochs = 6, .pictures = 3000, .accuracy = 0.9, .checkpoint = "cifar_like"};
    double accuracy = 0;
    if (!parse(&options, argc, argv)) {
        fprintf(stderr, "usage: cifar_like [--epochs N] [--pictures N] [--accuracy X] [--checkpoint NAME]\n");
        return EXIT_FAILURE;
    }
    THGenerator *generator = THGenerator_new();
    THStatus status = learn(&accuracy, &options, generator);
    THGenerator_free(generator);

    if (status != TH_OK) {
        fprintf(stderr, "cifar_like: %s\n", THGetLastError());
        return EXIT_FAILURE;
    }
    printf("test accuracy %.2f %%\n", 100 * accuracy);
    return accuracy >= options.accuracy ? EXIT_SUCCESS : EXIT_FAILURE;
}
