// The version that an emulated library reports.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

// Reads a version like `12.4` from the variable. Otherwise takes the major version from the file name of the library: `libnvrtc.so.12`.
static inline void version_of(const char *variable, void *function, int *major, int *minor) {
    *major = 13, *minor = 0;
    const char *text = getenv(variable);
    if (text && sscanf(text, "%d.%d", major, minor) > 0) return;
    Dl_info self;
    const char *end = dladdr(function, &self) ? strstr(self.dli_fname, ".so.") : nullptr;
    if (end) sscanf(end, ".so.%d", major);
}
