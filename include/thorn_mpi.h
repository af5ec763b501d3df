/**
 * @file thorn_mpi.h
 * @brief Tensors of thorn over MPI.
 *
 *     #include <thorn_mpi.h>                                   // compiled by mpicc or mpicxx, linked with libthorn
 *
 *     MPI_Init(&argc, &argv);
 *     THTensor *t = THTensor_newOnes(TH_FLOAT32, 1, (const int64_t[]){1000});
 *     if (TH_MPI_allreduce(t, t, MPI_SUM, MPI_COMM_WORLD) != TH_OK)    // t = sum of the ranks' t
 *         fprintf(stderr, "%s\n", THGetLastError());
 *     THTensor_free(t);
 *     MPI_Finalize();
 *
 * Contents
 * ========
 *
 *     thorn_mpi/types.h        errors, communicators, datatypes of tensors
 *     thorn_mpi/operations.h   reductions of 16-bit floats and Bool
 *     thorn_mpi/staging.h      tensors on GPUs, results
 *     thorn_mpi/messages.h     send, recv, sendrecv, with and without the shape; requests
 *     thorn_mpi/collectives.h  bcast, reduce, allreduce
 *     thorn_mpi/parts.h        allgather, gather: tensors joined along a dimension
 *     thorn_mpi/scatter.h      reduceScatter, scatter, alltoall: tensors cut along a dimension
 *     thorn_mpi/halo.h         the borders of blocks on a Cartesian communicator
 *     thorn_mpi/files.h        one .npy or safetensors file of all ranks
 *     thorn_mpi/gradients.h    gradients summed over ranks while backward runs
 *
 * Conventions
 * ===========
 *
 * The conventions of thorn.h hold. These are added:
 *
 * **Compiling.** All functions are `static inline`, for C99 and C++11 and whatever came after them; the compiler is the
 * one of the user's MPI, and libthorn knows no MPI. Any number of files of a program may include the header. MPI is 3.0
 * or later. The program calls MPI_Init or MPI_Init_thread itself, any level of threads is enough, and MPI_Finalize.
 *
 * **Communicators.** A function takes the communicator last, as MPI does, but for what it stores. Messages and
 * collectives go over this communicator and no other, with the caller's tags: a rank that does not use thorn takes part
 * in them by MPI_Send, MPI_Recv, MPI_Allreduce and the others, whose elements are those of TH_MPI_datatype in row-major
 * order. The functions for which this is not so, since they exchange shapes, say so.
 *
 * **Errors.** A function returns a THStatus, and THGetLastError has the name of the function and MPI's own text. During
 * a call the communicator's error handler is MPI_ERRORS_RETURN, and afterwards what it was. The classes of MPI's errors
 * become statuses: `TH_ERR_SHAPE`, a message that is longer than the tensor; `TH_ERR_DTYPE`, an operation that MPI does
 * not have for the elements; `TH_ERR_ARGUMENT`, a rank, root, tag or communicator that is none; `TH_ERR_NOMEM`;
 * `TH_ERR_IO`, everything that concerns files, other processes and the network. Statuses of thorn.h keep their meaning.
 * After MPI_Finalize, and before MPI_Init, a call fails with `TH_ERR_ARGUMENT`.
 *
 * **Agreement.** A collective that gets other shapes, dtypes, operations or roots on some ranks, or that fails on one
 * rank before it has begun (no memory, a result of another dtype), would let the others wait for ever, or write beyond
 * their memory. So each collective first compares what it is to do by one MPI_Allreduce of 112 bytes, and all ranks
 * return an error where they disagree. It costs some microseconds; TH_MPI_setChecked(comm, 0), on all ranks, saves
 * them. Collectives that exchange shapes anyway, and those of files, compare always. TH_MPI_iallreduce and
 * TH_MPI_haloStart, which wait for no other rank, compare nothing. A rank that does not call the collective at all, or
 * is gone, is MPI's matter: the others may wait.
 *
 * **Results.** A result comes first. A fresh handle, as THTensor_new gives it, takes dtype, shape and memory of the
 * result; one of another shape is resized; one of another dtype is refused, since MPI does not convert. A result that
 * shows elements twice (an expanded tensor) is refused. If MPI fails in the middle, the elements of the result are
 * undefined.
 *
 * **Layouts.** Tensors of all layouts are read and written where they lie: MPI is handed a derived datatype, which is
 * kept with the communicator for the next tensor of this layout. A strided tensor goes through a row-major copy in
 * reductions, as the result of TH_MPI_allgather, and in a broadcast to or from a rank whose tensor lies in another way,
 * or without comparison; borders of halos do so over MPICH.
 *
 * **Gradients.** Nothing here is recorded. A tensor that requires a gradient is written only while THGrad_setEnabled(0)
 * holds.
 *
 * **GPUs.** A tensor on a GPU is handed to an MPI that says it can read such memory, after the thread's stream has done
 * its work. Any other MPI gets a copy in pinned memory.
 *
 * **Threads.** One thread at a time may use a communicator. With MPI_THREAD_MULTIPLE, threads with communicators of
 * their own need no care.
 *
 * **Memory.** What is kept with a communicator ends with it, or in MPI_Finalize. Nothing refers to a tensor after the
 * call, but for requests, halos and gradients.
 *
 * **Large counts.** Tensors may have more elements than an int counts. The macro TH_MPI_COUNT_MAX, 2^30 where it was not
 * defined before, is the largest count that MPI is given.
 */

#ifndef THORN_MPI_H
#define THORN_MPI_H

#include "thorn_mpi/types.h"
#include "thorn_mpi/operations.h"
#include "thorn_mpi/staging.h"
#include "thorn_mpi/messages.h"
#include "thorn_mpi/collectives.h"
#include "thorn_mpi/parts.h"
#include "thorn_mpi/scatter.h"
#include "thorn_mpi/halo.h"
#include "thorn_mpi/files.h"
#include "thorn_mpi/gradients.h"

#endif
