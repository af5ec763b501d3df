//! Binary search in ascending sequences. Several values are searched at once, so that their memory accesses overlap.

use super::engine::{CHEAP, Shared, parallel};
use super::keys::{Key, Ordered};
use super::simd::simd;
use crate::cpu::tuning::{LISTED_SHARE, SEARCHED_BY_COMPARING};
use crate::dtype::dispatch;
use crate::error::Result;
use crate::launch::Search;
use crate::operand::Operand;

/// Elements that one thread searches together.
const PIECE: usize = 1024;

/// Finds the elements of `x` in ascending sequences.
pub fn run(work: Search, out: &Operand, sequences: &Operand, x: &Operand) -> Result<()> {
    let n = sequences.layout().shape.last().map_or(1, |&n| n as usize);
    // A single sequence is for all elements; otherwise each row of elements has its own sequence.
    let all = x.layout().numel() as usize;
    let row = if sequences.layout().ndim() <= 1 { all } else { x.layout().shape.last().map_or(1, |&n| n as usize) };
    let at = Shared(out.first());
    dispatch!(all, x.dtype, T => {
        // SAFETY: the operands are row-major and of this type.
        let (sequences, x) = unsafe { (sequences.elements::<T>(), x.elements::<T>()) };
        let listed = if matches!(work, Search::Contains { .. }) && row == all { Listed::new(sequences, all) } else { None };
        parallel(all.div_ceil(PIECE), PIECE, CHEAP / 8, &|units| {
            let (mut start, end) = (units.start * PIECE, all.min(units.end * PIECE));
            while start < end {
                let line = start / row;
                let range = start..end.min((line + 1) * row);
                let sequence = &sequences[line * n..][..n];
                // SAFETY: ranges are disjoint and inside the result.
                unsafe {
                    match work {
                        Search::Place { right } => {
                            let out = std::slice::from_raw_parts_mut(at.get().cast::<i64>().add(start), range.len());
                            search(sequence, &x[range.clone()], right, out);
                        }
                        Search::Contains { invert } => {
                            let out = std::slice::from_raw_parts_mut(at.get().add(start), range.len());
                            match &listed {
                                Some(listed) => listed.contain(&x[range.clone()], invert, out),
                                None => contains(sequence, &x[range.clone()], invert, out),
                            }
                        }
                    }
                }
                start = range.end;
            }
        })
    });
    Ok(())
}

/// Values searched at once.
const SEARCHED: usize = 16;

/// Returns, for each value, how many elements of an ascending sequence are less, or, with `right`, less or equal.
fn places<T: Ordered>(sequence: &[T], values: &[T], right: bool) -> [usize; SEARCHED] {
    let (mut base, mut wanted) = ([0; SEARCHED], [T::ZERO.key(); SEARCHED]);
    wanted.iter_mut().zip(values).for_each(|(key, x)| *key = x.key());
    let before = |at: usize, wanted: T::Key| {
        let key = sequence[at].key();
        key < wanted || (right && key == wanted)
    };
    // Each place is one of the `len` positions from its base on, or the position after them.
    let mut len = sequence.len();
    while len > 1 {
        let half = len / 2;
        for j in 0..SEARCHED {
            base[j] += if before(base[j] + half - 1, wanted[j]) { half } else { 0 };
        }
        len -= half;
    }
    for j in 0..SEARCHED {
        base[j] += (len > 0 && before(base[j], wanted[j])) as usize;
    }
    base
}

/// Writes the place of each value in an ascending sequence: before elements equal to the value, or, with `right`, after them.
pub fn search<T: Ordered>(sequence: &[T], values: &[T], right: bool, out: &mut [i64]) {
    for (values, out) in values.chunks(SEARCHED).zip(out.chunks_mut(SEARCHED)) {
        let found = places(sequence, values, right);
        out.iter_mut().zip(found).for_each(|(out, place)| *out = place as i64);
    }
}

/// [`contains`] by comparing: `out` has an entry for each value.
fn compare<T: Ordered>(sequence: &[T], values: &[T], invert: bool, out: &mut [u8]) {
    const COMPARED: usize = 64;
    simd(
        #[inline(always)]
        move |_| {
            let (mut blocks, mut places) = (values.chunks_exact(COMPARED), out.chunks_exact_mut(COMPARED));
            for (values, out) in (&mut blocks).zip(&mut places) {
                let mut found = [0u8; COMPARED];
                for y in sequence {
                    for j in 0..COMPARED {
                        found[j] |= (values[j] == *y) as u8;
                    }
                }
                out.iter_mut().zip(found).for_each(|(out, found)| *out = found ^ invert as u8);
            }
            places.into_remainder().iter_mut().zip(blocks.remainder()).for_each(|(out, x)| *out = (sequence.contains(x) != invert) as u8);
        },
    )
}

/// Writes whether each value is in an ascending sequence, or, with `invert`, whether it is not. A NaN is in no sequence.
pub fn contains<T: Ordered>(sequence: &[T], values: &[T], invert: bool, out: &mut [u8]) {
    if sequence.len() <= SEARCHED_BY_COMPARING {
        return compare(sequence, values, invert, out);
    }
    for (values, out) in values.chunks(SEARCHED).zip(out.chunks_mut(SEARCHED)) {
        let found = places(sequence, values, false);
        for ((out, place), x) in out.iter_mut().zip(found).zip(values) {
            *out = (sequence.get(place).is_some_and(|y| y == x) != invert) as u8;
        }
    }
}

/// Integers as a bit for each number between the least and the greatest.
struct Listed<T: Ordered> {
    least: T::Key,
    bits: Vec<u64>,
}

impl<T: Ordered> Listed<T> {
    /// Lists an ascending sequence in which `wanted` values will be sought, if that is worth the memory, and if there is memory.
    fn new(sequence: &[T], wanted: usize) -> Option<Listed<T>> {
        if T::DTYPE.is_float() || sequence.len() <= SEARCHED_BY_COMPARING {
            return None;
        }
        let (least, most) = (sequence.first()?.key(), sequence.last()?.key());
        let last = most.distance(least);
        if last / LISTED_SHARE > sequence.len().saturating_add(wanted) {
            return None;
        }
        let mut bits = Vec::new();
        bits.try_reserve_exact(last / 64 + 1).ok()?;
        bits.resize(last / 64 + 1, 0);
        for x in sequence {
            let place = x.key().distance(least);
            bits[place / 64] |= 1 << (place % 64);
        }
        Some(Listed { least, bits })
    }

    /// Writes whether each value is listed, or, with `invert`, whether it is not.
    fn contain(&self, values: &[T], invert: bool, out: &mut [u8]) {
        for (out, x) in out.iter_mut().zip(values) {
            // Less than the least is a very great distance.
            let place = x.key().distance(self.least);
            let word = self.bits.get(place / 64).copied().unwrap_or(0);
            *out = (word >> (place % 64)) as u8 & 1 ^ invert as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_counting() {
        for n in 0..70 {
            let sequence: Vec<i32> = (0..n).map(|i| i / 3 * 2).collect();
            let values: Vec<i32> = (-2..50 + n * 2).collect();
            let mut out = vec![0; values.len()];
            search(&sequence, &values, false, &mut out);
            assert!(values.iter().zip(&out).all(|(v, &at)| at as usize == sequence.iter().filter(|x| *x < v).count()));
            search(&sequence, &values, true, &mut out);
            assert!(values.iter().zip(&out).all(|(v, &at)| at as usize == sequence.iter().filter(|x| *x <= v).count()));
            let mut found = vec![0; values.len()];
            contains(&sequence, &values, false, &mut found);
            assert!(values.iter().zip(&found).all(|(v, &found)| (found != 0) == sequence.contains(v)));
        }
    }

    #[test]
    fn listed_integers_are_those_of_the_sequence() {
        let (low, high) = (i64::MIN, i64::MAX);
        for (least, step) in [(-5i64, 1), (7, 3), (low, 2), (high - 400, 4)] {
            let sequence: Vec<i64> = (0..100).map(|i| least + i / 2 * step).collect();
            let listed = Listed::new(&sequence, 100).unwrap();
            let values: Vec<i64> = (-70..270).map(|i| least.wrapping_add(i)).chain([low, -1, 0, 1, high]).collect();
            for invert in [false, true] {
                let mut found = vec![7; values.len()];
                listed.contain(&values, invert, &mut found);
                assert!(values.iter().zip(&found).all(|(v, &found)| found == (sequence.contains(v) != invert) as u8), "{least} {step}");
            }
        }
        assert!(Listed::new(&[low; 100], 100).is_some());
        assert!(Listed::new(&(0..100).map(|i| i * 1_000_000).collect::<Vec<i64>>(), 100).is_none());
        assert!(Listed::new(&[[low; 40], [high; 40]].concat(), 1 << 20).is_none());
        assert!(Listed::new(&[0.5; 100], 100).is_none());
    }

    #[test]
    fn nan_is_searched_as_the_greatest_and_found_nowhere() {
        let sequence = [-1.0, 0.0, 3.0, f64::NAN, f64::NAN];
        let mut out = [0; 4];
        search(&sequence, &[f64::NAN, -0.0, 7.0, -9.0], false, &mut out);
        assert_eq!(out, [3, 1, 3, 0]);
        search(&sequence, &[f64::NAN, -0.0, 7.0, -9.0], true, &mut out);
        assert_eq!(out, [5, 2, 3, 0]);
        let mut found = [7; 3];
        contains(&sequence, &[f64::NAN, -0.0, 2.0], false, &mut found);
        assert_eq!(found, [0, 1, 0]);
        contains(&sequence, &[f64::NAN, -0.0, 2.0], true, &mut found);
        assert_eq!(found, [1, 0, 1]);
    }
}
