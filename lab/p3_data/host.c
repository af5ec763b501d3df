// Times launches on the host. gcc -O2 -shared -fPIC host.c -o host.so -ldl
#include <dlfcn.h>
#include <time.h>
typedef int (*Launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
typedef int (*Get)(void **);
typedef int (*Set)(void *);
typedef int (*Sync)(void *);
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return 1e6 * t.tv_sec + 1e-3 * t.tv_nsec; }
// µs of a launch: the best of `rounds` rounds of `calls` launches. mode 1: the context is asked first; 2: parameters as a buffer;
// 3: without a current context before and after, as a call of the library in a C program.
double bench(void *function, void *stream, unsigned threads, void *args, unsigned long bytes, int mode, int rounds, int calls) {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    Launch launch = (Launch)dlsym(lib, "cuLaunchKernel");
    Get get = (Get)dlsym(lib, "cuCtxGetCurrent");
    Sync sync = (Sync)dlsym(lib, "cuStreamSynchronize");
    Set set = (Set)dlsym(lib, "cuCtxSetCurrent");
    double best = 1e30;
    void *own;
    get(&own);
    for (int r = 0; r < rounds; r++) {
        sync(stream);
        if (mode == 3) set(0);
        double began = now();
        for (int c = 0; c < calls; c++) {
            void *context, *params[] = {args}, *extra[] = {(void *)1, args, (void *)2, &bytes, 0};
            if (mode & 1) get(&context);
            if (mode == 3) set(own);
            if (launch(function, 1, 1, 1, threads, 1, 1, 0, stream, mode == 2 ? 0 : params, mode == 2 ? extra : 0)) return -1;
            if (mode == 3) set(0);
        }
        double took = (now() - began) / calls;
        if (took < best) best = took;
        if (mode == 3) set(own);
    }
    sync(stream);
    return best;
}
double bench_get(int calls) {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW), *context;
    Get get = (Get)dlsym(lib, "cuCtxGetCurrent");
    double began = now();
    for (int c = 0; c < calls; c++) get(&context);
    return (now() - began) / calls;
}
