
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
@methods THFused

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
@methods THArchive

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
@methods THOptim

  private:
    using Owned::Owned;
};

// ==================================================================================================================
//     The library
// ==================================================================================================================
@functions TH

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
