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

static const struct fault FAULTS[] = {
    {"resize of a result to its own size", VECTOR, "THTensor_mul h3 h0 2\nTHTensor_resize1d h3 2\n"},
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
