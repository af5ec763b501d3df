//! Result handles with another dtype than the computation.
//!
//! Derivatives read results, and multiply the gradient with operands. Both have the dtype of the computation. A call whose result handle
//! has another dtype is recorded as two calls: the operation writes a handle of the recorder, and a product with 1 converts it.

use super::record::{Conversion, each_read, handle, is_float, recorded, same_storage};
use crate::capi::face::args::Kind as ArgKind;
use crate::capi::face::places::each_place;
use crate::capi::face::row::{Face, Row};
use crate::capi::face::word::{FromWord, ToWord, Word};
use crate::capi::words::names;
use crate::device::{self, Making};
use crate::dtype::{Dtype, THDtype};
use crate::error::{Result, bail};
use crate::ops::deliver;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// Result handles of another dtype than the computation's: the place of each, and the handle that the operation writes instead.
pub type Spares = SmallVec<[(usize, Tensor); 1]>;

/// The dtype that a call asks for, `None` for the operation's own.
fn asked(row: &'static Row, words: &[Word]) -> Option<Dtype> {
    let at = row.signature.kinds.iter().position(|&kind| kind == ArgKind::optional_dtype)?;
    Dtype::from_code(THDtype::from_word(words[at]))
}

/// Returns true if a call asks for whole numbers: its result is a step function.
pub fn asks_for_integers(row: &'static Row, words: &[Word]) -> bool {
    asked(row, words).is_some_and(|dtype| !dtype.is_float())
}

/// The dtype of the computation: the promoted dtype of the float operands. Scalars count only if all float operands are scalars.
fn computed(row: &'static Row, words: &[Word]) -> Option<Dtype> {
    let of = |scalars: bool| {
        let floats = each_read(row, words).filter(|(_, _, t)| is_float(t) && (t.ndim() == 0) == scalars);
        floats.filter_map(|(_, _, t)| t.dtype()).reduce(Dtype::promote)
    };
    asked(row, words).or_else(|| of(false)).or_else(|| of(true))
}

/// The result handles of a call that have another dtype than the computation.
///
/// A copy has none: a copy is a conversion itself, and its result keeps its shape.
pub fn spares(row: &'static Row, words: &[Word]) -> Result<Spares> {
    let mut spares = Spares::new();
    let given = each_place(row.places.results & !row.places.read).filter_map(|k| Some((k, handle(words, k).filter(|t| is_float(t))?)));
    for (k, t) in given {
        let dtype = computed(row, words);
        if dtype.is_none() || t.dtype() == dtype || is_copy(row) {
            continue;
        }
        // A handle on another device is refused by the operation itself.
        if each_read(row, words).any(|(_, _, input)| is_float(input) && input.device() == t.device()) {
            spares.push((k, Tensor::fresh()?));
        }
    }
    Ok(spares)
}

fn is_copy(row: &'static Row) -> bool {
    let copies: [&Row; 3] = [&names::copy::ROW, &names::copyAsync::ROW, &names::freeCopyTo::ROW];
    copies.iter().any(|&copy| std::ptr::eq(copy, row))
}

/// Results with another dtype than the computation, at most.
const MOST: usize = 8;

/// Calls a row with `spares` in place of results, and converts them: all, or none where memory runs out.
pub fn call(row: &'static Row, face: &'static Face, words: &[Word], spares: &Spares) -> Result<Word> {
    let mut apart: SmallVec<[Word; 12]> = words.iter().copied().collect();
    spares.iter().for_each(|(k, spare)| apart[*k] = spare.as_ptr().word());
    let word = recorded(row, face, &apart, Some(words))?;
    let (mut conversions, mut made) = (SmallVec::<[Conversion; 1]>::new(), [None; MOST]);
    for (place, (k, spare)) in made.iter_mut().zip(spares) {
        let Some(t) = handle(words, *k) else { continue };
        let is_operand = |input: &Tensor| same_storage(input, t);
        if !spare.same_shape(t) && each_read(row, words).any(|(_, _, input)| is_operand(input)) {
            bail!(Shape, "'{}' shares its elements with an operand, and would get another shape", row.signature.arg(*k))
        }
        conversions.push(Conversion::new(t, spare)?);
        *place = Some((t, spare.defined()?, spare));
    }
    let there = spares.first().map(|(_, spare)| spare.device());
    let _there = device::is_used().then(|| there.map(Making::on));
    deliver(made)?;
    conversions.into_iter().try_for_each(Conversion::finish)?;
    Ok(word)
}
