/* How the examples pass failures on. */
#ifndef TRY_H
#define TRY_H

#include <thorn.h>

// For functions with a `status` to return and a label `done`, where they give up what they own.
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        if ((status = (call)) != TH_OK) goto done;                                                                     \
    } while (0)

#endif
