/*
 * The rule of gradients: for any sequence of calls, the gradient of the number at the end equals its finite difference,
 * or a call on the way was an error.
 *
 * A sequence is drawn and run with a leaf whose gradient is wanted. At the end each handle is reduced to a number, a
 * weighted sum of its elements, and backward gives the gradient of the number. Replays make the same calls without
 * recording, with an element of the leaf moved by a little, so that the number has a central difference. A call that
 * failed is left out of the replays. README.md in c_tests lists the values that a replay holds constant.
 *
 *     differences [--sequences N] [--seed S] [--only SEQUENCE] [--seconds N] [--failures N]
 *                 [--without NAME] [--counts]
 *
 * A sequence that breaks the rule is shortened, and printed as a program in C. --only repeats one sequence, and
 * --without leaves out functions whose names contain NAME. Fixed
 * sequences run first: each is a fault that a version of the library had.
 */
#include "draw.h"
#include "faults.h"

#include <time.h>

static struct { long sequences, seed, only, seconds, failures; } options = {1300, 1, -1, 40, 20};

static struct {
    bool stopped; /* true while a fixed sequence runs, or one is shortened */
    long sequences, too_large, numbers, dependent, refused, kinks, calls[LENGTH(FUNCTIONS)];
} seen;

static long current_sequence;

/* What is wrong with a sequence. */
struct verdict {
    const char *fault; /* NULL if the sequence keeps the rule */
    int slot;
    double gradient[LEAF_ELEMENTS], difference[LEAF_ELEMENTS];
};

static bool is_near(const double *gradient, const double *difference, int n, double tolerance) {
    double scale = 1;
    for (int j = 0; j < n; j++) scale = fmax(scale, fabs(difference[j]));
    for (int j = 0; j < n; j++)
        if (!(fabs(gradient[j] - difference[j]) <= tolerance * scale)) return false;
    return true;
}

/* Float32 handles round values by 6e-8 of their size, and later operations increase the error. */
static double tolerance_of(const struct first *first, int steps) {
    for (int i = 0; i < steps; i++)
        for (int k = 0; k < SLOTS; k++) {
            const THTensor *t = first->run.t[k];
            if (t && t->dtype == TH_FLOAT32 && t->storage) return 1e-3;
        }
    return 1e-5;
}

/* A replay with the leaf unmoved must compute the numbers of the first run. */
static bool repeats_numbers(struct first *first, const struct sequence *sequence, const struct start *start,
                            double tolerance, struct verdict *verdict) {
    double number[SLOTS];
    if (!replay_numbers(first, sequence, start, 0, 0, 0, number)) {
        verdict->fault = "a call behaves in another way while nothing is recorded";
        return false;
    }
    for (int k = 0; k < SLOTS; k++) {
        double expected = number_of(&first->run, k);
        if (isfinite(expected) && fabs(expected) < 1e3 &&
            !(fabs(number[k] - expected) <= tolerance * (1 + fabs(expected)))) {
            verdict->fault = "a value differs while nothing is recorded";
            verdict->slot = k;
            verdict->gradient[0] = expected;
            verdict->difference[0] = number[k];
            return false;
        }
    }
    return true;
}

static bool depends(const double *gradient, int n) {
    for (int j = 0; j < n; j++)
        if (gradient[j] != 0) return true;
    return false;
}

/* Compares the gradients of the numbers of all handles with their differences. */
static struct verdict compare(struct first *first, const struct sequence *sequence, const struct start *start) {
    static double difference[MODES][SLOTS][LEAF_ELEMENTS];
    struct verdict verdict = {first->fault, 0, {0}, {0}};
    int modes = 0, n = (int)leaf_size(start);
    double tolerance = tolerance_of(first, sequence->count);
    THGrad_setEnabled(1);
    if (verdict.fault || !repeats_numbers(first, sequence, start, tolerance, &verdict)) return verdict;
    for (int k = 0; k < SLOTS; k++) {
        double number = first->run.t[k] ? number_of(&first->run, k) : NAN;
        if (!(fabs(number) < 1e3) || !has_storage(first->run.t[k])) continue;
        enum outcome outcome = gradient_of(first, k, verdict.gradient, n);
        seen.numbers += !seen.stopped;
        seen.refused += !seen.stopped && outcome == REFUSED;
        verdict.fault = first->fault;
        verdict.slot = k;
        if (verdict.fault) return verdict;
        if (outcome == REFUSED) continue;
        bool holds = false, is_smooth = true;
        for (int mode = 0; mode < MODES && !holds && is_smooth; mode++) {
            if (mode == modes && differences(first, sequence, start, mode, difference[mode])) modes++;
            if (mode >= modes) break;
            for (int j = 0; j < n; j++) is_smooth = is_smooth && !isnan(difference[mode][k][j]);
            holds = is_near(verdict.gradient, difference[mode][k], n, tolerance);
        }
        seen.kinks += !seen.stopped && !is_smooth;
        seen.dependent += !seen.stopped && is_smooth && depends(verdict.gradient, n);
        if (holds || !is_smooth) continue;
        verdict.fault = "the gradient is not the difference";
        verdict.slot = k;
        memcpy(verdict.difference, difference[0][k], sizeof verdict.difference);
        return verdict;
    }
    return verdict;
}

/* All memory must be freed once the handles of a sequence are freed. */
static void check_memory(int64_t live, struct verdict *verdict) {
    if (THMemory_liveBytes() == live || verdict->fault) return;
    verdict->fault = "memory is live after all handles were freed";
    verdict->gradient[0] = (double)THMemory_liveBytes();
    verdict->difference[0] = (double)live;
}

/* Runs the sequence again, and prints the calls to `to` if that is not NULL. */
static struct verdict judge(const struct sequence *sequence, const struct start *start, FILE *to) {
    static struct first first;
    struct verdict verdict = {NULL, 0, {0}, {0}};
    bool fits = true;
    int64_t live = THMemory_liveBytes();
    begin_first(&first, start);
    for (int i = 0; i < sequence->count && fits && !first.fault; i++) fits = first_step(&first, sequence, i, to);
    if (fits) verdict = compare(&first, sequence, start);
    end_run(&first.run);
    check_memory(live, &verdict);
    return verdict;
}

/* Removes calls as long as the sequence still breaks the rule. */
static void shorten(struct sequence *sequence, const struct start *start) {
    bool shorter = true;
    while (shorter) {
        shorter = false;
        for (int i = sequence->count - 1; i >= 0; i--) {
            struct sequence less = *sequence;
            memmove(&less.step[i], &less.step[i + 1], (size_t)(less.count - i - 1) * sizeof *less.step);
            less.count--;
            if (!judge(&less, start, NULL).fault) continue;
            *sequence = less;
            shorter = true;
        }
    }
}

static void print_numbers(const char *what, const double *x, int n) {
    fprintf(stderr, "%s", what);
    for (int j = 0; j < n; j++) fprintf(stderr, " %.8g", x[j]);
    fputc('\n', stderr);
}

static void print_failure(const struct sequence *sequence, const struct start *start) {
    int n = (int)leaf_size(start);
    fprintf(stderr, "    THTensor *h0 = leaf(%d, (int64_t[]){%lld, %lld}); // ", start->ndim, (long long)start->size[0],
            (long long)start->size[1]);
    print_numbers(start->is_view ? "a view of h1[1:-1]:" : "elements:", LEAF_VALUES, n);
    fprintf(stderr, "    // h1: %d elements, h2: zeros of [3, 3], h3, h4: fresh, h5: fresh float32, h6: like h0\n",
            n + 2);
    struct verdict verdict = judge(sequence, start, stderr);
    fprintf(stderr, "    // h%d: %s\n", verdict.slot, verdict.fault);
    print_numbers("    // gradient:  ", verdict.gradient, n);
    print_numbers("    // difference:", verdict.difference, n);
}

static bool passes(struct sequence *sequence, const struct start *start, const char *name) {
    if (!judge(sequence, start, NULL).fault) return true;
    shorten(sequence, start);
    fprintf(stderr, "FAILED: %s\n", name);
    print_failure(sequence, start);
    return false;
}

static long run_faults(void) {
    long failures = 0;
    seen.stopped = true;
    for (int i = 0; i < LENGTH(FAULTS); i++) {
        struct sequence sequence;
        if (!read_fault(&FAULTS[i], &sequence)) return failures + 1;
        failures += !passes(&sequence, &FAULTS[i].start, FAULTS[i].name);
    }
    seen.stopped = false;
    return failures;
}

static bool run_random(long number) {
    static struct sequence sequence;
    static struct first first;
    struct start start;
    char name[40];
    random_state = (uint64_t)options.seed * 1000003u + (uint64_t)number;
    int64_t live = THMemory_liveBytes();
    bool fits = draw_sequence(&sequence, &first, &start);
    struct verdict verdict = {NULL, 0, {0}, {0}};
    if (fits) verdict = compare(&first, &sequence, &start);
    end_run(&first.run);
    check_memory(live, &verdict);
    seen.sequences++;
    seen.too_large += !fits;
    for (int i = 0; i < sequence.count; i++)
        if (first.record[i].done && sequence.step[i].f >= FUNCTIONS &&
            sequence.step[i].f < FUNCTIONS + LENGTH(FUNCTIONS))
            seen.calls[sequence.step[i].f - FUNCTIONS]++;
    if (!verdict.fault) return true;
    snprintf(name, sizeof name, "sequence %ld", number);
    seen.stopped = true;
    if (passes(&sequence, &start, name))
        fprintf(stderr, "FAILED: %s, %s, but not when it is run again\n", name, verdict.fault);
    seen.stopped = false;
    return false;
}

static void on_signal(int number) {
    char text[80];
    int n = snprintf(text, sizeof text, "FAILED: signal %d in sequence %ld\n", number, current_sequence);
    if (write(STDERR_FILENO, text, (size_t)n) < 0) _exit(3);
    signal(number, SIG_DFL);
    raise(number);
}

static bool read_options(int argc, char **argv, bool *counts) {
    for (int i = 1; i < argc; i++) {
        long *value = strcmp(argv[i], "--sequences") == 0  ? &options.sequences
                      : strcmp(argv[i], "--seed") == 0     ? &options.seed
                      : strcmp(argv[i], "--only") == 0     ? &options.only
                      : strcmp(argv[i], "--seconds") == 0  ? &options.seconds
                      : strcmp(argv[i], "--failures") == 0 ? &options.failures
                                                           : NULL;
        if (strcmp(argv[i], "--counts") == 0)
            *counts = true;
        else if (strcmp(argv[i], "--without") == 0 && i + 1 < argc && without_count < MOST_WITHOUT)
            without[without_count++] = argv[++i];
        else if (!value || i + 1 == argc)
            return false;
        else
            *value = atol(argv[++i]);
    }
    return true;
}

int main(int argc, char **argv) {
    static const int signals[] = {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL};

    bool counts = false;
    if (!read_options(argc, argv, &counts)) {
        fprintf(stderr,
                "usage: %s [--sequences N] [--seed S] [--only SEQUENCE] [--seconds N] [--failures N] [--without NAME] "
                "[--counts]\n",
                argv[0]);
        return 2;
    }
    for (int i = 0; i < LENGTH(signals); i++) signal(signals[i], on_signal);
    THSetNumThreads(1);
    long failures = options.only >= 0 ? 0 : run_faults(), first = options.only >= 0 ? options.only : 0;
    long end = options.only >= 0 ? first + 1 : options.sequences;
    clock_t limit = options.seconds * CLOCKS_PER_SEC;
    for (current_sequence = first; current_sequence < end && failures < options.failures && clock() < limit;
         current_sequence++)
        failures += !run_random(current_sequence);
    for (int i = 0; counts && i < LENGTH(FUNCTIONS); i++) printf("%8ld %s\n", seen.calls[i], FUNCTIONS[i].name);
    printf("seed %ld: %ld sequences, %ld too large; %ld numbers, %ld depend on the leaf, %ld refused, %ld near a kink; "
           "%ld failures\n",
           options.seed, seen.sequences, seen.too_large, seen.numbers, seen.dependent, seen.refused, seen.kinks,
           failures);
    if (failures) printf("again: %s --seed %ld --only SEQUENCE\n", argv[0], options.seed);
    return failures != 0;
}
