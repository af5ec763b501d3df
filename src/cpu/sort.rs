//! Lines in order: every key becomes a record with its position, records are sorted, and keys become elements again.
//!
//! Both zeros have one key, and so have all NaNs; which of them stands where is looked up in the line afterwards.

pub mod permute;
pub mod records;

use super::engine::{CHEAP, Shared, parallel};
use super::keys::{Key, Ordered};
use super::select::{scratch_bytes as select_bytes, select};
use super::simd::simd;
use crate::cpu::tuning::SORTED_PIECE;
use records::{Record, Wide, count_bytes, sort as sort_records};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A way to pack a key and a position into a record.
trait Pack {
    type R: Record;
    fn pack(bits: u64, at: usize) -> Self::R;
    /// The bits of the key.
    fn key(r: Self::R) -> u64;
    fn at(r: Self::R) -> usize;
    /// The bits by which records are sorted.
    const SORTED: u64;
}

/// Keys of 32 bits and fewer than 2^32 positions.
struct Narrow;
impl Pack for Narrow {
    type R = u64;
    #[inline(always)]
    fn pack(bits: u64, at: usize) -> u64 {
        bits << 32 | at as u64
    }
    #[inline(always)]
    fn key(r: u64) -> u64 {
        r >> 32
    }
    #[inline(always)]
    fn at(r: u64) -> usize {
        r as u32 as usize
    }
    const SORTED: u64 = !0 << 32;
}

/// Keys without positions.
struct Bare;
impl Pack for Bare {
    type R = u64;
    #[inline(always)]
    fn pack(bits: u64, _at: usize) -> u64 {
        bits
    }
    #[inline(always)]
    fn key(r: u64) -> u64 {
        r
    }
    #[inline(always)]
    fn at(_: u64) -> usize {
        0
    }
    const SORTED: u64 = !0;
}

/// Everything else.
impl Pack for Wide {
    type R = Wide;
    #[inline(always)]
    fn pack(bits: u64, at: usize) -> Wide {
        Wide { key: bits, at: at as u64 }
    }
    #[inline(always)]
    fn key(r: Wide) -> u64 {
        r.key
    }
    #[inline(always)]
    fn at(r: Wide) -> usize {
        r.at as usize
    }
    const SORTED: u64 = !0;
}

/// Where a sorted line goes; NULL for what is not wanted.
#[derive(Clone, Copy)]
pub struct Sorted<T> {
    /// The elements.
    pub values: *mut T,
    /// Where each of them stood.
    pub positions: *mut i64,
}

/// Bytes of scratch that sorting `n` elements takes.
pub fn scratch_bytes<T: Ordered>(n: usize, positions: bool) -> usize {
    n.saturating_mul(2 * record_bytes::<T>(n, positions)).saturating_add(count_bytes(n))
}

/// Bytes of a record of one of `n` elements.
fn record_bytes<T: Ordered>(n: usize, position: bool) -> usize {
    if is_narrow::<T>(n) || !position { size_of::<u64>() } else { size_of::<Wide>() }
}

/// Whether a key and a position fit into 64 bits.
fn is_narrow<T: Ordered>(n: usize) -> bool {
    size_of::<T::Key>() == 4 && n <= u32::MAX as usize
}

/// Sorts a line; equal elements keep their order, NaN is greater than everything.
///
/// # Safety
/// Results have room for the line and lie apart from it, `scratch` has the bytes of [`scratch_bytes`], aligned to 8.
pub unsafe fn sort<T: Ordered>(line: &[T], descending: bool, out: Sorted<T>, scratch: *mut u8) {
    // SAFETY: the caller's.
    unsafe {
        if is_narrow::<T>(line.len()) {
            sort_packed::<T, Narrow>(line, descending, out, scratch)
        } else if out.positions.is_null() {
            sort_packed::<T, Bare>(line, descending, out, scratch)
        } else {
            sort_packed::<T, Wide>(line, descending, out, scratch)
        }
        if T::DTYPE.is_float() && !out.values.is_null() {
            let values = std::slice::from_raw_parts_mut(out.values, line.len());
            restore(line, values, descending, T::ZERO.key());
            restore(line, values, descending, T::Key::MAX);
        }
    }
}

/// # Safety
/// As for [`sort`].
unsafe fn sort_packed<T: Ordered, P: Pack>(line: &[T], descending: bool, out: Sorted<T>, scratch: *mut u8) {
    let n = line.len();
    let Some(first) = line.first() else { return };
    let records = scratch.cast::<P::R>();
    let (other, counts) = (records.wrapping_add(n), records.wrapping_add(2 * n).cast::<u8>());
    let (shared, differ) = (Shared(records.cast()), AtomicU64::new(0));
    let first = first.key().flipped(descending).bits();
    parallel(n.div_ceil(SORTED_PIECE), SORTED_PIECE, CHEAP, &|range| {
        let start = range.start * SORTED_PIECE;
        let part = &line[start..n.min(range.end * SORTED_PIECE)];
        let records = shared.get().cast::<P::R>().wrapping_add(start);
        let differs = simd(
            #[inline(always)]
            move |_| {
                let mut differs = 0;
                for (i, x) in part.iter().enumerate() {
                    let bits = x.key().flipped(descending).bits();
                    differs |= bits ^ first;
                    // SAFETY: there is room for a record of each element.
                    unsafe { records.add(i).write(P::pack(bits, start + i)) }
                }
                differs
            },
        );
        differ.fetch_or(differs, Relaxed);
    });
    let differ = differ.into_inner();
    let differ = if P::SORTED == !0 { differ } else { differ << 32 };
    let (values, positions) = (Shared(out.values.cast()), Shared(out.positions.cast()));
    let emit = |records: &[P::R], at: usize| {
        // SAFETY: pieces of the results are apart, and there is room for all.
        unsafe { unpack::<T, P>(records, descending, at, values, positions) }
    };
    // SAFETY: the caller's; all records have been written.
    unsafe { sort_records(std::slice::from_raw_parts_mut(records, n), other, counts, differ, &emit) }
}

/// Writes what sorted records stand for, from place `at` on.
///
/// # Safety
/// Results that are not NULL have room for it.
unsafe fn unpack<T: Ordered, P: Pack>(records: &[P::R], descending: bool, at: usize, values: Shared, positions: Shared) {
    simd(
        #[inline(always)]
        move |_| {
            if !values.get().is_null() {
                let values = values.get().cast::<T>().wrapping_add(at);
                for (i, &r) in records.iter().enumerate() {
                    // SAFETY: the caller's.
                    unsafe { values.add(i).write(T::from_key(T::Key::from_bits(P::key(r)).flipped(descending))) }
                }
            }
            if !positions.get().is_null() {
                let positions = positions.get().cast::<i64>().wrapping_add(at);
                for (i, &r) in records.iter().enumerate() {
                    // SAFETY: the caller's.
                    unsafe { positions.add(i).write(P::at(r) as i64) }
                }
            }
        },
    )
}

/// Puts the elements that share a key in place of those made of it; they stand in the order of the line.
fn restore<T: Ordered>(line: &[T], values: &mut [T], descending: bool, key: T::Key) {
    let key = key.flipped(descending);
    let start = values.partition_point(|x| x.key().flipped(descending) < key);
    let count = values[start..].partition_point(|x| x.key().flipped(descending) <= key);
    if count > 0 {
        let same = line.iter().filter(|x| x.key().flipped(descending) == key);
        values[start..start + count].iter_mut().zip(same).for_each(|(value, &x)| *value = x);
    }
}

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
    /// Bytes of scratch that taking from `n` elements takes.
    pub fn scratch_bytes<T: Ordered>(self, n: usize) -> usize {
        if self.k == n && self.sorted {
            return scratch_bytes::<T>(n, true);
        }
        self.k.saturating_mul(2 * record_bytes::<T>(n, true)).saturating_add(count_bytes(self.k)).max(select_bytes::<T>(n))
    }

    /// Takes `k` elements of a line; of equal ones those that come first.
    ///
    /// # Safety
    /// `k` is at most the length of the line, results have room for `k` elements and lie apart from it, `scratch` has the bytes of
    /// [`Top::scratch_bytes`], aligned to 8.
    pub unsafe fn of<T: Ordered>(self, line: &[T], out: Sorted<T>, scratch: *mut u8) {
        // SAFETY: the caller's.
        unsafe {
            match (self.k, is_narrow::<T>(line.len())) {
                (0, _) => {}
                (k, _) if k == line.len() && self.sorted => sort(line, self.largest, out, scratch),
                (_, true) => self.packed::<T, Narrow>(line, out, scratch),
                (_, false) => self.packed::<T, Wide>(line, out, scratch),
            }
        }
    }

    /// # Safety
    /// As for [`Top::of`].
    unsafe fn packed<T: Ordered, P: Pack>(self, line: &[T], out: Sorted<T>, scratch: *mut u8) {
        let Top { k, largest, sorted } = self;
        // SAFETY: the caller's.
        let last = unsafe { select(line, if largest { line.len() - k } else { k - 1 }, scratch) }.key.flipped(largest);
        let records = scratch.cast::<P::R>();
        // SAFETY: there is room for 2 k records.
        let records = unsafe {
            let found = collect::<T, P>(line, largest, last, k, records);
            let records = std::slice::from_raw_parts_mut(records, found);
            keep_first(records, k, |r| P::key(r) == last.bits());
            &mut records[..k]
        };
        let (values, positions) = (Shared(out.values.cast()), Shared(out.positions.cast()));
        let emit = |records: &[P::R], start: usize| {
            let (values, positions) = (values.get().cast::<T>(), positions.get().cast::<i64>());
            for (i, &r) in records.iter().enumerate() {
                // SAFETY: there is room for `k` elements, and every place is written once.
                unsafe {
                    if !values.is_null() {
                        values.add(start + i).write(line[P::at(r)]);
                    }
                    if !positions.is_null() {
                        positions.add(start + i).write(P::at(r) as i64);
                    }
                }
            }
        };
        if !sorted {
            return emit(records, 0);
        }
        let first = P::key(records[0]);
        let differ = records.iter().fold(0, |differ, &r| differ | (P::key(r) ^ first));
        let differ = if P::SORTED == !0 { differ } else { differ << 32 };
        let other = records.as_mut_ptr().wrapping_add(k);
        // SAFETY: where the surplus was there is room for as many records, and behind it for the counts.
        unsafe { sort_records(records, other, other.wrapping_add(k).cast(), differ, &emit) }
    }
}

/// Elements looked at together for one that is to be kept.
const LOOK: usize = 128;

/// Writes records of the elements up to the key `last`, and of the first `k` of those that have it, as they stand in the line; returns how many.
///
/// # Safety
/// There is room for `2 * k` records; fewer than `k` elements are below `last`.
unsafe fn collect<T: Ordered, P: Pack>(line: &[T], largest: bool, last: T::Key, k: usize, records: *mut P::R) -> usize {
    let (mut found, mut ties) = (0, 0);
    for (b, block) in line.chunks(LOOK).enumerate() {
        let any = simd(
            #[inline(always)]
            move |_| {
                let mut any = false;
                for x in block {
                    any |= x.key().flipped(largest) <= last;
                }
                any
            },
        );
        if !any {
            continue;
        }
        for (i, x) in block.iter().enumerate() {
            let key = x.key().flipped(largest);
            if key < last || (key == last && ties < k) {
                ties += (key == last) as usize;
                // SAFETY: the caller's.
                unsafe { records.add(found).write(P::pack(key.bits(), b * LOOK + i)) };
                found += 1;
            }
        }
    }
    found
}

/// Moves `k` records to the front: all but the last of those that tie.
fn keep_first<R: Record>(records: &mut [R], k: usize, ties: impl Fn(R) -> bool) {
    let mut left = k - records.iter().filter(|&&r| !ties(r)).count();
    let mut kept = 0;
    for i in 0..records.len() {
        let r = records[i];
        if ties(r) {
            if left == 0 {
                continue;
            }
            left -= 1;
        }
        records[kept] = r;
        kept += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::tuning::{BUCKETED_RECORDS, COMPARED_RECORDS};
    use crate::dtype::Bool;

    fn run<T: Ordered>(line: &[T], descending: bool, positions: bool) -> (Vec<T>, Vec<i64>) {
        let n = line.len();
        let (mut values, mut places) = (vec![T::ZERO; n], vec![-1; if positions { n } else { 0 }]);
        let mut scratch = vec![0u64; scratch_bytes::<T>(n, positions).div_ceil(8)];
        let places_at = if positions { places.as_mut_ptr() } else { std::ptr::null_mut() };
        // SAFETY: results and scratch are as long as asked for.
        unsafe { sort(line, descending, Sorted { values: values.as_mut_ptr(), positions: places_at }, scratch.as_mut_ptr().cast()) }
        (values, places)
    }

    /// The places of a stable sort by comparing elements, NaN as the greatest.
    fn naive<T: Ordered>(line: &[T], descending: bool) -> Vec<i64> {
        let mut places: Vec<i64> = (0..line.len() as i64).collect();
        places.sort_by(|&a, &b| {
            let (a, b) = (line[a as usize], line[b as usize]);
            let order = a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()));
            if descending { order.reverse() } else { order }
        });
        places
    }

    /// The bits of elements, so that zeros and NaNs are told apart.
    fn bits<T: Ordered>(x: &[T]) -> &[u8] {
        // SAFETY: elements are plain bytes.
        unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), size_of_val(x)) }
    }

    fn check<T: Ordered>(line: &[T]) {
        for descending in [false, true] {
            let places = naive(line, descending);
            let expected: Vec<T> = places.iter().map(|&i| line[i as usize]).collect();
            let (values, got) = run(line, descending, true);
            assert_eq!(got, places, "{} elements, {}", line.len(), T::DTYPE);
            assert_eq!(bits(&values), bits(&expected));
            assert_eq!(bits(&run(line, descending, false).0), bits(&expected));
        }
        let n = line.len();
        for k in [0, 1, n / 9, n / 2, n - n / 9, n].map(|k| k.min(n)) {
            for (largest, sorted) in [(false, true), (true, true), (false, false), (true, false)] {
                check_top(line, Top { k, largest, sorted });
            }
        }
    }

    fn check_top<T: Ordered>(line: &[T], top: Top) {
        let mut expected = naive(line, top.largest);
        expected.truncate(top.k);
        if !top.sorted {
            expected.sort_unstable();
        }
        let (mut values, mut places) = (vec![T::ZERO; top.k], vec![-1; top.k]);
        let mut scratch = vec![0u64; top.scratch_bytes::<T>(line.len()).div_ceil(8)];
        // SAFETY: results and scratch are as long as asked for.
        unsafe { top.of(line, Sorted { values: values.as_mut_ptr(), positions: places.as_mut_ptr() }, scratch.as_mut_ptr().cast()) }
        assert_eq!(places, expected, "{} of {} elements, {}", top.k, line.len(), T::DTYPE);
        assert_eq!(bits(&values), bits(&expected.iter().map(|&i| line[i as usize]).collect::<Vec<T>>()));
    }

    /// Numbers without a pattern.
    fn scattered(n: usize) -> impl Iterator<Item = u64> {
        (1..=n as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9))
    }

    /// Lengths around those where one way of sorting takes over from another.
    const LENGTHS: [usize; 12] = [
        0,
        1,
        2,
        3,
        33,
        COMPARED_RECORDS - 1,
        COMPARED_RECORDS,
        COMPARED_RECORDS + 1,
        5000,
        BUCKETED_RECORDS - 1,
        BUCKETED_RECORDS,
        2 * SORTED_PIECE + 7,
    ];

    #[test]
    fn every_length_and_dtype_is_sorted_stably() {
        for n in LENGTHS {
            check(&scattered(n).map(|x| (x as i32) as f32).collect::<Vec<_>>());
            check(&scattered(n).map(|x| x as i64 as f64 * 1e-3).collect::<Vec<_>>());
            check(&scattered(n).map(|x| x as i64).collect::<Vec<_>>());
            check(&scattered(n).map(|x| x as i32).collect::<Vec<_>>());
            check(&scattered(n).map(|x| x as i16).collect::<Vec<_>>());
            check(&scattered(n).map(|x| x as u8).collect::<Vec<_>>());
            check(&scattered(n).map(|x| x as i8).collect::<Vec<_>>());
            check(&scattered(n).map(|x| Bool::from(x % 3 == 0)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn equal_elements_zeros_and_nans_keep_their_order() {
        let few = [0.0f32, -0.0, f32::NAN, 1.0, -f32::NAN, f32::INFINITY, -1.0, f32::from_bits(0x7fc0_1234)];
        for n in LENGTHS {
            check(&scattered(n).map(|x| few[x as usize % few.len()]).collect::<Vec<_>>());
            check(&scattered(n).map(|x| few[x as usize % few.len()] as f64).collect::<Vec<_>>());
            check(&scattered(n).map(|x| (x % 3) as i64 - 1).collect::<Vec<_>>());
            check(&vec![7i32; n]);
        }
    }

    #[test]
    fn lines_that_fill_one_bucket_are_sorted_too() {
        let n = 3 * BUCKETED_RECORDS;
        // Most share the upper digits with each other, and one has others.
        check(&scattered(n).enumerate().map(|(i, x)| if i == 5 { i64::MAX } else { (x % 100_000) as i64 }).collect::<Vec<_>>());
        check(&scattered(n).enumerate().map(|(i, x)| if i == 5 { i32::MIN } else { (x % 300) as i32 }).collect::<Vec<_>>());
        check(&(0..n as i64).rev().collect::<Vec<_>>());
    }

    #[test]
    fn positions_beyond_32_bits_have_records_of_their_own() {
        let line: Vec<f32> = scattered(5000).map(|x| (x % 100) as f32).collect();
        let (mut values, mut places) = (vec![0.0; 5000], vec![0; 5000]);
        let mut scratch = vec![Wide { key: 0, at: 0 }; 10_000];
        let out = Sorted { values: values.as_mut_ptr(), positions: places.as_mut_ptr() };
        // SAFETY: the scratch has two records for each element.
        unsafe { sort_packed::<f32, Wide>(&line, false, out, scratch.as_mut_ptr().cast()) }
        assert_eq!(places, naive(&line, false));
    }
}
