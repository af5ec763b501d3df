"""Sorting and searching, results made of numbers, and elements by index."""

from operands import ANY, ASCENDING, BELOW_100, BYTES, MASK, MILLION, PERMUTED, THOUSAND, UNIT, Operand, between

from .row import MATRIX, MATRIX_DIMS, along, over


def sorting():
    sort = "THTensor_sort(r, i, a, DIM, 0, 1)", "torch.sort(a, dim=DIM, stable=True, out=(r, i))", "np.argsort(a, axis=DIM, kind='stable')"
    values = "THTensor_msort(r, a)", "torch.msort(a)", "np.sort(a)"
    top = "THTensor_topk(r, i, a, 100, 0, 1, 1)", "torch.topk(a, 100, out=(r, i))", "np.partition(a, n - 100)"
    tops = "THTensor_topk(r, i, a, 10, 1, 1, 1)", "torch.topk(a, 10, 1, out=(r, i))"
    unique = "FRESH(THTensor_unique(r, NULL, NULL, a, TH_ALL_DIMS))", "torch.unique(a)", "np.unique(a)"
    search = "THTensor_searchsorted(r, b, a, 0, NULL)", "torch.searchsorted(b, a, out=r)", "np.searchsorted(b, a)"
    isin = "THTensor_isin(r, a, b, 0, 0)", "torch.isin(a, b)", "np.isin(a, b)"
    line = tuple(part.replace("DIM", "0") for part in sort)
    return [
        *over("sort", "f32 f64 i64 bf16", "1e6", *line),
        *over("sort below 1e6", "i64", "1e6", *line, a=MILLION),
        *over("sort", "f32", "1e3 1e5", *line),
        *along("sort", "f32", MATRIX_DIMS[1:], *sort),
        *over("msort", "f32", "1e6", *values),
        *over("topk 100", "f32 i64", "1e6", *top, checked=("r",)),
        *over("topk 10 rows", "f32", MATRIX, *tops, checked=("r",)),
        *over("unique", "i64", "1e6", *unique, a=MILLION),
        *over("unique 1000", "i64", "1e6", *unique, a=THOUSAND),
        *over("searchsorted", "f32", "1e6", *search, b=ASCENDING.shaped("1e4"), a=UNIT),
        *over("isin", "i64", "1e6", *isin, a=MILLION, b=MILLION.shaped("1e3")),
    ]


def creation():
    return [
        *over("arange", "f32 i64", "1e6", "THTensor_arange(r, 0, n, 1)", "torch.arange(0, n, 1, out=r)", "np.arange(n, dtype=r.dtype)", result=ANY),
        *over("linspace", "f32", "1e6", "THTensor_linspace(r, 0, 1, n)", "torch.linspace(0, 1, n, out=r)", "np.linspace(0, 1, n)"),
        *over("eye", "f32", MATRIX, "THTensor_eye(r, 1000, 1000)", "torch.eye(1000, 1000, out=r)", "np.eye(1000, dtype=np.float32)"),
        *over("tril", "f32", MATRIX, "THTensor_tril(r, a, 0)", "torch.tril(a, 0, out=r)", "np.tril(a)"),
        *over("triu", "f32", MATRIX, "THTensor_triu(r, a, 0)", "torch.triu(a, 0, out=r)", "np.triu(a)"),
        *over("zeros", "f32", "1e6", "THTensor_zeros(r, ndim, shape)", "torch.zeros(shape, out=r)", "r.fill(0)"),
        *over("ones", "f32", "1e6", "THTensor_ones(r, ndim, shape)", "torch.ones(shape, out=r)", "r.fill(1)"),
        *over("full", "f32", "1e6", "THTensor_full(r, ndim, shape, 3)", "torch.full(shape, 3.0, out=r)", "r.fill(3)"),
        *over("add, fresh", "f32", "1e5 1e6 1e7", "FRESH(THTensor_cadd(r, a, 1, b))", "torch.add(a, b)", "np.add(a, b)"),
        *over("clone, fresh", "f32", "1e5 1e6 1e7", "MADE(THTensor_newClone(a))", "a.clone()", "a.copy()"),
        # np.zeros leaves the work to the first access of each page.
        *over("zeros, fresh", "f32", "1e5 1e6 1e7", "MADE(THTensor_newZeros(TH_FLOAT32, ndim, shape))", "torch.zeros(shape)"),
        *over(
            "ones, fresh", "f32", "1e5 1e6 1e7", "MADE(THTensor_newOnes(TH_FLOAT32, ndim, shape))", "torch.ones(shape)", "np.ones(shape, np.float32)"
        ),
    ]


def moving():
    """Elements by index, joined and rearranged. In some rows `b` is an index tensor."""
    rows = THOUSAND.of("i64").shaped("1000")
    each = THOUSAND.of("i64")
    select = "THTensor_indexSelect(r, a, {0}, b)", "torch.index_select(a, {0}, b, out=r)", "np.take(a, b, {0}, out=r)"
    gather = "THTensor_gather(r, a, {0}, b)", "torch.gather(a, {0}, b, out=r)"
    return [
        *over("masked select", "f32 f64 u8", "1e6", "FRESH(THTensor_maskedSelect(r, a, m))", "torch.masked_select(a, m)", "a[m]", m=MASK),
        *over("nonzero", "bool f32", "1e6", "FRESH(THTensor_nonzero(r, a))", "torch.nonzero(a)", None, a=MASK),
        *over("take", "f32 f64", "1e6", "THTensor_take(r, a, b)", "torch.take(a, b, out=r)", "np.take(a, b, out=r)", b=MILLION.of("i64")),
        *over("select rows", "f32 f64", "1000x1000", *(code.format(0) for code in select), b=rows),
        *over("select columns", "f32 f64", "1000x1000", *(code.format(1) for code in select), b=rows),
        *over("gather dim 0", "f32", "1000x1000", *(code.format(0) for code in gather), b=each),
        *over("gather dim 1", "f32", "1000x1000", *(code.format(1) for code in gather), b=each),
        *over("cat dim 0", "f32", "1000x1000", "FRESH(THTensor_cat(r, a, b, 0))", "torch.cat([a, b], 0)", "np.concatenate([a, b], 0)"),
        *over("cat dim 1", "f32", "1000x1000", "FRESH(THTensor_cat(r, a, b, 1))", "torch.cat([a, b], 1)", "np.concatenate([a, b], 1)"),
        *over(
            "stack last dim", "f32", "1000x1000",
            "FRESH(THTensor_stack(r, (THTensor *const[]){a, b}, 2, -1))", "torch.stack([a, b], -1)", "np.stack([a, b], -1)",
        ),
        *over("scatter add", "f32", "1000x1000", "THTensor_scatterAdd(r, 1, b, a)", "r.scatter_add_(1, b, a)", r=ANY, b=each, checked=("nothing",)),
        *over("index add", "f32", "1000x1000", "THTensor_indexAdd(r, 0, b, a)", "r.index_add_(0, b, a)", r=ANY, b=rows, checked=("nothing",)),
        *over("flip dim 1", "f32", "1000x1000", "FRESH(THTensor_flip(r, a, 1, (int64_t[]){1}))", "torch.flip(a, [1])", "np.flip(a, 1).copy()"),
        *over("repeat", "f32", "1000x1000", "FRESH(THTensor_repeat(r, a, 2, (int64_t[]){2, 2}))", "a.repeat(2, 2)", "np.tile(a, (2, 2))"),
        *over("diff", "f32", "1000x1000", "FRESH(THTensor_diff(r, a, 1, 1))", "torch.diff(a, 1, 1)", "np.diff(a, 1, 1)"),
    ]


def more_sorting():
    rows = "THTensor_argsort(r, a, DIM, 0, 1)", "torch.argsort(a, dim=DIM, stable=True)", "np.argsort(a, axis=DIM, kind='stable')"
    return [
        *along("argsort", "f32", [("1e6", "", "0", "0"), *MATRIX_DIMS[1:]], *rows),
        *over("lexsort", "i64", "1e6", "THTensor_lexsort(r, (THTensor *const[]){a, b}, 2, 0)", "torch.argsort(b * 1000 + a, stable=True)", "np.lexsort((a, b))", a=THOUSAND, b=THOUSAND),
        *over("unique consecutive", "i64", "1e6", "FRESH(THTensor_uniqueConsecutive(r, NULL, NULL, a, TH_ALL_DIMS))", "torch.unique_consecutive(a)", "a[np.flatnonzero(np.diff(a, prepend=-1))]", a=BYTES),
        *over("bucketize", "f32", "1e6", "THTensor_bucketize(r, a, b, 0)", "torch.bucketize(a, b, out=r)", "np.digitize(a, b, True)", b=ASCENDING.shaped("100"), a=UNIT),
    ]


def more_creation():
    new = "MADE(THTensor_new{})"
    square = "1000, 1000"
    matrices = "(THTensor *const[]){a, b}"
    return [
        *over("range", "f32", "1e6", "THTensor_range(r, 0, n - 1, 1)", "torch.arange(0, n, 1, out=r)", "np.arange(n, dtype=r.dtype)", result=ANY),
        *over("logspace", "f32", "1e6", "THTensor_logspace(r, -2, 2, n)", "torch.logspace(-2, 2, n, out=r)", "np.logspace(-2, 2, n, dtype=np.float32)", tolerance=1e-4),
        *over("logspace base 2", "f32", "1e6", "THTensor_logspaceBase(r, -2, 2, 2, n)", "torch.logspace(-2, 2, n, 2, out=r)", "np.logspace(-2, 2, n, base=2, dtype=np.float32)", tolerance=1e-4),
        *over("zeros like", "f32", "1e6", "FRESH(THTensor_zerosLike(r, a))", "torch.zeros_like(a)"),
        *over("ones like", "f32", "1e6", "FRESH(THTensor_onesLike(r, a))", "torch.ones_like(a)", "np.ones_like(a)"),
        *over("full like", "f32", "1e6", "FRESH(THTensor_fullLike(r, a, 3))", "torch.full_like(a, 3)", "np.full_like(a, 3)"),
        *over("full, fresh", "f32", "1e6", new.format("Full(TH_FLOAT32, ndim, shape, 3)"), "torch.full(shape, 3.0)", "np.full(shape, np.float32(3))"),
        *over("arange, fresh", "f32", "1e6", new.format("Arange(TH_FLOAT32, 0, n, 1)"), "torch.arange(0, n, 1, dtype=torch.float32)", "np.arange(n, dtype=np.float32)"),
        *over("linspace, fresh", "f32", "1e6", new.format("Linspace(TH_FLOAT32, 0, 1, n)"), "torch.linspace(0, 1, n)", "np.linspace(0, 1, n, dtype=np.float32)"),
        *over("eye, fresh", "f32", MATRIX, new.format(f"Eye(TH_FLOAT32, {square})"), f"torch.eye({square})", "np.eye(1000, dtype=np.float32)"),
        *over("zeros like, new", "f32", "1e6", new.format("ZerosLike(a)"), "torch.zeros_like(a)"),
        *over("ones like, new", "f32", "1e6", new.format("OnesLike(a)"), "torch.ones_like(a)", "np.ones_like(a)"),
        *over("full like, new", "f32", "1e6", new.format("FullLike(a, 3)"), "torch.full_like(a, 3)", "np.full_like(a, 3)"),
        *over("copy of memory", "f32", "1e6", new.format("FromData(TH_FLOAT32, ndim, shape, THTensor_data(a))"), "torch.tensor(a.numpy())", "np.array(a)"),
        *over("clone channels last", "f32", "8x64x56x56", new.format("CloneFormat(a, TH_CHANNELS_LAST)"), "a.clone(memory_format=torch.channels_last)"),
        *over("contiguous", "f32", MATRIX, new.format("Contiguous(a)"), "a.contiguous()", "np.ascontiguousarray(a)", a=ANY.transposed()),
        *over("to channels last", "f32", "8x64x56x56", new.format("ContiguousFormat(a, TH_CHANNELS_LAST)"), "a.contiguous(memory_format=torch.channels_last)"),
        *over("to f64, fresh", "f32", "1e6", new.format("To(a, TH_FLOAT64)"), "a.to(torch.float64)", "a.astype(np.float64)"),
        *over("reshape transposed", "f32", MATRIX, new.format("Reshape(a, 1, (int64_t[]){n})"), "a.reshape(n)", "a.reshape(n)", a=ANY.transposed()),
        *over("flatten transposed", "f32", MATRIX, new.format("Flatten(a, 0, -1)"), "a.flatten()", "a.flatten()", a=ANY.transposed()),
        *over("diag of vector", "f32", "1000", "FRESH(THTensor_diag(r, a, 0))", "torch.diag(a)", "np.diag(a)"),
        *over("diag embed", "f32", "100x100", "FRESH(THTensor_diagEmbed(r, a, 0, -2, -1))", "torch.diag_embed(a)"),
        *over("triu indices", "i64", "1000", "FRESH(THTensor_triuIndices(r, 1000, 1000, 0))", "torch.triu_indices(1000, 1000)", "np.array(np.triu_indices(1000))"),
        *over("meshgrid", "f32", "1000", f'(THTensor_free(r), r = THTensor_new(), THTensor_meshgrid((THTensor *[]){{r, m}}, {matrices}, 2, "ij"))', "torch.meshgrid(a, b, indexing='ij')[0].contiguous()", "np.meshgrid(a, b, indexing='ij')[0]", m=ANY),
        *over("cartesian product", "f32", "1000", f"FRESH(THTensor_cartesianProd(r, {matrices}, 2))", "torch.cartesian_prod(a, b)"),
        *over("one hot", "i64", "1e4", "FRESH(THTensor_oneHot(r, a, 100))", "torch.nn.functional.one_hot(a, 100)", "np.eye(100, dtype=np.int64)[a]", a=BELOW_100),
        *over("vander", "f64", "1000", "FRESH(THTensor_vander(r, a, 100, 1))", "torch.linalg.vander(a, N=100)", "np.vander(a, 100, True)", a=UNIT),
    ]


def more_moving():
    """Tensors joined, repeated and padded, and elements written by index."""
    list_, matrix = "(THTensor *const[]){{{}}}", "1000x1000"
    two, three = list_.format("a, b"), list_.format("a, b, a")
    each, rows = THOUSAND.of("i64"), PERMUTED.of("i64").shaped("1000")
    unique = {"r": ANY, "b": rows}
    nowhere = {"r": ANY, "b": each, "checked": ("nothing",)}

    def fresh(op, thorn, torch, numpy=None, shape=matrix, **given):
        return over(op, "f32", shape, f"FRESH(THTensor_{thorn})", torch, numpy, **given)

    return [
        *fresh("cat of three", f"catArray(r, {three}, 3, 1)", "torch.cat([a, b, a], 1)", "np.concatenate([a, b, a], 1)"),
        *fresh("hstack", f"hstack(r, {two}, 2)", "torch.hstack([a, b])", "np.hstack([a, b])"),
        *fresh("vstack", f"vstack(r, {two}, 2)", "torch.vstack([a, b])", "np.vstack([a, b])"),
        *fresh("dstack", f"dstack(r, {two}, 2)", "torch.dstack([a, b])", "np.dstack([a, b])"),
        *fresh("roll", "roll(r, a, 1, (int64_t[]){3}, (int64_t[]){1})", "torch.roll(a, 3, 1)", "np.roll(a, 3, 1)"),
        *fresh("rot90", "rot90(r, a, 1, 0, 1)", "torch.rot90(a)", "np.rot90(a).copy()"),
        *fresh("tile", "tile(r, a, 2, (int64_t[]){2, 2})", "torch.tile(a, (2, 2))", "np.tile(a, (2, 2))"),
        *fresh("repeat values", "repeatInterleaveValue(r, a, 3, 1)", "torch.repeat_interleave(a, 3, 1)", "np.repeat(a, 3, 1)"),
        *fresh("repeat rows", "repeatInterleave(r, a, b, 0)", "torch.repeat_interleave(a, b, 0)", "np.repeat(a, b, 0)", b=Operand(between, (0, 5), "i64", "1000")),
        *fresh("pad zeros", "pad(r, a, 4, (int64_t[]){1, 1, 1, 1}, TH_PAD_CONSTANT, 0)", "torch.nn.functional.pad(a, (1, 1, 1, 1))", "np.pad(a, 1)", "8x64x56x56"),
        *fresh("pad reflected", "pad(r, a, 4, (int64_t[]){1, 1, 1, 1}, TH_PAD_REFLECT, 0)", "torch.nn.functional.pad(a, (1, 1, 1, 1), 'reflect')", None, "8x64x56x56"),
        *fresh("take along dim", "takeAlongDim(r, a, b, 1)", "torch.take_along_dim(a, b, 1)", "np.take_along_axis(a, b, 1)", b=each),
        *fresh("index rows", f"index(r, a, {list_.format('b')}, 1)", "a[b]", "a[b]", b=rows),
        *fresh("index pairs", f"index(r, a, {list_.format('b, c')}, 2)", "a[b, c]", "a[b, c]", b=THOUSAND.of("i64").shaped("1e5"), c=THOUSAND.of("i64").shaped("1e5")),
        *over("index rows, new", "f32", matrix, f"MADE(THTensor_newIndex(a, {list_.format('b')}, 1))", "a[b]", "a[b]", b=rows),
        *over("index put rows", "f32", matrix, f"THTensor_indexPut(r, {list_.format('b')}, 1, a, 0)", "r.index_put_((b,), a)", "r.__setitem__(b, a)", **unique),
        *over("index put pairs", "f32", matrix, f"THTensor_indexPut(r, {list_.format('b, c')}, 2, m, 1)", "r.index_put_((b, c), m, True)", "np.add.at(r, (b, c), m)", r=ANY, b=THOUSAND.of("i64").shaped("1e5"), c=THOUSAND.of("i64").shaped("1e5"), m=ANY.shaped("1e5"), checked=("nothing",)),
        *over("index copy", "f32", matrix, "THTensor_indexCopy(r, 0, b, a)", "r.index_copy_(0, b, a)", "r.__setitem__(b, a)", **unique),
        *over("index add scaled", "f32", matrix, "THTensor_indexAddScale(r, 0, b, 2, a)", "r.index_add_(0, b, a, alpha=2)", **{**unique, "checked": ("nothing",)}),
        *over("index fill", "f32", matrix, "THTensor_indexFill(r, 0, b, 3)", "r.index_fill_(0, b, 3)", **unique),
        *over("scatter", "f32", matrix, "THTensor_scatter(r, 1, b, a)", "r.scatter_(1, b, a)", "np.put_along_axis(r, b, a, 1)", **nowhere),
        *over("scatter value", "f32", matrix, "THTensor_scatterFill(r, 1, b, 3)", "r.scatter_(1, b, 3)", "np.put_along_axis(r, b, 3, 1)", r=ANY, b=each),
        *over("scatter max", "f32", matrix, "THTensor_scatterMode(r, 1, b, a, TH_REDUCE_AMAX)", "r.scatter_reduce_(1, b, a, 'amax')", **nowhere),
        *over("scatter add value", "f32", matrix, "THTensor_scatterFillMode(r, 1, b, 3, TH_REDUCE_ADD)", "r.scatter_(1, b, 3, reduce='add')", **nowhere),
        *over("put", "f32", "1e6", "THTensor_put(r, b, a, 0)", "r.put_(b, a)", "np.put(r, b, a)", r=ANY, b=MILLION.of("i64"), checked=("nothing",)),
        *over("masked scatter", "f32", "1e6", "THTensor_maskedScatter(r, m, a)", "r.masked_scatter_(m, a)", "np.place(r, m, a)", r=ANY, m=MASK),
        *over("masked copy", "f32", "1e6", "THTensor_maskedCopy(r, m, a)", "r.masked_scatter_(m, a)", "np.place(r, m, a)", r=ANY, m=MASK),
    ]
