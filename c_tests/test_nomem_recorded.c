/* Repeats test_nomem.c with floats that are leaves and require gradients. Recording needs memory, too, and a call that gets none has
 * changed nothing. */
#define RECORDED 1
#include "test_nomem.c"
