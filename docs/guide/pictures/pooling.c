// The maxima of windows of 2 x 2 pixels, and their positions.
#include "svg.h"

static const char *const window_kinds[2][2] = {{"a", "b"}, {"c", "d"}};

static const char *pixel(const THTensor *t, int i, int j) {
    (void)t;
    return window_kinds[i / 2][j / 2];
}

static const char *maximum(const THTensor *t, int i, int j) {
    (void)t;
    return window_kinds[i][j];
}

int main(void) {
    const float pixels[16] = {3, 1, 0, 2, 5, 2, 4, 1, 0, 6, 1, 1, 2, 4, 8, 3};
    THTensor *x = THTensor_newFromData(TH_FLOAT32, 4, (int64_t[]){1, 1, 4, 4}, pixels), *r = THTensor_new(), *at = THTensor_new();
    THTensor_maxPool2dUniform(r, at, x, 2, 2, 0); // windows of 2 x 2, stride 2, no padding
    THTensor_resize(x, 2, (int64_t[]){4, 4}, NULL);
    THTensor_resize(r, 2, (int64_t[]){2, 2}, NULL);
    THTensor_resize(at, 2, (int64_t[]){2, 2}, NULL);
    svg_begin(470, 206, "Max pooling: the maximum of each window of 2 x 2 pixels, and its position");
    svg_text(88, 32, "", "4 x 4 pixels");
    svg_matrix(20, 46, x, pixel);
    for (int64_t i = 0; i < 4; i++) {
        int64_t position = THTensor_getAtLong(at, 2, (int64_t[]){i / 2, i % 2});
        svg_box(20 + position % 4 * CELL, 46 + position / 4 * CELL, CELL, CELL, "frame");
    }
    svg_text(244, 66, "", "maxima");
    svg_matrix(210, 80, r, maximum);
    svg_text(374, 66, "", "positions (indices)");
    svg_matrix(340, 80, at, maximum);
    return svg_end((THTensor *[]){x, r, at}, 3);
}
