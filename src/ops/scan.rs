//! Scans: running sums, products and extremes along a dimension.

use super::lines::{LineResult, Want, along, rounded};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::launch::{LineOp, Lines};
use crate::tensor::Tensor;

/// `r[i] = t[0] + ... + t[i]` along `dim`, or the product. `t` is converted to `asked`. Without it, integers and Bool give int64.
fn totals(product: bool, r: &Tensor, t: &Tensor, dim: i32, asked: Option<Dtype>) -> Result<()> {
    let rounded = rounded(t, asked)?;
    let t = rounded.as_ref().unwrap_or(t);
    let dtype = asked.unwrap_or(t.defined()?);
    let result = asked.unwrap_or(if dtype.is_float() { dtype } else { Dtype::Int64 });
    let work = Lines { op: LineOp::Totals { product }, compute: dtype.compute() };
    along(t, dim, work, LineResult::Same, [Want { r: Some(r), dtype: result }, Want::NOTHING])
}

/// `r` = running sums along `dim`
pub fn cumsum(r: &Tensor, t: &Tensor, dim: i32, asked: Option<Dtype>) -> Result<()> {
    totals(false, r, t, dim, asked)
}

/// `r` = running products along `dim`
pub fn cumprod(r: &Tensor, t: &Tensor, dim: i32, asked: Option<Dtype>) -> Result<()> {
    totals(true, r, t, dim, asked)
}

/// The greatest or least elements so far, and their positions: of equal elements the last one. Either result may be absent. From a NaN on,
/// the results are NaN.
pub fn extremes(max: bool, values: Option<&Tensor>, indices: Option<&Tensor>, t: &Tensor, dim: i32) -> Result<()> {
    let dtype = t.defined()?;
    let wants = [Want { r: values, dtype }, Want::indices(indices)?];
    along(t, dim, Lines { op: LineOp::Extremes { max }, compute: dtype.compute() }, LineResult::Same, wants)
}
