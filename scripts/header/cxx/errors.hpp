
// ==================================================================================================================
//     Errors
// ==================================================================================================================

#ifndef TH_NO_EXCEPTIONS

/// A call that failed: the sentence of THGetLastError, and its code.
class Error : public std::exception {
  public:
    Error(Status code, std::string message) : code_(code), message_(std::move(message)) {}
    /// The kind of failure.
    Status code() const noexcept { return code_; }
    /// What is wrong, behind the name of the function: `add: shapes [2] and [3] do not broadcast`.
    const char *what() const noexcept override { return message_.c_str(); }

  private:
    Status code_;
    std::string message_;
};

#else

/// The first call of a thread that failed since clearFailure, or Status::Ok.
class Error {
  public:
    /// The kind of failure; Status::Ok if there was none.
    Status code() const noexcept { return code_; }
    /// What is wrong, behind the name of the function; empty if nothing is.
    const char *what() const noexcept { return message_; }

    /** @cond */
    void keep(Status code, const char *name, const char *message) noexcept {
        if (code_ != Status::Ok) return;
        code_ = code;
        std::size_t at = 0;
        for (const char *text : {name, ": ", message})
            while (*text && at + 1 < sizeof message_) message_[at++] = *text++;
        message_[at] = 0;
    }
    /** @endcond */

  private:
    Status code_ = Status::Ok;
    char message_[1024] = {};
};

namespace detail {
inline thread_local Error first_failure;
} // namespace detail

/// The first failure on this thread since clearFailure. Exists where exceptions are off.
inline const Error &failure() noexcept { return detail::first_failure; }

/// True if a call on this thread has failed since clearFailure. Exists where exceptions are off.
inline bool failed() noexcept { return failure().code() != Status::Ok; }

/// Forgets the failures on this thread. Exists where exceptions are off.
inline void clearFailure() noexcept { detail::first_failure = Error(); }

#endif

namespace detail {

/// Throws, or keeps, a failure that is not the library's.
TH_COLD inline void fail(const char *name, Status code, const char *message) {
#ifdef TH_NO_EXCEPTIONS
    first_failure.keep(code, name, message);
#else
    throw Error(code, std::string(name) + ": " + message);
#endif
}

/// Throws, or keeps, the last failure of the library. Its sentence begins with the name of the C function.
TH_COLD inline void fail(const char *name) {
    const char *message = THGetLastError(), *rest = message;
    while (*rest && *rest != ' ') ++rest;
    fail(name, static_cast<Status>(THGetLastErrorCode()), *rest ? rest + 1 : message);
}

/// Fails unless a call did what it says.
inline void check(THStatus status, const char *name) {
    if (status != TH_OK) fail(name);
}

/// Returns `value`, which may stand for a failure if `suspect`: the last error was cleared before the call.
template <class T> inline T known(T value, bool suspect, const char *name) {
    if (suspect && THGetLastErrorCode() != TH_OK) fail(name);
    return value;
}

/// Returns `value`, which is a failure if it is -1 or NULL.
template <class T> inline T must(T value, T failure, const char *name) {
    if (value == failure) fail(name);
    return value;
}

} // namespace detail
