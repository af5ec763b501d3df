/* Exported programs: the small ones of tests/data/programs. */
#ifndef THORN_SEQUENCES_PROGRAMS_H
#define THORN_SEQUENCES_PROGRAMS_H

#include "runtime.h"

#ifndef PROGRAMS
#define PROGRAMS "tests/data/programs"
#endif

static const char *const PROGRAM_FILES[] = {PROGRAMS "/conv.pt2", PROGRAMS "/control.pt2", PROGRAMS "/cache.pt2", PROGRAMS "/nested.pt2",
                                            PROGRAMS "/training.pt2"};

static void keep_program(THProgram *p) {
    if (!p) return;
    THProgram **slot = &pool.program[below(OTHERS)];
    THProgram_free(*slot);
    *slot = p;
}

static THProgram *some_program(void) { return THProgram_open(PROGRAM_FILES[below(LENGTH(PROGRAM_FILES))]); }

static void call_THProgram_open(void) {
    static const char *const words[] = {NULL, "", "/no/such/file.pt2", PROGRAMS, PROGRAMS "/conv.npz"};
    begin("THProgram_open");
    const char *path = chance(40) ? one_of("path", words, LENGTH(words)) : one_of("path", PROGRAM_FILES, LENGTH(PROGRAM_FILES));
    before();
    THProgram *got = THProgram_open(path);
    after();
    keep_program(got);
}

/* The bytes of a file, in most cases with one byte changed or a part missing. */
static void call_THProgram_openMemory(void) {
    static char buffer[1 << 16];
    begin("THProgram_openMemory");
    FILE *stream = fopen(one_of("file", PROGRAM_FILES, LENGTH(PROGRAM_FILES)), "rb");
    ptrdiff_t size = stream ? (ptrdiff_t)fread(buffer, 1, sizeof buffer, stream) : 0;
    if (stream) fclose(stream);
    if (size && chance(70)) buffer[below((int)size)] = (char)bits();
    if (size && chance(20)) size = below((int)size);
    before();
    THProgram *got = THProgram_openMemory(chance(5) ? NULL : buffer, chance(5) ? PTRDIFF_MIN : size);
    after();
    keep_program(got);
}

static void call_THProgram_retain(void) {
    begin("THProgram_retain");
    THProgram *p = program("p");
    before();
    THProgram_retain(p);
    after();
    keep_program(p);
}

static void call_THProgram_free(void) {
    begin("THProgram_free");
    before();
    THProgram_free(take(pool.program, OTHERS));
    after();
}

/* Returns a tensor that fits an input of the program. */
static THTensor *input_of(const THProgram *p, int64_t k) {
    int64_t ndim = THProgram_inputNdim(p, k), size[8];
    const int64_t *min = THProgram_inputMinSizes(p, k);
    if (ndim < 0 || ndim > 8) return NULL;
    for (int64_t d = 0; d < ndim; d++) size[d] = min[d];
    THTensor *t = THTensor_newFull(THProgram_inputDtype(p, k), (int)ndim, size, below(3));
    keep_tensor(t);
    return t;
}

/* A run changes some inputs, and the graph may have changed buffers before it fails. */
static void call_THProgram_run(void) {
    begin("THProgram_run");
    THProgram *p = program("p");
    bool fits = p && chance(80);
    int input_count = fits ? (int)THProgram_inputCount(p) : entries("inputCount");
    int output_count = p && chance(90) ? (int)THProgram_outputCount(p) : entries("outputCount");
    THTensor **inputs = handles("inputs", input_count), **outputs = handles("outputs", output_count);
    for (int k = 0; fits && inputs && k < input_count; k++) inputs[k] = input_of(p, k);
    before();
    THStatus got = THProgram_run(outputs, output_count, p, inputs, input_count);
    if (got != THGetLastErrorCode()) fail("returned %d, but THGetLastErrorCode is %d", got, THGetLastErrorCode());
    after_call(true);
}

/* The names of parameters and buffers. */
static const char *tensor_name(const THProgram *p) {
    static const char *const words[] = {NULL, "", "no such name"};
    int64_t count = p ? THProgram_parameterCount(p) : 0, buffers = p ? THProgram_bufferCount(p) : 0;
    if (chance(15) || count + buffers == 0) return one_of("name", words, LENGTH(words));
    int64_t k = below((int)(count + buffers));
    return k < count ? THProgram_parameterName(p, k) : THProgram_bufferName(p, k - count);
}

static void call_THProgram_newParameter(void) {
    begin("THProgram_newParameter");
    THProgram *p = program("p");
    const char *name = tensor_name(p);
    before();
    THTensor *got = THProgram_newParameter(p, name);
    after();
    keep_tensor(got);
}

static void call_THProgram_newBuffer(void) {
    begin("THProgram_newBuffer");
    THProgram *p = program("p");
    const char *name = tensor_name(p);
    before();
    THTensor *got = THProgram_newBuffer(p, name);
    after();
    keep_tensor(got);
}

#endif
