/* Memory runs out while a program is opened, run, or converted. */
#define _GNU_SOURCE
#include "programs.h"
#include "refuse.h"

enum { MOST_ALLOCATIONS = 20000 };

/* A failed run leaves the outputs fresh, and the next run has the right values. */
static void a_run_without_memory_changes_nothing(void) {
    static const char *const names[] = {"conv", "transformer", "control"};
    for (int k = 0; k < 3; k++) {
        struct model m = model(names[k]);
        struct list in = listed(&m, 'a', "in"), expected = run(&m, 'a');
        bool refused = true;
        long failures = 0;
        for (long n = 0; n < MOST_ALLOCATIONS && refused; n++) {
            struct list out = fresh_list(expected.count);
            refuse(n, FOR_GOOD);
            THStatus status = THProgram_run(out.t, out.count, m.p, in.t, in.count);
            refused = was_refused();
            failures += status != TH_OK;
            if (status == TH_OK) check_equal(&out, &expected);
            if (status != TH_OK) {
                CHECK(refused);
                CHECK_EQ(status, TH_ERR_NOMEM);
                for (int i = 0; i < out.count; i++) CHECK_EQ(out.t[i]->dtype, TH_UNDEFINED);
            }
            end_list(&out);
        }
        CHECK(!refused);
        CHECK(failures > 10);
        end_list(&in);
        end_list(&expected);
        end_model(&m);
    }
}

static void a_program_without_memory_is_not_opened(void) {
    static const char *const names[] = {"conv", "control", "nested"};
    for (int k = 0; k < 3; k++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s.pt2", PROGRAMS, names[k]);
        THProgram *p = NULL;
        for (long n = 0; n < MOST_ALLOCATIONS && !p; n += under_valgrind() ? 97 : 1) {
            refuse(n, FOR_GOOD);
            p = THProgram_open(path);
            bool refused = was_refused();
            if (!p) {
                CHECK(refused);
                CHECK_EQ(THGetLastErrorCode(), TH_ERR_NOMEM);
            }
        }
        CHECK(p != NULL);
        THProgram_free(p);
    }
}

/* A conversion without memory leaves the program as it was. */
static void a_program_without_memory_is_not_converted(void) {
    struct model m = model("conv");
    struct list in = listed(&m, 'a', "in"), expected = run(&m, 'a');
    THStatus status = TH_ERR_NOMEM;
    for (long n = 0; n < MOST_ALLOCATIONS && status != TH_OK; n++) {
        refuse(n, FOR_GOOD);
        status = THProgram_to(m.p, TH_CPU, 0, TH_FLOAT64);
        (void)was_refused();
        if (status == TH_OK) break;
        CHECK_EQ(status, TH_ERR_NOMEM);
        struct list out = run(&m, 'a');
        check_equal(&out, &expected);
        end_list(&out);
    }
    CHECK_EQ(status, TH_OK);
    CHECK_EQ(THProgram_inputDtype(m.p, 0), TH_FLOAT64);
    end_list(&in);
    end_list(&expected);
    end_model(&m);
}

CHECK_MAIN(CASE(a_run_without_memory_changes_nothing), CASE(a_program_without_memory_is_not_opened),
           CASE(a_program_without_memory_is_not_converted))
