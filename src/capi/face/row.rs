//! A C function as data. A row says what the arguments are and what the function does; a face makes C functions of rows.
//!
//! Every area has a list of rows, a macro that hands them to any face: `rows!(face)`. A row is
//!
//! ```text
//! /// `r = m1 @ m2`, and what else the header says.
//! mm(r: out, m1: input, m2: input) = matmul::mm(r, m1, m2);
//! ```
//!
//! with a kind for each argument (`args`), `-> kind` where no status is returned, and `as "where"` behind the name where Rust
//! reserves it. The body is an expression of the arguments, checked and converted as their kinds say. Elementwise operations have their
//! definition in braces instead of a body: `ops::pointwise`.

use super::args::{Args, Kind, Signature, scalar};
use super::failure::{null_argument, remember};
use super::places::Places;
use super::returns::Return;
use super::word::{ToWord, Word};
use crate::device::{self, Device, Making};
use crate::error::{Error, Kind as Failure, Result};
use crate::launch::{Elementwise, Op};
use crate::mode;
use crate::plan::each;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// Numbers an elementwise operation may have beside its tensors.
pub(crate) const MOST_NUMBERS: usize = 2;

/// A row.
pub struct Row {
    /// Its name, and its arguments.
    pub signature: Signature,
    /// The kind of the returned value.
    pub returns: Return,
    /// The code of the function.
    pub body: Body,
    /// The places of tensors among the arguments.
    pub places: Places,
    /// The places of the numbers among the arguments in C, one bit for each, where the signature has tensors first.
    pub numbers: u8,
    /// The comment of the function in the header.
    #[cfg(any(test, feature = "rows"))]
    pub doc: &'static str,
}

/// A list of rows that one module exports.
pub struct Area {
    /// The title of the chapter of the header in which the functions stand.
    pub chapter: &'static str,
    /// The face that exports the rows.
    pub face: &'static Face,
    /// The rows, in the order of the header.
    pub rows: &'static [&'static Row],
}

/// The code of a row.
pub enum Body {
    /// A function of any arguments.
    Function(fn(&Args<'_>) -> Result<Word>),
    /// An elementwise operation: tensors first, then numbers.
    Elementwise(Elementwise),
}

/// The differences between C functions made of the same rows.
pub struct Face {
    /// The beginning of the name: `THTensor_`.
    pub prefix: &'static str,
    /// True if numbers are int64 and not doubles.
    pub integers: bool,
}

impl Row {
    pub(crate) const fn new(
        names: &'static str,
        kinds: &'static [Kind],
        returns: Return,
        body: Body,
        numbers: u8,
        #[cfg_attr(not(any(test, feature = "rows")), expect(unused_variables, reason = "the library does not carry its documentation"))]
        doc: &'static str,
    ) -> Row {
        Row {
            signature: Signature { names, kinds },
            places: Places::of(kinds, returns),
            returns,
            body,
            numbers,
            #[cfg(any(test, feature = "rows"))]
            doc,
        }
    }

    /// Calls what the row does, where failures and panics are the caller's to look after.
    #[inline(always)]
    pub(crate) fn run(&'static self, face: &'static Face, words: &[Word]) -> Result<Word> {
        match &self.body {
            Body::Function(body) => body(&Args::new(&self.signature, face.integers, words)),
            Body::Elementwise(Elementwise::Unary(op)) => self.elementwise(face, words, op),
            Body::Elementwise(Elementwise::Binary(op)) => self.elementwise(face, words, op),
            Body::Elementwise(Elementwise::Ternary(op)) => self.elementwise(face, words, op),
        }
    }

    #[inline(always)]
    fn elementwise<const N: usize>(&self, face: &Face, words: &[Word], op: &'static Op<N>) -> Result<Word> {
        let (tensors, numbers) = words.split_at(N);
        if let Some(k) = tensors.iter().position(|word| word.is_null()) {
            return Err(null_argument(self.signature.arg(k)));
        }
        // SAFETY: a word that is not 0 is a handle, and a handle a transparent pointer.
        let tensors = each(|k| unsafe { &*(&raw const tensors[k]).cast::<Tensor>() });
        let mut values = [Scalar::Int(0); MOST_NUMBERS];
        let values = &mut values[..numbers.len()];
        values.iter_mut().zip(numbers).for_each(|(value, &word)| *value = scalar(face.integers, word));
        op.run(tensors, values).map(|()| Word::ZERO)
    }
}

/// Calls what a row does with the arguments in `words`. A failure, a panic too, becomes a status and a message.
#[inline(never)]
pub fn invoke(row: &'static Row, face: &'static Face, words: &[Word]) -> Word {
    let unusual = mode::word() != 0;
    let error = match catch_unwind(AssertUnwindSafe(|| if unusual { watched(row, face, words) } else { row.run(face, words) })) {
        Ok(Ok(word)) => return word,
        Ok(Err(error)) => error,
        Err(panic) => {
            let what = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            Error::new(Failure::Internal, format_args!("internal error: {}", what.unwrap_or("a panic was caught")))
        }
    };
    keep_error(row, face, words, &error)
}

/// Calls what a row does where memory may lie on GPUs, or gradients are recorded.
#[inline(never)]
pub(crate) fn watched(row: &'static Row, face: &'static Face, words: &[Word]) -> Result<Word> {
    match RECORDER.get() {
        Some(recorder) => recorder(row, face, words),
        None => on_device(row, face, words),
    }
}

/// Calls what a row does, on the device of the arguments.
pub(crate) fn on_device(row: &'static Row, face: &'static Face, words: &[Word]) -> Result<Word> {
    let _there = if device::is_used() { making(row, words) } else { None };
    row.run(face, words)
}

/// A function that takes every call over once gradients are used.
pub(crate) type Recorder = fn(&'static Row, &'static Face, &[Word]) -> Result<Word>;

static RECORDER: OnceLock<Recorder> = OnceLock::new();

/// From now on `recorder` takes every call over.
pub(crate) fn record_by(recorder: Recorder) {
    crate::alloc::fork::once(&RECORDER, || recorder);
    mode::set(mode::GRADIENTS);
}

/// New memory is made where the tensors of the call lie: on a GPU, if one does; where there are none, on the thread's own device.
#[inline(never)]
fn making(row: &Row, words: &[Word]) -> Option<Making> {
    let devices = row.signature.tensors(words).map(|t| t.device());
    let found = devices.reduce(|found, device| if found == Device::Cpu { device } else { found });
    found.map(Making::on)
}

/// Keeps why a function failed, and gives what it returns then.
#[cold]
pub fn keep_error(row: &Row, face: &Face, words: &[Word], error: &Error) -> Word {
    let (prefix, name) = (face.prefix, row.signature.name());
    let status = match error.subject() {
        None => remember(format_args!("{prefix}{name}:"), error),
        Some(handle) => remember(format_args!("{prefix}{name}: {}", row.signature.name_of(words, handle)), error),
    };
    row.returns.on_error().unwrap_or(status.word())
}

/// One bit for each of these kinds, set for numbers.
pub(crate) const fn numbers_among(kinds: &[Kind]) -> u8 {
    let (mut bits, mut k) = (0, 0);
    while k < kinds.len() {
        bits |= (matches!(kinds[k], Kind::number | Kind::factor | Kind::parameter) as u8) << k;
        k += 1;
    }
    bits
}

/// Makes the C functions of rows, and `ROWS`, the list of all: `export!(prefix; rows)`.
macro_rules! export {
    ($prefix:literal; $(
        $(#[doc = $doc:literal])* $name:ident $(as $c_name:literal)? ($($arg:ident: $kind:ident),* $(,)?) $(-> $ret:ident)? = $body:expr;
    )*) => {
        $crate::capi::face::row::export! { @list $prefix; $($name,)*; $(
            $crate::capi::face::row::Row::new(
                concat!($crate::capi::face::row::c_name!($name $($c_name)?), $(" ", stringify!($arg)),*),
                &[$($crate::capi::face::args::Kind::$kind),*],
                $crate::capi::face::row::export!(@returns $($ret)?),
                $crate::capi::face::row::Body::Function(|_args| {
                    let mut _at = 0;
                    $(
                        #[allow(unused_variables)]
                        let $arg = _args.$kind(_at)?;
                        _at += 1;
                    )*
                    Ok($crate::capi::face::row::export!(@given [$($ret)?] $body?))
                }),
                0,
                concat!($($doc, "\n"),*),
            ),
        )* }
        $(
            $(#[doc = $doc])*
            #[unsafe(export_name = concat!($prefix, $crate::capi::face::row::c_name!($name $($c_name)?)))]
            pub unsafe extern "C" fn $name($($arg: $crate::capi::face::args::c_type!($kind)),*)
            -> $crate::capi::face::returns::return_type!($($ret)?) {
                let words = [$($crate::capi::face::word::ToWord::word($arg)),*];
                $crate::capi::face::word::FromWord::from_word($crate::capi::face::row::invoke(&rows::$name::ROW, &FACE, &words))
            }
        )*
    };
    // Elementwise operations: their definitions are statics of the same name in `$ops`.
    ($prefix:literal $ops:path; $(
        $(#[doc = $doc:literal])* $name:ident($($arg:ident: $kind:ident),* $(,)?) { $($definition:tt)* }
    )*) => {
        use $ops as ops;
        $crate::capi::face::row::export! { @list $prefix; $($name,)*; $(
            $crate::capi::face::row::Row::new(
                $crate::capi::face::row::tensors_first!(@names [stringify!($name)] [] $($arg $kind)*),
                $crate::capi::face::row::tensors_first!(@kinds [] [] $($arg $kind)*),
                $crate::capi::face::returns::Return::status,
                $crate::capi::face::row::Body::Elementwise(ops::$name.as_elementwise()),
                $crate::capi::face::row::numbers_among(&[$($crate::capi::face::args::Kind::$kind),*]),
                concat!($($doc, "\n"),*),
            ),
        )* }
        $(
            $(#[doc = $doc])*
            #[unsafe(export_name = concat!($prefix, stringify!($name)))]
            pub unsafe extern "C" fn $name($($arg: $crate::capi::face::args::c_type!($kind)),*) -> $crate::error::THStatus {
                let words = $crate::capi::face::row::tensors_first!(@words [] [] $($arg $kind)*);
                $crate::capi::face::word::FromWord::from_word($crate::capi::face::row::invoke(&rows::$name::ROW, &FACE, &words))
            }
        )*
    };
    (@list $prefix:literal; $($name:ident,)*; $($row:expr,)*) => {
        #[allow(unused_imports)]
        use $crate::capi::face::args::c_types::*;
        /// Where the rows of this area are exported.
        pub static FACE: $crate::capi::face::row::Face = $crate::capi::face::row::Face { prefix: $prefix, integers: false };
        /// The rows of this area.
        pub static ROWS: &[&$crate::capi::face::row::Row] = &[$(&rows::$name::ROW),*];
        /// Each row by itself: a program that is linked with the archive holds the rows of the functions that it calls.
        #[allow(non_snake_case, missing_docs, unused_imports)]
        pub mod rows {
            $(pub mod $name {
                use super::super::*;
                pub static ROW: $crate::capi::face::row::Row = $row;
            })*
        }
    };
    (@given [] $value:expr) => {{
        let () = $value;
        $crate::capi::face::word::Word::ZERO
    }};
    (@given [number] $value:expr) => {
        $crate::capi::face::word::ToWord::word($crate::scalar::canonical($value))
    };
    (@given [accumulated] $value:expr) => {
        $crate::capi::face::word::ToWord::word($crate::scalar::canonical($value))
    };
    (@given [$ret:ident] $value:expr) => {
        $crate::capi::face::word::Gives::<$crate::capi::face::returns::return_type!($ret)>::given($value)
    };
    (@returns) => { $crate::capi::face::returns::Return::status };
    (@returns $ret:ident) => { $crate::capi::face::returns::Return::$ret };
}
pub(crate) use export;

/// The name of a row in C.
macro_rules! c_name {
    ($name:ident) => {
        stringify!($name)
    };
    ($name:ident $c_name:literal) => {
        $c_name
    };
}
pub(crate) use c_name;

/// The arguments of an elementwise operation, tensors before numbers: their names, kinds or words.
macro_rules! tensors_first {
    (@$what:ident [$($t:expr),*] [$($n:expr),*] $arg:ident number $($rest:ident)*) => {
        $crate::capi::face::row::tensors_first!(@a_number $what [$($t),*] [$($n),*] $arg number $($rest)*)
    };
    (@$what:ident [$($t:expr),*] [$($n:expr),*] $arg:ident factor $($rest:ident)*) => {
        $crate::capi::face::row::tensors_first!(@a_number $what [$($t),*] [$($n),*] $arg factor $($rest)*)
    };
    (@$what:ident [$($t:expr),*] [$($n:expr),*] $arg:ident parameter $($rest:ident)*) => {
        $crate::capi::face::row::tensors_first!(@a_number $what [$($t),*] [$($n),*] $arg parameter $($rest)*)
    };
    (@a_number $what:ident [$($t:expr),*] [$($n:expr),*] $arg:ident $kind:ident $($rest:ident)*) => {
        $crate::capi::face::row::tensors_first!(
            @$what [$($t),*] [$($n,)* $crate::capi::face::row::tensors_first!(@one $what $arg $kind)] $($rest)*
        )
    };
    (@$what:ident [$($t:expr),*] [$($n:expr),*] $arg:ident $kind:ident $($rest:ident)*) => {
        $crate::capi::face::row::tensors_first!(
            @$what [$($t,)* $crate::capi::face::row::tensors_first!(@one $what $arg $kind)] [$($n),*] $($rest)*
        )
    };
    (@names [$first:expr $(, $t:expr)*] [$($n:expr),*]) => { concat!($first $(, " ", $t)* $(, " ", $n)*) };
    (@kinds [$($t:expr),*] [$($n:expr),*]) => { &[$($t,)* $($n),*] };
    (@words [$($t:expr),*] [$($n:expr),*]) => { [$($t,)* $($n),*] };
    (@one names $arg:ident $kind:ident) => { stringify!($arg) };
    (@one kinds $arg:ident $kind:ident) => { $crate::capi::face::args::Kind::$kind };
    (@one words $arg:ident $kind:ident) => { $crate::capi::face::word::ToWord::word($arg) };
}
pub(crate) use tensors_first;
