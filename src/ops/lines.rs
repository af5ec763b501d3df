//! The common first half of operations over whole lines: a dimension chosen or several joined, results checked, typed, shaped and kept apart.

mod fast_path;

use super::copy;
use super::operand::Operand;
use super::reduce::TH_ALL_DIMS;
use super::result::{self, Placed, Target};
use crate::cpu::lines::{ColumnKernel, End, Kernel, LineKernel, Lines, MAX_COLUMNS, StackKernel};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::layout::{Dims, INLINE_DIMS, Layout, wrap_dim};
use crate::storage::Storage;
use crate::tensor::Tensor;
use fast_path::short;
use smallvec::SmallVec;
use std::ptr::null_mut;

/// The shape of the result of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As many elements as it has: the result has the shape of the input.
    Same,
    /// `n` elements in their place.
    Resized {
        /// Elements.
        n: i64,
    },
    /// One element: the dims of the line disappear, or stay with size 1.
    One {
        /// True if these dimensions stay, with size 1.
        keepdim: bool,
    },
    /// `n` elements in a new first dimension; else as `One`.
    Leading {
        /// Elements.
        n: i64,
        /// As in `One`.
        keepdim: bool,
    },
}

/// A result of an operation.
#[derive(Clone, Copy)]
pub struct Want<'a> {
    /// Where it goes; `None` if the caller does without.
    pub r: Option<&'a Tensor>,
    /// The dtype of a fresh one.
    pub dtype: Dtype,
    /// The dtype that the kernel writes; `None` if it writes nothing there.
    pub compute: Option<Dtype>,
}

impl<'a> Want<'a> {
    /// For operations of a single result.
    pub(crate) const NOTHING: Want<'static> = Want { r: None, dtype: Dtype::Int64, compute: None };

    /// Indices: int64, and nothing else.
    pub fn indices(r: Option<&'a Tensor>) -> Result<Want<'a>> {
        match r.and_then(Tensor::dtype) {
            None | Some(Dtype::Int64) => Ok(Want { r, dtype: Dtype::Int64, compute: Some(Dtype::Int64) }),
            Some(have) => bail!(Dtype, "indices are int64, the tensor given for them is {have}"),
        }
    }
}

/// The kernels that run over the lines.
#[derive(Clone, Copy)]
pub struct Kernels<'a> {
    /// Over one line or several.
    pub kernel: Kernel<'a>,
    /// Over lines side by side, where there is such a kernel.
    pub columns: Option<ColumnKernel<'a>>,
    /// The kernel changes what it reads, and gets a copy.
    pub clobbers_input: bool,
    /// Bytes the kernel wants for itself.
    pub scratch: usize,
    /// The most lines of a block of columns, up to [`MAX_COLUMNS`](crate::cpu::lines::MAX_COLUMNS).
    pub max_lines: usize,
    /// The most elements of a block of columns.
    pub area: usize,
    /// Lines of at most so many elements are done faster side by side.
    pub max_transposed: usize,
    /// How many lines of so many elements the kernel takes at a time.
    pub batch: fn(usize) -> usize,
    /// Elements a thread must have to be worth waking.
    pub grain: usize,
}

impl<'a> Kernels<'a> {
    /// Over one line, without a kernel for columns or wishes.
    pub fn line(line: LineKernel<'a>, grain: usize) -> Kernels<'a> {
        Kernels::over(Kernel::Line(line), grain)
    }

    /// Over several lines, without a kernel for columns or wishes.
    pub fn stack(stack: StackKernel<'a>, grain: usize) -> Kernels<'a> {
        Kernels::over(Kernel::Stack(stack), grain)
    }

    fn over(kernel: Kernel<'a>, grain: usize) -> Kernels<'a> {
        Kernels {
            kernel,
            columns: None,
            clobbers_input: false,
            scratch: 0,
            max_lines: MAX_COLUMNS,
            area: usize::MAX,
            max_transposed: 0,
            batch: |_| 1,
            grain,
        }
    }
}

/// Runs `kernels` over the lines of `t` along `dim`, read as `compute`; a `Source` says how where there is more to think about.
pub fn along(t: &Tensor, dim: i32, compute: Dtype, form: Form, wants: [Want<'_>; 2], kernels: Kernels<'_>) -> Result<()> {
    if short(t, dim, compute, form, &wants, &kernels) {
        return Ok(());
    }
    let source = if form == Form::Same { Source::one(t, dim)? } else { Source::along(t, dim)? };
    source.run(compute, form, wants, kernels)
}

/// `t` rounded to the 16-bit floats that are asked for: lines are read in the compute type, as what is asked for otherwise.
pub fn rounded(t: &Tensor, asked: Option<Dtype>) -> Result<Option<Tensor>> {
    asked.filter(|asked| *asked != asked.compute()).map(|asked| copy::to_dtype(t, asked)).transpose()
}

/// An input cut into lines.
pub struct Source {
    /// With the dims of the lines joined into the last one.
    operand: Operand,
    /// Where the input's elements are, copied or not.
    storage: Option<Storage>,
    /// The shape the input came with.
    shape: Dims,
    dims: SmallVec<[usize; INLINE_DIMS]>,
}

impl Source {
    /// Lines of `t` along `dim`; `TH_ALL_DIMS` makes one line of everything, in row-major order.
    pub fn along(t: &Tensor, dim: i32) -> Result<Source> {
        if dim == TH_ALL_DIMS {
            return Source::over(t, &[]);
        }
        t.defined()?;
        let dim = wrap_dim(dim, t.ndim())?;
        Source::joined(t, if t.ndim() == 0 { &[] } else { std::slice::from_ref(&dim) })
    }

    /// Lines of `t` along one dim, for operations that need one.
    pub fn one(t: &Tensor, dim: i32) -> Result<Source> {
        if dim == TH_ALL_DIMS {
            bail!(Argument, "needs one dimension, not all")
        }
        Source::along(t, dim)
    }

    /// Lines of `t` over several dims, each given once, in row-major order; over all if none is given.
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

    /// Elements of a line.
    pub fn n(&self) -> i64 {
        self.operand.layout.shape.last().copied().unwrap_or(1)
    }

    /// Lines.
    pub fn count(&self) -> i64 {
        self.operand.layout.shape.split_last().map_or(1, |(_, rest)| rest.iter().product())
    }

    /// The input's dtype.
    pub fn dtype(&self) -> Dtype {
        self.operand.dtype
    }

    /// The input's shape.
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    fn joined(t: &Tensor, dims: &[usize]) -> Result<Source> {
        let mut operand = Operand::of(t)?;
        let layout = operand.layout.clone();
        let mut moved = Layout { shape: Dims::new(), strides: Dims::new(), offset: layout.offset };
        for d in (0..layout.ndim()).filter(|d| !dims.contains(d)).chain(dims.iter().copied()) {
            moved.shape.push(layout.shape[d]);
            moved.strides.push(layout.strides[d]);
        }
        let kept = layout.ndim() - dims.len();
        operand.layout = match join(&moved, kept) {
            Some(joined) => joined,
            None => {
                let Some(storage) = t.storage() else { bail!(Shape, "the tensor has no storage") };
                let view = Tensor::with_layout(storage, operand.dtype, &moved)?;
                operand = Operand::of(&copy::contiguous_copy(&view)?)?;
                join(&operand.layout, kept).unwrap_or(moved)
            }
        };
        Ok(Source { operand, storage: t.storage(), shape: layout.shape, dims: dims.into() })
    }

    /// The shape of a result.
    fn result_shape(&self, form: Form) -> Dims {
        let reduced = |keepdim: bool| -> Dims {
            let all = self.shape.iter().enumerate();
            all.filter(|(d, _)| keepdim || !self.dims.contains(d)).map(|(d, &n)| if self.dims.contains(&d) { 1 } else { n }).collect()
        };
        match form {
            Form::Same => self.shape.clone(),
            Form::Resized { n } => self.shape.iter().enumerate().map(|(d, &have)| if self.dims.contains(&d) { n } else { have }).collect(),
            Form::One { keepdim } => reduced(keepdim),
            Form::Leading { n, keepdim } => {
                let mut shape = reduced(keepdim);
                shape.insert(0, n);
                shape
            }
        }
    }

    /// The layout of a result with the elements of a line in the last dim.
    fn result_layout(&self, form: Form, layout: &Layout) -> Layout {
        let mut dims: SmallVec<[(i64, i64); INLINE_DIMS]> = layout.shape.iter().copied().zip(layout.strides.iter().copied()).collect();
        let last = match form {
            Form::Same | Form::Resized { .. } if self.dims.is_empty() => (1, 1),
            Form::Same | Form::Resized { .. } => dims.remove(self.dims[0]),
            Form::One { .. } => (1, 1),
            Form::Leading { .. } => dims.remove(0),
        };
        if matches!(form, Form::One { .. } | Form::Leading { .. }) && dims.len() == self.shape.len() {
            let mut d = 0;
            dims.retain(|_| {
                d += 1;
                !self.dims.contains(&(d - 1))
            });
        }
        dims.push(last);
        Layout { shape: dims.iter().map(|d| d.0).collect(), strides: dims.iter().map(|d| d.1).collect(), offset: layout.offset }
    }

    /// Runs `kernels` over the lines, read as `compute`, into one or two results. Nothing changes before all is done.
    pub fn run(&self, compute: Dtype, form: Form, wants: [Want<'_>; 2], kernels: Kernels<'_>) -> Result<()> {
        let shape = self.result_shape(form);
        let placed = self.place(form, wants, &shape)?;
        let one = Layout { shape: shape.clone(), strides: Dims::filled(0, shape.len()), offset: 0 };
        let layouts = [0, 1].map(|k| self.result_layout(form, placed[k].as_ref().map_or(&one, |p| &p.written.layout)));
        let ends = [0, 1].map(|k| {
            let (data, dtype) = placed[k].as_ref().map_or((null_mut(), compute), |p| (p.written.first(), p.written.dtype));
            wants[k].compute.map(|compute| End { layout: &layouts[k], data, dtype, compute })
        });
        let input = End { layout: &self.operand.layout, data: self.operand.first(), dtype: self.operand.dtype, compute };
        let mut lines = Lines::new(input, ends, self.operand.layout.ndim() - 1, kernels.grain);
        (lines.clobbers_input, lines.scratch, lines.max_transposed) = (kernels.clobbers_input, kernels.scratch, kernels.max_transposed);
        (lines.max_lines, lines.area, lines.batch) = (kernels.max_lines, kernels.area, kernels.batch);
        // SAFETY: every layout was checked against its storage; `place` keeps results off the input and each other.
        unsafe { lines.run(kernels.kernel, kernels.columns) }?;
        result::commit(placed)
    }

    /// Where the kernel writes: the results themselves, or new memory for those that have no room, or lie on the input or on each other.
    fn place<'r>(&self, form: Form, wants: [Want<'r>; 2], shape: &[i64]) -> Result<[Option<Placed<'r>>; 2]> {
        if let [Some(a), Some(b)] = wants.map(|want| want.r)
            && a.is(b)
        {
            bail!(Argument, "two results need a tensor each")
        }
        let target = |k: usize| wants[k].r.map(|r| Target::check(r, wants[k].dtype, shape)).transpose();
        let [first, second] = [target(0)?, target(1)?];
        let kept =
            |target: &Option<Target<'r, '_>>, on: &dyn Fn(&Operand) -> bool| target.as_ref().and_then(|t| t.kept.as_ref()).is_some_and(on);
        let on_input = |to: &Operand| to.overlaps(&self.operand) && !self.in_step(form, to);
        let disjoint = [kept(&first, &on_input), kept(&second, &|to| on_input(to) || kept(&first, &|other| to.overlaps(other)))];
        let place = |target: Option<Target<'r, '_>>, k: usize| {
            let taken = |own: &Storage| on_storage(&self.storage, own) || on_storage(&wants[1 - k].r.and_then(Tensor::storage), own);
            target.map(|target| target.place_as(wants[k].compute.unwrap_or(wants[k].dtype), disjoint[k], &taken)).transpose()
        };
        result::together([place(first, 0)?, place(second, 1)?])
    }

    /// Returns true if each element of a result lies where the element of the input is that it comes from.
    fn in_step(&self, form: Form, to: &Operand) -> bool {
        form == Form::Same
            && to.first() == self.operand.first()
            && to.dtype.size() == self.operand.dtype.size()
            && self.result_layout(form, &to.layout).strides == self.operand.layout.strides
    }
}

fn on_storage(storage: &Option<Storage>, own: &Storage) -> bool {
    storage.as_ref().is_some_and(|storage| storage.overlaps(own))
}

/// The layout with the dims from `kept` on joined into one; `None` where their elements are no single stride apart.
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
