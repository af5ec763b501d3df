//! The exported functions as values: name, arguments and code.

use super::args::{Args, Kind, Signature, scalar};
use super::failure::{null_argument, remember};
use super::places::Places;
use super::returns::Return;
use super::word::{ToWord, Word};
use crate::device::{self, Device, DeviceGuard};
use crate::error::{Error, Kind as Failure, Result};
use crate::launch::{Elementwise, Op};
use crate::mode;
use crate::plan::each;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// The largest number of arguments of an elementwise operation that are numbers.
pub(crate) const MOST_NUMBERS: usize = 2;

/// An exported function.
pub struct Function {
    /// The prefix of the C name: `THTensor_`.
    pub prefix: &'static str,
    /// The name without its prefix, and the arguments.
    pub signature: Signature,
    /// The kind of the returned value.
    pub returns: Return,
    /// The code.
    pub body: Body,
    /// The positions of tensors among the arguments.
    pub places: Places,
    /// The positions of the numbers among the C function's arguments, one bit for each. The signature has tensors first.
    pub numbers: u8,
    /// False for functions that manage gradients, which are never recorded.
    pub recorded: bool,
    /// The comment of the function in the header.
    #[cfg(any(test, feature = "api"))]
    pub doc: &'static str,
}

/// The code of a function.
pub enum Body {
    /// Code for any arguments.
    Call(fn(&Args<'_>) -> Result<Word>),
    /// An elementwise operation: tensors first, then numbers.
    Elementwise(Elementwise),
}

impl Function {
    pub(crate) const fn new(
        (prefix, recorded): (&'static str, bool),
        names: &'static str,
        kinds: &'static [Kind],
        returns: Return,
        body: Body,
        numbers: u8,
        #[cfg_attr(not(any(test, feature = "api")), expect(unused_variables, reason = "the library does not carry its documentation"))]
        doc: &'static str,
    ) -> Function {
        Function {
            prefix,
            recorded,
            signature: Signature { names, kinds },
            places: Places::of(kinds, returns),
            returns,
            body,
            numbers,
            #[cfg(any(test, feature = "api"))]
            doc,
        }
    }

    /// Calls the function. Failures and panics reach the caller.
    #[inline(always)]
    pub(crate) fn run(&'static self, words: &[Word]) -> Result<Word> {
        match &self.body {
            Body::Call(body) => body(&Args::new(&self.signature, words)),
            Body::Elementwise(Elementwise::Unary(op)) => self.elementwise(words, op),
            Body::Elementwise(Elementwise::Binary(op)) => self.elementwise(words, op),
            Body::Elementwise(Elementwise::Ternary(op)) => self.elementwise(words, op),
        }
    }

    #[inline(always)]
    fn elementwise<const N: usize>(&self, words: &[Word], op: &'static Op<N>) -> Result<Word> {
        let (tensors, numbers) = words.split_at(N);
        if let Some(k) = tensors.iter().position(|word| word.is_null()) {
            return Err(null_argument(self.signature.arg(k)));
        }
        // SAFETY: a word that is not 0 is a live handle, and a handle is a transparent pointer.
        let tensors = each(|k| unsafe { &*(&raw const tensors[k]).cast::<Tensor>() });
        let mut values = [Scalar::Int(0); MOST_NUMBERS];
        let values = &mut values[..numbers.len()];
        values.iter_mut().zip(numbers).for_each(|(value, &word)| *value = scalar(word));
        op.run_inlined(tensors, values).map(|()| Word::ZERO)
    }
}

/// Calls a function with the arguments in `words`. A failure or a panic becomes a status and a message.
#[inline(never)]
pub fn invoke(function: &'static Function, words: &[Word]) -> Word {
    let unusual = mode::flags() != 0;
    let error = match catch_unwind(AssertUnwindSafe(|| if unusual { watched(function, words) } else { function.run(words) })) {
        Ok(Ok(word)) => return word,
        Ok(Err(error)) => error,
        Err(panic) => {
            let what = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            Error::new(Failure::Internal, format_args!("internal error: {}", what.unwrap_or("a panic was caught")))
        }
    };
    keep_error(function, words, &error)
}

/// Calls a function if memory may be on a GPU, or if gradients are recorded.
#[inline(never)]
pub(crate) fn watched(function: &'static Function, words: &[Word]) -> Result<Word> {
    match RECORDER.get() {
        Some(recorder) => recorder(function, words),
        None => on_device(function, words),
    }
}

/// Calls a function on the device of the arguments.
pub(crate) fn on_device(function: &'static Function, words: &[Word]) -> Result<Word> {
    let _there = if device::is_used() { device_of(function, words) } else { None };
    function.run(words)
}

/// A function that handles every call once gradients are used.
pub(crate) type Recorder = fn(&'static Function, &[Word]) -> Result<Word>;

static RECORDER: OnceLock<Recorder> = OnceLock::new();

/// Makes `recorder` handle every call from now on.
pub(crate) fn record_by(recorder: Recorder) {
    crate::alloc::fork::once(&RECORDER, || recorder);
    mode::set(mode::GRADIENTS);
}

/// Returns a guard with which memory is allocated on the device of the call's tensors. This is a GPU if one of the tensors is on a GPU.
/// `None` for a call without tensors, which allocates on the thread's default device.
#[inline(never)]
fn device_of(function: &Function, words: &[Word]) -> Option<DeviceGuard> {
    let devices = function.signature.tensors(words).map(|t| t.device());
    let found = devices.reduce(|found, device| if found == Device::Cpu { device } else { found });
    found.map(DeviceGuard::on)
}

/// Stores the failure of a function for the thread, and returns the function's value on failure.
#[cold]
fn keep_error(function: &Function, words: &[Word], error: &Error) -> Word {
    let Function { prefix, signature, .. } = function;
    let name = signature.name();
    let status = match error.subject() {
        None => remember(format_args!("{prefix}{name}:"), error),
        Some(handle) => remember(format_args!("{prefix}{name}: {}", signature.name_of(words, handle)), error),
    };
    function.returns.on_error().unwrap_or(status.word())
}

/// Returns a bit for each of these kinds, set if the kind is a number.
pub(crate) const fn numbers_among(kinds: &[Kind]) -> u8 {
    let (mut bits, mut k) = (0, 0);
    while k < kinds.len() {
        bits |= (matches!(kinds[k], Kind::number | Kind::factor | Kind::parameter) as u8) << k;
        k += 1;
    }
    bits
}
