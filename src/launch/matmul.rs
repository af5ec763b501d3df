//! Matrix products as values.

use crate::scalar::Scalar;

/// The dimensions that a result has.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// True if it has the dimension of the rows of `a`.
    pub rows: bool,
    /// True if it has the dimension of the columns of `b`.
    pub columns: bool,
    /// True if it has the dimensions of the batch; without them the products are summed.
    pub batch: bool,
}

/// `r = beta * t + alpha * (a @ b)` for each place of a batch, of inputs `[a, b]`, which leave out `beta * t`, or `[a, b, t]`. Matrices are
/// the last two dimensions of `a` and `b`, and those in front broadcast to `batch`; `t` broadcasts to the result, and may be the result.
/// Inputs have one dtype, the result the one that its products are computed in.
#[derive(Debug, Clone, Copy)]
pub struct Matmul<'a> {
    /// The factor of `t`.
    pub beta: Scalar,
    /// The factor of the products.
    pub alpha: Scalar,
    /// The dimensions of the result.
    pub form: Form,
    /// The sizes of the batch.
    pub batch: &'a [i64],
}
