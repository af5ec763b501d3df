//! The way of a reduction: what it goes over is checked, results are readied, the fold runs, and only then is anything of the caller's changed.

use crate::cpu::fold::{Accs, Fold, FoldTile};
use crate::cpu::reduce::{Reduction, split};
use crate::cpu::tuning::FOLDED_PIECE;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::layout::{Dims, INLINE_DIMS, Layout, wrap_dim};
use crate::ops::copy::{read_element, write_element};
use crate::ops::operand::Operand;
use crate::ops::result::{Target, commit, together};
use crate::storage::Storage;
use crate::tensor::Tensor;
use smallvec::SmallVec;
use std::cell::Cell;

/// Stands for every dimension: the result is 0-d, or all ones with `keepdim`.
pub const TH_ALL_DIMS: i32 = i32::MIN;

/// The dims a reduction goes over.
#[derive(Clone, Copy)]
pub enum Over<'a> {
    /// One, or all by [`TH_ALL_DIMS`].
    Dim(i32),
    /// These, or all if there are none.
    Dims(&'a [i64]),
}

/// Where results go.
#[derive(Clone, Copy)]
pub enum To<'a> {
    /// Into up to two tensors, whose folded dims stay with size 1 if the flag says so.
    Tensors([Option<&'a Tensor>; 2], bool),
    /// The first one, as it is before it is rounded to the dtype of a tensor.
    Number(&'a Cell<f64>),
}

impl<'a> To<'a> {
    /// Into one tensor.
    pub fn tensor(r: &'a Tensor, keepdim: bool) -> To<'a> {
        To::Tensors([Some(r), None], keepdim)
    }
}

/// The number a reduction comes to.
pub fn number(reduce: impl FnOnce(To<'_>) -> Result<()>) -> Result<f64> {
    let number = Cell::new(f64::NAN);
    reduce(To::Number(&number))?;
    Ok(number.get())
}

/// The types of a reduction.
#[derive(Clone, Copy)]
pub struct Rule {
    /// What elements are converted to; most folds read its compute type.
    pub compute: Dtype,
    /// What the fold writes.
    pub written: [Dtype; 2],
    /// What fresh results become.
    pub result: [Dtype; 2],
    /// Whether a result is one of the elements, so that there must be some.
    pub chooses: bool,
}

impl Rule {
    /// Results of one type each.
    pub fn one(compute: Dtype, written: Dtype, result: Dtype) -> Rule {
        Rule { compute, written: [written; 2], result: [result; 2], chooses: false }
    }

    /// Whether what the fold writes for result `k` may become elements of `dtype` directly, not by way of those of a fresh result.
    fn is_final(&self, k: usize, dtype: Dtype) -> bool {
        self.result[k] == dtype || (self.result[k] == self.written[k] && self.result[k].can_cast(dtype))
    }
}

/// Folds `t` over some dims into its results.
#[inline(never)]
pub fn run(fold: &dyn Fold, rule: Rule, to: To<'_>, t: &Tensor, over: Over<'_>) -> Result<()> {
    match at_once(fold, &rule, to, t, over).or_else(|| in_place(fold, &rule, to, t, over)) {
        Some(()) => Ok(()),
        None => planned(fold, rule, to, t, over),
    }
}

/// The fast path: all of a few contiguous elements into results that stand ready.
fn at_once(fold: &dyn Fold, rule: &Rule, to: To<'_>, t: &Tensor, over: Over<'_>) -> Option<()> {
    let all = match over {
        Over::Dim(dim) => dim == TH_ALL_DIMS || (t.ndim() == 1 && (dim == 0 || dim == -1)),
        Over::Dims(dims) => dims.is_empty(),
    };
    if !all {
        return None;
    }
    let (x, n) = t.flat_like(fold.reads(rule.compute), t).filter(|&(_, n)| n as usize <= FOLDED_PIECE)?;
    let mut out = [None; 2];
    if let To::Tensors(results, keepdim) = to {
        for k in 0..2 {
            let Some(r) = results[k] else { continue };
            let dtype = r.dtype().filter(|&have| rule.is_final(k, have))?;
            if !r.is_scalar() || (keepdim && t.ndim() > 0) {
                return None;
            }
            out[k] = Some((r.flat_like(dtype, r)?.0, dtype));
        }
        if results[0].zip(results[1]).is_some_and(|(a, b)| a.is(b)) {
            return None;
        }
    }
    let (mut room, mut found) = ([0u64; 3], [0u64; 2]);
    let accs = Accs { data: room.as_mut_ptr().cast(), room: 1 };
    let [first, second] = &mut found;
    let found = [(&raw mut *first).cast::<u8>(), (&raw mut *second).cast::<u8>()];
    let tile = FoldTile { x, rows: 1, cols: n as usize, step: 0, done: 0, index: 0, weight: 1 };
    // SAFETY: `flat_like` found `n` elements inside the storage and one in each result; folds have at most three planes and two results.
    unsafe {
        fold.start(accs, 1);
        fold.rows(accs, &tile);
        fold.finish(accs, 1, n as usize, found);
        if let To::Number(number) = to {
            number.set(read_element(found[0], rule.written[0]).to_f64());
        }
        for k in 0..2 {
            if let Some((at, dtype)) = out[k] {
                write_element(at, dtype, read_element(found[k], rule.written[k]));
            }
        }
    }
    Some(())
}

/// The way into contiguous results that have their shape already, apart from the input: nothing is made for them.
fn in_place(fold: &dyn Fold, rule: &Rule, to: To<'_>, t: &Tensor, over: Over<'_>) -> Option<()> {
    let To::Tensors(results, keepdim) = to else { return None };
    let (dtype, data, room) = t.room()?;
    let layout = t.layout().ok()?;
    let reach = usize::try_from(layout.end()? - layout.offset).ok().filter(|&n| n > 0 && n <= room && layout.ndim() > 0)?;
    let folds = folded_dims(over, layout.ndim()).ok()?;
    let mut spans = [(data.addr(), reach * dtype.size()), (0, 0), (0, 0)];
    let (mut out, mut strides) = ([None; 2], [Dims::new(), Dims::new()]);
    for k in 0..2 {
        let Some(r) = results[k] else { continue };
        let have = r.dtype().filter(|&have| rule.is_final(k, have))?;
        let (first, n) = r.flat_like(have, r)?;
        strides[k] = kept_strides(&layout.shape, &folds, r, keepdim)?;
        spans[k + 1] = (first.addr(), n as usize * have.size());
        out[k] = Some((first, have));
    }
    let apart = |(a, n): (usize, usize), (b, m): (usize, usize)| a.wrapping_sub(b) >= m && b.wrapping_sub(a) >= n;
    if !(apart(spans[0], spans[1]) && apart(spans[0], spans[2]) && apart(spans[1], spans[2])) {
        return None;
    }
    let of = |k: usize| out[k].map(|(_, have): (*mut u8, Dtype)| (strides[k].as_slice(), have.size()));
    let (kept, folded) = split(&layout, dtype.size(), &folds, fold.indexed(), [of(0), of(1)]);
    let into = |k: usize| out[k].map(|(first, have)| (first, have, rule.written[k]));
    let out = [into(0), into(1)];
    // SAFETY: all positions lie inside their storages, the results contiguous and apart.
    unsafe { Reduction { fold, data, dtype, compute: fold.reads(rule.compute), kept, folded, out }.run() }
    Some(())
}

/// The strides of a contiguous result along the dims of the input, 0 along the folded ones; `None` unless it has the shape it should have.
fn kept_strides(shape: &[i64], folds: &[bool], r: &Tensor, keepdim: bool) -> Option<Dims> {
    let (mut sizes, mut scale) = (r.peek().0.iter().rev(), 1);
    let mut strides = Dims::filled(0, shape.len());
    for d in (0..shape.len()).rev() {
        match folds[d] {
            false if *sizes.next()? == shape[d] => strides[d] = scale,
            true if !keepdim || *sizes.next()? == 1 => continue,
            _ => return None,
        }
        scale *= shape[d];
    }
    sizes.next().is_none().then_some(strides)
}

#[inline(never)]
fn planned(fold: &dyn Fold, rule: Rule, to: To<'_>, t: &Tensor, over: Over<'_>) -> Result<()> {
    let input = Operand::of(t)?;
    let shapes = Shapes::new(input, t.storage(), over, matches!(to, To::Tensors(_, true)))?;
    if rule.chooses && shapes.folded_is_empty() {
        bail!(Argument, "no elements to choose from in shape {:?}", shapes.input.layout.shape.as_slice())
    }
    match to {
        To::Tensors(results, _) => shapes.into_tensors(fold, &rule, results),
        To::Number(number) => {
            let mut found = 0u64;
            let at = (&raw mut found).cast::<u8>();
            let layout = Layout { strides: Dims::filled(0, shapes.kept.len()), shape: shapes.kept.clone(), offset: 0 };
            // SAFETY: every layout was checked against its storage; `found` has room for the one result.
            unsafe {
                shapes.run(fold, &rule, [Some((at, rule.written[0], &layout)), None]);
                number.set(read_element(at, rule.written[0]).to_f64());
            }
            Ok(())
        }
    }
}

/// A reduction's input and the shapes of its result.
struct Shapes {
    input: Operand,
    storage: Option<Storage>,
    /// Whether a dim is folded.
    folds: SmallVec<[bool; INLINE_DIMS]>,
    /// With the folded dims at size 1.
    kept: Dims,
    /// As the caller wants it.
    wanted: Dims,
}

impl Shapes {
    fn new(input: Operand, storage: Option<Storage>, over: Over<'_>, keepdim: bool) -> Result<Shapes> {
        let ndim = input.layout.ndim();
        let folds = folded_dims(over, ndim)?;
        let mut kept = input.layout.shape.clone();
        (0..ndim).filter(|&d| folds[d]).for_each(|d| kept[d] = 1);
        let wanted = if keepdim { kept.clone() } else { (0..ndim).filter(|&d| !folds[d]).map(|d| kept[d]).collect() };
        Ok(Shapes { input, storage, folds, kept, wanted })
    }

    /// Whether no element goes into a result, be there results or not.
    fn folded_is_empty(&self) -> bool {
        self.input.layout.shape.iter().zip(&self.folds).any(|(&n, &folded)| folded && n == 0)
    }

    fn into_tensors<'a>(self, fold: &dyn Fold, rule: &Rule, results: [Option<&'a Tensor>; 2]) -> Result<()> {
        if results[0].zip(results[1]).is_some_and(|(a, b)| a.is(b)) {
            bail!(Argument, "the results need a tensor each")
        }
        let target = |k: usize| results[k].map(|r| Target::check(r, rule.result[k], &self.wanted)).transpose();
        let [first, second] = [target(0)?, target(1)?];
        let span = |target: &Option<Target<'_, '_>>| target.as_ref().and_then(|t| t.kept.as_ref()).map(Operand::span);
        let on = |span: Option<(usize, usize)>, other: Option<(usize, usize)>| span.zip(other).is_some_and(|(a, b)| overlap(a, b));
        let (input, [a, b]) = (Some(self.input.span()), [span(&first), span(&second)]);
        let place = |k: usize, target: Option<Target<'a, '_>>, apart: bool| {
            let meets = |storage: &Option<Storage>, own: &Storage| storage.as_ref().is_some_and(|storage| storage.overlaps(own));
            let taken = |own: &Storage| meets(&self.storage, own) || meets(&results[1 - k].and_then(Tensor::storage), own);
            target.map(|target| target.place_as(rule.written[k], apart, &taken)).transpose()
        };
        let placed = together([place(0, first, on(a, input))?, place(1, second, on(b, input) || on(b, a))?])?;
        let layouts = [0, 1].map(|k| placed[k].as_ref().map(|p| self.kept_layout(&p.written.layout)));
        let out = [0, 1].map(|k| {
            let (placed, layout) = (placed[k].as_ref()?, layouts[k].as_ref()?);
            Some((placed.written.first(), placed.written.dtype, layout))
        });
        // SAFETY: every layout was checked against its storage; results are placed off the input and off each other.
        unsafe { self.run(fold, rule, out) };
        commit(placed)
    }

    /// The layout of a result with the folded dims back at size 1.
    fn kept_layout(&self, layout: &Layout) -> Layout {
        let mut rest = layout.strides.iter().copied();
        let keepdim = layout.ndim() == self.kept.len();
        let strides = (0..self.kept.len()).map(|d| if keepdim || !self.folds[d] { rest.next().unwrap_or(0) } else { 0 }).collect();
        Layout { shape: self.kept.clone(), strides, offset: layout.offset }
    }

    /// Runs `fold` into results given as address, dtype and layout.
    ///
    /// # Safety
    /// The results lie inside their memory, off the input and off each other.
    unsafe fn run(&self, fold: &dyn Fold, rule: &Rule, out: [Option<(*mut u8, Dtype, &Layout)>; 2]) {
        let layouts = out.map(|o| o.map(|(_, dtype, layout)| (layout.strides.as_slice(), dtype.size())));
        let (kept, folded) = split(&self.input.layout, self.input.dtype.size(), &self.folds, fold.indexed(), layouts);
        let out = [0, 1].map(|k| out[k].map(|(data, dtype, _)| (data, dtype, rule.written[k])));
        let (dtype, data) = (self.input.dtype, self.input.first());
        // SAFETY: `Operand::of` checked the input against its storage; the rest is the caller's.
        unsafe { Reduction { fold, data, dtype, compute: fold.reads(rule.compute), kept, folded, out }.run() }
    }
}

/// Which of `ndim` dims are folded.
fn folded_dims(over: Over<'_>, ndim: usize) -> Result<SmallVec<[bool; INLINE_DIMS]>> {
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

fn overlap((a, b): (usize, usize), (c, d): (usize, usize)) -> bool {
    a < d && c < b
}
