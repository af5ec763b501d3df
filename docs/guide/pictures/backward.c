// The graph of loss = (w x + b - y)^2, with the values that the calls compute and the gradients that backward computes.
#include "svg.h"

static THTensor *number(double value, bool leaf) {
    THTensor *t = THTensor_newScalar(TH_FLOAT64, value);
    if (leaf) THTensor_setRequiresGrad(t, 1);
    return t;
}

// A node at (x, y): its name and value, and its gradient, if it has one.
static void node(double x, double y, const char *name, const THTensor *t) {
    char text[60];
    THTensor *grad = THTensor_newGrad(t);
    svg_box(x, y, 100, 52, grad ? "box a" : "box pad");
    snprintf(text, sizeof text, "%s = %g", name, THTensor_item(t));
    svg_text(x + 50, y + 21, "", text);
    if (grad) snprintf(text, sizeof text, "gradient %g", THTensor_item(grad));
    svg_text(x + 50, y + 42, grad ? "note" : "", grad ? text : "no gradient");
    THTensor_free(grad);
}

int main(void) {
    THTensor *w = number(2, true), *x = number(3, false), *b = number(1, true), *y = number(10, false);
    THTensor *p = THTensor_new(), *s = THTensor_new(), *e = THTensor_new(), *loss = THTensor_new();
    THTensor_cmul(p, w, x);
    THTensor_cadd(s, p, 1, b);
    THTensor_csub(e, s, 1, y);
    THTensor_cmul(loss, e, e);
    THTensor *results[] = {p, s, e, loss};
    for (int i = 0; i < 4; i++) THTensor_retainGrad(results[i]);
    THTensor_backward(loss, NULL);

    svg_begin(640, 250, "The graph of loss = (w x + b - y) squared, with values and gradients");
    struct place { double x, y; const char *name; const THTensor *t; } nodes[] = {
        {16, 30, "w", w}, {16, 110, "x", x}, {144, 70, "p", p}, {144, 150, "b", b}, {272, 110, "s", s}, {272, 188, "y", y},
        {400, 140, "e", e}, {528, 140, "loss", loss}};
    const int from[] = {2, 2, 4, 4, 6, 6, 7}, to[] = {0, 1, 2, 3, 4, 5, 6}; // from a result to an operand
    for (int i = 0; i < 8; i++) node(nodes[i].x, nodes[i].y, nodes[i].name, nodes[i].t);
    for (int i = 0; i < 7; i++) {
        struct place a = nodes[from[i]], z = nodes[to[i]];
        if (THTensor_requiresGrad(z.t)) svg_arrow(a.x, a.y + 26, z.x + 103, z.y + 26, 0);
    }
    svg_text(194, 60, "", "p = w x");
    svg_text(322, 100, "", "s = p + b");
    svg_text(450, 130, "", "e = s - y");
    svg_text(578, 130, "", "loss = e e");
    svg_text(624, 30, "end note", "backward follows the arrows");
    return svg_end((THTensor *[]){w, x, b, y, p, s, e, loss}, 8);
}
