/* The second file of both programs. */
#include <thorn.h>

const char *second_version(void);
size_t second_tensor_size(void);

const char *second_version(void) { return THVersion(); }

size_t second_tensor_size(void) { return sizeof(THTensor); }
