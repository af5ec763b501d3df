//! The last failure of each thread, for `THGetLastError`.

use crate::alloc;
use crate::error::{Error, Kind, LONGEST_MESSAGE, TH_OK, THStatus, bounded};
use std::cell::Cell;
use std::ffi::CStr;
use std::fmt;

thread_local! {
    /// The status of the last failed call. The message lies in the thread's text, or is lost.
    pub(crate) static LAST_STATUS: Cell<THStatus> = const { Cell::new(TH_OK) };
    /// True if there was no place for that message.
    pub(crate) static MESSAGE_LOST: Cell<bool> = const { Cell::new(false) };
}

/// Keeps the failure for `THGetLastError`; `start` is what its message begins with.
#[cold]
pub(crate) fn remember(start: fmt::Arguments<'_>, error: &Error) -> THStatus {
    LAST_STATUS.set(error.status());
    MESSAGE_LOST.set(!keep(format_args!("{start} {}", error.message())));
    error.status()
}

/// Keeps a failure that a program reports.
pub(crate) fn remember_text(status: THStatus, message: &CStr) {
    LAST_STATUS.set(status);
    let start = &message.to_bytes()[..message.count_bytes().min(LONGEST_MESSAGE)];
    MESSAGE_LOST.set(!keep(format_args!("{}", String::from_utf8_lossy(start))));
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

/// The failure of a call whose argument `name` is NULL.
#[cold]
pub(crate) fn null_argument(name: &str) -> Error {
    Error::new(Kind::Argument, format_args!("argument '{name}' is NULL"))
}
