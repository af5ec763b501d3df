
// ==================================================================================================================
//     Tensors
// ==================================================================================================================

class Tensor;
class SparseTensor;
class Index;
class Selection;
template <class T> class Elements;
class RowIterator;

@results declared

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
@methods THTensor

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

@results defined

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
@functions THTensor
