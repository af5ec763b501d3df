//! The C ABI: raw pointers in, status out. Nothing here computes; [`row`] explains rows.
//!
//! A module with exported functions is a chapter of the header, and its documentation the chapter's title and introduction;
//! modules with the same title make one chapter. `scripts/header/src/book.rs` has their order.

mod args;
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

/// Hands the lists of rows that are `THTensor_*` to a macro: `name: rows path;`. Elementwise operations have lists of their own.
#[cfg(any(test, feature = "typed"))]
macro_rules! tensor_areas {
    ($do:ident $($to:tt)*) => { $do! { $($to)*
        handles: handle_rows crate::capi::tensor::handles;
        making: making_rows crate::capi::tensor::making;
        asking: asking_rows crate::capi::tensor::asking;
        elements: element_rows crate::capi::tensor::elements;
        copies: copy_rows crate::capi::tensor::copies;
        pairs_of_views: view_pair_rows crate::capi::view::pairs_of_views;
        views: view_rows crate::capi::view::views;
        shapes: shape_rows crate::capi::view::shapes;
        create: create_rows crate::capi::create;
        scaled: scaled_rows crate::capi::pointwise::scaled;
        special: special_rows crate::capi::pointwise::special;
        choices: choice_rows crate::capi::pointwise::choices;
        index: index_rows crate::capi::index;
        join: join_rows crate::capi::join;
        reduce: reduce_rows crate::capi::reduce;
        scan: scan_rows crate::capi::scan;
        layer: layer_rows crate::capi::layer;
        order: order_rows crate::capi::order;
        sort: sort_rows crate::capi::sort;
        matmul: matmul_rows crate::capi::matmul;
        linalg: linalg_rows crate::capi::linalg;
        convolution: convolution_rows crate::capi::convolution;
        pooling: pooling_rows crate::capi::pooling;
        fourier: fourier_rows crate::capi::fourier;
        states: state_rows crate::capi::seed::states;
        random: random_rows crate::capi::random;
        apply: apply_rows crate::capi::apply;
    } };
}
/// Hands the lists of elementwise operations to a macro: `name: module rows;`.
#[cfg(any(test, feature = "typed"))]
macro_rules! elementwise_areas {
    ($do:ident $($to:tt)*) => { $do! { $($to)*
        sums: arithmetic arithmetic_rows;
        quotients: divide divide_rows;
        functions: function function_rows;
        bitwise: bits bits_rows;
        truths: compare compare_rows;
        gradients: gradient gradient_rows;
    } };
}
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
