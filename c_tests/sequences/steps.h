/* The calls of a sequence for the rule of gradients: tensors in slots, a table of functions, and the text of a call in
 * C. */
#ifndef THORN_SEQUENCES_STEPS_H
#define THORN_SEQUENCES_STEPS_H

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "thorn.h"

#define LENGTH(array) ((int)(sizeof(array) / sizeof *(array)))

enum {
    SLOTS = 10,
    ARGUMENTS = 13,
    MOST_DIMS = 6,
    MOST_STEPS = 80, /* calls that failed included */
    MOST_DONE = 28,
    MOST_ELEMENTS = 72, /* of a storage; a sequence with a larger storage is abandoned */
    MOST_MADE = 16,     /* handles that one call returns */
    KEPT_MADE = 3,      /* the number of these handles that get a slot */
};

/* ---- random numbers ---- */

static uint64_t random_state;

/* splitmix64 */
static uint64_t bits(void) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int below(int n) { return (int)(bits() % (uint64_t)n); }

static bool chance(int percent) { return below(100) < percent; }

/* ---- functions ---- */

/* How a function is drawn, and what its call means in a replay. */
enum class {
    SMOOTH,  /* a differentiable operation with a result */
    VIEW,    /* makes handles, most of which share the elements of an argument */
    HANDLE,  /* changes what a handle shows, or what the library knows of the handle */
    ELEMENT, /* writes one element */
    STORAGE, /* writes to a storage */
    MAKER,   /* makes a handle without an input */
    ENABLE,  /* switches recording on or off */
    HOOK,    /* scales the gradient of the result of the call before */
};

/* An argument: a handle, a storage or a number. */
struct argument {
    THTensor *t;
    THStorage *s;
    int64_t n;
    double x;
};

/* A call in progress: arguments, and what the call returns. */
struct play {
    struct argument a[ARGUMENTS];
    const int64_t *list, *strides;
    int len;
    const void *memory;
    THTensor *made[MOST_MADE];
    int count;
    THStatus status;
};

/* The letters of arguments are
 *     o  a result, written            v  a handle that becomes a view       m  a tensor, read and written
 *     i  a tensor, read               h  a handle that the call changes     s  a storage, written or shown
 *     S  a storage, read              N K  a list of new handles and its length
 *     d  a dimension                  e  a position        z  a size        t  a stride         c  a small number
 *     x  a number                     f  0 or 1            g  flags         y  a dtype
 *     l  a length, followed by Z sizes, T strides, D dimensions or E positions; 0 for strides, always NULL
 *     M  memory of the caller */
struct function {
    const char *name;
    const char *letters;
    enum class kind;
    bool makes; /* returns a new handle */
    void (*play)(struct play *);
};

#include "plays.h"

static const double SCALES[] = {3, -0.5, 10, 0.25};

/* The gradient is replaced by the gradient times `*context`. */
static THStatus scale_gradient(const THTensor *gradient, THTensor **replacement, void *context) {
    THTensor *r = THTensor_new();
    THStatus status = THTensor_mul(r, gradient, *(const double *)context);
    if (status == TH_OK)
        *replacement = r;
    else
        THTensor_free(r);
    return status;
}

static void play_hook(struct play *p) {
    void *context = (void *)(uintptr_t)&SCALES[p->a[1].n];
    p->status = THTensor_addHook(p->a[0].t, scale_gradient, context, NULL) < 0 ? THGetLastErrorCode() : TH_OK;
}

static void play_enable(struct play *p) { p->status = THGrad_setEnabled((int)p->a[0].n); }

static const struct function ENABLED = {"THGrad_setEnabled", "f", ENABLE, false, play_enable};
static const struct function HOOKED = {"THTensor_addHook", "hc", HOOK, false, play_hook};

/* The function of this name; ends the program if the table has none. */
static const struct function *function_named(const char *name) {
    if (strcmp(name, ENABLED.name) == 0) return &ENABLED;
    if (strcmp(name, HOOKED.name) == 0) return &HOOKED;
    for (int i = 0; i < LENGTH(FUNCTIONS); i++)
        if (strcmp(FUNCTIONS[i].name, name) == 0) return &FUNCTIONS[i];
    fprintf(stderr, "the table of functions has no %s\n", name);
    exit(2);
}

static bool is_named(const struct function *f, const char *name) { return strcmp(f->name, name) == 0; }

static bool takes(const struct function *f, char letter) { return strchr(f->letters, letter) != NULL; }

/* ---- steps ---- */

/* One call of a sequence. All numbers are drawn once, so that a replay makes the same call. */
struct step {
    const struct function *f;
    int slot[ARGUMENTS]; /* of handles and storages */
    int64_t n[ARGUMENTS];
    double x[ARGUMENTS];
    int64_t list[MOST_DIMS], strides[MOST_DIMS];
    int len;
    int made; /* the slot of the first new handle */
};

struct sequence {
    struct step step[MOST_STEPS];
    int count;
};

/* The slot of new handle number k; slot 0 has the leaf and is not replaced. */
static int slot_of_made(const struct step *step, int k) { return 1 + (step->made - 1 + k) % (SLOTS - 1); }

/* What THStorage_rawCopy reads, as elements of a dtype. */
static const void *raw_memory(THDtype dtype) {
    static double wide[MOST_ELEMENTS];
    static float narrow[MOST_ELEMENTS];
    for (int i = 0; i < MOST_ELEMENTS; i++) narrow[i] = (float)(wide[i] = 0.5 + 0.125 * (i % 7));
    return dtype == TH_FLOAT32 ? (const void *)narrow : (const void *)wide;
}

static bool is_handle(char letter) { return strchr("ovmih", letter) != NULL; }

/* Makes the call with the handles in `t`. New handles are returned in `p`, without a slot. */
static void play(const struct step *step, THTensor *const *t, bool only_float64, struct play *p) {
    memset(p, 0, sizeof *p);
    p->list = step->list;
    p->strides = step->strides;
    p->len = step->len;
    p->count = MOST_MADE;
    for (int k = 0; step->f->letters[k]; k++) {
        char letter = step->f->letters[k];
        struct argument *a = &p->a[k];
        a->n = step->n[k];
        a->x = step->x[k];
        if (letter == 'y' && only_float64) a->n = TH_FLOAT64;
        if (is_handle(letter)) a->t = t[step->slot[k]];
        if (letter == 's' || letter == 'S') a->s = t[step->slot[k]] ? t[step->slot[k]]->storage : NULL;
        if (letter == 'M') p->memory = raw_memory(p->a[0].s ? (THDtype)p->a[0].s->dtype : TH_FLOAT64);
    }
    THClearLastError();
    step->f->play(p);
    if (step->f->makes) p->count = p->made[0] ? 1 : 0;
    if (!step->f->makes && (!takes(step->f, 'N') || p->status != TH_OK)) p->count = 0;
}

/* ---- the call in C ---- */

static void write_list(FILE *to, const int64_t *list, int len) {
    fprintf(to, "(int64_t[]){");
    for (int i = 0; i < len; i++) fprintf(to, "%s%lld", i ? ", " : "", (long long)list[i]);
    fprintf(to, "}");
}

static void write_argument(FILE *to, const struct step *step, int k) {
    char letter = step->f->letters[k];
    if (is_handle(letter))
        fprintf(to, "h%d", step->slot[k]);
    else if (letter == 's' || letter == 'S')
        fprintf(to, "h%d->storage", step->slot[k]);
    else if (letter == 'x')
        fprintf(to, "%g", step->x[k]);
    else if (letter == 'y')
        fprintf(to, step->n[k] == TH_FLOAT32 ? "TH_FLOAT32" : "TH_FLOAT64");
    else if (letter == 'l')
        fprintf(to, "%d", step->len);
    else if (strchr("ZDET", letter))
        write_list(to, letter == 'T' ? step->strides : step->list, step->len);
    else if (strchr("0MNK", letter))
        fprintf(to, "%s", letter == '0' ? "NULL" : letter == 'M' ? "numbers" : letter == 'N' ? "made" : "&count");
    else
        fprintf(to, "%lld", (long long)step->n[k]);
}

/* Prints the call. `t` holds the handles before the call. */
static void write_step(FILE *to, const struct step *step, THTensor *const *t) {
    fprintf(to, "    ");
    if (step->f->makes && t[step->made]) fprintf(to, "THTensor_free(h%d); ", step->made);
    if (step->f->makes) fprintf(to, "h%d = ", step->made);
    if (takes(step->f, 'N')) fprintf(to, "count = %d; ", MOST_MADE);
    fprintf(to, "%s(", step->f->name);
    for (int k = 0; step->f->letters[k]; k++) {
        if (k) fprintf(to, ", ");
        if (step->f->kind == HOOK && k == 1)
            fprintf(to, "scale_gradient, (double[]){%g}, NULL", SCALES[step->n[k]]);
        else
            write_argument(to, step, k);
    }
    fprintf(to, ");");
}

/* The slots that the handles of a list get. */
static void write_made(FILE *to, const struct step *step, int count) {
    for (int k = 0; k < count && k < KEPT_MADE; k++) fprintf(to, " h%d = made[%d];", slot_of_made(step, k), k);
}

#endif
