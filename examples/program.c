/*
 * Runs two models that PyTorch exported, and trains one of them further.
 *
 *     cc -std=c99 -O2 -Iinclude examples/program.c -Ltarget/release -lthorn -o program
 *     LD_LIBRARY_PATH=target/release ./program
 *
 * examples/python/export_programs.py trains and exports the models. A convolutional net reads digits that it was not
 * trained on, and its last layer learns to read mirrored digits. A transformer continues a sonnet: a run has one
 * character, returns scores of the next one, and keeps the keys and values of earlier characters in buffers.
 */

#include "digits.h"

#ifndef DIGITS_PT2
#define DIGITS_PT2 "examples/data/digits.pt2"
#define SONNETS_PT2 "examples/data/sonnets.pt2"
#define SONNETS_TXT "examples/data/sonnets.txt"
#endif
#define PROMPT "Shall I compare thee "

enum { STEPS = 100, CONTEXT = 96, SEED = 1 };

static const double REQUIRED_ACCURACY = 0.97, REQUIRED_MIRRORED = 0.8, LEARNING_RATE = 0.02, TEMPERATURE = 0.5;

// Stores the accuracy on pictures [n x 1 x 8 x 8] with labels [n].
static THStatus test(double *accuracy, THProgram *net, THTensor *pictures, const THTensor *labels, const char *what) {
    THStatus status;
    THTensor *scores = THTensor_new(), *guess = THTensor_new();
    TRY(THProgram_run(&scores, 1, net, &pictures, 1));
    TRY(THTensor_argmax(guess, scores, 1, 0));
    TRY(THTensor_eqTensor(guess, guess, labels));
    *accuracy = THTensor_sumall(guess) / (double)THTensor_numel(guess);
    printf("%.1f %% of %lld %s are right\n", 100 * *accuracy, (long long)THTensor_numel(guess), what);
done:
    THTensor_free(guess);
    THTensor_free(scores);
    return status;
}

// Trains the last layer. The other layers are unchanged, because their parameters require no gradient.
static THStatus tune(THProgram *net, THTensor *pictures, const THTensor *labels) {
    THStatus status;
    THTensor *layer[] = {THProgram_newParameter(net, "scores.weight"), THProgram_newParameter(net, "scores.bias")};
    THTensor *scores = THTensor_new(), *loss = THTensor_new();
    THOptim *optimizer = THOptim_newAdam(layer, 2, LEARNING_RATE, 0.9, 0.999, 1e-8, 0, 0);
    for (int i = 0; i < 2; i++) TRY(THTensor_setRequiresGrad(layer[i], 1));
    for (int step = 1; step <= STEPS; step++) {
        TRY(THProgram_run(&scores, 1, net, &pictures, 1));
        TRY(THTensor_crossEntropy(loss, scores, labels, NULL, TH_REDUCTION_MEAN, -100));
        if (step % 25 == 1 || step == STEPS) printf("step %3d  loss %.3f\n", step, THTensor_item(loss));
        TRY(THOptim_zeroGrad(optimizer, 1));
        TRY(THTensor_backward(loss, NULL));
        TRY(THOptim_step(optimizer));
    }
done:
    THOptim_free(optimizer);
    THTensor_free(loss);
    THTensor_free(scores);
    for (int i = 0; i < 2; i++) THTensor_free(layer[i]);
    return status;
}

// Reads digits, and then mirrored digits. PyTorch trained the net on the first two of each three digits.
static THStatus digits(bool *good, THProgram *net, const THTensor *rows) {
    THStatus status;
    double accuracy, before, after;
    int64_t count = THTensor_size(rows, 0);
    THTensor *pixels = THTensor_newNarrow(rows, 1, 0, PIXELS), *label = THTensor_newSelect(rows, 1, PIXELS);
    THTensor *pictures = THTensor_newReshape(pixels, 4, (int64_t[]){-1, 1, SIDE, SIDE});
    THTensor *labels = THTensor_newTo(label, TH_INT64);
    THTensor *x = THTensor_newSlice(pictures, 0, 0, count, 3), *y = THTensor_newSlice(labels, 0, 0, count, 3);
    THTensor *test_x = THTensor_newSlice(pictures, 0, 2, count, 3), *test_y = THTensor_newSlice(labels, 0, 2, count, 3);
    TRY(test(&accuracy, net, test_x, test_y, "held-out digits"));
    TRY(THTensor_transpose(x, x, 2, 3));
    TRY(THTensor_transpose(test_x, test_x, 2, 3));
    TRY(test(&before, net, test_x, test_y, "mirrored digits"));
    TRY(tune(net, x, y));
    TRY(test(&after, net, test_x, test_y, "mirrored digits"));
    *good = accuracy >= REQUIRED_ACCURACY && after >= REQUIRED_MIRRORED && before < after;
done:;
    THTensor *handles[] = {pixels, label, pictures, labels, x, y, test_x, test_y};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) THTensor_free(handles[i]);
    return status;
}

// Finds the characters of a text, in the order of their codes. The model numbers them in this order.
static int find_characters(char *characters, const char *path) {
    bool found[128] = {false};
    int count = 0;
    FILE *file = fopen(path, "r");
    for (int c; file && (c = fgetc(file)) != EOF;) found[c & 127] = true;
    if (file) fclose(file);
    for (int c = 0; c < 128; c++)
        if (found[c]) characters[count++] = (char)c;
    return count;
}

// Continues the prompt. Each character is drawn from the distribution that the model returns.
static THStatus write_text(THProgram *model, const char *characters, int count, THGenerator *generator) {
    static const int64_t sizes[] = {1, 1};
    THStatus status;
    THTensor *in[] = {THTensor_newWithSizes(TH_INT64, 2, sizes), THTensor_newWithSizes(TH_INT64, 1, sizes)};
    THTensor *scores = THTensor_new(), *p = THTensor_new(), *drawn = THTensor_new();
    TRY(THRandom_manualSeed(generator, SEED));
    for (int place = 0; place < CONTEXT; place++) {
        int64_t code = 0;
        if (place < (int)sizeof PROMPT - 1) // the characters of the prompt are given
            while (code < count - 1 && characters[code] != PROMPT[place]) code++;
        else
            code = THTensor_itemLong(drawn);
        putchar(characters[code]);
        TRY(THTensor_fillLong(in[0], code));
        TRY(THTensor_fillLong(in[1], place));
        TRY(THProgram_run(&scores, 1, model, in, 2));
        TRY(THTensor_div(p, scores, TEMPERATURE));
        TRY(THTensor_softmax(p, p, -1));
        TRY(THTensor_view(p, p, 1, (int64_t[]){-1}));
        TRY(THTensor_multinomial(drawn, generator, p, 1, 0));
    }
    putchar('\n');
done:
    THTensor_free(drawn);
    THTensor_free(p);
    THTensor_free(scores);
    for (int i = 0; i < 2; i++) THTensor_free(in[i]);
    return status;
}

int main(void) {
    bool good = false, ran;
    char characters[128];
    int count = find_characters(characters, SONNETS_TXT);
    THTensor *rows = read_digits(DIGITS_CSV);
    THProgram *net = THProgram_open(DIGITS_PT2), *model = THProgram_open(SONNETS_PT2);
    THGenerator *generator = THGenerator_new();
    ran = net && model && digits(&good, net, rows) == TH_OK;
    ran = ran && write_text(model, characters, count, generator) == TH_OK;
    if (!ran) fprintf(stderr, "program: %s\n", THGetLastError());
    THGenerator_free(generator);
    THProgram_free(model);
    THProgram_free(net);
    THTensor_free(rows);
    return ran && good ? EXIT_SUCCESS : EXIT_FAILURE;
}
