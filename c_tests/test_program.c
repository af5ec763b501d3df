/* Exported programs: values, ranges and errors, training, buffers, threads, broken files. */
#include "programs.h"

#include <pthread.h>

#define NEAR 1e-5

static const char *const MODELS[] = {"conv", "conv26", "training", "transformer", "control", "cache", "nested"};
enum { MODEL_COUNT = sizeof MODELS / sizeof *MODELS };

/* Checks the outputs of a run. An array without elements means None, and bfloat16 is float32 in the file. */
static void check_outputs(const struct model *m, char letter, const struct list *out) {
    struct list expected = listed(m, letter, "out");
    CHECK_EQ(out->count, expected.count);
    for (int k = 0; k < out->count && k < expected.count; k++) {
        THDtype stated = THProgram_outputDtype(m->p, k);
        CHECK_EQ(out->t[k]->dtype, stated);
        if (stated == TH_UNDEFINED) {
            CHECK_EQ(THTensor_numel(expected.t[k]), 0);
            continue;
        }
        CHECK(stated == expected.t[k]->dtype || stated == TH_BFLOAT16);
        CHECK_EQ(THTensor_nDimension(out->t[k]), THProgram_outputNdim(m->p, k));
        CHECK_ARRAY(out->t[k], expected.t[k], NEAR);
    }
    end_list(&expected);
}

static void runs_are_those_of_pytorch(void) {
    for (int k = 0; k < MODEL_COUNT; k++) {
        struct model m = model(MODELS[k]);
        for (char letter = 'a'; letter <= 'd'; letter++) {
            THTensor *first = value(&m, "%c.in0", letter);
            if (!first) break;
            THTensor_free(first);
            struct list out = run(&m, letter);
            check_outputs(&m, letter, &out);
            end_list(&out);
        }
        end_model(&m);
    }
}

#define CHECK_RANGES(p, kind, index, ...)                                                                              \
    check_ranges(THProgram_##kind##Ndim(p, index), THProgram_##kind##MinSizes(p, index),                               \
                 THProgram_##kind##MaxSizes(p, index), CHECK_COUNTED(int64_t, __VA_ARGS__), __LINE__)

/* Checks the smallest and the largest size of each dimension. */
static void check_ranges(int64_t ndim, const int64_t *min, const int64_t *max, const int64_t *expected, int count, int line) {
    check_eq(2 * ndim, count, __FILE__, line, "dimensions");
    for (int d = 0; 2 * d < count; d++) {
        check_eq(min[d], expected[2 * d], __FILE__, line, "smallest size");
        check_eq(max[d], expected[2 * d + 1], __FILE__, line, "largest size");
    }
}

static void inputs_and_outputs_are_described(void) {
    struct model m = model("conv");
    CHECK_EQ(THProgram_inputCount(m.p), 1);
    CHECK_EQ(THProgram_outputCount(m.p), 1);
    CHECK_STR(THProgram_inputName(m.p, 0), "x");
    CHECK_EQ(THProgram_inputDtype(m.p, 0), TH_FLOAT32);
    CHECK_RANGES(m.p, input, 0, 1, 64, 1, 1, 10, 10, 10, 10);
    CHECK_RANGES(m.p, output, 0, 1, 64, 3, 3);
    CHECK_EQ(THProgram_outputMinSizes(m.p, 0)[1], 3);
    CHECK_FAILURE(THProgram_inputName(m.p, 1) == NULL, TH_ERR_ARGUMENT, "input 1: the program has 1");
    CHECK_FAILURE(THProgram_inputDtype(m.p, -1) == TH_UNDEFINED, TH_ERR_ARGUMENT, "input -1");
    CHECK_FAILURE(THProgram_outputNdim(m.p, 1) == -1, TH_ERR_ARGUMENT, "output 1");
    CHECK_FAILURE(THProgram_outputMaxSizes(m.p, INT64_MIN) == NULL, TH_ERR_ARGUMENT, "output");
    end_model(&m);

    m = model("control");
    CHECK_EQ(THProgram_inputCount(m.p), 3);
    CHECK_RANGES(m.p, input, 0, 6, 20);
    CHECK_RANGES(m.p, input, 1, 3, 10);
    CHECK_EQ(THProgram_outputCount(m.p), 4);
    end_model(&m);

    m = model("nested");
    static const char *const names[] = {"first", "more_count", "more_shift", "scale"};
    static const THDtype in[] = {TH_FLOAT32, TH_FLOAT32, TH_FLOAT32, TH_INT64};
    static const THDtype out[] = {TH_FLOAT32, TH_BFLOAT16, TH_UNDEFINED, TH_INT64, TH_FLOAT64, TH_BOOL, TH_FLOAT32, TH_FLOAT32};
    CHECK_EQ(THProgram_inputCount(m.p), 4);
    CHECK_EQ(THProgram_outputCount(m.p), 8);
    for (int k = 0; k < 4; k++) CHECK_STR(THProgram_inputName(m.p, k), names[k]);
    for (int k = 0; k < 4; k++) CHECK_EQ(THProgram_inputDtype(m.p, k), in[k]);
    CHECK_STR(THProgram_outputName(m.p, 0), "sum");
    CHECK_STR(THProgram_outputName(m.p, 4), "list.3");
    CHECK_STR(THProgram_outputName(m.p, 7), "scaled.1");
    for (int k = 0; k < 8; k++) CHECK_EQ(THProgram_outputDtype(m.p, k), out[k]);
    CHECK_EQ(THProgram_inputNdim(m.p, 3), 0);
    CHECK_EQ(THProgram_inputMinSizes(m.p, 0)[1], 3);
    CHECK_EQ(THProgram_inputMaxSizes(m.p, 0)[0], INT64_MAX);
    end_model(&m);
}

static void parameters_and_buffers_have_names(void) {
    struct model m = model("conv");
    CHECK_EQ(THProgram_parameterCount(m.p), 9);
    CHECK_STR(THProgram_parameterName(m.p, 0), "features.0.weight");
    CHECK_STR(THProgram_parameterName(m.p, 8), "last.bias");
    CHECK_EQ(THProgram_bufferCount(m.p), 6);
    CHECK_STR(THProgram_bufferName(m.p, 0), "features.1.running_mean");
    THTensor *weight = THProgram_newParameter(m.p, "features.4.weight"), *mean = THProgram_newBuffer(m.p, "features.1.running_mean");
    CHECK_SHAPE(weight, 6, 4, 3, 3);
    CHECK_SHAPE(mean, 4);
    CHECK_FAILURE(THProgram_newParameter(m.p, "features.1.running_mean") == NULL, TH_ERR_ARGUMENT, "no parameter 'features.1.running_mean'");
    CHECK_FAILURE(THProgram_newBuffer(m.p, "") == NULL, TH_ERR_ARGUMENT, "no buffer ''");
    CHECK_FAILURE(THProgram_parameterName(m.p, 9) == NULL, TH_ERR_ARGUMENT, "parameter 9: the program has 9");
    CHECK_FAILURE(THProgram_bufferName(m.p, -1) == NULL, TH_ERR_ARGUMENT, "buffer -1");
    int found = 0;
    for (int64_t k = 0; k < THProgram_metadataCount(m.p); k++) {
        if (strcmp(THProgram_metadataKey(m.p, k), "torch_version") != 0) continue;
        found = strncmp(THProgram_metadataValue(m.p, k), "2.", 2) == 0;
    }
    CHECK(found);
    CHECK_FAILURE(THProgram_metadataKey(m.p, 1000) == NULL, TH_ERR_ARGUMENT, "key 1000");

    /* A parameter outlives its program. */
    THProgram_retain(m.p);
    THProgram_free(m.p);
    end_model(&m);
    CHECK_SHAPE(weight, 6, 4, 3, 3);
    CHECK(isfinite(THTensor_sumall(weight)));
    THTensor_free(weight);
    THTensor_free(mean);
    THProgram_retain(NULL);
    THProgram_free(NULL);
}

static void writes_to_parameters_change_runs(void) {
    struct model m = model("conv");
    THTensor *weight = THProgram_newParameter(m.p, "last.weight"), *bias = THProgram_newParameter(m.p, "last.bias");
    CHECK_OK(THTensor_zero(weight));
    struct list out = run(&m, 'a');
    THTensor *rows = THTensor_newExpandAs(bias, out.t[0]);
    CHECK_ARRAY(out.t[0], rows, 0);
    THTensor_free(rows);
    end_list(&out);
    /* A second program of the same file has the weights of the file. */
    struct model other = model("conv");
    out = run(&other, 'a');
    check_outputs(&other, 'a', &out);
    end_list(&out);
    end_model(&other);
    THTensor_free(weight);
    THTensor_free(bias);
    end_model(&m);
}

/* Runs with replaced inputs, each of which may be NULL for the file's, and checks the failure. */
static void refuses(const char *name, THTensor *first, THTensor *second, THStatus status, const char *text) {
    struct model m = model(name);
    struct list in = listed(&m, 'a', "in"), out = fresh_list(THProgram_outputCount(m.p));
    THTensor *given[] = {first ? first : in.t[0], second ? second : in.t[1], in.t[2], in.t[3]};
    CHECK_ERROR(THProgram_run(out.t, out.count, m.p, given, in.count), status, text);
    for (int k = 0; k < out.count; k++) CHECK_EQ(out.t[k]->dtype, TH_UNDEFINED);
    THTensor_free(first);
    THTensor_free(second);
    end_list(&in);
    end_list(&out);
    end_model(&m);
}

static void inputs_outside_of_the_export_are_refused(void) {
    refuses("conv", THTensor_newZeros(TH_FLOAT64, SIZES(2, 1, 10, 10)), NULL, TH_ERR_DTYPE, "input 'x' has dtype float64, expected float32");
    refuses("conv", THTensor_newZeros(TH_FLOAT32, SIZES(2, 10, 10)), NULL, TH_ERR_SHAPE, "input 'x' has 3 dimensions, expected 4");
    refuses("conv", THTensor_newZeros(TH_FLOAT32, SIZES(2, 1, 10, 11)), NULL, TH_ERR_SHAPE,
            "input 'x': size 11 of dimension 3, expected 10");
    refuses("conv", THTensor_newZeros(TH_FLOAT32, SIZES(65, 1, 10, 10)), NULL, TH_ERR_SHAPE, "size 65 of dimension 0 is out of range");
    refuses("conv", THTensor_new(), NULL, TH_ERR_DTYPE, "has no dtype yet");
    refuses("transformer", THTensor_newZeros(TH_INT64, SIZES(3, 17)), NULL, TH_ERR_SHAPE, "input 'tokens': size 17 of dimension 1");
    refuses("transformer", NULL, THTensor_newZeros(TH_INT64, SIZES(2)), TH_ERR_SHAPE, "input 'lengths': size 2 of dimension 0");
    refuses("control", THTensor_newZeros(TH_FLOAT32, SIZES(7)), NULL, TH_ERR_SHAPE, "input 'x': size 7 of dimension 0 is not 2*");
    refuses("control", THTensor_newZeros(TH_FLOAT32, SIZES(10)), NULL, TH_ERR_SHAPE, "is not 2*");
    refuses("control", THTensor_newZeros(TH_FLOAT32, SIZES(4)), THTensor_newZeros(TH_FLOAT32, SIZES(2)), TH_ERR_SHAPE, "out of range");
    /* A position outside of the table of the embedding: the message names the operator. */
    refuses("transformer", THTensor_newFull(TH_INT64, SIZES(3, 4), 11), NULL, TH_ERR_ARGUMENT, "embedding");
}

static void lists_of_wrong_lengths_are_refused(void) {
    struct model m = model("conv");
    struct list in = listed(&m, 'a', "in"), out = fresh_list(2);
    THTensor *twice[] = {in.t[0], in.t[0]}, *null[] = {NULL};
    CHECK_ERROR(THProgram_run(out.t, 1, m.p, twice, 2), TH_ERR_ARGUMENT, "2 inputs: expected 1");
    CHECK_ERROR(THProgram_run(out.t, 1, m.p, NULL, 0), TH_ERR_ARGUMENT, "0 inputs: expected 1");
    CHECK_ERROR(THProgram_run(out.t, 2, m.p, in.t, 1), TH_ERR_ARGUMENT, "2 output handles: expected 1");
    CHECK_ERROR(THProgram_run(NULL, 0, m.p, in.t, 1), TH_ERR_ARGUMENT, "0 output handles");
    CHECK_ERROR(THProgram_run(out.t, 1, m.p, in.t, -1), TH_ERR_ARGUMENT, "");
    CHECK_ERROR(THProgram_run(out.t, 1, m.p, null, 1), TH_ERR_ARGUMENT, "NULL");
    CHECK_ERROR(THProgram_run(null, 1, m.p, in.t, 1), TH_ERR_ARGUMENT, "NULL");
    CHECK_ERROR(THProgram_run(out.t, 1, NULL, in.t, 1), TH_ERR_ARGUMENT, "argument 'p' is NULL");
    CHECK_FAILURE(THProgram_inputCount(NULL) == -1, TH_ERR_ARGUMENT, "argument 'p' is NULL");
    CHECK_FAILURE(THProgram_newParameter(NULL, "x") == NULL, TH_ERR_ARGUMENT, "argument 'p' is NULL");
    CHECK_FAILURE(THProgram_newParameter(m.p, NULL) == NULL, TH_ERR_ARGUMENT, "argument 'name' is NULL");
    CHECK_FAILURE(THProgram_open(NULL) == NULL, TH_ERR_ARGUMENT, "argument 'path' is NULL");
    end_list(&in);
    end_list(&out);
    end_model(&m);
}

/* Returns the bytes of a file, in a block that the caller frees. */
static unsigned char *bytes_of(const char *name, ptrdiff_t *size) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", PROGRAMS, name);
    FILE *file = fopen(path, "rb");
    if (!CHECK(file != NULL)) exit(1);
    fseek(file, 0, SEEK_END);
    *size = ftell(file);
    rewind(file);
    unsigned char *bytes = malloc((size_t)*size);
    CHECK_EQ(fread(bytes, 1, (size_t)*size, file), *size);
    fclose(file);
    return bytes;
}

static void programs_are_opened_from_memory(void) {
    ptrdiff_t size;
    unsigned char *bytes = bytes_of("conv.pt2", &size);
    struct model m = model("conv");
    THProgram_free(m.p);
    m.p = THProgram_openMemory(bytes, size);
    /* The bytes were copied. */
    memset(bytes, 0xff, (size_t)size);
    free(bytes);
    struct list out = run(&m, 'a');
    check_outputs(&m, 'a', &out);
    end_list(&out);
    end_model(&m);
}

static void broken_files_are_refused(void) {
    CHECK_FAILURE(THProgram_open("/no/such/file.pt2") == NULL, TH_ERR_IO, "/no/such/file.pt2");
    CHECK_FAILURE(THProgram_open(PROGRAMS "/conv.npz") == NULL, TH_ERR_FORMAT, "");
    CHECK_FAILURE(THProgram_open(PROGRAMS) == NULL, TH_ERR_IO, "");
    CHECK_FAILURE(THProgram_openMemory("", 0) == NULL, TH_ERR_FORMAT, "");
    CHECK_FAILURE(THProgram_openMemory(NULL, -1) == NULL, TH_ERR_ARGUMENT, "");
    ptrdiff_t size;
    unsigned char *bytes = bytes_of("control.pt2", &size);
    for (ptrdiff_t end = 0; end < size; end += under_valgrind() ? 6007 : 607)
        CHECK_FAILURE(THProgram_openMemory(bytes, end) == NULL, TH_ERR_FORMAT, "");
    /* A changed byte is refused, or changes nothing that a run must trust. */
    struct model m = model("control");
    struct list in = listed(&m, 'a', "in"), out = fresh_list(4);
    for (ptrdiff_t k = 0; k < size; k += under_valgrind() ? 1009 : 37) {
        bytes[k] ^= 0x15;
        THProgram *p = THProgram_openMemory(bytes, size);
        if (p && THProgram_run(out.t, out.count, p, in.t, in.count) != TH_OK) CHECK(strlen(THGetLastError()) > 10);
        THProgram_free(p);
        bytes[k] ^= 0x15;
    }
    free(bytes);
    end_list(&in);
    end_list(&out);
    end_model(&m);
}

/* ---- training ---- */

static struct list parameters_of(const THProgram *p) {
    struct list list = {{NULL}, 0};
    for (int64_t k = 0; k < THProgram_parameterCount(p) && k < MOST; k++) {
        list.t[list.count++] = THProgram_newParameter(p, THProgram_parameterName(p, k));
        CHECK_OK(THTensor_setRequiresGrad(list.t[k], 1));
    }
    return list;
}

/* Checks the buffers of a program: arrays whose names begin with `prefix`. */
static void check_buffers(const struct model *m, const char *prefix) {
    for (int64_t k = 0; k < THProgram_bufferCount(m->p); k++) {
        const char *name = THProgram_bufferName(m->p, k);
        THTensor *buffer = THProgram_newBuffer(m->p, name), *expected = value(m, "%s.%s", prefix, name);
        CHECK_ARRAY(buffer, expected, NEAR);
        THTensor_free(buffer);
        THTensor_free(expected);
    }
}

/* Five steps of SGD have the losses that PyTorch computed. */
static void fine_tunes(const char *name) {
    struct model m = model(name);
    struct list params = parameters_of(m.p), in = listed(&m, 'a', "in");
    THTensor *classes = value(&m, "classes"), *losses = value(&m, "losses"), *loss = THTensor_new();
    THOptim *optim = THOptim_newSgd(params.t, params.count, 0.05, 0.9, 0, 0, 0);
    for (int64_t step = 0; step < THTensor_numel(losses); step++) {
        THTensor *scores = THTensor_new();
        CHECK_OK(THOptim_zeroGrad(optim, 1));
        CHECK_OK(THProgram_run(&scores, 1, m.p, in.t, in.count));
        CHECK_OK(THTensor_crossEntropy(loss, scores, classes, NULL, TH_REDUCTION_MEAN, -100));
        CHECK_OK(THTensor_backward(loss, NULL));
        CHECK_NEAR(THTensor_item(loss), THTensor_get1d(losses, step), NEAR * 10);
        for (int k = 0; k < params.count && step == 0; k++) {
            THTensor *grad = THTensor_newGrad(params.t[k]), *expected = value(&m, "grad.%s", THProgram_parameterName(m.p, k));
            CHECK_ARRAY(grad, expected, NEAR);
            THTensor_free(grad);
            THTensor_free(expected);
        }
        CHECK_OK(THOptim_step(optim));
        THTensor_free(scores);
    }
    check_buffers(&m, "after");
    /* Runs without gradients afterwards. */
    CHECK_OK(THGrad_setEnabled(0));
    struct list out = run(&m, 'a');
    CHECK_EQ(THTensor_requiresGrad(out.t[0]), 0);
    CHECK_OK(THGrad_setEnabled(1));
    end_list(&out);
    THOptim_free(optim);
    THTensor_free(classes);
    THTensor_free(losses);
    THTensor_free(loss);
    end_list(&params);
    end_list(&in);
    end_model(&m);
}

static void training_is_that_of_pytorch(void) {
    fine_tunes("conv");
    fine_tunes("conv26");
    fine_tunes("training");
}

static void statistics_change_in_training(void) {
    struct model m = model("training");
    static const char letters[] = "aba";
    for (int k = 0; k < 3; k++) {
        struct list out = run(&m, letters[k]);
        end_list(&out);
    }
    check_buffers(&m, "once");
    THTensor *count = THProgram_newBuffer(m.p, "features.1.num_batches_tracked");
    CHECK_NEAR(THTensor_item(count), 3, 0);
    THTensor_free(count);
    end_model(&m);
}

/* Gradients reach an input, and a weight that the program uses twice. */
static void gradients_reach_inputs_and_shared_weights(void) {
    struct model m = model("conv");
    struct list in = listed(&m, 'b', "in");
    CHECK_OK(THTensor_setRequiresGrad(in.t[0], 1));
    THTensor *out = THTensor_new(), *sum = THTensor_new();
    CHECK_OK(THProgram_run(&out, 1, m.p, in.t, 1));
    CHECK_OK(THTensor_sumDims(sum, out, 0, NULL, 0, TH_UNDEFINED));
    CHECK_OK(THTensor_backward(sum, NULL));
    THTensor *grad = THTensor_newGrad(in.t[0]);
    CHECK_SHAPE(grad, 1, 1, 10, 10);
    CHECK(THTensor_normall(grad, 2) > 0);
    THTensor_free(grad);
    end_list(&in);
    end_model(&m);

    m = model("transformer");
    in = listed(&m, 'a', "in");
    struct list params = parameters_of(m.p);
    THTensor_free(out);
    out = THTensor_new();
    CHECK_OK(THProgram_run(&out, 1, m.p, in.t, in.count));
    CHECK_OK(THTensor_sumDims(sum, out, 0, NULL, 0, TH_UNDEFINED));
    CHECK_OK(THTensor_backward(sum, NULL));
    for (int k = 0; k < params.count; k++) {
        grad = THTensor_newGrad(params.t[k]);
        CHECK(grad && THTensor_normall(grad, 2) > 0);
        THTensor_free(grad);
    }
    end_list(&params);
    end_list(&in);
    end_model(&m);
    THTensor_free(out);
    THTensor_free(sum);
}

/* ---- handles and buffers ---- */

static void outputs_may_be_handles_with_a_dtype(void) {
    struct model m = model("nested");
    struct list in = listed(&m, 'a', "in"), first = run(&m, 'a'), out = fresh_list(8);
    /* The run changes the input `count`, so that each run begins with its old elements. */
    THTensor *count = THTensor_newClone(in.t[1]), *sum = THTensor_newWithDtype(TH_FLOAT64), *view = first.t[0];
    THTensor_free(out.t[0]);
    out.t[0] = sum;
    for (int k = 0; k < 2; k++) {
        CHECK_OK(THTensor_copy(in.t[1], count));
        CHECK_OK(THProgram_run(out.t, 8, m.p, in.t, in.count));
        CHECK_EQ(sum->dtype, TH_FLOAT64);
        CHECK_ARRAY(sum, view, 0);
        CHECK_ARRAY(out.t[7], first.t[7], 0);
    }
    CHECK_VALUES(in.t[1], 2, 3);
    CHECK_VALUES(count, 1, 2);
    THTensor_free(count);
    end_list(&first);
    end_list(&in);
    end_list(&out);
    end_model(&m);
}

static void an_output_may_be_an_input(void) {
    struct model m = model("cache");
    struct list in = listed(&m, 'a', "in"), expected = run(&m, 'a');
    end_model(&m);
    m = model("cache");
    CHECK_OK(THProgram_run(in.t, 1, m.p, in.t, 1));
    CHECK_ARRAY(in.t[0], expected.t[0], 0);
    end_list(&in);
    end_list(&expected);
    end_model(&m);
}

static void buffers_keep_what_runs_wrote(void) {
    struct model m = model("cache");
    THTensor *used = THProgram_newBuffer(m.p, "used"), *keys = THProgram_newBuffer(m.p, "keys");
    for (char letter = 'a'; letter <= 'c'; letter++) {
        struct list out = run(&m, letter);
        CHECK_NEAR(THTensor_item(used), letter - 'a' + 1, 0);
        check_outputs(&m, letter, &out);
        end_list(&out);
    }
    CHECK(THTensor_get2d(keys, 2, 0) != 0);
    CHECK_NEAR(THTensor_get2d(keys, 3, 0), 0, 0);
    /* Begins a new sequence. */
    CHECK_OK(THTensor_zero(used));
    struct list out = run(&m, 'a');
    check_outputs(&m, 'a', &out);
    end_list(&out);
    /* There is no seventh place. */
    CHECK_OK(THTensor_fill(used, 6));
    struct list in = listed(&m, 'a', "in");
    out = fresh_list(1);
    CHECK_ERROR(THProgram_run(out.t, 1, m.p, in.t, 1), TH_ERR_ARGUMENT, "index_copy_");
    CHECK_NEAR(THTensor_item(used), 6, 0);
    end_list(&in);
    end_list(&out);
    THTensor_free(used);
    THTensor_free(keys);
    end_model(&m);
}

static void runs_leave_no_memory(void) {
    for (int k = 0; k < MODEL_COUNT; k++) {
        struct model m = model(MODELS[k]);
        struct list in = listed(&m, 'a', "in"), out = fresh_list(THProgram_outputCount(m.p));
        THTensor *used = THProgram_bufferCount(m.p) == 3 ? THProgram_newBuffer(m.p, "used") : NULL;
        int64_t live = 0;
        for (int64_t round = 0, rounds = shrunk(1000) + 1; round < rounds; round++) {
            if (used) CHECK_OK(THTensor_zero(used));
            if (!CHECK_OK(THProgram_run(out.t, out.count, m.p, in.t, in.count))) break;
            if (round == 0) live = THMemory_liveBytes();
        }
        CHECK_EQ(THMemory_liveBytes(), live);
        THTensor_free(used);
        end_list(&in);
        end_list(&out);
        end_model(&m);
    }
}

/* ---- threads ---- */

struct task {
    const struct model *m;
    const struct list *in, *expected;
    int failures;
};

static void *run_often(void *context) {
    struct task *task = context;
    for (int64_t round = 0; round < shrunk(200) + 2; round++) {
        THTensor *out = THTensor_new();
        task->failures += THProgram_run(&out, 1, task->m->p, task->in->t, task->in->count) != TH_OK;
        task->failures += !THTensor_equal(out, task->expected->t[0]);
        THTensor_free(out);
    }
    return NULL;
}

static void threads_run_one_program(void) {
    static const char *const names[] = {"conv", "transformer"};
    for (int k = 0; k < 2; k++) {
        enum { COUNT = 4 };
        struct model m = model(names[k]);
        struct list in = listed(&m, 'a', "in"), expected = run(&m, 'a');
        struct task tasks[COUNT];
        pthread_t threads[COUNT];
        for (int i = 0; i < COUNT; i++) {
            tasks[i] = (struct task){&m, &in, &expected, 0};
            CHECK_EQ(pthread_create(&threads[i], NULL, run_often, &tasks[i]), 0);
        }
        for (int i = 0; i < COUNT; i++) {
            pthread_join(threads[i], NULL);
            CHECK_EQ(tasks[i].failures, 0);
        }
        end_list(&in);
        end_list(&expected);
        end_model(&m);
    }
}

/* ---- conversion ---- */

static void programs_are_converted(void) {
    struct model m = model("conv");
    struct list in = listed(&m, 'a', "in"), out = fresh_list(1);
    THTensor *expected = value(&m, "a.out0"), *weight = THProgram_newParameter(m.p, "last.weight");
    THTensor *doubles = THTensor_newTo(in.t[0], TH_FLOAT64), *halves = THTensor_newTo(in.t[0], TH_BFLOAT16);
    CHECK_OK(THProgram_to(m.p, TH_CPU, 0, TH_FLOAT64));
    CHECK_EQ(weight->dtype, TH_FLOAT64);
    CHECK_EQ(THProgram_inputDtype(m.p, 0), TH_FLOAT64);
    CHECK_EQ(THProgram_outputDtype(m.p, 0), TH_FLOAT64);
    CHECK_ERROR(THProgram_run(out.t, 1, m.p, in.t, 1), TH_ERR_DTYPE, "expected float64");
    CHECK_OK(THProgram_run(out.t, 1, m.p, &doubles, 1));
    CHECK_EQ(out.t[0]->dtype, TH_FLOAT64);
    CHECK_ARRAY(out.t[0], expected, NEAR);
    /* float32 is exact in float64, so the way back restores the bits. */
    CHECK_OK(THProgram_to(m.p, TH_CPU, 0, TH_FLOAT32));
    struct list again = run(&m, 'a');
    struct model other = model("conv");
    THTensor *unused = THProgram_newParameter(other.p, "last.weight");
    /* Neither program folds parameters, because the caller may change them. */
    struct list fresh = run(&other, 'a');
    THTensor_free(unused);
    check_equal(&again, &fresh);
    CHECK_OK(THProgram_to(m.p, TH_CPU, 0, TH_UNDEFINED));
    CHECK_EQ(weight->dtype, TH_FLOAT32);
    CHECK_OK(THProgram_to(m.p, TH_CPU, 0, TH_BFLOAT16));
    THTensor *narrow = THTensor_new();
    CHECK_OK(THProgram_run(&narrow, 1, m.p, &halves, 1));
    CHECK_EQ(narrow->dtype, TH_BFLOAT16);
    CHECK_ARRAY(narrow, expected, 0.1);
    CHECK_ERROR(THProgram_to(m.p, TH_CPU, 0, TH_INT32), TH_ERR_DTYPE, "int32");
    CHECK_OK(THTensor_setRequiresGrad(weight, 1));
    CHECK_ERROR(THProgram_to(m.p, TH_CPU, 0, TH_FLOAT32), TH_ERR_ARGUMENT, "'last.weight' requires a gradient");
    THTensor_free(narrow);
    THTensor_free(halves);
    THTensor_free(doubles);
    THTensor_free(expected);
    THTensor_free(weight);
    end_list(&in);
    end_list(&out);
    end_list(&again);
    end_list(&fresh);
    end_model(&other);
    end_model(&m);
}

/* Moves the tensors of a list to a GPU. */
static void move(struct list *list) {
    for (int k = 0; k < list->count; k++) {
        THTensor *there = THTensor_newCuda(list->t[k], 0);
        CHECK(there != NULL);
        THTensor_free(list->t[k]);
        list->t[k] = there;
    }
}

/* Outputs of a GPU are close to the values of PyTorch, and programs are trained there. The emulated driver compiles each kernel, so that
 * two programs suffice. */
static void programs_run_on_gpus(void) {
    static const char *const names[] = {"conv", "cache"};
    for (int k = 0; k < 2; k++) {
        struct model m = model(names[k]);
        if (THCuda_deviceCount() == 0) {
            CHECK_ERROR(THProgram_to(m.p, TH_CUDA, 0, TH_UNDEFINED), TH_ERR_CUDA, "CUDA");
            struct list out = run(&m, 'a');
            check_outputs(&m, 'a', &out);
            end_list(&out);
            end_model(&m);
            continue;
        }
        struct list in = listed(&m, 'a', "in"), out = fresh_list(1);
        CHECK_OK(THProgram_to(m.p, TH_CUDA, 0, TH_UNDEFINED));
        CHECK_FAILURE(THProgram_run(out.t, 1, m.p, in.t, 1) != TH_OK, TH_ERR_DEVICE, "");
        move(&in);
        CHECK_OK(THProgram_run(out.t, 1, m.p, in.t, 1));
        CHECK_EQ(out.t[0]->deviceType, TH_CUDA);
        THTensor *back = THTensor_newCpu(out.t[0]);
        check_outputs(&m, 'a', &(struct list){{back}, 1});
        THTensor_free(back);
        end_list(&out);
        if (k == 0) {
            struct list params = parameters_of(m.p);
            THTensor *scores = THTensor_new(), *loss = THTensor_new(), *expected = value(&m, "grad.last.weight");
            THTensor *classes = value(&m, "classes"), *there = THTensor_newCuda(classes, 0);
            CHECK_OK(THProgram_run(&scores, 1, m.p, in.t, 1));
            CHECK_OK(THTensor_crossEntropy(loss, scores, there, NULL, TH_REDUCTION_MEAN, -100));
            CHECK_OK(THTensor_backward(loss, NULL));
            THTensor *weight = THProgram_newParameter(m.p, "last.weight"), *grad = THTensor_newGrad(weight), *here = THTensor_newCpu(grad);
            CHECK_ARRAY(here, expected, NEAR);
            THTensor *all[] = {scores, loss, expected, classes, there, weight, grad, here};
            for (int i = 0; i < 8; i++) THTensor_free(all[i]);
            end_list(&params);
        }
        end_list(&in);
        end_model(&m);
    }
}

CHECK_MAIN(CASE(runs_are_those_of_pytorch), CASE(inputs_and_outputs_are_described), CASE(parameters_and_buffers_have_names),
           CASE(writes_to_parameters_change_runs), CASE(inputs_outside_of_the_export_are_refused),
           CASE(lists_of_wrong_lengths_are_refused), CASE(programs_are_opened_from_memory), CASE(broken_files_are_refused),
           CASE(training_is_that_of_pytorch), CASE(statistics_change_in_training),
           CASE(gradients_reach_inputs_and_shared_weights), CASE(outputs_may_be_handles_with_a_dtype),
           CASE(an_output_may_be_an_input), CASE(buffers_keep_what_runs_wrote), CASE(runs_leave_no_memory),
           CASE(threads_run_one_program), CASE(programs_are_converted),
           CASE(programs_run_on_gpus))
