// Makes calls on small tensors under callgrind. scripts/calls.py runs the program and prints the instructions of a call.
//
// Usage: calls N. Each row is a call that runs N times. Callgrind then writes its counters to a file that names the row.
#include <stdio.h>
#include <stdlib.h>

#include <thorn.h>
#include <valgrind/callgrind.h>

// The calls before the counted ones fill the caches of memory and resolve the symbols.
enum { WARM = 20 };

static void check(THStatus status) {
    if (status == TH_OK) return;
    fprintf(stderr, "%s\n", THGetLastError());
    exit(1);
}

static THTensor *made(THTensor *t) {
    check(t ? TH_OK : TH_ERR_ARGUMENT);
    return t;
}

// A call whose result is a fresh handle, which is freed.
#define FRESH(call)                                                                                                    \
    do {                                                                                                               \
        THTensor *r = made(THTensor_new());                                                                            \
        check(call);                                                                                                   \
        THTensor_free(r);                                                                                              \
    } while (0)

#define SIZE(...) (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__}
#define FLOATS(...) made(THTensor_newFromData(TH_FLOAT32, SIZE(__VA_ARGS__), numbers))

#define COUNT(row, call)                                                                                               \
    do {                                                                                                               \
        for (int i = 0; i < WARM; i++) call;                                                                           \
        CALLGRIND_ZERO_STATS;                                                                                          \
        for (int i = 0; i < calls; i++) call;                                                                          \
        CALLGRIND_DUMP_STATS_AT(row);                                                                                  \
    } while (0)

int main(int count, char **arguments) {
    const int calls = count == 2 ? atoi(arguments[1]) : 0;
    if (calls < 1) {
        fprintf(stderr, "usage: calls N\n");
        return 2;
    }
    const float numbers[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
    THTensor *a = FLOATS(4, 4), *b = FLOATS(4, 4), *r = FLOATS(4, 4), *s = FLOATS(4, 4);
    THTensor *transposed = made(THTensor_newTranspose(a, 0, 1)), *row = FLOATS(4), *one = FLOATS(1);
    THTensor *line = FLOATS(16), *sorted = FLOATS(16), *half = FLOATS(8);
    check(THTensor_sum(one, a, TH_ALL_DIMS, 0));

    const int64_t positions[] = {3, 0, 2, 1, 1, 1, 0, 3, 2, 2, 3, 0, 0, 1, 2, 3};
    const uint8_t bytes[] = {1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 1, 0};
    THTensor *each = made(THTensor_newFromData(TH_INT64, SIZE(4, 4), positions));
    THTensor *rows = made(THTensor_newFromData(TH_INT64, SIZE(4), positions));
    THTensor *places = made(THTensor_newFromData(TH_INT64, SIZE(16), positions));
    THTensor *columns = made(THTensor_newFromData(TH_INT64, SIZE(4), positions + 4));
    THTensor *mask = made(THTensor_newFromData(TH_BOOL, SIZE(4, 4), bytes));
    THTensor *top = FLOATS(4, 2), *where = made(THTensor_newFromData(TH_INT64, SIZE(4, 2), positions));
    THTensor *at = made(THTensor_newFromData(TH_INT64, SIZE(4), positions)), *joined = FLOATS(4, 4);
    check(THTensor_cat(joined, a, b, 0));

    COUNT("newClone, free", THTensor_free(made(THTensor_newClone(a))));
    COUNT("newNarrow, free", THTensor_free(made(THTensor_newNarrow(a, 0, 1, 2))));
    COUNT("newSelect, free", THTensor_free(made(THTensor_newSelect(a, 1, 2))));

    COUNT("cmul", check(THTensor_cmul(r, a, b)));
    COUNT("add", check(THTensor_add(r, a, 2)));
    COUNT("exp", check(THTensor_exp(r, a)));
    COUNT("where", check(THTensor_where(r, mask, a, b)));
    COUNT("copy", check(THTensor_copy(r, a)));
    COUNT("copy, transposed", check(THTensor_copy(r, transposed)));
    COUNT("cmul, fresh", FRESH(THTensor_cmul(r, a, b)));

    COUNT("sum, all", check(THTensor_sum(one, a, TH_ALL_DIMS, 0)));
    COUNT("sum", check(THTensor_sum(row, a, 1, 0)));
    COUNT("sum, dimension 0", check(THTensor_sum(row, a, 0, 0)));
    COUNT("max", check(THTensor_max(row, at, a, 1, 0)));
    COUNT("sum, fresh", FRESH(THTensor_sum(r, a, 1, 0)));
    COUNT("cumsum", check(THTensor_cumsum(r, a, 1)));
    COUNT("softmax", check(THTensor_softmax(r, a, 1)));
    COUNT("mm", check(THTensor_mm(r, a, b)));

    COUNT("flip", check(THTensor_flip(r, a, 1, (int64_t[]){1})));
    COUNT("cat", check(THTensor_cat(joined, a, b, 0)));
    COUNT("indexSelect", check(THTensor_indexSelect(r, a, 0, rows)));
    COUNT("indexSelect, fresh", FRESH(THTensor_indexSelect(r, a, 0, rows)));
    COUNT("gather", check(THTensor_gather(r, a, 1, each)));
    COUNT("take", check(THTensor_take(sorted, a, places)));
    COUNT("index", check(THTensor_index(row, a, (THTensor *const[]){rows, columns}, 2)));
    COUNT("indexPut", check(THTensor_indexPut(s, (THTensor *const[]){rows, columns}, 2, row, 0)));
    COUNT("indexAdd", check(THTensor_indexAdd(s, 0, rows, a)));
    COUNT("scatterAdd", check(THTensor_scatterAdd(s, 1, each, a)));
    COUNT("maskedSelect", check(THTensor_maskedSelect(half, a, mask)));

    COUNT("sort", check(THTensor_sort(r, each, a, 1, 0, 0)));
    COUNT("sort, 16", check(THTensor_sort(sorted, places, line, 0, 0, 0)));
    COUNT("topk", check(THTensor_topk(top, where, a, 2, 1, 1, 1)));

    THTensor *all[] = {a,    b,    r,      s,       transposed, row, one,   line, sorted, half,
                       each, rows, places, columns, mask,       top, where, at,   joined};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
    return 0;
}
