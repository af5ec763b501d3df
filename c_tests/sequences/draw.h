/* Random calls with arguments that mostly fit each other. */
#ifndef THORN_SEQUENCES_DRAW_H
#define THORN_SEQUENCES_DRAW_H

#include "first.h"

static int some_slot(const struct run *run, bool with_elements) {
    int k = 0;
    for (int i = 0; i < 12; i++) {
        k = below(SLOTS);
        if (with_elements ? has_storage(run->t[k]) : run->t[k] != NULL) return k;
    }
    return k;
}

/* Returns the slot of an input. The leaf and the slot that was written last are drawn more often. */
static int input_slot(const struct run *run, int last) {
    if (chance(20)) return 0;
    return chance(30) && has_storage(run->t[last]) ? last : some_slot(run, true);
}

static int64_t elements_of(const THTensor *t) {
    int64_t n = 1;
    for (int d = 0; t && d < t->nDimension; d++) n *= t->size[d];
    return n;
}

/* Sizes for a view of `t`, or for a resize. */
static void draw_sizes(struct step *step, const THTensor *t) {
    int64_t n = elements_of(t);
    bool expands = strstr(step->f->name, "xpand") != NULL,
         keeps = !takes(step->f, 's') && step->f->kind != MAKER && chance(75);
    step->len = 1 + below(2);
    if (expands && t && t->nDimension + 1 < MOST_DIMS) {
        step->len = t->nDimension + (t->nDimension == 0 || chance(40));
        for (int d = 0; d < t->nDimension; d++) step->list[step->len - 1 - d] = t->size[t->nDimension - 1 - d];
        if (step->len > t->nDimension) step->list[0] = 2;
        for (int d = 0; d < step->len; d++) step->list[d] = step->list[d] == 1 ? 1 + below(3) : step->list[d];
    } else if (keeps && n > 0) {
        step->list[0] = step->len == 1 ? n : n % 2 == 0 && chance(50) ? 2 : n % 3 == 0 ? 3 : 1;
        step->list[1] = n / step->list[0];
    } else {
        for (int d = 0; d < step->len; d++) step->list[d] = 1 + below(3);
    }
}

/* A permutation of the dimensions, or a position. */
static void draw_dims(struct step *step, const THTensor *t, char letter) {
    step->len = t && t->nDimension <= MOST_DIMS ? t->nDimension : 0;
    for (int d = 0; d < step->len; d++) step->list[d] = letter == 'D' ? d : below((int)t->size[d] + 1);
    if (letter == 'D' && step->len > 1) {
        int d = below(step->len);
        int64_t first = step->list[0];
        step->list[0] = step->list[d];
        step->list[d] = first;
    }
    if (letter == 'D' && is_named(step->f, "THTensor_flip") && step->len) step->len = 1;
}

static int64_t draw_size(const struct step *step, const THTensor *t, int d) {
    bool resizes = strstr(step->f->name, "resize") != NULL && step->f->kind == HANDLE;
    if (!resizes || chance(30)) return 1 + below(3);
    int64_t n = elements_of(t);
    int last = (int)strlen(step->f->letters) - 1;
    return d == last ? n : d == 1 && chance(50) && n % 2 == 0 ? n / 2 : 1;
}

/* The slot of a handle or a storage. */
static int draw_slot(const struct run *run, char letter, int last) {
    switch (letter) {
    case 'm':
        return some_slot(run, true);
    case 'h':
        return chance(30) ? last : some_slot(run, chance(60));
    case 'o':
        return some_slot(run, chance(30));
    case 'v':
        return some_slot(run, false);
    default:
        return input_slot(run, last);
    }
}

/* Draws argument k, a number. `t` is the first tensor that the call reads or changes. */
static int64_t draw_number(const struct step *step, const THTensor *t, int k) {
    switch (step->f->letters[k]) {
    case 'd':
        return below((t ? t->nDimension : 0) + 1) - (chance(20) ? 1 : 0);
    case 'e':
        return below(3);
    case 'z':
        return draw_size(step, t, k);
    case 't':
    case 'c':
        return 1 + below(3);
    case 'f':
        return below(2);
    case 'y':
        return chance(30) ? TH_FLOAT32 : TH_FLOAT64;
    default:
        return 0;
    }
}

/* Arguments of the function of a step. `last` is the slot that was written last. */
static void draw_arguments(struct step *step, const struct run *run, int last) {
    static const double numbers[] = {0.5, -1, 2, 1.5, 0.25, 0, 1};
    const char *letters = step->f->letters;
    const THTensor *t = NULL;
    step->made = 1 + below(SLOTS - 1);
    for (int i = 0; i < 6 && run->t[step->made]; i++) step->made = 1 + below(SLOTS - 1);
    for (int k = 0; letters[k]; k++) {
        if (strchr("ovmihsS", letters[k])) step->slot[k] = draw_slot(run, letters[k], last);
        if (letters[k] == 'x') step->x[k] = numbers[below(LENGTH(numbers))];
        if (letters[k] == 'Z') draw_sizes(step, t);
        if (letters[k] == 'D' || letters[k] == 'E') draw_dims(step, t, letters[k]);
        for (int d = 0; letters[k] == 'T' && d < step->len; d++) step->strides[d] = below(4);
        step->n[k] = draw_number(step, t, k);
        if (!t && strchr("imh", letters[k])) t = run->t[step->slot[k]];
    }
    if (letters[0] == 'o' && letters[1] == 'i' && chance(20)) step->slot[0] = step->slot[1];
}

enum { MOST_WITHOUT = 16 };

/* Parts of names: functions whose names contain one are not drawn, so that a search can find other faults. */
static const char *without[MOST_WITHOUT];
static int without_count;

static bool is_drawn(const struct function *f) {
    for (int i = 0; i < without_count; i++)
        if (strstr(f->name, without[i])) return false;
    return true;
}

static const struct function *function_of(enum class kind) {
    for (int tries = 0; tries < 10000; tries++) {
        const struct function *f = &FUNCTIONS[below(LENGTH(FUNCTIONS))];
        /* Forms with 4 and 5 dimensions and flags are rare. */
        bool is_rare = strlen(f->letters) > 8 || takes(f, 'g');
        if (f->kind == kind && (!is_rare || chance(15)) && is_drawn(f)) return f;
    }
    return function_named("THTensor_neg");
}

/* Draws a function for the next step. Operations are drawn more often than other functions, and recording is mostly
 * on. */
static const struct function *draw_function(const struct run *run) {
    static const char *const frequent[] = {"THTensor_newDetach",
                                           "THTensor_copy",
                                           "THTensor_fill",
                                           "THTensor_detach",
                                           "THTensor_newNarrow",
                                           "THTensor_newSelect",
                                           "THTensor_setRequiresGrad",
                                           "THTensor_newWithStorage1d"};
    if (chance(run->off ? 30 : 4) && is_drawn(&ENABLED)) return &ENABLED;
    int draw = below(100);
    if (draw < 3 && is_drawn(&HOOKED)) return &HOOKED;
    const struct function *f = function_named(frequent[below(LENGTH(frequent))]);
    if (draw < 20 && is_drawn(f)) return f;
    return function_of(draw < 58   ? SMOOTH
                       : draw < 76 ? VIEW
                       : draw < 86 ? HANDLE
                       : draw < 91 ? ELEMENT
                       : draw < 96 ? STORAGE
                                   : MAKER);
}

/* The slot that a step writes. */
static int written_slot(const struct step *step, int last) {
    if (step->f->makes || takes(step->f, 'N')) return step->made;
    return strchr("ovmh", step->f->letters[0]) ? step->slot[0] : last;
}

static void draw_step(struct step *step, const struct run *run, int last) {
    memset(step, 0, sizeof *step);
    step->f = draw_function(run);
    draw_arguments(step, run, last);
    if (step->f == &ENABLED) step->n[0] = run->off;
    if (step->f == &HOOKED) {
        step->slot[0] = chance(20) ? 0 : last;
        step->n[1] = below(LENGTH(SCALES));
    }
}

/* Draws a sequence while it runs for the first time. Returns false if the sequence became too large. */
static bool draw_sequence(struct sequence *sequence, struct first *first, struct start *start) {
    static const struct start starts[] = {
        {{2, 0}, 1, false}, {{3, 0}, 1, false}, {{2, 2}, 2, false}, {{2, 3}, 2, false}, {{3, 0}, 1, true}};
    int wanted = 3 + below(MOST_DONE - 3), last = 0;
    *start = starts[below(LENGTH(starts))];
    begin_first(first, start);
    sequence->count = 0;
    for (int done = 0; done < wanted && sequence->count < MOST_STEPS;) {
        struct step *step = &sequence->step[sequence->count++];
        draw_step(step, &first->run, last);
        if (!first_step(first, sequence, sequence->count - 1, NULL)) return false;
        if (first->fault) return true;
        if (!first->record[sequence->count - 1].done) continue;
        last = written_slot(step, last);
        done++;
    }
    return true;
}

#endif
