//! Text on the heap that grows fallibly and becomes a C string.

use super::{th_free, th_realloc};
use crate::error::{Result, bail};
use std::ffi::{c_char, c_void};
use std::ptr::{NonNull, null_mut};

/// The minimum capacity of a text in bytes.
const LEAST_CAPACITY: usize = 64;

/// A text on the heap. One byte of its capacity is reserved for the 0 that ends a C string.
#[derive(Debug)]
pub struct HeapText {
    block: NonNull<u8>,
    len: usize,
    capacity: usize,
}

impl HeapText {
    /// An empty text with room for `bytes` bytes, at least 64.
    pub fn with_capacity(bytes: i64) -> Result<HeapText> {
        let capacity = usize::try_from(bytes).unwrap_or(0).saturating_add(1).max(LEAST_CAPACITY);
        Ok(HeapText { block: grown(null_mut(), capacity)?, len: 0, capacity })
    }

    /// Appends `more`.
    pub fn push(&mut self, more: &str) -> Result<()> {
        self.reserve(more.len())?;
        // SAFETY: there is room for these bytes after the text, and `self` owns the block.
        unsafe { self.block.as_ptr().add(self.len).copy_from_nonoverlapping(more.as_ptr(), more.len()) };
        self.len += more.len();
        Ok(())
    }

    /// Appends spaces.
    pub fn spaces(&mut self, count: usize) -> Result<()> {
        self.reserve(count)?;
        // SAFETY: there is room for these bytes after the text, and `self` owns the block.
        unsafe { self.block.as_ptr().add(self.len).write_bytes(b' ', count) };
        self.len += count;
        Ok(())
    }

    /// The length of the last line in bytes.
    pub fn line_len(&self) -> usize {
        self.as_bytes().iter().rev().take_while(|&&byte| byte != b'\n').count()
    }

    /// The text.
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: the first `len` bytes have been written.
        unsafe { std::slice::from_raw_parts(self.block.as_ptr(), self.len) }
    }

    /// The text as a C string, which the caller frees with `th_free`.
    pub fn into_c_string(self) -> *mut c_char {
        // SAFETY: `reserve` keeps one byte of capacity free.
        unsafe { self.block.as_ptr().add(self.len).write(0) };
        let string = self.block.as_ptr().cast();
        std::mem::forget(self);
        string
    }

    /// Makes room for `more` bytes and one. Doubles the capacity, so that the total cost of growing is linear in the length.
    fn reserve(&mut self, more: usize) -> Result<()> {
        let needed = self.len.saturating_add(more).saturating_add(1);
        if needed > self.capacity {
            let capacity = needed.max(self.capacity.saturating_mul(2));
            self.block = grown(self.block.as_ptr().cast(), capacity)?;
            self.capacity = capacity;
        }
        Ok(())
    }
}

impl Drop for HeapText {
    fn drop(&mut self) {
        // SAFETY: `self` owns the block.
        unsafe { th_free(self.block.as_ptr().cast()) }
    }
}

/// Resizes the heap block `block` to `bytes` bytes; NULL means a new block.
fn grown(block: *mut c_void, bytes: usize) -> Result<NonNull<u8>> {
    // SAFETY: `block` is NULL, or owned by the text. On failure it is unchanged.
    let block = isize::try_from(bytes).map_or(null_mut(), |bytes| unsafe { th_realloc(block, bytes) });
    match NonNull::new(block) {
        Some(block) => Ok(block.cast()),
        None => bail!(NoMem, "out of memory for a text of {bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;
    use std::ffi::CStr;

    #[test]
    fn texts_grow_and_end_as_c_strings() {
        let (mut text, mut expected) = (HeapText::with_capacity(-1).unwrap(), String::new());
        for k in 0..1000 {
            text.push("line\n").unwrap();
            text.spaces(k % 7).unwrap();
            expected += "line\n";
            expected += &" ".repeat(k % 7);
            assert_eq!(text.line_len(), k % 7);
        }
        assert_eq!(text.as_bytes(), expected.as_bytes());
        let string = text.into_c_string();
        // SAFETY: a C string on the heap, which is freed once.
        unsafe {
            assert_eq!(CStr::from_ptr(string).to_str(), Ok(expected.as_str()));
            th_free(string.cast());
        }
    }

    #[test]
    fn what_no_memory_can_hold_is_an_error() {
        assert_eq!(HeapText::with_capacity(i64::MAX).unwrap_err().kind(), Kind::NoMem);
        let mut text = HeapText::with_capacity(0).unwrap();
        text.push("kept").unwrap();
        assert_eq!(text.spaces(usize::MAX).unwrap_err().kind(), Kind::NoMem);
        assert_eq!((text.as_bytes(), text.line_len()), (&b"kept"[..], 4));
    }
}
