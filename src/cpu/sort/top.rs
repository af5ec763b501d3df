//! The least or greatest elements of a line: those that may be among them are collected, and now and then all but the best are dropped.

use super::records::Record;
use super::{Narrow, Pack, Sorted, Whole, is_narrow, record_bytes, scratch_bytes, sort};
use crate::cpu::engine::{CHEAP, Shared, parallel};
use crate::cpu::keys::{Key, Ordered};
use crate::cpu::simd::simd;
use crate::cpu::tuning::TOP_PIECE;
use crate::launch::lines::Top;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Elements looked at together for one that is to be collected.
const CHUNK: usize = 128;
/// The most pieces of a line.
const MOST_PIECES: usize = 8;

impl Top {
    /// Pieces that a line of `n` elements is cut into, whatever the number of threads.
    fn pieces(self, n: usize) -> usize {
        if self.k > TOP_PIECE / 32 { 1 } else { (n / TOP_PIECE).clamp(1, MOST_PIECES) }
    }

    /// Records that the buffer of a piece can hold.
    fn capacity(self) -> usize {
        self.k.saturating_mul(2).saturating_add(2 * CHUNK)
    }

    /// Bytes of scratch that taking from `n` elements takes.
    pub fn scratch_bytes<T: Ordered>(self, n: usize) -> usize {
        if self.k == n && self.sorted {
            return scratch_bytes::<T>(n, true);
        }
        self.capacity().saturating_mul(self.pieces(n)).saturating_mul(record_bytes::<T>(n, true))
    }

    /// Takes `k` elements of a line; of equal ones those that come first.
    ///
    /// # Safety
    /// `k` is at most the length of the line, results have room for `k` elements and lie apart from it, `scratch` has the bytes of
    /// [`Top::scratch_bytes`], aligned to 8.
    pub unsafe fn of<T: Ordered>(self, line: &[T], out: Sorted<T>, scratch: *mut u8) {
        // SAFETY: the caller's.
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
        let start = |piece: usize| line.len() * piece / pieces;
        let (shared, limit) = (Shared(scratch), AtomicU64::new(u64::MAX));
        let counts = [const { AtomicUsize::new(0) }; MOST_PIECES];
        parallel(pieces, line.len() / pieces, CHEAP, &|range| {
            for piece in range {
                let part = &line[start(piece)..start(piece + 1)];
                // SAFETY: each piece has a room of its own.
                let buffer = unsafe { shared.get().cast::<P::R>().add(piece * self.capacity()) };
                // SAFETY: as above.
                counts[piece].store(unsafe { self.collect(part, start(piece), pack, buffer, &limit) }, Relaxed);
            }
        });
        let mut found = 0;
        for (piece, count) in counts[..pieces].iter().enumerate() {
            let count = count.load(Relaxed);
            // SAFETY: `count` records were collected; they move to the front, or stay.
            unsafe { records.add(found).copy_from(records.add(piece * self.capacity()), count) };
            found += count;
        }
        // SAFETY: they have been written; the line has `k` elements.
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
            // SAFETY: there is room for `k` elements.
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

    /// Writes records of elements of a part of a line, in any order: all of them that are among the `k` best of the line, and at most `k`.
    /// Returns how many.
    ///
    /// The bits of `limit` are those of a key up to which there are `k` elements in some part, so that none beyond it counts.
    ///
    /// # Safety
    /// There is [room](Top::room) for records.
    unsafe fn collect<T: Ordered, P: Pack>(self, part: &[T], start: usize, pack: P, records: *mut P::R, limit: &AtomicU64) -> usize {
        let (k, largest) = (self.k, self.largest);
        let (mut found, mut last) = (0, T::Key::MAX);
        // Once there are `k` of this part, what ties with the last of them stands behind it and does not count; with one elsewhere it may.
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
                // SAFETY: there is room for another block.
                unsafe { records.add(found).write(pack.pack(key.bits(), start + b * CHUNK + i)) };
                found += (key <= last) as usize;
            }
            if found + CHUNK > self.capacity() {
                // SAFETY: `found` records have been written.
                let Some(key) = beyond(unsafe { std::slice::from_raw_parts_mut(records, found) }) else { return k };
                (last, found) = (last.min(key), k);
            }
        }
        if found > k {
            // SAFETY: as above.
            beyond(unsafe { std::slice::from_raw_parts_mut(records, found) });
        }
        found.min(k)
    }
}

/// Returns true if an element of a block comes up to the key `last`.
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
