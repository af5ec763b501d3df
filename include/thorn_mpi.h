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
 *     thorn_mpi/timeouts.h     waiting for other ranks with a deadline
 *     thorn_mpi/operations.h   reductions of 16-bit floats and Bool
 *     thorn_mpi/staging.h      tensors on GPUs, results
 *     thorn_mpi/messages.h     send, recv, sendrecv, with and without the shape; requests
 *     thorn_mpi/collectives.h  bcast, reduce, allreduce
 *     thorn_mpi/parts.h        allgather, gather: tensors joined along a dimension
 *     thorn_mpi/scatter.h      reduceScatter, scatter, alltoall: tensors cut along a dimension
 *     thorn_mpi/halo.h         the borders of blocks on a Cartesian communicator
 *     thorn_mpi/sparse.h       sparse tensors: bcast, send, recv, allreduce, gather
 *     thorn_mpi/files.h        one .npy or safetensors file of all ranks
 *     thorn_mpi/gradients.h    gradients summed over ranks while backward runs
 *     thorn_mpi/shards.h       the optimizer's state divided among the ranks
 *     thorn_mpi/checkpoint.h   one file from which another number of ranks continues
 *
 * Conventions
 * ===========
 *
 * The conventions of thorn.h apply. thorn_mpi.h adds these:
 *
 * **Compiling.** All functions are `static inline` and compile as C99, C++11 and later standards. The compiler is the
 * wrapper of the user's MPI (mpicc, mpicxx): libthorn does not depend on MPI. Several source files of a program may
 * include the header. MPI must be version 3.0 or later. The program itself calls MPI_Init or MPI_Init_thread, with any
 * thread level, and MPI_Finalize.
 *
 * **Communicators.** The communicator is the last argument, as in MPI; only an output MPI_Status and the flag of
 * TH_MPI_setChecked follow the communicator. Messages and collectives use this communicator and the caller's tags. So a
 * rank without thorn can take part with MPI_Send, MPI_Recv, MPI_Allreduce and other MPI functions: the elements have
 * the type TH_MPI_datatype and are in row-major order. Functions that exchange shapes are an exception and say so.
 *
 * **Errors.** A function returns a THStatus. The text of THGetLastError contains the function's name and MPI's message.
 * During a call the communicator's error handler is MPI_ERRORS_RETURN; afterwards the previous handler is restored. The
 * error classes of MPI become statuses: `TH_ERR_SHAPE`, a message is longer than the tensor; `TH_ERR_DTYPE`, MPI does
 * not have the operation for the dtype; `TH_ERR_ARGUMENT`, an invalid rank, root, tag or communicator; `TH_ERR_NOMEM`;
 * `TH_ERR_IO`, errors of files, other processes and the network. Statuses of thorn.h keep their meaning. Before
 * MPI_Init and after MPI_Finalize, a call fails with `TH_ERR_ARGUMENT`.
 *
 * **Agreement.** Suppose that the ranks of a collective pass different shapes, dtypes, operations or roots, or that one
 * rank fails before the collective begins (no memory, a result of another dtype). Then other ranks would wait forever
 * or write out of bounds. Therefore each collective first compares its arguments by one MPI_Allreduce of 112 bytes, and
 * all ranks return an error if the arguments differ. The comparison costs some microseconds. TH_MPI_setChecked(comm,
 * 0), called on all ranks, switches the comparison off. TH_MPI_allgather and TH_MPI_gather always compare dtypes and
 * shapes, because they exchange sizes anyway; functions on files always compare. TH_MPI_iallreduce and TH_MPI_haloStart
 * compare nothing, because they do not wait for other ranks.
 *
 * **Timeouts.** A rank that never calls the collective or has died makes the other ranks wait. TH_MPI_setTimeout(comm,
 * seconds), called on all ranks, ends each wait with `TH_ERR_IO`. For the state of memory and communicator afterwards,
 * see timeouts.h.
 *
 * **16-bit floats.** A sum or product of 16-bit floats is computed in float32 and rounded once. TH_MPI_setReduction
 * selects sums that transfer half of the bytes and round after each step.
 *
 * **Results.** The result is the first argument. A fresh handle, as returned by THTensor_new, gets the dtype, shape and
 * memory of the result. A result of another shape is resized. A result of another dtype is refused, because MPI does
 * not convert. A result whose elements overlap (an expanded tensor) is refused. If MPI fails during the transfer, the
 * elements of the result are undefined.
 *
 * **Layouts.** Tensors of all layouts are read and written in place: MPI gets a derived datatype, which is cached with
 * the communicator for the next tensor of this layout. A strided tensor is copied to row-major order in three cases: in
 * a reduction, as the result of TH_MPI_allgather, and in a broadcast if the layouts of the ranks differ or the
 * comparison is off. With MPICH, strided borders of halos are copied, too.
 *
 * **Gradients.** Autograd does not record these functions. A tensor that requires a gradient can be written only after
 * THGrad_setEnabled(0).
 *
 * **GPUs.** If MPI reports that it can access GPU memory, it reads and writes a tensor on a GPU directly, after the
 * thread's stream has finished its work. Otherwise MPI gets a copy in pinned memory.
 *
 * **Threads.** Only one thread at a time may use a communicator. With MPI_THREAD_MULTIPLE, threads that use different
 * communicators need no synchronisation.
 *
 * **Memory.** Data that is cached with a communicator is freed with the communicator or in MPI_Finalize. No reference
 * to a tensor remains after a call, except in requests, halos and gradients.
 *
 * **Large counts.** A tensor may have more elements than fit in an int. The macro TH_MPI_COUNT_MAX is the largest count
 * that is passed to MPI: 2^30, unless the program defines another value before it includes the header.
 */

#ifndef THORN_MPI_H
#define THORN_MPI_H

#include "thorn_mpi/types.h"
#include "thorn_mpi/timeouts.h"
#include "thorn_mpi/operations.h"
#include "thorn_mpi/staging.h"
#include "thorn_mpi/messages.h"
#include "thorn_mpi/collectives.h"
#include "thorn_mpi/parts.h"
#include "thorn_mpi/scatter.h"
#include "thorn_mpi/halo.h"
#include "thorn_mpi/sparse.h"
#include "thorn_mpi/files.h"
#include "thorn_mpi/gradients.h"
#include "thorn_mpi/shards.h"
#include "thorn_mpi/checkpoint.h"

#endif
