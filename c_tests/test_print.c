/* Printing: tensors as text in PyTorch's layout and in Torch7's, to a string, to stdout and to any stream. */

#include "check.h"

#include <unistd.h>

/* The library's string equals `expected`. Frees the string. */
#define CHECK_TEXT(call, expected)                                                                                     \
    do {                                                                                                               \
        char *text_ = (call);                                                                                          \
        CHECK_STR(text_ ? text_ : THGetLastError(), expected);                                                         \
        THFree(text_);                                                                                                 \
    } while (0)

/* Returns the library's initial options. */
static THPrintOptions standard(void) {
    THPrintOptions options;
    THPrintOptions_init(&options);
    return options;
}

/* PyTorch's layout */

static void tensors_read_as_in_pytorch(void) {
    THTensor *m = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6.5), *scalar = THTensor_newScalar(TH_FLOAT32, 3);
    CHECK_TEXT(THTensor_toString(m, NULL), "tensor([[1.0000, 2.0000, 3.0000],\n        [4.0000, 5.0000, 6.5000]])");
    CHECK_TEXT(THTensor_toString(scalar, NULL), "tensor(3.)");
    THTensor *t = THTensor_newT(m);
    CHECK_TEXT(THTensor_toString(t, NULL),
               "tensor([[1.0000, 4.0000],\n        [2.0000, 5.0000],\n        [3.0000, 6.5000]])");
    THTensor_free(t);
    THTensor_free(scalar);
    THTensor_free(m);
}

static void dtypes_are_named_where_the_numbers_do_not_tell(void) {
    static const char *const expected[DTYPES] = {
        "tensor([1, 0], dtype=torch.uint8)",
        "tensor([1, 0], dtype=torch.int8)",
        "tensor([1, 0], dtype=torch.int16)",
        "tensor([1, 0], dtype=torch.int32)",
        "tensor([1, 0])",
        "tensor([1., 0.], dtype=torch.float16)",
        "tensor([1., 0.], dtype=torch.bfloat16)",
        "tensor([1., 0.])",
        "tensor([1., 0.], dtype=torch.float64)",
        "tensor([ True, False])",
    };
    for (int k = 0; k < DTYPES; k++) {
        THTensor *t = vector_of(dtypes[k], 1, 0);
        CHECK_TEXT(THTensor_toString(t, NULL), expected[k]);
        THTensor_free(t);
    }
    /* The default dtype is not named. */
    THTensor *t = vector_of(TH_FLOAT64, 1, 0);
    CHECK_OK(THSetDefaultDtype(TH_FLOAT64));
    CHECK_TEXT(THTensor_toString(t, NULL), "tensor([1., 0.])");
    CHECK_OK(THSetDefaultDtype(TH_FLOAT32));
    THTensor_free(t);
}

static void what_has_no_elements_tells_its_shape(void) {
    THTensor *fresh = THTensor_new(), *none = THTensor_newZeros(TH_INT64, SIZES(0, 3));
    CHECK_TEXT(THTensor_toString(fresh, NULL), "tensor([])");
    CHECK_TEXT(THTensor_toString(none, NULL), "tensor([], size=(0, 3), dtype=torch.int64)");
    THTensor_free(none);
    THTensor_free(fresh);
}

static void long_tensors_are_summarised(void) {
    THTensor *t = THTensor_new();
    CHECK_OK(THTensor_arange(t, 0, 1001, 1));
    CHECK_TEXT(THTensor_toString(t, NULL), "tensor([   0,    1,    2,  ...,  998,  999, 1000])");
    THPrintOptions options = standard();
    options.edgeItems = 1;
    CHECK_TEXT(THTensor_toString(t, &options), "tensor([   0,  ..., 1000])");
    /* 10^18 elements expanded from one: only the edges are read. */
    THTensor *one = THTensor_newOnes(TH_FLOAT32, SIZES(1, 1));
    THTensor *huge = THTensor_newExpand(one, SIZES(1000000000, 1000000000));
    CHECK_TEXT(THTensor_toString(huge, &options), "tensor([[1.,  ..., 1.],\n        ...,\n        [1.,  ..., 1.]])");
    options.threshold = INT64_MAX;
    CHECK_FAILURE(THTensor_toString(huge, &options) == NULL, TH_ERR_NOMEM, "THTensor_toString: out of memory");
    THTensor_free(huge);
    THTensor_free(one);
    THTensor_free(t);
}

/* Torch7's layout */

static void tensors_read_as_in_torch7(void) {
    THPrintOptions torch7 = standard();
    torch7.layout = TH_PRINT_TORCH7;
    THTensor *m = matrix_of(TH_INT32, 2, 1, 2, 3, 4, 5, 60), *v = vector_of(TH_FLOAT32, 0.5, -0.25);
    CHECK_TEXT(THTensor_toString(m, &torch7), "  1   2   3\n  4   5  60\n[torch.IntTensor of size 2x3]");
    CHECK_TEXT(THTensor_toString(v, &torch7), " 0.5000\n-0.2500\n[torch.FloatTensor of size 2]");
    THTensor *slices = THTensor_newReshape(m, SIZES(3, 1, 2));
    CHECK_TEXT(THTensor_toString(slices, &torch7),
               "(1,.,.) = \n   1   2\n\n(2,.,.) = \n   3   4\n\n(3,.,.) = \n   5  60\n[torch.IntTensor of size 3x1x2]");
    THTensor *fresh = THTensor_new();
    CHECK_TEXT(THTensor_toString(fresh, &torch7), "[torch.FloatTensor with no dimension]");
    CHECK_TEXT(THStorage_toString(v->storage, NULL), " 0.5000\n-0.2500\n[torch.FloatStorage of size 2]");
    THTensor_free(fresh);
    THTensor_free(slices);
    THTensor_free(v);
    THTensor_free(m);
}

/* Options */

static void options_are_those_of_the_call_or_the_defaults(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1.5, 0.25);
    THPrintOptions options = standard(), defaults;
    options.precision = 2;
    CHECK_TEXT(THTensor_toString(t, &options), "tensor([1.50, 0.25])");
    CHECK_TEXT(THTensor_toString(t, NULL), "tensor([1.5000, 0.2500])");
    CHECK_OK(THSetPrintOptions(&options));
    CHECK_TEXT(THTensor_toString(t, NULL), "tensor([1.50, 0.25])");
    CHECK_OK(THGetPrintOptions(&defaults));
    CHECK_EQ(defaults.precision, 2);
    CHECK_EQ(defaults.lineWidth, 80);
    CHECK_OK(THSetPrintOptions(NULL));
    CHECK_TEXT(THTensor_toString(t, NULL), "tensor([1.5000, 0.2500])");
    options.sciMode = 1;
    CHECK_TEXT(THTensor_toString(t, &options), "tensor([1.50e+00, 2.50e-01])");
    THTensor_free(t);
}

static void options_out_of_range_are_errors(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1, 2);
#define REFUSED(field, value, message)                                                                                 \
    do {                                                                                                               \
        THPrintOptions options = standard();                                                                           \
        options.field = value;                                                                                         \
        CHECK_FAILURE(THTensor_toString(t, &options) == NULL, TH_ERR_ARGUMENT, message);                               \
        CHECK_ERROR(THSetPrintOptions(&options), TH_ERR_ARGUMENT, message);                                            \
    } while (0)
    REFUSED(layout, 2, "layout 2 is neither TH_PRINT_PYTORCH nor TH_PRINT_TORCH7");
    REFUSED(precision, -1, "precision -1 is not in the range of 0 to 1000");
    REFUSED(precision, 1001, "precision 1001");
    REFUSED(threshold, -1, "threshold -1 is negative");
    REFUSED(edgeItems, -1, "edgeItems -1 is negative");
    REFUSED(lineWidth, -1, "lineWidth -1 is negative");
    REFUSED(sciMode, 7, "sciMode 7 is none of -1, 0 and 1");
#undef REFUSED
    CHECK_TEXT(THTensor_toString(t, NULL), "tensor([1., 2.])");
    THTensor_free(t);
}

/* Streams */

/* Reads a whole stream from its beginning. */
static void read_all(FILE *stream, char *text, size_t room) {
    rewind(stream);
    text[fread(text, 1, room - 1, stream)] = '\0';
}

static void a_stream_takes_the_text_and_a_newline(void) {
    char text[200];
    FILE *stream = tmpfile();
    THTensor *t = vector_of(TH_INT64, 1, 2);
    THPrintOptions torch7 = standard();
    torch7.layout = TH_PRINT_TORCH7;
    CHECK(stream != NULL);
    fputs("before\n", stream);
    CHECK_OK(THTensor_fprint(stream, t, NULL));
    CHECK_OK(THTensor_fprint(stream, t, &torch7));
    fputs("after\n", stream);
    read_all(stream, text, sizeof text);
    CHECK_STR(text, "before\ntensor([1, 2])\n 1\n 2\n[torch.LongTensor of size 2]\nafter\n");
    fclose(stream);
    THTensor_free(t);
}

/* Calls printf before and after, for every kind of buffering of stdout. */
static void stdout_has_everything_in_order(void) {
    char text[200];
    FILE *file = tmpfile();
    THTensor *t = vector_of(TH_FLOAT32, 1, 2.5);
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    printf("t is ");
    THStatus status = THTensor_print(t);
    printf("and that is all\n");
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    CHECK_OK(status);
    read_all(file, text, sizeof text);
    CHECK_STR(text, "t is tensor([1.0000, 2.5000])\nand that is all\n");
    fclose(file);
    THTensor_free(t);
}

static void a_stream_that_takes_nothing_is_an_error(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1, 2);
    FILE *reading = fopen("/dev/null", "r");
    CHECK_ERROR(THTensor_fprint(reading, t, NULL), TH_ERR_IO, "THTensor_fprint: the stream took 0 of 17 bytes");
    fclose(reading);
    THTensor_free(t);
}

/* Hostile arguments */

static void null_and_damaged_handles_are_errors(void) {
    THPrintOptions options;
    THTensor *t = vector_of(TH_FLOAT32, 1, 2);
    CHECK_FAILURE(THTensor_toString(NULL, NULL) == NULL, TH_ERR_ARGUMENT, "THTensor_toString: argument 't' is NULL");
    CHECK_FAILURE(THStorage_toString(NULL, NULL) == NULL, TH_ERR_ARGUMENT, "argument 'storage' is NULL");
    CHECK_ERROR(THTensor_print(NULL), TH_ERR_ARGUMENT, "argument 't' is NULL");
    CHECK_ERROR(THTensor_fprint(NULL, t, NULL), TH_ERR_ARGUMENT, "argument 'stream' is NULL");
    CHECK_ERROR(THPrintOptions_init(NULL), TH_ERR_ARGUMENT, "argument 'options' is NULL");
    CHECK_ERROR(THGetPrintOptions(NULL), TH_ERR_ARGUMENT, "argument 'options' is NULL");
    CHECK_OK(THGetPrintOptions(&options));
    /* A size that exceeds the storage. */
    t->size[0] = 1000000;
    CHECK_FAILURE(THTensor_toString(t, NULL) == NULL, TH_ERR_SHAPE, "beyond the storage");
    t->size[0] = -1;
    CHECK_FAILURE(THTensor_toString(t, NULL) == NULL, TH_ERR_SHAPE, "THTensor_toString: ");
    t->size[0] = 2;
    CHECK_TEXT(THTensor_toString(t, NULL), "tensor([1., 2.])");
    THTensor_free(t);
}

CHECK_MAIN(CASE(tensors_read_as_in_pytorch), CASE(dtypes_are_named_where_the_numbers_do_not_tell),
           CASE(what_has_no_elements_tells_its_shape), CASE(long_tensors_are_summarised),
           CASE(tensors_read_as_in_torch7),
           CASE(options_are_those_of_the_call_or_the_defaults), CASE(options_out_of_range_are_errors),
           CASE(a_stream_takes_the_text_and_a_newline), CASE(stdout_has_everything_in_order),
           CASE(a_stream_that_takes_nothing_is_an_error), CASE(null_and_damaged_handles_are_errors))
