/* Lets ranks of MPICH that share a core yield to each other. This library is loaded before the program, and calls sched_yield after each
 * step of the network library (UCX) that MPICH makes while it waits. MPICH itself polls until its time slice is over. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker) {
    static unsigned (*progress)(void *);
    if (!progress) *(void **)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned done = progress(worker);
    if (!done) sched_yield();
    return done;
}
