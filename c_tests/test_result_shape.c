/*
 * A result gets the shape of the operation, for any previous shape: all pairs of small shapes, for each kind of operation.
 */
#include "check.h"

#define MAX_RANK 3
/* Sizes 0, 1 and 2: an empty size, a size that broadcasts, and a size that does not. */
#define KINDS 3
#define SHAPES (1 + 3 + 9 + 27)

typedef struct Shape {
    int rank;
    int64_t size[MAX_RANK];
} Shape;

static Shape shapes[SHAPES];

static void list_shapes(void) {
    int n = 0;
    for (int rank = 0, of_rank = 1; rank <= MAX_RANK; rank++, of_rank *= KINDS)
        for (int code = 0; code < of_rank; code++, n++) {
            shapes[n].rank = rank;
            for (int d = 0, rest = code; d < rank; d++, rest /= KINDS) shapes[n].size[d] = rest % KINDS;
        }
}

/* Under valgrind, every seventh shape of a result is tested. */
static int step(void) { return getenv("THORN_UNDER_VALGRIND") ? 7 : 1; }

static int64_t count(const Shape *s) {
    int64_t n = 1;
    for (int d = 0; d < s->rank; d++) n *= s->size[d];
    return n;
}

/* NumPy's rule: shapes are aligned at the last dimension, and sizes are equal or one of them is 1. */
static bool broadcast(const Shape *a, const Shape *b, Shape *both) {
    both->rank = a->rank > b->rank ? a->rank : b->rank;
    for (int d = 0; d < both->rank; d++) {
        int i = d - (both->rank - a->rank), j = d - (both->rank - b->rank);
        int64_t n = i < 0 ? 1 : a->size[i], m = j < 0 ? 1 : b->size[j];
        if (n != m && n != 1 && m != 1) return false;
        both->size[d] = n == 1 ? m : n;
    }
    return true;
}

/* Returns the element of a row-major tensor of shape `s` that is read at position `at` of shape `over`. */
static double element(const double *data, const Shape *s, const Shape *over, int64_t at) {
    int64_t offset = 0, scale = 1;
    for (int d = over->rank - 1; d >= 0; at /= over->size[d], d--) {
        int own = d - (over->rank - s->rank);
        if (own < 0) continue;
        if (s->size[own] != 1) offset += at % over->size[d] * scale;
        scale *= s->size[own];
    }
    return data[offset];
}

static const double VALUES[3][8] = {{1, -2, 3, 5, -7, 11, 13, 17}, {2, 3, 0, -1, 4, 6, -5, 8}, {1, 0, 0, 1, 1, 0, 1, 0}};

static THTensor *operand(int which, const Shape *s) { return THTensor_newFromData(TH_FLOAT64, s->rank, s->size, VALUES[which]); }

static THTensor *result(const Shape *s) { return THTensor_newFull(TH_FLOAT64, s->rank, s->size, -99); }

static bool has_shape(const THTensor *t, const Shape *s) {
    if (THTensor_nDimension(t) != s->rank) return false;
    for (int d = 0; d < s->rank; d++)
        if (THTensor_size(t, d) != s->size[d]) return false;
    return true;
}

/* Elementwise operations of one to three inputs, each with a formula. */
typedef struct Operation {
    const char *name;
    int inputs;
    THStatus (*run)(THTensor *r, THTensor *const *in);
    double (*formula)(double a, double b, double c);
} Operation;

static THStatus run_neg(THTensor *r, THTensor *const *in) { return THTensor_neg(r, in[0]); }
static THStatus run_add(THTensor *r, THTensor *const *in) { return THTensor_add(r, in[0], 3); }
static THStatus run_lt_value(THTensor *r, THTensor *const *in) { return THTensor_ltValue(r, in[0], 2); }
static THStatus run_cmul(THTensor *r, THTensor *const *in) { return THTensor_cmul(r, in[0], in[1]); }
static THStatus run_cadd(THTensor *r, THTensor *const *in) { return THTensor_cadd(r, in[0], 2, in[1]); }
static THStatus run_gt(THTensor *r, THTensor *const *in) { return THTensor_gtTensor(r, in[0], in[1]); }
static THStatus run_lerp(THTensor *r, THTensor *const *in) { return THTensor_lerp(r, in[0], in[1], 0.5); }
static THStatus run_addcmul(THTensor *r, THTensor *const *in) { return THTensor_addcmul(r, in[0], 2, in[1], in[2]); }
static THStatus run_where(THTensor *r, THTensor *const *in) {
    THTensor *condition = THTensor_new();
    THStatus status = THTensor_neValue(condition, in[2], 0);
    if (status == TH_OK) status = THTensor_where(r, condition, in[0], in[1]);
    THTensor_free(condition);
    return status;
}
static double negated(double a, double b, double c) { return (void)b, (void)c, -a; }
static double plus_three(double a, double b, double c) { return (void)b, (void)c, a + 3; }
static double below_two(double a, double b, double c) { return (void)b, (void)c, a < 2; }
static double product(double a, double b, double c) { return (void)c, a * b; }
static double sum_with_twice(double a, double b, double c) { return (void)c, a + 2 * b; }
static double greater(double a, double b, double c) { return (void)c, a > b; }
static double middle(double a, double b, double c) { return (void)c, (a + b) / 2; }
static double product_added(double a, double b, double c) { return a + 2 * b * c; }
static double chosen(double a, double b, double c) { return c != 0 ? a : b; }

static const Operation OPERATIONS[] = {
    {"neg", 1, run_neg, negated},         {"add", 1, run_add, plus_three},    {"ltValue", 1, run_lt_value, below_two},
    {"cmul", 2, run_cmul, product},       {"cadd", 2, run_cadd, sum_with_twice}, {"gtTensor", 2, run_gt, greater},
    {"lerp", 2, run_lerp, middle},        {"addcmul", 3, run_addcmul, product_added}, {"where", 3, run_where, chosen},
};

/* Runs one operation on inputs of the given shapes, with a result of each shape. */
static void into_every_shape(const Operation *op, const Shape *const *in, const Shape *expected) {
    THTensor *inputs[3];
    for (int k = 0; k < op->inputs; k++) inputs[k] = operand(k, in[k]);
    for (int s = 0; s < SHAPES; s += step()) {
        THTensor *r = result(&shapes[s]);
        THStatus status = op->run(r, inputs);
        bool right = expected ? status == TH_OK && has_shape(r, expected) : status == TH_ERR_SHAPE && has_shape(r, &shapes[s]);
        const double *data = THTensor_data(r);
        for (int64_t i = 0, n = right && expected ? count(expected) : 0; i < n; i++) {
            double v[3] = {0};
            for (int k = 0; k < op->inputs; k++) v[k] = element(VALUES[k], in[k], expected, i);
            right = right && data[i] == op->formula(v[0], v[1], v[2]);
        }
        if (!right) printf("%s into result %d of rank %d: %s\n", op->name, s, shapes[s].rank, THGetLastError());
        CHECK(right);
        THTensor_free(r);
    }
    for (int k = 0; k < op->inputs; k++) THTensor_free(inputs[k]);
}

static void elementwise_results_take_the_broadcast_shape(void) {
    list_shapes();
    for (size_t o = 0; o < sizeof OPERATIONS / sizeof *OPERATIONS; o++) {
        const Operation *op = &OPERATIONS[o];
        for (int a = 0; a < SHAPES; a++) {
            if (op->inputs == 1) into_every_shape(op, (const Shape *[]){&shapes[a]}, &shapes[a]);
            for (int b = 0; op->inputs > 1 && b < SHAPES; b++) {
                /* The third input is only a vector of two and a scalar, while the first two go through all pairs. */
                for (int c = 0; c < (op->inputs > 2 ? 4 : 1); c += 3) {
                    Shape two, all;
                    bool fits = broadcast(&shapes[a], &shapes[b], &two) && (op->inputs < 3 || broadcast(&two, &shapes[c], &all));
                    if (op->inputs < 3) all = two;
                    into_every_shape(op, (const Shape *[]){&shapes[a], &shapes[b], &shapes[c]}, fits ? &all : NULL);
                }
            }
        }
    }
}

/* The sum of the first `n` elements of a line along dim `d` of a row-major tensor. */
static double line_sum(const Shape *s, int d, int64_t before, int64_t after, int64_t n) {
    int64_t inner = 1;
    for (int k = d + 1; k < s->rank; k++) inner *= s->size[k];
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += VALUES[0][(before * s->size[d] + i) * inner + after];
    return sum;
}

static void reductions_and_scans_of(const Shape *s, int d) {
    Shape kept = *s, gone = {.rank = s->rank - 1};
    int64_t outer = 1, inner = 1;
    for (int k = 0; k < s->rank; k++) {
        if (k != d) gone.size[k - (k > d)] = s->size[k];
        if (k < d) outer *= s->size[k];
        if (k > d) inner *= s->size[k];
    }
    kept.size[d] = 1;
    THTensor *t = operand(0, s);
    for (int i = 0; i < SHAPES; i += step()) {
        for (int keepdim = 0; keepdim < 2; keepdim++) {
            THTensor *r = result(&shapes[i]);
            CHECK(THTensor_sum(r, t, d, keepdim) == TH_OK && has_shape(r, keepdim ? &kept : &gone));
            const double *data = THTensor_data(r);
            for (int64_t k = 0; k < outer * inner; k++) CHECK(data[k] == line_sum(s, d, k / inner, k % inner, s->size[d]));
            THTensor_free(r);
        }
        THTensor *r = result(&shapes[i]);
        CHECK(THTensor_cumsum(r, t, d) == TH_OK && has_shape(r, s));
        const double *data = THTensor_data(r);
        for (int64_t k = 0, n = count(s); k < n; k++) {
            int64_t before = k / (inner * s->size[d]), at = k / inner % s->size[d];
            CHECK(data[k] == line_sum(s, d, before, k % inner, at + 1));
        }
        THTensor_free(r);
    }
    THTensor_free(t);
}

static void reductions_and_scans_take_their_shape(void) {
    list_shapes();
    for (int s = 0; s < SHAPES; s++)
        for (int d = 0; d < shapes[s].rank; d++) reductions_and_scans_of(&shapes[s], d);
}

static void products_take_their_shape(void) {
    list_shapes();
    for (int code = 0; code < KINDS * KINDS * KINDS; code++) {
        int64_t rows = code % 3, depth = code / 3 % 3, columns = code / 9;
        Shape left = {2, {rows, depth}}, right = {2, {depth, columns}}, vector = {1, {depth}}, out = {2, {rows, columns}}, line = {1, {rows}};
        THTensor *a = operand(0, &left), *b = operand(1, &right), *v = operand(1, &vector);
        for (int s = 0; s < SHAPES; s += step()) {
            THTensor *r = result(&shapes[s]), *w = result(&shapes[s]);
            CHECK(THTensor_mm(r, a, b) == TH_OK && has_shape(r, &out));
            CHECK(THTensor_mv(w, a, v) == TH_OK && has_shape(w, &line));
            const double *product = THTensor_data(r), *image = THTensor_data(w);
            for (int64_t i = 0; i < rows; i++) {
                double expected = 0;
                for (int64_t k = 0; k < depth; k++) expected += VALUES[0][i * depth + k] * VALUES[1][k];
                CHECK(image[i] == expected);
                for (int64_t j = 0; j < columns; j++) {
                    expected = 0;
                    for (int64_t k = 0; k < depth; k++) expected += VALUES[0][i * depth + k] * VALUES[1][k * columns + j];
                    CHECK(product[i * columns + j] == expected);
                }
            }
            THTensor_free(w);
            THTensor_free(r);
        }
        THTensor_free(v);
        THTensor_free(b);
        THTensor_free(a);
    }
}

CHECK_MAIN(CASE(elementwise_results_take_the_broadcast_shape), CASE(reductions_and_scans_take_their_shape),
           CASE(products_take_their_shape))
