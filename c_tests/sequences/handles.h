/* The handles of a sequence: allocated at its beginning, freed at its end. */
#ifndef THORN_SEQUENCES_HANDLES_H
#define THORN_SEQUENCES_HANDLES_H

#include "files.h"
#include "gradients.h"
#include "programs.h"
#include "runtime.h"
#include "sparse.h"

static void begin_sequence(long seed, long sequence) {
    random_state = (uint64_t)seed * 1000003u + (uint64_t)sequence;
    current_function = "(the first handles)";
    blobs_made = blobs_deleted = 0;
    for (int i = 0; i < TENSORS; i++) pool.tensor[i] = chance(70) ? some_tensor() : THTensor_new();
    for (int i = 0; i < STORAGES; i++) pool.storage[i] = THStorage_newWithSize2(1 + below(10), 1, 2);
    for (int i = 0; i < OTHERS; i++) pool.generator[i] = chance(50) ? THGenerator_new() : NULL;
    for (int i = 0; i < OTHERS; i++) pool.archive[i] = chance(50) ? some_archive() : NULL;
    for (int i = 0; i < OTHERS; i++) pool.fused[i] = chance(50) ? THFused_new(i % 2 ? "a*b + 0.5" : "exp(a)") : NULL;
    for (int i = 0; i < OTHERS; i++) pool.optim[i] = chance(60) ? some_optim(i) : NULL;
    for (int i = 0; i < OTHERS; i++) pool.program[i] = NULL;
    if (chance(25)) pool.program[0] = some_program();
    for (int i = 0; i < SPARSE; i++) pool.sparse[i] = chance(90) ? some_sparse(false) : THSTensor_new();
    THRandom_manualSeed(NULL, 1);
    if (chance(50)) some_leaves();
}

static void end_sequence(void) {
    current_function = "(giving up all handles)";
    alarm(10);
    give_up_the_gone();
    THSetDefaultDtype(TH_FLOAT32);
    THSetPrintOptions(NULL);
    THSetNumThreads(2);
    THMemory_setSoftLimit(0, NULL, NULL);
    if (!THGrad_isEnabled()) {
        THGrad_setInference(0);
        THGrad_setEnabled(1);
    }
    for (int i = 0; i < TENSORS; i++) THTensor_free(take(&pool.tensor[i], 1));
    for (int i = 0; i < STORAGES; i++) THStorage_free(take(&pool.storage[i], 1));
    for (int i = 0; i < SPARSE; i++) THSTensor_free(take(&pool.sparse[i], 1));
    for (int i = 0; i < OTHERS; i++) {
        THGenerator_free(take(&pool.generator[i], 1));
        THFree(take(&pool.block[i], 1));
        THArchive_free(take(&pool.archive[i], 1));
        THFused_free(take(&pool.fused[i], 1));
        THOptim_free(take(&pool.optim[i], 1));
        THProgram_free(take(&pool.program[i], 1));
        if (pool.context[i]) THMapAllocatorContext_free(take(&pool.context[i], 1));
    }
    alarm(0);
    forget_archives();
    if (blobs_made != blobs_deleted)
        fail("%d foreign blocks, but %d calls of their deleter", blobs_made, blobs_deleted);
    if (own_blocks) fail("%d blocks of an allocator of the caller were not given back", own_blocks);
    if (grad_contexts) fail("%d contexts of hooks were not ended", grad_contexts);
}

#endif
