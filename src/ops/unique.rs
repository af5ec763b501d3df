//! Distinct elements, or distinct slices along a dimension, in ascending order; or one of each run of equal ones.

use super::dense::dense;
use super::lines::Want;
use super::reduce::TH_ALL_DIMS;
use super::result::deliver;
use super::view;
use crate::backend;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::layout::{Layout, wrap_dim};
use crate::operand::Operand;
use crate::tensor::Tensor;

/// The handles of the results. Each may be absent.
#[derive(Clone, Copy)]
pub struct Results<'a> {
    /// The distinct values.
    pub values: Option<&'a Tensor>,
    /// The index among the values of each element of the input.
    pub inverse: Option<&'a Tensor>,
    /// The number of occurrences of each value in the input.
    pub counts: Option<&'a Tensor>,
}

/// `values` = the distinct elements of `t`, or slices along `dim`, in ascending order. With `consecutive`, one of each run of equal
/// elements, in the order of `t`.
pub fn unique(results: Results<'_>, t: &Tensor, dim: i32, consecutive: bool) -> Result<()> {
    let dtype = t.defined()?;
    Want::indices(results.inverse)?;
    Want::indices(results.counts)?;
    let wanted = [results.inverse.is_some(), results.counts.is_some()];
    let whole = dim == TH_ALL_DIMS || (t.ndim() == 0 && wrap_dim(dim, 0)? == 0);
    let dim = if whole { 0 } else { wrap_dim(dim, t.ndim())? };
    let x = dense(&if whole { t.clone() } else { view::derive(t, |l| l.move_dim(dim, 0))? }, dtype.compute())?;
    let (mut shape, numel) = (x.layout()?.shape, x.layout()?.numel());
    let rows = if whole { Layout::contiguous(&[numel]) } else { Layout::contiguous(&[shape[0], shape[1..].iter().product()]) };
    if !whole && rows.shape[1] == 0 && rows.shape[0] > 0 {
        bail!(Shape, "the slices of shape {:?} along dimension {dim} have no elements", t.layout()?.shape.as_slice())
    }
    let x = Operand::of(&x)?;
    let found = backend::on(x.device).unique(&x.view(Layout { offset: x.layout().offset, ..rows.clone() }), consecutive, wanted)?;
    let tensor = |found: Option<&Operand>| found.map(Operand::tensor).transpose();
    let (values, inverse, counts) = (found.values.tensor()?, tensor(found.inverse.as_ref())?, tensor(found.counts.as_ref())?);
    let (values, inverse) = if whole {
        (values, inverse.map(|inverse| view::derive(&inverse, |l| l.view(&t.layout()?.shape))).transpose()?)
    } else {
        shape[0] = values.layout()?.numel() / rows.shape[1].max(1);
        (
            view::derive(&values, |l| {
                l.view(&shape)?;
                l.move_dim(0, dim)
            })?,
            inverse,
        )
    };
    let given = |r: Option<_>, dtype: Dtype, made: Option<_>| r.zip(made).map(|(r, made)| (r, dtype, made));
    deliver([
        given(results.values, dtype, Some(&values)),
        given(results.inverse, Dtype::Int64, inverse.as_ref()),
        given(results.counts, Dtype::Int64, counts.as_ref()),
    ])
}
