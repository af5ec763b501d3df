//! Values: tensors that live as long as a formula, and the function calls of a formula.
//!
//! The first failure is kept, and later calls compute nothing. So a formula needs no error handling: `g * cos(t)`.

use crate::api::args::Kind as ArgKind;
use crate::api::function::{Function, watched};
use crate::api::functions::reduce::table as reduce;
use crate::api::word::{FromWord, ToWord, Word};
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Error, Kind, Result};
use crate::layout::Dims;
use crate::tensor::{THTensor, Tensor};
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::ptr::NonNull;

/// The shape, dtype and device of a tensor.
#[derive(Clone, Debug)]
pub struct Like {
    pub shape: Dims,
    pub dtype: Dtype,
    pub device: Device,
}

impl Like {
    /// Returns the shape, dtype and device of a tensor; fails if it has none.
    pub fn of(t: &Tensor) -> Result<Like> {
        Ok(Like { shape: t.layout()?.shape, dtype: t.defined()?, device: t.device() })
    }
}

/// The values of one formula.
pub struct Scope {
    values: RefCell<SmallVec<[Tensor; 8]>>,
    error: Cell<Option<Error>>,
    pub recording: bool,
}

/// A tensor in a formula.
#[derive(Clone, Copy)]
pub struct Value<'s> {
    pub scope: &'s Scope,
    pub at: usize,
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

    /// Returns true after a failure.
    pub fn failed(&self) -> bool {
        let error = self.error.take();
        let failed = error.is_some();
        self.error.set(error);
        failed
    }

    /// Makes the formula fail with this error, unless it has failed before.
    pub fn fail(&self, error: Error) {
        if !self.failed() {
            self.error.set(Some(error));
        }
    }

    /// Returns the failure, if there was one.
    pub fn finish(&self) -> Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// A value that is this tensor.
    pub fn value(&self, t: Tensor) -> Value<'_> {
        let mut values = self.values.borrow_mut();
        values.push(t);
        Value { scope: self, at: values.len() - 1 }
    }

    /// Returns the value of an argument that is NULL.
    pub fn nothing(&self) -> Value<'_> {
        Value { scope: self, at: usize::MAX }
    }

    /// Returns the tensor that `f` returns, unless a failure came before.
    pub fn attempt(&self, f: impl FnOnce() -> Result<Tensor>) -> Value<'_> {
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

    pub fn tensor(&self, at: usize) -> Option<Tensor> {
        self.values.borrow().get(at).cloned()
    }

    /// Calls a function, and records the call if this scope records.
    pub fn invoke(&self, function: &'static Function, words: &[Word]) -> Result<Word> {
        if self.recording { watched(function, words) } else { function.run(words) }
    }

    /// Returns the number that a function returns for a tensor and further numbers.
    pub fn number(&self, function: &'static Function, t: &Tensor, numbers: &[f64]) -> Result<f64> {
        let words: SmallVec<[Word; 3]> = [t.as_ptr().word()].into_iter().chain(numbers.iter().map(|x| x.word())).collect();
        self.invoke(function, &words).map(f64::from_word)
    }

    /// Returns the results of a function at the positions in `wanted`, counted from the first argument. Other results are passed as NULL.
    fn results(&self, function: &'static Function, wanted: u32, args: &[In<'_, '_>]) -> Result<SmallVec<[Tensor; 3]>> {
        let mut results: SmallVec<[Tensor; 3]> = SmallVec::new();
        let mut words: SmallVec<[Word; 12]> = SmallVec::new();
        // No function has more than two lists of tensors, so that the lists do not move.
        let mut lists: SmallVec<[SmallVec<[*mut THTensor; 4]>; 2]> = SmallVec::new();
        let (mut next, mut last_list) = (args.iter(), 0);
        for (k, &kind) in function.signature.kinds.iter().enumerate() {
            let word = match kind {
                ArgKind::len | ArgKind::len_or_whole => {
                    let list = next.clone().find_map(|arg| if let In::List(list) = arg { Some(list.len()) } else { None });
                    (list.unwrap_or(0) as c_int).word()
                }
                ArgKind::handle_count => (last_list as c_int).word(),
                // Excludes the result of `write`, which is an argument.
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
        let returned = self.invoke(function, &words)?;
        if function.places.returns_tensor
            && let Some(raw) = NonNull::new(<*mut THTensor>::from_word(returned))
        {
            // SAFETY: the call returned a new reference, which is owned here.
            results.push(unsafe { Tensor::from_raw(raw) });
        }
        Ok(results)
    }

    /// Returns the first result of a function.
    pub fn call(&self, function: &'static Function, args: &[In<'_, '_>]) -> Value<'_> {
        self.attempt(|| {
            let first = function.signature.kinds.first().is_some_and(|&kind| is_result(kind));
            self.results(function, u32::from(first), args)?.pop().ok_or_else(|| internal("a formula calls a function without a result"))
        })
    }

    /// Returns the results of a function at the positions in `wanted`.
    pub fn call_for_all<const N: usize>(&self, function: &'static Function, wanted: u32, args: &[In<'_, '_>]) -> [Value<'_>; N] {
        let none = Value { scope: self, at: usize::MAX };
        if self.failed() {
            return [none; N];
        }
        match self.results(function, wanted, args) {
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

    /// Calls a function that writes to `t`, a tensor without another owner.
    pub fn write(&self, t: Value<'_>, function: &'static Function, args: &[In<'_, '_>]) {
        if self.failed() {
            return;
        }
        let mut all: SmallVec<[In<'_, '_>; 8]> = SmallVec::new();
        all.push(In::Tensor(t));
        all.extend(args.iter().copied());
        if let Err(error) = self.results(function, 0, &all) {
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

/// Returns the error of a formula that is itself wrong.
pub fn internal(what: &str) -> Error {
    Error::new(Kind::Internal, format_args!("{what}"))
}

impl<'s> Value<'s> {
    /// The tensor, unless a failure came before.
    pub fn tensor(self) -> Option<Tensor> {
        self.scope.tensor(self.at)
    }

    /// Returns the shape.
    pub fn shape(self) -> Dims {
        self.tensor().and_then(|t| t.layout().ok()).map_or(Dims::new(), |layout| layout.shape)
    }

    /// Returns the number of dimensions.
    pub fn ndim(self) -> usize {
        self.tensor().map_or(0, |t| t.ndim())
    }

    /// Returns the number of elements.
    pub fn numel(self) -> i64 {
        self.shape().iter().product()
    }

    /// Returns the dtype.
    pub fn dtype(self) -> Dtype {
        self.tensor().and_then(|t| t.dtype()).unwrap_or(Dtype::Float32)
    }

    /// Returns the shape, dtype and device.
    pub fn like(self) -> Like {
        Like { shape: self.shape(), dtype: self.dtype(), device: self.tensor().map_or(Device::Cpu, |t| t.device()) }
    }

    /// Returns true if an element is not 0.
    pub fn any(self) -> bool {
        let Some(t) = self.tensor() else { return false };
        match reduce::logicalany::FUNCTION.run(&[t.as_ptr().word()]) {
            Ok(any) => c_int::from_word(any) != 0,
            Err(error) => {
                self.scope.fail(error);
                false
            }
        }
    }

    /// Makes the formula fail with `TH_ERR_UNSUPPORTED`.
    pub fn refuse(self, why: std::fmt::Arguments<'_>) {
        self.scope.fail(Error::new(Kind::Unsupported, why));
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
