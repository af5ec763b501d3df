/* The first run of a sequence, which is recorded by the library, and replays, which are not. */
#ifndef THORN_SEQUENCES_REPLAY_H
#define THORN_SEQUENCES_REPLAY_H

#include "families.h"

/* The first run's record of a step. */
struct record {
    bool done; /* false if the call failed or was left out; then the replay leaves the call out, too */
    bool off;
    bool was_required;
    struct look after;
};

struct first {
    struct run run;
    struct record record[MOST_STEPS];
    struct look start;
    bool tainted[MOST_STORAGES]; /* storages that a value of the leaf may have reached */
    int storages;
    double leaf_scale; /* the product of the hooks of the leaf */
    bool leaf_is_view;
    const char *fault;      /* a fault other than a wrong gradient, or NULL */
    char error[SLOTS][200]; /* messages, for the text of a failed sequence */
};

static const double LEAF_VALUES[] = {0.3, -0.7, 1.1, 0.45, -0.2, 0.9};

/* The first handles: a leaf of n elements in slot 0, which is a view of slot 1 in some sequences, a matrix of zeros,
 * and fresh handles, of which one is float32. */
struct start {
    int64_t size[2];
    int ndim;
    bool is_view;
};

static THTensor *filled(int ndim, const int64_t *size, double from) {
    THTensor *t = THTensor_newZeros(TH_FLOAT64, ndim, size);
    for (int64_t i = 0; i < t->storage->size; i++) set_element(t->storage, i, from + 0.1 * (double)i);
    return t;
}

static int64_t leaf_size(const struct start *start) { return start->size[0] * (start->ndim == 2 ? start->size[1] : 1); }

static void start_run(struct run *run, const struct start *start, int mode, bool is_replay) {
    memset(run, 0, sizeof *run);
    run->mode = mode;
    run->families = SLOTS;
    for (int k = 0; k < SLOTS; k++) run->family[k] = k;
    int64_t n = leaf_size(start), padded = n + 2;
    THTensor *buffer = filled(1, &padded, -0.4);
    if (start->is_view) {
        THTensor *narrow = THTensor_newNarrow(buffer, 0, 1, n);
        run->t[0] = THTensor_newView(narrow, start->ndim, start->size);
        THTensor_free(narrow);
    } else {
        run->t[0] = THTensor_newZeros(TH_FLOAT64, start->ndim, start->size);
    }
    for (int64_t i = 0; i < n; i++) set_element(run->t[0]->storage, run->t[0]->storageOffset + i, LEAF_VALUES[i]);
    run->t[1] = buffer;
    run->t[2] = THTensor_newZeros(TH_FLOAT64, 2, (int64_t[]){3, 3});
    run->t[3] = THTensor_new();
    run->t[4] = THTensor_new();
    run->t[5] = THTensor_newWithDtype(is_replay ? TH_FLOAT64 : TH_FLOAT32);
    run->t[6] = filled(start->ndim, start->size, 0.6);
    if (start->is_view && (mode & LEAVES_JOIN)) {
        run->family[1] = LEAF_FAMILY;
    } else if (start->is_view && is_replay) {
        THTensor *copy = THTensor_newClone(buffer);
        THTensor_free(buffer);
        run->t[1] = copy;
    }
}

static void end_run(struct run *run) {
    for (int k = 0; k < SLOTS; k++) {
        THTensor_free(run->t[k]);
        run->t[k] = NULL;
    }
}

/* Puts new handles into their slots. */
static void keep_made(struct run *run, const struct step *step, struct play *p) {
    for (int k = 0; k < p->count; k++) {
        if (k >= KEPT_MADE) {
            THTensor_free(p->made[k]);
            continue;
        }
        THTensor **slot = &run->t[slot_of_made(step, k)], *old = *slot;
        *slot = p->made[k];
        THTensor_free(old);
    }
}

/* Sets elements without a value to 0.25. A call has added these elements to a storage without writing them. */
static void define_elements(const struct run *run, const struct step *step, const struct look *before,
                            struct look *after) {
    for (int k = 0; k < SLOTS; k++) {
        int storage = after->slot[k].storage;
        if (storage == NO_STORAGE || after->elements[k] == 0) continue;
        int64_t old = 0;
        bool written[MOST_ELEMENTS] = {false}, marks[MOST_ELEMENTS];
        for (int j = 0; j < SLOTS; j++) {
            if (before->slot[j].storage == storage) old = before->elements[j];
            bool is_new = before->slot[j].handle != after->slot[j].handle && source_of(step, before, after, j) < 0;
            if (after->slot[j].storage != storage || !(is_new || writes(step, before, after, j))) continue;
            mark(after, j, marks);
            for (int i = 0; i < MOST_ELEMENTS; i++) written[i] |= marks[i];
        }
        for (int64_t i = old; i < after->elements[k]; i++)
            if (!written[i]) set_element(run->t[k]->storage, i, after->value[k][i] = 0.25);
    }
}

/* ---- replays ---- */

struct replay {
    struct run run;
    double before[SLOTS][MOST_ELEMENTS]; /* the values before a call */
};

/* How a replay sets a family's values that the replay must not compute. */
enum settled { CONSTANT, SHIFTED };

/* Sets the marked elements of the family of slot g. A leaf stays a leaf: its elements are shifted in any case. */
static void settle(struct replay *replay, int g, const bool *marks, enum settled settled, const struct look *before,
                   const struct look *after) {
    bool leaf[MOST_ELEMENTS] = {false};
    if (replay->run.family[g] == LEAF_FAMILY) mark(after, 0, leaf);
    THStorage *s = replay->run.t[g]->storage;
    bool was_here =
        before->slot[g].handle == after->slot[g].handle && before->slot[g].storage == after->slot[g].storage;
    for (int64_t i = 0; i < after->elements[g] && i < s->size; i++) {
        if (!marks[i]) continue;
        bool shifts = was_here && i < before->elements[g] && (settled == SHIFTED || leaf[i]);
        double shift = shifts ? replay->before[g][i] - before->value[g][i] : 0;
        set_element(s, i, after->value[g][i] + shift);
    }
}

/* Gives the handle of slot k separate memory with the values of the first run. */
static bool cut_off(struct replay *replay, const struct look *after, int k) {
    const struct shown *shown = &after->slot[k];
    if (shown->storage == NO_STORAGE || after->elements[k] == 0) return true;
    THStorage *s = THStorage_newWithSize(TH_FLOAT64, after->elements[k]);
    for (int64_t i = 0; i < after->elements[k]; i++) set_element(s, i, after->value[k][i]);
    THStatus status = THTensor_setStorage(replay->run.t[k], s, shown->offset, shown->ndim, shown->size, shown->stride);
    if (status == TH_OK && shown->ndim == 0 && shown->has_elements)
        status = THTensor_setFlag(replay->run.t[k], TH_TENSOR_SCALAR);
    THStorage_free(s);
    return status == TH_OK;
}

/* Gives storages the sizes of the first run; new elements get its values. */
static void follow_sizes(struct replay *replay, const struct look *after) {
    for (int k = 0; k < SLOTS; k++) {
        THStorage *s = replay->run.t[k] ? replay->run.t[k]->storage : NULL;
        if (!s || after->slot[k].storage == NO_STORAGE || s->size == after->elements[k]) continue;
        int64_t old = s->size;
        THStorage_resize(s, after->elements[k]);
        for (int64_t i = old; i < s->size; i++) set_element(s, i, after->value[k][i]);
    }
}

/* Gives a result new memory before a call that gave it new memory in the first run. The library does so where a result
 * overlaps an input, and families that overlap in the first run have separate memory here. */
static bool follow_new_memory(struct run *run, const struct step *step, const struct look *before,
                              const struct look *after) {
    for (int k = 0; k < SLOTS; k++) {
        int was = before->slot[k].storage;
        bool is_first = true;
        for (int j = 0; j < k; j++) is_first = is_first && run->t[j] != run->t[k];
        if (!is_first || was == NO_STORAGE || was == after->slot[k].storage || !writes(step, before, after, k))
            continue;
        /* A handle whose geometry exceeds its storage cannot be copied. The library gives such a result new memory
         * anyway. */
        THTensor *copy = THTensor_newClone(run->t[k]);
        THStatus status = copy ? THTensor_set(run->t[k], copy) : TH_OK;
        THTensor_free(copy);
        if (status != TH_OK) return false;
    }
    return true;
}

/* Returns true if the results that kept their memory in the first run kept it here. */
static bool kept_memory(const struct run *run, const struct step *step, THStorage *const *storage_before,
                        const struct look *before, const struct look *after) {
    for (int k = 0; k < SLOTS; k++) {
        bool kept = writes(step, before, after, k) && before->slot[k].storage == after->slot[k].storage;
        if (kept && after->slot[k].storage != NO_STORAGE && run->t[k]->storage != storage_before[k]) return false;
    }
    return true;
}

/* Returns true for a write without recording that keeps the history of its result: the call changes the values in
 * place, or writes through a view, in the mode where such a write shifts the base. */
static bool keeps_history(const struct run *run, const struct step *step, const struct look *before,
                          const struct look *after, int k) {
    const struct shown *was = &before->slot[k], *now = &after->slot[k];
    size_t dims = (size_t)now->ndim * sizeof *now->size;
    bool stays = was->storage == now->storage && was->offset == now->offset && was->ndim == now->ndim &&
                 memcmp(was->size, now->size, dims) == 0 && memcmp(was->stride, now->stride, dims) == 0;
    return stays && (reads(step, before, k) || (run->is_view[k] && (run->mode & WRITES_OFF_SHIFT)));
}

/* Sets the elements of other families that a call has written, and the elements that a call has written without
 * recording. */
static void settle_writes(struct replay *replay, const struct step *step, bool off, const struct look *before,
                          const struct look *after) {
    struct run *run = &replay->run;
    for (int k = 0; k < SLOTS; k++) {
        bool is_new = before->slot[k].handle != after->slot[k].handle && source_of(step, before, after, k) < 0;
        if (!run->t[k] || after->slot[k].storage == NO_STORAGE || !(is_new || writes(step, before, after, k))) continue;
        bool marks[MOST_ELEMENTS];
        mark(after, k, marks);
        if (off)
            settle(replay, k, marks, keeps_history(run, step, before, after, k) ? SHIFTED : CONSTANT, before, after);
        for (int g = 0; g < SLOTS; g++) {
            if (!run->t[g] || after->slot[g].storage != after->slot[k].storage || run->family[g] == run->family[k])
                continue;
            bool crosses = !off && (run->mode & WRITES_CROSS) && run->family[g] != LEAF_FAMILY;
            settle(replay, g, marks, off && (run->mode & WRITES_OFF_SHIFT) ? SHIFTED : CONSTANT, before, after);
            for (int64_t i = 0; crosses && i < after->elements[g]; i++)
                if (marks[i]) set_element(run->t[g]->storage, i, element(run->t[k]->storage, i));
        }
    }
}

/* Functions of storages are not recorded: the values that they write are constants. */
static void settle_storages(struct replay *replay, const struct step *step, bool off, const struct look *before,
                            const struct look *after) {
    enum settled settled = off && (replay->run.mode & STORAGES_OFF_SHIFT) ? SHIFTED : CONSTANT;
    bool marks[MOST_ELEMENTS];
    bool is_one = is_named(step->f, "THStorage_set") || is_named(step->f, "THStorage_setLong");
    bool is_all =
        takes(step->f, 'x') || takes(step->f, 'M') || takes(step->f, 'S') || is_named(step->f, "THStorage_swap");
    follow_sizes(replay, after);
    for (int i = 0; i < MOST_ELEMENTS; i++) marks[i] = is_one ? i == step->n[1] : is_all;
    for (int a = 0; step->f->letters[a] == 's'; a++)
        for (int g = 0; g < SLOTS; g++)
            if (replay->run.t[g] && after->slot[g].storage != NO_STORAGE &&
                after->slot[g].storage == before->slot[step->slot[a]].storage)
                settle(replay, g, marks, settled, before, after);
}

/* The gradient of slot k is scaled: the same factor scales the difference from the first run. */
static void scale_difference(struct replay *replay, const struct step *step, const struct look *after) {
    int k = step->slot[0];
    bool marks[MOST_ELEMENTS];
    mark(after, k, marks);
    for (int g = 0; g < SLOTS; g++) {
        struct run *run = &replay->run;
        bool is_first = g == slot_of_family(run, run->family[g]);
        bool shares = after->slot[g].storage == after->slot[k].storage && after->slot[k].storage != NO_STORAGE;
        if (!run->t[g] || !shares || !is_first || (run->family[g] != run->family[k] && !(run->mode & WRITES_CROSS)))
            continue;
        for (int64_t i = 0; i < after->elements[g]; i++) {
            double value = element(run->t[g]->storage, i), first = after->value[g][i];
            if (marks[i]) set_element(run->t[g]->storage, i, first + SCALES[step->n[1]] * (value - first));
        }
    }
}

static bool is_like(const struct shown *shown, const THTensor *t) {
    if (!shown->handle || !t) return !shown->handle && !t;
    if (shown->ndim != t->nDimension || shown->offset != t->storageOffset) return false;
    for (int d = 0; d < shown->ndim; d++)
        if (shown->size[d] != t->size[d] || shown->stride[d] != t->stride[d]) return false;
    return true;
}

/* The call itself, where the replay makes it. Returns false if it does not behave as in the first run. */
static bool replay_call(struct replay *replay, const struct step *step) {
    static const char *const kept[] = {"THTensor_setRequiresGrad", "THTensor_detach", "THTensor_retainGrad",
                                       "THGrad_setEnabled"};
    for (int i = 0; i < LENGTH(kept); i++)
        if (is_named(step->f, kept[i])) return true;
    struct play p;
    play(step, replay->run.t, true, &p);
    keep_made(&replay->run, step, &p);
    return p.status == TH_OK;
}

/* Repeats a step that succeeded. */
static bool replay_step(struct replay *replay, const struct step *step, struct record *record,
                        const struct look *before) {
    const struct look *after = &record->after;
    struct run *run = &replay->run;
    THStorage *storage_before[SLOTS];
    bool cut[SLOTS];
    run->off = record->off;
    for (int k = 0; k < SLOTS; k++) {
        THTensor *t = run->t[k];
        storage_before[k] = t ? t->storage : NULL;
        for (int64_t i = 0; has_storage(t) && i < t->storage->size && i < MOST_ELEMENTS; i++)
            replay->before[k][i] = element(t->storage, i);
    }
    if (step->f->kind == STORAGE) {
        settle_storages(replay, step, record->off, before, after);
        return true;
    }
    if (step->f->kind == HOOK) {
        if (step->slot[0] != 0) scale_difference(replay, step, after);
        return true;
    }
    if (!follow_new_memory(run, step, before, after) || !replay_call(replay, step)) return false;
    if (!kept_memory(run, step, storage_before, before, after)) return false;
    follow_sizes(replay, after);
    define_elements(run, step, before, &record->after);
    move_families(run, step, before, after, record->was_required, cut);
    for (int k = 0; k < SLOTS; k++)
        if (!is_like(&after->slot[k], run->t[k]) || (cut[k] && !cut_off(replay, after, k))) return false;
    settle_writes(replay, step, record->off, before, after);
    if (is_named(step->f, "THTensor_detach")) {
        bool marks[MOST_ELEMENTS];
        mark(after, step->slot[0], marks);
        settle(replay, step->slot[0], marks, CONSTANT, before, after);
    }
    return true;
}

#endif
