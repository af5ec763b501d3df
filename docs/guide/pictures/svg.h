// Pictures of the guide: SVG on standard output, with colours for light and dark pages.
#ifndef SVG_H
#define SVG_H

#include <stdio.h>
#include <stdlib.h>
#include <thorn.h>

enum { CELL = 34 }; // the side of the square of one element

// The classes are `a` to `e`, five colours; `faint`, an element that exists only once in memory; `pad`, an element outside the tensor.
static void svg_begin(int width, int height, const char *title) {
    printf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n", width, height, width, height);
    printf("<title>%s</title>\n<style>\n", title);
    printf("  text { font: 14px sans-serif; fill: #222; text-anchor: middle }\n"
           "  .left { text-anchor: start } .end { text-anchor: end }\n"
           "  .note { fill: #a0341c }\n"
           "  .card { fill: #fff }\n"
           "  .box { stroke: #555 }\n"
           "  .a { fill: #cfe2f7 } .b { fill: #f9d9b0 } .c { fill: #cdeac8 } .d { fill: #e5d3f2 } .e { fill: #f7cfc9 }\n"
           "  .pad { fill: none; stroke-dasharray: 3 3 }\n"
           "  .faint { fill-opacity: .35; stroke-dasharray: 3 3 }\n"
           "  .frame { fill: none; stroke: #a0341c; stroke-width: 3 }\n"
           "  .line { fill: none; stroke: #a0341c; stroke-width: 1.5 }\n"
           "  .head { fill: #a0341c }\n"
           "  @media (prefers-color-scheme: dark) {\n"
           "    text { fill: #e4e6eb }\n"
           "    .note { fill: #ff9d80 }\n"
           "    .card { fill: #1d212b }\n"
           "    .box { stroke: #9aa0ac }\n"
           "    .a { fill: #28507e } .b { fill: #7a4e12 } .c { fill: #2c6330 } .d { fill: #5b3b78 } .e { fill: #7d322b }\n"
           "    .frame, .line { stroke: #ff9d80 }\n"
           "    .head { fill: #ff9d80 }\n"
           "  }\n");
    printf("</style>\n<defs><marker id=\"head\" markerWidth=\"8\" markerHeight=\"8\" refX=\"6\" refY=\"3\" orient=\"auto\">"
           "<path class=\"head\" d=\"M0 0 L7 3 L0 6 z\"/></marker></defs>\n");
    printf("<rect class=\"card\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n", width, height);
}

static void svg_text(double x, double y, const char *kind, const char *text) {
    printf("<text class=\"%s\" x=\"%g\" y=\"%g\">%s</text>\n", kind, x, y, text);
}

static inline void svg_box(double x, double y, double width, double height, const char *kind) {
    printf("<rect class=\"%s\" x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\"/>\n", kind, x, y, width, height);
}

// A curve from one point to another, which passes `bend` below the middle, with an arrow head.
static inline void svg_arrow(double x1, double y1, double x2, double y2, double bend) {
    printf("<path class=\"line\" marker-end=\"url(#head)\" d=\"M%g %g Q%g %g %g %g\"/>\n", x1, y1, (x1 + x2) / 2, (y1 + y2) / 2 + 2 * bend,
           x2, y2);
}

// The element of a tensor of one or two dimensions in the square at (x, y).
static void svg_element(double x, double y, const char *kind, double value) {
    char text[32];
    snprintf(text, sizeof text, "%g", value);
    printf("<rect class=\"box %s\" x=\"%g\" y=\"%g\" width=\"%d\" height=\"%d\"/>", kind, x, y, CELL, CELL);
    svg_text(x + CELL / 2.0, y + CELL / 2.0 + 5, "", text);
}

// The elements of a matrix. `kind` returns the classes of an element from its row and column.
static inline void svg_matrix(double x, double y, const THTensor *t, const char *(*kind)(const THTensor *t, int i, int j)) {
    for (int i = 0; i < t->size[0]; i++)
        for (int j = 0; j < t->size[1]; j++)
            svg_element(x + j * CELL, y + i * CELL, kind(t, i, j), THTensor_get2d(t, i, j));
}

// Ends the picture, and the program with a message if a call has failed.
static int svg_end(THTensor *const *tensors, int count) {
    printf("</svg>\n");
    for (int i = 0; i < count; i++) THTensor_free(tensors[i]);
    if (THGetLastErrorCode() != TH_OK) fprintf(stderr, "%s\n", THGetLastError());
    return THGetLastErrorCode() != TH_OK;
}

#endif
