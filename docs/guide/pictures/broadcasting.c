// A column and a row that broadcast to a matrix. Faint squares repeat an element, which memory has only once.
#include "svg.h"

static const char *column_kind(const THTensor *t, int i, int j) {
    (void)t, (void)i;
    return j ? "a faint" : "a";
}

static const char *row_kind(const THTensor *t, int i, int j) {
    (void)t, (void)j;
    return i ? "b faint" : "b";
}

static const char *sum_kind(const THTensor *t, int i, int j) {
    (void)t, (void)i, (void)j;
    return "c";
}

int main(void) {
    THTensor *column = THTensor_newArange(TH_INT64, 0, 40, 10), *row = THTensor_newArange(TH_INT64, 1, 4, 1), *sum = THTensor_new();
    THTensor *upright = THTensor_newView(column, 2, (int64_t[]){4, 1});
    THTensor *left = THTensor_newExpand(upright, 2, (int64_t[]){4, 3}), *right = THTensor_newExpand(row, 2, (int64_t[]){4, 3});
    THTensor_cadd(sum, upright, 1, row);
    svg_begin(470, 206, "A column of 4 x 1 and a row of 3 broadcast to 4 x 3");
    svg_text(71, 32, "", "4 x 1, stride 0");
    svg_matrix(20, 46, left, column_kind);
    svg_text(146, 119, "", "+");
    svg_text(221, 32, "", "3, stride 0");
    svg_matrix(170, 46, right, row_kind);
    svg_text(297, 119, "", "=");
    svg_text(371, 32, "", "4 x 3");
    svg_matrix(320, 46, sum, sum_kind);
    return svg_end((THTensor *[]){column, row, sum, upright, left, right}, 6);
}
