//! The `k` smallest or greatest elements of a line. Candidates are collected in a buffer; when it is full, all but the best `k` are
//! dropped.

use super::records::Record;
use super::{Narrow, Pack, Sorted, Whole, is_narrow, record_bytes, scratch_bytes, sort};
use crate::cpu::engine::{CHEAP, Shared, parallel};
use crate::cpu::keys::{Key, Ordered};
use crate::cpu::simd::simd;
use crate::cpu::tuning::TOP_PIECE;
use crate::launch::lines::Top;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Elements that are tested together for a candidate.
const CHUNK: usize = 128;
/// The maximum number of pieces in a line.
const MOST_PIECES: usize = 8;

impl Top {
    /// Returns the number of pieces of a line of `n` elements, which does not depend on the number of threads.
    fn pieces(self, n: usize) -> usize {
        if self.k > TOP_PIECE / 32 { 1 } else { (n / TOP_PIECE).clamp(1, MOST_PIECES) }
    }

    /// Returns the number of records of a piece from which all but the best are dropped.
    fn most(self) -> usize {
        self.k.saturating_mul(2).saturating_add(2 * CHUNK)
    }

    /// Returns the number of records that the buffer of a piece of a line of `n` elements can hold.
    fn capacity(self, n: usize) -> usize {
        if self.pieces(n) == 1 { self.most().min(n) } else { self.most() }
    }

    /// Returns the bytes of scratch that selecting from `n` elements needs.
    pub fn scratch_bytes<T: Ordered>(self, n: usize) -> usize {
        if self.k == n && self.sorted {
            return scratch_bytes::<T>(n, true);
        }
        self.capacity(n).saturating_mul(self.pieces(n)).saturating_mul(record_bytes::<T>(n, true))
    }

    /// Selects `k` elements of a line. Of equal elements the first ones are selected.
    ///
    /// # Safety
    /// `k` must be at most the length of the line. Results must have room for `k` elements, outside the line. `scratch` must have the bytes
    /// of [`Top::scratch_bytes`], aligned to 8.
    pub unsafe fn of<T: Ordered>(self, line: &[T], out: Sorted<T>, scratch: *mut u8) {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            match self.k {
                0 => {}
                k if k == line.len() && self.sorted => sort(line, self.largest, out, scratch),
                _ if is_narrow::<T>(line.len()) => self.packed(line, Narrow { low: 0, common: 0 }, out, scratch),
                _ => self.packed(line, Whole, out, scratch),
            }
        }
    }

    /// # Safety
    /// As for [`Top::of`].
    unsafe fn packed<T: Ordered, P: Pack>(self, line: &[T], pack: P, out: Sorted<T>, scratch: *mut u8) {
        let (k, pieces, records) = (self.k, self.pieces(line.len()), scratch.cast::<P::R>());
        let capacity = self.capacity(line.len());
        let start = |piece: usize| line.len() * piece / pieces;
        let (shared, limit) = (Shared(scratch), AtomicU64::new(u64::MAX));
        let counts = [const { AtomicUsize::new(0) }; MOST_PIECES];
        parallel(pieces, line.len() / pieces, CHEAP, &|range| {
            for piece in range {
                let part = &line[start(piece)..start(piece + 1)];
                // SAFETY: each piece has a separate buffer.
                let buffer = unsafe { shared.get().cast::<P::R>().add(piece * capacity) };
                // SAFETY: each piece has a separate buffer.
                counts[piece].store(unsafe { self.collect(part, start(piece), pack, buffer, &limit) }, Relaxed);
            }
        });
        let mut found = 0;
        for (piece, count) in counts[..pieces].iter().enumerate() {
            let count = count.load(Relaxed);
            // SAFETY: `count` records were collected; they move to the front, or stay.
            unsafe { records.add(found).copy_from(records.add(piece * capacity), count) };
            found += count;
        }
        // SAFETY: `found` records have been written, and the line has `k` elements.
        let best = unsafe {
            P::R::split(std::slice::from_raw_parts_mut(records, found), k);
            std::slice::from_raw_parts_mut(records, k)
        };
        if self.sorted {
            P::R::compare(best)
        } else {
            P::R::place(best)
        }
        for (i, at) in best.iter().map(|&r| P::at(r)).enumerate() {
            // SAFETY: the results have room for `k` elements.
            unsafe {
                if !out.values.is_null() {
                    out.values.add(i).write(line[at]);
                }
                if !out.positions.is_null() {
                    out.positions.add(i).write(at as i64);
                }
            }
        }
    }

    /// Collects records of elements in a part of a line, in any order: all that are among the `k` best of the line, but at most `k`.
    /// Returns their number.
    ///
    /// `limit` holds the bits of a key. Some part has `k` elements up to this key, so elements with greater keys are not among the best.
    ///
    /// # Safety
    /// `records` must have room for [`Top::most`] records, or for the elements of the part if these are fewer.
    unsafe fn collect<T: Ordered, P: Pack>(self, part: &[T], start: usize, pack: P, records: *mut P::R, limit: &AtomicU64) -> usize {
        let (k, largest) = (self.k, self.largest);
        let (mut found, mut last) = (0, T::Key::MAX);
        // Once this part has `k` candidates, a later element that equals the last of them is not selected. An equal element of another part
        // may be.
        let beyond = |records: &mut [P::R]| {
            P::R::split(records, k);
            let key = T::Key::from_bits(pack.bits(records[k - 1]));
            limit.fetch_min(key.bits(), Relaxed);
            if key > T::Key::MIN { Some(key.under()) } else { None }
        };
        for (b, block) in part.chunks(CHUNK).enumerate() {
            let elsewhere = limit.load(Relaxed);
            last = if elsewhere < last.bits() { T::Key::from_bits(elsewhere) } else { last };
            if last < T::Key::MAX && !any_up_to(block, largest, last) {
                continue;
            }
            for (i, x) in block.iter().enumerate() {
                let key = x.key().flipped(largest);
                // SAFETY: there is room for another block, or for all elements.
                unsafe { records.add(found).write(pack.pack(key.bits(), start + b * CHUNK + i)) };
                found += (key <= last) as usize;
            }
            if found + CHUNK > self.most() {
                // SAFETY: `found` records have been written.
                let Some(key) = beyond(unsafe { std::slice::from_raw_parts_mut(records, found) }) else { return k };
                (last, found) = (last.min(key), k);
            }
        }
        if found > k {
            // SAFETY: `found` records have been written.
            beyond(unsafe { std::slice::from_raw_parts_mut(records, found) });
        }
        found.min(k)
    }
}

/// Returns true if a block has an element with a key up to `last`.
fn any_up_to<T: Ordered>(block: &[T], largest: bool, last: T::Key) -> bool {
    simd(
        #[inline(always)]
        move |_| {
            let mut any = false;
            for x in block {
                any |= x.key().flipped(largest) <= last;
            }
            any
        },
    )
}
