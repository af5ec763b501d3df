/*
 * Learns Shakespeare's sonnets letter by letter, and generates text: a small transformer, trained by AdamW with
 * automatic derivatives.
 *
 *     cc -std=c99 -O2 -Iinclude examples/transformer.c -Ltarget/release -lthorn -lm -o transformer
 *     LD_LIBRARY_PATH=target/release ./transformer examples/data/sonnets.txt
 *
 * The model is the model of gpt.c, which has hand-written derivatives. Here operations on weights are recorded, and
 * THTensor_backward computes the gradients. Each function makes the handles of its intermediate results and frees them,
 * because the record keeps the tensors that gradients need. One rule remains: a tensor that a gradient needs must not
 * be written to before backward, or backward fails with an error. For this reason most results have a separate handle.
 *
 * n letters are `n / length` consecutive lines of `length` letters.
 */

#include "handles.h"
#include "try.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SONNETS_TXT
#define SONNETS_TXT "examples/data/sonnets.txt"
#endif

enum { LETTERS = 128, CONTEXT = 64, WIDTH = 64, HEADS = 4, HEAD = WIDTH / HEADS, BLOCKS = 2, INNER = 4 * WIDTH };
enum { BATCH = 16, STEPS = 1000, WARMUP = 20, REPORTED = 50, WRITTEN = 600, SEED = 1 };

static const double LEARNING_RATE = 6e-3, DECAY = 0.01, LONGEST_GRADIENT = 1, EPS = 1e-5;
static const double REQUIRED_LOSS = 1.5, TEMPERATURE = 0.7;
static const char PROMPT[] = "Shall I ";

// The weights of a block.
typedef struct {
    THTensor *scale1, *shift1;  // [WIDTH] for the first layerNorm
    THTensor *qkv, *out;        // [WIDTH x 3 WIDTH] for queries, keys and values; [WIDTH x WIDTH] combines the heads
    THTensor *scale2, *shift2;  // [WIDTH] for the second layerNorm
    THTensor *up, *up_bias;     // [WIDTH x INNER] and [INNER]
    THTensor *down, *down_bias; // [INNER x WIDTH] and [WIDTH]
} Block;

// All weights: a struct of handles, which the optimizer gets as a list.
typedef struct {
    THTensor *letter, *place; // [LETTERS x WIDTH] and [CONTEXT x WIDTH], which are added
    Block block[BLOCKS];
    THTensor *scale, *shift; // [WIDTH] for the last layerNorm
    THTensor *head;          // [WIDTH x LETTERS] for the scores of the next letter
} Model;

static THStatus random_matrix(THTensor *w, THGenerator *generator, int64_t rows, int64_t columns, double deviation) {
    THStatus status;
    TRY(THTensor_resize2d(w, rows, columns));
    TRY(THTensor_normal(w, generator, 0, deviation));
done:
    return status;
}

// Matrices preserve the magnitude of their inputs. The last matrix of a branch is small, so that the branch starts
// small.
static THStatus block_init(const Block *b, THGenerator *g) {
    static const int64_t width = WIDTH, inner = INNER;
    THStatus status;
    TRY(THTensor_full(b->scale1, 1, &width, 1));
    TRY(THTensor_full(b->shift1, 1, &width, 0));
    TRY(random_matrix(b->qkv, g, WIDTH, 3 * WIDTH, 1 / sqrt(WIDTH)));
    TRY(random_matrix(b->out, g, WIDTH, WIDTH, 0.5 / sqrt(WIDTH)));
    TRY(THTensor_full(b->scale2, 1, &width, 1));
    TRY(THTensor_full(b->shift2, 1, &width, 0));
    TRY(random_matrix(b->up, g, WIDTH, INNER, 1 / sqrt(WIDTH)));
    TRY(THTensor_full(b->up_bias, 1, &inner, 0));
    TRY(random_matrix(b->down, g, INNER, WIDTH, 0.5 / sqrt(INNER)));
    TRY(THTensor_full(b->down_bias, 1, &width, 0));
done:
    return status;
}

static THStatus model_init(Model *m, THGenerator *g) {
    static const int64_t width = WIDTH;
    THStatus status;
    make_handles(HANDLES(m));
    TRY(random_matrix(m->letter, g, LETTERS, WIDTH, 0.1));
    TRY(random_matrix(m->place, g, CONTEXT, WIDTH, 0.1));
    for (int i = 0; i < BLOCKS; i++) TRY(block_init(&m->block[i], g));
    TRY(THTensor_full(m->scale, 1, &width, 1));
    TRY(THTensor_full(m->shift, 1, &width, 0));
    TRY(random_matrix(m->head, g, WIDTH, LETTERS, 1 / sqrt(WIDTH)));
    THTensor **weights = (THTensor **)m;
    for (size_t i = 0; i < sizeof *m / sizeof *weights; i++) TRY(THTensor_setRequiresGrad(weights[i], 1));
done:
    return status;
}

// Queries, keys or values, part 0, 1 or 2 of [n x 3 WIDTH], as a view [lines x HEADS x length x HEAD].
static THStatus heads_of(THTensor *r, const THTensor *qkv, int part, int64_t length) {
    const int64_t apart[] = {-1, length, 3, HEADS, HEAD}, order[] = {0, 2, 1, 3};
    THStatus status;
    TRY(THTensor_view(r, qkv, 5, apart));
    TRY(THTensor_select(r, r, 2, part));
    TRY(THTensor_permute(r, r, 4, order));
done:
    return status;
}

// r = x + attention(layerNorm(x)): each letter attends to the letters before it. The mask [length x length] is -inf
// where a key is later than the query, else 0.
static THStatus attend(THTensor *r, const Block *b, const THTensor *x, const THTensor *mask) {
    static const int64_t rows[] = {-1, WIDTH}, order[] = {0, 2, 1, 3};
    THStatus status;
    int64_t length = THTensor_size(mask, 0);
    THTensor *united = NULL;
    struct {
        THTensor *normed, *qkv, *query, *key, *value, *attention, *heads, *out;
    } h;
    make_handles(HANDLES(&h));
    TRY(THTensor_layerNorm(h.normed, x, 1, b->scale1, b->shift1, EPS));
    TRY(THTensor_mm(h.qkv, h.normed, b->qkv));
    TRY(heads_of(h.query, h.qkv, 0, length));
    TRY(heads_of(h.key, h.qkv, 1, length));
    TRY(heads_of(h.value, h.qkv, 2, length));
    TRY(THTensor_transpose(h.key, h.key, 2, 3));
    // No gradient needs the results of products and sums, and the gradient of softmax needs its own result, so all four
    // are in place.
    TRY(THTensor_matmul(h.attention, h.query, h.key));
    TRY(THTensor_mul(h.attention, h.attention, 1 / sqrt(HEAD)));
    TRY(THTensor_cadd(h.attention, h.attention, 1, mask));
    TRY(THTensor_softmax(h.attention, h.attention, 3));
    TRY(THTensor_matmul(h.heads, h.attention, h.value));
    // Concatenates the heads of a letter, which needs a copy.
    TRY(THTensor_permute(h.heads, h.heads, 4, order));
    united = THTensor_newReshape(h.heads, 2, rows);
    TRY(THTensor_mm(h.out, united, b->out));
    TRY(THTensor_cadd(r, x, 1, h.out));
done:
    THTensor_free(united);
    free_handles(HANDLES(&h));
    return status;
}

// r = x + perceptron(layerNorm(x)), for each letter separately.
static THStatus think(THTensor *r, const Block *b, const THTensor *x) {
    THStatus status;
    struct {
        THTensor *normed, *inner, *active, *out;
    } h;
    make_handles(HANDLES(&h));
    TRY(THTensor_layerNorm(h.normed, x, 1, b->scale2, b->shift2, EPS));
    TRY(THTensor_addmm(h.inner, 1, b->up_bias, 1, h.normed, b->up));
    TRY(THTensor_gelu(h.active, h.inner));
    TRY(THTensor_addmm(h.out, 1, b->down_bias, 1, h.active, b->down));
    TRY(THTensor_cadd(r, x, 1, h.out));
done:
    free_handles(HANDLES(&h));
    return status;
}

// Computes the scores [n x LETTERS] of the letter after each of `letters`, [n]. `places` has the positions in the
// lines.
static THStatus forward(THTensor *scores, const Model *m, const THTensor *letters, const THTensor *places,
                        int64_t length) {
    const int64_t square[] = {length, length};
    THStatus status;
    struct {
        THTensor *letter, *place, *mask, *x[2 * BLOCKS + 1], *normed;
    } h;
    make_handles(HANDLES(&h));
    TRY(THTensor_full(h.mask, 2, square, -INFINITY));
    TRY(THTensor_triu(h.mask, h.mask, 1));
    TRY(THTensor_indexSelect(h.letter, m->letter, 0, letters));
    TRY(THTensor_indexSelect(h.place, m->place, 0, places));
    TRY(THTensor_cadd(h.x[0], h.letter, 1, h.place));
    for (int i = 0; i < BLOCKS; i++) {
        TRY(attend(h.x[2 * i + 1], &m->block[i], h.x[2 * i], h.mask));
        TRY(think(h.x[2 * i + 2], &m->block[i], h.x[2 * i + 1]));
    }
    TRY(THTensor_layerNorm(h.normed, h.x[2 * BLOCKS], 1, m->scale, m->shift, EPS));
    TRY(THTensor_mm(scores, h.normed, m->head));
done:
    free_handles(HANDLES(&h));
    return status;
}

// The letters of a file as int64; NULL if there are too few.
static THTensor *read_text(const char *path) {
    THTensor *text = NULL;
    int64_t count = 0, room = 1 << 20;
    FILE *file = fopen(path, "rb");
    int64_t *letter = malloc((size_t)room * sizeof *letter);
    for (int c; file && letter && count < room && (c = getc(file)) != EOF; count++)
        letter[count] = c < LETTERS ? c : '?';
    if (count > CONTEXT) text = THTensor_newFromData(TH_INT64, 1, &count, letter);
    if (!text) fprintf(stderr, "transformer: %s cannot be read, or is too short\n", path);
    if (file) fclose(file);
    free(letter);
    return text;
}

// BATCH lines of the text from random positions.
typedef struct {
    THTensor *start, *at;        // [BATCH x 1] starts of the lines; positions of their letters in the text
    THTensor *column;            // [CONTEXT] 0, 1, 2 ...
    THTensor *letters, *targets; // [n] the letters, and the letter after each
    THTensor *places;            // [n] the position of each letter in its line
} Lines;

static THStatus lines_init(Lines *lines) {
    static const int64_t size[] = {BATCH, CONTEXT}, all = BATCH * CONTEXT;
    THStatus status;
    THTensor **handle = (THTensor **)lines;
    for (size_t i = 0; i < sizeof *lines / sizeof *handle; i++) handle[i] = THTensor_newWithDtype(TH_INT64);
    TRY(THTensor_arange(lines->column, 0, CONTEXT, 1));
    TRY(THTensor_full(lines->places, 2, size, 0));
    TRY(THTensor_cadd(lines->places, lines->places, 1, lines->column));
    TRY(THTensor_view(lines->places, lines->places, 1, &all));
done:
    return status;
}

static THStatus lines_draw(const Lines *lines, const THTensor *text, THGenerator *generator) {
    static const int64_t column[] = {BATCH, 1}, all = BATCH * CONTEXT;
    THStatus status;
    TRY(THTensor_randint(lines->start, generator, 0, THTensor_size(text, 0) - CONTEXT, 2, column));
    TRY(THTensor_cadd(lines->at, lines->start, 1, lines->column));
    TRY(THTensor_view(lines->at, lines->at, 1, &all));
    TRY(THTensor_indexSelect(lines->letters, text, 0, lines->at));
    TRY(THTensor_add(lines->at, lines->at, 1));
    TRY(THTensor_indexSelect(lines->targets, text, 0, lines->at));
done:
    return status;
}

// Makes one training step, and adds the mean cross entropy of the next letters to `loss`.
static THStatus train_step(double *loss, Model *m, THOptim *optimizer, const Lines *lines) {
    THStatus status;
    struct {
        THTensor *scores, *loss;
    } h;
    make_handles(HANDLES(&h));
    TRY(forward(h.scores, m, lines->letters, lines->places, CONTEXT));
    TRY(THTensor_crossEntropy(h.loss, h.scores, lines->targets, NULL, TH_REDUCTION_MEAN, -100));
    TRY(THOptim_zeroGrad(optimizer, 1));
    TRY(THTensor_backward(h.loss, NULL));
    // Clips all gradients as one vector: a rare batch must not move the weights far.
    if (isnan(THGrad_clipNorm(HANDLES(m), LONGEST_GRADIENT, 2))) {
        status = TH_ERR_NUMERIC;
        goto done;
    }
    TRY(THOptim_step(optimizer));
    *loss += THTensor_item(h.loss);
done:
    free_handles(HANDLES(&h));
    return status;
}

// Trains until the mean loss of the last REPORTED steps, which it stores, is below REQUIRED_LOSS, or for STEPS steps.
static THStatus train(double *loss, Model *m, const THTensor *text, const Lines *lines, THGenerator *generator) {
    THStatus status = TH_OK;
    THOptim *optimizer = THOptim_newAdamw(HANDLES(m), LEARNING_RATE, 0.9, 0.99, 1e-8, DECAY, 0);
    double sum = 0;
    for (int step = 1; step <= STEPS && *loss >= REQUIRED_LOSS; step++) {
        if (step <= WARMUP) TRY(THOptim_setLr(optimizer, LEARNING_RATE * step / WARMUP));
        TRY(lines_draw(lines, text, generator));
        TRY(train_step(&sum, m, optimizer, lines));
        if (step % REPORTED == 0) {
            *loss = sum / REPORTED;
            sum = 0;
            printf("step %4d  loss %.3f\n", step, *loss);
            fflush(stdout);
        }
    }
done:
    THOptim_free(optimizer);
    return status;
}

// Draws the next letter with the scores of the last of `count` letters.
static THStatus draw_letter(int64_t *letter, const Model *m, const int64_t *line, int64_t count,
                            const THTensor *all_places, THGenerator *generator) {
    THStatus status;
    THTensor *letters = THTensor_newFromData(TH_INT64, 1, &count, line), *choice = THTensor_new();
    THTensor *places = THTensor_newNarrow(all_places, 0, 0, count), *scores = THTensor_new(), *row = THTensor_new();
    TRY(forward(scores, m, letters, places, count));
    TRY(THTensor_select(row, scores, 0, count - 1));
    TRY(THTensor_div(row, row, TEMPERATURE));
    TRY(THTensor_softmax(row, row, 0));
    TRY(THTensor_multinomial(choice, generator, row, 1, true));
    *letter = (int64_t)THTensor_get1d(choice, 0);
done:
    THTensor_free(letters);
    THTensor_free(choice);
    THTensor_free(places);
    THTensor_free(scores);
    THTensor_free(row);
    return status;
}

// Prints generated text. Each letter is drawn with at most CONTEXT letters before it.
static THStatus write_text(const Model *m, const THTensor *places, THGenerator *generator) {
    THStatus status;
    int64_t line[CONTEXT + 1], count = sizeof PROMPT - 1;
    for (int64_t i = 0; i < count; i++) line[i] = PROMPT[i];
    printf("\n%s", PROMPT);
    // Nothing is recorded during generation.
    TRY(THGrad_setInference(1));
    for (int i = 0; i < WRITTEN; i++) {
        TRY(draw_letter(&line[count], m, line, count, places, generator));
        putchar((int)line[count]);
        if (count < CONTEXT)
            count++;
        else
            memmove(line, line + 1, CONTEXT * sizeof *line);
    }
    putchar('\n');
    TRY(THGrad_setInference(0));
done:
    return status;
}

static THStatus run(double *loss, const THTensor *text, THGenerator *generator) {
    THStatus status;
    Model model = {0};
    Lines lines = {0};
    TRY(THRandom_manualSeed(generator, SEED));
    TRY(model_init(&model, generator));
    TRY(lines_init(&lines));
    TRY(train(loss, &model, text, &lines, generator));
    TRY(write_text(&model, lines.places, generator));
done:
    free_handles(HANDLES(&model));
    free_handles(HANDLES(&lines));
    return status;
}

int main(int argc, char **argv) {
    double loss = INFINITY;
    THTensor *text = read_text(argc > 1 ? argv[1] : SONNETS_TXT);
    if (!text) return EXIT_FAILURE;

    THGenerator *generator = THGenerator_new();
    THStatus status = run(&loss, text, generator);
    THGenerator_free(generator);
    THTensor_free(text);

    if (status != TH_OK) {
        fprintf(stderr, "transformer: %s\n", THGetLastError());
        return EXIT_FAILURE;
    }
    return loss < REQUIRED_LOSS ? EXIT_SUCCESS : EXIT_FAILURE;
}
