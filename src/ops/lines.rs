//! The first half of operations over whole lines: choose or join dimensions, check the results, determine their dtypes and shapes, avoid
//! overlap.

mod fast_path;
mod want;

pub use want::{LineResult, Want};

use super::copy;
use super::reduce::TH_ALL_DIMS;
use super::result::{Inputs, Wanted, Writes, ready_all};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::Lines;
use crate::layout::{Dims, INLINE_DIMS, Layout, wrap_dim};
use crate::operand::Operand;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// Runs `work` on the lines of `t` along `dim`. The fast path is tried first; a `Source` serves the other cases.
pub fn along(t: &Tensor, dim: i32, work: Lines<'_>, form: LineResult, wants: [Want<'_>; 2]) -> Result<()> {
    if fast_path::run(t, dim, &work, form, &wants)? {
        return Ok(());
    }
    let one = matches!(form, LineResult::Same | LineResult::Resized { .. });
    let source = if one { Source::one(t, dim)? } else { Source::along(t, dim)? };
    source.run(work, form, wants)
}

/// The number of elements of a line of `t` along one dim. `TH_ALL_DIMS` is an error.
pub fn length(t: &Tensor, dim: i32) -> Result<i64> {
    if dim == TH_ALL_DIMS {
        bail!(Argument, "needs one dimension, not all")
    }
    let d = wrap_dim(dim, t.ndim())?;
    Ok(t.peek().0.get(d).copied().unwrap_or(t.is_scalar() as i64))
}

/// `t` rounded to `asked`, if `asked` is a 16-bit float. Lines would be read in its compute type, float32, without rounding.
pub fn rounded(t: &Tensor, asked: Option<Dtype>) -> Result<Option<Tensor>> {
    asked.filter(|asked| *asked != asked.compute()).map(|asked| copy::to_dtype(t, asked)).transpose()
}

/// An input cut into lines.
pub struct Source {
    /// The input, with the dims of the lines joined into the last dim.
    operand: Operand,
    /// The layout of the input before the dims were joined.
    layout: Layout,
    dims: SmallVec<[usize; INLINE_DIMS]>,
}

impl Source {
    /// Lines of `t` along `dim`. `TH_ALL_DIMS` makes one line of all elements, in row-major order.
    pub fn along(t: &Tensor, dim: i32) -> Result<Source> {
        if dim == TH_ALL_DIMS {
            return Source::over(t, &[]);
        }
        t.defined()?;
        let dim = wrap_dim(dim, t.ndim())?;
        Source::joined(t, if t.ndim() == 0 { &[] } else { std::slice::from_ref(&dim) })
    }

    /// Lines of `t` along one dim. `TH_ALL_DIMS` is an error.
    pub fn one(t: &Tensor, dim: i32) -> Result<Source> {
        if dim == TH_ALL_DIMS {
            bail!(Argument, "needs one dimension, not all")
        }
        Source::along(t, dim)
    }

    /// Lines of `t` over several dims, in row-major order. Each dim is given once; no dims means all.
    pub fn over(t: &Tensor, dims: &[i64]) -> Result<Source> {
        t.defined()?;
        let ndim = t.ndim();
        let mut found: SmallVec<[usize; INLINE_DIMS]> = SmallVec::new();
        for &dim in dims {
            let wrapped = wrap_dim(i32::try_from(dim).unwrap_or(i32::MAX), ndim)?;
            if found.contains(&wrapped) {
                bail!(Argument, "dimension {dim} is given twice")
            }
            found.push(wrapped);
        }
        if dims.is_empty() || ndim == 0 {
            found = (0..ndim).collect();
        }
        found.sort_unstable();
        Source::joined(t, &found)
    }

    /// The number of elements of a line.
    pub fn n(&self) -> i64 {
        self.operand.layout().shape.last().copied().unwrap_or(1)
    }

    /// The number of lines.
    pub fn count(&self) -> i64 {
        self.operand.layout().shape.split_last().map_or(1, |(_, rest)| rest.iter().product())
    }

    /// The input's dtype.
    pub fn dtype(&self) -> Dtype {
        self.operand.dtype
    }

    /// The input's shape.
    pub fn shape(&self) -> &[i64] {
        &self.layout.shape
    }

    fn joined(t: &Tensor, dims: &[usize]) -> Result<Source> {
        let mut operand = Operand::of(t)?;
        let layout = operand.layout().clone();
        if dims.len() == 1 && dims[0] + 1 == layout.ndim() {
            return Ok(Source { operand, layout, dims: dims.into() });
        }
        let mut moved = Layout { shape: Dims::new(), strides: Dims::new(), offset: layout.offset };
        for d in (0..layout.ndim()).filter(|d| !dims.contains(d)).chain(dims.iter().copied()) {
            moved.shape.push(layout.shape[d]);
            moved.strides.push(layout.strides[d]);
        }
        let kept = layout.ndim() - dims.len();
        let joined = match join(&moved, kept) {
            Some(joined) => joined,
            None => {
                let Some(storage) = t.storage() else { bail!(Shape, "the tensor has no storage") };
                let view = Tensor::with_layout(storage, operand.dtype, &moved)?;
                operand = Operand::of(&copy::contiguous_copy(&view)?)?;
                join(operand.layout(), kept).unwrap_or(moved)
            }
        };
        operand.set_layout(joined);
        Ok(Source { operand, layout, dims: dims.into() })
    }

    /// The shape of a result.
    fn result_shape(&self, form: LineResult) -> Dims {
        let reduced = |keepdim: bool| -> Dims {
            let all = self.layout.shape.iter().enumerate();
            all.filter(|(d, _)| keepdim || !self.dims.contains(d)).map(|(d, &n)| if self.dims.contains(&d) { 1 } else { n }).collect()
        };
        match form {
            LineResult::Same => self.layout.shape.clone(),
            LineResult::Resized { n } => {
                self.layout.shape.iter().enumerate().map(|(d, &have)| if self.dims.contains(&d) { n } else { have }).collect()
            }
            LineResult::One { keepdim } => reduced(keepdim),
            LineResult::Leading { n, keepdim } => {
                let mut shape = reduced(keepdim);
                shape.insert(0, n);
                shape
            }
        }
    }

    /// Returns true if the line is the last dimension of the input.
    fn is_last(&self) -> bool {
        self.dims.len() == 1 && self.dims[0] + 1 == self.layout.ndim()
    }

    /// The layout of a result in which the last dim runs over the elements of a line.
    fn result_layout(&self, form: LineResult, layout: &Layout) -> Layout {
        if matches!(form, LineResult::Same | LineResult::Resized { .. }) && self.is_last() {
            return layout.clone();
        }
        let mut dims: SmallVec<[(i64, i64); INLINE_DIMS]> = layout.shape.iter().copied().zip(layout.strides.iter().copied()).collect();
        let last = match form {
            LineResult::Same | LineResult::Resized { .. } if self.dims.is_empty() => (1, 1),
            LineResult::Same | LineResult::Resized { .. } => dims.remove(self.dims[0]),
            LineResult::One { .. } => (1, 1),
            LineResult::Leading { .. } => dims.remove(0),
        };
        if matches!(form, LineResult::One { .. } | LineResult::Leading { .. }) && dims.len() == self.layout.ndim() {
            let mut d = 0;
            dims.retain(|_| {
                d += 1;
                !self.dims.contains(&(d - 1))
            });
        }
        dims.push(last);
        Layout { shape: dims.iter().map(|d| d.0).collect(), strides: dims.iter().map(|d| d.1).collect(), offset: layout.offset }
    }

    /// Runs `work` on the lines and writes one or two results. The results change only when all work is done.
    pub fn run(&self, work: Lines<'_>, form: LineResult, wants: [Want<'_>; 2]) -> Result<()> {
        let (shape, written) = (self.result_shape(form), work.op.written(work.compute));
        let wanted = [0, 1].map(|k| {
            let writes = Writes::converted_from(written[k].unwrap_or(work.compute));
            wants[k].r.map(|r| Wanted { r, dtype: wants[k].dtype, shape: &shape, writes })
        });
        let as_given = if form == LineResult::Same && !self.is_last() { Some(self.operand.with_layout(self.layout.clone())) } else { None };
        let given = std::slice::from_ref(as_given.as_ref().unwrap_or(&self.operand));
        let inputs = if form == LineResult::Same { Inputs::in_step(given) } else { Inputs::anywhere(given) };
        let ready = ready_all(wanted, inputs)?;
        ready.launch_in(|layout| self.result_layout(form, layout), &work, &[&self.operand])
    }
}

/// The layout with the dims from `kept` on joined into one; `None` if no single stride describes their elements.
fn join(layout: &Layout, kept: usize) -> Option<Layout> {
    let (mut n, mut stride) = (1i64, 1i64);
    let empty = layout.shape[kept..].contains(&0);
    for d in (kept..layout.ndim()).rev().filter(|&d| layout.shape[d] != 1 && !empty) {
        if n != 1 && Some(layout.strides[d]) != n.checked_mul(stride) {
            return None;
        }
        (n, stride) = (n * layout.shape[d], if n == 1 { layout.strides[d] } else { stride });
    }
    let n = if empty { 0 } else { n };
    let mut joined = Layout { shape: layout.shape[..kept].into(), strides: layout.strides[..kept].into(), offset: layout.offset };
    joined.shape.push(n);
    joined.strides.push(stride);
    Some(joined)
}
