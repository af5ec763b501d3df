/*
 * Ranks the pages of a web with a million links. The rank of a page comes from the pages that link to it: each divides
 * its rank among its links.
 *
 *     cc -std=c99 -O2 -Iinclude examples/pagerank.c -Ltarget/release -lthorn -lm -o pagerank
 *     LD_LIBRARY_PATH=target/release ./pagerank
 *
 * With probability 0.85 a reader follows a link of the page, and otherwise opens any page. P is the matrix whose entry
 * in row i and column j is the share of page j's links that lead to page i. The rank of a page is the share of time
 * that the reader spends there:
 *
 *     r = 0.85 P r + the rest of 1, divided equally among the pages
 *
 * Repeated steps converge to r from any start: each step reduces the error by at least 15 %.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "try.h"

enum { PAGES = 100000, LINKS = 1000000, MOST_STEPS = 200, SHOWN = 5 };

static const double FOLLOWED = 0.85, TOLERANCE = 1e-9;

// The two ends of each link, [2 x LINKS]: the target page and the source page. A page has ten links on average, and the
// number of links to page i is proportional to i^(-2/3). NULL on error.
static THTensor *new_links(void) {
    THGenerator *generator = THGenerator_new();
    THRandom_manualSeed(generator, 1998);
    THTensor *ends = THTensor_newRand(TH_FLOAT64, generator, 2, (int64_t[]){2, LINKS});
    THTensor *to = THTensor_newSelect(ends, 0, 0), *links = NULL;
    THStatus status;
    TRY(THTensor_pow(to, to, 3));
    TRY(THTensor_mul(ends, ends, PAGES));
    links = THTensor_newTo(ends, TH_INT64);
done:
    THGenerator_free(generator);
    THTensor_free(ends);
    THTensor_free(to);
    return links;
}

// The matrix P, compressed by rows. Several links between the same pages are summed. NULL on error.
static THSTensor *new_shares(THTensor *links) {
    THTensor *from = THTensor_newSelect(links, 0, 1), *share = THTensor_new();
    THTensor *count = THTensor_newWithDtype(TH_FLOAT64);
    THSTensor *all = NULL, *shares = NULL;
    THStatus status;
    TRY(THTensor_bincount(count, from, NULL, PAGES));
    TRY(THTensor_indexSelect(share, count, 0, from));
    TRY(THTensor_rdiv(share, share, 1));
    all = THSTensor_newWithTensorAndSize(links, share, 2, (int64_t[]){PAGES, PAGES});
    shares = THSTensor_newCompressed(all);
done:
    THTensor_free(from);
    THTensor_free(count);
    THTensor_free(share);
    THSTensor_free(all);
    return shares;
}

// next = the distribution of the reader one step after `rank`. From a page without links the reader opens any page.
static THStatus take_step(THTensor *next, const THSTensor *shares, const THTensor *rank) {
    THStatus status;
    TRY(THSTensor_spmv(next, shares, rank));
    TRY(THTensor_mul(next, next, FOLLOWED));
    TRY(THTensor_add(next, next, (1 - THTensor_sumall(next)) / PAGES));
done:
    return status;
}

// rank = the ranks, with a total error of TOLERANCE.
static THStatus find_ranks(THTensor *rank, const THSTensor *shares) {
    THStatus status;
    double change = 1;
    THTensor *next = THTensor_newFull(TH_FLOAT64, 1, (int64_t[]){PAGES}, 1.0 / PAGES);
    for (int step = 1; change > TOLERANCE && step <= MOST_STEPS; step++) {
        TRY(THTensor_copy(rank, next));
        TRY(take_step(next, shares, rank));
        change = THTensor_dist(next, rank, 1);
        fprintf(stderr, "\rstep %d: ranks changed by %.1e ", step, change);
    }
    fputc('\n', stderr);
    TRY(THTensor_copy(rank, next));
done:
    THTensor_free(next);
    return status;
}

// Returns whether the ranks are right for `shares`: their sum is 1, and a step does not change them.
static bool is_right(const THTensor *rank, const THSTensor *shares) {
    THTensor *next = THTensor_new();
    bool right = take_step(next, shares, rank) == TH_OK && THTensor_dist(next, rank, 1) < 1e-6 &&
                 fabs(THTensor_sumall(rank) - 1) < 1e-9;
    THTensor_free(next);
    return right;
}

int main(void) {
    THStatus status;
    bool right = false;
    THTensor *links = new_links(), *rank = THTensor_newWithDtype(TH_FLOAT64);
    THTensor *best = THTensor_new(), *pages = THTensor_new();
    THSTensor *shares = new_shares(links);
    TRY(shares ? TH_OK : TH_ERR_ARGUMENT);
    printf("%d pages with %lld links, from page to page\n", PAGES, (long long)THSTensor_nnz(shares));
    TRY(find_ranks(rank, shares));
    TRY(THTensor_topk(best, pages, rank, SHOWN, 0, true, true));
    for (int i = 0; i < SHOWN; i++)
        printf("page %5.0f: %.2f %%\n", THTensor_get1d(pages, i), 100 * THTensor_get1d(best, i));
    // Most links lead to page 0.
    right = is_right(rank, shares) && THTensor_get1d(pages, 0) == 0;
done:
    if (!right) fprintf(stderr, "pagerank: %s\n", THGetLastError());
    THTensor_free(links);
    THTensor_free(rank);
    THTensor_free(best);
    THTensor_free(pages);
    THSTensor_free(shares);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
