//! Lists and texts that are allocated fallibly.

use crate::error::{Error, Result};
use std::fmt;

/// Appends a value to a list.
pub fn push<T>(list: &mut Vec<T>, value: T) -> Result<()> {
    if list.len() == list.capacity() {
        list.try_reserve(1).map_err(|_| Error::memory(size_of::<T>() as u64))?;
    }
    list.push(value);
    Ok(())
}

/// Returns an empty list with capacity for `count` values.
pub fn list<T>(count: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(count).map_err(|_| Error::memory((count as u64).saturating_mul(size_of::<T>() as u64)))?;
    Ok(list)
}

/// Returns `count` zero bytes.
pub fn zeros(count: usize) -> Result<Vec<u8>> {
    let mut bytes = list(count)?;
    bytes.resize(count, 0);
    Ok(bytes)
}

/// Returns a copy of a slice.
pub fn copy<T: Clone>(values: &[T]) -> Result<Vec<T>> {
    let mut list = list(values.len())?;
    list.extend_from_slice(values);
    Ok(list)
}

/// Returns the concatenated pieces.
pub fn text(pieces: &[&str]) -> Result<String> {
    let bytes = pieces.iter().map(|piece| piece.len()).sum();
    let mut text = String::new();
    text.try_reserve_exact(bytes).map_err(|_| Error::memory(bytes as u64))?;
    pieces.iter().for_each(|piece| text.push_str(piece));
    Ok(text)
}

/// Returns the path of the entry `key` of a table: `path.key`, or `key` if the table is the root.
pub fn joined(path: &str, key: &str) -> Result<String> {
    if path.is_empty() { text(&[key]) } else { text(&[path, ".", key]) }
}

/// Appends formatted text.
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

/// The length limit of texts that are not UTF-8, in bytes. Longer ones are replaced by their length.
const LONGEST_LOSSY: usize = 64 << 10;

/// Returns the bytes as text. In short texts, bytes that are not UTF-8 become U+FFFD. A long text that is not UTF-8 becomes a statement of
/// its length.
pub fn utf8(bytes: Vec<u8>) -> Result<String> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) if error.as_bytes().len() > LONGEST_LOSSY => Ok(format!("{} bytes that are not UTF-8", error.as_bytes().len())),
        Err(error) => Ok(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

/// The memory that is left for the names, values and shapes of a file. They can be much larger in memory than in the file.
pub struct Room(u64);

impl Room {
    /// Returns the limit for a file of `size` bytes: four times the size plus 48 MB.
    pub fn of(size: u64) -> Room {
        Room(size.saturating_mul(4).saturating_add(48 << 20))
    }

    /// Takes `bytes` for the data at byte `at` of the file. Fails if fewer are left. Callers count an entry of a growing list three times,
    /// because old and new memory coexist while the list is moved.
    pub fn take(&mut self, bytes: usize, at: u64) -> Result<()> {
        let left = self.0.checked_sub(bytes as u64);
        // After the first failure, all further calls fail.
        self.0 = left.unwrap_or(0);
        left.map(drop).ok_or_else(|| {
            let what = "names, values and shapes need more memory than four times the file size plus 48 MB";
            Error::unsupported(format_args!("byte {at}: {what}"))
        })
    }
}
