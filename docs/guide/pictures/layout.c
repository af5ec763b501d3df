// An image of 2 x 3 pixels in the order of a file (HWC) and in the order of a net (CHW).
#include "svg.h"

static const char *const channels[3] = {"e", "c", "a"}; // red, green, blue
static int64_t channel_of[18]; // the channel of each element of the file

// A row with the elements in the order of memory. The elements are their positions in the file.
static void memory(double y, const THTensor *t, const char *title) {
    svg_text(20, y - 10, "left", title);
    THTensor *flat = THTensor_newReshape(t, 1, (int64_t[]){18});
    for (int i = 0; i < 18; i++) {
        int64_t position = THTensor_getAtLong(flat, 1, (int64_t[]){i});
        svg_element(20 + i * CELL, y, channels[channel_of[position]], (double)position);
    }
    THTensor_free(flat);
}

int main(void) {
    THTensor *flat = THTensor_newArange(TH_INT64, 0, 18, 1), *hwc = THTensor_newView(flat, 3, (int64_t[]){2, 3, 3});
    THTensor *view = THTensor_newPermute(hwc, 3, (int64_t[]){2, 0, 1}), *chw = THTensor_newContiguous(view);
    for (int i = 0; i < 18; i++) channel_of[i] = i % hwc->size[2];
    svg_begin(652, 244, "The memory of an image: HWC has the channels of a pixel side by side, CHW has one plane for each channel");
    memory(44, hwc, "HWC, 2 x 3 x 3: red, green and blue of a pixel are neighbours");
    memory(140, chw, "CHW, 3 x 2 x 3: a plane of red, then green, then blue");
    svg_box(20, 44, 3 * CELL, CELL, "frame");
    svg_text(20 + 1.5 * CELL, 96, "note", "one pixel");
    svg_box(20, 140, 6 * CELL, CELL, "frame");
    svg_text(20 + 3 * CELL, 192, "note", "one plane");
    svg_text(20, 226, "left", "The numbers are positions in the HWC image.");
    return svg_end((THTensor *[]){flat, hwc, view, chw}, 4);
}
