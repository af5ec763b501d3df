
// ==================================================================================================================
//     Views by indices
// ==================================================================================================================

/// The index along one dimension, or a value that replaces it: see `Tensor::operator()`.
class Index {
  public:
    enum class Kind { At, Slice, New, Rest };
    constexpr Index(int64_t at) noexcept : kind(Kind::At), start(at) {}
    constexpr Index(Kind of, int64_t first, int64_t bound, int64_t distance) noexcept
        : kind(of), start(first), end(bound), step(distance) {}
    Kind kind;
    int64_t start, end = 0, step = 1;
};

/// A bound of a slice, which may be `none`.
class Bound {
  public:
    constexpr Bound(int64_t index) noexcept : given(true), at(index) {}
    constexpr Bound(None) noexcept : given(false), at(0) {}
    bool given;
    int64_t at;
};

/// The entries `start`, `start + step`, ... before `end`; bounds clamp as in Python, and negative ones count from the
/// end.
constexpr Index slice(Bound start, Bound end = none, int64_t step = 1) noexcept {
    return Index(Index::Kind::Slice, start.given ? start.at : 0, end.given ? end.at : INT64_MAX, step);
}

/// All entries of a dimension as an index. As a function, THTensor_all and THTensor_allDims.
class All {
  public:
    constexpr operator Index() const noexcept { return Index(Index::Kind::Slice, 0, INT64_MAX, 1); }
    Tensor operator()(const Tensor &t, int dimension = everyDim, bool keepdim = false) const {
        return t.all(dimension, keepdim);
    }
    Tensor operator()(const Tensor &t, IntList dims, bool keepdim = false) const { return t.all(dims, keepdim); }
};

/// See All.
inline constexpr All all{};
/// A new dimension of size 1.
inline constexpr Index newaxis{Index::Kind::New, 0, 0, 1};
/// All dimensions without another index.
inline constexpr Index ellipsis{Index::Kind::Rest, 0, 0, 1};

namespace detail {

/// Fails for more indices than dimensions.
inline bool enough(const char *name, const Tensor &t, int count) {
    if (count <= t.dim()) return true;
    fail(Error(Status::ErrArgument,
               {name, ": ", Digits(count), " indices for a tensor with ", Digits(t.dim()), " dimensions"}));
    return false;
}

/// The view of `t` by a list of indices.
inline Tensor view(const Tensor &t, std::initializer_list<Index> list) {
    int named = 0;
    for (const Index &index : list) named += index.kind == Index::Kind::At || index.kind == Index::Kind::Slice;
    if (t.defined() && !enough("operator()", t, named)) return Tensor();
    Tensor r = t.withTensor();
    int dimension = 0;
    for (const Index &index : list) {
        THTensor *view = r.get();
        THStatus status = TH_OK;
        switch (index.kind) {
        case Index::Kind::At:
            status = THTensor_select(view, view, dimension, index.start);
            break;
        case Index::Kind::Slice:
            status = THTensor_slice(view, view, dimension++, index.start, index.end, index.step);
            break;
        case Index::Kind::New:
            status = THTensor_unsqueeze1d(view, view, dimension++);
            break;
        case Index::Kind::Rest:
            dimension += t.dim() > named ? t.dim() - named : 0;
            break;
        }
        check(status, "operator()", r);
    }
    return r;
}

} // namespace detail

inline Tensor Tensor::operator[](IntList index) const {
    if (defined() && !detail::enough("operator[]", *this, index.count())) return Tensor();
    Tensor r = withTensor();
    for (int64_t at : index) detail::check(THTensor_select(r.get(), r.get(), 0, at), "operator[]", r);
    return r;
}

template <class... I> inline Tensor Tensor::operator()(I... index) const {
    return detail::view(*this, {Index(index)...});
}

/// An iterator over the slices along the first dimension.
class RowIterator {
  public:
    RowIterator(const Tensor &t, int64_t at) noexcept : t_(&t), at_(at) {}
    Tensor operator*() const { return t_->select(0, at_); }
    RowIterator &operator++() noexcept {
        ++at_;
        return *this;
    }
    bool operator!=(const RowIterator &other) const noexcept { return at_ != other.at_; }

  private:
    const Tensor *t_;
    int64_t at_;
};

inline RowIterator Tensor::begin() const { return RowIterator(*this, 0); }
inline RowIterator Tensor::end() const { return RowIterator(*this, dim() ? sizes()[0] : 0); }
