/*
 * Learns to read handwritten digits: a two-layer classifier, trained by mini-batch gradient descent with derivatives
 * written out by hand.
 *
 *     cc -std=c99 -O2 -Iinclude examples/digits.c -Ltarget/release -lthorn -lm -o digits
 *     LD_LIBRARY_PATH=target/release ./digits examples/data/digits.csv
 *
 * Three conventions carry the program:
 *
 *   - The result comes first: THTensor_cmul(r, a, b) is r = a * b, and r may be a or b. A handle from THTensor_new()
 *     takes dtype and shape from the first result written to it; later results of that shape go to the same memory.
 *     So handles are made once and kept, and the training loop makes no tensors.
 *   - What a `new` function returns is yours, until you give it up with THTensor_free. Views (narrow, select, t) are
 *     handles like any other: they keep the memory they look at alive, and what is written there shows in all of them.
 *   - Functions return a THStatus, and THGetLastError() has the sentence to it. A `new` function that fails returns
 *     NULL; to pass that on is an error as well, so it is enough to look at statuses.
 */

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <thorn.h>

#ifndef DIGITS_CSV
#define DIGITS_CSV "examples/data/digits.csv"
#endif

// Needs a `status` to return and a label `done`, where the function gives up what it owns.
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        if ((status = (call)) != TH_OK) goto done;                                                                     \
    } while (0)

enum { SIDE = 8, PIXELS = SIDE * SIDE, INK = 16, CLASSES = 10 };
enum { HIDDEN = 48, BATCH = 32, EPOCHS = 20, SEED = 1, SHOWN = 4 };

static const double LEARNING_RATE = 0.1;
static const double REQUIRED_ACCURACY = 0.95;

// A line of the file: 64 pixels from 0 to 16, then the digit they show.
typedef struct {
    float pixel[PIXELS];
    float label;
} Row;

// n digits, for training or held out.
typedef struct {
    int64_t count;
    THTensor *pixels, *labels; // [n x 64] and [n]: views of the rows of the file
    THTensor *x;               // [n x 64] the pixels, standardised
    THTensor *y;               // [n x 10] one-hot: 1 in the column of the label, else 0
} Set;

// Computes input @ w + b.
typedef struct {
    THTensor *w, *b;   // [inputs x outputs] and [outputs]
    THTensor *dw, *db; // derivatives of the loss by w and b
    THTensor *wt, *xt; // views, transposed: of w, and of the latest input
} Layer;

typedef struct {
    Layer lower, upper;
} Net;

// What the net computes for n digits at once.
typedef struct {
    THTensor *x, *y;                     // views of the digits' rows of a Set
    THTensor *hidden, *dhidden, *square; // [n x HIDDEN] tanh(lower layer), derivatives by the lower layer, scratch
    THTensor *logp, *dscores, *picked;   // [n x 10] log(softmax(upper layer)), derivatives by the upper layer, scratch
    THTensor *each;                      // [n x 1] scratch: one number a digit
    THTensor *total;                     // 0-d scratch: their sum
    THTensor *guess, *hit;               // [n] the most probable class, and whether it is the label
} Pass;

// False if the text is anything but 64 pixels and a label.
static bool parse_row(Row *row, const char *text) {
    for (int i = 0; i < PIXELS; i++) {
        char *end;
        row->pixel[i] = strtof(text, &end);
        if (end == text || *end != ',' || !(row->pixel[i] >= 0 && row->pixel[i] <= INK)) return false;
        text = end + 1;
    }
    if (*text < '0' || *text > '9') return false;
    row->label = (float)(*text - '0');
    return text[1] == '\n' || text[1] == '\0';
}

// All lines, for the caller to free; NULL if there are none, or the one after `count` is broken.
static Row *read_rows(FILE *file, int64_t *count) {
    char line[512];
    Row *rows = NULL;
    size_t room = 0;
    for (*count = 0; fgets(line, sizeof line, file); ++*count) {
        if ((size_t)*count == room) {
            room = 2 * room + 1024;
            Row *moved = realloc(rows, room * sizeof *rows);
            if (!moved) goto fail;
            rows = moved;
        }
        if (!parse_row(&rows[*count], line)) goto fail;
    }
    return rows;
fail:
    free(rows);
    return NULL;
}

// NULL, with a message, if the file cannot be opened or holds too little or anything else.
static Row *read_file(const char *path, int64_t *count) {
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        return NULL;
    }
    Row *rows = read_rows(file, count);
    bool complete = rows && !ferror(file) && *count >= 3 * BATCH;
    fclose(file);
    if (complete) return rows;
    fprintf(stderr, "%s: row %d is missing or broken\n", path, (int)*count + 1);
    free(rows);
    return NULL;
}

static void free_rows(void *rows, void *context) {
    (void)context;
    free(rows);
}

// A tensor [count x 65] over the memory of the rows, which now lives as long as anything that looks at it.
static THTensor *wrap(Row *rows, int64_t count) {
    const int64_t size[] = {count, PIXELS + 1};
    THTensor *tensor = THTensor_newFromBlob(TH_FLOAT32, 2, size, NULL, rows, free_rows, NULL);
    if (!tensor) free(rows);
    return tensor;
}

// Fisher-Yates, in the memory under the tensor. The numbers drawn from a seed are the same on every machine.
static THStatus shuffle(THTensor *rows, THGenerator *generator) {
    THStatus status;
    int64_t count = THTensor_size(rows, 0);
    THTensor *uniform = THTensor_newWithSize1d(TH_FLOAT64, count);
    TRY(THTensor_uniform(uniform, generator, 0, 1));
    const double *u = THTensor_data(uniform);
    Row *row = THTensor_data(rows);
    for (int64_t last = count - 1; last > 0; last--) {
        int64_t other = (int64_t)(u[last] * (double)(last + 1));
        Row moved = row[last];
        row[last] = row[other];
        row[other] = moved;
    }
done:
    THTensor_free(uniform);
    return status;
}

static THStatus one_hot(THTensor *r, const THTensor *labels) {
    static const float digits[CLASSES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const int64_t size[] = {CLASSES};
    THStatus status;
    THTensor *classes = THTensor_newFromData(TH_FLOAT32, 1, size, digits);
    THTensor *column = THTensor_newUnsqueeze1d(labels, 1);
    // [n x 1] against [10] broadcasts to [n x 10].
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

// Gives each pixel mean 0 and deviation 1 over the training set; the held-out set follows without being looked at.
static THStatus standardise(const Set *train, const Set *test) {
    THStatus status;
    THTensor *mean = THTensor_new(), *std = THTensor_new(), *constant = THTensor_new(), *square = THTensor_new();
    TRY(THTensor_mean(mean, train->pixels, 0, 0));
    TRY(THTensor_csub(train->x, train->pixels, 1, mean));
    TRY(THTensor_csub(test->x, test->pixels, 1, mean));

    TRY(THTensor_cmul(square, train->x, train->x));
    TRY(THTensor_mean(std, square, 0, 0));
    TRY(THTensor_sqrt(std, std));
    // A corner pixel that never has ink deviates by 0: divide it by 1.
    TRY(THTensor_eqValue(constant, std, 0));
    TRY(THTensor_cadd(std, std, 1, constant));
    TRY(THTensor_cdiv(train->x, train->x, std));
    TRY(THTensor_cdiv(test->x, test->x, std));
done:
    THTensor_free(mean);
    THTensor_free(std);
    THTensor_free(constant);
    THTensor_free(square);
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
    // The view sees every later update of w.
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

// From the derivatives by the output: those by w, x^T @ dr, and by b, their sum over the digits.
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
                   .each = THTensor_new(),
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
    THTensor_free(pass->each);
    THTensor_free(pass->total);
    THTensor_free(pass->guess);
    THTensor_free(pass->hit);
}

// Turns the pass to `count` digits of the set from `first`: two views, no copies.
static THStatus pass_take(const Pass *pass, const Set *set, int64_t first, int64_t count) {
    THStatus status;
    TRY(THTensor_narrow(pass->x, set->x, 0, first, count));
    TRY(THTensor_narrow(pass->y, set->y, 0, first, count));
done:
    return status;
}

// t = log(softmax(t)) in each row. With the greatest score moved to 0, exp cannot overflow.
static THStatus log_softmax(THTensor *t, THTensor *scratch, THTensor *each) {
    THStatus status;
    TRY(THTensor_max(each, NULL, t, 1, 1));
    TRY(THTensor_csub(t, t, 1, each));
    TRY(THTensor_exp(scratch, t));
    TRY(THTensor_sum(each, scratch, 1, 1));
    TRY(THTensor_log(each, each));
    TRY(THTensor_csub(t, t, 1, each));
done:
    return status;
}

static THStatus forward(const Pass *pass, const Net *net) {
    THStatus status;
    TRY(layer_forward(pass->hidden, &net->lower, pass->x));
    TRY(THTensor_tanh(pass->hidden, pass->hidden));
    TRY(layer_forward(pass->logp, &net->upper, pass->hidden));
    TRY(log_softmax(pass->logp, pass->picked, pass->each));
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
    // Softmax and cross entropy together: (p - y) / n.
    TRY(THTensor_exp(pass->dscores, pass->logp));
    TRY(THTensor_csub(pass->dscores, pass->dscores, 1, pass->y));
    TRY(THTensor_div(pass->dscores, pass->dscores, (double)pass->y->size[0]));
    TRY(layer_backward(&net->upper, pass->hidden, pass->dscores));
    // Back through the upper layer, then through tanh, whose derivative is 1 - tanh^2.
    TRY(THTensor_mm(pass->dhidden, pass->dscores, net->upper.wt));
    TRY(THTensor_cmul(pass->square, pass->hidden, pass->hidden));
    TRY(THTensor_cmul(pass->square, pass->square, pass->dhidden));
    TRY(THTensor_csub(pass->dhidden, pass->dhidden, 1, pass->square));
    TRY(layer_backward(&net->lower, pass->x, pass->dhidden));
done:
    return status;
}

// Goes through the set once and stores the mean loss on the way. Rows that do not fill a batch sit out.
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

// A line of a digit, two characters a pixel. Handles are open: elements are found through data and stride.
static void draw_line(const THTensor *pixels, int64_t digit, int y) {
    static const char shades[] = " .:-=+*#@";
    const float *pixel =
        (const float *)THTensor_data(pixels) + digit * pixels->stride[0] + SIDE * y * pixels->stride[1];
    for (int x = 0; x < SIDE; x++) {
        char shade = shades[(int)pixel[x * pixels->stride[1]] / 2];
        printf("%c%c", shade, shade);
    }
}

// The first few digits of a set, side by side, and what the net takes them for.
static void show(const Set *set, const Pass *pass) {
    for (int y = 0; y < SIDE; y++) {
        for (int64_t digit = 0; digit < SHOWN; digit++) {
            draw_line(set->pixels, digit, y);
            printf("%s", digit < SHOWN - 1 ? "  " : "\n");
        }
    }
    for (int64_t digit = 0; digit < SHOWN; digit++) {
        double guess = THTensor_get1d(pass->guess, digit), label = THTensor_get1d(set->labels, digit);
        printf("predicted %.0f, is %.0f%s", guess, label, digit < SHOWN - 1 ? " " : "\n");
    }
}

static THStatus train_net(double *accuracy, const Net *net, const Set *train, const Set *test) {
    THStatus status;
    // One for batches, one for the whole held-out set: handles keep their memory as long as shapes stay.
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

// Splits the rows in two thirds for training and one held out, and stores how many of the latter the net gets right.
static THStatus learn(double *accuracy, THTensor *rows, THGenerator *generator) {
    THStatus status;
    Set train = {0}, test = {0};
    Net net = {0};
    int64_t count = THTensor_size(rows, 0), held_out = count / 3;
    TRY(THRandom_manualSeed(generator, SEED));
    TRY(shuffle(rows, generator));
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
    return status;
}

int main(int argc, char **argv) {
    int64_t count;
    double accuracy = 0;
    Row *parsed = read_file(argc > 1 ? argv[1] : DIGITS_CSV, &count);
    if (!parsed) return EXIT_FAILURE;

    THTensor *rows = wrap(parsed, count);
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
