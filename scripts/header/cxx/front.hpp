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
 * **Values.** A th::Tensor is one pointer: a reference to a THTensor. Copying a Tensor counts a reference and copies no
 * element, so both copies see writes through either. `clone()` copies elements. A default-constructed Tensor is
 * undefined: it refers to nothing. As a result, an undefined Tensor becomes a fresh tensor. As an optional operand, it
 * means no operand. Any other use is an error. `get()` returns the C handle, which the Tensor still owns; `release()`
 * passes the handle to the caller, and `Tensor::take(handle)` takes one over. A th::SparseTensor refers to a THSTensor
 * in the same way.
 *
 * **Names.** A function has its C name without the prefix: `THTensor_indexSelect(r, t, 0, index)` is
 * `t.indexSelect(0, index)`, or `th::indexSelect(t, 0, index)`. The arguments keep their order, and the declarations
 * have their defaults. Dimensions and indices start at 0, and negative ones count from the end. The form of the name
 * tells where the result is stored:
 *
 *     add(t, 2), t.add(2)     a new tensor
 *     t.add_(2)               t itself; fill_, zero_, uniform_ and others that only write have no other form
 *     add_out(r, t, 2)        r, which keeps its dtype, and its memory if the shape fits; r may be an operand
 *
 * The C prefix `new` is dropped: THTensor_newZeros is `zeros`. The dtype of a new tensor is the last argument and may
 * be omitted, and so may a generator. Forms of one operation are overloads: `add` takes a number or a tensor (cadd),
 * `sum` a dimension or a list of dimensions (sumDims). If a C function whose name ends with `all` returns a number, as
 * `sumall` does, so does its C++ function. The constants of C are enum classes: TH_DIV_FLOOR is `DivMode::Floor`.
 * TH_ALL_DIMS is `th::everyDim`. C++ keywords cannot be names: bitand is `bitAnd`, bitor `bitOr`. If PyTorch has another
 * name for the same arguments and results, it is a second name, without an `_out` form: `cinv` is `reciprocal`.
 *
 * A function with several results returns a struct, which `auto [values, indices]` takes apart. If a function has a
 * required result, its optional positions, ranks and infos, such as those from maxPool2d, are available only from the
 * `_out` function, in which `th::none` omits an optional output.
 *
 * **Lists.** An IntList is a view of numbers: `{2, 3}`, a std::vector or std::array of int64_t, or a pointer and a
 * length. A number is a list with one entry, `th::zeros(3)`, and a SpatialList with equal entries: `t.maxPool2d(2)`. A
 * TensorList is a view of tensors: `th::cat({a, b})`. None of them owns its entries, so use them as arguments, not as
 * variables. An omitted list has the values that the comment in thorn.h names.
 *
 * **Indices.** `t(1, th::slice(0, 2))` is a view. With a mask or a tensor of positions among the indices, it is a
 * th::Selection: `t(t < 0) = 0` writes to the elements, and `th::Tensor u = t(t < 0)` copies them.
 *
 * **Errors.** A failed call throws th::Error, which has a code and a message that begins with the name of the function.
 * The call has changed nothing. If exceptions are off, or TH_NO_EXCEPTIONS is defined, a failed call returns an
 * undefined tensor, NaN, -1, 0, false or NULL, and the thread keeps the first failure: see `th::failure()`. Operations
 * on an undefined tensor, except printing, fail, too, so one check at the end of a computation is enough.
 *
 * **Gradients.** `t.setRequiresGrad_(true)` marks a leaf, and `loss.backward()` adds to `t.grad()`. Nothing is recorded
 * while a `th::NoGrad` exists. Hooks and custom functions are function objects. The library call that invoked them
 * rethrows their exceptions.
 *
 * **Costs.** A function is an inline call of its C function. A Tensor has the size of a pointer, and C++ allocates
 * nothing in addition to C's allocations. If a valid value may equal C's error value, the thread's last error is
 * cleared before the call, as C programs must do.
 *
 * **Threads.** As in C, any number of threads may share and read tensors. As for any object, no thread may assign to a
 * Tensor object while another thread uses the object.
 *
 * This file is generated: scripts/header.sh assembles it from the parts in scripts/header/cxx.
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
