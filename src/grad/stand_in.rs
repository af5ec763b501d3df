//! Views of tensors whose positions share elements.
//!
//! The layout of such a view does not say which positions of the source the view shows: an expanded matrix and its transpose have one
//! layout. The call is repeated on a stand-in, a contiguous tensor of the same shape, in which each position has a separate element.

use super::arguments::{handle, made};
use super::variable::Source;
use crate::api::args::Kind as ArgKind;
use crate::api::function::{Function, on_device};
use crate::api::places::each_place;
use crate::api::word::{FromWord, ToWord, Word};
use crate::error::{Result, bail};
use crate::layout::Layout;
use crate::storage::Storage;
use crate::tensor::{THTensor, Tensor};
use smallvec::{SmallVec, smallvec};
use std::ffi::c_int;
use std::ptr::NonNull;

/// A call that has succeeded.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub function: &'static Function,
    pub words: &'a [Word],
}

/// The place where a call stores a view.
enum Place {
    Handle(usize),
    Entry(usize),
    Returned,
}

impl Call<'_> {
    /// The place of the view `r`; `None` for functions with lists of sources.
    fn place(&self, r: &Tensor) -> Option<Place> {
        let places = self.function.places;
        if places.is_strided || places.lists | places.view_lists | places.storages != 0 {
            return None;
        }
        if let Some(k) = each_place(places.views | places.handles).find(|&k| handle(self.words, k).is_some_and(|t| t.is(r))) {
            return Some(Place::Handle(k));
        }
        for k in each_place(places.new_handles) {
            if let Some(i) = made(self.function, self.words, k).iter().flatten().position(|t| t.is(r)) {
                return Some(Place::Entry(i));
            }
        }
        places.returns_tensor.then_some(Place::Returned)
    }

    /// Returns the layout of the view `r` of `source` on the contiguous stand-in. `None` if the positions of the source share no elements,
    /// or if the function has no stand-in.
    pub fn on_stand_in(&self, source: &Source, r: &Tensor) -> Result<Option<Layout>> {
        let Some(layout) = source.layout.as_ref().filter(|layout| layout.overlaps_itself()) else { return Ok(None) };
        let (Some(place), Some(dtype)) = (self.place(r), r.dtype()) else { return Ok(None) };
        // Calls that make views access no element, so the stand-in has no memory.
        let stand_in = Tensor::with_layout(Storage::new(dtype)?, dtype, &Layout::contiguous(&layout.shape))?;
        let is_source = |k: usize| handle(self.words, k).is_some_and(|t| t.as_ptr().addr() == source.address);
        let places = self.function.places;
        let mut words: SmallVec<[Word; 8]> = self.words.iter().copied().collect();
        let mut results: SmallVec<[Tensor; 1]> = SmallVec::new();
        for k in each_place(places.read | places.views | places.handles) {
            if is_source(k) {
                words[k] = stand_in.as_ptr().word();
            } else if (places.views | places.handles) & (1 << k) != 0 {
                results.push(Tensor::fresh()?);
                words[k] = results[results.len() - 1].as_ptr().word();
            }
        }
        let room = each_place(places.new_handles).map(|k| made(self.function, self.words, k).len()).sum();
        let (mut list, mut count): (SmallVec<[Option<Tensor>; 4]>, c_int) = (smallvec![None; room], room as c_int);
        for k in each_place(places.new_handles) {
            words[k] = list.as_mut_ptr().word();
            if let Some(at) = (k + 1..words.len()).find(|&at| self.function.signature.kinds[at] == ArgKind::count_inout) {
                words[at] = (&raw mut count).word();
            }
        }
        let word = on_device(self.function, &words)?;
        let returned = NonNull::new(<*mut THTensor>::from_word(word)).filter(|_| places.returns_tensor);
        // SAFETY: the call returned a new reference.
        let returned = returned.map(|raw| unsafe { Tensor::from_raw(raw) });
        let shown = match place {
            Place::Handle(k) => handle(&words, k),
            Place::Entry(i) => list.get(i).and_then(Option::as_ref),
            Place::Returned => returned.as_ref(),
        };
        match shown {
            Some(shown) if shown.same_shape(r) => shown.layout().map(Some),
            _ => bail!(
                Unsupported,
                "a view of a tensor whose positions share elements has no gradient here: make the tensor contiguous before"
            ),
        }
    }
}
