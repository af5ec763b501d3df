//! A short list of sizes or strides. Up to five are stored inline, so that most calls allocate none.

use std::ops::{Deref, DerefMut};

/// The number of dimensions that a handle or a layout stores without an allocation.
pub(crate) const INLINE_DIMS: usize = 5;

/// Sizes, strides or dimensions. Inline entries are copied as a few words: layouts and operands stay within 128 bytes, which compilers copy
/// without a call of memcpy.
#[derive(Clone)]
pub enum Dims {
    /// Entries that are stored inline.
    Few {
        /// The number of valid entries.
        len: u8,
        /// The entries, followed by unused ones.
        entries: [i64; INLINE_DIMS],
    },
    /// Entries on the heap.
    #[allow(clippy::box_collection)]
    Many(Box<Vec<i64>>),
}

impl Default for Dims {
    #[inline(always)]
    fn default() -> Dims {
        Dims::Few { len: 0, entries: [0; INLINE_DIMS] }
    }
}

impl Dims {
    /// An empty list.
    pub fn new() -> Dims {
        Dims::default()
    }

    /// A list of `len` entries, all equal to `value`.
    #[inline(always)]
    pub fn filled(value: i64, len: usize) -> Dims {
        if len <= INLINE_DIMS { Dims::from_inline([value; INLINE_DIMS], len) } else { Dims::many(vec![value; len]) }
    }

    /// A list on the heap.
    #[cold]
    fn many(entries: Vec<i64>) -> Dims {
        Dims::Many(Box::new(entries))
    }

    /// A list of the first `len` of `entries`.
    #[inline(always)]
    pub(crate) fn from_inline(entries: [i64; INLINE_DIMS], len: usize) -> Dims {
        debug_assert!(len <= INLINE_DIMS);
        Dims::Few { len: len.min(INLINE_DIMS) as u8, entries }
    }

    /// The inline array with all INLINE_DIMS entries; `None` if the entries are on the heap.
    #[inline(always)]
    pub(crate) fn as_inline(&self) -> Option<&[i64; INLINE_DIMS]> {
        match self {
            Dims::Few { entries, .. } => Some(entries),
            Dims::Many(_) => None,
        }
    }

    /// The entries.
    #[inline(always)]
    pub fn as_slice(&self) -> &[i64] {
        self
    }

    /// Appends an entry.
    #[inline]
    pub fn push(&mut self, value: i64) {
        match self {
            Dims::Few { len, entries } if usize::from(*len) < INLINE_DIMS => {
                entries[usize::from(*len)] = value;
                *len += 1;
            }
            _ => self.insert(self.len(), value),
        }
    }

    /// Inserts an entry before entry `at`.
    pub fn insert(&mut self, at: usize, value: i64) {
        match self {
            Dims::Few { len, entries } if usize::from(*len) < INLINE_DIMS => {
                entries.copy_within(at..usize::from(*len), at + 1);
                entries[at] = value;
                *len += 1;
            }
            Dims::Few { entries, .. } => {
                let mut many = entries.to_vec();
                many.insert(at, value);
                *self = Dims::many(many);
            }
            Dims::Many(entries) => entries.insert(at, value),
        }
    }

    /// Removes entry `at`.
    pub fn remove(&mut self, at: usize) {
        match self {
            Dims::Few { len, entries } => {
                entries.copy_within(at + 1..usize::from(*len), at);
                *len -= 1;
            }
            Dims::Many(entries) => _ = entries.remove(at),
        }
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
        match self {
            Dims::Few { len, entries } => &entries[..usize::from(*len).min(INLINE_DIMS)],
            Dims::Many(entries) => entries,
        }
    }
}

impl DerefMut for Dims {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [i64] {
        match self {
            Dims::Few { len, entries } => &mut entries[..usize::from(*len).min(INLINE_DIMS)],
            Dims::Many(entries) => entries,
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
        Dims::from_inline(inline, len)
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
