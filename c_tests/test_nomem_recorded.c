/* test_nomem.c once more, where all floats are leaves that require gradients: recording needs memory, too, and a call that is refused some
   has changed nothing. */
#define RECORDED 1
#include "test_nomem.c"
