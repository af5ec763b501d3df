/* Snapshots of a run after each call, and families: the handles that share values.
 *
 * A *family* is a set of handles on one storage whose gradients flow through the same memory: a tensor and its views.
 * `THTensor_newDetach` begins a new family on the same storage. A replay gives each family a storage, because a value
 * that one family sees change with the leaf is constant for the other. */
#ifndef THORN_SEQUENCES_FAMILIES_H
#define THORN_SEQUENCES_FAMILIES_H

#include "steps.h"

enum { NO_STORAGE = -1, LEAF_FAMILY = 0, MOST_STORAGES = 512 };

/* Meanings that the documents leave open. A gradient passes if it is right in one of the modes. */
enum mode {
    VIEWS_MADE_OFF_RECORD =
        1,                /* a view made while recording is off belongs to the family of its base, and is not cut */
    WRITES_CROSS = 2,     /* a recorded write reaches other families with its history, and not as constants */
    WRITES_OFF_SHIFT = 4, /* an unrecorded write shifts the values of other handles, and does not end their histories */
    LEAVES_JOIN = 8,      /* a view that becomes a leaf stays in the family of its base */
    STORAGES_OFF_SHIFT = 16, /* as WRITES_OFF_SHIFT, for functions of storages that are called while recording is off */
    MODES = 32,
};

/* A handle after a call. */
struct shown {
    const THTensor *handle;
    int storage; /* a number for each storage of the first run */
    int64_t offset, size[MOST_DIMS], stride[MOST_DIMS];
    int ndim;
    bool has_elements, is_float;
};

/* All handles after a call, and the elements of their storages. */
struct look {
    struct shown slot[SLOTS];
    int64_t elements[SLOTS];
    double value[SLOTS][MOST_ELEMENTS];
};

/* A run of a sequence: the first one, or a replay. */
struct run {
    THTensor *t[SLOTS];
    int family[SLOTS];
    bool is_view[SLOTS]; /* True if the slot has a view of a base in the same family, according to the library. */
    int families;
    int mode;
    bool off;
};

static double element(const THStorage *s, int64_t i) {
    if (s->dtype == TH_FLOAT32) return ((const float *)s->data)[i];
    return ((const double *)s->data)[i];
}

static void set_element(THStorage *s, int64_t i, double value) {
    if (s->dtype == TH_FLOAT32)
        ((float *)s->data)[i] = (float)value;
    else
        ((double *)s->data)[i] = value;
}

static bool has_storage(const THTensor *t) {
    return t && t->storage && t->storage->size > 0 && t->storage->data &&
           (t->dtype == TH_FLOAT32 || t->dtype == TH_FLOAT64);
}

/* Takes a snapshot of the elements of a handle. Returns false if there are too many elements. */
static bool look_at(const THTensor *t, struct look *look, int k) {
    struct shown *shown = &look->slot[k];
    memset(shown, 0, sizeof *shown);
    shown->handle = t;
    shown->storage = NO_STORAGE;
    look->elements[k] = 0;
    if (!t) return true;
    shown->ndim = t->nDimension;
    shown->offset = t->storageOffset;
    shown->is_float = t->dtype == TH_FLOAT32 || t->dtype == TH_FLOAT64;
    shown->has_elements = has_storage(t) && (t->nDimension > 0 || (t->flag & TH_TENSOR_SCALAR));
    if (t->nDimension > MOST_DIMS || (t->storage && t->storage->size > MOST_ELEMENTS)) return false;
    for (int d = 0; d < t->nDimension; d++) {
        shown->size[d] = t->size[d];
        shown->stride[d] = t->stride[d];
    }
    if (!has_storage(t)) return true;
    look->elements[k] = t->storage->size;
    for (int64_t i = 0; i < t->storage->size; i++) look->value[k][i] = element(t->storage, i);
    return true;
}

/* Takes a snapshot of a run after a call. A storage keeps the number that it has in `before`; a new storage gets the
 * next number. */
static bool look(const struct run *run, const struct look *before, struct look *after, THStorage *const *storage_before,
                 int *storages) {
    for (int k = 0; k < SLOTS; k++)
        if (!look_at(run->t[k], after, k)) return false;
    for (int k = 0; k < SLOTS; k++) {
        THStorage *s = run->t[k] ? run->t[k]->storage : NULL;
        if (!s) continue;
        int number = NO_STORAGE;
        for (int j = 0; j < SLOTS && number == NO_STORAGE; j++)
            if (storage_before[j] == s) number = before->slot[j].storage;
        for (int j = 0; j < k && number == NO_STORAGE; j++)
            if (run->t[j] && run->t[j]->storage == s) number = after->slot[j].storage;
        if (number == NO_STORAGE) number = (*storages)++;
        after->slot[k].storage = number;
    }
    return *storages < MOST_STORAGES;
}

/* Stores the positions of a handle's elements in its storage, in row-major order. Returns -1 if a position is
 * outside. */
static int places(const struct shown *shown, int64_t elements, int *place) {
    int count = 0;
    int64_t index[MOST_DIMS] = {0};
    if (!shown->has_elements) return 0;
    for (int d = 0; d < shown->ndim; d++)
        if (shown->size[d] == 0) return 0;
    for (;;) {
        int64_t at = shown->offset;
        for (int d = 0; d < shown->ndim; d++) at += index[d] * shown->stride[d];
        if (at < 0 || at >= elements || count == MOST_ELEMENTS) return -1;
        place[count++] = (int)at;
        int d = shown->ndim - 1;
        while (d >= 0 && ++index[d] == shown->size[d]) index[d--] = 0;
        if (d < 0) return count;
    }
}

/* Marks the storage positions of a handle. */
static void mark(const struct look *look, int k, bool *marks) {
    int place[MOST_ELEMENTS], count = places(&look->slot[k], look->elements[k], place);
    memset(marks, 0, MOST_ELEMENTS * sizeof *marks);
    for (int i = 0; i < count; i++) marks[place[i]] = true;
}

/* ---- how a step changes handles ---- */

/* Returns true if the step writes the elements of this slot, or makes a tensor with new elements. */
static bool writes(const struct step *step, const struct look *before, const struct look *after, int k) {
    for (int a = 0; step->f->letters[a]; a++)
        if ((step->f->letters[a] == 'o' || step->f->letters[a] == 'm') &&
            before->slot[step->slot[a]].handle == after->slot[k].handle)
            return after->slot[k].handle != NULL;
    return false;
}

/* Returns true if the step reads the elements of the handle in slot k. */
static bool reads(const struct step *step, const struct look *before, int k) {
    for (int a = 0; step->f->letters[a]; a++)
        if (strchr("im", step->f->letters[a]) && before->slot[step->slot[a]].handle == before->slot[k].handle)
            return true;
    return false;
}

/* Returns true if slot k has a new handle, or one whose geometry or storage the step may have set. */
static bool is_set(const struct step *step, const struct look *before, const struct look *after, int k) {
    if (before->slot[k].handle != after->slot[k].handle || before->slot[k].storage != after->slot[k].storage)
        return true;
    for (int a = 0; step->f->letters[a]; a++)
        if (strchr("vh", step->f->letters[a]) && before->slot[step->slot[a]].handle == after->slot[k].handle)
            return true;
    return false;
}

/* The letters of the arguments whose elements the changed handle may show afterwards. */
static const char *source_letters(const struct function *f) {
    if (f->kind == VIEW) return "is";
    if (f->kind != HANDLE) return "";
    return takes(f, 's') || is_named(f, "THTensor_set") ? "is" : "h";
}

/* The slot of an argument whose storage slot k shows after the step; -1 if the elements are new. */
static int source_of(const struct step *step, const struct look *before, const struct look *after, int k) {
    const char *letters = source_letters(step->f);
    for (int a = 0; step->f->letters[a]; a++) {
        int from = step->slot[a];
        if (strchr(letters, step->f->letters[a]) && after->slot[k].storage != NO_STORAGE &&
            before->slot[from].storage == after->slot[k].storage)
            return from;
    }
    return -1;
}

/* Adds all slots with the handle of slot k to a family. */
static void join_family(struct run *run, int k, int family, bool is_view) {
    for (int j = 0; j < SLOTS; j++)
        if (j == k || (run->t[j] && run->t[j] == run->t[k])) {
            run->family[j] = family;
            run->is_view[j] = is_view;
        }
}

/* Moves the handle of slot k, which a step has set, to its family. `old` are the families before, and `was_required`
 * says that the handle of setRequiresGrad required a gradient. Returns true if the handle is cut off from the values of
 * the family that it shared. */
static bool move_family(struct run *run, const struct step *step, const struct look *before, const struct look *after,
                        int k, const int *old, bool was_required) {
    const struct shown *was = &before->slot[k], *now = &after->slot[k];
    bool is_same = was->handle == now->handle && was->storage == now->storage;
    /* A function may return its argument. */
    for (int j = 0; j < SLOTS && step->f->makes; j++)
        if (now->handle && j != step->made && before->slot[j].handle == now->handle) {
            join_family(run, k, old[j], run->is_view[j]);
            return false;
        }
    int from = source_of(step, before, after, k);
    if (from < 0) {
        if (!is_same) join_family(run, k, run->families++, false);
        return false;
    }
    if (is_named(step->f, "THTensor_detach") || is_named(step->f, "THTensor_retainGrad")) return false;
    if (is_named(step->f, "THTensor_setRequiresGrad")) {
        if (!step->n[1] || was_required || !run->is_view[k] || (run->mode & LEAVES_JOIN)) return false;
        join_family(run, k, run->families++, false);
        return true;
    }
    if (is_named(step->f, "THTensor_newDetach") || (run->off && !(run->mode & VIEWS_MADE_OFF_RECORD))) {
        join_family(run, k, run->families++, false);
        return true;
    }
    join_family(run, k, old[from], is_same && !takes(step->f, 'i') && from == k ? run->is_view[k] : true);
    return false;
}

/* Moves all handles that a step has set, and marks the ones that are cut off. */
static void move_families(struct run *run, const struct step *step, const struct look *before, const struct look *after,
                          bool was_required, bool *cut) {
    int old[SLOTS];
    memcpy(old, run->family, sizeof old);
    for (int k = 0; k < SLOTS; k++)
        cut[k] = is_set(step, before, after, k) && move_family(run, step, before, after, k, old, was_required);
}

/* The first slot of a family; -1 if it has none left. */
static int slot_of_family(const struct run *run, int family) {
    for (int k = 0; k < SLOTS; k++)
        if (run->t[k] && run->family[k] == family) return k;
    return -1;
}

/* The number of families that have handles on a storage. */
static int families_on(const struct run *run, const struct look *look, int storage) {
    int count = 0;
    for (int k = 0; k < SLOTS; k++)
        if (run->t[k] && look->slot[k].storage == storage && slot_of_family(run, run->family[k]) == k) count++;
    return count;
}

#endif
