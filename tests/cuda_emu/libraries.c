/* Adds and multiplies matrices on the first GPU. Prints the CUDA libraries that the process has loaded, or the message of a failure. */
#define _GNU_SOURCE
#include "thorn.h"

#include <link.h>
#include <stdio.h>
#include <string.h>

static int print_library(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    if (strstr(info->dlpi_name, "/libnvrtc.so") || strstr(info->dlpi_name, "/libcublas.so")) printf("%s\n", info->dlpi_name);
    return 0;
}

int main(void) {
    const int64_t size[2] = {4, 4};
    THTensor *host = THTensor_newOnes(TH_FLOAT32, 2, size), *there = THTensor_newCuda(host, 0), *r = THTensor_new();
    int status = 1;
    if (there && THTensor_cadd(r, there, 2, there) == TH_OK && THTensor_mm(r, r, there) == TH_OK) {
        dl_iterate_phdr(print_library, NULL);
        const double sum = THTensor_sumall(r);
        printf("sum %g\n", sum);
        status = sum != 192;
    }
    if (status) printf("failed: %s\n", THGetLastError());
    THTensor_free(host);
    THTensor_free(there);
    THTensor_free(r);
    return status;
}
