"""Sparse matrices."""

from operands import ANY, MILLION, Operand, starts

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
