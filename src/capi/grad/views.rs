//! The views that a call makes.

use super::graph::{Cut, attach, is_active, variable};
use super::record::{each_read, handle, listed, same_storage};
use super::shared::{lay_out_anew, mark_shared, share};
use super::variable::{Source, become_view, contains};
use crate::capi::face::args::Kind as ArgKind;
use crate::capi::face::places::each_place;
use crate::capi::face::row::Row;
use crate::capi::face::word::{FromWord, ToWord, Word};
use crate::error::{Result, bail};
use crate::layout::Layout;
use crate::ops::view;
use crate::storage::Storage;
use crate::tensor::{THTensor, Tensor};
use smallvec::SmallVec;
use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::ptr::{NonNull, null_mut};

/// The list of new handles at a place, and the number of its entries.
fn new_handles(row: &'static Row, words: &[Word], k: usize) -> Option<(*mut Option<Tensor>, *mut c_int)> {
    let at = (k + 1..row.signature.kinds.len()).find(|&c| row.signature.kinds[c] == ArgKind::count_inout)?;
    let (list, count) = (<*mut Option<Tensor>>::from_word(words[k]), <*mut c_int>::from_word(words[at]));
    (!list.is_null() && !count.is_null()).then_some((list, count))
}

/// The new handles that a call that has succeeded left at a place.
fn made<'a>(row: &'static Row, words: &'a [Word], k: usize) -> &'a [Option<Tensor>] {
    match new_handles(row, words, k) {
        // SAFETY: the call succeeded, so that the list holds as many handles as the count says now.
        Some((list, count)) => unsafe { std::slice::from_raw_parts(list, (*count).max(0) as usize) },
        None => &[],
    }
}

/// The tensor that a call has returned, which stays the caller's.
fn returned(row: &'static Row, word: Word) -> Option<ManuallyDrop<Tensor>> {
    let raw = NonNull::new(<*mut THTensor>::from_word(word)).filter(|_| row.places.returns_tensor)?;
    // SAFETY: the call returned a new reference.
    Some(ManuallyDrop::new(unsafe { Tensor::from_raw(raw) }))
}

/// Calls `f` with each handle that may show elements of an argument now, and with true where the handle was there before.
fn each_view(row: &'static Row, words: &[Word], word: Word, mut f: impl FnMut(&Tensor, bool) -> Result<()>) -> Result<()> {
    let places = row.places;
    for k in each_place(places.views | places.handles) {
        handle(words, k).map_or(Ok(()), |r| f(r, true))?;
    }
    for k in each_place(places.view_lists) {
        listed(row, words, k).iter().flatten().try_for_each(|r| f(r, true))?;
    }
    for k in each_place(places.new_handles) {
        made(row, words, k).iter().flatten().try_for_each(|r| f(r, false))?;
    }
    returned(row, word).map_or(Ok(()), |r| f(&r, false))
}

/// Notes the views of a call through whose arguments no gradients go.
pub fn share_all(row: &'static Row, words: &[Word], word: Word) {
    let places = row.places;
    let count: i32 = each_place(places.new_handles).map(|k| made(row, words, k).len() as i32).sum();
    let _ = each_view(row, words, word, |r, was_there| {
        share_one(row, words, r, was_there, count.max(1));
        Ok(())
    });
}

fn share_one(row: &'static Row, words: &[Word], r: &Tensor, was_there: bool, made: i32) {
    let source = each_read(row, words).map(|(_, _, t)| t).find(|t| same_storage(t, r));
    match source {
        Some(source) if was_there || !source.is(r) => share(r, source, made, row.places.is_strided),
        Some(_) => {}
        // A handle that has left its memory, or was laid out anew there.
        None if row.places.storages != 0 => mark_shared(r),
        None => {}
    }
}

/// The arguments of a call that may make views, before it.
pub struct Views {
    sources: SmallVec<[Source; 1]>,
    /// Handles whose geometry the call may change, with handles on their elements before.
    handles: SmallVec<[(usize, Tensor); 1]>,
    /// The lengths of their storages, by place.
    lengths: SmallVec<[Option<i64>; 2]>,
    /// Entries that lists of new handles have room for.
    room: c_int,
}

impl Views {
    /// The arguments now.
    pub fn before(row: &'static Row, words: &[Word]) -> Result<Views> {
        let mut views = Views { sources: SmallVec::new(), handles: SmallVec::new(), lengths: SmallVec::new(), room: 0 };
        if !row.places.may_view() {
            return Ok(views);
        }
        for (_, _, t) in each_read(row, words) {
            views.sources.push(Source::of(t)?);
        }
        for k in each_place(row.places.handles | row.places.views) {
            if let Some(t) = handle(words, k)
                && t.has_sizes()
            {
                // A base remembers where its elements are.
                if is_active(t)
                    && let Some(variable) = variable(t)
                {
                    let (mut state, layout) = (variable.lock(), t.layout()?);
                    if state.view.is_none() {
                        variable.set_home(&mut state, t.storage_address(), &layout);
                    }
                }
                views.handles.push((k, view::alias(t)?));
                views.lengths.resize(k + 1, None);
                views.lengths[k] = t.borrow_storage().map(Storage::len);
            }
        }
        for k in each_place(row.places.new_handles) {
            // SAFETY: the caller passes a number.
            views.room = new_handles(row, words, k).map_or(0, |(_, count)| unsafe { *count });
        }
        Ok(views)
    }

    /// Gives the views that a call has made their histories. Where that fails, the call has changed nothing.
    pub fn track(self, row: &'static Row, words: &[Word], word: Word, cut: Option<Cut>, is_recorded: bool) -> Result<Word> {
        if !row.places.may_view() {
            return Ok(word);
        }
        // The recorder itself gives a returned tensor its history.
        let of_views = if is_recorded { null_mut::<THTensor>().word() } else { word };
        let made: usize = each_place(row.places.new_handles).map(|k| made(row, words, k).len()).sum();
        let count = (made.max(1) + self.handles.len()) as i32;
        let tracked = each_view(row, words, of_views, |r, was_there| self.track_one(row, words, r, was_there, cut, count));
        match tracked {
            Ok(()) => Ok(word),
            Err(error) => {
                self.undo(row, words, word);
                Err(error)
            }
        }
    }

    fn track_one(&self, row: &'static Row, words: &[Word], r: &Tensor, was_there: bool, cut: Option<Cut>, made: i32) -> Result<()> {
        let (storage, this) = (r.storage_address(), r.as_ptr().addr());
        let shows = |source: &&Source| storage != 0 && source.storage == storage && (was_there || source.address != this);
        match self.sources.iter().find(shows) {
            _ if self.handles.iter().any(|(k, before)| self.is_own(row, words, *k, r) && before.storage_address() == storage) => {
                self.laid_out(row, words, r, cut.is_some())
            }
            Some(source) if source.variable.is_some() => become_view(r, source, cut, row.places.is_strided),
            Some(source) => {
                let source = each_read(row, words).map(|(_, _, t)| t).find(|t| t.as_ptr().addr() == source.address);
                source.into_iter().for_each(|source| share(r, source, made, row.places.is_strided));
                Ok(())
            }
            None if was_there => self.laid_out(row, words, r, cut.is_some()),
            None => {
                if row.places.storages != 0 {
                    mark_shared(r);
                }
                Ok(())
            }
        }
    }

    /// Returns true if `r` is the handle at place `k`, whose geometry the call may change.
    fn is_own(&self, row: &'static Row, words: &[Word], k: usize, r: &Tensor) -> bool {
        row.places.handles & (1 << k) != 0 && handle(words, k).is_some_and(|t| t.is(r))
    }

    /// Ends the history of a handle that shows other elements now than those of before; where it shows some of these, it keeps its part.
    fn laid_out(&self, row: &'static Row, words: &[Word], r: &Tensor, may_forget: bool) -> Result<()> {
        let is_it = |k: usize| handle(words, k).is_some_and(|t| t.is(r));
        let Some((_, before)) = self.handles.iter().find(|(k, _)| is_it(*k)) else { return Ok(()) };
        let (Some(variable), true) = (variable(r), is_active(r)) else {
            if r.storage_address() != before.storage_address() && row.places.storages != 0 {
                mark_shared(r);
            }
            lay_out_anew(r);
            return Ok(());
        };
        if r.storage_address() != before.storage_address() {
            if row.places.storages != 0 {
                mark_shared(r);
            }
            let requires = variable.lock().requires;
            if !requires {
                attach(r, None);
            }
            return Ok(());
        }
        let home: Option<Layout> = {
            let state = variable.lock();
            if state.requires {
                return Ok(());
            }
            state.view.as_ref().map(|view| view.geometry.base.clone()).or_else(|| state.home.clone())
        };
        let layout = r.layout()?;
        if layout == before.layout()? || home.is_some_and(|home| contains(&home, &layout)) {
            return Ok(());
        }
        if may_forget {
            attach(r, None);
            return Ok(());
        }
        bail!(
            Argument,
            "argument '{}' has a history, and would have elements that are not its own: call THTensor_reset before",
            row.signature.arg(each_place(row.places.handles).find(|&k| is_it(k)).unwrap_or(0))
        )
    }

    /// Lays the handles out as they were, and frees new ones.
    fn undo(&self, row: &'static Row, words: &[Word], word: Word) {
        for (k, before) in &self.handles {
            if let Some(t) = handle(words, *k) {
                // The old sizes have room in the handle. A storage that has grown is as long as it was.
                let _ = view::set(t, before);
                if let (Some(storage), Some(len)) = (before.borrow_storage(), self.lengths.get(*k).copied().flatten()) {
                    let _ = storage.resize(len);
                }
            }
        }
        for k in each_place(row.places.new_handles) {
            if let Some((list, count)) = new_handles(row, words, k) {
                // SAFETY: the list holds as many handles as the count says; the caller gets none of them.
                unsafe {
                    for i in 0..(*count).max(0) as usize {
                        drop((*list.add(i)).take());
                    }
                    *count = self.room;
                }
            }
        }
        if let Some(made) = returned(row, word) {
            drop(ManuallyDrop::into_inner(made));
        }
    }
}
