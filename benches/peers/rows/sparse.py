"""Sparse matrices."""

from operands import (
    ANY, MILLION, POSITIVE, UNIT, Operand, band_columns, band_starts, band_values, between, lower_columns, lower_starts, lower_values, starts,
)

from .row import over


def sparse_products():
    """Matrices of a million rows with random positions: multiplied by a vector and by 32 columns, and made from coordinates."""
    rows, entries = 1_000_000, 10_000_000
    pattern = {"c": Operand(starts, (entries,), "i32", f"{rows + 1}"), "m": MILLION.of("i32").shaped(f"{entries}"), "b": ANY.shaped(f"{entries}")}
    product = "THTensor_csrMatmul(r, c, m, b, a)", f"sparse.rows_torch(c, m, b, {rows}) @ a", f"sparse.rows_scipy(c, m, b, {rows}) @ a"
    places = {"i": MILLION.of("i64").shaped(f"2x{entries}"), "tolerance": 1e-4}
    form = "MADE(sparseForm(i, a, {}, THSTensor_new{}))"
    return [
        *over("csr x vector", "f32 f64", f"{rows}", *product, tolerance=1e-4, **pattern),
        *over("csr x 32 columns", "f32 f64", f"{rows}x32", *product, tolerance=1e-4, **pattern),
        *over("coalesce", "f32", f"{entries}", form.format(rows, "Coalesce"), f"sparse.coordinates_torch(i, a, {rows}).coalesce().values()", f"sparse.coalesced_scipy(i, a, {rows})", **places),
        *over("coo to csr", "f32", f"{entries}", form.format(rows, "Compressed"), f"sparse.coordinates_torch(i, a, {rows}).to_sparse_csr().values()", f"sparse.compressed_scipy(i, a, {rows})", **places),
    ]


def sparse_functions():
    """Functions of a matrix with a million random entries in 100,000 rows. Results are compared by their values."""
    size, entries = 100_000, 1_000_000
    places = {"i": Operand(between, (0, size), "i64", f"2x{entries}"), "a": Operand(between, (0.1, 0.9)), "tolerance": 1e-3}
    s, q = f"sparse.matrix(i, a, {size})", f"sparse.scipy_of(i, a, {size})"

    def one(op, call, torch, scipy=None, **given):
        return over(op, "f32", str(entries), f"MADE(SPARSE(i, a, {size}, THSTensor_{call}))", f"{s}.{torch}", scipy and f"{q}.{scipy}", **{**places, **given})

    def dense(op, call, torch, scipy=None, **given):
        return over(op, "f32", str(entries), f"WITH_SPARSE(i, a, {size}, THSTensor_{call})", torch.replace("SPARSE", s), scipy and scipy.replace("SPARSE", q), **{**places, **given})

    def made(op, call, torch, scipy=None, **given):
        return over(op, "f32", str(entries), f"MADE(SPARSE_TO_DENSE(i, a, {size}, {call}))", f"{s}.{torch}", scipy and f"{q}.{scipy}", **{**places, **given})

    columns, vector = UNIT.shaped(f"{size}x32"), UNIT.shaped(f"{size}")
    unary = "neg abs sign sqrt expm1 log1p sin tan asin atan sinh tanh relu floor ceil round trunc".split()
    scipy_names = {"asin": "arcsin", "atan": "arctan", "round": "rint", "neg": "__neg__", "abs": "__abs__", "relu": None}
    return [
        *(row for name in unary for row in one(name, f"{name}(q, s)", f"{name}().values()", scipy_names.get(name, name) and f"{scipy_names.get(name, name)}()")),
        *one("mul value", "mul(q, s, 3)", "mul(3).values()", "__mul__(3)"),
        *one("div value", "div(q, s, 3)", "div(3).values()", "__truediv__(3)"),
        *one("pow 3", "pow(q, s, 3)", "pow(3).values()", "power(3)"),
        *one("add", "cadd(q, s, 1, s)", f"add({s}).coalesce().values()", f"__add__({q})"),
        *one("sub", "csub(q, s, 2, s)", f"sub({s}, alpha=2).coalesce().values()", f"__sub__(2 * {q})", checked=("none",)),
        *one("mul", "cmul(q, s, s)", f"mul({s}).values()", f"multiply({q})"),
        *one("copy", "copy(q, s)", "clone().values()", "copy()"),
        *one("transpose", "transpose(q, s, 0, 1)", "transpose(0, 1)._values()", "T.tocsr()", checked=("none",)),
        *one("select", "select(q, s, 0, 1000)", "select(0, 1000)._values()", None, checked=("none",)),
        *one("narrow", f"narrow(q, s, 0, 1000, {size // 2})", f"narrow_copy(0, 1000, {size // 2}).coalesce().values()", f"__getitem__(slice(1000, {1000 + size // 2}))"),
        *over("cat", "f32", str(entries), f"MADE(SPARSE(i, a, {size}, sparseCat(q, s)))", f"torch.cat([{s}, {s}]).coalesce().values()", None, **places),
        *one("sum dim 0", "sum(q, s, 1, (int64_t[]){0})", "sum(0)", "sum(0)", checked=("none",)),
        *over("softmax", "f32", str(entries), f"MADE(SPARSE(i, a, {size}, THSTensor_softmax(q, s)))", f"torch.sparse.softmax({s}, 1).values()", None, **places),
        *over("sparse x sparse", "f32", str(entries), f"MADE(SPARSE(i, a, {size}, THSTensor_mm(q, s, s)))", f"torch.sparse.mm(sparse.csr_of(i, a, {size}), sparse.csr_of(i, a, {size})).values()", f"{q} @ {q}", checked=("none",), one_thread=True, **places),
        *over("sum, number", "f32", str(entries), f"NUMBER(THSTensor_sumall(sparseMatrix(i, a, {size})))", f"{s}.sum().item()", f"{q}.sum()", **places),
        *over("norm, number", "f32", str(entries), f"NUMBER(THSTensor_normall(sparseMatrix(i, a, {size}), 2))", f"torch.norm({s}).item()", None, **places),
        *dense("spmm", "spmm(r, s, b)", "torch.sparse.mm(SPARSE, b)", "SPARSE @ b", b=columns),
        *dense("spmv", "spmv(r, s, b)", "torch.mv(SPARSE, b)", "SPARSE @ b", b=vector),
        *dense("spaddmm", "spaddmm(r, 1, c, 1, s, b)", "torch.sparse.addmm(c, SPARSE, b)", "c + SPARSE @ b", b=columns, c=columns),
        *made("compressed", "sparseValues(THSTensor_newCompressed(s))", "to_sparse_csr().values()"),
        *made("copied", "sparseValues(THSTensor_newClone(s))", "clone().values()", "copy()"),
    ]


def sparse_and_dense():
    """A matrix of 2000 x 2000 with 40,000 random entries together with dense ones. Results are compared by their values."""
    size, entries = 2000, 40_000
    given = {"i": Operand(between, (0, size), "i64", f"2x{entries}"), "a": Operand(between, (0.1, 0.9)), "b": POSITIVE.shaped(f"{size}x{size}"), "tolerance": 1e-3}
    s, q = f"sparse.matrix(i, a, {size})", f"sparse.scipy_of(i, a, {size})"
    thin = {"c": UNIT.shaped(f"{size}x32"), "m": UNIT.shaped(f"32x{size}"), "b": ANY}

    def one(op, call, torch, scipy=None, **more):
        return over(op, "f32", str(entries), f"MADE(SPARSE(i, a, {size}, THSTensor_{call}))", torch, scipy, **{**given, **more})

    return [
        *one("mul dense", "cmulDense(q, s, b)", f"({s} * b).coalesce().values()", f"{q} * b"),
        *one("div dense", "cdivDense(q, s, b)", f"({s} * b.reciprocal()).coalesce().values()", f"{q} / b"),
        *one("mask of dense", "sparseMask(q, b, s)", f"b.sparse_mask({s}).values()"),
        *one("sampled addmm", "sampledAddmm(q, 1, s, 1, c, m)", f"torch.sparse.sampled_addmm(sparse.csr_of(i, a, {size}), c, m).values()", **{**thin, "b": ANY}),
        *one("hspmm", "hspmm(q, s, c)", f"torch.hspmm({s}, c)._values()", checked=("none",), c=thin["c"]),
        *over("add to dense", "f32", str(entries), f"FRESH(WITH_SPARSE(i, a, {size}, THSTensor_spcadd(r, b, 2, s)))", f"torch.add(b, {s}, alpha=2)", f"np.asarray(b + 2 * {q})", **given),
        *over("to dense", "f32", str(entries), f"MADE(SPARSE_TO_DENSE(i, a, {size}, THSTensor_newDense(s)))", f"{s}.to_dense()", f"{q}.toarray()", **{k: v for k, v in given.items() if k != "b"}),
        *over("from dense", "f32", f"{size}x{size}", "MADE(sparseValues(THSTensor_newFromDense(a, 2)))", "a.to_sparse().values()", None, a=ANY.rarely()),
    ]


def compressed_rows():
    """Matrices by rows: transposed products, patterns, and solvers of matrices with three diagonals."""
    rows, entries = 100_000, 1_000_000
    pattern = {"c": Operand(starts, (entries,), "i32", f"{rows + 1}"), "m": Operand(between, (0, rows), "i32", f"{entries}"), "tolerance": 1e-3}
    values = {"b": UNIT.shaped(f"{entries}")}
    line = 50_000
    three = {"c": Operand(band_starts, (), "i32", f"{line + 1}"), "m": Operand(band_columns, (line,), "i32", f"{3 * line - 2}"), "b": Operand(band_values, (line,), "f64", f"{3 * line - 2}"), "tolerance": 1e-3}
    lower = {"c": Operand(lower_starts, (), "i32", f"{line + 1}"), "m": Operand(lower_columns, (line,), "i32", f"{2 * line - 1}"), "b": Operand(lower_values, (line,), "f64", f"{2 * line - 1}"), "tolerance": 1e-3}
    square = f"sparse.rows_torch(c, m, b, {rows})"
    return [
        *over("csr^T x vector", "f32", f"{rows}", f"THTensor_csrMatmulTransposed(r, c, m, b, a, {rows})", None, f"sparse.rows_scipy(c, m, b, {rows}).T @ a", **pattern, **values),
        *over("csr^T x 32 columns", "f32", f"{rows}x32", f"THTensor_csrMatmulTransposed(r, c, m, b, a, {rows})", None, f"sparse.rows_scipy(c, m, b, {rows}).T @ a", **pattern, **values),
        *over("csr sampled", "f32", f"{rows}x16", "THTensor_csrSampled(r, c, m, a, b)", "sparse.sampled(c, m, a, b)", None, a=UNIT, b=UNIT, **pattern),
        *over("csr softmax", "f32", f"{entries}", "THTensor_csrSoftmax(r, c, a)", None, None, c=pattern["c"]),
        *over("csr softmax grad", "f32", f"{entries}", "THTensor_csrSoftmaxGrad(r, c, a, b)", None, None, c=pattern["c"]),
        *over("csr triangle", "f64", f"{line}", "THTensor_csrTrtrs(r, c, m, b, a, 0, 0, 0)", None, "sparse.triangle(c, m, b, a)", **lower),
        *over("csr solve", "f64", f"{line}", "THTensor_csrSolve(r, c, m, b, a, 0)", None, "sparse.solved(c, m, b, a)", **three),
        *over("csr conjugate gradients", "f64", f"{line}", "THTensor_csrCg(r, NULL, c, m, b, a, NULL, 1e-6, 1000, NULL, NULL) >= 0 ? TH_OK : THGetLastErrorCode()", None, "sparse.cg(c, m, b, a)", checked=("none",), **three),
    ]
