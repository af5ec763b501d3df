//! The views that a call makes.

use super::arguments::{each_read, handle, listed, made, new_handles, same_storage};
use super::geometry::contains;
use super::graph::{Cut, attach, is_active, variable};
use super::shared::{lay_out_anew, mark_shared, share};
use super::stand_in::Call;
use super::variable::{Source, become_view};
use crate::api::function::Function;
use crate::api::functions::view::shapes::table::set;
use crate::api::places::each_place;
use crate::api::word::{FromWord, ToWord, Word};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::layout::Layout;
use crate::ops::view;
use crate::storage::Storage;
use crate::tensor::{THTensor, Tensor};
use smallvec::SmallVec;
use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::ptr::{NonNull, null_mut};

/// Returns the tensor that a call has returned, without its reference, which the caller owns.
fn returned(function: &'static Function, word: Word) -> Option<ManuallyDrop<Tensor>> {
    let raw = NonNull::new(<*mut THTensor>::from_word(word)).filter(|_| function.places.returns_tensor)?;
    // SAFETY: the call returned a new reference.
    Some(ManuallyDrop::new(unsafe { Tensor::from_raw(raw) }))
}

/// Calls `f` with each handle that may show elements of an argument after the call, and with true if the handle existed before.
fn each_view(function: &'static Function, words: &[Word], word: Word, mut f: impl FnMut(&Tensor, bool) -> Result<()>) -> Result<()> {
    let places = function.places;
    for k in each_place(places.views | places.handles) {
        handle(words, k).map_or(Ok(()), |r| f(r, true))?;
    }
    for k in each_place(places.view_lists) {
        listed(function, words, k).iter().flatten().try_for_each(|r| f(r, true))?;
    }
    for k in each_place(places.new_handles) {
        made(function, words, k).iter().flatten().try_for_each(|r| f(r, false))?;
    }
    returned(function, word).map_or(Ok(()), |r| f(&r, false))
}

/// Notes the views of a call through whose arguments no gradients go.
pub fn share_all(function: &'static Function, words: &[Word], word: Word) {
    let places = function.places;
    if places.views | places.handles | places.view_lists | places.new_handles == 0 {
        return returned(function, word).map_or((), |r| share_one(function, words, &r, false, 1));
    }
    let count: i32 = each_place(places.new_handles).map(|k| made(function, words, k).len() as i32).sum();
    let _ = each_view(function, words, word, |r, was_there| {
        share_one(function, words, r, was_there, count.max(1));
        Ok(())
    });
}

fn share_one(function: &'static Function, words: &[Word], r: &Tensor, was_there: bool, made: i32) {
    let shows = |t: &&Tensor| same_storage(t, r);
    let source = each_place(function.places.read).filter_map(|k| handle(words, k)).find(shows);
    let source = match function.places.lists {
        0 => source,
        _ => each_read(function, words).map(|(_, _, t)| t).find(shows),
    };
    match source {
        Some(source) if was_there || !source.is(r) => share(r, source, made, function.places.is_strided),
        Some(_) => {}
        // The handle has other memory, or another layout in its memory.
        None if function.places.storages != 0 => mark_shared(r),
        None => {}
    }
}

/// A handle before a call that may change its geometry: the index of the argument, the index in a list, a handle on the same elements if
/// there are any, and the length of their storage.
struct Kept {
    place: usize,
    entry: usize,
    before: Option<Tensor>,
    dtype: Option<Dtype>,
    length: Option<i64>,
}

impl Kept {
    fn of(place: usize, entry: usize, t: &Tensor) -> Result<Kept> {
        let before = if t.has_sizes() { Some(view::alias(t)?) } else { None };
        Ok(Kept { place, entry, before, dtype: t.dtype(), length: t.borrow_storage().map(Storage::len) })
    }

    /// The handle now.
    fn handle<'a>(&self, function: &'static Function, words: &'a [Word]) -> Option<&'a Tensor> {
        match function.places.view_lists & (1 << self.place) {
            0 => handle(words, self.place),
            _ => listed(function, words, self.place).get(self.entry)?.as_ref(),
        }
    }

    /// Lays the handle out as it was.
    fn undo(&self, t: &Tensor) {
        let Some(before) = &self.before else {
            t.reset();
            t.set_dtype(self.dtype);
            return;
        };
        // The handle has room for the old sizes, and a storage that has grown gets its old length.
        let _ = view::set(t, before);
        if let (Some(storage), Some(length)) = (before.borrow_storage(), self.length)
            && storage.len() != length
        {
            let _ = storage.resize(length);
        }
    }
}

/// The arguments of a call that may make views, before the call.
pub struct Views {
    sources: SmallVec<[Source; 1]>,
    /// Handles whose geometry the call may change, as they were before.
    handles: SmallVec<[Kept; 1]>,
    /// The number of entries that lists of new handles have room for.
    room: c_int,
    /// True if handles whose layout the call changes become views of an argument.
    sets: bool,
}

impl Views {
    /// The arguments now.
    pub fn before(function: &'static Function, words: &[Word]) -> Result<Views> {
        let mut views = Views { sources: SmallVec::new(), handles: SmallVec::new(), room: 0, sets: std::ptr::eq(function, &set::FUNCTION) };
        if !function.places.may_view() {
            return Ok(views);
        }
        for (_, _, t) in each_read(function, words) {
            views.sources.push(Source::of(t)?);
        }
        for k in each_place(function.places.handles | function.places.views) {
            let Some(t) = handle(words, k) else { continue };
            // A base stores the layout of its elements.
            if is_active(t)
                && let Some(variable) = variable(t)
            {
                let (mut state, layout) = (variable.lock(), t.layout()?);
                if state.view.is_none() {
                    variable.set_home(&mut state, t.storage_address(), &layout);
                }
            }
            views.handles.push(Kept::of(k, 0, t)?);
        }
        for k in each_place(function.places.view_lists) {
            for (i, t) in listed(function, words, k).iter().enumerate() {
                if let Some(t) = t {
                    views.handles.push(Kept::of(k, i, t)?);
                }
            }
        }
        for k in each_place(function.places.new_handles) {
            // SAFETY: the caller passes a number.
            views.room = new_handles(function, words, k).map_or(0, |(_, count)| unsafe { *count });
        }
        Ok(views)
    }

    /// Gives the views that a call has made their histories. If this fails, the call is undone.
    pub fn track(self, call: Call<'_>, word: Word, cut: Option<Cut>, is_recorded: bool) -> Result<Word> {
        let Call { function, words, .. } = call;
        if !function.places.may_view() {
            return Ok(word);
        }
        // The recorder itself gives a returned tensor its history.
        let of_views = if is_recorded { null_mut::<THTensor>().word() } else { word };
        let made: usize = each_place(function.places.new_handles).map(|k| made(function, words, k).len()).sum();
        let count = (made.max(1) + self.handles.len()) as i32;
        let tracked = each_view(function, words, of_views, |r, was_there| self.track_one(call, r, was_there, cut, count));
        match tracked {
            Ok(()) => Ok(word),
            Err(error) => {
                self.undo(function, words, word);
                Err(error)
            }
        }
    }

    fn track_one(&self, call: Call<'_>, r: &Tensor, was_there: bool, cut: Option<Cut>, made: i32) -> Result<()> {
        let Call { function, words, .. } = call;
        let (storage, this) = (r.storage_address(), r.as_ptr().addr());
        let shows = |source: &&Source| storage != 0 && source.storage == storage && (was_there || source.address != this);
        match self.sources.iter().find(shows) {
            _ if !self.sets
                && self.own(function, words, r).is_some_and(|kept| kept.is_some_and(|before| before.storage_address() == storage)) =>
            {
                self.laid_out(function, words, r, cut.is_some())
            }
            Some(source) if source.variable.is_some() => {
                let apart = if cut.is_some() { None } else { call.on_stand_in(source, r)? };
                become_view(r, source, cut, function.places.is_strided, apart)
            }
            Some(source) => {
                let source = each_read(function, words).map(|(_, _, t)| t).find(|t| t.as_ptr().addr() == source.address);
                source.into_iter().for_each(|source| share(r, source, made, function.places.is_strided));
                Ok(())
            }
            None if was_there => self.laid_out(function, words, r, cut.is_some()),
            None => {
                if function.places.storages != 0 {
                    mark_shared(r);
                }
                Ok(())
            }
        }
    }

    /// Returns the old elements of a handle whose geometry the call may change; `None` if `r` is no such handle.
    fn own(&self, function: &'static Function, words: &[Word], r: &Tensor) -> Option<Option<&Tensor>> {
        let is_own = |kept: &&Kept| function.places.handles & (1 << kept.place) != 0 && handle(words, kept.place).is_some_and(|t| t.is(r));
        self.handles.iter().find(is_own).map(|kept| kept.before.as_ref())
    }

    /// Ends the history of a handle that has left its elements. A handle that shows a part of its old elements keeps the history of that
    /// part.
    fn laid_out(&self, function: &'static Function, words: &[Word], r: &Tensor, may_forget: bool) -> Result<()> {
        let Some(before) = self.own(function, words, r) else { return Ok(()) };
        let has_left = before.is_none_or(|before| before.storage_address() != r.storage_address());
        if has_left && function.places.storages != 0 {
            mark_shared(r);
        }
        let (Some(variable), Some(before), true) = (variable(r), before, is_active(r)) else {
            lay_out_anew(r);
            return Ok(());
        };
        if has_left {
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
            function.signature.arg(each_place(function.places.handles).next().unwrap_or(0))
        )
    }

    /// Restores the layouts of the handles, and frees new handles.
    fn undo(&self, function: &'static Function, words: &[Word], word: Word) {
        for kept in &self.handles {
            kept.handle(function, words).into_iter().for_each(|t| kept.undo(t));
        }
        for k in each_place(function.places.new_handles) {
            if let Some((list, count)) = new_handles(function, words, k) {
                // SAFETY: the list holds as many handles as the count says; the caller gets none of them.
                unsafe {
                    for i in 0..(*count).max(0) as usize {
                        drop((*list.add(i)).take());
                    }
                    *count = self.room;
                }
            }
        }
        if let Some(made) = returned(function, word) {
            drop(ManuallyDrop::into_inner(made));
        }
    }
}
