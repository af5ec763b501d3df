//! The most frequent element of a line: counted in a table if the values are close together, otherwise found by sorting.

use super::keys::{Key, Ordered, to_keys};
use super::radix::sorted;
use super::simd::simd;

/// Returns the bytes of scratch that the mode of `n` elements needs.
pub fn scratch_bytes<T: Ordered>(n: usize) -> usize {
    n.saturating_mul(2 * size_of::<T::Key>())
}

/// Returns the key that occurs most often, the smallest of several, and the last position where it occurs.
///
/// A NaN equals no other NaN, so a NaN is the mode only of a line of NaNs; then the first is returned.
///
/// # Safety
/// `line` must not be empty, and `scratch` must have the bytes of [`scratch_bytes`], aligned to 8.
pub unsafe fn mode<T: Ordered>(line: &[T], scratch: *mut u8) -> (T::Key, usize) {
    let keys = scratch.cast::<T::Key>();
    let other = keys.wrapping_add(line.len());
    // SAFETY: there is room for the keys twice, and all keys are written before they are read.
    let (keys, other) = unsafe {
        to_keys(line, keys);
        std::ptr::write_bytes(other, 0, line.len());
        (std::slice::from_raw_parts_mut(keys, line.len()), std::slice::from_raw_parts_mut(other, line.len()))
    };
    let (least, greatest) = extent(keys);
    let range = greatest.distance(least);
    let best = match range {
        _ if T::DTYPE.is_float() && least == T::Key::MAX => return (least, 0),
        0..256 => most_counted(keys, least, &mut [0; 256]),
        _ if range < line.len() => {
            // SAFETY: a count is no larger than a key, and there are fewer counts than keys.
            let counts = unsafe { std::slice::from_raw_parts_mut(other.as_mut_ptr().cast::<u32>(), range + 1) };
            most_counted(keys, least, counts)
        }
        _ => longest_run(sorted(keys, other), T::DTYPE.is_float()),
    };
    (best, line.iter().rposition(|x| x.key() == best).unwrap_or(0))
}

fn extent<K: Key>(keys: &[K]) -> (K, K) {
    simd(
        #[inline(always)]
        move |_| keys.iter().fold((K::MAX, K::MIN), |(least, greatest), &x| (least.min(x), greatest.max(x))),
    )
}

/// Returns the most frequent of the keys. `counts`, all zero, has an entry for each key from `least` on.
fn most_counted<K: Key>(keys: &[K], least: K, counts: &mut [u32]) -> K {
    for key in keys {
        counts[key.distance(least)] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    let at = counts.iter().position(|&n| n == most).unwrap_or(0);
    least.plus(at)
}

/// Returns the most frequent of sorted keys. NaNs are not counted.
fn longest_run<K: Key>(keys: &[K], float: bool) -> K {
    let (mut best, mut most, mut start) = (keys[0], 0, 0);
    for i in 1..=keys.len() {
        if i < keys.len() && keys[i] == keys[start] {
            continue;
        }
        let nan = float && keys[start] == K::MAX;
        if i - start > most && !nan {
            (best, most) = (keys[start], i - start);
        }
        start = i;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode_of<T: Ordered>(line: &[T]) -> (T, usize) {
        let mut scratch = vec![0u64; scratch_bytes::<T>(line.len()).div_ceil(8)];
        // SAFETY: the scratch has the required size.
        let (key, at) = unsafe { mode(line, scratch.as_mut_ptr().cast()) };
        (T::from_key(key), at)
    }

    #[test]
    fn ties_go_to_the_smallest_and_the_last_position_is_told() {
        assert_eq!(mode_of(&[1.0f32, 2.0, 2.0, 1.0, 3.0]), (1.0, 3));
        assert_eq!(mode_of(&[5i64, 5, 5, 1]), (5, 2));
        assert_eq!(mode_of(&[i64::MIN, i64::MAX, i64::MAX]), (i64::MAX, 2));
        assert_eq!(mode_of(&[7u8]), (7, 0));
    }

    #[test]
    fn a_nan_never_equals_another() {
        assert_eq!(mode_of(&[f32::NAN, f32::NAN, f32::NAN, 1.0, 1.0]), (1.0, 4));
        assert_eq!(mode_of(&[f64::NAN, 8.0]), (8.0, 1));
        let (value, at) = mode_of(&[f64::NAN, f64::NAN]);
        assert!(value.is_nan() && at == 0);
    }

    #[test]
    fn long_lines_are_counted_as_short_ones() {
        // Squares modulo a prime: each nonzero residue occurs twice a period, 0 once. The last period ends after its first quarter.
        let squares = |i: u64| (i * i % 1009) as i64;
        for scale in [1i64, 3_000_000_007] {
            let line: Vec<i64> = (0..1009 + 100).map(|i| (squares(i) - 500) * scale).collect();
            let (value, at) = mode_of(&line);
            let count = |v: i64| line.iter().filter(|&&x| x == v).count();
            let most = line.iter().map(|&x| count(x)).max().unwrap();
            let expected = *line.iter().filter(|&&x| count(x) == most).min().unwrap();
            assert_eq!((value, at), (expected, line.iter().rposition(|&x| x == expected).unwrap()));
        }
        let line: Vec<f32> = (0..1000).map(|i| (i * 7 % 333) as f32 * 0.1 - 9.0).collect();
        assert_eq!(mode_of(&line), (-9.0, 999));
    }
}
