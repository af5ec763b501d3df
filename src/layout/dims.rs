//! A short list of sizes or strides: up to five live in the value, so that the way of a call needs no allocation.

use std::ops::{Deref, DerefMut};

/// Dimensions a handle or a layout holds without an allocation.
pub(crate) const INLINE_DIMS: usize = 5;

/// Sizes, strides or dims. Copies of the common case are plain moves of a few words.
#[derive(Clone, Default)]
pub struct Dims {
    len: usize,
    inline: [i64; INLINE_DIMS],
    /// All entries, if there are more than fit inline. They are boxed, so that a layout stays below the 128 bytes that are moved without a call.
    #[allow(clippy::box_collection)]
    heap: Option<Box<Vec<i64>>>,
}

impl Dims {
    /// No entries.
    pub fn new() -> Dims {
        Dims::default()
    }

    /// `len` times `value`.
    #[inline(always)]
    pub fn filled(value: i64, len: usize) -> Dims {
        if len <= INLINE_DIMS { Dims { len, inline: [value; INLINE_DIMS], heap: None } } else { Dims::many(vec![value; len]) }
    }

    /// More entries than fit inline.
    #[cold]
    fn many(entries: Vec<i64>) -> Dims {
        Dims { len: entries.len(), inline: [0; INLINE_DIMS], heap: Some(Box::new(entries)) }
    }

    /// The first `len` of `entries`.
    #[inline(always)]
    pub(crate) fn from_inline(entries: [i64; INLINE_DIMS], len: usize) -> Dims {
        debug_assert!(len <= INLINE_DIMS);
        Dims { len: len.min(INLINE_DIMS), inline: entries, heap: None }
    }

    /// The entries with room for all, where they live in the value.
    #[inline(always)]
    pub(crate) fn as_inline(&self) -> Option<&[i64; INLINE_DIMS]> {
        if self.heap.is_none() { Some(&self.inline) } else { None }
    }

    /// The entries.
    #[inline(always)]
    pub fn as_slice(&self) -> &[i64] {
        self
    }

    /// Appends an entry.
    pub fn push(&mut self, value: i64) {
        self.insert(self.len, value)
    }

    /// Puts an entry before entry `at`.
    pub fn insert(&mut self, at: usize, value: i64) {
        if self.heap.is_none() && self.len == INLINE_DIMS {
            self.heap = Some(Box::new(self.inline.to_vec()));
        }
        match &mut self.heap {
            Some(heap) => heap.insert(at, value),
            None => {
                self.inline.copy_within(at..self.len, at + 1);
                self.inline[at] = value;
            }
        }
        self.len += 1;
    }

    /// Takes entry `at` out.
    pub fn remove(&mut self, at: usize) {
        match &mut self.heap {
            Some(heap) => drop(heap.remove(at)),
            None => self.inline.copy_within(at + 1..self.len, at),
        }
        self.len -= 1;
    }

    /// Appends entries.
    pub fn extend_from_slice(&mut self, entries: &[i64]) {
        entries.iter().for_each(|&n| self.push(n));
    }
}

impl Deref for Dims {
    type Target = [i64];
    #[inline(always)]
    fn deref(&self) -> &[i64] {
        match &self.heap {
            Some(heap) => heap,
            None => &self.inline[..self.len.min(INLINE_DIMS)],
        }
    }
}

impl DerefMut for Dims {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [i64] {
        match &mut self.heap {
            Some(heap) => heap,
            None => &mut self.inline[..self.len.min(INLINE_DIMS)],
        }
    }
}

impl From<&[i64]> for Dims {
    #[inline(always)]
    fn from(entries: &[i64]) -> Dims {
        let len = entries.len();
        if len > INLINE_DIMS {
            return Dims::many(entries.to_vec());
        }
        let mut inline = [0; INLINE_DIMS];
        for d in 0..INLINE_DIMS {
            if d < len {
                inline[d] = entries[d];
            }
        }
        Dims { len, inline, heap: None }
    }
}

impl<const N: usize> From<&[i64; N]> for Dims {
    fn from(entries: &[i64; N]) -> Dims {
        entries[..].into()
    }
}

impl FromIterator<i64> for Dims {
    fn from_iter<I: IntoIterator<Item = i64>>(entries: I) -> Dims {
        let mut dims = Dims::new();
        entries.into_iter().for_each(|n| dims.push(n));
        dims
    }
}

impl<'a> IntoIterator for &'a Dims {
    type Item = &'a i64;
    type IntoIter = std::slice::Iter<'a, i64>;
    #[inline(always)]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl PartialEq for Dims {
    #[inline]
    fn eq(&self, other: &Dims) -> bool {
        **self == **other
    }
}

impl Eq for Dims {}

impl std::fmt::Debug for Dims {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_move_to_the_heap_and_stay_in_order() {
        let mut dims = Dims::new();
        (0..9).for_each(|n| dims.push(n));
        dims.insert(0, -1);
        dims.remove(4);
        assert_eq!(dims.as_slice(), [-1, 0, 1, 2, 4, 5, 6, 7, 8]);
        let mut few: Dims = (&[3, 4]).into();
        few.insert(1, 9);
        few.remove(0);
        few.push(5);
        assert_eq!(few.as_slice(), [9, 4, 5]);
        few.swap(0, 2);
        assert_eq!((few.as_slice(), few.len()), (&[5, 4, 9][..], 3));
        assert_eq!(Dims::filled(2, 8).as_slice(), [2; 8]);
    }
}
