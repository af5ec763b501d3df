//! The least or greatest elements of a line: those that may be among them are collected, and now and then all but the best are dropped.

use super::records::{Record, count_bytes, listed, sort as sort_records};
use super::{Narrow, Pack, Sorted, Whole, is_narrow, record_bytes, scratch_bytes, sort};
use crate::cpu::engine::{CHEAP, Shared, parallel};
use crate::cpu::keys::{Key, Ordered};
use crate::cpu::simd::simd;
use crate::cpu::tuning::TOP_PIECE;

/// Elements looked at together for one that is to be collected.
const LOOK: usize = 128;
/// The most pieces of a line.
const MOST_PIECES: usize = 8;

/// Which elements to take, and how.
#[derive(Clone, Copy)]
pub struct Top {
    /// How many.
    pub k: usize,
    /// The greatest and not the least.
    pub largest: bool,
    /// Best first; else as they stand in the line.
    pub sorted: bool,
}

impl Top {
    /// Pieces that a line of `n` elements is cut into, whatever the number of threads.
    fn pieces(self, n: usize) -> usize {
        if self.k > TOP_PIECE / 32 { 1 } else { (n / TOP_PIECE).clamp(1, MOST_PIECES) }
    }

    /// Records that there is room for in a piece.
    fn room(self) -> usize {
        self.k.saturating_mul(2).saturating_add(2 * LOOK)
    }

    /// Bytes of scratch that taking from `n` elements takes.
    pub fn scratch_bytes<T: Ordered>(self, n: usize) -> usize {
        if self.k == n && self.sorted {
            return scratch_bytes::<T>(n, true);
        }
        let records = self.room().saturating_mul(self.pieces(n)).saturating_add(self.k);
        records.saturating_mul(record_bytes::<T>(n, true)).saturating_add(count_bytes(self.k))
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
        let shared = Shared(scratch);
        parallel(pieces, line.len() / pieces, CHEAP, &|range| {
            for piece in range {
                let part = &line[start(piece)..start(piece + 1)];
                // SAFETY: each piece has a room of its own.
                unsafe { self.collect(part, start(piece), pack, shared.get().cast::<P::R>().add(piece * self.room())) }
            }
        });
        let mut found = 0;
        for piece in 0..pieces {
            let best = k.min(start(piece + 1) - start(piece));
            // SAFETY: so many were collected; they move to the front, or stay.
            unsafe { records.add(found).copy_from(records.add(piece * self.room()), best) };
            found += best;
        }
        // SAFETY: they have been written; the line has `k` elements.
        let best = unsafe {
            P::R::split(std::slice::from_raw_parts_mut(records, found), k);
            std::slice::from_raw_parts_mut(records, k)
        };
        let (values, positions) = (Shared(out.values.cast()), Shared(out.positions.cast()));
        let emit = |records: &[P::R], start: usize| {
            let (values, positions) = (values.get().cast::<T>(), positions.get().cast::<i64>());
            for (i, at) in records.iter().map(|&r| P::at(r)).enumerate() {
                // SAFETY: there is room for `k` elements, and every place is written once.
                unsafe {
                    if !values.is_null() {
                        values.add(start + i).write(line[at]);
                    }
                    if !positions.is_null() {
                        positions.add(start + i).write(at as i64);
                    }
                }
            }
        };
        if !self.sorted {
            P::R::place(best);
            return emit(best, 0);
        }
        let (best, first) = (&*best, pack.bits(best[0]));
        let differ = best.iter().fold(0, |differ, &r| differ | (pack.bits(r) ^ first));
        let other = records.wrapping_add(k);
        // SAFETY: behind the best there is room for as many twice, and then for the counts.
        unsafe {
            sort_records(k, listed(best), [other, other.wrapping_add(k)], other.wrapping_add(2 * k).cast(), pack.window(differ), &emit)
        }
    }

    /// Writes records of the `k` best elements of a part of a line, or of all, in any order.
    ///
    /// # Safety
    /// There is [room](Top::room) for records.
    unsafe fn collect<T: Ordered, P: Pack>(self, part: &[T], start: usize, pack: P, records: *mut P::R) {
        let (k, largest) = (self.k, self.largest);
        // Once there are `k`, only what comes before the last of them counts: what ties with it stands behind.
        let (mut found, mut last) = (0, None);
        for (b, block) in part.chunks(LOOK).enumerate() {
            if last.is_some_and(|last| !any_before(block, largest, last)) {
                continue;
            }
            for (i, x) in block.iter().enumerate() {
                let key = x.key().flipped(largest);
                // SAFETY: there is room for another block.
                unsafe { records.add(found).write(pack.pack(key.bits(), start + b * LOOK + i)) };
                found += last.is_none_or(|last| key < last) as usize;
            }
            if found + LOOK > self.room() {
                // SAFETY: so many have been written.
                let records = unsafe { std::slice::from_raw_parts_mut(records, found) };
                P::R::split(records, k);
                last = Some(T::Key::from_bits(pack.bits(records[k - 1])));
                found = k;
            }
        }
        // SAFETY: as above.
        P::R::split(unsafe { std::slice::from_raw_parts_mut(records, found) }, k);
    }
}

/// Whether an element of a block comes before the one with the key `last`.
fn any_before<T: Ordered>(block: &[T], largest: bool, last: T::Key) -> bool {
    simd(
        #[inline(always)]
        move |_| {
            let mut any = false;
            for x in block {
                any |= x.key().flipped(largest) < last;
            }
            any
        },
    )
}
