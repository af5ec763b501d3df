/**
 * @file thorn.h
 * @brief thorn: Torch tensors as a plain C library.
 *
 *     int64_t size[2] = {2, 3};
 *     THTensor *a = THTensor_newOnes(TH_FLOAT32, 2, size);     // a new reference, which you free
 *     THTensor *r = THTensor_new();                            // a fresh handle, without dtype and shape
 *     if (THTensor_cadd(r, a, 2, a) != TH_OK)                  // r = a + 2 * a
 *         fprintf(stderr, "%s\n", THGetLastError());
 *     THTensor_free(r);
 *     THTensor_free(a);
 *
 * Contents
 * ========
 *
 *      1. Handles and references
 *      2. Element types
 *      3. Making tensors
 *      4. Looking at tensors
 *      5. Single elements
 *      6. Copies and conversions
 *      7. Printing
 *      8. Views
 *      9. Shapes changed in place
 *     10. Joining and rearranging
 *     11. Elements by index
 *     12. Results made of numbers
 *     13. Arithmetic
 *     14. Functions of numbers
 *     15. Bits
 *     16. Comparisons and choices
 *     17. Fused expressions
 *     18. Reductions
 *     19. Scans and softmax
 *     20. Losses, normalization and gradients
 *     21. Recurrent layers
 *     22. Gradients
 *     23. Optimizers
 *     24. Exported programs
 *     25. Sorting and searching
 *     26. Order statistics and histograms
 *     27. Matrix products
 *     28. Quantised numbers
 *     29. Products of compressed rows
 *     30. Linear algebra
 *     31. Convolution
 *     32. Pooling
 *     33. Resampling of images
 *     34. Fourier transforms
 *     35. Sparse tensors
 *     36. Random generators
 *     37. Random numbers
 *     38. Devices
 *     39. Streams, events and graphs
 *     40. Exchange with other libraries
 *     41. Functions of the caller
 *     42. Storages
 *     43. Memory
 *     44. Files
 *     45. Mapped files and shared memory
 *     46. Errors
 *     47. Threads
 *     48. BLAS of the machine
 *     49. Versions
 *
 * Conventions
 * ===========
 *
 * **Handles.** A THTensor is a view (sizes, strides, offset, element type) of a THStorage, which owns memory. The
 * fields of both structs are public: read `t->size[d]`, `t->stride[d]`, `t->storage` and `THTensor_data(t)` directly,
 * and change them only by functions. Strides count elements. A tensor has at most 1024 dimensions.
 *
 * **Ownership.** A function whose name begins with `new` returns a new reference, which the caller gives up with
 * THTensor_free or THStorage_free. `retain` adds a reference. A tensor holds a reference to its storage, so views keep
 * memory alive. Every other returned pointer is borrowed: it is valid until the handle that it came from changes or is
 * freed. A function takes over an argument only if its comment says so.
 *
 * **Arguments.** The result comes first. The operands follow in the order of the formula: `THTensor_cadd(r, t, value,
 * src)` is `r = t + value * src`. Functions of TH keep TH's order. Inputs are `const`; `r == t` computes in place. A
 * NULL `THGenerator *` is the calling thread's default generator. Any other NULL is an error unless the comment allows
 * it.
 *
 * **Results.** `r` may be a fresh handle from THTensor_new, which gets the dtype, shape and memory of the result. Any
 * other `r` keeps its dtype, to which the result is converted, and is resized if its shape differs. Two conversions are
 * refused: floats to integers, and numbers to Bool. If operands share memory with `r`, the result is the same as if the
 * inputs had been copied first.
 *
 * **Errors.** A function without a value to return returns a THStatus: TH_OK, which is 0, or the kind of failure. Every
 * function may return `TH_ERR_ARGUMENT`, an argument that must not be NULL, or a number out of range; `TH_ERR_NOMEM`,
 * memory has run out; `TH_ERR_DEVICE`, tensors on different devices, or a device that the function does not support;
 * and `TH_ERR_INTERNAL`, a fault of thorn itself. The introduction of a chapter lists the other errors of its functions
 * with their causes. If a function of the caller fails, the call returns the number that this function returned; only
 * `TH_ERR_INTERNAL` becomes `TH_ERR_CALLBACK`. Functions without a status return on failure:
 *
 *     a pointer             NULL
 *     a double              NaN: getAt, item, sumall, normall and all that are computed from elements. Each NaN that is
 *                           returned or passed to a function of the caller is the quiet one without a sign or payload
 *     a size or a count     -1 (an amount of bytes: 0)
 *     yes or no             0: equal, isContiguous
 *     a dtype               TH_UNDEFINED
 *
 * THGetLastError() is the message of the last failure on this thread, and THGetLastErrorCode() its status. If NaN, -1
 * or 0 may be a valid result, call THClearLastError() before the function and THGetLastErrorCode() after it. A function
 * that fails leaves its arguments unchanged. The exceptions are apply, map and map2, which keep the changes of elements
 * before the failure. No argument ends or hangs the process.
 *
 * **Names.** Functions that Torch's TH has keep TH's names. Functions that only PyTorch has keep PyTorch's names, with
 * capitals for underscores: logical_and is logicalAnd. If an operation has several forms, a suffix says how a form
 * differs from the plain one:
 *
 *     Value         a number in place of the second tensor (ltValue); ValueTensor, Values: of the first one, of both
 *     Tensor        a tensor in place of a number (lerpTensor, quantileTensor)
 *     Dims          a list of dimensions in place of one (sumDims)
 *     all           all elements, and a number of C is returned (sumall)
 *     At            a list of indices (getAt, setAt)
 *     1d to 5d, Nd  this number of sizes or indices one by one; a list of them
 *     Long          an int64 in place of a double (itemLong)
 *     Uniform       one number in place of a list, the same in each dimension (conv2dUniform)
 *     Like, As      the shape of another tensor (zerosLike, viewAs)
 *     Mode, Base, Format, Dtype, Kind, Scale, Correction   one more argument of that name
 *
 * The prefix `new` marks a function that returns a new handle. TH's prefix `c` marks the form with a second tensor: add
 * and cadd. cinv is the only exception.
 *
 * **Shapes.** Dimensions and indices start at 0, and negative ones count from the end. Operands broadcast as in NumPy.
 * A 0-d tensor has one element; sizes may be 0.
 *
 * **Dtypes.** Operands are promoted as in PyTorch: Bool < integers < floats. A 0-d tensor or a number affects the
 * common dtype only if its kind is higher. A number is a double; a whole number, including -0.0, counts as an integer.
 * Operands and numbers are converted to the common dtype before they are used, with two exceptions: a number that
 * multiplies or divides 16-bit floats is not rounded, and a whole number that is compared with integers does not wrap.
 * 16-bit floats are computed in float32, and the result is rounded once. Floats become integers by truncation and
 * saturation, and NaN becomes 0; integers wrap when they become narrower integers, as in C. A number that is stored
 * without arithmetic (fill, full, setAt, maskedFill) must be in the range of an integer dtype; uint8 also accepts -255
 * to -1, which wrap.
 *
 * **Lists.** The length of a list argument comes before the list: `ndim` if the list has an entry for each of some
 * dimensions, else `count`. A function that returns several handles stores them in an array `r` with room for `*count`
 * handles. If `r` is NULL, the function only stores the number of handles in `*count`; otherwise it stores that number
 * of new references in `r`. Too little room is an error.
 *
 * **Callbacks.** A function that you pass (to apply, as a deleter, an allocator or a memory hook) must return: it may
 * neither throw nor longjmp. It must not free or resize the tensors of the call that calls it. It runs on the calling
 * thread; a deleter runs on the thread that gives up the last reference.
 *
 * **Threads.** Reference counts are atomic: handles may be shared and freed on any thread. Any number of threads may
 * read the same tensors. A thread that writes a storage or changes a handle needs exclusive access; views share their
 * storage. Errors and default generators belong to the thread. Operations use the threads of one pool; a call from
 * inside a call uses none. The pool's threads block all signals and exit after two seconds without work. A process may
 * fork while other threads are inside the library, and the child may call every function. fork waits for critical
 * sections, at most one operation of each thread. Tensors that another thread was writing may be partly written in the
 * child; gradients, generators and optimizers are complete; an archive that another thread was using fails. GPUs do not
 * work in a child of a process that used a GPU.
 *
 * **Windows.** Names of files are UTF-8. There are no descriptors, and shared memory is opened by its name, which ends
 * with the last process that has it. Streams (`FILE *`) and memory that is passed to `free` must belong to the C
 * library of thorn.dll. Blocks of THAlloc have the alignment of malloc.
 *
 * **Versions.** TH_VERSION_MAJOR, TH_VERSION_MINOR and TH_VERSION_PATCH are the version of the API, and TH_ABI_VERSION
 * is the version of the binary interface; THVersion() and THAbiVersion() return the versions of the loaded library.
 * Codes keep their values, and the fields of structs keep their offsets.
 *
 * **Languages.** The header is for C99, C++98 and all later versions. In C++98 it needs <stdint.h> and int64_t, a type
 * of 64 bits, which all compilers have. A reader without a preprocessor calls THCdef or THCdefChapter.
 *
 * This file is generated: edit the comments in src/, and run scripts/header.sh.
 */

#ifndef THORN_H
#define THORN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/// Compilers warn where the result of a function with this mark is dropped: a new reference, or memory to be freed. If
/// TH_CHECKED is defined before this header is included, they warn where a THStatus is dropped, too.
#if (defined __cplusplus && __cplusplus >= 201703L) || (defined __STDC_VERSION__ && __STDC_VERSION__ > 201710L)
#define TH_NODISCARD [[nodiscard]]
#elif defined __GNUC__
#define TH_NODISCARD __attribute__((warn_unused_result))
#else
#define TH_NODISCARD
#endif

/// On Windows, the mark of variables in thorn.dll. A program that links the static library defines TH_STATIC before it
/// includes this header.
#if defined _WIN32 && !defined TH_STATIC
#define TH_IMPORTED __declspec(dllimport)
#else
#define TH_IMPORTED
#endif

/** @cond */
#ifdef __GNUC__
#define TH_EXTENSION __extension__
#else
#define TH_EXTENSION
#endif
#if defined TH_CHECKED && defined __clang__
#define TH_CHECKED_ENUM __attribute__((warn_unused_result))
#elif defined TH_CHECKED && (!defined __GNUC__ || __GNUC__ >= 10) && (!defined __cplusplus || __cplusplus >= 201103L)
#define TH_CHECKED_ENUM [[nodiscard]]
#else
#define TH_CHECKED_ENUM
#endif
/** @endcond */

#ifdef __cplusplus
extern "C" {
#endif

/* ==================================================================================================================
 *
 *     1. Handles and references
 *
 * ================================================================================================================== */

/**
 * @defgroup handles_and_references Handles and references
 *
 * A `THTensor *` is a reference-counted handle: sizes, strides, an offset and an element type over a storage. Errors:
 * `TH_ERR_ARGUMENT`, an unknown flag.
 * @{
 */

/// The code of a kind of device in the C API; the values are the same as in DLPack.
typedef enum THDeviceType {
    TH_CPU = 1,                  ///< Host memory.
    TH_CUDA = 2                  ///< NVIDIA GPU memory.
} THDeviceType;

/// The code of an element type in the C API. Codes never change.
typedef enum THDtype {
    TH_UNDEFINED = 0,            ///< No dtype: a fresh handle before its first write.
    TH_UINT8 = 1,                ///< Unsigned 8-bit integer.
    TH_INT8 = 2,                 ///< Signed 8-bit integer.
    TH_INT16 = 3,                ///< Signed 16-bit integer.
    TH_INT32 = 4,                ///< Signed 32-bit integer.
    TH_INT64 = 5,                ///< Signed 64-bit integer.
    TH_FLOAT16 = 6,              ///< IEEE 754 half precision; computed in float32.
    TH_BFLOAT16 = 7,             ///< The upper half of a float32; computed in float32.
    TH_FLOAT32 = 8,              ///< IEEE 754 single precision.
    TH_FLOAT64 = 9,              ///< IEEE 754 double precision.
    TH_BOOL = 10                 ///< True or false in one byte; any byte but 0 reads as true.
} THDtype;

enum {
    /// The tensor counts its references; without this flag retain and free have no effect.
    TH_TENSOR_REFCOUNTED = 1,
    TH_TENSOR_SCALAR = 2         ///< With `nDimension` 0: a scalar with one element.
};

enum {
    /// The storage counts its references; without this flag retain and free have no effect.
    TH_STORAGE_REFCOUNTED = 1,
    TH_STORAGE_RESIZABLE = 2,    ///< The storage may be resized.
    TH_STORAGE_FREEMEM = 4,      ///< The allocator frees the memory when the last reference is given up.
    TH_STORAGE_VIEW = 8          ///< The memory belongs to the storage in `view`.
};

/// An allocator of storages: three functions, which are called with the allocator context of the storage.
///
/// `malloc` and `realloc` return NULL on failure. If an allocator cannot resize its memory, `realloc` is NULL or
/// returns NULL.
typedef struct THAllocator {
    /// Allocates a block of `size` bytes.
    void *(*malloc)(void *ctx, ptrdiff_t size);
    /// Changes the size of the block `ptr` to `size` bytes and returns the block, which may have moved.
    void *(*realloc)(void *ctx, void *ptr, ptrdiff_t size);
    /// Frees the block `ptr`, and the context if the context belongs to the block.
    void (*free)(void *ctx, void *ptr);
} THAllocator;

/// A block of elements of one dtype. The fields are part of the ABI and at TH's offsets; read them directly, and change
/// them only by functions.
typedef struct THStorage {
    /// The first element; NULL if the storage is empty.
    void *data;
    /// Number of elements.
    ptrdiff_t size;
    /// The number of references; changed atomically by retain and free.
    int32_t refcount;
    /// `TH_STORAGE_*` bits.
    char flag;
    /// The element type: a constant of THDtype such as `TH_FLOAT32`.
    uint8_t dtype;
    /// `TH_CPU` or `TH_CUDA`.
    int8_t deviceType;
    /// The index of the GPU; 0 for the host.
    int8_t deviceIndex;
    /// The allocator that frees the memory.
    const struct THAllocator *allocator;
    /// The context that the allocator is called with.
    void *allocatorContext;
    /// With `TH_STORAGE_VIEW`: the storage that owns the memory.
    struct THStorage *view;
} THStorage;

/// A strided view of a storage. The fields are part of the ABI and at TH's offsets; read them directly, and change them
/// only by functions.
typedef struct THTensor {
    /// `nDimension` sizes.
    int64_t *size;
    /// `nDimension` strides, in elements.
    int64_t *stride;
    /// The number of dimensions. 0 is either a scalar (`TH_TENSOR_SCALAR`, one element) or a fresh handle, which has no
    /// shape before its first write. A tensor with a size of 0 counts all its dimensions.
    int nDimension;
    /// The storage with the elements; NULL until the first write.
    struct THStorage *storage;
    /// Position of the first element in the storage.
    ptrdiff_t storageOffset;
    /// The number of references; changed atomically by retain and free.
    int32_t refcount;
    /// `TH_TENSOR_*` bits.
    char flag;
    /// The element type: a constant of THDtype such as `TH_FLOAT32`, or `TH_UNDEFINED` until the first write.
    uint8_t dtype;
    /// `TH_CPU` or `TH_CUDA`.
    int8_t deviceType;
    /// The index of the GPU; 0 for the host.
    int8_t deviceIndex;
} THTensor;

/// The result of a function: `TH_OK` or the kind of failure. `THGetLastError` returns the message.
TH_EXTENSION typedef enum TH_CHECKED_ENUM THStatus {
    TH_OK = 0,                   ///< The call did what it says.
    TH_ERR_ARGUMENT = 1,         ///< An argument is NULL, out of range or contradicts another.
    TH_ERR_SHAPE = 2,            ///< Shapes, strides or offsets do not fit each other or the storage.
    TH_ERR_DTYPE = 3,            ///< The operation has no meaning for this dtype, or the result's dtype cannot hold it.
    TH_ERR_DEVICE = 4,           ///< The tensors live on different devices, or the device cannot do this.
    TH_ERR_NOMEM = 5,            ///< Memory could not be had.
    TH_ERR_IO = 6,               ///< The operating system refused a file, a mapping or shared memory.
    TH_ERR_FORMAT = 7,           ///< A file is broken or of an unknown format.
    TH_ERR_UNSUPPORTED = 8,      ///< Meaningful, but not offered.
    TH_ERR_CALLBACK = 9,         ///< A function passed by the caller reported failure.
    TH_ERR_INTERNAL = 10,        ///< A fault inside thorn, caught at the boundary; please report it.
    /// A matrix is singular, not positive definite or not finite, or an iteration did not converge.
    TH_ERR_NUMERIC = 11,
    TH_ERR_CUDA = 12             ///< CUDA: there is no driver, no GPU, no compiler of kernels, or one of them failed.
} THStatus;

/// A fresh handle, without dtype, elements or memory. The first operation that writes to the handle sets its dtype and
/// shape and allocates its memory. Returns a new reference.
TH_NODISCARD THTensor *THTensor_new(void);

/// A handle with a dtype but without elements. The first operation that writes to the handle sets its shape, allocates
/// its memory, and converts the result to this dtype. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newWithDtype(THDtype dtype);

/// Makes `t` a fresh handle again, as returned by `THTensor_new`: `t` gives up its storage, its sizes and its dtype.
THStatus THTensor_reset(THTensor *t);

/// A second handle on the elements of `t`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newWithTensor(THTensor *t);

/// The current number of references; 0 on error.
int THTensor_refcount(const THTensor *t);

/// Sets the `TH_TENSOR_*` bits of `flag`.
THStatus THTensor_setFlag(THTensor *t, char flag);

/// Clears the `TH_TENSOR_*` bits of `flag`.
THStatus THTensor_clearFlag(THTensor *t, char flag);

/// Adds a reference; NULL is ignored. Safe from any thread.
void THTensor_retain(THTensor *t);

/// Releases a reference; the last one frees the tensor and its reference to the storage. NULL is ignored. Safe from any
/// thread.
void THTensor_free(THTensor *t);

/** @} */

/* ==================================================================================================================
 *
 *     2. Element types
 *
 * ================================================================================================================== */

/**
 * @defgroup element_types Element types
 *
 * The dtypes of elements: sizes, names, kinds, and the dtype that two operands have in common. Errors:
 * `TH_ERR_ARGUMENT`, a code or a name that is not a dtype; `TH_ERR_DTYPE`, a default dtype that is not a float.
 * @{
 */

/// Returns the dtype of floats where no argument gives a dtype: float32 initially.
THDtype THGetDefaultDtype(void);

/// Sets the default dtype, which must be a float, for the whole process.
THStatus THSetDefaultDtype(THDtype dtype);

/// Returns the size of an element in bytes; 0 on error.
size_t THDtype_size(THDtype dtype);

/// Returns PyTorch's name of a dtype, such as `"float32"`; NULL on error. Never freed.
const char *THDtype_name(THDtype dtype);

/// Returns the dtype with this name: a name from `THDtype_name`, or `"float"`, `"double"`, `"half"`, `"long"`, `"int"`,
/// `"short"`, `"char"`, `"byte"`. `TH_UNDEFINED` on error.
THDtype THDtype_fromName(const char *name);

/// Returns 1 if the elements are floats; 0 if not and on error.
int THDtype_isFloat(THDtype dtype);

/// Returns 1 if the elements are integers; 0 if not and on error. Bool does not count as an integer.
int THDtype_isIntegral(THDtype dtype);

/// Returns 1 if elements can be negative, which holds for all dtypes except uint8 and Bool; 0 if not and on error.
int THDtype_isSigned(THDtype dtype);

/// Returns the dtype in which operands of these two dtypes are computed; `TH_UNDEFINED` on error.
THDtype THDtype_promote(THDtype a, THDtype b);

/// Returns 1 if a result of dtype `from` may be stored in a tensor of dtype `to`; 0 if not and on error.
int THDtype_canCast(THDtype from, THDtype to);

/** @} */

/* ==================================================================================================================
 *
 *     3. Making tensors
 *
 * ================================================================================================================== */

/**
 * @defgroup making_tensors Making tensors
 *
 * Every function of this chapter returns a new reference, or NULL on error. The caller gives the reference up with
 * `THTensor_free`. Errors: `TH_ERR_SHAPE`, sizes and strides that are negative, overflow or reach beyond the given
 * memory; `TH_ERR_ARGUMENT`, a number that the dtype cannot hold, or memory that is NULL or not aligned;
 * `TH_ERR_DTYPE`, a `t` without a dtype.
 * @{
 */

/// The order of elements in memory, for functions that make tensors.
typedef enum THMemoryFormat {
    TH_CONTIGUOUS_FORMAT = 0,    ///< Row-major: the index of the last dimension changes fastest.
    /// The strides of the source if the source is dense and does not overlap itself, else row-major.
    TH_PRESERVE_FORMAT = 1,
    TH_CHANNELS_LAST = 2,        ///< Four dimensions N, C, H, W stored in the order N, H, W, C.
    TH_CHANNELS_LAST_3D = 3      ///< Five dimensions N, C, D, H, W stored in the order N, D, H, W, C.
} THMemoryFormat;

/// Called once, with the data and the caller's context, when foreign memory is no longer needed.
typedef void (*THDeleter)(void *data, void *ctx);

/// A row-major tensor with undefined elements; `ndim` 0 makes a scalar. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newWithSizes(THDtype dtype, int ndim, const int64_t *size);

/// A tensor with undefined elements and the given strides. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newWithSizesStrides(THDtype dtype, int ndim, const int64_t *size,
                                                    const int64_t *stride);

/// A 1-d tensor with undefined elements. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newWithSize1d(THDtype dtype, int64_t size0);

/// A 2-d tensor with undefined elements. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newWithSize2d(THDtype dtype, int64_t size0, int64_t size1);

/// A 3-d tensor with undefined elements. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newWithSize3d(THDtype dtype, int64_t size0, int64_t size1, int64_t size2);

/// A 4-d tensor with undefined elements. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newWithSize4d(THDtype dtype, int64_t size0, int64_t size1, int64_t size2,
                                              int64_t size3);

/// A 5-d tensor with undefined elements. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newWithSize5d(THDtype dtype, int64_t size0, int64_t size1, int64_t size2, int64_t size3,
                                              int64_t size4);

/// A tensor with undefined elements in the memory format `format`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newEmpty(THDtype dtype, int ndim, const int64_t *size, THMemoryFormat format);

/// A row-major tensor whose elements are all `value`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newFull(THDtype dtype, int ndim, const int64_t *size, double value);

/// A row-major tensor of zeros. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newZeros(THDtype dtype, int ndim, const int64_t *size);

/// A row-major tensor of ones. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newOnes(THDtype dtype, int ndim, const int64_t *size);

/// A vector of the numbers `start + i * step` before `end`, as by `THTensor_arange`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newArange(THDtype dtype, double start, double end, double step);

/// A vector of `n` evenly spaced numbers from `start` to `end`, as by `THTensor_linspace`. Floats only. Returns a new
/// reference.
TH_NODISCARD THTensor *THTensor_newLinspace(THDtype dtype, double start, double end, int64_t n);

/// A matrix of `n` rows and `m` columns with ones on the diagonal and zeros elsewhere. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newEye(THDtype dtype, int64_t n, int64_t m);

/// A tensor of the dtype and shape of `t` with undefined elements. The strides are as for newClone. Returns a new
/// reference.
TH_NODISCARD THTensor *THTensor_newEmptyLike(const THTensor *t);

/// A tensor as by `THTensor_newEmptyLike` whose elements are all `value`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newFullLike(const THTensor *t, double value);

/// A tensor of zeros as by `THTensor_newEmptyLike`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newZerosLike(const THTensor *t);

/// A tensor of ones as by `THTensor_newEmptyLike`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newOnesLike(const THTensor *t);

/// A 0-d tensor with the element `value`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newScalar(THDtype dtype, double value);

/// A 0-d tensor with an int64 element, which a double may be unable to hold. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newScalarLong(THDtype dtype, int64_t value);

/// A tensor with a copy of the row-major elements at `data`, which need not be aligned. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newFromData(THDtype dtype, int ndim, const int64_t *size, const void *data);

/// A tensor that shares `data` with the caller; a NULL `stride` means row-major. `deleter(data, context)` is called
/// once, when the last view is freed; `deleter` may be NULL. On error it is not called. The address must be a multiple
/// of the element size; newFromData copies from any address. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newFromBlob(THDtype dtype, int ndim, const int64_t *size, const int64_t *stride,
                                            void *data, THDeleter deleter, void *context);

/// A tensor over `storage`, which grows if it is too small and can be resized; a NULL `stride` means row-major. With
/// `ndim` -1 the tensor is 1-d and covers the whole storage. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newWithStorage(THStorage *storage, ptrdiff_t storageOffset, int ndim,
                                               const int64_t *size, const int64_t *stride);

/// A 1-d tensor over `storage`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newWithStorage1d(THStorage *storage, ptrdiff_t storageOffset, int64_t size0,
                                                 int64_t stride0);

/// A 2-d tensor over `storage`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newWithStorage2d(THStorage *storage, ptrdiff_t storageOffset, int64_t size0,
                                                 int64_t stride0, int64_t size1, int64_t stride1);

/// A 3-d tensor over `storage`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newWithStorage3d(THStorage *storage, ptrdiff_t storageOffset, int64_t size0,
                                                 int64_t stride0, int64_t size1, int64_t stride1, int64_t size2,
                                                 int64_t stride2);

/// A 4-d tensor over `storage`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newWithStorage4d(THStorage *storage, ptrdiff_t storageOffset, int64_t size0,
                                                 int64_t stride0, int64_t size1, int64_t stride1, int64_t size2,
                                                 int64_t stride2, int64_t size3, int64_t stride3);

/// A 5-d tensor over `storage`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newWithStorage5d(THStorage *storage, ptrdiff_t storageOffset, int64_t size0,
                                                 int64_t stride0, int64_t size1, int64_t stride1, int64_t size2,
                                                 int64_t stride2, int64_t size3, int64_t stride3, int64_t size4,
                                                 int64_t stride4);

/** @} */

/* ==================================================================================================================
 *
 *     4. Looking at tensors
 *
 * ================================================================================================================== */

/**
 * @defgroup looking_at_tensors Looking at tensors
 *
 * The fields of `THTensor` are public; these functions return the same values, and check the handle. Errors:
 * `TH_ERR_ARGUMENT`, a dimension that the tensor does not have; `TH_ERR_SHAPE`, a damaged handle; `TH_ERR_DTYPE`, a
 * tensor without a dtype; `TH_ERR_DEVICE`, a question about a GPU to a tensor of the host.
 * @{
 */

/// The storage, or NULL if the tensor has none. Borrowed: valid while the tensor keeps the storage; retain the storage
/// to keep it longer.
THStorage *THTensor_storage(const THTensor *t);

/// The position of the first element in the storage; -1 on error.
ptrdiff_t THTensor_storageOffset(const THTensor *t);

/// The number of dimensions; 0 for a scalar, for a handle that has no shape yet, and on error. A tensor of the sizes
/// [0, 3] has 2 dimensions.
int THTensor_nDimension(const THTensor *t);

/// The PyTorch name of `THTensor_nDimension`.
int THTensor_dim(const THTensor *t);

/// The size of dimension `dim`; -1 on error.
int64_t THTensor_size(const THTensor *t, int dim);

/// The stride of dimension `dim`, in elements; -1 on error.
int64_t THTensor_stride(const THTensor *t, int dim);

/// A pointer to all sizes. Borrowed: valid until the tensor is changed or freed. NULL on error.
const int64_t *THTensor_sizes(const THTensor *t);

/// A pointer to all strides, in elements. Borrowed: valid until the tensor is changed or freed. NULL on error.
const int64_t *THTensor_strides(const THTensor *t);

/// The sizes as an int64 storage. Returns a new reference.
TH_NODISCARD THStorage *THTensor_newSizeOf(const THTensor *t);

/// The strides as an int64 storage. Returns a new reference.
TH_NODISCARD THStorage *THTensor_newStrideOf(const THTensor *t);

/// The number of elements; -1 on error.
ptrdiff_t THTensor_nElement(const THTensor *t);

/// The PyTorch name of `THTensor_nElement`.
ptrdiff_t THTensor_numel(const THTensor *t);

/// A pointer to the first element; NULL if there is no memory. Borrowed: valid until the storage is resized or freed.
void *THTensor_data(const THTensor *t);

/// The element type; `TH_UNDEFINED` before the first write and on error.
THDtype THTensor_dtype(const THTensor *t);

/// The number of bytes of an element; 0 before the first write and on error.
size_t THTensor_elementSize(const THTensor *t);

/// `TH_CPU` or `TH_CUDA`; 0 on error.
THDeviceType THTensor_deviceType(const THTensor *t);

/// The index of the GPU that holds the tensor. A tensor of the host is an error; -1 on error.
int64_t THTensor_getDevice(const THTensor *t);

/// 1 if the elements are stored in row-major order without gaps; 0 if not and on error.
int THTensor_isContiguous(const THTensor *t);

/// 1 if the elements are stored in the memory format `format`; 0 if not and on error. For an empty tensor the strides
/// decide whether the format is channels-last.
int THTensor_isContiguousFormat(const THTensor *t, THMemoryFormat format);

/// 1 if both tensors have the same sizes; 0 if not and on error.
int THTensor_isSameSizeAs(const THTensor *t, const THTensor *src);

/// 1 if both tensors have the same storage, offset, sizes and strides; 0 if not and on error.
int THTensor_isSetTo(const THTensor *t, const THTensor *src);

/// 1 if the tensor has these sizes; 0 if not and on error.
int THTensor_isSize(const THTensor *t, int ndim, const int64_t *size);

/** @} */

/* ==================================================================================================================
 *
 *     5. Single elements
 *
 * ================================================================================================================== */

/**
 * @defgroup single_elements Single elements
 *
 * To access all elements of a tensor, use its memory directly: `THTensor_data`, `THTensor_size` and `THTensor_stride`.
 * Errors: `TH_ERR_ARGUMENT`, an index out of range, or a number that the dtype cannot hold; `TH_ERR_SHAPE`, a number of
 * indices other than the number of dimensions; `TH_ERR_DTYPE`, a tensor without a dtype.
 * @{
 */

/// The element at `index`, which has one entry for each dimension; negative entries count from the end. NaN on error.
double THTensor_getAt(const THTensor *t, int ndim, const int64_t *index);

/// `t[x0]`; NaN on error.
double THTensor_get1d(const THTensor *t, int64_t x0);

/// `t[x0][x1]`; NaN on error.
double THTensor_get2d(const THTensor *t, int64_t x0, int64_t x1);

/// `t[x0][x1][x2]`; NaN on error.
double THTensor_get3d(const THTensor *t, int64_t x0, int64_t x1, int64_t x2);

/// `t[x0][x1][x2][x3]`; NaN on error.
double THTensor_get4d(const THTensor *t, int64_t x0, int64_t x1, int64_t x2, int64_t x3);

/// `t[x0][x1][x2][x3][x4]`; NaN on error.
double THTensor_get5d(const THTensor *t, int64_t x0, int64_t x1, int64_t x2, int64_t x3, int64_t x4);

/// The element at `index` as an integer, exact for int64; floats are truncated. `index` is as for getAt; -1 on error.
int64_t THTensor_getAtLong(const THTensor *t, int ndim, const int64_t *index);

/// `t[index] = value`; `index` has one entry for each dimension, and negative entries count from the end.
THStatus THTensor_setAt(THTensor *t, int ndim, const int64_t *index, double value);

/// `t[x0] = value`
THStatus THTensor_set1d(THTensor *t, int64_t x0, double value);

/// `t[x0][x1] = value`
THStatus THTensor_set2d(THTensor *t, int64_t x0, int64_t x1, double value);

/// `t[x0][x1][x2] = value`
THStatus THTensor_set3d(THTensor *t, int64_t x0, int64_t x1, int64_t x2, double value);

/// `t[x0][x1][x2][x3] = value`
THStatus THTensor_set4d(THTensor *t, int64_t x0, int64_t x1, int64_t x2, int64_t x3, double value);

/// `t[x0][x1][x2][x3][x4] = value`
THStatus THTensor_set5d(THTensor *t, int64_t x0, int64_t x1, int64_t x2, int64_t x3, int64_t x4, double value);

/// `t[index] = value` for an int64, which a double may be unable to hold. `index` is as for setAt.
THStatus THTensor_setAtLong(THTensor *t, int ndim, const int64_t *index, int64_t value);

/// The only element of a tensor of any shape; NaN on error.
double THTensor_item(const THTensor *t);

/// The only element as an integer, exact for int64; floats are truncated. -1 on error.
int64_t THTensor_itemLong(const THTensor *t);

/// `r = value` for every element. If `r` is of integers, `value` truncated to a whole number must be in the range of
/// the dtype. As in PyTorch, uint8 also accepts the whole numbers from -255 to -1, which wrap, and no other negative
/// numbers.
THStatus THTensor_fill(THTensor *r, double value);

/// `r = value` for every element, where `value` is an int64 that a double may be unable to hold. Otherwise as fill.
THStatus THTensor_fillLong(THTensor *r, int64_t value);

/// `r = 0` for every element.
THStatus THTensor_zero(THTensor *r);

/** @} */

/* ==================================================================================================================
 *
 *     6. Copies and conversions
 *
 * ================================================================================================================== */

/**
 * @defgroup copies_and_conversions Copies and conversions
 *
 * Copies of tensors, also with another dtype or in another order in memory. Errors: `TH_ERR_SHAPE`, a source that does
 * not broadcast to the result; `TH_ERR_DTYPE`, a source without a dtype; `TH_ERR_ARGUMENT`, an invalid code of a dtype
 * or memory format.
 * @{
 */

/// A copy of `t` in new memory. If the strides of `t` are dense, the copy has the same strides. If `t` has gaps, the
/// copy has dense strides in the same order of dimensions. If dimensions of `t` are expanded, the copy is row-major.
/// Returns a new reference.
TH_NODISCARD THTensor *THTensor_newClone(const THTensor *t);

/// A copy of `t` in new memory, in the memory format `format`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newCloneFormat(const THTensor *t, THMemoryFormat format);

/// `t` itself if it is contiguous, else a row-major copy. Returns a new reference in both cases.
TH_NODISCARD THTensor *THTensor_newContiguous(THTensor *t);

/// `t` itself if it is stored in `format`, else a copy in this format. Returns a new reference in both cases.
TH_NODISCARD THTensor *THTensor_newContiguousFormat(THTensor *t, THMemoryFormat format);

/// `t` itself if it has this dtype, else a converted copy. Returns a new reference in both cases.
TH_NODISCARD THTensor *THTensor_newTo(THTensor *t, THDtype dtype);

/// `r = t`, converted to the dtype of `r` and broadcast to its shape; any layouts, overlapping or not. A fresh `r`
/// becomes a clone of `t`. A handle of `THTensor_newWithDtype` gets the shape of `t`.
THStatus THTensor_copy(THTensor *r, const THTensor *t);

/// Copies `t` into `dst` unless both are the same handle, then gives up the reference to `t`. A NULL `t` is an error.
THStatus THTensor_freeCopyTo(THTensor *t, THTensor *dst);

/** @} */

/* ==================================================================================================================
 *
 *     7. Printing
 *
 * ================================================================================================================== */

/**
 * @defgroup printing Printing
 *
 * Tensors and storages as text: in a string, on stdout, or on any stream. Errors: `TH_ERR_IO`, writing to the stream
 * failed; `TH_ERR_ARGUMENT`, options out of range; `TH_ERR_SHAPE`, a damaged handle.
 * @{
 */

enum {
    TH_PRINT_PYTORCH = 0,        ///< PyTorch's layout: `tensor([[1., 2.], [3., 4.]])`.
    TH_PRINT_TORCH7 = 1          ///< Torch7's layout: columns of numbers and `[torch.FloatTensor of size 2x2]`.
};

/// Options for printing tensors. `THPrintOptions_init` stores the defaults, which are PyTorch's.
typedef struct THPrintOptions {
    /// `TH_PRINT_PYTORCH`, the default, or `TH_PRINT_TORCH7`.
    int32_t layout;
    /// The number of digits after the decimal point, from 0 to 1000. Default: 4.
    int32_t precision;
    /// The maximum number of elements that PyTorch's layout shows without a summary. Torch7's layout shows every
    /// element. Default: 1000.
    int64_t threshold;
    /// The number of elements that a summary shows at the beginning of each dimension, and also at its end. Default: 3.
    int64_t edgeItems;
    /// The maximum number of characters of a line; a line has at least one element. Default: 80.
    int64_t lineWidth;
    /// The use of exponents, as in `1.0000e+05`, for floats in PyTorch's layout: 0 never, 1 always, -1 by the
    /// magnitudes. With -1, exponents are used if the largest magnitude is above 1e8 or above 1000 times the smallest,
    /// or if the smallest is below 1e-4; zeros are ignored. Default: -1.
    int32_t sciMode;
} THPrintOptions;

/// A sparse tensor: the positions and values of its entries. All other elements are 0. Fields may be read freely, and
/// are changed through functions only.
typedef struct THSTensor {
    /// `nDimensionI` sizes of the sparse dimensions, then `nDimensionV` sizes of the dense ones.
    int64_t *size;
    /// The number of entries.
    int64_t nnz;
    /// The number of sparse dimensions, in which an entry has a position.
    int nDimensionI;
    /// The number of dense dimensions, which each entry has.
    int nDimensionV;
    /// Int64 [nDimensionI x nnz]: the position of each entry. NULL in compressed rows, and before the first write.
    struct THTensor *indices;
    /// The entries: [nnz], and the dense sizes behind. NULL before the first write.
    struct THTensor *values;
    /// Compressed rows: the start of each row among the entries, followed by the number of entries. NULL in other
    /// layouts.
    struct THTensor *crow;
    /// Compressed rows: the column of each entry. NULL in other layouts.
    struct THTensor *col;
    /// 1 if positions ascend in row-major order, each once.
    int coalesced;
    /// The number of references; changed atomically by retain and free.
    int refcount;
} THSTensor;

/// `t` as text, in the layout and with the digits that `options` select; NULL selects the defaults. The text does not
/// end with a newline. A C string that the caller frees with `THFree`; NULL on error.
///
/// PyTorch's layout is the text of its `repr`: `tensor([[1., 2.], [3., 4.]])`. If a tensor is summarised, only the
/// elements shown are read, and they decide the number format. Torch7's layout is the text of its prompt: rows of
/// numbers, then `[torch.FloatTensor of size 2x2]`. Torch7's layout shows every element, and counts indices and columns
/// from 1. In both layouts a fresh handle is printed as an empty tensor of the default dtype.
TH_NODISCARD char *THTensor_toString(const THTensor *t, const THPrintOptions *options);

/// Writes `t` and a newline to C's stdout, with the default options. The output appears after earlier output of printf.
THStatus THTensor_print(const THTensor *t);

/// Writes `t` and a newline to `stream` in one write; `options` are as for `THTensor_toString`. An error of the stream
/// is `TH_ERR_IO`. As with fprintf, an error may appear only when the stream is flushed.
THStatus THTensor_fprint(FILE *stream, const THTensor *t, const THPrintOptions *options);

/// The text of a sparse tensor, always in PyTorch's layout: `indices`, `values`, `size`, `nnz` and `layout`, each on a
/// separate line. A C string that the caller frees with `THFree`; NULL on error.
TH_NODISCARD char *THSTensor_toString(const THSTensor *s, const THPrintOptions *options);

/// Writes `s` and a newline to C's stdout, as `THTensor_print` does.
THStatus THSTensor_print(const THSTensor *s);

/// Writes `s` and a newline to `stream`, as `THTensor_fprint` does.
THStatus THSTensor_fprint(FILE *stream, const THSTensor *s, const THPrintOptions *options);

/// The elements of `storage`, one a line, then `[torch.FloatStorage of size 3]`: always Torch7's layout. Only the
/// precision of `options` is used. A C string that the caller frees with `THFree`; NULL on error.
TH_NODISCARD char *THStorage_toString(const THStorage *storage, const THPrintOptions *options);

/// Stores the library's initial defaults in `options`.
THStatus THPrintOptions_init(THPrintOptions *options);

/// Sets the process-wide defaults, which functions use if their `options` are NULL. NULL restores the library's initial
/// defaults.
THStatus THSetPrintOptions(const THPrintOptions *options);

/// Stores the process-wide defaults in `options`.
THStatus THGetPrintOptions(THPrintOptions *options);

/** @} */

/* ==================================================================================================================
 *
 *     8. Views
 *
 * ================================================================================================================== */

/**
 * @defgroup views Views
 *
 * A view shares the memory of its source, and keeps this memory alive. Most views have two functions: `narrow` stores
 * the view in an existing handle, and `newNarrow` returns a new handle. Errors: `TH_ERR_ARGUMENT`, a dimension, index
 * or size out of range; `TH_ERR_SHAPE`, sizes that the number of elements or the strides do not allow; `TH_ERR_DTYPE`,
 * a source without a dtype.
 * @{
 */

/// Entries `firstIndex` to `firstIndex + size - 1` of dimension `dimension`; a negative `firstIndex` counts from the
/// end. Makes `r` this view of `t`; both may be the same handle.
THStatus THTensor_narrow(THTensor *r, const THTensor *t, int dimension, int64_t firstIndex, int64_t size);

/// Entries `firstIndex` to `firstIndex + size - 1` of dimension `dimension`; a negative `firstIndex` counts from the
/// end. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newNarrow(const THTensor *t, int dimension, int64_t firstIndex, int64_t size);

/// Entry `sliceIndex` of dimension `dimension`, which is removed; for a vector the view is a scalar. Makes `r` this
/// view of `t`; both may be the same handle.
THStatus THTensor_select(THTensor *r, const THTensor *t, int dimension, int64_t sliceIndex);

/// Entry `sliceIndex` of dimension `dimension`, which is removed; for a vector the view is a scalar. Returns a new
/// reference.
TH_NODISCARD THTensor *THTensor_newSelect(const THTensor *t, int dimension, int64_t sliceIndex);

/// Entries `start`, `start + step`, ... before `end` of dimension `dimension`; the bounds are clamped as in Python, and
/// `step` must be positive. Makes `r` this view of `t`; both may be the same handle.
THStatus THTensor_slice(THTensor *r, const THTensor *t, int dimension, int64_t start, int64_t end, int64_t step);

/// Entries `start`, `start + step`, ... before `end` of dimension `dimension`; the bounds are clamped as in Python, and
/// `step` must be positive. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newSlice(const THTensor *t, int dimension, int64_t start, int64_t end, int64_t step);

/// The tensor with dimensions `dimension1` and `dimension2` swapped. Makes `r` this view of `t`; both may be the same
/// handle.
THStatus THTensor_transpose(THTensor *r, const THTensor *t, int dimension1, int dimension2);

/// The tensor with dimensions `dimension1` and `dimension2` swapped. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newTranspose(const THTensor *t, int dimension1, int dimension2);

/// The matrix transposed; vectors and scalars are unchanged. Makes `r` this view of `t`; both may be the same handle.
THStatus THTensor_t(THTensor *r, const THTensor *t);

/// The matrix transposed; vectors and scalars are unchanged. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newT(const THTensor *t);

/// The tensor with permuted dimensions: dimension `d` of the view is dimension `dims[d]` of the source. Makes `r` this
/// view of `t`; both may be the same handle.
THStatus THTensor_permute(THTensor *r, const THTensor *t, int ndim, const int64_t *dims);

/// The tensor with permuted dimensions: dimension `d` of the view is dimension `dims[d]` of the source. Returns a new
/// reference.
TH_NODISCARD THTensor *THTensor_newPermute(const THTensor *t, int ndim, const int64_t *dims);

/// Elements `[i, i + offset]` of dimensions `dim1` and `dim2`, which are removed; the diagonal becomes the last
/// dimension. Makes `r` this view of `t`; both may be the same handle.
THStatus THTensor_diagonal(THTensor *r, const THTensor *t, int64_t offset, int dim1, int dim2);

/// Elements `[i, i + offset]` of dimensions `dim1` and `dim2`, which are removed; the diagonal becomes the last
/// dimension. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newDiagonal(const THTensor *t, int64_t offset, int dim1, int dim2);

/// All windows of `size` entries in dimension `dimension`, `step` entries apart; the elements of a window become a new
/// last dimension. Makes `r` this view of `t`; both may be the same handle.
THStatus THTensor_unfold(THTensor *r, const THTensor *t, int dimension, int64_t size, int64_t step);

/// All windows of `size` entries in dimension `dimension`, `step` entries apart; the elements of a window become a new
/// last dimension. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newUnfold(const THTensor *t, int dimension, int64_t size, int64_t step);

/// The tensor without its dimensions of size 1. Makes `r` this view of `t`; both may be the same handle.
THStatus THTensor_squeeze(THTensor *r, const THTensor *t);

/// The tensor without its dimensions of size 1. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newSqueeze(const THTensor *t);

/// The tensor without dimension `dimension`, if this dimension has size 1. Makes `r` this view of `t`; both may be the
/// same handle.
THStatus THTensor_squeeze1d(THTensor *r, const THTensor *t, int dimension);

/// The tensor without dimension `dimension`, if this dimension has size 1. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newSqueeze1d(const THTensor *t, int dimension);

/// The tensor with a new dimension of size 1 at `dimension`; -1 appends the dimension. Makes `r` this view of `t`; both
/// may be the same handle.
THStatus THTensor_unsqueeze1d(THTensor *r, const THTensor *t, int dimension);

/// The tensor with a new dimension of size 1 at `dimension`; -1 appends the dimension. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newUnsqueeze1d(const THTensor *t, int dimension);

/// The same elements in these sizes, of which one may be -1; it is an error if the strides would need a copy. Makes `r`
/// this view of `t`; both may be the same handle.
THStatus THTensor_view(THTensor *r, const THTensor *t, int ndim, const int64_t *size);

/// The same elements in these sizes, of which one may be -1; it is an error if the strides would need a copy. Returns a
/// new reference.
TH_NODISCARD THTensor *THTensor_newView(const THTensor *t, int ndim, const int64_t *size);

/// The tensor with dimensions of size 1 repeated to these sizes at stride 0; -1 keeps a size, and new dimensions come
/// first. Makes `r` this view of `t`; both may be the same handle.
THStatus THTensor_expand(THTensor *r, const THTensor *t, int ndim, const int64_t *size);

/// The tensor with dimensions of size 1 repeated to these sizes at stride 0; -1 keeps a size, and new dimensions come
/// first. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newExpand(const THTensor *t, int ndim, const int64_t *size);

/// The tensor viewed in the sizes of `other`. Makes `r` this view of `t`; both may be the same handle.
THStatus THTensor_viewAs(THTensor *r, const THTensor *t, const THTensor *other);

/// The tensor viewed in the sizes of `other`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newViewAs(const THTensor *t, const THTensor *other);

/// The tensor expanded to the sizes of `other`. Makes `r` this view of `t`; both may be the same handle.
THStatus THTensor_expandAs(THTensor *r, const THTensor *t, const THTensor *other);

/// The tensor expanded to the sizes of `other`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newExpandAs(const THTensor *t, const THTensor *other);

/// The same bytes as elements of another dtype of the same size. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newViewDtype(const THTensor *t, THDtype dtype);

/// The elements of the storage of `t` with these sizes and strides, from position `storageOffset` of the storage.
/// Strides and offset are in elements; strides may be 0, and elements may occur several times. Elements outside the
/// storage are an error. Gradients reach `t` if all elements belong to `t`, or to the tensor that `t` is a view of.
/// Returns a new reference.
TH_NODISCARD THTensor *THTensor_newAsStrided(const THTensor *t, int ndim, const int64_t *size, const int64_t *stride,
                                             ptrdiff_t storageOffset);

/// The elements of `t` in these sizes, of which one may be -1: a view if the strides allow it, else a copy. Returns a
/// new reference.
TH_NODISCARD THTensor *THTensor_newReshape(const THTensor *t, int ndim, const int64_t *size);

/// The tensor with dimensions `start` to `end` inclusive merged into one: a view if the strides allow it, else a copy.
/// Returns a new reference.
TH_NODISCARD THTensor *THTensor_newFlatten(const THTensor *t, int start, int end);

/// Stores in `r` views of `size` entries along `dimension`; the last view may be smaller. "Lists" in the conventions
/// describes `r` and `count`.
THStatus THTensor_split(THTensor **r, int *count, const THTensor *t, int64_t size, int dimension);

/// Stores in `r` at most `chunks` views of equal size along `dimension`; the last view may be smaller. An empty
/// dimension gives `chunks` empty views. "Lists" in the conventions describes `r` and `count`.
THStatus THTensor_chunk(THTensor **r, int *count, const THTensor *t, int64_t chunks, int dimension);

/// Stores in `r` a view of each entry along `dimension`, which is removed. "Lists" in the conventions describes `r` and
/// `count`.
THStatus THTensor_unbind(THTensor **r, int *count, const THTensor *t, int dimension);

/// Makes each of the `count` handles in `rets` a view of the tensor at the same index in `tensors`, expanded to the
/// common broadcast shape.
THStatus THTensor_expandNd(THTensor *const *rets, THTensor *const *tensors, int count);

/** @} */

/* ==================================================================================================================
 *
 *     9. Shapes changed in place
 *
 * ================================================================================================================== */

/**
 * @defgroup shapes_changed_in_place Shapes changed in place
 *
 * These functions change the handle: its sizes, strides, offset or storage. They do not write elements. Errors:
 * `TH_ERR_SHAPE`, sizes, strides or offsets that are negative or overflow; `TH_ERR_ARGUMENT`, a storage that cannot
 * grow; `TH_ERR_DTYPE`, a source without a dtype.
 * @{
 */

/// Makes `t` a second handle on the elements of `src`.
THStatus THTensor_set(THTensor *t, const THTensor *src);

/// Makes `t` a tensor over `storage`, which grows if it is too small and can be resized; a NULL `stride` means
/// row-major.
THStatus THTensor_setStorage(THTensor *t, THStorage *storage, ptrdiff_t storageOffset, int ndim, const int64_t *size,
                             const int64_t *stride);

/// The name of `THTensor_setStorage` in TH's C interface.
THStatus THTensor_setStorageNd(THTensor *t, THStorage *storage, ptrdiff_t storageOffset, int ndim, const int64_t *size,
                               const int64_t *stride);

/// Makes `t` a 1-d tensor over `storage`.
THStatus THTensor_setStorage1d(THTensor *t, THStorage *storage, ptrdiff_t storageOffset, int64_t size0,
                               int64_t stride0);

/// Makes `t` a 2-d tensor over `storage`.
THStatus THTensor_setStorage2d(THTensor *t, THStorage *storage, ptrdiff_t storageOffset, int64_t size0, int64_t stride0,
                               int64_t size1, int64_t stride1);

/// Makes `t` a 3-d tensor over `storage`.
THStatus THTensor_setStorage3d(THTensor *t, THStorage *storage, ptrdiff_t storageOffset, int64_t size0, int64_t stride0,
                               int64_t size1, int64_t stride1, int64_t size2, int64_t stride2);

/// Makes `t` a 4-d tensor over `storage`.
THStatus THTensor_setStorage4d(THTensor *t, THStorage *storage, ptrdiff_t storageOffset, int64_t size0, int64_t stride0,
                               int64_t size1, int64_t stride1, int64_t size2, int64_t stride2, int64_t size3,
                               int64_t stride3);

/// Makes `t` a 5-d tensor over `storage`.
THStatus THTensor_setStorage5d(THTensor *t, THStorage *storage, ptrdiff_t storageOffset, int64_t size0, int64_t stride0,
                               int64_t size1, int64_t stride1, int64_t size2, int64_t stride2, int64_t size3,
                               int64_t stride3, int64_t size4, int64_t stride4);

/// Changes the sizes of `t`. Elements stay at their position in the storage, which grows if needed and never shrinks;
/// new elements are undefined. A NULL `stride` keeps the strides if the sizes do not change, and otherwise selects
/// row-major strides.
THStatus THTensor_resize(THTensor *t, int ndim, const int64_t *size, const int64_t *stride);

/// The name of `THTensor_resize` in TH's C interface.
THStatus THTensor_resizeNd(THTensor *t, int ndim, const int64_t *size, const int64_t *stride);

/// `THTensor_resize` to one dimension.
THStatus THTensor_resize1d(THTensor *t, int64_t size0);

/// `THTensor_resize` to two dimensions.
THStatus THTensor_resize2d(THTensor *t, int64_t size0, int64_t size1);

/// `THTensor_resize` to three dimensions.
THStatus THTensor_resize3d(THTensor *t, int64_t size0, int64_t size1, int64_t size2);

/// `THTensor_resize` to four dimensions.
THStatus THTensor_resize4d(THTensor *t, int64_t size0, int64_t size1, int64_t size2, int64_t size3);

/// `THTensor_resize` to five dimensions.
THStatus THTensor_resize5d(THTensor *t, int64_t size0, int64_t size1, int64_t size2, int64_t size3, int64_t size4);

/// `THTensor_resize` to the sizes of `src`.
THStatus THTensor_resizeAs(THTensor *t, const THTensor *src);

/** @} */

/* ==================================================================================================================
 *
 *     10. Joining and rearranging
 *
 * ================================================================================================================== */

/**
 * @defgroup joining_and_rearranging Joining and rearranging
 *
 * These functions copy elements. Operands that share memory with the result are copied first. A fresh `r` has the dtype
 * of `t`, or the dtype to which all tensors are promoted. If `r` has another dtype, cat and the other joining functions
 * convert each element once, from its own dtype. Errors: `TH_ERR_SHAPE`, tensors that do not fit each other;
 * `TH_ERR_ARGUMENT`, dimensions, sizes or pads out of range, or an empty list; `TH_ERR_DTYPE`, a result whose dtype
 * cannot hold the elements.
 * @{
 */

enum {
    /// All dimensions, as an argument `dimension`. The result is 0-d, or has all sizes 1 with `keepdim`.
    TH_ALL_DIMS = INT32_MIN
};

/// The source of the elements in the padding of a tensor.
typedef enum THPadMode {
    TH_PAD_CONSTANT = 0,         ///< A given number.
    TH_PAD_REFLECT = 1,          ///< The elements mirrored at the edge; the edge element is not repeated.
    TH_PAD_REPLICATE = 2,        ///< The element on the edge.
    TH_PAD_CIRCULAR = 3          ///< The elements from the opposite edge.
} THPadMode;

/// `r` = `a` followed by `b` along dimension `dimension`, the only dimension in which their sizes may differ. A vector
/// without elements, or a fresh handle, fits any tensor.
THStatus THTensor_cat(THTensor *r, const THTensor *a, const THTensor *b, int dimension);

/// `r` = the `count` tensors one after the other along dimension `dimension`, as for cat.
THStatus THTensor_catArray(THTensor *r, THTensor *const *tensors, int count, int dimension);

/// `r` = the `count` tensors, all of one shape, along a new dimension `dimension`.
THStatus THTensor_stack(THTensor *r, THTensor *const *tensors, int count, int dimension);

/// `r` = the `count` tensors joined along dimension 1, or along dimension 0 if the first is a vector or scalar.
THStatus THTensor_hstack(THTensor *r, THTensor *const *tensors, int count);

/// `r` = the `count` tensors joined along dimension 0; a vector counts as a row.
THStatus THTensor_vstack(THTensor *r, THTensor *const *tensors, int count);

/// `r` = the `count` tensors joined along dimension 2. A matrix [n x k] counts as [n x k x 1], a vector [n] as [1 x n x
/// 1].
THStatus THTensor_dstack(THTensor *r, THTensor *const *tensors, int count);

/// Stores views of `ndim` pieces of `t` along `dimension`, with `sizes` entries each. The sizes add up to the size of
/// the dimension. See "Lists" in the conventions for `r` and `count`.
THStatus THTensor_splitSizes(THTensor **r, int *count, const THTensor *t, int ndim, const int64_t *sizes,
                             int dimension);

/// Stores views of `sections` pieces of `t` along `dimension`; if the size is not divisible, the first pieces have one
/// entry more. See "Lists" in the conventions for `r` and `count`.
THStatus THTensor_tensorSplit(THTensor **r, int *count, const THTensor *t, int64_t sections, int dimension);

/// Stores views of the pieces of `t` along `dimension` that end before each of the `ndim` entries `indices`, and of the
/// rest; bounds are as in slice. See "Lists" in the conventions for `r` and `count`.
THStatus THTensor_tensorSplitIndices(THTensor **r, int *count, const THTensor *t, int ndim, const int64_t *indices,
                                     int dimension);

/// `r` = `t` with the entries of the `count` dimensions `dims` in reverse order.
THStatus THTensor_flip(THTensor *r, const THTensor *t, int ndim, const int64_t *dims);

/// `r` = `t` with the entries of dimension `dims[k]` shifted by `shifts[k]`; entries shifted past one end reappear at
/// the other. If `dims` is NULL, the elements in row-major order are shifted by the single number in `shifts`.
THStatus THTensor_roll(THTensor *r, const THTensor *t, int ndim, const int64_t *shifts, const int64_t *dims);

/// `r` = `t` rotated by `k` right angles in the plane of two dimensions, from `dimension1` towards `dimension2`.
THStatus THTensor_rot90(THTensor *r, const THTensor *t, int64_t k, int dimension1, int dimension2);

/// `r` = `t` repeated `sizes[d]` times along each of `ndim` dimensions. If `t` has fewer dimensions, it gets new ones
/// in front.
THStatus THTensor_repeat(THTensor *r, const THTensor *t, int ndim, const int64_t *sizes);

/// `THTensor_repeat` by Torch's name.
THStatus THTensor_repeatTensor(THTensor *r, const THTensor *t, int ndim, const int64_t *sizes);

/// repeat where missing counts in front are 1.
THStatus THTensor_tile(THTensor *r, const THTensor *t, int ndim, const int64_t *sizes);

/// `r` = `t` with each entry along `dimension` repeated: `repeats`, int64 or int32, is a vector with a count for each
/// entry, or one count for all. With `TH_ALL_DIMS` the entries are the elements in row-major order.
THStatus THTensor_repeatInterleave(THTensor *r, const THTensor *t, const THTensor *repeats, int dimension);

/// repeatInterleave with the same count for each entry.
THStatus THTensor_repeatInterleaveValue(THTensor *r, const THTensor *t, int64_t repeats, int dimension);

/// `r` = `t` extended by `pads[0]` entries before and `pads[1]` entries after the last dimension, by `pads[2]` and
/// `pads[3]` in the dimension before it, and so on. `count` is the number of pads, two for each dimension. Negative
/// pads remove entries. `mode` determines the new entries: `TH_PAD_CONSTANT` makes them `value`, which has the range
/// that fill accepts for the dtype of `t`.
THStatus THTensor_pad(THTensor *r, const THTensor *t, int count, const int64_t *pads, THPadMode mode, double value);

/// The inverse of unfold: `r` = the sum of the windows in the last dimension of `t`, placed `step` apart along
/// `dimension`. Windows are added where they overlap. Gaps between windows are zeros.
THStatus THTensor_fold(THTensor *r, const THTensor *t, int dimension, int64_t step);

/// `r[i] = t[i + 1] - t[i]` along `dimension`, applied `n` times; for Bool, whether the two elements differ.
THStatus THTensor_diff(THTensor *r, const THTensor *t, int64_t n, int dimension);

/// Stores the indices in each of the `ndim` dimensions of `shape` of the elements at the positions in `index`, counted
/// in row-major order. Negative positions count from the end. See "Lists" in the conventions for `r` and `count`.
THStatus THTensor_unravelIndex(THTensor **r, int *count, const THTensor *index, int ndim, const int64_t *shape);

/** @} */

/* ==================================================================================================================
 *
 *     11. Elements by index
 *
 * ================================================================================================================== */

/**
 * @defgroup elements_by_index Elements by index
 *
 * Positions are int64 or int32, counted from 0. All positions are checked before anything is written, with two
 * exceptions, as in PyTorch: index tensors that broadcast to an empty shape, and positions of takeAlongDim if the
 * result has no elements. Operands that share memory with the result are copied first. Errors: `TH_ERR_ARGUMENT`, a
 * position out of range; `TH_ERR_SHAPE`, an index or mask that does not fit the tensor; `TH_ERR_DTYPE`, an index that
 * is not of integers, or elements of another dtype.
 * @{
 */

/// The operation that combines several elements for one position.
typedef enum THReduce {
    TH_REDUCE_ADD = 0,           ///< The sum; for Bool, *or*.
    TH_REDUCE_MULTIPLY = 1,      ///< The product; for Bool, *and*.
    TH_REDUCE_AMAX = 2,          ///< The greatest element; NaN if any element is NaN.
    TH_REDUCE_AMIN = 3           ///< The least element; NaN if any element is NaN.
} THReduce;

/// `r` = the entries `index` of dimension `dimension` of `t`, in the order of `index`, which may repeat entries. The
/// index is a vector or a scalar; a scalar `t` counts as a vector of one entry.
THStatus THTensor_indexSelect(THTensor *r, const THTensor *t, int dimension, const THTensor *index);

/// `r[i, j] = t[index[i, j], j]` for dimension 0, and likewise for other dimensions. `r` has the shape of `index`.
/// `index` has as many dimensions as `t`, and is no larger than `t` in any dimension except `dimension`.
THStatus THTensor_gather(THTensor *r, const THTensor *t, int dimension, const THTensor *index);

/// gather with operands that broadcast in all dimensions except `dimension`. With `TH_ALL_DIMS` both operands are
/// flattened to vectors in row-major order. Negative positions count from the end.
THStatus THTensor_takeAlongDim(THTensor *r, const THTensor *t, const THTensor *index, int dimension);

/// `r` = the elements of `t` at the positions in `index`, counted in row-major order. Negative positions count from the
/// end. `r` has the shape of `index`.
THStatus THTensor_take(THTensor *r, const THTensor *t, const THTensor *index);

/// `r = t[indices]`, as NumPy's advanced indexing: `indices` are `count` index tensors, for the first dimensions of
/// `t`, which broadcast to one shape. This shape replaces the indexed dimensions if they are adjacent; otherwise it
/// comes first. NULL in the list leaves a dimension whole. A mask, Bool or uint8, selects the positions of its true
/// elements, and indexes as many dimensions as it has. Negative positions count from the end.
THStatus THTensor_index(THTensor *r, const THTensor *t, THTensor *const *indices, int count);

/// Returns `t[indices]`, as index does. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newIndex(const THTensor *t, THTensor *const *indices, int count);

/// `t[indices] = values`, or `t[indices] += values` if `accumulate` is not 0. `indices` are as for index, and `values`
/// broadcast. If several values are written to one element, the last one wins; sums are computed as in indexAdd.
THStatus THTensor_indexPut(THTensor *t, THTensor *const *indices, int count, const THTensor *values, int accumulate);

/// Entries `index` of dimension `dimension` of `t` = the entries of `src`. `src` has the shape of `t`, except that its
/// size in `dimension` is the length of `index`. If several entries are written to one entry, the last one wins.
THStatus THTensor_indexCopy(THTensor *t, int dimension, const THTensor *index, const THTensor *src);

/// Entries `index` of dimension `dimension` of `t` += the entries of `src`, one after the other; shapes are as for
/// indexCopy. 16-bit floats are summed in float32. Each addition is rounded, as in PyTorch, so that a float32 sum of
/// ones stops at 2^24. `THTensor_sum` and `THTensor_bincount` do not have this limit. If many elements are added to one
/// entry, a GPU adds the sums of parts of these elements. The parts depend only on the shapes, so that equal calls have
/// equal results.
THStatus THTensor_indexAdd(THTensor *t, int dimension, const THTensor *index, const THTensor *src);

/// indexAdd of `scale * src`.
THStatus THTensor_indexAddScale(THTensor *t, int dimension, const THTensor *index, double scale, const THTensor *src);

/// Entries `index` of dimension `dimension` of `t` = `value`, which has the range that fill accepts. Negative positions
/// count from the end.
THStatus THTensor_indexFill(THTensor *t, int dimension, const THTensor *index, double value);

/// `t[index[i, j], j] = src[i, j]` for dimension 0, and likewise for other dimensions: the inverse of gather. `index`
/// is no larger than `src`, and no larger than `t` in any dimension except `dimension`. If several elements are written
/// to one position, the last one in row-major order wins.
THStatus THTensor_scatter(THTensor *t, int dimension, const THTensor *index, const THTensor *src);

/// scatter of the number `value` instead of elements. `value` has the range that fill accepts.
THStatus THTensor_scatterFill(THTensor *t, int dimension, const THTensor *index, double value);

/// scatter that adds, `+=` instead of `=`, in row-major order, with rounding as in indexAdd. 16-bit floats are summed
/// in float32.
THStatus THTensor_scatterAdd(THTensor *t, int dimension, const THTensor *index, const THTensor *src);

/// scatter that combines each element of `t` with the elements of `src` by `mode`, in row-major order.
THStatus THTensor_scatterMode(THTensor *t, int dimension, const THTensor *index, const THTensor *src, THReduce mode);

/// scatterMode with the number `value` instead of elements.
THStatus THTensor_scatterFillMode(THTensor *t, int dimension, const THTensor *index, double value, THReduce mode);

/// The elements of `t` at the positions in `index` = the elements of `src`, or `+=` them if `accumulate` is not 0;
/// positions are as for take. If several elements are written to one position, the last one wins; sums are computed in
/// order.
THStatus THTensor_put(THTensor *t, const THTensor *index, const THTensor *src, int accumulate);

/// `r` = the elements of `t` where `mask` is true, in row-major order, as a vector. Both broadcast; the mask is Bool or
/// uint8.
THStatus THTensor_maskedSelect(THTensor *r, const THTensor *t, const THTensor *mask);

/// The elements of `t` where `mask` is true = the elements of `src`, in row-major order; `src` may have more elements
/// than needed. The mask, Bool or uint8, broadcasts to the shape of `t`.
THStatus THTensor_maskedCopy(THTensor *t, const THTensor *mask, const THTensor *src);

/// `THTensor_maskedCopy` by PyTorch's name.
THStatus THTensor_maskedScatter(THTensor *t, const THTensor *mask, const THTensor *src);

/// `r` = the indices of each element of `t` that is not 0, in row-major order, as the rows of an int64 matrix. NaN is
/// not 0.
THStatus THTensor_nonzero(THTensor *r, const THTensor *t);

/// Stores the indices of each element of `t` that is not 0, as one vector for each dimension; a scalar counts as a
/// vector of one element. See "Lists" in the conventions for `r` and `count`.
THStatus THTensor_nonzeroTuple(THTensor **r, int *count, const THTensor *t);

/** @} */

/* ==================================================================================================================
 *
 *     12. Results made of numbers
 *
 * ================================================================================================================== */

/**
 * @defgroup results_made_of_numbers Results made of numbers
 *
 * Constants, progressions, diagonals, triangles and grids. Errors: `TH_ERR_ARGUMENT`, invalid bounds, steps or sizes,
 * or numbers that the dtype cannot hold; `TH_ERR_SHAPE`, an operand with the wrong number of dimensions;
 * `TH_ERR_DTYPE`, an operand of the wrong dtype.
 * @{
 */

/// `r = 0` with these sizes. A fresh `r` has the default dtype; any other keeps its dtype.
THStatus THTensor_zeros(THTensor *r, int ndim, const int64_t *size);

/// `r = 1` with these sizes. A fresh `r` has the default dtype; any other keeps its dtype.
THStatus THTensor_ones(THTensor *r, int ndim, const int64_t *size);

/// `r = value` with these sizes. A fresh `r` has the default dtype; any other keeps its dtype, and `value` is converted
/// as by `THTensor_fill`.
THStatus THTensor_full(THTensor *r, int ndim, const int64_t *size, double value);

/// `r = 0` with the sizes of `t`. A fresh `r` has the dtype of `t` and, if they are dense, its strides.
THStatus THTensor_zerosLike(THTensor *r, const THTensor *t);

/// `r = 1` with the sizes of `t`. A fresh `r` has the dtype of `t` and, if they are dense, its strides.
THStatus THTensor_onesLike(THTensor *r, const THTensor *t);

/// `r = value` with the sizes of `t`. A fresh `r` has the dtype of `t` and, if they are dense, its strides.
THStatus THTensor_fullLike(THTensor *r, const THTensor *t, double value);

/// `r[i] = start + i * step`, all numbers before `end`. A fresh `r` is int64 if all three numbers are whole, else it
/// has the default dtype. If `r` has an integer dtype, all three numbers must be whole. A tensor that already has the
/// right number of elements keeps its shape. A `step` of 0, or one that leads away from `end`, is an error.
THStatus THTensor_arange(THTensor *r, double start, double end, double step);

/// `r[i] = start + i * step`, all numbers up to and including `end`. A fresh `r` has the default dtype; otherwise `r`
/// is as for `THTensor_arange`.
THStatus THTensor_range(THTensor *r, double start, double end, double step);

/// `r` = `n` evenly spaced numbers from `start` to `end`, both included; if `n` is 1, `start`. Floats only; a fresh `r`
/// has the default dtype. A tensor that already has `n` elements keeps its shape.
THStatus THTensor_linspace(THTensor *r, double start, double end, int64_t n);

/// `r = 10^x` for the `n` numbers `x` of `THTensor_linspace`.
THStatus THTensor_logspace(THTensor *r, double start, double end, int64_t n);

/// `r = base^x` for the `n` numbers `x` of `THTensor_linspace`.
THStatus THTensor_logspaceBase(THTensor *r, double start, double end, double base, int64_t n);

/// `r[i, j] = 1` where `i = j`, else 0, with `n` rows and `m` columns. A fresh `r` has the default dtype.
THStatus THTensor_eye(THTensor *r, int64_t n, int64_t m);

/// `r` = a copy of diagonal `k` if `t` is a matrix; if `t` is a vector, a matrix with this vector on diagonal `k` and
/// zeros elsewhere. For a vector of n elements the matrix has n + |k| rows. Diagonal 0 is the main diagonal; positive
/// diagonals are above it.
THStatus THTensor_diag(THTensor *r, const THTensor *t, int64_t k);

/// `r` = matrices with the last dimension of `t` on diagonal `offset` and zeros elsewhere. Their rows and columns are
/// dimensions `dim1` and `dim2` of the result, which has one dimension more than `t`.
THStatus THTensor_diagEmbed(THTensor *r, const THTensor *t, int64_t offset, int dim1, int dim2);

/// Returns `sum of t[i, i]` of a matrix; NaN on error. Floats are summed in float64. For sums of integers that a double
/// cannot hold, use `THTensor_sum` of `THTensor_newDiagonal`.
double THTensor_trace(const THTensor *t);

/// `r[.., i, j] = t[.., i, j]` where `j - i <= k`, else 0. `r` may be `t`.
THStatus THTensor_tril(THTensor *r, const THTensor *t, int64_t k);

/// `r[.., i, j] = t[.., i, j]` where `j - i >= k`, else 0. `r` may be `t`.
THStatus THTensor_triu(THTensor *r, const THTensor *t, int64_t k);

/// `r` [2 x n] = row `i` and column `j` of each element of a `rows` x `cols` matrix with `j - i <= offset`, in
/// row-major order. A fresh `r` is int64.
THStatus THTensor_trilIndices(THTensor *r, int64_t rows, int64_t cols, int64_t offset);

/// `r` [2 x n] = row `i` and column `j` of each element of a `rows` x `cols` matrix with `j - i >= offset`, in
/// row-major order. A fresh `r` is int64.
THStatus THTensor_triuIndices(THTensor *r, int64_t rows, int64_t cols, int64_t offset);

/// `rets[k][i0, i1, ...] = tensors[k][ik]`: each of the `count` handles in `rets` becomes a view of the vector at the
/// same index, expanded over the grid of all vectors. `indexing` "ij" keeps the order of dimensions, "xy" swaps the
/// first two. Vectors have one dtype; a scalar counts as a vector of one element.
THStatus THTensor_meshgrid(THTensor *const *rets, THTensor *const *tensors, int count, const char *indexing);

/// `r` = all combinations of one element from each of the `count` vectors. Each combination is a row, and the last
/// vector varies fastest. For one vector `r` is a copy.
THStatus THTensor_cartesianProd(THTensor *r, THTensor *const *tensors, int count);

/// `r[.., c] = 1` where `t[..] = c`, else 0, for integers `t` from 0 to `numClasses` - 1. If `numClasses` is -1, it is
/// one more than the largest element. A fresh `r` is int64.
THStatus THTensor_oneHot(THTensor *r, const THTensor *t, int64_t numClasses);

/// `r[i, j] = t[i]^(n - 1 - j)`, or `t[i]^j` if `increasing` is not 0, for a vector `t` and `n` columns; if `n` is -1,
/// it is the length of `t`. Integers give int64.
THStatus THTensor_vander(THTensor *r, const THTensor *t, int64_t n, int increasing);

/** @} */

/* ==================================================================================================================
 *
 *     13. Arithmetic
 *
 * ================================================================================================================== */

/**
 * @defgroup arithmetic Arithmetic
 *
 * Operations of this chapter and the next three work element by element: operands broadcast, and their dtypes are
 * promoted. Errors: `TH_ERR_SHAPE`, operands that do not broadcast; `TH_ERR_DTYPE`, a dtype that the operation does not
 * support, or a result that cannot be converted to the dtype of `r`; `TH_ERR_ARGUMENT`, an integer divided by 0, or an
 * invalid number.
 * @{
 */

/// The rounding of a quotient by `divMode`.
typedef enum THDivMode {
    TH_DIV_TRUE = 0,             ///< No rounding; integers give the default dtype.
    TH_DIV_TRUNC = 1,            ///< Rounds towards zero, as C divides integers.
    TH_DIV_FLOOR = 2             ///< Rounds down, as Python's `//`.
} THDivMode;

/// `r = -t`. Not for Bool.
THStatus THTensor_neg(THTensor *r, const THTensor *t);

/// `r = |t|`. Not for Bool.
THStatus THTensor_abs(THTensor *r, const THTensor *t);

/// `r = -1 where t < 0, 0 where t is 0 or NaN, 1 where t > 0`.
THStatus THTensor_sign(THTensor *r, const THTensor *t);

/// `r = floor(t)`. Not for Bool; integers are unchanged.
THStatus THTensor_floor(THTensor *r, const THTensor *t);

/// `r = ceil(t)`. Not for Bool; integers are unchanged.
THStatus THTensor_ceil(THTensor *r, const THTensor *t);

/// `r = t rounded to the nearest integer`, ties to even. Not for Bool; integers are unchanged.
THStatus THTensor_round(THTensor *r, const THTensor *t);

/// `r = t rounded towards zero`. Not for Bool; integers are unchanged.
THStatus THTensor_trunc(THTensor *r, const THTensor *t);

/// `r = t - trunc(t)`. Floats only.
THStatus THTensor_frac(THTensor *r, const THTensor *t);

/// `r = t^2`. Not for Bool; integers wrap.
THStatus THTensor_square(THTensor *r, const THTensor *t);

/// `r = 1 / t`. Integers give the default dtype.
THStatus THTensor_cinv(THTensor *r, const THTensor *t);

/// `r = t + value`. With a whole `value` integers keep their dtype, otherwise they give the default dtype.
THStatus THTensor_add(THTensor *r, const THTensor *t, double value);

/// `r = t - value`. With a whole `value` integers keep their dtype, otherwise they give the default dtype.
THStatus THTensor_sub(THTensor *r, const THTensor *t, double value);

/// `r = t * value`. With a whole `value` integers keep their dtype, otherwise they give the default dtype.
THStatus THTensor_mul(THTensor *r, const THTensor *t, double value);

/// `r = t / value`, true division: integers give the default dtype.
THStatus THTensor_div(THTensor *r, const THTensor *t, double value);

/// `r = a * b`, with broadcasting and promotion; on Bool this is *and*.
THStatus THTensor_cmul(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a / b`, with broadcasting; true division: integers give the default dtype.
THStatus THTensor_cdiv(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a^b`, with broadcasting and promotion. Not for Bool. Integers wrap. A negative power of an integer is 1 divided
/// by the positive power, rounded towards zero; for 0 it is 0.
THStatus THTensor_cpow(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = value^t`. Not for Bool; negative powers of integers are as for cpow.
THStatus THTensor_tpow(THTensor *r, double value, const THTensor *t);

/// `r = t + value * a * b`, with broadcasting and promotion. For integers `value` must be whole; not for Bool.
THStatus THTensor_addcmul(THTensor *r, const THTensor *t, double value, const THTensor *a, const THTensor *b);

/// `r = t + value * a / b`, with broadcasting and promotion. Floats only.
THStatus THTensor_addcdiv(THTensor *r, const THTensor *t, double value, const THTensor *a, const THTensor *b);

/// `r = a + weight * (b - a)`, exact for weights 0 and 1, with broadcasting and promotion. Floats only.
THStatus THTensor_lerp(THTensor *r, const THTensor *a, const THTensor *b, double weight);

/// `r = a + weight * (b - a)` with a weight for each element, with broadcasting and promotion. Floats only.
THStatus THTensor_lerpTensor(THTensor *r, const THTensor *a, const THTensor *b, const THTensor *weight);

/// `r = t - value * trunc(t / value)`, exact, with the sign of `t`. For integers a `value` of 0 is an error. With a
/// whole `value` integers keep their dtype and Bool gives int64; any other `value` gives the default dtype for both.
THStatus THTensor_fmod(THTensor *r, const THTensor *t, double value);

/// `r = a - b * trunc(a / b)`, exact, with the sign of `a`, with broadcasting and promotion. Not for Bool; for integers
/// a 0 in `b` is an error.
THStatus THTensor_cfmod(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = t - value * floor(t / value)`, exact, with the sign of `value`; a zero has the sign of `t`. For integers a
/// `value` of 0 is an error. With a whole `value` integers keep their dtype and Bool gives int64; any other `value`
/// gives the default dtype for both.
THStatus THTensor_remainder(THTensor *r, const THTensor *t, double value);

/// `r = a - b * floor(a / b)`, exact, with the sign of `b`, with broadcasting and promotion; a zero has the sign of
/// `a`. Not for Bool; for integers a 0 in `b` is an error.
THStatus THTensor_cremainder(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = t + value * src`, with broadcasting and promotion; on Bool this is *or*. For integers `value` must be whole.
THStatus THTensor_cadd(THTensor *r, const THTensor *t, double value, const THTensor *src);

/// `r = t - value * src`, with broadcasting and promotion. For integers `value` must be whole; not for Bool.
THStatus THTensor_csub(THTensor *r, const THTensor *t, double value, const THTensor *src);

/// `r = value - t`. With a whole `value` integers keep their dtype and Bool gives int64; any other `value` gives the
/// default dtype for both.
THStatus THTensor_rsub(THTensor *r, const THTensor *t, double value);

/// `r = value / t`, true division: integers give the default dtype.
THStatus THTensor_rdiv(THTensor *r, const THTensor *t, double value);

/// `r = src - value * t`; otherwise as csub.
THStatus THTensor_crsub(THTensor *r, const THTensor *t, double value, const THTensor *src);

/// `r = t^value`. Integers wrap and have no negative powers. With a whole `value` integers keep their dtype and Bool
/// gives int64; any other `value` gives the default dtype for both. The exponent is a double even if `t` is float32.
THStatus THTensor_pow(THTensor *r, const THTensor *t, double value);

/// `r = the larger of a and b`, with broadcasting and promotion; NaN if either is NaN. A 0-d integer tensor outside the
/// range of the common dtype counts as the nearest integer in that range.
THStatus THTensor_cmax(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = the smaller of a and b`, with broadcasting and promotion; NaN if either is NaN. 0-d integer tensors are as for
/// cmax.
THStatus THTensor_cmin(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = the larger of t and value`; NaN if either is NaN. With a whole `value` integers keep their dtype, otherwise
/// they give the default dtype. If `t` is of integers, a whole `value` outside the range of its dtype counts as the
/// nearest integer in that range.
THStatus THTensor_cmaxValue(THTensor *r, const THTensor *t, double value);

/// `r = the smaller of t and value`; NaN if either is NaN. `value` is as for cmaxValue.
THStatus THTensor_cminValue(THTensor *r, const THTensor *t, double value);

/// `r = min(max(t, minimum), maximum)`; if `minimum > maximum`, the result is `maximum`. NaN stays NaN. A `minimum` of
/// -inf and a `maximum` of inf have no effect, and integers keep their dtype. With whole bounds integers keep their
/// dtype, otherwise they give the default dtype. cmaxValue and cminValue have only one bound.
THStatus THTensor_clamp(THTensor *r, const THTensor *t, double minimum, double maximum);

/// `r = min(max(t, minimum), maximum)` with bounds for each element, with broadcasting and promotion; NaN if any of the
/// three is NaN. One of the two bounds may be NULL, and then has no effect.
THStatus THTensor_clampTensor(THTensor *r, const THTensor *t, const THTensor *minimum, const THTensor *maximum);

/// `r = min(max(t, minimum), maximum)`; `minimum > maximum` is an error. Otherwise as clamp.
THStatus THTensor_hardtanh(THTensor *r, const THTensor *t, double minimum, double maximum);

/// `r = t / value`, rounded by `mode`: `TH_DIV_TRUE` does not round, as div; `TH_DIV_TRUNC` rounds towards zero and
/// `TH_DIV_FLOOR` down. With the last two, integers keep their dtype and a `value` of 0 is an error for them. Bool is
/// only supported by `TH_DIV_TRUE`.
THStatus THTensor_divMode(THTensor *r, const THTensor *t, double value, THDivMode mode);

/// `r = a / b`, with broadcasting and promotion, rounded by `mode` as for divMode.
THStatus THTensor_cdivMode(THTensor *r, const THTensor *a, const THTensor *b, THDivMode mode);

/** @} */

/* ==================================================================================================================
 *
 *     14. Functions of numbers
 *
 * ================================================================================================================== */

/**
 * @defgroup functions_of_numbers Functions of numbers
 *
 * Functions of each element: roots, exponentials, logarithms, trigonometric and special functions, activations. Errors:
 * `TH_ERR_SHAPE`, operands that do not broadcast; `TH_ERR_DTYPE`, a dtype that the function does not support, or a
 * result that cannot be converted to the dtype of `r`; `TH_ERR_ARGUMENT`, an invalid number; `TH_ERR_UNSUPPORTED`, a
 * derivative of too high an order.
 * @{
 */

/// `r = sqrt(t)`. Integers give the default dtype.
THStatus THTensor_sqrt(THTensor *r, const THTensor *t);

/// `r = 1 / sqrt(t)`. Integers give the default dtype.
THStatus THTensor_rsqrt(THTensor *r, const THTensor *t);

/// `r = e^t`. Integers give the default dtype.
THStatus THTensor_exp(THTensor *r, const THTensor *t);

/// `r = 2^t`. Integers give the default dtype.
THStatus THTensor_exp2(THTensor *r, const THTensor *t);

/// `r = e^t - 1`, accurate near 0. Integers give the default dtype.
THStatus THTensor_expm1(THTensor *r, const THTensor *t);

/// `r = log(t)`, the natural logarithm. Integers give the default dtype.
THStatus THTensor_log(THTensor *r, const THTensor *t);

/// `r = log(1 + t)`, accurate near 0. Integers give the default dtype.
THStatus THTensor_log1p(THTensor *r, const THTensor *t);

/// `r = log2(t)`. Integers give the default dtype.
THStatus THTensor_log2(THTensor *r, const THTensor *t);

/// `r = log10(t)`. Integers give the default dtype.
THStatus THTensor_log10(THTensor *r, const THTensor *t);

/// `r = sin(t)`, in radians. Integers give the default dtype.
THStatus THTensor_sin(THTensor *r, const THTensor *t);

/// `r = cos(t)`, in radians. Integers give the default dtype.
THStatus THTensor_cos(THTensor *r, const THTensor *t);

/// `r = tan(t)`, in radians. Integers give the default dtype.
THStatus THTensor_tan(THTensor *r, const THTensor *t);

/// `r = asin(t)`; NaN outside [-1, 1]. Integers give the default dtype.
THStatus THTensor_asin(THTensor *r, const THTensor *t);

/// `r = acos(t)`; NaN outside [-1, 1]. Integers give the default dtype.
THStatus THTensor_acos(THTensor *r, const THTensor *t);

/// `r = atan(t)`. Integers give the default dtype.
THStatus THTensor_atan(THTensor *r, const THTensor *t);

/// `r = sinh(t)`. Integers give the default dtype.
THStatus THTensor_sinh(THTensor *r, const THTensor *t);

/// `r = cosh(t)`. Integers give the default dtype.
THStatus THTensor_cosh(THTensor *r, const THTensor *t);

/// `r = tanh(t)`. Integers give the default dtype.
THStatus THTensor_tanh(THTensor *r, const THTensor *t);

/// `r = asinh(t)`, the inverse of sinh. Integers give the default dtype.
THStatus THTensor_asinh(THTensor *r, const THTensor *t);

/// `r = acosh(t)`, the inverse of cosh; NaN below 1. Integers give the default dtype.
THStatus THTensor_acosh(THTensor *r, const THTensor *t);

/// `r = atanh(t)`, the inverse of tanh; NaN outside [-1, 1]. Integers give the default dtype.
THStatus THTensor_atanh(THTensor *r, const THTensor *t);

/// `r = sin(pi t) / (pi t)`; 1 at 0, 0 at the other integers, NaN at the infinities. Integers give the default dtype.
THStatus THTensor_sinc(THTensor *r, const THTensor *t);

/// `r = 1 / (1 + e^-t)`. Integers give the default dtype.
THStatus THTensor_sigmoid(THTensor *r, const THTensor *t);

/// `r = erf(t)`, the error function. Integers give the default dtype.
THStatus THTensor_erf(THTensor *r, const THTensor *t);

/// `r = 1 - erf(t)`, accurate even where the result is small. Integers give the default dtype.
THStatus THTensor_erfc(THTensor *r, const THTensor *t);

/// `r = the number whose erf is t`; NaN outside [-1, 1]. Integers give the default dtype.
THStatus THTensor_erfinv(THTensor *r, const THTensor *t);

/// `r = log |gamma(t)|`; inf at 0, -1, -2, ... Integers give the default dtype.
THStatus THTensor_lgamma(THTensor *r, const THTensor *t);

/// `r = the derivative of lgamma at t`; NaN at -1, -2, ..., -inf at 0. Integers give the default dtype.
THStatus THTensor_digamma(THTensor *r, const THTensor *t);

/// `r = t * (1 + erf(t / sqrt 2)) / 2`. Floats only.
THStatus THTensor_gelu(THTensor *r, const THTensor *t);

/// `r = t * (1 + tanh(sqrt(2 / pi) * (t + 0.044715 t^3))) / 2`, the common approximation of gelu. Floats only.
THStatus THTensor_geluTanh(THTensor *r, const THTensor *t);

/// `r = max(t, 0)`; NaN stays NaN. Not for Bool.
THStatus THTensor_relu(THTensor *r, const THTensor *t);

/// `r = t where t > 0, else value * t`. Floats only.
THStatus THTensor_leakyRelu(THTensor *r, const THTensor *t, double value);

/// `r = t where t > 0, else value * (e^t - 1)`. Floats only.
THStatus THTensor_elu(THTensor *r, const THTensor *t, double value);

/// `r = log(1 + e^(beta * t)) / beta`, or `t` where `beta * t > threshold` (PyTorch's defaults are 1 and 20). Floats
/// only.
THStatus THTensor_softplus(THTensor *r, const THTensor *t, double beta, double threshold);

/// `r = -log(1 + e^-t)`, the logarithm of sigmoid. Floats only.
THStatus THTensor_logSigmoid(THTensor *r, const THTensor *t);

/// `r = t / (1 + e^-t)`, also called swish (Elfwing, Uchibe and Doya, 2017). At -inf the result is the limit -0.
/// PyTorch gives NaN there. Floats only.
THStatus THTensor_silu(THTensor *r, const THTensor *t);

/// `r = t * tanh(log(1 + e^t))` (Misra, 2019). At -inf the result is the limit -0. PyTorch gives NaN there. Floats
/// only.
THStatus THTensor_mish(THTensor *r, const THTensor *t);

/// `r = 0 where t <= -3, t where t >= 3, else t * (t + 3) / 6` (Howard et al., 2019). Floats only.
THStatus THTensor_hardswish(THTensor *r, const THTensor *t);

/// `r = min(max(t + 3, 0), 6) / 6`; NaN stays NaN. Floats only.
THStatus THTensor_hardsigmoid(THTensor *r, const THTensor *t);

/// `r = 1.0507... * t where t > 0, else 1.7580... * (e^t - 1)`: elu with the numbers that keep mean 0 and variance 1
/// (Klambauer et al., 2017). Floats only.
THStatus THTensor_selu(THTensor *r, const THTensor *t);

/// `r = t / (1 + |t|)`; -1 and 1 at the infinities, where PyTorch gives NaN. Floats only.
THStatus THTensor_softsign(THTensor *r, const THTensor *t);

/// `r = 0 where -lambda <= t <= lambda, else t`. Floats only.
THStatus THTensor_hardshrink(THTensor *r, const THTensor *t, double lambda);

/// `r = the angle of the point (b, a)` in (-pi, pi], with broadcasting. Integers give the default dtype.
THStatus THTensor_atan2(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = sqrt(a^2 + b^2)` without intermediate overflow, with broadcasting. Integers give the default dtype.
THStatus THTensor_hypot(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = log(e^a + e^b)` without intermediate overflow, with broadcasting. Integers give the default dtype.
THStatus THTensor_logaddexp(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a * log(b)`, with broadcasting; 0 where `a` is 0 and `b` is not NaN. Integers give the default dtype.
THStatus THTensor_xlogy(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = |a| with the sign of b`, with broadcasting. Integers give the default dtype.
THStatus THTensor_copysign(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = the next representable number after a in the direction of b`, with broadcasting and promotion. Floats only.
THStatus THTensor_nextafter(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = t`, where NaN becomes `nan`, inf becomes `posinf` and -inf becomes `neginf`. If `posinf` is NaN, inf becomes
/// the greatest finite number of the dtype of `t`; if `neginf` is NaN, -inf becomes the least finite number. Integers
/// and Bool are unchanged.
THStatus THTensor_nanToNum(THTensor *r, const THTensor *t, double nan, double posinf, double neginf);

/// `r = t where t > 0, else value * (e^(t / value) - 1)`: elu with a continuous slope (Barron, 2017). A `value` of 0 is
/// an error. Floats only.
THStatus THTensor_celu(THTensor *r, const THTensor *t, double value);

/// `r = t - lambda where t > lambda, t + lambda where t < -lambda, else 0`; NaN stays NaN. A negative `lambda` is an
/// error. Floats only.
THStatus THTensor_softshrink(THTensor *r, const THTensor *t, double lambda);

/// `r = t where t > threshold, else value`; NaN stays NaN. Floats only.
THStatus THTensor_threshold(THTensor *r, const THTensor *t, double threshold, double value);

/// `r = t where t > 0, else weight * t` (He et al., 2015), with promotion; `r` has the shape of `t`. `weight` has one
/// element, or one dimension with an element for each channel, which is an entry of dimension 1 of `t`. A tensor with
/// fewer than two dimensions has one channel. Floats only.
THStatus THTensor_prelu(THTensor *r, const THTensor *t, const THTensor *weight);

/// `r = a / (1 + e^-b)`, where `a` and `b` are the first and the second half of `t` along `dimension`: the gated linear
/// unit (Dauphin et al., 2017). `dimension` has an even size, and half of this size in `r`. Floats only.
THStatus THTensor_glu(THTensor *r, const THTensor *t, int dimension);

/// `r = a * log(value)`; otherwise as xlogy.
THStatus THTensor_xlogyValue(THTensor *r, const THTensor *a, double value);

/// `r = the n-th derivative of digamma at t`, the polygamma function, for `n` from 0 to 2^20. Integers give the default
/// dtype.
THStatus THTensor_polygamma(THTensor *r, int64_t n, const THTensor *t);

/// `r = log(pi) * p * (p - 1) / 4 + lgamma(t) + lgamma(t - 1/2) + ... + lgamma(t - (p - 1) / 2)`, the logarithm of the
/// multivariate gamma function of dimension `p`, for `p` from 1 to 65536. Integers give the default dtype. Where `t >
/// (p - 1) / 2`, the error is at most 2 units in the last place of float64. For smaller `t`, terms of both signs
/// cancel, and the error is only small relative to the largest term.
THStatus THTensor_mvlgamma(THTensor *r, const THTensor *t, int64_t p);

/** @} */

/* ==================================================================================================================
 *
 *     15. Bits
 *
 * ================================================================================================================== */

/**
 * @defgroup bits Bits
 *
 * Operations on the bits of integers: and, or, exclusive or, not, and shifts. Errors: `TH_ERR_SHAPE`, operands that do
 * not broadcast; `TH_ERR_DTYPE`, a float operand, or a number that is not whole.
 * @{
 */

/// `r = ~t`, bit by bit; on Bool this is *not*. Not for floats.
THStatus THTensor_bitwiseNot(THTensor *r, const THTensor *t);

/// `r = t & value`, bit by bit; on Bool this is *and*. Not for floats.
THStatus THTensor_bitand(THTensor *r, const THTensor *t, double value);

/// `r = t | value`, bit by bit; on Bool this is *or*. Not for floats.
THStatus THTensor_bitor(THTensor *r, const THTensor *t, double value);

/// `r = t ^ value`, bit by bit. Not for floats.
THStatus THTensor_bitxor(THTensor *r, const THTensor *t, double value);

/// `r = t << value`; for integers the result is 0 if `value` is negative or at least the width. For floats `r = t *
/// 2^value`, rounded once if `value` is whole. With a whole `value` Bool gives int64.
THStatus THTensor_lshift(THTensor *r, const THTensor *t, double value);

/// `r = t >> value`, an arithmetic shift; if `value` is negative or at least the width, all bits become the sign bit.
/// For floats `r = t / 2^value`, rounded once if `value` is whole. With a whole `value` Bool gives int64.
THStatus THTensor_rshift(THTensor *r, const THTensor *t, double value);

/// `r = a & b`, bit by bit, with broadcasting and promotion; on Bool this is *and*. Not for floats.
THStatus THTensor_cbitand(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a | b`, bit by bit, with broadcasting and promotion; on Bool this is *or*. Not for floats.
THStatus THTensor_cbitor(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a ^ b`, bit by bit, with broadcasting and promotion. Not for floats.
THStatus THTensor_cbitxor(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a << b`, with broadcasting and promotion; otherwise as lshift.
THStatus THTensor_clshift(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a >> b`, with broadcasting and promotion; otherwise as rshift.
THStatus THTensor_crshift(THTensor *r, const THTensor *a, const THTensor *b);

/** @} */

/* ==================================================================================================================
 *
 *     16. Comparisons and choices
 *
 * ================================================================================================================== */

/**
 * @defgroup comparisons_and_choices Comparisons and choices
 *
 * Comparisons and tests of elements, and choices by the resulting truth values. Errors: `TH_ERR_SHAPE`, operands that
 * do not broadcast; `TH_ERR_DTYPE`, a dtype of `r` that cannot hold truth values, or a condition that is neither Bool
 * nor uint8; `TH_ERR_ARGUMENT`, a negative tolerance.
 * @{
 */

/// `r = t < value`, as Bool unless `r` has a dtype. Integers are compared with any number exactly: 300 is greater than
/// every uint8, and 2^63 than every int64. Floats are compared with the number rounded to their dtype. The other five
/// comparisons with a number follow the same rules.
THStatus THTensor_ltValue(THTensor *r, const THTensor *t, double value);

/// `r = t <= value`, as Bool unless `r` has a dtype.
THStatus THTensor_leValue(THTensor *r, const THTensor *t, double value);

/// `r = t > value`, as Bool unless `r` has a dtype.
THStatus THTensor_gtValue(THTensor *r, const THTensor *t, double value);

/// `r = t >= value`, as Bool unless `r` has a dtype.
THStatus THTensor_geValue(THTensor *r, const THTensor *t, double value);

/// `r = t == value`, as Bool unless `r` has a dtype.
THStatus THTensor_eqValue(THTensor *r, const THTensor *t, double value);

/// `r = t != value`, as Bool unless `r` has a dtype.
THStatus THTensor_neValue(THTensor *r, const THTensor *t, double value);

/// `r = a < b`, with broadcasting, as Bool unless `r` has a dtype. Integers of two dtypes are compared exactly,
/// including 0-d tensors. The other five comparisons of tensors follow the same rules.
THStatus THTensor_ltTensor(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a <= b`, with broadcasting, as Bool unless `r` has a dtype.
THStatus THTensor_leTensor(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a > b`, with broadcasting, as Bool unless `r` has a dtype.
THStatus THTensor_gtTensor(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a >= b`, with broadcasting, as Bool unless `r` has a dtype.
THStatus THTensor_geTensor(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a == b`, with broadcasting, as Bool unless `r` has a dtype.
THStatus THTensor_eqTensor(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a != b`, with broadcasting, as Bool unless `r` has a dtype.
THStatus THTensor_neTensor(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = whether t is NaN`, as Bool unless `r` has a dtype.
THStatus THTensor_isnan(THTensor *r, const THTensor *t);

/// `r = whether t is inf or -inf`, as Bool unless `r` has a dtype.
THStatus THTensor_isinf(THTensor *r, const THTensor *t);

/// `r = whether t is neither infinite nor NaN`, as Bool unless `r` has a dtype.
THStatus THTensor_isfinite(THTensor *r, const THTensor *t);

/// `r = whether t is 0`, as Bool unless `r` has a dtype.
THStatus THTensor_logicalNot(THTensor *r, const THTensor *t);

/// `r = a and b`, with broadcasting, where every number except 0 is true; as Bool unless `r` has a dtype.
THStatus THTensor_logicalAnd(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a or b`, with broadcasting, where every number except 0 is true; as Bool unless `r` has a dtype.
THStatus THTensor_logicalOr(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a xor b`, with broadcasting, where every number except 0 is true; as Bool unless `r` has a dtype.
THStatus THTensor_logicalXor(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = condition ? a : b`, with broadcasting of all three and promotion of `a` with `b`. The condition is Bool or
/// uint8.
THStatus THTensor_where(THTensor *r, const THTensor *condition, const THTensor *a, const THTensor *b);

/// `r = condition ? a : value`; otherwise as where. With a whole `value`, which must be in the range of their dtype,
/// integers keep their dtype; otherwise they give the default dtype.
THStatus THTensor_whereValue(THTensor *r, const THTensor *condition, const THTensor *a, double value);

/// `r = condition ? value : b`; otherwise as whereValue.
THStatus THTensor_whereValueTensor(THTensor *r, const THTensor *condition, double value, const THTensor *b);

/// `r = condition ? a : b` for two numbers; the result is int64 if both are whole, else the default dtype.
THStatus THTensor_whereValues(THTensor *r, const THTensor *condition, double a, double b);

/// `r = 0 where a < 0 or NaN, b where a = 0, 1 where a > 0`: the Heaviside step function with the value `b` at 0, with
/// broadcasting and promotion.
THStatus THTensor_heaviside(THTensor *r, const THTensor *a, const THTensor *b);

/// `t = value where mask is true`; `value` is converted as by fill. The mask is Bool or uint8 and broadcasts to the
/// shape of `t`.
THStatus THTensor_maskedFill(THTensor *t, const THTensor *mask, double value);

/// `r = whether the sign bit of t is set`. The result is Bool unless `r` has a dtype. The sign bit is set for negative
/// numbers, for -0.0, and for a NaN whose sign is negative.
THStatus THTensor_signbit(THTensor *r, const THTensor *t);

/// `r = |a - b| <= atol + rtol * |b|`, with broadcasting. The result is Bool unless `r` has a dtype. With any
/// tolerance, an infinity is only close to itself. NaN is close to no number, and to NaN only if `equalNan` is not 0.
/// Integers are compared as float64. Negative tolerances are errors.
THStatus THTensor_isclose(THTensor *r, const THTensor *a, const THTensor *b, double rtol, double atol, int equalNan);

/// Returns 1 if all elements of `a` and `b` are close as defined by isclose, else 0; 0 on error.
int THTensor_allclose(const THTensor *a, const THTensor *b, double rtol, double atol, int equalNan);

/// Returns 1 if both tensors have the same shape and equal elements, else 0; 0 on error. The dtypes may differ. NaN
/// equals no number.
int THTensor_equal(const THTensor *a, const THTensor *b);

/** @} */

/* ==================================================================================================================
 *
 *     17. Fused expressions
 *
 * ================================================================================================================== */

/**
 * @defgroup fused_expressions Fused expressions
 *
 * A `THFused` is an expression of elementwise functions, such as `"tanh(a*b + c)"`, that is computed in one pass: only
 * the final result is written to memory. On the host the steps are applied to one tile after another, in the
 * first-level cache, on all threads. On a GPU the whole expression is one kernel, compiled at its first use. Names that
 * are neither functions nor defined values are inputs. Numbers are written as in C, in decimal (`1.5e-3`) or
 * hexadecimal (`0x1.8p3`). The operators are, from the lowest precedence to the highest: one of `<` `<=` `>` `>=` `==`
 * `!=`; `+` `-`; `*` `/`; the sign `-`; and the powers `**` or `^`, which are right-associative. Functions are from the
 * chapters Arithmetic to Comparisons and choices, and the gradients of activations. They are called without the prefix
 * `THTensor_` and without the result: `clamp(a, 0, 1)`, `where(a > 0, b, 0.5)`, `addcmul(t, 0.1, a, b)`. The arguments
 * choose among the forms of a function: `pow(a, 2)`, `pow(a, b)`, `max(a, 0)`, `lerp(a, b, w)`. `signbit` is refused,
 * because it reads memory instead of elements. Statements before the expression, each ended by a semicolon, define
 * values: `"d = a - b; d*d + tanh(d)"`. The result equals the results of the single functions called one after the
 * other, with their dtypes and rounding. On the host it is the same to the bit, except for the bits of NaN. Inputs
 * broadcast. `a + b` is cadd if both are tensors, and add if one is a number; other operators are chosen likewise. An
 * operator of two numbers makes a number, computed in double. An expression has at most 31 inputs, 1024 operations, and
 * 100 nested brackets, signs and powers. Errors: `TH_ERR_ARGUMENT`, an expression that cannot be parsed or exceeds a
 * limit, with the column, or a wrong number of inputs; the errors of the functions in the expression, with the column.
 * @{
 */

/// An expression of elementwise operations, computed in one pass. Several threads may run one expression at the same
/// time.
typedef struct THFused THFused;

/// Parses an expression. Free it with `THFused_free`; NULL on error.
TH_NODISCARD THFused *THFused_new(const char *expression);

/// Adds a reference; NULL is ignored.
void THFused_retain(THFused *f);

/// Releases a reference, and frees the expression with the last one; NULL is ignored.
void THFused_free(THFused *f);

/// Returns the number of inputs; -1 on error.
int64_t THFused_nInputs(const THFused *f);

/// Returns the name of input `index`, counted from 0. Inputs are numbered in the order of their first appearance in the
/// text. Borrowed: valid as long as the expression. NULL on error.
const char *THFused_inputName(const THFused *f, int64_t index);

/// `r` = the expression of the `count` inputs, in the order of their numbers. Inputs broadcast; a fresh `r` has the
/// dtype of the last function's result. `r` may be an input.
THStatus THFused_run(THTensor *r, const THFused *f, THTensor *const *inputs, int count);

/** @} */

/* ==================================================================================================================
 *
 *     18. Reductions
 *
 * ================================================================================================================== */

/**
 * @defgroup reductions Reductions
 *
 * Over one dimension, over several, or over all elements. Errors: `TH_ERR_ARGUMENT`, a dimension that is out of range,
 * or that has no element to choose from; `TH_ERR_SHAPE`, operands that do not broadcast, or several positions of `r`
 * that share an element; `TH_ERR_DTYPE`, a dtype that the reduction does not support, or a result that cannot be
 * converted to the dtype of `r`.
 * @{
 */

/// `r = mean of t over dimension without the NaNs`, or over all elements with `TH_ALL_DIMS`. Floats only; the mean of
/// NaNs alone is NaN. `keepdim` is as for sum.
THStatus THTensor_nanmean(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = mean of t over dims without the NaNs`; otherwise as nanmean, with `dims` as for sumDims.
THStatus THTensor_nanmeanDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim);

/// `r = product of t over dimension without the NaNs`, or over all elements with `TH_ALL_DIMS`. Otherwise as prod.
THStatus THTensor_nanprod(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = product of t over dims without the NaNs`; otherwise as nanprod, with `dims` and `dtype` as for sumDims.
THStatus THTensor_nanprodDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim,
                              THDtype dtype);

/// `r = greatest elements of t over dimension without the NaNs`, or over all elements with `TH_ALL_DIMS`. The greatest
/// of NaNs alone is NaN. Otherwise as amax.
THStatus THTensor_nanmax(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = greatest elements of t over dims without the NaNs`; otherwise as nanmax, with `dims` as for sumDims.
THStatus THTensor_nanmaxDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim);

/// `r = least elements of t over dimension without the NaNs`; otherwise as nanmax.
THStatus THTensor_nanmin(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = least elements of t over dims without the NaNs`; otherwise as nanmin, with `dims` as for sumDims.
THStatus THTensor_nanminDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim);

/// `r = index of the first greatest element of t over dimension without the NaNs`; otherwise as argmax. A line whose
/// elements are all NaN is an error, as in NumPy. A GPU waits for this check.
THStatus THTensor_nanargmax(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = index of the first least element of t over dimension without the NaNs`; otherwise as nanargmax.
THStatus THTensor_nanargmin(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = sum of (t - mean)^2 / (n - correction) over dimension`, or over all elements with `TH_ALL_DIMS`, with the mean,
/// the sum and the number `n` of the elements that are not NaN. NaN where `n` is at most `correction`. NumPy's default
/// correction is 0. Floats only, computed in float64; a correction that is NaN is an error. `keepdim` is as for sum.
THStatus THTensor_nanvar(THTensor *r, const THTensor *t, int dimension, double correction, int keepdim);

/// `r = variance of t over dims without the NaNs`; otherwise as nanvar, with `dims` as for sumDims.
THStatus THTensor_nanvarDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, double correction,
                             int keepdim);

/// `r = sqrt(variance of t over dimension without the NaNs)`; otherwise as nanvar.
THStatus THTensor_nanstd(THTensor *r, const THTensor *t, int dimension, double correction, int keepdim);

/// `r = sqrt(variance of t over dims without the NaNs)`; otherwise as nanstd, with `dims` as for sumDims.
THStatus THTensor_nanstdDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, double correction,
                             int keepdim);

/// `r = greatest elements of t over dimension`, or over all elements with `TH_ALL_DIMS`. NaN is greater than every
/// number. A dimension without elements is an error, even if the result is empty. `keepdim` is as for sum.
THStatus THTensor_amax(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = greatest elements of t over dims`; otherwise as amax, with `dims` as for sumDims.
THStatus THTensor_amaxDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim);

/// `r = least elements of t over dimension`; NaN if any element is NaN. Otherwise as amax.
THStatus THTensor_amin(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = least elements of t over dims`; otherwise as amin, with `dims` as for sumDims.
THStatus THTensor_aminDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim);

/// `r = whether all elements of t over dimension are not 0`, or over all elements with `TH_ALL_DIMS`. If `r` has no
/// dtype, the result is Bool, or uint8 for a `t` of uint8. NaN is not 0. Without elements the result is true. `keepdim`
/// is as for sum.
THStatus THTensor_all(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = whether all elements of t over dims are not 0`; otherwise as all, with `dims` as for sumDims.
THStatus THTensor_allDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim);

/// `r = whether any element of t over dimension is not 0`; without elements the result is false. Otherwise as all.
THStatus THTensor_any(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = whether any element of t over dims is not 0`; otherwise as any, with `dims` as for sumDims.
THStatus THTensor_anyDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim);

/// `r = sum of t over dimension`, or over all elements with `TH_ALL_DIMS`. Integers and Bool give int64, which wraps.
/// With `keepdim` the dimension stays with size 1, else it is removed.
///
/// Float64 is summed in float64, in parts whose sums are summed in turn. Groups of eight to sixteen narrower floats are
/// summed in float32, and the sums of the groups in float64. The error of such a sum is at most `2^-21 * sum of |t|`
/// before it is rounded once to the dtype of `r`. sumDims with `TH_FLOAT64` and sumall compute every addition in
/// float64.
THStatus THTensor_sum(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = sum of t over dims`: `ndim` distinct dimensions in any order, or all if `ndim` is 0. The result has `dtype`;
/// with `TH_UNDEFINED` it has the dtype that sum gives. The elements are converted to `dtype` before they are summed:
/// floats are truncated for an integer `dtype`, and every addition is in float64 for `TH_FLOAT64`. If `r` has another
/// dtype, the result is converted. `keepdim` is as for sum.
THStatus THTensor_sumDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim, THDtype dtype);

/// `r = product of t over dimension`, or over all elements with `TH_ALL_DIMS`. Integers and Bool give int64; floats are
/// multiplied in float64 and rounded once. The product of no elements is 1. `keepdim` is as for sum.
THStatus THTensor_prod(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = product of t over dims`; otherwise as prod, with `dims` and `dtype` as for sumDims.
THStatus THTensor_prodDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim, THDtype dtype);

/// `r = mean of t over dimension`, or over all elements with `TH_ALL_DIMS`: the sum, computed as by sum, divided by the
/// number of elements. Floats only; the mean of no elements is NaN. `keepdim` is as for sum. meanDims also gives the
/// mean in another dtype and of integers.
THStatus THTensor_mean(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = mean of t over dims`; `t` may be of integers if `dtype` is a float. Otherwise as mean, with `dims` and `dtype`
/// as for sumDims.
THStatus THTensor_meanDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim, THDtype dtype);

/// `r = sum of t over dimension without the NaNs`, or over all elements with `TH_ALL_DIMS`; all floats are summed in
/// float64. Otherwise as sum.
THStatus THTensor_nansum(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = sum of t over dims without the NaNs`; otherwise as nansum, with `dims` and `dtype` as for sumDims.
THStatus THTensor_nansumDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim, THDtype dtype);

/// `r = sum of (t - mean)^2 / (n - 1) over dimension`, or over all elements with `TH_ALL_DIMS`; the divisor is `n` if
/// `biased`. Floats only, computed in float64. The result is NaN if the divisor is 0. `keepdim` is as for sum.
THStatus THTensor_var(THTensor *r, const THTensor *t, int dimension, int biased, int keepdim);

/// `r = variance of t over dims`; otherwise as var, with `dims` as for sumDims.
THStatus THTensor_varDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int biased, int keepdim);

/// The variance of all elements, with `biased` as for var; NaN on error.
double THTensor_varall(const THTensor *t, int biased);

/// `r = sum of (t - mean)^2 / (n - correction) over dimension`; otherwise as var, whose correction is 1, or 0 if
/// `biased`. The divisor is at least 0; a correction that is NaN is an error.
THStatus THTensor_varCorrection(THTensor *r, const THTensor *t, int dimension, double correction, int keepdim);

/// `r = variance of t over dims`; otherwise as varCorrection, with `dims` as for sumDims.
THStatus THTensor_varDimsCorrection(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, double correction,
                                    int keepdim);

/// The variance of all elements, with `correction` as for varCorrection; NaN on error.
double THTensor_varallCorrection(const THTensor *t, double correction);

/// `r = sqrt(variance of t over dimension)`; otherwise as var.
THStatus THTensor_std(THTensor *r, const THTensor *t, int dimension, int biased, int keepdim);

/// `r = sqrt(variance of t over dims)`; otherwise as var, with `dims` as for sumDims.
THStatus THTensor_stdDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int biased, int keepdim);

/// The standard deviation of all elements, with `biased` as for var; NaN on error.
double THTensor_stdall(const THTensor *t, int biased);

/// `r = sqrt(variance of t over dimension)`; otherwise as varCorrection.
THStatus THTensor_stdCorrection(THTensor *r, const THTensor *t, int dimension, double correction, int keepdim);

/// `r = sqrt(variance of t over dims)`; otherwise as varCorrection, with `dims` as for sumDims.
THStatus THTensor_stdDimsCorrection(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, double correction,
                                    int keepdim);

/// The standard deviation of all elements, with `correction` as for varCorrection; NaN on error.
double THTensor_stdallCorrection(const THTensor *t, double correction);

/// `values = greatest elements of t over dimension`, or over all elements with `TH_ALL_DIMS`; `indices` = the int64
/// index of the first occurrence of each value, in row-major order over all elements. Either result may be NULL.
/// Otherwise as amax.
THStatus THTensor_max(THTensor *values, THTensor *indices, const THTensor *t, int dimension, int keepdim);

/// `r = index of the first greatest element of t over dimension`, as int64, or in row-major order over all elements
/// with `TH_ALL_DIMS`. Otherwise as amax.
THStatus THTensor_argmax(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// The greatest element; NaN if any element is NaN, and on error.
double THTensor_maxall(const THTensor *t);

/// `values = least elements of t over dimension`; otherwise as max.
THStatus THTensor_min(THTensor *values, THTensor *indices, const THTensor *t, int dimension, int keepdim);

/// `r = index of the first least element of t over dimension`; otherwise as argmax.
THStatus THTensor_argmin(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// The least element; NaN if any element is NaN, and on error.
double THTensor_minall(const THTensor *t);

/// `r = (sum of |t|^value over dimension)^(1/value)`, or over all elements with `TH_ALL_DIMS`. A `value` of 0 gives the
/// number of elements that are not 0, infinity the greatest |t|, and -infinity the least |t|. Floats only. A dimension
/// without elements is an error for a negative or infinite `value`. `keepdim` is as for sum.
///
/// For a `value` of 1 or 2, floats narrower than float64 are summed as by sum, and the relative error of the norm is at
/// most `2^-21` before it is rounded to the dtype of `r`. All other norms are computed in float64; powers that would
/// overflow or underflow are scaled.
THStatus THTensor_norm(THTensor *r, const THTensor *t, double value, int dimension, int keepdim);

/// `r = (sum of |t|^value over dims)^(1/value)`; otherwise as norm, with `dims` as for sumDims. `dtype` may be a wider
/// float; with `TH_FLOAT64` the whole computation is in float64.
THStatus THTensor_normDims(THTensor *r, const THTensor *t, double value, int ndim, const int64_t *dims, int keepdim,
                           THDtype dtype);

/// `least, greatest = least and greatest elements of t over dimension`, or over all elements with `TH_ALL_DIMS`. Either
/// result may be NULL. Otherwise as amax.
THStatus THTensor_aminmax(THTensor *least, THTensor *greatest, const THTensor *t, int dimension, int keepdim);

/// The sum of all elements; floats are summed in float64 throughout. NaN on error.
double THTensor_sumall(const THTensor *t);

/// The product of all elements; NaN on error.
double THTensor_prodall(const THTensor *t);

/// The mean of all elements, computed in float64 throughout; NaN on error.
double THTensor_meanall(const THTensor *t);

/// The norm of all elements, with `value` as for norm, computed in float64 throughout; NaN on error.
double THTensor_normall(const THTensor *t, double value);

/// `(sum of |a - b|^value)^(1/value)`: the norm of the difference, with broadcasting, computed in float64 throughout;
/// NaN on error.
double THTensor_dist(const THTensor *a, const THTensor *b, double value);

/// Returns 1 if no element is 0, else 0; 0 on error.
int THTensor_logicalall(const THTensor *t);

/// Returns 1 if any element is not 0, else 0; 0 on error.
int THTensor_logicalany(const THTensor *t);

/** @} */

/* ==================================================================================================================
 *
 *     19. Scans and softmax
 *
 * ================================================================================================================== */

/**
 * @defgroup scans_and_softmax Scans and softmax
 *
 * Cumulative sums, products and extremes along a dimension, and softmax. Errors: `TH_ERR_ARGUMENT`, a dimension out of
 * range; `TH_ERR_DTYPE`, a dtype that the function does not support, or a result that cannot be converted to the dtype
 * of `r`; `TH_ERR_SHAPE`, a tensor with too few dimensions.
 * @{
 */

/// `r[i] = t[0] + ... + t[i]` along `dimension`; `r` has the shape of `t`. Integers and Bool give int64, which wraps;
/// floats keep their dtype and are summed in float64.
THStatus THTensor_cumsum(THTensor *r, const THTensor *t, int dimension);

/// `r[i] = t[0] + ... + t[i]` along `dimension`, where `t` is first converted to `dtype`, the dtype of the result.
/// Otherwise as cumsum, which is the same as `TH_UNDEFINED`. Integers narrower than int64 wrap. For Bool the result is
/// whether any element so far is true.
THStatus THTensor_cumsumDtype(THTensor *r, const THTensor *t, int dimension, THDtype dtype);

/// `r[i] = t[0] + ... + t[i]` along `dimension`, where NaN counts as 0; otherwise as cumsum.
THStatus THTensor_nancumsum(THTensor *r, const THTensor *t, int dimension);

/// `r[i] = t[0] * ... * t[i]` along `dimension`; otherwise as cumsum.
THStatus THTensor_cumprod(THTensor *r, const THTensor *t, int dimension);

/// `r[i] = t[0] * ... * t[i]` along `dimension`, where `t` is first converted to `dtype`; otherwise as cumprod, with
/// `dtype` as for cumsumDtype.
THStatus THTensor_cumprodDtype(THTensor *r, const THTensor *t, int dimension, THDtype dtype);

/// `values[i] = max(t[0], ..., t[i])` along `dimension`; `indices` = its int64 index, the last one among equal
/// elements. Both results have the shape of `t`; either may be NULL. NaN is greater than every number, so all values
/// after a NaN are NaN.
THStatus THTensor_cummax(THTensor *values, THTensor *indices, const THTensor *t, int dimension);

/// `values[i] = min(t[0], ..., t[i])` along `dimension`; all values after a NaN are NaN. Otherwise as cummax.
THStatus THTensor_cummin(THTensor *values, THTensor *indices, const THTensor *t, int dimension);

/// `r = e^t / sum of e^t` along `dimension`: positive numbers that sum to 1, without overflow. Floats only; `r` has the
/// shape of `t`.
THStatus THTensor_softmax(THTensor *r, const THTensor *t, int dimension);

/// `r = e^t / sum of e^t` along `dimension`, where `t` is first converted to the float `dtype`, the dtype of the
/// result. Otherwise as softmax, which is the same as `TH_UNDEFINED`.
THStatus THTensor_softmaxDtype(THTensor *r, const THTensor *t, int dimension, THDtype dtype);

/// `r = t - log(sum of e^t)` along `dimension`: the logarithm of softmax, accurate even where softmax is tiny. Floats
/// only; `r` has the shape of `t`.
THStatus THTensor_logSoftmax(THTensor *r, const THTensor *t, int dimension);

/// `r = t - log(sum of e^t)` along `dimension`, where `t` is first converted to `dtype`; otherwise as logSoftmax, with
/// `dtype` as for softmaxDtype.
THStatus THTensor_logSoftmaxDtype(THTensor *r, const THTensor *t, int dimension, THDtype dtype);

/// `r[i] = log(e^t[0] + ... + e^t[i])` along `dimension`, without overflow; computed in float64. Floats only; `r` has
/// the shape of `t`.
THStatus THTensor_logcumsumexp(THTensor *r, const THTensor *t, int dimension);

/// `r = log(sum of e^t)` over `dimension`, or over all elements with `TH_ALL_DIMS`, without overflow; without elements
/// the result is minus infinity. Integers and Bool give the default float dtype. With `keepdim` the dimension stays
/// with size 1, else it is removed.
THStatus THTensor_logsumexp(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = log(sum of e^t)` over the `ndim` distinct dimensions in `dims`, or over all if `ndim` is 0 and `dims` NULL.
/// Otherwise as logsumexp.
THStatus THTensor_logsumexpDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim);

/// `r = t`, where each slice along `dimension` with a p-norm above `maxnorm` is multiplied by `maxnorm / (norm +
/// 1e-7)`. Floats with at least two dimensions; the `p` of the norm is `value`, which is positive and may be infinite.
THStatus THTensor_renorm(THTensor *r, const THTensor *t, double value, int dimension, double maxnorm);

/** @} */

/* ==================================================================================================================
 *
 *     20. Losses, normalization and gradients
 *
 * ================================================================================================================== */

/**
 * @defgroup losses_normalization_and_gradients Losses, normalization and gradients
 *
 * Gradients of activations, of softmax, of layerNorm and of losses, for training loops without autograd. Each function
 * computes the gradient of the forward function's input from `g`, the gradient of the forward function's result. An
 * argument `y` is that result; an argument `t` is the forward function's input. Errors: `TH_ERR_SHAPE`, operands whose
 * shapes do not fit each other; `TH_ERR_DTYPE`, a dtype that the function does not support, or a target that is not of
 * integers; `TH_ERR_ARGUMENT`, a class, dimension or number out of range.
 * @{
 */

/// A source of random numbers. For functions that draw random numbers, NULL means the calling thread's generator.
/// Several threads may use one generator; their calls are serialised.
typedef struct THGenerator THGenerator;

/// The value that a loss function computes from the losses of all positions.
typedef enum THReduction {
    TH_REDUCTION_NONE = 0,       ///< No reduction: the result has a loss for each position.
    TH_REDUCTION_MEAN = 1,       ///< The sum of the losses, divided by the sum of the weights; NaN without positions.
    TH_REDUCTION_SUM = 2,        ///< The sum of the losses.
    /// The sum of the losses, divided by the first size of the broadcast operands; only for losses of single elements.
    TH_REDUCTION_BATCH_MEAN = 3
} THReduction;

/// The function of the rows of a bag.
typedef enum THBagMode {
    TH_BAG_SUM = 0,              ///< The sum.
    TH_BAG_MEAN = 1,             ///< The sum divided by the number of rows.
    TH_BAG_MAX = 2               ///< The greatest elements; NaN if any element is NaN.
} THBagMode;

/// `r = y * (g - sum of g * y)` along `dimension`: the gradient of softmax, computed from its result `y` and the
/// gradient `g` of the result. `g` and `y` have the same shape and the same dtype, a float.
THStatus THTensor_softmaxGrad(THTensor *r, const THTensor *g, const THTensor *y, int dimension);

/// `r = g - e^y * sum of g` along `dimension`: the gradient of logSoftmax, computed from its result `y` and the
/// gradient `g` of the result. `g` and `y` have the same shape and the same dtype, a float.
THStatus THTensor_logSoftmaxGrad(THTensor *r, const THTensor *g, const THTensor *y, int dimension);

/// `r = (t - mean) / sqrt(variance + eps) * weight + bias`, with mean and biased variance over the last
/// `normalizedNdim` dimensions of `t`, at least 1. `weight` and `bias` have the sizes of these dimensions and the dtype
/// of `t`, or float32 if `t` is a 16-bit float; NULL means 1 and 0. Floats only; computed in float32 or float64, with
/// sums in float64.
THStatus THTensor_layerNorm(THTensor *r, const THTensor *t, int normalizedNdim, const THTensor *weight,
                            const THTensor *bias, double eps);

/// The gradients of layerNorm, computed from the gradient `g` of its result: `gradInput` of `t`, `gradWeight` of
/// `weight` and `gradBias` of `bias`. The last two have the dtype of `weight`, or of `t` if `weight` is NULL. Each of
/// the three results may be NULL. The other arguments are as for layerNorm.
///
/// With `x` = the normalized elements of a row, `h = g * weight`, and means over a row: `gradInput = (h - mean of h -
/// x * mean of (h * x)) / sqrt(variance + eps)`. Summed over all rows: `gradWeight = sum of g * x` and `gradBias = sum
/// of g`.
THStatus THTensor_layerNormGrad(THTensor *gradInput, THTensor *gradWeight, THTensor *gradBias, const THTensor *g,
                                const THTensor *t, int normalizedNdim, const THTensor *weight, double eps);

/// `r = softmax(query @ key^T * scale + mask) @ value` along the last dimension: attention of `L` rows of `query` to
/// `S` rows of `key` and `value`. Shapes: `query` is `[batch..., H, L, E]`, `key` is `[batch..., H, S, E]`, `value` is
/// `[batch..., H, S, Ev]`, and `r` is `[batch..., H, L, Ev]`. Dimensions before the last two broadcast, and may be
/// absent. Floats of one dtype only; 16-bit floats are computed in float32.
///
/// `mask` broadcasts to `[batch..., H, L, S]`. A Bool mask excludes the positions that are false. Other masks have the
/// dtype of `query`, or float32 if `query` is a 16-bit float, and are added. NULL means no mask. With `causal`, row `i`
/// excludes the columns after `i`; `mask` must be NULL then. A row that excludes all columns has the result 0. The
/// factor `scale` is `1 / sqrt(E)` if 0 is given. With `enableGqa`, `key` and `value` may have fewer heads, `H / n` for
/// a whole `n`: each serves `n` heads of `query`, one after the other.
///
/// Each weight becomes 0 with probability `p`, and the other weights are divided by `1 - p`. The weights that become 0
/// are a function of a seed, which is drawn from `generator` if `p` is greater than 0.
///
/// The memory does not grow with `L * S`, because the weights are computed by blocks (Milakov and Gimelshein 2018; Dao
/// et al. 2022). `logSumExp` and `seed` are for scaledDotProductAttentionGrad, and may be NULL. `logSumExp` receives
/// the logarithm of the sum of exponentials of each row, `[batch..., H, L]`, in the dtype of the computation; minus
/// infinity for a row that excludes all columns. `seed` receives the seed as int64, or 0.
THStatus THTensor_scaledDotProductAttention(THTensor *r, THTensor *logSumExp, THTensor *seed, THGenerator *generator,
                                            const THTensor *query, const THTensor *key, const THTensor *value,
                                            const THTensor *mask, double p, int causal, double scale, int enableGqa);

/// The gradients of scaledDotProductAttention, from the gradient `g` of its result `y`, and the gradient `gLogSumExp`
/// of `logSumExp`, or NULL: `gradQuery` of `query`, `gradKey` of `key`, `gradValue` of `value`, and `gradMask` of a
/// mask that is not Bool. Each of the four results may be NULL, and has the shape and the dtype of its operand. `y`,
/// `logSumExp` and `seed` are results of scaledDotProductAttention; `seed` may be NULL if `p` is 0. The other arguments
/// are as for scaledDotProductAttention.
///
/// With the weights `w`, which are computed again by blocks, the weights `d` after dropout, and `s` = the scores, the
/// gradient of `s` is `gs = d * (g @ value^T) - w * (sum of g * y - gLogSumExp)`, with the sum over a row. Then
/// `gradQuery = scale * gs @ key`, `gradKey = scale * gs^T @ query`, `gradValue = d^T @ g` and `gradMask = gs`, summed
/// over dimensions that were broadcast.
THStatus THTensor_scaledDotProductAttentionGrad(THTensor *gradQuery, THTensor *gradKey, THTensor *gradValue,
                                                THTensor *gradMask, const THTensor *g, const THTensor *gLogSumExp,
                                                const THTensor *y, const THTensor *logSumExp, const THTensor *seed,
                                                const THTensor *query, const THTensor *key, const THTensor *value,
                                                const THTensor *mask, double p, int causal, double scale,
                                                int enableGqa);

/// `r = t / sqrt(mean of t^2 + eps) * weight`, with the mean over the last `normalizedNdim` dimensions of `t` (Zhang
/// and Sennrich, "Root Mean Square Layer Normalization", 2019). Without a bias, otherwise as layerNorm.
THStatus THTensor_rmsNorm(THTensor *r, const THTensor *t, int normalizedNdim, const THTensor *weight, double eps);

/// The gradients of rmsNorm, computed from the gradient `g` of its result. Without a bias, otherwise as layerNormGrad.
///
/// With `x` = the normalized elements of a row, `h = g * weight`, and means over a row: `gradInput = (h - x * mean of
/// (h * x)) / sqrt(mean of t^2 + eps)`. Summed over all rows: `gradWeight = sum of g * x`.
THStatus THTensor_rmsNormGrad(THTensor *gradInput, THTensor *gradWeight, const THTensor *g, const THTensor *t,
                              int normalizedNdim, const THTensor *weight, double eps);

/// `r = (t - mean) / sqrt(variance + eps) * weight + bias`, with mean and biased variance over each group of adjacent
/// channels and the dimensions after the channels (Wu and He, "Group Normalization", 2018). `t` has the shape `[batch,
/// channels, sizes...]`, and `numGroups` divides the number of channels.
///
/// `weight` and `bias` have an element for each channel, and the dtype of `t`, or float32 if `t` is a 16-bit float;
/// NULL means 1 and 0. Floats only; computed in float32 or float64, with sums in float64. A group of one element gives
/// `bias`.
THStatus THTensor_groupNorm(THTensor *r, const THTensor *t, int64_t numGroups, const THTensor *weight,
                            const THTensor *bias, double eps);

/// The gradients of groupNorm, computed from the gradient `g` of its result. The formulas and the results are as for
/// layerNormGrad, with rows that are groups, and sums over all elements of a channel for `gradWeight` and `gradBias`.
THStatus THTensor_groupNormGrad(THTensor *gradInput, THTensor *gradWeight, THTensor *gradBias, const THTensor *g,
                                const THTensor *t, int64_t numGroups, const THTensor *weight, double eps);

/// groupNorm with a group for each channel: the statistics are of each image and channel, without running statistics
/// (Ulyanov, Vedaldi and Lempitsky, "Instance Normalization", 2016). `t` has the shape `[batch, channels, sizes...]`,
/// with a size at least.
THStatus THTensor_instanceNorm(THTensor *r, const THTensor *t, const THTensor *weight, const THTensor *bias,
                               double eps);

/// `r = t / (k + alpha / size * sum of t^2)^beta`, with the sum over `size` channels, from `size / 2` channels before
/// to `(size - 1) / 2` channels after the element's own; absent channels count as 0 (Krizhevsky, Sutskever and Hinton,
/// "ImageNet Classification with Deep Convolutional Neural Networks", 2012, without the division by `size`). `t` has
/// the shape `[batch, channels, sizes...]`. Floats only; computed in float32 or float64.
THStatus THTensor_localResponseNorm(THTensor *r, const THTensor *t, int64_t size, double alpha, double beta, double k);

/// `r = -weight[c] * t[c]` for each position, where `c` is the position's class in `target`: the negative
/// log-likelihood loss of log-probabilities `t`, which logSoftmax computes. `t` has the shape `[classes]`, `[batch,
/// classes]` or `[batch, classes, sizes...]`. Floats only; sums are in float64.
///
/// `target`, int64 or int32, has the shape of `t` without the dimension of classes. A class that is out of range is an
/// error, except `ignoreIndex`, usually -100: its positions have the loss 0 and do not count. `weight` has a factor for
/// each class, in the dtype of `t`, or in float32 if `t` is a 16-bit float; NULL means 1. With `TH_REDUCTION_NONE` the
/// result has the shape of `target`, else it is a scalar.
THStatus THTensor_nllLoss(THTensor *r, const THTensor *t, const THTensor *target, const THTensor *weight,
                          THReduction reduction, int64_t ignoreIndex);

/// `r = -g * weight[c]` at the class `c` of each position, and 0 elsewhere: the gradient of nllLoss. With
/// `TH_REDUCTION_MEAN` it is divided by the sum of the weights. `g`, the gradient of the loss, has the shape of the
/// loss and the dtype of `r`. Only the shape of `t` is used. The other arguments are as for nllLoss.
THStatus THTensor_nllLossGrad(THTensor *r, const THTensor *g, const THTensor *t, const THTensor *target,
                              const THTensor *weight, THReduction reduction, int64_t ignoreIndex);

/// nllLoss of `logSoftmax(t)` along the classes: the loss of scores `t`. For 16-bit floats the logarithms are not
/// rounded before use. All else is as for nllLoss.
THStatus THTensor_crossEntropy(THTensor *r, const THTensor *t, const THTensor *target, const THTensor *weight,
                               THReduction reduction, int64_t ignoreIndex);

/// `r = g * weight[c] * (softmax(t) - 1 at the class c of each position)`, and 0 at ignored positions: the gradient of
/// crossEntropy. With `TH_REDUCTION_MEAN` it is divided by the sum of the weights. `g`, the gradient of the loss, has
/// the shape of the loss and the dtype of `t`. The other arguments are as for nllLoss.
THStatus THTensor_crossEntropyGrad(THTensor *r, const THTensor *g, const THTensor *t, const THTensor *target,
                                   const THTensor *weight, THReduction reduction, int64_t ignoreIndex);

/// crossEntropy with smoothed targets: the class of a position counts `1 - smoothing`, and each of the `classes`
/// classes, including this one, counts `smoothing / classes`, multiplied by its weight. With `TH_REDUCTION_MEAN` the
/// sum is divided by the sum of the weights of the targets. `smoothing` is from 0 to 1; all else is as for nllLoss.
THStatus THTensor_crossEntropyLabelSmoothing(THTensor *r, const THTensor *t, const THTensor *target,
                                             const THTensor *weight, THReduction reduction, int64_t ignoreIndex,
                                             double smoothing);

/// `r = (t - target)^2`, reduced: the squared error. Operands of elementwise losses broadcast and are promoted. At
/// least one is a float.
THStatus THTensor_mseLoss(THTensor *r, const THTensor *t, const THTensor *target, THReduction reduction);

/// `r = |t - target|`, reduced.
THStatus THTensor_l1Loss(THTensor *r, const THTensor *t, const THTensor *target, THReduction reduction);

/// `r = d^2 / (2 * beta) where d < beta, else d - beta / 2`, for `d = |t - target|`, reduced. A `beta` of 0 gives
/// l1Loss.
THStatus THTensor_smoothL1Loss(THTensor *r, const THTensor *t, const THTensor *target, THReduction reduction,
                               double beta);

/// `r = d^2 / 2 where d < delta, else delta * (d - delta / 2)`, for `d = |t - target|`, reduced. `delta` is positive.
THStatus THTensor_huberLoss(THTensor *r, const THTensor *t, const THTensor *target, THReduction reduction,
                            double delta);

/// `r = weight * (posWeight * target * log(1 + e^-t) + (1 - target) * log(1 + e^t))`, reduced: the cross entropy of the
/// probability `sigmoid(t)`, for `target` from 0 to 1. `weight` and `posWeight` broadcast, too; NULL means 1.
THStatus THTensor_bceWithLogits(THTensor *r, const THTensor *t, const THTensor *target, const THTensor *weight,
                                const THTensor *posWeight, THReduction reduction);

/// `r = target * (log(target) - t)`, reduced: the Kullback-Leibler divergence of the probabilities `target` from the
/// probabilities whose logarithms are `t`. `target * log(target)` is 0 where `target` is 0. With `logTarget`, `target`
/// contains logarithms as well. `TH_REDUCTION_BATCH_MEAN` gives the mean of the divergences of the rows.
THStatus THTensor_klDiv(THTensor *r, const THTensor *t, const THTensor *target, int logTarget, THReduction reduction);

/// `r = -weight * (target * log(t) + (1 - target) * log(1 - t))`, reduced: the cross entropy of the probability `t`,
/// for `target` from 0 to 1. Logarithms are at least -100. A `t` that is no probability gives NaN. `weight` broadcasts,
/// too; NULL means 1.
THStatus THTensor_bce(THTensor *r, const THTensor *t, const THTensor *target, const THTensor *weight,
                      THReduction reduction);

/// `r = e^t - target * t` with `logInput`, else `r = t - target * log(t + eps)`, reduced: the negative log-likelihood
/// of a count `target` of a Poisson distribution whose mean is `e^t` or `t`, without the term `log(target!)`. `full`
/// adds its approximation `target * log(target) - target + log(2 * pi * target) / 2`, where `target` exceeds 1.
THStatus THTensor_poissonNllLoss(THTensor *r, const THTensor *t, const THTensor *target, int logInput, int full,
                                 double eps, THReduction reduction);

/// `r = (log(v) + (t - target)^2 / v) / 2`, with `v = max(variance, eps)`, reduced: the negative log-likelihood of
/// `target` of a normal distribution with the mean `t`, without the term `log(2 * pi) / 2`, which `full` adds. NaN
/// where the variance is negative. The gradient of `variance` is computed as if `v` were the variance, as in PyTorch.
THStatus THTensor_gaussianNllLoss(THTensor *r, const THTensor *t, const THTensor *target, const THTensor *variance,
                                  int full, double eps, THReduction reduction);

/// `r = -log(P)` for each sample, reduced, where `P` is the probability of the labels of the sample, summed over all
/// alignments: the loss of connectionist temporal classification (A. Graves et al., 2006). An alignment gives each step
/// a label or the blank; equal neighbours count once, and blanks do not count. `TH_REDUCTION_MEAN` divides each loss by
/// the number of labels, at least 1, and takes the mean.
///
/// `logProbs` has the shape `[steps, batch, classes]`, also for a single sample, and contains logarithms of
/// probabilities, for example of logSoftmax. The targets are int64 or int32: a row for each sample, or a vector of the
/// labels of all samples, one after the other. The lengths, `[batch]`, are the numbers of steps and of labels that
/// count. A sample without an alignment has the loss infinity, or 0 with `zeroInfinity`. Floats only; 16-bit floats are
/// computed in float32.
///
/// Errors: `TH_ERR_ARGUMENT`, a length, a label or a blank out of range, a label that is the blank, or another
/// reduction; `TH_ERR_SHAPE`, shapes that do not fit; `TH_ERR_DTYPE`, logarithms that are not floats.
THStatus THTensor_ctcLoss(THTensor *r, const THTensor *logProbs, const THTensor *targets, const THTensor *inputLengths,
                          const THTensor *targetLengths, int64_t blank, THReduction reduction, int zeroInfinity);

/// `r` = the gradient of `logProbs` from the gradient `g` of ctcLoss; 0 for a sample without an alignment. The other
/// arguments are as for ctcLoss. PyTorch adds `e^logProbs * g`, which makes no difference to the gradient of the
/// argument of a logSoftmax.
THStatus THTensor_ctcLossGrad(THTensor *r, const THTensor *g, const THTensor *logProbs, const THTensor *targets,
                              const THTensor *inputLengths, const THTensor *targetLengths, int64_t blank,
                              THReduction reduction, int zeroInfinity);

/// `r = max(margin - target * (a - b), 0)`, reduced: the loss of a ranking, where `target` is 1 if `a` should be
/// greater than `b`, and -1 if `b` should be greater.
THStatus THTensor_marginRankingLoss(THTensor *r, const THTensor *a, const THTensor *b, const THTensor *target,
                                    double margin, THReduction reduction);

/// `r = sum of a * b / (max(norm of a, eps) * max(norm of b, eps))` along `dimension`: the cosine of the angle between
/// vectors. `a` and `b` broadcast, and at least one is a float. `dimension` is one of the result of broadcasting.
/// Computed in float32 or float64.
THStatus THTensor_cosineSimilarity(THTensor *r, const THTensor *a, const THTensor *b, int dimension, double eps);

/// `r = (sum of |a - b + eps|^value)^(1/value)` along the last dimension: the distance of vectors. `a` and `b`
/// broadcast, and at least one is a float. With `keepdim` the dimension stays with size 1. Computed in float32 or
/// float64. The gradient is 0 where the distance is 0.
THStatus THTensor_pairwiseDistance(THTensor *r, const THTensor *a, const THTensor *b, double value, double eps,
                                   int keepdim);

/// `r = 1 - c where target is 1, max(c - margin, 0) where target is -1, else 0`, reduced, for `c` = the
/// cosineSimilarity of `a` and `b` along the last dimension, with an `eps` of 1e-6. `target` has a number for each pair
/// of vectors, and has no gradient.
THStatus THTensor_cosineEmbeddingLoss(THTensor *r, const THTensor *a, const THTensor *b, const THTensor *target,
                                      double margin, THReduction reduction);

/// `r = max(margin + d(anchor, positive) - d(anchor, negative), 0)`, reduced, for the pairwiseDistance `d` with `value`
/// and `eps`. With `swap`, `d(positive, negative)` is used instead of `d(anchor, negative)` where it is less (Balntas
/// and others, "Learning local feature descriptors with triplets", 2016). `margin` is positive.
THStatus THTensor_tripletMarginLoss(THTensor *r, const THTensor *anchor, const THTensor *positive,
                                    const THTensor *negative, double margin, double value, double eps, int swap,
                                    THReduction reduction);

/// `r = (t - mean) * invstd * weight + bias` for each channel, an entry of dimension 1 of `t`: batch normalization.
///
/// In training, `mean` is the mean of the channel and `invstd = 1 / sqrt(variance + eps)`, with the biased variance.
/// Then `runningMean = (1 - momentum) * runningMean + momentum * mean`, and `runningVar` is updated likewise with the
/// unbiased variance; either may be NULL. Otherwise mean and variance are `runningMean` and `runningVar`, which do not
/// change.
///
/// `weight`, `bias`, `runningMean` and `runningVar` have one element for each channel, and the dtype of `t`, or float32
/// if `t` is a 16-bit float. `weight` and `bias` may be NULL, which means 1 and 0. The results `mean` and `invstd`
/// receive the values used, and may be NULL. Floats only; computed in float32 or float64.
THStatus THTensor_batchNorm(THTensor *r, THTensor *mean, THTensor *invstd, const THTensor *t, const THTensor *weight,
                            const THTensor *bias, THTensor *runningMean, THTensor *runningVar, int training,
                            double momentum, double eps);

/// `r[i..., :] = weight[index[i...], :]`: rows of a table. The index, int64 or int32, has any shape. The row
/// `paddingIdx` gets no gradient; -1 means no such row.
THStatus THTensor_embedding(THTensor *r, const THTensor *weight, const THTensor *index, int64_t paddingIdx);

/// `r[b, :] = sum of weight[index[i], :]` over the positions `i` of bag `b`: sums of rows of a table of floats. The
/// index, int64 or int32, is a matrix whose rows are the bags, or a vector with `offsets`, int64 or int32: bag `b`
/// begins at position `offsets[b]` and ends before `offsets[b + 1]`, the last one at the end of the index. The first
/// offset is 0, and offsets do not descend. Without `offsets`, pass NULL.
///
/// `TH_BAG_MEAN` divides each sum by the number of its positions. `TH_BAG_MAX` computes the greatest elements instead,
/// NaN if any is NaN. The result of a bag without positions is 0. `perSampleWeights`, NULL or a tensor of the shape of
/// the index and the dtype of the table, is multiplied with the rows before the sum, and is only for `TH_BAG_SUM`.
/// Positions with the index `paddingIdx` do not count, as if they were not there; -1 means no such row. 16-bit floats
/// are summed in float32. The gradient of a maximum goes to the first of equal elements. With `TH_BAG_MAX` and for
/// 16-bit floats, the rows of all positions are copied first.
///
/// Errors: `TH_ERR_ARGUMENT`, a position or offset out of range, or weights for another mode than `TH_BAG_SUM`;
/// `TH_ERR_SHAPE`, shapes that do not fit; `TH_ERR_DTYPE`, a table that is not of floats, or weights of another dtype.
THStatus THTensor_embeddingBag(THTensor *r, const THTensor *weight, const THTensor *index, const THTensor *offsets,
                               THBagMode mode, const THTensor *perSampleWeights, int64_t paddingIdx);

/// `r = 0 where t <= 0, else g`: the gradient of relu. Floats only.
THStatus THTensor_reluGrad(THTensor *r, const THTensor *g, const THTensor *t);

/// `r = g where t > 0, else value * g`: the gradient of leakyRelu. Floats only.
THStatus THTensor_leakyReluGrad(THTensor *r, const THTensor *g, const THTensor *t, double value);

/// `r = 0 where t <= minimum or t >= maximum, else g`: the gradient of hardtanh. Floats only.
THStatus THTensor_hardtanhGrad(THTensor *r, const THTensor *g, const THTensor *t, double minimum, double maximum);

/// `r = value * e^t * g where t <= 0, else g`: the gradient of elu. Floats only.
THStatus THTensor_eluGrad(THTensor *r, const THTensor *g, const THTensor *t, double value);

/// `r = g / (1 + e^(-beta * t))`, or `g` where `beta * t > threshold`: the gradient of softplus. Floats only.
THStatus THTensor_softplusGrad(THTensor *r, const THTensor *g, const THTensor *t, double beta, double threshold);

/// `r = g * y * (1 - y)`: the gradient of sigmoid, from its result `y`. Floats only.
THStatus THTensor_sigmoidGrad(THTensor *r, const THTensor *g, const THTensor *y);

/// `r = g * (1 - y^2)`: the gradient of tanh, from its result `y`. Floats only.
THStatus THTensor_tanhGrad(THTensor *r, const THTensor *g, const THTensor *y);

/// `r = g * (Phi(t) + t * phi(t))`, with the distribution function Phi and the density phi of the standard normal
/// distribution: the gradient of gelu. At inf and -inf the factor has its limits 1 and 0, where PyTorch gives NaN.
/// Floats only.
THStatus THTensor_geluGrad(THTensor *r, const THTensor *g, const THTensor *t);

/// `r = g * the derivative of geluTanh at t`, whose limits 1 and 0 are used at inf and -inf. Floats only.
THStatus THTensor_geluTanhGrad(THTensor *r, const THTensor *g, const THTensor *t);

/// `r = g * s * (1 + t * (1 - s))` with `s = 1 / (1 + e^-t)`: the gradient of silu. At inf and -inf the factor has its
/// limits 1 and 0, where PyTorch gives NaN. Floats only.
THStatus THTensor_siluGrad(THTensor *r, const THTensor *g, const THTensor *t);

/// `r = 0 where t <= -3, g where t >= 3, else g * (2 * t + 3) / 6`: the gradient of hardswish. Floats only.
THStatus THTensor_hardswishGrad(THTensor *r, const THTensor *g, const THTensor *t);

/** @} */

/* ==================================================================================================================
 *
 *     21. Recurrent layers
 *
 * ================================================================================================================== */

/**
 * @defgroup recurrent_layers Recurrent layers
 *
 * Recurrent layers read sequences `x` of the shape `[time, batch, inputs]`, or `[batch, time, inputs]` if `batchFirst`
 * is not 0. `layers` layers are stacked: each reads the output of the layer below. With `bidirectional`, each layer has
 * a second direction, which reads the sequences from the last step to the first. `directions` is then 2, else 1.
 * `sides` is `layers * directions`; side `layer * directions + direction` is a direction of a layer. `output` is the
 * output of the last layer, of the shape of `x` with `directions * hidden` elements in each step, the first direction
 * first. `h0` and `hn` are the states before the first and after the last step of each sequence: `[sides, batch,
 * hidden]`. So are `c0` and `cn` of an LSTM. NULL for `h0` or `c0` means 0. `hn` and `cn` may be NULL. `weights` has
 * the weights of each side, one side after the other, as PyTorch orders them: the weights of the input, `[gates *
 * hidden, inputs]`, or `[gates * hidden, directions * hidden]` above the first layer; the weights of the state,
 * `[gates * hidden, hidden]`; and the biases of both, `[gates * hidden]`. `count` is `4 * sides`, or `2 * sides` if
 * there are no biases. `lengths`, int64 or int32, has the length of each sequence, in any order; NULL means that all
 * are as long as `x`. Steps of `x` behind the end of a sequence are not read, and are 0 in `output`. `hn` is the state
 * at the end of the sequence, where the second direction begins. Floats only; all operands have one dtype. 16-bit
 * floats are computed in float32. `reserve` receives the float32 or float64 values from which the function with `Grad`
 * in its name computes the gradients, as one vector; NULL if no gradient is needed. Layers have no dropout: a program
 * calls dropout between calls with one layer each. Errors: `TH_ERR_SHAPE`, operands whose shapes do not fit;
 * `TH_ERR_DTYPE`, operands of different dtypes, or not of floats; `TH_ERR_ARGUMENT`, a wrong number of weights, no
 * layers, or lengths out of range.
 * @{
 */

/// `c = f * c + i * g; h = o * tanh(c)` for each step: long short-term memory. With the weights `W`, `U` and biases
/// `b`, `d` of a gate: `i, f, o = sigmoid(W x + b + U h + d)` and `g = tanh(W x + b + U h + d)`. The rows of the
/// weights have the order i, f, g, o. (Hochreiter and Schmidhuber, Long Short-Term Memory, 1997.)
THStatus THTensor_lstm(THTensor *output, THTensor *hn, THTensor *cn, THTensor *reserve, const THTensor *x,
                       const THTensor *h0, const THTensor *c0, THTensor *const *weights, int count,
                       const THTensor *lengths, int layers, int bidirectional, int batchFirst);

/// The gradients of lstm: `gradX` of `x`, `gradH0` of `h0`, `gradC0` of `c0`, and `gradWeights`, a vector of the
/// gradients of all weights, row-major, one after the other. Each of the four results may be NULL. `gOutput`, `gHn` and
/// `gCn` are the gradients of the results; NULL means 0. `reserve` is the reserve of the forward call, whose arguments
/// are repeated.
THStatus THTensor_lstmGrad(THTensor *gradX, THTensor *gradH0, THTensor *gradC0, THTensor *gradWeights,
                           const THTensor *reserve, const THTensor *gOutput, const THTensor *gHn, const THTensor *gCn,
                           const THTensor *x, const THTensor *h0, const THTensor *c0, THTensor *const *weights,
                           int count, const THTensor *lengths, int layers, int bidirectional, int batchFirst);

/// One step of lstm: from `x`, `[batch, inputs]`, and the states `h` and `c`, `[batch, hidden]`, the states `hn` and
/// `cn`. `wih`, `whh`, `bih` and `bhh` are the weights of one side; both biases may be NULL. `hn` may be `h`, and `cn`
/// may be `c`.
THStatus THTensor_lstmCell(THTensor *hn, THTensor *cn, THTensor *reserve, const THTensor *x, const THTensor *h,
                           const THTensor *c, const THTensor *wih, const THTensor *whh, const THTensor *bih,
                           const THTensor *bhh);

/// `h = (1 - z) * n + z * h` for each step: a gated recurrent unit. With the weights `W`, `U` and biases `b`, `d` of a
/// gate, `r` and `z` are `sigmoid(W x + b + U h + d)`, and `n` is `tanh(W x + b + r * (U h + d))`. The rows of the
/// weights have the order r, z, n. (Cho and others, Learning Phrase Representations using RNN Encoder-Decoder, 2014.)
THStatus THTensor_gru(THTensor *output, THTensor *hn, THTensor *reserve, const THTensor *x, const THTensor *h0,
                      THTensor *const *weights, int count, const THTensor *lengths, int layers, int bidirectional,
                      int batchFirst);

/// The gradients of gru, as lstmGrad.
THStatus THTensor_gruGrad(THTensor *gradX, THTensor *gradH0, THTensor *gradWeights, const THTensor *reserve,
                          const THTensor *gOutput, const THTensor *gHn, const THTensor *x, const THTensor *h0,
                          THTensor *const *weights, int count, const THTensor *lengths, int layers, int bidirectional,
                          int batchFirst);

/// One step of gru, as lstmCell.
THStatus THTensor_gruCell(THTensor *hn, THTensor *reserve, const THTensor *x, const THTensor *h, const THTensor *wih,
                          const THTensor *whh, const THTensor *bih, const THTensor *bhh);

/// `h = tanh(W x + b + U h + d)` for each step, or `max(0, W x + b + U h + d)` if `relu` is not 0. (Elman, Finding
/// Structure in Time, 1990.)
THStatus THTensor_rnn(THTensor *output, THTensor *hn, THTensor *reserve, const THTensor *x, const THTensor *h0,
                      THTensor *const *weights, int count, const THTensor *lengths, int layers, int bidirectional,
                      int batchFirst, int relu);

/// The gradients of rnn, as lstmGrad.
THStatus THTensor_rnnGrad(THTensor *gradX, THTensor *gradH0, THTensor *gradWeights, const THTensor *reserve,
                          const THTensor *gOutput, const THTensor *gHn, const THTensor *x, const THTensor *h0,
                          THTensor *const *weights, int count, const THTensor *lengths, int layers, int bidirectional,
                          int batchFirst, int relu);

/// One step of rnn, as lstmCell.
THStatus THTensor_rnnCell(THTensor *hn, THTensor *reserve, const THTensor *x, const THTensor *h, const THTensor *wih,
                          const THTensor *whh, const THTensor *bih, const THTensor *bhh, int relu);

/** @} */

/* ==================================================================================================================
 *
 *     22. Gradients
 *
 * ================================================================================================================== */

/**
 * @defgroup gradients Gradients
 *
 * A leaf for which `THTensor_setRequiresGrad` was called requires a gradient, and so does every tensor that is computed
 * from such a leaf. Each operation on them records a node in a graph, which its results keep alive. `THTensor_backward`
 * traverses the graph and adds to each leaf its gradient. Handles on the same elements share their history: a write
 * through a view changes the gradient of its tensor, and a write to the tensor changes the gradients of its views. A
 * call that would lose a history is refused with `TH_ERR_ARGUMENT`:
 * - `THTensor_resize` of a result, if the result would get new elements;
 * - a new tensor over the storage of a result; use `THTensor_newAsStrided` instead;
 * - a write to the storage of a result;
 * - a write through a view that was made while recording was off.
 * All of these calls are allowed between `THGrad_setEnabled(0)` and `THGrad_setEnabled(1)`, and gradients then ignore
 * them. Errors: `TH_ERR_ARGUMENT`, a tensor that requires no gradient, a write to a leaf, or a saved tensor that was
 * changed in place or freed by an earlier backward; `TH_ERR_DTYPE`, a leaf that is not of floats; `TH_ERR_SHAPE`, a
 * gradient that does not fit its tensor; `TH_ERR_UNSUPPORTED`, an operation without a derivative; the status that a
 * function of the caller returns; `TH_ERR_NUMERIC`, a check that finds a wrong gradient.
 * @{
 */

/// Receives a gradient while backward runs.
///
/// To replace the gradient, the function stores in `replacement` a new reference to a tensor of the same shape and
/// dtype; otherwise it leaves NULL there. 0 means continue. Any other returned code stops backward, which returns this
/// code. `gradient` is borrowed and must not be changed.
typedef THStatus (*THGradHook)(const struct THTensor *gradient, struct THTensor **replacement, void *context);

/// The call of a function of the caller, passed to this function.
typedef struct THGradCall THGradCall;

/// Computes `to` from `from`, for `THGrad_apply`. One function computes results from inputs, another the gradients of
/// the inputs from the gradients of the results.
///
/// The first function is not recorded. It writes to fresh handles, and saves by `THGrad_save` the tensors that the
/// second function needs. For the second function an entry of `from` is NULL if the gradient of this result is 0. An
/// entry of `to` is a fresh handle, or NULL for an input that needs no gradient; a handle that the function leaves
/// fresh means a gradient of 0. 0 means success; any other returned code is returned by `THGrad_apply` or by backward.
/// The tensors are borrowed.
typedef THStatus (*THGradRule)(struct THGradCall *call,
                               const struct THTensor *const *from,
                               int fromCount,
                               struct THTensor *const *to,
                               int toCount,
                               void *context);

/// Computes results from inputs, for `THGrad_checkpoint` and `THGrad_check`.
///
/// The function writes to the `outputCount` handles in `outputs`, which are fresh. 0 means success; any other returned
/// code is returned by the library's function. The tensors are borrowed.
typedef THStatus (*THGradFunction)(const struct THTensor *const *inputs,
                                   int inputCount,
                                   struct THTensor *const *outputs,
                                   int outputCount,
                                   void *context);

/// Sets whether `t`, a leaf, requires a gradient. If it does, later operations on `t` are recorded.
THStatus THTensor_setRequiresGrad(THTensor *t, int requiresGrad);

/// 1 if `t` requires a gradient: it is a leaf set so, or a result computed from such a leaf; 0 if not and on error.
int THTensor_requiresGrad(const THTensor *t);

/// 1 if `t` is a leaf, which is not the result of a recorded operation; 0 if not and on error.
int THTensor_isLeaf(const THTensor *t);

/// The gradient of `t`; NULL, without an error, if `t` has no gradient. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newGrad(const THTensor *t);

/// Makes `grad` the gradient of `t`, which keeps a handle on the elements of `grad`. `grad` has the shape, dtype and
/// device of `t`; NULL removes the gradient.
THStatus THTensor_setGrad(THTensor *t, const THTensor *grad);

/// Fills the gradient of `t` with 0, if `t` has one.
THStatus THTensor_zeroGrad(THTensor *t);

/// Makes backward keep the gradient of `t`, a result of an operation. Each backward adds its gradient to the earlier
/// one, as for a leaf. After a write to `t`, the gradient is the gradient of the new values. For a leaf the call has no
/// effect, because leaves keep their gradients anyway.
THStatus THTensor_retainGrad(THTensor *t);

/// A handle on the elements of `t` that requires no gradient. A write to the handle changes the elements of `t`, and
/// their gradient. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newDetach(THTensor *t);

/// Ends the history of `t`, which becomes a leaf that requires no gradient. A view is refused.
THStatus THTensor_detach(THTensor *t);

/// The number of writes to the storage of `t` since the program first used gradients; -1 on error.
int64_t THTensor_version(const THTensor *t);

/// Computes the gradient of `sum of gradient * t` and adds it to the gradient of each leaf that `t` was computed from.
/// A NULL `gradient` is 1, for a `t` of one element. The tensors that operations saved are freed.
THStatus THTensor_backward(const THTensor *t, const THTensor *gradient);

/// Adds a hook: backward calls `function` with each gradient of `t` that it computes. Returns a number, with which
/// `THTensor_removeHook` removes the hook; -1 on error. `deleter`, unless NULL, is called once, as `deleter(context,
/// context)`, when `function` can no longer be called; on error it is not called.
int64_t THTensor_addHook(THTensor *t, THGradHook function, void *context, THDeleter deleter);

/// Removes the hook with the number `id`, which `THTensor_addHook` returned.
THStatus THTensor_removeHook(THTensor *t, int64_t id);

/// Computes the gradients of `count` tensors at once, as `THTensor_backward`. `gradients` has one gradient or NULL for
/// each tensor; a NULL `gradients` is NULL for all. `retainGraph` keeps the tensors that operations saved, so that
/// backward can run again. `createGraph` records the operations of backward, so that gradients have gradients.
THStatus THGrad_backward(THTensor *const *tensors, THTensor *const *gradients, int count, int retainGraph,
                         int createGraph);

/// Switches recording on this thread on (1, the initial setting) or off (0).
THStatus THGrad_setEnabled(int enabled);

/// 1 if this thread records operations; 0 if not and on error.
int THGrad_isEnabled(void);

/// Begins (1) or ends (0) inference mode on this thread. In inference mode nothing is recorded, regardless of
/// `THGrad_setEnabled`.
THStatus THGrad_setInference(int on);

/// The gradients of `sum of gradients * outputs` with respect to each of the `inputs`; the gradients of leaves are
/// unchanged. `r` gets a new reference for each input; "Lists" in the conventions describes `r` and `count`. An input
/// that the outputs do not depend on is an error; with `allowUnused` its gradient is NULL. Hooks of the inputs and of
/// intermediate results are called. The other arguments are as for `THGrad_backward`.
THStatus THGrad_gradients(THTensor **r, int *count, THTensor *const *outputs, THTensor *const *gradients,
                          int outputCount, THTensor *const *inputs, int inputCount, int retainGraph, int createGraph,
                          int allowUnused);

/// Calls `forward`, which computes the `outputs` from the `inputs`, and records `backward` as the function that
/// computes the gradient. `deleter`, unless NULL, is called once, as `deleter(context, context)`, when the functions
/// are no longer needed; on error it is not called. The outputs are fresh handles, or handles that `forward`
/// overwrites.
THStatus THGrad_apply(THTensor *const *outputs, int outputCount, THTensor *const *inputs, int inputCount,
                      THGradRule forward, THGradRule backward, void *context, THDeleter deleter);

/// Saves a reference to a tensor for the backward function: an input, an output or an intermediate result. `call` is
/// the argument of a function that runs on this thread, and is valid until that function returns.
THStatus THGrad_save(THGradCall *call, THTensor *t);

/// The saved tensor number `index`, counted from 0. Returns a new reference.
TH_NODISCARD THTensor *THGrad_newSaved(THGradCall *call, int64_t index);

/// 1 if the gradient of input `index` is needed; 0 if not and on error.
int THGrad_needsGradient(THGradCall *call, int64_t index);

/// Calls `function`, which computes the `outputs` from the `inputs`, without keeping intermediate results. Backward
/// calls `function` again to recompute them, so both calls must compute the same. Tensors that `function` uses apart
/// from the `inputs` also get their gradients. Random numbers must come from a generator that `function` seeds itself.
/// `deleter` is as for `THGrad_apply`.
THStatus THGrad_checkpoint(THTensor *const *outputs, int outputCount, THTensor *const *inputs, int inputCount,
                           THGradFunction function, void *context, THDeleter deleter);

/// Compares the gradients of `function` with the differences `(f(x + eps) - f(x - eps)) / (2 eps)` for each element of
/// the inputs that require a gradient, which must be float64. `function` computes `outputCount` results, from 1 to
/// 65536. If a gradient and a difference differ by more than `atol + rtol * |difference|`, the call fails with
/// `TH_ERR_NUMERIC` and a message with the index and the values. Common values of `eps`, `atol` and `rtol` are 1e-6,
/// 1e-5 and 1e-3.
THStatus THGrad_check(THTensor *const *inputs, int inputCount, int64_t outputCount, THGradFunction function,
                      void *context, double eps, double atol, double rtol);

/** @} */

/* ==================================================================================================================
 *
 *     23. Optimizers
 *
 * ================================================================================================================== */

/**
 * @defgroup optimizers Optimizers
 *
 * An optimizer updates parameters, which are leaves that require gradients. `THTensor_backward` computes the gradients
 * of the parameters. `THOptim_step` then updates in place each parameter that has a gradient, and `THOptim_zeroGrad`
 * clears the gradients before the next backward. The optimizer holds references to the parameters. It keeps its state
 * in separate tensors on their devices. Steps are not recorded. Only one thread at a time may use an optimizer. The
 * first step of an optimizer cannot be captured in a graph of a GPU, because each launch would start from the initial
 * state; plain gradient descent, which has no state, is the exception. Errors: `TH_ERR_ARGUMENT`, an invalid number, or
 * a parameter that is the result of a recorded operation; `TH_ERR_DTYPE`, a parameter that is not of floats;
 * `TH_ERR_SHAPE`, a gradient whose shape differs from the shape of its parameter.
 * @{
 */

/// An optimizer: parameters, and the state of each parameter between steps.
typedef struct THOptim THOptim;

/// Computes a loss and the gradients of an optimizer's parameters, for `THOptim_stepClosure`.
///
/// The function stores the loss in `loss`, and the gradients in the parameters, as `THOptim_zeroGrad` followed by
/// `THTensor_backward` does. 0 means continue. Any other returned code ends the step, which returns this code.
typedef THStatus (*THOptimClosure)(void *context, double *loss);

/// A collection of named tensors with metadata in one file, opened for reading or created for writing.
typedef struct THArchive THArchive;

/// An optimizer for stochastic gradient descent. With `g` = the gradient + `weightDecay` * the parameter, the parameter
/// changes by `-lr * g`. With a `momentum` it changes by `-lr * b`, where `b = momentum * b + (1 - dampening) * g`, and
/// `b = g` at the first step. With `nesterov`, which needs a `momentum` and a `dampening` of 0, it changes by `-lr *
/// (g + momentum * b)`. Free the optimizer with `THOptim_free`; NULL on error.
TH_NODISCARD THOptim *THOptim_newSgd(THTensor *const *params, int count, double lr, double momentum, double dampening,
                                     double weightDecay, int nesterov);

/// An Adam optimizer. With `g` = the gradient + `weightDecay` * the parameter, `m = beta1 * m + (1 - beta1) * g` and `v
/// = beta2 * v + (1 - beta2) * g^2`, the parameter changes at step `n` by `-lr * m / (1 - beta1^n) / (sqrt(v / (1 -
/// beta2^n)) + eps)`. With `amsgrad`, `v` in this formula is the greatest `v` so far. Common values of `beta1`, `beta2`
/// and `eps` are 0.9, 0.999 and 1e-8. Free the optimizer with `THOptim_free`; NULL on error.
TH_NODISCARD THOptim *THOptim_newAdam(THTensor *const *params, int count, double lr, double beta1, double beta2,
                                      double eps, double weightDecay, int amsgrad);

/// An AdamW optimizer: `THOptim_newAdam` with a weight decay that is separate from the gradient. Before each step the
/// parameter is multiplied by `1 - lr * weightDecay`.
TH_NODISCARD THOptim *THOptim_newAdamw(THTensor *const *params, int count, double lr, double beta1, double beta2,
                                       double eps, double weightDecay, int amsgrad);

/// An RMSprop optimizer. With `g` = the gradient + `weightDecay` * the parameter, `v = alpha * v + (1 - alpha) * g^2`
/// and `s = g / (sqrt(v) + eps)`, the parameter changes by `-lr * s`. With a `momentum` it changes by `-lr * b`, where
/// `b = momentum * b + s`. With `centered`, the square of the running mean of `g` is subtracted from `v`. A common
/// `alpha` is 0.99. Free the optimizer with `THOptim_free`; NULL on error.
TH_NODISCARD THOptim *THOptim_newRmsprop(THTensor *const *params, int count, double lr, double alpha, double eps,
                                         double weightDecay, double momentum, int centered);

/// An Adagrad optimizer (Duchi, Hazan and Singer 2011, jmlr.org/papers/v12/duchi11a.html). With `g` = the gradient +
/// `weightDecay` * the parameter and `v = v + g^2`, the parameter changes at step `n` by `-lr / (1 + (n - 1) *
/// lrDecay) * g / (sqrt(v) + eps)`. `v` is `initialAccumulatorValue` before the first step. Common values are `lr` 0.01
/// and `eps` 1e-10. Free the optimizer with `THOptim_free`; NULL on error.
TH_NODISCARD THOptim *THOptim_newAdagrad(THTensor *const *params, int count, double lr, double lrDecay,
                                         double weightDecay, double initialAccumulatorValue, double eps);

/// An Adadelta optimizer (Zeiler 2012, arxiv.org/abs/1212.5701). With `g` = the gradient + `weightDecay` * the
/// parameter, `v = rho * v + (1 - rho) * g^2`, `d = sqrt(u + eps) / sqrt(v + eps) * g` and then `u = rho * u + (1 -
/// rho) * d^2`, the parameter changes by `-lr * d`. Common values are `lr` 1, `rho` 0.9 and `eps` 1e-6. Free the
/// optimizer with `THOptim_free`; NULL on error.
TH_NODISCARD THOptim *THOptim_newAdadelta(THTensor *const *params, int count, double lr, double rho, double eps,
                                          double weightDecay);

/// A NAdam optimizer (Dozat 2016, openreview.net/forum?id=OM0jvwB8jIp57ZJjtNEZ): Adam with Nesterov momentum. `m` and
/// `v` are as in `THOptim_newAdam`. With `u(n) = beta1 * (1 - 0.96^(n * momentumDecay) / 2)` and the product `U(n)` of
/// `u(1)` to `u(n)`, the parameter changes at step `n` by `-lr * s / (sqrt(v / (1 - beta2^n)) + eps)`, where `s = (1 -
/// u(n)) / (1 - U(n)) * g + u(n + 1) / (1 - U(n + 1)) * m`. `decoupledWeightDecay` selects the weight decay of
/// `THOptim_newAdamw`. Common values are `lr` 2e-3 and `momentumDecay` 4e-3. Free the optimizer with `THOptim_free`;
/// NULL on error.
TH_NODISCARD THOptim *THOptim_newNadam(THTensor *const *params, int count, double lr, double beta1, double beta2,
                                       double eps, double weightDecay, double momentumDecay, int decoupledWeightDecay);

/// A RAdam optimizer (Liu and others 2019, arxiv.org/abs/1908.03265): Adam whose first steps do not use `v`. `m` and
/// `v` are as in `THOptim_newAdam`. With `R = 2 / (1 - beta2) - 1` and `r = R - 2 * n * beta2^n / (1 - beta2^n)`, the
/// parameter changes at step `n` by `-lr * m / (1 - beta1^n)` if `r` is at most 5. Otherwise it changes by `-lr * m /
/// (1 - beta1^n) * sqrt(1 - beta2^n) / (sqrt(v) + eps) * sqrt((r - 4) * (r - 2) * R / ((R - 4) * (R - 2) * r))`. The
/// flag `decoupledWeightDecay` selects the weight decay of `THOptim_newAdamw`. Free the optimizer with `THOptim_free`;
/// NULL on error.
TH_NODISCARD THOptim *THOptim_newRadam(THTensor *const *params, int count, double lr, double beta1, double beta2,
                                       double eps, double weightDecay, int decoupledWeightDecay);

/// A LAMB optimizer for large batches (You and others 2019, arxiv.org/abs/1904.00962). `m` and `v` are as in
/// `THOptim_newAdam` without a weight decay. With `u = m / (1 - beta1^n) / (sqrt(v / (1 - beta2^n)) + eps) +
/// weightDecay * p`, the parameter `p` changes at step `n` by `-lr * norm(p) / norm(u) * u`, and by `-lr * u` if one of
/// the norms is 0 or NaN. Common values are `eps` 1e-6 and `weightDecay` 0.01. Free the optimizer with `THOptim_free`;
/// NULL on error.
TH_NODISCARD THOptim *THOptim_newLamb(THTensor *const *params, int count, double lr, double beta1, double beta2,
                                      double eps, double weightDecay);

/// An Adafactor optimizer (Shazeer and Stern 2018, arxiv.org/abs/1804.04235) in PyTorch's form. At step `n`, with the
/// gradient `g` and `w = n^beta2Decay`, a parameter `p` with two or more dimensions has `R = (1 - w) * R + w * mean of
/// g^2 over the last dimension`, `C = (1 - w) * C + w * mean of g^2 over the dimension before`, and `v = R * C /
/// max(mean of R, eps1)`. Other parameters have `v = (1 - w) * v + w * g^2`. With `u = g / max(sqrt(v), eps1)`, the
/// parameter changes by `-min(lr, 1 / sqrt(n)) * max(rms(p), eps2) * u / max(rms(u) / d, 1)`, where `rms` is the root
/// mean square. In addition, `lr * weightDecay * p` is subtracted. If `eps1` is negative, it is the distance from 1 to
/// the next number of the parameter's dtype. Common values are `lr` 0.01, `beta2Decay` -0.8, `eps1` -1, `eps2` 1e-3 and
/// `d` 1. Free the optimizer with `THOptim_free`; NULL on error.
TH_NODISCARD THOptim *THOptim_newAdafactor(THTensor *const *params, int count, double lr, double beta2Decay,
                                           double eps1, double eps2, double d, double weightDecay);

/// An L-BFGS optimizer, which is used with `THOptim_stepClosure`. A step has at most `maxIter` iterations. Each
/// iteration moves the parameters along the product of an inverse Hessian, approximated from the last `historySize`
/// iterations, with the gradient. A step ends if no element of the gradient exceeds `tolGrad` in magnitude, or if the
/// loss or all elements of the parameters change by less than `tolChange`. With `strongWolfe` each iteration does a
/// line search for a point that satisfies the strong Wolfe conditions. Otherwise the step length is `lr`, or less in
/// the first iteration. Common values are 20, 100, 1e-7 and 1e-9. Free the optimizer with `THOptim_free`; NULL on
/// error.
TH_NODISCARD THOptim *THOptim_newLbfgs(THTensor *const *params, int count, double lr, int64_t maxIter,
                                       int64_t historySize, double tolGrad, double tolChange, int strongWolfe);

/// Frees the optimizer and its state; NULL is ignored.
void THOptim_free(THOptim *o);

/// Updates each parameter that has a gradient. If a parameter fails, the parameters before it have already been
/// updated.
THStatus THOptim_step(const THOptim *o);

/// Calls `closure`, which computes the loss and the gradients for the current parameters, and updates the parameters.
/// L-BFGS calls `closure` several times, with different values of the parameters.
THStatus THOptim_stepClosure(const THOptim *o, THOptimClosure closure, void *context);

/// Fills the gradients of the parameters with 0, or removes the gradients if `toNull` is not 0.
THStatus THOptim_zeroGrad(const THOptim *o, int toNull);

/// Sets the learning rate of all groups, for learning rate schedules.
THStatus THOptim_setLr(const THOptim *o, double lr);

/// The learning rate of the first group; NaN on error.
double THOptim_getLr(const THOptim *o);

/// Adds a group of parameters with the hyperparameters of group 0, which the constructor makes. `THOptim_set` changes
/// the hyperparameters of a group. L-BFGS has only one group. Returns the index of the group; -1 on error.
int64_t THOptim_addGroup(const THOptim *o, THTensor *const *params, int count);

/// Returns the number of groups; -1 on error.
int64_t THOptim_groupCount(const THOptim *o);

/// Sets a hyperparameter of a group for all later steps. `name` is the name of a number or flag of the constructor,
/// such as `lr` or `weightDecay`, and a flag is 0 or 1. In addition, all optimizers except L-BFGS have the flag
/// `maximize`: parameters move along their gradients, not against them. They also have the flag `masterWeights`: the
/// optimizer keeps a float32 copy of each parameter of 16-bit floats, which begins as the parameter's values at the
/// first step. A step changes the copy, with a state in float32, and the parameter becomes the rounded copy. Other
/// changes of the parameter therefore have no effect. Adam has the flag `decoupledWeightDecay`, which distinguishes
/// AdamW from Adam. L-BFGS has `maxEval`, the number of evaluations after which a step ends: initially 5/4 of
/// `maxIter`.
THStatus THOptim_set(const THOptim *o, int64_t group, const char *name, double value);

/// Returns a hyperparameter of a group; NaN on error.
double THOptim_get(const THOptim *o, int64_t group, const char *name);

/// Scales the gradients of `tensors` in place by one factor, so that their norm as one vector is at most `maxNorm`.
/// `normType` is the order of the norm: 2 is common, and inf gives the largest magnitude. Tensors without a gradient
/// are ignored. Returns the norm before scaling; NaN on error.
double THGrad_clipNorm(THTensor *const *tensors, int count, double maxNorm, double normType);

/// Divides the gradients of `tensors` in place by `scale`, for a loss that was multiplied by `scale` before
/// `THTensor_backward`. Tensors without a gradient are ignored. Returns the number of gradients that have an infinity
/// or NaN; -1 on error. If the number is not 0, a program omits the step of the optimizer. `THGrad_scalerUpdate` then
/// finds the next scale.
int64_t THGrad_unscale(THTensor *const *tensors, int count, double scale);

/// Clamps each element of the gradients of `tensors` in place to [-value, value].
THStatus THGrad_clipValue(THTensor *const *tensors, int count, double value);

/// Makes `state`, a fresh handle or a vector of two elements, the state of a scaler: the scale and 0 steps. A fresh
/// handle becomes float32. PyTorch begins with the scale 65536. Multiply the loss by `THTensor_get1d(state, 0)`.
THStatus THGrad_scalerInit(THTensor *state, double scale);

/// Changes the scale as PyTorch's GradScaler does. `bad` is the result of `THGrad_unscale`. If `bad` is not 0, the
/// scale is multiplied by `backoffFactor`. After `growthInterval` calls in a row with 0 it is multiplied by
/// `growthFactor`, unless the product is infinite in float32. Common values are 2, 0.5 and 2000. Errors: `TH_ERR_DTYPE`
/// and `TH_ERR_SHAPE`, `state` is no vector of two float32 or float64 numbers.
THStatus THGrad_scalerUpdate(THTensor *state, int64_t bad, double growthFactor, double backoffFactor,
                             int64_t growthInterval);

/// Divides the gradients of the optimizer's parameters by the scale, makes a step if all gradients are finite, and
/// changes the scale as `THGrad_scalerUpdate` does. Returns the number of gradients that have an infinity or NaN: 0 if
/// the step was made;
/// -1 on error. L-BFGS is refused.
int64_t THGrad_scalerStep(THTensor *state, const THOptim *o, double growthFactor, double backoffFactor,
                          int64_t growthInterval);

/// Exponential moving averages: `averages[k] = decay * averages[k] + (1 - decay) * params[k]`, in the wider dtype of
/// both, and without recording. A fresh handle becomes a copy of the parameter. Both counts are the same. `decay` is
/// from 0 to 1, and 0.999 is common. Errors: `TH_ERR_ARGUMENT`, an average with another shape or device than the
/// parameter; `TH_ERR_DTYPE`, a parameter that is not of floats.
THStatus THGrad_average(THTensor *const *averages, int count, THTensor *const *params, int paramCount, double decay);

/// Returns `lr * gamma^floor(step / stepSize)`, PyTorch's StepLR; NaN on error.
double THSchedule_step(int64_t step, double lr, int64_t stepSize, double gamma);

/// Returns `lr * gamma^step`, PyTorch's ExponentialLR; NaN on error.
double THSchedule_exponential(int64_t step, double lr, double gamma);

/// Returns `lr * (startFactor + (endFactor - startFactor) * min(step / totalIters, 1))`, PyTorch's LinearLR; NaN on
/// error. A warmup has an `endFactor` of 1.
double THSchedule_linear(int64_t step, double lr, double startFactor, double endFactor, int64_t totalIters);

/// Returns `lr * (1 - min(step / totalIters, 1))^power`, PyTorch's PolynomialLR; NaN on error.
double THSchedule_polynomial(int64_t step, double lr, int64_t totalIters, double power);

/// Returns `etaMin + (lr - etaMin) * (1 + cos(pi * step / tMax)) / 2`, PyTorch's CosineAnnealingLR (Loshchilov and
/// Hutter 2016, arxiv.org/abs/1608.03983); NaN on error.
double THSchedule_cosine(int64_t step, double lr, int64_t tMax, double etaMin);

/// `THSchedule_cosine` that begins again after `t0` steps, then after `t0 * tMult` steps, and so on: PyTorch's
/// CosineAnnealingWarmRestarts; NaN on error.
double THSchedule_cosineRestarts(int64_t step, double lr, int64_t t0, int64_t tMult, double etaMin);

/// The one-cycle policy (Smith and Topin 2017, arxiv.org/abs/1708.07120), PyTorch's OneCycleLR: half a period of the
/// cosine from `maxLr / divFactor` to `maxLr` in the first `pctStart * totalSteps` steps, then another one to `maxLr /
/// divFactor / finalDivFactor` at step `totalSteps - 1`. NaN on error.
double THSchedule_oneCycle(int64_t step, double maxLr, int64_t totalSteps, double pctStart, double divFactor,
                           double finalDivFactor);

/// Returns the learning rate after the vector `metrics`, one number for each epoch: PyTorch's ReduceLROnPlateau; NaN on
/// error. An epoch is good if its metric is less than `best * (1 - minChange)`, where `best` is the metric of the last
/// good epoch. With `absolute`, the bound is `best - minChange`. With `maximize`, the metric must be greater than
/// `best * (1 + minChange)` or `best + minChange`. After more than `patience` bad epochs in a row, `lr` becomes
/// `max(factor * lr, minLr)`, if the difference exceeds `eps`. The next `cooldown` epochs then do not count as bad.
double THSchedule_plateau(const THTensor *metrics, double lr, double factor, int64_t patience, double minChange,
                          int absolute, int maximize, int64_t cooldown, double minLr, double eps);

/// Writes the hyperparameters and the state to the file `path`, so that a later run continues with the same bits. The
/// file name's extension determines the format. A file with the extension `.pt` is a file of
/// `torch.save(optimizer.state_dict(), path)`, and PyTorch's `optimizer.load_state_dict(torch.load(path))` reads it.
/// Formats without metadata, such as `.npz`, are refused. The parameters are not in the file.
THStatus THOptim_save(const THOptim *o, const char *path);

/// Adds the hyperparameters and the state as the entry `name` to an archive of `THArchive_create`. The archive can also
/// have tensors and texts of other names. `THOptim_read` reads the entry. A `.pt` file is a file of `torch.save({name:
/// optimizer.state_dict(), ...}, path)`. `THArchive_close` reads the state, so the caller makes no step before.
THStatus THOptim_add(const THOptim *o, const THArchive *archive, const char *name);

/// Reads the hyperparameters and the state from a file that `THOptim_save` or PyTorch wrote. The optimizer must have
/// the same kind, and the same groups with the same numbers of parameters, in the same order. State tensors are
/// converted to the dtypes and devices of the parameters. A flag that the file lacks, such as `maximize`, keeps its
/// value. PyTorch's flags `foreach`, `fused`, `capturable` and `differentiable` are ignored. `TH_ERR_FORMAT` if an
/// entry does not fit, and the message names the entry.
THStatus THOptim_load(const THOptim *o, const char *path);

/// `THOptim_load` from an open archive, whose entry `name` is the state dict: `optimizer` for a file of
/// `torch.save({"model": ..., "optimizer": optimizer.state_dict()})`. An empty `name` means the whole archive.
THStatus THOptim_read(const THOptim *o, const THArchive *archive, const char *name);

/** @} */

/* ==================================================================================================================
 *
 *     24. Exported programs
 *
 * ================================================================================================================== */

/**
 * @defgroup exported_programs Exported programs
 *
 * A `THProgram` is a model that PyTorch 2.6 or later wrote by `torch.export.save(torch.export.export(model, args),
 * "model.pt2")`: the graph of the model, its weights, and the ranges of its sizes. The library runs the graph without
 * Python. It supports core ATen and the operators that export leaves undecomposed: `docs/aten.md`. Inputs and outputs
 * are the tensors and numbers of the nested arguments and results, in the order in which PyTorch flattens them. Numbers
 * are 0-d tensors of int64, float64 or bool. Inputs must have the dtypes of the export, and sizes inside the exported
 * ranges. Parameters are mapped from the file and copied where they are written. They may be trained:
 * `THProgram_newParameter` returns the tensor that the program uses, and gradients are recorded during a run as for any
 * other calls. A run changes the buffers that the model changes, such as the statistics of batch normalization in
 * training or caches of keys and values. If a run fails after the graph has written to buffers in place, these buffers
 * keep the new elements. Several threads may run one program at the same time, unless the program changes its buffers.
 * Errors: `TH_ERR_FORMAT`, a file that is no exported program, or is broken; `TH_ERR_UNSUPPORTED`, operators that the
 * library lacks: the message names all of them; `TH_ERR_ARGUMENT`, a wrong number of inputs or outputs, or a name that
 * the program lacks; `TH_ERR_DTYPE` and `TH_ERR_SHAPE`, an input that the program was not exported for; the errors of
 * the functions that the graph calls, with the operator.
 * @{
 */

/// A program that PyTorch exported: a graph, its parameters and its buffers. Several threads may run one program at the
/// same time.
typedef struct THProgram THProgram;

/// Opens the file `path` that `torch.export.save` wrote. Parameters are mapped. Free the program with `THProgram_free`;
/// NULL on error.
THProgram *THProgram_open(const char *path);

/// Opens a file in memory: `size` bytes from `data` on, which are copied. Free the program with `THProgram_free`; NULL
/// on error.
THProgram *THProgram_openMemory(const void *data, ptrdiff_t size);

/// Adds a reference; NULL is ignored.
void THProgram_retain(THProgram *p);

/// Releases a reference, and frees the program with the last one; NULL is ignored. Parameters that the caller holds
/// stay valid.
void THProgram_free(THProgram *p);

/// Runs the program: `outputs` = the results for `inputs`. A fresh output handle shares the memory of the result, which
/// is new unless the program returns a view of an input or a parameter. Another handle keeps its dtype and receives a
/// copy. An output that is `None` in PyTorch leaves its handle unchanged.
THStatus THProgram_run(THTensor *const *outputs, int outputCount, const THProgram *p, THTensor *const *inputs,
                       int inputCount);

/// Moves the parameters, buffers and constants to a device, and converts the floats of the program to `dtype`;
/// `TH_UNDEFINED` keeps their dtype. The handles of parameters stay valid, and inputs of floats must then have `dtype`.
/// Nothing else may use the program meanwhile. A parameter that requires a gradient is an error.
THStatus THProgram_to(const THProgram *p, THDeviceType deviceType, int deviceIndex, THDtype dtype);

/// Returns the number of inputs; -1 on error.
int64_t THProgram_inputCount(const THProgram *p);

/// Returns the name of input `index`, counted from 0. Borrowed: valid as long as the program. NULL on error.
const char *THProgram_inputName(const THProgram *p, int64_t index);

/// Returns the dtype of input `index`; `TH_UNDEFINED` on error.
THDtype THProgram_inputDtype(const THProgram *p, int64_t index);

/// Returns the number of dimensions of input `index`; -1 on error.
int64_t THProgram_inputNdim(const THProgram *p, int64_t index);

/// Returns the smallest sizes of input `index`. A smallest size of 2 is an assumption of the export, which a run does
/// not check. Borrowed: valid as long as the program. NULL on error.
const int64_t *THProgram_inputMinSizes(const THProgram *p, int64_t index);

/// Returns the largest sizes of input `index`: `INT64_MAX` for a size without bound, the smallest size for a fixed
/// size. Borrowed: valid as long as the program. NULL on error.
const int64_t *THProgram_inputMaxSizes(const THProgram *p, int64_t index);

/// Returns the number of outputs; -1 on error.
int64_t THProgram_outputCount(const THProgram *p);

/// Returns the name of output `index`, counted from 0: the path to the output in the nested results of the model.
/// Borrowed: valid as long as the program. NULL on error.
const char *THProgram_outputName(const THProgram *p, int64_t index);

/// Returns the dtype of output `index`; `TH_UNDEFINED` for `None`, and on error.
THDtype THProgram_outputDtype(const THProgram *p, int64_t index);

/// Returns the number of dimensions of output `index`; -1 on error.
int64_t THProgram_outputNdim(const THProgram *p, int64_t index);

/// Returns the smallest sizes of output `index`. Borrowed: valid as long as the program. NULL on error.
const int64_t *THProgram_outputMinSizes(const THProgram *p, int64_t index);

/// Returns the largest sizes of output `index`: `INT64_MAX` for a size without bound. Borrowed: valid as long as the
/// program. NULL on error.
const int64_t *THProgram_outputMaxSizes(const THProgram *p, int64_t index);

/// Returns the number of parameters; -1 on error.
int64_t THProgram_parameterCount(const THProgram *p);

/// Returns the name of parameter `index`, counted from 0: `layer.0.weight`. Borrowed: valid as long as the program.
/// NULL on error.
const char *THProgram_parameterName(const THProgram *p, int64_t index);

/// Returns the parameter `name` that the program uses: a write to its elements changes the following runs, and
/// `THTensor_setRequiresGrad` makes runs record gradients. From the first call of this function on, batch normalization
/// is no longer folded into convolutions, so that results may differ in the last digits. Returns a new reference to the
/// tensor.
TH_NODISCARD THTensor *THProgram_newParameter(const THProgram *p, const char *name);

/// Returns the number of buffers; -1 on error.
int64_t THProgram_bufferCount(const THProgram *p);

/// Returns the name of buffer `index`, counted from 0. Borrowed: valid as long as the program. NULL on error.
const char *THProgram_bufferName(const THProgram *p, int64_t index);

/// Returns the buffer `name` that the program uses. Returns a new reference to the tensor.
TH_NODISCARD THTensor *THProgram_newBuffer(const THProgram *p, const char *name);

/// Returns the number of keys in the metadata; -1 on error.
int64_t THProgram_metadataCount(const THProgram *p);

/// Returns key `index` of the metadata, counted from 0: `torch_version`, `schema_version`. Borrowed: valid as long as
/// the program. NULL on error.
const char *THProgram_metadataKey(const THProgram *p, int64_t index);

/// Returns the value of key `index`. Borrowed: valid as long as the program. NULL on error.
const char *THProgram_metadataValue(const THProgram *p, int64_t index);

/** @} */

/* ==================================================================================================================
 *
 *     25. Sorting and searching
 *
 * ================================================================================================================== */

/**
 * @defgroup sorting_and_searching Sorting and searching
 *
 * NaN is greater than every number and equals no other NaN; -0.0 equals 0.0. Results do not depend on the number of
 * threads. Errors: `TH_ERR_ARGUMENT`, a dimension, rank or index out of range; `TH_ERR_SHAPE`, operands whose shapes do
 * not fit each other; `TH_ERR_DTYPE`, indices that are not integers, or a dtype of a result that cannot hold the
 * elements.
 * @{
 */

/// `values = elements of t in ascending order along dimension`, or in `descending` order; `indices` = the int64 index
/// in `t` of each value.
///
/// Either result may be NULL. NaN comes last in ascending order and first in descending order. Equal elements, and
/// NaNs, keep their order; if `stable` is 0, this is not guaranteed. Every dtype; `values` gets the dtype of `t` if it
/// has none.
THStatus THTensor_sort(THTensor *values, THTensor *indices, const THTensor *t, int dimension, int descending,
                       int stable);

/// `r = indices that sort t along dimension`: the int64 indices of `THTensor_sort`.
THStatus THTensor_argsort(THTensor *r, const THTensor *t, int dimension, int descending, int stable);

/// `r = elements of t in ascending order along its first dimension`, as by `THTensor_sort` with `stable`.
THStatus THTensor_msort(THTensor *r, const THTensor *t);

/// `values = k least elements of t along dimension`, or the `k` greatest with `largest`; `indices` = the int64 index of
/// each value. NaN is greater than every number.
///
/// Either result may be NULL. Of equal elements the first ones are chosen. With `sorted` the values are in ascending
/// order, or in descending order with `largest`, and equal elements keep their order; otherwise the values have the
/// order of `t`. Every dtype; `values` gets the dtype of `t` if it has none. A `k` that is negative or greater than the
/// size of the dimension is an error. For a 0-d `t`, `k` must be 1.
THStatus THTensor_topk(THTensor *values, THTensor *indices, const THTensor *t, int64_t k, int dimension, int largest,
                       int sorted);

/// `r = indices that sort along dimension by the last of count keys`; where elements of a key are equal, the previous
/// key decides, as in NumPy's lexsort.
///
/// `r[i]` is the int64 index of the `i`-th element in this order. Elements that are equal in all keys keep their order.
/// The keys have one shape, which is also the shape of `r`, and any dtypes. A `count` of 0 is an error.
THStatus THTensor_lexsort(THTensor *r, THTensor *const *keys, int count, int dimension);

/// `values = the distinct elements of t in ascending order`; unless `dimension` is `TH_ALL_DIMS`, the distinct slices
/// along `dimension`.
///
/// `inverse` has int64 indices with `t = values[inverse]`, in the shape of `t` or as a vector with an entry for each
/// slice. `counts` = the int64 number of occurrences of each value. Each result may be NULL. Slices are compared in
/// row-major order by the first element in which they differ. Each NaN is a distinct value; of -0.0 and 0.0 the first
/// one is kept. Every dtype; `values` gets the dtype of `t` if it has none. Slices without elements are an error.
THStatus THTensor_unique(THTensor *values, THTensor *inverse, THTensor *counts, const THTensor *t, int dimension);

/// `values = one element of each run of equal elements in t`, in row-major order; unless `dimension` is `TH_ALL_DIMS`,
/// one slice of each run along `dimension`. Otherwise as `THTensor_unique`.
THStatus THTensor_uniqueConsecutive(THTensor *values, THTensor *inverse, THTensor *counts, const THTensor *t,
                                    int dimension);

/// `r[..] = number of elements of sequence less than t[..]`, or with `right` less than or equal to `t[..]`: the int64
/// index at which `t[..]` can be inserted before, or after, its equals.
///
/// `sequence` ascends along its last dimension, with NaN last. `sorter` may be NULL; otherwise it has int64 or int32
/// indices, in the shape of `sequence`, that sort `sequence`. If `sequence` is a vector, it serves all elements of `t`;
/// otherwise all dimensions except the last must equal the dimensions of `t`. Both operands are converted to one dtype
/// first. If a sequence does not ascend, the result is unspecified.
THStatus THTensor_searchsorted(THTensor *r, const THTensor *sequence, const THTensor *t, int right,
                               const THTensor *sorter);

/// `r[..] = i where boundaries[i - 1] < t[..] <= boundaries[i]`, or with `right` where `boundaries[i - 1] <= t[..] <
/// boundaries[i]`, as `THTensor_searchsorted` with the vector `boundaries`.
THStatus THTensor_bucketize(THTensor *r, const THTensor *t, const THTensor *boundaries, int right);

/// `r[..] = whether t[..] equals an element of tests`, or with `invert` whether it equals none, as Bool.
///
/// Both operands are converted to one dtype first. NaN equals no element. `assumeUnique` says that neither operand
/// contains an element twice; the result does not depend on this argument.
THStatus THTensor_isin(THTensor *r, const THTensor *t, const THTensor *tests, int assumeUnique, int invert);

/** @} */

/* ==================================================================================================================
 *
 *     26. Order statistics and histograms
 *
 * ================================================================================================================== */

/**
 * @defgroup order_statistics_and_histograms Order statistics and histograms
 *
 * Medians, quantiles, most frequent elements, and numbers of elements in intervals. Errors: `TH_ERR_ARGUMENT`, an
 * invalid dimension, rank, quantile or range; `TH_ERR_SHAPE`, operands whose shapes do not fit each other;
 * `TH_ERR_DTYPE`, a dtype that the function does not support.
 * @{
 */

/// The method that computes a quantile between two elements.
typedef enum THInterpolation {
    TH_INTERPOLATION_LINEAR = 0, ///< `a + (b - a) * fraction` for neighbours a and b.
    TH_INTERPOLATION_LOWER = 1,  ///< The smaller neighbour.
    TH_INTERPOLATION_HIGHER = 2, ///< The greater neighbour.
    TH_INTERPOLATION_MIDPOINT = 3, ///< `(a + b) / 2`
    TH_INTERPOLATION_NEAREST = 4 ///< The nearer neighbour; if both are equally near, the neighbour with the even rank.
} THInterpolation;

/// `values = k-th smallest elements of t over dimension`, with `k` from 1, or over all elements with `TH_ALL_DIMS`;
/// `indices` = the int64 index of the first occurrence of each value, in row-major order over all elements. Either
/// result may be NULL.
///
/// NaN is greater than every other number. -0.0 equals 0.0 and is returned as 0.0. Every dtype except Bool; `values`
/// gets the dtype of `t` if it has none. With `keepdim` the dimension stays with size 1, else it is removed. A
/// dimension without elements and a `k` out of range are errors.
THStatus THTensor_kthvalue(THTensor *values, THTensor *indices, const THTensor *t, int64_t k, int dimension,
                           int keepdim);

/// `values = medians of t over dimension`: the middle element in ascending order, or the smaller of the two middle
/// elements. If a slice contains NaN, its median is NaN. Otherwise as kthvalue.
THStatus THTensor_median(THTensor *values, THTensor *indices, const THTensor *t, int dimension, int keepdim);

/// `values = medians of t over dimension without the NaNs`; the median of NaNs alone is NaN. Otherwise as kthvalue.
THStatus THTensor_nanmedian(THTensor *values, THTensor *indices, const THTensor *t, int dimension, int keepdim);

/// The median of all elements; NaN if any element is NaN, if `t` is empty, and on error.
double THTensor_medianall(const THTensor *t);

/// `values = most frequent elements of t over dimension`, or over all elements with `TH_ALL_DIMS`; of equally frequent
/// elements, the smallest. `indices` = the int64 index of the last occurrence of each value. NaNs are counted only if
/// all elements are NaN; `indices` then has the index of the first NaN. Every dtype; the results are as for kthvalue.
THStatus THTensor_mode(THTensor *values, THTensor *indices, const THTensor *t, int dimension, int keepdim);

/// `r = element of rank q * (n - 1) of t over dimension` in ascending order, with ranks from 0, or over all elements
/// with `TH_ALL_DIMS`; `q` is from 0 to 1.
///
/// Between two ranks, `interpolation`, a constant of THInterpolation, selects the result. `q` is rounded to the type of
/// `t` (float32 for 16-bit floats); ranks are then computed in float64. Floats only. If a slice contains NaN, every
/// quantile of the slice is NaN. `keepdim` is as for kthvalue. A dimension without elements is an error.
THStatus THTensor_quantile(THTensor *r, const THTensor *t, double q, int dimension, int keepdim,
                           THInterpolation interpolation);

/// `r = quantile q of t over dimension without the NaNs`; the quantile of NaNs alone is NaN. Otherwise as quantile.
THStatus THTensor_nanquantile(THTensor *r, const THTensor *t, double q, int dimension, int keepdim,
                              THInterpolation interpolation);

/// As quantile for each element of the vector `q` of floats: `r[i]` has the quantiles of `q[i]`. A 0-d `q` adds no
/// dimension.
THStatus THTensor_quantileTensor(THTensor *r, const THTensor *t, const THTensor *q, int dimension, int keepdim,
                                 THInterpolation interpolation);

/// As quantileTensor without the NaNs; the quantile of NaNs alone is NaN.
THStatus THTensor_nanquantileTensor(THTensor *r, const THTensor *t, const THTensor *q, int dimension, int keepdim,
                                    THInterpolation interpolation);

/// `r[b] = number of elements x of t with floor((x - min) * bins / (max - min)) == b`; the last bin includes the upper
/// edge `max`.
///
/// Elements outside [min, max] and NaNs are ignored. If `min` equals `max`, the smallest and the greatest element are
/// used in their place. If these are equal, too, the range is extended by 1 on both sides. Floats only; the edges are
/// computed in the dtype of `t`. A fresh `r` gets the dtype of `t`. A range that is not finite is an error.
THStatus THTensor_histc(THTensor *r, const THTensor *t, int64_t bins, double min, double max);

/// As histc for each row in the last dimension of `t`; this dimension of `r` has size `bins`. If `min` equals `max`,
/// the range comes from all rows together.
THStatus THTensor_bhistc(THTensor *r, const THTensor *t, int64_t bins, double min, double max);

/// `r[i] = number of elements of t equal to i`, or the sum of the weights of these elements; `weights` may be NULL.
///
/// `t` is a vector of integers >= 0, and `weights` a vector of the same length. `r` has `minlength` elements, or more
/// if the greatest element of `t` needs them. A fresh `r` is int64 without weights, float32 with float32 weights, and
/// float64 with other weights. Sums are computed in float64.
THStatus THTensor_bincount(THTensor *r, const THTensor *t, const THTensor *weights, int64_t minlength);

/** @} */

/* ==================================================================================================================
 *
 *     27. Matrix products
 *
 * ================================================================================================================== */

/**
 * @defgroup matrix_products Matrix products
 *
 * Unless a function says otherwise, all operands have the same dtype, which may be any dtype except Bool. 16-bit floats
 * are summed in float32 and rounded once; integers wrap. Operands may have any strides, and `r` may be one of the
 * operands. If `beta` is 0, the elements of `t` are not read, so NaN in `t` has no effect. Processors that multiply
 * pairs of bfloat16 numbers (AVX512_BF16) treat subnormal bfloat16 numbers as 0. Errors: `TH_ERR_SHAPE`, the shapes of
 * the operands do not fit a product; `TH_ERR_DTYPE`, the operands have different dtypes, an operand is Bool, or `alpha`
 * or `beta` is not whole for integers; `TH_ERR_ARGUMENT`, an invalid dimension, equation or power.
 * @{
 */

/// The method that `cdistMode` uses for Euclidean distances. Other norms are always computed from the differences.
typedef enum THDistanceMode {
    /// A matrix product if either operand has more than 25 rows, otherwise the differences.
    TH_DISTANCE_AUTO = 0,
    /// A matrix product, which is faster for many rows. The error of a squared distance is a few eps of the rows'
    /// squared distances from the mean.
    TH_DISTANCE_PRODUCT = 1,
    TH_DISTANCE_DIFFERENCES = 2  ///< The differences of all pairs of rows, which are exact for small distances.
} THDistanceMode;

/// `r = m1 @ m2` for matrices [n x k] and [k x p] of one dtype except Bool. 16-bit floats accumulate in float32;
/// integers wrap.
THStatus THTensor_mm(THTensor *r, const THTensor *m1, const THTensor *m2);

/// `r = mat @ vec` for a matrix [n x k] and a vector [k] of one dtype except Bool.
THStatus THTensor_mv(THTensor *r, const THTensor *mat, const THTensor *vec);

/// `r = beta * t + alpha * (m1 @ m2)`; `t` broadcasts to [n x p]. If `beta` is 0, the elements of `t` are not read. `r`
/// may be `t`.
THStatus THTensor_addmm(THTensor *r, double beta, const THTensor *t, double alpha, const THTensor *m1,
                        const THTensor *m2);

/// `r = beta * t + alpha * (mat @ vec)`; `t` broadcasts to [n]. If `beta` is 0, the elements of `t` are not read. `r`
/// may be `t`.
THStatus THTensor_addmv(THTensor *r, double beta, const THTensor *t, double alpha, const THTensor *mat,
                        const THTensor *vec);

/// `r[i] = b1[i] @ b2[i]` for batches [b x n x k] and [b x k x p] of matrices.
THStatus THTensor_bmm(THTensor *r, const THTensor *b1, const THTensor *b2);

/// `r[i] = beta * t[i] + alpha * (b1[i] @ b2[i])` for each index `i` of the batch; `t` broadcasts to [b x n x p].
THStatus THTensor_baddbmm(THTensor *r, double beta, const THTensor *t, double alpha, const THTensor *b1,
                          const THTensor *b2);

/// `r = beta * t + alpha * (b1[0] @ b2[0] + b1[1] @ b2[1] + ...)`; `t` broadcasts to [n x p].
THStatus THTensor_addbmm(THTensor *r, double beta, const THTensor *t, double alpha, const THTensor *b1,
                         const THTensor *b2);

/// `r = a @ b` for matrices in the last two dimensions; the other dimensions broadcast. A vector `a` is treated as a
/// row and a vector `b` as a column, and the result lacks that dimension.
THStatus THTensor_matmul(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a[0] * b[0] + a[1] * b[1] + ...` for vectors of one size; `r` is a scalar.
THStatus THTensor_dot(THTensor *r, const THTensor *a, const THTensor *b);

/// The same as dot, because there are no complex numbers to conjugate.
THStatus THTensor_vdot(THTensor *r, const THTensor *a, const THTensor *b);

/// `r[i, j] = v1[i] * v2[j]` for vectors. The dtypes may differ and are promoted.
THStatus THTensor_outer(THTensor *r, const THTensor *v1, const THTensor *v2);

/// `r[i, j] = v1[i] * v2[j]` for vectors: the BLAS name of outer.
THStatus THTensor_ger(THTensor *r, const THTensor *v1, const THTensor *v2);

/// `r[i, j] = beta * t[i, j] + alpha * v1[i] * v2[j]` for vectors; `t` broadcasts to the sizes of `v1` and `v2`.
THStatus THTensor_addr(THTensor *r, double beta, const THTensor *t, double alpha, const THTensor *v1,
                       const THTensor *v2);

/// `r` = the sum of `a * b` over the last dimension, for every combination of indices of the other dimensions. The
/// other dimensions of `a` come first in `r`. A scalar multiplies every element.
THStatus THTensor_inner(THTensor *r, const THTensor *a, const THTensor *b);

/// `r` = the sum of `a * b` over dimension `dims_a[k]` of `a` and dimension `dims_b[k]` of `b`, for `k` from 0 to
/// `ndim - 1`. The two dimensions of a pair have the same size, or one of them has size 1 and broadcasts. The remaining
/// dimensions of `a` come first in `r`, then those that remain of `b`.
THStatus THTensor_tensordot(THTensor *r, const THTensor *a, const THTensor *b, int ndim, const int64_t *dims_a,
                            const int64_t *dims_b);

/// `r` = the sum of products of `count` operands that `equation` describes, as in NumPy: "ij,jk->ik" is a matrix
/// product, "ii" a trace, "bij,bjk->bik" a batch of products.
///
/// The equation has one letter for each dimension, a comma between operands, and the dimensions of the result after
/// "->". Dimensions that the result lacks are summed. "..." is all dimensions without a letter, which broadcast. Size 1
/// also broadcasts to the size that another operand has for the same letter. Blanks are ignored. Without "->" the
/// result has the ellipsis, followed in alphabetical order by the letters that occur once. Up to 10 operands are
/// multiplied in the order that needs the fewest multiplications.
THStatus THTensor_einsum(THTensor *r, const char *equation, THTensor *const *operands, int count);

/// `r` = the product of `count` matrices, from 1 to 1000 of them, multiplied in the order that needs the fewest
/// multiplications. If there are at least two, the first may be a vector, which is treated as a row, and the last may
/// be a vector, which is treated as a column.
THStatus THTensor_chainMatmul(THTensor *r, THTensor *const *matrices, int count);

/// `r` = the `n`-th power of the square matrices in the last two dimensions of `t`. If `n` is 0, the result is the
/// identity. A negative `n` gives a power of the inverse, for float32 and float64 only.
THStatus THTensor_matrixPower(THTensor *r, const THTensor *t, int64_t n);

/// `r` = the Kronecker product: a block matrix whose block at each index of `a` is `a[index] * b`. The size of each
/// dimension of `r` is the product of the sizes in `a` and `b`; the operand with fewer dimensions gets leading
/// dimensions of size 1. The dtypes may differ and are promoted.
THStatus THTensor_kron(THTensor *r, const THTensor *a, const THTensor *b);

/// `r` = the cross product `a x b` of the vectors along `dimension`, which has size 3. The other dimensions broadcast.
/// Any dtypes except Bool, which are promoted.
THStatus THTensor_cross(THTensor *r, const THTensor *a, const THTensor *b, int dimension);

/// `r[i, j]` = the `p`-norm of the difference between row `i` of `a` [.. x n x d] and row `j` of `b` [.. x m x d],
/// whose leading dimensions broadcast. Floats only; `p` >= 0.
///
/// If `p` is 2 and either operand has more than 25 rows, the result is computed as `sqrt(|x|^2 - 2 x y + |y|^2)` by a
/// matrix product, as in PyTorch. The mean of the rows of `b` is subtracted from all rows first. The error of a squared
/// distance is a few eps of the rows' squared distances from this mean. `THTensor_cdistMode` can compute small
/// distances exactly.
THStatus THTensor_cdist(THTensor *r, const THTensor *a, const THTensor *b, double p);

/// As cdist, where `mode` selects the method for `p` 2. `TH_DISTANCE_AUTO` selects as cdist does. `TH_DISTANCE_PRODUCT`
/// always uses the matrix product. `TH_DISTANCE_DIFFERENCES` computes the norms of the differences, with an error of a
/// few eps of each distance.
THStatus THTensor_cdistMode(THTensor *r, const THTensor *a, const THTensor *b, double p, THDistanceMode mode);

/// `r[k]` = the `p`-norm of the difference between rows `i` and `j` of `t` [n x d], for each of the n (n - 1) / 2 pairs
/// `i < j` in row-major order: (0, 1), (0, 2), ..., (1, 2), ... Floats only; `p` >= 0. The norms are always computed
/// from the differences.
THStatus THTensor_pdist(THTensor *r, const THTensor *t, double p);

/** @} */

/* ==================================================================================================================
 *
 *     28. Quantised numbers
 *
 * ================================================================================================================== */

/**
 * @defgroup quantised_numbers Quantised numbers
 *
 * A matrix of quantised numbers is a uint8 tensor: its rows of numbers as blocks, without gaps. A block is a few
 * numbers of a few bits with common scales, as in files of GGUF. The matrix is either a vector of all bytes, as
 * `THArchive_newBytes` returns it without a copy, or a matrix with the bytes of a row in each row. The bytes need no
 * alignment. `blockType` is one of `TH_BLOCK_*`, for example the result of `THArchive_blockType`, and a row of numbers
 * has whole blocks. **Error of products.** `THTensor_mmQuantized` rounds the numbers of `a` to 8 bits: to one of 255
 * values from -m to m, where m is the greatest magnitude among the numbers that are multiplied by one block. Products
 * and sums of codes are exact. The error of an element is at most the sum of `|w| * m / 254` over the numbers of the
 * row, plus the rounding of float32: a few eps of the sum of `(|scale * code| + |offset|) * m`. For random numbers, the
 * error is about a hundredth of this bound. Blocks of `a` whose numbers are all below 1e-30 count as 0. An infinity or
 * NaN in a row of `a` makes the products of the row NaN. The product with a row of `a` does not depend on the other
 * rows, nor on the number of threads. These functions have no derivatives, and run on the host only. Errors:
 * `TH_ERR_SHAPE`, a row has no whole blocks, or the bytes no whole rows; `TH_ERR_DTYPE`, an operand has another dtype
 * than the function names; `TH_ERR_ARGUMENT`, `blockType` is no block type; `TH_ERR_UNSUPPORTED`, the block type is
 * only decoded.
 * @{
 */

/// The structure of quantised numbers: ggml's number of the type in GGUF files. The comments name the numbers in a
/// block, its size in bytes, and its content.
typedef enum THBlockType {
    TH_BLOCK_NONE = 0,           ///< No blocks.
    TH_BLOCK_Q4_0 = 2,           ///< 32 numbers in 18 bytes: codes of 4 bits with a scale.
    TH_BLOCK_Q4_1 = 3,           ///< 32 numbers in 20 bytes: codes of 4 bits with a scale and a smallest number.
    TH_BLOCK_Q5_0 = 6,           ///< 32 numbers in 22 bytes: codes of 5 bits with a scale.
    TH_BLOCK_Q5_1 = 7,           ///< 32 numbers in 24 bytes: codes of 5 bits with a scale and a smallest number.
    TH_BLOCK_Q8_0 = 8,           ///< 32 numbers in 34 bytes: codes of 8 bits with a scale.
    /// 256 numbers in 84 bytes: codes of 2 bits with 16 scales and smallest numbers of 4 bits.
    TH_BLOCK_Q2_K = 10,
    TH_BLOCK_Q3_K = 11,          ///< 256 numbers in 110 bytes: codes of 3 bits with 16 scales of 6 bits.
    /// 256 numbers in 144 bytes: codes of 4 bits with 8 scales and smallest numbers of 6 bits.
    TH_BLOCK_Q4_K = 12,
    /// 256 numbers in 176 bytes: codes of 5 bits with 8 scales and smallest numbers of 6 bits.
    TH_BLOCK_Q5_K = 13,
    TH_BLOCK_Q6_K = 14,          ///< 256 numbers in 210 bytes: codes of 6 bits with 16 scales of 8 bits.
    TH_BLOCK_IQ4_NL = 20,        ///< 32 numbers in 18 bytes: codes of 4 bits for 16 uneven steps, with a scale.
    /// 256 numbers in 136 bytes: codes of 4 bits for 16 uneven steps, with 8 scales of 6 bits.
    TH_BLOCK_IQ4_XS = 23,
    TH_BLOCK_TQ1_0 = 34,         ///< 256 numbers in 54 bytes: -1, 0 or 1 with a scale, five numbers in a byte.
    TH_BLOCK_TQ2_0 = 35,         ///< 256 numbers in 66 bytes: -1, 0 or 1 with a scale, four numbers in a byte.
    TH_BLOCK_MXFP4 = 39          ///< 32 numbers in 17 bytes: floats of 4 bits with a power of two as the scale.
} THBlockType;

/// `r = a @ W^T`: the products of the rows of `a` [.. x k] and the n rows of the quantised matrix `w`. `r` is [.. x n].
/// `a` is float32, float16 or bfloat16, and `r` has the dtype of `a`. The number of bytes of `w` determines n.
THStatus THTensor_mmQuantized(THTensor *r, const THTensor *a, const THTensor *w, THBlockType blockType);

/// `r` = the rows of `t` [.. x k] as blocks: uint8 [.. x bytes of a row]. `t` has floats, which are rounded to float32
/// first. Types: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K and Q6_K, with the bytes of ggml's reference functions. A
/// block with an infinity or NaN becomes a block of NaN.
THStatus THTensor_quantize(THTensor *r, const THTensor *t, THBlockType blockType);

/// `r` = the numbers of the quantised matrix `w` as float32 [n x k]. The number of bytes of `w` determines n.
THStatus THTensor_dequantize(THTensor *r, const THTensor *w, THBlockType blockType, int64_t k);

/** @} */

/* ==================================================================================================================
 *
 *     29. Products of compressed rows
 *
 * ================================================================================================================== */

/**
 * @defgroup products_of_compressed_rows Products of compressed rows
 *
 * A matrix of compressed rows (CSR) is three vectors: `crow`, the start of each row among the entries, followed by the
 * number of entries; `col`, the column of each entry; and `values`, the entries. SciPy calls them `indptr`, `indices`
 * and `data`. `crow` and `col` are int64 or int32, and are read in place if both have the same dtype. The entries of a
 * row may be in any order, and several entries for one position are summed. These functions use the vectors without a
 * copy; a `THSTensor` holds all three. `values` and dense operands have one dtype. Sums of 16-bit floats are computed
 * in float32 and rounded once; integers wrap. Each row is summed by one thread, so that results do not depend on the
 * number of threads. On a GPU, products with dense operands and softmax run on the GPU. Solvers and products of two
 * compressed matrices are computed on the host: operands are copied to the host, and results back. Errors:
 * `TH_ERR_SHAPE`, operands that do not fit each other; `TH_ERR_DTYPE`, positions that are not integers, or operands of
 * different dtypes; `TH_ERR_ARGUMENT`, row starts that decrease, or a column out of range.
 * @{
 */

/// Called after each step of an iteration with the step's number, from 1, and the norm of the residual divided by the
/// norm of the right-hand side. The function returns 0 to continue; any other status ends the iteration, and the
/// iterating call fails with that status.
typedef THStatus (*THProgressFunction)(int64_t iteration, double residual, void *context);

/// Compresses coordinates by rows: entry `k` of a matrix of `size` rows is in row `rows[k]` and column `columns[k]`,
/// both less than 2^32.
///
/// `crow` [size + 1] and `col` describe the distinct positions, each once, with ascending columns in each row. `order`
/// lists the entries sorted by position; entries of one position keep their order. `starts` has the start of each
/// position in `order`, followed by the number of entries. csrMatmul of `starts`, `order`, NULL and the values computes
/// the sum for each position. Computed on the host.
THStatus THTensor_csrCompress(THTensor *crow, THTensor *col, THTensor *starts, THTensor *order, const THTensor *rows,
                              const THTensor *columns, int64_t size);

/// `r = A @ m` for the matrix A [n x k] of compressed rows and a matrix `m` [k x p] or a vector [k]. If `values` is
/// NULL, each entry of A is 1, and each row of `r` is the sum of the rows of `m` that `col` lists.
THStatus THTensor_csrMatmul(THTensor *r, const THTensor *crow, const THTensor *col, const THTensor *values,
                            const THTensor *m);

/// `r = A^T @ m` for the transpose of the matrix A [n x columns] of compressed rows and a matrix `m` [n x p] or a
/// vector [n]. If `values` is NULL, each entry of A is 1.
THStatus THTensor_csrMatmulTransposed(THTensor *r, const THTensor *crow, const THTensor *col, const THTensor *values,
                                      const THTensor *m, int64_t columns);

/// `r[k] = sum of a[i] * b[j]`, the dot product of row `i` of `a` and row `j` of `b`, for each entry `k` of a pattern,
/// in row `i` and column `j`: the elements of `a @ b^T` at the entries of the pattern. `a` [n x p] and `b` [m x p] are
/// matrices; a vector counts as a matrix of one column.
THStatus THTensor_csrSampled(THTensor *r, const THTensor *crow, const THTensor *col, const THTensor *a,
                             const THTensor *b);

/// `r = e^x / sum of e^x` over the entries of each row: the softmax of floats. `crow` [rows + 1] has the starts of the
/// rows. Columns are not needed, because elements without an entry do not contribute.
THStatus THTensor_csrSoftmax(THTensor *r, const THTensor *crow, const THTensor *values);

/// `r = y * (g - sum of g * y)` over each row: the gradient of csrSoftmax, computed from its result `y` and the
/// gradient `g` of the result.
THStatus THTensor_csrSoftmaxGrad(THTensor *r, const THTensor *crow, const THTensor *g, const THTensor *y);

/// `r = the X with A X = b`, or with `transpose` of `A^T X = b`, for the `upper` or lower triangle of the square matrix
/// A [n x n] of compressed rows, and a matrix `b` [n x p] or a vector [n] of floats. With `unitriangular` the diagonal
/// counts as ones. Entries of the other triangle are ignored, as by trtrs. A diagonal element that is 0 or has no entry
/// is `TH_ERR_NUMERIC`, and the message names the row. Rows are solved one after the other; threads divide the columns
/// of `b`.
THStatus THTensor_csrTrtrs(THTensor *r, const THTensor *crow, const THTensor *col, const THTensor *values,
                           const THTensor *b, int upper, int transpose, int unitriangular);

/// `r = the X with A X = b`, or with `transpose` of `A^T X = b`, for the square matrix A [n x n] of compressed rows,
/// and a matrix `b` [n x p] or a vector [n] of float32 or float64.
///
/// A is factored by Cholesky if it is exactly symmetric and positive definite, else by LU with partial pivoting. Before
/// that, its columns are reordered so that the factors stay sparse: by minimum degree of A + A^T if most entries have a
/// counterpart across the diagonal, else of A^T A. Everything is computed in float64 on the host and rounded once. A
/// matrix that is singular or has infinities or NaN is `TH_ERR_NUMERIC`. A matrix counts as singular, too, if its
/// estimated reciprocal condition number is below 2e-15. The estimate does not depend on the scale of rows and columns.
THStatus THTensor_csrSolve(THTensor *r, const THTensor *crow, const THTensor *col, const THTensor *values,
                           const THTensor *b, int transpose);

/// `r = the x with A x = b` by conjugate gradients, preconditioned by the diagonal, for the symmetric positive definite
/// matrix A [n x n] of compressed rows and a vector `b` [n] of float32 or float64. Returns the number of steps; -1 on
/// error.
///
/// The iteration begins with `start` [n], or with zeros if `start` is NULL. It ends when the norm of `b - A x` is at
/// most `tol` times the norm of `b`, after `maxIter` steps, or when rounding errors of `x` keep the norm from falling
/// further, as with a `tol` of 0. The norm is computed in float64 from `x`. While it falls but is above `tol`, the
/// iteration restarts with `b - A x`. After each step `progress`, if not NULL, is called with the iteration's own
/// estimate of the norm, which does not include rounding errors of `x`. If `b` is 0, so is `r`.
///
/// `residual`, a float64, becomes the norm of `b - A x` divided by the norm of `b`. If this quotient is above `tol`,
/// `r` is the result of the last step. If `residual` is NULL, a quotient above `tol` is `TH_ERR_NUMERIC`. A matrix
/// found to be singular or not positive definite is always `TH_ERR_NUMERIC`.
int64_t THTensor_csrCg(THTensor *r, THTensor *residual, const THTensor *crow, const THTensor *col,
                       const THTensor *values, const THTensor *b, const THTensor *start, double tol, int64_t maxIter,
                       THProgressFunction progress, void *context);

/// `r` = the entries of A @ B, the product of two matrices of compressed rows, as a matrix of compressed rows with the
/// row starts `rcrow` and the columns `rcol`. B has `columns` columns. The entries of a row have ascending columns,
/// each once. The result has an entry wherever two entries are multiplied, even if their sum is 0.
///
/// Positions are int32 if all given positions are int32 and there are fewer than 2^31 entries; else they are int64.
/// Handles for positions are fresh, int64, or int32 if all positions fit. The cost of a row is one step for each
/// product of two entries.
THStatus THTensor_csrMatmulCsr(THTensor *r, THTensor *rcrow, THTensor *rcol, const THTensor *acrow,
                               const THTensor *acol, const THTensor *avalues, const THTensor *bcrow,
                               const THTensor *bcol, const THTensor *bvalues, int64_t columns);

/// `r[k]` = element [i, j] of A @ B for each entry `k` of a pattern, in row `i` and column `j`: csrSampled for matrices
/// of compressed rows. With `transposeA` A^T @ B is computed, with `transposeB` A @ B^T; both together are
/// `TH_ERR_UNSUPPORTED`. B, before transposition, has `columns` columns.
THStatus THTensor_csrSampledCsr(THTensor *r, const THTensor *crow, const THTensor *col, const THTensor *acrow,
                                const THTensor *acol, const THTensor *avalues, const THTensor *bcrow,
                                const THTensor *bcol, const THTensor *bvalues, int64_t columns, int transposeA,
                                int transposeB);

/** @} */

/* ==================================================================================================================
 *
 *     30. Linear algebra
 *
 * ================================================================================================================== */

/**
 * @defgroup linear_algebra Linear algebra
 *
 * Matrices are the last two dimensions; the dimensions before them are a batch. The batches of two operands broadcast.
 * Operands are float32 or float64 and have the same dtype, which is also the dtype of the result. A right-hand side may
 * be a vector, or a batch of vectors if its shape is the shape of the matrices without their last dimension. Results
 * are row-major, as always; packed results have LAPACK's format, and pivots count from 1. A matrix that is singular,
 * not positive definite or, if an iteration is needed, not finite is `TH_ERR_NUMERIC`; the message has LAPACK's number
 * and the index of the matrix in the batch. A result that is NULL is not computed. Other errors: `TH_ERR_SHAPE`,
 * operands that do not fit each other; `TH_ERR_DTYPE`, other dtypes; `TH_ERR_ARGUMENT`, invalid pivots or letters;
 * `TH_ERR_UNSUPPORTED`, more than 2^31 - 1 rows or columns.
 * @{
 */

/// A norm of matrices.
typedef enum THMatrixNorm {
    TH_NORM_FRO = 0,             ///< The square root of the sum of squares.
    TH_NORM_NUC = 1,             ///< The sum of the singular values.
    TH_NORM_1 = 2,               ///< The greatest sum of magnitudes of a column.
    TH_NORM_MINUS_1 = 3,         ///< The least sum of magnitudes of a column.
    TH_NORM_2 = 4,               ///< The greatest singular value.
    TH_NORM_MINUS_2 = 5,         ///< The least singular value.
    TH_NORM_INF = 6,             ///< The greatest sum of magnitudes of a row.
    TH_NORM_MINUS_INF = 7        ///< The least sum of magnitudes of a row.
} THMatrixNorm;

/// `rb = the X with a X = b` for square `a`; `ra = the factors of a`, packed as by btrifact. Either may be NULL. The
/// method is LU with partial pivoting (LAPACK's gesv); a singular `a` is an error. The pivots are not returned. To
/// reuse the factors, call btrifact and btrisolve.
THStatus THTensor_gesv(THTensor *rb, THTensor *ra, const THTensor *b, const THTensor *a);

/// gesv by PyTorch's name: `x = the X with a X = b`, `lu = the factors of a`.
THStatus THTensor_solve(THTensor *x, THTensor *lu, const THTensor *b, const THTensor *a);

/// `rb = the X with a X = b`, or with `transpose` of `a^T X = b`, for the `upper` or lower triangle of square `a`. With
/// `unitriangular` the diagonal counts as ones. The other elements of `a` are ignored. `ra = a`. Either result may be
/// NULL. A 0 on the diagonal is an error.
THStatus THTensor_trtrs(THTensor *rb, THTensor *ra, const THTensor *b, const THTensor *a, int upper, int transpose,
                        int unitriangular);

/// `rb = the X of least |b - a X|` for `a` [m x n] of full rank with m >= n; with m < n the X of least norm with `a X =
/// b`. X is [n x k] for `b` [m x k]; norms are per column. `ra` = the packed QR factorization of `a`, or for m < n its
/// LQ factorization (LAPACK's gels). Either may be NULL. An exact 0 on the diagonal of R is an error. Use lstsq for
/// matrices that may not have full rank.
THStatus THTensor_gels(THTensor *rb, THTensor *ra, const THTensor *b, const THTensor *a);

/// `x = the X of least norm among those with least |b - a X|`, for `a` [m x n] of any rank, computed from its singular
/// values `s`, in descending order. Singular values up to `rcond` times the greatest count as 0; a negative `rcond`
/// means the dtype's epsilon times the greater of m and n. `rank`, int64, is the number of the other singular values.
/// Each result may be NULL.
THStatus THTensor_lstsq(THTensor *x, THTensor *rank, THTensor *s, const THTensor *b, const THTensor *a, double rcond);

/// `ra = L and U of a = P L U`, packed: U, and L below its diagonal. The diagonal of L is 1. `a` is any [m x n].
///
/// `rpivots`, int32 [.. x min(m, n)]: row i was exchanged with row `rpivots[i]`, counted from 1, for i in ascending
/// order. `rinfo`, int32: for each matrix the first k for which U(k, k) is 0, or 0 if there is none. If `rinfo` is
/// NULL, a singular matrix is an error. `pivot` 0 is `TH_ERR_UNSUPPORTED`.
THStatus THTensor_btrifact(THTensor *ra, THTensor *rpivots, THTensor *rinfo, int pivot, const THTensor *a);

/// `rb = the X with a X = b` for the factors `atf` and `pivots`, int32 or int64, that btrifact computed. If U has a 0
/// on its diagonal, elements are divided by 0.
THStatus THTensor_btrisolve(THTensor *rb, const THTensor *b, const THTensor *atf, const THTensor *pivots);

/// `a = p l u` with a permutation `p` [m x m], a lower triangular `l` [m x k] with ones on the diagonal, and an upper
/// triangular `u` [k x n], where k is the lesser of m and n. Each may be NULL. btrifact gives the packed factors.
THStatus THTensor_lu(THTensor *p, THTensor *l, THTensor *u, const THTensor *a);

/// `ra = the inverse of a`; a singular `a` is an error.
THStatus THTensor_getri(THTensor *ra, const THTensor *a);

/// getri by PyTorch's name: `r = the inverse of t`.
THStatus THTensor_inverse(THTensor *r, const THTensor *t);

/// `r = the determinant of each square matrix of t`; a single matrix gives a 0-d result. The product is computed in
/// float64 and rounded once. The determinant of a 0 x 0 matrix is 1.
THStatus THTensor_det(THTensor *r, const THTensor *t);

/// `sign = 1, -1 or 0, logabsdet = log |det t|` of each square matrix; use it where det would overflow or underflow.
/// Either may be NULL.
THStatus THTensor_slogdet(THTensor *sign, THTensor *logabsdet, const THTensor *t);

/// `r = log det t` of each square matrix: NaN where the determinant is negative, -inf where it is 0.
THStatus THTensor_logdet(THTensor *r, const THTensor *t);

/// `ra = L with a = L L^T`, or with `upper` U with `a = U^T U`, of symmetric positive definite `a` (Cholesky). Only
/// this triangle of `a` is read; the other triangle of `ra` is zeros. The error's message names the leading minor that
/// is not positive definite.
THStatus THTensor_potrf(THTensor *ra, const THTensor *a, int upper);

/// potrf by PyTorch's name: `r = L with t = L L^T`, or with `upper` U with `t = U^T U`.
THStatus THTensor_cholesky(THTensor *r, const THTensor *t, int upper);

/// `rb = the X with L L^T X = b`, or with `upper` of `U^T U X = b`, for a factor `a` computed by potrf.
THStatus THTensor_potrs(THTensor *rb, const THTensor *b, const THTensor *a, int upper);

/// `ra = the inverse of L L^T`, or with `upper` of `U^T U`, for a factor `a` computed by potrf.
THStatus THTensor_potri(THTensor *ra, const THTensor *a, int upper);

/// `P^T a P = L L^T`, or with `upper` `U^T U`, of symmetric positive semidefinite `a`, with the greatest pivot first.
/// `ra` is the factor, and `rpiv[i]`, int32, is the column of `a`, counted from 1, that became column i of `P^T a P`.
///
/// `rrank`, int64, which may be NULL, is the number of pivots that are greater than `tol` and greater than n *
/// epsilon * the greatest diagonal element. The columns of L after the first `rrank` are zeros. A diagonal element that
/// is negative or NaN is an error.
THStatus THTensor_pstrf(THTensor *ra, THTensor *rpiv, THTensor *rrank, const THTensor *a, int upper, double tol);

/// `a = rq rr` for [m x n]: `rq` has orthonormal columns, and `rr` is upper triangular. With `some` they are [m x k]
/// and [k x n], where k is the lesser of m and n; else they are [m x m] and [m x n]. Signs are LAPACK's: the diagonal
/// of `rr` may be negative. Either may be NULL.
THStatus THTensor_qr(THTensor *rq, THTensor *rr, const THTensor *a, int some);

/// `ra = R of a = Q R`, and below its diagonal the reflectors whose product is Q = H(1) H(2) ... H(k). `H(i) = 1 -
/// rtau[i] v v^T`, where v has zeros before row i, 1 in row i, and then the elements of column i of `ra` below the
/// diagonal.
THStatus THTensor_geqrf(THTensor *ra, THTensor *rtau, const THTensor *a);

/// `ra = the first n columns of Q` for the reflectors packed in `a` [m x n] and `tau`, as geqrf computes them. There
/// may be fewer than n reflectors.
THStatus THTensor_orgqr(THTensor *ra, const THTensor *a, const THTensor *tau);

/// `ra = Q c`, or `c Q` if `left` is 0, for the square Q of the reflectors packed in `a` and `tau`. With `transpose` Q
/// is replaced by Q^T.
THStatus THTensor_ormqr(THTensor *ra, const THTensor *a, const THTensor *tau, const THTensor *c, int left,
                        int transpose);

/// `re = the eigenvalues of symmetric a`, ascending, [n]; `rv`, which may be NULL, has orthonormal eigenvectors as
/// columns. Only the `upper` or lower triangle of `a` is read. The signs of eigenvectors are arbitrary. The errors of
/// eigenvalues are a few epsilon times the greatest eigenvalue by magnitude, so that small eigenvalues of a graded
/// matrix have fewer correct digits.
THStatus THTensor_syev(THTensor *re, THTensor *rv, const THTensor *a, int upper);

/// syev by PyTorch's name: `e = the eigenvalues of symmetric t`, `v = the eigenvectors`.
THStatus THTensor_symeig(THTensor *e, THTensor *v, const THTensor *t, int upper);

/// `re = the eigenvalues of a`, [n x 2]: real and imaginary parts. Conjugate pairs are adjacent, the value with the
/// positive imaginary part first.
///
/// `rv`, which may be NULL: right eigenvectors of norm 1 as columns. For a conjugate pair in rows i and i + 1 of `re`,
/// the eigenvectors are `rv[:, i] + i rv[:, i + 1]` and its conjugate, rotated so that the greatest element is real.
/// Residuals are a few epsilon times the norm of `a`. As with LAPACK, they are larger if the scales of rows or columns
/// of `a` differ by 1e6 and more. Imaginary parts of pairs that underflow become the least subnormal number. Matrices
/// on a GPU are copied to the host, where the iteration runs, and the results back.
THStatus THTensor_geev(THTensor *re, THTensor *rv, const THTensor *a);

/// geev by PyTorch's name: `e = the eigenvalues of t`, `v = the eigenvectors`.
THStatus THTensor_eig(THTensor *e, THTensor *v, const THTensor *t);

/// `a = ru diag(rs) rv^T` for [m x n]: `rs` [k] in descending order, where k is the lesser of m and n. `ru` and `rv`
/// have orthonormal columns. With `some` they are [m x k] and [n x k], else [m x m] and [n x n]. `rv` is not
/// transposed. Each may be NULL; singular values alone take less time. Errors are a few epsilon times the greatest
/// singular value.
THStatus THTensor_gesvd(THTensor *ru, THTensor *rs, THTensor *rv, const THTensor *a, int some);

/// gesvd by PyTorch's name: `t = u diag(s) v^T`.
THStatus THTensor_svd(THTensor *u, THTensor *s, THTensor *v, const THTensor *t, int some);

/// `r = the pseudoinverse of t`, [n x m] for [m x n]. Singular values up to `rcond` times the greatest count as 0; a
/// negative `rcond` means the dtype's epsilon times the greater of m and n.
THStatus THTensor_pinverse(THTensor *r, const THTensor *t, double rcond);

/// `r = the rank of each matrix`, int64: the number of singular values greater than `tol`. If `t` is `symmetric`, of
/// which the lower triangle is read, eigenvalues by magnitude are counted. A negative `tol` means the greatest of these
/// values times epsilon times the greater of m and n.
THStatus THTensor_matrixRank(THTensor *r, const THTensor *t, double tol, int symmetric);

/// `r = the norm p of each matrix`; with `keepdim` both dimensions remain with size 1.
THStatus THTensor_matrixNorm(THTensor *r, const THTensor *t, THMatrixNorm p, int keepdim);

/// `r = the norm p of each matrix times the norm p of its inverse`; infinite for a singular matrix. With `TH_NORM_2` it
/// is the greatest singular value divided by the least, with `TH_NORM_MINUS_2` the reciprocal, for any [m x n]. For
/// other norms matrices are square.
THStatus THTensor_cond(THTensor *r, const THTensor *t, THMatrixNorm p);

/// `r = 1 + t + t t / 2 + t t t / 6 + ...`, the exponential of each square matrix. The method is N. J. Higham, The
/// scaling and squaring method for the matrix exponential revisited (2005).
THStatus THTensor_matrixExp(THTensor *r, const THTensor *t);

/** @} */

/* ==================================================================================================================
 *
 *     31. Convolution
 *
 * ================================================================================================================== */

/**
 * @defgroup convolution Convolution
 *
 * Images have 1 to 3 dimensions, preceded by a dimension of channels and an optional batch dimension: `[batch x]
 * channels x sizes`. `weight` is `outputs x (inputs / groups) x kernel`, and in a transposed convolution `inputs x
 * (outputs / groups) x kernel`. Lists of strides, paddings and dilations have `ndim` entries, one for each dimension of
 * an image, or a single entry for all dimensions. NULL means strides and dilations of 1 and no padding. All tensors
 * have one dtype, which is not Bool. 16-bit floats are summed in float32; integers wrap. Padding may be left out of a
 * sum instead of counting as 0: if an infinite weight meets padding, the result may be NaN or not. Errors:
 * `TH_ERR_SHAPE`, images, weights and results that do not fit each other; `TH_ERR_ARGUMENT`, lists of the wrong length,
 * and strides, paddings, dilations and groups out of range; `TH_ERR_DTYPE`, tensors of different dtypes or of Bool.
 * @{
 */

/// `r[n][o][y] = bias[o] + sum over c, k of weight[o][c][k] * input[n][c][y * stride + k * dilation - padding]`, with
/// zeros in the padding, and separately for each of `groups` groups of channels. The dimensions of `weight` choose
/// between conv1d, conv2d and conv3d.
///
/// Each dimension of the result has `(size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1` elements, rounded
/// down; an empty result is an error. `bias` may be NULL. With `transposed` the function computes convTranspose2d or
/// its forms of 1 and 3 dimensions; `outputPadding` is used only then.
THStatus THTensor_convolution(THTensor *r, const THTensor *input, const THTensor *weight, const THTensor *bias,
                              int ndim, const int64_t *stride, const int64_t *padding, const int64_t *dilation,
                              int transposed, const int64_t *outputPadding, int64_t groups);

/// convolution of images with one dimension.
THStatus THTensor_conv1d(THTensor *r, const THTensor *input, const THTensor *weight, const THTensor *bias, int ndim,
                         const int64_t *stride, const int64_t *padding, const int64_t *dilation, int64_t groups);

/// convolution of images with two dimensions.
THStatus THTensor_conv2d(THTensor *r, const THTensor *input, const THTensor *weight, const THTensor *bias, int ndim,
                         const int64_t *stride, const int64_t *padding, const int64_t *dilation, int64_t groups);

/// convolution of images with three dimensions.
THStatus THTensor_conv3d(THTensor *r, const THTensor *input, const THTensor *weight, const THTensor *bias, int ndim,
                         const int64_t *stride, const int64_t *padding, const int64_t *dilation, int64_t groups);

/// convTranspose2d of images with one dimension.
THStatus THTensor_convTranspose1d(THTensor *r, const THTensor *input, const THTensor *weight, const THTensor *bias,
                                  int ndim, const int64_t *stride, const int64_t *padding, const int64_t *outputPadding,
                                  int64_t groups, const int64_t *dilation);

/// Spreads each element of the input over a window of the result: `input[n][c][y] * weight[c][o][k]` is added to
/// `r[n][o][y * stride + k * dilation - padding]` for all `c`, `y` and `k`, and `bias[o]` to each element.
///
/// Each dimension of the result has `(size - 1) * stride - 2 * padding + dilation * (kernel - 1) + outputPadding + 1`
/// elements. conv2d maps several shapes to the shape of `input`, and `outputPadding` chooses among them.
/// `outputPadding` is less than the stride or the dilation, and NULL means 0.
THStatus THTensor_convTranspose2d(THTensor *r, const THTensor *input, const THTensor *weight, const THTensor *bias,
                                  int ndim, const int64_t *stride, const int64_t *padding, const int64_t *outputPadding,
                                  int64_t groups, const int64_t *dilation);

/// convTranspose2d of images with three dimensions.
THStatus THTensor_convTranspose3d(THTensor *r, const THTensor *input, const THTensor *weight, const THTensor *bias,
                                  int ndim, const int64_t *stride, const int64_t *padding, const int64_t *outputPadding,
                                  int64_t groups, const int64_t *dilation);

/// `r = gradient of the input of a convolution`, computed from the gradient of its result. Only the shape of `input` is
/// used. The other arguments are as for the convolution.
THStatus THTensor_convolutionGradInput(THTensor *r, const THTensor *gradOutput, const THTensor *weight,
                                       const THTensor *input, int ndim, const int64_t *stride, const int64_t *padding,
                                       const int64_t *dilation, int transposed, const int64_t *outputPadding,
                                       int64_t groups);

/// `r = gradient of the weight of a convolution`, summed over the batch, computed from its input and the gradient of
/// its result. The other arguments are as for the convolution. Only the shape of `weight` is used.
THStatus THTensor_convolutionGradWeight(THTensor *r, const THTensor *gradOutput, const THTensor *input,
                                        const THTensor *weight, int ndim, const int64_t *stride, const int64_t *padding,
                                        const int64_t *dilation, int transposed, const int64_t *outputPadding,
                                        int64_t groups);

/// `r = gradient of the bias of a convolution`: the gradient of its result, summed over the batch and over the
/// `imageDims` dimensions of the images.
THStatus THTensor_convolutionGradBias(THTensor *r, const THTensor *gradOutput, int imageDims);

/// conv1d with the same `stride` and `padding` in each dimension, dilation 1 and one group, as in most nets. `bias` may
/// be NULL.
THStatus THTensor_conv1dUniform(THTensor *r, const THTensor *input, const THTensor *weight, const THTensor *bias,
                                int64_t stride, int64_t padding);

/// conv2d with the same `stride` and `padding` in each dimension, dilation 1 and one group, as in most nets. `bias` may
/// be NULL.
THStatus THTensor_conv2dUniform(THTensor *r, const THTensor *input, const THTensor *weight, const THTensor *bias,
                                int64_t stride, int64_t padding);

/// conv3d with the same `stride` and `padding` in each dimension, dilation 1 and one group, as in most nets. `bias` may
/// be NULL.
THStatus THTensor_conv3dUniform(THTensor *r, const THTensor *input, const THTensor *weight, const THTensor *bias,
                                int64_t stride, int64_t padding);

/// convTranspose1d with the same `stride` and `padding` in each dimension, dilation 1, no output padding and one group.
/// `bias` may be NULL.
THStatus THTensor_convTranspose1dUniform(THTensor *r, const THTensor *input, const THTensor *weight,
                                         const THTensor *bias, int64_t stride, int64_t padding);

/// convTranspose2d with the same `stride` and `padding` in each dimension, dilation 1, no output padding and one group.
/// `bias` may be NULL.
THStatus THTensor_convTranspose2dUniform(THTensor *r, const THTensor *input, const THTensor *weight,
                                         const THTensor *bias, int64_t stride, int64_t padding);

/// convTranspose3d with the same `stride` and `padding` in each dimension, dilation 1, no output padding and one group.
/// `bias` may be NULL.
THStatus THTensor_convTranspose3dUniform(THTensor *r, const THTensor *input, const THTensor *weight,
                                         const THTensor *bias, int64_t stride, int64_t padding);

/// convolutionGradInput of conv1dUniform, conv2dUniform or conv3dUniform: the gradient of `input`, of which only the
/// shape is used.
THStatus THTensor_convolutionGradInputUniform(THTensor *r, const THTensor *gradOutput, const THTensor *weight,
                                              const THTensor *input, int64_t stride, int64_t padding);

/// convolutionGradWeight of conv1dUniform, conv2dUniform or conv3dUniform: the gradient of `weight`, of which only the
/// shape is used.
THStatus THTensor_convolutionGradWeightUniform(THTensor *r, const THTensor *gradOutput, const THTensor *input,
                                               const THTensor *weight, int64_t stride, int64_t padding);

/// `r[n][c * taps + k][y] = t[n][c][y * stride + k * dilation - padding]`, with zeros in the padding: the windows of
/// images as columns (PyTorch's unfold).
///
/// `kernel` has an entry for each of the `ndim` dimensions of an image, and `taps` is the product of these entries. `k`
/// and `y` are counted in row-major order.
THStatus THTensor_im2col(THTensor *r, const THTensor *t, int ndim, const int64_t *kernel, const int64_t *stride,
                         const int64_t *padding, const int64_t *dilation);

/// The transpose of im2col: each element of `r` is the sum of the elements of `t` that im2col would copy from it
/// (PyTorch's fold of images). `r` consists of images of the sizes `imageSizes`.
THStatus THTensor_col2im(THTensor *r, const THTensor *t, int ndim, const int64_t *imageSizes, const int64_t *kernel,
                         const int64_t *stride, const int64_t *padding, const int64_t *dilation);

/// `r = beta * r + alpha * (t * k)`: the plane `t` convolved with the kernel `k`, both matrices. The following holds
/// for all of Torch7's convolutions.
///
/// `vf` is `"V"` for valid or `"F"` for full. Valid: `r[y][x] = sum of t[y * srow + i][x * scol + j] * k[i][j]`, with
/// `(size - kernel) / stride + 1` elements in each dimension. Full: `t[y][x] * k[i][j]` is added to `r[y * srow +
/// i][x * scol + j]`, with `(size - 1) * stride + kernel` elements in each dimension. `xc` is `"X"` for
/// cross-correlation or `"C"` for convolution: the kernel is reversed by `"C"` with `"V"` and by `"X"` with `"F"`. Only
/// the first letter counts. If `r` has another shape than the result, or `beta` is 0, the elements of `r` are not read.
/// Dtypes are as for convolution.
THStatus THTensor_conv2Dmul(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k, int64_t srow,
                            int64_t scol, const char *vf, const char *xc);

/// conv2Dmul of each plane with the kernel at the same index: `r[p] = beta * r[p] + alpha * (t[p] * k[p])`.
THStatus THTensor_conv2Dcmul(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k, int64_t srow,
                             int64_t scol, const char *vf, const char *xc);

/// conv2Dmul of each plane with each kernel, as an outer product: `r[o][p] = beta * r[o][p] + alpha * (t[p] * k[o])`.
THStatus THTensor_conv2Dger(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k, int64_t srow,
                            int64_t scol, const char *vf, const char *xc);

/// conv2Dger with `srow` and `scol` as the distances of taps: `r[o][p][y][x] = beta * r[o][p][y][x] + alpha * sum of
/// t[p][y + srow * i][x + scol * j] * k[o][i][j]`, with `size - (kernel - 1) * stride` elements in each dimension. This
/// is the gradient of the kernels of conv2Dmv, computed from planes and the gradient of the result.
THStatus THTensor_conv2DRevger(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k,
                               int64_t srow, int64_t scol);

/// The sum of conv2DRevger over a batch, the first dimension of `t` and `k`.
THStatus THTensor_conv2DRevgerm(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k,
                                int64_t srow, int64_t scol);

/// conv2Dmul as a matrix of kernels times a vector of planes: `r[o] = beta * r[o] + alpha * sum over p of t[p] *
/// k[o][p]`.
THStatus THTensor_conv2Dmv(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k, int64_t srow,
                           int64_t scol, const char *vf, const char *xc);

/// conv2Dmv for each entry of a batch, the first dimension of `t` and `r`.
THStatus THTensor_conv2Dmm(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k, int64_t srow,
                           int64_t scol, const char *vf, const char *xc);

/// conv2Dmul by a map: for each row `n` of `map`, the pair `from` and `to`, `alpha * (t[from] * k[n])` is added to
/// `beta * r[to]`. Planes are counted from 1, as in Torch7. `map`, int64 or int32, has a row for each kernel, and `r`
/// has as many planes as there are kernels. All planes of `r` are multiplied by `beta` first.
THStatus THTensor_conv2Dmap(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k,
                            const THTensor *map, int64_t srow, int64_t scol, const char *vf, const char *xc);

/// `r = beta * r + alpha * (t * k)`: the volume `t` convolved with the kernel `k`, both with three dimensions. `vf` and
/// `xc` are as for conv2Dmul.
THStatus THTensor_conv3Dmul(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k,
                            int64_t sdepth, int64_t srow, int64_t scol, const char *vf, const char *xc);

/// `r[p] = beta * r[p] + alpha * (t[p] * k[p])`: each volume `t[p]` convolved with the kernel `k[p]`. `vf` and `xc` are
/// as for conv2Dmul.
THStatus THTensor_conv3Dcmul(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k,
                             int64_t sdepth, int64_t srow, int64_t scol, const char *vf, const char *xc);

/// `r[o][p] = beta * r[o][p] + alpha * (t[p] * k[o])`: each volume `t[p]` convolved with each kernel `k[o]`. `vf` and
/// `xc` are as for conv2Dmul.
THStatus THTensor_conv3Dger(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k,
                            int64_t sdepth, int64_t srow, int64_t scol, const char *vf, const char *xc);

/// conv3Dger with `sdepth`, `srow` and `scol` as the distances of taps, and `size - (kernel - 1) * stride` elements in
/// each dimension. This is the gradient of the kernels of conv3Dmv, computed from volumes and the gradient of the
/// result.
THStatus THTensor_conv3DRevger(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k,
                               int64_t sdepth, int64_t srow, int64_t scol);

/// `r[o] = beta * r[o] + alpha * sum over p of t[p] * k[o][p]` for volumes `t[p]`. `vf` and `xc` are as for conv2Dmul.
THStatus THTensor_conv3Dmv(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k, int64_t sdepth,
                           int64_t srow, int64_t scol, const char *vf, const char *xc);

/// For each row `n` of `map`, the pair `from` and `to`, adds `alpha * (t[from] * k[n])` to the volume `beta * r[to]`.
/// `map` is as for conv2Dmap, `vf` and `xc` as for conv2Dmul.
THStatus THTensor_conv3Dmap(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k,
                            const THTensor *map, int64_t sdepth, int64_t srow, int64_t scol, const char *vf,
                            const char *xc);

/** @} */

/* ==================================================================================================================
 *
 *     32. Pooling
 *
 * ================================================================================================================== */

/**
 * @defgroup pooling Pooling
 *
 * An input has the shape `[batch x] channels x sizes`, where the batch is optional and `sizes` are the 1 to 3
 * dimensions of an image. A list has `ndim` entries: one for each dimension of an image, or one for all. `stride`,
 * `padding` and `dilation` may be NULL; the defaults are `kernel`, 0 and 1. A window covers `reach = dilation *
 * (kernel - 1) + 1` elements. Each image dimension has `(size + 2 * padding - reach) / stride + 1` windows, rounded
 * down. With `ceilMode` the number is rounded up, but no window begins after the image and its padding in front.
 * `padding` is at most `reach / 2`. Errors: `TH_ERR_SHAPE`, windows that do not fit the image; `TH_ERR_ARGUMENT`, a
 * list of the wrong length, or a number or index out of range; `TH_ERR_DTYPE`, a dtype that the pooling does not
 * support, or indices that are not int64.
 * @{
 */

/// maxPool2d for images with one dimension.
THStatus THTensor_maxPool1d(THTensor *r, THTensor *indices, const THTensor *input, int ndim, const int64_t *kernel,
                            const int64_t *stride, const int64_t *padding, const int64_t *dilation, int ceilMode);

/// `r = greatest element of each window`; `indices` = the int64 index of this element within its channel, in row-major
/// order, or NULL.
///
/// The first of equal elements is chosen. NaN is greater than every number, and of several NaNs the last is chosen. A
/// window without elements of the image gives the least number of the dtype and the index -1. Every dtype except Bool.
THStatus THTensor_maxPool2d(THTensor *r, THTensor *indices, const THTensor *input, int ndim, const int64_t *kernel,
                            const int64_t *stride, const int64_t *padding, const int64_t *dilation, int ceilMode);

/// maxPool2d for images with three dimensions.
THStatus THTensor_maxPool3d(THTensor *r, THTensor *indices, const THTensor *input, int ndim, const int64_t *kernel,
                            const int64_t *stride, const int64_t *padding, const int64_t *dilation, int ceilMode);

/// `r = gradient of the input of a max pooling`, adaptive or not, from the gradient of the result and the indices of
/// the pooling. Each element of `gradOutput` is added to `r` at its index. The index -1, of a window without elements,
/// is skipped; any other index outside the image is an error. Only the shape of `input` is used; its images have
/// `imageDims` dimensions.
THStatus THTensor_maxPoolGradInput(THTensor *r, const THTensor *gradOutput, const THTensor *indices,
                                   const THTensor *input, int imageDims);

/// `r[indices[i]] = t[i]`, and 0 elsewhere: a partial inverse of a max pooling. The images of `r` have the `ndim` sizes
/// `imageSizes`. If an index occurs several times, the last element wins. An index outside the image is an error.
THStatus THTensor_maxUnpool(THTensor *r, const THTensor *t, const THTensor *indices, int ndim,
                            const int64_t *imageSizes);

/// avgPool2d for images with one dimension.
THStatus THTensor_avgPool1d(THTensor *r, const THTensor *input, int ndim, const int64_t *kernel, const int64_t *stride,
                            const int64_t *padding, int ceilMode, int countIncludePad, int64_t divisor);

/// `r = mean of each window`: the sum of the window's elements in the image, divided by their number. With
/// `countIncludePad` the divisor also counts the elements in the padding. A `divisor` other than 0 replaces either
/// number. Floats only; 16-bit floats are summed in float32.
THStatus THTensor_avgPool2d(THTensor *r, const THTensor *input, int ndim, const int64_t *kernel, const int64_t *stride,
                            const int64_t *padding, int ceilMode, int countIncludePad, int64_t divisor);

/// avgPool2d for images with three dimensions.
THStatus THTensor_avgPool3d(THTensor *r, const THTensor *input, int ndim, const int64_t *kernel, const int64_t *stride,
                            const int64_t *padding, int ceilMode, int countIncludePad, int64_t divisor);

/// `r = gradient of the input of avgPool1d, avgPool2d or avgPool3d`, from the gradient of the result. Only the shape of
/// `input` is used. `kernel` has an entry for each dimension of the images. `stride`, `padding`, `ceilMode`,
/// `countIncludePad` and `divisor` are the arguments of the pooling.
THStatus THTensor_avgPoolGradInput(THTensor *r, const THTensor *gradOutput, const THTensor *input, int ndim,
                                   const int64_t *kernel, const int64_t *stride, const int64_t *padding, int ceilMode,
                                   int countIncludePad, int64_t divisor);

/// maxPool1d with the same `kernel`, `stride` and `padding` in each dimension, dilation 1 and without `ceilMode`.
/// `indices` may be NULL.
THStatus THTensor_maxPool1dUniform(THTensor *r, THTensor *indices, const THTensor *input, int64_t kernel,
                                   int64_t stride, int64_t padding);

/// maxPool2d with the same `kernel`, `stride` and `padding` in each dimension, dilation 1 and without `ceilMode`.
/// `indices` may be NULL.
THStatus THTensor_maxPool2dUniform(THTensor *r, THTensor *indices, const THTensor *input, int64_t kernel,
                                   int64_t stride, int64_t padding);

/// maxPool3d with the same `kernel`, `stride` and `padding` in each dimension, dilation 1 and without `ceilMode`.
/// `indices` may be NULL.
THStatus THTensor_maxPool3dUniform(THTensor *r, THTensor *indices, const THTensor *input, int64_t kernel,
                                   int64_t stride, int64_t padding);

/// avgPool1d with the same `kernel`, `stride` and `padding` in each dimension, with `countIncludePad` and without
/// `ceilMode`.
THStatus THTensor_avgPool1dUniform(THTensor *r, const THTensor *input, int64_t kernel, int64_t stride, int64_t padding);

/// avgPool2d with the same `kernel`, `stride` and `padding` in each dimension, with `countIncludePad` and without
/// `ceilMode`.
THStatus THTensor_avgPool2dUniform(THTensor *r, const THTensor *input, int64_t kernel, int64_t stride, int64_t padding);

/// avgPool3d with the same `kernel`, `stride` and `padding` in each dimension, with `countIncludePad` and without
/// `ceilMode`.
THStatus THTensor_avgPool3dUniform(THTensor *r, const THTensor *input, int64_t kernel, int64_t stride, int64_t padding);

/// avgPoolGradInput for avgPool1dUniform, avgPool2dUniform and avgPool3dUniform. Only the shape of `input` is used; its
/// images have `imageDims` dimensions.
THStatus THTensor_avgPoolGradInputUniform(THTensor *r, const THTensor *gradOutput, const THTensor *input, int imageDims,
                                          int64_t kernel, int64_t stride, int64_t padding);

/// adaptiveMaxPool2d for images with one dimension.
THStatus THTensor_adaptiveMaxPool1d(THTensor *r, THTensor *indices, const THTensor *input, int ndim,
                                    const int64_t *sizes);

/// `r = greatest element of each window`, where `sizes` are the numbers of windows: one for each dimension of an image,
/// or one for all. -1 gives as many windows as the dimension has elements. Window `i` of `n` covers the elements from
/// `i * size / n`, rounded down, to `(i + 1) * size / n`, rounded up. Otherwise as maxPool2d.
THStatus THTensor_adaptiveMaxPool2d(THTensor *r, THTensor *indices, const THTensor *input, int ndim,
                                    const int64_t *sizes);

/// adaptiveMaxPool2d for images with three dimensions.
THStatus THTensor_adaptiveMaxPool3d(THTensor *r, THTensor *indices, const THTensor *input, int ndim,
                                    const int64_t *sizes);

/// adaptiveAvgPool2d for images with one dimension.
THStatus THTensor_adaptiveAvgPool1d(THTensor *r, const THTensor *input, int ndim, const int64_t *sizes);

/// `r = mean of each window`; the windows are as for adaptiveMaxPool2d. Floats only.
THStatus THTensor_adaptiveAvgPool2d(THTensor *r, const THTensor *input, int ndim, const int64_t *sizes);

/// adaptiveAvgPool2d for images with three dimensions.
THStatus THTensor_adaptiveAvgPool3d(THTensor *r, const THTensor *input, int ndim, const int64_t *sizes);

/// `r = gradient of the input of adaptiveAvgPool1d, adaptiveAvgPool2d or adaptiveAvgPool3d`, from the gradient of the
/// result. Only the shape of `input` is used; its images have `imageDims` dimensions.
THStatus THTensor_adaptiveAvgPoolGradInput(THTensor *r, const THTensor *gradOutput, const THTensor *input,
                                           int imageDims);

/** @} */

/* ==================================================================================================================
 *
 *     33. Resampling of images
 *
 * ================================================================================================================== */

/**
 * @defgroup resampling_of_images Resampling of images
 *
 * Images have the shape `[batch x] channels x sizes`, where the batch is optional and `sizes` are 1 to 3 dimensions.
 * The dimensions are resampled one after the other, in float32 or float64. Result `i` along a dimension is at the place
 * `x = (i + 0.5) * scale - 0.5` in `t`, with `scale = size of t / size of r`; with `alignCorners`, at `x = i * (size of
 * t - 1) / (size of r - 1)`. `TH_RESAMPLE_LINEAR` weights the two pixels next to `x` by `1 - distance`.
 * `TH_RESAMPLE_CUBIC` weights four pixels by the cubic convolution of R. Keys, Cubic convolution interpolation for
 * digital image processing, 1981, with parameter -0.75. Pixels outside the image are those at its edge. With
 * `antialias`, an image that becomes smaller has weights over all pixels within `scale` (linear) or `2 * scale` (cubic,
 * with parameter -0.5) of `x`, as in Pillow. Floats, and uint8 for results that are not differentiated: those are
 * rounded to the nearest integer, and limited to 0 to 255. 16-bit floats are rounded once, at the end. Errors:
 * `TH_ERR_SHAPE`, images without pixels, or of another number of dimensions; `TH_ERR_ARGUMENT`, sizes below 1, an
 * unknown method, or `alignCorners` or `antialias` for a method other than linear and cubic; `TH_ERR_DTYPE`, integers
 * other than uint8.
 * @{
 */

/// The method that computes the pixels of an image of another size.
typedef enum THResampling {
    TH_RESAMPLE_NEAREST = 0,     ///< The pixel at `floor(i * scale)`, with `scale = size of t / size of r`.
    TH_RESAMPLE_NEAREST_EXACT = 1, ///< The pixel at `floor((i + 0.5) * scale)`, as Pillow and scikit-image choose it.
    /// Linear interpolation along each dimension: bilinear for two dimensions, trilinear for three.
    TH_RESAMPLE_LINEAR = 2,
    TH_RESAMPLE_CUBIC = 3,       ///< Cubic convolution of four pixels along each dimension: bicubic for two dimensions.
    /// The mean of the pixels that a result covers, entirely or partly, as adaptiveAvgPool2d computes it.
    TH_RESAMPLE_AREA = 4
} THResampling;

/// `r` = the images of `t` with the `ndim` sizes `sizes`.
THStatus THTensor_interpolate(THTensor *r, const THTensor *t, int ndim, const int64_t *sizes, THResampling mode,
                              int alignCorners, int antialias);

/// interpolate to `floor(factor * size)` pixels along each of the `imageDims` dimensions, with `scale = 1 / factor`.
/// `TH_RESAMPLE_AREA` and `alignCorners` use the scale of interpolate.
THStatus THTensor_interpolateFactor(THTensor *r, const THTensor *t, int imageDims, double factor, THResampling mode,
                                    int alignCorners, int antialias);

/// `r` = the gradient of `t`, the operand of interpolate or interpolateFactor, from the gradient `g` of the result: the
/// sum of `weight * g` of each pixel. Only the shape of `t` is used. `factor` is 0 for interpolate. Floats only.
THStatus THTensor_interpolateGrad(THTensor *r, const THTensor *g, const THTensor *t, int imageDims, double factor,
                                  THResampling mode, int alignCorners, int antialias);

/// `r[n, c, y, x]` = the image `t[n, c]` at the place `grid[n, y, x]` between its pixels; with three dimensions, `r[n,
/// c, z, y, x]`. `t` has the shape `[batch, channels, sizes]`, `grid` has the shape `[batch, sizes of r, dims]`, and
/// both have one dtype, a float. A place has the coordinate of the last dimension first. A coordinate is -1 and 1 at
/// the ends of the dimension: at the centres of the first and the last pixel with `alignCorners`, otherwise at the
/// corners of these pixels. The result is NaN at a place with a NaN, and at an infinite place with `TH_PAD_REFLECT`.
///
/// `mode` is `TH_RESAMPLE_NEAREST`, `TH_RESAMPLE_LINEAR`, or `TH_RESAMPLE_CUBIC` (parameter -0.75) for two dimensions.
/// `paddingMode` is the value of pixels outside the image: `TH_PAD_CONSTANT` 0, `TH_PAD_REPLICATE` the pixel at the
/// edge, `TH_PAD_REFLECT` a reflection at the ends. M. Jaderberg et al., Spatial transformer networks, 2015.
THStatus THTensor_gridSample(THTensor *r, const THTensor *t, const THTensor *grid, THResampling mode,
                             THPadMode paddingMode, int alignCorners);

/// The gradients of gridSample, from the gradient `g` of the result: `gradInput` of `t`, and `gradGrid` of `grid`,
/// which is 0 for `TH_RESAMPLE_NEAREST`. Each of the two results may be NULL. The other arguments are as for
/// gridSample.
THStatus THTensor_gridSampleGrad(THTensor *gradInput, THTensor *gradGrid, const THTensor *g, const THTensor *t,
                                 const THTensor *grid, THResampling mode, THPadMode paddingMode, int alignCorners);

/// `r[n, y, x] = theta[n] @ (u, v, 1)`: a grid for gridSample of the places that affine maps give the pixels of images
/// with the 2 or 3 sizes `sizes`. `u` and `v` are the coordinates of the pixel, from -1 to 1 as in gridSample. `theta`
/// has the shape `[batch, dims, dims + 1]`, and `r` has the shape `[batch, sizes, dims]`.
THStatus THTensor_affineGrid(THTensor *r, const THTensor *theta, int ndim, const int64_t *sizes, int alignCorners);

/// `r[.., c, y * factor + i, x * factor + j] = t[.., (c * factor + i) * factor + j, y, x]`: images with `factor` times
/// as many rows and columns, from `factor^2` times as many channels. Every dtype. W. Shi et al., Real-time single image
/// and video super-resolution using an efficient sub-pixel convolutional neural network, 2016.
THStatus THTensor_pixelShuffle(THTensor *r, const THTensor *t, int64_t factor);

/// The inverse of pixelShuffle: `r[.., (c * factor + i) * factor + j, y, x] = t[.., c, y * factor + i, x * factor +
/// j]`.
THStatus THTensor_pixelUnshuffle(THTensor *r, const THTensor *t, int64_t factor);

/// `r[n, k * groups + i] = t[n, i * (channels / groups) + k]`: the channels of `groups` groups in turn. Every dtype. X.
/// Zhang et al., ShuffleNet: an extremely efficient convolutional neural network for mobile devices, 2018.
THStatus THTensor_channelShuffle(THTensor *r, const THTensor *t, int64_t groups);

/** @} */

/* ==================================================================================================================
 *
 *     34. Fourier transforms
 *
 * ================================================================================================================== */

/**
 * @defgroup fourier_transforms Fourier transforms
 *
 * Complex numbers are pairs in a last dimension of size 2, real part first. A signal has `signalDims` dimensions, the
 * last ones before the dimension of the pairs; all others are batch dimensions. Floats only; 16-bit floats are
 * transformed in float32. With `normalized` both directions divide by the square root of the number of elements of a
 * signal; otherwise only the inverse divides, by that number. Errors: `TH_ERR_SHAPE`, a last dimension that is not of
 * complex numbers, or invalid sizes; `TH_ERR_ARGUMENT`, signals with more dimensions than the tensor; `TH_ERR_DTYPE`,
 * tensors that are not of floats.
 * @{
 */

/// `r[k] = sum over j of t[j] * exp(-2 pi i j k / n)`, for complex `t`, in each dimension of the signal. `r` has the
/// shape of `t`.
THStatus THTensor_fft(THTensor *r, const THTensor *t, int signalDims, int normalized);

/// The inverse of fft: `r[j] = sum over k of t[k] * exp(2 pi i j k / n) / n`.
THStatus THTensor_ifft(THTensor *r, const THTensor *t, int signalDims, int normalized);

/// `r[k, l] = sum over i, j of t[i, j] * exp(-2 pi i (i k / m + j l / n))`, for complex `t`, in the two dimensions, m x
/// n, before the dimension of the complex numbers. `r` has the shape of `t`.
THStatus THTensor_fft2(THTensor *r, const THTensor *t);

/// The inverse of fft2: `r[i, j] = sum over k, l of t[k, l] * exp(2 pi i (i k / m + j l / n)) / (m n)`.
THStatus THTensor_ifft2(THTensor *r, const THTensor *t);

/// fft of real `t`, whose last dimension belongs to the signal. With `onesided` the result has only the first `n / 2 +
/// 1` elements of the signal's last dimension; the others are their conjugates.
THStatus THTensor_rfft(THTensor *r, const THTensor *t, int signalDims, int normalized, int onesided);

/// The inverse of rfft: `r` is real, and its last dimension is the last dimension of the signal. With `onesided` the
/// last dimension of the signal in `t` has only its first half. Imaginary parts that are 0 for every real signal are
/// ignored.
///
/// `signalSizes` are the `ndim` sizes of the signal in the result. NULL means the sizes of `t`, except that with
/// `onesided` the last size is the even number `2 * (n - 1)`. If the half has one element, its size must be given. With
/// `onesided` the last size may be less than the size to which the half belongs; the higher frequencies are then left
/// out.
THStatus THTensor_irfft(THTensor *r, const THTensor *t, int signalDims, int normalized, int onesided, int ndim,
                        const int64_t *signalSizes);

/** @} */

/* ==================================================================================================================
 *
 *     35. Sparse tensors
 *
 * ================================================================================================================== */

/**
 * @defgroup sparse_tensors Sparse tensors
 *
 * A `THSTensor` holds the positions and values of some entries; all other elements are 0. The first dimensions are
 * sparse: `indices`, int64 [sparseDim x nnz], has one column with the position of each entry. The remaining dimensions
 * are dense: `values` [nnz x dense sizes] has the dense elements of each entry. Entries may be in any order. If several
 * entries have the same position, the element is the sum of their values. In a coalesced tensor the positions are
 * distinct and ascend in row-major order. A matrix may instead be compressed by rows (CSR): `crow` has the index of the
 * first entry of each row, and `col` the column of each entry. Functions accept both forms, and their results have
 * coordinates unless they say otherwise. A handle is reference-counted, and its fields may be read. A handle holds
 * references to its component tensors, not copies, so a change of these tensors changes the sparse tensor. Results come
 * first, and a result may be an operand. The old components of a result are never written to: the result gets new
 * positions and values. Components that equal the components of an operand, such as the positions after `neg`, are
 * shared with the operand. A result that was written to before keeps its dtype: values are converted, or the call fails
 * with `TH_ERR_DTYPE`. All components are on one device. Gradients are the gradients of the values: if `values`
 * requires a gradient, operations on the sparse tensor are recorded. Positions have no gradients. Errors:
 * `TH_ERR_SHAPE`, sizes that do not fit each other; `TH_ERR_ARGUMENT`, a position that is negative or out of range, or
 * an invalid dimension; `TH_ERR_DTYPE`, positions that are not integers, or an operand that is a fresh handle.
 * @{
 */

/// A fresh handle. The first function that writes to the handle sets its sizes and entries. Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_new(void);

/// Adds a reference; NULL is ignored. May be called on any thread.
void THSTensor_retain(THSTensor *s);

/// Gives up a reference. The last one frees the handle and gives up its components. NULL is ignored. May be called on
/// any thread.
void THSTensor_free(THSTensor *s);

/// A tensor of the given sizes without entries; the first `sparseDim` dimensions are sparse. Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_newWithSize(THDtype dtype, int ndim, const int64_t *size, int sparseDim);

/// A tensor with entries at `indices`, int64 or int32 [sparseDim x nnz], and with `values` [nnz x dense sizes]; its
/// sparse sizes are the smallest that hold all positions. The tensor holds references to both; int32 positions are
/// copied. Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_newWithTensor(THTensor *indices, THTensor *values);

/// `newWithTensor` with `ndim` given sizes: the sparse sizes, which must hold all positions, then the dense sizes of
/// `values`. Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_newWithTensorAndSize(THTensor *indices, THTensor *values, int ndim,
                                                       const int64_t *size);

/// A matrix compressed by rows, with references to `crow`, `col` and `values`. `crow` [rows + 1] has the index of the
/// first entry of each row, followed by the number of entries. `col` has the column of each entry. Both are int64 or
/// int32, as in SciPy. The columns of a row may be in any order and may repeat. Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_newCsr(THTensor *crow, THTensor *col, THTensor *values, int64_t rows,
                                         int64_t columns);

/// The entries of the dense tensor `t` that are not 0, coalesced, with `sparseDim` sparse dimensions. With dense
/// dimensions, an entry is kept if any of its elements is not 0. A negative `sparseDim` makes all dimensions sparse.
/// Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_newFromDense(const THTensor *t, int sparseDim);

/// A second handle on the positions and values of `s`. Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_newWithSparse(const THSTensor *s);

/// A copy of `s` with copied positions and values. Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_newClone(const THSTensor *s);

/// `s` coalesced: the values of one position are summed in the order of the entries. A coalesced `s` shares its
/// components with the result. Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_newCoalesce(const THSTensor *s);

/// The matrix `s` compressed by rows. Coordinates are coalesced, and become int32 if the sizes and the number of
/// entries allow it. A compressed `s` shares its components with the result. Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_newCompressed(const THSTensor *s);

/// `s` with coordinates. If `s` has coordinates, they are shared. Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_newCoordinates(const THSTensor *s);

/// A dense tensor of all elements of `s`. Returns a new reference.
TH_NODISCARD THTensor *THSTensor_newDense(const THSTensor *s);

/// The number of dimensions; 0 on error.
int THSTensor_nDimension(const THSTensor *s);

/// The size of dimension `dimension`; -1 on error.
int64_t THSTensor_size(const THSTensor *s, int dimension);

/// The number of entries, where entries of the same position count separately; -1 on error.
int64_t THSTensor_nnz(const THSTensor *s);

/// The number of sparse dimensions; 0 on error.
int THSTensor_sparseDim(const THSTensor *s);

/// The number of dense dimensions; 0 on error.
int THSTensor_denseDim(const THSTensor *s);

/// 1 if the tensor is known to be coalesced: its positions are distinct and ascend in row-major order; 0 if not and on
/// error.
int THSTensor_isCoalesced(const THSTensor *s);

/// 1 if the matrix is compressed by rows; 0 if it has coordinates, and on error.
int THSTensor_isCompressed(const THSTensor *s);

/// The dtype of the values; `TH_UNDEFINED` on error.
THDtype THSTensor_dtype(const THSTensor *s);

/// The positions, int64 [sparseDim x nnz]: the component of the handle, or computed if the matrix is compressed by
/// rows. Returns a new reference.
TH_NODISCARD THTensor *THSTensor_newIndices(const THSTensor *s);

/// The values, a component of the handle. Returns a new reference.
TH_NODISCARD THTensor *THSTensor_newValues(const THSTensor *s);

/// `crow` of a matrix compressed by rows: the index of the first entry of each row, followed by the number of entries.
/// Returns a new reference.
TH_NODISCARD THTensor *THSTensor_newCrow(const THSTensor *s);

/// `col` of a matrix compressed by rows: the column of each entry. Returns a new reference.
TH_NODISCARD THTensor *THSTensor_newCol(const THSTensor *s);

/// `r` = a copy of `s`.
THStatus THSTensor_copy(THSTensor *r, const THSTensor *s);

/// Removes all entries of `s`, which keeps its sizes and its dtype.
THStatus THSTensor_zero(THSTensor *s);

/// Changes the sizes of `s`. If `s` has entries, its sparse sizes may only grow, and the other sizes must not change.
THStatus THSTensor_resize(THSTensor *s, int ndim, const int64_t *size, int sparseDim);

/// `THSTensor_resize` to the sizes of `other`.
THStatus THSTensor_resizeAs(THSTensor *s, const THSTensor *other);

/// `r` = `s` coalesced, as by newCoalesce.
THStatus THSTensor_coalesce(THSTensor *r, const THSTensor *s);

/// `r` = `s` with two dimensions swapped, both sparse or both dense.
THStatus THSTensor_transpose(THSTensor *r, const THSTensor *s, int dimension1, int dimension2);

/// `r` = the part of `s` at index `index` of dimension `dimension`, which is removed. A negative index counts from the
/// end.
THStatus THSTensor_select(THSTensor *r, const THSTensor *s, int dimension, int64_t index);

/// `r` = the part of `s` at the `size` indices of dimension `dimension` from `firstIndex`.
THStatus THSTensor_narrow(THSTensor *r, const THSTensor *s, int dimension, int64_t firstIndex, int64_t size);

/// `r` = `count` tensors concatenated along `dimension`. The other sizes and the number of sparse dimensions are the
/// same for all tensors.
THStatus THSTensor_cat(THSTensor *r, THSTensor *const *tensors, int count, int dimension);

/// `r = a + value * b`, coalesced; `a` and `b` have the same sizes and the same number of sparse dimensions.
THStatus THSTensor_cadd(THSTensor *r, const THSTensor *a, double value, const THSTensor *b);

/// `r = a - value * b`; otherwise as cadd.
THStatus THSTensor_csub(THSTensor *r, const THSTensor *a, double value, const THSTensor *b);

/// `r = a * b`, coalesced, with entries at the positions where both have an entry.
THStatus THSTensor_cmul(THSTensor *r, const THSTensor *a, const THSTensor *b);

/// `r = s * t` for a dense tensor `t`, which broadcasts to the sizes of `s`.
THStatus THSTensor_cmulDense(THSTensor *r, const THSTensor *s, const THTensor *t);

/// `r = s / t` for a dense tensor `t`, which broadcasts to the sizes of `s`. Positions without an entry stay 0, even if
/// `t` is 0 there.
THStatus THSTensor_cdivDense(THSTensor *r, const THSTensor *s, const THTensor *t);

/// `r = s * value`.
THStatus THSTensor_mul(THSTensor *r, const THSTensor *s, double value);

/// `r = s / value`.
THStatus THSTensor_div(THSTensor *r, const THSTensor *s, double value);

/// `r = s ^ value` for a `value` > 0, coalesced.
THStatus THSTensor_pow(THSTensor *r, const THSTensor *s, double value);

/// `r = -s`, with coordinates or compressed by rows like `s`.
THStatus THSTensor_neg(THSTensor *r, const THSTensor *s);

/// `r = |s|`, coalesced.
THStatus THSTensor_abs(THSTensor *r, const THSTensor *s);

/// `r` = the sign of `s`, coalesced: -1, 0 or 1.
THStatus THSTensor_sign(THSTensor *r, const THSTensor *s);

/// `r` = the square root of `s`, coalesced.
THStatus THSTensor_sqrt(THSTensor *r, const THSTensor *s);

/// `r = e^s - 1`, coalesced.
THStatus THSTensor_expm1(THSTensor *r, const THSTensor *s);

/// `r = log(1 + s)`, coalesced.
THStatus THSTensor_log1p(THSTensor *r, const THSTensor *s);

/// `r` = the sine of `s`, coalesced.
THStatus THSTensor_sin(THSTensor *r, const THSTensor *s);

/// `r` = the tangent of `s`, coalesced.
THStatus THSTensor_tan(THSTensor *r, const THSTensor *s);

/// `r` = the inverse sine of `s`, coalesced.
THStatus THSTensor_asin(THSTensor *r, const THSTensor *s);

/// `r` = the inverse tangent of `s`, coalesced.
THStatus THSTensor_atan(THSTensor *r, const THSTensor *s);

/// `r` = the hyperbolic sine of `s`, coalesced.
THStatus THSTensor_sinh(THSTensor *r, const THSTensor *s);

/// `r` = the hyperbolic tangent of `s`, coalesced.
THStatus THSTensor_tanh(THSTensor *r, const THSTensor *s);

/// `r = max(s, 0)`, coalesced.
THStatus THSTensor_relu(THSTensor *r, const THSTensor *s);

/// `r = floor(s)`, the largest whole number <= `s`, coalesced.
THStatus THSTensor_floor(THSTensor *r, const THSTensor *s);

/// `r = ceil(s)`, the smallest whole number >= `s`, coalesced.
THStatus THSTensor_ceil(THSTensor *r, const THSTensor *s);

/// `r` = `s` rounded to the nearest whole number, ties to even, coalesced.
THStatus THSTensor_round(THSTensor *r, const THSTensor *s);

/// `r` = `s` rounded towards zero, coalesced.
THStatus THSTensor_trunc(THSTensor *r, const THSTensor *s);

/// The sum of all values; NaN on error.
double THSTensor_sumall(const THSTensor *s);

/// `r` = the sum of `s` over the `ndim` dimensions `dims`, which are removed, coalesced; integers are summed in int64.
/// If no sparse dimension remains, all dimensions of the result are dense, and the result has one entry, or no entry if
/// `s` has none.
THStatus THSTensor_sum(THSTensor *r, const THSTensor *s, int ndim, const int64_t *dims);

/// The norm of all elements of `s`, (sum of |s|^value)^(1 / value); NaN on error.
double THSTensor_normall(const THSTensor *s, double value);

/// `r = s @ m`, dense, for a matrix `s` [n x k] and a dense matrix `m` [k x p] or vector [k]. The products of a row are
/// summed in the order of its entries if `s` is compressed by rows, otherwise by ascending column.
THStatus THSTensor_spmm(THTensor *r, const THSTensor *s, const THTensor *m);

/// `r = s @ vec`, dense, for a matrix `s` [n x k] and a dense vector [k].
THStatus THSTensor_spmv(THTensor *r, const THSTensor *s, const THTensor *vec);

/// `r = beta * t + alpha * (s @ m)`, dense; `t` broadcasts. If `beta` is 0, the elements of `t` are not read.
THStatus THSTensor_spaddmm(THTensor *r, double beta, const THTensor *t, double alpha, const THSTensor *s,
                           const THTensor *m);

/// `r = s @ m` for a dense matrix `m` [k x p]. `r` has one sparse dimension, with an entry for each row of `s` that has
/// entries, and one dense dimension.
THStatus THSTensor_hspmm(THSTensor *r, const THSTensor *s, const THTensor *m);

/// `r = s @ m` for a dense matrix `m` [k x p]. `r` has two sparse dimensions, with entries for all elements of the rows
/// of `s` that have entries.
THStatus THSTensor_sspmm(THSTensor *r, const THSTensor *s, const THTensor *m);

/// `r = beta * t + alpha * (s @ m)` for sparse `t` and `s` and a dense matrix `m`, coalesced.
THStatus THSTensor_sspaddmm(THSTensor *r, double beta, const THSTensor *t, double alpha, const THSTensor *s,
                            const THTensor *m);

/// `r = a @ b` for two matrices [n x k] and [k x p], compressed by rows. `r` has an entry wherever an entry of `a`
/// meets an entry of `b`, even if the sum is 0.
THStatus THSTensor_mm(THSTensor *r, const THSTensor *a, const THSTensor *b);

/// `r` = the softmax of each row of a matrix of floats, compressed by rows. Elements without an entry are ignored and
/// stay without an entry.
THStatus THSTensor_softmax(THSTensor *r, const THSTensor *s);

/// `rb = the X with s X = b`, or with `transpose` `s^T X = b`, dense, for the `upper` or lower triangle of a square
/// matrix `s` [n x n] and a dense matrix `b` [n x p] or vector [n]. Entries of the other triangle are ignored. With
/// `unitriangular` all diagonal elements count as 1. Otherwise a diagonal element that is 0 or has no entry is
/// `TH_ERR_NUMERIC`, and the message names the row.
THStatus THSTensor_trtrs(THTensor *rb, const THTensor *b, const THSTensor *s, int upper, int transpose,
                         int unitriangular);

/// `r = the X with s X = b`, dense, for a square matrix `s` [n x n] and a dense matrix `b` [n x p] or vector [n] of
/// float32 or float64. A symmetric positive definite matrix is decomposed by Cholesky, any other matrix by LU with
/// partial pivoting; see csrSolve. A singular matrix is `TH_ERR_NUMERIC`.
THStatus THSTensor_solve(THTensor *r, const THSTensor *s, const THTensor *b);

/// `r = the x with s x = b`, dense, by conjugate gradients, for a symmetric positive definite matrix `s` [n x n] and a
/// dense vector `b` [n] of float32 or float64. The iteration begins with `start` [n], or with zeros if `start` is NULL.
/// It ends when the norm of `b - s x` is at most `tol` times the norm of `b`, after `maxIter` steps, or when rounding
/// errors keep the norm from decreasing further; see csrCg. `progress`, unless NULL, is called after each step. Returns
/// the number of steps; -1 on error.
///
/// `residual`, a float64, becomes the norm of `b - s x` divided by the norm of `b`. If this exceeds `tol`, `r` is the
/// last iterate; if `residual` is NULL, the call fails with `TH_ERR_NUMERIC` instead.
int64_t THSTensor_cg(THTensor *r, THTensor *residual, const THSTensor *s, const THTensor *b, const THTensor *start,
                     double tol, int64_t maxIter, THProgressFunction progress, void *context);

/// `r = beta * s + alpha * (m1 @ m2)` at the entries of `s`, coalesced and compressed by rows; `m1` [n x k] and `m2` [k
/// x p] are dense.
THStatus THSTensor_sampledAddmm(THSTensor *r, double beta, const THSTensor *s, double alpha, const THTensor *m1,
                                const THTensor *m2);

/// `r = t + value * s`, dense, for a dense tensor `t` of the sizes of `s`.
THStatus THSTensor_spcadd(THTensor *r, const THTensor *t, double value, const THSTensor *s);

/// `r` = the elements of the dense tensor `t` at the positions of `mask`; the values of `mask` are ignored. Both have
/// the same sizes.
THStatus THSTensor_sparseMask(THSTensor *r, const THTensor *t, const THSTensor *mask);

/** @} */

/* ==================================================================================================================
 *
 *     36. Random generators
 *
 * ================================================================================================================== */

/**
 * @defgroup random_generators Random generators
 *
 * A `THGenerator` produces random numbers and is of one of two kinds. NULL is the calling thread's default generator,
 * which has kind `TH_PHILOX` and is seeded by the system. A call that fails draws no numbers. Errors:
 * `TH_ERR_ARGUMENT`, an invalid kind or state, or a generator that another call is using; `TH_ERR_DTYPE` and
 * `TH_ERR_SHAPE`, a state that is not a vector of uint8.
 * @{
 */

/// A kind of generator.
typedef enum THGeneratorKind {
    /// Philox4x32-10, a function of a seed and a counter: the same numbers on every machine and with any number of
    /// threads.
    TH_PHILOX = 1,
    /// The Mersenne Twister with the states and number sequences of Torch's TH. It runs on one thread, because each
    /// number depends on the one before.
    TH_MT19937 = 2
} THGeneratorKind;

/// `r` = the bytes of the generator's state as a vector; a fresh `r` gets uint8. A `TH_MT19937` state has the 5048
/// bytes that TH saves. A `TH_PHILOX` state has 24 bytes: a tag with a version, the seed and the position.
THStatus THTensor_getRNGState(THGenerator *generator, THTensor *r);

/// Restores a state that was saved from a generator of the same kind. Any other state is an error.
THStatus THTensor_setRNGState(THGenerator *generator, const THTensor *t);

/// A generator of kind `TH_PHILOX`, seeded by the system. Free it with `THGenerator_free`; NULL on error.
TH_NODISCARD THGenerator *THGenerator_new(void);

/// A generator of kind `TH_PHILOX` or `TH_MT19937`, seeded by the system. Free it with `THGenerator_free`; NULL on
/// error.
///
/// With the same seed, `TH_MT19937` gives the numbers of Torch's TH, in row-major order, computed in float64 and then
/// rounded. float32 numbers of `THTensor_uniform` may therefore round up to `to`. PyTorch has the same words, and thus
/// the same numbers for `THTensor_random`, `THTensor_clampedRandom` and `THTensor_randperm`, but other numbers for
/// uniform, normal and bernoulli. Functions that TH lacks give numbers unlike any other library. `TH_PHILOX` is faster,
/// and gives the same numbers with any number of threads.
TH_NODISCARD THGenerator *THGenerator_newKind(THGeneratorKind kind);

/// The kind of a generator; 0 on error.
THGeneratorKind THGenerator_kind(THGenerator *generator);

/// Copies the kind and the state of `from` to `to`, so that both continue with the same numbers.
THStatus THGenerator_copy(THGenerator *to, THGenerator *from);

/// Frees a generator; NULL is ignored.
void THGenerator_free(THGenerator *generator);

/// Seeds the generator from the system and returns the seed; 0 on error.
uint64_t THRandom_seed(THGenerator *generator);

/// Seeds the generator with `seed`. The same seed gives the same numbers on every machine and with any number of
/// threads. `TH_MT19937` only uses the low 32 bits.
THStatus THRandom_manualSeed(THGenerator *generator, uint64_t seed);

/// The seed that the current sequence was started with; 0 on error.
uint64_t THRandom_initialSeed(THGenerator *generator);

/// An integer from 0 to 2^32 - 1; -1 on error. Each `THRandom_` function of this chapter draws the number that the
/// corresponding function stores in a 0-d tensor: `THRandom_uniform` gives the number that `THTensor_uniform` stores in
/// float64.
int64_t THRandom_random(THGenerator *generator);

/// A number uniform in [from, to); NaN on error.
double THRandom_uniform(THGenerator *generator, double from, double to);

/// A normally distributed number; NaN on error.
double THRandom_normal(THGenerator *generator, double mean, double stdv);

/// An exponentially distributed number of mean 1 / lambda; NaN on error.
double THRandom_exponential(THGenerator *generator, double lambda);

/// A Cauchy distributed number; NaN on error.
double THRandom_cauchy(THGenerator *generator, double median, double sigma);

/// `exp` of a normally distributed number; NaN on error.
double THRandom_logNormal(THGenerator *generator, double mean, double stdv);

/// The number of trials up to the first success, where each trial fails with probability `p`, 0 < p < 1; NaN on error.
double THRandom_geometric(THGenerator *generator, double p);

/// 1 with probability `p`, else 0; 0 on error.
int THRandom_bernoulli(THGenerator *generator, double p);

/** @} */

/* ==================================================================================================================
 *
 *     37. Random numbers
 *
 * ================================================================================================================== */

/**
 * @defgroup random_numbers Random numbers
 *
 * A function that fills `r` keeps the dtype and shape of `r`, which must have both. Other functions treat `r` as all
 * operations do. Distributions of real numbers need floats. Distributions of whole numbers support every dtype, to
 * which the numbers are converted. Errors: `TH_ERR_ARGUMENT`, parameters that are invalid for the distribution;
 * `TH_ERR_DTYPE`, a dtype of `r` that cannot hold the numbers; `TH_ERR_SHAPE`, parameters whose shape differs from the
 * shape of `r`.
 * @{
 */

/// The side of a layer whose size scales the layer's initial weights.
typedef enum THFan {
    TH_FAN_IN = 0,               ///< The number of inputs of each output.
    TH_FAN_OUT = 1               ///< The number of outputs of each input.
} THFan;

/// Fills `r` with numbers uniform in [from, to); both bounds must be in the range of the dtype. Floats only.
THStatus THTensor_uniform(THTensor *r, THGenerator *generator, double from, double to);

/// Fills `r` with normally distributed numbers of mean `mean` and standard deviation `stdv` >= 0. Floats only.
THStatus THTensor_normal(THTensor *r, THGenerator *generator, double mean, double stdv);

/// `r = z * stdv + means` for standard normal `z`, in the shape of `means`. Floats only; a fresh `r` gets the dtype of
/// `means`.
THStatus THTensor_normal_means(THTensor *r, THGenerator *generator, const THTensor *means, double stdv);

/// `r = z * stdvs + mean` for standard normal `z`, in the shape of `stdvs`, whose elements must be >= 0. Floats only; a
/// fresh `r` gets the dtype of `stdvs`.
THStatus THTensor_normal_stddevs(THTensor *r, THGenerator *generator, double mean, const THTensor *stdvs);

/// `r = z * stdvs + means` for standard normal `z`; `stdvs` and `means` broadcast. Floats only; a fresh `r` gets their
/// common dtype.
THStatus THTensor_normal_means_stddevs(THTensor *r, THGenerator *generator, const THTensor *means,
                                       const THTensor *stdvs);

/// Fills `r` with exponentially distributed numbers of density `lambda * exp(-lambda x)`; `lambda` > 0. All numbers are
/// > 0: a result below the smallest positive number of the dtype is replaced by this number. Floats only.
THStatus THTensor_exponential(THTensor *r, THGenerator *generator, double lambda);

/// Fills `r` with Cauchy distributed numbers of density `sigma / (pi ((x - median)^2 + sigma^2))`; `sigma` > 0. Floats
/// only.
THStatus THTensor_cauchy(THTensor *r, THGenerator *generator, double median, double sigma);

/// Fills `r` with `exp(x)` for normally distributed `x` of mean `mean` and standard deviation `stdv`. All numbers are >
/// 0, as for `THTensor_exponential`. Floats only.
THStatus THTensor_logNormal(THTensor *r, THGenerator *generator, double mean, double stdv);

/// Fills `r` with normally distributed numbers truncated to [from, to]; `stdv` > 0. The bounds may be infinite. Floats
/// only.
THStatus THTensor_truncNormal(THTensor *r, THGenerator *generator, double mean, double stdv, double from, double to);

/// Fills `r` with gamma distributed numbers of density proportional to `x^(shape - 1) exp(-x / scale)`; both parameters
/// are > 0. All numbers are > 0, as for `THTensor_exponential`. Floats only.
THStatus THTensor_gamma(THTensor *r, THGenerator *generator, double shape, double scale);

/// Fills `r` as `THTensor_gamma`, with a shape and a scale for each element; both broadcast. A fresh `r` gets their
/// common dtype.
THStatus THTensor_gammaTensor(THTensor *r, THGenerator *generator, const THTensor *shape, const THTensor *scale);

/// Fills `r` with beta distributed numbers of density proportional to `x^(a - 1) (1 - x)^(b - 1)`; both parameters are
/// > 0. All numbers are > 0 and < 1 in the dtype of `r`. Floats only.
THStatus THTensor_beta(THTensor *r, THGenerator *generator, double a, double b);

/// Fills `r` as `THTensor_beta`, with `a` and `b` for each element; both broadcast. A fresh `r` gets their common
/// dtype.
THStatus THTensor_betaTensor(THTensor *r, THGenerator *generator, const THTensor *a, const THTensor *b);

/// Fills `r` with 1 with probability `p`, else 0. Any dtype. `TH_PHILOX` rounds `p` to a multiple of 2^-32.
THStatus THTensor_bernoulli(THTensor *r, THGenerator *generator, double p);

/// `r = 1` with probability `p`, else 0, for each element of `p`, which must be of floats. Any dtype; a fresh `r` gets
/// the dtype of `p`.
THStatus THTensor_bernoulliTensor(THTensor *r, THGenerator *generator, const THTensor *p);

/// Fills `r` with the number of trials up to the first success, where, as in TH, each trial fails with probability `p`:
/// `P(k) = p^(k - 1) (1 - p)` for k = 1, 2, ...; 0 < p < 1. In PyTorch, `p` is the probability of success. Any dtype.
THStatus THTensor_geometric(THTensor *r, THGenerator *generator, double p);

/// Fills `r` with Poisson distributed numbers, `P(k) = rate^k exp(-rate) / k!`; `rate` >= 0. Any dtype.
THStatus THTensor_poisson(THTensor *r, THGenerator *generator, double rate);

/// Fills `r` as `THTensor_poisson`, with a rate for each element; `rate` must be of floats. A fresh `r` gets the dtype
/// of `rate`.
THStatus THTensor_poissonTensor(THTensor *r, THGenerator *generator, const THTensor *rate);

/// Fills `r` with the number of successes in `n` trials that succeed with probability `p`; `n` is whole, from 0 to
/// 2^53. Any dtype.
THStatus THTensor_binomial(THTensor *r, THGenerator *generator, double n, double p);

/// Fills `r` as `THTensor_binomial`, with `n` and `p` for each element; both are of floats and broadcast. A fresh `r`
/// gets their common dtype.
THStatus THTensor_binomialTensor(THTensor *r, THGenerator *generator, const THTensor *n, const THTensor *p);

/// Fills `r` with uniformly distributed integers from 0 to the greatest of the dtype; for floats to 2^8 (bfloat16),
/// 2^11 (float16), 2^24 (float32) or 2^53 (float64). As in TH, `TH_MT19937` gives int64 and float64 numbers from 0 to
/// 2^32 - 1. In the other dtypes its numbers are also PyTorch's.
THStatus THTensor_random(THTensor *r, THGenerator *generator);

/// Fills `r` with integers from 0 to `max - 1`; `max` > 0. The limits of `max` are as for clampedRandom.
THStatus THTensor_cappedRandom(THTensor *r, THGenerator *generator, int64_t max);

/// Fills `r` with integers from `min` to `max - 1`. Both must be in the range of an integer dtype (0 and 1 for Bool),
/// or in the range where a float dtype holds every integer: up to 2^8 (bfloat16), 2^11 (float16), 2^24 (float32) or
/// 2^53 (float64) in magnitude. For ranges up to 2^32, `TH_MT19937` gives the numbers of TH and PyTorch. For wider
/// ranges, where TH only draws from the lower end, `TH_MT19937` gives the remainder of a number of two words.
THStatus THTensor_clampedRandom(THTensor *r, THGenerator *generator, int64_t min, int64_t max);

/// Fills weights `r` (outputs x inputs x window) with numbers uniform in [-b, b), where `b = gain * sqrt(6 / ((inputs +
/// outputs) * window))`: Glorot's initialisation for `gain` 1. Floats only.
THStatus THTensor_xavierUniform(THTensor *r, THGenerator *generator, double gain);

/// Fills weights `r` (outputs x inputs x window) with normally distributed numbers of standard deviation `b / sqrt(3)`,
/// with `b` as for `THTensor_xavierUniform`.
THStatus THTensor_xavierNormal(THTensor *r, THGenerator *generator, double gain);

/// Fills weights `r` (outputs x inputs x window) with numbers uniform in [-b, b), where `b = sqrt(6 / ((1 + slope^2)
/// n))` and `n` is inputs x window (`TH_FAN_IN`) or outputs x window (`TH_FAN_OUT`): He's initialisation for rectifiers
/// with this slope below 0. Floats only.
THStatus THTensor_kaimingUniform(THTensor *r, THGenerator *generator, double slope, THFan fan);

/// Fills weights `r` (outputs x inputs x window) with normally distributed numbers of standard deviation `b / sqrt(3)`,
/// with `b` as for `THTensor_kaimingUniform`.
THStatus THTensor_kaimingNormal(THTensor *r, THGenerator *generator, double slope, THFan fan);

/// `r` = numbers uniform in [0, 1), in the given sizes. Floats only; a fresh `r` gets the default dtype.
THStatus THTensor_rand(THTensor *r, THGenerator *generator, int ndim, const int64_t *size);

/// `r` = normally distributed numbers of mean 0 and standard deviation 1, in the given sizes. Floats only; a fresh `r`
/// gets the default dtype.
THStatus THTensor_randn(THTensor *r, THGenerator *generator, int ndim, const int64_t *size);

/// `r` = uniformly distributed integers from `from` to `to - 1`, in the given sizes. A fresh `r` gets int64.
THStatus THTensor_randint(THTensor *r, THGenerator *generator, int64_t from, int64_t to, int ndim, const int64_t *size);

/// As `THTensor_rand`, in the sizes of `t`; a fresh `r` takes its dtype.
THStatus THTensor_randLike(THTensor *r, THGenerator *generator, const THTensor *t);

/// As `THTensor_randn`, in the sizes of `t`; a fresh `r` takes its dtype.
THStatus THTensor_randnLike(THTensor *r, THGenerator *generator, const THTensor *t);

/// `r` = integers as by `THTensor_randint`, in the sizes of `t`; a fresh `r` gets the dtype of `t`.
THStatus THTensor_randintLike(THTensor *r, THGenerator *generator, const THTensor *t, int64_t from, int64_t to);

/// `r` = the integers from 0 to `n - 1` in random order. A fresh `r` gets int64; any other dtype must hold all of these
/// integers. `TH_MT19937` gives the order of TH and PyTorch.
THStatus THTensor_randperm(THTensor *r, THGenerator *generator, int64_t n);

/// A row-major tensor of numbers as by `THTensor_rand`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newRand(THDtype dtype, THGenerator *generator, int ndim, const int64_t *size);

/// A row-major tensor of numbers as by `THTensor_randn`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newRandn(THDtype dtype, THGenerator *generator, int ndim, const int64_t *size);

/// A row-major tensor of integers as by `THTensor_randint`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newRandint(THDtype dtype, THGenerator *generator, int64_t from, int64_t to, int ndim,
                                           const int64_t *size);

/// A tensor as by `THTensor_newRand`, with the dtype and sizes of `t`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newRandLike(const THTensor *t, THGenerator *generator);

/// A tensor as by `THTensor_newRandn`, with the dtype and sizes of `t`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newRandnLike(const THTensor *t, THGenerator *generator);

/// A tensor as by `THTensor_newRandint`, with the dtype and sizes of `t`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newRandintLike(const THTensor *t, THGenerator *generator, int64_t from, int64_t to);

/// A vector as by `THTensor_randperm`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newRandperm(THDtype dtype, THGenerator *generator, int64_t n);

/// `r` = `n` categories, as indices from 0, for each row of `p`, or for the vector `p`. The probability of a category
/// is its share in the sum of the row. Without `replacement` no category is drawn twice, and `r` has the order in which
/// they are drawn. `p` has floats >= 0 that do not sum to 0; without `replacement` at least `n` of them must be > 0 in
/// each row. A fresh `r` gets int64.
THStatus THTensor_multinomial(THTensor *r, THGenerator *generator, const THTensor *p, int64_t n, int replacement);

/// Tables for repeated draws from the vector `p` by the alias method: a uniformly drawn category `k` is kept with
/// probability `q[k]` and otherwise replaced by `J[k]`. A fresh `J` gets int64, and a fresh `q` the dtype of `p`.
THStatus THTensor_multinomialAliasSetup(const THTensor *p, THTensor *J, THTensor *q);

/// Fills `r` with categories, as indices from 0, using the tables of `THTensor_multinomialAliasSetup`. (TH's function
/// expects indices from 1 in `J`, which TH's own setup does not produce.)
THStatus THTensor_multinomialAliasDraw(THTensor *r, THGenerator *generator, const THTensor *J, const THTensor *q);

/// `r = t * mask / (1 - p)`, where each element of the mask is false with probability `p`, else true. Floats only.
/// `mask` receives the mask, or may be NULL; a fresh `mask` gets Bool.
THStatus THTensor_dropout(THTensor *r, THTensor *mask, THGenerator *generator, const THTensor *t, double p);

/// dropout of whole channels: the elements of a channel of an entry of the batch are dropped together (Tompson and
/// others, "Efficient Object Localization Using Convolutional Networks", 2015). `t` has the shape `[batch, channels,
/// sizes...]`, and the mask has the size 1 in the dimensions after the channels. Otherwise as dropout.
THStatus THTensor_featureDropout(THTensor *r, THTensor *mask, THGenerator *generator, const THTensor *t, double p);

/// `r = a * (t - s * p)` where the mask is true, else `a * s * (1 - p)`, with `s = -1.7580993408473766`, the limit of
/// selu for minus infinity, and `a = 1 / sqrt((s^2 * p + 1) * (1 - p))`: elements with the mean 0 and the variance 1
/// keep both (Klambauer and others, "Self-Normalizing Neural Networks", 2017). All elements are 0 if `p` is 1. The mask
/// is as for dropout. Floats only; 16-bit floats are computed in float32.
THStatus THTensor_alphaDropout(THTensor *r, THTensor *mask, THGenerator *generator, const THTensor *t, double p);

/// alphaDropout of whole channels, with shapes as for featureDropout.
THStatus THTensor_featureAlphaDropout(THTensor *r, THTensor *mask, THGenerator *generator, const THTensor *t, double p);

/** @} */

/* ==================================================================================================================
 *
 *     38. Devices
 *
 * ================================================================================================================== */

/**
 * @defgroup devices Devices
 *
 * A tensor is stored in the memory of the host or of a GPU, and an operation runs on the device of its tensors,
 * regardless of the thread's default device. Fresh results are made on that device, too. All tensors of a call must be
 * on one device, with one exception: a 0-d tensor on the host may be an operand of an elementwise operation on a GPU.
 * `THTensor_copy` copies between devices, and no function does so implicitly. NVIDIA's driver is opened as the loader
 * finds it. NVRTC compiles kernels when they are first needed. It is searched for in the folders that
 * `TH_CUDA_LIBRARIES` lists, separated by colons, in the loader's path, in `CUDA_PATH`, `CUDA_HOME` and
 * `/usr/local/cuda`, and in the packages of a virtual environment. The library uses the newest NVRTC whose major
 * version is not above the driver's. Compiled kernels are cached in files in `TH_CUDA_CACHE`, else in `thorn/kernels`
 * in `XDG_CACHE_HOME` or `~/.cache`; an empty `TH_CUDA_CACHE` disables the cache. Cached kernels run without NVRTC.
 * cuBLAS, which is searched for in the same way, computes matrix products of floats. Without cuBLAS, or with
 * `TH_CUDA_BLAS` set to 0, the library's own kernels compute them. A GPU does its work in order, after the call that
 * asked for the work has returned. Functions that read elements, such as `THTensor_item` and copies to the host, wait
 * for the work. `THTensor_data` returns an address on the GPU without waiting. Errors: `TH_ERR_DEVICE`, operands on
 * different devices, or an operation that GPUs do not support; `TH_ERR_CUDA`, no driver, no GPU with this number, no
 * compiler for kernels, or a failure of one of them; `TH_ERR_NOMEM`, the memory of the GPU is full.
 * @{
 */

/// A queue of GPU work that runs in order.
typedef struct THCudaStream THCudaStream;

/// Properties of a GPU.
typedef struct THCudaProperties {
    /// The name, terminated by NUL.
    char name[256];
    /// Domain, bus and device on the PCI bus, terminated by NUL.
    char pci_bus_id[32];
    /// A number that is unique to the GPU.
    uint8_t uuid[16];
    /// Bytes of memory.
    int64_t total_bytes;
    /// Bytes of the second-level cache.
    int64_t l2_bytes;
    /// Bytes of shared memory that a block may use.
    int64_t shared_bytes;
    /// The major number of the compute capability: 9 for 9.0.
    int32_t major;
    /// The minor number of the compute capability: 0 for 9.0.
    int32_t minor;
    /// Multiprocessors.
    int32_t multiprocessors;
    /// Threads of a warp.
    int32_t warp_size;
    /// The maximum number of threads that a multiprocessor runs at once.
    int32_t multiprocessor_threads;
    /// Frequency of the multiprocessors, in kHz.
    int32_t clock_khz;
    /// Frequency of the memory, in kHz.
    int32_t memory_clock_khz;
    /// Width of the memory's bus, in bits.
    int32_t memory_bus_bits;
} THCudaProperties;

/// Memory statistics of a GPU, in bytes.
typedef struct THCudaMemory {
    /// Free memory, for all processes.
    int64_t free_bytes;
    /// The size of the memory.
    int64_t total_bytes;
    /// Memory in storages of this process.
    int64_t live_bytes;
    /// Memory that this process keeps for new storages.
    int64_t cached_bytes;
    /// The greatest value of `live_bytes` so far.
    int64_t peak_bytes;
} THCudaMemory;

/// Returns a row-major tensor with undefined elements on a device; `ndim` 0 makes a scalar. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newWithSizesOn(THDtype dtype, THDeviceType deviceType, int deviceIndex, int ndim,
                                               const int64_t *size);

/// Returns a tensor over memory of a device, as `THTensor_newFromBlob`; `data` is an address on that device. Work that
/// others have queued on the GPU must be complete, or the thread's stream must wait for it. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newFromBlobOn(THDtype dtype, THDeviceType deviceType, int deviceIndex, int ndim,
                                              const int64_t *size, const int64_t *stride, void *data, THDeleter deleter,
                                              void *context);

/// Returns the elements of `t` on a device, as `dtype`, or in their own dtype with `TH_UNDEFINED`. The result is `t`
/// itself if it already has this device and dtype and `copy` is 0, else a copy, which is row-major on another device.
/// Returns a new reference.
///
/// With `nonBlocking` the copy may be made after the call has returned. For a copy from the host this requires that `t`
/// is pinned; its elements must not change until the stream has made the copy. The result of a copy to the host is
/// pinned, and may be read after waiting for the stream.
TH_NODISCARD THTensor *THTensor_newToDevice(const THTensor *t, THDeviceType deviceType, int deviceIndex, THDtype dtype,
                                            int nonBlocking, int copy);

/// Returns `t` itself if it is stored on the GPU with this number, else a row-major copy there. Returns a new
/// reference.
TH_NODISCARD THTensor *THTensor_newCuda(const THTensor *t, int deviceIndex);

/// Returns `t` itself if it is stored on the host, else a row-major copy there. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newCpu(const THTensor *t);

/// Returns 1 if the elements are in the memory of a GPU; 0 if not and on error.
int THTensor_isCuda(const THTensor *t);

/// `r = src` as by `THTensor_copy`, but the GPU may make the copy after the call has returned. It does so if one tensor
/// is on a GPU, the other in pinned memory, and both are row-major and have the same dtype and shape. Do not change or
/// resize either tensor until the thread's stream has made the copy.
THStatus THTensor_copyAsync(THTensor *r, const THTensor *src);

/// Returns a row-major copy of `t` in pinned memory of the host. Copies between pinned memory and GPUs are faster and
/// can run while the host continues. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newPinned(const THTensor *t);

/// Returns 1 if the elements are in pinned memory of the host; 0 if not and on error.
int THTensor_isPinned(const THTensor *t);

/// Declares that work of `stream` uses a tensor made by another stream. When the last reference is gone, the memory is
/// reused only after all work that `stream` has at that time. Call this before the last reference is gone.
THStatus THTensor_recordStream(const THTensor *t, const THCudaStream *stream);

/// Sets the device on which this thread makes tensors when neither an argument nor an operand determines one. It is
/// initially the host.
THStatus THSetDefaultDevice(THDeviceType deviceType, int deviceIndex);

/// Returns the kind of the thread's default device.
THDeviceType THGetDefaultDeviceType(void);

/// Returns the number of the thread's default device among the devices of its kind.
int THGetDefaultDeviceIndex(void);

/// Returns the number of GPUs. If there are none, returns 0, and the error's message says what is missing.
int THCuda_deviceCount(void);

/// Returns the name of a GPU, as given by its driver. The result is a C string that the caller frees with `THFree`;
/// NULL on error.
TH_NODISCARD char *THCuda_newDeviceName(int deviceIndex);

/// Stores the properties of a GPU in `properties`.
THStatus THCuda_properties(int deviceIndex, THCudaProperties *properties);

/// Allows, or with 0 forbids, that GPUs round the factors of float32 matrix products to TF32. TF32 has 10 bits after
/// the leading bit, so that each product has a relative error of 2^-10; sums remain float32. Products are several times
/// faster on GPUs that have TF32. The setting applies to all threads, and to products computed by cuBLAS, but never to
/// decompositions. It is initially off.
THStatus THCuda_setAllowTF32(int allow);

/// Returns 1 if GPUs may round the factors of float32 matrix products to TF32; 0 if not.
int THCuda_getAllowTF32(void);

/// Waits until a GPU has completed all work of this process.
THStatus THCuda_synchronize(int deviceIndex);

/// Stores the memory usage of a GPU in `memory`.
THStatus THCuda_memory(int deviceIndex, THCudaMemory *memory);

/// Stores the usage of pinned host memory in `memory`. The free and total bytes describe the whole memory of the
/// machine.
THStatus THCuda_pinnedMemory(THCudaMemory *memory);

/// Returns cached memory of a GPU, and cached pinned memory of the host, to the driver.
THStatus THCuda_emptyCache(int deviceIndex);

/// Returns 1 if a GPU can access the memory of GPU `peer`; 0 if not and on error.
int THCuda_canAccessPeer(int deviceIndex, int peer);

/// Enables access of a GPU to the memory of GPU `peer` if `on` is 1, and disables it if `on` is 0. Copies between GPUs
/// do not need this access, but are faster with it.
THStatus THCuda_setPeerAccess(int deviceIndex, int peer, int on);

/** @} */

/* ==================================================================================================================
 *
 *     39. Streams, events and graphs
 *
 * ================================================================================================================== */

/**
 * @defgroup streams_events_and_graphs Streams, events and graphs
 *
 * A stream is a queue of GPU work that runs in order; different streams do not wait for each other. Each thread has a
 * current stream on each GPU, to which its operations go. This is the default stream at first, which other users of the
 * process share. If one stream reads memory that another stream writes, the reading stream must wait by
 * `THCudaStream_wait`, or for an event. The memory of a tensor belongs to the stream in which it was allocated. If the
 * last reference to a tensor may be given up before another stream has finished with it, call `THTensor_recordStream`
 * first. A graph is work that a stream has recorded instead of run, and that runs again at little cost for the host.
 * Operations that must wait for the GPU, such as `THTensor_item`, `THTensor_nonzero` and operations that check indices,
 * fail while a stream is captured, and the capture fails with them. Kernels must be compiled and loaded before the
 * capture, by running the work once. A capture spreads to each stream that waits for a captured stream; the stream in
 * which the capture began must wait for all of them before the capture ends. A graph reads and writes the memory that
 * it was captured with. Tensors made before the capture must live as long as the graph. Memory that was allocated or
 * freed during the capture belongs to the graph until the graph is freed. Random numbers are the same at each launch,
 * and so are numbers of the host such as a learning rate. Adam counts the steps of a captured `THOptim_step` on the
 * GPU. Errors: `TH_ERR_CUDA`, no driver, no GPU with this number, or a refusal by the driver; `TH_ERR_ARGUMENT`, a call
 * that would end a capture, such as `THCuda_synchronize` or a launch of a graph in a captured stream.
 * @{
 */

/// A point in the work of a stream.
typedef struct THCudaEvent THCudaEvent;

/// A function of the caller that a thread of the driver runs between the work of a stream. The function must not use
/// the GPU.
typedef void (*THCudaCallback)(void *context);

/// Captured GPU work, which can be launched many times.
typedef struct THCudaGraph THCudaGraph;

/// A new stream of a GPU. The work of streams with a lower `priority` runs first; 0 is the usual priority, and the
/// driver limits the range. Returns a new reference; NULL on error.
TH_NODISCARD THCudaStream *THCudaStream_new(int deviceIndex, int priority);

/// A handle for a stream of another library, a `cudaStream_t` or `CUstream`, which must outlive the handle; NULL is the
/// default stream. Returns a new reference; NULL on error.
TH_NODISCARD THCudaStream *THCudaStream_newForeign(int deviceIndex, void *stream);

/// This thread's current stream on a GPU. Returns a new reference; NULL on error.
TH_NODISCARD THCudaStream *THCudaStream_newCurrent(int deviceIndex);

/// Adds a reference; NULL is ignored.
void THCudaStream_retain(THCudaStream *stream);

/// Gives up a reference. If the stream was made by `THCudaStream_new`, the last reference waits for its work and
/// destroys it. A capture that began in the stream is abandoned; a stream that has joined a capture ends with it. NULL
/// is ignored.
void THCudaStream_free(THCudaStream *stream);

/// Makes `stream` this thread's current stream on its GPU, to which the thread's operations go. The thread holds a
/// reference.
THStatus THCudaStream_setCurrent(const THCudaStream *stream);

/// The index of the stream's GPU; 0 on error.
int THCudaStream_device(const THCudaStream *stream);

/// The stream as a `CUstream`, which is the same as a `cudaStream_t`; NULL is the default stream.
void *THCudaStream_pointer(const THCudaStream *stream);

/// Later work of `stream` waits for the present work of `other`, which may be a stream of another GPU.
THStatus THCudaStream_wait(const THCudaStream *stream, const THCudaStream *other);

/// Later work of `stream` waits for `event`, which may belong to another GPU. An event that was not recorded causes no
/// wait.
THStatus THCudaStream_waitEvent(const THCudaStream *stream, const THCudaEvent *event);

/// Waits until the work of the stream is done.
THStatus THCudaStream_synchronize(const THCudaStream *stream);

/// 1 if the work of the stream is done; 0 if not and on error.
int THCudaStream_isIdle(const THCudaStream *stream);

/// Calls `function(context)` on a thread of the driver when the present work of the stream is done. Later work of the
/// stream waits for the function. The function must not call CUDA, and therefore no function of thorn that uses a GPU.
THStatus THCudaStream_addCallback(const THCudaStream *stream, THCudaCallback function, void *context);

/// A new event of a GPU, which measures time if `timing` is 1. Returns a new reference; NULL on error.
TH_NODISCARD THCudaEvent *THCudaEvent_new(int deviceIndex, int timing);

/// Adds a reference; NULL is ignored.
void THCudaEvent_retain(THCudaEvent *event);

/// Gives up a reference; the last one destroys the event. NULL is ignored.
void THCudaEvent_free(THCudaEvent *event);

/// Records the event after the present work of `stream`, which must belong to the event's GPU.
THStatus THCudaEvent_record(const THCudaEvent *event, const THCudaStream *stream);

/// Waits until the work before the event is done.
THStatus THCudaEvent_synchronize(const THCudaEvent *event);

/// 1 if the work before the event is done or the event was not recorded; 0 if not and on error.
int THCudaEvent_hasPassed(const THCudaEvent *event);

/// The milliseconds between two events that have passed and were made with `timing`; NaN on error.
double THCudaEvent_elapsed(const THCudaEvent *start, const THCudaEvent *end);

/// Begins a capture: this thread's current stream on a GPU records later work instead of running it. The stream must
/// not be the default stream.
THStatus THCudaGraph_begin(int deviceIndex);

/// Ends the capture that `THCudaGraph_begin` began and returns its graph. On error the recorded work is discarded.
/// Returns a new reference; NULL on error.
TH_NODISCARD THCudaGraph *THCudaGraph_newCaptured(int deviceIndex);

/// Adds a reference; NULL is ignored.
void THCudaGraph_retain(THCudaGraph *graph);

/// Gives up a reference; the last one waits for the graph's last launch and destroys the graph. NULL is ignored.
void THCudaGraph_free(THCudaGraph *graph);

/// Runs the work of the graph in this thread's current stream on its GPU.
THStatus THCudaGraph_launch(const THCudaGraph *graph);

/** @} */

/* ==================================================================================================================
 *
 *     40. Exchange with other libraries
 *
 * ================================================================================================================== */

/**
 * @defgroup exchange_with_other_libraries Exchange with other libraries
 *
 * NumPy, PyTorch, JAX and other libraries exchange tensors without a copy by DLPack: the producer fills in a struct,
 * and the consumer calls its deleter when it no longer needs the elements. A program that uses dlpack.h includes it
 * before this header; this header then uses the structs of dlpack.h. Each side sees the writes of the other, and both
 * must synchronise their writes. On a GPU, the consumer's stream must wait for the producer's stream before reading.
 * `THCudaStream_newForeign` makes a handle for a stream of another library, `THCudaStream_newCurrent` returns the
 * thread's stream, and `THCudaStream_wait` makes one stream wait for another. Arrow's C data interface does the same
 * for columns of tables; here it serves tensors with one dimension. A program that uses a header with Arrow's structs
 * and the macro `ARROW_C_DATA_INTERFACE` includes it before this header. Arrow considers values constant: copy an array
 * before writing to it if others may read it. A storage whose elements have been shared with another library can no
 * longer be resized, because the other library has its address. Errors: `TH_ERR_DTYPE`, an element type that the other
 * side does not have; `TH_ERR_SHAPE`, sizes and strides that are negative or overflow; `TH_ERR_ARGUMENT`, memory that
 * is NULL or not aligned; `TH_ERR_DEVICE`, elements that are neither on the host nor, for DLPack, on an NVIDIA GPU;
 * `TH_ERR_UNSUPPORTED`, negative strides, nulls, and another major version of DLPack.
 * @{
 */

#ifndef DLPACK_DLPACK_H_
/// Defined where the types that follow are, by this header or by their own.
#define DLPACK_DLPACK_H_

enum {
    /// The version that thorn writes. Structs of another major version have another layout.
    DLPACK_MAJOR_VERSION = 1,
    DLPACK_MINOR_VERSION = 3     ///< Minor versions add codes.
};

enum {
    DLPACK_FLAG_BITMASK_READ_ONLY = 1, ///< The consumer must not write the elements.
    DLPACK_FLAG_BITMASK_IS_COPIED = 2 ///< The producer has made a copy for the consumer.
};

/// A version of DLPack: `DLPACK_MAJOR_VERSION` and `DLPACK_MINOR_VERSION`.
typedef struct DLPackVersion {
    /// Another one means another layout.
    uint32_t major;
    /// Another one means more codes.
    uint32_t minor;
} DLPackVersion;

/// A kind of device.
typedef enum DLDeviceType {
    kDLCPU = 1,                  ///< The memory of the host.
    kDLCUDA = 2,                 ///< The memory of a GPU with CUDA.
    kDLCUDAHost = 3              ///< Memory of the host that CUDA has pinned.
} DLDeviceType;

/// A device.
typedef struct DLDevice {
    /// Its kind.
    DLDeviceType device_type;
    /// Its number; 0 for the host.
    int32_t device_id;
} DLDevice;

enum {
    kDLInt = 0,                  ///< Signed integers.
    kDLUInt = 1,                 ///< Unsigned integers.
    kDLFloat = 2,                ///< IEEE 754 floats.
    kDLBfloat = 4,               ///< The upper halves of float32.
    kDLBool = 6                  ///< Truth values, one byte each.
};

/// An element type.
typedef struct DLDataType {
    /// `kDLInt`, `kDLUInt`, `kDLFloat`, `kDLBfloat`, `kDLBool`, or one that thorn has no dtype for.
    uint8_t code;
    /// Bits of a number.
    uint8_t bits;
    /// Numbers of an element; thorn has 1.
    uint16_t lanes;
} DLDataType;

/// A strided tensor.
typedef struct DLTensor {
    /// The memory; the first element lies `byte_offset` bytes behind.
    void *data;
    /// Where the memory is.
    struct DLDevice device;
    /// Number of dimensions.
    int32_t ndim;
    /// Element type.
    struct DLDataType dtype;
    /// `ndim` sizes.
    int64_t *shape;
    /// `ndim` strides, in elements; NULL for row-major.
    int64_t *strides;
    /// Bytes from `data` to the first element.
    uint64_t byte_offset;
} DLTensor;

/// A tensor on its way from a producer to a consumer.
typedef struct DLManagedTensorVersioned {
    /// Fields behind `deleter` have this layout only where the major version is `DLPACK_MAJOR_VERSION`.
    struct DLPackVersion version;
    /// The producer's own.
    void *manager_ctx;
    /// Called once by the consumer when it no longer needs the tensor; may be NULL.
    void (*deleter)(struct DLManagedTensorVersioned *tensor);
    /// `DLPACK_FLAG_BITMASK_READ_ONLY`, `DLPACK_FLAG_BITMASK_IS_COPIED`.
    uint64_t flags;
    /// The tensor.
    struct DLTensor dl_tensor;
} DLManagedTensorVersioned;

/// A tensor on its way from a producer to a consumer, as it was before version 1.
typedef struct DLManagedTensor {
    /// The tensor.
    struct DLTensor dl_tensor;
    /// The producer's own.
    void *manager_ctx;
    /// Called once by the consumer when it no longer needs the tensor; may be NULL.
    void (*deleter)(struct DLManagedTensor *tensor);
} DLManagedTensor;

#endif /* DLPACK_DLPACK_H_ */

#ifndef ARROW_C_DATA_INTERFACE
/// Defined where the types that follow are, by this header or by their own.
#define ARROW_C_DATA_INTERFACE

enum {
    ARROW_FLAG_DICTIONARY_ORDERED = 1, ///< The dictionary's order has a meaning.
    ARROW_FLAG_NULLABLE = 2,     ///< There may be nulls.
    ARROW_FLAG_MAP_KEYS_SORTED = 4 ///< The keys of each map are sorted.
};

/// The type of an array. The consumer calls `release` once; a struct whose `release` is NULL has been released or moved
/// elsewhere.
typedef struct ArrowSchema {
    /// The type; one letter for numbers: `f` is float32.
    const char *format;
    /// The name of a field, or NULL.
    const char *name;
    /// Keys and values in a binary form, or NULL.
    const char *metadata;
    /// `ARROW_FLAG_*` bits.
    int64_t flags;
    /// Number of children; 0 for numbers.
    int64_t n_children;
    /// The types of the children.
    struct ArrowSchema **children;
    /// The type of a dictionary's values, or NULL.
    struct ArrowSchema *dictionary;
    /// Ends what the struct refers to, and sets `release` to NULL.
    void (*release)(struct ArrowSchema *schema);
    /// The producer's own.
    void *private_data;
} ArrowSchema;

/// The memory of an array. The consumer calls `release` once; a struct whose `release` is NULL has been released or
/// moved elsewhere.
typedef struct ArrowArray {
    /// Number of values.
    int64_t length;
    /// Number of nulls; -1 if nobody has counted them.
    int64_t null_count;
    /// Values in the buffers before the first one of the array.
    int64_t offset;
    /// Number of buffers; 2 for numbers.
    int64_t n_buffers;
    /// Number of children; 0 for numbers.
    int64_t n_children;
    /// For numbers a bit for each value that is not null, or NULL, and the values.
    const void **buffers;
    /// The children.
    struct ArrowArray **children;
    /// The values of a dictionary, or NULL.
    struct ArrowArray *dictionary;
    /// Ends what the struct refers to, and sets `release` to NULL.
    void (*release)(struct ArrowArray *array);
    /// The producer's own.
    void *private_data;
} ArrowArray;

#endif /* ARROW_C_DATA_INTERFACE */

/// Returns the elements of `t` as a struct for a consumer of DLPack 1, without a copy. The consumer must call the
/// struct's deleter exactly once; `t` may be freed before. Strides are always given. NULL on error.
TH_NODISCARD DLManagedTensorVersioned *THTensor_toDLPack(const THTensor *t);

/// Returns the elements of `t` as toDLPack does, in the struct that DLPack had before version 1.
TH_NODISCARD DLManagedTensor *THTensor_toDLPackLegacy(const THTensor *t);

/// Returns a tensor that shares the elements of a producer of DLPack 1. The tensor takes ownership of `tensor`, and
/// calls the deleter once, when the last view is gone. On error the caller keeps `tensor`, and the deleter has not been
/// called. NULL strides mean row-major. Returns a new reference.
///
/// If `DLPACK_FLAG_BITMASK_READ_ONLY` is set, the elements are copied and the deleter is called at once, because a
/// tensor may be written. The same applies to uint16, which is copied to int32, and uint32, which is copied to int64.
TH_NODISCARD THTensor *THTensor_newFromDLPack(DLManagedTensorVersioned *tensor);

/// Returns a tensor as newFromDLPack does, from the struct that DLPack had before version 1, which cannot forbid
/// writing. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newFromDLPackLegacy(DLManagedTensor *tensor);

/// Fills in `schema` and `array` for a consumer of Arrow arrays, who shares the elements of `t`. The consumer must call
/// the `release` of `array` exactly once; `t` may be freed before. `t` has one dimension. Elements that are not
/// contiguous are copied, and so are Bool elements, which Arrow stores as bits. Arrow has no format for bfloat16. The
/// former contents of both structs are ignored; on error both are unchanged.
THStatus THTensor_toArrow(const THTensor *t, ArrowSchema *schema, ArrowArray *array);

/// Returns a tensor with one dimension that shares the values of an Arrow array of signed integers, uint8, floats or
/// truth values. The tensor takes ownership of both structs and sets their `release` to NULL. The producer's `release`
/// is called once, when the last view is gone. Truth values are copied, uint16 is copied to int32 and uint32 to int64;
/// an array that was copied is released at once. On error the caller keeps both structs. Nulls are an error; if
/// `null_count` is -1, they are counted. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newFromArrow(ArrowSchema *schema, ArrowArray *array);

/** @} */

/* ==================================================================================================================
 *
 *     41. Functions of the caller
 *
 * ================================================================================================================== */

/**
 * @defgroup functions_of_the_caller Functions of the caller
 *
 * Functions of the program that are called for each element. Errors: the call returns any code other than 0 that the
 * function returns, and the error's class is then `TH_ERR_CALLBACK`; `TH_ERR_SHAPE`, operands that do not broadcast;
 * `TH_ERR_DTYPE`, operands without a dtype; `TH_ERR_ARGUMENT`, a function that is NULL or that changed a storage.
 * @{
 */

/// Called by `apply` with each element, converted to a double.
///
/// The number stored in `x` becomes the element. If the function does not write to `x`, the element keeps all its bits,
/// even an int64. The function returns 0 to continue; any other number stops `apply`, which returns the number. The
/// function must not free or resize the tensors, throw, or longjmp.
typedef int (*THApplyFunction)(double *x, void *context);

/// As `THApplyFunction`, with the element `y` of a second tensor at the same index.
typedef int (*THMapFunction)(double *x, double y, void *context);

/// As `THApplyFunction`, with the elements `y` and `z` of two more tensors at the same index.
typedef int (*THMap2Function)(double *x, double y, double z, void *context);

/// `t = function(t)`, element by element in row-major order, on the calling thread. The function may leave an element
/// unchanged. If the function returns a code other than 0, the call stops and returns this code; elements changed
/// before stay changed.
THStatus THTensor_apply(THTensor *t, THApplyFunction function, void *context);

/// `t = function(t, src)`, element by element as in apply. `src` broadcasts to the shape of `t`.
THStatus THTensor_map(THTensor *t, const THTensor *src, THMapFunction function, void *context);

/// `t = function(t, a, b)`, element by element as in apply. `a` and `b` broadcast to the shape of `t`.
THStatus THTensor_map2(THTensor *t, const THTensor *a, const THTensor *b, THMap2Function function, void *context);

/** @} */

/* ==================================================================================================================
 *
 *     42. Storages
 *
 * ================================================================================================================== */

/**
 * @defgroup storages Storages
 *
 * A storage owns a block of elements of one dtype. Tensors allocate their storages themselves. Errors:
 * `TH_ERR_ARGUMENT`, an index, size or flag out of range, or a storage that cannot be resized; `TH_ERR_SHAPE`, storages
 * of different lengths; `TH_ERR_IO`, a file that cannot be mapped.
 * @{
 */

enum {
    /// Writes reach the file, which is opened for reading and writing, created if it does not exist, and extended if it
    /// is too short. Without this flag and `TH_ALLOCATOR_MAPPED_SHAREDMEM` the file is only read, and writes to the
    /// memory stay private.
    TH_ALLOCATOR_MAPPED_SHARED = 1,
    /// As `TH_ALLOCATOR_MAPPED_SHARED`, for a POSIX shared memory object (`shm_open`), whose name is removed with the
    /// mapping.
    TH_ALLOCATOR_MAPPED_SHAREDMEM = 2,
    TH_ALLOCATOR_MAPPED_EXCLUSIVE = 4, ///< The file or object must not exist yet.
    TH_ALLOCATOR_MAPPED_NOCREATE = 8, ///< The file or object must exist already.
    /// The descriptor stays open as long as the mapping, for `THMapAllocatorContext_fd`.
    TH_ALLOCATOR_MAPPED_KEEPFD = 16,
    /// The context has an open descriptor. Names are not used, except by `TH_ALLOCATOR_MAPPED_UNLINK`.
    TH_ALLOCATOR_MAPPED_FROMFD = 32,
    TH_ALLOCATOR_MAPPED_UNLINK = 64 ///< The name is removed as soon as the memory is mapped.
};

/// The malloc family as an allocator; its context is ignored.
extern TH_IMPORTED const THAllocator THDefaultAllocator;

/// Maps counted shared memory as its context, a `THMapAllocatorContext`, says; `free` ends the mapping and the context,
/// and the object with its last user.
extern TH_IMPORTED const THAllocator THRefcountedMapAllocator;

/// The context of `THMapAllocator` and `THRefcountedMapAllocator`: the file to map and, once mapped, its memory. A
/// context is used for one mapping.
///
/// If a program truncates a mapped file, access beyond the new end raises SIGBUS. The library cannot prevent this.
typedef struct THMapAllocatorContext THMapAllocatorContext;

/// Maps what its context, a `THMapAllocatorContext`, says; `free` ends the mapping and the context.
extern TH_IMPORTED const THAllocator THMapAllocator;

/// A pointer to the first element; NULL if the storage is empty. Borrowed: valid until the storage is resized or freed.
void *THStorage_data(const THStorage *storage);

/// The number of elements; -1 on error.
ptrdiff_t THStorage_size(const THStorage *storage);

/// The number of bytes of an element; 0 on error.
size_t THStorage_elementSize(const THStorage *storage);

/// The element type; `TH_UNDEFINED` on error.
THDtype THStorage_dtype(const THStorage *storage);

/// `TH_CPU` or `TH_CUDA`; 0 on error.
THDeviceType THStorage_deviceType(const THStorage *storage);

/// The current number of references; 0 on error.
int THStorage_refcount(const THStorage *storage);

/// `storage[index] = value`, converted to the dtype of the storage.
THStatus THStorage_set(THStorage *storage, ptrdiff_t index, double value);

/// `storage[index] = value` for an int64, which a double may be unable to hold.
THStatus THStorage_setLong(THStorage *storage, ptrdiff_t index, int64_t value);

/// `storage[index]`; NaN on error. int64 values beyond 2^53 are rounded.
double THStorage_get(const THStorage *storage, ptrdiff_t index);

/// `storage[index]` as an integer, exact for int64; floats are truncated. -1 on error.
int64_t THStorage_getLong(const THStorage *storage, ptrdiff_t index);

/// An empty storage. Returns a new reference.
TH_NODISCARD THStorage *THStorage_new(THDtype dtype);

/// A storage of `size` elements with undefined values. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newWithSize(THDtype dtype, ptrdiff_t size);

/// A storage of `size` elements with undefined values in pinned memory of the host. GPUs copy from and to pinned memory
/// faster, and while the host continues. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newPinned(THDtype dtype, ptrdiff_t size);

/// A storage of one element, `v0`. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newWithSize1(THDtype dtype, double v0);

/// A storage of two elements, `v0` and `v1`. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newWithSize2(THDtype dtype, double v0, double v1);

/// A storage of three elements, `v0` to `v2`. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newWithSize3(THDtype dtype, double v0, double v1, double v2);

/// A storage of four elements, `v0` to `v3`. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newWithSize4(THDtype dtype, double v0, double v1, double v2, double v3);

/// A storage over a file, or over POSIX shared memory with `TH_ALLOCATOR_MAPPED_SHAREDMEM`; `size` <= 0 maps the whole
/// file. Without `TH_ALLOCATOR_MAPPED_SHARED` and `TH_ALLOCATOR_MAPPED_SHAREDMEM` writes do not reach the file. Pipes,
/// devices and directories are refused. The storage cannot be resized. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newWithMapping(THDtype dtype, const char *filename, ptrdiff_t size, int flags);

/// A storage that takes over `data`: `size` elements from `THAlloc` or malloc, freed with the storage. On error the
/// caller keeps `data`. The address must be a multiple of the element size. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newWithData(THDtype dtype, void *data, ptrdiff_t size);

/// A storage of `size` elements from `allocator`, which must outlive the storage: an allocator of the program,
/// `THDefaultAllocator`, `THMapAllocator` or `THRefcountedMapAllocator`. The storage takes over `allocatorContext`.
/// When the storage ends, it calls `free` with this context and the block, or NULL if there is no block. On error
/// `free` is not called, and the caller keeps the context. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newWithAllocator(THDtype dtype, ptrdiff_t size, const THAllocator *allocator,
                                                   void *allocatorContext);

/// A storage that takes over `data`, which `allocator` frees with the storage. On error the caller keeps `data`. `data`
/// is as for newWithData. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newWithDataAndAllocator(THDtype dtype, void *data, ptrdiff_t size,
                                                          const THAllocator *allocator, void *allocatorContext);

/// A storage that shares `data` with the caller. `deleter(data, context)` is called once, when the last reference is
/// given up; `deleter` may be NULL. On error it is not called. The storage cannot be resized. `data` is as for
/// newWithData. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newFromBlob(THDtype dtype, void *data, ptrdiff_t size, THDeleter deleter,
                                              void *context);

/// Sets the `TH_STORAGE_*` bits of `flag`.
THStatus THStorage_setFlag(THStorage *storage, char flag);

/// Clears the `TH_STORAGE_*` bits of `flag`.
THStatus THStorage_clearFlag(THStorage *storage, char flag);

/// Exchanges everything except the reference counts, including the dtypes.
THStatus THStorage_swap(THStorage *storage1, THStorage *storage2);

/// Changes the number of elements to `size`. The first elements are kept; new elements are undefined. Fails on foreign,
/// mapped and shared memory. An allocator of the program is asked for at least one byte, because its block must exist
/// as long as the storage.
THStatus THStorage_resize(THStorage *storage, ptrdiff_t size);

/// `storage[i] = value` for every element; `value` must be in the range that `THTensor_fill` accepts.
THStatus THStorage_fill(THStorage *storage, double value);

/// Copies all elements from `src`, which holds as many elements of the storage's dtype as the storage has.
THStatus THStorage_rawCopy(THStorage *storage, const void *src);

/// Copies all elements of `src`, converted from the dtype of `src`; both storages must have the same size.
THStatus THStorage_copy(THStorage *storage, const THStorage *src);

/// Adds a reference; NULL is ignored. Safe from any thread.
void THStorage_retain(THStorage *storage);

/// Releases a reference; the last one frees the storage. NULL is ignored. Safe from any thread.
void THStorage_free(THStorage *storage);

/** @} */

/* ==================================================================================================================
 *
 *     43. Memory
 *
 * ================================================================================================================== */

/**
 * @defgroup memory Memory
 *
 * Blocks of memory, statistics, the memory that is kept for reuse, and a limit that calls a garbage collector. Errors:
 * `TH_ERR_NOMEM`, memory has run out; `TH_ERR_ARGUMENT`, a limit or a size is negative.
 * @{
 */

/// Memory statistics of the process, as reported by `THMemory_stats`.
typedef struct THMemoryStats {
    /// The number of allocated bytes, including memory of other allocators. Exact while no thread allocates.
    int64_t live_bytes;
    /// The greatest observed value of `live_bytes`. Threads report every 64 KiB, but not while they reuse small blocks.
    int64_t peak_bytes;
    /// The number of bytes kept for reuse: freed blocks, including the lists of all threads, and plans of Fourier
    /// transforms.
    int64_t cached_bytes;
    /// The maximum number of bytes in the cache that all threads share.
    int64_t cache_limit;
    /// The number of allocated blocks so far.
    int64_t allocations;
    /// The number of allocated blocks so far that were reused.
    int64_t cache_hits;
} THMemoryStats;

/// A function of the program, called with the live bytes on the thread that allocates.
///
/// The function may free memory and allocate. It must return, and must not throw or longjmp. No lock is held during the
/// call, except the lock of a generator that numbers are being drawn from. Drawing from that generator in the hook is
/// an error.
typedef void (*THMemoryHook)(void *ctx, int64_t live);

/// Allocates `size` bytes on the heap, aligned to 64 bytes if `size` is above 5120; for data that is passed to
/// `THStorage_newWithData`. NULL for 0 bytes and on error.
TH_NODISCARD void *THAlloc(ptrdiff_t size);

/// Changes the size of the block `ptr` to `size` bytes and returns the block, which may have moved. A `size` of 0 frees
/// the block; a NULL `ptr` allocates a new block. NULL on error, and the block `ptr` is then unchanged.
TH_NODISCARD void *THRealloc(void *ptr, ptrdiff_t size);

/// Frees a block that came from `THAlloc` or malloc; NULL is ignored.
void THFree(void *ptr);

/// Returns all memory that the caching allocator keeps for reuse to the system, and discards the cached plans of
/// Fourier transforms.
THStatus THAllocator_emptyCache(void);

/// Stores the counters of the caching allocator in `stats`.
THStatus THMemory_stats(THMemoryStats *stats);

/// Bytes in use by storages and handles, including foreign and mapped memory.
int64_t THMemory_liveBytes(void);

/// Calls `hook(context, live bytes)` on the allocating thread when the live bytes first exceed `bytes`, after each
/// further increase by a tenth, and once before an allocation fails. The hook is meant to run a garbage collector. It
/// may free tensors and must return. If `hook` is NULL, no function is called, and the program polls
/// `THMemory_pressure` instead. A NULL `hook` and 0 bytes turn the limit off.
THStatus THMemory_setSoftLimit(int64_t bytes, THMemoryHook hook, void *context);

/// 1 if the soft limit has called for a collection since the last call of this function or of `THMemory_setSoftLimit`,
/// else 0. For programs that cannot be called by a hook, such as code that LuaJIT has compiled, and poll between their
/// steps. A call costs as much as reading a flag.
int THMemory_pressure(void);

/** @} */

/* ==================================================================================================================
 *
 *     44. Files
 *
 * ================================================================================================================== */

/**
 * @defgroup files Files
 *
 * An archive is a file with named tensors: a checkpoint of PyTorch or Torch7, safetensors, GGUF, NumPy arrays, a matrix
 * in Matrix Market format, a data set in svmlight format, a table of numbers or an image. An opened archive gives
 * names, dtypes and sizes without reading elements. Nothing in the file is executed or trusted. Nested lists,
 * dictionaries and tables become paths, and a tensor is named by its path: `model.layer.0.weight`. Numbers and texts in
 * them become metadata under such paths. A file of one tensor is an archive with one tensor, whose name is "".
 * `THArchive_newTensor` and `THArchive_newBytes` map tensors of 64 KiB or more whose elements the file stores in the
 * same form as memory. Writes to a mapped tensor are private to the process. The file should not be changed in place:
 * elements may then change, and access beyond the end of a truncated file raises SIGBUS. `numpy.save` and `torch.save`
 * truncate an existing file and write it in place. Functions of thorn replace the file by a new one, and mapped tensors
 * keep the elements of the old file. `THArchive_openWith` with `TH_OPEN_COPY` opens a file without mapping;
 * `THTensor_newLoad` and `THArchive_read` copy as well. uint16 is read as int32, and uint32 as int64. An exported
 * program of PyTorch 2.6 or later (`.pt2`) has the tensors of its parameters, buffers and constants, with the names of
 * the state dict. Metadata has the versions and the names of the arguments of `forward`. Archives of several programs
 * are refused. These block types of GGUF are decoded to float32: Q4_0 to Q8_0, Q2_K to Q6_K, IQ4_NL, IQ4_XS, TQ1_0,
 * TQ2_0 and MXFP4. `THArchive_newBytes` returns the bytes of the others. Sparse tensors have separate functions; the
 * functions of dense tensors refuse them with `TH_ERR_UNSUPPORTED`. PyTorch and SciPy (`scipy.sparse.save_npz`) store
 * sparse tensors as coordinates (COO) or as compressed rows (CSR). A file of SciPy is one sparse tensor without a name.
 * In Matrix Market format, `coordinate` files are sparse and `array` files are dense. Real numbers become float64,
 * integers int64, and a pattern has the float64 value 1 at each entry. Symmetric and skew-symmetric matrices are
 * expanded; complex ones are refused. Files compressed by gzip (`.mtx.gz`) are read, too. thorn writes the kind
 * `general`, with the shortest numbers that read back the same, and a pattern if the values are Bool. A file in
 * svmlight format, also called libsvm, has a line `label index:value index:value ... # comment` for each row, with
 * ascending indices from 1. It is an archive with the float64 vector `labels` and the float64 matrix `data`, compressed
 * by rows; pairs `qid:number` after the labels become the int64 vector `qid`. The number of columns is the greatest
 * index, because the format does not have the number. `data` is written from a sparse matrix with all its entries, or
 * from the elements of a dense one that are not 0. A file whose first row has a label only is read in this format if
 * its name ends with `.svm`, `.svmlight` or `.libsvm`. A file is replaced as a whole: the new file is written to disk
 * next to the old one and then renamed, so that a failure or a killed process leaves the old file intact. A file that
 * this process may not write to is not replaced. On systems that support files without a name, as Linux does on most
 * file systems, a killed process leaves no temporary file. Errors: `TH_ERR_IO`, the system or a function of the caller
 * refused to read or write; `TH_ERR_FORMAT`, the file is broken, and the message gives the byte offset, or the file has
 * no known format; `TH_ERR_UNSUPPORTED`, a tensor is of a kind that thorn does not have, or a format that thorn does
 * not write.
 * @{
 */

enum {
    TH_OPEN_COPY = 1             ///< A flag of `THArchive_openWith`: elements are always copied and never mapped.
};

/// Reads at most `size` bytes from the current position into `buffer`. Returns the number of bytes, 0 at the end, or a
/// negative number on failure.
typedef ptrdiff_t (*THReadFunction)(void *ctx, void *buffer, ptrdiff_t size);

/// Sets the current position, like fseek: `offset` bytes from the beginning if `whence` is SEEK_SET (0), or from the
/// end if `whence` is SEEK_END (2). Returns the new position from the beginning, or a negative number on failure.
typedef int64_t (*THSeekFunction)(void *ctx, int64_t offset, int whence);

/// A format of files.
typedef enum THFileFormat {
    /// The format of the file name's extension: `.pt` and `.pth`, `.t7`, `.npy`, `.npz`, `.safetensors`, `.mtx`,
    /// `.svm`, `.svmlight` and `.libsvm`, `.csv`, `.tsv`, `.pgm`, `.ppm`, `.png`.
    TH_FILE_BY_NAME = 0,
    TH_FILE_PT = 1,              ///< PyTorch's files since 1.6: a zip archive with a pickle.
    TH_FILE_PT_LEGACY = 2,       ///< PyTorch's files before 1.6, a sequence of pickles. Read-only.
    TH_FILE_T7 = 3,              ///< Torch7's files, binary.
    TH_FILE_T7_ASCII = 4,        ///< Torch7's files as text.
    TH_FILE_NPY = 5,             ///< NumPy's files of one array.
    TH_FILE_NPZ = 6,             ///< NumPy's files of several arrays, a zip archive.
    /// NumPy's files of several arrays, compressed. Only for writing: such files are read as `TH_FILE_NPZ`.
    TH_FILE_NPZ_DEFLATED = 7,
    TH_FILE_SAFETENSORS = 8,     ///< safetensors.
    TH_FILE_GGUF = 9,            ///< ggml's files. Read-only.
    TH_FILE_CSV = 10,            ///< A table of numbers as text, separated by commas.
    TH_FILE_TSV = 11,            ///< A table of numbers as text, separated by tabs.
    TH_FILE_PNM = 12,            ///< Images in PGM and PPM.
    TH_FILE_PNG = 13,            ///< Images in PNG.
    TH_FILE_MATRIX_MARKET = 14,  ///< Matrix Market: a sparse or dense matrix as text.
    TH_FILE_SVMLIGHT = 15,       ///< svmlight, also called libsvm: a data set as text, with labels and a sparse matrix.
    /// Programs that PyTorch exported. Only for reading: the tensors are the parameters, buffers and constants.
    TH_FILE_PT2 = 16
} THFileFormat;

/// Reads the only tensor of the file `path`. Elements are copied, so that the file may change afterwards. Returns a new
/// reference.
TH_NODISCARD THTensor *THTensor_newLoad(const char *path);

/// Writes a tensor without a name to the file `path`. The file name's extension determines the format.
THStatus THTensor_save(const THTensor *t, const char *path);

/// The only sparse tensor of the file `path`, of Matrix Market, SciPy (`.npz`) or PyTorch, as `THArchive_newSparse`
/// returns it. Its components are read, so the file may change afterwards. Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_newLoad(const char *path);

/// Writes a sparse tensor without a name to the file `path`, whose extension selects the format: `.mtx` for a matrix of
/// coordinates, `.npz` for a file that `scipy.sparse.load_npz` reads, `.pt` for a file that `torch.load` reads. In
/// `.mtx` and `.npz` files matrices cannot have dense dimensions.
THStatus THSTensor_save(const THSTensor *s, const char *path);

/// The sparse tensor `index`, with coordinates or compressed by rows as in the file. A matrix that is compressed by
/// columns gets coordinates. Duplicate positions are kept; positions out of range are `TH_ERR_ARGUMENT`. Returns a new
/// reference; NULL on error.
TH_NODISCARD THSTensor *THArchive_newSparse(const THArchive *archive, int64_t index);

/// Adds a sparse tensor with the name `name`. The archive holds references to its positions and values, whose elements
/// `THArchive_close` reads. PyTorch's files hold any number of sparse tensors, also together with dense tensors. An
/// `.npz` or Matrix Market file holds a single sparse tensor. Compressed rows whose columns are not distinct and
/// ascending are written as coordinates.
THStatus THArchive_addSparse(const THArchive *archive, const char *name, const THSTensor *s);

/// Opens the file `path` for reading. The format is recognised from the file's content. Pipes, devices and directories
/// are refused. Free the archive with `THArchive_free`; NULL on error.
THArchive *THArchive_open(const char *path);

/// Opens a file as `THArchive_open` does, with `flags`: with `TH_OPEN_COPY` elements are always copied and never
/// mapped; with 0 they may be mapped. Free the archive with `THArchive_free`; NULL on error.
THArchive *THArchive_openWith(const char *path, int flags);

/// Opens a table of numbers whose columns are separated by the character `separator`. `THArchive_open` guesses the
/// separator. Free the archive with `THArchive_free`; NULL on error.
THArchive *THArchive_openTable(const char *path, int separator);

/// Opens a file in memory: `size` bytes from `data` on. The memory must be valid and unchanged until the archive is
/// freed. Tensors are copies. Free the archive with `THArchive_free`; NULL on error.
THArchive *THArchive_openMemory(const void *data, ptrdiff_t size);

/// Opens a file that two functions of the caller read: `read(context, buffer, size)` and `seek(context, offset,
/// whence)`, which behave as fread and fseek. They are called until the archive is freed, by one thread at a time. The
/// calling thread is either the thread that uses the archive, with its usual signal mask, or a thread of the library
/// that blocks all signals and for which the thread that uses the archive waits. Free the archive with
/// `THArchive_free`; NULL on error.
THArchive *THArchive_openCallbacks(THReadFunction read, THSeekFunction seek, void *context);

/// Frees an archive; NULL is ignored. Tensors read from the archive stay valid. An archive created for writing and not
/// closed leaves no file.
void THArchive_free(THArchive *archive);

/// Returns the format of the file; `TH_FILE_BY_NAME` on error.
THFileFormat THArchive_format(const THArchive *archive);

/// Returns the number of tensors; -1 on error.
int64_t THArchive_count(const THArchive *archive);

/// Returns the name of tensor `index`, counted from 0. Borrowed: valid as long as the archive. NULL on error.
const char *THArchive_name(const THArchive *archive, int64_t index);

/// Returns the index of the first tensor named `name`; -1 if there is none.
int64_t THArchive_find(const THArchive *archive, const char *name);

/// Returns the dtype of tensor `index`; for a sparse tensor, the dtype of its values. `TH_UNDEFINED` on error, and for
/// tensors of types that thorn does not have: quantised and complex ones.
THDtype THArchive_dtype(const THArchive *archive, int64_t index);

/// Returns the block type of tensor `index`, whose bytes `THArchive_newBytes` returns; `TH_BLOCK_NONE` on error, for
/// tensors without blocks, and for block types that thorn does not decode.
THBlockType THArchive_blockType(const THArchive *archive, int64_t index);

/// Returns the number of dimensions of tensor `index`; -1 on error.
int64_t THArchive_ndim(const THArchive *archive, int64_t index);

/// Returns the sizes of tensor `index`, one for each dimension. Borrowed: valid as long as the archive. NULL on error.
const int64_t *THArchive_sizes(const THArchive *archive, int64_t index);

/// Returns 1 if tensor `index` is sparse; 0 if it is not, and on error.
int THArchive_isSparse(const THArchive *archive, int64_t index);

/// Returns the number of entries of the sparse tensor `index`; -1 on error, and if the tensor is not sparse.
int64_t THArchive_nnz(const THArchive *archive, int64_t index);

/// Returns the number of keys of the metadata; -1 on error.
int64_t THArchive_metadataCount(const THArchive *archive);

/// Returns key `index` of the metadata, counted from 0. Borrowed: valid as long as the archive. NULL on error.
const char *THArchive_metadataKey(const THArchive *archive, int64_t index);

/// Returns the value of key `index` of the metadata, counted from 0. Borrowed: valid as long as the archive. NULL on
/// error.
const char *THArchive_metadataValue(const THArchive *archive, int64_t index);

/// Returns the value of `key` in the metadata. Borrowed: valid as long as the archive. NULL if there is no such key,
/// and on error.
const char *THArchive_metadata(const THArchive *archive, const char *key);

/// Returns tensor `index` with the strides that it has in the file. Tensors of one archive that share elements in the
/// file share a storage here. Returns a new reference; NULL on error.
TH_NODISCARD THTensor *THArchive_newTensor(const THArchive *archive, int64_t index);

/// Returns the first tensor named `name`, read as by `THArchive_newTensor`. Returns a new reference; NULL on error, and
/// if there is no such tensor.
TH_NODISCARD THTensor *THArchive_newFind(const THArchive *archive, const char *name);

/// Returns the bytes of the elements of tensor `index` in row-major order, unconverted, as a vector of uint8. This
/// gives access to types that thorn does not have, such as float8, complex numbers and blocks of GGUF, and to types
/// that thorn converts. In GGUF, the bytes of a tensor of unknown type extend to the next tensor. `TH_ERR_UNSUPPORTED`
/// where the file stores elements as text or compressed, unless thorn lacks their type. Returns a new reference; NULL
/// on error.
TH_NODISCARD THTensor *THArchive_newBytes(const THArchive *archive, int64_t index);

/// `r` = a copy of tensor `index`.
THStatus THArchive_read(THTensor *r, const THArchive *archive, int64_t index);

/// `r` = the first tensor named `name`, as `THTensor_copy` copies it: `r` keeps its dtype, device and shape.
THStatus THArchive_copy(THTensor *r, const THArchive *archive, const char *name);

/// Creates an archive that `THArchive_close` writes to the file `path`. `format` is one of `TH_FILE_*`. Free the
/// archive with `THArchive_free`; NULL on error.
THArchive *THArchive_create(const char *path, THFileFormat format);

/// Adds a tensor with this name. A name can be used only once. The archive keeps a reference to the tensor's storage;
/// `THArchive_close` reads its elements. Files of PyTorch and Torch7 keep strides and shared storages, and contain each
/// storage whole. In other formats tensors are row-major.
THStatus THArchive_add(const THArchive *archive, const char *name, const THTensor *t);

/// Adds a key and its value to the metadata. Files of NumPy, Matrix Market, svmlight, PGM and PPM have none. Tables
/// accept only the names of their columns, under the keys `columns.0`, `columns.1` and so on.
THStatus THArchive_addMetadata(const THArchive *archive, const char *key, const char *value);

/// Sets the number of significant digits of floats in text formats, from 0 to 17. 0, the default, means the fewest
/// digits that identify each number.
THStatus THArchive_setPrecision(const THArchive *archive, int digits);

/// Writes the file. Afterwards the archive can only be freed. On failure an existing file is unchanged, and the archive
/// may be closed again.
THStatus THArchive_close(const THArchive *archive);

/** @} */

/* ==================================================================================================================
 *
 *     45. Mapped files and shared memory
 *
 * ================================================================================================================== */

/**
 * @defgroup mapped_files_and_shared_memory Mapped files and shared memory
 *
 * A file is mapped by `THStorage_newWithMapping`, or by a context for one of two allocators. The file may be larger
 * than memory, because the system only reads the pages that are used. Processes share memory by a descriptor.
 * `THTensor_shareMemory` moves a tensor to anonymous shared memory of fixed length. Another process opens this memory
 * by a descriptor that it received over a socket (SCM_RIGHTS) or inherited, or by the name `/proc/PID/fd/N`. The memory
 * is freed when the last process that uses it ends, even if that process is killed. The processes must order their
 * reads and writes themselves. Shared memory cannot be resized, and each storage in shared memory keeps a descriptor
 * open. Errors: `TH_ERR_IO`, the operating system refused the file or object, or it is too short; `TH_ERR_ARGUMENT`,
 * flags that contradict each other, memory that cannot move, or a storage that is not shared; `TH_ERR_UNSUPPORTED`, an
 * operation that mapped memory does not support.
 * @{
 */

/// Moves the storage of `t` to shared memory, for all tensors on that storage; a storage that is already shared stays
/// in place. Pointers to the old elements become invalid. A child process made by fork then shares the elements with
/// its parent. Memory that cannot move is refused: memory of the caller, a private mapping, and memory whose address
/// another library holds.
THStatus THTensor_shareMemory(THTensor *t);

/// 1 if other processes can see the elements of `t`, because they are in shared memory or in a file that is mapped as
/// shared; 0 if not and on error.
int THTensor_isShared(const THTensor *t);

/// A context with which `THMapAllocator` or `THRefcountedMapAllocator` maps the file `filename`. A storage that is made
/// with the context takes it over. Free an unused context with `THMapAllocatorContext_free`. NULL on error.
TH_NODISCARD THMapAllocatorContext *THMapAllocatorContext_new(const char *filename, int flags);

/// A context for the open descriptor `fd`, which the context takes over; `flags` must include
/// `TH_ALLOCATOR_MAPPED_FROMFD`. NULL on error.
TH_NODISCARD THMapAllocatorContext *THMapAllocatorContext_newWithFd(const char *filename, int fd, int flags);

/// The file name that the context was made with. Borrowed: valid as long as the context. NULL on error.
const char *THMapAllocatorContext_filename(THMapAllocatorContext *ctx);

/// The number of mapped bytes; -1 on error.
ptrdiff_t THMapAllocatorContext_size(THMapAllocatorContext *ctx);

/// The descriptor that `TH_ALLOCATOR_MAPPED_KEEPFD` keeps open; -1 if there is none and on error.
int THMapAllocatorContext_fd(THMapAllocatorContext *ctx);

/// Frees a context that no storage was made with.
THStatus THMapAllocatorContext_free(THMapAllocatorContext *ctx);

/// Increments the reference count of memory that `THRefcountedMapAllocator` mapped.
THStatus THRefcountedMapAllocator_incref(THMapAllocatorContext *ctx, void *data);

/// Decrements the reference count of memory that `THRefcountedMapAllocator` mapped; returns 1 if the count became 0,
/// else 0.
int THRefcountedMapAllocator_decref(THMapAllocatorContext *ctx, void *data);

/// 1 if other processes can see the elements, because they are in shared memory or in a file that is mapped as shared;
/// 0 if not and on error.
int THStorage_isShared(const THStorage *storage);

/// The descriptor of a shared storage, for sending to another process. The storage owns the descriptor and closes it
/// when the storage ends; use dup to keep it longer. -1 on error.
int THStorage_sharedFd(const THStorage *storage);

/// The name by which `THStorage_newShared` opens the shared storage in another process. The name is `/proc/PID/fd/N`,
/// which is valid in processes of the same user while this process keeps the storage, or the name given to a mapping. A
/// C string that the caller frees with `THFree`; NULL on error.
TH_NODISCARD char *THStorage_sharedName(const THStorage *storage);

/// A storage over the shared memory of the descriptor `fd`: its first `size` elements, or all if `size` is negative.
/// The caller keeps the descriptor and may close it at once. It is an error if the memory is shorter than `size`
/// elements. Another library may shorten its memory later; access beyond the end then ends the process by SIGBUS. The
/// length of thorn's shared memory is fixed. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newSharedFd(THDtype dtype, int fd, ptrdiff_t size);

/// A storage over memory that another process shares as `name`: a name from `THStorage_sharedName` or from shm_open.
/// The name is not removed. Otherwise as newSharedFd. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newShared(THDtype dtype, const char *name, ptrdiff_t size);

/** @} */

/* ==================================================================================================================
 *
 *     46. Errors
 *
 * ================================================================================================================== */

/**
 * @defgroup errors Errors
 *
 * These functions do not fail. `TH_OK`, 0, is the status of success.
 * @{
 */

/// Returns the name of a status in this header, such as `"TH_ERR_SHAPE"`. For other numbers, which callbacks may
/// return, the result is `"unknown status"`. Never freed.
const char *THStatus_name(THStatus status);

/// Returns the message of the last failed call on this thread; "" if no call failed since `THClearLastError`. The
/// message has the function's name, what is wrong, and values. It has at most 1023 bytes; a longer message is cut and
/// ends in "...". Never NULL. Borrowed: the text is valid until the next failing call on this thread. The address is
/// valid as long as the thread, and does not change unless memory runs out.
const char *THGetLastError(void);

/// Returns the status of the last failed call on this thread; `TH_OK` if no call failed since `THClearLastError`.
/// Successful calls do not change it.
THStatus THGetLastErrorCode(void);

/// Stores `message` and `status` as the last failure on this thread, and returns `status`. It serves functions built on
/// this library that report failures in the same way, and callbacks that this library calls. A `message` of NULL is "";
/// of a longer message the first 1023 bytes are kept. With `TH_OK` the function does the same as `THClearLastError`.
///
/// # Safety `message` is NULL or a C string.
THStatus THSetLastError(THStatus status, const char *message);

/// Clears the last failure of this thread.
void THClearLastError(void);

/** @} */

/* ==================================================================================================================
 *
 *     47. Threads
 *
 * ================================================================================================================== */

/**
 * @defgroup threads Threads
 *
 * The number of threads that an operation uses. Errors: `TH_ERR_ARGUMENT`, fewer than one thread.
 * @{
 */

/// Returns the number of threads that an operation may use, including the calling thread. It is initially
/// `TH_NUM_THREADS` of the environment, else the number of cores.
int THGetNumThreads(void);

/// Sets the number of threads that an operation may use, at least 1, for the whole process. Results do not depend on
/// this number.
THStatus THSetNumThreads(int num_threads);

/// Returns the number of cores on which this process may run.
int THGetNumCores(void);

/** @} */

/* ==================================================================================================================
 *
 *     48. BLAS of the machine
 *
 * ================================================================================================================== */

/**
 * @defgroup blas_of_the_machine BLAS of the machine
 *
 * An installed BLAS in place of the library's matrix products and linear algebra. Errors: `TH_ERR_IO`, the library
 * cannot be loaded; `TH_ERR_FORMAT`, the file is not a BLAS.
 * @{
 */

/// Lets a BLAS library of the machine compute products of float32 and float64 (gemm, gemv), for the whole process:
/// `THSetBlas("libopenblas.so.0")`. If the library includes LAPACK, it computes linear algebra, too (getrf, getrs,
/// getri, trtrs, potrf, potrs, potri, pstrf, geqrf, orgqr, ormqr, syevd, geev, gesdd). `path` is a file name that the
/// loader searches for, or a path, as for `dlopen`. The library's code runs in this process. NULL restores thorn's own
/// routines, the initial setting.
///
/// OpenBLAS, MKL (`libmkl_rt.so.2`), BLIS and the reference BLAS are supported, with integers of 32 or 64 bits. thorn
/// still computes convolutions, operations for which the library has no routine, and operands without a stride of 1.
/// The library then decides how many threads are used, and results depend on this number. A loaded library is never
/// unloaded.
///
/// Errors: `TH_ERR_IO`, the library cannot be loaded; `TH_ERR_FORMAT`, the file is not a BLAS. The previous setting
/// then remains in effect.
THStatus THSetBlas(const char *path);

/// Returns the path that `THSetBlas` loaded for the library in use; NULL if thorn's own routines are in use. Never
/// freed.
const char *THGetBlas(void);

/** @} */

/* ==================================================================================================================
 *
 *     49. Versions
 *
 * ================================================================================================================== */

/**
 * @defgroup versions Versions
 *
 * The versions and the declarations of the loaded library. Errors: `TH_ERR_ARGUMENT`, a chapter that does not exist.
 * @{
 */

/// The first number of the version, which changes with the API.
#define TH_VERSION_MAJOR 0

/// The second number of the version.
#define TH_VERSION_MINOR 1

/// The third number of the version.
#define TH_VERSION_PATCH 0

/// The version of the binary interface, and the number in the shared library's name, `libthorn.so.0`. It changes
/// whenever programs must be recompiled.
#define TH_ABI_VERSION 0

/// Returns the declarations of this library as plain C that needs no preprocessor: `ffi.cdef(ffi.string(lib.THCdef()))`
/// in LuaJIT; Python's cffi reads them, too. Never freed.
///
/// `THCdef` and `THCdefChapter` are not included; the caller declares them: `const char *THCdef(void);`. `FILE *` is
/// declared as `void *`.
const char *THCdef(void);

/// Returns the part of `THCdef` that declares the functions of the chapter with this title, such as `"Matrix
/// products"`, or, for `""`, all types and constants. Every chapter needs the types and constants first. Slow parsers,
/// such as cffi, can thus read only the chapters that they need. The result is a C string that the caller frees with
/// `THFree`; NULL on error. The caller declares the function: `char *THCdefChapter(const char *title);`.
TH_NODISCARD char *THCdefChapter(const char *title);

/// Returns the version of the library in use, such as `"0.1.0"`. Never freed.
const char *THVersion(void);

/// Returns `TH_ABI_VERSION` of the library in use.
int THAbiVersion(void);

/// Returns the vector instruction set that kernels use on this machine: `"baseline"`, `"avx2"` or `"avx512"`. Never
/// freed.
const char *THSimdLevel(void);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* THORN_H */
