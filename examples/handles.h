/* Structs of handles and nothing else, which can be made and given up as lists. */
#ifndef HANDLES_H
#define HANDLES_H

#include <thorn.h>

// The list that a struct of handles is, and its length.
#define HANDLES(of) (THTensor **)(of), (int)(sizeof *(of) / sizeof(THTensor *))

static inline void make_handles(THTensor **handle, int count) {
    for (int i = 0; i < count; i++) handle[i] = THTensor_newWithDtype(TH_FLOAT32);
}

static inline void free_handles(THTensor **handle, int count) {
    for (int i = 0; i < count; i++) THTensor_free(handle[i]);
}

#endif
