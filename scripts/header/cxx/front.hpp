/**
 * @file thorn.hpp
 * @brief thorn for C++17: tensors as values over the C library of thorn.h.
 *
 *     #include <thorn.hpp>
 *
 *     th::Tensor a = th::ones({2, 3});
 *     th::Tensor r = a + 2 * a(th::all, th::slice(0, 1));      // broadcast
 *     std::cout << r.sum(1) << '\n';                           // tensor([9., 9.])
 *
 * Conventions
 * ===========
 *
 * **Values.** A th::Tensor is one pointer: a reference to a THTensor. Copying it counts a reference and copies no
 * element, so that both copies see what is written through either; `clone()` copies elements. A default-constructed
 * Tensor is undefined: it refers to nothing. As a result it becomes a fresh tensor, as an optional operand it stands
 * for none, and any other use of it is an error. `get()` is the C handle, which stays the Tensor's; `release()` gives
 * it up, and `Tensor::take(handle)` takes one over. A th::SparseTensor is to a THSTensor what a Tensor is to a THTensor.
 *
 * **Names.** A function has the name that it has in C without its prefix: `THTensor_indexSelect(r, t, 0, index)` is
 * `t.indexSelect(0, index)`, or `th::indexSelect(t, 0, index)`. The arguments keep their order, their defaults stand in
 * the declarations, dimensions and indices start at 0, and negative ones count from the end. A name says what happens
 * to the result:
 *
 *     add(t, 2), t.add(2)     a new tensor
 *     t.add_(2)               into t itself; fill_, zero_, uniform_ and all that only write into a tensor have no other
 *     add_out(r, t, 2)        into r, which keeps its dtype and its memory where the shape fits; r may be an operand
 *
 * `new` before a name in C is left out: THTensor_newZeros is `zeros`. The dtype of a new tensor comes last and may be
 * left out, and so may a generator. Forms of one operation are overloads, too: `add` takes a number or a tensor (cadd),
 * `sum` a dimension or a list of dimensions (sumDims); where C's `all` at the end returns a number, `sumall`, so does
 * it here. The constants of C are enum classes: TH_DIV_FLOOR is `DivMode::Floor`; TH_ALL_DIMS is `th::everyDim`. Words
 * of C++ cannot be names: bitand is `bitAnd`, bitor `bitOr`.
 *
 * A function with several results returns a struct, of which `auto [values, indices]` takes the parts. Positions, ranks
 * and infos that are optional beside a result that is not, as those of maxPool2d, are written by the `_out` function
 * alone, in which `th::none` leaves an optional output out.
 *
 * **Lists.** An IntList is a view of numbers: `{2, 3}`, a std::vector or std::array of int64_t, or a pointer and a
 * length. A TensorList is one of tensors: `th::cat({a, b})`. Neither owns what it shows, so that they are arguments and
 * not variables. A list that is left out has the values that the comment in thorn.h names.
 *
 * **Errors.** A call that fails throws th::Error, which has a code and a sentence that begins with the name of the
 * function, and has changed nothing. Where exceptions are off, or TH_NO_EXCEPTIONS is defined, a call that fails
 * returns an undefined tensor, NaN, -1, 0, false or NULL, and the thread keeps the first failure: see `th::failure()`.
 * An operation on an undefined tensor fails in turn, so that one look at the end of a computation is enough.
 *
 * **Gradients.** `t.setRequiresGrad_(true)` marks a leaf, `loss.backward()` adds to `t.grad()`, and nothing is recorded
 * while a `th::NoGrad` lives. Hooks and functions with a gradient of their own are function objects; what they throw
 * comes out of the call that has called them.
 *
 * **Costs.** A function is an inline call of its C function: a Tensor has the size of a pointer, and nothing is
 * allocated beside what C allocates. Where a value may be right although it is the one that C returns on failure, the
 * thread's last error is cleared before, as C programs must do.
 *
 * **Threads.** As in C: any number of threads may share and read tensors. A single Tensor object, as any object, is not
 * to be assigned by one thread while another uses it.
 *
 * This file is generated: its parts stand in scripts/header/cxx, and scripts/header.sh puts them together.
 */

#ifndef THORN_HPP
#define THORN_HPP

#if __cplusplus < 201703L
#error "thorn.hpp is for C++17 and later; thorn.h is for every C++"
#endif

#include "thorn.h"

#include <exception>
#include <initializer_list>
#include <iosfwd>
#include <type_traits>
#include <utility>
#include <vector>
#if __cplusplus >= 202002L
#include <version>
#endif
#ifdef __cpp_lib_span
#include <span>
#endif
#ifdef __cpp_lib_mdspan
#include <array>
#include <mdspan>
#endif

#if !defined __cpp_exceptions && !defined TH_NO_EXCEPTIONS
/// Defined where exceptions are off: failures are then asked for.
#define TH_NO_EXCEPTIONS
#endif

/** @cond */
#ifdef __GNUC__
#define TH_COLD __attribute__((cold, noinline))
#else
#define TH_COLD
#endif
/** @endcond */

namespace th {
#ifdef TH_NO_EXCEPTIONS
// Files with exceptions and without may be linked together: the functions of the two are not the same.
inline namespace without_exceptions {
#endif
