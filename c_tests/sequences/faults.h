/* Fixed sequences for the rule of gradients: each is a history that a version of the library lost without a word. */
#ifndef THORN_SEQUENCES_FAULTS_H
#define THORN_SEQUENCES_FAULTS_H

#include "steps.h"

/* A sequence as text: one call a line, with slots as `h2` and lists as `{2,3}`; `-> h4` is the slot of a new handle. */
struct fault {
    const char *name;
    struct start start;
    const char *calls;
};

#define VECTOR {{2, 0}, 1, false}
#define TRIPLE {{3, 0}, 1, false}

static const struct fault FAULTS[] = {
    {"resize of a result to its own size", VECTOR, "THTensor_mul h3 h0 2\nTHTensor_resize1d h3 2\nTHTensor_cadd h4 h3 1 h0"},
    {"resizeAs of a result to its own size", VECTOR, "THTensor_mul h3 h0 2\nTHTensor_resizeAs h3 h0\nTHTensor_cadd h4 h3 1 h0"},
    {"a part of a result by resize", TRIPLE, "THTensor_mul h3 h0 2\nTHTensor_resize1d h3 2"},
    {"setRequiresGrad(view, 0), then a write through the view", TRIPLE,
     "THTensor_newSelect h2 0 0 -> h7\nTHTensor_setRequiresGrad h7 0\nTHTensor_mul h3 h0 3\nTHTensor_newSelect h2 0 1 -> h8\n"
     "THTensor_copy h8 h3\nTHTensor_copy h7 h3"},
    {"detach(base), then writes through older views", TRIPLE,
     "THTensor_newSelect h2 0 0 -> h7\nTHTensor_detach h2\nTHTensor_mul h3 h0 3\nTHTensor_newSelect h2 0 1 -> h8\n"
     "THTensor_copy h8 h3\nTHTensor_copy h7 h3"},
    {"a view made while recording is off, filled while it is on", VECTOR,
     "THTensor_mul h3 h0 2\nTHGrad_setEnabled 0\nTHTensor_newSelect h3 0 0 -> h7\nTHGrad_setEnabled 1\nTHTensor_fill h7 0"},
    {"a view made while recording is off, multiplied in place while it is on", VECTOR,
     "THTensor_mul h3 h0 2\nTHGrad_setEnabled 0\nTHTensor_newSelect h3 0 0 -> h7\nTHGrad_setEnabled 1\nTHTensor_mul h7 h7 5"},
    {"setFlag of a result", VECTOR, "THTensor_mul h3 h0 2\nTHTensor_setFlag h3 1"},
    {"clearFlag of a result", VECTOR, "THTensor_mul h3 h0 2\nTHTensor_clearFlag h3 2"},
    {"newWithStorage1d of a result", VECTOR,
     "THTensor_mul h3 h0 2\nTHTensor_newWithStorage1d h3 0 2 1 -> h7\nTHTensor_cadd h4 h3 1 h7"},
    {"setStorage1d on a result", VECTOR, "THTensor_mul h3 h0 2\nTHTensor_setStorage1d h4 h3 0 2 1"},
    {"newWithStorage1d of a result, written", VECTOR,
     "THTensor_mul h3 h0 2\nTHTensor_newWithStorage1d h3 1 1 1 -> h7\nTHTensor_fill h7 0.5"},
    {"THStorage_fill of a saved tensor", VECTOR, "THTensor_add h3 h0 1\nTHTensor_cmul h4 h3 h3\nTHStorage_fill h3 7"},
    {"THStorage_set of a saved tensor", VECTOR, "THTensor_add h3 h0 1\nTHTensor_cmul h4 h3 h3\nTHStorage_set h3 0 100"},
    {"THStorage_rawCopy to a saved tensor", VECTOR, "THTensor_add h3 h0 1\nTHTensor_cmul h4 h3 h3\nTHStorage_rawCopy h3"},
    {"THStorage_copy to a saved tensor", VECTOR, "THTensor_add h3 h0 1\nTHTensor_cmul h4 h3 h3\nTHStorage_copy h3 h6"},
    {"THStorage_swap of a saved tensor", VECTOR, "THTensor_add h3 h0 1\nTHTensor_cmul h4 h3 h3\nTHStorage_swap h3 h6"},
    {"a result in a handle with fewer digits than the operand", TRIPLE, "THTensor_amax h5 h0 0 0"},
    {"a result that a write to another handle of its storage replaces", VECTOR,
     "THTensor_newDetach h6 -> h7\nTHTensor_add h7 h0 0.5\nTHTensor_fill h6 1"},
    {"a result that becomes shorter in its storage, and its older view", TRIPLE, "THTensor_newNarrow h2 0 0 3 -> h7\nTHTensor_cos h2 h0"},
    {"a hook that scales the gradient of a result", VECTOR, "THTensor_mul h3 h0 2\nTHTensor_addHook h3 2\nTHTensor_cmul h4 h3 h3"},
    {"rows of a matrix, written through split", TRIPLE,
     "THTensor_split h2 1 0 -> h7\nTHTensor_squeeze h7 h7\nTHTensor_cmul h7 h0 h0\nTHTensor_squeeze h8 h8\nTHTensor_mul h8 h0 3"},
};

/* Reads one argument into a step. */
static bool read_argument(const char *text, struct step *step, int k, char letter) {
    if (strchr("ovmihsS", letter)) return sscanf(text, "h%d", &step->slot[k]) == 1;
    if (letter == 'x') return sscanf(text, "%lf", &step->x[k]) == 1;
    if (strchr("ZDE", letter)) {
        char *at = strchr(text, '{');
        for (step->len = 0; at && *at != '}' && *at && step->len < MOST_DIMS; step->len++) step->list[step->len] = strtol(at + 1, &at, 10);
        return at && *at == '}';
    }
    long long n;
    if (sscanf(text, "%lld", &n) != 1) return false;
    step->n[k] = n;
    return true;
}

/* Reads one line; false if it is none. */
static bool read_line(char *line, struct step *step) {
    char *word = strtok(line, " ");
    memset(step, 0, sizeof *step);
    step->made = 1;
    if (!word) return false;
    step->f = function_named(word);
    for (int k = 0; step->f->letters[k]; k++) {
        /* The length comes with the list; the other letters have no text. */
        if (strchr("l0MNK", step->f->letters[k])) continue;
        word = strtok(NULL, " ");
        if (!word || !read_argument(word, step, k, step->f->letters[k])) return false;
    }
    word = strtok(NULL, " ");
    if (!word) return true;
    word = strtok(NULL, " ");
    return word && sscanf(word, "h%d", &step->made) == 1;
}

static bool read_fault(const struct fault *fault, struct sequence *sequence) {
    const char *from = fault->calls;
    sequence->count = 0;
    while (*from) {
        char line[200];
        size_t n = strcspn(from, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, from);
        from += n + (from[n] == '\n');
        if (sequence->count == MOST_STEPS || !read_line(line, &sequence->step[sequence->count++])) {
            fprintf(stderr, "FAILED: %s: a line cannot be read: %.*s\n", fault->name, (int)n, from - n - 1);
            return false;
        }
    }
    return true;
}

#endif
