// Three tensors that view one storage of six elements. The colours mark the rows of m.
#include "svg.h"

static const char *by_row_of_m(const THTensor *t, int i, int j) {
    int64_t position = t->storageOffset + i * t->stride[0] + j * t->stride[1];
    return position < 3 ? "a" : "b";
}

static void show(double x, double y, const char *name, const THTensor *t) {
    char text[100];
    snprintf(text, sizeof text, "%s: %d x %d, strides %d and %d, offset %d", name, (int)t->size[0], (int)t->size[1], (int)t->stride[0],
             (int)t->stride[1], (int)t->storageOffset);
    svg_text(x, y - 10, "left", text);
    svg_matrix(x, y, t, by_row_of_m);
}

int main(void) {
    THTensor *storage = THTensor_newArange(TH_INT64, 0, 6, 1);
    THTensor *row = THTensor_newView(storage, 2, (int64_t[]){1, 6}), *m = THTensor_newView(storage, 2, (int64_t[]){2, 3});
    THTensor *transposed = THTensor_newTranspose(m, 0, 1), *column = THTensor_newNarrow(m, 1, 1, 1);
    svg_begin(640, 262, "A storage of six elements, and three tensors that view the storage");
    svg_text(20, 30, "left", "storage: one block of memory");
    svg_matrix(20, 40, row, by_row_of_m);
    double first = 20 + CELL / 2.0;
    svg_arrow(first, 76, first + m->stride[0] * CELL, 78, 10);
    svg_text(20, 112, "left note", "stride[0] = 3: the next row of m");
    show(20, 174, "m", m);
    show(320, 40, "transposed", transposed);
    show(320, 186, "column 1", column);
    return svg_end((THTensor *[]){storage, row, m, transposed, column}, 5);
}
