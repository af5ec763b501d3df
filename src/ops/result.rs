//! Results: from the check of what the caller gave to the moment it changes.
//!
//! [`Target::check`] refuses what cannot become the result, [`Target::place`] gets all the memory there is to get, the operation writes to
//! that, and [`commit`] changes what the caller sees, when nothing can fail any more: a call that fails has changed nothing.
//!
//! [`ready`] does all of it for one result: it derives from the inputs where the result may be written, and what it returns can be written
//! only by a closure that cannot fail. Operations that write a result in several steps, or in place, go this way.

use super::copy::copy_elements;
use super::operand::{Operand, check_host};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::layout::{Layout, checked_numel};
use crate::storage::Storage;
use crate::tensor::{DimsRoom, Tensor};

/// A result that may become what the operation makes.
pub struct Target<'a, 's> {
    r: &'a Tensor,
    /// Its own dtype, or that of the operation if it has none.
    pub dtype: Dtype,
    /// That of the operation.
    of: Dtype,
    shape: &'s [i64],
    /// The result as it is, where it has its shape already.
    pub kept: Option<Operand>,
}

impl<'a, 's> Target<'a, 's> {
    /// Fails where a result of `dtype` and `shape` cannot go into `r`.
    pub fn check(r: &'a Tensor, dtype: Dtype, shape: &'s [i64]) -> Result<Target<'a, 's>> {
        check_host(r)?;
        checked_numel(shape)?;
        let Some(have) = r.dtype() else { return Ok(Target { r, dtype, of: dtype, shape, kept: None }) };
        if !dtype.can_cast(have) {
            bail!(Dtype, "a result of {dtype} cannot be stored in a tensor of {have}")
        }
        let layout = r.layout()?;
        if layout.shape.as_slice() != shape || !r.has_sizes() {
            return Ok(Target { r, dtype: have, of: dtype, shape, kept: None });
        }
        if layout.overlaps_itself() {
            bail!(Shape, "several positions of the result share one element (strides {:?}); clone it first", layout.strides.as_slice())
        }
        Ok(Target { r, dtype: have, of: dtype, shape, kept: Some(Operand::with(r, have, layout)?) })
    }

    /// [`Target::place`] for what is `written` in another dtype than the operation's own, with more digits, say: a result of a third dtype gets
    /// what a fresh one would have, converted.
    pub fn place_as(self, written: Dtype, disjoint: bool, taken: &dyn Fn(&Storage) -> bool) -> Result<Placed<'a>> {
        let (of, rounds) = (self.of, self.dtype != self.of && self.of != written);
        let placed = self.place(disjoint && !rounds, taken)?;
        if !rounds {
            return Ok(placed);
        }
        placed.converted_from(of)
    }

    /// Gets the memory for the result. A result that keeps its shape keeps its place, unless what is written there has to lie `disjoint` from
    /// it until all is done; any other lies in its own storage, unless that is `taken`.
    pub fn place(self, disjoint: bool, taken: &dyn Fn(&Storage) -> bool) -> Result<Placed<'a>> {
        let Target { r, dtype, shape, kept, .. } = self;
        if let Some(kept) = kept {
            return match disjoint {
                false => Ok(Placed { r, written: kept, last: Last::Nothing }),
                true => Ok(Placed { r, written: made(dtype, shape)?, last: Last::Copied(Box::new(kept)) }),
            };
        }
        let room = r.dims_room(shape.len())?;
        let own = if r.dtype().is_some() { r.storage() } else { None };
        let Some(own) = own.filter(|own| own.dtype().size() == dtype.size() && !taken(own)) else {
            return Ok(Placed { r, written: made(dtype, shape)?, last: Last::Adopted(room) });
        };
        let layout = Layout { offset: r.offset().max(0), ..Layout::contiguous(shape) };
        let Some(end) = layout.end() else { bail!(Shape, "shape {shape:?} at offset {} overflows", layout.offset) };
        if end <= own.len() {
            return Ok(Placed { r, written: Operand::inside(own, dtype, layout), last: Last::Adopted(room) });
        }
        own.check_growth(end)?;
        let Some(larger) = own.larger(end)? else {
            return Ok(Placed { r, written: made(dtype, shape)?, last: Last::Grown { room, layout: Box::new(layout), storage: own } });
        };
        // Elements before the result keep their values.
        let before = layout.offset.min(own.len()) as usize * dtype.size();
        if before > 0 {
            // SAFETY: both storages hold so many elements, and nobody else has the new one.
            unsafe { own.data().copy_to_nonoverlapping(larger.data(), before) };
        }
        Ok(Placed { r, written: Operand::inside(larger, dtype, layout), last: Last::Exchanged { room, storage: own } })
    }
}

/// Memory of its own for a row-major result.
fn made(dtype: Dtype, shape: &[i64]) -> Result<Operand> {
    let storage = Storage::with_size(dtype, checked_numel(shape)?)?;
    Ok(Operand::inside(storage, dtype, Layout::contiguous(shape)))
}

/// The operands that an operation reads while it writes the result.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// Each of their elements is read before the one at the same place of the result is written, and not again.
    in_step: &'a [Operand],
    /// Their elements are read in any order.
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

    /// These, and others that are read in any order.
    pub fn and_anywhere(self, operands: &'a [Operand]) -> Inputs<'a> {
        Inputs { anywhere: operands, ..self }
    }

    /// True if writing `to` would change elements that are still to be read.
    fn overwritten_by(&self, to: &Operand) -> bool {
        let by_steps = self.in_step.iter().any(|input| to.overlaps(input) && !to.in_step_with(input));
        by_steps || self.anywhere.iter().any(|input| to.overlaps(input))
    }

    /// True if elements lie in `storage`.
    fn lie_in(&self, storage: &Storage) -> bool {
        self.in_step.iter().chain(self.anywhere).any(|input| input.lies_in(storage))
    }
}

/// The elements that an operation writes.
#[derive(Clone, Copy)]
pub struct Writes {
    /// Their dtype; `None` if they are written in that of the result, whichever that is.
    dtype: Option<Dtype>,
    /// True if they are written row-major, else as the layout of the result says.
    row_major: bool,
}

impl Writes {
    /// In the dtype and the layout of the result.
    pub(crate) const STRIDED: Writes = Writes { dtype: None, row_major: false };
    /// In the dtype of the result.
    pub(crate) const ROW_MAJOR: Writes = Writes { dtype: None, row_major: true };

    /// In this dtype, from which they are converted.
    pub fn of(self, dtype: Dtype) -> Writes {
        Writes { dtype: Some(dtype), ..self }
    }
}

/// A result that can be written without failing: all memory is there.
pub struct Ready<'a>(Placed<'a>);

/// Readies `r` for elements of `dtype` and `shape` that are made of `inputs`. It is written in place where it keeps its shape and no input is
/// overwritten before it is read.
pub fn ready<'a>(r: &'a Tensor, (dtype, shape): (Dtype, &[i64]), writes: Writes, inputs: Inputs<'_>) -> Result<Ready<'a>> {
    let target = Target::check(r, dtype, shape)?;
    let written = writes.dtype.filter(|&written| written != target.dtype || written != dtype);
    let must_move = |to: &Operand| (writes.row_major && !to.layout.is_contiguous()) || inputs.overwritten_by(to);
    let disjoint = written.is_none() && target.kept.as_ref().is_some_and(must_move);
    let taken = |own: &Storage| written.is_none() && inputs.lie_in(own);
    let mut placed = target.place(disjoint, &taken)?;
    // Written elements become those of a fresh result, and these become those of `r`.
    for step in written.map_or([None; 2], |written| [Some(dtype), Some(written)]).into_iter().flatten() {
        if placed.written.dtype != step {
            placed = placed.converted_from(step)?;
        }
    }
    Ok(Ready(placed))
}

impl Ready<'_> {
    /// The layout of what is written.
    pub fn layout(&self) -> &Layout {
        &self.0.written.layout
    }

    /// The dtype of what is written.
    pub fn dtype(&self) -> Dtype {
        self.0.written.dtype
    }

    /// Writes all elements, and makes the result of them.
    pub fn write(self, write: impl FnOnce(&Operand)) -> Result<()> {
        write(&self.0.written);
        self.0.commit()
    }
}

/// A result whose memory stands ready.
pub struct Placed<'a> {
    r: &'a Tensor,
    /// Where the elements are to be written.
    pub written: Operand,
    last: Last<'a>,
}

/// The last step, which makes the result of the elements written. Boxes keep it small in the common case, since it is moved about.
enum Last<'a> {
    /// It is the result.
    Nothing,
    /// The result, which is this, takes the elements.
    Copied(Box<Operand>),
    /// This takes the elements, converted, and then becomes the result.
    Converted(Box<Placed<'a>>),
    /// The result takes geometry and storage.
    Adopted(DimsRoom),
    /// The result takes the geometry, its storage the memory.
    Exchanged { room: DimsRoom, storage: Storage },
    /// The result's storage is grown by its allocator, and the result takes the elements.
    Grown { room: DimsRoom, layout: Box<Layout>, storage: Storage },
}

impl Placed<'_> {
    /// Where the elements are to be written, as a tensor.
    pub fn tensor(&self) -> Result<Tensor> {
        match (&self.last, &self.written) {
            (Last::Nothing, _) | (_, Operand { storage: None, .. }) => Ok(self.r.clone()),
            (_, Operand { storage: Some(storage), dtype, layout, .. }) => Tensor::with_layout(storage.clone(), *dtype, layout),
        }
    }

    /// [`commit`] of a single result.
    pub fn commit(self) -> Result<()> {
        match self.last {
            Last::Nothing => Ok(()),
            _ => commit([Some(self)]),
        }
    }

    /// Returns true if a user's allocator, which may fail, must grow the storage.
    fn grows(&self) -> bool {
        match &self.last {
            Last::Grown { .. } => true,
            Last::Converted(placed) => placed.grows(),
            _ => false,
        }
    }

    /// This, written in memory of its own and as another dtype until all is done.
    fn converted_from(self, dtype: Dtype) -> Result<Self> {
        let written = made(dtype, &self.written.layout.shape)?;
        Ok(Placed { r: self.r, written, last: Last::Converted(Box::new(self)) })
    }

    /// Grows the storage where only its own allocator can, and says how long it was.
    fn grow(&self) -> Result<Option<i64>> {
        match &self.last {
            Last::Converted(placed) => placed.grow(),
            Last::Grown { layout, storage, .. } => {
                let before = storage.len();
                storage.resize(layout.end().unwrap_or(before)).map(|()| Some(before))
            }
            _ => Ok(None),
        }
    }

    fn shrink(&self, before: Option<i64>) {
        match (&self.last, before) {
            (Last::Converted(placed), _) => placed.shrink(before),
            // A storage that cannot shrink stays longer than it was: no element is lost.
            (Last::Grown { storage, .. }, Some(len)) => _ = storage.resize(len),
            _ => {}
        }
    }

    fn finish(self) -> Result<()> {
        let Placed { r, written, last } = self;
        match last {
            Last::Nothing => {}
            Last::Copied(to) => copy_elements(&to, &written)?,
            Last::Converted(placed) => {
                copy_elements(&placed.written, &written)?;
                placed.finish()?;
            }
            Last::Adopted(room) => {
                if let Some(storage) = written.storage {
                    r.point_at(room, storage, written.dtype, &written.layout);
                }
            }
            Last::Exchanged { room, storage } => {
                written.storage.iter().for_each(|made| storage.exchange_memory(made));
                r.point_at(room, storage, written.dtype, &written.layout);
            }
            Last::Grown { room, layout, storage } => {
                r.point_at(room, storage.clone(), written.dtype, &layout);
                copy_elements(&Operand::inside(storage, written.dtype, *layout), &written)?;
            }
        }
        Ok(())
    }
}

/// Results of one operation: where one of them still has to grow when all is written, the others are not touched before.
pub fn together<const N: usize>(mut placed: [Option<Placed<'_>>; N]) -> Result<[Option<Placed<'_>>; N]> {
    if placed.iter().flatten().any(Placed::grows) {
        for place in &mut placed {
            *place = match place.take() {
                Some(p) if !p.grows() => {
                    let dtype = p.written.dtype;
                    Some(p.converted_from(dtype)?)
                }
                other => other,
            };
        }
    }
    Ok(placed)
}

/// A handle, the dtype that a fresh one gets, and the tensor of its own that was made for it.
pub type Made<'a> = (&'a Tensor, Dtype, &'a Tensor);

/// Makes results of tensors whose shapes were not known before: all of them, or none. A fresh handle takes over what was made where it can.
pub fn deliver<const N: usize>(results: [Option<Made<'_>>; N]) -> Result<()> {
    let (placed, made) = places(results, &|_| false)?;
    let placed = together(placed)?;
    for (placed, made) in placed.iter().zip(&made) {
        if let (Some(placed), Some(made)) = (placed, made) {
            copy_elements(&placed.written, made)?;
        }
    }
    commit(placed)
}

/// [`deliver`] of two results beside a larger one, which is `first`: `write` computes all three, that one where it lies.
pub fn deliver_beside(first: Placed<'_>, results: [Option<Made<'_>>; 2], write: &dyn Fn(*mut u8)) -> Result<()> {
    if results.iter().flatten().any(|(r, ..)| r.is(first.r)) {
        return two_in_one();
    }
    let of_first = |own: &Storage| [first.r.storage(), first.written.storage.clone()].iter().flatten().any(|s| s.overlaps(own));
    let ([a, b], made) = places(results, &of_first)?;
    let placed = together([Some(first), a, b])?;
    write(placed[0].as_ref().map_or(std::ptr::null_mut(), |first| first.written.first()));
    for (placed, made) in placed[1..].iter().zip(&made) {
        if let (Some(placed), Some(made)) = (placed, made) {
            copy_elements(&placed.written, made)?;
        }
    }
    commit(placed)
}

fn two_in_one<T>() -> Result<T> {
    bail!(Argument, "two results need a tensor each")
}

/// Places for results, and what is to be copied there.
type Places<'a, const N: usize> = ([Option<Placed<'a>>; N], [Option<Operand>; N]);

/// Gets the memory for results that lie on none of each other's storages, and on none that is `taken`.
fn places<'a, const N: usize>(results: [Option<Made<'a>>; N], taken: &dyn Fn(&Storage) -> bool) -> Result<Places<'a, N>> {
    let handle = |k: usize| results[k].map(|(r, ..)| r);
    let same = |k: usize, j: usize| handle(k).is_some_and(|r| handle(j).is_some_and(|other| r.is(other)));
    if (1..N).any(|k| (0..k).any(|j| same(k, j))) {
        return two_in_one();
    }
    let mut made: [Option<Operand>; N] = [const { None }; N];
    let mut placed: [Option<Placed<'a>>; N] = [const { None }; N];
    for (k, (r, dtype, from)) in results.into_iter().enumerate().filter_map(|(k, result)| Some((k, result?))) {
        let from = Operand::of(from)?;
        let shape = from.layout.shape.clone();
        let target = Target::check(r, dtype, &shape)?;
        if r.dtype().is_none() && from.dtype == dtype && from.layout.is_contiguous() {
            placed[k] = Some(Placed { r, written: from, last: Last::Adopted(r.dims_room(shape.len())?) });
            continue;
        }
        let of_another =
            |own: &Storage| taken(own) || (0..N).any(|j| j != k && handle(j).and_then(Tensor::storage).is_some_and(|s| s.overlaps(own)));
        placed[k] = Some(target.place_as(from.dtype, false, &of_another)?);
        made[k] = Some(from);
    }
    Ok((placed, made))
}

/// Makes results of what was written: all of them, or none where an allocator of the caller does not give what it is asked for.
pub fn commit<const N: usize>(results: [Option<Placed<'_>>; N]) -> Result<()> {
    let mut before = [None; N];
    for k in 0..N {
        match results[k].as_ref().map_or(Ok(None), Placed::grow) {
            Ok(len) => before[k] = len,
            Err(error) => {
                results.iter().zip(before).for_each(|(result, len)| result.iter().for_each(|result| result.shrink(len)));
                return Err(error);
            }
        }
    }
    results.into_iter().flatten().try_for_each(Placed::finish)
}
