/* Steps that are run with each of their allocations refused in turn. */

#ifndef THORN_REFUSE_EACH_H
#define THORN_REFUSE_EACH_H

#include "check.h"
#include "refuse.h"

/* One call or several. Returns true on success. On failure nothing has changed. */
typedef bool Step(void);

/* Runs a step with each allocation refused in turn, first with all later ones, then alone. The step must succeed or report that memory ran
 * out. */
static void refuse_each(const char *name, Step *step) {
    int64_t live = THMemory_liveBytes();
    for (int alone = 0; alone < 2; alone++) {
        bool reached = true;
        for (long request = 0; reached; request++) {
            refuse(request, alone ? request : FOR_GOOD);
            THClearLastError();
            bool done = step();
            THStatus status = THGetLastErrorCode();
            reached = was_refused();
            if (done || status == TH_ERR_NOMEM || status == TH_ERR_IO) continue;
            printf("\n  %s, request %ld: status %d, %s ", name, request, status, THGetLastError());
            CHECK(false);
        }
        CHECK(step());
    }
    THAllocator_emptyCache();
    CHECK_EQ(THMemory_liveBytes(), live);
}

#endif
