//! C functions outside of the table. They cannot fail, so that they neither check arguments nor catch panics.

/// Handles and references.
pub mod handles {
    use crate::tensor::{THTensor, Tensor};
    use std::mem::ManuallyDrop;
    use std::ptr::NonNull;

    /// Adds a reference; NULL is ignored. Safe from any thread.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn THTensor_retain(t: *mut THTensor) {
        if let Some(t) = NonNull::new(t) {
            // SAFETY: the caller passes a live tensor. The clone is never dropped, because its reference belongs to the caller.
            let _given = unsafe { ManuallyDrop::new(Tensor::from_raw(t)) }.clone();
        }
    }

    /// Releases a reference; the last one frees the tensor and its reference to the storage. NULL is ignored. Safe from any thread.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn THTensor_free(t: *mut THTensor) {
        if let Some(t) = NonNull::new(t) {
            // SAFETY: the caller passes a reference that it owns.
            drop(unsafe { Tensor::from_raw(t) });
        }
    }
}

/// Storages.
pub mod storages {
    use crate::storage::{Storage, THStorage};
    use std::mem::ManuallyDrop;
    use std::ptr::NonNull;

    /// Adds a reference; NULL is ignored. Safe from any thread.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn THStorage_retain(storage: *mut THStorage) {
        if let Some(storage) = NonNull::new(storage) {
            // SAFETY: the caller passes a live storage. The clone is never dropped, because its reference belongs to the caller.
            let _given = unsafe { ManuallyDrop::new(Storage::from_raw(storage)) }.clone();
        }
    }

    /// Releases a reference; the last one frees the storage. NULL is ignored. Safe from any thread.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn THStorage_free(storage: *mut THStorage) {
        if let Some(storage) = NonNull::new(storage) {
            // SAFETY: the caller passes a reference that it owns.
            drop(unsafe { Storage::from_raw(storage) });
        }
    }
}

/// Errors.
pub mod errors {
    use crate::alloc;
    use crate::api::failure::{LAST_STATUS, MESSAGE_LOST, remember_text};
    use crate::error::{TH_OK, THStatus};
    use std::ffi::{CStr, c_char};

    /// Returns the message of the last failed call on this thread; "" if no call failed since `THClearLastError`. The message has the
    /// function's name, what is wrong, and values. It has at most 1023 bytes; a longer message is cut and ends in "...". Never NULL.
    /// Borrowed: the text is valid until the next failing call on this thread. The address is valid as long as the thread, and does not
    /// change unless memory runs out.
    #[unsafe(no_mangle)]
    pub extern "C" fn THGetLastError() -> *const c_char {
        match alloc::thread_text() {
            _ if MESSAGE_LOST.get() => c"there was no place to keep the message: memory has run out, or the thread is ending".as_ptr(),
            Some(text) => text.cast(),
            None => c"".as_ptr(),
        }
    }

    /// Returns the status of the last failed call on this thread; `TH_OK` if no call failed since `THClearLastError`. Successful calls do
    /// not change it.
    #[unsafe(no_mangle)]
    pub extern "C" fn THGetLastErrorCode() -> THStatus {
        LAST_STATUS.get()
    }

    /// Stores `message` and `status` as the last failure on this thread, and returns `status`. It serves functions built on this library
    /// that report failures in the same way, and callbacks that this library calls. A `message` of NULL is ""; of a longer message the
    /// first 1023 bytes are kept. With `TH_OK` the function does the same as `THClearLastError`.
    ///
    /// # Safety
    /// `message` is NULL or a C string.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn THSetLastError(status: THStatus, message: *const c_char) -> THStatus {
        if status == TH_OK {
            THClearLastError();
        } else {
            // SAFETY: the caller passes NULL or a C string.
            remember_text(status, if message.is_null() { c"" } else { unsafe { CStr::from_ptr(message) } });
        }
        status
    }

    /// Clears the last failure of this thread.
    #[unsafe(no_mangle)]
    pub extern "C" fn THClearLastError() {
        LAST_STATUS.set(TH_OK);
        MESSAGE_LOST.set(false);
        if let Some(text) = alloc::thread_text() {
            // SAFETY: the text buffer belongs to this thread.
            unsafe { text.write(0) };
        }
    }
}
