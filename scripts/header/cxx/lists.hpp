
// ==================================================================================================================
//     Lists, texts, and handles
// ==================================================================================================================

/// Stands for what is left out: an optional output, or a bound of a slice.
struct None {};

/// See None.
inline constexpr None none{};

/// All dimensions, for a parameter `dimension`.
inline constexpr int everyDim = TH_ALL_DIMS;

/// A view of a list of numbers, for the length of a call.
class IntList {
  public:
    constexpr IntList() noexcept = default;
    constexpr IntList(const int64_t *data, int count) noexcept : data_(data), count_(count) {}
    constexpr IntList(std::initializer_list<int64_t> list) noexcept : count_(static_cast<int>(list.size())) {
        if (count_) data_ = list.begin();
    }
    /// A container with int64_t side by side: a std::vector, a std::array, a std::span.
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

  private:
    const int64_t *data_ = nullptr;
    int count_ = 0;
};

/// A C string, or what has one (a std::string), for the length of a call.
class Text {
  public:
    constexpr Text(const char *text) noexcept : text_(text) {}
    template <class S, class = decltype(std::declval<const S &>().c_str())>
    Text(const S &text) noexcept : text_(text.c_str()) {}
    constexpr const char *c_str() const noexcept { return text_; }

  private:
    const char *text_;
};

/// A text that a function has made: a C string with an owner, which becomes a std::string where one is wanted.
class String {
  public:
    /// An empty text.
    constexpr String() noexcept = default;
    /// Takes over a C string that THFree frees.
    static String take(char *heap) noexcept { return String(heap); }
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
    /// A std::string with a copy, or a std::string_view that this must outlive.
    template <class S, class = typename S::traits_type> operator S() const { return S(c_str()); }

    friend bool operator==(const String &a, const char *b) noexcept {
        const char *text = a.c_str();
        for (; *text && *text == *b; ++text) ++b;
        return *text == *b;
    }
    friend bool operator!=(const String &a, const char *b) noexcept { return !(a == b); }

  private:
    explicit constexpr String(char *heap) noexcept : heap_(heap) {}
    char *heap_ = nullptr;
};

namespace detail {

/// The dtype of what is made without one.
inline THDtype dtype(Dtype dtype) {
    return dtype == Dtype::Undefined ? THGetDefaultDtype() : static_cast<THDtype>(dtype);
}

/// The length of lists that have an entry for each of the same dimensions; empty ones are left out.
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

/// A reference to something that counts its references.
template <class T, void (*Retain)(T *), void (*Free)(T *)> class Counted {
  public:
    /// Refers to nothing.
    constexpr Counted() noexcept = default;
    Counted(const Counted &other) noexcept : handle_(other.handle_) { Retain(handle_); }
    Counted(Counted &&other) noexcept : handle_(other.release()) {}
    Counted &operator=(const Counted &other) noexcept {
        // The other one may be reached through this one only.
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
        // A moved-from object, which the compiler often recognises, costs no call.
        if (handle_) Free(handle_);
    }

    /// True if this refers to something.
    bool defined() const noexcept { return handle_ != nullptr; }
    /// The C handle, which stays this object's.
    T *get() const noexcept { return handle_; }
    /// Gives up the C handle, which is the caller's from then on.
    [[nodiscard]] T *release() noexcept {
        T *handle = handle_;
        handle_ = nullptr;
        return handle;
    }

  protected:
    explicit constexpr Counted(T *handle) noexcept : handle_(handle) {}
    T *handle_ = nullptr;
};

/// Owns something that has one owner.
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
    /// The C handle, which stays this object's.
    T *get() const noexcept { return handle_; }
    /// Gives up the C handle, which is the caller's from then on.
    [[nodiscard]] T *release() noexcept {
        T *handle = handle_;
        handle_ = nullptr;
        return handle;
    }

  protected:
    explicit constexpr Owned(T *handle) noexcept : handle_(handle) {}
    T *handle_ = nullptr;
};

/// A text that the caller is to free.
inline String text(char *heap, const char *name) {
    return String::take(must(heap, static_cast<char *>(nullptr), name));
}

} // namespace detail
