// The driver's interface for libraries that add work to streams.
#pragma once
#include <cstdint>

extern "C" {
// Adds work to a stream of the current context. `run` gets the data and the number of the device. It is called when the stream reaches the
// work, with readable device memory, and returns a result of the driver. In a graph it may be called again. `drop` frees the data.
int thorn_emu_enqueue(void *stream, int (*run)(void *data, int device), void *data, void (*drop)(void *data));
// For use in `run`: nonzero if the bytes are in one allocation of the device. Otherwise a message on stderr reports the invalid access.
int thorn_emu_reaches(const char *what, int device, uint64_t at, uint64_t bytes);
}
