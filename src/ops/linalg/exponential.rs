//! Exponentials of matrices.

use super::{Batch, Matrices, float, transposed};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::launch::Decomposition;
use crate::ops::result::deliver;
use crate::tensor::Tensor;

/// `r` = the exponentials
pub fn matrix_exp(r: &Tensor, t: &Tensor) -> Result<()> {
    let dtype = float(&[t])?;
    let of = Matrices::square(t)?;
    let batch = Batch::new(of.batch())?;
    let a = batch.columns(t)?;
    let square = || batch.empty(dtype, &[of.rows, of.cols]);
    let scratch = [square()?, square()?, square()?, square()?, square()?];
    let [b, c, d, e, f] = scratch.each_ref();
    let pivots = batch.empty(Dtype::Int32, &[of.cols])?;
    batch.decompose(Decomposition::Exponential { n: of.n() }, [&a, b, c, d, e, f], Some(&pivots))?;
    deliver([Some((r, dtype, &transposed(&a)?))])
}
