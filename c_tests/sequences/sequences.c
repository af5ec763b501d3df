/*
 * Random sequences of calls of every function of thorn.h, with arguments valid and hostile: NULL, negative and huge
 * numbers, NaN, fresh handles, views, shared storages, storages that shrink below their tensors. scripts/sequences.py
 * writes calls.h, a function for each of the header's.
 *
 * No call may crash, hang or leak. A failure has a status, a message that begins with the function's name, and has
 * changed nothing: neither fields nor elements of the handles passed. When all handles of a sequence are given up, no
 * byte is live, no descriptor is open, and every deleter was called once.
 *
 *     sequences [--calls N] [--seed S] [--only SEQUENCE] [--trace] [--failures N] [--counts]
 *
 * --counts prints for each function the number of calls, and the number of successful calls.
 */
#include "exchange.h"
#include "files.h"
#include "gradients.h"
#include "handles.h"
#include "programs.h"
#include "runtime.h"
#include "sparse.h"
#include "special.h"

#include "calls.h"

enum { CALLS_OF_A_SEQUENCE = 64 };

struct progress {
    long sequence; /* the sequence that runs */
    long failures;
};

static struct {
    long calls, seed, only, failures;
} options = {200000, 1, -1, 20};

static bool counting;

/* Returns the descriptor that the process would get next. A larger one than before means that descriptors were left
 * open. */
static int next_descriptor(void) {
    int fd = dup(STDIN_FILENO);
    close(fd);
    return fd;
}

static void run_sequence(long sequence) {
    int64_t live = THMemory_liveBytes();
    int descriptor = next_descriptor();
    begin_sequence(options.seed, sequence);
    for (int i = 0; i < CALLS_OF_A_SEQUENCE; i++) CALLS[current_call = below(LENGTH(CALLS))]();
    end_sequence();
    if (next_descriptor() != descriptor) fail("descriptor %d was left open", descriptor);
    if (THMemory_liveBytes() != live)
        fail("%ld bytes are live after all handles were given up", (long)(THMemory_liveBytes() - live));
}

static void run(struct progress *progress, long end) {
    watch();
    for (; progress->sequence < end; progress->sequence++) {
        current_sequence = progress->sequence;
        run_sequence(progress->sequence);
    }
}

static void *shared(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
    return memory;
}

/* A failure ends a child process. The next child continues with the next sequence. */
static long run_in_children(long first, long end) {
    struct progress *progress = shared(sizeof *progress);
    progress->sequence = first;
    while (progress->sequence < end && progress->failures < options.failures) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            forget_files(getpid());
            run(progress, end);
            exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        forget_files(child);
        if (status != 0) {
            progress->failures++;
            fprintf(stderr, "sequence %ld failed (%s %d)\n\n", progress->sequence,
                    WIFSIGNALED(status) ? "signal" : "exit status",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
            progress->sequence++;
        }
    }
    return progress->failures;
}

static void read_options(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (strcmp(name, "--trace") == 0 || strcmp(name, "--counts") == 0) {
            *(name[2] == 't' ? &tracing : &counting) = true;
            continue;
        }
        long *value = strcmp(name, "--calls") == 0      ? &options.calls
                      : strcmp(name, "--seed") == 0     ? &options.seed
                      : strcmp(name, "--only") == 0     ? &options.only
                      : strcmp(name, "--failures") == 0 ? &options.failures
                                                        : NULL;
        if (!value || i + 1 == argc) {
            fprintf(stderr, "usage: %s [--calls N] [--seed S] [--only SEQUENCE] [--trace] [--failures N] [--counts]\n",
                    argv[0]);
            exit(2);
        }
        *value = atol(argv[++i]);
    }
}

int main(int argc, char **argv) {
    read_options(argc, argv);
    /* One worker thread in addition to the calling thread, so that work is shared on every machine. */
    setenv("TH_NUM_THREADS", "2", 0);
    long first = options.only >= 0 ? options.only : 0;
    long end = options.only >= 0 ? first + 1 : (options.calls + CALLS_OF_A_SEQUENCE - 1) / CALLS_OF_A_SEQUENCE;
    counts = shared(LENGTH(CALLS) * sizeof *counts);
    long failures = run_in_children(first, end);
    for (int i = 0; counting && i < LENGTH(CALLS); i++)
        printf("%8ld of %8ld %s\n", counts[i][1], counts[i][0], NAMES[i]);
    printf("seed %ld: %ld sequences of %d calls, %ld failed\n", options.seed, end - first, CALLS_OF_A_SEQUENCE,
           failures);
    if (failures) printf("again: %s --seed %ld --only SEQUENCE --trace\n", argv[0], options.seed);
    return failures != 0;
}
