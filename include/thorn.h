/**
 * @file thorn.h
 * @brief thorn: Torch tensors as a plain C library.
 *
 *     int64_t size[2] = {2, 3};
 *     THTensor *a = THTensor_newOnes(TH_FLOAT32, 2, size);     // a new reference: yours to free
 *     THTensor *r = THTensor_new();                            // a fresh handle takes what is written to it
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
 *     21. Gradients
 *     22. Optimizers
 *     23. Sorting and searching
 *     24. Order statistics and histograms
 *     25. Matrix products
 *     26. Products of compressed rows
 *     27. Linear algebra
 *     28. Convolution
 *     29. Pooling
 *     30. Fourier transforms
 *     31. Sparse tensors
 *     32. Random generators
 *     33. Random numbers
 *     34. Devices
 *     35. Streams, events and graphs
 *     36. Exchange with other libraries
 *     37. Functions of the caller
 *     38. Storages
 *     39. Memory
 *     40. Files
 *     41. Mapped files and shared memory
 *     42. Errors
 *     43. Threads
 *     44. BLAS of the machine
 *     45. Versions
 *
 * Conventions
 * ===========
 *
 * **Handles.** A THTensor is a view (sizes, strides, offset, element type) of a THStorage, which owns memory. The
 * fields of both structs are open: read `t->size[d]`, `t->stride[d]`, `t->storage` and `THTensor_data(t)` as you like,
 * and change them through functions. Strides count elements. A tensor has at most 1024 dimensions.
 *
 * **Ownership.** A function whose name begins with `new` returns a new reference: give it up with THTensor_free or
 * THStorage_free. `retain` adds a reference. A tensor holds a reference to its storage, so that views keep memory
 * alive. Every other pointer that is returned is borrowed: it is valid until the handle it came from changes or is
 * freed. A function takes over no argument unless its comment says so.
 *
 * **Arguments.** The result comes first, and behind it what the formula has, in the order of the formula:
 * `THTensor_cadd(r, t, value, src)` is `r = t + value * src`. TH's order stays where TH has the function. Inputs are
 * `const`; `r == t` computes in place. A `THGenerator *` may be NULL, which stands for the calling thread's own. NULL
 * for anything else is an error unless the comment allows it.
 *
 * **Results.** `r` may be a fresh handle, which THTensor_new gives: it takes dtype, shape and memory of the result. Any
 * other `r` keeps its dtype, to which the result is converted, and is resized where its shape differs. Two conversions
 * are refused: floats into integers, and numbers into Bool. Where operands share memory with `r`, the result is as if
 * the inputs had been copied first.
 *
 * **Errors.** A function without a value of its own returns a THStatus: TH_OK, which is 0, or the kind of failure.
 * Every function may return `TH_ERR_ARGUMENT`, an argument is NULL that may not be, or a number is out of range;
 * `TH_ERR_NOMEM`, memory has run out; `TH_ERR_DEVICE`, tensors are on different devices, or the function does not run
 * on their device; and `TH_ERR_INTERNAL`, a fault of thorn's own. The introduction of a chapter says which others its
 * functions have, and what they mean there. If a function of the caller fails, the call returns the number which that
 * function returned; only `TH_ERR_INTERNAL` becomes `TH_ERR_CALLBACK`. The functions without a status return on
 * failure:
 *
 *     a pointer             NULL
 *     a double              NaN: getAt, item, sumall, normall and all that are computed from elements. Each NaN that is
 *                           returned or passed to a function of the caller is the quiet one without a sign or payload
 *     a size or a count     -1 (an amount of bytes: 0)
 *     yes or no             0: equal, isContiguous
 *     a dtype               TH_UNDEFINED
 *
 * THGetLastError() is the message of the last failure on this thread, THGetLastErrorCode() its status; where NaN, -1 or
 * 0 may be a right answer, call THClearLastError() before and ask for the code after. A function that fails leaves its
 * arguments as they were, except for apply, map and map2, whose elements before the failure stay changed. No argument
 * ends or hangs the process.
 *
 * **Names.** What Torch's TH has carries TH's name. What only PyTorch has carries PyTorch's, with capitals for
 * underscores: logical_and is logicalAnd. Where one operation has several forms, an ending says what differs from the
 * plain one:
 *
 *     Value         a number in place of the second tensor (ltValue); ValueTensor, Values: of the first one, of both
 *     Tensor        a tensor in place of a number (lerpTensor, quantileTensor)
 *     Dims          a list of dimensions in place of one (sumDims)
 *     all           all elements, and a number of C is returned (sumall)
 *     At            a list of indices (getAt, setAt)
 *     1d to 5d, Nd  so many sizes or indices one by one; a list of them
 *     Long          an int64 in place of a double (itemLong)
 *     Uniform       one number in place of a list, the same in each dimension (conv2dUniform)
 *     Like, As      the shape of another tensor (zerosLike, viewAs)
 *     Mode, Base, Format, Dtype, Kind, Scale, Correction   one more argument of that name
 *
 * `new` before a name gives a new handle. TH's `c` before a name is its form for a second tensor: add, cadd. cinv alone
 * is no such form.
 *
 * **Shapes.** Dimensions and indices start at 0, and negative ones count from the end. Operands broadcast as in NumPy.
 * A 0-d tensor has one element; sizes may be 0.
 *
 * **Dtypes.** Operands are promoted as in PyTorch: Bool < integers < floats. A 0-d tensor or a number counts only where
 * its kind is higher. A number is a double here; a whole one, -0.0 too, counts as an integer. Operands and numbers are
 * converted to the common dtype before they are used, with two exceptions: a number that multiplies or divides 16-bit
 * floats is not rounded, and a whole number that is compared with integers does not wrap. 16-bit floats are computed in
 * float32, and the result is rounded once. Floats become integers by truncation and saturation, and NaN becomes 0;
 * integers wrap into narrower ones, as in C. A number that is stored as it is (fill, full, setAt, maskedFill) must lie
 * in the range of an integer dtype; uint8 takes -255 to -1 too, which wrap.
 *
 * **Lists.** A list that you pass has its length before it: `ndim` if it has an entry for each of some dimensions, else
 * `count`. A function that returns several handles takes an array `r` with room for `*count` handles. If `r` is NULL,
 * it only stores in `*count` how many there will be; otherwise it stores that many new references. Too little room is
 * an error.
 *
 * **Callbacks.** A function that you pass (to apply, as a deleter, an allocator or a memory hook) must return: it may
 * neither throw nor longjmp. It must not free or resize the tensors of the call it serves. It runs on the calling
 * thread; a deleter on the thread that gives up the last reference.
 *
 * **Threads.** Reference counts are atomic: handles may be shared and freed on any thread. Any number of threads may
 * read the same tensors. Whoever writes a storage or changes a handle must keep others away meanwhile; views share
 * their storage. Errors and default generators belong to the thread. Operations use the threads of one pool; a call
 * from inside a call uses none. The pool's threads take no signals, and end when there is nothing to do. A process may
 * fork while other threads are inside the library, and the child may call every function. fork waits for critical
 * sections, at most one operation of each thread. Tensors that another thread was writing may be partly written in the
 * child; gradients, generators and optimizers are whole; an archive that another thread was using fails. GPUs do not
 * work in a child of a process that used one.
 *
 * **Versions.** TH_VERSION_MAJOR, TH_VERSION_MINOR and TH_VERSION_PATCH name the API, TH_ABI_VERSION the binary
 * interface; THVersion() and THAbiVersion() ask the library in use. Codes and the fields of structs keep their values
 * and places.
 *
 * **Languages.** The header is for C99 and C++98 and whatever came after them; of C++98 it asks for <stdint.h>, int64_t
 * and with it a type of 64 bits, which every compiler has. A reader without a preprocessor asks THCdef or
 * THCdefChapter.
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
 * A `THTensor *` is a handle: sizes, strides, an offset and an element type over a storage. It counts who holds it.
 * Errors: `TH_ERR_ARGUMENT`, flags that no tensor has.
 * @{
 */

/// Code of a kind of device in the C API; the values are DLPack's.
typedef enum THDeviceType {
    TH_CPU = 1,                  ///< Host memory.
    TH_CUDA = 2                  ///< NVIDIA GPU memory.
} THDeviceType;

/// Code of an element type in the C API. Codes are never renumbered.
typedef enum THDtype {
    TH_UNDEFINED = 0,            ///< No dtype yet: a fresh handle, before its first write.
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
    TH_TENSOR_REFCOUNTED = 1,    ///< The tensor counts its references; without this bit retain and free do nothing.
    TH_TENSOR_SCALAR = 2         ///< With `nDimension` 0: a scalar with one element.
};

enum {
    TH_STORAGE_REFCOUNTED = 1,   ///< The storage counts its references; without this bit retain and free do nothing.
    TH_STORAGE_RESIZABLE = 2,    ///< The storage may be resized.
    TH_STORAGE_FREEMEM = 4,      ///< The memory goes back to the allocator with the last reference.
    TH_STORAGE_VIEW = 8          ///< The memory belongs to the storage in `view`.
};

/// Where a storage's memory comes from: three functions that get the context stored beside the allocator.
///
/// `malloc` and `realloc` return NULL on failure; an allocator that cannot grow its memory leaves `realloc` NULL or
/// lets it return NULL.
typedef struct THAllocator {
    /// A block of `size` bytes.
    void *(*malloc)(void *ctx, ptrdiff_t size);
    /// The block `ptr` with `size` bytes, possibly elsewhere.
    void *(*realloc)(void *ctx, void *ptr, ptrdiff_t size);
    /// Ends the block `ptr`, and the context where it belongs to the block.
    void (*free)(void *ctx, void *ptr);
} THAllocator;

/// A block of elements of one dtype. The fields are part of the ABI and at TH's offsets; read them freely, write them
/// through functions.
typedef struct THStorage {
    /// First element; NULL when the storage is empty.
    void *data;
    /// Number of elements.
    ptrdiff_t size;
    /// References held; changed atomically by retain and free.
    int32_t refcount;
    /// `TH_STORAGE_*` bits.
    char flag;
    /// Element type: a `TH_FLOAT32` kind of code.
    uint8_t dtype;
    /// `TH_CPU` or `TH_CUDA`.
    int8_t deviceType;
    /// Ordinal of the GPU, 0 for the host.
    int8_t deviceIndex;
    /// Who gives the memory back.
    const struct THAllocator *allocator;
    /// The context that the allocator is called with.
    void *allocatorContext;
    /// With `TH_STORAGE_VIEW`: the storage whose memory this one shares.
    struct THStorage *view;
} THStorage;

/// A strided view of a storage. The fields are part of the ABI and at TH's offsets; read them freely, change them
/// through functions.
typedef struct THTensor {
    /// `nDimension` sizes.
    int64_t *size;
    /// `nDimension` strides, in elements.
    int64_t *stride;
    /// Number of dimensions. 0 is either a scalar (`TH_TENSOR_SCALAR`, one element) or a handle without a shape: a
    /// fresh one, before its first write. A tensor in which a size is 0 has dimensions like any other.
    int nDimension;
    /// The elements; NULL until the first write.
    struct THStorage *storage;
    /// Position of the first element in the storage.
    ptrdiff_t storageOffset;
    /// References held; changed atomically by retain and free.
    int32_t refcount;
    /// `TH_TENSOR_*` bits.
    char flag;
    /// Element type: a `TH_FLOAT32` kind of code, or `TH_UNDEFINED` until the first write.
    uint8_t dtype;
    /// `TH_CPU` or `TH_CUDA`.
    int8_t deviceType;
    /// Ordinal of the GPU, 0 for the host.
    int8_t deviceIndex;
} THTensor;

/// The result of a function: `TH_OK` or the kind of failure. The sentence is in `THGetLastError`.
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

/// A fresh handle: no dtype, no elements. The first operation that writes to it gives it dtype, shape and memory.
/// Returns a new reference.
TH_NODISCARD THTensor *THTensor_new(void);

/// A handle with a dtype, but no elements: the first operation that writes to it gives it shape and memory, converted
/// to this dtype as any result is. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newWithDtype(THDtype dtype);

/// Makes `t` a fresh handle again, as `THTensor_new` returns it: it gives up its storage, its sizes and its dtype.
THStatus THTensor_reset(THTensor *t);

/// A second handle on the elements of `t`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newWithTensor(THTensor *t);

/// The number of references that are held now; 0 on error.
int THTensor_refcount(const THTensor *t);

/// Sets `TH_TENSOR_*` bits.
THStatus THTensor_setFlag(THTensor *t, char flag);

/// Clears `TH_TENSOR_*` bits.
THStatus THTensor_clearFlag(THTensor *t, char flag);

/// Adds a reference; NULL is ignored. Safe from any thread.
void THTensor_retain(THTensor *t);

/// Gives up a reference; the last one frees the tensor and its reference to the storage. NULL is ignored. Safe from any
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
 * Errors: `TH_ERR_ARGUMENT`, a code or a name that is no dtype; `TH_ERR_DTYPE`, a default dtype that is no float.
 * @{
 */

/// The dtype that floats get where no argument says one: float32 at start.
THDtype THGetDefaultDtype(void);

/// Sets the default dtype, a float, for the whole process.
THStatus THSetDefaultDtype(THDtype dtype);

/// Bytes an element takes; 0 on error.
size_t THDtype_size(THDtype dtype);

/// PyTorch's name, `"float32"`; NULL on error. Never freed.
const char *THDtype_name(THDtype dtype);

/// The dtype with this name: what `THDtype_name` gives, or `"float"`, `"double"`, `"half"`, `"long"`, `"int"`,
/// `"short"`, `"char"`, `"byte"`. `TH_UNDEFINED` on error.
THDtype THDtype_fromName(const char *name);

/// 1 if the elements are floats; 0 if not and on error.
int THDtype_isFloat(THDtype dtype);

/// 1 if the elements are integers, which Bool is not; 0 if not and on error.
int THDtype_isIntegral(THDtype dtype);

/// 1 if the elements may be negative: all dtypes but uint8 and Bool; 0 if not and on error.
int THDtype_isSigned(THDtype dtype);

/// The dtype two tensors of these dtypes are computed in; `TH_UNDEFINED` on error.
THDtype THDtype_promote(THDtype a, THDtype b);

/// 1 if a result of dtype `from` may be stored in a tensor of dtype `to`; 0 if not and on error.
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
 * Every function here returns a new reference, or NULL on error. Give it up with `THTensor_free`. Errors:
 * `TH_ERR_SHAPE`, sizes and strides that are negative, overflow or reach beyond the memory given; `TH_ERR_ARGUMENT`,
 * numbers that the dtype does not hold, memory that is NULL or not aligned; `TH_ERR_DTYPE`, a tensor without a dtype as
 * the model.
 * @{
 */

/// How elements lie in memory, for functions that make tensors.
typedef enum THMemoryFormat {
    TH_CONTIGUOUS_FORMAT = 0,    ///< Row-major: the last dimension moves fastest.
    /// The source's strides where it is dense and does not overlap itself, else row-major.
    TH_PRESERVE_FORMAT = 1,
    TH_CHANNELS_LAST = 2,        ///< Four dimensions N, C, H, W laid out as N, H, W, C.
    TH_CHANNELS_LAST_3D = 3      ///< Five dimensions N, C, D, H, W laid out as N, D, H, W, C.
} THMemoryFormat;

/// Called once with the data and the caller's context when foreign memory is no longer needed.
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

/// A tensor with undefined elements laid out as `format` says. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newEmpty(THDtype dtype, int ndim, const int64_t *size, THMemoryFormat format);

/// A row-major tensor with every element `value`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newFull(THDtype dtype, int ndim, const int64_t *size, double value);

/// A row-major tensor of zeros. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newZeros(THDtype dtype, int ndim, const int64_t *size);

/// A row-major tensor of ones. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newOnes(THDtype dtype, int ndim, const int64_t *size);

/// A vector of `start + i * step`, all numbers before `end`, as by `THTensor_arange`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newArange(THDtype dtype, double start, double end, double step);

/// A vector of `n` numbers from `start` to `end`, evenly spaced, as by `THTensor_linspace`. Floats only. Returns a new
/// reference.
TH_NODISCARD THTensor *THTensor_newLinspace(THDtype dtype, double start, double end, int64_t n);

/// A matrix of `n` rows and `m` columns with ones on the diagonal and zeros elsewhere. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newEye(THDtype dtype, int64_t n, int64_t m);

/// A tensor of the dtype and shape of `t` with undefined elements. Strides as newClone. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newEmptyLike(const THTensor *t);

/// Like `THTensor_newEmptyLike`, with every element `value`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newFullLike(const THTensor *t, double value);

/// Like `THTensor_newEmptyLike`, with zeros. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newZerosLike(const THTensor *t);

/// Like `THTensor_newEmptyLike`, with ones. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newOnesLike(const THTensor *t);

/// A 0-d tensor. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newScalar(THDtype dtype, double value);

/// A 0-d tensor with an integer that a double may not hold. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newScalarLong(THDtype dtype, int64_t value);

/// A tensor with a copy of the row-major elements at `data`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newFromData(THDtype dtype, int ndim, const int64_t *size, const void *data);

/// A tensor that shares `data` with the caller; NULL `stride` means row-major. `deleter(data, context)` is called once,
/// when the last view is gone; it may be NULL. On error it is not called. An address that is no multiple of the
/// element's size is an error; newFromData copies from any. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newFromBlob(THDtype dtype, int ndim, const int64_t *size, const int64_t *stride,
                                            void *data, THDeleter deleter, void *context);

/// A tensor over `storage`, which grows to hold it where it can; NULL `stride` means row-major. With `ndim` -1 it is
/// 1-d over the whole storage. Returns a new reference.
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
 * The fields of `THTensor` are open; these functions say the same, and check the handle. Errors: `TH_ERR_ARGUMENT`, a
 * dimension that the tensor does not have; `TH_ERR_SHAPE`, a damaged handle; `TH_ERR_DTYPE`, a tensor without a dtype;
 * `TH_ERR_DEVICE`, a question about a GPU to a tensor of the host.
 * @{
 */

/// The storage, or NULL while there is none. Borrowed: valid while the tensor keeps it; retain it to keep it longer.
THStorage *THTensor_storage(const THTensor *t);

/// The position of the first element in the storage; -1 on error.
ptrdiff_t THTensor_storageOffset(const THTensor *t);

/// The number of dimensions; 0 for a scalar and for a handle without a shape, before its first write. A tensor of the
/// sizes [0, 3] has 2. 0 on error.
int THTensor_nDimension(const THTensor *t);

/// `THTensor_nDimension` by PyTorch's name.
int THTensor_dim(const THTensor *t);

/// The size of dimension `dim`; -1 on error.
int64_t THTensor_size(const THTensor *t, int dim);

/// The stride of dimension `dim`, in elements; -1 on error.
int64_t THTensor_stride(const THTensor *t, int dim);

/// All sizes. Borrowed: valid until the tensor is changed or freed. NULL on error.
const int64_t *THTensor_sizes(const THTensor *t);

/// All strides, in elements. Borrowed: valid until the tensor is changed or freed. NULL on error.
const int64_t *THTensor_strides(const THTensor *t);

/// The sizes as an int64 storage. Returns a new reference.
TH_NODISCARD THStorage *THTensor_newSizeOf(const THTensor *t);

/// The strides as an int64 storage. Returns a new reference.
TH_NODISCARD THStorage *THTensor_newStrideOf(const THTensor *t);

/// The number of elements; -1 on error.
ptrdiff_t THTensor_nElement(const THTensor *t);

/// `THTensor_nElement` by PyTorch's name.
ptrdiff_t THTensor_numel(const THTensor *t);

/// The first element; NULL when there is no memory. Borrowed: valid until the storage is resized or freed.
void *THTensor_data(const THTensor *t);

/// The element type; `TH_UNDEFINED` before the first write and on error.
THDtype THTensor_dtype(const THTensor *t);

/// Bytes an element takes; 0 before the first write and on error.
size_t THTensor_elementSize(const THTensor *t);

/// `TH_CPU` or `TH_CUDA`; 0 on error.
THDeviceType THTensor_deviceType(const THTensor *t);

/// The ordinal of the GPU the tensor lives on; -1 and an error on the host.
int64_t THTensor_getDevice(const THTensor *t);

/// 1 if the elements lie row-major without gaps; 0 if not and on error.
int THTensor_isContiguous(const THTensor *t);

/// 1 if the elements lie as `format` says; 0 if not and on error. Of an empty tensor the strides tell whether it is
/// channels-last.
int THTensor_isContiguousFormat(const THTensor *t, THMemoryFormat format);

/// 1 if both have the same sizes; 0 if not and on error.
int THTensor_isSameSizeAs(const THTensor *t, const THTensor *src);

/// 1 if both show the same elements: storage, offset, sizes and strides agree; 0 if not and on error.
int THTensor_isSetTo(const THTensor *t, const THTensor *src);

/// 1 if the sizes are these; 0 if not and on error.
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
 * For whole tensors take the memory itself: `THTensor_data`, `THTensor_size` and `THTensor_stride`. Errors:
 * `TH_ERR_ARGUMENT`, an index out of range, or a number that the dtype does not hold; `TH_ERR_SHAPE`, a number of
 * indices that is not that of the dimensions; `TH_ERR_DTYPE`, a tensor without a dtype.
 * @{
 */

/// The element at `index`, one entry a dimension; negative entries count from the end. NaN on error.
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

/// The element at `index` as an integer, exact for int64; floats are cut off. Indices as for getAt; -1 on error.
int64_t THTensor_getAtLong(const THTensor *t, int ndim, const int64_t *index);

/// Sets the element at `index`, one entry a dimension; negative entries count from the end.
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

/// Sets the element at `index` to an int64 that a double may not hold. Indices as for setAt.
THStatus THTensor_setAtLong(THTensor *t, int ndim, const int64_t *index, int64_t value);

/// The only element of a tensor of any shape; NaN on error.
double THTensor_item(const THTensor *t);

/// The only element as an integer, exact for int64; floats are cut off. -1 on error.
int64_t THTensor_itemLong(const THTensor *t);

/// Every element `r = value`. An error if `r` holds integers and `value`, cut off to a whole number, is out of their
/// range. As in PyTorch, uint8 takes the whole numbers from -255 to -1, which wrap, and no other ones below 0.
THStatus THTensor_fill(THTensor *r, double value);

/// Every element `r = value`, an int64 that a double may not hold. Otherwise as fill.
THStatus THTensor_fillLong(THTensor *r, int64_t value);

/// Every element `r = 0`.
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
 * Errors: `TH_ERR_SHAPE`, a source that does not broadcast to the result; `TH_ERR_DTYPE`, a source without a dtype;
 * `TH_ERR_ARGUMENT`, a code that is no dtype or memory format.
 * @{
 */

/// A copy with memory of its own. It has the strides of `t` where they are dense; where there are gaps, dense strides
/// in the same order of dimensions; row-major ones where the dimensions of `t` are expanded. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newClone(const THTensor *t);

/// A copy with memory of its own laid out as `format` says. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newCloneFormat(const THTensor *t, THMemoryFormat format);

/// `t` itself if it is contiguous already, else a row-major copy. Returns a new reference either way.
TH_NODISCARD THTensor *THTensor_newContiguous(THTensor *t);

/// `t` itself if it lies in `format` already, else a copy that does. Returns a new reference either way.
TH_NODISCARD THTensor *THTensor_newContiguousFormat(THTensor *t, THMemoryFormat format);

/// `t` itself if it has this dtype already, else a converted copy. Returns a new reference either way.
TH_NODISCARD THTensor *THTensor_newTo(THTensor *t, THDtype dtype);

/// `r = src`, converted to the dtype of `r` and broadcast to its shape; any layouts, overlapping or not. A fresh `r`
/// becomes a clone, one of `THTensor_newWithDtype` takes the shape of `src`.
THStatus THTensor_copy(THTensor *r, const THTensor *t);

/// Copies `t` into `dst` unless they are the same handle, then gives up the reference to `t`. NULL `t` is an error.
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
 * Tensors and storages as text: in a string, on stdout, or on any stream. Errors: `TH_ERR_IO`, the stream did not take
 * the text; `TH_ERR_ARGUMENT`, options out of range; `TH_ERR_SHAPE`, a damaged handle.
 * @{
 */

enum {
    TH_PRINT_PYTORCH = 0,        ///< `tensor([[1., 2.], [3., 4.]])`, as PyTorch.
    TH_PRINT_TORCH7 = 1          ///< Columns of numbers and `[torch.FloatTensor of size 2x2]`, as Torch7.
};

/// How tensors are printed. `THPrintOptions_init` fills in the defaults, which are PyTorch's.
typedef struct THPrintOptions {
    /// `TH_PRINT_PYTORCH`, the default, or `TH_PRINT_TORCH7`.
    int32_t layout;
    /// Digits behind the point, 0 to 1000. Default: 4.
    int32_t precision;
    /// PyTorch's layout summarises tensors of more elements than this. Torch7's shows every element. Default: 1000.
    int64_t threshold;
    /// How many elements of each dimension a summary shows at its beginning and as many at its end. Default: 3.
    int64_t edgeItems;
    /// Characters that a line may have. A line has one element at least. Default: 80.
    int64_t lineWidth;
    /// Says whether PyTorch's layout writes floats with an exponent, as `1.0000e+05`: 0 never, 1 always, -1 if the
    /// largest is above 1e8 or above 1000 times the smallest, or the smallest is below 1e-4; signs and zeros do not
    /// count. Default: -1.
    int32_t sciMode;
} THPrintOptions;

/// A sparse tensor: the positions of some entries, and their values. All others are 0. Read the fields freely, change
/// them through functions.
typedef struct THSTensor {
    /// `nDimensionI` sizes of the sparse dimensions, then `nDimensionV` sizes of the dense ones.
    int64_t *size;
    /// The number of entries.
    int64_t nnz;
    /// The number of sparse dimensions, in which an entry has a position.
    int nDimensionI;
    /// The number of dense dimensions, which an entry has itself.
    int nDimensionV;
    /// Int64 [nDimensionI x nnz]: the position of each entry. NULL in compressed rows, and before the first write.
    struct THTensor *indices;
    /// The entries: [nnz], and the dense sizes behind. NULL before the first write.
    struct THTensor *values;
    /// Compressed rows: where each row starts among the entries, with their number at the end. NULL in other layouts.
    struct THTensor *crow;
    /// Compressed rows: the column of each entry. NULL in other layouts.
    struct THTensor *col;
    /// 1 if positions ascend in row-major order, each once.
    int coalesced;
    /// References held; changed atomically by retain and free.
    int refcount;
} THSTensor;

/// `t` as text, in the layout and with the digits that `options` say; NULL for the defaults. There is no newline at its
/// end. A C string that the caller frees with `THFree`; NULL on error.
///
/// PyTorch's layout is that of its `repr`: `tensor([[1., 2.], [3., 4.]])`. Where a tensor is summarised, nothing but
/// the elements shown is read, and these decide the format. Torch7's layout is that of its prompt: rows of numbers,
/// then `[torch.FloatTensor of size 2x2]`. It shows every element, and counts indices and columns from 1. In both, a
/// fresh handle reads as an empty tensor of the default dtype.
TH_NODISCARD char *THTensor_toString(const THTensor *t, const THPrintOptions *options);

/// Writes `t` and a newline to C's stdout, with the default options. What printf wrote before comes before it.
THStatus THTensor_print(const THTensor *t);

/// Writes `t` and a newline to `stream`, in one piece; `options` as for `THTensor_toString`. An error of the stream is
/// `TH_ERR_IO`; as with fprintf, one may show up only when the stream is flushed.
THStatus THTensor_fprint(FILE *stream, const THTensor *t, const THPrintOptions *options);

/// The text of a sparse tensor, a C string that the caller frees with `THFree`; NULL on error. The layout is PyTorch's,
/// whatever `options` say: `tensor(indices=tensor([[0, 2]]), values=tensor([1., 5.]), size=(3,), nnz=2,
/// layout=torch.sparse_coo)`, each part on a line of its own.
TH_NODISCARD char *THSTensor_toString(const THSTensor *s, const THPrintOptions *options);

/// Writes `s` and a newline to C's stdout, as `THTensor_print` does.
THStatus THSTensor_print(const THSTensor *s);

/// Writes `s` and a newline to `stream`, as `THTensor_fprint` does.
THStatus THSTensor_fprint(FILE *stream, const THSTensor *s, const THPrintOptions *options);

/// The elements of `storage`, each on a line of its own, then `[torch.FloatStorage of size 3]`: Torch7's layout,
/// whatever `options` say. Of these, the precision counts. A C string that the caller frees with `THFree`; NULL on
/// error.
TH_NODISCARD char *THStorage_toString(const THStorage *storage, const THPrintOptions *options);

/// Fills in the defaults that the library starts with.
THStatus THPrintOptions_init(THPrintOptions *options);

/// Sets the defaults, for the whole process: what functions use that get NULL for options. NULL sets those that the
/// library starts with.
THStatus THSetPrintOptions(const THPrintOptions *options);

/// Stores the defaults of the process in `options`.
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
 * A view shares the memory of its source, and keeps it alive. Most come in two forms: `narrow` makes a handle you have
 * the view, `newNarrow` returns a new one. Errors: `TH_ERR_ARGUMENT`, a dimension, index or size out of range;
 * `TH_ERR_SHAPE`, sizes that the elements or their strides do not allow; `TH_ERR_DTYPE`, a source without a dtype.
 * @{
 */

/// Entries `firstIndex` to `firstIndex + size` of dimension `dimension`; a negative `firstIndex` counts from the end.
/// Makes `r` this view of `t`; both may be the same handle.
THStatus THTensor_narrow(THTensor *r, const THTensor *t, int dimension, int64_t firstIndex, int64_t size);

/// Entries `firstIndex` to `firstIndex + size` of dimension `dimension`; a negative `firstIndex` counts from the end.
/// Returns a new reference.
TH_NODISCARD THTensor *THTensor_newNarrow(const THTensor *t, int dimension, int64_t firstIndex, int64_t size);

/// Entry `sliceIndex` of dimension `dimension`, which disappears; of a vector this is a scalar. Makes `r` this view of
/// `t`; both may be the same handle.
THStatus THTensor_select(THTensor *r, const THTensor *t, int dimension, int64_t sliceIndex);

/// Entry `sliceIndex` of dimension `dimension`, which disappears; of a vector this is a scalar. Returns a new
/// reference.
TH_NODISCARD THTensor *THTensor_newSelect(const THTensor *t, int dimension, int64_t sliceIndex);

/// Entries `start`, `start + step`, ... before `end` of dimension `dimension`; bounds clamp as in Python, `step` must
/// be positive. Makes `r` this view of `t`; both may be the same handle.
THStatus THTensor_slice(THTensor *r, const THTensor *t, int dimension, int64_t start, int64_t end, int64_t step);

/// Entries `start`, `start + step`, ... before `end` of dimension `dimension`; bounds clamp as in Python, `step` must
/// be positive. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newSlice(const THTensor *t, int dimension, int64_t start, int64_t end, int64_t step);

/// Dimensions `dimension1` and `dimension2` swapped. Makes `r` this view of `t`; both may be the same handle.
THStatus THTensor_transpose(THTensor *r, const THTensor *t, int dimension1, int dimension2);

/// Dimensions `dimension1` and `dimension2` swapped. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newTranspose(const THTensor *t, int dimension1, int dimension2);

/// The matrix transposed; vectors and scalars stay as they are. Makes `r` this view of `t`; both may be the same
/// handle.
THStatus THTensor_t(THTensor *r, const THTensor *t);

/// The matrix transposed; vectors and scalars stay as they are. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newT(const THTensor *t);

/// Dimension `d` of the view is dimension `dims[d]` of the source. Makes `r` this view of `t`; both may be the same
/// handle.
THStatus THTensor_permute(THTensor *r, const THTensor *t, int ndim, const int64_t *dims);

/// Dimension `d` of the view is dimension `dims[d]` of the source. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newPermute(const THTensor *t, int ndim, const int64_t *dims);

/// Elements `[i, i + offset]` of dimensions `dim1` and `dim2`, which disappear; the diagonal becomes the last
/// dimension. Makes `r` this view of `t`; both may be the same handle.
THStatus THTensor_diagonal(THTensor *r, const THTensor *t, int64_t offset, int dim1, int dim2);

/// Elements `[i, i + offset]` of dimensions `dim1` and `dim2`, which disappear; the diagonal becomes the last
/// dimension. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newDiagonal(const THTensor *t, int64_t offset, int dim1, int dim2);

/// All windows of `size` entries, `step` apart, of dimension `dimension`; the window becomes a new last dimension.
/// Makes `r` this view of `t`; both may be the same handle.
THStatus THTensor_unfold(THTensor *r, const THTensor *t, int dimension, int64_t size, int64_t step);

/// All windows of `size` entries, `step` apart, of dimension `dimension`; the window becomes a new last dimension.
/// Returns a new reference.
TH_NODISCARD THTensor *THTensor_newUnfold(const THTensor *t, int dimension, int64_t size, int64_t step);

/// Without the dimensions of size 1. Makes `r` this view of `t`; both may be the same handle.
THStatus THTensor_squeeze(THTensor *r, const THTensor *t);

/// Without the dimensions of size 1. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newSqueeze(const THTensor *t);

/// Without dimension `dimension`, if its size is 1. Makes `r` this view of `t`; both may be the same handle.
THStatus THTensor_squeeze1d(THTensor *r, const THTensor *t, int dimension);

/// Without dimension `dimension`, if its size is 1. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newSqueeze1d(const THTensor *t, int dimension);

/// With a new dimension of size 1 at `dimension`; -1 appends. Makes `r` this view of `t`; both may be the same handle.
THStatus THTensor_unsqueeze1d(THTensor *r, const THTensor *t, int dimension);

/// With a new dimension of size 1 at `dimension`; -1 appends. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newUnsqueeze1d(const THTensor *t, int dimension);

/// The same elements in these sizes, of which one may be -1; an error where strides do not allow it without a copy.
/// Makes `r` this view of `t`; both may be the same handle.
THStatus THTensor_view(THTensor *r, const THTensor *t, int ndim, const int64_t *size);

/// The same elements in these sizes, of which one may be -1; an error where strides do not allow it without a copy.
/// Returns a new reference.
TH_NODISCARD THTensor *THTensor_newView(const THTensor *t, int ndim, const int64_t *size);

/// Size-1 dimensions repeated to these sizes at stride 0; -1 keeps a size, new dimensions come first. Makes `r` this
/// view of `t`; both may be the same handle.
THStatus THTensor_expand(THTensor *r, const THTensor *t, int ndim, const int64_t *size);

/// Size-1 dimensions repeated to these sizes at stride 0; -1 keeps a size, new dimensions come first. Returns a new
/// reference.
TH_NODISCARD THTensor *THTensor_newExpand(const THTensor *t, int ndim, const int64_t *size);

/// The tensor viewed in the sizes of `other`. Makes `r` this view of `t`; both may be the same handle.
THStatus THTensor_viewAs(THTensor *r, const THTensor *t, const THTensor *other);

/// The tensor viewed in the sizes of `other`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newViewAs(const THTensor *t, const THTensor *other);

/// The tensor expanded to the sizes of `other`. Makes `r` this view of `t`; both may be the same handle.
THStatus THTensor_expandAs(THTensor *r, const THTensor *t, const THTensor *other);

/// The tensor expanded to the sizes of `other`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newExpandAs(const THTensor *t, const THTensor *other);

/// The same bytes as another dtype of the same size. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newViewDtype(const THTensor *t, THDtype dtype);

/// The elements of the storage of `t` at these sizes and strides, from position `storageOffset` of the storage on, both
/// counted in elements; strides may be 0, and elements may be shown several times. Elements outside of the storage are
/// an error. Gradients go to `t` where all elements are those of `t` or of the tensor that `t` is a view of. Returns a
/// new reference.
TH_NODISCARD THTensor *THTensor_newAsStrided(const THTensor *t, int ndim, const int64_t *size, const int64_t *stride,
                                             ptrdiff_t storageOffset);

/// These sizes, of which one may be -1: a view where strides allow, else a copy. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newReshape(const THTensor *t, int ndim, const int64_t *size);

/// Dimensions `start` to `end`, both included, as one: a view where strides allow, else a copy. Returns a new
/// reference.
TH_NODISCARD THTensor *THTensor_newFlatten(const THTensor *t, int start, int end);

/// Pieces of `size` entries along `dimension`; the last may be smaller. See "Lists" in the conventions for `r` and
/// `count`.
THStatus THTensor_split(THTensor **r, int *count, const THTensor *t, int64_t size, int dimension);

/// At most `chunks` equal pieces along `dimension`; the last may be smaller. An empty dimension gives `chunks` empty
/// pieces. See "Lists" in the conventions for `r` and `count`.
THStatus THTensor_chunk(THTensor **r, int *count, const THTensor *t, int64_t chunks, int dimension);

/// Every entry along `dimension`, which disappears. See "Lists" in the conventions for `r` and `count`.
THStatus THTensor_unbind(THTensor **r, int *count, const THTensor *t, int dimension);

/// Makes each of the `count` handles in `rets` the view of the tensor in `tensors` at its place, expanded to the one
/// shape all broadcast to.
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
 * These functions change the handle itself: what it shows, not the elements. Errors: `TH_ERR_SHAPE`, sizes, strides or
 * offsets that are negative or overflow; `TH_ERR_ARGUMENT`, a storage that cannot grow; `TH_ERR_DTYPE`, a source
 * without a dtype.
 * @{
 */

/// Makes `t` a second handle on the elements of `src`.
THStatus THTensor_set(THTensor *t, const THTensor *src);

/// Makes `t` a tensor over `storage`, which grows to hold it where it can; NULL `stride` means row-major.
THStatus THTensor_setStorage(THTensor *t, THStorage *storage, ptrdiff_t storageOffset, int ndim, const int64_t *size,
                             const int64_t *stride);

/// `THTensor_setStorage` by the name TH gives its C form.
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

/// Gives the tensor these sizes: elements stay where they are in the storage, which grows if needed and never shrinks;
/// new elements are undefined. NULL `stride` keeps the strides if the sizes are the same, else makes them row-major.
THStatus THTensor_resize(THTensor *t, int ndim, const int64_t *size, const int64_t *stride);

/// `THTensor_resize` by the name TH gives its C form.
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
 * These functions copy; what shares memory with the result is copied first. A fresh `r` has the dtype of `t`, or that
 * which all tensors promote to; into any other, cat and its kin convert each element once, from its own dtype. Errors:
 * `TH_ERR_SHAPE`, tensors that do not fit each other; `TH_ERR_ARGUMENT`, dimensions, sizes or pads out of range, an
 * empty list; `TH_ERR_DTYPE`, a result whose dtype does not take the elements.
 * @{
 */

enum {
    TH_ALL_DIMS = INT32_MIN      ///< Stands for every dimension: the result is 0-d, or all ones with `keepdim`.
};

/// How a padded tensor goes on beyond its edges.
typedef enum THPadMode {
    TH_PAD_CONSTANT = 0,         ///< With a number.
    TH_PAD_REFLECT = 1,          ///< Mirrored at the elements on the edge, which are not repeated.
    TH_PAD_REPLICATE = 2,        ///< With the elements on the edge.
    TH_PAD_CIRCULAR = 3          ///< From the other edge.
} THPadMode;

/// `r` = `a` and then `b` along dimension `dimension`, in which alone they may differ. A vector without elements, or a
/// fresh handle, fits anything.
THStatus THTensor_cat(THTensor *r, const THTensor *a, const THTensor *b, int dimension);

/// `r` = the `count` tensors one after the other along dimension `dimension`; otherwise as cat.
THStatus THTensor_catArray(THTensor *r, THTensor *const *tensors, int count, int dimension);

/// `r` = the `count` tensors, which have one shape, along a new dimension `dimension`.
THStatus THTensor_stack(THTensor *r, THTensor *const *tensors, int count, int dimension);

/// `r` = the `count` tensors side by side: along dimension 1, or 0 if the first is a vector or scalar.
THStatus THTensor_hstack(THTensor *r, THTensor *const *tensors, int count);

/// `r` = the `count` tensors on top of each other: along dimension 0, vectors as rows.
THStatus THTensor_vstack(THTensor *r, THTensor *const *tensors, int count);

/// `r` = the `count` tensors behind each other: along dimension 2. A matrix [n x k] counts as [n x k x 1], a vector [n]
/// as [1 x n x 1].
THStatus THTensor_dstack(THTensor *r, THTensor *const *tensors, int count);

/// Views of `ndim` pieces of `t` along `dimension`, with `sizes` entries each, which add up to all. See "Lists" in the
/// conventions for `r` and `count`.
THStatus THTensor_splitSizes(THTensor **r, int *count, const THTensor *t, int ndim, const int64_t *sizes,
                             int dimension);

/// Views of `sections` pieces of `t` along `dimension`; where the size cannot be divided, the first ones have one entry
/// more. See "Lists" in the conventions for `r` and `count`.
THStatus THTensor_tensorSplit(THTensor **r, int *count, const THTensor *t, int64_t sections, int dimension);

/// Views of the pieces of `t` along `dimension` that end before each of the `ndim` entries `indices`, and of the rest;
/// bounds as in slice. See "Lists" in the conventions for `r` and `count`.
THStatus THTensor_tensorSplitIndices(THTensor **r, int *count, const THTensor *t, int ndim, const int64_t *indices,
                                     int dimension);

/// `r` = `t` with the entries of the `count` dimensions `dims` in reverse order.
THStatus THTensor_flip(THTensor *r, const THTensor *t, int ndim, const int64_t *dims);

/// `r` = `t` with the entries of dimension `dims[k]` moved on by `shifts[k]`; what leaves at one end comes back at the
/// other. Without `dims`, which then is NULL, the elements in row-major order are moved by the one shift.
THStatus THTensor_roll(THTensor *r, const THTensor *t, int ndim, const int64_t *shifts, const int64_t *dims);

/// `r` = `t` turned by `k` right angles in the plane of two dimensions, from `dimension1` towards `dimension2`.
THStatus THTensor_rot90(THTensor *r, const THTensor *t, int64_t k, int dimension1, int dimension2);

/// `r` = `t` `sizes[d]` times along each of `ndim` dimensions; `t` gets new ones in front where it has fewer.
THStatus THTensor_repeat(THTensor *r, const THTensor *t, int ndim, const int64_t *sizes);

/// `THTensor_repeat` by Torch's name.
THStatus THTensor_repeatTensor(THTensor *r, const THTensor *t, int ndim, const int64_t *sizes);

/// As repeat, where missing counts in front are 1.
THStatus THTensor_tile(THTensor *r, const THTensor *t, int ndim, const int64_t *sizes);

/// `r` = each entry of `t` along `dimension` as often as `repeats` says, a vector with a number for each, or one number
/// for all; int64 or int32. With `TH_ALL_DIMS` the entries are the elements in row-major order.
THStatus THTensor_repeatInterleave(THTensor *r, const THTensor *t, const THTensor *repeats, int dimension);

/// As repeatInterleave with one number.
THStatus THTensor_repeatInterleaveValue(THTensor *r, const THTensor *t, int64_t repeats, int dimension);

/// `r` = `t` with `pads[0]` entries more before and `pads[1]` behind in the last dimension, `pads[2]` and `pads[3]` in
/// the one before it, and so on; `count` is the number of pads, two for a dimension. Negative pads cut off. `mode` says
/// what the entries are: `TH_PAD_CONSTANT` makes them `value`, in the range that fill takes for the dtype of `t`.
THStatus THTensor_pad(THTensor *r, const THTensor *t, int count, const int64_t *pads, THPadMode mode, double value);

/// The inverse of unfold: `r` = the windows along the last dimension of `t`, `step` apart along `dimension`, added
/// where they overlap. Between windows that do not touch there are zeros.
THStatus THTensor_fold(THTensor *r, const THTensor *t, int dimension, int64_t step);

/// `r[i] = t[i + 1] - t[i]` along `dimension`, `n` times over; of Bool, whether they differ.
THStatus THTensor_diff(THTensor *r, const THTensor *t, int64_t n, int dimension);

/// The index in each of the `ndim` dimensions of `shape` of the elements at the positions in `index`, counted in
/// row-major order, negative ones from the end. See "Lists" in the conventions for `r` and `count`.
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
 * Positions are int64 or int32, and counted from 0; each is checked before anything is written; those of a list of
 * index tensors that broadcast to no place, or of takeAlongDim where the result has no elements, lead nowhere, and are
 * not, as in PyTorch. What shares memory with the result is copied first. Errors: `TH_ERR_ARGUMENT`, a position out of
 * range; `TH_ERR_SHAPE`, an index or mask that does not fit the tensor; `TH_ERR_DTYPE`, an index that is not of
 * integers, or elements of another dtype.
 * @{
 */

/// How elements for one place are combined.
typedef enum THReduce {
    TH_REDUCE_ADD = 0,           ///< Their sum; of Bool, *or*.
    TH_REDUCE_MULTIPLY = 1,      ///< Their product; of Bool, *and*.
    TH_REDUCE_AMAX = 2,          ///< The greatest; NaN if one is.
    TH_REDUCE_AMIN = 3           ///< The least; NaN if one is.
} THReduce;

/// `r` = the entries `index` of dimension `dimension` of `t`, in this order and as often as they are named. The index
/// is a vector or a scalar; a scalar `t` counts as a vector of one entry.
THStatus THTensor_indexSelect(THTensor *r, const THTensor *t, int dimension, const THTensor *index);

/// `r[i, j] = t[index[i, j], j]` for dimension 0, and so for any other: `r` has the shape of `index`, which has as many
/// dimensions as `t` and is no larger than `t` in any but `dimension`.
THStatus THTensor_gather(THTensor *r, const THTensor *t, int dimension, const THTensor *index);

/// As gather, with operands that broadcast in all dimensions but `dimension`. With `TH_ALL_DIMS` both are taken as one
/// row, in row-major order. Negative positions count from the end.
THStatus THTensor_takeAlongDim(THTensor *r, const THTensor *t, const THTensor *index, int dimension);

/// `r` = the elements of `t` at the positions in `index`, counted in row-major order, negative ones from the end; `r`
/// has the shape of `index`.
THStatus THTensor_take(THTensor *r, const THTensor *t, const THTensor *index);

/// `r = t[indices]`, as NumPy's advanced indexing: `indices` are `count` index tensors, for the first dimensions of
/// `t`, which broadcast to one shape. That shape takes the place of the indexed dimensions where they are side by side,
/// and is in front otherwise. NULL in the list takes a dimension as it is; a mask, Bool or uint8, stands for the
/// positions of what is true, in as many dimensions as it has. Negative positions count from the end.
THStatus THTensor_index(THTensor *r, const THTensor *t, THTensor *const *indices, int count);

/// As index. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newIndex(const THTensor *t, THTensor *const *indices, int count);

/// `t[indices] = values`, or `+=` if `accumulate` is not 0; indices as for index, and `values` broadcast. Of several
/// values for one element the last stays; sums are formed as in indexAdd.
THStatus THTensor_indexPut(THTensor *t, THTensor *const *indices, int count, const THTensor *values, int accumulate);

/// Entries `index` of dimension `dimension` of `t` = those of `src`, which has the shape of `t` with as many entries
/// there as the index. Of several for one entry the last stays.
THStatus THTensor_indexCopy(THTensor *t, int dimension, const THTensor *index, const THTensor *src);

/// Entries `index` of dimension `dimension` of `t` += those of `src`, one after the other; shapes as for indexCopy.
/// 16-bit floats are summed in float32. Each addition is rounded, as in PyTorch: a float32 sum of ones ends at 2^24.
/// `THTensor_sum` and `THTensor_bincount` have no such limit.
THStatus THTensor_indexAdd(THTensor *t, int dimension, const THTensor *index, const THTensor *src);

/// As indexAdd, with `scale * src`.
THStatus THTensor_indexAddScale(THTensor *t, int dimension, const THTensor *index, double scale, const THTensor *src);

/// Entries `index` of dimension `dimension` of `t` = `value`, in the range that fill takes. Negative positions count
/// from the end.
THStatus THTensor_indexFill(THTensor *t, int dimension, const THTensor *index, double value);

/// `t[index[i, j], j] = src[i, j]` for dimension 0, and so for any other: the inverse of gather. `index` is no larger
/// than `src`, and than `t` in any dimension but `dimension`. Of several elements for one place the last in row-major
/// order stays.
THStatus THTensor_scatter(THTensor *t, int dimension, const THTensor *index, const THTensor *src);

/// As scatter, with `value` in place of elements, in the range that fill takes.
THStatus THTensor_scatterFill(THTensor *t, int dimension, const THTensor *index, double value);

/// As scatter, with `+=` in place of `=`, in row-major order, rounded as in indexAdd. 16-bit floats are summed in
/// float32.
THStatus THTensor_scatterAdd(THTensor *t, int dimension, const THTensor *index, const THTensor *src);

/// As scatter, with what is there combined with `src`, in row-major order.
THStatus THTensor_scatterMode(THTensor *t, int dimension, const THTensor *index, const THTensor *src, THReduce mode);

/// As scatterMode, with `value` in place of elements.
THStatus THTensor_scatterFillMode(THTensor *t, int dimension, const THTensor *index, double value, THReduce mode);

/// The elements of `t` at the positions in `index` = those of `src`, or `+=` them if `accumulate` is not 0; positions
/// as for take. Of several for one place the last stays, and sums are formed in order.
THStatus THTensor_put(THTensor *t, const THTensor *index, const THTensor *src, int accumulate);

/// `r` = the elements of `t` where `mask` is true, in row-major order, as a vector. Both broadcast; the mask is Bool or
/// uint8.
THStatus THTensor_maskedSelect(THTensor *r, const THTensor *t, const THTensor *mask);

/// The elements of `t` where `mask` is true = those of `src`, in row-major order; `src` may have more. The mask, Bool
/// or uint8, broadcasts to the shape of `t`.
THStatus THTensor_maskedCopy(THTensor *t, const THTensor *mask, const THTensor *src);

/// `THTensor_maskedCopy` by PyTorch's name.
THStatus THTensor_maskedScatter(THTensor *t, const THTensor *mask, const THTensor *src);

/// `r` = the indices of each element of `t` that is not 0, a row of int64 each, in row-major order. NaN is not 0.
THStatus THTensor_nonzero(THTensor *r, const THTensor *t);

/// The indices of each element of `t` that is not 0, as a vector for each dimension; a scalar counts as a vector of one
/// element. See "Lists" in the conventions for `r` and `count`.
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
 * Constants, progressions, diagonals, triangles and grids. Errors: `TH_ERR_ARGUMENT`, bounds, steps or sizes that make
 * no list, numbers that the dtype does not hold; `TH_ERR_SHAPE`, an operand with the wrong number of dimensions;
 * `TH_ERR_DTYPE`, an operand of the wrong dtype.
 * @{
 */

/// `r = 0` in these sizes. A fresh `r` takes the default dtype, any other keeps its own.
THStatus THTensor_zeros(THTensor *r, int ndim, const int64_t *size);

/// `r = 1` in these sizes. A fresh `r` takes the default dtype, any other keeps its own.
THStatus THTensor_ones(THTensor *r, int ndim, const int64_t *size);

/// `r = value` in these sizes. A fresh `r` takes the default dtype, any other keeps its own, and the value is converted
/// as by `THTensor_fill`.
THStatus THTensor_full(THTensor *r, int ndim, const int64_t *size, double value);

/// `r = 0` in the sizes of `t`. A fresh `r` takes dtype and dense strides of `t` too.
THStatus THTensor_zerosLike(THTensor *r, const THTensor *t);

/// `r = 1` in the sizes of `t`. A fresh `r` takes dtype and dense strides of `t` too.
THStatus THTensor_onesLike(THTensor *r, const THTensor *t);

/// `r = value` in the sizes of `t`. A fresh `r` takes dtype and dense strides of `t` too.
THStatus THTensor_fullLike(THTensor *r, const THTensor *t, double value);

/// `r[i] = start + i * step`, all numbers before `end`. A fresh `r` takes int64 if all three are whole, else the
/// default dtype; `r` of integers takes three whole numbers only. A tensor that has as many elements already keeps its
/// shape. It is an error if `step` is 0 or leads away from `end`.
THStatus THTensor_arange(THTensor *r, double start, double end, double step);

/// `r[i] = start + i * step`, all numbers up to and including `end`. A fresh `r` takes the default dtype; else as
/// `THTensor_arange`.
THStatus THTensor_range(THTensor *r, double start, double end, double step);

/// `r` = `n` numbers from `start` to `end`, both included, evenly spaced; of one, `start`. Floats only; a fresh `r`
/// takes the default dtype. A tensor that has `n` elements already keeps its shape.
THStatus THTensor_linspace(THTensor *r, double start, double end, int64_t n);

/// `r = 10^x` for the `n` numbers `x` of `THTensor_linspace`.
THStatus THTensor_logspace(THTensor *r, double start, double end, int64_t n);

/// `r = base^x` for the `n` numbers `x` of `THTensor_linspace`.
THStatus THTensor_logspaceBase(THTensor *r, double start, double end, double base, int64_t n);

/// `r[i, j] = 1` where `i = j`, else 0: `n` rows, `m` columns. A fresh `r` takes the default dtype.
THStatus THTensor_eye(THTensor *r, int64_t n, int64_t m);

/// Of a matrix, `r` is diagonal `k` copied; of a vector of n elements, `r` is the matrix of n + |k| rows with the
/// vector on diagonal `k` and zeros elsewhere. Diagonal 0 is the main one, positive ones lie above.
THStatus THTensor_diag(THTensor *r, const THTensor *t, int64_t k);

/// `r` = matrices with the last dimension of `t` on their diagonal `offset` and zeros elsewhere; rows and columns
/// become dimensions `dim1` and `dim2` of the result, which has one dimension more than `t`.
THStatus THTensor_diagEmbed(THTensor *r, const THTensor *t, int64_t offset, int dim1, int dim2);

/// `sum of t[i, i]` of a matrix, of floats in float64 throughout; NaN on error. Sums of integers that a double cannot
/// hold: `THTensor_sum` of `THTensor_newDiagonal`.
double THTensor_trace(const THTensor *t);

/// `r[.., i, j] = t[.., i, j]` where `j - i <= k`, else 0. `r` may be `t`.
THStatus THTensor_tril(THTensor *r, const THTensor *t, int64_t k);

/// `r[.., i, j] = t[.., i, j]` where `j - i >= k`, else 0. `r` may be `t`.
THStatus THTensor_triu(THTensor *r, const THTensor *t, int64_t k);

/// `r` = 2 x n: row `i` and column `j` of each element of a `rows` x `cols` matrix with `j - i <= offset`, in row-major
/// order. A fresh `r` takes int64.
THStatus THTensor_trilIndices(THTensor *r, int64_t rows, int64_t cols, int64_t offset);

/// `r` = 2 x n: row `i` and column `j` of each element of a `rows` x `cols` matrix with `j - i >= offset`, in row-major
/// order. A fresh `r` takes int64.
THStatus THTensor_triuIndices(THTensor *r, int64_t rows, int64_t cols, int64_t offset);

/// `rets[k][i0, i1, ...] = tensors[k][ik]`: each of the `count` handles in `rets` becomes a view of the vector at its
/// place, expanded over the grid of all. `indexing` "ij" keeps the order of dimensions, "xy" swaps the first two.
/// Vectors have one dtype; scalars count as one element.
THStatus THTensor_meshgrid(THTensor *const *rets, THTensor *const *tensors, int count, const char *indexing);

/// `r` = every combination of one element of each of the `count` vectors, a row each, the last vector changing fastest;
/// of one vector, a copy.
THStatus THTensor_cartesianProd(THTensor *r, THTensor *const *tensors, int count);

/// `r[.., c] = 1` where `t[..] = c`, else 0, for integers `t` from 0 to `numClasses` - 1; -1 stands for one class more
/// than the greatest. A fresh `r` takes int64.
THStatus THTensor_oneHot(THTensor *r, const THTensor *t, int64_t numClasses);

/// `r[i, j] = t[i]^(n - 1 - j)`, or `t[i]^j` if `increasing` is not 0, for a vector `t` and `n` columns; -1 stands for
/// the length of `t`. Integers give int64.
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
 * Operations of this chapter and the next three work element by element: operands broadcast, and dtypes are promoted.
 * Errors: `TH_ERR_SHAPE`, operands that do not broadcast; `TH_ERR_DTYPE`, a dtype that the operation is not defined
 * for, or that the result cannot take; `TH_ERR_ARGUMENT`, integers divided by 0, and numbers that an operation does not
 * take.
 * @{
 */

/// How `divMode` rounds a quotient.
typedef enum THDivMode {
    TH_DIV_TRUE = 0,             ///< The quotient as it is; integers give the default dtype.
    TH_DIV_TRUNC = 1,            ///< Towards zero, as C divides integers.
    TH_DIV_FLOOR = 2             ///< Down, as Python's `//`.
} THDivMode;

/// `r = -t`. Not for Bool.
THStatus THTensor_neg(THTensor *r, const THTensor *t);

/// `r = |t|`. Not for Bool.
THStatus THTensor_abs(THTensor *r, const THTensor *t);

/// `r = -1, 0 or 1`, as `t` is negative, neither (NaN too), or positive.
THStatus THTensor_sign(THTensor *r, const THTensor *t);

/// `r = floor(t)`. Not for Bool; integers stay as they are.
THStatus THTensor_floor(THTensor *r, const THTensor *t);

/// `r = ceil(t)`. Not for Bool; integers stay as they are.
THStatus THTensor_ceil(THTensor *r, const THTensor *t);

/// `r = the integer nearest to t`, ties to even. Not for Bool; integers stay as they are.
THStatus THTensor_round(THTensor *r, const THTensor *t);

/// `r = t rounded towards zero`. Not for Bool; integers stay as they are.
THStatus THTensor_trunc(THTensor *r, const THTensor *t);

/// `r = t - trunc(t)`. Floats only.
THStatus THTensor_frac(THTensor *r, const THTensor *t);

/// `r = 1 / t`. Integers give the default dtype.
THStatus THTensor_cinv(THTensor *r, const THTensor *t);

/// `r = t + value`. A whole `value` keeps integers integer, any other makes them the default dtype.
THStatus THTensor_add(THTensor *r, const THTensor *t, double value);

/// `r = t - value`. A whole `value` keeps integers integer, any other makes them the default dtype.
THStatus THTensor_sub(THTensor *r, const THTensor *t, double value);

/// `r = t * value`. A whole `value` keeps integers integer, any other makes them the default dtype.
THStatus THTensor_mul(THTensor *r, const THTensor *t, double value);

/// `r = t / value`, true division: integers give the default dtype.
THStatus THTensor_div(THTensor *r, const THTensor *t, double value);

/// `r = a * b`, with broadcasting and promotion; on Bool this is *and*.
THStatus THTensor_cmul(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a / b`, with broadcasting; true division: integers give the default dtype.
THStatus THTensor_cdiv(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a^b`, with broadcasting and promotion. Not for Bool; integers wrap, and a negative power of one is 1 divided by
/// it, rounded towards zero (0 for 0).
THStatus THTensor_cpow(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = value^t`. Not for Bool; negative powers of integers as in cpow.
THStatus THTensor_tpow(THTensor *r, double value, const THTensor *t);

/// `r = t + value * a * b`, with broadcasting and promotion. For integers `value` must be whole; not for Bool.
THStatus THTensor_addcmul(THTensor *r, const THTensor *t, double value, const THTensor *a, const THTensor *b);

/// `r = t + value * a / b`, with broadcasting and promotion. Floats only.
THStatus THTensor_addcdiv(THTensor *r, const THTensor *t, double value, const THTensor *a, const THTensor *b);

/// `r = a + weight * (b - a)`, exact for weights 0 and 1, with broadcasting and promotion. Floats only.
THStatus THTensor_lerp(THTensor *r, const THTensor *a, const THTensor *b, double weight);

/// `r = a + weight * (b - a)` with a weight for each element, with broadcasting and promotion. Floats only.
THStatus THTensor_lerpTensor(THTensor *r, const THTensor *a, const THTensor *b, const THTensor *weight);

/// `r = t - value * trunc(t / value)`, exact, with the sign of `t`. Integers refuse 0. A whole `value` keeps integers
/// integer and makes Bool int64; any other makes both the default dtype.
THStatus THTensor_fmod(THTensor *r, const THTensor *t, double value);

/// `r = a - b * trunc(a / b)`, exact, with the sign of `a`, with broadcasting and promotion. Not for Bool; integers
/// refuse a 0 in `b`.
THStatus THTensor_cfmod(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = t - value * floor(t / value)`, exact, with the sign of `value`; a zero has that of `t`. Integers refuse 0. A
/// whole `value` keeps integers integer and makes Bool int64; any other makes both the default dtype.
THStatus THTensor_remainder(THTensor *r, const THTensor *t, double value);

/// `r = a - b * floor(a / b)`, exact, with the sign of `b`, a zero with that of `a`; with broadcasting and promotion.
/// Not for Bool; integers refuse a 0 in `b`.
THStatus THTensor_cremainder(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = t + value * src`, with broadcasting and promotion; on Bool this is *or*. For integers `value` must be whole.
THStatus THTensor_cadd(THTensor *r, const THTensor *t, double value, const THTensor *src);

/// `r = t - value * src`, with broadcasting and promotion. For integers `value` must be whole; not for Bool.
THStatus THTensor_csub(THTensor *r, const THTensor *t, double value, const THTensor *src);

/// `r = value - t`. A whole `value` keeps integers integer and makes Bool int64; any other makes both the default
/// dtype.
THStatus THTensor_rsub(THTensor *r, const THTensor *t, double value);

/// `r = value / t`, true division: integers give the default dtype.
THStatus THTensor_rdiv(THTensor *r, const THTensor *t, double value);

/// `r = src - value * t`, otherwise as csub.
THStatus THTensor_crsub(THTensor *r, const THTensor *t, double value, const THTensor *src);

/// `r = t^value`. Integers wrap and have no negative powers. A whole `value` keeps integers integer and makes Bool
/// int64; any other makes both the default dtype. The exponent stays a double for float32, too.
THStatus THTensor_pow(THTensor *r, const THTensor *t, double value);

/// `r = the larger of a and b`, with broadcasting and promotion; NaN if one is. A 0-d integer tensor out of the range
/// of the common dtype counts as the nearest integer of it.
THStatus THTensor_cmax(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = the smaller of a and b`, with broadcasting and promotion; NaN if one is. 0-d integer tensors as in cmax.
THStatus THTensor_cmin(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = the larger of t and value`; NaN if one is. A whole `value` keeps integers integer, any other makes them the
/// default dtype. Of integers, a whole `value` out of range counts as the nearest integer of the dtype.
THStatus THTensor_cmaxValue(THTensor *r, const THTensor *t, double value);

/// `r = the smaller of t and value`; NaN if one is. `value` as in cmaxValue.
THStatus THTensor_cminValue(THTensor *r, const THTensor *t, double value);

/// `r = min(max(t, minimum), maximum)`: `maximum` where the bounds are not in order; NaN stays. -inf as minimum and inf
/// as maximum bound nothing, and integers stay integers; cmaxValue and cminValue have one bound only. Whole bounds keep
/// integers integer, others make them the default dtype.
THStatus THTensor_clamp(THTensor *r, const THTensor *t, double minimum, double maximum);

/// `r = min(max(t, minimum), maximum)` with bounds for each element, with broadcasting and promotion; NaN if one is. A
/// bound that is NULL bounds nothing; there must be one.
THStatus THTensor_clampTensor(THTensor *r, const THTensor *t, const THTensor *minimum, const THTensor *maximum);

/// `r = min(max(t, minimum), maximum)`, as clamp, with bounds that must be in order.
THStatus THTensor_hardtanh(THTensor *r, const THTensor *t, double minimum, double maximum);

/// `r = t / value`, rounded as `mode` says: `TH_DIV_TRUE` as div; `TH_DIV_TRUNC` towards zero and `TH_DIV_FLOOR` down,
/// where integers stay integer and refuse 0. Not for Bool, but for `TH_DIV_TRUE`.
THStatus THTensor_divMode(THTensor *r, const THTensor *t, double value, THDivMode mode);

/// `r = a / b`, with broadcasting and promotion, rounded as `mode` says; see divMode.
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
 * Errors: `TH_ERR_SHAPE`, operands that do not broadcast; `TH_ERR_DTYPE`, a dtype that the function is not defined for,
 * or that the result cannot take; `TH_ERR_ARGUMENT`, numbers that a function does not take; `TH_ERR_UNSUPPORTED`, a
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

/// `r = e^t - 1`, exact near 0. Integers give the default dtype.
THStatus THTensor_expm1(THTensor *r, const THTensor *t);

/// `r = log(t)`, the natural logarithm. Integers give the default dtype.
THStatus THTensor_log(THTensor *r, const THTensor *t);

/// `r = log(1 + t)`, exact near 0. Integers give the default dtype.
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

/// `r = 1 - erf(t)`, exact where that is small. Integers give the default dtype.
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

/// `r = max(t, 0)`; NaN stays. Not for Bool.
THStatus THTensor_relu(THTensor *r, const THTensor *t);

/// `r = t where t > 0, else value * t`. Floats only.
THStatus THTensor_leakyRelu(THTensor *r, const THTensor *t, double value);

/// `r = t where t > 0, else value * (e^t - 1)`. Floats only.
THStatus THTensor_elu(THTensor *r, const THTensor *t, double value);

/// `r = log(1 + e^(beta * t)) / beta`, or `t` itself where `beta * t > threshold` (PyTorch's defaults are 1 and 20).
/// Floats only.
THStatus THTensor_softplus(THTensor *r, const THTensor *t, double beta, double threshold);

/// `r = the angle of the point (b, a)` in (-pi, pi], with broadcasting. Integers give the default dtype.
THStatus THTensor_atan2(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = sqrt(a^2 + b^2)` without overflow on the way, with broadcasting. Integers give the default dtype.
THStatus THTensor_hypot(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = log(e^a + e^b)` without overflow on the way, with broadcasting. Integers give the default dtype.
THStatus THTensor_logaddexp(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a * log(b)`, with broadcasting; 0 where `a` is 0, but NaN where `b` is. Integers give the default dtype.
THStatus THTensor_xlogy(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = |a| with the sign of b`, with broadcasting. Integers give the default dtype.
THStatus THTensor_copysign(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = the number next to a, towards b`, with broadcasting and promotion. Floats only.
THStatus THTensor_nextafter(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = t`, with `nan` in place of NaN, `posinf` of inf and `neginf` of -inf. A `posinf` that is NaN stands for the
/// greatest finite number of the dtype of `t`, a `neginf` that is NaN for the least. Integers and Bool stay as they
/// are.
THStatus THTensor_nanToNum(THTensor *r, const THTensor *t, double nan, double posinf, double neginf);

/// `r = a * log(value)`, otherwise as xlogy.
THStatus THTensor_xlogyValue(THTensor *r, const THTensor *a, double value);

/// `r = the n-th derivative of digamma at t`, `n` from 0 to 2^20: the polygamma function. Integers give the default
/// dtype.
THStatus THTensor_polygamma(THTensor *r, int64_t n, const THTensor *t);

/// `r = log(pi) * p * (p - 1) / 4 + lgamma(t) + lgamma(t - 1/2) + ... + lgamma(t - (p - 1) / 2)`, the logarithm of the
/// multivariate gamma function of dimension `p`, 1 to 65536. Integers give the default dtype. Within 2 units in the
/// last place of float64 where `t > (p - 1) / 2`; below that terms of both signs cancel, and errors are as small beside
/// the largest of them only.
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
 * Errors: `TH_ERR_SHAPE`, operands that do not broadcast; `TH_ERR_DTYPE`, floats, and numbers that are not whole.
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

/// `r = t << value`; integers lose all bits if `value` is negative or not below their width. Floats: `r = t * 2^value`,
/// rounded once if `value` is whole. A whole `value` makes Bool int64.
THStatus THTensor_lshift(THTensor *r, const THTensor *t, double value);

/// `r = t >> value`, with the sign; if `value` is negative or not below the width nothing but the sign stays. Floats:
/// `r = t / 2^value`, rounded once if `value` is whole. A whole `value` makes Bool int64.
THStatus THTensor_rshift(THTensor *r, const THTensor *t, double value);

/// `r = a & b`, bit by bit, with broadcasting and promotion; on Bool this is *and*. Not for floats.
THStatus THTensor_cbitand(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a | b`, bit by bit, with broadcasting and promotion; on Bool this is *or*. Not for floats.
THStatus THTensor_cbitor(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a ^ b`, bit by bit, with broadcasting and promotion. Not for floats.
THStatus THTensor_cbitxor(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a << b`, with broadcasting and promotion; see lshift.
THStatus THTensor_clshift(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a >> b`, with broadcasting and promotion; see rshift.
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
 * Errors: `TH_ERR_SHAPE`, operands that do not broadcast; `TH_ERR_DTYPE`, a result that does not take truth values, a
 * condition that is neither Bool nor uint8; `TH_ERR_ARGUMENT`, tolerances that are negative.
 * @{
 */

/// `r = t < value`, as Bool unless `r` has a dtype. Integers are compared with any number exactly: 300 is greater than
/// every uint8, and 2^63 than every int64. Floats are compared with the number rounded to their dtype. So in the other
/// five comparisons with a number.
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

/// `r = a < b`, with broadcasting, as Bool unless `r` has a dtype. Integers of two dtypes are compared exactly, 0-d
/// ones as well. So in the other five comparisons of tensors.
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

/// `r = a and b`, where what is not 0 is true; with broadcasting, as Bool unless `r` has a dtype.
THStatus THTensor_logicalAnd(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a or b`, where what is not 0 is true; with broadcasting, as Bool unless `r` has a dtype.
THStatus THTensor_logicalOr(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = either a or b`, where what is not 0 is true; with broadcasting, as Bool unless `r` has a dtype.
THStatus THTensor_logicalXor(THTensor *r, const THTensor *a, const THTensor *b);

/// `r = a where condition, else b`, with broadcasting of all three and promotion of `a` with `b`. The condition is Bool
/// or uint8.
THStatus THTensor_where(THTensor *r, const THTensor *condition, const THTensor *a, const THTensor *b);

/// `r = a where condition, else value`, otherwise as where. A whole `value` keeps integers integer and must lie in
/// their range, any other makes them the default dtype.
THStatus THTensor_whereValue(THTensor *r, const THTensor *condition, const THTensor *a, double value);

/// `r = value where condition, else b`, as whereValue.
THStatus THTensor_whereValueTensor(THTensor *r, const THTensor *condition, double value, const THTensor *b);

/// `r = a where condition, else b`, of two numbers: int64 if both are whole, else the default dtype.
THStatus THTensor_whereValues(THTensor *r, const THTensor *condition, double a, double b);

/// `r = 0 where a < 0 or NaN, b where a = 0, 1 where a > 0`, with broadcasting and promotion: Heaviside's step with the
/// value `b` at 0.
THStatus THTensor_heaviside(THTensor *r, const THTensor *a, const THTensor *b);

/// `t = value where mask`, converted as fill does. The mask is Bool or uint8 and broadcasts to the shape of `t`.
THStatus THTensor_maskedFill(THTensor *t, const THTensor *mask, double value);

/// `r = whether the sign bit of t is set`, as Bool unless `r` has a dtype: of negative numbers, of -0.0, and of NaN
/// that is negative.
THStatus THTensor_signbit(THTensor *r, const THTensor *t);

/// `r = |a - b| <= atol + rtol * |b|`, with broadcasting, as Bool unless `r` has a dtype. Infinities are close to
/// themselves only, whatever the tolerance, NaN to nothing unless `equalNan` is not 0. Integers are compared as
/// float64. Negative tolerances are errors.
THStatus THTensor_isclose(THTensor *r, const THTensor *a, const THTensor *b, double rtol, double atol, int equalNan);

/// Returns 1 if all elements are close in the sense of isclose, else 0; 0 on error.
int THTensor_allclose(const THTensor *a, const THTensor *b, double rtol, double atol, int equalNan);

/// Returns 1 if both tensors have the same shape and equal elements, whatever their dtypes, else 0; NaN equals nothing.
/// 0 on error.
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
 * A `THFused` is an expression of elementwise functions, such as `"tanh(a*b + c)"`, that is computed in one pass: no
 * result of a step is written to memory but the last. On the host the steps run one after the other on tiles in the
 * first-level cache, on all threads; on a GPU the whole is one kernel, which is compiled at its first use. Names that
 * nothing else explains are inputs. Numbers are written as in C, in decimal (`1.5e-3`) or hexadecimal (`0x1.8p3`). The
 * operators are, from those that bind least: one of `<` `<=` `>` `>=` `==` `!=`; `+` `-`; `*` `/`; a sign `-`; and `**`
 * or `^`, powers, which bind from the right. A function of the chapters from Arithmetic to Comparisons and choices, and
 * gradients of activations, is called by its name without `THTensor_` and without its result: `clamp(a, 0, 1)`,
 * `where(a > 0, b, 0.5)`, `addcmul(t, 0.1, a, b)`. The arguments choose among the forms of a function: `pow(a, 2)`,
 * `pow(a, b)`, `max(a, 0)`, `lerp(a, b, w)`. `signbit` is refused, because it reads memory instead of elements.
 * Statements before the expression, each closed by a semicolon, name values: `"d = a - b; d*d + tanh(d)"`. The result
 * is that of the single functions, one after the other, with their dtypes and rounding, and on the host bit for bit but
 * for the bits of NaN: inputs broadcast; `a + b` is cadd of two tensors and add of a tensor and a number, and so on;
 * operators of two numbers make a number, computed in double. An expression has at most 31 inputs, 1024 operations, and
 * 100 brackets, signs and powers inside each other. Errors: `TH_ERR_ARGUMENT`, an expression that cannot be read or
 * exceeds a limit, and at which column, or inputs that are fewer or more than the expression has; whatever a function
 * refuses, with its column.
 * @{
 */

/// An expression of elementwise operations, computed in one pass. Several threads may run one.
typedef struct THFused THFused;

/// Reads an expression. Free it with `THFused_free`; NULL on error.
TH_NODISCARD THFused *THFused_new(const char *expression);

/// Adds a reference; NULL is ignored.
void THFused_retain(THFused *f);

/// Gives up a reference, and frees the expression with the last one; NULL is ignored.
void THFused_free(THFused *f);

/// The number of inputs; -1 on error.
int64_t THFused_nInputs(const THFused *f);

/// The name of input `index`, from 0: inputs are numbered as they first appear in the text. Borrowed: valid as long as
/// the expression. NULL on error.
const char *THFused_inputName(const THFused *f, int64_t index);

/// `r` = the expression of the `count` inputs, in the order of their numbers. They broadcast; a fresh `r` has the dtype
/// that the last function gives it. `r` may be an input.
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
 * Over one dimension, over several, or over all elements. Errors: `TH_ERR_ARGUMENT`, a dimension out of range or
 * without elements to choose from; `TH_ERR_SHAPE`, operands that do not broadcast, or a result several positions of
 * which share an element; `TH_ERR_DTYPE`, a dtype that the reduction is not defined for, or that the result cannot
 * take.
 * @{
 */

/// `r = mean of the elements of t over dimension that are not NaN`, or over all with `TH_ALL_DIMS`. Floats only; where
/// there are none, NaN. `keepdim` as for sum.
THStatus THTensor_nanmean(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = mean of the elements of t over dims that are not NaN`; otherwise as nanmean, dims as for sumDims.
THStatus THTensor_nanmeanDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim);

/// `r = greatest elements of t over dimension`, or over all with `TH_ALL_DIMS`. A NaN beats everything. A dimension
/// without elements is an error, even where the result has none either. `keepdim` as for sum.
THStatus THTensor_amax(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = greatest elements of t over dims`; otherwise as amax, dims as for sumDims.
THStatus THTensor_amaxDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim);

/// `r = least elements of t over dimension`; everything else as for amax.
THStatus THTensor_amin(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = least elements of t over dims`; otherwise as amin, dims as for sumDims.
THStatus THTensor_aminDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim);

/// `r = whether all elements of t over dimension are not 0`, or over all with `TH_ALL_DIMS`. Bool, but uint8 for uint8,
/// unless `r` has a dtype. NaN is not 0; without elements the result is true. `keepdim` as for sum.
THStatus THTensor_all(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = whether all elements of t over dims are not 0`; otherwise as all, dims as for sumDims.
THStatus THTensor_allDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim);

/// `r = whether any element of t over dimension is not 0`; without elements it is false. Everything else as for all.
THStatus THTensor_any(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = whether any element of t over dims is not 0`; otherwise as any, dims as for sumDims.
THStatus THTensor_anyDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim);

/// `r = sum of t over dimension`, or over all with `TH_ALL_DIMS`. Integers and Bool give int64, which wraps. With
/// `keepdim` the dimension stays with size 1, else it disappears.
///
/// Float64 is summed in float64, in parts whose sums are summed in turn. Narrower floats are summed eight to sixteen at
/// a time in float32, and these sums in float64: the sum differs from the exact one by at most `2^-21 * sum of |t|`,
/// and is rounded once to the dtype of `r`. For sums in float64 throughout ask for them: sumDims with `TH_FLOAT64`,
/// sumall.
THStatus THTensor_sum(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = sum of t over dims`, `ndim` of them, in any order, none twice; over all if `ndim` is 0. The result has `dtype`,
/// or that of sum with `TH_UNDEFINED`: a float summed as an integer is cut off first, and floats summed as `TH_FLOAT64`
/// are so from the first addition. An `r` of another dtype than `dtype` gets that result converted. `keepdim` as for
/// sum.
THStatus THTensor_sumDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim, THDtype dtype);

/// `r = product of t over dimension`, or over all with `TH_ALL_DIMS`. Integers and Bool give int64; floats are
/// multiplied in float64 and rounded once. The product of no elements is 1. `keepdim` as for sum.
THStatus THTensor_prod(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = product of t over dims`; otherwise as prod, dims and dtype as for sumDims.
THStatus THTensor_prodDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim, THDtype dtype);

/// `r = mean of t over dimension`, or over all with `TH_ALL_DIMS`: the sum, as exact as that of sum, by the number of
/// elements. Floats only; the mean of no elements is NaN. `keepdim` as for sum. In another dtype, and of integers:
/// meanDims.
THStatus THTensor_mean(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = mean of t over dims`, integers too if `dtype` is a float; otherwise as mean, dims and dtype as for sumDims.
THStatus THTensor_meanDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim, THDtype dtype);

/// `r = sum of t over dimension without the NaNs`, or over all with `TH_ALL_DIMS`; all floats are summed in float64.
/// Everything else as for sum.
THStatus THTensor_nansum(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = sum of t over dims without the NaNs`; otherwise as nansum, dims and dtype as for sumDims.
THStatus THTensor_nansumDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim, THDtype dtype);

/// `r = sum of (t - mean)^2 / (n - 1) over dimension`, or over all with `TH_ALL_DIMS`; `/ n` if `biased`. Floats only,
/// computed in float64. NaN where there is nothing to divide by. `keepdim` as for sum.
THStatus THTensor_var(THTensor *r, const THTensor *t, int dimension, int biased, int keepdim);

/// `r = variance of t over dims`; otherwise as var, dims as for sumDims.
THStatus THTensor_varDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int biased, int keepdim);

/// The variance of all elements, `biased` as for var; NaN on error.
double THTensor_varall(const THTensor *t, int biased);

/// `r = sum of (t - mean)^2 / (n - correction) over dimension`, otherwise as var, where the correction is 1, or 0 if
/// `biased`. The divisor is never less than 0; a correction that is NaN is an error.
THStatus THTensor_varCorrection(THTensor *r, const THTensor *t, int dimension, double correction, int keepdim);

/// `r = variance of t over dims`; otherwise as varCorrection, dims as for sumDims.
THStatus THTensor_varDimsCorrection(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, double correction,
                                    int keepdim);

/// The variance of all elements, `correction` as for varCorrection; NaN on error.
double THTensor_varallCorrection(const THTensor *t, double correction);

/// `r = sqrt(variance of t over dimension)`; everything else as for var.
THStatus THTensor_std(THTensor *r, const THTensor *t, int dimension, int biased, int keepdim);

/// `r = sqrt(variance of t over dims)`; otherwise as var, dims as for sumDims.
THStatus THTensor_stdDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int biased, int keepdim);

/// The standard deviation of all elements, `biased` as for var; NaN on error.
double THTensor_stdall(const THTensor *t, int biased);

/// `r = sqrt(variance of t over dimension)`; everything else as for varCorrection.
THStatus THTensor_stdCorrection(THTensor *r, const THTensor *t, int dimension, double correction, int keepdim);

/// `r = sqrt(variance of t over dims)`; otherwise as varCorrection, dims as for sumDims.
THStatus THTensor_stdDimsCorrection(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, double correction,
                                    int keepdim);

/// The standard deviation of all elements, `correction` as for varCorrection; NaN on error.
double THTensor_stdallCorrection(const THTensor *t, double correction);

/// `values = greatest elements of t over dimension`, or over all with `TH_ALL_DIMS`, and int64 `indices` of where each
/// first occurs (row-major over all). Either result may be NULL. Everything else as for amax.
THStatus THTensor_max(THTensor *values, THTensor *indices, const THTensor *t, int dimension, int keepdim);

/// `r = where the greatest elements of t over dimension first occur`, as int64; row-major over all with `TH_ALL_DIMS`.
/// Everything else as for amax.
THStatus THTensor_argmax(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// The greatest element; NaN on error and if one is NaN.
double THTensor_maxall(const THTensor *t);

/// `values = least elements of t over dimension`; everything else as for max.
THStatus THTensor_min(THTensor *values, THTensor *indices, const THTensor *t, int dimension, int keepdim);

/// `r = where the least elements of t over dimension first occur`; everything else as for argmax.
THStatus THTensor_argmin(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// The least element; NaN on error and if one is NaN.
double THTensor_minall(const THTensor *t);

/// `r = (sum of |t|^value over dimension)^(1/value)`, or over all with `TH_ALL_DIMS`: the number of elements that are
/// not 0 for 0, the greatest |t| for infinity, the least for -infinity. Floats only. A dimension without elements is an
/// error for negative and infinite `value`. `keepdim` as for sum.
///
/// For 1 and 2, floats narrower than float64 are summed as by sum: the norm differs from the exact one by at most
/// `2^-21` of it before it is rounded to the dtype of `r`. Everything else is computed in float64, and powers that
/// would leave its range are scaled.
THStatus THTensor_norm(THTensor *r, const THTensor *t, double value, int dimension, int keepdim);

/// `r = (sum of |t|^value over dims)^(1/value)`; otherwise as norm, dims as for sumDims. `dtype` may be a wider float:
/// with `TH_FLOAT64` everything is computed in float64.
THStatus THTensor_normDims(THTensor *r, const THTensor *t, double value, int ndim, const int64_t *dims, int keepdim,
                           THDtype dtype);

/// `least, greatest elements of t over dimension`, or over all with `TH_ALL_DIMS`. Either result may be NULL.
/// Everything else as for amax.
THStatus THTensor_aminmax(THTensor *least, THTensor *greatest, const THTensor *t, int dimension, int keepdim);

/// The sum of all elements, of floats in float64 throughout; NaN on error.
double THTensor_sumall(const THTensor *t);

/// The product of all elements; NaN on error.
double THTensor_prodall(const THTensor *t);

/// The mean of all elements, computed in float64 throughout; NaN on error.
double THTensor_meanall(const THTensor *t);

/// The norm of all elements, `value` as for norm, computed in float64 throughout; NaN on error.
double THTensor_normall(const THTensor *t, double value);

/// `(sum of |a - b|^value)^(1/value)`, the norm of the difference, with broadcasting, computed in float64 throughout;
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
 * Errors: `TH_ERR_ARGUMENT`, a dimension out of range; `TH_ERR_DTYPE`, a dtype that the function is not defined for, or
 * that the result cannot take; `TH_ERR_SHAPE`, a tensor with too few dimensions.
 * @{
 */

/// `r[i] = t[0] + ... + t[i]` along `dimension`; `r` has the shape of `t`. Integers and Bool give int64, which wraps;
/// floats keep their dtype and are summed in float64.
THStatus THTensor_cumsum(THTensor *r, const THTensor *t, int dimension);

/// `r[i] = t[0] + ... + t[i]` along `dimension`, of `t` converted to `dtype`, which the result has; otherwise as
/// cumsum, and with `TH_UNDEFINED` the same. Integers narrower than int64 wrap, and Bool is whether any element so far
/// is true.
THStatus THTensor_cumsumDtype(THTensor *r, const THTensor *t, int dimension, THDtype dtype);

/// `r[i] = t[0] * ... * t[i]` along `dimension`; everything else as for cumsum.
THStatus THTensor_cumprod(THTensor *r, const THTensor *t, int dimension);

/// `r[i] = t[0] * ... * t[i]` along `dimension`, of `t` converted to `dtype`; otherwise as cumprod, dtype as for
/// cumsumDtype.
THStatus THTensor_cumprodDtype(THTensor *r, const THTensor *t, int dimension, THDtype dtype);

/// `values[i] = max(t[0], ..., t[i])` along `dimension`, and int64 `indices` of where it is: the last place among
/// equals. Both have the shape of `t`; either may be NULL. A NaN is greater than everything, so that it stays.
THStatus THTensor_cummax(THTensor *values, THTensor *indices, const THTensor *t, int dimension);

/// `values[i] = min(t[0], ..., t[i])` along `dimension`; everything else as for cummax, NaN too.
THStatus THTensor_cummin(THTensor *values, THTensor *indices, const THTensor *t, int dimension);

/// `r = e^t / sum of e^t` along `dimension`: positive numbers that sum to 1, without overflow. Floats only; `r` has the
/// shape of `t`.
THStatus THTensor_softmax(THTensor *r, const THTensor *t, int dimension);

/// `r = e^t / sum of e^t` along `dimension`, of `t` converted to `dtype`, a float, which the result has; otherwise as
/// softmax, and with `TH_UNDEFINED` the same.
THStatus THTensor_softmaxDtype(THTensor *r, const THTensor *t, int dimension, THDtype dtype);

/// `r = t - log(sum of e^t)` along `dimension`: the logarithm of softmax, exact where that is tiny. Floats only; `r`
/// has the shape of `t`.
THStatus THTensor_logSoftmax(THTensor *r, const THTensor *t, int dimension);

/// `r = t - log(sum of e^t)` along `dimension`, of `t` converted to `dtype`; otherwise as logSoftmax, dtype as for
/// softmaxDtype.
THStatus THTensor_logSoftmaxDtype(THTensor *r, const THTensor *t, int dimension, THDtype dtype);

/// `r[i] = log(e^t[0] + ... + e^t[i])` along `dimension`, without overflow; computed in float64. Floats only; `r` has
/// the shape of `t`.
THStatus THTensor_logcumsumexp(THTensor *r, const THTensor *t, int dimension);

/// `r = log(sum of e^t)` over `dimension`, or over all with `TH_ALL_DIMS`, without overflow; without elements it is
/// minus infinity. Integers and Bool give the default float dtype. With `keepdim` the dimension stays with size 1, else
/// it disappears.
THStatus THTensor_logsumexp(THTensor *r, const THTensor *t, int dimension, int keepdim);

/// `r = log(sum of e^t)` over the `ndim` dimensions in `dims`, each named once; over all with `ndim` 0 and `dims` NULL.
/// Everything else as for logsumexp.
THStatus THTensor_logsumexpDims(THTensor *r, const THTensor *t, int ndim, const int64_t *dims, int keepdim);

/// `r = t`, where each slice along `dimension` whose p-norm is greater than `maxnorm` is scaled down to it: by `maxnorm
/// / (norm + 1e-7)`. Floats of at least two dimensions; `p` is `value`, positive, infinity allowed.
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
 * Gradients of activations, of softmax, of layerNorm and of losses, for training loops that are written by hand: each
 * is the gradient of the forward function's input, from `g`, that of its result. With `y` as an argument the result
 * itself is asked for, with `t` the input. Errors: `TH_ERR_SHAPE`, operands that do not fit each other; `TH_ERR_DTYPE`,
 * a dtype that the function is not defined for, or a target that is not of integers; `TH_ERR_ARGUMENT`, a class,
 * dimension or number out of range.
 * @{
 */

/// The value that a loss function makes of the losses of all positions.
typedef enum THReduction {
    TH_REDUCTION_NONE = 0,       ///< Nothing: the result has a loss for each position.
    TH_REDUCTION_MEAN = 1,       ///< Their sum, divided by the sum of the weights: of no position NaN.
    TH_REDUCTION_SUM = 2,        ///< Their sum.
    /// Their sum, divided by the first size of all losses, whose operands are broadcast: of losses of single elements
    /// alone.
    TH_REDUCTION_BATCH_MEAN = 3
} THReduction;

/// `r = y * (g - sum of g * y)` along `dimension`: the gradient of softmax, from its result `y`. Both have one shape
/// and one dtype, a float.
THStatus THTensor_softmaxGrad(THTensor *r, const THTensor *g, const THTensor *y, int dimension);

/// `r = g - e^y * sum of g` along `dimension`: the gradient of logSoftmax, from its result `y`. Both have one shape and
/// one dtype, a float.
THStatus THTensor_logSoftmaxGrad(THTensor *r, const THTensor *g, const THTensor *y, int dimension);

/// `r = (t - mean) / sqrt(variance + eps) * weight + bias`, with mean and variance, the biased one, over the last
/// `normalizedNdim` dimensions of `t`, 1 at least. `weight` and `bias` have the sizes of these dimensions and the dtype
/// of `t`, or float32 beside 16-bit floats; NULL stands for 1 and 0. Floats only; computed in float32 or float64, with
/// sums in float64.
THStatus THTensor_layerNorm(THTensor *r, const THTensor *t, int normalizedNdim, const THTensor *weight,
                            const THTensor *bias, double eps);

/// The gradients of layerNorm from `g`, that of its result: `gradInput` that of `t`, `gradWeight` and `gradBias` those
/// of `weight` and `bias`, of the dtype of `weight` or else of `t`. Each of the three may be NULL. The other arguments
/// are those of layerNorm; with the `n` elements of a row, `x` = the row normalized and `h = g * weight`, `gradInput =
/// (h - mean of h - x * mean of (h * x)) / sqrt(variance + eps)`, and over all rows `gradWeight = sum of g * x`,
/// `gradBias = sum of g`.
THStatus THTensor_layerNormGrad(THTensor *gradInput, THTensor *gradWeight, THTensor *gradBias, const THTensor *g,
                                const THTensor *t, int normalizedNdim, const THTensor *weight, double eps);

/// `r = -weight[c] * t[c]` for each position, `c` being its class in `target`: the loss of log-probabilities `t`, which
/// logSoftmax makes, of shape `[classes]`, `[batch, classes]` or `[batch, classes, sizes...]`. Floats only; sums in
/// float64.
///
/// `target`, int64 or int32, has the shape of `t` without the classes. A class that is not in `t` is an error, but
/// `ignoreIndex`, whose positions have the loss 0 and do not count; -100 is usual. `weight` has a factor for each
/// class, of the dtype of `t` or float32 beside 16-bit floats; NULL stands for 1. With `TH_REDUCTION_NONE` the result
/// has the shape of `target`, else it is a scalar.
THStatus THTensor_nllLoss(THTensor *r, const THTensor *t, const THTensor *target, const THTensor *weight,
                          THReduction reduction, int64_t ignoreIndex);

/// `r = -g * weight[c]` at the class `c` of each position, and 0 elsewhere; with `TH_REDUCTION_MEAN` divided by the sum
/// of the weights: the gradient of nllLoss. Of `t` the shape counts alone, `g` has the shape of the loss, and its dtype
/// is that of `r`. The other arguments are those of nllLoss.
THStatus THTensor_nllLossGrad(THTensor *r, const THTensor *g, const THTensor *t, const THTensor *target,
                              const THTensor *weight, THReduction reduction, int64_t ignoreIndex);

/// nllLoss of `logSoftmax(t)` along the classes: the loss of scores `t`, from the logarithms before they are rounded to
/// 16 bits. All else is as for nllLoss.
THStatus THTensor_crossEntropy(THTensor *r, const THTensor *t, const THTensor *target, const THTensor *weight,
                               THReduction reduction, int64_t ignoreIndex);

/// `r = g * weight[c] * (softmax(t) - 1 at the class c of each position)`, and 0 where the position does not count;
/// with `TH_REDUCTION_MEAN` divided by the sum of the weights: the gradient of crossEntropy. `g` has the shape of the
/// loss and the dtype of `t`. The other arguments are those of nllLoss.
THStatus THTensor_crossEntropyGrad(THTensor *r, const THTensor *g, const THTensor *t, const THTensor *target,
                                   const THTensor *weight, THReduction reduction, int64_t ignoreIndex);

/// crossEntropy with targets that are smoothed: the class of a position counts `1 - smoothing`, and all `classes` of
/// them, itself included, `smoothing / classes`, each with its weight. With `TH_REDUCTION_MEAN` the sum is divided by
/// that of the weights of the targets. `smoothing` is from 0 to 1; all else is as for nllLoss.
THStatus THTensor_crossEntropyLabelSmoothing(THTensor *r, const THTensor *t, const THTensor *target,
                                             const THTensor *weight, THReduction reduction, int64_t ignoreIndex,
                                             double smoothing);

/// `r = (t - target)^2`, reduced: the squared error. Operands of losses of single elements broadcast and are promoted;
/// floats only.
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
/// probability `sigmoid(t)`, for `target` from 0 to 1. The factors `weight` and `posWeight` broadcast, too; NULL stands
/// for 1.
THStatus THTensor_bceWithLogits(THTensor *r, const THTensor *t, const THTensor *target, const THTensor *weight,
                                const THTensor *posWeight, THReduction reduction);

/// `r = target * (log(target) - t)`, reduced: the Kullback-Leibler divergence of the probabilities `target` from those
/// whose logarithms are `t`; `target * log(target)` is 0 where `target` is. With `logTarget` the target has logarithms
/// as well. `TH_REDUCTION_BATCH_MEAN` gives the mean of the divergences of the rows.
THStatus THTensor_klDiv(THTensor *r, const THTensor *t, const THTensor *target, int logTarget, THReduction reduction);

/// `r = (t - mean) * invstd * weight + bias` for each channel, an entry of dimension 1 of `t`: batch normalization. In
/// training `mean` is that of the channel and `invstd = 1 / sqrt(variance + eps)`, with the biased variance, and then
/// `runningMean = (1 - momentum) * runningMean + momentum * mean`, and likewise `runningVar` with the unbiased
/// variance; either may be NULL. Else both are those of `runningMean` and `runningVar`, which stay as they are.
///
/// `weight`, `bias` and the running ones have one element for each channel, and the dtype of `t`, or float32 beside
/// 16-bit floats; `weight` and `bias` may be NULL for 1 and 0. `mean` and `invstd` get what was used, and may be NULL.
/// Floats only; computed in float32 or float64.
THStatus THTensor_batchNorm(THTensor *r, THTensor *mean, THTensor *invstd, const THTensor *t, const THTensor *weight,
                            const THTensor *bias, THTensor *runningMean, THTensor *runningVar, int training,
                            double momentum, double eps);

/// `r[i..., :] = weight[index[i...], :]`: the rows of a table. The index, int64 or int32, has any shape. The row
/// `paddingIdx` gets no gradient; -1 is none.
THStatus THTensor_embedding(THTensor *r, const THTensor *weight, const THTensor *index, int64_t paddingIdx);

/// `r = 0 where t <= 0, else g`: the gradient of relu. Floats only.
THStatus THTensor_reluGrad(THTensor *r, const THTensor *g, const THTensor *t);

/// `r = g where t > 0, else value * g`: the gradient of leakyRelu. Floats only.
THStatus THTensor_leakyReluGrad(THTensor *r, const THTensor *g, const THTensor *t, double value);

/// `r = 0 where t <= minimum or t >= maximum, else g`: the gradient of hardtanh. Floats only.
THStatus THTensor_hardtanhGrad(THTensor *r, const THTensor *g, const THTensor *t, double minimum, double maximum);

/// `r = value * e^t * g where t <= 0, else g`: the gradient of elu. Floats only.
THStatus THTensor_eluGrad(THTensor *r, const THTensor *g, const THTensor *t, double value);

/// `r = g / (1 + e^(-beta * t))`, or `g` itself where `beta * t > threshold`: the gradient of softplus. Floats only.
THStatus THTensor_softplusGrad(THTensor *r, const THTensor *g, const THTensor *t, double beta, double threshold);

/// `r = g * y * (1 - y)`: the gradient of sigmoid, from its result `y`. Floats only.
THStatus THTensor_sigmoidGrad(THTensor *r, const THTensor *g, const THTensor *y);

/// `r = g * (1 - y^2)`: the gradient of tanh, from its result `y`. Floats only.
THStatus THTensor_tanhGrad(THTensor *r, const THTensor *g, const THTensor *y);

/// `r = g * (Phi(t) + t * phi(t))`, with the distribution function and the density of the normal distribution: the
/// gradient of gelu. At inf and -inf the factor is 1 and 0, its limits, where PyTorch has NaN. Floats only.
THStatus THTensor_geluGrad(THTensor *r, const THTensor *g, const THTensor *t);

/// `r = g * the derivative of geluTanh at t`, with its limits 1 and 0 at inf and -inf. Floats only.
THStatus THTensor_geluTanhGrad(THTensor *r, const THTensor *g, const THTensor *t);

/** @} */

/* ==================================================================================================================
 *
 *     21. Gradients
 *
 * ================================================================================================================== */

/**
 * @defgroup gradients Gradients
 *
 * A leaf for which `THTensor_setRequiresGrad` was called, and what is computed from it, require a gradient: each
 * operation on them leaves a node in a graph, which its results keep alive. `THTensor_backward` goes through the graph
 * and adds to each leaf its gradient. Handles that show the same elements share their history: a write through a view
 * changes the gradient of its tensor, and a write to the tensor changes the gradients of its views. A call that would
 * lose a history is refused with `TH_ERR_ARGUMENT`: new elements for a result by `THTensor_resize`; a tensor made of
 * the storage of a result, where `THTensor_newAsStrided` serves; a write to the storage of a result; a write through a
 * view that was made while recording was off. Between `THGrad_setEnabled(0)` and `THGrad_setEnabled(1)` all of these
 * are allowed, and gradients do not see them. Errors: `TH_ERR_ARGUMENT`, a tensor that requires no gradient, a leaf
 * that is to be written, a saved tensor that was changed in place or freed by an earlier backward; `TH_ERR_DTYPE`, a
 * leaf that is no float; `TH_ERR_SHAPE`, a gradient that does not fit its tensor; `TH_ERR_UNSUPPORTED`, an operation
 * without a derivative; what a function of the caller returns; `TH_ERR_NUMERIC`, a check that finds a wrong gradient.
 * @{
 */

/// Called with a gradient while backward runs.
///
/// It stores in `replacement` a new reference to a tensor of the same shape and dtype that is to take the place of the
/// gradient, or leaves NULL there. 0 means go on; anything else stops backward, which returns it. `gradient` is
/// borrowed and must not be changed.
typedef THStatus (*THGradHook)(const struct THTensor *gradient, struct THTensor **replacement, void *context);

/// The call of a function of the caller, which the function is handed.
typedef struct THGradCall THGradCall;

/// Computes `to` from `from`, for `THGrad_apply`: the results of a function from its inputs, or the gradients of its
/// inputs from those of its results.
///
/// The first is not recorded, writes to fresh handles, and saves by `THGrad_save` what the second needs. To the second
/// an entry of `from` is NULL where the gradient of a result is 0; an entry of `to` is a fresh handle to be written to,
/// or left alone, which stands for 0, and NULL for an input that needs no gradient. 0 means go on; anything else is
/// what `THGrad_apply`, or backward, returns. The tensors are borrowed.
typedef THStatus (*THGradRule)(struct THGradCall *call,
                               const struct THTensor *const *from,
                               int fromCount,
                               struct THTensor *const *to,
                               int toCount,
                               void *context);

/// Computes results from inputs, for `THGrad_checkpoint` and `THGrad_check`.
///
/// It writes to the `outputCount` handles in `outputs`, which are fresh. 0 means go on; anything else is what the
/// caller of it returns. The tensors are borrowed.
typedef THStatus (*THGradFunction)(const struct THTensor *const *inputs,
                                   int inputCount,
                                   struct THTensor *const *outputs,
                                   int outputCount,
                                   void *context);

/// Says whether the gradient of `t`, a leaf, is wanted. Operations on it are recorded from then on.
THStatus THTensor_setRequiresGrad(THTensor *t, int requiresGrad);

/// 1 if `t` is a leaf whose gradient is wanted, or was computed from one.
int THTensor_requiresGrad(const THTensor *t);

/// 1 unless `t` is the result of a recorded operation.
int THTensor_isLeaf(const THTensor *t);

/// The gradient of `t`: a new reference, or NULL, without an error, where there is none yet.
TH_NODISCARD THTensor *THTensor_newGrad(const THTensor *t);

/// Makes `grad`, of the shape, dtype and device of `t`, the gradient of `t`, which keeps a handle on its elements; NULL
/// removes the gradient.
THStatus THTensor_setGrad(THTensor *t, const THTensor *grad);

/// Fills the gradient of `t`, if there is one, with 0.
THStatus THTensor_zeroGrad(THTensor *t);

/// Keeps the gradient of `t`, a result, when backward comes through it: each backward adds its gradient to the one
/// before, as with a leaf. After a write to `t` the gradient is that of the new values. Leaves keep theirs anyway.
THStatus THTensor_retainGrad(THTensor *t);

/// A handle on the elements of `t` that requires no gradient. A write to the handle changes the elements of `t`, and
/// their gradient. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newDetach(THTensor *t);

/// Ends the history of `t`, which becomes a leaf that requires no gradient. A view is refused.
THStatus THTensor_detach(THTensor *t);

/// The number of calls that wrote to the storage of `t`, counted since the program uses gradients. -1 on error.
int64_t THTensor_version(const THTensor *t);

/// Adds to the gradients of all leaves that `t` was computed from the gradient of `sum of gradient * t`. NULL stands
/// for 1, where `t` has one element. What operations saved is freed.
THStatus THTensor_backward(const THTensor *t, const THTensor *gradient);

/// Has `function` called with the gradient of `t` whenever backward has computed it. Returns a number, by which
/// `THTensor_removeHook` removes it; -1 on error. `deleter`, unless NULL, is called once, as `deleter(context,
/// context)`, when nothing can call `function` any more; on error it is not called.
int64_t THTensor_addHook(THTensor *t, THGradHook function, void *context, THDeleter deleter);

/// Removes the hook with this number.
THStatus THTensor_removeHook(THTensor *t, int64_t id);

/// `THTensor_backward` of `count` tensors at once. `gradients` has one for each, or NULL; NULL for all stands for NULL
/// in each place. `retainGraph` keeps what operations saved, so that backward can run again; `createGraph` records what
/// backward does, so that gradients have gradients.
THStatus THGrad_backward(THTensor *const *tensors, THTensor *const *gradients, int count, int retainGraph,
                         int createGraph);

/// Switches recording on this thread on (1, as it is at first) or off (0).
THStatus THGrad_setEnabled(int enabled);

/// 1 if this thread records operations.
int THGrad_isEnabled(void);

/// Begins (1) or ends (0) inference on this thread: nothing is recorded, whatever `THGrad_setEnabled` says meanwhile.
THStatus THGrad_setInference(int on);

/// The gradients of `sum of gradients * outputs` with respect to each of the `inputs`, and of nothing else: leaves keep
/// theirs. `r` gets a new reference for each input; see "Lists" in the conventions for `r` and `count`. An input that
/// has no part in the outputs is an error, or NULL in its place with `allowUnused`. Hooks of the inputs and of results
/// on the way to them are called. The other arguments are those of `THGrad_backward`.
THStatus THGrad_gradients(THTensor **r, int *count, THTensor *const *outputs, THTensor *const *gradients,
                          int outputCount, THTensor *const *inputs, int inputCount, int retainGraph, int createGraph,
                          int allowUnused);

/// Calls `forward`, which computes the `outputs` from the `inputs`, and has `backward` called for its gradient.
/// `deleter`, unless NULL, is called with `context` twice when nothing needs the functions any more; on error it is not
/// called. The outputs are fresh handles, or such that are overwritten.
THStatus THGrad_apply(THTensor *const *outputs, int outputCount, THTensor *const *inputs, int inputCount,
                      THGradRule forward, THGradRule backward, void *context, THDeleter deleter);

/// Saves a tensor for the gradient: an input, an output, or what was computed on the way, of which a reference is kept.
/// `call` is that of a function that runs on this thread; it ends when the function returns.
THStatus THGrad_save(THGradCall *call, THTensor *t);

/// The tensor that was saved as number `index`, counted from 0. Returns a new reference.
TH_NODISCARD THTensor *THGrad_newSaved(THGradCall *call, int64_t index);

/// 1 if the gradient of input `index` is wanted.
int THGrad_needsGradient(THGradCall *call, int64_t index);

/// Calls `function`, which computes the `outputs` from the `inputs`. Backward keeps none of what it computes on the
/// way, and calls it again when it comes through; so `function` must compute the same again. Tensors that `function`
/// uses besides the `inputs` get their gradients, too. Random numbers must come from a generator that it seeds itself.
/// `deleter` as for `THGrad_apply`.
THStatus THGrad_checkpoint(THTensor *const *outputs, int outputCount, THTensor *const *inputs, int inputCount,
                           THGradFunction function, void *context, THDeleter deleter);

/// Compares the gradients of `function`, which computes `outputCount` results, 1 to 65536, with differences `(f(x +
/// eps) - f(x - eps)) / (2 eps)` for each element of the inputs that require one, which are float64. `TH_ERR_NUMERIC`,
/// with the place and the values, where they differ by more than `atol + rtol * |difference|`; 1e-6, 1e-5 and 1e-3 are
/// usual.
THStatus THGrad_check(THTensor *const *inputs, int inputCount, int64_t outputCount, THGradFunction function,
                      void *context, double eps, double atol, double rtol);

/** @} */

/* ==================================================================================================================
 *
 *     22. Optimizers
 *
 * ================================================================================================================== */

/**
 * @defgroup optimizers Optimizers
 *
 * An optimizer moves parameters, leaves that require gradients, along their gradients: `THTensor_backward` leaves these
 * with the parameters, `THOptim_step` moves each parameter that has one, in place, and `THOptim_zeroGrad` takes the
 * gradients away before the next backward. It keeps references to the parameters, and remembers what it needs of
 * earlier steps in tensors beside them, on their devices. Steps are not recorded. One thread at a time may use an
 * optimizer. The first step of an optimizer cannot be captured in a graph of a GPU, because the graph would begin anew
 * at each launch; plain gradient descent, which remembers nothing, is the exception. Errors: `TH_ERR_ARGUMENT`, numbers
 * that an optimizer does not take, or a parameter that is the result of a recorded operation; `TH_ERR_DTYPE`, a
 * parameter that is no float; `TH_ERR_SHAPE`, a gradient of another shape than its parameter.
 * @{
 */

/// An optimizer: parameters, and what is remembered of each between steps.
typedef struct THOptim THOptim;

/// Computes a loss and the gradients of an optimizer's parameters, for `THOptim_stepClosure`.
///
/// It stores the loss in `loss`, and leaves the gradients with the parameters, as `THTensor_backward` does after
/// `THOptim_zeroGrad`. 0 means go on; anything else ends the step, which returns it.
typedef THStatus (*THOptimClosure)(void *context, double *loss);

/// An optimizer by stochastic gradient descent: with `g` = the gradient + `weightDecay` * the parameter, the parameter
/// moves by `-lr * g`; with a `momentum` by `-lr * b`, where `b = momentum * b + (1 - dampening) * g`, but `g` at
/// first; with `nesterov`, which takes a `momentum` and no `dampening`, by `-lr * (g + momentum * b)`. Free it with
/// `THOptim_free`; NULL on error.
TH_NODISCARD THOptim *THOptim_newSgd(THTensor *const *params, int count, double lr, double momentum, double dampening,
                                     double weightDecay, int nesterov);

/// An optimizer by Adam: with `g` = the gradient + `weightDecay` * the parameter, `m = beta1 * m + (1 - beta1) * g` and
/// `v = beta2 * v + (1 - beta2) * g^2`, the parameter moves at step `n` by `-lr * m / (1 - beta1^n) / (sqrt(v / (1 -
/// beta2^n)) + eps)`. With `amsgrad` the greatest `v` so far counts. 0.9, 0.999 and 1e-8 are usual for `beta1`, `beta2`
/// and `eps`. Free it with `THOptim_free`; NULL on error.
TH_NODISCARD THOptim *THOptim_newAdam(THTensor *const *params, int count, double lr, double beta1, double beta2,
                                      double eps, double weightDecay, int amsgrad);

/// `THOptim_newAdam`, where the decay does not go by way of the gradient: before each step the parameter is multiplied
/// by `1 - lr * weightDecay`.
TH_NODISCARD THOptim *THOptim_newAdamw(THTensor *const *params, int count, double lr, double beta1, double beta2,
                                       double eps, double weightDecay, int amsgrad);

/// An optimizer by RMSprop: with `g` = the gradient + `weightDecay` * the parameter, `v = alpha * v + (1 - alpha) *
/// g^2` and `s = g / (sqrt(v) + eps)`, the parameter moves by `-lr * s`, or with a `momentum` by `-lr * b`, where `b =
/// momentum * b + s`. With `centered` the square of the running mean of `g` is taken from `v`. 0.99 is usual for
/// `alpha`. Free it with `THOptim_free`; NULL on error.
TH_NODISCARD THOptim *THOptim_newRmsprop(THTensor *const *params, int count, double lr, double alpha, double eps,
                                         double weightDecay, double momentum, int centered);

/// An optimizer by L-BFGS, which is called by `THOptim_stepClosure`. A step takes at most `maxIter` iterations, each
/// along the gradient times an inverse Hessian that is made of the last `historySize` iterations; it ends where no
/// entry of the gradient is greater than `tolGrad`, or where the loss or every entry of the parameters changes by less
/// than `tolChange`. With `strongWolfe` each iteration searches a line for a place where Wolfe's strong conditions
/// hold, else it moves by `lr`, less at first. 20, 100, 1e-7 and 1e-9 are usual. Free it with `THOptim_free`; NULL on
/// error.
TH_NODISCARD THOptim *THOptim_newLbfgs(THTensor *const *params, int count, double lr, int64_t maxIter,
                                       int64_t historySize, double tolGrad, double tolChange, int strongWolfe);

/// Gives up the optimizer and what it remembers; NULL is ignored.
void THOptim_free(THOptim *o);

/// Moves each parameter that has a gradient. If it fails, parameters before the one that made it fail have moved.
THStatus THOptim_step(const THOptim *o);

/// Calls `closure`, which computes the loss and the gradients where the parameters are, and moves the parameters;
/// L-BFGS calls it several times, with the parameters at different places.
THStatus THOptim_stepClosure(const THOptim *o, THOptimClosure closure, void *context);

/// Fills the gradients of the parameters with 0, or with `toNull` removes them.
THStatus THOptim_zeroGrad(const THOptim *o, int toNull);

/// Sets the learning rate, for schedules.
THStatus THOptim_setLr(const THOptim *o, double lr);

/// The learning rate; NaN on error.
double THOptim_getLr(const THOptim *o);

/// Scales the gradients of `tensors` in place by one factor, so that their norm as one vector is at most `maxNorm`.
/// `normType` is the order of the norm: 2 is usual, and inf the largest element. Tensors without a gradient do not
/// count. Returns the norm before; NaN on error.
double THGrad_clipNorm(THTensor *const *tensors, int count, double maxNorm, double normType);

/// Bounds each element of the gradients of `tensors` in place by `-value` and `value`.
THStatus THGrad_clipValue(THTensor *const *tensors, int count, double value);

/** @} */

/* ==================================================================================================================
 *
 *     23. Sorting and searching
 *
 * ================================================================================================================== */

/**
 * @defgroup sorting_and_searching Sorting and searching
 *
 * NaN is greater than everything and equal to no other NaN; -0.0 equals 0.0. Results are the same whatever the number
 * of threads. Errors: `TH_ERR_ARGUMENT`, a dimension, rank or position out of range; `TH_ERR_SHAPE`, operands that do
 * not fit each other; `TH_ERR_DTYPE`, positions in a tensor that is not of integers, elements in one that cannot take
 * them.
 * @{
 */

/// `values = elements of t in ascending order along dimension`, or in `descending` order; int64 `indices` tell where
/// each of them stood.
///
/// Either result may be NULL. NaN comes last in ascending order and first in descending order. Equal elements keep
/// their order, and so do NaNs; with 0 for `stable` that is not promised. Every dtype; `values` get that of `t` if they
/// have none.
THStatus THTensor_sort(THTensor *values, THTensor *indices, const THTensor *t, int dimension, int descending,
                       int stable);

/// `r = where the elements of t stand that come first, second, ... along dimension`: the int64 indices of
/// `THTensor_sort`.
THStatus THTensor_argsort(THTensor *r, const THTensor *t, int dimension, int descending, int stable);

/// `r = elements of t in ascending order along its first dimension`, as by `THTensor_sort`.
THStatus THTensor_msort(THTensor *r, const THTensor *t);

/// `values = k least elements of t along dimension`, or the `largest`; int64 `indices` tell where they stand. NaN is
/// greater than everything.
///
/// Either result may be NULL. Of equal elements those are taken that come first. With `sorted` the least, or the
/// greatest, come first and equal ones keep their order; else all stand as in `t`. Every dtype; `values` get that of
/// `t` if they have none. A `k` that is negative or greater than the dimension is an error, and for a 0-d `t` any but
/// 1.
THStatus THTensor_topk(THTensor *values, THTensor *indices, const THTensor *t, int64_t k, int dimension, int largest,
                       int sorted);

/// `r = order along dimension by the last of count keys`, where that has equal elements by the one before, and so on,
/// as NumPy's lexsort has it.
///
/// `r[i]` is the int64 place of what comes `i`-th; what all keys have alike keeps its order. Keys have one shape, which
/// is that of `r`, and any dtypes. No keys are an error.
THStatus THTensor_lexsort(THTensor *r, THTensor *const *keys, int count, int dimension);

/// `values = each element of t once, in ascending order`; with `TH_ALL_DIMS` as dimension of all elements, else each
/// slice along it.
///
/// `t = values[inverse]`: int64 `inverse` has the shape of `t`, or is a vector with an entry for each slice. int64
/// `counts` tell how often each value occurs. Each result may be NULL. Slices are compared by the first element in
/// which they differ, in row-major order. No NaN equals another, so each is a value; of -0.0 and 0.0 the one that comes
/// first is taken. Every dtype; `values` get that of `t` if they have none. Slices without elements are an error.
THStatus THTensor_unique(THTensor *values, THTensor *inverse, THTensor *counts, const THTensor *t, int dimension);

/// `values = one element of each run of equal ones in t`, in the order of `t`; with `TH_ALL_DIMS` as dimension in
/// row-major order, else one slice of each run along it. Everything else as for `THTensor_unique`.
THStatus THTensor_uniqueConsecutive(THTensor *values, THTensor *inverse, THTensor *counts, const THTensor *t,
                                    int dimension);

/// `r[..] = number of elements of sequence less than t[..]`, or with `right` of those not greater: where `t[..]` can be
/// inserted before, or behind, what equals it. int64.
///
/// `sequence` ascends along its last dimension, NaN last, or does if its elements are taken in the order of `sorter`,
/// int64 or int32 indices of the same shape, which may be NULL. A vector is for all elements of `t`; otherwise all
/// dimensions but the last must be those of `t`. Both are converted to one dtype first. In a sequence that does not
/// ascend some place is found.
THStatus THTensor_searchsorted(THTensor *r, const THTensor *sequence, const THTensor *t, int right,
                               const THTensor *sorter);

/// `r[..] = i where boundaries[i - 1] < t[..] <= boundaries[i]`, or with `right` `boundaries[i - 1] <= t[..] <
/// boundaries[i]`: as `THTensor_searchsorted` in a vector of boundaries.
THStatus THTensor_bucketize(THTensor *r, const THTensor *t, const THTensor *boundaries, int right);

/// `r[..] = whether t[..] equals an element of tests`, or with `invert` whether it equals none. Bool.
///
/// Both are converted to one dtype first. No NaN equals anything. `assumeUnique` promises that neither has an element
/// twice; the result is the same.
THStatus THTensor_isin(THTensor *r, const THTensor *t, const THTensor *tests, int assumeUnique, int invert);

/** @} */

/* ==================================================================================================================
 *
 *     24. Order statistics and histograms
 *
 * ================================================================================================================== */

/**
 * @defgroup order_statistics_and_histograms Order statistics and histograms
 *
 * Errors: `TH_ERR_ARGUMENT`, a dimension, rank, share or range that there is not; `TH_ERR_SHAPE`, operands that do not
 * fit each other; `TH_ERR_DTYPE`, a dtype that the function is not defined for.
 * @{
 */

/// The way in which a quantile between two elements is chosen.
typedef enum THInterpolation {
    TH_INTERPOLATION_LINEAR = 0, ///< `a + (b - a) * fraction` for neighbours a and b.
    TH_INTERPOLATION_LOWER = 1,  ///< The smaller neighbour.
    TH_INTERPOLATION_HIGHER = 2, ///< The greater neighbour.
    TH_INTERPOLATION_MIDPOINT = 3, ///< `(a + b) / 2`
    TH_INTERPOLATION_NEAREST = 4 ///< The nearer neighbour; of two the one with the even rank.
} THInterpolation;

/// `values = k-th smallest elements of t over dimension`, k from 1, or over all with `TH_ALL_DIMS`; int64 `indices`
/// tell where each first occurs (row-major over all). Either result may be NULL. NaN is greater than everything, -0.0
/// equals 0.0 and is returned as that. Every dtype but Bool; `values` get that of `t` if they have none. With `keepdim`
/// the dimension stays with size 1, else it disappears. A dimension without elements and a `k` out of range are errors.
THStatus THTensor_kthvalue(THTensor *values, THTensor *indices, const THTensor *t, int64_t k, int dimension,
                           int keepdim);

/// `values = medians of t over dimension`: the middle element in order, the smaller of two. A NaN is the median of its
/// line. Everything else as for kthvalue.
THStatus THTensor_median(THTensor *values, THTensor *indices, const THTensor *t, int dimension, int keepdim);

/// `values = medians of the numbers in t over dimension`: NaNs are left out, and the result where there is nothing
/// else. Everything else as for kthvalue.
THStatus THTensor_nanmedian(THTensor *values, THTensor *indices, const THTensor *t, int dimension, int keepdim);

/// The median of all elements; NaN on error, if one is NaN, and for no floats at all.
double THTensor_medianall(const THTensor *t);

/// `values = most frequent elements of t over dimension`, the smallest of several, or over all with `TH_ALL_DIMS`;
/// int64 `indices` tell where each last occurs. No NaN equals another: one counts only where there is nothing else, and
/// then it is the first. Every dtype; results as for kthvalue.
THStatus THTensor_mode(THTensor *values, THTensor *indices, const THTensor *t, int dimension, int keepdim);

/// `r = element of rank q * (n - 1), from 0, of t over dimension` in ascending order, or over all with `TH_ALL_DIMS`; q
/// from 0 to 1.
///
/// Between two ranks `interpolation` decides, a constant of THInterpolation. q is rounded to the type of `t` (float32
/// for 16-bit floats) before ranks are computed in float64. Floats only; a NaN is every quantile of its line. `keepdim`
/// as for kthvalue. A dimension without elements is an error.
THStatus THTensor_quantile(THTensor *r, const THTensor *t, double q, int dimension, int keepdim,
                           THInterpolation interpolation);

/// As quantile, of the numbers in `t`: NaNs are left out, and the result where there is nothing else.
THStatus THTensor_nanquantile(THTensor *r, const THTensor *t, double q, int dimension, int keepdim,
                              THInterpolation interpolation);

/// As quantile for each element of `q`, a vector of floats: `r[i]` are the quantiles of `q[i]`. A 0-d `q` adds no
/// dimension.
THStatus THTensor_quantileTensor(THTensor *r, const THTensor *t, const THTensor *q, int dimension, int keepdim,
                                 THInterpolation interpolation);

/// As quantileTensor, of the numbers in `t`: NaNs are left out, and the result where there is nothing else.
THStatus THTensor_nanquantileTensor(THTensor *r, const THTensor *t, const THTensor *q, int dimension, int keepdim,
                                    THInterpolation interpolation);

/// `r[b] = number of elements x of t with floor((x - min) * bins / (max - min)) == b`, the upper edge `max` counting to
/// the last bin.
///
/// Elements outside of min to max and NaNs are left out. If min and max are equal, the least and the greatest element
/// take their place, and if those are equal, one less and one more. Floats only, in whose type edges are computed; a
/// fresh `r` gets the dtype of `t`. A range that is not finite is an error.
THStatus THTensor_histc(THTensor *r, const THTensor *t, int64_t bins, double min, double max);

/// As histc for each row of the last dimension of `t`: `r` has `bins` elements in its place. Without a range it is that
/// of all rows together.
THStatus THTensor_bhistc(THTensor *r, const THTensor *t, int64_t bins, double min, double max);

/// `r[i] = number of elements of t equal to i`, or with `weights`, which may be NULL, the sum of theirs.
///
/// `t` is a vector of integers that are not negative, `weights` one of the same length. `r` has `minlength` elements,
/// or as many as the greatest element asks for. A fresh `r` is int64, with float32 weights float32, with others
/// float64; sums are float64 until stored.
THStatus THTensor_bincount(THTensor *r, const THTensor *t, const THTensor *weights, int64_t minlength);

/** @} */

/* ==================================================================================================================
 *
 *     25. Matrix products
 *
 * ================================================================================================================== */

/**
 * @defgroup matrix_products Matrix products
 *
 * Unless a function says otherwise, operands have one dtype, any but Bool. 16-bit floats are summed in float32 and
 * rounded once, integers wrap. Any strides are taken as they are, and `r` may be an operand. With `beta` 0 the elements
 * of `t` are not looked at, so that NaN there does no harm. Processors that multiply pairs of bfloat16 (AVX512_BF16)
 * take subnormal ones for 0. Errors: `TH_ERR_SHAPE`, operands that do not multiply; `TH_ERR_DTYPE`, operands of several
 * dtypes or of Bool, and factors of integers that are not whole; `TH_ERR_ARGUMENT`, dimensions, equations and powers
 * that mean nothing.
 * @{
 */

/// How `cdistMode` computes Euclidean distances; other norms are always those of differences.
typedef enum THDistanceMode {
    TH_DISTANCE_AUTO = 0,        ///< By a matrix product with more than 25 rows on one side, else by differences.
    /// By a matrix product: faster for many rows, with an error of some eps of the squared distances from the mean.
    TH_DISTANCE_PRODUCT = 1,
    TH_DISTANCE_DIFFERENCES = 2  ///< By the differences of all rows: exact for near rows.
} THDistanceMode;

/// `r = m1 @ m2` for matrices [n x k] and [k x p] of one dtype; not for Bool. 16-bit floats accumulate in float32,
/// integers wrap.
THStatus THTensor_mm(THTensor *r, const THTensor *m1, const THTensor *m2);

/// `r = mat @ vec` for a matrix [n x k] and a vector [k] of one dtype; not for Bool.
THStatus THTensor_mv(THTensor *r, const THTensor *mat, const THTensor *vec);

/// `r = beta * t + alpha * (m1 @ m2)`; `t` broadcasts to [n x p]. With `beta` 0 the elements of `t` are not looked at.
/// `r` may be `t`.
THStatus THTensor_addmm(THTensor *r, double beta, const THTensor *t, double alpha, const THTensor *m1,
                        const THTensor *m2);

/// `r = beta * t + alpha * (mat @ vec)`; `t` broadcasts to [n]. With `beta` 0 the elements of `t` are not looked at.
/// `r` may be `t`.
THStatus THTensor_addmv(THTensor *r, double beta, const THTensor *t, double alpha, const THTensor *mat,
                        const THTensor *vec);

/// `r[i] = b1[i] @ b2[i]` for batches [b x n x k] and [b x k x p] of matrices.
THStatus THTensor_bmm(THTensor *r, const THTensor *b1, const THTensor *b2);

/// `r = beta * t + alpha * (b1[i] @ b2[i])` for each place `i` of the batch; `t` broadcasts to [b x n x p].
THStatus THTensor_baddbmm(THTensor *r, double beta, const THTensor *t, double alpha, const THTensor *b1,
                          const THTensor *b2);

/// `r = beta * t + alpha * (b1[0] @ b2[0] + b1[1] @ b2[1] + ...)`; `t` broadcasts to [n x p].
THStatus THTensor_addbmm(THTensor *r, double beta, const THTensor *t, double alpha, const THTensor *b1,
                         const THTensor *b2);

/// `r = a @ b` for matrices in the last two dimensions, whose dimensions in front broadcast. A vector on the left is a
/// row, a vector on the right a column, and the result lacks that dimension.
THStatus THTensor_matmul(THTensor *r, const THTensor *a, const THTensor *b);

/// `r`, a scalar, = the sum of `a[i] * b[i]` for vectors of one size.
THStatus THTensor_dot(THTensor *r, const THTensor *a, const THTensor *b);

/// As dot: there are no complex numbers to conjugate.
THStatus THTensor_vdot(THTensor *r, const THTensor *a, const THTensor *b);

/// `r[i, j] = v1[i] * v2[j]` for vectors. Any dtypes, promoted.
THStatus THTensor_outer(THTensor *r, const THTensor *v1, const THTensor *v2);

/// `r[i, j] = v1[i] * v2[j]` for vectors: outer, by the name it has in BLAS.
THStatus THTensor_ger(THTensor *r, const THTensor *v1, const THTensor *v2);

/// `r[i, j] = beta * t[i, j] + alpha * v1[i] * v2[j]` for vectors; `t` broadcasts to the sizes of both.
THStatus THTensor_addr(THTensor *r, double beta, const THTensor *t, double alpha, const THTensor *v1,
                       const THTensor *v2);

/// `r` = the sum of `a * b` over the last dimension of both, for all pairs of the others, those of `a` first. A scalar
/// multiplies every element.
THStatus THTensor_inner(THTensor *r, const THTensor *a, const THTensor *b);

/// `r` = the sum of `a * b` over dimension `dims_a[k]` of `a` and `dims_b[k]` of `b`, for all `ndim` of these pairs,
/// whose sizes are equal or one of them 1, which broadcasts; the other dimensions remain, those of `a` first.
THStatus THTensor_tensordot(THTensor *r, const THTensor *a, const THTensor *b, int ndim, const int64_t *dims_a,
                            const int64_t *dims_b);

/// `r` = the sum of products of `count` operands that `equation` describes, as in NumPy: a letter for each dimension,
/// operands separated by commas, and behind "->" the dimensions of the result; what is not there is summed over.
/// "ij,jk->ik" is a matrix product, "ii" a trace, "bij,bjk->bik" a batch of products. "..." stands for all dimensions
/// without a letter, which broadcast; so does size 1 where another operand has more for the same letter. Blanks do not
/// count. Without "->" the result has the ellipsis and, in alphabetical order, the letters that occur once. Up to 10
/// operands are multiplied in the order that takes the fewest multiplications.
THStatus THTensor_einsum(THTensor *r, const char *equation, THTensor *const *operands, int count);

/// `r` = the product of `count` matrices, 1 to 1000, in the order that takes the fewest multiplications. Of several,
/// the first may be a vector, which is a row, and the last one, a column.
THStatus THTensor_chainMatmul(THTensor *r, THTensor *const *matrices, int count);

/// `r` = the `n`-th power of the square matrices in the last two dimensions of `t`; the identity for `n` 0, for a
/// negative `n` that of the inverse, float32 and float64 only.
THStatus THTensor_matrixPower(THTensor *r, const THTensor *t, int64_t n);

/// Kronecker's product: each element of `a` times all of `b`, as a block in its place. `r` has the sizes of `a` times
/// those of `b`, where the one with fewer dimensions gets new ones in front. Any dtypes, promoted.
THStatus THTensor_kron(THTensor *r, const THTensor *a, const THTensor *b);

/// `r` = the cross product `a x b` of the vectors along `dimension`, which has 3 entries; the others broadcast. Any
/// dtypes but Bool, promoted.
THStatus THTensor_cross(THTensor *r, const THTensor *a, const THTensor *b, int dimension);

/// `r[i, j]` = the `p`-norm of the difference between row `i` of `a` [.. x n x d] and row `j` of `b` [.. x m x d],
/// whose dimensions in front broadcast; floats only, `p` >= 0. With more than 25 rows on one side and `p` 2, it is
/// `sqrt(|x|^2 - 2 x y + |y|^2)`, as in PyTorch, a matrix product, of rows less the mean of the rows of `b`. The
/// squared distance then has an error of some eps of the squared distances from this mean; `THTensor_cdistMode`
/// computes near distances exactly.
THStatus THTensor_cdist(THTensor *r, const THTensor *a, const THTensor *b, double p);

/// cdist with a choice for `p` 2: `TH_DISTANCE_AUTO`, as cdist; `TH_DISTANCE_PRODUCT`, always the matrix product;
/// `TH_DISTANCE_DIFFERENCES`, the norms of the differences, whose error is some eps of each distance.
THStatus THTensor_cdistMode(THTensor *r, const THTensor *a, const THTensor *b, double p, THDistanceMode mode);

/// `r[k]` = the `p`-norm of the difference between rows `i` and `j` of `t` [n x d], for each of the n (n - 1) / 2 pairs
/// `i < j` in row-major order: (0, 1), (0, 2), ..., (1, 2), ... Floats only, `p` >= 0; always the norms of the
/// differences.
THStatus THTensor_pdist(THTensor *r, const THTensor *t, double p);

/** @} */

/* ==================================================================================================================
 *
 *     26. Products of compressed rows
 *
 * ================================================================================================================== */

/**
 * @defgroup products_of_compressed_rows Products of compressed rows
 *
 * A matrix of compressed rows (CSR) is three vectors: `crow`, where each row starts among the entries, with their
 * number at the end; `col`, the column of each entry; and `values`, the entries. SciPy calls them `indptr`, `indices`
 * and `data`. `crow` and `col` are int64 or int32, and read as they lie where they have one dtype; entries of a row may
 * stand in any order and several for one place, which are summed. These functions take such vectors as they are,
 * without a copy; `THSTensor` holds them together. `values` and dense operands have one dtype. Sums of 16-bit floats
 * are computed in float32 and rounded once, integers wrap. Each row is summed by one thread, so that results do not
 * depend on the number of threads. On a GPU products with dense operands, and softmax, run there; systems and products
 * of two compressed matrices are brought to the host, which computes them, and the results back. Errors:
 * `TH_ERR_SHAPE`, operands that do not fit each other; `TH_ERR_DTYPE`, positions that are no integers, operands of
 * several dtypes; `TH_ERR_ARGUMENT`, rows that do not follow each other, a column that lies outside.
 * @{
 */

/// Told of the progress of an iteration: its number, from 1, and the norm of the residual by that of the right-hand
/// side. 0 means go on; anything else ends the iteration, and is what the call that iterates fails with.
typedef THStatus (*THProgressFunction)(int64_t iteration, double residual, void *context);

/// Compresses coordinates by rows: entry `k` of a matrix of `size` rows stands in row `rows[k]` and column
/// `columns[k]`, both less than 2^32. `crow` [size + 1] and `col` become the places that have entries, by ascending
/// columns in each row, each once. `order` is the entries by their places, those of one place as they stand, and
/// `starts` where those of each place start in it, with the number of entries at the end: csrMatmul of `starts`,
/// `order`, NULL and the values sums these for each place. On the host.
THStatus THTensor_csrCompress(THTensor *crow, THTensor *col, THTensor *starts, THTensor *order, const THTensor *rows,
                              const THTensor *columns, int64_t size);

/// `r = A @ m` for the matrix A [n x k] of compressed rows and a matrix `m` [k x p] or a vector [k]. Without `values`,
/// NULL, each entry of A is 1: the sum of the rows of `m` that `col` lists.
THStatus THTensor_csrMatmul(THTensor *r, const THTensor *crow, const THTensor *col, const THTensor *values,
                            const THTensor *m);

/// `r = A^T @ m` for the transpose of the matrix A [n x columns] of compressed rows and a matrix `m` [n x p] or a
/// vector [n]. Without `values`, NULL, each entry of A is 1.
THStatus THTensor_csrMatmulTransposed(THTensor *r, const THTensor *crow, const THTensor *col, const THTensor *values,
                                      const THTensor *m, int64_t columns);

/// `r[k]` = the sum of `a[i] * b[j]` over their elements, for each entry `k` of a pattern, which stands in row `i` and
/// column `j`; `a` [n x p] and `b` [m x p] are matrices, or vectors as matrices of one column: the entries of `a @ b^T`
/// that the pattern has.
THStatus THTensor_csrSampled(THTensor *r, const THTensor *crow, const THTensor *col, const THTensor *a,
                             const THTensor *b);

/// `r` = softmax of the entries of each row: `e^x` by the sum of `e^x` over the row, of floats. `crow` [rows + 1] has
/// where rows start; columns do not matter, and elements without an entry take no part.
THStatus THTensor_csrSoftmax(THTensor *r, const THTensor *crow, const THTensor *values);

/// `r = y * (g - sum of g * y)` over each row: the gradient of csrSoftmax, from its result `y`.
THStatus THTensor_csrSoftmaxGrad(THTensor *r, const THTensor *crow, const THTensor *g, const THTensor *y);

/// `r = the X with A X = b`, or with `transpose` of `A^T X = b`, for the `upper` or lower triangle of the square matrix
/// A [n x n] of compressed rows, and a matrix `b` [n x p] or a vector [n] of floats; with `unitriangular` the diagonal
/// counts as ones. Entries of the other triangle are not looked at, as by trtrs. A diagonal of 0, or without an entry,
/// is `TH_ERR_NUMERIC`, which names the row. Rows follow from each other: threads divide the columns of `b`.
THStatus THTensor_csrTrtrs(THTensor *r, const THTensor *crow, const THTensor *col, const THTensor *values,
                           const THTensor *b, int upper, int transpose, int unitriangular);

/// `r = the X with A X = b`, or with `transpose` of `A^T X = b`, for the square matrix A [n x n] of compressed rows,
/// and a matrix `b` [n x p] or a vector [n]; float32 or float64. A is decomposed by Cholesky if it is symmetric, to the
/// last bit, and positive definite, else by LU with partial pivoting. Its columns are put in an order before that keeps
/// the factors sparse: minimum degree of A + A^T where most entries have one on the other side of the diagonal, of A^T
/// A for others. All is computed in float64, on the host, and rounded once. A singular matrix, and one with infinities
/// or NaN, is `TH_ERR_NUMERIC`. Singular is also a matrix whose reciprocal condition number is below 2e-15, by an
/// estimate that does not depend on the units of rows and columns.
THStatus THTensor_csrSolve(THTensor *r, const THTensor *crow, const THTensor *col, const THTensor *values,
                           const THTensor *b, int transpose);

/// `r = the x with A x = b` by conjugate gradients, preconditioned by the diagonal, for the symmetric positive definite
/// matrix A [n x n] of compressed rows and a vector `b` [n] of float32 or float64. It begins with `start` [n], or with
/// zeros where that is NULL, and ends when the norm of `b - A x` is at most `tol` times that of `b`, after `maxIter`
/// steps, or where rounding errors of `x` keep the norm from falling further, as with a `tol` of 0. The norm is
/// computed in float64 from `x`; while it is above `tol` and falls, the iteration begins anew with `b - A x`.
/// `progress`, or NULL, is called after each step with the norm that the iteration itself knows of, without rounding
/// errors of `x`. For a `b` of 0 `r` is 0. Returns the number of steps; -1 on error.
///
/// `residual`, a float64, becomes the norm of `b - A x` by that of `b`. Where it is above `tol`, `r` is what the steps
/// led to; where `residual` is NULL this is `TH_ERR_NUMERIC`, as it always is if A is found not to be positive
/// definite, or to be singular.
int64_t THTensor_csrCg(THTensor *r, THTensor *residual, const THTensor *crow, const THTensor *col,
                       const THTensor *values, const THTensor *b, const THTensor *start, double tol, int64_t maxIter,
                       THProgressFunction progress, void *context);

/// `r` = the entries of A @ B, the product of two matrices of compressed rows, which is another one: `rcrow` has where
/// its rows start, `rcol` the column of each entry. B has `columns` columns. Entries of a row stand by ascending
/// columns, each once, and one stands wherever two entries meet, be their sum 0 or not. Positions are int32 where all
/// that are given are, and the entries are less than 2^31; else int64. Handles for them are fresh, int64, or int32
/// where all fit. A row costs one step for each two entries that meet.
THStatus THTensor_csrMatmulCsr(THTensor *r, THTensor *rcrow, THTensor *rcol, const THTensor *acrow,
                               const THTensor *acol, const THTensor *avalues, const THTensor *bcrow,
                               const THTensor *bcol, const THTensor *bvalues, int64_t columns);

/// `r[k]` = element [i, j] of A @ B for each entry `k` of a pattern, which stands in row `i` and column `j`: csrSampled
/// for matrices of compressed rows. With `transposeA` it is A^T @ B, with `transposeB` A @ B^T; both at once are
/// `TH_ERR_UNSUPPORTED`. B as it stands has `columns` columns.
THStatus THTensor_csrSampledCsr(THTensor *r, const THTensor *crow, const THTensor *col, const THTensor *acrow,
                                const THTensor *acol, const THTensor *avalues, const THTensor *bcrow,
                                const THTensor *bcol, const THTensor *bvalues, int64_t columns, int transposeA,
                                int transposeB);

/** @} */

/* ==================================================================================================================
 *
 *     27. Linear algebra
 *
 * ================================================================================================================== */

/**
 * @defgroup linear_algebra Linear algebra
 *
 * Matrices are the last two dimensions, those before them number a batch; where there are two operands, their batches
 * broadcast. Operands are float32 or float64 and of one dtype; what is computed has it, too. A right-hand side may be a
 * vector, or a batch of vectors if its shape is that of the matrices without their last dimension. Results are
 * row-major like all others; what LAPACK packs is packed as LAPACK does, and pivots count from 1. A matrix that is
 * singular, not positive definite or, where an iteration is needed, not finite is `TH_ERR_NUMERIC`; the message has
 * LAPACK's number and says which of a batch it was. Where a result may be NULL, it is not computed. Other errors:
 * `TH_ERR_SHAPE`, operands that do not fit each other; `TH_ERR_DTYPE`, other dtypes; `TH_ERR_ARGUMENT`, pivots and
 * letters that mean nothing; `TH_ERR_UNSUPPORTED`, more than 2^31 - 1 rows or columns.
 * @{
 */

/// A norm of matrices.
typedef enum THMatrixNorm {
    TH_NORM_FRO = 0,             ///< The square root of the sum of squares.
    TH_NORM_NUC = 1,             ///< The sum of the singular values.
    TH_NORM_1 = 2,               ///< The greatest sum of magnitudes in a column.
    TH_NORM_MINUS_1 = 3,         ///< The least sum of magnitudes in a column.
    TH_NORM_2 = 4,               ///< The greatest singular value.
    TH_NORM_MINUS_2 = 5,         ///< The least singular value.
    TH_NORM_INF = 6,             ///< The greatest sum of magnitudes in a row.
    TH_NORM_MINUS_INF = 7        ///< The least sum of magnitudes in a row.
} THMatrixNorm;

/// `rb = the X with a X = b` for square `a`; `ra = the factors of a`, packed as by btrifact. Either may be NULL. By LU
/// with partial pivoting (LAPACK's gesv); a singular `a` is an error. The pivots are not given: btrifact and btrisolve
/// solve again with the same factors.
THStatus THTensor_gesv(THTensor *rb, THTensor *ra, const THTensor *b, const THTensor *a);

/// gesv by PyTorch's name: `x = the X with a X = b`, `lu = the factors of a`.
THStatus THTensor_solve(THTensor *x, THTensor *lu, const THTensor *b, const THTensor *a);

/// `rb = the X with a X = b`, or with `transpose` of `a^T X = b`, for the `upper` or lower triangle of square `a`; with
/// `unitriangular` its diagonal counts as ones. What else `a` has is not looked at. `ra = a`. Either may be NULL. A 0
/// on the diagonal is an error.
THStatus THTensor_trtrs(THTensor *rb, THTensor *ra, const THTensor *b, const THTensor *a, int upper, int transpose,
                        int unitriangular);

/// `rb = the X of least |b - a X|` for `a` [m x n] of full rank with m >= n; with m < n the X of least norm with `a X =
/// b`. X is [n x k] for `b` [m x k]; norms are those of columns. `ra` = the QR of `a`, or for m < n its LQ, packed
/// (LAPACK's gels). Either may be NULL. An exact 0 on the diagonal of R is an error; what may lack rank is for lstsq.
THStatus THTensor_gels(THTensor *rb, THTensor *ra, const THTensor *b, const THTensor *a);

/// `x = the X of least norm of those with least |b - a X|`, for `a` [m x n] of any rank, by its singular values `s`,
/// descending. Those up to `rcond` times the greatest count as 0; negative: the dtype's epsilon times the greater of m
/// and n. int64 `rank` is the number of the others. Each result may be NULL.
THStatus THTensor_lstsq(THTensor *x, THTensor *rank, THTensor *s, const THTensor *b, const THTensor *a, double rcond);

/// `ra = L and U of a = P L U`, packed: U, and below its diagonal L, whose diagonal is 1. For any [m x n].
///
/// int32 `rpivots` [.. x min(m, n)]: row i was exchanged with row `rpivots[i]`, from 1, in this order. int32 `rinfo`:
/// for each matrix the first k for which U(k, k) is 0, or 0; without it, NULL, a singular matrix is an error. `pivot` 0
/// is `TH_ERR_UNSUPPORTED`.
THStatus THTensor_btrifact(THTensor *ra, THTensor *rpivots, THTensor *rinfo, int pivot, const THTensor *a);

/// `rb = the X with a X = b` for the factors `atf` and `pivots`, int32 or int64, of btrifact. A U with a 0 on its
/// diagonal gives what division by 0 does.
THStatus THTensor_btrisolve(THTensor *rb, const THTensor *b, const THTensor *atf, const THTensor *pivots);

/// `a = p l u` with `p` a permutation, `l` lower triangular with ones on the diagonal, `u` upper triangular: [m x m],
/// [m x k] and [k x n] for k the lesser of m and n. Each may be NULL. btrifact gives them packed.
THStatus THTensor_lu(THTensor *p, THTensor *l, THTensor *u, const THTensor *a);

/// `ra = the inverse of a`; a singular one is an error.
THStatus THTensor_getri(THTensor *ra, const THTensor *a);

/// getri by PyTorch's name: `r = the inverse of t`.
THStatus THTensor_inverse(THTensor *r, const THTensor *t);

/// `r = the determinant of each square matrix of t`: 0-d for one. The product is formed in float64 and rounded once. 1
/// for 0 x 0.
THStatus THTensor_det(THTensor *r, const THTensor *t);

/// `sign = 1, -1 or 0, logabsdet = log |det t|` of each square matrix, where det would overflow or underflow. Either
/// may be NULL.
THStatus THTensor_slogdet(THTensor *sign, THTensor *logabsdet, const THTensor *t);

/// `r = log det t` of each square matrix: NaN where the determinant is negative, -inf where it is 0.
THStatus THTensor_logdet(THTensor *r, const THTensor *t);

/// `ra = L with a = L L^T`, or with `upper` U with `a = U^T U`, of symmetric positive definite `a`, of which that
/// triangle alone is looked at; zeros in the other (Cholesky). The leading minor that is not positive definite is named
/// by the error.
THStatus THTensor_potrf(THTensor *ra, const THTensor *a, int upper);

/// potrf by PyTorch's name: `r = L with t = L L^T`, or with `upper` U with `t = U^T U`.
THStatus THTensor_cholesky(THTensor *r, const THTensor *t, int upper);

/// `rb = the X with L L^T X = b`, or with `upper` of `U^T U X = b`, for a factor `a` of potrf.
THStatus THTensor_potrs(THTensor *rb, const THTensor *b, const THTensor *a, int upper);

/// `ra = the inverse of L L^T`, or with `upper` of `U^T U`, for a factor `a` of potrf.
THStatus THTensor_potri(THTensor *ra, const THTensor *a, int upper);

/// `P^T a P = L L^T`, or with `upper` `U^T U`, of symmetric positive semidefinite `a`, the greatest pivot first: `ra`
/// is the factor, int32 `rpiv[i]` the column of `a`, from 1, that became column i of `P^T a P`.
///
/// int64 `rrank`, which may be NULL: the number of pivots greater than `tol`, and than n * epsilon * the greatest
/// element of the diagonal, which they must be in any case; columns of L behind are zeros. An element of the diagonal
/// that is negative or not a number is an error.
THStatus THTensor_pstrf(THTensor *ra, THTensor *rpiv, THTensor *rrank, const THTensor *a, int upper, double tol);

/// `a = rq rr` for [m x n]: `rq` has orthonormal columns, `rr` is upper triangular. With `some` [m x k] and [k x n], k
/// the lesser of m and n, else [m x m] and [m x n]. Signs are LAPACK's: the diagonal of `rr` may be negative. Either
/// may be NULL.
THStatus THTensor_qr(THTensor *rq, THTensor *rr, const THTensor *a, int some);

/// `ra = R of a = Q R`, and below its diagonal the reflectors that Q is the product of, H(1) H(2) ... H(k) with `H(i) =
/// 1 - rtau[i] v v^T`: v has zeros, then 1 in row i, and behind it what stands in column i of `ra`.
THStatus THTensor_geqrf(THTensor *ra, THTensor *rtau, const THTensor *a);

/// `ra = the first n columns of Q` for the reflectors that geqrf has packed in `a` [m x n] and `tau`, of which there
/// may be fewer than n.
THStatus THTensor_orgqr(THTensor *ra, const THTensor *a, const THTensor *tau);

/// `ra = Q c`, or with 0 for `left` `c Q`, with `transpose` of Q^T, for the square Q of the reflectors packed in `a`
/// and `tau`.
THStatus THTensor_ormqr(THTensor *ra, const THTensor *a, const THTensor *tau, const THTensor *c, int left,
                        int transpose);

/// `re = the eigenvalues of symmetric a`, ascending, [n]; `rv`, which may be NULL, has orthonormal eigenvectors as
/// columns. The `upper` or lower triangle of `a` alone is looked at. The signs of vectors are arbitrary. Errors are
/// some eps of the greatest eigenvalue by magnitude, so that small ones of a graded matrix have fewer digits.
THStatus THTensor_syev(THTensor *re, THTensor *rv, const THTensor *a, int upper);

/// syev by PyTorch's name: `e = the eigenvalues of symmetric t`, `v = the eigenvectors`.
THStatus THTensor_symeig(THTensor *e, THTensor *v, const THTensor *t, int upper);

/// `re = the eigenvalues of a`, [n x 2]: real and imaginary parts, pairs one after the other, that with the positive
/// imaginary part first.
///
/// `rv`, which may be NULL: right eigenvectors of norm 1 as columns. Those of a pair in columns i and i + 1 are `rv[:,
/// i] + i rv[:, i + 1]` and its conjugate, turned so that the greatest element is real. Residuals are some eps of the
/// norm of `a`, or more, as LAPACK's, where its rows or columns grow by 1e6 and beyond; imaginary parts of pairs that
/// underflow are the least subnormal number. Matrices on a GPU are brought to the host, which has the iteration, and
/// the results back.
THStatus THTensor_geev(THTensor *re, THTensor *rv, const THTensor *a);

/// geev by PyTorch's name: `e = the eigenvalues of t`, `v = the eigenvectors`.
THStatus THTensor_eig(THTensor *e, THTensor *v, const THTensor *t);

/// `a = ru diag(rs) rv^T` for [m x n]: `rs`, descending, [k], k the lesser of m and n; `ru` and `rv` with orthonormal
/// columns, with `some` [m x k] and [n x k], else [m x m] and [n x n]. `rv` is not transposed. Each may be NULL; values
/// alone take less time. Errors are some eps of the greatest singular value.
THStatus THTensor_gesvd(THTensor *ru, THTensor *rs, THTensor *rv, const THTensor *a, int some);

/// gesvd by PyTorch's name: `t = u diag(s) v^T`.
THStatus THTensor_svd(THTensor *u, THTensor *s, THTensor *v, const THTensor *t, int some);

/// `r = the pseudoinverse of t`, [n x m] for [m x n]; singular values up to `rcond` times the greatest count as 0;
/// negative: the dtype's epsilon times the greater of m and n.
THStatus THTensor_pinverse(THTensor *r, const THTensor *t, double rcond);

/// `r = the rank of each matrix`, int64: the number of singular values greater than `tol`, or of eigenvalues by
/// magnitude if `t` is `symmetric`, by its lower triangle. A negative `tol` stands for the greatest of them times
/// epsilon times the greater of m and n.
THStatus THTensor_matrixRank(THTensor *r, const THTensor *t, double tol, int symmetric);

/// `r = the norm p of each matrix`; with `keepdim` both dimensions stay with size 1.
THStatus THTensor_matrixNorm(THTensor *r, const THTensor *t, THMatrixNorm p, int keepdim);

/// `r = the norm p of each matrix times that of its inverse`; infinite for a singular one. With `TH_NORM_2` the
/// greatest singular value by the least, with `TH_NORM_MINUS_2` the reverse, of any [m x n]; for other norms matrices
/// are square.
THStatus THTensor_cond(THTensor *r, const THTensor *t, THMatrixNorm p);

/// `r = 1 + t + t t / 2 + t t t / 6 + ...`, the exponential of each square matrix. N. J. Higham, The scaling and
/// squaring method for the matrix exponential revisited (2005).
THStatus THTensor_matrixExp(THTensor *r, const THTensor *t);

/** @} */

/* ==================================================================================================================
 *
 *     28. Convolution
 *
 * ================================================================================================================== */

/**
 * @defgroup convolution Convolution
 *
 * Images have 1 to 3 dimensions behind their channels, and those a batch before them, which may be missing: `[batch x]
 * channels x sizes`. `weight` is `outputs x (inputs / groups) x kernel`, that of a transposed convolution `inputs x
 * (outputs / groups) x kernel`. Lists of strides, paddings and dilations have `ndim` entries, one for each dimension of
 * an image or one for all; NULL stands for strides and dilations of 1 and no padding. All tensors have one dtype, which
 * is not Bool. 16-bit floats are summed in float32; integers wrap. Padding may be left out of a sum instead of counting
 * as 0: where an infinite weight lies on it, the result may be NaN or not. Errors: `TH_ERR_SHAPE`, images, weights and
 * results that do not fit each other; `TH_ERR_ARGUMENT`, lists of the wrong length, and strides, paddings, dilations
 * and groups out of range; `TH_ERR_DTYPE`, tensors of several dtypes or of Bool.
 * @{
 */

/// `r[n][o][y] = bias[o] + sum over c, k of weight[o][c][k] * input[n][c][y * stride + k * dilation - padding]`, where
/// the input is 0 in the padding, and each of `groups` of channels is taken by itself: conv1d, conv2d or conv3d, by the
/// dimensions of `weight`.
///
/// In each dimension the result has `(size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1` elements, rounded
/// down; without any it is an error. `bias` may be NULL. With `transposed` as convTranspose2d, for which alone
/// `outputPadding` counts.
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

/// Each element of the input is spread over a window of the result: `r[n][o][y * stride + k * dilation - padding]` gets
/// `input[n][c][y] * weight[c][o][k]` added for all `c`, `y` and `k`, and `bias[o]`.
///
/// In each dimension the result has `(size - 1) * stride - 2 * padding + dilation * (kernel - 1) + outputPadding + 1`
/// elements: the shape of what conv2d makes `input` of, where `outputPadding` chooses between those. It is less than
/// the stride or the dilation, and 0 if NULL.
THStatus THTensor_convTranspose2d(THTensor *r, const THTensor *input, const THTensor *weight, const THTensor *bias,
                                  int ndim, const int64_t *stride, const int64_t *padding, const int64_t *outputPadding,
                                  int64_t groups, const int64_t *dilation);

/// convTranspose2d of images with three dimensions.
THStatus THTensor_convTranspose3d(THTensor *r, const THTensor *input, const THTensor *weight, const THTensor *bias,
                                  int ndim, const int64_t *stride, const int64_t *padding, const int64_t *outputPadding,
                                  int64_t groups, const int64_t *dilation);

/// `r = gradient of the input of a convolution`, from that of its result. Of `input` the shape counts alone. The other
/// arguments are those of the convolution.
THStatus THTensor_convolutionGradInput(THTensor *r, const THTensor *gradOutput, const THTensor *weight,
                                       const THTensor *input, int ndim, const int64_t *stride, const int64_t *padding,
                                       const int64_t *dilation, int transposed, const int64_t *outputPadding,
                                       int64_t groups);

/// `r = gradient of the weight of a convolution`, summed over the batch, from that of its result and from its input. Of
/// `weight` the shape counts alone. The other arguments are those of the convolution.
THStatus THTensor_convolutionGradWeight(THTensor *r, const THTensor *gradOutput, const THTensor *input,
                                        const THTensor *weight, int ndim, const int64_t *stride, const int64_t *padding,
                                        const int64_t *dilation, int transposed, const int64_t *outputPadding,
                                        int64_t groups);

/// `r = gradient of the bias of a convolution`: that of its result, summed over the batch and over the `imageDims`
/// dimensions of the images.
THStatus THTensor_convolutionGradBias(THTensor *r, const THTensor *gradOutput, int imageDims);

/// conv1d with the same `stride` and `padding` in each dimension, dilation 1 and one group: the form of most nets.
/// `bias` may be NULL.
THStatus THTensor_conv1dUniform(THTensor *r, const THTensor *input, const THTensor *weight, const THTensor *bias,
                                int64_t stride, int64_t padding);

/// conv2d with the same `stride` and `padding` in each dimension, dilation 1 and one group: the form of most nets.
/// `bias` may be NULL.
THStatus THTensor_conv2dUniform(THTensor *r, const THTensor *input, const THTensor *weight, const THTensor *bias,
                                int64_t stride, int64_t padding);

/// conv3d with the same `stride` and `padding` in each dimension, dilation 1 and one group: the form of most nets.
/// `bias` may be NULL.
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

/// convolutionGradInput of conv1dUniform, conv2dUniform or conv3dUniform: the gradient of `input`, whose shape counts
/// alone.
THStatus THTensor_convolutionGradInputUniform(THTensor *r, const THTensor *gradOutput, const THTensor *weight,
                                              const THTensor *input, int64_t stride, int64_t padding);

/// convolutionGradWeight of conv1dUniform, conv2dUniform or conv3dUniform: the gradient of `weight`, whose shape counts
/// alone.
THStatus THTensor_convolutionGradWeightUniform(THTensor *r, const THTensor *gradOutput, const THTensor *input,
                                               const THTensor *weight, int64_t stride, int64_t padding);

/// `r[n][c * taps + k][y] = t[n][c][y * stride + k * dilation - padding]`, 0 in the padding: the windows of images as
/// columns, PyTorch's unfold.
///
/// `kernel` has an entry for each of the `ndim` dimensions of an image; `taps` is their product, `k` and `y` count in
/// row-major order.
THStatus THTensor_im2col(THTensor *r, const THTensor *t, int ndim, const int64_t *kernel, const int64_t *stride,
                         const int64_t *padding, const int64_t *dilation);

/// The transposed of im2col: `r` = images of the sizes `imageSizes` whose elements are the sums of all elements of `t`
/// that im2col would make of them; PyTorch's fold of images.
THStatus THTensor_col2im(THTensor *r, const THTensor *t, int ndim, const int64_t *imageSizes, const int64_t *kernel,
                         const int64_t *stride, const int64_t *padding, const int64_t *dilation);

/// `r = beta * r + alpha * (t * k)`: the plane `t` convolved with the kernel `k`, both matrices; one of Torch7's
/// convolutions, all of which say the following.
///
/// `vf` is `"V"` for valid: `r[y][x] = sum of t[y * srow + i][x * scol + j] * k[i][j]`, `(size - kernel) / stride + 1`
/// elements in each dimension; or `"F"` for full: `t[y][x] * k[i][j]` is added to `r[y * srow + i][x * scol + j]`,
/// `(size - 1) * stride + kernel` elements. `xc` is `"X"` for cross-correlation or `"C"` for convolution: the kernel is
/// turned around by `"C"` with `"V"` and by `"X"` with `"F"`. Only the first letter counts. Where `r` has another shape
/// than the result, or `beta` is 0, its elements are not looked at. Dtypes as for convolution.
THStatus THTensor_conv2Dmul(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k, int64_t srow,
                            int64_t scol, const char *vf, const char *xc);

/// conv2Dmul of planes, `r[p] = beta * r[p] + alpha * (t[p] * k[p])`; `t` and `k` have as many.
THStatus THTensor_conv2Dcmul(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k, int64_t srow,
                             int64_t scol, const char *vf, const char *xc);

/// conv2Dmul of each plane with each kernel, as an outer product: `r[o][p] = beta * r[o][p] + alpha * (t[p] * k[o])`.
THStatus THTensor_conv2Dger(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k, int64_t srow,
                            int64_t scol, const char *vf, const char *xc);

/// As conv2Dger, with `srow` and `scol` as the distances of taps: `r[o][p][y][x] = beta * r[o][p][y][x] + alpha * sum
/// of t[p][y + srow * i][x + scol * j] * k[o][i][j]`, `size - (kernel - 1) * stride` elements in each dimension: the
/// gradient of the kernels of conv2Dmv from planes and the gradient of their result.
THStatus THTensor_conv2DRevger(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k,
                               int64_t srow, int64_t scol);

/// The sum of conv2DRevger over a batch, the first dimension of `t` and `k`.
THStatus THTensor_conv2DRevgerm(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k,
                                int64_t srow, int64_t scol);

/// conv2Dmul as a matrix of kernels times a vector of planes: `r[o] = beta * r[o] + alpha * sum over p of t[p] *
/// k[o][p]`.
THStatus THTensor_conv2Dmv(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k, int64_t srow,
                           int64_t scol, const char *vf, const char *xc);

/// conv2Dmv for each of a batch, the first dimension of `t` and `r`.
THStatus THTensor_conv2Dmm(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k, int64_t srow,
                           int64_t scol, const char *vf, const char *xc);

/// conv2Dmul by a map: for row `n` of `map`, `from` and `to`, `alpha * (t[from] * k[n])` is added to `r[to]`. Planes
/// are counted from 1, as in Torch7. `map` has a row for each kernel, int64 or int32, and `r` as many planes as there
/// are kernels; they are `beta * r` before.
THStatus THTensor_conv2Dmap(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k,
                            const THTensor *map, int64_t srow, int64_t scol, const char *vf, const char *xc);

/// `r = beta * r + alpha * (t * k)`: the volume `t` convolved with the kernel `k`, both with three dimensions; `vf` and
/// `xc` as for conv2Dmul.
THStatus THTensor_conv3Dmul(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k,
                            int64_t sdepth, int64_t srow, int64_t scol, const char *vf, const char *xc);

/// `r[p] = beta * r[p] + alpha * (t[p] * k[p])` for volumes `t[p]`, as many as kernels `k[p]`; `vf` and `xc` as for
/// conv2Dmul.
THStatus THTensor_conv3Dcmul(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k,
                             int64_t sdepth, int64_t srow, int64_t scol, const char *vf, const char *xc);

/// `r[o][p] = beta * r[o][p] + alpha * (t[p] * k[o])`: each volume `t[p]` with each kernel `k[o]`; `vf` and `xc` as for
/// conv2Dmul.
THStatus THTensor_conv3Dger(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k,
                            int64_t sdepth, int64_t srow, int64_t scol, const char *vf, const char *xc);

/// conv3Dger with `sdepth`, `srow` and `scol` as the distances of taps, `size - (kernel - 1) * stride` elements in each
/// dimension: the gradient of the kernels of conv3Dmv from volumes and the gradient of their result.
THStatus THTensor_conv3DRevger(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k,
                               int64_t sdepth, int64_t srow, int64_t scol);

/// `r[o] = beta * r[o] + alpha * sum over p of t[p] * k[o][p]` for volumes `t[p]`; `vf` and `xc` as for conv2Dmul.
THStatus THTensor_conv3Dmv(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k, int64_t sdepth,
                           int64_t srow, int64_t scol, const char *vf, const char *xc);

/// For row `n` of `map`, `from` and `to`, adds `alpha * (t[from] * k[n])` to the volume `r[to]`; `map` as for
/// conv2Dmap, `vf` and `xc` as for conv2Dmul.
THStatus THTensor_conv3Dmap(THTensor *r, double beta, double alpha, const THTensor *t, const THTensor *k,
                            const THTensor *map, int64_t sdepth, int64_t srow, int64_t scol, const char *vf,
                            const char *xc);

/** @} */

/* ==================================================================================================================
 *
 *     29. Pooling
 *
 * ================================================================================================================== */

/**
 * @defgroup pooling Pooling
 *
 * Images have 1 to 3 dimensions behind their channels, and those a batch before them, which may be missing: `[batch x]
 * channels x sizes`. Lists have `ndim` entries, one for each dimension of an image or one for all. `stride` may be NULL
 * and is that of `kernel` then, `padding` and `dilation` too: 0 and 1. A window reaches over `reach = dilation *
 * (kernel - 1) + 1` elements, and in each dimension there are `(size + 2 * padding - reach) / stride + 1` of them,
 * rounded down, or up with `ceilMode` unless the last one would begin behind the image and what pads it in front.
 * `padding` is half of a window at most. Errors: `TH_ERR_SHAPE`, windows that do not fit the image; `TH_ERR_ARGUMENT`,
 * lists of the wrong length, numbers and indices out of range; `TH_ERR_DTYPE`, a dtype that the pooling is not defined
 * for, or indices that are not int64.
 * @{
 */

/// maxPool2d of images with one dimension.
THStatus THTensor_maxPool1d(THTensor *r, THTensor *indices, const THTensor *input, int ndim, const int64_t *kernel,
                            const int64_t *stride, const int64_t *padding, const int64_t *dilation, int ceilMode);

/// `r = greatest element of each window`; int64 `indices`, which may be NULL, tell where it stands in its plane,
/// counted in row-major order.
///
/// Of equal elements the first one counts, of NaNs the last, and a NaN is greater than everything. A window that has no
/// element of the image gives the least number there is, and -1. Every dtype but Bool.
THStatus THTensor_maxPool2d(THTensor *r, THTensor *indices, const THTensor *input, int ndim, const int64_t *kernel,
                            const int64_t *stride, const int64_t *padding, const int64_t *dilation, int ceilMode);

/// maxPool2d of images with three dimensions.
THStatus THTensor_maxPool3d(THTensor *r, THTensor *indices, const THTensor *input, int ndim, const int64_t *kernel,
                            const int64_t *stride, const int64_t *padding, const int64_t *dilation, int ceilMode);

/// `r = gradient of the input of a pooling by maxima`, adaptive or not, from that of its result and from its indices:
/// each element is added where its index leads, and nowhere where that is -1, of a window without an element. Another
/// index outside of an image is an error. Of `input`, whose images have `imageDims` dimensions, the shape counts alone.
THStatus THTensor_maxPoolGradInput(THTensor *r, const THTensor *gradOutput, const THTensor *indices,
                                   const THTensor *input, int imageDims);

/// The inverse of a pooling by maxima as far as there is one: `r` = images of the sizes `imageSizes`, `ndim` entries,
/// with each element of `t` where its index leads, and 0 elsewhere. Of elements for one place the last counts. An index
/// outside of an image is an error.
THStatus THTensor_maxUnpool(THTensor *r, const THTensor *t, const THTensor *indices, int ndim,
                            const int64_t *imageSizes);

/// avgPool2d of images with one dimension.
THStatus THTensor_avgPool1d(THTensor *r, const THTensor *input, int ndim, const int64_t *kernel, const int64_t *stride,
                            const int64_t *padding, int ceilMode, int countIncludePad, int64_t divisor);

/// `r = mean of each window`: the sum of its elements in the image, divided by their number, or with `countIncludePad`
/// by the number of those in the image and its padding, or by `divisor` if that is not 0. Floats only; sums of 16-bit
/// floats in float32.
THStatus THTensor_avgPool2d(THTensor *r, const THTensor *input, int ndim, const int64_t *kernel, const int64_t *stride,
                            const int64_t *padding, int ceilMode, int countIncludePad, int64_t divisor);

/// avgPool2d of images with three dimensions.
THStatus THTensor_avgPool3d(THTensor *r, const THTensor *input, int ndim, const int64_t *kernel, const int64_t *stride,
                            const int64_t *padding, int ceilMode, int countIncludePad, int64_t divisor);

/// `r = gradient of the input of avgPool1d, avgPool2d or avgPool3d`, from that of its result. Of `input` the shape
/// counts alone; `kernel` has an entry for each dimension of its images. `stride`, `padding`, `ceilMode`,
/// `countIncludePad` and `divisor` are those that the pooling was given.
THStatus THTensor_avgPoolGradInput(THTensor *r, const THTensor *gradOutput, const THTensor *input, int ndim,
                                   const int64_t *kernel, const int64_t *stride, const int64_t *padding, int ceilMode,
                                   int countIncludePad, int64_t divisor);

/// maxPool1d with the same `kernel`, `stride` and `padding` in each dimension, dilation 1 and as many windows as fit.
/// `indices` may be NULL.
THStatus THTensor_maxPool1dUniform(THTensor *r, THTensor *indices, const THTensor *input, int64_t kernel,
                                   int64_t stride, int64_t padding);

/// maxPool2d with the same `kernel`, `stride` and `padding` in each dimension, dilation 1 and as many windows as fit.
/// `indices` may be NULL.
THStatus THTensor_maxPool2dUniform(THTensor *r, THTensor *indices, const THTensor *input, int64_t kernel,
                                   int64_t stride, int64_t padding);

/// maxPool3d with the same `kernel`, `stride` and `padding` in each dimension, dilation 1 and as many windows as fit.
/// `indices` may be NULL.
THStatus THTensor_maxPool3dUniform(THTensor *r, THTensor *indices, const THTensor *input, int64_t kernel,
                                   int64_t stride, int64_t padding);

/// avgPool1d with the same `kernel`, `stride` and `padding` in each dimension, and as many windows as fit; the padding
/// counts as elements.
THStatus THTensor_avgPool1dUniform(THTensor *r, const THTensor *input, int64_t kernel, int64_t stride, int64_t padding);

/// avgPool2d with the same `kernel`, `stride` and `padding` in each dimension, and as many windows as fit; the padding
/// counts as elements.
THStatus THTensor_avgPool2dUniform(THTensor *r, const THTensor *input, int64_t kernel, int64_t stride, int64_t padding);

/// avgPool3d with the same `kernel`, `stride` and `padding` in each dimension, and as many windows as fit; the padding
/// counts as elements.
THStatus THTensor_avgPool3dUniform(THTensor *r, const THTensor *input, int64_t kernel, int64_t stride, int64_t padding);

/// avgPoolGradInput of avgPool1dUniform, avgPool2dUniform or avgPool3dUniform. Of `input`, whose images have
/// `imageDims` dimensions, the shape counts alone.
THStatus THTensor_avgPoolGradInputUniform(THTensor *r, const THTensor *gradOutput, const THTensor *input, int imageDims,
                                          int64_t kernel, int64_t stride, int64_t padding);

/// adaptiveMaxPool2d of images with one dimension.
THStatus THTensor_adaptiveMaxPool1d(THTensor *r, THTensor *indices, const THTensor *input, int ndim,
                                    const int64_t *sizes);

/// `r = greatest element of each window`, of as many windows as `sizes` say, for each dimension or one for all, -1 for
/// as many as there are elements: output `i` of `n` sees the elements from `i * size / n`, rounded down, to `(i + 1) *
/// size / n`, rounded up. All else is as for maxPool2d.
THStatus THTensor_adaptiveMaxPool2d(THTensor *r, THTensor *indices, const THTensor *input, int ndim,
                                    const int64_t *sizes);

/// adaptiveMaxPool2d of images with three dimensions.
THStatus THTensor_adaptiveMaxPool3d(THTensor *r, THTensor *indices, const THTensor *input, int ndim,
                                    const int64_t *sizes);

/// adaptiveAvgPool2d of images with one dimension.
THStatus THTensor_adaptiveAvgPool1d(THTensor *r, const THTensor *input, int ndim, const int64_t *sizes);

/// `r = mean of each window`; windows as for adaptiveMaxPool2d. Floats only.
THStatus THTensor_adaptiveAvgPool2d(THTensor *r, const THTensor *input, int ndim, const int64_t *sizes);

/// adaptiveAvgPool2d of images with three dimensions.
THStatus THTensor_adaptiveAvgPool3d(THTensor *r, const THTensor *input, int ndim, const int64_t *sizes);

/// `r = gradient of the input of adaptiveAvgPool1d, adaptiveAvgPool2d or adaptiveAvgPool3d`, from that of its result.
/// Of `input`, whose images have `imageDims` dimensions, the shape counts alone.
THStatus THTensor_adaptiveAvgPoolGradInput(THTensor *r, const THTensor *gradOutput, const THTensor *input,
                                           int imageDims);

/** @} */

/* ==================================================================================================================
 *
 *     30. Fourier transforms
 *
 * ================================================================================================================== */

/**
 * @defgroup fourier_transforms Fourier transforms
 *
 * Complex numbers are pairs in a last dimension of size 2, real part first. A signal has `signalDims` dimensions, the
 * last ones before that; all others are a batch. Floats only; 16-bit floats are transformed in float32. With
 * `normalized` both directions divide by the square root of the number of elements of a signal; otherwise the inverse
 * one divides by that number. Errors: `TH_ERR_SHAPE`, complex numbers or sizes that are none; `TH_ERR_ARGUMENT`,
 * signals with more dimensions than the tensor has; `TH_ERR_DTYPE`, tensors that are not of floats.
 * @{
 */

/// `r[k] = sum over j of t[j] * exp(-2 pi i j k / n)`, for complex `t`, in each dimension of the signal. `r` has the
/// shape of `t`.
THStatus THTensor_fft(THTensor *r, const THTensor *t, int signalDims, int normalized);

/// The inverse of fft: `r[j] = sum over k of t[k] * exp(2 pi i j k / n) / n`.
THStatus THTensor_ifft(THTensor *r, const THTensor *t, int signalDims, int normalized);

/// `r[k, l] = sum over i, j of t[i, j] * exp(-2 pi i (i k / m + j l / n))`, for complex `t`, in the last two
/// dimensions, m x n, before that of the complex numbers. `r` has the shape of `t`.
THStatus THTensor_fft2(THTensor *r, const THTensor *t);

/// The inverse of fft2: `r[i, j] = sum over k, l of t[k, l] * exp(2 pi i (i k / m + j l / n)) / (m n)`.
THStatus THTensor_ifft2(THTensor *r, const THTensor *t);

/// fft of real `t`, whose last dimension belongs to the signal. With `onesided` the result has the first `n / 2 + 1`
/// elements of the signal's last dimension only: the others are the conjugates of those.
THStatus THTensor_rfft(THTensor *r, const THTensor *t, int signalDims, int normalized, int onesided);

/// The inverse of rfft: `r` is real, and its last dimension the last of the signal. With `onesided` the last dimension
/// of the signal in `t` is the first half, and the imaginary parts are not looked at that a real signal has not.
///
/// `signalSizes` are the sizes of the signal in the result, `ndim` of them; if NULL, those of `t`, with `onesided` the
/// last of them even: `2 * (n - 1)`. A half of one number does not tell a size, which must be given. With `onesided`
/// the last size may be less than that of which `t` is the half: the frequencies beyond its own half are left out.
THStatus THTensor_irfft(THTensor *r, const THTensor *t, int signalDims, int normalized, int onesided, int ndim,
                        const int64_t *signalSizes);

/** @} */

/* ==================================================================================================================
 *
 *     31. Sparse tensors
 *
 * ================================================================================================================== */

/**
 * @defgroup sparse_tensors Sparse tensors
 *
 * A `THSTensor` holds the positions and values of some entries; all others are 0. The first dimensions are sparse:
 * `indices`, int64 [sparseDim x nnz], has a column of positions for each entry. The others are dense: `values` [nnz x
 * dense sizes] has the elements that an entry has itself. An entry may stand anywhere and several for one position,
 * whose values count as their sum; coalesced, positions ascend in row-major order, each once. A matrix may be
 * compressed by rows (CSR) instead: `crow` has where each row starts among the entries, `col` the column of each.
 * Functions take either form; coordinates are what they make, unless they say otherwise. A handle is counted as tensors
 * are, and its fields may be read. It keeps references to the tensors that it is made of, and no copies: whoever
 * changes these changes it. Results come first; a result may be an operand. What it had is never written to: it is
 * given other positions and values, and those that are an operand's, as positions after `neg`, are shared with that. A
 * result that was written to before keeps its dtype: values are converted, and what it cannot hold is `TH_ERR_DTYPE`.
 * All lies on one device. Gradients are those of the values, a tensor as any other: where `values` requires a gradient,
 * operations on the sparse tensor are recorded. Positions have none. Errors: `TH_ERR_SHAPE`, sizes that do not fit each
 * other; `TH_ERR_ARGUMENT`, a position that is negative or beyond its size, or a dimension that there is not;
 * `TH_ERR_DTYPE`, positions that are no integers, or an operand that nothing was written to yet.
 * @{
 */

/// A fresh handle: the first function that writes to it gives it sizes and entries. Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_new(void);

/// Adds a reference; NULL is ignored. Safe from any thread.
void THSTensor_retain(THSTensor *s);

/// Gives up a reference; the last one frees the handle and gives up what it is made of. NULL is ignored. Safe from any
/// thread.
void THSTensor_free(THSTensor *s);

/// A tensor of sizes without entries: the first `sparseDim` dimensions are sparse. Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_newWithSize(THDtype dtype, int ndim, const int64_t *size, int sparseDim);

/// The least tensor that holds entries at `indices`, [sparse dimensions x nnz] of int64 or int32, with `values` [nnz x
/// ...]. It keeps references to both, but of int32 positions a copy. Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_newWithTensor(THTensor *indices, THTensor *values);

/// `newWithTensor` with `ndim` sizes: those of the sparse dimensions, which must hold all positions, then those of
/// `values`.
TH_NODISCARD THSTensor *THSTensor_newWithTensorAndSize(THTensor *indices, THTensor *values, int ndim,
                                                       const int64_t *size);

/// A matrix of compressed rows: `crow` [rows + 1] has where each row starts among the entries, with their number at the
/// end, `col` the column of each entry; both int64 or int32, as of SciPy. It keeps references to all three. Columns of
/// a row may stand in any order, and several for one place. Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_newCsr(THTensor *crow, THTensor *col, THTensor *values, int64_t rows,
                                         int64_t columns);

/// The entries of a dense tensor that are not 0, coalesced, with `sparseDim` sparse dimensions: an entry with dense
/// dimensions is kept if one of its elements is not 0. A negative `sparseDim` stands for all dimensions. Returns a new
/// reference.
TH_NODISCARD THSTensor *THSTensor_newFromDense(const THTensor *t, int sparseDim);

/// A second handle on the positions and values of `s`. Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_newWithSparse(const THSTensor *s);

/// A copy of `s`, with positions and values of its own. Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_newClone(const THSTensor *s);

/// `s` coalesced: values for one position are summed in the order in which they stand. What is coalesced is shared.
/// Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_newCoalesce(const THSTensor *s);

/// The matrix `s` compressed by rows. Coordinates are coalesced, and become int32 where the sizes and the number of
/// entries allow it; compressed rows are shared as they stand. Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_newCompressed(const THSTensor *s);

/// `s` as coordinates; where it has them they are shared. Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_newCoordinates(const THSTensor *s);

/// A dense tensor of all elements of `s`. Returns a new reference.
TH_NODISCARD THTensor *THSTensor_newDense(const THSTensor *s);

/// The number of dimensions; 0 on error.
int THSTensor_nDimension(const THSTensor *s);

/// The size of a dimension, which may count from the end; -1 on error.
int64_t THSTensor_size(const THSTensor *s, int dimension);

/// The number of entries, as they stand; -1 on error.
int64_t THSTensor_nnz(const THSTensor *s);

/// The number of sparse dimensions; 0 on error.
int THSTensor_sparseDim(const THSTensor *s);

/// The number of dense dimensions; 0 on error.
int THSTensor_denseDim(const THSTensor *s);

/// 1 if positions ascend in row-major order, each once; 0 if that is not known, and on error.
int THSTensor_isCoalesced(const THSTensor *s);

/// 1 if the matrix is compressed by rows; 0 if it has coordinates, and on error.
int THSTensor_isCompressed(const THSTensor *s);

/// The dtype of the values; `TH_UNDEFINED` on error.
THDtype THSTensor_dtype(const THSTensor *s);

/// The positions, int64 [sparseDim x nnz], computed for compressed rows, else those of the handle. Returns a new
/// reference.
TH_NODISCARD THTensor *THSTensor_newIndices(const THSTensor *s);

/// The values of the handle. Returns a new reference.
TH_NODISCARD THTensor *THSTensor_newValues(const THSTensor *s);

/// The starts of rows among the entries of compressed rows, with the number of entries at the end. Returns a new
/// reference.
TH_NODISCARD THTensor *THSTensor_newCrow(const THSTensor *s);

/// The column of each entry of compressed rows. Returns a new reference.
TH_NODISCARD THTensor *THSTensor_newCol(const THSTensor *s);

/// `r` = a copy of `s`.
THStatus THSTensor_copy(THSTensor *r, const THSTensor *s);

/// Gives up all entries of `s`, which keeps its sizes and its dtype.
THStatus THSTensor_zero(THSTensor *s);

/// Changes the sizes of `s`: where it has entries, sparse sizes may grow and others stay.
THStatus THSTensor_resize(THSTensor *s, int ndim, const int64_t *size, int sparseDim);

/// `THSTensor_resize` to the sizes of another tensor.
THStatus THSTensor_resizeAs(THSTensor *s, const THSTensor *other);

/// `r` = `s` coalesced.
THStatus THSTensor_coalesce(THSTensor *r, const THSTensor *s);

/// `r` = `s` with two dimensions exchanged, both sparse or both dense.
THStatus THSTensor_transpose(THSTensor *r, const THSTensor *s, int dimension1, int dimension2);

/// `r` = the part of `s` at position `index` of a dimension, which is gone. A negative index counts from the end.
THStatus THSTensor_select(THSTensor *r, const THSTensor *s, int dimension, int64_t index);

/// `r` = the part of `s` at `size` positions of a dimension, from `firstIndex` on.
THStatus THSTensor_narrow(THSTensor *r, const THSTensor *s, int dimension, int64_t firstIndex, int64_t size);

/// `r` = `count` tensors one after the other along a dimension; their other sizes, and which are sparse, are the same.
THStatus THSTensor_cat(THSTensor *r, THSTensor *const *tensors, int count, int dimension);

/// `r = a + value * b`, coalesced; sizes and sparse dimensions are the same.
THStatus THSTensor_cadd(THSTensor *r, const THSTensor *a, double value, const THSTensor *b);

/// `r = a - value * b`, as cadd.
THStatus THSTensor_csub(THSTensor *r, const THSTensor *a, double value, const THSTensor *b);

/// `r = a * b`, coalesced: entries where both have one.
THStatus THSTensor_cmul(THSTensor *r, const THSTensor *a, const THSTensor *b);

/// `r = s * t` for a dense tensor, which broadcasts to the sizes of `s`.
THStatus THSTensor_cmulDense(THSTensor *r, const THSTensor *s, const THTensor *t);

/// `r = s / t` for a dense tensor, which broadcasts to the sizes of `s`. Positions without an entry stay 0, also where
/// `t` is 0.
THStatus THSTensor_cdivDense(THSTensor *r, const THSTensor *s, const THTensor *t);

/// `r = s * value`.
THStatus THSTensor_mul(THSTensor *r, const THSTensor *s, double value);

/// `r = s / value`.
THStatus THSTensor_div(THSTensor *r, const THSTensor *s, double value);

/// `r = s ^ value` for a value above 0, coalesced.
THStatus THSTensor_pow(THSTensor *r, const THSTensor *s, double value);

/// `r = -s`, in the form of `s`.
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

/// `r` = the largest whole number that is at most `s`, coalesced.
THStatus THSTensor_floor(THSTensor *r, const THSTensor *s);

/// `r` = the least whole number that is at least `s`, coalesced.
THStatus THSTensor_ceil(THSTensor *r, const THSTensor *s);

/// `r` = `s` rounded to a whole number, ties to the even one, coalesced.
THStatus THSTensor_round(THSTensor *r, const THSTensor *s);

/// `r` = `s` without its fraction, coalesced.
THStatus THSTensor_trunc(THSTensor *r, const THSTensor *s);

/// The sum of all values; NaN on error.
double THSTensor_sumall(const THSTensor *s);

/// `r` = the sum of `s` over `ndim` dimensions, which are gone, coalesced; integers are summed as int64. Where no
/// sparse dimension is left, the result has dense dimensions alone, and one entry unless `s` has none.
THStatus THSTensor_sum(THSTensor *r, const THSTensor *s, int ndim, const int64_t *dims);

/// The norm of all elements of `s`: (the sum of |s|^value)^(1 / value); NaN on error.
double THSTensor_normall(const THSTensor *s, double value);

/// `r = s @ m`, dense, for a matrix `s` [n x k] and a dense matrix [k x p] or vector [k]. A row is summed in the order
/// of its entries: as they stand in compressed rows, by ascending columns otherwise.
THStatus THSTensor_spmm(THTensor *r, const THSTensor *s, const THTensor *m);

/// `r = s @ vec`, dense, for a matrix `s` [n x k] and a dense vector [k].
THStatus THSTensor_spmv(THTensor *r, const THSTensor *s, const THTensor *vec);

/// `r = beta * t + alpha * (s @ m)`, dense; `t` broadcasts. With `beta` 0 the elements of `t` are not looked at.
THStatus THSTensor_spaddmm(THTensor *r, double beta, const THTensor *t, double alpha, const THSTensor *s,
                           const THTensor *m);

/// `r = s @ m` for a dense matrix [k x p], with one sparse dimension, the rows of `s` that have entries, and one dense.
THStatus THSTensor_hspmm(THSTensor *r, const THSTensor *s, const THTensor *m);

/// `r = s @ m` for a dense matrix [k x p], with two sparse dimensions: all elements of the rows of `s` that have
/// entries.
THStatus THSTensor_sspmm(THSTensor *r, const THSTensor *s, const THTensor *m);

/// `r = beta * t + alpha * (s @ m)` for sparse `t` and `s` and a dense matrix `m`, coalesced.
THStatus THSTensor_sspaddmm(THSTensor *r, double beta, const THSTensor *t, double alpha, const THSTensor *s,
                            const THTensor *m);

/// `r = a @ b` for two matrices [n x k] and [k x p], compressed by rows: an entry stands wherever two meet, be their
/// sum 0 or not.
THStatus THSTensor_mm(THSTensor *r, const THSTensor *a, const THSTensor *b);

/// `r` = softmax of each row of a matrix of floats, compressed by rows: elements without an entry take no part, and
/// stay so.
THStatus THSTensor_softmax(THSTensor *r, const THSTensor *s);

/// `rb = the X with s X = b`, or with `transpose` of `s^T X = b`, dense, for the `upper` or lower triangle of a square
/// matrix `s` [n x n] and a dense matrix `b` [n x p] or vector [n]; with `unitriangular` the diagonal counts as ones.
/// Entries of the other triangle are not looked at. A diagonal of 0, or without an entry, is `TH_ERR_NUMERIC`, which
/// names the row.
THStatus THSTensor_trtrs(THTensor *rb, const THTensor *b, const THSTensor *s, int upper, int transpose,
                         int unitriangular);

/// `r = the X with s X = b`, dense, for a square matrix `s` [n x n] and a dense matrix `b` [n x p] or vector [n] of
/// float32 or float64. A symmetric positive definite matrix is decomposed by Cholesky, others by LU with partial
/// pivoting; see csrSolve. A singular matrix is `TH_ERR_NUMERIC`.
THStatus THSTensor_solve(THTensor *r, const THSTensor *s, const THTensor *b);

/// `r = the x with s x = b`, dense, by conjugate gradients, for a symmetric positive definite matrix `s` [n x n] and a
/// dense vector `b` [n] of float32 or float64. It begins with `start` [n], or with zeros where that is NULL, and ends
/// when the norm of `b - s x` is at most `tol` times that of `b`, after `maxIter` steps, or where rounding errors keep
/// the norm from falling further; see csrCg. `progress`, or NULL, is called after each step. Returns the number of
/// steps; -1 on error.
///
/// `residual`, a float64, becomes the norm of `b - s x` by that of `b`. Where it is above `tol`, `r` is what the steps
/// led to; where `residual` is NULL this is `TH_ERR_NUMERIC`.
int64_t THSTensor_cg(THTensor *r, THTensor *residual, const THSTensor *s, const THTensor *b, const THTensor *start,
                     double tol, int64_t maxIter, THProgressFunction progress, void *context);

/// `r = beta * s + alpha * (m1 @ m2)` at the entries of `s`, coalesced and compressed by rows; `m1` [n x k] and `m2` [k
/// x p] are dense.
THStatus THSTensor_sampledAddmm(THSTensor *r, double beta, const THSTensor *s, double alpha, const THTensor *m1,
                                const THTensor *m2);

/// `r = t + value * s`, dense, for a dense tensor of the sizes of `s`.
THStatus THSTensor_spcadd(THTensor *r, const THTensor *t, double value, const THSTensor *s);

/// `r` = the elements of the dense tensor `t` at the positions of `mask`, whose values do not matter; sizes are the
/// same.
THStatus THSTensor_sparseMask(THSTensor *r, const THTensor *t, const THSTensor *mask);

/** @} */

/* ==================================================================================================================
 *
 *     32. Random generators
 *
 * ================================================================================================================== */

/**
 * @defgroup random_generators Random generators
 *
 * A `THGenerator` is where random numbers come from, of one of two kinds. `NULL` stands for the calling thread's own,
 * which is of kind `TH_PHILOX` and seeded by the system. A call that fails has drawn nothing. Errors:
 * `TH_ERR_ARGUMENT`, a kind or state that is none, or a generator that another call is drawing from; `TH_ERR_DTYPE` and
 * `TH_ERR_SHAPE`, a state that is no vector of uint8.
 * @{
 */

/// A kind of generator.
typedef enum THGeneratorKind {
    /// Philox4x32-10, a function of a seed and a counter: the same numbers on every machine and with any number of
    /// threads.
    TH_PHILOX = 1,
    /// The Mersenne twister with the states and the streams of Torch's TH. One number follows the other: it uses one
    /// thread.
    TH_MT19937 = 2
} THGeneratorKind;

/// A source of random numbers. Functions that draw take NULL for the calling thread's own. Several threads may draw
/// from one generator, one call after the other.
typedef struct THGenerator THGenerator;

/// `r` = the bytes of the generator's state, a vector; a fresh `r` takes uint8. Of `TH_MT19937` they are the 5048 bytes
/// that TH saves; of `TH_PHILOX` 24: a mark with a version, seed and position.
THStatus THTensor_getRNGState(THGenerator *generator, THTensor *r);

/// Makes the generator continue from a state saved of a generator of the same kind. Anything else is an error.
THStatus THTensor_setRNGState(THGenerator *generator, const THTensor *t);

/// A generator of kind `TH_PHILOX`, seeded by the system. Free it with `THGenerator_free`; NULL on error.
TH_NODISCARD THGenerator *THGenerator_new(void);

/// A generator of kind `TH_PHILOX` or `TH_MT19937`, seeded by the system. Free it with `THGenerator_free`; NULL on
/// error.
///
/// With the same seed, `TH_MT19937` gives the numbers that Torch's TH gives, one after the other in row-major order,
/// computed in float64 and then rounded: so float32 numbers of `THTensor_uniform` may round up to `to`. PyTorch shares
/// its words, and with them the numbers of `THTensor_random`, `THTensor_clampedRandom` and `THTensor_randperm`; it
/// makes others of them for uniform, normal and bernoulli. What TH has no function for follows no other library.
/// `TH_PHILOX` is faster, and gives the same numbers with any number of threads.
TH_NODISCARD THGenerator *THGenerator_newKind(THGeneratorKind kind);

/// The kind of a generator; 0 on error.
THGeneratorKind THGenerator_kind(THGenerator *generator);

/// Makes `to` continue as `from` would, and of the same kind.
THStatus THGenerator_copy(THGenerator *to, THGenerator *from);

/// Frees a generator; NULL is ignored.
void THGenerator_free(THGenerator *generator);

/// Seeds from the system; returns the seed, 0 on error.
uint64_t THRandom_seed(THGenerator *generator);

/// Starts the sequence of `seed`: the same seed gives the same numbers on every machine, however many threads there
/// are. Of `TH_MT19937`, only the low 32 bits count.
THStatus THRandom_manualSeed(THGenerator *generator, uint64_t seed);

/// The seed the sequence was started with; 0 on error.
uint64_t THRandom_initialSeed(THGenerator *generator);

/// An integer from 0 to 2^32 - 1; -1 on error. This and the numbers below are those of a 0-d tensor: `THRandom_uniform`
/// gives what `THTensor_uniform` gives a tensor of float64.
int64_t THRandom_random(THGenerator *generator);

/// A number uniform in [from, to); NaN on error.
double THRandom_uniform(THGenerator *generator, double from, double to);

/// A normally distributed number; NaN on error.
double THRandom_normal(THGenerator *generator, double mean, double stdv);

/// An exponentially distributed number, of mean 1 / lambda; NaN on error.
double THRandom_exponential(THGenerator *generator, double lambda);

/// A Cauchy distributed number; NaN on error.
double THRandom_cauchy(THGenerator *generator, double median, double sigma);

/// `exp` of a normally distributed number; NaN on error.
double THRandom_logNormal(THGenerator *generator, double mean, double stdv);

/// Trials up to the first success, where each fails with probability `p`, 0 < p < 1; NaN on error.
double THRandom_geometric(THGenerator *generator, double p);

/// 1 with probability `p`, else 0; 0 on error.
int THRandom_bernoulli(THGenerator *generator, double p);

/** @} */

/* ==================================================================================================================
 *
 *     33. Random numbers
 *
 * ================================================================================================================== */

/**
 * @defgroup random_numbers Random numbers
 *
 * Functions that fill an `r` keep its dtype and shape, which it must have; results of other functions are as of all
 * operations. Distributions of real numbers want floats; those of whole numbers take every dtype, to which the number
 * is converted. Errors: `TH_ERR_ARGUMENT`, parameters that the distribution does not have; `TH_ERR_DTYPE`, a result
 * whose dtype cannot hold the numbers; `TH_ERR_SHAPE`, parameters whose shape is not that of the result.
 * @{
 */

/// Which side of a layer its weights are scaled by.
typedef enum THFan {
    TH_FAN_IN = 0,               ///< The number of inputs of each output.
    TH_FAN_OUT = 1               ///< The number of outputs of each input.
} THFan;

/// Fills with numbers uniform in [from, to), which must be in the range of the dtype. Floats only.
THStatus THTensor_uniform(THTensor *r, THGenerator *generator, double from, double to);

/// Fills with normally distributed numbers; `stdv` >= 0. Floats only.
THStatus THTensor_normal(THTensor *r, THGenerator *generator, double mean, double stdv);

/// `r = z * stdv + means` of standard normal `z`, in the shape of `means`. Floats only; a fresh `r` takes their dtype.
THStatus THTensor_normal_means(THTensor *r, THGenerator *generator, const THTensor *means, double stdv);

/// `r = z * stdvs + mean` of standard normal `z`, in the shape of `stdvs`, which must be >= 0. Floats only; a fresh `r`
/// takes their dtype.
THStatus THTensor_normal_stddevs(THTensor *r, THGenerator *generator, double mean, const THTensor *stdvs);

/// `r = z * stdvs + means` of standard normal `z`, broadcast. Floats only; a fresh `r` takes their common dtype.
THStatus THTensor_normal_means_stddevs(THTensor *r, THGenerator *generator, const THTensor *means,
                                       const THTensor *stdvs);

/// Fills with exponentially distributed numbers, of density `lambda * exp(-lambda x)`; `lambda` > 0. All numbers are >
/// 0: smaller ones than the smallest positive number of the dtype become this number. Floats only.
THStatus THTensor_exponential(THTensor *r, THGenerator *generator, double lambda);

/// Fills with Cauchy distributed numbers, of density `sigma / (pi ((x - median)^2 + sigma^2))`; `sigma` > 0. Floats
/// only.
THStatus THTensor_cauchy(THTensor *r, THGenerator *generator, double median, double sigma);

/// Fills with `exp(x)` of normally distributed `x`, whose mean and deviation these are. All numbers are > 0, as those
/// of `THTensor_exponential`. Floats only.
THStatus THTensor_logNormal(THTensor *r, THGenerator *generator, double mean, double stdv);

/// Fills with numbers normally distributed in [from, to], others left out; `stdv` > 0. Bounds may be infinite. Floats
/// only.
THStatus THTensor_truncNormal(THTensor *r, THGenerator *generator, double mean, double stdv, double from, double to);

/// Fills with gamma distributed numbers, of density proportional to `x^(shape - 1) exp(-x / scale)`; both > 0. All
/// numbers are > 0, as those of `THTensor_exponential`. Floats only.
THStatus THTensor_gamma(THTensor *r, THGenerator *generator, double shape, double scale);

/// As `THTensor_gamma`, with a shape and a scale for each element, broadcast. A fresh `r` takes their common dtype.
THStatus THTensor_gammaTensor(THTensor *r, THGenerator *generator, const THTensor *shape, const THTensor *scale);

/// Fills with beta distributed numbers, of density proportional to `x^(a - 1) (1 - x)^(b - 1)`; both > 0. All numbers
/// are > 0 and < 1 in the dtype. Floats only.
THStatus THTensor_beta(THTensor *r, THGenerator *generator, double a, double b);

/// As `THTensor_beta`, with `a` and `b` for each element, broadcast. A fresh `r` takes their common dtype.
THStatus THTensor_betaTensor(THTensor *r, THGenerator *generator, const THTensor *a, const THTensor *b);

/// Fills with 1 with probability `p`, else 0. Any dtype. `TH_PHILOX` rounds `p` to a multiple of 2^-32.
THStatus THTensor_bernoulli(THTensor *r, THGenerator *generator, double p);

/// `r = 1` with probability `p`, else 0, for each element of `p`, which must be floats. Any dtype; a fresh `r` takes
/// that of `p`.
THStatus THTensor_bernoulliTensor(THTensor *r, THGenerator *generator, const THTensor *p);

/// Fills with the number of trials up to the first success, where each trial fails with probability `p`, as in TH:
/// `P(k) = p^(k - 1) (1 - p)`, k = 1, 2, ...; 0 < p < 1. PyTorch calls 1 - p what is `p` here. Any dtype.
THStatus THTensor_geometric(THTensor *r, THGenerator *generator, double p);

/// Fills with Poisson distributed numbers, `P(k) = rate^k exp(-rate) / k!`; `rate` >= 0. Any dtype.
THStatus THTensor_poisson(THTensor *r, THGenerator *generator, double rate);

/// As `THTensor_poisson`, with a rate for each element. A fresh `r` takes the dtype of `rate`, which must be floats.
THStatus THTensor_poissonTensor(THTensor *r, THGenerator *generator, const THTensor *rate);

/// Fills with the number of successes in `n` trials that succeed with probability `p`; `n` whole, from 0 to 2^53. Any
/// dtype.
THStatus THTensor_binomial(THTensor *r, THGenerator *generator, double n, double p);

/// As `THTensor_binomial`, with trials and a probability for each element, broadcast; both floats. A fresh `r` takes
/// their common dtype.
THStatus THTensor_binomialTensor(THTensor *r, THGenerator *generator, const THTensor *n, const THTensor *p);

/// Fills with integers, each as likely as the other: from 0 to the greatest of the dtype, of floats to 2^8 (bfloat16),
/// 2^11 (float16), 2^24 or 2^53. As in TH, `TH_MT19937` gives int64 and float64 numbers from 0 to 2^32 - 1; the other
/// dtypes get PyTorch's numbers, too.
THStatus THTensor_random(THTensor *r, THGenerator *generator);

/// Fills with integers from 0 to `max - 1`; `max` > 0, bounds as for clampedRandom.
THStatus THTensor_cappedRandom(THTensor *r, THGenerator *generator, int64_t max);

/// Fills with integers from `min` to `max - 1`; both must be in the range of an integer dtype (of Bool 0 and 1), or no
/// further from 0 than a float dtype holds every integer: 2^8 (bfloat16), 2^11 (float16), 2^24 or 2^53. For ranges up
/// to 2^32, `TH_MT19937` gives TH's numbers, which are PyTorch's too; for wider ones, from which TH draws the lower end
/// only, the remainders of two words.
THStatus THTensor_clampedRandom(THTensor *r, THGenerator *generator, int64_t min, int64_t max);

/// Fills weights (outputs x inputs x window) with numbers uniform in [-b, b), `b = gain * sqrt(6 / (inputs + outputs))`
/// times window under the root: Glorot's, for `gain` 1. Floats only.
THStatus THTensor_xavierUniform(THTensor *r, THGenerator *generator, double gain);

/// Fills weights (outputs x inputs x window) with normally distributed numbers of the deviation of
/// `THTensor_xavierUniform`, `b / sqrt(3)`.
THStatus THTensor_xavierNormal(THTensor *r, THGenerator *generator, double gain);

/// Fills weights (outputs x inputs x window) with numbers uniform in [-b, b), `b = sqrt(6 / ((1 + slope^2) n))`, where
/// `n` is inputs x window (`TH_FAN_IN`) or outputs x window (`TH_FAN_OUT`): He's, for rectifiers with this slope below
/// 0. Floats only.
THStatus THTensor_kaimingUniform(THTensor *r, THGenerator *generator, double slope, THFan fan);

/// Fills weights (outputs x inputs x window) with normally distributed numbers of the deviation of
/// `THTensor_kaimingUniform`, `b / sqrt(3)`.
THStatus THTensor_kaimingNormal(THTensor *r, THGenerator *generator, double slope, THFan fan);

/// `r` = numbers uniform in [0, 1) in these sizes. Floats only; a fresh `r` takes the default dtype.
THStatus THTensor_rand(THTensor *r, THGenerator *generator, int ndim, const int64_t *size);

/// `r` = normally distributed numbers of mean 0 and deviation 1 in these sizes. Floats only; a fresh `r` takes the
/// default dtype.
THStatus THTensor_randn(THTensor *r, THGenerator *generator, int ndim, const int64_t *size);

/// `r` = integers from `from` to `to - 1` in these sizes. A fresh `r` takes int64.
THStatus THTensor_randint(THTensor *r, THGenerator *generator, int64_t from, int64_t to, int ndim, const int64_t *size);

/// As `THTensor_rand`, in the sizes of `t`; a fresh `r` takes its dtype.
THStatus THTensor_randLike(THTensor *r, THGenerator *generator, const THTensor *t);

/// As `THTensor_randn`, in the sizes of `t`; a fresh `r` takes its dtype.
THStatus THTensor_randnLike(THTensor *r, THGenerator *generator, const THTensor *t);

/// As `THTensor_randint`, in the sizes of `t`; a fresh `r` takes its dtype.
THStatus THTensor_randintLike(THTensor *r, THGenerator *generator, const THTensor *t, int64_t from, int64_t to);

/// `r` = the integers from 0 to `n - 1` in random order. A fresh `r` takes int64; another dtype must hold them all.
/// `TH_MT19937` gives the order that TH and PyTorch give.
THStatus THTensor_randperm(THTensor *r, THGenerator *generator, int64_t n);

/// A row-major tensor as of `THTensor_rand`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newRand(THDtype dtype, THGenerator *generator, int ndim, const int64_t *size);

/// A row-major tensor as of `THTensor_randn`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newRandn(THDtype dtype, THGenerator *generator, int ndim, const int64_t *size);

/// A row-major tensor as of `THTensor_randint`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newRandint(THDtype dtype, THGenerator *generator, int64_t from, int64_t to, int ndim,
                                           const int64_t *size);

/// As `THTensor_newRand`, in dtype and sizes of `t`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newRandLike(const THTensor *t, THGenerator *generator);

/// As `THTensor_newRandn`, in dtype and sizes of `t`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newRandnLike(const THTensor *t, THGenerator *generator);

/// As `THTensor_newRandint`, in dtype and sizes of `t`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newRandintLike(const THTensor *t, THGenerator *generator, int64_t from, int64_t to);

/// A vector as of `THTensor_randperm`. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newRandperm(THDtype dtype, THGenerator *generator, int64_t n);

/// `r` = `n` categories, positions from 0 on, for each row of `p`, or for the vector `p`: each as often as its share in
/// the sum of the row. If `replacement` is 0, none is drawn twice, and they come in the order drawn. Floats >= 0 that
/// do not sum to 0, and without replacement as many above 0 as are drawn. A fresh `r` takes int64.
THStatus THTensor_multinomial(THTensor *r, THGenerator *generator, const THTensor *p, int64_t n, int replacement);

/// Tables for drawing from the same `p`, a vector, many times: an even choice `k` stays with probability `q[k]`, else
/// becomes `J[k]`. Fresh `J` and `q` take int64 and the dtype of `p`.
THStatus THTensor_multinomialAliasSetup(const THTensor *p, THTensor *J, THTensor *q);

/// Fills with categories, positions from 0 on, by the tables of `THTensor_multinomialAliasSetup`. (TH's function
/// expects positions from 1 on in `J`, which its own setup does not give.)
THStatus THTensor_multinomialAliasDraw(THTensor *r, THGenerator *generator, const THTensor *J, const THTensor *q);

/// `r = t * mask / (1 - p)` with a mask that is false with probability `p`, else true. Floats only. `mask` may be NULL,
/// else it takes the mask; a fresh one takes Bool.
THStatus THTensor_dropout(THTensor *r, THTensor *mask, THGenerator *generator, const THTensor *t, double p);

/** @} */

/* ==================================================================================================================
 *
 *     34. Devices
 *
 * ================================================================================================================== */

/**
 * @defgroup devices Devices
 *
 * A tensor lies in the memory of the host or of a GPU, and an operation runs where its tensors lie, whichever device is
 * the thread's default. Results of fresh handles are made there too. All tensors of a call lie on one device, but for
 * numbers: a 0-d tensor of the host may be an operand of an elementwise operation. `THTensor_copy` copies between
 * devices, and nothing else does so unasked. NVIDIA's driver is opened where the loader finds it. NVRTC compiles
 * kernels when they are first needed. It is looked for in the folders that `TH_CUDA_LIBRARIES` lists, separated by
 * colons, where the loader finds libraries, in `CUDA_PATH`, `CUDA_HOME`, `/usr/local/cuda`, and in the packages of a
 * virtual environment. The newest one is used whose major version is not above the driver's. Compiled kernels are kept
 * in files in `TH_CUDA_CACHE`, else `thorn/kernels` in `XDG_CACHE_HOME` or `~/.cache`; an empty `TH_CUDA_CACHE` keeps
 * none. Kernels in files run without NVRTC. cuBLAS, which is looked for in the same way, computes matrix products of
 * floats. Without it, or with 0 in `TH_CUDA_BLAS`, the library's own kernels do. A GPU does its work after the call
 * that asked for it has returned, in order. What reads elements, `THTensor_item` or a copy to the host, waits for it;
 * `THTensor_data` is an address of the GPU, which waits for nothing. Errors: `TH_ERR_DEVICE`, operands on different
 * devices, and an operation that a GPU does not have; `TH_ERR_CUDA`, no driver, no GPU with this number, no compiler of
 * kernels, or one of them failed; `TH_ERR_NOMEM`, the memory of the GPU is full.
 * @{
 */

/// Work of a GPU that is done in order.
typedef struct THCudaStream THCudaStream;

/// Properties of a GPU.
typedef struct THCudaProperties {
    /// Its name, which ends with NUL.
    char name[256];
    /// Domain, bus and device on the PCI bus, which end with NUL.
    char pci_bus_id[32];
    /// Number that no other GPU has.
    uint8_t uuid[16];
    /// Bytes of memory.
    int64_t total_bytes;
    /// Bytes of the second-level cache.
    int64_t l2_bytes;
    /// Bytes of shared memory that a block may use.
    int64_t shared_bytes;
    /// Compute capability: 9 of 9.0.
    int32_t major;
    /// Compute capability: 0 of 9.0.
    int32_t minor;
    /// Multiprocessors.
    int32_t multiprocessors;
    /// Threads of a warp.
    int32_t warp_size;
    /// Threads that a multiprocessor runs at once at most.
    int32_t multiprocessor_threads;
    /// Frequency of the multiprocessors, in kHz.
    int32_t clock_khz;
    /// Frequency of the memory, in kHz.
    int32_t memory_clock_khz;
    /// Width of the memory's bus, in bits.
    int32_t memory_bus_bits;
} THCudaProperties;

/// Bytes of the memory of a GPU.
typedef struct THCudaMemory {
    /// Free, for all processes.
    int64_t free_bytes;
    /// All there are.
    int64_t total_bytes;
    /// In storages of this process.
    int64_t live_bytes;
    /// Kept by this process for new storages.
    int64_t cached_bytes;
    /// The most that ever were in storages.
    int64_t peak_bytes;
} THCudaMemory;

/// A row-major tensor with undefined elements on a device; `ndim` 0 makes a scalar. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newWithSizesOn(THDtype dtype, THDeviceType deviceType, int deviceIndex, int ndim,
                                               const int64_t *size);

/// As `THTensor_newFromBlob`, over memory of a device: `data` is an address there. Work that others gave to the GPU
/// must have been done, or the thread's stream must wait for it. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newFromBlobOn(THDtype dtype, THDeviceType deviceType, int deviceIndex, int ndim,
                                              const int64_t *size, const int64_t *stride, void *data, THDeleter deleter,
                                              void *context);

/// The elements of `t` on a device, in `dtype`, or their own with `TH_UNDEFINED`: `t` itself if that is what it has and
/// `copy` is 0, else a copy, row-major on another device. With `nonBlocking` the copy may be made after this has
/// returned: from the host if `t` is pinned, whose elements then must stay as they are until the stream has done it,
/// and to the host, where the result is pinned and may be read once the stream has been waited for. Returns a new
/// reference.
TH_NODISCARD THTensor *THTensor_newToDevice(const THTensor *t, THDeviceType deviceType, int deviceIndex, THDtype dtype,
                                            int nonBlocking, int copy);

/// `t` itself if it lies on the GPU with this number, else a row-major copy there. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newCuda(const THTensor *t, int deviceIndex);

/// `t` itself if the host has its elements, else a row-major copy. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newCpu(const THTensor *t);

/// 1 if the elements lie in the memory of a GPU; 0 if not and on error.
int THTensor_isCuda(const THTensor *t);

/// `r = src` as `THTensor_copy` does it, but where one of them lies on a GPU, the other one in pinned memory, and both
/// are row-major and of one dtype and shape, the copy is made by the GPU after this has returned. Both must stay as
/// they are until the thread's stream has done it.
THStatus THTensor_copyAsync(THTensor *r, const THTensor *src);

/// A row-major copy of `t` in pinned memory of the host, from and to which GPUs copy while the host goes on, and
/// faster. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newPinned(const THTensor *t);

/// 1 if the elements lie in pinned memory of the host; 0 if not and on error.
int THTensor_isPinned(const THTensor *t);

/// Says that work of `stream` reaches a tensor that another stream has made: once its last reference is gone, its
/// memory serves new tensors only after the work that `stream` has by then. To be said before that.
THStatus THTensor_recordStream(const THTensor *t, const THCudaStream *stream);

/// Sets the device on which this thread makes tensors where neither an argument nor an operand says one: the host at
/// start.
THStatus THSetDefaultDevice(THDeviceType deviceType, int deviceIndex);

/// The kind of the thread's default device.
THDeviceType THGetDefaultDeviceType(void);

/// The number of the thread's default device among those of its kind.
int THGetDefaultDeviceIndex(void);

/// The number of GPUs; 0 and an error that says what is missing where there is none.
int THCuda_deviceCount(void);

/// The name of a GPU, as its driver has it. A C string that the caller frees with `THFree`; NULL on error.
TH_NODISCARD char *THCuda_newDeviceName(int deviceIndex);

/// Stores what a GPU is in `properties`.
THStatus THCuda_properties(int deviceIndex, THCudaProperties *properties);

/// Allows, or with 0 forbids, that matrix products in float32 round their factors to TF32 on GPUs that have it: 10 bits
/// behind the leading one, so that each product has a relative error of 2^-10, at several times the speed; sums are
/// float32's. It holds for all threads and for cuBLAS alone, for decompositions never, and is forbidden at start.
THStatus THCuda_setAllowTF32(int allow);

/// 1 if matrix products in float32 may round their factors to TF32 on GPUs; 0 if not.
int THCuda_getAllowTF32(void);

/// Waits until a GPU has done all work of this process.
THStatus THCuda_synchronize(int deviceIndex);

/// Stores how much memory a GPU has in `memory`.
THStatus THCuda_memory(int deviceIndex, THCudaMemory *memory);

/// Stores how much pinned memory of the host there is in `memory`. Its free and total bytes are those of the machine.
THStatus THCuda_pinnedMemory(THCudaMemory *memory);

/// Gives the memory of a GPU, and the pinned memory of the host, that is kept for new storages back to the driver.
THStatus THCuda_emptyCache(int deviceIndex);

/// 1 if a GPU can reach the memory of GPU `peer`; 0 if not and on error.
int THCuda_canAccessPeer(int deviceIndex, int peer);

/// Lets a GPU reach the memory of GPU `peer` if `on` is 1, and no longer if it is 0. Copies between GPUs need no such
/// access, and are faster with it.
THStatus THCuda_setPeerAccess(int deviceIndex, int peer, int on);

/** @} */

/* ==================================================================================================================
 *
 *     35. Streams, events and graphs
 *
 * ================================================================================================================== */

/**
 * @defgroup streams_events_and_graphs Streams, events and graphs
 *
 * A stream is work of a GPU that is done in order; streams do not wait for each other. Each thread has a stream on each
 * GPU that its operations go to: the default stream at first, which others in the process use too. Who reads in one
 * stream what another one writes lets it wait, `THCudaStream_wait`, or waits for an event; and says
 * `THTensor_recordStream` where the tensor's last reference may go before the work has been done. Memory of a tensor
 * belongs to the stream in which it was made. A graph is work that a stream has kept rather than done, to be done again
 * with little effort of the host. Operations that have to wait for the GPU, such as `THTensor_item`,
 * `THTensor_nonzero`, or an index whose positions are checked, fail while a stream is captured, and the graph with
 * them. Kernels are compiled and loaded before, by doing the work once. A capture spreads to each stream that waits for
 * a captured stream; the stream in which the capture began must wait for all of them before the capture ends. A graph
 * reads and writes the memory that it was captured with. Tensors made before the capture must live as long as the
 * graph. Memory that was allocated or freed during the capture belongs to the graph until the graph is freed. Random
 * numbers are the same at each launch, and so are numbers of the host such as a learning rate. Adam counts the steps of
 * a captured `THOptim_step` on the GPU. Errors: `TH_ERR_CUDA`, no driver, no GPU with this number, or the driver
 * refused; `TH_ERR_ARGUMENT`, a call that would end a capture, such as `THCuda_synchronize` or a launch of a graph in a
 * captured stream.
 * @{
 */

/// A place in the work of a stream.
typedef struct THCudaEvent THCudaEvent;

/// A function of the caller that runs between the work of a stream, on a thread of the driver. It must not use the GPU.
typedef void (*THCudaCallback)(void *context);

/// Work of a GPU that was captured, to be done again.
typedef struct THCudaGraph THCudaGraph;

/// A new stream of a GPU. Work of streams with a lower `priority` goes first; 0 is the usual one, and the driver limits
/// it. Returns a new reference; NULL on error.
TH_NODISCARD THCudaStream *THCudaStream_new(int deviceIndex, int priority);

/// A handle for a stream of another library, a `cudaStream_t` or `CUstream` that must outlive it; NULL is the default
/// stream. Returns a new reference; NULL on error.
TH_NODISCARD THCudaStream *THCudaStream_newForeign(int deviceIndex, void *stream);

/// The stream that this thread's operations on a GPU go to. Returns a new reference; NULL on error.
TH_NODISCARD THCudaStream *THCudaStream_newCurrent(int deviceIndex);

/// Adds a reference; NULL is ignored.
void THCudaStream_retain(THCudaStream *stream);

/// Gives up a reference; the last one waits for the stream's work and ends it, if it was made by `THCudaStream_new`. A
/// capture that began in the stream is given up; a stream that has joined a capture ends with it. NULL is ignored.
void THCudaStream_free(THCudaStream *stream);

/// This thread's operations on the stream's GPU go to the stream from now on. The thread holds a reference.
THStatus THCudaStream_setCurrent(const THCudaStream *stream);

/// The number of the stream's GPU; 0 on error.
int THCudaStream_device(const THCudaStream *stream);

/// The stream as a `CUstream`, which is a `cudaStream_t`; NULL is the default stream.
void *THCudaStream_pointer(const THCudaStream *stream);

/// Work that `stream` is given from now on waits for the work that `other` has, which may be a stream of another GPU.
THStatus THCudaStream_wait(const THCudaStream *stream, const THCudaStream *other);

/// Work that `stream` is given from now on waits for `event`, which may be one of another GPU. An event that was not
/// recorded is not waited for.
THStatus THCudaStream_waitEvent(const THCudaStream *stream, const THCudaEvent *event);

/// Waits until the work of the stream has been done.
THStatus THCudaStream_synchronize(const THCudaStream *stream);

/// 1 if the work of the stream has been done; 0 if not and on error.
int THCudaStream_isIdle(const THCudaStream *stream);

/// Calls `function(context)` on a thread of the driver once the work that the stream has was done; what it is given
/// from now on waits for that. The function must not call CUDA, and so no function of thorn that does.
THStatus THCudaStream_addCallback(const THCudaStream *stream, THCudaCallback function, void *context);

/// A new event of a GPU, which measures time if `timing` is 1. Returns a new reference; NULL on error.
TH_NODISCARD THCudaEvent *THCudaEvent_new(int deviceIndex, int timing);

/// Adds a reference; NULL is ignored.
void THCudaEvent_retain(THCudaEvent *event);

/// Gives up a reference; the last one ends the event. NULL is ignored.
void THCudaEvent_free(THCudaEvent *event);

/// Puts the event after the work that a stream of its GPU has.
THStatus THCudaEvent_record(const THCudaEvent *event, const THCudaStream *stream);

/// Waits until the work before the event has been done.
THStatus THCudaEvent_synchronize(const THCudaEvent *event);

/// 1 if the work before the event has been done, or it was not recorded; 0 if not and on error.
int THCudaEvent_hasPassed(const THCudaEvent *event);

/// Milliseconds between two events that measure time and have passed; NaN on error.
double THCudaEvent_elapsed(const THCudaEvent *start, const THCudaEvent *end);

/// This thread's stream on a GPU, which must not be the default stream, keeps what operations give it from now on,
/// rather than do it.
THStatus THCudaGraph_begin(int deviceIndex);

/// Ends `THCudaGraph_begin`: the graph of what the stream has kept. Returns a new reference; NULL on error, where
/// nothing is kept.
TH_NODISCARD THCudaGraph *THCudaGraph_newCaptured(int deviceIndex);

/// Adds a reference; NULL is ignored.
void THCudaGraph_retain(THCudaGraph *graph);

/// Gives up a reference; the last one waits for the graph's last launch and ends the graph. NULL is ignored.
void THCudaGraph_free(THCudaGraph *graph);

/// Does the work of the graph in this thread's stream on its GPU.
THStatus THCudaGraph_launch(const THCudaGraph *graph);

/** @} */

/* ==================================================================================================================
 *
 *     36. Exchange with other libraries
 *
 * ================================================================================================================== */

/**
 * @defgroup exchange_with_other_libraries Exchange with other libraries
 *
 * DLPack is how NumPy, PyTorch, JAX and others hand each other tensors without a copy: the producer fills in a struct,
 * and the consumer calls its deleter when it no longer needs the elements. A program that includes dlpack.h does so
 * before this header, whose structs then are those. Both sides see what the other one writes, and order their writes
 * themselves: on a GPU, the consumer's stream must wait for that of the producer before it reads.
 * `THCudaStream_newForeign` makes a handle of another library's stream, and `THCudaStream_wait` lets it wait for the
 * thread's own, which `THCudaStream_newCurrent` returns, or that one for it. Arrow's C data interface does the same for
 * columns of tables, here for tensors with one dimension. A program that includes a header with its structs, and with
 * the macro `ARROW_C_DATA_INTERFACE`, does so before this one. Arrow takes values for constant: copy an array before
 * you write to it where others may read it. A storage whose elements have been handed out can no longer be resized:
 * another library has its address. Errors: `TH_ERR_DTYPE`, an element type that the other side does not have;
 * `TH_ERR_SHAPE`, sizes and strides that are negative or overflow; `TH_ERR_ARGUMENT`, memory that is NULL or not
 * aligned; `TH_ERR_DEVICE`, elements on another device than the host and, for DLPack, than NVIDIA's GPUs;
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

/// The elements of `t` for a consumer of DLPack 1, who shares them until it calls the deleter of what is returned,
/// once; `t` may be freed before. Strides are always given. NULL on error.
TH_NODISCARD DLManagedTensorVersioned *THTensor_toDLPack(const THTensor *t);

/// As toDLPack, for consumers of the struct that DLPack had before version 1.
TH_NODISCARD DLManagedTensor *THTensor_toDLPackLegacy(const THTensor *t);

/// A tensor that shares the elements of a producer of DLPack 1. It takes `tensor` over: when the last view is gone, the
/// deleter is called, once. On error `tensor` stays the caller's, and the deleter has not been called. NULL strides
/// mean row-major. Where `DLPACK_FLAG_BITMASK_READ_ONLY` is set the elements are copied and the deleter is called at
/// once, since a tensor may be written. uint16 is copied into int32 and uint32 into int64, and the deleter is called at
/// once, too. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newFromDLPack(DLManagedTensorVersioned *tensor);

/// As newFromDLPack, from a producer of the struct that DLPack had before version 1, which cannot forbid writing.
/// Returns a new reference.
TH_NODISCARD THTensor *THTensor_newFromDLPackLegacy(DLManagedTensor *tensor);

/// Fills in `schema` and `array` for a consumer of Arrow's, who shares the elements of `t` until it calls the `release`
/// of `array`, once; `t` may be freed before. `t` has one dimension. Elements that do not lie side by side are copied,
/// and so are those of Bool, which Arrow has as bits. bfloat16 has no format. Former contents of both structs do not
/// matter; on error they are unchanged.
THStatus THTensor_toArrow(const THTensor *t, ArrowSchema *schema, ArrowArray *array);

/// A tensor with one dimension that shares the values of an array of Arrow's, of signed integers, uint8, floats or
/// truth values. It takes both structs over, and sets their `release` to NULL: the producer's is called with the last
/// view, once. Truth values are copied, uint16 is copied into int32 and uint32 into int64, and the array of a copy is
/// released at once. On error both structs stay the caller's. Nulls are an error; they are counted where `null_count`
/// is -1. Returns a new reference.
TH_NODISCARD THTensor *THTensor_newFromArrow(ArrowSchema *schema, ArrowArray *array);

/** @} */

/* ==================================================================================================================
 *
 *     37. Functions of the caller
 *
 * ================================================================================================================== */

/**
 * @defgroup functions_of_the_caller Functions of the caller
 *
 * Errors: a status that the function returns is what the call returns, and its class is `TH_ERR_CALLBACK`;
 * `TH_ERR_SHAPE`, operands that do not broadcast; `TH_ERR_DTYPE`, operands without a dtype; `TH_ERR_ARGUMENT`, a
 * function that is NULL, or that changed a storage.
 * @{
 */

/// Called by `apply` with each element, converted to a double.
///
/// The number stored in `x` becomes the element; an `x` left alone leaves the element as it is, to the last bit of an
/// int64. 0 means go on, anything else stops at once and is what `apply` returns. It must not free or resize the
/// tensors, throw, or jump out.
typedef int (*THApplyFunction)(double *x, void *context);

/// As `THApplyFunction`, with the element of a second tensor at the same place.
typedef int (*THMapFunction)(double *x, double y, void *context);

/// As `THApplyFunction`, with the elements of two more tensors at the same place.
typedef int (*THMap2Function)(double *x, double y, double z, void *context);

/// `t = function(t)`, element after element in row-major order, on the calling thread. The function may leave an
/// element as it is, or stop with a code of its own, which is what this then returns; elements changed before stay
/// changed.
THStatus THTensor_apply(THTensor *t, THApplyFunction function, void *context);

/// `t = function(t, src)`, as apply; `src` broadcasts to the shape of `t`.
THStatus THTensor_map(THTensor *t, const THTensor *src, THMapFunction function, void *context);

/// `t = function(t, a, b)`, as apply; `a` and `b` broadcast to the shape of `t`.
THStatus THTensor_map2(THTensor *t, const THTensor *a, const THTensor *b, THMap2Function function, void *context);

/** @} */

/* ==================================================================================================================
 *
 *     38. Storages
 *
 * ================================================================================================================== */

/**
 * @defgroup storages Storages
 *
 * A storage owns a block of elements of one dtype. Tensors make theirs as they need it. Errors: `TH_ERR_ARGUMENT`, an
 * index, size or flag out of range, a storage that cannot be resized; `TH_ERR_SHAPE`, storages of different lengths;
 * `TH_ERR_IO`, a file that cannot be mapped.
 * @{
 */

enum {
    /// The file is opened for reading and writing, made if missing, grown if shorter than asked, and writes reach it.
    /// Without this and `TH_ALLOCATOR_MAPPED_SHAREDMEM` the file is only read, and writes to the memory stay private.
    TH_ALLOCATOR_MAPPED_SHARED = 1,
    /// Like `TH_ALLOCATOR_MAPPED_SHARED`, for a POSIX shared memory object (`shm_open`), whose name goes away with the
    /// mapping.
    TH_ALLOCATOR_MAPPED_SHAREDMEM = 2,
    TH_ALLOCATOR_MAPPED_EXCLUSIVE = 4, ///< The file or object must not exist yet.
    TH_ALLOCATOR_MAPPED_NOCREATE = 8, ///< The file or object must exist already.
    /// The descriptor stays open as long as the mapping, for `THMapAllocatorContext_fd`.
    TH_ALLOCATOR_MAPPED_KEEPFD = 16,
    /// The context brings an open descriptor, and names are not touched unless `TH_ALLOCATOR_MAPPED_UNLINK` says so.
    TH_ALLOCATOR_MAPPED_FROMFD = 32,
    TH_ALLOCATOR_MAPPED_UNLINK = 64 ///< The name is removed as soon as the mapping stands.
};

/// The malloc family as an allocator; its context is ignored.
extern const THAllocator THDefaultAllocator;

/// Maps counted shared memory as its context, a `THMapAllocatorContext`, says; `free` ends the mapping and the context,
/// and the object with its last user.
extern const THAllocator THRefcountedMapAllocator;

/// The context of `THMapAllocator` and `THRefcountedMapAllocator`: the file to map and, once mapped, its memory. It
/// serves one mapping.
///
/// Who cuts a mapped file short makes access beyond its new end raise SIGBUS; nothing here can prevent that.
typedef struct THMapAllocatorContext THMapAllocatorContext;

/// Maps what its context, a `THMapAllocatorContext`, says; `free` ends the mapping and the context.
extern const THAllocator THMapAllocator;

/// The first element; NULL when the storage is empty. Borrowed: valid until the storage is resized or freed.
void *THStorage_data(const THStorage *storage);

/// The number of elements; -1 on error.
ptrdiff_t THStorage_size(const THStorage *storage);

/// Bytes an element takes; 0 on error.
size_t THStorage_elementSize(const THStorage *storage);

/// The element type; `TH_UNDEFINED` on error.
THDtype THStorage_dtype(const THStorage *storage);

/// `TH_CPU` or `TH_CUDA`; 0 on error.
THDeviceType THStorage_deviceType(const THStorage *storage);

/// The number of references that are held now; 0 on error.
int THStorage_refcount(const THStorage *storage);

/// `storage[index] = value`, converted to the dtype of the storage.
THStatus THStorage_set(THStorage *storage, ptrdiff_t index, double value);

/// `storage[index] = value`, an int64 that a double may not hold.
THStatus THStorage_setLong(THStorage *storage, ptrdiff_t index, int64_t value);

/// `storage[index]`; NaN on error. int64 beyond 2^53 is rounded.
double THStorage_get(const THStorage *storage, ptrdiff_t index);

/// `storage[index]` as an integer, exact for int64; floats are cut off. -1 on error.
int64_t THStorage_getLong(const THStorage *storage, ptrdiff_t index);

/// An empty storage. Returns a new reference.
TH_NODISCARD THStorage *THStorage_new(THDtype dtype);

/// A storage of `size` elements with undefined values. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newWithSize(THDtype dtype, ptrdiff_t size);

/// A storage of `size` elements with undefined values in pinned memory of the host, from and to which GPUs copy while
/// the host goes on, and faster. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newPinned(THDtype dtype, ptrdiff_t size);

/// A storage of one given element. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newWithSize1(THDtype dtype, double v0);

/// A storage of two given elements. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newWithSize2(THDtype dtype, double v0, double v1);

/// A storage of three given elements. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newWithSize3(THDtype dtype, double v0, double v1, double v2);

/// A storage of four given elements. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newWithSize4(THDtype dtype, double v0, double v1, double v2, double v3);

/// A storage over a file, or over POSIX shared memory with `TH_ALLOCATOR_MAPPED_SHAREDMEM`; `size` <= 0 takes the whole
/// file. Without `TH_ALLOCATOR_MAPPED_SHARED` or `SHAREDMEM` the file is read, writes stay private. Pipes, devices and
/// directories are refused. It cannot be resized. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newWithMapping(THDtype dtype, const char *filename, ptrdiff_t size, int flags);

/// A storage that takes over `data`: `size` elements from `THAlloc` or malloc, freed with the storage. On error `data`
/// stays the caller's. An address that is no multiple of the element's size is an error. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newWithData(THDtype dtype, void *data, ptrdiff_t size);

/// A storage of `size` elements from `allocator`, which must outlive it: one of yours, `THDefaultAllocator`,
/// `THMapAllocator` or `THRefcountedMapAllocator`. From then on `allocatorContext` belongs to the storage, whose end
/// calls `free` with it, and with NULL where there is no block. On error `free` has not been called, and the context is
/// still the caller's. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newWithAllocator(THDtype dtype, ptrdiff_t size, const THAllocator *allocator,
                                                   void *allocatorContext);

/// A storage that takes over `data`, freed by `allocator` with the storage. On error `data` stays the caller's. `data`
/// as for newWithData. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newWithDataAndAllocator(THDtype dtype, void *data, ptrdiff_t size,
                                                          const THAllocator *allocator, void *allocatorContext);

/// A storage that shares `data` with the caller. `deleter(data, context)` is called once, when the last reference is
/// gone; it may be NULL. On error it is not called. It cannot be resized. `data` as for newWithData. Returns a new
/// reference.
TH_NODISCARD THStorage *THStorage_newFromBlob(THDtype dtype, void *data, ptrdiff_t size, THDeleter deleter,
                                              void *context);

/// Sets `TH_STORAGE_*` bits.
THStatus THStorage_setFlag(THStorage *storage, char flag);

/// Clears `TH_STORAGE_*` bits.
THStatus THStorage_clearFlag(THStorage *storage, char flag);

/// Exchanges everything but the reference counts, dtypes included.
THStatus THStorage_swap(THStorage *storage1, THStorage *storage2);

/// Makes room for `size` elements and keeps as many as fit; new ones are undefined. Fails on foreign, mapped and shared
/// memory. An allocator of the caller's is asked for one byte at least: its block ends with the storage.
THStatus THStorage_resize(THStorage *storage, ptrdiff_t size);

/// Every element `= value`, in the range that `THTensor_fill` takes.
THStatus THStorage_fill(THStorage *storage, double value);

/// Copies `size` elements of the storage's own dtype from `src`.
THStatus THStorage_rawCopy(THStorage *storage, const void *src);

/// Copies all elements of `src`, converted from whatever dtype it has; both must have the same size.
THStatus THStorage_copy(THStorage *storage, const THStorage *src);

/// Adds a reference; NULL is ignored. Safe from any thread.
void THStorage_retain(THStorage *storage);

/// Gives up a reference; the last one frees the storage. NULL is ignored. Safe from any thread.
void THStorage_free(THStorage *storage);

/** @} */

/* ==================================================================================================================
 *
 *     39. Memory
 *
 * ================================================================================================================== */

/**
 * @defgroup memory Memory
 *
 * Errors: `TH_ERR_NOMEM`, memory could not be had; `TH_ERR_ARGUMENT`, limits and sizes that are negative.
 * @{
 */

/// Memory held and kept, as `THMemory_stats` reports it.
typedef struct THMemoryStats {
    /// Bytes asked for and not yet released, memory of other allocators included. Exact while no thread allocates.
    int64_t live_bytes;
    /// The most that `live_bytes` has been, as far as noticed: threads report every 64 KiB, and not while they reuse
    /// small blocks.
    int64_t peak_bytes;
    /// Bytes kept for reuse: released blocks, the lists of all threads included, and plans of Fourier transforms.
    int64_t cached_bytes;
    /// The most bytes that the cache shared by all threads keeps.
    int64_t cache_limit;
    /// Blocks handed out so far.
    int64_t allocations;
    /// Blocks handed out so far that were reused ones.
    int64_t cache_hits;
} THMemoryStats;

/// The host's function: the thread that allocates calls it with the live bytes.
///
/// It may release memory and allocate; it must return, neither unwind nor jump out. No lock is held meanwhile but that
/// of a generator that is drawn from: drawing from it in the hook is an error.
typedef void (*THMemoryHook)(void *ctx, int64_t live);

/// `size` bytes from the heap, 64-byte aligned above 5120 bytes; NULL for 0 bytes and on error. For data handed to
/// `THStorage_newWithData`.
TH_NODISCARD void *THAlloc(ptrdiff_t size);

/// The block `ptr` with `size` bytes, perhaps elsewhere; 0 bytes free it, a NULL `ptr` allocates. NULL on error: `ptr`
/// then is as before.
TH_NODISCARD void *THRealloc(void *ptr, ptrdiff_t size);

/// Frees a block of `THAlloc` or malloc; NULL is ignored.
void THFree(void *ptr);

/// Gives all memory the caching allocator keeps for reuse back to the system, and forgets the plans of Fourier
/// transforms.
THStatus THAllocator_emptyCache(void);

/// Stores the counters of the caching allocator in `stats`.
THStatus THMemory_stats(THMemoryStats *stats);

/// Bytes in use by storages and handles, foreign and mapped memory included.
int64_t THMemory_liveBytes(void);

/// Has `hook(context, live bytes)` called on the allocating thread when live bytes first exceed `bytes`, after each
/// further tenth, and once before an allocation fails: a garbage collector should run then. It may free tensors and
/// must return. With a NULL `hook` nothing is called, and `THMemory_pressure` is to be asked; a NULL `hook` and 0 bytes
/// turn the limit off.
THStatus THMemory_setSoftLimit(int64_t bytes, THMemoryHook hook, void *context);

/// 1 if a hook was due, or would have been, since the last time this was asked or the soft limit was set, else 0: for
/// hosts that ask between their own steps, since they cannot be called, as code that LuaJIT has compiled. It costs no
/// more than reading a flag.
int THMemory_pressure(void);

/** @} */

/* ==================================================================================================================
 *
 *     40. Files
 *
 * ================================================================================================================== */

/**
 * @defgroup files Files
 *
 * An archive is a file with named tensors: a checkpoint of PyTorch or Torch7, safetensors, GGUF, NumPy's arrays, a
 * matrix of Matrix Market, a table of numbers or an image. One that is opened tells names, dtypes and sizes without
 * reading elements; nothing in it is executed or trusted. Lists, dictionaries and tables become paths as names,
 * `model.layer.0.weight`, and the numbers and texts in them metadata under such paths. A file that is one tensor has
 * one whose name is "". `THArchive_newTensor` and `THArchive_newBytes` map elements that lie in the file as in memory,
 * from 64 KiB on. Writes to such a tensor stay private. The file should stay as it is: if a program changes it in
 * place, elements may change, and access beyond the end of a file that was cut short raises SIGBUS. `numpy.save` and
 * `torch.save` cut a file to nothing and write it anew in place. Functions of thorn replace the file by a new one, and
 * mapped tensors keep the elements of the old one. `THArchive_openWith` with `TH_OPEN_COPY` opens a file of which
 * nothing is mapped; `THTensor_newLoad` and `THArchive_read` copy as well. uint16 is read as int32 and uint32 as int64.
 * GGUF's blocks are decoded to float32: Q4_0 to Q8_0, Q2_K to Q6_K, IQ4_NL, IQ4_XS, TQ1_0, TQ2_0 and MXFP4.
 * `THArchive_newBytes` returns the bytes of others. Sparse tensors have functions of their own: those of dense ones
 * refuse them, `TH_ERR_UNSUPPORTED`. PyTorch's files have them in coordinates (COO) and by compressed rows (CSR), and
 * so have SciPy's (`scipy.sparse.save_npz`), which are one sparse tensor without a name. Matrix Market's `coordinate`
 * files are coordinates, and their `array` files dense: real numbers are float64, integers int64, a pattern has values
 * 1 of float64; symmetric and skew-symmetric ones are read whole, complex ones refused, and those that gzip compressed
 * (`.mtx.gz`) read too. What is written is `general`, its numbers the shortest that read back the same, and a pattern
 * where values are bool. A file is written as a whole: beside its name first, then to disk, and then renamed, so that a
 * failure or a killed process leaves the file that was there. A file that this process may not write to is not
 * replaced. Where the system has files without a name, as Linux does on most file systems, a killed process leaves
 * nothing else. Errors: `TH_ERR_IO`, the system or a function of the caller refused to read or write; `TH_ERR_FORMAT`,
 * the file is broken or of no known format, and at which byte; `TH_ERR_UNSUPPORTED`, a tensor is of a kind that thorn
 * does not have, or a format is not written.
 * @{
 */

/// A collection of named tensors with metadata in one file, opened for reading or created for writing.
typedef struct THArchive THArchive;

enum {
    TH_OPEN_COPY = 1             ///< Flag of `THArchive_openWith`: elements are always copied and never mapped.
};

/// Reads at most `size` bytes from the current position into `buffer`. Returns the number of bytes, 0 at the end, and
/// less than 0 on failure.
typedef ptrdiff_t (*THReadFunction)(void *ctx, void *buffer, ptrdiff_t size);

/// Sets the current position, like fseek: `offset` bytes from the beginning if `whence` is SEEK_SET (0), from the end
/// if it is SEEK_END (2). Returns the new position from the beginning, and less than 0 on failure.
typedef int64_t (*THSeekFunction)(void *ctx, int64_t offset, int whence);

/// A format of files.
typedef enum THFileFormat {
    /// The format of the file name's ending: `.pt` and `.pth`, `.t7`, `.npy`, `.npz`, `.safetensors`, `.mtx`, `.csv`,
    /// `.tsv`, `.pgm`, `.ppm`, `.png`.
    TH_FILE_BY_NAME = 0,
    TH_FILE_PT = 1,              ///< PyTorch's files since 1.6: a zip archive with a pickle.
    TH_FILE_PT_LEGACY = 2,       ///< PyTorch's files before 1.6: a sequence of pickles. They are only read.
    TH_FILE_T7 = 3,              ///< Torch7's files, binary.
    TH_FILE_T7_ASCII = 4,        ///< Torch7's files as a text.
    TH_FILE_NPY = 5,             ///< NumPy's files of one array.
    TH_FILE_NPZ = 6,             ///< NumPy's files of several arrays, a zip archive.
    /// NumPy's files of several arrays, compressed. Only for writing: files that are read have the format
    /// `TH_FILE_NPZ`.
    TH_FILE_NPZ_DEFLATED = 7,
    TH_FILE_SAFETENSORS = 8,     ///< safetensors.
    TH_FILE_GGUF = 9,            ///< ggml's files, which are only read.
    TH_FILE_CSV = 10,            ///< A table of numbers as a text, separated by commas.
    TH_FILE_TSV = 11,            ///< A table of numbers as a text, separated by tabs.
    TH_FILE_PNM = 12,            ///< Images in PGM and PPM.
    TH_FILE_PNG = 13,            ///< Images in PNG.
    TH_FILE_MATRIX_MARKET = 14   ///< Matrix Market: a matrix as a text, sparse or dense.
} THFileFormat;

/// The tensor of the file `path`, which has one. Its elements are read: the file may change afterwards. Returns a new
/// reference.
TH_NODISCARD THTensor *THTensor_newLoad(const char *path);

/// Writes a tensor to the file `path`, whose ending names the format. It has no name in the file.
THStatus THTensor_save(const THTensor *t, const char *path);

/// The sparse tensor of the file `path`, which has one, as `THArchive_newSparse` gives it: of Matrix Market, of SciPy
/// (`.npz`) or of PyTorch. Its parts are read: the file may change afterwards. Returns a new reference.
TH_NODISCARD THSTensor *THSTensor_newLoad(const char *path);

/// Writes a sparse tensor to the file `path`, whose ending names the format: `.mtx`, a matrix of coordinates; `.npz`,
/// one that `scipy.sparse.load_npz` reads; `.pt`, one that `torch.load` reads. It has no name in the file. Matrices
/// have no dense dimensions in `.mtx` and `.npz`.
THStatus THSTensor_save(const THSTensor *s, const char *path);

/// The sparse tensor `index`, in the form that it has in the file: coordinates, or a matrix of compressed rows. A
/// matrix of compressed columns becomes coordinates. Duplicates stay; positions out of range are refused,
/// `TH_ERR_ARGUMENT`. Returns a new reference; NULL on error.
TH_NODISCARD THSTensor *THArchive_newSparse(const THArchive *archive, int64_t index);

/// Adds a sparse tensor of this name. The archive keeps references to its positions and values, whose elements
/// `THArchive_close` reads. PyTorch's files keep sparse tensors, any number and beside dense ones; `.npz` and Matrix
/// Market files are one. Compressed rows whose columns do not ascend, each once, are written as coordinates.
THStatus THArchive_addSparse(const THArchive *archive, const char *name, const THSTensor *s);

/// Opens the file `path` for reading; its content tells the format. Pipes, devices and directories are refused. Free it
/// with `THArchive_free`; NULL on error.
THArchive *THArchive_open(const char *path);

/// As `THArchive_open`, with `flags`: `TH_OPEN_COPY`, elements are always copied and never mapped; 0, they may be
/// mapped. Free it with `THArchive_free`; NULL on error.
THArchive *THArchive_openWith(const char *path, int flags);

/// Opens a table of numbers whose columns are separated by the character `separator`, which `THArchive_open` guesses.
/// Free it with `THArchive_free`; NULL on error.
THArchive *THArchive_openTable(const char *path, int separator);

/// Opens a file that lies in memory, from `data` on. The memory must stay as it is until the archive is freed; tensors
/// are copies. Free it with `THArchive_free`; NULL on error.
THArchive *THArchive_openMemory(const void *data, ptrdiff_t size);

/// Opens a file that two functions read: `read(context, buffer, size)` and `seek(context, offset, whence)`, which do
/// what fread and fseek do. They are called with `context` until the archive is freed, by one thread at a time: the
/// thread that uses the archive, which takes signals as always, or threads of the library, which take none and for
/// which that thread waits. Free it with `THArchive_free`; NULL on error.
THArchive *THArchive_openCallbacks(THReadFunction read, THSeekFunction seek, void *context);

/// Frees an archive; NULL is ignored. Tensors of it stay. One that is written and was not closed leaves no file.
void THArchive_free(THArchive *archive);

/// The format of the file; `TH_FILE_BY_NAME` on error.
THFileFormat THArchive_format(const THArchive *archive);

/// The number of tensors; -1 on error.
int64_t THArchive_count(const THArchive *archive);

/// The name of tensor `index`, from 0. Borrowed: valid as long as the archive. NULL on error.
const char *THArchive_name(const THArchive *archive, int64_t index);

/// The index of the first tensor named `name`; -1 if there is none.
int64_t THArchive_find(const THArchive *archive, const char *name);

/// The dtype of tensor `index`, that of the values if it is sparse; `TH_UNDEFINED` on error, and where thorn has no
/// such tensors: quantised, complex.
THDtype THArchive_dtype(const THArchive *archive, int64_t index);

/// The number of dimensions of tensor `index`; -1 on error.
int64_t THArchive_ndim(const THArchive *archive, int64_t index);

/// The sizes of tensor `index`, as many as it has dimensions. Borrowed: valid as long as the archive. NULL on error.
const int64_t *THArchive_sizes(const THArchive *archive, int64_t index);

/// 1 if tensor `index` is sparse; 0 if it is not, and on error.
int THArchive_isSparse(const THArchive *archive, int64_t index);

/// The number of entries of the sparse tensor `index`; -1 on error, and if it is not sparse.
int64_t THArchive_nnz(const THArchive *archive, int64_t index);

/// The number of keys of the metadata; -1 on error.
int64_t THArchive_metadataCount(const THArchive *archive);

/// Key `index` of the metadata, from 0. Borrowed: valid as long as the archive. NULL on error.
const char *THArchive_metadataKey(const THArchive *archive, int64_t index);

/// The value of key `index` of the metadata, from 0. Borrowed: valid as long as the archive. NULL on error.
const char *THArchive_metadataValue(const THArchive *archive, int64_t index);

/// The value of `key` in the metadata. Borrowed: valid as long as the archive. NULL if there is none, and on error.
const char *THArchive_metadata(const THArchive *archive, const char *key);

/// Tensor `index` with the strides that it has in the file. Tensors that share elements in the file share a storage
/// here, if they come from the same archive. Returns a new reference; NULL on error.
TH_NODISCARD THTensor *THArchive_newTensor(const THArchive *archive, int64_t index);

/// The first tensor named `name`, as `THArchive_newTensor` gives it. Returns a new reference; NULL on error, and if
/// there is none.
TH_NODISCARD THTensor *THArchive_newFind(const THArchive *archive, const char *name);

/// The bytes of the elements of tensor `index` in row-major order, as the file has them: uint8 with one dimension. They
/// serve types that thorn does not have, as float8, complex numbers and blocks of GGUF, and types that it converts. In
/// GGUF, bytes of an unknown type reach to the next tensor. `TH_ERR_UNSUPPORTED` where the file has elements as a text
/// or compressed, unless thorn lacks their type. Returns a new reference; NULL on error.
TH_NODISCARD THTensor *THArchive_newBytes(const THArchive *archive, int64_t index);

/// `r` = tensor `index`, copied.
THStatus THArchive_read(THTensor *r, const THArchive *archive, int64_t index);

/// An archive that will be the file `path`, which `THArchive_close` writes. `format` is one of `TH_FILE_*`. Free it
/// with `THArchive_free`; NULL on error.
THArchive *THArchive_create(const char *path, THFileFormat format);

/// Adds a tensor of this name, of which there may be one. The archive keeps a reference to its storage;
/// `THArchive_close` reads its elements. PyTorch's and Torch7's files keep strides and the storages that tensors share,
/// each whole; in others tensors are row-major.
THStatus THArchive_add(const THArchive *archive, const char *name, const THTensor *t);

/// Adds a key and its value to the metadata, which NumPy's files, Matrix Market's, PGM and PPM do not have. Tables have
/// names of columns, `columns.0` and so on, and nothing else.
THStatus THArchive_addMetadata(const THArchive *archive, const char *key, const char *value);

/// Floats in texts get `digits` significant digits, 0 to 17; 0, as at first, stands for as many as tell them apart.
THStatus THArchive_setPrecision(const THArchive *archive, int digits);

/// Writes the file. Then the archive is only to be freed. If it fails, what was there before is as it was, and the
/// archive may be closed again.
THStatus THArchive_close(const THArchive *archive);

/** @} */

/* ==================================================================================================================
 *
 *     41. Mapped files and shared memory
 *
 * ================================================================================================================== */

/**
 * @defgroup mapped_files_and_shared_memory Mapped files and shared memory
 *
 * A file is mapped by `THStorage_newWithMapping`, or by a context for one of two allocators. It may be larger than
 * memory: the system reads what is touched. Processes share memory by a descriptor. `THTensor_shareMemory` moves a
 * tensor to memory that no folder has, whose length nobody can change; another process opens it by a descriptor that
 * came over a socket (SCM_RIGHTS), was inherited, or is named `/proc/PID/fd/N`. The memory ends with the last process
 * that uses it, also one that is killed. Processes order their reads and writes themselves. Shared memory cannot be
 * resized, and each storage in it keeps a descriptor open. Errors: `TH_ERR_IO`, the operating system refused the file
 * or object, or it is too short; `TH_ERR_ARGUMENT`, flags that contradict each other, memory that cannot move, a
 * storage that is not shared; `TH_ERR_UNSUPPORTED`, what mapped memory cannot do.
 * @{
 */

/// Moves the storage of `t` to shared memory, for all tensors on it; nothing happens if it is shared already. Pointers
/// to its elements are no longer valid. A child process made by fork then shares the elements with its parent. Memory
/// that cannot move is refused: that of a caller, of a private mapping, or with an address that another library has.
THStatus THTensor_shareMemory(THTensor *t);

/// 1 if other processes can see the elements of `t`: it lies in shared memory, or in a file that is mapped as shared.
int THTensor_isShared(const THTensor *t);

/// A context for `THMapAllocator` or `THRefcountedMapAllocator` that will map `filename`. It belongs to the storage
/// that is made with it. Until one has been made, free it with `THMapAllocatorContext_free`. NULL on error.
TH_NODISCARD THMapAllocatorContext *THMapAllocatorContext_new(const char *filename, int flags);

/// A context for the open descriptor `fd`, which it takes over; `flags` must name `TH_ALLOCATOR_MAPPED_FROMFD`. NULL on
/// error.
TH_NODISCARD THMapAllocatorContext *THMapAllocatorContext_newWithFd(const char *filename, int fd, int flags);

/// The file name given. Borrowed: valid as long as the context. NULL on error.
const char *THMapAllocatorContext_filename(THMapAllocatorContext *ctx);

/// Bytes mapped; -1 on error.
ptrdiff_t THMapAllocatorContext_size(THMapAllocatorContext *ctx);

/// The descriptor kept with `TH_ALLOCATOR_MAPPED_KEEPFD`; -1 if there is none and on error.
int THMapAllocatorContext_fd(THMapAllocatorContext *ctx);

/// Frees a context no storage was made with.
THStatus THMapAllocatorContext_free(THMapAllocatorContext *ctx);

/// Adds a user to memory mapped by `THRefcountedMapAllocator`.
THStatus THRefcountedMapAllocator_incref(THMapAllocatorContext *ctx, void *data);

/// Takes a user off memory mapped by `THRefcountedMapAllocator`; 1 if it was the last.
int THRefcountedMapAllocator_decref(THMapAllocatorContext *ctx, void *data);

/// 1 if other processes can see the elements: they lie in shared memory, or in a file that is mapped as shared.
int THStorage_isShared(const THStorage *storage);

/// The descriptor of a shared storage, to be sent to another process. It remains the storage's, which closes it at its
/// end; dup keeps it longer. -1 on error.
int THStorage_sharedFd(const THStorage *storage);

/// The name of a shared storage for `THStorage_newShared` in another process: `/proc/PID/fd/N`, which is valid in
/// processes of the same user while this one keeps the storage, or the name given to a mapping. A C string that the
/// caller frees with `THFree`; NULL on error.
TH_NODISCARD char *THStorage_sharedName(const THStorage *storage);

/// A storage over the shared memory behind the descriptor `fd`: its first `size` elements, or all if `size` is
/// negative. The descriptor remains the caller's, who may close it at once. Memory shorter than said is an error.
/// Another library may shorten its memory later, and access beyond the end then ends the process by SIGBUS; the length
/// of thorn's is fixed. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newSharedFd(THDtype dtype, int fd, ptrdiff_t size);

/// A storage over the memory that another process shares as `name`, which `THStorage_sharedName` gave there or shm_open
/// has. The name stays. Otherwise as newSharedFd. Returns a new reference.
TH_NODISCARD THStorage *THStorage_newShared(THDtype dtype, const char *name, ptrdiff_t size);

/** @} */

/* ==================================================================================================================
 *
 *     42. Errors
 *
 * ================================================================================================================== */

/**
 * @defgroup errors Errors
 *
 * These functions do not fail: `TH_OK`, 0, is the status where nothing has.
 * @{
 */

/// Returns the name of a status in this header: `"TH_ERR_SHAPE"`. Other numbers, as callbacks may return them, are
/// `"unknown status"`. Never freed.
const char *THStatus_name(THStatus status);

/// The message of the last failed call on this thread: function, what is wrong, values; "" if none failed since
/// `THClearLastError`. At most 1023 bytes: longer ones end in "...". Never NULL. Borrowed: unless memory has run out,
/// the address stays the same as long as the thread, the text until the next failing call on it.
const char *THGetLastError(void);

/// The status of the last failed call on this thread; `TH_OK` if none failed since `THClearLastError`. Successful calls
/// leave it alone.
THStatus THGetLastErrorCode(void);

/// Makes `message` the text of the last failure on this thread and `status` its status, and returns `status`: for
/// functions built on this library that report their failures as it does, and for functions that it calls. A message
/// that is NULL is ""; of a longer one the first 1023 bytes are kept. `TH_OK` is THClearLastError.
///
/// # Safety `message` is NULL or a C string.
THStatus THSetLastError(THStatus status, const char *message);

/// Forgets the last failure of this thread.
void THClearLastError(void);

/** @} */

/* ==================================================================================================================
 *
 *     43. Threads
 *
 * ================================================================================================================== */

/**
 * @defgroup threads Threads
 *
 * Errors: `TH_ERR_ARGUMENT`, fewer than one thread.
 * @{
 */

/// Threads an operation may use, the caller's included. At start: `TH_NUM_THREADS` of the environment, else the number
/// of cores.
int THGetNumThreads(void);

/// Sets how many threads an operation may use, for the whole process; at least 1. Results do not depend on it.
THStatus THSetNumThreads(int num_threads);

/// Cores this process may run on.
int THGetNumCores(void);

/** @} */

/* ==================================================================================================================
 *
 *     44. BLAS of the machine
 *
 * ================================================================================================================== */

/**
 * @defgroup blas_of_the_machine BLAS of the machine
 *
 * Errors: `TH_ERR_IO`, the library cannot be loaded; `TH_ERR_FORMAT`, it is no BLAS.
 * @{
 */

/// Lets a BLAS of the machine compute products of float32 and float64 (gemm, gemv), and linear algebra if LAPACK is in
/// it (getrf, getrs, getri, trtrs, potrf, potrs, potri, pstrf, geqrf, orgqr, ormqr, syevd, geev, gesdd), for the whole
/// process: `THSetBlas("libopenblas.so.0")`. `path` is what `dlopen` takes, a file name that the loader looks for or a
/// path; its code runs in this process. NULL: thorn's own again, as at start.
///
/// OpenBLAS, MKL (`libmkl_rt.so.2`), BLIS and the reference have what is needed, with integers of 32 or 64 bits. What
/// the library has no routine for, convolutions, and operands in which no stride is 1 are left to thorn. The library
/// decides then how many threads there are, and results depend on it. It is never unloaded.
///
/// Errors: `TH_ERR_IO`, it cannot be loaded; `TH_ERR_FORMAT`, it is no BLAS. What was in use stays so then.
THStatus THSetBlas(const char *path);

/// The path given to `THSetBlas` when the library in use was loaded; NULL where thorn computes itself. Never freed.
const char *THGetBlas(void);

/** @} */

/* ==================================================================================================================
 *
 *     45. Versions
 *
 * ================================================================================================================== */

/**
 * @defgroup versions Versions
 *
 * Errors: `TH_ERR_ARGUMENT`, a chapter that there is not.
 * @{
 */

/// The first number of the version: it changes with the API.
#define TH_VERSION_MAJOR 0

/// The second number of the version.
#define TH_VERSION_MINOR 1

/// The third number of the version.
#define TH_VERSION_PATCH 0

/// Changes whenever programs must be compiled anew; also the number of the shared library, `libthorn.so.0`.
#define TH_ABI_VERSION 0

/// The declarations of this library as plain C without a preprocessor: `ffi.cdef(ffi.string(lib.THCdef()))` in LuaJIT,
/// and the same of Python's cffi. All but this function and the next, which you declare to call them: `const char
/// *THCdef(void);`. A `FILE *` is a `void *` there. Never freed.
const char *THCdef(void);

/// The part of `THCdef` that declares the functions of the chapter with this title, `"Matrix products"`, or with `""`
/// all types and constants, which each chapter needs before it: a reader that is slow, as cffi is, hears of what it
/// calls only. A C string that the caller frees with `THFree`; NULL on error. You declare it to call it: `char
/// *THCdefChapter(const char *title);`.
TH_NODISCARD char *THCdefChapter(const char *title);

/// The version of the library in use, `"0.1.0"`. Never freed.
const char *THVersion(void);

/// `TH_ABI_VERSION` of the library in use.
int THAbiVersion(void);

/// The vector instructions kernels use on this machine: `"baseline"`, `"avx2"` or `"avx512"`. Never freed.
const char *THSimdLevel(void);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* THORN_H */
