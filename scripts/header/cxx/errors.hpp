
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
