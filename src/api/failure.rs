//! The last failure of each thread, for `THGetLastError`.

use crate::alloc;
use crate::error::{Error, Kind, LONGEST_MESSAGE, TH_OK, THStatus, bounded};
use std::cell::Cell;
use std::ffi::CStr;
use std::fmt;

thread_local! {
    /// The status of the last failed call. The message is in the thread's text buffer, or is lost.
    pub(crate) static LAST_STATUS: Cell<THStatus> = const { Cell::new(TH_OK) };
    /// True if no memory was available for the message of the last failed call.
    pub(crate) static MESSAGE_LOST: Cell<bool> = const { Cell::new(false) };
}

/// Stores a failure for `THGetLastError`. Its message begins with `start`. Returns the status.
#[cold]
pub(crate) fn remember(start: fmt::Arguments<'_>, error: &Error) -> THStatus {
    LAST_STATUS.set(error.status());
    MESSAGE_LOST.set(!keep(format_args!("{start} {}", error.message())));
    error.status()
}

/// Stores a failure that the program reports, for `THSetLastError`.
pub(crate) fn remember_text(status: THStatus, message: &CStr) {
    LAST_STATUS.set(status);
    let start = &message.to_bytes()[..message.count_bytes().min(LONGEST_MESSAGE)];
    MESSAGE_LOST.set(!keep(format_args!("{}", String::from_utf8_lossy(start))));
}

/// Stores `message` in the calling thread's text buffer, as a C string. Returns false if there is no memory for the buffer.
fn keep(message: fmt::Arguments<'_>) -> bool {
    let Some(place) = alloc::thread_text() else { return false };
    let text = bounded(message);
    // SAFETY: the buffer belongs to this thread, and has room for the longest message and its final 0.
    unsafe {
        text.bytes().enumerate().for_each(|(i, byte)| place.add(i).write(if byte == 0 { b' ' } else { byte }));
        place.add(text.len()).write(0);
    }
    true
}

/// Returns the error of a call whose argument `name` is NULL.
#[cold]
pub(crate) fn null_argument(name: &str) -> Error {
    Error::new(Kind::Argument, format_args!("argument '{name}' is NULL"))
}
