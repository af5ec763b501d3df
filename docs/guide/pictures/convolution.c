// A convolution of 5 x 5 pixels with padding 1 and stride 2, and the window of one result.
#include "svg.h"

static const char *pixel(const THTensor *t, int i, int j) {
    return i == 0 || j == 0 || i == t->size[0] - 1 || j == t->size[1] - 1 ? "pad" : "a";
}

static const char *weight(const THTensor *t, int i, int j) {
    (void)t, (void)i, (void)j;
    return "b";
}

static const char *result(const THTensor *t, int i, int j) {
    (void)t, (void)i, (void)j;
    return "c";
}

int main(void) {
    const float edges[9] = {-1, 0, 1, -2, 0, 2, -1, 0, 1};
    THTensor *flat = THTensor_newArange(TH_FLOAT32, 0, 25, 1), *x = THTensor_new(), *r = THTensor_new(), *padded = THTensor_new();
    THTensor *w = THTensor_newFromData(TH_FLOAT32, 4, (int64_t[]){1, 1, 3, 3}, edges);
    THTensor_fmod(flat, flat, 7);
    THTensor_view(x, flat, 4, (int64_t[]){1, 1, 5, 5});
    THTensor_conv2dUniform(r, x, w, NULL, 2, 1); // stride 2, padding 1
    THTensor_pad(padded, x, 4, (int64_t[]){1, 1, 1, 1}, TH_PAD_CONSTANT, 0);
    THTensor_resize(padded, 2, (int64_t[]){7, 7}, NULL);
    THTensor_resize(w, 2, (int64_t[]){3, 3}, NULL);
    THTensor_resize(r, 2, (int64_t[]){3, 3}, NULL);
    svg_begin(570, 306, "A convolution: each result is the sum of a window times the kernel");
    svg_text(139, 30, "", "5 x 5 pixels, padding 1");
    svg_matrix(20, 44, padded, pixel);
    svg_text(345, 88, "", "kernel, 3 x 3");
    svg_matrix(294, 102, w, weight);
    svg_text(491, 88, "", "3 x 3 results");
    svg_matrix(440, 102, r, result);
    svg_box(20 + 2 * CELL, 44 + 2 * CELL, 3 * CELL, 3 * CELL, "frame"); // result [1, 1] has the window at stride * 1
    svg_box(440 + CELL, 102 + CELL, CELL, CELL, "frame");
    svg_text(405, 240, "note", "stride 2: the next result has a window");
    svg_text(405, 258, "note", "2 pixels to the right");
    return svg_end((THTensor *[]){flat, x, r, padded, w}, 5);
}
