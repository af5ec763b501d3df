//! Scans: running sums, products and extremes along a dimension.

use super::lines::{Form, Kernels, Want, along, rounded};
use crate::cpu::engine::CHEAP;
use crate::cpu::prefix::Prefix;
use crate::cpu::scan::{self, Scanned};
use crate::dtype::{Dtype, Element, dispatch};
use crate::error::Result;
use crate::tensor::Tensor;

/// `r[i] = t[0] + ... + t[i]` along `dim`, or the product, of `t` in the dtype `asked` for; if none is, integers and Bool give int64.
fn totals<const PRODUCT: bool>(r: &Tensor, t: &Tensor, dim: i32, asked: Option<Dtype>) -> Result<()> {
    let rounded = rounded(t, asked)?;
    let t = rounded.as_ref().unwrap_or(t);
    let dtype = asked.unwrap_or(t.defined()?);
    let result = asked.unwrap_or(if dtype.is_float() { dtype } else { Dtype::Int64 });
    dispatch!(all, dtype, T => {
        let panel = scan::totals_of_columns::<T, PRODUCT>;
        let lines = Kernels::stack(&scan::totals_of_lines::<T, PRODUCT>, CHEAP);
        let kernels = Kernels { columns: Some(&panel), batch: T::together, ..lines };
        let want = Want { r: Some(r), dtype: result, compute: Some(<T as Scanned>::Out::DTYPE) };
        along(t, dim, T::DTYPE, Form::Same, [want, Want::NOTHING], kernels)
    })
}

/// Running sums.
pub fn cumsum(r: &Tensor, t: &Tensor, dim: i32, asked: Option<Dtype>) -> Result<()> {
    totals::<false>(r, t, dim, asked)
}

/// Running products.
pub fn cumprod(r: &Tensor, t: &Tensor, dim: i32, asked: Option<Dtype>) -> Result<()> {
    totals::<true>(r, t, dim, asked)
}

/// The greatest elements so far, and where they are: the last of equals. Either result may be absent. A NaN stays the greatest.
pub fn cummax(values: Option<&Tensor>, indices: Option<&Tensor>, t: &Tensor, dim: i32) -> Result<()> {
    extremes::<true>(values, indices, t, dim)
}

/// The least elements so far; everything else as for [`cummax`].
pub fn cummin(values: Option<&Tensor>, indices: Option<&Tensor>, t: &Tensor, dim: i32) -> Result<()> {
    extremes::<false>(values, indices, t, dim)
}

fn extremes<const MAX: bool>(values: Option<&Tensor>, indices: Option<&Tensor>, t: &Tensor, dim: i32) -> Result<()> {
    let dtype = t.defined()?;
    let wants = [Want { r: values, dtype, compute: Some(dtype.compute()) }, Want::indices(indices)?];
    dispatch!(all, dtype, T => {
        let panel = scan::extremes_of_columns::<T, MAX>;
        let kernels = Kernels { columns: Some(&panel), ..Kernels::line(&scan::extremes::<T, MAX>, CHEAP) };
        along(t, dim, T::DTYPE, Form::Same, wants, kernels)
    })
}
