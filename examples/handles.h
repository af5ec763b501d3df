/* Lists of handles: makes and frees the handles of a struct that contains nothing else. */
#ifndef HANDLES_H
#define HANDLES_H

#include <thorn.h>

// A struct of handles as a list, and its length.
#define HANDLES(of) (THTensor **)(of), (int)(sizeof *(of) / sizeof(THTensor *))

static inline void make_handles(THTensor **handle, int count) {
    for (int i = 0; i < count; i++) handle[i] = THTensor_newWithDtype(TH_FLOAT32);
}

static inline void free_handles(THTensor **handle, int count) {
    for (int i = 0; i < count; i++) THTensor_free(handle[i]);
}

#endif
