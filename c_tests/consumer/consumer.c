#include <thorn.h>

#include <stdio.h>

/* Prints the version of the library and 1 + 2 * 1, computed by it. */
int main(void) {
    const int64_t size[2] = {2, 3};
    THTensor *ones = THTensor_newOnes(TH_FLOAT32, 2, size);
    THTensor *r = THTensor_new();
    if (THTensor_cadd(r, ones, 2, ones) != TH_OK) {
        fprintf(stderr, "%s\n", THGetLastError());
        return 1;
    }
    const float first = *(const float *)THTensor_data(r);
    printf("thorn %s: %g\n", THVersion(), first);
    THTensor_free(r);
    THTensor_free(ones);
    return first == 3 ? 0 : 1;
}
