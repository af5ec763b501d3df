/*
 * Reads handwritten digits with a network that PyTorch trained: opens its checkpoint, classifies digits that it was not
 * trained on, and can save it again.
 *
 *     cc -std=c99 -O2 -Iinclude examples/checkpoint.c -Ltarget/release -lthorn -o checkpoint
 *     LD_LIBRARY_PATH=target/release ./checkpoint [MODEL [DIGITS.csv]] [--save COPY] [--scores SCORES.npy]
 *
 * examples/python/train_digits.py makes the checkpoint, a dict of tensors and two numbers, which an archive returns as
 * metadata. The suffix of COPY selects its format: .pt, .safetensors or .t7. This program can open each of them.
 * examples/python/check_digits.py compares the copy and the scores with PyTorch's.
 */

#define _POSIX_C_SOURCE 200112L
#include "digits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef DIGITS_PT
#define DIGITS_PT "examples/data/digits.pt"
#endif

enum { SHOWN = 4, THIRD = 3 };

static const double REQUIRED_ACCURACY = 0.97;

enum { CONV1_W, CONV1_B, CONV2_W, CONV2_B, HIDDEN_W, HIDDEN_B, SCORES_W, SCORES_B, WEIGHTS };

// The tensors in a checkpoint of this network, all float32.
static const struct {
    const char *name;
    int64_t ndim, size[4];
} EXPECTED[WEIGHTS] = {
    [CONV1_W] = {"conv1.weight", 4, {16, 1, 3, 3}},
    [CONV1_B] = {"conv1.bias", 1, {16}},
    [CONV2_W] = {"conv2.weight", 4, {32, 16, 3, 3}},
    [CONV2_B] = {"conv2.bias", 1, {32}},
    [HIDDEN_W] = {"hidden.weight", 2, {64, 32 * 2 * 2}},
    [HIDDEN_B] = {"hidden.bias", 1, {64}},
    [SCORES_W] = {"scores.weight", 2, {CLASSES, 64}},
    [SCORES_B] = {"scores.bias", 1, {CLASSES}},
};

typedef struct {
    THTensor *weight[WEIGHTS];
    double mean, std; // of the pixels in training
} Net;

static double milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

// Prints the message of the failed call, and returns false.
static bool failed(void) {
    fprintf(stderr, "checkpoint: %s\n", THGetLastError());
    return false;
}

// Prints `float32 [16, 1, 3, 3]`. For kinds of tensors that thorn lacks, an archive reports an undefined dtype.
static void print_kind(FILE *to, THDtype dtype, int64_t ndim, const int64_t *size) {
    fprintf(to, "%s [", dtype == TH_UNDEFINED ? "unknown" : THDtype_name(dtype));
    for (int64_t d = 0; d < ndim; d++) fprintf(to, "%s%lld", d ? ", " : "", (long long)size[d]);
    fprintf(to, "]");
}

// Prints the names, dtypes and sizes of the tensors, without reading an element.
static void list(const THArchive *file, const char *path) {
    printf("%s\n", path);
    for (int64_t i = 0; i < THArchive_count(file); i++) {
        printf("  %-14s ", THArchive_name(file, i));
        print_kind(stdout, THArchive_dtype(file, i), THArchive_ndim(file, i), THArchive_sizes(file, i));
        printf("\n");
    }
    for (int64_t i = 0; i < THArchive_metadataCount(file); i++)
        printf("  %-14s %s\n", THArchive_metadataKey(file, i), THArchive_metadataValue(file, i));
    fflush(stdout);
}

// Loads a tensor. Returns false, with a message, if the tensor is missing or has another shape or dtype.
static bool load_weight(THTensor **weight, int which, const THArchive *file, const char *path) {
    const char *name = EXPECTED[which].name;
    const int64_t *expected = EXPECTED[which].size, ndim = EXPECTED[which].ndim;
    *weight = THArchive_newFind(file, name);
    if (!*weight) return failed();
    bool same = THTensor_dtype(*weight) == TH_FLOAT32 && THTensor_nDimension(*weight) == ndim;
    for (int d = 0; same && d < ndim; d++) same = THTensor_size(*weight, d) == expected[d];
    if (same) return true;
    fprintf(stderr, "checkpoint: %s: '%s' is ", path, name);
    print_kind(stderr, THTensor_dtype(*weight), THTensor_nDimension(*weight), THTensor_sizes(*weight));
    fprintf(stderr, ", expected ");
    print_kind(stderr, TH_FLOAT32, ndim, expected);
    fprintf(stderr, "\n");
    return false;
}

// Reads a number from the metadata. Returns false, with a message, if it is missing or not a number.
static bool load_number(double *number, const char *key, const THArchive *file, const char *path) {
    const char *text = THArchive_metadata(file, key);
    char *end = NULL;
    *number = text ? strtod(text, &end) : 0;
    if (text && end != text && *end == '\0' && isfinite(*number)) return true;
    fprintf(stderr, "checkpoint: %s: '%s' is %s, expected a number\n", path, key, text ? text : "missing");
    return false;
}

static bool net_load(Net *net, const char *path) {
    THArchive *file = THArchive_open(path);
    if (!file) return failed();
    list(file, path);
    bool good = true;
    for (int i = 0; good && i < WEIGHTS; i++) good = load_weight(&net->weight[i], i, file, path);
    good = good && load_number(&net->mean, "mean", file, path) && load_number(&net->std, "std", file, path);
    THArchive_free(file); // the tensors stay valid
    return good;
}

// Saves the network without changes. Metadata values are texts.
static bool net_save(const Net *net, const char *path) {
    THStatus status;
    char mean[32], std[32];
    snprintf(mean, sizeof mean, "%.17g", net->mean);
    snprintf(std, sizeof std, "%.17g", net->std);
    THArchive *file = THArchive_create(path, TH_FILE_BY_NAME);
    if (!file) return failed();
    for (int i = 0; i < WEIGHTS; i++) TRY(THArchive_add(file, EXPECTED[i].name, net->weight[i]));
    TRY(THArchive_addMetadata(file, "mean", mean));
    TRY(THArchive_addMetadata(file, "std", std));
    TRY(THArchive_close(file));
done:
    THArchive_free(file);
    return status == TH_OK || failed();
}

static void net_free(Net *net) {
    for (int i = 0; i < WEIGHTS; i++) THTensor_free(net->weight[i]);
}

// r = maxPool2x2(relu(conv2d(x)))
static THStatus convolve(THTensor *r, const THTensor *x, THTensor *const *weight) {
    THStatus status;
    THTensor *image = THTensor_new();
    TRY(THTensor_conv2dUniform(image, x, weight[0], weight[1], 1, 1));
    TRY(THTensor_relu(image, image));
    TRY(THTensor_maxPool2dUniform(r, NULL, image, 2, 2, 0));
done:
    THTensor_free(image);
    return status;
}

// r = x @ weight^T + bias. PyTorch's layers have a row for each output.
static THStatus linear(THTensor *r, const THTensor *x, THTensor *const *weight) {
    THTensor *columns = THTensor_newT(weight[0]);
    THStatus status = THTensor_addmm(r, 1, weight[1], 1, x, columns);
    THTensor_free(columns);
    return status;
}

// Computes scores [n x 10] of digits [n x 64]. The largest score of a row selects the class.
static THStatus classify(THTensor *scores, const Net *net, const THTensor *pixels) {
    THStatus status;
    THTensor *x = THTensor_new(), *y = THTensor_new(), *flat = NULL;
    THTensor *image = THTensor_newReshape(pixels, 4, (int64_t[]){-1, 1, SIDE, SIDE});
    TRY(THTensor_sub(x, image, net->mean));
    TRY(THTensor_div(x, x, net->std));
    TRY(convolve(y, x, &net->weight[CONV1_W]));
    TRY(convolve(x, y, &net->weight[CONV2_W]));
    flat = THTensor_newFlatten(x, 1, -1);
    TRY(linear(y, flat, &net->weight[HIDDEN_W]));
    TRY(THTensor_relu(y, y));
    TRY(linear(scores, y, &net->weight[SCORES_W]));
done:
    THTensor_free(flat);
    THTensor_free(image);
    THTensor_free(y);
    THTensor_free(x);
    return status;
}

// Prints the first digits side by side, and the network's guesses.
static void show(const THTensor *pixels, const THTensor *guess, const THTensor *labels) {
    for (int y = 0; y < SIDE; y++) {
        for (int64_t digit = 0; digit < SHOWN; digit++) {
            draw_line((const float *)THTensor_data(pixels) + digit * pixels->stride[0], y);
            printf("%s", digit < SHOWN - 1 ? "  " : "\n");
        }
    }
    for (int64_t digit = 0; digit < SHOWN; digit++)
        printf("predicted %.0f, is %.0f%s", THTensor_get1d(guess, digit), THTensor_get1d(labels, digit),
               digit < SHOWN - 1 ? " " : "\n");
}

// Classifies every third digit: these were held out in training.
static THStatus evaluate(double *accuracy, THTensor *scores, const Net *net, const THTensor *rows) {
    THStatus status;
    THTensor *test = THTensor_newSlice(rows, 0, THIRD - 1, THTensor_size(rows, 0), THIRD);
    THTensor *pixels = THTensor_newNarrow(test, 1, 0, PIXELS), *labels = THTensor_newSelect(test, 1, PIXELS);
    THTensor *guess = THTensor_new(), *right = THTensor_new();
    double begin = milliseconds();
    TRY(classify(scores, net, pixels));
    TRY(THTensor_argmax(guess, scores, 1, 0));
    double took = milliseconds() - begin;
    TRY(THTensor_eqTensor(right, guess, labels));
    double hits = THTensor_sumall(right);
    int64_t count = THTensor_numel(labels);
    if (count >= SHOWN) show(pixels, guess, labels);
    *accuracy = hits / (double)count;
    printf("%.0f of %lld held-out digits are right, %.2f %%", hits, (long long)count, 100 * *accuracy);
    printf(", classified in %.1f ms\n", took);
done:
    THTensor_free(right);
    THTensor_free(guess);
    THTensor_free(labels);
    THTensor_free(pixels);
    THTensor_free(test);
    return status;
}

// The files on the command line; NULL if not given.
typedef struct {
    const char *model, *digits, *copy, *scores;
} Files;

static bool parse(Files *files, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char **to = !files->model ? &files->model : &files->digits;
        if (argv[i][0] == '-') {
            to = !strcmp(argv[i], "--save") ? &files->copy : !strcmp(argv[i], "--scores") ? &files->scores : NULL;
            i++;
        }
        if (!to || *to || i >= argc) {
            fprintf(stderr, "usage: checkpoint [MODEL [DIGITS.csv]] [--save COPY] [--scores SCORES.npy]\n");
            return false;
        }
        *to = argv[i];
    }
    return true;
}

// Classifies with the network of a file, and writes the requested files.
static bool run(const Files *files, Net *net, THTensor *scores, const THTensor *rows) {
    double accuracy = 0, begin = milliseconds();
    if (!net_load(net, files->model ? files->model : DIGITS_PT)) return false;
    printf("opened in %.1f ms\n", milliseconds() - begin);
    if (evaluate(&accuracy, scores, net, rows) != TH_OK) return failed();
    if (files->copy && !net_save(net, files->copy)) return false;
    if (files->scores && THTensor_save(scores, files->scores) != TH_OK) return failed();
    return accuracy >= REQUIRED_ACCURACY;
}

int main(int argc, char **argv) {
    Files files = {0};
    Net net = {0};
    if (!parse(&files, argc, argv)) return EXIT_FAILURE;
    THTensor *rows = read_digits(files.digits ? files.digits : DIGITS_CSV), *scores = THTensor_new();
    bool good = rows && run(&files, &net, scores, rows);
    THTensor_free(scores);
    THTensor_free(rows);
    net_free(&net);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
