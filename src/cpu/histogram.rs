//! Histograms: the number of elements in each bin, or equal to each integer.

use super::engine::{CHEAP, Shared, parallel};
use super::simd::simd;
use super::stream;
use crate::cpu::tuning::{COUNTED_PIECE, COUNTED_TABLE};
use crate::dtype::{Dtype, Element, dispatch};
use crate::error::{Error, Kind, Result, bail};
use crate::launch::Histogram;
use crate::operand::Operand;
use std::ops::{Div, Range};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Elements that are read to guess the greatest one.
const SAMPLE: usize = 4096;
/// Results up to this length are counted before their length is known.
const NARROW: i64 = 1 << 16;
/// Elements whose bins are found before any of them is counted.
const BINNED: usize = 256;
/// Tables that are used in turn, so that an increment does not wait for the one before.
const TURNS: usize = 4;

/// Counts in one table, or in several whose sum is the count.
struct Tables {
    counts: Vec<u32>,
    width: usize,
    turns: usize,
}

impl Tables {
    /// Returns zeroed tables, or `None` if there is no memory.
    fn new(width: usize) -> Option<Tables> {
        let turns = if width <= COUNTED_TABLE { TURNS } else { 1 };
        let mut counts = Vec::new();
        counts.try_reserve_exact(width.checked_mul(turns)?).ok()?;
        counts.resize(width * turns, 0);
        Some(Tables { counts, width, turns })
    }

    /// Adds one to the count of each entry.
    ///
    /// # Safety
    /// All entries must be less than the width.
    #[inline(always)]
    unsafe fn count(&mut self, entries: &[u32]) {
        let (counts, width) = (self.counts.as_mut_ptr(), self.width);
        // SAFETY: the caller keeps this function's contract; there are `turns` tables.
        let increment = |table: usize, entry: u32| unsafe { *counts.add(table * width + entry as usize) += 1 };
        if self.turns == 1 {
            return entries.iter().for_each(|&entry| increment(0, entry));
        }
        let (fours, rest) = entries.as_chunks::<TURNS>();
        for four in fours {
            (0..TURNS).for_each(|turn| increment(turn, four[turn]));
        }
        rest.iter().for_each(|&entry| increment(0, entry));
    }

    /// Counts integers until one is not below `most`, which is at most the width. Returns true if all were counted.
    fn count_integers<T: Element>(&mut self, line: &[T], most: u64) -> bool {
        simd(
            #[inline(always)]
            move |_| {
                let mut entries = [0u32; BINNED];
                for block in line.chunks(BINNED) {
                    let mut fit = true;
                    for (entry, x) in entries.iter_mut().zip(block) {
                        *entry = x.to_i64() as u32;
                        fit &= (x.to_i64() as u64) < most;
                    }
                    if !fit {
                        return false;
                    }
                    // SAFETY: the entries were just found to be below `most`.
                    unsafe { self.count(&entries[..block.len()]) };
                }
                true
            },
        )
    }

    /// Adds the counts of the first `total.len()` entries to `total`.
    fn add_to(&self, total: &mut [i64]) {
        for table in self.counts.chunks_exact(self.width.max(1)) {
            total.iter_mut().zip(table).for_each(|(sum, &n)| *sum += i64::from(n));
        }
    }
}

/// Runs `count` over ranges of `n` elements, each short enough for counts of u32, with tables of `width`, and adds up the tables.
fn in_parts(n: usize, width: usize, total: &mut [i64], count: &(dyn Fn(Range<usize>, &mut Tables) + Sync)) -> Option<()> {
    const MOST: usize = 1 << 31;
    let total = Mutex::new((total, Some(())));
    // A piece takes a thread at least as long as adding up the tables does.
    let piece = COUNTED_PIECE.max(4 * width);
    parallel(n.div_ceil(piece), piece, CHEAP, &|range| {
        let (start, end) = (range.start * piece, n.min(range.end * piece));
        for start in (start..end).step_by(MOST) {
            let tables = Tables::new(width).map(|mut tables| {
                count(start..end.min(start + MOST), &mut tables);
                tables
            });
            let mut total = total.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            match tables {
                Some(tables) => tables.add_to(total.0),
                None => total.1 = None,
            }
        }
    });
    total.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).1
}

/// Equal bins from `low` to `high`. The last bin includes its upper edge.
#[derive(Debug, Clone, Copy)]
pub struct Bins<T> {
    /// The number of bins, less than 2^30.
    pub n: usize,
    /// The lower edge of the first bin.
    pub low: T,
    /// The upper edge of the last bin, greater than `low`.
    pub high: T,
}

/// A float whose bin is found by one division.
pub trait Binned: Element + Div<Output = Self> {
    /// Returns the integer part.
    ///
    /// # Safety
    /// It must fit an i32.
    unsafe fn whole(self) -> i32;
}

macro_rules! binned {
    ($($t:ident)*) => { $(
        impl Binned for $t {
            #[inline(always)]
            unsafe fn whole(self) -> i32 {
                // SAFETY: the caller keeps this function's contract.
                unsafe { self.to_int_unchecked() }
            }
        }
    )* };
}
binned!(f32 f64);

impl<T: Binned> Bins<T> {
    /// A factor with which no step of [`Bins::of`] overflows: 1 unless the range is very wide, else a power of 2.
    fn shrink(&self, n: T) -> T {
        let wide = self.high.sub(self.low).mul(n).to_f64().is_infinite();
        T::from_f64(if wide { 2f64.powi(-34) } else { 1.0 })
    }

    /// The bin of `x`, or `n` if it lies in none: `(x - low) * n / (high - low)`, rounded at each step, with `shrink` as a factor of all.
    #[inline(always)]
    fn of(&self, x: T, n: T, shrink: T, low: T, width: T) -> u32 {
        let inside = x >= self.low && x <= self.high;
        let at = x.mul(shrink).sub(low).mul(n) / width;
        let at = if at >= T::ZERO && at <= n { at } else { n };
        // SAFETY: 0 <= at <= n < 2^31.
        let at = (unsafe { at.whole() } as u32).min(self.n as u32 - 1);
        if inside { at } else { self.n as u32 }
    }

    /// Adds to `total[b]` the number of elements of `line` in bin `b`. Elements in no bin are left out. Returns `None` if there is no
    /// memory.
    pub fn count(&self, line: &[T], total: &mut [i64]) -> Option<()> {
        let (bins, n) = (*self, T::from_i64(self.n as i64));
        let shrink = self.shrink(n);
        let low = self.low.mul(shrink);
        let width = self.high.mul(shrink).sub(low);
        in_parts(line.len(), self.n + 1, total, &|range, tables| {
            let line = &line[range];
            simd(
                #[inline(always)]
                move |_| {
                    let mut entries = [0u32; BINNED];
                    for block in line.chunks(BINNED) {
                        entries.iter_mut().zip(block).for_each(|(entry, &x)| *entry = bins.of(x, n, shrink, low, width));
                        // SAFETY: `Bins::of` is at most `n`.
                        unsafe { tables.count(&entries[..block.len()]) };
                    }
                },
            )
        })
    }
}

/// Returns the smallest and the greatest element of a nonempty line; both are NaN if there is a NaN.
pub fn extent<T: Element>(line: &[T]) -> (T, T) {
    let piece = |part: &[T]| {
        simd(
            #[inline(always)]
            move |_| {
                let (mut least, mut greatest, mut nan) = ([part[0]; 64], [part[0]; 64], false);
                let (blocks, rest) = part.as_chunks::<64>();
                for block in blocks {
                    for l in 0..64 {
                        least[l] = if block[l] < least[l] { block[l] } else { least[l] };
                        greatest[l] = if block[l] > greatest[l] { block[l] } else { greatest[l] };
                        nan |= block[l].is_nan();
                    }
                }
                let (mut low, mut high) = (part[0], part[0]);
                for &x in rest.iter().chain(&least).chain(&greatest) {
                    low = if x < low { x } else { low };
                    high = if x > high { x } else { high };
                    nan |= x.is_nan();
                }
                if nan { (T::from_f64(f64::NAN), T::from_f64(f64::NAN)) } else { (low, high) }
            },
        )
    };
    let total = Mutex::new((line[0], line[0]));
    parallel(line.len().div_ceil(COUNTED_PIECE), COUNTED_PIECE, CHEAP, &|range| {
        let (low, high) = piece(&line[range.start * COUNTED_PIECE..line.len().min(range.end * COUNTED_PIECE)]);
        let mut total = total.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        total.0 = if low < total.0 || low.is_nan() { low } else { total.0 };
        total.1 = if high > total.1 || high.is_nan() { high } else { total.1 };
    });
    total.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Adds to `total[i]` the number of elements of `line` that equal `i`. Returns false if an element is not in `0..total.len()`; the counts
/// are then meaningless. Returns `None` if there is no memory.
pub fn count_integers<T: Element>(line: &[T], total: &mut [i64]) -> Option<bool> {
    // Adding up separate tables would take longer than counting the elements.
    if line.len() < 4 * total.len() || total.len() > u32::MAX as usize {
        return Some(count_far_apart(line, total));
    }
    let (most, stray) = (total.len() as u64, AtomicBool::new(false));
    in_parts(line.len(), total.len(), total, &|range, tables| {
        if !tables.count_integers(&line[range], most) {
            stray.store(true, Ordering::Relaxed);
        }
    })?;
    Some(!stray.into_inner())
}

/// [`count_integers`] into a table that exceeds the L2 cache. Its entries are prefetched.
fn count_far_apart<T: Element>(line: &[T], total: &mut [i64]) -> bool {
    const AHEAD: usize = 64;
    let counts = total.as_ptr();
    for (i, x) in line.iter().enumerate() {
        if let Some(later) = line.get(i + AHEAD) {
            stream::prefetch(counts.wrapping_add(later.to_i64() as usize).cast(), 1);
        }
        match usize::try_from(x.to_i64()).ok().and_then(|at| total.get_mut(at)) {
            Some(n) => *n += 1,
            None => return false,
        }
    }
    true
}

/// Adds the weight of each element of `line` to `total[element]`, one after the other. All elements must be in `0..total.len()`.
pub fn add_weights<T: Element, W: Element>(line: &[T], weights: &[W], total: &mut [f64]) {
    for (x, weight) in line.iter().zip(weights) {
        if let Some(sum) = total.get_mut(x.to_i64() as usize) {
            *sum += weight.to_f64();
        }
    }
}

/// Histograms of the rows of a row-major matrix.
pub fn run(work: Histogram, out: &Operand, input: &Operand) -> Result<()> {
    let [rows, columns] = [0, 1].map(|d| input.layout().shape[d] as usize);
    dispatch!(float, input.dtype, T => {
        let bins = Bins { n: work.n, low: T::from_f64(work.low), high: T::from_f64(work.high) };
        // SAFETY: the operand is row-major and of this type.
        let x = unsafe { input.elements::<T>() };
        let (total, failed) = (Shared(out.first()), AtomicBool::new(false));
        parallel(rows, columns.max(1), CHEAP, &|part| {
            for row in part {
                // SAFETY: each row has separate bins of the result.
                let total = unsafe {
                    let first = total.get().cast::<i64>().add(row * bins.n);
                    first.write_bytes(0, bins.n);
                    std::slice::from_raw_parts_mut(first, bins.n)
                };
                if bins.count(&x[row * columns..(row + 1) * columns], total).is_none() {
                    failed.store(true, Ordering::Relaxed);
                }
            }
        });
        if failed.into_inner() { Err(no_memory(bins.n)) } else { Ok(()) }
    })
}

#[cold]
fn no_memory(entries: usize) -> Error {
    Error::new(Kind::NoMem, format_args!("out of memory for {entries} counts"))
}

/// Returns the count of each integer from 0 on in a row-major vector, or the sum of the weights of the elements equal to the integer.
pub fn bincount(x: &Operand, weights: Option<&Operand>, minlength: i64) -> Result<Operand> {
    dispatch!(numeric, x.dtype, T => {
        // SAFETY: the operands are row-major and of these types.
        unsafe {
            match weights {
                None => count(x.elements::<T>(), minlength),
                Some(weights) if weights.dtype == Dtype::Float32 => weigh(x.elements::<T>(), weights.elements::<f32>(), minlength),
                Some(weights) => weigh(x.elements::<T>(), weights.elements::<f64>(), minlength),
            }
        }
    })
}

/// Returns a new vector of `n` zeros.
fn zeros<T: Element>(n: i64) -> Result<Operand> {
    let mut zeros = Operand::row(T::DTYPE, n)?;
    // SAFETY: the elements are new and of this type.
    unsafe { zeros.elements_mut::<T>() }.fill(T::ZERO);
    Ok(zeros)
}

/// Returns the greatest element of `x` plus one, or `minlength` if that is greater. Fails if an element is negative.
fn length<T: Element>(x: &[T], minlength: i64) -> Result<i64> {
    if x.is_empty() {
        return Ok(minlength);
    }
    let (least, greatest) = extent(x);
    if least.to_i64() < 0 {
        bail!(Argument, "element {} is negative", least.to_i64())
    }
    Ok(greatest.to_i64().saturating_add(1).max(minlength))
}

fn count<T: Element>(x: &[T], minlength: i64) -> Result<Operand> {
    // The first elements tell how many counts there probably are, which saves reading all elements for their maximum.
    let guess = if x.len() > SAMPLE { length(&x[..SAMPLE], 1)?.saturating_mul(2) } else { i64::MAX };
    if guess <= NARROW {
        let mut guessed = zeros::<i64>(guess)?;
        // SAFETY: the counts are int64 zeros.
        let counts = unsafe { guessed.elements_mut::<i64>() };
        if count_integers(x, counts).ok_or_else(|| no_memory(counts.len()))? {
            let n = counts.iter().rposition(|&n| n != 0).map_or(0, |last| last + 1);
            let length = minlength.max(n as i64);
            let mut exact = zeros::<i64>(length)?;
            // SAFETY: the counts are int64 zeros.
            let counted = unsafe { exact.elements_mut::<i64>() };
            counted[..n].copy_from_slice(&counts[..n]);
            return Ok(exact);
        }
    }
    let length = length(x, minlength)?;
    let mut counts = zeros::<i64>(length)?;
    // SAFETY: the counts are int64 zeros.
    match count_integers(x, unsafe { counts.elements_mut() }) {
        Some(_) => Ok(counts),
        None => Err(no_memory(length as usize)),
    }
}

/// Returns the sums of the weights of each integer, as float64.
fn weigh<T: Element, W: Element>(x: &[T], weights: &[W], minlength: i64) -> Result<Operand> {
    let mut made = zeros::<f64>(length(x, minlength)?)?;
    // SAFETY: the sums are float64 zeros.
    add_weights(x, weights, unsafe { made.elements_mut() });
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_their_lower_edge_and_the_last_both() {
        let bins = Bins { n: 4, low: 0.0f32, high: 2.0 };
        let mut total = [0; 4];
        bins.count(&[0.0, 0.49, 0.5, 1.0, 1.5, 2.0, -0.1, 2.1, f32::NAN, f32::INFINITY], &mut total).unwrap();
        assert_eq!(total, [2, 1, 1, 2]);
        let wide = Bins { n: 3, low: f32::MIN, high: f32::MAX };
        let mut total = [0; 3];
        wide.count(&[f32::MIN, 0.0, f32::MAX, f32::NAN], &mut total).unwrap();
        assert_eq!(total.iter().sum::<i64>(), 3);
    }

    #[test]
    fn counts_add_up_over_pieces_and_tables() {
        let line: Vec<f64> = (0..100_003).map(|i| (i % 10) as f64 + 0.5).collect();
        for n in [10, 20_000] {
            let (bins, mut total) = (Bins { n, low: 0.0, high: 10.0 }, vec![0; n]);
            bins.count(&line, &mut total).unwrap();
            let expected = |i: usize| if i < 3 { 10_001 } else { 10_000 };
            assert!((0..10).all(|i| total[i * n / 10 + n / 20] == expected(i)));
        }
        let mut total = [0; 300];
        let line: Vec<i64> = (0..100_000).map(|i| i % 250).collect();
        assert_eq!(count_integers(&line, &mut total), Some(true));
        assert!(total[..250].iter().all(|&n| n == 400) && total[250..].iter().all(|&n| n == 0));
        assert_eq!(count_integers(&line, &mut [0; 249]), Some(false));
        assert_eq!(count_integers(&[3i8, -1], &mut [0; 10]), Some(false));
        let mut sums = [0.0; 3];
        add_weights(&[1u8, 2, 1], &[0.5f32, 2.0, 0.25], &mut sums);
        assert_eq!(sums, [0.0, 0.75, 2.0]);
    }

    #[test]
    fn the_extent_is_nan_where_an_element_is() {
        let mut line: Vec<f32> = (0..100_000).map(|i| (i * 31 % 100_000) as f32 - 7.0).collect();
        assert_eq!(extent(&line), (-7.0, 99_992.0));
        assert_eq!(extent(&[5i64, -3, 9]), (-3, 9));
        line[99_999] = f32::NAN;
        assert!(extent(&line).0.is_nan() && extent(&line).1.is_nan());
    }
}
