/* The library's threads and the program's: signals, the end of the process, the end of threads. */
#define _GNU_SOURCE
#include "check.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void wait_a_moment(void) {
    const struct timespec moment = {0, 1000000};
    nanosleep(&moment, NULL);
}

/* The number of threads of this process. */
static int threads(void) {
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks) return -1;
    for (struct dirent *task; (task = readdir(tasks));) count += task->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* Computes until the library's threads work. */
static void start_workers(void) {
    THTensor *t = THTensor_newOnes(TH_FLOAT32, SIZES(1 << 20));
    CHECK_OK(THSetNumThreads(3));
    for (int i = 0; i < 1000 && threads() < 3; i++) CHECK_NEAR(THTensor_sumall(t), 1 << 20, 0);
    CHECK_EQ(threads(), 3);
    THTensor_free(t);
}

static volatile sig_atomic_t handled, handled_elsewhere;
static pthread_t program;

static void handle(int signal) {
    (void)signal;
    handled++;
    handled_elsewhere += !pthread_equal(pthread_self(), program);
}

static void signals_are_handled_by_the_programs_threads(void) {
    struct sigaction action = {.sa_handler = handle}, before;
    sigset_t mask, unmasked;
    program = pthread_self();
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    CHECK_EQ(sigaction(SIGUSR1, &action, &before), 0);
    start_workers();
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &mask, &unmasked), 0);
    CHECK_EQ(kill(getpid(), SIGUSR1), 0);
    for (int i = 0; i < 50; i++) wait_a_moment();
    CHECK_EQ(handled, 0);
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, &unmasked, NULL), 0);
    CHECK_EQ(handled, 1);
    CHECK_EQ(handled_elsewhere, 0);
    CHECK_EQ(sigaction(SIGUSR1, &before, NULL), 0);
}

/* Returns true if a process ends by itself within ten seconds, with status 0. */
static int ends(pid_t process) {
    for (int i = 0; i < 10000; i++) {
        int status = -1;
        if (waitpid(process, &status, WNOHANG) == process) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        wait_a_moment();
    }
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
    return 0;
}

/* Becomes another program. Otherwise memory checkers would report the memory of the parent's threads as leaks. */
static void become_another_program(void) { execlp("true", "child", (char *)NULL); }

static void a_process_ends_with_its_own_last_thread(void) {
    if (under_emulator()) return;
#if defined(__linux__) && !defined(__GLIBC__)
    /* In musl 1.2.3, a forked child never ends if its first thread calls pthread_exit while others run. */
    return;
#endif
    pid_t child = fork();
    if (child == 0) {
        if (getenv("THORN_UNDER_VALGRIND")) atexit(become_another_program);
        start_workers();
        if (check_failures) _exit(1);
        pthread_exit(NULL);
    }
    CHECK(child > 0 && ends(child));
}

/* The number of times that an ending thread found its data missing, and the number of times that it looked. Destructors
 * run in the order in which their keys were made, so one runs before the library's destructor and one after it. */
static int found_nothing, looked;

static void look(void *value) {
    (void)value;
    looked++;
    found_nothing += THGetLastError() == NULL;
    if (THSetNumThreads(0) != TH_ERR_ARGUMENT || THGetLastErrorCode() != TH_ERR_ARGUMENT) found_nothing++;
    found_nothing += THGetLastError() == NULL || THGetLastError()[0] == 0;
    THClearLastError();
    if (THGetLastError() == NULL || THGetLastError()[0] != 0 || THGetLastErrorCode() != TH_OK) found_nothing++;
    THTensor_free(THTensor_newOnes(TH_FLOAT32, SIZES(10)));
}

static void *end_looking(void *keys) {
    for (int i = 0; i < 2; i++) pthread_setspecific(((pthread_key_t *)keys)[i], keys);
    THSetNumThreads(0);
    return NULL;
}

static void errors_work_until_a_thread_is_gone(void) {
    pthread_key_t keys[2];
    pthread_t thread;
    CHECK_EQ(pthread_key_create(&keys[0], look), 0);
    THSetNumThreads(0);
    THTensor_free(THTensor_new());
    CHECK_EQ(pthread_key_create(&keys[1], look), 0);
    CHECK_EQ(pthread_create(&thread, NULL, end_looking, keys), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(looked, 2);
    CHECK_EQ(found_nothing, 0);
    for (int i = 0; i < 2; i++) pthread_key_delete(keys[i]);
}

static void cores_are_those_of_the_machine(void) {
    CHECK(THGetNumCores() >= 1);
    CHECK(THGetNumCores() <= sysconf(_SC_NPROCESSORS_ONLN));
}

CHECK_MAIN(CASE(cores_are_those_of_the_machine), CASE(errors_work_until_a_thread_is_gone), CASE(signals_are_handled_by_the_programs_threads),
           CASE(a_process_ends_with_its_own_last_thread))
