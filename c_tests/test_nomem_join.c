/* Memory runs out while elements are joined, repeated, padded or read by index: results that are written in place are
 * unchanged. */
#include "nomem.h"

enum { ROWS = 60, COLUMNS = 50, ORDER = 12 };

/* A transposed matrix, an integer row, a mask, a vector, the first part of the vector, and a block of the matrix. */
static THTensor *matrix, *row, *mask, *vector, *part, *block;
/* Positions in a dimension, a matrix of them, and square matrices. */
static THTensor *positions, *pairs, *batch;

static THStatus joined(THTensor *const *r) { return THTensor_cat(r[0], matrix, matrix, 0); }
static THStatus joined_mixed(THTensor *const *r) { return THTensor_cat(r[0], vector, row, 0); }
static THStatus list_joined(THTensor *const *r) {
    return THTensor_catArray(r[0], (THTensor *[]){vector, row, vector, row}, 4, 0);
}
static THStatus stacked(THTensor *const *r) {
    return THTensor_stack(r[0], (THTensor *[]){matrix, matrix, matrix}, 3, 1);
}
static THStatus side_by_side(THTensor *const *r) { return THTensor_hstack(r[0], (THTensor *[]){matrix, matrix}, 2); }
static THStatus on_top(THTensor *const *r) { return THTensor_vstack(r[0], (THTensor *[]){vector, vector, vector}, 3); }
static THStatus behind(THTensor *const *r) { return THTensor_dstack(r[0], (THTensor *[]){matrix, matrix}, 2); }
static THStatus padded(THTensor *const *r) { return THTensor_pad(r[0], matrix, SIZES(1, 2, 3, 4), TH_PAD_CONSTANT, 3); }
static THStatus cropped(THTensor *const *r) {
    return THTensor_pad(r[0], matrix, SIZES(-1, 2, 3, -4), TH_PAD_CONSTANT, 3);
}
static THStatus mirrored(THTensor *const *r) {
    return THTensor_pad(r[0], matrix, SIZES(1, 2, 3, 4), TH_PAD_REFLECT, 0);
}
static THStatus repeated(THTensor *const *r) { return THTensor_repeat(r[0], matrix, SIZES(2, 3)); }
static THStatus entries(THTensor *const *r) { return THTensor_repeatInterleaveValue(r[0], matrix, 3, 0); }
static THStatus rolled(THTensor *const *r) {
    return THTensor_roll(r[0], matrix, 2, (int64_t[]){1, 2}, (int64_t[]){0, 1});
}
static THStatus flipped(THTensor *const *r) { return THTensor_flip(r[0], matrix, SIZES(0, 1)); }
static THStatus differences(THTensor *const *r) { return THTensor_diff(r[0], matrix, 2, 1); }
static THStatus selected(THTensor *const *r) { return THTensor_indexSelect(r[0], matrix, 0, positions); }
static THStatus taken(THTensor *const *r) { return THTensor_take(r[0], matrix, positions); }
static THStatus masked(THTensor *const *r) { return THTensor_maskedSelect(r[0], matrix, mask); }
static THStatus places(THTensor *const *r) { return THTensor_nonzero(r[0], mask); }
static THStatus distances(THTensor *const *r) { return THTensor_cdist(r[0], matrix, matrix, 2); }
static THStatus distances_1(THTensor *const *r) { return THTensor_cdist(r[0], matrix, matrix, 1); }
static THStatus baddbmm(THTensor *const *r) { return THTensor_baddbmm(r[0], 2, batch, 3, batch, batch); }
static THStatus addbmm(THTensor *const *r) { return THTensor_addbmm(r[0], 2, part, 3, batch, batch); }
static THStatus kron(THTensor *const *r) { return THTensor_kron(r[0], block, vector); }
static THStatus cross(THTensor *const *r) { return THTensor_cross(r[0], batch, batch, 0); }
static THStatus outer(THTensor *const *r) { return THTensor_ger(r[0], vector, vector); }
static THStatus tensordot(THTensor *const *r) {
    return THTensor_tensordot(r[0], batch, batch, 1, (int64_t[]){2}, (int64_t[]){1});
}
static THStatus gathered(THTensor *const *r) { return THTensor_gather(r[0], matrix, 1, pairs); }
static THStatus indexed(THTensor *const *r) {
    return THTensor_index(r[0], matrix, (THTensor *[]){positions, positions}, 2);
}
static THStatus tiled(THTensor *const *r) { return THTensor_tile(r[0], vector, SIZES(2, 3)); }
static THStatus turned(THTensor *const *r) { return THTensor_rot90(r[0], matrix, 1, 0, 1); }
static THStatus folded(THTensor *const *r) { return THTensor_fold(r[0], matrix, 0, 3); }

static void a_join_without_memory_leaves_its_result_as_it_was(void) {
    static const Named calls[] = {
        NAMED(joined), NAMED(joined_mixed), NAMED(list_joined), NAMED(stacked),  NAMED(side_by_side), NAMED(on_top),
        NAMED(behind), NAMED(padded),       NAMED(cropped),     NAMED(mirrored), NAMED(repeated),     NAMED(entries),
        NAMED(rolled), NAMED(flipped),      NAMED(differences), NAMED(selected), NAMED(taken),        NAMED(masked),
        NAMED(places), NAMED(distances),    NAMED(distances_1), NAMED(baddbmm),  NAMED(addbmm),       NAMED(kron),
        NAMED(cross),  NAMED(outer),        NAMED(tensordot),   NAMED(gathered), NAMED(indexed),      NAMED(tiled),
        NAMED(turned), NAMED(folded),
    };
    matrix = THTensor_newZeros(TH_FLOAT32, SIZES(COLUMNS, ROWS));
    for (int i = 0; i < ROWS * COLUMNS; i++) ((float *)THTensor_data(matrix))[i] = (float)(i * 7919 % 1013) / 8;
    CHECK_OK(THTensor_transpose(matrix, matrix, 0, 1));
    row = THTensor_newZeros(TH_INT32, SIZES(COLUMNS));
    for (int i = 0; i < COLUMNS; i++) ((int32_t *)THTensor_data(row))[i] = i * 31 % 101;
    mask = THTensor_newZeros(TH_BOOL, SIZES(ROWS, 1));
    for (int i = 0; i < ROWS; i++) ((bool *)THTensor_data(mask))[i] = i % 3 == 0;
    vector = THTensor_newFull(TH_FLOAT32, SIZES(ROWS), 2);
    part = THTensor_newNarrow(vector, 0, 0, ORDER);
    THTensor *rows = THTensor_newNarrow(matrix, 0, 0, 20);
    block = THTensor_newNarrow(rows, 1, 0, 10);
    positions = THTensor_newFull(TH_INT64, SIZES(8), 1);
    pairs = THTensor_newOnes(TH_INT32, SIZES(8, 3));
    batch = THTensor_newFull(TH_FLOAT32, SIZES(3, ORDER, ORDER), 0.5);
    THTensor *const inputs[] = {matrix, row, mask, vector, part, block, positions, pairs, batch, rows};
    enum { INPUTS = sizeof inputs / sizeof *inputs };
    run_out(calls, sizeof calls / sizeof *calls, inputs, INPUTS);
    for (int i = 0; i < INPUTS; i++) THTensor_free(inputs[i]);
}

CHECK_MAIN(CASE(a_join_without_memory_leaves_its_result_as_it_was))
