/*
 * Learns to write C headers from thorn.h: a small transformer, trained letter by letter with hand-written derivatives.
 * The weights are stored in a file, mapped again, and used to generate text.
 *
 *     cc -std=c99 -O2 -Iinclude examples/gpt.c -Ltarget/release -lthorn -lm -o gpt
 *     LD_LIBRARY_PATH=target/release ./gpt gpt.weights include/thorn.h
 *
 * gpt.h has the model. Training uses lines of 64 letters at once, and predicts each letter from the letters before it.
 * Generation needs one letter after the other, so keys and values of the previous letters are cached.
 */

#define _POSIX_C_SOURCE 200112L
#include "gpt.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef GPT_TEXT
#define GPT_TEXT "include/thorn.h"
#endif

enum { BATCH = 16, STEPS = 250, WARMUP = 20, WRITTEN = 400, CHOICES = 5, SEED = 7 };

static const double LEARNING_RATE = 4e-3, MEAN_KEPT = 0.9, SQUARE_KEPT = 0.99, TEMPERATURE = 0.8;
static const double REQUIRED_LOSS = 2.4, ALLOWED_DIFFERENCE = 1e-3;
static const char PROMPT[] = "/// `r = ";

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// The letters of a file as int64; NULL if there are too few.
static THTensor *read_text(const char *path) {
    THTensor *text = NULL;
    int64_t count = 0, room = 1 << 20;
    FILE *file = fopen(path, "rb");
    int64_t *letter = malloc((size_t)room * sizeof *letter);
    for (int c; file && letter && count < room && (c = getc(file)) != EOF; count++)
        letter[count] = c < LETTERS ? c : '?';
    if (count > 2 * CONTEXT) text = THTensor_newFromData(TH_INT64, 1, &count, letter);
    if (!text) fprintf(stderr, "gpt: %s cannot be read, or is too short\n", path);
    if (file) fclose(file);
    free(letter);
    return text;
}

// Initialises factors of layerNorms with 1, addends with 0, and matrices at random.
static THStatus weights_init(const Weights *w, THTensor *vector, THGenerator *generator) {
    THStatus status;
    TRY(THTensor_normal(vector, generator, 0, 1 / sqrt(WIDTH)));
    for (const BlockWeights *b = w->block; b < w->block + BLOCKS; b++) {
        THTensor *zeros[] = {b->shift1, b->qkv_bias, b->out_bias, b->shift2, b->up_bias, b->down_bias};
        for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) TRY(THTensor_zero(zeros[i]));
        TRY(THTensor_fill(b->norm1, 1));
        TRY(THTensor_fill(b->norm2, 1));
    }
    TRY(THTensor_fill(w->norm, 1));
    TRY(THTensor_zero(w->shift));
done:
    return status;
}

// Adam: a step along the moving mean of the derivatives, divided by the root of their mean square.
typedef struct {
    THTensor *mean, *square, *root;
} Adam;

static THStatus adam_step(Adam *adam, THTensor *vector, const THTensor *d, int step) {
    THStatus status;
    double rate = LEARNING_RATE * (step < WARMUP ? (double)step / WARMUP : 1 - 0.9 * step / STEPS);
    rate *= sqrt(1 - pow(SQUARE_KEPT, step)) / (1 - pow(MEAN_KEPT, step));
    TRY(THTensor_lerp(adam->mean, adam->mean, d, 1 - MEAN_KEPT));
    TRY(THTensor_mul(adam->square, adam->square, SQUARE_KEPT));
    TRY(THTensor_addcmul(adam->square, adam->square, 1 - SQUARE_KEPT, d, d));
    TRY(THTensor_sqrt(adam->root, adam->square));
    TRY(THTensor_add(adam->root, adam->root, 1e-8));
    TRY(THTensor_addcdiv(vector, vector, -rate, adam->mean, adam->root));
done:
    return status;
}

// Lines of the text from random positions: letters, and the letter that follows each.
typedef struct {
    THTensor *start, *offset, *position, *letters, *targets; // [BATCH x 1], [CONTEXT], [BATCH x CONTEXT], [n], [n]
} Lines;

static THStatus lines_draw(Lines *lines, const THTensor *text, THGenerator *generator) {
    THStatus status;
    int64_t column[2] = {BATCH, 1}, all = BATCH * CONTEXT;
    TRY(THTensor_randint(lines->start, generator, 0, THTensor_size(text, 0) - CONTEXT, 2, column));
    TRY(THTensor_cadd(lines->position, lines->start, 1, lines->offset));
    TRY(THTensor_view(lines->position, lines->position, 1, &all));
    TRY(THTensor_indexSelect(lines->letters, text, 0, lines->position));
    TRY(THTensor_add(lines->position, lines->position, 1));
    TRY(THTensor_indexSelect(lines->targets, text, 0, lines->position));
done:
    return status;
}

static THStatus lines_init(Lines *lines) {
    THTensor **handle = (THTensor **)lines;
    for (size_t i = 0; i < sizeof *lines / sizeof *handle; i++) handle[i] = THTensor_newWithDtype(TH_INT64);
    return THTensor_arange(lines->offset, 0, CONTEXT, 1);
}

// Trains the weights in `vector`, and stores the mean loss of the last 25 steps.
static THStatus train(double *last, THTensor *vector, const THTensor *text, THGenerator *generator) {
    THStatus status;
    int64_t count = weights_count();
    Extent e = {.batch = BATCH, .length = CONTEXT};
    Weights w, d;
    Pass pass = {0};
    Gradients g;
    Adam adam = {THTensor_newZerosLike(vector), THTensor_newZerosLike(vector), THTensor_new()};
    Lines lines = {0};
    THTensor *derivatives = THTensor_newZeros(TH_FLOAT32, 1, &count), *loss = THTensor_new();
    make_handles(HANDLES(&w));
    make_handles(HANDLES(&d));
    make_handles(HANDLES(&g));
    TRY(pass_init(&pass));
    TRY(lines_init(&lines));
    TRY(weights_view(&w, vector));
    TRY(weights_view(&d, derivatives));
    TRY(weights_init(&w, vector, generator));
    TRY(THTensor_full(g.one, 0, NULL, 1));
    double begin = seconds(), sum = 0;
    for (int step = 1; step <= STEPS; step++) {
        TRY(lines_draw(&lines, text, generator));
        TRY(gpt_forward(&pass, &w, lines.letters, e));
        TRY(THTensor_crossEntropy(loss, pass.scores, lines.targets, NULL, TH_REDUCTION_MEAN, -100));
        TRY(gpt_backward(&g, &d, &pass, &w, lines.letters, lines.targets, e));
        TRY(adam_step(&adam, vector, derivatives, step));
        sum += THTensor_item(loss) / 25;
        if (step % 25 == 0) {
            double rate = (double)step * BATCH * CONTEXT / (seconds() - begin);
            printf("step %3d  loss %.3f  %6.0f letters a second\n", step, sum, rate);
            *last = sum;
            sum = 0;
        }
    }
done:
    free_handles(HANDLES(&w));
    free_handles(HANDLES(&d));
    free_handles(HANDLES(&pass));
    free_handles(HANDLES(&g));
    free_handles(HANDLES(&adam));
    free_handles(HANDLES(&lines));
    THTensor_free(derivatives);
    THTensor_free(loss);
    return status;
}

// A vector over a file. If it is to be written, the file is extended to the necessary length.
static THTensor *map_weights(const char *path, bool written) {
    int flags = written ? TH_ALLOCATOR_MAPPED_SHARED : 0;
    THStorage *storage = THStorage_newWithMapping(TH_FLOAT32, path, written ? weights_count() : 0, flags);
    THTensor *vector = THTensor_newWithStorage1d(storage, 0, weights_count(), 1);
    THStorage_free(storage);
    return vector;
}

// The state of generation, one letter after the other.
typedef struct {
    int64_t letter[CONTEXT], start; // the letters in the cache, and their number
    THTensor *line, *letters;       // a tensor over `letter`, and a part of it
    THTensor *row, *best, *place, *choice;
} Writer;

// Draws one of the letters with the largest scores.
static THStatus draw_letter(int64_t *letter, Writer *writer, const Pass *pass, THGenerator *generator) {
    THStatus status;
    TRY(THTensor_select(writer->row, pass->scores, 0, pass->scores->size[0] - 1));
    TRY(THTensor_topk(writer->best, writer->place, writer->row, CHOICES, 0, true, true));
    TRY(THTensor_div(writer->best, writer->best, TEMPERATURE));
    TRY(THTensor_softmax(writer->best, writer->best, 0));
    TRY(THTensor_multinomial(writer->choice, generator, writer->best, 1, true));
    *letter = (int64_t)THTensor_get1d(writer->place, (int64_t)THTensor_get1d(writer->choice, 0));
done:
    return status;
}

// Computes scores for the letter after `count` more letters, which are added to the cache.
static THStatus read_on(Writer *writer, Pass *pass, const Weights *w, int64_t count, bool cached) {
    THStatus status;
    Extent e = {.start = writer->start, .batch = 1, .length = count, .cached = cached};
    TRY(THTensor_narrow(writer->letters, writer->line, 0, writer->start, count));
    TRY(gpt_forward(pass, w, writer->letters, e));
    writer->start += count;
done:
    return status;
}

// The largest difference between the current scores and the scores for all letters at once, without the cache.
static THStatus compare(double *difference, Writer *writer, Pass *pass, const Weights *w) {
    THStatus status;
    THTensor *cached = THTensor_new();
    int64_t count = writer->start;
    TRY(THTensor_select(writer->row, pass->scores, 0, pass->scores->size[0] - 1));
    TRY(THTensor_copy(cached, writer->row));
    writer->start = 0;
    TRY(read_on(writer, pass, w, count, false));
    TRY(THTensor_select(writer->row, pass->scores, 0, count - 1));
    TRY(THTensor_csub(cached, cached, 1, writer->row));
    TRY(THTensor_abs(cached, cached));
    *difference = THTensor_maxall(cached);
done:
    THTensor_free(cached);
    return status;
}

// Prints generated text, and stores the difference of the last scores from the scores without a cache.
static THStatus write_text(double *difference, const Weights *w, THGenerator *generator) {
    THStatus status;
    int64_t length = CONTEXT, more = sizeof PROMPT - 1;
    Pass pass = {0};
    Writer writer = {.row = THTensor_new(), .best = THTensor_new(), .place = THTensor_new(), .choice = THTensor_new()};
    for (int64_t i = 0; i < more; i++) writer.letter[i] = PROMPT[i];
    writer.line = THTensor_newFromBlob(TH_INT64, 1, &length, NULL, writer.letter, NULL, NULL);
    writer.letters = THTensor_new();
    TRY(pass_init(&pass));
    printf("\n%s", PROMPT);
    double begin = seconds();
    for (int i = 0; i < WRITTEN; i++) {
        int64_t letter;
        TRY(read_on(&writer, &pass, w, more, true));
        TRY(draw_letter(&letter, &writer, &pass, generator));
        putchar((int)letter);
        more = 1;
        if (writer.start == CONTEXT) {
            // The second half is read again, at the positions of the first half.
            for (int k = 0; k < CONTEXT / 2; k++) writer.letter[k] = writer.letter[k + CONTEXT / 2];
            writer.start = 0;
            more = CONTEXT / 2 + 1;
        }
        writer.letter[writer.start + more - 1] = letter;
    }
    double rate = WRITTEN / (seconds() - begin);
    if (writer.start == 0) TRY(read_on(&writer, &pass, w, more, true));
    TRY(compare(difference, &writer, &pass, w));
    printf("\n\n%.0f letters a second; the last scores are %.1e from those without a cache\n", rate, *difference);
done:
    free_handles(HANDLES(&pass));
    THTensor *left[] = {writer.line, writer.letters, writer.row, writer.best, writer.place, writer.choice};
    free_handles(HANDLES(&left));
    return status;
}

// Trains with the weights in a file, and generates from the file.
static THStatus run(double *loss, double *difference, const char *path, const THTensor *text, THGenerator *generator) {
    THStatus status;
    Weights w;
    THTensor *trained = map_weights(path, true), *mapped = NULL;
    make_handles(HANDLES(&w));
    TRY(THRandom_manualSeed(generator, SEED));
    TRY(train(loss, trained, text, generator));
    // After the handle is freed, the file does not change any more.
    THTensor_free(trained);
    trained = NULL;
    mapped = map_weights(path, false);
    TRY(weights_view(&w, mapped));
    TRY(write_text(difference, &w, generator));
done:
    free_handles(HANDLES(&w));
    THTensor_free(trained);
    THTensor_free(mapped);
    return status;
}

int main(int argc, char **argv) {
    double loss = INFINITY, difference = INFINITY;
    THTensor *text = read_text(argc > 2 ? argv[2] : GPT_TEXT);
    if (!text) return EXIT_FAILURE;

    THGenerator *generator = THGenerator_new();
    THStatus status = run(&loss, &difference, argc > 1 ? argv[1] : "gpt.weights", text, generator);
    THGenerator_free(generator);
    THTensor_free(text);

    if (status != TH_OK) {
        fprintf(stderr, "gpt: %s\n", THGetLastError());
        return EXIT_FAILURE;
    }
    return loss <= REQUIRED_LOSS && difference <= ALLOWED_DIFFERENCE ? EXIT_SUCCESS : EXIT_FAILURE;
}
