"""Matrix products and linear algebra."""

from operands import ANY, PIVOTS, SMALL, UNIT, sizes

from .row import CUBE, MATRIX, over


def products():
    """Matrix products: squares in four forms, other shapes, vectors, and batches."""
    mm = "THTensor_mm(r, a, b)", "torch.mm(a, b, out=r)", "np.matmul(a, b, out=r)"

    # Positive, so that the sums are not smaller than their terms.
    positive = {"a": UNIT, "b": UNIT}

    def square(n, dtypes):
        return over("mm", dtypes, f"{n}x{n}", *mm, flops=2 * n**3, tolerance=2e-2 if "16" in dtypes else 1e-4, **positive)

    def transposed(name, **given):
        return [row for n in (64, 512) for row in over(f"mm {name}", "f32 f64", f"{n}x{n}", *mm, flops=2 * n**3, tolerance=1e-4, **{**positive, **given})]

    def batch(count, n):
        call = "THTensor_bmm(r, a, b)", "torch.bmm(a, b, out=r)", "np.matmul(a, b, out=r)"
        return over("bmm", "f32 f64", f"{count}x{n}x{n}", *call, flops=2 * count * n**3, tolerance=1e-4, **positive)

    t = UNIT.transposed()
    tall = "THTensor_mm(r, a, b)", "torch.mm(a, b)", "np.matmul(a, b)"
    return [
        *(row for n in (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048) for row in square(n, "f32 f64")),
        *transposed("NT", b=t),
        *transposed("TN", a=t),
        *transposed("TT", a=t, b=t),
        *(row for n in (256, 1024) for row in square(n, "f16 bf16")),
        *square(256, "i32 i64"),
        *over("mm tall", "f64 f32", "10000x64", *(f"FRESH({tall[0]})", *tall[1:]), flops=2 * 10000 * 64 * 64, tolerance=1e-4, a=UNIT, b=UNIT.shaped("64x64")),
        *over("mv", "f32 f64", "1000x1000", "THTensor_mv(r, a, b)", "torch.mv(a, b, out=r)", "np.matmul(a, b, out=r)", a=UNIT, b=UNIT.shaped("1000"), tolerance=1e-3),
        *over("dot", "f32 f64", "1e6", "FRESH(THTensor_dot(r, a, b))", "torch.dot(a, b)", "np.dot(a, b)", tolerance=1e-3, **positive),
        *over("outer", "f32 f64", "1000", "FRESH(THTensor_outer(r, a, b))", "torch.outer(a, b)", "np.outer(a, b)"),
        *batch(64, 64),
        *batch(1000, 8),
        *over("matmul linear", "f32", "32x100x256", "FRESH(THTensor_matmul(r, a, b))", "torch.matmul(a, b)", "np.matmul(a, b)", a=UNIT, b=UNIT.shaped("256x256"),
              flops=2 * 3200 * 256 * 256, tolerance=1e-3),
        *over("cdist", "f32", "500x64", "FRESH(THTensor_cdist(r, a, b, 2))", "torch.cdist(a, b)", None, tolerance=1e-2),
        *over("cdist p 1", "f32", "500x64", "FRESH(THTensor_cdist(r, a, b, 1))", "torch.cdist(a, b, 1)", None, tolerance=1e-3),
    ]


def linear_algebra():
    """Decompositions and solvers. Factors whose signs are arbitrary are not compared."""
    sizes = "f64 f32", "32x32 256x256 1024x1024 1000x8x8 1000x32x32"
    given = {"tolerance": 0.05}
    return [
        *over("lu", *sizes, "THTensor_btrifact(r, i, NULL, 1, a)", "torch.linalg.lu_factor(a, out=(r, i))", checked=("i",), **given),
        *over("solve", *sizes, "THTensor_gesv(r, NULL, a, b)", "torch.linalg.solve(b, a, out=r)", "np.linalg.solve(b, a)", b=ANY.positive_definite(), **given),
        *over("inverse", *sizes, "THTensor_getri(r, a)", "torch.linalg.inv(a, out=r)", "np.linalg.inv(a)", a=ANY.positive_definite(), **given),
        *over("det", *sizes, "THTensor_slogdet(r, i, a)", "torch.linalg.slogdet(a, out=(r, i))", "np.linalg.slogdet(a)", a=ANY.positive_definite(), **given),
        *over("cholesky", *sizes, "THTensor_potrf(r, a, 0)", "torch.linalg.cholesky(a, out=r)", "np.linalg.cholesky(a)", a=ANY.positive_definite(), **given),
        *over("qr", *sizes, "THTensor_qr(r, i, a, 1)", "torch.linalg.qr(a, out=(r, i))", "np.linalg.qr(a)", checked=("none",)),
        *over("lstsq", *sizes, "THTensor_gels(r, NULL, b, a)", "torch.linalg.lstsq(a, b, driver='gels').solution", a=ANY.positive_definite(), **given),
        *over("symeig", *sizes, "THTensor_syev(r, i, a, 0)", "torch.linalg.eigh(a, out=(r, i))", "np.linalg.eigh(a)", a=ANY.positive_definite(), checked=("r",), **given),
        *over("svd", *sizes, "THTensor_gesvd(r, i, m, a, 1)", "torch.linalg.svd(a, full_matrices=False, out=(r, i, m))", "np.linalg.svd(a)", a=ANY.positive_definite(), checked=("i",), **given),
        *over("eigenvalues", *sizes, "THTensor_geev(r, NULL, a)", "torch.view_as_real(torch.linalg.eigvals(a))", "np.linalg.eigvals(a)", checked=("none",)),
    ]


def more_products():
    """Products with a sum, of batches, of many tensors, and of vectors."""
    matrix, n3 = "512x512", 2 * 512**3
    positive = {"a": UNIT, "b": UNIT, "c": UNIT, "tolerance": 1e-3}
    vectors = {"b": UNIT.shaped("1000"), "c": UNIT.shaped("1000"), "a": UNIT, "tolerance": 1e-3}
    two = {"a": UNIT, "b": UNIT, "tolerance": 1e-3}
    list_ = "(THTensor *const[]){a, b}"
    return [
        *over("addmm", "f32 f64", matrix, "THTensor_addmm(r, 1, c, 1, a, b)", "torch.addmm(c, a, b, out=r)", "c + a @ b", flops=n3, **positive),
        *over("addmv", "f32", MATRIX, "THTensor_addmv(r, 1, c, 1, a, b)", "torch.addmv(c, a, b, out=r)", "c + a @ b", **vectors),
        *over("addr", "f32", MATRIX, "THTensor_addr(r, 1, a, 1, b, c)", "torch.addr(a, b, c, out=r)", "a + np.outer(b, c)", **vectors),
        *over("ger", "f32", "1000", "FRESH(THTensor_ger(r, a, b))", "torch.ger(a, b)", "np.outer(a, b)"),
        *over("vdot", "f32", "1e6", "FRESH(THTensor_vdot(r, a, b))", "torch.vdot(a, b)", "np.vdot(a, b)", **two),
        *over("inner", "f32", "1e6", "FRESH(THTensor_inner(r, a, b))", "torch.inner(a, b)", "np.inner(a, b)", **two),
        *over("inner of matrices", "f32", "256x256", "FRESH(THTensor_inner(r, a, b))", "torch.inner(a, b)", "np.inner(a, b)", flops=2 * 256**3, **two),
        *over("baddbmm", "f32", "64x64x64", "THTensor_baddbmm(r, 1, c, 1, a, b)", "torch.baddbmm(c, a, b, out=r)", "c + a @ b", flops=2 * 64**4, **positive),
        *over("addbmm", "f32", "64x64x64", "THTensor_addbmm(r, 1, c, 1, a, b)", "torch.addbmm(c, a, b, out=r)", "c + (a @ b).sum(0)", flops=2 * 64**4, **{**positive, "c": UNIT.shaped("64x64")}),
        *over("tensordot", "f32", CUBE, "FRESH(THTensor_tensordot(r, a, b, 2, (int64_t[]){1, 2}, (int64_t[]){1, 2}))", "torch.tensordot(a, b, ([1, 2], [1, 2]))", "np.tensordot(a, b, ([1, 2], [1, 2]))", flops=2 * 100**4, **two),
        *over("einsum bij,bjk->bik", "f32", "64x64x64", f'FRESH(THTensor_einsum(r, "bij,bjk->bik", {list_}, 2))', "torch.einsum('bij,bjk->bik', a, b)", "np.einsum('bij,bjk->bik', a, b, optimize=True)", flops=2 * 64**4, **two),
        *over("einsum ij,ij->i", "f32", MATRIX, f'FRESH(THTensor_einsum(r, "ij,ij->i", {list_}, 2))', "torch.einsum('ij,ij->i', a, b)", "np.einsum('ij,ij->i', a, b)", **two),
        *over("product of a chain", "f32", "1000x20", "FRESH(THTensor_chainMatmul(r, (THTensor *const[]){a, b, a}, 3))", "torch.linalg.multi_dot([a, b, a])", "np.linalg.multi_dot([a, b, a])", a=UNIT, b=UNIT.shaped("20x1000"), tolerance=1e-3),
        *over("matrix power 5", "f32", "256x256", "FRESH(THTensor_matrixPower(r, a, 5))", "torch.linalg.matrix_power(a, 5)", "np.linalg.matrix_power(a, 5)", a=SMALL, tolerance=1e-1, checked=("none",)),
        *over("kron", "f32", "30x30", "FRESH(THTensor_kron(r, a, b))", "torch.kron(a, b)", "np.kron(a, b)"),
        *over("cross", "f32", "300000x3", "THTensor_cross(r, a, b, 1)", "torch.linalg.cross(a, b, dim=1, out=r)", "np.cross(a, b)", tolerance=1e-3),
        *over("cdist by differences", "f32", "500x64", "FRESH(THTensor_cdistMode(r, a, b, 2, TH_DISTANCE_DIFFERENCES))", "torch.cdist(a, b, 2, 'donot_use_mm_for_euclid_dist')", tolerance=1e-3),
    ]


def more_linear_algebra():
    """Decompositions and solvers by their other names, and functions of matrices. Signs and orders that are arbitrary are not compared."""
    definite, loose = ANY.positive_definite(), {"tolerance": 0.05}

    def of(op, thorn, torch, numpy=None, shapes="256x256 1000x8x8", **given):
        return over(op, "f64", shapes, f"THTensor_{thorn}", torch, numpy, **{**loose, **given})

    return [
        *of("solve, by name", "solve(r, NULL, a, b)", "torch.linalg.solve(b, a, out=r)", "np.linalg.solve(b, a)", b=definite),
        *of("triangular solve", "trtrs(r, NULL, a, b, 1, 0, 0)", "torch.linalg.solve_triangular(b, a, upper=True, out=r)", b=definite),
        *of("lstsq by svd", "lstsq(r, NULL, NULL, b, a, -1)", "torch.linalg.lstsq(a, b, driver='gelsd').solution", a=definite, shapes="256x256"),
        *of("lu solve", "btrisolve(r, a, b, i)", "torch.linalg.lu_solve(b, i, a, out=r)", b=definite, i=PIVOTS, shapes="256x256"),
        *of("lu, three factors", "lu(r, i, m, a)", "torch.linalg.lu(a, out=(r, i, m))", checked=("none",)),
        *of("inverse, by name", "inverse(r, a)", "torch.linalg.inv(a, out=r)", "np.linalg.inv(a)", a=definite),
        *of("det, by name", "det(r, a)", "torch.linalg.det(a)", "np.linalg.det(a)", a=definite),
        *of("logdet", "logdet(r, a)", "torch.logdet(a)", None, a=definite),
        *of("cholesky, by name", "cholesky(r, a, 0)", "torch.linalg.cholesky(a, out=r)", "np.linalg.cholesky(a)", a=definite),
        *of("cholesky solve", "potrs(r, a, b, 0)", "torch.cholesky_solve(a, b, out=r)", None, b=definite),
        *of("cholesky inverse", "potri(r, a, 0)", "torch.cholesky_inverse(a, out=r)", None, a=definite),
        *of("pivoted cholesky", "pstrf(r, i, NULL, a, 0, -1)", "torch.linalg.cholesky(a)", None, a=definite, checked=("none",), shapes="256x256"),
        *of("geqrf", "geqrf(r, i, a)", "torch.geqrf(a, out=(r, i))", None, checked=("none",)),
        *of("orgqr", "orgqr(r, a, b)", "torch.linalg.householder_product(a, b, out=r)", None, b=UNIT.shaped("256"), shapes="256x256", checked=("none",)),
        *of("ormqr", "ormqr(r, a, b, a, 1, 0)", "torch.ormqr(a, b, a, True, False)", None, b=UNIT.shaped("256"), shapes="256x256", checked=("none",)),
        *of("symeig, by name", "symeig(r, i, a, 0)", "torch.linalg.eigh(a, out=(r, i))", "np.linalg.eigh(a)", a=definite, checked=("r",)),
        *of("eig, with vectors", "eig(r, i, a)", "torch.view_as_real(torch.linalg.eig(a)[0])", "np.linalg.eig(a)", checked=("none",), i=UNIT.shaped("256x256"), shapes="256x256"),
        *of("svd, by name", "svd(r, i, m, a, 1)", "torch.linalg.svd(a, full_matrices=False, out=(r, i, m))", "np.linalg.svd(a)", a=definite, checked=("i",)),
        *of("pseudoinverse", "pinverse(r, a, 1e-15)", "torch.linalg.pinv(a, out=r)", "np.linalg.pinv(a)", a=definite),
        *of("matrix rank", "matrixRank(r, a, -1, 0)", "torch.linalg.matrix_rank(a)", "np.linalg.matrix_rank(a)", a=definite),
        *of("frobenius norm", "matrixNorm(r, a, TH_NORM_FRO, 0)", "torch.linalg.matrix_norm(a, out=r)", "np.linalg.norm(a, axis=(-2, -1))"),
        *of("spectral norm", "matrixNorm(r, a, TH_NORM_2, 0)", "torch.linalg.matrix_norm(a, 2, out=r)", "np.linalg.norm(a, 2, axis=(-2, -1))"),
        *of("condition", "cond(r, a, TH_NORM_2)", "torch.linalg.cond(a, 2)", "np.linalg.cond(a)", a=definite),
        *of("matrix exponential", "matrixExp(r, a)", "torch.linalg.matrix_exp(a)", None, a=SMALL),
    ]
