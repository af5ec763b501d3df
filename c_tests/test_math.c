/* Elementwise mathematics: arithmetic, functions and comparisons on all dtypes and layouts, promotion, broadcasting,
 * overlap. */

#include "check.h"

/* Returns an integer as a result of `dtype` holds it: integers wrap in two's complement, floats are exact. */
static double held(THDtype dtype, double x) {
    int64_t whole = (int64_t)x;
    switch (dtype) {
    case TH_UINT8:
        return (uint8_t)whole;
    case TH_INT8:
        return (int8_t)whole;
    case TH_INT16:
        return (int16_t)whole;
    default:
        return x;
    }
}

/* The dtype of real results: float dtypes are kept, all others give the default dtype. */
static THDtype real_of(THDtype dtype) { return is_float(dtype) ? dtype : THGetDefaultDtype(); }

/* The distance between neighbouring numbers of `dtype` at `x`. Rounding errs by up to half of the distance. */
static double ulp(THDtype dtype, double x) {
    static const int digits[] = {[TH_FLOAT16] = 11, [TH_BFLOAT16] = 8, [TH_FLOAT32] = 24, [TH_FLOAT64] = 53};
    static const int least[] = {[TH_FLOAT16] = -24, [TH_BFLOAT16] = -133, [TH_FLOAT32] = -149, [TH_FLOAT64] = -1074};
    int exponent;
    frexp(x, &exponent);
    return ldexp(1, exponent - digits[dtype] > least[dtype] ? exponent - digits[dtype] : least[dtype]);
}

/* A matrix of small integers from 0 on, the same for every dtype and layout. Bool has their parity. */
static THTensor *small_numbers(THDtype dtype, int64_t rows, int64_t columns, enum layout layout, int seed) {
    THTensor *t = zeros_laid_out(dtype, rows, columns, layout);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            int64_t x = (i * 7 + j * 5 + seed) % 6;
            THTensor_set2d(t, i, j, (double)(dtype == TH_BOOL ? x % 2 : x));
        }
    }
    return t;
}

/* Arithmetic */

static void a_result_is_computed_into_a_fresh_handle(void) {
    THTensor *a = vector_of(TH_FLOAT32, 1, 2, 3), *b = vector_of(TH_FLOAT32, 10, 20, 30), *r = THTensor_new();
    CHECK_OK(THTensor_cadd(r, a, 1, b));
    CHECK_VALUES(r, 11, 22, 33);
    CHECK_OK(THTensor_csub(r, b, 2, a));
    CHECK_VALUES(r, 8, 16, 24);
    CHECK_OK(THTensor_cmul(r, a, b));
    CHECK_VALUES(r, 10, 40, 90);
    CHECK_OK(THTensor_cdiv(r, b, a));
    CHECK_VALUES(r, 10, 10, 10);
    THTensor_free(r);
    THTensor_free(b);
    THTensor_free(a);
}

static void numbers_work_on_every_element(void) {
    THTensor *t = vector_of(TH_FLOAT64, 1, 2, 3), *r = THTensor_new();
    CHECK_OK(THTensor_add(r, t, 0.5));
    CHECK_VALUES(r, 1.5, 2.5, 3.5);
    CHECK_OK(THTensor_sub(r, t, 1));
    CHECK_VALUES(r, 0, 1, 2);
    CHECK_OK(THTensor_mul(r, t, -2));
    CHECK_VALUES(r, -2, -4, -6);
    CHECK_OK(THTensor_div(r, t, 4));
    CHECK_VALUES(r, 0.25, 0.5, 0.75);
    THTensor_free(r);
    THTensor_free(t);
}

static void in_place_the_result_is_an_operand(void) {
    THTensor *t = vector_of(TH_INT32, 1, 2, 3), *u = vector_of(TH_INT32, 10, 20, 30);
    CHECK_OK(THTensor_cadd(t, t, 1, u));
    CHECK_VALUES(t, 11, 22, 33);
    CHECK_OK(THTensor_csub(t, u, 1, t));
    CHECK_VALUES(t, -1, -2, -3);
    CHECK_OK(THTensor_cmul(t, t, t));
    CHECK_VALUES(t, 1, 4, 9);
    CHECK_OK(THTensor_mul(t, t, 2));
    CHECK_VALUES(t, 2, 8, 18);
    THTensor_free(u);
    THTensor_free(t);
}

/* Long enough for vector instructions with a tail. */
#define ROWS 7
#define COLUMNS 23

static void check_arithmetic(THDtype dtype, const THTensor *a, const THTensor *b, THTensor *r, THTensor *quotient) {
    CHECK_OK(THTensor_cadd(r, a, 3, b));
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        CHECK_NEAR(element_at(r, i), held(dtype, element_at(a, i) + 3 * element_at(b, i)), 0);
    }
    CHECK_OK(THTensor_csub(r, a, 1, b));
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        CHECK_NEAR(element_at(r, i), held(dtype, element_at(a, i) - element_at(b, i)), 0);
    }
    CHECK_OK(THTensor_cmul(r, a, b));
    for (int i = 0; i < ROWS * COLUMNS; i++) CHECK_NEAR(element_at(r, i), element_at(a, i) * element_at(b, i), 0);
    CHECK_OK(THTensor_cdiv(quotient, a, b));
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        double expected = element_at(a, i) / element_at(b, i);
        CHECK_NEAR(element_at(quotient, i), expected, ulp(real_of(dtype), expected) / 2);
    }
}

static void arithmetic_agrees_on_all_dtypes_and_layouts(void) {
    for (int k = 0; k < DTYPES * LAYOUTS; k++) {
        THDtype dtype = dtypes[k / LAYOUTS];
        if (dtype == TH_BOOL) continue;
        THTensor *a = small_numbers(dtype, ROWS, COLUMNS, k % LAYOUTS, 0);
        THTensor *b = small_numbers(dtype, ROWS, COLUMNS, (k + 1) % LAYOUTS, 4);
        THTensor *r = zeros_laid_out(dtype, ROWS, COLUMNS, (k / 2) % LAYOUTS), *fresh = THTensor_new();
        check_arithmetic(dtype, a, b, r, fresh);
        CHECK_EQ(THTensor_dtype(fresh), real_of(dtype));
        THTensor_free(fresh);
        THTensor_free(r);
        THTensor_free(b);
        THTensor_free(a);
    }
}

static void integers_wrap(void) {
    THTensor *bytes = vector_of(TH_UINT8, 0, 200, 255), *r = THTensor_new();
    CHECK_OK(THTensor_add(r, bytes, 100));
    CHECK_VALUES(r, 100, 44, 99);
    CHECK_OK(THTensor_csub(r, r, 1, bytes));
    CHECK_VALUES(r, 100, 100, 100);
    CHECK_OK(THTensor_neg(r, bytes));
    CHECK_VALUES(r, 0, 56, 1);
    THTensor_free(r);
    THTensor *most = THTensor_newScalarLong(TH_INT64, INT64_MAX), *sum = THTensor_new();
    CHECK_OK(THTensor_add(sum, most, 1));
    CHECK_EQ(THTensor_itemLong(sum), INT64_MIN);
    THTensor_free(sum);
    THTensor_free(most);
    THTensor_free(bytes);
}

static void on_bool_addition_is_or_and_multiplication_is_and(void) {
    THTensor *a = vector_of(TH_BOOL, 0, 0, 1, 1), *b = vector_of(TH_BOOL, 0, 1, 0, 1), *r = THTensor_new();
    CHECK_OK(THTensor_cadd(r, a, 1, b));
    CHECK_EQ(THTensor_dtype(r), TH_BOOL);
    CHECK_VALUES(r, 0, 1, 1, 1);
    CHECK_OK(THTensor_cmul(r, a, b));
    CHECK_VALUES(r, 0, 0, 0, 1);
    CHECK_ERROR(THTensor_csub(r, a, 1, b), TH_ERR_DTYPE, "bool");
    CHECK_ERROR(THTensor_neg(r, a), TH_ERR_DTYPE, "bool");
    CHECK_ERROR(THTensor_abs(r, a), TH_ERR_DTYPE, "bool");
    THTensor_free(r);
    THTensor_free(b);
    THTensor_free(a);
}

static void division_is_true_division(void) {
    THTensor *a = vector_of(TH_INT32, 7, -7, 1, -1, 0), *zero = THTensor_newScalar(TH_INT32, 0), *r = THTensor_new();
    CHECK_OK(THTensor_div(r, a, 2));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
    CHECK_VALUES(r, 3.5, -3.5, 0.5, -0.5, 0);
    CHECK_OK(THTensor_cdiv(r, a, zero));
    CHECK_VALUES(r, INFINITY, -INFINITY, INFINITY, -INFINITY, NAN);
    CHECK_ERROR(THTensor_div(a, a, 2), TH_ERR_DTYPE, "float32");
    THTensor_free(r);
    THTensor_free(zero);
    THTensor_free(a);
}

/* Shapes and dtypes */

static void shapes_broadcast(void) {
    THTensor *column = matrix_of(TH_FLOAT32, 2, 10, 20), *row = vector_of(TH_FLOAT32, 1, 2, 3), *r = THTensor_new();
    CHECK_OK(THTensor_cadd(r, column, 1, row));
    CHECK_SHAPE(r, 2, 3);
    CHECK_VALUES(r, 11, 12, 13, 21, 22, 23);
    THTensor *cube = THTensor_newOnes(TH_FLOAT32, SIZES(2, 1, 1)), *none = THTensor_newOnes(TH_FLOAT32, SIZES(0, 1));
    CHECK_OK(THTensor_cmul(r, cube, r));
    CHECK_SHAPE(r, 2, 2, 3);
    CHECK_OK(THTensor_cmul(r, none, row));
    CHECK_SHAPE(r, 0, 3);
    THTensor *scalar = THTensor_newScalar(TH_FLOAT32, 5);
    CHECK_OK(THTensor_cmul(r, scalar, scalar));
    CHECK_EQ(THTensor_nDimension(r), 0);
    CHECK_VALUES(r, 25);
    THTensor_free(scalar);
    THTensor_free(none);
    THTensor_free(cube);
    THTensor_free(r);
    THTensor_free(row);
    THTensor_free(column);
}

static void dtypes_promote_as_in_pytorch(void) {
    enum { u1 = TH_UINT8, i1 = TH_INT8, i2 = TH_INT16, i4 = TH_INT32, i8 = TH_INT64 };
    enum { f2 = TH_FLOAT16, bf = TH_BFLOAT16, f4 = TH_FLOAT32, f8 = TH_FLOAT64, b1 = TH_BOOL };
    static const int table[DTYPES][DTYPES] = {
        {u1, i2, i2, i4, i8, f2, bf, f4, f8, u1}, {i2, i1, i2, i4, i8, f2, bf, f4, f8, i1},
        {i2, i2, i2, i4, i8, f2, bf, f4, f8, i2}, {i4, i4, i4, i4, i8, f2, bf, f4, f8, i4},
        {i8, i8, i8, i8, i8, f2, bf, f4, f8, i8}, {f2, f2, f2, f2, f2, f2, f4, f4, f8, f2},
        {bf, bf, bf, bf, bf, f4, bf, f4, f8, bf}, {f4, f4, f4, f4, f4, f4, f4, f4, f8, f4},
        {f8, f8, f8, f8, f8, f8, f8, f8, f8, f8}, {u1, i1, i2, i4, i8, f2, bf, f4, f8, b1},
    };
    for (int i = 0; i < DTYPES; i++) {
        for (int j = 0; j < DTYPES; j++) {
            CHECK_EQ(THDtype_promote(dtypes[i], dtypes[j]), table[i][j]);
            THTensor *a = THTensor_newOnes(dtypes[i], SIZES(3)), *b = THTensor_newOnes(dtypes[j], SIZES(3));
            THTensor *r = THTensor_new();
            CHECK_OK(THTensor_cadd(r, a, 1, b));
            CHECK_EQ(THTensor_dtype(r), table[i][j]);
            double two = table[i][j] == TH_BOOL ? 1 : 2;
            CHECK_VALUES(r, two, two, two);
            THTensor_free(r);
            THTensor_free(b);
            THTensor_free(a);
        }
    }
}

/* The dtype of a tensor of ones plus a 0-d tensor. */
static THDtype with_scalar(THDtype dtype, THDtype scalar_dtype) {
    THTensor *t = THTensor_newOnes(dtype, SIZES(2)), *one = THTensor_newScalar(scalar_dtype, 1), *r = THTensor_new();
    CHECK_OK(THTensor_cadd(r, t, 1, one));
    THDtype result = THTensor_dtype(r);
    THTensor_free(r);
    THTensor_free(one);
    THTensor_free(t);
    return result;
}

/* The dtype of a tensor of ones plus a number. */
static THDtype with_number(THDtype dtype, double number) {
    THTensor *t = THTensor_newOnes(dtype, SIZES(2)), *r = THTensor_new();
    CHECK_OK(THTensor_add(r, t, number));
    THDtype result = THTensor_dtype(r);
    THTensor_free(r);
    THTensor_free(t);
    return result;
}

static void scalars_and_numbers_count_only_where_their_kind_is_higher(void) {
    CHECK_EQ(with_scalar(TH_FLOAT32, TH_FLOAT64), TH_FLOAT32);
    CHECK_EQ(with_scalar(TH_FLOAT16, TH_INT64), TH_FLOAT16);
    CHECK_EQ(with_scalar(TH_INT8, TH_INT64), TH_INT8);
    CHECK_EQ(with_scalar(TH_INT8, TH_FLOAT64), TH_FLOAT64);
    CHECK_EQ(with_scalar(TH_BOOL, TH_INT16), TH_INT16);
    CHECK_EQ(with_number(TH_INT16, 3), TH_INT16);
    CHECK_EQ(with_number(TH_INT16, 0.5), TH_FLOAT32);
    CHECK_EQ(with_number(TH_BFLOAT16, 0.5), TH_BFLOAT16);
    CHECK_EQ(with_number(TH_BOOL, 2), TH_INT64);
    CHECK_EQ(with_number(TH_BOOL, 0.5), TH_FLOAT32);
}

static void a_result_keeps_its_dtype_and_takes_what_fits(void) {
    THTensor *ints = vector_of(TH_INT32, 1, 2), *floats = vector_of(TH_FLOAT32, 0.5, 1.5);
    THTensor *r = THTensor_newZeros(TH_FLOAT64, SIZES(5));
    CHECK_OK(THTensor_cadd(r, ints, 1, floats));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT64);
    CHECK_VALUES(r, 1.5, 3.5);
    CHECK_ERROR(THTensor_cadd(ints, ints, 1, floats), TH_ERR_DTYPE, "float32 cannot be stored in a tensor of int32");
    for (int i = 0; i < DTYPES; i++) {
        for (int j = 0; j < DTYPES; j++) {
            int kinds_fit =
                is_float(dtypes[j]) || (dtypes[j] != TH_BOOL && !is_float(dtypes[i])) || dtypes[i] == TH_BOOL;
            CHECK_EQ(THDtype_canCast(dtypes[i], dtypes[j]), kinds_fit);
        }
    }
    THTensor_free(r);
    THTensor_free(floats);
    THTensor_free(ints);
}

static void factors_of_integers_are_whole(void) {
    THTensor *t = vector_of(TH_INT64, 1, 2), *r = THTensor_new();
    CHECK_OK(THTensor_cadd(r, t, -3, t));
    CHECK_VALUES(r, -2, -4);
    CHECK_ERROR(THTensor_cadd(r, t, 0.5, t), TH_ERR_DTYPE, "0.5");
    CHECK_ERROR(THTensor_csub(r, t, NAN, t), TH_ERR_DTYPE, "THTensor_csub");
    THTensor_free(r);
    THTensor_free(t);
}

/* Overlap: the result is as if the inputs had been copied first. */

static void operands_may_overlap_the_result_partly(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1, 2, 3, 4, 5, 6);
    THTensor *front = THTensor_newNarrow(t, 0, 0, 5), *back = THTensor_newNarrow(t, 0, 1, 5);
    CHECK_OK(THTensor_cadd(back, front, 10, back));
    CHECK_VALUES(t, 1, 21, 32, 43, 54, 65);
    CHECK_OK(THTensor_mul(front, back, 2));
    CHECK_VALUES(t, 42, 64, 86, 108, 130, 65);
    THTensor_free(back);
    THTensor_free(front);
    THTensor_free(t);

    THTensor *m = matrix_of(TH_INT32, 2, 1, 2, 3, 4), *turned = THTensor_newT(m), *row = THTensor_newSelect(m, 0, 0);
    CHECK_OK(THTensor_cadd(m, m, 1, turned));
    CHECK_VALUES(m, 2, 5, 5, 8);
    CHECK_OK(THTensor_cadd(m, m, 1, row));
    CHECK_VALUES(m, 4, 10, 7, 13);
    CHECK_OK(THTensor_sum(row, m, 0, 0));
    CHECK_VALUES(m, 11, 23, 7, 13);
    THTensor_free(row);
    THTensor_free(turned);
    THTensor_free(m);
}

/* A 3 x 3 view somewhere in `storage`, which has 40 elements. `random` is the state of the choice. */
static THTensor *random_view(THStorage *storage, unsigned *random) {
    int64_t picked[3];
    for (int i = 0; i < 3; i++) {
        *random = *random * 1664525 + 1013904223;
        picked[i] = *random >> 24;
    }
    return THTensor_newWithStorage2d(storage, picked[0] % 8, 3, picked[1] % 8, 3, picked[2] % 8);
}

static void views_of_one_storage_behave_as_if_copied(void) {
    THStorage *storage = THStorage_newWithSize(TH_INT32, 40);
    unsigned random = 1;
    int done = 0;
    for (int64_t round = shrunk(3000) * 2; round > 0; round--) {
        for (int i = 0; i < 40; i++) CHECK_OK(THStorage_set(storage, i, i * i));
        THTensor *r = random_view(storage, &random), *a = random_view(storage, &random);
        THTensor *b = random_view(storage, &random), *expected = THTensor_new();
        THTensor *a_copy = THTensor_newClone(a), *b_copy = THTensor_newClone(b);
        CHECK_OK(THTensor_cadd(expected, a_copy, 2, b_copy));
        /* A result whose positions share elements is refused. All other results must be right. */
        if (THTensor_cadd(r, a, 2, b) == TH_OK) {
            done++;
            for (int i = 0; i < 9; i++) CHECK_NEAR(element_at(r, i), element_at(expected, i), 0);
        }
        THTensor *made[] = {r, a, b, expected, a_copy, b_copy};
        for (int i = 0; i < 6; i++) THTensor_free(made[i]);
    }
    CHECK(done > 0);
    THStorage_free(storage);
}

static void a_result_that_grows_leaves_its_old_memory_to_the_inputs(void) {
    THTensor *row = vector_of(TH_FLOAT32, 1, 2), *column = matrix_of(TH_FLOAT32, 2, 10, 20);
    THTensor *also_row = THTensor_newWithTensor(row);
    CHECK_OK(THTensor_cadd(also_row, row, 1, column));
    CHECK_VALUES(also_row, 11, 12, 21, 22);
    CHECK_VALUES(row, 1, 2);
    CHECK_OK(THTensor_cadd(row, row, 1, column));
    CHECK_VALUES(row, 11, 12, 21, 22);
    THTensor_free(also_row);
    THTensor_free(column);
    THTensor_free(row);
}

static void a_result_whose_positions_share_elements_is_an_error(void) {
    THTensor *row = vector_of(TH_FLOAT32, 1, 2), *rows = THTensor_newExpand(row, SIZES(3, 2));
    CHECK_ERROR(THTensor_add(rows, rows, 1), TH_ERR_SHAPE, "share one element");
    CHECK_OK(THTensor_add(row, row, 1));
    CHECK_VALUES(rows, 2, 3, 2, 3, 2, 3);
    THTensor_free(rows);
    THTensor_free(row);
}

/* Functions */

static double sigmoid(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }

static const struct {
    const char *name;
    THStatus (*ours)(THTensor *, const THTensor *);
    double (*theirs)(double);
} functions[] = {
    {"neg", THTensor_neg, NULL},
    {"abs", THTensor_abs, fabs},
    {"sqrt", THTensor_sqrt, sqrt},
    {"exp", THTensor_exp, exp},
    {"log", THTensor_log, log},
    {"tanh", THTensor_tanh, tanh},
    {"sigmoid", THTensor_sigmoid, sigmoid},
};
#define FUNCTIONS (int)(sizeof functions / sizeof *functions)

static void functions_agree_with_the_c_library(void) {
    for (int k = 0; k < DTYPES * LAYOUTS * FUNCTIONS; k++) {
        int f = k / (DTYPES * LAYOUTS);
        THDtype dtype = dtypes[k % DTYPES];
        enum layout layout = k / DTYPES % LAYOUTS;
        if (f < 2 && dtype == TH_BOOL) continue;
        THTensor *t = zeros_laid_out(dtype, 9, 31, layout), *r = THTensor_new();
        for (int i = 0; i < 9 * 31; i++) THTensor_set2d(t, i / 31, i % 31, is_float(dtype) ? (i - 140) / 13.0 : i % 8);
        CHECK_OK(functions[f].ours(r, t));
        THDtype result = f < 2 ? dtype : real_of(dtype);
        CHECK_EQ(THTensor_dtype(r), result);
        for (int i = 0; i < 9 * 31; i++) {
            double x = element_at(t, i), expected = functions[f].theirs ? functions[f].theirs(x) : held(dtype, -x);
            double tolerance = is_float(result) && isfinite(expected) ? 2 * ulp(result, expected) : 0;
            if (!CHECK_NEAR(element_at(r, i), expected, tolerance)) printf(" (%s of %g)", functions[f].name, x);
        }
        THTensor_free(r);
        THTensor_free(t);
    }
}

static void functions_take_the_ends_of_their_domains(void) {
    for (THDtype dtype = TH_FLOAT16; dtype <= TH_FLOAT64; dtype++) {
        THTensor *ends = vector_of(dtype, -INFINITY, -1e4, -0.0, 0, 1e4, INFINITY, NAN), *r = THTensor_new();
        CHECK_OK(THTensor_exp(r, ends));
        CHECK_VALUES(r, 0, 0, 1, 1, INFINITY, INFINITY, NAN);
        CHECK_OK(THTensor_tanh(r, ends));
        CHECK_VALUES(r, -1, -1, 0, 0, 1, 1, NAN);
        CHECK(signbit(element_at(r, 2)) && !signbit(element_at(r, 3)));
        CHECK_OK(THTensor_sigmoid(r, ends));
        CHECK_VALUES(r, 0, 0, 0.5, 0.5, 1, 1, NAN);
        CHECK_OK(THTensor_abs(r, ends));
        CHECK(!signbit(element_at(r, 2)) && element_at(r, 0) == INFINITY);
        THTensor *domain = vector_of(dtype, -INFINITY, -1, -0.0, 0, 1, INFINITY, NAN);
        CHECK_OK(THTensor_log(r, domain));
        CHECK_VALUES(r, NAN, NAN, -INFINITY, -INFINITY, 0, INFINITY, NAN);
        CHECK_OK(THTensor_sqrt(r, domain));
        CHECK_VALUES(r, NAN, NAN, 0, 0, 1, INFINITY, NAN);
        THTensor_free(domain);
        THTensor_free(r);
        THTensor_free(ends);
    }
}

static void functions_are_accurate_where_results_are_tiny_or_vast(void) {
    static const double x[] = {-745, -708.5, -700, -1e-10, 1e-300, 1e-5, 709.7, 1e308};
    THTensor *t = THTensor_newFromData(TH_FLOAT64, SIZES(8), x), *r = THTensor_new();
    for (int f = 3; f < FUNCTIONS; f++) {
        CHECK_OK(functions[f].ours(r, t));
        for (int i = 0; i < 8; i++) {
            double expected = functions[f].theirs(x[i]);
            double tolerance = isfinite(expected) ? 2 * ulp(TH_FLOAT64, expected) : 0;
            if (!CHECK_NEAR(element_at(r, i), expected, tolerance)) printf(" (%s of %g)", functions[f].name, x[i]);
        }
    }
    THTensor_free(r);
    THTensor_free(t);
}

/* Comparisons */

static void comparisons_give_bool(void) {
    THTensor *a = vector_of(TH_FLOAT32, 1, 2, 3, NAN), *b = vector_of(TH_FLOAT32, 2, 2, 2, NAN), *r = THTensor_new();
    CHECK_OK(THTensor_ltTensor(r, a, b));
    CHECK_EQ(THTensor_dtype(r), TH_BOOL);
    CHECK_VALUES(r, 1, 0, 0, 0);
    CHECK_OK(THTensor_leTensor(r, a, b));
    CHECK_VALUES(r, 1, 1, 0, 0);
    CHECK_OK(THTensor_gtTensor(r, a, b));
    CHECK_VALUES(r, 0, 0, 1, 0);
    CHECK_OK(THTensor_geTensor(r, a, b));
    CHECK_VALUES(r, 0, 1, 1, 0);
    CHECK_OK(THTensor_eqTensor(r, a, b));
    CHECK_VALUES(r, 0, 1, 0, 0);
    CHECK_OK(THTensor_neTensor(r, a, b));
    CHECK_VALUES(r, 1, 0, 1, 1);
    THTensor_free(r);
    THTensor_free(b);
    THTensor_free(a);
}

static void numbers_beyond_a_dtype_compare_as_numbers(void) {
    THTensor *t = vector_of(TH_UINT8, 5, 250), *signed_bytes = vector_of(TH_INT8, -100, 100), *r = THTensor_new();
    CHECK_OK(THTensor_gtValue(r, t, -1));
    CHECK_VALUES(r, 1, 1);
    CHECK_OK(THTensor_ltValue(r, t, 300));
    CHECK_VALUES(r, 1, 1);
    CHECK_OK(THTensor_leValue(r, t, 1e10));
    CHECK_VALUES(r, 1, 1);
    CHECK_OK(THTensor_eqValue(r, t, 261));
    CHECK_VALUES(r, 0, 0);
    CHECK_OK(THTensor_neValue(r, signed_bytes, 156));
    CHECK_VALUES(r, 1, 1);
    CHECK_OK(THTensor_geValue(r, signed_bytes, -1000));
    CHECK_VALUES(r, 1, 1);
    THTensor_free(r);
    THTensor_free(signed_bytes);
    THTensor_free(t);
}

static void a_comparison_fits_the_dtype_of_its_result(void) {
    THTensor *a = vector_of(TH_INT64, 1, 2), *r = THTensor_newZeros(TH_FLOAT32, SIZES(2));
    CHECK_OK(THTensor_gtValue(r, a, 1));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
    CHECK_VALUES(r, 0, 1);
    CHECK_OK(THTensor_gtValue(a, a, 1));
    CHECK_VALUES(a, 0, 1);
    THTensor_free(r);
    THTensor_free(a);
}

static void large_integers_compare_exactly(void) {
    const int64_t close[] = {INT64_C(1) << 53, (INT64_C(1) << 53) + 1, INT64_MAX - 1, INT64_MAX};
    THTensor *t = THTensor_newFromData(TH_INT64, SIZES(4), close), *r = THTensor_new();
    THTensor *a = THTensor_newSlice(t, 0, 0, 4, 2), *b = THTensor_newSlice(t, 0, 1, 4, 2);
    CHECK_OK(THTensor_ltTensor(r, a, b));
    CHECK_VALUES(r, 1, 1);
    CHECK_OK(THTensor_eqTensor(r, a, b));
    CHECK_VALUES(r, 0, 0);
    THTensor_free(b);
    THTensor_free(a);
    THTensor_free(r);
    THTensor_free(t);
}

/* Threads */

static void results_do_not_depend_on_the_number_of_threads(void) {
    const int64_t length = shrunk(300000) + 7;
    const int threads_before = THGetNumThreads();
    THTensor *t = THTensor_newWithSize1d(TH_FLOAT32, length), *alone = THTensor_new(), *together = THTensor_new();
    for (int64_t i = 0; i < length; i++) ((float *)THTensor_data(t))[i] = (float)i / 50000 - 3;
    for (int f = 0; f < FUNCTIONS; f++) {
        CHECK_OK(THSetNumThreads(1));
        CHECK_OK(functions[f].ours(alone, t));
        CHECK_OK(THSetNumThreads(5));
        CHECK_EQ(THGetNumThreads(), 5);
        CHECK_OK(functions[f].ours(together, t));
        CHECK(memcmp(THTensor_data(alone), THTensor_data(together), (size_t)length * sizeof(float)) == 0);
    }
    CHECK_OK(THSetNumThreads(threads_before));
    CHECK_ERROR(THSetNumThreads(0), TH_ERR_ARGUMENT, "0 threads");
    CHECK_ERROR(THSetNumThreads(-1), TH_ERR_ARGUMENT, "-1 threads");
    THTensor_free(together);
    THTensor_free(alone);
    THTensor_free(t);
}

CHECK_MAIN(CASE(a_result_is_computed_into_a_fresh_handle), CASE(numbers_work_on_every_element),
           CASE(in_place_the_result_is_an_operand), CASE(arithmetic_agrees_on_all_dtypes_and_layouts),
           CASE(integers_wrap), CASE(on_bool_addition_is_or_and_multiplication_is_and), CASE(division_is_true_division),
           CASE(shapes_broadcast), CASE(dtypes_promote_as_in_pytorch),
           CASE(scalars_and_numbers_count_only_where_their_kind_is_higher),
           CASE(a_result_keeps_its_dtype_and_takes_what_fits), CASE(factors_of_integers_are_whole),
           CASE(operands_may_overlap_the_result_partly), CASE(views_of_one_storage_behave_as_if_copied),
           CASE(a_result_that_grows_leaves_its_old_memory_to_the_inputs),
           CASE(a_result_whose_positions_share_elements_is_an_error), CASE(functions_agree_with_the_c_library),
           CASE(functions_take_the_ends_of_their_domains), CASE(functions_are_accurate_where_results_are_tiny_or_vast),
           CASE(comparisons_give_bool), CASE(numbers_beyond_a_dtype_compare_as_numbers),
           CASE(a_comparison_fits_the_dtype_of_its_result), CASE(large_integers_compare_exactly),
           CASE(results_do_not_depend_on_the_number_of_threads))
