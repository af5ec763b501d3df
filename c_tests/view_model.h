/*
 * A naive model of views: a tensor is a list of the storage positions of its elements in row-major order.
 *
 * This file also has the random numbers that choose sizes, positions and operations.
 */

#ifndef VIEW_MODEL_H
#define VIEW_MODEL_H

#include "check.h"

enum {
    MAX_DIMS = 6,
    MAX_ELEMENTS = 1024,
    /* The number of elements of each storage. */
    ROOM = 2048
};

/* Random numbers: splitmix64. */
static uint64_t random_state;

static uint64_t random_word(void) {
    uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* A number from `low` to `high`, both included. */
static int64_t between(int64_t low, int64_t high) {
    return low + (int64_t)(random_word() % (uint64_t)(high - low + 1));
}

/* True one time in `n`. */
static int one_in(int n) { return between(1, n) == 1; }

/* The dimensions in random order. */
static void shuffle(int ndim, int64_t *dims) {
    for (int d = 0; d < ndim; d++) dims[d] = d;
    for (int d = 1; d < ndim; d++) {
        int64_t other = between(0, d), dim = dims[other];
        dims[other] = dims[d];
        dims[d] = dim;
    }
}

static int64_t product(int ndim, const int64_t *size) {
    int64_t count = 1;
    for (int d = 0; d < ndim; d++) count *= size[d];
    return count;
}

/* Moves an index vector to its successor in row-major order. */
static void advance(int ndim, const int64_t *size, int64_t *index) {
    for (int d = ndim - 1; d >= 0 && ++index[d] == size[d]; d--) index[d] = 0;
}

/* The place of an index vector in row-major order. */
static int64_t place(int ndim, const int64_t *size, const int64_t *index) {
    int64_t at = 0;
    for (int d = 0; d < ndim; d++) at = at * size[d] + index[d];
    return at;
}

/* The elements of a tensor in row-major order. */
struct model {
    int ndim;
    int64_t size[MAX_DIMS];
    int64_t count;
    /* Storage position of each element. */
    int64_t at[MAX_ELEMENTS];
};

/* Sets other sizes for the same elements in the same order. */
static void model_reshape(struct model *m, int ndim, const int64_t *size) {
    m->ndim = ndim;
    memmove(m->size, size, ndim * sizeof *size);
}

/* Maps the index of an element of a view to an index in the source. */
typedef void source_fn(const struct model *source, const int64_t *arguments, const int64_t *index, int64_t *from);

/* The model of a view of these sizes. */
static void model_view(struct model *m, int ndim, const int64_t *size, source_fn *source, const int64_t *arguments) {
    static struct model old;
    old = *m;
    int64_t index[MAX_DIMS] = {0}, from[MAX_DIMS];
    model_reshape(m, ndim, size);
    m->count = product(ndim, m->size);
    for (int64_t i = 0; i < m->count; i++, advance(ndim, m->size, index)) {
        source(&old, arguments, index, from);
        m->at[i] = old.at[place(old.ndim, old.size, from)];
    }
}

/* The definition of a strided tensor. */
static void model_strided(struct model *m, int ndim, const int64_t *size, int64_t offset, const int64_t *stride) {
    int64_t index[MAX_DIMS] = {0};
    model_reshape(m, ndim, size);
    m->count = product(ndim, size);
    for (int64_t i = 0; i < m->count; i++, advance(ndim, size, index)) {
        m->at[i] = offset;
        for (int d = 0; d < ndim; d++) m->at[i] += index[d] * stride[d];
    }
}

/* Stores the strides from the first element to all others. Returns 0 if there are none. */
static int model_strides(const struct model *m, int64_t *stride) {
    int64_t index[MAX_DIMS] = {0};
    if (m->count == 0) return 0;
    for (int d = 0; d < m->ndim; d++) {
        int64_t unit[MAX_DIMS] = {0};
        unit[d] = 1;
        stride[d] = m->size[d] > 1 ? m->at[place(m->ndim, m->size, unit)] - m->at[0] : 0;
    }
    for (int64_t i = 0; i < m->count; i++, advance(m->ndim, m->size, index)) {
        int64_t position = m->at[0];
        for (int d = 0; d < m->ndim; d++) position += index[d] * stride[d];
        if (position != m->at[i]) return 0;
    }
    return 1;
}

static int model_is_contiguous(const struct model *m) {
    for (int64_t i = 0; i < m->count; i++) {
        if (m->at[i] != m->at[0] + i) return 0;
    }
    return 1;
}

/* Returns true if two positions share an element. */
static int model_overlaps_itself(const struct model *m) {
    char seen[ROOM] = {0};
    for (int64_t i = 0; i < m->count; i++) {
        if (seen[m->at[i]]++) return 1;
    }
    return 0;
}

/* Returns true if every stride exceeds the range of all smaller strides. By this rule the library knows, without
 * reading each element, that no two positions share an element. */
static int model_is_nested(const struct model *m) {
    int64_t stride[MAX_DIMS], reach = 0;
    int done[MAX_DIMS] = {0};
    if (!model_strides(m, stride)) return 1;
    for (int round = 0; round < m->ndim; round++) {
        int least = -1;
        for (int d = 0; d < m->ndim; d++) {
            if (!done[d] && m->size[d] > 1 && (least < 0 || stride[d] < stride[least])) least = d;
        }
        if (least < 0) break;
        if (stride[least] <= reach) return 0;
        reach += (m->size[least] - 1) * stride[least];
        done[least] = 1;
    }
    return 1;
}

#endif
