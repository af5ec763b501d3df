//! The C ABI: raw pointers in, status out. Nothing here computes; [`row`] explains rows.
//!
//! A module with exported functions is a chapter of the header, and its documentation the chapter's title and introduction;
//! modules with the same title make one chapter. `scripts/header/src/book.rs` has their order.

mod args;
#[cfg(any(test, feature = "rows"))]
pub mod forms;
pub mod generator;
mod row;
mod word;
#[macro_use]
pub mod apply;
#[macro_use]
pub mod convolution;
#[macro_use]
pub mod create;
#[macro_use]
pub mod fourier;
#[macro_use]
pub mod general;
#[macro_use]
pub mod index;
#[macro_use]
pub mod join;
#[macro_use]
pub mod layer;
#[macro_use]
pub mod linalg;
#[macro_use]
pub mod matmul;
#[macro_use]
pub mod memory;
#[macro_use]
pub mod order;
#[macro_use]
pub mod pointwise;
#[macro_use]
pub mod pooling;
#[macro_use]
pub mod print;
#[macro_use]
pub mod random;
#[macro_use]
pub mod reduce;
#[macro_use]
pub mod scan;
#[macro_use]
pub mod sort;
#[macro_use]
pub mod seed;
#[macro_use]
pub mod storage;
#[macro_use]
pub mod tensor;
#[macro_use]
pub mod view;

#[cfg(any(test, feature = "rows"))]
pub use args::{DEFAULTS, NULL_REFUSED, NULL_TAKEN};
pub use args::{Kind, Return, Signature};
pub use row::{Area, Body, Face, Row};

/// Hands every area to a macro: first those of `THTensor_*`, each with its list of rows, then the others.
macro_rules! areas {
    ($do:ident $($to:tt)*) => { $do! { $($to)*
        "Handles and references": handles handle_rows crate::capi::tensor::handles;
        "Making tensors": making making_rows crate::capi::tensor::making;
        "Looking at tensors": asking asking_rows crate::capi::tensor::asking;
        "Single elements": elements element_rows crate::capi::tensor::elements;
        "Copies and conversions": copies copy_rows crate::capi::tensor::copies;
        "Views": pairs_of_views view_pair_rows crate::capi::view::pairs_of_views;
        "Views": views view_rows crate::capi::view::views;
        "Shapes changed in place": shapes shape_rows crate::capi::view::shapes;
        "Joining and rearranging": join join_rows crate::capi::join;
        "Elements by index": index index_rows crate::capi::index;
        "Results made of numbers": create create_rows crate::capi::create;
        "Arithmetic": sums arithmetic_rows crate::capi::pointwise::sums;
        "Arithmetic": quotients divide_rows crate::capi::pointwise::quotients;
        "Arithmetic": scaled scaled_rows crate::capi::pointwise::scaled;
        "Functions of numbers": functions function_rows crate::capi::pointwise::functions;
        "Functions of numbers": special special_rows crate::capi::pointwise::special;
        "Bits": bitwise bits_rows crate::capi::pointwise::bitwise;
        "Comparisons and choices": truths compare_rows crate::capi::pointwise::truths;
        "Comparisons and choices": choices choice_rows crate::capi::pointwise::choices;
        "Reductions": reduce reduce_rows crate::capi::reduce;
        "Scans and softmax": scan scan_rows crate::capi::scan;
        "Losses, normalization and gradients": layer layer_rows crate::capi::layer;
        "Losses, normalization and gradients": gradients gradient_rows crate::capi::pointwise::gradients;
        "Sorting and searching": sort sort_rows crate::capi::sort;
        "Order statistics and histograms": order order_rows crate::capi::order;
        "Matrix products": matmul matmul_rows crate::capi::matmul;
        "Linear algebra": linalg linalg_rows crate::capi::linalg;
        "Convolution": convolution convolution_rows crate::capi::convolution;
        "Pooling": pooling pooling_rows crate::capi::pooling;
        "Fourier transforms": fourier fourier_rows crate::capi::fourier;
        "Random generators": states state_rows crate::capi::seed::states;
        "Random numbers": random random_rows crate::capi::random;
        "Functions of the caller": apply apply_rows crate::capi::apply;
        others
        "Element types": crate::capi::general::dtypes;
        "Printing": crate::capi::print;
        "Random generators": crate::capi::seed;
        "Storages": crate::capi::storage;
        "Memory": crate::capi::memory::heap;
        "Mapped files and shared memory": crate::capi::memory::mapped;
        "Errors": crate::capi::general::errors;
        "Threads": crate::capi::general::threads;
        "BLAS of the machine": crate::capi::general::vendor;
        "Versions": crate::capi::general::versions;
    } };
}

macro_rules! listed {
    ($($chapter:literal: $name:ident $rows:ident $area:path;)* others $($other:literal: $module:path;)*) => { &[
        $({ use $area as area; Area { chapter: $chapter, face: &area::FACE, rows: area::ROWS } },)*
        $({ use $module as area; Area { chapter: $other, face: &area::FACE, rows: area::ROWS } },)*
    ] };
}

/// All rows of the library. The number of a row is its place among them.
pub static ALL: &[Area] = areas!(listed);

#[cfg(test)]
mod device_test;
#[cfg(test)]
mod rows_test;
#[cfg(feature = "typed")]
pub mod typed;

use crate::alloc;
use crate::dtype::{Dtype, TH_UNDEFINED};
use crate::error::{Error, Result, TH_OK, THStatus, bail, bounded};
use std::cell::Cell;
use std::ffi::c_int;
use std::fmt;

thread_local! {
    /// The status of the last failed call. The message lies in the thread's text, or is lost.
    static LAST_STATUS: Cell<THStatus> = const { Cell::new(TH_OK) };
    /// True if there was no place for that message.
    static MESSAGE_LOST: Cell<bool> = const { Cell::new(false) };
}

/// Keeps the failure for `THGetLastError`; `start` is what its message begins with.
#[cold]
fn remember(start: fmt::Arguments<'_>, error: &Error) -> THStatus {
    LAST_STATUS.set(error.status());
    MESSAGE_LOST.set(!keep(format_args!("{start} {}", error.message())));
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
    Error::new(crate::error::Kind::Argument, format_args!("argument '{name}' is NULL"))
}

/// The dtype with a code from C.
fn dtype_arg(code: c_int) -> Result<Dtype> {
    match Dtype::from_code(code) {
        Some(dtype) => Ok(dtype),
        None if code == TH_UNDEFINED => bail!(Argument, "TH_UNDEFINED is no dtype of elements"),
        None => bail!(Argument, "{code} is no dtype"),
    }
}
