
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
