//! Derivatives: the saved parts of a call, and the formulas of gradients.

use super::counted::Counted;
use super::graph::{Backward, Node, Saved, SavedTensor, Step, with_origin};
use crate::api::args::Kind as ArgKind;
use crate::api::function::{Body, Function};
use crate::api::functions::tensor::copies::table as copies;
use crate::api::word::{FromWord, Word};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::expr::{Like, Scope, Value, internal};
use crate::layout::Dims;
use crate::tensor::Tensor;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ffi::c_int;

/// The derivative of a function.
pub struct Derivative {
    pub function: &'static Function,
    pub parts: &'static [Part],
}

/// The gradient of some inputs of a function.
pub struct Part {
    /// The indices of the inputs, as bits.
    pub inputs: u32,
    /// The indices of the tensors that the formula needs, as bits.
    pub keep: u32,
    /// The indices of the inputs whose shapes the formula needs, as bits.
    pub shapes: u32,
    /// Computes the gradients.
    pub formula: for<'s> fn(&Call<'s>),
}

/// Returns the index of the part that belongs to entry `entry` of the list at index `place`. The entries of a list are ordered and
/// adjacent, so a search in a long list needs few steps.
fn find<T>(parts: &[T], at: impl Fn(&T) -> (u16, u16), place: usize, entry: usize) -> Option<usize> {
    let first = parts.iter().position(|part| usize::from(at(part).0) == place)?;
    let is_before = |part: &T| usize::from(at(part).0) == place && usize::from(at(part).1) < entry;
    let k = first + parts[first..].partition_point(is_before);
    parts.get(k).filter(|part| usize::from(at(part).0) == place && usize::from(at(part).1) == entry).map(|_| k)
}

/// The call of a function's derivative.
pub struct Call<'s> {
    scope: &'s Scope,
    node: &'s Counted<Node>,
    saved: &'s Saved,
    function: &'static Function,
    grads: &'s [Option<Tensor>],
    given: RefCell<SmallVec<[Option<usize>; 2]>>,
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

    /// The gradient of the result at an index; `None` is 0.
    pub fn grad(&self, place: usize) -> Option<Value<'s>> {
        let nr = (self.function.places.results & ((1 << place) - 1)).count_ones() as usize;
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
        match self.edge(place, entry) {
            Some(k) => self.node.edges[k].like.clone(),
            None => {
                self.scope.fail(internal("a derivative asks for the shape of another input"));
                Like { shape: Dims::new(), dtype: Dtype::Float32, device: crate::device::Device::Cpu }
            }
        }
    }

    /// The shape of an input that was kept.
    pub fn size_at(&self, place: usize, entry: usize) -> &'s [i64] {
        let kept = find(&self.saved.shapes, |(at, i, _)| (*at, *i), place, entry);
        kept.map_or(&[], |k| &self.saved.shapes[k].2)
    }

    /// Returns true if the gradient of an entry of a list is wanted.
    pub fn needs_at(&self, place: usize, entry: usize) -> bool {
        self.edge(place, entry).is_some()
    }

    /// The index of the edge of an entry of a list.
    fn edge(&self, place: usize, entry: usize) -> Option<usize> {
        find(&self.node.edges, |edge| (edge.place, edge.entry), place, entry)
    }

    fn saved(&self, place: usize, entry: usize) -> Option<&SavedTensor> {
        find(&self.saved.tensors, |kept| (kept.place, kept.entry), place, entry).map(|k| &self.saved.tensors[k])
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
        let is_converted = matches!(self.function.body, Body::Elementwise(_)) && self.function.signature.kinds[place] == ArgKind::input;
        if is_converted && !kept.tensor.dtype().is_some_and(Dtype::is_float) {
            let dtype = self.node.outputs.first().map_or(Dtype::Float32, |output| output.dtype);
            let t = self.scope.value(kept.tensor.clone());
            return Some(self.scope.call(&copies::newTo::FUNCTION, &[t.into(), dtype.into()]));
        }
        Some(self.scope.attempt(|| {
            if !self.scope.recording {
                return Ok(kept.tensor.clone());
            }
            let edge = self.edge(place, entry).map(|k| &self.node.edges[k]);
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
        if let Some(k) = self.edge(place, entry) {
            self.given.borrow_mut()[k] = Some(value.at);
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
        self.function.signature.name()
    }

    fn apply(&self, step: &mut Step<'_>) -> Result<()> {
        let saved = step.node.saved();
        let Some(saved) = &*saved else { return Err(internal("a derivative without saved tensors")) };
        let scope = Scope::new(step.recording);
        let given = RefCell::new(step.given.iter().map(|_| None).collect());
        let call = Call { scope: &scope, node: step.node, saved, function: self.function, grads: step.grads, given };
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
