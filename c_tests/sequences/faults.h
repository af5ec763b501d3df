/* Fixed sequences for the rule of gradients: in each, a version of the library silently lost a history. */
#ifndef THORN_SEQUENCES_FAULTS_H
#define THORN_SEQUENCES_FAULTS_H

#include "steps.h"

/* A sequence as text: calls with slots as `h2` and lists as `{2,3}`; `-> h4` is the slot of a new handle. A name
 * without a prefix is a function of tensors. */
struct fault {
    const char *name;
    struct start start;
    const char *calls;
};

#define VECTOR                                                                                                         \
    { {2, 0}, 1, false }
#define TRIPLE                                                                                                         \
    { {3, 0}, 1, false }

static const struct fault FAULTS[] = {
    {"resize of a result to its own size", VECTOR, "mul h3 h0 2; resize1d h3 2; cadd h4 h3 1 h0"},
    {"resizeAs of a result to its own size", VECTOR, "mul h3 h0 2; resizeAs h3 h0; cadd h4 h3 1 h0"},
    {"a part of a result by resize", TRIPLE, "mul h3 h0 2; resize1d h3 2"},
    {"setRequiresGrad(view, 0), then a write through the view", TRIPLE,
     "newSelect h2 0 0 -> h7; setRequiresGrad h7 0; mul h3 h0 3; "
     "newSelect h2 0 1 -> h8; copy h8 h3; copy h7 h3"},
    {"detach(base), then writes through older views", TRIPLE,
     "newSelect h2 0 0 -> h7; detach h2; mul h3 h0 3; "
     "newSelect h2 0 1 -> h8; copy h8 h3; copy h7 h3"},
    {"a view made while recording is off, filled while it is on", VECTOR,
     "mul h3 h0 2; THGrad_setEnabled 0; newSelect h3 0 0 -> h7; "
     "THGrad_setEnabled 1; fill h7 0"},
    {"a view made while recording is off, multiplied in place while it is on", VECTOR,
     "mul h3 h0 2; THGrad_setEnabled 0; newSelect h3 0 0 -> h7; "
     "THGrad_setEnabled 1; mul h7 h7 5"},
    {"setFlag of a result", VECTOR, "mul h3 h0 2; setFlag h3 1"},
    {"clearFlag of a result", VECTOR, "mul h3 h0 2; clearFlag h3 2"},
    {"newWithStorage1d of a result", VECTOR, "mul h3 h0 2; newWithStorage1d h3 0 2 1 -> h7; cadd h4 h3 1 h7"},
    {"newWithStorage1d of a result, written", VECTOR, "mul h3 h0 2; newWithStorage1d h3 1 1 1 -> h7; fill h7 0.5"},
    {"setStorage1d on a result", VECTOR, "mul h3 h0 2; setStorage1d h4 h3 0 2 1"},
    {"THStorage_fill on a saved tensor", VECTOR, "add h3 h0 1; cmul h4 h3 h3; THStorage_fill h3 7"},
    {"THStorage_set on a saved tensor", VECTOR, "add h3 h0 1; cmul h4 h3 h3; THStorage_set h3 0 100"},
    {"THStorage_rawCopy on a saved tensor", VECTOR, "add h3 h0 1; cmul h4 h3 h3; THStorage_rawCopy h3"},
    {"THStorage_copy on a saved tensor", VECTOR, "add h3 h0 1; cmul h4 h3 h3; THStorage_copy h3 h6"},
    {"THStorage_swap on a saved tensor", VECTOR, "add h3 h0 1; cmul h4 h3 h3; THStorage_swap h3 h6"},
    {"a result in a handle with fewer digits than the operand", TRIPLE, "amax h5 h0 0 0"},
    {"a result that a write to another handle of its storage replaces", VECTOR,
     "newDetach h6 -> h7; add h7 h0 0.5; fill h6 1"},
    {"a result that becomes shorter in its storage, and its older view", TRIPLE, "newNarrow h2 0 0 3 -> h7; cos h2 h0"},
    {"a view of a result that became shorter in its storage", TRIPLE,
     "select h2 h2 1 1; newExpand h0 {2,3} -> h7; sin h2 h7; newSqueeze h2 -> h8"},
    {"a result that changes its shape in place while recording is off", VECTOR,
     "logsumexp h3 h0 0 1; THGrad_setEnabled 0; cmul h3 h3 h0"},
    {"an expanded view, copied to itself", TRIPLE, "add h3 h0 1; expand h4 h3 {2,3}; copy h4 h4"},
    {"a transposed view that becomes shorter in its storage", TRIPLE, "newT h2 -> h7; mul h3 h0 2; neg h7 h3"},
    {"a result with a new shape in memory that its old base shows", TRIPLE,
     "newNarrow h6 0 0 2 -> h7; matmul h7 h0 h0"},
    {"an element of an expanded view", TRIPLE, "add h3 h0 1; expand h4 h3 {2,3}; setAt h4 {1,1} 0.25"},
    {"a result that is NULL", TRIPLE, "tanh h8 h0"},
    {"a view of a detached handle, and a write to the handle", TRIPLE,
     "newDetach h6 -> h7; newSqueeze h7 -> h8; sin h7 h0"},
    {"resize of a detached handle", TRIPLE, "newDetach h0 -> h7; resizeAs h7 h0"},
    {"setStorage1d on a tensor that gets a history", TRIPLE, "mul h3 h0 2; setStorage1d h3 h6 0 2 1; add h6 h0 0.25"},
    {"a base that grows, and a write through its older view", TRIPLE, "set h3 h6; resize2d h6 2 3; sin h3 h0"},
    {"a resize that fails", VECTOR, "mul h3 h0 2; resize1d h3 3"},
    {"a view that becomes a leaf", VECTOR, "newNarrow h6 0 0 1 -> h7; setRequiresGrad h7 1"},
    {"a hook that scales the gradient of a result", VECTOR, "mul h3 h0 2; addHook h3 2; cmul h4 h3 h3"},
    {"rows of a matrix, written through split", TRIPLE,
     "split h2 1 0 -> h7; squeeze h7 h7; cmul h7 h0 h0; squeeze h8 h8; mul h8 h0 3"},
};

/* Reads one argument into a step. */
static bool read_argument(const char *text, struct step *step, int k, char letter) {
    if (strchr("ovmihsS", letter)) return sscanf(text, "h%d", &step->slot[k]) == 1;
    if (letter == 'x') return sscanf(text, "%lf", &step->x[k]) == 1;
    if (strchr("ZDE", letter)) {
        char *at = strchr(text, '{');
        for (step->len = 0; at && *at != '}' && *at && step->len < MOST_DIMS; step->len++)
            step->list[step->len] = strtol(at + 1, &at, 10);
        return at && *at == '}';
    }
    long long n;
    if (sscanf(text, "%lld", &n) != 1) return false;
    step->n[k] = n;
    return true;
}

/* Reads one call. Returns false if the text is not a call. */
static bool read_call(char *text, struct step *step) {
    char name[60], *word = strtok(text, " ");
    memset(step, 0, sizeof *step);
    step->made = 1;
    if (!word) return false;
    snprintf(name, sizeof name, "%s%s", strncmp(word, "TH", 2) == 0 ? "" : "THTensor_", word);
    step->f = function_named(name);
    for (int k = 0; step->f->letters[k]; k++) {
        /* The length comes from the list. The other letters are not in the text. */
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
        char call[200];
        size_t n = strcspn(from, ";");
        snprintf(call, sizeof call, "%.*s", (int)n, from);
        from += n + (from[n] == ';');
        if (sequence->count == MOST_STEPS || !read_call(call, &sequence->step[sequence->count++])) {
            fprintf(stderr, "FAILED: %s: call %d cannot be read\n", fault->name, sequence->count);
            return false;
        }
    }
    return true;
}

#endif
