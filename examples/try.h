/* Error handling of the examples. */
#ifndef TRY_H
#define TRY_H

#include <thorn.h>

// For functions with a `status` to return and a label `done`, after which they free their handles.
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        if ((status = (call)) != TH_OK) goto done;                                                                     \
    } while (0)

#endif
