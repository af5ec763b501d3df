/* Copies between all dtypes and layouts, broadcast and overlapping; the conversion of each number. */

#include "check.h"

/* Numbers around every limit of every dtype. */
static const double numbers[] = {
    0,        -0.0,       1,           -1,          0.5,         -0.5,   1.5,   2.75,     -2.75,
    100,      127,        128,         -128,        -129,        200,    255,   256,      300,
    1000.25,  32767,      32768,       -32768,      -32769,      40000,  65504, 65520,    70000,
    16777217, 2147483647, 2147483648,  -2147483648, -2147483649, 1e18,   1e19,  -1e19,    1.0 / 3,
    1e-3,     1e-7,       3.141592653, 1e38,        1e39,        -1e300, NAN,   INFINITY, -INFINITY,
};
#define NUMBERS (int)(sizeof numbers / sizeof *numbers)
#define ROWS 5
#define COLUMNS (NUMBERS / ROWS)

/* Rounds `x` to nearest even with `digits` significant bits, of which none is below 2^least. Infinite from 2^end on. */
static double rounded(double x, int digits, int least, int end) {
    int exponent;
    if (x == 0 || !isfinite(x)) return x;
    frexp(x, &exponent);
    double unit = ldexp(1, exponent - digits > least ? exponent - digits : least);
    double near = nearbyint(x / unit) * unit;
    return fabs(near) >= ldexp(1, end) ? copysign(INFINITY, x) : near;
}

static double saturated(double x, double least, double greatest) {
    if (isnan(x)) return 0;
    return x < least ? least : x > greatest ? greatest : trunc(x);
}

/* Returns `x`, an element of dtype `from`, in dtype `to`: floats round and saturate, integers wrap as in C. */
static double converted(double x, THDtype from, THDtype to) {
    int wraps = !is_float(from);
    int64_t whole = wraps ? (x >= 0x1p63 ? INT64_MAX : (int64_t)x) : 0;
    switch (to) {
    case TH_BOOL:
        return x != 0;
    case TH_UINT8:
        return wraps ? (uint8_t)whole : saturated(x, 0, 255);
    case TH_INT8:
        return wraps ? (int8_t)whole : saturated(x, -128, 127);
    case TH_INT16:
        return wraps ? (int16_t)whole : saturated(x, -32768, 32767);
    case TH_INT32:
        return wraps ? (int32_t)whole : saturated(x, -2147483648.0, 2147483647.0);
    case TH_INT64:
        return wraps ? x : saturated(x, -0x1p63, 0x1p63);
    case TH_FLOAT16:
        return rounded(x, 11, -24, 16);
    case TH_BFLOAT16:
        return rounded(x, 8, -133, 128);
    case TH_FLOAT32:
        return rounded(x, 24, -149, 128);
    default:
        return x;
    }
}

/* Copies `src` into `r` of the same shape, and reports the first wrong element. */
static void check_conversion(const THTensor *src, THTensor *r) {
    CHECK_OK(THTensor_copy(r, src));
    THDtype from = THTensor_dtype(src), to = THTensor_dtype(r);
    for (int64_t i = 0; i < THTensor_nElement(src); i++) {
        double x = element_at(src, i);
        if (CHECK_NEAR(element_at(r, i), converted(x, from, to), 0)) continue;
        printf(" (from %s %.17g to %s)", THDtype_name(from), x, THDtype_name(to));
        return;
    }
}

static void any_dtype_and_layout_into_any_other(void) {
    THTensor *all = THTensor_newFromData(TH_FLOAT64, SIZES(ROWS, COLUMNS), numbers);
    for (int from = 0; from < DTYPES * LAYOUTS; from++) {
        THTensor *src = zeros_laid_out(dtypes[from / LAYOUTS], ROWS, COLUMNS, from % LAYOUTS);
        check_conversion(all, src);
        for (int to = 0; to < DTYPES * LAYOUTS; to++) {
            THTensor *r = zeros_laid_out(dtypes[to / LAYOUTS], ROWS, COLUMNS, to % LAYOUTS);
            check_conversion(src, r);
            THTensor_free(r);
        }
        THTensor_free(src);
    }
    THTensor_free(all);
}

/* Long enough for vector instructions with a tail. */
static void long_runs_convert_as_single_elements_do(void) {
    enum { LENGTH = 333 };
    THTensor *all = THTensor_newWithSize1d(TH_FLOAT64, LENGTH);
    for (int i = 0; i < LENGTH; i++) CHECK_OK(THTensor_set1d(all, i, numbers[i % NUMBERS]));
    for (int from = 0; from < DTYPES; from++) {
        THTensor *src = THTensor_newWithSize1d(dtypes[from], LENGTH);
        CHECK_OK(THTensor_copy(src, all));
        for (int to = 0; to < DTYPES; to++) {
            THTensor *r = THTensor_newWithSize1d(dtypes[to], LENGTH);
            check_conversion(src, r);
            THTensor_free(r);
        }
        THTensor_free(src);
    }
    THTensor_free(all);
}

static void floats_keep_the_sign_of_zero_and_tiny_numbers(void) {
    THTensor *t = vector_of(TH_FLOAT64, -0.0, 0x1p-24, 0x1p-149);
    THTensor *half = THTensor_newTo(t, TH_FLOAT16), *single = THTensor_newTo(t, TH_FLOAT32);
    CHECK(signbit(THTensor_get1d(half, 0)) && signbit(THTensor_get1d(single, 0)));
    CHECK_VALUES(half, 0, 0x1p-24, 0);
    CHECK_VALUES(single, 0, 0x1p-24, 0x1p-149);
    THTensor_free(single);
    THTensor_free(half);
    THTensor_free(t);
}

static void setting_an_element_rounds_as_copying_does(void) {
    /* The last two exceed the midpoint between two 16-bit floats by less than the precision of float32. */
    const double x[] = {0.1, 1e-7, 65519, 65520, 1e39, -1.0 / 3, 1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-8 + 0x1p-40};
    THTensor *all = THTensor_newFromData(TH_FLOAT64, SIZES(8), x);
    for (THDtype dtype = TH_FLOAT16; dtype <= TH_FLOAT64; dtype++) {
        THTensor *copied = THTensor_newTo(all, dtype);
        for (int i = 0; i < 8; i++) {
            THTensor *set = THTensor_newScalar(dtype, x[i]);
            CHECK_NEAR(THTensor_item(set), converted(x[i], TH_FLOAT64, dtype), 0);
            CHECK_NEAR(THTensor_get1d(copied, i), converted(x[i], TH_FLOAT64, dtype), 0);
            THTensor_free(set);
        }
        THTensor_free(copied);
    }
    THTensor_free(all);
}

static void every_16_bit_float_survives_the_way_to_float32_and_back(void) {
    enum { ALL = 65536 };
    static uint16_t bits[ALL];
    for (int i = 0; i < ALL; i++) bits[i] = (uint16_t)i;
    for (THDtype dtype = TH_FLOAT16; dtype <= TH_BFLOAT16; dtype++) {
        THTensor *t = THTensor_newFromData(dtype, SIZES(ALL), bits);
        THTensor *wide = THTensor_newTo(t, TH_FLOAT32), *back = THTensor_newTo(wide, dtype);
        const float *values = THTensor_data(wide);
        const uint16_t *again = THTensor_data(back);
        int wrong = 0;
        for (int i = 0; i < ALL; i++) wrong += isnan(values[i]) ? (again[i] & 0x7fff) < 0x7c00 : again[i] != bits[i];
        CHECK_EQ(wrong, 0);
        THTensor_free(back);
        THTensor_free(wide);
        THTensor_free(t);
    }
}

static void any_byte_but_zero_is_true(void) {
    const uint8_t bytes[] = {0, 1, 2, 255};
    THTensor *t = THTensor_newFromData(TH_BOOL, SIZES(4), bytes);
    for (int k = 0; k < DTYPES; k++) {
        THTensor *r = THTensor_newZeros(dtypes[k], SIZES(4));
        CHECK_OK(THTensor_copy(r, t));
        CHECK_VALUES(r, 0, 1, 1, 1);
        THTensor_free(r);
    }
    THTensor_free(t);
}

static void int64_copies_are_exact(void) {
    const int64_t exact[] = {INT64_MAX, INT64_MIN, (INT64_C(1) << 53) + 1, -1};
    THTensor *t = THTensor_newFromData(TH_INT64, SIZES(2, 2), exact);
    THTensor *r = zeros_laid_out(TH_INT64, 2, 2, TRANSPOSED), *back = THTensor_newZeros(TH_INT64, SIZES(2, 2));
    CHECK_OK(THTensor_copy(r, t));
    CHECK_OK(THTensor_copy(back, r));
    CHECK(memcmp(THTensor_data(back), exact, sizeof exact) == 0);
    THTensor_free(back);
    THTensor_free(r);
    THTensor_free(t);
}

/* Shapes */

static void a_copy_broadcasts_over_the_result(void) {
    THTensor *r = THTensor_newZeros(TH_FLOAT32, SIZES(2, 3));
    THTensor *row = vector_of(TH_INT32, 1, 2, 3), *column = matrix_of(TH_INT32, 2, 10, 20);
    THTensor *scalar = THTensor_newScalar(TH_FLOAT64, 0.5);
    CHECK_OK(THTensor_copy(r, row));
    CHECK_VALUES(r, 1, 2, 3, 1, 2, 3);
    CHECK_OK(THTensor_copy(r, column));
    CHECK_VALUES(r, 10, 10, 10, 20, 20, 20);
    CHECK_OK(THTensor_copy(r, scalar));
    CHECK_VALUES(r, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5);
    THTensor_free(scalar);
    THTensor_free(column);
    THTensor_free(row);
    THTensor_free(r);
}

static void shapes_that_do_not_broadcast_are_errors(void) {
    THTensor *r = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6), *two = vector_of(TH_FLOAT32, 7, 8);
    THTensor *larger = THTensor_newOnes(TH_FLOAT32, SIZES(1, 2, 3)), *none = THTensor_newZeros(TH_FLOAT32, SIZES(0));
    CHECK_ERROR(THTensor_copy(r, two), TH_ERR_SHAPE, "[2] to [2, 3]");
    CHECK_ERROR(THTensor_copy(r, larger), TH_ERR_SHAPE, "[1, 2, 3] to [2, 3]");
    CHECK_ERROR(THTensor_copy(r, none), TH_ERR_SHAPE, "[0] to [2, 3]");
    CHECK_ERROR(THTensor_copy(two, r), TH_ERR_SHAPE, "[2, 3] to [2]");
    CHECK_VALUES(r, 1, 2, 3, 4, 5, 6);
    THTensor_free(none);
    THTensor_free(larger);
    THTensor_free(two);
    THTensor_free(r);
}

static void nothing_is_copied_into_nothing(void) {
    THTensor *r = THTensor_newZeros(TH_FLOAT32, SIZES(0, 3)), *row = vector_of(TH_INT8, 1, 2, 3);
    CHECK_OK(THTensor_copy(r, row));
    CHECK_OK(THTensor_copy(r, r));
    CHECK_SHAPE(r, 0, 3);
    THTensor_free(row);
    THTensor_free(r);
}

static void an_expanded_tensor_is_read_but_not_written(void) {
    THTensor *row = vector_of(TH_INT32, 1, 2, 3), *rows = THTensor_newExpand(row, SIZES(2, 3));
    THTensor *r = THTensor_newZeros(TH_INT32, SIZES(2, 3));
    CHECK_OK(THTensor_copy(r, rows));
    CHECK_VALUES(r, 1, 2, 3, 1, 2, 3);
    CHECK_OK(THTensor_fill(r, 9));
    CHECK_ERROR(THTensor_copy(rows, r), TH_ERR_SHAPE, "share one element");
    CHECK_VALUES(row, 1, 2, 3);
    THTensor_free(r);
    THTensor_free(rows);
    THTensor_free(row);
}

static void large_transposed_copies_put_every_element_in_its_place(void) {
    const int64_t rows = under_valgrind() ? 37 : 517, columns = under_valgrind() ? 41 : 1031;
    static const THDtype of_each_size[] = {TH_UINT8, TH_INT16, TH_FLOAT32, TH_INT64};
    for (int k = 0; k < 4; k++) {
        THTensor *src = zeros_laid_out(TH_INT32, rows, columns, ROW_MAJOR);
        int32_t *values = THTensor_data(src);
        for (int64_t i = 0; i < rows * columns; i++) values[i] = (int32_t)(i % 251);
        THTensor *typed = THTensor_newTo(src, of_each_size[k]);
        THTensor *r = zeros_laid_out(of_each_size[k], rows, columns, TRANSPOSED);
        CHECK_OK(THTensor_copy(r, typed));
        int wrong = 0;
        for (int64_t i = 0; i < rows * columns; i += 7) wrong += element_at(r, i) != (double)(i % 251);
        CHECK_EQ(wrong, 0);
        THTensor *equal = THTensor_new();
        CHECK_OK(THTensor_eqTensor(equal, r, typed));
        CHECK_EQ(THTensor_sumall(equal), rows * columns);
        THTensor_free(equal);
        THTensor_free(r);
        THTensor_free(typed);
        THTensor_free(src);
    }
}

/* Copies larger than the caches may use another algorithm. */
static void copies_of_many_megabytes_are_exact(void) {
    const int64_t length = shrunk(12000000) + 3;
    THTensor *src = THTensor_newWithSize1d(TH_INT32, length), *r = THTensor_newZeros(TH_INT32, SIZES(length));
    int32_t *values = THTensor_data(src);
    for (int64_t i = 0; i < length; i++) values[i] = (int32_t)(i * 2654435761u);
    CHECK_OK(THTensor_copy(r, src));
    CHECK(memcmp(THTensor_data(r), values, (size_t)length * sizeof *values) == 0);
    /* From an unaligned address to an aligned one. */
    CHECK_OK(THTensor_narrow(src, src, 0, 1, length - 1));
    CHECK_OK(THTensor_narrow(r, r, 0, 0, length - 1));
    CHECK_OK(THTensor_copy(r, src));
    CHECK(memcmp(THTensor_data(r), values + 1, (size_t)(length - 1) * sizeof *values) == 0);
    THTensor_free(r);
    THTensor_free(src);
}

/* Overlap: the result is as if the source had been copied first. */

static void overlapping_ranges_move_either_way(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1, 2, 3, 4, 5);
    THTensor *front = THTensor_newNarrow(t, 0, 0, 4), *back = THTensor_newNarrow(t, 0, 1, 4);
    CHECK_OK(THTensor_copy(back, front));
    CHECK_VALUES(t, 1, 1, 2, 3, 4);
    CHECK_OK(THTensor_copy(front, back));
    CHECK_VALUES(t, 1, 2, 3, 4, 4);
    THTensor_free(back);
    THTensor_free(front);
    THTensor_free(t);
}

static void a_matrix_is_copied_onto_its_transpose(void) {
    THTensor *m = matrix_of(TH_INT64, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9), *turned = THTensor_newT(m);
    CHECK_OK(THTensor_copy(m, turned));
    CHECK_VALUES(m, 1, 4, 7, 2, 5, 8, 3, 6, 9);
    THTensor_free(turned);
    THTensor_free(m);
}

static void a_row_is_spread_over_its_own_matrix(void) {
    THTensor *m = matrix_of(TH_INT16, 2, 1, 2, 3, 4), *last = THTensor_newSelect(m, 0, 1);
    CHECK_OK(THTensor_copy(m, last));
    CHECK_VALUES(m, 3, 4, 3, 4);
    THTensor_free(last);
    THTensor_free(m);
}

static void memory_is_converted_in_place(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1.5, -2.5, 3e9), *same_bytes = THTensor_newViewDtype(t, TH_INT32);
    CHECK_OK(THTensor_copy(same_bytes, t));
    CHECK_VALUES(same_bytes, 1, -2, 2147483647);
    THTensor_free(same_bytes);
    THTensor_free(t);
}

/* newTo */

static void to_another_dtype_makes_a_copy_with_the_same_strides(void) {
    THTensor *m = matrix_of(TH_FLOAT64, 2, 1.5, NAN, -3.5, 300);
    CHECK_OK(THTensor_t(m, m));
    THTensor *bytes = THTensor_newTo(m, TH_UINT8), *same = THTensor_newTo(m, TH_FLOAT64);
    CHECK_EQ(THTensor_dtype(bytes), TH_UINT8);
    CHECK_STRIDES(bytes, 1, 2);
    CHECK_VALUES(bytes, 1, 0, 0, 255);
    CHECK(same == m);
    CHECK_FAILURE(THTensor_newTo(m, TH_UNDEFINED) == NULL, TH_ERR_ARGUMENT, "TH_UNDEFINED is no dtype");
    CHECK_FAILURE(THTensor_newTo(m, 99) == NULL, TH_ERR_ARGUMENT, "99 is no dtype");
    THTensor_free(same);
    THTensor_free(bytes);
    THTensor_free(m);
}

static void a_copy_keeps_the_order_of_dimensions(void) {
    THStorage *s = THStorage_newWithSize(TH_BOOL, 100);
    /* A clone has no gaps. The stride of a dimension with one element does not matter. */
    THTensor *gaps = THTensor_newWithStorage(s, 0, SIZES(2, 3, 3, 1), (int64_t[]){25, 1, 5, 0}), *dense = THTensor_newClone(gaps);
    CHECK_STRIDES(dense, 9, 1, 3, 1);
    THTensor *row = THTensor_newWithStorage(s, 0, SIZES(1, 3), (int64_t[]){3, 1}), *expanded = THTensor_newExpand(row, SIZES(2, 3));
    THTensor *spread = THTensor_newClone(expanded);
    CHECK_STRIDES(spread, 3, 1);
    THTensor_free(spread);
    THTensor_free(expanded);
    THTensor_free(row);
    THTensor_free(dense);
    THTensor_free(gaps);
    THStorage_free(s);
}

CHECK_MAIN(CASE(any_dtype_and_layout_into_any_other), CASE(long_runs_convert_as_single_elements_do),
           CASE(floats_keep_the_sign_of_zero_and_tiny_numbers), CASE(setting_an_element_rounds_as_copying_does),
           CASE(every_16_bit_float_survives_the_way_to_float32_and_back), CASE(any_byte_but_zero_is_true),
           CASE(int64_copies_are_exact), CASE(a_copy_broadcasts_over_the_result),
           CASE(shapes_that_do_not_broadcast_are_errors), CASE(nothing_is_copied_into_nothing),
           CASE(an_expanded_tensor_is_read_but_not_written),
           CASE(large_transposed_copies_put_every_element_in_its_place), CASE(copies_of_many_megabytes_are_exact),
           CASE(overlapping_ranges_move_either_way), CASE(a_matrix_is_copied_onto_its_transpose),
           CASE(a_row_is_spread_over_its_own_matrix), CASE(memory_is_converted_in_place),
           CASE(to_another_dtype_makes_a_copy_with_the_same_strides), CASE(a_copy_keeps_the_order_of_dimensions))
