// Timing: thorn and its competitors take turns, so that all see the machine in the same state.
#ifndef RACE_H
#define RACE_H

#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <thorn.h>

#include "limits.h"

enum { MIN_KEPT = 4, MAX_ROUNDS = 4096, MAX_RUNNERS = 4 };

static double secondsPerRow = 2.5;

// The first line of a file that starts with `key`, or the text after its colon if the line has a key; "" without such a
// line.
static const char *lineOf(const char *path, const char *key) {
    static char line[256];
    FILE *file = fopen(path, "r");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) found = strncmp(line, key, strlen(key)) == 0;
    if (file) fclose(file);
    line[found ? strcspn(line, "\n") : 0] = 0;
    return *key && strchr(line, ':') ? strchr(line, ':') + 2 : line;
}

static cpu_set_t allCores, firstCore, secondCore;

// Finds two cores, or only one. The hardware threads of a core count as one.
static int findCores(void) {
    char first[256], path[80];
    sched_getaffinity(0, sizeof allCores, &allCores);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allCores)) continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
        const char *siblings = lineOf(path, "");
        if (CPU_COUNT(&firstCore) == 0) {
            CPU_SET(cpu, &firstCore);
            strcpy(first, siblings);
        } else if (!*siblings || strcmp(first, siblings) != 0) {
            CPU_SET(cpu, &secondCore);
            return 2;
        }
    }
    return 1;
}

// Pins this thread to `mine`, and all others of the process to `theirs`, because some systems kept both on one core for
// seconds.
static void placeThreads(const cpu_set_t *mine, const cpu_set_t *theirs) {
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        pid_t id = (pid_t)atoi(task->d_name);
        if (id > 0) sched_setaffinity(id, sizeof *mine, id == getpid() ? mine : theirs);
    }
    if (tasks) closedir(tasks);
}

// Makes the measured call `calls` times.
typedef void Work(const void *with, int calls);

// A participant of a row: thorn, or a competitor.
typedef struct {
    const char *name;
    Work *work;
    const void *with;
    int threads;
    bool partner; // the second thread is limits.h's partner, not a thread of thorn's pool
    int slices;   // a call does one of `slices` slices of the work, and its time is multiplied by `slices`
    int calls;    // in a sample
    int kept;     // samples
    double best, median;
    double pace; // the median of its time divided by the time of the row's first participant in the same round
    long faults; // page faults in all samples
} Runner;

// Ends the program if thorn refuses a call.
static void check(THStatus status) {
    if (status == TH_OK) return;
    fprintf(stderr, "foundation: %s\n", THGetLastError());
    exit(1);
}

static double clockNs(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static double now(void) { return clockNs(CLOCK_MONOTONIC); }

// The resources that this process has used so far.
static struct rusage usage(void) {
    struct rusage soFar;
    getrusage(RUSAGE_SELF, &soFar);
    return soFar;
}

static Runner thorn(Work *work, const void *with, int threads) {
    return (Runner){.name = "thorn", .work = work, .with = with, .threads = threads, .slices = 1};
}

// A participant of this file. Its second thread is the partner.
static Runner limit(const char *name, Work *work, const void *with, int threads) {
    return (Runner){.name = name, .work = work, .with = with, .threads = threads, .partner = threads > 1, .slices = 1};
}

// Brings the operands back into the caches, and the machine into its steady state. A Zen 5 still took half as long
// again after one call, and its last cache needs a dozen calls for operands that fill it. Calls of more than a few
// milliseconds have no such state. Also wakes the other thread, because waking takes longer than many operations.
static void warmUp(const Runner *runner, int threads) {
    const double settled = 8e6, awake = 300e3;
    double start = now(), spent = 0;
    for (int calls = 0; (calls < 15 && spent < settled) || (threads > 1 && spent < awake); calls++) {
        runner->work(runner->with, 1);
        spent = now() - start;
    }
}

// The time of a call in ns, and whether it counts.
typedef struct {
    double time;
    bool counts;
} Sample;

// Takes a sample in a row of up to `threads` threads. A sample does not count if the system preempted a thread. But a
// long sample of a single thread is measured by the thread's own clock, which stops during preemption and is wrong by
// only microseconds.
static Sample sample(Runner *runner, int threads) {
    check(THSetNumThreads(runner->threads));
    if (runner->partner) startPartner();
    if (threads > 1) placeThreads(&firstCore, &secondCore);
    warmUp(runner, threads);
    struct rusage before = usage();
    double own = clockNs(CLOCK_THREAD_CPUTIME_ID), start = now();
    runner->work(runner->with, runner->calls);
    double time = now() - start;
    own = clockNs(CLOCK_THREAD_CPUTIME_ID) - own;
    struct rusage after = usage();
    if (runner->partner) endPartner();
    runner->faults += after.ru_minflt - before.ru_minflt;
    bool disturbed = after.ru_nivcsw != before.ru_nivcsw, byOwnClock = disturbed && threads == 1 && own > 1e6;
    return (Sample){(byOwnClock ? own : time) * runner->slices / runner->calls, !disturbed || byOwnClock};
}

// Sets the calls of a sample, so that reading the clock is negligible, and the sample is short enough to be
// undisturbed.
static void setCalls(Runner *runner, int threads) {
    const double enough = 50e3;
    runner->calls = 1;
    while (sample(runner, threads).time * runner->calls < enough * runner->slices) runner->calls *= 2;
    runner->faults = 0;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The median of `count` numbers, which are sorted in place.
static double middle(double *numbers, int count) {
    qsort(numbers, (size_t)count, sizeof *numbers, ascending);
    return count ? numbers[count / 2] : INFINITY;
}

// A round of a race: the time of each runner, or 0 if it does not count.
typedef double Round[MAX_RUNNERS];

static void summarise(Runner *runners, int count, const Round *rounds, int raced) {
    static double numbers[MAX_ROUNDS];
    for (int i = 0; i < count; i++) {
        int pairs = 0, kept = 0;
        for (int r = 0; r < raced; r++) {
            if (rounds[r][i] > 0 && rounds[r][0] > 0) numbers[pairs++] = rounds[r][i] / rounds[r][0];
        }
        runners[i].pace = middle(numbers, pairs);
        for (int r = 0; r < raced; r++) {
            if (rounds[r][i] > 0) numbers[kept++] = rounds[r][i];
        }
        runners[i].median = middle(numbers, kept);
        runners[i].best = kept ? numbers[0] : INFINITY;
    }
}

// Runs the participants in turn until the time is over, or twice the time if many samples are lost.
static void race(Runner *runners, int count, int threads) {
    static Round rounds[MAX_ROUNDS];
    for (int i = 0; i < count; i++) setCalls(&runners[i], threads);
    double start = now(), spent = 0;
    int fewest = 0, round = 0;
    for (; round < MAX_ROUNDS && (spent < 1 || (spent < 2 && fewest < MIN_KEPT)); round++) {
        fewest = MAX_ROUNDS;
        for (int i = 0; i < count; i++) {
            Sample taken = sample(&runners[i], threads);
            rounds[round][i] = taken.counts ? taken.time : 0;
            runners[i].kept += taken.counts;
            if (runners[i].kept < fewest) fewest = runners[i].kept;
        }
        spent = (now() - start) / (1e9 * secondsPerRow);
    }
    placeThreads(&allCores, &allCores);
    summarise(runners, count, rounds, round);
}

#endif
