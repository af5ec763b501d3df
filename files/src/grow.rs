//! Lists and texts that grow in ways that may fail.

use crate::error::{Error, Result};

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
