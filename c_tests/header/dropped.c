/* Compiles with warnings: for a dropped reference, for a constant of another kind, and, with TH_CHECKED, for a dropped status. */
#include <thorn.h>

void drop(THTensor *t);

void drop(THTensor *t) {
    int64_t size[1] = {2};
    THTensor_newClone(t);
    THTensor_free(THTensor_newOnes(TH_CHANNELS_LAST, 1, size));
    THTensor_zero(t);
}
