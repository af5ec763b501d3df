//! Sorting of lines: every element becomes a record of its key and position, the records are sorted, and become elements again.

pub mod records;
pub mod top;

use super::engine::{CHEAP, Shared, parallel};
use super::keys::{Key, Ordered};
use super::simd::simd;
use crate::cpu::tuning::{BUCKETED_RECORDS, COMPARED_RECORDS, SORTED_PIECE};
use records::{KeyAndPlace, Record, count_bytes, sort as sort_records};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A way to pack a key and a position into a record.
trait Pack: Copy + Sync {
    type R: Record;
    /// True if records hold positions.
    const PLACED: bool;
    fn pack(self, bits: u64, at: usize) -> Self::R;
    /// Returns the bits of the key.
    fn bits(self, r: Self::R) -> u64;
    fn at(r: Self::R) -> usize;
    /// Returns the bits in which records may differ whose keys differ in the bits of `differ`.
    fn window(self, differ: u64) -> u64;
}

/// Keys that differ in at most 32 neighbouring bits, and fewer than 2^32 positions.
#[derive(Clone, Copy)]
struct Narrow {
    /// The lowest of these bits.
    low: u32,
    /// The other bits, which all keys share.
    common: u64,
}

impl Pack for Narrow {
    type R = u64;
    const PLACED: bool = true;
    #[inline(always)]
    fn pack(self, bits: u64, at: usize) -> u64 {
        bits >> self.low << 32 | at as u64
    }
    #[inline(always)]
    fn bits(self, r: u64) -> u64 {
        self.common | r >> 32 << self.low
    }
    #[inline(always)]
    fn at(r: u64) -> usize {
        r as u32 as usize
    }
    fn window(self, differ: u64) -> u64 {
        differ >> self.low << 32
    }
}

macro_rules! bare {
    ($($(#[$doc:meta])* $name:ident: $R:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        struct $name;

        impl Pack for $name {
            type R = $R;
            const PLACED: bool = false;
            #[inline(always)]
            fn pack(self, bits: u64, _at: usize) -> $R {
                bits as $R
            }
            #[inline(always)]
            fn bits(self, r: $R) -> u64 {
                r.into()
            }
            #[inline(always)]
            fn at(_: $R) -> usize {
                0
            }
            fn window(self, differ: u64) -> u64 {
                differ
            }
        }
    )* };
}
bare! {
    /// Keys of at most 32 bits without positions.
    BareNarrow: u32;
    /// Keys without positions.
    Bare: u64;
}

/// Keys and positions of any size.
#[derive(Clone, Copy)]
struct Whole;

impl Pack for Whole {
    type R = KeyAndPlace;
    const PLACED: bool = true;
    #[inline(always)]
    fn pack(self, bits: u64, at: usize) -> KeyAndPlace {
        KeyAndPlace { key: bits, at: at as u64 }
    }
    #[inline(always)]
    fn bits(self, r: KeyAndPlace) -> u64 {
        r.key
    }
    #[inline(always)]
    fn at(r: KeyAndPlace) -> usize {
        r.at as usize
    }
    fn window(self, differ: u64) -> u64 {
        differ
    }
}

/// The destination of a sorted line; NULL for a result that is not wanted.
#[derive(Clone, Copy)]
pub struct Sorted<T> {
    /// The elements.
    pub values: *mut T,
    /// The position that each element had in the line.
    pub positions: *mut i64,
}

/// Returns the bytes of scratch that sorting `n` elements needs.
pub fn scratch_bytes<T: Ordered>(n: usize, positions: bool) -> usize {
    n.saturating_mul(2 * record_bytes::<T>(n, positions)).saturating_add(count_bytes(n))
}

/// Returns the maximum bytes of a record for one of `n` elements.
fn record_bytes<T: Ordered>(n: usize, position: bool) -> usize {
    if is_narrow::<T>(n) || !position { size_of::<u64>() } else { size_of::<KeyAndPlace>() }
}

/// Returns true if any key with its position fits 64 bits.
fn is_narrow<T: Ordered>(n: usize) -> bool {
    size_of::<T::Key>() == 4 && n <= u32::MAX as usize
}

/// Sorts a line. Equal elements keep their order; NaN is greater than every number.
///
/// # Safety
/// Results must have room for the line, outside the line. `scratch` must have the bytes of [`scratch_bytes`], aligned to 8.
pub unsafe fn sort<T: Ordered>(line: &[T], descending: bool, out: Sorted<T>, scratch: *mut u8) {
    let Some(first) = line.first() else { return };
    let (n, first) = (line.len(), first.key().flipped(descending).bits());
    // Few records are compared whole, in whichever bits they differ.
    let differ = if is_narrow::<T>(n) && n < COMPARED_RECORDS { u32::MAX as u64 } else { differ(line, descending, first) };
    let low = differ.trailing_zeros().min(63);
    // SAFETY: the caller keeps this function's contract; a record has at most `record_bytes`.
    unsafe {
        if out.positions.is_null() && size_of::<T::Key>() == 4 {
            sort_packed(line, descending, BareNarrow, differ, out, scratch)
        } else if out.positions.is_null() {
            sort_packed(line, descending, Bare, differ, out, scratch)
        } else if differ >> low <= u32::MAX as u64 && n <= u32::MAX as usize {
            sort_packed(line, descending, Narrow { low, common: first & !differ }, differ, out, scratch)
        } else {
            sort_packed(line, descending, Whole, differ, out, scratch)
        }
    }
}

/// Returns the bits in which keys differ from `first`.
fn differ<T: Ordered>(line: &[T], descending: bool, first: u64) -> u64 {
    let differ = AtomicU64::new(0);
    parallel(line.len().div_ceil(SORTED_PIECE), SORTED_PIECE, CHEAP, &|range| {
        let part = &line[range.start * SORTED_PIECE..line.len().min(range.end * SORTED_PIECE)];
        let differs = simd(
            #[inline(always)]
            move |_| {
                let mut differs = 0;
                for x in part {
                    differs |= x.key().flipped(descending).bits() ^ first;
                }
                differs
            },
        );
        differ.fetch_or(differs, Relaxed);
    });
    differ.into_inner()
}

/// # Safety
/// As for [`sort`].
unsafe fn sort_packed<T: Ordered, P: Pack>(line: &[T], descending: bool, pack: P, differ: u64, out: Sorted<T>, scratch: *mut u8) {
    let n = line.len();
    let records = scratch.cast::<P::R>();
    let buffers = [records, records.wrapping_add(n)];
    // A short line is in the L1 or L2 cache. Elements are copied from there, so that zeros and NaNs keep their bits.
    let looked_up = P::PLACED && n < BUCKETED_RECORDS;
    let (values, positions) = (Shared(out.values.cast()), Shared(out.positions.cast()));
    let make = move |at: usize| pack.pack(line[at].key().flipped(descending).bits(), at);
    let emit = |records: &[P::R], start: usize| {
        let (values, positions) = (values.get().cast::<T>(), positions.get().cast::<i64>());
        if !values.is_null() && looked_up {
            for (i, &r) in records.iter().enumerate() {
                // SAFETY: there is room for as many elements as the line has, and every place is written once.
                unsafe { values.add(start + i).write(line[P::at(r)]) }
            }
        } else if !values.is_null() {
            // SAFETY: there is room for as many elements as the line has, and every place is written once.
            unsafe { restore_from_keys(records, descending, pack, values.add(start)) }
        }
        if !positions.is_null() {
            for (i, &r) in records.iter().enumerate() {
                // SAFETY: there is room for as many elements as the line has, and every place is written once.
                unsafe { positions.add(start + i).write(P::at(r) as i64) }
            }
        }
    };
    // SAFETY: the caller keeps this function's contract.
    unsafe { sort_records(n, make, buffers, buffers[1].wrapping_add(n).cast(), pack.window(differ), &emit) }
    if T::DTYPE.is_float() && !out.values.is_null() && !looked_up {
        // SAFETY: all values have been written.
        let values = unsafe { std::slice::from_raw_parts_mut(out.values, n) };
        restore(line, values, descending, T::ZERO.key());
        restore(line, values, descending, T::Key::MAX);
    }
}

/// Writes the elements that the keys were computed from. Both zeros become the same zero, and all NaNs the same NaN.
///
/// # Safety
/// There must be room for the elements.
unsafe fn restore_from_keys<T: Ordered, P: Pack>(records: &[P::R], descending: bool, pack: P, values: *mut T) {
    simd(
        #[inline(always)]
        move |_| {
            for (i, &r) in records.iter().enumerate() {
                // SAFETY: the caller keeps this function's contract.
                unsafe { values.add(i).write(T::from_key(T::Key::from_bits(pack.bits(r)).flipped(descending))) }
            }
        },
    )
}

/// Replaces elements that were computed from `key` by the elements of the line with that key, in the order of the line.
fn restore<T: Ordered>(line: &[T], values: &mut [T], descending: bool, key: T::Key) {
    let key = key.flipped(descending);
    let start = values.partition_point(|x| x.key().flipped(descending) < key);
    let count = values[start..].partition_point(|x| x.key().flipped(descending) <= key);
    if count > 0 {
        let same = line.iter().filter(|x| x.key().flipped(descending) == key);
        values[start..start + count].iter_mut().zip(same).for_each(|(value, &x)| *value = x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::tuning::{BUCKETED_RECORDS, COMPARED_RECORDS};
    use crate::dtype::Bool;
    use crate::launch::lines::Top;

    fn run<T: Ordered>(line: &[T], descending: bool, positions: bool) -> (Vec<T>, Vec<i64>) {
        let n = line.len();
        let (mut values, mut places) = (vec![T::ZERO; n], vec![-1; if positions { n } else { 0 }]);
        let mut scratch = vec![0u64; scratch_bytes::<T>(n, positions).div_ceil(8)];
        let places_at = if positions { places.as_mut_ptr() } else { std::ptr::null_mut() };
        // SAFETY: results and scratch have the required sizes.
        unsafe { sort(line, descending, Sorted { values: values.as_mut_ptr(), positions: places_at }, scratch.as_mut_ptr().cast()) }
        (values, places)
    }

    /// Returns the positions of a stable sort that compares elements, with NaN as the greatest.
    fn naive<T: Ordered>(line: &[T], descending: bool) -> Vec<i64> {
        let mut places: Vec<i64> = (0..line.len() as i64).collect();
        places.sort_by(|&a, &b| {
            let (a, b) = (line[a as usize], line[b as usize]);
            let order = a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()));
            if descending { order.reverse() } else { order }
        });
        places
    }

    /// Returns the bits of elements, which distinguish zeros and NaNs.
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
        // SAFETY: results and scratch have the required sizes.
        unsafe { top.of(line, Sorted { values: values.as_mut_ptr(), positions: places.as_mut_ptr() }, scratch.as_mut_ptr().cast()) }
        assert_eq!(places, expected, "{} of {} elements, {}", top.k, line.len(), T::DTYPE);
        assert_eq!(bits(&values), bits(&expected.iter().map(|&i| line[i as usize]).collect::<Vec<T>>()));
    }

    /// Returns numbers without a pattern.
    fn scattered(n: usize) -> impl Iterator<Item = u64> {
        (1..=n as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9))
    }

    /// Lengths around the crossover points between the methods of sorting.
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
        // Most numbers share their upper digits; one has others.
        check(&scattered(n).enumerate().map(|(i, x)| if i == 5 { i64::MAX } else { (x % 100_000) as i64 }).collect::<Vec<_>>());
        check(&scattered(n).enumerate().map(|(i, x)| if i == 5 { i32::MIN } else { (x % 300) as i32 }).collect::<Vec<_>>());
        check(&(0..n as i64).rev().collect::<Vec<_>>());
    }

    #[test]
    fn positions_beyond_32_bits_have_records_of_their_own() {
        let line: Vec<f32> = scattered(5000).map(|x| (x % 100) as f32).collect();
        let (mut values, mut places) = (vec![0.0; 5000], vec![0; 5000]);
        let mut scratch = vec![KeyAndPlace { key: 0, at: 0 }; 10_000];
        let out = Sorted { values: values.as_mut_ptr(), positions: places.as_mut_ptr() };
        // SAFETY: the scratch has room for two records an element.
        unsafe { sort_packed(&line, false, Whole, u32::MAX as u64, out, scratch.as_mut_ptr().cast()) }
        assert_eq!(places, naive(&line, false));
    }
}
