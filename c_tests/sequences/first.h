/* The first run of a sequence, its gradients, and the differences of its replays. */
#ifndef THORN_SEQUENCES_FIRST_H
#define THORN_SEQUENCES_FIRST_H

#include "replay.h"

/* ---- the first run ---- */

/* Marks the storages that values of the leaf may reach. */
static void taint(struct first *first, const struct step *step, const struct look *before, const struct look *after) {
    bool reaches = false;
    for (int a = 0; step->f->letters[a]; a++) {
        int storage = strchr("imsS", step->f->letters[a]) ? before->slot[step->slot[a]].storage : NO_STORAGE;
        reaches |= storage != NO_STORAGE && first->tainted[storage];
    }
    for (int k = 0; reaches && k < SLOTS; k++) {
        bool is_changed = is_set(step, before, after, k) || writes(step, before, after, k);
        if (is_changed && after->slot[k].storage != NO_STORAGE) first->tainted[after->slot[k].storage] = true;
    }
    for (int a = 0; reaches && step->f->letters[a] == 's'; a++)
        if (before->slot[step->slot[a]].storage != NO_STORAGE)
            first->tainted[before->slot[step->slot[a]].storage] = true;
}

static bool is_leaf(const struct run *run, int k) { return run->t[k] == run->t[0]; }

/* Returns true if a handle other than the one in slot k shows the same storage. */
static bool is_shared(const struct look *look, int k) {
    for (int j = 0; j < SLOTS; j++)
        if (look->slot[j].storage == look->slot[k].storage && look->slot[j].handle != look->slot[k].handle) return true;
    return false;
}

/* Returns true for a call whose meaning the rule does not define: a call that moves the leaf to other elements, or
 * needs the values of two families in one storage. */
static bool has_no_meaning(const struct first *first, const struct step *step, const struct look *before) {
    const struct run *run = &first->run;
    static const char *const shrinks[] = {"THStorage_resize", "THStorage_swap"};
    bool writes_one = is_named(step->f, "THTensor_fill") || is_named(step->f, "THTensor_zero");
    for (int a = 0; step->f->letters[a]; a++) {
        char letter = step->f->letters[a];
        int k = step->slot[a], storage = before->slot[k].storage;
        if (!strchr("ovmihsS", letter) || !run->t[k]) continue;
        if (is_leaf(run, k) && strchr("vh", letter) && step->f->kind != HOOK &&
            !is_named(step->f, "THTensor_retainGrad"))
            return true;
        if (is_leaf(run, k) && letter == 'o' && run->off && !writes_one) return true;
        bool is_of_leaf = storage != NO_STORAGE && storage == before->slot[0].storage;
        bool is_base = is_of_leaf && first->leaf_is_view && run->family[k] != LEAF_FAMILY;
        if (is_base && run->off && strchr("om", letter)) return true;
        if (letter != 's' || storage == NO_STORAGE) continue;
        for (int i = 0; i < LENGTH(shrinks); i++)
            if (is_of_leaf && is_named(step->f, shrinks[i])) return true;
        if (step->f->kind != STORAGE && families_on(run, before, storage) > 1) return true;
    }
    const THTensor *a = run->t[step->slot[0]], *b = run->t[step->slot[1]];
    if (is_named(step->f, "THStorage_swap") && a && b && a->dtype != b->dtype) return true;
    if (!is_named(step->f, "THTensor_detach")) return false;
    int storage = before->slot[step->slot[0]].storage;
    return storage != NO_STORAGE && first->tainted[storage] && is_shared(before, step->slot[0]);
}

/* A hook is added only to the result of the previous step, because earlier uses of the result would be scaled, too. No
 * other handle may show the result, because the documents leave open whether the hook of a view receives gradients of
 * its base. */
static bool is_hookable(const struct first *first, const struct sequence *sequence, int i) {
    int k = sequence->step[i].slot[0];
    if (k == 0) return true;
    if (i == 0 || !first->record[i - 1].done || first->record[i - 1].off) return false;
    const struct step *last = &sequence->step[i - 1];
    if (is_leaf(&first->run, k) || is_shared(&first->record[i - 1].after, k)) return false;
    return last->f->kind == SMOOTH && last->slot[0] == k;
}

static bool is_same_look(const struct look *a, const struct look *b) {
    for (int k = 0; k < SLOTS; k++) {
        const struct shown *x = &a->slot[k], *y = &b->slot[k];
        bool same = x->handle == y->handle && x->storage == y->storage && x->offset == y->offset && x->ndim == y->ndim;
        for (int d = 0; same && d < x->ndim; d++) same = x->size[d] == y->size[d] && x->stride[d] == y->stride[d];
        if (!same || a->elements[k] != b->elements[k]) return false;
        if (memcmp(a->value[k], b->value[k], (size_t)a->elements[k] * sizeof(double)) != 0) return false;
    }
    return true;
}

static const struct look *look_before(const struct first *first, int i) {
    return i ? &first->record[i - 1].after : &first->start;
}

/* Makes call number i, and prints it to `to` unless that is NULL. Returns false if the sequence cannot continue. */
static bool first_step(struct first *first, const struct sequence *sequence, int i, FILE *to) {
    const struct step *step = &sequence->step[i];
    struct record *record = &first->record[i];
    struct run *run = &first->run;
    const struct look *before = look_before(first, i);
    THStorage *storage_before[SLOTS];
    bool cut[SLOTS];
    memset(record, 0, sizeof *record);
    record->off = run->off;
    record->after = *before;
    if (has_no_meaning(first, step, before) || (step->f->kind == HOOK && !is_hookable(first, sequence, i))) return true;
    record->was_required = takes(step->f, 'h') && run->t[step->slot[0]] && THTensor_requiresGrad(run->t[step->slot[0]]);
    for (int k = 0; k < SLOTS; k++) storage_before[k] = run->t[k] ? run->t[k]->storage : NULL;
    if (to) write_step(to, step, run->t);
    struct play p;
    play(step, run->t, false, &p);
    record->done = p.status == TH_OK;
    if (p.status == TH_ERR_INTERNAL) first->fault = "a call failed with TH_ERR_INTERNAL";
    if (to) write_made(to, step, takes(step->f, 'N') ? p.count : 0);
    if (to) fprintf(to, record->done ? "\n" : "  // %s\n", THGetLastError());
    keep_made(run, step, &p);
    if (!look(run, before, &record->after, storage_before, &first->storages)) return false;
    if (!record->done) {
        if (!is_same_look(before, &record->after)) first->fault = "a call that failed has changed something";
        return true;
    }
    define_elements(run, step, before, &record->after);
    if (step->f->kind == HOOK && step->slot[0] == 0) first->leaf_scale *= SCALES[step->n[1]];
    if (step->f->kind == ENABLE) run->off = !step->n[0];
    move_families(run, step, before, &record->after, record->was_required, cut);
    taint(first, step, before, &record->after);
    return true;
}

static void begin_first(struct first *first, const struct start *start) {
    THStorage *none[SLOTS] = {NULL};
    struct look empty = {0};
    THGrad_setInference(0);
    THGrad_setEnabled(1);
    memset(first, 0, sizeof *first);
    first->leaf_scale = 1;
    first->leaf_is_view = start->is_view;
    start_run(&first->run, start, 0, false);
    look(&first->run, &empty, &first->start, none, &first->storages);
    THTensor_setRequiresGrad(first->run.t[0], 1);
    first->tainted[first->start.slot[0].storage] = true;
}

/* ---- the number whose gradient is compared ---- */

static double weight(int i) { return 1 + 0.3 * (i % 5) - 0.07 * i; }

/* The weighted sum of the elements of slot k in a run; NaN if an element is outside of the storage. */
static double number_of(const struct run *run, int k) {
    struct look look;
    int place[MOST_ELEMENTS];
    if (!look_at(run->t[k], &look, k)) return NAN;
    int count = places(&look.slot[k], look.elements[k], place);
    double sum = count < 0 ? NAN : 0;
    for (int i = 0; i < count; i++) sum += weight(i) * look.value[k][place[i]];
    return sum;
}

enum outcome { COMPARED, REFUSED, LEFT_OUT };

/* The gradient of the number of slot k with respect to the leaf. */
static enum outcome gradient_of(struct first *first, int k, double *gradient, int n) {
    THTensor *t = first->run.t[k], *leaf = first->run.t[0], *sum = THTensor_new(), *weighted = THTensor_new();
    THTensor *weights = THTensor_newZeros(TH_FLOAT64, t->nDimension, t->size);
    for (int64_t i = 0; i < weights->storage->size; i++) set_element(weights->storage, i, weight((int)i));
    for (int i = 0; i < n; i++) gradient[i] = 0;
    enum outcome outcome = COMPARED;
    if (THTensor_cmul(weighted, t, weights) != TH_OK || THTensor_sum(sum, weighted, TH_ALL_DIMS, 0) != TH_OK) {
        outcome = REFUSED;
    } else if (THTensor_requiresGrad(sum)) {
        if (THGrad_backward(&sum, NULL, 1, 1, 0) != TH_OK) outcome = REFUSED;
        THTensor *grad = THTensor_newGrad(leaf);
        int place[MOST_ELEMENTS];
        struct look look;
        int count = look_at(grad, &look, 0) ? places(&look.slot[0], look.elements[0], place) : 0;
        for (int i = 0; i < count && i < n; i++) gradient[i] = look.value[0][place[i]];
        THTensor_free(grad);
        THTensor_setGrad(leaf, NULL);
    }
    if (outcome == REFUSED && THGetLastErrorCode() == TH_ERR_INTERNAL)
        first->fault = "backward failed with TH_ERR_INTERNAL";
    if (outcome == REFUSED) snprintf(first->error[k], sizeof first->error[k], "%s", THGetLastError());
    THTensor_free(weights);
    THTensor_free(weighted);
    THTensor_free(sum);
    return outcome;
}

/* ---- differences ---- */

/* Replays the sequence with element j of the leaf moved by h, and stores the number of each slot. */
static bool replay_numbers(struct first *first, const struct sequence *sequence, const struct start *start, int mode,
                           int j, double h, double *number) {
    static struct replay replay;
    THGrad_setInference(1);
    /* A fresh handle gets the default dtype when it is resized. */
    THSetDefaultDtype(TH_FLOAT64);
    start_run(&replay.run, start, mode, true);
    THTensor *leaf = replay.run.t[0];
    int64_t place = leaf->storageOffset + j;
    set_element(leaf->storage, place, element(leaf->storage, place) + h);
    bool same = true;
    for (int i = 0; i < sequence->count && same; i++)
        if (first->record[i].done)
            same = replay_step(&replay, &sequence->step[i], &first->record[i], look_before(first, i));
    for (int k = 0; k < SLOTS && same; k++) number[k] = number_of(&replay.run, k);
    end_run(&replay.run);
    THSetDefaultDtype(TH_FLOAT32);
    THGrad_setInference(0);
    return same;
}

enum { LEAF_ELEMENTS = 6 };

/* The derivative from the numbers at 0, h, -h, 2h and -2h; NaN where a kink is near. */
static double derivative(const double *at, double h) {
    double near = (at[1] - at[2]) / (2 * h), far = (at[3] - at[4]) / (4 * h),
           bend = (at[1] - 2 * at[0] + at[2]) / (2 * h);
    double tolerance = 1e-2 * (1 + fabs(near));
    /* Richardson's extrapolation; `near` and `far` differ by h^2 / 2 times a third derivative. */
    return fabs(near - far) <= tolerance && fabs(bend) <= tolerance ? near + (near - far) / 3 : NAN;
}

/* Central differences of the numbers of all slots, by element of the leaf. */
static bool differences(struct first *first, const struct sequence *sequence, const struct start *start, int mode,
                        double (*difference)[LEAF_ELEMENTS]) {
    const double h = 1e-4, moved[5] = {0, h, -h, 2 * h, -2 * h};
    double number[5][SLOTS];
    for (int j = 0; j < leaf_size(start); j++) {
        for (int i = j ? 1 : 0; i < 5; i++)
            if (!replay_numbers(first, sequence, start, mode, j, moved[i], number[i])) return false;
        for (int k = 0; k < SLOTS; k++) {
            double at[5];
            for (int i = 0; i < 5; i++) at[i] = number[i][k];
            difference[k][j] = first->leaf_scale * derivative(at, h);
        }
    }
    return true;
}

#endif
