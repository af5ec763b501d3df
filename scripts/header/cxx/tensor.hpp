
// ==================================================================================================================
//     Tensors
// ==================================================================================================================

class Tensor;
class SparseTensor;
class Index;
template <class T> class Elements;
class RowIterator;

@results declared

/// A tensor in a list in braces, whose references are not counted; `{}` stands for none.
class Operand {
  public:
    constexpr Operand() noexcept = default;
    Operand(const Tensor &t) noexcept;

  private:
    THTensor *handle_ = nullptr;
};

/// A view of a list of tensors, for the length of a call. Some functions take undefined ones among them.
class TensorList {
  public:
    constexpr TensorList() noexcept = default;
    TensorList(const Tensor *data, int count) noexcept : data_(data), count_(count) {}
    TensorList(std::initializer_list<Operand> list) noexcept : count_(static_cast<int>(list.size())) {
        if (count_) data_ = list.begin();
    }
    /// A container with tensors side by side: a std::vector or a std::array.
    template <class List, class = std::enable_if_t<
                              std::is_convertible_v<decltype(std::declval<const List &>().data()), const Tensor *>>>
    TensorList(const List &list) noexcept : data_(list.data()), count_(static_cast<int>(list.size())) {}

    /// The handles side by side, as C takes them: an Operand or a Tensor is a handle and nothing else.
    THTensor *const *data() const noexcept { return static_cast<THTensor *const *>(data_); }
    int count() const noexcept { return count_; }

  private:
    const void *data_ = nullptr;
    int count_ = 0;
};

/// A result that is left out by `none`.
class Out {
  public:
    Out(Tensor &t) noexcept : t_(&t) {}
    Out(None) noexcept {}
    Tensor *get() const noexcept { return t_; }

  private:
    Tensor *t_ = nullptr;
};

namespace detail {

/// Marks the constructor of a fresh tensor, which takes dtype and shape from what is written to it.
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
    /// Adds a reference to a handle that stays its owner's.
    static Tensor share(THTensor *handle) noexcept {
        THTensor_retain(handle);
        return Tensor(handle);
    }

    /// Refers to another tensor from now on.
    Tensor &operator=(const Tensor &) & noexcept = default;
    Tensor &operator=(Tensor &&) & noexcept = default;
    /// Writes to the elements of a view that has no name: `t(0, th::all) = src`, broadcast.
    Tensor &operator=(const Tensor &src) && { return copy_(src); }
    Tensor &operator=(double value) && { return fill_(value); }

    // ------------------------------------------------------------------------------------------ Shape and elements

    /// The number of dimensions; 0 for scalars and for tensors that have no elements yet.
    int dim() const noexcept { return handle_ ? handle_->nDimension : 0; }
    /// The sizes, as long as the shape stays.
    IntList sizes() const noexcept { return handle_ ? IntList(handle_->size, handle_->nDimension) : IntList(); }
    /// The distances of neighbours in elements, as long as the shape stays.
    IntList strides() const noexcept { return handle_ ? IntList(handle_->stride, handle_->nDimension) : IntList(); }
    /// The element type; Dtype::Undefined before the first write.
    Dtype dtype() const noexcept { return handle_ ? static_cast<Dtype>(handle_->dtype) : Dtype::Undefined; }
    /// The storage that this is a view of.
    Storage storage() const { return Storage::share(detail::known(THTensor_storage(get()), !defined(), "storage")); }
    /// The address of the first element, of whatever type.
    void *data() const { return detail::known(THTensor_data(get()), !defined(), "data"); }

    /// The address of the first element, for a tensor on the host whose dtype is that of T; others stand at
    /// `strides()`.
    template <class T> T *data() const;
    /// All elements of a contiguous tensor on the host in row-major order, for `for` and for what takes pointers:
    /// `for (float &x : t.elements<float>())`. `contiguous()` makes one of any tensor.
    template <class T> Elements<T> elements() const;
#ifdef __cpp_lib_span
    /// The same as a std::span. Exists from C++20 on.
    template <class T> std::span<T> span() const;
#endif
#ifdef __cpp_lib_mdspan
    /// The elements of a tensor with N dimensions on the host, of any strides: `t.mdspan<float, 2>()[i, j]`. Exists
    /// from C++23 on.
    template <class T, std::size_t N> std::mdspan<T, std::dextents<int64_t, N>, std::layout_stride> mdspan() const;
#endif
    /// The element at as many indices as there are dimensions, to read and to write: `t.at<float>(1, 2) = 3`. The
    /// dtype must be that of T, and each index within its dimension; negative ones count from the end.
    template <class T, class... I> T &at(I... index) const;
    /// The only element of a tensor of any shape: exact for integers, and true or false for bool.
    template <class T> T item() const;
    /// The slices along the first dimension: `for (th::Tensor row : t)`. The tensor must stay meanwhile.
    RowIterator begin() const;
    RowIterator end() const;

    // -------------------------------------------------------------------------------------------- Views by indices

    /// The view at `index` of the first dimension, which disappears.
    Tensor operator[](int64_t index) const { return select(0, index); }
    /// The view at these indices of the first dimensions: `t[{i, j}]`.
    Tensor operator[](IntList index) const;
    /// The elements where `mask` is true, a copy with one dimension; or, by a tensor of integers, the slices that it
    /// names. A copy cannot be assigned to: `t.maskedFill_(mask, 0)` and `t.indexPut_({index}, src)` write to `t`.
    template <class T, class = std::enable_if_t<std::is_same_v<T, Tensor>>>
    const Tensor operator[](const T &mask) const {
        return index(TensorList(&mask, 1));
    }
    /// The view by an index for each of the first dimensions: a number, `slice(start, end, step)`, `all`, `newaxis` for
    /// a new dimension of size 1, `ellipsis` for all dimensions that are not named: `t(0, th::slice(1, 3),
    /// th::newaxis)`.
    template <class... I> Tensor operator()(I... index) const;

    // ------------------------------------------------------------------------------------- Functions of the caller

    /// `t = f(t)`, element after element in row-major order on the calling thread: `t.apply_([](double x) { return x *
    /// x; })`. An exception of `f` ends the call and comes out of it; the elements before stay changed.
    template <class F> Tensor &apply_(F &&f);
    /// `t = f(t, src)`; `src` broadcasts to the shape of `t`.
    template <class F> Tensor &map_(const Tensor &src, F &&f);
    /// `t = f(t, a, b)`; `a` and `b` broadcast to the shape of `t`.
    template <class F> Tensor &map2_(const Tensor &a, const Tensor &b, F &&f);

    // --------------------------------------------------------------------------------------------------- Gradients

    /// The gradient, which backward has added to; undefined where there is none yet.
    Tensor grad() const;
    /// Has `f(gradient)` called whenever backward has computed the gradient of this tensor. A Tensor that `f` returns
    /// takes its place; an undefined one leaves it, and so does an `f` that returns nothing. An exception of `f` ends
    /// backward and comes out of it. Returns the number for removeHook. The tensor keeps `f`, which is not to keep the
    /// tensor.
    template <class F> int64_t addHook(F f) const;
    /// Removes the hook with this number.
    void removeHook(int64_t id) const { detail::check(THTensor_removeHook(get(), id), "removeHook"); }

    // ---------------------------------------------------------------------------------------------- Sparse tensors

    /// The entries that are not 0, with positions in the first `sparseDim` dimensions; by default in all.
    SparseTensor toSparse(int sparseDim = -1) const;
    /// The elements at the positions of `mask`, whose values do not matter.
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

/// The handle of a result, which is made if there is none.
inline THTensor *result(Tensor &r) {
    if (!r.defined()) r = Tensor(Fresh());
    return r.get();
}

/// The handle of a result, or NULL if it is left out.
inline THTensor *result(Out r) { return r.get() ? result(*r.get()) : nullptr; }

/// The result into which a call has written.
inline Tensor &into(Tensor &r, THStatus status, const char *name) {
    check(status, name);
    return r;
}

/// Without exceptions, the result of a call that failed becomes undefined.
inline void check(THStatus status, const char *name, Tensor &r) {
    if (status == TH_OK) return;
    fail(name);
    r = Tensor();
}

/// The same for several results.
template <class... R> inline void check_all(THStatus status, const char *name, R &...r) {
    if (status == TH_OK) return;
    fail(name);
    ((r = R()), ...);
}

/// A tensor that a function made.
inline Tensor made(THTensor *handle, const char *name) {
    return Tensor::take(must(handle, static_cast<THTensor *>(nullptr), name));
}

/// Fresh tensors for as many results.
inline std::vector<Tensor> fresh(int count) {
    std::vector<Tensor> list;
    list.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; i++) list.emplace_back(Fresh());
    return list;
}

/// The tensors of a function that says how many there are, and then makes them.
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
