/* Debuggers, profilers and panics can unwind the library's frames, because the library has unwind tables, also in libthorn.a. */
#include "check.h"

#include <unwind.h>

enum { FRAMES = 256 };

/* The outermost frames of a stack, seen from a callback of the library. */
typedef struct {
    void *frames[FRAMES];
    int count;
} Stack;

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *frame, void *context) {
    Stack *stack = context;
    if (stack->count < FRAMES) stack->frames[stack->count++] = (void *)_Unwind_GetIP(frame);
    return _URC_NO_REASON;
}

static int look_back(double *x, void *context) {
    (void)x;
    _Unwind_Backtrace(note_frame, context);
    return 0;
}

__attribute__((noinline)) static void a_callback_sees_the_frames_of_its_caller(void) {
    const int64_t size[1] = {1};
    Stack here = {{NULL}, 0}, inside = {{NULL}, 0};
    _Unwind_Backtrace(note_frame, &here);
    THTensor *t = THTensor_newOnes(TH_FLOAT32, 1, size);
    CHECK_OK(THTensor_apply(t, look_back, &inside));
    THTensor_free(t);

    /* All frames are the same except the address within this function. */
    const int common = here.count - 1;
    CHECK(common >= 1);
    CHECK(inside.count >= common + 3);
    for (int i = 1; i <= common && i < inside.count; i++) CHECK(inside.frames[inside.count - i] == here.frames[here.count - i]);
}

CHECK_MAIN(CASE(a_callback_sees_the_frames_of_its_caller))
