/*
 * digits.c on a GPU: this file adds one call. New tensors are made on the thread's default device, and operations run on the device of
 * their tensors. Without a GPU, prints a notice and trains on the host.
 *
 *     cc -std=c99 -O2 -Iinclude examples/digits_cuda.c -Ltarget/release -lthorn -lm -o digits_cuda
 *     LD_LIBRARY_PATH=target/release ./digits_cuda examples/data/digits.csv
 */

#define main learn_digits
#include "digits.c"
#undef main

int main(int argc, char **argv) {
    if (THSetDefaultDevice(TH_CUDA, 0) != TH_OK) fprintf(stderr, "on the host: %s\n", THGetLastError());
    return learn_digits(argc, argv);
}
