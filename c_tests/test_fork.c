/* Children of fork: the process forks while other threads are inside the library, and each child uses the library independently. */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static THTensor *weights, *large;
static THGenerator *generator;
static volatile int stop;
static char directory[64];

/* sum(w^2), whose gradient is 2 w. */
static THStatus loss_of(THTensor *loss) {
    THTensor *square = THTensor_new();
    THStatus status = THTensor_cmul(square, weights, weights);
    if (!status) status = THTensor_sumDims(loss, square, 0, NULL, 0, TH_UNDEFINED);
    THTensor_free(square);
    return status;
}

static THStatus record(int number) {
    (void)number;
    THTensor *loss = THTensor_new(), *view = THTensor_newNarrow(weights, 0, 1, 2);
    THStatus status = loss_of(loss);
    THTensor_free(view);
    THTensor_free(loss);
    return status;
}

static THStatus go_backward(int number) {
    (void)number;
    THTensor *loss = THTensor_new();
    THStatus status = loss_of(loss);
    if (!status) status = THTensor_backward(loss, NULL);
    THTensor_free(loss);
    return status;
}

/* Blocks of all sizes, an operation for the pool, and a transform, whose plans are kept. */
static THStatus compute(int number) {
    (void)number;
    THTensor *sum = THTensor_new(), *spectrum = THTensor_new();
    THStatus status = THTensor_cadd(sum, large, 1, large);
    if (!status) status = THTensor_rfft(spectrum, large, 1, 0, 1);
    THTensor_free(spectrum);
    THTensor_free(sum);
    return status;
}

static THStatus draw(int number) {
    (void)number;
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(1000));
    THStatus status = t ? THTensor_uniform(t, generator, 0, 1) : TH_ERR_NOMEM;
    THTensor_free(t);
    return status;
}

static THStatus use_files(int number) {
    char path[128];
    snprintf(path, sizeof path, "%s/%d.npy", directory, number);
    THTensor *t = THTensor_newArange(TH_FLOAT32, 0, 100, 1);
    THStatus status = THTensor_save(t, path);
    THTensor *read = status ? NULL : THTensor_newLoad(path);
    if (!status && !(read && THTensor_equal(read, t))) status = TH_ERR_INTERNAL;
    THTensor_free(read);
    THTensor_free(t);
    unlink(path);
    return status;
}

typedef THStatus (*Work)(int number);
static const Work works[] = {record, go_backward, compute, draw, use_files};
enum { WORKS = sizeof works / sizeof *works };

static void *work(void *number) {
    for (int i = (int)(intptr_t)number; !stop; i += WORKS) CHECK_OK(works[i % WORKS](i % WORKS));
    return NULL;
}

/* Does all of that in a child, where the gradient starts from zero. Returns 0, or the number of the step that failed. */
static int child(int number) {
    for (int i = 0; i < WORKS; i++)
        if (works[i](100 + number) != TH_OK) return 1 + i;
    if (THTensor_setGrad(weights, NULL) != TH_OK || go_backward(0) != TH_OK) return 50;
    THTensor *gradient = THTensor_newGrad(weights), *expected = THTensor_new();
    int right = gradient && THTensor_mul(expected, weights, 2) == TH_OK && THTensor_equal(gradient, expected);
    THTensor_free(expected);
    THTensor_free(gradient);
    return right ? 0 : 51;
}

/* Ends a child by replacing it with another program. Otherwise memory checkers would report the memory of its parent's threads as leaks. */
static void leave(int status) {
    if (status == 0 && getenv("THORN_UNDER_VALGRIND")) execlp("true", "child", (char *)NULL);
    _exit(status);
}

static void children_forked_beside_threads_work(void) {
    if (under_emulator()) return;
    snprintf(directory, sizeof directory, "/tmp/thorn-test-XXXXXX");
    if (!CHECK(mkdtemp(directory) != NULL)) return;
    weights = check_vector(TH_FLOAT64, (const double[]){1, 2, 3, 4}, 4);
    CHECK_OK(THTensor_setRequiresGrad(weights, 1));
    large = THTensor_newOnes(TH_FLOAT32, SIZES(1 << 16));
    generator = THGenerator_new();
    pthread_t threads[WORKS];
    stop = 0;
    for (intptr_t i = 0; i < WORKS; i++) CHECK_EQ(pthread_create(&threads[i], NULL, work, (void *)i), 0);
    for (int i = 0; i < (int)shrunk(300) && check_failures == 0; i++) {
        pid_t process = fork();
        if (process == 0) {
            alarm(60);
            leave(child(i));
        }
        int status = -1;
        CHECK(process > 0 && waitpid(process, &status, 0) == process);
        /* If the child hangs, SIGALRM ends it. */
        CHECK_EQ(WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status), 0);
    }
    stop = 1;
    for (int i = 0; i < WORKS; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
    THGenerator_free(generator);
    THTensor_free(large);
    THTensor_free(weights);
    CHECK_EQ(rmdir(directory), 0);
}

static volatile int writing;
static int waiting[2];

/* Signals that it is reading, and waits until the other end of the pipe is closed. */
static ptrdiff_t slow_read(void *context, void *buffer, ptrdiff_t size) {
    (void)context;
    char byte;
    writing = 1;
    if (read(waiting[0], &byte, 1) != 0) return -1;
    memset(buffer, 0, (size_t)size);
    return size;
}

static int64_t seek_to(void *context, int64_t offset, int whence) {
    (void)context;
    return whence == SEEK_END ? 1024 : offset;
}

static void *open_slowly(void *context) {
    (void)context;
    THArchive *archive = THArchive_openCallbacks(slow_read, seek_to, NULL);
    CHECK(archive == NULL);
    return NULL;
}

/* A fork does not wait for callbacks. */
static void a_fork_waits_for_no_function_of_the_program(void) {
    CHECK_EQ(pipe(waiting), 0);
    pthread_t thread;
    writing = 0;
    CHECK_EQ(pthread_create(&thread, NULL, open_slowly, NULL), 0);
    while (!writing) usleep(100);
    alarm(60);
    pid_t process = fork();
    if (process == 0) {
        alarm(60);
        THTensor *t = THTensor_newOnes(TH_FLOAT32, SIZES(3));
        int status = t && THTensor_sumall(t) == 3 ? 0 : 1;
        THTensor_free(t);
        leave(status);
    }
    int status = -1;
    CHECK(process > 0 && waitpid(process, &status, 0) == process && status == 0);
    alarm(0);
    close(waiting[1]);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    close(waiting[0]);
}

CHECK_MAIN(CASE(children_forked_beside_threads_work), CASE(a_fork_waits_for_no_function_of_the_program))
