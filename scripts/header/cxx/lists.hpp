
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
