/* Fused expressions: their values, compared with the single functions, and their errors. */

#include "check.h"

/* `r` = the expression of up to three inputs. The last inputs may be NULL. */
static THStatus run(THTensor *r, const char *text, THTensor *a, THTensor *b, THTensor *c) {
    THFused *f = THFused_new(text);
    if (!f) return THGetLastErrorCode();
    THStatus status = THFused_run(r, f, (THTensor *[]){a, b, c}, !b ? 1 : !c ? 2 : 3);
    THFused_free(f);
    return status;
}

/* `r` = the expression of the tensors "a", "b" and "c" that it names. */
static THStatus run_named(THTensor *r, const char *text, THTensor *const *named) {
    THTensor *inputs[3];
    THFused *f = THFused_new(text);
    if (!f) return THGetLastErrorCode();
    int count = (int)THFused_nInputs(f);
    for (int k = 0; k < count; k++) inputs[k] = named[THFused_inputName(f, k)[0] - 'a'];
    THStatus status = THFused_run(r, f, inputs, count);
    THFused_free(f);
    return status;
}

static void a_product_and_a_sum_in_one_pass(void) {
    THTensor *a = vector_of(TH_FLOAT32, 1, 2, 3), *b = vector_of(TH_FLOAT32, 4, 5, 6), *c = vector_of(TH_FLOAT32, 7, 8, 9);
    THTensor *r = THTensor_new();
    THFused *f = THFused_new("a*b + c");
    CHECK_OK(THFused_run(r, f, (THTensor *[]){a, b, c}, 3));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
    CHECK_VALUES(r, 11, 18, 27);
    THFused_retain(f);
    THFused_free(f);
    CHECK_EQ(THFused_nInputs(f), 3);
    CHECK_STR(THFused_inputName(f, 0), "a");
    CHECK_STR(THFused_inputName(f, 2), "c");
    CHECK_FAILURE(THFused_inputName(f, 3) == NULL, TH_ERR_ARGUMENT, "index 3 out of range for 3 inputs");
    CHECK_FAILURE(THFused_inputName(f, -1) == NULL, TH_ERR_ARGUMENT, "index -1");
    CHECK_ERROR(THFused_run(r, f, (THTensor *[]){a, b}, 2), TH_ERR_ARGUMENT, "2 tensors for an expression of 3 inputs");
    CHECK_ERROR(THFused_run(r, f, (THTensor *[]){a, NULL, c}, 3), TH_ERR_ARGUMENT, "entry 1 of 'inputs' is NULL");
    THFused_free(f);
    THFused_free(NULL);
    THFused_retain(NULL);
    THTensor_free(r);
    THTensor_free(c);
    THTensor_free(b);
    THTensor_free(a);
}

static void expressions_mean_what_mathematics_means(void) {
    static const struct {
        const char *text;
        double expected[3];
    } cases[] = {
        {"a + 2*b", {9, 12, 15}},
        {"-a^2", {-1, -4, -9}},
        {"2**-a * 4", {2, 1, 0.5}},
        {"(b - a) / 3 - 0.5", {0.5, 0.5, 0.5}},
        {"6 / a", {6, 3, 2}},
        {"10 - a * -1", {11, 12, 13}},
        {"where(a > 1, b, -1)", {-1, 5, 6}},
        {"where(a >= 2, 0, a)", {1, 0, 0}},
        {"where(a == b - 3, 1, 0) + 0.0*a", {1, 1, 1}},
        {"(2 < a) + (a <= 2) * 10.5", {10.5, 10.5, 1}},
        {"clamp(a, 1.5, 2.5)", {1.5, 2, 2.5}},
        {"max(a, 2) + min(a, b) + max(a, b)", {7, 9, 12}},
        {"lerp(a, b, 0.5)", {2.5, 3.5, 4.5}},
        {"lerp(a, b, a - a)", {1, 2, 3}},
        {"addcmul(a, 2, a, b)", {9, 22, 39}},
        {"pow(a, 2) + pow(2, a) + pow(a, a)", {4, 12, 44}},
        {"cadd(a, 3, b)", {13, 17, 21}},
        {"d = a - b; d*d + sqrt(d^2)", {12, 12, 12}},
        {"x = a; y = x*b; y*y - x;", {15, 98, 321}},
        {"heaviside(a - 2, a)", {0, 2, 1}},
        {"fmod(b, 4) + remainder(-a, 3)", {2, 2, 2}},
        {"divMode(b, 2, 2) * logicalNot(a - 2)", {0, 2, 0}},
        {"relu(2 - a) + abs(-a) + neg(a)", {1, 0, 0}},
        {"nanToNum(a / (a - a), 0, 5, 6)", {5, 5, 5}},
        {"a", {1, 2, 3}},
        {".5e1 * a + 1.E0 * 2e-1 * a * 0", {5, 10, 15}},
    };
    THTensor *a = vector_of(TH_FLOAT64, 1, 2, 3), *b = vector_of(TH_FLOAT64, 4, 5, 6);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        THTensor *r = THTensor_new();
        THStatus status = run_named(r, cases[k].text, (THTensor *[]){a, b, NULL});
        if (status != TH_OK) printf("\n  %s: %s", cases[k].text, THGetLastError());
        CHECK_OK(status);
        for (int i = 0; i < 3 && status == TH_OK; i++) CHECK_NEAR(element_at(r, i), cases[k].expected[i], 1e-14);
        THTensor_free(r);
    }
    THTensor_free(b);
    THTensor_free(a);
}

static void errors_point_at_the_expression(void) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a +", "THFused_new: column 4: expected a number, a name or '(', got the end"},
        {"a * (b", "column 7: expected an operator or ')', got the end"},
        {"a $ b", "column 3: expected an operator or the end, got '$'"},
        {"a b", "column 3: expected an operator or the end, got 'b'"},
        {"1.5.2 * a", "column 1: expected a number, got '1.5.2'"},
        {"a + frob(b)", "column 5: 'frob' is no elementwise function of THTensor_*"},
        {"a + sum(b)", "column 5: 'sum' is no elementwise function"},
        {"clamp(a, b)", "column 1: the arguments do not fit, expected clamp(t, minimum, maximum) or"},
        {"addcmul(a, b, a, b)", "expected addcmul(t, value, a, b)"},
        {"exp()", "column 5: expected a number, a name or '(', got ')'"},
        {"a < b < a", "column 7: comparisons do not follow each other"},
        {"3", "column 1: the result is a number"},
        {"1 < 2", "column 3: '<' compares two numbers"},
        {"t = a; b", "column 1: 't' is not used"},
        {"t = a; t = b; t", "column 8: 't' has a value already"},
        {"a*2; b", "column 6: expected an operator or the end"},
        {"", "column 1: expected a number, a name or '(', got the end"},
        {"\xff", "the expression is not UTF-8"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        CHECK_FAILURE(THFused_new(cases[k].text) == NULL, TH_ERR_ARGUMENT, cases[k].message);
    CHECK_FAILURE(THFused_new(NULL) == NULL, TH_ERR_ARGUMENT, "argument 'expression' is NULL");
    CHECK_FAILURE(THFused_nInputs(NULL) == -1, TH_ERR_ARGUMENT, "argument 'f' is NULL");

    enum { MANY = 100000 };
    char *text = malloc(3 * MANY + 2);
    static const char *const hostile[] = {"(", "-", "a**", "a+", "exp"};
    for (int k = 0; k < 4; k++) {
        size_t length = strlen(hostile[k]);
        for (size_t i = 0; i < MANY; i++) memcpy(text + i * length, hostile[k], length);
        strcpy(text + MANY * length, "a");
        CHECK_FAILURE(THFused_new(text) == NULL, TH_ERR_ARGUMENT, "more than 1");
    }
    free(text);

    THTensor *a = vector_of(TH_FLOAT32, 1, 2), *b = vector_of(TH_FLOAT32, 1, 2, 3), *fresh = THTensor_new();
    THTensor *whole = vector_of(TH_INT32, 7, 7), *zero = vector_of(TH_INT32, 1, 0), *r = THTensor_new();
    CHECK_ERROR(run(r, "a*b", a, b, NULL), TH_ERR_SHAPE, "input 'b': ");
    CHECK_ERROR(run(r, "a*b", a, fresh, NULL), TH_ERR_DTYPE, "input 'b': ");
    CHECK_ERROR(run(r, "1 + bitand(a, 3)", a, NULL, NULL), TH_ERR_DTYPE, "THFused_run: column 5: bitand: ");
    CHECK_ERROR(run(whole, "a + 0.5", a, NULL, NULL), TH_ERR_DTYPE, "a result of float32 cannot be stored in a tensor of int32");
    CHECK_ERROR(run(whole, "a + fmod(a, b + 0)", whole, zero, NULL), TH_ERR_ARGUMENT, "column 5: cfmod: integers divided by zero");
    CHECK_ERROR(run(whole, "a + fmod(a, 0)", whole, NULL, NULL), TH_ERR_ARGUMENT, "column 5: fmod: integers divided by zero");
    CHECK_ERROR(run(r, "signbit(a)", a, NULL, NULL), TH_ERR_UNSUPPORTED, "does not compute its result element by element");
    CHECK_VALUES(whole, 7, 7);
    CHECK_EQ(THTensor_dtype(r), TH_UNDEFINED);
    THTensor_free(r);
    THTensor_free(zero);
    THTensor_free(whole);
    THTensor_free(fresh);
    THTensor_free(b);
    THTensor_free(a);
}

static void results_have_the_dtype_that_the_functions_give_them(void) {
    static const struct {
        const char *text;
        THDtype a, b, expected;
    } cases[] = {
        {"a + b", TH_UINT8, TH_INT8, TH_INT16},       {"a * 2", TH_UINT8, TH_UINT8, TH_UINT8},
        {"a * 2.5", TH_INT32, TH_INT32, TH_FLOAT32},  {"a * 0.1", TH_FLOAT16, TH_INT8, TH_FLOAT16},
        {"a / b", TH_INT64, TH_INT64, TH_FLOAT32},    {"a < b", TH_FLOAT64, TH_INT8, TH_BOOL},
        {"a + b", TH_BFLOAT16, TH_FLOAT16, TH_FLOAT32}, {"exp(a) + b", TH_INT8, TH_BFLOAT16, TH_FLOAT32},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        THTensor *a = vector_of(cases[k].a, 1, 2, 3), *b = vector_of(cases[k].b, 1, 2, 3), *r = THTensor_new();
        CHECK_OK(run(r, cases[k].text, a, strchr(cases[k].text, 'b') ? b : NULL, NULL));
        CHECK_EQ(THTensor_dtype(r), cases[k].expected);
        THTensor_free(r);
        THTensor_free(b);
        THTensor_free(a);
    }
    /* A scalar does not widen a vector of the same kind of dtype. */
    THTensor *v = vector_of(TH_FLOAT32, 1, 2), *s = THTensor_newScalar(TH_FLOAT64, 0.5), *r = THTensor_new();
    CHECK_OK(run(r, "v*s + s", v, s, NULL));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
    CHECK_VALUES(r, 1, 1.5);
    THTensor *both = THTensor_new();
    CHECK_OK(run(both, "s*s", s, NULL, NULL));
    CHECK_EQ(THTensor_dtype(both), TH_FLOAT64);
    CHECK_EQ(THTensor_nDimension(both), 0);
    CHECK_NEAR(THTensor_item(both), 0.25, 0);
    /* A result of another dtype gets the value of the expression, converted. */
    THTensor *wide = THTensor_newZeros(TH_FLOAT64, SIZES(2)), *halves = vector_of(TH_FLOAT16, 1, 3);
    CHECK_OK(run(wide, "h / 3", halves, NULL, NULL));
    CHECK_VALUES(wide, 0.333251953125, 1);
    THTensor_free(halves);
    THTensor_free(wide);
    THTensor_free(both);
    THTensor_free(r);
    THTensor_free(s);
    THTensor_free(v);
}

static void results_may_be_inputs_and_shapes_any(void) {
    THTensor *a = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6), *row = vector_of(TH_FLOAT32, 10, 20, 30);
    THTensor *column = matrix_of(TH_FLOAT32, 2, 100, 200), *t = THTensor_newTranspose(a, 0, 1);
    CHECK_OK(run(a, "a*2 + row - column*0", a, row, column));
    CHECK_VALUES(a, 12, 24, 36, 18, 30, 42);
    CHECK_OK(run(t, "t - row", t, column, NULL) == TH_ERR_SHAPE ? TH_OK : TH_ERR_INTERNAL);
    CHECK_OK(run(t, "sqrt(t*t)", t, NULL, NULL));
    CHECK_VALUES(a, 12, 24, 36, 18, 30, 42);
    /* A result that overlaps an input at an offset is first written to other memory. */
    THTensor *line = vector_of(TH_FLOAT32, 1, 2, 3, 4, 5), *head = THTensor_newNarrow(line, 0, 0, 4);
    THTensor *tail = THTensor_newNarrow(line, 0, 1, 4);
    CHECK_OK(run(tail, "head + 0*tail", head, tail, NULL));
    CHECK_VALUES(line, 1, 1, 2, 3, 4);
    THTensor *none = THTensor_newZeros(TH_FLOAT32, SIZES(0, 3)), *r = THTensor_new();
    CHECK_OK(run(r, "none*2 + row", none, row, NULL));
    CHECK_SHAPE(r, 0, 3);
    CHECK_OK(run(r, "row + column*exp(row - row)", row, column, NULL));
    CHECK_SHAPE(r, 2, 3);
    CHECK_VALUES(r, 110, 120, 130, 210, 220, 230);
    THTensor_free(r);
    THTensor_free(none);
    THTensor_free(tail);
    THTensor_free(head);
    THTensor_free(line);
    THTensor_free(t);
    THTensor_free(column);
    THTensor_free(row);
    THTensor_free(a);
}

static void a_number_is_divided_by_a_tensor(void) {
    THTensor *t = vector_of(TH_INT32, 1, 2, -4), *r = THTensor_new();
    CHECK_OK(THTensor_rdiv(r, t, 6));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
    CHECK_VALUES(r, 6, 3, -1.5);
    CHECK_OK(THTensor_rdiv(r, r, 3));
    CHECK_VALUES(r, 0.5, 1, -2);
    CHECK_ERROR(THTensor_rdiv(t, t, 1), TH_ERR_DTYPE, "cannot be stored");
    THTensor_free(r);
    THTensor_free(t);
}

/* ---- random programs, compared with the single functions */

static uint64_t state = 88172645463325252u;
static int below(int n) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int)(state >> 33) % n;
}

enum { STEPS = 6, OPERANDS = 3, MOST_ELEMENTS = 6000, NAME = 16 };

/* Writes the name of a value. "a", "b" and "c" are operands. */
static const char *name_of(int k, char *name) {
    snprintf(name, NAME, k < OPERANDS ? "%c" : "t%d", k < OPERANDS ? 'a' + k : k);
    return name;
}

typedef struct Program {
    char text[1024];
    THTensor *values[OPERANDS + STEPS];
    int count;
    THStatus status;
} Program;

/* Appends a step on the two values: its text for the expression, and a call of the single function. */
static void append(Program *p, const char *format, const char *x, const char *y) {
    char step[256];
    snprintf(step, sizeof step, format, x, y, x);
    snprintf(p->text + strlen(p->text), sizeof p->text - strlen(p->text), "t%d = %s; ", p->count, step);
}

static void step(Program *p) {
    static const char *const formats[] = {
        "%s + %s",      "%s - %s",         "%s * %s",       "%s / (abs(%s) + 1)", "max(%s, %s)", "%s * 3",
        "%s - 0.5",     "7 - %s",          "where(%s > %s, %s, 2)", "%s < %s",    "tanh(%s)",    "exp(clamp(%s, -3, 3))",
        "sin(%s)",      "lerp(%s, %s, 0.25)", "addcmul(%s, 2, %s, %s)", "pow(%s, 2)", "sigmoid(%s)", "round(%s)",
        "2 / (%s * %s + 1)", "neg(%s)",    "%s == %s",      "cpow(abs(%s), 2 * sigmoid(%s))", "asinh(%s)", "hypot(%s, %s)",
    };
    int kind = below(sizeof formats / sizeof *formats), i = below(p->count), j = below(p->count);
    char x[NAME], y[NAME];
    append(p, formats[kind], name_of(i, x), name_of(j, y));
    THTensor *a = p->values[i], *b = p->values[j], *r = THTensor_new(), *s = THTensor_new(), *u = THTensor_new();
    THStatus status = TH_OK;
#define DO(call) (status = status ? status : (call))
    switch (kind) {
    case 0: DO(THTensor_cadd(r, a, 1, b)); break;
    case 1: DO(THTensor_csub(r, a, 1, b)); break;
    case 2: DO(THTensor_cmul(r, a, b)); break;
    case 3: DO(THTensor_abs(s, b)), DO(THTensor_add(u, s, 1)), DO(THTensor_cdiv(r, a, u)); break;
    case 4: DO(THTensor_cmax(r, a, b)); break;
    case 5: DO(THTensor_mul(r, a, 3)); break;
    case 6: DO(THTensor_sub(r, a, 0.5)); break;
    case 7: DO(THTensor_rsub(r, a, 7)); break;
    case 8: DO(THTensor_gtTensor(s, a, b)), DO(THTensor_whereValue(r, s, a, 2)); break;
    case 9: DO(THTensor_ltTensor(r, a, b)); break;
    case 10: DO(THTensor_tanh(r, a)); break;
    case 11: DO(THTensor_clamp(s, a, -3, 3)), DO(THTensor_exp(r, s)); break;
    case 12: DO(THTensor_sin(r, a)); break;
    case 13: DO(THTensor_lerp(r, a, b, 0.25)); break;
    case 14: DO(THTensor_addcmul(r, a, 2, b, a)); break;
    case 15: DO(THTensor_pow(r, a, 2)); break;
    case 16: DO(THTensor_sigmoid(r, a)); break;
    case 17: DO(THTensor_round(r, a)); break;
    case 18: DO(THTensor_cmul(s, a, b)), DO(THTensor_add(u, s, 1)), DO(THTensor_rdiv(r, u, 2)); break;
    case 19: DO(THTensor_neg(r, a)); break;
    case 20: DO(THTensor_eqTensor(r, a, b)); break;
    case 21: {
        THTensor *twice = THTensor_new();
        DO(THTensor_abs(s, a)), DO(THTensor_sigmoid(u, b)), DO(THTensor_mul(twice, u, 2)), DO(THTensor_cpow(r, s, twice));
        THTensor_free(twice);
        break;
    }
    case 22: DO(THTensor_asinh(r, a)); break;
    default: DO(THTensor_hypot(r, a, b));
    }
#undef DO
    THTensor_free(u);
    THTensor_free(s);
    p->values[p->count++] = r;
    p->status = p->status ? p->status : status;
}

/* An operand with a random dtype and layout, of the shape [rows x columns] or of a shape that broadcasts to it. */
static THTensor *operand(int64_t rows, int64_t columns) {
    THDtype dtype = below(4) ? dtypes[DTYPES - 1 - below(5)] : dtypes[below(DTYPES)];
    int64_t m = below(5) ? rows : 1, n = below(5) ? columns : 1;
    THTensor *t = THTensor_newZeros(TH_FLOAT64, SIZES(m, n));
    for (int64_t i = 0; i < m * n; i++) ((double *)THTensor_data(t))[i] = (below(4001) - 2000) / (below(4) ? 256.0 : 1.0);
    if (dtype == TH_BOOL || dtype == TH_UINT8) CHECK_OK(THTensor_abs(t, t));
    if (below(6) == 0) {
        THTensor *one = THTensor_newScalar(dtype, below(20));
        THTensor_free(t);
        return one;
    }
    int lies = below(4);
    THTensor *r = lies == 1 ? THTensor_newZeros(dtype, SIZES(n, m)) : THTensor_newZeros(dtype, SIZES(m, lies == 2 ? n + 3 : n));
    if (lies == 1) CHECK_OK(THTensor_transpose(r, r, 0, 1));
    if (lies == 2) CHECK_OK(THTensor_narrow(r, r, 1, 2, n));
    CHECK_OK(THTensor_copy(r, t));
    THTensor_free(t);
    return r;
}

/* Returns true if both tensors have the same bits. Two NaNs are equal. */
static int same_bits(THTensor *x, THTensor *y) {
    if (THTensor_dtype(x) != THTensor_dtype(y) || !THTensor_isSameSizeAs(x, y)) return 0;
    THTensor *a = THTensor_newContiguous(x), *b = THTensor_newContiguous(y);
    size_t size = THTensor_elementSize(a);
    int64_t n = THTensor_numel(a), wrong = 0;
    for (int64_t i = 0; i < n; i++) {
        int differs = memcmp((char *)THTensor_data(a) + i * size, (char *)THTensor_data(b) + i * size, size) != 0;
        wrong += differs && !(isnan(element_at(a, i)) && isnan(element_at(b, i)));
    }
    THTensor_free(a);
    THTensor_free(b);
    return wrong == 0;
}

static void random_programs_equal_the_single_functions(void) {
    int64_t rounds = shrunk(3000), fused = 0;
    for (int64_t round = 0; round < rounds; round++) {
        Program p = {.text = "", .count = OPERANDS};
        int64_t rows = 1 + below(below(3) ? 8 : 70), columns = 1 + below(below(3) ? 60 : 1500);
        if (rows * columns > MOST_ELEMENTS) rows = 1 + MOST_ELEMENTS / columns;
        for (int k = 0; k < OPERANDS; k++) p.values[k] = operand(rows, columns);
        for (int k = 0, n = 1 + below(STEPS); k < n && p.status == TH_OK; k++) step(&p);
        /* All unused values are added to the last one. */
        THTensor *last = p.values[p.count - 1], *sum = THTensor_new();
        char tail[256] = "";
        snprintf(tail, sizeof tail, "t%d", p.count - 1);
        p.status = p.status ? p.status : THTensor_add(sum, last, 0);
        for (int k = 0; k < p.count - 1; k++) {
            char name[NAME];
            snprintf(tail + strlen(tail), sizeof tail - strlen(tail), k ? " + %s" : " + 0 + %s", name_of(k, name));
            THTensor *more = THTensor_new();
            p.status = p.status ? p.status : THTensor_cadd(more, sum, 1, p.values[k]);
            THTensor_free(sum);
            sum = more;
        }
        strcat(p.text, tail);
        THTensor *r = THTensor_new();
        THStatus status = run_named(r, p.text, p.values);
        if (p.status != TH_OK) {
            CHECK(status != TH_OK);
        } else if (!CHECK(status == TH_OK) || !CHECK(same_bits(r, sum))) {
            printf("\n  round %d: %s: %s", (int)round, p.text, status ? THGetLastError() : "other bits");
            for (int k = 0; k < OPERANDS; k++)
                printf("\n  %c: %s, %d dimensions, strides %d", 'a' + k, THDtype_name(THTensor_dtype(p.values[k])),
                       THTensor_nDimension(p.values[k]), THTensor_nDimension(p.values[k]) ? (int)THTensor_stride(p.values[k], 1) : 0);
            printf("\n  [%d x %d]", (int)rows, (int)columns);
        }
        fused += status == TH_OK;
        THTensor_free(r);
        THTensor_free(sum);
        for (int k = 0; k < p.count; k++) THTensor_free(p.values[k]);
        if (check_failures > 5) break;
    }
    CHECK(fused * 2 > rounds);
    if (fused * 2 <= rounds) printf("\n  %d of %d", (int)fused, (int)rounds);
}

static void large_fields_are_shared_among_threads(void) {
    enum { SIDE = 1100 };
    THTensor *u = THTensor_newZeros(TH_FLOAT32, SIZES(SIDE, SIDE)), *flat = THTensor_newView(u, SIZES(SIDE * SIDE));
    CHECK_OK(THTensor_arange(flat, 0, SIDE * SIDE, 1));
    CHECK_OK(THTensor_sin(u, u));
    THTensor *parts[5], *rows, *sum = THTensor_new(), *r = THTensor_newZeros(TH_FLOAT32, SIZES(SIDE, SIDE)), *inner;
    static const int at[5][2] = {{1, 1}, {1, 0}, {1, 2}, {0, 1}, {2, 1}};
    for (int k = 0; k < 5; k++) {
        rows = THTensor_newNarrow(u, 0, at[k][0], SIDE - 2);
        parts[k] = THTensor_newNarrow(rows, 1, at[k][1], SIDE - 2);
        THTensor_free(rows);
    }
    rows = THTensor_newNarrow(r, 0, 1, SIDE - 2);
    inner = THTensor_newNarrow(rows, 1, 1, SIDE - 2);
    THTensor_free(rows);
    THFused *f = THFused_new("u + 0.1*(l + r + t + b - 4*u)");
    THTensor *scaled = THTensor_new();
    CHECK_OK(THTensor_cadd(sum, parts[1], 1, parts[2]));
    CHECK_OK(THTensor_cadd(sum, sum, 1, parts[3]));
    CHECK_OK(THTensor_cadd(sum, sum, 1, parts[4]));
    CHECK_OK(THTensor_mul(scaled, parts[0], 4));
    CHECK_OK(THTensor_csub(sum, sum, 1, scaled));
    CHECK_OK(THTensor_mul(sum, sum, 0.1));
    CHECK_OK(THTensor_cadd(sum, parts[0], 1, sum));
    CHECK_OK(THFused_run(inner, f, parts, 5));
    CHECK(same_bits(inner, sum));
    CHECK_NEAR(element_at(r, SIDE - 1), 0, 0);
    THTensor *fresh = THTensor_new();
    CHECK_OK(THFused_run(fresh, f, parts, 5));
    CHECK(same_bits(fresh, sum));
    THTensor_free(fresh);
    THTensor_free(scaled);
    THFused_free(f);
    THTensor_free(inner);
    for (int k = 0; k < 5; k++) THTensor_free(parts[k]);
    THTensor_free(r);
    THTensor_free(sum);
    THTensor_free(flat);
    THTensor_free(u);
}

/* On a GPU, if there is one, the results equal the single functions' results there. */
static void gpus_run_expressions(void) {
    if (THCuda_deviceCount() == 0) return;
    static const char *const texts[] = {
        "tanh(a*b + 0.5) - b", "where(a > b, a, 1) * 2 + b", "a / (b*b + 3) < 0.5", "d = a - b; clamp(d, -1, 1) + neg(d)",
    };
    static const THDtype kinds[][2] = {{TH_FLOAT32, TH_FLOAT32}, {TH_FLOAT16, TH_BFLOAT16}, {TH_INT32, TH_FLOAT64}, {TH_BFLOAT16, TH_UINT8}};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        THTensor *a = matrix_of(kinds[k][0], 2, -1, 2, 3, -4, 5, 6), *b = vector_of(kinds[k][1], 1, 2, 3);
        THTensor *here = THTensor_new(), *there = THTensor_new();
        THTensor *x = THTensor_newCuda(a, 0), *y = THTensor_newCuda(b, 0);
        CHECK_OK(run(here, texts[k], a, b, NULL));
        CHECK_OK(run(there, texts[k], x, y, NULL));
        CHECK(THTensor_isCuda(there));
        THTensor *back = THTensor_newCpu(there);
        CHECK_EQ(THTensor_dtype(back), THTensor_dtype(here));
        for (int64_t i = 0; i < 6 && THTensor_dtype(back) == THTensor_dtype(here); i++)
            CHECK_NEAR(element_at(back, i), element_at(here, i), 1e-6);
        /* A second call, and a call in place with transposed operands. */
        THTensor *turned = THTensor_newTranspose(there, 0, 1), *model = THTensor_newTranspose(here, 0, 1);
        if (is_float(THTensor_dtype(here))) {
            CHECK_OK(run(turned, "a * 2 + 1", turned, NULL, NULL));
            CHECK_OK(run(model, "a * 2 + 1", model, NULL, NULL));
            THTensor *now = THTensor_newCpu(there);
            for (int64_t i = 0; i < 6; i++) CHECK_NEAR(element_at(now, i), element_at(here, i), 1e-2);
            THTensor_free(now);
        }
        CHECK_ERROR(run(there, texts[k], x, b, NULL), TH_ERR_DEVICE, "one device");
        THTensor_free(model);
        THTensor_free(turned);
        THTensor_free(back);
        THTensor_free(y);
        THTensor_free(x);
        THTensor_free(there);
        THTensor_free(here);
        THTensor_free(b);
        THTensor_free(a);
    }
    THTensor *whole = vector_of(TH_INT32, 7, 7), *zero = vector_of(TH_INT32, 1, 0), *r = THTensor_new();
    THTensor *x = THTensor_newCuda(whole, 0), *y = THTensor_newCuda(zero, 0);
    CHECK_ERROR(run(r, "a + fmod(a, b + 0)", x, y, NULL), TH_ERR_ARGUMENT, "integers divided by zero");
    THTensor *two = THTensor_newScalar(TH_INT32, 2);
    CHECK_OK(run(r, "a + fmod(a, b + 0)", x, two, NULL));
    THTensor *back = THTensor_newCpu(r);
    CHECK_VALUES(back, 8, 8);
    THTensor_free(back);
    THTensor_free(two);
    THTensor_free(y);
    THTensor_free(x);
    THTensor_free(r);
    THTensor_free(zero);
    THTensor_free(whole);
}

CHECK_MAIN(CASE(a_product_and_a_sum_in_one_pass), CASE(expressions_mean_what_mathematics_means),
           CASE(errors_point_at_the_expression), CASE(results_have_the_dtype_that_the_functions_give_them),
           CASE(results_may_be_inputs_and_shapes_any), CASE(a_number_is_divided_by_a_tensor),
           CASE(random_programs_equal_the_single_functions), CASE(large_fields_are_shared_among_threads),
           CASE(gpus_run_expressions))
