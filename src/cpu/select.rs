//! Selection: finds the k-th smallest element of a line by guessing two bounds around it and keeping the elements between them.
//!
//! A sample gives the bounds, so that a long line is usually read once. The result is exact for any bounds.

use super::engine::{CHEAP, Shared, parallel};
use super::keys::{Kept, Key, Ordered, SLACK, count};
use super::simd::simd;
use crate::cpu::tuning::{RANKED_KEYS, SAMPLED_KEYS, SELECTED_PIECE};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The k-th smallest element of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice<K> {
    /// The key of the element.
    pub key: K,
    /// True if the line has a NaN, of any rank.
    pub nan: bool,
}

/// Returns the bytes of scratch that selecting from `n` elements needs.
pub fn scratch_bytes<T: Ordered>(n: usize) -> usize {
    if n <= RANKED_KEYS {
        return 0;
    }
    let pieces = n.div_ceil(SELECTED_PIECE);
    n.saturating_add(pieces * SLACK).saturating_mul(size_of::<T::Key>()).saturating_add(pieces * size_of::<Kept>() + 64)
}

/// Returns the element with `k` elements before it in ascending order, NaNs last.
///
/// # Safety
/// `line` must have more than `k` elements, and `scratch` the bytes of [`scratch_bytes`], aligned to 8.
pub unsafe fn select<T: Ordered>(line: &[T], mut k: usize, scratch: *mut u8) -> Choice<T::Key> {
    debug_assert!(k < line.len());
    if line.len() <= RANKED_KEYS {
        return select_few(line, k);
    }
    let (mut lo, mut hi) = bounds(line.len(), k, |i| line[i].key());
    loop {
        // SAFETY: the caller keeps this function's contract.
        let (part, keys) = unsafe { thin(line, lo, hi, scratch) };
        if k < part.below {
            (lo, hi) = (T::Key::MIN, lo.under());
        } else if k < part.below + part.kept {
            k -= part.below;
            return Choice { key: within(keys, k, lo, hi), nan: part.nan };
        } else if hi == T::Key::MAX {
            return Choice { key: T::Key::MAX, nan: true };
        } else {
            (lo, hi) = (hi.above(), T::Key::MAX);
        }
    }
}

/// [`select`] from up to RANKED_KEYS elements.
fn select_few<T: Ordered>(line: &[T], k: usize) -> Choice<T::Key> {
    let mut keys = [T::Key::MAX; RANKED_KEYS];
    let mut nan = false;
    for (key, x) in keys.iter_mut().zip(line) {
        *key = x.key();
        nan |= x.is_nan();
    }
    Choice { key: T::Key::ranked(&keys, line.len(), [k, k])[0], nan }
}

/// Collects the keys of a line in `lo..=hi`, with room for SLACK keys after them.
///
/// # Safety
/// As for [`select`]. The keys must not be used after the scratch is freed.
unsafe fn thin<'a, T: Ordered>(line: &[T], lo: T::Key, hi: T::Key, scratch: *mut u8) -> (Kept, &'a mut [T::Key]) {
    let pieces = line.len().div_ceil(SELECTED_PIECE);
    let (parts, keys) = (scratch.cast::<Kept>(), scratch.wrapping_add(pieces * size_of::<Kept>()).cast::<T::Key>());
    if pieces == 1 {
        // SAFETY: there is room for the line's keys and SLACK more.
        let all = unsafe { T::thin(line.as_ptr(), line.len(), lo, hi, keys) };
        // SAFETY: `kept` keys have been written.
        return (all, unsafe { std::slice::from_raw_parts_mut(keys, all.kept) });
    }
    let (shared_parts, shared_keys) = (Shared(parts.cast()), Shared(keys.cast()));
    parallel(pieces, SELECTED_PIECE, CHEAP, &|range| {
        for p in range {
            let piece = &line[p * SELECTED_PIECE..line.len().min((p + 1) * SELECTED_PIECE)];
            // SAFETY: each piece has a separate `Kept` and separate room.
            unsafe {
                let out = shared_keys.get().cast::<T::Key>().add(p * (SELECTED_PIECE + SLACK));
                let part = T::thin(piece.as_ptr(), piece.len(), lo, hi, out);
                shared_parts.get().cast::<Kept>().add(p).write(part);
            }
        }
    });
    let mut total = Kept::default();
    for p in 0..pieces {
        // SAFETY: the keys kept so far end before the room of piece `p`.
        unsafe {
            let part = parts.add(p).read();
            std::ptr::copy(keys.add(p * (SELECTED_PIECE + SLACK)), keys.add(total.kept), part.kept);
            total = Kept { below: total.below + part.below, kept: total.kept + part.kept, nan: total.nan | part.nan };
        }
    }
    // SAFETY: `kept` keys have been written.
    (total, unsafe { std::slice::from_raw_parts_mut(keys, total.kept) })
}

/// Returns the key with `k` keys before it. All keys must be in `lo..=hi`. The slice is overwritten, and SLACK keys after it may be.
fn within<K: Key>(keys: &mut [K], mut k: usize, mut lo: K, mut hi: K) -> K {
    let (mut n, mut stuck) = (keys.len(), false);
    while lo != hi {
        let now = &mut keys[..n];
        if n <= RANKED_KEYS {
            let mut few = [K::MAX; RANKED_KEYS];
            few[..n].copy_from_slice(now);
            return K::ranked(&few, n, [k, k])[0];
        }
        // Halving the range of values always terminates; samples of many equal keys might not.
        let (from, to) = if stuck { (lo, lo.halfway(hi)) } else { bounds(n, k, |i| now[i]) };
        let (from, to) = (from.max(lo), to.min(hi));
        let (below, inside) = count(now, from, to);
        let before = if k < below {
            hi = from.under();
            0
        } else if k >= below + inside {
            lo = to.above();
            below + inside
        } else {
            (lo, hi) = (from, to);
            below
        };
        // SAFETY: `keep` works in place. Excess keys are written over keys that were dropped before, or into the slack.
        let kept = unsafe { K::keep(now.as_ptr(), n, lo, hi, now.as_mut_ptr()) }.kept;
        stuck = kept > n - n / 8;
        (n, k) = (kept, k - before);
    }
    lo
}

/// Returns two keys which probably enclose the key of rank `k` out of `n`.
fn bounds<K: Key>(n: usize, k: usize, at: impl Fn(usize) -> K) -> (K, K) {
    let size = sample_size(n);
    let rank = (k as f64 * size as f64 / n as f64) as usize;
    // Twice the square root is four standard deviations for a median. For small samples a miss costs less than wide bounds.
    let reach = if size == RANKED_KEYS { 9 } else { 2 * size.isqrt() };
    let (low, high) = (rank.checked_sub(reach), Some(rank + reach).filter(|&r| r < size));
    let ranks = [low.unwrap_or(0), high.unwrap_or(size - 1)];
    let from = |found: [K; 2]| (low.map_or(K::MIN, |_| found[0]), high.map_or(K::MAX, |_| found[1]));
    if size == RANKED_KEYS {
        return from(K::ranked(&std::array::from_fn(|i| at(sample_at(i, n, RANKED_KEYS))), RANKED_KEYS, ranks));
    }
    let mut samples = [[K::MIN; SAMPLED_KEYS + SLACK]; 2];
    (0..size).for_each(|i| samples[0][i] = at(sample_at(i, n, size)));
    samples[1] = samples[0];
    let [a, b] = &mut samples;
    from([within(&mut a[..size], ranks[0], K::MIN, K::MAX), within(&mut b[..size], ranks[1], K::MIN, K::MAX)])
}

/// Returns the size of a sample: about proportional to n^0.6, a power of two.
fn sample_size(n: usize) -> usize {
    let doublings = (n >> 12).checked_ilog2().map_or(0, |log| (log as usize * 5).div_ceil(8));
    (RANKED_KEYS << doublings).min(SAMPLED_KEYS)
}

/// Returns position `i` of a sample: any position in its share of the line, so that periodic data do no harm.
#[inline(always)]
fn sample_at(i: usize, n: usize, size: usize) -> usize {
    let (start, end) = ((i as u128 * n as u128 / size as u128) as usize, ((i + 1) as u128 * n as u128 / size as u128) as usize);
    let scattered = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    start + ((scattered as u128 * (end - start) as u128) >> 64) as usize
}

/// Returns the index of the first element with this key, or `line.len()` if there is none.
pub fn first<T: Ordered>(line: &[T], key: T::Key) -> usize {
    if line.len() <= SELECTED_PIECE {
        return first_in(line, key);
    }
    let found = AtomicUsize::new(line.len());
    parallel(line.len().div_ceil(SELECTED_PIECE), SELECTED_PIECE, CHEAP, &|range| {
        for p in range {
            let start = p * SELECTED_PIECE;
            if start >= found.load(Ordering::Relaxed) {
                return;
            }
            let part = &line[start..line.len().min(start + SELECTED_PIECE)];
            let at = first_in(part, key);
            if at < part.len() {
                found.fetch_min(start + at, Ordering::Relaxed);
                return;
            }
        }
    });
    found.into_inner()
}

fn first_in<T: Ordered>(line: &[T], key: T::Key) -> usize {
    const CHUNK: usize = 128;
    let block = simd(
        #[inline(always)]
        move |_| {
            for (at, block) in line.chunks(CHUNK).enumerate() {
                let mut any = false;
                for x in block {
                    any |= x.key() == key;
                }
                if any {
                    return Some(at);
                }
            }
            None
        },
    );
    let Some(block) = block else { return line.len() };
    let start = block * CHUNK;
    start + line[start..].iter().position(|x| x.key() == key).unwrap_or(0)
}

/// Returns the number of NaNs in a line.
pub fn count_nans<T: Ordered>(line: &[T]) -> usize {
    if !T::DTYPE.is_float() {
        return 0;
    }
    let nans = AtomicUsize::new(0);
    parallel(line.len().div_ceil(SELECTED_PIECE), SELECTED_PIECE, CHEAP, &|range| {
        let part = &line[range.start * SELECTED_PIECE..line.len().min(range.end * SELECTED_PIECE)];
        let sum = simd(
            #[inline(always)]
            move |_| {
                let mut sum = 0;
                for piece in part.chunks(SELECTED_PIECE) {
                    let mut nans = 0u32;
                    for x in piece {
                        nans += x.is_nan() as u32;
                    }
                    sum += nans as usize;
                }
                sum
            },
        );
        nans.fetch_add(sum, Ordering::Relaxed);
    });
    nans.into_inner()
}

/// Returns the key after `key` in order, where `key` has `k` keys before it. This is `key` itself if it occurs again.
pub fn next<T: Ordered>(line: &[T], key: T::Key, k: usize) -> T::Key {
    let (mut up_to, mut above) = (0, T::Key::MAX);
    for block in line.chunks(SELECTED_PIECE) {
        let (n, least) = simd(
            #[inline(always)]
            move |_| {
                let (mut n, mut least) = (0u32, T::Key::MAX);
                for x in block {
                    let x = x.key();
                    n += (x <= key) as u32;
                    least = least.min(if x > key { x } else { T::Key::MAX });
                }
                (n, least)
            },
        );
        (up_to, above) = (up_to + n as usize, above.min(least));
    }
    if up_to > k + 1 { key } else { above }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kth<T: Ordered>(line: &[T], k: usize) -> (T, bool) {
        let mut scratch = vec![0u64; scratch_bytes::<T>(line.len()).div_ceil(8)];
        // SAFETY: the scratch has the required size.
        let choice = unsafe { select(line, k, scratch.as_mut_ptr().cast()) };
        (T::from_key(choice.key), choice.nan)
    }

    /// Returns numbers without a pattern.
    fn scattered(n: usize) -> impl Iterator<Item = u64> {
        (1..=n as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9))
    }

    fn check<T: Ordered>(line: &[T]) {
        let mut keys: Vec<_> = line.iter().map(|x| x.key()).collect();
        keys.sort_unstable();
        let n = line.len();
        for k in [0, 1, n / 7, n / 2, n - n / 9 - 1, n - 1].map(|k| k.min(n - 1)) {
            let (got, nan) = kth(line, k);
            assert_eq!(got.key(), keys[k], "rank {k} of {n}, {}", T::DTYPE);
            assert_eq!(nan, line.iter().any(|x| x.is_nan()), "{n}, {}", T::DTYPE);
            assert_eq!(first(line, keys[k]), line.iter().position(|x| x.key() == keys[k]).unwrap());
            let after = keys[(k + 1).min(n - 1)];
            assert_eq!(if k + 1 < n { next(line, keys[k], k) } else { after }, after);
        }
    }

    #[test]
    fn selection_agrees_with_sorting() {
        for n in [1, 2, 63, 64, 65, 1000, 5000, 70_000] {
            check(&scattered(n).map(|x| (x >> 40) as f32 - 8e6).collect::<Vec<_>>());
            check(&scattered(n).map(|x| x as i64).collect::<Vec<_>>());
            check(&scattered(n).map(|x| x as u8).collect::<Vec<_>>());
        }
        check(&scattered(3000).map(|x| x as f64 * 1e-300).collect::<Vec<_>>());
    }

    #[test]
    fn lines_that_mislead_samples_are_selected_from_too() {
        check(&vec![3i32; 9000]);
        check(&(0..9000).map(|i| i % 2).collect::<Vec<i32>>());
        check(&(0..9000).map(|i| if i % 3 == 0 { i64::MAX } else { i64::MIN }).collect::<Vec<i64>>());
        check(&(0..9000).map(|i| 2f64.powi(i % 2000 - 1000)).collect::<Vec<f64>>());
        check(&(0..40_000).map(|i| if i < 39_000 { 0.0 } else { i as f32 }).collect::<Vec<f32>>());
    }

    #[test]
    fn nan_ranks_last_wherever_it_stands() {
        let mut line: Vec<f32> = (0..5000).map(|i| (i * 7 % 5000) as f32).collect();
        line[17] = f32::NAN;
        line[4000] = -f32::NAN;
        line[9] = f32::INFINITY;
        check(&line);
        assert_eq!(kth(&line, 4997), (f32::INFINITY, true));
        assert!(kth(&line, 4998).0.is_nan());
        assert_eq!(count_nans(&line), 2);
        assert_eq!(kth(&vec![f64::NAN; 100], 50).0.key(), i64::MAX);
    }
}
