//! Recording: each call of a row, once a program uses gradients.
//!
//! A row's kinds say which arguments are read, written, or become views, so that one function records all operations. It looks at the
//! arguments before the call, calls, and gives the results their histories.

use super::counted::Room;
use super::formula::Derivative;
use super::graph::{Edge, Like, Node, Rule, Saved, SavedTensor, State, Variable, is_known, variable, version_of};
use super::switch;
use super::variable::{Before, become_view, check_own_geometry, check_unshared, check_writable, settle, target};
use crate::capi::face::args::Kind as ArgKind;
use crate::capi::face::places::each_place;
use crate::capi::face::row::{Face, Row, on_device};
use crate::capi::face::word::{FromWord, ToWord, Word};
use crate::error::{Result, bail};
use crate::layout::MAX_DIMS;
use crate::tensor::{THTensor, Tensor};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// What the derivatives of rows are, by the address of the row.
pub struct Table {
    derivatives: HashMap<usize, &'static Derivative, Hasher>,
    /// Rows whose results do not depend on floats in a way that has a gradient.
    constant: &'static [&'static Row],
}

/// Addresses are spread well enough by one multiplication.
#[derive(Clone, Default)]
pub struct Hasher(u64);

impl std::hash::BuildHasher for Hasher {
    type Hasher = Hasher;
    fn build_hasher(&self) -> Hasher {
        Hasher(0)
    }
}

impl std::hash::Hasher for Hasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_usize(usize::from(byte)));
    }
    fn write_usize(&mut self, x: usize) {
        self.0 = (self.0 ^ x as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(26);
    }
}

static TABLE: OnceLock<Table> = OnceLock::new();

/// Sets the derivatives, once.
pub fn derive_by(derivatives: &'static [&'static [Derivative]], constant: &'static [&'static Row]) {
    TABLE.get_or_init(|| {
        let by_row = derivatives.iter().flat_map(|part| part.iter()).map(|derivative| (std::ptr::from_ref(derivative.row).addr(), derivative));
        Table { derivatives: by_row.collect(), constant }
    });
}

/// The derivative of a row.
pub fn derivative(row: &'static Row) -> Option<&'static Derivative> {
    TABLE.get()?.derivatives.get(&std::ptr::from_ref(row).addr()).copied()
}

fn is_constant(row: &'static Row) -> bool {
    TABLE.get().is_some_and(|table| table.constant.iter().any(|&constant| std::ptr::eq(constant, row)))
}

/// The handle at a place, which may be NULL.
fn handle(words: &[Word], k: usize) -> Option<&Tensor> {
    // SAFETY: a word of this kind is NULL or a live handle, and a handle a transparent pointer.
    unsafe { &*(&raw const words[k]).cast::<Option<Tensor>>() }.as_ref()
}

/// The handles of the list at a place.
fn listed<'a>(row: &'static Row, words: &'a [Word], k: usize) -> &'a [Option<Tensor>] {
    row.signature.listed(words, k).unwrap_or_default()
}

/// The handles whose elements a call reads: the place, the place in a list, and the handle.
fn each_read<'a>(row: &'static Row, words: &'a [Word]) -> impl Iterator<Item = (usize, usize, &'a Tensor)> {
    let single = each_place(row.places.read).filter_map(|k| Some((k, 0, handle(words, k)?)));
    let lists = each_place(row.places.lists)
        .flat_map(move |k| listed(row, words, k).iter().enumerate().filter_map(move |(i, t)| Some((k, i, t.as_ref()?))));
    single.chain(lists)
}

fn is_float(t: &Tensor) -> bool {
    t.dtype().is_some_and(|dtype| dtype.is_float())
}

/// Counts one more write to the elements of a handle.
pub(super) fn count_write(t: &Tensor) {
    if let Some(storage) = t.storage() {
        storage.version().fetch_add(1, Ordering::Relaxed);
    }
}

/// Calls a row, and records the call where that is on and an input needs a gradient.
pub fn call(row: &'static Row, face: &'static Face, words: &[Word]) -> Result<Word> {
    if switch::is_recording() { recorded(row, face, words) } else { unrecorded(row, face, words) }
}

/// The handles that a call writes, as they are before it, with their places.
type Written = SmallVec<[(usize, Before); 3]>;

/// A call while recording is off: leaves stay leaves, what is changed in place keeps its history, and other results have none.
fn unrecorded(row: &'static Row, face: &'static Face, words: &[Word]) -> Result<Word> {
    let places = row.places;
    let written: Written = each_place(places.written)
        .filter_map(|k| handle(words, k).filter(|t| is_known(t)).map(|t| (k, Before::of(t, false))))
        .collect();
    let word = on_device(row, face, words)?;
    for k in each_place(places.written) {
        handle(words, k).into_iter().for_each(count_write);
    }
    for (k, before) in &written {
        let Some(t) = handle(words, *k) else { continue };
        let Some(variable) = &before.variable else { continue };
        let in_place = each_read(row, words).any(|(_, _, input)| input.is(t));
        let state = variable.lock();
        let stays = state.requires || in_place || (state.view.is_some() && before.storage == super::variable::storage_address(t));
        drop(state);
        if !stays {
            settle(t, before, None)?;
        }
    }
    for k in each_place(places.views | places.handles) {
        if let Some(t) = handle(words, k)
            && variable(t).is_some_and(|variable| !variable.lock().requires)
        {
            super::graph::attach(t, None);
        }
    }
    Ok(word)
}

fn recorded(row: &'static Row, face: &'static Face, words: &[Word]) -> Result<Word> {
    let places = row.places;
    let mut edges: SmallVec<[Edge; 2]> = SmallVec::new();
    for (k, i, t) in each_read(row, words) {
        if is_known(t)
            && is_float(t)
            && let Some(to) = target(t)?
        {
            edges.push(Edge { to, place: k as u16, entry: i as u16, like: Like::of(t)? });
        }
    }
    for k in each_place(places.written) {
        handle(words, k).map_or(Ok(()), check_writable)?;
    }
    let is_reset = std::ptr::eq(row, &crate::capi::rows::tensor::handles::rows::reset::ROW);
    for k in each_place(places.handles).filter(|_| !is_reset) {
        handle(words, k).map_or(Ok(()), check_own_geometry)?;
    }
    let written: Written = each_place(places.written).filter_map(|k| Some((k, Before::of(handle(words, k)?, false)))).collect();
    let may_view = places.views | places.view_lists | places.new_handles | places.handles != 0 || places.returns_tensor;
    let sources: SmallVec<[(Before, Option<usize>); 1]> = match may_view {
        true => each_read(row, words).map(|(_, _, t)| (Before::of(t, true), Some(t.as_ptr().addr()))).collect(),
        false => SmallVec::new(),
    };
    let rule = if edges.is_empty() || (places.results == 0 && !places.returns_tensor) || is_constant(row) { None } else { derivative(row) };
    if rule.is_none() && !edges.is_empty() && places.results != 0 && !is_constant(row) {
        bail!(Unsupported, "has no derivative, and an input requires a gradient")
    }
    let is_unknown = rule.is_none() && !edges.is_empty() && places.returns_tensor && !is_constant(row);
    let mut call = match rule {
        Some(rule) => Some(Recorded::new(row, rule, words, edges)?),
        None => None,
    };
    let calls_with = call.as_ref().map_or(words, |call| &call.words);
    if call.is_some() {
        for k in each_place(places.results) {
            handle(words, k).map_or(Ok(()), check_unshared)?;
        }
    }
    let word = on_device(row, face, calls_with)?;
    for k in each_place(places.written) {
        handle(calls_with, k).into_iter().for_each(count_write);
    }
    let word = match &mut call {
        Some(call) => call.finish(word, &written)?,
        None => {
            for (k, before) in &written {
                handle(words, *k).map_or(Ok(()), |t| if before.variable.is_some() { settle(t, before, None) } else { Ok(()) })?;
            }
            if is_unknown { derivable(row, words, word)? } else { word }
        }
    };
    if may_view {
        track_views(row, words, word, &sources, call.is_some())?;
    }
    Ok(word)
}

/// The tensor that a row without a derivative returned, whose floats must be those of an input.
fn derivable(row: &'static Row, words: &[Word], word: Word) -> Result<Word> {
    // SAFETY: the call returned a new reference, which is given back to the caller below.
    let Some(t) = NonNull::new(<*mut THTensor>::from_word(word)).map(|raw| unsafe { Tensor::from_raw(raw) }) else { return Ok(word) };
    if is_float(&t) && t.storage().is_some() && !each_read(row, words).any(|(_, _, input)| same_storage(input, &t)) {
        bail!(Unsupported, "has no derivative, and an input requires a gradient")
    }
    Ok(t.into_raw().word())
}

/// Makes results known that share elements with an input.
fn track_views(row: &'static Row, words: &[Word], word: Word, sources: &[(Before, Option<usize>)], is_recorded: bool) -> Result<()> {
    let track = |r: &Tensor, becomes: bool| -> Result<()> {
        let storage = super::variable::storage_address(r);
        let from = sources.iter().find(|(source, address)| {
            storage != 0 && source.storage == storage && (becomes || *address != Some(r.as_ptr().addr()))
        });
        match from {
            Some((source, address)) => {
                let of = each_read(row, words).find(|(_, _, t)| Some(t.as_ptr().addr()) == *address);
                of.map_or(Ok(()), |(_, _, of)| become_view(r, of, source))
            }
            None if becomes => {
                super::graph::attach(r, None);
                Ok(())
            }
            None => Ok(()),
        }
    };
    for k in each_place(row.places.views | row.places.handles) {
        handle(words, k).map_or(Ok(()), |r| track(r, true))?;
    }
    for k in each_place(row.places.view_lists) {
        listed(row, words, k).iter().flatten().try_for_each(|r| track(r, true))?;
    }
    for k in each_place(row.places.new_handles) {
        let counted = (k + 1..row.signature.kinds.len()).find(|&c| row.signature.kinds[c] == ArgKind::count_inout);
        let list = <*const Option<Tensor>>::from_word(words[k]);
        let count = counted.map(|c| <*const c_int>::from_word(words[c])).filter(|count| !count.is_null());
        if let (false, Some(count)) = (list.is_null(), count) {
            // SAFETY: the call succeeded, so that the list holds as many handles as the count says now.
            let list = unsafe { std::slice::from_raw_parts(list, (*count).max(0) as usize) };
            list.iter().flatten().try_for_each(|r| track(r, false))?;
        }
    }
    if row.places.returns_tensor
        && !is_recorded
        && let Some(raw) = NonNull::new(<*mut THTensor>::from_word(word))
    {
        // SAFETY: the call returned a new reference, which stays the caller's.
        let r = ManuallyDrop::new(unsafe { Tensor::from_raw(raw) });
        track(&r, false)?;
    }
    Ok(())
}

/// A call that is recorded.
struct Recorded {
    row: &'static Row,
    /// The arguments, with handles for results that the derivative needs and the caller does not.
    words: SmallVec<[Word; 12]>,
    /// The handles among them that are not the caller's.
    own: SmallVec<[Tensor; 2]>,
    rule: &'static Derivative,
    edges: SmallVec<[Edge; 2]>,
    saved: Saved,
    /// The results that the derivative needs.
    kept_results: u32,
    /// Memory for the node.
    room: Room<Node>,
}

impl Recorded {
    fn new(row: &'static Row, rule: &'static Derivative, words: &[Word], edges: SmallVec<[Edge; 2]>) -> Result<Recorded> {
        let (mut needs, mut covered, mut keep, mut shapes) = (0u32, 0u32, 0u32, 0u32);
        edges.iter().for_each(|edge| needs |= 1 << edge.place);
        for part in rule.parts.iter().filter(|part| part.inputs & needs != 0) {
            covered |= part.inputs;
            keep |= part.keep;
            shapes |= part.shapes;
        }
        if let Some(k) = each_place(needs & !covered).next() {
            bail!(Unsupported, "has no derivative with respect to '{}', which requires a gradient", row.signature.arg(k))
        }
        let mut own = SmallVec::new();
        let mut words: SmallVec<[Word; 12]> = words.iter().copied().collect();
        let mut saved = Saved { words: words.iter().copied().collect(), ..Saved::default() };
        let kept_results = keep & row.places.written & !row.places.read;
        for k in each_place(kept_results) {
            if words[k].is_null() {
                let spare = Tensor::fresh()?;
                words[k] = spare.as_ptr().word();
                own.push(spare);
            }
        }
        for k in each_place(keep & !kept_results) {
            if row.places.lists & (1 << k) != 0 {
                for (i, t) in listed(row, &words, k).iter().enumerate() {
                    if let Some(t) = t {
                        saved.tensors.push(keep_tensor(k, i, t, None)?);
                    }
                }
            } else if let Some(t) = handle(&words, k) {
                // What the call changes in place is copied before.
                let copied = if row.places.written & (1 << k) != 0 { Some(crate::ops::copy::contiguous_copy(t)?) } else { None };
                saved.tensors.push(keep_tensor(k, 0, copied.as_ref().unwrap_or(t), None)?);
            }
        }
        for (k, i, t) in each_read(row, &words).filter(|(k, _, _)| shapes & (1 << k) != 0) {
            if saved.shapes.try_reserve(1).is_err() {
                bail!(NoMem, "out of memory for a list of shapes")
            }
            saved.shapes.push((k as u16, i as u16, t.layout()?.shape));
        }
        keep_lists(row, &words, &mut saved)?;
        Ok(Recorded { row, words, own, rule, edges, saved, kept_results, room: Room::new()? })
    }

    /// Gives the results their history.
    fn finish(&mut self, word: Word, written: &Written) -> Result<Word> {
        let returned = match self.row.places.returns_tensor {
            // SAFETY: the call returned a new reference, which is given back to the caller below.
            true => NonNull::new(<*mut THTensor>::from_word(word)).map(|raw| unsafe { Tensor::from_raw(raw) }),
            false => None,
        };
        let mut outputs: SmallVec<[Like; 1]> = SmallVec::new();
        let results = each_place(self.row.places.results);
        for (nr, k) in results.enumerate() {
            let Some(t) = handle(&self.words, k) else {
                // A result that was left out has no gradient.
                outputs.push(Like { shape: crate::layout::Dims::new(), dtype: crate::dtype::Dtype::Float32, device: crate::device::Device::Cpu });
                continue;
            };
            outputs.push(Like::of(t)?);
            if self.kept_results & (1 << k) != 0 {
                self.saved.tensors.push(keep_tensor(k, 0, t, Some(nr as u32))?);
            }
        }
        for k in each_place(self.kept_results & !self.row.places.results) {
            if let Some(t) = handle(&self.words, k) {
                self.saved.tensors.push(keep_tensor(k, 0, t, None)?);
            }
        }
        if let Some(t) = &returned {
            outputs.push(Like::of(t)?);
        }
        let (edges, saved) = (std::mem::take(&mut self.edges), std::mem::take(&mut self.saved));
        let room = std::mem::replace(&mut self.room, Room::none());
        let node = Node::within(room, Rule::Table(self.rule), edges, outputs, saved)?;
        for (nr, k) in each_place(self.row.places.results).enumerate() {
            let before = written.iter().find(|(place, _)| *place == k);
            if let (Some(t), Some((_, before))) = (handle(&self.words, k), before) {
                settle(t, before, is_float(t).then(|| (node.clone(), nr as u32)))?;
            }
        }
        for (k, before) in written.iter().filter(|(k, before)| self.row.places.results & (1 << k) == 0 && before.variable.is_some()) {
            handle(&self.words, *k).map_or(Ok(()), |t| settle(t, before, None))?;
        }
        if let Some(t) = returned {
            // A reference to an input is no result.
            let is_input = each_read(self.row, &self.words).any(|(_, _, input)| input.is(&t));
            let shares = !is_input && each_read(self.row, &self.words).any(|(_, _, input)| same_storage(input, &t));
            if shares {
                let (_, _, input) = each_read(self.row, &self.words).find(|(_, _, input)| same_storage(input, &t)).expect("found above");
                become_view(&t, input, &Before::of(input, true))?;
            } else if !is_input && is_float(&t) {
                super::graph::attach(&t, Some(Variable::new(State { history: Some((node, 0)), ..State::default() })?));
            }
            return Ok(t.into_raw().word());
        }
        Ok(word)
    }
}

fn same_storage(a: &Tensor, b: &Tensor) -> bool {
    let (a, b) = (super::variable::storage_address(a), super::variable::storage_address(b));
    a == b && a != 0
}

/// A handle of the node's own on the elements of an argument.
fn keep_tensor(place: usize, entry: usize, t: &Tensor, output: Option<u32>) -> Result<SavedTensor> {
    let tensor = crate::ops::view::alias(t)?;
    Ok(SavedTensor { place: place as u16, entry: entry as u16, version: version_of(t), tensor, output })
}

/// Copies the arguments that are lists of numbers, or texts, which are the caller's.
fn keep_lists(row: &'static Row, words: &[Word], saved: &mut Saved) -> Result<()> {
    let kinds = row.signature.kinds;
    for k in 0..kinds.len() {
        if matches!(kinds[k], ArgKind::text) {
            let text = <*const c_char>::from_word(words[k]);
            // SAFETY: the caller passes NULL or a C string.
            saved.text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_owned());
        }
        if kinds[k] != ArgKind::len {
            continue;
        }
        let len = c_int::from_word(words[k]);
        let lists = (k + 1..kinds.len()).take_while(|&at| kinds[at] != ArgKind::len).filter(|&at| is_list(kinds[at]));
        for at in lists {
            let list = <*const i64>::from_word(words[at]);
            if !list.is_null() && (1..=MAX_DIMS as c_int).contains(&len) {
                // SAFETY: the caller passes as many entries as it says.
                let list = unsafe { std::slice::from_raw_parts(list, len as usize) };
                saved.lists.push((at as u16, crate::alloc::list(list.len(), |i| Ok(list[i]))?));
            }
        }
    }
    Ok(())
}

fn is_list(kind: ArgKind) -> bool {
    use ArgKind::*;
    matches!(kind, sizes | strides | dims | entries | counts | optional_sizes | optional_strides | optional_dims | optional_counts)
}
