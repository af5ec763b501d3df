//! Results: from the check of what the caller gave to the moment it changes.
//!
//! [`Target::check`] refuses what cannot become the result, [`Target::place`] gets all the memory there is to get, the operation writes to
//! that, and [`commit`] changes what the caller sees, when nothing can fail any more: a call that fails has changed nothing.

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
        let written = made(of, &placed.written.layout.shape)?;
        Ok(Placed { r: placed.r, written, last: Last::Converted(Box::new(placed)) })
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
        // What lies before the result stays.
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

/// A result whose memory stands ready.
pub struct Placed<'a> {
    r: &'a Tensor,
    /// Where the elements are to be written.
    pub written: Operand,
    last: Last<'a>,
}

/// What makes the result of what was written. Boxes keep it small where nothing is out of the ordinary: it is moved about.
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

    /// Whether an allocator of the caller, which may refuse, has the last word.
    fn grows(&self) -> bool {
        match &self.last {
            Last::Grown { .. } => true,
            Last::Converted(placed) => placed.grows(),
            _ => false,
        }
    }

    /// This, written to memory of its own until all is done.
    fn detached(self) -> Result<Self> {
        let written = made(self.written.dtype, &self.written.layout.shape)?;
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
            // What cannot shrink stays longer than it was: no element is lost.
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

/// Two results of one operation: where one of them still has to grow when all is written, the other is not touched before.
pub fn together<'a>(placed: [Option<Placed<'a>>; 2]) -> Result<[Option<Placed<'a>>; 2]> {
    if !placed.iter().flatten().any(Placed::grows) {
        return Ok(placed);
    }
    let [first, second] = placed;
    let disjoint = |placed: Option<Placed<'a>>| placed.map(|p| if p.grows() { Ok(p) } else { p.detached() }).transpose();
    Ok([disjoint(first)?, disjoint(second)?])
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
