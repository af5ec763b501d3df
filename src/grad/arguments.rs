//! The tensors among the arguments of a call.

use crate::api::args::Kind as ArgKind;
use crate::api::function::Function;
use crate::api::places::each_place;
use crate::api::word::{FromWord, Word};
use crate::tensor::Tensor;
use std::ffi::c_int;

/// The handle at a place, which may be NULL.
pub fn handle(words: &[Word], k: usize) -> Option<&Tensor> {
    // SAFETY: a word of this kind is NULL or a live handle, and a handle a transparent pointer.
    unsafe { &*(&raw const words[k]).cast::<Option<Tensor>>() }.as_ref()
}

/// The handles of the list at a place.
pub fn listed<'a>(function: &'static Function, words: &'a [Word], k: usize) -> &'a [Option<Tensor>] {
    function.signature.listed(words, k).unwrap_or_default()
}

/// The handles whose elements a call reads: the place, the place in a list, and the handle.
pub fn each_read<'a>(function: &'static Function, words: &'a [Word]) -> impl Iterator<Item = (usize, usize, &'a Tensor)> {
    let single = each_place(function.places.read).filter_map(|k| Some((k, 0, handle(words, k)?)));
    let lists = each_place(function.places.lists)
        .flat_map(move |k| listed(function, words, k).iter().enumerate().filter_map(move |(i, t)| Some((k, i, t.as_ref()?))));
    single.chain(lists)
}

/// The list of new handles at a place, and the number of its entries.
pub fn new_handles(function: &'static Function, words: &[Word], k: usize) -> Option<(*mut Option<Tensor>, *mut c_int)> {
    let at = (k + 1..function.signature.kinds.len()).find(|&c| function.signature.kinds[c] == ArgKind::count_inout)?;
    let (list, count) = (<*mut Option<Tensor>>::from_word(words[k]), <*mut c_int>::from_word(words[at]));
    (!list.is_null() && !count.is_null()).then_some((list, count))
}

/// The new handles that a call that has succeeded left at a place.
pub fn made<'a>(function: &'static Function, words: &'a [Word], k: usize) -> &'a [Option<Tensor>] {
    match new_handles(function, words, k) {
        // SAFETY: the call succeeded, so that the list holds as many handles as the count says now.
        Some((list, count)) => unsafe { std::slice::from_raw_parts(list, (*count).max(0) as usize) },
        None => &[],
    }
}

/// Returns true if a tensor has floats.
pub fn is_float(t: &Tensor) -> bool {
    t.dtype().is_some_and(|dtype| dtype.is_float())
}

/// Returns true if two tensors have one storage.
pub fn same_storage(a: &Tensor, b: &Tensor) -> bool {
    a.storage_address() == b.storage_address() && a.storage_address() != 0
}
