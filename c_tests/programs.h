/* The programs of tests/data/programs, with the values that PyTorch computed: scripts/program_models.py explains the
 * files. */
#ifndef THORN_PROGRAMS_H
#define THORN_PROGRAMS_H

#include "check.h"

#include <stdarg.h>

enum { MOST = 32 };

/* A program and its arrays. */
struct model {
    THProgram *p;
    THArchive *values;
};

static inline struct model model(const char *name) {
    char path[512];
    struct model m;
    snprintf(path, sizeof path, "%s/%s.pt2", PROGRAMS, name);
    m.p = THProgram_open(path);
    if (!CHECK(m.p != NULL)) exit(1);
    snprintf(path, sizeof path, "%s/%s.npz", PROGRAMS, name);
    m.values = THArchive_open(path);
    if (!CHECK(m.values != NULL)) exit(1);
    return m;
}

static inline void end_model(struct model *m) {
    THProgram_free(m->p);
    THArchive_free(m->values);
}

/* Returns the array with the name that `format` makes; NULL if there is none. */
static inline THTensor *value(const struct model *m, const char *format, ...) {
    char name[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    return THArchive_find(m->values, name) < 0 ? NULL : THArchive_newFind(m->values, name);
}

/* Tensors of a run. */
struct list {
    THTensor *t[MOST];
    int count;
};

static inline void end_list(struct list *list) {
    while (list->count) THTensor_free(list->t[--list->count]);
}

/* Returns the inputs or outputs of a run: `kind` is "in" or "out". */
static inline struct list listed(const struct model *m, char run, const char *kind) {
    struct list list = {{NULL}, 0};
    while (list.count < MOST && (list.t[list.count] = value(m, "%c.%s%d", run, kind, list.count))) list.count++;
    return list;
}

static inline struct list fresh_list(int64_t count) {
    struct list list = {{NULL}, 0};
    while (list.count < count && list.count < MOST) list.t[list.count++] = THTensor_new();
    return list;
}

/* Runs a program with inputs of its file. */
static inline struct list run(const struct model *m, char letter) {
    struct list in = listed(m, letter, "in"), out = fresh_list(THProgram_outputCount(m->p));
    CHECK_OK(THProgram_run(out.t, out.count, m->p, in.t, in.count));
    end_list(&in);
    return out;
}

/* Checks that a tensor has the sizes and the elements of an array, except for rounding. */
#define CHECK_ARRAY(got, expected, tolerance) check_array(got, expected, tolerance, __FILE__, __LINE__, #got)

static inline int check_array(THTensor *got, THTensor *expected, double tolerance, const char *file, int line,
                              const char *what) {
    THTensor *a = THTensor_newTo(got, TH_FLOAT64), *b = THTensor_newTo(expected, TH_FLOAT64);
    int holds = check_that(a && b && THTensor_isSameSizeAs(a, b), file, line, what);
    for (int64_t k = 0, n = holds ? THTensor_numel(a) : 0; k < n && holds; k++) {
        double e = element_at(b, k);
        holds = check_near(element_at(a, k), e, tolerance * fmax(1, fabs(e)), file, line, what);
    }
    THTensor_free(a);
    THTensor_free(b);
    return holds;
}

/* Checks that two runs have the same bits. */
static inline void check_equal(const struct list *a, const struct list *b) {
    CHECK_EQ(a->count, b->count);
    for (int k = 0; k < a->count && k < b->count; k++)
        CHECK(a->t[k]->dtype == TH_UNDEFINED ? b->t[k]->dtype == TH_UNDEFINED : THTensor_equal(a->t[k], b->t[k]));
}

#endif
