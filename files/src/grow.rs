//! Lists and texts that grow in ways that may fail.

use crate::error::{Error, Result};
use std::fmt;

/// Appends `value`.
pub fn push<T>(list: &mut Vec<T>, value: T) -> Result<()> {
    if list.len() == list.capacity() {
        list.try_reserve(1).map_err(|_| Error::memory(size_of::<T>() as u64))?;
    }
    list.push(value);
    Ok(())
}

/// An empty list with room for `count` values.
pub fn list<T>(count: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(count).map_err(|_| Error::memory((count as u64).saturating_mul(size_of::<T>() as u64)))?;
    Ok(list)
}

/// `count` zero bytes.
pub fn zeros(count: usize) -> Result<Vec<u8>> {
    let mut bytes = list(count)?;
    bytes.resize(count, 0);
    Ok(bytes)
}

/// A copy of a slice.
pub fn copy<T: Clone>(values: &[T]) -> Result<Vec<T>> {
    let mut list = list(values.len())?;
    list.extend_from_slice(values);
    Ok(list)
}

/// The pieces one after the other.
pub fn text(pieces: &[&str]) -> Result<String> {
    let bytes = pieces.iter().map(|piece| piece.len()).sum();
    let mut text = String::new();
    text.try_reserve_exact(bytes).map_err(|_| Error::memory(bytes as u64))?;
    pieces.iter().for_each(|piece| text.push_str(piece));
    Ok(text)
}

/// The name of what lies under `key` in what is named `path`: `path.key`, or `key` at the root.
pub fn joined(path: &str, key: &str) -> Result<String> {
    if path.is_empty() { text(&[key]) } else { text(&[path, ".", key]) }
}

/// Appends what is formatted to a text.
pub fn write(to: &mut String, piece: fmt::Arguments<'_>) -> Result<()> {
    struct Growing<'a>(&'a mut String);

    impl fmt::Write for Growing<'_> {
        fn write_str(&mut self, piece: &str) -> fmt::Result {
            self.0.try_reserve(piece.len()).map_err(|_| fmt::Error)?;
            self.0.push_str(piece);
            Ok(())
        }
    }
    fmt::write(&mut Growing(to), piece).map_err(|_| Error::memory(to.len() as u64))
}

/// The longest text that is kept where it is not UTF-8.
const LONGEST_LOSSY: usize = 64 << 10;

/// The bytes as text. Bytes that are not UTF-8 become U+FFFD in short texts, and long texts of such only say how long they are.
pub fn utf8(bytes: Vec<u8>) -> Result<String> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) if error.as_bytes().len() > LONGEST_LOSSY => Ok(format!("{} bytes that are not UTF-8", error.as_bytes().len())),
        Err(error) => Ok(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

/// The memory that names, values and shapes of a file may still take. What is in a file may be far larger in memory than in the file.
pub struct Room(u64);

impl Room {
    /// Four times the file and 48 MB.
    pub fn of(size: u64) -> Room {
        Room(size.saturating_mul(4).saturating_add(48 << 20))
    }

    /// Takes `bytes`, for what the file has at the byte `at`. A list that grows takes up to three times of what is in it.
    pub fn take(&mut self, bytes: usize, at: u64) -> Result<()> {
        let left = self.0.checked_sub(bytes as u64);
        // Whoever was refused once is refused again.
        self.0 = left.unwrap_or(0);
        left.map(drop).ok_or_else(|| {
            let what = "names, values and shapes take more memory than four times the file and 48 MB";
            Error::unsupported(format_args!("byte {at}: {what}"))
        })
    }
}
