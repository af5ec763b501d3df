//! The C ABI: raw pointers in, status out. Nothing here computes; every row is guard, NULL checks, conversion, call.

pub mod apply;
pub mod create;
pub mod general;
pub mod matmul;
pub mod memory;
pub mod order;
pub mod pointwise;
pub mod random;
pub mod reduce;
mod scan;
pub mod storage;
pub mod tensor;
pub mod view;

use crate::alloc::{self, THAllocator, THDeleter, THMemoryHook};
use crate::dtype::{Dtype, TH_UNDEFINED};
use crate::error::{Error, Kind, Result, TH_OK, THStatus, bail, bounded};
use crate::layout::MAX_DIMS;
use crate::ops::pointwise::apply::{THApplyFunction, THMap2Function, THMapFunction};
use crate::storage::{Storage, THStorage};
use crate::tensor::{THTensor, Tensor};
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{NonNull, null, null_mut};

/// Exports rows: `fn name(arg: C type, ...) = body` returns a status, `fn name(...) -> C type = body` a value.
///
/// In the body tensor and storage arguments are references already, NULL is refused; `Option<NonNull<..>>` arguments may be NULL. Rows are
/// `unsafe` functions, and what their bodies do with raw pointers rests on the conventions of the header.
macro_rules! export {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? = $body:expr;)*) => {
        $($crate::capi::export! { @one [$($ret)?] $(#[$doc])* $name ($($arg: $ty),*) $body })*
    };
    (@one [] $(#[$doc:meta])* $name:ident ($($arg:ident: $ty:ty),*) $body:expr) => {
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> $crate::error::THStatus {
            $crate::capi::guard(stringify!($name), &mut move || {
                $crate::capi::export!(@take $($arg)*);
                $body
            })
        }
    };
    (@one [$ret:ty] $(#[$doc:meta])* $name:ident ($($arg:ident: $ty:ty),*) $body:expr) => {
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
            let mut value = <$ret as $crate::capi::OnError>::VALUE;
            let out = &mut value;
            $crate::capi::guard(stringify!($name), &mut move || {
                $crate::capi::export!(@take $($arg)*);
                *out = $crate::capi::IntoC::into_c($body?);
                Ok(())
            });
            value
        }
    };
    (@take $($arg:ident)*) => {
        // SAFETY: the caller passes live handles, as the header asks.
        $(let $arg = unsafe { $crate::capi::Arg::take(&$arg, stringify!($arg)) }?;)*
    };
}
pub(crate) use export;

thread_local! {
    /// The status of the last failed call. The message lies in the thread's text, or is lost.
    static LAST_STATUS: Cell<THStatus> = const { Cell::new(TH_OK) };
    /// Whether there was no place for that message.
    static MESSAGE_LOST: Cell<bool> = const { Cell::new(false) };
}

/// Runs the body of an exported function: a failure becomes a status and a message, a panic too.
#[inline(never)]
fn guard(name: &str, body: &mut dyn FnMut() -> Result<()>) -> THStatus {
    let error = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return TH_OK,
        Ok(Err(error)) => error,
        Err(panic) => {
            let what = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            Error::new(Kind::Internal, format_args!("internal error: {}", what.unwrap_or("a panic was caught")))
        }
    };
    remember(name, &error)
}

/// Keeps the failure for `THGetLastError`.
#[cold]
fn remember(name: &str, error: &Error) -> THStatus {
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

/// A C argument and what it becomes in the body of a row.
trait Arg<'a> {
    type Core;
    /// # Safety
    /// A pointer must be NULL or what its type says, for as long as the call takes.
    unsafe fn take(&'a self, name: &str) -> Result<Self::Core>;
}

#[cold]
fn null_argument(name: &str) -> Error {
    Error::new(Kind::Argument, format_args!("argument '{name}' is NULL"))
}

macro_rules! handle_arg {
    ($($Raw:ty => $Handle:ty),*) => { $(
        impl<'a> Arg<'a> for *mut $Raw {
            type Core = &'a $Handle;
            #[inline(always)]
            unsafe fn take(&'a self, name: &str) -> Result<&'a $Handle> {
                // SAFETY: handles are transparent pointers; the caller vouches for the rest.
                unsafe { (&raw const *self).cast::<Option<$Handle>>().as_ref() }.and_then(Option::as_ref).ok_or_else(|| null_argument(name))
            }
        }
        impl<'a> Arg<'a> for *const $Raw {
            type Core = &'a $Handle;
            #[inline(always)]
            unsafe fn take(&'a self, name: &str) -> Result<&'a $Handle> {
                // SAFETY: as above.
                unsafe { (&raw const *self).cast::<Option<$Handle>>().as_ref() }.and_then(Option::as_ref).ok_or_else(|| null_argument(name))
            }
        }
        impl<'a> Arg<'a> for Option<NonNull<$Raw>> {
            type Core = Option<&'a $Handle>;
            #[inline(always)]
            unsafe fn take(&'a self, _: &str) -> Result<Option<&'a $Handle>> {
                // SAFETY: as above.
                Ok(unsafe { (&raw const *self).cast::<Option<$Handle>>().as_ref() }.and_then(Option::as_ref))
            }
        }
    )* };
}
handle_arg!(THTensor => Tensor, THStorage => Storage);

macro_rules! plain_arg {
    ($($t:ty),*) => { $(
        impl Arg<'_> for $t {
            type Core = $t;
            #[inline(always)]
            unsafe fn take(&self, _: &str) -> Result<$t> {
                Ok(*self)
            }
        }
    )* };
}
plain_arg!(c_int, i64, isize, u64, f64, c_char, *const i64, *const f64, *mut c_void, *const c_void, *const c_char);
plain_arg!(*mut *mut THTensor, *mut c_int, *const *mut THTensor, THDeleter, THMemoryHook);
plain_arg!(THApplyFunction, THMapFunction, THMap2Function);

impl Arg<'_> for *const THAllocator {
    type Core = *const THAllocator;
    unsafe fn take(&self, name: &str) -> Result<*const THAllocator> {
        if self.is_null() { Err(null_argument(name)) } else { Ok(*self) }
    }
}

/// What a function that returns no status gives when it fails.
trait OnError {
    const VALUE: Self;
}

macro_rules! on_error {
    ($($t:ty = $value:expr),* $(,)?) => { $(impl OnError for $t { const VALUE: $t = $value; })* };
}
on_error! {
    () = (),
    c_int = 0,
    i64 = -1,
    isize = -1,
    u64 = 0,
    usize = 0,
    f64 = f64::NAN,
    *mut THTensor = null_mut(),
    *mut THStorage = null_mut(),
    *mut c_void = null_mut(),
    *const i64 = null(),
    *const c_char = null(),
}

/// The result of a body as C takes it.
trait IntoC<C> {
    fn into_c(self) -> C;
}

impl IntoC<*mut THTensor> for Tensor {
    fn into_c(self) -> *mut THTensor {
        self.into_raw()
    }
}

impl IntoC<*mut THStorage> for Storage {
    fn into_c(self) -> *mut THStorage {
        self.into_raw()
    }
}

impl IntoC<c_int> for bool {
    fn into_c(self) -> c_int {
        self.into()
    }
}

impl<C: OnError> IntoC<C> for C {
    fn into_c(self) -> C {
        self
    }
}

/// The dtype with a code from C.
fn dtype_arg(code: c_int) -> Result<Dtype> {
    match Dtype::from_code(code) {
        Some(dtype) => Ok(dtype),
        None if code == TH_UNDEFINED => bail!(Argument, "TH_UNDEFINED is no dtype of elements"),
        None => bail!(Argument, "{code} is no dtype"),
    }
}

/// `n` numbers at `data`.
///
/// # Safety
/// `data` must hold `n` entries for as long as the call takes.
unsafe fn numbers<'a>(name: &str, n: c_int, data: *const i64) -> Result<&'a [i64]> {
    if n < 0 || n as usize > MAX_DIMS {
        bail!(Argument, "{n} entries for '{name}': expected 0 to {MAX_DIMS}")
    }
    if n > 0 && data.is_null() {
        return Err(null_argument(name));
    }
    // SAFETY: the caller's.
    Ok(if n == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, n as usize) } })
}

/// `n` numbers at `data`, or none where `data` is NULL.
///
/// # Safety
/// As for [`numbers`].
unsafe fn optional_numbers<'a>(name: &str, n: c_int, data: *const i64) -> Result<Option<&'a [i64]>> {
    // SAFETY: the caller's.
    if data.is_null() { Ok(None) } else { unsafe { numbers(name, n, data) }.map(Some) }
}
