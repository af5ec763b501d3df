//! Results of operations, from the check of the caller's handle to the moment when the handle changes.
//!
//! [`ready`] refuses a handle that cannot become the result, derives from the inputs where the result may be written, and allocates all
//! memory. The operation writes to this memory, and the caller's handle changes afterwards: a call that fails has changed nothing.
//! [`ready_all`] does the same for several results. [`deliver`] stores tensors that an operation made because it did not know their shapes
//! before.

use super::copy::copy_elements;
use super::device::check_result;
use crate::backend;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::Launchable;
use crate::layout::{Layout, checked_numel};
use crate::operand::Operand;
use crate::storage::Storage;
use crate::tensor::{DimsMemory, Tensor};
use smallvec::SmallVec;

/// A handle that passed the checks and may become the result of an operation.
struct Target<'a, 's> {
    r: &'a Tensor,
    /// The dtype of the handle, or the operation's dtype if the handle has none.
    dtype: Dtype,
    /// The operation's dtype.
    of: Dtype,
    shape: &'s [i64],
    /// The memory of `r` if `r` already has the shape of the result.
    kept: Option<Operand>,
}

impl<'a, 's> Target<'a, 's> {
    /// Fails if a result of `dtype` and `shape` cannot be stored in `r`.
    fn check(r: &'a Tensor, dtype: Dtype, shape: &'s [i64]) -> Result<Target<'a, 's>> {
        check_result(r)?;
        let Some(have) = r.dtype() else { return checked_numel(shape).map(|_| Target { r, dtype, of: dtype, shape, kept: None }) };
        if !dtype.can_cast(have) {
            bail!(Dtype, "a result of {dtype} cannot be stored in a tensor of {have}")
        }
        if r.peek().0 != shape || !r.has_sizes() {
            r.layout()?;
            return checked_numel(shape).map(|_| Target { r, dtype: have, of: dtype, shape, kept: None });
        }
        let kept = Operand::of(r)?;
        if kept.layout().overlaps_itself() {
            let strides = kept.layout().strides.as_slice();
            bail!(Shape, "several positions of the result share one element (strides {strides:?}); clone it first")
        }
        Ok(Target { r, dtype: have, of: dtype, shape, kept: Some(kept) })
    }

    /// [`Target::place`] for elements that the operation writes in dtype `written`, which may have more digits than the operation's dtype.
    /// If `r` has a third dtype, the elements are written in the operation's dtype and then converted: `r` gets the values of a fresh
    /// result.
    fn place_as(self, written: Dtype, disjoint: bool, taken: &dyn Fn(&Storage) -> bool) -> Result<Placed<'a>> {
        let (of, rounds) = (self.of, self.dtype != self.of && self.of != written);
        let placed = self.place(disjoint && !rounds, taken)?;
        if !rounds {
            return Ok(placed);
        }
        placed.converted_from(of)
    }

    /// [`Target::place`] for elements that are written as `writes` says. A result that is converted after all elements are written may
    /// share memory with inputs, but not with `others`.
    fn ready(self, writes: Writes, disjoint: bool, inputs: &Inputs<'_>, others: &dyn Fn(&Storage) -> bool) -> Result<Placed<'a>> {
        let (of, taken) = (self.of, |own: &Storage| inputs.lie_in(own) || others(own));
        match writes.dtype {
            Some(written) if writes.converts => self.place_as(written, disjoint, &taken),
            Some(written) if written != self.dtype || written != of => {
                let mut placed = self.place(false, others)?;
                // Written elements are converted to the operation's dtype, and these to the dtype of `r`.
                for step in [of, written] {
                    if placed.written.dtype != step {
                        placed = placed.converted_from(step)?;
                    }
                }
                Ok(placed)
            }
            _ => self.place(disjoint, &taken),
        }
    }

    /// Allocates the memory for the result. A result that keeps its shape is written in place, unless the elements must stay `disjoint`
    /// from it until the operation is done. Any other result is written to the storage of `r`, unless that storage is `taken`.
    fn place(self, disjoint: bool, taken: &dyn Fn(&Storage) -> bool) -> Result<Placed<'a>> {
        let Target { r, dtype, shape, kept, .. } = self;
        if let Some(kept) = kept {
            return match disjoint {
                false => Ok(Placed { r, written: kept, commit: Commit::Nothing }),
                true => Ok(Placed { r, written: made(dtype, shape)?, commit: Commit::Copied(Box::new(kept)) }),
            };
        }
        let dims = r.dims_memory(shape.len())?;
        let own = if r.dtype().is_some() { r.storage() } else { None };
        let Some(own) = own.filter(|own| own.dtype().size() == dtype.size() && !taken(own)) else {
            return Ok(Placed { r, written: made(dtype, shape)?, commit: Commit::Adopted(dims) });
        };
        let layout = Layout { offset: r.offset().max(0), ..Layout::contiguous(shape) };
        let Some(end) = layout.end() else { bail!(Shape, "shape {shape:?} at offset {} overflows", layout.offset) };
        if end <= own.len() {
            return Ok(Placed { r, written: Operand::inside(own, dtype, layout), commit: Commit::Adopted(dims) });
        }
        own.check_growth(end)?;
        let Some(larger) = own.larger(end)? else {
            return Ok(Placed { r, written: made(dtype, shape)?, commit: Commit::Grown { dims, layout: Box::new(layout), storage: own } });
        };
        // Elements before the result keep their values.
        let before = layout.offset.min(own.len()) as usize * dtype.size();
        if before > 0 {
            // SAFETY: both storages hold `before` bytes, and no other handle refers to the new one.
            unsafe { own.data().copy_to_nonoverlapping(larger.data(), before) };
        }
        Ok(Placed { r, written: Operand::inside(larger, dtype, layout), commit: Commit::Exchanged { dims, storage: own } })
    }
}

/// Separate memory for a row-major result.
fn made(dtype: Dtype, shape: &[i64]) -> Result<Operand> {
    let storage = Storage::with_size(dtype, checked_numel(shape)?)?;
    Ok(Operand::inside(storage, dtype, Layout::contiguous(shape)))
}

/// The operands that an operation reads while it writes the result.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// Operands read at the index that is written: each element is read once, before the element of the result at the same index is
    /// written.
    in_step: &'a [Operand],
    /// Operands whose elements are read in any order.
    anywhere: &'a [Operand],
}

impl<'a> Inputs<'a> {
    /// No operands.
    pub(crate) const NONE: Inputs<'static> = Inputs { in_step: &[], anywhere: &[] };

    /// Operands that are read element by element with the result.
    pub fn in_step(operands: &'a [Operand]) -> Inputs<'a> {
        Inputs { in_step: operands, anywhere: &[] }
    }

    /// Operands that are read in any order.
    pub fn anywhere(operands: &'a [Operand]) -> Inputs<'a> {
        Inputs { in_step: &[], anywhere: operands }
    }

    /// Adds operands that are read in any order.
    pub fn and_anywhere(self, operands: &'a [Operand]) -> Inputs<'a> {
        Inputs { anywhere: operands, ..self }
    }

    /// Returns true if writing `to` would change elements that the operation reads later.
    fn overwritten_by(&self, to: &Operand) -> bool {
        let (start, end) = to.span();
        let by_steps = self.in_step.iter().any(|input| input.reaches_into(start, end) && !to.in_step_with(input));
        by_steps || self.anywhere.iter().any(|input| input.reaches_into(start, end))
    }

    /// Returns true if an input shares memory with `storage`.
    fn lie_in(&self, storage: &Storage) -> bool {
        self.in_step.iter().chain(self.anywhere).any(|input| input.lies_in(storage))
    }
}

/// The elements that an operation writes.
#[derive(Clone, Copy)]
pub struct Writes {
    /// The dtype of the written elements; `None` means the dtype of the result.
    dtype: Option<Dtype>,
    /// True if the operation itself converts the elements to the dtype of the result.
    converts: bool,
    /// True if the elements are written in row-major order, false if they are written in the layout of the result.
    row_major: bool,
}

impl Writes {
    /// Returns true if the elements of a result that keeps its place must be written to separate memory first.
    fn must_move(&self, to: &Operand, inputs: &Inputs<'_>) -> bool {
        (self.row_major && !to.layout().is_contiguous()) || inputs.overwritten_by(to)
    }

    /// Elements in the dtype and the layout of the result.
    pub(crate) const STRIDED: Writes = Writes { dtype: None, converts: false, row_major: false };
    /// Elements in the dtype of the result, in row-major order.
    pub(crate) const ROW_MAJOR: Writes = Writes { row_major: true, ..Writes::STRIDED };

    /// Elements of this dtype. They are converted once all are written.
    pub fn of(self, dtype: Dtype) -> Writes {
        Writes { dtype: Some(dtype), ..self }
    }

    /// Elements in the layout of the result, computed in this dtype and converted by the operation.
    pub fn converted_from(dtype: Dtype) -> Writes {
        Writes { dtype: Some(dtype), converts: true, ..Writes::STRIDED }
    }
}

/// A result that the caller asks for.
#[derive(Clone, Copy)]
pub struct Wanted<'a, 's> {
    /// The handle.
    pub r: &'a Tensor,
    /// The dtype of a fresh result.
    pub dtype: Dtype,
    /// The shape.
    pub shape: &'s [i64],
    /// The way in which the operation writes the elements.
    pub writes: Writes,
}

/// Results that can be written without failing, because all memory is allocated.
pub struct Ready<'a, const N: usize>([Option<Placed<'a>>; N]);

/// Prepares `r` for elements of `dtype` and `shape` that are computed from `inputs`. The result is written in place if it keeps its shape
/// and no input is overwritten before it is read.
pub fn ready<'a>(r: &'a Tensor, (dtype, shape): (Dtype, &[i64]), writes: Writes, inputs: Inputs<'_>) -> Result<Ready<'a, 1>> {
    let target = Target::check(r, dtype, shape)?;
    let disjoint = target.kept.as_ref().is_some_and(|to| writes.must_move(to, &inputs));
    target.ready(writes, disjoint, &inputs, &|_| false).map(|placed| Ready([Some(placed)]))
}

/// [`ready`] for several results. No two of them are written to the same memory.
pub fn ready_all<'a, const N: usize>(wanted: [Option<Wanted<'a, '_>>; N], inputs: Inputs<'_>) -> Result<Ready<'a, N>> {
    let handle = |k: usize| wanted[k].map(|w| w.r);
    if (1..N).any(|k| (0..k).any(|j| handle(k).zip(handle(j)).is_some_and(|(r, other)| r.is(other)))) {
        return two_in_one();
    }
    let mut targets = [const { None }; N];
    for (target, wanted) in targets.iter_mut().zip(&wanted) {
        *target = wanted.map(|w| Target::check(w.r, w.dtype, w.shape)).transpose()?;
    }
    let kept = |k: usize| targets[k].as_ref().and_then(|target| target.kept.as_ref());
    let mut disjoint = [false; N];
    for (k, wanted) in wanted.iter().enumerate() {
        let (Some(to), Some(Wanted { writes, .. })) = (kept(k), wanted) else { continue };
        disjoint[k] = (0..k).filter_map(kept).any(|other| to.overlaps(other)) || writes.must_move(to, &inputs);
    }
    let mut ready = Ready([const { None }; N]);
    for (k, target) in targets.into_iter().enumerate() {
        let of_another = |own: &Storage| (0..N).any(|j| j != k && handle(j).and_then(Tensor::storage).is_some_and(|s| s.overlaps(own)));
        if let (Some(target), Some(wanted)) = (target, wanted[k]) {
            ready.0[k] = Some(target.ready(wanted.writes, disjoint[k], &inputs, &of_another)?);
        }
    }
    defer_unless_grown(&mut ready.0)?;
    Ok(ready)
}

impl<'a, const N: usize> Ready<'a, N> {
    /// The memory of each result that the operation writes.
    #[inline(always)]
    pub fn operands(&self) -> [Option<&Operand>; N] {
        self.0.each_ref().map(|placed| placed.as_ref().map(|placed| &placed.written))
    }

    /// Has a device compute the results from `inputs`.
    #[inline(always)]
    pub fn launch(mut self, work: &impl Launchable, inputs: &[&Operand]) -> Result<()> {
        launch_on(work, self.operands(), inputs)?;
        commit(&mut self.0)
    }

    /// [`Ready::launch`] that writes each result in the layout that `layout` returns for the result's layout.
    #[inline(always)]
    pub fn launch_in(mut self, layout: impl Fn(&Layout) -> Layout, work: &impl Launchable, inputs: &[&Operand]) -> Result<()> {
        let views = self.operands().map(|out| out.map(|out| out.view(layout(out.layout()))));
        launch_on(work, views.each_ref().map(Option::as_deref), inputs)?;
        commit(&mut self.0)
    }
}

/// Runs the work on the device that holds the operands.
#[inline(always)]
fn launch_on<const N: usize>(work: &impl Launchable, out: [Option<&Operand>; N], inputs: &[&Operand]) -> Result<()> {
    backend::of_all(&out, inputs)?.launch(work, &out, inputs)
}

impl Ready<'_, 1> {
    /// The memory that the operation writes.
    #[inline(always)]
    pub fn operand(&self) -> &Operand {
        match &self.0 {
            [Some(placed)] => &placed.written,
            _ => unreachable!("one result was asked for"),
        }
    }

    /// The layout of the elements that are written.
    pub fn layout(&self) -> &Layout {
        self.operand().layout()
    }

    /// The dtype of the elements that are written.
    pub fn dtype(&self) -> Dtype {
        self.operand().dtype
    }

    /// Calls `write`, which writes all elements, and stores them in the result. If `write` fails, it has written nothing.
    pub fn write(mut self, write: impl FnOnce(&Operand) -> Result<()>) -> Result<()> {
        write(self.operand())?;
        commit(&mut self.0)
    }

    /// [`Ready::write`] for a function that writes to a tensor.
    pub fn write_tensor(mut self, write: impl FnOnce(&Tensor) -> Result<()>) -> Result<()> {
        match &self.0 {
            [Some(Placed { r, commit: Commit::Nothing, .. })] => write(r),
            _ => write(&self.operand().tensor()?),
        }?;
        commit(&mut self.0)
    }
}

/// A result whose memory is allocated.
struct Placed<'a> {
    r: &'a Tensor,
    /// The memory that the operation writes.
    written: Operand,
    commit: Commit<'a>,
}

/// The step that stores the written elements in the result. Large variants are boxed, because values of this type are moved often.
enum Commit<'a> {
    /// The elements were written to the result.
    Nothing,
    /// The elements are copied to this operand, which is the result.
    Copied(Box<Operand>),
    /// The elements are converted into this place, which is committed next.
    Converted(Box<Placed<'a>>),
    /// The result gets the new geometry and the new storage.
    Adopted(DimsMemory),
    /// The result gets the new geometry, and its storage exchanges memory with the new storage.
    Exchanged { dims: DimsMemory, storage: Storage },
    /// The result's storage is grown by its allocator, and the elements are copied into it.
    Grown { dims: DimsMemory, layout: Box<Layout>, storage: Storage },
}

impl Placed<'_> {
    /// Returns true if an allocator of the caller, which may refuse, must grow the storage.
    fn grows(&self) -> bool {
        match &self.commit {
            Commit::Grown { .. } => true,
            Commit::Converted(placed) => placed.grows(),
            _ => false,
        }
    }

    /// Separate memory of another dtype, which is converted into this place when all elements are written.
    fn converted_from(self, dtype: Dtype) -> Result<Self> {
        let written = made(dtype, &self.written.layout().shape)?;
        Ok(Placed { r: self.r, written, commit: Commit::Converted(Box::new(self)) })
    }

    /// Grows a storage that only its own allocator can grow. Returns the previous length.
    fn grow(&self) -> Result<Option<i64>> {
        match &self.commit {
            Commit::Converted(placed) => placed.grow(),
            Commit::Grown { layout, storage, .. } => {
                let before = storage.len();
                storage.resize(layout.end().unwrap_or(before)).map(|()| Some(before))
            }
            _ => Ok(None),
        }
    }

    fn shrink(&self, before: Option<i64>) {
        match (&self.commit, before) {
            (Commit::Converted(placed), _) => placed.shrink(before),
            // A storage that cannot shrink stays longer than before. No element is lost.
            (Commit::Grown { storage, .. }, Some(len)) => _ = storage.resize(len),
            _ => {}
        }
    }

    fn finish(&mut self) -> Result<()> {
        let Placed { r, written, commit } = self;
        match std::mem::replace(commit, Commit::Nothing) {
            Commit::Nothing => {}
            Commit::Copied(to) => copy_elements(&to, written)?,
            Commit::Converted(mut placed) => {
                copy_elements(&placed.written, written)?;
                placed.finish()?;
            }
            Commit::Adopted(dims) => {
                if let Some(storage) = written.storage.take() {
                    r.point_at(dims, storage, written.dtype, written.layout());
                }
            }
            Commit::Exchanged { dims, storage } => {
                written.storage.iter().for_each(|made| storage.exchange_memory(made));
                r.point_at(dims, storage, written.dtype, written.layout());
            }
            Commit::Grown { dims, layout, storage } => {
                r.point_at(dims, storage.clone(), written.dtype, &layout);
                copy_elements(&Operand::inside(storage, written.dtype, *layout), written)?;
            }
        }
        Ok(())
    }
}

/// If a result's storage must be grown by its allocator at the end, the allocator may refuse. Therefore results that would be written to
/// their own storages are written to separate memory first. Results that adopt new memory need no change, because their handles are
/// untouched until then.
fn defer_unless_grown(placed: &mut [Option<Placed<'_>>]) -> Result<()> {
    let touched = |placed: &Placed<'_>| !placed.grows() && placed.r.storage().is_some_and(|own| placed.written.lies_in(&own));
    if placed.iter().flatten().any(Placed::grows) {
        for place in placed.iter_mut().filter(|place| place.as_ref().is_some_and(touched)) {
            if let Some(p) = place.take() {
                let dtype = p.written.dtype;
                *place = Some(p.converted_from(dtype)?);
            }
        }
    }
    Ok(())
}

/// A handle, the dtype of a fresh result, and the tensor whose elements become the result.
pub type Made<'a> = (&'a Tensor, Dtype, &'a Tensor);

/// Stores finished tensors in the handles of the caller. If the call fails, all handles are unchanged. A fresh handle adopts the memory of
/// its tensor if dtype and layout allow this.
pub fn deliver<const N: usize>(results: [Option<Made<'_>>; N]) -> Result<()> {
    let (mut placed, made) = places(results)?;
    defer_unless_grown(&mut placed)?;
    for (placed, made) in placed.iter().zip(&made) {
        if let (Some(placed), Some(made)) = (placed, made) {
            copy_elements(&placed.written, made)?;
        }
    }
    commit(&mut placed)
}

fn two_in_one<T>() -> Result<T> {
    bail!(Argument, "two results need a tensor each")
}

/// The places of the results, and the tensors that are copied there.
type Places<'a, const N: usize> = ([Option<Placed<'a>>; N], [Option<Operand>; N]);

/// Allocates memory for results. No result is written to the storage of another result.
fn places<const N: usize>(results: [Option<Made<'_>>; N]) -> Result<Places<'_, N>> {
    let handle = |k: usize| results[k].map(|(r, ..)| r);
    let same = |k: usize, j: usize| handle(k).is_some_and(|r| handle(j).is_some_and(|other| r.is(other)));
    if (1..N).any(|k| (0..k).any(|j| same(k, j))) {
        return two_in_one();
    }
    let mut made: [Option<Operand>; N] = [const { None }; N];
    let mut placed: [Option<Placed<'_>>; N] = [const { None }; N];
    for (k, (r, dtype, from)) in results.into_iter().enumerate().filter_map(|(k, result)| Some((k, result?))) {
        let from = Operand::of(from)?;
        let shape = from.layout().shape.clone();
        let target = Target::check(r, dtype, &shape)?;
        if r.dtype().is_none() && from.dtype == dtype && from.layout().is_contiguous() {
            placed[k] = Some(Placed { r, written: from, commit: Commit::Adopted(r.dims_memory(shape.len())?) });
            continue;
        }
        let of_another = |own: &Storage| (0..N).any(|j| j != k && handle(j).and_then(Tensor::storage).is_some_and(|s| s.overlaps(own)));
        placed[k] = Some(target.place_as(from.dtype, false, &of_another)?);
        made[k] = Some(from);
    }
    Ok((placed, made))
}

/// Stores the written elements in the results: in all of them, or in none if an allocator of the caller refuses to grow a storage.
#[inline(always)]
fn commit(results: &mut [Option<Placed<'_>>]) -> Result<()> {
    if results.iter().flatten().all(|placed| matches!(placed.commit, Commit::Nothing)) { Ok(()) } else { change(results) }
}

/// The part of [`commit`] for results that were not written in place.
#[inline(never)]
fn change(results: &mut [Option<Placed<'_>>]) -> Result<()> {
    let mut before: SmallVec<[Option<i64>; 3]> = SmallVec::new();
    for result in results.iter() {
        match result.as_ref().map_or(Ok(None), Placed::grow) {
            Ok(len) => before.push(len),
            Err(error) => {
                results.iter().zip(before).for_each(|(result, len)| result.iter().for_each(|result| result.shrink(len)));
                return Err(error);
            }
        }
    }
    results.iter_mut().flatten().try_for_each(Placed::finish)
}
