/*
 * A small GPT transformer: blocks of causal attention and a layer with gelu. Each has a layerNorm in front, and its
 * result is added to its input. Forward, with or without a cache of keys and values, and backward.
 */
#ifndef GPT_H
#define GPT_H

#include "handles.h"
#include "try.h"

#include <math.h>
#include <stdbool.h>

enum { LETTERS = 128, CONTEXT = 64, WIDTH = 64, HEADS = 4, HEAD = WIDTH / HEADS, BLOCKS = 2, INNER = 4 * WIDTH };

static const double EPS = 1e-5;

// Weights, or derivatives with respect to them: views of one vector, so that all are stored, mapped and updated at
// once.
typedef struct {
    THTensor *norm1, *shift1; // [WIDTH] for the first layerNorm
    THTensor *qkv, *qkv_bias; // [WIDTH x 3 WIDTH] for queries, keys and values
    THTensor *out, *out_bias; // [WIDTH x WIDTH] combines the heads
    THTensor *norm2, *shift2;
    THTensor *up, *up_bias;     // [WIDTH x INNER]
    THTensor *down, *down_bias; // [INNER x WIDTH]
} BlockWeights;

typedef struct {
    THTensor *letter, *place; // [LETTERS x WIDTH] and [CONTEXT x WIDTH], which are added
    BlockWeights block[BLOCKS];
    THTensor *norm, *shift; // for the last layerNorm
    THTensor *head;         // [WIDTH x LETTERS] for the scores of the next letter
} Weights;

// Makes `view` show the next elements of the vector: a matrix, or a row if `rows` is 0. `at` counts the elements.
static THStatus take_view(THTensor *view, const THTensor *vector, int64_t *at, int64_t rows, int64_t columns) {
    THStatus status;
    int64_t size[2] = {rows, columns}, count = rows ? rows * columns : columns;
    TRY(THTensor_narrow(view, vector, 0, *at, count));
    if (rows) TRY(THTensor_view(view, view, 2, size));
    *at += count;
done:
    return status;
}

static int64_t weights_count(void) {
    int64_t block = 4 * WIDTH + (WIDTH + 1) * (3 * WIDTH + WIDTH + INNER) + (INNER + 1) * WIDTH;
    return (LETTERS + CONTEXT) * WIDTH + BLOCKS * block + 2 * WIDTH + WIDTH * LETTERS;
}

static THStatus weights_view(const Weights *w, const THTensor *vector) {
    THStatus status;
    int64_t at = 0;
    TRY(take_view(w->letter, vector, &at, LETTERS, WIDTH));
    TRY(take_view(w->place, vector, &at, CONTEXT, WIDTH));
    for (const BlockWeights *b = w->block; b < w->block + BLOCKS; b++) {
        TRY(take_view(b->norm1, vector, &at, 0, WIDTH));
        TRY(take_view(b->shift1, vector, &at, 0, WIDTH));
        TRY(take_view(b->qkv, vector, &at, WIDTH, 3 * WIDTH));
        TRY(take_view(b->qkv_bias, vector, &at, 0, 3 * WIDTH));
        TRY(take_view(b->out, vector, &at, WIDTH, WIDTH));
        TRY(take_view(b->out_bias, vector, &at, 0, WIDTH));
        TRY(take_view(b->norm2, vector, &at, 0, WIDTH));
        TRY(take_view(b->shift2, vector, &at, 0, WIDTH));
        TRY(take_view(b->up, vector, &at, WIDTH, INNER));
        TRY(take_view(b->up_bias, vector, &at, 0, INNER));
        TRY(take_view(b->down, vector, &at, INNER, WIDTH));
        TRY(take_view(b->down_bias, vector, &at, 0, WIDTH));
    }
    TRY(take_view(w->norm, vector, &at, 0, WIDTH));
    TRY(take_view(w->shift, vector, &at, 0, WIDTH));
    TRY(take_view(w->head, vector, &at, WIDTH, LETTERS));
done:
    return status;
}

// The activations of a block for n letters, `batch` lines of `length`. The backward pass reads them.
typedef struct {
    THTensor *x, *normed1, *qkv;           // [n x WIDTH], the input first; [n x 3 WIDTH]
    THTensor *query, *key, *value;         // [batch x HEADS x length x HEAD]: views of qkv, or of the cache
    THTensor *probability, *heads;         // [batch x HEADS x length x keys], [n x WIDTH]
    THTensor *middle, *normed2;            // [n x WIDTH]
    THTensor *inner, *active;              // [n x INNER] before and after gelu
    THTensor *cached_keys, *cached_values; // [1 x HEADS x CONTEXT x HEAD]
} BlockPass;

typedef struct {
    BlockPass block[BLOCKS];
    THTensor *x, *normed, *scores;            // of the last block; [n x LETTERS]
    THTensor *mask;                           // [CONTEXT x CONTEXT] -inf where a key is later than the query, else 0
    THTensor *view, *other, *turned, *result; // scratch
} Pass;

// The position of the letters in their lines, the number and length of the lines, and whether a cache is used.
typedef struct {
    int64_t start, batch, length;
    bool cached;
} Extent;

static THStatus pass_init(Pass *pass) {
    THStatus status;
    int64_t square[2] = {CONTEXT, CONTEXT}, cache[4] = {1, HEADS, CONTEXT, HEAD};
    make_handles(HANDLES(pass));
    TRY(THTensor_full(pass->mask, 2, square, -INFINITY));
    TRY(THTensor_triu(pass->mask, pass->mask, 1));
    for (BlockPass *b = pass->block; b < pass->block + BLOCKS; b++) {
        TRY(THTensor_full(b->cached_keys, 4, cache, 0));
        TRY(THTensor_full(b->cached_values, 4, cache, 0));
    }
done:
    return status;
}

// Part `part` of 3 of `qkv`, as a view with the heads in dimension 1.
static THStatus part_of(THTensor *r, const THTensor *qkv, int part, Extent e) {
    THStatus status;
    int64_t apart[5] = {e.batch, e.length, 3, HEADS, HEAD}, order[4] = {0, 2, 1, 3};
    TRY(THTensor_view(r, qkv, 5, apart));
    TRY(THTensor_select(r, r, 2, part));
    TRY(THTensor_permute(r, r, 4, order));
done:
    return status;
}

// The heads in the rows of [n x WIDTH], as a view [batch x HEADS x length x HEAD].
static THStatus heads_of(THTensor *r, const THTensor *rows, Extent e) {
    THStatus status;
    int64_t apart[4] = {e.batch, e.length, HEADS, HEAD}, order[4] = {0, 2, 1, 3};
    TRY(THTensor_view(r, rows, 4, apart));
    TRY(THTensor_permute(r, r, 4, order));
done:
    return status;
}

// Appends `part` to the cache, and makes `part` a view of the whole cache.
static THStatus through_cache(THTensor *part, const THTensor *cache, THTensor *view, Extent e) {
    THStatus status;
    TRY(THTensor_narrow(view, cache, 2, e.start, e.length));
    TRY(THTensor_copy(view, part));
    TRY(THTensor_narrow(part, cache, 2, 0, e.start + e.length));
done:
    return status;
}

static THStatus attend(BlockPass *b, Pass *pass, Extent e) {
    THStatus status;
    int64_t row[2] = {e.batch * e.length, WIDTH};
    TRY(part_of(b->query, b->qkv, 0, e));
    TRY(part_of(b->key, b->qkv, 1, e));
    TRY(part_of(b->value, b->qkv, 2, e));
    if (e.cached) {
        TRY(through_cache(b->key, b->cached_keys, pass->view, e));
        TRY(through_cache(b->value, b->cached_values, pass->view, e));
    }
    TRY(THTensor_transpose(pass->turned, b->key, 2, 3));
    TRY(THTensor_matmul(b->probability, b->query, pass->turned));
    TRY(THTensor_narrow(pass->view, pass->mask, 0, e.start, e.length));
    TRY(THTensor_narrow(pass->view, pass->view, 1, 0, b->key->size[2]));
    TRY(THTensor_mul(b->probability, b->probability, 1 / sqrt(HEAD)));
    TRY(THTensor_cadd(b->probability, b->probability, 1, pass->view));
    TRY(THTensor_softmax(b->probability, b->probability, 3));
    // The product is written to the rows of the heads.
    TRY(THTensor_resize2d(b->heads, row[0], row[1]));
    TRY(heads_of(pass->view, b->heads, e));
    TRY(THTensor_matmul(pass->view, b->probability, b->value));
done:
    return status;
}

static THStatus block_forward(THTensor *r, BlockPass *b, const BlockWeights *w, Pass *pass, Extent e) {
    THStatus status;
    TRY(THTensor_layerNorm(b->normed1, b->x, 1, w->norm1, w->shift1, EPS));
    TRY(THTensor_addmm(b->qkv, 1, w->qkv_bias, 1, b->normed1, w->qkv));
    TRY(attend(b, pass, e));
    TRY(THTensor_addmm(b->middle, 1, w->out_bias, 1, b->heads, w->out));
    TRY(THTensor_cadd(b->middle, b->middle, 1, b->x));
    TRY(THTensor_layerNorm(b->normed2, b->middle, 1, w->norm2, w->shift2, EPS));
    TRY(THTensor_addmm(b->inner, 1, w->up_bias, 1, b->normed2, w->up));
    TRY(THTensor_gelu(b->active, b->inner));
    TRY(THTensor_addmm(r, 1, w->down_bias, 1, b->active, w->down));
    TRY(THTensor_cadd(r, r, 1, b->middle));
done:
    return status;
}

// pass->scores = the scores of the letter after each of `letters`, a vector of concatenated lines.
static THStatus gpt_forward(Pass *pass, const Weights *w, const THTensor *letters, Extent e) {
    THStatus status;
    int64_t apart[3] = {e.batch, e.length, WIDTH};
    THTensor *x = pass->block[0].x;
    TRY(THTensor_indexSelect(x, w->letter, 0, letters));
    TRY(THTensor_view(pass->view, x, 3, apart));
    TRY(THTensor_narrow(pass->other, w->place, 0, e.start, e.length));
    TRY(THTensor_cadd(pass->view, pass->view, 1, pass->other));
    for (int i = 0; i < BLOCKS; i++) {
        THTensor *next = i + 1 < BLOCKS ? pass->block[i + 1].x : pass->x;
        TRY(block_forward(next, &pass->block[i], &w->block[i], pass, e));
    }
    TRY(THTensor_layerNorm(pass->normed, pass->x, 1, w->norm, w->shift, EPS));
    TRY(THTensor_mm(pass->scores, pass->normed, w->head));
done:
    return status;
}

// Gradients with respect to the tensors of a pass.
typedef struct {
    THTensor *x, *normed, *inner, *heads, *qkv, *probability, *part, *scores;
    THTensor *turned, *view, *one; // scratch, and the gradient of the loss: 1
} Gradients;

// From `g`, the gradient of `x @ weight + bias`: the gradients of x, weight and bias. The last two are optional.
static THStatus linear_backward(THTensor *of_x, THTensor *of_weight, THTensor *of_bias, const THTensor *g,
                                const THTensor *x, const THTensor *weight, THTensor *turned) {
    THStatus status;
    TRY(THTensor_t(turned, x));
    TRY(THTensor_mm(of_weight, turned, g));
    if (of_bias) TRY(THTensor_sum(of_bias, g, 0, 0));
    TRY(THTensor_t(turned, weight));
    TRY(THTensor_mm(of_x, g, turned));
done:
    return status;
}

// Computes the gradients of queries, keys and values from the gradient of the heads.
static THStatus attend_backward(Gradients *g, const BlockPass *b, Extent e) {
    THStatus status;
    TRY(THTensor_resize2d(g->qkv, e.batch * e.length, 3 * WIDTH));
    TRY(heads_of(g->view, g->heads, e));
    TRY(THTensor_transpose(g->turned, b->value, 2, 3));
    TRY(THTensor_matmul(g->probability, g->view, g->turned));
    TRY(THTensor_transpose(g->turned, b->probability, 2, 3));
    TRY(part_of(g->part, g->qkv, 2, e));
    TRY(THTensor_matmul(g->part, g->turned, g->view));
    TRY(THTensor_softmaxGrad(g->probability, g->probability, b->probability, 3));
    TRY(THTensor_mul(g->probability, g->probability, 1 / sqrt(HEAD)));
    TRY(part_of(g->part, g->qkv, 0, e));
    TRY(THTensor_matmul(g->part, g->probability, b->key));
    TRY(THTensor_transpose(g->turned, g->probability, 2, 3));
    TRY(part_of(g->part, g->qkv, 1, e));
    TRY(THTensor_matmul(g->part, g->turned, b->query));
done:
    return status;
}

// g->x is the gradient of the block's result, and is replaced by the gradient of its input.
static THStatus block_backward(Gradients *g, const BlockWeights *d, const BlockPass *b, const BlockWeights *w,
                               Extent e) {
    THStatus status;
    TRY(linear_backward(g->inner, d->down, d->down_bias, g->x, b->active, w->down, g->turned));
    TRY(THTensor_geluGrad(g->inner, g->inner, b->inner));
    TRY(linear_backward(g->normed, d->up, d->up_bias, g->inner, b->normed2, w->up, g->turned));
    TRY(THTensor_layerNormGrad(g->normed, d->norm2, d->shift2, g->normed, b->middle, 1, w->norm2, EPS));
    TRY(THTensor_cadd(g->x, g->x, 1, g->normed));
    TRY(linear_backward(g->heads, d->out, d->out_bias, g->x, b->heads, w->out, g->turned));
    TRY(attend_backward(g, b, e));
    TRY(linear_backward(g->normed, d->qkv, d->qkv_bias, g->qkv, b->normed1, w->qkv, g->turned));
    TRY(THTensor_layerNormGrad(g->normed, d->norm1, d->shift1, g->normed, b->x, 1, w->norm1, EPS));
    TRY(THTensor_cadd(g->x, g->x, 1, g->normed));
done:
    return status;
}

// d = the derivatives of the mean cross entropy with respect to the weights, after gpt_forward without a cache.
static THStatus gpt_backward(Gradients *g, const Weights *d, const Pass *pass, const Weights *w,
                             const THTensor *letters, const THTensor *targets, Extent e) {
    THStatus status;
    int64_t apart[3] = {e.batch, e.length, WIDTH};
    TRY(THTensor_crossEntropyGrad(g->scores, g->one, pass->scores, targets, NULL, TH_REDUCTION_MEAN, -100));
    TRY(linear_backward(g->normed, d->head, NULL, g->scores, pass->normed, w->head, g->turned));
    TRY(THTensor_layerNormGrad(g->x, d->norm, d->shift, g->normed, pass->x, 1, w->norm, EPS));
    for (int i = BLOCKS; i-- > 0;) TRY(block_backward(g, &d->block[i], &pass->block[i], &w->block[i], e));
    TRY(THTensor_zero(d->letter));
    TRY(THTensor_indexAdd(d->letter, 0, letters, g->x));
    TRY(THTensor_view(g->view, g->x, 3, apart));
    TRY(THTensor_sum(d->place, g->view, 0, 0));
done:
    return status;
}

#endif
