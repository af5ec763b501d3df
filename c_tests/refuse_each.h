/* Steps that are tried with each of their requests for memory refused. */

#ifndef THORN_REFUSE_EACH_H
#define THORN_REFUSE_EACH_H

#include "check.h"
#include "refuse.h"

/* A call, or several. Returns true if it succeeded; if it failed, all is as it was. */
typedef bool Step(void);

/* Tries a step with each request refused in turn, first with all that follow, then alone: it succeeds, or memory has run out. */
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
