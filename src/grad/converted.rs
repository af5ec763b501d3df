//! Result handles with another dtype than the computation.
//!
//! Derivatives read results, and multiply the gradient with operands. Both have the dtype of the computation. A call whose result handle
//! has another dtype is recorded as two calls: the operation writes a handle of the recorder, and a product with 1 converts it.

use super::arguments::{each_read, handle, is_float};
use crate::api::args::Kind as ArgKind;
use crate::api::function::Function;
use crate::api::places::each_place;
use crate::api::word::{FromWord, Word};
use crate::dtype::{Dtype, THDtype};
use crate::error::Result;
use crate::expr::names;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// The places of results, each with the handle that the operation writes instead.
pub type Spares = SmallVec<[(usize, Tensor); 1]>;

/// The dtype that a call asks for, `None` for the operation's own.
fn asked(function: &'static Function, words: &[Word]) -> Option<Dtype> {
    let at = function.signature.kinds.iter().position(|&kind| kind == ArgKind::optional_dtype)?;
    Dtype::from_code(THDtype::from_word(words[at]))
}

/// Returns true if a call asks for whole numbers: its result is a step function.
pub fn asks_for_integers(function: &'static Function, words: &[Word]) -> bool {
    asked(function, words).is_some_and(|dtype| !dtype.is_float())
}

/// The dtype of the computation: the promoted dtype of the float operands. Scalars count only if all float operands are scalars.
fn computed(function: &'static Function, words: &[Word]) -> Option<Dtype> {
    let of = |scalars: bool| {
        let floats = each_read(function, words).filter(|(_, _, t)| is_float(t) && (t.ndim() == 0) == scalars);
        floats.filter_map(|(_, _, t)| t.dtype()).reduce(Dtype::promote)
    };
    asked(function, words).or_else(|| of(false)).or_else(|| of(true))
}

/// The result handles of a call that have another dtype than the computation. If there is one, the other results are also written after the
/// call, so that no result is changed if memory runs out.
///
/// A copy needs no such handle, because a copy is a conversion itself, and its result keeps its shape.
pub fn spares(function: &'static Function, words: &[Word]) -> Result<Spares> {
    let mut spares = Spares::new();
    let given =
        each_place(function.places.results & !function.places.read).filter_map(|k| Some((k, handle(words, k).filter(|t| is_float(t))?)));
    for (k, t) in given {
        let dtype = computed(function, words);
        if dtype.is_none() || t.dtype() == dtype || is_copy(function) {
            continue;
        }
        // A handle on another device is refused by the operation itself.
        if each_read(function, words).any(|(_, _, input)| is_float(input) && input.device() == t.device()) {
            spares.push((k, Tensor::fresh()?));
        }
    }
    for k in each_place(if spares.is_empty() { 0 } else { function.places.written & !function.places.read }) {
        if let Some(t) = handle(words, k).filter(|_| !spares.iter().any(|(at, _)| *at == k)) {
            let dtype = t.dtype().filter(|dtype| !dtype.is_float());
            spares.push((k, dtype.map_or_else(Tensor::fresh, Tensor::of_dtype)?));
        }
    }
    Ok(spares)
}

fn is_copy(function: &'static Function) -> bool {
    let copies: [&Function; 3] = [&names::copy::FUNCTION, &names::copyAsync::FUNCTION, &names::freeCopyTo::FUNCTION];
    copies.iter().any(|&copy| std::ptr::eq(copy, function))
}
