// What the driver has for libraries that put work into streams.
#pragma once
#include <cstdint>

extern "C" {
// Puts work into a stream of the current context. `run` gets the data and the number of the device, runs when the stream gets there, with
// memory of devices readable, and returns a result of the driver; it may run again, in a graph. `drop` frees the data at last.
int thorn_emu_enqueue(void *stream, int (*run)(void *data, int device), void *data, void (*drop)(void *data));
// For work: nonzero if the bytes lie in one allocation of the device. If not, that is a finding, which the message on stderr tells.
int thorn_emu_reaches(const char *what, int device, uint64_t at, uint64_t bytes);
}
