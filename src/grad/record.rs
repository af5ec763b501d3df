//! Recording: each call of a function, once a program uses gradients.
//!
//! The kinds of a function's arguments say which arguments are read, written, or become views, so one recorder serves all operations. The
//! recorder inspects the arguments, calls the function, and gives the results their histories.

use super::arguments::{each_read, handle, is_float, listed, same_storage};
use super::converted;
use super::counted::Counted;
use super::formula::Derivative;
use super::graph::{Cut, Edge, Node, Rule, Saved, SavedTensor, State, Variable, is_active, is_known, own_variable, version_of};
use super::shared;
use super::stand_in::Call;
use super::switch;
use super::variable::{Before, Source, become_view, check_own_geometry, check_result, check_writable, may_hide, settle, target};
use super::views::{self, Views};
use crate::api::args::Kind as ArgKind;
use crate::api::function::{Function, on_device};
use crate::api::places::each_place;
use crate::api::word::{FromWord, ToWord, Word};
use crate::device::{self, Device, DeviceGuard};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::expr::{Like, names};
use crate::layout::{Dims, MAX_DIMS};
use crate::ops::deliver;
use crate::storage::{HAS_HISTORY, Storage};
use crate::tensor::{THTensor, Tensor};
use smallvec::SmallVec;
use std::ffi::{CStr, c_char, c_int};
use std::hash::BuildHasher;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// The derivatives of functions, by the address of the function.
pub struct Table {
    /// A hash table with linear probing that is at most half full. A `HashMap` has no pointer to the beginning of its memory, so valgrind
    /// would report the memory as lost.
    derivatives: Box<[Option<&'static Derivative>]>,
    /// Functions whose results have no gradient with respect to float operands.
    constant: &'static [&'static Function],
}

/// A hash of addresses by one multiplication.
#[derive(Clone, Default)]
pub struct Hasher(u64);

impl BuildHasher for Hasher {
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
pub fn derive_by(derivatives: &'static [&'static [Derivative]], constant: &'static [&'static Function]) {
    crate::alloc::fork::once(&TABLE, || {
        let count: usize = derivatives.iter().map(|part| part.len()).sum();
        let mut table = Table { derivatives: vec![None; (2 * count).next_power_of_two()].into_boxed_slice(), constant };
        for derivative in derivatives.iter().flat_map(|part| part.iter()) {
            let place = table.place(derivative.function);
            table.derivatives[place] = Some(derivative);
        }
        table
    });
}

impl Table {
    /// Returns the index of the derivative of a function, or the free index for it.
    fn place(&self, function: &'static Function) -> usize {
        let last = self.derivatives.len() - 1;
        let mut place = Hasher(0).hash_one(std::ptr::from_ref(function).addr()) as usize & last;
        while self.derivatives[place].is_some_and(|other| !std::ptr::eq(other.function, function)) {
            place = (place + 1) & last;
        }
        place
    }
}

/// The derivative of a function.
pub fn derivative(function: &'static Function) -> Option<&'static Derivative> {
    let table = TABLE.get()?;
    table.derivatives[table.place(function)]
}

fn is_constant(function: &'static Function) -> bool {
    TABLE.get().is_some_and(|table| table.constant.iter().any(|&constant| std::ptr::eq(constant, function)))
}

/// Counts one more write to the elements of a storage.
fn count(storage: &Storage) {
    // A concurrent write to the same elements is already a data race, so a lost count does not matter.
    let version = storage.version();
    version.store(version.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// Counts one more write to the elements of a handle.
pub(super) fn count_write(t: &Tensor) {
    t.borrow_storage().into_iter().for_each(count);
}

/// Returns the storage of argument `k`, which may be NULL.
fn storage(words: &[Word], k: usize) -> Option<&Storage> {
    // SAFETY: a word of this kind is NULL or a live storage, and `Storage` is a transparent pointer.
    unsafe { &*(&raw const words[k]).cast::<Option<Storage>>() }.as_ref()
}

/// Counts the writes of a call that has succeeded.
fn count_writes(function: &'static Function, words: &[Word]) {
    for k in each_place(function.places.written) {
        handle(words, k).into_iter().for_each(count_write);
    }
    for k in each_place(function.places.written_storages) {
        storage(words, k).into_iter().for_each(count);
    }
}

/// Returns true if gradients go through no handle of a list among the arguments, and through no storage.
#[inline(never)]
fn are_lists_quiet(function: &'static Function, words: &[Word]) -> bool {
    let places = function.places;
    !each_place(places.lists | places.view_lists).any(|k| listed(function, words, k).iter().flatten().any(is_active))
        && !each_place(places.storages | places.written_storages)
            .any(|k| storage(words, k).is_some_and(|storage| storage.has_mark(HAS_HISTORY)))
}

/// Calls a function, and records the call if recording is on and an input needs a gradient.
pub fn call(function: &'static Function, words: &[Word]) -> Result<Word> {
    let places = function.places;
    // Gradients go through no handle, and through no elements that the call may change.
    let (mut is_quiet, mut are_known) = (true, false);
    for k in each_place(places.read | places.written | places.views | places.handles) {
        let Some(t) = handle(words, k) else { continue };
        let is_known = is_known(t);
        are_known |= is_known;
        is_quiet &= !(is_known && is_active(t)) && (places.written & (1 << k) == 0 || !may_hide(t));
    }
    if places.lists | places.view_lists | places.storages | places.written_storages != 0 {
        is_quiet &= are_lists_quiet(function, words);
    }
    if !is_quiet {
        return if switch::is_recording() { recorded(function, words, None) } else { unrecorded(function, words) };
    }
    let word = on_device(function, words)?;
    count_writes(function, words);
    for k in each_place(if are_known { places.written | places.handles } else { 0 }) {
        handle(words, k).into_iter().filter(|t| is_known(t)).for_each(shared::lay_out_anew);
    }
    if places.may_view() {
        views::share_all(function, words, word);
    }
    Ok(word)
}

/// The handles that a call writes, with their argument index and their state before the call.
type Written = SmallVec<[(usize, Before); 3]>;

/// Calls a function while recording is off. Leaves stay leaves, tensors that are changed in place keep their histories, and other results
/// have no history.
fn unrecorded(function: &'static Function, words: &[Word]) -> Result<Word> {
    let mut written = Written::new();
    for k in each_place(function.places.written) {
        if let Some(t) = handle(words, k).filter(|t| is_known(t)) {
            written.push((k, Before::of(t, false)?));
        }
    }
    let views = Views::before(function, words)?;
    let word = on_device(function, words)?;
    count_writes(function, words);
    for (k, before) in &mut written {
        let Some(t) = handle(words, *k) else { continue };
        let Some(variable) = &before.variable else { continue };
        let in_place = each_read(function, words).any(|(_, _, input)| input.is(t));
        let stays = {
            let state = variable.lock();
            let of_leaf = state.view.as_ref().is_some_and(|view| view.base.lock().requires);
            state.requires || ((in_place || of_leaf) && before.storage == t.storage_address())
        };
        if !stays {
            settle(t, before, None)?;
        }
    }
    views.track(Call { function, words }, word, Some(Cut::Unrecorded), false)
}

/// Fails if a call would change elements with a history through their storage, or create a tensor on them without the history.
fn check_storages(function: &'static Function, words: &[Word]) -> Result<()> {
    let places = function.places;
    let has_history = |k: usize| storage(words, k).is_some_and(|storage| storage.has_mark(HAS_HISTORY));
    if each_place(places.written_storages).any(has_history) {
        bail!(
            Argument,
            "the storage has elements of a tensor that requires a gradient, which would be changed: write to the tensor, or call this \
             between THGrad_setEnabled(0) and THGrad_setEnabled(1)"
        )
    }
    let same =
        |k: usize| each_place(places.handles).any(|t| handle(words, t).is_some_and(|t| t.storage_address() == words[k].bits() as usize));
    if (places.returns_tensor || places.handles != 0) && each_place(places.storages).any(|k| has_history(k) && !same(k)) {
        bail!(
            Argument,
            "the storage has elements of a tensor that requires a gradient, which a tensor made of the storage would not know: call \
             THTensor_newAsStrided of the tensor, or this between THGrad_setEnabled(0) and THGrad_setEnabled(1)"
        )
    }
    Ok(())
}

/// Calls a function and records the call. [`converted`] passes `given`, the arguments of the caller, with other result handles than
/// `words`.
pub(super) fn recorded(function: &'static Function, words: &[Word], given: Option<&[Word]>) -> Result<Word> {
    let places = function.places;
    let mut edges: SmallVec<[Edge; 2]> = SmallVec::new();
    // A call without results that depend on floats needs no targets.
    let derives =
        (places.results != 0 || places.returns_tensor) && !is_constant(function) && !converted::asks_for_integers(function, words);
    for (k, i, t) in each_read(function, words).filter(|_| derives) {
        if is_active(t)
            && is_float(t)
            && let Some(to) = target(t)?
        {
            edges.push(Edge { to, place: k as u16, entry: i as u16, like: Like::of(t)? });
        }
    }
    check_storages(function, words)?;
    for k in each_place(places.written) {
        handle(words, k).map_or(Ok(()), check_writable)?;
    }
    for k in each_place(places.handles & !places.emptied) {
        handle(words, k).map_or(Ok(()), check_own_geometry)?;
    }
    let rule = if edges.is_empty() { None } else { derivative(function) };
    if rule.is_some() && given.is_none() {
        let spares = converted::spares(function, words)?;
        if !spares.is_empty() {
            return call_converted(function, words, &spares);
        }
    }
    if rule.is_none() && !edges.is_empty() && places.results != 0 {
        bail!(Unsupported, "has no derivative, and an input requires a gradient")
    }
    let mut written = Written::new();
    for k in each_place(places.written) {
        if let Some(t) = handle(words, k) {
            written.push((k, Before::of(t, rule.is_some() && places.results & (1 << k) != 0)?));
        }
    }
    let views = Views::before(function, words)?;
    let is_unknown = rule.is_none() && !edges.is_empty() && places.returns_tensor;
    // This comes before the call saves separate handles.
    for k in each_place(if rule.is_some() { places.results } else { 0 }) {
        handle(words, k).map_or(Ok(()), check_result)?;
    }
    let mut call = match rule {
        Some(rule) => Some(Recorded::new(function, rule, words, edges, given.unwrap_or(words))?),
        None => None,
    };
    let word = match &mut call {
        Some(call) => on_device(function, &saved_of(&mut call.node)?.words)?,
        None => on_device(function, words)?,
    };
    count_writes(function, words);
    let is_recorded = call.is_some();
    let word = match call {
        Some(call) => call.finish(word, &mut written)?,
        None => {
            for (k, before) in &mut written {
                handle(words, *k).map_or(Ok(()), |t| if before.variable.is_some() { settle(t, before, None) } else { Ok(()) })?;
            }
            if is_unknown { derivable(function, words, word)? } else { word }
        }
    };
    views.track(Call { function, words }, word, None, is_recorded)
}

/// The maximum number of results with another dtype than the computation.
const MOST_CONVERTED: usize = 8;

/// Calls a function with `spares` in place of results, and converts them. If memory runs out, no result is changed.
fn call_converted(function: &'static Function, words: &[Word], spares: &converted::Spares) -> Result<Word> {
    let mut apart: SmallVec<[Word; 12]> = words.iter().copied().collect();
    spares.iter().for_each(|(k, spare)| apart[*k] = spare.as_ptr().word());
    let places = function.places;
    let word = recorded(function, &apart, Some(words))?;
    let (mut conversions, mut made) = (SmallVec::<[Conversion; 1]>::new(), [None; MOST_CONVERTED]);
    for (place, (k, spare)) in made.iter_mut().zip(spares) {
        let Some(t) = handle(words, *k) else { continue };
        let is_operand = |input: &Tensor| same_storage(input, t);
        if !spare.same_shape(t) && each_read(function, words).any(|(_, _, input)| is_operand(input)) {
            bail!(Shape, "'{}' shares its elements with an operand, and would get another shape", function.signature.arg(*k))
        }
        let is_result = places.results & (1 << *k) != 0 && is_float(spare) && t.dtype().is_none_or(Dtype::is_float);
        conversions.push(if is_result { Conversion::new(t, spare)? } else { Conversion::without_history(t, spare)? });
        *place = Some((t, spare.defined()?, spare));
    }
    let there = spares.first().map(|(_, spare)| spare.device());
    let _there = device::is_used().then(|| there.map(DeviceGuard::on));
    deliver(made)?;
    conversions.into_iter().try_for_each(Conversion::finish)?;
    Ok(word)
}

/// Checks the tensor that a function without a derivative returned: if it is of floats, it must share the elements of an input.
fn derivable(function: &'static Function, words: &[Word], word: Word) -> Result<Word> {
    // SAFETY: the call returned a new reference, which is given back to the caller below.
    let Some(t) = NonNull::new(<*mut THTensor>::from_word(word)).map(|raw| unsafe { Tensor::from_raw(raw) }) else { return Ok(word) };
    if is_float(&t) && t.storage().is_some() && !each_read(function, words).any(|(_, _, input)| same_storage(input, &t)) {
        bail!(Unsupported, "has no derivative, and an input requires a gradient")
    }
    Ok(t.into_raw().word())
}

/// A call that is recorded.
struct Recorded {
    function: &'static Function,
    /// The node of the call, which has no other reference until the call is done. Its words are the arguments, with additional handles for
    /// results that only the derivative needs.
    node: Counted<Node>,
    /// The additional handles among the words.
    _spares: SmallVec<[Tensor; 1]>,
    /// The results that the derivative needs.
    kept_results: u32,
    /// Handles for the elements of these results, made before the call.
    keepers: SmallVec<[Tensor; 2]>,
    /// The variable of a tensor that the call returns, made before the call.
    fresh: Option<Counted<Variable>>,
}

impl Recorded {
    fn new(
        function: &'static Function,
        rule: &'static Derivative,
        words: &[Word],
        edges: SmallVec<[Edge; 2]>,
        given: &[Word],
    ) -> Result<Recorded> {
        if let Some(k) = each_place(function.places.lists).find(|&k| listed(function, words, k).len() > 1 << 16) {
            bail!(
                Unsupported,
                "{} tensors in '{}', one of which requires a gradient: at most 65536",
                listed(function, words, k).len(),
                function.signature.arg(k)
            )
        }
        let (mut needs, mut covered, mut keep, mut shapes) = (0u32, 0u32, 0u32, 0u32);
        edges.iter().for_each(|edge| needs |= 1 << edge.place);
        for part in rule.parts.iter().filter(|part| part.inputs & needs != 0) {
            covered |= part.inputs;
            keep |= part.keep;
            shapes |= part.shapes;
        }
        if let Some(k) = each_place(needs & !covered).next() {
            bail!(Unsupported, "has no derivative with respect to '{}', which requires a gradient", function.signature.arg(k))
        }
        let mut spares = SmallVec::new();
        let mut node = Node::new(Rule::Table(rule), edges, SmallVec::new(), Saved::default())?;
        let saved = saved_of(&mut node)?;
        saved.words.extend(words.iter().copied());
        let kept_results = keep & function.places.written & !function.places.read;
        for k in each_place(kept_results) {
            if saved.words[k].is_null()
                && matches!(function.signature.kinds[k], ArgKind::optional_out | ArgKind::optional_indices | ArgKind::optional_totals)
            {
                let spare = Tensor::fresh()?;
                saved.words[k] = spare.as_ptr().word();
                spares.push(spare);
            }
        }
        // Saved tensors that the call changes in place are copied before the call.
        let changes = |t: usize| each_place(function.places.written).any(|r| given[r].bits() as usize == t);
        for k in each_place(keep & !kept_results) {
            if function.places.lists & (1 << k) != 0 {
                for (i, t) in listed(function, words, k).iter().enumerate() {
                    if let Some(t) = t {
                        let copied = if changes(t.as_ptr().addr()) { Some(crate::ops::copy::contiguous_copy(t)?) } else { None };
                        saved.tensors.push(keep_tensor(k, i, copied.as_ref().unwrap_or(t), None)?);
                    }
                }
            } else if let Some(t) = handle(words, k) {
                let copied = if changes(t.as_ptr().addr()) { Some(crate::ops::copy::contiguous_copy(t)?) } else { None };
                saved.tensors.push(keep_tensor(k, 0, copied.as_ref().unwrap_or(t), None)?);
            }
        }
        for (k, i, t) in each_read(function, words).filter(|(k, _, _)| shapes & (1 << k) != 0) {
            if saved.shapes.try_reserve(1).is_err() {
                bail!(NoMem, "out of memory for a list of shapes")
            }
            saved.shapes.push((k as u16, i as u16, t.layout()?.shape));
        }
        keep_lists(function, words, saved)?;
        let mut keepers = SmallVec::new();
        for _ in each_place(kept_results) {
            keepers.push(Tensor::fresh()?);
        }
        if saved.tensors.try_reserve(keepers.len()).is_err() {
            bail!(NoMem, "out of memory for a list of tensors")
        }
        let fresh = if function.places.returns_tensor { Some(Variable::new(State::default())?) } else { None };
        Ok(Recorded { function, node, _spares: spares, kept_results, keepers, fresh })
    }

    /// Gives the results their history.
    fn finish(mut self, word: Word, written: &mut Written) -> Result<Word> {
        let (function, places) = (self.function, self.function.places);
        let returned = match places.returns_tensor {
            // SAFETY: the call returned a new reference, which is given back to the caller below.
            true => NonNull::new(<*mut THTensor>::from_word(word)).map(|raw| unsafe { Tensor::from_raw(raw) }),
            false => None,
        };
        let Some(node) = self.node.get_mut() else { bail!(Internal, "a node has two owners") };
        let saved = node.saved.get_mut();
        let Some(Saved { words, tensors, .. }) = saved else { bail!(Internal, "a new node without what it saved") };
        for (nr, k) in each_place(places.results).enumerate() {
            match handle(words, k) {
                Some(t) => node.outputs.push(Like::of(t)?),
                // A result that was left out has no gradient.
                None => node.outputs.push(Like { shape: Dims::new(), dtype: Dtype::Float32, device: Device::Cpu }),
            }
            if let Some(t) = handle(words, k).filter(|_| self.kept_results & (1 << k) != 0) {
                tensors.push(kept(k, t, self.keepers.pop(), Some(nr as u32))?);
            }
        }
        for k in each_place(self.kept_results & !places.results) {
            if let Some(t) = handle(words, k) {
                tensors.push(kept(k, t, self.keepers.pop(), None)?);
            }
        }
        if let Some(t) = &returned {
            node.outputs.push(Like::of(t)?);
        }
        let words = words.clone();
        for (k, before) in written {
            let Some(t) = handle(&words, *k) else { continue };
            let is_result = places.results & (1 << *k) != 0;
            if is_result && is_float(t) {
                let nr = (places.results & ((1 << *k) - 1)).count_ones();
                settle(t, before, Some((self.node.clone(), nr)))?;
            } else if is_result || before.variable.is_some() {
                settle(t, before, None)?;
            }
        }
        let Some(t) = returned else { return Ok(word) };
        // A reference to an input is no result.
        let is_input = each_read(function, &words).any(|(_, _, input)| input.is(&t));
        let shared = each_read(function, &words).map(|(_, _, input)| input).find(|input| !is_input && same_storage(input, &t));
        if let Some(input) = shared {
            let source = Source::of(input)?;
            let apart = Call { function, words: &words }.on_stand_in(&source, &t)?;
            become_view(&t, &source, None, false, apart)?;
        } else if !is_input
            && is_float(&t)
            && let Some(fresh) = self.fresh
        {
            fresh.lock().history = Some((self.node, 0));
            fresh.activate();
            t.borrow_storage().into_iter().for_each(|storage| storage.mark(HAS_HISTORY));
            super::graph::attach(&t, Some(fresh));
        }
        Ok(t.into_raw().word())
    }
}

/// The conversion of a result, recorded as a product with 1.
pub(super) struct Conversion {
    words: [Word; 3],
    /// `None` if no gradient goes through the result.
    call: Option<Recorded>,
    written: Written,
}

impl Conversion {
    /// Allocates the memory for the history of `t`, which will get the elements of `made`.
    pub fn new(t: &Tensor, made: &Tensor) -> Result<Conversion> {
        let (function, words) = (&names::mul::FUNCTION, [t.as_ptr().word(), made.as_ptr().word(), 1.0.word()]);
        check_result(t)?;
        let mut written = Written::new();
        written.push((0, Before::of(t, true)?));
        let call = match (target(made)?, derivative(function)) {
            (Some(to), Some(rule)) => {
                let mut edges = SmallVec::new();
                edges.push(Edge { to, place: 1, entry: 0, like: Like::of(made)? });
                Some(Recorded::new(function, rule, &words, edges, &words)?)
            }
            _ => None,
        };
        Ok(Conversion { words, call, written })
    }

    /// A result through which no gradients go.
    fn without_history(t: &Tensor, made: &Tensor) -> Result<Conversion> {
        let mut written = Written::new();
        written.push((0, Before::of(t, false)?));
        Ok(Conversion { words: [t.as_ptr().word(), made.as_ptr().word(), Word::ZERO], call: None, written })
    }

    /// Gives the result its history, after it was written.
    pub fn finish(mut self) -> Result<()> {
        let Some(t) = handle(&self.words, 0) else { return Ok(()) };
        // A handle that has taken over the memory of `made` was not written.
        if !handle(&self.words, 1).is_some_and(|made| same_storage(made, t)) {
            count_write(t);
        }
        match self.call {
            Some(call) => call.finish(self.words[0], &mut self.written).map(drop),
            None => settle(t, &mut self.written[0].1, None),
        }
    }
}

/// Returns the saved tensors of a node without other references.
fn saved_of(node: &mut Counted<Node>) -> Result<&mut Saved> {
    let saved = node.get_mut().and_then(|node| node.saved.get_mut().as_mut());
    match saved {
        Some(saved) => Ok(saved),
        None => bail!(Internal, "a new node without what it saved"),
    }
}

/// Makes a separate handle of the node on the elements of an argument.
fn keep_tensor(place: usize, entry: usize, t: &Tensor, output: Option<u32>) -> Result<SavedTensor> {
    // If `t` is the only handle on its elements, it may get a history later. The variable tells the separate handle of the node apart from
    // an unknown handle.
    if !is_known(t) && is_float(t) && t.storage().is_some_and(|storage| storage.refcount() <= 2) {
        own_variable(t)?;
    }
    let tensor = crate::ops::view::alias(t)?;
    Ok(SavedTensor { place: place as u16, entry: entry as u16, version: version_of(t), tensor, output })
}

/// Makes the fresh handle `keeper` a handle on the elements of a result.
fn kept(place: usize, t: &Tensor, keeper: Option<Tensor>, output: Option<u32>) -> Result<SavedTensor> {
    let Some(keeper) = keeper else { bail!(Internal, "there is no handle for a result") };
    if t.dtype().is_some() {
        crate::ops::view::set(&keeper, t)?;
    }
    Ok(SavedTensor { place: place as u16, entry: 0, version: version_of(t), tensor: keeper, output })
}

/// Copies the arguments that are lists of numbers or texts, because the caller owns them.
fn keep_lists(function: &'static Function, words: &[Word], saved: &mut Saved) -> Result<()> {
    let kinds = function.signature.kinds;
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
