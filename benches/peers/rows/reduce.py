"""Sums and the like, scans, softmax, order statistics and histograms."""

from operands import BYTES, FALSE, NEAR_ONE, NEXT_TO_ONE, POSITIVE, THOUSAND, TRUE, UNIT

from .row import CUBE, CUBE_DIMS, MATRIX, MATRIX_DIMS, along, over


def reductions():
    sum_ = "THTensor_sum(r, a, DIM, 0)", "torch.sum(a, DIM, out=r)", "np.sum(a, axis=DIM, out=r)"
    mean = "THTensor_mean(r, a, DIM, 0)", "torch.mean(a, DIM, out=r)", "np.mean(a, axis=DIM, out=r)"
    amax = "THTensor_max(r, NULL, a, DIM, 0)", "torch.amax(a, DIM, out=r)", "np.max(a, axis=DIM, out=r)"
    amin = "THTensor_min(r, NULL, a, DIM, 0)", "torch.amin(a, DIM, out=r)", "np.min(a, axis=DIM, out=r)"
    max_ = "THTensor_max(r, i, a, DIM, 0)", "torch.max(a, DIM, out=(r, i))"
    argmax = "THTensor_argmax(r, a, DIM, 0)", "torch.argmax(a, DIM, out=r)", "np.argmax(a, axis=DIM, out=r)"
    var = "THTensor_var(r, a, DIM, 0, 0)", "torch.var(a, DIM, correction=1, out=r)", "np.var(a, axis=DIM, ddof=1, out=r)"
    std = "THTensor_std(r, a, DIM, 0, 0)", "torch.std(a, DIM, correction=1, out=r)", "np.std(a, axis=DIM, ddof=1, out=r)"
    norm = "THTensor_norm(r, a, 2, DIM, 0)", "torch.linalg.vector_norm(a, 2, DIM, out=r)"
    norm_numpy = "np.linalg.norm(a.ravel() if DIM is None else a, axis=DIM)"
    prod_ = "THTensor_prod(r, a, DIM, 0)", "torch.prod(a, DIM, out=r)", "np.prod(a, axis=DIM, out=r)"
    near_one = {"a": NEAR_ONE, "tolerance": 1e-3}
    all_ = "THTensor_all(r, a, DIM, 0)", "torch.all(a, DIM, out=r)", "np.all(a, axis=DIM, out=r)"
    any_ = "THTensor_any(r, a, DIM, 0)", "torch.any(a, DIM, out=r)", "np.any(a, axis=DIM, out=r)"
    whole, both, every = MATRIX_DIMS[:1], MATRIX_DIMS[1:], MATRIX_DIMS + CUBE_DIMS
    return [
        *along("sum", "f32", every, *sum_, a=UNIT, tolerance=1e-4),
        *along("sum", "f64 i64", MATRIX_DIMS, *sum_, a=BYTES),
        *along("sum", "u8 bool", whole, *sum_[:2], "np.sum(a, axis=DIM, dtype=np.int64, out=r)"),
        *along("sum", "f16 bf16", whole, *sum_, a=UNIT.shaped(MATRIX), tolerance=2e-2),
        *along("mean", "f32", every, *mean, a=UNIT, tolerance=1e-4),
        *along("nansum", "f32", MATRIX_DIMS, "THTensor_nansum(r, a, DIM, 0)", "torch.nansum(a, DIM, out=r)", "np.nansum(a, axis=DIM, out=r)", a=UNIT, tolerance=1e-4),
        *along("amax", "f32", every, *amax),
        *along("amax", "f64 i64", whole, *amax),
        *along("amin", "f32", whole, *amin),
        *along("max and index", "f32", both + CUBE_DIMS, *max_),
        *along("argmax", "f32", every, *argmax),
        *along("var", "f32", every, *var, tolerance=1e-4),
        *along("var", "f64", MATRIX_DIMS, *var),
        *along("std", "f32", MATRIX_DIMS, *std, tolerance=1e-4),
        *along("norm", "f32", every, *norm, norm_numpy, tolerance=1e-4),
        *over("prod all", "f32", MATRIX, prod_[0].replace("DIM", "TH_ALL_DIMS"), "torch.prod(a)", "np.prod(a, out=r)", a=NEXT_TO_ONE, tolerance=1e-3),
        *along("prod", "f32", both, *prod_, **near_one),
        *along("all", "bool", MATRIX_DIMS, *all_, a=TRUE),
        *along("any", "bool", MATRIX_DIMS, *any_, a=FALSE),
        *over("sum all", "f32", "1e3", "THTensor_sum(r, a, TH_ALL_DIMS, 0)", "torch.sum(a, 0, out=r)", "np.sum(a, out=r)", a=UNIT),
    ]


def scans():
    dims = MATRIX_DIMS[1:]
    cumsum = "THTensor_cumsum(r, a, DIM)", "torch.cumsum(a, DIM, out=r)", "np.cumsum(a, axis=DIM, out=r)"
    cumprod = "THTensor_cumprod(r, a, DIM)", "torch.cumprod(a, DIM, out=r)", "np.cumprod(a, axis=DIM, out=r)"
    log_softmax = "THTensor_logSoftmax(r, a, DIM)", "torch.log_softmax(a, DIM, out=r)"
    logsumexp = "THTensor_logsumexp(r, a, DIM, 0)", "torch.logsumexp(a, DIM, out=r)"
    return [
        *along("cumsum", "f32", dims + CUBE_DIMS, *cumsum, a=UNIT, tolerance=1e-4),
        *along("cumsum", "f64 i64", dims, *cumsum, a=BYTES),
        *along("cumprod", "f32", dims, *cumprod, a=NEAR_ONE, tolerance=1e-3),
        *along("cummax", "f32", dims, "THTensor_cummax(r, i, a, DIM)", "torch.cummax(a, DIM, out=(r, i))", checked=("r",)),
        *along("softmax", "f32", dims + CUBE_DIMS, "THTensor_softmax(r, a, DIM)", "torch.softmax(a, DIM, out=r)"),
        *along("log softmax", "f32", dims, *log_softmax),
        *along("logsumexp", "f32", dims, *logsumexp),
    ]


def orders():
    kth = "THTensor_kthvalue(r, i, a, n / 2, 0, 0)", "torch.kthvalue(a, n // 2, out=(r, i))", "np.partition(a, n // 2 - 1)"
    median = "THTensor_median(r, NULL, a, TH_ALL_DIMS, 0)", "torch.median(a)", "np.median(a)"
    medians = "THTensor_median(r, i, a, DIM, 0)", "torch.median(a, DIM, out=(r, i))", "np.median(a, axis=DIM)"
    mode = "THTensor_mode(r, i, a, DIM, 0)", "torch.mode(a, DIM, out=(r, i))"
    histogram = "THTensor_histc(r, a, 100, -4, 4)", "torch.histc(a, 100, -4, 4, out=r)", "np.histogram(a, 100, (-4, 4))"
    quantile = "THTensor_quantile(r, a, 0.3, TH_ALL_DIMS, 0, 0)", "torch.quantile(a, 0.3)", "np.quantile(a, 0.3)"
    return [
        *over("median all", "f32 f64 i64", "1e6", *median),
        *along("median", "f32", MATRIX_DIMS[1:], *medians, checked=("r",)),
        *over("kthvalue", "f32 i64", "1e6", *kth, checked=("r",)),
        *along("mode", "i64", MATRIX_DIMS[2:], *mode, a=BYTES, checked=("r",)),
        *over("histc", "f32", "1e6", *histogram),
        *over("bincount", "i64", "1e6", "THTensor_bincount(r, a, NULL, 0)", "torch.bincount(a)", "np.bincount(a)", a=THOUSAND),
        *over("quantile", "f32", "1e6", *quantile),
    ]


def more_reductions():
    """Sums and the like over lists of dimensions, as numbers, and without NaN; scans and order statistics."""
    dims = "2, (int64_t[]){0, 2}, 0"
    both = MATRIX_DIMS[1:]

    def listed(op, thorn, torch, numpy, **given):
        """Over the first and the last dimension of a cube."""
        return over(f"{op} dims 0, 2", "f32", CUBE, f"THTensor_{thorn}", torch, numpy, **{"a": UNIT, "tolerance": 1e-3, **given})

    def number(op, thorn, torch, numpy=None, **given):
        return over(f"{op}, number", "f32", "1e6", f"NUMBER(THTensor_{thorn})", f"{torch}.item()", numpy, **{"a": UNIT, "tolerance": 1e-3, **given})

    return [
        *listed("sum", f"sumDims(r, a, {dims}, TH_UNDEFINED)", "torch.sum(a, (0, 2), out=r)", "np.sum(a, (0, 2), out=r)"),
        *listed("prod", f"prodDims(r, a, {dims}, TH_UNDEFINED)", "torch.prod(torch.prod(a, 2), 0, out=r)", "np.prod(a, (0, 2), out=r)", a=NEAR_ONE),
        *listed("mean", f"meanDims(r, a, {dims}, TH_UNDEFINED)", "torch.mean(a, (0, 2), out=r)", "np.mean(a, (0, 2), out=r)"),
        *listed("nansum", f"nansumDims(r, a, {dims}, TH_UNDEFINED)", "torch.nansum(a, (0, 2), out=r)", "np.nansum(a, (0, 2), out=r)"),
        *listed("nanmean", f"nanmeanDims(r, a, {dims})", "torch.nanmean(a, (0, 2), out=r)", "np.nanmean(a, (0, 2), out=r)"),
        *listed("amax", f"amaxDims(r, a, {dims})", "torch.amax(a, (0, 2), out=r)", "np.max(a, (0, 2), out=r)"),
        *listed("amin", f"aminDims(r, a, {dims})", "torch.amin(a, (0, 2), out=r)", "np.min(a, (0, 2), out=r)"),
        *listed("var", "varDims(r, a, 2, (int64_t[]){0, 2}, 0, 0)", "torch.var(a, (0, 2), correction=1, out=r)", "np.var(a, (0, 2), ddof=1, out=r)"),
        *listed("var corrected", "varDimsCorrection(r, a, 2, (int64_t[]){0, 2}, 2, 0)", "torch.var(a, (0, 2), correction=2, out=r)", "np.var(a, (0, 2), ddof=2, out=r)"),
        *listed("std", "stdDims(r, a, 2, (int64_t[]){0, 2}, 0, 0)", "torch.std(a, (0, 2), correction=1, out=r)", "np.std(a, (0, 2), ddof=1, out=r)"),
        *listed("std corrected", "stdDimsCorrection(r, a, 2, (int64_t[]){0, 2}, 2, 0)", "torch.std(a, (0, 2), correction=2, out=r)", "np.std(a, (0, 2), ddof=2, out=r)"),
        *listed("norm", "normDims(r, a, 2, 2, (int64_t[]){0, 2}, 0, TH_UNDEFINED)", "torch.linalg.vector_norm(a, 2, (0, 2), out=r)", "np.sqrt(np.sum(a * a, (0, 2)))"),
        *listed("logsumexp", f"logsumexpDims(r, a, {dims})", "torch.logsumexp(a, (0, 2), out=r)", None),
        *over("all dims 0, 2", "bool", CUBE, f"THTensor_allDims(r, a, {dims})", "torch.all(a, (0, 2))", "np.all(a, (0, 2), out=r)", a=TRUE),
        *over("any dims 0, 2", "bool", CUBE, f"THTensor_anyDims(r, a, {dims})", "torch.any(a, (0, 2))", "np.any(a, (0, 2), out=r)", a=FALSE),
        *listed("nanmax", f"nanmaxDims(r, a, {dims})", "torch.amax(a, (0, 2), out=r)", "np.nanmax(a, (0, 2), out=r)"),
        *listed("nanmin", f"nanminDims(r, a, {dims})", "torch.amin(a, (0, 2), out=r)", "np.nanmin(a, (0, 2), out=r)"),
        *listed("nanprod", f"nanprodDims(r, a, {dims}, TH_UNDEFINED)", "torch.prod(torch.prod(a, 2), 0, out=r)", "np.nanprod(a, (0, 2), out=r)", a=NEAR_ONE),
        *listed("nanvar", "nanvarDims(r, a, 2, (int64_t[]){0, 2}, 0, 0)", "torch.var(a, (0, 2), correction=0, out=r)", "np.nanvar(a, (0, 2), out=r)"),
        *listed("nanstd", "nanstdDims(r, a, 2, (int64_t[]){0, 2}, 0, 0)", "torch.std(a, (0, 2), correction=0, out=r)", "np.nanstd(a, (0, 2), out=r)"),
        *number("sum", "sumall(a)", "torch.sum(a)", "np.sum(a)"),
        *number("prod", "prodall(a)", "torch.prod(a)", "np.prod(a)", a=NEXT_TO_ONE),
        *number("mean", "meanall(a)", "torch.mean(a)", "np.mean(a)"),
        *number("max", "maxall(a)", "torch.max(a)", "np.max(a)"),
        *number("min", "minall(a)", "torch.min(a)", "np.min(a)"),
        *number("var", "varall(a, 0)", "torch.var(a)", "np.var(a, ddof=1)"),
        *number("var corrected", "varallCorrection(a, 2)", "torch.var(a, correction=2)", "np.var(a, ddof=2)"),
        *number("std", "stdall(a, 0)", "torch.std(a)", "np.std(a, ddof=1)"),
        *number("std corrected", "stdallCorrection(a, 2)", "torch.std(a, correction=2)", "np.std(a, ddof=2)"),
        *number("norm 1", "normall(a, 1)", "torch.linalg.vector_norm(a, 1)", "np.linalg.norm(a, 1)"),
        *number("norm 2", "normall(a, 2)", "torch.linalg.vector_norm(a)", "np.linalg.norm(a)"),
        *number("norm 3", "normall(a, 3)", "torch.linalg.vector_norm(a, 3)", "np.linalg.norm(a, 3)"),
        *number("dist", "dist(a, b, 2)", "torch.dist(a, b)", "np.linalg.norm(a - b)", b=POSITIVE),
        *number("median", "medianall(a)", "torch.median(a)", "np.median(a)"),
        *over("trace, number", "f32", MATRIX, "NUMBER(THTensor_trace(a))", "torch.trace(a).item()", "np.trace(a)", tolerance=1e-3),
        *over("all, number", "bool", "1e6", "NUMBER(THTensor_logicalall(a))", "torch.all(a).item()", "np.all(a)", a=TRUE),
        *over("any, number", "bool", "1e6", "NUMBER(THTensor_logicalany(a))", "torch.any(a).item()", "np.any(a)", a=FALSE),
        *along("argmin", "f32", MATRIX_DIMS, "THTensor_argmin(r, a, DIM, 0)", "torch.argmin(a, DIM, out=r)", "np.argmin(a, axis=DIM, out=r)"),
        *along("aminmax", "f32", both, "THTensor_aminmax(r, i, a, DIM, 0)", "torch.aminmax(a, dim=DIM, out=(r, i))"),
        *along("amin", "f32", both, "THTensor_amin(r, a, DIM, 0)", "torch.amin(a, DIM, out=r)", "np.min(a, axis=DIM, out=r)"),
        *along("var corrected", "f32", both, "THTensor_varCorrection(r, a, DIM, 2, 0)", "torch.var(a, DIM, correction=2, out=r)", "np.var(a, axis=DIM, ddof=2, out=r)", tolerance=1e-3),
        *along("std corrected", "f32", both, "THTensor_stdCorrection(r, a, DIM, 2, 0)", "torch.std(a, DIM, correction=2, out=r)", "np.std(a, axis=DIM, ddof=2, out=r)", tolerance=1e-3),
        *along("norm 1", "f32", both, "THTensor_norm(r, a, 1, DIM, 0)", "torch.linalg.vector_norm(a, 1, DIM, out=r)", "np.linalg.norm(a, 1, DIM)", tolerance=1e-3),
        *along("nanmean", "f32", both, "THTensor_nanmean(r, a, DIM, 0)", "torch.nanmean(a, DIM, out=r)", "np.nanmean(a, axis=DIM, out=r)", a=UNIT, tolerance=1e-3),
        *along("nanmin", "f32", both, "THTensor_nanmin(r, a, DIM, 0)", "torch.amin(a, DIM, out=r)", "np.nanmin(a, axis=DIM, out=r)"),
        *along("nanstd", "f32", both, "THTensor_nanstd(r, a, DIM, 0, 0)", "torch.std(a, DIM, correction=0, out=r)", "np.nanstd(a, axis=DIM, out=r)", tolerance=1e-3),
        *along("nanargmin", "f32", both, "THTensor_nanargmin(r, a, DIM, 0)", "torch.argmin(a, DIM, out=r)", "np.nanargmin(a, axis=DIM, out=r)"),
        *along("cummin", "f32", both, "THTensor_cummin(r, i, a, DIM)", "torch.cummin(a, DIM, out=(r, i))", "np.minimum.accumulate(a, DIM)", checked=("r",)),
        *along("logcumsumexp", "f32", both, "THTensor_logcumsumexp(r, a, DIM)", "torch.logcumsumexp(a, DIM, out=r)", a=UNIT, tolerance=1e-3),
        *along("cumsum to f64", "f32", both, "THTensor_cumsumDtype(r, a, DIM, TH_FLOAT64)", "torch.cumsum(a, DIM, dtype=torch.float64, out=r)", "np.cumsum(a, DIM, np.float64, out=r)"),
        *along("cumprod to f64", "f32", both, "THTensor_cumprodDtype(r, a, DIM, TH_FLOAT64)", "torch.cumprod(a, DIM, dtype=torch.float64, out=r)", "np.cumprod(a, DIM, np.float64, out=r)", a=NEAR_ONE),
        *along("softmax to f32", "bf16", both, "FRESH(THTensor_softmaxDtype(r, a, DIM, TH_FLOAT32))", "torch.softmax(a, DIM, dtype=torch.float32)"),
        *along("log softmax to f32", "bf16", both, "FRESH(THTensor_logSoftmaxDtype(r, a, DIM, TH_FLOAT32))", "torch.log_softmax(a, DIM, dtype=torch.float32)"),
        *over("renorm", "f32", MATRIX, "THTensor_renorm(r, a, 2, 0, 1)", "torch.renorm(a, 2, 0, 1, out=r)", tolerance=1e-3),
        *along("nanmedian", "f32", both, "THTensor_nanmedian(r, i, a, DIM, 0)", "torch.nanmedian(a, DIM, out=(r, i))", "np.nanmedian(a, axis=DIM)", checked=("r",)),
        *over("nanquantile", "f32", "1e6", "THTensor_nanquantile(r, a, 0.3, TH_ALL_DIMS, 0, 0)", "torch.nanquantile(a, 0.3)", "np.nanquantile(a, 0.3)"),
        *over("5 quantiles", "f32", "1e6", "THTensor_quantileTensor(r, a, b, TH_ALL_DIMS, 0, 0)", "torch.quantile(a, b)", "np.quantile(a, b)", b=UNIT.shaped("5")),
        *over("5 nanquantiles", "f32", "1e6", "THTensor_nanquantileTensor(r, a, b, TH_ALL_DIMS, 0, 0)", "torch.nanquantile(a, b)", "np.nanquantile(a, b)", b=UNIT.shaped("5")),
        *over("histc of rows", "f32", MATRIX, "FRESH(THTensor_bhistc(r, a, 100, -4, 4))", "torch.stack([torch.histc(row, 100, -4, 4) for row in a])"),
    ]
