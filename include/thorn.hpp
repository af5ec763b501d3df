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

/// The code of a kind of device in the C API; the values are the same as in DLPack.
enum class DeviceType : int {
    Cpu = TH_CPU, ///< Host memory.
    Cuda = TH_CUDA, ///< NVIDIA GPU memory.
};

/// The code of an element type in the C API. Codes never change.
enum class Dtype : int {
    Undefined = TH_UNDEFINED, ///< No dtype: a fresh handle before its first write.
    Uint8 = TH_UINT8, ///< Unsigned 8-bit integer.
    Int8 = TH_INT8, ///< Signed 8-bit integer.
    Int16 = TH_INT16, ///< Signed 16-bit integer.
    Int32 = TH_INT32, ///< Signed 32-bit integer.
    Int64 = TH_INT64, ///< Signed 64-bit integer.
    Float16 = TH_FLOAT16, ///< IEEE 754 half precision; computed in float32.
    Bfloat16 = TH_BFLOAT16, ///< The upper half of a float32; computed in float32.
    Float32 = TH_FLOAT32, ///< IEEE 754 single precision.
    Float64 = TH_FLOAT64, ///< IEEE 754 double precision.
    Bool = TH_BOOL, ///< True or false in one byte; any byte but 0 reads as true.
};

// The dtypes by their own names: `th::zeros({2, 3}, th::int64)`. Bool alone is a word of C++.
inline constexpr Dtype uint8 = Dtype::Uint8;
inline constexpr Dtype int8 = Dtype::Int8;
inline constexpr Dtype int16 = Dtype::Int16;
inline constexpr Dtype int32 = Dtype::Int32;
inline constexpr Dtype int64 = Dtype::Int64;
inline constexpr Dtype float16 = Dtype::Float16;
inline constexpr Dtype bfloat16 = Dtype::Bfloat16;
inline constexpr Dtype float32 = Dtype::Float32;
inline constexpr Dtype float64 = Dtype::Float64;

/// The result of a function: `TH_OK` or the kind of failure. `THGetLastError` returns the message.
enum class Status : int {
    Ok = TH_OK, ///< The call did what it says.
    ErrArgument = TH_ERR_ARGUMENT, ///< An argument is NULL, out of range or contradicts another.
    ErrShape = TH_ERR_SHAPE, ///< Shapes, strides or offsets do not fit each other or the storage.
    ErrDtype = TH_ERR_DTYPE, ///< The operation has no meaning for this dtype, or the result's dtype cannot hold it.
    ErrDevice = TH_ERR_DEVICE, ///< The tensors live on different devices, or the device cannot do this.
    ErrNomem = TH_ERR_NOMEM, ///< Memory could not be had.
    ErrIo = TH_ERR_IO, ///< The operating system refused a file, a mapping or shared memory.
    ErrFormat = TH_ERR_FORMAT, ///< A file is broken or of an unknown format.
    ErrUnsupported = TH_ERR_UNSUPPORTED, ///< Meaningful, but not offered.
    ErrCallback = TH_ERR_CALLBACK, ///< A function passed by the caller reported failure.
    ErrInternal = TH_ERR_INTERNAL, ///< A fault inside thorn, caught at the boundary; please report it.
    /// A matrix is singular, not positive definite or not finite, or an iteration did not converge.
    ErrNumeric = TH_ERR_NUMERIC,
    ErrCuda = TH_ERR_CUDA, ///< CUDA: there is no driver, no GPU, no compiler of kernels, or one of them failed.
};

/// The order of elements in memory, for functions that make tensors.
enum class MemoryFormat : int {
    ContiguousFormat = TH_CONTIGUOUS_FORMAT, ///< Row-major: the index of the last dimension changes fastest.
    /// The strides of the source if the source is dense and does not overlap itself, else row-major.
    PreserveFormat = TH_PRESERVE_FORMAT,
    ChannelsLast = TH_CHANNELS_LAST, ///< Four dimensions N, C, H, W stored in the order N, H, W, C.
    ChannelsLast3d = TH_CHANNELS_LAST_3D, ///< Five dimensions N, C, D, H, W stored in the order N, D, H, W, C.
};

/// The source of the elements in the padding of a tensor.
enum class PadMode : int {
    Constant = TH_PAD_CONSTANT, ///< A given number.
    Reflect = TH_PAD_REFLECT, ///< The elements mirrored at the edge; the edge element is not repeated.
    Replicate = TH_PAD_REPLICATE, ///< The element on the edge.
    Circular = TH_PAD_CIRCULAR, ///< The elements from the opposite edge.
};

/// The operation that combines several elements for one position.
enum class Reduce : int {
    Add = TH_REDUCE_ADD, ///< The sum; for Bool, *or*.
    Multiply = TH_REDUCE_MULTIPLY, ///< The product; for Bool, *and*.
    Amax = TH_REDUCE_AMAX, ///< The greatest element; NaN if any element is NaN.
    Amin = TH_REDUCE_AMIN, ///< The least element; NaN if any element is NaN.
};

/// The rounding of a quotient by `divMode`.
enum class DivMode : int {
    True = TH_DIV_TRUE, ///< No rounding; integers give the default dtype.
    Trunc = TH_DIV_TRUNC, ///< Rounds towards zero, as C divides integers.
    Floor = TH_DIV_FLOOR, ///< Rounds down, as Python's `//`.
};

/// The value that a loss function computes from the losses of all positions.
enum class Reduction : int {
    None = TH_REDUCTION_NONE, ///< No reduction: the result has a loss for each position.
    Mean = TH_REDUCTION_MEAN, ///< The sum of the losses, divided by the sum of the weights; NaN without positions.
    Sum = TH_REDUCTION_SUM, ///< The sum of the losses.
    /// The sum of the losses, divided by the first size of the broadcast operands; only for losses of single elements.
    BatchMean = TH_REDUCTION_BATCH_MEAN,
};

/// The function of the rows of a bag.
enum class BagMode : int {
    Sum = TH_BAG_SUM, ///< The sum.
    Mean = TH_BAG_MEAN, ///< The sum divided by the number of rows.
    Max = TH_BAG_MAX, ///< The greatest elements; NaN if any element is NaN.
};

/// The method that computes a quantile between two elements.
enum class Interpolation : int {
    Linear = TH_INTERPOLATION_LINEAR, ///< `a + (b - a) * fraction` for neighbours a and b.
    Lower = TH_INTERPOLATION_LOWER, ///< The smaller neighbour.
    Higher = TH_INTERPOLATION_HIGHER, ///< The greater neighbour.
    Midpoint = TH_INTERPOLATION_MIDPOINT, ///< `(a + b) / 2`
    Nearest = TH_INTERPOLATION_NEAREST, ///< The nearer neighbour; if both are equally near, the neighbour with the even rank.
};

/// The method that `cdistMode` uses for Euclidean distances. Other norms are always computed from the differences.
enum class DistanceMode : int {
    /// A matrix product if either operand has more than 25 rows, otherwise the differences.
    Auto = TH_DISTANCE_AUTO,
    /// A matrix product, which is faster for many rows. The error of a squared distance is a few eps of the rows'
    /// squared distances from the mean.
    Product = TH_DISTANCE_PRODUCT,
    Differences = TH_DISTANCE_DIFFERENCES, ///< The differences of all pairs of rows, which are exact for small distances.
};

/// The structure of quantised numbers: ggml's number of the type in GGUF files. The comments name the numbers in a
/// block, its size in bytes, and its content.
enum class BlockType : int {
    None = TH_BLOCK_NONE, ///< No blocks.
    Q40 = TH_BLOCK_Q4_0, ///< 32 numbers in 18 bytes: codes of 4 bits with a scale.
    Q41 = TH_BLOCK_Q4_1, ///< 32 numbers in 20 bytes: codes of 4 bits with a scale and a smallest number.
    Q50 = TH_BLOCK_Q5_0, ///< 32 numbers in 22 bytes: codes of 5 bits with a scale.
    Q51 = TH_BLOCK_Q5_1, ///< 32 numbers in 24 bytes: codes of 5 bits with a scale and a smallest number.
    Q80 = TH_BLOCK_Q8_0, ///< 32 numbers in 34 bytes: codes of 8 bits with a scale.
    /// 256 numbers in 84 bytes: codes of 2 bits with 16 scales and smallest numbers of 4 bits.
    Q2K = TH_BLOCK_Q2_K,
    Q3K = TH_BLOCK_Q3_K, ///< 256 numbers in 110 bytes: codes of 3 bits with 16 scales of 6 bits.
    /// 256 numbers in 144 bytes: codes of 4 bits with 8 scales and smallest numbers of 6 bits.
    Q4K = TH_BLOCK_Q4_K,
    /// 256 numbers in 176 bytes: codes of 5 bits with 8 scales and smallest numbers of 6 bits.
    Q5K = TH_BLOCK_Q5_K,
    Q6K = TH_BLOCK_Q6_K, ///< 256 numbers in 210 bytes: codes of 6 bits with 16 scales of 8 bits.
    Iq4Nl = TH_BLOCK_IQ4_NL, ///< 32 numbers in 18 bytes: codes of 4 bits for 16 uneven steps, with a scale.
    /// 256 numbers in 136 bytes: codes of 4 bits for 16 uneven steps, with 8 scales of 6 bits.
    Iq4Xs = TH_BLOCK_IQ4_XS,
    Tq10 = TH_BLOCK_TQ1_0, ///< 256 numbers in 54 bytes: -1, 0 or 1 with a scale, five numbers in a byte.
    Tq20 = TH_BLOCK_TQ2_0, ///< 256 numbers in 66 bytes: -1, 0 or 1 with a scale, four numbers in a byte.
    Mxfp4 = TH_BLOCK_MXFP4, ///< 32 numbers in 17 bytes: floats of 4 bits with a power of two as the scale.
};

/// A norm of matrices.
enum class MatrixNorm : int {
    NormFro = TH_NORM_FRO, ///< The square root of the sum of squares.
    NormNuc = TH_NORM_NUC, ///< The sum of the singular values.
    Norm1 = TH_NORM_1, ///< The greatest sum of magnitudes of a column.
    NormMinus1 = TH_NORM_MINUS_1, ///< The least sum of magnitudes of a column.
    Norm2 = TH_NORM_2, ///< The greatest singular value.
    NormMinus2 = TH_NORM_MINUS_2, ///< The least singular value.
    NormInf = TH_NORM_INF, ///< The greatest sum of magnitudes of a row.
    NormMinusInf = TH_NORM_MINUS_INF, ///< The least sum of magnitudes of a row.
};

/// The method that computes the pixels of an image of another size.
enum class Resampling : int {
    Nearest = TH_RESAMPLE_NEAREST, ///< The pixel at `floor(i * scale)`, with `scale = size of t / size of r`.
    NearestExact = TH_RESAMPLE_NEAREST_EXACT, ///< The pixel at `floor((i + 0.5) * scale)`, as Pillow and scikit-image choose it.
    /// Linear interpolation along each dimension: bilinear for two dimensions, trilinear for three.
    Linear = TH_RESAMPLE_LINEAR,
    Cubic = TH_RESAMPLE_CUBIC, ///< Cubic convolution of four pixels along each dimension: bicubic for two dimensions.
    /// The mean of the pixels that a result covers, entirely or partly, as adaptiveAvgPool2d computes it.
    Area = TH_RESAMPLE_AREA,
};

/// A kind of generator.
enum class GeneratorKind : int {
    /// Philox4x32-10, a function of a seed and a counter: the same numbers on every machine and with any number of
    /// threads.
    Philox = TH_PHILOX,
    /// The Mersenne Twister with the states and number sequences of Torch's TH. It runs on one thread, because each
    /// number depends on the one before.
    Mt19937 = TH_MT19937,
};

/// The side of a layer whose size scales the layer's initial weights.
enum class Fan : int {
    In = TH_FAN_IN, ///< The number of inputs of each output.
    Out = TH_FAN_OUT, ///< The number of outputs of each input.
};

/// A format of files.
enum class FileFormat : int {
    /// The format of the file name's extension: `.pt` and `.pth`, `.t7`, `.npy`, `.npz`, `.safetensors`, `.mtx`,
    /// `.svm`, `.svmlight` and `.libsvm`, `.csv`, `.tsv`, `.pgm`, `.ppm`, `.png`.
    ByName = TH_FILE_BY_NAME,
    Pt = TH_FILE_PT, ///< PyTorch's files since 1.6: a zip archive with a pickle.
    PtLegacy = TH_FILE_PT_LEGACY, ///< PyTorch's files before 1.6, a sequence of pickles. Read-only.
    T7 = TH_FILE_T7, ///< Torch7's files, binary.
    T7Ascii = TH_FILE_T7_ASCII, ///< Torch7's files as text.
    Npy = TH_FILE_NPY, ///< NumPy's files of one array.
    Npz = TH_FILE_NPZ, ///< NumPy's files of several arrays, a zip archive.
    /// NumPy's files of several arrays, compressed. Only for writing: such files are read as `TH_FILE_NPZ`.
    NpzDeflated = TH_FILE_NPZ_DEFLATED,
    Safetensors = TH_FILE_SAFETENSORS, ///< safetensors.
    Gguf = TH_FILE_GGUF, ///< ggml's files. Read-only.
    Csv = TH_FILE_CSV, ///< A table of numbers as text, separated by commas.
    Tsv = TH_FILE_TSV, ///< A table of numbers as text, separated by tabs.
    Pnm = TH_FILE_PNM, ///< Images in PGM and PPM.
    Png = TH_FILE_PNG, ///< Images in PNG.
    MatrixMarket = TH_FILE_MATRIX_MARKET, ///< Matrix Market: a sparse or dense matrix as text.
    Svmlight = TH_FILE_SVMLIGHT, ///< svmlight, also called libsvm: a data set as text, with labels and a sparse matrix.
    /// Programs that PyTorch exported. Only for reading: the tensors are the parameters, buffers and constants.
    Pt2 = TH_FILE_PT2,
};

// ==================================================================================================================
//     Errors
// ==================================================================================================================

/// A failed call: the message of THGetLastError, and its code. If exceptions are off, `failure()` returns this.
#ifdef TH_NO_EXCEPTIONS
class Error {
#else
class Error : public std::exception {
#endif
  public:
    /// No failure.
    Error() noexcept = default;
    /// Joins the pieces of the message, up to 1100 bytes, which suffice for every message of the library.
    Error(Status code, std::initializer_list<const char *> pieces) noexcept : code_(code) {
        std::size_t at = 0;
        for (const char *piece : pieces)
            while (*piece && at + 1 < sizeof message_) message_[at++] = *piece++;
    }
    /// The kind of failure.
    Status code() const noexcept { return code_; }
    /// The message of the failure, which begins with the name of the called function.
    const char *what() const noexcept
#ifndef TH_NO_EXCEPTIONS
        override
#endif
    {
        return message_;
    }

  private:
    Status code_ = Status::Ok;
    char message_[1101] = {};
};

#ifdef TH_NO_EXCEPTIONS

namespace detail {
inline thread_local Error first_failure;
} // namespace detail

/// The first failure on this thread since clearFailure; its code is Status::Ok if there was none. Exists only if
/// exceptions are off.
inline const Error &failure() noexcept { return detail::first_failure; }

/// True if a call on this thread has failed since clearFailure. Exists only if exceptions are off.
inline bool failed() noexcept { return failure().code() != Status::Ok; }

/// Clears the failures on this thread. Exists only if exceptions are off.
inline void clearFailure() noexcept { detail::first_failure = Error(); }

#endif

namespace detail {

/// Throws a failure, or keeps it if it is the first failure.
TH_COLD inline void fail(const Error &error) {
#ifdef TH_NO_EXCEPTIONS
    if (!failed()) first_failure = error;
#else
    throw error;
#endif
}

/// Reports a failure that C++ has detected.
TH_COLD inline void fail(const char *name, Status code, const char *message) {
    fail(Error(code, {name, ": ", message}));
}

#ifndef TH_NO_EXCEPTIONS
/// The exception of a callback of autograd on this thread. It is thrown again when the library's call fails because of
/// it.
inline thread_local std::exception_ptr thrown;
#endif

/// The decimal digits of a number, for messages.
class Digits {
  public:
    explicit Digits(int64_t value) noexcept {
        uint64_t rest = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
        do {
            *--first_ = static_cast<char>('0' + rest % 10);
        } while (rest /= 10);
        if (value < 0) *--first_ = '-';
    }
    Digits(const Digits &) = delete;
    operator const char *() const noexcept { return first_; }

  private:
    char text_[21] = {};
    char *first_ = text_ + 20;
};

/// True if two texts are equal.
inline bool same(const char *a, const char *b) noexcept {
    while (*a && *a == *b) ++a, ++b;
    return *a == *b;
}

/// The place of `part` in `text`; NULL if there is none.
inline const char *find(const char *text, const char *part) noexcept {
    for (; *text; ++text) {
        std::size_t k = 0;
        while (part[k] && text[k] == part[k]) ++k;
        if (!part[k]) return text;
    }
    return nullptr;
}

/// The last failure of the library. Its sentence begins with the name of the C function. What C advises is said in the
/// words of C++.
TH_COLD inline void fail(const char *name) {
#ifndef TH_NO_EXCEPTIONS
    if (thrown && THGetLastErrorCode() == TH_ERR_CALLBACK) std::rethrow_exception(std::exchange(thrown, nullptr));
#endif
    const char *message = THGetLastError(), *rest = message;
    while (*rest && *rest != ' ') ++rest;
    if (*rest) message = rest + 1;
    const Status code = static_cast<Status>(THGetLastErrorCode());
    static constexpr char null[] = "' is NULL", switched[] = "between THGrad_setEnabled(0) and THGrad_setEnabled(1)";
    const char *advice = find(message, switched), *end = find(message, null);
    if (advice) {
        char before[1101] = {};
        for (std::size_t k = 0; message + k < advice && k + 1 < sizeof before; k++) before[k] = message[k];
        fail(Error(code, {name, ": ", before, "while a th::NoGrad lives", advice + sizeof switched - 1}));
    } else if (end && !end[sizeof null - 1]) {
        fail(Error(code, {name, ": ", message, "; an undefined th::Tensor is NULL"}));
    } else {
        fail(name, code, message);
    }
}

/// Fails unless a call succeeded.
inline void check(THStatus status, const char *name) {
    if (status != TH_OK) fail(name);
}

/// Returns `value`. If `suspect`, the value may mean a failure: the last error was cleared before the call.
template <class T> inline T known(T value, bool suspect, const char *name) {
    if (suspect && THGetLastErrorCode() != TH_OK) fail(name);
    return value;
}

/// Returns `value`, which means a failure if it equals `failure`: -1 or NULL.
template <class T> inline T must(T value, T failure, const char *name) {
    if (value == failure) fail(name);
    return value;
}

} // namespace detail

// ==================================================================================================================
//     Lists, texts, and handles
// ==================================================================================================================

/// Marks an omitted argument: an optional output, or a bound of a slice.
struct None {};

/// See None.
inline constexpr None none{};

/// All dimensions, for a parameter `dimension`.
inline constexpr int everyDim = TH_ALL_DIMS;

namespace detail {

/// True for numbers that are neither sizes nor positions, so that `t(0.5)` and `t(a < b)` do not compile for numbers a, b.
template <class T>
inline constexpr bool is_no_position = std::is_floating_point_v<T> || std::is_same_v<T, bool>;

} // namespace detail

/// A view of a list of numbers, valid during a call. One number is a list with one entry: `th::zeros(3)`.
class IntList {
  public:
    constexpr IntList() noexcept = default;
    constexpr IntList(const int64_t *data, int count) noexcept : data_(data), count_(count) {}
    constexpr IntList(std::initializer_list<int64_t> list) noexcept : count_(static_cast<int>(list.size())) {
        if (count_) data_ = list.begin();
    }
    constexpr IntList(const int64_t &number) noexcept : data_(&number), count_(1) {}
    template <class Number, class = std::enable_if_t<detail::is_no_position<Number>>> IntList(Number) = delete;
    /// A container with contiguous int64_t: a std::vector, a std::array, a std::span.
    template <class List, class = std::enable_if_t<
                              std::is_convertible_v<decltype(std::declval<const List &>().data()), const int64_t *>>>
    constexpr IntList(const List &list) noexcept : data_(list.data()), count_(static_cast<int>(list.size())) {}
    template <std::size_t N>
    constexpr IntList(const int64_t (&list)[N]) noexcept : data_(list), count_(static_cast<int>(N)) {}

    constexpr const int64_t *data() const noexcept { return data_; }
    constexpr int count() const noexcept { return count_; }
    constexpr std::size_t size() const noexcept { return static_cast<std::size_t>(count_); }
    constexpr const int64_t *begin() const noexcept { return data_; }
    constexpr const int64_t *end() const noexcept { return data_ + count_; }
    constexpr int64_t operator[](std::size_t i) const noexcept { return data_[i]; }

    /// True if both lists have the same numbers: `t.sizes() == th::IntList{2, 3}`.
    friend constexpr bool operator==(IntList a, IntList b) noexcept {
        if (a.count_ != b.count_) return false;
        for (int i = 0; i < a.count_; i++)
            if (a.data_[i] != b.data_[i]) return false;
        return true;
    }
    friend constexpr bool operator!=(IntList a, IntList b) noexcept { return !(a == b); }
    /// Writes `[2, 3]`.
    template <class Traits>
    friend std::basic_ostream<char, Traits> &operator<<(std::basic_ostream<char, Traits> &out, const IntList &list) {
        const char *before = "[";
        for (int64_t number : list) {
            out << before << number;
            before = ", ";
        }
        return out << (list.count() ? "]" : "[]");
    }

  private:
    const int64_t *data_ = nullptr;
    int count_ = 0;
};

/// A view of a list with an entry for each of D dimensions, valid during a call. A single entry applies to each
/// dimension: `th::maxPool2d(t, 2)`.
template <std::size_t D> class SpatialList {
  public:
    SpatialList() noexcept = default;
    SpatialList(IntList list) noexcept : data_(list.data()), count_(list.count()) {
        if (count_ != 1) return;
        for (int64_t &entry : equal_) entry = *data_;
        data_ = equal_;
        count_ = static_cast<int>(D);
    }
    SpatialList(std::initializer_list<int64_t> list) noexcept : SpatialList(IntList(list)) {}
    template <class List, class = std::enable_if_t<std::is_convertible_v<const List &, IntList>>>
    SpatialList(const List &list) noexcept : SpatialList(IntList(list)) {}
    SpatialList(const SpatialList &) = delete;
    SpatialList &operator=(const SpatialList &) = delete;

    const int64_t *data() const noexcept { return data_; }
    int count() const noexcept { return count_; }
    operator IntList() const noexcept { return IntList(data_, count_); }

  private:
    const int64_t *data_ = nullptr;
    int count_ = 0;
    int64_t equal_[D];
};

/// A C string, or an object that has one (a std::string), valid during a call.
class Text {
  public:
    constexpr Text(const char *text) noexcept : text_(text) {}
    template <class S, class = decltype(std::declval<const S &>().c_str())>
    Text(const S &text) noexcept : text_(text.c_str()) {}
    constexpr const char *c_str() const noexcept { return text_; }

  private:
    const char *text_;
};

/// A text from the library: a C string with an owner, which converts to a std::string.
class String {
  public:
    /// An empty text.
    constexpr String() noexcept = default;
    /// Takes over a C string that THFree frees.
    static String take(char *heap) noexcept { return String(heap); }
    /// A copy of a text; empty if memory runs out.
    static String copy(const char *text) noexcept {
        ptrdiff_t size = 1;
        while (text[size - 1]) ++size;
        char *heap = static_cast<char *>(THAlloc(size));
        for (ptrdiff_t i = 0; heap && i < size; i++) heap[i] = text[i];
        return String(heap);
    }
    String(String &&other) noexcept : heap_(other.heap_) { other.heap_ = nullptr; }
    String &operator=(String &&other) noexcept {
        char *taken = other.heap_;
        other.heap_ = nullptr;
        THFree(heap_);
        heap_ = taken;
        return *this;
    }
    ~String() {
        if (heap_) THFree(heap_);
    }

    const char *c_str() const noexcept { return heap_ ? heap_ : ""; }
    bool empty() const noexcept { return *c_str() == 0; }
    /// Converts to a std::string with a copy, or to a std::string_view, which must not outlive this object.
    template <class S, class = typename S::traits_type> operator S() const { return S(c_str()); }

    friend bool operator==(const String &a, const char *b) noexcept {
        return detail::same(a.c_str(), b);
    }
    friend bool operator!=(const String &a, const char *b) noexcept { return !(a == b); }

  private:
    explicit constexpr String(char *heap) noexcept : heap_(heap) {}
    char *heap_ = nullptr;
};

namespace detail {

/// The dtype of a new tensor: `dtype`, or the default dtype.
inline THDtype dtype(Dtype dtype) {
    return dtype == Dtype::Undefined ? THGetDefaultDtype() : static_cast<THDtype>(dtype);
}

/// The common length of lists with an entry for each dimension. Empty lists are ignored.
inline int common(const char *name, std::initializer_list<IntList> lists) {
    int count = 0;
    for (IntList list : lists) {
        if (list.count() == 0 || list.count() == count) continue;
        if (count != 0) {
            fail(name, Status::ErrArgument, "lists of the same dimensions differ in length");
            return -1;
        }
        count = list.count();
    }
    return count;
}

/// Writes a line of text.
inline void write(FILE *stream, const char *line, const char *name) {
    if (!stream || fprintf(stream, "%s\n", line) < 0) fail(name, Status::ErrIo, "the stream cannot be written");
}

/// A reference to an object that counts its references.
template <class T, void (*Retain)(T *), void (*Free)(T *)> class Counted {
  public:
    /// Refers to nothing.
    constexpr Counted() noexcept = default;
    Counted(const Counted &other) noexcept : handle_(other.handle_) { Retain(handle_); }
    Counted(Counted &&other) noexcept : handle_(other.release()) {}
    Counted &operator=(const Counted &other) noexcept {
        // The other object may be reachable only through this one.
        T *old = handle_;
        Retain(other.handle_);
        handle_ = other.handle_;
        Free(old);
        return *this;
    }
    Counted &operator=(Counted &&other) noexcept {
        T *taken = other.release(), *old = handle_;
        handle_ = taken;
        Free(old);
        return *this;
    }
    ~Counted() {
        // Destroying a moved-from object, which the compiler often recognises, costs no call.
        if (handle_) Free(handle_);
    }

    /// True if this refers to something.
    bool defined() const noexcept { return handle_ != nullptr; }
    /// The C handle, which this object still owns.
    T *get() const noexcept { return handle_; }
    /// Returns the C handle, which the caller owns from then on.
    [[nodiscard]] T *release() noexcept {
        T *handle = handle_;
        handle_ = nullptr;
        return handle;
    }

  protected:
    explicit constexpr Counted(T *handle) noexcept : handle_(handle) {}
    T *handle_ = nullptr;
};

/// Owns an object that has one owner.
template <class T, void (*Free)(T *)> class Owned {
  public:
    /// Owns nothing.
    constexpr Owned() noexcept = default;
    Owned(Owned &&other) noexcept : handle_(other.release()) {}
    Owned &operator=(Owned &&other) noexcept {
        T *taken = other.release(), *old = handle_;
        handle_ = taken;
        Free(old);
        return *this;
    }
    Owned(const Owned &) = delete;
    Owned &operator=(const Owned &) = delete;
    ~Owned() { Free(handle_); }

    /// True if this owns something.
    bool defined() const noexcept { return handle_ != nullptr; }
    /// The C handle, which this object still owns.
    T *get() const noexcept { return handle_; }
    /// Returns the C handle, which the caller owns from then on.
    [[nodiscard]] T *release() noexcept {
        T *handle = handle_;
        handle_ = nullptr;
        return handle;
    }

  protected:
    explicit constexpr Owned(T *handle) noexcept : handle_(handle) {}
    T *handle_ = nullptr;
};

/// A text that the caller must free.
inline String text(char *heap, const char *name) {
    return String::take(must(heap, static_cast<char *>(nullptr), name));
}

} // namespace detail

/// A block of elements of one dtype. Tensors are views of it. Copies refer to the same block.
class Storage : public detail::Counted<THStorage, THStorage_retain, THStorage_free> {
  public:
    Storage() noexcept = default;
    using Counted::get;
    /// Takes over a reference.
    static Storage take(THStorage *handle) noexcept { return Storage(handle); }
    /// Adds a reference to a handle, whose owner keeps its own.
    static Storage share(THStorage *handle) noexcept {
        THStorage_retain(handle);
        return Storage(handle);
    }

    // ------------------------------------------------------------------------------------------------------- Printing

    /// The elements of `storage`, one a line, then `[torch.FloatStorage of size 3]`: always Torch7's layout.
    String toString(const THPrintOptions *options = nullptr) const {
        if (!handle_) return String::copy("undefined storage");
        return detail::text(THStorage_toString(handle_, options), "toString");
    }

    // ------------------------------------------------------------------------------------------------------- Storages

    /// A pointer to the first element; NULL if the storage is empty.
    void *data() const {
        THClearLastError();
        const auto r = THStorage_data(handle_);
        return detail::known(r, !r, "data");
    }
    /// The number of elements.
    ptrdiff_t size() const { return detail::must(THStorage_size(handle_), static_cast<ptrdiff_t>(-1), "size"); }
    /// The number of bytes of an element.
    size_t elementSize() const {
        THClearLastError();
        const size_t r = THStorage_elementSize(handle_);
        return detail::known(r, !r, "elementSize");
    }
    /// The element type.
    Dtype dtype() const {
        THClearLastError();
        const THDtype r = THStorage_dtype(handle_);
        return detail::known(static_cast<Dtype>(r), !r, "dtype");
    }
    /// `TH_CPU` or `TH_CUDA`.
    DeviceType deviceType() const {
        THClearLastError();
        const THDeviceType r = THStorage_deviceType(handle_);
        return detail::known(static_cast<DeviceType>(r), !r, "deviceType");
    }
    /// The current number of references.
    int refcount() const {
        THClearLastError();
        const int r = THStorage_refcount(handle_);
        return detail::known(r, !r, "refcount");
    }
    /// `storage[index] = value`, converted to the dtype of the storage.
    void set(ptrdiff_t index, double value) const { detail::check(THStorage_set(handle_, index, value), "set"); }
    /// `storage[index] = value` for an int64, which a double may be unable to hold.
    void setLong(ptrdiff_t index, int64_t value) const {
        detail::check(THStorage_setLong(handle_, index, value), "setLong");
    }
    /// `storage[index]`.
    double get(ptrdiff_t index) const {
        THClearLastError();
        const double r = THStorage_get(handle_, index);
        return detail::known(r, r != r, "get");
    }
    /// `storage[index]` as an integer, exact for int64; floats are truncated.
    int64_t getLong(ptrdiff_t index) const {
        THClearLastError();
        const int64_t r = THStorage_getLong(handle_, index);
        return detail::known(r, r == -1, "getLong");
    }
    /// An empty storage.
    explicit Storage(Dtype dtype) : Counted(detail::must(THStorage_new(detail::dtype(dtype)),
        static_cast<THStorage *>(nullptr), "Storage")) {}
    /// A storage of `size` elements with undefined values.
    static Storage withSize(ptrdiff_t size, Dtype dtype = Dtype::Undefined) {
        return Storage::take(detail::must(THStorage_newWithSize(detail::dtype(dtype), size),
            static_cast<THStorage *>(nullptr), "withSize"));
    }
    /// A storage of `size` elements with undefined values in pinned memory of the host.
    static Storage pinned(ptrdiff_t size, Dtype dtype = Dtype::Undefined) {
        return Storage::take(detail::must(THStorage_newPinned(detail::dtype(dtype), size),
            static_cast<THStorage *>(nullptr), "pinned"));
    }
    /// A storage of one element, `v0`.
    static Storage withSize1(double v0, Dtype dtype = Dtype::Undefined) {
        return Storage::take(detail::must(THStorage_newWithSize1(detail::dtype(dtype), v0),
            static_cast<THStorage *>(nullptr), "withSize1"));
    }
    /// A storage of two elements, `v0` and `v1`.
    static Storage withSize2(double v0, double v1, Dtype dtype = Dtype::Undefined) {
        return Storage::take(detail::must(THStorage_newWithSize2(detail::dtype(dtype), v0, v1),
            static_cast<THStorage *>(nullptr), "withSize2"));
    }
    /// A storage of three elements, `v0` to `v2`.
    static Storage withSize3(double v0, double v1, double v2, Dtype dtype = Dtype::Undefined) {
        return Storage::take(detail::must(THStorage_newWithSize3(detail::dtype(dtype), v0, v1, v2),
            static_cast<THStorage *>(nullptr), "withSize3"));
    }
    /// A storage of four elements, `v0` to `v3`.
    static Storage withSize4(double v0, double v1, double v2, double v3, Dtype dtype = Dtype::Undefined) {
        return Storage::take(detail::must(THStorage_newWithSize4(detail::dtype(dtype), v0, v1, v2, v3),
            static_cast<THStorage *>(nullptr), "withSize4"));
    }
    /// A storage over a file, or over POSIX shared memory with `TH_ALLOCATOR_MAPPED_SHAREDMEM`; `size` <= 0 maps the
    /// whole file.
    static Storage withMapping(Text filename, ptrdiff_t size, int flags, Dtype dtype = Dtype::Undefined) {
        return Storage::take(detail::must(THStorage_newWithMapping(detail::dtype(dtype), filename.c_str(), size, flags),
            static_cast<THStorage *>(nullptr), "withMapping"));
    }
    /// A storage that takes over `data`: `size` elements from `THAlloc` or malloc, freed with the storage.
    static Storage withData(void *data, ptrdiff_t size, Dtype dtype = Dtype::Undefined) {
        return Storage::take(detail::must(THStorage_newWithData(detail::dtype(dtype), data, size),
            static_cast<THStorage *>(nullptr), "withData"));
    }
    /// A storage that shares `data` with the caller.
    static Storage fromBlob(void *data, ptrdiff_t size, THDeleter deleter = nullptr, void *context = nullptr,
        Dtype dtype = Dtype::Undefined) {
        return Storage::take(detail::must(THStorage_newFromBlob(detail::dtype(dtype), data, size, deleter, context),
            static_cast<THStorage *>(nullptr), "fromBlob"));
    }
    /// Sets the `TH_STORAGE_*` bits of `flag`.
    void setFlag(char flag) const { detail::check(THStorage_setFlag(handle_, flag), "setFlag"); }
    /// Clears the `TH_STORAGE_*` bits of `flag`.
    void clearFlag(char flag) const { detail::check(THStorage_clearFlag(handle_, flag), "clearFlag"); }
    /// Exchanges everything except the reference counts, including the dtypes.
    void swap(const Storage &storage2) const { detail::check(THStorage_swap(handle_, storage2.get()), "swap"); }
    /// Changes the number of elements to `size`.
    void resize(ptrdiff_t size) const { detail::check(THStorage_resize(handle_, size), "resize"); }
    /// `storage[i] = value` for every element; `value` must be in the range that `THTensor_fill` accepts.
    void fill(double value) const { detail::check(THStorage_fill(handle_, value), "fill"); }
    /// Copies all elements from `src`, which holds as many elements of the storage's dtype as the storage has.
    void rawCopy(const void *src) const { detail::check(THStorage_rawCopy(handle_, src), "rawCopy"); }
    /// Copies all elements of `src`, converted from the dtype of `src`; both storages must have the same size.
    void copy(const Storage &src) const { detail::check(THStorage_copy(handle_, src.get()), "copy"); }

    // --------------------------------------------------------------------------------- Mapped files and shared memory

    /// True if other processes can see the elements, because they are in shared memory or in a file that is mapped as
    /// shared.
    bool isShared() const {
        THClearLastError();
        const int r = THStorage_isShared(handle_);
        return detail::known(r != 0, !r, "isShared");
    }
    /// The descriptor of a shared storage, for sending to another process.
    int sharedFd() const {
        THClearLastError();
        const int r = THStorage_sharedFd(handle_);
        return detail::known(r, r == -1, "sharedFd");
    }
    /// The name by which `THStorage_newShared` opens the shared storage in another process.
    String sharedName() const { return detail::text(THStorage_sharedName(handle_), "sharedName"); }
    /// A storage over the shared memory of the descriptor `fd`: its first `size` elements, or all if `size` is
    /// negative.
    static Storage sharedFd(int fd, ptrdiff_t size, Dtype dtype = Dtype::Undefined) {
        return Storage::take(detail::must(THStorage_newSharedFd(detail::dtype(dtype), fd, size),
            static_cast<THStorage *>(nullptr), "sharedFd"));
    }
    /// A storage over memory that another process shares as `name`: a name from `THStorage_sharedName` or from
    /// shm_open.
    static Storage shared(Text name, ptrdiff_t size, Dtype dtype = Dtype::Undefined) {
        return Storage::take(detail::must(THStorage_newShared(detail::dtype(dtype), name.c_str(), size),
            static_cast<THStorage *>(nullptr), "shared"));
    }

  private:
    using Counted::Counted;
};

/// A stream of random numbers. An undefined Generator, `{}`, means the calling thread's generator.
class Generator : public detail::Owned<THGenerator, THGenerator_free> {
  public:
    /// The calling thread's generator.
    Generator() noexcept = default;
    /// A new generator that begins at `seed`.
    explicit Generator(uint64_t seed)
        : Owned(detail::must(THGenerator_new(), static_cast<THGenerator *>(nullptr), "Generator")) {
        manualSeed(seed);
    }
    /// A new generator of this kind with a random seed.
    explicit Generator(GeneratorKind kind)
        : Owned(detail::must(THGenerator_newKind(static_cast<THGeneratorKind>(kind)),
                             static_cast<THGenerator *>(nullptr), "Generator")) {}
    /// Takes over a handle.
    static Generator take(THGenerator *handle) noexcept { return Generator(handle); }

    // ---------------------------------------------------------------------------------------------- Random generators

    /// The kind of a generator.
    GeneratorKind kind() const {
        THClearLastError();
        const THGeneratorKind r = THGenerator_kind(handle_);
        return detail::known(static_cast<GeneratorKind>(r), !r, "kind");
    }
    /// Copies the kind and the state of `from` to `to`, so that both continue with the same numbers.
    void copy(const Generator &from) const { detail::check(THGenerator_copy(handle_, from.get()), "copy"); }
    /// Seeds the generator from the system and returns the seed.
    uint64_t seed() const {
        THClearLastError();
        const uint64_t r = THRandom_seed(handle_);
        return detail::known(r, !r, "seed");
    }
    /// Seeds the generator with `seed`.
    void manualSeed(uint64_t seed) const { detail::check(THRandom_manualSeed(handle_, seed), "manualSeed"); }
    /// The seed that the current sequence was started with.
    uint64_t initialSeed() const {
        THClearLastError();
        const uint64_t r = THRandom_initialSeed(handle_);
        return detail::known(r, !r, "initialSeed");
    }
    /// An integer from 0 to 2^32 - 1.
    int64_t random() const {
        THClearLastError();
        const int64_t r = THRandom_random(handle_);
        return detail::known(r, r == -1, "random");
    }
    /// A number uniform in [from, to).
    double uniform(double from = 0, double to = 1) const {
        THClearLastError();
        const double r = THRandom_uniform(handle_, from, to);
        return detail::known(r, r != r, "uniform");
    }
    /// A normally distributed number.
    double normal(double mean = 0, double stdv = 1) const {
        THClearLastError();
        const double r = THRandom_normal(handle_, mean, stdv);
        return detail::known(r, r != r, "normal");
    }
    /// An exponentially distributed number of mean 1 / lambda.
    double exponential(double lambda) const {
        THClearLastError();
        const double r = THRandom_exponential(handle_, lambda);
        return detail::known(r, r != r, "exponential");
    }
    /// A Cauchy distributed number.
    double cauchy(double median, double sigma) const {
        THClearLastError();
        const double r = THRandom_cauchy(handle_, median, sigma);
        return detail::known(r, r != r, "cauchy");
    }
    /// `exp` of a normally distributed number.
    double logNormal(double mean, double stdv) const {
        THClearLastError();
        const double r = THRandom_logNormal(handle_, mean, stdv);
        return detail::known(r, r != r, "logNormal");
    }
    /// The number of trials up to the first success, where each trial fails with probability `p`, 0 < p < 1.
    double geometric(double p) const {
        THClearLastError();
        const double r = THRandom_geometric(handle_, p);
        return detail::known(r, r != r, "geometric");
    }
    /// 1 with probability `p`, else 0.
    bool bernoulli(double p = 0.5) const {
        THClearLastError();
        const int r = THRandom_bernoulli(handle_, p);
        return detail::known(r != 0, !r, "bernoulli");
    }

  private:
    using Owned::Owned;
};

/// Seeds the calling thread's generator.
inline void manualSeed(uint64_t seed) { Generator().manualSeed(seed); }
/// Seeds the calling thread's generator from the system and returns the seed.
inline uint64_t seed() { return Generator().seed(); }
/// The seed that the calling thread's generator was started with.
inline uint64_t initialSeed() { return Generator().initialSeed(); }

class CudaEvent;

/// A queue of work for a GPU.
class CudaStream : public detail::Counted<THCudaStream, THCudaStream_retain, THCudaStream_free> {
  public:
    CudaStream() noexcept = default;
    /// Takes over a reference.
    static CudaStream take(THCudaStream *handle) noexcept { return CudaStream(handle); }
    /// Makes work that is given to the stream from now on wait for the event.
    void waitEvent(const CudaEvent &event) const;
    /// Calls `function()` on a thread of the driver once the stream's current work is done. The function must not
    /// throw, and must not call CUDA or functions of this header that do.
    template <class F> void addCallback(F function) const {
        F *kept = new F(std::move(function));
        const THCudaCallback call = [](void *context) noexcept {
            (*static_cast<F *>(context))();
            delete static_cast<F *>(context);
        };
        const THStatus status = THCudaStream_addCallback(get(), call, kept);
        if (status != TH_OK) delete kept;
        detail::check(status, "addCallback");
    }

    // ------------------------------------------------------------------------------------- Streams, events and graphs

    /// A new stream of a GPU.
    explicit CudaStream(int deviceIndex, int priority = 0) : Counted(detail::must(THCudaStream_new(deviceIndex,
        priority), static_cast<THCudaStream *>(nullptr), "CudaStream")) {}
    /// A handle for a stream of another library, a `cudaStream_t` or `CUstream`, which must outlive the handle; NULL is
    /// the default stream.
    static CudaStream foreign(int deviceIndex = 0, void *stream = nullptr) {
        return CudaStream::take(detail::must(THCudaStream_newForeign(deviceIndex, stream),
            static_cast<THCudaStream *>(nullptr), "foreign"));
    }
    /// This thread's current stream on a GPU.
    static CudaStream current(int deviceIndex = 0) {
        return CudaStream::take(detail::must(THCudaStream_newCurrent(deviceIndex), static_cast<THCudaStream *>(nullptr),
            "current"));
    }
    /// Makes `stream` this thread's current stream on its GPU, to which the thread's operations go.
    void setCurrent() const { detail::check(THCudaStream_setCurrent(handle_), "setCurrent"); }
    /// The index of the stream's GPU.
    int device() const {
        THClearLastError();
        const int r = THCudaStream_device(handle_);
        return detail::known(r, !r, "device");
    }
    /// The stream as a `CUstream`, which is the same as a `cudaStream_t`; NULL is the default stream.
    void *pointer() const {
        THClearLastError();
        const auto r = THCudaStream_pointer(handle_);
        return detail::known(r, !r, "pointer");
    }
    /// Later work of `stream` waits for the present work of `other`, which may be a stream of another GPU.
    void wait(const CudaStream &other) const { detail::check(THCudaStream_wait(handle_, other.get()), "wait"); }
    /// Waits until the work of the stream is done.
    void synchronize() const { detail::check(THCudaStream_synchronize(handle_), "synchronize"); }
    /// True if the work of the stream is done.
    bool isIdle() const {
        THClearLastError();
        const int r = THCudaStream_isIdle(handle_);
        return detail::known(r != 0, !r, "isIdle");
    }

  private:
    using Counted::Counted;
};

/// A point in a stream that can be waited for and timed.
class CudaEvent : public detail::Counted<THCudaEvent, THCudaEvent_retain, THCudaEvent_free> {
  public:
    CudaEvent() noexcept = default;
    /// Takes over a reference.
    static CudaEvent take(THCudaEvent *handle) noexcept { return CudaEvent(handle); }

    // ------------------------------------------------------------------------------------- Streams, events and graphs

    /// A new event of a GPU, which measures time if `timing` is 1.
    explicit CudaEvent(int deviceIndex, bool timing = false) : Counted(detail::must(THCudaEvent_new(deviceIndex,
        timing), static_cast<THCudaEvent *>(nullptr), "CudaEvent")) {}
    /// Records the event after the present work of `stream`, which must belong to the event's GPU.
    void record(const CudaStream &stream) const { detail::check(THCudaEvent_record(handle_, stream.get()), "record"); }
    /// Waits until the work before the event is done.
    void synchronize() const { detail::check(THCudaEvent_synchronize(handle_), "synchronize"); }
    /// True if the work before the event is done or the event was not recorded.
    bool hasPassed() const {
        THClearLastError();
        const int r = THCudaEvent_hasPassed(handle_);
        return detail::known(r != 0, !r, "hasPassed");
    }
    /// The milliseconds between two events that have passed and were made with `timing`.
    double elapsed(const CudaEvent &end) const {
        THClearLastError();
        const double r = THCudaEvent_elapsed(handle_, end.get());
        return detail::known(r, r != r, "elapsed");
    }

  private:
    using Counted::Counted;
};

/// Recorded work for a GPU that can be repeated.
class CudaGraph : public detail::Counted<THCudaGraph, THCudaGraph_retain, THCudaGraph_free> {
  public:
    CudaGraph() noexcept = default;
    /// Takes over a reference.
    static CudaGraph take(THCudaGraph *handle) noexcept { return CudaGraph(handle); }

    // ------------------------------------------------------------------------------------- Streams, events and graphs

    /// Begins a capture: this thread's current stream on a GPU records later work instead of running it.
    static void begin(int deviceIndex = 0) { detail::check(THCudaGraph_begin(deviceIndex), "begin"); }
    /// Ends the capture that `THCudaGraph_begin` began and returns its graph.
    static CudaGraph captured(int deviceIndex = 0) {
        return CudaGraph::take(detail::must(THCudaGraph_newCaptured(deviceIndex), static_cast<THCudaGraph *>(nullptr),
            "captured"));
    }
    /// Runs the work of the graph in this thread's current stream on its GPU.
    void launch() const { detail::check(THCudaGraph_launch(handle_), "launch"); }

  private:
    using Counted::Counted;
};

inline void CudaStream::waitEvent(const CudaEvent &event) const {
    detail::check(THCudaStream_waitEvent(get(), event.get()), "waitEvent");
}

// ==================================================================================================================
//     Tensors
// ==================================================================================================================

class Tensor;
class SparseTensor;
class Index;
class Selection;
template <class T> class Elements;
class RowIterator;

struct JQ;
struct CrowColStartsOrder;
struct EV;
struct GradInputGradGrid;
struct GradInputGradWeight;
struct GradInputGradWeightGradBias;
struct GradQueryGradKeyGradValueGradMask;
struct GradXGradH0GradC0GradWeights;
struct GradXGradH0GradWeights;
struct HnCnReserve;
struct HnReserve;
struct LeastGreatest;
struct OutputHnCnReserve;
struct OutputHnReserve;
struct PLU;
struct RLogSumExp;
struct RMask;
struct RMeanInvstd;
struct RRcrowRcol;
struct RaRpiv;
struct RaRpivots;
struct RaRtau;
struct RbRa;
struct ReRv;
struct RqRr;
struct RuRsRv;
struct SignLogabsdet;
struct USV;
struct ValuesIndices;
struct ValuesInverseCounts;
struct XLu;
struct XRankS;

/// A tensor in a list in braces, without its own reference. `{}` means no tensor.
class Operand {
  public:
    constexpr Operand() noexcept = default;
    Operand(const Tensor &t) noexcept;
    /// The elements of `t(mask)`, a copy that the Selection owns.
    Operand(const Selection &&selection);

  private:
    THTensor *handle_ = nullptr;
};

/// A view of a list of tensors, valid during a call. Some functions accept undefined tensors in it.
class TensorList {
  public:
    constexpr TensorList() noexcept = default;
    TensorList(const Tensor *data, int count) noexcept : data_(data), count_(count) {}
    TensorList(std::initializer_list<Operand> list) noexcept : count_(static_cast<int>(list.size())) {
        if (count_) data_ = list.begin();
    }
    /// A container with contiguous tensors: a std::vector or a std::array.
    template <class List, class = std::enable_if_t<
                              std::is_convertible_v<decltype(std::declval<const List &>().data()), const Tensor *>>>
    TensorList(const List &list) noexcept : data_(list.data()), count_(static_cast<int>(list.size())) {}

    /// The contiguous handles, as C takes them: an Operand or a Tensor consists of one handle.
    THTensor *const *data() const noexcept { return static_cast<THTensor *const *>(data_); }
    int count() const noexcept { return count_; }

  private:
    const void *data_ = nullptr;
    int count_ = 0;
};

/// A result that `none` omits.
class Out {
  public:
    Out(Tensor &t) noexcept : t_(&t) {}
    Out(None) noexcept {}
    Tensor *get() const noexcept { return t_; }

  private:
    Tensor *t_ = nullptr;
};

namespace detail {

/// Marks the constructor of a fresh tensor, which gets its dtype and shape from the first write.
struct Fresh {};

/// A fresh tensor for the result of a call.
struct New {
    New();
    ~New() {
        if (handle) THTensor_free(handle);
    }
    New(const New &) = delete;
    New &operator=(const New &) = delete;
    /// The tensor, unless the call has failed.
    Tensor operator()(THStatus status, const char *name);
    THTensor *handle;
};

THTensor *result(Tensor &r);
THTensor *result(Out r);
void check(THStatus status, const char *name, Tensor &r);
template <class... R> void check_all(THStatus status, const char *name, R &...r);
Tensor made(THTensor *handle, const char *name);
std::vector<Tensor> fresh(int count);
template <class F> std::vector<Tensor> pieces(F call, const char *name);

/// True for a Tensor, and for a Selection.
template <class T> inline constexpr bool is_tensor = std::is_convertible_v<const T &, const Tensor &>;

/// The type of `x(index...)`: Selection if an index is a tensor, otherwise Tensor.
template <class... I> using Viewed = std::conditional_t<(is_tensor<I> || ...), Selection, Tensor>;

} // namespace detail

/// A strided view of a Storage. Copies refer to the same tensor.
class [[nodiscard]] Tensor : public detail::Counted<THTensor, THTensor_retain, THTensor_free> {
  public:
    /// Refers to nothing.
    Tensor() noexcept = default;
    Tensor(const Tensor &) noexcept = default;
    Tensor(Tensor &&) noexcept = default;
    /** @cond */
    explicit Tensor(detail::Fresh)
        : Counted(detail::must(THTensor_new(), static_cast<THTensor *>(nullptr), "Tensor")) {}
    /** @endcond */
    /// Takes over a reference.
    static Tensor take(THTensor *handle) noexcept { return Tensor(handle); }
    /// Adds a reference to a handle, whose owner keeps its own.
    static Tensor share(THTensor *handle) noexcept {
        THTensor_retain(handle);
        return Tensor(handle);
    }

    /// Makes this refer to another tensor.
    Tensor &operator=(const Tensor &) & noexcept = default;
    Tensor &operator=(Tensor &&) & noexcept = default;
    /// Writes to the elements of an unnamed view, with broadcasting: `t(0, th::all) = src`.
    Tensor &operator=(const Tensor &src) && { return copy_(src); }
    Tensor &operator=(double value) && { return fill_(value); }

    // ------------------------------------------------------------------------------------------ Shape and elements

    /// The number of dimensions; 0 for scalars and for tensors without elements.
    int dim() const noexcept { return handle_ ? handle_->nDimension : 0; }
    /// The sizes, valid until the shape changes.
    IntList sizes() const noexcept { return handle_ ? IntList(handle_->size, handle_->nDimension) : IntList(); }
    /// The strides in elements, valid until the shape changes.
    IntList strides() const noexcept { return handle_ ? IntList(handle_->stride, handle_->nDimension) : IntList(); }
    /// The element type; Dtype::Undefined before the first write.
    Dtype dtype() const noexcept { return handle_ ? static_cast<Dtype>(handle_->dtype) : Dtype::Undefined; }
    /// The storage that this is a view of.
    Storage storage() const { return Storage::share(detail::known(THTensor_storage(get()), !defined(), "storage")); }
    /// The address of the first element, of any type.
    void *data() const { return detail::known(THTensor_data(get()), !defined(), "data"); }

    /// The address of the first element of a tensor on the host with T's dtype. The others are `strides()` apart.
    template <class T> T *data() const;
    /// data by PyTorch's name.
    template <class T> T *dataPtr() const { return data<T>(); }
    /// All elements of a contiguous tensor on the host in row-major order, for `for` and for functions that take
    /// pointers: `for (float &x : t.elements<float>())`. `contiguous()` makes any tensor contiguous.
    template <class T> Elements<T> elements() const;
#ifdef __cpp_lib_span
    /// As `elements`, as a std::span. Exists from C++20 on.
    template <class T> std::span<T> span() const;
#endif
#ifdef __cpp_lib_mdspan
    /// The elements of a tensor with N dimensions on the host, with any strides: `t.mdspan<float, 2>()[i, j]`. Exists
    /// from C++23 on.
    template <class T, std::size_t N> std::mdspan<T, std::dextents<int64_t, N>, std::layout_stride> mdspan() const;
#endif
    /// The element at an index for each dimension, to read and to write: `t.at<float>(1, 2) = 3`. The dtype must be
    /// T's, and each index must be within its dimension. Negative indices count from the end.
    template <class T, class... I> T &at(I... index) const;
    /// The only element of a tensor of any shape: exact for integers, and true or false for Bool.
    template <class T> T item() const;
    /// The slices along the first dimension: `for (th::Tensor row : t)`. The tensor must outlive the loop.
    RowIterator begin() const;
    RowIterator end() const;

    // -------------------------------------------------------------------------------------------- Views by indices

    /// The view at `index` of the first dimension, which is removed.
    Tensor operator[](int64_t index) const { return select(0, index); }
    template <class N, class = std::enable_if_t<detail::is_no_position<N>>, class = void>
    Tensor operator[](N) const = delete;
    /// The view at these indices of the first dimensions: `t[{i, j}]`.
    Tensor operator[](IntList index) const;
    /// The elements where a mask is true, or the slices at a tensor of positions: as `t(index)`.
    template <class T, class = std::enable_if_t<detail::is_tensor<T>>> Selection operator[](const T &index) const;
    /// The view by an index for each of the first dimensions: a number, `slice(start, end, step)`, `all`, `newaxis` for
    /// a new dimension of size 1, `ellipsis` for all remaining dimensions: `t(0, th::slice(1, 3), th::newaxis)`. If an
    /// index is a mask or a tensor of positions, the elements are selected as by `index`: `t(mask) = 0` writes to them,
    /// and `th::Tensor u = t(mask)` copies them. Numbers and slices are applied first.
    template <class... I> detail::Viewed<I...> operator()(const I &...index) const;

    // ------------------------------------------------------------------------------------- Functions of the caller

    /// `t = f(t)` for each element in row-major order on the calling thread: `t.apply_([](double x) { return x * x;
    /// })`. An exception of `f` ends the call and is rethrown; the elements before stay changed.
    template <class F> Tensor &apply_(F &&f);
    /// `t = f(t, src)`; `src` broadcasts to the shape of `t`.
    template <class F> Tensor &map_(const Tensor &src, F &&f);
    /// `t = f(t, a, b)`; `a` and `b` broadcast to the shape of `t`.
    template <class F> Tensor &map2_(const Tensor &a, const Tensor &b, F &&f);

    // --------------------------------------------------------------------------------------------------- Gradients

    /// setRequiresGrad_ by PyTorch's name.
    Tensor &requiresGrad_(bool requiresGrad = true) { return setRequiresGrad_(requiresGrad); }
    /// The gradient, to which backward adds; undefined if there is none yet.
    Tensor grad() const;
    /// Makes backward call `f(gradient)` whenever it has computed the gradient of this tensor. A Tensor that `f`
    /// returns replaces the gradient. If `f` returns an undefined Tensor or nothing, the gradient stays. An exception
    /// of `f` ends backward and is rethrown. Returns the number for removeHook. The tensor owns `f`, so `f` must not
    /// own the tensor.
    template <class F> int64_t addHook(F f) const;
    /// addHook by PyTorch's name.
    template <class F> int64_t registerHook(F f) const { return addHook(std::move(f)); }
    /// Removes the hook with this number.
    void removeHook(int64_t id) const { detail::check(THTensor_removeHook(get(), id), "removeHook"); }

    // ---------------------------------------------------------------------------------------------- Sparse tensors

    /// The nonzero entries, with positions in the first `sparseDim` dimensions, by default in all.
    SparseTensor toSparse(int sparseDim = -1) const;
    /// The elements at the positions of `mask`. The values of `mask` are ignored.
    SparseTensor sparseMask(const SparseTensor &mask) const;

    // --------------------------------------------------------------------------------------------------- Operators

    Tensor operator-() const { return neg(); }
    Tensor operator~() const { return bitwiseNot(); }
    Tensor operator!() const { return logicalNot(); }
    Tensor &operator+=(const Tensor &b) { return add_(b); }
    Tensor &operator+=(double b) { return add_(b); }
    Tensor &operator-=(const Tensor &b) { return sub_(b); }
    Tensor &operator-=(double b) { return sub_(b); }
    Tensor &operator*=(const Tensor &b) { return mul_(b); }
    Tensor &operator*=(double b) { return mul_(b); }
    Tensor &operator/=(const Tensor &b) { return div_(b); }
    Tensor &operator/=(double b) { return div_(b); }
    Tensor &operator%=(const Tensor &b) { return remainder_(b); }
    Tensor &operator%=(double b) { return remainder_(b); }
    Tensor &operator&=(const Tensor &b) { return bitAnd_(b); }
    Tensor &operator&=(double b) { return bitAnd_(b); }
    Tensor &operator|=(const Tensor &b) { return bitOr_(b); }
    Tensor &operator|=(double b) { return bitOr_(b); }
    Tensor &operator^=(const Tensor &b) { return bitxor_(b); }
    Tensor &operator^=(double b) { return bitxor_(b); }

    // ----------------------------------------------------------------------------------------- Handles and references

    /// Makes `t` a fresh handle again, as returned by `THTensor_new`: `t` gives up its storage, its sizes and its
    /// dtype.
    Tensor &reset_() { return changed(THTensor_reset(handle_), "reset_"); }
    /// A second handle on the elements of `t`.
    Tensor withTensor() const { return detail::made(THTensor_newWithTensor(handle_), "withTensor"); }
    /// The current number of references.
    int refcount() const {
        THClearLastError();
        const int r = THTensor_refcount(handle_);
        return detail::known(r, !r, "refcount");
    }
    /// Sets the `TH_TENSOR_*` bits of `flag`.
    Tensor &setFlag_(char flag) { return changed(THTensor_setFlag(handle_, flag), "setFlag_"); }
    /// Clears the `TH_TENSOR_*` bits of `flag`.
    Tensor &clearFlag_(char flag) { return changed(THTensor_clearFlag(handle_, flag), "clearFlag_"); }

    // ------------------------------------------------------------------------------------------------- Making tensors

    /// A tensor of the dtype and shape of `t` with undefined elements.
    Tensor emptyLike() const { return detail::made(THTensor_newEmptyLike(handle_), "emptyLike"); }
    /// A tensor as by `THTensor_newEmptyLike` whose elements are all `value`.
    Tensor fullLike(double value) const { return detail::made(THTensor_newFullLike(handle_, value), "fullLike"); }
    /// A tensor of zeros as by `THTensor_newEmptyLike`.
    Tensor zerosLike() const { return detail::made(THTensor_newZerosLike(handle_), "zerosLike"); }
    /// A tensor of ones as by `THTensor_newEmptyLike`.
    Tensor onesLike() const { return detail::made(THTensor_newOnesLike(handle_), "onesLike"); }

    // --------------------------------------------------------------------------------------------- Looking at tensors

    /// The position of the first element in the storage.
    ptrdiff_t storageOffset() const {
        return detail::must(THTensor_storageOffset(handle_), static_cast<ptrdiff_t>(-1), "storageOffset");
    }
    /// The size of dimension `dim`.
    int64_t size(int dim) const { return detail::must(THTensor_size(handle_, dim), static_cast<int64_t>(-1), "size"); }
    /// The stride of dimension `dim`, in elements.
    int64_t stride(int dim) const {
        return detail::must(THTensor_stride(handle_, dim), static_cast<int64_t>(-1), "stride");
    }
    /// The sizes as an int64 storage.
    Storage sizeOf() const {
        return Storage::take(detail::must(THTensor_newSizeOf(handle_), static_cast<THStorage *>(nullptr), "sizeOf"));
    }
    /// The strides as an int64 storage.
    Storage strideOf() const {
        return Storage::take(detail::must(THTensor_newStrideOf(handle_), static_cast<THStorage *>(nullptr),
            "strideOf"));
    }
    /// The number of elements.
    ptrdiff_t nElement() const {
        return detail::must(THTensor_nElement(handle_), static_cast<ptrdiff_t>(-1), "nElement");
    }
    /// The PyTorch name of `THTensor_nElement`.
    ptrdiff_t numel() const { return detail::must(THTensor_numel(handle_), static_cast<ptrdiff_t>(-1), "numel"); }
    /// The number of bytes of an element; 0 before the first write.
    size_t elementSize() const {
        THClearLastError();
        const size_t r = THTensor_elementSize(handle_);
        return detail::known(r, !r, "elementSize");
    }
    /// `TH_CPU` or `TH_CUDA`.
    DeviceType deviceType() const {
        THClearLastError();
        const THDeviceType r = THTensor_deviceType(handle_);
        return detail::known(static_cast<DeviceType>(r), !r, "deviceType");
    }
    /// The index of the GPU that holds the tensor.
    int64_t getDevice() const {
        THClearLastError();
        const int64_t r = THTensor_getDevice(handle_);
        return detail::known(r, r == -1, "getDevice");
    }
    /// True if the elements are stored in row-major order without gaps.
    bool isContiguous() const {
        THClearLastError();
        const int r = THTensor_isContiguous(handle_);
        return detail::known(r != 0, !r, "isContiguous");
    }
    /// True if the elements are stored in the memory format `format`.
    bool isContiguousFormat(MemoryFormat format = MemoryFormat::ContiguousFormat) const {
        THClearLastError();
        const int r = THTensor_isContiguousFormat(handle_, static_cast<THMemoryFormat>(format));
        return detail::known(r != 0, !r, "isContiguousFormat");
    }
    bool isContiguous(MemoryFormat format) const {
        THClearLastError();
        const int r = THTensor_isContiguousFormat(handle_, static_cast<THMemoryFormat>(format));
        return detail::known(r != 0, !r, "isContiguous");
    }
    /// True if both tensors have the same sizes.
    bool isSameSizeAs(const Tensor &src) const {
        THClearLastError();
        const int r = THTensor_isSameSizeAs(handle_, src.get());
        return detail::known(r != 0, !r, "isSameSizeAs");
    }
    /// isSameSizeAs by PyTorch's name.
    bool isSameSize(const Tensor &src) const {
        THClearLastError();
        const int r = THTensor_isSameSizeAs(handle_, src.get());
        return detail::known(r != 0, !r, "isSameSize");
    }
    /// True if both tensors have the same storage, offset, sizes and strides.
    bool isSetTo(const Tensor &src) const {
        THClearLastError();
        const int r = THTensor_isSetTo(handle_, src.get());
        return detail::known(r != 0, !r, "isSetTo");
    }
    /// True if the tensor has these sizes.
    bool isSize(IntList size) const {
        THClearLastError();
        const int r = THTensor_isSize(handle_, size.count(), size.data());
        return detail::known(r != 0, !r, "isSize");
    }

    // ------------------------------------------------------------------------------------------------ Single elements

    /// The element at `index`, which has one entry for each dimension; negative entries count from the end.
    double getAt(IntList index) const {
        THClearLastError();
        const double r = THTensor_getAt(handle_, index.count(), index.data());
        return detail::known(r, r != r, "getAt");
    }
    /// The element at `index` as an integer, exact for int64; floats are truncated.
    int64_t getAtLong(IntList index) const {
        THClearLastError();
        const int64_t r = THTensor_getAtLong(handle_, index.count(), index.data());
        return detail::known(r, r == -1, "getAtLong");
    }
    /// `t[index] = value`; `index` has one entry for each dimension, and negative entries count from the end.
    Tensor &setAt_(IntList index, double value) {
        return changed(THTensor_setAt(handle_, index.count(), index.data(), value), "setAt_");
    }
    /// `t[index] = value` for an int64, which a double may be unable to hold.
    Tensor &setAtLong_(IntList index, int64_t value) {
        return changed(THTensor_setAtLong(handle_, index.count(), index.data(), value), "setAtLong_");
    }
    /// The only element of a tensor of any shape.
    double item() const {
        THClearLastError();
        const double r = THTensor_item(handle_);
        return detail::known(r, r != r, "item");
    }
    /// The only element as an integer, exact for int64; floats are truncated.
    int64_t itemLong() const {
        THClearLastError();
        const int64_t r = THTensor_itemLong(handle_);
        return detail::known(r, r == -1, "itemLong");
    }
    /// `r = value` for every element.
    Tensor &fill_(double value) { return changed(THTensor_fill(handle_, value), "fill_"); }
    /// `r = value` for every element, where `value` is an int64 that a double may be unable to hold.
    Tensor &fillLong_(int64_t value) { return changed(THTensor_fillLong(handle_, value), "fillLong_"); }
    /// `r = 0` for every element.
    Tensor &zero_() { return changed(THTensor_zero(handle_), "zero_"); }

    // ----------------------------------------------------------------------------------------- Copies and conversions

    /// A copy of `t` in new memory.
    Tensor clone() const { return detail::made(THTensor_newClone(handle_), "clone"); }
    /// A copy of `t` in new memory, in the memory format `format`.
    Tensor cloneFormat(MemoryFormat format = MemoryFormat::ContiguousFormat) const {
        return detail::made(THTensor_newCloneFormat(handle_, static_cast<THMemoryFormat>(format)), "cloneFormat");
    }
    Tensor clone(MemoryFormat format) const {
        return detail::made(THTensor_newCloneFormat(handle_, static_cast<THMemoryFormat>(format)), "clone");
    }
    /// `t` itself if it is contiguous, else a row-major copy.
    Tensor contiguous() const { return detail::made(THTensor_newContiguous(handle_), "contiguous"); }
    /// `t` itself if it is stored in `format`, else a copy in this format.
    Tensor contiguousFormat(MemoryFormat format = MemoryFormat::ContiguousFormat) const {
        return detail::made(THTensor_newContiguousFormat(handle_, static_cast<THMemoryFormat>(format)),
            "contiguousFormat");
    }
    Tensor contiguous(MemoryFormat format) const {
        return detail::made(THTensor_newContiguousFormat(handle_, static_cast<THMemoryFormat>(format)), "contiguous");
    }
    /// `t` itself if it has this dtype, else a converted copy.
    Tensor to(Dtype dtype) const { return detail::made(THTensor_newTo(handle_, static_cast<THDtype>(dtype)), "to"); }
    /// `r = t`, converted to the dtype of `r` and broadcast to its shape; any layouts, overlapping or not.
    Tensor &copy_(const Tensor &t) { return changed(THTensor_copy(handle_, t.get()), "copy_"); }

    // ---------------------------------------------------------------------------------------------------------- Views

    Tensor &narrow_(int dimension, int64_t firstIndex, int64_t size) {
        return changed(THTensor_narrow(handle_, handle_, dimension, firstIndex, size), "narrow_");
    }
    /// Entries `firstIndex` to `firstIndex + size - 1` of dimension `dimension`; a negative `firstIndex` counts from
    /// the end.
    Tensor narrow(int dimension, int64_t firstIndex, int64_t size) const {
        return detail::made(THTensor_newNarrow(handle_, dimension, firstIndex, size), "narrow");
    }
    Tensor &select_(int dimension, int64_t sliceIndex) {
        return changed(THTensor_select(handle_, handle_, dimension, sliceIndex), "select_");
    }
    /// Entry `sliceIndex` of dimension `dimension`, which is removed; for a vector the view is a scalar.
    Tensor select(int dimension, int64_t sliceIndex) const {
        return detail::made(THTensor_newSelect(handle_, dimension, sliceIndex), "select");
    }
    Tensor &slice_(int dimension, int64_t start, int64_t end, int64_t step) {
        return changed(THTensor_slice(handle_, handle_, dimension, start, end, step), "slice_");
    }
    /// Entries `start`, `start + step`, ...
    Tensor slice(int dimension, int64_t start, int64_t end, int64_t step) const {
        return detail::made(THTensor_newSlice(handle_, dimension, start, end, step), "slice");
    }
    Tensor &transpose_(int dimension1, int dimension2) {
        return changed(THTensor_transpose(handle_, handle_, dimension1, dimension2), "transpose_");
    }
    Tensor &swapaxes_(int dimension1, int dimension2) {
        return changed(THTensor_transpose(handle_, handle_, dimension1, dimension2), "swapaxes_");
    }
    Tensor &swapdims_(int dimension1, int dimension2) {
        return changed(THTensor_transpose(handle_, handle_, dimension1, dimension2), "swapdims_");
    }
    /// The tensor with dimensions `dimension1` and `dimension2` swapped.
    Tensor transpose(int dimension1, int dimension2) const {
        return detail::made(THTensor_newTranspose(handle_, dimension1, dimension2), "transpose");
    }
    /// transpose by PyTorch's name.
    Tensor swapaxes(int dimension1, int dimension2) const {
        return detail::made(THTensor_newTranspose(handle_, dimension1, dimension2), "swapaxes");
    }
    /// transpose by PyTorch's name.
    Tensor swapdims(int dimension1, int dimension2) const {
        return detail::made(THTensor_newTranspose(handle_, dimension1, dimension2), "swapdims");
    }
    Tensor &t_() { return changed(THTensor_t(handle_, handle_), "t_"); }
    /// The matrix transposed; vectors and scalars are unchanged.
    Tensor t() const { return detail::made(THTensor_newT(handle_), "t"); }
    Tensor &permute_(IntList dims) {
        return changed(THTensor_permute(handle_, handle_, dims.count(), dims.data()), "permute_");
    }
    /// The tensor with permuted dimensions: dimension `d` of the view is dimension `dims[d]` of the source.
    Tensor permute(IntList dims) const {
        return detail::made(THTensor_newPermute(handle_, dims.count(), dims.data()), "permute");
    }
    Tensor &diagonal_(int64_t offset = 0, int dim1 = 0, int dim2 = 1) {
        return changed(THTensor_diagonal(handle_, handle_, offset, dim1, dim2), "diagonal_");
    }
    /// Elements `[i, i + offset]` of dimensions `dim1` and `dim2`, which are removed; the diagonal becomes the last
    /// dimension.
    Tensor diagonal(int64_t offset = 0, int dim1 = 0, int dim2 = 1) const {
        return detail::made(THTensor_newDiagonal(handle_, offset, dim1, dim2), "diagonal");
    }
    Tensor &unfold_(int dimension, int64_t size, int64_t step) {
        return changed(THTensor_unfold(handle_, handle_, dimension, size, step), "unfold_");
    }
    /// All windows of `size` entries in dimension `dimension`, `step` entries apart; the elements of a window become a
    /// new last dimension.
    Tensor unfold(int dimension, int64_t size, int64_t step) const {
        return detail::made(THTensor_newUnfold(handle_, dimension, size, step), "unfold");
    }
    Tensor &squeeze_() { return changed(THTensor_squeeze(handle_, handle_), "squeeze_"); }
    /// The tensor without its dimensions of size 1.
    Tensor squeeze() const { return detail::made(THTensor_newSqueeze(handle_), "squeeze"); }
    Tensor &squeeze1d_(int dimension) { return changed(THTensor_squeeze1d(handle_, handle_, dimension), "squeeze1d_"); }
    Tensor &squeeze_(int dimension) { return changed(THTensor_squeeze1d(handle_, handle_, dimension), "squeeze_"); }
    /// The tensor without dimension `dimension`, if this dimension has size 1.
    Tensor squeeze1d(int dimension) const {
        return detail::made(THTensor_newSqueeze1d(handle_, dimension), "squeeze1d");
    }
    Tensor squeeze(int dimension) const { return detail::made(THTensor_newSqueeze1d(handle_, dimension), "squeeze"); }
    Tensor &unsqueeze1d_(int dimension) {
        return changed(THTensor_unsqueeze1d(handle_, handle_, dimension), "unsqueeze1d_");
    }
    Tensor &unsqueeze_(int dimension) {
        return changed(THTensor_unsqueeze1d(handle_, handle_, dimension), "unsqueeze_");
    }
    /// The tensor with a new dimension of size 1 at `dimension`; -1 appends the dimension.
    Tensor unsqueeze1d(int dimension) const {
        return detail::made(THTensor_newUnsqueeze1d(handle_, dimension), "unsqueeze1d");
    }
    Tensor unsqueeze(int dimension) const {
        return detail::made(THTensor_newUnsqueeze1d(handle_, dimension), "unsqueeze");
    }
    Tensor &view_(IntList size) { return changed(THTensor_view(handle_, handle_, size.count(), size.data()), "view_"); }
    /// The same elements in these sizes, of which one may be -1; it is an error if the strides would need a copy.
    Tensor view(IntList size) const {
        return detail::made(THTensor_newView(handle_, size.count(), size.data()), "view");
    }
    Tensor &expand_(IntList size) {
        return changed(THTensor_expand(handle_, handle_, size.count(), size.data()), "expand_");
    }
    /// The tensor with dimensions of size 1 repeated to these sizes at stride 0; -1 keeps a size, and new dimensions
    /// come first.
    Tensor expand(IntList size) const {
        return detail::made(THTensor_newExpand(handle_, size.count(), size.data()), "expand");
    }
    Tensor &viewAs_(const Tensor &other) { return changed(THTensor_viewAs(handle_, handle_, other.get()), "viewAs_"); }
    /// The tensor viewed in the sizes of `other`.
    Tensor viewAs(const Tensor &other) const {
        return detail::made(THTensor_newViewAs(handle_, other.get()), "viewAs");
    }
    Tensor &expandAs_(const Tensor &other) {
        return changed(THTensor_expandAs(handle_, handle_, other.get()), "expandAs_");
    }
    /// The tensor expanded to the sizes of `other`.
    Tensor expandAs(const Tensor &other) const {
        return detail::made(THTensor_newExpandAs(handle_, other.get()), "expandAs");
    }
    /// The same bytes as elements of another dtype of the same size.
    Tensor viewDtype(Dtype dtype) const {
        return detail::made(THTensor_newViewDtype(handle_, static_cast<THDtype>(dtype)), "viewDtype");
    }
    /// The elements of the storage of `t` with these sizes and strides, from position `storageOffset` of the storage.
    Tensor asStrided(IntList size, IntList stride, ptrdiff_t storageOffset) const {
        return detail::made(THTensor_newAsStrided(handle_, detail::common("asStrided", {size, stride}), size.data(),
            stride.data(), storageOffset), "asStrided");
    }
    /// The elements of `t` in these sizes, of which one may be -1: a view if the strides allow it, else a copy.
    Tensor reshape(IntList size) const {
        return detail::made(THTensor_newReshape(handle_, size.count(), size.data()), "reshape");
    }
    /// The tensor with dimensions `start` to `end` inclusive merged into one: a view if the strides allow it, else a
    /// copy.
    Tensor flatten(int start = 0, int end = -1) const {
        return detail::made(THTensor_newFlatten(handle_, start, end), "flatten");
    }
    /// Stores in `r` views of `size` entries along `dimension`; the last view may be smaller.
    std::vector<Tensor> split(int64_t size, int dimension = 0) const {
        return detail::pieces([&](THTensor **pieces, int *count) { return THTensor_split(pieces, count, handle_, size,
            dimension); }, "split");
    }
    /// Stores in `r` at most `chunks` views of equal size along `dimension`; the last view may be smaller.
    std::vector<Tensor> chunk(int64_t chunks, int dimension = 0) const {
        return detail::pieces([&](THTensor **pieces, int *count) { return THTensor_chunk(pieces, count, handle_, chunks,
            dimension); }, "chunk");
    }
    /// Stores in `r` a view of each entry along `dimension`, which is removed.
    std::vector<Tensor> unbind(int dimension = 0) const {
        return detail::pieces([&](THTensor **pieces, int *count) { return THTensor_unbind(pieces, count, handle_,
            dimension); }, "unbind");
    }

    // ---------------------------------------------------------------------------------------- Shapes changed in place

    /// Makes `t` a second handle on the elements of `src`.
    Tensor &set_(const Tensor &src) { return changed(THTensor_set(handle_, src.get()), "set_"); }
    /// Makes `t` a tensor over `storage`, which grows if it is too small and can be resized; a NULL `stride` means
    /// row-major.
    Tensor &setStorage_(const Storage &storage, ptrdiff_t storageOffset, IntList size, IntList stride = {}) {
        return changed(THTensor_setStorage(handle_, storage.get(), storageOffset, detail::common("setStorage_", {size,
            stride}), size.data(), stride.data()), "setStorage_");
    }
    /// Changes the sizes of `t`.
    Tensor &resize_(IntList size, IntList stride = {}) {
        return changed(THTensor_resize(handle_, detail::common("resize_", {size, stride}), size.data(), stride.data()),
            "resize_");
    }
    /// `THTensor_resize` to the sizes of `src`.
    Tensor &resizeAs_(const Tensor &src) { return changed(THTensor_resizeAs(handle_, src.get()), "resizeAs_"); }

    // -------------------------------------------------------------------------------------------------------- Devices

    /// Returns the elements of `t` on a device, as `dtype`, or in their own dtype with `TH_UNDEFINED`.
    Tensor toDevice(DeviceType deviceType, int deviceIndex = 0, Dtype dtype = Dtype::Undefined,
        bool nonBlocking = false, bool copy = false) const {
        return detail::made(THTensor_newToDevice(handle_, static_cast<THDeviceType>(deviceType), deviceIndex,
            static_cast<THDtype>(dtype), nonBlocking, copy), "toDevice");
    }
    /// Returns `t` itself if it is stored on the GPU with this number, else a row-major copy there.
    Tensor cuda(int deviceIndex = 0) const { return detail::made(THTensor_newCuda(handle_, deviceIndex), "cuda"); }
    /// Returns `t` itself if it is stored on the host, else a row-major copy there.
    Tensor cpu() const { return detail::made(THTensor_newCpu(handle_), "cpu"); }
    /// Returns True if the elements are in the memory of a GPU.
    bool isCuda() const {
        THClearLastError();
        const int r = THTensor_isCuda(handle_);
        return detail::known(r != 0, !r, "isCuda");
    }
    /// `r = src` as by `THTensor_copy`, but the GPU may make the copy after the call has returned.
    Tensor &copyAsync_(const Tensor &src) { return changed(THTensor_copyAsync(handle_, src.get()), "copyAsync_"); }
    /// Returns a row-major copy of `t` in pinned memory of the host.
    Tensor pinned() const { return detail::made(THTensor_newPinned(handle_), "pinned"); }
    /// pinned by PyTorch's name.
    Tensor pinMemory() const { return detail::made(THTensor_newPinned(handle_), "pinMemory"); }
    /// Returns True if the elements are in pinned memory of the host.
    bool isPinned() const {
        THClearLastError();
        const int r = THTensor_isPinned(handle_);
        return detail::known(r != 0, !r, "isPinned");
    }
    /// Declares that work of `stream` uses a tensor made by another stream.
    void recordStream(const CudaStream &stream) const {
        detail::check(THTensor_recordStream(handle_, stream.get()), "recordStream");
    }

    // ---------------------------------------------------------------------------------------- Joining and rearranging

    /// `r` = `a` followed by `b` along dimension `dimension`, the only dimension in which their sizes may differ.
    Tensor cat(const Tensor &b, int dimension = 0) const {
        detail::New r;
        return r(THTensor_cat(r.handle, handle_, b.get(), dimension), "cat");
    }
    /// cat by PyTorch's name.
    Tensor concat(const Tensor &b, int dimension = 0) const {
        detail::New r;
        return r(THTensor_cat(r.handle, handle_, b.get(), dimension), "concat");
    }
    /// cat by PyTorch's name.
    Tensor concatenate(const Tensor &b, int dimension = 0) const {
        detail::New r;
        return r(THTensor_cat(r.handle, handle_, b.get(), dimension), "concatenate");
    }
    /// Stores views of `ndim` pieces of `t` along `dimension`, with `sizes` entries each.
    std::vector<Tensor> splitSizes(IntList sizes, int dimension = 0) const {
        return detail::pieces([&](THTensor **pieces, int *count) { return THTensor_splitSizes(pieces, count, handle_,
            sizes.count(), sizes.data(), dimension); }, "splitSizes");
    }
    std::vector<Tensor> split(IntList sizes, int dimension = 0) const {
        return detail::pieces([&](THTensor **pieces, int *count) { return THTensor_splitSizes(pieces, count, handle_,
            sizes.count(), sizes.data(), dimension); }, "split");
    }
    std::vector<Tensor> split(std::initializer_list<int64_t> sizes, int dimension = 0) const {
        return split(IntList(sizes), dimension);
    }
    /// Stores views of `sections` pieces of `t` along `dimension`; if the size is not divisible, the first pieces have
    /// one entry more.
    std::vector<Tensor> tensorSplit(int64_t sections, int dimension = 0) const {
        return detail::pieces([&](THTensor **pieces, int *count) { return THTensor_tensorSplit(pieces, count, handle_,
            sections, dimension); }, "tensorSplit");
    }
    /// Stores views of the pieces of `t` along `dimension` that end before each of the `ndim` entries `indices`, and of
    /// the rest; bounds are as in slice.
    std::vector<Tensor> tensorSplitIndices(IntList indices, int dimension = 0) const {
        return detail::pieces([&](THTensor **pieces, int *count) { return THTensor_tensorSplitIndices(pieces, count,
            handle_, indices.count(), indices.data(), dimension); }, "tensorSplitIndices");
    }
    std::vector<Tensor> tensorSplit(IntList indices, int dimension = 0) const {
        return detail::pieces([&](THTensor **pieces, int *count) { return THTensor_tensorSplitIndices(pieces, count,
            handle_, indices.count(), indices.data(), dimension); }, "tensorSplit");
    }
    std::vector<Tensor> tensorSplit(std::initializer_list<int64_t> indices, int dimension = 0) const {
        return tensorSplit(IntList(indices), dimension);
    }
    /// `r` = `t` with the entries of the `count` dimensions `dims` in reverse order.
    Tensor flip(IntList dims) const {
        detail::New r;
        return r(THTensor_flip(r.handle, handle_, dims.count(), dims.data()), "flip");
    }
    /// `r` = `t` with the entries of dimension `dims[k]` shifted by `shifts[k]`; entries shifted past one end reappear
    /// at the other.
    Tensor roll(IntList shifts, IntList dims = {}) const {
        detail::New r;
        return r(THTensor_roll(r.handle, handle_, detail::common("roll", {shifts, dims}), shifts.data(), dims.data()),
            "roll");
    }
    /// `r` = `t` rotated by `k` right angles in the plane of two dimensions, from `dimension1` towards `dimension2`.
    Tensor rot90(int64_t k = 1, int dimension1 = 0, int dimension2 = 1) const {
        detail::New r;
        return r(THTensor_rot90(r.handle, handle_, k, dimension1, dimension2), "rot90");
    }
    /// `r` = `t` repeated `sizes[d]` times along each of `ndim` dimensions.
    Tensor repeat(IntList sizes) const {
        detail::New r;
        return r(THTensor_repeat(r.handle, handle_, sizes.count(), sizes.data()), "repeat");
    }
    /// `THTensor_repeat` by Torch's name.
    Tensor repeatTensor(IntList sizes) const {
        detail::New r;
        return r(THTensor_repeatTensor(r.handle, handle_, sizes.count(), sizes.data()), "repeatTensor");
    }
    /// repeat where missing counts in front are 1.
    Tensor tile(IntList sizes) const {
        detail::New r;
        return r(THTensor_tile(r.handle, handle_, sizes.count(), sizes.data()), "tile");
    }
    /// `r` = `t` with each entry along `dimension` repeated: `repeats`, int64 or int32, is a vector with a count for
    /// each entry, or one count for all.
    Tensor repeatInterleave(const Tensor &repeats, int dimension = everyDim) const {
        detail::New r;
        return r(THTensor_repeatInterleave(r.handle, handle_, repeats.get(), dimension), "repeatInterleave");
    }
    /// repeatInterleave with the same count for each entry.
    Tensor repeatInterleaveValue(int64_t repeats, int dimension = everyDim) const {
        detail::New r;
        return r(THTensor_repeatInterleaveValue(r.handle, handle_, repeats, dimension), "repeatInterleaveValue");
    }
    Tensor repeatInterleave(int64_t repeats, int dimension = everyDim) const {
        detail::New r;
        return r(THTensor_repeatInterleaveValue(r.handle, handle_, repeats, dimension), "repeatInterleave");
    }
    /// `r` = `t` extended by `pads[0]` entries before and `pads[1]` entries after the last dimension, by `pads[2]` and
    /// `pads[3]` in the dimension before it, and so on.
    Tensor pad(IntList pads, PadMode mode = PadMode::Constant, double value = 0) const {
        detail::New r;
        return r(THTensor_pad(r.handle, handle_, pads.count(), pads.data(), static_cast<THPadMode>(mode), value),
            "pad");
    }
    /// The inverse of unfold: `r` = the sum of the windows in the last dimension of `t`, placed `step` apart along
    /// `dimension`.
    Tensor fold(int dimension, int64_t step) const {
        detail::New r;
        return r(THTensor_fold(r.handle, handle_, dimension, step), "fold");
    }
    /// `r[i] = t[i + 1] - t[i]` along `dimension`, applied `n` times; for Bool, whether the two elements differ.
    Tensor diff(int64_t n = 1, int dimension = -1) const {
        detail::New r;
        return r(THTensor_diff(r.handle, handle_, n, dimension), "diff");
    }
    /// Stores the indices in each of the `ndim` dimensions of `shape` of the elements at the positions in `index`,
    /// counted in row-major order.
    std::vector<Tensor> unravelIndex(IntList shape) const {
        return detail::pieces([&](THTensor **pieces, int *count) { return THTensor_unravelIndex(pieces, count, handle_,
            shape.count(), shape.data()); }, "unravelIndex");
    }

    // ---------------------------------------------------------------------------------------------- Elements by index

    /// `r` = the entries `index` of dimension `dimension` of `t`, in the order of `index`, which may repeat entries.
    Tensor indexSelect(int dimension, const Tensor &index) const {
        detail::New r;
        return r(THTensor_indexSelect(r.handle, handle_, dimension, index.get()), "indexSelect");
    }
    /// `r[i, j] = t[index[i, j], j]` for dimension 0, and likewise for other dimensions.
    Tensor gather(int dimension, const Tensor &index) const {
        detail::New r;
        return r(THTensor_gather(r.handle, handle_, dimension, index.get()), "gather");
    }
    /// gather with operands that broadcast in all dimensions except `dimension`.
    Tensor takeAlongDim(const Tensor &index, int dimension = everyDim) const {
        detail::New r;
        return r(THTensor_takeAlongDim(r.handle, handle_, index.get(), dimension), "takeAlongDim");
    }
    /// `r` = the elements of `t` at the positions in `index`, counted in row-major order.
    Tensor take(const Tensor &index) const {
        detail::New r;
        return r(THTensor_take(r.handle, handle_, index.get()), "take");
    }
    /// Returns `t[indices]`, as index does.
    Tensor index(TensorList indices) const {
        return detail::made(THTensor_newIndex(handle_, indices.data(), indices.count()), "index");
    }
    /// `t[indices] = values`, or `t[indices] += values` if `accumulate` is not 0.
    Tensor &indexPut_(TensorList indices, const Tensor &values, bool accumulate = false) {
        return changed(THTensor_indexPut(handle_, indices.data(), indices.count(), values.get(), accumulate),
            "indexPut_");
    }
    Tensor indexPut(TensorList indices, const Tensor &values, bool accumulate = false) const {
        Tensor r = detail::made(THTensor_newClone(handle_), "indexPut");
        detail::check(THTensor_indexPut(r.get(), indices.data(), indices.count(), values.get(), accumulate), "indexPut",
            r);
        return r;
    }
    /// Entries `index` of dimension `dimension` of `t` = the entries of `src`.
    Tensor &indexCopy_(int dimension, const Tensor &index, const Tensor &src) {
        return changed(THTensor_indexCopy(handle_, dimension, index.get(), src.get()), "indexCopy_");
    }
    Tensor indexCopy(int dimension, const Tensor &index, const Tensor &src) const {
        Tensor r = detail::made(THTensor_newClone(handle_), "indexCopy");
        detail::check(THTensor_indexCopy(r.get(), dimension, index.get(), src.get()), "indexCopy", r);
        return r;
    }
    /// Entries `index` of dimension `dimension` of `t` += the entries of `src`, one after the other; shapes are as for
    /// indexCopy.
    Tensor &indexAdd_(int dimension, const Tensor &index, const Tensor &src) {
        return changed(THTensor_indexAdd(handle_, dimension, index.get(), src.get()), "indexAdd_");
    }
    Tensor indexAdd(int dimension, const Tensor &index, const Tensor &src) const {
        Tensor r = detail::made(THTensor_newClone(handle_), "indexAdd");
        detail::check(THTensor_indexAdd(r.get(), dimension, index.get(), src.get()), "indexAdd", r);
        return r;
    }
    /// indexAdd of `scale * src`.
    Tensor &indexAddScale_(int dimension, const Tensor &index, double scale, const Tensor &src) {
        return changed(THTensor_indexAddScale(handle_, dimension, index.get(), scale, src.get()), "indexAddScale_");
    }
    Tensor indexAddScale(int dimension, const Tensor &index, double scale, const Tensor &src) const {
        Tensor r = detail::made(THTensor_newClone(handle_), "indexAddScale");
        detail::check(THTensor_indexAddScale(r.get(), dimension, index.get(), scale, src.get()), "indexAddScale", r);
        return r;
    }
    /// indexAdd of `scale * src`.
    Tensor &indexAddScale_(int dimension, const Tensor &index, const Tensor &src) {
        return changed(THTensor_indexAddScale(handle_, dimension, index.get(), 1, src.get()), "indexAddScale_");
    }
    Tensor indexAddScale(int dimension, const Tensor &index, const Tensor &src) const {
        Tensor r = detail::made(THTensor_newClone(handle_), "indexAddScale");
        detail::check(THTensor_indexAddScale(r.get(), dimension, index.get(), 1, src.get()), "indexAddScale", r);
        return r;
    }
    Tensor &indexAdd_(int dimension, const Tensor &index, double scale, const Tensor &src) {
        return changed(THTensor_indexAddScale(handle_, dimension, index.get(), scale, src.get()), "indexAdd_");
    }
    Tensor indexAdd(int dimension, const Tensor &index, double scale, const Tensor &src) const {
        Tensor r = detail::made(THTensor_newClone(handle_), "indexAdd");
        detail::check(THTensor_indexAddScale(r.get(), dimension, index.get(), scale, src.get()), "indexAdd", r);
        return r;
    }
    /// Entries `index` of dimension `dimension` of `t` = `value`, which has the range that fill accepts.
    Tensor &indexFill_(int dimension, const Tensor &index, double value) {
        return changed(THTensor_indexFill(handle_, dimension, index.get(), value), "indexFill_");
    }
    Tensor indexFill(int dimension, const Tensor &index, double value) const {
        Tensor r = detail::made(THTensor_newClone(handle_), "indexFill");
        detail::check(THTensor_indexFill(r.get(), dimension, index.get(), value), "indexFill", r);
        return r;
    }
    /// `t[index[i, j], j] = src[i, j]` for dimension 0, and likewise for other dimensions: the inverse of gather.
    Tensor &scatter_(int dimension, const Tensor &index, const Tensor &src) {
        return changed(THTensor_scatter(handle_, dimension, index.get(), src.get()), "scatter_");
    }
    Tensor scatter(int dimension, const Tensor &index, const Tensor &src) const {
        Tensor r = detail::made(THTensor_newClone(handle_), "scatter");
        detail::check(THTensor_scatter(r.get(), dimension, index.get(), src.get()), "scatter", r);
        return r;
    }
    /// scatter of the number `value` instead of elements.
    Tensor &scatterFill_(int dimension, const Tensor &index, double value) {
        return changed(THTensor_scatterFill(handle_, dimension, index.get(), value), "scatterFill_");
    }
    Tensor scatterFill(int dimension, const Tensor &index, double value) const {
        Tensor r = detail::made(THTensor_newClone(handle_), "scatterFill");
        detail::check(THTensor_scatterFill(r.get(), dimension, index.get(), value), "scatterFill", r);
        return r;
    }
    Tensor &scatter_(int dimension, const Tensor &index, double value) {
        return changed(THTensor_scatterFill(handle_, dimension, index.get(), value), "scatter_");
    }
    Tensor scatter(int dimension, const Tensor &index, double value) const {
        Tensor r = detail::made(THTensor_newClone(handle_), "scatter");
        detail::check(THTensor_scatterFill(r.get(), dimension, index.get(), value), "scatter", r);
        return r;
    }
    /// scatter that adds, `+=` instead of `=`, in row-major order, with rounding as in indexAdd.
    Tensor &scatterAdd_(int dimension, const Tensor &index, const Tensor &src) {
        return changed(THTensor_scatterAdd(handle_, dimension, index.get(), src.get()), "scatterAdd_");
    }
    Tensor scatterAdd(int dimension, const Tensor &index, const Tensor &src) const {
        Tensor r = detail::made(THTensor_newClone(handle_), "scatterAdd");
        detail::check(THTensor_scatterAdd(r.get(), dimension, index.get(), src.get()), "scatterAdd", r);
        return r;
    }
    /// scatter that combines each element of `t` with the elements of `src` by `mode`, in row-major order.
    Tensor &scatterMode_(int dimension, const Tensor &index, const Tensor &src, Reduce mode = Reduce::Add) {
        return changed(THTensor_scatterMode(handle_, dimension, index.get(), src.get(), static_cast<THReduce>(mode)),
            "scatterMode_");
    }
    Tensor scatterMode(int dimension, const Tensor &index, const Tensor &src, Reduce mode = Reduce::Add) const {
        Tensor r = detail::made(THTensor_newClone(handle_), "scatterMode");
        detail::check(THTensor_scatterMode(r.get(), dimension, index.get(), src.get(), static_cast<THReduce>(mode)),
            "scatterMode", r);
        return r;
    }
    Tensor &scatter_(int dimension, const Tensor &index, const Tensor &src, Reduce mode) {
        return changed(THTensor_scatterMode(handle_, dimension, index.get(), src.get(), static_cast<THReduce>(mode)),
            "scatter_");
    }
    Tensor scatter(int dimension, const Tensor &index, const Tensor &src, Reduce mode) const {
        Tensor r = detail::made(THTensor_newClone(handle_), "scatter");
        detail::check(THTensor_scatterMode(r.get(), dimension, index.get(), src.get(), static_cast<THReduce>(mode)),
            "scatter", r);
        return r;
    }
    /// scatterMode with the number `value` instead of elements.
    Tensor &scatterFillMode_(int dimension, const Tensor &index, double value, Reduce mode = Reduce::Add) {
        return changed(THTensor_scatterFillMode(handle_, dimension, index.get(), value, static_cast<THReduce>(mode)),
            "scatterFillMode_");
    }
    Tensor scatterFillMode(int dimension, const Tensor &index, double value, Reduce mode = Reduce::Add) const {
        Tensor r = detail::made(THTensor_newClone(handle_), "scatterFillMode");
        detail::check(THTensor_scatterFillMode(r.get(), dimension, index.get(), value, static_cast<THReduce>(mode)),
            "scatterFillMode", r);
        return r;
    }
    Tensor &scatter_(int dimension, const Tensor &index, double value, Reduce mode) {
        return changed(THTensor_scatterFillMode(handle_, dimension, index.get(), value, static_cast<THReduce>(mode)),
            "scatter_");
    }
    Tensor scatter(int dimension, const Tensor &index, double value, Reduce mode) const {
        Tensor r = detail::made(THTensor_newClone(handle_), "scatter");
        detail::check(THTensor_scatterFillMode(r.get(), dimension, index.get(), value, static_cast<THReduce>(mode)),
            "scatter", r);
        return r;
    }
    /// The elements of `t` at the positions in `index` = the elements of `src`, or `+=` them if `accumulate` is not 0;
    /// positions are as for take.
    Tensor &put_(const Tensor &index, const Tensor &src, bool accumulate = false) {
        return changed(THTensor_put(handle_, index.get(), src.get(), accumulate), "put_");
    }
    Tensor put(const Tensor &index, const Tensor &src, bool accumulate = false) const {
        Tensor r = detail::made(THTensor_newClone(handle_), "put");
        detail::check(THTensor_put(r.get(), index.get(), src.get(), accumulate), "put", r);
        return r;
    }
    /// `r` = the elements of `t` where `mask` is true, in row-major order, as a vector.
    Tensor maskedSelect(const Tensor &mask) const {
        detail::New r;
        return r(THTensor_maskedSelect(r.handle, handle_, mask.get()), "maskedSelect");
    }
    /// The elements of `t` where `mask` is true = the elements of `src`, in row-major order; `src` may have more
    /// elements than needed.
    Tensor &maskedCopy_(const Tensor &mask, const Tensor &src) {
        return changed(THTensor_maskedCopy(handle_, mask.get(), src.get()), "maskedCopy_");
    }
    Tensor maskedCopy(const Tensor &mask, const Tensor &src) const {
        Tensor r = detail::made(THTensor_newClone(handle_), "maskedCopy");
        detail::check(THTensor_maskedCopy(r.get(), mask.get(), src.get()), "maskedCopy", r);
        return r;
    }
    /// `THTensor_maskedCopy` by PyTorch's name.
    Tensor &maskedScatter_(const Tensor &mask, const Tensor &src) {
        return changed(THTensor_maskedScatter(handle_, mask.get(), src.get()), "maskedScatter_");
    }
    Tensor maskedScatter(const Tensor &mask, const Tensor &src) const {
        Tensor r = detail::made(THTensor_newClone(handle_), "maskedScatter");
        detail::check(THTensor_maskedScatter(r.get(), mask.get(), src.get()), "maskedScatter", r);
        return r;
    }
    /// `r` = the indices of each element of `t` that is not 0, in row-major order, as the rows of an int64 matrix.
    Tensor nonzero() const { detail::New r; return r(THTensor_nonzero(r.handle, handle_), "nonzero"); }
    /// Stores the indices of each element of `t` that is not 0, as one vector for each dimension; a scalar counts as a
    /// vector of one element.
    std::vector<Tensor> nonzeroTuple() const {
        return detail::pieces([&](THTensor **pieces, int *count) { return THTensor_nonzeroTuple(pieces, count,
            handle_); }, "nonzeroTuple");
    }

    // ---------------------------------------------------------------------------------------- Results made of numbers

    /// `r` = a copy of diagonal `k` if `t` is a matrix; if `t` is a vector, a matrix with this vector on diagonal `k`
    /// and zeros elsewhere.
    Tensor diag(int64_t k = 0) const { detail::New r; return r(THTensor_diag(r.handle, handle_, k), "diag"); }
    /// `r` = matrices with the last dimension of `t` on diagonal `offset` and zeros elsewhere.
    Tensor diagEmbed(int64_t offset = 0, int dim1 = -2, int dim2 = -1) const {
        detail::New r;
        return r(THTensor_diagEmbed(r.handle, handle_, offset, dim1, dim2), "diagEmbed");
    }
    /// Returns `sum of t[i, i]` of a matrix.
    double trace() const {
        THClearLastError();
        const double r = THTensor_trace(handle_);
        return detail::known(r, r != r, "trace");
    }
    /// `r[.., i, j] = t[.., i, j]` where `j - i <= k`, else 0.
    Tensor tril(int64_t k = 0) const { detail::New r; return r(THTensor_tril(r.handle, handle_, k), "tril"); }
    Tensor &tril_(int64_t k = 0) { return changed(THTensor_tril(handle_, handle_, k), "tril_"); }
    /// `r[.., i, j] = t[.., i, j]` where `j - i >= k`, else 0.
    Tensor triu(int64_t k = 0) const { detail::New r; return r(THTensor_triu(r.handle, handle_, k), "triu"); }
    Tensor &triu_(int64_t k = 0) { return changed(THTensor_triu(handle_, handle_, k), "triu_"); }
    /// `r[.., c] = 1` where `t[..] = c`, else 0, for integers `t` from 0 to `numClasses` - 1.
    Tensor oneHot(int64_t numClasses = -1) const {
        detail::New r;
        return r(THTensor_oneHot(r.handle, handle_, numClasses), "oneHot");
    }
    /// `r[i, j] = t[i]^(n - 1 - j)`, or `t[i]^j` if `increasing` is not 0, for a vector `t` and `n` columns; if `n` is
    /// -1, it is the length of `t`.
    Tensor vander(int64_t n = -1, bool increasing = false) const {
        detail::New r;
        return r(THTensor_vander(r.handle, handle_, n, increasing), "vander");
    }

    // ----------------------------------------------------------------------------------------------------- Arithmetic

    /// `r = -t`.
    Tensor neg() const { detail::New r; return r(THTensor_neg(r.handle, handle_), "neg"); }
    Tensor &neg_() { return changed(THTensor_neg(handle_, handle_), "neg_"); }
    /// neg by PyTorch's name.
    Tensor negative() const { detail::New r; return r(THTensor_neg(r.handle, handle_), "negative"); }
    Tensor &negative_() { return changed(THTensor_neg(handle_, handle_), "negative_"); }
    /// `r = |t|`.
    Tensor abs() const { detail::New r; return r(THTensor_abs(r.handle, handle_), "abs"); }
    Tensor &abs_() { return changed(THTensor_abs(handle_, handle_), "abs_"); }
    /// abs by PyTorch's name.
    Tensor absolute() const { detail::New r; return r(THTensor_abs(r.handle, handle_), "absolute"); }
    Tensor &absolute_() { return changed(THTensor_abs(handle_, handle_), "absolute_"); }
    /// `r = -1 where t < 0, 0 where t is 0 or NaN, 1 where t > 0`.
    Tensor sign() const { detail::New r; return r(THTensor_sign(r.handle, handle_), "sign"); }
    Tensor &sign_() { return changed(THTensor_sign(handle_, handle_), "sign_"); }
    /// `r = floor(t)`.
    Tensor floor() const { detail::New r; return r(THTensor_floor(r.handle, handle_), "floor"); }
    Tensor &floor_() { return changed(THTensor_floor(handle_, handle_), "floor_"); }
    /// `r = ceil(t)`.
    Tensor ceil() const { detail::New r; return r(THTensor_ceil(r.handle, handle_), "ceil"); }
    Tensor &ceil_() { return changed(THTensor_ceil(handle_, handle_), "ceil_"); }
    /// `r = t rounded to the nearest integer`, ties to even.
    Tensor round() const { detail::New r; return r(THTensor_round(r.handle, handle_), "round"); }
    Tensor &round_() { return changed(THTensor_round(handle_, handle_), "round_"); }
    /// `r = t rounded towards zero`.
    Tensor trunc() const { detail::New r; return r(THTensor_trunc(r.handle, handle_), "trunc"); }
    Tensor &trunc_() { return changed(THTensor_trunc(handle_, handle_), "trunc_"); }
    /// trunc by PyTorch's name.
    Tensor fix() const { detail::New r; return r(THTensor_trunc(r.handle, handle_), "fix"); }
    Tensor &fix_() { return changed(THTensor_trunc(handle_, handle_), "fix_"); }
    /// `r = t - trunc(t)`.
    Tensor frac() const { detail::New r; return r(THTensor_frac(r.handle, handle_), "frac"); }
    Tensor &frac_() { return changed(THTensor_frac(handle_, handle_), "frac_"); }
    /// `r = t^2`.
    Tensor square() const { detail::New r; return r(THTensor_square(r.handle, handle_), "square"); }
    Tensor &square_() { return changed(THTensor_square(handle_, handle_), "square_"); }
    /// `r = 1 / t`.
    Tensor cinv() const { detail::New r; return r(THTensor_cinv(r.handle, handle_), "cinv"); }
    Tensor &cinv_() { return changed(THTensor_cinv(handle_, handle_), "cinv_"); }
    /// cinv by PyTorch's name.
    Tensor reciprocal() const { detail::New r; return r(THTensor_cinv(r.handle, handle_), "reciprocal"); }
    Tensor &reciprocal_() { return changed(THTensor_cinv(handle_, handle_), "reciprocal_"); }
    /// `r = t + value`.
    Tensor add(double value) const { detail::New r; return r(THTensor_add(r.handle, handle_, value), "add"); }
    Tensor &add_(double value) { return changed(THTensor_add(handle_, handle_, value), "add_"); }
    /// `r = t - value`.
    Tensor sub(double value) const { detail::New r; return r(THTensor_sub(r.handle, handle_, value), "sub"); }
    Tensor &sub_(double value) { return changed(THTensor_sub(handle_, handle_, value), "sub_"); }
    /// sub by PyTorch's name.
    Tensor subtract(double value) const { detail::New r; return r(THTensor_sub(r.handle, handle_, value), "subtract"); }
    Tensor &subtract_(double value) { return changed(THTensor_sub(handle_, handle_, value), "subtract_"); }
    /// `r = t * value`.
    Tensor mul(double value) const { detail::New r; return r(THTensor_mul(r.handle, handle_, value), "mul"); }
    Tensor &mul_(double value) { return changed(THTensor_mul(handle_, handle_, value), "mul_"); }
    /// mul by PyTorch's name.
    Tensor multiply(double value) const { detail::New r; return r(THTensor_mul(r.handle, handle_, value), "multiply"); }
    Tensor &multiply_(double value) { return changed(THTensor_mul(handle_, handle_, value), "multiply_"); }
    /// `r = t / value`, true division: integers give the default dtype.
    Tensor div(double value) const { detail::New r; return r(THTensor_div(r.handle, handle_, value), "div"); }
    Tensor &div_(double value) { return changed(THTensor_div(handle_, handle_, value), "div_"); }
    /// div by PyTorch's name.
    Tensor divide(double value) const { detail::New r; return r(THTensor_div(r.handle, handle_, value), "divide"); }
    Tensor &divide_(double value) { return changed(THTensor_div(handle_, handle_, value), "divide_"); }
    /// `r = a * b`, with broadcasting and promotion; on Bool this is *and*.
    Tensor cmul(const Tensor &b) const { detail::New r; return r(THTensor_cmul(r.handle, handle_, b.get()), "cmul"); }
    Tensor &cmul_(const Tensor &b) { return changed(THTensor_cmul(handle_, handle_, b.get()), "cmul_"); }
    Tensor mul(const Tensor &b) const { detail::New r; return r(THTensor_cmul(r.handle, handle_, b.get()), "mul"); }
    Tensor &mul_(const Tensor &b) { return changed(THTensor_cmul(handle_, handle_, b.get()), "mul_"); }
    Tensor multiply(const Tensor &b) const {
        detail::New r;
        return r(THTensor_cmul(r.handle, handle_, b.get()), "multiply");
    }
    Tensor &multiply_(const Tensor &b) { return changed(THTensor_cmul(handle_, handle_, b.get()), "multiply_"); }
    /// `r = a / b`, with broadcasting; true division: integers give the default dtype.
    Tensor cdiv(const Tensor &b) const { detail::New r; return r(THTensor_cdiv(r.handle, handle_, b.get()), "cdiv"); }
    Tensor &cdiv_(const Tensor &b) { return changed(THTensor_cdiv(handle_, handle_, b.get()), "cdiv_"); }
    Tensor div(const Tensor &b) const { detail::New r; return r(THTensor_cdiv(r.handle, handle_, b.get()), "div"); }
    Tensor &div_(const Tensor &b) { return changed(THTensor_cdiv(handle_, handle_, b.get()), "div_"); }
    Tensor divide(const Tensor &b) const {
        detail::New r;
        return r(THTensor_cdiv(r.handle, handle_, b.get()), "divide");
    }
    Tensor &divide_(const Tensor &b) { return changed(THTensor_cdiv(handle_, handle_, b.get()), "divide_"); }
    /// `r = a^b`, with broadcasting and promotion.
    Tensor cpow(const Tensor &b) const { detail::New r; return r(THTensor_cpow(r.handle, handle_, b.get()), "cpow"); }
    Tensor &cpow_(const Tensor &b) { return changed(THTensor_cpow(handle_, handle_, b.get()), "cpow_"); }
    Tensor pow(const Tensor &b) const { detail::New r; return r(THTensor_cpow(r.handle, handle_, b.get()), "pow"); }
    Tensor &pow_(const Tensor &b) { return changed(THTensor_cpow(handle_, handle_, b.get()), "pow_"); }
    /// `r = value^t`.
    Tensor tpow(double value) const { detail::New r; return r(THTensor_tpow(r.handle, value, handle_), "tpow"); }
    Tensor &tpow_(double value) { return changed(THTensor_tpow(handle_, value, handle_), "tpow_"); }
    /// `r = t + value * a * b`, with broadcasting and promotion.
    Tensor addcmul(double value, const Tensor &a, const Tensor &b) const {
        detail::New r;
        return r(THTensor_addcmul(r.handle, handle_, value, a.get(), b.get()), "addcmul");
    }
    Tensor addcmul(const Tensor &a, const Tensor &b) const {
        detail::New r;
        return r(THTensor_addcmul(r.handle, handle_, 1, a.get(), b.get()), "addcmul");
    }
    Tensor &addcmul_(double value, const Tensor &a, const Tensor &b) {
        return changed(THTensor_addcmul(handle_, handle_, value, a.get(), b.get()), "addcmul_");
    }
    Tensor &addcmul_(const Tensor &a, const Tensor &b) {
        return changed(THTensor_addcmul(handle_, handle_, 1, a.get(), b.get()), "addcmul_");
    }
    /// `r = t + value * a / b`, with broadcasting and promotion.
    Tensor addcdiv(double value, const Tensor &a, const Tensor &b) const {
        detail::New r;
        return r(THTensor_addcdiv(r.handle, handle_, value, a.get(), b.get()), "addcdiv");
    }
    Tensor addcdiv(const Tensor &a, const Tensor &b) const {
        detail::New r;
        return r(THTensor_addcdiv(r.handle, handle_, 1, a.get(), b.get()), "addcdiv");
    }
    Tensor &addcdiv_(double value, const Tensor &a, const Tensor &b) {
        return changed(THTensor_addcdiv(handle_, handle_, value, a.get(), b.get()), "addcdiv_");
    }
    Tensor &addcdiv_(const Tensor &a, const Tensor &b) {
        return changed(THTensor_addcdiv(handle_, handle_, 1, a.get(), b.get()), "addcdiv_");
    }
    /// `r = a + weight * (b - a)`, exact for weights 0 and 1, with broadcasting and promotion.
    Tensor lerp(const Tensor &b, double weight) const {
        detail::New r;
        return r(THTensor_lerp(r.handle, handle_, b.get(), weight), "lerp");
    }
    Tensor &lerp_(const Tensor &b, double weight) {
        return changed(THTensor_lerp(handle_, handle_, b.get(), weight), "lerp_");
    }
    /// `r = a + weight * (b - a)` with a weight for each element, with broadcasting and promotion.
    Tensor lerpTensor(const Tensor &b, const Tensor &weight) const {
        detail::New r;
        return r(THTensor_lerpTensor(r.handle, handle_, b.get(), weight.get()), "lerpTensor");
    }
    Tensor &lerpTensor_(const Tensor &b, const Tensor &weight) {
        return changed(THTensor_lerpTensor(handle_, handle_, b.get(), weight.get()), "lerpTensor_");
    }
    Tensor lerp(const Tensor &b, const Tensor &weight) const {
        detail::New r;
        return r(THTensor_lerpTensor(r.handle, handle_, b.get(), weight.get()), "lerp");
    }
    Tensor &lerp_(const Tensor &b, const Tensor &weight) {
        return changed(THTensor_lerpTensor(handle_, handle_, b.get(), weight.get()), "lerp_");
    }
    /// `r = t - value * trunc(t / value)`, exact, with the sign of `t`.
    Tensor fmod(double value) const { detail::New r; return r(THTensor_fmod(r.handle, handle_, value), "fmod"); }
    Tensor &fmod_(double value) { return changed(THTensor_fmod(handle_, handle_, value), "fmod_"); }
    /// `r = a - b * trunc(a / b)`, exact, with the sign of `a`, with broadcasting and promotion.
    Tensor cfmod(const Tensor &b) const {
        detail::New r;
        return r(THTensor_cfmod(r.handle, handle_, b.get()), "cfmod");
    }
    Tensor &cfmod_(const Tensor &b) { return changed(THTensor_cfmod(handle_, handle_, b.get()), "cfmod_"); }
    Tensor fmod(const Tensor &b) const { detail::New r; return r(THTensor_cfmod(r.handle, handle_, b.get()), "fmod"); }
    Tensor &fmod_(const Tensor &b) { return changed(THTensor_cfmod(handle_, handle_, b.get()), "fmod_"); }
    /// `r = t - value * floor(t / value)`, exact, with the sign of `value`; a zero has the sign of `t`.
    Tensor remainder(double value) const {
        detail::New r;
        return r(THTensor_remainder(r.handle, handle_, value), "remainder");
    }
    Tensor &remainder_(double value) { return changed(THTensor_remainder(handle_, handle_, value), "remainder_"); }
    /// `r = a - b * floor(a / b)`, exact, with the sign of `b`, with broadcasting and promotion; a zero has the sign of
    /// `a`.
    Tensor cremainder(const Tensor &b) const {
        detail::New r;
        return r(THTensor_cremainder(r.handle, handle_, b.get()), "cremainder");
    }
    Tensor &cremainder_(const Tensor &b) {
        return changed(THTensor_cremainder(handle_, handle_, b.get()), "cremainder_");
    }
    Tensor remainder(const Tensor &b) const {
        detail::New r;
        return r(THTensor_cremainder(r.handle, handle_, b.get()), "remainder");
    }
    Tensor &remainder_(const Tensor &b) {
        return changed(THTensor_cremainder(handle_, handle_, b.get()), "remainder_");
    }
    /// `r = t + value * src`, with broadcasting and promotion; on Bool this is *or*.
    Tensor cadd(double value, const Tensor &src) const {
        detail::New r;
        return r(THTensor_cadd(r.handle, handle_, value, src.get()), "cadd");
    }
    Tensor cadd(const Tensor &src) const {
        detail::New r;
        return r(THTensor_cadd(r.handle, handle_, 1, src.get()), "cadd");
    }
    Tensor &cadd_(double value, const Tensor &src) {
        return changed(THTensor_cadd(handle_, handle_, value, src.get()), "cadd_");
    }
    Tensor &cadd_(const Tensor &src) { return changed(THTensor_cadd(handle_, handle_, 1, src.get()), "cadd_"); }
    Tensor add(double value, const Tensor &src) const {
        detail::New r;
        return r(THTensor_cadd(r.handle, handle_, value, src.get()), "add");
    }
    Tensor add(const Tensor &src) const {
        detail::New r;
        return r(THTensor_cadd(r.handle, handle_, 1, src.get()), "add");
    }
    Tensor &add_(double value, const Tensor &src) {
        return changed(THTensor_cadd(handle_, handle_, value, src.get()), "add_");
    }
    Tensor &add_(const Tensor &src) { return changed(THTensor_cadd(handle_, handle_, 1, src.get()), "add_"); }
    /// `r = t - value * src`, with broadcasting and promotion.
    Tensor csub(double value, const Tensor &src) const {
        detail::New r;
        return r(THTensor_csub(r.handle, handle_, value, src.get()), "csub");
    }
    Tensor csub(const Tensor &src) const {
        detail::New r;
        return r(THTensor_csub(r.handle, handle_, 1, src.get()), "csub");
    }
    Tensor &csub_(double value, const Tensor &src) {
        return changed(THTensor_csub(handle_, handle_, value, src.get()), "csub_");
    }
    Tensor &csub_(const Tensor &src) { return changed(THTensor_csub(handle_, handle_, 1, src.get()), "csub_"); }
    Tensor sub(double value, const Tensor &src) const {
        detail::New r;
        return r(THTensor_csub(r.handle, handle_, value, src.get()), "sub");
    }
    Tensor sub(const Tensor &src) const {
        detail::New r;
        return r(THTensor_csub(r.handle, handle_, 1, src.get()), "sub");
    }
    Tensor &sub_(double value, const Tensor &src) {
        return changed(THTensor_csub(handle_, handle_, value, src.get()), "sub_");
    }
    Tensor &sub_(const Tensor &src) { return changed(THTensor_csub(handle_, handle_, 1, src.get()), "sub_"); }
    Tensor subtract(double value, const Tensor &src) const {
        detail::New r;
        return r(THTensor_csub(r.handle, handle_, value, src.get()), "subtract");
    }
    Tensor subtract(const Tensor &src) const {
        detail::New r;
        return r(THTensor_csub(r.handle, handle_, 1, src.get()), "subtract");
    }
    Tensor &subtract_(double value, const Tensor &src) {
        return changed(THTensor_csub(handle_, handle_, value, src.get()), "subtract_");
    }
    Tensor &subtract_(const Tensor &src) { return changed(THTensor_csub(handle_, handle_, 1, src.get()), "subtract_"); }
    /// `r = value - t`.
    Tensor rsub(double value) const { detail::New r; return r(THTensor_rsub(r.handle, handle_, value), "rsub"); }
    Tensor &rsub_(double value) { return changed(THTensor_rsub(handle_, handle_, value), "rsub_"); }
    /// `r = value / t`, true division: integers give the default dtype.
    Tensor rdiv(double value) const { detail::New r; return r(THTensor_rdiv(r.handle, handle_, value), "rdiv"); }
    Tensor &rdiv_(double value) { return changed(THTensor_rdiv(handle_, handle_, value), "rdiv_"); }
    /// `r = src - value * t`; otherwise as csub.
    Tensor crsub(double value, const Tensor &src) const {
        detail::New r;
        return r(THTensor_crsub(r.handle, handle_, value, src.get()), "crsub");
    }
    Tensor crsub(const Tensor &src) const {
        detail::New r;
        return r(THTensor_crsub(r.handle, handle_, 1, src.get()), "crsub");
    }
    Tensor &crsub_(double value, const Tensor &src) {
        return changed(THTensor_crsub(handle_, handle_, value, src.get()), "crsub_");
    }
    Tensor &crsub_(const Tensor &src) { return changed(THTensor_crsub(handle_, handle_, 1, src.get()), "crsub_"); }
    Tensor rsub(double value, const Tensor &src) const {
        detail::New r;
        return r(THTensor_crsub(r.handle, handle_, value, src.get()), "rsub");
    }
    Tensor rsub(const Tensor &src) const {
        detail::New r;
        return r(THTensor_crsub(r.handle, handle_, 1, src.get()), "rsub");
    }
    Tensor &rsub_(double value, const Tensor &src) {
        return changed(THTensor_crsub(handle_, handle_, value, src.get()), "rsub_");
    }
    Tensor &rsub_(const Tensor &src) { return changed(THTensor_crsub(handle_, handle_, 1, src.get()), "rsub_"); }
    /// `r = t^value`.
    Tensor pow(double value) const { detail::New r; return r(THTensor_pow(r.handle, handle_, value), "pow"); }
    Tensor &pow_(double value) { return changed(THTensor_pow(handle_, handle_, value), "pow_"); }
    /// `r = the larger of a and b`, with broadcasting and promotion; NaN if either is NaN.
    Tensor cmax(const Tensor &b) const { detail::New r; return r(THTensor_cmax(r.handle, handle_, b.get()), "cmax"); }
    Tensor &cmax_(const Tensor &b) { return changed(THTensor_cmax(handle_, handle_, b.get()), "cmax_"); }
    Tensor max(const Tensor &b) const { detail::New r; return r(THTensor_cmax(r.handle, handle_, b.get()), "max"); }
    Tensor &max_(const Tensor &b) { return changed(THTensor_cmax(handle_, handle_, b.get()), "max_"); }
    /// cmax by PyTorch's name.
    Tensor maximum(const Tensor &b) const {
        detail::New r;
        return r(THTensor_cmax(r.handle, handle_, b.get()), "maximum");
    }
    Tensor &maximum_(const Tensor &b) { return changed(THTensor_cmax(handle_, handle_, b.get()), "maximum_"); }
    /// `r = the smaller of a and b`, with broadcasting and promotion; NaN if either is NaN.
    Tensor cmin(const Tensor &b) const { detail::New r; return r(THTensor_cmin(r.handle, handle_, b.get()), "cmin"); }
    Tensor &cmin_(const Tensor &b) { return changed(THTensor_cmin(handle_, handle_, b.get()), "cmin_"); }
    Tensor min(const Tensor &b) const { detail::New r; return r(THTensor_cmin(r.handle, handle_, b.get()), "min"); }
    Tensor &min_(const Tensor &b) { return changed(THTensor_cmin(handle_, handle_, b.get()), "min_"); }
    /// cmin by PyTorch's name.
    Tensor minimum(const Tensor &b) const {
        detail::New r;
        return r(THTensor_cmin(r.handle, handle_, b.get()), "minimum");
    }
    Tensor &minimum_(const Tensor &b) { return changed(THTensor_cmin(handle_, handle_, b.get()), "minimum_"); }
    /// `r = the larger of t and value`; NaN if either is NaN.
    Tensor cmaxValue(double value) const {
        detail::New r;
        return r(THTensor_cmaxValue(r.handle, handle_, value), "cmaxValue");
    }
    Tensor &cmaxValue_(double value) { return changed(THTensor_cmaxValue(handle_, handle_, value), "cmaxValue_"); }
    /// cmaxValue by PyTorch's name.
    Tensor clampMin(double value) const {
        detail::New r;
        return r(THTensor_cmaxValue(r.handle, handle_, value), "clampMin");
    }
    Tensor &clampMin_(double value) { return changed(THTensor_cmaxValue(handle_, handle_, value), "clampMin_"); }
    /// `r = the smaller of t and value`; NaN if either is NaN.
    Tensor cminValue(double value) const {
        detail::New r;
        return r(THTensor_cminValue(r.handle, handle_, value), "cminValue");
    }
    Tensor &cminValue_(double value) { return changed(THTensor_cminValue(handle_, handle_, value), "cminValue_"); }
    /// cminValue by PyTorch's name.
    Tensor clampMax(double value) const {
        detail::New r;
        return r(THTensor_cminValue(r.handle, handle_, value), "clampMax");
    }
    Tensor &clampMax_(double value) { return changed(THTensor_cminValue(handle_, handle_, value), "clampMax_"); }
    /// `r = min(max(t, minimum), maximum)`; if `minimum > maximum`, the result is `maximum`.
    Tensor clamp(double minimum, double maximum) const {
        detail::New r;
        return r(THTensor_clamp(r.handle, handle_, minimum, maximum), "clamp");
    }
    Tensor &clamp_(double minimum, double maximum) {
        return changed(THTensor_clamp(handle_, handle_, minimum, maximum), "clamp_");
    }
    /// clamp by PyTorch's name.
    Tensor clip(double minimum, double maximum) const {
        detail::New r;
        return r(THTensor_clamp(r.handle, handle_, minimum, maximum), "clip");
    }
    Tensor &clip_(double minimum, double maximum) {
        return changed(THTensor_clamp(handle_, handle_, minimum, maximum), "clip_");
    }
    /// `r = min(max(t, minimum), maximum)` with bounds for each element, with broadcasting and promotion; NaN if any of
    /// the three is NaN.
    Tensor clampTensor(const Tensor &minimum = {}, const Tensor &maximum = {}) const {
        detail::New r;
        return r(THTensor_clampTensor(r.handle, handle_, minimum.get(), maximum.get()), "clampTensor");
    }
    Tensor &clampTensor_(const Tensor &minimum = {}, const Tensor &maximum = {}) {
        return changed(THTensor_clampTensor(handle_, handle_, minimum.get(), maximum.get()), "clampTensor_");
    }
    Tensor clamp(const Tensor &minimum = {}, const Tensor &maximum = {}) const {
        detail::New r;
        return r(THTensor_clampTensor(r.handle, handle_, minimum.get(), maximum.get()), "clamp");
    }
    Tensor &clamp_(const Tensor &minimum = {}, const Tensor &maximum = {}) {
        return changed(THTensor_clampTensor(handle_, handle_, minimum.get(), maximum.get()), "clamp_");
    }
    Tensor clip(const Tensor &minimum = {}, const Tensor &maximum = {}) const {
        detail::New r;
        return r(THTensor_clampTensor(r.handle, handle_, minimum.get(), maximum.get()), "clip");
    }
    Tensor &clip_(const Tensor &minimum = {}, const Tensor &maximum = {}) {
        return changed(THTensor_clampTensor(handle_, handle_, minimum.get(), maximum.get()), "clip_");
    }
    /// `r = min(max(t, minimum), maximum)`; `minimum > maximum` is an error.
    Tensor hardtanh(double minimum = -1, double maximum = 1) const {
        detail::New r;
        return r(THTensor_hardtanh(r.handle, handle_, minimum, maximum), "hardtanh");
    }
    Tensor &hardtanh_(double minimum = -1, double maximum = 1) {
        return changed(THTensor_hardtanh(handle_, handle_, minimum, maximum), "hardtanh_");
    }
    /// `r = t / value`, rounded by `mode`: `TH_DIV_TRUE` does not round, as div; `TH_DIV_TRUNC` rounds towards zero and
    /// `TH_DIV_FLOOR` down.
    Tensor divMode(double value, DivMode mode = DivMode::True) const {
        detail::New r;
        return r(THTensor_divMode(r.handle, handle_, value, static_cast<THDivMode>(mode)), "divMode");
    }
    Tensor &divMode_(double value, DivMode mode = DivMode::True) {
        return changed(THTensor_divMode(handle_, handle_, value, static_cast<THDivMode>(mode)), "divMode_");
    }
    Tensor div(double value, DivMode mode) const {
        detail::New r;
        return r(THTensor_divMode(r.handle, handle_, value, static_cast<THDivMode>(mode)), "div");
    }
    Tensor &div_(double value, DivMode mode) {
        return changed(THTensor_divMode(handle_, handle_, value, static_cast<THDivMode>(mode)), "div_");
    }
    Tensor divide(double value, DivMode mode) const {
        detail::New r;
        return r(THTensor_divMode(r.handle, handle_, value, static_cast<THDivMode>(mode)), "divide");
    }
    Tensor &divide_(double value, DivMode mode) {
        return changed(THTensor_divMode(handle_, handle_, value, static_cast<THDivMode>(mode)), "divide_");
    }
    /// `r = a / b`, with broadcasting and promotion, rounded by `mode` as for divMode.
    Tensor cdivMode(const Tensor &b, DivMode mode = DivMode::True) const {
        detail::New r;
        return r(THTensor_cdivMode(r.handle, handle_, b.get(), static_cast<THDivMode>(mode)), "cdivMode");
    }
    Tensor &cdivMode_(const Tensor &b, DivMode mode = DivMode::True) {
        return changed(THTensor_cdivMode(handle_, handle_, b.get(), static_cast<THDivMode>(mode)), "cdivMode_");
    }
    Tensor div(const Tensor &b, DivMode mode) const {
        detail::New r;
        return r(THTensor_cdivMode(r.handle, handle_, b.get(), static_cast<THDivMode>(mode)), "div");
    }
    Tensor &div_(const Tensor &b, DivMode mode) {
        return changed(THTensor_cdivMode(handle_, handle_, b.get(), static_cast<THDivMode>(mode)), "div_");
    }
    Tensor divide(const Tensor &b, DivMode mode) const {
        detail::New r;
        return r(THTensor_cdivMode(r.handle, handle_, b.get(), static_cast<THDivMode>(mode)), "divide");
    }
    Tensor &divide_(const Tensor &b, DivMode mode) {
        return changed(THTensor_cdivMode(handle_, handle_, b.get(), static_cast<THDivMode>(mode)), "divide_");
    }

    // ------------------------------------------------------------------------------------------- Functions of numbers

    /// `r = sqrt(t)`.
    Tensor sqrt() const { detail::New r; return r(THTensor_sqrt(r.handle, handle_), "sqrt"); }
    Tensor &sqrt_() { return changed(THTensor_sqrt(handle_, handle_), "sqrt_"); }
    /// `r = 1 / sqrt(t)`.
    Tensor rsqrt() const { detail::New r; return r(THTensor_rsqrt(r.handle, handle_), "rsqrt"); }
    Tensor &rsqrt_() { return changed(THTensor_rsqrt(handle_, handle_), "rsqrt_"); }
    /// `r = e^t`.
    Tensor exp() const { detail::New r; return r(THTensor_exp(r.handle, handle_), "exp"); }
    Tensor &exp_() { return changed(THTensor_exp(handle_, handle_), "exp_"); }
    /// `r = 2^t`.
    Tensor exp2() const { detail::New r; return r(THTensor_exp2(r.handle, handle_), "exp2"); }
    Tensor &exp2_() { return changed(THTensor_exp2(handle_, handle_), "exp2_"); }
    /// `r = e^t - 1`, accurate near 0.
    Tensor expm1() const { detail::New r; return r(THTensor_expm1(r.handle, handle_), "expm1"); }
    Tensor &expm1_() { return changed(THTensor_expm1(handle_, handle_), "expm1_"); }
    /// `r = log(t)`, the natural logarithm.
    Tensor log() const { detail::New r; return r(THTensor_log(r.handle, handle_), "log"); }
    Tensor &log_() { return changed(THTensor_log(handle_, handle_), "log_"); }
    /// `r = log(1 + t)`, accurate near 0.
    Tensor log1p() const { detail::New r; return r(THTensor_log1p(r.handle, handle_), "log1p"); }
    Tensor &log1p_() { return changed(THTensor_log1p(handle_, handle_), "log1p_"); }
    /// `r = log2(t)`.
    Tensor log2() const { detail::New r; return r(THTensor_log2(r.handle, handle_), "log2"); }
    Tensor &log2_() { return changed(THTensor_log2(handle_, handle_), "log2_"); }
    /// `r = log10(t)`.
    Tensor log10() const { detail::New r; return r(THTensor_log10(r.handle, handle_), "log10"); }
    Tensor &log10_() { return changed(THTensor_log10(handle_, handle_), "log10_"); }
    /// `r = sin(t)`, in radians.
    Tensor sin() const { detail::New r; return r(THTensor_sin(r.handle, handle_), "sin"); }
    Tensor &sin_() { return changed(THTensor_sin(handle_, handle_), "sin_"); }
    /// `r = cos(t)`, in radians.
    Tensor cos() const { detail::New r; return r(THTensor_cos(r.handle, handle_), "cos"); }
    Tensor &cos_() { return changed(THTensor_cos(handle_, handle_), "cos_"); }
    /// `r = tan(t)`, in radians.
    Tensor tan() const { detail::New r; return r(THTensor_tan(r.handle, handle_), "tan"); }
    Tensor &tan_() { return changed(THTensor_tan(handle_, handle_), "tan_"); }
    /// `r = asin(t)`; NaN outside [-1, 1].
    Tensor asin() const { detail::New r; return r(THTensor_asin(r.handle, handle_), "asin"); }
    Tensor &asin_() { return changed(THTensor_asin(handle_, handle_), "asin_"); }
    /// asin by PyTorch's name.
    Tensor arcsin() const { detail::New r; return r(THTensor_asin(r.handle, handle_), "arcsin"); }
    Tensor &arcsin_() { return changed(THTensor_asin(handle_, handle_), "arcsin_"); }
    /// `r = acos(t)`; NaN outside [-1, 1].
    Tensor acos() const { detail::New r; return r(THTensor_acos(r.handle, handle_), "acos"); }
    Tensor &acos_() { return changed(THTensor_acos(handle_, handle_), "acos_"); }
    /// acos by PyTorch's name.
    Tensor arccos() const { detail::New r; return r(THTensor_acos(r.handle, handle_), "arccos"); }
    Tensor &arccos_() { return changed(THTensor_acos(handle_, handle_), "arccos_"); }
    /// `r = atan(t)`.
    Tensor atan() const { detail::New r; return r(THTensor_atan(r.handle, handle_), "atan"); }
    Tensor &atan_() { return changed(THTensor_atan(handle_, handle_), "atan_"); }
    /// atan by PyTorch's name.
    Tensor arctan() const { detail::New r; return r(THTensor_atan(r.handle, handle_), "arctan"); }
    Tensor &arctan_() { return changed(THTensor_atan(handle_, handle_), "arctan_"); }
    /// `r = sinh(t)`.
    Tensor sinh() const { detail::New r; return r(THTensor_sinh(r.handle, handle_), "sinh"); }
    Tensor &sinh_() { return changed(THTensor_sinh(handle_, handle_), "sinh_"); }
    /// `r = cosh(t)`.
    Tensor cosh() const { detail::New r; return r(THTensor_cosh(r.handle, handle_), "cosh"); }
    Tensor &cosh_() { return changed(THTensor_cosh(handle_, handle_), "cosh_"); }
    /// `r = tanh(t)`.
    Tensor tanh() const { detail::New r; return r(THTensor_tanh(r.handle, handle_), "tanh"); }
    Tensor &tanh_() { return changed(THTensor_tanh(handle_, handle_), "tanh_"); }
    /// `r = asinh(t)`, the inverse of sinh.
    Tensor asinh() const { detail::New r; return r(THTensor_asinh(r.handle, handle_), "asinh"); }
    Tensor &asinh_() { return changed(THTensor_asinh(handle_, handle_), "asinh_"); }
    /// asinh by PyTorch's name.
    Tensor arcsinh() const { detail::New r; return r(THTensor_asinh(r.handle, handle_), "arcsinh"); }
    Tensor &arcsinh_() { return changed(THTensor_asinh(handle_, handle_), "arcsinh_"); }
    /// `r = acosh(t)`, the inverse of cosh; NaN below 1.
    Tensor acosh() const { detail::New r; return r(THTensor_acosh(r.handle, handle_), "acosh"); }
    Tensor &acosh_() { return changed(THTensor_acosh(handle_, handle_), "acosh_"); }
    /// acosh by PyTorch's name.
    Tensor arccosh() const { detail::New r; return r(THTensor_acosh(r.handle, handle_), "arccosh"); }
    Tensor &arccosh_() { return changed(THTensor_acosh(handle_, handle_), "arccosh_"); }
    /// `r = atanh(t)`, the inverse of tanh; NaN outside [-1, 1].
    Tensor atanh() const { detail::New r; return r(THTensor_atanh(r.handle, handle_), "atanh"); }
    Tensor &atanh_() { return changed(THTensor_atanh(handle_, handle_), "atanh_"); }
    /// atanh by PyTorch's name.
    Tensor arctanh() const { detail::New r; return r(THTensor_atanh(r.handle, handle_), "arctanh"); }
    Tensor &arctanh_() { return changed(THTensor_atanh(handle_, handle_), "arctanh_"); }
    /// `r = sin(pi t) / (pi t)`; 1 at 0, 0 at the other integers, NaN at the infinities.
    Tensor sinc() const { detail::New r; return r(THTensor_sinc(r.handle, handle_), "sinc"); }
    Tensor &sinc_() { return changed(THTensor_sinc(handle_, handle_), "sinc_"); }
    /// `r = 1 / (1 + e^-t)`.
    Tensor sigmoid() const { detail::New r; return r(THTensor_sigmoid(r.handle, handle_), "sigmoid"); }
    Tensor &sigmoid_() { return changed(THTensor_sigmoid(handle_, handle_), "sigmoid_"); }
    /// `r = erf(t)`, the error function.
    Tensor erf() const { detail::New r; return r(THTensor_erf(r.handle, handle_), "erf"); }
    Tensor &erf_() { return changed(THTensor_erf(handle_, handle_), "erf_"); }
    /// `r = 1 - erf(t)`, accurate even where the result is small.
    Tensor erfc() const { detail::New r; return r(THTensor_erfc(r.handle, handle_), "erfc"); }
    Tensor &erfc_() { return changed(THTensor_erfc(handle_, handle_), "erfc_"); }
    /// `r = the number whose erf is t`; NaN outside [-1, 1].
    Tensor erfinv() const { detail::New r; return r(THTensor_erfinv(r.handle, handle_), "erfinv"); }
    Tensor &erfinv_() { return changed(THTensor_erfinv(handle_, handle_), "erfinv_"); }
    /// `r = log |gamma(t)|`; inf at 0, -1, -2, ...
    Tensor lgamma() const { detail::New r; return r(THTensor_lgamma(r.handle, handle_), "lgamma"); }
    Tensor &lgamma_() { return changed(THTensor_lgamma(handle_, handle_), "lgamma_"); }
    /// `r = the derivative of lgamma at t`; NaN at -1, -2, ..., -inf at 0.
    Tensor digamma() const { detail::New r; return r(THTensor_digamma(r.handle, handle_), "digamma"); }
    Tensor &digamma_() { return changed(THTensor_digamma(handle_, handle_), "digamma_"); }
    /// `r = t * (1 + erf(t / sqrt 2)) / 2`.
    Tensor gelu() const { detail::New r; return r(THTensor_gelu(r.handle, handle_), "gelu"); }
    Tensor &gelu_() { return changed(THTensor_gelu(handle_, handle_), "gelu_"); }
    /// `r = t * (1 + tanh(sqrt(2 / pi) * (t + 0.044715 t^3))) / 2`, the common approximation of gelu.
    Tensor geluTanh() const { detail::New r; return r(THTensor_geluTanh(r.handle, handle_), "geluTanh"); }
    Tensor &geluTanh_() { return changed(THTensor_geluTanh(handle_, handle_), "geluTanh_"); }
    /// `r = max(t, 0)`; NaN stays NaN.
    Tensor relu() const { detail::New r; return r(THTensor_relu(r.handle, handle_), "relu"); }
    Tensor &relu_() { return changed(THTensor_relu(handle_, handle_), "relu_"); }
    /// `r = t where t > 0, else value * t`.
    Tensor leakyRelu(double value = 0.01) const {
        detail::New r;
        return r(THTensor_leakyRelu(r.handle, handle_, value), "leakyRelu");
    }
    Tensor &leakyRelu_(double value = 0.01) {
        return changed(THTensor_leakyRelu(handle_, handle_, value), "leakyRelu_");
    }
    /// `r = t where t > 0, else value * (e^t - 1)`.
    Tensor elu(double value = 1) const { detail::New r; return r(THTensor_elu(r.handle, handle_, value), "elu"); }
    Tensor &elu_(double value = 1) { return changed(THTensor_elu(handle_, handle_, value), "elu_"); }
    /// `r = log(1 + e^(beta * t)) / beta`, or `t` where `beta * t > threshold` (PyTorch's defaults are 1 and 20).
    Tensor softplus(double beta = 1, double threshold = 20) const {
        detail::New r;
        return r(THTensor_softplus(r.handle, handle_, beta, threshold), "softplus");
    }
    Tensor &softplus_(double beta = 1, double threshold = 20) {
        return changed(THTensor_softplus(handle_, handle_, beta, threshold), "softplus_");
    }
    /// `r = -log(1 + e^-t)`, the logarithm of sigmoid.
    Tensor logSigmoid() const { detail::New r; return r(THTensor_logSigmoid(r.handle, handle_), "logSigmoid"); }
    Tensor &logSigmoid_() { return changed(THTensor_logSigmoid(handle_, handle_), "logSigmoid_"); }
    /// logSigmoid by PyTorch's name.
    Tensor logsigmoid() const { detail::New r; return r(THTensor_logSigmoid(r.handle, handle_), "logsigmoid"); }
    Tensor &logsigmoid_() { return changed(THTensor_logSigmoid(handle_, handle_), "logsigmoid_"); }
    /// `r = t / (1 + e^-t)`, also called swish (Elfwing, Uchibe and Doya, 2017).
    Tensor silu() const { detail::New r; return r(THTensor_silu(r.handle, handle_), "silu"); }
    Tensor &silu_() { return changed(THTensor_silu(handle_, handle_), "silu_"); }
    /// `r = t * tanh(log(1 + e^t))` (Misra, 2019).
    Tensor mish() const { detail::New r; return r(THTensor_mish(r.handle, handle_), "mish"); }
    Tensor &mish_() { return changed(THTensor_mish(handle_, handle_), "mish_"); }
    /// `r = 0 where t <= -3, t where t >= 3, else t * (t + 3) / 6` (Howard et al., 2019).
    Tensor hardswish() const { detail::New r; return r(THTensor_hardswish(r.handle, handle_), "hardswish"); }
    Tensor &hardswish_() { return changed(THTensor_hardswish(handle_, handle_), "hardswish_"); }
    /// `r = min(max(t + 3, 0), 6) / 6`; NaN stays NaN.
    Tensor hardsigmoid() const { detail::New r; return r(THTensor_hardsigmoid(r.handle, handle_), "hardsigmoid"); }
    Tensor &hardsigmoid_() { return changed(THTensor_hardsigmoid(handle_, handle_), "hardsigmoid_"); }
    /// `r = 1.0507... * t where t > 0, else 1.7580... * (e^t - 1)`: elu with the numbers that keep mean 0 and variance
    /// 1 (Klambauer et al., 2017).
    Tensor selu() const { detail::New r; return r(THTensor_selu(r.handle, handle_), "selu"); }
    Tensor &selu_() { return changed(THTensor_selu(handle_, handle_), "selu_"); }
    /// `r = t / (1 + |t|)`; -1 and 1 at the infinities, where PyTorch gives NaN.
    Tensor softsign() const { detail::New r; return r(THTensor_softsign(r.handle, handle_), "softsign"); }
    Tensor &softsign_() { return changed(THTensor_softsign(handle_, handle_), "softsign_"); }
    /// `r = 0 where -lambda <= t <= lambda, else t`.
    Tensor hardshrink(double lambda = 0.5) const {
        detail::New r;
        return r(THTensor_hardshrink(r.handle, handle_, lambda), "hardshrink");
    }
    Tensor &hardshrink_(double lambda = 0.5) {
        return changed(THTensor_hardshrink(handle_, handle_, lambda), "hardshrink_");
    }
    /// `r = the angle of the point (b, a)` in (-pi, pi], with broadcasting.
    Tensor atan2(const Tensor &b) const {
        detail::New r;
        return r(THTensor_atan2(r.handle, handle_, b.get()), "atan2");
    }
    Tensor &atan2_(const Tensor &b) { return changed(THTensor_atan2(handle_, handle_, b.get()), "atan2_"); }
    /// atan2 by PyTorch's name.
    Tensor arctan2(const Tensor &b) const {
        detail::New r;
        return r(THTensor_atan2(r.handle, handle_, b.get()), "arctan2");
    }
    Tensor &arctan2_(const Tensor &b) { return changed(THTensor_atan2(handle_, handle_, b.get()), "arctan2_"); }
    /// `r = sqrt(a^2 + b^2)` without intermediate overflow, with broadcasting.
    Tensor hypot(const Tensor &b) const {
        detail::New r;
        return r(THTensor_hypot(r.handle, handle_, b.get()), "hypot");
    }
    Tensor &hypot_(const Tensor &b) { return changed(THTensor_hypot(handle_, handle_, b.get()), "hypot_"); }
    /// `r = log(e^a + e^b)` without intermediate overflow, with broadcasting.
    Tensor logaddexp(const Tensor &b) const {
        detail::New r;
        return r(THTensor_logaddexp(r.handle, handle_, b.get()), "logaddexp");
    }
    Tensor &logaddexp_(const Tensor &b) { return changed(THTensor_logaddexp(handle_, handle_, b.get()), "logaddexp_"); }
    /// `r = a * log(b)`, with broadcasting; 0 where `a` is 0 and `b` is not NaN.
    Tensor xlogy(const Tensor &b) const {
        detail::New r;
        return r(THTensor_xlogy(r.handle, handle_, b.get()), "xlogy");
    }
    Tensor &xlogy_(const Tensor &b) { return changed(THTensor_xlogy(handle_, handle_, b.get()), "xlogy_"); }
    /// `r = |a| with the sign of b`, with broadcasting.
    Tensor copysign(const Tensor &b) const {
        detail::New r;
        return r(THTensor_copysign(r.handle, handle_, b.get()), "copysign");
    }
    Tensor &copysign_(const Tensor &b) { return changed(THTensor_copysign(handle_, handle_, b.get()), "copysign_"); }
    /// `r = the next representable number after a in the direction of b`, with broadcasting and promotion.
    Tensor nextafter(const Tensor &b) const {
        detail::New r;
        return r(THTensor_nextafter(r.handle, handle_, b.get()), "nextafter");
    }
    Tensor &nextafter_(const Tensor &b) { return changed(THTensor_nextafter(handle_, handle_, b.get()), "nextafter_"); }
    /// `r = t`, where NaN becomes `nan`, inf becomes `posinf` and -inf becomes `neginf`.
    Tensor nanToNum(double nan, double posinf, double neginf) const {
        detail::New r;
        return r(THTensor_nanToNum(r.handle, handle_, nan, posinf, neginf), "nanToNum");
    }
    Tensor nanToNum(double posinf, double neginf) const {
        detail::New r;
        return r(THTensor_nanToNum(r.handle, handle_, 0, posinf, neginf), "nanToNum");
    }
    Tensor &nanToNum_(double nan, double posinf, double neginf) {
        return changed(THTensor_nanToNum(handle_, handle_, nan, posinf, neginf), "nanToNum_");
    }
    Tensor &nanToNum_(double posinf, double neginf) {
        return changed(THTensor_nanToNum(handle_, handle_, 0, posinf, neginf), "nanToNum_");
    }
    /// `r = t where t > 0, else value * (e^(t / value) - 1)`: elu with a continuous slope (Barron, 2017).
    Tensor celu(double value = 1) const { detail::New r; return r(THTensor_celu(r.handle, handle_, value), "celu"); }
    Tensor &celu_(double value = 1) { return changed(THTensor_celu(handle_, handle_, value), "celu_"); }
    /// `r = t - lambda where t > lambda, t + lambda where t < -lambda, else 0`; NaN stays NaN.
    Tensor softshrink(double lambda = 0.5) const {
        detail::New r;
        return r(THTensor_softshrink(r.handle, handle_, lambda), "softshrink");
    }
    Tensor &softshrink_(double lambda = 0.5) {
        return changed(THTensor_softshrink(handle_, handle_, lambda), "softshrink_");
    }
    /// `r = t where t > threshold, else value`; NaN stays NaN.
    Tensor threshold(double threshold, double value) const {
        detail::New r;
        return r(THTensor_threshold(r.handle, handle_, threshold, value), "threshold");
    }
    Tensor threshold(double value) const {
        detail::New r;
        return r(THTensor_threshold(r.handle, handle_, 20, value), "threshold");
    }
    Tensor &threshold_(double threshold, double value) {
        return changed(THTensor_threshold(handle_, handle_, threshold, value), "threshold_");
    }
    Tensor &threshold_(double value) { return changed(THTensor_threshold(handle_, handle_, 20, value), "threshold_"); }
    /// `r = t where t > 0, else weight * t` (He et al., 2015), with promotion; `r` has the shape of `t`.
    Tensor prelu(const Tensor &weight) const {
        detail::New r;
        return r(THTensor_prelu(r.handle, handle_, weight.get()), "prelu");
    }
    Tensor &prelu_(const Tensor &weight) { return changed(THTensor_prelu(handle_, handle_, weight.get()), "prelu_"); }
    /// `r = a / (1 + e^-b)`, where `a` and `b` are the first and the second half of `t` along `dimension`: the gated
    /// linear unit (Dauphin et al., 2017).
    Tensor glu(int dimension = -1) const { detail::New r; return r(THTensor_glu(r.handle, handle_, dimension), "glu"); }
    Tensor &glu_(int dimension = -1) { return changed(THTensor_glu(handle_, handle_, dimension), "glu_"); }
    /// `r = a * log(value)`; otherwise as xlogy.
    Tensor xlogyValue(double value) const {
        detail::New r;
        return r(THTensor_xlogyValue(r.handle, handle_, value), "xlogyValue");
    }
    Tensor &xlogyValue_(double value) { return changed(THTensor_xlogyValue(handle_, handle_, value), "xlogyValue_"); }
    Tensor xlogy(double value) const {
        detail::New r;
        return r(THTensor_xlogyValue(r.handle, handle_, value), "xlogy");
    }
    Tensor &xlogy_(double value) { return changed(THTensor_xlogyValue(handle_, handle_, value), "xlogy_"); }
    /// `r = the n-th derivative of digamma at t`, the polygamma function, for `n` from 0 to 2^20.
    Tensor polygamma(int64_t n) const {
        detail::New r;
        return r(THTensor_polygamma(r.handle, n, handle_), "polygamma");
    }
    Tensor &polygamma_(int64_t n) { return changed(THTensor_polygamma(handle_, n, handle_), "polygamma_"); }
    /// `r = log(pi) * p * (p - 1) / 4 + lgamma(t) + lgamma(t - 1/2) + ... + lgamma(t - (p - 1) / 2)`, the logarithm of
    /// the multivariate gamma function of dimension `p`, for `p` from 1 to 65536.
    Tensor mvlgamma(int64_t p) const { detail::New r; return r(THTensor_mvlgamma(r.handle, handle_, p), "mvlgamma"); }
    Tensor &mvlgamma_(int64_t p) { return changed(THTensor_mvlgamma(handle_, handle_, p), "mvlgamma_"); }

    // ----------------------------------------------------------------------------------------------------------- Bits

    /// `r = ~t`, bit by bit; on Bool this is *not*.
    Tensor bitwiseNot() const { detail::New r; return r(THTensor_bitwiseNot(r.handle, handle_), "bitwiseNot"); }
    Tensor &bitwiseNot_() { return changed(THTensor_bitwiseNot(handle_, handle_), "bitwiseNot_"); }
    /// `r = t & value`, bit by bit; on Bool this is *and*.
    Tensor bitAnd(double value) const { detail::New r; return r(THTensor_bitand(r.handle, handle_, value), "bitAnd"); }
    Tensor &bitAnd_(double value) { return changed(THTensor_bitand(handle_, handle_, value), "bitAnd_"); }
    /// bitAnd by PyTorch's name.
    Tensor bitwiseAnd(double value) const {
        detail::New r;
        return r(THTensor_bitand(r.handle, handle_, value), "bitwiseAnd");
    }
    Tensor &bitwiseAnd_(double value) { return changed(THTensor_bitand(handle_, handle_, value), "bitwiseAnd_"); }
    /// `r = t | value`, bit by bit; on Bool this is *or*.
    Tensor bitOr(double value) const { detail::New r; return r(THTensor_bitor(r.handle, handle_, value), "bitOr"); }
    Tensor &bitOr_(double value) { return changed(THTensor_bitor(handle_, handle_, value), "bitOr_"); }
    /// bitOr by PyTorch's name.
    Tensor bitwiseOr(double value) const {
        detail::New r;
        return r(THTensor_bitor(r.handle, handle_, value), "bitwiseOr");
    }
    Tensor &bitwiseOr_(double value) { return changed(THTensor_bitor(handle_, handle_, value), "bitwiseOr_"); }
    /// `r = t ^ value`, bit by bit.
    Tensor bitxor(double value) const { detail::New r; return r(THTensor_bitxor(r.handle, handle_, value), "bitxor"); }
    Tensor &bitxor_(double value) { return changed(THTensor_bitxor(handle_, handle_, value), "bitxor_"); }
    /// bitxor by PyTorch's name.
    Tensor bitwiseXor(double value) const {
        detail::New r;
        return r(THTensor_bitxor(r.handle, handle_, value), "bitwiseXor");
    }
    Tensor &bitwiseXor_(double value) { return changed(THTensor_bitxor(handle_, handle_, value), "bitwiseXor_"); }
    /// `r = t << value`; for integers the result is 0 if `value` is negative or at least the width.
    Tensor lshift(double value) const { detail::New r; return r(THTensor_lshift(r.handle, handle_, value), "lshift"); }
    Tensor &lshift_(double value) { return changed(THTensor_lshift(handle_, handle_, value), "lshift_"); }
    /// lshift by PyTorch's name.
    Tensor bitwiseLeftShift(double value) const {
        detail::New r;
        return r(THTensor_lshift(r.handle, handle_, value), "bitwiseLeftShift");
    }
    Tensor &bitwiseLeftShift_(double value) {
        return changed(THTensor_lshift(handle_, handle_, value), "bitwiseLeftShift_");
    }
    /// `r = t >> value`, an arithmetic shift; if `value` is negative or at least the width, all bits become the sign
    /// bit.
    Tensor rshift(double value) const { detail::New r; return r(THTensor_rshift(r.handle, handle_, value), "rshift"); }
    Tensor &rshift_(double value) { return changed(THTensor_rshift(handle_, handle_, value), "rshift_"); }
    /// rshift by PyTorch's name.
    Tensor bitwiseRightShift(double value) const {
        detail::New r;
        return r(THTensor_rshift(r.handle, handle_, value), "bitwiseRightShift");
    }
    Tensor &bitwiseRightShift_(double value) {
        return changed(THTensor_rshift(handle_, handle_, value), "bitwiseRightShift_");
    }
    /// `r = a & b`, bit by bit, with broadcasting and promotion; on Bool this is *and*.
    Tensor cbitand(const Tensor &b) const {
        detail::New r;
        return r(THTensor_cbitand(r.handle, handle_, b.get()), "cbitand");
    }
    Tensor &cbitand_(const Tensor &b) { return changed(THTensor_cbitand(handle_, handle_, b.get()), "cbitand_"); }
    Tensor bitAnd(const Tensor &b) const {
        detail::New r;
        return r(THTensor_cbitand(r.handle, handle_, b.get()), "bitAnd");
    }
    Tensor &bitAnd_(const Tensor &b) { return changed(THTensor_cbitand(handle_, handle_, b.get()), "bitAnd_"); }
    Tensor bitwiseAnd(const Tensor &b) const {
        detail::New r;
        return r(THTensor_cbitand(r.handle, handle_, b.get()), "bitwiseAnd");
    }
    Tensor &bitwiseAnd_(const Tensor &b) { return changed(THTensor_cbitand(handle_, handle_, b.get()), "bitwiseAnd_"); }
    /// `r = a | b`, bit by bit, with broadcasting and promotion; on Bool this is *or*.
    Tensor cbitor(const Tensor &b) const {
        detail::New r;
        return r(THTensor_cbitor(r.handle, handle_, b.get()), "cbitor");
    }
    Tensor &cbitor_(const Tensor &b) { return changed(THTensor_cbitor(handle_, handle_, b.get()), "cbitor_"); }
    Tensor bitOr(const Tensor &b) const {
        detail::New r;
        return r(THTensor_cbitor(r.handle, handle_, b.get()), "bitOr");
    }
    Tensor &bitOr_(const Tensor &b) { return changed(THTensor_cbitor(handle_, handle_, b.get()), "bitOr_"); }
    Tensor bitwiseOr(const Tensor &b) const {
        detail::New r;
        return r(THTensor_cbitor(r.handle, handle_, b.get()), "bitwiseOr");
    }
    Tensor &bitwiseOr_(const Tensor &b) { return changed(THTensor_cbitor(handle_, handle_, b.get()), "bitwiseOr_"); }
    /// `r = a ^ b`, bit by bit, with broadcasting and promotion.
    Tensor cbitxor(const Tensor &b) const {
        detail::New r;
        return r(THTensor_cbitxor(r.handle, handle_, b.get()), "cbitxor");
    }
    Tensor &cbitxor_(const Tensor &b) { return changed(THTensor_cbitxor(handle_, handle_, b.get()), "cbitxor_"); }
    Tensor bitxor(const Tensor &b) const {
        detail::New r;
        return r(THTensor_cbitxor(r.handle, handle_, b.get()), "bitxor");
    }
    Tensor &bitxor_(const Tensor &b) { return changed(THTensor_cbitxor(handle_, handle_, b.get()), "bitxor_"); }
    Tensor bitwiseXor(const Tensor &b) const {
        detail::New r;
        return r(THTensor_cbitxor(r.handle, handle_, b.get()), "bitwiseXor");
    }
    Tensor &bitwiseXor_(const Tensor &b) { return changed(THTensor_cbitxor(handle_, handle_, b.get()), "bitwiseXor_"); }
    /// `r = a << b`, with broadcasting and promotion; otherwise as lshift.
    Tensor clshift(const Tensor &b) const {
        detail::New r;
        return r(THTensor_clshift(r.handle, handle_, b.get()), "clshift");
    }
    Tensor &clshift_(const Tensor &b) { return changed(THTensor_clshift(handle_, handle_, b.get()), "clshift_"); }
    Tensor lshift(const Tensor &b) const {
        detail::New r;
        return r(THTensor_clshift(r.handle, handle_, b.get()), "lshift");
    }
    Tensor &lshift_(const Tensor &b) { return changed(THTensor_clshift(handle_, handle_, b.get()), "lshift_"); }
    Tensor bitwiseLeftShift(const Tensor &b) const {
        detail::New r;
        return r(THTensor_clshift(r.handle, handle_, b.get()), "bitwiseLeftShift");
    }
    Tensor &bitwiseLeftShift_(const Tensor &b) {
        return changed(THTensor_clshift(handle_, handle_, b.get()), "bitwiseLeftShift_");
    }
    /// `r = a >> b`, with broadcasting and promotion; otherwise as rshift.
    Tensor crshift(const Tensor &b) const {
        detail::New r;
        return r(THTensor_crshift(r.handle, handle_, b.get()), "crshift");
    }
    Tensor &crshift_(const Tensor &b) { return changed(THTensor_crshift(handle_, handle_, b.get()), "crshift_"); }
    Tensor rshift(const Tensor &b) const {
        detail::New r;
        return r(THTensor_crshift(r.handle, handle_, b.get()), "rshift");
    }
    Tensor &rshift_(const Tensor &b) { return changed(THTensor_crshift(handle_, handle_, b.get()), "rshift_"); }
    Tensor bitwiseRightShift(const Tensor &b) const {
        detail::New r;
        return r(THTensor_crshift(r.handle, handle_, b.get()), "bitwiseRightShift");
    }
    Tensor &bitwiseRightShift_(const Tensor &b) {
        return changed(THTensor_crshift(handle_, handle_, b.get()), "bitwiseRightShift_");
    }

    // ---------------------------------------------------------------------------------------- Comparisons and choices

    /// `r = t < value`, as Bool unless `r` has a dtype.
    Tensor ltValue(double value) const {
        detail::New r;
        return r(THTensor_ltValue(r.handle, handle_, value), "ltValue");
    }
    Tensor &ltValue_(double value) { return changed(THTensor_ltValue(handle_, handle_, value), "ltValue_"); }
    Tensor lt(double value) const { detail::New r; return r(THTensor_ltValue(r.handle, handle_, value), "lt"); }
    Tensor &lt_(double value) { return changed(THTensor_ltValue(handle_, handle_, value), "lt_"); }
    Tensor less(double value) const { detail::New r; return r(THTensor_ltValue(r.handle, handle_, value), "less"); }
    Tensor &less_(double value) { return changed(THTensor_ltValue(handle_, handle_, value), "less_"); }
    /// `r = t <= value`, as Bool unless `r` has a dtype.
    Tensor leValue(double value) const {
        detail::New r;
        return r(THTensor_leValue(r.handle, handle_, value), "leValue");
    }
    Tensor &leValue_(double value) { return changed(THTensor_leValue(handle_, handle_, value), "leValue_"); }
    Tensor le(double value) const { detail::New r; return r(THTensor_leValue(r.handle, handle_, value), "le"); }
    Tensor &le_(double value) { return changed(THTensor_leValue(handle_, handle_, value), "le_"); }
    Tensor lessEqual(double value) const {
        detail::New r;
        return r(THTensor_leValue(r.handle, handle_, value), "lessEqual");
    }
    Tensor &lessEqual_(double value) { return changed(THTensor_leValue(handle_, handle_, value), "lessEqual_"); }
    /// `r = t > value`, as Bool unless `r` has a dtype.
    Tensor gtValue(double value) const {
        detail::New r;
        return r(THTensor_gtValue(r.handle, handle_, value), "gtValue");
    }
    Tensor &gtValue_(double value) { return changed(THTensor_gtValue(handle_, handle_, value), "gtValue_"); }
    Tensor gt(double value) const { detail::New r; return r(THTensor_gtValue(r.handle, handle_, value), "gt"); }
    Tensor &gt_(double value) { return changed(THTensor_gtValue(handle_, handle_, value), "gt_"); }
    Tensor greater(double value) const {
        detail::New r;
        return r(THTensor_gtValue(r.handle, handle_, value), "greater");
    }
    Tensor &greater_(double value) { return changed(THTensor_gtValue(handle_, handle_, value), "greater_"); }
    /// `r = t >= value`, as Bool unless `r` has a dtype.
    Tensor geValue(double value) const {
        detail::New r;
        return r(THTensor_geValue(r.handle, handle_, value), "geValue");
    }
    Tensor &geValue_(double value) { return changed(THTensor_geValue(handle_, handle_, value), "geValue_"); }
    Tensor ge(double value) const { detail::New r; return r(THTensor_geValue(r.handle, handle_, value), "ge"); }
    Tensor &ge_(double value) { return changed(THTensor_geValue(handle_, handle_, value), "ge_"); }
    Tensor greaterEqual(double value) const {
        detail::New r;
        return r(THTensor_geValue(r.handle, handle_, value), "greaterEqual");
    }
    Tensor &greaterEqual_(double value) { return changed(THTensor_geValue(handle_, handle_, value), "greaterEqual_"); }
    /// `r = t == value`, as Bool unless `r` has a dtype.
    Tensor eqValue(double value) const {
        detail::New r;
        return r(THTensor_eqValue(r.handle, handle_, value), "eqValue");
    }
    Tensor &eqValue_(double value) { return changed(THTensor_eqValue(handle_, handle_, value), "eqValue_"); }
    Tensor eq(double value) const { detail::New r; return r(THTensor_eqValue(r.handle, handle_, value), "eq"); }
    Tensor &eq_(double value) { return changed(THTensor_eqValue(handle_, handle_, value), "eq_"); }
    /// `r = t != value`, as Bool unless `r` has a dtype.
    Tensor neValue(double value) const {
        detail::New r;
        return r(THTensor_neValue(r.handle, handle_, value), "neValue");
    }
    Tensor &neValue_(double value) { return changed(THTensor_neValue(handle_, handle_, value), "neValue_"); }
    Tensor ne(double value) const { detail::New r; return r(THTensor_neValue(r.handle, handle_, value), "ne"); }
    Tensor &ne_(double value) { return changed(THTensor_neValue(handle_, handle_, value), "ne_"); }
    Tensor notEqual(double value) const {
        detail::New r;
        return r(THTensor_neValue(r.handle, handle_, value), "notEqual");
    }
    Tensor &notEqual_(double value) { return changed(THTensor_neValue(handle_, handle_, value), "notEqual_"); }
    /// `r = a < b`, with broadcasting, as Bool unless `r` has a dtype.
    Tensor ltTensor(const Tensor &b) const {
        detail::New r;
        return r(THTensor_ltTensor(r.handle, handle_, b.get()), "ltTensor");
    }
    Tensor &ltTensor_(const Tensor &b) { return changed(THTensor_ltTensor(handle_, handle_, b.get()), "ltTensor_"); }
    Tensor lt(const Tensor &b) const { detail::New r; return r(THTensor_ltTensor(r.handle, handle_, b.get()), "lt"); }
    Tensor &lt_(const Tensor &b) { return changed(THTensor_ltTensor(handle_, handle_, b.get()), "lt_"); }
    Tensor less(const Tensor &b) const {
        detail::New r;
        return r(THTensor_ltTensor(r.handle, handle_, b.get()), "less");
    }
    Tensor &less_(const Tensor &b) { return changed(THTensor_ltTensor(handle_, handle_, b.get()), "less_"); }
    /// `r = a <= b`, with broadcasting, as Bool unless `r` has a dtype.
    Tensor leTensor(const Tensor &b) const {
        detail::New r;
        return r(THTensor_leTensor(r.handle, handle_, b.get()), "leTensor");
    }
    Tensor &leTensor_(const Tensor &b) { return changed(THTensor_leTensor(handle_, handle_, b.get()), "leTensor_"); }
    Tensor le(const Tensor &b) const { detail::New r; return r(THTensor_leTensor(r.handle, handle_, b.get()), "le"); }
    Tensor &le_(const Tensor &b) { return changed(THTensor_leTensor(handle_, handle_, b.get()), "le_"); }
    Tensor lessEqual(const Tensor &b) const {
        detail::New r;
        return r(THTensor_leTensor(r.handle, handle_, b.get()), "lessEqual");
    }
    Tensor &lessEqual_(const Tensor &b) { return changed(THTensor_leTensor(handle_, handle_, b.get()), "lessEqual_"); }
    /// `r = a > b`, with broadcasting, as Bool unless `r` has a dtype.
    Tensor gtTensor(const Tensor &b) const {
        detail::New r;
        return r(THTensor_gtTensor(r.handle, handle_, b.get()), "gtTensor");
    }
    Tensor &gtTensor_(const Tensor &b) { return changed(THTensor_gtTensor(handle_, handle_, b.get()), "gtTensor_"); }
    Tensor gt(const Tensor &b) const { detail::New r; return r(THTensor_gtTensor(r.handle, handle_, b.get()), "gt"); }
    Tensor &gt_(const Tensor &b) { return changed(THTensor_gtTensor(handle_, handle_, b.get()), "gt_"); }
    Tensor greater(const Tensor &b) const {
        detail::New r;
        return r(THTensor_gtTensor(r.handle, handle_, b.get()), "greater");
    }
    Tensor &greater_(const Tensor &b) { return changed(THTensor_gtTensor(handle_, handle_, b.get()), "greater_"); }
    /// `r = a >= b`, with broadcasting, as Bool unless `r` has a dtype.
    Tensor geTensor(const Tensor &b) const {
        detail::New r;
        return r(THTensor_geTensor(r.handle, handle_, b.get()), "geTensor");
    }
    Tensor &geTensor_(const Tensor &b) { return changed(THTensor_geTensor(handle_, handle_, b.get()), "geTensor_"); }
    Tensor ge(const Tensor &b) const { detail::New r; return r(THTensor_geTensor(r.handle, handle_, b.get()), "ge"); }
    Tensor &ge_(const Tensor &b) { return changed(THTensor_geTensor(handle_, handle_, b.get()), "ge_"); }
    Tensor greaterEqual(const Tensor &b) const {
        detail::New r;
        return r(THTensor_geTensor(r.handle, handle_, b.get()), "greaterEqual");
    }
    Tensor &greaterEqual_(const Tensor &b) {
        return changed(THTensor_geTensor(handle_, handle_, b.get()), "greaterEqual_");
    }
    /// `r = a == b`, with broadcasting, as Bool unless `r` has a dtype.
    Tensor eqTensor(const Tensor &b) const {
        detail::New r;
        return r(THTensor_eqTensor(r.handle, handle_, b.get()), "eqTensor");
    }
    Tensor &eqTensor_(const Tensor &b) { return changed(THTensor_eqTensor(handle_, handle_, b.get()), "eqTensor_"); }
    Tensor eq(const Tensor &b) const { detail::New r; return r(THTensor_eqTensor(r.handle, handle_, b.get()), "eq"); }
    Tensor &eq_(const Tensor &b) { return changed(THTensor_eqTensor(handle_, handle_, b.get()), "eq_"); }
    /// `r = a != b`, with broadcasting, as Bool unless `r` has a dtype.
    Tensor neTensor(const Tensor &b) const {
        detail::New r;
        return r(THTensor_neTensor(r.handle, handle_, b.get()), "neTensor");
    }
    Tensor &neTensor_(const Tensor &b) { return changed(THTensor_neTensor(handle_, handle_, b.get()), "neTensor_"); }
    Tensor ne(const Tensor &b) const { detail::New r; return r(THTensor_neTensor(r.handle, handle_, b.get()), "ne"); }
    Tensor &ne_(const Tensor &b) { return changed(THTensor_neTensor(handle_, handle_, b.get()), "ne_"); }
    Tensor notEqual(const Tensor &b) const {
        detail::New r;
        return r(THTensor_neTensor(r.handle, handle_, b.get()), "notEqual");
    }
    Tensor &notEqual_(const Tensor &b) { return changed(THTensor_neTensor(handle_, handle_, b.get()), "notEqual_"); }
    /// `r = whether t is NaN`, as Bool unless `r` has a dtype.
    Tensor isnan() const { detail::New r; return r(THTensor_isnan(r.handle, handle_), "isnan"); }
    Tensor &isnan_() { return changed(THTensor_isnan(handle_, handle_), "isnan_"); }
    /// `r = whether t is inf or -inf`, as Bool unless `r` has a dtype.
    Tensor isinf() const { detail::New r; return r(THTensor_isinf(r.handle, handle_), "isinf"); }
    Tensor &isinf_() { return changed(THTensor_isinf(handle_, handle_), "isinf_"); }
    /// `r = whether t is neither infinite nor NaN`, as Bool unless `r` has a dtype.
    Tensor isfinite() const { detail::New r; return r(THTensor_isfinite(r.handle, handle_), "isfinite"); }
    Tensor &isfinite_() { return changed(THTensor_isfinite(handle_, handle_), "isfinite_"); }
    /// `r = whether t is 0`, as Bool unless `r` has a dtype.
    Tensor logicalNot() const { detail::New r; return r(THTensor_logicalNot(r.handle, handle_), "logicalNot"); }
    Tensor &logicalNot_() { return changed(THTensor_logicalNot(handle_, handle_), "logicalNot_"); }
    /// `r = a and b`, with broadcasting, where every number except 0 is true; as Bool unless `r` has a dtype.
    Tensor logicalAnd(const Tensor &b) const {
        detail::New r;
        return r(THTensor_logicalAnd(r.handle, handle_, b.get()), "logicalAnd");
    }
    Tensor &logicalAnd_(const Tensor &b) {
        return changed(THTensor_logicalAnd(handle_, handle_, b.get()), "logicalAnd_");
    }
    /// `r = a or b`, with broadcasting, where every number except 0 is true; as Bool unless `r` has a dtype.
    Tensor logicalOr(const Tensor &b) const {
        detail::New r;
        return r(THTensor_logicalOr(r.handle, handle_, b.get()), "logicalOr");
    }
    Tensor &logicalOr_(const Tensor &b) { return changed(THTensor_logicalOr(handle_, handle_, b.get()), "logicalOr_"); }
    /// `r = a xor b`, with broadcasting, where every number except 0 is true; as Bool unless `r` has a dtype.
    Tensor logicalXor(const Tensor &b) const {
        detail::New r;
        return r(THTensor_logicalXor(r.handle, handle_, b.get()), "logicalXor");
    }
    Tensor &logicalXor_(const Tensor &b) {
        return changed(THTensor_logicalXor(handle_, handle_, b.get()), "logicalXor_");
    }
    /// `r = condition ? a : b`, with broadcasting of all three and promotion of `a` with `b`.
    Tensor where(const Tensor &a, const Tensor &b) const {
        detail::New r;
        return r(THTensor_where(r.handle, handle_, a.get(), b.get()), "where");
    }
    /// `r = condition ? a : value`; otherwise as where.
    Tensor whereValue(const Tensor &a, double value) const {
        detail::New r;
        return r(THTensor_whereValue(r.handle, handle_, a.get(), value), "whereValue");
    }
    Tensor where(const Tensor &a, double value) const {
        detail::New r;
        return r(THTensor_whereValue(r.handle, handle_, a.get(), value), "where");
    }
    /// `r = condition ? value : b`; otherwise as whereValue.
    Tensor whereValueTensor(double value, const Tensor &b) const {
        detail::New r;
        return r(THTensor_whereValueTensor(r.handle, handle_, value, b.get()), "whereValueTensor");
    }
    Tensor where(double value, const Tensor &b) const {
        detail::New r;
        return r(THTensor_whereValueTensor(r.handle, handle_, value, b.get()), "where");
    }
    /// `r = condition ? a : b` for two numbers; the result is int64 if both are whole, else the default dtype.
    Tensor whereValues(double a, double b) const {
        detail::New r;
        return r(THTensor_whereValues(r.handle, handle_, a, b), "whereValues");
    }
    Tensor where(double a, double b) const {
        detail::New r;
        return r(THTensor_whereValues(r.handle, handle_, a, b), "where");
    }
    /// `r = 0 where a < 0 or NaN, b where a = 0, 1 where a > 0`: the Heaviside step function with the value `b` at 0,
    /// with broadcasting and promotion.
    Tensor heaviside(const Tensor &b) const {
        detail::New r;
        return r(THTensor_heaviside(r.handle, handle_, b.get()), "heaviside");
    }
    Tensor &heaviside_(const Tensor &b) { return changed(THTensor_heaviside(handle_, handle_, b.get()), "heaviside_"); }
    /// `t = value where mask is true`; `value` is converted as by fill.
    Tensor &maskedFill_(const Tensor &mask, double value) {
        return changed(THTensor_maskedFill(handle_, mask.get(), value), "maskedFill_");
    }
    Tensor maskedFill(const Tensor &mask, double value) const {
        Tensor r = detail::made(THTensor_newClone(handle_), "maskedFill");
        detail::check(THTensor_maskedFill(r.get(), mask.get(), value), "maskedFill", r);
        return r;
    }
    /// `r = whether the sign bit of t is set`.
    Tensor signbit() const { detail::New r; return r(THTensor_signbit(r.handle, handle_), "signbit"); }
    Tensor &signbit_() { return changed(THTensor_signbit(handle_, handle_), "signbit_"); }
    /// `r = |a - b| <= atol + rtol * |b|`, with broadcasting.
    Tensor isclose(const Tensor &b, double rtol = 0.00001, double atol = 1e-8, bool equalNan = false) const {
        detail::New r;
        return r(THTensor_isclose(r.handle, handle_, b.get(), rtol, atol, equalNan), "isclose");
    }
    Tensor &isclose_(const Tensor &b, double rtol = 0.00001, double atol = 1e-8, bool equalNan = false) {
        return changed(THTensor_isclose(handle_, handle_, b.get(), rtol, atol, equalNan), "isclose_");
    }
    /// Returns True if all elements of `a` and `b` are close as defined by isclose, else 0.
    bool allclose(const Tensor &b, double rtol = 0.00001, double atol = 1e-8, bool equalNan = false) const {
        THClearLastError();
        const int r = THTensor_allclose(handle_, b.get(), rtol, atol, equalNan);
        return detail::known(r != 0, !r, "allclose");
    }
    /// Returns True if both tensors have the same shape and equal elements, else 0.
    bool equal(const Tensor &b) const {
        THClearLastError();
        const int r = THTensor_equal(handle_, b.get());
        return detail::known(r != 0, !r, "equal");
    }

    // ----------------------------------------------------------------------------------------------------- Reductions

    /// `r = mean of t over dimension without the NaNs`, or over all elements with `TH_ALL_DIMS`.
    Tensor nanmean(int dimension = everyDim, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_nanmean(r.handle, handle_, dimension, keepdim), "nanmean");
    }
    /// `r = mean of t over dims without the NaNs`; otherwise as nanmean, with `dims` as for sumDims.
    Tensor nanmeanDims(IntList dims, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_nanmeanDims(r.handle, handle_, dims.count(), dims.data(), keepdim), "nanmeanDims");
    }
    Tensor nanmean(IntList dims, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_nanmeanDims(r.handle, handle_, dims.count(), dims.data(), keepdim), "nanmean");
    }
    Tensor nanmean(std::initializer_list<int64_t> dims, bool keepdim = false) const {
        return nanmean(IntList(dims), keepdim);
    }
    /// `r = product of t over dimension without the NaNs`, or over all elements with `TH_ALL_DIMS`.
    Tensor nanprod(int dimension = everyDim, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_nanprod(r.handle, handle_, dimension, keepdim), "nanprod");
    }
    /// `r = product of t over dims without the NaNs`; otherwise as nanprod, with `dims` and `dtype` as for sumDims.
    Tensor nanprodDims(IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        detail::New r;
        return r(THTensor_nanprodDims(r.handle, handle_, dims.count(), dims.data(), keepdim,
            static_cast<THDtype>(dtype)), "nanprodDims");
    }
    Tensor nanprod(IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        detail::New r;
        return r(THTensor_nanprodDims(r.handle, handle_, dims.count(), dims.data(), keepdim,
            static_cast<THDtype>(dtype)), "nanprod");
    }
    Tensor nanprod(std::initializer_list<int64_t> dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        return nanprod(IntList(dims), keepdim, dtype);
    }
    /// `r = greatest elements of t over dimension without the NaNs`, or over all elements with `TH_ALL_DIMS`.
    Tensor nanmax(int dimension = everyDim, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_nanmax(r.handle, handle_, dimension, keepdim), "nanmax");
    }
    /// `r = greatest elements of t over dims without the NaNs`; otherwise as nanmax, with `dims` as for sumDims.
    Tensor nanmaxDims(IntList dims, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_nanmaxDims(r.handle, handle_, dims.count(), dims.data(), keepdim), "nanmaxDims");
    }
    Tensor nanmax(IntList dims, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_nanmaxDims(r.handle, handle_, dims.count(), dims.data(), keepdim), "nanmax");
    }
    Tensor nanmax(std::initializer_list<int64_t> dims, bool keepdim = false) const {
        return nanmax(IntList(dims), keepdim);
    }
    /// `r = least elements of t over dimension without the NaNs`; otherwise as nanmax.
    Tensor nanmin(int dimension = everyDim, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_nanmin(r.handle, handle_, dimension, keepdim), "nanmin");
    }
    /// `r = least elements of t over dims without the NaNs`; otherwise as nanmin, with `dims` as for sumDims.
    Tensor nanminDims(IntList dims, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_nanminDims(r.handle, handle_, dims.count(), dims.data(), keepdim), "nanminDims");
    }
    Tensor nanmin(IntList dims, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_nanminDims(r.handle, handle_, dims.count(), dims.data(), keepdim), "nanmin");
    }
    Tensor nanmin(std::initializer_list<int64_t> dims, bool keepdim = false) const {
        return nanmin(IntList(dims), keepdim);
    }
    /// `r = index of the first greatest element of t over dimension without the NaNs`; otherwise as argmax.
    Tensor nanargmax(int dimension = everyDim, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_nanargmax(r.handle, handle_, dimension, keepdim), "nanargmax");
    }
    /// `r = index of the first least element of t over dimension without the NaNs`; otherwise as nanargmax.
    Tensor nanargmin(int dimension = everyDim, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_nanargmin(r.handle, handle_, dimension, keepdim), "nanargmin");
    }
    /// `r = sum of (t - mean)^2 / (n - correction) over dimension`, or over all elements with `TH_ALL_DIMS`, with the
    /// mean, the sum and the number `n` of the elements that are not NaN.
    Tensor nanvar(int dimension = everyDim, double correction = 1, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_nanvar(r.handle, handle_, dimension, correction, keepdim), "nanvar");
    }
    /// `r = variance of t over dims without the NaNs`; otherwise as nanvar, with `dims` as for sumDims.
    Tensor nanvarDims(IntList dims, double correction = 1, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_nanvarDims(r.handle, handle_, dims.count(), dims.data(), correction, keepdim), "nanvarDims");
    }
    Tensor nanvar(IntList dims, double correction = 1, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_nanvarDims(r.handle, handle_, dims.count(), dims.data(), correction, keepdim), "nanvar");
    }
    Tensor nanvar(std::initializer_list<int64_t> dims, double correction = 1, bool keepdim = false) const {
        return nanvar(IntList(dims), correction, keepdim);
    }
    /// `r = sqrt(variance of t over dimension without the NaNs)`; otherwise as nanvar.
    Tensor nanstd(int dimension = everyDim, double correction = 1, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_nanstd(r.handle, handle_, dimension, correction, keepdim), "nanstd");
    }
    /// `r = sqrt(variance of t over dims without the NaNs)`; otherwise as nanstd, with `dims` as for sumDims.
    Tensor nanstdDims(IntList dims, double correction = 1, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_nanstdDims(r.handle, handle_, dims.count(), dims.data(), correction, keepdim), "nanstdDims");
    }
    Tensor nanstd(IntList dims, double correction = 1, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_nanstdDims(r.handle, handle_, dims.count(), dims.data(), correction, keepdim), "nanstd");
    }
    Tensor nanstd(std::initializer_list<int64_t> dims, double correction = 1, bool keepdim = false) const {
        return nanstd(IntList(dims), correction, keepdim);
    }
    /// `r = greatest elements of t over dimension`, or over all elements with `TH_ALL_DIMS`.
    Tensor amax(int dimension = everyDim, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_amax(r.handle, handle_, dimension, keepdim), "amax");
    }
    Tensor max() const { detail::New r; return r(THTensor_amax(r.handle, handle_, TH_ALL_DIMS, false), "max"); }
    /// `r = greatest elements of t over dims`; otherwise as amax, with `dims` as for sumDims.
    Tensor amaxDims(IntList dims, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_amaxDims(r.handle, handle_, dims.count(), dims.data(), keepdim), "amaxDims");
    }
    Tensor max(IntList dims, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_amaxDims(r.handle, handle_, dims.count(), dims.data(), keepdim), "max");
    }
    Tensor max(std::initializer_list<int64_t> dims, bool keepdim = false) const { return max(IntList(dims), keepdim); }
    /// `r = least elements of t over dimension`; NaN if any element is NaN.
    Tensor amin(int dimension = everyDim, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_amin(r.handle, handle_, dimension, keepdim), "amin");
    }
    Tensor min() const { detail::New r; return r(THTensor_amin(r.handle, handle_, TH_ALL_DIMS, false), "min"); }
    /// `r = least elements of t over dims`; otherwise as amin, with `dims` as for sumDims.
    Tensor aminDims(IntList dims, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_aminDims(r.handle, handle_, dims.count(), dims.data(), keepdim), "aminDims");
    }
    Tensor min(IntList dims, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_aminDims(r.handle, handle_, dims.count(), dims.data(), keepdim), "min");
    }
    Tensor min(std::initializer_list<int64_t> dims, bool keepdim = false) const { return min(IntList(dims), keepdim); }
    /// `r = whether all elements of t over dimension are not 0`, or over all elements with `TH_ALL_DIMS`.
    Tensor all(int dimension = everyDim, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_all(r.handle, handle_, dimension, keepdim), "all");
    }
    /// `r = whether all elements of t over dims are not 0`; otherwise as all, with `dims` as for sumDims.
    Tensor allDims(IntList dims, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_allDims(r.handle, handle_, dims.count(), dims.data(), keepdim), "allDims");
    }
    Tensor all(IntList dims, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_allDims(r.handle, handle_, dims.count(), dims.data(), keepdim), "all");
    }
    Tensor all(std::initializer_list<int64_t> dims, bool keepdim = false) const { return all(IntList(dims), keepdim); }
    /// `r = whether any element of t over dimension is not 0`; without elements the result is false.
    Tensor any(int dimension = everyDim, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_any(r.handle, handle_, dimension, keepdim), "any");
    }
    /// `r = whether any element of t over dims is not 0`; otherwise as any, with `dims` as for sumDims.
    Tensor anyDims(IntList dims, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_anyDims(r.handle, handle_, dims.count(), dims.data(), keepdim), "anyDims");
    }
    Tensor any(IntList dims, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_anyDims(r.handle, handle_, dims.count(), dims.data(), keepdim), "any");
    }
    Tensor any(std::initializer_list<int64_t> dims, bool keepdim = false) const { return any(IntList(dims), keepdim); }
    /// `r = sum of t over dimension`, or over all elements with `TH_ALL_DIMS`.
    Tensor sum(int dimension = everyDim, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_sum(r.handle, handle_, dimension, keepdim), "sum");
    }
    /// `r = sum of t over dims`: `ndim` distinct dimensions in any order, or all if `ndim` is 0.
    Tensor sumDims(IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        detail::New r;
        return r(THTensor_sumDims(r.handle, handle_, dims.count(), dims.data(), keepdim, static_cast<THDtype>(dtype)),
            "sumDims");
    }
    Tensor sum(IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        detail::New r;
        return r(THTensor_sumDims(r.handle, handle_, dims.count(), dims.data(), keepdim, static_cast<THDtype>(dtype)),
            "sum");
    }
    Tensor sum(std::initializer_list<int64_t> dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        return sum(IntList(dims), keepdim, dtype);
    }
    /// `r = product of t over dimension`, or over all elements with `TH_ALL_DIMS`.
    Tensor prod(int dimension = everyDim, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_prod(r.handle, handle_, dimension, keepdim), "prod");
    }
    /// `r = product of t over dims`; otherwise as prod, with `dims` and `dtype` as for sumDims.
    Tensor prodDims(IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        detail::New r;
        return r(THTensor_prodDims(r.handle, handle_, dims.count(), dims.data(), keepdim, static_cast<THDtype>(dtype)),
            "prodDims");
    }
    Tensor prod(IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        detail::New r;
        return r(THTensor_prodDims(r.handle, handle_, dims.count(), dims.data(), keepdim, static_cast<THDtype>(dtype)),
            "prod");
    }
    Tensor prod(std::initializer_list<int64_t> dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        return prod(IntList(dims), keepdim, dtype);
    }
    /// `r = mean of t over dimension`, or over all elements with `TH_ALL_DIMS`: the sum, computed as by sum, divided by
    /// the number of elements.
    Tensor mean(int dimension = everyDim, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_mean(r.handle, handle_, dimension, keepdim), "mean");
    }
    /// `r = mean of t over dims`; `t` may be of integers if `dtype` is a float.
    Tensor meanDims(IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        detail::New r;
        return r(THTensor_meanDims(r.handle, handle_, dims.count(), dims.data(), keepdim, static_cast<THDtype>(dtype)),
            "meanDims");
    }
    Tensor mean(IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        detail::New r;
        return r(THTensor_meanDims(r.handle, handle_, dims.count(), dims.data(), keepdim, static_cast<THDtype>(dtype)),
            "mean");
    }
    Tensor mean(std::initializer_list<int64_t> dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        return mean(IntList(dims), keepdim, dtype);
    }
    /// `r = sum of t over dimension without the NaNs`, or over all elements with `TH_ALL_DIMS`; all floats are summed
    /// in float64.
    Tensor nansum(int dimension = everyDim, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_nansum(r.handle, handle_, dimension, keepdim), "nansum");
    }
    /// `r = sum of t over dims without the NaNs`; otherwise as nansum, with `dims` and `dtype` as for sumDims.
    Tensor nansumDims(IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        detail::New r;
        return r(THTensor_nansumDims(r.handle, handle_, dims.count(), dims.data(), keepdim,
            static_cast<THDtype>(dtype)), "nansumDims");
    }
    Tensor nansum(IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        detail::New r;
        return r(THTensor_nansumDims(r.handle, handle_, dims.count(), dims.data(), keepdim,
            static_cast<THDtype>(dtype)), "nansum");
    }
    Tensor nansum(std::initializer_list<int64_t> dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        return nansum(IntList(dims), keepdim, dtype);
    }
    /// `r = sum of (t - mean)^2 / (n - 1) over dimension`, or over all elements with `TH_ALL_DIMS`; the divisor is `n`
    /// if `biased`.
    Tensor var(int dimension = everyDim, bool biased = false, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_var(r.handle, handle_, dimension, biased, keepdim), "var");
    }
    /// `r = variance of t over dims`; otherwise as var, with `dims` as for sumDims.
    Tensor varDims(IntList dims, bool biased = false, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_varDims(r.handle, handle_, dims.count(), dims.data(), biased, keepdim), "varDims");
    }
    Tensor var(IntList dims, bool biased = false, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_varDims(r.handle, handle_, dims.count(), dims.data(), biased, keepdim), "var");
    }
    Tensor var(std::initializer_list<int64_t> dims, bool biased = false, bool keepdim = false) const {
        return var(IntList(dims), biased, keepdim);
    }
    /// The variance of all elements, with `biased` as for var.
    double varall(bool biased = false) const {
        THClearLastError();
        const double r = THTensor_varall(handle_, biased);
        return detail::known(r, r != r, "varall");
    }
    /// `r = sum of (t - mean)^2 / (n - correction) over dimension`; otherwise as var, whose correction is 1, or 0 if
    /// `biased`.
    Tensor varCorrection(int dimension = everyDim, double correction = 1, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_varCorrection(r.handle, handle_, dimension, correction, keepdim), "varCorrection");
    }
    /// `r = variance of t over dims`; otherwise as varCorrection, with `dims` as for sumDims.
    Tensor varDimsCorrection(IntList dims, double correction = 1, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_varDimsCorrection(r.handle, handle_, dims.count(), dims.data(), correction, keepdim),
            "varDimsCorrection");
    }
    /// The variance of all elements, with `correction` as for varCorrection.
    double varallCorrection(double correction = 1) const {
        THClearLastError();
        const double r = THTensor_varallCorrection(handle_, correction);
        return detail::known(r, r != r, "varallCorrection");
    }
    /// `r = sqrt(variance of t over dimension)`; otherwise as var.
    Tensor std(int dimension = everyDim, bool biased = false, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_std(r.handle, handle_, dimension, biased, keepdim), "std");
    }
    /// `r = sqrt(variance of t over dims)`; otherwise as var, with `dims` as for sumDims.
    Tensor stdDims(IntList dims, bool biased = false, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_stdDims(r.handle, handle_, dims.count(), dims.data(), biased, keepdim), "stdDims");
    }
    Tensor std(IntList dims, bool biased = false, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_stdDims(r.handle, handle_, dims.count(), dims.data(), biased, keepdim), "std");
    }
    Tensor std(std::initializer_list<int64_t> dims, bool biased = false, bool keepdim = false) const {
        return std(IntList(dims), biased, keepdim);
    }
    /// The standard deviation of all elements, with `biased` as for var.
    double stdall(bool biased = false) const {
        THClearLastError();
        const double r = THTensor_stdall(handle_, biased);
        return detail::known(r, r != r, "stdall");
    }
    /// `r = sqrt(variance of t over dimension)`; otherwise as varCorrection.
    Tensor stdCorrection(int dimension = everyDim, double correction = 1, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_stdCorrection(r.handle, handle_, dimension, correction, keepdim), "stdCorrection");
    }
    /// `r = sqrt(variance of t over dims)`; otherwise as varCorrection, with `dims` as for sumDims.
    Tensor stdDimsCorrection(IntList dims, double correction = 1, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_stdDimsCorrection(r.handle, handle_, dims.count(), dims.data(), correction, keepdim),
            "stdDimsCorrection");
    }
    /// The standard deviation of all elements, with `correction` as for varCorrection.
    double stdallCorrection(double correction = 1) const {
        THClearLastError();
        const double r = THTensor_stdallCorrection(handle_, correction);
        return detail::known(r, r != r, "stdallCorrection");
    }
    /// `values = greatest elements of t over dimension`, or over all elements with `TH_ALL_DIMS`; `indices` = the int64
    /// index of the first occurrence of each value, in row-major order over all elements.
    ValuesIndices max(int dimension, bool keepdim = false) const;
    /// `r = index of the first greatest element of t over dimension`, as int64, or in row-major order over all elements
    /// with `TH_ALL_DIMS`.
    Tensor argmax(int dimension = everyDim, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_argmax(r.handle, handle_, dimension, keepdim), "argmax");
    }
    /// The greatest element; NaN if any element is NaN.
    double maxall() const {
        THClearLastError();
        const double r = THTensor_maxall(handle_);
        return detail::known(r, r != r, "maxall");
    }
    /// `values = least elements of t over dimension`; otherwise as max.
    ValuesIndices min(int dimension, bool keepdim = false) const;
    /// `r = index of the first least element of t over dimension`; otherwise as argmax.
    Tensor argmin(int dimension = everyDim, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_argmin(r.handle, handle_, dimension, keepdim), "argmin");
    }
    /// The least element; NaN if any element is NaN.
    double minall() const {
        THClearLastError();
        const double r = THTensor_minall(handle_);
        return detail::known(r, r != r, "minall");
    }
    /// `r = (sum of |t|^value over dimension)^(1/value)`, or over all elements with `TH_ALL_DIMS`.
    Tensor norm(double value = 2, int dimension = everyDim, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_norm(r.handle, handle_, value, dimension, keepdim), "norm");
    }
    /// norm by PyTorch's name.
    Tensor vectorNorm(double value = 2, int dimension = everyDim, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_norm(r.handle, handle_, value, dimension, keepdim), "vectorNorm");
    }
    /// `r = (sum of |t|^value over dims)^(1/value)`; otherwise as norm, with `dims` as for sumDims.
    Tensor normDims(double value, IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        detail::New r;
        return r(THTensor_normDims(r.handle, handle_, value, dims.count(), dims.data(), keepdim,
            static_cast<THDtype>(dtype)), "normDims");
    }
    Tensor normDims(IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        detail::New r;
        return r(THTensor_normDims(r.handle, handle_, 2, dims.count(), dims.data(), keepdim,
            static_cast<THDtype>(dtype)), "normDims");
    }
    Tensor norm(double value, IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        detail::New r;
        return r(THTensor_normDims(r.handle, handle_, value, dims.count(), dims.data(), keepdim,
            static_cast<THDtype>(dtype)), "norm");
    }
    Tensor norm(IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        detail::New r;
        return r(THTensor_normDims(r.handle, handle_, 2, dims.count(), dims.data(), keepdim,
            static_cast<THDtype>(dtype)), "norm");
    }
    Tensor norm(std::initializer_list<int64_t> dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        return norm(IntList(dims), keepdim, dtype);
    }
    Tensor vectorNorm(double value, IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        detail::New r;
        return r(THTensor_normDims(r.handle, handle_, value, dims.count(), dims.data(), keepdim,
            static_cast<THDtype>(dtype)), "vectorNorm");
    }
    Tensor vectorNorm(IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) const {
        detail::New r;
        return r(THTensor_normDims(r.handle, handle_, 2, dims.count(), dims.data(), keepdim,
            static_cast<THDtype>(dtype)), "vectorNorm");
    }
    /// `least, greatest = least and greatest elements of t over dimension`, or over all elements with `TH_ALL_DIMS`.
    LeastGreatest aminmax(int dimension = everyDim, bool keepdim = false) const;
    /// The sum of all elements; floats are summed in float64 throughout.
    double sumall() const {
        THClearLastError();
        const double r = THTensor_sumall(handle_);
        return detail::known(r, r != r, "sumall");
    }
    /// The product of all elements.
    double prodall() const {
        THClearLastError();
        const double r = THTensor_prodall(handle_);
        return detail::known(r, r != r, "prodall");
    }
    /// The mean of all elements, computed in float64 throughout.
    double meanall() const {
        THClearLastError();
        const double r = THTensor_meanall(handle_);
        return detail::known(r, r != r, "meanall");
    }
    /// The norm of all elements, with `value` as for norm, computed in float64 throughout.
    double normall(double value = 2) const {
        THClearLastError();
        const double r = THTensor_normall(handle_, value);
        return detail::known(r, r != r, "normall");
    }
    /// `(sum of |a - b|^value)^(1/value)`: the norm of the difference, with broadcasting, computed in float64
    /// throughout.
    double dist(const Tensor &b, double value = 2) const {
        THClearLastError();
        const double r = THTensor_dist(handle_, b.get(), value);
        return detail::known(r, r != r, "dist");
    }
    /// Returns True if no element is 0, else 0.
    bool logicalall() const {
        THClearLastError();
        const int r = THTensor_logicalall(handle_);
        return detail::known(r != 0, !r, "logicalall");
    }
    /// Returns True if any element is not 0, else 0.
    bool logicalany() const {
        THClearLastError();
        const int r = THTensor_logicalany(handle_);
        return detail::known(r != 0, !r, "logicalany");
    }

    // ---------------------------------------------------------------------------------------------- Scans and softmax

    /// `r[i] = t[0] + ... + t[i]` along `dimension`; `r` has the shape of `t`.
    Tensor cumsum(int dimension) const {
        detail::New r;
        return r(THTensor_cumsum(r.handle, handle_, dimension), "cumsum");
    }
    Tensor &cumsum_(int dimension) { return changed(THTensor_cumsum(handle_, handle_, dimension), "cumsum_"); }
    /// `r[i] = t[0] + ... + t[i]` along `dimension`, where `t` is first converted to `dtype`, the dtype of the result.
    Tensor cumsumDtype(int dimension, Dtype dtype = Dtype::Undefined) const {
        detail::New r;
        return r(THTensor_cumsumDtype(r.handle, handle_, dimension, static_cast<THDtype>(dtype)), "cumsumDtype");
    }
    Tensor &cumsumDtype_(int dimension, Dtype dtype = Dtype::Undefined) {
        return changed(THTensor_cumsumDtype(handle_, handle_, dimension, static_cast<THDtype>(dtype)), "cumsumDtype_");
    }
    Tensor cumsum(int dimension, Dtype dtype) const {
        detail::New r;
        return r(THTensor_cumsumDtype(r.handle, handle_, dimension, static_cast<THDtype>(dtype)), "cumsum");
    }
    Tensor &cumsum_(int dimension, Dtype dtype) {
        return changed(THTensor_cumsumDtype(handle_, handle_, dimension, static_cast<THDtype>(dtype)), "cumsum_");
    }
    /// `r[i] = t[0] + ... + t[i]` along `dimension`, where NaN counts as 0; otherwise as cumsum.
    Tensor nancumsum(int dimension) const {
        detail::New r;
        return r(THTensor_nancumsum(r.handle, handle_, dimension), "nancumsum");
    }
    Tensor &nancumsum_(int dimension) { return changed(THTensor_nancumsum(handle_, handle_, dimension), "nancumsum_"); }
    /// `r[i] = t[0] * ... * t[i]` along `dimension`; otherwise as cumsum.
    Tensor cumprod(int dimension) const {
        detail::New r;
        return r(THTensor_cumprod(r.handle, handle_, dimension), "cumprod");
    }
    Tensor &cumprod_(int dimension) { return changed(THTensor_cumprod(handle_, handle_, dimension), "cumprod_"); }
    /// `r[i] = t[0] * ... * t[i]` along `dimension`, where `t` is first converted to `dtype`; otherwise as cumprod,
    /// with `dtype` as for cumsumDtype.
    Tensor cumprodDtype(int dimension, Dtype dtype = Dtype::Undefined) const {
        detail::New r;
        return r(THTensor_cumprodDtype(r.handle, handle_, dimension, static_cast<THDtype>(dtype)), "cumprodDtype");
    }
    Tensor &cumprodDtype_(int dimension, Dtype dtype = Dtype::Undefined) {
        return changed(THTensor_cumprodDtype(handle_, handle_, dimension, static_cast<THDtype>(dtype)),
            "cumprodDtype_");
    }
    Tensor cumprod(int dimension, Dtype dtype) const {
        detail::New r;
        return r(THTensor_cumprodDtype(r.handle, handle_, dimension, static_cast<THDtype>(dtype)), "cumprod");
    }
    Tensor &cumprod_(int dimension, Dtype dtype) {
        return changed(THTensor_cumprodDtype(handle_, handle_, dimension, static_cast<THDtype>(dtype)), "cumprod_");
    }
    /// `values[i] = max(t[0], ..., t[i])` along `dimension`; `indices` = its int64 index, the last one among equal
    /// elements.
    ValuesIndices cummax(int dimension) const;
    /// `values[i] = min(t[0], ..., t[i])` along `dimension`; all values after a NaN are NaN.
    ValuesIndices cummin(int dimension) const;
    /// `r = e^t / sum of e^t` along `dimension`: positive numbers that sum to 1, without overflow.
    Tensor softmax(int dimension) const {
        detail::New r;
        return r(THTensor_softmax(r.handle, handle_, dimension), "softmax");
    }
    Tensor &softmax_(int dimension) { return changed(THTensor_softmax(handle_, handle_, dimension), "softmax_"); }
    /// `r = e^t / sum of e^t` along `dimension`, where `t` is first converted to the float `dtype`, the dtype of the
    /// result.
    Tensor softmaxDtype(int dimension, Dtype dtype = Dtype::Undefined) const {
        detail::New r;
        return r(THTensor_softmaxDtype(r.handle, handle_, dimension, static_cast<THDtype>(dtype)), "softmaxDtype");
    }
    Tensor &softmaxDtype_(int dimension, Dtype dtype = Dtype::Undefined) {
        return changed(THTensor_softmaxDtype(handle_, handle_, dimension, static_cast<THDtype>(dtype)),
            "softmaxDtype_");
    }
    Tensor softmax(int dimension, Dtype dtype) const {
        detail::New r;
        return r(THTensor_softmaxDtype(r.handle, handle_, dimension, static_cast<THDtype>(dtype)), "softmax");
    }
    Tensor &softmax_(int dimension, Dtype dtype) {
        return changed(THTensor_softmaxDtype(handle_, handle_, dimension, static_cast<THDtype>(dtype)), "softmax_");
    }
    /// `r = t - log(sum of e^t)` along `dimension`: the logarithm of softmax, accurate even where softmax is tiny.
    Tensor logSoftmax(int dimension) const {
        detail::New r;
        return r(THTensor_logSoftmax(r.handle, handle_, dimension), "logSoftmax");
    }
    Tensor &logSoftmax_(int dimension) {
        return changed(THTensor_logSoftmax(handle_, handle_, dimension), "logSoftmax_");
    }
    /// `r = t - log(sum of e^t)` along `dimension`, where `t` is first converted to `dtype`; otherwise as logSoftmax,
    /// with `dtype` as for softmaxDtype.
    Tensor logSoftmaxDtype(int dimension, Dtype dtype = Dtype::Undefined) const {
        detail::New r;
        return r(THTensor_logSoftmaxDtype(r.handle, handle_, dimension, static_cast<THDtype>(dtype)),
            "logSoftmaxDtype");
    }
    Tensor &logSoftmaxDtype_(int dimension, Dtype dtype = Dtype::Undefined) {
        return changed(THTensor_logSoftmaxDtype(handle_, handle_, dimension, static_cast<THDtype>(dtype)),
            "logSoftmaxDtype_");
    }
    Tensor logSoftmax(int dimension, Dtype dtype) const {
        detail::New r;
        return r(THTensor_logSoftmaxDtype(r.handle, handle_, dimension, static_cast<THDtype>(dtype)), "logSoftmax");
    }
    Tensor &logSoftmax_(int dimension, Dtype dtype) {
        return changed(THTensor_logSoftmaxDtype(handle_, handle_, dimension, static_cast<THDtype>(dtype)),
            "logSoftmax_");
    }
    /// `r[i] = log(e^t[0] + ... + e^t[i])` along `dimension`, without overflow; computed in float64.
    Tensor logcumsumexp(int dimension) const {
        detail::New r;
        return r(THTensor_logcumsumexp(r.handle, handle_, dimension), "logcumsumexp");
    }
    Tensor &logcumsumexp_(int dimension) {
        return changed(THTensor_logcumsumexp(handle_, handle_, dimension), "logcumsumexp_");
    }
    /// `r = log(sum of e^t)` over `dimension`, or over all elements with `TH_ALL_DIMS`, without overflow; without
    /// elements the result is minus infinity.
    Tensor logsumexp(int dimension, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_logsumexp(r.handle, handle_, dimension, keepdim), "logsumexp");
    }
    Tensor &logsumexp_(int dimension, bool keepdim = false) {
        return changed(THTensor_logsumexp(handle_, handle_, dimension, keepdim), "logsumexp_");
    }
    /// `r = log(sum of e^t)` over the `ndim` distinct dimensions in `dims`, or over all if `ndim` is 0 and `dims` NULL.
    Tensor logsumexpDims(IntList dims, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_logsumexpDims(r.handle, handle_, dims.count(), dims.data(), keepdim), "logsumexpDims");
    }
    Tensor &logsumexpDims_(IntList dims, bool keepdim = false) {
        return changed(THTensor_logsumexpDims(handle_, handle_, dims.count(), dims.data(), keepdim), "logsumexpDims_");
    }
    Tensor logsumexp(IntList dims, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_logsumexpDims(r.handle, handle_, dims.count(), dims.data(), keepdim), "logsumexp");
    }
    Tensor logsumexp(std::initializer_list<int64_t> dims, bool keepdim = false) const {
        return logsumexp(IntList(dims), keepdim);
    }
    Tensor &logsumexp_(IntList dims, bool keepdim = false) {
        return changed(THTensor_logsumexpDims(handle_, handle_, dims.count(), dims.data(), keepdim), "logsumexp_");
    }
    /// `r = t`, where each slice along `dimension` with a p-norm above `maxnorm` is multiplied by
    /// `maxnorm / (norm + 1e-7)`.
    Tensor renorm(double value, int dimension, double maxnorm) const {
        detail::New r;
        return r(THTensor_renorm(r.handle, handle_, value, dimension, maxnorm), "renorm");
    }
    Tensor &renorm_(double value, int dimension, double maxnorm) {
        return changed(THTensor_renorm(handle_, handle_, value, dimension, maxnorm), "renorm_");
    }

    // ---------------------------------------------------------------------------- Losses, normalization and gradients

    /// `r = y * (g - sum of g * y)` along `dimension`: the gradient of softmax, computed from its result `y` and the
    /// gradient `g` of the result.
    Tensor softmaxGrad(const Tensor &y, int dimension) const {
        detail::New r;
        return r(THTensor_softmaxGrad(r.handle, handle_, y.get(), dimension), "softmaxGrad");
    }
    /// `r = g - e^y * sum of g` along `dimension`: the gradient of logSoftmax, computed from its result `y` and the
    /// gradient `g` of the result.
    Tensor logSoftmaxGrad(const Tensor &y, int dimension) const {
        detail::New r;
        return r(THTensor_logSoftmaxGrad(r.handle, handle_, y.get(), dimension), "logSoftmaxGrad");
    }
    /// `r = (t - mean) / sqrt(variance + eps) * weight + bias`, with mean and biased variance over the last
    /// `normalizedNdim` dimensions of `t`, at least 1.
    Tensor layerNorm(int normalizedNdim, const Tensor &weight = {}, const Tensor &bias = {},
        double eps = 0.00001) const {
        detail::New r;
        return r(THTensor_layerNorm(r.handle, handle_, normalizedNdim, weight.get(), bias.get(), eps), "layerNorm");
    }
    /// The gradients of layerNorm, computed from the gradient `g` of its result: `gradInput` of `t`, `gradWeight` of
    /// `weight` and `gradBias` of `bias`.
    GradInputGradWeightGradBias layerNormGrad(const Tensor &t, int normalizedNdim, const Tensor &weight = {},
        double eps = 0.00001) const;
    /// `r = softmax(query @ key^T * scale + mask) @ value` along the last dimension: attention of `L` rows of `query`
    /// to `S` rows of `key` and `value`.
    RLogSumExp scaledDotProductAttention(const Generator &generator, const Tensor &key, const Tensor &value,
        const Tensor &mask = {}, double p = 0, bool causal = false, double scale = 0, bool enableGqa = false) const;
    RLogSumExp scaledDotProductAttention(const Tensor &key, const Tensor &value, const Tensor &mask = {}, double p = 0,
        bool causal = false, double scale = 0, bool enableGqa = false) const;
    /// The gradients of scaledDotProductAttention, from the gradient `g` of its result `y`, and the gradient
    /// `gLogSumExp` of `logSumExp`, or NULL: `gradQuery` of `query`, `gradKey` of `key`, `gradValue` of `value`, and
    /// `gradMask` of a mask that is not Bool.
    GradQueryGradKeyGradValueGradMask scaledDotProductAttentionGrad(const Tensor &gLogSumExp, const Tensor &y,
        const Tensor &logSumExp, const Tensor &seed, const Tensor &query, const Tensor &key, const Tensor &value,
        const Tensor &mask = {}, double p = 0, bool causal = false, double scale = 0, bool enableGqa = false) const;
    GradQueryGradKeyGradValueGradMask scaledDotProductAttentionGrad(const Tensor &y, const Tensor &logSumExp,
        const Tensor &query, const Tensor &key, const Tensor &value, const Tensor &mask = {}, double p = 0,
        bool causal = false, double scale = 0, bool enableGqa = false) const;
    /// `r = t / sqrt(mean of t^2 + eps) * weight`, with the mean over the last `normalizedNdim` dimensions of `t`
    /// (Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019).
    Tensor rmsNorm(int normalizedNdim, const Tensor &weight, double eps) const {
        detail::New r;
        return r(THTensor_rmsNorm(r.handle, handle_, normalizedNdim, weight.get(), eps), "rmsNorm");
    }
    Tensor rmsNorm(int normalizedNdim, double eps) const {
        detail::New r;
        return r(THTensor_rmsNorm(r.handle, handle_, normalizedNdim, nullptr, eps), "rmsNorm");
    }
    /// The gradients of rmsNorm, computed from the gradient `g` of its result.
    GradInputGradWeight rmsNormGrad(const Tensor &t, int normalizedNdim, const Tensor &weight, double eps) const;
    GradInputGradWeight rmsNormGrad(const Tensor &t, int normalizedNdim, double eps) const;
    /// `r = (t - mean) / sqrt(variance + eps) * weight + bias`, with mean and biased variance over each group of
    /// adjacent channels and the dimensions after the channels (Wu and He, "Group Normalization", 2018).
    Tensor groupNorm(int64_t numGroups, const Tensor &weight = {}, const Tensor &bias = {},
        double eps = 0.00001) const {
        detail::New r;
        return r(THTensor_groupNorm(r.handle, handle_, numGroups, weight.get(), bias.get(), eps), "groupNorm");
    }
    /// The gradients of groupNorm, computed from the gradient `g` of its result.
    GradInputGradWeightGradBias groupNormGrad(const Tensor &t, int64_t numGroups, const Tensor &weight = {},
        double eps = 0.00001) const;
    /// groupNorm with a group for each channel: the statistics are of each image and channel, without running
    /// statistics (Ulyanov, Vedaldi and Lempitsky, "Instance Normalization", 2016).
    Tensor instanceNorm(const Tensor &weight = {}, const Tensor &bias = {}, double eps = 0.00001) const {
        detail::New r;
        return r(THTensor_instanceNorm(r.handle, handle_, weight.get(), bias.get(), eps), "instanceNorm");
    }
    /// `r = t / (k + alpha / size * sum of t^2)^beta`, with the sum over `size` channels, from `size / 2` channels
    /// before to `(size - 1) / 2` channels after the element's own; absent channels count as 0 (Krizhevsky, Sutskever
    /// and Hinton, "ImageNet Classification with Deep Convolutional Neural Networks", 2012, without the division by
    /// `size`).
    Tensor localResponseNorm(int64_t size, double alpha = 0.0001, double beta = 0.75, double k = 1) const {
        detail::New r;
        return r(THTensor_localResponseNorm(r.handle, handle_, size, alpha, beta, k), "localResponseNorm");
    }
    /// `r = -weight[c] * t[c]` for each position, where `c` is the position's class in `target`: the negative
    /// log-likelihood loss of log-probabilities `t`, which logSoftmax computes.
    Tensor nllLoss(const Tensor &target, const Tensor &weight = {}, Reduction reduction = Reduction::Mean,
        int64_t ignoreIndex = -100) const {
        detail::New r;
        return r(THTensor_nllLoss(r.handle, handle_, target.get(), weight.get(), static_cast<THReduction>(reduction),
            ignoreIndex), "nllLoss");
    }
    /// `r = -g * weight[c]` at the class `c` of each position, and 0 elsewhere: the gradient of nllLoss.
    Tensor nllLossGrad(const Tensor &t, const Tensor &target, const Tensor &weight = {},
        Reduction reduction = Reduction::Mean, int64_t ignoreIndex = -100) const {
        detail::New r;
        return r(THTensor_nllLossGrad(r.handle, handle_, t.get(), target.get(), weight.get(),
            static_cast<THReduction>(reduction), ignoreIndex), "nllLossGrad");
    }
    /// nllLoss of `logSoftmax(t)` along the classes: the loss of scores `t`.
    Tensor crossEntropy(const Tensor &target, const Tensor &weight = {}, Reduction reduction = Reduction::Mean,
        int64_t ignoreIndex = -100) const {
        detail::New r;
        return r(THTensor_crossEntropy(r.handle, handle_, target.get(), weight.get(),
            static_cast<THReduction>(reduction), ignoreIndex), "crossEntropy");
    }
    /// `r = g * weight[c] * (softmax(t) - 1 at the class c of each position)`, and 0 at ignored positions: the gradient
    /// of crossEntropy.
    Tensor crossEntropyGrad(const Tensor &t, const Tensor &target, const Tensor &weight = {},
        Reduction reduction = Reduction::Mean, int64_t ignoreIndex = -100) const {
        detail::New r;
        return r(THTensor_crossEntropyGrad(r.handle, handle_, t.get(), target.get(), weight.get(),
            static_cast<THReduction>(reduction), ignoreIndex), "crossEntropyGrad");
    }
    /// crossEntropy with smoothed targets: the class of a position counts `1 - smoothing`, and each of the `classes`
    /// classes, including this one, counts `smoothing / classes`, multiplied by its weight.
    Tensor crossEntropyLabelSmoothing(const Tensor &target, const Tensor &weight = {},
        Reduction reduction = Reduction::Mean, int64_t ignoreIndex = -100, double smoothing = 0) const {
        detail::New r;
        return r(THTensor_crossEntropyLabelSmoothing(r.handle, handle_, target.get(), weight.get(),
            static_cast<THReduction>(reduction), ignoreIndex, smoothing), "crossEntropyLabelSmoothing");
    }
    /// `r = (t - target)^2`, reduced: the squared error.
    Tensor mseLoss(const Tensor &target, Reduction reduction = Reduction::Mean) const {
        detail::New r;
        return r(THTensor_mseLoss(r.handle, handle_, target.get(), static_cast<THReduction>(reduction)), "mseLoss");
    }
    /// `r = |t - target|`, reduced.
    Tensor l1Loss(const Tensor &target, Reduction reduction = Reduction::Mean) const {
        detail::New r;
        return r(THTensor_l1Loss(r.handle, handle_, target.get(), static_cast<THReduction>(reduction)), "l1Loss");
    }
    /// `r = d^2 / (2 * beta) where d < beta, else d - beta / 2`, for `d = |t - target|`, reduced.
    Tensor smoothL1Loss(const Tensor &target, Reduction reduction = Reduction::Mean, double beta = 1) const {
        detail::New r;
        return r(THTensor_smoothL1Loss(r.handle, handle_, target.get(), static_cast<THReduction>(reduction), beta),
            "smoothL1Loss");
    }
    /// `r = d^2 / 2 where d < delta, else delta * (d - delta / 2)`, for `d = |t - target|`, reduced.
    Tensor huberLoss(const Tensor &target, Reduction reduction = Reduction::Mean, double delta = 1) const {
        detail::New r;
        return r(THTensor_huberLoss(r.handle, handle_, target.get(), static_cast<THReduction>(reduction), delta),
            "huberLoss");
    }
    /// `r = weight * (posWeight * target * log(1 + e^-t) + (1 - target) * log(1 + e^t))`, reduced: the cross entropy of
    /// the probability `sigmoid(t)`, for `target` from 0 to 1.
    Tensor bceWithLogits(const Tensor &target, const Tensor &weight = {}, const Tensor &posWeight = {},
        Reduction reduction = Reduction::Mean) const {
        detail::New r;
        return r(THTensor_bceWithLogits(r.handle, handle_, target.get(), weight.get(), posWeight.get(),
            static_cast<THReduction>(reduction)), "bceWithLogits");
    }
    /// bceWithLogits by PyTorch's name.
    Tensor binaryCrossEntropyWithLogits(const Tensor &target, const Tensor &weight = {}, const Tensor &posWeight = {},
        Reduction reduction = Reduction::Mean) const {
        detail::New r;
        return r(THTensor_bceWithLogits(r.handle, handle_, target.get(), weight.get(), posWeight.get(),
            static_cast<THReduction>(reduction)), "binaryCrossEntropyWithLogits");
    }
    /// `r = target * (log(target) - t)`, reduced: the Kullback-Leibler divergence of the probabilities `target` from
    /// the probabilities whose logarithms are `t`.
    Tensor klDiv(const Tensor &target, bool logTarget = false, Reduction reduction = Reduction::Mean) const {
        detail::New r;
        return r(THTensor_klDiv(r.handle, handle_, target.get(), logTarget, static_cast<THReduction>(reduction)),
            "klDiv");
    }
    /// `r = -weight * (target * log(t) + (1 - target) * log(1 - t))`, reduced: the cross entropy of the probability
    /// `t`, for `target` from 0 to 1.
    Tensor bce(const Tensor &target, const Tensor &weight = {}, Reduction reduction = Reduction::Mean) const {
        detail::New r;
        return r(THTensor_bce(r.handle, handle_, target.get(), weight.get(), static_cast<THReduction>(reduction)),
            "bce");
    }
    /// bce by PyTorch's name.
    Tensor binaryCrossEntropy(const Tensor &target, const Tensor &weight = {},
        Reduction reduction = Reduction::Mean) const {
        detail::New r;
        return r(THTensor_bce(r.handle, handle_, target.get(), weight.get(), static_cast<THReduction>(reduction)),
            "binaryCrossEntropy");
    }
    /// `r = e^t - target * t` with `logInput`, else `r = t - target * log(t + eps)`, reduced: the negative
    /// log-likelihood of a count `target` of a Poisson distribution whose mean is `e^t` or `t`, without the term
    /// `log(target!)`.
    Tensor poissonNllLoss(const Tensor &target, bool logInput = true, bool full = false, double eps = 1e-8,
        Reduction reduction = Reduction::Mean) const {
        detail::New r;
        return r(THTensor_poissonNllLoss(r.handle, handle_, target.get(), logInput, full, eps,
            static_cast<THReduction>(reduction)), "poissonNllLoss");
    }
    /// `r = (log(v) + (t - target)^2 / v) / 2`, with `v = max(variance, eps)`, reduced: the negative log-likelihood of
    /// `target` of a normal distribution with the mean `t`, without the term `log(2 * pi) / 2`, which `full` adds.
    Tensor gaussianNllLoss(const Tensor &target, const Tensor &variance, bool full = false, double eps = 1e-6,
        Reduction reduction = Reduction::Mean) const {
        detail::New r;
        return r(THTensor_gaussianNllLoss(r.handle, handle_, target.get(), variance.get(), full, eps,
            static_cast<THReduction>(reduction)), "gaussianNllLoss");
    }
    /// `r = -log(P)` for each sample, reduced, where `P` is the probability of the labels of the sample, summed over
    /// all alignments: the loss of connectionist temporal classification (A.
    Tensor ctcLoss(const Tensor &targets, const Tensor &inputLengths, const Tensor &targetLengths, int64_t blank,
        Reduction reduction, bool zeroInfinity) const {
        detail::New r;
        return r(THTensor_ctcLoss(r.handle, handle_, targets.get(), inputLengths.get(), targetLengths.get(), blank,
            static_cast<THReduction>(reduction), zeroInfinity), "ctcLoss");
    }
    Tensor ctcLoss(const Tensor &targets, const Tensor &inputLengths, const Tensor &targetLengths, int64_t blank,
        bool zeroInfinity) const {
        detail::New r;
        return r(THTensor_ctcLoss(r.handle, handle_, targets.get(), inputLengths.get(), targetLengths.get(), blank,
            static_cast<THReduction>(Reduction::Mean), zeroInfinity), "ctcLoss");
    }
    /// `r` = the gradient of `logProbs` from the gradient `g` of ctcLoss; 0 for a sample without an alignment.
    Tensor ctcLossGrad(const Tensor &logProbs, const Tensor &targets, const Tensor &inputLengths,
        const Tensor &targetLengths, int64_t blank, Reduction reduction, bool zeroInfinity) const {
        detail::New r;
        return r(THTensor_ctcLossGrad(r.handle, handle_, logProbs.get(), targets.get(), inputLengths.get(),
            targetLengths.get(), blank, static_cast<THReduction>(reduction), zeroInfinity), "ctcLossGrad");
    }
    Tensor ctcLossGrad(const Tensor &logProbs, const Tensor &targets, const Tensor &inputLengths,
        const Tensor &targetLengths, int64_t blank, bool zeroInfinity) const {
        detail::New r;
        return r(THTensor_ctcLossGrad(r.handle, handle_, logProbs.get(), targets.get(), inputLengths.get(),
            targetLengths.get(), blank, static_cast<THReduction>(Reduction::Mean), zeroInfinity), "ctcLossGrad");
    }
    /// `r = max(margin - target * (a - b), 0)`, reduced: the loss of a ranking, where `target` is 1 if `a` should be
    /// greater than `b`, and -1 if `b` should be greater.
    Tensor marginRankingLoss(const Tensor &b, const Tensor &target, double margin = 0,
        Reduction reduction = Reduction::Mean) const {
        detail::New r;
        return r(THTensor_marginRankingLoss(r.handle, handle_, b.get(), target.get(), margin,
            static_cast<THReduction>(reduction)), "marginRankingLoss");
    }
    /// `r = sum of a * b / (max(norm of a, eps) * max(norm of b, eps))` along `dimension`: the cosine of the angle
    /// between vectors.
    Tensor cosineSimilarity(const Tensor &b, int dimension = 1, double eps = 1e-8) const {
        detail::New r;
        return r(THTensor_cosineSimilarity(r.handle, handle_, b.get(), dimension, eps), "cosineSimilarity");
    }
    /// `r = (sum of |a - b + eps|^value)^(1/value)` along the last dimension: the distance of vectors.
    Tensor pairwiseDistance(const Tensor &b, double value = 2, double eps = 1e-6, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_pairwiseDistance(r.handle, handle_, b.get(), value, eps, keepdim), "pairwiseDistance");
    }
    /// `r = 1 - c where target is 1, max(c - margin, 0) where target is -1, else 0`, reduced, for `c` = the
    /// cosineSimilarity of `a` and `b` along the last dimension, with an `eps` of 1e-6.
    Tensor cosineEmbeddingLoss(const Tensor &b, const Tensor &target, double margin = 0,
        Reduction reduction = Reduction::Mean) const {
        detail::New r;
        return r(THTensor_cosineEmbeddingLoss(r.handle, handle_, b.get(), target.get(), margin,
            static_cast<THReduction>(reduction)), "cosineEmbeddingLoss");
    }
    /// `r = max(margin + d(anchor, positive) - d(anchor, negative), 0)`, reduced, for the pairwiseDistance `d` with
    /// `value` and `eps`.
    Tensor tripletMarginLoss(const Tensor &positive, const Tensor &negative, double margin = 1, double value = 2,
        double eps = 1e-6, bool swap = false, Reduction reduction = Reduction::Mean) const {
        detail::New r;
        return r(THTensor_tripletMarginLoss(r.handle, handle_, positive.get(), negative.get(), margin, value, eps, swap,
            static_cast<THReduction>(reduction)), "tripletMarginLoss");
    }
    /// `r = (t - mean) * invstd * weight + bias` for each channel, an entry of dimension 1 of `t`: batch normalization.
    RMeanInvstd batchNorm(const Tensor &weight = {}, const Tensor &bias = {}, const Tensor &runningMean = {},
        const Tensor &runningVar = {}, bool training = false, double momentum = 0.1, double eps = 0.00001) const;
    /// `r[i..., :] = weight[index[i...], :]`: rows of a table.
    Tensor embedding(const Tensor &index, int64_t paddingIdx = -1) const {
        detail::New r;
        return r(THTensor_embedding(r.handle, handle_, index.get(), paddingIdx), "embedding");
    }
    /// `r[b, :] = sum of weight[index[i], :]` over the positions `i` of bag `b`: sums of rows of a table of floats.
    Tensor embeddingBag(const Tensor &index, const Tensor &offsets = {}, BagMode mode = BagMode::Mean,
        const Tensor &perSampleWeights = {}, int64_t paddingIdx = -1) const {
        detail::New r;
        return r(THTensor_embeddingBag(r.handle, handle_, index.get(), offsets.get(), static_cast<THBagMode>(mode),
            perSampleWeights.get(), paddingIdx), "embeddingBag");
    }
    /// `r = 0 where t <= 0, else g`: the gradient of relu.
    Tensor reluGrad(const Tensor &t) const {
        detail::New r;
        return r(THTensor_reluGrad(r.handle, handle_, t.get()), "reluGrad");
    }
    /// `r = g where t > 0, else value * g`: the gradient of leakyRelu.
    Tensor leakyReluGrad(const Tensor &t, double value = 0.01) const {
        detail::New r;
        return r(THTensor_leakyReluGrad(r.handle, handle_, t.get(), value), "leakyReluGrad");
    }
    /// `r = 0 where t <= minimum or t >= maximum, else g`: the gradient of hardtanh.
    Tensor hardtanhGrad(const Tensor &t, double minimum = -1, double maximum = 1) const {
        detail::New r;
        return r(THTensor_hardtanhGrad(r.handle, handle_, t.get(), minimum, maximum), "hardtanhGrad");
    }
    /// `r = value * e^t * g where t <= 0, else g`: the gradient of elu.
    Tensor eluGrad(const Tensor &t, double value = 1) const {
        detail::New r;
        return r(THTensor_eluGrad(r.handle, handle_, t.get(), value), "eluGrad");
    }
    /// `r = g / (1 + e^(-beta * t))`, or `g` where `beta * t > threshold`: the gradient of softplus.
    Tensor softplusGrad(const Tensor &t, double beta = 1, double threshold = 20) const {
        detail::New r;
        return r(THTensor_softplusGrad(r.handle, handle_, t.get(), beta, threshold), "softplusGrad");
    }
    /// `r = g * y * (1 - y)`: the gradient of sigmoid, from its result `y`.
    Tensor sigmoidGrad(const Tensor &y) const {
        detail::New r;
        return r(THTensor_sigmoidGrad(r.handle, handle_, y.get()), "sigmoidGrad");
    }
    /// `r = g * (1 - y^2)`: the gradient of tanh, from its result `y`.
    Tensor tanhGrad(const Tensor &y) const {
        detail::New r;
        return r(THTensor_tanhGrad(r.handle, handle_, y.get()), "tanhGrad");
    }
    /// `r = g * (Phi(t) + t * phi(t))`, with the distribution function Phi and the density phi of the standard normal
    /// distribution: the gradient of gelu.
    Tensor geluGrad(const Tensor &t) const {
        detail::New r;
        return r(THTensor_geluGrad(r.handle, handle_, t.get()), "geluGrad");
    }
    /// `r = g * the derivative of geluTanh at t`, whose limits 1 and 0 are used at inf and -inf.
    Tensor geluTanhGrad(const Tensor &t) const {
        detail::New r;
        return r(THTensor_geluTanhGrad(r.handle, handle_, t.get()), "geluTanhGrad");
    }
    /// `r = g * s * (1 + t * (1 - s))` with `s = 1 / (1 + e^-t)`: the gradient of silu.
    Tensor siluGrad(const Tensor &t) const {
        detail::New r;
        return r(THTensor_siluGrad(r.handle, handle_, t.get()), "siluGrad");
    }
    /// `r = 0 where t <= -3, g where t >= 3, else g * (2 * t + 3) / 6`: the gradient of hardswish.
    Tensor hardswishGrad(const Tensor &t) const {
        detail::New r;
        return r(THTensor_hardswishGrad(r.handle, handle_, t.get()), "hardswishGrad");
    }

    // ----------------------------------------------------------------------------------------------- Recurrent layers

    /// `c = f * c + i * g; h = o * tanh(c)` for each step: long short-term memory.
    OutputHnCnReserve lstm(const Tensor &h0, const Tensor &c0, TensorList weights, const Tensor &lengths = {},
        int layers = 1, bool bidirectional = false, bool batchFirst = false) const;
    OutputHnCnReserve lstm(TensorList weights, const Tensor &lengths = {}, int layers = 1, bool bidirectional = false,
        bool batchFirst = false) const;
    /// The gradients of lstm: `gradX` of `x`, `gradH0` of `h0`, `gradC0` of `c0`, and `gradWeights`, a vector of the
    /// gradients of all weights, row-major, one after the other.
    GradXGradH0GradC0GradWeights lstmGrad(const Tensor &gOutput, const Tensor &gHn, const Tensor &gCn, const Tensor &x,
        const Tensor &h0, const Tensor &c0, TensorList weights, const Tensor &lengths = {}, int layers = 1,
        bool bidirectional = false, bool batchFirst = false) const;
    GradXGradH0GradC0GradWeights lstmGrad(const Tensor &x, TensorList weights, const Tensor &lengths = {},
        int layers = 1, bool bidirectional = false, bool batchFirst = false) const;
    /// One step of lstm: from `x`, `[batch, inputs]`, and the states `h` and `c`, `[batch, hidden]`, the states `hn`
    /// and `cn`.
    HnCnReserve lstmCell(const Tensor &h, const Tensor &c, const Tensor &wih, const Tensor &whh, const Tensor &bih = {},
        const Tensor &bhh = {}) const;
    /// `h = (1 - z) * n + z * h` for each step: a gated recurrent unit.
    OutputHnReserve gru(const Tensor &h0, TensorList weights, const Tensor &lengths = {}, int layers = 1,
        bool bidirectional = false, bool batchFirst = false) const;
    OutputHnReserve gru(TensorList weights, const Tensor &lengths = {}, int layers = 1, bool bidirectional = false,
        bool batchFirst = false) const;
    /// The gradients of gru, as lstmGrad.
    GradXGradH0GradWeights gruGrad(const Tensor &gOutput, const Tensor &gHn, const Tensor &x, const Tensor &h0,
        TensorList weights, const Tensor &lengths = {}, int layers = 1, bool bidirectional = false,
        bool batchFirst = false) const;
    GradXGradH0GradWeights gruGrad(const Tensor &x, TensorList weights, const Tensor &lengths = {}, int layers = 1,
        bool bidirectional = false, bool batchFirst = false) const;
    /// One step of gru, as lstmCell.
    HnReserve gruCell(const Tensor &h, const Tensor &wih, const Tensor &whh, const Tensor &bih = {},
        const Tensor &bhh = {}) const;
    /// `h = tanh(W x + b + U h + d)` for each step, or `max(0, W x + b + U h + d)` if `relu` is not 0.
    OutputHnReserve rnn(const Tensor &h0, TensorList weights, const Tensor &lengths = {}, int layers = 1,
        bool bidirectional = false, bool batchFirst = false, bool relu = false) const;
    OutputHnReserve rnn(TensorList weights, const Tensor &lengths = {}, int layers = 1, bool bidirectional = false,
        bool batchFirst = false, bool relu = false) const;
    /// The gradients of rnn, as lstmGrad.
    GradXGradH0GradWeights rnnGrad(const Tensor &gOutput, const Tensor &gHn, const Tensor &x, const Tensor &h0,
        TensorList weights, const Tensor &lengths = {}, int layers = 1, bool bidirectional = false,
        bool batchFirst = false, bool relu = false) const;
    GradXGradH0GradWeights rnnGrad(const Tensor &x, TensorList weights, const Tensor &lengths = {}, int layers = 1,
        bool bidirectional = false, bool batchFirst = false, bool relu = false) const;
    /// One step of rnn, as lstmCell.
    HnReserve rnnCell(const Tensor &h, const Tensor &wih, const Tensor &whh, const Tensor &bih = {},
        const Tensor &bhh = {}, bool relu = false) const;

    // ------------------------------------------------------------------------------------------ Sorting and searching

    /// `values = elements of t in ascending order along dimension`, or in `descending` order; `indices` = the int64
    /// index in `t` of each value.
    ValuesIndices sort(int dimension = -1, bool descending = false, bool stable = false) const;
    /// `r = indices that sort t along dimension`: the int64 indices of `THTensor_sort`.
    Tensor argsort(int dimension = -1, bool descending = false, bool stable = false) const {
        detail::New r;
        return r(THTensor_argsort(r.handle, handle_, dimension, descending, stable), "argsort");
    }
    /// `r = elements of t in ascending order along its first dimension`, as by `THTensor_sort` with `stable`.
    Tensor msort() const { detail::New r; return r(THTensor_msort(r.handle, handle_), "msort"); }
    /// `values = k least elements of t along dimension`, or the `k` greatest with `largest`; `indices` = the int64
    /// index of each value.
    ValuesIndices topk(int64_t k, int dimension = -1, bool largest = true, bool sorted = true) const;
    /// `values = the distinct elements of t in ascending order`; unless `dimension` is `TH_ALL_DIMS`, the distinct
    /// slices along `dimension`.
    ValuesInverseCounts unique(int dimension = everyDim) const;
    /// `values = one element of each run of equal elements in t`, in row-major order; unless `dimension` is
    /// `TH_ALL_DIMS`, one slice of each run along `dimension`.
    ValuesInverseCounts uniqueConsecutive(int dimension = everyDim) const;
    /// `r[..] = number of elements of sequence less than t[..]`, or with `right` less than or equal to `t[..]`: the
    /// int64 index at which `t[..]` can be inserted before, or after, its equals.
    Tensor searchsorted(const Tensor &t, bool right = false, const Tensor &sorter = {}) const {
        detail::New r;
        return r(THTensor_searchsorted(r.handle, handle_, t.get(), right, sorter.get()), "searchsorted");
    }
    /// `r[..] = i where boundaries[i - 1] < t[..] <= boundaries[i]`, or with `right` where
    /// `boundaries[i - 1] <= t[..] < boundaries[i]`, as `THTensor_searchsorted` with the vector `boundaries`.
    Tensor bucketize(const Tensor &boundaries, bool right = false) const {
        detail::New r;
        return r(THTensor_bucketize(r.handle, handle_, boundaries.get(), right), "bucketize");
    }
    /// `r[..] = whether t[..] equals an element of tests`, or with `invert` whether it equals none, as Bool.
    Tensor isin(const Tensor &tests, bool assumeUnique = false, bool invert = false) const {
        detail::New r;
        return r(THTensor_isin(r.handle, handle_, tests.get(), assumeUnique, invert), "isin");
    }

    // -------------------------------------------------------------------------------- Order statistics and histograms

    /// `values = k-th smallest elements of t over dimension`, with `k` from 1, or over all elements with `TH_ALL_DIMS`;
    /// `indices` = the int64 index of the first occurrence of each value, in row-major order over all elements.
    ValuesIndices kthvalue(int64_t k, int dimension = -1, bool keepdim = false) const;
    /// `values = medians of t over dimension`: the middle element in ascending order, or the smaller of the two middle
    /// elements.
    ValuesIndices median(int dimension = -1, bool keepdim = false) const;
    /// `values = medians of t over dimension without the NaNs`; the median of NaNs alone is NaN.
    ValuesIndices nanmedian(int dimension = -1, bool keepdim = false) const;
    /// The median of all elements; NaN if any element is NaN, if `t` is empty.
    double medianall() const {
        THClearLastError();
        const double r = THTensor_medianall(handle_);
        return detail::known(r, r != r, "medianall");
    }
    /// `values = most frequent elements of t over dimension`, or over all elements with `TH_ALL_DIMS`; of equally
    /// frequent elements, the smallest.
    ValuesIndices mode(int dimension = -1, bool keepdim = false) const;
    /// `r = element of rank q * (n - 1) of t over dimension` in ascending order, with ranks from 0, or over all
    /// elements with `TH_ALL_DIMS`; `q` is from 0 to 1.
    Tensor quantile(double q, int dimension = everyDim, bool keepdim = false,
        Interpolation interpolation = Interpolation::Linear) const {
        detail::New r;
        return r(THTensor_quantile(r.handle, handle_, q, dimension, keepdim,
            static_cast<THInterpolation>(interpolation)), "quantile");
    }
    /// `r = quantile q of t over dimension without the NaNs`; the quantile of NaNs alone is NaN.
    Tensor nanquantile(double q, int dimension = everyDim, bool keepdim = false,
        Interpolation interpolation = Interpolation::Linear) const {
        detail::New r;
        return r(THTensor_nanquantile(r.handle, handle_, q, dimension, keepdim,
            static_cast<THInterpolation>(interpolation)), "nanquantile");
    }
    /// As quantile for each element of the vector `q` of floats: `r[i]` has the quantiles of `q[i]`.
    Tensor quantileTensor(const Tensor &q, int dimension = everyDim, bool keepdim = false,
        Interpolation interpolation = Interpolation::Linear) const {
        detail::New r;
        return r(THTensor_quantileTensor(r.handle, handle_, q.get(), dimension, keepdim,
            static_cast<THInterpolation>(interpolation)), "quantileTensor");
    }
    Tensor quantile(const Tensor &q, int dimension = everyDim, bool keepdim = false,
        Interpolation interpolation = Interpolation::Linear) const {
        detail::New r;
        return r(THTensor_quantileTensor(r.handle, handle_, q.get(), dimension, keepdim,
            static_cast<THInterpolation>(interpolation)), "quantile");
    }
    /// As quantileTensor without the NaNs; the quantile of NaNs alone is NaN.
    Tensor nanquantileTensor(const Tensor &q, int dimension = everyDim, bool keepdim = false,
        Interpolation interpolation = Interpolation::Linear) const {
        detail::New r;
        return r(THTensor_nanquantileTensor(r.handle, handle_, q.get(), dimension, keepdim,
            static_cast<THInterpolation>(interpolation)), "nanquantileTensor");
    }
    Tensor nanquantile(const Tensor &q, int dimension = everyDim, bool keepdim = false,
        Interpolation interpolation = Interpolation::Linear) const {
        detail::New r;
        return r(THTensor_nanquantileTensor(r.handle, handle_, q.get(), dimension, keepdim,
            static_cast<THInterpolation>(interpolation)), "nanquantile");
    }
    /// `r[b] = number of elements x of t with floor((x - min) * bins / (max - min)) == b`; the last bin includes the
    /// upper edge `max`.
    Tensor histc(int64_t bins = 100, double min = 0, double max = 0) const {
        detail::New r;
        return r(THTensor_histc(r.handle, handle_, bins, min, max), "histc");
    }
    /// As histc for each row in the last dimension of `t`; this dimension of `r` has size `bins`.
    Tensor bhistc(int64_t bins = 100, double min = 0, double max = 0) const {
        detail::New r;
        return r(THTensor_bhistc(r.handle, handle_, bins, min, max), "bhistc");
    }
    /// `r[i] = number of elements of t equal to i`, or the sum of the weights of these elements; `weights` may be NULL.
    Tensor bincount(const Tensor &weights = {}, int64_t minlength = 0) const {
        detail::New r;
        return r(THTensor_bincount(r.handle, handle_, weights.get(), minlength), "bincount");
    }

    // ------------------------------------------------------------------------------------------------ Matrix products

    /// `r = m1 @ m2` for matrices [n x k] and [k x p] of one dtype except Bool.
    Tensor mm(const Tensor &m2) const { detail::New r; return r(THTensor_mm(r.handle, handle_, m2.get()), "mm"); }
    /// `r = mat @ vec` for a matrix [n x k] and a vector [k] of one dtype except Bool.
    Tensor mv(const Tensor &vec) const { detail::New r; return r(THTensor_mv(r.handle, handle_, vec.get()), "mv"); }
    /// `r = beta * t + alpha * (m1 @ m2)`; `t` broadcasts to [n x p].
    Tensor addmm(double beta, double alpha, const Tensor &m1, const Tensor &m2) const {
        detail::New r;
        return r(THTensor_addmm(r.handle, beta, handle_, alpha, m1.get(), m2.get()), "addmm");
    }
    Tensor addmm(const Tensor &m1, const Tensor &m2) const {
        detail::New r;
        return r(THTensor_addmm(r.handle, 1, handle_, 1, m1.get(), m2.get()), "addmm");
    }
    Tensor &addmm_(double beta, double alpha, const Tensor &m1, const Tensor &m2) {
        return changed(THTensor_addmm(handle_, beta, handle_, alpha, m1.get(), m2.get()), "addmm_");
    }
    Tensor &addmm_(const Tensor &m1, const Tensor &m2) {
        return changed(THTensor_addmm(handle_, 1, handle_, 1, m1.get(), m2.get()), "addmm_");
    }
    /// `r = beta * t + alpha * (mat @ vec)`; `t` broadcasts to [n].
    Tensor addmv(double beta, double alpha, const Tensor &mat, const Tensor &vec) const {
        detail::New r;
        return r(THTensor_addmv(r.handle, beta, handle_, alpha, mat.get(), vec.get()), "addmv");
    }
    Tensor addmv(const Tensor &mat, const Tensor &vec) const {
        detail::New r;
        return r(THTensor_addmv(r.handle, 1, handle_, 1, mat.get(), vec.get()), "addmv");
    }
    Tensor &addmv_(double beta, double alpha, const Tensor &mat, const Tensor &vec) {
        return changed(THTensor_addmv(handle_, beta, handle_, alpha, mat.get(), vec.get()), "addmv_");
    }
    Tensor &addmv_(const Tensor &mat, const Tensor &vec) {
        return changed(THTensor_addmv(handle_, 1, handle_, 1, mat.get(), vec.get()), "addmv_");
    }
    /// `r[i] = b1[i] @ b2[i]` for batches [b x n x k] and [b x k x p] of matrices.
    Tensor bmm(const Tensor &b2) const { detail::New r; return r(THTensor_bmm(r.handle, handle_, b2.get()), "bmm"); }
    /// `r[i] = beta * t[i] + alpha * (b1[i] @ b2[i])` for each index `i` of the batch; `t` broadcasts to [b x n x p].
    Tensor baddbmm(double beta, double alpha, const Tensor &b1, const Tensor &b2) const {
        detail::New r;
        return r(THTensor_baddbmm(r.handle, beta, handle_, alpha, b1.get(), b2.get()), "baddbmm");
    }
    Tensor baddbmm(const Tensor &b1, const Tensor &b2) const {
        detail::New r;
        return r(THTensor_baddbmm(r.handle, 1, handle_, 1, b1.get(), b2.get()), "baddbmm");
    }
    Tensor &baddbmm_(double beta, double alpha, const Tensor &b1, const Tensor &b2) {
        return changed(THTensor_baddbmm(handle_, beta, handle_, alpha, b1.get(), b2.get()), "baddbmm_");
    }
    Tensor &baddbmm_(const Tensor &b1, const Tensor &b2) {
        return changed(THTensor_baddbmm(handle_, 1, handle_, 1, b1.get(), b2.get()), "baddbmm_");
    }
    /// `r = beta * t + alpha * (b1[0] @ b2[0] + b1[1] @ b2[1] + ...)`; `t` broadcasts to [n x p].
    Tensor addbmm(double beta, double alpha, const Tensor &b1, const Tensor &b2) const {
        detail::New r;
        return r(THTensor_addbmm(r.handle, beta, handle_, alpha, b1.get(), b2.get()), "addbmm");
    }
    Tensor addbmm(const Tensor &b1, const Tensor &b2) const {
        detail::New r;
        return r(THTensor_addbmm(r.handle, 1, handle_, 1, b1.get(), b2.get()), "addbmm");
    }
    Tensor &addbmm_(double beta, double alpha, const Tensor &b1, const Tensor &b2) {
        return changed(THTensor_addbmm(handle_, beta, handle_, alpha, b1.get(), b2.get()), "addbmm_");
    }
    Tensor &addbmm_(const Tensor &b1, const Tensor &b2) {
        return changed(THTensor_addbmm(handle_, 1, handle_, 1, b1.get(), b2.get()), "addbmm_");
    }
    /// `r = a @ b` for matrices in the last two dimensions; the other dimensions broadcast.
    Tensor matmul(const Tensor &b) const {
        detail::New r;
        return r(THTensor_matmul(r.handle, handle_, b.get()), "matmul");
    }
    /// `r = a[0] * b[0] + a[1] * b[1] + ...` for vectors of one size; `r` is a scalar.
    Tensor dot(const Tensor &b) const { detail::New r; return r(THTensor_dot(r.handle, handle_, b.get()), "dot"); }
    /// The same as dot, because there are no complex numbers to conjugate.
    Tensor vdot(const Tensor &b) const { detail::New r; return r(THTensor_vdot(r.handle, handle_, b.get()), "vdot"); }
    /// `r[i, j] = v1[i] * v2[j]` for vectors.
    Tensor outer(const Tensor &v2) const {
        detail::New r;
        return r(THTensor_outer(r.handle, handle_, v2.get()), "outer");
    }
    /// `r[i, j] = v1[i] * v2[j]` for vectors: the BLAS name of outer.
    Tensor ger(const Tensor &v2) const { detail::New r; return r(THTensor_ger(r.handle, handle_, v2.get()), "ger"); }
    /// `r[i, j] = beta * t[i, j] + alpha * v1[i] * v2[j]` for vectors; `t` broadcasts to the sizes of `v1` and `v2`.
    Tensor addr(double beta, double alpha, const Tensor &v1, const Tensor &v2) const {
        detail::New r;
        return r(THTensor_addr(r.handle, beta, handle_, alpha, v1.get(), v2.get()), "addr");
    }
    Tensor addr(const Tensor &v1, const Tensor &v2) const {
        detail::New r;
        return r(THTensor_addr(r.handle, 1, handle_, 1, v1.get(), v2.get()), "addr");
    }
    Tensor &addr_(double beta, double alpha, const Tensor &v1, const Tensor &v2) {
        return changed(THTensor_addr(handle_, beta, handle_, alpha, v1.get(), v2.get()), "addr_");
    }
    Tensor &addr_(const Tensor &v1, const Tensor &v2) {
        return changed(THTensor_addr(handle_, 1, handle_, 1, v1.get(), v2.get()), "addr_");
    }
    /// `r` = the sum of `a * b` over the last dimension, for every combination of indices of the other dimensions.
    Tensor inner(const Tensor &b) const {
        detail::New r;
        return r(THTensor_inner(r.handle, handle_, b.get()), "inner");
    }
    /// `r` = the sum of `a * b` over dimension `dims_a[k]` of `a` and dimension `dims_b[k]` of `b`, for `k` from 0 to
    /// `ndim - 1`.
    Tensor tensordot(const Tensor &b, IntList dims_a, IntList dims_b) const {
        detail::New r;
        return r(THTensor_tensordot(r.handle, handle_, b.get(), detail::common("tensordot", {dims_a, dims_b}),
            dims_a.data(), dims_b.data()), "tensordot");
    }
    /// `r` = the `n`-th power of the square matrices in the last two dimensions of `t`.
    Tensor matrixPower(int64_t n) const {
        detail::New r;
        return r(THTensor_matrixPower(r.handle, handle_, n), "matrixPower");
    }
    /// `r` = the Kronecker product: a block matrix whose block at each index of `a` is `a[index] * b`.
    Tensor kron(const Tensor &b) const { detail::New r; return r(THTensor_kron(r.handle, handle_, b.get()), "kron"); }
    /// `r` = the cross product `a x b` of the vectors along `dimension`, which has size 3.
    Tensor cross(const Tensor &b, int dimension) const {
        detail::New r;
        return r(THTensor_cross(r.handle, handle_, b.get(), dimension), "cross");
    }
    /// `r[i, j]` = the `p`-norm of the difference between row `i` of `a` [..
    Tensor cdist(const Tensor &b, double p = 2) const {
        detail::New r;
        return r(THTensor_cdist(r.handle, handle_, b.get(), p), "cdist");
    }
    /// As cdist, where `mode` selects the method for `p` 2.
    Tensor cdistMode(const Tensor &b, double p = 2, DistanceMode mode = DistanceMode::Auto) const {
        detail::New r;
        return r(THTensor_cdistMode(r.handle, handle_, b.get(), p, static_cast<THDistanceMode>(mode)), "cdistMode");
    }
    Tensor cdist(const Tensor &b, double p, DistanceMode mode) const {
        detail::New r;
        return r(THTensor_cdistMode(r.handle, handle_, b.get(), p, static_cast<THDistanceMode>(mode)), "cdist");
    }
    /// `r[k]` = the `p`-norm of the difference between rows `i` and `j` of `t` [n x d], for each of the n (n - 1) / 2
    /// pairs `i < j` in row-major order: (0, 1), (0, 2), ..., (1, 2), ...
    Tensor pdist(double p = 2) const { detail::New r; return r(THTensor_pdist(r.handle, handle_, p), "pdist"); }

    // ---------------------------------------------------------------------------------------------- Quantised numbers

    /// `r = a @ W^T`: the products of the rows of `a` [..
    Tensor mmQuantized(const Tensor &w, BlockType blockType = BlockType::None) const {
        detail::New r;
        return r(THTensor_mmQuantized(r.handle, handle_, w.get(), static_cast<THBlockType>(blockType)), "mmQuantized");
    }
    /// `r` = the rows of `t` [..
    Tensor quantize(BlockType blockType = BlockType::None) const {
        detail::New r;
        return r(THTensor_quantize(r.handle, handle_, static_cast<THBlockType>(blockType)), "quantize");
    }
    /// `r` = the numbers of the quantised matrix `w` as float32 [n x k].
    Tensor dequantize(BlockType blockType, int64_t k) const {
        detail::New r;
        return r(THTensor_dequantize(r.handle, handle_, static_cast<THBlockType>(blockType), k), "dequantize");
    }
    Tensor dequantize(int64_t k) const {
        detail::New r;
        return r(THTensor_dequantize(r.handle, handle_, static_cast<THBlockType>(BlockType::None), k), "dequantize");
    }

    // ------------------------------------------------------------------------------------ Products of compressed rows

    /// Compresses coordinates by rows: entry `k` of a matrix of `size` rows is in row `rows[k]` and column
    /// `columns[k]`, both less than 2^32.
    CrowColStartsOrder csrCompress(const Tensor &columns, int64_t size) const;
    /// `r = A @ m` for the matrix A [n x k] of compressed rows and a matrix `m` [k x p] or a vector [k].
    Tensor csrMatmul(const Tensor &col, const Tensor &values, const Tensor &m) const {
        detail::New r;
        return r(THTensor_csrMatmul(r.handle, handle_, col.get(), values.get(), m.get()), "csrMatmul");
    }
    Tensor csrMatmul(const Tensor &col, const Tensor &m) const {
        detail::New r;
        return r(THTensor_csrMatmul(r.handle, handle_, col.get(), nullptr, m.get()), "csrMatmul");
    }
    /// `r = A^T @ m` for the transpose of the matrix A [n x columns] of compressed rows and a matrix `m` [n x p] or a
    /// vector [n].
    Tensor csrMatmulTransposed(const Tensor &col, const Tensor &values, const Tensor &m, int64_t columns) const {
        detail::New r;
        return r(THTensor_csrMatmulTransposed(r.handle, handle_, col.get(), values.get(), m.get(), columns),
            "csrMatmulTransposed");
    }
    Tensor csrMatmulTransposed(const Tensor &col, const Tensor &m, int64_t columns) const {
        detail::New r;
        return r(THTensor_csrMatmulTransposed(r.handle, handle_, col.get(), nullptr, m.get(), columns),
            "csrMatmulTransposed");
    }
    /// `r[k] = sum of a[i] * b[j]`, the dot product of row `i` of `a` and row `j` of `b`, for each entry `k` of a
    /// pattern, in row `i` and column `j`: the elements of `a @ b^T` at the entries of the pattern.
    Tensor csrSampled(const Tensor &col, const Tensor &a, const Tensor &b) const {
        detail::New r;
        return r(THTensor_csrSampled(r.handle, handle_, col.get(), a.get(), b.get()), "csrSampled");
    }
    /// `r = e^x / sum of e^x` over the entries of each row: the softmax of floats.
    Tensor csrSoftmax(const Tensor &values) const {
        detail::New r;
        return r(THTensor_csrSoftmax(r.handle, handle_, values.get()), "csrSoftmax");
    }
    /// `r = y * (g - sum of g * y)` over each row: the gradient of csrSoftmax, computed from its result `y` and the
    /// gradient `g` of the result.
    Tensor csrSoftmaxGrad(const Tensor &g, const Tensor &y) const {
        detail::New r;
        return r(THTensor_csrSoftmaxGrad(r.handle, handle_, g.get(), y.get()), "csrSoftmaxGrad");
    }
    /// `r = the X with A X = b`, or with `transpose` of `A^T X = b`, for the `upper` or lower triangle of the square
    /// matrix A [n x n] of compressed rows, and a matrix `b` [n x p] or a vector [n] of floats.
    Tensor csrTrtrs(const Tensor &col, const Tensor &values, const Tensor &b, bool upper = false,
        bool transpose = false, bool unitriangular = false) const {
        detail::New r;
        return r(THTensor_csrTrtrs(r.handle, handle_, col.get(), values.get(), b.get(), upper, transpose,
            unitriangular), "csrTrtrs");
    }
    /// `r = the X with A X = b`, or with `transpose` of `A^T X = b`, for the square matrix A [n x n] of compressed
    /// rows, and a matrix `b` [n x p] or a vector [n] of float32 or float64.
    Tensor csrSolve(const Tensor &col, const Tensor &values, const Tensor &b, bool transpose = false) const {
        detail::New r;
        return r(THTensor_csrSolve(r.handle, handle_, col.get(), values.get(), b.get(), transpose), "csrSolve");
    }
    /// `r = the x with A x = b` by conjugate gradients, preconditioned by the diagonal, for the symmetric positive
    /// definite matrix A [n x n] of compressed rows and a vector `b` [n] of float32 or float64.
    Tensor csrCg(const Tensor &col, const Tensor &values, const Tensor &b, const Tensor &start = {},
        double tol = 0.00001, int64_t maxIter = 1000, THProgressFunction progress = nullptr,
        void *context = nullptr) const {
        detail::New r;
        return r(THTensor_csrCg(r.handle, nullptr, handle_, col.get(), values.get(), b.get(), start.get(), tol, maxIter,
            progress, context) == -1 ? THGetLastErrorCode() : TH_OK, "csrCg");
    }
    /// `r` = the entries of A @ B, the product of two matrices of compressed rows, as a matrix of compressed rows with
    /// the row starts `rcrow` and the columns `rcol`.
    RRcrowRcol csrMatmulCsr(const Tensor &acol, const Tensor &avalues, const Tensor &bcrow, const Tensor &bcol,
        const Tensor &bvalues, int64_t columns) const;
    /// `r[k]` = element [i, j] of A @ B for each entry `k` of a pattern, in row `i` and column `j`: csrSampled for
    /// matrices of compressed rows.
    Tensor csrSampledCsr(const Tensor &col, const Tensor &acrow, const Tensor &acol, const Tensor &avalues,
        const Tensor &bcrow, const Tensor &bcol, const Tensor &bvalues, int64_t columns, bool transposeA,
        bool transposeB) const {
        detail::New r;
        return r(THTensor_csrSampledCsr(r.handle, handle_, col.get(), acrow.get(), acol.get(), avalues.get(),
            bcrow.get(), bcol.get(), bvalues.get(), columns, transposeA, transposeB), "csrSampledCsr");
    }

    // ------------------------------------------------------------------------------------------------- Linear algebra

    /// `rb = the X with a X = b` for square `a`; `ra = the factors of a`, packed as by btrifact.
    RbRa gesv(const Tensor &a) const;
    /// gesv by PyTorch's name: `x = the X with a X = b`, `lu = the factors of a`.
    XLu solve(const Tensor &a) const;
    /// `rb = the X with a X = b`, or with `transpose` of `a^T X = b`, for the `upper` or lower triangle of square `a`.
    RbRa trtrs(const Tensor &a, bool upper = false, bool transpose = false, bool unitriangular = false) const;
    /// `rb = the X of least |b - a X|` for `a` [m x n] of full rank with m >= n; with m < n the X of least norm with
    /// `a X = b`.
    RbRa gels(const Tensor &a) const;
    /// `x = the X of least norm among those with least |b - a X|`, for `a` [m x n] of any rank, computed from its
    /// singular values `s`, in descending order.
    XRankS lstsq(const Tensor &a, double rcond = -1) const;
    /// `ra = L and U of a = P L U`, packed: U, and L below its diagonal.
    RaRpivots btrifact(bool pivot = true) const;
    /// `rb = the X with a X = b` for the factors `atf` and `pivots`, int32 or int64, that btrifact computed.
    Tensor btrisolve(const Tensor &atf, const Tensor &pivots) const {
        detail::New r;
        return r(THTensor_btrisolve(r.handle, handle_, atf.get(), pivots.get()), "btrisolve");
    }
    /// `a = p l u` with a permutation `p` [m x m], a lower triangular `l` [m x k] with ones on the diagonal, and an
    /// upper triangular `u` [k x n], where k is the lesser of m and n.
    PLU lu() const;
    /// `ra = the inverse of a`; a singular `a` is an error.
    Tensor getri() const { detail::New r; return r(THTensor_getri(r.handle, handle_), "getri"); }
    /// getri by PyTorch's name: `r = the inverse of t`.
    Tensor inverse() const { detail::New r; return r(THTensor_inverse(r.handle, handle_), "inverse"); }
    /// inverse by PyTorch's name.
    Tensor inv() const { detail::New r; return r(THTensor_inverse(r.handle, handle_), "inv"); }
    /// `r = the determinant of each square matrix of t`; a single matrix gives a 0-d result.
    Tensor det() const { detail::New r; return r(THTensor_det(r.handle, handle_), "det"); }
    /// `sign = 1, -1 or 0, logabsdet = log |det t|` of each square matrix; use it where det would overflow or
    /// underflow.
    SignLogabsdet slogdet() const;
    /// `r = log det t` of each square matrix: NaN where the determinant is negative, -inf where it is 0.
    Tensor logdet() const { detail::New r; return r(THTensor_logdet(r.handle, handle_), "logdet"); }
    /// `ra = L with a = L L^T`, or with `upper` U with `a = U^T U`, of symmetric positive definite `a` (Cholesky).
    Tensor potrf(bool upper = false) const {
        detail::New r;
        return r(THTensor_potrf(r.handle, handle_, upper), "potrf");
    }
    /// potrf by PyTorch's name: `r = L with t = L L^T`, or with `upper` U with `t = U^T U`.
    Tensor cholesky(bool upper = false) const {
        detail::New r;
        return r(THTensor_cholesky(r.handle, handle_, upper), "cholesky");
    }
    /// `rb = the X with L L^T X = b`, or with `upper` of `U^T U X = b`, for a factor `a` computed by potrf.
    Tensor potrs(const Tensor &a, bool upper = false) const {
        detail::New r;
        return r(THTensor_potrs(r.handle, handle_, a.get(), upper), "potrs");
    }
    /// potrs by PyTorch's name.
    Tensor choleskySolve(const Tensor &a, bool upper = false) const {
        detail::New r;
        return r(THTensor_potrs(r.handle, handle_, a.get(), upper), "choleskySolve");
    }
    /// `ra = the inverse of L L^T`, or with `upper` of `U^T U`, for a factor `a` computed by potrf.
    Tensor potri(bool upper = false) const {
        detail::New r;
        return r(THTensor_potri(r.handle, handle_, upper), "potri");
    }
    /// potri by PyTorch's name.
    Tensor choleskyInverse(bool upper = false) const {
        detail::New r;
        return r(THTensor_potri(r.handle, handle_, upper), "choleskyInverse");
    }
    /// `P^T a P = L L^T`, or with `upper` `U^T U`, of symmetric positive semidefinite `a`, with the greatest pivot
    /// first.
    RaRpiv pstrf(bool upper = false, double tol = -1) const;
    /// `a = rq rr` for [m x n]: `rq` has orthonormal columns, and `rr` is upper triangular.
    RqRr qr(bool some = true) const;
    /// `ra = R of a = Q R`, and below its diagonal the reflectors whose product is Q = H(1) H(2) ...
    RaRtau geqrf() const;
    /// `ra = the first n columns of Q` for the reflectors packed in `a` [m x n] and `tau`, as geqrf computes them.
    Tensor orgqr(const Tensor &tau) const {
        detail::New r;
        return r(THTensor_orgqr(r.handle, handle_, tau.get()), "orgqr");
    }
    /// orgqr by PyTorch's name.
    Tensor householderProduct(const Tensor &tau) const {
        detail::New r;
        return r(THTensor_orgqr(r.handle, handle_, tau.get()), "householderProduct");
    }
    /// `ra = Q c`, or `c Q` if `left` is 0, for the square Q of the reflectors packed in `a` and `tau`.
    Tensor ormqr(const Tensor &tau, const Tensor &c, bool left = true, bool transpose = false) const {
        detail::New r;
        return r(THTensor_ormqr(r.handle, handle_, tau.get(), c.get(), left, transpose), "ormqr");
    }
    /// `re = the eigenvalues of symmetric a`, ascending, [n]; `rv`, which may be NULL, has orthonormal eigenvectors as
    /// columns.
    ReRv syev(bool upper = false) const;
    /// syev by PyTorch's name: `e = the eigenvalues of symmetric t`, `v = the eigenvectors`.
    EV symeig(bool upper = false) const;
    /// `re = the eigenvalues of a`, [n x 2]: real and imaginary parts.
    ReRv geev() const;
    /// geev by PyTorch's name: `e = the eigenvalues of t`, `v = the eigenvectors`.
    EV eig() const;
    /// `a = ru diag(rs) rv^T` for [m x n]: `rs` [k] in descending order, where k is the lesser of m and n.
    RuRsRv gesvd(bool some = true) const;
    /// gesvd by PyTorch's name: `t = u diag(s) v^T`.
    USV svd(bool some = true) const;
    /// `r = the pseudoinverse of t`, [n x m] for [m x n].
    Tensor pinverse(double rcond = 1e-15) const {
        detail::New r;
        return r(THTensor_pinverse(r.handle, handle_, rcond), "pinverse");
    }
    /// `r = the rank of each matrix`, int64: the number of singular values greater than `tol`.
    Tensor matrixRank(double tol = -1, bool symmetric = false) const {
        detail::New r;
        return r(THTensor_matrixRank(r.handle, handle_, tol, symmetric), "matrixRank");
    }
    /// `r = the norm p of each matrix`; with `keepdim` both dimensions remain with size 1.
    Tensor matrixNorm(MatrixNorm p = MatrixNorm::NormFro, bool keepdim = false) const {
        detail::New r;
        return r(THTensor_matrixNorm(r.handle, handle_, static_cast<THMatrixNorm>(p), keepdim), "matrixNorm");
    }
    /// `r = the norm p of each matrix times the norm p of its inverse`; infinite for a singular matrix.
    Tensor cond(MatrixNorm p = MatrixNorm::NormFro) const {
        detail::New r;
        return r(THTensor_cond(r.handle, handle_, static_cast<THMatrixNorm>(p)), "cond");
    }
    /// `r = 1 + t + t t / 2 + t t t / 6 + ...`, the exponential of each square matrix.
    Tensor matrixExp() const { detail::New r; return r(THTensor_matrixExp(r.handle, handle_), "matrixExp"); }

    // ---------------------------------------------------------------------------------------------------- Convolution

    /// `r[n][o][y] = bias[o] + sum over c, k of weight[o][c][k] * input[n][c][y * stride + k * dilation - padding]`,
    /// with zeros in the padding, and separately for each of `groups` groups of channels.
    Tensor convolution(const Tensor &weight, const Tensor &bias, IntList stride, IntList padding, IntList dilation,
        bool transposed, IntList outputPadding = {}, int64_t groups = 1) const {
        detail::New r;
        return r(THTensor_convolution(r.handle, handle_, weight.get(), bias.get(), detail::common("convolution",
            {stride, padding, dilation, outputPadding}), stride.data(), padding.data(), dilation.data(), transposed,
            outputPadding.data(), groups), "convolution");
    }
    Tensor convolution(const Tensor &weight, bool transposed, IntList outputPadding = {}, int64_t groups = 1) const {
        detail::New r;
        return r(THTensor_convolution(r.handle, handle_, weight.get(), nullptr, outputPadding.count(), nullptr, nullptr,
            nullptr, transposed, outputPadding.data(), groups), "convolution");
    }
    /// convolution of images with one dimension.
    Tensor conv1d(const Tensor &weight, const Tensor &bias = {}, const SpatialList<1> &stride = {},
        const SpatialList<1> &padding = {}, const SpatialList<1> &dilation = {}, int64_t groups = 1) const {
        detail::New r;
        return r(THTensor_conv1d(r.handle, handle_, weight.get(), bias.get(), detail::common("conv1d", {stride, padding,
            dilation}), stride.data(), padding.data(), dilation.data(), groups), "conv1d");
    }
    /// convolution of images with two dimensions.
    Tensor conv2d(const Tensor &weight, const Tensor &bias = {}, const SpatialList<2> &stride = {},
        const SpatialList<2> &padding = {}, const SpatialList<2> &dilation = {}, int64_t groups = 1) const {
        detail::New r;
        return r(THTensor_conv2d(r.handle, handle_, weight.get(), bias.get(), detail::common("conv2d", {stride, padding,
            dilation}), stride.data(), padding.data(), dilation.data(), groups), "conv2d");
    }
    /// convolution of images with three dimensions.
    Tensor conv3d(const Tensor &weight, const Tensor &bias = {}, const SpatialList<3> &stride = {},
        const SpatialList<3> &padding = {}, const SpatialList<3> &dilation = {}, int64_t groups = 1) const {
        detail::New r;
        return r(THTensor_conv3d(r.handle, handle_, weight.get(), bias.get(), detail::common("conv3d", {stride, padding,
            dilation}), stride.data(), padding.data(), dilation.data(), groups), "conv3d");
    }
    /// convTranspose2d of images with one dimension.
    Tensor convTranspose1d(const Tensor &weight, const Tensor &bias = {}, const SpatialList<1> &stride = {},
        const SpatialList<1> &padding = {}, const SpatialList<1> &outputPadding = {}, int64_t groups = 1,
        const SpatialList<1> &dilation = {}) const {
        detail::New r;
        return r(THTensor_convTranspose1d(r.handle, handle_, weight.get(), bias.get(), detail::common("convTranspose1d",
            {stride, padding, outputPadding, dilation}), stride.data(), padding.data(), outputPadding.data(), groups,
            dilation.data()), "convTranspose1d");
    }
    /// Spreads each element of the input over a window of the result: `input[n][c][y] * weight[c][o][k]` is added to
    /// `r[n][o][y * stride + k * dilation - padding]` for all `c`, `y` and `k`, and `bias[o]` to each element.
    Tensor convTranspose2d(const Tensor &weight, const Tensor &bias = {}, const SpatialList<2> &stride = {},
        const SpatialList<2> &padding = {}, const SpatialList<2> &outputPadding = {}, int64_t groups = 1,
        const SpatialList<2> &dilation = {}) const {
        detail::New r;
        return r(THTensor_convTranspose2d(r.handle, handle_, weight.get(), bias.get(), detail::common("convTranspose2d",
            {stride, padding, outputPadding, dilation}), stride.data(), padding.data(), outputPadding.data(), groups,
            dilation.data()), "convTranspose2d");
    }
    /// convTranspose2d of images with three dimensions.
    Tensor convTranspose3d(const Tensor &weight, const Tensor &bias = {}, const SpatialList<3> &stride = {},
        const SpatialList<3> &padding = {}, const SpatialList<3> &outputPadding = {}, int64_t groups = 1,
        const SpatialList<3> &dilation = {}) const {
        detail::New r;
        return r(THTensor_convTranspose3d(r.handle, handle_, weight.get(), bias.get(), detail::common("convTranspose3d",
            {stride, padding, outputPadding, dilation}), stride.data(), padding.data(), outputPadding.data(), groups,
            dilation.data()), "convTranspose3d");
    }
    /// `r = gradient of the input of a convolution`, computed from the gradient of its result.
    Tensor convolutionGradInput(const Tensor &weight, const Tensor &input, IntList stride, IntList padding,
        IntList dilation, bool transposed, IntList outputPadding = {}, int64_t groups = 1) const {
        detail::New r;
        return r(THTensor_convolutionGradInput(r.handle, handle_, weight.get(), input.get(),
            detail::common("convolutionGradInput", {stride, padding, dilation, outputPadding}), stride.data(),
            padding.data(), dilation.data(), transposed, outputPadding.data(), groups), "convolutionGradInput");
    }
    Tensor convolutionGradInput(const Tensor &weight, const Tensor &input, bool transposed, IntList outputPadding = {},
        int64_t groups = 1) const {
        detail::New r;
        return r(THTensor_convolutionGradInput(r.handle, handle_, weight.get(), input.get(), outputPadding.count(),
            nullptr, nullptr, nullptr, transposed, outputPadding.data(), groups), "convolutionGradInput");
    }
    /// `r = gradient of the weight of a convolution`, summed over the batch, computed from its input and the gradient
    /// of its result.
    Tensor convolutionGradWeight(const Tensor &input, const Tensor &weight, IntList stride, IntList padding,
        IntList dilation, bool transposed, IntList outputPadding = {}, int64_t groups = 1) const {
        detail::New r;
        return r(THTensor_convolutionGradWeight(r.handle, handle_, input.get(), weight.get(),
            detail::common("convolutionGradWeight", {stride, padding, dilation, outputPadding}), stride.data(),
            padding.data(), dilation.data(), transposed, outputPadding.data(), groups), "convolutionGradWeight");
    }
    Tensor convolutionGradWeight(const Tensor &input, const Tensor &weight, bool transposed, IntList outputPadding = {},
        int64_t groups = 1) const {
        detail::New r;
        return r(THTensor_convolutionGradWeight(r.handle, handle_, input.get(), weight.get(), outputPadding.count(),
            nullptr, nullptr, nullptr, transposed, outputPadding.data(), groups), "convolutionGradWeight");
    }
    /// `r = gradient of the bias of a convolution`: the gradient of its result, summed over the batch and over the
    /// `imageDims` dimensions of the images.
    Tensor convolutionGradBias(int imageDims) const {
        detail::New r;
        return r(THTensor_convolutionGradBias(r.handle, handle_, imageDims), "convolutionGradBias");
    }
    /// convolutionGradInput of conv1dUniform, conv2dUniform or conv3dUniform: the gradient of `input`, of which only
    /// the shape is used.
    Tensor convolutionGradInputUniform(const Tensor &weight, const Tensor &input, int64_t stride = 1,
        int64_t padding = 0) const {
        detail::New r;
        return r(THTensor_convolutionGradInputUniform(r.handle, handle_, weight.get(), input.get(), stride, padding),
            "convolutionGradInputUniform");
    }
    Tensor convolutionGradInput(const Tensor &weight, const Tensor &input, int64_t stride, int64_t padding) const {
        detail::New r;
        return r(THTensor_convolutionGradInputUniform(r.handle, handle_, weight.get(), input.get(), stride, padding),
            "convolutionGradInput");
    }
    /// convolutionGradWeight of conv1dUniform, conv2dUniform or conv3dUniform: the gradient of `weight`, of which only
    /// the shape is used.
    Tensor convolutionGradWeightUniform(const Tensor &input, const Tensor &weight, int64_t stride = 1,
        int64_t padding = 0) const {
        detail::New r;
        return r(THTensor_convolutionGradWeightUniform(r.handle, handle_, input.get(), weight.get(), stride, padding),
            "convolutionGradWeightUniform");
    }
    Tensor convolutionGradWeight(const Tensor &input, const Tensor &weight, int64_t stride, int64_t padding) const {
        detail::New r;
        return r(THTensor_convolutionGradWeightUniform(r.handle, handle_, input.get(), weight.get(), stride, padding),
            "convolutionGradWeight");
    }
    /// `r[n][c * taps + k][y] = t[n][c][y * stride + k * dilation - padding]`, with zeros in the padding: the windows
    /// of images as columns (PyTorch's unfold).
    Tensor im2col(IntList kernel, IntList stride = {}, IntList padding = {}, IntList dilation = {}) const {
        detail::New r;
        return r(THTensor_im2col(r.handle, handle_, detail::common("im2col", {kernel, stride, padding, dilation}),
            kernel.data(), stride.data(), padding.data(), dilation.data()), "im2col");
    }
    /// The transpose of im2col: each element of `r` is the sum of the elements of `t` that im2col would copy from it
    /// (PyTorch's fold of images).
    Tensor col2im(IntList imageSizes, IntList kernel, IntList stride = {}, IntList padding = {},
        IntList dilation = {}) const {
        detail::New r;
        return r(THTensor_col2im(r.handle, handle_, detail::common("col2im", {imageSizes, kernel, stride, padding,
            dilation}), imageSizes.data(), kernel.data(), stride.data(), padding.data(), dilation.data()), "col2im");
    }
    /// `r = beta * r + alpha * (t * k)`: the plane `t` convolved with the kernel `k`, both matrices.
    Tensor conv2Dmul(double beta, double alpha, const Tensor &k, int64_t srow, int64_t scol, Text vf, Text xc) const {
        detail::New r;
        return r(THTensor_conv2Dmul(r.handle, beta, alpha, handle_, k.get(), srow, scol, vf.c_str(), xc.c_str()),
            "conv2Dmul");
    }
    Tensor conv2Dmul(double beta, double alpha, const Tensor &k, int64_t srow, int64_t scol, Text xc) const {
        detail::New r;
        return r(THTensor_conv2Dmul(r.handle, beta, alpha, handle_, k.get(), srow, scol, "V", xc.c_str()),
            "conv2Dmul");
    }
    /// conv2Dmul of each plane with the kernel at the same index: `r[p] = beta * r[p] + alpha * (t[p] * k[p])`.
    Tensor conv2Dcmul(double beta, double alpha, const Tensor &k, int64_t srow, int64_t scol, Text vf, Text xc) const {
        detail::New r;
        return r(THTensor_conv2Dcmul(r.handle, beta, alpha, handle_, k.get(), srow, scol, vf.c_str(), xc.c_str()),
            "conv2Dcmul");
    }
    Tensor conv2Dcmul(double beta, double alpha, const Tensor &k, int64_t srow, int64_t scol, Text xc) const {
        detail::New r;
        return r(THTensor_conv2Dcmul(r.handle, beta, alpha, handle_, k.get(), srow, scol, "V", xc.c_str()),
            "conv2Dcmul");
    }
    /// conv2Dmul of each plane with each kernel, as an outer product:
    /// `r[o][p] = beta * r[o][p] + alpha * (t[p] * k[o])`.
    Tensor conv2Dger(double beta, double alpha, const Tensor &k, int64_t srow, int64_t scol, Text vf, Text xc) const {
        detail::New r;
        return r(THTensor_conv2Dger(r.handle, beta, alpha, handle_, k.get(), srow, scol, vf.c_str(), xc.c_str()),
            "conv2Dger");
    }
    Tensor conv2Dger(double beta, double alpha, const Tensor &k, int64_t srow, int64_t scol, Text xc) const {
        detail::New r;
        return r(THTensor_conv2Dger(r.handle, beta, alpha, handle_, k.get(), srow, scol, "V", xc.c_str()),
            "conv2Dger");
    }
    /// conv2Dger with `srow` and `scol` as the distances of taps:
    /// `r[o][p][y][x] = beta * r[o][p][y][x] + alpha * sum of t[p][y + srow * i][x + scol * j] * k[o][i][j]`, with
    /// `size - (kernel - 1) * stride` elements in each dimension.
    Tensor conv2DRevger(double beta, double alpha, const Tensor &k, int64_t srow, int64_t scol) const {
        detail::New r;
        return r(THTensor_conv2DRevger(r.handle, beta, alpha, handle_, k.get(), srow, scol), "conv2DRevger");
    }
    /// The sum of conv2DRevger over a batch, the first dimension of `t` and `k`.
    Tensor conv2DRevgerm(double beta, double alpha, const Tensor &k, int64_t srow, int64_t scol) const {
        detail::New r;
        return r(THTensor_conv2DRevgerm(r.handle, beta, alpha, handle_, k.get(), srow, scol), "conv2DRevgerm");
    }
    /// conv2Dmul as a matrix of kernels times a vector of planes:
    /// `r[o] = beta * r[o] + alpha * sum over p of t[p] * k[o][p]`.
    Tensor conv2Dmv(double beta, double alpha, const Tensor &k, int64_t srow, int64_t scol, Text vf, Text xc) const {
        detail::New r;
        return r(THTensor_conv2Dmv(r.handle, beta, alpha, handle_, k.get(), srow, scol, vf.c_str(), xc.c_str()),
            "conv2Dmv");
    }
    Tensor conv2Dmv(double beta, double alpha, const Tensor &k, int64_t srow, int64_t scol, Text xc) const {
        detail::New r;
        return r(THTensor_conv2Dmv(r.handle, beta, alpha, handle_, k.get(), srow, scol, "V", xc.c_str()), "conv2Dmv");
    }
    /// conv2Dmv for each entry of a batch, the first dimension of `t` and `r`.
    Tensor conv2Dmm(double beta, double alpha, const Tensor &k, int64_t srow, int64_t scol, Text vf, Text xc) const {
        detail::New r;
        return r(THTensor_conv2Dmm(r.handle, beta, alpha, handle_, k.get(), srow, scol, vf.c_str(), xc.c_str()),
            "conv2Dmm");
    }
    Tensor conv2Dmm(double beta, double alpha, const Tensor &k, int64_t srow, int64_t scol, Text xc) const {
        detail::New r;
        return r(THTensor_conv2Dmm(r.handle, beta, alpha, handle_, k.get(), srow, scol, "V", xc.c_str()), "conv2Dmm");
    }
    /// conv2Dmul by a map: for each row `n` of `map`, the pair `from` and `to`, `alpha * (t[from] * k[n])` is added to
    /// `beta * r[to]`.
    Tensor conv2Dmap(double beta, double alpha, const Tensor &k, const Tensor &map, int64_t srow, int64_t scol, Text vf,
        Text xc) const {
        detail::New r;
        return r(THTensor_conv2Dmap(r.handle, beta, alpha, handle_, k.get(), map.get(), srow, scol, vf.c_str(),
            xc.c_str()), "conv2Dmap");
    }
    Tensor conv2Dmap(double beta, double alpha, const Tensor &k, const Tensor &map, int64_t srow, int64_t scol,
        Text xc) const {
        detail::New r;
        return r(THTensor_conv2Dmap(r.handle, beta, alpha, handle_, k.get(), map.get(), srow, scol, "V", xc.c_str()),
            "conv2Dmap");
    }
    /// `r = beta * r + alpha * (t * k)`: the volume `t` convolved with the kernel `k`, both with three dimensions.
    Tensor conv3Dmul(double beta, double alpha, const Tensor &k, int64_t sdepth, int64_t srow, int64_t scol, Text vf,
        Text xc) const {
        detail::New r;
        return r(THTensor_conv3Dmul(r.handle, beta, alpha, handle_, k.get(), sdepth, srow, scol, vf.c_str(),
            xc.c_str()), "conv3Dmul");
    }
    Tensor conv3Dmul(double beta, double alpha, const Tensor &k, int64_t sdepth, int64_t srow, int64_t scol,
        Text xc) const {
        detail::New r;
        return r(THTensor_conv3Dmul(r.handle, beta, alpha, handle_, k.get(), sdepth, srow, scol, "V", xc.c_str()),
            "conv3Dmul");
    }
    /// `r[p] = beta * r[p] + alpha * (t[p] * k[p])`: each volume `t[p]` convolved with the kernel `k[p]`.
    Tensor conv3Dcmul(double beta, double alpha, const Tensor &k, int64_t sdepth, int64_t srow, int64_t scol, Text vf,
        Text xc) const {
        detail::New r;
        return r(THTensor_conv3Dcmul(r.handle, beta, alpha, handle_, k.get(), sdepth, srow, scol, vf.c_str(),
            xc.c_str()), "conv3Dcmul");
    }
    Tensor conv3Dcmul(double beta, double alpha, const Tensor &k, int64_t sdepth, int64_t srow, int64_t scol,
        Text xc) const {
        detail::New r;
        return r(THTensor_conv3Dcmul(r.handle, beta, alpha, handle_, k.get(), sdepth, srow, scol, "V", xc.c_str()),
            "conv3Dcmul");
    }
    /// `r[o][p] = beta * r[o][p] + alpha * (t[p] * k[o])`: each volume `t[p]` convolved with each kernel `k[o]`.
    Tensor conv3Dger(double beta, double alpha, const Tensor &k, int64_t sdepth, int64_t srow, int64_t scol, Text vf,
        Text xc) const {
        detail::New r;
        return r(THTensor_conv3Dger(r.handle, beta, alpha, handle_, k.get(), sdepth, srow, scol, vf.c_str(),
            xc.c_str()), "conv3Dger");
    }
    Tensor conv3Dger(double beta, double alpha, const Tensor &k, int64_t sdepth, int64_t srow, int64_t scol,
        Text xc) const {
        detail::New r;
        return r(THTensor_conv3Dger(r.handle, beta, alpha, handle_, k.get(), sdepth, srow, scol, "V", xc.c_str()),
            "conv3Dger");
    }
    /// conv3Dger with `sdepth`, `srow` and `scol` as the distances of taps, and `size - (kernel - 1) * stride` elements
    /// in each dimension.
    Tensor conv3DRevger(double beta, double alpha, const Tensor &k, int64_t sdepth, int64_t srow, int64_t scol) const {
        detail::New r;
        return r(THTensor_conv3DRevger(r.handle, beta, alpha, handle_, k.get(), sdepth, srow, scol), "conv3DRevger");
    }
    /// `r[o] = beta * r[o] + alpha * sum over p of t[p] * k[o][p]` for volumes `t[p]`.
    Tensor conv3Dmv(double beta, double alpha, const Tensor &k, int64_t sdepth, int64_t srow, int64_t scol, Text vf,
        Text xc) const {
        detail::New r;
        return r(THTensor_conv3Dmv(r.handle, beta, alpha, handle_, k.get(), sdepth, srow, scol, vf.c_str(), xc.c_str()),
            "conv3Dmv");
    }
    Tensor conv3Dmv(double beta, double alpha, const Tensor &k, int64_t sdepth, int64_t srow, int64_t scol,
        Text xc) const {
        detail::New r;
        return r(THTensor_conv3Dmv(r.handle, beta, alpha, handle_, k.get(), sdepth, srow, scol, "V", xc.c_str()),
            "conv3Dmv");
    }
    /// For each row `n` of `map`, the pair `from` and `to`, adds `alpha * (t[from] * k[n])` to the volume
    /// `beta * r[to]`.
    Tensor conv3Dmap(double beta, double alpha, const Tensor &k, const Tensor &map, int64_t sdepth, int64_t srow,
        int64_t scol, Text vf, Text xc) const {
        detail::New r;
        return r(THTensor_conv3Dmap(r.handle, beta, alpha, handle_, k.get(), map.get(), sdepth, srow, scol, vf.c_str(),
            xc.c_str()), "conv3Dmap");
    }
    Tensor conv3Dmap(double beta, double alpha, const Tensor &k, const Tensor &map, int64_t sdepth, int64_t srow,
        int64_t scol, Text xc) const {
        detail::New r;
        return r(THTensor_conv3Dmap(r.handle, beta, alpha, handle_, k.get(), map.get(), sdepth, srow, scol, "V",
            xc.c_str()), "conv3Dmap");
    }

    // -------------------------------------------------------------------------------------------------------- Pooling

    /// maxPool2d for images with one dimension.
    Tensor maxPool1d(const SpatialList<1> &kernel, const SpatialList<1> &stride = {},
        const SpatialList<1> &padding = {}, const SpatialList<1> &dilation = {}, bool ceilMode = false) const {
        detail::New r;
        return r(THTensor_maxPool1d(r.handle, nullptr, handle_, detail::common("maxPool1d", {kernel, stride, padding,
            dilation}), kernel.data(), stride.data(), padding.data(), dilation.data(), ceilMode), "maxPool1d");
    }
    /// `r = greatest element of each window`; `indices` = the int64 index of this element within its channel, in
    /// row-major order, or NULL.
    Tensor maxPool2d(const SpatialList<2> &kernel, const SpatialList<2> &stride = {},
        const SpatialList<2> &padding = {}, const SpatialList<2> &dilation = {}, bool ceilMode = false) const {
        detail::New r;
        return r(THTensor_maxPool2d(r.handle, nullptr, handle_, detail::common("maxPool2d", {kernel, stride, padding,
            dilation}), kernel.data(), stride.data(), padding.data(), dilation.data(), ceilMode), "maxPool2d");
    }
    /// maxPool2d for images with three dimensions.
    Tensor maxPool3d(const SpatialList<3> &kernel, const SpatialList<3> &stride = {},
        const SpatialList<3> &padding = {}, const SpatialList<3> &dilation = {}, bool ceilMode = false) const {
        detail::New r;
        return r(THTensor_maxPool3d(r.handle, nullptr, handle_, detail::common("maxPool3d", {kernel, stride, padding,
            dilation}), kernel.data(), stride.data(), padding.data(), dilation.data(), ceilMode), "maxPool3d");
    }
    /// `r = gradient of the input of a max pooling`, adaptive or not, from the gradient of the result and the indices
    /// of the pooling.
    Tensor maxPoolGradInput(const Tensor &indices, const Tensor &input, int imageDims) const {
        detail::New r;
        return r(THTensor_maxPoolGradInput(r.handle, handle_, indices.get(), input.get(), imageDims),
            "maxPoolGradInput");
    }
    /// `r[indices[i]] = t[i]`, and 0 elsewhere: a partial inverse of a max pooling.
    Tensor maxUnpool(const Tensor &indices, IntList imageSizes) const {
        detail::New r;
        return r(THTensor_maxUnpool(r.handle, handle_, indices.get(), imageSizes.count(), imageSizes.data()),
            "maxUnpool");
    }
    /// avgPool2d for images with one dimension.
    Tensor avgPool1d(const SpatialList<1> &kernel, const SpatialList<1> &stride = {},
        const SpatialList<1> &padding = {}, bool ceilMode = false, bool countIncludePad = true,
        int64_t divisor = 0) const {
        detail::New r;
        return r(THTensor_avgPool1d(r.handle, handle_, detail::common("avgPool1d", {kernel, stride, padding}),
            kernel.data(), stride.data(), padding.data(), ceilMode, countIncludePad, divisor), "avgPool1d");
    }
    /// `r = mean of each window`: the sum of the window's elements in the image, divided by their number.
    Tensor avgPool2d(const SpatialList<2> &kernel, const SpatialList<2> &stride = {},
        const SpatialList<2> &padding = {}, bool ceilMode = false, bool countIncludePad = true,
        int64_t divisor = 0) const {
        detail::New r;
        return r(THTensor_avgPool2d(r.handle, handle_, detail::common("avgPool2d", {kernel, stride, padding}),
            kernel.data(), stride.data(), padding.data(), ceilMode, countIncludePad, divisor), "avgPool2d");
    }
    /// avgPool2d for images with three dimensions.
    Tensor avgPool3d(const SpatialList<3> &kernel, const SpatialList<3> &stride = {},
        const SpatialList<3> &padding = {}, bool ceilMode = false, bool countIncludePad = true,
        int64_t divisor = 0) const {
        detail::New r;
        return r(THTensor_avgPool3d(r.handle, handle_, detail::common("avgPool3d", {kernel, stride, padding}),
            kernel.data(), stride.data(), padding.data(), ceilMode, countIncludePad, divisor), "avgPool3d");
    }
    /// `r = gradient of the input of avgPool1d, avgPool2d or avgPool3d`, from the gradient of the result.
    Tensor avgPoolGradInput(const Tensor &input, IntList kernel, IntList stride = {}, IntList padding = {},
        bool ceilMode = false, bool countIncludePad = true, int64_t divisor = 0) const {
        detail::New r;
        return r(THTensor_avgPoolGradInput(r.handle, handle_, input.get(), detail::common("avgPoolGradInput", {kernel,
            stride, padding}), kernel.data(), stride.data(), padding.data(), ceilMode, countIncludePad, divisor),
            "avgPoolGradInput");
    }
    /// avgPoolGradInput for avgPool1dUniform, avgPool2dUniform and avgPool3dUniform.
    Tensor avgPoolGradInputUniform(const Tensor &input, int imageDims, int64_t kernel, int64_t stride,
        int64_t padding = 0) const {
        detail::New r;
        return r(THTensor_avgPoolGradInputUniform(r.handle, handle_, input.get(), imageDims, kernel, stride, padding),
            "avgPoolGradInputUniform");
    }
    Tensor avgPoolGradInput(const Tensor &input, int imageDims, int64_t kernel, int64_t stride,
        int64_t padding = 0) const {
        detail::New r;
        return r(THTensor_avgPoolGradInputUniform(r.handle, handle_, input.get(), imageDims, kernel, stride, padding),
            "avgPoolGradInput");
    }
    /// adaptiveMaxPool2d for images with one dimension.
    Tensor adaptiveMaxPool1d(const SpatialList<1> &sizes) const {
        detail::New r;
        return r(THTensor_adaptiveMaxPool1d(r.handle, nullptr, handle_, sizes.count(), sizes.data()),
            "adaptiveMaxPool1d");
    }
    /// `r = greatest element of each window`, where `sizes` are the numbers of windows: one for each dimension of an
    /// image, or one for all.
    Tensor adaptiveMaxPool2d(const SpatialList<2> &sizes) const {
        detail::New r;
        return r(THTensor_adaptiveMaxPool2d(r.handle, nullptr, handle_, sizes.count(), sizes.data()),
            "adaptiveMaxPool2d");
    }
    /// adaptiveMaxPool2d for images with three dimensions.
    Tensor adaptiveMaxPool3d(const SpatialList<3> &sizes) const {
        detail::New r;
        return r(THTensor_adaptiveMaxPool3d(r.handle, nullptr, handle_, sizes.count(), sizes.data()),
            "adaptiveMaxPool3d");
    }
    /// adaptiveAvgPool2d for images with one dimension.
    Tensor adaptiveAvgPool1d(const SpatialList<1> &sizes) const {
        detail::New r;
        return r(THTensor_adaptiveAvgPool1d(r.handle, handle_, sizes.count(), sizes.data()), "adaptiveAvgPool1d");
    }
    /// `r = mean of each window`; the windows are as for adaptiveMaxPool2d.
    Tensor adaptiveAvgPool2d(const SpatialList<2> &sizes) const {
        detail::New r;
        return r(THTensor_adaptiveAvgPool2d(r.handle, handle_, sizes.count(), sizes.data()), "adaptiveAvgPool2d");
    }
    /// adaptiveAvgPool2d for images with three dimensions.
    Tensor adaptiveAvgPool3d(const SpatialList<3> &sizes) const {
        detail::New r;
        return r(THTensor_adaptiveAvgPool3d(r.handle, handle_, sizes.count(), sizes.data()), "adaptiveAvgPool3d");
    }
    /// `r = gradient of the input of adaptiveAvgPool1d, adaptiveAvgPool2d or adaptiveAvgPool3d`, from the gradient of
    /// the result.
    Tensor adaptiveAvgPoolGradInput(const Tensor &input, int imageDims) const {
        detail::New r;
        return r(THTensor_adaptiveAvgPoolGradInput(r.handle, handle_, input.get(), imageDims),
            "adaptiveAvgPoolGradInput");
    }

    // ------------------------------------------------------------------------------------------- Resampling of images

    /// `r` = the images of `t` with the `ndim` sizes `sizes`.
    Tensor interpolate(IntList sizes, Resampling mode, bool alignCorners, bool antialias) const {
        detail::New r;
        return r(THTensor_interpolate(r.handle, handle_, sizes.count(), sizes.data(), static_cast<THResampling>(mode),
            alignCorners, antialias), "interpolate");
    }
    Tensor interpolate(IntList sizes, bool alignCorners, bool antialias) const {
        detail::New r;
        return r(THTensor_interpolate(r.handle, handle_, sizes.count(), sizes.data(),
            static_cast<THResampling>(Resampling::Linear), alignCorners, antialias), "interpolate");
    }
    /// interpolate to `floor(factor * size)` pixels along each of the `imageDims` dimensions, with
    /// `scale = 1 / factor`.
    Tensor interpolateFactor(int imageDims, double factor, Resampling mode, bool alignCorners, bool antialias) const {
        detail::New r;
        return r(THTensor_interpolateFactor(r.handle, handle_, imageDims, factor, static_cast<THResampling>(mode),
            alignCorners, antialias), "interpolateFactor");
    }
    Tensor interpolateFactor(int imageDims, double factor, bool alignCorners, bool antialias) const {
        detail::New r;
        return r(THTensor_interpolateFactor(r.handle, handle_, imageDims, factor,
            static_cast<THResampling>(Resampling::Linear), alignCorners, antialias), "interpolateFactor");
    }
    /// `r` = the gradient of `t`, the operand of interpolate or interpolateFactor, from the gradient `g` of the result:
    /// the sum of `weight * g` of each pixel.
    Tensor interpolateGrad(const Tensor &t, int imageDims, double factor, Resampling mode, bool alignCorners,
        bool antialias) const {
        detail::New r;
        return r(THTensor_interpolateGrad(r.handle, handle_, t.get(), imageDims, factor,
            static_cast<THResampling>(mode), alignCorners, antialias), "interpolateGrad");
    }
    Tensor interpolateGrad(const Tensor &t, int imageDims, double factor, bool alignCorners, bool antialias) const {
        detail::New r;
        return r(THTensor_interpolateGrad(r.handle, handle_, t.get(), imageDims, factor,
            static_cast<THResampling>(Resampling::Linear), alignCorners, antialias), "interpolateGrad");
    }
    /// `r[n, c, y, x]` = the image `t[n, c]` at the place `grid[n, y, x]` between its pixels; with three dimensions,
    /// `r[n, c, z, y, x]`.
    Tensor gridSample(const Tensor &grid, Resampling mode, PadMode paddingMode, bool alignCorners) const {
        detail::New r;
        return r(THTensor_gridSample(r.handle, handle_, grid.get(), static_cast<THResampling>(mode),
            static_cast<THPadMode>(paddingMode), alignCorners), "gridSample");
    }
    Tensor gridSample(const Tensor &grid, bool alignCorners) const {
        detail::New r;
        return r(THTensor_gridSample(r.handle, handle_, grid.get(), static_cast<THResampling>(Resampling::Linear),
            static_cast<THPadMode>(PadMode::Constant), alignCorners), "gridSample");
    }
    /// The gradients of gridSample, from the gradient `g` of the result: `gradInput` of `t`, and `gradGrid` of `grid`,
    /// which is 0 for `TH_RESAMPLE_NEAREST`.
    GradInputGradGrid gridSampleGrad(const Tensor &t, const Tensor &grid, Resampling mode, PadMode paddingMode,
        bool alignCorners) const;
    GradInputGradGrid gridSampleGrad(const Tensor &t, const Tensor &grid, bool alignCorners) const;
    /// `r[n, y, x] = theta[n] @ (u, v, 1)`: a grid for gridSample of the places that affine maps give the pixels of
    /// images with the 2 or 3 sizes `sizes`.
    Tensor affineGrid(IntList sizes, bool alignCorners) const {
        detail::New r;
        return r(THTensor_affineGrid(r.handle, handle_, sizes.count(), sizes.data(), alignCorners), "affineGrid");
    }
    /// `r[.., c, y * factor + i, x * factor + j] = t[.., (c * factor + i) * factor + j, y, x]`: images with `factor`
    /// times as many rows and columns, from `factor^2` times as many channels.
    Tensor pixelShuffle(int64_t factor) const {
        detail::New r;
        return r(THTensor_pixelShuffle(r.handle, handle_, factor), "pixelShuffle");
    }
    /// The inverse of pixelShuffle:
    /// `r[.., (c * factor + i) * factor + j, y, x] = t[.., c, y * factor + i, x * factor + j]`.
    Tensor pixelUnshuffle(int64_t factor) const {
        detail::New r;
        return r(THTensor_pixelUnshuffle(r.handle, handle_, factor), "pixelUnshuffle");
    }
    /// `r[n, k * groups + i] = t[n, i * (channels / groups) + k]`: the channels of `groups` groups in turn.
    Tensor channelShuffle(int64_t groups = 1) const {
        detail::New r;
        return r(THTensor_channelShuffle(r.handle, handle_, groups), "channelShuffle");
    }

    // --------------------------------------------------------------------------------------------- Fourier transforms

    /// `r[k] = sum over j of t[j] * exp(-2 pi i j k / n)`, for complex `t`, in each dimension of the signal.
    Tensor fft(int signalDims, bool normalized = false) const {
        detail::New r;
        return r(THTensor_fft(r.handle, handle_, signalDims, normalized), "fft");
    }
    /// The inverse of fft: `r[j] = sum over k of t[k] * exp(2 pi i j k / n) / n`.
    Tensor ifft(int signalDims, bool normalized = false) const {
        detail::New r;
        return r(THTensor_ifft(r.handle, handle_, signalDims, normalized), "ifft");
    }
    /// `r[k, l] = sum over i, j of t[i, j] * exp(-2 pi i (i k / m + j l / n))`, for complex `t`, in the two dimensions,
    /// m x n, before the dimension of the complex numbers.
    Tensor fft2() const { detail::New r; return r(THTensor_fft2(r.handle, handle_), "fft2"); }
    /// The inverse of fft2: `r[i, j] = sum over k, l of t[k, l] * exp(2 pi i (i k / m + j l / n)) / (m n)`.
    Tensor ifft2() const { detail::New r; return r(THTensor_ifft2(r.handle, handle_), "ifft2"); }
    /// fft of real `t`, whose last dimension belongs to the signal.
    Tensor rfft(int signalDims, bool normalized = false, bool onesided = true) const {
        detail::New r;
        return r(THTensor_rfft(r.handle, handle_, signalDims, normalized, onesided), "rfft");
    }
    /// The inverse of rfft: `r` is real, and its last dimension is the last dimension of the signal.
    Tensor irfft(int signalDims, bool normalized = false, bool onesided = true, IntList signalSizes = {}) const {
        detail::New r;
        return r(THTensor_irfft(r.handle, handle_, signalDims, normalized, onesided, signalSizes.count(),
            signalSizes.data()), "irfft");
    }

    // ---------------------------------------------------------------------------------------------- Random generators

    /// Restores a state that was saved from a generator of the same kind.
    void setRNGState(const Generator &generator = {}) const {
        detail::check(THTensor_setRNGState(generator.get(), handle_), "setRNGState");
    }

    // ------------------------------------------------------------------------------------------------- Random numbers

    /// Fills `r` with numbers uniform in [from, to); both bounds must be in the range of the dtype.
    Tensor &uniform_(const Generator &generator, double from = 0, double to = 1) {
        return changed(THTensor_uniform(handle_, generator.get(), from, to), "uniform_");
    }
    /// Fills `r` with numbers uniform in [from, to); both bounds must be in the range of the dtype.
    Tensor &uniform_(double from = 0, double to = 1) {
        return changed(THTensor_uniform(handle_, nullptr, from, to), "uniform_");
    }
    /// Fills `r` with normally distributed numbers of mean `mean` and standard deviation `stdv` >= 0.
    Tensor &normal_(const Generator &generator, double mean = 0, double stdv = 1) {
        return changed(THTensor_normal(handle_, generator.get(), mean, stdv), "normal_");
    }
    /// Fills `r` with normally distributed numbers of mean `mean` and standard deviation `stdv` >= 0.
    Tensor &normal_(double mean = 0, double stdv = 1) {
        return changed(THTensor_normal(handle_, nullptr, mean, stdv), "normal_");
    }
    /// `r = z * stdv + means` for standard normal `z`, in the shape of `means`.
    Tensor normal_means(const Generator &generator, double stdv = 1) const {
        detail::New r;
        return r(THTensor_normal_means(r.handle, generator.get(), handle_, stdv), "normal_means");
    }
    Tensor normal_means(double stdv = 1) const {
        detail::New r;
        return r(THTensor_normal_means(r.handle, nullptr, handle_, stdv), "normal_means");
    }
    Tensor normal(const Generator &generator, double stdv = 1) const {
        detail::New r;
        return r(THTensor_normal_means(r.handle, generator.get(), handle_, stdv), "normal");
    }
    Tensor normal(double stdv = 1) const {
        detail::New r;
        return r(THTensor_normal_means(r.handle, nullptr, handle_, stdv), "normal");
    }
    /// `r = z * stdvs + mean` for standard normal `z`, in the shape of `stdvs`, whose elements must be >= 0.
    Tensor normal_stddevs(const Generator &generator, double mean = 0) const {
        detail::New r;
        return r(THTensor_normal_stddevs(r.handle, generator.get(), mean, handle_), "normal_stddevs");
    }
    Tensor normal_stddevs(double mean = 0) const {
        detail::New r;
        return r(THTensor_normal_stddevs(r.handle, nullptr, mean, handle_), "normal_stddevs");
    }
    /// `r = z * stdvs + means` for standard normal `z`; `stdvs` and `means` broadcast.
    Tensor normal_means_stddevs(const Generator &generator, const Tensor &stdvs) const {
        detail::New r;
        return r(THTensor_normal_means_stddevs(r.handle, generator.get(), handle_, stdvs.get()),
            "normal_means_stddevs");
    }
    Tensor normal_means_stddevs(const Tensor &stdvs) const {
        detail::New r;
        return r(THTensor_normal_means_stddevs(r.handle, nullptr, handle_, stdvs.get()), "normal_means_stddevs");
    }
    Tensor normal(const Generator &generator, const Tensor &stdvs) const {
        detail::New r;
        return r(THTensor_normal_means_stddevs(r.handle, generator.get(), handle_, stdvs.get()), "normal");
    }
    Tensor normal(const Tensor &stdvs) const {
        detail::New r;
        return r(THTensor_normal_means_stddevs(r.handle, nullptr, handle_, stdvs.get()), "normal");
    }
    /// Fills `r` with exponentially distributed numbers of density `lambda * exp(-lambda x)`; `lambda` > 0.
    Tensor &exponential_(const Generator &generator, double lambda = 1) {
        return changed(THTensor_exponential(handle_, generator.get(), lambda), "exponential_");
    }
    /// Fills `r` with exponentially distributed numbers of density `lambda * exp(-lambda x)`; `lambda` > 0.
    Tensor &exponential_(double lambda = 1) {
        return changed(THTensor_exponential(handle_, nullptr, lambda), "exponential_");
    }
    /// Fills `r` with Cauchy distributed numbers of density `sigma / (pi ((x - median)^2 + sigma^2))`; `sigma` > 0.
    Tensor &cauchy_(const Generator &generator, double median = 0, double sigma = 1) {
        return changed(THTensor_cauchy(handle_, generator.get(), median, sigma), "cauchy_");
    }
    /// Fills `r` with Cauchy distributed numbers of density `sigma / (pi ((x - median)^2 + sigma^2))`; `sigma` > 0.
    Tensor &cauchy_(double median = 0, double sigma = 1) {
        return changed(THTensor_cauchy(handle_, nullptr, median, sigma), "cauchy_");
    }
    /// Fills `r` with `exp(x)` for normally distributed `x` of mean `mean` and standard deviation `stdv`.
    Tensor &logNormal_(const Generator &generator, double mean = 1, double stdv = 2) {
        return changed(THTensor_logNormal(handle_, generator.get(), mean, stdv), "logNormal_");
    }
    /// Fills `r` with `exp(x)` for normally distributed `x` of mean `mean` and standard deviation `stdv`.
    Tensor &logNormal_(double mean = 1, double stdv = 2) {
        return changed(THTensor_logNormal(handle_, nullptr, mean, stdv), "logNormal_");
    }
    /// Fills `r` with normally distributed numbers truncated to [from, to]; `stdv` > 0.
    Tensor &truncNormal_(const Generator &generator, double mean = 0, double stdv = 1, double from = -2,
        double to = 2) {
        return changed(THTensor_truncNormal(handle_, generator.get(), mean, stdv, from, to), "truncNormal_");
    }
    /// Fills `r` with normally distributed numbers truncated to [from, to]; `stdv` > 0.
    Tensor &truncNormal_(double mean = 0, double stdv = 1, double from = -2, double to = 2) {
        return changed(THTensor_truncNormal(handle_, nullptr, mean, stdv, from, to), "truncNormal_");
    }
    /// Fills `r` with gamma distributed numbers of density proportional to `x^(shape - 1) exp(-x / scale)`; both
    /// parameters are > 0.
    Tensor &gamma_(const Generator &generator, double shape, double scale) {
        return changed(THTensor_gamma(handle_, generator.get(), shape, scale), "gamma_");
    }
    /// Fills `r` with gamma distributed numbers of density proportional to `x^(shape - 1) exp(-x / scale)`; both
    /// parameters are > 0.
    Tensor &gamma_(double shape, double scale) {
        return changed(THTensor_gamma(handle_, nullptr, shape, scale), "gamma_");
    }
    /// Fills `r` as `THTensor_gamma`, with a shape and a scale for each element; both broadcast.
    Tensor gammaTensor(const Generator &generator, const Tensor &scale) const {
        detail::New r;
        return r(THTensor_gammaTensor(r.handle, generator.get(), handle_, scale.get()), "gammaTensor");
    }
    Tensor gammaTensor(const Tensor &scale) const {
        detail::New r;
        return r(THTensor_gammaTensor(r.handle, nullptr, handle_, scale.get()), "gammaTensor");
    }
    Tensor gamma(const Generator &generator, const Tensor &scale) const {
        detail::New r;
        return r(THTensor_gammaTensor(r.handle, generator.get(), handle_, scale.get()), "gamma");
    }
    Tensor gamma(const Tensor &scale) const {
        detail::New r;
        return r(THTensor_gammaTensor(r.handle, nullptr, handle_, scale.get()), "gamma");
    }
    /// Fills `r` with beta distributed numbers of density proportional to `x^(a - 1) (1 - x)^(b - 1)`; both parameters
    /// are > 0.
    Tensor &beta_(const Generator &generator, double a, double b) {
        return changed(THTensor_beta(handle_, generator.get(), a, b), "beta_");
    }
    /// Fills `r` with beta distributed numbers of density proportional to `x^(a - 1) (1 - x)^(b - 1)`; both parameters
    /// are > 0.
    Tensor &beta_(double a, double b) { return changed(THTensor_beta(handle_, nullptr, a, b), "beta_"); }
    /// Fills `r` as `THTensor_beta`, with `a` and `b` for each element; both broadcast.
    Tensor betaTensor(const Generator &generator, const Tensor &b) const {
        detail::New r;
        return r(THTensor_betaTensor(r.handle, generator.get(), handle_, b.get()), "betaTensor");
    }
    Tensor betaTensor(const Tensor &b) const {
        detail::New r;
        return r(THTensor_betaTensor(r.handle, nullptr, handle_, b.get()), "betaTensor");
    }
    Tensor beta(const Generator &generator, const Tensor &b) const {
        detail::New r;
        return r(THTensor_betaTensor(r.handle, generator.get(), handle_, b.get()), "beta");
    }
    Tensor beta(const Tensor &b) const {
        detail::New r;
        return r(THTensor_betaTensor(r.handle, nullptr, handle_, b.get()), "beta");
    }
    /// Fills `r` with 1 with probability `p`, else 0.
    Tensor &bernoulli_(const Generator &generator, double p = 0.5) {
        return changed(THTensor_bernoulli(handle_, generator.get(), p), "bernoulli_");
    }
    /// Fills `r` with 1 with probability `p`, else 0.
    Tensor &bernoulli_(double p = 0.5) { return changed(THTensor_bernoulli(handle_, nullptr, p), "bernoulli_"); }
    /// `r = 1` with probability `p`, else 0, for each element of `p`, which must be of floats.
    Tensor bernoulliTensor(const Generator &generator = {}) const {
        detail::New r;
        return r(THTensor_bernoulliTensor(r.handle, generator.get(), handle_), "bernoulliTensor");
    }
    Tensor bernoulli(const Generator &generator = {}) const {
        detail::New r;
        return r(THTensor_bernoulliTensor(r.handle, generator.get(), handle_), "bernoulli");
    }
    /// Fills `r` with the number of trials up to the first success, where, as in TH, each trial fails with probability
    /// `p`: `P(k) = p^(k - 1) (1 - p)` for k = 1, 2, ...; 0 < p < 1.
    Tensor &geometric_(const Generator &generator, double p) {
        return changed(THTensor_geometric(handle_, generator.get(), p), "geometric_");
    }
    /// Fills `r` with the number of trials up to the first success, where, as in TH, each trial fails with probability
    /// `p`: `P(k) = p^(k - 1) (1 - p)` for k = 1, 2, ...; 0 < p < 1.
    Tensor &geometric_(double p) { return changed(THTensor_geometric(handle_, nullptr, p), "geometric_"); }
    /// Fills `r` with Poisson distributed numbers, `P(k) = rate^k exp(-rate) / k!`; `rate` >= 0.
    Tensor &poisson_(const Generator &generator, double rate) {
        return changed(THTensor_poisson(handle_, generator.get(), rate), "poisson_");
    }
    /// Fills `r` with Poisson distributed numbers, `P(k) = rate^k exp(-rate) / k!`; `rate` >= 0.
    Tensor &poisson_(double rate) { return changed(THTensor_poisson(handle_, nullptr, rate), "poisson_"); }
    /// Fills `r` as `THTensor_poisson`, with a rate for each element; `rate` must be of floats.
    Tensor poissonTensor(const Generator &generator = {}) const {
        detail::New r;
        return r(THTensor_poissonTensor(r.handle, generator.get(), handle_), "poissonTensor");
    }
    Tensor poisson(const Generator &generator = {}) const {
        detail::New r;
        return r(THTensor_poissonTensor(r.handle, generator.get(), handle_), "poisson");
    }
    /// Fills `r` with the number of successes in `n` trials that succeed with probability `p`; `n` is whole, from 0 to
    /// 2^53.
    Tensor &binomial_(const Generator &generator, double n, double p) {
        return changed(THTensor_binomial(handle_, generator.get(), n, p), "binomial_");
    }
    /// Fills `r` with the number of successes in `n` trials that succeed with probability `p`; `n` is whole, from 0 to
    /// 2^53.
    Tensor &binomial_(double n, double p) { return changed(THTensor_binomial(handle_, nullptr, n, p), "binomial_"); }
    /// Fills `r` as `THTensor_binomial`, with `n` and `p` for each element; both are of floats and broadcast.
    Tensor binomialTensor(const Generator &generator, const Tensor &p) const {
        detail::New r;
        return r(THTensor_binomialTensor(r.handle, generator.get(), handle_, p.get()), "binomialTensor");
    }
    Tensor binomialTensor(const Tensor &p) const {
        detail::New r;
        return r(THTensor_binomialTensor(r.handle, nullptr, handle_, p.get()), "binomialTensor");
    }
    Tensor binomial(const Generator &generator, const Tensor &p) const {
        detail::New r;
        return r(THTensor_binomialTensor(r.handle, generator.get(), handle_, p.get()), "binomial");
    }
    Tensor binomial(const Tensor &p) const {
        detail::New r;
        return r(THTensor_binomialTensor(r.handle, nullptr, handle_, p.get()), "binomial");
    }
    /// Fills `r` with uniformly distributed integers from 0 to the greatest of the dtype; for floats to 2^8 (bfloat16),
    /// 2^11 (float16), 2^24 (float32) or 2^53 (float64).
    Tensor &random_(const Generator &generator = {}) {
        return changed(THTensor_random(handle_, generator.get()), "random_");
    }
    /// Fills `r` with integers from 0 to `max - 1`; `max` > 0.
    Tensor &cappedRandom_(const Generator &generator, int64_t max) {
        return changed(THTensor_cappedRandom(handle_, generator.get(), max), "cappedRandom_");
    }
    /// Fills `r` with integers from 0 to `max - 1`; `max` > 0.
    Tensor &cappedRandom_(int64_t max) {
        return changed(THTensor_cappedRandom(handle_, nullptr, max), "cappedRandom_");
    }
    Tensor &random_(const Generator &generator, int64_t max) {
        return changed(THTensor_cappedRandom(handle_, generator.get(), max), "random_");
    }
    Tensor &random_(int64_t max) { return changed(THTensor_cappedRandom(handle_, nullptr, max), "random_"); }
    /// Fills `r` with integers from `min` to `max - 1`.
    Tensor &clampedRandom_(const Generator &generator, int64_t min, int64_t max) {
        return changed(THTensor_clampedRandom(handle_, generator.get(), min, max), "clampedRandom_");
    }
    /// Fills `r` with integers from `min` to `max - 1`.
    Tensor &clampedRandom_(int64_t min, int64_t max) {
        return changed(THTensor_clampedRandom(handle_, nullptr, min, max), "clampedRandom_");
    }
    Tensor &random_(const Generator &generator, int64_t min, int64_t max) {
        return changed(THTensor_clampedRandom(handle_, generator.get(), min, max), "random_");
    }
    Tensor &random_(int64_t min, int64_t max) {
        return changed(THTensor_clampedRandom(handle_, nullptr, min, max), "random_");
    }
    /// Fills weights `r` (outputs x inputs x window) with numbers uniform in [-b, b), where
    /// `b = gain * sqrt(6 / ((inputs + outputs) * window))`: Glorot's initialisation for `gain` 1.
    Tensor &xavierUniform_(const Generator &generator, double gain = 1) {
        return changed(THTensor_xavierUniform(handle_, generator.get(), gain), "xavierUniform_");
    }
    /// Fills weights `r` (outputs x inputs x window) with numbers uniform in [-b, b), where
    /// `b = gain * sqrt(6 / ((inputs + outputs) * window))`: Glorot's initialisation for `gain` 1.
    Tensor &xavierUniform_(double gain = 1) {
        return changed(THTensor_xavierUniform(handle_, nullptr, gain), "xavierUniform_");
    }
    /// Fills weights `r` (outputs x inputs x window) with normally distributed numbers of standard deviation
    /// `b / sqrt(3)`, with `b` as for `THTensor_xavierUniform`.
    Tensor &xavierNormal_(const Generator &generator, double gain = 1) {
        return changed(THTensor_xavierNormal(handle_, generator.get(), gain), "xavierNormal_");
    }
    /// Fills weights `r` (outputs x inputs x window) with normally distributed numbers of standard deviation
    /// `b / sqrt(3)`, with `b` as for `THTensor_xavierUniform`.
    Tensor &xavierNormal_(double gain = 1) {
        return changed(THTensor_xavierNormal(handle_, nullptr, gain), "xavierNormal_");
    }
    /// Fills weights `r` (outputs x inputs x window) with numbers uniform in [-b, b), where
    /// `b = sqrt(6 / ((1 + slope^2) n))` and `n` is inputs x window (`TH_FAN_IN`) or outputs x window (`TH_FAN_OUT`):
    /// He's initialisation for rectifiers with this slope below 0.
    Tensor &kaimingUniform_(const Generator &generator, double slope = 0, Fan fan = Fan::In) {
        return changed(THTensor_kaimingUniform(handle_, generator.get(), slope, static_cast<THFan>(fan)),
            "kaimingUniform_");
    }
    /// Fills weights `r` (outputs x inputs x window) with numbers uniform in [-b, b), where
    /// `b = sqrt(6 / ((1 + slope^2) n))` and `n` is inputs x window (`TH_FAN_IN`) or outputs x window (`TH_FAN_OUT`):
    /// He's initialisation for rectifiers with this slope below 0.
    Tensor &kaimingUniform_(double slope = 0, Fan fan = Fan::In) {
        return changed(THTensor_kaimingUniform(handle_, nullptr, slope, static_cast<THFan>(fan)), "kaimingUniform_");
    }
    /// Fills weights `r` (outputs x inputs x window) with normally distributed numbers of standard deviation
    /// `b / sqrt(3)`, with `b` as for `THTensor_kaimingUniform`.
    Tensor &kaimingNormal_(const Generator &generator, double slope = 0, Fan fan = Fan::In) {
        return changed(THTensor_kaimingNormal(handle_, generator.get(), slope, static_cast<THFan>(fan)),
            "kaimingNormal_");
    }
    /// Fills weights `r` (outputs x inputs x window) with normally distributed numbers of standard deviation
    /// `b / sqrt(3)`, with `b` as for `THTensor_kaimingUniform`.
    Tensor &kaimingNormal_(double slope = 0, Fan fan = Fan::In) {
        return changed(THTensor_kaimingNormal(handle_, nullptr, slope, static_cast<THFan>(fan)), "kaimingNormal_");
    }
    /// A tensor as by `THTensor_newRand`, with the dtype and sizes of `t`.
    Tensor randLike(const Generator &generator = {}) const {
        return detail::made(THTensor_newRandLike(handle_, generator.get()), "randLike");
    }
    /// A tensor as by `THTensor_newRandn`, with the dtype and sizes of `t`.
    Tensor randnLike(const Generator &generator = {}) const {
        return detail::made(THTensor_newRandnLike(handle_, generator.get()), "randnLike");
    }
    /// A tensor as by `THTensor_newRandint`, with the dtype and sizes of `t`.
    Tensor randintLike(const Generator &generator, int64_t from, int64_t to) const {
        return detail::made(THTensor_newRandintLike(handle_, generator.get(), from, to), "randintLike");
    }
    Tensor randintLike(int64_t from, int64_t to) const {
        return detail::made(THTensor_newRandintLike(handle_, nullptr, from, to), "randintLike");
    }
    Tensor randintLike(int64_t to) const {
        return detail::made(THTensor_newRandintLike(handle_, nullptr, 0, to), "randintLike");
    }
    /// `r` = `n` categories, as indices from 0, for each row of `p`, or for the vector `p`.
    Tensor multinomial(const Generator &generator, int64_t n, bool replacement = false) const {
        detail::New r;
        return r(THTensor_multinomial(r.handle, generator.get(), handle_, n, replacement), "multinomial");
    }
    Tensor multinomial(int64_t n, bool replacement = false) const {
        detail::New r;
        return r(THTensor_multinomial(r.handle, nullptr, handle_, n, replacement), "multinomial");
    }
    /// Tables for repeated draws from the vector `p` by the alias method: a uniformly drawn category `k` is kept with
    /// probability `q[k]` and otherwise replaced by `J[k]`.
    JQ multinomialAliasSetup() const;
    /// Fills `r` with categories, as indices from 0, using the tables of `THTensor_multinomialAliasSetup`.
    Tensor multinomialAliasDraw(const Generator &generator, const Tensor &q) const {
        detail::New r;
        return r(THTensor_multinomialAliasDraw(r.handle, generator.get(), handle_, q.get()), "multinomialAliasDraw");
    }
    Tensor multinomialAliasDraw(const Tensor &q) const {
        detail::New r;
        return r(THTensor_multinomialAliasDraw(r.handle, nullptr, handle_, q.get()), "multinomialAliasDraw");
    }
    /// `r = t * mask / (1 - p)`, where each element of the mask is false with probability `p`, else true.
    RMask dropout(const Generator &generator, double p = 0.5) const;
    RMask dropout(double p = 0.5) const;
    /// dropout of whole channels: the elements of a channel of an entry of the batch are dropped together (Tompson and
    /// others, "Efficient Object Localization Using Convolutional Networks", 2015).
    RMask featureDropout(const Generator &generator, double p = 0.5) const;
    RMask featureDropout(double p = 0.5) const;
    /// `r = a * (t - s * p)` where the mask is true, else `a * s * (1 - p)`, with `s = -1.7580993408473766`, the limit
    /// of selu for minus infinity, and `a = 1 / sqrt((s^2 * p + 1) * (1 - p))`: elements with the mean 0 and the
    /// variance 1 keep both (Klambauer and others, "Self-Normalizing Neural Networks", 2017).
    RMask alphaDropout(const Generator &generator, double p = 0.5) const;
    RMask alphaDropout(double p = 0.5) const;
    /// alphaDropout of whole channels, with shapes as for featureDropout.
    RMask featureAlphaDropout(const Generator &generator, double p = 0.5) const;
    RMask featureAlphaDropout(double p = 0.5) const;

    // ---------------------------------------------------------------------------------- Exchange with other libraries

    /// Returns the elements of `t` as a struct for a consumer of DLPack 1, without a copy.
    DLManagedTensorVersioned *toDLPack() const {
        return detail::must(THTensor_toDLPack(handle_), static_cast<DLManagedTensorVersioned *>(nullptr), "toDLPack");
    }
    /// Returns the elements of `t` as toDLPack does, in the struct that DLPack had before version 1.
    DLManagedTensor *toDLPackLegacy() const {
        return detail::must(THTensor_toDLPackLegacy(handle_), static_cast<DLManagedTensor *>(nullptr),
            "toDLPackLegacy");
    }
    /// Fills in `schema` and `array` for a consumer of Arrow arrays, who shares the elements of `t`.
    void toArrow(ArrowSchema *schema, ArrowArray *array) const {
        detail::check(THTensor_toArrow(handle_, schema, array), "toArrow");
    }

    // --------------------------------------------------------------------------------- Mapped files and shared memory

    /// Moves the storage of `t` to shared memory, for all tensors on that storage; a storage that is already shared
    /// stays in place.
    Tensor &shareMemory_() { return changed(THTensor_shareMemory(handle_), "shareMemory_"); }
    /// True if other processes can see the elements of `t`, because they are in shared memory or in a file that is
    /// mapped as shared.
    bool isShared() const {
        THClearLastError();
        const int r = THTensor_isShared(handle_);
        return detail::known(r != 0, !r, "isShared");
    }

    // ------------------------------------------------------------------------------------------------------ Gradients

    /// Sets whether `t`, a leaf, requires a gradient.
    Tensor &setRequiresGrad_(bool requiresGrad) {
        return changed(THTensor_setRequiresGrad(handle_, requiresGrad), "setRequiresGrad_");
    }
    /// True if `t` requires a gradient: it is a leaf set so, or a result computed from such a leaf.
    bool requiresGrad() const {
        THClearLastError();
        const int r = THTensor_requiresGrad(handle_);
        return detail::known(r != 0, !r, "requiresGrad");
    }
    /// True if `t` is a leaf, which is not the result of a recorded operation.
    bool isLeaf() const {
        THClearLastError();
        const int r = THTensor_isLeaf(handle_);
        return detail::known(r != 0, !r, "isLeaf");
    }
    /// Makes `grad` the gradient of `t`, which keeps a handle on the elements of `grad`.
    Tensor &setGrad_(const Tensor &grad = {}) { return changed(THTensor_setGrad(handle_, grad.get()), "setGrad_"); }
    /// Fills the gradient of `t` with 0, if `t` has one.
    Tensor &zeroGrad_() { return changed(THTensor_zeroGrad(handle_), "zeroGrad_"); }
    /// Makes backward keep the gradient of `t`, a result of an operation.
    Tensor &retainGrad_() { return changed(THTensor_retainGrad(handle_), "retainGrad_"); }
    /// A handle on the elements of `t` that requires no gradient.
    Tensor detach() const { return detail::made(THTensor_newDetach(handle_), "detach"); }
    /// Ends the history of `t`, which becomes a leaf that requires no gradient.
    Tensor &detach_() { return changed(THTensor_detach(handle_), "detach_"); }
    /// The number of writes to the storage of `t` since the program first used gradients.
    int64_t version() const {
        THClearLastError();
        const int64_t r = THTensor_version(handle_);
        return detail::known(r, r == -1, "version");
    }
    /// Computes the gradient of `sum of gradient * t` and adds it to the gradient of each leaf that `t` was computed
    /// from.
    void backward(const Tensor &gradient = {}) const {
        detail::check(THTensor_backward(handle_, gradient.get()), "backward");
    }

    // ------------------------------------------------------------------------------------------------------- Printing

    /// `t` as text, in the layout and with the digits that `options` select; NULL selects the defaults.
    String toString(const THPrintOptions *options = nullptr) const {
        if (!handle_) return String::copy("undefined tensor");
        return detail::text(THTensor_toString(handle_, options), "toString");
    }
    /// Writes `t` and a newline to C's stdout, with the default options.
    void print() const {
        if (!handle_) return detail::write(stdout, "undefined tensor", "print");
        detail::check(THTensor_print(handle_), "print");
    }
    /// Writes `t` and a newline to `stream` in one write; `options` are as for `THTensor_toString`.
    void fprint(FILE *stream, const THPrintOptions *options = nullptr) const {
        if (!handle_) return detail::write(stream, "undefined tensor", "fprint");
        detail::check(THTensor_fprint(stream, handle_, options), "fprint");
    }

    // ---------------------------------------------------------------------------------------------------------- Files

    /// Writes a tensor without a name to the file `path`.
    void save(Text path) const { detail::check(THTensor_save(handle_, path.c_str()), "save"); }

  private:
    using Counted::Counted;
    Tensor &changed(THStatus status, const char *name) {
        detail::check(status, name);
        return *this;
    }
};

static_assert(sizeof(Tensor) == sizeof(THTensor *) && std::is_standard_layout_v<Tensor>,
              "a list of tensors is one of handles");
static_assert(sizeof(Operand) == sizeof(THTensor *) && std::is_standard_layout_v<Operand>,
              "a list of operands is one of handles");

inline Operand::Operand(const Tensor &t) noexcept : handle_(t.get()) {}


/// Several results.
struct JQ {
    Tensor J, q;
};

/// Several results.
struct CrowColStartsOrder {
    Tensor crow, col, starts, order;
};

/// Several results.
struct EV {
    Tensor e, v;
};

/// Several results.
struct GradInputGradGrid {
    Tensor gradInput, gradGrid;
};

/// Several results.
struct GradInputGradWeight {
    Tensor gradInput, gradWeight;
};

/// Several results.
struct GradInputGradWeightGradBias {
    Tensor gradInput, gradWeight, gradBias;
};

/// Several results.
struct GradQueryGradKeyGradValueGradMask {
    Tensor gradQuery, gradKey, gradValue, gradMask;
};

/// Several results.
struct GradXGradH0GradC0GradWeights {
    Tensor gradX, gradH0, gradC0, gradWeights;
};

/// Several results.
struct GradXGradH0GradWeights {
    Tensor gradX, gradH0, gradWeights;
};

/// Several results.
struct HnCnReserve {
    Tensor hn, cn, reserve;
};

/// Several results.
struct HnReserve {
    Tensor hn, reserve;
};

/// Several results.
struct LeastGreatest {
    Tensor least, greatest;
};

/// Several results.
struct OutputHnCnReserve {
    Tensor output, hn, cn, reserve;
};

/// Several results.
struct OutputHnReserve {
    Tensor output, hn, reserve;
};

/// Several results.
struct PLU {
    Tensor p, l, u;
};

/// Several results.
struct RLogSumExp {
    Tensor r, logSumExp;
};

/// Several results.
struct RMask {
    Tensor r, mask;
};

/// Several results.
struct RMeanInvstd {
    Tensor r, mean, invstd;
};

/// Several results.
struct RRcrowRcol {
    Tensor r, rcrow, rcol;
};

/// Several results.
struct RaRpiv {
    Tensor ra, rpiv;
};

/// Several results.
struct RaRpivots {
    Tensor ra, rpivots;
};

/// Several results.
struct RaRtau {
    Tensor ra, rtau;
};

/// Several results.
struct RbRa {
    Tensor rb, ra;
};

/// Several results.
struct ReRv {
    Tensor re, rv;
};

/// Several results.
struct RqRr {
    Tensor rq, rr;
};

/// Several results.
struct RuRsRv {
    Tensor ru, rs, rv;
};

/// Several results.
struct SignLogabsdet {
    Tensor sign, logabsdet;
};

/// Several results.
struct USV {
    Tensor u, s, v;
};

/// Several results.
struct ValuesIndices {
    Tensor values, indices;
};

/// Several results.
struct ValuesInverseCounts {
    Tensor values, inverse, counts;
};

/// Several results.
struct XLu {
    Tensor x, lu;
};

/// Several results.
struct XRankS {
    Tensor x, rank, s;
};

namespace detail {

inline New::New() : handle(THTensor_new()) {
    if (!handle) fail("Tensor");
}

inline Tensor New::operator()(THStatus status, const char *name) {
    if (status != TH_OK) return fail(name), Tensor();
    Tensor r = Tensor::take(handle);
    handle = nullptr;
    return r;
}

/// The handle of a result. Makes the tensor if it is undefined.
inline THTensor *result(Tensor &r) {
    if (!r.defined()) r = Tensor(Fresh());
    return r.get();
}

/// The handle of a result, or NULL if the result is omitted.
inline THTensor *result(Out r) { return r.get() ? result(*r.get()) : nullptr; }

/// Returns the result after a call has written it.
inline Tensor &into(Tensor &r, THStatus status, const char *name) {
    check(status, name);
    return r;
}

/// Without exceptions, the result of a failed call becomes undefined.
inline void check(THStatus status, const char *name, Tensor &r) {
    if (status == TH_OK) return;
    fail(name);
    r = Tensor();
}

/// As above, for several results.
template <class... R> inline void check_all(THStatus status, const char *name, R &...r) {
    if (status == TH_OK) return;
    fail(name);
    ((r = R()), ...);
}

/// Returns the tensor that a function made.
inline Tensor made(THTensor *handle, const char *name) {
    return Tensor::take(must(handle, static_cast<THTensor *>(nullptr), name));
}

/// Returns fresh tensors for `count` results.
inline std::vector<Tensor> fresh(int count) {
    std::vector<Tensor> list;
    list.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; i++) list.emplace_back(Fresh());
    return list;
}

/// Returns the tensors of a function that first returns their number, and then makes them.
template <class F> inline std::vector<Tensor> pieces(F call, const char *name) {
    int count = 0;
    THStatus status = call(nullptr, &count);
    std::vector<Tensor> list(static_cast<std::size_t>(status == TH_OK ? count : 0));
    if (status == TH_OK) status = call(reinterpret_cast<THTensor **>(list.data()), &count);
    check(status, name);
    return list;
}

} // namespace detail

// --------------------------------------------------------------------------------------------- Handles and references

/// A handle with a dtype but without elements.
inline Tensor withDtype(Dtype dtype = Dtype::Undefined) {
    return detail::made(THTensor_newWithDtype(detail::dtype(dtype)), "withDtype");
}
inline Tensor withTensor(const Tensor &t) { return t.withTensor(); }
inline int refcount(const Tensor &t) { return t.refcount(); }

// ----------------------------------------------------------------------------------------------------- Making tensors

/// A row-major tensor with undefined elements; `ndim` 0 makes a scalar.
inline Tensor withSizes(IntList size, Dtype dtype = Dtype::Undefined) {
    return detail::made(THTensor_newWithSizes(detail::dtype(dtype), size.count(), size.data()), "withSizes");
}
/// A tensor with undefined elements and the given strides.
inline Tensor withSizesStrides(IntList size, IntList stride, Dtype dtype = Dtype::Undefined) {
    return detail::made(THTensor_newWithSizesStrides(detail::dtype(dtype), detail::common("withSizesStrides", {size,
        stride}), size.data(), stride.data()), "withSizesStrides");
}
/// A tensor with undefined elements in the memory format `format`.
inline Tensor empty(IntList size, MemoryFormat format = MemoryFormat::ContiguousFormat,
    Dtype dtype = Dtype::Undefined) {
    return detail::made(THTensor_newEmpty(detail::dtype(dtype), size.count(), size.data(),
        static_cast<THMemoryFormat>(format)), "empty");
}
/// A row-major tensor whose elements are all `value`.
inline Tensor full(IntList size, double value, Dtype dtype = Dtype::Undefined) {
    if (dtype == Dtype::Undefined) { detail::New r; return r(THTensor_full(r.handle, size.count(), size.data(), value),
        "full"); } return detail::made(THTensor_newFull(detail::dtype(dtype), size.count(), size.data(), value),
        "full");
}
/// A row-major tensor of zeros.
inline Tensor zeros(IntList size, Dtype dtype = Dtype::Undefined) {
    if (dtype == Dtype::Undefined) { detail::New r; return r(THTensor_zeros(r.handle, size.count(), size.data()),
        "zeros"); } return detail::made(THTensor_newZeros(detail::dtype(dtype), size.count(), size.data()), "zeros");
}
/// A row-major tensor of ones.
inline Tensor ones(IntList size, Dtype dtype = Dtype::Undefined) {
    if (dtype == Dtype::Undefined) { detail::New r; return r(THTensor_ones(r.handle, size.count(), size.data()),
        "ones"); } return detail::made(THTensor_newOnes(detail::dtype(dtype), size.count(), size.data()), "ones");
}
/// A vector of the numbers `start + i * step` before `end`, as by `THTensor_arange`.
inline Tensor arange(double start, double end, double step = 1, Dtype dtype = Dtype::Undefined) {
    if (dtype == Dtype::Undefined) { detail::New r; return r(THTensor_arange(r.handle, start, end, step),
        "arange"); } return detail::made(THTensor_newArange(detail::dtype(dtype), start, end, step), "arange");
}
/// A vector of the numbers `start + i * step` before `end`, as by `THTensor_arange`.
inline Tensor arange(double end, Dtype dtype = Dtype::Undefined) {
    if (dtype == Dtype::Undefined) { detail::New r; return r(THTensor_arange(r.handle, 0, end, 1),
        "arange"); } return detail::made(THTensor_newArange(detail::dtype(dtype), 0, end, 1), "arange");
}
/// A vector of `n` evenly spaced numbers from `start` to `end`, as by `THTensor_linspace`.
inline Tensor linspace(double start, double end, int64_t n, Dtype dtype = Dtype::Undefined) {
    if (dtype == Dtype::Undefined) { detail::New r; return r(THTensor_linspace(r.handle, start, end, n),
        "linspace"); } return detail::made(THTensor_newLinspace(detail::dtype(dtype), start, end, n), "linspace");
}
/// A matrix of `n` rows and `m` columns with ones on the diagonal and zeros elsewhere.
inline Tensor eye(int64_t n, int64_t m, Dtype dtype = Dtype::Undefined) {
    if (dtype == Dtype::Undefined) { detail::New r; return r(THTensor_eye(r.handle, n, m),
        "eye"); } return detail::made(THTensor_newEye(detail::dtype(dtype), n, m), "eye");
}
inline Tensor emptyLike(const Tensor &t) { return t.emptyLike(); }
inline Tensor fullLike(const Tensor &t, double value) { return t.fullLike(value); }
inline Tensor zerosLike(const Tensor &t) { return t.zerosLike(); }
inline Tensor onesLike(const Tensor &t) { return t.onesLike(); }
/// A 0-d tensor with the element `value`.
inline Tensor scalar(double value, Dtype dtype = Dtype::Undefined) {
    return detail::made(THTensor_newScalar(detail::dtype(dtype), value), "scalar");
}
/// A 0-d tensor with an int64 element, which a double may be unable to hold.
inline Tensor scalarLong(int64_t value, Dtype dtype = Dtype::Undefined) {
    return detail::made(THTensor_newScalarLong(detail::dtype(dtype), value), "scalarLong");
}
/// A tensor with a copy of the row-major elements at `data`, which need not be aligned.
inline Tensor fromData(IntList size, const void *data, Dtype dtype = Dtype::Undefined) {
    return detail::made(THTensor_newFromData(detail::dtype(dtype), size.count(), size.data(), data), "fromData");
}
/// A tensor that shares `data` with the caller; a NULL `stride` means row-major.
inline Tensor fromBlob(IntList size, IntList stride, void *data, THDeleter deleter = nullptr, void *context = nullptr,
    Dtype dtype = Dtype::Undefined) {
    return detail::made(THTensor_newFromBlob(detail::dtype(dtype), detail::common("fromBlob", {size, stride}),
        size.data(), stride.data(), data, deleter, context), "fromBlob");
}
/// A tensor that shares `data` with the caller; a NULL `stride` means row-major.
inline Tensor fromBlob(IntList size, void *data, THDeleter deleter = nullptr, void *context = nullptr,
    Dtype dtype = Dtype::Undefined) {
    return detail::made(THTensor_newFromBlob(detail::dtype(dtype), size.count(), size.data(), nullptr, data, deleter,
        context), "fromBlob");
}
/// A tensor over `storage`, which grows if it is too small and can be resized; a NULL `stride` means row-major.
inline Tensor withStorage(const Storage &storage, ptrdiff_t storageOffset, IntList size, IntList stride = {}) {
    return detail::made(THTensor_newWithStorage(storage.get(), storageOffset, detail::common("withStorage", {size,
        stride}), size.data(), stride.data()), "withStorage");
}

// ------------------------------------------------------------------------------------------------- Looking at tensors

inline ptrdiff_t storageOffset(const Tensor &t) { return t.storageOffset(); }
inline int64_t size(const Tensor &t, int dim) { return t.size(dim); }
inline int64_t stride(const Tensor &t, int dim) { return t.stride(dim); }
inline Storage sizeOf(const Tensor &t) { return t.sizeOf(); }
inline Storage strideOf(const Tensor &t) { return t.strideOf(); }
inline ptrdiff_t nElement(const Tensor &t) { return t.nElement(); }
inline ptrdiff_t numel(const Tensor &t) { return t.numel(); }
inline size_t elementSize(const Tensor &t) { return t.elementSize(); }
inline DeviceType deviceType(const Tensor &t) { return t.deviceType(); }
inline int64_t getDevice(const Tensor &t) { return t.getDevice(); }
inline bool isContiguous(const Tensor &t) { return t.isContiguous(); }
inline bool isContiguousFormat(const Tensor &t, MemoryFormat format = MemoryFormat::ContiguousFormat) {
    return t.isContiguousFormat(format);
}
inline bool isContiguous(const Tensor &t, MemoryFormat format) { return t.isContiguous(format); }
inline bool isSameSizeAs(const Tensor &t, const Tensor &src) { return t.isSameSizeAs(src); }
inline bool isSameSize(const Tensor &t, const Tensor &src) { return t.isSameSize(src); }
inline bool isSetTo(const Tensor &t, const Tensor &src) { return t.isSetTo(src); }
inline bool isSize(const Tensor &t, IntList size) { return t.isSize(size); }

// ---------------------------------------------------------------------------------------------------- Single elements

inline double getAt(const Tensor &t, IntList index) { return t.getAt(index); }
inline int64_t getAtLong(const Tensor &t, IntList index) { return t.getAtLong(index); }
inline double item(const Tensor &t) { return t.item(); }
inline int64_t itemLong(const Tensor &t) { return t.itemLong(); }

// --------------------------------------------------------------------------------------------- Copies and conversions

inline Tensor clone(const Tensor &t) { return t.clone(); }
inline Tensor cloneFormat(const Tensor &t, MemoryFormat format = MemoryFormat::ContiguousFormat) {
    return t.cloneFormat(format);
}
inline Tensor clone(const Tensor &t, MemoryFormat format) { return t.clone(format); }
inline Tensor contiguous(const Tensor &t) { return t.contiguous(); }
inline Tensor contiguousFormat(const Tensor &t, MemoryFormat format = MemoryFormat::ContiguousFormat) {
    return t.contiguousFormat(format);
}
inline Tensor contiguous(const Tensor &t, MemoryFormat format) { return t.contiguous(format); }
inline Tensor to(const Tensor &t, Dtype dtype) { return t.to(dtype); }

// -------------------------------------------------------------------------------------------------------------- Views

inline Tensor &narrow_out(Tensor &r, const Tensor &t, int dimension, int64_t firstIndex, int64_t size) {
    return detail::into(r, THTensor_narrow(detail::result(r), t.get(), dimension, firstIndex, size), "narrow_out");
}
inline Tensor narrow(const Tensor &t, int dimension, int64_t firstIndex, int64_t size) {
    return t.narrow(dimension, firstIndex, size);
}
inline Tensor &select_out(Tensor &r, const Tensor &t, int dimension, int64_t sliceIndex) {
    return detail::into(r, THTensor_select(detail::result(r), t.get(), dimension, sliceIndex), "select_out");
}
inline Tensor select(const Tensor &t, int dimension, int64_t sliceIndex) { return t.select(dimension, sliceIndex); }
inline Tensor &slice_out(Tensor &r, const Tensor &t, int dimension, int64_t start, int64_t end, int64_t step) {
    return detail::into(r, THTensor_slice(detail::result(r), t.get(), dimension, start, end, step), "slice_out");
}
inline Tensor slice(const Tensor &t, int dimension, int64_t start, int64_t end, int64_t step) {
    return t.slice(dimension, start, end, step);
}
inline Tensor &transpose_out(Tensor &r, const Tensor &t, int dimension1, int dimension2) {
    return detail::into(r, THTensor_transpose(detail::result(r), t.get(), dimension1, dimension2), "transpose_out");
}
inline Tensor transpose(const Tensor &t, int dimension1, int dimension2) { return t.transpose(dimension1, dimension2); }
inline Tensor swapaxes(const Tensor &t, int dimension1, int dimension2) { return t.swapaxes(dimension1, dimension2); }
inline Tensor swapdims(const Tensor &t, int dimension1, int dimension2) { return t.swapdims(dimension1, dimension2); }
inline Tensor &t_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_t(detail::result(r), t.get()), "t_out");
}
inline Tensor t(const Tensor &t) { return t.t(); }
inline Tensor &permute_out(Tensor &r, const Tensor &t, IntList dims) {
    return detail::into(r, THTensor_permute(detail::result(r), t.get(), dims.count(), dims.data()), "permute_out");
}
inline Tensor permute(const Tensor &t, IntList dims) { return t.permute(dims); }
inline Tensor &diagonal_out(Tensor &r, const Tensor &t, int64_t offset = 0, int dim1 = 0, int dim2 = 1) {
    return detail::into(r, THTensor_diagonal(detail::result(r), t.get(), offset, dim1, dim2), "diagonal_out");
}
inline Tensor diagonal(const Tensor &t, int64_t offset = 0, int dim1 = 0, int dim2 = 1) {
    return t.diagonal(offset, dim1, dim2);
}
inline Tensor &unfold_out(Tensor &r, const Tensor &t, int dimension, int64_t size, int64_t step) {
    return detail::into(r, THTensor_unfold(detail::result(r), t.get(), dimension, size, step), "unfold_out");
}
inline Tensor unfold(const Tensor &t, int dimension, int64_t size, int64_t step) {
    return t.unfold(dimension, size, step);
}
inline Tensor &squeeze_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_squeeze(detail::result(r), t.get()), "squeeze_out");
}
inline Tensor squeeze(const Tensor &t) { return t.squeeze(); }
inline Tensor &squeeze1d_out(Tensor &r, const Tensor &t, int dimension) {
    return detail::into(r, THTensor_squeeze1d(detail::result(r), t.get(), dimension), "squeeze1d_out");
}
inline Tensor &squeeze_out(Tensor &r, const Tensor &t, int dimension) {
    return detail::into(r, THTensor_squeeze1d(detail::result(r), t.get(), dimension), "squeeze_out");
}
inline Tensor squeeze1d(const Tensor &t, int dimension) { return t.squeeze1d(dimension); }
inline Tensor squeeze(const Tensor &t, int dimension) { return t.squeeze(dimension); }
inline Tensor &unsqueeze1d_out(Tensor &r, const Tensor &t, int dimension) {
    return detail::into(r, THTensor_unsqueeze1d(detail::result(r), t.get(), dimension), "unsqueeze1d_out");
}
inline Tensor &unsqueeze_out(Tensor &r, const Tensor &t, int dimension) {
    return detail::into(r, THTensor_unsqueeze1d(detail::result(r), t.get(), dimension), "unsqueeze_out");
}
inline Tensor unsqueeze1d(const Tensor &t, int dimension) { return t.unsqueeze1d(dimension); }
inline Tensor unsqueeze(const Tensor &t, int dimension) { return t.unsqueeze(dimension); }
inline Tensor &view_out(Tensor &r, const Tensor &t, IntList size) {
    return detail::into(r, THTensor_view(detail::result(r), t.get(), size.count(), size.data()), "view_out");
}
inline Tensor view(const Tensor &t, IntList size) { return t.view(size); }
inline Tensor &expand_out(Tensor &r, const Tensor &t, IntList size) {
    return detail::into(r, THTensor_expand(detail::result(r), t.get(), size.count(), size.data()), "expand_out");
}
inline Tensor expand(const Tensor &t, IntList size) { return t.expand(size); }
inline Tensor &viewAs_out(Tensor &r, const Tensor &t, const Tensor &other) {
    return detail::into(r, THTensor_viewAs(detail::result(r), t.get(), other.get()), "viewAs_out");
}
inline Tensor viewAs(const Tensor &t, const Tensor &other) { return t.viewAs(other); }
inline Tensor &expandAs_out(Tensor &r, const Tensor &t, const Tensor &other) {
    return detail::into(r, THTensor_expandAs(detail::result(r), t.get(), other.get()), "expandAs_out");
}
inline Tensor expandAs(const Tensor &t, const Tensor &other) { return t.expandAs(other); }
inline Tensor viewDtype(const Tensor &t, Dtype dtype) { return t.viewDtype(dtype); }
inline Tensor asStrided(const Tensor &t, IntList size, IntList stride, ptrdiff_t storageOffset) {
    return t.asStrided(size, stride, storageOffset);
}
inline Tensor reshape(const Tensor &t, IntList size) { return t.reshape(size); }
inline Tensor flatten(const Tensor &t, int start = 0, int end = -1) { return t.flatten(start, end); }
inline std::vector<Tensor> split(const Tensor &t, int64_t size, int dimension = 0) { return t.split(size, dimension); }
inline std::vector<Tensor> chunk(const Tensor &t, int64_t chunks, int dimension = 0) {
    return t.chunk(chunks, dimension);
}
inline std::vector<Tensor> unbind(const Tensor &t, int dimension = 0) { return t.unbind(dimension); }
/// Makes each of the `count` handles in `rets` a view of the tensor at the same index in `tensors`, expanded to the
/// common broadcast shape.
inline std::vector<Tensor> expandNd(TensorList tensors) {
    std::vector<Tensor> r = detail::fresh(tensors.count());
    detail::check(THTensor_expandNd(reinterpret_cast<THTensor *const *>(r.data()), tensors.data(), tensors.count()),
        "expandNd");
    return r;
}

// ------------------------------------------------------------------------------------------------------------ Devices

/// Returns a row-major tensor with undefined elements on a device; `ndim` 0 makes a scalar.
inline Tensor withSizesOn(DeviceType deviceType, int deviceIndex, IntList size, Dtype dtype = Dtype::Undefined) {
    return detail::made(THTensor_newWithSizesOn(detail::dtype(dtype), static_cast<THDeviceType>(deviceType),
        deviceIndex, size.count(), size.data()), "withSizesOn");
}
/// Returns a tensor over memory of a device, as `THTensor_newFromBlob`; `data` is an address on that device.
inline Tensor fromBlobOn(DeviceType deviceType, int deviceIndex, IntList size, IntList stride, void *data,
    THDeleter deleter = nullptr, void *context = nullptr, Dtype dtype = Dtype::Undefined) {
    return detail::made(THTensor_newFromBlobOn(detail::dtype(dtype), static_cast<THDeviceType>(deviceType), deviceIndex,
        detail::common("fromBlobOn", {size, stride}), size.data(), stride.data(), data, deleter, context),
        "fromBlobOn");
}
/// Returns a tensor over memory of a device, as `THTensor_newFromBlob`; `data` is an address on that device.
inline Tensor fromBlobOn(DeviceType deviceType, int deviceIndex, IntList size, void *data, THDeleter deleter = nullptr,
    void *context = nullptr, Dtype dtype = Dtype::Undefined) {
    return detail::made(THTensor_newFromBlobOn(detail::dtype(dtype), static_cast<THDeviceType>(deviceType), deviceIndex,
        size.count(), size.data(), nullptr, data, deleter, context), "fromBlobOn");
}
inline Tensor toDevice(const Tensor &t, DeviceType deviceType, int deviceIndex = 0, Dtype dtype = Dtype::Undefined,
    bool nonBlocking = false, bool copy = false) {
    return t.toDevice(deviceType, deviceIndex, dtype, nonBlocking, copy);
}
inline Tensor cuda(const Tensor &t, int deviceIndex = 0) { return t.cuda(deviceIndex); }
inline Tensor cpu(const Tensor &t) { return t.cpu(); }
inline bool isCuda(const Tensor &t) { return t.isCuda(); }
inline Tensor pinned(const Tensor &t) { return t.pinned(); }
inline Tensor pinMemory(const Tensor &t) { return t.pinMemory(); }
inline bool isPinned(const Tensor &t) { return t.isPinned(); }
inline void recordStream(const Tensor &t, const CudaStream &stream) { return t.recordStream(stream); }

// -------------------------------------------------------------------------------------------- Joining and rearranging

inline Tensor cat(const Tensor &a, const Tensor &b, int dimension = 0) { return a.cat(b, dimension); }
inline Tensor &cat_out(Tensor &r, const Tensor &a, const Tensor &b, int dimension = 0) {
    return detail::into(r, THTensor_cat(detail::result(r), a.get(), b.get(), dimension), "cat_out");
}
inline Tensor concat(const Tensor &a, const Tensor &b, int dimension = 0) { return a.concat(b, dimension); }
inline Tensor concatenate(const Tensor &a, const Tensor &b, int dimension = 0) { return a.concatenate(b, dimension); }
/// `r` = the `count` tensors one after the other along dimension `dimension`, as for cat.
inline Tensor catArray(TensorList tensors, int dimension = 0) {
    detail::New r;
    return r(THTensor_catArray(r.handle, tensors.data(), tensors.count(), dimension), "catArray");
}
inline Tensor &catArray_out(Tensor &r, TensorList tensors, int dimension = 0) {
    return detail::into(r, THTensor_catArray(detail::result(r), tensors.data(), tensors.count(), dimension),
        "catArray_out");
}
inline Tensor cat(TensorList tensors, int dimension = 0) {
    detail::New r;
    return r(THTensor_catArray(r.handle, tensors.data(), tensors.count(), dimension), "cat");
}
inline Tensor &cat_out(Tensor &r, TensorList tensors, int dimension = 0) {
    return detail::into(r, THTensor_catArray(detail::result(r), tensors.data(), tensors.count(), dimension),
        "cat_out");
}
inline Tensor concat(TensorList tensors, int dimension = 0) {
    detail::New r;
    return r(THTensor_catArray(r.handle, tensors.data(), tensors.count(), dimension), "concat");
}
inline Tensor concatenate(TensorList tensors, int dimension = 0) {
    detail::New r;
    return r(THTensor_catArray(r.handle, tensors.data(), tensors.count(), dimension), "concatenate");
}
/// `r` = the `count` tensors, all of one shape, along a new dimension `dimension`.
inline Tensor stack(TensorList tensors, int dimension = 0) {
    detail::New r;
    return r(THTensor_stack(r.handle, tensors.data(), tensors.count(), dimension), "stack");
}
inline Tensor &stack_out(Tensor &r, TensorList tensors, int dimension = 0) {
    return detail::into(r, THTensor_stack(detail::result(r), tensors.data(), tensors.count(), dimension), "stack_out");
}
/// `r` = the `count` tensors joined along dimension 1, or along dimension 0 if the first is a vector or scalar.
inline Tensor hstack(TensorList tensors) {
    detail::New r;
    return r(THTensor_hstack(r.handle, tensors.data(), tensors.count()), "hstack");
}
inline Tensor &hstack_out(Tensor &r, TensorList tensors) {
    return detail::into(r, THTensor_hstack(detail::result(r), tensors.data(), tensors.count()), "hstack_out");
}
/// `r` = the `count` tensors joined along dimension 0; a vector counts as a row.
inline Tensor vstack(TensorList tensors) {
    detail::New r;
    return r(THTensor_vstack(r.handle, tensors.data(), tensors.count()), "vstack");
}
inline Tensor &vstack_out(Tensor &r, TensorList tensors) {
    return detail::into(r, THTensor_vstack(detail::result(r), tensors.data(), tensors.count()), "vstack_out");
}
/// `r` = the `count` tensors joined along dimension 2.
inline Tensor dstack(TensorList tensors) {
    detail::New r;
    return r(THTensor_dstack(r.handle, tensors.data(), tensors.count()), "dstack");
}
inline Tensor &dstack_out(Tensor &r, TensorList tensors) {
    return detail::into(r, THTensor_dstack(detail::result(r), tensors.data(), tensors.count()), "dstack_out");
}
inline std::vector<Tensor> splitSizes(const Tensor &t, IntList sizes, int dimension = 0) {
    return t.splitSizes(sizes, dimension);
}
inline std::vector<Tensor> split(const Tensor &t, IntList sizes, int dimension = 0) {
    return t.split(sizes, dimension);
}
inline std::vector<Tensor> split(const Tensor &t, std::initializer_list<int64_t> sizes, int dimension = 0) {
    return split(t, IntList(sizes), dimension);
}
inline std::vector<Tensor> tensorSplit(const Tensor &t, int64_t sections, int dimension = 0) {
    return t.tensorSplit(sections, dimension);
}
inline std::vector<Tensor> tensorSplitIndices(const Tensor &t, IntList indices, int dimension = 0) {
    return t.tensorSplitIndices(indices, dimension);
}
inline std::vector<Tensor> tensorSplit(const Tensor &t, IntList indices, int dimension = 0) {
    return t.tensorSplit(indices, dimension);
}
inline std::vector<Tensor> tensorSplit(const Tensor &t, std::initializer_list<int64_t> indices, int dimension = 0) {
    return tensorSplit(t, IntList(indices), dimension);
}
inline Tensor flip(const Tensor &t, IntList dims) { return t.flip(dims); }
inline Tensor &flip_out(Tensor &r, const Tensor &t, IntList dims) {
    return detail::into(r, THTensor_flip(detail::result(r), t.get(), dims.count(), dims.data()), "flip_out");
}
inline Tensor roll(const Tensor &t, IntList shifts, IntList dims = {}) { return t.roll(shifts, dims); }
inline Tensor &roll_out(Tensor &r, const Tensor &t, IntList shifts, IntList dims = {}) {
    return detail::into(r, THTensor_roll(detail::result(r), t.get(), detail::common("roll_out", {shifts, dims}),
        shifts.data(), dims.data()), "roll_out");
}
inline Tensor rot90(const Tensor &t, int64_t k = 1, int dimension1 = 0, int dimension2 = 1) {
    return t.rot90(k, dimension1, dimension2);
}
inline Tensor &rot90_out(Tensor &r, const Tensor &t, int64_t k = 1, int dimension1 = 0, int dimension2 = 1) {
    return detail::into(r, THTensor_rot90(detail::result(r), t.get(), k, dimension1, dimension2), "rot90_out");
}
inline Tensor repeat(const Tensor &t, IntList sizes) { return t.repeat(sizes); }
inline Tensor &repeat_out(Tensor &r, const Tensor &t, IntList sizes) {
    return detail::into(r, THTensor_repeat(detail::result(r), t.get(), sizes.count(), sizes.data()), "repeat_out");
}
inline Tensor repeatTensor(const Tensor &t, IntList sizes) { return t.repeatTensor(sizes); }
inline Tensor &repeatTensor_out(Tensor &r, const Tensor &t, IntList sizes) {
    return detail::into(r, THTensor_repeatTensor(detail::result(r), t.get(), sizes.count(), sizes.data()),
        "repeatTensor_out");
}
inline Tensor tile(const Tensor &t, IntList sizes) { return t.tile(sizes); }
inline Tensor &tile_out(Tensor &r, const Tensor &t, IntList sizes) {
    return detail::into(r, THTensor_tile(detail::result(r), t.get(), sizes.count(), sizes.data()), "tile_out");
}
inline Tensor repeatInterleave(const Tensor &t, const Tensor &repeats, int dimension = everyDim) {
    return t.repeatInterleave(repeats, dimension);
}
inline Tensor &repeatInterleave_out(Tensor &r, const Tensor &t, const Tensor &repeats, int dimension = everyDim) {
    return detail::into(r, THTensor_repeatInterleave(detail::result(r), t.get(), repeats.get(), dimension),
        "repeatInterleave_out");
}
inline Tensor repeatInterleaveValue(const Tensor &t, int64_t repeats, int dimension = everyDim) {
    return t.repeatInterleaveValue(repeats, dimension);
}
inline Tensor &repeatInterleaveValue_out(Tensor &r, const Tensor &t, int64_t repeats, int dimension = everyDim) {
    return detail::into(r, THTensor_repeatInterleaveValue(detail::result(r), t.get(), repeats, dimension),
        "repeatInterleaveValue_out");
}
inline Tensor repeatInterleave(const Tensor &t, int64_t repeats, int dimension = everyDim) {
    return t.repeatInterleave(repeats, dimension);
}
inline Tensor &repeatInterleave_out(Tensor &r, const Tensor &t, int64_t repeats, int dimension = everyDim) {
    return detail::into(r, THTensor_repeatInterleaveValue(detail::result(r), t.get(), repeats, dimension),
        "repeatInterleave_out");
}
inline Tensor pad(const Tensor &t, IntList pads, PadMode mode = PadMode::Constant, double value = 0) {
    return t.pad(pads, mode, value);
}
inline Tensor &pad_out(Tensor &r, const Tensor &t, IntList pads, PadMode mode = PadMode::Constant, double value = 0) {
    return detail::into(r, THTensor_pad(detail::result(r), t.get(), pads.count(), pads.data(),
        static_cast<THPadMode>(mode), value), "pad_out");
}
inline Tensor fold(const Tensor &t, int dimension, int64_t step) { return t.fold(dimension, step); }
inline Tensor &fold_out(Tensor &r, const Tensor &t, int dimension, int64_t step) {
    return detail::into(r, THTensor_fold(detail::result(r), t.get(), dimension, step), "fold_out");
}
inline Tensor diff(const Tensor &t, int64_t n = 1, int dimension = -1) { return t.diff(n, dimension); }
inline Tensor &diff_out(Tensor &r, const Tensor &t, int64_t n = 1, int dimension = -1) {
    return detail::into(r, THTensor_diff(detail::result(r), t.get(), n, dimension), "diff_out");
}
inline std::vector<Tensor> unravelIndex(const Tensor &index, IntList shape) { return index.unravelIndex(shape); }

// -------------------------------------------------------------------------------------------------- Elements by index

inline Tensor indexSelect(const Tensor &t, int dimension, const Tensor &index) {
    return t.indexSelect(dimension, index);
}
inline Tensor &indexSelect_out(Tensor &r, const Tensor &t, int dimension, const Tensor &index) {
    return detail::into(r, THTensor_indexSelect(detail::result(r), t.get(), dimension, index.get()),
        "indexSelect_out");
}
inline Tensor gather(const Tensor &t, int dimension, const Tensor &index) { return t.gather(dimension, index); }
inline Tensor &gather_out(Tensor &r, const Tensor &t, int dimension, const Tensor &index) {
    return detail::into(r, THTensor_gather(detail::result(r), t.get(), dimension, index.get()), "gather_out");
}
inline Tensor takeAlongDim(const Tensor &t, const Tensor &index, int dimension = everyDim) {
    return t.takeAlongDim(index, dimension);
}
inline Tensor &takeAlongDim_out(Tensor &r, const Tensor &t, const Tensor &index, int dimension = everyDim) {
    return detail::into(r, THTensor_takeAlongDim(detail::result(r), t.get(), index.get(), dimension),
        "takeAlongDim_out");
}
inline Tensor take(const Tensor &t, const Tensor &index) { return t.take(index); }
inline Tensor &take_out(Tensor &r, const Tensor &t, const Tensor &index) {
    return detail::into(r, THTensor_take(detail::result(r), t.get(), index.get()), "take_out");
}
inline Tensor &index_out(Tensor &r, const Tensor &t, TensorList indices) {
    return detail::into(r, THTensor_index(detail::result(r), t.get(), indices.data(), indices.count()), "index_out");
}
inline Tensor index(const Tensor &t, TensorList indices) { return t.index(indices); }
inline Tensor indexPut(const Tensor &t, TensorList indices, const Tensor &values, bool accumulate = false) {
    return t.indexPut(indices, values, accumulate);
}
inline Tensor indexCopy(const Tensor &t, int dimension, const Tensor &index, const Tensor &src) {
    return t.indexCopy(dimension, index, src);
}
inline Tensor indexAdd(const Tensor &t, int dimension, const Tensor &index, const Tensor &src) {
    return t.indexAdd(dimension, index, src);
}
inline Tensor indexAddScale(const Tensor &t, int dimension, const Tensor &index, double scale, const Tensor &src) {
    return t.indexAddScale(dimension, index, scale, src);
}
inline Tensor indexAddScale(const Tensor &t, int dimension, const Tensor &index, const Tensor &src) {
    return t.indexAddScale(dimension, index, src);
}
inline Tensor indexAdd(const Tensor &t, int dimension, const Tensor &index, double scale, const Tensor &src) {
    return t.indexAdd(dimension, index, scale, src);
}
inline Tensor indexFill(const Tensor &t, int dimension, const Tensor &index, double value) {
    return t.indexFill(dimension, index, value);
}
inline Tensor scatter(const Tensor &t, int dimension, const Tensor &index, const Tensor &src) {
    return t.scatter(dimension, index, src);
}
inline Tensor scatterFill(const Tensor &t, int dimension, const Tensor &index, double value) {
    return t.scatterFill(dimension, index, value);
}
inline Tensor scatter(const Tensor &t, int dimension, const Tensor &index, double value) {
    return t.scatter(dimension, index, value);
}
inline Tensor scatterAdd(const Tensor &t, int dimension, const Tensor &index, const Tensor &src) {
    return t.scatterAdd(dimension, index, src);
}
inline Tensor scatterMode(const Tensor &t, int dimension, const Tensor &index, const Tensor &src,
    Reduce mode = Reduce::Add) {
    return t.scatterMode(dimension, index, src, mode);
}
inline Tensor scatter(const Tensor &t, int dimension, const Tensor &index, const Tensor &src, Reduce mode) {
    return t.scatter(dimension, index, src, mode);
}
inline Tensor scatterFillMode(const Tensor &t, int dimension, const Tensor &index, double value,
    Reduce mode = Reduce::Add) {
    return t.scatterFillMode(dimension, index, value, mode);
}
inline Tensor scatter(const Tensor &t, int dimension, const Tensor &index, double value, Reduce mode) {
    return t.scatter(dimension, index, value, mode);
}
inline Tensor put(const Tensor &t, const Tensor &index, const Tensor &src, bool accumulate = false) {
    return t.put(index, src, accumulate);
}
inline Tensor maskedSelect(const Tensor &t, const Tensor &mask) { return t.maskedSelect(mask); }
inline Tensor &maskedSelect_out(Tensor &r, const Tensor &t, const Tensor &mask) {
    return detail::into(r, THTensor_maskedSelect(detail::result(r), t.get(), mask.get()), "maskedSelect_out");
}
inline Tensor maskedCopy(const Tensor &t, const Tensor &mask, const Tensor &src) { return t.maskedCopy(mask, src); }
inline Tensor maskedScatter(const Tensor &t, const Tensor &mask, const Tensor &src) {
    return t.maskedScatter(mask, src);
}
inline Tensor nonzero(const Tensor &t) { return t.nonzero(); }
inline Tensor &nonzero_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_nonzero(detail::result(r), t.get()), "nonzero_out");
}
inline std::vector<Tensor> nonzeroTuple(const Tensor &t) { return t.nonzeroTuple(); }

// -------------------------------------------------------------------------------------------- Results made of numbers

inline Tensor &zeros_out(Tensor &r, IntList size) {
    return detail::into(r, THTensor_zeros(detail::result(r), size.count(), size.data()), "zeros_out");
}
inline Tensor &ones_out(Tensor &r, IntList size) {
    return detail::into(r, THTensor_ones(detail::result(r), size.count(), size.data()), "ones_out");
}
inline Tensor &full_out(Tensor &r, IntList size, double value) {
    return detail::into(r, THTensor_full(detail::result(r), size.count(), size.data(), value), "full_out");
}
inline Tensor &zerosLike_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_zerosLike(detail::result(r), t.get()), "zerosLike_out");
}
inline Tensor &onesLike_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_onesLike(detail::result(r), t.get()), "onesLike_out");
}
inline Tensor &fullLike_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_fullLike(detail::result(r), t.get(), value), "fullLike_out");
}
inline Tensor &arange_out(Tensor &r, double start, double end, double step = 1) {
    return detail::into(r, THTensor_arange(detail::result(r), start, end, step), "arange_out");
}
inline Tensor &arange_out(Tensor &r, double end) {
    return detail::into(r, THTensor_arange(detail::result(r), 0, end, 1), "arange_out");
}
/// `r[i] = start + i * step`, all numbers up to and including `end`.
inline Tensor range(double start, double end, double step = 1) {
    detail::New r;
    return r(THTensor_range(r.handle, start, end, step), "range");
}
/// `r[i] = start + i * step`, all numbers up to and including `end`.
inline Tensor range(double end) { detail::New r; return r(THTensor_range(r.handle, 0, end, 1), "range"); }
inline Tensor &range_out(Tensor &r, double start, double end, double step = 1) {
    return detail::into(r, THTensor_range(detail::result(r), start, end, step), "range_out");
}
inline Tensor &range_out(Tensor &r, double end) {
    return detail::into(r, THTensor_range(detail::result(r), 0, end, 1), "range_out");
}
inline Tensor &linspace_out(Tensor &r, double start, double end, int64_t n) {
    return detail::into(r, THTensor_linspace(detail::result(r), start, end, n), "linspace_out");
}
/// `r = 10^x` for the `n` numbers `x` of `THTensor_linspace`.
inline Tensor logspace(double start, double end, int64_t n) {
    detail::New r;
    return r(THTensor_logspace(r.handle, start, end, n), "logspace");
}
inline Tensor &logspace_out(Tensor &r, double start, double end, int64_t n) {
    return detail::into(r, THTensor_logspace(detail::result(r), start, end, n), "logspace_out");
}
/// `r = base^x` for the `n` numbers `x` of `THTensor_linspace`.
inline Tensor logspaceBase(double start, double end, double base, int64_t n) {
    detail::New r;
    return r(THTensor_logspaceBase(r.handle, start, end, base, n), "logspaceBase");
}
/// `r = base^x` for the `n` numbers `x` of `THTensor_linspace`.
inline Tensor logspaceBase(double start, double end, int64_t n) {
    detail::New r;
    return r(THTensor_logspaceBase(r.handle, start, end, 10, n), "logspaceBase");
}
inline Tensor &logspaceBase_out(Tensor &r, double start, double end, double base, int64_t n) {
    return detail::into(r, THTensor_logspaceBase(detail::result(r), start, end, base, n), "logspaceBase_out");
}
inline Tensor &logspaceBase_out(Tensor &r, double start, double end, int64_t n) {
    return detail::into(r, THTensor_logspaceBase(detail::result(r), start, end, 10, n), "logspaceBase_out");
}
inline Tensor logspace(double start, double end, double base, int64_t n) {
    detail::New r;
    return r(THTensor_logspaceBase(r.handle, start, end, base, n), "logspace");
}
inline Tensor &logspace_out(Tensor &r, double start, double end, double base, int64_t n) {
    return detail::into(r, THTensor_logspaceBase(detail::result(r), start, end, base, n), "logspace_out");
}
inline Tensor &eye_out(Tensor &r, int64_t n, int64_t m) {
    return detail::into(r, THTensor_eye(detail::result(r), n, m), "eye_out");
}
inline Tensor diag(const Tensor &t, int64_t k = 0) { return t.diag(k); }
inline Tensor &diag_out(Tensor &r, const Tensor &t, int64_t k = 0) {
    return detail::into(r, THTensor_diag(detail::result(r), t.get(), k), "diag_out");
}
inline Tensor diagEmbed(const Tensor &t, int64_t offset = 0, int dim1 = -2, int dim2 = -1) {
    return t.diagEmbed(offset, dim1, dim2);
}
inline Tensor &diagEmbed_out(Tensor &r, const Tensor &t, int64_t offset = 0, int dim1 = -2, int dim2 = -1) {
    return detail::into(r, THTensor_diagEmbed(detail::result(r), t.get(), offset, dim1, dim2), "diagEmbed_out");
}
inline double trace(const Tensor &t) { return t.trace(); }
inline Tensor tril(const Tensor &t, int64_t k = 0) { return t.tril(k); }
inline Tensor &tril_out(Tensor &r, const Tensor &t, int64_t k = 0) {
    return detail::into(r, THTensor_tril(detail::result(r), t.get(), k), "tril_out");
}
inline Tensor triu(const Tensor &t, int64_t k = 0) { return t.triu(k); }
inline Tensor &triu_out(Tensor &r, const Tensor &t, int64_t k = 0) {
    return detail::into(r, THTensor_triu(detail::result(r), t.get(), k), "triu_out");
}
/// `r` [2 x n] = row `i` and column `j` of each element of a `rows` x `cols` matrix with `j - i <= offset`, in
/// row-major order.
inline Tensor trilIndices(int64_t rows, int64_t cols, int64_t offset = 0) {
    detail::New r;
    return r(THTensor_trilIndices(r.handle, rows, cols, offset), "trilIndices");
}
inline Tensor &trilIndices_out(Tensor &r, int64_t rows, int64_t cols, int64_t offset = 0) {
    return detail::into(r, THTensor_trilIndices(detail::result(r), rows, cols, offset), "trilIndices_out");
}
/// `r` [2 x n] = row `i` and column `j` of each element of a `rows` x `cols` matrix with `j - i >= offset`, in
/// row-major order.
inline Tensor triuIndices(int64_t rows, int64_t cols, int64_t offset = 0) {
    detail::New r;
    return r(THTensor_triuIndices(r.handle, rows, cols, offset), "triuIndices");
}
inline Tensor &triuIndices_out(Tensor &r, int64_t rows, int64_t cols, int64_t offset = 0) {
    return detail::into(r, THTensor_triuIndices(detail::result(r), rows, cols, offset), "triuIndices_out");
}
/// `rets[k][i0, i1, ...] = tensors[k][ik]`: each of the `count` handles in `rets` becomes a view of the vector at the
/// same index, expanded over the grid of all vectors.
inline std::vector<Tensor> meshgrid(TensorList tensors, Text indexing = "ij") {
    std::vector<Tensor> r = detail::fresh(tensors.count());
    detail::check(THTensor_meshgrid(reinterpret_cast<THTensor *const *>(r.data()), tensors.data(), tensors.count(),
        indexing.c_str()), "meshgrid");
    return r;
}
/// `r` = all combinations of one element from each of the `count` vectors.
inline Tensor cartesianProd(TensorList tensors) {
    detail::New r;
    return r(THTensor_cartesianProd(r.handle, tensors.data(), tensors.count()), "cartesianProd");
}
inline Tensor &cartesianProd_out(Tensor &r, TensorList tensors) {
    return detail::into(r, THTensor_cartesianProd(detail::result(r), tensors.data(), tensors.count()),
        "cartesianProd_out");
}
inline Tensor oneHot(const Tensor &t, int64_t numClasses = -1) { return t.oneHot(numClasses); }
inline Tensor &oneHot_out(Tensor &r, const Tensor &t, int64_t numClasses = -1) {
    return detail::into(r, THTensor_oneHot(detail::result(r), t.get(), numClasses), "oneHot_out");
}
inline Tensor vander(const Tensor &t, int64_t n = -1, bool increasing = false) { return t.vander(n, increasing); }
inline Tensor &vander_out(Tensor &r, const Tensor &t, int64_t n = -1, bool increasing = false) {
    return detail::into(r, THTensor_vander(detail::result(r), t.get(), n, increasing), "vander_out");
}

// --------------------------------------------------------------------------------------------------------- Arithmetic

inline Tensor neg(const Tensor &t) { return t.neg(); }
inline Tensor &neg_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_neg(detail::result(r), t.get()), "neg_out");
}
inline Tensor negative(const Tensor &t) { return t.negative(); }
inline Tensor abs(const Tensor &t) { return t.abs(); }
inline Tensor &abs_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_abs(detail::result(r), t.get()), "abs_out");
}
inline Tensor absolute(const Tensor &t) { return t.absolute(); }
inline Tensor sign(const Tensor &t) { return t.sign(); }
inline Tensor &sign_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_sign(detail::result(r), t.get()), "sign_out");
}
inline Tensor floor(const Tensor &t) { return t.floor(); }
inline Tensor &floor_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_floor(detail::result(r), t.get()), "floor_out");
}
inline Tensor ceil(const Tensor &t) { return t.ceil(); }
inline Tensor &ceil_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_ceil(detail::result(r), t.get()), "ceil_out");
}
inline Tensor round(const Tensor &t) { return t.round(); }
inline Tensor &round_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_round(detail::result(r), t.get()), "round_out");
}
inline Tensor trunc(const Tensor &t) { return t.trunc(); }
inline Tensor &trunc_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_trunc(detail::result(r), t.get()), "trunc_out");
}
inline Tensor fix(const Tensor &t) { return t.fix(); }
inline Tensor frac(const Tensor &t) { return t.frac(); }
inline Tensor &frac_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_frac(detail::result(r), t.get()), "frac_out");
}
inline Tensor square(const Tensor &t) { return t.square(); }
inline Tensor &square_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_square(detail::result(r), t.get()), "square_out");
}
inline Tensor cinv(const Tensor &t) { return t.cinv(); }
inline Tensor &cinv_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_cinv(detail::result(r), t.get()), "cinv_out");
}
inline Tensor reciprocal(const Tensor &t) { return t.reciprocal(); }
inline Tensor add(const Tensor &t, double value) { return t.add(value); }
inline Tensor &add_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_add(detail::result(r), t.get(), value), "add_out");
}
inline Tensor sub(const Tensor &t, double value) { return t.sub(value); }
inline Tensor &sub_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_sub(detail::result(r), t.get(), value), "sub_out");
}
inline Tensor subtract(const Tensor &t, double value) { return t.subtract(value); }
inline Tensor mul(const Tensor &t, double value) { return t.mul(value); }
inline Tensor &mul_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_mul(detail::result(r), t.get(), value), "mul_out");
}
inline Tensor multiply(const Tensor &t, double value) { return t.multiply(value); }
inline Tensor div(const Tensor &t, double value) { return t.div(value); }
inline Tensor &div_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_div(detail::result(r), t.get(), value), "div_out");
}
inline Tensor divide(const Tensor &t, double value) { return t.divide(value); }
inline Tensor cmul(const Tensor &a, const Tensor &b) { return a.cmul(b); }
inline Tensor &cmul_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_cmul(detail::result(r), a.get(), b.get()), "cmul_out");
}
inline Tensor mul(const Tensor &a, const Tensor &b) { return a.mul(b); }
inline Tensor &mul_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_cmul(detail::result(r), a.get(), b.get()), "mul_out");
}
inline Tensor multiply(const Tensor &a, const Tensor &b) { return a.multiply(b); }
inline Tensor cdiv(const Tensor &a, const Tensor &b) { return a.cdiv(b); }
inline Tensor &cdiv_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_cdiv(detail::result(r), a.get(), b.get()), "cdiv_out");
}
inline Tensor div(const Tensor &a, const Tensor &b) { return a.div(b); }
inline Tensor &div_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_cdiv(detail::result(r), a.get(), b.get()), "div_out");
}
inline Tensor divide(const Tensor &a, const Tensor &b) { return a.divide(b); }
inline Tensor cpow(const Tensor &a, const Tensor &b) { return a.cpow(b); }
inline Tensor &cpow_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_cpow(detail::result(r), a.get(), b.get()), "cpow_out");
}
inline Tensor pow(const Tensor &a, const Tensor &b) { return a.pow(b); }
inline Tensor &pow_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_cpow(detail::result(r), a.get(), b.get()), "pow_out");
}
inline Tensor tpow(double value, const Tensor &t) { return t.tpow(value); }
inline Tensor &tpow_out(Tensor &r, double value, const Tensor &t) {
    return detail::into(r, THTensor_tpow(detail::result(r), value, t.get()), "tpow_out");
}
inline Tensor pow(double value, const Tensor &t) {
    detail::New r;
    return r(THTensor_tpow(r.handle, value, t.get()), "pow");
}
inline Tensor &pow_out(Tensor &r, double value, const Tensor &t) {
    return detail::into(r, THTensor_tpow(detail::result(r), value, t.get()), "pow_out");
}
inline Tensor addcmul(const Tensor &t, double value, const Tensor &a, const Tensor &b) {
    return t.addcmul(value, a, b);
}
inline Tensor addcmul(const Tensor &t, const Tensor &a, const Tensor &b) { return t.addcmul(a, b); }
inline Tensor &addcmul_out(Tensor &r, const Tensor &t, double value, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_addcmul(detail::result(r), t.get(), value, a.get(), b.get()), "addcmul_out");
}
inline Tensor &addcmul_out(Tensor &r, const Tensor &t, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_addcmul(detail::result(r), t.get(), 1, a.get(), b.get()), "addcmul_out");
}
inline Tensor addcdiv(const Tensor &t, double value, const Tensor &a, const Tensor &b) {
    return t.addcdiv(value, a, b);
}
inline Tensor addcdiv(const Tensor &t, const Tensor &a, const Tensor &b) { return t.addcdiv(a, b); }
inline Tensor &addcdiv_out(Tensor &r, const Tensor &t, double value, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_addcdiv(detail::result(r), t.get(), value, a.get(), b.get()), "addcdiv_out");
}
inline Tensor &addcdiv_out(Tensor &r, const Tensor &t, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_addcdiv(detail::result(r), t.get(), 1, a.get(), b.get()), "addcdiv_out");
}
inline Tensor lerp(const Tensor &a, const Tensor &b, double weight) { return a.lerp(b, weight); }
inline Tensor &lerp_out(Tensor &r, const Tensor &a, const Tensor &b, double weight) {
    return detail::into(r, THTensor_lerp(detail::result(r), a.get(), b.get(), weight), "lerp_out");
}
inline Tensor lerpTensor(const Tensor &a, const Tensor &b, const Tensor &weight) { return a.lerpTensor(b, weight); }
inline Tensor &lerpTensor_out(Tensor &r, const Tensor &a, const Tensor &b, const Tensor &weight) {
    return detail::into(r, THTensor_lerpTensor(detail::result(r), a.get(), b.get(), weight.get()), "lerpTensor_out");
}
inline Tensor lerp(const Tensor &a, const Tensor &b, const Tensor &weight) { return a.lerp(b, weight); }
inline Tensor &lerp_out(Tensor &r, const Tensor &a, const Tensor &b, const Tensor &weight) {
    return detail::into(r, THTensor_lerpTensor(detail::result(r), a.get(), b.get(), weight.get()), "lerp_out");
}
inline Tensor fmod(const Tensor &t, double value) { return t.fmod(value); }
inline Tensor &fmod_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_fmod(detail::result(r), t.get(), value), "fmod_out");
}
inline Tensor cfmod(const Tensor &a, const Tensor &b) { return a.cfmod(b); }
inline Tensor &cfmod_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_cfmod(detail::result(r), a.get(), b.get()), "cfmod_out");
}
inline Tensor fmod(const Tensor &a, const Tensor &b) { return a.fmod(b); }
inline Tensor &fmod_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_cfmod(detail::result(r), a.get(), b.get()), "fmod_out");
}
inline Tensor remainder(const Tensor &t, double value) { return t.remainder(value); }
inline Tensor &remainder_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_remainder(detail::result(r), t.get(), value), "remainder_out");
}
inline Tensor cremainder(const Tensor &a, const Tensor &b) { return a.cremainder(b); }
inline Tensor &cremainder_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_cremainder(detail::result(r), a.get(), b.get()), "cremainder_out");
}
inline Tensor remainder(const Tensor &a, const Tensor &b) { return a.remainder(b); }
inline Tensor &remainder_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_cremainder(detail::result(r), a.get(), b.get()), "remainder_out");
}
inline Tensor cadd(const Tensor &t, double value, const Tensor &src) { return t.cadd(value, src); }
inline Tensor cadd(const Tensor &t, const Tensor &src) { return t.cadd(src); }
inline Tensor &cadd_out(Tensor &r, const Tensor &t, double value, const Tensor &src) {
    return detail::into(r, THTensor_cadd(detail::result(r), t.get(), value, src.get()), "cadd_out");
}
inline Tensor &cadd_out(Tensor &r, const Tensor &t, const Tensor &src) {
    return detail::into(r, THTensor_cadd(detail::result(r), t.get(), 1, src.get()), "cadd_out");
}
inline Tensor add(const Tensor &t, double value, const Tensor &src) { return t.add(value, src); }
inline Tensor add(const Tensor &t, const Tensor &src) { return t.add(src); }
inline Tensor &add_out(Tensor &r, const Tensor &t, double value, const Tensor &src) {
    return detail::into(r, THTensor_cadd(detail::result(r), t.get(), value, src.get()), "add_out");
}
inline Tensor &add_out(Tensor &r, const Tensor &t, const Tensor &src) {
    return detail::into(r, THTensor_cadd(detail::result(r), t.get(), 1, src.get()), "add_out");
}
inline Tensor csub(const Tensor &t, double value, const Tensor &src) { return t.csub(value, src); }
inline Tensor csub(const Tensor &t, const Tensor &src) { return t.csub(src); }
inline Tensor &csub_out(Tensor &r, const Tensor &t, double value, const Tensor &src) {
    return detail::into(r, THTensor_csub(detail::result(r), t.get(), value, src.get()), "csub_out");
}
inline Tensor &csub_out(Tensor &r, const Tensor &t, const Tensor &src) {
    return detail::into(r, THTensor_csub(detail::result(r), t.get(), 1, src.get()), "csub_out");
}
inline Tensor sub(const Tensor &t, double value, const Tensor &src) { return t.sub(value, src); }
inline Tensor sub(const Tensor &t, const Tensor &src) { return t.sub(src); }
inline Tensor &sub_out(Tensor &r, const Tensor &t, double value, const Tensor &src) {
    return detail::into(r, THTensor_csub(detail::result(r), t.get(), value, src.get()), "sub_out");
}
inline Tensor &sub_out(Tensor &r, const Tensor &t, const Tensor &src) {
    return detail::into(r, THTensor_csub(detail::result(r), t.get(), 1, src.get()), "sub_out");
}
inline Tensor subtract(const Tensor &t, double value, const Tensor &src) { return t.subtract(value, src); }
inline Tensor subtract(const Tensor &t, const Tensor &src) { return t.subtract(src); }
inline Tensor rsub(const Tensor &t, double value) { return t.rsub(value); }
inline Tensor &rsub_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_rsub(detail::result(r), t.get(), value), "rsub_out");
}
inline Tensor rdiv(const Tensor &t, double value) { return t.rdiv(value); }
inline Tensor &rdiv_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_rdiv(detail::result(r), t.get(), value), "rdiv_out");
}
inline Tensor crsub(const Tensor &t, double value, const Tensor &src) { return t.crsub(value, src); }
inline Tensor crsub(const Tensor &t, const Tensor &src) { return t.crsub(src); }
inline Tensor &crsub_out(Tensor &r, const Tensor &t, double value, const Tensor &src) {
    return detail::into(r, THTensor_crsub(detail::result(r), t.get(), value, src.get()), "crsub_out");
}
inline Tensor &crsub_out(Tensor &r, const Tensor &t, const Tensor &src) {
    return detail::into(r, THTensor_crsub(detail::result(r), t.get(), 1, src.get()), "crsub_out");
}
inline Tensor rsub(const Tensor &t, double value, const Tensor &src) { return t.rsub(value, src); }
inline Tensor rsub(const Tensor &t, const Tensor &src) { return t.rsub(src); }
inline Tensor &rsub_out(Tensor &r, const Tensor &t, double value, const Tensor &src) {
    return detail::into(r, THTensor_crsub(detail::result(r), t.get(), value, src.get()), "rsub_out");
}
inline Tensor &rsub_out(Tensor &r, const Tensor &t, const Tensor &src) {
    return detail::into(r, THTensor_crsub(detail::result(r), t.get(), 1, src.get()), "rsub_out");
}
inline Tensor pow(const Tensor &t, double value) { return t.pow(value); }
inline Tensor &pow_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_pow(detail::result(r), t.get(), value), "pow_out");
}
inline Tensor cmax(const Tensor &a, const Tensor &b) { return a.cmax(b); }
inline Tensor &cmax_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_cmax(detail::result(r), a.get(), b.get()), "cmax_out");
}
inline Tensor max(const Tensor &a, const Tensor &b) { return a.max(b); }
inline Tensor &max_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_cmax(detail::result(r), a.get(), b.get()), "max_out");
}
inline Tensor maximum(const Tensor &a, const Tensor &b) { return a.maximum(b); }
inline Tensor cmin(const Tensor &a, const Tensor &b) { return a.cmin(b); }
inline Tensor &cmin_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_cmin(detail::result(r), a.get(), b.get()), "cmin_out");
}
inline Tensor min(const Tensor &a, const Tensor &b) { return a.min(b); }
inline Tensor &min_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_cmin(detail::result(r), a.get(), b.get()), "min_out");
}
inline Tensor minimum(const Tensor &a, const Tensor &b) { return a.minimum(b); }
inline Tensor cmaxValue(const Tensor &t, double value) { return t.cmaxValue(value); }
inline Tensor &cmaxValue_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_cmaxValue(detail::result(r), t.get(), value), "cmaxValue_out");
}
inline Tensor &max_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_cmaxValue(detail::result(r), t.get(), value), "max_out");
}
inline Tensor clampMin(const Tensor &t, double value) { return t.clampMin(value); }
inline Tensor cminValue(const Tensor &t, double value) { return t.cminValue(value); }
inline Tensor &cminValue_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_cminValue(detail::result(r), t.get(), value), "cminValue_out");
}
inline Tensor &min_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_cminValue(detail::result(r), t.get(), value), "min_out");
}
inline Tensor clampMax(const Tensor &t, double value) { return t.clampMax(value); }
inline Tensor clamp(const Tensor &t, double minimum, double maximum) { return t.clamp(minimum, maximum); }
inline Tensor &clamp_out(Tensor &r, const Tensor &t, double minimum, double maximum) {
    return detail::into(r, THTensor_clamp(detail::result(r), t.get(), minimum, maximum), "clamp_out");
}
inline Tensor clip(const Tensor &t, double minimum, double maximum) { return t.clip(minimum, maximum); }
inline Tensor clampTensor(const Tensor &t, const Tensor &minimum = {}, const Tensor &maximum = {}) {
    return t.clampTensor(minimum, maximum);
}
inline Tensor &clampTensor_out(Tensor &r, const Tensor &t, const Tensor &minimum = {}, const Tensor &maximum = {}) {
    return detail::into(r, THTensor_clampTensor(detail::result(r), t.get(), minimum.get(), maximum.get()),
        "clampTensor_out");
}
inline Tensor clamp(const Tensor &t, const Tensor &minimum = {}, const Tensor &maximum = {}) {
    return t.clamp(minimum, maximum);
}
inline Tensor &clamp_out(Tensor &r, const Tensor &t, const Tensor &minimum = {}, const Tensor &maximum = {}) {
    return detail::into(r, THTensor_clampTensor(detail::result(r), t.get(), minimum.get(), maximum.get()),
        "clamp_out");
}
inline Tensor clip(const Tensor &t, const Tensor &minimum = {}, const Tensor &maximum = {}) {
    return t.clip(minimum, maximum);
}
inline Tensor hardtanh(const Tensor &t, double minimum = -1, double maximum = 1) {
    return t.hardtanh(minimum, maximum);
}
inline Tensor &hardtanh_out(Tensor &r, const Tensor &t, double minimum = -1, double maximum = 1) {
    return detail::into(r, THTensor_hardtanh(detail::result(r), t.get(), minimum, maximum), "hardtanh_out");
}
inline Tensor divMode(const Tensor &t, double value, DivMode mode = DivMode::True) { return t.divMode(value, mode); }
inline Tensor &divMode_out(Tensor &r, const Tensor &t, double value, DivMode mode = DivMode::True) {
    return detail::into(r, THTensor_divMode(detail::result(r), t.get(), value, static_cast<THDivMode>(mode)),
        "divMode_out");
}
inline Tensor div(const Tensor &t, double value, DivMode mode) { return t.div(value, mode); }
inline Tensor &div_out(Tensor &r, const Tensor &t, double value, DivMode mode) {
    return detail::into(r, THTensor_divMode(detail::result(r), t.get(), value, static_cast<THDivMode>(mode)),
        "div_out");
}
inline Tensor divide(const Tensor &t, double value, DivMode mode) { return t.divide(value, mode); }
inline Tensor cdivMode(const Tensor &a, const Tensor &b, DivMode mode = DivMode::True) { return a.cdivMode(b, mode); }
inline Tensor &cdivMode_out(Tensor &r, const Tensor &a, const Tensor &b, DivMode mode = DivMode::True) {
    return detail::into(r, THTensor_cdivMode(detail::result(r), a.get(), b.get(), static_cast<THDivMode>(mode)),
        "cdivMode_out");
}
inline Tensor div(const Tensor &a, const Tensor &b, DivMode mode) { return a.div(b, mode); }
inline Tensor &div_out(Tensor &r, const Tensor &a, const Tensor &b, DivMode mode) {
    return detail::into(r, THTensor_cdivMode(detail::result(r), a.get(), b.get(), static_cast<THDivMode>(mode)),
        "div_out");
}
inline Tensor divide(const Tensor &a, const Tensor &b, DivMode mode) { return a.divide(b, mode); }

// ----------------------------------------------------------------------------------------------- Functions of numbers

inline Tensor sqrt(const Tensor &t) { return t.sqrt(); }
inline Tensor &sqrt_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_sqrt(detail::result(r), t.get()), "sqrt_out");
}
inline Tensor rsqrt(const Tensor &t) { return t.rsqrt(); }
inline Tensor &rsqrt_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_rsqrt(detail::result(r), t.get()), "rsqrt_out");
}
inline Tensor exp(const Tensor &t) { return t.exp(); }
inline Tensor &exp_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_exp(detail::result(r), t.get()), "exp_out");
}
inline Tensor exp2(const Tensor &t) { return t.exp2(); }
inline Tensor &exp2_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_exp2(detail::result(r), t.get()), "exp2_out");
}
inline Tensor expm1(const Tensor &t) { return t.expm1(); }
inline Tensor &expm1_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_expm1(detail::result(r), t.get()), "expm1_out");
}
inline Tensor log(const Tensor &t) { return t.log(); }
inline Tensor &log_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_log(detail::result(r), t.get()), "log_out");
}
inline Tensor log1p(const Tensor &t) { return t.log1p(); }
inline Tensor &log1p_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_log1p(detail::result(r), t.get()), "log1p_out");
}
inline Tensor log2(const Tensor &t) { return t.log2(); }
inline Tensor &log2_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_log2(detail::result(r), t.get()), "log2_out");
}
inline Tensor log10(const Tensor &t) { return t.log10(); }
inline Tensor &log10_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_log10(detail::result(r), t.get()), "log10_out");
}
inline Tensor sin(const Tensor &t) { return t.sin(); }
inline Tensor &sin_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_sin(detail::result(r), t.get()), "sin_out");
}
inline Tensor cos(const Tensor &t) { return t.cos(); }
inline Tensor &cos_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_cos(detail::result(r), t.get()), "cos_out");
}
inline Tensor tan(const Tensor &t) { return t.tan(); }
inline Tensor &tan_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_tan(detail::result(r), t.get()), "tan_out");
}
inline Tensor asin(const Tensor &t) { return t.asin(); }
inline Tensor &asin_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_asin(detail::result(r), t.get()), "asin_out");
}
inline Tensor arcsin(const Tensor &t) { return t.arcsin(); }
inline Tensor acos(const Tensor &t) { return t.acos(); }
inline Tensor &acos_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_acos(detail::result(r), t.get()), "acos_out");
}
inline Tensor arccos(const Tensor &t) { return t.arccos(); }
inline Tensor atan(const Tensor &t) { return t.atan(); }
inline Tensor &atan_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_atan(detail::result(r), t.get()), "atan_out");
}
inline Tensor arctan(const Tensor &t) { return t.arctan(); }
inline Tensor sinh(const Tensor &t) { return t.sinh(); }
inline Tensor &sinh_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_sinh(detail::result(r), t.get()), "sinh_out");
}
inline Tensor cosh(const Tensor &t) { return t.cosh(); }
inline Tensor &cosh_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_cosh(detail::result(r), t.get()), "cosh_out");
}
inline Tensor tanh(const Tensor &t) { return t.tanh(); }
inline Tensor &tanh_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_tanh(detail::result(r), t.get()), "tanh_out");
}
inline Tensor asinh(const Tensor &t) { return t.asinh(); }
inline Tensor &asinh_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_asinh(detail::result(r), t.get()), "asinh_out");
}
inline Tensor arcsinh(const Tensor &t) { return t.arcsinh(); }
inline Tensor acosh(const Tensor &t) { return t.acosh(); }
inline Tensor &acosh_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_acosh(detail::result(r), t.get()), "acosh_out");
}
inline Tensor arccosh(const Tensor &t) { return t.arccosh(); }
inline Tensor atanh(const Tensor &t) { return t.atanh(); }
inline Tensor &atanh_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_atanh(detail::result(r), t.get()), "atanh_out");
}
inline Tensor arctanh(const Tensor &t) { return t.arctanh(); }
inline Tensor sinc(const Tensor &t) { return t.sinc(); }
inline Tensor &sinc_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_sinc(detail::result(r), t.get()), "sinc_out");
}
inline Tensor sigmoid(const Tensor &t) { return t.sigmoid(); }
inline Tensor &sigmoid_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_sigmoid(detail::result(r), t.get()), "sigmoid_out");
}
inline Tensor erf(const Tensor &t) { return t.erf(); }
inline Tensor &erf_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_erf(detail::result(r), t.get()), "erf_out");
}
inline Tensor erfc(const Tensor &t) { return t.erfc(); }
inline Tensor &erfc_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_erfc(detail::result(r), t.get()), "erfc_out");
}
inline Tensor erfinv(const Tensor &t) { return t.erfinv(); }
inline Tensor &erfinv_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_erfinv(detail::result(r), t.get()), "erfinv_out");
}
inline Tensor lgamma(const Tensor &t) { return t.lgamma(); }
inline Tensor &lgamma_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_lgamma(detail::result(r), t.get()), "lgamma_out");
}
inline Tensor digamma(const Tensor &t) { return t.digamma(); }
inline Tensor &digamma_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_digamma(detail::result(r), t.get()), "digamma_out");
}
inline Tensor gelu(const Tensor &t) { return t.gelu(); }
inline Tensor &gelu_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_gelu(detail::result(r), t.get()), "gelu_out");
}
inline Tensor geluTanh(const Tensor &t) { return t.geluTanh(); }
inline Tensor &geluTanh_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_geluTanh(detail::result(r), t.get()), "geluTanh_out");
}
inline Tensor relu(const Tensor &t) { return t.relu(); }
inline Tensor &relu_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_relu(detail::result(r), t.get()), "relu_out");
}
inline Tensor leakyRelu(const Tensor &t, double value = 0.01) { return t.leakyRelu(value); }
inline Tensor &leakyRelu_out(Tensor &r, const Tensor &t, double value = 0.01) {
    return detail::into(r, THTensor_leakyRelu(detail::result(r), t.get(), value), "leakyRelu_out");
}
inline Tensor elu(const Tensor &t, double value = 1) { return t.elu(value); }
inline Tensor &elu_out(Tensor &r, const Tensor &t, double value = 1) {
    return detail::into(r, THTensor_elu(detail::result(r), t.get(), value), "elu_out");
}
inline Tensor softplus(const Tensor &t, double beta = 1, double threshold = 20) { return t.softplus(beta, threshold); }
inline Tensor &softplus_out(Tensor &r, const Tensor &t, double beta = 1, double threshold = 20) {
    return detail::into(r, THTensor_softplus(detail::result(r), t.get(), beta, threshold), "softplus_out");
}
inline Tensor logSigmoid(const Tensor &t) { return t.logSigmoid(); }
inline Tensor &logSigmoid_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_logSigmoid(detail::result(r), t.get()), "logSigmoid_out");
}
inline Tensor logsigmoid(const Tensor &t) { return t.logsigmoid(); }
inline Tensor silu(const Tensor &t) { return t.silu(); }
inline Tensor &silu_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_silu(detail::result(r), t.get()), "silu_out");
}
inline Tensor mish(const Tensor &t) { return t.mish(); }
inline Tensor &mish_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_mish(detail::result(r), t.get()), "mish_out");
}
inline Tensor hardswish(const Tensor &t) { return t.hardswish(); }
inline Tensor &hardswish_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_hardswish(detail::result(r), t.get()), "hardswish_out");
}
inline Tensor hardsigmoid(const Tensor &t) { return t.hardsigmoid(); }
inline Tensor &hardsigmoid_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_hardsigmoid(detail::result(r), t.get()), "hardsigmoid_out");
}
inline Tensor selu(const Tensor &t) { return t.selu(); }
inline Tensor &selu_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_selu(detail::result(r), t.get()), "selu_out");
}
inline Tensor softsign(const Tensor &t) { return t.softsign(); }
inline Tensor &softsign_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_softsign(detail::result(r), t.get()), "softsign_out");
}
inline Tensor hardshrink(const Tensor &t, double lambda = 0.5) { return t.hardshrink(lambda); }
inline Tensor &hardshrink_out(Tensor &r, const Tensor &t, double lambda = 0.5) {
    return detail::into(r, THTensor_hardshrink(detail::result(r), t.get(), lambda), "hardshrink_out");
}
inline Tensor atan2(const Tensor &a, const Tensor &b) { return a.atan2(b); }
inline Tensor &atan2_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_atan2(detail::result(r), a.get(), b.get()), "atan2_out");
}
inline Tensor arctan2(const Tensor &a, const Tensor &b) { return a.arctan2(b); }
inline Tensor hypot(const Tensor &a, const Tensor &b) { return a.hypot(b); }
inline Tensor &hypot_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_hypot(detail::result(r), a.get(), b.get()), "hypot_out");
}
inline Tensor logaddexp(const Tensor &a, const Tensor &b) { return a.logaddexp(b); }
inline Tensor &logaddexp_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_logaddexp(detail::result(r), a.get(), b.get()), "logaddexp_out");
}
inline Tensor xlogy(const Tensor &a, const Tensor &b) { return a.xlogy(b); }
inline Tensor &xlogy_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_xlogy(detail::result(r), a.get(), b.get()), "xlogy_out");
}
inline Tensor copysign(const Tensor &a, const Tensor &b) { return a.copysign(b); }
inline Tensor &copysign_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_copysign(detail::result(r), a.get(), b.get()), "copysign_out");
}
inline Tensor nextafter(const Tensor &a, const Tensor &b) { return a.nextafter(b); }
inline Tensor &nextafter_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_nextafter(detail::result(r), a.get(), b.get()), "nextafter_out");
}
inline Tensor nanToNum(const Tensor &t, double nan, double posinf, double neginf) {
    return t.nanToNum(nan, posinf, neginf);
}
inline Tensor nanToNum(const Tensor &t, double posinf, double neginf) { return t.nanToNum(posinf, neginf); }
inline Tensor &nanToNum_out(Tensor &r, const Tensor &t, double nan, double posinf, double neginf) {
    return detail::into(r, THTensor_nanToNum(detail::result(r), t.get(), nan, posinf, neginf), "nanToNum_out");
}
inline Tensor &nanToNum_out(Tensor &r, const Tensor &t, double posinf, double neginf) {
    return detail::into(r, THTensor_nanToNum(detail::result(r), t.get(), 0, posinf, neginf), "nanToNum_out");
}
inline Tensor celu(const Tensor &t, double value = 1) { return t.celu(value); }
inline Tensor &celu_out(Tensor &r, const Tensor &t, double value = 1) {
    return detail::into(r, THTensor_celu(detail::result(r), t.get(), value), "celu_out");
}
inline Tensor softshrink(const Tensor &t, double lambda = 0.5) { return t.softshrink(lambda); }
inline Tensor &softshrink_out(Tensor &r, const Tensor &t, double lambda = 0.5) {
    return detail::into(r, THTensor_softshrink(detail::result(r), t.get(), lambda), "softshrink_out");
}
inline Tensor threshold(const Tensor &t, double threshold, double value) { return t.threshold(threshold, value); }
inline Tensor threshold(const Tensor &t, double value) { return t.threshold(value); }
inline Tensor &threshold_out(Tensor &r, const Tensor &t, double threshold, double value) {
    return detail::into(r, THTensor_threshold(detail::result(r), t.get(), threshold, value), "threshold_out");
}
inline Tensor &threshold_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_threshold(detail::result(r), t.get(), 20, value), "threshold_out");
}
inline Tensor prelu(const Tensor &t, const Tensor &weight) { return t.prelu(weight); }
inline Tensor &prelu_out(Tensor &r, const Tensor &t, const Tensor &weight) {
    return detail::into(r, THTensor_prelu(detail::result(r), t.get(), weight.get()), "prelu_out");
}
inline Tensor glu(const Tensor &t, int dimension = -1) { return t.glu(dimension); }
inline Tensor &glu_out(Tensor &r, const Tensor &t, int dimension = -1) {
    return detail::into(r, THTensor_glu(detail::result(r), t.get(), dimension), "glu_out");
}
inline Tensor xlogyValue(const Tensor &a, double value) { return a.xlogyValue(value); }
inline Tensor &xlogyValue_out(Tensor &r, const Tensor &a, double value) {
    return detail::into(r, THTensor_xlogyValue(detail::result(r), a.get(), value), "xlogyValue_out");
}
inline Tensor xlogy(const Tensor &a, double value) { return a.xlogy(value); }
inline Tensor &xlogy_out(Tensor &r, const Tensor &a, double value) {
    return detail::into(r, THTensor_xlogyValue(detail::result(r), a.get(), value), "xlogy_out");
}
inline Tensor polygamma(int64_t n, const Tensor &t) { return t.polygamma(n); }
inline Tensor &polygamma_out(Tensor &r, int64_t n, const Tensor &t) {
    return detail::into(r, THTensor_polygamma(detail::result(r), n, t.get()), "polygamma_out");
}
inline Tensor mvlgamma(const Tensor &t, int64_t p) { return t.mvlgamma(p); }
inline Tensor &mvlgamma_out(Tensor &r, const Tensor &t, int64_t p) {
    return detail::into(r, THTensor_mvlgamma(detail::result(r), t.get(), p), "mvlgamma_out");
}

// --------------------------------------------------------------------------------------------------------------- Bits

inline Tensor bitwiseNot(const Tensor &t) { return t.bitwiseNot(); }
inline Tensor &bitwiseNot_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_bitwiseNot(detail::result(r), t.get()), "bitwiseNot_out");
}
inline Tensor bitAnd(const Tensor &t, double value) { return t.bitAnd(value); }
inline Tensor &bitAnd_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_bitand(detail::result(r), t.get(), value), "bitAnd_out");
}
inline Tensor bitwiseAnd(const Tensor &t, double value) { return t.bitwiseAnd(value); }
inline Tensor bitOr(const Tensor &t, double value) { return t.bitOr(value); }
inline Tensor &bitOr_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_bitor(detail::result(r), t.get(), value), "bitOr_out");
}
inline Tensor bitwiseOr(const Tensor &t, double value) { return t.bitwiseOr(value); }
inline Tensor bitxor(const Tensor &t, double value) { return t.bitxor(value); }
inline Tensor &bitxor_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_bitxor(detail::result(r), t.get(), value), "bitxor_out");
}
inline Tensor bitwiseXor(const Tensor &t, double value) { return t.bitwiseXor(value); }
inline Tensor lshift(const Tensor &t, double value) { return t.lshift(value); }
inline Tensor &lshift_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_lshift(detail::result(r), t.get(), value), "lshift_out");
}
inline Tensor bitwiseLeftShift(const Tensor &t, double value) { return t.bitwiseLeftShift(value); }
inline Tensor rshift(const Tensor &t, double value) { return t.rshift(value); }
inline Tensor &rshift_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_rshift(detail::result(r), t.get(), value), "rshift_out");
}
inline Tensor bitwiseRightShift(const Tensor &t, double value) { return t.bitwiseRightShift(value); }
inline Tensor cbitand(const Tensor &a, const Tensor &b) { return a.cbitand(b); }
inline Tensor &cbitand_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_cbitand(detail::result(r), a.get(), b.get()), "cbitand_out");
}
inline Tensor bitAnd(const Tensor &a, const Tensor &b) { return a.bitAnd(b); }
inline Tensor &bitAnd_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_cbitand(detail::result(r), a.get(), b.get()), "bitAnd_out");
}
inline Tensor bitwiseAnd(const Tensor &a, const Tensor &b) { return a.bitwiseAnd(b); }
inline Tensor cbitor(const Tensor &a, const Tensor &b) { return a.cbitor(b); }
inline Tensor &cbitor_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_cbitor(detail::result(r), a.get(), b.get()), "cbitor_out");
}
inline Tensor bitOr(const Tensor &a, const Tensor &b) { return a.bitOr(b); }
inline Tensor &bitOr_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_cbitor(detail::result(r), a.get(), b.get()), "bitOr_out");
}
inline Tensor bitwiseOr(const Tensor &a, const Tensor &b) { return a.bitwiseOr(b); }
inline Tensor cbitxor(const Tensor &a, const Tensor &b) { return a.cbitxor(b); }
inline Tensor &cbitxor_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_cbitxor(detail::result(r), a.get(), b.get()), "cbitxor_out");
}
inline Tensor bitxor(const Tensor &a, const Tensor &b) { return a.bitxor(b); }
inline Tensor &bitxor_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_cbitxor(detail::result(r), a.get(), b.get()), "bitxor_out");
}
inline Tensor bitwiseXor(const Tensor &a, const Tensor &b) { return a.bitwiseXor(b); }
inline Tensor clshift(const Tensor &a, const Tensor &b) { return a.clshift(b); }
inline Tensor &clshift_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_clshift(detail::result(r), a.get(), b.get()), "clshift_out");
}
inline Tensor lshift(const Tensor &a, const Tensor &b) { return a.lshift(b); }
inline Tensor &lshift_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_clshift(detail::result(r), a.get(), b.get()), "lshift_out");
}
inline Tensor bitwiseLeftShift(const Tensor &a, const Tensor &b) { return a.bitwiseLeftShift(b); }
inline Tensor crshift(const Tensor &a, const Tensor &b) { return a.crshift(b); }
inline Tensor &crshift_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_crshift(detail::result(r), a.get(), b.get()), "crshift_out");
}
inline Tensor rshift(const Tensor &a, const Tensor &b) { return a.rshift(b); }
inline Tensor &rshift_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_crshift(detail::result(r), a.get(), b.get()), "rshift_out");
}
inline Tensor bitwiseRightShift(const Tensor &a, const Tensor &b) { return a.bitwiseRightShift(b); }

// -------------------------------------------------------------------------------------------- Comparisons and choices

inline Tensor ltValue(const Tensor &t, double value) { return t.ltValue(value); }
inline Tensor &ltValue_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_ltValue(detail::result(r), t.get(), value), "ltValue_out");
}
inline Tensor lt(const Tensor &t, double value) { return t.lt(value); }
inline Tensor &lt_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_ltValue(detail::result(r), t.get(), value), "lt_out");
}
inline Tensor less(const Tensor &t, double value) { return t.less(value); }
inline Tensor leValue(const Tensor &t, double value) { return t.leValue(value); }
inline Tensor &leValue_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_leValue(detail::result(r), t.get(), value), "leValue_out");
}
inline Tensor le(const Tensor &t, double value) { return t.le(value); }
inline Tensor &le_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_leValue(detail::result(r), t.get(), value), "le_out");
}
inline Tensor lessEqual(const Tensor &t, double value) { return t.lessEqual(value); }
inline Tensor gtValue(const Tensor &t, double value) { return t.gtValue(value); }
inline Tensor &gtValue_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_gtValue(detail::result(r), t.get(), value), "gtValue_out");
}
inline Tensor gt(const Tensor &t, double value) { return t.gt(value); }
inline Tensor &gt_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_gtValue(detail::result(r), t.get(), value), "gt_out");
}
inline Tensor greater(const Tensor &t, double value) { return t.greater(value); }
inline Tensor geValue(const Tensor &t, double value) { return t.geValue(value); }
inline Tensor &geValue_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_geValue(detail::result(r), t.get(), value), "geValue_out");
}
inline Tensor ge(const Tensor &t, double value) { return t.ge(value); }
inline Tensor &ge_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_geValue(detail::result(r), t.get(), value), "ge_out");
}
inline Tensor greaterEqual(const Tensor &t, double value) { return t.greaterEqual(value); }
inline Tensor eqValue(const Tensor &t, double value) { return t.eqValue(value); }
inline Tensor &eqValue_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_eqValue(detail::result(r), t.get(), value), "eqValue_out");
}
inline Tensor eq(const Tensor &t, double value) { return t.eq(value); }
inline Tensor &eq_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_eqValue(detail::result(r), t.get(), value), "eq_out");
}
inline Tensor neValue(const Tensor &t, double value) { return t.neValue(value); }
inline Tensor &neValue_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_neValue(detail::result(r), t.get(), value), "neValue_out");
}
inline Tensor ne(const Tensor &t, double value) { return t.ne(value); }
inline Tensor &ne_out(Tensor &r, const Tensor &t, double value) {
    return detail::into(r, THTensor_neValue(detail::result(r), t.get(), value), "ne_out");
}
inline Tensor notEqual(const Tensor &t, double value) { return t.notEqual(value); }
inline Tensor ltTensor(const Tensor &a, const Tensor &b) { return a.ltTensor(b); }
inline Tensor &ltTensor_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_ltTensor(detail::result(r), a.get(), b.get()), "ltTensor_out");
}
inline Tensor lt(const Tensor &a, const Tensor &b) { return a.lt(b); }
inline Tensor &lt_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_ltTensor(detail::result(r), a.get(), b.get()), "lt_out");
}
inline Tensor less(const Tensor &a, const Tensor &b) { return a.less(b); }
inline Tensor leTensor(const Tensor &a, const Tensor &b) { return a.leTensor(b); }
inline Tensor &leTensor_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_leTensor(detail::result(r), a.get(), b.get()), "leTensor_out");
}
inline Tensor le(const Tensor &a, const Tensor &b) { return a.le(b); }
inline Tensor &le_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_leTensor(detail::result(r), a.get(), b.get()), "le_out");
}
inline Tensor lessEqual(const Tensor &a, const Tensor &b) { return a.lessEqual(b); }
inline Tensor gtTensor(const Tensor &a, const Tensor &b) { return a.gtTensor(b); }
inline Tensor &gtTensor_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_gtTensor(detail::result(r), a.get(), b.get()), "gtTensor_out");
}
inline Tensor gt(const Tensor &a, const Tensor &b) { return a.gt(b); }
inline Tensor &gt_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_gtTensor(detail::result(r), a.get(), b.get()), "gt_out");
}
inline Tensor greater(const Tensor &a, const Tensor &b) { return a.greater(b); }
inline Tensor geTensor(const Tensor &a, const Tensor &b) { return a.geTensor(b); }
inline Tensor &geTensor_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_geTensor(detail::result(r), a.get(), b.get()), "geTensor_out");
}
inline Tensor ge(const Tensor &a, const Tensor &b) { return a.ge(b); }
inline Tensor &ge_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_geTensor(detail::result(r), a.get(), b.get()), "ge_out");
}
inline Tensor greaterEqual(const Tensor &a, const Tensor &b) { return a.greaterEqual(b); }
inline Tensor eqTensor(const Tensor &a, const Tensor &b) { return a.eqTensor(b); }
inline Tensor &eqTensor_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_eqTensor(detail::result(r), a.get(), b.get()), "eqTensor_out");
}
inline Tensor eq(const Tensor &a, const Tensor &b) { return a.eq(b); }
inline Tensor &eq_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_eqTensor(detail::result(r), a.get(), b.get()), "eq_out");
}
inline Tensor neTensor(const Tensor &a, const Tensor &b) { return a.neTensor(b); }
inline Tensor &neTensor_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_neTensor(detail::result(r), a.get(), b.get()), "neTensor_out");
}
inline Tensor ne(const Tensor &a, const Tensor &b) { return a.ne(b); }
inline Tensor &ne_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_neTensor(detail::result(r), a.get(), b.get()), "ne_out");
}
inline Tensor notEqual(const Tensor &a, const Tensor &b) { return a.notEqual(b); }
inline Tensor isnan(const Tensor &t) { return t.isnan(); }
inline Tensor &isnan_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_isnan(detail::result(r), t.get()), "isnan_out");
}
inline Tensor isinf(const Tensor &t) { return t.isinf(); }
inline Tensor &isinf_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_isinf(detail::result(r), t.get()), "isinf_out");
}
inline Tensor isfinite(const Tensor &t) { return t.isfinite(); }
inline Tensor &isfinite_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_isfinite(detail::result(r), t.get()), "isfinite_out");
}
inline Tensor logicalNot(const Tensor &t) { return t.logicalNot(); }
inline Tensor &logicalNot_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_logicalNot(detail::result(r), t.get()), "logicalNot_out");
}
inline Tensor logicalAnd(const Tensor &a, const Tensor &b) { return a.logicalAnd(b); }
inline Tensor &logicalAnd_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_logicalAnd(detail::result(r), a.get(), b.get()), "logicalAnd_out");
}
inline Tensor logicalOr(const Tensor &a, const Tensor &b) { return a.logicalOr(b); }
inline Tensor &logicalOr_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_logicalOr(detail::result(r), a.get(), b.get()), "logicalOr_out");
}
inline Tensor logicalXor(const Tensor &a, const Tensor &b) { return a.logicalXor(b); }
inline Tensor &logicalXor_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_logicalXor(detail::result(r), a.get(), b.get()), "logicalXor_out");
}
inline Tensor where(const Tensor &condition, const Tensor &a, const Tensor &b) { return condition.where(a, b); }
inline Tensor &where_out(Tensor &r, const Tensor &condition, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_where(detail::result(r), condition.get(), a.get(), b.get()), "where_out");
}
inline Tensor whereValue(const Tensor &condition, const Tensor &a, double value) {
    return condition.whereValue(a, value);
}
inline Tensor &whereValue_out(Tensor &r, const Tensor &condition, const Tensor &a, double value) {
    return detail::into(r, THTensor_whereValue(detail::result(r), condition.get(), a.get(), value), "whereValue_out");
}
inline Tensor where(const Tensor &condition, const Tensor &a, double value) { return condition.where(a, value); }
inline Tensor &where_out(Tensor &r, const Tensor &condition, const Tensor &a, double value) {
    return detail::into(r, THTensor_whereValue(detail::result(r), condition.get(), a.get(), value), "where_out");
}
inline Tensor whereValueTensor(const Tensor &condition, double value, const Tensor &b) {
    return condition.whereValueTensor(value, b);
}
inline Tensor &whereValueTensor_out(Tensor &r, const Tensor &condition, double value, const Tensor &b) {
    return detail::into(r, THTensor_whereValueTensor(detail::result(r), condition.get(), value, b.get()),
        "whereValueTensor_out");
}
inline Tensor where(const Tensor &condition, double value, const Tensor &b) { return condition.where(value, b); }
inline Tensor &where_out(Tensor &r, const Tensor &condition, double value, const Tensor &b) {
    return detail::into(r, THTensor_whereValueTensor(detail::result(r), condition.get(), value, b.get()), "where_out");
}
inline Tensor whereValues(const Tensor &condition, double a, double b) { return condition.whereValues(a, b); }
inline Tensor &whereValues_out(Tensor &r, const Tensor &condition, double a, double b) {
    return detail::into(r, THTensor_whereValues(detail::result(r), condition.get(), a, b), "whereValues_out");
}
inline Tensor where(const Tensor &condition, double a, double b) { return condition.where(a, b); }
inline Tensor &where_out(Tensor &r, const Tensor &condition, double a, double b) {
    return detail::into(r, THTensor_whereValues(detail::result(r), condition.get(), a, b), "where_out");
}
inline Tensor heaviside(const Tensor &a, const Tensor &b) { return a.heaviside(b); }
inline Tensor &heaviside_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_heaviside(detail::result(r), a.get(), b.get()), "heaviside_out");
}
inline Tensor maskedFill(const Tensor &t, const Tensor &mask, double value) { return t.maskedFill(mask, value); }
inline Tensor signbit(const Tensor &t) { return t.signbit(); }
inline Tensor &signbit_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_signbit(detail::result(r), t.get()), "signbit_out");
}
inline Tensor isclose(const Tensor &a, const Tensor &b, double rtol = 0.00001, double atol = 1e-8,
    bool equalNan = false) {
    return a.isclose(b, rtol, atol, equalNan);
}
inline Tensor &isclose_out(Tensor &r, const Tensor &a, const Tensor &b, double rtol = 0.00001, double atol = 1e-8,
    bool equalNan = false) {
    return detail::into(r, THTensor_isclose(detail::result(r), a.get(), b.get(), rtol, atol, equalNan), "isclose_out");
}
inline bool allclose(const Tensor &a, const Tensor &b, double rtol = 0.00001, double atol = 1e-8,
    bool equalNan = false) {
    return a.allclose(b, rtol, atol, equalNan);
}
inline bool equal(const Tensor &a, const Tensor &b) { return a.equal(b); }

// --------------------------------------------------------------------------------------------------------- Reductions

inline Tensor nanmean(const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return t.nanmean(dimension, keepdim);
}
inline Tensor &nanmean_out(Tensor &r, const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return detail::into(r, THTensor_nanmean(detail::result(r), t.get(), dimension, keepdim), "nanmean_out");
}
inline Tensor nanmeanDims(const Tensor &t, IntList dims, bool keepdim = false) { return t.nanmeanDims(dims, keepdim); }
inline Tensor &nanmeanDims_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false) {
    return detail::into(r, THTensor_nanmeanDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim),
        "nanmeanDims_out");
}
inline Tensor nanmean(const Tensor &t, IntList dims, bool keepdim = false) { return t.nanmean(dims, keepdim); }
inline Tensor nanmean(const Tensor &t, std::initializer_list<int64_t> dims, bool keepdim = false) {
    return nanmean(t, IntList(dims), keepdim);
}
inline Tensor &nanmean_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false) {
    return detail::into(r, THTensor_nanmeanDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim),
        "nanmean_out");
}
inline Tensor nanprod(const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return t.nanprod(dimension, keepdim);
}
inline Tensor &nanprod_out(Tensor &r, const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return detail::into(r, THTensor_nanprod(detail::result(r), t.get(), dimension, keepdim), "nanprod_out");
}
inline Tensor nanprodDims(const Tensor &t, IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) {
    return t.nanprodDims(dims, keepdim, dtype);
}
inline Tensor &nanprodDims_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return detail::into(r, THTensor_nanprodDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim,
        static_cast<THDtype>(dtype)), "nanprodDims_out");
}
inline Tensor nanprod(const Tensor &t, IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) {
    return t.nanprod(dims, keepdim, dtype);
}
inline Tensor nanprod(const Tensor &t, std::initializer_list<int64_t> dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return nanprod(t, IntList(dims), keepdim, dtype);
}
inline Tensor &nanprod_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return detail::into(r, THTensor_nanprodDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim,
        static_cast<THDtype>(dtype)), "nanprod_out");
}
inline Tensor nanmax(const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return t.nanmax(dimension, keepdim);
}
inline Tensor &nanmax_out(Tensor &r, const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return detail::into(r, THTensor_nanmax(detail::result(r), t.get(), dimension, keepdim), "nanmax_out");
}
inline Tensor nanmaxDims(const Tensor &t, IntList dims, bool keepdim = false) { return t.nanmaxDims(dims, keepdim); }
inline Tensor &nanmaxDims_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false) {
    return detail::into(r, THTensor_nanmaxDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim),
        "nanmaxDims_out");
}
inline Tensor nanmax(const Tensor &t, IntList dims, bool keepdim = false) { return t.nanmax(dims, keepdim); }
inline Tensor nanmax(const Tensor &t, std::initializer_list<int64_t> dims, bool keepdim = false) {
    return nanmax(t, IntList(dims), keepdim);
}
inline Tensor &nanmax_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false) {
    return detail::into(r, THTensor_nanmaxDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim),
        "nanmax_out");
}
inline Tensor nanmin(const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return t.nanmin(dimension, keepdim);
}
inline Tensor &nanmin_out(Tensor &r, const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return detail::into(r, THTensor_nanmin(detail::result(r), t.get(), dimension, keepdim), "nanmin_out");
}
inline Tensor nanminDims(const Tensor &t, IntList dims, bool keepdim = false) { return t.nanminDims(dims, keepdim); }
inline Tensor &nanminDims_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false) {
    return detail::into(r, THTensor_nanminDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim),
        "nanminDims_out");
}
inline Tensor nanmin(const Tensor &t, IntList dims, bool keepdim = false) { return t.nanmin(dims, keepdim); }
inline Tensor nanmin(const Tensor &t, std::initializer_list<int64_t> dims, bool keepdim = false) {
    return nanmin(t, IntList(dims), keepdim);
}
inline Tensor &nanmin_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false) {
    return detail::into(r, THTensor_nanminDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim),
        "nanmin_out");
}
inline Tensor nanargmax(const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return t.nanargmax(dimension, keepdim);
}
inline Tensor &nanargmax_out(Tensor &r, const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return detail::into(r, THTensor_nanargmax(detail::result(r), t.get(), dimension, keepdim), "nanargmax_out");
}
inline Tensor nanargmin(const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return t.nanargmin(dimension, keepdim);
}
inline Tensor &nanargmin_out(Tensor &r, const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return detail::into(r, THTensor_nanargmin(detail::result(r), t.get(), dimension, keepdim), "nanargmin_out");
}
inline Tensor nanvar(const Tensor &t, int dimension = everyDim, double correction = 1, bool keepdim = false) {
    return t.nanvar(dimension, correction, keepdim);
}
inline Tensor &nanvar_out(Tensor &r, const Tensor &t, int dimension = everyDim, double correction = 1,
    bool keepdim = false) {
    return detail::into(r, THTensor_nanvar(detail::result(r), t.get(), dimension, correction, keepdim), "nanvar_out");
}
inline Tensor nanvarDims(const Tensor &t, IntList dims, double correction = 1, bool keepdim = false) {
    return t.nanvarDims(dims, correction, keepdim);
}
inline Tensor &nanvarDims_out(Tensor &r, const Tensor &t, IntList dims, double correction = 1, bool keepdim = false) {
    return detail::into(r, THTensor_nanvarDims(detail::result(r), t.get(), dims.count(), dims.data(), correction,
        keepdim), "nanvarDims_out");
}
inline Tensor nanvar(const Tensor &t, IntList dims, double correction = 1, bool keepdim = false) {
    return t.nanvar(dims, correction, keepdim);
}
inline Tensor nanvar(const Tensor &t, std::initializer_list<int64_t> dims, double correction = 1,
    bool keepdim = false) {
    return nanvar(t, IntList(dims), correction, keepdim);
}
inline Tensor &nanvar_out(Tensor &r, const Tensor &t, IntList dims, double correction = 1, bool keepdim = false) {
    return detail::into(r, THTensor_nanvarDims(detail::result(r), t.get(), dims.count(), dims.data(), correction,
        keepdim), "nanvar_out");
}
inline Tensor nanstd(const Tensor &t, int dimension = everyDim, double correction = 1, bool keepdim = false) {
    return t.nanstd(dimension, correction, keepdim);
}
inline Tensor &nanstd_out(Tensor &r, const Tensor &t, int dimension = everyDim, double correction = 1,
    bool keepdim = false) {
    return detail::into(r, THTensor_nanstd(detail::result(r), t.get(), dimension, correction, keepdim), "nanstd_out");
}
inline Tensor nanstdDims(const Tensor &t, IntList dims, double correction = 1, bool keepdim = false) {
    return t.nanstdDims(dims, correction, keepdim);
}
inline Tensor &nanstdDims_out(Tensor &r, const Tensor &t, IntList dims, double correction = 1, bool keepdim = false) {
    return detail::into(r, THTensor_nanstdDims(detail::result(r), t.get(), dims.count(), dims.data(), correction,
        keepdim), "nanstdDims_out");
}
inline Tensor nanstd(const Tensor &t, IntList dims, double correction = 1, bool keepdim = false) {
    return t.nanstd(dims, correction, keepdim);
}
inline Tensor nanstd(const Tensor &t, std::initializer_list<int64_t> dims, double correction = 1,
    bool keepdim = false) {
    return nanstd(t, IntList(dims), correction, keepdim);
}
inline Tensor &nanstd_out(Tensor &r, const Tensor &t, IntList dims, double correction = 1, bool keepdim = false) {
    return detail::into(r, THTensor_nanstdDims(detail::result(r), t.get(), dims.count(), dims.data(), correction,
        keepdim), "nanstd_out");
}
inline Tensor amax(const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return t.amax(dimension, keepdim);
}
inline Tensor &amax_out(Tensor &r, const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return detail::into(r, THTensor_amax(detail::result(r), t.get(), dimension, keepdim), "amax_out");
}
inline Tensor max(const Tensor &t) { return t.max(); }
inline Tensor &max_out(Tensor &r, const Tensor &t, int dimension, bool keepdim) {
    return detail::into(r, THTensor_amax(detail::result(r), t.get(), dimension, keepdim), "max_out");
}
inline Tensor amaxDims(const Tensor &t, IntList dims, bool keepdim = false) { return t.amaxDims(dims, keepdim); }
inline Tensor &amaxDims_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false) {
    return detail::into(r, THTensor_amaxDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim),
        "amaxDims_out");
}
inline Tensor max(const Tensor &t, IntList dims, bool keepdim = false) { return t.max(dims, keepdim); }
inline Tensor max(const Tensor &t, std::initializer_list<int64_t> dims, bool keepdim = false) {
    return max(t, IntList(dims), keepdim);
}
inline Tensor &max_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false) {
    return detail::into(r, THTensor_amaxDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim),
        "max_out");
}
inline Tensor amin(const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return t.amin(dimension, keepdim);
}
inline Tensor &amin_out(Tensor &r, const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return detail::into(r, THTensor_amin(detail::result(r), t.get(), dimension, keepdim), "amin_out");
}
inline Tensor min(const Tensor &t) { return t.min(); }
inline Tensor &min_out(Tensor &r, const Tensor &t, int dimension, bool keepdim) {
    return detail::into(r, THTensor_amin(detail::result(r), t.get(), dimension, keepdim), "min_out");
}
inline Tensor aminDims(const Tensor &t, IntList dims, bool keepdim = false) { return t.aminDims(dims, keepdim); }
inline Tensor &aminDims_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false) {
    return detail::into(r, THTensor_aminDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim),
        "aminDims_out");
}
inline Tensor min(const Tensor &t, IntList dims, bool keepdim = false) { return t.min(dims, keepdim); }
inline Tensor min(const Tensor &t, std::initializer_list<int64_t> dims, bool keepdim = false) {
    return min(t, IntList(dims), keepdim);
}
inline Tensor &min_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false) {
    return detail::into(r, THTensor_aminDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim),
        "min_out");
}
inline Tensor &all_out(Tensor &r, const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return detail::into(r, THTensor_all(detail::result(r), t.get(), dimension, keepdim), "all_out");
}
inline Tensor allDims(const Tensor &t, IntList dims, bool keepdim = false) { return t.allDims(dims, keepdim); }
inline Tensor &allDims_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false) {
    return detail::into(r, THTensor_allDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim),
        "allDims_out");
}
inline Tensor &all_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false) {
    return detail::into(r, THTensor_allDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim),
        "all_out");
}
inline Tensor any(const Tensor &t, int dimension = everyDim, bool keepdim = false) { return t.any(dimension, keepdim); }
inline Tensor &any_out(Tensor &r, const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return detail::into(r, THTensor_any(detail::result(r), t.get(), dimension, keepdim), "any_out");
}
inline Tensor anyDims(const Tensor &t, IntList dims, bool keepdim = false) { return t.anyDims(dims, keepdim); }
inline Tensor &anyDims_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false) {
    return detail::into(r, THTensor_anyDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim),
        "anyDims_out");
}
inline Tensor any(const Tensor &t, IntList dims, bool keepdim = false) { return t.any(dims, keepdim); }
inline Tensor any(const Tensor &t, std::initializer_list<int64_t> dims, bool keepdim = false) {
    return any(t, IntList(dims), keepdim);
}
inline Tensor &any_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false) {
    return detail::into(r, THTensor_anyDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim),
        "any_out");
}
inline Tensor sum(const Tensor &t, int dimension = everyDim, bool keepdim = false) { return t.sum(dimension, keepdim); }
inline Tensor &sum_out(Tensor &r, const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return detail::into(r, THTensor_sum(detail::result(r), t.get(), dimension, keepdim), "sum_out");
}
inline Tensor sumDims(const Tensor &t, IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) {
    return t.sumDims(dims, keepdim, dtype);
}
inline Tensor &sumDims_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return detail::into(r, THTensor_sumDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim,
        static_cast<THDtype>(dtype)), "sumDims_out");
}
inline Tensor sum(const Tensor &t, IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) {
    return t.sum(dims, keepdim, dtype);
}
inline Tensor sum(const Tensor &t, std::initializer_list<int64_t> dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return sum(t, IntList(dims), keepdim, dtype);
}
inline Tensor &sum_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return detail::into(r, THTensor_sumDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim,
        static_cast<THDtype>(dtype)), "sum_out");
}
inline Tensor prod(const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return t.prod(dimension, keepdim);
}
inline Tensor &prod_out(Tensor &r, const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return detail::into(r, THTensor_prod(detail::result(r), t.get(), dimension, keepdim), "prod_out");
}
inline Tensor prodDims(const Tensor &t, IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) {
    return t.prodDims(dims, keepdim, dtype);
}
inline Tensor &prodDims_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return detail::into(r, THTensor_prodDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim,
        static_cast<THDtype>(dtype)), "prodDims_out");
}
inline Tensor prod(const Tensor &t, IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) {
    return t.prod(dims, keepdim, dtype);
}
inline Tensor prod(const Tensor &t, std::initializer_list<int64_t> dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return prod(t, IntList(dims), keepdim, dtype);
}
inline Tensor &prod_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return detail::into(r, THTensor_prodDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim,
        static_cast<THDtype>(dtype)), "prod_out");
}
inline Tensor mean(const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return t.mean(dimension, keepdim);
}
inline Tensor &mean_out(Tensor &r, const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return detail::into(r, THTensor_mean(detail::result(r), t.get(), dimension, keepdim), "mean_out");
}
inline Tensor meanDims(const Tensor &t, IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) {
    return t.meanDims(dims, keepdim, dtype);
}
inline Tensor &meanDims_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return detail::into(r, THTensor_meanDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim,
        static_cast<THDtype>(dtype)), "meanDims_out");
}
inline Tensor mean(const Tensor &t, IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) {
    return t.mean(dims, keepdim, dtype);
}
inline Tensor mean(const Tensor &t, std::initializer_list<int64_t> dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return mean(t, IntList(dims), keepdim, dtype);
}
inline Tensor &mean_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return detail::into(r, THTensor_meanDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim,
        static_cast<THDtype>(dtype)), "mean_out");
}
inline Tensor nansum(const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return t.nansum(dimension, keepdim);
}
inline Tensor &nansum_out(Tensor &r, const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return detail::into(r, THTensor_nansum(detail::result(r), t.get(), dimension, keepdim), "nansum_out");
}
inline Tensor nansumDims(const Tensor &t, IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) {
    return t.nansumDims(dims, keepdim, dtype);
}
inline Tensor &nansumDims_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return detail::into(r, THTensor_nansumDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim,
        static_cast<THDtype>(dtype)), "nansumDims_out");
}
inline Tensor nansum(const Tensor &t, IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) {
    return t.nansum(dims, keepdim, dtype);
}
inline Tensor nansum(const Tensor &t, std::initializer_list<int64_t> dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return nansum(t, IntList(dims), keepdim, dtype);
}
inline Tensor &nansum_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return detail::into(r, THTensor_nansumDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim,
        static_cast<THDtype>(dtype)), "nansum_out");
}
inline Tensor var(const Tensor &t, int dimension = everyDim, bool biased = false, bool keepdim = false) {
    return t.var(dimension, biased, keepdim);
}
inline Tensor &var_out(Tensor &r, const Tensor &t, int dimension = everyDim, bool biased = false,
    bool keepdim = false) {
    return detail::into(r, THTensor_var(detail::result(r), t.get(), dimension, biased, keepdim), "var_out");
}
inline Tensor varDims(const Tensor &t, IntList dims, bool biased = false, bool keepdim = false) {
    return t.varDims(dims, biased, keepdim);
}
inline Tensor &varDims_out(Tensor &r, const Tensor &t, IntList dims, bool biased = false, bool keepdim = false) {
    return detail::into(r, THTensor_varDims(detail::result(r), t.get(), dims.count(), dims.data(), biased, keepdim),
        "varDims_out");
}
inline Tensor var(const Tensor &t, IntList dims, bool biased = false, bool keepdim = false) {
    return t.var(dims, biased, keepdim);
}
inline Tensor var(const Tensor &t, std::initializer_list<int64_t> dims, bool biased = false, bool keepdim = false) {
    return var(t, IntList(dims), biased, keepdim);
}
inline Tensor &var_out(Tensor &r, const Tensor &t, IntList dims, bool biased = false, bool keepdim = false) {
    return detail::into(r, THTensor_varDims(detail::result(r), t.get(), dims.count(), dims.data(), biased, keepdim),
        "var_out");
}
inline double varall(const Tensor &t, bool biased = false) { return t.varall(biased); }
inline Tensor varCorrection(const Tensor &t, int dimension = everyDim, double correction = 1, bool keepdim = false) {
    return t.varCorrection(dimension, correction, keepdim);
}
inline Tensor &varCorrection_out(Tensor &r, const Tensor &t, int dimension = everyDim, double correction = 1,
    bool keepdim = false) {
    return detail::into(r, THTensor_varCorrection(detail::result(r), t.get(), dimension, correction, keepdim),
        "varCorrection_out");
}
inline Tensor varDimsCorrection(const Tensor &t, IntList dims, double correction = 1, bool keepdim = false) {
    return t.varDimsCorrection(dims, correction, keepdim);
}
inline Tensor &varDimsCorrection_out(Tensor &r, const Tensor &t, IntList dims, double correction = 1,
    bool keepdim = false) {
    return detail::into(r, THTensor_varDimsCorrection(detail::result(r), t.get(), dims.count(), dims.data(), correction,
        keepdim), "varDimsCorrection_out");
}
inline double varallCorrection(const Tensor &t, double correction = 1) { return t.varallCorrection(correction); }
inline Tensor std(const Tensor &t, int dimension = everyDim, bool biased = false, bool keepdim = false) {
    return t.std(dimension, biased, keepdim);
}
inline Tensor &std_out(Tensor &r, const Tensor &t, int dimension = everyDim, bool biased = false,
    bool keepdim = false) {
    return detail::into(r, THTensor_std(detail::result(r), t.get(), dimension, biased, keepdim), "std_out");
}
inline Tensor stdDims(const Tensor &t, IntList dims, bool biased = false, bool keepdim = false) {
    return t.stdDims(dims, biased, keepdim);
}
inline Tensor &stdDims_out(Tensor &r, const Tensor &t, IntList dims, bool biased = false, bool keepdim = false) {
    return detail::into(r, THTensor_stdDims(detail::result(r), t.get(), dims.count(), dims.data(), biased, keepdim),
        "stdDims_out");
}
inline Tensor std(const Tensor &t, IntList dims, bool biased = false, bool keepdim = false) {
    return t.std(dims, biased, keepdim);
}
inline Tensor std(const Tensor &t, std::initializer_list<int64_t> dims, bool biased = false, bool keepdim = false) {
    return std(t, IntList(dims), biased, keepdim);
}
inline Tensor &std_out(Tensor &r, const Tensor &t, IntList dims, bool biased = false, bool keepdim = false) {
    return detail::into(r, THTensor_stdDims(detail::result(r), t.get(), dims.count(), dims.data(), biased, keepdim),
        "std_out");
}
inline double stdall(const Tensor &t, bool biased = false) { return t.stdall(biased); }
inline Tensor stdCorrection(const Tensor &t, int dimension = everyDim, double correction = 1, bool keepdim = false) {
    return t.stdCorrection(dimension, correction, keepdim);
}
inline Tensor &stdCorrection_out(Tensor &r, const Tensor &t, int dimension = everyDim, double correction = 1,
    bool keepdim = false) {
    return detail::into(r, THTensor_stdCorrection(detail::result(r), t.get(), dimension, correction, keepdim),
        "stdCorrection_out");
}
inline Tensor stdDimsCorrection(const Tensor &t, IntList dims, double correction = 1, bool keepdim = false) {
    return t.stdDimsCorrection(dims, correction, keepdim);
}
inline Tensor &stdDimsCorrection_out(Tensor &r, const Tensor &t, IntList dims, double correction = 1,
    bool keepdim = false) {
    return detail::into(r, THTensor_stdDimsCorrection(detail::result(r), t.get(), dims.count(), dims.data(), correction,
        keepdim), "stdDimsCorrection_out");
}
inline double stdallCorrection(const Tensor &t, double correction = 1) { return t.stdallCorrection(correction); }
inline ValuesIndices Tensor::max(int dimension, bool keepdim) const {
    ValuesIndices r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_max(r.values.get(), r.indices.get(), handle_, dimension, keepdim), "max", r.values,
        r.indices);
    return r;
}
inline ValuesIndices max(const Tensor &t, int dimension, bool keepdim = false) { return t.max(dimension, keepdim); }
inline void max_out(Out values, Out indices, const Tensor &t, int dimension, bool keepdim = false) {
    detail::check(THTensor_max(detail::result(values), detail::result(indices), t.get(), dimension, keepdim),
        "max_out");
}
inline Tensor argmax(const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return t.argmax(dimension, keepdim);
}
inline Tensor &argmax_out(Tensor &r, const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return detail::into(r, THTensor_argmax(detail::result(r), t.get(), dimension, keepdim), "argmax_out");
}
inline double maxall(const Tensor &t) { return t.maxall(); }
inline ValuesIndices Tensor::min(int dimension, bool keepdim) const {
    ValuesIndices r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_min(r.values.get(), r.indices.get(), handle_, dimension, keepdim), "min", r.values,
        r.indices);
    return r;
}
inline ValuesIndices min(const Tensor &t, int dimension, bool keepdim = false) { return t.min(dimension, keepdim); }
inline void min_out(Out values, Out indices, const Tensor &t, int dimension, bool keepdim = false) {
    detail::check(THTensor_min(detail::result(values), detail::result(indices), t.get(), dimension, keepdim),
        "min_out");
}
inline Tensor argmin(const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return t.argmin(dimension, keepdim);
}
inline Tensor &argmin_out(Tensor &r, const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return detail::into(r, THTensor_argmin(detail::result(r), t.get(), dimension, keepdim), "argmin_out");
}
inline double minall(const Tensor &t) { return t.minall(); }
inline Tensor norm(const Tensor &t, double value = 2, int dimension = everyDim, bool keepdim = false) {
    return t.norm(value, dimension, keepdim);
}
inline Tensor &norm_out(Tensor &r, const Tensor &t, double value = 2, int dimension = everyDim, bool keepdim = false) {
    return detail::into(r, THTensor_norm(detail::result(r), t.get(), value, dimension, keepdim), "norm_out");
}
inline Tensor vectorNorm(const Tensor &t, double value = 2, int dimension = everyDim, bool keepdim = false) {
    return t.vectorNorm(value, dimension, keepdim);
}
inline Tensor normDims(const Tensor &t, double value, IntList dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return t.normDims(value, dims, keepdim, dtype);
}
inline Tensor normDims(const Tensor &t, IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) {
    return t.normDims(dims, keepdim, dtype);
}
inline Tensor &normDims_out(Tensor &r, const Tensor &t, double value, IntList dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return detail::into(r, THTensor_normDims(detail::result(r), t.get(), value, dims.count(), dims.data(), keepdim,
        static_cast<THDtype>(dtype)), "normDims_out");
}
inline Tensor &normDims_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return detail::into(r, THTensor_normDims(detail::result(r), t.get(), 2, dims.count(), dims.data(), keepdim,
        static_cast<THDtype>(dtype)), "normDims_out");
}
inline Tensor norm(const Tensor &t, double value, IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) {
    return t.norm(value, dims, keepdim, dtype);
}
inline Tensor norm(const Tensor &t, IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) {
    return t.norm(dims, keepdim, dtype);
}
inline Tensor norm(const Tensor &t, std::initializer_list<int64_t> dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return norm(t, IntList(dims), keepdim, dtype);
}
inline Tensor &norm_out(Tensor &r, const Tensor &t, double value, IntList dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return detail::into(r, THTensor_normDims(detail::result(r), t.get(), value, dims.count(), dims.data(), keepdim,
        static_cast<THDtype>(dtype)), "norm_out");
}
inline Tensor &norm_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return detail::into(r, THTensor_normDims(detail::result(r), t.get(), 2, dims.count(), dims.data(), keepdim,
        static_cast<THDtype>(dtype)), "norm_out");
}
inline Tensor vectorNorm(const Tensor &t, double value, IntList dims, bool keepdim = false,
    Dtype dtype = Dtype::Undefined) {
    return t.vectorNorm(value, dims, keepdim, dtype);
}
inline Tensor vectorNorm(const Tensor &t, IntList dims, bool keepdim = false, Dtype dtype = Dtype::Undefined) {
    return t.vectorNorm(dims, keepdim, dtype);
}
inline LeastGreatest Tensor::aminmax(int dimension, bool keepdim) const {
    LeastGreatest r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_aminmax(r.least.get(), r.greatest.get(), handle_, dimension, keepdim), "aminmax",
        r.least, r.greatest);
    return r;
}
inline LeastGreatest aminmax(const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    return t.aminmax(dimension, keepdim);
}
inline void aminmax_out(Out least, Out greatest, const Tensor &t, int dimension = everyDim, bool keepdim = false) {
    detail::check(THTensor_aminmax(detail::result(least), detail::result(greatest), t.get(), dimension, keepdim),
        "aminmax_out");
}
inline double sumall(const Tensor &t) { return t.sumall(); }
inline double prodall(const Tensor &t) { return t.prodall(); }
inline double meanall(const Tensor &t) { return t.meanall(); }
inline double normall(const Tensor &t, double value = 2) { return t.normall(value); }
inline double dist(const Tensor &a, const Tensor &b, double value = 2) { return a.dist(b, value); }
inline bool logicalall(const Tensor &t) { return t.logicalall(); }
inline bool logicalany(const Tensor &t) { return t.logicalany(); }

// -------------------------------------------------------------------------------------------------- Scans and softmax

inline Tensor cumsum(const Tensor &t, int dimension) { return t.cumsum(dimension); }
inline Tensor &cumsum_out(Tensor &r, const Tensor &t, int dimension) {
    return detail::into(r, THTensor_cumsum(detail::result(r), t.get(), dimension), "cumsum_out");
}
inline Tensor cumsumDtype(const Tensor &t, int dimension, Dtype dtype = Dtype::Undefined) {
    return t.cumsumDtype(dimension, dtype);
}
inline Tensor &cumsumDtype_out(Tensor &r, const Tensor &t, int dimension, Dtype dtype = Dtype::Undefined) {
    return detail::into(r, THTensor_cumsumDtype(detail::result(r), t.get(), dimension, static_cast<THDtype>(dtype)),
        "cumsumDtype_out");
}
inline Tensor cumsum(const Tensor &t, int dimension, Dtype dtype) { return t.cumsum(dimension, dtype); }
inline Tensor &cumsum_out(Tensor &r, const Tensor &t, int dimension, Dtype dtype) {
    return detail::into(r, THTensor_cumsumDtype(detail::result(r), t.get(), dimension, static_cast<THDtype>(dtype)),
        "cumsum_out");
}
inline Tensor nancumsum(const Tensor &t, int dimension) { return t.nancumsum(dimension); }
inline Tensor &nancumsum_out(Tensor &r, const Tensor &t, int dimension) {
    return detail::into(r, THTensor_nancumsum(detail::result(r), t.get(), dimension), "nancumsum_out");
}
inline Tensor cumprod(const Tensor &t, int dimension) { return t.cumprod(dimension); }
inline Tensor &cumprod_out(Tensor &r, const Tensor &t, int dimension) {
    return detail::into(r, THTensor_cumprod(detail::result(r), t.get(), dimension), "cumprod_out");
}
inline Tensor cumprodDtype(const Tensor &t, int dimension, Dtype dtype = Dtype::Undefined) {
    return t.cumprodDtype(dimension, dtype);
}
inline Tensor &cumprodDtype_out(Tensor &r, const Tensor &t, int dimension, Dtype dtype = Dtype::Undefined) {
    return detail::into(r, THTensor_cumprodDtype(detail::result(r), t.get(), dimension, static_cast<THDtype>(dtype)),
        "cumprodDtype_out");
}
inline Tensor cumprod(const Tensor &t, int dimension, Dtype dtype) { return t.cumprod(dimension, dtype); }
inline Tensor &cumprod_out(Tensor &r, const Tensor &t, int dimension, Dtype dtype) {
    return detail::into(r, THTensor_cumprodDtype(detail::result(r), t.get(), dimension, static_cast<THDtype>(dtype)),
        "cumprod_out");
}
inline ValuesIndices Tensor::cummax(int dimension) const {
    ValuesIndices r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_cummax(r.values.get(), r.indices.get(), handle_, dimension), "cummax", r.values,
        r.indices);
    return r;
}
inline ValuesIndices cummax(const Tensor &t, int dimension) { return t.cummax(dimension); }
inline void cummax_out(Out values, Out indices, const Tensor &t, int dimension) {
    detail::check(THTensor_cummax(detail::result(values), detail::result(indices), t.get(), dimension), "cummax_out");
}
inline ValuesIndices Tensor::cummin(int dimension) const {
    ValuesIndices r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_cummin(r.values.get(), r.indices.get(), handle_, dimension), "cummin", r.values,
        r.indices);
    return r;
}
inline ValuesIndices cummin(const Tensor &t, int dimension) { return t.cummin(dimension); }
inline void cummin_out(Out values, Out indices, const Tensor &t, int dimension) {
    detail::check(THTensor_cummin(detail::result(values), detail::result(indices), t.get(), dimension), "cummin_out");
}
inline Tensor softmax(const Tensor &t, int dimension) { return t.softmax(dimension); }
inline Tensor &softmax_out(Tensor &r, const Tensor &t, int dimension) {
    return detail::into(r, THTensor_softmax(detail::result(r), t.get(), dimension), "softmax_out");
}
inline Tensor softmaxDtype(const Tensor &t, int dimension, Dtype dtype = Dtype::Undefined) {
    return t.softmaxDtype(dimension, dtype);
}
inline Tensor &softmaxDtype_out(Tensor &r, const Tensor &t, int dimension, Dtype dtype = Dtype::Undefined) {
    return detail::into(r, THTensor_softmaxDtype(detail::result(r), t.get(), dimension, static_cast<THDtype>(dtype)),
        "softmaxDtype_out");
}
inline Tensor softmax(const Tensor &t, int dimension, Dtype dtype) { return t.softmax(dimension, dtype); }
inline Tensor &softmax_out(Tensor &r, const Tensor &t, int dimension, Dtype dtype) {
    return detail::into(r, THTensor_softmaxDtype(detail::result(r), t.get(), dimension, static_cast<THDtype>(dtype)),
        "softmax_out");
}
inline Tensor logSoftmax(const Tensor &t, int dimension) { return t.logSoftmax(dimension); }
inline Tensor &logSoftmax_out(Tensor &r, const Tensor &t, int dimension) {
    return detail::into(r, THTensor_logSoftmax(detail::result(r), t.get(), dimension), "logSoftmax_out");
}
inline Tensor logSoftmaxDtype(const Tensor &t, int dimension, Dtype dtype = Dtype::Undefined) {
    return t.logSoftmaxDtype(dimension, dtype);
}
inline Tensor &logSoftmaxDtype_out(Tensor &r, const Tensor &t, int dimension, Dtype dtype = Dtype::Undefined) {
    return detail::into(r, THTensor_logSoftmaxDtype(detail::result(r), t.get(), dimension, static_cast<THDtype>(dtype)),
        "logSoftmaxDtype_out");
}
inline Tensor logSoftmax(const Tensor &t, int dimension, Dtype dtype) { return t.logSoftmax(dimension, dtype); }
inline Tensor &logSoftmax_out(Tensor &r, const Tensor &t, int dimension, Dtype dtype) {
    return detail::into(r, THTensor_logSoftmaxDtype(detail::result(r), t.get(), dimension, static_cast<THDtype>(dtype)),
        "logSoftmax_out");
}
inline Tensor logcumsumexp(const Tensor &t, int dimension) { return t.logcumsumexp(dimension); }
inline Tensor &logcumsumexp_out(Tensor &r, const Tensor &t, int dimension) {
    return detail::into(r, THTensor_logcumsumexp(detail::result(r), t.get(), dimension), "logcumsumexp_out");
}
inline Tensor logsumexp(const Tensor &t, int dimension, bool keepdim = false) {
    return t.logsumexp(dimension, keepdim);
}
inline Tensor &logsumexp_out(Tensor &r, const Tensor &t, int dimension, bool keepdim = false) {
    return detail::into(r, THTensor_logsumexp(detail::result(r), t.get(), dimension, keepdim), "logsumexp_out");
}
inline Tensor logsumexpDims(const Tensor &t, IntList dims, bool keepdim = false) {
    return t.logsumexpDims(dims, keepdim);
}
inline Tensor &logsumexpDims_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false) {
    return detail::into(r, THTensor_logsumexpDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim),
        "logsumexpDims_out");
}
inline Tensor logsumexp(const Tensor &t, IntList dims, bool keepdim = false) { return t.logsumexp(dims, keepdim); }
inline Tensor logsumexp(const Tensor &t, std::initializer_list<int64_t> dims, bool keepdim = false) {
    return logsumexp(t, IntList(dims), keepdim);
}
inline Tensor &logsumexp_out(Tensor &r, const Tensor &t, IntList dims, bool keepdim = false) {
    return detail::into(r, THTensor_logsumexpDims(detail::result(r), t.get(), dims.count(), dims.data(), keepdim),
        "logsumexp_out");
}
inline Tensor renorm(const Tensor &t, double value, int dimension, double maxnorm) {
    return t.renorm(value, dimension, maxnorm);
}
inline Tensor &renorm_out(Tensor &r, const Tensor &t, double value, int dimension, double maxnorm) {
    return detail::into(r, THTensor_renorm(detail::result(r), t.get(), value, dimension, maxnorm), "renorm_out");
}

// -------------------------------------------------------------------------------- Losses, normalization and gradients

inline Tensor softmaxGrad(const Tensor &g, const Tensor &y, int dimension) { return g.softmaxGrad(y, dimension); }
inline Tensor &softmaxGrad_out(Tensor &r, const Tensor &g, const Tensor &y, int dimension) {
    return detail::into(r, THTensor_softmaxGrad(detail::result(r), g.get(), y.get(), dimension), "softmaxGrad_out");
}
inline Tensor logSoftmaxGrad(const Tensor &g, const Tensor &y, int dimension) { return g.logSoftmaxGrad(y, dimension); }
inline Tensor &logSoftmaxGrad_out(Tensor &r, const Tensor &g, const Tensor &y, int dimension) {
    return detail::into(r, THTensor_logSoftmaxGrad(detail::result(r), g.get(), y.get(), dimension),
        "logSoftmaxGrad_out");
}
inline Tensor layerNorm(const Tensor &t, int normalizedNdim, const Tensor &weight = {}, const Tensor &bias = {},
    double eps = 0.00001) {
    return t.layerNorm(normalizedNdim, weight, bias, eps);
}
inline Tensor &layerNorm_out(Tensor &r, const Tensor &t, int normalizedNdim, const Tensor &weight = {},
    const Tensor &bias = {}, double eps = 0.00001) {
    return detail::into(r, THTensor_layerNorm(detail::result(r), t.get(), normalizedNdim, weight.get(), bias.get(),
        eps), "layerNorm_out");
}
inline GradInputGradWeightGradBias Tensor::layerNormGrad(const Tensor &t, int normalizedNdim, const Tensor &weight,
    double eps) const {
    GradInputGradWeightGradBias r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_layerNormGrad(r.gradInput.get(), r.gradWeight.get(), r.gradBias.get(), handle_, t.get(),
        normalizedNdim, weight.get(), eps), "layerNormGrad", r.gradInput, r.gradWeight, r.gradBias);
    return r;
}
inline GradInputGradWeightGradBias layerNormGrad(const Tensor &g, const Tensor &t, int normalizedNdim,
    const Tensor &weight = {}, double eps = 0.00001) {
    return g.layerNormGrad(t, normalizedNdim, weight, eps);
}
inline void layerNormGrad_out(Out gradInput, Out gradWeight, Out gradBias, const Tensor &g, const Tensor &t,
    int normalizedNdim, const Tensor &weight = {}, double eps = 0.00001) {
    detail::check(THTensor_layerNormGrad(detail::result(gradInput), detail::result(gradWeight),
        detail::result(gradBias), g.get(), t.get(), normalizedNdim, weight.get(), eps), "layerNormGrad_out");
}
inline RLogSumExp Tensor::scaledDotProductAttention(const Generator &generator, const Tensor &key, const Tensor &value,
    const Tensor &mask, double p, bool causal, double scale, bool enableGqa) const {
    RLogSumExp r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_scaledDotProductAttention(r.r.get(), r.logSumExp.get(), nullptr, generator.get(),
        handle_, key.get(), value.get(), mask.get(), p, causal, scale, enableGqa), "scaledDotProductAttention", r.r,
        r.logSumExp);
    return r;
}
inline RLogSumExp Tensor::scaledDotProductAttention(const Tensor &key, const Tensor &value, const Tensor &mask,
    double p, bool causal, double scale, bool enableGqa) const {
    RLogSumExp r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_scaledDotProductAttention(r.r.get(), r.logSumExp.get(), nullptr, nullptr, handle_,
        key.get(), value.get(), mask.get(), p, causal, scale, enableGqa), "scaledDotProductAttention", r.r,
        r.logSumExp);
    return r;
}
inline RLogSumExp scaledDotProductAttention(const Generator &generator, const Tensor &query, const Tensor &key,
    const Tensor &value, const Tensor &mask = {}, double p = 0, bool causal = false, double scale = 0,
    bool enableGqa = false) {
    return query.scaledDotProductAttention(generator, key, value, mask, p, causal, scale, enableGqa);
}
inline RLogSumExp scaledDotProductAttention(const Tensor &query, const Tensor &key, const Tensor &value,
    const Tensor &mask = {}, double p = 0, bool causal = false, double scale = 0, bool enableGqa = false) {
    return query.scaledDotProductAttention(key, value, mask, p, causal, scale, enableGqa);
}
inline Tensor &scaledDotProductAttention_out(Tensor &r, Out logSumExp, Out seed, const Generator &generator,
    const Tensor &query, const Tensor &key, const Tensor &value, const Tensor &mask = {}, double p = 0,
    bool causal = false, double scale = 0, bool enableGqa = false) {
    return detail::into(r, THTensor_scaledDotProductAttention(detail::result(r), detail::result(logSumExp),
        detail::result(seed), generator.get(), query.get(), key.get(), value.get(), mask.get(), p, causal, scale,
        enableGqa), "scaledDotProductAttention_out");
}
inline Tensor &scaledDotProductAttention_out(Tensor &r, Out logSumExp, Out seed, const Tensor &query, const Tensor &key,
    const Tensor &value, const Tensor &mask = {}, double p = 0, bool causal = false, double scale = 0,
    bool enableGqa = false) {
    return detail::into(r, THTensor_scaledDotProductAttention(detail::result(r), detail::result(logSumExp),
        detail::result(seed), nullptr, query.get(), key.get(), value.get(), mask.get(), p, causal, scale, enableGqa),
        "scaledDotProductAttention_out");
}
inline GradQueryGradKeyGradValueGradMask Tensor::scaledDotProductAttentionGrad(const Tensor &gLogSumExp,
    const Tensor &y, const Tensor &logSumExp, const Tensor &seed, const Tensor &query, const Tensor &key,
    const Tensor &value, const Tensor &mask, double p, bool causal, double scale, bool enableGqa) const {
    GradQueryGradKeyGradValueGradMask r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{}),
        Tensor(detail::Fresh{})};
    detail::check_all(THTensor_scaledDotProductAttentionGrad(r.gradQuery.get(), r.gradKey.get(), r.gradValue.get(),
        r.gradMask.get(), handle_, gLogSumExp.get(), y.get(), logSumExp.get(), seed.get(), query.get(), key.get(),
        value.get(), mask.get(), p, causal, scale, enableGqa), "scaledDotProductAttentionGrad", r.gradQuery, r.gradKey,
        r.gradValue, r.gradMask);
    return r;
}
inline GradQueryGradKeyGradValueGradMask Tensor::scaledDotProductAttentionGrad(const Tensor &y, const Tensor &logSumExp,
    const Tensor &query, const Tensor &key, const Tensor &value, const Tensor &mask, double p, bool causal,
    double scale, bool enableGqa) const {
    GradQueryGradKeyGradValueGradMask r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{}),
        Tensor(detail::Fresh{})};
    detail::check_all(THTensor_scaledDotProductAttentionGrad(r.gradQuery.get(), r.gradKey.get(), r.gradValue.get(),
        r.gradMask.get(), handle_, nullptr, y.get(), logSumExp.get(), nullptr, query.get(), key.get(), value.get(),
        mask.get(), p, causal, scale, enableGqa), "scaledDotProductAttentionGrad", r.gradQuery, r.gradKey, r.gradValue,
        r.gradMask);
    return r;
}
inline GradQueryGradKeyGradValueGradMask scaledDotProductAttentionGrad(const Tensor &g, const Tensor &gLogSumExp,
    const Tensor &y, const Tensor &logSumExp, const Tensor &seed, const Tensor &query, const Tensor &key,
    const Tensor &value, const Tensor &mask = {}, double p = 0, bool causal = false, double scale = 0,
    bool enableGqa = false) {
    return g.scaledDotProductAttentionGrad(gLogSumExp, y, logSumExp, seed, query, key, value, mask, p, causal, scale,
        enableGqa);
}
inline GradQueryGradKeyGradValueGradMask scaledDotProductAttentionGrad(const Tensor &g, const Tensor &y,
    const Tensor &logSumExp, const Tensor &query, const Tensor &key, const Tensor &value, const Tensor &mask = {},
    double p = 0, bool causal = false, double scale = 0, bool enableGqa = false) {
    return g.scaledDotProductAttentionGrad(y, logSumExp, query, key, value, mask, p, causal, scale, enableGqa);
}
inline void scaledDotProductAttentionGrad_out(Out gradQuery, Out gradKey, Out gradValue, Out gradMask, const Tensor &g,
    const Tensor &gLogSumExp, const Tensor &y, const Tensor &logSumExp, const Tensor &seed, const Tensor &query,
    const Tensor &key, const Tensor &value, const Tensor &mask = {}, double p = 0, bool causal = false,
    double scale = 0, bool enableGqa = false) {
    detail::check(THTensor_scaledDotProductAttentionGrad(detail::result(gradQuery), detail::result(gradKey),
        detail::result(gradValue), detail::result(gradMask), g.get(), gLogSumExp.get(), y.get(), logSumExp.get(),
        seed.get(), query.get(), key.get(), value.get(), mask.get(), p, causal, scale, enableGqa),
        "scaledDotProductAttentionGrad_out");
}
inline void scaledDotProductAttentionGrad_out(Out gradQuery, Out gradKey, Out gradValue, Out gradMask, const Tensor &g,
    const Tensor &y, const Tensor &logSumExp, const Tensor &query, const Tensor &key, const Tensor &value,
    const Tensor &mask = {}, double p = 0, bool causal = false, double scale = 0, bool enableGqa = false) {
    detail::check(THTensor_scaledDotProductAttentionGrad(detail::result(gradQuery), detail::result(gradKey),
        detail::result(gradValue), detail::result(gradMask), g.get(), nullptr, y.get(), logSumExp.get(), nullptr,
        query.get(), key.get(), value.get(), mask.get(), p, causal, scale, enableGqa),
        "scaledDotProductAttentionGrad_out");
}
inline Tensor rmsNorm(const Tensor &t, int normalizedNdim, const Tensor &weight, double eps) {
    return t.rmsNorm(normalizedNdim, weight, eps);
}
inline Tensor rmsNorm(const Tensor &t, int normalizedNdim, double eps) { return t.rmsNorm(normalizedNdim, eps); }
inline Tensor &rmsNorm_out(Tensor &r, const Tensor &t, int normalizedNdim, const Tensor &weight, double eps) {
    return detail::into(r, THTensor_rmsNorm(detail::result(r), t.get(), normalizedNdim, weight.get(), eps),
        "rmsNorm_out");
}
inline Tensor &rmsNorm_out(Tensor &r, const Tensor &t, int normalizedNdim, double eps) {
    return detail::into(r, THTensor_rmsNorm(detail::result(r), t.get(), normalizedNdim, nullptr, eps), "rmsNorm_out");
}
inline GradInputGradWeight Tensor::rmsNormGrad(const Tensor &t, int normalizedNdim, const Tensor &weight,
    double eps) const {
    GradInputGradWeight r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_rmsNormGrad(r.gradInput.get(), r.gradWeight.get(), handle_, t.get(), normalizedNdim,
        weight.get(), eps), "rmsNormGrad", r.gradInput, r.gradWeight);
    return r;
}
inline GradInputGradWeight Tensor::rmsNormGrad(const Tensor &t, int normalizedNdim, double eps) const {
    GradInputGradWeight r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_rmsNormGrad(r.gradInput.get(), r.gradWeight.get(), handle_, t.get(), normalizedNdim,
        nullptr, eps), "rmsNormGrad", r.gradInput, r.gradWeight);
    return r;
}
inline GradInputGradWeight rmsNormGrad(const Tensor &g, const Tensor &t, int normalizedNdim, const Tensor &weight,
    double eps) {
    return g.rmsNormGrad(t, normalizedNdim, weight, eps);
}
inline GradInputGradWeight rmsNormGrad(const Tensor &g, const Tensor &t, int normalizedNdim, double eps) {
    return g.rmsNormGrad(t, normalizedNdim, eps);
}
inline void rmsNormGrad_out(Out gradInput, Out gradWeight, const Tensor &g, const Tensor &t, int normalizedNdim,
    const Tensor &weight, double eps) {
    detail::check(THTensor_rmsNormGrad(detail::result(gradInput), detail::result(gradWeight), g.get(), t.get(),
        normalizedNdim, weight.get(), eps), "rmsNormGrad_out");
}
inline void rmsNormGrad_out(Out gradInput, Out gradWeight, const Tensor &g, const Tensor &t, int normalizedNdim,
    double eps) {
    detail::check(THTensor_rmsNormGrad(detail::result(gradInput), detail::result(gradWeight), g.get(), t.get(),
        normalizedNdim, nullptr, eps), "rmsNormGrad_out");
}
inline Tensor groupNorm(const Tensor &t, int64_t numGroups, const Tensor &weight = {}, const Tensor &bias = {},
    double eps = 0.00001) {
    return t.groupNorm(numGroups, weight, bias, eps);
}
inline Tensor &groupNorm_out(Tensor &r, const Tensor &t, int64_t numGroups, const Tensor &weight = {},
    const Tensor &bias = {}, double eps = 0.00001) {
    return detail::into(r, THTensor_groupNorm(detail::result(r), t.get(), numGroups, weight.get(), bias.get(), eps),
        "groupNorm_out");
}
inline GradInputGradWeightGradBias Tensor::groupNormGrad(const Tensor &t, int64_t numGroups, const Tensor &weight,
    double eps) const {
    GradInputGradWeightGradBias r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_groupNormGrad(r.gradInput.get(), r.gradWeight.get(), r.gradBias.get(), handle_, t.get(),
        numGroups, weight.get(), eps), "groupNormGrad", r.gradInput, r.gradWeight, r.gradBias);
    return r;
}
inline GradInputGradWeightGradBias groupNormGrad(const Tensor &g, const Tensor &t, int64_t numGroups,
    const Tensor &weight = {}, double eps = 0.00001) {
    return g.groupNormGrad(t, numGroups, weight, eps);
}
inline void groupNormGrad_out(Out gradInput, Out gradWeight, Out gradBias, const Tensor &g, const Tensor &t,
    int64_t numGroups, const Tensor &weight = {}, double eps = 0.00001) {
    detail::check(THTensor_groupNormGrad(detail::result(gradInput), detail::result(gradWeight),
        detail::result(gradBias), g.get(), t.get(), numGroups, weight.get(), eps), "groupNormGrad_out");
}
inline Tensor instanceNorm(const Tensor &t, const Tensor &weight = {}, const Tensor &bias = {}, double eps = 0.00001) {
    return t.instanceNorm(weight, bias, eps);
}
inline Tensor &instanceNorm_out(Tensor &r, const Tensor &t, const Tensor &weight = {}, const Tensor &bias = {},
    double eps = 0.00001) {
    return detail::into(r, THTensor_instanceNorm(detail::result(r), t.get(), weight.get(), bias.get(), eps),
        "instanceNorm_out");
}
inline Tensor localResponseNorm(const Tensor &t, int64_t size, double alpha = 0.0001, double beta = 0.75,
    double k = 1) {
    return t.localResponseNorm(size, alpha, beta, k);
}
inline Tensor &localResponseNorm_out(Tensor &r, const Tensor &t, int64_t size, double alpha = 0.0001,
    double beta = 0.75, double k = 1) {
    return detail::into(r, THTensor_localResponseNorm(detail::result(r), t.get(), size, alpha, beta, k),
        "localResponseNorm_out");
}
inline Tensor nllLoss(const Tensor &t, const Tensor &target, const Tensor &weight = {},
    Reduction reduction = Reduction::Mean, int64_t ignoreIndex = -100) {
    return t.nllLoss(target, weight, reduction, ignoreIndex);
}
inline Tensor &nllLoss_out(Tensor &r, const Tensor &t, const Tensor &target, const Tensor &weight = {},
    Reduction reduction = Reduction::Mean, int64_t ignoreIndex = -100) {
    return detail::into(r, THTensor_nllLoss(detail::result(r), t.get(), target.get(), weight.get(),
        static_cast<THReduction>(reduction), ignoreIndex), "nllLoss_out");
}
inline Tensor nllLossGrad(const Tensor &g, const Tensor &t, const Tensor &target, const Tensor &weight = {},
    Reduction reduction = Reduction::Mean, int64_t ignoreIndex = -100) {
    return g.nllLossGrad(t, target, weight, reduction, ignoreIndex);
}
inline Tensor &nllLossGrad_out(Tensor &r, const Tensor &g, const Tensor &t, const Tensor &target,
    const Tensor &weight = {}, Reduction reduction = Reduction::Mean, int64_t ignoreIndex = -100) {
    return detail::into(r, THTensor_nllLossGrad(detail::result(r), g.get(), t.get(), target.get(), weight.get(),
        static_cast<THReduction>(reduction), ignoreIndex), "nllLossGrad_out");
}
inline Tensor crossEntropy(const Tensor &t, const Tensor &target, const Tensor &weight = {},
    Reduction reduction = Reduction::Mean, int64_t ignoreIndex = -100) {
    return t.crossEntropy(target, weight, reduction, ignoreIndex);
}
inline Tensor &crossEntropy_out(Tensor &r, const Tensor &t, const Tensor &target, const Tensor &weight = {},
    Reduction reduction = Reduction::Mean, int64_t ignoreIndex = -100) {
    return detail::into(r, THTensor_crossEntropy(detail::result(r), t.get(), target.get(), weight.get(),
        static_cast<THReduction>(reduction), ignoreIndex), "crossEntropy_out");
}
inline Tensor crossEntropyGrad(const Tensor &g, const Tensor &t, const Tensor &target, const Tensor &weight = {},
    Reduction reduction = Reduction::Mean, int64_t ignoreIndex = -100) {
    return g.crossEntropyGrad(t, target, weight, reduction, ignoreIndex);
}
inline Tensor &crossEntropyGrad_out(Tensor &r, const Tensor &g, const Tensor &t, const Tensor &target,
    const Tensor &weight = {}, Reduction reduction = Reduction::Mean, int64_t ignoreIndex = -100) {
    return detail::into(r, THTensor_crossEntropyGrad(detail::result(r), g.get(), t.get(), target.get(), weight.get(),
        static_cast<THReduction>(reduction), ignoreIndex), "crossEntropyGrad_out");
}
inline Tensor crossEntropyLabelSmoothing(const Tensor &t, const Tensor &target, const Tensor &weight = {},
    Reduction reduction = Reduction::Mean, int64_t ignoreIndex = -100, double smoothing = 0) {
    return t.crossEntropyLabelSmoothing(target, weight, reduction, ignoreIndex, smoothing);
}
inline Tensor &crossEntropyLabelSmoothing_out(Tensor &r, const Tensor &t, const Tensor &target,
    const Tensor &weight = {}, Reduction reduction = Reduction::Mean, int64_t ignoreIndex = -100,
    double smoothing = 0) {
    return detail::into(r, THTensor_crossEntropyLabelSmoothing(detail::result(r), t.get(), target.get(), weight.get(),
        static_cast<THReduction>(reduction), ignoreIndex, smoothing), "crossEntropyLabelSmoothing_out");
}
inline Tensor mseLoss(const Tensor &t, const Tensor &target, Reduction reduction = Reduction::Mean) {
    return t.mseLoss(target, reduction);
}
inline Tensor &mseLoss_out(Tensor &r, const Tensor &t, const Tensor &target, Reduction reduction = Reduction::Mean) {
    return detail::into(r, THTensor_mseLoss(detail::result(r), t.get(), target.get(),
        static_cast<THReduction>(reduction)), "mseLoss_out");
}
inline Tensor l1Loss(const Tensor &t, const Tensor &target, Reduction reduction = Reduction::Mean) {
    return t.l1Loss(target, reduction);
}
inline Tensor &l1Loss_out(Tensor &r, const Tensor &t, const Tensor &target, Reduction reduction = Reduction::Mean) {
    return detail::into(r, THTensor_l1Loss(detail::result(r), t.get(), target.get(),
        static_cast<THReduction>(reduction)), "l1Loss_out");
}
inline Tensor smoothL1Loss(const Tensor &t, const Tensor &target, Reduction reduction = Reduction::Mean,
    double beta = 1) {
    return t.smoothL1Loss(target, reduction, beta);
}
inline Tensor &smoothL1Loss_out(Tensor &r, const Tensor &t, const Tensor &target, Reduction reduction = Reduction::Mean,
    double beta = 1) {
    return detail::into(r, THTensor_smoothL1Loss(detail::result(r), t.get(), target.get(),
        static_cast<THReduction>(reduction), beta), "smoothL1Loss_out");
}
inline Tensor huberLoss(const Tensor &t, const Tensor &target, Reduction reduction = Reduction::Mean,
    double delta = 1) {
    return t.huberLoss(target, reduction, delta);
}
inline Tensor &huberLoss_out(Tensor &r, const Tensor &t, const Tensor &target, Reduction reduction = Reduction::Mean,
    double delta = 1) {
    return detail::into(r, THTensor_huberLoss(detail::result(r), t.get(), target.get(),
        static_cast<THReduction>(reduction), delta), "huberLoss_out");
}
inline Tensor bceWithLogits(const Tensor &t, const Tensor &target, const Tensor &weight = {},
    const Tensor &posWeight = {}, Reduction reduction = Reduction::Mean) {
    return t.bceWithLogits(target, weight, posWeight, reduction);
}
inline Tensor &bceWithLogits_out(Tensor &r, const Tensor &t, const Tensor &target, const Tensor &weight = {},
    const Tensor &posWeight = {}, Reduction reduction = Reduction::Mean) {
    return detail::into(r, THTensor_bceWithLogits(detail::result(r), t.get(), target.get(), weight.get(),
        posWeight.get(), static_cast<THReduction>(reduction)), "bceWithLogits_out");
}
inline Tensor binaryCrossEntropyWithLogits(const Tensor &t, const Tensor &target, const Tensor &weight = {},
    const Tensor &posWeight = {}, Reduction reduction = Reduction::Mean) {
    return t.binaryCrossEntropyWithLogits(target, weight, posWeight, reduction);
}
inline Tensor klDiv(const Tensor &t, const Tensor &target, bool logTarget = false,
    Reduction reduction = Reduction::Mean) {
    return t.klDiv(target, logTarget, reduction);
}
inline Tensor &klDiv_out(Tensor &r, const Tensor &t, const Tensor &target, bool logTarget = false,
    Reduction reduction = Reduction::Mean) {
    return detail::into(r, THTensor_klDiv(detail::result(r), t.get(), target.get(), logTarget,
        static_cast<THReduction>(reduction)), "klDiv_out");
}
inline Tensor bce(const Tensor &t, const Tensor &target, const Tensor &weight = {},
    Reduction reduction = Reduction::Mean) {
    return t.bce(target, weight, reduction);
}
inline Tensor &bce_out(Tensor &r, const Tensor &t, const Tensor &target, const Tensor &weight = {},
    Reduction reduction = Reduction::Mean) {
    return detail::into(r, THTensor_bce(detail::result(r), t.get(), target.get(), weight.get(),
        static_cast<THReduction>(reduction)), "bce_out");
}
inline Tensor binaryCrossEntropy(const Tensor &t, const Tensor &target, const Tensor &weight = {},
    Reduction reduction = Reduction::Mean) {
    return t.binaryCrossEntropy(target, weight, reduction);
}
inline Tensor poissonNllLoss(const Tensor &t, const Tensor &target, bool logInput = true, bool full = false,
    double eps = 1e-8, Reduction reduction = Reduction::Mean) {
    return t.poissonNllLoss(target, logInput, full, eps, reduction);
}
inline Tensor &poissonNllLoss_out(Tensor &r, const Tensor &t, const Tensor &target, bool logInput = true,
    bool full = false, double eps = 1e-8, Reduction reduction = Reduction::Mean) {
    return detail::into(r, THTensor_poissonNllLoss(detail::result(r), t.get(), target.get(), logInput, full, eps,
        static_cast<THReduction>(reduction)), "poissonNllLoss_out");
}
inline Tensor gaussianNllLoss(const Tensor &t, const Tensor &target, const Tensor &variance, bool full = false,
    double eps = 1e-6, Reduction reduction = Reduction::Mean) {
    return t.gaussianNllLoss(target, variance, full, eps, reduction);
}
inline Tensor &gaussianNllLoss_out(Tensor &r, const Tensor &t, const Tensor &target, const Tensor &variance,
    bool full = false, double eps = 1e-6, Reduction reduction = Reduction::Mean) {
    return detail::into(r, THTensor_gaussianNllLoss(detail::result(r), t.get(), target.get(), variance.get(), full, eps,
        static_cast<THReduction>(reduction)), "gaussianNllLoss_out");
}
inline Tensor ctcLoss(const Tensor &logProbs, const Tensor &targets, const Tensor &inputLengths,
    const Tensor &targetLengths, int64_t blank, Reduction reduction, bool zeroInfinity) {
    return logProbs.ctcLoss(targets, inputLengths, targetLengths, blank, reduction, zeroInfinity);
}
inline Tensor ctcLoss(const Tensor &logProbs, const Tensor &targets, const Tensor &inputLengths,
    const Tensor &targetLengths, int64_t blank, bool zeroInfinity) {
    return logProbs.ctcLoss(targets, inputLengths, targetLengths, blank, zeroInfinity);
}
inline Tensor &ctcLoss_out(Tensor &r, const Tensor &logProbs, const Tensor &targets, const Tensor &inputLengths,
    const Tensor &targetLengths, int64_t blank, Reduction reduction, bool zeroInfinity) {
    return detail::into(r, THTensor_ctcLoss(detail::result(r), logProbs.get(), targets.get(), inputLengths.get(),
        targetLengths.get(), blank, static_cast<THReduction>(reduction), zeroInfinity), "ctcLoss_out");
}
inline Tensor &ctcLoss_out(Tensor &r, const Tensor &logProbs, const Tensor &targets, const Tensor &inputLengths,
    const Tensor &targetLengths, int64_t blank, bool zeroInfinity) {
    return detail::into(r, THTensor_ctcLoss(detail::result(r), logProbs.get(), targets.get(), inputLengths.get(),
        targetLengths.get(), blank, static_cast<THReduction>(Reduction::Mean), zeroInfinity), "ctcLoss_out");
}
inline Tensor ctcLossGrad(const Tensor &g, const Tensor &logProbs, const Tensor &targets, const Tensor &inputLengths,
    const Tensor &targetLengths, int64_t blank, Reduction reduction, bool zeroInfinity) {
    return g.ctcLossGrad(logProbs, targets, inputLengths, targetLengths, blank, reduction, zeroInfinity);
}
inline Tensor ctcLossGrad(const Tensor &g, const Tensor &logProbs, const Tensor &targets, const Tensor &inputLengths,
    const Tensor &targetLengths, int64_t blank, bool zeroInfinity) {
    return g.ctcLossGrad(logProbs, targets, inputLengths, targetLengths, blank, zeroInfinity);
}
inline Tensor &ctcLossGrad_out(Tensor &r, const Tensor &g, const Tensor &logProbs, const Tensor &targets,
    const Tensor &inputLengths, const Tensor &targetLengths, int64_t blank, Reduction reduction, bool zeroInfinity) {
    return detail::into(r, THTensor_ctcLossGrad(detail::result(r), g.get(), logProbs.get(), targets.get(),
        inputLengths.get(), targetLengths.get(), blank, static_cast<THReduction>(reduction), zeroInfinity),
        "ctcLossGrad_out");
}
inline Tensor &ctcLossGrad_out(Tensor &r, const Tensor &g, const Tensor &logProbs, const Tensor &targets,
    const Tensor &inputLengths, const Tensor &targetLengths, int64_t blank, bool zeroInfinity) {
    return detail::into(r, THTensor_ctcLossGrad(detail::result(r), g.get(), logProbs.get(), targets.get(),
        inputLengths.get(), targetLengths.get(), blank, static_cast<THReduction>(Reduction::Mean), zeroInfinity),
        "ctcLossGrad_out");
}
inline Tensor marginRankingLoss(const Tensor &a, const Tensor &b, const Tensor &target, double margin = 0,
    Reduction reduction = Reduction::Mean) {
    return a.marginRankingLoss(b, target, margin, reduction);
}
inline Tensor &marginRankingLoss_out(Tensor &r, const Tensor &a, const Tensor &b, const Tensor &target,
    double margin = 0, Reduction reduction = Reduction::Mean) {
    return detail::into(r, THTensor_marginRankingLoss(detail::result(r), a.get(), b.get(), target.get(), margin,
        static_cast<THReduction>(reduction)), "marginRankingLoss_out");
}
inline Tensor cosineSimilarity(const Tensor &a, const Tensor &b, int dimension = 1, double eps = 1e-8) {
    return a.cosineSimilarity(b, dimension, eps);
}
inline Tensor &cosineSimilarity_out(Tensor &r, const Tensor &a, const Tensor &b, int dimension = 1,
    double eps = 1e-8) {
    return detail::into(r, THTensor_cosineSimilarity(detail::result(r), a.get(), b.get(), dimension, eps),
        "cosineSimilarity_out");
}
inline Tensor pairwiseDistance(const Tensor &a, const Tensor &b, double value = 2, double eps = 1e-6,
    bool keepdim = false) {
    return a.pairwiseDistance(b, value, eps, keepdim);
}
inline Tensor &pairwiseDistance_out(Tensor &r, const Tensor &a, const Tensor &b, double value = 2, double eps = 1e-6,
    bool keepdim = false) {
    return detail::into(r, THTensor_pairwiseDistance(detail::result(r), a.get(), b.get(), value, eps, keepdim),
        "pairwiseDistance_out");
}
inline Tensor cosineEmbeddingLoss(const Tensor &a, const Tensor &b, const Tensor &target, double margin = 0,
    Reduction reduction = Reduction::Mean) {
    return a.cosineEmbeddingLoss(b, target, margin, reduction);
}
inline Tensor &cosineEmbeddingLoss_out(Tensor &r, const Tensor &a, const Tensor &b, const Tensor &target,
    double margin = 0, Reduction reduction = Reduction::Mean) {
    return detail::into(r, THTensor_cosineEmbeddingLoss(detail::result(r), a.get(), b.get(), target.get(), margin,
        static_cast<THReduction>(reduction)), "cosineEmbeddingLoss_out");
}
inline Tensor tripletMarginLoss(const Tensor &anchor, const Tensor &positive, const Tensor &negative, double margin = 1,
    double value = 2, double eps = 1e-6, bool swap = false, Reduction reduction = Reduction::Mean) {
    return anchor.tripletMarginLoss(positive, negative, margin, value, eps, swap, reduction);
}
inline Tensor &tripletMarginLoss_out(Tensor &r, const Tensor &anchor, const Tensor &positive, const Tensor &negative,
    double margin = 1, double value = 2, double eps = 1e-6, bool swap = false, Reduction reduction = Reduction::Mean) {
    return detail::into(r, THTensor_tripletMarginLoss(detail::result(r), anchor.get(), positive.get(), negative.get(),
        margin, value, eps, swap, static_cast<THReduction>(reduction)), "tripletMarginLoss_out");
}
inline RMeanInvstd Tensor::batchNorm(const Tensor &weight, const Tensor &bias, const Tensor &runningMean,
    const Tensor &runningVar, bool training, double momentum, double eps) const {
    RMeanInvstd r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_batchNorm(r.r.get(), r.mean.get(), r.invstd.get(), handle_, weight.get(), bias.get(),
        runningMean.get(), runningVar.get(), training, momentum, eps), "batchNorm", r.r, r.mean, r.invstd);
    return r;
}
inline RMeanInvstd batchNorm(const Tensor &t, const Tensor &weight = {}, const Tensor &bias = {},
    const Tensor &runningMean = {}, const Tensor &runningVar = {}, bool training = false, double momentum = 0.1,
    double eps = 0.00001) {
    return t.batchNorm(weight, bias, runningMean, runningVar, training, momentum, eps);
}
inline Tensor &batchNorm_out(Tensor &r, Out mean, Out invstd, const Tensor &t, const Tensor &weight = {},
    const Tensor &bias = {}, const Tensor &runningMean = {}, const Tensor &runningVar = {}, bool training = false,
    double momentum = 0.1, double eps = 0.00001) {
    return detail::into(r, THTensor_batchNorm(detail::result(r), detail::result(mean), detail::result(invstd), t.get(),
        weight.get(), bias.get(), runningMean.get(), runningVar.get(), training, momentum, eps), "batchNorm_out");
}
inline Tensor embedding(const Tensor &weight, const Tensor &index, int64_t paddingIdx = -1) {
    return weight.embedding(index, paddingIdx);
}
inline Tensor &embedding_out(Tensor &r, const Tensor &weight, const Tensor &index, int64_t paddingIdx = -1) {
    return detail::into(r, THTensor_embedding(detail::result(r), weight.get(), index.get(), paddingIdx),
        "embedding_out");
}
inline Tensor embeddingBag(const Tensor &weight, const Tensor &index, const Tensor &offsets = {},
    BagMode mode = BagMode::Mean, const Tensor &perSampleWeights = {}, int64_t paddingIdx = -1) {
    return weight.embeddingBag(index, offsets, mode, perSampleWeights, paddingIdx);
}
inline Tensor &embeddingBag_out(Tensor &r, const Tensor &weight, const Tensor &index, const Tensor &offsets = {},
    BagMode mode = BagMode::Mean, const Tensor &perSampleWeights = {}, int64_t paddingIdx = -1) {
    return detail::into(r, THTensor_embeddingBag(detail::result(r), weight.get(), index.get(), offsets.get(),
        static_cast<THBagMode>(mode), perSampleWeights.get(), paddingIdx), "embeddingBag_out");
}
inline Tensor reluGrad(const Tensor &g, const Tensor &t) { return g.reluGrad(t); }
inline Tensor &reluGrad_out(Tensor &r, const Tensor &g, const Tensor &t) {
    return detail::into(r, THTensor_reluGrad(detail::result(r), g.get(), t.get()), "reluGrad_out");
}
inline Tensor leakyReluGrad(const Tensor &g, const Tensor &t, double value = 0.01) { return g.leakyReluGrad(t, value); }
inline Tensor &leakyReluGrad_out(Tensor &r, const Tensor &g, const Tensor &t, double value = 0.01) {
    return detail::into(r, THTensor_leakyReluGrad(detail::result(r), g.get(), t.get(), value), "leakyReluGrad_out");
}
inline Tensor hardtanhGrad(const Tensor &g, const Tensor &t, double minimum = -1, double maximum = 1) {
    return g.hardtanhGrad(t, minimum, maximum);
}
inline Tensor &hardtanhGrad_out(Tensor &r, const Tensor &g, const Tensor &t, double minimum = -1, double maximum = 1) {
    return detail::into(r, THTensor_hardtanhGrad(detail::result(r), g.get(), t.get(), minimum, maximum),
        "hardtanhGrad_out");
}
inline Tensor eluGrad(const Tensor &g, const Tensor &t, double value = 1) { return g.eluGrad(t, value); }
inline Tensor &eluGrad_out(Tensor &r, const Tensor &g, const Tensor &t, double value = 1) {
    return detail::into(r, THTensor_eluGrad(detail::result(r), g.get(), t.get(), value), "eluGrad_out");
}
inline Tensor softplusGrad(const Tensor &g, const Tensor &t, double beta = 1, double threshold = 20) {
    return g.softplusGrad(t, beta, threshold);
}
inline Tensor &softplusGrad_out(Tensor &r, const Tensor &g, const Tensor &t, double beta = 1, double threshold = 20) {
    return detail::into(r, THTensor_softplusGrad(detail::result(r), g.get(), t.get(), beta, threshold),
        "softplusGrad_out");
}
inline Tensor sigmoidGrad(const Tensor &g, const Tensor &y) { return g.sigmoidGrad(y); }
inline Tensor &sigmoidGrad_out(Tensor &r, const Tensor &g, const Tensor &y) {
    return detail::into(r, THTensor_sigmoidGrad(detail::result(r), g.get(), y.get()), "sigmoidGrad_out");
}
inline Tensor tanhGrad(const Tensor &g, const Tensor &y) { return g.tanhGrad(y); }
inline Tensor &tanhGrad_out(Tensor &r, const Tensor &g, const Tensor &y) {
    return detail::into(r, THTensor_tanhGrad(detail::result(r), g.get(), y.get()), "tanhGrad_out");
}
inline Tensor geluGrad(const Tensor &g, const Tensor &t) { return g.geluGrad(t); }
inline Tensor &geluGrad_out(Tensor &r, const Tensor &g, const Tensor &t) {
    return detail::into(r, THTensor_geluGrad(detail::result(r), g.get(), t.get()), "geluGrad_out");
}
inline Tensor geluTanhGrad(const Tensor &g, const Tensor &t) { return g.geluTanhGrad(t); }
inline Tensor &geluTanhGrad_out(Tensor &r, const Tensor &g, const Tensor &t) {
    return detail::into(r, THTensor_geluTanhGrad(detail::result(r), g.get(), t.get()), "geluTanhGrad_out");
}
inline Tensor siluGrad(const Tensor &g, const Tensor &t) { return g.siluGrad(t); }
inline Tensor &siluGrad_out(Tensor &r, const Tensor &g, const Tensor &t) {
    return detail::into(r, THTensor_siluGrad(detail::result(r), g.get(), t.get()), "siluGrad_out");
}
inline Tensor hardswishGrad(const Tensor &g, const Tensor &t) { return g.hardswishGrad(t); }
inline Tensor &hardswishGrad_out(Tensor &r, const Tensor &g, const Tensor &t) {
    return detail::into(r, THTensor_hardswishGrad(detail::result(r), g.get(), t.get()), "hardswishGrad_out");
}

// --------------------------------------------------------------------------------------------------- Recurrent layers

inline OutputHnCnReserve Tensor::lstm(const Tensor &h0, const Tensor &c0, TensorList weights, const Tensor &lengths,
    int layers, bool bidirectional, bool batchFirst) const {
    OutputHnCnReserve r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{}),
        Tensor(detail::Fresh{})};
    detail::check_all(THTensor_lstm(r.output.get(), r.hn.get(), r.cn.get(), r.reserve.get(), handle_, h0.get(),
        c0.get(), weights.data(), weights.count(), lengths.get(), layers, bidirectional, batchFirst), "lstm", r.output,
        r.hn, r.cn, r.reserve);
    return r;
}
inline OutputHnCnReserve Tensor::lstm(TensorList weights, const Tensor &lengths, int layers, bool bidirectional,
    bool batchFirst) const {
    OutputHnCnReserve r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{}),
        Tensor(detail::Fresh{})};
    detail::check_all(THTensor_lstm(r.output.get(), r.hn.get(), r.cn.get(), r.reserve.get(), handle_, nullptr, nullptr,
        weights.data(), weights.count(), lengths.get(), layers, bidirectional, batchFirst), "lstm", r.output, r.hn,
        r.cn, r.reserve);
    return r;
}
inline OutputHnCnReserve lstm(const Tensor &x, const Tensor &h0, const Tensor &c0, TensorList weights,
    const Tensor &lengths = {}, int layers = 1, bool bidirectional = false, bool batchFirst = false) {
    return x.lstm(h0, c0, weights, lengths, layers, bidirectional, batchFirst);
}
inline OutputHnCnReserve lstm(const Tensor &x, TensorList weights, const Tensor &lengths = {}, int layers = 1,
    bool bidirectional = false, bool batchFirst = false) {
    return x.lstm(weights, lengths, layers, bidirectional, batchFirst);
}
inline Tensor &lstm_out(Tensor &output, Out hn, Out cn, Out reserve, const Tensor &x, const Tensor &h0,
    const Tensor &c0, TensorList weights, const Tensor &lengths = {}, int layers = 1, bool bidirectional = false,
    bool batchFirst = false) {
    return detail::into(output, THTensor_lstm(detail::result(output), detail::result(hn), detail::result(cn),
        detail::result(reserve), x.get(), h0.get(), c0.get(), weights.data(), weights.count(), lengths.get(), layers,
        bidirectional, batchFirst), "lstm_out");
}
inline Tensor &lstm_out(Tensor &output, Out hn, Out cn, Out reserve, const Tensor &x, TensorList weights,
    const Tensor &lengths = {}, int layers = 1, bool bidirectional = false, bool batchFirst = false) {
    return detail::into(output, THTensor_lstm(detail::result(output), detail::result(hn), detail::result(cn),
        detail::result(reserve), x.get(), nullptr, nullptr, weights.data(), weights.count(), lengths.get(), layers,
        bidirectional, batchFirst), "lstm_out");
}
inline GradXGradH0GradC0GradWeights Tensor::lstmGrad(const Tensor &gOutput, const Tensor &gHn, const Tensor &gCn,
    const Tensor &x, const Tensor &h0, const Tensor &c0, TensorList weights, const Tensor &lengths, int layers,
    bool bidirectional, bool batchFirst) const {
    GradXGradH0GradC0GradWeights r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{}),
        Tensor(detail::Fresh{})};
    detail::check_all(THTensor_lstmGrad(r.gradX.get(), r.gradH0.get(), r.gradC0.get(), r.gradWeights.get(), handle_,
        gOutput.get(), gHn.get(), gCn.get(), x.get(), h0.get(), c0.get(), weights.data(), weights.count(),
        lengths.get(), layers, bidirectional, batchFirst), "lstmGrad", r.gradX, r.gradH0, r.gradC0, r.gradWeights);
    return r;
}
inline GradXGradH0GradC0GradWeights Tensor::lstmGrad(const Tensor &x, TensorList weights, const Tensor &lengths,
    int layers, bool bidirectional, bool batchFirst) const {
    GradXGradH0GradC0GradWeights r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{}),
        Tensor(detail::Fresh{})};
    detail::check_all(THTensor_lstmGrad(r.gradX.get(), r.gradH0.get(), r.gradC0.get(), r.gradWeights.get(), handle_,
        nullptr, nullptr, nullptr, x.get(), nullptr, nullptr, weights.data(), weights.count(), lengths.get(), layers,
        bidirectional, batchFirst), "lstmGrad", r.gradX, r.gradH0, r.gradC0, r.gradWeights);
    return r;
}
inline GradXGradH0GradC0GradWeights lstmGrad(const Tensor &reserve, const Tensor &gOutput, const Tensor &gHn,
    const Tensor &gCn, const Tensor &x, const Tensor &h0, const Tensor &c0, TensorList weights,
    const Tensor &lengths = {}, int layers = 1, bool bidirectional = false, bool batchFirst = false) {
    return reserve.lstmGrad(gOutput, gHn, gCn, x, h0, c0, weights, lengths, layers, bidirectional, batchFirst);
}
inline GradXGradH0GradC0GradWeights lstmGrad(const Tensor &reserve, const Tensor &x, TensorList weights,
    const Tensor &lengths = {}, int layers = 1, bool bidirectional = false, bool batchFirst = false) {
    return reserve.lstmGrad(x, weights, lengths, layers, bidirectional, batchFirst);
}
inline void lstmGrad_out(Out gradX, Out gradH0, Out gradC0, Out gradWeights, const Tensor &reserve,
    const Tensor &gOutput, const Tensor &gHn, const Tensor &gCn, const Tensor &x, const Tensor &h0, const Tensor &c0,
    TensorList weights, const Tensor &lengths = {}, int layers = 1, bool bidirectional = false,
    bool batchFirst = false) {
    detail::check(THTensor_lstmGrad(detail::result(gradX), detail::result(gradH0), detail::result(gradC0),
        detail::result(gradWeights), reserve.get(), gOutput.get(), gHn.get(), gCn.get(), x.get(), h0.get(), c0.get(),
        weights.data(), weights.count(), lengths.get(), layers, bidirectional, batchFirst), "lstmGrad_out");
}
inline void lstmGrad_out(Out gradX, Out gradH0, Out gradC0, Out gradWeights, const Tensor &reserve, const Tensor &x,
    TensorList weights, const Tensor &lengths = {}, int layers = 1, bool bidirectional = false,
    bool batchFirst = false) {
    detail::check(THTensor_lstmGrad(detail::result(gradX), detail::result(gradH0), detail::result(gradC0),
        detail::result(gradWeights), reserve.get(), nullptr, nullptr, nullptr, x.get(), nullptr, nullptr,
        weights.data(), weights.count(), lengths.get(), layers, bidirectional, batchFirst), "lstmGrad_out");
}
inline HnCnReserve Tensor::lstmCell(const Tensor &h, const Tensor &c, const Tensor &wih, const Tensor &whh,
    const Tensor &bih, const Tensor &bhh) const {
    HnCnReserve r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_lstmCell(r.hn.get(), r.cn.get(), r.reserve.get(), handle_, h.get(), c.get(), wih.get(),
        whh.get(), bih.get(), bhh.get()), "lstmCell", r.hn, r.cn, r.reserve);
    return r;
}
inline HnCnReserve lstmCell(const Tensor &x, const Tensor &h, const Tensor &c, const Tensor &wih, const Tensor &whh,
    const Tensor &bih = {}, const Tensor &bhh = {}) {
    return x.lstmCell(h, c, wih, whh, bih, bhh);
}
inline Tensor &lstmCell_out(Tensor &hn, Out cn, Out reserve, const Tensor &x, const Tensor &h, const Tensor &c,
    const Tensor &wih, const Tensor &whh, const Tensor &bih = {}, const Tensor &bhh = {}) {
    return detail::into(hn, THTensor_lstmCell(detail::result(hn), detail::result(cn), detail::result(reserve), x.get(),
        h.get(), c.get(), wih.get(), whh.get(), bih.get(), bhh.get()), "lstmCell_out");
}
inline OutputHnReserve Tensor::gru(const Tensor &h0, TensorList weights, const Tensor &lengths, int layers,
    bool bidirectional, bool batchFirst) const {
    OutputHnReserve r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_gru(r.output.get(), r.hn.get(), r.reserve.get(), handle_, h0.get(), weights.data(),
        weights.count(), lengths.get(), layers, bidirectional, batchFirst), "gru", r.output, r.hn, r.reserve);
    return r;
}
inline OutputHnReserve Tensor::gru(TensorList weights, const Tensor &lengths, int layers, bool bidirectional,
    bool batchFirst) const {
    OutputHnReserve r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_gru(r.output.get(), r.hn.get(), r.reserve.get(), handle_, nullptr, weights.data(),
        weights.count(), lengths.get(), layers, bidirectional, batchFirst), "gru", r.output, r.hn, r.reserve);
    return r;
}
inline OutputHnReserve gru(const Tensor &x, const Tensor &h0, TensorList weights, const Tensor &lengths = {},
    int layers = 1, bool bidirectional = false, bool batchFirst = false) {
    return x.gru(h0, weights, lengths, layers, bidirectional, batchFirst);
}
inline OutputHnReserve gru(const Tensor &x, TensorList weights, const Tensor &lengths = {}, int layers = 1,
    bool bidirectional = false, bool batchFirst = false) {
    return x.gru(weights, lengths, layers, bidirectional, batchFirst);
}
inline Tensor &gru_out(Tensor &output, Out hn, Out reserve, const Tensor &x, const Tensor &h0, TensorList weights,
    const Tensor &lengths = {}, int layers = 1, bool bidirectional = false, bool batchFirst = false) {
    return detail::into(output, THTensor_gru(detail::result(output), detail::result(hn), detail::result(reserve),
        x.get(), h0.get(), weights.data(), weights.count(), lengths.get(), layers, bidirectional, batchFirst),
        "gru_out");
}
inline Tensor &gru_out(Tensor &output, Out hn, Out reserve, const Tensor &x, TensorList weights,
    const Tensor &lengths = {}, int layers = 1, bool bidirectional = false, bool batchFirst = false) {
    return detail::into(output, THTensor_gru(detail::result(output), detail::result(hn), detail::result(reserve),
        x.get(), nullptr, weights.data(), weights.count(), lengths.get(), layers, bidirectional, batchFirst),
        "gru_out");
}
inline GradXGradH0GradWeights Tensor::gruGrad(const Tensor &gOutput, const Tensor &gHn, const Tensor &x,
    const Tensor &h0, TensorList weights, const Tensor &lengths, int layers, bool bidirectional,
    bool batchFirst) const {
    GradXGradH0GradWeights r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_gruGrad(r.gradX.get(), r.gradH0.get(), r.gradWeights.get(), handle_, gOutput.get(),
        gHn.get(), x.get(), h0.get(), weights.data(), weights.count(), lengths.get(), layers, bidirectional,
        batchFirst), "gruGrad", r.gradX, r.gradH0, r.gradWeights);
    return r;
}
inline GradXGradH0GradWeights Tensor::gruGrad(const Tensor &x, TensorList weights, const Tensor &lengths, int layers,
    bool bidirectional, bool batchFirst) const {
    GradXGradH0GradWeights r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_gruGrad(r.gradX.get(), r.gradH0.get(), r.gradWeights.get(), handle_, nullptr, nullptr,
        x.get(), nullptr, weights.data(), weights.count(), lengths.get(), layers, bidirectional, batchFirst), "gruGrad",
        r.gradX, r.gradH0, r.gradWeights);
    return r;
}
inline GradXGradH0GradWeights gruGrad(const Tensor &reserve, const Tensor &gOutput, const Tensor &gHn, const Tensor &x,
    const Tensor &h0, TensorList weights, const Tensor &lengths = {}, int layers = 1, bool bidirectional = false,
    bool batchFirst = false) {
    return reserve.gruGrad(gOutput, gHn, x, h0, weights, lengths, layers, bidirectional, batchFirst);
}
inline GradXGradH0GradWeights gruGrad(const Tensor &reserve, const Tensor &x, TensorList weights,
    const Tensor &lengths = {}, int layers = 1, bool bidirectional = false, bool batchFirst = false) {
    return reserve.gruGrad(x, weights, lengths, layers, bidirectional, batchFirst);
}
inline void gruGrad_out(Out gradX, Out gradH0, Out gradWeights, const Tensor &reserve, const Tensor &gOutput,
    const Tensor &gHn, const Tensor &x, const Tensor &h0, TensorList weights, const Tensor &lengths = {},
    int layers = 1, bool bidirectional = false, bool batchFirst = false) {
    detail::check(THTensor_gruGrad(detail::result(gradX), detail::result(gradH0), detail::result(gradWeights),
        reserve.get(), gOutput.get(), gHn.get(), x.get(), h0.get(), weights.data(), weights.count(), lengths.get(),
        layers, bidirectional, batchFirst), "gruGrad_out");
}
inline void gruGrad_out(Out gradX, Out gradH0, Out gradWeights, const Tensor &reserve, const Tensor &x,
    TensorList weights, const Tensor &lengths = {}, int layers = 1, bool bidirectional = false,
    bool batchFirst = false) {
    detail::check(THTensor_gruGrad(detail::result(gradX), detail::result(gradH0), detail::result(gradWeights),
        reserve.get(), nullptr, nullptr, x.get(), nullptr, weights.data(), weights.count(), lengths.get(), layers,
        bidirectional, batchFirst), "gruGrad_out");
}
inline HnReserve Tensor::gruCell(const Tensor &h, const Tensor &wih, const Tensor &whh, const Tensor &bih,
    const Tensor &bhh) const {
    HnReserve r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_gruCell(r.hn.get(), r.reserve.get(), handle_, h.get(), wih.get(), whh.get(), bih.get(),
        bhh.get()), "gruCell", r.hn, r.reserve);
    return r;
}
inline HnReserve gruCell(const Tensor &x, const Tensor &h, const Tensor &wih, const Tensor &whh, const Tensor &bih = {},
    const Tensor &bhh = {}) {
    return x.gruCell(h, wih, whh, bih, bhh);
}
inline Tensor &gruCell_out(Tensor &hn, Out reserve, const Tensor &x, const Tensor &h, const Tensor &wih,
    const Tensor &whh, const Tensor &bih = {}, const Tensor &bhh = {}) {
    return detail::into(hn, THTensor_gruCell(detail::result(hn), detail::result(reserve), x.get(), h.get(), wih.get(),
        whh.get(), bih.get(), bhh.get()), "gruCell_out");
}
inline OutputHnReserve Tensor::rnn(const Tensor &h0, TensorList weights, const Tensor &lengths, int layers,
    bool bidirectional, bool batchFirst, bool relu) const {
    OutputHnReserve r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_rnn(r.output.get(), r.hn.get(), r.reserve.get(), handle_, h0.get(), weights.data(),
        weights.count(), lengths.get(), layers, bidirectional, batchFirst, relu), "rnn", r.output, r.hn, r.reserve);
    return r;
}
inline OutputHnReserve Tensor::rnn(TensorList weights, const Tensor &lengths, int layers, bool bidirectional,
    bool batchFirst, bool relu) const {
    OutputHnReserve r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_rnn(r.output.get(), r.hn.get(), r.reserve.get(), handle_, nullptr, weights.data(),
        weights.count(), lengths.get(), layers, bidirectional, batchFirst, relu), "rnn", r.output, r.hn, r.reserve);
    return r;
}
inline OutputHnReserve rnn(const Tensor &x, const Tensor &h0, TensorList weights, const Tensor &lengths = {},
    int layers = 1, bool bidirectional = false, bool batchFirst = false, bool relu = false) {
    return x.rnn(h0, weights, lengths, layers, bidirectional, batchFirst, relu);
}
inline OutputHnReserve rnn(const Tensor &x, TensorList weights, const Tensor &lengths = {}, int layers = 1,
    bool bidirectional = false, bool batchFirst = false, bool relu = false) {
    return x.rnn(weights, lengths, layers, bidirectional, batchFirst, relu);
}
inline Tensor &rnn_out(Tensor &output, Out hn, Out reserve, const Tensor &x, const Tensor &h0, TensorList weights,
    const Tensor &lengths = {}, int layers = 1, bool bidirectional = false, bool batchFirst = false,
    bool relu = false) {
    return detail::into(output, THTensor_rnn(detail::result(output), detail::result(hn), detail::result(reserve),
        x.get(), h0.get(), weights.data(), weights.count(), lengths.get(), layers, bidirectional, batchFirst, relu),
        "rnn_out");
}
inline Tensor &rnn_out(Tensor &output, Out hn, Out reserve, const Tensor &x, TensorList weights,
    const Tensor &lengths = {}, int layers = 1, bool bidirectional = false, bool batchFirst = false,
    bool relu = false) {
    return detail::into(output, THTensor_rnn(detail::result(output), detail::result(hn), detail::result(reserve),
        x.get(), nullptr, weights.data(), weights.count(), lengths.get(), layers, bidirectional, batchFirst, relu),
        "rnn_out");
}
inline GradXGradH0GradWeights Tensor::rnnGrad(const Tensor &gOutput, const Tensor &gHn, const Tensor &x,
    const Tensor &h0, TensorList weights, const Tensor &lengths, int layers, bool bidirectional, bool batchFirst,
    bool relu) const {
    GradXGradH0GradWeights r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_rnnGrad(r.gradX.get(), r.gradH0.get(), r.gradWeights.get(), handle_, gOutput.get(),
        gHn.get(), x.get(), h0.get(), weights.data(), weights.count(), lengths.get(), layers, bidirectional, batchFirst,
        relu), "rnnGrad", r.gradX, r.gradH0, r.gradWeights);
    return r;
}
inline GradXGradH0GradWeights Tensor::rnnGrad(const Tensor &x, TensorList weights, const Tensor &lengths, int layers,
    bool bidirectional, bool batchFirst, bool relu) const {
    GradXGradH0GradWeights r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_rnnGrad(r.gradX.get(), r.gradH0.get(), r.gradWeights.get(), handle_, nullptr, nullptr,
        x.get(), nullptr, weights.data(), weights.count(), lengths.get(), layers, bidirectional, batchFirst, relu),
        "rnnGrad", r.gradX, r.gradH0, r.gradWeights);
    return r;
}
inline GradXGradH0GradWeights rnnGrad(const Tensor &reserve, const Tensor &gOutput, const Tensor &gHn, const Tensor &x,
    const Tensor &h0, TensorList weights, const Tensor &lengths = {}, int layers = 1, bool bidirectional = false,
    bool batchFirst = false, bool relu = false) {
    return reserve.rnnGrad(gOutput, gHn, x, h0, weights, lengths, layers, bidirectional, batchFirst, relu);
}
inline GradXGradH0GradWeights rnnGrad(const Tensor &reserve, const Tensor &x, TensorList weights,
    const Tensor &lengths = {}, int layers = 1, bool bidirectional = false, bool batchFirst = false,
    bool relu = false) {
    return reserve.rnnGrad(x, weights, lengths, layers, bidirectional, batchFirst, relu);
}
inline void rnnGrad_out(Out gradX, Out gradH0, Out gradWeights, const Tensor &reserve, const Tensor &gOutput,
    const Tensor &gHn, const Tensor &x, const Tensor &h0, TensorList weights, const Tensor &lengths = {},
    int layers = 1, bool bidirectional = false, bool batchFirst = false, bool relu = false) {
    detail::check(THTensor_rnnGrad(detail::result(gradX), detail::result(gradH0), detail::result(gradWeights),
        reserve.get(), gOutput.get(), gHn.get(), x.get(), h0.get(), weights.data(), weights.count(), lengths.get(),
        layers, bidirectional, batchFirst, relu), "rnnGrad_out");
}
inline void rnnGrad_out(Out gradX, Out gradH0, Out gradWeights, const Tensor &reserve, const Tensor &x,
    TensorList weights, const Tensor &lengths = {}, int layers = 1, bool bidirectional = false, bool batchFirst = false,
    bool relu = false) {
    detail::check(THTensor_rnnGrad(detail::result(gradX), detail::result(gradH0), detail::result(gradWeights),
        reserve.get(), nullptr, nullptr, x.get(), nullptr, weights.data(), weights.count(), lengths.get(), layers,
        bidirectional, batchFirst, relu), "rnnGrad_out");
}
inline HnReserve Tensor::rnnCell(const Tensor &h, const Tensor &wih, const Tensor &whh, const Tensor &bih,
    const Tensor &bhh, bool relu) const {
    HnReserve r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_rnnCell(r.hn.get(), r.reserve.get(), handle_, h.get(), wih.get(), whh.get(), bih.get(),
        bhh.get(), relu), "rnnCell", r.hn, r.reserve);
    return r;
}
inline HnReserve rnnCell(const Tensor &x, const Tensor &h, const Tensor &wih, const Tensor &whh, const Tensor &bih = {},
    const Tensor &bhh = {}, bool relu = false) {
    return x.rnnCell(h, wih, whh, bih, bhh, relu);
}
inline Tensor &rnnCell_out(Tensor &hn, Out reserve, const Tensor &x, const Tensor &h, const Tensor &wih,
    const Tensor &whh, const Tensor &bih = {}, const Tensor &bhh = {}, bool relu = false) {
    return detail::into(hn, THTensor_rnnCell(detail::result(hn), detail::result(reserve), x.get(), h.get(), wih.get(),
        whh.get(), bih.get(), bhh.get(), relu), "rnnCell_out");
}

// ---------------------------------------------------------------------------------------------- Sorting and searching

inline ValuesIndices Tensor::sort(int dimension, bool descending, bool stable) const {
    ValuesIndices r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_sort(r.values.get(), r.indices.get(), handle_, dimension, descending, stable), "sort",
        r.values, r.indices);
    return r;
}
inline ValuesIndices sort(const Tensor &t, int dimension = -1, bool descending = false, bool stable = false) {
    return t.sort(dimension, descending, stable);
}
inline void sort_out(Out values, Out indices, const Tensor &t, int dimension = -1, bool descending = false,
    bool stable = false) {
    detail::check(THTensor_sort(detail::result(values), detail::result(indices), t.get(), dimension, descending,
        stable), "sort_out");
}
inline Tensor argsort(const Tensor &t, int dimension = -1, bool descending = false, bool stable = false) {
    return t.argsort(dimension, descending, stable);
}
inline Tensor &argsort_out(Tensor &r, const Tensor &t, int dimension = -1, bool descending = false,
    bool stable = false) {
    return detail::into(r, THTensor_argsort(detail::result(r), t.get(), dimension, descending, stable), "argsort_out");
}
inline Tensor msort(const Tensor &t) { return t.msort(); }
inline Tensor &msort_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_msort(detail::result(r), t.get()), "msort_out");
}
inline ValuesIndices Tensor::topk(int64_t k, int dimension, bool largest, bool sorted) const {
    ValuesIndices r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_topk(r.values.get(), r.indices.get(), handle_, k, dimension, largest, sorted), "topk",
        r.values, r.indices);
    return r;
}
inline ValuesIndices topk(const Tensor &t, int64_t k, int dimension = -1, bool largest = true, bool sorted = true) {
    return t.topk(k, dimension, largest, sorted);
}
inline void topk_out(Out values, Out indices, const Tensor &t, int64_t k, int dimension = -1, bool largest = true,
    bool sorted = true) {
    detail::check(THTensor_topk(detail::result(values), detail::result(indices), t.get(), k, dimension, largest,
        sorted), "topk_out");
}
/// `r = indices that sort along dimension by the last of count keys`; where elements of a key are equal, the previous
/// key decides, as in NumPy's lexsort.
inline Tensor lexsort(TensorList keys, int dimension = -1) {
    detail::New r;
    return r(THTensor_lexsort(r.handle, keys.data(), keys.count(), dimension), "lexsort");
}
inline Tensor &lexsort_out(Tensor &r, TensorList keys, int dimension = -1) {
    return detail::into(r, THTensor_lexsort(detail::result(r), keys.data(), keys.count(), dimension), "lexsort_out");
}
inline ValuesInverseCounts Tensor::unique(int dimension) const {
    ValuesInverseCounts r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_unique(r.values.get(), r.inverse.get(), r.counts.get(), handle_, dimension), "unique",
        r.values, r.inverse, r.counts);
    return r;
}
inline ValuesInverseCounts unique(const Tensor &t, int dimension = everyDim) { return t.unique(dimension); }
inline void unique_out(Out values, Out inverse, Out counts, const Tensor &t, int dimension = everyDim) {
    detail::check(THTensor_unique(detail::result(values), detail::result(inverse), detail::result(counts), t.get(),
        dimension), "unique_out");
}
inline ValuesInverseCounts Tensor::uniqueConsecutive(int dimension) const {
    ValuesInverseCounts r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_uniqueConsecutive(r.values.get(), r.inverse.get(), r.counts.get(), handle_, dimension),
        "uniqueConsecutive", r.values, r.inverse, r.counts);
    return r;
}
inline ValuesInverseCounts uniqueConsecutive(const Tensor &t, int dimension = everyDim) {
    return t.uniqueConsecutive(dimension);
}
inline void uniqueConsecutive_out(Out values, Out inverse, Out counts, const Tensor &t, int dimension = everyDim) {
    detail::check(THTensor_uniqueConsecutive(detail::result(values), detail::result(inverse), detail::result(counts),
        t.get(), dimension), "uniqueConsecutive_out");
}
inline Tensor searchsorted(const Tensor &sequence, const Tensor &t, bool right = false, const Tensor &sorter = {}) {
    return sequence.searchsorted(t, right, sorter);
}
inline Tensor &searchsorted_out(Tensor &r, const Tensor &sequence, const Tensor &t, bool right = false,
    const Tensor &sorter = {}) {
    return detail::into(r, THTensor_searchsorted(detail::result(r), sequence.get(), t.get(), right, sorter.get()),
        "searchsorted_out");
}
inline Tensor bucketize(const Tensor &t, const Tensor &boundaries, bool right = false) {
    return t.bucketize(boundaries, right);
}
inline Tensor &bucketize_out(Tensor &r, const Tensor &t, const Tensor &boundaries, bool right = false) {
    return detail::into(r, THTensor_bucketize(detail::result(r), t.get(), boundaries.get(), right), "bucketize_out");
}
inline Tensor isin(const Tensor &t, const Tensor &tests, bool assumeUnique = false, bool invert = false) {
    return t.isin(tests, assumeUnique, invert);
}
inline Tensor &isin_out(Tensor &r, const Tensor &t, const Tensor &tests, bool assumeUnique = false,
    bool invert = false) {
    return detail::into(r, THTensor_isin(detail::result(r), t.get(), tests.get(), assumeUnique, invert), "isin_out");
}

// ------------------------------------------------------------------------------------ Order statistics and histograms

inline ValuesIndices Tensor::kthvalue(int64_t k, int dimension, bool keepdim) const {
    ValuesIndices r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_kthvalue(r.values.get(), r.indices.get(), handle_, k, dimension, keepdim), "kthvalue",
        r.values, r.indices);
    return r;
}
inline ValuesIndices kthvalue(const Tensor &t, int64_t k, int dimension = -1, bool keepdim = false) {
    return t.kthvalue(k, dimension, keepdim);
}
inline void kthvalue_out(Out values, Out indices, const Tensor &t, int64_t k, int dimension = -1,
    bool keepdim = false) {
    detail::check(THTensor_kthvalue(detail::result(values), detail::result(indices), t.get(), k, dimension, keepdim),
        "kthvalue_out");
}
inline ValuesIndices Tensor::median(int dimension, bool keepdim) const {
    ValuesIndices r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_median(r.values.get(), r.indices.get(), handle_, dimension, keepdim), "median", r.values,
        r.indices);
    return r;
}
inline ValuesIndices median(const Tensor &t, int dimension = -1, bool keepdim = false) {
    return t.median(dimension, keepdim);
}
inline void median_out(Out values, Out indices, const Tensor &t, int dimension = -1, bool keepdim = false) {
    detail::check(THTensor_median(detail::result(values), detail::result(indices), t.get(), dimension, keepdim),
        "median_out");
}
inline ValuesIndices Tensor::nanmedian(int dimension, bool keepdim) const {
    ValuesIndices r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_nanmedian(r.values.get(), r.indices.get(), handle_, dimension, keepdim), "nanmedian",
        r.values, r.indices);
    return r;
}
inline ValuesIndices nanmedian(const Tensor &t, int dimension = -1, bool keepdim = false) {
    return t.nanmedian(dimension, keepdim);
}
inline void nanmedian_out(Out values, Out indices, const Tensor &t, int dimension = -1, bool keepdim = false) {
    detail::check(THTensor_nanmedian(detail::result(values), detail::result(indices), t.get(), dimension, keepdim),
        "nanmedian_out");
}
inline double medianall(const Tensor &t) { return t.medianall(); }
inline ValuesIndices Tensor::mode(int dimension, bool keepdim) const {
    ValuesIndices r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_mode(r.values.get(), r.indices.get(), handle_, dimension, keepdim), "mode", r.values,
        r.indices);
    return r;
}
inline ValuesIndices mode(const Tensor &t, int dimension = -1, bool keepdim = false) {
    return t.mode(dimension, keepdim);
}
inline void mode_out(Out values, Out indices, const Tensor &t, int dimension = -1, bool keepdim = false) {
    detail::check(THTensor_mode(detail::result(values), detail::result(indices), t.get(), dimension, keepdim),
        "mode_out");
}
inline Tensor quantile(const Tensor &t, double q, int dimension = everyDim, bool keepdim = false,
    Interpolation interpolation = Interpolation::Linear) {
    return t.quantile(q, dimension, keepdim, interpolation);
}
inline Tensor &quantile_out(Tensor &r, const Tensor &t, double q, int dimension = everyDim, bool keepdim = false,
    Interpolation interpolation = Interpolation::Linear) {
    return detail::into(r, THTensor_quantile(detail::result(r), t.get(), q, dimension, keepdim,
        static_cast<THInterpolation>(interpolation)), "quantile_out");
}
inline Tensor nanquantile(const Tensor &t, double q, int dimension = everyDim, bool keepdim = false,
    Interpolation interpolation = Interpolation::Linear) {
    return t.nanquantile(q, dimension, keepdim, interpolation);
}
inline Tensor &nanquantile_out(Tensor &r, const Tensor &t, double q, int dimension = everyDim, bool keepdim = false,
    Interpolation interpolation = Interpolation::Linear) {
    return detail::into(r, THTensor_nanquantile(detail::result(r), t.get(), q, dimension, keepdim,
        static_cast<THInterpolation>(interpolation)), "nanquantile_out");
}
inline Tensor quantileTensor(const Tensor &t, const Tensor &q, int dimension = everyDim, bool keepdim = false,
    Interpolation interpolation = Interpolation::Linear) {
    return t.quantileTensor(q, dimension, keepdim, interpolation);
}
inline Tensor &quantileTensor_out(Tensor &r, const Tensor &t, const Tensor &q, int dimension = everyDim,
    bool keepdim = false, Interpolation interpolation = Interpolation::Linear) {
    return detail::into(r, THTensor_quantileTensor(detail::result(r), t.get(), q.get(), dimension, keepdim,
        static_cast<THInterpolation>(interpolation)), "quantileTensor_out");
}
inline Tensor quantile(const Tensor &t, const Tensor &q, int dimension = everyDim, bool keepdim = false,
    Interpolation interpolation = Interpolation::Linear) {
    return t.quantile(q, dimension, keepdim, interpolation);
}
inline Tensor &quantile_out(Tensor &r, const Tensor &t, const Tensor &q, int dimension = everyDim, bool keepdim = false,
    Interpolation interpolation = Interpolation::Linear) {
    return detail::into(r, THTensor_quantileTensor(detail::result(r), t.get(), q.get(), dimension, keepdim,
        static_cast<THInterpolation>(interpolation)), "quantile_out");
}
inline Tensor nanquantileTensor(const Tensor &t, const Tensor &q, int dimension = everyDim, bool keepdim = false,
    Interpolation interpolation = Interpolation::Linear) {
    return t.nanquantileTensor(q, dimension, keepdim, interpolation);
}
inline Tensor &nanquantileTensor_out(Tensor &r, const Tensor &t, const Tensor &q, int dimension = everyDim,
    bool keepdim = false, Interpolation interpolation = Interpolation::Linear) {
    return detail::into(r, THTensor_nanquantileTensor(detail::result(r), t.get(), q.get(), dimension, keepdim,
        static_cast<THInterpolation>(interpolation)), "nanquantileTensor_out");
}
inline Tensor nanquantile(const Tensor &t, const Tensor &q, int dimension = everyDim, bool keepdim = false,
    Interpolation interpolation = Interpolation::Linear) {
    return t.nanquantile(q, dimension, keepdim, interpolation);
}
inline Tensor &nanquantile_out(Tensor &r, const Tensor &t, const Tensor &q, int dimension = everyDim,
    bool keepdim = false, Interpolation interpolation = Interpolation::Linear) {
    return detail::into(r, THTensor_nanquantileTensor(detail::result(r), t.get(), q.get(), dimension, keepdim,
        static_cast<THInterpolation>(interpolation)), "nanquantile_out");
}
inline Tensor histc(const Tensor &t, int64_t bins = 100, double min = 0, double max = 0) {
    return t.histc(bins, min, max);
}
inline Tensor &histc_out(Tensor &r, const Tensor &t, int64_t bins = 100, double min = 0, double max = 0) {
    return detail::into(r, THTensor_histc(detail::result(r), t.get(), bins, min, max), "histc_out");
}
inline Tensor bhistc(const Tensor &t, int64_t bins = 100, double min = 0, double max = 0) {
    return t.bhistc(bins, min, max);
}
inline Tensor &bhistc_out(Tensor &r, const Tensor &t, int64_t bins = 100, double min = 0, double max = 0) {
    return detail::into(r, THTensor_bhistc(detail::result(r), t.get(), bins, min, max), "bhistc_out");
}
inline Tensor bincount(const Tensor &t, const Tensor &weights = {}, int64_t minlength = 0) {
    return t.bincount(weights, minlength);
}
inline Tensor &bincount_out(Tensor &r, const Tensor &t, const Tensor &weights = {}, int64_t minlength = 0) {
    return detail::into(r, THTensor_bincount(detail::result(r), t.get(), weights.get(), minlength), "bincount_out");
}

// ---------------------------------------------------------------------------------------------------- Matrix products

inline Tensor mm(const Tensor &m1, const Tensor &m2) { return m1.mm(m2); }
inline Tensor &mm_out(Tensor &r, const Tensor &m1, const Tensor &m2) {
    return detail::into(r, THTensor_mm(detail::result(r), m1.get(), m2.get()), "mm_out");
}
inline Tensor mv(const Tensor &mat, const Tensor &vec) { return mat.mv(vec); }
inline Tensor &mv_out(Tensor &r, const Tensor &mat, const Tensor &vec) {
    return detail::into(r, THTensor_mv(detail::result(r), mat.get(), vec.get()), "mv_out");
}
inline Tensor addmm(double beta, const Tensor &t, double alpha, const Tensor &m1, const Tensor &m2) {
    return t.addmm(beta, alpha, m1, m2);
}
inline Tensor addmm(const Tensor &t, const Tensor &m1, const Tensor &m2) { return t.addmm(m1, m2); }
inline Tensor &addmm_out(Tensor &r, double beta, const Tensor &t, double alpha, const Tensor &m1, const Tensor &m2) {
    return detail::into(r, THTensor_addmm(detail::result(r), beta, t.get(), alpha, m1.get(), m2.get()), "addmm_out");
}
inline Tensor &addmm_out(Tensor &r, const Tensor &t, const Tensor &m1, const Tensor &m2) {
    return detail::into(r, THTensor_addmm(detail::result(r), 1, t.get(), 1, m1.get(), m2.get()), "addmm_out");
}
inline Tensor addmv(double beta, const Tensor &t, double alpha, const Tensor &mat, const Tensor &vec) {
    return t.addmv(beta, alpha, mat, vec);
}
inline Tensor addmv(const Tensor &t, const Tensor &mat, const Tensor &vec) { return t.addmv(mat, vec); }
inline Tensor &addmv_out(Tensor &r, double beta, const Tensor &t, double alpha, const Tensor &mat, const Tensor &vec) {
    return detail::into(r, THTensor_addmv(detail::result(r), beta, t.get(), alpha, mat.get(), vec.get()), "addmv_out");
}
inline Tensor &addmv_out(Tensor &r, const Tensor &t, const Tensor &mat, const Tensor &vec) {
    return detail::into(r, THTensor_addmv(detail::result(r), 1, t.get(), 1, mat.get(), vec.get()), "addmv_out");
}
inline Tensor bmm(const Tensor &b1, const Tensor &b2) { return b1.bmm(b2); }
inline Tensor &bmm_out(Tensor &r, const Tensor &b1, const Tensor &b2) {
    return detail::into(r, THTensor_bmm(detail::result(r), b1.get(), b2.get()), "bmm_out");
}
inline Tensor baddbmm(double beta, const Tensor &t, double alpha, const Tensor &b1, const Tensor &b2) {
    return t.baddbmm(beta, alpha, b1, b2);
}
inline Tensor baddbmm(const Tensor &t, const Tensor &b1, const Tensor &b2) { return t.baddbmm(b1, b2); }
inline Tensor &baddbmm_out(Tensor &r, double beta, const Tensor &t, double alpha, const Tensor &b1, const Tensor &b2) {
    return detail::into(r, THTensor_baddbmm(detail::result(r), beta, t.get(), alpha, b1.get(), b2.get()),
        "baddbmm_out");
}
inline Tensor &baddbmm_out(Tensor &r, const Tensor &t, const Tensor &b1, const Tensor &b2) {
    return detail::into(r, THTensor_baddbmm(detail::result(r), 1, t.get(), 1, b1.get(), b2.get()), "baddbmm_out");
}
inline Tensor addbmm(double beta, const Tensor &t, double alpha, const Tensor &b1, const Tensor &b2) {
    return t.addbmm(beta, alpha, b1, b2);
}
inline Tensor addbmm(const Tensor &t, const Tensor &b1, const Tensor &b2) { return t.addbmm(b1, b2); }
inline Tensor &addbmm_out(Tensor &r, double beta, const Tensor &t, double alpha, const Tensor &b1, const Tensor &b2) {
    return detail::into(r, THTensor_addbmm(detail::result(r), beta, t.get(), alpha, b1.get(), b2.get()), "addbmm_out");
}
inline Tensor &addbmm_out(Tensor &r, const Tensor &t, const Tensor &b1, const Tensor &b2) {
    return detail::into(r, THTensor_addbmm(detail::result(r), 1, t.get(), 1, b1.get(), b2.get()), "addbmm_out");
}
inline Tensor matmul(const Tensor &a, const Tensor &b) { return a.matmul(b); }
inline Tensor &matmul_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_matmul(detail::result(r), a.get(), b.get()), "matmul_out");
}
inline Tensor dot(const Tensor &a, const Tensor &b) { return a.dot(b); }
inline Tensor &dot_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_dot(detail::result(r), a.get(), b.get()), "dot_out");
}
inline Tensor vdot(const Tensor &a, const Tensor &b) { return a.vdot(b); }
inline Tensor &vdot_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_vdot(detail::result(r), a.get(), b.get()), "vdot_out");
}
inline Tensor outer(const Tensor &v1, const Tensor &v2) { return v1.outer(v2); }
inline Tensor &outer_out(Tensor &r, const Tensor &v1, const Tensor &v2) {
    return detail::into(r, THTensor_outer(detail::result(r), v1.get(), v2.get()), "outer_out");
}
inline Tensor ger(const Tensor &v1, const Tensor &v2) { return v1.ger(v2); }
inline Tensor &ger_out(Tensor &r, const Tensor &v1, const Tensor &v2) {
    return detail::into(r, THTensor_ger(detail::result(r), v1.get(), v2.get()), "ger_out");
}
inline Tensor addr(double beta, const Tensor &t, double alpha, const Tensor &v1, const Tensor &v2) {
    return t.addr(beta, alpha, v1, v2);
}
inline Tensor addr(const Tensor &t, const Tensor &v1, const Tensor &v2) { return t.addr(v1, v2); }
inline Tensor &addr_out(Tensor &r, double beta, const Tensor &t, double alpha, const Tensor &v1, const Tensor &v2) {
    return detail::into(r, THTensor_addr(detail::result(r), beta, t.get(), alpha, v1.get(), v2.get()), "addr_out");
}
inline Tensor &addr_out(Tensor &r, const Tensor &t, const Tensor &v1, const Tensor &v2) {
    return detail::into(r, THTensor_addr(detail::result(r), 1, t.get(), 1, v1.get(), v2.get()), "addr_out");
}
inline Tensor inner(const Tensor &a, const Tensor &b) { return a.inner(b); }
inline Tensor &inner_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_inner(detail::result(r), a.get(), b.get()), "inner_out");
}
inline Tensor tensordot(const Tensor &a, const Tensor &b, IntList dims_a, IntList dims_b) {
    return a.tensordot(b, dims_a, dims_b);
}
inline Tensor &tensordot_out(Tensor &r, const Tensor &a, const Tensor &b, IntList dims_a, IntList dims_b) {
    return detail::into(r, THTensor_tensordot(detail::result(r), a.get(), b.get(), detail::common("tensordot_out",
        {dims_a, dims_b}), dims_a.data(), dims_b.data()), "tensordot_out");
}
/// `r` = the sum of products of `count` operands that `equation` describes, as in NumPy: "ij,jk->ik" is a matrix
/// product, "ii" a trace, "bij,bjk->bik" a batch of products.
inline Tensor einsum(Text equation, TensorList operands) {
    detail::New r;
    return r(THTensor_einsum(r.handle, equation.c_str(), operands.data(), operands.count()), "einsum");
}
inline Tensor &einsum_out(Tensor &r, Text equation, TensorList operands) {
    return detail::into(r, THTensor_einsum(detail::result(r), equation.c_str(), operands.data(), operands.count()),
        "einsum_out");
}
/// `r` = the product of `count` matrices, from 1 to 1000 of them, multiplied in the order that needs the fewest
/// multiplications.
inline Tensor chainMatmul(TensorList matrices) {
    detail::New r;
    return r(THTensor_chainMatmul(r.handle, matrices.data(), matrices.count()), "chainMatmul");
}
inline Tensor &chainMatmul_out(Tensor &r, TensorList matrices) {
    return detail::into(r, THTensor_chainMatmul(detail::result(r), matrices.data(), matrices.count()),
        "chainMatmul_out");
}
/// chainMatmul by PyTorch's name.
inline Tensor multiDot(TensorList matrices) {
    detail::New r;
    return r(THTensor_chainMatmul(r.handle, matrices.data(), matrices.count()), "multiDot");
}
inline Tensor matrixPower(const Tensor &t, int64_t n) { return t.matrixPower(n); }
inline Tensor &matrixPower_out(Tensor &r, const Tensor &t, int64_t n) {
    return detail::into(r, THTensor_matrixPower(detail::result(r), t.get(), n), "matrixPower_out");
}
inline Tensor kron(const Tensor &a, const Tensor &b) { return a.kron(b); }
inline Tensor &kron_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_kron(detail::result(r), a.get(), b.get()), "kron_out");
}
inline Tensor cross(const Tensor &a, const Tensor &b, int dimension) { return a.cross(b, dimension); }
inline Tensor &cross_out(Tensor &r, const Tensor &a, const Tensor &b, int dimension) {
    return detail::into(r, THTensor_cross(detail::result(r), a.get(), b.get(), dimension), "cross_out");
}
inline Tensor cdist(const Tensor &a, const Tensor &b, double p = 2) { return a.cdist(b, p); }
inline Tensor &cdist_out(Tensor &r, const Tensor &a, const Tensor &b, double p = 2) {
    return detail::into(r, THTensor_cdist(detail::result(r), a.get(), b.get(), p), "cdist_out");
}
inline Tensor cdistMode(const Tensor &a, const Tensor &b, double p = 2, DistanceMode mode = DistanceMode::Auto) {
    return a.cdistMode(b, p, mode);
}
inline Tensor &cdistMode_out(Tensor &r, const Tensor &a, const Tensor &b, double p = 2,
    DistanceMode mode = DistanceMode::Auto) {
    return detail::into(r, THTensor_cdistMode(detail::result(r), a.get(), b.get(), p,
        static_cast<THDistanceMode>(mode)), "cdistMode_out");
}
inline Tensor cdist(const Tensor &a, const Tensor &b, double p, DistanceMode mode) { return a.cdist(b, p, mode); }
inline Tensor &cdist_out(Tensor &r, const Tensor &a, const Tensor &b, double p, DistanceMode mode) {
    return detail::into(r, THTensor_cdistMode(detail::result(r), a.get(), b.get(), p,
        static_cast<THDistanceMode>(mode)), "cdist_out");
}
inline Tensor pdist(const Tensor &t, double p = 2) { return t.pdist(p); }
inline Tensor &pdist_out(Tensor &r, const Tensor &t, double p = 2) {
    return detail::into(r, THTensor_pdist(detail::result(r), t.get(), p), "pdist_out");
}

// -------------------------------------------------------------------------------------------------- Quantised numbers

inline Tensor mmQuantized(const Tensor &a, const Tensor &w, BlockType blockType = BlockType::None) {
    return a.mmQuantized(w, blockType);
}
inline Tensor &mmQuantized_out(Tensor &r, const Tensor &a, const Tensor &w, BlockType blockType = BlockType::None) {
    return detail::into(r, THTensor_mmQuantized(detail::result(r), a.get(), w.get(),
        static_cast<THBlockType>(blockType)), "mmQuantized_out");
}
inline Tensor quantize(const Tensor &t, BlockType blockType = BlockType::None) { return t.quantize(blockType); }
inline Tensor &quantize_out(Tensor &r, const Tensor &t, BlockType blockType = BlockType::None) {
    return detail::into(r, THTensor_quantize(detail::result(r), t.get(), static_cast<THBlockType>(blockType)),
        "quantize_out");
}
inline Tensor dequantize(const Tensor &w, BlockType blockType, int64_t k) { return w.dequantize(blockType, k); }
inline Tensor dequantize(const Tensor &w, int64_t k) { return w.dequantize(k); }
inline Tensor &dequantize_out(Tensor &r, const Tensor &w, BlockType blockType, int64_t k) {
    return detail::into(r, THTensor_dequantize(detail::result(r), w.get(), static_cast<THBlockType>(blockType), k),
        "dequantize_out");
}
inline Tensor &dequantize_out(Tensor &r, const Tensor &w, int64_t k) {
    return detail::into(r, THTensor_dequantize(detail::result(r), w.get(), static_cast<THBlockType>(BlockType::None),
        k), "dequantize_out");
}

// ---------------------------------------------------------------------------------------- Products of compressed rows

inline CrowColStartsOrder Tensor::csrCompress(const Tensor &columns, int64_t size) const {
    CrowColStartsOrder r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{}),
        Tensor(detail::Fresh{})};
    detail::check_all(THTensor_csrCompress(r.crow.get(), r.col.get(), r.starts.get(), r.order.get(), handle_,
        columns.get(), size), "csrCompress", r.crow, r.col, r.starts, r.order);
    return r;
}
inline CrowColStartsOrder csrCompress(const Tensor &rows, const Tensor &columns, int64_t size) {
    return rows.csrCompress(columns, size);
}
inline Tensor &csrCompress_out(Tensor &crow, Tensor &col, Tensor &starts, Tensor &order, const Tensor &rows,
    const Tensor &columns, int64_t size) {
    return detail::into(crow, THTensor_csrCompress(detail::result(crow), detail::result(col), detail::result(starts),
        detail::result(order), rows.get(), columns.get(), size), "csrCompress_out");
}
inline Tensor csrMatmul(const Tensor &crow, const Tensor &col, const Tensor &values, const Tensor &m) {
    return crow.csrMatmul(col, values, m);
}
inline Tensor csrMatmul(const Tensor &crow, const Tensor &col, const Tensor &m) { return crow.csrMatmul(col, m); }
inline Tensor &csrMatmul_out(Tensor &r, const Tensor &crow, const Tensor &col, const Tensor &values, const Tensor &m) {
    return detail::into(r, THTensor_csrMatmul(detail::result(r), crow.get(), col.get(), values.get(), m.get()),
        "csrMatmul_out");
}
inline Tensor &csrMatmul_out(Tensor &r, const Tensor &crow, const Tensor &col, const Tensor &m) {
    return detail::into(r, THTensor_csrMatmul(detail::result(r), crow.get(), col.get(), nullptr, m.get()),
        "csrMatmul_out");
}
inline Tensor csrMatmulTransposed(const Tensor &crow, const Tensor &col, const Tensor &values, const Tensor &m,
    int64_t columns) {
    return crow.csrMatmulTransposed(col, values, m, columns);
}
inline Tensor csrMatmulTransposed(const Tensor &crow, const Tensor &col, const Tensor &m, int64_t columns) {
    return crow.csrMatmulTransposed(col, m, columns);
}
inline Tensor &csrMatmulTransposed_out(Tensor &r, const Tensor &crow, const Tensor &col, const Tensor &values,
    const Tensor &m, int64_t columns) {
    return detail::into(r, THTensor_csrMatmulTransposed(detail::result(r), crow.get(), col.get(), values.get(), m.get(),
        columns), "csrMatmulTransposed_out");
}
inline Tensor &csrMatmulTransposed_out(Tensor &r, const Tensor &crow, const Tensor &col, const Tensor &m,
    int64_t columns) {
    return detail::into(r, THTensor_csrMatmulTransposed(detail::result(r), crow.get(), col.get(), nullptr, m.get(),
        columns), "csrMatmulTransposed_out");
}
inline Tensor csrSampled(const Tensor &crow, const Tensor &col, const Tensor &a, const Tensor &b) {
    return crow.csrSampled(col, a, b);
}
inline Tensor &csrSampled_out(Tensor &r, const Tensor &crow, const Tensor &col, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_csrSampled(detail::result(r), crow.get(), col.get(), a.get(), b.get()),
        "csrSampled_out");
}
inline Tensor csrSoftmax(const Tensor &crow, const Tensor &values) { return crow.csrSoftmax(values); }
inline Tensor &csrSoftmax_out(Tensor &r, const Tensor &crow, const Tensor &values) {
    return detail::into(r, THTensor_csrSoftmax(detail::result(r), crow.get(), values.get()), "csrSoftmax_out");
}
inline Tensor csrSoftmaxGrad(const Tensor &crow, const Tensor &g, const Tensor &y) { return crow.csrSoftmaxGrad(g, y); }
inline Tensor &csrSoftmaxGrad_out(Tensor &r, const Tensor &crow, const Tensor &g, const Tensor &y) {
    return detail::into(r, THTensor_csrSoftmaxGrad(detail::result(r), crow.get(), g.get(), y.get()),
        "csrSoftmaxGrad_out");
}
inline Tensor csrTrtrs(const Tensor &crow, const Tensor &col, const Tensor &values, const Tensor &b, bool upper = false,
    bool transpose = false, bool unitriangular = false) {
    return crow.csrTrtrs(col, values, b, upper, transpose, unitriangular);
}
inline Tensor &csrTrtrs_out(Tensor &r, const Tensor &crow, const Tensor &col, const Tensor &values, const Tensor &b,
    bool upper = false, bool transpose = false, bool unitriangular = false) {
    return detail::into(r, THTensor_csrTrtrs(detail::result(r), crow.get(), col.get(), values.get(), b.get(), upper,
        transpose, unitriangular), "csrTrtrs_out");
}
inline Tensor csrSolve(const Tensor &crow, const Tensor &col, const Tensor &values, const Tensor &b,
    bool transpose = false) {
    return crow.csrSolve(col, values, b, transpose);
}
inline Tensor &csrSolve_out(Tensor &r, const Tensor &crow, const Tensor &col, const Tensor &values, const Tensor &b,
    bool transpose = false) {
    return detail::into(r, THTensor_csrSolve(detail::result(r), crow.get(), col.get(), values.get(), b.get(),
        transpose), "csrSolve_out");
}
inline Tensor csrCg(const Tensor &crow, const Tensor &col, const Tensor &values, const Tensor &b,
    const Tensor &start = {}, double tol = 0.00001, int64_t maxIter = 1000, THProgressFunction progress = nullptr,
    void *context = nullptr) {
    return crow.csrCg(col, values, b, start, tol, maxIter, progress, context);
}
inline int64_t csrCg_out(Tensor &r, Out residual, const Tensor &crow, const Tensor &col, const Tensor &values,
    const Tensor &b, const Tensor &start = {}, double tol = 0.00001, int64_t maxIter = 1000,
    THProgressFunction progress = nullptr, void *context = nullptr) {
    return detail::must(THTensor_csrCg(detail::result(r), detail::result(residual), crow.get(), col.get(), values.get(),
        b.get(), start.get(), tol, maxIter, progress, context), static_cast<int64_t>(-1), "csrCg_out");
}
inline RRcrowRcol Tensor::csrMatmulCsr(const Tensor &acol, const Tensor &avalues, const Tensor &bcrow,
    const Tensor &bcol, const Tensor &bvalues, int64_t columns) const {
    RRcrowRcol r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_csrMatmulCsr(r.r.get(), r.rcrow.get(), r.rcol.get(), handle_, acol.get(), avalues.get(),
        bcrow.get(), bcol.get(), bvalues.get(), columns), "csrMatmulCsr", r.r, r.rcrow, r.rcol);
    return r;
}
inline RRcrowRcol csrMatmulCsr(const Tensor &acrow, const Tensor &acol, const Tensor &avalues, const Tensor &bcrow,
    const Tensor &bcol, const Tensor &bvalues, int64_t columns) {
    return acrow.csrMatmulCsr(acol, avalues, bcrow, bcol, bvalues, columns);
}
inline Tensor &csrMatmulCsr_out(Tensor &r, Tensor &rcrow, Tensor &rcol, const Tensor &acrow, const Tensor &acol,
    const Tensor &avalues, const Tensor &bcrow, const Tensor &bcol, const Tensor &bvalues, int64_t columns) {
    return detail::into(r, THTensor_csrMatmulCsr(detail::result(r), detail::result(rcrow), detail::result(rcol),
        acrow.get(), acol.get(), avalues.get(), bcrow.get(), bcol.get(), bvalues.get(), columns), "csrMatmulCsr_out");
}
inline Tensor csrSampledCsr(const Tensor &crow, const Tensor &col, const Tensor &acrow, const Tensor &acol,
    const Tensor &avalues, const Tensor &bcrow, const Tensor &bcol, const Tensor &bvalues, int64_t columns,
    bool transposeA, bool transposeB) {
    return crow.csrSampledCsr(col, acrow, acol, avalues, bcrow, bcol, bvalues, columns, transposeA, transposeB);
}
inline Tensor &csrSampledCsr_out(Tensor &r, const Tensor &crow, const Tensor &col, const Tensor &acrow,
    const Tensor &acol, const Tensor &avalues, const Tensor &bcrow, const Tensor &bcol, const Tensor &bvalues,
    int64_t columns, bool transposeA, bool transposeB) {
    return detail::into(r, THTensor_csrSampledCsr(detail::result(r), crow.get(), col.get(), acrow.get(), acol.get(),
        avalues.get(), bcrow.get(), bcol.get(), bvalues.get(), columns, transposeA, transposeB), "csrSampledCsr_out");
}

// ----------------------------------------------------------------------------------------------------- Linear algebra

inline RbRa Tensor::gesv(const Tensor &a) const {
    RbRa r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_gesv(r.rb.get(), r.ra.get(), handle_, a.get()), "gesv", r.rb, r.ra);
    return r;
}
inline RbRa gesv(const Tensor &b, const Tensor &a) { return b.gesv(a); }
inline void gesv_out(Out rb, Out ra, const Tensor &b, const Tensor &a) {
    detail::check(THTensor_gesv(detail::result(rb), detail::result(ra), b.get(), a.get()), "gesv_out");
}
inline XLu Tensor::solve(const Tensor &a) const {
    XLu r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_solve(r.x.get(), r.lu.get(), handle_, a.get()), "solve", r.x, r.lu);
    return r;
}
inline XLu solve(const Tensor &b, const Tensor &a) { return b.solve(a); }
inline void solve_out(Out x, Out lu, const Tensor &b, const Tensor &a) {
    detail::check(THTensor_solve(detail::result(x), detail::result(lu), b.get(), a.get()), "solve_out");
}
inline RbRa Tensor::trtrs(const Tensor &a, bool upper, bool transpose, bool unitriangular) const {
    RbRa r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_trtrs(r.rb.get(), r.ra.get(), handle_, a.get(), upper, transpose, unitriangular),
        "trtrs", r.rb, r.ra);
    return r;
}
inline RbRa trtrs(const Tensor &b, const Tensor &a, bool upper = false, bool transpose = false,
    bool unitriangular = false) {
    return b.trtrs(a, upper, transpose, unitriangular);
}
inline void trtrs_out(Out rb, Out ra, const Tensor &b, const Tensor &a, bool upper = false, bool transpose = false,
    bool unitriangular = false) {
    detail::check(THTensor_trtrs(detail::result(rb), detail::result(ra), b.get(), a.get(), upper, transpose,
        unitriangular), "trtrs_out");
}
inline RbRa Tensor::gels(const Tensor &a) const {
    RbRa r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_gels(r.rb.get(), r.ra.get(), handle_, a.get()), "gels", r.rb, r.ra);
    return r;
}
inline RbRa gels(const Tensor &b, const Tensor &a) { return b.gels(a); }
inline void gels_out(Out rb, Out ra, const Tensor &b, const Tensor &a) {
    detail::check(THTensor_gels(detail::result(rb), detail::result(ra), b.get(), a.get()), "gels_out");
}
inline XRankS Tensor::lstsq(const Tensor &a, double rcond) const {
    XRankS r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_lstsq(r.x.get(), r.rank.get(), r.s.get(), handle_, a.get(), rcond), "lstsq", r.x, r.rank,
        r.s);
    return r;
}
inline XRankS lstsq(const Tensor &b, const Tensor &a, double rcond = -1) { return b.lstsq(a, rcond); }
inline void lstsq_out(Out x, Out rank, Out s, const Tensor &b, const Tensor &a, double rcond = -1) {
    detail::check(THTensor_lstsq(detail::result(x), detail::result(rank), detail::result(s), b.get(), a.get(), rcond),
        "lstsq_out");
}
inline RaRpivots Tensor::btrifact(bool pivot) const {
    RaRpivots r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_btrifact(r.ra.get(), r.rpivots.get(), nullptr, pivot, handle_), "btrifact", r.ra,
        r.rpivots);
    return r;
}
inline RaRpivots btrifact(bool pivot, const Tensor &a) { return a.btrifact(pivot); }
inline RaRpivots btrifact(const Tensor &a) { return a.btrifact(); }
inline Tensor &btrifact_out(Tensor &ra, Tensor &rpivots, Out rinfo, bool pivot, const Tensor &a) {
    return detail::into(ra, THTensor_btrifact(detail::result(ra), detail::result(rpivots), detail::result(rinfo), pivot,
        a.get()), "btrifact_out");
}
inline Tensor &btrifact_out(Tensor &ra, Tensor &rpivots, Out rinfo, const Tensor &a) {
    return detail::into(ra, THTensor_btrifact(detail::result(ra), detail::result(rpivots), detail::result(rinfo), true,
        a.get()), "btrifact_out");
}
inline Tensor btrisolve(const Tensor &b, const Tensor &atf, const Tensor &pivots) { return b.btrisolve(atf, pivots); }
inline Tensor &btrisolve_out(Tensor &rb, const Tensor &b, const Tensor &atf, const Tensor &pivots) {
    return detail::into(rb, THTensor_btrisolve(detail::result(rb), b.get(), atf.get(), pivots.get()), "btrisolve_out");
}
inline PLU Tensor::lu() const {
    PLU r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_lu(r.p.get(), r.l.get(), r.u.get(), handle_), "lu", r.p, r.l, r.u);
    return r;
}
inline PLU lu(const Tensor &a) { return a.lu(); }
inline void lu_out(Out p, Out l, Out u, const Tensor &a) {
    detail::check(THTensor_lu(detail::result(p), detail::result(l), detail::result(u), a.get()), "lu_out");
}
inline Tensor getri(const Tensor &a) { return a.getri(); }
inline Tensor &getri_out(Tensor &ra, const Tensor &a) {
    return detail::into(ra, THTensor_getri(detail::result(ra), a.get()), "getri_out");
}
inline Tensor inverse(const Tensor &t) { return t.inverse(); }
inline Tensor &inverse_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_inverse(detail::result(r), t.get()), "inverse_out");
}
inline Tensor inv(const Tensor &t) { return t.inv(); }
inline Tensor det(const Tensor &t) { return t.det(); }
inline Tensor &det_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_det(detail::result(r), t.get()), "det_out");
}
inline SignLogabsdet Tensor::slogdet() const {
    SignLogabsdet r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_slogdet(r.sign.get(), r.logabsdet.get(), handle_), "slogdet", r.sign, r.logabsdet);
    return r;
}
inline SignLogabsdet slogdet(const Tensor &t) { return t.slogdet(); }
inline void slogdet_out(Out sign, Out logabsdet, const Tensor &t) {
    detail::check(THTensor_slogdet(detail::result(sign), detail::result(logabsdet), t.get()), "slogdet_out");
}
inline Tensor logdet(const Tensor &t) { return t.logdet(); }
inline Tensor &logdet_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_logdet(detail::result(r), t.get()), "logdet_out");
}
inline Tensor potrf(const Tensor &a, bool upper = false) { return a.potrf(upper); }
inline Tensor &potrf_out(Tensor &ra, const Tensor &a, bool upper = false) {
    return detail::into(ra, THTensor_potrf(detail::result(ra), a.get(), upper), "potrf_out");
}
inline Tensor cholesky(const Tensor &t, bool upper = false) { return t.cholesky(upper); }
inline Tensor &cholesky_out(Tensor &r, const Tensor &t, bool upper = false) {
    return detail::into(r, THTensor_cholesky(detail::result(r), t.get(), upper), "cholesky_out");
}
inline Tensor potrs(const Tensor &b, const Tensor &a, bool upper = false) { return b.potrs(a, upper); }
inline Tensor &potrs_out(Tensor &rb, const Tensor &b, const Tensor &a, bool upper = false) {
    return detail::into(rb, THTensor_potrs(detail::result(rb), b.get(), a.get(), upper), "potrs_out");
}
inline Tensor choleskySolve(const Tensor &b, const Tensor &a, bool upper = false) { return b.choleskySolve(a, upper); }
inline Tensor potri(const Tensor &a, bool upper = false) { return a.potri(upper); }
inline Tensor &potri_out(Tensor &ra, const Tensor &a, bool upper = false) {
    return detail::into(ra, THTensor_potri(detail::result(ra), a.get(), upper), "potri_out");
}
inline Tensor choleskyInverse(const Tensor &a, bool upper = false) { return a.choleskyInverse(upper); }
inline RaRpiv Tensor::pstrf(bool upper, double tol) const {
    RaRpiv r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_pstrf(r.ra.get(), r.rpiv.get(), nullptr, handle_, upper, tol), "pstrf", r.ra, r.rpiv);
    return r;
}
inline RaRpiv pstrf(const Tensor &a, bool upper = false, double tol = -1) { return a.pstrf(upper, tol); }
inline Tensor &pstrf_out(Tensor &ra, Tensor &rpiv, Out rrank, const Tensor &a, bool upper = false, double tol = -1) {
    return detail::into(ra, THTensor_pstrf(detail::result(ra), detail::result(rpiv), detail::result(rrank), a.get(),
        upper, tol), "pstrf_out");
}
inline RqRr Tensor::qr(bool some) const {
    RqRr r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_qr(r.rq.get(), r.rr.get(), handle_, some), "qr", r.rq, r.rr);
    return r;
}
inline RqRr qr(const Tensor &a, bool some = true) { return a.qr(some); }
inline void qr_out(Out rq, Out rr, const Tensor &a, bool some = true) {
    detail::check(THTensor_qr(detail::result(rq), detail::result(rr), a.get(), some), "qr_out");
}
inline RaRtau Tensor::geqrf() const {
    RaRtau r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_geqrf(r.ra.get(), r.rtau.get(), handle_), "geqrf", r.ra, r.rtau);
    return r;
}
inline RaRtau geqrf(const Tensor &a) { return a.geqrf(); }
inline Tensor &geqrf_out(Tensor &ra, Tensor &rtau, const Tensor &a) {
    return detail::into(ra, THTensor_geqrf(detail::result(ra), detail::result(rtau), a.get()), "geqrf_out");
}
inline Tensor orgqr(const Tensor &a, const Tensor &tau) { return a.orgqr(tau); }
inline Tensor &orgqr_out(Tensor &ra, const Tensor &a, const Tensor &tau) {
    return detail::into(ra, THTensor_orgqr(detail::result(ra), a.get(), tau.get()), "orgqr_out");
}
inline Tensor householderProduct(const Tensor &a, const Tensor &tau) { return a.householderProduct(tau); }
inline Tensor ormqr(const Tensor &a, const Tensor &tau, const Tensor &c, bool left = true, bool transpose = false) {
    return a.ormqr(tau, c, left, transpose);
}
inline Tensor &ormqr_out(Tensor &ra, const Tensor &a, const Tensor &tau, const Tensor &c, bool left = true,
    bool transpose = false) {
    return detail::into(ra, THTensor_ormqr(detail::result(ra), a.get(), tau.get(), c.get(), left, transpose),
        "ormqr_out");
}
inline ReRv Tensor::syev(bool upper) const {
    ReRv r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_syev(r.re.get(), r.rv.get(), handle_, upper), "syev", r.re, r.rv);
    return r;
}
inline ReRv syev(const Tensor &a, bool upper = false) { return a.syev(upper); }
inline Tensor &syev_out(Tensor &re, Out rv, const Tensor &a, bool upper = false) {
    return detail::into(re, THTensor_syev(detail::result(re), detail::result(rv), a.get(), upper), "syev_out");
}
inline EV Tensor::symeig(bool upper) const {
    EV r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_symeig(r.e.get(), r.v.get(), handle_, upper), "symeig", r.e, r.v);
    return r;
}
inline EV symeig(const Tensor &t, bool upper = false) { return t.symeig(upper); }
inline Tensor &symeig_out(Tensor &e, Out v, const Tensor &t, bool upper = false) {
    return detail::into(e, THTensor_symeig(detail::result(e), detail::result(v), t.get(), upper), "symeig_out");
}
inline ReRv Tensor::geev() const {
    ReRv r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_geev(r.re.get(), r.rv.get(), handle_), "geev", r.re, r.rv);
    return r;
}
inline ReRv geev(const Tensor &a) { return a.geev(); }
inline Tensor &geev_out(Tensor &re, Out rv, const Tensor &a) {
    return detail::into(re, THTensor_geev(detail::result(re), detail::result(rv), a.get()), "geev_out");
}
inline EV Tensor::eig() const {
    EV r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_eig(r.e.get(), r.v.get(), handle_), "eig", r.e, r.v);
    return r;
}
inline EV eig(const Tensor &t) { return t.eig(); }
inline Tensor &eig_out(Tensor &e, Out v, const Tensor &t) {
    return detail::into(e, THTensor_eig(detail::result(e), detail::result(v), t.get()), "eig_out");
}
inline RuRsRv Tensor::gesvd(bool some) const {
    RuRsRv r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_gesvd(r.ru.get(), r.rs.get(), r.rv.get(), handle_, some), "gesvd", r.ru, r.rs, r.rv);
    return r;
}
inline RuRsRv gesvd(const Tensor &a, bool some = true) { return a.gesvd(some); }
inline void gesvd_out(Out ru, Out rs, Out rv, const Tensor &a, bool some = true) {
    detail::check(THTensor_gesvd(detail::result(ru), detail::result(rs), detail::result(rv), a.get(), some),
        "gesvd_out");
}
inline USV Tensor::svd(bool some) const {
    USV r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_svd(r.u.get(), r.s.get(), r.v.get(), handle_, some), "svd", r.u, r.s, r.v);
    return r;
}
inline USV svd(const Tensor &t, bool some = true) { return t.svd(some); }
inline void svd_out(Out u, Out s, Out v, const Tensor &t, bool some = true) {
    detail::check(THTensor_svd(detail::result(u), detail::result(s), detail::result(v), t.get(), some), "svd_out");
}
inline Tensor pinverse(const Tensor &t, double rcond = 1e-15) { return t.pinverse(rcond); }
inline Tensor &pinverse_out(Tensor &r, const Tensor &t, double rcond = 1e-15) {
    return detail::into(r, THTensor_pinverse(detail::result(r), t.get(), rcond), "pinverse_out");
}
inline Tensor matrixRank(const Tensor &t, double tol = -1, bool symmetric = false) {
    return t.matrixRank(tol, symmetric);
}
inline Tensor &matrixRank_out(Tensor &r, const Tensor &t, double tol = -1, bool symmetric = false) {
    return detail::into(r, THTensor_matrixRank(detail::result(r), t.get(), tol, symmetric), "matrixRank_out");
}
inline Tensor matrixNorm(const Tensor &t, MatrixNorm p = MatrixNorm::NormFro, bool keepdim = false) {
    return t.matrixNorm(p, keepdim);
}
inline Tensor &matrixNorm_out(Tensor &r, const Tensor &t, MatrixNorm p = MatrixNorm::NormFro, bool keepdim = false) {
    return detail::into(r, THTensor_matrixNorm(detail::result(r), t.get(), static_cast<THMatrixNorm>(p), keepdim),
        "matrixNorm_out");
}
inline Tensor cond(const Tensor &t, MatrixNorm p = MatrixNorm::NormFro) { return t.cond(p); }
inline Tensor &cond_out(Tensor &r, const Tensor &t, MatrixNorm p = MatrixNorm::NormFro) {
    return detail::into(r, THTensor_cond(detail::result(r), t.get(), static_cast<THMatrixNorm>(p)), "cond_out");
}
inline Tensor matrixExp(const Tensor &t) { return t.matrixExp(); }
inline Tensor &matrixExp_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_matrixExp(detail::result(r), t.get()), "matrixExp_out");
}

// -------------------------------------------------------------------------------------------------------- Convolution

inline Tensor convolution(const Tensor &input, const Tensor &weight, const Tensor &bias, IntList stride,
    IntList padding, IntList dilation, bool transposed, IntList outputPadding = {}, int64_t groups = 1) {
    return input.convolution(weight, bias, stride, padding, dilation, transposed, outputPadding, groups);
}
inline Tensor convolution(const Tensor &input, const Tensor &weight, bool transposed, IntList outputPadding = {},
    int64_t groups = 1) {
    return input.convolution(weight, transposed, outputPadding, groups);
}
inline Tensor &convolution_out(Tensor &r, const Tensor &input, const Tensor &weight, const Tensor &bias, IntList stride,
    IntList padding, IntList dilation, bool transposed, IntList outputPadding = {}, int64_t groups = 1) {
    return detail::into(r, THTensor_convolution(detail::result(r), input.get(), weight.get(), bias.get(),
        detail::common("convolution_out", {stride, padding, dilation, outputPadding}), stride.data(), padding.data(),
        dilation.data(), transposed, outputPadding.data(), groups), "convolution_out");
}
inline Tensor &convolution_out(Tensor &r, const Tensor &input, const Tensor &weight, bool transposed,
    IntList outputPadding = {}, int64_t groups = 1) {
    return detail::into(r, THTensor_convolution(detail::result(r), input.get(), weight.get(), nullptr,
        outputPadding.count(), nullptr, nullptr, nullptr, transposed, outputPadding.data(), groups),
        "convolution_out");
}
inline Tensor conv1d(const Tensor &input, const Tensor &weight, const Tensor &bias = {},
    const SpatialList<1> &stride = {}, const SpatialList<1> &padding = {}, const SpatialList<1> &dilation = {},
    int64_t groups = 1) {
    return input.conv1d(weight, bias, stride, padding, dilation, groups);
}
inline Tensor &conv1d_out(Tensor &r, const Tensor &input, const Tensor &weight, const Tensor &bias = {},
    const SpatialList<1> &stride = {}, const SpatialList<1> &padding = {}, const SpatialList<1> &dilation = {},
    int64_t groups = 1) {
    return detail::into(r, THTensor_conv1d(detail::result(r), input.get(), weight.get(), bias.get(),
        detail::common("conv1d_out", {stride, padding, dilation}), stride.data(), padding.data(), dilation.data(),
        groups), "conv1d_out");
}
inline Tensor conv2d(const Tensor &input, const Tensor &weight, const Tensor &bias = {},
    const SpatialList<2> &stride = {}, const SpatialList<2> &padding = {}, const SpatialList<2> &dilation = {},
    int64_t groups = 1) {
    return input.conv2d(weight, bias, stride, padding, dilation, groups);
}
inline Tensor &conv2d_out(Tensor &r, const Tensor &input, const Tensor &weight, const Tensor &bias = {},
    const SpatialList<2> &stride = {}, const SpatialList<2> &padding = {}, const SpatialList<2> &dilation = {},
    int64_t groups = 1) {
    return detail::into(r, THTensor_conv2d(detail::result(r), input.get(), weight.get(), bias.get(),
        detail::common("conv2d_out", {stride, padding, dilation}), stride.data(), padding.data(), dilation.data(),
        groups), "conv2d_out");
}
inline Tensor conv3d(const Tensor &input, const Tensor &weight, const Tensor &bias = {},
    const SpatialList<3> &stride = {}, const SpatialList<3> &padding = {}, const SpatialList<3> &dilation = {},
    int64_t groups = 1) {
    return input.conv3d(weight, bias, stride, padding, dilation, groups);
}
inline Tensor &conv3d_out(Tensor &r, const Tensor &input, const Tensor &weight, const Tensor &bias = {},
    const SpatialList<3> &stride = {}, const SpatialList<3> &padding = {}, const SpatialList<3> &dilation = {},
    int64_t groups = 1) {
    return detail::into(r, THTensor_conv3d(detail::result(r), input.get(), weight.get(), bias.get(),
        detail::common("conv3d_out", {stride, padding, dilation}), stride.data(), padding.data(), dilation.data(),
        groups), "conv3d_out");
}
inline Tensor convTranspose1d(const Tensor &input, const Tensor &weight, const Tensor &bias = {},
    const SpatialList<1> &stride = {}, const SpatialList<1> &padding = {}, const SpatialList<1> &outputPadding = {},
    int64_t groups = 1, const SpatialList<1> &dilation = {}) {
    return input.convTranspose1d(weight, bias, stride, padding, outputPadding, groups, dilation);
}
inline Tensor &convTranspose1d_out(Tensor &r, const Tensor &input, const Tensor &weight, const Tensor &bias = {},
    const SpatialList<1> &stride = {}, const SpatialList<1> &padding = {}, const SpatialList<1> &outputPadding = {},
    int64_t groups = 1, const SpatialList<1> &dilation = {}) {
    return detail::into(r, THTensor_convTranspose1d(detail::result(r), input.get(), weight.get(), bias.get(),
        detail::common("convTranspose1d_out", {stride, padding, outputPadding, dilation}), stride.data(),
        padding.data(), outputPadding.data(), groups, dilation.data()), "convTranspose1d_out");
}
inline Tensor convTranspose2d(const Tensor &input, const Tensor &weight, const Tensor &bias = {},
    const SpatialList<2> &stride = {}, const SpatialList<2> &padding = {}, const SpatialList<2> &outputPadding = {},
    int64_t groups = 1, const SpatialList<2> &dilation = {}) {
    return input.convTranspose2d(weight, bias, stride, padding, outputPadding, groups, dilation);
}
inline Tensor &convTranspose2d_out(Tensor &r, const Tensor &input, const Tensor &weight, const Tensor &bias = {},
    const SpatialList<2> &stride = {}, const SpatialList<2> &padding = {}, const SpatialList<2> &outputPadding = {},
    int64_t groups = 1, const SpatialList<2> &dilation = {}) {
    return detail::into(r, THTensor_convTranspose2d(detail::result(r), input.get(), weight.get(), bias.get(),
        detail::common("convTranspose2d_out", {stride, padding, outputPadding, dilation}), stride.data(),
        padding.data(), outputPadding.data(), groups, dilation.data()), "convTranspose2d_out");
}
inline Tensor convTranspose3d(const Tensor &input, const Tensor &weight, const Tensor &bias = {},
    const SpatialList<3> &stride = {}, const SpatialList<3> &padding = {}, const SpatialList<3> &outputPadding = {},
    int64_t groups = 1, const SpatialList<3> &dilation = {}) {
    return input.convTranspose3d(weight, bias, stride, padding, outputPadding, groups, dilation);
}
inline Tensor &convTranspose3d_out(Tensor &r, const Tensor &input, const Tensor &weight, const Tensor &bias = {},
    const SpatialList<3> &stride = {}, const SpatialList<3> &padding = {}, const SpatialList<3> &outputPadding = {},
    int64_t groups = 1, const SpatialList<3> &dilation = {}) {
    return detail::into(r, THTensor_convTranspose3d(detail::result(r), input.get(), weight.get(), bias.get(),
        detail::common("convTranspose3d_out", {stride, padding, outputPadding, dilation}), stride.data(),
        padding.data(), outputPadding.data(), groups, dilation.data()), "convTranspose3d_out");
}
inline Tensor convolutionGradInput(const Tensor &gradOutput, const Tensor &weight, const Tensor &input, IntList stride,
    IntList padding, IntList dilation, bool transposed, IntList outputPadding = {}, int64_t groups = 1) {
    return gradOutput.convolutionGradInput(weight, input, stride, padding, dilation, transposed, outputPadding,
        groups);
}
inline Tensor convolutionGradInput(const Tensor &gradOutput, const Tensor &weight, const Tensor &input, bool transposed,
    IntList outputPadding = {}, int64_t groups = 1) {
    return gradOutput.convolutionGradInput(weight, input, transposed, outputPadding, groups);
}
inline Tensor &convolutionGradInput_out(Tensor &r, const Tensor &gradOutput, const Tensor &weight, const Tensor &input,
    IntList stride, IntList padding, IntList dilation, bool transposed, IntList outputPadding = {},
    int64_t groups = 1) {
    return detail::into(r, THTensor_convolutionGradInput(detail::result(r), gradOutput.get(), weight.get(), input.get(),
        detail::common("convolutionGradInput_out", {stride, padding, dilation, outputPadding}), stride.data(),
        padding.data(), dilation.data(), transposed, outputPadding.data(), groups), "convolutionGradInput_out");
}
inline Tensor &convolutionGradInput_out(Tensor &r, const Tensor &gradOutput, const Tensor &weight, const Tensor &input,
    bool transposed, IntList outputPadding = {}, int64_t groups = 1) {
    return detail::into(r, THTensor_convolutionGradInput(detail::result(r), gradOutput.get(), weight.get(), input.get(),
        outputPadding.count(), nullptr, nullptr, nullptr, transposed, outputPadding.data(), groups),
        "convolutionGradInput_out");
}
inline Tensor convolutionGradWeight(const Tensor &gradOutput, const Tensor &input, const Tensor &weight, IntList stride,
    IntList padding, IntList dilation, bool transposed, IntList outputPadding = {}, int64_t groups = 1) {
    return gradOutput.convolutionGradWeight(input, weight, stride, padding, dilation, transposed, outputPadding,
        groups);
}
inline Tensor convolutionGradWeight(const Tensor &gradOutput, const Tensor &input, const Tensor &weight,
    bool transposed, IntList outputPadding = {}, int64_t groups = 1) {
    return gradOutput.convolutionGradWeight(input, weight, transposed, outputPadding, groups);
}
inline Tensor &convolutionGradWeight_out(Tensor &r, const Tensor &gradOutput, const Tensor &input, const Tensor &weight,
    IntList stride, IntList padding, IntList dilation, bool transposed, IntList outputPadding = {},
    int64_t groups = 1) {
    return detail::into(r, THTensor_convolutionGradWeight(detail::result(r), gradOutput.get(), input.get(),
        weight.get(), detail::common("convolutionGradWeight_out", {stride, padding, dilation, outputPadding}),
        stride.data(), padding.data(), dilation.data(), transposed, outputPadding.data(), groups),
        "convolutionGradWeight_out");
}
inline Tensor &convolutionGradWeight_out(Tensor &r, const Tensor &gradOutput, const Tensor &input, const Tensor &weight,
    bool transposed, IntList outputPadding = {}, int64_t groups = 1) {
    return detail::into(r, THTensor_convolutionGradWeight(detail::result(r), gradOutput.get(), input.get(),
        weight.get(), outputPadding.count(), nullptr, nullptr, nullptr, transposed, outputPadding.data(), groups),
        "convolutionGradWeight_out");
}
inline Tensor convolutionGradBias(const Tensor &gradOutput, int imageDims) {
    return gradOutput.convolutionGradBias(imageDims);
}
inline Tensor &convolutionGradBias_out(Tensor &r, const Tensor &gradOutput, int imageDims) {
    return detail::into(r, THTensor_convolutionGradBias(detail::result(r), gradOutput.get(), imageDims),
        "convolutionGradBias_out");
}
inline Tensor convolutionGradInputUniform(const Tensor &gradOutput, const Tensor &weight, const Tensor &input,
    int64_t stride = 1, int64_t padding = 0) {
    return gradOutput.convolutionGradInputUniform(weight, input, stride, padding);
}
inline Tensor &convolutionGradInputUniform_out(Tensor &r, const Tensor &gradOutput, const Tensor &weight,
    const Tensor &input, int64_t stride = 1, int64_t padding = 0) {
    return detail::into(r, THTensor_convolutionGradInputUniform(detail::result(r), gradOutput.get(), weight.get(),
        input.get(), stride, padding), "convolutionGradInputUniform_out");
}
inline Tensor convolutionGradInput(const Tensor &gradOutput, const Tensor &weight, const Tensor &input, int64_t stride,
    int64_t padding) {
    return gradOutput.convolutionGradInput(weight, input, stride, padding);
}
inline Tensor &convolutionGradInput_out(Tensor &r, const Tensor &gradOutput, const Tensor &weight, const Tensor &input,
    int64_t stride, int64_t padding) {
    return detail::into(r, THTensor_convolutionGradInputUniform(detail::result(r), gradOutput.get(), weight.get(),
        input.get(), stride, padding), "convolutionGradInput_out");
}
inline Tensor convolutionGradWeightUniform(const Tensor &gradOutput, const Tensor &input, const Tensor &weight,
    int64_t stride = 1, int64_t padding = 0) {
    return gradOutput.convolutionGradWeightUniform(input, weight, stride, padding);
}
inline Tensor &convolutionGradWeightUniform_out(Tensor &r, const Tensor &gradOutput, const Tensor &input,
    const Tensor &weight, int64_t stride = 1, int64_t padding = 0) {
    return detail::into(r, THTensor_convolutionGradWeightUniform(detail::result(r), gradOutput.get(), input.get(),
        weight.get(), stride, padding), "convolutionGradWeightUniform_out");
}
inline Tensor convolutionGradWeight(const Tensor &gradOutput, const Tensor &input, const Tensor &weight, int64_t stride,
    int64_t padding) {
    return gradOutput.convolutionGradWeight(input, weight, stride, padding);
}
inline Tensor &convolutionGradWeight_out(Tensor &r, const Tensor &gradOutput, const Tensor &input, const Tensor &weight,
    int64_t stride, int64_t padding) {
    return detail::into(r, THTensor_convolutionGradWeightUniform(detail::result(r), gradOutput.get(), input.get(),
        weight.get(), stride, padding), "convolutionGradWeight_out");
}
inline Tensor im2col(const Tensor &t, IntList kernel, IntList stride = {}, IntList padding = {},
    IntList dilation = {}) {
    return t.im2col(kernel, stride, padding, dilation);
}
inline Tensor &im2col_out(Tensor &r, const Tensor &t, IntList kernel, IntList stride = {}, IntList padding = {},
    IntList dilation = {}) {
    return detail::into(r, THTensor_im2col(detail::result(r), t.get(), detail::common("im2col_out", {kernel, stride,
        padding, dilation}), kernel.data(), stride.data(), padding.data(), dilation.data()), "im2col_out");
}
inline Tensor col2im(const Tensor &t, IntList imageSizes, IntList kernel, IntList stride = {}, IntList padding = {},
    IntList dilation = {}) {
    return t.col2im(imageSizes, kernel, stride, padding, dilation);
}
inline Tensor &col2im_out(Tensor &r, const Tensor &t, IntList imageSizes, IntList kernel, IntList stride = {},
    IntList padding = {}, IntList dilation = {}) {
    return detail::into(r, THTensor_col2im(detail::result(r), t.get(), detail::common("col2im_out", {imageSizes, kernel,
        stride, padding, dilation}), imageSizes.data(), kernel.data(), stride.data(), padding.data(), dilation.data()),
        "col2im_out");
}
inline Tensor conv2Dmul(double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow, int64_t scol,
    Text vf, Text xc) {
    return t.conv2Dmul(beta, alpha, k, srow, scol, vf, xc);
}
inline Tensor conv2Dmul(double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow, int64_t scol,
    Text xc) {
    return t.conv2Dmul(beta, alpha, k, srow, scol, xc);
}
inline Tensor &conv2Dmul_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow,
    int64_t scol, Text vf, Text xc) {
    return detail::into(r, THTensor_conv2Dmul(detail::result(r), beta, alpha, t.get(), k.get(), srow, scol, vf.c_str(),
        xc.c_str()), "conv2Dmul_out");
}
inline Tensor &conv2Dmul_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow,
    int64_t scol, Text xc) {
    return detail::into(r, THTensor_conv2Dmul(detail::result(r), beta, alpha, t.get(), k.get(), srow, scol, "V",
        xc.c_str()), "conv2Dmul_out");
}
inline Tensor conv2Dcmul(double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow, int64_t scol,
    Text vf, Text xc) {
    return t.conv2Dcmul(beta, alpha, k, srow, scol, vf, xc);
}
inline Tensor conv2Dcmul(double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow, int64_t scol,
    Text xc) {
    return t.conv2Dcmul(beta, alpha, k, srow, scol, xc);
}
inline Tensor &conv2Dcmul_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow,
    int64_t scol, Text vf, Text xc) {
    return detail::into(r, THTensor_conv2Dcmul(detail::result(r), beta, alpha, t.get(), k.get(), srow, scol, vf.c_str(),
        xc.c_str()), "conv2Dcmul_out");
}
inline Tensor &conv2Dcmul_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow,
    int64_t scol, Text xc) {
    return detail::into(r, THTensor_conv2Dcmul(detail::result(r), beta, alpha, t.get(), k.get(), srow, scol, "V",
        xc.c_str()), "conv2Dcmul_out");
}
inline Tensor conv2Dger(double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow, int64_t scol,
    Text vf, Text xc) {
    return t.conv2Dger(beta, alpha, k, srow, scol, vf, xc);
}
inline Tensor conv2Dger(double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow, int64_t scol,
    Text xc) {
    return t.conv2Dger(beta, alpha, k, srow, scol, xc);
}
inline Tensor &conv2Dger_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow,
    int64_t scol, Text vf, Text xc) {
    return detail::into(r, THTensor_conv2Dger(detail::result(r), beta, alpha, t.get(), k.get(), srow, scol, vf.c_str(),
        xc.c_str()), "conv2Dger_out");
}
inline Tensor &conv2Dger_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow,
    int64_t scol, Text xc) {
    return detail::into(r, THTensor_conv2Dger(detail::result(r), beta, alpha, t.get(), k.get(), srow, scol, "V",
        xc.c_str()), "conv2Dger_out");
}
inline Tensor conv2DRevger(double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow, int64_t scol) {
    return t.conv2DRevger(beta, alpha, k, srow, scol);
}
inline Tensor &conv2DRevger_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow,
    int64_t scol) {
    return detail::into(r, THTensor_conv2DRevger(detail::result(r), beta, alpha, t.get(), k.get(), srow, scol),
        "conv2DRevger_out");
}
inline Tensor conv2DRevgerm(double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow, int64_t scol) {
    return t.conv2DRevgerm(beta, alpha, k, srow, scol);
}
inline Tensor &conv2DRevgerm_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow,
    int64_t scol) {
    return detail::into(r, THTensor_conv2DRevgerm(detail::result(r), beta, alpha, t.get(), k.get(), srow, scol),
        "conv2DRevgerm_out");
}
inline Tensor conv2Dmv(double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow, int64_t scol, Text vf,
    Text xc) {
    return t.conv2Dmv(beta, alpha, k, srow, scol, vf, xc);
}
inline Tensor conv2Dmv(double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow, int64_t scol,
    Text xc) {
    return t.conv2Dmv(beta, alpha, k, srow, scol, xc);
}
inline Tensor &conv2Dmv_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow,
    int64_t scol, Text vf, Text xc) {
    return detail::into(r, THTensor_conv2Dmv(detail::result(r), beta, alpha, t.get(), k.get(), srow, scol, vf.c_str(),
        xc.c_str()), "conv2Dmv_out");
}
inline Tensor &conv2Dmv_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow,
    int64_t scol, Text xc) {
    return detail::into(r, THTensor_conv2Dmv(detail::result(r), beta, alpha, t.get(), k.get(), srow, scol, "V",
        xc.c_str()), "conv2Dmv_out");
}
inline Tensor conv2Dmm(double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow, int64_t scol, Text vf,
    Text xc) {
    return t.conv2Dmm(beta, alpha, k, srow, scol, vf, xc);
}
inline Tensor conv2Dmm(double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow, int64_t scol,
    Text xc) {
    return t.conv2Dmm(beta, alpha, k, srow, scol, xc);
}
inline Tensor &conv2Dmm_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow,
    int64_t scol, Text vf, Text xc) {
    return detail::into(r, THTensor_conv2Dmm(detail::result(r), beta, alpha, t.get(), k.get(), srow, scol, vf.c_str(),
        xc.c_str()), "conv2Dmm_out");
}
inline Tensor &conv2Dmm_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, int64_t srow,
    int64_t scol, Text xc) {
    return detail::into(r, THTensor_conv2Dmm(detail::result(r), beta, alpha, t.get(), k.get(), srow, scol, "V",
        xc.c_str()), "conv2Dmm_out");
}
inline Tensor conv2Dmap(double beta, double alpha, const Tensor &t, const Tensor &k, const Tensor &map, int64_t srow,
    int64_t scol, Text vf, Text xc) {
    return t.conv2Dmap(beta, alpha, k, map, srow, scol, vf, xc);
}
inline Tensor conv2Dmap(double beta, double alpha, const Tensor &t, const Tensor &k, const Tensor &map, int64_t srow,
    int64_t scol, Text xc) {
    return t.conv2Dmap(beta, alpha, k, map, srow, scol, xc);
}
inline Tensor &conv2Dmap_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, const Tensor &map,
    int64_t srow, int64_t scol, Text vf, Text xc) {
    return detail::into(r, THTensor_conv2Dmap(detail::result(r), beta, alpha, t.get(), k.get(), map.get(), srow, scol,
        vf.c_str(), xc.c_str()), "conv2Dmap_out");
}
inline Tensor &conv2Dmap_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, const Tensor &map,
    int64_t srow, int64_t scol, Text xc) {
    return detail::into(r, THTensor_conv2Dmap(detail::result(r), beta, alpha, t.get(), k.get(), map.get(), srow, scol,
        "V", xc.c_str()), "conv2Dmap_out");
}
inline Tensor conv3Dmul(double beta, double alpha, const Tensor &t, const Tensor &k, int64_t sdepth, int64_t srow,
    int64_t scol, Text vf, Text xc) {
    return t.conv3Dmul(beta, alpha, k, sdepth, srow, scol, vf, xc);
}
inline Tensor conv3Dmul(double beta, double alpha, const Tensor &t, const Tensor &k, int64_t sdepth, int64_t srow,
    int64_t scol, Text xc) {
    return t.conv3Dmul(beta, alpha, k, sdepth, srow, scol, xc);
}
inline Tensor &conv3Dmul_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, int64_t sdepth,
    int64_t srow, int64_t scol, Text vf, Text xc) {
    return detail::into(r, THTensor_conv3Dmul(detail::result(r), beta, alpha, t.get(), k.get(), sdepth, srow, scol,
        vf.c_str(), xc.c_str()), "conv3Dmul_out");
}
inline Tensor &conv3Dmul_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, int64_t sdepth,
    int64_t srow, int64_t scol, Text xc) {
    return detail::into(r, THTensor_conv3Dmul(detail::result(r), beta, alpha, t.get(), k.get(), sdepth, srow, scol, "V",
        xc.c_str()), "conv3Dmul_out");
}
inline Tensor conv3Dcmul(double beta, double alpha, const Tensor &t, const Tensor &k, int64_t sdepth, int64_t srow,
    int64_t scol, Text vf, Text xc) {
    return t.conv3Dcmul(beta, alpha, k, sdepth, srow, scol, vf, xc);
}
inline Tensor conv3Dcmul(double beta, double alpha, const Tensor &t, const Tensor &k, int64_t sdepth, int64_t srow,
    int64_t scol, Text xc) {
    return t.conv3Dcmul(beta, alpha, k, sdepth, srow, scol, xc);
}
inline Tensor &conv3Dcmul_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, int64_t sdepth,
    int64_t srow, int64_t scol, Text vf, Text xc) {
    return detail::into(r, THTensor_conv3Dcmul(detail::result(r), beta, alpha, t.get(), k.get(), sdepth, srow, scol,
        vf.c_str(), xc.c_str()), "conv3Dcmul_out");
}
inline Tensor &conv3Dcmul_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, int64_t sdepth,
    int64_t srow, int64_t scol, Text xc) {
    return detail::into(r, THTensor_conv3Dcmul(detail::result(r), beta, alpha, t.get(), k.get(), sdepth, srow, scol,
        "V", xc.c_str()), "conv3Dcmul_out");
}
inline Tensor conv3Dger(double beta, double alpha, const Tensor &t, const Tensor &k, int64_t sdepth, int64_t srow,
    int64_t scol, Text vf, Text xc) {
    return t.conv3Dger(beta, alpha, k, sdepth, srow, scol, vf, xc);
}
inline Tensor conv3Dger(double beta, double alpha, const Tensor &t, const Tensor &k, int64_t sdepth, int64_t srow,
    int64_t scol, Text xc) {
    return t.conv3Dger(beta, alpha, k, sdepth, srow, scol, xc);
}
inline Tensor &conv3Dger_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, int64_t sdepth,
    int64_t srow, int64_t scol, Text vf, Text xc) {
    return detail::into(r, THTensor_conv3Dger(detail::result(r), beta, alpha, t.get(), k.get(), sdepth, srow, scol,
        vf.c_str(), xc.c_str()), "conv3Dger_out");
}
inline Tensor &conv3Dger_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, int64_t sdepth,
    int64_t srow, int64_t scol, Text xc) {
    return detail::into(r, THTensor_conv3Dger(detail::result(r), beta, alpha, t.get(), k.get(), sdepth, srow, scol, "V",
        xc.c_str()), "conv3Dger_out");
}
inline Tensor conv3DRevger(double beta, double alpha, const Tensor &t, const Tensor &k, int64_t sdepth, int64_t srow,
    int64_t scol) {
    return t.conv3DRevger(beta, alpha, k, sdepth, srow, scol);
}
inline Tensor &conv3DRevger_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, int64_t sdepth,
    int64_t srow, int64_t scol) {
    return detail::into(r, THTensor_conv3DRevger(detail::result(r), beta, alpha, t.get(), k.get(), sdepth, srow, scol),
        "conv3DRevger_out");
}
inline Tensor conv3Dmv(double beta, double alpha, const Tensor &t, const Tensor &k, int64_t sdepth, int64_t srow,
    int64_t scol, Text vf, Text xc) {
    return t.conv3Dmv(beta, alpha, k, sdepth, srow, scol, vf, xc);
}
inline Tensor conv3Dmv(double beta, double alpha, const Tensor &t, const Tensor &k, int64_t sdepth, int64_t srow,
    int64_t scol, Text xc) {
    return t.conv3Dmv(beta, alpha, k, sdepth, srow, scol, xc);
}
inline Tensor &conv3Dmv_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, int64_t sdepth,
    int64_t srow, int64_t scol, Text vf, Text xc) {
    return detail::into(r, THTensor_conv3Dmv(detail::result(r), beta, alpha, t.get(), k.get(), sdepth, srow, scol,
        vf.c_str(), xc.c_str()), "conv3Dmv_out");
}
inline Tensor &conv3Dmv_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, int64_t sdepth,
    int64_t srow, int64_t scol, Text xc) {
    return detail::into(r, THTensor_conv3Dmv(detail::result(r), beta, alpha, t.get(), k.get(), sdepth, srow, scol, "V",
        xc.c_str()), "conv3Dmv_out");
}
inline Tensor conv3Dmap(double beta, double alpha, const Tensor &t, const Tensor &k, const Tensor &map, int64_t sdepth,
    int64_t srow, int64_t scol, Text vf, Text xc) {
    return t.conv3Dmap(beta, alpha, k, map, sdepth, srow, scol, vf, xc);
}
inline Tensor conv3Dmap(double beta, double alpha, const Tensor &t, const Tensor &k, const Tensor &map, int64_t sdepth,
    int64_t srow, int64_t scol, Text xc) {
    return t.conv3Dmap(beta, alpha, k, map, sdepth, srow, scol, xc);
}
inline Tensor &conv3Dmap_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, const Tensor &map,
    int64_t sdepth, int64_t srow, int64_t scol, Text vf, Text xc) {
    return detail::into(r, THTensor_conv3Dmap(detail::result(r), beta, alpha, t.get(), k.get(), map.get(), sdepth, srow,
        scol, vf.c_str(), xc.c_str()), "conv3Dmap_out");
}
inline Tensor &conv3Dmap_out(Tensor &r, double beta, double alpha, const Tensor &t, const Tensor &k, const Tensor &map,
    int64_t sdepth, int64_t srow, int64_t scol, Text xc) {
    return detail::into(r, THTensor_conv3Dmap(detail::result(r), beta, alpha, t.get(), k.get(), map.get(), sdepth, srow,
        scol, "V", xc.c_str()), "conv3Dmap_out");
}

// ------------------------------------------------------------------------------------------------------------ Pooling

inline Tensor maxPool1d(const Tensor &input, const SpatialList<1> &kernel, const SpatialList<1> &stride = {},
    const SpatialList<1> &padding = {}, const SpatialList<1> &dilation = {}, bool ceilMode = false) {
    return input.maxPool1d(kernel, stride, padding, dilation, ceilMode);
}
inline Tensor &maxPool1d_out(Tensor &r, Out indices, const Tensor &input, const SpatialList<1> &kernel,
    const SpatialList<1> &stride = {}, const SpatialList<1> &padding = {}, const SpatialList<1> &dilation = {},
    bool ceilMode = false) {
    return detail::into(r, THTensor_maxPool1d(detail::result(r), detail::result(indices), input.get(),
        detail::common("maxPool1d_out", {kernel, stride, padding, dilation}), kernel.data(), stride.data(),
        padding.data(), dilation.data(), ceilMode), "maxPool1d_out");
}
inline Tensor maxPool2d(const Tensor &input, const SpatialList<2> &kernel, const SpatialList<2> &stride = {},
    const SpatialList<2> &padding = {}, const SpatialList<2> &dilation = {}, bool ceilMode = false) {
    return input.maxPool2d(kernel, stride, padding, dilation, ceilMode);
}
inline Tensor &maxPool2d_out(Tensor &r, Out indices, const Tensor &input, const SpatialList<2> &kernel,
    const SpatialList<2> &stride = {}, const SpatialList<2> &padding = {}, const SpatialList<2> &dilation = {},
    bool ceilMode = false) {
    return detail::into(r, THTensor_maxPool2d(detail::result(r), detail::result(indices), input.get(),
        detail::common("maxPool2d_out", {kernel, stride, padding, dilation}), kernel.data(), stride.data(),
        padding.data(), dilation.data(), ceilMode), "maxPool2d_out");
}
inline Tensor maxPool3d(const Tensor &input, const SpatialList<3> &kernel, const SpatialList<3> &stride = {},
    const SpatialList<3> &padding = {}, const SpatialList<3> &dilation = {}, bool ceilMode = false) {
    return input.maxPool3d(kernel, stride, padding, dilation, ceilMode);
}
inline Tensor &maxPool3d_out(Tensor &r, Out indices, const Tensor &input, const SpatialList<3> &kernel,
    const SpatialList<3> &stride = {}, const SpatialList<3> &padding = {}, const SpatialList<3> &dilation = {},
    bool ceilMode = false) {
    return detail::into(r, THTensor_maxPool3d(detail::result(r), detail::result(indices), input.get(),
        detail::common("maxPool3d_out", {kernel, stride, padding, dilation}), kernel.data(), stride.data(),
        padding.data(), dilation.data(), ceilMode), "maxPool3d_out");
}
inline Tensor maxPoolGradInput(const Tensor &gradOutput, const Tensor &indices, const Tensor &input, int imageDims) {
    return gradOutput.maxPoolGradInput(indices, input, imageDims);
}
inline Tensor &maxPoolGradInput_out(Tensor &r, const Tensor &gradOutput, const Tensor &indices, const Tensor &input,
    int imageDims) {
    return detail::into(r, THTensor_maxPoolGradInput(detail::result(r), gradOutput.get(), indices.get(), input.get(),
        imageDims), "maxPoolGradInput_out");
}
inline Tensor maxUnpool(const Tensor &t, const Tensor &indices, IntList imageSizes) {
    return t.maxUnpool(indices, imageSizes);
}
inline Tensor &maxUnpool_out(Tensor &r, const Tensor &t, const Tensor &indices, IntList imageSizes) {
    return detail::into(r, THTensor_maxUnpool(detail::result(r), t.get(), indices.get(), imageSizes.count(),
        imageSizes.data()), "maxUnpool_out");
}
inline Tensor avgPool1d(const Tensor &input, const SpatialList<1> &kernel, const SpatialList<1> &stride = {},
    const SpatialList<1> &padding = {}, bool ceilMode = false, bool countIncludePad = true, int64_t divisor = 0) {
    return input.avgPool1d(kernel, stride, padding, ceilMode, countIncludePad, divisor);
}
inline Tensor &avgPool1d_out(Tensor &r, const Tensor &input, const SpatialList<1> &kernel,
    const SpatialList<1> &stride = {}, const SpatialList<1> &padding = {}, bool ceilMode = false,
    bool countIncludePad = true, int64_t divisor = 0) {
    return detail::into(r, THTensor_avgPool1d(detail::result(r), input.get(), detail::common("avgPool1d_out", {kernel,
        stride, padding}), kernel.data(), stride.data(), padding.data(), ceilMode, countIncludePad, divisor),
        "avgPool1d_out");
}
inline Tensor avgPool2d(const Tensor &input, const SpatialList<2> &kernel, const SpatialList<2> &stride = {},
    const SpatialList<2> &padding = {}, bool ceilMode = false, bool countIncludePad = true, int64_t divisor = 0) {
    return input.avgPool2d(kernel, stride, padding, ceilMode, countIncludePad, divisor);
}
inline Tensor &avgPool2d_out(Tensor &r, const Tensor &input, const SpatialList<2> &kernel,
    const SpatialList<2> &stride = {}, const SpatialList<2> &padding = {}, bool ceilMode = false,
    bool countIncludePad = true, int64_t divisor = 0) {
    return detail::into(r, THTensor_avgPool2d(detail::result(r), input.get(), detail::common("avgPool2d_out", {kernel,
        stride, padding}), kernel.data(), stride.data(), padding.data(), ceilMode, countIncludePad, divisor),
        "avgPool2d_out");
}
inline Tensor avgPool3d(const Tensor &input, const SpatialList<3> &kernel, const SpatialList<3> &stride = {},
    const SpatialList<3> &padding = {}, bool ceilMode = false, bool countIncludePad = true, int64_t divisor = 0) {
    return input.avgPool3d(kernel, stride, padding, ceilMode, countIncludePad, divisor);
}
inline Tensor &avgPool3d_out(Tensor &r, const Tensor &input, const SpatialList<3> &kernel,
    const SpatialList<3> &stride = {}, const SpatialList<3> &padding = {}, bool ceilMode = false,
    bool countIncludePad = true, int64_t divisor = 0) {
    return detail::into(r, THTensor_avgPool3d(detail::result(r), input.get(), detail::common("avgPool3d_out", {kernel,
        stride, padding}), kernel.data(), stride.data(), padding.data(), ceilMode, countIncludePad, divisor),
        "avgPool3d_out");
}
inline Tensor avgPoolGradInput(const Tensor &gradOutput, const Tensor &input, IntList kernel, IntList stride = {},
    IntList padding = {}, bool ceilMode = false, bool countIncludePad = true, int64_t divisor = 0) {
    return gradOutput.avgPoolGradInput(input, kernel, stride, padding, ceilMode, countIncludePad, divisor);
}
inline Tensor &avgPoolGradInput_out(Tensor &r, const Tensor &gradOutput, const Tensor &input, IntList kernel,
    IntList stride = {}, IntList padding = {}, bool ceilMode = false, bool countIncludePad = true,
    int64_t divisor = 0) {
    return detail::into(r, THTensor_avgPoolGradInput(detail::result(r), gradOutput.get(), input.get(),
        detail::common("avgPoolGradInput_out", {kernel, stride, padding}), kernel.data(), stride.data(), padding.data(),
        ceilMode, countIncludePad, divisor), "avgPoolGradInput_out");
}
inline Tensor avgPoolGradInputUniform(const Tensor &gradOutput, const Tensor &input, int imageDims, int64_t kernel,
    int64_t stride, int64_t padding = 0) {
    return gradOutput.avgPoolGradInputUniform(input, imageDims, kernel, stride, padding);
}
inline Tensor &avgPoolGradInputUniform_out(Tensor &r, const Tensor &gradOutput, const Tensor &input, int imageDims,
    int64_t kernel, int64_t stride, int64_t padding = 0) {
    return detail::into(r, THTensor_avgPoolGradInputUniform(detail::result(r), gradOutput.get(), input.get(), imageDims,
        kernel, stride, padding), "avgPoolGradInputUniform_out");
}
inline Tensor avgPoolGradInput(const Tensor &gradOutput, const Tensor &input, int imageDims, int64_t kernel,
    int64_t stride, int64_t padding = 0) {
    return gradOutput.avgPoolGradInput(input, imageDims, kernel, stride, padding);
}
inline Tensor &avgPoolGradInput_out(Tensor &r, const Tensor &gradOutput, const Tensor &input, int imageDims,
    int64_t kernel, int64_t stride, int64_t padding = 0) {
    return detail::into(r, THTensor_avgPoolGradInputUniform(detail::result(r), gradOutput.get(), input.get(), imageDims,
        kernel, stride, padding), "avgPoolGradInput_out");
}
inline Tensor adaptiveMaxPool1d(const Tensor &input, const SpatialList<1> &sizes) {
    return input.adaptiveMaxPool1d(sizes);
}
inline Tensor &adaptiveMaxPool1d_out(Tensor &r, Out indices, const Tensor &input, const SpatialList<1> &sizes) {
    return detail::into(r, THTensor_adaptiveMaxPool1d(detail::result(r), detail::result(indices), input.get(),
        sizes.count(), sizes.data()), "adaptiveMaxPool1d_out");
}
inline Tensor adaptiveMaxPool2d(const Tensor &input, const SpatialList<2> &sizes) {
    return input.adaptiveMaxPool2d(sizes);
}
inline Tensor &adaptiveMaxPool2d_out(Tensor &r, Out indices, const Tensor &input, const SpatialList<2> &sizes) {
    return detail::into(r, THTensor_adaptiveMaxPool2d(detail::result(r), detail::result(indices), input.get(),
        sizes.count(), sizes.data()), "adaptiveMaxPool2d_out");
}
inline Tensor adaptiveMaxPool3d(const Tensor &input, const SpatialList<3> &sizes) {
    return input.adaptiveMaxPool3d(sizes);
}
inline Tensor &adaptiveMaxPool3d_out(Tensor &r, Out indices, const Tensor &input, const SpatialList<3> &sizes) {
    return detail::into(r, THTensor_adaptiveMaxPool3d(detail::result(r), detail::result(indices), input.get(),
        sizes.count(), sizes.data()), "adaptiveMaxPool3d_out");
}
inline Tensor adaptiveAvgPool1d(const Tensor &input, const SpatialList<1> &sizes) {
    return input.adaptiveAvgPool1d(sizes);
}
inline Tensor &adaptiveAvgPool1d_out(Tensor &r, const Tensor &input, const SpatialList<1> &sizes) {
    return detail::into(r, THTensor_adaptiveAvgPool1d(detail::result(r), input.get(), sizes.count(), sizes.data()),
        "adaptiveAvgPool1d_out");
}
inline Tensor adaptiveAvgPool2d(const Tensor &input, const SpatialList<2> &sizes) {
    return input.adaptiveAvgPool2d(sizes);
}
inline Tensor &adaptiveAvgPool2d_out(Tensor &r, const Tensor &input, const SpatialList<2> &sizes) {
    return detail::into(r, THTensor_adaptiveAvgPool2d(detail::result(r), input.get(), sizes.count(), sizes.data()),
        "adaptiveAvgPool2d_out");
}
inline Tensor adaptiveAvgPool3d(const Tensor &input, const SpatialList<3> &sizes) {
    return input.adaptiveAvgPool3d(sizes);
}
inline Tensor &adaptiveAvgPool3d_out(Tensor &r, const Tensor &input, const SpatialList<3> &sizes) {
    return detail::into(r, THTensor_adaptiveAvgPool3d(detail::result(r), input.get(), sizes.count(), sizes.data()),
        "adaptiveAvgPool3d_out");
}
inline Tensor adaptiveAvgPoolGradInput(const Tensor &gradOutput, const Tensor &input, int imageDims) {
    return gradOutput.adaptiveAvgPoolGradInput(input, imageDims);
}
inline Tensor &adaptiveAvgPoolGradInput_out(Tensor &r, const Tensor &gradOutput, const Tensor &input, int imageDims) {
    return detail::into(r, THTensor_adaptiveAvgPoolGradInput(detail::result(r), gradOutput.get(), input.get(),
        imageDims), "adaptiveAvgPoolGradInput_out");
}

// ----------------------------------------------------------------------------------------------- Resampling of images

inline Tensor interpolate(const Tensor &t, IntList sizes, Resampling mode, bool alignCorners, bool antialias) {
    return t.interpolate(sizes, mode, alignCorners, antialias);
}
inline Tensor interpolate(const Tensor &t, IntList sizes, bool alignCorners, bool antialias) {
    return t.interpolate(sizes, alignCorners, antialias);
}
inline Tensor &interpolate_out(Tensor &r, const Tensor &t, IntList sizes, Resampling mode, bool alignCorners,
    bool antialias) {
    return detail::into(r, THTensor_interpolate(detail::result(r), t.get(), sizes.count(), sizes.data(),
        static_cast<THResampling>(mode), alignCorners, antialias), "interpolate_out");
}
inline Tensor &interpolate_out(Tensor &r, const Tensor &t, IntList sizes, bool alignCorners, bool antialias) {
    return detail::into(r, THTensor_interpolate(detail::result(r), t.get(), sizes.count(), sizes.data(),
        static_cast<THResampling>(Resampling::Linear), alignCorners, antialias), "interpolate_out");
}
inline Tensor interpolateFactor(const Tensor &t, int imageDims, double factor, Resampling mode, bool alignCorners,
    bool antialias) {
    return t.interpolateFactor(imageDims, factor, mode, alignCorners, antialias);
}
inline Tensor interpolateFactor(const Tensor &t, int imageDims, double factor, bool alignCorners, bool antialias) {
    return t.interpolateFactor(imageDims, factor, alignCorners, antialias);
}
inline Tensor &interpolateFactor_out(Tensor &r, const Tensor &t, int imageDims, double factor, Resampling mode,
    bool alignCorners, bool antialias) {
    return detail::into(r, THTensor_interpolateFactor(detail::result(r), t.get(), imageDims, factor,
        static_cast<THResampling>(mode), alignCorners, antialias), "interpolateFactor_out");
}
inline Tensor &interpolateFactor_out(Tensor &r, const Tensor &t, int imageDims, double factor, bool alignCorners,
    bool antialias) {
    return detail::into(r, THTensor_interpolateFactor(detail::result(r), t.get(), imageDims, factor,
        static_cast<THResampling>(Resampling::Linear), alignCorners, antialias), "interpolateFactor_out");
}
inline Tensor interpolateGrad(const Tensor &g, const Tensor &t, int imageDims, double factor, Resampling mode,
    bool alignCorners, bool antialias) {
    return g.interpolateGrad(t, imageDims, factor, mode, alignCorners, antialias);
}
inline Tensor interpolateGrad(const Tensor &g, const Tensor &t, int imageDims, double factor, bool alignCorners,
    bool antialias) {
    return g.interpolateGrad(t, imageDims, factor, alignCorners, antialias);
}
inline Tensor &interpolateGrad_out(Tensor &r, const Tensor &g, const Tensor &t, int imageDims, double factor,
    Resampling mode, bool alignCorners, bool antialias) {
    return detail::into(r, THTensor_interpolateGrad(detail::result(r), g.get(), t.get(), imageDims, factor,
        static_cast<THResampling>(mode), alignCorners, antialias), "interpolateGrad_out");
}
inline Tensor &interpolateGrad_out(Tensor &r, const Tensor &g, const Tensor &t, int imageDims, double factor,
    bool alignCorners, bool antialias) {
    return detail::into(r, THTensor_interpolateGrad(detail::result(r), g.get(), t.get(), imageDims, factor,
        static_cast<THResampling>(Resampling::Linear), alignCorners, antialias), "interpolateGrad_out");
}
inline Tensor gridSample(const Tensor &t, const Tensor &grid, Resampling mode, PadMode paddingMode,
    bool alignCorners) {
    return t.gridSample(grid, mode, paddingMode, alignCorners);
}
inline Tensor gridSample(const Tensor &t, const Tensor &grid, bool alignCorners) {
    return t.gridSample(grid, alignCorners);
}
inline Tensor &gridSample_out(Tensor &r, const Tensor &t, const Tensor &grid, Resampling mode, PadMode paddingMode,
    bool alignCorners) {
    return detail::into(r, THTensor_gridSample(detail::result(r), t.get(), grid.get(), static_cast<THResampling>(mode),
        static_cast<THPadMode>(paddingMode), alignCorners), "gridSample_out");
}
inline Tensor &gridSample_out(Tensor &r, const Tensor &t, const Tensor &grid, bool alignCorners) {
    return detail::into(r, THTensor_gridSample(detail::result(r), t.get(), grid.get(),
        static_cast<THResampling>(Resampling::Linear), static_cast<THPadMode>(PadMode::Constant), alignCorners),
        "gridSample_out");
}
inline GradInputGradGrid Tensor::gridSampleGrad(const Tensor &t, const Tensor &grid, Resampling mode,
    PadMode paddingMode, bool alignCorners) const {
    GradInputGradGrid r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_gridSampleGrad(r.gradInput.get(), r.gradGrid.get(), handle_, t.get(), grid.get(),
        static_cast<THResampling>(mode), static_cast<THPadMode>(paddingMode), alignCorners), "gridSampleGrad",
        r.gradInput, r.gradGrid);
    return r;
}
inline GradInputGradGrid Tensor::gridSampleGrad(const Tensor &t, const Tensor &grid, bool alignCorners) const {
    GradInputGradGrid r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_gridSampleGrad(r.gradInput.get(), r.gradGrid.get(), handle_, t.get(), grid.get(),
        static_cast<THResampling>(Resampling::Linear), static_cast<THPadMode>(PadMode::Constant), alignCorners),
        "gridSampleGrad", r.gradInput, r.gradGrid);
    return r;
}
inline GradInputGradGrid gridSampleGrad(const Tensor &g, const Tensor &t, const Tensor &grid, Resampling mode,
    PadMode paddingMode, bool alignCorners) {
    return g.gridSampleGrad(t, grid, mode, paddingMode, alignCorners);
}
inline GradInputGradGrid gridSampleGrad(const Tensor &g, const Tensor &t, const Tensor &grid, bool alignCorners) {
    return g.gridSampleGrad(t, grid, alignCorners);
}
inline void gridSampleGrad_out(Out gradInput, Out gradGrid, const Tensor &g, const Tensor &t, const Tensor &grid,
    Resampling mode, PadMode paddingMode, bool alignCorners) {
    detail::check(THTensor_gridSampleGrad(detail::result(gradInput), detail::result(gradGrid), g.get(), t.get(),
        grid.get(), static_cast<THResampling>(mode), static_cast<THPadMode>(paddingMode), alignCorners),
        "gridSampleGrad_out");
}
inline void gridSampleGrad_out(Out gradInput, Out gradGrid, const Tensor &g, const Tensor &t, const Tensor &grid,
    bool alignCorners) {
    detail::check(THTensor_gridSampleGrad(detail::result(gradInput), detail::result(gradGrid), g.get(), t.get(),
        grid.get(), static_cast<THResampling>(Resampling::Linear), static_cast<THPadMode>(PadMode::Constant),
        alignCorners), "gridSampleGrad_out");
}
inline Tensor affineGrid(const Tensor &theta, IntList sizes, bool alignCorners) {
    return theta.affineGrid(sizes, alignCorners);
}
inline Tensor &affineGrid_out(Tensor &r, const Tensor &theta, IntList sizes, bool alignCorners) {
    return detail::into(r, THTensor_affineGrid(detail::result(r), theta.get(), sizes.count(), sizes.data(),
        alignCorners), "affineGrid_out");
}
inline Tensor pixelShuffle(const Tensor &t, int64_t factor) { return t.pixelShuffle(factor); }
inline Tensor &pixelShuffle_out(Tensor &r, const Tensor &t, int64_t factor) {
    return detail::into(r, THTensor_pixelShuffle(detail::result(r), t.get(), factor), "pixelShuffle_out");
}
inline Tensor pixelUnshuffle(const Tensor &t, int64_t factor) { return t.pixelUnshuffle(factor); }
inline Tensor &pixelUnshuffle_out(Tensor &r, const Tensor &t, int64_t factor) {
    return detail::into(r, THTensor_pixelUnshuffle(detail::result(r), t.get(), factor), "pixelUnshuffle_out");
}
inline Tensor channelShuffle(const Tensor &t, int64_t groups = 1) { return t.channelShuffle(groups); }
inline Tensor &channelShuffle_out(Tensor &r, const Tensor &t, int64_t groups = 1) {
    return detail::into(r, THTensor_channelShuffle(detail::result(r), t.get(), groups), "channelShuffle_out");
}

// ------------------------------------------------------------------------------------------------- Fourier transforms

inline Tensor fft(const Tensor &t, int signalDims, bool normalized = false) { return t.fft(signalDims, normalized); }
inline Tensor &fft_out(Tensor &r, const Tensor &t, int signalDims, bool normalized = false) {
    return detail::into(r, THTensor_fft(detail::result(r), t.get(), signalDims, normalized), "fft_out");
}
inline Tensor ifft(const Tensor &t, int signalDims, bool normalized = false) { return t.ifft(signalDims, normalized); }
inline Tensor &ifft_out(Tensor &r, const Tensor &t, int signalDims, bool normalized = false) {
    return detail::into(r, THTensor_ifft(detail::result(r), t.get(), signalDims, normalized), "ifft_out");
}
inline Tensor fft2(const Tensor &t) { return t.fft2(); }
inline Tensor &fft2_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_fft2(detail::result(r), t.get()), "fft2_out");
}
inline Tensor ifft2(const Tensor &t) { return t.ifft2(); }
inline Tensor &ifft2_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_ifft2(detail::result(r), t.get()), "ifft2_out");
}
inline Tensor rfft(const Tensor &t, int signalDims, bool normalized = false, bool onesided = true) {
    return t.rfft(signalDims, normalized, onesided);
}
inline Tensor &rfft_out(Tensor &r, const Tensor &t, int signalDims, bool normalized = false, bool onesided = true) {
    return detail::into(r, THTensor_rfft(detail::result(r), t.get(), signalDims, normalized, onesided), "rfft_out");
}
inline Tensor irfft(const Tensor &t, int signalDims, bool normalized = false, bool onesided = true,
    IntList signalSizes = {}) {
    return t.irfft(signalDims, normalized, onesided, signalSizes);
}
inline Tensor &irfft_out(Tensor &r, const Tensor &t, int signalDims, bool normalized = false, bool onesided = true,
    IntList signalSizes = {}) {
    return detail::into(r, THTensor_irfft(detail::result(r), t.get(), signalDims, normalized, onesided,
        signalSizes.count(), signalSizes.data()), "irfft_out");
}

// -------------------------------------------------------------------------------------------------- Random generators

/// `r` = the bytes of the generator's state as a vector; a fresh `r` gets uint8.
inline Tensor getRNGState(const Generator &generator = {}) {
    detail::New r;
    return r(THTensor_getRNGState(generator.get(), r.handle), "getRNGState");
}
inline Tensor &getRNGState_out(Tensor &r, const Generator &generator = {}) {
    return detail::into(r, THTensor_getRNGState(generator.get(), detail::result(r)), "getRNGState_out");
}
inline void setRNGState(const Generator &generator, const Tensor &t) { return t.setRNGState(generator); }
inline void setRNGState(const Tensor &t) { return t.setRNGState(); }

// ----------------------------------------------------------------------------------------------------- Random numbers

inline Tensor normal_means(const Generator &generator, const Tensor &means, double stdv = 1) {
    return means.normal_means(generator, stdv);
}
inline Tensor normal_means(const Tensor &means, double stdv = 1) { return means.normal_means(stdv); }
inline Tensor &normal_means_out(Tensor &r, const Generator &generator, const Tensor &means, double stdv = 1) {
    return detail::into(r, THTensor_normal_means(detail::result(r), generator.get(), means.get(), stdv),
        "normal_means_out");
}
inline Tensor &normal_means_out(Tensor &r, const Tensor &means, double stdv = 1) {
    return detail::into(r, THTensor_normal_means(detail::result(r), nullptr, means.get(), stdv), "normal_means_out");
}
inline Tensor normal(const Generator &generator, const Tensor &means, double stdv = 1) {
    return means.normal(generator, stdv);
}
inline Tensor normal(const Tensor &means, double stdv = 1) { return means.normal(stdv); }
inline Tensor &normal_out(Tensor &r, const Generator &generator, const Tensor &means, double stdv = 1) {
    return detail::into(r, THTensor_normal_means(detail::result(r), generator.get(), means.get(), stdv), "normal_out");
}
inline Tensor &normal_out(Tensor &r, const Tensor &means, double stdv = 1) {
    return detail::into(r, THTensor_normal_means(detail::result(r), nullptr, means.get(), stdv), "normal_out");
}
inline Tensor normal_stddevs(const Generator &generator, double mean, const Tensor &stdvs) {
    return stdvs.normal_stddevs(generator, mean);
}
inline Tensor normal_stddevs(double mean, const Tensor &stdvs) { return stdvs.normal_stddevs(mean); }
inline Tensor normal_stddevs(const Tensor &stdvs) { return stdvs.normal_stddevs(); }
inline Tensor &normal_stddevs_out(Tensor &r, const Generator &generator, double mean, const Tensor &stdvs) {
    return detail::into(r, THTensor_normal_stddevs(detail::result(r), generator.get(), mean, stdvs.get()),
        "normal_stddevs_out");
}
inline Tensor &normal_stddevs_out(Tensor &r, double mean, const Tensor &stdvs) {
    return detail::into(r, THTensor_normal_stddevs(detail::result(r), nullptr, mean, stdvs.get()),
        "normal_stddevs_out");
}
inline Tensor &normal_stddevs_out(Tensor &r, const Tensor &stdvs) {
    return detail::into(r, THTensor_normal_stddevs(detail::result(r), nullptr, 0, stdvs.get()), "normal_stddevs_out");
}
inline Tensor normal(const Generator &generator, double mean, const Tensor &stdvs) {
    detail::New r;
    return r(THTensor_normal_stddevs(r.handle, generator.get(), mean, stdvs.get()), "normal");
}
inline Tensor normal(double mean, const Tensor &stdvs) {
    detail::New r;
    return r(THTensor_normal_stddevs(r.handle, nullptr, mean, stdvs.get()), "normal");
}
inline Tensor &normal_out(Tensor &r, const Generator &generator, double mean, const Tensor &stdvs) {
    return detail::into(r, THTensor_normal_stddevs(detail::result(r), generator.get(), mean, stdvs.get()),
        "normal_out");
}
inline Tensor &normal_out(Tensor &r, double mean, const Tensor &stdvs) {
    return detail::into(r, THTensor_normal_stddevs(detail::result(r), nullptr, mean, stdvs.get()), "normal_out");
}
inline Tensor normal_means_stddevs(const Generator &generator, const Tensor &means, const Tensor &stdvs) {
    return means.normal_means_stddevs(generator, stdvs);
}
inline Tensor normal_means_stddevs(const Tensor &means, const Tensor &stdvs) {
    return means.normal_means_stddevs(stdvs);
}
inline Tensor &normal_means_stddevs_out(Tensor &r, const Generator &generator, const Tensor &means,
    const Tensor &stdvs) {
    return detail::into(r, THTensor_normal_means_stddevs(detail::result(r), generator.get(), means.get(), stdvs.get()),
        "normal_means_stddevs_out");
}
inline Tensor &normal_means_stddevs_out(Tensor &r, const Tensor &means, const Tensor &stdvs) {
    return detail::into(r, THTensor_normal_means_stddevs(detail::result(r), nullptr, means.get(), stdvs.get()),
        "normal_means_stddevs_out");
}
inline Tensor normal(const Generator &generator, const Tensor &means, const Tensor &stdvs) {
    return means.normal(generator, stdvs);
}
inline Tensor normal(const Tensor &means, const Tensor &stdvs) { return means.normal(stdvs); }
inline Tensor &normal_out(Tensor &r, const Generator &generator, const Tensor &means, const Tensor &stdvs) {
    return detail::into(r, THTensor_normal_means_stddevs(detail::result(r), generator.get(), means.get(), stdvs.get()),
        "normal_out");
}
inline Tensor &normal_out(Tensor &r, const Tensor &means, const Tensor &stdvs) {
    return detail::into(r, THTensor_normal_means_stddevs(detail::result(r), nullptr, means.get(), stdvs.get()),
        "normal_out");
}
inline Tensor gammaTensor(const Generator &generator, const Tensor &shape, const Tensor &scale) {
    return shape.gammaTensor(generator, scale);
}
inline Tensor gammaTensor(const Tensor &shape, const Tensor &scale) { return shape.gammaTensor(scale); }
inline Tensor &gammaTensor_out(Tensor &r, const Generator &generator, const Tensor &shape, const Tensor &scale) {
    return detail::into(r, THTensor_gammaTensor(detail::result(r), generator.get(), shape.get(), scale.get()),
        "gammaTensor_out");
}
inline Tensor &gammaTensor_out(Tensor &r, const Tensor &shape, const Tensor &scale) {
    return detail::into(r, THTensor_gammaTensor(detail::result(r), nullptr, shape.get(), scale.get()),
        "gammaTensor_out");
}
inline Tensor gamma(const Generator &generator, const Tensor &shape, const Tensor &scale) {
    return shape.gamma(generator, scale);
}
inline Tensor gamma(const Tensor &shape, const Tensor &scale) { return shape.gamma(scale); }
inline Tensor &gamma_out(Tensor &r, const Generator &generator, const Tensor &shape, const Tensor &scale) {
    return detail::into(r, THTensor_gammaTensor(detail::result(r), generator.get(), shape.get(), scale.get()),
        "gamma_out");
}
inline Tensor &gamma_out(Tensor &r, const Tensor &shape, const Tensor &scale) {
    return detail::into(r, THTensor_gammaTensor(detail::result(r), nullptr, shape.get(), scale.get()), "gamma_out");
}
inline Tensor betaTensor(const Generator &generator, const Tensor &a, const Tensor &b) {
    return a.betaTensor(generator, b);
}
inline Tensor betaTensor(const Tensor &a, const Tensor &b) { return a.betaTensor(b); }
inline Tensor &betaTensor_out(Tensor &r, const Generator &generator, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_betaTensor(detail::result(r), generator.get(), a.get(), b.get()),
        "betaTensor_out");
}
inline Tensor &betaTensor_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_betaTensor(detail::result(r), nullptr, a.get(), b.get()), "betaTensor_out");
}
inline Tensor beta(const Generator &generator, const Tensor &a, const Tensor &b) { return a.beta(generator, b); }
inline Tensor beta(const Tensor &a, const Tensor &b) { return a.beta(b); }
inline Tensor &beta_out(Tensor &r, const Generator &generator, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_betaTensor(detail::result(r), generator.get(), a.get(), b.get()), "beta_out");
}
inline Tensor &beta_out(Tensor &r, const Tensor &a, const Tensor &b) {
    return detail::into(r, THTensor_betaTensor(detail::result(r), nullptr, a.get(), b.get()), "beta_out");
}
inline Tensor bernoulliTensor(const Generator &generator, const Tensor &p) { return p.bernoulliTensor(generator); }
inline Tensor bernoulliTensor(const Tensor &p) { return p.bernoulliTensor(); }
inline Tensor &bernoulliTensor_out(Tensor &r, const Generator &generator, const Tensor &p) {
    return detail::into(r, THTensor_bernoulliTensor(detail::result(r), generator.get(), p.get()),
        "bernoulliTensor_out");
}
inline Tensor &bernoulliTensor_out(Tensor &r, const Tensor &p) {
    return detail::into(r, THTensor_bernoulliTensor(detail::result(r), nullptr, p.get()), "bernoulliTensor_out");
}
inline Tensor bernoulli(const Generator &generator, const Tensor &p) { return p.bernoulli(generator); }
inline Tensor bernoulli(const Tensor &p) { return p.bernoulli(); }
inline Tensor &bernoulli_out(Tensor &r, const Generator &generator, const Tensor &p) {
    return detail::into(r, THTensor_bernoulliTensor(detail::result(r), generator.get(), p.get()), "bernoulli_out");
}
inline Tensor &bernoulli_out(Tensor &r, const Tensor &p) {
    return detail::into(r, THTensor_bernoulliTensor(detail::result(r), nullptr, p.get()), "bernoulli_out");
}
inline Tensor poissonTensor(const Generator &generator, const Tensor &rate) { return rate.poissonTensor(generator); }
inline Tensor poissonTensor(const Tensor &rate) { return rate.poissonTensor(); }
inline Tensor &poissonTensor_out(Tensor &r, const Generator &generator, const Tensor &rate) {
    return detail::into(r, THTensor_poissonTensor(detail::result(r), generator.get(), rate.get()),
        "poissonTensor_out");
}
inline Tensor &poissonTensor_out(Tensor &r, const Tensor &rate) {
    return detail::into(r, THTensor_poissonTensor(detail::result(r), nullptr, rate.get()), "poissonTensor_out");
}
inline Tensor poisson(const Generator &generator, const Tensor &rate) { return rate.poisson(generator); }
inline Tensor poisson(const Tensor &rate) { return rate.poisson(); }
inline Tensor &poisson_out(Tensor &r, const Generator &generator, const Tensor &rate) {
    return detail::into(r, THTensor_poissonTensor(detail::result(r), generator.get(), rate.get()), "poisson_out");
}
inline Tensor &poisson_out(Tensor &r, const Tensor &rate) {
    return detail::into(r, THTensor_poissonTensor(detail::result(r), nullptr, rate.get()), "poisson_out");
}
inline Tensor binomialTensor(const Generator &generator, const Tensor &n, const Tensor &p) {
    return n.binomialTensor(generator, p);
}
inline Tensor binomialTensor(const Tensor &n, const Tensor &p) { return n.binomialTensor(p); }
inline Tensor &binomialTensor_out(Tensor &r, const Generator &generator, const Tensor &n, const Tensor &p) {
    return detail::into(r, THTensor_binomialTensor(detail::result(r), generator.get(), n.get(), p.get()),
        "binomialTensor_out");
}
inline Tensor &binomialTensor_out(Tensor &r, const Tensor &n, const Tensor &p) {
    return detail::into(r, THTensor_binomialTensor(detail::result(r), nullptr, n.get(), p.get()),
        "binomialTensor_out");
}
inline Tensor binomial(const Generator &generator, const Tensor &n, const Tensor &p) {
    return n.binomial(generator, p);
}
inline Tensor binomial(const Tensor &n, const Tensor &p) { return n.binomial(p); }
inline Tensor &binomial_out(Tensor &r, const Generator &generator, const Tensor &n, const Tensor &p) {
    return detail::into(r, THTensor_binomialTensor(detail::result(r), generator.get(), n.get(), p.get()),
        "binomial_out");
}
inline Tensor &binomial_out(Tensor &r, const Tensor &n, const Tensor &p) {
    return detail::into(r, THTensor_binomialTensor(detail::result(r), nullptr, n.get(), p.get()), "binomial_out");
}
inline Tensor &rand_out(Tensor &r, const Generator &generator, IntList size) {
    return detail::into(r, THTensor_rand(detail::result(r), generator.get(), size.count(), size.data()), "rand_out");
}
inline Tensor &rand_out(Tensor &r, IntList size) {
    return detail::into(r, THTensor_rand(detail::result(r), nullptr, size.count(), size.data()), "rand_out");
}
inline Tensor &randn_out(Tensor &r, const Generator &generator, IntList size) {
    return detail::into(r, THTensor_randn(detail::result(r), generator.get(), size.count(), size.data()), "randn_out");
}
inline Tensor &randn_out(Tensor &r, IntList size) {
    return detail::into(r, THTensor_randn(detail::result(r), nullptr, size.count(), size.data()), "randn_out");
}
inline Tensor &randint_out(Tensor &r, const Generator &generator, int64_t from, int64_t to, IntList size) {
    return detail::into(r, THTensor_randint(detail::result(r), generator.get(), from, to, size.count(), size.data()),
        "randint_out");
}
inline Tensor &randint_out(Tensor &r, int64_t from, int64_t to, IntList size) {
    return detail::into(r, THTensor_randint(detail::result(r), nullptr, from, to, size.count(), size.data()),
        "randint_out");
}
inline Tensor &randint_out(Tensor &r, int64_t to, IntList size) {
    return detail::into(r, THTensor_randint(detail::result(r), nullptr, 0, to, size.count(), size.data()),
        "randint_out");
}
inline Tensor &randLike_out(Tensor &r, const Generator &generator, const Tensor &t) {
    return detail::into(r, THTensor_randLike(detail::result(r), generator.get(), t.get()), "randLike_out");
}
inline Tensor &randLike_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_randLike(detail::result(r), nullptr, t.get()), "randLike_out");
}
inline Tensor &randnLike_out(Tensor &r, const Generator &generator, const Tensor &t) {
    return detail::into(r, THTensor_randnLike(detail::result(r), generator.get(), t.get()), "randnLike_out");
}
inline Tensor &randnLike_out(Tensor &r, const Tensor &t) {
    return detail::into(r, THTensor_randnLike(detail::result(r), nullptr, t.get()), "randnLike_out");
}
inline Tensor &randintLike_out(Tensor &r, const Generator &generator, const Tensor &t, int64_t from, int64_t to) {
    return detail::into(r, THTensor_randintLike(detail::result(r), generator.get(), t.get(), from, to),
        "randintLike_out");
}
inline Tensor &randintLike_out(Tensor &r, const Tensor &t, int64_t from, int64_t to) {
    return detail::into(r, THTensor_randintLike(detail::result(r), nullptr, t.get(), from, to), "randintLike_out");
}
inline Tensor &randintLike_out(Tensor &r, const Tensor &t, int64_t to) {
    return detail::into(r, THTensor_randintLike(detail::result(r), nullptr, t.get(), 0, to), "randintLike_out");
}
inline Tensor &randperm_out(Tensor &r, const Generator &generator, int64_t n) {
    return detail::into(r, THTensor_randperm(detail::result(r), generator.get(), n), "randperm_out");
}
inline Tensor &randperm_out(Tensor &r, int64_t n) {
    return detail::into(r, THTensor_randperm(detail::result(r), nullptr, n), "randperm_out");
}
/// A row-major tensor of numbers as by `THTensor_rand`.
inline Tensor rand(const Generator &generator, IntList size, Dtype dtype = Dtype::Undefined) {
    if (dtype == Dtype::Undefined) { detail::New r; return r(THTensor_rand(r.handle, generator.get(), size.count(),
        size.data()), "rand"); } return detail::made(THTensor_newRand(detail::dtype(dtype), generator.get(),
        size.count(), size.data()), "rand");
}
/// A row-major tensor of numbers as by `THTensor_rand`.
inline Tensor rand(IntList size, Dtype dtype = Dtype::Undefined) {
    if (dtype == Dtype::Undefined) { detail::New r; return r(THTensor_rand(r.handle, nullptr, size.count(),
        size.data()), "rand"); } return detail::made(THTensor_newRand(detail::dtype(dtype), nullptr, size.count(),
        size.data()), "rand");
}
/// A row-major tensor of numbers as by `THTensor_randn`.
inline Tensor randn(const Generator &generator, IntList size, Dtype dtype = Dtype::Undefined) {
    if (dtype == Dtype::Undefined) { detail::New r; return r(THTensor_randn(r.handle, generator.get(), size.count(),
        size.data()), "randn"); } return detail::made(THTensor_newRandn(detail::dtype(dtype), generator.get(),
        size.count(), size.data()), "randn");
}
/// A row-major tensor of numbers as by `THTensor_randn`.
inline Tensor randn(IntList size, Dtype dtype = Dtype::Undefined) {
    if (dtype == Dtype::Undefined) { detail::New r; return r(THTensor_randn(r.handle, nullptr, size.count(),
        size.data()), "randn"); } return detail::made(THTensor_newRandn(detail::dtype(dtype), nullptr, size.count(),
        size.data()), "randn");
}
/// A row-major tensor of integers as by `THTensor_randint`.
inline Tensor randint(const Generator &generator, int64_t from, int64_t to, IntList size,
    Dtype dtype = Dtype::Undefined) {
    if (dtype == Dtype::Undefined) { detail::New r; return r(THTensor_randint(r.handle, generator.get(), from, to,
        size.count(), size.data()), "randint"); } return detail::made(THTensor_newRandint(detail::dtype(dtype),
        generator.get(), from, to, size.count(), size.data()), "randint");
}
/// A row-major tensor of integers as by `THTensor_randint`.
inline Tensor randint(int64_t from, int64_t to, IntList size, Dtype dtype = Dtype::Undefined) {
    if (dtype == Dtype::Undefined) { detail::New r; return r(THTensor_randint(r.handle, nullptr, from, to, size.count(),
        size.data()), "randint"); } return detail::made(THTensor_newRandint(detail::dtype(dtype), nullptr, from, to,
        size.count(), size.data()), "randint");
}
/// A row-major tensor of integers as by `THTensor_randint`.
inline Tensor randint(int64_t to, IntList size, Dtype dtype = Dtype::Undefined) {
    if (dtype == Dtype::Undefined) { detail::New r; return r(THTensor_randint(r.handle, nullptr, 0, to, size.count(),
        size.data()), "randint"); } return detail::made(THTensor_newRandint(detail::dtype(dtype), nullptr, 0, to,
        size.count(), size.data()), "randint");
}
inline Tensor randLike(const Tensor &t, const Generator &generator) { return t.randLike(generator); }
inline Tensor randLike(const Tensor &t) { return t.randLike(); }
inline Tensor randnLike(const Tensor &t, const Generator &generator) { return t.randnLike(generator); }
inline Tensor randnLike(const Tensor &t) { return t.randnLike(); }
inline Tensor randintLike(const Tensor &t, const Generator &generator, int64_t from, int64_t to) {
    return t.randintLike(generator, from, to);
}
inline Tensor randintLike(const Tensor &t, int64_t from, int64_t to) { return t.randintLike(from, to); }
inline Tensor randintLike(const Tensor &t, int64_t to) { return t.randintLike(to); }
/// A vector as by `THTensor_randperm`.
inline Tensor randperm(const Generator &generator, int64_t n, Dtype dtype = Dtype::Undefined) {
    if (dtype == Dtype::Undefined) { detail::New r; return r(THTensor_randperm(r.handle, generator.get(), n),
        "randperm"); } return detail::made(THTensor_newRandperm(detail::dtype(dtype), generator.get(), n), "randperm");
}
/// A vector as by `THTensor_randperm`.
inline Tensor randperm(int64_t n, Dtype dtype = Dtype::Undefined) {
    if (dtype == Dtype::Undefined) { detail::New r; return r(THTensor_randperm(r.handle, nullptr, n),
        "randperm"); } return detail::made(THTensor_newRandperm(detail::dtype(dtype), nullptr, n), "randperm");
}
inline Tensor multinomial(const Generator &generator, const Tensor &p, int64_t n, bool replacement = false) {
    return p.multinomial(generator, n, replacement);
}
inline Tensor multinomial(const Tensor &p, int64_t n, bool replacement = false) {
    return p.multinomial(n, replacement);
}
inline Tensor &multinomial_out(Tensor &r, const Generator &generator, const Tensor &p, int64_t n,
    bool replacement = false) {
    return detail::into(r, THTensor_multinomial(detail::result(r), generator.get(), p.get(), n, replacement),
        "multinomial_out");
}
inline Tensor &multinomial_out(Tensor &r, const Tensor &p, int64_t n, bool replacement = false) {
    return detail::into(r, THTensor_multinomial(detail::result(r), nullptr, p.get(), n, replacement),
        "multinomial_out");
}
inline JQ Tensor::multinomialAliasSetup() const {
    JQ r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_multinomialAliasSetup(handle_, r.J.get(), r.q.get()), "multinomialAliasSetup", r.J,
        r.q);
    return r;
}
inline JQ multinomialAliasSetup(const Tensor &p) { return p.multinomialAliasSetup(); }
inline Tensor &multinomialAliasSetup_out(Tensor &J, Tensor &q, const Tensor &p) {
    return detail::into(J, THTensor_multinomialAliasSetup(p.get(), detail::result(J), detail::result(q)),
        "multinomialAliasSetup_out");
}
inline Tensor multinomialAliasDraw(const Generator &generator, const Tensor &J, const Tensor &q) {
    return J.multinomialAliasDraw(generator, q);
}
inline Tensor multinomialAliasDraw(const Tensor &J, const Tensor &q) { return J.multinomialAliasDraw(q); }
inline Tensor &multinomialAliasDraw_out(Tensor &r, const Generator &generator, const Tensor &J, const Tensor &q) {
    return detail::into(r, THTensor_multinomialAliasDraw(detail::result(r), generator.get(), J.get(), q.get()),
        "multinomialAliasDraw_out");
}
inline Tensor &multinomialAliasDraw_out(Tensor &r, const Tensor &J, const Tensor &q) {
    return detail::into(r, THTensor_multinomialAliasDraw(detail::result(r), nullptr, J.get(), q.get()),
        "multinomialAliasDraw_out");
}
inline RMask Tensor::dropout(const Generator &generator, double p) const {
    RMask r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_dropout(r.r.get(), r.mask.get(), generator.get(), handle_, p), "dropout", r.r, r.mask);
    return r;
}
inline RMask Tensor::dropout(double p) const {
    RMask r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_dropout(r.r.get(), r.mask.get(), nullptr, handle_, p), "dropout", r.r, r.mask);
    return r;
}
inline RMask dropout(const Generator &generator, const Tensor &t, double p = 0.5) { return t.dropout(generator, p); }
inline RMask dropout(const Tensor &t, double p = 0.5) { return t.dropout(p); }
inline Tensor &dropout_out(Tensor &r, Out mask, const Generator &generator, const Tensor &t, double p = 0.5) {
    return detail::into(r, THTensor_dropout(detail::result(r), detail::result(mask), generator.get(), t.get(), p),
        "dropout_out");
}
inline Tensor &dropout_out(Tensor &r, Out mask, const Tensor &t, double p = 0.5) {
    return detail::into(r, THTensor_dropout(detail::result(r), detail::result(mask), nullptr, t.get(), p),
        "dropout_out");
}
inline RMask Tensor::featureDropout(const Generator &generator, double p) const {
    RMask r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_featureDropout(r.r.get(), r.mask.get(), generator.get(), handle_, p), "featureDropout",
        r.r, r.mask);
    return r;
}
inline RMask Tensor::featureDropout(double p) const {
    RMask r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_featureDropout(r.r.get(), r.mask.get(), nullptr, handle_, p), "featureDropout", r.r,
        r.mask);
    return r;
}
inline RMask featureDropout(const Generator &generator, const Tensor &t, double p = 0.5) {
    return t.featureDropout(generator, p);
}
inline RMask featureDropout(const Tensor &t, double p = 0.5) { return t.featureDropout(p); }
inline Tensor &featureDropout_out(Tensor &r, Out mask, const Generator &generator, const Tensor &t, double p = 0.5) {
    return detail::into(r, THTensor_featureDropout(detail::result(r), detail::result(mask), generator.get(), t.get(),
        p), "featureDropout_out");
}
inline Tensor &featureDropout_out(Tensor &r, Out mask, const Tensor &t, double p = 0.5) {
    return detail::into(r, THTensor_featureDropout(detail::result(r), detail::result(mask), nullptr, t.get(), p),
        "featureDropout_out");
}
inline RMask Tensor::alphaDropout(const Generator &generator, double p) const {
    RMask r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_alphaDropout(r.r.get(), r.mask.get(), generator.get(), handle_, p), "alphaDropout", r.r,
        r.mask);
    return r;
}
inline RMask Tensor::alphaDropout(double p) const {
    RMask r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_alphaDropout(r.r.get(), r.mask.get(), nullptr, handle_, p), "alphaDropout", r.r,
        r.mask);
    return r;
}
inline RMask alphaDropout(const Generator &generator, const Tensor &t, double p = 0.5) {
    return t.alphaDropout(generator, p);
}
inline RMask alphaDropout(const Tensor &t, double p = 0.5) { return t.alphaDropout(p); }
inline Tensor &alphaDropout_out(Tensor &r, Out mask, const Generator &generator, const Tensor &t, double p = 0.5) {
    return detail::into(r, THTensor_alphaDropout(detail::result(r), detail::result(mask), generator.get(), t.get(), p),
        "alphaDropout_out");
}
inline Tensor &alphaDropout_out(Tensor &r, Out mask, const Tensor &t, double p = 0.5) {
    return detail::into(r, THTensor_alphaDropout(detail::result(r), detail::result(mask), nullptr, t.get(), p),
        "alphaDropout_out");
}
inline RMask Tensor::featureAlphaDropout(const Generator &generator, double p) const {
    RMask r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_featureAlphaDropout(r.r.get(), r.mask.get(), generator.get(), handle_, p),
        "featureAlphaDropout", r.r, r.mask);
    return r;
}
inline RMask Tensor::featureAlphaDropout(double p) const {
    RMask r{Tensor(detail::Fresh{}), Tensor(detail::Fresh{})};
    detail::check_all(THTensor_featureAlphaDropout(r.r.get(), r.mask.get(), nullptr, handle_, p), "featureAlphaDropout",
        r.r, r.mask);
    return r;
}
inline RMask featureAlphaDropout(const Generator &generator, const Tensor &t, double p = 0.5) {
    return t.featureAlphaDropout(generator, p);
}
inline RMask featureAlphaDropout(const Tensor &t, double p = 0.5) { return t.featureAlphaDropout(p); }
inline Tensor &featureAlphaDropout_out(Tensor &r, Out mask, const Generator &generator, const Tensor &t,
    double p = 0.5) {
    return detail::into(r, THTensor_featureAlphaDropout(detail::result(r), detail::result(mask), generator.get(),
        t.get(), p), "featureAlphaDropout_out");
}
inline Tensor &featureAlphaDropout_out(Tensor &r, Out mask, const Tensor &t, double p = 0.5) {
    return detail::into(r, THTensor_featureAlphaDropout(detail::result(r), detail::result(mask), nullptr, t.get(), p),
        "featureAlphaDropout_out");
}

// -------------------------------------------------------------------------------------- Exchange with other libraries

inline DLManagedTensorVersioned *toDLPack(const Tensor &t) { return t.toDLPack(); }
inline DLManagedTensor *toDLPackLegacy(const Tensor &t) { return t.toDLPackLegacy(); }
/// Returns a tensor that shares the elements of a producer of DLPack 1.
inline Tensor fromDLPack(DLManagedTensorVersioned *tensor) {
    return detail::made(THTensor_newFromDLPack(tensor), "fromDLPack");
}
/// Returns a tensor as newFromDLPack does, from the struct that DLPack had before version 1, which cannot forbid
/// writing.
inline Tensor fromDLPackLegacy(DLManagedTensor *tensor) {
    return detail::made(THTensor_newFromDLPackLegacy(tensor), "fromDLPackLegacy");
}
inline void toArrow(const Tensor &t, ArrowSchema *schema, ArrowArray *array) { return t.toArrow(schema, array); }
/// Returns a tensor with one dimension that shares the values of an Arrow array of signed integers, uint8, floats or
/// truth values.
inline Tensor fromArrow(ArrowSchema *schema, ArrowArray *array) {
    return detail::made(THTensor_newFromArrow(schema, array), "fromArrow");
}

// ------------------------------------------------------------------------------------- Mapped files and shared memory

inline bool isShared(const Tensor &t) { return t.isShared(); }

// ---------------------------------------------------------------------------------------------------------- Gradients

inline bool requiresGrad(const Tensor &t) { return t.requiresGrad(); }
inline bool isLeaf(const Tensor &t) { return t.isLeaf(); }
inline Tensor detach(const Tensor &t) { return t.detach(); }
inline int64_t version(const Tensor &t) { return t.version(); }
inline void backward(const Tensor &t, const Tensor &gradient = {}) { return t.backward(gradient); }

// ----------------------------------------------------------------------------------------------------------- Printing

inline String toString(const Tensor &t, const THPrintOptions *options = nullptr) { return t.toString(options); }
inline void print(const Tensor &t) { return t.print(); }
inline void fprint(FILE *stream, const Tensor &t, const THPrintOptions *options = nullptr) {
    return t.fprint(stream, options);
}

// -------------------------------------------------------------------------------------------------------------- Files

/// Reads the only tensor of the file `path`.
inline Tensor load(Text path) { return detail::made(THTensor_newLoad(path.c_str()), "load"); }
inline void save(const Tensor &t, Text path) { return t.save(path); }

// ==================================================================================================================
//     Operators
// ==================================================================================================================

// Elementwise, with broadcasting and promotion, as the functions that they call. Comparisons give Bool;
// `th::equal(a, b)` compares tensors as wholes.

inline Tensor operator+(const Tensor &a, const Tensor &b) { return a.add(b); }
inline Tensor operator+(const Tensor &a, double b) { return a.add(b); }
inline Tensor operator+(double a, const Tensor &b) { return b.add(a); }
inline Tensor operator-(const Tensor &a, const Tensor &b) { return a.sub(b); }
inline Tensor operator-(const Tensor &a, double b) { return a.sub(b); }
inline Tensor operator-(double a, const Tensor &b) { return b.rsub(a); }
inline Tensor operator*(const Tensor &a, const Tensor &b) { return a.mul(b); }
inline Tensor operator*(const Tensor &a, double b) { return a.mul(b); }
inline Tensor operator*(double a, const Tensor &b) { return b.mul(a); }
inline Tensor operator/(const Tensor &a, const Tensor &b) { return a.div(b); }
inline Tensor operator/(const Tensor &a, double b) { return a.div(b); }
inline Tensor operator/(double a, const Tensor &b) { return b.rdiv(a); }
inline Tensor operator&(const Tensor &a, const Tensor &b) { return a.bitAnd(b); }
inline Tensor operator&(const Tensor &a, double b) { return a.bitAnd(b); }
inline Tensor operator&(double a, const Tensor &b) { return b.bitAnd(a); }
inline Tensor operator|(const Tensor &a, const Tensor &b) { return a.bitOr(b); }
inline Tensor operator|(const Tensor &a, double b) { return a.bitOr(b); }
inline Tensor operator|(double a, const Tensor &b) { return b.bitOr(a); }
inline Tensor operator^(const Tensor &a, const Tensor &b) { return a.bitxor(b); }
inline Tensor operator^(const Tensor &a, double b) { return a.bitxor(b); }
inline Tensor operator^(double a, const Tensor &b) { return b.bitxor(a); }
inline Tensor operator==(const Tensor &a, const Tensor &b) { return a.eq(b); }
inline Tensor operator==(const Tensor &a, double b) { return a.eq(b); }
inline Tensor operator==(double a, const Tensor &b) { return b.eq(a); }
inline Tensor operator!=(const Tensor &a, const Tensor &b) { return a.ne(b); }
inline Tensor operator!=(const Tensor &a, double b) { return a.ne(b); }
inline Tensor operator!=(double a, const Tensor &b) { return b.ne(a); }
inline Tensor operator<(const Tensor &a, const Tensor &b) { return a.lt(b); }
inline Tensor operator<(const Tensor &a, double b) { return a.lt(b); }
inline Tensor operator<(double a, const Tensor &b) { return b.gt(a); }
inline Tensor operator<=(const Tensor &a, const Tensor &b) { return a.le(b); }
inline Tensor operator<=(const Tensor &a, double b) { return a.le(b); }
inline Tensor operator<=(double a, const Tensor &b) { return b.ge(a); }
inline Tensor operator>(const Tensor &a, const Tensor &b) { return a.gt(b); }
inline Tensor operator>(const Tensor &a, double b) { return a.gt(b); }
inline Tensor operator>(double a, const Tensor &b) { return b.lt(a); }
inline Tensor operator>=(const Tensor &a, const Tensor &b) { return a.ge(b); }
inline Tensor operator>=(const Tensor &a, double b) { return a.ge(b); }
inline Tensor operator>=(double a, const Tensor &b) { return b.le(a); }
inline Tensor operator%(const Tensor &a, const Tensor &b) { return a.remainder(b); }
inline Tensor operator%(const Tensor &a, double b) { return a.remainder(b); }
inline Tensor operator<<(const Tensor &a, const Tensor &b) { return a.lshift(b); }
inline Tensor operator<<(const Tensor &a, double b) { return a.lshift(b); }
inline Tensor operator>>(const Tensor &a, const Tensor &b) { return a.rshift(b); }
inline Tensor operator>>(const Tensor &a, double b) { return a.rshift(b); }

// ==================================================================================================================
//     Views by indices
// ==================================================================================================================

/// The index along one dimension, or a value that replaces it: see `Tensor::operator()`.
class Index {
  public:
    enum class Kind { At, Slice, New, Rest, Chosen };
    constexpr Index(int64_t at) noexcept : kind(Kind::At), start(at) {}
    template <class N, class = std::enable_if_t<detail::is_no_position<N>>> Index(N) = delete;
    /// A mask or a tensor of positions, which must outlive this object.
    Index(const Tensor &t) noexcept : kind(Kind::Chosen), start(0), chosen(&t) {}
    constexpr Index(Kind of, int64_t first, int64_t bound, int64_t distance) noexcept
        : kind(of), start(first), end(bound), step(distance) {}
    Kind kind;
    int64_t start, end = 0, step = 1;
    const Tensor *chosen = nullptr;

    /// True for a mask.
    static bool isMask(const Tensor &t) noexcept { return t.dtype() == Dtype::Bool || t.dtype() == Dtype::Uint8; }
    /// The number of dimensions of the tensor that this is an index of.
    int dim() const noexcept {
        switch (kind) {
        case Kind::Chosen:
            return isMask(*chosen) ? chosen->dim() : 1;
        case Kind::At:
        case Kind::Slice:
            return 1;
        default:
            return 0;
        }
    }
};

/// A bound of a slice, which may be `none`.
class Bound {
  public:
    constexpr Bound(int64_t index) noexcept : given(true), at(index) {}
    constexpr Bound(None) noexcept : given(false), at(0) {}
    bool given;
    int64_t at;
};

/// The entries `start`, `start + step`, ... before `end`; bounds clamp as in Python, and negative ones count from the
/// end.
constexpr Index slice(Bound start, Bound end = none, int64_t step = 1) noexcept {
    return Index(Index::Kind::Slice, start.given ? start.at : 0, end.given ? end.at : INT64_MAX, step);
}

/// All entries of a dimension as an index. As a function, THTensor_all and THTensor_allDims.
class All {
  public:
    constexpr operator Index() const noexcept { return Index(Index::Kind::Slice, 0, INT64_MAX, 1); }
    Tensor operator()(const Tensor &t, int dimension = everyDim, bool keepdim = false) const {
        return t.all(dimension, keepdim);
    }
    Tensor operator()(const Tensor &t, IntList dims, bool keepdim = false) const { return t.all(dims, keepdim); }
};

/// See All.
inline constexpr All all{};
/// A new dimension of size 1.
inline constexpr Index newaxis{Index::Kind::New, 0, 0, 1};
/// All dimensions without another index.
inline constexpr Index ellipsis{Index::Kind::Rest, 0, 0, 1};

namespace detail {

/// Fails for more indices than dimensions.
inline bool enough(const char *name, const Tensor &t, int count) {
    if (count <= t.dim()) return true;
    fail(Error(Status::ErrArgument,
               {name, ": ", Digits(count), " indices for a tensor with ", Digits(t.dim()), " dimensions"}));
    return false;
}

/// The view of `t` by a list of indices. A mask or a tensor of positions keeps its dimensions whole.
inline Tensor view(const Tensor &t, std::initializer_list<Index> list) {
    int named = 0;
    for (const Index &index : list) named += index.dim();
    if (t.defined() && !enough("operator()", t, named)) return Tensor();
    Tensor r = t.withTensor();
    int dimension = 0;
    for (const Index &index : list) {
        THTensor *view = r.get();
        THStatus status = TH_OK;
        switch (index.kind) {
        case Index::Kind::At:
            status = THTensor_select(view, view, dimension, index.start);
            break;
        case Index::Kind::Slice:
            status = THTensor_slice(view, view, dimension++, index.start, index.end, index.step);
            break;
        case Index::Kind::New:
            status = THTensor_unsqueeze1d(view, view, dimension++);
            break;
        case Index::Kind::Rest:
            dimension += t.dim() > named ? t.dim() - named : 0;
            break;
        case Index::Kind::Chosen:
            dimension += index.dim();
            break;
        }
        check(status, "operator()", r);
    }
    return r;
}

} // namespace detail

/// The elements of a tensor at a mask or at tensors of positions: `t(mask)`. A Selection is a target of assignments,
/// which write to the tensor, and converts to a Tensor with a copy of the elements. Functions such as `th::sort(t(mask))`
/// use the copy, and so do the methods of views, of reductions, and of single elements. A variable that is declared `auto`
/// is a Selection, which reads the elements again whenever it is used: `th::Tensor u = t(mask)` reads them once.
class Selection {
  public:
    Selection(const Tensor &t, std::initializer_list<Index> list);
    Selection(Selection &&) noexcept = default;

    /// A copy of the elements.
    Tensor read() const { return view_.index(indices_); }
    operator Tensor() const { return read(); }

    /// Writes to the elements, with broadcasting: `t(mask) = src`.
    void operator=(const Tensor &src) && { view_.indexPut_(indices_, src); }
    void operator=(const Selection &src) && { std::move(*this) = src.read(); }
    void operator=(double value) &&;
    /// `t(index) += b` reads the elements, adds, and writes the sums. A position that occurs several times is changed once;
    /// `t.indexPut_({index}, b, true)` adds for each occurrence.
    void operator+=(const Tensor &b) && { std::move(*this) = read() += b; }
    void operator+=(double b) && { std::move(*this) = read() += b; }
    void operator-=(const Tensor &b) && { std::move(*this) = read() -= b; }
    void operator-=(double b) && { std::move(*this) = read() -= b; }
    void operator*=(const Tensor &b) && { std::move(*this) = read() *= b; }
    void operator*=(double b) && { std::move(*this) = read() *= b; }
    void operator/=(const Tensor &b) && { std::move(*this) = read() /= b; }
    void operator/=(double b) && { std::move(*this) = read() /= b; }
    void operator%=(const Tensor &b) && { std::move(*this) = read() %= b; }
    void operator%=(double b) && { std::move(*this) = read() %= b; }
    void operator&=(const Tensor &b) && { std::move(*this) = read() &= b; }
    void operator&=(double b) && { std::move(*this) = read() &= b; }
    void operator|=(const Tensor &b) && { std::move(*this) = read() |= b; }
    void operator|=(double b) && { std::move(*this) = read() |= b; }
    void operator^=(const Tensor &b) && { std::move(*this) = read() ^= b; }
    void operator^=(double b) && { std::move(*this) = read() ^= b; }

    Tensor operator-() const { return -read(); }
    Tensor operator~() const { return ~read(); }
    Tensor operator!() const { return !read(); }
    template <class... I> auto operator()(const I &...index) const { return read()(index...); }
    template <class I> auto operator[](const I &index) const { return read()[index]; }
    template <class T> T item() const { return read().item<T>(); }
    int dim() const { return read().dim(); }
    Dtype dtype() const noexcept { return view_.dtype(); }
    template <class... A> auto all(A &&...a) const { return read().all(std::forward<A>(a)...); }
    template <class... A> auto allDims(A &&...a) const { return read().allDims(std::forward<A>(a)...); }
    template <class... A> auto amax(A &&...a) const { return read().amax(std::forward<A>(a)...); }
    template <class... A> auto amaxDims(A &&...a) const { return read().amaxDims(std::forward<A>(a)...); }
    template <class... A> auto amin(A &&...a) const { return read().amin(std::forward<A>(a)...); }
    template <class... A> auto aminDims(A &&...a) const { return read().aminDims(std::forward<A>(a)...); }
    template <class... A> auto aminmax(A &&...a) const { return read().aminmax(std::forward<A>(a)...); }
    template <class... A> auto any(A &&...a) const { return read().any(std::forward<A>(a)...); }
    template <class... A> auto anyDims(A &&...a) const { return read().anyDims(std::forward<A>(a)...); }
    template <class... A> auto argmax(A &&...a) const { return read().argmax(std::forward<A>(a)...); }
    template <class... A> auto argmin(A &&...a) const { return read().argmin(std::forward<A>(a)...); }
    template <class... A> auto asStrided(A &&...a) const { return read().asStrided(std::forward<A>(a)...); }
    template <class... A> auto chunk(A &&...a) const { return read().chunk(std::forward<A>(a)...); }
    template <class... A> auto clone(A &&...a) const { return read().clone(std::forward<A>(a)...); }
    template <class... A> auto cloneFormat(A &&...a) const { return read().cloneFormat(std::forward<A>(a)...); }
    template <class... A> auto contiguous(A &&...a) const { return read().contiguous(std::forward<A>(a)...); }
    template <class... A> auto contiguousFormat(A &&...a) const { return read().contiguousFormat(std::forward<A>(a)...); }
    template <class... A> auto deviceType(A &&...a) const { return read().deviceType(std::forward<A>(a)...); }
    template <class... A> auto diagonal(A &&...a) const { return read().diagonal(std::forward<A>(a)...); }
    template <class... A> auto dist(A &&...a) const { return read().dist(std::forward<A>(a)...); }
    template <class... A> auto elementSize(A &&...a) const { return read().elementSize(std::forward<A>(a)...); }
    template <class... A> auto expand(A &&...a) const { return read().expand(std::forward<A>(a)...); }
    template <class... A> auto expandAs(A &&...a) const { return read().expandAs(std::forward<A>(a)...); }
    template <class... A> auto flatten(A &&...a) const { return read().flatten(std::forward<A>(a)...); }
    template <class... A> auto fprint(A &&...a) const { return read().fprint(std::forward<A>(a)...); }
    template <class... A> auto getAt(A &&...a) const { return read().getAt(std::forward<A>(a)...); }
    template <class... A> auto getAtLong(A &&...a) const { return read().getAtLong(std::forward<A>(a)...); }
    template <class... A> auto getDevice(A &&...a) const { return read().getDevice(std::forward<A>(a)...); }
    template <class... A> auto isContiguous(A &&...a) const { return read().isContiguous(std::forward<A>(a)...); }
    template <class... A> auto isContiguousFormat(A &&...a) const { return read().isContiguousFormat(std::forward<A>(a)...); }
    template <class... A> auto isSameSize(A &&...a) const { return read().isSameSize(std::forward<A>(a)...); }
    template <class... A> auto isSameSizeAs(A &&...a) const { return read().isSameSizeAs(std::forward<A>(a)...); }
    template <class... A> auto isSetTo(A &&...a) const { return read().isSetTo(std::forward<A>(a)...); }
    template <class... A> auto isSize(A &&...a) const { return read().isSize(std::forward<A>(a)...); }
    template <class... A> auto item(A &&...a) const { return read().item(std::forward<A>(a)...); }
    template <class... A> auto itemLong(A &&...a) const { return read().itemLong(std::forward<A>(a)...); }
    template <class... A> auto logicalall(A &&...a) const { return read().logicalall(std::forward<A>(a)...); }
    template <class... A> auto logicalany(A &&...a) const { return read().logicalany(std::forward<A>(a)...); }
    template <class... A> auto max(A &&...a) const { return read().max(std::forward<A>(a)...); }
    template <class... A> auto maxall(A &&...a) const { return read().maxall(std::forward<A>(a)...); }
    template <class... A> auto mean(A &&...a) const { return read().mean(std::forward<A>(a)...); }
    template <class... A> auto meanDims(A &&...a) const { return read().meanDims(std::forward<A>(a)...); }
    template <class... A> auto meanall(A &&...a) const { return read().meanall(std::forward<A>(a)...); }
    template <class... A> auto min(A &&...a) const { return read().min(std::forward<A>(a)...); }
    template <class... A> auto minall(A &&...a) const { return read().minall(std::forward<A>(a)...); }
    template <class... A> auto nElement(A &&...a) const { return read().nElement(std::forward<A>(a)...); }
    template <class... A> auto nanargmax(A &&...a) const { return read().nanargmax(std::forward<A>(a)...); }
    template <class... A> auto nanargmin(A &&...a) const { return read().nanargmin(std::forward<A>(a)...); }
    template <class... A> auto nanmax(A &&...a) const { return read().nanmax(std::forward<A>(a)...); }
    template <class... A> auto nanmaxDims(A &&...a) const { return read().nanmaxDims(std::forward<A>(a)...); }
    template <class... A> auto nanmean(A &&...a) const { return read().nanmean(std::forward<A>(a)...); }
    template <class... A> auto nanmeanDims(A &&...a) const { return read().nanmeanDims(std::forward<A>(a)...); }
    template <class... A> auto nanmin(A &&...a) const { return read().nanmin(std::forward<A>(a)...); }
    template <class... A> auto nanminDims(A &&...a) const { return read().nanminDims(std::forward<A>(a)...); }
    template <class... A> auto nanprod(A &&...a) const { return read().nanprod(std::forward<A>(a)...); }
    template <class... A> auto nanprodDims(A &&...a) const { return read().nanprodDims(std::forward<A>(a)...); }
    template <class... A> auto nanstd(A &&...a) const { return read().nanstd(std::forward<A>(a)...); }
    template <class... A> auto nanstdDims(A &&...a) const { return read().nanstdDims(std::forward<A>(a)...); }
    template <class... A> auto nansum(A &&...a) const { return read().nansum(std::forward<A>(a)...); }
    template <class... A> auto nansumDims(A &&...a) const { return read().nansumDims(std::forward<A>(a)...); }
    template <class... A> auto nanvar(A &&...a) const { return read().nanvar(std::forward<A>(a)...); }
    template <class... A> auto nanvarDims(A &&...a) const { return read().nanvarDims(std::forward<A>(a)...); }
    template <class... A> auto narrow(A &&...a) const { return read().narrow(std::forward<A>(a)...); }
    template <class... A> auto norm(A &&...a) const { return read().norm(std::forward<A>(a)...); }
    template <class... A> auto normDims(A &&...a) const { return read().normDims(std::forward<A>(a)...); }
    template <class... A> auto normall(A &&...a) const { return read().normall(std::forward<A>(a)...); }
    template <class... A> auto numel(A &&...a) const { return read().numel(std::forward<A>(a)...); }
    template <class... A> auto permute(A &&...a) const { return read().permute(std::forward<A>(a)...); }
    template <class... A> auto print(A &&...a) const { return read().print(std::forward<A>(a)...); }
    template <class... A> auto prod(A &&...a) const { return read().prod(std::forward<A>(a)...); }
    template <class... A> auto prodDims(A &&...a) const { return read().prodDims(std::forward<A>(a)...); }
    template <class... A> auto prodall(A &&...a) const { return read().prodall(std::forward<A>(a)...); }
    template <class... A> auto reshape(A &&...a) const { return read().reshape(std::forward<A>(a)...); }
    template <class... A> auto select(A &&...a) const { return read().select(std::forward<A>(a)...); }
    template <class... A> auto size(A &&...a) const { return read().size(std::forward<A>(a)...); }
    template <class... A> auto sizeOf(A &&...a) const { return read().sizeOf(std::forward<A>(a)...); }
    template <class... A> auto slice(A &&...a) const { return read().slice(std::forward<A>(a)...); }
    template <class... A> auto split(A &&...a) const { return read().split(std::forward<A>(a)...); }
    template <class... A> auto squeeze(A &&...a) const { return read().squeeze(std::forward<A>(a)...); }
    template <class... A> auto squeeze1d(A &&...a) const { return read().squeeze1d(std::forward<A>(a)...); }
    template <class... A> auto std(A &&...a) const { return read().std(std::forward<A>(a)...); }
    template <class... A> auto stdCorrection(A &&...a) const { return read().stdCorrection(std::forward<A>(a)...); }
    template <class... A> auto stdDims(A &&...a) const { return read().stdDims(std::forward<A>(a)...); }
    template <class... A> auto stdDimsCorrection(A &&...a) const { return read().stdDimsCorrection(std::forward<A>(a)...); }
    template <class... A> auto stdall(A &&...a) const { return read().stdall(std::forward<A>(a)...); }
    template <class... A> auto stdallCorrection(A &&...a) const { return read().stdallCorrection(std::forward<A>(a)...); }
    template <class... A> auto storageOffset(A &&...a) const { return read().storageOffset(std::forward<A>(a)...); }
    template <class... A> auto stride(A &&...a) const { return read().stride(std::forward<A>(a)...); }
    template <class... A> auto strideOf(A &&...a) const { return read().strideOf(std::forward<A>(a)...); }
    template <class... A> auto sum(A &&...a) const { return read().sum(std::forward<A>(a)...); }
    template <class... A> auto sumDims(A &&...a) const { return read().sumDims(std::forward<A>(a)...); }
    template <class... A> auto sumall(A &&...a) const { return read().sumall(std::forward<A>(a)...); }
    template <class... A> auto swapaxes(A &&...a) const { return read().swapaxes(std::forward<A>(a)...); }
    template <class... A> auto swapdims(A &&...a) const { return read().swapdims(std::forward<A>(a)...); }
    template <class... A> auto t(A &&...a) const { return read().t(std::forward<A>(a)...); }
    template <class... A> auto to(A &&...a) const { return read().to(std::forward<A>(a)...); }
    template <class... A> auto toString(A &&...a) const { return read().toString(std::forward<A>(a)...); }
    template <class... A> auto transpose(A &&...a) const { return read().transpose(std::forward<A>(a)...); }
    template <class... A> auto unbind(A &&...a) const { return read().unbind(std::forward<A>(a)...); }
    template <class... A> auto unfold(A &&...a) const { return read().unfold(std::forward<A>(a)...); }
    template <class... A> auto unsqueeze(A &&...a) const { return read().unsqueeze(std::forward<A>(a)...); }
    template <class... A> auto unsqueeze1d(A &&...a) const { return read().unsqueeze1d(std::forward<A>(a)...); }
    template <class... A> auto var(A &&...a) const { return read().var(std::forward<A>(a)...); }
    template <class... A> auto varCorrection(A &&...a) const { return read().varCorrection(std::forward<A>(a)...); }
    template <class... A> auto varDims(A &&...a) const { return read().varDims(std::forward<A>(a)...); }
    template <class... A> auto varDimsCorrection(A &&...a) const { return read().varDimsCorrection(std::forward<A>(a)...); }
    template <class... A> auto varall(A &&...a) const { return read().varall(std::forward<A>(a)...); }
    template <class... A> auto varallCorrection(A &&...a) const { return read().varallCorrection(std::forward<A>(a)...); }
    template <class... A> auto vectorNorm(A &&...a) const { return read().vectorNorm(std::forward<A>(a)...); }
    template <class... A> auto view(A &&...a) const { return read().view(std::forward<A>(a)...); }
    template <class... A> auto viewAs(A &&...a) const { return read().viewAs(std::forward<A>(a)...); }
    template <class... A> auto viewDtype(A &&...a) const { return read().viewDtype(std::forward<A>(a)...); }

  private:
    friend class Operand;
    Tensor view_;
    std::vector<Tensor> indices_;
    /// The copy for a list in braces.
    mutable Tensor entry_;
};

inline Operand::Operand(const Selection &&selection) {
    if (!selection.entry_.defined()) selection.entry_ = selection.read();
    handle_ = selection.entry_.get();
}

inline Selection::Selection(const Tensor &t, std::initializer_list<Index> list) : view_(detail::view(t, list)) {
    int named = 0;
    for (const Index &index : list) named += index.dim();
    for (const Index &index : list) {
        if (index.kind == Index::Kind::Chosen) {
            if (!index.chosen->defined()) {
                view_ = Tensor();
                detail::fail("operator()", Status::ErrArgument, "an index is an undefined th::Tensor");
            }
            indices_.push_back(*index.chosen);
        }
        if (index.kind == Index::Kind::Slice || index.kind == Index::Kind::New) indices_.emplace_back();
        if (index.kind == Index::Kind::Rest)
            indices_.resize(indices_.size() + static_cast<std::size_t>(t.dim() > named ? t.dim() - named : 0));
    }
}

inline void Selection::operator=(double value) && {
    if (indices_.size() == 1 && Index::isMask(indices_[0]) && indices_[0].isSameSizeAs(view_)) {
        view_.maskedFill_(indices_[0], value);
        return;
    }
    Tensor src = full({}, value, view_.dtype());
    std::move(*this) = view_.isCuda() ? src.cuda(static_cast<int>(view_.getDevice())) : src;
}

inline Tensor Tensor::operator[](IntList index) const {
    if (defined() && !detail::enough("operator[]", *this, index.count())) return Tensor();
    Tensor r = withTensor();
    for (int64_t at : index) detail::check(THTensor_select(r.get(), r.get(), 0, at), "operator[]", r);
    return r;
}

template <class... I> inline detail::Viewed<I...> Tensor::operator()(const I &...index) const {
    if constexpr (std::is_same_v<detail::Viewed<I...>, Tensor>)
        return detail::view(*this, {Index(index)...});
    else
        return Selection(*this, {Index(index)...});
}

template <class T, class> inline Selection Tensor::operator[](const T &index) const { return (*this)(index); }

/// An iterator over the slices along the first dimension.
class RowIterator {
  public:
    RowIterator(const Tensor &t, int64_t at) noexcept : t_(&t), at_(at) {}
    Tensor operator*() const { return t_->select(0, at_); }
    RowIterator &operator++() noexcept {
        ++at_;
        return *this;
    }
    bool operator!=(const RowIterator &other) const noexcept { return at_ != other.at_; }

  private:
    const Tensor *t_;
    int64_t at_;
};

inline RowIterator Tensor::begin() const { return RowIterator(*this, 0); }
inline RowIterator Tensor::end() const { return RowIterator(*this, dim() ? sizes()[0] : 0); }

// ==================================================================================================================
//     Elements
// ==================================================================================================================

/// The dtype for elements of type T. C++17 has no type for float16 and bfloat16: read their bits at `t.data()`.
template <class T> constexpr Dtype dtypeOf() noexcept {
    using U = std::remove_cv_t<T>;
    constexpr bool fits = sizeof(U) <= 8 && (std::is_integral_v<U> || sizeof(U) >= 4);
    static_assert(std::is_arithmetic_v<U> && fits, "no dtype has elements of this type");
    if constexpr (std::is_same_v<U, bool>)
        return Dtype::Bool;
    else if constexpr (std::is_floating_point_v<U>)
        return sizeof(U) == 4 ? Dtype::Float32 : Dtype::Float64;
    else if constexpr (sizeof(U) == 1)
        return std::is_signed_v<U> ? Dtype::Int8 : Dtype::Uint8;
    else {
        static_assert(std::is_signed_v<U>, "of unsigned integers there is uint8 alone");
        return sizeof(U) == 2 ? Dtype::Int16 : sizeof(U) == 4 ? Dtype::Int32 : Dtype::Int64;
    }
}

/// Contiguous elements in memory, which the tensor owns.
template <class T> class Elements {
  public:
    constexpr Elements(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }
    constexpr T &operator[](std::size_t i) const noexcept { return data_[i]; }

  private:
    T *data_;
    std::size_t size_;
};

namespace detail {

/// The name of a dtype for messages.
inline const char *nameOf(Dtype dtype) {
    const char *name = THDtype_name(static_cast<THDtype>(dtype));
    return name ? name : "undefined";
}

TH_COLD inline void other_dtype(const char *name, Dtype have, Dtype want) {
    fail(Error(Status::ErrDtype, {name, ": elements are ", nameOf(have), ", not ", nameOf(want)}));
}

/// True if the elements of `t` have the type T and are in host memory.
template <class T> inline bool reachable(const Tensor &t, const char *name) {
    if (t.dtype() != dtypeOf<T>()) return other_dtype(name, t.dtype(), dtypeOf<T>()), false;
    if (t.get()->deviceType != TH_CPU)
        return fail(name, Status::ErrDevice, "the tensor is not in the memory of the host"), false;
    return true;
}

/// The address of an element, `place` elements after the first one; NULL, and a failure, if it is outside of the
/// storage, which may have been resized.
template <class T> inline T *element(const Tensor &t, int64_t place, const char *name) {
    const THTensor *handle = t.get();
    const THStorage *storage = handle->storage;
    if (storage && handle->storageOffset + place < storage->size)
        return static_cast<T *>(storage->data) + handle->storageOffset + place;
    return fail(name, Status::ErrShape, "the elements lie beyond the storage"), nullptr;
}

/// The address of the first element, from which the strides lead to all others; NULL if there are none.
template <class T> inline T *first(const Tensor &t, const char *name) {
    if (!reachable<T>(t, name)) return nullptr;
    int64_t last = 0;
    const IntList size = t.sizes(), stride = t.strides();
    for (int d = 0; d < size.count(); d++) {
        if (size.data()[d] == 0) return nullptr;
        last += (size.data()[d] - 1) * stride.data()[d];
    }
    const bool empty = size.count() == 0 && !(t.get()->flag & TH_TENSOR_SCALAR);
    return empty || !element<T>(t, last, name) ? nullptr : element<T>(t, 0, name);
}

} // namespace detail

template <class T> inline T *Tensor::data() const { return detail::first<T>(*this, "data"); }

template <class T> inline Elements<T> Tensor::elements() const {
    T *first = detail::first<T>(*this, "elements");
    if (!first) return Elements<T>(nullptr, 0);
    if (!isContiguous()) {
        detail::fail("elements", Status::ErrArgument, "the tensor is not contiguous");
        return Elements<T>(nullptr, 0);
    }
    return Elements<T>(first, static_cast<std::size_t>(numel()));
}

#ifdef __cpp_lib_span
template <class T> inline std::span<T> Tensor::span() const {
    const Elements<T> all = elements<T>();
    return std::span<T>(all.data(), all.size());
}
#endif

#ifdef __cpp_lib_mdspan
template <class T, std::size_t N>
inline std::mdspan<T, std::dextents<int64_t, N>, std::layout_stride> Tensor::mdspan() const {
    std::array<int64_t, N> size{}, stride{};
    stride.fill(1);
    T *first = detail::first<T>(*this, "mdspan");
    bool fits = dim() == static_cast<int>(N);
    for (std::size_t d = 0; fits && d < N; d++) {
        size[d] = sizes()[d];
        // A std::layout_stride has no strides of 0.
        if (size[d] > 1) stride[d] = strides()[d];
        fits = stride[d] > 0;
    }
    if (!fits) {
        detail::fail("mdspan", Status::ErrShape, "the tensor is expanded, or has another number of dimensions");
        size.fill(0);
        stride.fill(1);
    }
    return {first, std::layout_stride::mapping(std::dextents<int64_t, N>(size), stride)};
}
#endif

namespace detail {

/// Without exceptions, accesses to a nonexistent element read and write this dummy.
template <class T> TH_COLD inline T &nowhere() {
    static thread_local std::remove_cv_t<T> element;
    return element = T();
}

/// The position of an element, in elements from the first one; -1, and a failure, if there is no such element.
inline int64_t place(const Tensor &t, std::initializer_list<int64_t> index) {
    const THTensor *handle = t.get();
    if (static_cast<int>(index.size()) != handle->nDimension) {
        fail(Error(Status::ErrArgument, {"at: ", Digits(static_cast<int64_t>(index.size())), " indices for a tensor with ",
                                         Digits(handle->nDimension), " dimensions: there must be one for each"}));
        return -1;
    }
    int64_t place = 0;
    const int64_t *size = handle->size, *stride = handle->stride;
    for (const int64_t given : index) {
        const int64_t at = given < 0 ? given + *size : given;
        if (at < 0 || at >= *size) {
            fail(Error(Status::ErrArgument, {"at: index ", Digits(given), " out of range for size ", Digits(*size),
                                             " of dimension ", Digits(size - handle->size)}));
            return -1;
        }
        place += at * *stride;
        ++size, ++stride;
    }
    return place;
}

} // namespace detail

template <class T, class... I> inline T &Tensor::at(I... index) const {
    if (!detail::reachable<T>(*this, "at")) return detail::nowhere<T>();
    const int64_t place = detail::place(*this, {static_cast<int64_t>(index)...});
    T *element = place < 0 ? nullptr : detail::element<T>(*this, place, "at");
    return element ? *element : detail::nowhere<T>();
}

template <class T> inline T Tensor::item() const {
    static_assert(std::is_arithmetic_v<T>, "an element is a number");
    if constexpr (std::is_same_v<T, bool>)
        return item() != 0;
    else if constexpr (std::is_integral_v<T>)
        return static_cast<T>(itemLong());
    else
        return static_cast<T>(item());
}

/// Writes the name of a dtype: `float32`.
template <class Traits>
inline std::basic_ostream<char, Traits> &operator<<(std::basic_ostream<char, Traits> &out, Dtype dtype) {
    return out << detail::nameOf(dtype);
}
/// Writes a text.
template <class Traits>
inline std::basic_ostream<char, Traits> &operator<<(std::basic_ostream<char, Traits> &out, const String &text) {
    return out << text.c_str();
}
/// Writes the text of `toString()`.
template <class Traits>
inline std::basic_ostream<char, Traits> &operator<<(std::basic_ostream<char, Traits> &out, const Tensor &t) {
    return out << t.toString().c_str();
}
/// Writes the text of `toString()`.
template <class Traits>
inline std::basic_ostream<char, Traits> &operator<<(std::basic_ostream<char, Traits> &out, const Storage &s) {
    return out << s.toString().c_str();
}

// ==================================================================================================================
//     Tensors of values and of memory
// ==================================================================================================================

/// A row-major tensor with undefined elements.
inline Tensor empty(IntList size, Dtype dtype) { return empty(size, MemoryFormat::ContiguousFormat, dtype); }

/// Numbers in braces, nested to the tensor's number of dimensions: the argument of `th::tensor`.
class Nested {
  public:
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    constexpr Nested(T value) noexcept
        : kind_(std::is_same_v<T, bool> ? Kind::Bool
                : std::is_integral_v<T> ? Kind::Integer
                                        : Kind::Float),
          number_(static_cast<double>(value)), integer_(integer(value)) {}
    constexpr Nested(std::initializer_list<Nested> list) noexcept : kind_(Kind::List), count_(list.size()) {
        if (count_) list_ = list.begin();
    }

  private:
    enum class Kind { Bool, Integer, Float, List };
    template <class T> static constexpr int64_t integer(T value) noexcept {
        if constexpr (std::is_integral_v<T>)
            return static_cast<int64_t>(value);
        else
            return 0;
    }
    friend Tensor tensor(const Nested &values, Dtype dtype);
    bool sizes(std::vector<int64_t> &sizes, std::size_t depth, Kind &kind) const;
    template <class T> void append(std::vector<T> &to) const;

    Kind kind_;
    double number_ = 0;
    int64_t integer_ = 0;
    const Nested *list_ = nullptr;
    std::size_t count_ = 0;
};

// Finds the sizes and the widest kind of number. Returns false if lists of one dimension differ in length.
inline bool Nested::sizes(std::vector<int64_t> &sizes, std::size_t depth, Kind &kind) const {
    if (kind_ != Kind::List) {
        if (kind == Kind::List || kind_ > kind) kind = kind_;
        return depth == sizes.size();
    }
    const int64_t count = static_cast<int64_t>(count_);
    const bool fresh = depth == sizes.size() && kind == Kind::List;
    if (fresh) sizes.push_back(count);
    if (depth >= sizes.size() || sizes[depth] != count) return false;
    for (std::size_t i = 0; i < count_; i++)
        if (!list_[i].sizes(sizes, depth + 1, kind)) return false;
    return true;
}

template <class T> inline void Nested::append(std::vector<T> &to) const {
    if (kind_ != Kind::List)
        to.push_back(std::is_same_v<T, double> ? static_cast<T>(number_) : static_cast<T>(integer_));
    for (std::size_t i = 0; i < count_; i++) list_[i].append(to);
}

/// A tensor of numbers in braces: `th::tensor({{1, 2}, {3, 4}})`. One number gives a scalar. Integers give int64, truth
/// values Bool, and others the default dtype, unless `dtype` is set.
inline Tensor tensor(const Nested &values, Dtype dtype = Dtype::Undefined) {
    std::vector<int64_t> sizes;
    Nested::Kind kind = Nested::Kind::List;
    if (!values.sizes(sizes, 0, kind)) {
        detail::fail("tensor", Status::ErrShape, "the lists of a dimension differ in length");
        return Tensor();
    }
    const IntList shape(sizes);
    if (kind == Nested::Kind::Integer || kind == Nested::Kind::Bool) {
        std::vector<int64_t> list;
        values.append(list);
        const Dtype own = kind == Nested::Kind::Bool ? Dtype::Bool : Dtype::Int64;
        return fromData(shape, list.data(), Dtype::Int64).to(dtype == Dtype::Undefined ? own : dtype);
    }
    std::vector<double> list;
    values.append(list);
    // An empty vector may have no address.
    const double nothing = 0;
    return fromData(shape, list.empty() ? &nothing : list.data(), Dtype::Float64)
        .to(static_cast<Dtype>(detail::dtype(dtype)));
}

namespace detail {

// A container names its value type, which is bool for vector<bool> although its entries are not. A view does not.
template <class R> auto entry(const R &range, int) -> decltype(range.begin(), typename R::value_type());
template <class R> auto entry(const R &range, long) -> std::decay_t<decltype(*range.begin())>;
template <class T, std::size_t N> auto entry(const T (&array)[N], int) -> std::remove_cv_t<T>;
template <class R> using Entry = decltype(entry(std::declval<const R &>(), 0));

/// True for types with a range-based `for`, except tensors and texts.
template <class R, class = void> inline constexpr bool is_range = false;
template <class R> inline constexpr bool is_range<R, std::void_t<Entry<R>>> = !std::is_same_v<R, Tensor>;

/// The type of the numbers of a range, or of a range of ranges.
template <class R, bool = std::is_arithmetic_v<Entry<R>>> struct NumberOf {
    using Type = Entry<R>;
};
template <class R> struct NumberOf<R, false> {
    using Type = typename NumberOf<Entry<R>>::Type;
};

template <class R, class T>
inline bool collect(const R &range, std::size_t depth, std::vector<int64_t> &sizes, std::vector<T> &list) {
    int64_t count = 0;
    const bool fresh = depth == sizes.size();
    if (fresh) sizes.push_back(0);
    for (const auto &entry : range) {
        ++count;
        if constexpr (std::is_arithmetic_v<Entry<R>>)
            list.push_back(static_cast<T>(entry));
        else if (!collect(entry, depth + 1, sizes, list))
            return false;
    }
    if (fresh) sizes[depth] = count;
    return sizes[depth] == count;
}

} // namespace detail

/// A tensor from a range: a std::vector, an array, a std::list, a view, or ranges of ranges with equal lengths. The
/// dtype is the numbers' dtype, unless `dtype` is set.
template <class R, class = std::enable_if_t<detail::is_range<R>>>
inline Tensor tensor(const R &range, Dtype dtype = Dtype::Undefined) {
    using Number = typename detail::NumberOf<R>::Type;
    // The elements of a vector<bool> are not bools.
    std::vector<std::conditional_t<std::is_same_v<Number, bool>, unsigned char, Number>> list;
    std::vector<int64_t> sizes;
    if (!detail::collect(range, 0, sizes, list)) {
        detail::fail("tensor", Status::ErrShape, "the ranges of a dimension differ in length");
        return Tensor();
    }
    const unsigned char nothing[8] = {};
    const void *data = list.empty() ? static_cast<const void *>(nothing) : list.data();
    const Tensor r = fromData(IntList(sizes), data, dtypeOf<Number>());
    return dtype == Dtype::Undefined ? r : r.to(dtype);
}

/// A tensor with a copy of the row-major elements at `data`.
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
inline Tensor fromData(IntList size, const T *data) {
    return fromData(size, data, dtypeOf<T>());
}

/// A tensor that shares `data` with the caller, who must keep the memory as long as any view of it exists. Without
/// strides the elements are row-major.
template <class T> inline Tensor fromBlob(T *data, IntList size, IntList stride = {}) {
    static_assert(!std::is_const_v<T>, "a tensor may be written: fromData copies");
    return fromBlob(size, stride, data, nullptr, nullptr, dtypeOf<T>());
}

/// A tensor that shares `data`, and calls `deleter(data)` once, when the last view of it is freed, on the thread that
/// frees the view. The deleter must not throw. If this function fails, it has not called the deleter.
template <class T, class D, class = std::enable_if_t<std::is_invocable_v<D, T *>>>
inline Tensor fromBlob(T *data, IntList size, D deleter, IntList stride = {}) {
    static_assert(!std::is_const_v<T>, "a tensor may be written: fromData copies");
    const THDeleter call = [](void *memory, void *context) noexcept {
        D *owned = static_cast<D *>(context);
        (*owned)(static_cast<T *>(memory));
        delete owned;
    };
    const int count = detail::common("fromBlob", {size, stride});
    D *kept = new D(std::move(deleter));
    const THDtype dtype = static_cast<THDtype>(dtypeOf<T>());
    THTensor *handle = THTensor_newFromBlob(dtype, count, size.data(), stride.data(), data, call, kept);
    if (!handle) delete kept;
    return detail::made(handle, "fromBlob");
}

/// A tensor that takes over the memory of a vector, without a copy. Without sizes the tensor has one dimension.
template <class T> inline Tensor fromVector(std::vector<T> values, IntList size = {}) {
    static_assert(!std::is_same_v<T, bool>, "a vector<bool> has no bools: th::tensor copies it");
    const int64_t count = static_cast<int64_t>(values.size());
    int64_t wanted = 1;
    for (int64_t entry : size) wanted *= entry;
    if (size.count() && wanted != count) {
        detail::fail("fromVector", Status::ErrShape, "the sizes do not have as many elements as the vector");
        return Tensor();
    }
    if (count == 0)
        return empty(size.count() ? size : IntList(&count, 1), MemoryFormat::ContiguousFormat, dtypeOf<T>());
    T *data = values.data();
    return fromBlob(data, size.count() ? size : IntList(&count, 1),
                    [owner = std::move(values)](T *) mutable { owner.clear(); });
}

/// A tensor with one dimension over a whole storage.
inline Tensor withStorage(const Storage &storage) {
    return detail::made(THTensor_newWithStorage(storage.get(), 0, -1, nullptr, nullptr), "withStorage");
}

/// The identity matrix of n rows.
inline Tensor eye(int64_t n, Dtype dtype = Dtype::Undefined) { return eye(n, n, dtype); }

// ==================================================================================================================
//     Functions of the caller
// ==================================================================================================================

namespace detail {

/// A function object of the program, and the exception that it has thrown.
template <class F> struct Callback {
    F *function;
#ifndef TH_NO_EXCEPTIONS
    std::exception_ptr thrown;
#endif
};

/// The C function that calls it for an element. It catches all exceptions, because none may pass through the library.
template <class F, class... More> struct Called {
    static int run(double *x, More... more, void *context) noexcept {
        Callback<F> *callback = static_cast<Callback<F> *>(context);
#ifdef TH_NO_EXCEPTIONS
        *x = (*callback->function)(*x, more...);
        return TH_OK;
#else
        try {
            *x = (*callback->function)(*x, more...);
            return TH_OK;
        } catch (...) {
            callback->thrown = std::current_exception();
            return TH_ERR_CALLBACK;
        }
#endif
    }
};

/// Rethrows the callback's exception, if it threw one. Otherwise checks the status of the call.
template <class F> inline void finish(THStatus status, const char *name, const Callback<F> &callback) {
#ifndef TH_NO_EXCEPTIONS
    if (callback.thrown) std::rethrow_exception(callback.thrown);
#else
    (void)callback;
#endif
    check(status, name);
}

} // namespace detail

template <class F> inline Tensor &Tensor::apply_(F &&f) {
    using Function = std::remove_reference_t<F>;
    detail::Callback<Function> callback = {};
    callback.function = &f;
    detail::finish(THTensor_apply(get(), detail::Called<Function>::run, &callback), "apply_", callback);
    return *this;
}

template <class F> inline Tensor &Tensor::map_(const Tensor &src, F &&f) {
    using Function = std::remove_reference_t<F>;
    detail::Callback<Function> callback = {};
    callback.function = &f;
    detail::finish(THTensor_map(get(), src.get(), detail::Called<Function, double>::run, &callback), "map_", callback);
    return *this;
}

template <class F> inline Tensor &Tensor::map2_(const Tensor &a, const Tensor &b, F &&f) {
    using Function = std::remove_reference_t<F>;
    detail::Callback<Function> callback = {};
    callback.function = &f;
    detail::finish(THTensor_map2(get(), a.get(), b.get(), detail::Called<Function, double, double>::run, &callback),
                   "map2_", callback);
    return *this;
}

// ==================================================================================================================
//     Multi-head attention
// ==================================================================================================================

/// Multi-head attention by A. Vaswani et al. (2017): `heads` attentions of projections of `query` [batch, L, width] to
/// projections of `key` and `value` [batch, S, width], and a projection of the results, side by side. Returns
/// [batch, L, width].
///
/// The weights are those of `torch.nn.MultiheadAttention(width, heads, batch_first=True)`. `inWeight` [3 * width,
/// width] and `inBias` [3 * width] project query, key and value, in this order. `outWeight` [width, width] and
/// `outBias` [width] project the results. An undefined bias is zero. scaledDotProductAttention explains `mask` and
/// `causal`.
inline Tensor multiHeadAttention(const Tensor &query, const Tensor &key, const Tensor &value, const Tensor &inWeight,
    const Tensor &inBias, const Tensor &outWeight, const Tensor &outBias, int64_t heads, const Tensor &mask = {},
    bool causal = false) {
    const auto linear = [](const Tensor &x, const Tensor &weight, const Tensor &bias) {
        const Tensor y = x.matmul(weight.t());
        return bias.defined() ? y + bias : y;
    };
    const auto project = [&](const Tensor &x, int part) {
        const int64_t width = x.size(2), first = part * width;
        const Tensor bias = inBias.defined() ? inBias.narrow(0, first, width) : Tensor();
        const Tensor y = linear(x, inWeight.narrow(0, first, width), bias);
        return y.reshape({x.size(0), x.size(1), heads, -1}).transpose(1, 2);
    };
    const Tensor queries = project(query, 0), keys = project(key, 1), values = project(value, 2);
    const Tensor attended = queries.scaledDotProductAttention(keys, values, mask, 0, causal).r.transpose(1, 2);
    return linear(attended.reshape({query.size(0), query.size(1), -1}), outWeight, outBias);
}

// ==================================================================================================================
//     Gradients
// ==================================================================================================================

/// Turns recording off on this thread while the object exists: results need no gradient, and leaves may be written.
class NoGrad {
  public:
    NoGrad() noexcept : recording_(THGrad_isEnabled() != 0) {
        if (recording_) static_cast<void>(THGrad_setEnabled(0));
    }
    ~NoGrad() {
        if (recording_) static_cast<void>(THGrad_setEnabled(1));
    }
    NoGrad(const NoGrad &) = delete;
    NoGrad &operator=(const NoGrad &) = delete;

  private:
    bool recording_;
};

namespace detail {
/// The number of Inference objects on this thread.
inline thread_local int inferences = 0;
} // namespace detail

/// As NoGrad, and recording cannot be switched on while the object exists.
class Inference {
  public:
    Inference() noexcept {
        if (detail::inferences++ == 0) static_cast<void>(THGrad_setInference(1));
    }
    ~Inference() {
        if (--detail::inferences == 0) static_cast<void>(THGrad_setInference(0));
    }
    Inference(const Inference &) = delete;
    Inference &operator=(const Inference &) = delete;
};

namespace detail {

/// Calls a callback. It catches all exceptions, because none may pass through the library, and stores them in `thrown`.
template <class F> inline THStatus guarded(F call) noexcept {
#ifdef TH_NO_EXCEPTIONS
    const bool before = failed();
    call();
    return failed() && !before ? TH_ERR_CALLBACK : TH_OK;
#else
    try {
        call();
        return TH_OK;
    } catch (...) {
        thrown = std::current_exception();
        return TH_ERR_CALLBACK;
    }
#endif
}

/// A function object that the library owns.
template <class F> struct Lent {
    F function;
    static void end(void *, void *context) noexcept { delete static_cast<Lent *>(context); }
};

/// Calls `call(lent)`, which lends the object to the library and then returns true.
template <class F, class Call> inline void lend(F function, Call call) {
    Lent<F> *lent = new Lent<F>{std::move(function)};
    if (!call(lent)) delete lent;
}

/// The C function of a hook.
template <class F> struct HookOf {
    static THStatus run(const THTensor *gradient, THTensor **replacement, void *context) noexcept {
        return guarded([&] {
            F &function = static_cast<Lent<F> *>(context)->function;
            const Tensor given = Tensor::share(const_cast<THTensor *>(gradient));
            if constexpr (std::is_void_v<std::invoke_result_t<F &, const Tensor &>>)
                function(given);
            else
                *replacement = Tensor(function(given)).release();
        });
    }
};

/// References to the tensors of a C list. NULL becomes an undefined Tensor.
inline std::vector<Tensor> shared(const THTensor *const *list, int count) {
    std::vector<Tensor> r;
    r.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; i++) r.push_back(Tensor::share(const_cast<THTensor *>(list[i])));
    return r;
}

/// Converts the result of a callback, a Tensor or a std::vector of tensors, to a list.
inline std::vector<Tensor> listed(Tensor t) {
    std::vector<Tensor> r;
    r.push_back(std::move(t));
    return r;
}
inline std::vector<Tensor> listed(std::vector<Tensor> list) { return list; }

/// The type that a callback returns.
template <class F, class... A> using Returned = std::decay_t<std::invoke_result_t<F, A...>>;

/// Converts a list to the type that a callback would return.
template <class R> inline R as(std::vector<Tensor> list) {
    if constexpr (std::is_same_v<R, Tensor>)
        return list.empty() ? Tensor() : std::move(list[0]);
    else
        return list;
}

/// Makes the tensors `to` show the elements of the tensors that a function returned, with their history. Undefined
/// tensors, and tensors without a place in `to`, are skipped.
inline void hand_over(const std::vector<Tensor> &from, THTensor *const *to, int count, const char *name) {
    if (from.size() != static_cast<std::size_t>(count)) {
        fail(name, Status::ErrArgument, "the function returns another number of tensors than there are places");
        return;
    }
    for (std::size_t i = 0; i < from.size(); i++)
        if (to[i] && from[i].defined()) check(THTensor_set(to[i], from[i].get()), name);
}

/// The C function that computes tensors from tensors; `context` points to the function object.
template <class F> struct FunctionOf {
    static THStatus run(const THTensor *const *inputs, int inputCount, THTensor *const *outputs, int outputCount,
                        void *context) noexcept {
        return guarded([&] {
            F &function = *static_cast<F *>(context);
            const std::vector<Tensor> given = shared(inputs, inputCount);
            hand_over(listed(function(given)), outputs, outputCount, "function");
        });
    }
    static THStatus run_lent(const THTensor *const *inputs, int inputCount, THTensor *const *outputs, int outputCount,
                             void *context) noexcept {
        return run(inputs, inputCount, outputs, outputCount, &static_cast<Lent<F> *>(context)->function);
    }
};

/// Returns true if there is a gradient for each of `count` tensors, or if there are no gradients. Fails otherwise.
inline bool fit(TensorList gradients, int count, const char *name) {
    const bool fits = gradients.count() == 0 || gradients.count() == count;
    if (!fits) fail(name, Status::ErrArgument, "there is not one gradient for each tensor");
    return fits;
}

template <class B> struct OwnGradient;

} // namespace detail

inline Tensor Tensor::grad() const {
    THClearLastError();
    THTensor *handle = THTensor_newGrad(get());
    return Tensor::take(detail::known(handle, !handle, "grad"));
}

template <class F> inline int64_t Tensor::addHook(F f) const {
    int64_t id = -1;
    detail::lend(std::move(f), [&](detail::Lent<F> *lent) {
        id = THTensor_addHook(get(), detail::HookOf<F>::run, lent, detail::Lent<F>::end);
        return id != -1;
    });
    return detail::must(id, int64_t{-1}, "addHook");
}

/// Adds to the gradients of all leaves from which the tensors were computed: `th::backward({loss, other})`. An
/// undefined or missing gradient means 1, if the tensor has one element. `retainGraph` keeps the saved tensors, so that
/// backward can run again. `createGraph` records backward itself, so that gradients have gradients.
inline void backward(TensorList tensors, TensorList gradients = {}, bool retainGraph = false,
                     bool createGraph = false) {
    if (!detail::fit(gradients, tensors.count(), "backward")) return;
    detail::check(THGrad_backward(tensors.data(), gradients.data(), tensors.count(), retainGraph, createGraph),
                  "backward");
}

/// The gradients of the outputs with respect to each input. The gradients of leaves are unchanged. An input on which
/// the outputs do not depend is an error or, with `allowUnused`, gives an undefined tensor. The other arguments are as
/// in `th::backward`.
inline std::vector<Tensor> gradients(TensorList outputs, TensorList inputs, TensorList gradients = {},
                                     bool retainGraph = false, bool createGraph = false, bool allowUnused = false) {
    std::vector<Tensor> r(static_cast<std::size_t>(inputs.count()));
    if (!detail::fit(gradients, outputs.count(), "gradients")) return r;
    int count = inputs.count();
    detail::check(THGrad_gradients(reinterpret_cast<THTensor **>(r.data()), &count, outputs.data(), gradients.data(),
                                   outputs.count(), inputs.data(), inputs.count(), retainGraph, createGraph,
                                   allowUnused),
                  "gradients");
    return r;
}

/// `f(inputs)`, for which backward keeps only the inputs: backward calls `f` again, which must compute the same. `f`
/// takes a `const std::vector<Tensor> &` and returns a Tensor, or a std::vector of `results` tensors. This call, or
/// backward, rethrows an exception of `f`.
template <class F>
inline auto checkpoint(F f, TensorList inputs, int results = 1) -> detail::Returned<F &, const std::vector<Tensor> &> {
    std::vector<Tensor> r = detail::fresh(results);
    THStatus status = TH_OK;
    detail::lend(std::move(f), [&](detail::Lent<F> *lent) {
        status = THGrad_checkpoint(reinterpret_cast<THTensor *const *>(r.data()), results, inputs.data(),
                                   inputs.count(), detail::FunctionOf<F>::run_lent, lent, detail::Lent<F>::end);
        return status == TH_OK;
    });
    if (status != TH_OK) r.clear();
    detail::check(status, "checkpoint");
    return detail::as<detail::Returned<F &, const std::vector<Tensor> &>>(std::move(r));
}

/// Compares the gradients of `f`, a function as for `th::checkpoint`, with differences `(f(x + eps) - f(x - eps)) / (2
/// eps)` for each element of the float64 inputs that require a gradient. If they differ by more than `atol + rtol *
/// |difference|`, this fails with Status::ErrNumeric, the position and the values.
template <class F>
inline void gradCheck(F &&f, TensorList inputs, double eps = 1e-6, double atol = 1e-5, double rtol = 1e-3) {
    using Function = std::remove_reference_t<F>;
    std::size_t results = 1;
    if constexpr (!std::is_same_v<detail::Returned<F &, const std::vector<Tensor> &>, Tensor>) {
        const NoGrad off;
        results = f(detail::shared(inputs.data(), inputs.count())).size();
    }
    const THStatus status = THGrad_check(inputs.data(), inputs.count(), static_cast<int64_t>(results),
                                         detail::FunctionOf<Function>::run, &f, eps, atol, rtol);
    detail::check(status, "gradCheck");
}

/// The call of a custom function, which saves the tensors that its gradient needs.
class GradCall {
  public:
    GradCall(const GradCall &) = delete;
    GradCall &operator=(const GradCall &) = delete;

    /// Saves a tensor for the gradient: an input, a result, or an intermediate tensor.
    void save(const Tensor &t) {
        if (call_)
            detail::check(THGrad_save(call_, t.get()), "save");
        else
            saved_.push_back(t);
    }
    /// The saved tensor with number `index`, counted from 0.
    Tensor saved(int64_t index) const {
        if (!call_ && index >= 0 && index < static_cast<int64_t>(saved_.size()))
            return saved_[static_cast<std::size_t>(index)];
        return detail::made(THGrad_newSaved(call_, index), "saved");
    }
    /// True if the gradient of input `index` is needed.
    bool needsGradient(int64_t index) const {
        if (!call_ && index >= 0 && index < inputs_.count())
            return recording_ && THTensor_requiresGrad(inputs_.data()[index]) == 1;
        THClearLastError();
        const int r = THGrad_needsGradient(call_, index);
        return detail::known(r != 0, !r, "needsGradient");
    }

  private:
    template <class B> friend struct detail::OwnGradient;
    explicit GradCall(THGradCall *call) noexcept : call_(call) {}
    explicit GradCall(TensorList inputs) noexcept : inputs_(inputs), recording_(THGrad_isEnabled() != 0) {}

    THGradCall *call_ = nullptr;
    // For a function that the library has not called: its inputs, and the tensors that it has saved.
    TensorList inputs_;
    bool recording_ = false;
    std::vector<Tensor> saved_;
};

namespace detail {

/// A custom function with its gradient. The function is called first, and the library then gets the results.
template <class B> struct OwnGradient {
    B backward;
    /// The results of the function, until the library takes them over.
    const std::vector<Tensor> *computed = nullptr;
    const std::vector<Tensor> *saved = nullptr;

    /// Gives the handles `to` the elements of the results, and saves what the function saved.
    static THStatus take_over(THGradCall *call, const THTensor *const *, int, THTensor *const *to, int toCount,
                              void *context) noexcept {
        const OwnGradient &own = static_cast<Lent<OwnGradient> *>(context)->function;
        for (int i = 0; i < toCount; i++)
            if (const THStatus status = THTensor_set(to[i], (*own.computed)[static_cast<std::size_t>(i)].get())) return status;
        for (const Tensor &t : *own.saved) {
            THTensor *handle = t.get();
            for (int i = 0; i < toCount; i++)
                if ((*own.computed)[static_cast<std::size_t>(i)].get() == t.get()) handle = to[i];
            if (const THStatus status = THGrad_save(call, handle)) return status;
        }
        return TH_OK;
    }

    static THStatus run_backward(THGradCall *call, const THTensor *const *from, int fromCount, THTensor *const *to,
                                 int toCount, void *context) noexcept {
        return guarded([&] {
            GradCall handed(call);
            const std::vector<Tensor> given = shared(from, fromCount);
            B &function = static_cast<Lent<OwnGradient> *>(context)->function.backward;
            hand_over(listed(function(handed, given)), to, toCount, "gradApply");
        });
    }

    template <class F> static std::vector<Tensor> apply(F &forward, B backward, TensorList inputs) {
        GradCall call(inputs);
        std::vector<Tensor> computed, r;
        {
            const NoGrad off;
            computed = listed(forward(call, shared(inputs.data(), inputs.count())));
        }
        // The function may return the program's tensors, whose histories must stay, so each result is a new handle.
        for (std::size_t i = 0; i < computed.size(); i++) r.push_back(made(THTensor_new(), "gradApply"));
        OwnGradient own{std::move(backward)};
        own.computed = &computed;
        own.saved = &call.saved_;
        THStatus status = TH_OK;
        lend(std::move(own), [&](Lent<OwnGradient> *lent) {
            status = THGrad_apply(reinterpret_cast<THTensor *const *>(r.data()), static_cast<int>(r.size()),
                                  inputs.data(), inputs.count(), take_over, run_backward, lent,
                                  Lent<OwnGradient>::end);
            return status == TH_OK;
        });
        if (status != TH_OK) r.clear();
        check(status, "gradApply");
        return r;
    }
};

} // namespace detail

/// A custom function with its gradient. `forward(call, inputs)` computes the results without recording, and saves the
/// tensors that its gradient needs. `backward(call, gradients)` returns the gradients of the inputs from the gradients
/// of the results. An undefined gradient means 0 in both. Each function takes a GradCall & and a `const
/// std::vector<Tensor> &`, and returns a Tensor or a std::vector of tensors:
///
///     th::Tensor y = th::gradApply(
///         {x},
///         [](th::GradCall &call, const std::vector<th::Tensor> &inputs) {
///             th::Tensor r = inputs[0].exp();
///             call.save(r);
///             return r;
///         },
///         [](th::GradCall &call, const std::vector<th::Tensor> &gradients) { return gradients[0] * call.saved(0); });
///
/// The graph owns `backward`. If gradients have gradients, the operations in `backward` are recorded.
template <class Forward, class Backward>
inline auto gradApply(TensorList inputs, Forward &&forward, Backward backward)
    -> detail::Returned<Forward &, GradCall &, const std::vector<Tensor> &> {
    return detail::as<detail::Returned<Forward &, GradCall &, const std::vector<Tensor> &>>(
        detail::OwnGradient<Backward>::apply(forward, std::move(backward), inputs));
}

// ==================================================================================================================
//     Sparse tensors
// ==================================================================================================================

namespace detail {

/// A fresh sparse tensor for the result of a call.
struct NewSparse {
    NewSparse();
    ~NewSparse() {
        if (handle) THSTensor_free(handle);
    }
    NewSparse(const NewSparse &) = delete;
    NewSparse &operator=(const NewSparse &) = delete;
    /// The sparse tensor, unless the call has failed.
    SparseTensor operator()(THStatus status, const char *name);
    THSTensor *handle;
};

} // namespace detail

class SparseList;

namespace detail {

/// The C function that calls a function object with the progress.
template <class F> struct ProgressOf {
    static THStatus run(int64_t iteration, double residual, void *context) noexcept {
        return guarded([&] { (*static_cast<F *>(context))(iteration, residual); });
    }
};

} // namespace detail

/// The positions and values of some entries; all other elements are 0. Copies refer to the same sparse tensor.
///
///     th::SparseTensor s(th::tensor({{0, 1, 1}, {2, 0, 2}}), th::tensor({3., 4., 5.}), {2, 3});
///     th::Tensor y = s.spmm(th::ones({3, 2}));                 // dense
///     std::cout << (s * 2 + s).toDense() << '\n';
///
/// Functions are methods or free functions, as for dense tensors. Operators are elementwise.
class [[nodiscard]] SparseTensor : public detail::Counted<THSTensor, THSTensor_retain, THSTensor_free> {
  public:
    /// Refers to nothing; as a result it becomes a fresh sparse tensor.
    SparseTensor() noexcept = default;
    /// The smallest tensor that holds entries at `indices`, int64 [sparse dimensions x entries], with `values` [entries x ...].
    explicit SparseTensor(const Tensor &indices, const Tensor &values)
        : SparseTensor(withTensor(indices, values)) {}
    /// A tensor of these sizes: first the sparse dimensions, then the dimensions of `values` after its first.
    explicit SparseTensor(const Tensor &indices, const Tensor &values, IntList size)
        : SparseTensor(withTensorAndSize(indices, values, size)) {}
    /** @cond */
    explicit SparseTensor(detail::Fresh)
        : Counted(detail::must(THSTensor_new(), static_cast<THSTensor *>(nullptr), "SparseTensor")) {}
    /** @endcond */
    /// Takes over a reference.
    static SparseTensor take(THSTensor *handle) noexcept { return SparseTensor(handle); }
    /// Adds a reference to a handle, whose owner keeps its own.
    static SparseTensor share(THSTensor *handle) noexcept {
        THSTensor_retain(handle);
        return SparseTensor(handle);
    }

    /// The number of dimensions, sparse and dense; 0 before the first write.
    int dim() const noexcept { return handle_ ? handle_->nDimensionI + handle_->nDimensionV : 0; }
    /// The sizes, sparse dimensions first, valid until the shape changes.
    IntList sizes() const noexcept { return handle_ ? IntList(handle_->size, dim()) : IntList(); }

    /// As cg below, with any function object `progress(iteration, residual)`. An exception of `progress` ends the call
    /// and is rethrown.
    template <class F, class = std::enable_if_t<std::is_invocable_v<F &, int64_t, double>>>
    Tensor cg(const Tensor &b, const Tensor &start, double tol, int64_t maxIter, F &&progress) const {
        using Progress = std::remove_reference_t<F>;
        return cg(b, start, tol, maxIter, detail::ProgressOf<Progress>::run,
                  const_cast<void *>(static_cast<const void *>(&progress)));
    }

    SparseTensor operator-() const { return neg(); }
    SparseTensor &operator+=(const SparseTensor &b) { return add_(b); }
    SparseTensor &operator-=(const SparseTensor &b) { return sub_(b); }
    SparseTensor &operator*=(const SparseTensor &b) { return mul_(b); }
    SparseTensor &operator*=(const Tensor &b) { return mul_(b); }
    SparseTensor &operator*=(double b) { return mul_(b); }
    SparseTensor &operator/=(const Tensor &b) { return div_(b); }
    SparseTensor &operator/=(double b) { return div_(b); }

    // ------------------------------------------------------------------------------------------------- Sparse tensors

    /// A tensor of the given sizes without entries; the first `sparseDim` dimensions are sparse.
    static SparseTensor withSize(IntList size, int sparseDim, Dtype dtype = Dtype::Undefined) {
        return SparseTensor::take(detail::must(THSTensor_newWithSize(detail::dtype(dtype), size.count(), size.data(),
            sparseDim), static_cast<THSTensor *>(nullptr), "withSize"));
    }
    /// A tensor with entries at `indices`, int64 or int32 [sparseDim x nnz], and with `values` [nnz x dense sizes]; its
    /// sparse sizes are the smallest that hold all positions.
    static SparseTensor withTensor(const Tensor &indices, const Tensor &values) {
        return SparseTensor::take(detail::must(THSTensor_newWithTensor(indices.get(), values.get()),
            static_cast<THSTensor *>(nullptr), "withTensor"));
    }
    /// `newWithTensor` with `ndim` given sizes: the sparse sizes, which must hold all positions, then the dense sizes
    /// of `values`.
    static SparseTensor withTensorAndSize(const Tensor &indices, const Tensor &values, IntList size) {
        return SparseTensor::take(detail::must(THSTensor_newWithTensorAndSize(indices.get(), values.get(), size.count(),
            size.data()), static_cast<THSTensor *>(nullptr), "withTensorAndSize"));
    }
    /// A matrix compressed by rows, with references to `crow`, `col` and `values`.
    static SparseTensor csr(const Tensor &crow, const Tensor &col, const Tensor &values, int64_t rows,
        int64_t columns) {
        return SparseTensor::take(detail::must(THSTensor_newCsr(crow.get(), col.get(), values.get(), rows, columns),
            static_cast<THSTensor *>(nullptr), "csr"));
    }
    /// The entries of the dense tensor `t` that are not 0, coalesced, with `sparseDim` sparse dimensions.
    static SparseTensor fromDense(const Tensor &t, int sparseDim = -1) {
        return SparseTensor::take(detail::must(THSTensor_newFromDense(t.get(), sparseDim),
            static_cast<THSTensor *>(nullptr), "fromDense"));
    }
    /// A second handle on the positions and values of `s`.
    SparseTensor withSparse() const {
        return SparseTensor::take(detail::must(THSTensor_newWithSparse(handle_), static_cast<THSTensor *>(nullptr),
            "withSparse"));
    }
    /// A copy of `s` with copied positions and values.
    SparseTensor clone() const {
        return SparseTensor::take(detail::must(THSTensor_newClone(handle_), static_cast<THSTensor *>(nullptr),
            "clone"));
    }
    /// `s` coalesced: the values of one position are summed in the order of the entries.
    SparseTensor coalesce() const {
        return SparseTensor::take(detail::must(THSTensor_newCoalesce(handle_), static_cast<THSTensor *>(nullptr),
            "coalesce"));
    }
    /// The matrix `s` compressed by rows.
    SparseTensor compressed() const {
        return SparseTensor::take(detail::must(THSTensor_newCompressed(handle_), static_cast<THSTensor *>(nullptr),
            "compressed"));
    }
    /// `s` with coordinates.
    SparseTensor coordinates() const {
        return SparseTensor::take(detail::must(THSTensor_newCoordinates(handle_), static_cast<THSTensor *>(nullptr),
            "coordinates"));
    }
    /// A dense tensor of all elements of `s`.
    Tensor toDense() const { return detail::made(THSTensor_newDense(handle_), "toDense"); }
    /// The number of dimensions.
    int nDimension() const {
        THClearLastError();
        const int r = THSTensor_nDimension(handle_);
        return detail::known(r, !r, "nDimension");
    }
    /// The size of dimension `dimension`.
    int64_t size(int dimension) const {
        return detail::must(THSTensor_size(handle_, dimension), static_cast<int64_t>(-1), "size");
    }
    /// The number of entries, where entries of the same position count separately.
    int64_t nnz() const {
        THClearLastError();
        const int64_t r = THSTensor_nnz(handle_);
        return detail::known(r, r == -1, "nnz");
    }
    /// The number of sparse dimensions.
    int sparseDim() const {
        THClearLastError();
        const int r = THSTensor_sparseDim(handle_);
        return detail::known(r, !r, "sparseDim");
    }
    /// The number of dense dimensions.
    int denseDim() const {
        THClearLastError();
        const int r = THSTensor_denseDim(handle_);
        return detail::known(r, !r, "denseDim");
    }
    /// True if the tensor is known to be coalesced: its positions are distinct and ascend in row-major order.
    bool isCoalesced() const {
        THClearLastError();
        const int r = THSTensor_isCoalesced(handle_);
        return detail::known(r != 0, !r, "isCoalesced");
    }
    /// True if the matrix is compressed by rows; false if it has coordinates.
    bool isCompressed() const {
        THClearLastError();
        const int r = THSTensor_isCompressed(handle_);
        return detail::known(r != 0, !r, "isCompressed");
    }
    /// The dtype of the values.
    Dtype dtype() const {
        THClearLastError();
        const THDtype r = THSTensor_dtype(handle_);
        return detail::known(static_cast<Dtype>(r), !r, "dtype");
    }
    /// The positions, int64 [sparseDim x nnz]: the component of the handle, or computed if the matrix is compressed by
    /// rows.
    Tensor indices() const { return detail::made(THSTensor_newIndices(handle_), "indices"); }
    /// The values, a component of the handle.
    Tensor values() const { return detail::made(THSTensor_newValues(handle_), "values"); }
    /// `crow` of a matrix compressed by rows: the index of the first entry of each row, followed by the number of
    /// entries.
    Tensor crow() const { return detail::made(THSTensor_newCrow(handle_), "crow"); }
    /// `col` of a matrix compressed by rows: the column of each entry.
    Tensor col() const { return detail::made(THSTensor_newCol(handle_), "col"); }
    /// `r` = a copy of `s`.
    SparseTensor &copy_(const SparseTensor &s) { return changed(THSTensor_copy(handle_, s.get()), "copy_"); }
    /// Removes all entries of `s`, which keeps its sizes and its dtype.
    SparseTensor &zero_() { return changed(THSTensor_zero(handle_), "zero_"); }
    /// Changes the sizes of `s`.
    SparseTensor &resize_(IntList size, int sparseDim) {
        return changed(THSTensor_resize(handle_, size.count(), size.data(), sparseDim), "resize_");
    }
    /// `THSTensor_resize` to the sizes of `other`.
    SparseTensor &resizeAs_(const SparseTensor &other) {
        return changed(THSTensor_resizeAs(handle_, other.get()), "resizeAs_");
    }
    SparseTensor &coalesce_() { return changed(THSTensor_coalesce(handle_, handle_), "coalesce_"); }
    /// `r` = `s` with two dimensions swapped, both sparse or both dense.
    SparseTensor transpose(int dimension1, int dimension2) const {
        detail::NewSparse r;
        return r(THSTensor_transpose(r.handle, handle_, dimension1, dimension2), "transpose");
    }
    SparseTensor &transpose_(int dimension1, int dimension2) {
        return changed(THSTensor_transpose(handle_, handle_, dimension1, dimension2), "transpose_");
    }
    /// `r` = the part of `s` at index `index` of dimension `dimension`, which is removed.
    SparseTensor select(int dimension, int64_t index) const {
        detail::NewSparse r;
        return r(THSTensor_select(r.handle, handle_, dimension, index), "select");
    }
    SparseTensor &select_(int dimension, int64_t index) {
        return changed(THSTensor_select(handle_, handle_, dimension, index), "select_");
    }
    /// `r` = the part of `s` at the `size` indices of dimension `dimension` from `firstIndex`.
    SparseTensor narrow(int dimension, int64_t firstIndex, int64_t size) const {
        detail::NewSparse r;
        return r(THSTensor_narrow(r.handle, handle_, dimension, firstIndex, size), "narrow");
    }
    SparseTensor &narrow_(int dimension, int64_t firstIndex, int64_t size) {
        return changed(THSTensor_narrow(handle_, handle_, dimension, firstIndex, size), "narrow_");
    }
    /// `r = a + value * b`, coalesced; `a` and `b` have the same sizes and the same number of sparse dimensions.
    SparseTensor cadd(double value, const SparseTensor &b) const {
        detail::NewSparse r;
        return r(THSTensor_cadd(r.handle, handle_, value, b.get()), "cadd");
    }
    SparseTensor cadd(const SparseTensor &b) const {
        detail::NewSparse r;
        return r(THSTensor_cadd(r.handle, handle_, 1, b.get()), "cadd");
    }
    SparseTensor &cadd_(double value, const SparseTensor &b) {
        return changed(THSTensor_cadd(handle_, handle_, value, b.get()), "cadd_");
    }
    SparseTensor &cadd_(const SparseTensor &b) {
        return changed(THSTensor_cadd(handle_, handle_, 1, b.get()), "cadd_");
    }
    SparseTensor add(double value, const SparseTensor &b) const {
        detail::NewSparse r;
        return r(THSTensor_cadd(r.handle, handle_, value, b.get()), "add");
    }
    SparseTensor add(const SparseTensor &b) const {
        detail::NewSparse r;
        return r(THSTensor_cadd(r.handle, handle_, 1, b.get()), "add");
    }
    SparseTensor &add_(double value, const SparseTensor &b) {
        return changed(THSTensor_cadd(handle_, handle_, value, b.get()), "add_");
    }
    SparseTensor &add_(const SparseTensor &b) { return changed(THSTensor_cadd(handle_, handle_, 1, b.get()), "add_"); }
    /// `r = a - value * b`; otherwise as cadd.
    SparseTensor csub(double value, const SparseTensor &b) const {
        detail::NewSparse r;
        return r(THSTensor_csub(r.handle, handle_, value, b.get()), "csub");
    }
    SparseTensor csub(const SparseTensor &b) const {
        detail::NewSparse r;
        return r(THSTensor_csub(r.handle, handle_, 1, b.get()), "csub");
    }
    SparseTensor &csub_(double value, const SparseTensor &b) {
        return changed(THSTensor_csub(handle_, handle_, value, b.get()), "csub_");
    }
    SparseTensor &csub_(const SparseTensor &b) {
        return changed(THSTensor_csub(handle_, handle_, 1, b.get()), "csub_");
    }
    SparseTensor sub(double value, const SparseTensor &b) const {
        detail::NewSparse r;
        return r(THSTensor_csub(r.handle, handle_, value, b.get()), "sub");
    }
    SparseTensor sub(const SparseTensor &b) const {
        detail::NewSparse r;
        return r(THSTensor_csub(r.handle, handle_, 1, b.get()), "sub");
    }
    SparseTensor &sub_(double value, const SparseTensor &b) {
        return changed(THSTensor_csub(handle_, handle_, value, b.get()), "sub_");
    }
    SparseTensor &sub_(const SparseTensor &b) { return changed(THSTensor_csub(handle_, handle_, 1, b.get()), "sub_"); }
    /// `r = a * b`, coalesced, with entries at the positions where both have an entry.
    SparseTensor cmul(const SparseTensor &b) const {
        detail::NewSparse r;
        return r(THSTensor_cmul(r.handle, handle_, b.get()), "cmul");
    }
    SparseTensor &cmul_(const SparseTensor &b) { return changed(THSTensor_cmul(handle_, handle_, b.get()), "cmul_"); }
    SparseTensor mul(const SparseTensor &b) const {
        detail::NewSparse r;
        return r(THSTensor_cmul(r.handle, handle_, b.get()), "mul");
    }
    SparseTensor &mul_(const SparseTensor &b) { return changed(THSTensor_cmul(handle_, handle_, b.get()), "mul_"); }
    /// `r = s * t` for a dense tensor `t`, which broadcasts to the sizes of `s`.
    SparseTensor cmulDense(const Tensor &t) const {
        detail::NewSparse r;
        return r(THSTensor_cmulDense(r.handle, handle_, t.get()), "cmulDense");
    }
    SparseTensor &cmulDense_(const Tensor &t) {
        return changed(THSTensor_cmulDense(handle_, handle_, t.get()), "cmulDense_");
    }
    SparseTensor mul(const Tensor &t) const {
        detail::NewSparse r;
        return r(THSTensor_cmulDense(r.handle, handle_, t.get()), "mul");
    }
    SparseTensor &mul_(const Tensor &t) { return changed(THSTensor_cmulDense(handle_, handle_, t.get()), "mul_"); }
    /// `r = s / t` for a dense tensor `t`, which broadcasts to the sizes of `s`.
    SparseTensor cdivDense(const Tensor &t) const {
        detail::NewSparse r;
        return r(THSTensor_cdivDense(r.handle, handle_, t.get()), "cdivDense");
    }
    SparseTensor &cdivDense_(const Tensor &t) {
        return changed(THSTensor_cdivDense(handle_, handle_, t.get()), "cdivDense_");
    }
    SparseTensor div(const Tensor &t) const {
        detail::NewSparse r;
        return r(THSTensor_cdivDense(r.handle, handle_, t.get()), "div");
    }
    SparseTensor &div_(const Tensor &t) { return changed(THSTensor_cdivDense(handle_, handle_, t.get()), "div_"); }
    /// `r = s * value`.
    SparseTensor mul(double value) const {
        detail::NewSparse r;
        return r(THSTensor_mul(r.handle, handle_, value), "mul");
    }
    SparseTensor &mul_(double value) { return changed(THSTensor_mul(handle_, handle_, value), "mul_"); }
    /// `r = s / value`.
    SparseTensor div(double value) const {
        detail::NewSparse r;
        return r(THSTensor_div(r.handle, handle_, value), "div");
    }
    SparseTensor &div_(double value) { return changed(THSTensor_div(handle_, handle_, value), "div_"); }
    /// `r = s ^ value` for a `value` > 0, coalesced.
    SparseTensor pow(double value) const {
        detail::NewSparse r;
        return r(THSTensor_pow(r.handle, handle_, value), "pow");
    }
    SparseTensor &pow_(double value) { return changed(THSTensor_pow(handle_, handle_, value), "pow_"); }
    /// `r = -s`, with coordinates or compressed by rows like `s`.
    SparseTensor neg() const { detail::NewSparse r; return r(THSTensor_neg(r.handle, handle_), "neg"); }
    SparseTensor &neg_() { return changed(THSTensor_neg(handle_, handle_), "neg_"); }
    /// `r = |s|`, coalesced.
    SparseTensor abs() const { detail::NewSparse r; return r(THSTensor_abs(r.handle, handle_), "abs"); }
    SparseTensor &abs_() { return changed(THSTensor_abs(handle_, handle_), "abs_"); }
    /// `r` = the sign of `s`, coalesced: -1, 0 or 1.
    SparseTensor sign() const { detail::NewSparse r; return r(THSTensor_sign(r.handle, handle_), "sign"); }
    SparseTensor &sign_() { return changed(THSTensor_sign(handle_, handle_), "sign_"); }
    /// `r` = the square root of `s`, coalesced.
    SparseTensor sqrt() const { detail::NewSparse r; return r(THSTensor_sqrt(r.handle, handle_), "sqrt"); }
    SparseTensor &sqrt_() { return changed(THSTensor_sqrt(handle_, handle_), "sqrt_"); }
    /// `r = e^s - 1`, coalesced.
    SparseTensor expm1() const { detail::NewSparse r; return r(THSTensor_expm1(r.handle, handle_), "expm1"); }
    SparseTensor &expm1_() { return changed(THSTensor_expm1(handle_, handle_), "expm1_"); }
    /// `r = log(1 + s)`, coalesced.
    SparseTensor log1p() const { detail::NewSparse r; return r(THSTensor_log1p(r.handle, handle_), "log1p"); }
    SparseTensor &log1p_() { return changed(THSTensor_log1p(handle_, handle_), "log1p_"); }
    /// `r` = the sine of `s`, coalesced.
    SparseTensor sin() const { detail::NewSparse r; return r(THSTensor_sin(r.handle, handle_), "sin"); }
    SparseTensor &sin_() { return changed(THSTensor_sin(handle_, handle_), "sin_"); }
    /// `r` = the tangent of `s`, coalesced.
    SparseTensor tan() const { detail::NewSparse r; return r(THSTensor_tan(r.handle, handle_), "tan"); }
    SparseTensor &tan_() { return changed(THSTensor_tan(handle_, handle_), "tan_"); }
    /// `r` = the inverse sine of `s`, coalesced.
    SparseTensor asin() const { detail::NewSparse r; return r(THSTensor_asin(r.handle, handle_), "asin"); }
    SparseTensor &asin_() { return changed(THSTensor_asin(handle_, handle_), "asin_"); }
    /// `r` = the inverse tangent of `s`, coalesced.
    SparseTensor atan() const { detail::NewSparse r; return r(THSTensor_atan(r.handle, handle_), "atan"); }
    SparseTensor &atan_() { return changed(THSTensor_atan(handle_, handle_), "atan_"); }
    /// `r` = the hyperbolic sine of `s`, coalesced.
    SparseTensor sinh() const { detail::NewSparse r; return r(THSTensor_sinh(r.handle, handle_), "sinh"); }
    SparseTensor &sinh_() { return changed(THSTensor_sinh(handle_, handle_), "sinh_"); }
    /// `r` = the hyperbolic tangent of `s`, coalesced.
    SparseTensor tanh() const { detail::NewSparse r; return r(THSTensor_tanh(r.handle, handle_), "tanh"); }
    SparseTensor &tanh_() { return changed(THSTensor_tanh(handle_, handle_), "tanh_"); }
    /// `r = max(s, 0)`, coalesced.
    SparseTensor relu() const { detail::NewSparse r; return r(THSTensor_relu(r.handle, handle_), "relu"); }
    SparseTensor &relu_() { return changed(THSTensor_relu(handle_, handle_), "relu_"); }
    /// `r = floor(s)`, the largest whole number <= `s`, coalesced.
    SparseTensor floor() const { detail::NewSparse r; return r(THSTensor_floor(r.handle, handle_), "floor"); }
    SparseTensor &floor_() { return changed(THSTensor_floor(handle_, handle_), "floor_"); }
    /// `r = ceil(s)`, the smallest whole number >= `s`, coalesced.
    SparseTensor ceil() const { detail::NewSparse r; return r(THSTensor_ceil(r.handle, handle_), "ceil"); }
    SparseTensor &ceil_() { return changed(THSTensor_ceil(handle_, handle_), "ceil_"); }
    /// `r` = `s` rounded to the nearest whole number, ties to even, coalesced.
    SparseTensor round() const { detail::NewSparse r; return r(THSTensor_round(r.handle, handle_), "round"); }
    SparseTensor &round_() { return changed(THSTensor_round(handle_, handle_), "round_"); }
    /// `r` = `s` rounded towards zero, coalesced.
    SparseTensor trunc() const { detail::NewSparse r; return r(THSTensor_trunc(r.handle, handle_), "trunc"); }
    SparseTensor &trunc_() { return changed(THSTensor_trunc(handle_, handle_), "trunc_"); }
    /// The sum of all values.
    double sumall() const {
        THClearLastError();
        const double r = THSTensor_sumall(handle_);
        return detail::known(r, r != r, "sumall");
    }
    /// `r` = the sum of `s` over the `ndim` dimensions `dims`, which are removed, coalesced; integers are summed in
    /// int64.
    SparseTensor sum(IntList dims) const {
        detail::NewSparse r;
        return r(THSTensor_sum(r.handle, handle_, dims.count(), dims.data()), "sum");
    }
    SparseTensor sum(std::initializer_list<int64_t> dims) const { return sum(IntList(dims)); }
    SparseTensor &sum_(IntList dims) {
        return changed(THSTensor_sum(handle_, handle_, dims.count(), dims.data()), "sum_");
    }
    /// The norm of all elements of `s`, (sum of |s|^value)^(1 / value).
    double normall(double value = 2) const {
        THClearLastError();
        const double r = THSTensor_normall(handle_, value);
        return detail::known(r, r != r, "normall");
    }
    /// `r = s @ m`, dense, for a matrix `s` [n x k] and a dense matrix `m` [k x p] or vector [k].
    Tensor spmm(const Tensor &m) const { detail::New r; return r(THSTensor_spmm(r.handle, handle_, m.get()), "spmm"); }
    /// `r = s @ vec`, dense, for a matrix `s` [n x k] and a dense vector [k].
    Tensor spmv(const Tensor &vec) const {
        detail::New r;
        return r(THSTensor_spmv(r.handle, handle_, vec.get()), "spmv");
    }
    /// `r = beta * t + alpha * (s @ m)`, dense; `t` broadcasts.
    Tensor spaddmm(double beta, const Tensor &t, double alpha, const Tensor &m) const {
        detail::New r;
        return r(THSTensor_spaddmm(r.handle, beta, t.get(), alpha, handle_, m.get()), "spaddmm");
    }
    Tensor spaddmm(const Tensor &t, const Tensor &m) const {
        detail::New r;
        return r(THSTensor_spaddmm(r.handle, 1, t.get(), 1, handle_, m.get()), "spaddmm");
    }
    /// `r = s @ m` for a dense matrix `m` [k x p].
    SparseTensor hspmm(const Tensor &m) const {
        detail::NewSparse r;
        return r(THSTensor_hspmm(r.handle, handle_, m.get()), "hspmm");
    }
    SparseTensor &hspmm_(const Tensor &m) { return changed(THSTensor_hspmm(handle_, handle_, m.get()), "hspmm_"); }
    /// `r = s @ m` for a dense matrix `m` [k x p].
    SparseTensor sspmm(const Tensor &m) const {
        detail::NewSparse r;
        return r(THSTensor_sspmm(r.handle, handle_, m.get()), "sspmm");
    }
    SparseTensor &sspmm_(const Tensor &m) { return changed(THSTensor_sspmm(handle_, handle_, m.get()), "sspmm_"); }
    /// `r = beta * t + alpha * (s @ m)` for sparse `t` and `s` and a dense matrix `m`, coalesced.
    SparseTensor sspaddmm(double beta, double alpha, const SparseTensor &s, const Tensor &m) const {
        detail::NewSparse r;
        return r(THSTensor_sspaddmm(r.handle, beta, handle_, alpha, s.get(), m.get()), "sspaddmm");
    }
    SparseTensor sspaddmm(const SparseTensor &s, const Tensor &m) const {
        detail::NewSparse r;
        return r(THSTensor_sspaddmm(r.handle, 1, handle_, 1, s.get(), m.get()), "sspaddmm");
    }
    SparseTensor &sspaddmm_(double beta, double alpha, const SparseTensor &s, const Tensor &m) {
        return changed(THSTensor_sspaddmm(handle_, beta, handle_, alpha, s.get(), m.get()), "sspaddmm_");
    }
    SparseTensor &sspaddmm_(const SparseTensor &s, const Tensor &m) {
        return changed(THSTensor_sspaddmm(handle_, 1, handle_, 1, s.get(), m.get()), "sspaddmm_");
    }
    /// `r = a @ b` for two matrices [n x k] and [k x p], compressed by rows.
    SparseTensor mm(const SparseTensor &b) const {
        detail::NewSparse r;
        return r(THSTensor_mm(r.handle, handle_, b.get()), "mm");
    }
    SparseTensor &mm_(const SparseTensor &b) { return changed(THSTensor_mm(handle_, handle_, b.get()), "mm_"); }
    /// `r` = the softmax of each row of a matrix of floats, compressed by rows.
    SparseTensor softmax() const { detail::NewSparse r; return r(THSTensor_softmax(r.handle, handle_), "softmax"); }
    SparseTensor &softmax_() { return changed(THSTensor_softmax(handle_, handle_), "softmax_"); }
    /// `rb = the X with s X = b`, or with `transpose` `s^T X = b`, dense, for the `upper` or lower triangle of a square
    /// matrix `s` [n x n] and a dense matrix `b` [n x p] or vector [n].
    Tensor trtrs(const Tensor &b, bool upper = false, bool transpose = false, bool unitriangular = false) const {
        detail::New r;
        return r(THSTensor_trtrs(r.handle, b.get(), handle_, upper, transpose, unitriangular), "trtrs");
    }
    /// `r = the X with s X = b`, dense, for a square matrix `s` [n x n] and a dense matrix `b` [n x p] or vector [n] of
    /// float32 or float64.
    Tensor solve(const Tensor &b) const {
        detail::New r;
        return r(THSTensor_solve(r.handle, handle_, b.get()), "solve");
    }
    /// `r = the x with s x = b`, dense, by conjugate gradients, for a symmetric positive definite matrix `s` [n x n]
    /// and a dense vector `b` [n] of float32 or float64.
    Tensor cg(const Tensor &b, const Tensor &start = {}, double tol = 0.00001, int64_t maxIter = 1000,
        THProgressFunction progress = nullptr, void *context = nullptr) const {
        detail::New r;
        return r(THSTensor_cg(r.handle, nullptr, handle_, b.get(), start.get(), tol, maxIter, progress,
            context) == -1 ? THGetLastErrorCode() : TH_OK, "cg");
    }
    /// `r = beta * s + alpha * (m1 @ m2)` at the entries of `s`, coalesced and compressed by rows; `m1` [n x k] and
    /// `m2` [k x p] are dense.
    SparseTensor sampledAddmm(double beta, double alpha, const Tensor &m1, const Tensor &m2) const {
        detail::NewSparse r;
        return r(THSTensor_sampledAddmm(r.handle, beta, handle_, alpha, m1.get(), m2.get()), "sampledAddmm");
    }
    SparseTensor sampledAddmm(const Tensor &m1, const Tensor &m2) const {
        detail::NewSparse r;
        return r(THSTensor_sampledAddmm(r.handle, 1, handle_, 1, m1.get(), m2.get()), "sampledAddmm");
    }
    SparseTensor &sampledAddmm_(double beta, double alpha, const Tensor &m1, const Tensor &m2) {
        return changed(THSTensor_sampledAddmm(handle_, beta, handle_, alpha, m1.get(), m2.get()), "sampledAddmm_");
    }
    SparseTensor &sampledAddmm_(const Tensor &m1, const Tensor &m2) {
        return changed(THSTensor_sampledAddmm(handle_, 1, handle_, 1, m1.get(), m2.get()), "sampledAddmm_");
    }
    /// `r = t + value * s`, dense, for a dense tensor `t` of the sizes of `s`.
    Tensor spcadd(const Tensor &t, double value = 1) const {
        detail::New r;
        return r(THSTensor_spcadd(r.handle, t.get(), value, handle_), "spcadd");
    }
    /// `r` = the elements of the dense tensor `t` at the positions of `mask`; the values of `mask` are ignored.
    SparseTensor sparseMask(const Tensor &t) const {
        detail::NewSparse r;
        return r(THSTensor_sparseMask(r.handle, t.get(), handle_), "sparseMask");
    }
    SparseTensor &sparseMask_(const Tensor &t) {
        return changed(THSTensor_sparseMask(handle_, t.get(), handle_), "sparseMask_");
    }

    // ------------------------------------------------------------------------------------------------------- Printing

    /// The text of a sparse tensor, always in PyTorch's layout: `indices`, `values`, `size`, `nnz` and `layout`, each
    /// on a separate line.
    String toString(const THPrintOptions *options = nullptr) const {
        if (!handle_) return String::copy("undefined sparse tensor");
        return detail::text(THSTensor_toString(handle_, options), "toString");
    }
    /// Writes `s` and a newline to C's stdout, as `THTensor_print` does.
    void print() const {
        if (!handle_) return detail::write(stdout, "undefined sparse tensor", "print");
        detail::check(THSTensor_print(handle_), "print");
    }
    /// Writes `s` and a newline to `stream`, as `THTensor_fprint` does.
    void fprint(FILE *stream, const THPrintOptions *options = nullptr) const {
        if (!handle_) return detail::write(stream, "undefined sparse tensor", "fprint");
        detail::check(THSTensor_fprint(stream, handle_, options), "fprint");
    }

    // ---------------------------------------------------------------------------------------------------------- Files

    /// The only sparse tensor of the file `path`, of Matrix Market, SciPy (`.npz`) or PyTorch, as `THArchive_newSparse`
    /// returns it.
    static SparseTensor load(Text path) {
        return SparseTensor::take(detail::must(THSTensor_newLoad(path.c_str()), static_cast<THSTensor *>(nullptr),
            "load"));
    }
    /// Writes a sparse tensor without a name to the file `path`, whose extension selects the format: `.mtx` for a
    /// matrix of coordinates, `.npz` for a file that `scipy.sparse.load_npz` reads, `.pt` for a file that `torch.load`
    /// reads.
    void save(Text path) const { detail::check(THSTensor_save(handle_, path.c_str()), "save"); }

  private:
    using Counted::Counted;
    SparseTensor &changed(THStatus status, const char *name) {
        detail::check(status, name);
        return *this;
    }
};

static_assert(sizeof(SparseTensor) == sizeof(THSTensor *) && std::is_standard_layout_v<SparseTensor>,
              "a list of sparse tensors is one of handles");

/// A view of a list of sparse tensors, valid during a call.
class SparseList {
  public:
    constexpr SparseList() noexcept = default;
    SparseList(const SparseTensor *data, int count) noexcept : data_(data), count_(count) {}
    SparseList(std::initializer_list<SparseTensor> list) noexcept : count_(static_cast<int>(list.size())) {
        if (count_) data_ = list.begin();
    }
    /// A container with contiguous sparse tensors: a std::vector or a std::array.
    template <class List, class = std::enable_if_t<std::is_convertible_v<
                              decltype(std::declval<const List &>().data()), const SparseTensor *>>>
    SparseList(const List &list) noexcept : data_(list.data()), count_(static_cast<int>(list.size())) {}

    /// The contiguous handles, as C takes them.
    THSTensor *const *data() const noexcept {
        return static_cast<THSTensor *const *>(static_cast<const void *>(data_));
    }
    int count() const noexcept { return count_; }

  private:
    const SparseTensor *data_ = nullptr;
    int count_ = 0;
};

namespace detail {

inline NewSparse::NewSparse() : handle(THSTensor_new()) {
    if (!handle) fail("SparseTensor");
}

inline SparseTensor NewSparse::operator()(THStatus status, const char *name) {
    if (status != TH_OK) return fail(name), SparseTensor();
    SparseTensor r = SparseTensor::take(handle);
    handle = nullptr;
    return r;
}

/// The handle of a result. Makes the sparse tensor if it is undefined.
inline THSTensor *result(SparseTensor &r) {
    if (!r.defined()) r = SparseTensor(Fresh());
    return r.get();
}

/// Returns the result after a call has written it.
inline SparseTensor &into(SparseTensor &r, THStatus status, const char *name) {
    check(status, name);
    return r;
}

} // namespace detail

// ----------------------------------------------------------------------------------------------------- Sparse tensors

inline SparseTensor withSparse(const SparseTensor &s) { return s.withSparse(); }
inline SparseTensor clone(const SparseTensor &s) { return s.clone(); }
inline SparseTensor coalesce(const SparseTensor &s) { return s.coalesce(); }
inline SparseTensor compressed(const SparseTensor &s) { return s.compressed(); }
inline SparseTensor coordinates(const SparseTensor &s) { return s.coordinates(); }
inline Tensor toDense(const SparseTensor &s) { return s.toDense(); }
inline Tensor indices(const SparseTensor &s) { return s.indices(); }
inline Tensor values(const SparseTensor &s) { return s.values(); }
inline Tensor crow(const SparseTensor &s) { return s.crow(); }
inline Tensor col(const SparseTensor &s) { return s.col(); }
inline SparseTensor &coalesce_out(SparseTensor &r, const SparseTensor &s) {
    return detail::into(r, THSTensor_coalesce(detail::result(r), s.get()), "coalesce_out");
}
inline SparseTensor transpose(const SparseTensor &s, int dimension1, int dimension2) {
    return s.transpose(dimension1, dimension2);
}
inline SparseTensor &transpose_out(SparseTensor &r, const SparseTensor &s, int dimension1, int dimension2) {
    return detail::into(r, THSTensor_transpose(detail::result(r), s.get(), dimension1, dimension2), "transpose_out");
}
inline SparseTensor select(const SparseTensor &s, int dimension, int64_t index) { return s.select(dimension, index); }
inline SparseTensor &select_out(SparseTensor &r, const SparseTensor &s, int dimension, int64_t index) {
    return detail::into(r, THSTensor_select(detail::result(r), s.get(), dimension, index), "select_out");
}
inline SparseTensor narrow(const SparseTensor &s, int dimension, int64_t firstIndex, int64_t size) {
    return s.narrow(dimension, firstIndex, size);
}
inline SparseTensor &narrow_out(SparseTensor &r, const SparseTensor &s, int dimension, int64_t firstIndex,
    int64_t size) {
    return detail::into(r, THSTensor_narrow(detail::result(r), s.get(), dimension, firstIndex, size), "narrow_out");
}
/// `r` = `count` tensors concatenated along `dimension`.
inline SparseTensor cat(SparseList tensors, int dimension = 0) {
    detail::NewSparse r;
    return r(THSTensor_cat(r.handle, tensors.data(), tensors.count(), dimension), "cat");
}
inline SparseTensor &cat_out(SparseTensor &r, SparseList tensors, int dimension = 0) {
    return detail::into(r, THSTensor_cat(detail::result(r), tensors.data(), tensors.count(), dimension), "cat_out");
}
inline SparseTensor cadd(const SparseTensor &a, double value, const SparseTensor &b) { return a.cadd(value, b); }
inline SparseTensor cadd(const SparseTensor &a, const SparseTensor &b) { return a.cadd(b); }
inline SparseTensor &cadd_out(SparseTensor &r, const SparseTensor &a, double value, const SparseTensor &b) {
    return detail::into(r, THSTensor_cadd(detail::result(r), a.get(), value, b.get()), "cadd_out");
}
inline SparseTensor &cadd_out(SparseTensor &r, const SparseTensor &a, const SparseTensor &b) {
    return detail::into(r, THSTensor_cadd(detail::result(r), a.get(), 1, b.get()), "cadd_out");
}
inline SparseTensor add(const SparseTensor &a, double value, const SparseTensor &b) { return a.add(value, b); }
inline SparseTensor add(const SparseTensor &a, const SparseTensor &b) { return a.add(b); }
inline SparseTensor &add_out(SparseTensor &r, const SparseTensor &a, double value, const SparseTensor &b) {
    return detail::into(r, THSTensor_cadd(detail::result(r), a.get(), value, b.get()), "add_out");
}
inline SparseTensor &add_out(SparseTensor &r, const SparseTensor &a, const SparseTensor &b) {
    return detail::into(r, THSTensor_cadd(detail::result(r), a.get(), 1, b.get()), "add_out");
}
inline SparseTensor csub(const SparseTensor &a, double value, const SparseTensor &b) { return a.csub(value, b); }
inline SparseTensor csub(const SparseTensor &a, const SparseTensor &b) { return a.csub(b); }
inline SparseTensor &csub_out(SparseTensor &r, const SparseTensor &a, double value, const SparseTensor &b) {
    return detail::into(r, THSTensor_csub(detail::result(r), a.get(), value, b.get()), "csub_out");
}
inline SparseTensor &csub_out(SparseTensor &r, const SparseTensor &a, const SparseTensor &b) {
    return detail::into(r, THSTensor_csub(detail::result(r), a.get(), 1, b.get()), "csub_out");
}
inline SparseTensor sub(const SparseTensor &a, double value, const SparseTensor &b) { return a.sub(value, b); }
inline SparseTensor sub(const SparseTensor &a, const SparseTensor &b) { return a.sub(b); }
inline SparseTensor &sub_out(SparseTensor &r, const SparseTensor &a, double value, const SparseTensor &b) {
    return detail::into(r, THSTensor_csub(detail::result(r), a.get(), value, b.get()), "sub_out");
}
inline SparseTensor &sub_out(SparseTensor &r, const SparseTensor &a, const SparseTensor &b) {
    return detail::into(r, THSTensor_csub(detail::result(r), a.get(), 1, b.get()), "sub_out");
}
inline SparseTensor cmul(const SparseTensor &a, const SparseTensor &b) { return a.cmul(b); }
inline SparseTensor &cmul_out(SparseTensor &r, const SparseTensor &a, const SparseTensor &b) {
    return detail::into(r, THSTensor_cmul(detail::result(r), a.get(), b.get()), "cmul_out");
}
inline SparseTensor mul(const SparseTensor &a, const SparseTensor &b) { return a.mul(b); }
inline SparseTensor &mul_out(SparseTensor &r, const SparseTensor &a, const SparseTensor &b) {
    return detail::into(r, THSTensor_cmul(detail::result(r), a.get(), b.get()), "mul_out");
}
inline SparseTensor cmulDense(const SparseTensor &s, const Tensor &t) { return s.cmulDense(t); }
inline SparseTensor &cmulDense_out(SparseTensor &r, const SparseTensor &s, const Tensor &t) {
    return detail::into(r, THSTensor_cmulDense(detail::result(r), s.get(), t.get()), "cmulDense_out");
}
inline SparseTensor mul(const SparseTensor &s, const Tensor &t) { return s.mul(t); }
inline SparseTensor &mul_out(SparseTensor &r, const SparseTensor &s, const Tensor &t) {
    return detail::into(r, THSTensor_cmulDense(detail::result(r), s.get(), t.get()), "mul_out");
}
inline SparseTensor cdivDense(const SparseTensor &s, const Tensor &t) { return s.cdivDense(t); }
inline SparseTensor &cdivDense_out(SparseTensor &r, const SparseTensor &s, const Tensor &t) {
    return detail::into(r, THSTensor_cdivDense(detail::result(r), s.get(), t.get()), "cdivDense_out");
}
inline SparseTensor div(const SparseTensor &s, const Tensor &t) { return s.div(t); }
inline SparseTensor &div_out(SparseTensor &r, const SparseTensor &s, const Tensor &t) {
    return detail::into(r, THSTensor_cdivDense(detail::result(r), s.get(), t.get()), "div_out");
}
inline SparseTensor mul(const SparseTensor &s, double value) { return s.mul(value); }
inline SparseTensor &mul_out(SparseTensor &r, const SparseTensor &s, double value) {
    return detail::into(r, THSTensor_mul(detail::result(r), s.get(), value), "mul_out");
}
inline SparseTensor div(const SparseTensor &s, double value) { return s.div(value); }
inline SparseTensor &div_out(SparseTensor &r, const SparseTensor &s, double value) {
    return detail::into(r, THSTensor_div(detail::result(r), s.get(), value), "div_out");
}
inline SparseTensor pow(const SparseTensor &s, double value) { return s.pow(value); }
inline SparseTensor &pow_out(SparseTensor &r, const SparseTensor &s, double value) {
    return detail::into(r, THSTensor_pow(detail::result(r), s.get(), value), "pow_out");
}
inline SparseTensor neg(const SparseTensor &s) { return s.neg(); }
inline SparseTensor &neg_out(SparseTensor &r, const SparseTensor &s) {
    return detail::into(r, THSTensor_neg(detail::result(r), s.get()), "neg_out");
}
inline SparseTensor abs(const SparseTensor &s) { return s.abs(); }
inline SparseTensor &abs_out(SparseTensor &r, const SparseTensor &s) {
    return detail::into(r, THSTensor_abs(detail::result(r), s.get()), "abs_out");
}
inline SparseTensor sign(const SparseTensor &s) { return s.sign(); }
inline SparseTensor &sign_out(SparseTensor &r, const SparseTensor &s) {
    return detail::into(r, THSTensor_sign(detail::result(r), s.get()), "sign_out");
}
inline SparseTensor sqrt(const SparseTensor &s) { return s.sqrt(); }
inline SparseTensor &sqrt_out(SparseTensor &r, const SparseTensor &s) {
    return detail::into(r, THSTensor_sqrt(detail::result(r), s.get()), "sqrt_out");
}
inline SparseTensor expm1(const SparseTensor &s) { return s.expm1(); }
inline SparseTensor &expm1_out(SparseTensor &r, const SparseTensor &s) {
    return detail::into(r, THSTensor_expm1(detail::result(r), s.get()), "expm1_out");
}
inline SparseTensor log1p(const SparseTensor &s) { return s.log1p(); }
inline SparseTensor &log1p_out(SparseTensor &r, const SparseTensor &s) {
    return detail::into(r, THSTensor_log1p(detail::result(r), s.get()), "log1p_out");
}
inline SparseTensor sin(const SparseTensor &s) { return s.sin(); }
inline SparseTensor &sin_out(SparseTensor &r, const SparseTensor &s) {
    return detail::into(r, THSTensor_sin(detail::result(r), s.get()), "sin_out");
}
inline SparseTensor tan(const SparseTensor &s) { return s.tan(); }
inline SparseTensor &tan_out(SparseTensor &r, const SparseTensor &s) {
    return detail::into(r, THSTensor_tan(detail::result(r), s.get()), "tan_out");
}
inline SparseTensor asin(const SparseTensor &s) { return s.asin(); }
inline SparseTensor &asin_out(SparseTensor &r, const SparseTensor &s) {
    return detail::into(r, THSTensor_asin(detail::result(r), s.get()), "asin_out");
}
inline SparseTensor atan(const SparseTensor &s) { return s.atan(); }
inline SparseTensor &atan_out(SparseTensor &r, const SparseTensor &s) {
    return detail::into(r, THSTensor_atan(detail::result(r), s.get()), "atan_out");
}
inline SparseTensor sinh(const SparseTensor &s) { return s.sinh(); }
inline SparseTensor &sinh_out(SparseTensor &r, const SparseTensor &s) {
    return detail::into(r, THSTensor_sinh(detail::result(r), s.get()), "sinh_out");
}
inline SparseTensor tanh(const SparseTensor &s) { return s.tanh(); }
inline SparseTensor &tanh_out(SparseTensor &r, const SparseTensor &s) {
    return detail::into(r, THSTensor_tanh(detail::result(r), s.get()), "tanh_out");
}
inline SparseTensor relu(const SparseTensor &s) { return s.relu(); }
inline SparseTensor &relu_out(SparseTensor &r, const SparseTensor &s) {
    return detail::into(r, THSTensor_relu(detail::result(r), s.get()), "relu_out");
}
inline SparseTensor floor(const SparseTensor &s) { return s.floor(); }
inline SparseTensor &floor_out(SparseTensor &r, const SparseTensor &s) {
    return detail::into(r, THSTensor_floor(detail::result(r), s.get()), "floor_out");
}
inline SparseTensor ceil(const SparseTensor &s) { return s.ceil(); }
inline SparseTensor &ceil_out(SparseTensor &r, const SparseTensor &s) {
    return detail::into(r, THSTensor_ceil(detail::result(r), s.get()), "ceil_out");
}
inline SparseTensor round(const SparseTensor &s) { return s.round(); }
inline SparseTensor &round_out(SparseTensor &r, const SparseTensor &s) {
    return detail::into(r, THSTensor_round(detail::result(r), s.get()), "round_out");
}
inline SparseTensor trunc(const SparseTensor &s) { return s.trunc(); }
inline SparseTensor &trunc_out(SparseTensor &r, const SparseTensor &s) {
    return detail::into(r, THSTensor_trunc(detail::result(r), s.get()), "trunc_out");
}
inline double sumall(const SparseTensor &s) { return s.sumall(); }
inline SparseTensor sum(const SparseTensor &s, IntList dims) { return s.sum(dims); }
inline SparseTensor sum(const SparseTensor &s, std::initializer_list<int64_t> dims) { return sum(s, IntList(dims)); }
inline SparseTensor &sum_out(SparseTensor &r, const SparseTensor &s, IntList dims) {
    return detail::into(r, THSTensor_sum(detail::result(r), s.get(), dims.count(), dims.data()), "sum_out");
}
inline double normall(const SparseTensor &s, double value = 2) { return s.normall(value); }
inline Tensor spmm(const SparseTensor &s, const Tensor &m) { return s.spmm(m); }
inline Tensor &spmm_out(Tensor &r, const SparseTensor &s, const Tensor &m) {
    return detail::into(r, THSTensor_spmm(detail::result(r), s.get(), m.get()), "spmm_out");
}
inline Tensor spmv(const SparseTensor &s, const Tensor &vec) { return s.spmv(vec); }
inline Tensor &spmv_out(Tensor &r, const SparseTensor &s, const Tensor &vec) {
    return detail::into(r, THSTensor_spmv(detail::result(r), s.get(), vec.get()), "spmv_out");
}
inline Tensor spaddmm(double beta, const Tensor &t, double alpha, const SparseTensor &s, const Tensor &m) {
    return s.spaddmm(beta, t, alpha, m);
}
inline Tensor spaddmm(const Tensor &t, const SparseTensor &s, const Tensor &m) { return s.spaddmm(t, m); }
inline Tensor &spaddmm_out(Tensor &r, double beta, const Tensor &t, double alpha, const SparseTensor &s,
    const Tensor &m) {
    return detail::into(r, THSTensor_spaddmm(detail::result(r), beta, t.get(), alpha, s.get(), m.get()),
        "spaddmm_out");
}
inline Tensor &spaddmm_out(Tensor &r, const Tensor &t, const SparseTensor &s, const Tensor &m) {
    return detail::into(r, THSTensor_spaddmm(detail::result(r), 1, t.get(), 1, s.get(), m.get()), "spaddmm_out");
}
inline SparseTensor hspmm(const SparseTensor &s, const Tensor &m) { return s.hspmm(m); }
inline SparseTensor &hspmm_out(SparseTensor &r, const SparseTensor &s, const Tensor &m) {
    return detail::into(r, THSTensor_hspmm(detail::result(r), s.get(), m.get()), "hspmm_out");
}
inline SparseTensor sspmm(const SparseTensor &s, const Tensor &m) { return s.sspmm(m); }
inline SparseTensor &sspmm_out(SparseTensor &r, const SparseTensor &s, const Tensor &m) {
    return detail::into(r, THSTensor_sspmm(detail::result(r), s.get(), m.get()), "sspmm_out");
}
inline SparseTensor sspaddmm(double beta, const SparseTensor &t, double alpha, const SparseTensor &s,
    const Tensor &m) {
    return t.sspaddmm(beta, alpha, s, m);
}
inline SparseTensor sspaddmm(const SparseTensor &t, const SparseTensor &s, const Tensor &m) { return t.sspaddmm(s, m); }
inline SparseTensor &sspaddmm_out(SparseTensor &r, double beta, const SparseTensor &t, double alpha,
    const SparseTensor &s, const Tensor &m) {
    return detail::into(r, THSTensor_sspaddmm(detail::result(r), beta, t.get(), alpha, s.get(), m.get()),
        "sspaddmm_out");
}
inline SparseTensor &sspaddmm_out(SparseTensor &r, const SparseTensor &t, const SparseTensor &s, const Tensor &m) {
    return detail::into(r, THSTensor_sspaddmm(detail::result(r), 1, t.get(), 1, s.get(), m.get()), "sspaddmm_out");
}
inline SparseTensor mm(const SparseTensor &a, const SparseTensor &b) { return a.mm(b); }
inline SparseTensor &mm_out(SparseTensor &r, const SparseTensor &a, const SparseTensor &b) {
    return detail::into(r, THSTensor_mm(detail::result(r), a.get(), b.get()), "mm_out");
}
inline SparseTensor softmax(const SparseTensor &s) { return s.softmax(); }
inline SparseTensor &softmax_out(SparseTensor &r, const SparseTensor &s) {
    return detail::into(r, THSTensor_softmax(detail::result(r), s.get()), "softmax_out");
}
inline Tensor trtrs(const Tensor &b, const SparseTensor &s, bool upper = false, bool transpose = false,
    bool unitriangular = false) {
    return s.trtrs(b, upper, transpose, unitriangular);
}
inline Tensor &trtrs_out(Tensor &rb, const Tensor &b, const SparseTensor &s, bool upper = false, bool transpose = false,
    bool unitriangular = false) {
    return detail::into(rb, THSTensor_trtrs(detail::result(rb), b.get(), s.get(), upper, transpose, unitriangular),
        "trtrs_out");
}
inline Tensor solve(const SparseTensor &s, const Tensor &b) { return s.solve(b); }
inline Tensor &solve_out(Tensor &r, const SparseTensor &s, const Tensor &b) {
    return detail::into(r, THSTensor_solve(detail::result(r), s.get(), b.get()), "solve_out");
}
inline Tensor cg(const SparseTensor &s, const Tensor &b, const Tensor &start = {}, double tol = 0.00001,
    int64_t maxIter = 1000, THProgressFunction progress = nullptr, void *context = nullptr) {
    return s.cg(b, start, tol, maxIter, progress, context);
}
inline int64_t cg_out(Tensor &r, Out residual, const SparseTensor &s, const Tensor &b, const Tensor &start = {},
    double tol = 0.00001, int64_t maxIter = 1000, THProgressFunction progress = nullptr, void *context = nullptr) {
    return detail::must(THSTensor_cg(detail::result(r), detail::result(residual), s.get(), b.get(), start.get(), tol,
        maxIter, progress, context), static_cast<int64_t>(-1), "cg_out");
}
inline SparseTensor sampledAddmm(double beta, const SparseTensor &s, double alpha, const Tensor &m1,
    const Tensor &m2) {
    return s.sampledAddmm(beta, alpha, m1, m2);
}
inline SparseTensor sampledAddmm(const SparseTensor &s, const Tensor &m1, const Tensor &m2) {
    return s.sampledAddmm(m1, m2);
}
inline SparseTensor &sampledAddmm_out(SparseTensor &r, double beta, const SparseTensor &s, double alpha,
    const Tensor &m1, const Tensor &m2) {
    return detail::into(r, THSTensor_sampledAddmm(detail::result(r), beta, s.get(), alpha, m1.get(), m2.get()),
        "sampledAddmm_out");
}
inline SparseTensor &sampledAddmm_out(SparseTensor &r, const SparseTensor &s, const Tensor &m1, const Tensor &m2) {
    return detail::into(r, THSTensor_sampledAddmm(detail::result(r), 1, s.get(), 1, m1.get(), m2.get()),
        "sampledAddmm_out");
}
inline Tensor spcadd(const Tensor &t, double value, const SparseTensor &s) { return s.spcadd(t, value); }
inline Tensor spcadd(const Tensor &t, const SparseTensor &s) { return s.spcadd(t); }
inline Tensor &spcadd_out(Tensor &r, const Tensor &t, double value, const SparseTensor &s) {
    return detail::into(r, THSTensor_spcadd(detail::result(r), t.get(), value, s.get()), "spcadd_out");
}
inline Tensor &spcadd_out(Tensor &r, const Tensor &t, const SparseTensor &s) {
    return detail::into(r, THSTensor_spcadd(detail::result(r), t.get(), 1, s.get()), "spcadd_out");
}
inline SparseTensor sparseMask(const Tensor &t, const SparseTensor &mask) { return mask.sparseMask(t); }
inline SparseTensor &sparseMask_out(SparseTensor &r, const Tensor &t, const SparseTensor &mask) {
    return detail::into(r, THSTensor_sparseMask(detail::result(r), t.get(), mask.get()), "sparseMask_out");
}

// ----------------------------------------------------------------------------------------------------------- Printing

inline void print(const SparseTensor &s) { return s.print(); }
inline void fprint(FILE *stream, const SparseTensor &s, const THPrintOptions *options = nullptr) {
    return s.fprint(stream, options);
}

// -------------------------------------------------------------------------------------------------------------- Files

inline void save(const SparseTensor &s, Text path) { return s.save(path); }

inline SparseTensor Tensor::toSparse(int sparseDim) const { return SparseTensor::fromDense(*this, sparseDim); }
inline SparseTensor Tensor::sparseMask(const SparseTensor &mask) const { return th::sparseMask(*this, mask); }

inline SparseTensor operator+(const SparseTensor &a, const SparseTensor &b) { return a.add(b); }
inline SparseTensor operator-(const SparseTensor &a, const SparseTensor &b) { return a.sub(b); }
inline SparseTensor operator*(const SparseTensor &a, const SparseTensor &b) { return a.mul(b); }
inline SparseTensor operator*(const SparseTensor &a, const Tensor &b) { return a.mul(b); }
inline SparseTensor operator*(const Tensor &a, const SparseTensor &b) { return b.mul(a); }
inline SparseTensor operator*(const SparseTensor &a, double b) { return a.mul(b); }
inline SparseTensor operator*(double a, const SparseTensor &b) { return b.mul(a); }
inline SparseTensor operator/(const SparseTensor &a, const Tensor &b) { return a.div(b); }
inline SparseTensor operator/(const SparseTensor &a, double b) { return a.div(b); }

// The result is dense if an operand is.

inline Tensor operator+(const Tensor &a, const SparseTensor &b) { return spcadd(a, b); }
inline Tensor operator+(const SparseTensor &a, const Tensor &b) { return spcadd(b, a); }
inline Tensor operator-(const Tensor &a, const SparseTensor &b) { return spcadd(a, -1, b); }
inline Tensor operator-(const SparseTensor &a, const Tensor &b) { return spcadd(b.neg(), a); }

/// Writes the text of `toString()`.
template <class Traits>
inline std::basic_ostream<char, Traits> &operator<<(std::basic_ostream<char, Traits> &out, const SparseTensor &s) {
    return out << s.toString().c_str();
}

// ==================================================================================================================
//     Exported programs
// ==================================================================================================================

/// A tensor of a program and its name. The name is valid as long as the program.
struct NamedTensor {
    const char *name;
    Tensor tensor;
};

/// The smallest and the largest size of a dimension; INT64_MAX if the size has no bound.
struct SizeRange {
    int64_t min, max;
};

/// A model that PyTorch exported: `th::Program p("model.pt2"); std::vector<th::Tensor> out = p(x, y);`. Copies refer to
/// the same program. Optimizers accept `parameters()`.
class Program : public detail::Counted<THProgram, THProgram_retain, THProgram_free> {
  public:
    Program() noexcept = default;
    /// Opens a file of torch.export.save.
    explicit Program(Text path)
        : Counted(detail::must(THProgram_open(path.c_str()), static_cast<THProgram *>(nullptr), "Program")) {}
    /// Takes over a reference.
    static Program take(THProgram *handle) noexcept { return Program(handle); }

    /// The outputs for these inputs, in the order of PyTorch. An output that is None is an undefined tensor.
    std::vector<Tensor> run(TensorList inputs) const {
        std::vector<Tensor> outputs;
        run_out(outputs, inputs);
        return outputs;
    }
    /// Writes the outputs to `outputs`. If the list is empty, it becomes a list of new tensors.
    std::vector<Tensor> &run_out(std::vector<Tensor> &outputs, TensorList inputs) const {
        if (outputs.empty()) outputs = detail::fresh(static_cast<int>(outputCount()));
        for (Tensor &output : outputs) detail::result(output);
        detail::check(THProgram_run(reinterpret_cast<THTensor *const *>(outputs.data()),
                                    static_cast<int>(outputs.size()), handle_, inputs.data(), inputs.count()),
                      "run");
        for (Tensor &output : outputs)
            if (output.get()->dtype == TH_UNDEFINED) output = Tensor();
        return outputs;
    }
    std::vector<Tensor> operator()(TensorList inputs) const { return run(inputs); }
    /// The outputs for one or several inputs.
    template <class... More> std::vector<Tensor> operator()(const Tensor &first, const More &...more) const {
        return run({first, more...});
    }
    /// The output of a program that has one output.
    template <class... More> Tensor forward(const Tensor &first, const More &...more) const {
        std::vector<Tensor> outputs = run({first, more...});
        if (outputs.size() == 1) return std::move(outputs[0]);
        if (!outputs.empty()) detail::fail("forward", Status::ErrArgument, "the program has several outputs");
        return Tensor();
    }

    /// The ranges of the sizes of input `index`.
    std::vector<SizeRange> inputSizes(int64_t index) const {
        return ranges(inputNdim(index), THProgram_inputMinSizes, THProgram_inputMaxSizes, index);
    }
    /// The ranges of the sizes of output `index`.
    std::vector<SizeRange> outputSizes(int64_t index) const {
        return ranges(outputNdim(index), THProgram_outputMinSizes, THProgram_outputMaxSizes, index);
    }
    /// The parameters, in the order of the program: `th::Optim::adam(p.parameters())`.
    std::vector<Tensor> parameters() const {
        return listed<Tensor>(parameterCount(), [this](int64_t k) { return parameter(parameterName(k)); });
    }
    /// The parameters and their names.
    std::vector<NamedTensor> namedParameters() const {
        return listed<NamedTensor>(parameterCount(), [this](int64_t k) {
            const char *name = parameterName(k);
            return NamedTensor{name, parameter(name)};
        });
    }
    /// The buffers and their names.
    std::vector<NamedTensor> namedBuffers() const {
        return listed<NamedTensor>(bufferCount(), [this](int64_t k) {
            const char *name = bufferName(k);
            return NamedTensor{name, buffer(name)};
        });
    }
    /// The value of a key of the metadata, such as `torch_version`; NULL if there is none.
    const char *metadata(Text key) const {
        for (int64_t k = 0, count = metadataCount(); k < count; k++) {
            if (detail::same(metadataKey(k), key.c_str())) return metadataValue(k);
        }
        return nullptr;
    }

    // ---------------------------------------------------------------------------------------------- Exported programs

    /// Opens a file in memory: `size` bytes from `data` on, which are copied.
    static Program openMemory(const void *data, ptrdiff_t size) {
        return Program::take(detail::must(THProgram_openMemory(data, size), static_cast<THProgram *>(nullptr),
            "openMemory"));
    }
    /// Moves the parameters, buffers and constants to a device, and converts the floats of the program to `dtype`;
    /// `TH_UNDEFINED` keeps their dtype.
    void to(DeviceType deviceType, int deviceIndex = 0, Dtype dtype = Dtype::Undefined) const {
        detail::check(THProgram_to(handle_, static_cast<THDeviceType>(deviceType), deviceIndex,
            static_cast<THDtype>(dtype)), "to");
    }
    /// Returns the number of inputs.
    int64_t inputCount() const {
        THClearLastError();
        const int64_t r = THProgram_inputCount(handle_);
        return detail::known(r, r == -1, "inputCount");
    }
    /// Returns the name of input `index`, counted from 0.
    const char *inputName(int64_t index) const {
        THClearLastError();
        const auto r = THProgram_inputName(handle_, index);
        return detail::known(r, !r, "inputName");
    }
    /// Returns the dtype of input `index`.
    Dtype inputDtype(int64_t index) const {
        THClearLastError();
        const THDtype r = THProgram_inputDtype(handle_, index);
        return detail::known(static_cast<Dtype>(r), !r, "inputDtype");
    }
    /// Returns the number of dimensions of input `index`.
    int64_t inputNdim(int64_t index) const {
        THClearLastError();
        const int64_t r = THProgram_inputNdim(handle_, index);
        return detail::known(r, r == -1, "inputNdim");
    }
    /// Returns the number of outputs.
    int64_t outputCount() const {
        THClearLastError();
        const int64_t r = THProgram_outputCount(handle_);
        return detail::known(r, r == -1, "outputCount");
    }
    /// Returns the name of output `index`, counted from 0: the path to the output in the nested results of the model.
    const char *outputName(int64_t index) const {
        THClearLastError();
        const auto r = THProgram_outputName(handle_, index);
        return detail::known(r, !r, "outputName");
    }
    /// Returns the dtype of output `index`; `TH_UNDEFINED` for `None`.
    Dtype outputDtype(int64_t index) const {
        THClearLastError();
        const THDtype r = THProgram_outputDtype(handle_, index);
        return detail::known(static_cast<Dtype>(r), !r, "outputDtype");
    }
    /// Returns the number of dimensions of output `index`.
    int64_t outputNdim(int64_t index) const {
        THClearLastError();
        const int64_t r = THProgram_outputNdim(handle_, index);
        return detail::known(r, r == -1, "outputNdim");
    }
    /// Returns the number of parameters.
    int64_t parameterCount() const {
        THClearLastError();
        const int64_t r = THProgram_parameterCount(handle_);
        return detail::known(r, r == -1, "parameterCount");
    }
    /// Returns the name of parameter `index`, counted from 0: `layer.0.weight`.
    const char *parameterName(int64_t index) const {
        THClearLastError();
        const auto r = THProgram_parameterName(handle_, index);
        return detail::known(r, !r, "parameterName");
    }
    /// Returns the parameter `name` that the program uses: a write to its elements changes the following runs, and
    /// `THTensor_setRequiresGrad` makes runs record gradients.
    Tensor parameter(Text name) const {
        return detail::made(THProgram_newParameter(handle_, name.c_str()), "parameter");
    }
    /// Returns the number of buffers.
    int64_t bufferCount() const {
        THClearLastError();
        const int64_t r = THProgram_bufferCount(handle_);
        return detail::known(r, r == -1, "bufferCount");
    }
    /// Returns the name of buffer `index`, counted from 0.
    const char *bufferName(int64_t index) const {
        THClearLastError();
        const auto r = THProgram_bufferName(handle_, index);
        return detail::known(r, !r, "bufferName");
    }
    /// Returns the buffer `name` that the program uses.
    Tensor buffer(Text name) const { return detail::made(THProgram_newBuffer(handle_, name.c_str()), "buffer"); }
    /// Returns the number of keys in the metadata.
    int64_t metadataCount() const {
        THClearLastError();
        const int64_t r = THProgram_metadataCount(handle_);
        return detail::known(r, r == -1, "metadataCount");
    }
    /// Returns key `index` of the metadata, counted from 0: `torch_version`, `schema_version`.
    const char *metadataKey(int64_t index) const {
        THClearLastError();
        const auto r = THProgram_metadataKey(handle_, index);
        return detail::known(r, !r, "metadataKey");
    }
    /// Returns the value of key `index`.
    const char *metadataValue(int64_t index) const {
        THClearLastError();
        const auto r = THProgram_metadataValue(handle_, index);
        return detail::known(r, !r, "metadataValue");
    }

  private:
    using Counted::Counted;

    template <class T, class F> static std::vector<T> listed(int64_t count, F entry) {
        std::vector<T> list;
        for (int64_t k = 0; k < count; k++) list.push_back(entry(k));
        return list;
    }

    using Sizes = const int64_t *(const THProgram *, int64_t);
    std::vector<SizeRange> ranges(int64_t ndim, Sizes *least, Sizes *most, int64_t index) const {
        const int64_t *min = least(handle_, index), *max = most(handle_, index);
        return listed<SizeRange>(min && max ? ndim : 0, [=](int64_t d) { return SizeRange{min[d], max[d]}; });
    }
};

// ==================================================================================================================
//     Fused expressions, archives and optimizers
// ==================================================================================================================

/// An expression of elementwise operations that is computed in one pass: `th::Fused("tanh(a*b + c)")({a, b, c})`.
class Fused : public detail::Counted<THFused, THFused_retain, THFused_free> {
  public:
    Fused() noexcept = default;
    /// Takes over a reference.
    static Fused take(THFused *handle) noexcept { return Fused(handle); }
    /// The value of the expression for these inputs, in the order of their names.
    Tensor operator()(TensorList inputs) const { return run(inputs); }
    /// The value for inputs with these names, in any order: `f({{"a", a}, {"b", b}})`.
    Tensor operator()(std::initializer_list<NamedTensor> inputs) const;

    // ---------------------------------------------------------------------------------------------- Fused expressions

    /// Parses an expression.
    explicit Fused(Text expression) : Counted(detail::must(THFused_new(expression.c_str()),
        static_cast<THFused *>(nullptr), "Fused")) {}
    /// Returns the number of inputs.
    int64_t nInputs() const {
        THClearLastError();
        const int64_t r = THFused_nInputs(handle_);
        return detail::known(r, r == -1, "nInputs");
    }
    /// Returns the name of input `index`, counted from 0.
    const char *inputName(int64_t index) const {
        THClearLastError();
        const auto r = THFused_inputName(handle_, index);
        return detail::known(r, !r, "inputName");
    }
    /// `r` = the expression of the `count` inputs, in the order of their numbers.
    Tensor run(TensorList inputs) const {
        detail::New r;
        return r(THFused_run(r.handle, handle_, inputs.data(), inputs.count()), "run");
    }
    Tensor &run_out(Tensor &r, TensorList inputs) const {
        detail::check(THFused_run(detail::result(r), handle_, inputs.data(), inputs.count()), "run_out");
        return r;
    }

  private:
    using Counted::Counted;
};

inline Tensor Fused::operator()(std::initializer_list<NamedTensor> inputs) const {
    const int64_t count = nInputs();
    std::vector<Tensor> list(static_cast<std::size_t>(count < 0 ? 0 : count));
    for (const NamedTensor &input : inputs) {
        int64_t at = 0;
        while (at < count && !detail::same(inputName(at), input.name)) ++at;
        if (at >= count || list[static_cast<std::size_t>(at)].defined()) {
            const char *problem = at >= count ? ": the expression has no input " : ": there are two tensors for input ";
            detail::fail(Error(Status::ErrArgument, {"run", problem, input.name}));
            return Tensor();
        }
        list[static_cast<std::size_t>(at)] = input.tensor;
    }
    for (int64_t at = 0; at < count; at++) {
        if (list[static_cast<std::size_t>(at)].defined()) continue;
        detail::fail(Error(Status::ErrArgument, {"run: there is no tensor for input ", inputName(at)}));
        return Tensor();
    }
    return run(list);
}

namespace detail {

/// Returns what `call` returns, a function of the program's reader, or -1 if it throws.
template <class F> inline auto read(F call) noexcept -> decltype(call()) {
#ifdef TH_NO_EXCEPTIONS
    return call();
#else
    try {
        return call();
    } catch (...) {
        return -1;
    }
#endif
}

} // namespace detail

/// Named tensors with metadata in one file: `open` reads it, `create` makes it, and `close` writes what was added.
class Archive : public detail::Owned<THArchive, THArchive_free> {
  public:
    Archive() noexcept = default;
    /// Takes over a handle.
    static Archive take(THArchive *handle) noexcept { return Archive(handle); }
    /// Opens a file that `reader` reads, which must outlive the archive: `reader.read(buffer, size)` and
    /// `reader.seek(offset, whence)` do what fread and fseek do. An exception counts as a failed read.
    template <class Reader> static Archive openReader(Reader &reader) {
        const THReadFunction read = [](void *context, void *buffer, ptrdiff_t size) noexcept -> ptrdiff_t {
            return detail::read([&] { return static_cast<Reader *>(context)->read(buffer, size); });
        };
        const THSeekFunction seek = [](void *context, int64_t offset, int whence) noexcept -> int64_t {
            return detail::read([&] { return static_cast<Reader *>(context)->seek(offset, whence); });
        };
        return Archive(detail::must(THArchive_openCallbacks(read, seek, &reader), static_cast<THArchive *>(nullptr),
                                    "openReader"));
    }
    /// The sizes of tensor `index`, as long as the archive is open.
    IntList sizes(int64_t index) const {
        const int count = static_cast<int>(ndim(index));
        THClearLastError();
        const int64_t *size = THArchive_sizes(handle_, index);
        return IntList(detail::known(size, !size, "sizes"), size ? count : 0);
    }

    // ---------------------------------------------------------------------------------------------------------- Files

    /// The sparse tensor `index`, with coordinates or compressed by rows as in the file.
    SparseTensor sparse(int64_t index) const {
        return SparseTensor::take(detail::must(THArchive_newSparse(handle_, index), static_cast<THSTensor *>(nullptr),
            "sparse"));
    }
    /// Adds a sparse tensor with the name `name`.
    void addSparse(Text name, const SparseTensor &s) const {
        detail::check(THArchive_addSparse(handle_, name.c_str(), s.get()), "addSparse");
    }
    /// Opens the file `path` for reading.
    static Archive open(Text path) {
        return Archive::take(detail::must(THArchive_open(path.c_str()), static_cast<THArchive *>(nullptr), "open"));
    }
    /// Opens a file as `THArchive_open` does, with `flags`: with `TH_OPEN_COPY` elements are always copied and never
    /// mapped; with 0 they may be mapped.
    static Archive openWith(Text path, int flags) {
        return Archive::take(detail::must(THArchive_openWith(path.c_str(), flags), static_cast<THArchive *>(nullptr),
            "openWith"));
    }
    /// Opens a table of numbers whose columns are separated by the character `separator`.
    static Archive openTable(Text path, int separator) {
        return Archive::take(detail::must(THArchive_openTable(path.c_str(), separator),
            static_cast<THArchive *>(nullptr), "openTable"));
    }
    /// Opens a file in memory: `size` bytes from `data` on.
    static Archive openMemory(const void *data, ptrdiff_t size) {
        return Archive::take(detail::must(THArchive_openMemory(data, size), static_cast<THArchive *>(nullptr),
            "openMemory"));
    }
    /// Returns the format of the file; `TH_FILE_BY_NAME` on error.
    FileFormat format() const {
        THClearLastError();
        const THFileFormat r = THArchive_format(handle_);
        return detail::known(static_cast<FileFormat>(r), !r, "format");
    }
    /// Returns the number of tensors.
    int64_t count() const {
        THClearLastError();
        const int64_t r = THArchive_count(handle_);
        return detail::known(r, r == -1, "count");
    }
    /// Returns the name of tensor `index`, counted from 0.
    const char *name(int64_t index) const {
        THClearLastError();
        const auto r = THArchive_name(handle_, index);
        return detail::known(r, !r, "name");
    }
    /// Returns the index of the first tensor named `name`; -1 if there is none.
    int64_t find(Text name) const {
        THClearLastError();
        const int64_t r = THArchive_find(handle_, name.c_str());
        return detail::known(r, r == -1, "find");
    }
    /// Returns the dtype of tensor `index`; for a sparse tensor, the dtype of its values.
    Dtype dtype(int64_t index) const {
        THClearLastError();
        const THDtype r = THArchive_dtype(handle_, index);
        return detail::known(static_cast<Dtype>(r), !r, "dtype");
    }
    /// Returns the block type of tensor `index`, whose bytes `THArchive_newBytes` returns; `TH_BLOCK_NONE` on error,
    /// for tensors without blocks, and for block types that thorn does not decode.
    BlockType blockType(int64_t index) const {
        THClearLastError();
        const THBlockType r = THArchive_blockType(handle_, index);
        return detail::known(static_cast<BlockType>(r), !r, "blockType");
    }
    /// Returns the number of dimensions of tensor `index`.
    int64_t ndim(int64_t index) const {
        return detail::must(THArchive_ndim(handle_, index), static_cast<int64_t>(-1), "ndim");
    }
    /// Returns True if tensor `index` is sparse; false if it is not.
    bool isSparse(int64_t index) const {
        THClearLastError();
        const int r = THArchive_isSparse(handle_, index);
        return detail::known(r != 0, !r, "isSparse");
    }
    /// Returns the number of entries of the sparse tensor `index`, and if the tensor is not sparse.
    int64_t nnz(int64_t index) const {
        THClearLastError();
        const int64_t r = THArchive_nnz(handle_, index);
        return detail::known(r, r == -1, "nnz");
    }
    /// Returns the number of keys of the metadata.
    int64_t metadataCount() const {
        THClearLastError();
        const int64_t r = THArchive_metadataCount(handle_);
        return detail::known(r, r == -1, "metadataCount");
    }
    /// Returns key `index` of the metadata, counted from 0.
    const char *metadataKey(int64_t index) const {
        THClearLastError();
        const auto r = THArchive_metadataKey(handle_, index);
        return detail::known(r, !r, "metadataKey");
    }
    /// Returns the value of key `index` of the metadata, counted from 0.
    const char *metadataValue(int64_t index) const {
        THClearLastError();
        const auto r = THArchive_metadataValue(handle_, index);
        return detail::known(r, !r, "metadataValue");
    }
    /// Returns the value of `key` in the metadata.
    const char *metadata(Text key) const {
        THClearLastError();
        const auto r = THArchive_metadata(handle_, key.c_str());
        return detail::known(r, !r, "metadata");
    }
    /// Returns tensor `index` with the strides that it has in the file.
    Tensor tensor(int64_t index) const { return detail::made(THArchive_newTensor(handle_, index), "tensor"); }
    /// Returns the first tensor named `name`, read as by `THArchive_newTensor`.
    Tensor tensor(Text name) const { return detail::made(THArchive_newFind(handle_, name.c_str()), "tensor"); }
    /// Returns the bytes of the elements of tensor `index` in row-major order, unconverted, as a vector of uint8.
    Tensor bytes(int64_t index) const { return detail::made(THArchive_newBytes(handle_, index), "bytes"); }
    /// `r` = a copy of tensor `index`.
    Tensor read(int64_t index) const { detail::New r; return r(THArchive_read(r.handle, handle_, index), "read"); }
    Tensor &read_out(Tensor &r, int64_t index) const {
        detail::check(THArchive_read(detail::result(r), handle_, index), "read_out");
        return r;
    }
    /// `r` = the first tensor named `name`, as `THTensor_copy` copies it: `r` keeps its dtype, device and shape.
    Tensor copy(Text name) const { detail::New r; return r(THArchive_copy(r.handle, handle_, name.c_str()), "copy"); }
    Tensor &copy_out(Tensor &r, Text name) const {
        detail::check(THArchive_copy(detail::result(r), handle_, name.c_str()), "copy_out");
        return r;
    }
    /// Creates an archive that `THArchive_close` writes to the file `path`.
    static Archive create(Text path, FileFormat format = FileFormat::ByName) {
        return Archive::take(detail::must(THArchive_create(path.c_str(), static_cast<THFileFormat>(format)),
            static_cast<THArchive *>(nullptr), "create"));
    }
    /// Adds a tensor with this name.
    void add(Text name, const Tensor &t) const { detail::check(THArchive_add(handle_, name.c_str(), t.get()), "add"); }
    /// Adds a key and its value to the metadata.
    void addMetadata(Text key, Text value) const {
        detail::check(THArchive_addMetadata(handle_, key.c_str(), value.c_str()), "addMetadata");
    }
    /// Sets the number of significant digits of floats in text formats, from 0 to 17.
    void setPrecision(int digits) const { detail::check(THArchive_setPrecision(handle_, digits), "setPrecision"); }
    /// Writes the file.
    void close() const { detail::check(THArchive_close(handle_), "close"); }

  private:
    using Owned::Owned;
};

namespace detail {

/// The C function of a closure, a function object that returns the loss.
template <class F> struct ClosureOf {
    static THStatus run(void *context, double *loss) noexcept {
        return guarded([&] { *loss = static_cast<double>((*static_cast<F *>(context))()); });
    }
};

} // namespace detail

/// An optimizer of parameters, leaves that require gradients: `zeroGrad`, a loss and its `backward`, `step`.
class Optim : public detail::Owned<THOptim, THOptim_free> {
  public:
    Optim() noexcept = default;
    /// Takes over a handle.
    static Optim take(THOptim *handle) noexcept { return Optim(handle); }
    using Owned::get;
    /// Calls `closure()`, which computes the gradients and returns the loss, and moves the parameters. An exception of
    /// `closure` ends the step, and is rethrown.
    template <class F> void stepClosure(F &&closure) const {
        using Closure = std::remove_reference_t<F>;
        void *context = const_cast<void *>(static_cast<const void *>(&closure));
        detail::check(THOptim_stepClosure(handle_, detail::ClosureOf<Closure>::run, context), "stepClosure");
    }

    // ----------------------------------------------------------------------------------------------------- Optimizers

    /// An optimizer for stochastic gradient descent.
    static Optim sgd(TensorList params, double lr = 0.001, double momentum = 0, double dampening = 0,
        double weightDecay = 0, bool nesterov = false) {
        return Optim::take(detail::must(THOptim_newSgd(params.data(), params.count(), lr, momentum, dampening,
            weightDecay, nesterov), static_cast<THOptim *>(nullptr), "sgd"));
    }
    /// An Adam optimizer.
    static Optim adam(TensorList params, double lr = 0.001, double beta1 = 0.9, double beta2 = 0.999, double eps = 1e-8,
        double weightDecay = 0, bool amsgrad = false) {
        return Optim::take(detail::must(THOptim_newAdam(params.data(), params.count(), lr, beta1, beta2, eps,
            weightDecay, amsgrad), static_cast<THOptim *>(nullptr), "adam"));
    }
    /// An AdamW optimizer: `THOptim_newAdam` with a weight decay that is separate from the gradient.
    static Optim adamw(TensorList params, double lr = 0.001, double beta1 = 0.9, double beta2 = 0.999,
        double eps = 1e-8, double weightDecay = 0.01, bool amsgrad = false) {
        return Optim::take(detail::must(THOptim_newAdamw(params.data(), params.count(), lr, beta1, beta2, eps,
            weightDecay, amsgrad), static_cast<THOptim *>(nullptr), "adamw"));
    }
    /// An RMSprop optimizer.
    static Optim rmsprop(TensorList params, double lr = 0.01, double alpha = 0.99, double eps = 1e-8,
        double weightDecay = 0, double momentum = 0, bool centered = false) {
        return Optim::take(detail::must(THOptim_newRmsprop(params.data(), params.count(), lr, alpha, eps, weightDecay,
            momentum, centered), static_cast<THOptim *>(nullptr), "rmsprop"));
    }
    /// An Adagrad optimizer (Duchi, Hazan and Singer 2011, jmlr.org/papers/v12/duchi11a.html).
    static Optim adagrad(TensorList params, double lr = 0.01, double lrDecay = 0, double weightDecay = 0,
        double initialAccumulatorValue = 0, double eps = 1e-10) {
        return Optim::take(detail::must(THOptim_newAdagrad(params.data(), params.count(), lr, lrDecay, weightDecay,
            initialAccumulatorValue, eps), static_cast<THOptim *>(nullptr), "adagrad"));
    }
    /// An Adadelta optimizer (Zeiler 2012, arxiv.org/abs/1212.5701).
    static Optim adadelta(TensorList params, double lr = 1, double rho = 0.9, double eps = 1e-6,
        double weightDecay = 0) {
        return Optim::take(detail::must(THOptim_newAdadelta(params.data(), params.count(), lr, rho, eps, weightDecay),
            static_cast<THOptim *>(nullptr), "adadelta"));
    }
    /// A NAdam optimizer (Dozat 2016, openreview.net/forum?id=OM0jvwB8jIp57ZJjtNEZ): Adam with Nesterov momentum.
    static Optim nadam(TensorList params, double lr = 0.002, double beta1 = 0.9, double beta2 = 0.999,
        double eps = 1e-8, double weightDecay = 0, double momentumDecay = 0.004, bool decoupledWeightDecay = false) {
        return Optim::take(detail::must(THOptim_newNadam(params.data(), params.count(), lr, beta1, beta2, eps,
            weightDecay, momentumDecay, decoupledWeightDecay), static_cast<THOptim *>(nullptr), "nadam"));
    }
    /// A RAdam optimizer (Liu and others 2019, arxiv.org/abs/1908.03265): Adam whose first steps do not use `v`.
    static Optim radam(TensorList params, double lr = 0.001, double beta1 = 0.9, double beta2 = 0.999,
        double eps = 1e-8, double weightDecay = 0, bool decoupledWeightDecay = false) {
        return Optim::take(detail::must(THOptim_newRadam(params.data(), params.count(), lr, beta1, beta2, eps,
            weightDecay, decoupledWeightDecay), static_cast<THOptim *>(nullptr), "radam"));
    }
    /// A LAMB optimizer for large batches (You and others 2019, arxiv.org/abs/1904.00962).
    static Optim lamb(TensorList params, double lr = 0.001, double beta1 = 0.9, double beta2 = 0.999, double eps = 1e-6,
        double weightDecay = 0) {
        return Optim::take(detail::must(THOptim_newLamb(params.data(), params.count(), lr, beta1, beta2, eps,
            weightDecay), static_cast<THOptim *>(nullptr), "lamb"));
    }
    /// An Adafactor optimizer (Shazeer and Stern 2018, arxiv.org/abs/1804.04235) in PyTorch's form.
    static Optim adafactor(TensorList params, double lr = 0.01, double beta2Decay = -0.8, double eps1 = -1,
        double eps2 = 0.001, double d = 1, double weightDecay = 0) {
        return Optim::take(detail::must(THOptim_newAdafactor(params.data(), params.count(), lr, beta2Decay, eps1, eps2,
            d, weightDecay), static_cast<THOptim *>(nullptr), "adafactor"));
    }
    /// An L-BFGS optimizer, which is used with `THOptim_stepClosure`.
    static Optim lbfgs(TensorList params, double lr = 1, int64_t maxIter = 20, int64_t historySize = 100,
        double tolGrad = 1e-7, double tolChange = 1e-9, bool strongWolfe = false) {
        return Optim::take(detail::must(THOptim_newLbfgs(params.data(), params.count(), lr, maxIter, historySize,
            tolGrad, tolChange, strongWolfe), static_cast<THOptim *>(nullptr), "lbfgs"));
    }
    /// Updates each parameter that has a gradient.
    void step() const { detail::check(THOptim_step(handle_), "step"); }
    /// Fills the gradients of the parameters with 0, or removes the gradients if `toNull` is not 0.
    void zeroGrad(bool toNull = true) const { detail::check(THOptim_zeroGrad(handle_, toNull), "zeroGrad"); }
    /// Sets the learning rate of all groups, for learning rate schedules.
    void setLr(double lr) const { detail::check(THOptim_setLr(handle_, lr), "setLr"); }
    /// The learning rate of the first group.
    double getLr() const {
        THClearLastError();
        const double r = THOptim_getLr(handle_);
        return detail::known(r, r != r, "getLr");
    }
    /// Adds a group of parameters with the hyperparameters of group 0, which the constructor makes.
    int64_t addGroup(TensorList params) const {
        THClearLastError();
        const int64_t r = THOptim_addGroup(handle_, params.data(), params.count());
        return detail::known(r, r == -1, "addGroup");
    }
    /// Returns the number of groups.
    int64_t groupCount() const {
        THClearLastError();
        const int64_t r = THOptim_groupCount(handle_);
        return detail::known(r, r == -1, "groupCount");
    }
    /// Sets a hyperparameter of a group for all later steps.
    void set(int64_t group, Text name, double value) const {
        detail::check(THOptim_set(handle_, group, name.c_str(), value), "set");
    }
    /// Returns a hyperparameter of a group.
    double get(int64_t group, Text name) const {
        THClearLastError();
        const double r = THOptim_get(handle_, group, name.c_str());
        return detail::known(r, r != r, "get");
    }
    /// Writes the hyperparameters and the state to the file `path`, so that a later run continues with the same bits.
    void save(Text path) const { detail::check(THOptim_save(handle_, path.c_str()), "save"); }
    /// Adds the hyperparameters and the state as the entry `name` to an archive of `THArchive_create`.
    void add(const Archive &archive, Text name) const {
        detail::check(THOptim_add(handle_, archive.get(), name.c_str()), "add");
    }
    /// Reads the hyperparameters and the state from a file that `THOptim_save` or PyTorch wrote.
    void load(Text path) const { detail::check(THOptim_load(handle_, path.c_str()), "load"); }
    /// `THOptim_load` from an open archive, whose entry `name` is the state dict: `optimizer` for a file of
    /// `torch.save({"model": ..., "optimizer": optimizer.state_dict()})`.
    void read(const Archive &archive, Text name) const {
        detail::check(THOptim_read(handle_, archive.get(), name.c_str()), "read");
    }

  private:
    using Owned::Owned;
};

// ==================================================================================================================
//     The library
// ==================================================================================================================

// ---------------------------------------------------------------------------------------------------------- Gradients

/// Switches recording on this thread on (1, the initial setting) or off (0).
inline void gradSetEnabled(bool enabled) { detail::check(THGrad_setEnabled(enabled), "gradSetEnabled"); }
/// True if this thread records operations.
inline bool gradIsEnabled() {
    THClearLastError();
    const int r = THGrad_isEnabled();
    return detail::known(r != 0, !r, "gradIsEnabled");
}
/// Begins (1) or ends (0) inference mode on this thread.
inline void gradSetInference(bool on) { detail::check(THGrad_setInference(on), "gradSetInference"); }

// --------------------------------------------------------------------------------------------------------- Optimizers

/// Scales the gradients of `tensors` in place by one factor, so that their norm as one vector is at most `maxNorm`.
inline double gradClipNorm(TensorList tensors, double maxNorm, double normType = 2) {
    THClearLastError();
    const double r = THGrad_clipNorm(tensors.data(), tensors.count(), maxNorm, normType);
    return detail::known(r, r != r, "gradClipNorm");
}
/// Divides the gradients of `tensors` in place by `scale`, for a loss that was multiplied by `scale` before
/// `THTensor_backward`.
inline int64_t gradUnscale(TensorList tensors, double scale) {
    THClearLastError();
    const int64_t r = THGrad_unscale(tensors.data(), tensors.count(), scale);
    return detail::known(r, r == -1, "gradUnscale");
}
/// Clamps each element of the gradients of `tensors` in place to [-value, value].
inline void gradClipValue(TensorList tensors, double value) {
    detail::check(THGrad_clipValue(tensors.data(), tensors.count(), value), "gradClipValue");
}
/// Makes `state`, a fresh handle or a vector of two elements, the state of a scaler: the scale and 0 steps.
inline Tensor gradScalerInit(double scale = 65536) {
    detail::New r;
    return r(THGrad_scalerInit(r.handle, scale), "gradScalerInit");
}
/// Changes the scale as PyTorch's GradScaler does.
inline void gradScalerUpdate(const Tensor &state, int64_t bad, double growthFactor = 2, double backoffFactor = 0.5,
    int64_t growthInterval = 2000) {
    detail::check(THGrad_scalerUpdate(state.get(), bad, growthFactor, backoffFactor, growthInterval),
        "gradScalerUpdate");
}
/// Divides the gradients of the optimizer's parameters by the scale, makes a step if all gradients are finite, and
/// changes the scale as `THGrad_scalerUpdate` does.
inline int64_t gradScalerStep(const Tensor &state, const Optim &o, double growthFactor = 2, double backoffFactor = 0.5,
    int64_t growthInterval = 2000) {
    THClearLastError();
    const int64_t r = THGrad_scalerStep(state.get(), o.get(), growthFactor, backoffFactor, growthInterval);
    return detail::known(r, r == -1, "gradScalerStep");
}
/// Exponential moving averages: `averages[k] = decay * averages[k] + (1 - decay) * params[k]`, in the wider dtype of
/// both, and without recording.
inline void gradAverage(TensorList averages, TensorList params, double decay = 0.999) {
    detail::check(THGrad_average(averages.data(), averages.count(), params.data(), params.count(), decay),
        "gradAverage");
}
/// Returns `lr * gamma^floor(step / stepSize)`, PyTorch's StepLR.
inline double scheduleStep(int64_t step, double lr, int64_t stepSize, double gamma = 0.1) {
    THClearLastError();
    const double r = THSchedule_step(step, lr, stepSize, gamma);
    return detail::known(r, r != r, "scheduleStep");
}
/// Returns `lr * gamma^step`, PyTorch's ExponentialLR.
inline double scheduleExponential(int64_t step, double lr, double gamma) {
    THClearLastError();
    const double r = THSchedule_exponential(step, lr, gamma);
    return detail::known(r, r != r, "scheduleExponential");
}
/// Returns `lr * (startFactor + (endFactor - startFactor) * min(step / totalIters, 1))`, PyTorch's LinearLR.
inline double scheduleLinear(int64_t step, double lr, double startFactor, double endFactor = 1,
    int64_t totalIters = 5) {
    THClearLastError();
    const double r = THSchedule_linear(step, lr, startFactor, endFactor, totalIters);
    return detail::known(r, r != r, "scheduleLinear");
}
/// Returns `lr * (1 - min(step / totalIters, 1))^power`, PyTorch's PolynomialLR.
inline double schedulePolynomial(int64_t step, double lr, int64_t totalIters = 5, double power = 1) {
    THClearLastError();
    const double r = THSchedule_polynomial(step, lr, totalIters, power);
    return detail::known(r, r != r, "schedulePolynomial");
}
/// Returns `etaMin + (lr - etaMin) * (1 + cos(pi * step / tMax)) / 2`, PyTorch's CosineAnnealingLR (Loshchilov and
/// Hutter 2016, arxiv.org/abs/1608.03983).
inline double scheduleCosine(int64_t step, double lr, int64_t tMax, double etaMin = 0) {
    THClearLastError();
    const double r = THSchedule_cosine(step, lr, tMax, etaMin);
    return detail::known(r, r != r, "scheduleCosine");
}
/// `THSchedule_cosine` that begins again after `t0` steps, then after `t0 * tMult` steps, and so on: PyTorch's
/// CosineAnnealingWarmRestarts.
inline double scheduleCosineRestarts(int64_t step, double lr, int64_t t0, int64_t tMult = 1, double etaMin = 0) {
    THClearLastError();
    const double r = THSchedule_cosineRestarts(step, lr, t0, tMult, etaMin);
    return detail::known(r, r != r, "scheduleCosineRestarts");
}
/// The one-cycle policy (Smith and Topin 2017, arxiv.org/abs/1708.07120), PyTorch's OneCycleLR: half a period of the
/// cosine from `maxLr / divFactor` to `maxLr` in the first `pctStart * totalSteps` steps, then another one to
/// `maxLr / divFactor / finalDivFactor` at step `totalSteps - 1`.
inline double scheduleOneCycle(int64_t step, double maxLr, int64_t totalSteps, double pctStart = 0.3,
    double divFactor = 25, double finalDivFactor = 10000) {
    THClearLastError();
    const double r = THSchedule_oneCycle(step, maxLr, totalSteps, pctStart, divFactor, finalDivFactor);
    return detail::known(r, r != r, "scheduleOneCycle");
}
/// Returns the learning rate after the vector `metrics`, one number for each epoch: PyTorch's ReduceLROnPlateau.
inline double schedulePlateau(const Tensor &metrics, double lr, double factor = 0.1, int64_t patience = 10,
    double minChange = 0.0001, bool absolute = false, bool maximize = false, int64_t cooldown = 0, double minLr = 0,
    double eps = 1e-8) {
    THClearLastError();
    const double r = THSchedule_plateau(metrics.get(), lr, factor, patience, minChange, absolute, maximize, cooldown,
        minLr, eps);
    return detail::known(r, r != r, "schedulePlateau");
}

// ------------------------------------------------------------------------------------------------------------ Devices

/// Sets the device on which this thread makes tensors when neither an argument nor an operand determines one.
inline void setDefaultDevice(DeviceType deviceType, int deviceIndex = 0) {
    detail::check(THSetDefaultDevice(static_cast<THDeviceType>(deviceType), deviceIndex), "setDefaultDevice");
}
/// Returns the kind of the thread's default device.
inline DeviceType getDefaultDeviceType() {
    THClearLastError();
    const THDeviceType r = THGetDefaultDeviceType();
    return detail::known(static_cast<DeviceType>(r), !r, "getDefaultDeviceType");
}
/// Returns the number of the thread's default device among the devices of its kind.
inline int getDefaultDeviceIndex() {
    THClearLastError();
    const int r = THGetDefaultDeviceIndex();
    return detail::known(r, !r, "getDefaultDeviceIndex");
}
/// Returns the number of GPUs.
inline int cudaDeviceCount() {
    THClearLastError();
    const int r = THCuda_deviceCount();
    return detail::known(r, !r, "cudaDeviceCount");
}
/// Returns the name of a GPU, as given by its driver.
inline String cudaDeviceName(int deviceIndex = 0) {
    return detail::text(THCuda_newDeviceName(deviceIndex), "cudaDeviceName");
}
/// Stores the properties of a GPU in `properties`.
inline THCudaProperties cudaProperties(int deviceIndex = 0) {
    THCudaProperties r{};
    detail::check(THCuda_properties(deviceIndex, &r), "cudaProperties");
    return r;
}
/// Allows, or with 0 forbids, that GPUs round the factors of float32 matrix products to TF32.
inline void cudaSetAllowTF32(bool allow) { detail::check(THCuda_setAllowTF32(allow), "cudaSetAllowTF32"); }
/// Returns True if GPUs may round the factors of float32 matrix products to TF32.
inline bool cudaGetAllowTF32() {
    THClearLastError();
    const int r = THCuda_getAllowTF32();
    return detail::known(r != 0, !r, "cudaGetAllowTF32");
}
/// Waits until a GPU has completed all work of this process.
inline void cudaSynchronize(int deviceIndex = 0) { detail::check(THCuda_synchronize(deviceIndex), "cudaSynchronize"); }
/// Stores the memory usage of a GPU in `memory`.
inline THCudaMemory cudaMemory(int deviceIndex = 0) {
    THCudaMemory r{};
    detail::check(THCuda_memory(deviceIndex, &r), "cudaMemory");
    return r;
}
/// Stores the usage of pinned host memory in `memory`.
inline THCudaMemory cudaPinnedMemory() {
    THCudaMemory r{};
    detail::check(THCuda_pinnedMemory(&r), "cudaPinnedMemory");
    return r;
}
/// Returns cached memory of a GPU, and cached pinned memory of the host, to the driver.
inline void cudaEmptyCache(int deviceIndex = 0) { detail::check(THCuda_emptyCache(deviceIndex), "cudaEmptyCache"); }
/// Returns True if a GPU can access the memory of GPU `peer`.
inline bool cudaCanAccessPeer(int deviceIndex, int peer) {
    THClearLastError();
    const int r = THCuda_canAccessPeer(deviceIndex, peer);
    return detail::known(r != 0, !r, "cudaCanAccessPeer");
}
/// Enables access of a GPU to the memory of GPU `peer` if `on` is 1, and disables it if `on` is 0.
inline void cudaSetPeerAccess(int deviceIndex, int peer, bool on) {
    detail::check(THCuda_setPeerAccess(deviceIndex, peer, on), "cudaSetPeerAccess");
}

// ------------------------------------------------------------------------------------------------------ Element types

/// Returns the dtype of floats where no argument gives a dtype: float32 initially.
inline Dtype getDefaultDtype() {
    THClearLastError();
    const THDtype r = THGetDefaultDtype();
    return detail::known(static_cast<Dtype>(r), !r, "getDefaultDtype");
}
/// Sets the default dtype, which must be a float, for the whole process.
inline void setDefaultDtype(Dtype dtype) {
    detail::check(THSetDefaultDtype(static_cast<THDtype>(dtype)), "setDefaultDtype");
}
/// Returns the size of an element in bytes.
inline size_t dtypeSize(Dtype dtype) {
    THClearLastError();
    const size_t r = THDtype_size(static_cast<THDtype>(dtype));
    return detail::known(r, !r, "dtypeSize");
}
/// Returns PyTorch's name of a dtype, such as `"float32"`.
inline const char *dtypeName(Dtype dtype) {
    THClearLastError();
    const auto r = THDtype_name(static_cast<THDtype>(dtype));
    return detail::known(r, !r, "dtypeName");
}
/// Returns the dtype with this name: a name from `THDtype_name`, or `"float"`, `"double"`, `"half"`, `"long"`, `"int"`,
/// `"short"`, `"char"`, `"byte"`.
inline Dtype dtypeFromName(Text name) {
    THClearLastError();
    const THDtype r = THDtype_fromName(name.c_str());
    return detail::known(static_cast<Dtype>(r), !r, "dtypeFromName");
}
/// Returns True if the elements are floats.
inline bool dtypeIsFloat(Dtype dtype) {
    THClearLastError();
    const int r = THDtype_isFloat(static_cast<THDtype>(dtype));
    return detail::known(r != 0, !r, "dtypeIsFloat");
}
/// Returns True if the elements are integers.
inline bool dtypeIsIntegral(Dtype dtype) {
    THClearLastError();
    const int r = THDtype_isIntegral(static_cast<THDtype>(dtype));
    return detail::known(r != 0, !r, "dtypeIsIntegral");
}
/// Returns True if elements can be negative, which holds for all dtypes except uint8 and Bool.
inline bool dtypeIsSigned(Dtype dtype) {
    THClearLastError();
    const int r = THDtype_isSigned(static_cast<THDtype>(dtype));
    return detail::known(r != 0, !r, "dtypeIsSigned");
}
/// Returns the dtype in which operands of these two dtypes are computed.
inline Dtype dtypePromote(Dtype a, Dtype b) {
    THClearLastError();
    const THDtype r = THDtype_promote(static_cast<THDtype>(a), static_cast<THDtype>(b));
    return detail::known(static_cast<Dtype>(r), !r, "dtypePromote");
}
/// Returns True if a result of dtype `from` may be stored in a tensor of dtype `to`.
inline bool dtypeCanCast(Dtype from, Dtype to) {
    THClearLastError();
    const int r = THDtype_canCast(static_cast<THDtype>(from), static_cast<THDtype>(to));
    return detail::known(r != 0, !r, "dtypeCanCast");
}

// ----------------------------------------------------------------------------------------------------------- Printing

/// Stores the library's initial defaults in `options`.
inline THPrintOptions printOptionsInit() {
    THPrintOptions r{};
    detail::check(THPrintOptions_init(&r), "printOptionsInit");
    return r;
}
/// Sets the process-wide defaults, which functions use if their `options` are NULL.
inline void setPrintOptions(const THPrintOptions *options = nullptr) {
    detail::check(THSetPrintOptions(options), "setPrintOptions");
}
/// Stores the process-wide defaults in `options`.
inline THPrintOptions getPrintOptions() {
    THPrintOptions r{};
    detail::check(THGetPrintOptions(&r), "getPrintOptions");
    return r;
}

// ------------------------------------------------------------------------------------------------------------- Memory

/// Returns all memory that the caching allocator keeps for reuse to the system, and discards the cached plans of
/// Fourier transforms.
inline void allocatorEmptyCache() { detail::check(THAllocator_emptyCache(), "allocatorEmptyCache"); }
/// Stores the counters of the caching allocator in `stats`.
inline THMemoryStats memoryStats() { THMemoryStats r{}; detail::check(THMemory_stats(&r), "memoryStats"); return r; }
/// Bytes in use by storages and handles, including foreign and mapped memory.
inline int64_t memoryLiveBytes() {
    THClearLastError();
    const int64_t r = THMemory_liveBytes();
    return detail::known(r, r == -1, "memoryLiveBytes");
}
/// Calls `hook(context, live bytes)` on the allocating thread when the live bytes first exceed `bytes`, after each
/// further increase by a tenth, and once before an allocation fails.
inline void memorySetSoftLimit(int64_t bytes, THMemoryHook hook = nullptr, void *context = nullptr) {
    detail::check(THMemory_setSoftLimit(bytes, hook, context), "memorySetSoftLimit");
}
/// True if the soft limit has called for a collection since the last call of this function or of
/// `THMemory_setSoftLimit`, else 0.
inline bool memoryPressure() {
    THClearLastError();
    const int r = THMemory_pressure();
    return detail::known(r != 0, !r, "memoryPressure");
}

// ------------------------------------------------------------------------------------------------------------- Errors

/// Returns the name of a status in this header, such as `"TH_ERR_SHAPE"`.
inline const char *statusName(Status status) {
    THClearLastError();
    const auto r = THStatus_name(static_cast<THStatus>(status));
    return detail::known(r, !r, "statusName");
}

// ------------------------------------------------------------------------------------------------------------ Threads

/// Returns the number of threads that an operation may use, including the calling thread.
inline int getNumThreads() {
    THClearLastError();
    const int r = THGetNumThreads();
    return detail::known(r, !r, "getNumThreads");
}
/// Sets the number of threads that an operation may use, at least 1, for the whole process.
inline void setNumThreads(int num_threads) { detail::check(THSetNumThreads(num_threads), "setNumThreads"); }
/// Returns the number of cores on which this process may run.
inline int getNumCores() {
    THClearLastError();
    const int r = THGetNumCores();
    return detail::known(r, !r, "getNumCores");
}

// ------------------------------------------------------------------------------------------------ BLAS of the machine

/// Lets a BLAS library of the machine compute products of float32 and float64 (gemm, gemv), for the whole process:
/// `THSetBlas("libopenblas.so.0")`.
inline void setBlas(const char *path = nullptr) { detail::check(THSetBlas(path), "setBlas"); }
/// Returns the path that `THSetBlas` loaded for the library in use; NULL if thorn's own routines are in use.
inline const char *getBlas() { THClearLastError(); const auto r = THGetBlas(); return detail::known(r, !r, "getBlas"); }

// ----------------------------------------------------------------------------------------------------------- Versions

/// Returns the declarations of this library as plain C that needs no preprocessor: `ffi.cdef(ffi.string(lib.THCdef()))`
/// in LuaJIT; Python's cffi reads them, too.
inline const char *cdef() { THClearLastError(); const auto r = THCdef(); return detail::known(r, !r, "cdef"); }
/// Returns the part of `THCdef` that declares the functions of the chapter with this title, such as
/// `"Matrix products"`, or, for `""`, all types and constants.
inline String cdefChapter(Text title) { return detail::text(THCdefChapter(title.c_str()), "cdefChapter"); }
/// Returns the version of the library in use, such as `"0.2.0"`.
inline const char *version() { THClearLastError(); const auto r = THVersion(); return detail::known(r, !r, "version"); }
/// Returns `TH_ABI_VERSION` of the library in use.
inline int abiVersion() { THClearLastError(); const int r = THAbiVersion(); return detail::known(r, !r, "abiVersion"); }
/// Returns the vector instruction set that kernels use on this machine: `"baseline"`, `"avx2"` or `"avx512"`.
inline const char *simdLevel() {
    THClearLastError();
    const auto r = THSimdLevel();
    return detail::known(r, !r, "simdLevel");
}

#ifdef TH_NO_EXCEPTIONS
} // namespace without_exceptions
#endif
} // namespace th

#if defined TH_FORMAT && defined __cpp_lib_format
#include <format>

/// Formats a tensor as `toString()` has it, with the width and the fill of a text. Exists from C++20 on if TH_FORMAT is
/// defined before this header is included, since <format> takes as long to compile as all else here.
template <> struct std::formatter<th::Tensor> : std::formatter<std::string_view> {
    template <class Context> auto format(const th::Tensor &t, Context &context) const {
        return std::formatter<std::string_view>::format(t.toString().c_str(), context);
    }
};
#endif

#endif /* THORN_HPP */
