//! Matrix products as values.

use crate::scalar::Scalar;

/// The dimensions of the result of a matrix product.
#[derive(Debug, Clone, Copy)]
pub struct ProductDims {
    /// True if the result has a dimension for the rows of `a`.
    pub rows: bool,
    /// True if the result has a dimension for the columns of `b`.
    pub columns: bool,
    /// True if the result has the batch dimensions; otherwise the products of the batch are summed.
    pub batch: bool,
}

/// `r = beta * t + alpha * (a @ b)` for each entry of a batch. The inputs are `[a, b]`, without the term `beta * t`, or `[a, b, t]`.
/// Matrices are the last two dimensions of `a` and `b`; the dimensions before broadcast to `batch`. `t` broadcasts to the result, and may
/// be the result. All inputs have one dtype. The result has the dtype in which products are computed. On a GPU, the result with a
/// batch may also have the dtype of the inputs.
#[derive(Debug, Clone, Copy)]
pub struct Matmul<'a> {
    /// The factor of `t`.
    pub beta: Scalar,
    /// The factor of the products.
    pub alpha: Scalar,
    /// The dimensions of the result.
    pub dims: ProductDims,
    /// The sizes of the batch.
    pub batch: &'a [i64],
}
