//! C functions without a line in the table: they cannot fail, so they neither check arguments nor catch panics.

/// Handles and references.
pub mod handles {
    use crate::tensor::{THTensor, Tensor};
    use std::mem::ManuallyDrop;
    use std::ptr::NonNull;

    /// Adds a reference; NULL is ignored. Safe from any thread.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn THTensor_retain(t: *mut THTensor) {
        if let Some(t) = NonNull::new(t) {
            // SAFETY: the caller passes a live tensor; nobody drops the clone: its reference is the caller's.
            let _given = unsafe { ManuallyDrop::new(Tensor::from_raw(t)) }.clone();
        }
    }

    /// Gives up a reference; the last one frees the tensor and its reference to the storage. NULL is ignored. Safe from any thread.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn THTensor_free(t: *mut THTensor) {
        if let Some(t) = NonNull::new(t) {
            // SAFETY: the caller gives up a reference it holds.
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
            // SAFETY: the caller passes a live storage; nobody drops the clone: its reference is the caller's.
            let _given = unsafe { ManuallyDrop::new(Storage::from_raw(storage)) }.clone();
        }
    }

    /// Gives up a reference; the last one frees the storage. NULL is ignored. Safe from any thread.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn THStorage_free(storage: *mut THStorage) {
        if let Some(storage) = NonNull::new(storage) {
            // SAFETY: the caller gives up a reference it holds.
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

    /// The message of the last failed call on this thread: function, what is wrong, values; "" if none failed since `THClearLastError`. At
    /// most 1023 bytes: longer ones end in "...". Never NULL. Borrowed: unless memory has run out, the address stays the same as long as
    /// the thread, the text until the next failing call on it.
    #[unsafe(no_mangle)]
    pub extern "C" fn THGetLastError() -> *const c_char {
        match alloc::thread_text() {
            _ if MESSAGE_LOST.get() => c"there was no place to keep the message: memory has run out, or the thread is ending".as_ptr(),
            Some(text) => text.cast(),
            None => c"".as_ptr(),
        }
    }

    /// The status of the last failed call on this thread; `TH_OK` if none failed since `THClearLastError`. Successful calls leave it alone.
    #[unsafe(no_mangle)]
    pub extern "C" fn THGetLastErrorCode() -> THStatus {
        LAST_STATUS.get()
    }

    /// Makes `message` the text of the last failure on this thread and `status` its status, and returns `status`: for functions built on
    /// this library that report their failures as it does, and for functions that it calls. A message that is NULL is ""; of a longer one
    /// the first 1023 bytes are kept. `TH_OK` is THClearLastError.
    ///
    /// # Safety
    /// `message` is NULL or a C string.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn THSetLastError(status: THStatus, message: *const c_char) -> THStatus {
        if status == TH_OK {
            THClearLastError();
        } else {
            // SAFETY: the caller's.
            remember_text(status, if message.is_null() { c"" } else { unsafe { CStr::from_ptr(message) } });
        }
        status
    }

    /// Forgets the last failure of this thread.
    #[unsafe(no_mangle)]
    pub extern "C" fn THClearLastError() {
        LAST_STATUS.set(TH_OK);
        MESSAGE_LOST.set(false);
        if let Some(text) = alloc::thread_text() {
            // SAFETY: the text is this thread's own.
            unsafe { text.write(0) };
        }
    }
}
