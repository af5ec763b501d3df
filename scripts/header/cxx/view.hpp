
// ==================================================================================================================
//     Views by indices
// ==================================================================================================================

/// The index along one dimension, or a value that replaces it: see `Tensor::operator()`.
class Index {
  public:
    enum class Kind { At, Slice, New, Rest, Chosen };
    constexpr Index(int64_t at) noexcept : kind(Kind::At), start(at) {}
    template <class N, class = std::enable_if_t<detail::is_no_position<N>>> Index(N) = delete;
    /// A mask or a tensor of positions, which must outlive this object.
    Index(const Tensor &t) noexcept : kind(Kind::Chosen), start(0), chosen(&t) {}
    constexpr Index(Kind of, int64_t first, int64_t bound, int64_t distance) noexcept
        : kind(of), start(first), end(bound), step(distance) {}
    Kind kind;
    int64_t start, end = 0, step = 1;
    const Tensor *chosen = nullptr;

    /// True for a mask.
    static bool isMask(const Tensor &t) noexcept { return t.dtype() == Dtype::Bool || t.dtype() == Dtype::Uint8; }
    /// The number of dimensions of the tensor that this is an index of.
    int dim() const noexcept {
        switch (kind) {
        case Kind::Chosen:
            return isMask(*chosen) ? chosen->dim() : 1;
        case Kind::At:
        case Kind::Slice:
            return 1;
        default:
            return 0;
        }
    }
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

/// The view of `t` by a list of indices. A mask or a tensor of positions keeps its dimensions whole.
inline Tensor view(const Tensor &t, std::initializer_list<Index> list) {
    int named = 0;
    for (const Index &index : list) named += index.dim();
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
        case Index::Kind::Chosen:
            dimension += index.dim();
            break;
        }
        check(status, "operator()", r);
    }
    return r;
}

} // namespace detail

/// The elements of a tensor at a mask or at tensors of positions: `t(mask)`. A Selection is a target of assignments,
/// which write to the tensor, and converts to a Tensor with a copy of the elements. Functions such as `th::sort(t(mask))`
/// use the copy, and so do the methods of views, of reductions, and of single elements. A variable that is declared `auto`
/// is a Selection, which reads the elements again whenever it is used: `th::Tensor u = t(mask)` reads them once.
class Selection {
  public:
    Selection(const Tensor &t, std::initializer_list<Index> list);
    Selection(Selection &&) noexcept = default;

    /// A copy of the elements.
    Tensor read() const { return view_.index(indices_); }
    operator Tensor() const { return read(); }

    /// Writes to the elements, with broadcasting: `t(mask) = src`.
    void operator=(const Tensor &src) && { view_.indexPut_(indices_, src); }
    void operator=(const Selection &src) && { std::move(*this) = src.read(); }
    void operator=(double value) &&;
    /// `t(index) += b` reads the elements, adds, and writes the sums. A position that occurs several times is changed once;
    /// `t.indexPut_({index}, b, true)` adds for each occurrence.
    void operator+=(const Tensor &b) && { std::move(*this) = read() += b; }
    void operator+=(double b) && { std::move(*this) = read() += b; }
    void operator-=(const Tensor &b) && { std::move(*this) = read() -= b; }
    void operator-=(double b) && { std::move(*this) = read() -= b; }
    void operator*=(const Tensor &b) && { std::move(*this) = read() *= b; }
    void operator*=(double b) && { std::move(*this) = read() *= b; }
    void operator/=(const Tensor &b) && { std::move(*this) = read() /= b; }
    void operator/=(double b) && { std::move(*this) = read() /= b; }
    void operator%=(const Tensor &b) && { std::move(*this) = read() %= b; }
    void operator%=(double b) && { std::move(*this) = read() %= b; }
    void operator&=(const Tensor &b) && { std::move(*this) = read() &= b; }
    void operator&=(double b) && { std::move(*this) = read() &= b; }
    void operator|=(const Tensor &b) && { std::move(*this) = read() |= b; }
    void operator|=(double b) && { std::move(*this) = read() |= b; }
    void operator^=(const Tensor &b) && { std::move(*this) = read() ^= b; }
    void operator^=(double b) && { std::move(*this) = read() ^= b; }

    Tensor operator-() const { return -read(); }
    Tensor operator~() const { return ~read(); }
    Tensor operator!() const { return !read(); }
    template <class... I> auto operator()(const I &...index) const { return read()(index...); }
    template <class I> auto operator[](const I &index) const { return read()[index]; }
    template <class T> T item() const { return read().item<T>(); }
    int dim() const { return read().dim(); }
    Dtype dtype() const noexcept { return view_.dtype(); }
@readers

  private:
    friend class Operand;
    Tensor view_;
    std::vector<Tensor> indices_;
    /// The copy for a list in braces.
    mutable Tensor entry_;
};

inline Operand::Operand(const Selection &&selection) {
    if (!selection.entry_.defined()) selection.entry_ = selection.read();
    handle_ = selection.entry_.get();
}

inline Selection::Selection(const Tensor &t, std::initializer_list<Index> list) : view_(detail::view(t, list)) {
    int named = 0;
    for (const Index &index : list) named += index.dim();
    for (const Index &index : list) {
        if (index.kind == Index::Kind::Chosen) {
            if (!index.chosen->defined()) {
                view_ = Tensor();
                detail::fail("operator()", Status::ErrArgument, "an index is an undefined th::Tensor");
            }
            indices_.push_back(*index.chosen);
        }
        if (index.kind == Index::Kind::Slice || index.kind == Index::Kind::New) indices_.emplace_back();
        if (index.kind == Index::Kind::Rest)
            indices_.resize(indices_.size() + static_cast<std::size_t>(t.dim() > named ? t.dim() - named : 0));
    }
}

inline void Selection::operator=(double value) && {
    if (indices_.size() == 1 && Index::isMask(indices_[0]) && indices_[0].isSameSizeAs(view_)) {
        view_.maskedFill_(indices_[0], value);
        return;
    }
    Tensor src = full({}, value, view_.dtype());
    std::move(*this) = view_.isCuda() ? src.cuda(static_cast<int>(view_.getDevice())) : src;
}

inline Tensor Tensor::operator[](IntList index) const {
    if (defined() && !detail::enough("operator[]", *this, index.count())) return Tensor();
    Tensor r = withTensor();
    for (int64_t at : index) detail::check(THTensor_select(r.get(), r.get(), 0, at), "operator[]", r);
    return r;
}

template <class... I> inline detail::Viewed<I...> Tensor::operator()(const I &...index) const {
    if constexpr (std::is_same_v<detail::Viewed<I...>, Tensor>)
        return detail::view(*this, {Index(index)...});
    else
        return Selection(*this, {Index(index)...});
}

template <class T, class> inline Selection Tensor::operator[](const T &index) const { return (*this)(index); }

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
