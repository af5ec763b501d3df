"""Matrix products and linear algebra."""

from operands import ANY, UNIT, sizes

from .row import over


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
