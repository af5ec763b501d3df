/* Memory runs out while an expression is parsed or computed. */
#include "nomem.h"

enum { ROWS = 60, COLUMNS = 50 };

static THTensor *matrix, *row, *whole;

/* A new expression has no compiled programs yet. */
static THStatus computed(THTensor *r, const char *text, THTensor *const *inputs, int count) {
    THFused *f = THFused_new(text);
    if (!f) return THGetLastErrorCode();
    THStatus status = THFused_run(r, f, inputs, count);
    THFused_free(f);
    return status;
}

static THStatus spread(THTensor *const *r) {
    return computed(r[0], "tanh(m*row) + 1", (THTensor *[]){matrix, row}, 2);
}
static THStatus chosen(THTensor *const *r) {
    return computed(r[0], "d = m - row; where(d > 0, d, m)", (THTensor *[]){matrix, row}, 2);
}
static THStatus divided(THTensor *const *r) {
    return computed(r[0], "fmod(row, w*w + 1) + m", (THTensor *[]){row, whole, matrix}, 3);
}
static THStatus copied(THTensor *const *r) { return computed(r[0], "m", (THTensor *[]){matrix}, 1); }

static void an_expression_without_memory_leaves_its_result_as_it_was(void) {
    static const Named calls[] = {NAMED(spread), NAMED(chosen), NAMED(divided), NAMED(copied)};
    matrix = THTensor_newZeros(TH_FLOAT32, SIZES(COLUMNS, ROWS));
    for (int i = 0; i < ROWS * COLUMNS; i++) ((float *)THTensor_data(matrix))[i] = (float)(i * 7919 % 1013) / 512;
    CHECK_OK(THTensor_transpose(matrix, matrix, 0, 1));
    row = THTensor_newZeros(TH_INT32, SIZES(COLUMNS));
    for (int i = 0; i < COLUMNS; i++) ((int32_t *)THTensor_data(row))[i] = i * 31 % 101;
    whole = THTensor_newFull(TH_INT16, SIZES(COLUMNS), 2);
    THTensor *const inputs[] = {matrix, row, whole};
    enum { INPUTS = sizeof inputs / sizeof *inputs };
    run_out(calls, sizeof calls / sizeof *calls, inputs, INPUTS);
    for (int i = 0; i < INPUTS; i++) THTensor_free(inputs[i]);
}

CHECK_MAIN(CASE(an_expression_without_memory_leaves_its_result_as_it_was))
