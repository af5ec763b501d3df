//! Sorting of keys in ascending order.

use super::keys::Key;
use crate::cpu::tuning::COMPARED_KEYS;

/// Returns the keys in ascending order, in one of the two slices, which must have equal length.
pub fn sorted<'a, K: Key>(keys: &'a mut [K], other: &'a mut [K]) -> &'a [K] {
    if keys.len() < COMPARED_KEYS {
        keys.sort_unstable();
        return keys;
    }
    let mut counts = [[0usize; 256]; 8];
    for &key in keys.iter() {
        (0..K::DIGITS).for_each(|d| counts[d][key.digit(d)] += 1);
    }
    let (mut from, mut to) = (keys, other);
    for (d, places) in counts[..K::DIGITS].iter_mut().enumerate() {
        // A digit that all keys share moves no key.
        if places[from[0].digit(d)] == from.len() {
            continue;
        }
        let mut next = 0;
        for place in places.iter_mut() {
            next += std::mem::replace(place, next);
        }
        for &key in from.iter() {
            let place = &mut places[key.digit(d)];
            to[*place] = key;
            *place += 1;
        }
        (from, to) = (to, from);
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_and_sign_is_sorted() {
        for n in [0i64, 1, 100, 191, 192, 5000] {
            for scale in [1i64, 1 << 20, 0x1234_5678_9abc] {
                let mut keys: Vec<i64> = (0..n).map(|i| (i * 7919 % 5003 - 2500).wrapping_mul(scale)).collect();
                let mut expected = keys.clone();
                expected.sort_unstable();
                let mut other = vec![0; keys.len()];
                assert_eq!(sorted(&mut keys, &mut other), expected);
                let mut narrow: Vec<i32> = (0..n).map(|i| ((i * 7919 % 5003 - 2500) as i32).wrapping_mul(scale as i32)).collect();
                let mut expected = narrow.clone();
                expected.sort_unstable();
                assert_eq!(sorted(&mut narrow, &mut vec![0; n as usize]), expected);
            }
        }
    }
}
