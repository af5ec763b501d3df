
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
