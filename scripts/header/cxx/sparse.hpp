
// ==================================================================================================================
//     Sparse tensors
// ==================================================================================================================

namespace detail {

/// A fresh sparse tensor for the result of a call.
struct NewSparse {
    NewSparse();
    ~NewSparse() {
        if (handle) THSTensor_free(handle);
    }
    NewSparse(const NewSparse &) = delete;
    NewSparse &operator=(const NewSparse &) = delete;
    /// The sparse tensor, unless the call has failed.
    SparseTensor operator()(THStatus status, const char *name);
    THSTensor *handle;
};

} // namespace detail

class SparseList;

namespace detail {

/// The C function that calls a function object with the progress.
template <class F> struct ProgressOf {
    static THStatus run(int64_t iteration, double residual, void *context) noexcept {
        return guarded([&] { (*static_cast<F *>(context))(iteration, residual); });
    }
};

} // namespace detail

/// The positions and values of some entries; all other elements are 0. Copies refer to the same sparse tensor.
///
///     th::SparseTensor s(th::tensor({{0, 1, 1}, {2, 0, 2}}), th::tensor({3., 4., 5.}), {2, 3});
///     th::Tensor y = s.spmm(th::ones({3, 2}));                 // dense
///     std::cout << (s * 2 + s).toDense() << '\n';
///
/// Functions are methods or free functions, as for dense tensors. Operators are elementwise.
class [[nodiscard]] SparseTensor : public detail::Counted<THSTensor, THSTensor_retain, THSTensor_free> {
  public:
    /// Refers to nothing; as a result it becomes a fresh sparse tensor.
    SparseTensor() noexcept = default;
    /// The smallest tensor that holds entries at `indices`, int64 [sparse dimensions x entries], with `values` [entries x ...].
    explicit SparseTensor(const Tensor &indices, const Tensor &values)
        : SparseTensor(withTensor(indices, values)) {}
    /// A tensor of these sizes: first the sparse dimensions, then the dimensions of `values` after its first.
    explicit SparseTensor(const Tensor &indices, const Tensor &values, IntList size)
        : SparseTensor(withTensorAndSize(indices, values, size)) {}
    /** @cond */
    explicit SparseTensor(detail::Fresh)
        : Counted(detail::must(THSTensor_new(), static_cast<THSTensor *>(nullptr), "SparseTensor")) {}
    /** @endcond */
    /// Takes over a reference.
    static SparseTensor take(THSTensor *handle) noexcept { return SparseTensor(handle); }
    /// Adds a reference to a handle, whose owner keeps its own.
    static SparseTensor share(THSTensor *handle) noexcept {
        THSTensor_retain(handle);
        return SparseTensor(handle);
    }

    /// The number of dimensions, sparse and dense; 0 before the first write.
    int dim() const noexcept { return handle_ ? handle_->nDimensionI + handle_->nDimensionV : 0; }
    /// The sizes, sparse dimensions first, valid until the shape changes.
    IntList sizes() const noexcept { return handle_ ? IntList(handle_->size, dim()) : IntList(); }

    /// As cg below, with any function object `progress(iteration, residual)`. An exception of `progress` ends the call
    /// and is rethrown.
    template <class F, class = std::enable_if_t<std::is_invocable_v<F &, int64_t, double>>>
    Tensor cg(const Tensor &b, const Tensor &start, double tol, int64_t maxIter, F &&progress) const {
        using Progress = std::remove_reference_t<F>;
        return cg(b, start, tol, maxIter, detail::ProgressOf<Progress>::run,
                  const_cast<void *>(static_cast<const void *>(&progress)));
    }

    SparseTensor operator-() const { return neg(); }
    SparseTensor &operator+=(const SparseTensor &b) { return add_(b); }
    SparseTensor &operator-=(const SparseTensor &b) { return sub_(b); }
    SparseTensor &operator*=(const SparseTensor &b) { return mul_(b); }
    SparseTensor &operator*=(const Tensor &b) { return mul_(b); }
    SparseTensor &operator*=(double b) { return mul_(b); }
    SparseTensor &operator/=(const Tensor &b) { return div_(b); }
    SparseTensor &operator/=(double b) { return div_(b); }
@methods THSTensor

  private:
    using Counted::Counted;
    SparseTensor &changed(THStatus status, const char *name) {
        detail::check(status, name);
        return *this;
    }
};

static_assert(sizeof(SparseTensor) == sizeof(THSTensor *) && std::is_standard_layout_v<SparseTensor>,
              "a list of sparse tensors is one of handles");

/// A view of a list of sparse tensors, valid during a call.
class SparseList {
  public:
    constexpr SparseList() noexcept = default;
    SparseList(const SparseTensor *data, int count) noexcept : data_(data), count_(count) {}
    SparseList(std::initializer_list<SparseTensor> list) noexcept : count_(static_cast<int>(list.size())) {
        if (count_) data_ = list.begin();
    }
    /// A container with contiguous sparse tensors: a std::vector or a std::array.
    template <class List, class = std::enable_if_t<std::is_convertible_v<
                              decltype(std::declval<const List &>().data()), const SparseTensor *>>>
    SparseList(const List &list) noexcept : data_(list.data()), count_(static_cast<int>(list.size())) {}

    /// The contiguous handles, as C takes them.
    THSTensor *const *data() const noexcept {
        return static_cast<THSTensor *const *>(static_cast<const void *>(data_));
    }
    int count() const noexcept { return count_; }

  private:
    const SparseTensor *data_ = nullptr;
    int count_ = 0;
};
@results sparse

namespace detail {

inline NewSparse::NewSparse() : handle(THSTensor_new()) {
    if (!handle) fail("SparseTensor");
}

inline SparseTensor NewSparse::operator()(THStatus status, const char *name) {
    if (status != TH_OK) return fail(name), SparseTensor();
    SparseTensor r = SparseTensor::take(handle);
    handle = nullptr;
    return r;
}

/// The handle of a result. Makes the sparse tensor if it is undefined.
inline THSTensor *result(SparseTensor &r) {
    if (!r.defined()) r = SparseTensor(Fresh());
    return r.get();
}

/// Returns the result after a call has written it.
inline SparseTensor &into(SparseTensor &r, THStatus status, const char *name) {
    check(status, name);
    return r;
}

} // namespace detail
@functions THSTensor

inline SparseTensor Tensor::toSparse(int sparseDim) const { return SparseTensor::fromDense(*this, sparseDim); }
inline SparseTensor Tensor::sparseMask(const SparseTensor &mask) const { return th::sparseMask(*this, mask); }

inline SparseTensor operator+(const SparseTensor &a, const SparseTensor &b) { return a.add(b); }
inline SparseTensor operator-(const SparseTensor &a, const SparseTensor &b) { return a.sub(b); }
inline SparseTensor operator*(const SparseTensor &a, const SparseTensor &b) { return a.mul(b); }
inline SparseTensor operator*(const SparseTensor &a, const Tensor &b) { return a.mul(b); }
inline SparseTensor operator*(const Tensor &a, const SparseTensor &b) { return b.mul(a); }
inline SparseTensor operator*(const SparseTensor &a, double b) { return a.mul(b); }
inline SparseTensor operator*(double a, const SparseTensor &b) { return b.mul(a); }
inline SparseTensor operator/(const SparseTensor &a, const Tensor &b) { return a.div(b); }
inline SparseTensor operator/(const SparseTensor &a, double b) { return a.div(b); }

// The result is dense if an operand is.

inline Tensor operator+(const Tensor &a, const SparseTensor &b) { return spcadd(a, b); }
inline Tensor operator+(const SparseTensor &a, const Tensor &b) { return spcadd(b, a); }
inline Tensor operator-(const Tensor &a, const SparseTensor &b) { return spcadd(a, -1, b); }
inline Tensor operator-(const SparseTensor &a, const Tensor &b) { return spcadd(b.neg(), a); }

/// Writes the text of `toString()`.
template <class Traits>
inline std::basic_ostream<char, Traits> &operator<<(std::basic_ostream<char, Traits> &out, const SparseTensor &s) {
    return out << s.toString().c_str();
}
