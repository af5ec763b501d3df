//! Formulas: the values that derivatives are written in, and the calls of rows that they make.
//!
//! A [`Value`] is a tensor that lives as long as the derivative that is computed. The first failure is kept, after which nothing is
//! computed any more, so that a formula reads as in a textbook: `g * cos(t)`.

use super::counted::Counted;
use super::graph::{Backward, Like, Node, Saved, SavedTensor, Step, with_origin};
use crate::capi::face::args::Kind as ArgKind;
use crate::capi::face::row::{Body, Face, Row, watched};
use crate::capi::face::word::{FromWord, ToWord, Word};
use crate::capi::rows::reduce::rows as reduce;
use crate::capi::rows::tensor::copies::rows as copies;
use crate::dtype::Dtype;
use crate::error::{Error, Kind, Result};
use crate::layout::Dims;
use crate::tensor::{THTensor, Tensor};
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::ptr::NonNull;

/// The derivative of a row.
pub struct Derivative {
    pub row: &'static Row,
    pub parts: &'static [Part],
}

/// The gradient of some inputs of a row.
pub struct Part {
    /// The places of the inputs.
    pub inputs: u32,
    /// The places of the tensors that are kept for it.
    pub keep: u32,
    /// The places of the inputs whose shapes are kept for it.
    pub shapes: u32,
    /// Computes it.
    pub formula: for<'s> fn(&Call<'s>),
}

/// The face of the rows that formulas call.
static FACE: Face = Face { prefix: "THTensor_", integers: false };

/// The values of one derivative.
pub struct Scope {
    values: RefCell<SmallVec<[Tensor; 8]>>,
    error: Cell<Option<Error>>,
    recording: bool,
}

/// A tensor in a formula.
#[derive(Clone, Copy)]
pub struct Value<'s> {
    pub(super) scope: &'s Scope,
    at: usize,
}

/// The call of a row's derivative.
pub struct Call<'s> {
    scope: &'s Scope,
    node: &'s Counted<Node>,
    saved: &'s Saved,
    row: &'static Row,
    grads: &'s [Option<Tensor>],
    given: RefCell<SmallVec<[Option<usize>; 2]>>,
}

/// An argument of a call.
#[derive(Clone, Copy)]
pub enum In<'s, 'a> {
    Tensor(Value<'s>),
    Tensors(&'a [Value<'s>]),
    Null,
    Word(Word),
    List(&'a [i64]),
}

impl Scope {
    pub fn new(recording: bool) -> Scope {
        Scope { values: RefCell::new(SmallVec::new()), error: Cell::new(None), recording }
    }

    fn failed(&self) -> bool {
        let error = self.error.take();
        let failed = error.is_some();
        self.error.set(error);
        failed
    }

    fn fail(&self, error: Error) {
        if !self.failed() {
            self.error.set(Some(error));
        }
    }

    /// The failure, if there was one.
    pub fn finish(&self) -> Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// A value that is this tensor.
    pub fn value(&self, t: Tensor) -> Value<'_> {
        let mut values = self.values.borrow_mut();
        values.push(t);
        Value { scope: self, at: values.len() - 1 }
    }

    /// The value that stands for an argument that is left out.
    pub fn nothing(&self) -> Value<'_> {
        Value { scope: self, at: usize::MAX }
    }

    fn attempt(&self, f: impl FnOnce() -> Result<Tensor>) -> Value<'_> {
        if self.failed() {
            return Value { scope: self, at: usize::MAX };
        }
        match f() {
            Ok(t) => self.value(t),
            Err(error) => {
                self.fail(error);
                Value { scope: self, at: usize::MAX }
            }
        }
    }

    fn tensor(&self, at: usize) -> Option<Tensor> {
        self.values.borrow().get(at).cloned()
    }

    /// The results of a row at the places in `wanted`, counted from the first; what is not among them is left out where it may be.
    fn results(&self, row: &'static Row, wanted: u32, args: &[In<'_, '_>]) -> Result<SmallVec<[Tensor; 3]>> {
        let mut results: SmallVec<[Tensor; 3]> = SmallVec::new();
        let mut words: SmallVec<[Word; 12]> = SmallVec::new();
        // No row has more than two lists of tensors: they stay where they are.
        let mut lists: SmallVec<[SmallVec<[*mut THTensor; 4]>; 2]> = SmallVec::new();
        let (mut next, mut last_list) = (args.iter(), 0);
        for (k, &kind) in row.signature.kinds.iter().enumerate() {
            let word = match kind {
                ArgKind::len | ArgKind::len_or_whole => {
                    let list = next.clone().find_map(|arg| if let In::List(list) = arg { Some(list.len()) } else { None });
                    (list.unwrap_or(0) as c_int).word()
                }
                ArgKind::handle_count => (last_list as c_int).word(),
                // The one result of a call that writes to a value.
                kind if is_result(kind) && !(wanted == 0 && k == 0 && kind == ArgKind::out) => {
                    if wanted & (1 << k) != 0 {
                        results.push(Tensor::fresh()?);
                        results[results.len() - 1].as_ptr().word()
                    } else {
                        Word::ZERO
                    }
                }
                _ => match next.next() {
                    Some(In::Tensor(value)) => match self.tensor(value.at) {
                        Some(t) => t.as_ptr().word(),
                        None => Word::ZERO,
                    },
                    Some(In::Tensors(values)) => {
                        last_list = values.len();
                        lists.push(values.iter().map(|value| self.tensor(value.at).map_or(std::ptr::null_mut(), |t| t.as_ptr())).collect());
                        lists[lists.len() - 1].as_ptr().word()
                    }
                    Some(In::Word(word)) => *word,
                    Some(In::List(list)) => list.as_ptr().word(),
                    Some(In::Null) | None => Word::ZERO,
                },
            };
            words.push(word);
        }
        let returned = match self.recording {
            true => watched(row, &FACE, &words)?,
            false => row.run(&FACE, &words)?,
        };
        if row.places.returns_tensor
            && let Some(raw) = NonNull::new(<*mut THTensor>::from_word(returned))
        {
            // SAFETY: the call returned a new reference.
            results.push(unsafe { Tensor::from_raw(raw) });
        }
        Ok(results)
    }

    /// The first result of a row.
    pub fn call(&self, row: &'static Row, args: &[In<'_, '_>]) -> Value<'_> {
        self.attempt(|| {
            let first = row.signature.kinds.first().is_some_and(|&kind| is_result(kind));
            self.results(row, u32::from(first), args)?.pop().ok_or_else(|| internal("a formula calls a row without a result"))
        })
    }

    /// Some results of a row.
    pub fn call_for_all<const N: usize>(&self, row: &'static Row, wanted: u32, args: &[In<'_, '_>]) -> [Value<'_>; N] {
        let none = Value { scope: self, at: usize::MAX };
        if self.failed() {
            return [none; N];
        }
        match self.results(row, wanted, args) {
            Ok(results) => {
                let mut all = results.into_iter().map(|t| self.value(t));
                std::array::from_fn(|_| all.next().unwrap_or(none))
            }
            Err(error) => {
                self.fail(error);
                [none; N]
            }
        }
    }

    /// Calls a row that writes `t`, a tensor that nobody else has.
    pub fn write(&self, t: Value<'_>, row: &'static Row, args: &[In<'_, '_>]) {
        if self.failed() {
            return;
        }
        let mut all: SmallVec<[In<'_, '_>; 8]> = SmallVec::new();
        all.push(In::Tensor(t));
        all.extend(args.iter().copied());
        if let Err(error) = self.results(row, 0, &all) {
            self.fail(error);
        }
    }
}

fn is_result(kind: ArgKind) -> bool {
    use ArgKind::*;
    matches!(
        kind,
        out | optional_out | view_out | truth | indices | optional_indices | totals | optional_totals | pivots_out | optional_info
    )
}

fn internal(what: &str) -> Error {
    Error::new(Kind::Internal, format_args!("{what}"))
}

impl<'s> Value<'s> {
    /// The tensor, unless a failure came before.
    pub fn tensor(self) -> Option<Tensor> {
        self.scope.tensor(self.at)
    }

    /// The shape.
    pub fn shape(self) -> Dims {
        self.tensor().and_then(|t| t.layout().ok()).map_or(Dims::new(), |layout| layout.shape)
    }

    /// The number of dimensions.
    pub fn ndim(self) -> usize {
        self.tensor().map_or(0, |t| t.ndim())
    }

    /// The number of elements.
    pub fn numel(self) -> i64 {
        self.shape().iter().product()
    }

    /// The dtype.
    pub fn dtype(self) -> Dtype {
        self.tensor().and_then(|t| t.dtype()).unwrap_or(Dtype::Float32)
    }

    /// Its shape, dtype and device.
    pub fn like(self) -> Like {
        Like { shape: self.shape(), dtype: self.dtype(), device: self.tensor().map_or(crate::device::Device::Cpu, |t| t.device()) }
    }

    /// Returns true if an element is not 0.
    pub fn any(self) -> bool {
        let Some(t) = self.tensor() else { return false };
        match reduce::logicalany::ROW.run(&FACE, &[t.as_ptr().word()]) {
            Ok(any) => c_int::from_word(any) != 0,
            Err(error) => {
                self.scope.fail(error);
                false
            }
        }
    }

    /// Fails the formula.
    pub fn refuse(self, why: std::fmt::Arguments<'_>) {
        self.scope.fail(Error::new(Kind::Unsupported, why));
    }
}

impl<'s> Call<'s> {
    /// The scope of the formula.
    pub fn scope(&self) -> &'s Scope {
        self.scope
    }

    /// The gradient of the first result that has one.
    pub fn g(&self) -> Value<'s> {
        let first = self.grads.iter().flatten().next().cloned();
        self.scope.attempt(|| first.ok_or_else(|| internal("a derivative without a gradient")))
    }

    /// The gradient of the result at a place; `None` stands for 0.
    pub fn grad(&self, place: usize) -> Option<Value<'s>> {
        let nr = (self.row.places.results & ((1 << place) - 1)).count_ones() as usize;
        self.grads.get(nr)?.clone().map(|g| self.scope.value(g))
    }

    /// Returns true if the gradient of the input at a place is wanted.
    pub fn needs(&self, place: usize) -> bool {
        self.node.edges.iter().any(|edge| usize::from(edge.place) == place)
    }

    /// The shape, dtype and device of an input whose gradient is wanted.
    pub fn like(&self, place: usize) -> Like {
        self.like_at(place, 0)
    }

    /// [`Call::like`] of an entry of a list.
    pub fn like_at(&self, place: usize, entry: usize) -> Like {
        let edge = self.node.edges.iter().find(|edge| usize::from(edge.place) == place && usize::from(edge.entry) == entry);
        match edge {
            Some(edge) => edge.like.clone(),
            None => {
                self.scope.fail(internal("a derivative asks for the shape of another input"));
                Like { shape: Dims::new(), dtype: Dtype::Float32, device: crate::device::Device::Cpu }
            }
        }
    }

    /// The shape of an input that was kept.
    pub fn size_at(&self, place: usize, entry: usize) -> &'s [i64] {
        let kept = self.saved.shapes.iter().find(|(at, i, _)| usize::from(*at) == place && usize::from(*i) == entry);
        kept.map_or(&[], |(_, _, shape)| shape)
    }

    /// Returns true if the gradient of an entry of a list is wanted.
    pub fn needs_at(&self, place: usize, entry: usize) -> bool {
        self.node.edges.iter().any(|edge| usize::from(edge.place) == place && usize::from(edge.entry) == entry)
    }

    fn saved(&self, place: usize, entry: usize) -> Option<&SavedTensor> {
        self.saved.tensors.iter().find(|kept| usize::from(kept.place) == place && usize::from(kept.entry) == entry)
    }

    /// The tensor that was kept of an argument, if there was one.
    pub fn optional(&self, place: usize) -> Option<Value<'s>> {
        self.entry(place, 0)
    }

    /// The tensor that was kept of an argument.
    pub fn kept(&self, place: usize) -> Value<'s> {
        match self.entry(place, 0) {
            Some(value) => value,
            None => self.scope.attempt(|| Err(internal("a derivative misses a saved tensor"))),
        }
    }

    /// The tensor that was kept of an entry of a list.
    pub fn entry(&self, place: usize, entry: usize) -> Option<Value<'s>> {
        let kept = self.saved(place, entry)?;
        // Elementwise operations convert integers before they compute.
        let is_converted = matches!(self.row.body, Body::Elementwise(_)) && self.row.signature.kinds[place] == ArgKind::input;
        if is_converted && !kept.tensor.dtype().is_some_and(Dtype::is_float) {
            let dtype = self.node.outputs.first().map_or(Dtype::Float32, |output| output.dtype);
            let t = self.scope.value(kept.tensor.clone());
            return Some(self.scope.call(&copies::newTo::ROW, &[t.into(), dtype.into()]));
        }
        Some(self.scope.attempt(|| {
            if !self.scope.recording {
                return Ok(kept.tensor.clone());
            }
            let edge = self.node.edges.iter().find(|edge| usize::from(edge.place) == place && usize::from(edge.entry) == entry);
            with_origin(&kept.tensor, self.node, kept.output, edge)
        }))
    }

    /// The number of entries of the list at a place.
    pub fn entries(&self, place: usize) -> usize {
        let edges = self.node.edges.iter().filter(|edge| usize::from(edge.place) == place).map(|edge| usize::from(edge.entry) + 1);
        let kept = self.saved.tensors.iter().filter(|kept| usize::from(kept.place) == place).map(|kept| usize::from(kept.entry) + 1);
        let shapes = self.saved.shapes.iter().filter(|(at, _, _)| usize::from(*at) == place).map(|(_, i, _)| usize::from(*i) + 1);
        edges.chain(kept).chain(shapes).max().unwrap_or(0)
    }

    /// A number among the arguments.
    pub fn plain<T: FromArgument>(&self, place: usize) -> T {
        T::from_argument(self.saved.words[place])
    }

    /// A list among the arguments; empty if it was NULL.
    pub fn list(&self, place: usize) -> &'s [i64] {
        self.saved.lists.iter().find(|(at, _)| usize::from(*at) == place).map_or(&[], |(_, list)| list)
    }

    /// The text among the arguments.
    pub fn text(&self) -> &'s str {
        self.saved.text.as_ref().and_then(|text| text.to_str().ok()).unwrap_or_default()
    }

    /// Gives the gradient of an input.
    pub fn give(&self, place: usize, value: Value<'s>) {
        self.give_at(place, 0, value);
    }

    /// Gives the gradient of an entry of a list.
    pub fn give_at(&self, place: usize, entry: usize, value: Value<'s>) {
        let mut given = self.given.borrow_mut();
        for (k, edge) in self.node.edges.iter().enumerate() {
            if usize::from(edge.place) == place && usize::from(edge.entry) == entry {
                given[k] = Some(value.at);
            }
        }
    }
}

/// Types of numbers among arguments.
pub trait FromArgument {
    fn from_argument(word: Word) -> Self;
}

macro_rules! from_words {
    ($($t:ty)*) => { $(impl FromArgument for $t { fn from_argument(word: Word) -> $t { <$t>::from_word(word) } })* };
}
from_words!(f64 i64 i32);

impl FromArgument for bool {
    fn from_argument(word: Word) -> bool {
        c_int::from_word(word) != 0
    }
}

impl Backward for Derivative {
    fn name(&self) -> &str {
        self.row.signature.name()
    }

    fn apply(&self, step: &mut Step<'_>) -> Result<()> {
        let saved = step.node.saved();
        let Some(saved) = &*saved else { return Err(internal("a derivative without saved tensors")) };
        let scope = Scope::new(step.recording);
        let given = RefCell::new(step.given.iter().map(|_| None).collect());
        let call = Call { scope: &scope, node: step.node, saved, row: self.row, grads: step.grads, given };
        let mut needs = 0;
        step.node.edges.iter().for_each(|edge| needs |= 1u32 << edge.place);
        for part in self.parts.iter().filter(|part| part.inputs & needs != 0) {
            (part.formula)(&call);
        }
        scope.finish()?;
        for (k, value) in call.given.borrow().iter().enumerate() {
            step.given[k] = value.and_then(|at| scope.tensor(at));
        }
        Ok(())
    }
}

impl<'s> From<Value<'s>> for In<'s, '_> {
    fn from(value: Value<'s>) -> Self {
        In::Tensor(value)
    }
}

impl<'s> From<Option<Value<'s>>> for In<'s, '_> {
    fn from(value: Option<Value<'s>>) -> Self {
        value.map_or(In::Null, In::Tensor)
    }
}

impl<'a> From<&'a [i64]> for In<'_, 'a> {
    fn from(list: &'a [i64]) -> Self {
        In::List(list)
    }
}

impl<'a> From<&'a Dims> for In<'_, 'a> {
    fn from(list: &'a Dims) -> Self {
        In::List(list)
    }
}

macro_rules! in_words {
    ($($t:ty)*) => { $(impl From<$t> for In<'_, '_> { fn from(x: $t) -> Self { In::Word(x.word()) } })* };
}
in_words!(f64 i64 i32);

impl From<bool> for In<'_, '_> {
    fn from(x: bool) -> Self {
        In::Word(c_int::from(x).word())
    }
}

impl From<Dtype> for In<'_, '_> {
    fn from(dtype: Dtype) -> Self {
        In::Word((dtype as c_int).word())
    }
}
