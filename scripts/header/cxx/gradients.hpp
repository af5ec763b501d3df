
// ==================================================================================================================
//     Gradients
// ==================================================================================================================

/// Turns recording off on this thread while the object exists: results need no gradient, and leaves may be written.
class NoGrad {
  public:
    NoGrad() noexcept : recording_(THGrad_isEnabled() != 0) {
        if (recording_) static_cast<void>(THGrad_setEnabled(0));
    }
    ~NoGrad() {
        if (recording_) static_cast<void>(THGrad_setEnabled(1));
    }
    NoGrad(const NoGrad &) = delete;
    NoGrad &operator=(const NoGrad &) = delete;

  private:
    bool recording_;
};

namespace detail {
/// The number of Inference objects on this thread.
inline thread_local int inferences = 0;
} // namespace detail

/// As NoGrad, and recording cannot be switched on while the object exists.
class Inference {
  public:
    Inference() noexcept {
        if (detail::inferences++ == 0) static_cast<void>(THGrad_setInference(1));
    }
    ~Inference() {
        if (--detail::inferences == 0) static_cast<void>(THGrad_setInference(0));
    }
    Inference(const Inference &) = delete;
    Inference &operator=(const Inference &) = delete;
};

namespace detail {

/// Calls a callback. It catches all exceptions, because none may pass through the library, and stores them in `thrown`.
template <class F> inline THStatus guarded(F call) noexcept {
#ifdef TH_NO_EXCEPTIONS
    const bool before = failed();
    call();
    return failed() && !before ? TH_ERR_CALLBACK : TH_OK;
#else
    try {
        call();
        return TH_OK;
    } catch (...) {
        thrown = std::current_exception();
        return TH_ERR_CALLBACK;
    }
#endif
}

/// A function object that the library owns.
template <class F> struct Lent {
    F function;
    static void end(void *, void *context) noexcept { delete static_cast<Lent *>(context); }
};

/// Calls `call(lent)`, which lends the object to the library and then returns true.
template <class F, class Call> inline void lend(F function, Call call) {
    Lent<F> *lent = new Lent<F>{std::move(function)};
    if (!call(lent)) delete lent;
}

/// The C function of a hook.
template <class F> struct HookOf {
    static THStatus run(const THTensor *gradient, THTensor **replacement, void *context) noexcept {
        return guarded([&] {
            F &function = static_cast<Lent<F> *>(context)->function;
            const Tensor given = Tensor::share(const_cast<THTensor *>(gradient));
            if constexpr (std::is_void_v<std::invoke_result_t<F &, const Tensor &>>)
                function(given);
            else
                *replacement = Tensor(function(given)).release();
        });
    }
};

/// References to the tensors of a C list. NULL becomes an undefined Tensor.
inline std::vector<Tensor> shared(const THTensor *const *list, int count) {
    std::vector<Tensor> r;
    r.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; i++) r.push_back(Tensor::share(const_cast<THTensor *>(list[i])));
    return r;
}

/// Converts the result of a callback, a Tensor or a std::vector of tensors, to a list.
inline std::vector<Tensor> listed(Tensor t) {
    std::vector<Tensor> r;
    r.push_back(std::move(t));
    return r;
}
inline std::vector<Tensor> listed(std::vector<Tensor> list) { return list; }

/// The type that a callback returns.
template <class F, class... A> using Returned = std::decay_t<std::invoke_result_t<F, A...>>;

/// Converts a list to the type that a callback would return.
template <class R> inline R as(std::vector<Tensor> list) {
    if constexpr (std::is_same_v<R, Tensor>)
        return list.empty() ? Tensor() : std::move(list[0]);
    else
        return list;
}

/// Makes the tensors `to` show the elements of the tensors that a function returned, with their history. Undefined
/// tensors, and tensors without a place in `to`, are skipped.
inline void hand_over(const std::vector<Tensor> &from, THTensor *const *to, int count, const char *name) {
    if (from.size() != static_cast<std::size_t>(count)) {
        fail(name, Status::ErrArgument, "the function returns another number of tensors than there are places");
        return;
    }
    for (std::size_t i = 0; i < from.size(); i++)
        if (to[i] && from[i].defined()) check(THTensor_set(to[i], from[i].get()), name);
}

/// The C function that computes tensors from tensors; `context` points to the function object.
template <class F> struct FunctionOf {
    static THStatus run(const THTensor *const *inputs, int inputCount, THTensor *const *outputs, int outputCount,
                        void *context) noexcept {
        return guarded([&] {
            F &function = *static_cast<F *>(context);
            const std::vector<Tensor> given = shared(inputs, inputCount);
            hand_over(listed(function(given)), outputs, outputCount, "function");
        });
    }
    static THStatus run_lent(const THTensor *const *inputs, int inputCount, THTensor *const *outputs, int outputCount,
                             void *context) noexcept {
        return run(inputs, inputCount, outputs, outputCount, &static_cast<Lent<F> *>(context)->function);
    }
};

/// Returns true if there is a gradient for each of `count` tensors, or if there are no gradients. Fails otherwise.
inline bool fit(TensorList gradients, int count, const char *name) {
    const bool fits = gradients.count() == 0 || gradients.count() == count;
    if (!fits) fail(name, Status::ErrArgument, "there is not one gradient for each tensor");
    return fits;
}

template <class B> struct OwnGradient;

} // namespace detail

inline Tensor Tensor::grad() const {
    THClearLastError();
    THTensor *handle = THTensor_newGrad(get());
    return Tensor::take(detail::known(handle, !handle, "grad"));
}

template <class F> inline int64_t Tensor::addHook(F f) const {
    int64_t id = -1;
    detail::lend(std::move(f), [&](detail::Lent<F> *lent) {
        id = THTensor_addHook(get(), detail::HookOf<F>::run, lent, detail::Lent<F>::end);
        return id != -1;
    });
    return detail::must(id, int64_t{-1}, "addHook");
}

/// Adds to the gradients of all leaves from which the tensors were computed: `th::backward({loss, other})`. An
/// undefined or missing gradient means 1, if the tensor has one element. `retainGraph` keeps the saved tensors, so that
/// backward can run again. `createGraph` records backward itself, so that gradients have gradients.
inline void backward(TensorList tensors, TensorList gradients = {}, bool retainGraph = false,
                     bool createGraph = false) {
    if (!detail::fit(gradients, tensors.count(), "backward")) return;
    detail::check(THGrad_backward(tensors.data(), gradients.data(), tensors.count(), retainGraph, createGraph),
                  "backward");
}

/// The gradients of the outputs with respect to each input. The gradients of leaves are unchanged. An input on which
/// the outputs do not depend is an error or, with `allowUnused`, gives an undefined tensor. The other arguments are as
/// in `th::backward`.
inline std::vector<Tensor> gradients(TensorList outputs, TensorList inputs, TensorList gradients = {},
                                     bool retainGraph = false, bool createGraph = false, bool allowUnused = false) {
    std::vector<Tensor> r(static_cast<std::size_t>(inputs.count()));
    if (!detail::fit(gradients, outputs.count(), "gradients")) return r;
    int count = inputs.count();
    detail::check(THGrad_gradients(reinterpret_cast<THTensor **>(r.data()), &count, outputs.data(), gradients.data(),
                                   outputs.count(), inputs.data(), inputs.count(), retainGraph, createGraph,
                                   allowUnused),
                  "gradients");
    return r;
}

/// `f(inputs)`, for which backward keeps only the inputs: backward calls `f` again, which must compute the same. `f`
/// takes a `const std::vector<Tensor> &` and returns a Tensor, or a std::vector of `results` tensors. This call, or
/// backward, rethrows an exception of `f`.
template <class F>
inline auto checkpoint(F f, TensorList inputs, int results = 1) -> detail::Returned<F &, const std::vector<Tensor> &> {
    std::vector<Tensor> r = detail::fresh(results);
    THStatus status = TH_OK;
    detail::lend(std::move(f), [&](detail::Lent<F> *lent) {
        status = THGrad_checkpoint(reinterpret_cast<THTensor *const *>(r.data()), results, inputs.data(),
                                   inputs.count(), detail::FunctionOf<F>::run_lent, lent, detail::Lent<F>::end);
        return status == TH_OK;
    });
    if (status != TH_OK) r.clear();
    detail::check(status, "checkpoint");
    return detail::as<detail::Returned<F &, const std::vector<Tensor> &>>(std::move(r));
}

/// Compares the gradients of `f`, a function as for `th::checkpoint`, with differences `(f(x + eps) - f(x - eps)) / (2
/// eps)` for each element of the float64 inputs that require a gradient. If they differ by more than `atol + rtol *
/// |difference|`, this fails with Status::ErrNumeric, the position and the values.
template <class F>
inline void gradCheck(F &&f, TensorList inputs, double eps = 1e-6, double atol = 1e-5, double rtol = 1e-3) {
    using Function = std::remove_reference_t<F>;
    std::size_t results = 1;
    if constexpr (!std::is_same_v<detail::Returned<F &, const std::vector<Tensor> &>, Tensor>) {
        const NoGrad off;
        results = f(detail::shared(inputs.data(), inputs.count())).size();
    }
    const THStatus status = THGrad_check(inputs.data(), inputs.count(), static_cast<int64_t>(results),
                                         detail::FunctionOf<Function>::run, &f, eps, atol, rtol);
    detail::check(status, "gradCheck");
}

/// The call of a custom function, which saves the tensors that its gradient needs.
class GradCall {
  public:
    GradCall(const GradCall &) = delete;
    GradCall &operator=(const GradCall &) = delete;

    /// Saves a tensor for the gradient: an input, a result, or an intermediate tensor.
    void save(const Tensor &t) {
        if (call_)
            detail::check(THGrad_save(call_, t.get()), "save");
        else
            saved_.push_back(t);
    }
    /// The saved tensor with number `index`, counted from 0.
    Tensor saved(int64_t index) const {
        if (!call_ && index >= 0 && index < static_cast<int64_t>(saved_.size()))
            return saved_[static_cast<std::size_t>(index)];
        return detail::made(THGrad_newSaved(call_, index), "saved");
    }
    /// True if the gradient of input `index` is needed.
    bool needsGradient(int64_t index) const {
        if (!call_ && index >= 0 && index < inputs_.count())
            return recording_ && THTensor_requiresGrad(inputs_.data()[index]) == 1;
        THClearLastError();
        const int r = THGrad_needsGradient(call_, index);
        return detail::known(r != 0, !r, "needsGradient");
    }

  private:
    template <class B> friend struct detail::OwnGradient;
    explicit GradCall(THGradCall *call) noexcept : call_(call) {}
    explicit GradCall(TensorList inputs) noexcept : inputs_(inputs), recording_(THGrad_isEnabled() != 0) {}

    THGradCall *call_ = nullptr;
    // For a function that the library has not called: its inputs, and the tensors that it has saved.
    TensorList inputs_;
    bool recording_ = false;
    std::vector<Tensor> saved_;
};

namespace detail {

/// A custom function with its gradient. The function is called first, and the library then gets the results.
template <class B> struct OwnGradient {
    B backward;
    /// The results of the function, until the library takes them over.
    const std::vector<Tensor> *computed = nullptr;
    const std::vector<Tensor> *saved = nullptr;

    /// Gives the handles `to` the elements of the results, and saves what the function saved.
    static THStatus take_over(THGradCall *call, const THTensor *const *, int, THTensor *const *to, int toCount,
                              void *context) noexcept {
        const OwnGradient &own = static_cast<Lent<OwnGradient> *>(context)->function;
        for (int i = 0; i < toCount; i++)
            if (const THStatus status = THTensor_set(to[i], (*own.computed)[static_cast<std::size_t>(i)].get())) return status;
        for (const Tensor &t : *own.saved) {
            THTensor *handle = t.get();
            for (int i = 0; i < toCount; i++)
                if ((*own.computed)[static_cast<std::size_t>(i)].get() == t.get()) handle = to[i];
            if (const THStatus status = THGrad_save(call, handle)) return status;
        }
        return TH_OK;
    }

    static THStatus run_backward(THGradCall *call, const THTensor *const *from, int fromCount, THTensor *const *to,
                                 int toCount, void *context) noexcept {
        return guarded([&] {
            GradCall handed(call);
            const std::vector<Tensor> given = shared(from, fromCount);
            B &function = static_cast<Lent<OwnGradient> *>(context)->function.backward;
            hand_over(listed(function(handed, given)), to, toCount, "gradApply");
        });
    }

    template <class F> static std::vector<Tensor> apply(F &forward, B backward, TensorList inputs) {
        GradCall call(inputs);
        std::vector<Tensor> computed, r;
        {
            const NoGrad off;
            computed = listed(forward(call, shared(inputs.data(), inputs.count())));
        }
        // The function may return the program's tensors, whose histories must stay, so each result is a new handle.
        for (std::size_t i = 0; i < computed.size(); i++) r.push_back(made(THTensor_new(), "gradApply"));
        OwnGradient own{std::move(backward)};
        own.computed = &computed;
        own.saved = &call.saved_;
        THStatus status = TH_OK;
        lend(std::move(own), [&](Lent<OwnGradient> *lent) {
            status = THGrad_apply(reinterpret_cast<THTensor *const *>(r.data()), static_cast<int>(r.size()),
                                  inputs.data(), inputs.count(), take_over, run_backward, lent,
                                  Lent<OwnGradient>::end);
            return status == TH_OK;
        });
        if (status != TH_OK) r.clear();
        check(status, "gradApply");
        return r;
    }
};

} // namespace detail

/// A custom function with its gradient. `forward(call, inputs)` computes the results without recording, and saves the
/// tensors that its gradient needs. `backward(call, gradients)` returns the gradients of the inputs from the gradients
/// of the results. An undefined gradient means 0 in both. Each function takes a GradCall & and a `const
/// std::vector<Tensor> &`, and returns a Tensor or a std::vector of tensors:
///
///     th::Tensor y = th::gradApply(
///         {x},
///         [](th::GradCall &call, const std::vector<th::Tensor> &inputs) {
///             th::Tensor r = inputs[0].exp();
///             call.save(r);
///             return r;
///         },
///         [](th::GradCall &call, const std::vector<th::Tensor> &gradients) { return gradients[0] * call.saved(0); });
///
/// The graph owns `backward`. If gradients have gradients, the operations in `backward` are recorded.
template <class Forward, class Backward>
inline auto gradApply(TensorList inputs, Forward &&forward, Backward backward)
    -> detail::Returned<Forward &, GradCall &, const std::vector<Tensor> &> {
    return detail::as<detail::Returned<Forward &, GradCall &, const std::vector<Tensor> &>>(
        detail::OwnGradient<Backward>::apply(forward, std::move(backward), inputs));
}
