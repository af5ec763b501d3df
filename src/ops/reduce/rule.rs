//! The dims over which a reduction goes, the handles of its results, and its types.

use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::layout::{INLINE_DIMS, wrap_dim};
use crate::tensor::Tensor;
use smallvec::SmallVec;
use std::cell::Cell;

/// All dimensions, as an argument `dimension`. The result is 0-d, or has all sizes 1 with `keepdim`.
pub const TH_ALL_DIMS: i32 = i32::MIN;

/// The dims over which a reduction goes.
#[derive(Clone, Copy)]
pub enum Over<'a> {
    /// One dim, or all for [`TH_ALL_DIMS`].
    Dim(i32),
    /// Several dims, or all if the list is empty.
    Dims(&'a [i64]),
}

/// The destination of the results.
#[derive(Clone, Copy)]
pub enum To<'a> {
    /// Up to two tensors. If the flag is true, folded dims are kept with size 1.
    Tensors([Option<&'a Tensor>; 2], bool),
    /// A number: the first result, before it is rounded to the dtype of a tensor.
    Number(&'a Cell<f64>),
}

impl<'a> To<'a> {
    /// One result tensor.
    pub fn tensor(r: &'a Tensor, keepdim: bool) -> To<'a> {
        To::Tensors([Some(r), None], keepdim)
    }
}

/// The result of a reduction as a number.
pub fn number(reduce: impl FnOnce(To<'_>) -> Result<()>) -> Result<f64> {
    let number = Cell::new(f64::NAN);
    reduce(To::Number(&number))?;
    Ok(number.get())
}

/// The types of a reduction.
#[derive(Clone, Copy)]
pub struct Rule {
    /// The dtype that elements are converted to; most folds read its compute type.
    pub compute: Dtype,
    /// The dtypes that the fold writes.
    pub written: [Dtype; 2],
    /// The dtypes of fresh results.
    pub result: [Dtype; 2],
    /// True if results are elements of the input, which must not be empty then.
    pub chooses: bool,
}

impl Rule {
    /// A rule whose two results have the same types.
    pub fn one(compute: Dtype, written: Dtype, result: Dtype) -> Rule {
        Rule { compute, written: [written; 2], result: [result; 2], chooses: false }
    }

    /// Returns true if result `k` may be converted directly from the written dtype to `dtype`, without rounding to a fresh result's dtype
    /// first.
    pub(super) fn is_final(&self, k: usize, dtype: Dtype) -> bool {
        self.result[k] == dtype || (self.result[k] == self.written[k] && self.result[k].can_cast(dtype))
    }
}

/// True for each of `ndim` dims that is folded.
pub(super) fn folded_dims(over: Over<'_>, ndim: usize) -> Result<SmallVec<[bool; INLINE_DIMS]>> {
    let mut folds = SmallVec::from_elem(false, ndim.max(1));
    match over {
        Over::Dim(TH_ALL_DIMS) | Over::Dims([]) => folds.fill(true),
        Over::Dim(dim) => folds[wrap_dim(dim, ndim)?] = true,
        Over::Dims(dims) => {
            for &dim in dims {
                let Ok(narrow) = i32::try_from(dim) else {
                    bail!(Argument, "dimension {dim} out of range for a tensor with {ndim} dimensions")
                };
                let d = wrap_dim(narrow, ndim)?;
                if std::mem::replace(&mut folds[d], true) {
                    bail!(Argument, "dimension {d} appears twice in {dims:?}")
                }
            }
        }
    }
    Ok(folds)
}
