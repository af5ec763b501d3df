//! The C ABI: raw pointers in, status out. Nothing here computes; [`row`] explains rows.

mod args;
pub mod generator;
mod row;
mod word;
#[macro_use]
pub mod apply;
#[macro_use]
pub mod create;
#[macro_use]
pub mod general;
#[macro_use]
pub mod matmul;
#[macro_use]
pub mod memory;
#[macro_use]
pub mod order;
#[macro_use]
pub mod pointwise;
#[macro_use]
pub mod print;
#[macro_use]
pub mod random;
#[macro_use]
pub mod reduce;
#[macro_use]
pub mod scan;
#[macro_use]
pub mod storage;
#[macro_use]
pub mod tensor;
#[macro_use]
pub mod view;
#[cfg(test)]
mod rows_test;
#[cfg(feature = "typed")]
pub mod typed;

use crate::alloc;
use crate::dtype::{Dtype, TH_UNDEFINED};
use crate::error::{Error, Kind, Result, TH_OK, THStatus, bail, bounded};
use std::cell::Cell;
use std::ffi::c_int;
use std::fmt;

thread_local! {
    /// The status of the last failed call. The message lies in the thread's text, or is lost.
    static LAST_STATUS: Cell<THStatus> = const { Cell::new(TH_OK) };
    /// Whether there was no place for that message.
    static MESSAGE_LOST: Cell<bool> = const { Cell::new(false) };
}

/// Keeps the failure for `THGetLastError`.
#[cold]
fn remember(name: fmt::Arguments<'_>, error: &Error) -> THStatus {
    LAST_STATUS.set(error.status());
    MESSAGE_LOST.set(!keep(format_args!("{name}: {}", error.message())));
    error.status()
}

/// Makes `message` the calling thread's text, a C string; false where there is no place for it.
fn keep(message: fmt::Arguments<'_>) -> bool {
    let Some(place) = alloc::thread_text() else { return false };
    let text = bounded(message);
    // SAFETY: the place is this thread's own, and has room for the longest message and a 0 behind it.
    unsafe {
        text.bytes().enumerate().for_each(|(i, byte)| place.add(i).write(if byte == 0 { b' ' } else { byte }));
        place.add(text.len()).write(0);
    }
    true
}

#[cold]
fn null_argument(name: &str) -> Error {
    Error::new(Kind::Argument, format_args!("argument '{name}' is NULL"))
}

/// The dtype with a code from C.
fn dtype_arg(code: c_int) -> Result<Dtype> {
    match Dtype::from_code(code) {
        Some(dtype) => Ok(dtype),
        None if code == TH_UNDEFINED => bail!(Argument, "TH_UNDEFINED is no dtype of elements"),
        None => bail!(Argument, "{code} is no dtype"),
    }
}
