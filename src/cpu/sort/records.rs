//! Sorting of records of keys and positions in ascending order: few records by comparing, more by digits, many by buckets first.
//!
//! The order is stable and therefore unique: it does not depend on the number of threads.

use crate::cpu::engine::{CHEAP, Shared, parallel};
use crate::cpu::pool;
use crate::cpu::tuning::{BUCKETED_RECORDS, COMPARED_RECORDS, SORTED_PIECE};
use std::ops::Range;

/// A record that is moved: a key, usually with a position.
pub trait Record: Copy + Send + Sync + 'static {
    /// Returns the bits that are compared.
    fn bits(self) -> u64;
    /// Sorts by key and position. Allocates no memory.
    fn compare(records: &mut [Self]);
    /// Moves the `k` smallest records to the front, the greatest of them to index `k - 1`.
    fn split(records: &mut [Self], k: usize);
    /// Sorts by position.
    fn place(records: &mut [Self]);
}

/// A key alone, or a key of 32 bits above its position.
impl Record for u64 {
    #[inline(always)]
    fn bits(self) -> u64 {
        self
    }
    #[inline(never)]
    fn compare(records: &mut [u64]) {
        records.sort_unstable();
    }
    #[inline(never)]
    fn split(records: &mut [u64], k: usize) {
        if k < records.len() {
            records.select_nth_unstable(k - 1);
        }
    }
    #[inline(never)]
    fn place(records: &mut [u64]) {
        records.sort_unstable_by_key(|&r| r as u32);
    }
}

/// A key of at most 32 bits alone.
impl Record for u32 {
    #[inline(always)]
    fn bits(self) -> u64 {
        self.into()
    }
    #[inline(never)]
    fn compare(records: &mut [u32]) {
        records.sort_unstable();
    }
    #[inline(never)]
    fn split(records: &mut [u32], k: usize) {
        if k < records.len() {
            records.select_nth_unstable(k - 1);
        }
    }
    /// The records have no positions.
    fn place(_: &mut [u32]) {}
}

/// A key of 64 bits with its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C)]
pub struct KeyAndPlace {
    /// The key.
    pub key: u64,
    /// The position.
    pub at: u64,
}

impl Record for KeyAndPlace {
    #[inline(always)]
    fn bits(self) -> u64 {
        self.key
    }
    #[inline(never)]
    fn compare(records: &mut [KeyAndPlace]) {
        records.sort_unstable();
    }
    #[inline(never)]
    fn split(records: &mut [KeyAndPlace], k: usize) {
        if k < records.len() {
            records.select_nth_unstable(k - 1);
        }
    }
    #[inline(never)]
    fn place(records: &mut [KeyAndPlace]) {
        records.sort_unstable_by_key(|r| r.at);
    }
}

/// Receives sorted records: some of them, and the position of the first.
pub type Emit<'a, R> = &'a (dyn Fn(&[R], usize) + Sync);

/// The maximum number of bits in the digit of a pass. The places of all its values fit the L1 cache, and so do the cache lines that are
/// written.
const DIGIT: u32 = 8;
/// The number of records from which wider digits are faster, because they need fewer passes.
const WIDE_DIGIT_FROM: usize = 2000;
/// The number of bits in a wide digit, and in the digit that selects a bucket.
const BUCKET_DIGIT: u32 = 11;

/// The bits in which keys differ.
#[derive(Debug, Clone, Copy)]
struct Window {
    low: u32,
    high: u32,
}

impl Window {
    fn of(differ: u64) -> Window {
        Window { low: differ.trailing_zeros().min(63), high: 64 - differ.leading_zeros() }
    }

    fn width(self) -> u32 {
        self.high.saturating_sub(self.low)
    }
}

/// Returns the bytes of the counts for sorting `n` records.
pub fn count_bytes(n: usize) -> usize {
    if n < BUCKETED_RECORDS { 0 } else { n.div_ceil(SORTED_PIECE).saturating_mul(size_of::<usize>() << BUCKET_DIGIT) }
}

/// Sorts the records `make(0), ..., make(n - 1)` by the bits that are 1 in `differ`, and passes them to `emit`, piece by piece. Records
/// with equal bits keep their order.
///
/// If records also differ in other bits, such as the bits of positions, they must be made in the order of those bits.
///
/// # Safety
/// Each of `buffers` must have room for `n` records, and `counts` the bytes of [`count_bytes`], aligned to 8.
pub unsafe fn sort<R: Record>(
    n: usize,
    make: impl Fn(usize) -> R + Sync + Copy,
    buffers: [*mut R; 2],
    counts: *mut u8,
    differ: u64,
    emit: Emit<'_, R>,
) {
    let window = Window::of(differ);
    let [a, b] = buffers.map(|buffer| Shared(buffer.cast()));
    if n < BUCKETED_RECORDS || window.width() == 0 {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            (0..n).for_each(|i| buffers[0].add(i).write(make(i)));
            return bucket(a, b, 0..n, window, emit);
        }
    }
    let bits = window.width().min(BUCKET_DIGIT);
    let (shift, values) = (window.high - bits, 1usize << bits);
    let rest = Window { low: window.low, high: shift };
    let pieces = n.div_ceil(SORTED_PIECE);
    let counts = Shared(counts);
    let digit = move |r: R| (r.bits() >> shift) as usize & (values - 1);
    let piece = |p: usize| {
        // SAFETY: each piece has a separate row of counts.
        (p * SORTED_PIECE..n.min((p + 1) * SORTED_PIECE), unsafe { counts.get().cast::<usize>().add(p * values) })
    };
    parallel(pieces, SORTED_PIECE, CHEAP, &|range| {
        // Copies, whose captures stay in registers. Otherwise each iteration would load them again after it has stored a count.
        let (digit, make) = (digit, make);
        for (range, counts) in range.map(piece) {
            // SAFETY: a row has room for `values` counts, and every digit is smaller.
            unsafe {
                counts.write_bytes(0, values);
                range.for_each(|i| *counts.add(digit(make(i))) += 1);
            }
        }
    });
    // SAFETY: all rows have been written.
    unsafe { to_places(counts.get().cast(), pieces, values) };
    parallel(pieces, SORTED_PIECE, CHEAP, &|range| {
        let (digit, make, to) = (digit, make, a.get().cast::<R>());
        for (range, places) in range.map(piece) {
            for r in range.map(make) {
                // SAFETY: every record has a separate place below `n`.
                unsafe {
                    let place = places.add(digit(r));
                    to.add(*place).write(r);
                    *place += 1;
                }
            }
        }
    });
    // The places of the last piece have advanced to the end of each bucket. SAFETY: the last row has `values` counts.
    let ends = unsafe { std::slice::from_raw_parts(counts.get().cast::<usize>().add((pieces - 1) * values), values) };
    // SAFETY: the caller keeps this function's contract.
    unsafe { buckets(a, b, ends, rest, emit) }
}

/// Sorts buckets of records, which end at `ends`, each by the bits of `window`.
///
/// # Safety
/// Both sides must have room for all records, and no other thread may use them.
unsafe fn buckets<R: Record>(a: Shared, b: Shared, ends: &[usize], window: Window, emit: Emit<'_, R>) {
    let n = ends.last().copied().unwrap_or(0);
    let start_of = |v: usize| if v == 0 { 0 } else { ends[v - 1] };
    let parts = (n / BUCKETED_RECORDS * 4).min(256);
    pool::run(parts, &|part| {
        // A part sorts the buckets that begin in its share of the records.
        let share = n * part / parts..n * (part + 1) / parts;
        let first = ends.partition_point(|&end| end <= share.start);
        let first = if start_of(first) < share.start { first + 1 } else { first };
        for v in (first..ends.len()).take_while(|&v| start_of(v) < share.end) {
            // SAFETY: the caller keeps this function's contract; buckets are disjoint.
            unsafe { bucket(a, b, start_of(v)..ends[v], window, emit) }
        }
    });
}

/// Replaces the counts, a row for each piece, by the places where records of each value begin.
///
/// # Safety
/// `counts` must hold `pieces` rows of `values`.
unsafe fn to_places(counts: *mut usize, pieces: usize, values: usize) {
    let mut next = 0;
    for v in 0..values {
        for p in 0..pieces {
            // SAFETY: the caller keeps this function's contract.
            unsafe { next += counts.add(p * values + v).replace(next) }
        }
    }
}

/// Sorts the records of `a` in `range` by the bits of `window`, with the same range of `b` as scratch.
///
/// # Safety
/// No other thread may use the range of either side.
unsafe fn bucket<R: Record>(a: Shared, b: Shared, range: Range<usize>, window: Window, emit: Emit<'_, R>) {
    let n = range.len();
    // SAFETY: the caller keeps this function's contract.
    let side = |side: Shared| unsafe { side.get().cast::<R>().add(range.start) };
    // SAFETY: the caller keeps this function's contract; records of `b` are only read after they are written.
    let records = unsafe { std::slice::from_raw_parts_mut(side(a), n) };
    if window.width() == 0 || n < 2 {
        return if n > 0 {
            emit(records, range.start)
        };
    }
    if n < COMPARED_RECORDS || n > u32::MAX as usize {
        R::compare(records);
        return emit(records, range.start);
    }
    if n < BUCKETED_RECORDS || window.width() <= DIGIT {
        let few = n < WIDE_DIGIT_FROM || window.width() <= DIGIT;
        // SAFETY: the caller keeps this function's contract.
        let sorted = unsafe {
            match few {
                true => by_digits::<R, { 1 << DIGIT }>(records, side(b), window),
                false => by_digits::<R, { 1 << BUCKET_DIGIT }>(records, side(b), window),
            }
        };
        return emit(sorted, range.start);
    }
    // The records exceed the L2 cache, so they are divided into buckets again.
    let shift = window.high - DIGIT;
    let mut ends = [0usize; 1 << DIGIT];
    let digit = |r: R| (r.bits() >> shift) as usize & ((1 << DIGIT) - 1);
    records.iter().for_each(|&r| ends[digit(r)] += 1);
    let mut next = 0;
    ends.iter_mut().for_each(|count| next += std::mem::replace(count, next));
    for &r in records.iter() {
        // SAFETY: every record has a separate place below `n`.
        unsafe { side(b).add(ends[digit(r)]).write(r) };
        ends[digit(r)] += 1;
    }
    let mut start = 0;
    for end in ends {
        if start < end {
            // SAFETY: the caller keeps this function's contract.
            unsafe { bucket(b, a, range.start + start..range.start + end, Window { low: window.low, high: shift }, emit) };
        }
        start = end;
    }
}

/// Returns the records in order, in `records` or in `other`, sorted by digits of at most `VALUES` values.
///
/// # Safety
/// `other` must have room for as many records; there must be fewer than 2^32.
unsafe fn by_digits<R: Record, const VALUES: usize>(records: &mut [R], other: *mut R, window: Window) -> &[R] {
    let n = records.len();
    let passes = window.width().div_ceil(VALUES.trailing_zeros());
    let width = window.width().div_ceil(passes);
    let (mut from, mut to) = (records.as_mut_ptr(), other);
    for shift in (0..passes).map(|pass| window.low + pass * width) {
        // SAFETY: `from` holds the records.
        let records = unsafe { std::slice::from_raw_parts(from, n) };
        let mut places = [0u32; VALUES];
        let digit = |r: R| (r.bits() >> shift) as usize & ((1 << width) - 1) & (VALUES - 1);
        records.iter().for_each(|&r| places[digit(r)] += 1);
        // A digit that all records share moves no record.
        if places[digit(records[0])] as usize == n {
            continue;
        }
        let mut next = 0;
        places[..1 << width].iter_mut().for_each(|count| next += std::mem::replace(count, next));
        for &r in records {
            let place = &mut places[digit(r)];
            // SAFETY: every record has a separate place below `n`.
            unsafe { to.add(*place as usize).write(r) };
            *place += 1;
        }
        (from, to) = (to, from);
    }
    // SAFETY: `from` holds the records.
    unsafe { std::slice::from_raw_parts(from, n) }
}
