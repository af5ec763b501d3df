
// ==================================================================================================================
//     Elements
// ==================================================================================================================

/// The dtype of elements that are a T. float16 and bfloat16 have no type of C++17: their bits are at `t.data()`.
template <class T> constexpr Dtype dtypeOf() noexcept {
    using U = std::remove_cv_t<T>;
    static_assert(std::is_arithmetic_v<U> && sizeof(U) <= 8, "no dtype has elements of this type");
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

/// Elements side by side in memory, which stay the tensor's.
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

TH_COLD inline void other_dtype(const char *name, Dtype have, Dtype want) {
    const char *has = THDtype_name(static_cast<THDtype>(have)), *wants = THDtype_name(static_cast<THDtype>(want));
    const std::string message =
        std::string("elements are ") + (has ? has : "undefined") + ", not " + (wants ? wants : "undefined");
    fail(name, Status::ErrDtype, message.c_str());
}

/// True if the elements of `t` are of type T and can be reached by the host.
template <class T> inline bool reachable(const Tensor &t, const char *name) {
    if (t.dtype() != dtypeOf<T>()) return other_dtype(name, t.dtype(), dtypeOf<T>()), false;
    if (t.get()->deviceType != TH_CPU)
        return fail(name, Status::ErrDevice, "the tensor is not in the memory of the host"), false;
    return true;
}

/// The address of the first element. A tensor without elements may have no storage.
template <class T> inline T *first(const Tensor &t) noexcept {
    const THTensor *handle = t.get();
    return handle->storage ? static_cast<T *>(handle->storage->data) + handle->storageOffset : nullptr;
}

} // namespace detail

template <class T> inline T *Tensor::data() const {
    return detail::reachable<T>(*this, "data") ? detail::first<T>(*this) : nullptr;
}

template <class T> inline Elements<T> Tensor::elements() const {
    if (!detail::reachable<T>(*this, "elements")) return Elements<T>(nullptr, 0);
    if (!isContiguous()) {
        detail::fail("elements", Status::ErrArgument, "the tensor is not contiguous");
        return Elements<T>(nullptr, 0);
    }
    return Elements<T>(detail::first<T>(*this), static_cast<std::size_t>(numel()));
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
    T *first = nullptr;
    if (dim() != static_cast<int>(N)) {
        detail::fail("mdspan", Status::ErrShape, "the tensor has another number of dimensions");
    } else if (detail::reachable<T>(*this, "mdspan")) {
        for (std::size_t d = 0; d < N; d++) {
            size[d] = sizes()[d];
            stride[d] = strides()[d];
        }
        first = detail::first<T>(*this);
    }
    // A stride of layout_stride is more than 0, also of a dimension that has none to go.
    for (std::size_t d = 0; d < N; d++)
        if (stride[d] == 0 && size[d] <= 1) stride[d] = 1;
    return {first, std::layout_stride::mapping(std::dextents<int64_t, N>(size), stride)};
}
#endif

namespace detail {

/// The place of an element in elements from the first one; -1, and a failure, if there is none.
inline int64_t place(const Tensor &t, std::initializer_list<int64_t> index) {
    const THTensor *handle = t.get();
    if (static_cast<int>(index.size()) != handle->nDimension) {
        fail("at", Status::ErrArgument, "there must be an index for each dimension");
        return -1;
    }
    int64_t place = 0;
    const int64_t *size = handle->size, *stride = handle->stride;
    for (int64_t at : index) {
        if (at < 0) at += *size;
        if (at < 0 || at >= *size) {
            fail("at", Status::ErrArgument, "an index is out of range");
            return -1;
        }
        place += at * *stride;
        ++size, ++stride;
    }
    return place;
}

} // namespace detail

template <class T, class... I> inline T &Tensor::at(I... index) const {
    // Without exceptions, what fails reads and writes here.
    static thread_local std::remove_cv_t<T> nowhere;
    if (!detail::reachable<T>(*this, "at")) return nowhere = T();
    const int64_t place = detail::place(*this, {static_cast<int64_t>(index)...});
    if (place < 0 || !get()->storage) return nowhere = T();
    return detail::first<T>(*this)[place];
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

/// Writes a tensor as `toString()` has it.
template <class Traits>
inline std::basic_ostream<char, Traits> &operator<<(std::basic_ostream<char, Traits> &out, const Tensor &t) {
    return out << t.toString().c_str();
}
/// Writes a storage as `toString()` has it.
template <class Traits>
inline std::basic_ostream<char, Traits> &operator<<(std::basic_ostream<char, Traits> &out, const Storage &s) {
    return out << s.toString().c_str();
}
